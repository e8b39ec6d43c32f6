/// \file
/// The ladder of a chapter whose rungs make one array from another: inputs, output, check, bytes, peer and limit.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <functional>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "lab/buffer.h"
#include "lab/ceil_div.h"
#include "lab/chapter.h"
#include "lab/check.h"
#include "lab/inputs.h"
#include "lab/rungs.h"
#include "lab/text.h"
#include "lab/verify.h"

namespace lab {

/// What a rung of a `Map` may have besides its name, its check and its launch.
struct MapOptions {
  Tolerance tolerance = Tolerance::exact();  ///< how far an element may be from `expected`
  double bytes =
      0;  ///< bytes that must move at least; 0: all inputs, read once, and all outputs, written once
  bool timed = true;                ///< false: checked, not timed
  std::function<void()> show = {};  ///< prints to stdout, after the rung ran
};

/// Rungs that compute `n_out` elements of type `Out` from `n` random ones of type `In`.
///
/// `main` makes one per chapter, adds the rungs, and returns `chapter.run()`. A launch is called with the device's
/// pointers, `launch(Out* out, const In* in)`, or `launch(Out* out, const In* in, const In* in2)` for one that reads
/// two arrays. Its output is poisoned first, has canaries on both sides, and is compared element by element with
/// `expected(i)`, which may use the host's copies `in` and `in2`, and is called by several threads at once. The bytes
/// are those of the arrays; the peer is a `cudaMemcpy` in device memory that moves as many; the limit is that of a copy.
template <class In, class Out = In>
class Map {
 public:
  using Launch = std::function<void(Out*, const In*)>;
  /// One of several launches of one rung.
  struct Variant {
    std::string variant;  ///< "pad=1"
    Launch launch;
  };

  /// \param n elements of each input
  /// \param n_out elements of the output; 0: as many
  Map(Chapter& chapter, std::size_t n, std::size_t n_out = 0)
      : n(n),
        n_out(n_out == 0 ? n : n_out),
        d_in(n, "in"),
        d_out(this->n_out, "out"),
        in(random_values<In>(n, 2 * chapter.seed())),
        chapter_(chapter),
        d_in2_(0, "in2") {
    d_in.upload(in);
    for (const auto& add_rungs : detail::rungs_of<Map>()) add_rungs(*this);
  }
  Map(const Map&) = delete;
  Map& operator=(const Map&) = delete;

  /// Adds a rung, or one of its variants.
  /// \param variant "pad=1"; empty where the rung has one launch alone
  /// \param expected what element i of the output has to be
  /// \param launch see above
  template <class Expected, class Run>
  void add(std::string_view name, std::string_view variant, Expected expected, Run launch,
           const MapOptions& options = {}) {
    Rung rung = rung_of(launch);
    rung.name = name;
    rung.variant = variant;
    rung.verify = [this, expected, tolerance = options.tolerance] {
      return compare_with(d_out.download(), expected, tolerance);
    };
    if (options.bytes > 0) rung.bytes = options.bytes;
    rung.timed = options.timed;
    rung.show = options.show;
    rung.limit = Limit::copy;
    rung.peer = peer_of(rung.bytes);
    chapter_.add(rung);
  }
  /// The same for a rung without variants.
  template <class Expected, class Run>
  requires(!std::convertible_to<Expected, std::string_view>) void add(
      std::string_view name, Expected expected, Run launch, const MapOptions& options = {}) {
    add(name, "", expected, launch, options);
  }

  /// Adds the variants of a rung: `map.sweep("tiled", turned, {{"pad=0", ...}, {"pad=1", ...}});`
  template <class Expected>
  void sweep(std::string_view name, Expected expected, std::initializer_list<Variant> variants,
             const MapOptions& options = {}) {
    for (const Variant& one : variants) add(name, one.variant, expected, one.launch, options);
  }
  /// Adds a variant for each value: `map.sweep("square", "block", {64, 256}, squared, [&](auto* out, auto* in,
  /// int block) { ... });` adds "block=64" and "block=256".
  template <class T, class Expected, class Run>
  void sweep(std::string_view name, std::string_view label, std::initializer_list<T> values,
             Expected expected, Run launch, const MapOptions& options = {}) {
    for (const T& value : values) {
      const std::string variant = variant_name(label, value);
      if constexpr (std::invocable<Run, Out*, const In*, T>) {
        add(
            name, variant, expected, [=](Out* out, const In* from) { launch(out, from, value); },
            options);
      } else {
        add(
            name, variant, expected,
            [=](Out* out, const In* from, const In* other) { launch(out, from, other, value); },
            options);
      }
    }
  }

