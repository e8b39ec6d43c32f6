// # Chapter 05: Bank conflicts
//
// Question: A kernel that works out of shared memory and registers still waits. What for?
// Builds on: 04_register_tiling
// Minutes: 45
// Afterwards: find bank conflicts in the counts, and end them by padding, swizzling or another layout
// Kind: gemm
// Size gpu: 4096,4096,4096
// Size simulator: 200,300,60
// Sizes measured: 4096,4096,4096 1024,1024,1024 2048,2048,2048 8192,8192,8192
// Run: ./learn run 05
//   ./learn run 05 --rung cublas              the vendor's library: what all others are compared with  [needs cublas]
//   ./learn run 05 --rung strided_reads       32 lanes read 4, 8 or 16 bytes each, a stride apart
//   ./learn run 05 --rung read_patterns       other ways to spread 32 lanes over the banks
//   ./learn run 05 --rung every_stride        all strides from 0 to 33, with 4, 8 and 16 bytes a lane
//   ./learn run 05 --rung thread_tile_float4  8 x 8 elements a thread: the last kernel of chapter 04
//   ./learn run 05 --rung thread_tile         the same, with A read one float at a time
//   ./learn run 05 --rung transposed_a        A's tile is stored transposed, without and with padding
//   ./learn run 05 --rung split_tile          the 8 x 8 thread tile becomes four tiles of 4 x 4
//   ./learn run 05 --rung warp_shapes         the reads of one step, for each shape and numbering of a warp
//   ./learn run 05 --rung square_warp         a 4 x 8 warp, with the 8 x 8 thread tile in one piece
//   ./learn run 05 --rung warp_tile           a 4 x 8 warp with the split tile: 32 x 64 elements a warp
//   ./learn run 05 --rung thread_orders       four ways to lay the threads of chapter 04 over the tile

#include <cuda_runtime.h>

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "lab/lab.h"

// In `thread_tile_float4` of chapter 04 each thread computes 8 x 8 elements of C. For one step along K it reads 16
// floats from shared memory and computes 64 FMAs with them. These reads keep shared memory busy for longer than the FMAs
// keep the FMA units busy. This chapter shows why, and makes the reads cheaper in three moves. The last kernel is 20 %
// faster.
//= 20 %: 100 * (ms("thread_tile_float4") / ms("warp_tile") - 1)
//
// K-tiles are 8 deep all along, so that nothing but the reads changes. Chapter 04 made 40.4 TFLOP/s with K-tiles of 32,
// which wait less often. What both changes gain together is not measured in this course.
//= 40.4 TFLOP/s: rate("04:k_tile_depth/BK=32") / 1000
//
// We count in {term}`wavefronts <wavefront>`, passes of a request through shared memory. An SM serves one wavefront per
// cycle, for all of its warps together. On a GPU with 128 FMA units per SM, as the H200, its four schedulers start four
// warp-wide FMAs in the same cycle. So four warps need at least 64 cycles for the 64 FMAs of a step, in which shared
// memory serves 64 wavefronts: 16 for each warp. **A kernel that takes more than 16 wavefronts per step is bound by
// shared memory, whatever else it does.** (With 64 FMA units, as in compute capability 7.x and 8.0, it is 32.)
//= 64 cycles: 4 * 64 / 4
//= 16: 64 / 4
//= it is 32: 2 * 64 / 4
//
// All counts on this page are for M = 200, N = 300, K = 60, which the simulator runs by default: 6 tiles of 128 x 128,
// 8 warps each, 64 steps along K. That is 3,072 steps of a warp. The sizes are no multiples of the tiles, so that a
// missing bounds check shows.
//= 3,072 steps: 6 * 8 * 64

// ## 1. Banks
//
// A memory that returns any 32 words in one cycle would need 32 ports into every cell, far too much silicon. Shared
// memory has 32 {term}`banks <bank>` with one port each instead, side by side. Word i, of 4 bytes, lies in bank
// i mod 32. In one wavefront, each bank delivers one of its words to as many lanes as ask for it. When 32 lanes read
// one word each, there are three cases:
//
// - their words lie in 32 different banks: one wavefront, in whatever order;
// - some lanes want the *same* word: the bank {term}`broadcasts <broadcast>` it, still in one wavefront;
// - lanes want *different* words of one bank: the bank has to be read again for each of them. If n words of one bank
//   are wanted, the request takes n wavefronts. That is an n-way {term}`bank conflict`.
//
// The first rung reads words that lie a fixed stride apart. Each variant is one warp that reads eight times.

/// Fills an array in shared memory with floats: 0 to 63, again and again.
template <class Word, int SIZE>
__device__ void fill_words(Word (&words)[SIZE]) {
  float* const floats = reinterpret_cast<float*>(words);
  for (unsigned i = threadIdx.x; i < SIZE * sizeof(Word) / sizeof(float); i += blockDim.x)
    floats[i] = static_cast<float>(i % 64);
  __syncthreads();
}

/// Reads a word and adds its floats to a sum.
template <class Word>
__device__ void add_floats(float& sum, const Word& from) {
  const Word word = from;
  const float* const parts = reinterpret_cast<const float*>(&word);
  for (unsigned i = 0; i < sizeof(Word) / sizeof(float); ++i) sum += parts[i];
}

constexpr int FEW_READS = 8;     // where reads are counted
constexpr int MANY_READS = 512;  // where they are timed

//? stride_8: How many wavefronts does a read of 4-byte words take with a stride of 8?
//? answer: count("strided_reads/float, stride=8", "shared_load_wavefronts") /
//?   count("strided_reads/float, stride=8", "shared_load_requests")
//? unit: wavefronts
//? near: exact
//
// With a stride of 8 every eighth bank is in use, four in all, and 32 lanes want eight different words of each: 8
// wavefronts. Strides of 2, 4, 16 and 32 take 2, 4, 16 and 32.
//= 8 wavefronts: count("strided_reads/float, stride=8", "shared_load_wavefronts") / 8
//= 2, 4, 16 and 32 take 2, 4, 16 and 32: (2, 4, 16, 32,
//=   count("strided_reads/float, stride=2", "shared_load_wavefronts") / 8,
//=   count("strided_reads/float, stride=4", "shared_load_wavefronts") / 8,
//=   count("strided_reads/float, stride=16", "shared_load_wavefronts") / 8,
//=   count("strided_reads/float, stride=32", "shared_load_wavefronts") / 8)
//
//? stride_33: And with a stride of 33?
//? answer: count("strided_reads/float, stride=33", "shared_load_wavefronts") /
//?   count("strided_reads/float, stride=33", "shared_load_requests")
//? unit: wavefronts
//? near: exact

