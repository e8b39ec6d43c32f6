// # Chapter 02: Naive GEMM
//
// Question: What does a matrix product cost if every thread fetches all that it needs by itself?
// Builds on: 01_thread_indexing
// Minutes: 50
// Path: short
// Afterwards: say from bytes and operations what bounds a kernel, and lay lanes along the columns of a matrix
// Kind: gemm
// Size gpu: 4096,4096,4096
// Size simulator: 125,104,64
// Sizes measured: 4096,4096,4096 1024,1024,1024 2048,2048,2048 8192,8192,8192
// Run: ./learn run 02
//   ./learn run 02 --rung cublas               the vendor's library [needs cublas]
//   ./learn run 02 --rung naive_flat           thread i computes element i, counted along the rows
//   ./learn run 02 --rung triple_loop          the definition, on one core of the host
//   ./learn run 02 --rung edge_blocks          how many threads of each block have an element
//   ./learn run 02 --rung naive_unguarded      the guard left out [raises out-of-bounds]
//   ./learn run 02 --rung memory_latency       one load after the other, in each memory [needs gpu]
//   ./learn run 02 --rung memory_bandwidth     all threads at once, in each memory [needs gpu]
//   ./learn run 02 --rung read_strided         every s-th float of an array
//   ./learn run 02 --rung naive_along_rows     threadIdx.x runs down a column of C
//   ./learn run 02 --rung naive_along_columns  threadIdx.x runs along a row of C

#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "lab/lab.h"

// In chapter 01 every element was used once, and memory bandwidth decided everything. The matrix
// product is the opposite case. For n x n matrices the inputs have 2 n^2 elements, and there are
// n^3 multiplications: every element is needed n times. What decides now is where it comes from the
// second time, and the thousandth.
//
// This chapter and the ones that follow are about one product:
//
//     C = alpha A B + beta C
//
// A has M x K elements, B has K x N, C has M x N, all of them floats; alpha and beta are numbers.
// This is {term}`GEMM`, *general matrix multiply*, as every linear algebra library has it. With
// beta = 0, C is written and never read: it may hold anything, even NaN, and 0 x NaN would be NaN.
//
// The goal is cuBLAS, NVIDIA's library, which is rung 0. The kernels of this chapter do not reach
// it; they are here to be counted. Counts are for M = 125, N = 104, K = 64, the simulator's
// default; times are those of an H200 for M = N = K = 4096 unless stated otherwise.
//
// ## 1. Rows, columns, and one long array
//
// C++ stores a matrix row by row, so element (`row`, `col`) is element number
//
//     row * ld + col
//
// of an array. `ld` is the {term}`leading dimension`: the number of floats from the start of one
// row to the start of the next. For a matrix stored by itself that is the number of columns: in a matrix of
// 10 rows and 8 columns, the third element of the second row is element 1 * 8 + 2 = 10. (Multiply by the
// columns, never by the rows: 1 * 10 + 2 is another element.) It is
// larger where the matrix is a part of a larger one, or where rows were padded. A kernel that takes
// the number of columns for `ld` passes every test with plain matrices and fails the first caller
// who passes a part of one. Three matrices have three of them: `lda`, `ldb`, `ldc`.
//
// In the other direction: if thread i is to compute element i of C, counted along the rows, then
// its element is in row `i / n` and column `i % n`. By definition, element (row, col) of A B is the
// sum over l of `A(row, l) * B(l, col)`.
//
//? flat_requests: How many load requests does this kernel make for M = 125, N = 104, K = 64?
//? answer: count("naive_flat", "global_load_requests")
//? unit: requests
//? near: exact

/// C = alpha A B + beta C, one thread for each element of C, counted along the rows.
///
/// @param m, n, k      extents: C is m x n, A is m x k, B is k x n
/// @param alpha, beta  factors; where beta is 0, c is not read
/// @param a, lda       m x k floats in device memory, and floats from a row to the next
/// @param b, ldb       k x n floats, and the same
/// @param c, ldc       m x n floats, and the same; written
///
/// Launch: one dimension, grid.x * block.x >= m * n; no shared memory.
/// Requires: no particular alignment.
__global__ void naive_flat(int m, int n, int k, float alpha, const float* a, int lda,
                           const float* b, int ldb, float beta, float* c, int ldc) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  const std::size_t rows = m, cols = n, depth = k;
  if (i >= rows * cols) return;
  const std::size_t row = i / cols, col = i % cols;

  float sum = 0;
  for (std::size_t l = 0; l < depth; ++l) sum += a[row * lda + l] * b[l * ldb + col];

  float& out = c[row * ldc + col];
  out = beta == 0 ? alpha * sum : alpha * sum + beta * out;
}

// C has 13,000 elements, so there are 407 warps, the last with 8 active lanes. Each makes two loads
// in each of 64 iterations: 52,096 requests.
//= 52,096 requests: count("naive_flat", "global_load_requests")
//= 407 warps: count("naive_flat", "global_store_requests")
//
// Where a warp lies within one row of C, its lanes have one `row`. All of them load the *same*
// element of A, a {term}`broadcast`: one lookup and one sector serve all lanes. From B they load 32
// consecutive floats, 4 sectors. A warp that spans two rows loads two elements of A.
//
// To see such a pattern in any kernel, write the index out as a sum and read off the factor of the lane. Within
// one row of C `col` is a constant plus the lane, so B's index is `l * ldb + constant + 1 * lane`: a factor of 1,
// contiguous. A's index, `row * lda + l`, has no lane in it: a factor of 0, a broadcast. A factor of 8 or more puts
// every lane in a sector of its own.
//
// On the H200 the kernel takes 26 ms at 4096, or 5.3 TFLOP/s: a tenth of what cuBLAS reaches. What
// holds it back takes the rest of the chapter to say.
//= 26 ms: ms("naive_flat")
//= 5.3 TFLOP/s: rate("naive_flat") / 1000
//= a tenth: ratio("naive_flat")
//
// The indices are 64 bits wide. A matrix of 65,536 x 65,536 floats has 2^32 elements, 16 GiB: more
// than an `int` can count, and an eighth of the GPU's memory. (`const float* __restrict__ a` would
// promise that A shares no memory with C. nvcc then loads A with `LDG.E.CONSTANT`, which may use
// another path through the L1 cache. It helps where a loop both loads and stores; here it leaves
// the loop as it is.)
//
// ### The same on a CPU (second reading)
//
// On a CPU the definition is three nested loops. On the GPU the two outer ones are the threads.

/// C = A B on the host, for matrices without gaps between their rows.
///
/// @param m, n, k  extents: C is m x n, A is m x k, B is k x n
/// @param a, b     m x k and k x n floats in host memory
/// @param c        m x n floats in host memory; written
///
/// Launch: no kernel.
void triple_loop(std::size_t m, std::size_t n, std::size_t k, const float* a, const float* b,
                 float* c) {
  for (std::size_t row = 0; row < m; ++row) {
    for (std::size_t col = 0; col < n; ++col) {
      float sum = 0;
      for (std::size_t l = 0; l < k; ++l) sum += a[row * k + l] * b[l * n + col];
      c[row * n + col] = sum;
    }
  }
}

