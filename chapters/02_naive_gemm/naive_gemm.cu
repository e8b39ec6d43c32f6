// # Chapter 02: Naive GEMM
//
// Question: What does a matrix product cost if every thread fetches all that it needs by itself?
// Builds on: 01_thread_indexing
// Size gpu: 4096,4096,4096
// Size simulator: 128,96,64
// Sizes measured: 4096,4096,4096 1024,1024,1024 2048,2048,2048 8192,8192,8192
// Run: ./learn run 02
//   ./learn run 02 --rung cublas               the vendor's library: what all others are compared with
//   ./learn run 02 --rung naive_flat           thread i computes the i-th element, counted along the rows
//   ./learn run 02 --rung edge_blocks          how many threads of each block have an element
//   ./learn run 02 --rung naive_unguarded      the guard left out: the edge blocks leave the matrices
//   ./learn run 02 --rung naive_along_rows     threadIdx.x runs down a column of C: 32 rows of A at once
//   ./learn run 02 --rung naive_along_columns  threadIdx.x runs along a row of C: 32 neighbours of B at once
//   ./learn run 02 --rung read_strided         the same floats, further and further apart
//   ./learn run 02 --rung memory_latency       one load after the other, in each memory (GPU only)
//   ./learn run 02 --rung memory_bandwidth     all threads at once, in each memory (GPU only)

#include <cuda_runtime.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "lab/gemm.h"
#include "lab/lab.h"

// In chapter 01 every element was used once. A kernel could do no better than to move each byte
// once, and the memory's speed was all that counted. The matrix product is the opposite case: its
// inputs have 2 n^2 elements, and it multiplies n^3 times. So every element is needed n times over,
// and what decides is where it comes from the second time, and the thousandth.
//
// This chapter and the next three are about one product:
//
//     C = alpha A B + beta C
//
// A has M x K elements, B has K x N, C has M x N. All of them are floats, and they are multiplied
// and added as floats: the tensor cores, which would round the inputs first, come in a later part
// of the course. alpha and beta are numbers. This is GEMM, *general matrix multiply*, as every
// linear algebra library has it: with alpha = 1 and beta = 0 it is the plain product, with beta = 1
// it adds to what is there. beta = 0 means that C is written and never read: it may hold anything,
// even a NaN, and 0 x NaN would be a NaN.
//
// Rung 0 is the vendor's library, cuBLAS, and the goal of the four chapters is to be faster. The
// kernels of this chapter are not going to be. They are here to be counted.
//
// The counts below are for M = 128, N = 96, K = 64, the size that the simulator runs by default;
// the times in the tables are for the size that stands beside them.

// [hide] How a kernel is launched
/// Number of blocks along one direction.
unsigned blocks_for(int extent, unsigned per_block) {
  return lab::ceil_div(static_cast<unsigned>(extent), per_block);
}

/// Launches a kernel with one thread an element, in blocks that cover `block`.x columns and `block`.y
/// rows of C. A grid has at most 65,535 blocks along y: taller matrices are done in slices.
template <class Kernel>
void launch_tiles(Kernel kernel, dim3 block, const lab::Gemm& gemm) {
  lab::for_row_slices(gemm, static_cast<int>(block.y), [&](const lab::Gemm& g) {
    const dim3 grid(blocks_for(g.n, block.x), blocks_for(g.m, block.y));
    kernel<<<grid, block>>>(g.m, g.n, g.k, g.alpha, g.a, g.lda, g.b, g.ldb, g.beta, g.c, g.ldc);
  });
}

// What only the GPU build has: naive_gemm_peers.cu and naive_gemm_gpu.cu, or their stubs, which say
// so.
void register_peers(lab::GemmLadder& ladder);
void register_memories(lab::Chapter& chapter);
// [/hide]

// ## 1. Rows, columns, and one long array
//
// Memory has no rows. A matrix in C++ order keeps each of its rows in one piece, one row behind the
// other, so the element in row `row` and column `col` is the element number
//
//     row * ld + col
//
// of the array. `ld` is the *leading dimension*: how many floats lie between the start of a row and
// the start of the next. For a matrix that is stored by itself it is the number of columns. It can
// be larger: the matrix may be a part of a larger one, or its rows may have been padded so that
// each starts at an aligned address. A kernel that computes with the number of columns where it
// needs `ld` is right in every test with plain matrices, and wrong the day somebody passes a part
// of one. So there are three of them, `lda`, `ldb` and `ldc`, and they have nothing to do with each
// other.
//
// Now the other way round: thread number i of the grid is to compute element number i of C, counted
// along the rows. Which row and column is that? `row = i / n` and `col = i % n`, as in a number
// with two digits. This is the flattened index. The rest follows from the definition of the
// product: element (row, col) of A B is the sum over l of `A(row, l) * B(l, col)`.

/// C = alpha A B + beta C, one thread an element of C, counted along the rows.
///
/// @param m, n, k        extents: C is m x n, A is m x k, B is k x n
/// @param alpha, beta    factors; where beta is 0, c is not read
/// @param a, lda         m x k floats in device memory, and floats from a row to the next
/// @param b, ldb         k x n floats, and the same
/// @param c, ldc         m x n floats, and the same; written
///
/// Launch: one dimension, grid.x * block.x >= m * n; no shared memory.
/// Requires: nothing of alignment. A grid may have 2^31 - 1 blocks along x, so that with 256 threads
/// a block m * n may be 2^39.
__global__ void naive_flat(std::size_t m, std::size_t n, std::size_t k, float alpha, const float* a,
                           std::size_t lda, const float* b, std::size_t ldb, float beta, float* c,
                           std::size_t ldc) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i >= m * n) return;
  const std::size_t row = i / n, col = i % n;

  float sum = 0;
  for (std::size_t l = 0; l < k; ++l) sum += a[row * lda + l] * b[l * ldb + col];

  float& out = c[row * ldc + col];
  out = beta == 0 ? alpha * sum : alpha * sum + beta * out;
}

