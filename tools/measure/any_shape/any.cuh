/// \file
/// C = alpha op(A) op(B) + beta C in FP32 for any shape: the kernels of the trial.
///
/// Everything is row-major here. A column-major product is a row-major one: C^T = op(B)^T op(A)^T.
#pragma once

#include <cuda_pipeline.h>
#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

namespace any_shape {

/// How an operand lies. Along k: element (i, l) of A is a[i * lda + l], element (l, j) of B is b[j * ldb + l].
/// Otherwise along x, which is m or n: a[l * lda + i], b[l * ldb + j]; in FOURS where rows begin at multiples of 16
/// bytes.
enum class Lie { ALONG_K, FOURS, FLOATS };

/// A product as the kernels see it. c_vec: rows of C begin at multiples of 16 bytes.
struct Product {
  int m, n, k;
  float alpha;
  const float* a;
  size_t lda;
  const float* b;
  size_t ldb;
  float beta;
  float* c;
  size_t ldc;
  bool c_vec;
};

/// How K is cut: cluster * outer parts. The blocks of a cluster add up their parts in distributed shared memory; the
/// outer parts go through `partials` ((tile, part, element)). tickets: 0 for each (tile, rank), and 0 again
/// afterwards; nullptr: another kernel adds the parts up.
struct Cut {
  int cluster, outer;
  float4* partials;
  unsigned* tickets;
};

/// A tile of C and who computes it: BM x BN elements of a block, TM x TN of a thread, in WARPS_M x WARPS_N warps of 4
/// x 8 lanes; a ring of STAGES K-tiles of BK; BLOCKS on an SM. ORDER: of a thread's FMAs, 0 row by row, 1 down one
/// column and up the next, 2 along one row and back along the next.
template <int BM_, int BN_, int TM_, int TN_, int WARPS_M_, int WARPS_N_, int STAGES_, int BLOCKS_,
          int ORDER_ = 0, int BK_ = 16>
struct Tile {
  static constexpr int BM = BM_, BN = BN_, BK = BK_, TM = TM_, TN = TN_;
  static constexpr int WARPS_M = WARPS_M_, WARPS_N = WARPS_N_, WARPS = WARPS_M * WARPS_N;
  static constexpr int ORDER = ORDER_, THREADS = 32 * WARPS, STAGES = STAGES_, BLOCKS = BLOCKS_;
  static constexpr int WM = BM / WARPS_M, WN = BN / WARPS_N;
  static_assert(WM == 4 * TM && WN == 8 * TN, "a warp is 4 x 8 lanes");
  static constexpr int A_STAGE = BK * (BM + 4), B_STAGE = BK * (BN + 4);
  static constexpr int RING = 4 * STAGES * (A_STAGE + B_STAGE), SUMS = 4 * BM * BN;
  static constexpr int bytes(bool cut) { return cut && SUMS > RING ? SUMS : RING; }
};

/// Brings the K-tiles (BK, BX) of an operand to shared memory, with a row pitch of BX + 4 floats.
template <class T, int BX, Lie HOW>
struct Mover {
  static constexpr int BK = T::BK, THREADS = T::THREADS, PITCH = BX + 4;
  static constexpr bool K = HOW == Lie::ALONG_K, V = HOW == Lie::FOURS;
  // Along k, a warp copies 4 rows of 8 floats at a time, transposed. Along x, neighbouring threads copy neighbours.
  static constexpr int K_CHUNKS = BK / 8, ROW = V ? BX / 4 : BX;
  static constexpr int STEP = K ? T::WARPS / K_CHUNKS * 4 : THREADS < ROW ? 1 : THREADS / ROW;
  static constexpr int R =
      THREADS < ROW ? ROW / THREADS : 1;  // copies of a thread in a row, along x
  static constexpr int COPIES = K ? BX / STEP : BK / STEP > 0 ? BK / STEP : 1;
  static_assert(K ? T::WARPS % K_CHUNKS == 0 : !V || THREADS >= ROW);

  const float* from;
  int to;  // of the first copy, in a stage
  unsigned
      exist;  // along k, and floats: which of a thread's rows or columns lie inside; fours: bytes

  static __device__ int k_of() {
    const int tid = static_cast<int>(threadIdx.x);
    return K ? tid / 32 % K_CHUNKS * 8 + tid % 8 : THREADS < ROW ? 0 : tid / ROW;
  }
  static __device__ int x_of() {
    const int tid = static_cast<int>(threadIdx.x);
    return K ? tid / 32 / K_CHUNKS * 4 + tid % 32 / 8
             : (THREADS < ROW ? tid : tid % ROW) * (V ? 4 : 1);
  }