// On one core of the host the loops make 1.9 GFLOP/s for M = N = K = 512; `naive_flat` has 2,700 times the rate. (A tuned
// library for CPUs uses vectors, tiles and all cores. It is not timed here.)
//= 1.9 GFLOP/s: rate("triple_loop")
//= 2,700 times: round(rate("naive_flat") / rate("triple_loop"), -2)
//
// ## 2. Four kinds of blocks
//
// C has two dimensions, so let blocks have two as well: {term}`tiles <tile>` of 32 x 32 threads,
// one thread for each element. Where M and N are no multiples of 32, there are four kinds of
// blocks: inside, where every thread has an element; at the right edge and at the bottom edge,
// where some columns or rows of threads have none; and in the corner, where both apply.
//
// The next kernel counts, for each block that covers a matrix of 70 x 100, the threads that have an
// element.

/// Counts, for each block, the threads that have an element of a matrix of rows x cols.
///
/// @param working     one integer for each block of the grid, row by row; written
/// @param rows, cols  extents of the matrix, any
///
/// Launch: blocks of any shape with x along the columns; the grid covers the matrix.
__global__ void edge_blocks(int* working, int rows, int cols) {
  const int col = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  const int row = static_cast<int>(blockIdx.y * blockDim.y + threadIdx.y);
  const bool mine = row < rows && col < cols;

  // All threads of the block come here, also those without an element: it counts for how many of
  // them the condition holds.
  const int count = __syncthreads_count(mine);
  if (threadIdx.x == 0 && threadIdx.y == 0) working[blockIdx.y * gridDim.x + blockIdx.x] = count;
}

/// What edge_blocks has to count in block i: how much of it lies within the matrix.
struct Working {
  static constexpr int rows = 70, cols = 100, edge = 32;
  static constexpr int down = lab::ceil_div(rows, edge), across = lab::ceil_div(cols, edge);

  __host__ __device__ int operator()(std::size_t i) const {
    const int block = static_cast<int>(i);
    const int below = rows - block / across * edge, right = cols - block % across * edge;
    return (below < edge ? below : edge) * (right < edge ? right : edge);
  }
};

// Twelve blocks cover the matrix: six inside, two at the right edge, three at the bottom edge, and
// one in the corner, where 6 rows and 4 columns are left: 24 threads of 1024.
//
//? idle: How many threads have no element when blocks of 32 x 32 cover C, 125 x 104?
//? answer: 16 * 1024 - count("naive_along_columns/block=32x32", "global_store_active_lanes")
//? unit: threads
//? near: exact
//
// C takes 4 x 4 blocks, 16,384 threads for 13,000 elements. The share shrinks with the size: at
// 4097 x 4097 it is 1.5 %.
//= 13,000 elements: count("naive_along_columns/block=32x32", "global_store_active_lanes")
//= 1.5 %: 100 * (1 - 4097**2 / (129 * 32)**2)
//
// ### Half a guard
//
// The guard is `row < m && col < n`, and it needs both halves. The next kernel has neither.

/// naive_along_columns, which section 4 shows, without its guard.
///
/// @param m, n, k      extents; m and n are not looked at, which is the mistake
/// @param alpha, beta  factors; where beta is 0, c is not read
/// @param a, lda       m x k floats in device memory, and floats from a row to the next
/// @param b, ldb       k x n floats, and the same
/// @param c, ldc       m x n floats, and the same; written
///
/// Launch: blocks of any shape with x along the columns of C; the grid covers C.
/// Requires: m a multiple of block.y and n a multiple of block.x.
__global__ void naive_unguarded(int /*m*/, int /*n*/, int k, float alpha, const float* a, int lda,
                                const float* b, int ldb, float beta, float* c, int ldc) {
  const std::size_t col = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  const std::size_t row = std::size_t{blockIdx.y} * blockDim.y + threadIdx.y;
  float sum = 0;
  for (std::size_t l = 0, depth = k; l < depth; ++l) sum += a[row * lda + l] * b[l * ldb + col];
  float& out = c[row * ldc + col];
  out = beta == 0 ? alpha * sum : alpha * sum + beta * out;
}

// The two edges fail in different ways. A thread *below* the matrix reads a row of A that does not
// exist, and the simulator or `compute-sanitizer` stops it. A thread to the *right* is worse. In
// one long array, column n of a row is column 0 of the next, so the thread reads elements of B that
// exist, one row further down each. Only past B's last row is there nothing, and only that access is reported.
// With another array behind B the thread would go on and, if rows of C have no gaps, write its sum into
// column 0 of the next row of C.
//
// No address checker can catch this. Only a comparison of results can, and only at a size that is not
// a multiple of the tile. So each product of this course solves 153 small cases:
// extents from 1 to 257, gaps between the rows, odd addresses, alpha and beta from {0, 1, -0.5},
// and NaN in C where beta is 0.
//
//     ./learn run 02 --cases all
//
// ## 3. Counting the reads
//
// The counts can be derived by hand. Let every warp cover 32 columns of a row of C. A row
// has ceil(N / 32) warps, and each makes 2 K requests:
//
//     requests = 2 K M ceil(N / 32)
//     sectors  = K M (ceil(N / 32) + ceil(N / 8))
//
// A load of A is a broadcast, one sector. A row of B has ceil(N / 8) sectors, if rows start at
// multiples of 32 bytes. For the default size that makes 64,000 requests and 136,000 sectors.
//= 64,000 requests: count("naive_along_columns/block=32x32", "global_load_requests")
//= 136,000 sectors: count("naive_along_columns/block=32x32", "global_load_sectors")
//
//? again: How many times does some lane load an element of A or B, on average over both?
//? answer: count("naive_flat", "global_load_active_lanes") / (125 * 64 + 64 * 104)
//? unit: times
//? near: 12 %
//
// Each element of A is needed N = 104 times, each element of B M = 125 times: 114 times on average.
// Broadcasts save many of A's lookups. All others are repeat reads of data that the warp had and
// discarded. At 4096 the sectors add up to 344 GB, and the matrices have 0.2 GB.
//= 114 times: count("naive_flat", "global_load_active_lanes") / (125 * 64 + 64 * 104)
//= 344 GB: 32 * 4096 * 4096 * (4096 / 32 + 4096 / 8) / 1e9
//= 0.2 GB: 3 * 4 * 4096**2 / 1e9
//
// ## 4. Which way do the lanes run?
//
// With blocks of two dimensions there is a choice. `threadIdx.x`, in which the lanes of a warp
// differ, can run down a column of C or along a row. The same 1024 threads compute the same 1024
// elements, and the two kernels below differ in two words.
//
// The L1 cache hands out words through 32 banks of 4 bytes, 128 bytes in a cycle; different words of one bank take a
// cycle each. (Inferred from times: at an odd pitch chapter 06 reads 32 lines a request in 0.80 ms, where a
// {term}`line <cache line>` a cycle would take 1.03.)
//= 0.80 ms: ms("06:longer_pitch/pad=1")
//= take 1.03: 16384**2 / 132 / 1.98e6
//
//? rows_sectors: With lanes down a column of C, how many sectors does a load request touch, on
//?   average over A and B?
//? answer: count("naive_along_rows", "global_load_sectors") /
//?   count("naive_along_rows", "global_load_requests")
//? unit: sectors per request
//? near: 5 %
//
//? rows_rate: An iteration of a warp does 64 operations, and L1 sets the pace. Which rate do 132
//?   SMs at 1.98 GHz reach?
//? answer: rate("naive_along_rows") / 1000
//? unit: TFLOP/s
//? near: 10 %

