// # Chapter 05: Bank conflicts
//
// Question: A kernel that works out of shared memory and registers still waits. What for?
// Builds on: 04_register_tiling
// Minutes: 40
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
//   ./learn run 05 --rung as_a_lies           the last kernel of chapter 04: A lies in its tile as in memory
//   ./learn run 05 --rung transposed_a        A's tile is stored transposed
//   ./learn run 05 --rung padded_a            the same with padding
//   ./learn run 05 --rung swizzled_a          a swizzle in place of the padding
//   ./learn run 05 --rung split_tile          the 8 x 8 thread tile becomes four tiles of 4 x 4
//   ./learn run 05 --rung warp_shapes         the reads of one step, for each shape and numbering of a warp
//   ./learn run 05 --rung square_warp         a 4 x 8 warp, with the 8 x 8 thread tile in one piece
//   ./learn run 05 --rung warp_tile           a 4 x 8 warp with the split tile: 32 x 64 elements a warp
//   ./learn run 05 --rung thread_orders       other orders of the lanes, for the layout of chapter 04

#include <cuda_runtime.h>

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "lab/lab.h"

// In the last kernel of chapter 04 each thread computes 8 x 8 elements of C. For one step along K it reads 16 floats
// from shared memory and computes 64 FMAs with them. These reads keep shared memory busy for longer than the FMAs keep
// the FMA units busy. This chapter shows why, and makes the reads cheaper. The last kernel is 15 % faster; half of that comes
// before a read gets cheaper.
//= 15 %: 100 * (ms("as_a_lies/BK=32") / ms("warp_tile/BK=32") - 1)
//= half of that: (ms("as_a_lies/BK=32") / ms("padded_a/BK=32") - 1) / (ms("as_a_lies/BK=32") / ms("warp_tile/BK=32") - 1)
//
// Chapter 04 ended with K-tiles of 32, which wait less often than those of 8. Here each product runs with K-tiles of 8,
// 16 and 32, so that section 8 can tell waiting from wavefronts. Times are for 32 and for M = N = K = 4096 where
// nothing else is said.
//
// We count in {term}`wavefronts <wavefront>`, passes of a request through shared memory. An SM serves one wavefront per
// cycle, for all of its warps together. On a GPU with 128 FMA units per SM, as the H200, its four schedulers start four
// warp-wide FMAs in the same cycle. So four warps need at least 64 cycles for the 64 FMAs of a step, in which shared
// memory serves 64 wavefronts: 16 for each warp. **A kernel that takes more than 16 wavefronts per step cannot keep the FMA
// units busy, whatever else it does.** (With 64 FMA units, as in compute capability 7.x and 8.0, it is 32.)
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
constexpr int STRIDES = 34;      // of every_stride: 0 to 33

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

// ### Merged phases (second reading)
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
// capability 7.0 to 7.5. We measured 81 read patterns on an H200, 47 of them 8 or 16 bytes wide, and all follow the same rule; the simulator reproduces
// the count of every one (`tests/simulator/microkernels/h200.json`). Section 6 makes use of it.

// ### Other patterns (second reading)
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

/// every_stride for all strides from 0 to 33, with float, float2 and float4: 32 sums of each launch, one behind the other.
void all_strides(float* sums) {
  for (const auto kernel : {every_stride<float>, every_stride<float2>, every_stride<float4>})
    for (int stride = 0; stride < STRIDES; ++stride, sums += 32) kernel<<<1, 32>>>(sums, stride);
}

// Why does a stride of 2 conflict and 3 not? Lanes a and b meet in a bank where 32 divides (a - b) s. With s = 2 those
// are lanes 16 apart. With s = 3 they would have to be 32 apart, since 3 and 32 have no common factor.
//
// With gcd for the greatest common divisor, a stride of s takes gcd(s, 32) wavefronts for 4 bytes, 2 gcd(s, 16) for 8
// bytes and 4 gcd(s, 8) for 16 bytes. The factor is the number of phases, and 32, 16 or 8 words go once around the
// banks. Only a stride of 0 is different: all lanes want one word, which is broadcast.

// ### What a wavefront costs
//
// On a GPU `strided_reads` is timed with all SMs reading: two blocks of 32 warps on each of 132 SMs, 512 reads for
// each warp. That is 32,768 reads per SM. With a stride of 32 each read takes 31 wavefronts more than with a
// stride of 1, and the kernel 0.51 ms longer: 0.51 ns for each wavefront, one cycle at 1.98 GHz. **A wavefront is one
// cycle of an SM's shared memory.** (The whole kernel takes 26 times as long: its start and the filling of the array take
// as long as before.)
//= 32,768 reads: 2 * 32 * 512
//= 0.51 ms: ms("strided_reads/float, stride=32") - ms("strided_reads/float, stride=1")
//= 26 times: ms("strided_reads/float, stride=32") / ms("strided_reads/float, stride=1")
//= 0.51 ns: (ms("strided_reads/float, stride=32") - ms("strided_reads/float, stride=1")) * 1e6 / (31 * 32768)

// ## 2. Where we start
//
// Chapter 04 ended with a block of 256 threads that computes 128 x 128 elements of C. It goes along K in {term}`K-tiles
// <K-tile>`: the threads copy one of A and one of B to shared memory, then each multiplies. Thread (y, x) of 16 x 16 has
// rows 8y to 8y + 7 and columns 8x to 8x + 7 of the block's tile. The 8 floats of A and 8 of B that it needs for one step
// along K are its {term}`fragments <fragment>`.
//
// All products of this chapter are that kernel, `product`, with two parts exchanged: how A's K-tile lies in shared
// memory (`ATile`), and which elements of C a lane computes (`Lanes` and `SPLIT`). So two rungs differ in these parts and
// in nothing else. What follows is first what they have in common.

constexpr int BM = 128, BN = 128;  // of a block: BM x BN elements of C, in K-tiles of BK
constexpr int TM = 8, TN = 8;      // of a thread
constexpr int THREADS = 256;       // 8 warps
static_assert((BM / TM) * (BN / TN) == THREADS, "each thread computes TM x TN elements");

