/// \file
/// What both files of chapter 15 share: grids, float4s of a row, the weights in 3D, and what a rung is added with.
#pragma once

#include <cmath>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "lab/lab.h"

/// i, or the index in [0, n) that is next to it.
__host__ __device__ inline int inside(int i, int n) { return i < 0 ? 0 : i < n ? i : n - 1; }

/// The extents of a grid; x runs along the rows. A grid in 2D has one plane.
struct Box {
  int planes, rows, cols;

  __host__ __device__ std::size_t plane() const { return std::size_t(rows) * cols; }
  __host__ __device__ std::size_t cells() const { return plane() * planes; }
  /// The first cell of row y of plane z, or of the row next to it that exists.
  __host__ __device__ std::size_t row(int z, int y) const {
    return inside(z, planes) * plane() + std::size_t(inside(y, rows)) * cols;
  }
  /// Whether all cells of a row lie at the edge, in a layer of `width` cells.
  __host__ __device__ bool at_edge(int z, int y, int width = 1) const {
    return z < width || z >= planes - width || y < width || y >= rows - width;
  }
};

/// Four cells of a row from column `x` on, a multiple of four, negative or not; zeros for cells that the row does not
/// have. Where WIDE, rows begin at multiples of 16 bytes.
template <bool WIDE>
__device__ inline float4 float4_of(const float* row, int x, int cols) {
  if constexpr (WIDE) {
    return 0 <= x && x < cols ? *reinterpret_cast<const float4*>(row + x) : make_float4(0, 0, 0, 0);
  } else {
    return lab::load4(row + x, x < 0 ? 0 : cols - x, false);
  }
}

/// The like for a store.
template <bool WIDE>
__device__ inline void store_float4_of(float* row, int x, int cols, float4 four) {
  if constexpr (WIDE) {
    if (0 <= x && x < cols) *reinterpret_cast<float4*>(row + x) = four;
  } else {
    lab::store4(row + x, x < 0 ? 0 : cols - x, false, four);
  }
}

/// `next`, but for the cells in the first and the last `width` columns, which keep what is in `now`.
__device__ inline float4 keep_ends(float4 next, float4 now, int x, int cols, int width = 1) {
  if (x < width || x >= cols - width) next.x = now.x;
  if (x + 1 < width || x + 1 >= cols - width) next.y = now.y;
  if (x + 2 < width || x + 2 >= cols - width) next.z = now.z;
  if (x + 3 < width || x + 3 >= cols - width) next.w = now.w;
  return next;
}

constexpr float MIDDLE = 0.4f, FACE = 0.1f;  ///< weights of the seven points

constexpr int REACH = 4;  ///< how far the 25 points reach

/// Weight of a cell of the 25 points, by its distance from the one in the middle: a step in time with second derivatives
/// in x, y and z of eighth order.
__host__ __device__ constexpr float far_weight(int distance) {
  return distance == 0   ? 1 - 0.1f * 3 * 205 / 72
         : distance == 1 ? 0.1f * 8 / 5
         : distance == 2 ? -0.1f / 5
         : distance == 3 ? 0.1f * 8 / 315
                         : -0.1f / 560;
}

__device__ inline float4 operator+(float4 a, float4 b) {
  return make_float4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w);
}

/// weight * a + b
__device__ inline float4 fma4(float weight, float4 a, float4 b) {
  return make_float4(fmaf(weight, a.x, b.x), fmaf(weight, a.y, b.y), fmaf(weight, a.z, b.z),
                     fmaf(weight, a.w, b.w));
}

/// What four cells get from their own plane, besides what stands in `sum`.
///
/// @param column  the cells of the column along y, from REACH above those in the middle to REACH below
/// @param left, right  the four cells on either side
__device__ inline float4 far_in_plane(float4 sum, const float4* column, float4 left, float4 right) {
  const float4 centre = column[REACH];
  const float row[12] = {left.x,   left.y,   left.z,  left.w,  centre.x, centre.y,
                         centre.z, centre.w, right.x, right.y, right.z,  right.w};
  sum = fma4(far_weight(0), centre, sum);
#pragma unroll
  for (int d = 1; d <= REACH; ++d) {
    const float4 along = make_float4(row[4 - d] + row[4 + d], row[5 - d] + row[5 + d],
                                     row[6 - d] + row[6 + d], row[7 - d] + row[7 + d]);
    sum = fma4(far_weight(d), along + (column[REACH - d] + column[REACH + d]), sum);
  }
  return sum;
}

constexpr unsigned MOST_TAPS = 33;

/// The taps of a convolution.
struct Taps {
  float weight[MOST_TAPS];
};

/// The taps of a radius: a bell, not symmetric, so that a mirrored window shows.
inline Taps bell_of(unsigned radius) {
  Taps bell{};
  for (unsigned k = 0; k <= 2 * radius; ++k) {
    const double x = (k - 1.25 * radius) / (radius + 1.0);
    bell.weight[k] = static_cast<float>(std::exp(-2 * x * x) / (radius + 1.0));
  }
  return bell;
}

/// The weight in row k / size and column k % size of a filter: a product of two taps; rows and columns are not alike, so that a
/// mix-up shows.
__host__ __device__ inline float weight_of(const Taps& taps, int size, int k) {
  return taps.weight[k / size] * taps.weight[size - 1 - k % size];
}

enum class Edge;  // of the section on filters

/// What a rung is added with: so many steps from one array to another of the same extents.
struct Launch {
  std::string rung;
  std::string variant;
  int steps;  ///< 0: a mistake, to be demonstrated
  void (*run)(float* out, const float* in, Box box);
  /// Why it cannot, for this box; none: it always can.
  const char* (*cannot)(Box box) = nullptr;
  void (*prepare)(const float* in,
                  Box box) = nullptr;  ///< what a launch needs, and no part of its time
  std::optional<Edge> edge = {};       ///< what the grid goes on with; none: cells at the edge stay
};

/// The launches of this chapter that take steps; another file adds its own.
struct Launches {
  std::vector<Launch> five, small, seven, far;
  std::vector<Launch> filters = {};  ///< of 7 x 7, zeros beyond the edge
};

/// The grid that covers a box with tiles.
inline dim3 tiles_of(Box box, int cols, int rows, int planes = 1) {
  return dim3(static_cast<unsigned>(lab::ceil_div(box.cols, cols)),
              static_cast<unsigned>(lab::ceil_div(box.rows, rows)),
              static_cast<unsigned>(lab::ceil_div(box.planes, planes)));
}

/// Planes for each block of a kernel that walks along z: such that all blocks together take as little time as possible,
/// where `columns` of them stand beside each other, `at_once` run at a time, and each walks through `more` planes more.
inline int even_depth(std::size_t columns, std::size_t at_once, int planes, int more) {
  int best = planes;
  std::size_t least = ~std::size_t{0};
  for (int pieces = 1; pieces <= planes; ++pieces) {
    const int depth = lab::ceil_div(planes, pieces);
    const std::size_t waves = lab::ceil_div(columns * lab::ceil_div(planes, depth), at_once);
    if (waves * (depth + more) < least) least = waves * (depth + more), best = depth;
  }
  return best;
}