// The indices are 64 bits wide here. A matrix of 65,536 x 65,536 floats has 2^32 elements, 16 GiB,
// which fits on the GPU eight times and into an `int` not at all.
//
// **Predict** the number of load requests and sectors. C has 128 x 96 = 12,288 elements, so there
// are 384 warps. In each turn of the loop a warp executes two loads, and there are 64 turns: 384 x
// 64 x 2 = 49,152 requests. As N is a multiple of 32, a warp's 32 elements lie side by side in one
// row. So its lanes have one `row`, and all of them read the *same* element of A, and 32
// neighbouring ones of B. **Predict** the time, too, even if it is no more than a guess: cuBLAS takes
// 2.68 ms for M = N = K = 4096 and does the same multiply-adds. How many times as long will this take?
//
// **The counters** agree: 49,152 requests. The loads of A and of B stand in one source line here,
// but the average tells them apart: 2.5 sectors a request, that is 1 for A and 4 for B. One float
// for 32 lanes is a *broadcast*: the memory system looks it up once and hands it to every lane, so
// a request for it costs one sector, the least that there is. The 384 stores fill 4 sectors each.
//
// **The clock** says 27.3 ms at 4096, 5.04 TFLOP/s, 9.8 % of what cuBLAS reaches: ten times as long.
// Whether that is much for such a kernel, section 3 will ask.
//
// What if N is no multiple of 32? Then some warps span two rows, and read two elements of A at a
// time. Try `--size 128,100,64`.
//
// ## 2. Four kinds of blocks
//
// C has two dimensions, so it is natural to have blocks with two as well: tiles of 32 x 32 threads,
// one thread an element. Two dimensions make two edges, and where M and N are no multiples of 32
// the tiles stick out. There are four kinds of blocks then:
//
// - inside, where every thread has an element;
// - at the right edge, where some columns of threads have none;
// - at the bottom edge, where some rows of threads have none;
// - in the corner, where both is so.
//
// For a matrix of 70 x 100: **predict** how many blocks there are of each kind, and how many of the
// 1024 threads of the one in the corner have an element.

/// Counts, for each block, the threads that have an element of a matrix of rows x cols.
///
/// @param working  one integer for each block of the grid, row by row; written
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

// The program draws the grid, with the number of working threads in each block. 3 x 4 blocks cover
// the matrix: six inside, two at the right edge, three at the bottom edge, and one in the corner,
// where 6 rows and 4 columns are left, 24 threads of 1024. So the corner block does 2 % of the work
// of another one and takes as long. Here 43 % of the threads have nothing to do; at 4096 x 4096 it
// is none, and at 4097 x 4097 still no more than 2 %.
//
// The condition `row < m && col < n` is the guard, and it needs both halves. **Predict** what
// happens without it.

/// naive_along_columns without its guard.
///
/// @param m, n, k        extents: C is m x n, A is m x k, B is k x n; m and n are not looked at, which is
///                       the mistake
/// @param alpha, beta    factors; where beta is 0, c is not read
/// @param a, lda         m x k floats in device memory, and floats from a row to the next
/// @param b, ldb         k x n floats, and the same
/// @param c, ldc         m x n floats, and the same; written
///
/// Launch: blocks of any shape with x along the columns of C; the grid covers C.
/// Requires: m a multiple of block.y and n a multiple of block.x.
__global__ void naive_unguarded(std::size_t /*m*/, std::size_t /*n*/, std::size_t k, float alpha,
                                const float* a, std::size_t lda, const float* b, std::size_t ldb,
                                float beta, float* c, std::size_t ldc) {
  const std::size_t col = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  const std::size_t row = std::size_t{blockIdx.y} * blockDim.y + threadIdx.y;
  float sum = 0;
  for (std::size_t l = 0; l < k; ++l) sum += a[row * lda + l] * b[l * ldb + col];
  float& out = c[row * ldc + col];
  out = beta == 0 ? alpha * sum : alpha * sum + beta * out;
}

// The two edges fail in different ways. A thread *below* the matrix reads a row of A that does not
// exist, and is stopped there, by the simulator or by `compute-sanitizer`. A thread to the *right*
// of it is worse. Column n of a row is, in one long array, column 0 of the next. So it reads
// elements of B that exist, one row further down each, and nobody objects until the last row of B,
// behind which there is nothing: that is the finding above. Had there been a padded row, or another
// array, it would have gone on to write its sum to column n of C, which is column 0 of the next row
// and belongs to somebody else. No tool that looks at addresses can object to that. Only a
// comparison of the results can, and only if a size was tried that is no multiple of the tile. So
// this course tries 153 small products with every kernel, of all pairs of extents from {1, 2, 3,
// 17, 31, 32, 33, 127, 128, 129, 255, 257}, with gaps between the rows, with rows at odd addresses,
// with alpha and beta from {0, 1, -0.5}, and with NaN in C where beta is 0:
//
//     ./learn run 02 --cases all
//
// [hide] The picture of the blocks, and how these rungs are registered
/// What the host expects of edge_blocks: for each block, how much of it lies within the matrix.
std::vector<int> expected_working(int rows, int cols, dim3 block) {
  std::vector<int> expected;
  for (int top = 0; top < rows; top += static_cast<int>(block.y)) {
    for (int left = 0; left < cols; left += static_cast<int>(block.x)) {
      expected.push_back(std::min(static_cast<int>(block.y), rows - top) *
                         std::min(static_cast<int>(block.x), cols - left));
    }
  }
  return expected;
}