/// C = alpha A B + beta C, one thread for each element of C; threadIdx.x runs down a column of C.
///
/// @param m, n, k      extents: C is m x n, A is m x k, B is k x n
/// @param alpha, beta  factors; where beta is 0, c is not read
/// @param a, lda       m x k floats in device memory, and floats from a row to the next
/// @param b, ldb       k x n floats, and the same
/// @param c, ldc       m x n floats, and the same; written
///
/// Launch: square blocks; grid.x * block.x >= n, grid.y * block.x >= m; no shared memory.
__global__ void naive_along_rows(int m, int n, int k, float alpha, const float* a, int lda,
                                 const float* b, int ldb, float beta, float* c, int ldc) {
  const std::size_t row = std::size_t{blockIdx.y} * blockDim.y + threadIdx.x;
  const std::size_t col = std::size_t{blockIdx.x} * blockDim.x + threadIdx.y;
  const std::size_t rows = m, cols = n, depth = k;
  if (row >= rows || col >= cols) return;

  float sum = 0;
  for (std::size_t l = 0; l < depth; ++l) {
    const float left = a[row * lda + l];
    const float right = b[l * ldb + col];
    sum += left * right;
  }
  float& out = c[row * ldc + col];
  out = beta == 0 ? alpha * sum : alpha * sum + beta * out;
}

// The lanes of a full warp have 32 different rows and one column. They load 32 floats of A that lie
// a row apart, 32 sectors, and one and the same float of B, 1 sector: 16.5 on average, and a little
// less here because M is no multiple of 32.
//
// Of each sector of A the warp uses 4 bytes in one iteration, and the next 4 in the next. So the
// sectors need not come from far: they stay in the L1 cache. But rows of 4096 floats put all 32 words
// into one bank. With the one word of B, an iteration keeps L1 busy for 33 cycles. (The table of bounds counts no banks.)
//
// 132 * 1.98e9 / 33 * 64 makes 0.51 TFLOP/s, and the H200 reaches 0.50. Nsight Compute confirms it:
// L1 finds 99 % of the sectors, and a warp spends 62 % of its time in the queue in front of L1.
//= 0.51 TFLOP/s: 132 * 1.98e9 / 33 * 64 / 1e12
//= reaches 0.50: rate("naive_along_rows") / 1000
//= 99 %: ncu("naive_along_rows", "l1tex__t_sector_hit_rate.pct")
//= 62 %: 100 * ncu("naive_along_rows",
//=   "smsp__average_warps_issue_stalled_lg_throttle_per_issue_active.ratio") /
//=   ncu("naive_along_rows", "smsp__average_warp_latency_per_inst_issued.ratio")
//
// ### Two shapes of blocks
//
// `naive_flat` asks L1 for the same sectors as tiles whose lanes run along rows, but its blocks have another shape. The
// 256 threads of a block compute 256 elements of one row. They share each element of A, and each of them reads a column
// of B that no other thread of the block wants. A tile of 32 x 32 threads needs 32 elements of A and 32 of B in an
// iteration, and each serves 32 threads. From L2 a flat block needs 4 bytes for each FMA, a tile (32 + 32) * 4 / 1024 =
// 0.25.
//
//? tile_or_flat: Which is faster at M = N = K = 4096?
//? choices: flat blocks | tiles of 32 x 32
//? answer: {"flat blocks": ms("naive_flat") < ms("naive_along_columns/block=32x32"),
//?   "tiles of 32 x 32": ms("naive_along_columns/block=32x32") < ms("naive_flat")}
//
//? fewer: With lanes along a row of C: how many times as many sectors does the first kernel load?
//? answer: count("naive_along_rows", "global_load_sectors") /
//?   count("naive_along_columns/block=32x32", "global_load_sectors")
//? unit: times
//? near: 10 %

/// C = alpha A B + beta C, one thread for each element of C; threadIdx.x runs along a row of C.
///
/// @param m, n, k      extents: C is m x n, A is m x k, B is k x n
/// @param alpha, beta  factors; where beta is 0, c is not read
/// @param a, lda       m x k floats in device memory, and floats from a row to the next
/// @param b, ldb       k x n floats, and the same
/// @param c, ldc       m x n floats, and the same; written
///
/// Launch: blocks of any shape; grid.x * block.x >= n, grid.y * block.y >= m; no shared memory.
__global__ void naive_along_columns(int m, int n, int k, float alpha, const float* a, int lda,
                                    const float* b, int ldb, float beta, float* c, int ldc) {
  const std::size_t row = std::size_t{blockIdx.y} * blockDim.y + threadIdx.y;
  const std::size_t col = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  const std::size_t rows = m, cols = n, depth = k;
  if (row >= rows || col >= cols) return;

  float sum = 0;
  for (std::size_t l = 0; l < depth; ++l) {
    const float left = a[row * lda + l];
    const float right = b[l * ldb + col];
    sum += left * right;
  }
  float& out = c[row * ldc + col];
  out = beta == 0 ? alpha * sum : alpha * sum + beta * out;
}

