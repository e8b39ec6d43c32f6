#include "grader/grader.h"
#include EXERCISE

void grade(grader::Exercise& exercise) {
  for (const int n : grader::lengths) {
    const grader::Input<float> x("x", lab::random_floats(n, 1));
    grader::Output<float> y("y", n);
    exercise.run(lab::format("n = %d", n),
                 [&] { twice<<<lab::ceil_div(n, 128), 128>>>(x.data(), y.data(), n); });
    exercise.compare(y, [&](std::size_t i) { return 2 * x[i]; });
  }
  exercise.at_most(grader::load_sectors_per_request, 4);
  exercise.at_most(grader::store_sectors_per_request, 4);
}
