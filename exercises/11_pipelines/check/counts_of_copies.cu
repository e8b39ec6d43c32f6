#include "grader/grader.h"
#include EXERCISE

void grade(grader::Exercise& exercise) {
  const grader::Input<float> x("x", lab::random_floats(1024, 1));
  const auto run = [&](const char* name, auto kernel) {
    grader::Output<float> out("out", 256);
    exercise.run(name, [&] { kernel<<<1, 256>>>(x.data(), out.data()); });
    exercise.compare(out, [&](std::size_t i) { return x[i]; });
  };
  run("by_registers", by_registers);
  exercise.predict("requests by registers", kRequestsByRegisters,
                   exercise.count(grader::load_requests));
  exercise.predict("stores by registers", kStoresByRegisters,
                   exercise.count(grader::shared_store_requests));
  run("by_4_bytes", by_4_bytes);
  exercise.predict("requests by 4 bytes", kRequestsBy4Bytes, exercise.count(grader::load_requests));
  run("by_16_bytes", by_16_bytes);
  exercise.predict("requests by 16 bytes", kRequestsBy16Bytes,
                   exercise.count(grader::load_requests));
  exercise.predict("stores by 16 bytes", kStoresBy16Bytes,
                   exercise.count(grader::shared_store_requests));
  exercise.predict("sectors by 16 bytes", kSectorsBy16Bytes, exercise.count(grader::load_sectors));
}
