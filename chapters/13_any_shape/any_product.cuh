// Products of any shape: the kernels of chapter 13, and `sgemm`, which chooses one of them. This header needs CUDA and C++20
// alone: include it in a program of your own.
#pragma once

#include <cuda_pipeline.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <type_traits>

// Files of a program may include this header with different menus.
#ifdef ANY_PRODUCT_SPECIALIZED
#define ANY_PRODUCT_MENU with_specialized_warps
#else
#define ANY_PRODUCT_MENU portable
#endif

namespace any_product {
inline namespace ANY_PRODUCT_MENU {

// ## 4. Any alignment, any transposition
//
// A matrix lies *along K* if the elements of one row of op(A), or of one column of op(B), follow each other in memory. Otherwise
// its rows in memory run across K. A row-major A lies along K, a row-major B across it, and a transposition turns
// that around. Rows across K can be copied 16 bytes at a time if they begin at multiples of 16 bytes; everything else is
// copied float by float. A, B and C have that property, or lack it, each by itself.
//
// That makes three layouts for A and three for B. Should a kernel ask for them as it runs, once for each K-tile, or should there be
// a kernel for each pair?
//
//? layouts: The FMAs of a K-tile take thousands of cycles, and the question is the same for all threads. What does it cost at
//?   M = N = K = 4096 to ask as the kernel runs?
//? choices: under 3 % | 3 to 12 % | over 12 %
//? answer: "3 to 12 %"
//
// In a trial it cost 8 %: 41.5 TFLOP/s, where the same kernel with the layouts compiled in made 45.2. What the compiler does with
// each was not compared, so the reason is not shown here. There is a kernel for each pair, then. If one operand must be
// copied float by float, the other one is, too, unless it lies along K: seven kernels for each tile are enough. The header with
// its portable menu compiles in about a minute.
//= 8 %: 100 * (1 - 3041.1 / 3312.1)
//= 41.5 TFLOP/s: 2 * 4096**3 / 3312.1e6
//= 45.2: 2 * 4096**3 / 3041.1e6

/// How an operand lies in memory: along K; or across it in rows that begin at multiples of 16 bytes; or across it anyhow.
enum class Lie { ALONG_K, WIDE, FLOATS };

/// op(A) or op(B). Element (x, l): x counts the rows of op(A) or the columns of op(B), l runs along K.
struct Operand {
  const float* data;
  size_t ld;     ///< floats from a row in memory to the next
  bool along_k;  ///< element (x, l) is data[x * ld + l]; otherwise data[l * ld + x]
  bool wide;     ///< not along K, and its rows are float4s that begin at multiples of 16 bytes
};

/// A product as the kernels see it; C is row-major.
struct Product {
  int m, n, k;
  Operand a, b;
  float alpha, beta;
  float* c;
  size_t ldc;
  bool c_wide;  ///< the rows of C begin at multiples of 16 bytes
};

/// How K is split, and where the sums of the parts go: (tile, part, element). tickets: one for each tile, 0 before and
/// afterwards; none: a second kernel adds the parts up.
struct Split {
  int parts;
  float4* partials;
  unsigned* tickets;
};

/// A tile of C and who computes it: BM x BN elements of a block, TM x TN of a thread, in WARPS_M x WARPS_N warps of 4 x
/// 8 lanes; a ring of STAGES K-tiles; BLOCKS at a time on an SM.
template <int BM_, int BN_, int TM_, int TN_, int WARPS_M_, int WARPS_N_, int BLOCKS_,
          bool SKIP_ = false, bool STAGED_ = false>
struct Tile {
  static constexpr bool STAGED = STAGED_;  // K-tiles go through registers
  static constexpr int BM = BM_, BN = BN_, BK = 16, TM = TM_, TN = TN_, STAGES = STAGED ? 2 : 4;
  static constexpr int WARPS_M = WARPS_M_, WARPS_N = WARPS_N_, WARPS = WARPS_M * WARPS_N;
  static constexpr int THREADS = 32 * WARPS, BLOCKS = BLOCKS_;
  static constexpr bool SKIP = SKIP_;  // a warp without elements of C does not multiply
  static constexpr int WM = BM / WARPS_M, WN = BN / WARPS_N;
  static_assert(WM == 4 * TM && WN == 8 * TN, "a warp is 4 x 8 lanes");
  static constexpr int A_STAGE = BK * (BM + 4), B_STAGE = BK * (BN + 4);
  static constexpr int SHARED = 4 * STAGES * (A_STAGE + B_STAGE);  // bytes
  static constexpr int COMPUTING = THREADS;
  /// The first row and column of a warp in the tile.
  static __device__ int row_of(int warp) { return warp / WARPS_N * WM; }
  static __device__ int col_of(int warp) { return warp % WARPS_N * WN; }
};

// In shared memory a K-tile of either operand has the same form, (BK, BX) with padded rows, so the loop that multiplies does not know
// the layout. Along K, a warp copies 4 rows of 8 floats and so transposes them; no two lanes write to the same bank.
//
// A tile may stick out of the matrix. Its rows or columns that do not exist become elements outside of C, which nobody
// stores: so a thread whose row is missing copies the last one that exists, and no copy needs a test. K is different. What lies
// beyond it must not count, so in the last K-tile the rest becomes zeros, in A and in B: a zero times an infinity would be
// NaN. The loop never asks how much of K is left.

/// A thread's share of the copies that bring the K-tiles of an operand, (BK, BX), to shared memory; a row has BX + 4
/// floats there.
template <class T, int BX, Lie LIE>
struct Copies {
  static constexpr bool ALONG_K = LIE == Lie::ALONG_K, WIDE = LIE == Lie::WIDE;
  static constexpr int BK = T::BK, THREADS = T::THREADS, PITCH = BX + 4;
  static constexpr int FLOATS = WIDE ? 4 : 1;  // of a copy
  static constexpr int ROW = BX / FLOATS;      // threads side by side, across K
  static constexpr int COUNT = BX * BK / THREADS / FLOATS;
  // From a copy to the next: rows or columns of the operand along K, or steps of K.
  static constexpr int STEP = ALONG_K ? T::WARPS / 2 * 4 : THREADS / ROW;
  static constexpr int TO_STEP = ALONG_K ? STEP : STEP * PITCH;
  static_assert(THREADS >= BX && COUNT >= 1);

  const float* from;
  int to;    // in a stage
  int last;  // along K: the last row or column that exists, from this thread's first on

  static __device__ int x_of() {
    const int tid = static_cast<int>(threadIdx.x);
    return ALONG_K ? tid / 64 * 4 + tid % 32 / 8 : tid % ROW * FLOATS;
  }
  static __device__ int k_of() {
    const int tid = static_cast<int>(threadIdx.x);
    return ALONG_K ? tid / 32 % 2 * 8 + tid % 8 : tid / ROW;
  }

  /// left: rows of op(A), or columns of op(B), from x0 to the end.
  __device__ Copies(const Operand& o, int x0, int left, int k0)
      : to(k_of() * PITCH + x_of()), last(max(0, left - 1 - x_of())) {
    const size_t x = static_cast<size_t>(x0 + min(x_of(), left - FLOATS)),
                 k = static_cast<size_t>(k0 + k_of());
    from = o.data + (ALONG_K ? x * o.ld + k : k * o.ld + x);
  }

  /// Starts to copy the next K-tile. INSIDE: all rows and columns of the tile exist. WHOLE: all of its K does; otherwise
  /// `steps` of it do, and the rest becomes zeros.
  template <bool INSIDE, bool WHOLE>
  __device__ __forceinline__ void start(const Operand& o, float* stage, int steps) {
    float* const t = stage + to;
    const float* f = from;
#pragma unroll(WHOLE ? COUNT : 2)
    for (int i = 0; i < COUNT; ++i) {
      if (WHOLE || k_of() + (ALONG_K ? 0 : i * STEP) < steps) {
        __pipeline_memcpy_async(t + i * TO_STEP, f, 4 * FLOATS);
      } else if constexpr (WIDE) {
        *reinterpret_cast<float4*>(t + i * TO_STEP) = {};
      } else {
        t[i * TO_STEP] = 0;
      }
      if (!ALONG_K || INSIDE || (i + 1) * STEP <= last) f += STEP * o.ld;
    }
    from += ALONG_K ? BK : BK * o.ld;
  }
};

// ### Through registers (second reading)
//
// A *staged* tile has no asynchronous copies: its threads load a K-tile into registers while they multiply the one before, and then
// write it to shared memory. What does not exist is a zero that nobody loads, each operand has its own width, and two stages are
// enough. Of 1,809 shapes, the best of all candidates without staged tiles is as fast as cuBLAS or faster for 76.6 %, with them for
// 77.6 %; 8.0 and 6.6 % are below 0.9. They are on the menu for an operand that has no 16-byte rows, and for two that lie across K.
//= 76.6 %: 100 * 0.766
//= 77.6 %: 100 * 0.776
//= 8.0 and 6.6 %: (100 * 0.080, 100 * 0.066)

/// A thread's share of the K-tiles of an operand that go through registers to shared memory, (BK, BX); a row has BX + 4 floats there.
template <class T, int BX, Lie LIE>
struct Loads {
  static constexpr bool ALONG_K = LIE == Lie::ALONG_K, WIDE = LIE == Lie::WIDE;
  static constexpr int BK = T::BK, PITCH = BX + 4, FLOATS = WIDE ? 4 : 1;
  static constexpr int COUNT = BX * BK / T::THREADS / FLOATS;
  static_assert(COUNT >= 1 && BX % 32 == 0);

  const float* from;
  int left;  // rows or columns of the operand, from this thread's first on
  float v[COUNT][FLOATS];

  // Load i lies x_to(i) across K and k_to(i) along K from the first.
  static constexpr __host__ __device__ int x_to(int i) {
    return ALONG_K ? i / 2 * 4 * T::WARPS : WIDE ? 0 : i % (BX / 32) * 32;
  }
  static constexpr __host__ __device__ int k_to(int i) {
    return ALONG_K ? i % 2 * 8 : WIDE ? i * (4 * T::THREADS / BX) : i / (BX / 32) * T::WARPS;
  }
  static __device__ int x_of() {
    const int tid = static_cast<int>(threadIdx.x);
    return ALONG_K ? tid / 8 : WIDE ? tid % (BX / 4) * 4 : tid % 32;
  }
  static __device__ int k_of() {
    const int tid = static_cast<int>(threadIdx.x);
    return ALONG_K ? tid % 8 : WIDE ? tid / (BX / 4) : tid / 32;
  }

  __device__ Loads(const Operand& o, int x0, int rest, int k0) : left(rest - x_of()) {
    const size_t x = static_cast<size_t>(x0 + x_of()), k = static_cast<size_t>(k0 + k_of());
    from = o.data + (ALONG_K ? x * o.ld + k : k * o.ld + x);
  }
  /// Loads the next K-tile. WHOLE: all of it exists; otherwise `left` of it across K, and `steps` along K.
  template <bool WHOLE>
  __device__ __forceinline__ void fetch(const Operand& o, int steps) {
    const size_t by_x = ALONG_K ? o.ld : 1, by_k = ALONG_K ? 1 : o.ld;
#pragma unroll
    for (int i = 0; i < COUNT; ++i) {
      const bool there = WHOLE || (x_to(i) < left && k_of() + k_to(i) < steps);
      const float* const f =
          from + static_cast<size_t>(x_to(i)) * by_x + static_cast<size_t>(k_to(i)) * by_k;
      if constexpr (WIDE) {
        const float4 four = there ? *reinterpret_cast<const float4*>(f) : float4{};
        v[i][0] = four.x, v[i][1] = four.y, v[i][2] = four.z, v[i][3] = four.w;
      } else {
        v[i][0] = there ? *f : 0;
      }
    }
    from += ALONG_K ? BK : BK * o.ld;
  }
  /// Writes what was loaded to a stage.
  __device__ __forceinline__ void put(float* stage) const {
    float* const t = stage + k_of() * PITCH + x_of();
#pragma unroll
    for (int i = 0; i < COUNT; ++i) {
      float* const to = t + k_to(i) * PITCH + x_to(i);
      if constexpr (WIDE) {
        *reinterpret_cast<float4*>(to) = make_float4(v[i][0], v[i][1], v[i][2], v[i][3]);
      } else {
        *to = v[i][0];
      }
    }
  }
};

// ## 5. Tiles that suit C
//
// A tile that sticks out of C computes zeros. For 4096 x 64 x 4096, half of each tile of 128 x 128 lies outside. One remedy is a
// test: a warp that has no element of C skips the FMAs. It goes on copying, and reaches each barrier. That is `skip_outside`.
//
//? working: On the simulator C is 140 x 13: two tiles of 128 x 128, each with 4 x 2 warps of 32 x 64 elements. How many of these 16
//?   warps multiply in `skip_outside`?
//? answer: 16 * count("skip_outside", "shared_load_requests") / count("one_tile", "shared_load_requests")
//? unit: warps
//? near: exact
//
// 5: the four on the left of the upper tile, and one of the lower. In `one_tile` all 16 do, and the result is the same.
//
//? skipping: M = K = 4096, N = 64: half of the warps lie outside of C. How much faster is `skip_outside` than `one_tile`?
//? choices: more than 1.5 times | 1.1 to 1.5 times | less than 1.1 times, or slower
//? answer: {"more than 1.5 times": ms("one_tile", "4096,64,4096") / ms("skip_outside", "4096,64,4096") > 1.5,
//?   "1.1 to 1.5 times": 1.1 < ms("one_tile", "4096,64,4096") / ms("skip_outside", "4096,64,4096") < 1.5,
//?   "less than 1.1 times, or slower": ms("one_tile", "4096,64,4096") / ms("skip_outside", "4096,64,4096") < 1.1}
//
// The test stands in the loop, around the FMAs. Half of the warps skip, and yet `skip_outside` takes 5 % longer than `one_tile`. At 4001,
// where almost none skip, it is 4 %. Why the test costs so much was not measured. For one row, 1 x 4096 x 4096, three quarters
// of the warps skip, and it is 1.6 times as fast.
//= 5 % longer: 100 * (ms("skip_outside", "4096,64,4096") / ms("one_tile", "4096,64,4096") - 1)
//= it is 4 %: 100 * (ms("skip_outside", 4001) / ms("one_tile", 4001) - 1)
//= 1.6 times as: ms("one_tile", "1,4096,4096") / ms("skip_outside", "1,4096,4096")
//
// The other remedy is a smaller tile, which wastes less but reads more: a tile of BM x BN reads (BM + BN) / (BM BN) floats for
// each FMA. A tile of 32 x 32 is 4.5 times as fast as `one_tile` at 4096 x 64 x 4096, 4.8 times at 1 x 4096 x 4096, and at
// 4001 takes 1.4 times as long. So there are tiles from 128 x 128 down to 32 x 32, and none of them skips.
//= 4.5 times as: ms("one_tile", "4096,64,4096") / ms("small_tiles/tile=32x32", "4096,64,4096")
//= 4.8 times at: ms("one_tile", "1,4096,4096") / ms("small_tiles/tile=32x32", "1,4096,4096")
//= takes 1.4 times: ms("small_tiles/tile=32x32", 4001) / ms("one_tile", 4001)

/// Where a thread's elements lie in the tile: the first of them, and whether its warp has any in C.
template <class T>
struct Seat {
  int row, col;
  bool active;
  __device__ Seat(int rows_left, int cols_left) {
    const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
    const int warp_row = T::row_of(warp), warp_col = T::col_of(warp);
    row = warp_row + ((lane >> 1 & 1) | (lane >> 3 & 2)) * 4;
    col = warp_col + ((lane & 1) | (lane >> 1 & 6)) * 4;
    active = !T::SKIP || (warp_row < rows_left && warp_col < cols_left);
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
  constexpr bool EDGES = T::STAGED || A == Lie::ALONG_K || B == Lie::ALONG_K;  // matter to copies
  const bool inside = !EDGES || (row0 + BM <= g.m && col0 + BN <= g.n);
  int steps = min(g.k, last * BK) - first * BK;  // still to be copied
  std::conditional_t<T::STAGED, Loads<T, BM, A>, Copies<T, BM, A>> a(g.a, row0, g.m - row0,
                                                                     first * BK);
  std::conditional_t<T::STAGED, Loads<T, BN, B>, Copies<T, BN, B>> b(g.b, col0, g.n - col0,
                                                                     first * BK);
  int writing = 0;
  const auto fetch = [&] {
    if constexpr (T::STAGED) {
      if (inside && steps >= BK) {
        a.template fetch<true>(g.a, BK);
        b.template fetch<true>(g.b, BK);
      } else if (steps > 0) {
        a.template fetch<false>(g.a, steps);
        b.template fetch<false>(g.b, steps);
      }
    }
  };
  const auto refill = [&] {
    if constexpr (T::STAGED) {
      if (steps <= 0) return;
      a.put(a_tiles + writing * T::A_STAGE);
      b.put(b_tiles + writing * T::B_STAGE);
      steps -= BK, writing ^= 1;
      fetch();
      return;
    } else if (steps > 0) {
      float* const to_a = a_tiles + writing * T::A_STAGE;
      float* const to_b = b_tiles + writing * T::B_STAGE;
      if (steps < BK) {
        a.template start<false, false>(g.a, to_a, steps);
        b.template start<false, false>(g.b, to_b, steps);
      } else if (inside) {
        a.template start<true, true>(g.a, to_a, BK);
        b.template start<true, true>(g.b, to_b, BK);
      } else {
        a.template start<false, true>(g.a, to_a, BK);
        b.template start<false, true>(g.b, to_b, BK);
      }
      steps -= BK;
      writing = writing + 1 == STAGES ? 0 : writing + 1;
    }
    __pipeline_commit();
  };

  float fa[2][TM], fb[2][TN];
  const float *from_a = a_tiles + seat.row, *from_b = b_tiles + seat.col;
  const auto read = [&](int l) {
#pragma unroll
    for (int q = 0; q < TM / 4; ++q)
      *reinterpret_cast<float4*>(&fa[l % 2][4 * q]) =
          *reinterpret_cast<const float4*>(from_a + l % BK * (BM + 4) + 16 * q);
#pragma unroll
    for (int q = 0; q < TN / 4; ++q)
      *reinterpret_cast<float4*>(&fb[l % 2][4 * q]) =
          *reinterpret_cast<const float4*>(from_b + l % BK * (BN + 4) + 32 * q);
  };
  const auto multiply = [&](int l) {
#pragma unroll
    for (int x = 0; x < TM * TN; ++x) {
      // Along one row; where rows are short, back along the next.
      const int i = x / TN, j = TN == 4 && i % 2 == 1 ? TN - 1 - x % TN : x % TN;
      acc[i][j] += fa[l % 2][i] * fb[l % 2][j];
    }
  };

  fetch();
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
    from_a = a_tiles + reading * T::A_STAGE + seat.row;
    from_b = b_tiles + reading * T::B_STAGE + seat.col;
    if (seat.active) {  // on to the next K-tile, if there is one
      read(BK);
      multiply(BK - 1);
    }
  }
}

__device__ __forceinline__ float4 add(float4 a, float4 b) {
  return make_float4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w);
}

/// Four neighbours of a row of C, of which `left` exist, become alpha sum + beta C.
__device__ __forceinline__ void update4(float* c, int left, bool wide, float alpha, float4 s,
                                        float beta) {
  s = make_float4(alpha * s.x, alpha * s.y, alpha * s.z, alpha * s.w);
  if (wide && left >= 4) {
    if (beta != 0) {
      const float4 o = *reinterpret_cast<const float4*>(c);
      s = add(s, make_float4(beta * o.x, beta * o.y, beta * o.z, beta * o.w));
    }
    *reinterpret_cast<float4*>(c) = s;
    return;
  }
  if (left > 0) c[0] = beta == 0 ? s.x : s.x + beta * c[0];
  if (left > 1) c[1] = beta == 0 ? s.y : s.y + beta * c[1];
  if (left > 2) c[2] = beta == 0 ? s.z : s.z + beta * c[2];
  if (left > 3) c[3] = beta == 0 ? s.w : s.w + beta * c[3];
}

// Where rows of C begin anywhere, a thread's four neighbours have to be stored one by one. Eight lanes have 32 floats of a row; if
// each stored its own four, every store of the warp would touch all sectors and fill a quarter of each. So the lanes exchange
// floats first, until each store writes eight neighbours: a transposition of 4 x 4 and one more step, six shuffles.

/// The same for 32 floats of a row, four in each of eight lanes, whose rows of C begin anywhere. All lanes of a warp take part.
///
/// c: the first of the 32 floats, of which `left` exist, none if not positive.
__device__ __forceinline__ void update_row(float* c, int left, float alpha, const float* sums,
                                           float beta) {
  const unsigned lane = threadIdx.x % 32;
  float v[4] = {sums[0], sums[1], sums[2], sums[3]};
  // Of two lanes that differ in `bit`, one keeps what is `lower`, and the other one what is `upper`.
  const auto exchange = [&](unsigned bit, float& lower, float& upper) {
    const bool is_upper = (lane & bit) != 0;
    const float theirs = __shfl_xor_sync(~0u, is_upper ? lower : upper, bit);
    (is_upper ? lower : upper) = theirs;
  };
  // The eight lanes of a row differ in bits 0, 2 and 3 (Seat).
  exchange(1, v[0], v[1]), exchange(1, v[2], v[3]);
  exchange(4, v[0], v[2]), exchange(4, v[1], v[3]);
  exchange(8, v[0], v[1]), exchange(8, v[2], v[3]);
  const int at = static_cast<int>((lane & 1) | (lane >> 1 & 6));
#pragma unroll
  for (int e = 0; e < 4; ++e) {
    const int x = at + e % 2 * 16 + e / 2 * 8;
    if (x < left) c[x] = beta == 0 ? alpha * v[e] : alpha * v[e] + beta * c[x];
  }
}

/// Writes a thread's sums to C. row0, col0: the tile's; row, col: this thread's in the tile, as Seat has them.
template <class T>
__device__ __forceinline__ void store_tile(const float (&acc)[T::TM][T::TN], const Product& g,
                                           int row0, int col0, int row, int col) {
  const int first = col0 + col - static_cast<int>((threadIdx.x & 1) | (threadIdx.x >> 1 & 6)) * 4;
#pragma unroll
  for (int i = 0; i < T::TM; ++i) {
    const int r = row0 + row + i / 4 * 16 + i % 4;
    float* const c = g.c + static_cast<size_t>(r) * g.ldc;
#pragma unroll
    for (int q = 0; q < T::TN / 4; ++q) {
      const float* const s = &acc[i][4 * q];
      if (!g.c_wide) {
        const int at = first + 32 * q;
        update_row(c + at, r < g.m ? g.n - at : 0, g.alpha, s, g.beta);
      } else if (r < g.m) {
        const int at = col0 + col + 32 * q;
        update4(c + at, g.n - at, true, g.alpha, make_float4(s[0], s[1], s[2], s[3]), g.beta);
      }
    }
  }
}

/// The tile of C of a block: groups of 8 rows of tiles, column by column.
__device__ __forceinline__ void place(int id, int rows, int cols, int& row, int& col) {
  constexpr int GROUP = 8;
  const int in_group = GROUP * cols, group = id / in_group;
  const int height = min(GROUP, rows - group * GROUP);
  row = group * GROUP + id % in_group % height, col = id % in_group / height;
}

// ## 6. In order
//
// To add up in a fixed order, each block writes its sums to memory and the last one to arrive adds up all of them, from the
// first part to the last. Which block that is, a *ticket* says: an atomic counter for each tile. The fence before the ticket
// makes the sums visible to whoever draws a later one (chapter 07).
//
// The last block reads all parts alone. In a second kernel all SMs read; but it is another launch, and waits for the first.
//
//? who_adds: 128 x 128 x 8192 has 4 tiles of 64 x 64, and K is split in 64 parts. How does the second kernel compare with tickets?
//? choices: faster | within 5 % | slower
//? answer: {"faster": ms("split_k_ordered/tickets", "128,128,8192") > 1.05 * ms("split_k_ordered/second kernel", "128,128,8192"),
//?   "within 5 %": 0.95 < ms("split_k_ordered/tickets", "128,128,8192") / ms("split_k_ordered/second kernel",
//?   "128,128,8192") < 1.05,
//?   "slower": ms("split_k_ordered/tickets", "128,128,8192") < 0.95 * ms("split_k_ordered/second kernel", "128,128,8192")}
//
// It takes 0.022 ms in place of 0.033, and is at 0.94 of cuBLAS's speed. Where there are few parts, the second launch does not pay:
// 4096 x 64 x 4096 in 4 parts takes 2 % longer with it than with tickets.
//= 0.022 ms: ms("split_k_ordered/second kernel", "128,128,8192")
//= place of 0.033: ms("split_k_ordered/tickets", "128,128,8192")
//= 0.94 of: ratio("split_k_ordered/second kernel", "128,128,8192")
//= 2 % longer: 100 * (ms("split_k_ordered/second kernel", "4096,64,4096") / ms("split_k_ordered/tickets", "4096,64,4096") - 1)

/// The first of `count` things that belong to part `part` of `parts`.
__host__ __device__ inline int share(int count, int part, int parts) {
  return static_cast<int>(static_cast<long long>(count) * part / parts);
}

/// Whether this block is the last of `parts` that draw this ticket. What the others wrote before is visible to it.
__device__ __forceinline__ bool last_to_arrive(unsigned* ticket, int parts) {
  __shared__ bool last;
  __syncthreads();  // all threads have written
  if (threadIdx.x == 0) {
    __threadfence();
    last = atomicAdd(ticket, 1u) == static_cast<unsigned>(parts) - 1;
    if (last) atomicExch(ticket, 0u);  // for the next launch
    __threadfence();
  }
  __syncthreads();
  return last;
}

/// The sum of `count` parts, `step` apart, from the first to the last. Eight are loaded at a time.
__device__ __forceinline__ float4 sum_of(const float4* from, int count, size_t step) {
  float4 sum = {};
#pragma unroll 1
  for (int p = 0; p < count; p += 8) {
    float4 v[8];
#pragma unroll
    for (int u = 0; u < 8; ++u)
      v[u] = p + u < count ? __ldcg(from + static_cast<size_t>(p + u) * step) : float4{};
#pragma unroll
    for (int u = 0; u < 8; ++u) sum = add(sum, v[u]);
  }
  return sum;
}

/// One tile of C for each block, or a part of its K.
///
/// Launch: (tiles of C) * split.parts blocks of T::THREADS threads, T::SHARED bytes of dynamic shared memory.
/// Requires: m, n >= 1; k from 0 to 2^31 - 32; m and n at most 2^31 - 256.
/// Source of the idea: CUTLASS, MmaMultistage and its parallel split-K; CUDA's sample threadFenceReduction for the
/// last block that adds up.
template <class T, Lie A, Lie B>
__global__ void __launch_bounds__(T::THREADS, T::BLOCKS)
    tile_product(const Product g, const Split split) {
  constexpr int BM = T::BM, BN = T::BN, BK = T::BK, FOURS = T::TM * T::TN / 4, Q = T::TN / 4;
  extern __shared__ float4 memory[];
  const int tile = static_cast<int>(blockIdx.x) / split.parts;
  const int part = static_cast<int>(blockIdx.x) % split.parts;
  int tile_row, tile_col;
  place(tile, (g.m - 1) / BM + 1, (g.n - 1) / BN + 1, tile_row, tile_col);
  const int row0 = tile_row * BM, col0 = tile_col * BN, k_tiles = (g.k + BK - 1) / BK;
  const int first = share(k_tiles, part, split.parts);
  const int last = share(k_tiles, part + 1, split.parts);
  const Seat<T> seat(g.m - row0, g.n - col0);
  float acc[T::TM][T::TN] = {};
  multiply_tiles<T, A, B>(acc, g, memory, seat, row0, col0, first, last);
  if (split.parts > 1) {
    float4* const all =
        split.partials + static_cast<size_t>(tile) * split.parts * (BM * BN / 4) + threadIdx.x;
#pragma unroll
    for (int x = 0; x < FOURS; ++x) {
      const float* const s = &acc[x / Q][x % Q * 4];
      __stcg(all + part * (BM * BN / 4) + x * T::THREADS, make_float4(s[0], s[1], s[2], s[3]));
    }
    if (split.tickets == nullptr || !last_to_arrive(split.tickets + tile, split.parts)) return;
#pragma unroll
    for (int x = 0; x < FOURS; ++x) *reinterpret_cast<float4*>(&acc[x / Q][x % Q * 4]) = {};
#pragma unroll(FOURS > 8 ? 1 : 16 / FOURS)
    for (int p = 0; p < split.parts; ++p) {  // always in this order
#pragma unroll
      for (int x = 0; x < FOURS; ++x) {
        float* const s = &acc[x / Q][x % Q * 4];
        const float4 v = __ldcg(all + p * (BM * BN / 4) + x * T::THREADS);
        s[0] += v.x, s[1] += v.y, s[2] += v.z, s[3] += v.w;
      }
    }
  }
  if (seat.active) store_tile<T>(acc, g, row0, col0, seat.row, seat.col);
}

/// Adds up the parts of the tiles, where tickets do not.
///
/// Launch: T::TM * T::TN / 4 blocks of T::COMPUTING threads for each tile.
template <class T>
__global__ void add_parts(const Product g, const Split split) {
  constexpr int FOURS = T::TM * T::TN / 4, Q = T::TN / 4, COUNT = T::BM * T::BN / 4;
  const int tile = static_cast<int>(blockIdx.x) / FOURS, x = static_cast<int>(blockIdx.x) % FOURS;
  int tile_row, tile_col;
  place(tile, (g.m - 1) / T::BM + 1, (g.n - 1) / T::BN + 1, tile_row, tile_col);
  const Seat<T> seat(g.m, g.n);
  const int r = tile_row * T::BM + seat.row + x / Q / 4 * 16 + x / Q % 4;
  const int at = tile_col * T::BN + seat.col + x % Q * 32;
  if (r >= g.m || at >= g.n) return;
  const float4* const all = split.partials + static_cast<size_t>(tile) * split.parts * COUNT +
                            x * T::COMPUTING + threadIdx.x;
  const float4 sum = sum_of(all, split.parts, COUNT);
  update4(g.c + static_cast<size_t>(r) * g.ldc + at, g.n - at, g.c_wide, g.alpha, sum, g.beta);
}

// ### Slices
//
// Blocks that share a tile meet in memory. The warps of one block can share K, too: each computes all of the tile over a *slice* of
// K, from a ring of K-tiles of its own. It waits for its own copies alone, so its loop needs no `__syncthreads`. At the end the
// sums of the slices meet in shared memory, in order, and all threads store rows of C side by side. A tile of 32 x 32 then has four
// or eight warps, where that of section 5 has two. `64x64 x1` on the menu is one slice of four warps: it keeps the barrier in the
// loop, and has only the stores in common with the others.
//
// In a trial with all kernels on 529 shapes, the best without slices was at 1.35 of cuBLAS in the geometric mean, and at or
// above 1 for 77 %; with slices at 1.41 and for 85 %. How much of that is due to the copies, the barrier or the stores was not
// measured.
//= 1.35 of: 1.353
//= 77 %: 100 * 0.773
//= at 1.41: 1.411
//= 85 %: 100 * 0.849

/// A tile of C for a block whose K is dealt out to SLICES groups of WARPS_M x WARPS_N warps: each group computes all BM x BN elements
/// over its share of K, in a ring of STAGES K-tiles of its own. A thread has TM x TN elements; a warp is LANES_M x 32 / LANES_M lanes.
/// BLOCKS at a time on an SM.
template <int TM_, int TN_, int WARPS_M_, int WARPS_N_, int SLICES_, int BLOCKS_, int STAGES_ = 4,
          int LANES_M_ = 4>
struct Sliced {
  static constexpr int TM = TM_, TN = TN_, WARPS_N = WARPS_N_, SLICES = SLICES_, BLOCKS = BLOCKS_;
  static constexpr int BK = 8, STAGES = STAGES_, LANES_M = LANES_M_, LANES_N = 32 / LANES_M;
  static constexpr int WARPS = WARPS_M_ * WARPS_N, SLICE = 32 * WARPS, THREADS = SLICE * SLICES;
  static constexpr int WM = LANES_M * TM, WN = LANES_N * TN, BM = WARPS_M_ * WM, BN = WARPS_N * WN;
  static constexpr int A_STAGE = BK * (BM + 4), B_STAGE = BK * (BN + 4);
  static constexpr int RING = STAGES * (A_STAGE + B_STAGE);  // floats of a slice
  static constexpr int PITCH = BN + 4, SUMS = BM * PITCH;    // of its sums
  static constexpr int REGION = RING > SUMS ? RING : SUMS;   // both have the same place
  static constexpr int SHARED = 4 * SLICES * REGION;         // bytes
  static_assert(TM % 4 == 0 && TN % 4 == 0);
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

