#include "grader/gemm.h"
#include EXERCISE

void grade(grader::Exercise& exercise) {
  const auto launch = [](auto a, auto b, auto c, int m, int n, int k) {
    product<<<dim3(lab::ceil_div(n, 16), lab::ceil_div(m, 16)), dim3(16, 16)>>>(a, b, c, m, n, k);
  };
  grader::check_product(exercise, {33, 20, 35}, launch, true);
  for (const grader::Product size : grader::products) {
    grader::check_product(exercise, size, launch);
  }
  const auto tiles = [](int extent) { return lab::ceil_div(extent, 16); };
  exercise.at_most(grader::load_requests, 2 * 8 * tiles(65) * tiles(70) * tiles(37));
}
