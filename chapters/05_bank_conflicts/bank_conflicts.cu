// # Chapter 05: Bank conflicts
//
// Question: Why does a kernel that reads only shared memory and registers still wait, and how far can it go?
// Builds on: 04_register_tiling
// Size gpu: 4096,4096,4096
// Size simulator: 256,512,48
// Sizes measured: 4096,4096,4096 1024,1024,1024 2048,2048,2048 8192,8192,8192
// Run: ./learn run 05
//   ./learn run 05 --rung cublas              the vendor's library: what all others are compared with
//   ./learn run 05 --rung read_words          32 lanes read 32-bit words, so many words apart
//   ./learn run 05 --rung read_pairs          the same with 64 bits a lane
//   ./learn run 05 --rung read_quads          the same with 128 bits a lane
//   ./learn run 05 --rung every_stride        all strides from 0 to 33, with 32, 64 and 128 bits a lane
//   ./learn run 05 --rung thread_tile_float4  8 x 8 elements a thread: the last kernel of chapter 04
//   ./learn run 05 --rung thread_tile         the same with a fragment of A for each step, float by float
//   ./learn run 05 --rung transposed_a        A is stored transposed, so that a fragment is two float4
//   ./learn run 05 --rung padded_a            rows of A are 132 floats long: no conflicts of the stores
//   ./learn run 05 --rung split_tile          the 8 x 8 tile as four of 4 x 4: no conflicts of the loads
//   ./learn run 05 --rung warp_shapes         wavefronts of a step along K, for several warps
//   ./learn run 05 --rung warp_tile           a warp computes 32 x 64, its lanes numbered in pairs
//   ./learn run 05 --rung register_buffer     what comes next is already on its way to registers
//   ./learn run 05 --rung async_copy          four slices on their way to shared memory, past the registers
//   ./learn run 05 --rung wide_tile           16 x 8 elements a thread, 128 x 256 a block
//   ./learn run 05 --rung serpentine          the same multiply-adds in another order
//   ./learn run 05 --rung grouped_tiles       blocks that run at the same time share their rows and columns
//   ./learn run 05 --rung producer_warps      four warps load, eight compute; a block stays for many tiles
//   ./learn run 05 --rung even_shares         the tiles that make no whole wave are cut along K, evenly
//   ./learn run 05 --rung tile_by_shape       smaller tiles where there are few of them

#include <cuda_pipeline.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "lab/gemm.h"
#include "lab/lab.h"

// Chapter 04 has left us with a kernel whose threads compute 8 x 8 elements each. For a step along K a
// thread reads 8 elements of A and 8 of B from shared memory, and does 64 multiply-adds with them. The
// arithmetic should be what takes the time. It is not: the kernel waits for shared memory, which is
// asked for more than it would have to be. This chapter finds out why, and does not stop before
// shared memory is quiet, the registers are full, and the multiply-adders are what is waited for. In the
// end it passes the library.
//
// What we count are *wavefronts*: a request to shared memory is served in one or more passes, one in a
// cycle, for all warps of an SM together. A step of one warp has 64 multiply-adds, and the four
// schedulers of an SM start four of them in a cycle. So four warps take 64 cycles for a step at best,
// and in this time shared memory has 64 wavefronts to give, 16 for each warp. What needs more than 16
// wavefronts for a step waits for shared memory, whatever else it does. Remember this number.
//
// All counts below are for M = 256, N = 512, K = 48, the size that the simulator runs by default. That
// is 8 blocks of 8 warps, with 48 steps each: 3,072 steps of a warp.

constexpr int threads = 256;  ///< in a block of every kernel that computes a product: 8 warps
constexpr int BM = 128;       ///< rows of C that a block computes
constexpr int BN = 128;       ///< columns of C that a block computes
constexpr int BK = 8;         ///< how far a slice goes along K

// [hide] What the kernels share: four floats at a time, in and out
/// How many tiles of a width cover an extent.
__host__ __device__ constexpr int tiles_of(int extent, int width) {
  return (extent - 1) / width + 1;
}

/// Whether every row of a matrix starts at a multiple of 16 bytes, so that a float4 may.
__device__ bool aligned_rows(const float* matrix, int ld) {
  return (reinterpret_cast<std::uintptr_t>(matrix) | (static_cast<unsigned>(ld) * sizeof(float))) %
             sizeof(float4) ==
         0;
}

/// Four neighbours of a row, of which the first `there` exist; zeros for the others.
__device__ float4 load4(const float* from, int there, bool aligned) {
  if (aligned && there >= 4) return *reinterpret_cast<const float4*>(from);
  float4 quad = make_float4(0, 0, 0, 0);
  if (there > 0) quad.x = from[0];
  if (there > 1) quad.y = from[1];
  if (there > 2) quad.z = from[2];
  if (there > 3) quad.w = from[3];
  return quad;
}

/// A thread's share in fetching the slices of A and of B, 128 x 8 and 8 x 128: four neighbours in a
/// row of each, zeros where there are none.
struct SliceReader {
  int a_row, a_k;  ///< the first of the four in the slice of A
  int b_k, b_col;  ///< and in that of B

  __device__ SliceReader(const lab::Gemm& g, int row0, int col0)
      : a_row(static_cast<int>(threadIdx.x) / 2),
        a_k(static_cast<int>(threadIdx.x) % 2 * 4),
        b_k(static_cast<int>(threadIdx.x) / 32),
        b_col(static_cast<int>(threadIdx.x) % 32 * 4),
        a_(g.a + static_cast<std::size_t>(row0 + a_row) * static_cast<std::size_t>(g.lda) + a_k),
        b_(g.b + static_cast<std::size_t>(b_k) * static_cast<std::size_t>(g.ldb) + (col0 + b_col)),
        a_left_(row0 + a_row < g.m ? g.k - a_k : 0),
        b_left_(g.k - b_k),
        b_there_(g.n - col0 - b_col),
        ldb_(g.ldb),
        a_aligned_(aligned_rows(g.a, g.lda)),
        b_aligned_(aligned_rows(g.b, g.ldb)) {}

  /// The four elements of the slice of A and of B; the next call is about the slice after it.
  __device__ void read(float4& a4, float4& b4) {
    a4 = load4(a_, a_left_, a_aligned_);
    b4 = load4(b_, b_left_ > 0 ? b_there_ : 0, b_aligned_);
    a_ += BK;
    b_ += static_cast<std::size_t>(BK) * static_cast<std::size_t>(ldb_);
    a_left_ -= BK;
    b_left_ -= BK;
  }

 private:
  const float *a_, *b_;
  int a_left_, b_left_;  // elements from here to the end of the row of A, rows to the end of B
  int b_there_;          // elements from here to the end of the row of B
  int ldb_;
  bool a_aligned_, b_aligned_;
};

/// Reads T floats as float4: quad number q starts `step` floats behind the one before.
template <int T>
__device__ void read_quads_of(float (&to)[T], const float* from, int step) {
#pragma unroll
  for (int q = 0; q < T / 4; ++q) {
    *reinterpret_cast<float4*>(to + 4 * q) = *reinterpret_cast<const float4*>(from + q * step);
  }
}

/// acc += a b^T: each of TM values meets each of TN.
template <int TM, int TN>
__device__ void outer_product(float (&acc)[TM][TN], const float (&a)[TM], const float (&b)[TN]) {
#pragma unroll
  for (int i = 0; i < TM; ++i) {
#pragma unroll
    for (int j = 0; j < TN; ++j) acc[i][j] += a[i] * b[j];
  }
}

/// Four neighbours of a row of C become alpha sum + beta C, as far as they exist.
__device__ void update4(float* c, int there, bool aligned, float alpha, float beta, float4 sum) {
  sum = make_float4(alpha * sum.x, alpha * sum.y, alpha * sum.z, alpha * sum.w);
  if (aligned && there >= 4) {
    float4* const to = reinterpret_cast<float4*>(c);
    if (beta != 0) {
      const float4 old = *to;
      sum = make_float4(sum.x + beta * old.x, sum.y + beta * old.y, sum.z + beta * old.z,
                        sum.w + beta * old.w);
    }
    *to = sum;
    return;
  }
  if (there > 0) c[0] = beta == 0 ? sum.x : sum.x + beta * c[0];
  if (there > 1) c[1] = beta == 0 ? sum.y : sum.y + beta * c[1];
  if (there > 2) c[2] = beta == 0 ? sum.z : sum.z + beta * c[2];
  if (there > 3) c[3] = beta == 0 ? sum.w : sum.w + beta * c[3];
}

/// Writes a thread's TM x TN sums, in groups of 4 x 4: the first at (row, col) of C, the next
/// `row_step` rows below and `col_step` columns to the right.
template <int TM, int TN>
__device__ void write_tile(const lab::Gemm& g, const float (&acc)[TM][TN], int row, int row_step,
                           int col, int col_step) {
  const bool aligned = aligned_rows(g.c, g.ldc);
#pragma unroll
  for (int i = 0; i < TM; ++i) {
    const int r = row + i / 4 * row_step + i % 4;
    if (r >= g.m) continue;
    float* const c_row = g.c + static_cast<std::size_t>(r) * static_cast<std::size_t>(g.ldc);
#pragma unroll
    for (int q = 0; q < TN / 4; ++q) {
      const int at = col + q * col_step;
      update4(c_row + at, g.n - at, aligned, g.alpha, g.beta,
              make_float4(acc[i][4 * q], acc[i][4 * q + 1], acc[i][4 * q + 2], acc[i][4 * q + 3]));
    }
  }
}