/// Draws the blocks with the number of working threads in each, and counts the four kinds.
void print_blocks(const std::vector<int>& working, int rows, int cols, dim3 block) {
  const int across = static_cast<int>(blocks_for(cols, block.x));
  const int down = static_cast<int>(blocks_for(rows, block.y));
  std::printf("  a %d x %d matrix in %d x %d blocks of %u x %u threads; working threads of each:\n",
              rows, cols, down, across, block.y, block.x);
  int inside = 0, right = 0, bottom = 0, corner = 0;
  const bool ragged_right = cols % static_cast<int>(block.x) != 0;
  const bool ragged_bottom = rows % static_cast<int>(block.y) != 0;
  std::string line = "  +";
  for (int i = 0; i < across; ++i) line += "------+";
  std::printf("%s\n", line.c_str());
  for (int i = 0; i < down; ++i) {
    std::printf("  |");
    for (int j = 0; j < across; ++j) {
      const bool at_right = ragged_right && j + 1 == across;
      const bool at_bottom = ragged_bottom && i + 1 == down;
      ++(at_right && at_bottom ? corner : at_right ? right : at_bottom ? bottom : inside);
      std::printf(" %4d |", working[static_cast<std::size_t>(i * across + j)]);
    }
    std::printf("\n%s\n", line.c_str());
  }
  std::printf("  inside %d, right edge %d, bottom edge %d, corner %d\n", inside, right, bottom,
              corner);
}

void register_edges(lab::Chapter& chapter) {
  constexpr int rows = 70, cols = 100;
  static const dim3 block(32, 32);
  const auto blocks = std::size_t{blocks_for(cols, block.x)} * blocks_for(rows, block.y);
  const auto working = std::make_shared<lab::DeviceBuffer<int>>(blocks, "working");
  chapter.add(
      {.name = "edge_blocks",
       .idea = "how many threads of each block have an element",
       .launch =
           [=] {
             const dim3 grid(blocks_for(cols, block.x), blocks_for(rows, block.y));
             edge_blocks<<<grid, block>>>(working->data(), rows, cols);
           },
       .verify =
           [=] { return lab::compare(working->download(), expected_working(rows, cols, block)); },
       .show = [=] { print_blocks(working->download(), rows, cols, block); },
       .timed = false,
       .outputs = {working.get()}});

  // Extents that are no multiples of 32, whatever was asked for.
  const auto ragged = [](std::size_t extent) {
    return static_cast<int>(std::min<std::size_t>(extent, 127)) / 32 * 32 + 31;
  };
  const lab::Size& size = chapter.size();
  const auto problem = std::make_shared<lab::GemmProblem>(
      lab::GemmCase{.m = ragged(size.M), .n = ragged(size.N), .k = 8}, chapter.seed());
  chapter.add({.name = "naive_unguarded",
               .idea = "the guard left out: the edge blocks leave the matrices",
               .launch = [=] { launch_tiles(naive_unguarded, dim3(32, 32), problem->gemm()); },
               .expect_finding = "out-of-bounds"});
}
// [/hide]

// ## 3. Which way do the lanes run?
//
// With two dimensions there is a choice: `threadIdx.x`, the index in which the lanes of a warp
// differ, can run along a row of C or down a column. On paper it makes no difference: the same 1024
// threads of a block compute the same 1024 elements. Both kernels below are launched with the same
// grid and the same blocks of 32 x 32, and differ in two words.
//
// For each of them, ask what the 32 lanes of a warp read in one turn of the loop, from A and from
// B, and **predict** the sectors.

/// C = alpha A B + beta C, one thread an element of C; threadIdx.x runs down a column of C.
///
/// @param m, n, k        extents: C is m x n, A is m x k, B is k x n
/// @param alpha, beta    factors; where beta is 0, c is not read
/// @param a, lda         m x k floats in device memory, and floats from a row to the next
/// @param b, ldb         k x n floats, and the same
/// @param c, ldc         m x n floats, and the same; written
///
/// Launch: square blocks; grid.x * block.x >= n, grid.y * block.x >= m; no shared memory.
/// Requires: nothing of alignment; at most 65,535 blocks along y, so the host launches slices of
/// rows where m is larger than 65,535 * 32.
__global__ void naive_along_rows(std::size_t m, std::size_t n, std::size_t k, float alpha,
                                 const float* a, std::size_t lda, const float* b, std::size_t ldb,
                                 float beta, float* c, std::size_t ldc) {
  const std::size_t row = std::size_t{blockIdx.y} * blockDim.y + threadIdx.x;
  const std::size_t col = std::size_t{blockIdx.x} * blockDim.x + threadIdx.y;
  if (row >= m || col >= n) return;

  float sum = 0;
  for (std::size_t l = 0; l < k; ++l) {
    const float left = a[row * lda + l];
    const float right = b[l * ldb + col];
    sum += left * right;
  }
  float& out = c[row * ldc + col];
  out = beta == 0 ? alpha * sum : alpha * sum + beta * out;
}

// **The counters.** The lanes of a warp have 32 different rows and one column. From A they read 32
// floats that lie a row apart: 32 sectors a request. From B they read one and the same float: 1
// sector. That is 16.5 on average, and 811,008 sectors for 49,152 requests. The stores go to 32
// different rows as well: 12,288 sectors where 1,536 would hold the result. (Section 7 of chapter
// 01 has seen all of this in `copy_y_fastest`.)
//
// Is it as bad as it looks? Of each sector of A the warp uses 4 bytes in this turn, but it comes
// back for the next 4 in the next turn, and for all 8 floats of the sector within 8 turns. So the
// sectors need not come from far: they lie in the L1 cache of the SM. What no cache can help with
// is the number of *requests that have to be looked up*. L1 finds one line of 128 bytes at a time,
// and 32 rows are 32 lines.
//
// **The prediction** for the time follows. In each turn a warp computes 32 multiply-adds, 64
// operations, and keeps L1 busy for 32 lines of A and 1 of B, so 33 cycles. 132 SMs at 1.98 GHz do
// that
//
//     132 * 1.98e9 / 33 = 7.9e9 times a second: 0.51 TFLOP/s
//
// of the 65 that the multiply-adders could deliver. At 4096 nothing else is near its limit, so the
// time will tell whether L1 does work like this.
//
// **The clock** says 276 ms, 0.498 TFLOP/s, and at 1024, 2048 and 8192 between 0.485 and 0.502: it
// does. In cycles, a turn takes 33.6 at 4096 and 33.3 at 8192, where 33 were predicted. Nsight
// Compute confirms both halves of it: at 4096 L1 finds 99.2 % of the sectors, and a warp spends
// 62 % of its time in the queue before L1 (`lg_throttle`). It is a tenth of what `naive_flat`
// reaches. The rung is here for this comparison, and nothing builds on it.

