#include "grader/grader.h"
#include EXERCISE

void grade(grader::Exercise& exercise) {
  for (const int k : {1, 2, 15, 16, 17, 31, 32, 33, 100}) {
    const auto floats = static_cast<std::size_t>(k);
    const grader::Input<float> a("a", lab::random_floats(32 * floats, 1));
    const grader::Input<float> x("x", lab::random_floats(floats, 2));
    grader::Output<float> out("out", 32);
    exercise.run(lab::format("k = %d", k),
                 [&] { dot_rows<<<1, 32>>>(a.data(), x.data(), out.data(), k); });
    exercise.compare(
        out,
        [&](std::size_t row) {
          double sum = 0;
          for (std::size_t l = 0; l < floats; ++l) sum += double(a[row * floats + l]) * x[l];
          return static_cast<float>(sum);
        },
        lab::tolerance_for_sum(floats, 1));
  }
}
