#include "grader/grader.h"
#include EXERCISE

void grade(grader::Exercise& exercise) {
  const grader::Input<float> a("A", lab::random_floats(32 * 32, 1));
  grader::Output<float> sums("sums", 32);
  exercise.run("one tile", [&] { column_sums<<<1, dim3(32, 8)>>>(a.data(), sums.data()); });
  exercise.compare(
      sums,
      [&](std::size_t col) {
        double sum = 0;
        for (std::size_t row = 0; row < 32; ++row) sum += a[32 * row + col];
        return sum;
      },
      lab::tolerance_for_sum(32, 0.5));
  exercise.at_most(grader::wavefronts_per_shared_store, 4);
  exercise.at_most(grader::shared_load_requests, 8);
  exercise.at_most(grader::wavefronts_per_shared_load, 4);
}