/// Lane i adds up the words number i * stride + r of shared memory, for r = 0, 1, ..., reads - 1.
///
/// Word is float, float2 or float4: 4, 8 or 16 bytes for each lane. sums has a float for each thread of the grid.
///
/// Launch: one dimension, whole warps; stride at most 33, reads at most 512.
template <class Word>
__global__ void strided_reads(float* sums, int stride, int reads) {
  __shared__ Word words[31 * 33 + MANY_READS];
  fill_words(words);
  const int lane = static_cast<int>(threadIdx.x) % 32;
  float sum = 0;
#pragma unroll 8
  for (int r = 0; r < reads; ++r) add_floats(sum, words[lane * stride + r]);
  sums[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

// Lane i reads from bank 33 i mod 32 = i: 32 different banks, one wavefront. Any odd stride does the same. This is
// the classic remedy against conflicts: where a stride is a power of two, make it odd with an element that is not used.
//= one wavefront: count("strided_reads/float, stride=33", "shared_load_wavefronts") / 8

// ### Wide words
//
// A lane may also read 8 or 16 bytes at once, as a `float2` or `float4`, if the address is a multiple of that size.
// The 32 lanes then ask for 256 or 512 bytes, and the banks deliver 128 per wavefront. So the request is split into
// *phases*: two half-warps for 8 bytes, four quarter-warps for 16. Lanes conflict only with lanes of their own phase.
//
//? float4_stride_2: How many wavefronts does a read of float4 take with a stride of two float4?
//? answer: count("strided_reads/float4, stride=2", "shared_load_wavefronts") /
//?   count("strided_reads/float4, stride=2", "shared_load_requests")
//? unit: wavefronts
//? near: exact
//
// Eight lanes form a phase. With a stride of one float4 they cover all 32 banks once, so a read takes 4 wavefronts,
// the least for 512 bytes and therefore no conflict. With a stride of two float4 they use half of the banks twice: 8
// wavefronts.
//= 4 wavefronts: count("strided_reads/float4, stride=1", "shared_load_wavefronts") / 8
//= 8 wavefronts: count("strided_reads/float4, stride=2", "shared_load_wavefronts") / 8

// ### Merged phases
//
// If all lanes read the *same* float4, the hardware needs 2 wavefronts, not 4; for the same float2 it needs 1, not 2.
// It merges two phases where half of the lanes ask for nothing new. That happens for two patterns:
//= 2 wavefronts: count("strided_reads/float4, one word", "shared_load_wavefronts") / 8
//= needs 1: count("strided_reads/float2, one word", "shared_load_wavefronts") / 8
//
// - every active lane i reads the address of lane i ^ 1: lanes 0 and 1 agree, lanes 2 and 3, and so on;
// - every active lane i reads the address of lane i ^ 2: lanes 0 and 2 agree, lanes 1 and 3, and so on.
//
// The programming guide does not mention this. NVIDIA's [developer
// forum](https://forums.developer.nvidia.com/t/unexpected-shared-memory-bank-conflict/77228) states it for compute
// capability 7.0 to 7.5. We measured 81 read patterns on an H200, and all follow the same rule; the simulator reproduces
// the count of every one (`tests/microkernels/h200.json`). Section 7 makes use of it.

// ### Other patterns
//
// The next rung takes the word of each lane from a table, so that any pattern can be tried.

//? half: 32 lanes read float2. The first half-warp reads neighbours; in the second the stride is two float2. How many
//?   wavefronts does a read take?
//? answer: count("read_patterns/half of float2", "shared_load_wavefronts") / 8
//? unit: wavefronts
//? near: exact
//
// The phases are served one after the other: the first takes 1 wavefront, the second 2. A conflict costs only the
// phase that has it: 3 wavefronts.
//= 3 wavefronts: count("read_patterns/half of float2", "shared_load_wavefronts") / 8
//
//? two_warps: Two warps run the same kernel. Each reads 32 neighbouring words, from different rows of an array that is
//?   32 words wide, so both want all 32 banks. How many bank conflicts are there?
//? answer: count("read_patterns/two warps", "shared_load_bank_conflicts")
//? unit: conflicts
//? near: exact

/// Each thread adds up eight words of shared memory, number which[threadIdx.x] + r for r = 0 to 7.
///
/// Word is float or float2. sums and which have an element for each thread; the words are numbered up to 127.
///
/// Launch: one block, whole warps.
template <class Word>
__global__ void read_patterns(float* sums, const int* which) {
  __shared__ Word words[128 + FEW_READS];
  fill_words(words);
  const int first = which[threadIdx.x];
  float sum = 0;
#pragma unroll
  for (int r = 0; r < FEW_READS; ++r) add_floats(sum, words[first + r]);
  sums[threadIdx.x] = sum;
}

// None: a conflict arises within one request, and so within one warp. Requests of different warps take turns anyway. They
// share the bandwidth, one wavefront per cycle, but do not conflict. The other two variants are the first two cases of the list
// above: `permuted`, where the lanes read 32 neighbours in shuffled order, and `multicast`, where each word serves two
// lanes. Both take one wavefront per read.
//= one wavefront: count("read_patterns/permuted", "shared_load_wavefronts") / 8

// ### Any stride
//
// One more rung reads at all strides from 0 to 33 in all three widths, in 102 launches of one warp.

/// Lane i adds up the words number i * stride + r of shared memory, for r = 0 to 7.
///
/// Launch: one block of 32 threads; stride at most 33.
template <class Word>
__global__ void every_stride(float* sums, int stride) {
  __shared__ Word words[31 * 33 + FEW_READS];
  fill_words(words);
  const int lane = static_cast<int>(threadIdx.x);
  float sum = 0;
#pragma unroll
  for (int r = 0; r < FEW_READS; ++r) add_floats(sum, words[lane * stride + r]);
  sums[lane] = sum;
}

// With gcd for the greatest common divisor, a stride of s takes gcd(s, 32) wavefronts for 4 bytes, 2 gcd(s, 16) for 8
// bytes and 4 gcd(s, 8) for 16 bytes. The factor is the number of phases, and 32, 16 or 8 words go once around the
// banks. Only a stride of 0 is different, where phases merge.

// ### What a wavefront costs
//
// On a GPU `strided_reads` is timed with all SMs reading: two blocks of 32 warps on each of 132 SMs, 512 reads for
// each warp. That is 32,768 reads per SM. With a stride of 32 each read takes 31 wavefronts more than with a
// stride of 1, and the kernel 0.51 ms longer: 0.51 ns for each wavefront, one cycle at 1.98 GHz. **A wavefront is one
// cycle of an SM's shared memory.** A conflict-free access is no slower than that, and a 32-way conflict is 32 times
// as slow.
//= 32,768 reads: 2 * 32 * 512
//= 0.51 ms: ms("strided_reads/float, stride=32") - ms("strided_reads/float, stride=1")
//= 0.51 ns: (ms("strided_reads/float, stride=32") - ms("strided_reads/float, stride=1")) * 1e6 / (31 * 32768)

// ## 2. Where we start
//
// This is `thread_tile_float4` of chapter 04. A block of 256 threads computes 128 x 128 elements of C. It goes along K in
// {term}`K-tiles <K-tile>` of 8: each thread copies one float4 of A and one of B to shared memory, then each thread
// multiplies. Thread (y, x) of 16 x 16 has rows 8y to 8y + 7 and columns 8x to 8x + 7 of the block's tile. The 8
// floats of A and 8 of B that it needs for one step along K are its {term}`fragments <fragment>`. Those of B are two
// float4. Those of A form a column of the tile, so the thread reads one float4 *along K* in each of its 8 rows, which
// holds what four steps need.

constexpr int BM = 128, BN = 128, BK = 8;  // of a block: BM x BN elements of C, in K-tiles of BK
constexpr int TM = 8, TN = 8;              // of a thread
constexpr int THREADS = 256;               // 8 warps

// A warp is 32 consecutive threads: y takes two values and x all 16, a *2 x 16 warp*.
//
//? start: How many wavefronts does a warp take per step along K? Count the reads of four steps, eight float4 of A and
//?   eight of B, and divide by four.
//? answer: count("thread_tile_float4", "shared_load_wavefronts") / 3072
//? unit: wavefronts per step
//? near: exact

/// C = alpha A B + beta C: 8 x 8 elements a thread, the tiles in shared memory laid out as A and B are.
///
/// A is (m, k), B (k, n) and C (m, n), row-major; lda, ldb and ldc are floats from a row to the next. Where beta is 0,
/// C is not read.
///
/// Launch: blocks of 256 threads, grid.x >= n / 128, grid.y >= m / 128.
/// Requires: k at most 2^31 - 8; no particular alignment; rows that do not start at multiples of 16 bytes are moved
/// float by float.
__global__ void __launch_bounds__(THREADS, 2)
    thread_tile_float4(int m, int n, int k, float alpha, const float* a, int lda, const float* b,
                       int ldb, float beta, float* c, int ldc) {
  __shared__ __align__(16) float a_tile[BM][BK];  // (BM, BK)
  __shared__ __align__(16) float b_tile[BK][BN];  // (BK, BN)
  const int tid = static_cast<int>(threadIdx.x);
  const int row0 = static_cast<int>(blockIdx.y) * BM, col0 = static_cast<int>(blockIdx.x) * BN;

  // The float4 of each K-tile that this thread copies.
  const int a_row = tid / 2, a_k = tid % 2 * 4;
  const int b_k = tid / 32, b_col = tid % 32 * 4;
  const bool a_aligned = lab::aligned16(a, lda), b_aligned = lab::aligned16(b, ldb);
  const float* a_from = a + size_t(row0 + a_row) * lda + a_k;
  const float* b_from = b + size_t(b_k) * ldb + (col0 + b_col);

  const int row = tid / 16 * TM, col = tid % 16 * TN;  // where its tile of C begins in the block's
  float4 sum[TM][TN / 4] = {};                         // (TM, TN)
  for (int k0 = 0; k0 < k; k0 += BK) {
    const float4 a4 = lab::load4(a_from, row0 + a_row < m ? k - k0 - a_k : 0, a_aligned);
    const float4 b4 = lab::load4(b_from, k0 + b_k < k ? n - col0 - b_col : 0, b_aligned);
    a_from += BK;
    b_from += size_t(BK) * ldb;
    *reinterpret_cast<float4*>(&a_tile[a_row][a_k]) = a4;
    *reinterpret_cast<float4*>(&b_tile[b_k][b_col]) = b4;
    __syncthreads();  // the K-tile is complete

#pragma unroll
    for (int l = 0; l < BK; l += 4) {
      float4 left[TM];  // (TM, 4): four steps along K
#pragma unroll
      for (int i = 0; i < TM; ++i) left[i] = *reinterpret_cast<const float4*>(&a_tile[row + i][l]);
#pragma unroll
      for (int step = 0; step < 4; ++step) {
        float4 right[TN / 4];  // (1, TN)
#pragma unroll
        for (int j = 0; j < TN / 4; ++j)
          right[j] = *reinterpret_cast<const float4*>(&b_tile[l + step][col + 4 * j]);
#pragma unroll
        for (int i = 0; i < TM; ++i) {
          const float4& four = left[i];
          const float one = step == 0 ? four.x : step == 1 ? four.y : step == 2 ? four.z : four.w;
#pragma unroll
          for (int j = 0; j < TN / 4; ++j) {
            sum[i][j].x += one * right[j].x;
            sum[i][j].y += one * right[j].y;
            sum[i][j].z += one * right[j].z;
            sum[i][j].w += one * right[j].w;
          }
        }
      }
    }
    __syncthreads();  // all have read the K-tile: the next may overwrite it
  }

  const bool c_aligned = lab::aligned16(c, ldc);
#pragma unroll
  for (int i = 0; i < TM; ++i) {
    const int r = row0 + row + i;
    if (r >= m) continue;
#pragma unroll
    for (int j = 0; j < TN / 4; ++j) {
      const int at = col0 + col + 4 * j;
      lab::update4(c + size_t(r) * ldc + at, n - at, c_aligned, alpha, sum[i][j], beta);
    }
  }
}

// It takes 20 wavefronts per step, and the budget is 16.
//= 20 wavefronts: count("thread_tile_float4", "shared_load_wavefronts") / 3072
//
// - *B.* The lanes want 16 different float4, two float4 apart: 8 wavefronts for each of two reads, where 4 would do.
// - *A.* The lanes want two different float4, one for each y. All 16 lanes of a half-warp agree, so phases merge: 2
//   wavefronts for each of eight reads, or 4 per step. The wavefronts are fine; the cost is registers. A thread holds
//   32 floats of A, of which a step uses 8.
//
// On an H200 it reaches 34.5 TFLOP/s at M = N = K = 4096, where cuBLAS makes 51.4.
//= 34.5 TFLOP/s: rate("04:thread_tile_float4") / 1000
//= makes 51.4: rate("04:cublas") / 1000

// ## 3. One fragment of A at a time
//
// To save those registers, read the 8 floats of A that a step needs, one by one. This kernel is a deliberate step
// back, to see what is wrong with the layout of A's tile. From here on the kernels have three small helpers.

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

//? step_back: B still takes 16 wavefronts per step. How many does the step take now?
//? answer: count("thread_tile", "shared_load_wavefronts") / 3072
//? unit: wavefronts per step
//? near: exact

/// thread_tile_float4 with the fragment of A read float by float.
///
/// Launch: blocks of 256 threads, grid.x >= n / 128, grid.y >= m / 128.
/// Requires: k at most 2^31 - 8; no particular alignment.
__global__ void __launch_bounds__(THREADS)
    thread_tile(int m, int n, int k, float alpha, const float* a, int lda, const float* b, int ldb,
                float beta, float* c, int ldc) {
  __shared__ __align__(16) float a_tile[BM][BK];  // (BM, BK)
  __shared__ __align__(16) float b_tile[BK][BN];  // (BK, BN)
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

  const int row = tid / 16 * TM, col = tid % 16 * TN;
  float acc[TM][TN] = {};  // (TM, TN)
  for (int k0 = 0; k0 < k; k0 += BK) {
    const float4 a4 = lab::load4(a_from, a_left, a_aligned);
    const float4 b4 = lab::load4(b_from, b_left > 0 ? b_there : 0, b_aligned);
    a_from += BK, b_from += size_t(BK) * ldb, a_left -= BK, b_left -= BK;
    __syncthreads();  // all have read the K-tile before
    *reinterpret_cast<float4*>(&a_tile[a_row][a_k]) = a4;
    *reinterpret_cast<float4*>(&b_tile[b_k][b_col]) = b4;
    __syncthreads();  // the K-tile is complete

#pragma unroll 1
    for (int l = 0; l < BK; ++l) {
      float a_part[TM], b_part[TN];  // the fragments
      for (int i = 0; i < TM; ++i) a_part[i] = a_tile[row + i][l];
      load_fragment(b_part, &b_tile[l][col], 4);
      outer_product(acc, a_part, b_part);
    }
  }
  store_tile(acc, row0 + row, 4, col0 + col, 4, m, n, alpha, beta, c, ldc);
}

// A takes another 16, 32 in all. In each of its eight reads the lanes want one float of row 8y + i, for two values of
// y. Sixteen lanes share each of them, a broadcast. But the two floats are 8 rows of 8 floats apart, 64 floats, so
// they lie in the same bank: 2 wavefronts for each read, where 1 would do.
//= 32 in all: count("thread_tile", "shared_load_wavefronts") / 3072
//
// With 32 wavefronts the FMA units can work half of the time at best. The kernel reaches 26.2 TFLOP/s.
//= 26.2 TFLOP/s: rate("thread_tile") / 1000
//
// (`#pragma unroll 1` keeps the loop rolled up. Unrolled, nvcc sees that four steps read four neighbours of a row and
// fetches them as one float4, which is the kernel before this one.)

// ## 4. A transposed
//
// The fragment of A is a *column* of its tile, 8 floats that lie 8 apart. If the tile were stored transposed, step by
// step along K, they would be neighbours, and two float4 would fetch them, as for B. The cheapest place to transpose
// is the store to shared memory, which happens once where each float is read many times: the float4 that came from A,
// four neighbours along K, goes to four rows of the tile. `PAD` is for the next section; take it as 0.

//? transposed: How many wavefronts does a step take now?
//? answer: count("transposed_a/pad=0", "shared_load_wavefronts") / 3072
//? unit: wavefronts per step
//? near: exact

/// thread_tile with A's tile transposed in shared memory, and rows of BM + PAD floats there.
///
/// Launch: blocks of 256 threads, grid.x >= n / 128, grid.y >= m / 128.
/// Requires: PAD a multiple of 4; k at most 2^31 - 8; no particular alignment of the matrices.
template <int PAD>
__global__ void __launch_bounds__(THREADS)
    transposed_a(int m, int n, int k, float alpha, const float* a, int lda, const float* b, int ldb,
                 float beta, float* c, int ldc) {
  __shared__ __align__(16) float a_tile[BK][BM + PAD];  // (BK, BM), transposed
  __shared__ __align__(16) float b_tile[BK][BN];        // (BK, BN)
  const int tid = static_cast<int>(threadIdx.x);
  const int row0 = static_cast<int>(blockIdx.y) * BM, col0 = static_cast<int>(blockIdx.x) * BN;

  const int a_row = tid / 2, a_k = tid % 2 * 4;
  const int b_k = tid / 32, b_col = tid % 32 * 4;
  const bool a_aligned = lab::aligned16(a, lda), b_aligned = lab::aligned16(b, ldb);
  const float* a_from = a + size_t(row0 + a_row) * lda + a_k;
  const float* b_from = b + size_t(b_k) * ldb + (col0 + b_col);
  int a_left = row0 + a_row < m ? k - a_k : 0, b_left = k - b_k;
  const int b_there = n - col0 - b_col;

  const int row = tid / 16 * TM, col = tid % 16 * TN;
  float acc[TM][TN] = {};  // (TM, TN)
  for (int k0 = 0; k0 < k; k0 += BK) {
    const float4 a4 = lab::load4(a_from, a_left, a_aligned);
    const float4 b4 = lab::load4(b_from, b_left > 0 ? b_there : 0, b_aligned);
    a_from += BK, b_from += size_t(BK) * ldb, a_left -= BK, b_left -= BK;
    __syncthreads();
    a_tile[a_k][a_row] = a4.x;
    a_tile[a_k + 1][a_row] = a4.y;
    a_tile[a_k + 2][a_row] = a4.z;
    a_tile[a_k + 3][a_row] = a4.w;
    *reinterpret_cast<float4*>(&b_tile[b_k][b_col]) = b4;
    __syncthreads();

#pragma unroll
    for (int l = 0; l < BK; ++l) {
      float a_part[TM], b_part[TN];
      load_fragment(a_part, &a_tile[l][row], 4);
      load_fragment(b_part, &b_tile[l][col], 4);
      outer_product(acc, a_part, b_part);
    }
  }
  store_tile(acc, row0 + row, 4, col0 + col, 4, m, n, alpha, beta, c, ldc);
}

// A takes two reads of one float4 for each half-warp. Neighbouring lanes agree, phases merge, 2 wavefronts each: 4 for
// A, 16 for B, 20 in all. That is what chapter 04 had, with 8 registers for the fragment of A instead of 32. The clock
// says 36.8 TFLOP/s, 7 % more than `thread_tile_float4`. The registers need not be the reason: the launch bounds and the
// order of the instructions differ, too.
//= 20 in all: count("transposed_a/pad=0", "shared_load_wavefronts") / 3072
//= 36.8 TFLOP/s: rate("transposed_a/pad=0") / 1000
//= 7 % more: 100 * (ms("thread_tile_float4") / ms("transposed_a/pad=0") - 1)

// ## 5. Padding
//
// Now look at the four *stores* of A. A warp holds 16 rows of A, and for each row two lanes: `a_k` is 0 or 4. Its
// lanes write `a_tile[a_k + i][a_row]`.
//
//? stores: How many wavefronts does one of these stores take without padding?
//? answer: 1 + count("transposed_a/pad=0", "shared_store_bank_conflicts") / (6 * 8 * 8 * 4)
//? unit: wavefronts
//? near: exact
//
// It takes 2. Sixteen lanes write 16 neighbours of one row, the other sixteen write to a row that is 4 * 128 floats
// further on, a multiple of 32: the same 16 banks, while the other 16 have nothing to do. In all, the stores have
// 1,536 bank conflicts.
//= takes 2: 1 + count("transposed_a/pad=0", "shared_store_bank_conflicts") / (6 * 8 * 8 * 4)
//= 1,536 bank: count("transposed_a/pad=0", "shared_store_bank_conflicts")
//
//? padding: Rows of `a_tile` that are p floats longer move the second half of the warp by 4 p banks. Which p removes
//?   the conflicts and still allows float4 reads of the rows?
//? choices: 1 | 4 | 8 | 32
//? answer: {"1": 4 * 1 % 32 == 16,
//?   "4": 4 * 4 % 32 == 16 and count("transposed_a/pad=4", "shared_store_bank_conflicts") == 0,
//?   "8": 4 * 8 % 32 == 16,
//?   "32": 4 * 32 % 32 == 16}
//
// 4 p has to be 16 modulo 32, so that the two halves lie side by side, and p has to be a multiple of 4 for float4. The
// usual advice, p = 1, moves the second half by 4 banks only, so that 12 still collide, and it breaks the alignment.
// The variant `pad=4` has 0 bank conflicts in its stores. CUTLASS pads by the same rule: `simt_transpose_padding(32, 8,
// 32)` is 4.
//= 0 bank conflicts: count("transposed_a/pad=4", "shared_store_bank_conflicts")
//
//? padding_time: That removes 1,536 of 66,048 wavefronts. What does it do for the time at M = N = K = 4096?
//? choices: more than 10 % less | 2 to 10 % less | less than 2 % of change
//? answer: {"more than 10 % less": ms("transposed_a/pad=4") / ms("transposed_a/pad=0") < 0.9,
//?   "2 to 10 % less": 0.9 < ms("transposed_a/pad=4") / ms("transposed_a/pad=0") < 0.98,
//?   "less than 2 % of change": 0.98 < ms("transposed_a/pad=4") / ms("transposed_a/pad=0") < 1.02}
//
// It hardly shows: 3.74 ms become 3.73 ms. The stores were 2 % of the wavefronts, and shared memory is not all that
// the kernel waits for. Padding costs 128 bytes, so we keep it.
//= 3.74 ms become 3.73 ms: (ms("transposed_a/pad=0"), ms("transposed_a/pad=4"))
//= 2 %: 100 * count("transposed_a/pad=0", "shared_store_bank_conflicts") /
//=   count("transposed_a/pad=0", "shared_wavefronts")
//= 128 bytes: 8 * 4 * 4

// ## 6. A thread tile in four pieces
//
// The reads of B conflict because the 8 columns of a thread are neighbours: from one lane to the next the address
// moves by two float4, which leaves out half of the banks. But nothing requires them to be neighbours. Give the thread
// two groups of four columns, 4x to 4x + 3 and the same 64 columns further on. Then consecutive lanes read consecutive
// float4. The same goes for the rows, and the 8 x 8 tile falls into four tiles of 4 x 4.

//? split: How many wavefronts does a step take now?
//? answer: count("split_tile", "shared_load_wavefronts") / 3072
//? unit: wavefronts per step
//? near: exact

/// transposed_a<4> with the thread tile as four tiles of 4 x 4, 64 rows and 64 columns apart.
///
/// Launch: blocks of 256 threads, grid.x >= n / 128, grid.y >= m / 128.
/// Requires: k at most 2^31 - 8; no particular alignment.
__global__ void __launch_bounds__(THREADS)
    split_tile(int m, int n, int k, float alpha, const float* a, int lda, const float* b, int ldb,
               float beta, float* c, int ldc) {
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

  const int row = tid / 16 * 4, col = tid % 16 * 4;  // of the first 4 x 4
  float acc[TM][TN] = {};                            // (TM, TN): (2 x 4, 2 x 4)
  for (int k0 = 0; k0 < k; k0 += BK) {
    const float4 a4 = lab::load4(a_from, a_left, a_aligned);
    const float4 b4 = lab::load4(b_from, b_left > 0 ? b_there : 0, b_aligned);
    a_from += BK, b_from += size_t(BK) * ldb, a_left -= BK, b_left -= BK;
    __syncthreads();
    a_tile[a_k][a_row] = a4.x;
    a_tile[a_k + 1][a_row] = a4.y;
    a_tile[a_k + 2][a_row] = a4.z;
    a_tile[a_k + 3][a_row] = a4.w;
    *reinterpret_cast<float4*>(&b_tile[b_k][b_col]) = b4;
    __syncthreads();

#pragma unroll
    for (int l = 0; l < BK; ++l) {
      float a_part[TM], b_part[TN];
      load_fragment(a_part, &a_tile[l][row], 64);
      load_fragment(b_part, &b_tile[l][col], 64);
      outer_product(acc, a_part, b_part);
    }
  }
  store_tile(acc, row0 + row, 64, col0 + col, 64, m, n, alpha, beta, c, ldc);
}

// Each read of B takes 4 wavefronts, the least as long as lanes are numbered row by row; each read of A takes 2. That
// makes 12, within the budget of 16, and there is no conflict left. The stores to C gain as well: 16 lanes now write
// consecutive float4, 16 sectors for a request instead of 32.
//= makes 12: count("split_tile", "shared_load_wavefronts") / 3072
//= instead of 32: 2 * 16
//
// The clock says 40.1 TFLOP/s, 9 % more than with the tile in one piece. Only two lines of index arithmetic have
// changed.
//= 40.1 TFLOP/s: rate("split_tile") / 1000
//= 9 % more: 100 * (ms("transposed_a/pad=4") / ms("split_tile") - 1)

// ## 7. The shape of a warp
//
// No conflict means that no wavefront is wasted. It does not mean that the number of wavefronts is minimal. Two
// choices are left. How are the 32 lanes of a warp arranged: 2 x 16, 4 x 8, 8 x 4? And in which order are they
// numbered within that shape?
//
// The numbering decides whether phases merge (section 1): lanes i and i ^ 1 have to agree, or lanes i and i ^ 2. So
// let bit 0 of the lane number choose between two *columns*, and bit 1 between two *rows*. For 4 x 8:
//
//     lane     0  1  4  5  8  9 12 13
//              2  3  6  7 10 11 14 15
//             16 17 20 21 24 25 28 29
//             18 19 22 23 26 27 30 31
//
// Lanes i and i ^ 1 are in one row and read the same A. Lanes i and i ^ 2 are in one column and read the same B. Both
// reads merge. Numbered row by row, only the reads of A do. We call the two orders *in pairs* and *in rows*. (CUTLASS
// numbers the lanes of its kernels without tensor cores in pairs, too: `RowMajorInterleaved<2>`.)
//
// Is that enough to cure the conflicts of B, with the thread tile left in one piece? Here is a kernel whose warps are
// 4 x 8, numbered in pairs, with 8 x 8 neighbouring elements for each thread.

/// Where a lane stands in its warp, or a warp in its block.
struct Place {
  int row, col;
};

/// Lane by lane along the rows, for a warp with `rows` rows of lanes.
__host__ __device__ constexpr Place place_in_rows(unsigned lane, unsigned rows) {
  return {static_cast<int>(lane / (32 / rows)), static_cast<int>(lane % (32 / rows))};
}

/// Bit 0 of the lane chooses between two columns, bit 1 between two rows; the other bits go on with the column, then
/// with the row. For 2, 4, 8 or 16 rows.
__host__ __device__ constexpr Place place_in_pairs(unsigned lane, unsigned rows) {
  const unsigned rest = lane / 4, pairs = 16 / rows;  // pairs of columns
  return {static_cast<int>(lane / 2 % 2 + rest / pairs * 2),
          static_cast<int>(lane % 2 + rest % pairs * 2)};
}

//? square: How many wavefronts does a step of this kernel take?
//? answer: count("square_warp", "shared_load_wavefronts") / 3072
//? unit: wavefronts per step
//? near: exact

/// transposed_a<4> with warps of 4 x 8 lanes, numbered in pairs: 32 x 64 elements of C for each warp.
///
/// Launch: blocks of 256 threads, grid.x >= n / 128, grid.y >= m / 128.
/// Requires: k at most 2^31 - 8; no particular alignment.
__global__ void __launch_bounds__(THREADS, 2)
    square_warp(int m, int n, int k, float alpha, const float* a, int lda, const float* b, int ldb,
                float beta, float* c, int ldc) {
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

  const Place lane = place_in_pairs(threadIdx.x % 32, 4);
  const int row = static_cast<int>(threadIdx.x / 64) * 32 + lane.row * TM;      // 4 x 2 warps
  const int col = static_cast<int>(threadIdx.x / 32 % 2) * 64 + lane.col * TN;  // of 32 x 64
  float acc[TM][TN] = {};                                                       // (TM, TN)
  for (int k0 = 0; k0 < k; k0 += BK) {
    const float4 a4 = lab::load4(a_from, a_left, a_aligned);
    const float4 b4 = lab::load4(b_from, b_left > 0 ? b_there : 0, b_aligned);
    a_from += BK, b_from += size_t(BK) * ldb, a_left -= BK, b_left -= BK;
    __syncthreads();
    a_tile[a_k][a_row] = a4.x;
    a_tile[a_k + 1][a_row] = a4.y;
    a_tile[a_k + 2][a_row] = a4.z;
    a_tile[a_k + 3][a_row] = a4.w;
    *reinterpret_cast<float4*>(&b_tile[b_k][b_col]) = b4;
    __syncthreads();

#pragma unroll
    for (int l = 0; l < BK; ++l) {
      float a_part[TM], b_part[TN];
      load_fragment(a_part, &a_tile[l][row], 4);
      load_fragment(b_part, &b_tile[l][col], 4);
      outer_product(acc, a_part, b_part);
    }
  }
  store_tile(acc, row0 + row, 4, col0 + col, 4, m, n, alpha, beta, c, ldc);
}

// Merging turns four phases into two, in which 16 lanes read 8 different float4 of B. These lie two float4 apart, so
// they use half of the banks twice: 2 wavefronts for each of the two phases, 8 for both reads of B. A takes 4. That
// makes 12, as many as the split tile alone, by another way: half of the reads are still conflicts.
//= makes 12: count("square_warp", "shared_load_wavefronts") / 3072

// ### Every shape at once
//
// The next rung does the reads of one step, without FMAs, for every combination of shape, numbering and thread tile.

//? shapes: With the tile split and the lanes numbered in pairs, which shape takes the fewest wavefronts?
//? choices: 2 x 16 | 4 x 8 | 8 x 4 | all the same
//? answer: {"2 x 16": count("warp_shapes/2x16 in pairs, split", "shared_load_wavefronts") <
//?   min(count("warp_shapes/4x8 in pairs, split", "shared_load_wavefronts"),
//?   count("warp_shapes/8x4 in pairs, split", "shared_load_wavefronts")),
//?   "4 x 8": count("warp_shapes/4x8 in pairs, split", "shared_load_wavefronts") <
//?   min(count("warp_shapes/2x16 in pairs, split", "shared_load_wavefronts"),
//?   count("warp_shapes/8x4 in pairs, split", "shared_load_wavefronts")),
//?   "8 x 4": count("warp_shapes/8x4 in pairs, split", "shared_load_wavefronts") <
//?   min(count("warp_shapes/2x16 in pairs, split", "shared_load_wavefronts"),
//?   count("warp_shapes/4x8 in pairs, split", "shared_load_wavefronts")),
//?   "all the same": count("warp_shapes/2x16 in pairs, split", "shared_load_wavefronts") ==
//?   count("warp_shapes/4x8 in pairs, split", "shared_load_wavefronts") == count("warp_shapes/8x4 in pairs, split",
//?   "shared_load_wavefronts")}

/// One step along K without the FMAs: each lane reads the 8 floats of A and the 8 of B that its thread tile needs.
///
/// sums has a float for each lane; rows is 1, 2, 4, 8 or 16, or with pairs 2 to 16; `split` makes four tiles of 4 x 4.
///
/// Launch: one block of 32 threads.
__global__ void warp_shapes(float* sums, unsigned rows, bool pairs, bool split) {
  __shared__ __align__(16) float a_row[128], b_row[256];  // one step of both tiles: 16 and 32 lanes
  const unsigned lane = threadIdx.x;
  for (unsigned i = lane; i < 128; i += 32) a_row[i] = static_cast<float>(i);
  for (unsigned i = lane; i < 256; i += 32) b_row[i] = static_cast<float>(i);
  __syncwarp();

  const Place place = pairs ? place_in_pairs(lane, rows) : place_in_rows(lane, rows);
  const int width = split ? 4 : 8;
  float a_part[TM], b_part[TN];
  load_fragment(a_part, &a_row[place.row * width], split ? static_cast<int>(rows) * 4 : 4);
  load_fragment(b_part, &b_row[place.col * width], split ? static_cast<int>(32 / rows) * 4 : 4);
  float sum = 0;
  for (int i = 0; i < 8; ++i) sum += a_part[i] * b_part[i];
  sums[lane] = sum;
}

// Wavefronts per step:
//
// | warp | different floats | in rows, whole tile | in rows, split | in pairs, whole tile | in pairs, split |
// |---|--:|--:|--:|--:|--:|
// | 1 x 32 | 264 | 20 | 12 | | |
// | 2 x 16 | 144 | 20 | 12 | 12 | 8 |
// | 4 x 8 | 96 | 20 | 12 | 12 | 8 |
// | 8 x 4 | 96 | 12 | 12 | 8 | 8 |
// | 16 x 2 | 144 | 12 | 8 | 12 | 8 |
//= | 20 | 12 |: (count("warp_shapes/1x32 in rows, whole", "shared_load_wavefronts"),
//=   count("warp_shapes/1x32 in rows, split", "shared_load_wavefronts"))
//= | 20 | 12 | 12 | 8 |: (count("warp_shapes/2x16 in rows, whole", "shared_load_wavefronts"),
//=   count("warp_shapes/2x16 in rows, split", "shared_load_wavefronts"),
//=   count("warp_shapes/2x16 in pairs, whole", "shared_load_wavefronts"),
//=   count("warp_shapes/2x16 in pairs, split", "shared_load_wavefronts"))
//= | 20 | 12 | 12 | 8 |: (count("warp_shapes/4x8 in rows, whole", "shared_load_wavefronts"),
//=   count("warp_shapes/4x8 in rows, split", "shared_load_wavefronts"),
//=   count("warp_shapes/4x8 in pairs, whole", "shared_load_wavefronts"),
//=   count("warp_shapes/4x8 in pairs, split", "shared_load_wavefronts"))
//= | 12 | 12 | 8 | 8 |: (count("warp_shapes/8x4 in rows, whole", "shared_load_wavefronts"),
//=   count("warp_shapes/8x4 in rows, split", "shared_load_wavefronts"),
//=   count("warp_shapes/8x4 in pairs, whole", "shared_load_wavefronts"),
//=   count("warp_shapes/8x4 in pairs, split", "shared_load_wavefronts"))
//= | 12 | 8 | 12 | 8 |: (count("warp_shapes/16x2 in rows, whole", "shared_load_wavefronts"),
//=   count("warp_shapes/16x2 in rows, split", "shared_load_wavefronts"),
//=   count("warp_shapes/16x2 in pairs, whole", "shared_load_wavefronts"),
//=   count("warp_shapes/16x2 in pairs, split", "shared_load_wavefronts"))
//
// With the tile split, numbering in pairs takes 8 wavefronts whatever the shape. Without the split the shape matters,
// and 8 x 4 in pairs needs no split at all. The usual argument, that a square warp needs fewer different floats, does
// not decide: a wavefront delivers up to 128 bytes, and what counts is how well each phase fills it. We take the split
// tile, since it also stores C in whole sectors, and 4 x 8, whose warp tile is closest to a square.

// ## 8. Warp tiles
//
// So we combine both: the split tile, and a warp of 4 x 8 lanes numbered in pairs. It computes a *warp tile* of
// 32 x 64 elements. Block tile, {term}`warp tile`, thread tile: each level fits one level of the machine. The block
// shares shared memory, the warp shares wavefronts, the thread has registers. CUTLASS, NVIDIA's template library, is
// built on the same three levels.

//? last: A third of the wavefronts of `split_tile` is gone: 8 per step instead of 12. How much faster is the kernel at
//?   M = N = K = 4096?
//? choices: about a third | about a tenth | less than 5 %
//? answer: {"about a third": 1.25 < ms("split_tile") / ms("warp_tile") < 1.45,
//?   "about a tenth": 1.05 < ms("split_tile") / ms("warp_tile") < 1.15,
//?   "less than 5 %": 1 < ms("split_tile") / ms("warp_tile") < 1.05}

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
  const Place lane = place_in_pairs(threadIdx.x % 32, 4);
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
      float a_part[TM], b_part[TN];
      load_fragment(a_part, &a_tile[l][row], 16);
      load_fragment(b_part, &b_tile[l][col], 32);
      outer_product(acc, a_part, b_part);
    }
  }
  store_tile(acc, row0 + row, 16, col0 + col, 32, m, n, alpha, beta, c, ldc);
}