/// C = alpha A B + beta C, one thread an element of C; threadIdx.x runs along a row of C.
///
/// @param m, n, k        extents: C is m x n, A is m x k, B is k x n
/// @param alpha, beta    factors; where beta is 0, c is not read
/// @param a, lda         m x k floats in device memory, and floats from a row to the next
/// @param b, ldb         k x n floats, and the same
/// @param c, ldc         m x n floats, and the same; written
///
/// Launch: blocks of any shape; grid.x * block.x >= n, grid.y * block.y >= m; no shared memory.
/// Requires: nothing of alignment; at most 65,535 blocks along y, so the host launches slices of
/// rows where m is larger than 65,535 * block.y.
__global__ void naive_along_columns(std::size_t m, std::size_t n, std::size_t k, float alpha,
                                    const float* a, std::size_t lda, const float* b,
                                    std::size_t ldb, float beta, float* c, std::size_t ldc) {
  const std::size_t row = std::size_t{blockIdx.y} * blockDim.y + threadIdx.y;
  const std::size_t col = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (row >= m || col >= n) return;

  float sum = 0;
  for (std::size_t l = 0; l < k; ++l) {
    const float left = a[row * lda + l];
    const float right = b[l * ldb + col];
    sum += left * right;
  }
  float& out = c[row * ldc + col];
  out = beta == 0 ? alpha * sum : alpha * sum + beta * out;
}

