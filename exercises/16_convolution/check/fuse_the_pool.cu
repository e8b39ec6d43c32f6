#include <algorithm>

#include "grader/grader.h"
#include EXERCISE

void grade(grader::Exercise& exercise) {
  const grader::Input<float> filter("filter", lab::random_floats(9, 2));
  for (const grader::Shape shape :
       {grader::Shape{2, 2}, {2, 34}, {34, 2}, {6, 10}, {70, 130}, {64, 64}}) {
    // A bias that makes some of the results negative.
    for (const float bias : {-1.2f, 0.5f}) {
      const auto [rows, cols] = shape;
      const grader::Input<float> in("in", lab::random_floats(shape.size(), 1));
      // Not set: a kernel that reads what nobody has written there is told so.
      lab::DeviceBuffer<float> sums(shape.size(), "sums");
      grader::Output<float> out("out", shape.size() / 4);
      exercise.run(lab::format("%d x %d, bias %g", rows, cols, bias),
                   [&, rows = rows, cols = cols] {
                     layer(in.data(), filter.data(), bias, sums.data(), out.data(), rows, cols);
                   });
      exercise.compare(
          out, {rows / 2, cols / 2},
          [&, rows = rows, cols = cols](int row, int col) {
            double best = 0;
            for (int e = 0; e < 4; ++e) {
              double sum = bias;
              for (int t = 0; t < 9; ++t) {
                const int y = 2 * row + e / 2 + t / 3 - 1, x = 2 * col + e % 2 + t % 3 - 1;
                if (0 <= y && y < rows && 0 <= x && x < cols) {
                  sum += double{filter[static_cast<std::size_t>(t)]} *
                         in[static_cast<std::size_t>(y * cols + x)];
                }
              }
              best = std::max(best, sum);
            }
            return best;
          },
          lab::tolerance_for_sum(10, 0.5));
    }
  }
  exercise.exactly(grader::launches, 1);
  exercise.at_most(grader::store_requests, 32);
}