  /// left: rows or columns from x0 to the end of the matrix.
  __device__ Mover(const float* x, size_t ld, int x0, int left, int k0)
      : from(K ? x + (x0 + x_of()) * ld + k0 + k_of() : x + (k0 + k_of()) * ld + x0 + x_of()),
        to(k_of() * PITCH + x_of()),
        exist(0) {
    if constexpr (V) {
      exist = 4 * static_cast<unsigned>(max(0, min(4, left - x_of())));
    } else {
#pragma unroll
      for (int i = 0; i < (K ? COPIES : R); ++i)
        exist |= (x_of() + i * (K ? STEP : THREADS) < left ? 1u : 0u) << i;
    }
  }

  /// Starts to copy the next K-tile. Unless WHOLE, `steps` of BK steps exist at most; zeros for what does not exist.
  template <bool WHOLE>
  __device__ __forceinline__ void start(float* stage, size_t ld, int steps) {
    float* const out = stage + to;
    const float* f = from;
    const int k = WHOLE ? 0 : k_of();
    if constexpr (K) {
      const unsigned bits = WHOLE || k < steps ? exist : 0;
#pragma unroll(WHOLE ? COPIES : 2)
      for (int i = 0; i < COPIES; ++i, f += STEP * ld)
        __pipeline_memcpy_async(out + i * STEP, f, 4, WHOLE || (bits >> i & 1) ? 0 : 4);
      from += BK;
    } else {
      if (STEP <= BK || k_of() < BK) {
#pragma unroll
        for (int i = 0; i < COPIES; ++i, f += STEP * ld) {
#pragma unroll
          for (int r = 0; r < R; ++r) {
            const bool there = k + i * STEP < steps;
            if constexpr (V)
              __pipeline_memcpy_async(out + i * STEP * PITCH, f, 16,
                                      WHOLE   ? 0
                                      : there ? 16 - exist
                                              : 16);
            else
              __pipeline_memcpy_async(out + i * STEP * PITCH + r * THREADS, f + r * THREADS, 4,
                                      WHOLE || (there && (exist >> r & 1)) ? 0 : 4);
          }
        }
      }
      from += BK * ld;
    }
  }
};

/// Four neighbours of a row of C, of which `left` exist, become alpha sum + beta C.
__device__ __forceinline__ void update4(float* c, int left, bool vec, float alpha, float4 s,
                                        float beta) {
  s = make_float4(alpha * s.x, alpha * s.y, alpha * s.z, alpha * s.w);
  if (vec && left >= 4) {
    if (beta != 0) {
      const float4 o = *reinterpret_cast<const float4*>(c);
      s = make_float4(s.x + beta * o.x, s.y + beta * o.y, s.z + beta * o.z, s.w + beta * o.w);
    }
    *reinterpret_cast<float4*>(c) = s;
    return;
  }
  if (left > 0) c[0] = beta == 0 ? s.x : s.x + beta * c[0];
  if (left > 1) c[1] = beta == 0 ? s.y : s.y + beta * c[1];
  if (left > 2) c[2] = beta == 0 ? s.z : s.z + beta * c[2];
  if (left > 3) c[3] = beta == 0 ? s.w : s.w + beta * c[3];
}

__device__ __forceinline__ float4 add(float4 a, float4 b) {
  return make_float4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w);
}

/// A block that shares its tile with no other at the same time. cluster.cuh has the other kind.
struct Alone {
  static __device__ void meet(int) { __syncthreads(); }
  static __device__ float4 sum(const float4* sums, int e, int) { return sums[e]; }
  static __device__ void leave(int) {}
};

/// Adds up what the blocks of one tile have, `count` float4s of shared memory each, and hands the sums to
/// store(element, sum). Block (tile * outer + o) * cluster + rank; the order of the sums is always the same.
template <class Group, int THREADS, class Store>
__device__ __forceinline__ void reduce(const float4* sums, int count, const Cut& cut, Store store) {
  const int tid = static_cast<int>(threadIdx.x);
  const unsigned per_tile = static_cast<unsigned>(cut.cluster * cut.outer);
  const size_t tile = blockIdx.x / per_tile;
  const int part = static_cast<int>(blockIdx.x % per_tile), o = part / cut.cluster,
            rank = part % cut.cluster;
  // The share of the elements that this block of the cluster adds up.
  const int begin = static_cast<int>(static_cast<long long>(count) * rank / cut.cluster);
  const int end = static_cast<int>(static_cast<long long>(count) * (rank + 1) / cut.cluster);
  Group::meet(cut.cluster);  // the sums of all blocks of the cluster are there
  if (cut.outer == 1) {
    for (int e = begin + tid; e < end; e += THREADS) store(e, Group::sum(sums, e, cut.cluster));
  } else {
    float4* const mine = cut.partials + (tile * cut.outer + o) * count;
    for (int e = begin + tid; e < end; e += THREADS)
      __stcg(mine + e, Group::sum(sums, e, cut.cluster));
    if (cut.tickets != nullptr) {
      __shared__ bool last;
      __syncthreads();
      if (tid == 0) {
        unsigned* const ticket = cut.tickets + tile * cut.cluster + rank;
        __threadfence();
        last = atomicAdd(ticket, 1u) == static_cast<unsigned>(cut.outer) - 1;
        if (last) atomicExch(ticket, 0u);  // for the next launch
        __threadfence();
      }
      __syncthreads();
      if (last) {
        const float4* const all = cut.partials + tile * cut.outer * count;
        for (int e = begin + tid; e < end; e += THREADS) {
          float4 sum = __ldcg(all + e);
#pragma unroll 4
          for (int q = 1; q < cut.outer; ++q)
            sum = add(sum, __ldcg(all + static_cast<size_t>(q) * count + e));
          store(e, sum);
        }
      }
    }
  }
  Group::leave(cut.cluster);  // nobody reads from a block that has gone
}