// **The counters.** Now the lanes of a warp have one row and 32 neighbouring columns. The two loads
// stand in lines of their own, so open "Line by line": all lanes want one float of A, a broadcast,
// 1 sector; and 32 neighbours of B, 4 sectors. 2.5 on average, and 122,880 sectors in all, 15 % of
// what the other kernel asks for. The results go out 4 sectors a request.
//
// **The prediction.** L1 looks up one line of A and one of B in each turn, 2 cycles for 64
// operations:
//
//     132 * 1.98e9 / 2 * 64 = 8.4 TFLOP/s
//
// That is a bound, not a promise: it takes for granted that a warp is always ready with the next
// request. It is 16 times what the other kernel may hope for, and an eighth of the machine.
//
// Compare the two with `naive_flat`. It asks for exactly the sectors that this kernel asks for, so
// why should its time be another? Because its blocks have another shape. The 256 threads of one of
// its blocks compute 256 elements of *one* row. They share their element of A, but each of them
// reads a column of B of its own, and nobody else in the block wants it. The 1024 threads of a tile
// of 32 x 32 need 32 elements of A and 32 of B in each turn, and each of these serves 32 threads.
// The counters cannot see the difference, as they count what is asked of L1. L2 can: a flat block
// needs 4 bytes of B from it for every multiply-add, a tile (32 + 32) * 4 / 1024 = 0.25. At 4 bytes
// for 2 operations, an L2 that delivers 5,500 GB/s is good for 2.75 TFLOP/s (the 5,500 are a guess,
// until section 7 measures it). Whatever is above that has been found in L1 by luck, brought there by
// another block on the same SM.
//
// Three block shapes are tried. 32 x 8 needs (32 + 8) * 4 / 256 = 0.6 bytes from L2. Blocks of 16 x
// 16 are the interesting ones: a warp covers two rows of 16, and reads two elements of A in 2
// sectors and 16 neighbours of B in 2 sectors. That makes 4 sectors a turn where the others need 5,
// and 98,304 in all. But these lie in three lines, two of A and one of B. **Predict** which of the
// two decides, the sectors or the lines.
//
// **The clock** contradicts the most natural of these predictions, that the tiles are faster than
// the flat blocks. In TFLOP/s:
//
// | M = N = K | 1024 | 2048 | 4096 | 8192 |
// |---|--:|--:|--:|--:|
// | `naive_flat` | 5.18 | 5.03 | 5.04 | 5.18 |
// | blocks of 32 x 32 | 4.11 | 4.99 | 2.65 | 2.50 |
// | blocks of 32 x 8 | 4.31 | 5.35 | 2.82 | 2.62 |
// | blocks of 16 x 16 | 4.03 | 4.72 | 2.86 | 2.85 |
//
// At 2048 they are level, and 32 x 8 is ahead. At 4096 and 8192 the tiles fall to half of what
// `naive_flat` reaches, though they need less from L2, and this rung is the slower one. What
// happened? We look for it in three steps, and this is a good habit whenever a prediction fails.
//
// *From times to cycles.* An SM holds 64 warps of either kernel, 2048 threads with at most 32
// registers each. Divide a time by the number of turns that an SM makes, and you have what a turn
// costs it. As 64 warps take turns, 64 times as much goes by from one turn of a warp to its next: in
// between the warp waits for its two loads, or until it may load. For `naive_flat` four turns of a warp take 850 cycles at
// 4096, and 826 to 852 at the other sizes. For a tile of 32 x 32 they take 858 at 2048, and 1,619
// at 4096.
//
// *From source to machine code.* Why four turns? Because nvcc 13.0 unrolls both loops that often,
// as `cuobjdump -sass` shows. In `naive_flat` it has put all eight loads before the first
// multiply-add. So a warp sends off eight requests, and waits once. In `naive_along_columns` it has
// put the last two loads of B *behind* the second multiply-add. They cannot start before the first
// ones have arrived, and the warp waits **twice** in four turns. Nothing in the source asks for
// that. Section 7 measures how long one load takes if nobody else wants anything: 282 cycles from
// L2, 684 from memory. Two of the one fit into 858, two of the other into 1,619. So at 4096 the
// loads seem to come from further away, and there are two suspects:
//
// - *B is too large for L2.* 132 SMs hold 264 tiles, which are two rows of tiles and a little.
//   Together they walk down B, each tile in its own 32 columns, and read all of it: 64 MiB. Then
//   the next two rows of tiles start at the top again. L2 has 60 MB, and what lies at the top has
//   just been pushed out by what lies at the bottom. B would be read from memory 62 times over, 4.2
//   GB.
// - *The sets of L1.* At 4096 the rows of A lie 16 KiB apart. If L1 chooses the place of a line,
//   its *set*, by a few bits of the address, all of them fall into the same few sets and drive each
//   other out. Then L1 would keep nothing, and every sector would come from L2.
//
// **Predict** how the hit rates of L1 and of L2 differ between 2048 and 4096 in either case.
//
// *From suspects to counters.* The simulator has no caches. Nsight Compute counts what they find,
// and in how many cycles a warp waits for loads (`long_scoreboard`), for each instruction that it
// issues:
//
// | kernel | M = N = K | found in L1 | found in L2 | from memory | cycles of waiting |
// |---|--:|--:|--:|--:|--:|
// | tile of 32 x 32 | 2048 | 95.0 % | 97.7 % | 0.034 GB | 14.20 |
// | tile of 32 x 32 | 4096 | 95.5 % | 58.9 % | 4.26 GB | 32.41 |
// | `naive_flat` | 2048 | 24.2 % | 99.6 % | 0.034 GB | 10.77 |
// | `naive_flat` | 4096 | 34.6 % | 87.3 % | 4.30 GB | 12.64 |
//
// The sets of L1 are innocent: it finds as much at 4096 as at 2048. It was B. At 2048 the memory
// delivers A and B once, and at 4096 the 4.2 GB that were computed. The bandwidth is not the point:
// 4.26 GB in 52 ms are 1.9 % of it. But the first warp that wants a line of B waits for the memory,
// and the 31 others of its tile need the same line. They can catch up with the first one, they
// cannot get past it.
//
// The waits have the right length, too. The loop of four turns has 31 instructions, so at 4096 a
// warp waits 1,005 cycles in it, twice 502. While it counts, Nsight Compute holds the SMs at about
// 1.5 GHz (`naive_along_rows`, which is bound by cycles of L1, takes 1.32 times as long), so these
// are 0.33 us each, and 684 cycles in section 7 are 0.35. At 2048 it is twice 220, 0.15 us each,
// and L2 takes 0.14. This is 79 % of a warp's time at 4096 and 58 % at 2048; for the rest it
// executes, or waits for its turn to. And the slower clock is a witness by itself: the tile takes
// 21 % longer with it at 2048 and 5 % at 4096. Who waits for the memory does not mind a slow SM.
//
// And `naive_flat`? It has as much from memory, but waits once where the tiles wait twice. That it
// is no faster at 2048, where B stays in L2, has another reason. A warp needs 128 bytes of B in
// each turn, 10.1 TB/s at this rate. L2 sent 31.7 GB, which are 9.3 TB/s: our 5.5 were too low a
// guess. L1 finds 24.2 % of the sectors, and A's alone are 20 %, so the luck that was spoken of is
// small. An L2 that is as busy as this takes its time: a wait (the loop has 33 instructions) is
// 0.24 us, not 0.14. At 4096 it is different again. There L2 sent no more than 87.8 GB, a third of
// what the warps wanted of B, though L1 had missed most of it. Who asks for a sector that is
// already on its way seems to be served along with it, and from memory it is on its way for longer.
// So the two rates, 5.03 and 5.04, are alike for different reasons.
//
// The sectors or the lines? Compare 16 x 16 with 32 x 8, which has as many threads. Where B stays
// in L2 it is slower, by 12 % at 2048: the third line costs more than the fifth sector. But three
// lines for two would be half as slow again if L1 did nothing else, and the best rate in the table
// is 64 % of the 8.4 that two lines allow. At 4096 both wait for loads for 89 % of their time, and
// 16 x 16 is ahead.
//
// A good guess and its proof are two things. The times and the machine code made the memory likely;
// it took a counter to acquit L1. (At 1024 and 8192 nothing was counted. At 1024 there are only
// four rounds of tiles, and the clock starts with an empty L2, so we take it that the first round
// waits for the memory.)
//
// ## 4. Counting the reads
//
// The counts can be had without running anything. Let the tiles be 32 wide. A row of C is covered
// by ceil(N / 32) warps, so C is covered by M * ceil(N / 32), and each of them makes 2 K requests:
//
//     requests = 2 K M ceil(N / 32)
//
// Of the sectors, K M ceil(N / 32) are A's. In B a warp reads 32 neighbours, which are 4 sectors if
// its rows start at multiples of 32 bytes and N is a multiple of 8, and at most 5 if not.
//
//     sectors = K M (ceil(N / 32) + ceil(N / 8))
//
// For the default size: requests = 2 * 64 * 128 * 3 = 49,152; sectors = 64 * 128 * (3 + 12) =
// 122,880. The program prints both formulas with each run, so try other sizes, and try to break
// them. In bytes: every multiply-add reads two floats, 8 M N K bytes if each lane had to have its
// own, that is 6.3 MB here. The matrices have 106 KB. **Each element of A is read N times, each of
// B M times**, 96 and 128 times here. The broadcasts save most of A's, as 32 lanes share one read;
// all the others are repetitions of what was read before, by somebody who has thrown it away.
//
// At 4096 the requests add up to 4.3e9, and the sectors to 344 GB. The matrices have 0.2 GB.

// [hide] The formulas, and how these rungs are registered
/// Prints what section 4 predicts, for tiles that are 32 columns wide.
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
  constexpr std::size_t threads = 256;
  const std::size_t elements = static_cast<std::size_t>(g.m) * static_cast<std::size_t>(g.n);
  naive_flat<<<static_cast<unsigned>(lab::ceil_div(elements, threads)), threads>>>(
      g.m, g.n, g.k, g.alpha, g.a, g.lda, g.b, g.ldb, g.beta, g.c, g.ldc);
}

