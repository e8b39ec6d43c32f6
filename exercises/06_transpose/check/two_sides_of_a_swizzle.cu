#include "grader/grader.h"
#include EXERCISE

void grade(grader::Exercise& exercise) {
  const auto check = [&](grader::Shape shape) {
    const auto [rows, cols] = shape;
    const grader::Input<float> in("in", lab::random_floats(shape.size(), 1));
    grader::Output<float> out("out", shape.size());
    const auto ceil_div = [](int a, int b) { return static_cast<unsigned>(lab::ceil_div(a, b)); };
    exercise.run(lab::format("%d x %d", rows, cols), [&, rows = rows, cols = cols] {
      transpose<<<dim3(ceil_div(cols, 32), ceil_div(rows, 32)), dim3(32, 8)>>>(
          in.data(), out.data(), rows, cols);
    });
    exercise.compare(out, {cols, rows}, [&, cols = cols](int row, int col) {
      return in[static_cast<std::size_t>(col * cols + row)];
    });
  };
  for (const grader::Shape shape : grader::shapes) check(shape);
  check({64, 96});
  exercise.at_most(grader::bank_conflicts, 0);
  exercise.at_most(grader::load_sectors_per_request, 4);
  exercise.at_most(grader::store_sectors_per_request, 4);
}
