#include "grader/grader.h"
#include EXERCISE

void grade(grader::Exercise& exercise) {
  const auto check = [&](grader::Product size, float alpha, float beta) {
    const auto [m, n, k] = size;
    const auto count = [](int rows, int cols) { return grader::Shape{rows, cols}.size(); };
    const grader::Input<float> a("A", lab::random_floats(count(m, k), 1)),
        b("B", lab::random_floats(count(k, n), 2));
    const std::vector<float> before = lab::random_floats(count(m, n), 3);
    const auto run = [&, m = m, n = n, k = k](grader::Output<float>& c) {
      exercise.run(
          lab::format("M = %d, N = %d, K = %d, alpha = %g, beta = %g", m, n, k, alpha, beta), [&] {
            gemm<<<dim3(lab::ceil_div(n, 32), lab::ceil_div(m, 8)), dim3(32, 8)>>>(
                m, n, k, alpha, a.data(), b.data(), beta, c.data());
          });
      exercise.compare(
          c, {m, n},
          [&](int row, int col) {
            double sum = 0;
            for (int i = 0; i < k; ++i) {
              sum += double{a[count(row, k) + i]} * b[count(i, n) + col];
            }
            return alpha * sum + (beta == 0 ? 0.0 : double{beta} * before[count(row, n) + col]);
          },
          lab::tolerance_for_sum(static_cast<std::size_t>(k) + 1, 0.5));
    };
    if (beta == 0) {
      grader::Output<float> c("C", count(m, n));  // poisoned with NaN
      run(c);
    } else {
      grader::Output<float> c("C", before);
      run(c);
    }
  };
  for (const grader::Product size : grader::products) {
    check(size, 1, 0);
    check(size, 0.5f, -0.75f);
  }
  check({33, 31, 32}, -1, 1);
  check({32, 64, 16}, 0.5f, 0);
  // Two loads for each multiply-add, and no read of C.
  exercise.at_most(grader::load_requests, 2 * 16 * 32 * 64 / 32);
}