  const bool whole = split.parts == 1;
  if (!whole) {
    const size_t tile = static_cast<size_t>(blockIdx.y) * gridDim.x + blockIdx.x;
    constexpr int COUNT = BM * BN / 4;
    float4* const partials = split.partials + tile * static_cast<size_t>(split.parts) * COUNT;
    const auto at = [&](int e) { return all + e / (BN / 4) * PITCH + e % (BN / 4) * 4; };
#pragma unroll 1
    for (int e = thread; e < COUNT; e += T::THREADS) {
      float4 sum = *reinterpret_cast<const float4*>(at(e));
#pragma unroll
      for (int s = 1; s < SLICES; ++s)
        sum = add(sum, *reinterpret_cast<const float4*>(at(e) + s * T::REGION));
      __stcg(partials + static_cast<size_t>(blockIdx.z) * COUNT + e, sum);
    }
    if (!last_to_arrive(split.tickets + tile, split.parts)) return;
#pragma unroll 1
    for (int e = thread; e < COUNT; e += T::THREADS)
      *reinterpret_cast<float4*>(at(e)) = sum_of(partials + e, split.parts, COUNT);
    __syncthreads();
  }
  float* const c = g.c + static_cast<size_t>(row0) * g.ldc + col0;
  const int rows = min(BM, g.m - row0), cols = min(BN, g.n - col0);
  if (g.c_wide) {
#pragma unroll 1
    for (int e = thread; e < rows * (BN / 4); e += T::THREADS) {
      const int i = e / (BN / 4), j = e % (BN / 4) * 4;
      if (j >= cols) continue;
      float4 sum = {};
#pragma unroll
      for (int s = 0; s < SLICES; ++s)
        if (s == 0 || whole)
          sum = add(sum, *reinterpret_cast<const float4*>(all + s * T::REGION + i * PITCH + j));
      update4(c + i * g.ldc + j, cols - j, true, g.alpha, sum, g.beta);
    }
    return;
  }
#pragma unroll 2
  for (int e = thread; e < rows * BN; e += T::THREADS) {
    const int i = e / BN, j = e % BN;
    if (j >= cols) continue;
    float sum = 0;
#pragma unroll
    for (int s = 0; s < SLICES; ++s)
      if (s == 0 || whole) sum += all[s * T::REGION + i * PITCH + j];
    float& to = c[i * g.ldc + j];
    to = g.beta == 0 ? g.alpha * sum : g.alpha * sum + g.beta * to;
  }
}

// ## 7. Thin products
//
//? thin_floor: A matrix of 4096 x 4096 times a vector. What share of the rate of a copy does `thin` reach, in per cent?
//? answer: 100 * 4 * (4096 * 4096 + 2 * 4096) / (1e6 * ms("thin", "1,4096,4096")) / limit("copy")
//? unit: per cent
//? near: factor 2
//
// If C has a few rows, the bytes of B are the floor: each of its floats is used a few times. So stream B by, as a copy would. For one row
// that takes 0.025 ms, and the best of the tiles, split along K, 0.062. It is 62 % of the rate of a copy; cuBLAS, with 0.022 ms,
// reaches more. At 4096 x 16 x 4096 streaming no longer pays: it takes 0.087 ms, tiles split along K 0.073, and slices of 64 x 16,
// which the function chooses, 0.040.
//= takes 0.025 ms: ms("thin", "1,4096,4096")
//= 0.062: min(ms("split_k_ordered/tickets", "1,4096,4096"), ms("split_k_atomic", "1,4096,4096"),
//=   ms("small_tiles/tile=32x32", "1,4096,4096"))
//= 62 %: 100 * 4 * (4096 * 4096 + 2 * 4096) / (1e6 * ms("thin", "1,4096,4096")) / limit("copy")
//= with 0.022 ms: ms("cublas", "1,4096,4096")
//= 0.087 ms: ms("thin", "4096,16,4096")
//= 0.073: ms("split_k_ordered/tickets", "4096,16,4096")
//= 0.040: ms("choose", "4096,16,4096")
//
// `x` is the small operand and `y` the large one. Threads hold float4s of y in registers and take
// x from shared memory; every thread adds to all rows of x. Where C has few columns instead, its transpose has few rows.
//
// Which lanes of a warp hold what depends on how y lies. Across K, a warp's lanes have neighbouring columns and each adds up
// its own; along K, they have neighbouring elements of one row, and shuffle at the end.

/// A thin product: C (m, n) with m at most MT. x (m, k) and y (k, n); element (i, j) of C is c[i * c_i + j * c_j].
struct Thin {
  int m, n, k;
  Operand x, y;
  float alpha, beta;
  float* c;
  size_t c_i, c_j;
  bool c_wide;  ///< c_j is 1, and the rows of C begin at multiples of 16 bytes
};

__device__ __forceinline__ float element(const Operand& o, int x, int l) {
  return o.along_k ? o.data[x * o.ld + l] : o.data[l * o.ld + x];
}

/// Adds up what the parts of a tile have, `count` float4s of shared memory each, and hands the sums to store(element,
/// sum) in one of the blocks.
template <int THREADS, class Store>
__device__ __forceinline__ void combine(const float4* sums, int count, int tile, int part,
                                        const Split& split, Store store) {
  const int tid = static_cast<int>(threadIdx.x);
  __syncthreads();  // the sums are there
  if (split.parts == 1) {
    for (int e = tid; e < count; e += THREADS) {
      const float4 sum = sums[e];
      store(e, sum);
    }
    return;
  }
  float4* const all = split.partials + static_cast<size_t>(tile) * split.parts * count;
  for (int e = tid; e < count; e += THREADS) {
    const float4 sum = sums[e];
    __stcg(all + part * count + e, sum);
  }
  if (!last_to_arrive(split.tickets + tile, split.parts)) return;
  if (32 * count <= THREADS) {  // a warp for each element
    if (tid >= 32 * count) return;
    const int e = tid / 32;
    float4 sum = {};
#pragma unroll 8
    for (int p = tid % 32; p < split.parts; p += 32) sum = add(sum, __ldcg(all + p * count + e));
#pragma unroll
    for (int d = 16; d > 0; d /= 2)
      sum = add(sum, make_float4(__shfl_xor_sync(~0u, sum.x, d), __shfl_xor_sync(~0u, sum.y, d),
                                 __shfl_xor_sync(~0u, sum.z, d), __shfl_xor_sync(~0u, sum.w, d)));
    if (tid % 32 == 0) store(e, sum);
    return;
  }
  for (int e = tid; e < count; e += THREADS) {
    store(e, sum_of(all + e, split.parts, static_cast<size_t>(count)));
  }
}

__device__ __forceinline__ void update_thin(const Thin& g, int i, int j, float4 sum) {
  if (g.c_j == 1) {
    update4(g.c + i * g.c_i + j, g.n - j, g.c_wide, g.alpha, sum, g.beta);
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

/// y does not lie along K: a block has 4 * LANES columns, a thread four of them, and WARPS * 32 / LANES rows of y at a time.
///
/// Launch: ceil(n / (4 LANES)) * split.parts blocks of 32 WARPS threads. VEC: rows of y begin at
/// multiples of 16 bytes.
/// Requires: m at most MT.
template <int MT, int LANES, int WARPS, bool VEC>
__global__ void __launch_bounds__(32 * WARPS) thin_columns(const Thin g, const Split split) {
  constexpr int BJ = 4 * LANES, ROWS = 32 * WARPS / LANES, U = MT >= 16 ? 4 : 8, CHUNK = ROWS * U;
  constexpr int THREADS = 32 * WARPS;
  // Threads write four rows of x and eight steps of K, or rows side by side; both to different banks.
  constexpr int PITCH = MT >= 8 ? MT + 4 : MT;
  __shared__ __align__(16) float xs[2][CHUNK][PITCH];
  __shared__ float4 sums[MT * LANES];
  const int tile = static_cast<int>(blockIdx.x) / split.parts;
  const int part = static_cast<int>(blockIdx.x) % split.parts;
  const int col0 = tile * BJ, tid = static_cast<int>(threadIdx.x), lane = tid % LANES,
            row = tid / LANES;
  const int begin = share(g.k, part, split.parts), end = share(g.k, part + 1, split.parts);
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
        const float* from = g.y.data + static_cast<size_t>(l) * g.y.ld + col;
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
      // Eight neighbouring floats of x are a sector, whichever way it lies.
      constexpr int SIDE = MT < 4 ? MT : 4;
      const int l = g.x.along_k ? e / SIDE % CHUNK : e / MT;
      const int i = g.x.along_k ? e % SIDE + e / (SIDE * CHUNK) * SIDE : e % MT;
      xs[which][l][i] = i < g.m && l0 + l < end ? element(g.x, i, l0 + l) : 0;
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
  combine<THREADS>(sums, MT * LANES, tile, part, split, [&](int e, float4 sum) {
    const int i = e / LANES, j = col0 + e % LANES * 4;
    if (i < g.m && j < g.n) update_thin(g, i, j, sum);
  });
}

/// y lies along K: a warp has JR columns of C at a time; WARPS_K warps share them.
///
/// Launch: ceil(n / (JR WARPS_J)) * split.parts blocks of 32 WARPS_J WARPS_K threads. VEC as for
/// thin_columns.
/// Requires: m at most MT.
template <int MT, int JR, int WARPS_J, int WARPS_K, bool VEC>
__global__ void __launch_bounds__(32 * WARPS_J * WARPS_K)
    thin_rows(const Thin g, const Split split) {
  constexpr int BJ = JR * WARPS_J, THREADS = 32 * WARPS_J * WARPS_K, STEP = 128 * WARPS_K;
  static_assert(BJ % 4 == 0);
  // A chunk of x, and the next. Threads write four steps of K of eight rows: to different banks.
  __shared__ __align__(16) float xs[2][MT][STEP + 4];
  __shared__ float parts_of[WARPS_K][MT * BJ];
  __shared__ float4 sums[MT * BJ / 4];
  const int tile = static_cast<int>(blockIdx.x) / split.parts;
  const int part = static_cast<int>(blockIdx.x) % split.parts;
  const int tid = static_cast<int>(threadIdx.x), lane = tid % 32, warp = tid / 32;
  const int warp_j = warp % WARPS_J, warp_k = warp / WARPS_J;
  const int col0 = tile * BJ;
  // In units of 4 floats, so that a part begins where float4s do.
  const int fours = (g.k + 3) / 4;
  const int begin = share(fours, part, split.parts) * 4;
  const int end = min(g.k, share(fours, part + 1, split.parts) * 4);
  constexpr int S = VEC ? 1 : 32;  // floats between the four of a lane
  const int first = 128 * warp_k + (VEC ? 4 * lane : lane);
  float acc[MT][JR] = {};
  const float* y[JR];
#pragma unroll
  for (int j = 0; j < JR; ++j)
    y[j] = g.y.data + static_cast<size_t>(min(col0 + warp_j * JR + j, g.n - 1)) * g.y.ld;
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
    // Eight neighbouring floats of x are a sector, whichever way it lies.
    for (int e = tid; e < MT * STEP; e += THREADS) {
      const int i = g.x.along_k ? e / STEP : e / 4 % MT;
      const int k = g.x.along_k ? e % STEP : e % 4 + e / (4 * MT) * 4;
      xs[which][i][k] = i < g.m && l0 + k < end ? element(g.x, i, l0 + k) : 0;
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
  combine<THREADS>(sums, MT * BJ / 4, tile, part, split, [&](int e, float4 sum) {
    const int i = e / (BJ / 4), j = col0 + e % (BJ / 4) * 4;
    if (i < g.m && j < g.n) update_thin(g, i, j, sum);
  });
}

// ## 8. Little products
//
// 30 x 30 x 30 does not need shared memory. Up to 32 lanes share an element of C, and read A and B where they lie. Where C has a
// few elements and K is long, a block shares one. 32 x 32 x 32 takes cuBLAS 2.1 times as long.
//= 2.1 times as: shapes("32,32,32")

/// Little work: `lanes` threads for each element of C, straight from global memory.
///
/// Launch: blocks of THREADS threads, `lanes` threads, a power of two up to 32, for each element of C.
template <int THREADS>
__global__ void __launch_bounds__(THREADS) little_product(const Product g, int lanes) {
  const size_t x = size_t{blockIdx.x} * THREADS + threadIdx.x, element_of = x / lanes;
  const bool there = element_of < static_cast<size_t>(g.m) * static_cast<size_t>(g.n);
  const int i = there ? static_cast<int>(element_of / g.n) : 0;
  const int j = there ? static_cast<int>(element_of % g.n) : 0;
  const float* a = g.a.data + i * (g.a.along_k ? g.a.ld : 1);
  const float* b = g.b.data + j * (g.b.along_k ? g.b.ld : 1);
  const size_t a_l = g.a.along_k ? 1 : g.a.ld, b_l = g.b.along_k ? 1 : g.b.ld;
  float sum = 0;
  int l = static_cast<int>(x % lanes);
  constexpr int U = 8;
  for (; l + (U - 1) * lanes < g.k; l += U * lanes) {
    float fa[U], fb[U];
#pragma unroll
    for (int u = 0; u < U; ++u) fa[u] = a[(l + u * lanes) * a_l], fb[u] = b[(l + u * lanes) * b_l];
#pragma unroll
    for (int u = 0; u < U; ++u) sum += fa[u] * fb[u];
  }
  if (l < g.k) {  // what is left is loaded at once, too
    float fa[U], fb[U];
#pragma unroll
    for (int u = 0; u < U; ++u) {
      const bool there = l + u * lanes < g.k;
      fa[u] = there ? a[(l + u * lanes) * a_l] : 0, fb[u] = there ? b[(l + u * lanes) * b_l] : 0;
    }
#pragma unroll
    for (int u = 0; u < U; ++u) sum += fa[u] * fb[u];
  }
  for (int d = lanes / 2; d > 0; d /= 2) sum += __shfl_xor_sync(~0u, sum, d);
  if (there && x % lanes == 0) {
    float* const c = g.c + i * g.ldc + j;
    *c = g.beta == 0 ? g.alpha * sum : g.alpha * sum + g.beta * *c;
  }
}

/// An element of C for each block, whose threads share K: for few elements and a longer K than 32 lanes are quick with.
///
/// Launch: m n blocks of THREADS threads.
template <int THREADS>
__global__ void __launch_bounds__(THREADS) little_block(const Product g) {
  const int tid = static_cast<int>(threadIdx.x);
  const int i = static_cast<int>(blockIdx.x) / g.n, j = static_cast<int>(blockIdx.x) % g.n;
  const float* a = g.a.data + i * (g.a.along_k ? g.a.ld : 1);
  const float* b = g.b.data + j * (g.b.along_k ? g.b.ld : 1);
  const size_t a_l = g.a.along_k ? 1 : g.a.ld, b_l = g.b.along_k ? 1 : g.b.ld;
  float sum = 0;
  constexpr int U = 8;
#pragma unroll 1
  for (int l = tid; l < g.k; l += U * THREADS) {
    float fa[U], fb[U];
#pragma unroll
    for (int u = 0; u < U; ++u) {
      const bool there = l + u * THREADS < g.k;
      fa[u] = there ? a[(l + u * THREADS) * a_l] : 0;
      fb[u] = there ? b[(l + u * THREADS) * b_l] : 0;
    }
#pragma unroll
    for (int u = 0; u < U; ++u) sum += fa[u] * fb[u];
  }
#pragma unroll
  for (int d = 16; d > 0; d /= 2) sum += __shfl_xor_sync(~0u, sum, d);
  __shared__ float sums[THREADS / 32];
  if (tid % 32 == 0) sums[tid / 32] = sum;
  __syncthreads();
  if (tid > 0) return;
  sum = 0;
#pragma unroll
  for (int w = 0; w < THREADS / 32; ++w) sum += sums[w];
  float* const c = g.c + i * g.ldc + j;
  *c = g.beta == 0 ? g.alpha * sum : g.alpha * sum + g.beta * *c;
}

// ## 9. Stream-K
//
// At one tile for each SM, 133 tiles on 132 SMs take as long as 264. {term}`Stream-K` gives each block the same number of K-tiles;
// chapter 12 does that with blocks that must all run at the same time. Here they need not. A block draws its number from a ticket
// as it begins, and waits only for blocks with smaller numbers, which have begun before: the block with the *end* of a tile adds
// up. Each block takes its pieces from the last to the first, so it writes what others wait for before it waits itself.
//
//? end_collects: Why does the block with the end of a tile add up, and not the one with its beginning?
//? choices: it has more K-tiles | the others have begun before it | the order of the sums
//? answer: "the others have begun before it"
//
// Its predecessors have smaller numbers, so they hold an SM or are done. If the first block collected, it would wait for later
// ones, and these might wait for its SM.
//
// 1500 x 1500 x 1500 has 144 tiles of 128 x 128, and `stream_k` is 1.7 times as fast as `one_tile`. At 4001 there are 1,024 tiles
// for 264 places, two on each SM: four waves that are 97 % full, so there is little to gain. `stream_k` takes 11 % longer; what
// of it costs that was not measured.
//= 144: (1500 // 128 + 1) ** 2
//= 1.7 times as: ms("one_tile", 1500) / ms("stream_k", 1500)
//= 1,024: (4001 // 128 + 1) ** 2
//= 264 places: 2 * 132
//= 97 % full: 100 * 1024 / (4 * 264)
//= 11 % longer: 100 * (ms("stream_k", 4001) / ms("one_tile", 4001) - 1)

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
/// Launch: any number of blocks of T::THREADS threads that is the one `Shares` was made for, T::SHARED bytes of dynamic
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
    if (seat.active) store_tile<T>(acc, g, row0, col0, seat.row, seat.col);
    __syncthreads();  // the ring is free
  }
}

// ## 10. The launches

// What the workspace holds: tickets, all 0 between two products, and sums of parts.
constexpr size_t WORKSPACE = size_t{32} << 20;                       ///< bytes
constexpr int TICKETS = 60000, FLAGS = 5536;                         // of splits; of Stream-K
constexpr size_t PARTIALS = WORKSPACE / 16 - (TICKETS + FLAGS) / 4;  // float4s

/// Calls take with A and B as template arguments. If one of them has to be copied float by float, the other one is, too,
/// unless it lies along K: seven combinations are left of nine.
template <class Take>
cudaError_t with_lies(const Product& g, Take take) {
  const bool a_wide = g.a.wide && (g.b.along_k || g.b.wide),
             b_wide = g.b.wide && (g.a.along_k || g.a.wide);
  if (g.a.along_k) {
    if (g.b.along_k) return take.template operator()<Lie::ALONG_K, Lie::ALONG_K>();
    return b_wide ? take.template operator()<Lie::ALONG_K, Lie::WIDE>()
                  : take.template operator()<Lie::ALONG_K, Lie::FLOATS>();
  }
  if (g.b.along_k)
    return a_wide ? take.template operator()<Lie::WIDE, Lie::ALONG_K>()
                  : take.template operator()<Lie::FLOATS, Lie::ALONG_K>();
  return a_wide && b_wide ? take.template operator()<Lie::WIDE, Lie::WIDE>()
                          : take.template operator()<Lie::FLOATS, Lie::FLOATS>();
}

/// The same for staged tiles, whose operands are not both along K. Beside one along K the other one is taken float by float.
template <class Take>
cudaError_t with_own_lies(const Product& g, Take take) {
  if (g.a.along_k && g.b.along_k) return cudaErrorNotSupported;
  if (g.a.along_k) return take.template operator()<Lie::ALONG_K, Lie::FLOATS>();
  if (g.b.along_k) return take.template operator()<Lie::FLOATS, Lie::ALONG_K>();
  if (g.a.wide)
    return g.b.wide ? take.template operator()<Lie::WIDE, Lie::WIDE>()
                    : take.template operator()<Lie::WIDE, Lie::FLOATS>();
  return g.b.wide ? take.template operator()<Lie::FLOATS, Lie::WIDE>()
                  : take.template operator()<Lie::FLOATS, Lie::FLOATS>();
}

template <class T>
cudaError_t launch_tile(const Product& g, int parts, bool second, void* workspace,
                        cudaStream_t stream) {
  unsigned* const tickets = static_cast<unsigned*>(workspace);
  const Split split{parts, reinterpret_cast<float4*>(tickets + TICKETS + FLAGS),
                    second ? nullptr : tickets};
  const unsigned tiles =
      static_cast<unsigned>((g.m - 1) / T::BM + 1) * static_cast<unsigned>((g.n - 1) / T::BN + 1);
  const auto launch = [&]<Lie A, Lie B>() {
    const auto kernel = tile_product<T, A, B>;
    const cudaError_t set =
        cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, T::SHARED);
    if (set != cudaSuccess) return set;
    kernel<<<tiles* static_cast<unsigned>(parts), T::THREADS, T::SHARED, stream>>>(g, split);
    return cudaGetLastError();
  };
  cudaError_t error;
  if constexpr (T::STAGED) {
    error = with_own_lies(g, launch);
  } else {
    error = with_lies(g, launch);
  }
  if (error != cudaSuccess || !second) return error;
  add_parts<T><<<tiles*(T::TM * T::TN / 4), T::THREADS, 0, stream>>>(g, split);
  return cudaGetLastError();
}

/// How Stream-K deals out a product to the blocks that the SMs hold at a time.
template <class T>
cudaError_t deal_out(const Product& g, void* workspace, int& blocks, Shares& shares) {
  unsigned* const flags = static_cast<unsigned*>(workspace) + TICKETS;
  int device, sms;
  cudaError_t error = cudaGetDevice(&device);
  if (error == cudaSuccess)
    error = cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device);
  if (error != cudaSuccess) return error;
  blocks = sms * T::BLOCKS;
  const int tiles = ((g.m - 1) / T::BM + 1) * ((g.n - 1) / T::BN + 1);
  const int rest = tiles % blocks, cut = rest == 0 ? 0 : tiles < blocks ? rest : rest + blocks;
  const long long left = 1LL * cut * ((g.k + T::BK - 1) / T::BK);
  shares = {tiles,
            tiles - cut,
            static_cast<int>(left % blocks),
            left / blocks,
            reinterpret_cast<float4*>(flags + FLAGS),
            flags + 1,
            flags};
  return cudaSuccess;
}

