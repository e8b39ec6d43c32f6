#include "grader/grader.h"
#include EXERCISE

void grade(grader::Exercise& exercise) {
  const grader::Input<float> a("a", lab::random_floats(N * N, 1));
  const grader::Input<float> b("b", lab::random_floats(N * N, 2));
  grader::Output<float> c("c", N * N);
  exercise.run("32 x 32", [&] { product(c.data(), a.data(), b.data()); });
  exercise.compare(c, {N, N},
                   [&](int row, int col) {
                     float sum = 0;
                     for (int k = 0; k < N; ++k) {
                       sum += a[static_cast<std::size_t>(row * N + k)] *
                              b[static_cast<std::size_t>(k * N + col)];
                     }
                     return sum;
                   },
                   {1e-4, 1e-4});
  exercise.at_most(grader::shared_load_requests, 320);
  exercise.at_most(grader::threads_per_block, 64);
}
