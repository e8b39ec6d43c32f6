#include "grader/grader.h"
#include EXERCISE

void grade(grader::Exercise& exercise) {
  for (const int values : {1, 2, 5, 1000000}) {
    for (const int n : grader::lengths) {
      std::vector<int> host(n), want;
      for (int i = 0; i < n; ++i) host[i] = static_cast<int>(lab::random_bits(1, i) % values);
      for (int i = 0; i + 1 < n; ++i) {
        if (host[i] == host[i + 1]) want.push_back(i);
      }
      const grader::Input<int> a("a", host);
      grader::Output<int> out("out", n), size("size", 1), flags("flags", n), places("places", n);
      exercise.run(lab::format("n = %d, values = %d", n, values), [&] {
        find_repeats(out.data(), size.data(), a.data(), n, flags.data(), places.data());
      });
      exercise.compare(size, [&](std::size_t) { return want.size(); });
      exercise.compare_first(out, want);
    }
  }
  exercise.at_most(grader::launches, 3);
}
