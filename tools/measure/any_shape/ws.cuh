/// \file
/// The large tiles of chapter 12 for any layout and alignment: four warps load, eight compute, a block stays for many
/// tiles, and the tiles of the last wave are cut along K.
#pragma once

#include <algorithm>
#include <cuda/ptx>
#include <type_traits>

#include "any.cuh"

namespace any_shape::ws {

namespace ptx = cuda::ptx;

constexpr int BK = 16, STAGES = 8, GROUP = 8;
constexpr int computing_warps = 8, loading_warps = 4;
constexpr int computing_threads = 32 * computing_warps, loading_threads = 32 * loading_warps;
constexpr int block_threads = computing_threads + loading_threads;
constexpr int loading_registers = 40, computing_registers = 232;  // of a thread

/// The tiles of a block whose threads compute `rows` x 8 elements: 128 x 256 where rows is 16, 128 x 128 where it is
/// 8.
template <int rows>
struct TileOf {
  static constexpr int TM = rows, TN = 8, WM = 4 * TM, WN = 8 * TN;
  static constexpr int BM = 128, warps_down = BM / WM, BN = computing_warps / warps_down * WN;
  static constexpr int lda = BM + 8, ldb = BN + 8;  // of a stage
  static constexpr unsigned a_bytes = 4 * BK * lda, b_bytes = 4 * BK * ldb;
  static constexpr unsigned stage_bytes = a_bytes + b_bytes;
  static constexpr unsigned shared_bytes = STAGES * (stage_bytes + 2 * sizeof(std::uint64_t));
};
/// 128 x 256, with chapter 12's order of the columns and of the groups of four rows.
struct Large : TileOf<16> {
  static __device__ constexpr int column(int j) {
    constexpr int order[] = {3, 0, 5, 7, 1, 6, 2, 4};
    return order[j];
  }
  static __device__ constexpr int four_rows(int i) {
    constexpr int order[] = {0, 4, 12, 8};
    return order[i];
  }
};
/// 128 x 128.
struct Small : TileOf<8> {
  static __device__ constexpr int column(int j) {
    constexpr int order[] = {3, 5, 6, 1, 0, 4, 7, 2};
    return order[j];
  }
  static __device__ constexpr int four_rows(int i) {
    constexpr int order[] = {4, 0};
    return order[i];
  }
};

/// What lies at an address of shared memory.
template <class T>
__device__ __forceinline__ T* in_shared(std::uint32_t address) {
  return static_cast<T*>(__cvta_shared_to_generic(address));
}
/// Hides where a value comes from, so that the compiler keeps it in a register.
__device__ __forceinline__ void hide(std::uint32_t& value) { asm volatile("" : "+r"(value)); }
/// Waits until a barrier has completed the phase of this parity.
__device__ __forceinline__ void wait_for(std::uint32_t barrier, std::uint32_t parity) {
  while (!ptx::mbarrier_try_wait_parity(in_shared<std::uint64_t>(barrier), parity)) {
  }
}
/// Starts to copy `size` bytes to shared memory, the last `missing` of which become zero.
template <int size>
__device__ __forceinline__ void copy(std::uint32_t to, const float* from, int missing = 0) {
  __pipeline_memcpy_async(in_shared<float>(to), from, size, missing);
}

/// Who computes what: the tiles that are cut go first, in even shares of K-tiles, then whole tiles in full waves.
struct Plan {
  int tiles_m, tiles_n, k_tiles, whole, workers, longer;
  long long each;
  Plan() = default;
  /// two: where there are more tiles than blocks, two tiles for each block are dealt out, not one.
  Plan(int m, int n, int k, int BM, int BN, int blocks, bool two)
      : tiles_m((m - 1) / BM + 1), tiles_n((n - 1) / BN + 1), k_tiles((k - 1) / BK + 1) {
    const int tiles = tiles_m * tiles_n, rest = tiles % blocks;
    const int cut = two && rest > 0 && tiles > blocks ? rest + blocks : rest;
    const long long left = static_cast<long long>(cut) * k_tiles;
    whole = tiles - cut;
    int pieces = 1;
    while ((pieces + 1) * (pieces + 1) <= k_tiles) ++pieces;
    workers = static_cast<int>(std::min(std::max(1LL, 1LL * cut * pieces), 1LL * blocks));
    const int even = cut > 0 ? workers - workers % cut : 0;
    if (even >= 2 * cut && 16 * even > 15 * workers) workers = even;
    longer = static_cast<int>(left % workers), each = left / workers;
  }
  __device__ long long begin(int worker) const {
    return min(worker, workers) * each + min(worker, longer);
  }
};

/// A worker's pieces: its share from the end to the beginning, then its whole tiles.
template <class Tile>
struct Schedule {
  const Plan& plan;
  int tile;
  long long at, begin;
  __device__ Schedule(const Plan& of_all, int worker) : plan(of_all), tile(worker) {
    begin = plan.begin(worker), at = plan.begin(worker + 1);
  }
  /// The next piece: the K-tiles first to last - 1 of tile t.
  __device__ bool next(int& t, int& first, int& last) {
    if (at > begin) {
      const int cut = static_cast<int>((at - 1) / plan.k_tiles);
      const long long start = static_cast<long long>(cut) * plan.k_tiles;
      t = plan.whole + cut, last = static_cast<int>(at - start);
      first = static_cast<int>(max(begin, start) - start);
      at = start + first;
      return true;
    }
    if (tile >= plan.whole) return false;
    t = tile, first = 0, last = plan.k_tiles;
    tile += static_cast<int>(gridDim.x);
    return true;
  }
  __device__ void place(int t, int& row, int& col) const {
    any_shape::place(t, plan.tiles_m, plan.tiles_n, row, col);
    row *= Tile::BM, col *= Tile::BN;
  }
};

/// Brings K-tiles (BK, BX) of one operand to the ring, with a pitch of BX + 8 floats.
template <int BX, Lie HOW>
struct Mover {
  static constexpr bool K = HOW == Lie::ALONG_K, V = HOW == Lie::FOURS;
  // Along k: rows BX / 4 warp + lane / 4 + 8 i, elements lane % 4 + 4 e. Fours: 512 / BX rows of k at a time. Floats: row
  // warp + 4 i of k, columns lane + 32 r.
  static constexpr int PITCH = BX + 8, R = BX / 32, STEP = V ? 512 / BX : 4;
  const float* from;
  std::uint32_t to;
  unsigned exist;