void register_tiles(lab::GemmLadder& ladder) {
  ladder.add(
      {.name = "naive_along_rows",
       .idea = "threadIdx.x runs down a column of C: 32 rows of A at once",
       .launch = [](const lab::Gemm& g) { launch_tiles(naive_along_rows, dim3(32, 32), g); }});
  for (const dim3 block : {dim3(32, 32), dim3(32, 8), dim3(16, 16)}) {
    const std::string shape = "block=" + std::to_string(block.x) + "x" + std::to_string(block.y);
    lab::GemmRung rung{
        .name = "naive_along_columns",
        .idea = "threadIdx.x runs along a row of C: 32 neighbours of B at once",
        .launch = [block](const lab::Gemm& g) { launch_tiles(naive_along_columns, block, g); },
        .variant = shape};
    if (block.y == 32) rung.show = print_formula;
    ladder.add(rung);
  }
}
// [/hide]

// ## 5. Arithmetic intensity and the roofline
//
// How fast can a kernel be? It has two bounds. It cannot compute faster than the multiply-adders
// do: 132 SMs with 128 of them, 2 operations each, at 1.98 GHz are 66.9 TFLOP/s. A loop of nothing
// but multiply-adds reached 63.0 in the run of this page, and 65 in others; we reckon with 65. And
// it cannot compute faster than its data arrives. The second bound depends on how much it does with
// each byte:
//
//     arithmetic intensity = operations / bytes moved
//     rate <= min(peak, intensity * bandwidth)
//
// Draw the bound over the intensity, on two logarithmic axes, and you get a *roofline*: a slope,
// then a flat top (Williams, Waterman and Patterson, 2009). The corner of an H200 is at 65e12 /
// 4.2e12 = 15 operations for a byte of memory. A kernel that does less is bound by the memory,
// however cleverly it computes.
//
// The product itself is far on the good side. It has 2 M N K operations for 4 (M K + K N + M N)
// bytes that have to be moved at least, and for 4096 that is an intensity of 683. So the *problem*
// is bound by arithmetic. The *kernel* is not: what counts is what it moves. In sectors,
// `naive_along_columns` moves 5 * 32 bytes for 64 operations, an intensity of 0.4, and
// `naive_along_rows` 33 * 32 bytes, an intensity of 0.06. With the memory's bandwidth for a slope
// that makes 1.7 and 0.26 TFLOP/s.
//
// A rate above that slope shows that the caches are at work, and all of these kernels are above it:
// 2.6 to 2.9 TFLOP/s where the memory would allow 1.7, and 0.5 where it would allow 0.26. Most of
// these bytes came from L1, which has a slope of its own, eight times as high. There is a roofline
// for each level of memory, and a kernel has an intensity for each. The plot at the end of this
// page has the bytes that are asked of L1, since these are what the source says and what the
// counters count.
//
// For the ladder this means: to get from 0.4 to the corner, a kernel has to ask for a fortieth of
// the bytes. It must read an element once and use it forty times, from somewhere that is nearer
// than L1. That somewhere are shared memory and registers, and the next three chapters fill them.
//
// ## 6. Why memory likes neighbours
//
// Sectors of 32 bytes are how the caches move data. One level further down, the memory itself has
// an interest of its own in neighbours. A DRAM chip is a grid of tiny capacitors. To read any of
// them, it first copies a whole row of the grid, a kilobyte or more, into a buffer. That takes tens
// of nanoseconds. Then it hands out what lies in the buffer in *bursts*, some tens of bytes each,
// as fast as the pins can go. A burst cannot be cut short: who wants one float of it gets all of it.
// And the next burst from the same row comes right behind it, while one from another row has to wait
// until that row is open. So neighbours cost next to nothing, and strangers cost a row each.
//
// The rung reads every s-th float of an array, for s from 1 to 32: fewer and fewer floats, further
// and further apart. **Predict** how the time depends on s. If the memory moved floats, reading
// half of them would take half the time. As it moves sectors of 8 floats, all of the array has to
// be moved for every s up to 8, and the time should stay the same. From s = 8 to 16 every second
// sector is left out, and the time should halve: unless memory is read in pieces of 64 bytes.

/// Sums up every stride-th float of an array; thread t takes every T-th of these, from number t on,
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

// **The counters** show the sectors: 4 a request for s = 1, then 8, 16 and 32, and from s = 8 on it
// stays at 32, one for each lane. The requests halve each time. So the sectors in all are 2048 for
// s = 1 to 8, the whole array of 16,384 floats, and 1024 and 512 after that.
//
// **The clock.** (The rate in the table counts only the floats that were asked for, so it halves
// where the time stays the same.) From s = 8 to s = 16 the counters promise a saving of half, and
// the clock knows nothing of it: 0.0630 ms and 0.0629. So this memory is read in pieces of 64 bytes,
// and a sector that was left out has been moved all the same. From s = 16 to s = 32 whole pieces are
// left out, and the time falls to 0.0366 ms. At s = 8 the array comes in at 4.26 TB/s, which is what
// a copy reaches.
//
// Is a piece one burst? The clock cannot tell, but the standard of this memory can (JESD238, HBM3). It
// cuts a stack into 32 pseudo channels of 32 wires, and a burst is 8 transfers: 32 bytes, a sector. So
// a piece is two bursts, and it seems to be L2 that asks for sectors in pairs. That costs little, as
// the second one lies in the row that is open already, and most kernels want it anyway. (The program
// can give L2 a hint of how much it may fetch at a time: extension 9.)
//
// For small s the prediction was wrong: s = 1 takes 0.1194 ms, twice as long as s = 8, and s = 2
// takes 0.0758 ms. All three move the whole array. But nvcc has not unrolled this loop, so each
// thread has one load on its way at a time. For s = 1 the 2048 threads of an SM have 8 KiB on their
// way, and these take at least 684 cycles (section 7). That is 12 bytes a cycle, 3.1 TB/s on all
// SMs, and the memory could do more. For s = 2 and more each request brings more sectors, which
// nobody asked for, and more is on its way. A memory is only as fast as there are bytes on their
// way: **bandwidth times latency**, which is Little's law.
//
// With four loads on their way in each thread, s = 1 would have to be as fast as s = 8. `#pragma
// unroll 4` before the loop does not get us there, and the time stays what it was. nvcc does not
// know how many turns are left. So it copies the body four times and leaves a comparison and an
// addition behind each load, and there is still one on its way at a time. It takes one comparison
// for four loads, written into the source. A trial program with four loads before the first
// addition has confirmed it on an H200: it took 0.0700 ms for s = 1, and 0.0648 for s = 8. Another
// one, with a fixed number of loads together, took 0.1238, 0.0914, 0.0766 and 0.0755 ms for s = 1
// with 1, 2, 4 and 8 of them. So it was the latency, and four loads are enough to hide nearly all of
// it. (The figures are in the notes below. Extension 8 is to write the loop.)

