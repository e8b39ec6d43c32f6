#include "grader/grader.h"
#include EXERCISE

void grade(grader::Exercise& exercise) {
  // The flags as the task has them, since the words are compared.
  const unsigned long long sum = 1ull << 32, prefix = 2ull << 32;
  const auto check = [&](int n, int begin) {
    const int tiles = lab::ceil_div(n, 32);
    std::vector<unsigned> values(n), starts(32 * tiles + 1);
    const std::vector<int> random = lab::random_ints(n, 1);
    for (int i = 0; i < n; ++i) values[i] = static_cast<unsigned>(random[i]);
    for (int i = 0; i < 32 * tiles; ++i) starts[i + 1] = starts[i] + (i < n ? values[i] : 0);
    // Tile 0 is a prefix, the others before `begin` are sums.
    std::vector<unsigned long long> words(tiles + 1);
    words[0] = static_cast<unsigned long long>(begin);
    for (int t = 0; t < begin; ++t)
      words[1 + t] = (t == 0 ? prefix : sum) | (starts[32 * t + 32] - starts[32 * t]);

    const grader::Input<unsigned> in("in", values);
    grader::Output<unsigned> out("out", std::vector<unsigned>(n, 7));
    grader::Output<unsigned long long> state("state", words);
    exercise.run(lab::format("n = %d, from tile %d", n, begin),
                 [&] { scan<<<tiles - begin, 32>>>(out.data(), in.data(), n, state.data()); });
    exercise.compare(
        out, [&](std::size_t i) { return static_cast<int>(i) < 32 * begin ? 7u : starts[i]; });
    exercise.compare(state, [&](std::size_t i) {
      if (i == 0) return static_cast<unsigned long long>(tiles);
      if (static_cast<int>(i) <= begin) return words[i];
      return prefix | starts[32 * i];
    });
  };
  for (const int n : {1, 31, 32, 33, 255, 1031}) check(n, 0);
  for (const int begin : {1, 2, 3, 5}) check(255, begin);
  check(32, 0);  // one tile, so no word is read: the loads are those of the tile
  exercise.exactly(grader::load_requests, 1);
  exercise.exactly(grader::launches, 1);
}
