#include "grader/grader.h"
#include EXERCISE

void grade(grader::Exercise& exercise) {
  const auto check = [&](grader::Shape shape) {
    const auto [rows, cols] = shape;
    const grader::Input<float> in("in", lab::random_floats(shape.size(), 1));
    grader::Output<float> out("out", shape.size());
    exercise.run(lab::format("%d x %d", rows, cols),
                 [&, rows = rows, cols = cols] { transpose(in.data(), out.data(), rows, cols); });
    exercise.compare(out, {cols, rows}, [&, cols = cols](int row, int col) {
      return in[static_cast<std::size_t>(col * cols + row)];
    });
  };
  for (const grader::Shape shape :
       {grader::Shape{4, 4}, {4, 8}, {8, 4}, {12, 32}, {32, 12}, {36, 68}, {100, 28}, {64, 96}}) {
    check(shape);
  }
  exercise.at_most(grader::load_requests, 48);
  exercise.at_most(grader::store_requests, 48);
  exercise.at_most(grader::load_sectors_per_request, 16);
  exercise.at_most(grader::store_sectors_per_request, 16);
}