template <class T>
cudaError_t launch_stream(const Product& g, int, bool, void* workspace, cudaStream_t stream) {
  int blocks;
  Shares shares;
  const cudaError_t error = deal_out<T>(g, workspace, blocks, shares);
  if (error != cudaSuccess) return error;
  return with_lies(g, [&]<Lie A, Lie B>() {
    const auto kernel = stream_k<T, A, B>;
    const cudaError_t set =
        cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, T::SHARED);
    if (set != cudaSuccess) return set;
    kernel<<<static_cast<unsigned>(blocks), T::THREADS, T::SHARED, stream>>>(g, shares);
    return cudaGetLastError();
  });
}

template <class T>
cudaError_t launch_sliced(const Product& g, int parts, bool, void* workspace, cudaStream_t stream) {
  unsigned* const tickets = static_cast<unsigned*>(workspace);
  const Split split{parts, reinterpret_cast<float4*>(tickets + TICKETS + FLAGS), tickets};
  const dim3 grid(static_cast<unsigned>((g.n - 1) / T::BN + 1),
                  static_cast<unsigned>((g.m - 1) / T::BM + 1), static_cast<unsigned>(parts));
  return with_lies(g, [&]<Lie A, Lie B>() {
    const auto kernel = sliced_product<T, A, B>;
    const cudaError_t set =
        cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, T::SHARED);
    if (set != cudaSuccess) return set;
    kernel<<<grid, T::THREADS, T::SHARED, stream>>>(g, split);
    return cudaGetLastError();
  });
}

