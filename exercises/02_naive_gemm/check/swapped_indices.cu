#include "grader/gemm.h"
#include EXERCISE

void grade(grader::Exercise& exercise) {
  for (const grader::Product size : grader::products) {
    grader::check_product(exercise, size, [](auto a, auto b, auto c, int m, int n, int k) {
      product<<<dim3(lab::ceil_div(n, 32), lab::ceil_div(m, 8)), dim3(32, 8)>>>(a, b, c, m, n, k);
    });
  }
}
