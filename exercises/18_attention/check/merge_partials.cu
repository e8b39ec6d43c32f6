#include <algorithm>
#include <cmath>

#include "grader/grader.h"
#include EXERCISE

void grade(grader::Exercise& exercise) {
  for (const int n : grader::lengths) {
    const auto size = static_cast<std::size_t>(n);
    std::vector<float> values[4];  // maximum and sum of a, then of b
    for (std::size_t v = 0; v < 4; ++v) values[v] = lab::random_floats(size, v + 1);
    for (std::size_t i = 0; i < size; ++i) {
      for (std::size_t part = 0; part < 2; ++part) {
        float& max = values[2 * part][i];
        float& sum = values[2 * part + 1][i];
        max *= i % 3 == 0 ? 3 : 200, sum = 1 + 5 * std::fabs(sum);
        if (i % 7 == 2 + part || i % 7 == 5) max = -INFINITY, sum = 0;
      }
    }
    const grader::Input<float> max_a("max_a", values[0]), sum_a("sum_a", values[1]);
    const grader::Input<float> max_b("max_b", values[2]), sum_b("sum_b", values[3]);
    grader::Output<float> max("max", size), sum("sum", size);
    exercise.run(lab::format("n = %d", n), [&] {
      merge_all<<<static_cast<unsigned>(lab::ceil_div(n, 128)), 128>>>(
          max_a.data(), sum_a.data(), max_b.data(), sum_b.data(), max.data(), sum.data(), n);
    });
    exercise.compare(max, [&](std::size_t i) { return std::max(max_a[i], max_b[i]); });
    exercise.compare(
        sum,
        [&](std::size_t i) {
          const double top = std::max(max_a[i], max_b[i]);
          if (std::isinf(top)) return 0.0;
          return sum_a[i] * std::exp(max_a[i] - top) + sum_b[i] * std::exp(max_b[i] - top);
        },
        lab::tolerance_for_roundings(64));
  }
}
