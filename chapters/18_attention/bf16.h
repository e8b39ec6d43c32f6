/// \file
/// What the kernels for tensor cores share: the attention that they compute, and the softmax of scores in fragments.
///
/// `mma.sync` and `wgmma` leave sums in the same places: a thread has rows lane / 4 and lane / 4 + 8 of its warp's 16, and
/// of each 8 columns the two from lane % 4 * 2 on.
#pragma once

#include <cuda_bf16.h>
#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <vector>

#include "rows.h"

using bf16 = __nv_bfloat16;

/// An attention in BF16, and where it is in memory; each array is aligned to 16 bytes.
struct Bf16Attention {
  bf16* out;
  const bf16 *q, *k, *v;
  Heads shape;
  float scale;  ///< contains LOG2E
};

/// One launch of it, for heads of d columns: its rung, and what prepares a function that launches it.
struct Bf16Launch {
  const char* rung;
  int d;
  bool causal;
  std::function<void()> (*prepare)(const Bf16Attention&);
  const char* variant = "";  ///< what is said of it behind the attention's name, for a comparison
  bool mistake = false;      ///< a demonstration
};
using Bf16Launches = std::vector<Bf16Launch>;

/// The address of shared memory as instructions take it.
__device__ __forceinline__ std::uint32_t address_of(const void* pointer) {
  return static_cast<std::uint32_t>(__cvta_generic_to_shared(pointer));
}

/// Two numbers, rounded, in one register, the first one in the low half.
__device__ __forceinline__ std::uint32_t rounded(float low, float high) {
  const __nv_bfloat162 both = __floats2bfloat162_rn(low, high);
  std::uint32_t word;
  memcpy(&word, &both, sizeof word);
  return word;
}

/// The online softmax of a thread's two rows of scores in fragments.
struct TwoRows {
  float max[2] = {-INFINITY, -INFINITY};  ///< of the scores so far, not yet scaled
  float sum[2] = {0, 0};                  ///< of this thread's weights

  /// Makes weights of scores; the output so far is to be multiplied by `shrink`.
  template <int TILES>
  __device__ __forceinline__ void add(float (&s)[TILES][4], float scale, float (&shrink)[2]) {
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      float now = max[r];
#pragma unroll
      for (int j = 0; j < TILES; ++j) now = fmaxf(now, fmaxf(s[j][2 * r], s[j][2 * r + 1]));
      now = fmaxf(now, __shfl_xor_sync(ALL, now, 1));
      now = fmaxf(now, __shfl_xor_sync(ALL, now, 2));
      const float by = scale * finite(now);
      shrink[r] = exp2_fast(fmaf(scale, max[r], -by));  // 0 in the first tile
      max[r] = now;
      sum[r] *= shrink[r];
#pragma unroll
      for (int j = 0; j < TILES; ++j) {
#pragma unroll
        for (int e = 2 * r; e < 2 * r + 2; ++e) {
          s[j][e] = exp2_fast(fmaf(scale, s[j][e], -by));
          sum[r] += s[j][e];
        }
      }
    }
  }
  /// What the output has to be multiplied with in the end; 0 where no key was seen.
  __device__ __forceinline__ void finish(float (&factor)[2]) {
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      sum[r] += __shfl_xor_sync(ALL, sum[r], 1);
      sum[r] += __shfl_xor_sync(ALL, sum[r], 2);
      factor[r] = sum[r] == 0 ? 0 : 1 / sum[r];
    }
  }
};

/// Multiplies a thread's two rows of sums.
template <int TILES>
__device__ __forceinline__ void multiply_rows(float (&d)[TILES][4], const float (&factor)[2]) {
#pragma unroll
  for (auto& four : d) {
#pragma unroll
    for (int e = 0; e < 4; ++e) four[e] *= factor[e / 2];
  }
}

/// Scores become -inf where a query does not see the key: keys from last[0] on in the first row, last[1] in the other.
///
/// @param key  the key of the tile's first column
template <int TILES>
__device__ __forceinline__ void mask_scores(float (&s)[TILES][4], int key, const int (&last)[2]) {
  key += threadIdx.x % 4 * 2;
#pragma unroll
  for (int j = 0; j < TILES; ++j) {
#pragma unroll
    for (int e = 0; e < 4; ++e) {
      if (key + 8 * j + e % 2 >= last[e / 2]) s[j][e] = -INFINITY;
    }
  }
}

/// The sums of one product, rounded, as the left operand of the next: two neighbouring 16 x 8 tiles of sums are one 16 x 16
/// fragment, register by register.
template <int TILES>
__device__ __forceinline__ void to_operand(std::uint32_t (&p)[TILES / 2][4],
                                           const float (&s)[TILES][4]) {
#pragma unroll
  for (int k = 0; k < TILES / 2; ++k) {
#pragma unroll
    for (int r = 0; r < 4; ++r) {
      const float(&from)[4] = s[2 * k + r / 2];
      p[k][r] = rounded(from[r % 2 * 2], from[r % 2 * 2 + 1]);
    }
  }
}

/// Stores a warp's 16 rows of sums. The four lanes of a row exchange pairs until each has 16 bytes of it.
///
/// @param to    the head's output, rows of 8 * TILES elements
/// @param row   the thread's first row; `rows` exist
template <int TILES>
__device__ __forceinline__ void store_rows(bf16* to, const float (&d)[TILES][4], int row,
                                           int rows) {
  const int place = threadIdx.x % 4;
#pragma unroll
  for (int j0 = 0; j0 < TILES; j0 += 4) {
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      std::uint32_t w[4];
#pragma unroll
      for (int j = 0; j < 4; ++j) w[j] = rounded(d[j0 + j][2 * r], d[j0 + j][2 * r + 1]);
        // A 4 x 4 transpose: lane `place` gives tile j's pair to lane j, in two exchanges.
#pragma unroll
      for (int far = 1; far < 4; far *= 2) {
        const bool upper = place & far;
#pragma unroll
        for (int j = 0; j < 4; ++j) {
          if (j & far) continue;
          const std::uint32_t got = __shfl_xor_sync(ALL, upper ? w[j] : w[j + far], far);
          (upper ? w[j] : w[j + far]) = got;
        }
      }
      if (row + 8 * r < rows) {
        *reinterpret_cast<uint4*>(to + std::size_t(row + 8 * r) * (8 * TILES) + 8 * (j0 + place)) =
            make_uint4(w[0], w[1], w[2], w[3]);
      }
    }
  }
}
