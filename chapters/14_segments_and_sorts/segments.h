/// \file
/// What the files of chapter 14 share: what kernels need, and what a rung is added with.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "lab/lab.h"

/// A sparse matrix in device memory: row r has the values starts[r] to starts[r + 1] - 1.
struct SparseMatrix {
  const unsigned* starts;   ///< rows + 1
  const unsigned* columns;  ///< of each value
  const unsigned* values;
  unsigned rows;
  std::size_t n;  ///< values
};

/// Blocks that cover n elements with tiles; one for no elements, which finds nothing to do.
inline unsigned blocks_for(std::size_t n, std::size_t tile) {
  return static_cast<unsigned>(std::max<std::size_t>(lab::ceil_div(n, tile), 1));
}

/// Four elements from i on; zeros from n on.
__device__ inline uint4 load4(const unsigned* in, std::size_t i, std::size_t n) {
  if (i + 4 <= n) return *reinterpret_cast<const uint4*>(in + i);
  return {i < n ? in[i] : 0, i + 1 < n ? in[i + 1] : 0, i + 2 < n ? in[i + 2] : 0, 0};
}

/// Writes those of the four elements from i on that come before n.
__device__ inline void store4(unsigned* out, std::size_t i, std::size_t n, uint4 four) {
  if (i + 4 <= n) {
    *reinterpret_cast<uint4*>(out + i) = four;
    return;
  }
  if (i < n) out[i] = four.x;
  if (i + 1 < n) out[i + 1] = four.y;
  if (i + 2 < n) out[i + 2] = four.z;
}

/// What a launch is given, in device memory; what its problem does not have is null.
struct Arrays {
  std::size_t n = 0;  ///< elements
  unsigned *out = nullptr, *size = nullptr, *values_out = nullptr;
  const unsigned *in = nullptr, *index = nullptr;
  const void* marks = nullptr;          ///< of segments: heads, a byte each, or keys
  SparseMatrix matrix = {};             ///< `in` is the vector, `out` the product
  unsigned long long* state = nullptr;  ///< a counter and a word for each tile
  std::vector<unsigned char*> scratch = {};

  unsigned* words(std::size_t i) const { return reinterpret_cast<unsigned*>(scratch[i]); }
};
using Launch = std::function<void(const Arrays& arrays)>;

/// What all problems of one size have in common.
struct Common {
  std::size_t n;
  std::uint64_t seed;
  std::size_t words;  ///< of `state`
  lab::Input<unsigned> in{n, lab::RandomValue<unsigned>{2 * seed}, "in"};
  lab::DeviceBuffer<unsigned> out{n, "out"}, size{1, "size"};
  lab::DeviceBuffer<unsigned long long> state{words, "state"};

  Arrays arrays() {
    return {.n = n, .out = out.data(), .size = size.data(), .in = in.data(), .state = state.data()};
  }
};

/// Makes the inputs of a problem, one after the other, and calls `use` with each: what a launch is given, and a rung
/// without name and launch, whose variant is the input's name.
using Use = std::function<void(const Arrays& arrays, const lab::Rung& rung)>;
using Problem = void (*)(Common& common, const Use& use);

// Those that more than one file solves.
void by_flags(Common& common, const Use& use);
void by_keys(Common& common, const Use& use);
void repeats(Common& common, const Use& use);

/// The rungs of this chapter: each is launched with every input of its problem.
struct Segments {
  lab::Ladder& ladder;
  Common common;

  /// \param scratch bytes of each array that the launch needs besides; what was in them is left
  void add(std::string_view name, const std::string& variant, Problem problem, const Launch& launch,
           const std::vector<std::size_t>& scratch = {});
};

/// How a kernel is launched.
struct Grid {
  unsigned blocks, threads, bytes = 0;  ///< bytes of dynamic shared memory
};

/// Launches a kernel that scans segments.
template <class Mark, class State>
void launch(void (*kernel)(unsigned* out, const unsigned* in, const Mark*, std::size_t n, State*),
            Grid grid, const Arrays& a, State* state) {
  kernel<<<grid.blocks, grid.threads, grid.bytes>>>(a.out, a.in, static_cast<const Mark*>(a.marks),
                                                    a.n, state);
}
/// The same for one that keeps some elements.
template <class State>
void launch(void (*kernel)(unsigned* out, unsigned* size, const unsigned* in, std::size_t, State*),
            Grid grid, const Arrays& a, State* state) {
  kernel<<<grid.blocks, grid.threads, grid.bytes>>>(a.out, a.size, a.in, a.n, state);
}
