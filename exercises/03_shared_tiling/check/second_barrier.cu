#include "grader/gemm.h"
#include EXERCISE

void grade(grader::Exercise& exercise) {
  for (const grader::Product size :
       {grader::Product{16, 16, 16}, {16, 48, 32}, {48, 16, 64}, {32, 64, 48}}) {
    grader::check_product(exercise, size, [](auto a, auto b, auto c, int m, int n, int k) {
      product<<<dim3(n / 16, m / 16), dim3(16, 16)>>>(a, b, c, n, k);
    });
  }
  // Each element of a tile is fetched once for each block that needs it.
  exercise.at_most(grader::load_requests, 2 * (32 / 16) * (64 / 16) * (48 / 16) * 8);
}