// The lanes of a warp have one row and 32 consecutive columns: a broadcast of A, 1 sector, and 4
// sectors of B. The first kernel's 33 sectors against 5 make 6.6, and a little less at the ragged
// edges. In cycles of L1 it is 33 against 2. Two cycles for an iteration would allow
// 8.4 TFLOP/s, 16.5 times as much. That is L1's bound for `naive_flat`, too, whose warps read the same
// words.
//= 6.6: 33 / 5
//= 8.4 TFLOP/s: 132 * 1.98e9 / 2 * 64 / 1e12
//= 16.5 times: 33 / 2
//
// In TFLOP/s:
//
// | M = N = K | 1024 | 2048 | 4096 | 8192 |
// |---|--:|--:|--:|--:|
// | `naive_flat` | 5.6 | 5.2 | 5.3 | 5.4 |
// | blocks of 32 x 32 | 4.4 | 5.4 | 2.8 | 2.6 |
// | blocks of 32 x 8 | 4.6 | 5.7 | 3.0 | 2.7 |
// | blocks of 16 x 16 | 4.3 | 5.0 | 3.1 | 3.0 |
//= | 5.6 | 5.2 | 5.3 | 5.4 |: rate("naive_flat", 1024) / 1000, rate("naive_flat", 2048) / 1000,
//=   rate("naive_flat", 4096) / 1000, rate("naive_flat", 8192) / 1000
//= | 4.4 | 5.4 | 2.8 | 2.6 |: rate("naive_along_columns/block=32x32", 1024) / 1000,
//=   rate("naive_along_columns/block=32x32", 2048) / 1000,
//=   rate("naive_along_columns/block=32x32", 4096) / 1000,
//=   rate("naive_along_columns/block=32x32", 8192) / 1000
//= | 4.6 | 5.7 | 3.0 | 2.7 |: rate("naive_along_columns/block=32x8", 1024) / 1000,
//=   rate("naive_along_columns/block=32x8", 2048) / 1000, rate("naive_along_columns/block=32x8",
//=   4096) / 1000, rate("naive_along_columns/block=32x8", 8192) / 1000
//= | 4.3 | 5.0 | 3.1 | 3.0 |: rate("naive_along_columns/block=16x16", 1024) / 1000,
//=   rate("naive_along_columns/block=16x16", 2048) / 1000,
//=   rate("naive_along_columns/block=16x16", 4096) / 1000,
//=   rate("naive_along_columns/block=16x16", 8192) / 1000
//
// The tiles need less from L2, and at 4096 they take 1.9 times as long. Two things come together:
//= 1.9 times: ms("naive_along_columns/block=32x32") / ms("naive_flat")
//
// - *Where the data is.* 132 SMs hold 264 tiles at a time, a little more than two rows of tiles.
//   They walk down B together and read all of it, 64 MiB; then the next two rows of tiles begin at
//   the top again. L2 has 60 MB, and the bottom of B has just replaced its top. So nearly all of B
//   comes from global memory, 62 times over. At 2048 B has 16 MiB and stays in L2.
// - *How often a warp waits.* nvcc unrolls both loops four times. In `naive_flat` it places all
//   eight loads before the first FMA, so a warp waits once in four iterations. In
//   `naive_along_columns` it places some of them after it, and the warp waits twice. At 4096 each
//   wait is for global memory.
//= 62 times: 4096**2 / 32**2 / 264
//
// Stalls set the rate here, not bytes alone. The memory is hardly used: the tiles' 4.3 GB in 48 ms are
// 2 % of its bandwidth. Blocks of 16 x 16 show a smaller effect. Their warps cover two rows of 16: 4
// sectors instead of 5, but take 3 cycles of L1 instead of 2, and where B stays in L2 they are slower than 32 x 8.
// That agrees with L1's bound.
//= 4.3 GB: ncu("naive_along_columns/block=32x32", "dram__bytes_read.sum") / 1e9
//= 48 ms: ms("naive_along_columns/block=32x32")
//= 2 %: 100 * ncu("naive_along_columns/block=32x32", "dram__bytes_read.sum") / 1e6 /
//=   ms("naive_along_columns/block=32x32") / limit("copy")
//
// Another GPU may decide otherwise. On an H100, whose L2 has 50 MB, `naive_flat` makes 5.4 TFLOP/s at
// 4096 and only 1.6 at 8192, where the tiles of 32 x 32 make 2.7: there the tiles are faster. Its caches
// have not been counted.
//= 5.4 TFLOP/s: rate("naive_flat", 4096, gpu="h100") / 1000
//= 1.6 at: rate("naive_flat", 8192, gpu="h100") / 1000
//= make 2.7: rate("naive_along_columns/block=32x32", 8192, gpu="h100") / 1000
//
// ## 5. The memories of a GPU
//
// Where can an element be kept, so that it need not be fetched again? On an H200 with its 132
// {term}`SMs <SM>`:
//
// | memory | size | visible to | in CUDA C++ |
// |---|---|---|---|
// | registers | 256 KiB an SM, at most 255 words a thread | one thread | a local variable |
// | shared memory | at most 227 KiB a block, 228 KiB an SM | the block, or a cluster of blocks | `__shared__` |
// | L1 cache | what shared memory leaves of 256 KiB an SM | the SM | automatic |
// | constant memory | 64 KiB, cached in each SM | all threads, read only | `__constant__` |
// | L2 cache | 60 MB | all SMs | automatic |
// | global memory | 141 GB | all threads, the host by copies | `cudaMalloc` |
//
// ```{drawing} memories
// ```
//
// The names of the last column are *logical* memories: CUDA promises who can see them and how long they live, not
// where they are. So one program runs on GPUs that are built differently. {term}`Local memory <local memory>` is not
// a separate memory: a thread's registers spill into it, and it is a part of global memory, behind both caches.
//
// Two numbers characterize a memory. Its {term}`latency` is how long one load takes; its
// *bandwidth* is how much all threads together can load in a second. Two rungs in
// `naive_gemm_gpu.cu` measure them. In `memory_latency` one thread follows a chain, in which each
// load says where the next one is, so that no two can overlap. For registers the chain is one of
// FMAs, {term}`fused multiply-adds <FMA>`, each of which needs the result of the one before. In
// `memory_bandwidth` all SMs are full of threads that load 16 bytes at a time.
//
// Bandwidth follows from the width of the paths. An SM loads 128 bytes in a cycle from shared
// memory, and as many from L1.
//
//? shared_rate: How much do 132 SMs at 1.98 GHz load from shared memory in a second?
//? answer: rate("memory_bandwidth/shared memory") / 1000
//? unit: TB/s
//? near: 5 %
//
// | memory | latency, cycles | TB/s | expected |
// |---|--:|--:|--:|
// | registers | 4.4 | 370 | 400 |
// | shared memory | 23 | 33 | 33 |
// | L1 cache | 32 | 33 | 33 |
// | constant memory, one word | 50 | 16 | |
// | constant memory, 32 words | | 0.5 | |
// | L2 cache | 280 | 8.1 | |
// | global memory | 650 | 4.3 | 4.9 |
//= | 4.4 | 370 | 400 |: 1.98 * ms("memory_latency/registers"),
//=   round(rate("memory_bandwidth/registers") / 1000, -1), round(132 * 128 * 12 * 1.98 / 1000, -1)
//= | 23 | 33 | 33 |: 1.98 * ms("memory_latency/shared memory"),
//=   rate("memory_bandwidth/shared memory") / 1000, 132 * 128 * 1.98 / 1000
//= | 32 | 33 | 33 |: 1.98 * ms("memory_latency/L1 cache"),
//=   rate("memory_bandwidth/L1 cache") / 1000, 132 * 128 * 1.98 / 1000
//= | 50 | 16 |: 1.98 * ms("memory_latency/constant memory"),
//=   rate("memory_bandwidth/constant, one word") / 1000
//= | 0.5 |: rate("memory_bandwidth/constant, 32 words") / 1000
//= | 280 | 8.1 |: round(1.98 * ms("memory_latency/L2 cache"), -1),
//=   rate("memory_bandwidth/L2 cache") / 1000
//= | 650 | 4.3 | 4.9 |: round(1.98 * ms("memory_latency/global memory"), -1),
//=   rate("memory_bandwidth/global memory") / 1000, 6144 * 2 * 3.201 / 8 / 1000
//
// Registers, shared memory and L1 deliver what their width allows: 128 FMAs a cycle with three
// operands of 4 bytes each, and 128 bytes. Global memory reaches nine tenths of its peak, the
// number of wires times their clock (chapter 01). Reading a register is a part of the instruction, so
// the first line is that of an FMA. It includes a share of the loop around the chain, which jumps
// after 16 FMAs; published measurements have 4 cycles.
//
// Shared memory is not a hundred times as fast as global memory, as is sometimes said. Its latency
// is 28 times shorter, its bandwidth 7.6 times as high, and L1 comes close to it in both.
//= 28 times: ms("memory_latency/global memory") / ms("memory_latency/shared memory")
//= 7.6 times: rate("memory_bandwidth/shared memory") / rate("memory_bandwidth/global memory")
//
// ### Constant memory
//
// The cache of {term}`constant memory` hands out *one word* at a time, to all lanes that want it.
// Lanes that want different words are served one after the other.
//
//? constant: How many times the bandwidth do the lanes get if all of them want one word, compared
//?   with 32 different words?
//? answer: rate("memory_bandwidth/constant, one word") / rate("memory_bandwidth/constant, 32
//?   words")
//? unit: times
//? near: 10 %
//
// It suits values that all threads need at once, such as a kernel's parameters, which are kept
// there. It is the wrong place for a matrix.
//
// ### What an FMA can be fed from
//
// Each FMA of the product needs two operands, 8 bytes, and does two operations.
//
//? fed: What rate can the product reach if each lane loads both operands of every FMA from shared memory, 4 bytes at a time?
//? answer: rate("memory_bandwidth/shared memory") / 8 * 2 / 1000
//? unit: TFLOP/s
//? near: 10 %
//
// That is an eighth of what the FMA units can do, 67 TFLOP/s (section 7). Moving the matrices into
// shared memory is not enough (chapter 03). Every value that is loaded from there must be used several
// times from registers (chapter 04).
//= an eighth: rate("memory_bandwidth/shared memory") / 4 / (132 * 128 * 2 * 1.98)
//= 67 TFLOP/s: 132 * 128 * 2 * 1.98 / 1000
//
// ### Bytes in flight
//
// A memory delivers its bandwidth only if enough loads are in flight. If each load takes a time t,
// then in the time t all bytes that are in flight arrive, so
//
//     bytes in flight = bandwidth x latency
//
// This is {term}`Little's law <Little’s law>`.
//
//? in_flight: How many bytes must each of the 132 SMs have in flight to get the full 4.3 TB/s?
//? answer: rate("memory_bandwidth/global memory") * ms("memory_latency/global memory") / 132
//? unit: bytes
//? near: 15 %
//
// 650 cycles are 0.33 us. In that time 1.4 MB arrive, 11 KB for each SM. A full SM has 2048 threads. If each has asked
// for *one* float, 8 KB are in flight, and the bandwidth is out of reach even if no load took longer than the shortest.
// Chapter 01 points the same way, though stores are part of its rates: `map_square` reached 65 % of what a copy does,
// and `add_guarded`, with two floats in flight, 83 %. More threads do not fit. But a thread can ask for more before it
// waits, with several loads in a row, or with a
// {term}`float4` that loads 16 bytes at once.
//= 0.33 us: ms("memory_latency/global memory") / 1000
//= 1.4 MB: rate("memory_bandwidth/global memory") * ms("memory_latency/global memory") / 1e6
//= 11 KB: rate("memory_bandwidth/global memory") * ms("memory_latency/global memory") / 132 / 1000
//= 8 KB: 2048 * 4 / 1000
//= 65 %: 100 * ratio("01:map_square/block=256")
//= 83 %: 100 * ratio("01:add_guarded")
//
// ## 6. Why contiguous access matters: DRAM pages and bursts
//
// Caches move data in sectors of 32 bytes. DRAM, of which global memory consists, has larger units. A
// DRAM chip is a grid of tiny capacitors. To read any of them it first copies a whole row of the grid,
// a *page* of a kilobyte or more, into a buffer, which takes tens of nanoseconds. From the buffer it
// sends *bursts* of some tens of bytes, as fast as the wires allow. A burst cannot be cut short. The
// next one from the same page follows at once, while one from another page waits until that page is
// open. A chip has several such grids, its *banks*, and a GPU many chips on *channels* of their own. Neighbouring
// pieces of memory lie in different channels and banks, so that one page opens while others send. (How the pieces are
// dealt out is not documented, and not measured here.)
//
// The next kernel sums every s-th float of an array, for s from 1 to 32.
//
//? stride_sectors: How many sectors does a request touch at s = 4?
//? answer: count("read_strided/stride=4", "global_load_sectors") /
//?   count("read_strided/stride=4", "global_load_requests")
//? unit: sectors per request
//? near: exact
//
//? skip: What happens to the time from s = 8 to s = 16?
//? choices: it halves | it stays the same
//? answer: {"it halves": 0.4 < ms("read_strided/stride=16") / ms("read_strided/stride=8") < 0.6,
//?   "it stays the same": 0.95 < ms("read_strided/stride=16") / ms("read_strided/stride=8") < 1.05}