/// Which tile a block has: groups of 8 rows of tiles, column by column.
__device__ __forceinline__ void place(int id, int rows, int cols, int& row, int& col) {
  constexpr int GROUP = 8;
  const int in_group = GROUP * cols, g = id / in_group, high = min(GROUP, rows - g * GROUP);
  row = g * GROUP + id % in_group % high, col = id % in_group / high;
}

/// What the threads of a block compute: 4 x 8 lanes in pairs, WARPS_M x WARPS_N warps.
template <class T>
struct Seat {
  int row, col;  // the first element of this thread in the tile
  bool active;   // the warp has elements of C
  __device__ Seat(int rows_left, int cols_left) {
    const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
    const int warp_row = warp / T::WARPS_N * T::WM, warp_col = warp % T::WARPS_N * T::WN;
    row = warp_row + ((lane >> 1 & 1) | (lane >> 3 & 2)) * 4;
    col = warp_col + ((lane & 1) | (lane >> 1 & 6)) * 4;
    active = warp_row < rows_left && warp_col < cols_left;
  }
};

/// acc += the K-tiles first to last - 1 of the tile of C at (row0, col0).
template <class T, Lie A, Lie B>
__device__ __forceinline__ void multiply_tiles(float (&acc)[T::TM][T::TN], const Product& g,
                                               float4* memory, const Seat<T>& seat, int row0,
                                               int col0, int first, int last) {
  constexpr int BM = T::BM, BN = T::BN, BK = T::BK, TM = T::TM, TN = T::TN, STAGES = T::STAGES;
  float* const a_tiles = reinterpret_cast<float*>(memory);  // (STAGES, BK, BM + 4)
  float* const b_tiles = a_tiles + STAGES * T::A_STAGE;     // (STAGES, BK, BN + 4)
  const int count = last - first;
  if (count <= 0) return;
  const bool inside = row0 + BM <= g.m && col0 + BN <= g.n;
  int steps = min(g.k, last * BK) - first * BK;  // still to be copied
  Mover<T, BM, A> a(g.a, g.lda, row0, g.m - row0, first * BK);
  Mover<T, BN, B> b(g.b, g.ldb, col0, g.n - col0, first * BK);
  int writing = 0;
  const auto refill = [&] {
    if (steps > 0) {
      float *const to_a = a_tiles + writing * T::A_STAGE, *const to_b =
                                                              b_tiles + writing * T::B_STAGE;
      if (inside && steps >= BK) {
        a.template start<true>(to_a, g.lda, BK);
        b.template start<true>(to_b, g.ldb, BK);
      } else {
        a.template start<false>(to_a, g.lda, steps);
        b.template start<false>(to_b, g.ldb, steps);
      }
      steps -= BK;
      writing = writing + 1 == STAGES ? 0 : writing + 1;
    }
    __pipeline_commit();
  };

  float fa[2][TM], fb[2][TN];
  const float *from_a = a_tiles + seat.row,
              *from_b = b_tiles + seat.col;  // of the stage that is read
  const auto read = [&](int l) {
    const int at = l % BK;
#pragma unroll
    for (int q = 0; q < TM / 4; ++q)
      *reinterpret_cast<float4*>(&fa[l % 2][4 * q]) =
          *reinterpret_cast<const float4*>(from_a + at * (BM + 4) + 16 * q);
#pragma unroll
    for (int q = 0; q < TN / 4; ++q)
      *reinterpret_cast<float4*>(&fb[l % 2][4 * q]) =
          *reinterpret_cast<const float4*>(from_b + at * (BN + 4) + 32 * q);
  };
  const auto multiply = [&](int l) {
#pragma unroll
    for (int x = 0; x < TM * TN; ++x) {
      int i, j;
      if constexpr (T::ORDER == 0) {  // row by row
        i = x / TN, j = x % TN;
      } else if constexpr (T::ORDER == 1) {  // down one column, up the next
        j = x / TM, i = j % 2 == 0 ? x % TM : TM - 1 - x % TM;
      } else {  // along one row, back along the next
        i = x / TN, j = i % 2 == 0 ? x % TN : TN - 1 - x % TN;
      }
      acc[i][j] += fa[l % 2][i] * fb[l % 2][j];
    }
  };

#pragma unroll 1
  for (int t = 0; t < STAGES - 1; ++t) refill();
  __pipeline_wait_prior(STAGES - 2);
  __syncthreads();
  if (seat.active) read(0);
  int reading = 0;
#pragma unroll 1
  for (int t = 0; t < count; ++t) {
    if (seat.active) {
#pragma unroll
      for (int l = 0; l < BK - 1; ++l) {
        read(l + 1);
        if (l == 0) refill();  // all have left the K-tile before: its stage is free
        multiply(l);
      }
    } else {
      refill();
    }
    __pipeline_wait_prior(STAGES - 2);
    __syncthreads();
    if (t + 1 < count) reading = reading + 1 == STAGES ? 0 : reading + 1;
    from_a = a_tiles + reading * T::A_STAGE + seat.row,
    from_b = b_tiles + reading * T::B_STAGE + seat.col;
    if (seat.active) {  // on to the next K-tile, if there is one
      read(BK);
      multiply(BK - 1);
    }
  }
}