// 41.5 TFLOP/s, or 4 % more: 12 wavefronts were within the 16 already. The reads now keep shared memory busy for half of
// the time that the FMAs take, so it is no longer the bottleneck. Of the 98,304 wavefronts that `thread_tile` needed,
// 24,576 are left. (A well-known tutorial ends with warp tiles, too: Boehm, "How to Optimize a CUDA Matmul Kernel",
// 2022.)
//= 41.5 TFLOP/s: rate("warp_tile") / 1000
//= 4 % more: 100 * (ms("split_tile") / ms("warp_tile") - 1)
//= 98,304 wavefronts: count("thread_tile", "shared_load_wavefronts")
//= 24,576 are left: count("warp_tile", "shared_load_wavefronts")
//= half of: count("warp_tile", "shared_load_wavefronts") / 3072 / 16
//
// Below 16 wavefronts their number no longer matters: `square_warp`, with 12 of them and with conflicts, makes 42.1
// TFLOP/s, and 42.2 at 8192, where `warp_tile` makes 39.9. So the kernel without conflicts is the slower one, by 1 % and
// 5 %. Why is not measured. Both take 571 instructions for a K-tile; their stores of C differ, and the registers that the
// compiler picks. Chapter 11 goes on with `warp_tile` all the same, as its reads leave shared memory the most room.
//= 42.1 TFLOP/s: rate("square_warp") / 1000
//= 42.2: rate("square_warp", 8192) / 1000
//= 39.9: rate("warp_tile", 8192) / 1000
//= 1 % and: 100 * (1 - ms("square_warp") / ms("warp_tile"))
//= 5 %. Why: 100 * (1 - ms("square_warp", 8192) / ms("warp_tile", 8192))
//= 571 instructions: sass("warp_tile", "instructions", "FFMA")
//
// The kernel is still at four fifths of cuBLAS. Neither shared memory nor the FMA units are busy all the time, so it
// waits: for global memory, and at the two barriers of each K-tile. Chapter 11 is about that.
//= four fifths: ratio("warp_tile")

