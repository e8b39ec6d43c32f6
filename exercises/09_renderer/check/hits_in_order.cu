#include "grader/grader.h"
#include EXERCISE

void grade(grader::Exercise& exercise) {
  for (const int n : grader::lengths) {
    for (const int low : {-3, 0, 1}) {
      std::vector<int> flags = lab::random_ints(n, n, low, low == 1 ? 3 : 1);
      for (int& flag : flags) flag = flag > 0 ? 5 : 0;
      const grader::Input<int> touches("touches", flags);
      const int blocks = lab::ceil_div(n, 256);
      std::vector<int> want(256 * blocks, -1), counts(blocks);
      for (int i = 0; i < n; ++i) {
        if (flags[i] != 0) want[i / 256 * 256 + counts[i / 256]++] = i;
      }
      grader::Output<int> list("list", std::vector<int>(256 * blocks, -1)), sizes("sizes", blocks);
      exercise.run(
          lab::format("n = %d, %s", n,
                      low < 0    ? "few hits"
                      : low == 0 ? "half are hits"
                                 : "all are hits"),
          [&] { list_hits<<<blocks, 256>>>(list.data(), sizes.data(), touches.data(), n); });
      exercise.compare(sizes, [&](std::size_t b) { return counts[b]; });
      exercise.compare(list, [&](std::size_t at) { return want[at]; });
    }
  }
}
