#include "grader/grader.h"
#include EXERCISE

void grade(grader::Exercise& exercise) {
  const auto check = [&](int n, unsigned blocks) {
    const auto count = static_cast<std::size_t>(n);
    const grader::Input<int> x("x", lab::random_ints(count, 1)), y("y", lab::random_ints(count, 2));
    grader::Output<int> out("out", std::vector<int>{1000});
    exercise.run(lab::format("n = %d, %u blocks", n, blocks),
                 [&] { dot<<<blocks, 256>>>(x.data(), y.data(), out.data(), n); });
    int want = 1000;
    for (std::size_t i = 0; i < count; ++i) want += x[i] * y[i];
    exercise.compare(out, [&](std::size_t) { return want; });
  };
  check(0, 1);
  for (const int n : grader::lengths) check(n, 1), check(n, 3);
  check(4096, 2);
  exercise.at_most(grader::load_requests, 64);
  exercise.at_most(grader::atomic_requests, 2);
  exercise.exactly(grader::launches, 1);
}
