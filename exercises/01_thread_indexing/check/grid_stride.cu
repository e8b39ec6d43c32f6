#include <algorithm>

#include "grader/grader.h"
#include EXERCISE

void grade(grader::Exercise& exercise) {
  for (const int n : grader::lengths) {
    const grader::Input<float> x("x", lab::random_floats(n, 1));
    grader::Output<float> y("y", lab::random_floats(n, 2));
    const int blocks = std::min(lab::ceil_div(n, 128), 4);
    exercise.run(lab::format("n = %d", n),
                 [&] { saxpy<<<blocks, 128>>>(0.75f, x.data(), y.data(), n); });
    // A product below 1 and a sum below 2, each rounded once.
    exercise.compare(y, [&](std::size_t i) { return 0.75 * x[i] + y[i]; },
                     {3 * lab::float_roundoff, 0, "two roundings"});
  }
  exercise.at_most(grader::load_sectors_per_request, 4);
  exercise.at_most(grader::load_requests, 2 * 4096 / 32);
}
