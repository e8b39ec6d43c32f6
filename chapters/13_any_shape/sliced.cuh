// Products whose K is shared by the warps of a block: the slices of chapter 13. any_product.cuh includes this header.
#pragma once

#include "any_product.cuh"

namespace any_product {
inline namespace ANY_PRODUCT_MENU {

/// A tile of C for a block whose K is dealt out to SLICES groups of WARPS_M x WARPS_N warps: each group computes all BM x BN elements
/// over its share of K, in a ring of STAGES K-tiles of its own. A thread has TM x TN elements; a warp is LANES_M x 32 / LANES_M lanes.
/// BLOCKS at a time on an SM.
template <int TM_, int TN_, int WARPS_M_, int WARPS_N_, int SLICES_, int BLOCKS_, int BK_ = 8,
          int STAGES_ = 4, int LANES_M_ = 4>
struct Sliced {
  static constexpr int TM = TM_, TN = TN_, WARPS_N = WARPS_N_, SLICES = SLICES_, BLOCKS = BLOCKS_;
  static constexpr int BK = BK_, STAGES = STAGES_, LANES_M = LANES_M_, LANES_N = 32 / LANES_M;
  static constexpr int WARPS = WARPS_M_ * WARPS_N, SLICE = 32 * WARPS, THREADS = SLICE * SLICES;
  static constexpr int WM = LANES_M * TM, WN = LANES_N * TN, BM = WARPS_M_ * WM, BN = WARPS_N * WN;
  static constexpr int A_STAGE = BK * (BM + 4), B_STAGE = BK * (BN + 4);
  static constexpr int RING = STAGES * (A_STAGE + B_STAGE);           // floats of a slice
  static constexpr int PITCH = BN + 4, SUMS = BM * PITCH;             // of its sums
  static constexpr int REGION = RING > SUMS ? RING : SUMS;            // both have the same place
  static constexpr int SHARED = 4 * SLICES * REGION;                  // bytes
  static_assert(TM % 4 == 0 && TN % 4 == 0 && BK % 8 == 0);
};

/// A thread's share of the copies that bring a slice's K-tiles of an operand, (BK, BX), to shared memory; a row has BX + 4 floats
/// there. Rows and columns that do not exist are copies of the last that does; steps of K that do not exist become zeros.
template <class T, int BX, Lie LIE>
struct SliceCopies {
  static constexpr bool ALONG_K = LIE == Lie::ALONG_K;
  static constexpr int FLOATS = LIE == Lie::WIDE ? 4 : 1, BK = T::BK, PITCH = BX + 4;
  // Across K, lanes have neighbours of a row; along K, 8 steps of K of as many rows as there are threads for.
  static constexpr int SIDE = BX / FLOATS < T::SLICE ? BX / FLOATS : T::SLICE;
  static constexpr int X_STEP = ALONG_K ? T::SLICE / 8 : SIDE * FLOATS;
  static constexpr int K_STEP = ALONG_K ? 8 : T::SLICE / SIDE;
  static constexpr int ACROSS = BX / X_STEP, ALONG = BK / K_STEP;  // copies of a thread
  static_assert(ACROSS >= 1 && ALONG >= 1 && BX % X_STEP == 0 && BK % K_STEP == 0);

  const float* from[ACROSS];
  int to, k;  // in a stage
  size_t step;

  __device__ SliceCopies(const Operand& o, int tid, int x0, int left, int k0) {
    const int x = ALONG_K ? tid / 8 : tid % SIDE * FLOATS;
    k = ALONG_K ? tid % 8 : tid / SIDE;
    to = k * PITCH + x;
    step = ALONG_K ? 1 : o.ld;
    const float* const base = o.data + static_cast<size_t>(k0 + k) * step;
#pragma unroll
    for (int i = 0; i < ACROSS; ++i) {
      const size_t at = static_cast<size_t>(x0 + min(x + i * X_STEP, left - FLOATS));
      from[i] = base + (ALONG_K ? at * o.ld : at);
    }
  }
  template <bool WHOLE>
  __device__ __forceinline__ void start(float* stage, int steps) {
    float* const t = stage + to;
#pragma unroll
    for (int l = 0; l < ALONG; ++l) {
#pragma unroll
      for (int i = 0; i < ACROSS; ++i) {
        float* const at = t + l * K_STEP * PITCH + i * X_STEP;
        if (WHOLE || k + l * K_STEP < steps) {
          __pipeline_memcpy_async(at, from[i] + l * K_STEP * step, 4 * FLOATS);
        } else if constexpr (FLOATS == 4) {
          *reinterpret_cast<float4*>(at) = {};
        } else {
          *at = 0;
        }
      }
    }
#pragma unroll
    for (int i = 0; i < ACROSS; ++i) from[i] += BK * step;
  }
};

/// Waits for the threads of a slice, or all if a slice has several warps: all slices have the same number of iterations.
template <class T>
__device__ __forceinline__ void sync_slices() {
  if constexpr (T::WARPS == 1) {
    __syncwarp();
  } else {
    __syncthreads();
  }
}

/// A tile of C for each block, or a part of its K, which the block's slices share. All threads add up the slices' sums, in order, and
/// store rows of C side by side, wherever these begin.
///
/// Launch: (columns of tiles, rows of tiles, split.parts) blocks of T::THREADS threads, T::SHARED bytes of dynamic shared memory.
/// Requires: as tile_product; at most 65535 rows of tiles.
/// Source of the idea: CUTLASS, sliced-K.
template <class T, Lie A, Lie B>
__global__ void __launch_bounds__(T::THREADS, T::BLOCKS)
    sliced_product(const Product g, const Split split) {
  constexpr int BM = T::BM, BN = T::BN, BK = T::BK, TM = T::TM, TN = T::TN, STAGES = T::STAGES;
  constexpr int SLICES = T::SLICES, PITCH = T::PITCH;
  extern __shared__ float4 memory[];
  float* const all = reinterpret_cast<float*>(memory);
  const int thread = static_cast<int>(threadIdx.x);
  const int slice = thread / T::SLICE, tid = thread % T::SLICE;
  const int lane = tid % 32, warp = tid / 32;
  const int row0 = static_cast<int>(blockIdx.y) * BM, col0 = static_cast<int>(blockIdx.x) * BN;
  const int k_tiles = (g.k + BK - 1) / BK;
  int each = k_tiles / SLICES, longer = k_tiles % SLICES, unit = slice;
  if (split.parts > 1) {
    const int units = split.parts * SLICES;
    each = k_tiles / units, longer = k_tiles - each * units;
    unit += static_cast<int>(blockIdx.z) * SLICES;
  }
  const int first = unit * each + min(unit, longer), count = each + (unit < longer ? 1 : 0);
  const int rounds = T::WARPS == 1 ? count : each + (longer > 0 ? 1 : 0);

  float* const a_tiles = all + slice * T::REGION;        // (STAGES, BK, BM + 4)
  float* const b_tiles = a_tiles + STAGES * T::A_STAGE;  // (STAGES, BK, BN + 4)
  SliceCopies<T, BM, A> a(g.a, tid, row0, g.m - row0, first * BK);
  SliceCopies<T, BN, B> b(g.b, tid, col0, g.n - col0, first * BK);
  int steps = min(g.k, (first + count) * BK) - first * BK, writing = 0;  // still to be copied
  const auto refill = [&] {
    if (steps > 0) {
      float* const to_a = a_tiles + writing * T::A_STAGE;
      float* const to_b = b_tiles + writing * T::B_STAGE;
      if (steps >= BK) {
        a.template start<true>(to_a, BK);
        b.template start<true>(to_b, BK);
      } else {
        a.template start<false>(to_a, steps);
        b.template start<false>(to_b, steps);
      }
      steps -= BK;
      writing = writing + 1 == STAGES ? 0 : writing + 1;
    }
    __pipeline_commit();
  };
  // Where this thread's elements begin: its lane's row and column of the warp, four elements each.
  const int narrow = (lane >> 1 & 1) | (lane >> 3 & 2), broad = (lane & 1) | (lane >> 1 & 6);
  const int row = warp / T::WARPS_N * T::WM + 4 * (T::LANES_M == 4 ? narrow : broad);
  const int col = warp % T::WARPS_N * T::WN + 4 * (T::LANES_M == 4 ? broad : narrow);

  float acc[TM][TN] = {}, fa[2][TM], fb[2][TN];
  after_others(g.early);
#pragma unroll 1
  for (int t = 0; t < STAGES - 1; ++t) refill();
  int reading = 0;
#pragma unroll 1
  for (int t = 0; t < rounds; ++t) {
    __pipeline_wait_prior(STAGES - 2);
    sync_slices<T>();  // the K-tile is there, and all have left the one before
    refill();
    if (t < count) {
      const float* const from_a = a_tiles + reading * T::A_STAGE + row;
      const float* const from_b = b_tiles + reading * T::B_STAGE + col;
      const auto read = [&](int l) {
#pragma unroll
        for (int q = 0; q < TM / 4; ++q)
          *reinterpret_cast<float4*>(&fa[l % 2][4 * q]) =
              *reinterpret_cast<const float4*>(from_a + l * (BM + 4) + 4 * T::LANES_M * q);
#pragma unroll
        for (int q = 0; q < TN / 4; ++q)
          *reinterpret_cast<float4*>(&fb[l % 2][4 * q]) =
              *reinterpret_cast<const float4*>(from_b + l * (BN + 4) + 4 * T::LANES_N * q);
      };
      read(0);
#pragma unroll
      for (int l = 0; l < BK; ++l) {
        if (l + 1 < BK) read(l + 1);
#pragma unroll
        for (int x = 0; x < TM * TN; ++x) {
          const int i = x / TN, j = i % 2 == 1 ? TN - 1 - x % TN : x % TN;
          acc[i][j] += fa[l % 2][i] * fb[l % 2][j];
        }
      }
      reading = reading + 1 == STAGES ? 0 : reading + 1;
    }
  }
  sync_slices<T>();  // the ring is free for the sums
  float* const sums = a_tiles + row * PITCH + col;
#pragma unroll
  for (int i = 0; i < TM; ++i) {
#pragma unroll
    for (int q = 0; q < TN / 4; ++q)
      *reinterpret_cast<float4*>(sums + (i / 4 * 4 * T::LANES_M + i % 4) * PITCH +
                                 4 * T::LANES_N * q) =
          *reinterpret_cast<const float4*>(&acc[i][4 * q]);
  }
  __syncthreads();

  float4* partials = nullptr;  // of this tile: (part, BM, BN)
  if (split.parts > 1) {
    const size_t tile = static_cast<size_t>(blockIdx.y) * gridDim.x + blockIdx.x;
    partials = split.partials + tile * static_cast<size_t>(split.parts) * (BM * BN / 4);
#pragma unroll 1
    for (int e = thread; e < BM * BN / 4; e += T::THREADS) {
      const float* const from = all + e / (BN / 4) * PITCH + e % (BN / 4) * 4;
      float4 sum = *reinterpret_cast<const float4*>(from);
#pragma unroll
      for (int s = 1; s < SLICES; ++s)
        sum = add(sum, *reinterpret_cast<const float4*>(from + s * T::REGION));
      __stcg(partials + static_cast<size_t>(blockIdx.z) * (BM * BN / 4) + e, sum);
    }
    if (!last_to_arrive(split.tickets + tile, split.parts)) return;
  }
  float* const c = g.c + static_cast<size_t>(row0) * g.ldc + col0;
  const int rows = min(BM, g.m - row0), cols = min(BN, g.n - col0);
  if (g.c_wide) {
#pragma unroll 1
    for (int e = thread; e < rows * (BN / 4); e += T::THREADS) {
      const int i = e / (BN / 4), j = e % (BN / 4) * 4;
      if (j >= cols) continue;
      float4 sum = {};
      if (partials != nullptr) {
#pragma unroll 8
        for (int p = 0; p < split.parts; ++p)
          sum = add(sum, __ldcg(partials + static_cast<size_t>(p) * (BM * BN / 4) + e));
      } else {
#pragma unroll
        for (int s = 0; s < SLICES; ++s)
          sum = add(sum, *reinterpret_cast<const float4*>(all + s * T::REGION + i * PITCH + j));
      }
      update4(c + i * g.ldc + j, cols - j, true, g.alpha, sum, g.beta);
    }
    return;
  }
#pragma unroll 2
  for (int e = thread; e < rows * BN; e += T::THREADS) {
    const int i = e / BN, j = e % BN;
    if (j >= cols) continue;
    float sum = 0;
    if (partials != nullptr) {
      const float* const from = reinterpret_cast<const float*>(partials) + e;
#pragma unroll 8
      for (int p = 0; p < split.parts; ++p) sum += __ldcg(from + static_cast<size_t>(p) * BM * BN);
    } else {
#pragma unroll
      for (int s = 0; s < SLICES; ++s) sum += all[s * T::REGION + i * PITCH + j];
    }
    float& to = c[i * g.ldc + j];
    to = g.beta == 0 ? g.alpha * sum : g.alpha * sum + g.beta * to;
  }
}

using Sliced32x32x4 = Sliced<8, 4, 1, 1, 4, 4>;
using Sliced32x32x8 = Sliced<8, 4, 1, 1, 8, 2>;
using Sliced32x64x4 = Sliced<8, 4, 1, 2, 4, 2>;
using Sliced64x32x4 = Sliced<8, 4, 2, 1, 4, 2>;
using Sliced64x64x2 = Sliced<8, 4, 2, 2, 2, 2>;
using Sliced16x64x8 = Sliced<4, 8, 1, 1, 8, 2>;
using Sliced64x16x8 = Sliced<8, 4, 1, 1, 8, 2, 8, 4, 8>;
using Sliced16x64x4 = Sliced<4, 8, 1, 1, 4, 4>;
using Sliced64x16x4 = Sliced<8, 4, 1, 1, 4, 4, 8, 4, 8>;
using Sliced64x64x1 = Sliced<8, 4, 2, 2, 1, 5, 16>;
using Sliced32x128x1 = Sliced<8, 4, 1, 4, 1, 5, 16>;
using Sliced32x64x1 = Sliced<8, 4, 1, 2, 1, 8, 16>;
using Sliced64x32x1 = Sliced<8, 4, 2, 1, 1, 8, 16>;
using Sliced128x64x1 = Sliced<8, 8, 4, 1, 1, 3, 16>;
using Sliced64x64x1b8 = Sliced<8, 4, 2, 2, 1, 5, 8, 6>;
using Sliced128x128x1 = Sliced<8, 8, 4, 2, 1, 2, 8, 4>;
using Sliced32x32x16 = Sliced<8, 4, 1, 1, 16, 1>;

template <class T>
cudaError_t launch_sliced(const Product& g, int parts, bool, void* workspace,
                          cudaStream_t stream) {
  unsigned* const tickets = static_cast<unsigned*>(workspace);
  const Split split{parts, reinterpret_cast<float4*>(tickets + TICKETS + FLAGS), tickets};
  const dim3 grid(static_cast<unsigned>((g.n - 1) / T::BN + 1),
                  static_cast<unsigned>((g.m - 1) / T::BM + 1), static_cast<unsigned>(parts));
  return with_lies(g, [&]<Lie A, Lie B>() {
    const auto kernel = sliced_product<T, A, B>;
    const cudaError_t set =
        cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, T::SHARED);
    if (set != cudaSuccess) return set;
    Product early = g;
    early.early = early_mode;
    return launch_early(kernel, grid, T::THREADS, T::SHARED, stream, early, split);
  });
}

}  // namespace ANY_PRODUCT_MENU
}  // namespace any_product