/// The product as a thin one: its transpose where C has fewer columns than rows.
inline Thin thin_of(const Product& g) {
  if (g.m <= g.n) return {g.m, g.n, g.k, g.a, g.b, g.alpha, g.beta, g.c, g.ldc, 1, g.c_wide};
  return {g.n, g.m, g.k, g.b, g.a, g.alpha, g.beta, g.c, 1, g.ldc, false};
}

inline bool aligned16(const float* data, size_t ld) {
  return (reinterpret_cast<size_t>(data) | ld * sizeof(float)) % 16 == 0;
}

template <int MT, int LANES, int WARPS>
cudaError_t launch_columns(const Product& g, int parts, bool, void* workspace,
                           cudaStream_t stream) {
  unsigned* const tickets = static_cast<unsigned*>(workspace);
  const Split split{parts, reinterpret_cast<float4*>(tickets + TICKETS + FLAGS), tickets};
  const Thin t = thin_of(g);
  const unsigned blocks =
      static_cast<unsigned>((t.n - 1) / (4 * LANES) + 1) * static_cast<unsigned>(parts);
  if (aligned16(t.y.data, t.y.ld)) {
    thin_columns<MT, LANES, WARPS, true><<<blocks, 32 * WARPS, 0, stream>>>(t, split);
  } else {
    thin_columns<MT, LANES, WARPS, false><<<blocks, 32 * WARPS, 0, stream>>>(t, split);
  }
  return cudaGetLastError();
}

