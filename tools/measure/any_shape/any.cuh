/// \file
/// C = alpha op(A) op(B) + beta C in FP32 for any shape: the kernels of the trial.
///
/// Everything is row-major here; any_shape.cuh turns column-major products into these.
#pragma once

#include <cuda_pipeline.h>
#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

namespace any_shape {

/// A product as the kernels see it. along_k: element (i, l) of A is a[i * lda + l], else a[l * lda + i]; element (l, j)
/// of B is b[j * ldb + l] where B lies along k, else b[l * ldb + j]. *_vec: rows begin at multiples of 16 bytes.
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
  bool a_vec, b_vec, c_vec;
};

/// How K is cut: cluster * outer parts. The blocks of a cluster add up their parts in distributed shared memory; the
/// outer parts go through `partials` ((tile, part, element)). tickets: 0 for each (tile, rank), and 0 again afterwards;
/// nullptr: another kernel adds the parts up.
struct Cut {
  int cluster, outer;
  float4* partials;
  unsigned* tickets;
};

template <int BM_, int BN_, int TM_, int TN_, int WARPS_M_, int WARPS_N_, int STAGES_, int BLOCKS_,
          int BK_ = 16>
struct Tile {
  static constexpr int BM = BM_, BN = BN_, BK = BK_, TM = TM_, TN = TN_;
  static constexpr int WARPS_M = WARPS_M_, WARPS_N = WARPS_N_, WARPS = WARPS_M * WARPS_N;
  static constexpr int THREADS = 32 * WARPS, STAGES = STAGES_, BLOCKS = BLOCKS_;
  static constexpr int WM = BM / WARPS_M, WN = BN / WARPS_N;
  static_assert(WM == 4 * TM && WN == 8 * TN, "a warp is 4 x 8 lanes");
  static constexpr int A_STAGE = BK * (BM + 4), B_STAGE = BK * (BN + 4);
  static constexpr int RING = 4 * STAGES * (A_STAGE + B_STAGE), SUMS = 4 * BM * BN;
  static constexpr int bytes(bool cut) { return cut && SUMS > RING ? SUMS : RING; }
};

/// Brings the K-tiles (BK, BX) of an operand to shared memory, with a row pitch of BX + 4 floats.
template <class T, int BX, bool ALONG_K>
struct Mover {
  static constexpr int BK = T::BK, THREADS = T::THREADS, PITCH = BX + 4;
  // Along k: a warp copies 4 rows of 8 floats at a time, transposed.
  static constexpr int K_CHUNKS = BK / 8, X_STEP = T::WARPS / K_CHUNKS * 4;
  static_assert(T::WARPS % K_CHUNKS == 0);
  static constexpr int COPIES_K = BX / X_STEP;
  // Along x: float4s, or floats of neighbouring lanes.
  static constexpr int V_ROW = BX / 4, V_STEP = THREADS / V_ROW;
  static constexpr int COPIES_V = BK / V_STEP > 0 ? BK / V_STEP : 1;
  static constexpr int S_ROW = THREADS < BX ? BX / THREADS : 1, S_STEP = THREADS < BX ? 1 : THREADS / BX;
  static constexpr int COPIES_S = BK / S_STEP * S_ROW;
  static_assert(V_STEP >= 1 && BK % S_STEP == 0);

  const float* from;
  size_t ld;
  unsigned exist;  // along k and float by float: which of the copies lie inside; float4: bytes
  int k_of, to;
  bool vec, inside;

  __device__ void init(const float* x, size_t ld_, bool vec_, int x0, int extent, int k0) {
    const int tid = static_cast<int>(threadIdx.x), lane = tid % 32, warp = tid / 32;
    const int left = extent - x0;
    ld = ld_, vec = vec_, inside = left >= BX, exist = 0;
    if constexpr (ALONG_K) {
      k_of = warp % K_CHUNKS * 8 + lane % 8;
      const int row = warp / K_CHUNKS * 4 + lane / 8;
      from = x + static_cast<size_t>(x0 + row) * ld + k0 + k_of;
      to = k_of * PITCH + row;
#pragma unroll
      for (int i = 0; i < COPIES_K; ++i) exist |= (row + i * X_STEP < left ? 1u : 0u) << i;
    } else if (vec) {
      k_of = tid / V_ROW;
      const int col = tid % V_ROW * 4;
      from = x + static_cast<size_t>(k0 + k_of) * ld + x0 + col;
      to = k_of * PITCH + col;
      exist = 4 * static_cast<unsigned>(max(0, min(4, left - col)));
      if (V_STEP > BK && k_of >= BK) exist = 0;
    } else {
      k_of = THREADS < BX ? 0 : tid / BX;
      const int col = THREADS < BX ? tid : tid % BX;
      from = x + static_cast<size_t>(k0 + k_of) * ld + x0 + col;
      to = k_of * PITCH + col;
#pragma unroll
      for (int r = 0; r < S_ROW; ++r) exist |= (col + r * THREADS < left ? 1u : 0u) << r;
    }
  }