  static __device__ __forceinline__ int k_of(int warp, int lane) {
    return K ? lane % 4 : V ? (32 * warp + lane) / (BX / 4) : warp;
  }
  static __device__ __forceinline__ int x_of(int warp, int lane) {
    return K ? BX / 4 * warp + lane / 4 : V ? (32 * warp + lane) % (BX / 4) * 4 : lane;
  }
  __device__ __forceinline__ Mover(const float* x, size_t ld, int x0, int left, int k0, int warp,
                                   int lane)
      : from(K ? x + (x0 + x_of(warp, lane)) * ld + k0 + k_of(warp, lane)
               : x + (k0 + k_of(warp, lane)) * ld + x0 + x_of(warp, lane)),
        to(4 * (k_of(warp, lane) * PITCH + x_of(warp, lane))),
        exist(0) {
    if constexpr (V) {
      exist = 4 * static_cast<unsigned>(max(0, min(4, left - x_of(warp, lane))));
    } else {
#pragma unroll
      for (int i = 0; i < R; ++i)
        exist |= (x_of(warp, lane) + i * (K ? 8 : 32) < left ? 1u : 0u) << i;
    }
  }

  template <bool WHOLE>
  __device__ __forceinline__ void start(std::uint32_t stage, size_t ld, int steps, int warp,
                                        int lane) {
    const std::uint32_t out = stage + to;
    const float* f = from;
    const int k = WHOLE ? 0 : k_of(warp, lane);
    if constexpr (K) {
#pragma unroll(WHOLE ? R : 1)
      for (int i = 0; i < R; ++i, f += 8 * ld) {
#pragma unroll
        for (int e = 0; e < BK; e += 4)
          copy<4>(out + 4 * (8 * i + e * PITCH), f + e,
                  WHOLE || ((exist >> i & 1) && k + e < steps) ? 0 : 4);
      }
      from += BK;
    } else if constexpr (V) {
#pragma unroll(WHOLE ? BK / STEP : 1)
      for (int i = 0; i < BK / STEP; ++i, f += STEP * ld)
        copy<16>(out + 4 * i * STEP * PITCH, f, WHOLE ? 0 : k + i * STEP < steps ? 16 - exist : 16);
      from += BK * ld;
    } else {
#pragma unroll(WHOLE ? BK / STEP : 1)
      for (int i = 0; i < BK / STEP; ++i, f += STEP * ld) {
#pragma unroll
        for (int r = 0; r < R; ++r)
          copy<4>(out + 4 * (i * STEP * PITCH + 32 * r), f + 32 * r,
                  WHOLE || ((exist >> r & 1) && k + i * STEP < steps) ? 0 : 4);
      }
      from += BK * ld;
    }
  }
};

/// What a loading warp does: fills the ring while there are K-tiles, and adds one empty stage, into which the
/// computing warps read ahead. warp: which of the loading warps this is.
template <class Tile, Lie A, Lie B>
__device__ __forceinline__ void load(const Product& g, Schedule<Tile> work, std::uint32_t base,
                                     std::uint32_t full, int warp) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const std::uint32_t end = full + 8 * STAGES;
  std::uint32_t barrier = full, to = base, parity = 1;
  int tile, first, last;
  while (work.next(tile, first, last)) {
    int row, col;
    work.place(tile, row, col);
    Mover<Tile::BM, A> a(g.a, g.lda, row, g.m - row, first * BK, warp, lane);
    Mover<Tile::BN, B> b(g.b, g.ldb, col, g.n - col, first * BK, warp, lane);
    int steps = g.k - first * BK;
    const auto fill = [&](auto whole) {
      wait_for(barrier + 8 * STAGES, parity);
      b.template start<decltype(whole)::value>(to + Tile::a_bytes, g.ldb, steps, warp, lane);
      a.template start<decltype(whole)::value>(to, g.lda, steps, warp, lane);
      ptx::cp_async_mbarrier_arrive_noinc(in_shared<std::uint64_t>(barrier));
      to += Tile::stage_bytes, barrier += 8, steps -= BK;
      if (barrier == end) to = base, barrier = full, parity ^= 1;
    };
    const bool inside = row + Tile::BM <= g.m && col + Tile::BN <= g.n;
    const int whole_until = inside ? min(last, g.k / BK) : first;
    int t = first;
#pragma unroll 1
    for (; t < whole_until; ++t) fill(std::true_type{});
#pragma unroll 1
    for (; t < last; ++t) fill(std::false_type{});
  }
  wait_for(barrier + 8 * STAGES, parity);
  ptx::cp_async_mbarrier_arrive_noinc(in_shared<std::uint64_t>(barrier));
}

