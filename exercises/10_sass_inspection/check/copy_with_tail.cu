#include <vector>

#include "grader/grader.h"
#include EXERCISE

void grade(grader::Exercise& exercise) {
  const auto check = [&](int n, int in_offset, int out_offset) {
    const grader::Input<float> in("in", lab::random_floats(static_cast<std::size_t>(n + 8), 1));
    grader::Output<float> out("out", std::vector<float>(static_cast<std::size_t>(n + 8), -7.0f));
    exercise.run(lab::format("n = %d, in + %d, out + %d", n, in_offset, out_offset),
                 [&] { copy(out.data() + out_offset, in.data() + in_offset, n); });
    exercise.compare(out, [&](std::size_t i) {
      const int at = static_cast<int>(i) - out_offset;
      return at >= 0 && at < n ? in[static_cast<std::size_t>(at + in_offset)] : -7.0f;
    });
    exercise.exactly(grader::launches, 1);
  };
  for (const int n : grader::lengths) check(n, 0, 0);
  for (const int n : {1, 5, 130, 1027}) {
    check(n, 1, 1);
    check(n, 1, 0);
    check(n, 0, 3);
    check(n, 4, 4);
  }
  check(4099, 0, 0);
  exercise.at_most(grader::load_requests, 33);
  exercise.at_most(grader::store_requests, 33);
}
