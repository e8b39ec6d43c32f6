#include "grader/grader.h"
#include EXERCISE

void grade(grader::Exercise& exercise) {
  const auto reads = [&](const char* name, auto kernel, std::size_t results) {
    grader::Output<float> out("out", 32 * results);
    exercise.run(name, [&] { kernel<<<1, 32>>>(out.data()); });
    exercise.compare(out, [](std::size_t) { return 2.0f * kSteps; });
    return exercise.count(grader::shared_load_requests);
  };
  exercise.predict("reads, 1 x 1", kReads1x1, reads("1 x 1", scalars<1, 1>, 1));
  exercise.predict("reads, 4 x 1", kReads4x1, reads("4 x 1", scalars<4, 1>, 4));
  exercise.predict("reads, 4 x 4", kReads4x4, reads("4 x 4", scalars<4, 4>, 16));
  const double largest = reads("8 x 8", scalars<8, 8>, 64);
  exercise.predict("reads, 8 x 8", kReads8x8, largest);
  exercise.predict("multiply-adds per read, 8 x 8", kFmasPerRead8x8, 64 * kSteps / largest);
  exercise.predict("reads, 8 x 8, float4", kReads8x8Float4, largest / 4);
}