/// What the computing warps do. ALIGNED: rows of C begin at multiples of 16 bytes.
template <class Tile, bool ALIGNED>
__device__ void compute(const Product& g, Schedule<Tile> work, int worker, std::uint32_t base,
                        std::uint32_t full, float* partials, int* ready) {
  constexpr int TM = Tile::TM, TN = Tile::TN, BM = Tile::BM, BN = Tile::BN;
  constexpr unsigned stage_bytes = Tile::stage_bytes;
  const int thread = static_cast<int>(threadIdx.x), lane = thread % 32, warp = thread / 32;
  const int lane_row = ((lane >> 1) & 1) | ((lane >> 3) & 2),
            lane_col = (lane & 1) | ((lane >> 1) & 6);
  const int warp_row = warp % Tile::warps_down * Tile::WM,
            warp_col = warp / Tile::warps_down * Tile::WN;
  const int row_in_tile = warp_row + lane_row * 4, col_in_tile = warp_col + lane_col * 4;
  const std::uint32_t a_start = base + 4 * row_in_tile;
  std::uint32_t a_to_b = Tile::a_bytes + 4 * (col_in_tile - row_in_tile);
  hide(a_to_b);
  const std::uint32_t last_barrier = full + 8 * (STAGES - 1);

  float a[2][TM], b[2][TN], c[TM][TN];
  const auto fragments = [&](std::uint32_t from_a, std::uint32_t from_b, int which) {
#pragma unroll
    for (int i = 0; i < TM / 4; ++i)
      *reinterpret_cast<float4*>(&a[which][4 * i]) = *in_shared<const float4>(from_a + 64 * i);
#pragma unroll
    for (int j = 0; j < TN / 4; ++j)
      *reinterpret_cast<float4*>(&b[which][4 * j]) = *in_shared<const float4>(from_b + 128 * j);
  };

  std::uint32_t barrier = full, at_a = a_start, at_b = a_start + a_to_b, parity = 0;
  wait_for(full, 0);
  fragments(at_a, at_b, 0);
  int tile, first, last;
  while (work.next(tile, first, last)) {
#pragma unroll
    for (int i = 0; i < TM; ++i) {
#pragma unroll
      for (int j = 0; j < TN; ++j) c[i][j] = 0;
    }
#pragma unroll 1
    for (int t = last - first; t > 0; --t) {
      const bool wrap = barrier == last_barrier;
      const std::uint32_t next = wrap ? full : barrier + 8;
      const std::uint32_t next_a = wrap ? a_start : at_a + stage_bytes, next_b = next_a + a_to_b;
      if (wrap) parity ^= 1;
#pragma unroll
      for (int k = 0; k < BK; ++k) {
        if (k == BK - 1) wait_for(next, parity);
        fragments(k + 1 < BK ? at_a + (k + 1) * 4 * Tile::lda : next_a,
                  k + 1 < BK ? at_b + (k + 1) * 4 * Tile::ldb : next_b, (k + 1) % 2);
#pragma unroll
        for (int x = 0; x < TM * TN; ++x) {
          const int down = x / TM % 2 == 0 ? x % TM : TM - 1 - x % TM;
          const int i = Tile::four_rows(down / 4) + down % 4, j = Tile::column(x / TM);
          c[i][j] += a[k % 2][i] * b[k % 2][j];
        }
      }
      ptx::mbarrier_arrive(in_shared<std::uint64_t>(barrier + 8 * STAGES));
      barrier = next, at_a = next_a, at_b = next_b;
    }

    if (last < work.plan.k_tiles) {  // the block with the tile's end adds this
      float* mine = partials + static_cast<std::size_t>(worker) * (BM * BN) + thread;
#pragma unroll
      for (int x = 0; x < TM * TN; ++x) __stcg(mine + x * computing_threads, c[x / TN][x % TN]);
      __threadfence();
      __barrier_sync_count(1, computing_threads);
      if (thread == 0) atomicExch(ready + worker, 1);
      continue;
    }
    for (int other = worker; first > 0;) {
      --other;
      if (thread == 0) {
        while (atomicCAS(ready + other, 1, 0) != 1) __nanosleep(32);
        __threadfence();
      }
      __barrier_sync_count(1, computing_threads);
      const float* theirs = partials + static_cast<std::size_t>(other) * (BM * BN) + thread;
#pragma unroll
      for (int x = 0; x < TM * TN; ++x) c[x / TN][x % TN] += __ldcg(theirs + x * computing_threads);
      first = static_cast<int>(
          max(0LL, work.plan.begin(other) -
                       static_cast<long long>(tile - work.plan.whole) * work.plan.k_tiles));
    }

    int row, col;
    work.place(tile, row, col);
    row += row_in_tile, col += col_in_tile;
#pragma unroll
    for (int i = 0; i < TM; ++i) {
      const int r = row + i / 4 * 16 + i % 4;
      float* out = g.c + static_cast<std::size_t>(r) * g.ldc + col;
#pragma unroll
      for (int j = 0; j < TN; j += 4) {
        float v[4];
#pragma unroll
        for (int e = 0; e < 4; ++e) v[e] = g.alpha * c[i][j + e];
        const int c_to = 8 * j, exist = r < g.m ? g.n - col - c_to : 0;
        if (ALIGNED && exist >= 4) {
          float4* to = reinterpret_cast<float4*>(out + c_to);
          if (g.beta != 0) {
            const float4 was = *to;
            v[0] += g.beta * was.x, v[1] += g.beta * was.y;
            v[2] += g.beta * was.z, v[3] += g.beta * was.w;
          }
          *to = make_float4(v[0], v[1], v[2], v[3]);
        } else {
#pragma unroll
          for (int e = 0; e < 4; ++e) {
            if (e < exist) out[c_to + e] = v[e] + (g.beta != 0 ? g.beta * out[c_to + e] : 0);
          }
        }
      }
    }
  }
}

