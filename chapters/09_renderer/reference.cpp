#include "reference.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <thread>

#include "lab/elements.h"
#include "lab/text.h"

namespace {

constexpr double NONE = 0x1p-60;  ///< light that is not worth a double's digits

/// A pixel as it becomes visible, layer by layer.
struct Sum {
  double r = 0, g = 0, b = 0;
  double light = 1;  // what passes through all layers so far
};

/// Paints the rows from `first` to `last`, without that.
WITH_HOST_FMA void paint_rows(const Scene& scene, Reference& to, int first, int last) {
  const int width = to.image.width;
  const float unit = static_cast<float>(std::max(width, to.image.height)), scale = 1 / unit;
  std::vector<Sum> sums(static_cast<std::size_t>(width) * static_cast<std::size_t>(last - first));
  std::size_t open = sums.size();  // pixels that light passes through
  // Where the pixels that a circle may contain end on one side: two pixels beyond it, and more where floats are coarser
  // than pixels. The test of each pixel decides.
  const auto edge = [&](float centre, float radius, int side, int limit) {
    const double far = std::abs(double{centre}) + double{radius};
    const double position = double{centre} + side * double{radius};
    const double beyond = 2 + 0x1p-21 * far * double{unit};
    return static_cast<int>(
        std::clamp(position * double{unit} + side * beyond, 0.0, static_cast<double>(limit)));
  };
  for (auto circle = scene.circles.rbegin(); circle != scene.circles.rend() && open > 0; ++circle) {
    const Circle& c = *circle;
    const float radius2 = c.radius * c.radius;
    const int left = edge(c.x, c.radius, -1, width), right = edge(c.x, c.radius, 1, width);
    const int bottom = std::max(edge(c.y, c.radius, -1, to.image.height), first);
    const int top = std::min(edge(c.y, c.radius, 1, to.image.height), last);
    for (int y = bottom; y < top; ++y) {
      const float dy = std::fmaf(static_cast<float>(y) + 0.5f, scale, -c.y), dy2 = dy * dy;
      for (int x = left; x < right; ++x) {
        const std::size_t i =
            static_cast<std::size_t>(y - first) * static_cast<std::size_t>(width) +
            static_cast<std::size_t>(x);
        Sum& sum = sums[i];
        if (sum.light < NONE) continue;
        // The same roundings as on the device: a pixel on the rim is in for all of them or for none.
        const float dx = std::fmaf(static_cast<float>(x) + 0.5f, scale, -c.x);
        const float d2 = std::fmaf(dx, dx, dy2);
        if (!(d2 <= radius2)) continue;
        const double alpha =
            scene.soft
                ? 0.5 * std::exp(-4.0 * static_cast<double>(d2) / static_cast<double>(radius2))
                : 0.5;
        const double share = sum.light * alpha;
        if (sum.light >= 0x1p-24) {
          ++to.visible[i + static_cast<std::size_t>(first) * static_cast<std::size_t>(width)];
        }
        sum.r += share * static_cast<double>(c.r);
        sum.g += share * static_cast<double>(c.g);
        sum.b += share * static_cast<double>(c.b);
        sum.light -= share;
        if (sum.light < NONE) --open;
      }
    }
  }
  float* out =
      &to.image.rgba[4 * static_cast<std::size_t>(first) * static_cast<std::size_t>(width)];
  for (const Sum& sum : sums) {  // the background is white
    *out++ = static_cast<float>(sum.r + sum.light);
    *out++ = static_cast<float>(sum.g + sum.light);
    *out++ = static_cast<float>(sum.b + sum.light);
    *out++ = static_cast<float>(1 - sum.light);
  }
}

}  // namespace

Reference paint(const Scene& scene, int width, int height) {
  const std::size_t pixels = static_cast<std::size_t>(width) * static_cast<std::size_t>(height);
  Reference result{
      {width, height, std::vector<float>(4 * pixels)}, std::vector<unsigned>(pixels), scene.soft};
  const int threads = std::clamp(static_cast<int>(std::thread::hardware_concurrency()), 1, 64);
  const int rows = std::max((height + 4 * threads - 1) / (4 * threads), 1);
  std::vector<std::jthread> running;
  for (int thread = 0; thread < threads; ++thread) {
    running.emplace_back([&, thread] {  // bands in turn, so that each thread has some of the middle
      for (int band = thread; band * rows < height; band += threads) {
        paint_rows(scene, result, band * rows, std::min((band + 1) * rows, height));
      }
    });
  }
  running.clear();
  return result;
}

std::vector<double> allowed_errors(const Reference& want) {
  std::vector<double> allowed;
  allowed.reserve(want.image.rgba.size());
  for (const unsigned layers : want.visible) {
    const double one =
        ((want.soft ? 16 : 4) * static_cast<double>(layers) + 4) * lab::float_roundoff;
    allowed.insert(allowed.end(), 4, one);
  }
  return allowed;
}

std::string describe_mismatch(const lab::Comparison& found, float got, const Reference& want) {
  const std::size_t i = found.first_mismatch, pixel = i / 4;
  const std::size_t width = static_cast<std::size_t>(want.image.width);
  return lab::format(
      "%zu of %zu values are wrong; the first is %c of the pixel in column %zu, row %zu: %.9g, not "
      "%.9g (%u layers can be seen there)",
      found.mismatches, found.size, "rgba"[i % 4], pixel % width, pixel / width,
      static_cast<double>(got), static_cast<double>(want.image.rgba[i]), want.visible[pixel]);
}

lab::Comparison compare_image(const std::vector<float>& rgba, const Reference& want) {
  const std::vector<float>& right = want.image.rgba;
  if (rgba.size() != right.size()) {
    return lab::verdict(false, lab::format("%zu floats instead of %zu", rgba.size(), right.size()));
  }
  lab::Comparison found =
      lab::compare_each(rgba, right, allowed_errors(want), "roundings for each visible layer");
  if (!found.pass && found.first_mismatch < rgba.size()) {
    found.text = describe_mismatch(found, rgba[found.first_mismatch], want);
  }
  return found;
}