/// Writes a thread's sums to C.
template <class T>
__device__ __forceinline__ void store_tile(const float (&acc)[T::TM][T::TN], const Product& g,
                                           const Seat<T>& seat, int row0, int col0) {
  if (!seat.active) return;
#pragma unroll
  for (int i = 0; i < T::TM; ++i) {
    const int r = row0 + seat.row + i / 4 * 16 + i % 4;
    if (r >= g.m) continue;
#pragma unroll
    for (int q = 0; q < T::TN / 4; ++q) {
      const int at = col0 + seat.col + 32 * q;
      const float* const s = &acc[i][4 * q];
      update4(g.c + static_cast<size_t>(r) * g.ldc + at, g.n - at, g.c_vec, g.alpha,
              make_float4(s[0], s[1], s[2], s[3]), g.beta);
    }
  }
}

/// One tile of C, or a part of its K, for each block.
///
/// Launch: (tiles of C) * cut.cluster * cut.outer blocks of T::THREADS threads, T::bytes(cut) of dynamic shared
/// memory, in clusters of cut.cluster blocks. Group is Alone where cut.cluster is always 1.
/// Requires: m, n >= 1; k from 0 to 2^31 - 32; m and n at most 2^31 - 256.
/// Source of the idea: CUTLASS, MmaMultistage and its parallel split-K; CUDA's sample threadFenceReduction for the
/// last block that adds up.
template <class Group, class T, Lie A, Lie B>
__global__ void __launch_bounds__(T::THREADS, T::BLOCKS) tiles(const Product g, const Cut cut) {
  constexpr int BM = T::BM, BN = T::BN, BK = T::BK;
  extern __shared__ float4 memory[];
  const unsigned parts = static_cast<unsigned>(cut.cluster * cut.outer);
  const int tile = static_cast<int>(blockIdx.x / parts),
            part = static_cast<int>(blockIdx.x % parts);
  int tile_row, tile_col;
  place(tile, (g.m - 1) / BM + 1, (g.n - 1) / BN + 1, tile_row, tile_col);
  const int row0 = tile_row * BM, col0 = tile_col * BN, k_tiles = (g.k + BK - 1) / BK;
  const int first = static_cast<int>(static_cast<long long>(k_tiles) * part / parts);
  const int last = static_cast<int>(static_cast<long long>(k_tiles) * (part + 1) / parts);
  const Seat<T> seat(g.m - row0, g.n - col0);
  float acc[T::TM][T::TN] = {};
  multiply_tiles<T, A, B>(acc, g, memory, seat, row0, col0, first, last);
  if (parts == 1) {
    store_tile<T>(acc, g, seat, row0, col0);
    return;
  }
  __pipeline_wait_prior(0);
  __syncthreads();  // the ring is free for the sums
#pragma unroll
  for (int i = 0; i < T::TM; ++i) {
#pragma unroll
    for (int q = 0; q < T::TN / 4; ++q) {
      const float* const s = &acc[i][4 * q];
      memory[((seat.row + i / 4 * 16 + i % 4) * BN + seat.col + 32 * q) / 4] =
          make_float4(s[0], s[1], s[2], s[3]);
    }
  }
  reduce<Group, T::THREADS>(memory, BM * BN / 4, cut, [&](int e, float4 sum) {
    const int r = row0 + e / (BN / 4), at = col0 + e % (BN / 4) * 4;
    if (r < g.m && at < g.n)
      update4(g.c + static_cast<size_t>(r) * g.ldc + at, g.n - at, g.c_vec, g.alpha, sum, g.beta);
  });
}

