/// \file
/// What chapter 16 needs around its kernels: the layers, their right results, and what a rung is added with.
#pragma once

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "lab/lab.h"

using Layer = lab::Convolution;

/// A term of a window, seen from the window's first pixel: how far it is in memory, and how many rows and columns.
struct Tap {
  int offset;
  short r, s;
};

/// Two neighbours of a table, for one load.
struct alignas(16) TwoTaps {
  Tap tap[2];
};

/// The taps of all terms of a group, and some that lie outside of every image, up to a multiple of `multiple`.
/// \param nhwc  for images with their channels inside: the order is R, S, C, else C, R, S
std::vector<Tap> taps_of(const Layer& l, bool nhwc, int multiple);

/// The layers of the chapter by their names: those of a network for images of 224 x 224, or with all extents but filters in
/// proportion to another size.
std::vector<std::pair<std::string, Layer>> layers_for(int image);

inline constexpr const char* LAYER_FORM = "N,C,H,W,K,R,S[,STRIDE[,PADDING[,DILATION[,GROUPS]]]]";
/// Reads what `LAYER_FORM` spells.
/// \throws lab::BadInput where it is not a layer
Layer parse_layer(const std::string& text);

/// A result of the direct sum in double, rounded once: element i of (N, K, P, Q).
struct DirectSum {
  Layer l;
  lab::View<float> in, filter;

  __host__ __device__ float operator()(std::size_t i) const {
    const int q = static_cast<int>(i % l.q()), p = static_cast<int>(i / l.q() % l.p());
    const std::size_t plane = i / l.q() / l.p(), n = plane / l.k, k = plane % l.k;
    const std::size_t depth = l.c / l.groups, c0 = k / (l.k / l.groups) * depth;
    double sum = 0;
    for (std::size_t c = 0; c < depth; ++c) {
      for (int r = 0; r < l.r; ++r) {
        for (int s = 0; s < l.s; ++s) {
          const int y = p * l.stride - l.pad + r * l.dilation;
          const int x = q * l.stride - l.pad + s * l.dilation;
          if (y < 0 || y >= l.h || x < 0 || x >= l.w) continue;
          sum += double{in[((n * l.c + c0 + c) * l.h + y) * l.w + x]} *
                 filter[((k * depth + c) * l.r + r) * l.s + s];
        }
      }
    }
    return static_cast<float>(sum);
  }
};

/// Element i of (N, K, P / 2, Q / 2): what bias, ReLU and a 2 x 2 pool leave of sums.
struct PooledSum {
  Layer l;
  lab::View<float> sums, bias;

  __host__ __device__ float operator()(std::size_t i) const {
    const std::size_t p = l.p() / 2, q = l.q() / 2, x = i % q, y = i / q % p, plane = i / q / p;
    float best = 0;
    for (int e = 0; e < 4; ++e) {
      const std::size_t at = (plane * l.p() + 2 * y + e / 2) * l.q() + 2 * x + e % 2;
      const float value = sums[at] + bias[plane % l.k];
      if (value > best) best = value;
    }
    return best;
  }
};

/// Element i of (N, P, Q, K) from sums (N, K, P, Q).
struct TurnedSum {
  Layer l;
  lab::View<float> sums;

  __host__ __device__ float operator()(std::size_t i) const {
    const std::size_t each = std::size_t(l.p()) * l.q(), k = i % l.k, pixel = i / l.k;
    return sums[(pixel / each * l.k + k) * each + pixel % each];
  }
};

/// Element i of (n, along, across) from an array (n, across, along).
struct Turned {
  lab::View<float> from;
  std::size_t across, along;

  __host__ __device__ float operator()(std::size_t i) const {
    const std::size_t c = i % across, at = i / across % along, n = i / across / along;
    return from[(n * across + c) * along + at];
  }
};

/// Whether a layer is one of those named; that of `--layer` always is.
inline bool is_among(const std::string& layer, const std::string& names) {
  return layer == "given" || (" " + names + " ").find(" " + layer + " ") != std::string::npos;
}