  /// Starts to copy the next K-tile, of which `steps` of BK steps exist; zeros for the others.
  __device__ __forceinline__ void start(float* stage, int steps) {
    float* const out = stage + to;
    const bool whole = inside && steps >= BK;
    if constexpr (ALONG_K) {
      const float* f = from;
      if (whole) {
#pragma unroll
        for (int i = 0; i < COPIES_K; ++i, f += X_STEP * ld)
          __pipeline_memcpy_async(out + i * X_STEP, f, 4);
      } else {
        const unsigned bits = k_of < steps ? exist : 0;
#pragma unroll
        for (int i = 0; i < COPIES_K; ++i, f += X_STEP * ld)
          __pipeline_memcpy_async(out + i * X_STEP, f, 4, bits >> i & 1 ? 0 : 4);
      }
      from += BK;
    } else if (vec) {
      const float* f = from;
      if (V_STEP <= BK || k_of < BK) {
        if (whole) {
#pragma unroll
          for (int i = 0; i < COPIES_V; ++i, f += V_STEP * ld)
            __pipeline_memcpy_async(out + i * V_STEP * PITCH, f, 16);
        } else {
#pragma unroll
          for (int i = 0; i < COPIES_V; ++i, f += V_STEP * ld)
            __pipeline_memcpy_async(out + i * V_STEP * PITCH, f, 16,
                                    k_of + i * V_STEP < steps ? 16 - exist : 16);
        }
      }
      from += static_cast<size_t>(BK) * ld;
    } else {
      const float* f = from;
      if (whole) {
#pragma unroll
        for (int i = 0; i < COPIES_S / S_ROW; ++i, f += S_STEP * ld) {
#pragma unroll
          for (int r = 0; r < S_ROW; ++r)
            __pipeline_memcpy_async(out + i * S_STEP * PITCH + r * THREADS, f + r * THREADS, 4);
        }
      } else {
#pragma unroll
        for (int i = 0; i < COPIES_S / S_ROW; ++i, f += S_STEP * ld) {
#pragma unroll
          for (int r = 0; r < S_ROW; ++r)
            __pipeline_memcpy_async(out + i * S_STEP * PITCH + r * THREADS, f + r * THREADS, 4,
                                    (exist >> r & 1) && k_of + i * S_STEP < steps ? 0 : 4);
        }
      }
      from += static_cast<size_t>(BK) * ld;
    }
  }
};