/// C = alpha op(A) op(B) + beta C by blocks that stay, 8 warps that compute and 4 that load.
///
/// partials: (blocks, BM x BN) floats. ready: a flag for each block, and behind them the number of blocks that have
/// begun; all 0, and 0 again afterwards.
///
/// Launch: a block of 384 threads for each SM, with Tile::shared_bytes of dynamic shared memory.
/// Requires: compute capability 9.0 (setmaxnreg); k from 1 to 2^31 - 32, m and n at most 2^31 - 256.
/// Source of the idea: Osama et al., Stream-K, 2023, with two tiles for each block where there is more than one wave.
template <class Tile, Lie A, Lie B, bool ALIGNED>
__global__ void __launch_bounds__(block_threads, 1)
    shares(const Product g, const __grid_constant__ Plan plan, float* partials, int* ready) {
  extern __shared__ __align__(128) float4 memory[];
  std::uint32_t base = static_cast<std::uint32_t>(__cvta_generic_to_shared(memory));
  hide(base);
  const std::uint32_t full = base + STAGES * Tile::stage_bytes, empty = full + 8 * STAGES;
  __shared__ int number;
  if (threadIdx.x == 0) {
    int* const workers = ready + gridDim.x;
    number = atomicAdd(workers, 1);
    if (number == static_cast<int>(gridDim.x) - 1) atomicExch(workers, 0);  // all have begun
    for (int s = 0; s < STAGES; ++s) {
      ptx::mbarrier_init(in_shared<std::uint64_t>(full + 8 * s), loading_threads);
      ptx::mbarrier_init(in_shared<std::uint64_t>(empty + 8 * s), computing_threads);
    }
  }
  __syncthreads();
  const int worker = number;
  const Schedule<Tile> work(plan, worker);
  if (threadIdx.x >= computing_threads) {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(loading_registers));
    const int warp = __shfl_sync(~0u, static_cast<int>(threadIdx.x) / 32, 0) - computing_warps;
    load<Tile, A, B>(g, work, base, full, warp);
  } else {
    asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(computing_registers));
    compute<Tile, ALIGNED>(g, work, worker, base, full, partials, ready);
  }
}

}  // namespace any_shape::ws