// ## 9. alpha and beta
//
// All these kernels compute C = alpha A B + beta C, as BLAS does, and the loop is not affected. In the {term}`epilogue`,
// the part after the loop, each sum is multiplied by alpha once: M N multiplications beside M N K FMAs. (BLAS does not
// even read A and B where alpha is 0. These kernels do, so a NaN in A or B reaches C then.)
//
// beta is more delicate. Where it is not 0, C has to be *read*, 4 M N bytes more. For 4096 that is 67 MB, which the
// H200 reads in 0.5 % of the time of the product; for small K it may be most of the time. Where beta is 0, C
// must *not* be read: it may be memory that was never written, and 0 times NaN is NaN. That is why `lab::update4`
// looks at beta first. All timings here are over a C full of NaN, so a kernel that let one through would fail.
//= 67 MB: 4 * 4096 * 4096 / 1e6
//= 0.5 %: 100 * 4 * 4096 * 4096 / 1e6 / limit("copy") / ms("warp_tile")

// ## 10. The threads of chapter 04 in other orders (second reading)
//
// Back to the layout of chapter 04, where A's tile lies as A does. Its 16 x 16 thread tiles can be dealt out to the
// threads in any order, which changes nothing for the block or for a single thread, but a lot for a warp:
//
// - `rows`: along the rows, a 2 x 16 warp; this is `thread_tile_float4` itself;
// - `columns`: down the columns, a 16 x 2 warp;
// - `blocks`: a 4 x 8 warp, numbered in rows;
// - `z-curve`: a 4 x 8 warp along a curve that keeps any 4, 8 or 16 consecutive lanes close together.