/// Launches a kernel for the blocks of C, 128 x 128 each; see `for_row_slices` for taller grids.
template <class Kernel>
void launch_blocks(Kernel kernel, const lab::Gemm& gemm) {
  lab::for_row_slices(gemm, BM, [&](const lab::Gemm& g) {
    const dim3 grid(static_cast<unsigned>(tiles_of(g.n, BN)),
                    static_cast<unsigned>(tiles_of(g.m, BM)));
    kernel<<<grid, threads>>>(g);
  });
}

// What only the GPU build has: bank_conflicts_peers.cu, or its stub, which says so.
void register_peers(lab::GemmLadder& ladder);
// The last rungs: bank_conflicts_sm90.cu, or its stub.
void register_sm90(lab::GemmLadder& ladder);
// [/hide]

// ## 1. What a bank is
//
// Shared memory is not one memory but 32, which work side by side: the *banks*. Word number i, of 4
// bytes, lies in bank i mod 32. In one wavefront each bank can deliver one of its words, to as many
// lanes as want it. So three things can happen when 32 lanes read a word each:
//
// - their words lie in 32 different banks: one wavefront;
// - some of them want the *same* word: that is a broadcast, and still one wavefront;
// - two of them want *different* words of the same bank: then the bank has to be asked twice, and the
//   request takes two wavefronts. With n different words in one bank it takes n. This is an n-way
//   *bank conflict*.
//
// The first of four rungs reads words that lie a stride apart. **Predict** the wavefronts of one
// read for strides of 0 (all lanes the same word), 1, 2, 4, 8, 16, 32 and 33 words.

