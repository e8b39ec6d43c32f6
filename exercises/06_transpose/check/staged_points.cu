#include "grader/grader.h"
#include EXERCISE

void grade(grader::Exercise& exercise) {
  for (const int n : grader::lengths) {
    const grader::Input<float> points("points",
                                      lab::random_floats(3 * static_cast<std::size_t>(n), 1));
    grader::Output<float> out("out", static_cast<std::size_t>(n));
    exercise.run(lab::format("n = %d", n), [&] {
      lengths<<<static_cast<unsigned>(lab::ceil_div(n, 128)), 128>>>(points.data(), out.data(), n);
    });
    exercise.compare(
        out,
        [&](std::size_t i) {
          const double x = points[3 * i], y = points[3 * i + 1], z = points[3 * i + 2];
          return x * x + y * y + z * z;
        },
        lab::tolerance_for_sum(3, 1));
  }
  exercise.at_most(grader::load_sectors_per_request, 4);
  exercise.at_most(grader::load_requests, 3 * 4096 / 32);
  exercise.at_most(grader::bank_conflicts, 0);
}