/// Sums every stride-th float of an array; thread t takes every T-th of these, from number t on,
/// where T is the number of threads in the grid.
///
/// @param sums    one float for each thread of the grid; written
/// @param in      n floats in device memory
/// @param n       number of floats
/// @param stride  floats from one that is read to the next
///
/// Launch: one dimension, any grid and any block; no shared memory.
__global__ void read_strided(float* sums, const float* in, std::size_t n, std::size_t stride) {
  const std::size_t thread = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  const std::size_t step = std::size_t{gridDim.x} * blockDim.x * stride;
  float sum = 0;
  for (std::size_t i = thread * stride; i < n; i += step) sum += in[i];
  sums[thread] = sum;
}

/// What thread i of so many has to sum up.
struct StridedSum {
  lab::View<float> in;
  std::size_t stride, threads;
  __host__ __device__ double operator()(std::size_t i) const {
    double sum = 0;
    for (std::size_t at = i * stride; at < in.size(); at += threads * stride) sum += in[at];
    return sum;
  }
};

/// Blocks of 256 threads that read n floats so. A thread adds up 16 of them, or fewer threads would ask for too little
/// at a time.
dim3 strided_blocks(std::size_t n, std::size_t stride) { return lab::tiles(n, stride * 16 * 256); }

// A request touches 4 s sectors up to s = 8, and one for each lane from there on. The requests
// halve with each step. So all of the array moves for s = 1 to 8, half of its sectors for s = 16, a
// quarter for s = 32.
//
// | s | 1 | 2 | 4 | 8 | 16 | 32 |
// |---|--:|--:|--:|--:|--:|--:|
// | time in us | 120 | 76 | 66 | 64 | 64 | 37 |
//= | 120 | 76 | 66 | 64 | 64 | 37 |: round(1000 * ms("read_strided/stride=1"), -1),
//=   1000 * ms("read_strided/stride=2"), 1000 * ms("read_strided/stride=4"),
//=   1000 * ms("read_strided/stride=8"), 1000 * ms("read_strided/stride=16"),
//=   1000 * ms("read_strided/stride=32")
//
// Half of the sectors were left out and no time was saved. So at least two sectors, 64 bytes, are
// fetched at a time, and a sector that was left out has moved all the same. Whether L2 asks for no less
// or DRAM sends no less is not measured here; L2's fetch granularity can be set (extension 6). From s =
// 16 to 32 whole pieces are left out, and the time falls. At s = 8 the array arrives with 4.2 TB/s, as
// fast as in a copy.
//= 4.2 TB/s: 2**26 * 4 / ms("read_strided/stride=8") / 1e9
//
// ### Why the small strides are slow
//
// For s = 1 and s = 2 the same bytes take longer. This is Little's law again: nvcc has not unrolled
// the loop, so each thread has one load in flight, 8 KiB an SM. That allows at most 3.3 TB/s at the
// shortest latency. A larger stride brings more sectors with every load, and more is in flight. The
// cure is to load several elements before the first addition. It has to be written into the source:
// `#pragma unroll 4` leaves a comparison between the loads, since the compiler does not know how
// many iterations remain (extension 4).
//= 3.3 TB/s: 132 * 8192 / ms("memory_latency/global memory") / 1000
//
// ## 7. Arithmetic intensity and the roofline
//
// A kernel has two bounds. It cannot compute faster than the FMA units do: 132 SMs with 128 of
// them, 2 operations each, at 1.98 GHz, are 67 TFLOP/s. A loop of nothing but FMAs reaches more than
// 90 % of that. And a kernel cannot compute faster than its data arrives, which depends on how much it
// computes with each byte:
//= 67 TFLOP/s: 132 * 128 * 2 * 1.98 / 1000
//= more than 90 %: 100 * limit("fma") / (132 * 128 * 2 * 1.98)
//
//     arithmetic intensity = operations / bytes moved
//     rate <= min(peak, intensity * bandwidth)
//
// Drawn over the {term}`arithmetic intensity` on logarithmic axes, the bound is a slope and then a
// flat top: the {term}`roofline` (Williams, Waterman and Patterson, 2009). A kernel under the slope
// is {term}`memory-bound`, however cleverly it computes; one under the flat top is
// {term}`compute-bound`. Neither need come near: the tiles of section 4 do 32 operations a byte and reach 4 % of the
// top, because they wait.
//= do 32 operations: 2 * 4096**3 / ncu("naive_along_columns/block=32x32", "dram__bytes_read.sum")
//= reach 4 %: 100 * rate("naive_along_columns/block=32x32") / 1000 / (132 * 128 * 2 * 1.98 / 1000)
//
//? ridge: At which intensity do the slope of global memory and the flat top meet on the H200?
//? answer: 132 * 128 * 2 * 1.98 / limit("copy")
//? unit: operations per byte
//? near: 15 %
//
// At 16 operations for each byte of global memory.
//= 16 operations: 132 * 128 * 2 * 1.98 / limit("copy")
//
// ### Where the product stands
//
// The *problem* is compute-bound: 2 M N K operations for 4 (M K + K N + M N) bytes, an intensity of
// 683 at 4096. The *kernel* is what counts, though, and what it moves. A full warp of `naive_flat`
// loads 5 sectors, 160 bytes, for 64 operations.
//= 683: 2 * 4096**3 / (3 * 4 * 4096**2)
//
//? intensity: Which rate does the slope of global memory allow at that intensity?
//? answer: 64 / 160 * limit("copy") / 1000
//? unit: TFLOP/s
//? near: 10 %
//
// `naive_flat` reaches three times as much, since most of its bytes come from the caches. Each
// level of memory has a slope of its own. At 0.4 operations for each byte, the 33 TB/s of L1
// allow 13 TFLOP/s, a fifth of the flat top. So a kernel that asks L1 for 160 bytes in 64
// operations stays below that, even if L1 never misses. (It cannot even come close: L1 delivers 33 TB/s
// only where each cycle brings 128 bytes, and a broadcast takes a cycle for 4. Section 4 has the bound
// that counts these cycles.) The kernel has to load an element once and use it many times, out of
// registers.
//= three times: rate("naive_flat") / (0.4 * limit("copy"))
//= 33 TB/s: rate("memory_bandwidth/L1 cache") / 1000
//= 13 TFLOP/s: 0.4 * rate("memory_bandwidth/L1 cache") / 1000
//= a fifth: 0.4 * rate("memory_bandwidth/L1 cache") / (132 * 128 * 2 * 1.98)
//
// ## 8. Case study: how this was found (second reading)
//
// The prediction was that tiles are faster, and the clock contradicted it. Three steps led from
// there to the reason, and they work wherever a prediction fails.
//
// **From times to cycles.** An SM holds 64 warps of either kernel. Multiply the time by the clock
// and divide by the number of warp iterations on one SM: these are the cycles that an iteration
// costs the SM. Times 64 it is the time from one iteration of a warp to its next, in which it waits
// for its two loads or for its turn. Four iterations of `naive_flat` take 810 cycles at 4096. Of a
// tile they take 800 at 2048 and 1,510 at 4096.
//= take 810 cycles: round(ms("naive_flat") * 1.98e6 / (4096**3 / 32 / 132) * 64 * 4, -1)
//= 800 at: round(ms("naive_along_columns/block=32x32", 2048) * 1.98e6 /
//=   (2048**3 / 32 / 132) * 64 * 4, -1)
//= and 1,510: round(ms("naive_along_columns/block=32x32") * 1.98e6 /
//=   (4096**3 / 32 / 132) * 64 * 4, -1)
//
// **From source to machine code.** `cuobjdump -sass` shows the four unrolled iterations, and the
// loads that stand behind the first FMA. They cannot be issued before the first loads have arrived,
// so the warp waits twice. One load takes 280 cycles from L2 and 650 from global memory if nobody
// else wants anything (section 5). Two of the one fit into 800, two of the other into 1,510. So at
// 4096 the loads seem to come from further away, and there are two suspects:
//= into 800: round(ms("naive_along_columns/block=32x32", 2048) * 1.98e6 /
//=   (2048**3 / 32 / 132) * 64 * 4, -1)
//= into 1,510: round(ms("naive_along_columns/block=32x32") * 1.98e6 /
//=   (4096**3 / 32 / 132) * 64 * 4, -1)
//
// - *B is too large for L2*, as explained above.
// - *The sets of L1.* The rows of A lie 16 KiB apart at 4096. If L1 chooses the place of a line,
//   its set, by a few bits of the address, the rows fall into the same sets and replace each other.
//
// **From suspects to counters.** The simulator has no caches; Nsight Compute counts what they find,
// and how many cycles a warp waits for loads per instruction (`long_scoreboard`):
//
// | kernel | M = N = K | found in L1, % | found in L2, % | from memory, GB | cycles of waiting |
// |---|--:|--:|--:|--:|--:|
// | tile of 32 x 32 | 2048 | 95 | 98 | 0.03 | 14 |
// | tile of 32 x 32 | 4096 | 95 | 59 | 4.3 | 32 |
// | `naive_flat` | 2048 | 24 | 100 | 0.03 | 11 |
// | `naive_flat` | 4096 | 35 | 87 | 4.3 | 13 |
//= | 95 | 98 | 0.03 | 14 |: ncu("naive_along_columns/block=32x32",
//=   "l1tex__t_sector_hit_rate.pct", 2048), ncu("naive_along_columns/block=32x32",
//=   "lts__t_sector_hit_rate.pct", 2048), ncu("naive_along_columns/block=32x32",
//=   "dram__bytes_read.sum", 2048) / 1e9, ncu("naive_along_columns/block=32x32",
//=   "smsp__average_warps_issue_stalled_long_scoreboard_per_issue_active.ratio", 2048)
//= | 95 | 59 | 4.3 | 32 |: ncu("naive_along_columns/block=32x32",
//=   "l1tex__t_sector_hit_rate.pct", 4096), ncu("naive_along_columns/block=32x32",
//=   "lts__t_sector_hit_rate.pct", 4096), ncu("naive_along_columns/block=32x32",
//=   "dram__bytes_read.sum", 4096) / 1e9, ncu("naive_along_columns/block=32x32",
//=   "smsp__average_warps_issue_stalled_long_scoreboard_per_issue_active.ratio", 4096)
//= | 24 | 100 | 0.03 | 11 |: ncu("naive_flat", "l1tex__t_sector_hit_rate.pct", 2048),
//=   ncu("naive_flat", "lts__t_sector_hit_rate.pct", 2048), ncu("naive_flat",
//=   "dram__bytes_read.sum", 2048) / 1e9, ncu("naive_flat",
//=   "smsp__average_warps_issue_stalled_long_scoreboard_per_issue_active.ratio", 2048)
//= | 35 | 87 | 4.3 | 13 |: ncu("naive_flat", "l1tex__t_sector_hit_rate.pct", 4096),
//=   ncu("naive_flat", "lts__t_sector_hit_rate.pct", 4096), ncu("naive_flat",
//=   "dram__bytes_read.sum", 4096) / 1e9, ncu("naive_flat",
//=   "smsp__average_warps_issue_stalled_long_scoreboard_per_issue_active.ratio", 4096)
//
// L1 finds as much at 4096 as at 2048, so set conflicts are ruled out. The cause is B: at 2048 the memory
// delivers A and B once, at 4096 the 4.3 GB that were computed. The first warp that wants a line of
// B waits for memory, and the 31 others of its tile need the same line: they can catch up with it,
// not pass it. At 2048, where B stays in L2, the tiles still wait 14 cycles an instruction, in blocks of
// 32 x 8 no less.
//
// `naive_flat` loads as much from memory at 4096, but waits once where the tile waits twice. At 2048 it is no faster
// than that for another reason: its warps load 128 bytes of B in an iteration, of which L1 finds few, and L2 sends 9.6
// TB/s, more than `memory_bandwidth` got from it. Its schedulers issue in 77 % of their cycles, at Nsight's slower
// clock. Which of the two holds it, and how L1 chooses its sets, was not measured.
//= 77 %: ncu("naive_flat", "smsp__issue_active.avg.pct_of_peak_sustained_active", 2048)
//= 9.6 TB/s: 32 * ncu("naive_flat", "lts__t_sectors_srcunit_tex_op_read.sum", 2048) /
//=   ms("naive_flat", 2048) / 1e9

