#include "grader/grader.h"
#include EXERCISE

void grade(grader::Exercise& exercise) {
  for (const int n : grader::lengths) {
    const grader::Input<int> in("in", lab::random_ints(static_cast<std::size_t>(n), 1));
    const auto blocks = static_cast<std::size_t>(lab::ceil_div(n, 256));
    grader::Output<int> sums("sums", blocks);
    exercise.run(lab::format("n = %d", n), [&] {
      block_sums<<<static_cast<unsigned>(blocks), 256>>>(in.data(), sums.data(), n);
    });
    exercise.compare(sums, [&](std::size_t b) {
      int sum = 0;
      for (std::size_t i = 256 * b; i < 256 * b + 256 && i < in.size(); ++i) sum += in[i];
      return sum;
    });
  }
  exercise.at_most(grader::shared_load_requests, 400);
  exercise.at_most(grader::bank_conflicts, 0);
}
