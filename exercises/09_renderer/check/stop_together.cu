#include "grader/grader.h"
#include EXERCISE

namespace {

void draw(grader::Exercise& exercise, int pixels, int stripes, int narrowest, int widest) {
  const std::vector<int> starts = lab::random_ints(stripes, 1, 0, pixels - 1),
                         widths = lab::random_ints(stripes, 2, narrowest, widest);
  std::vector<int> begins(stripes), ends(stripes);
  for (int k = 0; k < stripes; ++k) {
    begins[k] = narrowest == widest ? 0 : starts[k] - widths[k] / 2;
    ends[k] = begins[k] + widths[k] - 1;
  }
  const grader::Input<int> left("left", begins), right("right", ends);
  const grader::Input<float> value("value", lab::random_floats(stripes, 3));
  grader::Output<float> out("out", pixels);
  exercise.run(lab::format("pixels = %d, stripes = %d, each %d to %d wide", pixels, stripes,
                           narrowest, widest),
               [&] {
                 draw_row<<<lab::ceil_div(pixels, 256), 256>>>(
                     out.data(), left.data(), right.data(), value.data(), stripes, pixels);
               });
  exercise.compare(
      out,
      [&](std::size_t p) {
        double sum = 0, light = 1;
        for (int k = 0; k < stripes; ++k) {
          if (static_cast<int>(p) < begins[k] || static_cast<int>(p) > ends[k]) continue;
          sum += light * 0.5 * value[k];
          light *= 0.5;
        }
        return sum + light;
      },
      {.absolute = 32 * lab::float_roundoff, .basis = "a rounding for each visible layer"});
}

}  // namespace

void grade(grader::Exercise& exercise) {
  for (const int pixels : {1, 257, 700}) {
    for (const int stripes : {1, 255, 256, 257, 600}) draw(exercise, pixels, stripes, 1, 60);
  }
  draw(exercise, 200, 4096, 200, 200);
  exercise.at_most(grader::load_requests, 24);
}