/// Which of the 16 x 16 thread tiles of the block is a thread's.
enum class Order { rows, columns, blocks, z_curve };

/// Where thread t of a block works, in units of thread tiles.
template <Order ORDER>
__device__ Place place_of(int t) {
  const int lane = t % 32, warp = t / 32;
  if constexpr (ORDER == Order::rows) return {t / 16, t % 16};
  if constexpr (ORDER == Order::columns) return {t % 16, t / 16};
  if constexpr (ORDER == Order::blocks) return {warp / 2 * 4 + lane / 8, warp % 2 * 8 + lane % 8};
  // z_curve: the bits of the lane belong to column, row, column, row, column.
  const int row = (lane >> 1 & 1) | (lane >> 2 & 2);
  const int col = (lane & 1) | (lane >> 1 & 2) | (lane >> 2 & 4);
  return {warp / 2 * 4 + row, warp % 2 * 8 + col};
}

/// thread_tile_float4 with its threads in another order.
///
/// Launch: blocks of 256 threads, grid.x >= n / 128, grid.y >= m / 128.
/// Requires: k at most 2^31 - 8; no particular alignment.
template <Order ORDER>
__global__ void __launch_bounds__(THREADS, 2)
    thread_orders(int m, int n, int k, float alpha, const float* a, int lda, const float* b,
                  int ldb, float beta, float* c, int ldc) {
  __shared__ __align__(16) float a_tile[BM][BK];  // (BM, BK)
  __shared__ __align__(16) float b_tile[BK][BN];  // (BK, BN)
  const int tid = static_cast<int>(threadIdx.x);
  const int row0 = static_cast<int>(blockIdx.y) * BM, col0 = static_cast<int>(blockIdx.x) * BN;

  const int a_row = tid / 2, a_k = tid % 2 * 4;
  const int b_k = tid / 32, b_col = tid % 32 * 4;
  const bool a_aligned = lab::aligned16(a, lda), b_aligned = lab::aligned16(b, ldb);
  const float* a_from = a + size_t(row0 + a_row) * lda + a_k;
  const float* b_from = b + size_t(b_k) * ldb + (col0 + b_col);

  const Place place = place_of<ORDER>(tid);
  const int row = place.row * TM, col = place.col * TN;
  float acc[TM][TN] = {};  // (TM, TN)
  for (int k0 = 0; k0 < k; k0 += BK) {
    const float4 a4 = lab::load4(a_from, row0 + a_row < m ? k - k0 - a_k : 0, a_aligned);
    const float4 b4 = lab::load4(b_from, k0 + b_k < k ? n - col0 - b_col : 0, b_aligned);
    a_from += BK;
    b_from += size_t(BK) * ldb;
    *reinterpret_cast<float4*>(&a_tile[a_row][a_k]) = a4;
    *reinterpret_cast<float4*>(&b_tile[b_k][b_col]) = b4;
    __syncthreads();

#pragma unroll
    for (int l = 0; l < BK; l += 4) {
      float along[4][TM];  // (4, TM): four steps along K
#pragma unroll
      for (int i = 0; i < TM; ++i) {
        const float4 four = *reinterpret_cast<const float4*>(&a_tile[row + i][l]);
        along[0][i] = four.x, along[1][i] = four.y, along[2][i] = four.z, along[3][i] = four.w;
      }
#pragma unroll
      for (int step = 0; step < 4; ++step) {
        float b_part[TN];
        load_fragment(b_part, &b_tile[l + step][col], 4);
        outer_product(acc, along[step], b_part);
      }
    }
    __syncthreads();
  }
  store_tile(acc, row0 + row, 4, col0 + col, 4, m, n, alpha, beta, c, ldc);
}