// ## 9. Rung 0: the library
//
// The peer is `cublasSgemm`, on the same data, timed in the same rounds as each rung. Three things
// must be right for a fair comparison, and all three are often wrong:
//
// - *The order of the elements.* cuBLAS stores matrices column by column, as Fortran does. A
//   row-major matrix read column by column is its transpose. So ask for C^T = B^T A^T: A and B
//   change places, M and N change places, and the leading dimensions stay with their matrices. With
//   square matrices one can get this wrong in several ways and never notice.
// - *The arithmetic.* On request cuBLAS computes in TF32 on tensor cores, with inputs rounded to 11
//   bits. That is another problem, and it is not allowed here: the program checks it with a product
//   that is exact in FP32 and not in TF32.
// - *The clock.* Both are timed in turn, in one run, with a cold L2 cache.
//
// At 4096 cuBLAS takes 2.7 ms, 51.6 TFLOP/s, or 77 % of what the FMA units can do. This is the figure to
// beat.
//= 2.7 ms: ms("cublas")
//= 51.6 TFLOP/s: rate("cublas") / 1000
//= 77 %: 100 * rate("cublas") / (132 * 128 * 2 * 1.98)

// [rung cublas]

// How does it get there? It does not load an element for each FMA. Each thread computes up to 128
// elements of C in registers, a block computes tiles of up to 256 x 128, and tiles of A and B are
// on their way to shared memory several steps before they are needed. For each size it chooses
// among dozens of kernels. The next chapters take these ideas one at a time.

