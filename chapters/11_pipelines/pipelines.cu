// # Chapter 11: Pipelines
//
// Question: Shared memory has time to spare and the FMA units still idle. What do the warps wait for?
// Builds on: 05_bank_conflicts
// Minutes: 30
// Afterwards: overlap loads with arithmetic: double buffers, asynchronous copies, several stages
// Kind: gemm
// Size gpu: 4096,4096,4096
// Size simulator: 200,300,92
// Sizes measured: 4096,4096,4096 1024,1024,1024 2048,2048,2048 8192,8192,8192
// Run: ./learn run 11
//   ./learn run 11 --rung cublas           the vendor's library: what all others are compared with  [needs cublas]
//   ./learn run 11 --rung warp_tile        32 x 64 elements a warp: the last kernel of chapter 05, K-tiles of 8
//   ./learn run 11 --rung register_buffer  the next K-tile and the next fragments are on their way to registers
//   ./learn run 11 --rung copy_ring        a ring of four stages that asynchronous copies fill, by itself
//   ./learn run 11 --rung no_wait          the ring without waiting for its copies  [raises uninitialized-shared]
//   ./learn run 11 --rung async_copy       the product with K-tiles in a ring of four stages
//   ./learn run 11 --rung ring_sizes       the same with 2 to 4 stages and K-tiles of 8 to 32
//   ./learn run 11 --rung wide_tile        16 x 8 elements a thread, 128 x 256 a block
//   ./learn run 11 --rung serpentine       the same FMAs in another order
//   ./learn run 11 --rung grouped_tiles    blocks that run at the same time share rows and columns of the matrices

#include <cuda_pipeline.h>
#include <cuda_runtime.h>

#include <memory>
#include <string>
#include <vector>

#include "lab/lab.h"

// At the end of chapter 05 the product is free of bank conflicts. This chapter starts from its last kernel with K-tiles of
// 8, as a pipeline holds several of them at a time: there a fifth of cuBLAS's speed is missing. The FMAs of a K-tile take
// the FMA units of an SM 1,024 cycles. At 4096 an SM that computes eight tiles spends some 1,600 cycles on each K-tile.
// Shared memory is busy for 576 of them, and to issue all instructions of the loop, not the FMAs alone, takes the
// schedulers 1,190 at most. So no unit is at its limit. In the other 410 cycles or more nothing is issued. The block
// loads a K-tile, waits until it has arrived, computes with it, and loads the next: section 2 gets back the 220 cycles
// or so of that {term}`latency`.
//= 1,024 cycles: 128 * 128 * 8 / 128
//= some 1,600 cycles: 1.98e6 * ms("warp_tile") / (8 * 4096 / 8)
//= 410 cycles: round(1.98e6 * ms("warp_tile") / (8 * 4096 / 8) - 8 * sass("warp_tile", "instructions", "loop") / 4, -1)
//= 220 cycles: round(1.98e6 * (ms("warp_tile") - ms("register_buffer")) / (8 * 4096 / 8), -1)
//= a fifth: 1 - rate("warp_tile") / rate("cublas")
//= 576: count("warp_tile", "shared_wavefronts") / (6 * 12)
//= 1,190 at most: 8 * sass("warp_tile", "instructions", "loop") / 4
//
// A load takes some 280 cycles if L2 has the data and 650 if DRAM has to deliver it (chapter 02). Both are less than
// the 1,024 of the FMAs. If a load begins one K-tile ahead, there is enough computation to hide it.
//= 280 cycles: round(1.98 * ms("02:memory_latency/L2 cache"), -1)
//= 650: round(1.98 * ms("02:memory_latency/global memory"), -1)
//
// That is {term}`software pipelining`: in one {term}`iteration` of the loop, compute with the data of this iteration
// while the data of later ones is on its way. This chapter does it three times: from global memory to registers, from
// shared memory to registers, and from global to shared memory without registers. After that few warps wait for data,
// and the order of the FMAs begins to matter.
//
// All counts are for M = 200, N = 300, K = 92, which the simulator runs by default: 6 tiles of 128 x 128, 8 warps
// each.

// ## 1. Where we start
//
// This is `warp_tile` of chapter 05 for K-tiles of 8, with its helpers, written out for this one layout. (nvcc makes
// other code of it: 41.6 TFLOP/s, where chapter 05 has 42.5.)
//= 41.6 TFLOP/s: rate("warp_tile") / 1000
//= has 42.5: rate("05:warp_tile/BK=8") / 1000

constexpr int BM = 128, BN = 128, BK = 8;  // of a block: BM x BN elements of C, in K-tiles of BK
constexpr int TM = 8, TN = 8;              // of a thread
constexpr int THREADS = 256;               // 8 warps

/// Where a lane stands in its warp, or a tile in C.
struct Place {
  int row, col;
};

/// The place of a lane in a warp of 4 x 8, numbered in pairs: bit 0 of the lane chooses between two columns, bit 1
/// between two rows.
__device__ Place lane_in_warp(unsigned lane) {
  return {static_cast<int>(lane / 2 % 2 + lane / 16 * 2),
          static_cast<int>(lane % 2 + lane / 4 % 4 * 2)};
}

/// Reads a fragment of T floats as float4; the next float4 starts `step` floats after the one before.
template <int T>
__device__ void load_fragment(float (&to)[T], const float* from, int step) {
#pragma unroll
  for (int q = 0; q < T / 4; ++q)
    *reinterpret_cast<float4*>(to + 4 * q) = *reinterpret_cast<const float4*>(from + q * step);
}

/// acc += a b^T, the outer product of two fragments.
template <int TM, int TN>
__device__ void outer_product(float (&acc)[TM][TN], const float (&a)[TM], const float (&b)[TN]) {
#pragma unroll
  for (int i = 0; i < TM; ++i) {
#pragma unroll
    for (int j = 0; j < TN; ++j) acc[i][j] += a[i] * b[j];
  }
}

/// Writes a thread's sums to C in groups of 4 x 4: the first at (row, col), the others row_step rows below and
/// col_step columns to the right of each other.
template <int TM, int TN>
__device__ void store_tile(const float (&acc)[TM][TN], int row, int row_step, int col, int col_step,
                           int m, int n, float alpha, float beta, float* c, int ldc) {
  const bool aligned = lab::aligned16(c, ldc);
#pragma unroll
  for (int i = 0; i < TM; ++i) {
    const int r = row + i / 4 * row_step + i % 4;
    if (r >= m) continue;
#pragma unroll
    for (int q = 0; q < TN / 4; ++q) {
      const int at = col + q * col_step;
      const float* const four = &acc[i][4 * q];
      lab::update4(c + size_t(r) * ldc + at, n - at, aligned, alpha,
                   make_float4(four[0], four[1], four[2], four[3]), beta);
    }
  }
}

