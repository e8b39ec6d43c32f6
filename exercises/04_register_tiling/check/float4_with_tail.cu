#include "grader/grader.h"
#include EXERCISE

void grade(grader::Exercise& exercise) {
  const auto check = [&](int n) {
    const grader::Input<float> x("x", lab::random_floats(n, 1));
    grader::Output<float> y("y", n);
    exercise.run(lab::format("n = %d", n), [&] { twice(x.data(), y.data(), n); });
    exercise.compare(y, [&](std::size_t i) { return 2 * x[i]; });
  };
  for (const int n : grader::lengths) check(n);
  exercise.at_most(grader::load_requests, 32);
  exercise.at_most(grader::store_requests, 32);
  for (const int n : {4, 5, 6, 7, 127, 509, 513}) check(n);
  check(4099);
  exercise.at_most(grader::load_requests, 33);
  exercise.at_most(grader::store_requests, 33);
}
