#include "grader/grader.h"
#include EXERCISE

void grade(grader::Exercise& exercise) {
  for (const int every : {1, 2, 7, 40}) {
    for (const int n : grader::lengths) {
      const grader::Input<int> in("in", lab::random_ints(n, 1));
      std::vector<int> marks(n);
      for (int i = 0; i < n; ++i) marks[i] = lab::random_bits(2, i) % every == 0;
      const grader::Input<int> heads("heads", marks);
      grader::Output<int> out("out", n);
      exercise.run(lab::format("n = %d, a head in %d", n, every), [&] {
        segments<<<lab::ceil_div(n, 128), 128>>>(out.data(), in.data(), heads.data(), n);
      });
      std::vector<int> sums(n);
      for (int i = 0; i < n; ++i) {
        sums[i] = in[i] + (i % 32 == 0 || marks[i] ? 0 : sums[i - 1]);
      }
      exercise.compare(out, [&](std::size_t i) { return sums[i]; });
    }
  }
  exercise.at_most(grader::load_sectors_per_request, 4);
  exercise.at_most(grader::load_requests, 2 * 128);
  exercise.at_most(grader::shared_store_requests, 0);
}