/// What a rung leaves in `Work::out`.
enum class Result { sums, nhwc, pooled, mistake };

struct Work;

/// How many times the errors of a direct sum Winograd's may be.
inline constexpr double WINOGRAD_ERROR = 16;

/// What a rung is added with.
struct Launch {
  std::string rung, variant;
  std::string
      layers;  ///< those that it is run for, by name; one from `--layer` is run by all that take it
  void (*run)(Work&);
  std::string (*refuses)(const Layer&);  ///< why it cannot take a layer; empty where it can
  std::size_t (*scratch)(const Layer&) = nullptr;  ///< floats that it needs on the way
  Result result = Result::sums;
  double roundoff = 1;  ///< how many times the errors of a direct sum it may have
};

/// A layer, its arrays, and what is right.
struct Work {
  /// \param terms  what tables of taps are rounded up to
  Work(const Layer& layer, const std::string& name, std::uint64_t seed, int terms);

  /// What a launch has to leave.
  lab::Expectation right(const Launch& launch);
  /// A rung of the host, which computes `to`.
  lab::Rung rung_on_host(const Launch& launch, std::vector<float>& to,
                         void (*compute)(float*, const float*, const float*, const Layer&));
  /// A rung.
  lab::Rung rung(const Launch& launch);
  /// Makes room for what a launch needs on the way.
  void make_room(const Launch& launch);

  const Layer layer;
  const std::string name;
  const lab::Input<float> in, filter, bias, in_nhwc, filter_nhwc;
  lab::DeviceBuffer<Tap> taps, taps_nhwc;
  lab::DeviceBuffer<float> out, pooled, scratch;

 private:
  std::shared_ptr<const lab::Reference<float>> sums_;
  lab::Peer peer_;
};

/// One layer of a network: convolution, bias, ReLU and pool, and what it has to leave.
struct Step {
  Layer layer = {};
  const float* in = nullptr;
  std::shared_ptr<const lab::Input<float>> images = {};  ///< of the first layer
  std::shared_ptr<const lab::Input<float>> filter = {}, bias = {};
  std::shared_ptr<lab::DeviceBuffer<float>> out = {};
  std::shared_ptr<const lab::Reference<float>> right = {};

  /// Sums of weights whose mean magnitude is `WEIGHT` / terms: three layers of Winograd's sums are behind the last result.
  static constexpr float WEIGHT = 4;
  lab::Tolerance tolerance() const;
};

/// The three layers for images of that many pixels a side.
std::vector<Step> network_for(int image, std::uint64_t seed);

inline std::vector<Tap> taps_of(const Layer& l, bool nhwc, int multiple) {
  const int depth = l.c / l.groups, rs = l.r * l.s;
  std::vector<Tap> taps;
  for (int t = 0; t < l.terms(); ++t) {
    const int c = nhwc ? t % depth : t / rs, at = nhwc ? t / depth : t % rs;
    const int r = at / l.s * l.dilation, s = at % l.s * l.dilation;
    const int offset = nhwc ? (r * l.w + s) * l.c + c : (c * l.h + r) * l.w + s;
    taps.push_back({offset, static_cast<short>(r), static_cast<short>(s)});
  }
  while (taps.size() % static_cast<std::size_t>(multiple) != 0) taps.push_back({0, -(1 << 15), 0});
  return taps;
}