// | order | warp | different floats | wavefronts of a read of A | of B | per step |
// |---|---|--:|--:|--:|--:|
// | `columns` | 16 x 2 | 144 | 32 | 2 | 68 |
// | `blocks` | 4 x 8 | 96 | 4 | 8 | 24 |
// | `z-curve` | 4 x 8 | 96 | 8 | 2 | 20 |
// | `rows` | 2 x 16 | 144 | 2 | 8 | 20 |
//= | 32 | 2 | 68 |: (32, 2, count("thread_orders/columns", "shared_load_wavefronts") / 3072)
//= | 4 | 8 | 24 |: (4, 8, count("thread_orders/blocks", "shared_load_wavefronts") / 3072)
//= | 96 | 8 | 2 | 20 |: (96, 8, 2, count("thread_orders/z-curve", "shared_load_wavefronts") / 3072)
//= | 144 | 2 | 8 | 20 |: (144, 2, 8, count("thread_orders/rows", "shared_load_wavefronts") / 3072)
//
// `columns` and `rows` need equally many different floats, and one takes more than three times the wavefronts of the
// other: in `columns` the 8 lanes of a phase read 8 rows of A's tile that are 64 floats apart, all in the same four
// banks. Every order is good for one operand and bad for the other. Only another layout of the *tile* is good for
// both.
//
// Times follow the last column, with one exception: `columns` makes 13.6 TFLOP/s, `blocks` 31.3, `z-curve` 33.0 and
// `rows` 34.5. `z-curve` has the wavefronts of `rows` and is 5 % slower. In a profile its warps wait 1.48 cycles for
// shared memory per instruction, those of `rows` 0.79 (the notes have it). A possible reason is when the wavefronts come:
// the machine code reads all of A's fragments at the beginning of each half of a K-tile, when no warp of the block has
// anything to compute. For `z-curve` that makes 8 * (8 * 8 + 2 * 2) = 544 wavefronts in a row, for `rows` 256. Software
// pipelining, in chapter 11, reads fragments a step ahead.
//= 13.6 TFLOP/s: rate("thread_orders/columns") / 1000
//= `blocks` 31.3: rate("thread_orders/blocks") / 1000
//= `z-curve` 33.0: rate("thread_orders/z-curve") / 1000
//= `rows` 34.5: rate("thread_orders/rows") / 1000
//= 5 % slower: 100 * (ms("thread_orders/z-curve") / ms("thread_orders/rows") - 1)