/// How Stream-K deals out a product: the first `whole` tiles, a multiple of gridDim.x, are computed whole; of the
/// K-tiles of the others each block gets `each` in a row, the first `longer` blocks one more.
/// partials: (blocks, BM x BN) floats. ready: a flag for each block, 0. workers: 0, the number of blocks that have
/// begun. All are 0 again afterwards.
struct Shares {
  int tiles, whole, longer;
  long long each;
  float4* partials;
  unsigned *ready, *workers;
  __device__ long long begin(int worker) const { return worker * each + min(worker, longer); }
};

/// Blocks that stay, and share the tiles that do not fill a wave evenly. Of a tile that several have, the block with
/// its end adds up all pieces. A block takes its pieces from the last to the first: it writes the piece that another
/// block waits for before it waits itself, and only for blocks that have begun before it.
///
/// Launch: any number of blocks of T::THREADS threads that is the one `Shares` was made for, T::RING bytes of dynamic
/// shared memory. Blocks need not all run at the same time.
/// Requires: k at least 1; as for tiles.
/// Source of the idea: Osama et al., Stream-K, 2023; here the later block collects.
template <class T, Lie A, Lie B>
__global__ void __launch_bounds__(T::THREADS, T::BLOCKS) stream_k(const Product g, const Shares s) {
  constexpr int BM = T::BM, BN = T::BN, BK = T::BK, Q = T::TN / 4;
  extern __shared__ float4 memory[];
  __shared__ int number;
  const int tid = static_cast<int>(threadIdx.x), blocks = static_cast<int>(gridDim.x);
  if (tid == 0) {
    number = static_cast<int>(atomicAdd(s.workers, 1u));
    if (number == blocks - 1) atomicExch(s.workers, 0u);  // all have begun
  }
  __syncthreads();
  const int worker = number, k_tiles = (g.k + BK - 1) / BK;
  const int rows = (g.m - 1) / BM + 1, cols = (g.n - 1) / BN + 1;
  const long long begin = s.begin(worker);
  long long at = s.begin(worker + 1);
  int next = worker;
  while (at > begin || next < s.whole) {
    int tile, first = 0, last = k_tiles;
    if (at > begin) {
      const int t = static_cast<int>((at - 1) / k_tiles);
      const long long start = static_cast<long long>(t) * k_tiles;
      tile = s.whole + t, last = static_cast<int>(at - start);
      first = static_cast<int>(max(begin, start) - start);
      at = start + first;
    } else {
      tile = next, next += blocks;
    }
    int tile_row, tile_col;
    place(tile, rows, cols, tile_row, tile_col);
    const int row0 = tile_row * BM, col0 = tile_col * BN;
    const Seat<T> seat(g.m - row0, g.n - col0);
    float acc[T::TM][T::TN] = {};
    multiply_tiles<T, A, B>(acc, g, memory, seat, row0, col0, first, last);
    if (last < k_tiles) {
      float4* const mine = s.partials + static_cast<size_t>(worker) * (BM * BN / 4) + tid;
#pragma unroll
      for (int x = 0; x < T::TM * Q; ++x) {
        const float* const v = &acc[x / Q][x % Q * 4];
        __stcg(mine + x * T::THREADS, make_float4(v[0], v[1], v[2], v[3]));
      }
      __threadfence();
      __syncthreads();  // also: the ring is free
      if (tid == 0) atomicExch(s.ready + worker, 1u);
      continue;
    }
    for (int other = worker; first > 0;) {
      --other;
      if (tid == 0) {
        while (atomicCAS(s.ready + other, 1u, 0u) != 1u) __nanosleep(32);
        __threadfence();
      }
      __syncthreads();
      const float4* const theirs = s.partials + static_cast<size_t>(other) * (BM * BN / 4) + tid;
#pragma unroll
      for (int x = 0; x < T::TM * Q; ++x) {
        const float4 v = __ldcg(theirs + x * T::THREADS);
        float* const sum = &acc[x / Q][x % Q * 4];
        sum[0] += v.x, sum[1] += v.y, sum[2] += v.z, sum[3] += v.w;
      }
      first = static_cast<int>(
          max(0LL, s.begin(other) - static_cast<long long>(tile - s.whole) * k_tiles));
    }
    store_tile<T>(acc, g, seat, row0, col0);
    __syncthreads();  // the ring is free
  }
}

