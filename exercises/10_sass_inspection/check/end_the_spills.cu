#include "grader/grader.h"
#include EXERCISE

void grade(grader::Exercise& exercise) {
  constexpr int rows = 256, depth = 32;
  const grader::Input<float> a("a", lab::random_floats(rows * depth, 1));
  const grader::Input<float> b("b", lab::random_floats(depth * rows, 2));
  grader::Output<float> c("c", rows * rows);
  exercise.run("256 x 256", [&] { product(c.data(), a.data(), b.data()); });
  exercise.compare(c, {rows, rows},
                   [&](int row, int col) {
                     float sum = 0;
                     for (int k = 0; k < depth; ++k) {
                       sum += a[static_cast<std::size_t>(row * depth + k)] *
                              b[static_cast<std::size_t>(k * rows + col)];
                     }
                     return sum;
                   },
                   {1e-4, 1e-4});
  exercise.at_most(grader::threads_per_block, 256);
  exercise.at_most(grader::shared_load_requests, 4096);
}
