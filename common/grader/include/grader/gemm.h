/// \file
/// Matrix products, for the checkers of exercises about them.
#pragma once

#include "grader/grader.h"

namespace grader {

/// \addtogroup grader
/// @{

/// Runs a product C = A B as one case and compares it with a reference in double precision. A is M x K, B is K x N,
/// C is M x N and poisoned; all are row-major.
/// \param launch called with a, b, c, m, n, k: pointers to the device and the extents
template <class Launch>
void check_product(Exercise& exercise, Product size, Launch launch) {
  const auto extent = [](int rows, int cols) { return Shape{rows, cols}.size(); };
  const auto [m, n, k] = size;
  const Input<float> a("A", lab::random_floats(extent(m, k), 1));
  const Input<float> b("B", lab::random_floats(extent(k, n), 2));
  Output<float> c("C", extent(m, n));
  exercise.run(lab::format("M = %d, N = %d, K = %d", m, n, k),
               [&, m = m, n = n, k = k] { launch(a.data(), b.data(), c.data(), m, n, k); });
  exercise.compare(
      c, {m, n},
      [&, n = n, k = k](int row, int col) {
        double sum = 0;
        for (int i = 0; i < k; ++i) sum += double{a[extent(row, k) + i]} * b[extent(i, n) + col];
        return sum;
      },
      lab::tolerance_for_sum(static_cast<std::size_t>(k), 0.25));
}

/// @}

}  // namespace grader