template <int MT, int JR, int WARPS_J, int WARPS_K>
cudaError_t launch_rows(const Product& g, int parts, bool, void* workspace, cudaStream_t stream) {
  unsigned* const tickets = static_cast<unsigned*>(workspace);
  const Split split{parts, reinterpret_cast<float4*>(tickets + TICKETS + FLAGS), tickets};
  const Thin t = thin_of(g);
  const unsigned blocks =
      static_cast<unsigned>((t.n - 1) / (JR * WARPS_J) + 1) * static_cast<unsigned>(parts);
  constexpr int THREADS = 32 * WARPS_J * WARPS_K;
  if (aligned16(t.y.data, t.y.ld)) {
    thin_rows<MT, JR, WARPS_J, WARPS_K, true><<<blocks, THREADS, 0, stream>>>(t, split);
  } else {
    thin_rows<MT, JR, WARPS_J, WARPS_K, false><<<blocks, THREADS, 0, stream>>>(t, split);
  }
  return cudaGetLastError();
}

template <int LANES>
cudaError_t launch_little(const Product& g, int, bool, void*, cudaStream_t stream) {
  const size_t elements = static_cast<size_t>(g.m) * static_cast<size_t>(g.n);
  if constexpr (LANES > 32) {
    little_block<LANES><<<static_cast<unsigned>(elements), LANES, 0, stream>>>(g);
  } else {
    little_product<128>
        <<<static_cast<unsigned>((elements * LANES + 127) / 128), 128, 0, stream>>>(g, LANES);
  }
  return cudaGetLastError();
}

