#include "grader/gemm.h"
#include EXERCISE

void grade(grader::Exercise& exercise) {
  for (const grader::Product size :
       {grader::Product{32, 32, 8}, {32, 64, 16}, {64, 32, 24}, {96, 64, 40}}) {
    grader::check_product(exercise, size, [](auto a, auto b, auto c, int m, int n, int k) {
      product<<<dim3(n / 32, m / 32), dim3(8, 8)>>>(a, b, c, n, k);
    });
  }
  // 6 blocks, 5 K-tiles, 2 warps: each loads 4 times from A and from B.
  exercise.at_most(grader::load_requests, 6 * 5 * 2 * 8);
}
