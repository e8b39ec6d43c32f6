// The layers of chapter 16, and what is right.
#include <charconv>
#include <span>

#include "convolution.h"

using std::size_t;

std::vector<Tap> taps_of(const Layer& l, bool nhwc, int multiple) {
  const int depth = l.c / l.groups, rs = l.r * l.s;
  std::vector<Tap> taps;
  for (int t = 0; t < l.terms(); ++t) {
    const int c = nhwc ? t % depth : t / rs, at = nhwc ? t / depth : t % rs;
    const int r = at / l.s * l.dilation, s = at % l.s * l.dilation;
    const int offset = nhwc ? (r * l.w + s) * l.c + c : (c * l.h + r) * l.w + s;
    taps.push_back({offset, static_cast<short>(r), static_cast<short>(s)});
  }
  while (taps.size() % static_cast<size_t>(multiple) != 0) taps.push_back({0, -(1 << 15), 0});
  return taps;
}

std::vector<std::pair<std::string, Layer>> layers_for(int image) {
  const auto part = [&](int of_224) { return std::max(of_224 * image / 224, 1); };
  const auto layer = [&](int n, int c, int h, int k, int r, int stride, int pad) {
    return Layer{
        n == 1 ? 1 : part(n), c == 3 ? 3 : part(c), part(h), part(h), part(k), r, r, stride, pad};
  };
  return {{"c64", layer(32, 64, 56, 64, 3, 1, 1)},    {"c128", layer(32, 128, 28, 128, 3, 1, 1)},
          {"c256", layer(32, 256, 14, 256, 3, 1, 1)}, {"c512", layer(32, 512, 7, 512, 3, 1, 1)},
          {"large", layer(16, 64, 224, 64, 3, 1, 1)}, {"down", layer(32, 256, 56, 64, 1, 1, 0)},
          {"up", layer(32, 64, 56, 256, 1, 1, 0)},    {"first", layer(32, 3, 224, 64, 7, 2, 3)},
          {"one56", layer(1, 64, 56, 64, 3, 1, 1)},   {"one14", layer(1, 256, 14, 256, 3, 1, 1)},
          {"five", layer(32, 128, 56, 128, 5, 1, 2)}};
}

Layer parse_layer(const std::string& text) {
  const std::string form = LAYER_FORM;
  std::vector<int> values;
  const char* at = text.data();
  const char* const end = at + text.size();
  while (at <= end) {
    int value = 0;
    const auto [next, error] = std::from_chars(at, end, value);
    if (error != std::errc() || (next != end && *next != ',')) {
      throw lab::BadInput("--layer " + text + " is no layer: it takes " + form);
    }
    values.push_back(value);
    at = next + 1;
  }
  if (values.size() < 7 || values.size() > 11) {
    throw lab::BadInput("--layer " + text + " has " + std::to_string(values.size()) +
                        " numbers: it takes " + form);
  }
  const auto more = [&](size_t i, int otherwise) {
    return i < values.size() ? values[i] : otherwise;
  };
  const Layer layer{values[0], values[1],  values[2],  values[3],  values[4],  values[5],
                    values[6], more(7, 1), more(8, 0), more(9, 1), more(10, 1)};
  if (const std::string wrong = layer.wrong(); !wrong.empty()) {
    throw lab::BadInput("--layer " + text + ": " + wrong);
  }
  if ((layer.r - 1) * layer.dilation >= 1 << 15 || (layer.s - 1) * layer.dilation >= 1 << 15 ||
      layer.pad >= 1 << 15) {
    throw lab::BadInput("--layer " + text + ": a window reaches over less than 2^15 pixels");
  }
  return layer;
}

Work::Work(const Layer& layer, const std::string& name, std::uint64_t seed, int terms)
    : layer(layer),
      name(name),
      in(layer.inputs(), lab::RandomValue<float>{seed}, "images"),
      filter(layer.weights(), lab::RandomValue<float>{seed + 1}, "filters"),
      bias(layer.k, lab::RandomValue<float>{seed + 2}, "bias"),
      in_nhwc(layer.inputs(), Turned{in.view(), size_t(layer.c), size_t(layer.h) * layer.w},
              "NHWC images"),
      filter_nhwc(layer.weights(),
                  Turned{filter.view(), size_t(layer.c / layer.groups), size_t(layer.r) * layer.s},
                  "NHWC filters"),
      taps(taps_of(layer, false, terms), "taps"),
      taps_nhwc(taps_of(layer, true, terms), "NHWC taps"),
      out(layer.outputs(), "out"),
      pooled(std::max(size_t(layer.n) * layer.k * (layer.p() / 2) * (layer.q() / 2), size_t{1}),
             "pooled"),
      scratch(1, "scratch") {
  const auto sums = std::make_shared<lab::Reference<float>>(layer.outputs(), "sums");
  lab::fill(*sums, DirectSum{layer, in.view(), filter.view()});
  sums_ = sums;
}

