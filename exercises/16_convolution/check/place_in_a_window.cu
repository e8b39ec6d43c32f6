#include "grader/grader.h"
#include EXERCISE

void grade(grader::Exercise& exercise) {
  const Layer layers[] = {{1, 1, 1, 1, 1, 1, 1, 0},
                          {1, 1, 5, 7, 1, 3, 3, 1},
                          {2, 3, 6, 5, 2, 3, 2, 0},
                          {3, 2, 4, 9, 5, 2, 3, 1},
                          {2, 4, 7, 6, 3, 5, 3, 2}};
  for (const Layer& l : layers) {
    const auto in_size = static_cast<std::size_t>(l.n * l.c * l.h * l.w);
    const auto filter_size = static_cast<std::size_t>(l.k * l.c * l.r * l.s);
    const int q = l.w + 2 * l.pad - l.s + 1, each = (l.h + 2 * l.pad - l.r + 1) * q;
    const grader::Input<float> in("in", lab::random_floats(in_size, 1));
    const grader::Input<float> filters("filters", lab::random_floats(filter_size, 2));
    grader::Output<float> out("out", static_cast<std::size_t>(l.n * l.k * each));
    const dim3 grid(static_cast<unsigned>(lab::ceil_div(l.n * each, 64)),
                    static_cast<unsigned>(l.k));
    exercise.run(lab::format("%d images of %d x %d x %d, %d filters of %d x %d, padding %d", l.n,
                             l.c, l.h, l.w, l.k, l.r, l.s, l.pad),
                 [&] { convolve<<<grid, 64>>>(in.data(), filters.data(), out.data(), l); });
    exercise.compare(
        out,
        [&](std::size_t i) {
          const int at = static_cast<int>(i) % each, plane = static_cast<int>(i) / each;
          double sum = 0;
          for (int c = 0; c < l.c; ++c) {
            for (int r = 0; r < l.r; ++r) {
              for (int s = 0; s < l.s; ++s) {
                const int y = at / q + r - l.pad, x = at % q + s - l.pad;
                if (y < 0 || y >= l.h || x < 0 || x >= l.w) continue;
                const int pixel = ((plane / l.k * l.c + c) * l.h + y) * l.w + x;
                const int weight = ((plane % l.k * l.c + c) * l.r + r) * l.s + s;
                sum += double{in[static_cast<std::size_t>(pixel)]} *
                       filters[static_cast<std::size_t>(weight)];
              }
            }
          }
          return sum;
        },
        lab::tolerance_for_sum(static_cast<std::size_t>(l.c * l.r * l.s), 0.25));
  }
}