using Tile128x128 = Tile<128, 128, 8, 8, 4, 2, 2>;
using Tile128x64 = Tile<128, 64, 8, 8, 4, 1, 3>;
using Tile64x64 = Tile<64, 64, 8, 4, 2, 2, 5>;
using Tile32x128 = Tile<32, 128, 8, 4, 1, 4, 5>;
using Tile64x32 = Tile<64, 32, 4, 4, 4, 1, 8>;
using Tile32x64 = Tile<32, 64, 4, 4, 2, 2, 8>;
using Tile32x32 = Tile<32, 32, 4, 4, 2, 1, 8>;
// Fewer blocks on an SM: the floats on their way need registers.
using Staged64x64 = Tile<64, 64, 8, 4, 2, 2, 4, false, true>;
using Staged32x64 = Tile<32, 64, 4, 4, 2, 2, 5, false, true>;
using Staged32x32 = Tile<32, 32, 4, 4, 2, 1, 8, false, true>;

// Tiles in slices; the last has one slice, and what it keeps is the way that rows are stored.
using Sliced32x32x4 = Sliced<8, 4, 1, 1, 4, 4>;
using Sliced32x32x8 = Sliced<8, 4, 1, 1, 8, 2>;
using Sliced16x64x4 = Sliced<4, 8, 1, 1, 4, 4>;
using Sliced64x16x4 = Sliced<8, 4, 1, 1, 4, 4, 4, 8>;
using Sliced64x64x1 = Sliced<8, 4, 2, 2, 1, 5, 6>;

enum class Kind {
  TILE,
  STREAM,
  COLUMNS,
  ROWS,
  LITTLE,
  SPECIALIZED,
  SPECIALIZED_STREAM,
  SLICED,
  STAGED
};

}  // namespace ANY_PRODUCT_MENU
}  // namespace any_product

#ifdef ANY_PRODUCT_SPECIALIZED  // nvcc -gencode arch=compute_90a,code=sm_90a, for Hopper alone
#include "specialized_sm90.cuh"
#endif

