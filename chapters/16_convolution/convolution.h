/// \file
/// What chapter 16 needs around its kernels: the layers, their right results, and what a rung is added with.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
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
  /// What the host has to leave in an array of its own.
  lab::Expectation right_on_host(std::vector<float>& to) const;
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