// [hide] How a warp reads, and what
/// The body of the three kernels below: a warp reads words of 4, 8 or 16 bytes, lane i number
/// i * stride + r in turn r, and adds them up.
template <class Word, int size>
__device__ void read_strided_words(float* sums, const Word (&words)[size], int stride, int turns) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  float sum = 0;
#pragma unroll 8
  for (int r = 0; r < turns; ++r) {
    const Word word = words[lane * stride + r];
    const float* const parts = reinterpret_cast<const float*>(&word);
    for (unsigned i = 0; i < sizeof(Word) / sizeof(float); ++i) sum += parts[i];
  }
  sums[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

/// Fills an array in shared memory with 0, 1, 2, ...: its floats, counted through.
template <class Word, int size>
__device__ void fill_words(Word (&words)[size]) {
  float* const floats = reinterpret_cast<float*>(words);
  for (unsigned i = threadIdx.x; i < size * sizeof(Word) / sizeof(float); i += blockDim.x) {
    floats[i] = static_cast<float>(i % 64);
  }
  __syncthreads();
}

constexpr int few_turns = 8;                       ///< where reads are counted, not timed
constexpr int most_turns = 512;                    ///< of the three kernels below
constexpr int words_there = 31 * 33 + most_turns;  ///< what a stride of 33 needs

// [/hide]

/// Each lane adds up 32-bit words of shared memory: lane i reads word i * stride + r in turn r.
///
/// @param sums    one float for each thread of the grid; written
/// @param stride  words from a lane to the next, 0 to 33
/// @param turns   how many reads, at most 512
///
/// Launch: one dimension, whole warps.
__global__ void read_words(float* sums, int stride, int turns) {
  __shared__ float words[words_there];
  fill_words(words);
  read_strided_words(sums, words, stride, turns);
}

// **The counters.** A stride of 2 uses every second bank, each for two words: 2 wavefronts. Strides of
// 4, 8, 16 and 32 take 4, 8, 16 and 32, until all lanes want words of one bank. The broadcast takes 1,
// and so does a stride of 33. Hence the oldest trick of all: where a stride is a power of two, make it odd, by
// adding a word that nobody uses. A read in the table is one of 8, so its conflicts are 8 times what
// exceeds one wavefront: 248 for a stride of 32.

// A lane may also read 64 or 128 bits at once, if they are aligned: a `float2` or a `float4`. Then 32
// lanes ask for 256 or 512 bytes, while the banks deliver 128 at a time. So such a request is cut into
// *phases*: one for each half of the warp with 64 bits, one for each quarter with 128. Lanes conflict
// with lanes of their own phase only. **Predict** the wavefronts for float2 and for float4 with strides
// of 1, 2, 4, 8: they are counted in words of this size now.

/// Each lane adds up 64-bit words of shared memory: lane i reads word i * stride + r in turn r.
///
/// @param sums    one float for each thread of the grid; written
/// @param stride  words from a lane to the next, 0 to 33
/// @param turns   how many reads, at most 512
///
/// Launch: one dimension, whole warps.
__global__ void read_pairs(float* sums, int stride, int turns) {
  __shared__ float2 words[words_there];
  fill_words(words);
  read_strided_words(sums, words, stride, turns);
}

/// Each lane adds up 128-bit words of shared memory: lane i reads word i * stride + r in turn r.
///
/// @param sums    one float for each thread of the grid; written
/// @param stride  words from a lane to the next, 0 to 33
/// @param turns   how many reads, at most 512
///
/// Launch: one dimension, whole warps.
__global__ void read_quads(float* sums, int stride, int turns) {
  __shared__ float4 words[words_there];
  fill_words(words);
  read_strided_words(sums, words, stride, turns);
}

// **The counters.** With a stride of 1 a read takes 2 wavefronts of 64 bits, or 4 of 128 bits, which is
// the least for so many bytes and hence no conflict. Twice the stride doubles it: 8 for float4 with a
// stride of 2, 32 with a stride of 8, since the 8 lanes of a quarter then have all their words in the
// same four banks. Strides of 17 pairs or 9 quads are free of conflicts again, as every odd stride is,
// whatever the width.
//
// The broadcast has a surprise: one float4 for all lanes takes 2 wavefronts, not 4, and one float2 takes
// 1, not 2. The hardware *merges* phases when it sees that neighbours agree. It looks at two patterns:
//
// - every lane i reads the same address as lane i ^ 1, that is, lanes 0 and 1, lanes 2 and 3 and so on
//   agree; or
// - every lane i reads the same address as lane i ^ 2: lanes 0 and 2, lanes 1 and 3 agree.
//
// In both cases half of the lanes ask for nothing new, so the two halves of the warp are served in one
// wavefront with 64 bits, and two quarters with 128 bits: 2 instead of 4. (Nvidia does not document
// this. It was found by measuring: the file `tests/microkernels/h200.json` has 81 patterns of reads from
// shared memory, as an H200 counts them, and the simulator counts every one of them in the same way.)
// We shall use it in section 6.
//
// So much for some strides. What about the others? The next rung reads at each stride from 0 to 33 in all three
// widths, one warp in a launch of its own, 102 launches. **Predict** a formula for the wavefronts of a read at
// stride s: one for 32 bits, one for 64 and one for 128.

/// Each lane adds up eight words of shared memory: lane i reads word i * stride + r in turn r.
///
/// @tparam Word   what a lane reads at a time: float, float2 or float4
/// @param sums    one float for each lane; written
/// @param stride  words from a lane to the next, 0 to 33
///
/// Launch: one block of 32 threads.
template <class Word>
__global__ void every_stride(float* sums, int stride) {
  __shared__ Word words[31 * 33 + few_turns];
  fill_words(words);
  read_strided_words(sums, words, stride, few_turns);
}

// **The counters** are in the drawing. With gcd for the greatest common divisor, a read at stride s takes
// gcd(s, 32) wavefronts of 32 bits, 2 gcd(s, 16) of 64 bits, and 4 gcd(s, 8) of 128 bits. The factor is the number of
// phases, and 32, 16 or 8 words of their width go once around the banks. A stride of 0 is the exception that we have
// seen.
//
// **The clock.** On a GPU the first three rungs are timed, with all SMs reading: 264 blocks of 32 warps, in which
// each lane reads 512 words, are 32,768 reads of a warp for each of 132 SMs. From a stride of 1 to a stride of
// 32 `read_words` goes from 0.0202 ms to 0.5353 ms. These are 31 wavefronts more for each read, and 0.506 ns
// for each of them: one cycle, at 1.98 GHz. So *a wavefront is a cycle* of its SM's shared memory, and there is
// no more to it. The broadcast of a float4 takes 0.0403 ms, its reads with a stride of 1 take 0.0706 ms: 2
// wavefronts against 4, and some time for the launch.

// ## 2. Where we start
//
// This is the last kernel of chapter 04. A block of 256 threads computes 128 x 128 elements of C. It walks
// along K in slices of 8. The threads fetch a slice of A and one of B, a float4 each (`SliceReader` above,
// which returns zeros outside of the matrices), and leave them in shared memory as they are. Then each
// thread multiplies: thread (y, x) of 16 x 16 has rows 8y to 8y + 7 and columns 8x to 8x + 7 of the block.
// What it needs of the slices for a step along K are its *fragments*: 8 elements of A and 8 of B. Those of B
// are two float4. Those of A lie in a column of the slice, so it reads a float4 *along K* of each of its 8
// rows, which has what four steps need.
//
// **Predict.** A warp is 32 threads in a row: y takes two values and x takes all 16, a *2 x 16 warp*.
// How many wavefronts do the reads of four steps take: eight float4 of A, and eight of B, two for each
// step? What are the addresses?

/// C = alpha A B + beta C, 8 x 8 elements a thread; the slices lie in shared memory as they do in A and
/// in B.
///
/// @param g  the product
///
/// Launch: blocks of 256 threads, grid.x >= n / 128, grid.y >= m / 128.
/// Requires: nothing; rows that do not start at multiples of 16 bytes are moved float by float.
__global__ void __launch_bounds__(256, 2) thread_tile_float4(lab::Gemm g) {
  __shared__ __align__(16) float as[BM][BK];
  __shared__ __align__(16) float bs[BK][BN];
  const int tid = static_cast<int>(threadIdx.x);
  const int row0 = static_cast<int>(blockIdx.y) * BM, col0 = static_cast<int>(blockIdx.x) * BN;
  SliceReader reader(g, row0, col0);
  const int row = tid / 16 * 8, col = tid % 16 * 8;  // the first of the 8 x 8 that it computes

  float acc[8][8] = {};
  for (int k0 = 0; k0 < g.k; k0 += BK) {
    float4 a4, b4;
    reader.read(a4, b4);
    __syncthreads();  // nobody reads the slice before any more
    *reinterpret_cast<float4*>(&as[reader.a_row][reader.a_k]) = a4;
    *reinterpret_cast<float4*>(&bs[reader.b_k][reader.b_col]) = b4;
    __syncthreads();  // the slice is complete

#pragma unroll 1
    for (int k = 0; k < BK; k += 4) {
      float along[4][8];  // what four steps need of A
#pragma unroll
      for (int i = 0; i < 8; ++i) {
        const float4 four = *reinterpret_cast<const float4*>(&as[row + i][k]);
        along[0][i] = four.x, along[1][i] = four.y, along[2][i] = four.z, along[3][i] = four.w;
      }
#pragma unroll
      for (int step = 0; step < 4; ++step) {
        float b[8];
        read_quads_of(b, &bs[k + step][col], 4);
        outer_product(acc, along[step], b);
      }
    }
  }
  write_tile(g, acc, row0 + row, 4, col0 + col, 4);
}

// **The counters** say 61,440 wavefronts for 3,072 steps: 20 for each, where we can afford 16.
//
// - *B.* The lanes want 16 different float4, with a stride of two float4 from one x to the next: 8
//   wavefronts as we have seen in section 1, twice, instead of 4 and 4.
// - *A.* The lanes want two different float4, one for each y. All 16 lanes of a half agree, so that phases
//   merge: 2 wavefronts for each read, 16 for four steps, or 4 for one. Hardly anything can be said against
//   that, it seems. But look at what it takes: 32 registers for elements of A, of which a step uses eight.
//   A thread has 128 for everything, and we shall need them.
//
// **The clock** says 31.2 TFLOP/s for M = N = K = 4096, where cuBLAS has 51.6 in the same run. (In chapter 04 it is
// 32.8. The loop over k is unrolled there. With the `SliceReader` of this chapter that would take more than 128
// registers, so it is left rolled up: two turns for a slice.)
//
// Let us do without, and see what is wrong with how A lies in shared memory: for each step a thread reads
// the eight elements that the step needs, one by one. *This is a step back*, and it will be slower. **Predict**
// by how many wavefronts.

/// thread_tile_float4 with a fragment of A for each step, read float by float.
///
/// @param g  the product
///
/// Launch: blocks of 256 threads, grid.x >= n / 128, grid.y >= m / 128.
/// Requires: nothing; rows that do not start at multiples of 16 bytes are moved float by float.
__global__ void __launch_bounds__(256) thread_tile(lab::Gemm g) {
  __shared__ __align__(16) float as[BM][BK];
  __shared__ __align__(16) float bs[BK][BN];
  const int tid = static_cast<int>(threadIdx.x);
  const int row0 = static_cast<int>(blockIdx.y) * BM, col0 = static_cast<int>(blockIdx.x) * BN;
  SliceReader reader(g, row0, col0);
  const int row = tid / 16 * 8, col = tid % 16 * 8;

  float acc[8][8] = {};
  for (int k0 = 0; k0 < g.k; k0 += BK) {
    float4 a4, b4;
    reader.read(a4, b4);
    __syncthreads();  // nobody reads the slice before any more
    *reinterpret_cast<float4*>(&as[reader.a_row][reader.a_k]) = a4;
    *reinterpret_cast<float4*>(&bs[reader.b_k][reader.b_col]) = b4;
    __syncthreads();  // the slice is complete

#pragma unroll 1
    for (int k = 0; k < BK; ++k) {
      float a[8], b[8];
      for (int i = 0; i < 8; ++i) a[i] = as[row + i][k];
      read_quads_of(b, &bs[k][col], 4);
      outer_product(acc, a, b);
    }
  }
  write_tile(g, acc, row0 + row, 4, col0 + col, 4);
}

// **The counters** say 98,304 wavefronts: 32 for a step, twice what we can afford. B takes 16 as before, and
// A takes the other 16. In each of its eight reads the lanes want one element of row 8y + i, for two values of
// y. The other 15 lanes with the same y want the same word, which is a broadcast. But the two words lie 8 rows
// of 8 floats apart: 64 floats, so both are in the same bank. Each of the eight reads takes 2 wavefronts, 16 in
// all, where 8 would do.
//
// **The clock.** 26.4 TFLOP/s, a step back as promised. More than 31.5 could not be had: that is half of the
// 62.9 that a loop of nothing but multiply-adds reaches in the same run.
//
// (The loop over k is kept rolled up with `#pragma unroll 1`. Unrolled, nvcc sees that four steps read
// four neighbours `as[row + i][k]`, and fetches them as one float4: it makes the kernel before of this one. So the
// machine code has one instruction for each access of the source, and the counts agree.)

// ## 3. A transposed
//
// A thread needs a *column* of eight elements of A. As the slice lies in shared memory they are eight
// rows apart, so it takes eight reads to get them. If the slice were stored transposed, k by k, then
// they would be neighbours, and two float4 would do, as for B. The slice has to be turned somewhere, and
// the cheapest place is the store: the float4 that came from global memory, four neighbours along K, is
// written as four floats to four rows.
//
// **Predict** the wavefronts of a step now, and those of the stores: in a warp the 32 lanes have 16 rows
// of A and two groups of four k.

/// thread_tile with the slice of A transposed in shared memory.
///
/// @param g  the product
///
/// Launch: blocks of 256 threads, grid.x >= n / 128, grid.y >= m / 128.
/// Requires: nothing; rows that do not start at multiples of 16 bytes are moved float by float.
__global__ void __launch_bounds__(256) transposed_a(lab::Gemm g) {
  __shared__ __align__(16) float as[BK][BM];
  __shared__ __align__(16) float bs[BK][BN];
  const int tid = static_cast<int>(threadIdx.x);
  const int row0 = static_cast<int>(blockIdx.y) * BM, col0 = static_cast<int>(blockIdx.x) * BN;
  SliceReader reader(g, row0, col0);
  const int row = tid / 16 * 8, col = tid % 16 * 8;

  float acc[8][8] = {};
  for (int k0 = 0; k0 < g.k; k0 += BK) {
    float4 a4, b4;
    reader.read(a4, b4);
    __syncthreads();
    as[reader.a_k][reader.a_row] = a4.x;
    as[reader.a_k + 1][reader.a_row] = a4.y;
    as[reader.a_k + 2][reader.a_row] = a4.z;
    as[reader.a_k + 3][reader.a_row] = a4.w;
    *reinterpret_cast<float4*>(&bs[reader.b_k][reader.b_col]) = b4;
    __syncthreads();

#pragma unroll
    for (int k = 0; k < BK; ++k) {
      float a[8], b[8];
      read_quads_of(a, &as[k][row], 4);
      read_quads_of(b, &bs[k][col], 4);
      outer_product(acc, a, b);
    }
  }
  write_tile(g, acc, row0 + row, 4, col0 + col, 4);
}

// **The counters.** The reads of A now are two float4, each of them one address for the 16 lanes of a
// half: neighbouring lanes agree, the phases merge, 2 wavefronts each. A step takes 4 for A and 16 for
// B, that is 20. It was 32. The kernel of chapter 04 has 20, too, but a thread needs 8 registers for the
// elements of A now, where it needed 32.
//
// **The clock.** 36.8 TFLOP/s. It has as many wavefronts as the kernel of chapter 04, and is 18 % faster: it has
// fewer registers to care for, and its loop can be unrolled.
//
// But now the *stores* conflict: 1,536 bank conflicts. In one of the four stores a lane writes
// `as[a_k + c][a_row]`, where a_k is 0 or 4. Sixteen lanes write 16 neighbours of one row, the other
// sixteen write to a row that is 4 * 128 floats further on: a multiple of 32. So they meet in the same
// 16 banks, and the other 16 have nothing to do.

// ## 4. Padding
//
// If rows of `as` were longer by a few floats, the second half would be moved to other banks. How many?
// 4 (128 + p) mod 32 has to be 16, so that the two halves lie side by side. p = 4 does it: 528 mod 32 is
// 16. It also keeps every row at a multiple of 16 bytes, so that float4 can still be read from it. p = 1,
// which is what the books say, would do neither.
//
// **Predict** what the clock makes of it: how many of all wavefronts are those that will have gone?

/// transposed_a with rows of A that are 4 floats longer.
///
/// @param g  the product
///
/// Launch: blocks of 256 threads, grid.x >= n / 128, grid.y >= m / 128.
/// Requires: nothing; rows that do not start at multiples of 16 bytes are moved float by float.
__global__ void __launch_bounds__(256) padded_a(lab::Gemm g) {
  __shared__ __align__(16) float as[BK][BM + 4];
  __shared__ __align__(16) float bs[BK][BN];
  const int tid = static_cast<int>(threadIdx.x);
  const int row0 = static_cast<int>(blockIdx.y) * BM, col0 = static_cast<int>(blockIdx.x) * BN;
  SliceReader reader(g, row0, col0);
  const int row = tid / 16 * 8, col = tid % 16 * 8;

  float acc[8][8] = {};
  for (int k0 = 0; k0 < g.k; k0 += BK) {
    float4 a4, b4;
    reader.read(a4, b4);
    __syncthreads();
    as[reader.a_k][reader.a_row] = a4.x;
    as[reader.a_k + 1][reader.a_row] = a4.y;
    as[reader.a_k + 2][reader.a_row] = a4.z;
    as[reader.a_k + 3][reader.a_row] = a4.w;
    *reinterpret_cast<float4*>(&bs[reader.b_k][reader.b_col]) = b4;
    __syncthreads();

#pragma unroll
    for (int k = 0; k < BK; ++k) {
      float a[8], b[8];
      read_quads_of(a, &as[k][row], 4);
      read_quads_of(b, &bs[k][col], 4);
      outer_product(acc, a, b);
    }
  }
  write_tile(g, acc, row0 + row, 4, col0 + col, 4);
}

// **The counters.** The conflicts of the stores are gone, all 1,536 of them, for 128 bytes of shared
// memory that nobody uses. The 24,576 that are left are those of B: a step still takes 20 wavefronts.
//
// **The clock** hardly notices: 3.729 ms, where it was 3.734. What has gone are 1,536 wavefronts of 66,048, or
// 2 %, and shared memory is not all that is waited for. We keep it nevertheless. It costs nothing, and from
// here on there is less and less of everything else.

// ## 5. The tile as four of 4 x 4
//
// The reads of B conflict since a thread's 8 columns lie together: from one lane to the next the address
// moves by two float4, and half of the banks are left out. Now, nobody says that the eight columns of a
// thread must be neighbours! Let it have two groups of four: columns 4x to 4x + 3, and the same 64
// further on. Then the lanes read float4 that follow on each other without a gap. The same for the rows.
// The thread's tile of 8 x 8 falls into four of 4 x 4.
//
// **Predict** the wavefronts of a step. And the time: a step of 20 wavefronts lets the multiply-adders work
// for 16 cycles out of 20, which bounds `padded_a` at 50.3 TFLOP/s, four fifths of 62.9. It has reached 36.9.

/// padded_a with the thread's tile as four of 4 x 4, 64 rows and 64 columns apart.
///
/// @param g  the product
///
/// Launch: blocks of 256 threads, grid.x >= n / 128, grid.y >= m / 128.
/// Requires: nothing; rows that do not start at multiples of 16 bytes are moved float by float.
__global__ void __launch_bounds__(256) split_tile(lab::Gemm g) {
  __shared__ __align__(16) float as[BK][BM + 4];
  __shared__ __align__(16) float bs[BK][BN];
  const int tid = static_cast<int>(threadIdx.x);
  const int row0 = static_cast<int>(blockIdx.y) * BM, col0 = static_cast<int>(blockIdx.x) * BN;
  SliceReader reader(g, row0, col0);
  const int row = tid / 16 * 4, col = tid % 16 * 4;  // of the first of the four 4 x 4

  float acc[8][8] = {};
  for (int k0 = 0; k0 < g.k; k0 += BK) {
    float4 a4, b4;
    reader.read(a4, b4);
    __syncthreads();
    as[reader.a_k][reader.a_row] = a4.x;
    as[reader.a_k + 1][reader.a_row] = a4.y;
    as[reader.a_k + 2][reader.a_row] = a4.z;
    as[reader.a_k + 3][reader.a_row] = a4.w;
    *reinterpret_cast<float4*>(&bs[reader.b_k][reader.b_col]) = b4;
    __syncthreads();

#pragma unroll
    for (int k = 0; k < BK; ++k) {
      float a[8], b[8];
      read_quads_of(a, &as[k][row], 64);
      read_quads_of(b, &bs[k][col], 64);
      outer_product(acc, a, b);
    }
  }
  write_tile(g, acc, row0 + row, 64, col0 + col, 64);
}

// **The counters.** No conflicts any more: 2 wavefronts for each of the two reads of A, and 4 for each of
// B, the least for a float4 with a stride of 1. 12 for a step, within the 16 that we can afford. Nothing
// but two lines of address arithmetic has changed. As a bonus, the lanes now write C in contiguous float4
// as well: 16 sectors for each store, where it was 32.
//
// **The clock.** 40.3 TFLOP/s, 9 % more, for two fifths fewer wavefronts. Shared memory bounds it no more, and the
// 62.9 are still far away. What is left must be waiting, and sections 8 and 9 are about that.

// ## 6. The shape of a warp
//
// No conflict means that no wavefront is wasted by banks. It does not mean that there have to be so many.
// Two things are left to choose: how the 32 lanes of a warp are arranged, as 1 x 32, 2 x 16, 4 x 8 or 8 x
// 4, and *in which order* they are numbered there. The first decides how many different elements a warp
// needs for a step: with r rows and c columns of lanes, 8 r of A and 8 c of B. That is 264 for 1 x 32, 144
// for 2 x 16, and 96 for 4 x 8 and 8 x 4: the closer to a square, the fewer. The second decides whether
// phases merge.
//
// Phases merge where lanes i and i ^ 1 agree, or lanes i and i ^ 2. So let bit 0 of the lane's number
// choose between two *columns*, and bit 1 between two *rows*:
//
//     lane     0  1  4  5  8  9 12 13
//              2  3  6  7 10 11 14 15
//             16 17 20 21 24 25 28 29
//             18 19 22 23 26 27 30 31
//
// Lanes i and i ^ 2 are in the same column and read the same B. Lanes i and i ^ 1 are in the same row and
// read the same A. Both reads merge. With lanes numbered row by row, that holds for A only.
//
// The rung below does the reads of one step, for each arrangement. **Predict** the wavefronts of its four
// reads.

/// Where a lane stands in a warp of so many rows of lanes.
struct LanePlace {
  int row, col;
};

/// Lane by lane along the rows, as in a block of two dimensions.
__host__ __device__ constexpr LanePlace place_in_rows(unsigned lane, unsigned rows) {
  return {static_cast<int>(lane / (32 / rows)), static_cast<int>(lane % (32 / rows))};
}

/// Bit 0 of the lane chooses between two columns, bit 1 between two rows; the other bits go on with
/// the column, then with the row. For 2, 4 or 8 rows.
__host__ __device__ constexpr LanePlace place_in_pairs(unsigned lane, unsigned rows) {
  const unsigned rest = lane / 4, pairs = 16 / rows;  // pairs of columns
  return {static_cast<int>(lane / 2 % 2 + rest / pairs * 2),
          static_cast<int>(lane % 2 + rest % pairs * 2)};
}

/// One step along K, without the multiply-adds: each lane reads the 8 elements of A and the 8 of B
/// that its tile of four 4 x 4 needs.
///
/// @param sums   one float for each thread; written
/// @param rows   rows of lanes: 1, 2, 4 or 8
/// @param pairs  how the lanes are numbered: place_in_pairs or place_in_rows
///
/// Launch: one block of 32 threads.
__global__ void warp_shapes(float* sums, unsigned rows, bool pairs) {
  __shared__ __align__(16) float a_row[64], b_row[256];  // the most that 8 rows or 32 columns need
  const unsigned lane = threadIdx.x;
  for (unsigned i = lane; i < 64; i += 32) a_row[i] = static_cast<float>(i);
  for (unsigned i = lane; i < 256; i += 32) b_row[i] = static_cast<float>(i);
  __syncwarp();

  const LanePlace place = pairs ? place_in_pairs(lane, rows) : place_in_rows(lane, rows);
  float a[8], b[8];
  read_quads_of(a, &a_row[place.row * 4], static_cast<int>(rows) * 4);
  read_quads_of(b, &b_row[place.col * 4], static_cast<int>(32 / rows) * 4);
  float sum = 0;
  for (int i = 0; i < 8; ++i) sum += a[i] * b[i];
  sums[lane] = sum;
}

// **The counters** for one step (shared loads in the table):
//
// | arrangement | different elements | in rows | in pairs |
// |---|--:|--:|--:|
// | 1 x 32 | 264 | 12 | |
// | 2 x 16 | 144 | 12 | 8 |
// | 4 x 8 | 96 | 12 | 8 |
// | 8 x 4 | 96 | 12 | 8 |
//
// The order of the lanes is worth a third of all wavefronts, and the shape none. This is not what one
// reads in most places. A wavefront delivers 128 bytes whatever the lanes make of them; for 4 x 8 a read of
// A brings 4 different float4, 64 bytes, in 2 wavefronts. What the shape is good for is something else: a
// warp that computes a square part of C needs fewer different elements, and so do the eight warps that
// share an SM with it. We take 4 x 8.

// ## 7. Warp tiles
//
// So the block is first divided among warps, then each part among lanes: 4 x 2 warps of 32 x 64 elements,
// in each of them 4 x 8 lanes, in each of these four times 4 x 4. Block, warp, thread: each level is a tile
// of the one above and fits one level of the machine. The block shares shared memory, the warp shares
// wavefronts, the thread has registers. Libraries are built in this way, all of them.
//
// **Predict** the wavefronts of a step, and what they are worth: `split_tile` has 12, and can afford 16.

/// The place of a thread among the 4 x 8 of its warp, and of its warp among the `across` of a row of
/// warps.
struct WarpPlace {
  int lane_row, lane_col, warp_row, warp_col;
  __device__ WarpPlace(unsigned tid, unsigned across) {
    const LanePlace lane = place_in_pairs(tid % 32, 4);
    lane_row = lane.row;
    lane_col = lane.col;
    warp_row = static_cast<int>(tid / 32 / across);
    warp_col = static_cast<int>(tid / 32 % across);
  }
};

/// C = alpha A B + beta C, 32 x 64 elements a warp: 4 x 8 lanes with four times 4 x 4 each.
///
/// @param g  the product
///
/// Launch: blocks of 256 threads, grid.x >= n / 128, grid.y >= m / 128.
/// Requires: nothing; rows that do not start at multiples of 16 bytes are moved float by float.
__global__ void __launch_bounds__(256, 2) warp_tile(lab::Gemm g) {
  __shared__ __align__(16) float as[BK][BM + 4];
  __shared__ __align__(16) float bs[BK][BN];
  const int row0 = static_cast<int>(blockIdx.y) * BM, col0 = static_cast<int>(blockIdx.x) * BN;
  SliceReader reader(g, row0, col0);
  const WarpPlace place(threadIdx.x, 2);  // 4 x 2 warps of 32 x 64
  const int row = place.warp_row * 32 + place.lane_row * 4;
  const int col = place.warp_col * 64 + place.lane_col * 4;

  float acc[8][8] = {};
  for (int k0 = 0; k0 < g.k; k0 += BK) {
    float4 a4, b4;
    reader.read(a4, b4);
    __syncthreads();
    as[reader.a_k][reader.a_row] = a4.x;
    as[reader.a_k + 1][reader.a_row] = a4.y;
    as[reader.a_k + 2][reader.a_row] = a4.z;
    as[reader.a_k + 3][reader.a_row] = a4.w;
    *reinterpret_cast<float4*>(&bs[reader.b_k][reader.b_col]) = b4;
    __syncthreads();

#pragma unroll
    for (int k = 0; k < BK; ++k) {
      float a[8], b[8];
      read_quads_of(a, &as[k][row], 16);
      read_quads_of(b, &bs[k][col], 32);
      outer_product(acc, a, b);
    }
  }
  write_tile(g, acc, row0 + row, 16, col0 + col, 32);
}

// **The counters.** 8 wavefronts for a step, 24,576 in all; we came from 98,304. Shared memory is busy for
// half of the time that the multiply-adds take. This was the last thing that the counters of shared memory
// had to say. What is left is waiting.
//
// **The clock.** 41.5 TFLOP/s. A third of the wavefronts has gone, and it is 3 % faster: 12 wavefronts were within
// the 16 already. From here on it is not the amount of work that has to become less. (The last kernel of a
// well-known tutorial about this product, Boehm's "How to Optimize a CUDA Matmul Kernel", 2022, has warp tiles, too.
// It makes 36.3 on an H200, which `transposed_a` has passed already.)
//
// `__launch_bounds__(256, 2)` asks for two blocks on an SM at the same time, so the compiler may use 128
// registers for a thread. While one block waits for its slice, the other one computes.

// ## 8. Fetching ahead
//
// In `warp_tile` a slice is fetched, then everybody waits until it is there, then it is computed with. A load
// takes 282 cycles if L2 has it and 684 if the memory has to be asked (chapter 02), and the 8 steps of a slice
// take 512 cycles for four warps. Two blocks that take turns hide some of it. It is better to ask early: the
// float4 of the *next* slice are asked for before this one is computed with, and wait in registers until the
// barrier. The same on a smaller scale: the fragments of step k + 1 are read while step k is multiplied, so that
// the two or three dozen cycles of shared memory pass meanwhile. Both cost registers, 8 for the slice and 16 for
// the fragments. This is *double buffering*.
//
// **Predict** at which size it gains most: where two blocks share an SM, or at 1024, where each is alone?

/// warp_tile with what comes next on its way to registers: the next slice while this one is computed
/// with, the next fragments while these are multiplied.
///
/// @param g  the product
///
/// Launch: blocks of 256 threads, grid.x >= n / 128, grid.y >= m / 128.
/// Requires: nothing; rows that do not start at multiples of 16 bytes are moved float by float.
__global__ void __launch_bounds__(256, 2) register_buffer(lab::Gemm g) {
  __shared__ __align__(16) float as[BK][BM + 4];
  __shared__ __align__(16) float bs[BK][BN];
  const int row0 = static_cast<int>(blockIdx.y) * BM, col0 = static_cast<int>(blockIdx.x) * BN;
  SliceReader reader(g, row0, col0);
  const WarpPlace place(threadIdx.x, 2);
  const int row = place.warp_row * 32 + place.lane_row * 4;
  const int col = place.warp_col * 64 + place.lane_col * 4;

  float acc[8][8] = {};
  float a[2][8], b[2][8];  // the fragments of this step and of the next
  float4 a4, b4;           // this thread's share in the next slice
  reader.read(a4, b4);
  for (int k0 = 0; k0 < g.k; k0 += BK) {
    __syncthreads();
    as[reader.a_k][reader.a_row] = a4.x;
    as[reader.a_k + 1][reader.a_row] = a4.y;
    as[reader.a_k + 2][reader.a_row] = a4.z;
    as[reader.a_k + 3][reader.a_row] = a4.w;
    *reinterpret_cast<float4*>(&bs[reader.b_k][reader.b_col]) = b4;
    __syncthreads();

    reader.read(a4, b4);  // zeros after the last slice
    read_quads_of(a[0], &as[0][row], 16);
    read_quads_of(b[0], &bs[0][col], 32);
#pragma unroll
    for (int k = 0; k < BK; ++k) {
      if (k + 1 < BK) {
        read_quads_of(a[(k + 1) % 2], &as[k + 1][row], 16);
        read_quads_of(b[(k + 1) % 2], &bs[k + 1][col], 32);
      }
      outer_product(acc, a[k % 2], b[k % 2]);
    }
  }
  write_tile(g, acc, row0 + row, 16, col0 + col, 32);
}

// **The counters** are those of `warp_tile`, all of them. The work is the same; what has changed is when.
// The registers are full: 128, and not one value had to be spilled.
//
// **The clock.** 46.8 TFLOP/s, 13 % more, and at 1024 even 21.3 where it was 13.4. A product of 1024 has 64
// blocks for 132 SMs, so each is alone on its SM, and there is no other that could compute while it waits.

// ## 9. Copies that pass the registers by
//
// The way of a slice is from global memory to a register, then to shared memory. Since the Ampere
// generation there is a shorter one: `cp.async` copies from global to shared memory by itself. A thread
// says from where to where, 4, 8 or 16 bytes, and goes on. It says `commit` after some copies, and later
// waits until all but the last n of these groups have arrived. In CUDA C++ these are
// `__pipeline_memcpy_async`, `__pipeline_commit` and `__pipeline_wait_prior`, from `cuda_pipeline.h`.
//
// As nothing waits in registers any more, we can be further ahead: four *stages*, one slice that is computed
// with and three that are on their way. Shared memory has room: a slice of 16 steps needs 16.6 KB, four of
// them 66.6 KB, so two blocks fit on an SM. There is one barrier for a slice: when all have passed it, the
// next slice has arrived for everybody, and the one before has been left by everybody, so that its place can
// be filled again.
//
// - *A has to be transposed*, and a copy of 16 bytes cannot do that. So A is copied float by float: a warp
//   copies 4 rows by 8 columns, 4 whole sectors, into 8 rows of shared memory. (k, row) goes to bank
//   (4 k + row) mod 32, thanks to the 4 floats of padding: 32 different banks.
// - *The edges.* What lies outside is written as zero by the thread, with an ordinary store. A block that
//   has no edge, and whose rows of B are aligned, takes the short way; the others look at each copy. Where
//   K is no multiple of 16 the *first* slice is the shorter one, so that the loop need not look.
// - *The fragments* are double buffered as before, now across slices: the last step of a slice waits for
//   the next slice and reads its first fragments.
//
// **Predict** the gain over `register_buffer`, which asks for one slice of 8 ahead: is there still a wait for
// memory to be hidden? And is it worth much that of four barriers in 16 steps one is left?

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

/// Starts to copy a float to shared memory, or makes it zero at once where there is none.
__device__ void copy_or_zero(float* to, const float* from, bool there) {
  if (there) {
    __pipeline_memcpy_async(to, from, sizeof(float));
  } else {
    *to = 0;
  }
}

/// The shape of a pipelined kernel: 8 warps in `down` x `across`, tm x tn elements a thread.
template <int down, int across, int tm, int tn, bool serpentine>
struct Pipelined {
  static constexpr int TM = tm, TN = tn;                           ///< of a thread
  static constexpr int WM = 4 * TM, WN = 8 * TN;                   ///< of a warp
  static constexpr int BM = down * WM, BN = across * WN, BK = 16;  ///< of a block
  static constexpr int stages = 4;     ///< slices in shared memory at the same time
  static constexpr int a_ld = BM + 4;  ///< floats from a row of A's slice to the next
  static constexpr int a_stage = BK * a_ld, b_stage = BK * BN;         ///< floats of a slice
  static constexpr unsigned bytes = 4 * stages * (a_stage + b_stage);  ///< of shared memory
  static_assert(down * across * 32 == threads);

  /// Computes the block of C at (row0, col0). All threads of a block call it.
  /// \param shared `bytes` bytes of shared memory, aligned to 16
  static __device__ __forceinline__ void run(const lab::Gemm& g, float* shared, int row0,
                                             int col0) {
    float* const as = shared;                     // (stages, BK, BM + 4)
    float* const bs = shared + stages * a_stage;  // (stages, BK, BN)
    const int tid = static_cast<int>(threadIdx.x), lane = tid % 32, warp = tid / 32;
    const std::size_t lda = static_cast<std::size_t>(g.lda), ldb = static_cast<std::size_t>(g.ldb);

    // Of A, a warp copies 4 rows x 8 columns at a time, float by float: that is how A gets
    // transposed. Of B, a thread copies four neighbours at a time.
    constexpr int a_step = threads / BK, a_copies = BM / a_step;
    constexpr int b_step = threads / (BN / 4), b_copies = BK / b_step;
    const int a_k = warp % 2 * 8 + lane % 8, a_row = warp / 2 * 4 + lane / 8;
    const int b_k = tid / (BN / 4), b_col = tid % (BN / 4) * 4;
    const float* a_from =
        g.a + static_cast<std::size_t>(row0 + a_row) * lda + static_cast<std::size_t>(a_k);
    const float* b_from =
        g.b + static_cast<std::size_t>(b_k) * ldb + static_cast<std::size_t>(col0 + b_col);
    const bool b_aligned = aligned_rows(g.b, g.ldb);
    const bool whole = b_aligned && row0 + BM <= g.m && col0 + BN <= g.n;
    const int rows_there = g.m - row0 - a_row, cols_there = g.n - col0 - b_col;
    const int a_to = a_k * a_ld + a_row, b_to = b_k * BN + b_col;  // where they go in a stage

    // Starts to copy the next slice to a stage; of its BK steps along K the first `steps` exist.
    const auto start_copies = [&](unsigned stage, int steps) {
      float* a = as + stage * a_stage + a_to;
      float* b = bs + stage * b_stage + b_to;
      if (whole && steps == BK) {
#pragma unroll
        for (int i = 0; i < a_copies; ++i) {
          __pipeline_memcpy_async(a + i * a_step, a_from + i * a_step * lda, 4);
        }
#pragma unroll
        for (int i = 0; i < b_copies; ++i) {
          __pipeline_memcpy_async(b + i * b_step * BN, b_from + i * b_step * ldb, 16);
        }
      } else {
        const float* from = a_from;
        const int rows = a_k < steps ? rows_there : 0;
#pragma unroll 1
        for (int i = 0; i < BM; i += a_step, a += a_step, from += a_step * lda) {
          copy_or_zero(a, from, i < rows);
        }
        from = b_from;
#pragma unroll 1
        for (int k = b_k; k < BK; k += b_step, b += b_step * BN, from += b_step * ldb) {
          if (k >= steps || cols_there <= 0) {
            *reinterpret_cast<float4*>(b) = make_float4(0, 0, 0, 0);
          } else if (b_aligned && cols_there >= 4) {
            __pipeline_memcpy_async(b, from, 16);
          } else {
            for (int j = 0; j < 4; ++j) copy_or_zero(b + j, from + j, j < cols_there);
          }
        }
      }
      a_from += steps;
      b_from += static_cast<std::size_t>(steps) * ldb;
    };

    // The fragments of step k of the slice in a stage.
    const WarpPlace place(threadIdx.x, across);
    const int row = place.warp_row * WM + place.lane_row * 4;
    const int col = place.warp_col * WN + place.lane_col * 4;
    float acc[TM][TN] = {};
    float a[2][TM], b[2][TN];
    const auto read_fragments = [&](unsigned stage, int k) {
      read_quads_of(a[k % 2], as + stage * a_stage + k * a_ld + row, 16);
      read_quads_of(b[k % 2], bs + stage * b_stage + k * BN + col, 32);
    };

    // The first slice is the one that may be shorter than BK: those in the loop are not.
    const int slices = tiles_of(g.k, BK), first = g.k - (slices - 1) * BK;
#pragma unroll 1
    for (int s = 0; s < stages - 1; ++s) {
      if (s < slices) start_copies(static_cast<unsigned>(s), s == 0 ? first : BK);
      __pipeline_commit();
    }
    __pipeline_wait_prior(stages - 2);
    __syncthreads();
    read_fragments(0, 0);

    unsigned reading = 0, writing = stages - 1;
#pragma unroll 1
    for (int s = 0; s < slices; ++s) {
#pragma unroll
      for (int k = 0; k < BK; ++k) {
        if (k == BK - 1) {  // on to the next slice, if there is one
          __pipeline_wait_prior(stages - 2);
          __syncthreads();
          if (s + 1 < slices) reading = (reading + 1) % stages;
        }
        read_fragments(reading, (k + 1) % BK);
        if (k == 0) {  // all have left the slice before: its place is free
          if (s + stages - 1 < slices) start_copies(writing, BK);
          __pipeline_commit();
          writing = (writing + 1) % stages;
        }
        if constexpr (serpentine) {
          serpentine_product(acc, a[k % 2], b[k % 2]);
        } else {
          outer_product(acc, a[k % 2], b[k % 2]);
        }
      }
    }
    write_tile(g, acc, row0 + row, 16, col0 + col, 32);
  }
};

using Square = Pipelined<4, 2, 8, 8, false>;  // 128 x 128 a block
using Wide = Pipelined<2, 4, 16, 8, false>;   // 128 x 256
using WideSerpentine = Pipelined<2, 4, 16, 8, true>;

/// warp_tile with slices of 16 that are copied to shared memory four ahead.
///
/// @param g  the product
///
/// Launch: blocks of 256 threads with Square::bytes of shared memory; grid.x >= n / 128, grid.y >= m
/// / 128.
/// Requires: nothing; rows of B that do not start at multiples of 16 bytes are copied float by float.
__global__ void __launch_bounds__(256, 2) async_copy(lab::Gemm g) {
  extern __shared__ float4 shared[];
  Square::run(g, reinterpret_cast<float*>(shared), static_cast<int>(blockIdx.y) * Square::BM,
              static_cast<int>(blockIdx.x) * Square::BN);
}

// **The counters.** A copy counts as a load from global memory, not as a store, and its wavefronts are among those of
// shared memory: 29,696, of which 25,088 are the reads of fragments. (There is a step more of them for each block, the
// one that is read at the very end and never used.) The copies have the other 4,608: for a slice 64 copies of A with
// 2 each, and 16 of B with 4 each. Why 2, if the 32 lanes write to 32 different banks? A copy of 4 bytes comes out of
// L1, and *L1 has banks, too*. With K = 48 the rows of A are 48 floats apart, so that the first and the third of
// the four rows lie in the same 8 banks. (Where K is a multiple of 32, it is all four of them, and 4 wavefronts.)
//
// **The clock.** 48.2 TFLOP/s, and 93.5 % of cuBLAS: 3 % more. At 1024, where nobody fills in for a block that waits,
// nothing is gained, 21.3 as before. So the loads were hidden already, one slice ahead was enough, and the fewer
// barriers do not show there either. (Three stages instead of four made 47.1 in a trial: the notes at the end have
// what else was tried.) `register_buffer` was not counted, so we cannot say what the 3 % are. What is
// left in `async_copy` was: for each instruction that is issued, of the four warps of a scheduler 0.38 stand at a
// barrier and 0.09 wait for a load.

// ## 10. A wider tile
//
// How much of what the warps issue is multiply-adds? A scheduler issues one instruction in a cycle, and an SM has
// four of them, one for each 32 of its 128 multiply-adders. So whatever is not a multiply-add costs one. The
// loop of `async_copy` has 1221 instructions for a slice, of which 1024 are multiply-adds, or 84 %. The others
// are 64 reads of fragments, the copies, and the arithmetic of their addresses. Larger tiles for the threads
// improve that: 16 x 8 elements need 6 float4 for 128 multiply-adds, where 8 x 8 need 4 for 64. And a larger
// tile for the block needs fewer copies: for a step along K, 128 x 256 elements take 384 floats, two tiles of
// 128 x 128 take 512.
//
// The price is paid in registers. 128 sums and 48 for the fragments leave room for one block of 256 threads on an SM,
// with up to 255 registers for a thread.
//
// **Predict.** Wavefronts for a step: A has four reads now, B two. That is 12 for 128 multiply-adds, where
// 8 x 8 took 8 for 64. And the time, if an instruction saved is a multiply-add gained?

/// async_copy with 16 x 8 elements a thread and 128 x 256 a block.
///
/// @param g  the product
///
/// Launch: blocks of 256 threads with Wide::bytes of shared memory; grid.x >= n / 256, grid.y >= m
/// / 128.
/// Requires: nothing; rows of B that do not start at multiples of 16 bytes are copied float by float.
__global__ void __launch_bounds__(256, 1) wide_tile(lab::Gemm g) {
  extern __shared__ float4 shared[];
  Wide::run(g, reinterpret_cast<float*>(shared), static_cast<int>(blockIdx.y) * Wide::BM,
            static_cast<int>(blockIdx.x) * Wide::BN);
}

// **The counters.** Shared memory is asked for three quarters of what it was. Of the instructions in the loop, 2274
// now, 2048 are multiply-adds, or 90 %. What has been lost is the second block, whose warps stepped in wherever
// these have to wait. There are two warps for each scheduler now, and all depends on how well each of them runs
// by itself.
//
// **The clock.** It does not run well: 46.8 TFLOP/s, *less* than the 48.2 before. Its loop has 7 % fewer
// instructions for each multiply-add, and it issues one in 79 of a hundred cycles, where `async_copy` did in
// 84. (Nsight Compute has counted this, see `results/h200_caches.json`.) One of the reasons for a warp to wait
// stands out, the *dispatch stall*: the warp is ready and has been chosen, and the instruction still cannot go.
// For each instruction that is issued 0.24 of a scheduler's two warps stand like that. For `async_copy` it is
// 0.48 of four, which is the same share, but among four there is more often another one that can go. So what is
// it that holds back a multiply-add whose operands are all there?
//
// ## 11. The order of the multiply-adds
//
// A multiply-add reads three registers. The register file has two banks, the even and the odd numbers, and each
// gives two registers at a time: three from the same bank cost a cycle more. (Shared memory is not the only one
// with banks. Jia et al. have measured this one, "Dissecting the NVIDIA Volta GPU Architecture via
// Microbenchmarking", 2018.) To help, each of the three operands has a small *reuse cache*: an instruction can
// say that the register it has just read is needed again by the next one, at the same place. The machine code
// shows it as `.reuse`. Go through the 16 x 8 tile row by row, always from left to right: then along a row the
// element of A is reused, and at the end of the row everything is new. Go through it like a ploughing ox, down
// one column and up the next: then along a column the element of B is reused, the columns are twice as long as
// the rows, and at the turn it is the element of A. In the machine code of `wide_tile` a multiply-add reads
// 2.15 registers in the mean, in that of `serpentine` 2.10.
//
// The sums are the same, and each of them still adds up its products from the first k to the last. Only the order
// of independent instructions has changed, which is why the compiler may do it, and does not do it by itself.
// **Predict** what one in forty register reads less is worth.

/// wide_tile with the multiply-adds of a step in serpentine order.
///
/// @param g  the product
///
/// Launch: blocks of 256 threads with Wide::bytes of shared memory; grid.x >= n / 256, grid.y >= m
/// / 128.
/// Requires: nothing; rows of B that do not start at multiples of 16 bytes are copied float by float.
__global__ void __launch_bounds__(256, 1) serpentine(lab::Gemm g) {
  extern __shared__ float4 shared[];
  WideSerpentine::run(g, reinterpret_cast<float*>(shared), static_cast<int>(blockIdx.y) * Wide::BM,
                      static_cast<int>(blockIdx.x) * Wide::BN);
}

// **The counters** are the same, and the results are the same to the last bit.
//
// **The clock.** 50.1 TFLOP/s, 7 % more for the order of independent instructions. The dispatch stall has
// fallen from 0.24 to 0.15, and 84 of a hundred cycles issue an instruction again. The two wider rungs together
// have gained 4 % on `async_copy`. At 1024 they lose half: 11.8 where it had 21.3, since a product of 1024 has
// only 32 tiles of 128 x 256. We shall come back to that.
//
// Be careful with explanations here. The serpentine that goes along the *rows* reads even fewer registers, 2.08, and
// was slower than no serpentine at all when we tried it. Each order makes the compiler deal out the registers
// in another way, and what becomes of it has to be measured. The notes below the ladder have a table.

// ## 12. Which blocks run at the same time
//
// A block on each of 132 SMs: 132 tiles are at work at a time. Numbered along the rows of C, for N = 8192, these
// are about four rows of 32 tiles. For each step along K they read 4 * 128 floats of A and 32 * 256 of B, 8,704 in
// all, from the L2 cache at best, and each for the first time from DRAM. If the tiles at work were closer to a
// square, it would be less. So they are numbered another way: in groups of 8 rows, and in each group column by
// column. Then 132 tiles are 8 rows and 16.5 columns, and need 8 * 128 + 16.5 * 256 = 5,248 floats. (This is
// called *rasterisation*, or a *swizzle* of the blocks.)
//
// **Predict** what it does for N = 4096. A row of C has 16 tiles there, and 8 rows of 16 tiles are what is at work at
// the same time in either order. So nothing should change. And for 8192? 5,248 of 8,704 are 60 %.

/// Number of a tile's row and column.
struct TilePlace {
  int row, col;
};

/// The place of tile number `id` when groups of 8 rows of tiles are walked through column by column.
__device__ TilePlace grouped_place(int id, int rows, int cols) {
  constexpr int group = 8;
  const int first = id / (group * cols) * group;  // row of tiles
  const int height = min(group, rows - first);
  const int in_group = id % (group * cols);
  return {first + in_group % height, in_group / height};
}

/// serpentine with the blocks in groups of 8 rows.
///
/// @param g  the product
///
/// Launch: ceil(m / 128) * ceil(n / 256) blocks of 256 threads with Wide::bytes of shared memory.
/// Requires: nothing; rows of B that do not start at multiples of 16 bytes are copied float by float.
__global__ void __launch_bounds__(256, 1) grouped_tiles(lab::Gemm g) {
  extern __shared__ float4 shared[];
  const TilePlace tile =
      grouped_place(static_cast<int>(blockIdx.x), tiles_of(g.m, Wide::BM), tiles_of(g.n, Wide::BN));
  WideSerpentine::run(g, reinterpret_cast<float*>(shared), tile.row * Wide::BM,
                      tile.col * Wide::BN);
}

// **The counters** of one launch do not see it: who asks for what is the same, only the order has changed.
// Nsight Compute sees it, at 8192: 5.1 GB come from DRAM for `serpentine`, and 3.0 GB for this kernel. (In
// earlier runs it was 5.0 to 7.1, and 3.0.)
//
// **The clock** does not see it either: 50.1 TFLOP/s at 4096 for the one and 50.0 for the other, where nothing was
// to change, but also 50.7 TFLOP/s at 8192 for the one, 50.6 for the other. There 5.1 GB in 21.7 ms
// are 233 GB/s, and a copy reaches 4,286 GB/s. Four slices are on their way at any time, so that nobody waits
// for DRAM, however much comes from there. It is a cure for something that this kernel does not have. A product
// on tensor cores may have it: with a tenth of the time for the multiply-adds, the same bytes would be half
// of what the memory can do. We keep the order, since it moves less.

// ## 13. alpha and beta
//
// All kernels of this chapter compute C = alpha A B + beta C, as BLAS does, and all of them do it in the same way:
// the loop knows nothing of it, and each sum is multiplied by alpha once, at the very end. That is M N
// multiplications beside M N K multiply-adds.
//
// beta is more delicate. C has to be *read* if beta is not 0, which are 4 M N bytes more. For 4096 these are 67
// MB, or 0.6 % of the time that the product takes, if nothing else happens meanwhile. For small K it may
// be all that counts. And if beta is 0, C must *not* be read, since it may be memory that nobody has ever written.
// 0 times NaN is NaN, so "beta * C with beta = 0" would not do. That is why `update4` asks. All timings here are over
// a C that is full of NaN, and a kernel that let one through would fail.
//
// BLAS also says that A and B are not read where alpha is 0. A library does that on the host, with another kernel.

// [hide] How the rungs are registered
void register_reads(lab::Chapter& chapter) {
  // Small sizes are for counting: one warp, so that the counts can be checked by hand.
  const bool small = chapter.size().M < 1024;
  const int turns = small ? few_turns : most_turns;
  const unsigned blocks = small ? 1 : 132 * 2, block = small ? 32 : 1024;
  using Kernel = void (*)(float*, int, int);
  const auto add = [&](const char* name, const char* idea, Kernel kernel, int floats, int stride) {
    const auto sums = std::make_shared<lab::DeviceBuffer<float>>(blocks * block, "sums");
    const auto verify = [=] {
      std::vector<double> want(blocks * block, 0.0);
      for (std::size_t thread = 0; thread < want.size(); ++thread) {
        const int lane = static_cast<int>(thread % 32);
        for (int r = 0; r < turns; ++r) {
          for (int i = 0; i < floats; ++i) want[thread] += (floats * (lane * stride + r) + i) % 64;
        }
      }
      return lab::compare(sums->download(), want, lab::tolerance_for_sum(turns * floats, 64));
    };
    chapter.add({.name = name,
                 .idea = idea,
                 .launch = [=] { kernel<<<blocks, block>>>(sums->data(), stride, turns); },
                 .verify = verify,
                 .bytes = 4.0 * floats * turns * blocks * block,
                 .variant = stride == 0 ? "one word" : "stride=" + std::to_string(stride),
                 .outputs = {sums.get()}});
  };
  for (const int stride : {0, 1, 2, 4, 8, 16, 32, 33}) {
    add("read_words", "32 lanes read 32-bit words, so many words apart", read_words, 1, stride);
  }
  for (const int stride : {0, 1, 2, 4, 8, 16, 17}) {
    add("read_pairs", "the same with 64 bits a lane", read_pairs, 2, stride);
  }
  for (const int stride : {0, 1, 2, 4, 8, 9}) {
    add("read_quads", "the same with 128 bits a lane", read_quads, 4, stride);
  }
}

void register_every_stride(lab::Chapter& chapter) {
  constexpr int strides = 34, widths = 3;
  const auto sums = std::make_shared<lab::DeviceBuffer<float>>(widths * strides * 32, "sums");
  const auto verify = [sums] {
    std::vector<double> want(widths * strides * 32, 0.0);
    for (std::size_t i = 0; i < want.size(); ++i) {
      const int lane = static_cast<int>(i) % 32, stride = static_cast<int>(i) / 32 % strides;
      const int floats = 1 << static_cast<int>(i) / 32 / strides;  // of a word: 1, 2, 4
      for (int r = 0; r < few_turns; ++r) {
        for (int j = 0; j < floats; ++j) want[i] += (floats * (lane * stride + r) + j) % 64;
      }
    }
    return lab::compare(sums->download(), want, lab::tolerance_for_sum(few_turns * 4, 64));
  };
  chapter.add({.name = "every_stride",
               .idea = "all strides from 0 to 33, with 32, 64 and 128 bits a lane",
               .launch =
                   [sums] {
                     float* to = sums->data();
                     for (const auto kernel :
                          {every_stride<float>, every_stride<float2>, every_stride<float4>}) {
                       for (int stride = 0; stride < strides; ++stride, to += 32) {
                         kernel<<<1, 32>>>(to, stride);
                       }
                     }
                   },
               .verify = verify,
               .timed = false,
               .outputs = {sums.get()}});
}

void register_shapes(lab::Chapter& chapter) {
  const auto sums = std::make_shared<lab::DeviceBuffer<float>>(32, "sums");
  const auto add = [&](unsigned rows, bool pairs) {
    const auto verify = [=] {
      std::vector<double> want(32, 0.0);
      for (unsigned lane = 0; lane < 32; ++lane) {
        const LanePlace at = pairs ? place_in_pairs(lane, rows) : place_in_rows(lane, rows);
        for (int i = 0; i < 8; ++i) {
          const int a = at.row * 4 + i / 4 * static_cast<int>(rows) * 4 + i % 4;
          const int b = at.col * 4 + i / 4 * static_cast<int>(32 / rows) * 4 + i % 4;
          want[lane] += a * b;
        }
      }
      return lab::compare(sums->download(), want, lab::tolerance_for_sum(8, 4096));
    };
    chapter.add({.name = "warp_shapes",
                 .idea = "wavefronts of a step along K, for several warps",
                 .launch = [=] { warp_shapes<<<1, 32>>>(sums->data(), rows, pairs); },
                 .verify = verify,
                 .variant = std::to_string(rows) + "x" + std::to_string(32 / rows) +
                            (pairs ? " in pairs" : " in rows"),
                 .timed = false,
                 .outputs = {sums.get()}});
  };
  for (const unsigned rows : {1u, 2u, 4u, 8u}) add(rows, false);
  for (const unsigned rows : {2u, 4u, 8u}) add(rows, true);
}

/// Allows a kernel its shared memory, and launches it.
template <class Kernel>
void launch_pipelined(Kernel kernel, dim3 grid, unsigned bytes, const lab::Gemm& g) {
  CUDA_CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                  static_cast<int>(bytes)));
  kernel<<<grid, threads, bytes>>>(g);
}