// [hide] The picture of the blocks, and the launches
namespace {

/// Draws the blocks of edge_blocks with the number of working threads in each.
void print_blocks(const std::vector<int>& working) {
  using W = Working;
  std::printf("  a %d x %d matrix in %d x %d blocks of %d x %d threads; working threads of each:\n",
              W::rows, W::cols, W::down, W::across, W::edge, W::edge);
  std::string line = "  +";
  for (int i = 0; i < W::across; ++i) line += "------+";
  std::printf("%s\n", line.c_str());
  for (int i = 0; i < W::down; ++i) {
    std::printf("  |");
    for (int j = 0; j < W::across; ++j) {
      std::printf(" %4d |", working[static_cast<std::size_t>(i * W::across + j)]);
    }
    std::printf("\n%s\n", line.c_str());
  }
}

/// Prints what section 3 computes, for warps that cover 32 columns of a row.
void print_formula(const lab::Gemm& g) {
  const auto wide = [](int extent) { return static_cast<unsigned long long>(extent); };
  const unsigned long long across = lab::ceil_div(wide(g.n), 32ull);
  const unsigned long long requests = 2 * wide(g.k) * wide(g.m) * across;
  const unsigned long long sectors =
      wide(g.k) * wide(g.m) * (across + lab::ceil_div(wide(g.n), 8ull));
  std::printf("  2 K M ceil(N / 32) = %s load requests\n", lab::grouped(requests).c_str());
  std::printf("  K M (ceil(N / 32) + ceil(N / 8)) = %s sectors, with rows of 32-byte multiples\n",
              lab::grouped(sectors).c_str());
}

void launch_flat(const lab::Gemm& g) {
  const dim3 grid = lab::tiles(static_cast<std::size_t>(g.m) * static_cast<std::size_t>(g.n), 256);
  naive_flat<<<grid, 256>>>(g.m, g.n, g.k, g.alpha, g.a, g.lda, g.b, g.ldb, g.beta, g.c, g.ldc);
}

void launch_unguarded(const lab::Gemm& g) {
  naive_unguarded<<<lab::tiles(static_cast<std::size_t>(g.n), static_cast<std::size_t>(g.m), 32),
                    dim3(32, 32)>>>(g.m, g.n, g.k, g.alpha, g.a, g.lda, g.b, g.ldb, g.beta, g.c,
                                    g.ldc);
}

/// Launches edge_blocks with blocks that cover the matrix.
void launch_edges(int* working) {
  using W = Working;
  edge_blocks<<<dim3(W::across, W::down), dim3(W::edge, W::edge)>>>(working, W::rows, W::cols);
}

const lab::GemmLaunch tile32{32, 32, dim3(32, 32)};  ///< a thread for each element of 32 x 32

/// The kernels of section 2: edge_blocks, and a product whose extents are no multiples of 32.
void add_edges(lab::Ladder& ladder) {
  lab::DeviceBuffer<int> working(Working::down * Working::across, "working");
  ladder.add({.name = "edge_blocks",
              .launch = [&] { launch_edges(working.data()); },
              .outputs = {lab::expect(working, Working())},
              .show = [&] { print_blocks(working.download()); },
              .timed = false});
  lab::GemmProblem ragged({.m = 127, .n = 95, .k = 8}, ladder.seed());
  ladder.demonstrate("naive_unguarded", [&] { launch_unguarded(ragged.gemm()); });
}

/// Element i of A B, for matrices of n x n.
struct ProductElement {
  lab::View<float> a, b;
  std::size_t n;
  __host__ __device__ double operator()(std::size_t i) const {
    double sum = 0;
    for (std::size_t l = 0; l < n; ++l) sum += double{a[i / n * n + l]} * double{b[l * n + i % n]};
    return sum;
  }
};

/// triple_loop, with n x n matrices in the host's memory.
class OnHost {
 public:
  OnHost(std::size_t n, std::uint64_t seed)
      : n_(n),
        a_(n * n, lab::RandomValue<float>{seed}),
        b_(n * n, lab::RandomValue<float>{seed + 1}),
        c_(n * n) {}

