#include <cmath>
#include <cstring>

#include "grader/grader.h"
#include EXERCISE

void grade(grader::Exercise& exercise) {
  for (const int parts : {1, 2, 5, 8}) {
    constexpr std::size_t n = 1003;
    std::vector<float> values = lab::random_floats(n, 1);
    for (std::size_t i = 0; i < n; ++i)
      values[i] *= std::exp2(static_cast<float>(i * 7 % 11));  // so that order matters
    const grader::Input<float> in("in", values);
    double sum = 0;
    for (const float value : values) sum += value;
    grader::Output<float> partials("partials", static_cast<std::size_t>(parts));
    grader::Output<unsigned> ticket("ticket", std::vector<unsigned>(1, 0));
    for (const int launch : {1, 2}) {
      grader::Output<float> out("out", 1);
      exercise.run(lab::format("parts = %d, launch %d", parts, launch), [&] {
        sum_in_parts<<<static_cast<unsigned>(parts), 32>>>(in.data(), out.data(), partials.data(),
                                                           ticket.data(), static_cast<int>(n));
      });
      exercise.compare(
          out, [&](std::size_t) { return static_cast<float>(sum); },
          lab::Tolerance{0.02, 0, "rounding of sums of 10,000"});
      float want = 0;
      for (const float part : partials.download()) want += part;
      const float got = out.download()[0];
      exercise.expect(
          std::memcmp(&got, &want, sizeof got) == 0, "order",
          lab::format(
              "the result is %.9g; from the first to the last, the sums of the parts make %.9g",
              got, want));
    }
  }
}