void register_pipelined(lab::GemmLadder& ladder) {
  const auto add = [&](const char* name, const char* idea, auto shape, void (*kernel)(lab::Gemm)) {
    using Shape = decltype(shape);
    ladder.add({.name = name, .idea = idea, .launch = [kernel](const lab::Gemm& gemm) {
                  lab::for_row_slices(gemm, Shape::BM, [&](const lab::Gemm& g) {
                    const dim3 grid(static_cast<unsigned>(tiles_of(g.n, Shape::BN)),
                                    static_cast<unsigned>(tiles_of(g.m, Shape::BM)));
                    launch_pipelined(kernel, grid, Shape::bytes, g);
                  });
                }});
  };
  add("async_copy", "four slices on their way to shared memory, past the registers", Square(),
      async_copy);
  add("wide_tile", "16 x 8 elements a thread, 128 x 256 a block", Wide(), wide_tile);
  add("serpentine", "the same multiply-adds in another order", WideSerpentine(), serpentine);
  ladder.add({.name = "grouped_tiles",
              .idea = "blocks that run at the same time share their rows and columns",
              .launch = [](const lab::Gemm& g) {
                const int tiles = tiles_of(g.m, Wide::BM) * tiles_of(g.n, Wide::BN);
                launch_pipelined(grouped_tiles, dim3(static_cast<unsigned>(tiles)), Wide::bytes, g);
              }});
}

