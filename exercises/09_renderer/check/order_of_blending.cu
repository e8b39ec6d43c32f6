#include "grader/grader.h"
#include EXERCISE

void grade(grader::Exercise& exercise) {
  for (const int layers : {0, 1, 2, 7, 20}) {
    for (const int pixels : {1, 33, 255, 1031}) {
      const std::size_t n = std::max(layers, 1) * pixels;
      std::vector<float> alphas = lab::random_floats(n, 2);
      for (float& a : alphas) a = std::abs(a) / 2;
      const grader::Input<float> value("value", lab::random_floats(n, 1)), alpha("alpha", alphas);
      grader::Output<float> out("out", pixels);
      exercise.run(lab::format("layers = %d, pixels = %d", layers, pixels), [&] {
        blend<<<lab::ceil_div(pixels, 128), 128>>>(out.data(), value.data(), alpha.data(), layers,
                                                   pixels);
      });
      exercise.compare(
          out,
          [&](std::size_t p) {
            double pixel = 1;
            for (int k = 0; k < layers; ++k) {
              const double a = alpha[k * pixels + p];
              pixel = a * value[k * pixels + p] + (1 - a) * pixel;
            }
            return pixel;
          },
          {.absolute = (4 * layers + 1) * lab::float_roundoff, .basis = "four roundings a layer"});
    }
  }
}
