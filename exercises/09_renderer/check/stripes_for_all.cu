#include "grader/grader.h"
#include EXERCISE

namespace {

void draw_stripes(grader::Exercise& exercise, int pixels, int count) {
  const std::vector<int> kinds = lab::random_ints(pixels, 1, 0, 255),
                         starts = lab::random_ints(count, 2 + count, 0, pixels - 1),
                         widths = lab::random_ints(count, 3 + count, 1, pixels);
  const std::vector<float> values = lab::random_floats(count, 4 + count);
  std::vector<float4> stripes(count);
  for (int k = 0; k < count; ++k) {
    stripes[k] = {static_cast<float>(starts[k]), static_cast<float>(starts[k] + widths[k] - 1),
                  values[k], 0};
  }
  const grader::Input<unsigned char> kind("kind", {kinds.begin(), kinds.end()});
  const grader::Input<float> ground("ground", lab::random_floats(256, 5));
  grader::Output<float> out("out", pixels);
  exercise.run(lab::format("pixels = %d, stripes = %d", pixels, count), [&] {
    draw(out.data(), kind.data(), ground.data(), stripes.data(), count, pixels);
  });
  exercise.compare(out,
                   [&](std::size_t p) {
                     double sum = ground[kind[p]];
                     for (const float4& s : stripes) {
                       if (p >= s.x && p <= s.y) sum = 0.5 * sum + 0.5 * s.z;
                     }
                     return sum;
                   },
                   {.absolute = 4 * lab::float_roundoff,
                    .basis = "a rounding for each layer, halved by each one above it"});
}

}  // namespace

void grade(grader::Exercise& exercise) {
  for (const int pixels : {1, 33, 300}) {
    for (const int count : {40, 1, 2, 257}) draw_stripes(exercise, pixels, count);
  }
  draw_stripes(exercise, 64, 2048);
  draw_stripes(exercise, 256, 1000);
  exercise.exactly(grader::load_requests, 16);
  exercise.exactly(grader::launches, 1);
}