namespace any_product {
inline namespace ANY_PRODUCT_MENU {

// ## 11. The choice
//
// Which kernel, and in how many parts? A model answers, not a table of shapes. It knows of each kernel how long the first
// K-tile takes to arrive, what a K-tile costs a block that is alone on its SM and one of many, the epilogue, and what it
// costs to add up parts. Blocks go in waves, as in chapter 12. Bytes have a rate. FMAs and bytes overlap, so the larger of the two
// counts, and a little more where they are alike.
//
// A product of one wave has three terms: launch with first K-tile, wave, and *fix-up*, the adding up of parts. Take 128 x 128 x 8192
// by tiles of 64 x 64 in 64 parts: 256 blocks of 8 K-tiles, two on an SM. By the constants below, launch and wave take 10.2
// microseconds; the fix-up takes 27 with tickets, 0.40 for each part, and 5.0 with a second kernel. That is 38 or 15 in all, where
// section 6 recorded 33 and 22. A constant alone is no measurement: only sums were timed. `little 32` has 0.001 for its start.
//= 10.2: 2.65 + 8 * (0.52 ** 4 + (2 * 0.372 * 1.0665) ** 4) ** 0.25 + 2 * 0.479
//= takes 27: 1.44 + 64 * 0.404
//= 0.40 for each: 0.404
//= and 5.0: 0.549 + 64 * (0.04 + 0.439 * 128 * 128 * 4e-6)
//= 38 or 15: (2.65 + 8 * (0.52 ** 4 + (2 * 0.372 * 1.0665) ** 4) ** 0.25 + 2 * 0.479 + 1.44 + 64 * 0.404,
//=   2.65 + 8 * (0.52 ** 4 + (2 * 0.372 * 1.0665) ** 4) ** 0.25 + 2 * 0.479 + 0.549 + 64 * (0.04 + 0.439 * 128 * 128 * 4e-6))
//= 33 and 22: (1000 * ms("split_k_ordered/tickets", "128,128,8192"), 1000 * ms("split_k_ordered/second kernel", "128,128,8192"))
//
// The constants are fitted to timings on an H200 of all kernels on 1,809 shapes, others than the random ones of the map: to what the choice
// by them loses, and to the errors of the estimates, which count most near the best kernel of a shape. On another GPU the number of SMs is its own and the rest is taken as it is; that has not been measured.

/// What the model knows of a kernel. In microseconds on an H200: from the launch to the first K-tile; a K-tile of 16 for a block
/// that is alone on its SM, and for each of many; the epilogue of a block. As shares of a K-tile: an operand along K; one copied
/// float by float; what lies outside of C; and of the epilogue: rows of C that do not begin at multiples of 16 bytes. Then: adding up parts,
/// and for each part; a second kernel, and for each MB that it reads; Stream-K, and for each block that has a share of a tile.
/// Last, how many MB of A, B and C it moves in a microsecond.
struct Costs {
  float start, alone, each, epilogue, along, floats, edge, ragged, last, last_part, second,
      second_mb, stream, stream_part, bytes;
};

/// One line of the menu.
struct Kernel {
  const char* name;
  Kind kind;
  int bm, bn;  ///< tile; thin: rows of x at most, columns of a block; little: lanes, 1
  int blocks;  ///< at a time on an SM
  cudaError_t (*launch)(const Product&, int parts, bool second, void* workspace, cudaStream_t);
  Costs costs;
  int k_step = 16;  ///< steps of K that a block multiplies at a time
};

template <class T>
constexpr Kernel sliced(const char* name, const Costs& costs) {
  return {name, Kind::SLICED, T::BM, T::BN, T::BLOCKS, launch_sliced<T>, costs, T::BK * T::SLICES};
}

template <class T>
constexpr Kernel tile(const char* name, const Costs& costs) {
  return {name, T::STAGED ? Kind::STAGED : Kind::TILE, T::BM, T::BN, T::BLOCKS, launch_tile<T>,
          costs};
}

#ifdef ANY_PRODUCT_SPECIALIZED
template <class T>
constexpr Kernel special(const char* name, const Costs& costs) {
  return {name, Kind::SPECIALIZED, T::BM, T::BN, T::BLOCKS, launch_specialized<T>, costs};
}
template <class T>
constexpr Kernel special_stream(const char* name, const Costs& costs) {
  return {name,      Kind::SPECIALIZED_STREAM,     T::BM, T::BN,
          T::BLOCKS, launch_specialized_stream<T>, costs};
}
#endif

inline constexpr Kernel menu[] = {
#ifdef ANY_PRODUCT_SPECIALIZED
    special<Special128x256>("128x256 special",
                            {2.55f, 2.58f, 1.06f, 8.04f, 0.534f, 0.41f, 0.0497f, 0.588f, 4.21f,
                             0.895f, 0.0334f, 0.0523f, 3, 1, 1.54f}),
    special_stream<Special192x128>("192x128 special stream",
                                   {7.7f, 2, 0.16f, 5.08f, 2.9f, 3.39f, 0.392f, 0.889f, 2, 0.3f, 2,
                                    0.3f, 0.309f, 1.22f, 6.66f}),
    special<Special128x192>("128x192 special",
                            {2.71f, 0.488f, 1.99f, 5.9f, 0.0375f, 0.0313f, 0.00213f, 0.592f, 2.99f,
                             0.472f, 0.0634f, 0.0779f, 3, 1, 1.74f}),
    special_stream<Special128x192>("128x192 special stream",
                                   {7.48f, 1.96f, 0.776f, 4.76f, 0.425f, 0.437f, 0.352f, 0.93f, 2,
                                    0.3f, 2, 0.3f, 0.242f, 1.15f, 7.84f}),
    special<Special128x128>("128x128 special",
                            {1.31f, 0.164f, 1.38f, 4.97f, 0.0195f, 0.0203f, 0.000212f, 0.42f, 2.8f,
                             0.454f, 0.383f, 0.0872f, 3, 1, 1.69f}),
    special_stream<Special128x128>("128x128 special stream",
                                   {5.77f, 1.39f, 0.334f, 2.94f, 0.626f, 0.0426f, 0.0424f, 1.05f, 2,
                                    0.3f, 2, 0.3f, 0.342f, 1.08f, 4.56f}),
    special<Special64x256>("64x256 special",
                           {2.52f, 0.205f, 1.36f, 5.23f, 0.0626f, 0.0596f, 0.0213f, 0.467f, 2.31f,
                            0.426f, 0.344f, 0.0215f, 3, 1, 5.53f}),
#else
    tile<Tile128x128>("128x128", {1.01f, 2.28f, 1.61f, 1.85f, 0.0217f, 0.0685f, 0.0206f, 0.71f,
                                  4.18f, 0.55f, 1.15f, 0.269f, 3, 1, 1.52f}),
    {"128x128 stream",
     Kind::STREAM,
     128,
     128,
     2,
     launch_stream<Tile128x128>,
     {3.02f, 3.29f, 1.04f, 2.18f, 0.578f, 0.0489f, 0.0121f, 3, 2, 0.3f, 2, 0.3f, 0.268f, 0.116f,
      2.69f}},
    tile<Tile128x64>("128x64", {2.99f, 0.998f, 0.655f, 1.44f, 0.0831f, 0.217f, 0.0258f, 0.387f,
                                1.68f, 0.484f, 0.0219f, 0.275f, 3, 1, 2.03f}),
#endif
    tile<Tile64x64>("64x64", {2.65f, 0.52f, 0.372f, 0.479f, 0.0665f, 0.155f, 0.000321f, 0.581f,
                              1.44f, 0.404f, 0.549f, 0.439f, 3, 1, 10.1f}),
    tile<Tile32x128>("32x128", {2.52f, 0.533f, 0.376f, 0.463f, 0.175f, 0.284f, 0.308f, 0.357f,
                                1.29f, 0.447f, 0.488f, 0.508f, 3, 1, 8.71f}),
    tile<Tile64x32>("64x32", {2.21f, 0.319f, 0.23f, 0.256f, 0.178f, 0.488f, 0.122f, 0.00566f, 1.38f,
                              0.21f, 1.06f, 0.905f, 3, 1, 3.56f}),
    tile<Tile32x64>("32x64", {2.09f, 0.32f, 0.223f, 0.279f, 0.156f, 0.434f, 0.197f, 0.00484f, 1.53f,
                              0.203f, 1.34f, 0.594f, 3, 1, 4.9f}),
    tile<Tile32x32>("32x32", {2.17f, 0.319f, 0.133f, 0.16f, 0.0515f, 0.265f, 0.178f, 0.284f, 1.57f,
                              0.0795f, 1.22f, 1.08f, 3, 1, 5.62f}),
    tile<Staged64x64>("64x64 staged", {2.34f, 0.662f, 0.377f, 0.512f, 0.0338f, 0.0337f, 0.0363f,
                                       0.567f, 1.77f, 0.234f, 0.354f, 0.339f, 3, 1, 10.6f}),
    tile<Staged32x64>("32x64 staged", {1.51f, 0.547f, 0.212f, 0.462f, 0.072f, 0.0743f, 0.0596f,
                                       0.00501f, 1.62f, 0.142f, 0.971f, 0.574f, 3, 1, 3.56f}),
    tile<Staged32x32>("32x32 staged", {1.72f, 0.55f, 0.124f, 0.184f, 0.0694f, 0.081f, 0.0834f,
                                       0.484f, 1.62f, 0.0651f, 0.866f, 1.16f, 3, 1, 3.46f}),
    sliced<Sliced32x32x4>("32x32 x4", {1.46f, 0.388f, 0.263f, 0.277f, 0.0501f, 0.192f, 0.00802f,
                                       0.594f, 2.5f, 0.0293f, 2, 0.3f, 3, 1, 1.7f}),
    sliced<Sliced32x32x8>("32x32 x8", {0.837f, 0.537f, 0.501f, 0.746f, 0.0654f, 0.277f, 0.309f,
                                       0.102f, 2.15f, 0.0181f, 2, 0.3f, 3, 1, 2.14f}),
    sliced<Sliced16x64x4>("16x64 x4", {1.55f, 0.264f, 0.329f, 0.164f, 0.159f, 0.269f, 0.0713f,
                                       1.25f, 2.3f, 0.0386f, 2, 0.3f, 3, 1, 5.21f}),
    sliced<Sliced64x16x4>("64x16 x4", {1.57f, 0.297f, 0.336f, 0.232f, 0.125f, 0.338f, 0.00144f,
                                       0.653f, 2.41f, 0.023f, 2, 0.3f, 3, 1, 2.44f}),
    sliced<Sliced64x64x1>("64x64 x1", {1.61f, 0.46f, 0.212f, 0.583f, 0.0534f, 0.14f, 0.000851f,
                                       1.02f, 6.76f, 0.154f, 2, 0.3f, 3, 1, 6.14f}),
    {"columns 1x32",
     Kind::COLUMNS,
     1,
     32,
     4,
     launch_columns<1, 8, 16>,
     {0.436f, 0.0227f, 0.0471f, 1.89f, 0.312f, 0.0717f, 0.0573f, 0.0976f, 1.32f, 0.0113f, 2, 0.3f,
      3, 1, 3.43f}},
    {"columns 4x128",
     Kind::COLUMNS,
     4,
     128,
     8,
     launch_columns<4, 32, 8>,
     {1.14f, 0.303f, 0.162f, 1.2f, 0.242f, 0.0806f, 0.0311f, 0.0394f, 1.34f, 0.0674f, 2, 0.3f, 3, 1,
      3.5f}},
    {"columns 8x32",
     Kind::COLUMNS,
     8,
     32,
     4,
     launch_columns<8, 8, 8>,
     {1.48f, 0.0683f, 0.0791f, 1.49f, 0.015f, 0.0103f, 0.0268f, 0.00722f, 1.46f, 0.0723f, 2, 0.3f,
      3, 1, 3.23f}},
    {"columns 16x64",
     Kind::COLUMNS,
     16,
     64,
     4,
     launch_columns<16, 16, 4>,
     {0.856f, 0.484f, 0.146f, 1.78f, 0.214f, 0.0903f, 0.165f, 0.0199f, 1.45f, 0.129f, 2, 0.3f, 3, 1,
      2.1f}},
    {"rows 1x8",
     Kind::ROWS,
     1,
     8,
     4,
     launch_rows<1, 4, 2, 4>,
     {1.66f, 0.0282f, 0.00435f, 0.472f, 0.854f, 0.05f, 0.0925f, 0.035f, 1.31f, 0.0125f, 2, 0.3f, 3,
      1, 3.9f}},
    {"rows 1x4",
     Kind::ROWS,
     1,
     4,
     4,
     launch_rows<1, 4, 1, 8>,
     {1.69f, 0.0187f, 0.0013f, 0.529f, 0.0501f, 0.05f, 0.05f, 0.0209f, 1.21f, 0.0139f, 2, 0.3f, 3,
      1, 3.07f}},
    {"rows 4x16",
     Kind::ROWS,
     4,
     16,
     4,
     launch_rows<4, 4, 4, 2>,
     {1.68f, 0.0629f, 0.0179f, 0.902f, 0.209f, 0.738f, 0.156f, 0.0624f, 1.37f, 0.0784f, 2, 0.3f, 3,
      1, 3.41f}},
    {"rows 8x16",
     Kind::ROWS,
     8,
     16,
     4,
     launch_rows<8, 4, 4, 2>,
     {1.62f, 0.101f, 0.0318f, 1.67f, 0.155f, 0.879f, 0.273f, 0.00731f, 1.3f, 0.0464f, 2, 0.3f, 3, 1,
      2.08f}},
    {"rows 16x16",
     Kind::ROWS,
     16,
     16,
     2,
     launch_rows<16, 4, 4, 2>,
     {2.74f, 0.167f, 0.0476f, 2.02f, 0.00782f, 1.34f, 0.0953f, 0.00639f, 1.11f, 0.0533f, 2, 0.3f, 3,
      1, 1}},
    {"little 1",
     Kind::LITTLE,
     1,
     1,
     16,
     launch_little<1>,
     {0.688f, 0.541f, 0.0152f, 0.14f, 2.01f, 0.0366f, 0.05f, 0.0887f, 2, 0.3f, 2, 0.3f, 3, 1,
      2.99f}},
    {"little 4",
     Kind::LITTLE,
     4,
     1,
     16,
     launch_little<4>,
     {0.735f, 0.679f, 0.0507f, 0.11f, 0.273f, 0.481f, 0.05f, 0.00978f, 2, 0.3f, 2, 0.3f, 3, 1,
      0.532f}},
    {"little 32",
     Kind::LITTLE,
     32,
     1,
     16,
     launch_little<32>,
     {0.00103f, 1.46f, 0.0773f, 0.121f, 0.0035f, 0.727f, 0.05f, 0.00323f, 2, 0.3f, 2, 0.3f, 3, 1,
      0.724f}},
    {"little 1024",
     Kind::LITTLE,
     1024,
     1,
     2,
     launch_little<1024>,
     {0.431f, 1.06f, 0.105f, 0.714f, 0.0502f, 0.05f, 0.05f, 0.00407f, 2, 0.3f, 2, 0.3f, 3, 1,
      6.12f}},
    {"little 256",
     Kind::LITTLE,
     256,
     1,
     8,
     launch_little<256>,
     {0.971f, 0.568f, 0.125f, 0.146f, 0.456f, 0.0395f, 0.05f, 0.00399f, 2, 0.3f, 2, 0.3f, 3, 1,
      7.93f}},
};

/// What is launched: a kernel of the menu, in so many parts of K; `second`: a second kernel adds them up.
struct Choice {
  const Kernel* kernel;
  int parts;
  bool second;
  float microseconds;  ///< estimated
};

/// How long a kernel will take for a product, in microseconds.
inline float estimate(const Kernel& kernel, const Product& g, int parts, bool second, int sms) {
  const Costs& c = kernel.costs;
  const auto up = [](double a, double b) { return std::ceil(a / b); };
  // The larger of two things that overlap, and a little more where they are alike.
  const auto both = [](double a, double b) {
    return std::sqrt(std::sqrt(a * a * a * a + b * b * b * b));
  };
  const double m = g.m, n = g.n, k = g.k, slots = double(sms) * kernel.blocks;
  const bool streams = kernel.kind == Kind::STREAM || kernel.kind == Kind::SPECIALIZED_STREAM;
  double tiles, k_tiles, epilogues = 1, edge = 0;
  if (kernel.kind == Kind::LITTLE) {
    tiles = kernel.bm > 128 ? m * n : up(m * n * kernel.bm, 128);
    k_tiles = up(k, kernel.bm) / 8 + 1;
  } else if (kernel.kind == Kind::COLUMNS || kernel.kind == Kind::ROWS) {
    tiles = up(std::max(m, n), kernel.bn), k_tiles = k / parts / 16;
    edge = (g.m <= g.n ? g.b.ld : g.a.ld) % 4 != 0;
  } else {
    tiles = up(m, kernel.bm) * up(n, kernel.bn), k_tiles = up(up(k, kernel.k_step), parts);
    edge = 1 - m * n / (tiles * kernel.bm * kernel.bn);
  }
  double blocks = tiles * parts;
  if (streams) {
    k_tiles = std::max(1.0, tiles * up(k, 16) / slots);
    epilogues = std::max(1.0, tiles / slots), blocks = slots;
  }
  const auto floats = [&](const Operand& o) {
    return !o.along_k && (!o.wide || kernel.kind == Kind::LITTLE);
  };
  const double slower =
      (1 + c.along * (g.a.along_k + g.b.along_k) + c.floats * (floats(g.a) + floats(g.b))) *
      (1 + c.edge * edge);
  const double epilogue = c.epilogue * epilogues * (g.c_wide ? 1 : 1 + c.ragged);
  const auto wave = [&](double on_an_sm) {
    return k_tiles * both(c.alone, on_an_sm * c.each * slower) + on_an_sm * epilogue;
  };
  const double full = std::floor(blocks / slots), rest = blocks - full * slots;
  const double waves = full * wave(kernel.blocks) + (rest > 0 ? wave(up(rest, sms)) : 0);
  double floats_moved = m * k + k * n + m * n;
  // A block for each element reads its row and column, and of what lies across K a sector for each float.
  if (kernel.kind == Kind::LITTLE && kernel.bm > 128)
    floats_moved = m * n * k * ((g.a.along_k ? 1 : 8) + (g.b.along_k ? 1 : 8));
  double time = c.start + both(waves, 4e-6 * floats_moved / c.bytes);
  if (streams) time += c.stream + c.stream_part * std::max(1.0, slots / tiles);
  if (parts > 1 && !second) time += c.last + c.last_part * parts;
  if (parts > 1 && second)
    time += c.second + (0.04 + c.second_mb * tiles * 4e-6 * kernel.bm * kernel.bn) * parts;
  return static_cast<float>(time);
}

/// Calls take(choice) for each kernel of the menu that can compute a product, and each number of parts that its K and
/// the workspace allow. splits: there is a workspace. allowed: kinds to choose from; none: all.
template <class Take>
void for_each_choice(const Product& g, int sms, bool splits, bool (*allowed)(Kind), Take take) {
  const int shorter = std::min(g.m, g.n), longer = std::max(g.m, g.n);
  const bool along_k =
      g.m <= g.n ? g.b.along_k : g.a.along_k;  // how the larger operand of a thin product lies
  for (const Kernel& kernel : menu) {
    if (allowed != nullptr && !allowed(kernel.kind)) continue;
    const bool thin = kernel.kind == Kind::COLUMNS || kernel.kind == Kind::ROWS;
    if (thin && (kernel.bm < shorter || (kernel.kind == Kind::ROWS) != along_k)) continue;
    const bool streams = kernel.kind == Kind::STREAM || kernel.kind == Kind::SPECIALIZED_STREAM;
    if (streams && (!splits || sms * kernel.blocks >= FLAGS)) continue;
    const bool block_each = kernel.kind == Kind::LITTLE && kernel.bm > 128;  // of an element
    const double tiles =
        block_each                    ? 1.0 * g.m * g.n
        : kernel.kind == Kind::LITTLE ? std::ceil(1.0 * g.m * g.n * kernel.bm / 128)
        : thin                        ? std::ceil(1.0 * longer / kernel.bn)
               : std::ceil(1.0 * g.m / kernel.bm) * std::ceil(1.0 * g.n / kernel.bn);
    if (kernel.kind == Kind::SLICED && std::ceil(1.0 * g.m / kernel.bm) > 65535) continue;
    if (kernel.kind == Kind::STAGED && (g.a.along_k || g.a.wide) && (g.b.along_k || g.b.wide) &&
        (g.a.along_k || g.b.along_k))
      continue;  // asynchronous copies of 16 bytes, or of rows along K, were as fast
    // What is never the best: many blocks for an element each, many blocks that share a tile.
    if (tiles >= 2e9 || (block_each && tiles > 16.0 * sms) ||
        (streams && 8 * tiles < 1.0 * sms * kernel.blocks))
      continue;
    take(Choice{&kernel, 1, false, estimate(kernel, g, 1, false, sms)});
    if (!splits || kernel.kind == Kind::LITTLE || streams || tiles > TICKETS) continue;
    for (const int parts : {2, 3, 4, 5, 6, 8, 12, 16, 24, 32, 48, 64, 128, 256}) {
      if ((g.k - 1) / (thin ? 128 : kernel.k_step) < parts - 1 || tiles * parts > 16.0 * sms ||
          tiles * parts * kernel.bm * kernel.bn > 4.0 * PARTIALS)
        break;
      take(Choice{&kernel, parts, false, estimate(kernel, g, parts, false, sms)});
      if (parts > (kernel.kind == Kind::SPECIALIZED ? 2 : 4) && !thin &&
          kernel.kind != Kind::SLICED)
        take(Choice{&kernel, parts, true, estimate(kernel, g, parts, true, sms)});
    }
  }
}

/// The choice that the model finds fastest.
inline Choice fastest(const Product& g, int sms, bool splits, bool (*allowed)(Kind) = nullptr) {
  Choice best{nullptr, 1, false, 1e30f};
  for_each_choice(g, sms, splits, allowed, [&](const Choice& choice) {
    if (choice.microseconds < best.microseconds) best = choice;
  });
  return best;
}

/// `fastest`, which this thread remembers: the model costs up to some 20 microseconds of a CPU, more than small products take.
inline Choice remembered(const Product& g, int sms, bool splits) {
  struct Entry {
    int m, n, k, sms;
    unsigned how;  // all else that the model asks for
    Choice choice;
  };
  constexpr size_t ENTRIES = 256;
  static thread_local Entry entries[ENTRIES] = {};
  unsigned how = splits;
  for (const bool bit :
       {g.a.along_k, g.a.wide, g.a.ld % 4 != 0, g.b.along_k, g.b.wide, g.b.ld % 4 != 0, g.c_wide})
    how = 2 * how + bit;
  const size_t hash =
      ((static_cast<size_t>(g.m) * 0x9E3779B1u + static_cast<size_t>(g.n)) * 0x85EBCA6Bu +
       static_cast<size_t>(g.k)) *
          0xC2B2AE35u +
      how;
  Entry& entry = entries[(hash >> 16) % ENTRIES];
  if (entry.choice.kernel == nullptr || entry.m != g.m || entry.n != g.n || entry.k != g.k ||
      entry.sms != sms || entry.how != how)
    entry = {g.m, g.n, g.k, sms, how, fastest(g, sms, splits)};
  return entry.choice;
}

// ### What the model got wrong (second reading)
//
// A model knows what it was told. With the larger of bytes and FMAs alone, as in a first version, all kernels have the same estimate
// where bytes are the floor, and the first of the menu is taken: at 4723 x 3825 x 3 it took 2.2 times as long as the best.
//= 2.2 times: 1 + 1.248
//
// The estimate of `little` with a block for each element once left out the sectors of an operand across K. Of the random shapes with
// M N from 200 to 1,100 and K from 4096, the nine whose larger operand lies across K were at 0.40 of cuBLAS then. Now all 17 are at
// 1.45, the worst at 0.92.
//= at 0.40: 0.40
//= all 17: shapes("count", "200 <= m * n <= 1100 and k >= 4096")
//= 1.45: shapes("geometric mean", "200 <= m * n <= 1100 and k >= 4096")
//= worst at 0.92: shapes("least", "200 <= m * n <= 1100 and k >= 4096")

// ## 12. The function
//
// A column-major product is a row-major one: C^T = op(B)^T op(A)^T. So the kernels know row-major C alone.

enum class Order { ROW_MAJOR, COLUMN_MAJOR };

/// C = alpha op(A) op(B) + beta C of row-major matrices, as the kernels take it. A vector lies along K and across it: it
/// is taken as what it can be copied as fastest.
inline Product row_major(bool transpose_a, bool transpose_b, int m, int n, int k, float alpha,
                         const float* a, long long lda, const float* b, long long ldb, float beta,
                         float* c, long long ldc) {
  if (m == 1 && transpose_a && lda == 1) transpose_a = false, lda = k;
  if (n == 1 && !transpose_b && ldb == 1) transpose_b = true, ldb = k;
  if (k == 1 && !transpose_a && lda == 1) transpose_a = true, lda = m;
  if (k == 1 && transpose_b && ldb == 1) transpose_b = false, ldb = n;
  const auto operand = [](const float* data, long long ld, bool along_k, int extent) {
    const size_t pitch = static_cast<size_t>(ld);
    return Operand{data, pitch, along_k, !along_k && extent % 4 == 0 && aligned16(data, pitch)};
  };
  const size_t pitch = static_cast<size_t>(ldc);
  return {m,
          n,
          k,
          operand(a, lda, !transpose_a, m),
          operand(b, ldb, transpose_b, n),
          alpha,
          beta,
          c,
          pitch,
          aligned16(c, pitch)};
}

/// C = beta C, or zeros.
///
/// Launch: any number of blocks of THREADS threads.
template <int THREADS>
__global__ void scale(const Product g) {
  const size_t all = static_cast<size_t>(g.m) * static_cast<size_t>(g.n);
  for (size_t e = size_t{blockIdx.x} * THREADS + threadIdx.x; e < all;
       e += size_t{gridDim.x} * THREADS) {
    float& c = g.c[e / g.n * g.ldc + e % g.n];
    c = g.beta == 0 ? 0 : g.beta * c;
  }
}

/// C = alpha op(A) op(B) + beta C in FP32, for any shape.
///
/// C is (m, n), op(A) (m, k), op(B) (k, n); m, n, k >= 0. Where transpose_a, A is (k, m) in memory, and the like for B.
/// lda, ldb and ldc: floats from a row (Order::ROW_MAJOR) or a column (Order::COLUMN_MAJOR) in memory to the next, at
/// least as many as it has. Matrices may begin at any float. Where beta is 0, C is not read; where alpha or k is 0, A
/// and B are not; what lies between the rows of C stays as it is.
///
/// workspace: WORKSPACE bytes of device memory, zero before the first call, for one stream at a time; none: K is not
/// split, which is slower for small m and n. The result is the same, bit for bit, for the same arguments, alignments
/// and GPU.
/// Returns cudaErrorInvalidValue, and does nothing, where an extent is negative or above 2^31 - 256, or a leading
/// dimension is too small; otherwise what the launch returned. Does not wait for the GPU.
/// Requires: compute capability 8.0.
inline cudaError_t sgemm(Order order, bool transpose_a, bool transpose_b, long long m, long long n,
                         long long k, float alpha, const float* a, long long lda, const float* b,
                         long long ldb, float beta, float* c, long long ldc, void* workspace,
                         cudaStream_t stream) {
  if (order == Order::COLUMN_MAJOR)  // C^T = op(B)^T op(A)^T
    return sgemm(Order::ROW_MAJOR, transpose_b, transpose_a, n, m, k, alpha, b, ldb, a, lda, beta,
                 c, ldc, workspace, stream);
  constexpr long long MOST = 2147483647 - 255;
  if (m < 0 || n < 0 || k < 0 || m > MOST || n > MOST || k > MOST) return cudaErrorInvalidValue;
  if (lda < std::max(1LL, transpose_a ? m : k) || ldb < std::max(1LL, transpose_b ? k : n) ||
      ldc < std::max(1LL, n))
    return cudaErrorInvalidValue;
  if (m == 0 || n == 0) return cudaSuccess;
  const Product g = row_major(transpose_a, transpose_b, static_cast<int>(m), static_cast<int>(n),
                              static_cast<int>(k), alpha, a, lda, b, ldb, beta, c, ldc);
  if (k == 0 || alpha == 0) {
    scale<256><<<static_cast<unsigned>(std::min(m * n / 256 + 1, 8192LL)), 256, 0, stream>>>(g);
    return cudaGetLastError();
  }
  int device = 0, sms = 0;
  cudaError_t error = cudaGetDevice(&device);
  if (error == cudaSuccess)
    error = cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device);
  if (error != cudaSuccess) return error;
  const Choice choice = remembered(g, sms, workspace != nullptr);
  return choice.kernel->launch(g, choice.parts, choice.second, workspace, stream);
}

}  // namespace ANY_PRODUCT_MENU
}  // namespace any_product