// [hide] How this rung is registered
void register_strides(lab::Chapter& chapter) {
  // On a GPU several times the L2 cache; on the simulator as little as shows the counts.
  const std::size_t n = chapter.on_simulator() ? std::size_t{1} << 14 : std::size_t{1} << 26;
  constexpr unsigned threads = 256;
  const auto host = std::make_shared<std::vector<float>>(lab::random_floats(n, chapter.seed() + 7));
  const auto in = std::make_shared<lab::DeviceBuffer<float>>(*host, "in");
  for (const std::size_t stride : {1, 2, 4, 8, 16, 32}) {
    // 16 floats for each thread, or fewer threads would ask for too little at a time.
    const auto blocks = static_cast<unsigned>(lab::ceil_div(n, stride * 16 * threads));
    const std::size_t all = std::size_t{blocks} * threads;
    const auto sums = std::make_shared<lab::DeviceBuffer<float>>(all, "sums");
    const auto verify = [=] {
      std::vector<double> want(all, 0.0);
      for (std::size_t i = 0; i * stride < n; ++i) {
        want[i % all] += static_cast<double>((*host)[i * stride]);
      }
      return lab::compare(sums->download(), want, lab::tolerance_for_sum(16, 0.5));
    };
    chapter.add(
        {.name = "read_strided",
         .idea = "the same floats, further and further apart",
         .launch = [=] { read_strided<<<blocks, threads>>>(sums->data(), in->data(), n, stride); },
         .verify = verify,
         .bytes = 4.0 * static_cast<double>(lab::ceil_div(n, stride)),
         .limit = lab::Limit::copy,
         .variant = "stride=" + std::to_string(stride),
         .outputs = {sums.get()}});
  }
}
// [/hide]

// ## 7. The memories of a GPU
//
// Where can an element be kept, so that it need not be fetched again? These are the places, for an
// H200 with its 132 SMs:
//
// | memory | size | who sees it | how long it lives | how it is written in CUDA C++ |
// |---|---|---|---|---|
// | registers | 256 KiB an SM, at most 255 words a thread | one thread | the thread | a local variable |
// | shared memory | at most 227 KiB a block, 228 KiB an SM | the block | the block | `__shared__` |
// | L1 cache | what shared memory leaves of 256 KiB an SM | the SM | until it is replaced | by itself |
// | constant memory | 64 KiB, with a small cache in each SM | all threads, read only | the program | `__constant__` |
// | L2 cache | 60 MB | all SMs | until it is replaced | by itself |
// | global memory | 141 GB | all threads, and the host by copies | until `cudaFree` | `cudaMalloc` |
//
// (*Local memory* is missing here since it is no place of its own: it is what a thread's registers
// spill into, and lies in global memory behind the two caches.)
//
// Two numbers say what a place is worth: the *latency*, how long one load takes, and the
// *bandwidth*, how much all threads together can get. They are not the same question, and two rungs
// in `naive_gemm_gpu.cu` ask them. Before you look at their tables, **predict** the latencies in
// cycles of 0.5 ns, with what chapter 01 has found for global memory: 0.36 us for a load and a
// store when nobody else wants anything.
//
// - `memory_latency` has one thread, in which each load says where the next one is. So the loads
//   cannot overlap, and the time of a million of them in *milliseconds* is the latency of one in
//   *nanoseconds*. The variant `registers` is a chain of multiply-adds, each of which waits for the
//   one before.
// - `memory_bandwidth` has all SMs full of threads, which read as much as they can, 16 bytes at a
//   time where the place allows it.
//
// The bandwidth can be predicted from the width of the paths. An SM reads 128 bytes in a cycle from
// shared memory, and as much from L1: 132 * 128 * 1.98e9 = 33 TB/s. A multiply-add has three
// operands, 12 bytes, and an SM does 128 of them in a cycle: 12 times as much, 400 TB/s, from
// registers. For the path from L2 to an SM we guess half of L1's, 64 bytes in a cycle: 16.7 TB/s, if
// nothing else is in the way. And the memory has 4.8 TB/s on its data sheet.
//
// Constant memory is the odd one. It is made for values that all threads want at the same time,
// such as the parameters of a kernel, which lie there, too. Its cache hands out *one word* at a
// time, to all lanes that want that one. Where the lanes want 32 different words they are served
// one after the other. So it is as good as a register if the lanes agree, and the two variants of
// the bandwidth, `constant, one word` and `constant, 32 words`, should lie about 32 times apart. It
// is the wrong place for a matrix.
//
// **The clock**, as it was on an H200, in cycles and in TB/s:
//
// | memory | latency | bandwidth | predicted |
// |---|--:|--:|--:|
// | registers | 4.4 | 371 | 400 |
// | shared memory | 23 | 32.6 | 33 |
// | L1 cache | 32 | 32.5 | 33 |
// | constant memory, one word | 53 | 16.0 | |
// | constant memory, 32 words | | 0.52 | a 32nd |
// | L2 cache | 282 | 8.1 | 16.7 |
// | global memory | 684 | 4.34 | 4.8 |
//
// Registers, shared memory and L1 deliver what the width of their paths allows. L2 does half of what
// we guessed. Is the path narrower, or is something else in the way? From outside one cannot see. (And
// this is no upper bound, either: `naive_flat` had 9.3 TB/s from L2 in section 3.) The memory reaches
// nine tenths of its data sheet. Its latency agrees with chapter 01, too: 684 cycles are 0.35 us. And
// the first line has the latency of a multiply-add, with its share of the loop around it, since a
// register has none: to read it is a part of the instruction.
//
// The two variants of constant memory are 31 times apart, as predicted. But "as good as a register"
// holds only where the index is known when the program is compiled. Then a multiply-add can have
// the word as an operand, or it is fetched once into a register of the whole warp; parameters are
// used in this way. This rung computes its index. So each word takes an instruction of its own, of
// which an SM serves one in 2.1 cycles, and a wait that is longer than that for L1.
//
// What do the numbers mean for the product? Each multiply-add needs 8 bytes. From registers, the
// multiply-adders can be kept busy. From shared memory, 33 TB/s / 8 bytes * 2 = 8.4 TFLOP/s, an
// eighth of the machine: no better than L1, if each operand is fetched anew! So it will not be
// enough to move the tiles to shared memory (chapter 03). Each value that was loaded from there has
// to be used several times in registers (chapter 04).

