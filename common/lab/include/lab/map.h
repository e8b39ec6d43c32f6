/// \file
/// The ladder of a chapter whose rungs make one array from another: inputs, output, check, bytes, peer and limit.
#pragma once

#include <concepts>
#include <cstddef>
#include <functional>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "lab/buffer.h"
#include "lab/ceil_div.h"
#include "lab/expect.h"
#include "lab/inputs.h"
#include "lab/ladder.h"
#include "lab/reference.h"
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
  MapRungs(Ladder& ladder, double array_bytes) : ladder_(ladder), array_bytes_(array_bytes) {}

  /// Adds a rung, beside the peer that moves as many bytes.
  /// \param bytes that must move at least, unless the options say otherwise
  void add(std::string_view name, std::string_view variant, const Expectation& output, double bytes,
           const std::function<void()>& launch, const MapOptions& options);

  /// Takes note of a rung that the command line does not ask for.
  void leave_out(std::string_view name, std::string_view variant);

  Ladder& ladder() const { return ladder_; }

 private:
  const Peer& peer_of(double bytes);

  Ladder& ladder_;
  double array_bytes_;
  std::vector<std::pair<double, Peer>> peers_;
};

}  // namespace detail

/// Rungs that compute `n_out` elements of type `Out` from `n` random ones of type `In`.
///
/// A launch is called with the device's pointers, `launch(Out* out, const In* in)`, or, for one that reads two arrays,
/// `launch(Out* out, const In* in, const In* in2)`. `lab::launcher` and `lab::bind_back` make one. Its output is poisoned
/// first, has canaries on both sides, and is compared element by element with `expected(i)`: a `__host__ __device__`
/// function that captures the views `in` and `in2()` by value. The bytes are those of the arrays; the peer is a
/// `cudaMemcpy` in device memory that moves as many; the limit is that of a copy.
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
  /// \param cols of the matrix that the output is, if it is one: for messages
  Map(Ladder& ladder, std::size_t n, std::size_t n_out = 0, std::size_t cols = 0)
      : n(n),
        n_out(n_out == 0 ? n : n_out),
        d_in(n, RandomValue<In>{2 * ladder.seed()}, "in"),
        d_out(this->n_out, "out"),
        in(d_in.view()),
        cols_(cols),
        rungs_(ladder, static_cast<double>(n * sizeof(In) + this->n_out * sizeof(Out))) {}
  Map(const Map&) = delete;
  Map& operator=(const Map&) = delete;

  /// Adds a rung, or one of its variants.
  /// \param variant "pad=1"; empty where the rung has one launch alone
  /// \param expected what element i of the output has to be
  /// \param launch see above
  template <class Expected, class Run>
  void add(std::string_view name, std::string_view variant, Expected expected, Run launch,
           const MapOptions& options = {}) {
    if (!ladder().wants(name)) return rungs_.leave_out(name, variant);
    rungs_.add(name, variant, expect(d_out, expected, Check(options.tolerance, cols_)),
               bytes_of<Run>(), launch_of(launch), options);
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
            name, variant, expected, [&](Out* out, const In* from) { launch(out, from, value); },
            options);
      } else {
        add(
            name, variant, expected,
            [&](Out* out, const In* from, const In* other) { launch(out, from, other, value); },
            options);
      }
    }
  }

  /// Adds a demonstration: a launch with a mistake, which passes if exactly the finding is raised that the header
  /// names, `[raises KIND]`.
  template <class Run>
  void demonstrate(std::string_view name, Run launch) {
    ladder().demonstrate(name, launch_of(launch), {&d_out});
  }

  /// The second input; it is made when it is asked for first.
  const Input<In>& d_in2() {
    if (!d_in2_) d_in2_.emplace(n, RandomValue<In>{2 * ladder().seed() + 1}, "in2");
    return *d_in2_;
  }
  /// The same for `expected`.
  View<In> in2() { return d_in2().view(); }

  /// The ladder that the rungs are of.
  Ladder& ladder() const { return rungs_.ladder(); }

  const std::size_t n, n_out;
  // Device memory is asked for first: a size that is too large ends there, with advice.
  const Input<In> d_in;     ///< the first input, on the device
  DeviceBuffer<Out> d_out;  ///< the output
  const View<In> in;        ///< the first input, for `expected`

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
      return [this, launch] { launch(d_out.data(), d_in.data()); };
    } else {
      static_assert(std::invocable<Run, Out*, const In*, const In*>,
                    "a launch takes (Out* out, const In* in), or a second input behind it");
      return [this, launch, second = d_in2().data()] { launch(d_out.data(), d_in.data(), second); };
    }
  }

  const std::size_t cols_;
  std::optional<Input<In>> d_in2_;
  detail::MapRungs rungs_;
};

#ifdef __CUDACC__
/// The launch of a kernel whose first parameters are the output and the input, or two inputs, and whose others are
/// `rest`: `map.add("square", squared, lab::launcher(square, lab::tiles(n, 256), 256, n));`
template <class Out, class In, class... More, class... Rest>
auto launcher(void (*kernel)(Out*, const In*, More...), dim3 grid, dim3 block, Rest... rest) {
  if constexpr (sizeof...(More) == sizeof...(Rest)) {
    return [=](Out* out, const In* in) { kernel<<<grid, block>>>(out, in, rest...); };
  } else {
    return [=](Out* out, const In* in, const In* in2) {
      kernel<<<grid, block>>>(out, in, in2, rest...);
    };
  }
}
#endif

/// `f` with its last arguments given, as C++23's `std::bind_back` does it: the launch of a host function that launches
/// kernels, `map.add("vectors", transposed, lab::bind_back(launch_vectors, rows, cols));`
template <class F, class... Last>
auto bind_back(F f, Last... last) {
  // The type of the result says what it can be called with: nvcc loses a `requires` of a lambda.
  return [=](auto... first) -> std::invoke_result_t<F, decltype(first)..., Last...> {
    return f(first..., last...);
  };
}

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