/// Adds up the parts of cut tiles, where no tickets do.
///
/// Launch: a thread for each float4 of each tile.
template <int BM, int BN>
__global__ void add_parts(const Product g, const Cut cut) {
  constexpr int count = BM * BN / 4;
  const size_t x = size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  const int tile = static_cast<int>(x / count), e = static_cast<int>(x % count);
  const int rows = (g.m - 1) / BM + 1, cols = (g.n - 1) / BN + 1;
  if (tile >= rows * cols) return;
  int tile_row, tile_col;
  place(tile, rows, cols, tile_row, tile_col);
  const int r = tile_row * BM + e / (BN / 4), at = tile_col * BN + e % (BN / 4) * 4;
  if (r >= g.m || at >= g.n) return;
  const float4* const all = cut.partials + static_cast<size_t>(tile) * cut.outer * count + e;
  float4 sum = __ldcg(all);
#pragma unroll 8
  for (int q = 1; q < cut.outer; ++q) sum = add(sum, __ldcg(all + static_cast<size_t>(q) * count));
  update4(g.c + static_cast<size_t>(r) * g.ldc + at, g.n - at, g.c_vec, g.alpha, sum, g.beta);
}

/// A thin product: C (m, n) with m at most MT. x (m, k): element (i, l) at i * x_i + l * x_l. y (k, n): along_k:
/// element (l, j) at y[j * ld + l], else y[l * ld + j]. C: element (i, j) at c[i * c_i + j * c_j].
struct Thin {
  int m, n, k;
  float alpha;
  const float* x;
  size_t x_i, x_l;
  const float* y;
  size_t ld;
  float beta;
  float* c;
  size_t c_i, c_j;
  bool c_vec;
};

__device__ __forceinline__ void update_thin(const Thin& g, int i, int j, float4 sum) {
  if (g.c_j == 1) {
    update4(g.c + i * g.c_i + j, g.n - j, g.c_vec, g.alpha, sum, g.beta);
  } else {
    const float s[4] = {sum.x, sum.y, sum.z, sum.w};
#pragma unroll
    for (int e = 0; e < 4; ++e) {
      if (j + e < g.n) {
        float* c = g.c + i * g.c_i + (j + e) * g.c_j;
        *c = g.beta == 0 ? g.alpha * s[e] : g.alpha * s[e] + g.beta * *c;
      }
    }
  }
}