/// C = alpha A B + beta C, 32 x 64 elements a warp: 4 x 8 lanes in pairs, four tiles of 4 x 4 for each.
///
/// A is (m, k), B (k, n) and C (m, n), row-major; lda, ldb and ldc are floats from a row to the next. Where beta is 0,
/// C is not read.
///
/// Launch: blocks of 256 threads, grid.x >= n / 128, grid.y >= m / 128.
/// Requires: k at most 2^31 - 8; no particular alignment; rows that do not start at multiples of 16 bytes are moved
/// float by float.
__global__ void __launch_bounds__(THREADS, 2)
    warp_tile(int m, int n, int k, float alpha, const float* a, int lda, const float* b, int ldb,
              float beta, float* c, int ldc) {
  __shared__ __align__(16) float a_tile[BK][BM + 4];  // (BK, BM), transposed and padded
  __shared__ __align__(16) float b_tile[BK][BN];      // (BK, BN)
  const int tid = static_cast<int>(threadIdx.x);
  const int row0 = static_cast<int>(blockIdx.y) * BM, col0 = static_cast<int>(blockIdx.x) * BN;

  // The float4 of each K-tile that this thread copies, and how much of A and B is left from there on.
  const int a_row = tid / 2, a_k = tid % 2 * 4;
  const int b_k = tid / 32, b_col = tid % 32 * 4;
  const bool a_aligned = lab::aligned16(a, lda), b_aligned = lab::aligned16(b, ldb);
  const float* a_from = a + size_t(row0 + a_row) * lda + a_k;
  const float* b_from = b + size_t(b_k) * ldb + (col0 + b_col);
  int a_left = row0 + a_row < m ? k - a_k : 0, b_left = k - b_k;
  const int b_there = n - col0 - b_col;

  // The first 4 x 4 of this thread: 4 x 2 warps, 4 x 8 lanes in each, numbered in pairs.
  const Place lane = lane_in_warp(threadIdx.x % 32);
  const int row = static_cast<int>(threadIdx.x / 64) * 32 + lane.row * 4;
  const int col = static_cast<int>(threadIdx.x / 32 % 2) * 64 + lane.col * 4;
  float acc[TM][TN] = {};  // (TM, TN): (2 x 4, 2 x 4), 16 rows and 32 columns apart
  for (int k0 = 0; k0 < k; k0 += BK) {
    const float4 a4 = lab::load4(a_from, a_left, a_aligned);
    const float4 b4 = lab::load4(b_from, b_left > 0 ? b_there : 0, b_aligned);
    a_from += BK, b_from += size_t(BK) * ldb, a_left -= BK, b_left -= BK;
    __syncthreads();  // all have read the K-tile before
    a_tile[a_k][a_row] = a4.x;
    a_tile[a_k + 1][a_row] = a4.y;
    a_tile[a_k + 2][a_row] = a4.z;
    a_tile[a_k + 3][a_row] = a4.w;
    *reinterpret_cast<float4*>(&b_tile[b_k][b_col]) = b4;
    __syncthreads();  // the K-tile is complete

#pragma unroll
    for (int l = 0; l < BK; ++l) {
      alignas(16) float a_frag[TM], b_frag[TN];
      load_fragment(a_frag, &a_tile[l][row], 16);
      load_fragment(b_frag, &b_tile[l][col], 32);
      outer_product(acc, a_frag, b_frag);
    }
  }
  store_tile(acc, row0 + row, 16, col0 + col, 32, m, n, alpha, beta, c, ldc);
}

// In each iteration it loads, waits, stores, waits at the barrier, and computes. The barriers keep the warps of a block in
// step, so its loads are hidden by the other block on the SM, if at all: `__launch_bounds__(THREADS, 2)` asks for two, and
// one may compute while the other waits.

// ## 2. A K-tile ahead, in registers
//
// A load instruction returns at once; only the first instruction that *uses* the value waits for it. So it suffices to
// load early: ask for the float4 of the *next* K-tile, compute with this one, and store the float4 after that. Until
// then the data stays in registers.
//
// ```{drawing} ahead
// ```
//
// The same can be done on a smaller scale. A read from shared memory takes more than 20 cycles. So the fragments of
// step l + 1 are read while step l computes. Both are forms of {term}`double buffering`, and both cost registers: 8
// for the K-tile, 16 for the second pair of fragments.

//? same_work: How many wavefronts of shared memory does it take, as a multiple of those of `warp_tile`?
//? answer: count("register_buffer", "shared_wavefronts") / count("warp_tile", "shared_wavefronts")
//? unit: times as many
//? near: exact
//
// Exactly as many: the work is the same, only its order in time differs. Counts of memory accesses cannot show what a
// pipeline does. Times and stall reasons can.
//
//? gains_most: At M = N = K = 4096 two blocks share an SM. At 1024 there are 64 blocks for 132 SMs, so each is alone.
//?   Where does the pipeline gain more?
//? choices: at 1024 | at 4096
//? answer: {"at 1024": ms("warp_tile", 1024) / ms("register_buffer", 1024) > ms("warp_tile", 4096) /
//?   ms("register_buffer", 4096),
//?   "at 4096": ms("warp_tile", 4096) / ms("register_buffer", 4096) > ms("warp_tile", 1024) / ms("register_buffer",
//?   1024)}

/// warp_tile, pipelined: the next K-tile is loaded while this one is computed with, the next fragments are read while
/// these are multiplied.
///
/// Launch: blocks of 256 threads, grid.x >= n / 128, grid.y >= m / 128.
/// Requires: k at most 2^31 - 8; no particular alignment; rows that do not start at multiples of 16 bytes are moved
/// float by float.
__global__ void __launch_bounds__(THREADS, 2)
    register_buffer(int m, int n, int k, float alpha, const float* a, int lda, const float* b,
                    int ldb, float beta, float* c, int ldc) {
  __shared__ __align__(16) float a_tile[BK][BM + 4];  // (BK, BM), transposed and padded
  __shared__ __align__(16) float b_tile[BK][BN];      // (BK, BN)
  const int tid = static_cast<int>(threadIdx.x);
  const int row0 = static_cast<int>(blockIdx.y) * BM, col0 = static_cast<int>(blockIdx.x) * BN;

  const int a_row = tid / 2, a_k = tid % 2 * 4;
  const int b_k = tid / 32, b_col = tid % 32 * 4;
  const bool a_aligned = lab::aligned16(a, lda), b_aligned = lab::aligned16(b, ldb);
  const float* a_from = a + size_t(row0 + a_row) * lda + a_k;
  const float* b_from = b + size_t(b_k) * ldb + (col0 + b_col);
  int a_left = row0 + a_row < m ? k - a_k : 0, b_left = k - b_k;
  const int b_there = n - col0 - b_col;
  float4 a4, b4;  // this thread's part of the next K-tile
  const auto load_ahead = [&] {
    a4 = lab::load4(a_from, a_left, a_aligned);  // zeros after the last K-tile
    b4 = lab::load4(b_from, b_left > 0 ? b_there : 0, b_aligned);
    a_from += BK, b_from += size_t(BK) * ldb, a_left -= BK, b_left -= BK;
  };

  const Place lane = lane_in_warp(threadIdx.x % 32);
  const int row = static_cast<int>(threadIdx.x / 64) * 32 + lane.row * 4;
  const int col = static_cast<int>(threadIdx.x / 32 % 2) * 64 + lane.col * 4;
  float acc[TM][TN] = {};                          // (TM, TN): (2 x 4, 2 x 4)
  alignas(16) float a_frag[2][TM], b_frag[2][TN];  // the fragments of this step and of the next
  const auto read_fragments = [&](int l) {         // of step l
    load_fragment(a_frag[l % 2], &a_tile[l][row], 16);
    load_fragment(b_frag[l % 2], &b_tile[l][col], 32);
  };

  load_ahead();  // prologue: the first K-tile
  for (int k0 = 0; k0 < k; k0 += BK) {
    __syncthreads();  // all have read the K-tile before
    a_tile[a_k][a_row] = a4.x;
    a_tile[a_k + 1][a_row] = a4.y;
    a_tile[a_k + 2][a_row] = a4.z;
    a_tile[a_k + 3][a_row] = a4.w;
    *reinterpret_cast<float4*>(&b_tile[b_k][b_col]) = b4;
    __syncthreads();  // the K-tile is complete

    load_ahead();  // the next one: it has the time of this iteration to arrive
    read_fragments(0);
#pragma unroll
    for (int l = 0; l < BK; ++l) {
      if (l + 1 < BK) read_fragments(l + 1);
      outer_product(acc, a_frag[l % 2], b_frag[l % 2]);
    }
  }
  store_tile(acc, row0 + row, 16, col0 + col, 32, m, n, alpha, beta, c, ldc);
}