// ## What to remember
//
// - Shared memory has 32 banks, each of which delivers one word per wavefront. Different words of one bank cost a
//   wavefront each; the same word costs nothing more.
// - Requests of 8 bytes per lane are served by half-warps, of 16 bytes by quarter-warps. Two phases merge where all lanes
//   agree with lane i ^ 1, or all with lane i ^ 2.
// - Only lanes of one request conflict. Different warps take turns.
// - Count wavefronts per step and compare them with the cycles of the FMAs. No conflict does not mean few wavefronts.
// - Store in the order in which data is read often. Pad so that both sides are free of conflicts.
// - A thread tile need not be in one piece, and lanes need not be numbered row by row.
//
// ## What comes next
//
// Shared memory is no longer the limit, and a fifth of cuBLAS's speed is missing. Chapter 06 takes banks and padding to a
// transpose. Chapter 11 goes on with the product: it overlaps the loads with the FMAs.
//
// ## Possibilities for extension
//
// 1. Give `transposed_a` a `PAD` of 8, 12 and 16. Predict the conflicts of the stores first.
// 2. Instead of padding, store element (k, row) of A's tile at column `row ^ (k / 4 * 16)`. This is a *swizzle*. Are
//    there conflicts? What has happened to the 128 bytes of padding?
// 3. Set BK to 16 in `warp_tile`. Each thread then copies two float4 of each tile. What changes in the counts?
// 4. Make the block tile 64 x 128 with 128 threads. How many wavefronts does a step take now, and how many floats does
//    the block copy for each FMA?
// 5. `./learn run 05 --size 4095,4095,4095 --rung warp_tile`: no row is aligned. What does the slow path cost?

