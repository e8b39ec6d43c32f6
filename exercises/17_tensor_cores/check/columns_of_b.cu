#include "grader/grader.h"
#include EXERCISE

void grade(grader::Exercise& exercise) {
  const grader::Input<__nv_bfloat16> a("a", lab::random_values<__nv_bfloat16>(16 * 16, 1)),
      b("b", lab::random_values<__nv_bfloat16>(16 * 8, 2));
  grader::Output<float> out("out", 16 * 8);
  exercise.run("one warp", [&] { multiply<<<1, 32>>>(a.data(), b.data(), out.data()); });
  exercise.compare(
      out,
      [&](std::size_t i) {
        double sum = 0;
        for (std::size_t k = 0; k < 16; ++k) {
          sum += static_cast<double>(static_cast<float>(a[i / 8 * 16 + k])) *
                 static_cast<double>(static_cast<float>(b[i % 8 * 16 + k]));
        }
        return sum;
      },
      lab::tolerance_for_sum(16, 0.25));
}