// Where a block is alone, no other warps compute while it waits. At 4096 the pipeline gains 16 %, and reaches 48.3
// TFLOP/s; at 1024 it is 1.6 times as fast. Against chapter 05's K-tiles of 32, which wait less often, it is 6 %, and
// 15 % at 1024. {term}`Occupancy <occupancy>` and pipelining both hide latency, so a pipelined kernel needs less
// occupancy. (At 1024 L2 also holds all of A and B. It does so at 2048, where most SMs have two blocks: there the
// pipeline gains 14 %.)
//= 16 %: 100 * (ms("warp_tile") / ms("register_buffer") - 1)
//= 48.3 TFLOP/s: rate("register_buffer") / 1000
//= 1.6 times: ms("warp_tile", 1024) / ms("register_buffer", 1024)
//= is 6 %: 100 * (ms("05:warp_tile/BK=32") / ms("register_buffer") - 1)
//= 15 % at 1024: (100 * (ms("05:warp_tile/BK=32", 1024) / ms("register_buffer", 1024) - 1), 1024)
//= gains 14 %: 100 * (ms("warp_tile", 2048) / ms("register_buffer", 2048) - 1)
//
// The gain at 4096 is that of the K-tile. In a trial with the fragments read where they are needed the kernel was as fast (the
// notes have it). Why is not measured: other warps may fill the 20 cycles of a read, or nvcc may move the reads ahead
// itself.

// ## 3. Copies that bypass the registers
//
// Prefetching further ahead in this way costs too many registers. Since compute capability 8.0 there is another way:
// `cp.async` copies 4, 8 or 16 bytes from global to shared memory *asynchronously*, without a register in between. In
// CUDA C++ it takes three calls:
//
// - `__pipeline_memcpy_async(to, from, bytes)` starts a copy;
// - `__pipeline_commit()` closes a group of copies, which may be empty;
// - `__pipeline_wait_prior(n)` waits until all but the latest n groups *of this thread* have arrived.
//
// With these, build a ring of {term}`stages <stage>`: buffers in shared memory that are filled in turn. Here is one by
// itself, without a product. A block goes through rows of 128 floats and each thread adds up a column. It takes the
// column of *another* thread on purpose, so that waiting for its own copies alone is not enough.

constexpr int STAGES = 4;  // buffers of a ring

/// sums[t] = sum of in[row][127 - t] over all rows. in is (rows, 128) floats.
///
/// WAIT is false for a demonstration.
///
/// Launch: one block of 128 threads.
template <bool WAIT>
__device__ void sum_columns(float* sums, const float* in, int rows) {
  __shared__ float stages[STAGES][128];
  const int t = static_cast<int>(threadIdx.x);
  const auto start_copy = [&](int row) {
    if (row < rows) __pipeline_memcpy_async(&stages[row % STAGES][t], in + row * 128 + t, 4);
    __pipeline_commit();  // a group for every row, also after the last: so the count below holds
  };

  for (int row = 0; row < STAGES - 1; ++row) start_copy(row);  // prologue: three rows under way
  float sum = 0;
  for (int row = 0; row < rows; ++row) {
    if (WAIT)
      __pipeline_wait_prior(STAGES - 2);  // all but the last two: this thread's part is here
    __syncthreads();                      // everybody's is here, and the row before was read by all
    start_copy(row + STAGES - 1);         // so its stage is free: row + 3 goes there
    sum += stages[row % STAGES][127 - t];
  }
  sums[t] = sum;
}

/// The sums of the columns of a matrix, read through a ring of four stages.
///
/// Launch: one block of 128 threads.
__global__ void copy_ring(float* sums, const float* in, int rows) {
  sum_columns<true>(sums, in, rows);
}

/// copy_ring that does not wait for its copies.
///
/// Launch: one block of 128 threads.
__global__ void no_wait(float* sums, const float* in, int rows) {
  sum_columns<false>(sums, in, rows);
}

// One barrier in each iteration does two jobs. It comes after every thread has waited for its own copies of this row,
// so the whole row is there. And it comes after all have read the row before, so its stage may be overwritten.
//
//? ring: How many rows are under way, at most, while a thread adds? The ring has four stages.
//? choices: 2 | 3 | 4
//? answer: 4 - 1
//
// Three: one stage is being read, the other three are being filled. After the wait two groups may still be under way,
// then one more is started.
//
// ```{drawing} ring
// ```
//
//? barriers: `register_buffer` has two barriers in each iteration, the ring has one. What became of the other?
//? choices: a second buffer makes it unnecessary | the wait replaces it | it is a race
//? answer: "a second buffer makes it unnecessary"
//
// With one buffer, "the tile is complete" and "all have read it" are two different moments. In a ring the stage that
// is filled next is not the one that is read now, so one barrier says both, if each iteration waits, meets at the
// barrier, and only then starts the next copy. Two stages are enough for that. More of them put more copies under way.
//
// The demonstration `no_wait` leaves out the wait. The row is read right after the barrier, and a copy takes hundreds of
// cycles. The simulator reports `uninitialized-shared`: the stage is read before the copy has arrived.