/// y lies along n: a block has 4 * LANES columns, a thread four of them, and WARPS * 32 / LANES rows of y at a time.
///
/// Launch: ceil(n / (4 LANES)) * cut.cluster * cut.outer blocks of 32 WARPS threads. VEC: rows of y begin at
/// multiples of 16 bytes.
/// Requires: m at most MT.
template <class Group, int MT, int LANES, int WARPS, bool VEC>
__global__ void __launch_bounds__(32 * WARPS) thin_columns(const Thin g, const Cut cut) {
  constexpr int BJ = 4 * LANES, ROWS = 32 * WARPS / LANES, U = MT >= 16 ? 4 : 8, CHUNK = ROWS * U;
  constexpr int THREADS = 32 * WARPS;
  __shared__ __align__(16) float xs[2][CHUNK][MT];
  __shared__ float4 sums[MT * LANES];
  const unsigned parts = static_cast<unsigned>(cut.cluster * cut.outer);
  const int tile = static_cast<int>(blockIdx.x / parts),
            part = static_cast<int>(blockIdx.x % parts);
  const int col0 = tile * BJ, tid = static_cast<int>(threadIdx.x), lane = tid % LANES,
            row = tid / LANES;
  const int begin = static_cast<int>(static_cast<long long>(g.k) * part / parts);
  const int end = static_cast<int>(static_cast<long long>(g.k) * (part + 1) / parts);
  const int col = col0 + (VEC ? 4 * lane : lane);
  float acc[MT][4] = {};
  int which = 0;
  for (int l0 = begin; l0 < end; l0 += CHUNK, which ^= 1) {
    float4 y[U];
#pragma unroll
    for (int u = 0; u < U; ++u) {
      const int l = l0 + row + u * ROWS;
      y[u] = make_float4(0, 0, 0, 0);
      if (l < end) {
        const float* from = g.y + static_cast<size_t>(l) * g.ld + col;
        if (VEC && col + 3 < g.n) {
          y[u] = __ldcs(reinterpret_cast<const float4*>(from));
        } else {
          constexpr int S = VEC ? 1 : LANES;
          if (col < g.n) y[u].x = from[0];
          if (col + S < g.n) y[u].y = from[S];
          if (col + 2 * S < g.n) y[u].z = from[2 * S];
          if (col + 3 * S < g.n) y[u].w = from[3 * S];
        }
      }
    }
    for (int e = tid; e < CHUNK * MT; e += THREADS) {
      // Neighbouring threads read neighbouring floats of x, whichever way it lies.
      const int l = g.x_l == 1 ? e % CHUNK : e / MT, i = g.x_l == 1 ? e / CHUNK : e % MT;
      xs[which][l][i] = i < g.m && l0 + l < end ? g.x[i * g.x_i + (l0 + l) * g.x_l] : 0;
    }
    __syncthreads();
#pragma unroll
    for (int u = 0; u < U; ++u) {
      const float* const x = xs[which][row + u * ROWS];
#pragma unroll
      for (int i = 0; i < MT; ++i) {
        acc[i][0] += x[i] * y[u].x;
        acc[i][1] += x[i] * y[u].y;
        acc[i][2] += x[i] * y[u].z;
        acc[i][3] += x[i] * y[u].w;
      }
    }
  }
  // Lanes of a warp that have the same columns, then the warps one after the other in pairs.
#pragma unroll
  for (int i = 0; i < MT; ++i) {
#pragma unroll
    for (int e = 0; e < 4; ++e) {
#pragma unroll
      for (int d = 16; d >= LANES; d /= 2) acc[i][e] += __shfl_xor_sync(~0u, acc[i][e], d);
    }
  }
  __shared__ float4 rows[WARPS > 1 ? WARPS / 2 : 1][MT * LANES];
  const int warp = tid / 32;
#pragma unroll
  for (int half = WARPS / 2; half >= 1; half /= 2) {
    __syncthreads();
    if (tid % 32 < LANES && warp >= half && warp < 2 * half) {
#pragma unroll
      for (int i = 0; i < MT; ++i)
        rows[warp - half][i * LANES + lane] =
            make_float4(acc[i][0], acc[i][1], acc[i][2], acc[i][3]);
    }
    __syncthreads();
    if (tid % 32 < LANES && warp < half) {
#pragma unroll
      for (int i = 0; i < MT; ++i) {
        const float4 o = rows[warp][i * LANES + lane];
        acc[i][0] += o.x, acc[i][1] += o.y, acc[i][2] += o.z, acc[i][3] += o.w;
      }
    }
  }
  if (tid < LANES) {
#pragma unroll
    for (int i = 0; i < MT; ++i) {
      if (VEC) {
        sums[i * LANES + lane] = make_float4(acc[i][0], acc[i][1], acc[i][2], acc[i][3]);
      } else {
        float* const s = reinterpret_cast<float*>(sums + i * LANES);
#pragma unroll
        for (int e = 0; e < 4; ++e) s[lane + e * LANES] = acc[i][e];
      }
    }
  }
  reduce<Group, THREADS>(sums, MT * LANES, cut, [&](int e, float4 sum) {
    const int i = e / LANES, j = col0 + e % LANES * 4;
    if (i < g.m && j < g.n) update_thin(g, i, j, sum);
  });
}

