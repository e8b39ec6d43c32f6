#include <algorithm>

#include "grader/grader.h"
#include EXERCISE

void grade(grader::Exercise& exercise) {
  for (const int n : grader::lengths) {
    grader::Output<float> x("x", lab::random_floats(n, 1));
    exercise.run(lab::format("n = %d", n),
                 [&] { reverse<<<lab::ceil_div(n, 256), 256>>>(x.data(), n); });
    exercise.compare(x, [&](std::size_t i) {
      const std::size_t first = i / 256 * 256, end = std::min(first + 256, x.size());
      return x[first + (end - 1 - i)];
    });
  }
  exercise.at_most(grader::load_requests, 4096 / 32);
  exercise.at_most(grader::bank_conflicts, 0);
}
