#include "grader/grader.h"
#include EXERCISE

void grade(grader::Exercise& exercise) {
  constexpr std::size_t steps = 16, rows = 16, cols = 32;
  const grader::Input<float> a("a", lab::random_floats(steps * rows, 1));
  const grader::Input<float> b("b", lab::random_floats(steps * cols, 2));
  grader::Output<float> c("c", rows * cols);
  exercise.run("one warp", [&] { product<<<1, 32>>>(c.data(), a.data(), b.data()); });
  exercise.compare(
      c,
      [&](std::size_t i) {
        double sum = 0;
        for (std::size_t k = 0; k < steps; ++k) {
          sum += double{a[k * rows + i / cols]} * b[k * cols + i % cols];
        }
        return sum;
      },
      lab::tolerance_for_sum(steps, 0.25));
  exercise.at_most(grader::wavefronts_per_shared_load, 2);
}