// ## 4. The product with a ring of K-tiles
//
// Now the same for the product. K-tiles are 16 deep: fewer barriers and other instructions per FMA. A stage is a K-tile of A
// and one of B, 16.6 KB; four stages take 66.6 KB, and two blocks still fit on an SM. The form of the loop is that of
// CUTLASS's `MmaMultistage` and CuTe's `sgemm_sm80`. Three details:
//= 16.6 KB: 4 * 16 * (132 + 128) / 1000
//= 66.6 KB: 4 * 4 * 16 * (132 + 128) / 1000
//
// - *A is transposed on the way*, which a copy of 16 bytes cannot do. So A is copied float by float. A warp takes 4
//   rows by 8 columns at a time, four whole sectors, and writes 8 rows of shared memory; with the padding of 4 floats
//   the 32 lanes hit 32 different banks.
// - *The edges.* Where an element does not exist, the thread stores a zero. Blocks inside C take a path without
//   checks. Where K is no multiple of 16, the *first* K-tile is the short one, so that the loop need not check.
// - *The fragments* are double-buffered across K-tiles: the last step of one waits for the next and reads its first
//   fragments.

/// Starts to copy a float to shared memory; makes it zero where there is none.
__device__ void copy_or_zero(float* to, const float* from, bool there) {
  if (there) {
    __pipeline_memcpy_async(to, from, sizeof(float));
  } else {
    *to = 0;
  }
}

//? ahead: `register_buffer` has one K-tile of 8 under way, this kernel three of 16. How much faster is it at 4096?
//? choices: less than 5 %, or not at all | 5 to 15 % | more than 15 %
//? answer: {"less than 5 %, or not at all": ms("register_buffer") / ms("async_copy") < 1.05,
//?   "5 to 15 %": 1.05 < ms("register_buffer") / ms("async_copy") < 1.15,
//?   "more than 15 %": ms("register_buffer") / ms("async_copy") > 1.15}

/// The tiles of a kernel, and the ring of K-tiles between global and shared memory.
///
/// @tparam M, N, K  of a block's tile: BM x BN elements of C, in K-tiles of BK
/// @tparam S        stages of the ring
/// @tparam ROWS     elements of a thread: ROWS x 8, so a warp of 4 x 8 lanes has 4 ROWS x 64
template <int M, int N, int K, int S, int ROWS>
struct Ring {
  static constexpr int BM = M, BN = N, BK = K, STAGES = S, TM = ROWS, TN = 8;
  static constexpr int WM = 4 * TM, WN = 8 * TN;  // of a warp
  static constexpr int PITCH_A = BM + 4;          // A lies transposed, padded for the stores
  static constexpr int A_STAGE = BK * PITCH_A, B_STAGE = BK * BN;  // floats
  static constexpr size_t bytes = 4 * STAGES * (A_STAGE + B_STAGE);
  static_assert(BM / WM * (BN / WN) == THREADS / 32, "each warp has WM x WN elements");
  static_assert(BK % 8 == 0 && THREADS % BK == 0, "a warp copies 4 rows of A by 8 columns");
};

/// warp_tile with its K-tiles in a ring that asynchronous copies fill, for the tile of C that begins at (row0, col0).
///
/// product(acc, a_frag, b_frag) adds the products of two fragments to the sums. The other arguments are those of the
/// kernels.
///
/// @tparam Tiles  a Ring: the tiles and the stages
/// Source of the idea: CUTLASS, MmaMultistage; CuTe, sgemm_sm80.
template <class Tiles, class Product>
__device__ __forceinline__ void tile_of_c(Product product, int row0, int col0, int m, int n, int k,
                                          float alpha, const float* a, int lda, const float* b,
                                          int ldb, float beta, float* c, int ldc) {
  constexpr int BM = Tiles::BM, BN = Tiles::BN, BK = Tiles::BK, STAGES = Tiles::STAGES;
  constexpr int TM = Tiles::TM, TN = Tiles::TN, WM = Tiles::WM, WN = Tiles::WN;
  constexpr int PITCH_A = Tiles::PITCH_A, A_STAGE = Tiles::A_STAGE, B_STAGE = Tiles::B_STAGE;
  extern __shared__ float4 memory[];
  float* const a_tiles = reinterpret_cast<float*>(memory);  // (STAGES, BK, BM + 4), transposed
  float* const b_tiles = a_tiles + STAGES * A_STAGE;        // (STAGES, BK, BN)
  const int tid = static_cast<int>(threadIdx.x), lane = tid % 32, warp = tid / 32;

  // What this thread copies: of A the elements (a_row + a_step i, a_k), of B the float4 at (b_k + b_step i, b_col).
  constexpr int a_step = THREADS / BK, a_copies = BM / a_step;
  constexpr int b_step = THREADS / (BN / 4), b_copies = BK / b_step;
  const int a_k = warp % (BK / 8) * 8 + lane % 8, a_row = warp / (BK / 8) * 4 + lane / 8;
  const int b_k = tid / (BN / 4), b_col = tid % (BN / 4) * 4;
  const size_t pitch_a = size_t(lda), pitch_b = size_t(ldb);
  const float* a_from = a + size_t(row0 + a_row) * pitch_a + size_t(a_k);
  const float* b_from = b + size_t(b_k) * pitch_b + size_t(col0 + b_col);
  const int a_to = a_k * PITCH_A + a_row, b_to = b_k * BN + b_col;  // in a stage
  const bool b_aligned = lab::aligned16(b, ldb);
  const bool inside = b_aligned && row0 + BM <= m && col0 + BN <= n;
  const int rows_there = m - row0 - a_row, cols_there = n - col0 - b_col;

  // Starts to copy the next K-tile to a stage; of its BK steps the first `steps` exist.
  const auto start_copies = [&](unsigned stage, int steps) {
    float* to_a = a_tiles + stage * A_STAGE + a_to;
    float* to_b = b_tiles + stage * B_STAGE + b_to;
    if (inside && steps == BK) {
#pragma unroll
      for (int i = 0; i < a_copies; ++i)
        __pipeline_memcpy_async(to_a + i * a_step, a_from + i * a_step * pitch_a, 4);
#pragma unroll
      for (int i = 0; i < b_copies; ++i)
        __pipeline_memcpy_async(to_b + i * b_step * BN, b_from + i * b_step * pitch_b, 16);
    } else {
      const float* from = a_from;
      const int rows = a_k < steps ? rows_there : 0;
#pragma unroll 1
      for (int i = 0; i < BM; i += a_step, to_a += a_step, from += a_step * pitch_a)
        copy_or_zero(to_a, from, i < rows);
      from = b_from;
#pragma unroll 1
      for (int l = b_k; l < BK; l += b_step, to_b += b_step * BN, from += b_step * pitch_b) {
        if (l >= steps || cols_there <= 0) {
          *reinterpret_cast<float4*>(to_b) = make_float4(0, 0, 0, 0);
        } else if (b_aligned && cols_there >= 4) {
          __pipeline_memcpy_async(to_b, from, 16);
        } else {
          for (int j = 0; j < 4; ++j) copy_or_zero(to_b + j, from + j, j < cols_there);
        }
      }
    }
    a_from += steps;
    b_from += size_t(steps) * pitch_b;
  };

  const Place place = lane_in_warp(threadIdx.x % 32);
  constexpr unsigned warps_across = BN / WN;
  const int row = static_cast<int>(threadIdx.x / 32 / warps_across) * WM + place.row * 4;
  const int col = static_cast<int>(threadIdx.x / 32 % warps_across) * WN + place.col * 4;
  float acc[TM][TN] = {};  // (TM, TN): (TM / 4 x 4, 2 x 4), 16 rows and 32 columns apart
  alignas(16) float a_frag[2][TM], b_frag[2][TN];  // the fragments of this step and of the next
  const auto read_fragments = [&](unsigned stage, int l) {
    load_fragment(a_frag[l % 2], a_tiles + stage * A_STAGE + l * PITCH_A + row, 16);
    load_fragment(b_frag[l % 2], b_tiles + stage * B_STAGE + l * BN + col, 32);
  };

  // Prologue: STAGES - 1 K-tiles under way, the first of them short if one has to be.
  const int k_tiles = (k - 1) / BK + 1, first = k - (k_tiles - 1) * BK;
#pragma unroll 1
  for (int k_tile = 0; k_tile < STAGES - 1; ++k_tile) {
    if (k_tile < k_tiles) start_copies(static_cast<unsigned>(k_tile), k_tile == 0 ? first : BK);
    __pipeline_commit();
  }
  __pipeline_wait_prior(STAGES - 2);
  __syncthreads();
  read_fragments(0, 0);

  unsigned read_stage = 0, write_stage = STAGES - 1;
#pragma unroll 1
  for (int k_tile = 0; k_tile < k_tiles; ++k_tile) {
#pragma unroll
    for (int l = 0; l < BK; ++l) {
      if (l == BK - 1) {  // on to the next K-tile, if there is one
        __pipeline_wait_prior(STAGES - 2);
        __syncthreads();
        if (k_tile + 1 < k_tiles) read_stage = (read_stage + 1) % STAGES;
      }
      read_fragments(read_stage, (l + 1) % BK);
      if (l == 0) {  // all have left the K-tile before: its stage is free
        if (k_tile + STAGES - 1 < k_tiles) start_copies(write_stage, BK);
        __pipeline_commit();
        write_stage = (write_stage + 1) % STAGES;
      }
      product(acc, a_frag[l % 2], b_frag[l % 2]);
    }
  }
  store_tile(acc, row0 + row, 16, col0 + col, 32, m, n, alpha, beta, c, ldc);
}

