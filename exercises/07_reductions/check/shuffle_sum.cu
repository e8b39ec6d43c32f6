#include "grader/grader.h"
#include EXERCISE

void grade(grader::Exercise& exercise) {
  for (const int n : grader::lengths) {
    const grader::Input<int> in("in", lab::random_ints(static_cast<std::size_t>(n), 1));
    for (const unsigned blocks : {1u, 4u}) {
      grader::Output<int> sums("sums", blocks);
      exercise.run(lab::format("n = %d, %u block%s", n, blocks, blocks == 1 ? "" : "s"),
                   [&] { block_sums<<<blocks, 256>>>(in.data(), sums.data(), n); });
      exercise.compare(sums, [&](std::size_t b) {
        int sum = 0;
        for (std::size_t i = 0; i < in.size(); ++i) sum += i / 256 % blocks == b ? in[i] : 0;
        return sum;
      });
    }
  }
  exercise.exactly(grader::shared_store_requests, 4 * 8);
  exercise.exactly(grader::shared_load_requests, 4);
  exercise.at_most(grader::load_requests, 4096 / 32);
}
