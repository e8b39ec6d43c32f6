#include "grader/grader.h"
#include EXERCISE

void grade(grader::Exercise& exercise) {
  for (const int low : {-100, -200, 1, -2000}) {
    for (const int n : grader::lengths) {
      const grader::Input<int> in("in", lab::random_ints(n, 1, low, low == -2000 ? -1000 : 100));
      std::vector<int> want;
      for (const int v : in.values()) {
        if (v > 0) want.push_back(v);
      }
      grader::Output<int> out("out", n), size("size", 1);
      exercise.run(lab::format("n = %d, %zu positive", n, want.size()),
                   [&] { keep_positive<<<1, 256>>>(out.data(), size.data(), in.data(), n); });
      exercise.compare(size, [&](std::size_t) { return want.size(); });
      exercise.compare_first(out, want);
    }
  }
  exercise.at_most(grader::shared_load_requests, 1024);
}
