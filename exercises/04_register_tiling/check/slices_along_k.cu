#include "grader/gemm.h"
#include EXERCISE

void grade(grader::Exercise& exercise) {
  const auto launch = [](auto a, auto b, auto c, int m, int n, int k) {
    const dim3 grid(static_cast<unsigned>(lab::ceil_div(n, 32)),
                    static_cast<unsigned>(lab::ceil_div(m, 32)));
    product<<<grid, dim3(32, 8)>>>(a, b, c, m, n, k);
  };
  grader::check_product(exercise, {32, 32, 8}, launch);
  grader::check_product(exercise, {32, 32, 24}, launch);
  grader::check_product(exercise, {33, 20, 35}, launch, true);
  for (const grader::Product size : grader::products) {
    grader::check_product(exercise, size, launch);
  }
  grader::check_product(exercise, {64, 96, 40}, launch);
  // 6 blocks, 5 K-tiles, 8 warps, A and B.
  exercise.at_most(grader::load_requests, 6 * 5 * 8 * 2);
  exercise.at_most(grader::bank_conflicts, 0);
}