/// y lies along k: a warp has JR columns of C at a time; WARPS_K warps share them.
///
/// Launch: ceil(n / (JR WARPS_J)) * cut.cluster * cut.outer blocks of 32 WARPS_J WARPS_K threads. VEC as for
/// thin_columns.
/// Requires: m at most MT.
template <class Group, int MT, int JR, int WARPS_J, int WARPS_K, bool VEC>
__global__ void __launch_bounds__(32 * WARPS_J * WARPS_K) thin_rows(const Thin g, const Cut cut) {
  constexpr int BJ = JR * WARPS_J, THREADS = 32 * WARPS_J * WARPS_K, STEP = 128 * WARPS_K;
  static_assert(BJ % 4 == 0);
  __shared__ __align__(16) float xs[2][MT][STEP];  // a chunk of x, and the next
  __shared__ float parts_of[WARPS_K][MT * BJ];
  __shared__ float4 sums[MT * BJ / 4];
  const unsigned parts = static_cast<unsigned>(cut.cluster * cut.outer);
  const int tile = static_cast<int>(blockIdx.x / parts),
            part = static_cast<int>(blockIdx.x % parts);
  const int tid = static_cast<int>(threadIdx.x), lane = tid % 32, warp = tid / 32;
  const int warp_j = warp % WARPS_J, warp_k = warp / WARPS_J;
  const int col0 = tile * BJ;
  // In units of 4 floats, so that a part begins where float4s do.
  const int fours = (g.k + 3) / 4;
  const int begin = static_cast<int>(static_cast<long long>(fours) * part / parts) * 4;
  const int end =
      min(g.k, static_cast<int>(static_cast<long long>(fours) * (part + 1) / parts) * 4);
  constexpr int S = VEC ? 1 : 32;  // floats between the four of a lane
  const int first = 128 * warp_k + (VEC ? 4 * lane : lane);
  float acc[MT][JR] = {};
  const float* y[JR];
#pragma unroll
  for (int j = 0; j < JR; ++j)
    y[j] = g.y + static_cast<size_t>(min(col0 + warp_j * JR + j, g.n - 1)) * g.ld;
  int which = 0;
#pragma unroll 1
  for (int l0 = begin; l0 < end; l0 += STEP, which ^= 1) {
    float4 v[JR];
    const int l = l0 + first;
#pragma unroll
    for (int j = 0; j < JR; ++j) {
      if (VEC && l + 3 < end) {
        v[j] = __ldcs(reinterpret_cast<const float4*>(y[j] + l));
      } else {
        v[j].x = l < end ? y[j][l] : 0;
        v[j].y = l + S < end ? y[j][l + S] : 0;
        v[j].z = l + 2 * S < end ? y[j][l + 2 * S] : 0;
        v[j].w = l + 3 * S < end ? y[j][l + 3 * S] : 0;
      }
    }
    // Neighbouring threads read neighbouring floats of x, whichever way it lies.
    for (int e = tid; e < MT * STEP; e += THREADS) {
      const int i = g.x_l == 1 ? e / STEP : e % MT, k = g.x_l == 1 ? e % STEP : e / MT;
      xs[which][i][k] = i < g.m && l0 + k < end ? g.x[i * g.x_i + (l0 + k) * g.x_l] : 0;
    }
    __syncthreads();
#pragma unroll
    for (int i = 0; i < MT; ++i) {
      float4 x;
      if (VEC) {
        x = *reinterpret_cast<const float4*>(&xs[which][i][first]);
      } else {
        const float* const from = &xs[which][i][first];
        x = make_float4(from[0], from[S], from[2 * S], from[3 * S]);
      }
#pragma unroll
      for (int j = 0; j < JR; ++j)
        acc[i][j] += x.x * v[j].x + x.y * v[j].y + x.z * v[j].z + x.w * v[j].w;
    }
  }
#pragma unroll
  for (int i = 0; i < MT; ++i) {
#pragma unroll
    for (int j = 0; j < JR; ++j) {
#pragma unroll
      for (int d = 16; d > 0; d /= 2) acc[i][j] += __shfl_xor_sync(~0u, acc[i][j], d);
      if (lane == 0) parts_of[warp_k][i * BJ + warp_j * JR + j] = acc[i][j];
    }
  }
  __syncthreads();
  float* const flat = reinterpret_cast<float*>(sums);
  for (int e = tid; e < MT * BJ; e += THREADS) {
    float sum = 0;
    for (int w = 0; w < WARPS_K; ++w) sum += parts_of[w][e];
    flat[e] = sum;
  }
  reduce<Group, THREADS>(sums, MT * BJ / 4, cut, [&](int e, float4 sum) {
    const int i = e / (BJ / 4), j = col0 + e % (BJ / 4) * 4;
    if (i < g.m && j < g.n) update_thin(g, i, j, sum);
  });
}

/// Little work: LANES threads for each element of C, straight from global memory.
///
/// a_i, a_l: floats from a row of op(A) to the next, and from a column; b_l, b_j: the like for op(B).
///
/// Launch: blocks of 128 threads, LANES threads for each element of C.
template <int LANES>
__global__ void __launch_bounds__(128)
    direct(const Product g, size_t a_i, size_t a_l, size_t b_l, size_t b_j) {
  const size_t x = size_t{blockIdx.x} * 128 + threadIdx.x;
  const size_t element = x / LANES, all = static_cast<size_t>(g.m) * static_cast<size_t>(g.n);
  const bool there = element < all;
  const size_t i = there ? element / g.n : 0, j = there ? element % g.n : 0;
  const float *a = g.a + i * a_i, *b = g.b + j * b_j;
  float sum = 0;
  int l = static_cast<int>(x % LANES);
  constexpr int U = 8;
  for (; l + (U - 1) * LANES < g.k; l += U * LANES) {
    float fa[U], fb[U];
#pragma unroll
    for (int u = 0; u < U; ++u) fa[u] = a[(l + u * LANES) * a_l], fb[u] = b[(l + u * LANES) * b_l];
#pragma unroll
    for (int u = 0; u < U; ++u) sum += fa[u] * fb[u];
  }
#pragma unroll 4
  for (; l < g.k; l += LANES) sum += a[l * a_l] * b[l * b_l];
#pragma unroll
  for (int d = LANES / 2; d > 0; d /= 2) sum += __shfl_xor_sync(~0u, sum, d);
  if (there && x % LANES == 0) {
    float* const c = g.c + i * g.ldc + j;
    *c = g.beta == 0 ? g.alpha * sum : g.alpha * sum + g.beta * *c;
  }
}

}  // namespace any_shape