// [hide] The reads of section 1
/// Adds a rung, or a variant of one, that reads shared memory and leaves the sum of each thread.
void add_reads(lab::Ladder& ladder, const char* name, const std::string& variant,
               const std::vector<double>& want, double largest, double bytes,
               const std::function<void(float*)>& launch) {
  lab::DeviceBuffer<float> sums(want.size(), "sums");
  ladder.add({.name = name,
              .variant = variant,
              .launch = [&] { launch(sums.data()); },
              .outputs = {lab::expect(sums, want, lab::tolerance_for_sum(4 * MANY_READS, largest))},
              .bytes = bytes,
              .timed = bytes > 0});
}

/// The sum of what a lane reads: `reads` words of so many floats, from number `first` on.
double sum_of_words(int first, int reads, int floats) {
  double sum = 0;
  for (int i = first * floats; i < (first + reads) * floats; ++i) sum += i % 64;
  return sum;
}

/// A variant of strided_reads: one warp where reads are counted, all SMs where they are timed.
template <class Word>
void add_strided(lab::Ladder& ladder, const std::string& word, std::initializer_list<int> strides) {
  const bool count = ladder.size().M < 1024;
  const int reads = count ? FEW_READS : MANY_READS;
  const int sms = lab::device_attribute(cudaDevAttrMultiProcessorCount);
  const unsigned blocks = count ? 1 : 2 * static_cast<unsigned>(sms), threads = count ? 32 : 1024;
  constexpr int floats = sizeof(Word) / sizeof(float);
  for (const int stride : strides) {
    std::vector<double> want(blocks * threads);
    for (std::size_t i = 0; i < want.size(); ++i)
      want[i] = sum_of_words(static_cast<int>(i % 32) * stride, reads, floats);
    const std::string variant = stride == 0 ? "one word" : "stride=" + std::to_string(stride);
    add_reads(ladder, "strided_reads", word + ", " + variant, want, 64,
              double(sizeof(Word)) * reads * blocks * threads,
              [=](float* sums) { strided_reads<Word><<<blocks, threads>>>(sums, stride, reads); });
  }
}

/// A variant of read_patterns.
template <class Word>
void add_pattern(lab::Ladder& ladder, const char* variant, const std::vector<int>& which) {
  const lab::DeviceBuffer<int> index(which, "which");
  std::vector<double> want;
  for (const int first : which)
    want.push_back(sum_of_words(first, FEW_READS, sizeof(Word) / sizeof(float)));
  add_reads(ladder, "read_patterns", variant, want, 64, 0, [&](float* sums) {
    read_patterns<Word><<<1, static_cast<unsigned>(which.size())>>>(sums, index.data());
  });
}

void add_patterns(lab::Ladder& ladder) {
  std::vector<int> permuted(32), multicast(32), half(32), two_warps(64);
  for (int i = 0; i < 32; ++i) {
    permuted[i] = 5 * i % 32;
    multicast[i] = i / 2;
    half[i] = i < 16 ? i : 2 * i;
    two_warps[i] = i, two_warps[32 + i] = 32 + i;
  }
  add_pattern<float>(ladder, "permuted", permuted);
  add_pattern<float>(ladder, "multicast", multicast);
  add_pattern<float2>(ladder, "half of float2", half);
  add_pattern<float>(ladder, "two warps", two_warps);
}

void add_every_stride(lab::Ladder& ladder) {
  constexpr int strides = 34;
  std::vector<double> want;
  for (const int floats : {1, 2, 4})
    for (int stride = 0; stride < strides; ++stride)
      for (int lane = 0; lane < 32; ++lane)
        want.push_back(sum_of_words(lane * stride, FEW_READS, floats));
  add_reads(ladder, "every_stride", "", want, 64, 0, [](float* to) {
    for (const auto kernel : {every_stride<float>, every_stride<float2>, every_stride<float4>})
      for (int stride = 0; stride < strides; ++stride, to += 32) kernel<<<1, 32>>>(to, stride);
  });
}

void add_shape(lab::Ladder& ladder, unsigned rows, bool pairs, bool split) {
  std::vector<double> want(32);
  for (unsigned lane = 0; lane < 32; ++lane) {
    const Place at = pairs ? place_in_pairs(lane, rows) : place_in_rows(lane, rows);
    const int width = split ? 4 : 8, cols = static_cast<int>(32 / rows);
    for (int i = 0; i < 8; ++i) {
      const int a = at.row * width + i % 4 + i / 4 * (split ? static_cast<int>(rows) * 4 : 4);
      const int b = at.col * width + i % 4 + i / 4 * (split ? cols * 4 : 4);
      want[lane] += a * b;
    }
  }
  const std::string shape = std::to_string(rows) + "x" + std::to_string(32 / rows);
  const std::string variant =
      shape + (pairs ? " in pairs" : " in rows") + (split ? ", split" : ", whole");
  add_reads(ladder, "warp_shapes", variant, want, 1 << 15, 0,
            [=](float* sums) { warp_shapes<<<1, 32>>>(sums, rows, pairs, split); });
}

/// All rungs that compute no product.
void add_microbenchmarks(lab::Ladder& ladder) {
  add_strided<float>(ladder, "float", {0, 1, 2, 4, 8, 16, 32, 33});
  add_strided<float2>(ladder, "float2", {0, 1, 2, 16, 17});
  add_strided<float4>(ladder, "float4", {0, 1, 2, 8, 9});
  add_patterns(ladder);
  add_every_stride(ladder);
  for (const bool pairs : {false, true})
    for (const bool split : {false, true})
      for (const unsigned rows : {1u, 2u, 4u, 8u, 16u})
        if (rows > 1 || !pairs) add_shape(ladder, rows, pairs, split);
}
// [/hide]

// ## The program

int main(int argc, char** argv) {
  // Names, ideas and sizes: the header above. cuBLAS is the peer.
  return lab::run(argc, argv, [](lab::GemmLadder& ladder) {
    ladder.add_with(add_microbenchmarks);

    const lab::GemmLaunch blocks{BM, BN,
                                 THREADS};  // a block of 256 threads for each 128 x 128 of C
    ladder.add("thread_tile_float4", thread_tile_float4, blocks);
    ladder.add("thread_tile", thread_tile, blocks);
    ladder.sweep("transposed_a",
                 {{"pad=0", transposed_a<0>, blocks}, {"pad=4", transposed_a<4>, blocks}});
    ladder.add("split_tile", split_tile, blocks);
    ladder.add("square_warp", square_warp, blocks);
    ladder.add("warp_tile", warp_tile, blocks);
    ladder.sweep("thread_orders", {{"columns", thread_orders<Order::columns>, blocks},
                                   {"blocks", thread_orders<Order::blocks>, blocks},
                                   {"z-curve", thread_orders<Order::z_curve>, blocks},
                                   {"rows", thread_orders<Order::rows>, blocks}});
  });
}