using Square = Ring<128, 128, 16, 4, 8>;  // the tiles of warp_tile, K-tiles twice as deep

/// warp_tile with K-tiles of 16 in a ring of four stages.
///
/// Launch: blocks of 256 threads with Square::bytes of dynamic shared memory; grid.x >= n / 128, grid.y >= m / 128.
/// Requires: no particular alignment; rows of B that do not start at multiples of 16 bytes are copied float by float.
__global__ void __launch_bounds__(THREADS, 2)
    async_copy(int m, int n, int k, float alpha, const float* a, int lda, const float* b, int ldb,
               float beta, float* c, int ldc) {
  const auto product = [](auto& acc, const auto& a_frag, const auto& b_frag) {
    outer_product(acc, a_frag, b_frag);
  };
  const int row0 = static_cast<int>(blockIdx.y) * Square::BM;
  const int col0 = static_cast<int>(blockIdx.x) * Square::BN;
  tile_of_c<Square>(product, row0, col0, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}

// Not at all: 48.2 TFLOP/s, where `register_buffer` made 48.3. A profile of `async_copy`, taken at some 1.5 GHz, says what its warps wait for:
// 2 % of their time for a load, 8 % at the barrier, and half of it for the scheduler, which issues an instruction of
// another warp. Hardly a load is left to hide, and `register_buffer` is as fast: one K-tile ahead was enough. A is
// copied 4 bytes at a time here; what copies of 16 bytes gain where A lies transposed, the notes have (extension 3).
//= made 48.3: rate("register_buffer") / 1000
//= 48.2 TFLOP/s: rate("async_copy") / 1000
//= 2 % of: 100 * ncu("async_copy", "smsp__average_warps_issue_stalled_long_scoreboard_per_issue_active.ratio") /
//=   ncu("async_copy", "smsp__average_warp_latency_per_inst_issued.ratio")
//= 8 % at: 100 * ncu("async_copy", "smsp__average_warps_issue_stalled_barrier_per_issue_active.ratio") /
//=   ncu("async_copy", "smsp__average_warp_latency_per_inst_issued.ratio")
//= half of it: ncu("async_copy", "smsp__average_warps_issue_stalled_not_selected_per_issue_active.ratio") /
//=   ncu("async_copy", "smsp__average_warp_latency_per_inst_issued.ratio")

// ### How many stages, how deep (second reading)
//
// Is four the right number of stages, and 16 the right depth? `ring_sizes` is the same kernel with other rings.

/// async_copy with another ring.
///
/// Launch: as async_copy, with Ring<128, 128, BK, STAGES, 8>::bytes of dynamic shared memory.
/// Requires: no particular alignment.
template <int STAGES, int BK>
__global__ void __launch_bounds__(THREADS, 2)
    ring_sizes(int m, int n, int k, float alpha, const float* a, int lda, const float* b, int ldb,
               float beta, float* c, int ldc) {
  using Tiles = Ring<128, 128, BK, STAGES, 8>;
  const auto product = [](auto& acc, const auto& a_frag, const auto& b_frag) {
    outer_product(acc, a_frag, b_frag);
  };
  const int row0 = static_cast<int>(blockIdx.y) * Tiles::BM;
  const int col0 = static_cast<int>(blockIdx.x) * Tiles::BN;
  tile_of_c<Tiles>(product, row0, col0, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}

// In TFLOP/s at 4096:
//
// | | 2 stages | 3 stages | 4 stages |
// |---|--:|--:|--:|
// | BK = 8 | 46.4 | 46.1 | 46.4 |
// | BK = 16 | 47.7 | 47.2 | 48.2 |
// | BK = 32 | 47.9 | 47.5 | 43.9 |
//= BK = 8 | 46.4 | 46.1 | 46.4 |: (8, rate("ring_sizes/stages=2, BK=8") / 1000, rate("ring_sizes/stages=3, BK=8") / 1000,
//=   rate("ring_sizes/stages=4, BK=8") / 1000)
//= BK = 16 | 47.7 | 47.2 | 48.2 |: (16, rate("ring_sizes/stages=2, BK=16") / 1000, rate("ring_sizes/stages=3, BK=16") / 1000,
//=   rate("ring_sizes/stages=4, BK=16") / 1000)
//= BK = 32 | 47.9 | 47.5 | 43.9 |: (32, rate("ring_sizes/stages=2, BK=32") / 1000, rate("ring_sizes/stages=3, BK=32") / 1000,
//=   rate("ring_sizes/stages=4, BK=32") / 1000)
//
// The depth is worth 2 to 4 % from 8 to 16; the number of stages 2 % at most where two blocks fit on an SM. Two stages come within
// about 1 % of four: one K-tile under way, as `register_buffer` has it, is almost enough. That three are slower than two may be due
// to the code, which differs with their number. Four stages of 32 take 133 KB: one block is alone on an SM, and the rate falls.
//= 2 to 4 %: (100 * (rate("ring_sizes/stages=3, BK=16") / rate("ring_sizes/stages=3, BK=8") - 1),
//=   100 * (rate("ring_sizes/stages=4, BK=16") / rate("ring_sizes/stages=4, BK=8") - 1))
//= 2 % at most: 100 * (rate("ring_sizes/stages=4, BK=16") / rate("ring_sizes/stages=3, BK=16") - 1)
//= because three are slower than two: max(rate("ring_sizes/stages=3, BK=8") / rate("ring_sizes/stages=2, BK=8"),
//=   rate("ring_sizes/stages=3, BK=16") / rate("ring_sizes/stages=2, BK=16"),
//=   rate("ring_sizes/stages=3, BK=32") / rate("ring_sizes/stages=2, BK=32")) < 1
//= about 1 % of four: 100 * (rate("ring_sizes/stages=4, BK=16") / rate("ring_sizes/stages=2, BK=16") - 1)
//= 133 KB: 4 * 4 * 32 * (132 + 128) / 1000

// ## 5. A wider tile
//
// What keeps the FMA units from being busy now? In 16 of 100 cycles nothing is issued, and what is issued is not all FMAs.
// Each of the four schedulers of an SM issues one instruction per cycle.
// On a GPU with 128 FMA units per SM, every instruction that is not an FMA takes the place of one. A K-tile inside the
// matrices takes a warp of `async_copy` 1146 instructions, of which 1024 are FMAs: 89 %. The others read fragments, start
// copies and compute addresses.
//= 16 of 100: (100 - ncu("async_copy", "smsp__issue_active.avg.pct_of_peak_sustained_active"), 100)
//= 1146 instructions, of which 1024: (sass("async_copy", "instructions", "FFMA"), sass("async_copy", "FFMA", "FFMA"))
//= 89 %: 100 * sass("async_copy", "FFMA", "FFMA") / sass("async_copy", "instructions", "FFMA")
//
// Larger tiles improve the ratio. A thread tile of 16 x 8 reads 6 float4 for 128 FMAs, where 8 x 8 reads 4 for 64. And
// a block tile of 128 x 256 copies 384 floats per step, where two of 128 x 128 copy 512. The price is registers: 128
// sums and 48 for the fragments leave room for one block of 256 threads on an SM, with up to 255 registers a thread.
//= 384 floats: 128 + 256
//= copy 512: 2 * (128 + 128)
//
// In the template it is two numbers, BN and the rows of a thread.

using Wide = Ring<128, 256, 16, 4, 16>;  // 2 x 4 warps of 64 x 64

//? wide_waves: A step of a warp takes four reads of A and two of B now, for 128 FMAs. `async_copy` took 8 wavefronts
//?   for 64 FMAs. How many does this one take for 128?
//? answer: count("wide_tile", "shared_load_wavefronts") / (4 * 8 * 97)
//? unit: wavefronts per step
//? near: exact
//
// Each read is served in 2 wavefronts, as before: 12, three quarters as many for the same FMAs. A K-tile takes a warp
// 2202 instructions, of which 2048 are FMAs: 93 %.
//= 12, three quarters: (count("wide_tile", "shared_load_wavefronts") / (4 * 8 * 97))
//= 2202 instructions, of which 2048: (sass("wide_tile", "instructions", "FFMA"), sass("wide_tile", "FFMA", "FFMA"))
//= 93 %: 100 * sass("wide_tile", "FFMA", "FFMA") / sass("wide_tile", "instructions", "FFMA")
//
//? wider: 4 % fewer instructions for each FMA, but one block on an SM instead of two. What happens at 4096?
//? choices: faster | slower
//? answer: {"faster": ms("wide_tile") < ms("async_copy"),
//?   "slower": ms("async_copy") < ms("wide_tile")}

/// async_copy with 16 x 8 elements a thread and 128 x 256 a block.
///
/// Launch: blocks of 256 threads with Wide::bytes of dynamic shared memory; grid.x >= n / 256, grid.y >= m / 128.
/// Requires: no particular alignment; rows of B that do not start at multiples of 16 bytes are copied float by float.
__global__ void __launch_bounds__(THREADS, 1)
    wide_tile(int m, int n, int k, float alpha, const float* a, int lda, const float* b, int ldb,
              float beta, float* c, int ldc) {
  const auto product = [](auto& acc, const auto& a_frag, const auto& b_frag) {
    outer_product(acc, a_frag, b_frag);
  };
  const int row0 = static_cast<int>(blockIdx.y) * Wide::BM;
  const int col0 = static_cast<int>(blockIdx.x) * Wide::BN;
  tile_of_c<Wide>(product, row0, col0, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}

// It is *slower*: 46.8 TFLOP/s, where `async_copy` makes 48.2. Only two warps are left for each scheduler, so
// performance depends on how well each of them runs by itself. The profile shows an instruction issued in 79 of 100
// cycles, where `async_copy` had 84. Apart from its turn, a warp waits longest in the *dispatch stall*, 9 % of its time: it
// had an instruction ready, but the dispatcher held it back. In `async_copy` that is 10 %, but there three other warps may
// fill the gap, and here one. (The tile is not the whole of it: with its blocks in groups, as in section 7, the same tile and
// order made 49.0 in a trial. nvcc picked other registers; the notes have it.) What holds back an FMA whose operands are all there?
//= 9 % of: 100 * ncu("wide_tile", "smsp__average_warps_issue_stalled_dispatch_stall_per_issue_active.ratio") /
//=   ncu("wide_tile", "smsp__average_warp_latency_per_inst_issued.ratio")
//= is 10 %: 100 * ncu("async_copy", "smsp__average_warps_issue_stalled_dispatch_stall_per_issue_active.ratio") /
//=   ncu("async_copy", "smsp__average_warp_latency_per_inst_issued.ratio")
//= because a warp waits longest: ncu("wide_tile", "smsp__average_warps_issue_stalled_dispatch_stall_per_issue_active.ratio")
//=   > max(ncu("wide_tile", "smsp__average_warps_issue_stalled_short_scoreboard_per_issue_active.ratio"),
//=   ncu("wide_tile", "smsp__average_warps_issue_stalled_wait_per_issue_active.ratio"),
//=   ncu("wide_tile", "smsp__average_warps_issue_stalled_long_scoreboard_per_issue_active.ratio"))
//= 46.8 TFLOP/s: rate("wide_tile") / 1000
//= makes 48.2: rate("async_copy") / 1000
//= 79 of 100: (ncu("wide_tile", "smsp__issue_active.avg.pct_of_peak_sustained_active"), 100)
//= had 84: ncu("async_copy", "smsp__issue_active.avg.pct_of_peak_sustained_active")

// ## 6. The order of the FMAs
//
// An FMA reads three registers, and the register file has banks, too. Chapter 10
// measures its rules on an H200 (*Register banks*): two banks, for even and odd numbers, and each gives one register in a cycle. So three operands take one and a half cycles at least, two if the next FMA needs the same
// bank, three if all lie in one. An operand in the *reuse cache* counts for nothing: an instruction can mark a register that the next
// one reads at the same operand position, `.reuse`, so that it is not read again. The other two still have to lie in different banks.
//
// So the order of independent FMAs matters. Go through the 16 x 8 thread tile row by row, and the element of A is
// reused along a row; at the end of each row everything is new. Go through it in serpentine order, down one column and
// up the next, and the element of B is reused along a column that is twice as long; at the turn it is the element of A.
//
// ```{drawing} fma-orders
// ```

/// outer_product with the columns in turn downwards and upwards.
template <int TM, int TN>
__device__ void serpentine_product(float (&acc)[TM][TN], const float (&a)[TM],
                                   const float (&b)[TN]) {
#pragma unroll
  for (int j = 0; j < TN; ++j) {
#pragma unroll
    for (int i = 0; i < TM; ++i) {
      const int ii = j % 2 == 0 ? i : TM - 1 - i;
      acc[ii][j] += a[ii] * b[j];
    }
  }
}

//? same_bits: Every element of C is still the sum of the same products, added up from the first k to the last. Do its
//?   bits change?
//? choices: no | yes
//? answer: "no"
//
// No: only FMAs of *different* sums change places. The compiler is free to reorder them in the same way.
//
//? order: How much faster is `serpentine` than `wide_tile` at 4096?
//? choices: under 2 % | 5-10 % | over 20 %
//? answer: {"under 2 %": ms("wide_tile") / ms("serpentine") < 1.02,
//?   "5-10 %": 1.05 < ms("wide_tile") / ms("serpentine") < 1.1,
//?   "over 20 %": ms("wide_tile") / ms("serpentine") > 1.2}

/// wide_tile with the FMAs of a step in serpentine order.
///
/// Launch: blocks of 256 threads with Wide::bytes of dynamic shared memory; grid.x >= n / 256, grid.y >= m / 128.
/// Requires: no particular alignment.
__global__ void __launch_bounds__(THREADS, 1)
    serpentine(int m, int n, int k, float alpha, const float* a, int lda, const float* b, int ldb,
               float beta, float* c, int ldc) {
  const auto product = [](auto& acc, const auto& a_frag, const auto& b_frag) {
    serpentine_product(acc, a_frag, b_frag);
  };
  const int row0 = static_cast<int>(blockIdx.y) * Wide::BM;
  const int col0 = static_cast<int>(blockIdx.x) * Wide::BN;
  tile_of_c<Wide>(product, row0, col0, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}

// 7 %, or 50.1 TFLOP/s, for the order of independent instructions; in the trial with groups it was 2 %. An instruction is issued
// in 84 of 100 cycles again; the dispatch stall falls to 6 % of a warp's time, and the wait for a fixed latency from 5 to
// 3 %. The loop marks 1939 operands for reuse instead of 1766. By chapter 10's rules a K-tile takes a warp 2227 cycles instead
// of 2433: they would make `wide_tile` 9 % slower. Which registers meet in an FMA is ptxas's choice, another one in each order;
// chapter 12 times 60 orders.
//= takes a warp 2227 cycles instead of 2433: (sass("serpentine", "cycles", "FFMA"), sass("wide_tile", "cycles", "FFMA"))
//= 9 % slower: 100 * (sass("wide_tile", "cycles", "FFMA") / sass("serpentine", "cycles", "FFMA") - 1)
//= 7 %: 100 * (ms("wide_tile") / ms("serpentine") - 1)
//= 6 % of: 100 * ncu("serpentine", "smsp__average_warps_issue_stalled_dispatch_stall_per_issue_active.ratio") /
//=   ncu("serpentine", "smsp__average_warp_latency_per_inst_issued.ratio")
//= from 5 to 3 %: (100 * ncu("wide_tile", "smsp__average_warps_issue_stalled_wait_per_issue_active.ratio") /
//=   ncu("wide_tile", "smsp__average_warp_latency_per_inst_issued.ratio"),
//=   100 * ncu("serpentine", "smsp__average_warps_issue_stalled_wait_per_issue_active.ratio") /
//=   ncu("serpentine", "smsp__average_warp_latency_per_inst_issued.ratio"))
//= 1939 operands for reuse instead of 1766: (sass("serpentine", "reuse", "FFMA"), sass("wide_tile", "reuse", "FFMA"))
//= 50.1 TFLOP/s: rate("serpentine") / 1000
//= 84 of 100: (ncu("serpentine", "smsp__issue_active.avg.pct_of_peak_sustained_active"), 100)
//
//? small: A product of 1024 has 32 tiles of 128 x 256. `async_copy` makes 21.3 TFLOP/s there. What does `serpentine`
//?   make?
//? answer: rate("serpentine", 1024) / 1000
//? unit: TFLOP/s
//? near: 20 %
//
// 11.8 TFLOP/s: 32 of 132 SMs have a block, a quarter of the machine. Large tiles need large matrices. Chapter 12 cuts
// tiles into pieces to get around that.
//= 11.8 TFLOP/s: rate("serpentine", 1024) / 1000
//= because a quarter of the machine: abs(rate("serpentine", 1024) / rate("serpentine") - 32 / 132) < 0.02

// ## 7. Which blocks run at the same time (second reading)
//
// 132 tiles are at work at a time. Numbered along the rows of C, for N = 8192, they form about four rows of 32 tiles,
// and for each step along K they read 4 * 128 floats of A and 32 * 256 of B, 8,704 in all, through L2. A more compact
// region would need fewer: in groups of 8 rows, walked column by column, 132 tiles need 8 * 128 + 16.5 * 256 = 5,248.
// This is called {term}`rasterization <rasterization>` or a block swizzle.
//= 8,704: 4 * 128 + 32 * 256
//= 5,248: 8 * 128 + 16.5 * 256
//
// ```{drawing} tile-orders
// ```

/// The place of tile number `id`, in tiles, when groups of 8 rows of tiles are walked column by column.
__device__ Place grouped_place(int id, int rows, int cols) {
  constexpr int group = 8;
  const int first = id / (group * cols) * group;  // row of tiles
  const int height = min(group, rows - first);
  const int in_group = id % (group * cols);
  return {first + in_group % height, in_group / height};
}

/// serpentine with the blocks in groups of 8 rows.
///
/// Launch: ceil(m / 128) * ceil(n / 256) blocks of 256 threads with Wide::bytes of dynamic shared memory.
/// Requires: no particular alignment.
__global__ void __launch_bounds__(THREADS, 1)
    grouped_tiles(int m, int n, int k, float alpha, const float* a, int lda, const float* b,
                  int ldb, float beta, float* c, int ldc) {
  const auto product = [](auto& acc, const auto& a_frag, const auto& b_frag) {
    serpentine_product(acc, a_frag, b_frag);
  };
  const Place tile =
      grouped_place(static_cast<int>(blockIdx.x), (m - 1) / Wide::BM + 1, (n - 1) / Wide::BN + 1);
  tile_of_c<Wide>(product, tile.row * Wide::BM, tile.col * Wide::BN, m, n, k, alpha, a, lda, b, ldb,
                  beta, c, ldc);
}

// A launch's counts do not show it: the same requests come in another order. Nsight Compute shows it, at 8192: 5.1 GB
// come from DRAM for `serpentine`, 3.0 GB for `grouped_tiles`. The clock does not: 50.7 TFLOP/s and 50.6 at 8192. 5.1
// GB in 21.7 ms are 5 % of what a copy reaches, and warps spend 3 % of their time waiting for a load with either order.
// Grouping solves a problem that this kernel does not have. A product on tensor cores may have it, as it needs the
// same bytes in a fraction of the time.
//= 5.1 GB: ncu("serpentine", "dram__bytes_read.sum", 8192) / 1e9
//= 3.0 GB: ncu("grouped_tiles", "dram__bytes_read.sum", 8192) / 1e9
//= 50.7 TFLOP/s and 50.6: (rate("serpentine", 8192) / 1000, rate("grouped_tiles", 8192) / 1000)
//= 21.7 ms: ms("serpentine", 8192)
//= are 5 %: 100 * ncu("serpentine", "dram__bytes_read.sum", 8192) / ms("serpentine", 8192) / limit("copy") / 1e6
//= 3 % of: 100 * ncu("serpentine", "smsp__average_warps_issue_stalled_long_scoreboard_per_issue_active.ratio", 8192) /
//=   ncu("serpentine", "smsp__average_warp_latency_per_inst_issued.ratio", 8192)

// ## What to remember
//
// - Software pipelining: compute with the data of this iteration while that of later ones is under way. The wait
//   stands as far behind the request as possible.
// - A load does not wait; the first use of its value does. Registers are the simplest buffer.
// - `cp.async` needs no registers, so a ring of several stages fits in shared memory. Each thread waits for its own
//   copies; a barrier makes that hold for all, and in a ring of two or more stages one barrier per iteration is enough.
// - Pipelining pays most where occupancy is low.
// - Once little waits, count instructions: with 128 FMA units per SM, every one that is not an FMA takes the place of
//   one.
// - The order of independent FMAs can be worth several per cent, by the registers that the compiler picks for it.
// - Large tiles need large matrices.
//
// ## What comes next
//
// The loop still does everything in every warp: addresses, copies, waits, a barrier for all, fragments, FMAs. Chapter
// 12 divides the work. Some warps only load, others only compute, and Hopper has hardware to coordinate them.
//
// ## Possibilities for extension
//
// 1. Give `wide_tile` three stages, then two. What does the one block on an SM lose?
// 2. Fetch the fragments without double buffering in `register_buffer`, and let one block alone run on an SM. Does it
//    need them there?
// 3. Transpose A in global memory first, with a kernel of its own, and copy it 16 bytes at a time. For which sizes
//    does that pay?
// 4. Let the serpentine go along the rows of the thread tile instead of the columns. Compare `-Xptxas -v`, then the
//    time.
// 5. Replace the three calls of `cp.async` by `cuda::pipeline` from `<cuda/pipeline>`. What stays the same?

// [hide] The ring of section 3
/// Adds copy_ring and its demonstration: 10 rows of 128 floats.
void add_ring(lab::Ladder& ladder) {
  constexpr size_t rows = 10, columns = 128;
  const auto value = [] __host__ __device__(size_t i) { return static_cast<float>(i % 67); };
  const auto sum = [] __host__ __device__(size_t column) {
    double sum = 0;
    for (size_t row = 0; row < rows; ++row) sum += (row * columns + columns - 1 - column) % 67;
    return sum;
  };
  const lab::Input<float> in(rows * columns, value);
  lab::DeviceBuffer<float> sums(columns, "sums");
  ladder.add({.name = "copy_ring",
              .launch = [&] { copy_ring<<<1, 128>>>(sums.data(), in.data(), rows); },
              .outputs = {lab::expect(sums, sum, lab::tolerance_for_sum(rows, 67))},
              .timed = false});
  ladder.demonstrate("no_wait", [&] { no_wait<<<1, 128>>>(sums.data(), in.data(), rows); });
}
// [/hide]

// ## The program

/// ring_sizes with so many stages and K-tiles so deep.
template <int STAGES, int BK>
lab::GemmVariant ring_of() {
  return {"stages=" + std::to_string(STAGES) + ", BK=" + std::to_string(BK),
          ring_sizes<STAGES, BK>,
          {BM, BN, THREADS, Ring<BM, BN, BK, STAGES, TM>::bytes}};
}

int main(int argc, char** argv) {
  return lab::run(argc, argv, [](lab::GemmLadder& ladder) {
    const lab::GemmLaunch square{BM, BN, THREADS};
    ladder.add("warp_tile", warp_tile, square);
    ladder.add("register_buffer", register_buffer, square);
    ladder.add_with(add_ring);
    ladder.add("async_copy", async_copy, {BM, BN, THREADS, Square::bytes});
    ladder.sweep("ring_sizes", {ring_of<2, 8>(), ring_of<2, 16>(), ring_of<2, 32>(),
                                ring_of<3, 8>(), ring_of<3, 16>(), ring_of<3, 32>(),
                                ring_of<4, 8>(), ring_of<4, 16>(), ring_of<4, 32>()});
    const lab::GemmLaunch wide{Wide::BM, Wide::BN, THREADS, Wide::bytes};
    ladder.add("wide_tile", wide_tile, wide);
    ladder.add("serpentine", serpentine, wide);
    // A grid of one dimension: the kernel itself works out which tile is whose.
    ladder.add("grouped_tiles", [](const lab::Gemm& g) {
      const int tiles = ((g.m - 1) / Wide::BM + 1) * ((g.n - 1) / Wide::BN + 1);
      CUDA_CHECK(cudaFuncSetAttribute(grouped_tiles, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                      static_cast<int>(Wide::bytes)));
      grouped_tiles<<<static_cast<unsigned>(tiles), THREADS, Wide::bytes>>>(
          g.m, g.n, g.k, g.alpha, g.a, g.lda, g.b, g.ldb, g.beta, g.c, g.ldc);
    });
  });
}