/// Four neighbours of a row of C, of which `left` exist, become alpha sum + beta C.
__device__ __forceinline__ void update4(float* c, int left, bool vec, float alpha, float4 s, float beta) {
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
  const int part = static_cast<int>(blockIdx.x % per_tile), o = part / cut.cluster, rank = part % cut.cluster;
  // The share of the elements that this block of the cluster adds up.
  const int begin = static_cast<int>(static_cast<long long>(count) * rank / cut.cluster);
  const int end = static_cast<int>(static_cast<long long>(count) * (rank + 1) / cut.cluster);
  Group::meet(cut.cluster);  // the sums of all blocks of the cluster are there
  if (cut.outer == 1) {
    for (int e = begin + tid; e < end; e += THREADS) store(e, Group::sum(sums, e, cut.cluster));
  } else {
    float4* const mine = cut.partials + (tile * cut.outer + o) * count;
    for (int e = begin + tid; e < end; e += THREADS) __stcg(mine + e, Group::sum(sums, e, cut.cluster));
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
          for (int q = 1; q < cut.outer; ++q) sum = add(sum, __ldcg(all + static_cast<size_t>(q) * count + e));
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
template <class T, bool A_K, bool B_K>
__device__ __forceinline__ void multiply_tiles(float (&acc)[T::TM][T::TN], const Product& g, float4* memory,
                                               const Seat<T>& seat, int row0, int col0, int first, int last) {
  constexpr int BM = T::BM, BN = T::BN, BK = T::BK, TM = T::TM, TN = T::TN, STAGES = T::STAGES;
  float* const a_tiles = reinterpret_cast<float*>(memory);  // (STAGES, BK, BM + 4)
  float* const b_tiles = a_tiles + STAGES * T::A_STAGE;     // (STAGES, BK, BN + 4)
  const int k_end = min(g.k, last * BK), count = last - first;
  int k_next = first * BK;  // of the K-tile to be copied next
  Mover<T, BM, A_K> a;
  Mover<T, BN, B_K> b;
  a.init(g.a, g.lda, g.a_vec, row0, g.m, k_next);
  b.init(g.b, g.ldb, g.b_vec, col0, g.n, k_next);

  float fa[2][TM], fb[2][TN];
  const auto read = [&](int which, int stage, int l) {
    const float* from_a = a_tiles + stage * T::A_STAGE + l * (BM + 4) + seat.row;
    const float* from_b = b_tiles + stage * T::B_STAGE + l * (BN + 4) + seat.col;
#pragma unroll
    for (int q = 0; q < TM / 4; ++q)
      *reinterpret_cast<float4*>(&fa[which][4 * q]) = *reinterpret_cast<const float4*>(from_a + 16 * q);
#pragma unroll
    for (int q = 0; q < TN / 4; ++q)
      *reinterpret_cast<float4*>(&fb[which][4 * q]) = *reinterpret_cast<const float4*>(from_b + 32 * q);
  };
  const auto multiply = [&](int which) {
#pragma unroll
    for (int j = 0; j < TN; ++j) {
#pragma unroll
      for (int i = 0; i < TM; ++i) {
        const int ii = j % 2 == 0 ? i : TM - 1 - i;
        acc[ii][j] += fa[which][ii] * fb[which][j];
      }
    }
  };

#pragma unroll 1
  for (int t = 0; t < STAGES - 1; ++t) {
    if (t < count) {
      a.start(a_tiles + t * T::A_STAGE, k_end - k_next);
      b.start(b_tiles + t * T::B_STAGE, k_end - k_next);
      k_next += BK;
    }
    __pipeline_commit();
  }
  int reading = 0, writing = STAGES - 1, k_left = k_end - first * BK;
#pragma unroll 1
  for (int t = 0; t < count; ++t, k_left -= BK) {
    __pipeline_wait_prior(STAGES - 2);
    __syncthreads();
    if (k_next < k_end) {
      a.start(a_tiles + writing * T::A_STAGE, k_end - k_next);
      b.start(b_tiles + writing * T::B_STAGE, k_end - k_next);
      k_next += BK;
      writing = writing + 1 == STAGES ? 0 : writing + 1;
    }
    __pipeline_commit();
    if (seat.active) {
      if (k_left >= BK) {
        read(0, reading, 0);
#pragma unroll
        for (int l = 0; l < BK; ++l) {
          if (l + 1 < BK) read((l + 1) % 2, reading, l + 1);
          multiply(l % 2);
        }
      } else {
#pragma unroll 1
        for (int l = 0; l < k_left; ++l) {
          read(0, reading, l);
          multiply(0);
        }
      }
    }
    reading = reading + 1 == STAGES ? 0 : reading + 1;
  }
}

/// Writes a thread's sums to C.
template <class T>
__device__ __forceinline__ void store_tile(const float (&acc)[T::TM][T::TN], const Product& g, const Seat<T>& seat,
                                           int row0, int col0) {
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
template <class Group, class T, bool A_K, bool B_K>
__global__ void __launch_bounds__(T::THREADS, T::BLOCKS) tiles(const Product g, const Cut cut) {
  constexpr int BM = T::BM, BN = T::BN, BK = T::BK;
  extern __shared__ float4 memory[];
  const unsigned parts = static_cast<unsigned>(cut.cluster * cut.outer);
  const int tile = static_cast<int>(blockIdx.x / parts), part = static_cast<int>(blockIdx.x % parts);
  int tile_row, tile_col;
  place(tile, (g.m - 1) / BM + 1, (g.n - 1) / BN + 1, tile_row, tile_col);
  const int row0 = tile_row * BM, col0 = tile_col * BN, k_tiles = (g.k + BK - 1) / BK;
  const int first = static_cast<int>(static_cast<long long>(k_tiles) * part / parts);
  const int last = static_cast<int>(static_cast<long long>(k_tiles) * (part + 1) / parts);
  const Seat<T> seat(g.m - row0, g.n - col0);
  float acc[T::TM][T::TN] = {};
  multiply_tiles<T, A_K, B_K>(acc, g, memory, seat, row0, col0, first, last);
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
      memory[((seat.row + i / 4 * 16 + i % 4) * BN + seat.col + 32 * q) / 4] = make_float4(s[0], s[1], s[2], s[3]);
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
/// Source of the idea: Osama et al., Stream-K, 2023.
template <class T, bool A_K, bool B_K>
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
    multiply_tiles<T, A_K, B_K>(acc, g, memory, seat, row0, col0, first, last);
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
      first = static_cast<int>(max(0LL, s.begin(other) - static_cast<long long>(tile - s.whole) * k_tiles));
    }
    store_tile<T>(acc, g, seat, row0, col0);
    __syncthreads();  // the ring is free
  }
}

/// Adds up the parts of cut tiles, where no tickets do.
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
  bool c_vec, x_vec;
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
template <class Group, int MT, int LANES, int WARPS, bool VEC>
__global__ void __launch_bounds__(32 * WARPS) thin_columns(const Thin g, const Cut cut) {
  constexpr int BJ = 4 * LANES, ROWS = 32 * WARPS / LANES, U = MT >= 16 ? 4 : 8, CHUNK = ROWS * U;
  constexpr int THREADS = 32 * WARPS;
  __shared__ __align__(16) float xs[2][CHUNK][MT];
  __shared__ float4 sums[MT * LANES];
  const unsigned parts = static_cast<unsigned>(cut.cluster * cut.outer);
  const int tile = static_cast<int>(blockIdx.x / parts), part = static_cast<int>(blockIdx.x % parts);
  const int col0 = tile * BJ, tid = static_cast<int>(threadIdx.x), lane = tid % LANES, row = tid / LANES;
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
        rows[warp - half][i * LANES + lane] = make_float4(acc[i][0], acc[i][1], acc[i][2], acc[i][3]);
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
template <class Group, int MT, int WARPS_J, int WARPS_K, bool VEC>
__global__ void __launch_bounds__(32 * WARPS_J* WARPS_K) thin_rows(const Thin g, const Cut cut) {
  constexpr int JR = MT >= 16 ? 2 : 4, BJ = JR * WARPS_J < 4 ? 4 : JR * WARPS_J;
  static_assert(BJ % 4 == 0);
  constexpr int THREADS = 32 * WARPS_J * WARPS_K, STEP = 128 * WARPS_K;
  __shared__ float parts_of[WARPS_K][MT * BJ];
  __shared__ float4 sums[MT * BJ / 4];
  const unsigned parts = static_cast<unsigned>(cut.cluster * cut.outer);
  const int tile = static_cast<int>(blockIdx.x / parts), part = static_cast<int>(blockIdx.x % parts);
  const int tid = static_cast<int>(threadIdx.x), lane = tid % 32, warp = tid / 32;
  const int warp_j = warp % WARPS_J, warp_k = warp / WARPS_J;
  const int col0 = tile * BJ;
  // In units of 4 floats, so that a part begins where float4s do.
  const int fours = (g.k + 3) / 4;
  const int begin = static_cast<int>(static_cast<long long>(fours) * part / parts) * 4;
  const int end = min(g.k, static_cast<int>(static_cast<long long>(fours) * (part + 1) / parts) * 4);
  float acc[MT][JR] = {};
  const float* y[JR];
#pragma unroll
  for (int j = 0; j < JR; ++j)
    y[j] = g.y + static_cast<size_t>(min(col0 + warp_j * JR + j, g.n - 1)) * g.ld;
#pragma unroll 1
  for (int l0 = begin + 128 * warp_k; l0 < end; l0 += STEP) {
    float4 v[JR];
    const int l = l0 + (VEC ? 4 * lane : lane);
    constexpr int S = VEC ? 1 : 32;
    const bool whole = l + 3 * S < end;
#pragma unroll
    for (int j = 0; j < JR; ++j) {
      if (VEC && whole) {
        v[j] = __ldcs(reinterpret_cast<const float4*>(y[j] + l));
      } else {
        v[j].x = l < end ? y[j][l] : 0;
        v[j].y = l + S < end ? y[j][l + S] : 0;
        v[j].z = l + 2 * S < end ? y[j][l + 2 * S] : 0;
        v[j].w = l + 3 * S < end ? y[j][l + 3 * S] : 0;
      }
    }
#pragma unroll
    for (int i = 0; i < MT; ++i) {
      float4 x = make_float4(0, 0, 0, 0);
      if (i < g.m) {
        const float* from = g.x + i * g.x_i;
        if (VEC && whole && g.x_vec) {
          x = *reinterpret_cast<const float4*>(from + l);
        } else {
          if (l < end) x.x = from[l * g.x_l];
          if (l + S < end) x.y = from[(l + S) * g.x_l];
          if (l + 2 * S < end) x.z = from[(l + 2 * S) * g.x_l];
          if (l + 3 * S < end) x.w = from[(l + 3 * S) * g.x_l];
        }
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
    if (e % BJ < JR * WARPS_J) {
      for (int w = 0; w < WARPS_K; ++w) sum += parts_of[w][e];
    }
    flat[e] = sum;
  }
  reduce<Group, THREADS>(sums, MT * BJ / 4, cut, [&](int e, float4 sum) {
    const int i = e / (BJ / 4), j = col0 + e % (BJ / 4) * 4;
    if (i < g.m && j < g.n) update_thin(g, i, j, sum);
  });
}

}  // namespace any_shape
