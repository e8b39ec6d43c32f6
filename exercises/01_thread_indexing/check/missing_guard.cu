#include "grader/grader.h"
#include EXERCISE

void grade(grader::Exercise& exercise) {
  for (const int n : grader::lengths) {
    const grader::Input<float> a("a", lab::random_floats(n, 1)), b("b", lab::random_floats(n, 2));
    grader::Output<float> c("c", n);
    exercise.run(lab::format("n = %d", n), [&] { launch_add(a.data(), b.data(), c.data(), n); });
    exercise.compare(c, [&](std::size_t i) { return a[i] + b[i]; });
    exercise.exactly(grader::launches, 1);
    exercise.exactly(grader::threads_per_block, 256);
    exercise.at_most(grader::blocks, lab::ceil_div(n, 256));
  }
}
