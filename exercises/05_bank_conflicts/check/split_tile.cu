#include "grader/grader.h"
#include EXERCISE

void grade(grader::Exercise& exercise) {
  const grader::Input<float> from("b", lab::random_floats(16 * 64, 1));
  grader::Output<float> sums("sums", 64);
  exercise.run("one warp", [&] { fragments<<<1, 32>>>(from.data(), sums.data()); });
  exercise.compare(
      sums,
      [&](std::size_t col) {
        double sum = 0;
        for (std::size_t k = 0; k < 16; ++k) sum += from[64 * k + col];
        return sum;
      },
      lab::tolerance_for_sum(16, 0.5));
  exercise.at_most(grader::bank_conflicts, 0);
  exercise.at_most(grader::shared_load_requests, 2 * 16);
  exercise.at_most(grader::store_requests, 2);
}