  /// Adds a demonstration: a launch with a mistake, which passes if exactly the finding is raised that the header
  /// names, `[raises KIND]`.
  template <class Run>
  void demonstrate(std::string_view name, Run launch) {
    chapter_.demonstrate(name, rung_of(launch).launch, std::vector<Buffer*>{&d_out});
  }

  /// What the rungs are registered with.
  Chapter& chapter() const { return chapter_; }

  const std::size_t n, n_out;
  // Device memory is asked for first: a size that is too large ends there, with advice.
  DeviceBuffer<In> d_in;     ///< the first input, on the device
  DeviceBuffer<Out> d_out;   ///< the output
  const std::vector<In> in;  ///< the first input, on the host
  std::vector<In> in2;       ///< the second, where a launch reads two; empty before that is added

 private:
  /// What the number of a launch's inputs decides.
  template <class Run>
  Rung rung_of(Run launch) {
    Rung rung;
    rung.outputs.push_back(&d_out);
    const double one = static_cast<double>(n * sizeof(In));
    rung.bytes = one + static_cast<double>(n_out * sizeof(Out));
    if constexpr (std::invocable<Run, Out*, const In*>) {
      rung.launch = [this, launch] { launch(d_out.data(), std::as_const(d_in).data()); };
    } else {
      static_assert(std::invocable<Run, Out*, const In*, const In*>,
                    "a launch takes (Out* out, const In* in), or a second input behind it");
      rung.bytes += one;
      if (in2.empty()) {
        in2 = random_values<In>(n, 2 * chapter_.seed() + 1);
        d_in2_ = DeviceBuffer<In>(in2, "in2");
      }
      rung.launch = [this, launch] {
        launch(d_out.data(), std::as_const(d_in).data(), std::as_const(d_in2_).data());
      };
    }
    return rung;
  }

  /// The name of the peer that moves as many bytes; makes it where it is the first.
  std::string peer_of(double bytes) {
    const auto half = static_cast<std::size_t>(bytes / 2);
    const double times = bytes / static_cast<double>(n * sizeof(In) + n_out * sizeof(Out));
    const std::string name =
        times == 1 ? "cudaMemcpy" : format("cudaMemcpy of %g times the bytes", times);
    if (std::find(peers_.begin(), peers_.end(), name) != peers_.end()) return name;
    peers_.push_back(name);
    const auto from = std::make_shared<DeviceBuffer<unsigned char>>(
        random_bytes(half, chapter_.seed()), "what the peer copies");
    const auto to = std::make_shared<DeviceBuffer<unsigned char>>(half, "what the peer copies to");
    chapter_.peer({.name = name,
                   .launch =
                       [=] {
                         CUDA_CHECK(cudaMemcpyAsync(to->data(), from->data(), half,
                                                    cudaMemcpyDeviceToDevice));
                       },
                   .bytes = 2.0 * static_cast<double>(half),
                   .verify = [=] { return compare(to->download(), from->download()); },
                   .outputs = std::vector<Buffer*>{to.get()}});
    return name;
  }

  Chapter& chapter_;
  DeviceBuffer<In> d_in2_;
  std::vector<std::string> peers_;
};

/// The grid that covers a row of `n` elements with blocks of `per_block` of them.
inline dim3 tiles(std::size_t n, std::size_t per_block) {
  return dim3(static_cast<unsigned>(ceil_div(n, per_block)));
}

/// The grid that covers `cols` x `rows` elements with tiles of `tile_cols` x `tile_rows`, x along the columns.
inline dim3 tiles(std::size_t cols, std::size_t rows, std::size_t tile_cols,
                  std::size_t tile_rows) {
  return dim3(static_cast<unsigned>(ceil_div(cols, tile_cols)),
              static_cast<unsigned>(ceil_div(rows, tile_rows)));
}

/// The same with square tiles.
inline dim3 tiles(std::size_t cols, std::size_t rows, std::size_t tile) {
  return tiles(cols, rows, tile, tile);
}

}  // namespace lab