inline std::vector<std::pair<std::string, Layer>> layers_for(int image) {
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

inline Layer parse_layer(const std::string& text) {
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
  const auto more = [&](std::size_t i, int otherwise) {
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
  constexpr int most = 65528;  // blocks along y or z of a grid, in steps of eight terms
  if (layer.terms() > most || layer.k > most || layer.groups > most) {
    throw lab::BadInput("--layer " + text + ": K, groups and C R S / groups are at most " +
                        std::to_string(most) + " here");
  }
  return layer;
}

inline Work::Work(const Layer& layer, const std::string& name, std::uint64_t seed, int terms)
    : layer(layer),
      name(name),
      in(layer.inputs(), lab::RandomValue<float>{seed}, "images"),
      filter(layer.weights(), lab::RandomValue<float>{seed + 1}, "filters"),
      bias(layer.k, lab::RandomValue<float>{seed + 2}, "bias"),
      in_nhwc(layer.inputs(),
              Turned{in.view(), std::size_t(layer.c), std::size_t(layer.h) * layer.w},
              "NHWC images"),
      filter_nhwc(layer.weights(),
                  Turned{filter.view(), std::size_t(layer.c / layer.groups),
                         std::size_t(layer.r) * layer.s},
                  "NHWC filters"),
      taps(taps_of(layer, false, terms), "taps"),
      taps_nhwc(taps_of(layer, true, terms), "NHWC taps"),
      out(layer.outputs(), "out"),
      pooled(std::max(std::size_t(layer.n) * layer.k * (layer.p() / 2) * (layer.q() / 2),
                      std::size_t{1}),
             "pooled"),
      scratch(1, "scratch") {
  const auto sums = std::make_shared<lab::Reference<float>>(layer.outputs(), "sums");
  lab::fill(*sums, DirectSum{layer, in.view(), filter.view()});
  sums_ = sums;
}

inline lab::Expectation Work::right(const Launch& launch) {
  // Products of random values have a mean magnitude of 1/4.
  const lab::Tolerance tolerance = lab::tolerance_for_sum(std::size_t(layer.terms()), 0.25, 0,
                                                          launch.roundoff * lab::float_roundoff);
  if (launch.result == Result::pooled) {
    return lab::expect(pooled, PooledSum{layer, sums_->view(), bias.view()}, tolerance);
  }
  if (launch.result == Result::nhwc) {
    return lab::expect(out, TurnedSum{layer, sums_->view()}, tolerance);
  }
  return lab::expect(out, sums_, tolerance);
}

inline lab::Rung Work::rung(const Launch& launch) {
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

inline lab::Rung Work::rung_on_host(const Launch& launch, std::vector<float>& to,
                                    void (*compute)(float*, const float*, const float*,
                                                    const Layer&)) {
  lab::Rung rung = this->rung(launch);
  rung.outputs = {lab::expect(std::span<float>(to), sums_->host(),
                              lab::tolerance_for_sum(std::size_t(layer.terms()), 0.25))};
  rung.launch = [&to, compute, images = in.host(), filters = filter.host(), l = layer] {
    compute(to.data(), images.data(), filters.data(), l);
  };
  rung.clock = lab::Clock::host;
  return rung;
}

inline void Work::make_room(const Launch& launch) {
  const std::size_t need = launch.scratch ? launch.scratch(layer) : 1;
  if (scratch.size() < need) scratch = lab::DeviceBuffer<float>(need, "scratch");
}

/// The layers that a run is for, and where their rungs go; another file adds its own.
struct Chosen {
  lab::Ladder& ladder;
  std::vector<std::pair<std::string, Layer>> layers;
};

/// A small random weight.
struct Weight {
  lab::RandomValue<float> random;
  float scale;
  __host__ __device__ float operator()(std::size_t i) const { return scale * random(i); }
};

inline lab::Tolerance Step::tolerance() const {
  return lab::tolerance_for_sum(std::size_t(layer.terms()),
                                4 * WEIGHT / static_cast<float>(layer.terms()));
}

inline std::vector<Step> network_for(int image, std::uint64_t seed) {
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
    step.bias = std::make_shared<const lab::Input<float>>(std::size_t(k), random, "bias");
    const std::size_t pooled =
        l.outputs() / (std::size_t(l.p()) * l.q()) * (l.p() / 2) * (l.q() / 2);
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

/// What all layers have to leave: a rung without name and launch.
inline lab::Rung rung_of(const std::vector<Step>& steps) {
  lab::Rung rung{.limit = lab::Limit::fp32};
  for (const Step& step : steps) {
    rung.outputs.push_back(lab::expect(*step.out, step.right, step.tolerance()));
    rung.flops += step.layer.flops();
  }
  return rung;
}