  void launch() { triple_loop(n_, n_, n_, host_a_.data(), host_b_.data(), c_.data()); }
  std::vector<lab::Expectation> outputs() {
    return {lab::expect(std::span(c_), ProductElement{a_.view(), b_.view(), n_},
                        lab::tolerance_for_sum(n_, 0.25))};
  }
  double flops() const { return 2.0 * static_cast<double>(n_ * n_ * n_); }

 private:
  const std::size_t n_;
  const lab::Input<float> a_, b_;
  const std::vector<float> host_a_ = a_.host(), host_b_ = b_.host();
  std::vector<float> c_;
};

/// triple_loop for matrices of 512 x 512, small enough for one core; of 64 x 64 on the simulator.
void add_on_host(lab::Ladder& ladder) {
  if (!ladder.wants("triple_loop")) return;
  OnHost one(ladder.on_simulator() ? 64 : 512, ladder.seed());
  ladder.add("triple_loop", one, {.flops = one.flops(), .clock = lab::Clock::host});
}

/// On a GPU read_strided reads several times the L2 cache; on the simulator as little as shows the counts.
void add_strided(lab::Ladder& ladder) {
  const std::size_t n = std::size_t{1} << (ladder.on_simulator() ? 14 : 26);
  const lab::Input<float> in(n, lab::RandomValue<float>{ladder.seed() + 7});
  for (const std::size_t stride : {1, 2, 4, 8, 16, 32}) {
    const dim3 blocks = strided_blocks(n, stride);
    lab::DeviceBuffer<float> sums(std::size_t{blocks.x} * 256, "sums");
    const StridedSum want{in.view(), stride, sums.size()};
    ladder.add({.name = "read_strided",
                .variant = lab::variant_name("stride", stride),
                .launch = [&] { read_strided<<<blocks, 256>>>(sums.data(), in.data(), n, stride); },
                .outputs = {lab::expect(sums, want, lab::tolerance_for_sum(16, 0.5))},
                .bytes = 4.0 * static_cast<double>(lab::ceil_div(n, stride)),
                .limit = lab::Limit::copy});
  }
}

}  // namespace
// [/hide]

int main(int argc, char** argv) {
  return lab::run(argc, argv, [](lab::GemmLadder& ladder) {
    ladder.add("naive_flat", launch_flat);
    ladder.add_with(add_on_host);
    ladder.add_with(add_edges);
    lab::add_others(ladder);
    ladder.add_with(add_strided);
    ladder.add("naive_along_rows", naive_along_rows, tile32);
    ladder.sweep("naive_along_columns",
                 {{"block=32x32", naive_along_columns, tile32, print_formula},
                  {"block=32x8", naive_along_columns, {8, 32, dim3(32, 8)}},
                  {"block=16x16", naive_along_columns, {16, 16, dim3(16, 16)}}});
  });
}

// ## What to remember
//
// - An element is at `row * ld + col`, in 64 bits, and `ld` is not the number of columns.
// - The guard of a tile needs both halves. To the right of a row is the next row, so a missing half
//   may raise no error.
// - Lanes should run along the index that is contiguous in memory. What all lanes share is a
//   broadcast, and costs one sector.
// - Caches forgive repeated sectors, not lanes a multiple of 32 floats apart: these want one bank of L1.
// - Bytes in flight = bandwidth x latency. A thread with one load in flight cannot fill the memory.
// - Intensity decides between memory-bound and compute-bound: 16 operations a byte on an H200.
//= 16 operations: 132 * 128 * 2 * 1.98 / limit("copy")
//
// `naive_along_columns` loads each element of B once for each row of C, and relies on L1 to keep
// it. Chapter 03 leaves nothing to chance: the threads of a block load a tile of A and a tile of B
// once, together, into shared memory, and all of them compute from there.
//
// ## Possibilities for extension
//
// 1. Which sectors does `naive_flat` load if N is 33? Predict first, then `./learn run 02 --backend
//    simulator --rung naive_flat --size 128,33,64`.
// 2. Let each thread compute two neighbouring elements of a row. How many requests are there for
//    each FMA? Then two elements of a column, then 2 x 2. This is where chapter 04 goes.
// 3. Write the loop of `naive_along_columns` with an `int` index and look at the machine code. nvcc
//    13.0 unrolls it 16 times instead of four. How many loads are in flight now, and what does that
//    do to the time at 4096?
// 4. Give `read_strided` four loads before its first addition, with one comparison for the four and
//    a loop for the rest. Check that four `LDG` stand together in the machine code, then time it.
//    On an H200 such a loop brought a stride of 1 to within a tenth of a stride of 8.
// 5. Blocks start in the order of `blockIdx.x`, which runs along a row of C here. Let it run down a
//    column. Which 264 tiles run at the same time then, and does B stay in L2?
// 6. With a GPU: begin `main()` with `cudaDeviceSetLimit(cudaLimitMaxL2FetchGranularity, 32)` and
//    run `read_strided` again. The limit is a hint. Does the GPU follow it?
