#include <algorithm>
#include <cmath>

#include "grader/grader.h"
#include EXERCISE

void grade(grader::Exercise& exercise) {
  for (const int n : grader::lengths) {
    const auto size = static_cast<std::size_t>(n);
    std::vector<float> scores = lab::random_floats(size, 1);
    for (std::size_t i = 0; i < size; ++i) scores[i] = 200 + 4 * scores[i] - (i < 40 ? 6.0f : 0.0f);
    const grader::Input<float> s("s", scores), v("v", lab::random_floats(size, 2));
    grader::Output<float> max("max", 32), sum("sum", 32), weighted("weighted", 32),
        answer("answer", 1);
    exercise.run(lab::format("n = %d", n), [&] {
      launch(s.data(), v.data(), max.data(), sum.data(), weighted.data(), answer.data(), n);
    });
    double top = -INFINITY, total = 0, out = 0;
    for (std::size_t i = 0; i < size; ++i) top = std::max(top, double{s[i]});
    for (std::size_t i = 0; i < size; ++i) {
      total += std::exp(s[i] - top), out += std::exp(s[i] - top) * v[i];
    }
    exercise.compare(
        answer, [&](std::size_t) { return out / total; },
        lab::Tolerance{1e-5, 0, "roundings of a weighted average"});
  }
  exercise.at_most(grader::load_requests, 2 * 128 + 3);
  exercise.at_most(grader::load_sectors_per_request, 4);
}