/// A rung whose kernel takes blocks of 128 x 128.
lab::GemmRung blocks_rung(const char* name, const char* idea, void (*kernel)(lab::Gemm)) {
  return {.name = name, .idea = idea, .launch = [kernel](const lab::Gemm& g) {
            launch_blocks(kernel, g);
          }};
}
// [/hide]

// ## The program
//
// The rungs in the order of the ladder. Each is verified before it is timed and again afterwards, and with
// `--cases all` on 153 small products. The last two are in `bank_conflicts_sm90.cu`, with which the chapter goes
// on.

int main(int argc, char** argv) {
  lab::GemmLadder ladder(argc, argv);
  register_peers(ladder);           // rung 0, and the peer of all others
  ladder.add_with(register_reads);  // 1. what a bank is
  ladder.add_with(register_every_stride);
  ladder.add(blocks_rung("thread_tile_float4",
                         "8 x 8 elements a thread: the last kernel of chapter 04",
                         thread_tile_float4));
  ladder.add(blocks_rung(
      "thread_tile", "the same with a fragment of A for each step, float by float", thread_tile));
  ladder.add(blocks_rung("transposed_a", "A is stored transposed, so that a fragment is two float4",
                         transposed_a));
  ladder.add(blocks_rung("padded_a", "rows of A are 132 floats long: no conflicts of the stores",
                         padded_a));
  ladder.add(blocks_rung("split_tile", "the 8 x 8 tile as four of 4 x 4: no conflicts of the loads",
                         split_tile));
  ladder.add_with(register_shapes);
  ladder.add(
      blocks_rung("warp_tile", "a warp computes 32 x 64, its lanes numbered in pairs", warp_tile));
  ladder.add(blocks_rung("register_buffer", "what comes next is already on its way to registers",
                         register_buffer));
  register_pipelined(ladder);
  register_sm90(ladder);
  return ladder.run();
}