/// Reads a fragment of T floats as float4; the next float4 starts `step` floats after the one before.
template <int T>
__device__ void load_fragment(float (&frag)[T], const float* from, int step) {
#pragma unroll
  for (int q = 0; q < T / 4; ++q)
    *reinterpret_cast<float4*>(frag + 4 * q) = *reinterpret_cast<const float4*>(from + q * step);
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

/// The elements of C that a thread computes, in groups of 4 x 4: the first at (row, col) of the block's tile, the others
/// row_step rows below and col_step columns to the right of each other.
struct ThreadTile {
  int row, row_step, col, col_step;
};

/// Writes a thread's sums to C, whose block's tile begins at (row0, col0).
__device__ void store_tile(const float (&acc)[TM][TN], const ThreadTile& at, int row0, int col0,
                           int m, int n, float alpha, float beta, float* c, int ldc) {
  const bool aligned = lab::aligned16(c, ldc);
#pragma unroll
  for (int i = 0; i < TM; ++i) {
    const int row = row0 + at.row + i / 4 * at.row_step + i % 4;
    if (row >= m) continue;
#pragma unroll
    for (int q = 0; q < TN / 4; ++q) {
      const int col = col0 + at.col + q * at.col_step;
      const float* const four = &acc[i][4 * q];
      lab::update4(c + size_t(row) * ldc + col, n - col, aligned, alpha,
                   make_float4(four[0], four[1], four[2], four[3]), beta);
    }
  }
}

// ### The two parts
//
// A warp is 32 consecutive threads: y takes two values and x all 16, a *2 x 16 warp*, numbered row by row. (`SPLIT` is for
// section 5; take it as false.)

/// Where a lane stands in its warp, or a warp in its block.
struct Place {
  int row, col;
};

/// Lane by lane along the rows, for a warp with `rows` rows of lanes.
__host__ __device__ constexpr Place place_in_rows(unsigned lane, unsigned rows) {
  return {static_cast<int>(lane / (32 / rows)), static_cast<int>(lane % (32 / rows))};
}

/// Warps of R x 32 / R lanes, numbered row by row.
template <int R>
struct InRows {
  static constexpr int ROWS = R, COLS = 32 / R;
  static __device__ Place place(unsigned lane) { return place_in_rows(lane, ROWS); }
};

/// The tile of a thread: 8 x 8 neighbours, or with SPLIT four tiles of 4 x 4, between which those of the other lanes lie.
template <class Lanes, bool SPLIT>
__device__ ThreadTile thread_tile(unsigned thread) {
  constexpr int ROWS = Lanes::ROWS, COLS = Lanes::COLS;  // of lanes in a warp
  static_assert(ROWS * COLS == 32 && BM % (ROWS * TM) == 0 && BN % (COLS * TN) == 0);
  const Place warp = {static_cast<int>(thread / 32) / (BN / (COLS * TN)),
                      static_cast<int>(thread / 32) % (BN / (COLS * TN))};
  const Place lane = Lanes::place(thread % 32);
  return {warp.row * ROWS * TM + lane.row * (SPLIT ? 4 : TM), SPLIT ? 4 * ROWS : 4,
          warp.col * COLS * TN + lane.col * (SPLIT ? 4 : TN), SPLIT ? 4 * COLS : 4};
}

// The fragment of B is two float4. That of A is a column of the tile, so the thread reads one float4 *along K* in each of
// its 8 rows, which holds what four steps need.

/// A's K-tile as A lies.
template <int DEPTH>
struct AsALies {
  static constexpr int BK = DEPTH;
  static constexpr int WIDTH = BK;  // floats of a row of A that neighbouring threads copy
  static constexpr int STEPS = 4;   // steps along K whose fragments are read at a time
  static_assert(BK % STEPS == 0);
  float tile[BM][BK];  // (BM, BK)

  __device__ void store(int row, int k, float4 four) {
    *reinterpret_cast<float4*>(&tile[row][k]) = four;
  }
  __device__ void load(float (&frag)[STEPS][TM], const ThreadTile& at, int k) const {
#pragma unroll
    for (int i = 0; i < TM; ++i) {
      const int row = at.row + i / 4 * at.row_step + i % 4;
      const float4 four = *reinterpret_cast<const float4*>(&tile[row][k]);
      frag[0][i] = four.x, frag[1][i] = four.y, frag[2][i] = four.z, frag[3][i] = four.w;
    }
  }
};

// ### The product

/// C = alpha A B + beta C: 8 x 8 elements a thread, with A's K-tile in a layout and the lanes in an order of choice.
///
/// A is (m, k), B (k, n) and C (m, n), row-major; lda, ldb and ldc are floats from a row to the next. Where beta is 0,
/// C is not read.
///
/// @tparam ATile  A's K-tile in shared memory: its depth BK, store() of four neighbours of a row of A, of which the
///                threads copy WIDTH floats at a time, and load() of the fragments of STEPS steps along K
/// @tparam Lanes  rows and columns of lanes in a warp, and the place of each
/// @tparam SPLIT  whether a thread's 8 x 8 elements are four tiles of 4 x 4
///
/// Launch: blocks of 256 threads, grid.x >= n / 128, grid.y >= m / 128.
/// Requires: k at most 2^31 - BK; no particular alignment; rows that do not start at multiples of 16 bytes are moved
/// float by float.
template <class ATile, class Lanes, bool SPLIT = false>
__global__ void __launch_bounds__(THREADS, 2)
    product(int m, int n, int k, float alpha, const float* a, int lda, const float* b, int ldb,
            float beta, float* c, int ldc) {
  constexpr int BK = ATile::BK, WIDTH = ATile::WIDTH;
  constexpr int A_ROWS = THREADS / (WIDTH / 4), B_STEP = 4 * (THREADS / BK);  // copied at a time
  constexpr int A_COPIES = BM * BK / 4 / THREADS, B_COPIES = BN / B_STEP;     // float4 of a thread
  constexpr int ALONG = BK / WIDTH;                                           // of them along K
  static_assert(BM % A_ROWS == 0 && BK % WIDTH == 0 && THREADS % BK == 0 && BN % B_STEP == 0,
                "each thread copies as many float4 of a tile");
  __shared__ __align__(16) ATile a_tile;          // (BM, BK)
  __shared__ __align__(16) float b_tile[BK][BN];  // (BK, BN)
  const int thread = static_cast<int>(threadIdx.x);
  const int row0 = static_cast<int>(blockIdx.y) * BM, col0 = static_cast<int>(blockIdx.x) * BN;

  // The first float4 of each K-tile that this thread copies, and how much of A and B is left from there on.
  const int a_row = thread / (WIDTH / 4), a_k = thread % (WIDTH / 4) * 4;
  const int b_k = thread / (B_STEP / 4), b_col = thread % (B_STEP / 4) * 4;
  const bool a_aligned = lab::aligned16(a, lda), b_aligned = lab::aligned16(b, ldb);
  const float* a_from = a + size_t(row0 + a_row) * lda + a_k;
  const float* b_from = b + size_t(b_k) * ldb + (col0 + b_col);
  int a_left = row0 + a_row < m ? k - a_k : 0, b_rows_left = k - b_k;
  const int b_left = n - col0 - b_col;

  const ThreadTile at = thread_tile<Lanes, SPLIT>(threadIdx.x);
  float acc[TM][TN] = {};  // (TM, TN)
  for (int k_left = k; k_left > 0; k_left -= BK) {
    float4 a4[A_COPIES], b4[B_COPIES];
#pragma unroll
    for (int i = 0; i < A_COPIES; ++i) {
      const int down = i / ALONG * A_ROWS, right = i % ALONG * WIDTH;
      const int left = down == 0 || row0 + a_row + down < m ? a_left - right : 0;
      a4[i] = lab::load4(a_from + size_t(down) * lda + right, left, a_aligned);
    }
#pragma unroll
    for (int i = 0; i < B_COPIES; ++i) {
      const int left = b_rows_left > 0 ? b_left - i * B_STEP : 0;
      b4[i] = lab::load4(b_from + i * B_STEP, left, b_aligned);
    }
    a_from += BK;
    b_from += size_t(BK) * ldb;
    a_left -= BK;
    b_rows_left -= BK;
    __syncthreads();  // all have read the K-tile before
#pragma unroll
    for (int i = 0; i < A_COPIES; ++i)
      a_tile.store(a_row + i / ALONG * A_ROWS, a_k + i % ALONG * WIDTH, a4[i]);
#pragma unroll
    for (int i = 0; i < B_COPIES; ++i)
      *reinterpret_cast<float4*>(&b_tile[b_k][b_col + i * B_STEP]) = b4[i];
    __syncthreads();  // the K-tile is complete

#pragma unroll 16  // where a K-tile has 32 steps, nvcc 13.0 orders half of them better than all
    for (int l = 0; l < BK; l += ATile::STEPS) {
      alignas(16) float a_frag[ATile::STEPS][TM], b_frag[TN];
      a_tile.load(a_frag, at, l);
#pragma unroll
      for (int step = 0; step < ATile::STEPS; ++step) {
        load_fragment(b_frag, &b_tile[l + step][at.col], at.col_step);
        outer_product(acc, a_frag[step], b_frag);
      }
    }
  }
  store_tile(acc, at, row0, col0, m, n, alpha, beta, c, ldc);
}

const lab::GemmLaunch BLOCKS{BM, BN, {THREADS}};  // a block of 256 threads for each 128 x 128 of C

//? start: How many wavefronts does a warp take per step along K? Count the reads of four steps, eight float4 of A and
//?   eight of B, and divide by four.
//? answer: count("as_a_lies/BK=32", "shared_load_wavefronts") / 3072
//? unit: wavefronts per step
//? near: exact

/// The last kernel of chapter 04: product with A's tile as A lies.
///
/// @tparam BK  depth of a K-tile, as in all that follow: 8, 16 or 32
/// @param gemm the product
template <int BK>
void as_a_lies(const lab::Gemm& gemm) {
  lab::launch(product<AsALies<BK>, InRows<2>>, BLOCKS, gemm);
}

// It takes 20 wavefronts per step, 21 with the stores, and the budget is 16: shared memory alone limits it to three
// quarters of the peak, 51.0 TFLOP/s.
//= 20 wavefronts: count("as_a_lies/BK=32", "shared_load_wavefronts") / 3072
//= 21 with: count("as_a_lies/BK=32", "shared_wavefronts") / 3072
//= three quarters: 16 / (count("as_a_lies/BK=32", "shared_wavefronts") / 3072)
//= 51.0 TFLOP/s: 132 * 128 * 2 * 1.98e-3 * 16 / (count("as_a_lies/BK=32", "shared_wavefronts") / 3072)
//
// - *B.* The lanes want 16 different float4, two float4 apart: 8 wavefronts for each of two reads, where 4 would do.
// - *A.* The lanes want two different float4, one for each y. All 16 lanes of a half-warp agree, so phases merge: 2
//   wavefronts for each of eight reads, or 4 per step. The wavefronts are fine; the cost is registers. A thread holds
//   32 floats of A, of which a step uses 8.
//
// On an H200 it reaches 39.5 TFLOP/s at M = N = K = 4096 with K-tiles of 32, where cuBLAS makes 51.6. The kernel of
// chapter 04 makes 40.4 with the same reads and FMAs: nvcc orders them differently in the two programs, and here it keeps
// 24 bytes of each thread in local memory. Which of the two costs the 2 % is not measured. All are well below 51.0, so these
// kernels wait for something else, too; section 8 comes back to that.
//= reaches 39.5 TFLOP/s: rate("as_a_lies/BK=32") / 1000
//= makes 51.6: rate("cublas") / 1000
//= 24 bytes: sass("product<AsALies<32>, InRows<2>, false>", "spills")
//= makes 40.4: rate("04:k_tile_depth/BK=32") / 1000
//= the 2 %: 100 * (ms("as_a_lies/BK=32") / ms("04:k_tile_depth/BK=32") - 1)

// ## 3. A transposed
//
// The fragment of A is a *column* of its tile. If the tile were stored transposed, step by step along K, its 8 floats
// would be neighbours, and two float4 would fetch them, as for B. A thread then holds the 8 floats of A that the step
// needs. The cheapest place to transpose is the store to shared memory, which happens once where each float is read many
// times: the float4 that came from A, four neighbours along K, goes to four rows of the tile. `PAD` is for the next
// section; take it as 0.

/// A's K-tile transposed, in rows of BM + PAD floats.
template <int DEPTH, int PAD>
struct Transposed {
  static constexpr int BK = DEPTH, WIDTH = 8, STEPS = 1;
  static_assert(PAD % 4 == 0, "a row has to begin at a multiple of 16 bytes");
  float tile[BK][BM + PAD];  // (BK, BM)

  __device__ void store(int row, int k, float4 four) {
    tile[k][row] = four.x;
    tile[k + 1][row] = four.y;
    tile[k + 2][row] = four.z;
    tile[k + 3][row] = four.w;
  }
  __device__ void load(float (&frag)[STEPS][TM], const ThreadTile& at, int k) const {
    load_fragment(frag[0], &tile[k][at.row], at.row_step);
  }
};

//? transposed: How many wavefronts does a step take now?
//? answer: count("transposed_a/BK=32", "shared_load_wavefronts") / 3072
//? unit: wavefronts per step
//? near: exact

/// as_a_lies with A's tile transposed in shared memory.
template <int BK>
void transposed_a(const lab::Gemm& gemm) {
  lab::launch(product<Transposed<BK, 0>, InRows<2>>, BLOCKS, gemm);
}

// A takes two reads of one float4 for each half-warp. Neighbouring lanes agree, phases merge, 2 wavefronts each: 4 for
// A, 16 for B, 20 in all, as before.
//= 20 in all: count("transposed_a/BK=32", "shared_load_wavefronts") / 3072
//
// It is faster all the same, 41.4 TFLOP/s, 5 % more. Several things differ: 115 registers instead of 128, nothing in local
// memory, a loop of 16 steps instead of 32, and a warp copies 16 rows of A at a time instead of 4. Which of them counts is
// not measured.
//= 41.4 TFLOP/s: rate("transposed_a/BK=32") / 1000
//= 5 % more: 100 * (ms("as_a_lies/BK=32") / ms("transposed_a/BK=32") - 1)
//= 115 registers instead of 128: (sass("product<Transposed<32, 0>, InRows<2>, false>", "registers"),
//=   sass("product<AsALies<32>, InRows<2>, false>", "registers"))

// ## 4. Padding
//
// Now look at the four *stores* of A. A warp holds 16 rows of A, and for each row two lanes: `k` is 0 or 4. Its lanes
// write `tile[k + i][row]`.
//
//? stores: How many wavefronts does one of these stores take without padding?
//? answer: 1 + count("transposed_a/BK=8", "shared_store_bank_conflicts") / (6 * 8 * 8 * 4)
//? unit: wavefronts
//? near: exact
//
// It takes 2. Sixteen lanes write 16 neighbours of one row, the other sixteen write to a row that is 4 * 128 floats
// further on, a multiple of 32: the same 16 banks, while the other 16 have nothing to do. In all, the stores have
// 1,536 bank conflicts.
//= takes 2: 1 + count("transposed_a/BK=8", "shared_store_bank_conflicts") / (6 * 8 * 8 * 4)
//= 1,536 bank: count("transposed_a/BK=32", "shared_store_bank_conflicts")
//
//? padding: Rows of `a_tile` that are p floats longer move the second half of the warp by 4 p banks. Which p removes
//?   the conflicts and still allows float4 reads of the rows?
//? choices: 1 | 4 | 8 | 32
//? answer: {"1": 4 * 1 % 32 == 16,
//?   "4": 4 * 4 % 32 == 16 and count("padded_a/BK=32", "shared_store_bank_conflicts") == 0,
//?   "8": 4 * 8 % 32 == 16,
//?   "32": 4 * 32 % 32 == 16}
//
// 4 p has to be 16 modulo 32, so that the two halves lie side by side, and p has to be a multiple of 4 for float4. The
// usual advice, p = 1, moves the second half by 4 banks only, so that 12 still collide, and it breaks the alignment.
// CUTLASS pads K-tiles of 8 by the same rule: `simt_transpose_padding(32, 8, 32)` is 4.
//
//? padding_time: That removes 1,536 of 66,048 wavefronts. What does it do for the time at M = N = K = 4096?
//? choices: more than 10 % less | 5 to 10 % less | 0 to 5 % less | more
//? answer: {"more than 10 % less": ms("padded_a/BK=32") / ms("transposed_a/BK=32") < 0.9,
//?   "5 to 10 % less": 0.9 < ms("padded_a/BK=32") / ms("transposed_a/BK=32") < 0.95,
//?   "0 to 5 % less": 0.95 < ms("padded_a/BK=32") / ms("transposed_a/BK=32") < 1,
//?   "more": ms("padded_a/BK=32") / ms("transposed_a/BK=32") > 1}

/// transposed_a with 4 floats of padding in each row.
template <int BK>
void padded_a(const lab::Gemm& gemm) {
  lab::launch(product<Transposed<BK, 4>, InRows<2>>, BLOCKS, gemm);
}

// Its stores have 0 bank conflicts. The clock says 42.4 TFLOP/s instead of 41.4, 2 % more, and 2 % of the wavefronts
// are gone. In the machine code both loops have 1102 instructions; nvcc gives them other registers, so that not all of the
// gain need be due to the conflicts. Padding costs 512 bytes, so we keep it.
//= 0 bank conflicts: count("padded_a/BK=32", "shared_store_bank_conflicts")
//= 42.4 TFLOP/s instead of 41.4: (rate("padded_a/BK=32") / 1000, rate("transposed_a/BK=32") / 1000)
//= 2 % more, and 2 %: (100 * (ms("transposed_a/BK=32") / ms("padded_a/BK=32") - 1),
//=   100 * count("transposed_a/BK=32", "shared_store_bank_conflicts") / count("transposed_a/BK=32", "shared_wavefronts"))
//= 1102 instructions: min(sass("product<Transposed<32, 0>, InRows<2>, false>", "instructions", "loop"),
//=   sass("product<Transposed<32, 4>, InRows<2>, false>", "instructions", "loop"))
//= 512 bytes: 32 * 4 * 4

// ### A swizzle instead (second reading)
//
// Padding costs memory. A {term}`swizzle` costs none: each element moves to another column of its own row. Here every
// second group of four rows flips bit 4 of the column, an exclusive or with 16: columns 0 to 15 trade places with 16 to
// 31. The second half of the warp then writes to the other 16 banks, which is all that the padding did. A float4 stays
// in one piece, since only whole groups of 16 columns move.
//
//? swizzle: How many bank conflicts do its stores and its reads of A have together? (Its reads of B have those of before.)
//? answer: count("swizzled_a/BK=32", "shared_store_bank_conflicts") + count("swizzled_a/BK=32",
//?   "shared_load_bank_conflicts") - count("padded_a/BK=32", "shared_load_bank_conflicts")
//? unit: conflicts
//? near: exact

/// A's K-tile transposed, in rows of BM floats, of which every second group of four has bit 4 of the column flipped.
template <int DEPTH>
struct Swizzled {
  static constexpr int BK = DEPTH, WIDTH = 8, STEPS = 1;
  float tile[BK][BM];  // (BK, BM)

  static __device__ int column(int row, int k) { return row ^ (k / 4 % 2 * 16); }
  __device__ void store(int row, int k, float4 four) {
    tile[k][column(row, k)] = four.x;  // the four are in one group: k is a multiple of 4
    tile[k + 1][column(row, k)] = four.y;
    tile[k + 2][column(row, k)] = four.z;
    tile[k + 3][column(row, k)] = four.w;
  }
  __device__ void load(float (&frag)[STEPS][TM], const ThreadTile& at, int k) const {
#pragma unroll
    for (int q = 0; q < TM / 4; ++q)
      *reinterpret_cast<float4*>(&frag[0][4 * q]) =
          *reinterpret_cast<const float4*>(&tile[k][column(at.row + q * at.row_step, k)]);
  }
};

/// transposed_a with a swizzle of A's tile.
template <int BK>
void swizzled_a(const lab::Gemm& gemm) {
  lab::launch(product<Swizzled<BK>, InRows<2>>, BLOCKS, gemm);
}

// None, as with padding.
//
// **Timed.** 42.3 TFLOP/s, and 42.4 with padding (BK = 32). The 512 bytes that it saves make no room for another block, so
// the chapter goes on with padding.
//= 42.3 TFLOP/s, and 42.4: (rate("swizzled_a/BK=32") / 1000, rate("padded_a/BK=32") / 1000)
//= 512 bytes: 32 * 4 * 4
//
// Which bits to flip depends on who reads what: chapter 06 swizzles a tile that is written by rows and read by columns.

// ## 5. A thread tile in four pieces
//
// The reads of B conflict because the 8 columns of a thread are neighbours: from one lane to the next the address
// moves by two float4, which leaves out half of the banks. But nothing requires them to be neighbours. Give the thread
// two groups of four columns, 4x to 4x + 3 and the same 64 columns further on. Then consecutive lanes read consecutive
// float4. The same goes for the rows, 8 further on, and the 8 x 8 tile falls into four tiles of 4 x 4. In `thread_tile`
// of section 2 that is `SPLIT`.

//? split: How many wavefronts does a step take now?
//? answer: count("split_tile/BK=32", "shared_load_wavefronts") / 3072
//? unit: wavefronts per step
//? near: exact

/// padded_a with the thread tile as four tiles of 4 x 4.
template <int BK>
void split_tile(const lab::Gemm& gemm) {
  lab::launch(product<Transposed<BK, 4>, InRows<2>, true>, BLOCKS, gemm);
}

// Each read of B takes 4 wavefronts, the least for 2 x 16 lanes numbered row by row; each read of A takes 2. That
// makes 12, within the budget of 16, and there is no conflict left. The stores to C gain as well: 16 lanes now write
// consecutive float4, 16 sectors for a request instead of 32.
//= makes 12: count("split_tile/BK=32", "shared_load_wavefronts") / 3072
//= instead of 32: 2 * 16
//
// The clock says 44.9 TFLOP/s, 6 % more than with the tile in one piece, and with K-tiles of 8 it is 12 % more. Only
// index arithmetic has changed in the source; nvcc also picks other registers.
//= 44.9 TFLOP/s: rate("split_tile/BK=32") / 1000
//= 6 % more than: 100 * (ms("padded_a/BK=32") / ms("split_tile/BK=32") - 1)
//= is 12 % more: 100 * (ms("padded_a/BK=8") / ms("split_tile/BK=8") - 1)

// ## 6. The shape of a warp
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

/// Bit 0 of the lane chooses between two columns, bit 1 between two rows; the other bits go on with the column, then
/// with the row. For 2, 4, 8 or 16 rows.
__host__ __device__ constexpr Place place_in_pairs(unsigned lane, unsigned rows) {
  const unsigned rest = lane / 4, pairs = 16 / rows;  // pairs of columns
  return {static_cast<int>(lane / 2 % 2 + rest / pairs * 2),
          static_cast<int>(lane % 2 + rest % pairs * 2)};
}

/// Warps of R x 32 / R lanes, numbered in pairs.
template <int R>
struct InPairs {
  static constexpr int ROWS = R, COLS = 32 / R;
  static __device__ Place place(unsigned lane) { return place_in_pairs(lane, ROWS); }
};

//? square: How many wavefronts does a step of this kernel take?
//? answer: count("square_warp/BK=32", "shared_load_wavefronts") / 3072
//? unit: wavefronts per step
//? near: exact

/// padded_a with warps of 4 x 8 lanes, numbered in pairs: 32 x 64 elements of C for each warp.
template <int BK>
void square_warp(const lab::Gemm& gemm) {
  lab::launch(product<Transposed<BK, 4>, InPairs<4>>, BLOCKS, gemm);
}

// Merging turns four phases into two, in which 16 lanes read 8 different float4 of B. These lie two float4 apart, so
// they use half of the banks twice: 2 wavefronts for each of the two phases, 8 for both reads of B. A takes 4. That
// makes 12, as many as the split tile alone, by another way: half of the wavefronts of B are still conflicts.
//= makes 12: count("square_warp/BK=32", "shared_load_wavefronts") / 3072

// ### Every shape at once (second reading)
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
// not decide: what counts is how many phases are left after merging, and the conflicts in each. We take the split
// tile, since it also stores C in whole sectors, and 4 x 8, which with 8 x 4 is closest to a square.

// ## 7. Warp tiles
//
// So we combine both: the split tile, and a warp of 4 x 8 lanes numbered in pairs. It computes a *warp tile* of
// 32 x 64 elements. Block tile, {term}`warp tile`, thread tile: each level fits one level of the machine. The block
// shares shared memory, the warp shares wavefronts, the thread has registers. CUTLASS, NVIDIA's template library, is
// built on the same three levels.

//? last: A third of the wavefronts of `split_tile` is gone: 8 per step instead of 12. How much faster is the kernel at
//?   M = N = K = 4096?
//? choices: about a third | about a tenth | less than 5 %
//? answer: {"about a third": 1.25 < ms("split_tile/BK=32") / ms("warp_tile/BK=32") < 1.45,
//?   "about a tenth": 1.05 < ms("split_tile/BK=32") / ms("warp_tile/BK=32") < 1.15,
//?   "less than 5 %": 0.97 < ms("split_tile/BK=32") / ms("warp_tile/BK=32") < 1.05}

/// padded_a with warps of 4 x 8 lanes in pairs and the split thread tile: 32 x 64 elements of C for each warp.
template <int BK>
void warp_tile(const lab::Gemm& gemm) {
  lab::launch(product<Transposed<BK, 4>, InPairs<4>, true>, BLOCKS, gemm);
}

// 45.6 TFLOP/s, or 1 % more: 12 wavefronts were within the 16 already. The reads now keep shared memory busy for half
// of the time that the FMAs take. Of the 61,440 wavefronts that `as_a_lies` needed, 24,576 are left. (A well-known
// tutorial ends with warp tiles, too: Boehm, "How to Optimize a CUDA Matmul Kernel", 2022.)
//= 45.6 TFLOP/s: rate("warp_tile/BK=32") / 1000
//= 1 % more: 100 * (ms("split_tile/BK=32") / ms("warp_tile/BK=32") - 1)
//= 61,440 wavefronts: count("as_a_lies/BK=32", "shared_load_wavefronts")
//= 24,576 are: count("warp_tile/BK=32", "shared_load_wavefronts")
//= half of: count("warp_tile/BK=32", "shared_load_wavefronts") / 3072 / 16

// ## 8. Wavefronts and waiting (second reading)
//
// Two things cost time in these kernels: wavefronts, and waiting, for loads and at barriers. Each rung ran with K-tiles
// of three depths. Down a column of this table the wavefronts of a step are the same and the waits differ. Along a row the
// barriers are the same and the wavefronts differ. But the first three columns show that these are not all: registers and
// the order of instructions differ from rung to rung, too. Rates are in TFLOP/s.
//
// | | `as_a_lies` | `transposed_a` | `padded_a` | `split_tile` | `square_warp` | `warp_tile` |
// |---|--:|--:|--:|--:|--:|--:|
// | wavefronts | 20 | 20 | 20 | 12 | 12 | 8 |
// | BK = 8 | 33.7 | 37.1 | 37.8 | 42.4 | 42.4 | 42.5 |
// | BK = 16 | 37.5 | 39.0 | 40.2 | 44.2 | 44.4 | 45.0 |
// | BK = 32 | 39.5 | 41.4 | 42.4 | 44.9 | 44.8 | 45.6 |
//= | 20 | 20 | 20 | 12 | 12 | 8 |: (count("as_a_lies/BK=16", "shared_load_wavefronts") / 3072, count("transposed_a/BK=16", "shared_load_wavefronts") / 3072,
//=   count("padded_a/BK=16", "shared_load_wavefronts") / 3072, count("split_tile/BK=16", "shared_load_wavefronts") / 3072,
//=   count("square_warp/BK=16", "shared_load_wavefronts") / 3072, count("warp_tile/BK=16", "shared_load_wavefronts") / 3072)
//= | 33.7 | 37.1 | 37.8 | 42.4 | 42.4 | 42.5 |: (rate("as_a_lies/BK=8") / 1000, rate("transposed_a/BK=8") / 1000,
//=   rate("padded_a/BK=8") / 1000, rate("split_tile/BK=8") / 1000,
//=   rate("square_warp/BK=8") / 1000, rate("warp_tile/BK=8") / 1000)
//= | 37.5 | 39.0 | 40.2 | 44.2 | 44.4 | 45.0 |: (rate("as_a_lies/BK=16") / 1000, rate("transposed_a/BK=16") / 1000,
//=   rate("padded_a/BK=16") / 1000, rate("split_tile/BK=16") / 1000,
//=   rate("square_warp/BK=16") / 1000, rate("warp_tile/BK=16") / 1000)
//= | 39.5 | 41.4 | 42.4 | 44.9 | 44.8 | 45.6 |: (rate("as_a_lies/BK=32") / 1000, rate("transposed_a/BK=32") / 1000,
//=   rate("padded_a/BK=32") / 1000, rate("split_tile/BK=32") / 1000,
//=   rate("square_warp/BK=32") / 1000, rate("warp_tile/BK=32") / 1000)
//
// - *Wavefronts.* From 20 to 12 gains 12 % with K-tiles of 8 and 6 % with 32. From 12 to 8 gains less than 2 %.
//= gains 12 %: 100 * (ms("padded_a/BK=8") / ms("split_tile/BK=8") - 1)
//= and 6 %: 100 * (ms("padded_a/BK=32") / ms("split_tile/BK=32") - 1)
//= less than 2 %: 100 * (ms("split_tile/BK=32") / ms("warp_tile/BK=32") - 1)
// - *Waiting.* K-tiles of 32 in place of 8 gain 12 to 17 % where a step takes 20 wavefronts, 6 % where it takes 12, and 7 %
// where it takes 8.
//= gain 12 to 17 %: (100 * (ms("padded_a/BK=8") / ms("padded_a/BK=32") - 1), 100 * (ms("as_a_lies/BK=8") / ms("as_a_lies/BK=32") - 1))
//= 6 % where: 100 * (ms("split_tile/BK=8") / ms("split_tile/BK=32") - 1)
//= and 7 %: 100 * (ms("warp_tile/BK=8") / ms("warp_tile/BK=32") - 1)
// - *Conflicts.* `split_tile` and `square_warp` take as many wavefronts, one without conflicts and the other with four
// for each step. They are equally fast to within 1 %. (With K-tiles of 8 at 8192 it is another picture: 44.4, 42.6, and
// `warp_tile` makes 42.1. Why is not measured.)
//= 44.4, 42.6, and `warp_tile` makes 42.1: (rate("split_tile/BK=8", 8192) / 1000, rate("square_warp/BK=8", 8192) / 1000,
//=   rate("warp_tile/BK=8", 8192) / 1000)
//= within 1 %: max(abs(100 * (1 - ms("split_tile/BK=32") / ms("square_warp/BK=32"))), 1)
//
// The best of all is `warp_tile` with K-tiles of 32: 45.6 TFLOP/s at 4096 and 46.0 at 8192, nine tenths of cuBLAS.
// Neither shared memory nor the FMA units are busy all the time, so its warps still wait. That deeper K-tiles gain says that
// loads and barriers are a part of it; how large a part is not measured here. Chapter 11 takes the waiting apart.
//= 45.6 TFLOP/s at: rate("warp_tile/BK=32") / 1000
//= 46.0 at 8192: (rate("warp_tile/BK=32", 8192) / 1000, 8192)
//= nine tenths: ratio("warp_tile/BK=32")

// ## 9. alpha and beta (second reading)
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
//= 0.5 %: 100 * 4 * 4096 * 4096 / 1e6 / limit("copy") / ms("warp_tile/BK=32")

// ## 10. Other orders for the layout of chapter 04 (second reading)
//
// Back to the layout of chapter 04, where A's tile lies as A does. The threads of `as_a_lies` can lie on the tile
// in other orders, which changes nothing for the block or for a single thread, but a lot for a warp.

/// Warps of R x 32 / R lanes, numbered column by column.
template <int R>
struct InColumns {
  static constexpr int ROWS = R, COLS = 32 / R;
  static __device__ Place place(unsigned lane) {
    return {static_cast<int>(lane) % ROWS, static_cast<int>(lane) / ROWS};
  }
};

/// as_a_lies with K-tiles of 32 and its lanes in another order.
///
/// @tparam Lanes  as in product
/// @param gemm    the product
template <class Lanes>
void thread_orders(const lab::Gemm& gemm) {
  lab::launch(product<AsALies<32>, Lanes>, BLOCKS, gemm);
}

// ```{drawing} orders
// ```
//
// Follow lane 18. Its first element of C is (16, 8), (16, 16), (8, 16) or (24, 0): the same thread does other work in each
// order, and what it copies to shared memory stays the same.
//
// | lanes | different floats | wavefronts of a read of A | of B | per step |
// |---|--:|--:|--:|--:|
// | 16 x 2 in columns | 144 | 32 | 2 | 68 |
// | 4 x 8 in rows | 96 | 4 | 8 | 24 |
// | 2 x 16 in rows: `as_a_lies` | 144 | 2 | 8 | 20 |
// | 4 x 8 in pairs | 96 | 4 | 4 | 16 |
//= | 32 | 2 | 68 |: (32, 2, count("thread_orders/16 x 2 in columns", "shared_load_wavefronts") / 3072)
//= | 4 | 8 | 24 |: (4, 8, count("thread_orders/4 x 8 in rows", "shared_load_wavefronts") / 3072)
//= | 144 | 2 | 8 | 20 |: (144, 2, 8, count("as_a_lies/BK=32", "shared_load_wavefronts") / 3072)
//= | 96 | 4 | 4 | 16 |: (96, 4, 4, count("thread_orders/4 x 8 in pairs", "shared_load_wavefronts") / 3072)
//
// The first and the third need equally many different floats, and one takes more than three times the wavefronts of the
// other: numbered in columns, the 8 lanes of a phase read 8 rows of A's tile that are 256 floats apart, all in the same
// four banks. Numbering in pairs is the best of these, and still has 8 conflicts in each step. Half of them are B's, which
// section 5 ends; those of A need another layout of its tile.
//= 256 floats: 8 * 32
//= has 8 conflicts: count("thread_orders/4 x 8 in pairs", "shared_load_bank_conflicts") / 3072
//
// Rates have the order of the last column, 14.6 TFLOP/s, 37.6, 39.5 and 40.2, but not its proportions: `padded_a`, with
// 20 wavefronts, makes 42.4. (The two counters of Nsight Compute differ for the last kernel: 24 wavefronts per step in its
// source view, 16 at the unit.)
//= makes 42.4: rate("padded_a/BK=32") / 1000
//= 14.6 TFLOP/s, 37.6, 39.5 and 40.2: (rate("thread_orders/16 x 2 in columns") / 1000,
//=   rate("thread_orders/4 x 8 in rows") / 1000, rate("as_a_lies/BK=32") / 1000, rate("thread_orders/4 x 8 in pairs") / 1000)

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
// Shared memory is no longer the limit, and a ninth of cuBLAS's speed is missing. Chapter 06 takes banks and padding to
// a transpose. Chapter 11 goes on with the product: it overlaps the loads with the FMAs.
//= a ninth: 1 - ratio("warp_tile/BK=32")
//
// ## Possibilities for extension
//
// 1. Give `padded_a` a `PAD` of 8, 12 and 16. Predict the conflicts of the stores first.
// 2. Flip bit 2 of the column in `Swizzled` instead of bit 4: `k / 4 % 2 * 4`. Predict the conflicts of the stores, then
//    those of the reads.
// 3. Give `square_warp` 8 rows of lanes instead of 4, `InPairs<8>`. Section 6 says how many wavefronts a step takes.
//    What does the clock say? Then number 4 x 8 lanes column by column, `InColumns<4>`, where thread 18 begins at row 16
//    and column 32. Predict the wavefronts first: is there a conflict left?
// 4. Make the block tile 64 x 128 with 128 threads. How many wavefronts does a step take now, and how many floats does
//    the block copy for each FMA?
// 5. `./learn run 05 --size 4095,4095,4095 --rung warp_tile`: no row is aligned. What does the slow path cost?

// [hide] What the reads of sections 1 and 6 add up to
/// The sum of what a lane reads: `reads` words of so many floats, from number `first` on.
__host__ __device__ inline double sum_of_words(int first, int reads, int floats) {
  double sum = 0;
  for (int i = first * floats; i < (first + reads) * floats; ++i) sum += i % 64;
  return sum;
}

/// What thread i of strided_reads has.
struct StridedSum {
  int stride, reads, floats;
  __host__ __device__ double operator()(size_t i) const {
    return sum_of_words(static_cast<int>(i % 32) * stride, reads, floats);
  }
};

/// What thread i of all_strides has.
struct SumOfAllStrides {
  __host__ __device__ double operator()(size_t i) const {
    const int launch = static_cast<int>(i / 32);
    return StridedSum{launch % STRIDES, FEW_READS, 1 << launch / STRIDES}(i);
  }
};

/// What a variant of strided_reads calls its stride.
std::string name_of_stride(int stride) {
  return stride == 0 ? "one word" : "stride=" + std::to_string(stride);
}

constexpr const char* PATTERNS[] = {"permuted", "multicast", "half of float2", "two warps"};

/// The word with which thread i of a pattern begins.
struct FirstWord {
  int pattern;
  __host__ __device__ int operator()(size_t thread) const {
    const int i = static_cast<int>(thread);
    return pattern == 0   ? 5 * i % 32
           : pattern == 1 ? i / 2
           : pattern == 2 ? (i < 16 ? i : 2 * i)
                          : i;
  }
};

/// What thread i of a pattern has.
struct PatternSum {
  int pattern, floats;
  __host__ __device__ double operator()(size_t i) const {
    return sum_of_words(FirstWord{pattern}(i), FEW_READS, floats);
  }
};

/// A launch of warp_shapes, and what lane i of it has.
struct Shape {
  unsigned rows;
  bool pairs, split;
  std::string name() const {
    return std::to_string(rows) + "x" + std::to_string(32 / rows) +
           (pairs ? " in pairs" : " in rows") + (split ? ", split" : ", whole");
  }
  __host__ __device__ double operator()(size_t i) const {
    const unsigned lane = static_cast<unsigned>(i);
    const Place at = pairs ? place_in_pairs(lane, rows) : place_in_rows(lane, rows);
    const int width = split ? 4 : 8, cols = static_cast<int>(32 / rows);
    double sum = 0;
    for (int j = 0; j < 8; ++j) {
      const int a = at.row * width + j % 4 + j / 4 * (split ? static_cast<int>(rows) * 4 : 4);
      const int b = at.col * width + j % 4 + j / 4 * (split ? cols * 4 : 4);
      sum += a * b;
    }
    return sum;
  }
};

/// All that there are: one row of 32 lanes cannot be numbered in pairs.
std::vector<Shape> all_shapes() {
  std::vector<Shape> shapes;
  for (const bool pairs : {false, true})
    for (const bool split : {false, true})
      for (const unsigned rows : {1u, 2u, 4u, 8u, 16u})
        if (rows > 1 || !pairs) shapes.push_back({rows, pairs, split});
  return shapes;
}
// [/hide]

// ## The program

/// Adds a kernel that reads shared memory and leaves the sum of each thread, which is sum(i).
template <class Sum>
void add_reads(lab::Ladder& ladder, const char* name, const std::string& variant, size_t threads,
               Sum sum, double bytes, const std::function<void(float*)>& launch) {
  lab::DeviceBuffer<float> sums(threads, "sums");
  ladder.add({.name = name,
              .variant = variant,
              .launch = [&] { launch(sums.data()); },
              .outputs = {lab::expect(sums, sum)},
              .bytes = bytes,
              .timed = bytes > 0});
}

/// Variants of strided_reads: one warp where reads are counted, all SMs where they are timed.
template <class Word>
void add_strided(lab::Ladder& ladder, const std::string& word, std::initializer_list<int> strides) {
  const bool count = ladder.size().M < 1024;
  const unsigned blocks = count ? 1 : 2 * lab::multiprocessors(), threads = count ? 32 : 1024;
  const int reads = count ? FEW_READS : MANY_READS, floats = sizeof(Word) / sizeof(float);
  for (const int stride : strides) {
    add_reads(ladder, "strided_reads", word + ", " + name_of_stride(stride), blocks * threads,
              StridedSum{stride, reads, floats}, 4.0 * floats * reads * blocks * threads,
              [=](float* sums) { strided_reads<Word><<<blocks, threads>>>(sums, stride, reads); });
  }
}

/// A variant of read_patterns.
template <class Word>
void add_pattern(lab::Ladder& ladder, int pattern, unsigned threads) {
  const lab::Input<int> which(threads, FirstWord{pattern}, "which");
  add_reads(ladder, "read_patterns", PATTERNS[pattern], threads,
            PatternSum{pattern, sizeof(Word) / sizeof(float)}, 0,
            [&](float* sums) { read_patterns<Word><<<1, threads>>>(sums, which.data()); });
}

/// All rungs that compute no product.
void add_microbenchmarks(lab::Ladder& ladder) {
  add_strided<float>(ladder, "float", {0, 1, 2, 4, 8, 16, 32, 33});
  add_strided<float2>(ladder, "float2", {0, 1, 2, 16, 17});
  add_strided<float4>(ladder, "float4", {0, 1, 2, 8, 9});
  for (const int pattern : {0, 1, 3}) add_pattern<float>(ladder, pattern, pattern == 3 ? 64 : 32);
  add_pattern<float2>(ladder, 2, 32);
  add_reads(ladder, "every_stride", "", 3 * STRIDES * 32, SumOfAllStrides{}, 0, all_strides);
  for (const Shape& at : all_shapes())
    add_reads(ladder, "warp_shapes", at.name(), 32, at, 0,
              [&](float* sums) { warp_shapes<<<1, 32>>>(sums, at.rows, at.pairs, at.split); });
}

int main(int argc, char** argv) {
  return lab::run(argc, argv, [](lab::GemmLadder& ladder) {
    ladder.add_with(add_microbenchmarks);
    const auto add = [&](const char* rung, auto bk8, auto bk16, auto bk32) {
      ladder.add(rung, "BK=8", bk8);
      ladder.add(rung, "BK=16", bk16);
      ladder.add(rung, "BK=32", bk32);
    };
    add("as_a_lies", as_a_lies<8>, as_a_lies<16>, as_a_lies<32>);
    add("transposed_a", transposed_a<8>, transposed_a<16>, transposed_a<32>);
    add("padded_a", padded_a<8>, padded_a<16>, padded_a<32>);
    add("swizzled_a", swizzled_a<8>, swizzled_a<16>, swizzled_a<32>);
    add("split_tile", split_tile<8>, split_tile<16>, split_tile<32>);
    add("square_warp", square_warp<8>, square_warp<16>, square_warp<32>);
    add("warp_tile", warp_tile<8>, warp_tile<16>, warp_tile<32>);
    ladder.add("thread_orders", "16 x 2 in columns", thread_orders<InColumns<16>>);
    ladder.add("thread_orders", "4 x 8 in rows", thread_orders<InRows<4>>);
    ladder.add("thread_orders", "4 x 8 in pairs", thread_orders<InPairs<4>>);
  });
}
