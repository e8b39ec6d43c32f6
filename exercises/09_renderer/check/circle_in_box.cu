#include "grader/grader.h"
#include EXERCISE

namespace {

// Whole numbers: their squares are exact, so a circle on the rim of the box is there.
std::vector<float> whole(int n, int seed, int low, int high) {
  const std::vector<int> ints = lab::random_ints(n, seed, low, high);
  return {ints.begin(), ints.end()};
}

}  // namespace

void grade(grader::Exercise& exercise) {
  const float left = 4, right = 20, bottom = -9, top = -2;
  for (const int n : grader::lengths) {
    const grader::Input<float> x("x", whole(n, 1, -6, 30)), y("y", whole(n, 2, -20, 10)),
        r("r", whole(n, 3, 1, 10));
    grader::Output<int> hits("hits", n);
    exercise.run(lab::format("n = %d, box %g to %g by %g to %g", n, left, right, bottom, top), [&] {
      touch_box<<<lab::ceil_div(n, 128), 128>>>(hits.data(), x.data(), y.data(), r.data(), n, left,
                                                right, bottom, top);
    });
    exercise.compare(hits, [&](std::size_t i) {
      const float dx = std::max({left - x[i], x[i] - right, 0.0f});
      const float dy = std::max({bottom - y[i], y[i] - top, 0.0f});
      return dx * dx + dy * dy <= r[i] * r[i] ? 1 : 0;
    });
  }
}
