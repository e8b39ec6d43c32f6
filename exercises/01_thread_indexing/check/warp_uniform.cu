#include "grader/grader.h"
#include EXERCISE

void grade(grader::Exercise& exercise) {
  for (const int rows : {16, 32, 48, 64}) {
    const auto n = static_cast<std::size_t>(16 * rows);
    const grader::Input<float> in("in", lab::random_floats(n, 1));
    grader::Output<float> out("out", n);
    exercise.run(lab::format("rows = %d", rows),
                 [&] { shade<<<rows / 16, 256>>>(in.data(), out.data()); });
    exercise.compare(out, {rows, 16}, [&](int row, int col) {
      const float x = in[static_cast<std::size_t>(16 * row + col)];
      return row % 2 == 0 ? 2 * x + 1 : x / 4 - 1;
    });
  }
  exercise.at_most(grader::divergent_branches, 0);
  exercise.exactly(grader::lanes_per_load, 32);
  exercise.at_most(grader::load_sectors_per_request, 4);
}