lab::Expectation Work::right(const Launch& launch) {
  // Products of random values have a mean magnitude of 1/4.
  const lab::Tolerance tolerance =
      lab::tolerance_for_sum(size_t(layer.terms()), 0.25, 0, launch.roundoff * lab::float_roundoff);
  if (launch.result == Result::pooled) {
    return lab::expect(pooled, PooledSum{layer, sums_->view(), bias.view()}, tolerance);
  }
  if (launch.result == Result::nhwc) {
    return lab::expect(out, TurnedSum{layer, sums_->view()}, tolerance);
  }
  return lab::expect(out, sums_, tolerance);
}

lab::Expectation Work::right_on_host(std::vector<float>& to) const {
  return lab::expect(std::span<float>(to), sums_->host(),
                     lab::tolerance_for_sum(size_t(layer.terms()), 0.25));
}

lab::Rung Work::rung(const Launch& launch) {
  if (peer_.name.empty()) {
    Launch direct = launch;
    direct.result = Result::sums,
    direct.roundoff = WINOGRAD_ERROR;  // cuDNN's may be Winograd's, too
    peer_ = lab::cudnn("cuDNN, " + name, layer, out, in.data(), filter.data(), right(direct));
  }
  lab::Rung rung{.name = launch.rung,
                 .variant = "layer=" + name + (launch.variant.empty() ? "" : "," + launch.variant),
                 .launch = [this, launch] { launch.run(*this); },
                 .outputs = {right(launch)},
                 .bytes = layer.bytes(),
                 .flops = layer.flops(),
                 .limit = lab::Limit::fp32};
  if (launch.result == Result::pooled) {
  } else {
    rung.peer = peer_;
  }
  return rung;
}

void Work::make_room(const Launch& launch) {
  const size_t need = launch.scratch ? launch.scratch(layer) : 1;
  if (scratch.size() < need) scratch = lab::DeviceBuffer<float>(need, "scratch");
}

namespace {

/// A small random weight.
struct Weight {
  lab::RandomValue<float> random;
  float scale;
  __host__ __device__ float operator()(size_t i) const { return scale * random(i); }
};

}  // namespace

lab::Tolerance Step::tolerance() const {
  return lab::tolerance_for_sum(size_t(layer.terms()),
                                4 * WEIGHT / static_cast<float>(layer.terms()));
}

std::vector<Step> network_for(int image, std::uint64_t seed) {
  const auto part = [&](int of_224) { return std::max(of_224 * image / 224, 1); };
  std::vector<Step> steps;
  int c = 3, side = std::max(image, 8);
  lab::View<float> before;
  for (const int k : {part(64), part(128), part(256)}) {
    Step step{.layer = {part(16), c, side, side, k, 3, 3, 1, 1}};
    const Layer& l = step.layer;
    if (steps.empty()) {
      step.images = std::make_shared<const lab::Input<float>>(
          l.inputs(), lab::RandomValue<float>{seed}, "images");
      step.in = step.images->data(), before = step.images->view();
    } else {
      step.in = steps.back().out->data(), before = steps.back().right->view();
    }
    const lab::RandomValue<float> random{seed + 1 + steps.size()};
    step.filter = std::make_shared<const lab::Input<float>>(
        l.weights(), Weight{random, Step::WEIGHT / static_cast<float>(l.terms())}, "filters");
    step.bias = std::make_shared<const lab::Input<float>>(size_t(k), random, "bias");
    const size_t pooled = l.outputs() / (size_t(l.p()) * l.q()) * (l.p() / 2) * (l.q() / 2);
    step.out = std::make_shared<lab::DeviceBuffer<float>>(pooled, "results of a layer");
    lab::Reference<float> sums(l.outputs(), "sums");
    lab::fill(sums, DirectSum{l, before, step.filter->view()});
    const auto right = std::make_shared<lab::Reference<float>>(pooled, "a layer");
    lab::fill(*right, PooledSum{l, sums.view(), step.bias->view()});
    step.right = right;
    steps.push_back(std::move(step));
    c = k, side /= 2;
  }
  return steps;
}
