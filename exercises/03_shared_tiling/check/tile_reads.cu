#include "grader/grader.h"
#include EXERCISE

void grade(grader::Exercise& exercise) {
  const grader::Input<float> a("A", lab::random_floats(128 * 128, 1)),
      b("B", lab::random_floats(128 * 128, 2));
  grader::Output<float> c("C", 128 * 128);
  exercise.run("T = 16",
               [&] { product<16><<<dim3(8, 8), dim3(16, 16)>>>(a.data(), b.data(), c.data()); });
  exercise.predict("loads, T = 16", kLoads16, exercise.count(grader::load_requests));
  const double sectors = exercise.count(grader::load_sectors);
  exercise.run("T = 32",
               [&] { product<32><<<dim3(4, 4), dim3(32, 32)>>>(a.data(), b.data(), c.data()); });
  exercise.predict("loads, T = 32", kLoads32, exercise.count(grader::load_requests));
  exercise.predict("sectors, T = 32", kSectors32, exercise.count(grader::load_sectors));
  exercise.predict("sectors, T = 16", kSectors16, sectors);
  exercise.predict("shared loads, T = 32", kSharedLoads32,
                   exercise.count(grader::shared_load_requests));
}
