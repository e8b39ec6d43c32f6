#include "grader/grader.h"
#include EXERCISE

void grade(grader::Exercise& exercise) {
  const grader::Input<float> a("a", lab::random_floats(kN * kN, 1));
  const grader::Input<float> b("b", lab::random_floats(kN * kN, 2));
  grader::Output<float> c("c", kN * kN);
  exercise.run("32 x 32", [&] { product(c.data(), a.data(), b.data()); });
  exercise.compare(c, {kN, kN},
                   [&](int row, int col) {
                     float sum = 0;
                     for (int k = 0; k < kN; ++k) {
                       sum += a[static_cast<std::size_t>(row * kN + k)] *
                              b[static_cast<std::size_t>(k * kN + col)];
                     }
                     return sum;
                   },
                   {1e-4, 1e-4});
  exercise.at_most(grader::shared_load_requests, 320);
  exercise.at_most(grader::threads_per_block, 64);
}
