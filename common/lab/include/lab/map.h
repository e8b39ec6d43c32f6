/// \file
/// The ladder of a chapter whose rungs make one array from another: inputs, output, check, bytes, peer and limit.
#pragma once

#include <concepts>
#include <cstddef>
#include <functional>
#include <initializer_list>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "lab/buffer.h"
#include "lab/ceil_div.h"
#include "lab/chapter.h"
#include "lab/inputs.h"
#include "lab/rungs.h"
#include "lab/verify.h"

namespace lab {

/// What a rung of a `Map` may have besides its name, its check and its launch.
struct MapOptions {
  Tolerance tolerance = Tolerance::exact();  ///< how far an element may be from `expected`
  double bytes =
      0;  ///< bytes that must move at least; 0: all inputs, read once, and all outputs, written once
  bool timed = true;                ///< false: checked, not timed
  std::function<void()> show = {};  ///< prints to stdout, after the rung ran

  ~MapOptions();
};

namespace detail {

/// What a `Map` does that does not depend on the types of its elements: in lab, so that no chapter compiles it.
class MapRungs {
 public:
  /// \param array_bytes of one input and the output
  MapRungs(Chapter& chapter, double array_bytes) : chapter_(chapter), array_bytes_(array_bytes) {}

  /// Adds a rung that writes `output`, and the peer that moves as many bytes where it is the first.
  /// \param bytes that must move at least, unless the options say otherwise
  void add(std::string_view name, std::string_view variant, Buffer& output, double bytes,
           const std::function<void()>& launch,
           const std::function<Comparison(const Tolerance&)>& verify, const MapOptions& options);
  void demonstrate(std::string_view name, Buffer& output, const std::function<void()>& launch);

  Chapter& chapter() const { return chapter_; }

 private:
  std::string peer_of(double bytes);

  Chapter& chapter_;
  double array_bytes_;
  std::vector<std::string> peers_;
};

}  // namespace detail

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
    std::string_view variant;  ///< "pad=1"
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
        d_in2_(0, "in2"),
        rungs_(chapter, static_cast<double>(n * sizeof(In) + this->n_out * sizeof(Out))) {
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
    rungs_.add(name, variant, d_out, bytes_of<Run>(), launch_of(launch), check_of(expected),
               options);
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
    rungs_.demonstrate(name, d_out, launch_of(launch));
  }

  /// What the rungs are registered with.
  Chapter& chapter() const { return rungs_.chapter(); }

  const std::size_t n, n_out;
  // Device memory is asked for first: a size that is too large ends there, with advice.
  DeviceBuffer<In> d_in;     ///< the first input, on the device
  DeviceBuffer<Out> d_out;   ///< the output
  const std::vector<In> in;  ///< the first input, on the host
  std::vector<In> in2;       ///< the second, where a launch reads two; empty before that is added

 private:
  /// Whether a launch reads one input, and not two.
  template <class Run>
  static constexpr bool reads_one = std::invocable<Run, Out*, const In*>;

  template <class Run>
  double bytes_of() const {
    return static_cast<double>(n * sizeof(In)) * (reads_one<Run> ? 1 : 2) +
           static_cast<double>(n_out * sizeof(Out));
  }

  template <class Run>
  std::function<void()> launch_of(Run launch) {
    if constexpr (reads_one<Run>) {
      return [this, launch] { launch(d_out.data(), std::as_const(d_in).data()); };
    } else {
      static_assert(std::invocable<Run, Out*, const In*, const In*>,
                    "a launch takes (Out* out, const In* in), or a second input behind it");
      make_second_input();
      return [this, launch] {
        launch(d_out.data(), std::as_const(d_in).data(), std::as_const(d_in2_).data());
      };
    }
  }

  void make_second_input() {
    if (!in2.empty()) return;
    in2 = random_values<In>(n, 2 * chapter().seed() + 1);
    d_in2_ = DeviceBuffer<In>(in2, "in2");
  }

  template <class Expected>
  std::function<Comparison(const Tolerance&)> check_of(const Expected& expected) {
    return [this, expected](const Tolerance& tolerance) {
      return compare_with(d_out.download(), expected, tolerance);
    };
  }

  DeviceBuffer<In> d_in2_;
  detail::MapRungs rungs_;
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
