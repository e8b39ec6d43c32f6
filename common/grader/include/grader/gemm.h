/// \file
/// Matrix products, for the checkers of exercises about them.
#pragma once

#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "grader/grader.h"

namespace grader {

/// Runs a product C = A B as one case and compares it with a reference in double precision. A is M x K, B is K x N,
/// C is M x N and poisoned; all are row-major.
/// \param infinite the first element of A's last row is infinite: a kernel that reads past the end of the row before and
///   counts on a zero of B gets a NaN there
/// \param launch called with a, b, c, m, n, k: pointers to the device and the extents
template <class Launch>
void check_product(Exercise& exercise, Product size, Launch launch, bool infinite = false) {
  const auto extent = [](int rows, int cols) { return Shape{rows, cols}.size(); };
  const auto [m, n, k] = size;
  std::vector<float> values = lab::random_floats(extent(m, k), 1);
  if (infinite) values[extent(m - 1, k)] = std::numeric_limits<float>::infinity();
  const Input<float> a("A", std::move(values));
  const Input<float> b("B", lab::random_floats(extent(k, n), 2));
  Output<float> c("C", extent(m, n));
  const std::string infinity = infinite ? lab::format(", A(%d, 0) infinite", m - 1) : "";
  exercise.run(lab::format("M = %d, N = %d, K = %d%s", m, n, k, infinity.c_str()),
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

}  // namespace grader
