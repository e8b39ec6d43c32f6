#include "grader/grader.h"
#include EXERCISE

void grade(grader::Exercise& exercise) {
  for (const auto [blocks, slices] : {std::pair{1, 1}, {1, 2}, {3, 1}, {2, 5}, {4, 8}}) {
    const auto each = static_cast<std::size_t>(128 * slices);
    const grader::Input<float> x("x", lab::random_floats(each * blocks, 1));
    grader::Output<float> out("out", static_cast<std::size_t>(128 * blocks));
    exercise.run(lab::format("blocks = %d, slices = %d", blocks, slices),
                 [&, blocks = blocks, slices = slices] {
                   neighbour_sums<<<blocks, 128>>>(x.data(), out.data(), slices);
                 });
    exercise.compare(
        out,
        [&, slices = slices](std::size_t i) {
          double sum = 0;
          for (std::size_t s = 0; s < static_cast<std::size_t>(slices); ++s) {
            sum += x[i / 128 * each + 128 * s + (i + 1) % 128];
          }
          return sum;
        },
        lab::tolerance_for_sum(8, 0.5));
    exercise.exactly(grader::load_requests, 4 * blocks * slices);
  }
}
