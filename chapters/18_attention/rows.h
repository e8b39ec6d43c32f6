/// \file
/// What both files of chapter 18 share: rows and the four operations on them.
///
/// An operation says how a row is reduced to a state, which operator merges the states of two parts of it, and what the
/// state makes of each element. Who holds the row (a warp, a block, a cluster) does not know the operation.
#pragma once

#include <cuda_runtime.h>

#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

#include "lab/lab.h"

constexpr unsigned ALL = 0xffffffff;    ///< the mask of all 32 lanes
constexpr float LOG2E = 1.4426950409f;  ///< exp(x) is 2^(LOG2E x)

/// 2^x, as the special function unit computes it: one instruction, within 2 ulp.
__device__ __forceinline__ float exp2_fast(float x) {
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

/// A maximum that may be subtracted: where all is -inf, 0 takes its place, as -inf - -inf is NaN.
__host__ __device__ inline float finite(float max) { return max == -INFINITY ? 0 : max; }

/// How many of the four floats from column `c` on a row has. Where WIDE, it has all of them or none.
template <bool WIDE>
__device__ inline int present(int c, int cols) {
  if (WIDE) return c < cols ? 4 : 0;
  return min(max(cols - c, 0), 4);
}

/// Four floats of a row from column `c` on, `pad` where it has none. Where WIDE, rows begin at multiples of 16 bytes.
template <bool WIDE>
__device__ inline float4 load_float4(const float* row, int c, int cols, float pad) {
  if constexpr (WIDE) {
    return c < cols ? *reinterpret_cast<const float4*>(row + c) : make_float4(pad, pad, pad, pad);
  } else {
    return make_float4(c < cols ? row[c] : pad, c + 1 < cols ? row[c + 1] : pad,
                       c + 2 < cols ? row[c + 2] : pad, c + 3 < cols ? row[c + 3] : pad);
  }
}

/// The like for a store.
template <bool WIDE>
__device__ inline void store_float4(float* row, int c, int cols, float4 values) {
  if constexpr (WIDE) {
    if (c < cols) *reinterpret_cast<float4*>(row + c) = values;
  } else {
    lab::store4(row + c, cols - c, false, values);
  }
}

/// Softmax: out = exp(x - max) / sum of those.
struct Softmax {
  /// The largest element, and the sum of exp(x - max).
  struct State {
    float max, sum;
  };
  static constexpr float pad = -INFINITY;  ///< an element that changes nothing
  static constexpr bool has_weights = false;

  static __device__ State none() { return {-INFINITY, 0}; }
  static __device__ State merge_alike(State a, State b) { return merge(a, b); }
  static __device__ State merge(State a, State b) {
    const float max = fmaxf(a.max, b.max), by = finite(max);
    return {max, a.sum * exp2_fast(LOG2E * (a.max - by)) + b.sum * exp2_fast(LOG2E * (b.max - by))};
  }
  /// The state of a thread's part of the row.
  template <bool WIDE, int N>
  static __device__ State of(const float4 (&x)[N], int, int, int) {
    float max = -INFINITY, sum = 0;
#pragma unroll
    for (int i = 0; i < N; ++i)
      max = fmaxf(fmaxf(max, fmaxf(x[i].x, x[i].y)), fmaxf(x[i].z, x[i].w));
    const float by = finite(max);
#pragma unroll
    for (int i = 0; i < N; ++i) {
      const float4 e = scaled(x[i], by, 1);
      sum += (e.x + e.y) + (e.z + e.w);
    }
    return {max, sum};
  }
  static __device__ float4 map(float4 x, State all, float4, float4) {
    return scaled(x, finite(all.max), 1 / all.sum);
  }
  /// factor * exp(x - by). The difference comes first: LOG2E by would be rounded, which in the thousands is 1e-4 of exp(x).
  static __device__ __forceinline__ float4 scaled(float4 x, float by, float factor) {
    return make_float4(
        factor * exp2_fast(LOG2E * (x.x - by)), factor * exp2_fast(LOG2E * (x.y - by)),
        factor * exp2_fast(LOG2E * (x.z - by)), factor * exp2_fast(LOG2E * (x.w - by)));
  }
};

constexpr float EPSILON = 1e-5f;  ///< what is added to a variance, so that it has an inverse

/// Layer norm: out = (x - mean) / sqrt(variance + EPSILON) * gamma + beta.
struct LayerNorm {
  /// Elements, their mean, and the sum of the squares of their distances from it.
  struct State {
    float n, mean, squares;
  };
  static constexpr float pad = 0;
  static constexpr bool has_weights = true;

  static __device__ State none() { return {0, 0, 0}; }
  static __device__ State merge(State a, State b) {
    const float n = a.n + b.n, share = n > 0 ? __fdividef(b.n, n) : 0, apart = b.mean - a.mean;
    return {n, fmaf(apart, share, a.mean), a.squares + b.squares + apart * apart * a.n * share};
  }
  /// Of two parts with the same number of elements: no division.
  static __device__ State merge_alike(State a, State b) {
    const float apart = b.mean - a.mean;
    return {2 * a.n, fmaf(0.5f, apart, a.mean),
            a.squares + b.squares + apart * apart * (0.5f * a.n)};
  }
  /// The state of a thread's part: x[i] begins in column first + i * step.
  template <bool WIDE, int N>
  static __device__ State of(const float4 (&x)[N], int first, int step, int cols) {
    float n = 0, sum = 0, squares = 0;
#pragma unroll
    for (int i = 0; i < N; ++i) {
      n += static_cast<float>(present<WIDE>(first + i * step, cols));
      sum += (x[i].x + x[i].y) + (x[i].z + x[i].w);
    }
    const float mean = n > 0 ? __fdividef(sum, n) : 0;
#pragma unroll
    for (int i = 0; i < N; ++i) {
      const int there = present<WIDE>(first + i * step, cols);
      const float a = x[i].x - mean, b = x[i].y - mean, c = x[i].z - mean, d = x[i].w - mean;
      if (there > 0) squares = fmaf(a, a, squares);
      if (there > 1) squares = fmaf(b, b, squares);
      if (there > 2) squares = fmaf(c, c, squares);
      if (there > 3) squares = fmaf(d, d, squares);
    }
    return {n, mean, squares};
  }
  static __device__ float4 map(float4 x, State all, float4 gamma, float4 beta) {
    const float by = rsqrtf(all.squares / all.n + EPSILON), mean = all.mean;
    return make_float4(
        fmaf((x.x - mean) * by, gamma.x, beta.x), fmaf((x.y - mean) * by, gamma.y, beta.y),
        fmaf((x.z - mean) * by, gamma.z, beta.z), fmaf((x.w - mean) * by, gamma.w, beta.w));
  }
};

/// RMS norm: out = x / sqrt(mean of x^2 + EPSILON) * gamma.
struct RmsNorm {
  struct State {
    float n, squares;
  };
  static constexpr float pad = 0;
  static constexpr bool has_weights = true;

  static __device__ State none() { return {0, 0}; }
  static __device__ State merge(State a, State b) { return {a.n + b.n, a.squares + b.squares}; }
  static __device__ State merge_alike(State a, State b) { return merge(a, b); }
  template <bool WIDE, int N>
  static __device__ State of(const float4 (&x)[N], int first, int step, int cols) {
    State s = none();
#pragma unroll
    for (int i = 0; i < N; ++i) {
      s.n += static_cast<float>(present<WIDE>(first + i * step, cols));
      s.squares += (x[i].x * x[i].x + x[i].y * x[i].y) + (x[i].z * x[i].z + x[i].w * x[i].w);
    }
    return s;
  }
  static __device__ float4 map(float4 x, State all, float4 gamma, float4) {
    const float by = rsqrtf(all.squares / all.n + EPSILON);
    return make_float4(x.x * by * gamma.x, x.y * by * gamma.y, x.z * by * gamma.z,
                       x.w * by * gamma.w);
  }
};

/// The state of lane `lane ^ far`.
template <class State>
__device__ __forceinline__ State shuffled(State own, int far) {
  constexpr int words = sizeof(State) / sizeof(float);
  State other;
#pragma unroll
  for (int i = 0; i < words; ++i) {
    reinterpret_cast<float*>(&other)[i] =
        __shfl_xor_sync(ALL, reinterpret_cast<float*>(&own)[i], far);
  }
  return other;
}

/// Merges the states of all lanes, or of each COUNT neighbours; each lane gets the result. Where ALIKE, all have the same
/// number of elements.
template <class Op, bool ALIKE = false, int COUNT = 32>
__device__ __forceinline__ typename Op::State merged_by_warp(typename Op::State state) {
#pragma unroll
  for (int far = COUNT / 2; far > 0; far /= 2) {
    const typename Op::State other = shuffled(state, far);
    state = ALIKE ? Op::merge_alike(state, other) : Op::merge(state, other);
  }
  return state;
}

/// Maps a thread's part of a row and writes it: x[i] begins in column first + i * step.
template <class Op, bool WIDE, int N>
__device__ __forceinline__ void write_mapped(float* row, const float4 (&x)[N],
                                             typename Op::State all, const float* gamma,
                                             const float* beta, int first, int step, int cols) {
#pragma unroll
  for (int i = 0; i < N; ++i) {
    const int c = first + i * step;
    float4 scale = make_float4(0, 0, 0, 0), shift = scale;
    if constexpr (Op::has_weights) {
      scale = load_float4<WIDE>(gamma, c, cols, 0), shift = load_float4<WIDE>(beta, c, cols, 0);
    }
    store_float4<WIDE>(row, c, cols, Op::map(x[i], all, scale, shift));
  }
}

/// Shapes of an attention: Q is (heads, queries, D), K and V are (heads / group, keys, D), each row after the other.
struct Heads {
  int heads, queries, keys;
  int group;  ///< heads of Q that share one of K and V

  /// The keys that a query sees if it sees no later ones: the last query sees all.
  __host__ __device__ int seen(int query) const {
    return max(0, min(keys, query + 1 + keys - queries));
  }
};

/// exp2(scale * score) is exp(score / sqrt(d)).
inline float scale_of(int d) { return LOG2E / std::sqrt(static_cast<float>(d)); }

/// What a kernel on rows takes.
struct Rows {
  float* out;
  const float *in, *gamma, *beta;
  int rows, cols;
};

/// One launch on rows: its rung, its variant, and a function that launches it.
struct RowLaunch {
  std::string rung, variant;
  std::size_t length;  ///< which of the lengths: 0 is the shortest
  int operation;       ///< 0 softmax, 1 layer norm, 2 RMS norm
  void (*run)(const Rows&);
};
using RowLaunches = std::vector<RowLaunch>;