// [hide] The program
int main(int argc, char** argv) {
  lab::GemmLadder ladder(argc, argv);
  register_peers(ladder);  // rung 0, and the peer of all others
  ladder.add({.name = "naive_flat",
              .idea = "thread i computes the i-th element, counted along the rows",
              .launch = launch_flat});
  ladder.add_with(register_edges);
  register_tiles(ladder);
  ladder.add_with(register_strides);
  ladder.add_with(register_memories);
  return ladder.run();
}
// [/hide]

// ## 8. Rung 0: the library
//
// The peer is `cublasSgemm`, on the same data, in the same rounds as each of the rungs. Three
// things have to be right for the comparison to be fair, and all three are often wrong:
//
// - *The order of the elements.* cuBLAS stores matrices column by column, as Fortran does. A
//   row-major matrix, read column by column, is its transpose. So one asks it for C^T = B^T A^T: A
//   and B change places, M and N change places, and the leading dimensions stay with their
//   matrices. With square matrices one can get this wrong in several ways and never notice.
// - *The arithmetic.* On request cuBLAS computes in TF32, on tensor cores, with inputs rounded to
//   11 bits: seven times as fast by the data sheet, and another problem. Here it may not. The program checks it with
//   a product that is exact in FP32 and not in TF32, of the same size, and the script that measures
//   this course looks at the names of the kernels that ran.
// - *The clock.* Both are timed in turn, in one run, with a cold L2 cache.
//
// The row `cublas` is the peer itself, timed as if it were a rung. It has to read 100 %; what it is
// off by is the noise of the measurement. At 4096 it takes 2.68 ms, 51.3 TFLOP/s, and that is 81 %
// of what a loop of nothing but multiply-adds reaches. This is the figure to beat.
//
// ## What to take along
//
// - An element is at `row * ld + col`, in 64 bits, and `ld` is not the number of columns.
// - Two dimensions have four kinds of blocks, and the guard needs both halves. What lies right of a
//   row is the next row: a missing half of the guard raises no error there.
// - The lanes should run along the index that is contiguous in memory. What all lanes share is a
//   broadcast, and costs one sector.
// - Caches forgive repeated sectors. They do not forgive requests with many lines.
// - Intensity decides: operations for each byte moved, against 15 for the memory of an H200.
// - One thread, one element: two loads for each multiply-add. It is the loads that such a kernel
//   waits for, and where the compiler puts them decides how often.
// - A latency is hidden by what else is on its way. What the counters count is not all that counts.
//
// ## What comes next
//
// `naive_along_columns` asks for each element of B 128 times over, once for each row of C, and
// hopes that L1 still has it. Chapter 03 leaves nothing to hope: the threads of a block fetch a
// tile of A and a tile of B together, once, put them into shared memory, and all of them compute
// from there. The reads of global memory fall by the width of the tile.
//
// ## What a library does further
//
// cuBLAS does not fetch an element for each multiply-add. It has a few dozen kernels with tiles of
// up to 256 x 128 elements of C, each thread computes up to 128 of them in registers, and tiles of
// A and B are on their way to shared memory three steps before they are needed. For each size it
// picks a kernel and an order in which the tiles are computed, and it cuts along K where there are
// too few tiles for the machine. The next three chapters take these one at a time.
//
// ## Possibilities for extension
//
// 1. Which sectors does `naive_flat` ask for if N is 33? Predict first, then `./learn run 02
//    --backend simulator --rung naive_flat --size 128,33,64`.
// 2. Give the kernel A transposed, so that `A(row, l)` is at `a[l * lda + row]`. Which of the two
//    kernels of section 3 is the better one now?
// 3. Let each thread compute two neighbouring elements of a row. How many requests are there for
//    each multiply-add? Then two elements of a column. Then 2 x 2. This is where chapter 04 goes.
// 4. Put `k`, `lda` and the other parameters into one struct that is passed to the kernel. Does the
//    machine code change? (`cuobjdump -sass` shows it.) Where do parameters lie?
// 5. With alpha = 0 the library does not read A and B at all. Is this worth a branch?
// 6. If you have a GPU: the two suspects of section 3 can be told apart without counters. Predict
//    the rates of `naive_along_columns` for `--size 4128,4128,4128`, where B is too large for L2
//    but a row has 129 lines, an odd number; and for `--size 4096,1024,4096`, where the rows of A
//    lie 16 KiB apart but B has 16 MiB. Then write `#pragma unroll 8` before the loop, and look at
//    the machine code and at the clock.
// 7. Blocks start in the order of `blockIdx.x`, which runs along a row of C here. Let it run down a
//    column instead. Which 264 tiles run at the same time then? Which matrix is read over and over
//    again, and does it stay in L2? Predict, then measure.
// 8. Give `read_strided` four loads before its first addition, with one comparison for the four and
//    a loop for the rest. Check in the machine code that four `LDG` stand together, then time it.
//    Why is a stride of 1 still a little slower than one of 8?
// 9. If you have a GPU: begin `main()` with `cudaDeviceSetLimit(cudaLimitMaxL2FetchGranularity, 32)`,
//    and look at `read_strided` once more. The limit is a hint, which the GPU may ignore. Does it?
