// # Chapter 04: Register tiling
//
// Question: How does a thread get more out of each float that it fetches from shared memory?
// Builds on: 03_shared_tiling
// Size gpu: 4096,4096,4096
// Size simulator: 256,128,64
// Sizes measured: 4096,4096,4096 1024,1024,1024 2048,2048,2048 8192,8192,8192
// Run: ./learn run 04
//   ./learn run 04 --rung cublas              the vendor's library: what all others are compared with
//   ./learn run 04 --rung wide_reads          one element a thread, from tiles of 32 x 32: the last kernel of chapter 03
//   ./learn run 04 --rung thread_tile_1d      8 elements of a column for each thread: a float of B serves 8 times
//   ./learn run 04 --rung thread_tile_2d      8 x 8 elements for each thread: every float serves 8 times
//   ./learn run 04 --rung unroll_steps        the same loops, rolled up and unrolled: the same work, other instructions
//   ./learn run 04 --rung thread_map          who loads what, and who computes what, as a picture
//   ./learn run 04 --rung thread_tile_float4  four floats with each load and each store
//   ./learn run 04 --rung launch_bounds       fewer registers, more blocks on an SM, and spills
//   ./learn run 04 --rung thread_orders       four ways to lay the warps over the tile

#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <functional>
#include <memory>
#include <numeric>
#include <vector>

#include "lab/gemm.h"
#include "lab/lab.h"

// A thread has one more memory than we have used so far, and it is the fastest of all. A register
// costs no instruction to read: each multiply-add takes its three operands from there.
// An SM has 65,536 of them, 256 KiB, more than its shared memory. So far most of them held nothing.
//
// Chapter 03 ended with a kernel whose multiply-adders wait for shared memory, six cycles out of
// seven. This chapter gives each thread more elements of C to compute, so that a float which it has
// fetched from shared memory serves more than one of them. On the way we meet what registers ask in
// return: loops that are unrolled, a compiler that has to be told how many of them it may use, and
// a warp whose *shape* suddenly matters.
//
// The counts below are for M = 256, N = 128, K = 64, the size that the simulator runs by default:
// 2,097,152 multiply-adds, or 65,536 for a warp of 32 lanes. The times in the tables are for the
// size that stands beside them.

// [hide] How a kernel is launched
/// The elements of C that a block computes, and its threads, along x and along y.
struct Blocks {
  unsigned rows, cols, threads_x, threads_y = 1;
};

constexpr Blocks element_blocks{32, 32, 32, 32};
constexpr Blocks column_blocks{64, 64, 512};
constexpr Blocks square_blocks{128, 128, 256};

/// Launches a kernel with a block for each tile of C. A grid has at most 65,535 blocks along y:
/// taller matrices are done in slices.
template <class Kernel>
void launch_tiles(Kernel kernel, const Blocks& blocks, const lab::Gemm& gemm) {
  lab::for_row_slices(gemm, static_cast<int>(blocks.rows), [&](const lab::Gemm& g) {
    const dim3 grid(lab::ceil_div(static_cast<unsigned>(g.n), blocks.cols),
                    lab::ceil_div(static_cast<unsigned>(g.m), blocks.rows));
    const dim3 block(blocks.threads_x, blocks.threads_y);
    kernel<<<grid, block>>>(g.m, g.n, g.k, g.alpha, g.a, g.lda, g.b, g.ldb, g.beta, g.c, g.ldc);
  });
}

/// Prints what the compiler made of a kernel: registers, local memory, blocks that fit on an SM.
template <class Kernel>
void print_registers(Kernel kernel, const Blocks& blocks) {
  cudaFuncAttributes made{};
  int fit = 0;
  const unsigned threads = blocks.threads_x * blocks.threads_y;
  CUDA_CHECK(cudaFuncGetAttributes(&made, kernel));
  CUDA_CHECK(
      cudaOccupancyMaxActiveBlocksPerMultiprocessor(&fit, kernel, static_cast<int>(threads), 0));
  std::printf(
      "  %d registers and %zu bytes of local memory a thread; %d blocks of %u fit on an SM\n",
      made.numRegs, made.localSizeBytes, fit, threads);
}

/// Adds a rung that launches a kernel. A simulated thread keeps its variables on a stack, so
/// registers are printed on a GPU alone.
/// \param more prints something else before that; may be empty
template <class Kernel>
void add_rung(lab::GemmLadder& ladder, const char* name, const char* idea, const char* variant,
              Kernel kernel, const Blocks& blocks, const std::function<void()>& more = {}) {
  const bool registers = !ladder.chapter().on_simulator();
  lab::GemmRung rung{.name = name, .idea = idea};
  rung.launch = [=](const lab::Gemm& g) { launch_tiles(kernel, blocks, g); };
  rung.variant = variant;
  if (more || registers) {
    rung.show = [=](const lab::Gemm&) {
      if (more) more();
      if (registers) print_registers(kernel, blocks);
    };
  }
  ladder.add(rung);
}

// What only the GPU build has: register_tiling_peers.cu, or its stub, which says so.
void register_peers(lab::GemmLadder& ladder);
// [/hide]

// ## 1. Where we stand
//
// This is the last kernel of chapter 03, word for word.

/// C = alpha A B + beta C, one thread an element of C, from tiles of 32 x 32 in shared memory.
///
/// @param m, n, k        extents: C is m x n, A is m x k, B is k x n
/// @param alpha, beta    factors; where beta is 0, c is not read
/// @param a, lda         m x k floats in device memory, and floats from a row to the next
/// @param b, ldb         k x n floats, and the same
/// @param c, ldc         m x n floats, and the same; written
///
/// Launch: blocks of 32 x 32 threads, 8 KiB of static shared memory; grid.x * 32 >= n,
/// grid.y * 32 >= m.
/// Requires: nothing of alignment; extents below 2^31; at most 65,535 blocks along y, so the host
/// launches slices of rows where m is larger than 65,535 * 32.
__global__ void __launch_bounds__(1024)
    wide_reads(unsigned m, unsigned n, unsigned k, float alpha, const float* a, std::size_t lda,
               const float* b, std::size_t ldb, float beta, float* c, std::size_t ldc) {
  constexpr unsigned tile = 32;
  __shared__ __align__(16) float a_tile[tile][tile];  // (rows of C, slice)
  __shared__ float b_tile[tile][tile];                // (slice, columns of C)
  const unsigned tx = threadIdx.x, ty = threadIdx.y;
  const unsigned row = blockIdx.y * tile + ty, col = blockIdx.x * tile + tx;

  float sum = 0;
  for (unsigned k0 = 0; k0 < k; k0 += tile) {
    float from_a = 0, from_b = 0;
    if (row < m && k0 + tx < k) from_a = a[row * lda + k0 + tx];
    if (k0 + ty < k && col < n) from_b = b[(k0 + ty) * ldb + col];
    a_tile[ty][tx] = from_a;
    b_tile[ty][tx] = from_b;
    __syncthreads();

    for (unsigned l = 0; l < tile; l += 4) {
      const float4 left = *reinterpret_cast<const float4*>(&a_tile[ty][l]);
      sum += left.x * b_tile[l][tx];
      sum += left.y * b_tile[l + 1][tx];
      sum += left.z * b_tile[l + 2][tx];
      sum += left.w * b_tile[l + 3][tx];
    }
    __syncthreads();
  }

  if (row >= m || col >= n) return;
  float& out = c[row * ldc + col];
  out = beta == 0 ? alpha * sum : alpha * sum + beta * out;
}

// One number describes this kernel better than any other: *how many wavefronts of shared memory
// does a multiply-add of a warp take?* Call it w. An SM does one wavefront in a cycle, so it does 1
// / w multiply-adds for a warp, 64 operations each. 132 SMs at 1.98 GHz do
//
//     132 * 1.98e9 * 64 / w = 16.7 / w TFLOP/s
//
// at most. The multiply-adders are good for 65 TFLOP/s, so shared memory is in their way until w is
// down to a quarter.
//
// **Predict** w for this kernel. Four steps along K take one 128-bit load of A, which is a
// broadcast of 2 wavefronts, and four loads of B with 1 wavefront each. That makes 6 for 4, or 1.5.
// **The counters** say 81,920 loads with 98,304 wavefronts, which is 1.5 each for 65,536. There are
// 4,096 more for filling the tiles, and w is 1.5625 in all. So the bound is 10.7 TFLOP/s.
//
// **The clock** says 8.24 TFLOP/s, 77 % of the bound. That is at 4096, as is every rate below that
// has no other size beside it. cuBLAS has 51.4 in the same run.
//
// ## 2. A column for each thread
//
// Who needs the same floats? All threads of a column of C multiply with the same element of B, and
// each of them fetches it. If *one* thread computes eight elements of the column, it fetches that
// element once, keeps it in a register, and uses it eight times. It needs eight elements of A for
// that, as eight threads did before.
//
// The tiles are 64 x 64 now, and a slice is 8 deep instead of 32. That suits the number of threads:
// 64 * 64 / 8 = 512 threads, and the slices have 64 * 8 = 512 elements each, one for each thread to
// load. A shallow slice costs nothing in reads, as chapter 03 has shown, and only makes the
// barriers come sooner.
//
// Which thread loads which element? Thread t takes element t of the tile, counted along the rows,
// and if there are more elements than threads, those after a whole number of rows as well: they lie
// straight below the first. So each thread has a piece of a column of the tile to fetch, one
// pointer to its top is enough, and from slice to slice the pointer moves on by an addition.
//
// Fetching is cut in two: `fetch` loads from global memory into registers, `put` stores from there
// into the tile. Section 3 shows why.

/// Where in a tile a thread's first element is, if the threads of a block take `width` neighbours
/// each, one after the other along the rows.
template <unsigned cols, unsigned width = 1>
struct First {
  unsigned row = threadIdx.x / (cols / width);
  unsigned col = threadIdx.x % (cols / width) * width;
};

/// Fetches a thread's elements of a tile into registers, with zeros where the tile sticks out.
///
/// @tparam threads   threads of the block, in one dimension
/// @tparam cols      columns of the tile
/// @param share      the thread's elements, from the top to the bottom; written
/// @param from       the first of them in the matrix
/// @param ld         floats from a row of the matrix to the next
/// @param rows_left  rows of the matrix from the top of the tile on
/// @param cols_left  columns of the matrix from the left of the tile on
template <unsigned threads, unsigned cols, unsigned count>
__device__ void fetch(float (&share)[count], const float* from, std::size_t ld, unsigned rows_left,
                      unsigned cols_left) {
  constexpr int step = threads / cols;  // rows from one of them to the next
  const First<cols> first;
  const int below = static_cast<int>(rows_left - first.row);  // rows from the first of them on
  const bool inside = first.col < cols_left;
#pragma unroll
  for (int i = 0; i < static_cast<int>(count); ++i) {
    share[i] = inside && i * step < below ? from[static_cast<std::size_t>(i * step) * ld] : 0.0f;
  }
}

/// Puts what `fetch` has fetched into the tile.
///
/// @tparam threads  threads of the block, in one dimension
/// @param tile      rows x cols floats in shared memory; written
/// @param share     the thread's elements of it
template <unsigned threads, unsigned rows, unsigned cols, unsigned count>
__device__ void put(float (&tile)[rows][cols], const float (&share)[count]) {
  static_assert(threads % cols == 0 && threads / cols * count == rows,
                "equal shares, in whole rows");
  const First<cols> first;
#pragma unroll
  for (unsigned i = 0; i < count; ++i) tile[first.row + i * (threads / cols)][first.col] = share[i];
}

/// Writes alpha * sum + beta * out to `out`, which is not read where beta is 0.
__device__ void store(float& out, float alpha, float sum, float beta) {
  out = beta == 0 ? alpha * sum : alpha * sum + beta * out;
}

// **Predict** w once more. Four steps along K are four loads of B with 1 wavefront each, and eight
// loads of A, 128 bits wide, with 2 wavefronts each. They serve 32 multiply-adds.

/// C = alpha A B + beta C; each thread computes 8 elements of a column of C.
///
/// @param m, n, k        extents: C is m x n, A is m x k, B is k x n
/// @param alpha, beta    factors; where beta is 0, c is not read
/// @param a, lda         m x k floats in device memory, and floats from a row to the next
/// @param b, ldb         k x n floats, and the same
/// @param c, ldc         m x n floats, and the same; written
///
/// Launch: blocks of 512 threads in one dimension, 4 KiB of static shared memory;
/// grid.x * 64 >= n, grid.y * 64 >= m.
/// Requires: nothing of alignment; extents below 2^31; at most 65,535 blocks along y.
__global__ void __launch_bounds__(512)
    thread_tile_1d(unsigned m, unsigned n, unsigned k, float alpha, const float* a, std::size_t lda,
                   const float* b, std::size_t ldb, float beta, float* c, std::size_t ldc) {
  constexpr unsigned BM = 64, BN = 64, BK = 8, TM = 8, threads = BM * BN / TM;
  __shared__ __align__(16) float a_tile[BM][BK];  // (BM, BK)
  __shared__ float b_tile[BK][BN];                // (BK, BN)
  const unsigned row0 = blockIdx.y * BM, col0 = blockIdx.x * BN;
  const unsigned row = threadIdx.x / BN * TM, col = threadIdx.x % BN;  // the first of its elements

  float sum[TM] = {};  // (TM, 1)
  const First<BK> in_a;
  const First<BN> in_b;
  const float* a_from = a + (row0 + in_a.row) * lda + in_a.col;
  const float* b_from = b + in_b.row * ldb + col0 + in_b.col;
  for (unsigned k0 = 0; k0 < k; k0 += BK) {
    float a_share[BM * BK / threads], b_share[BK * BN / threads];
    fetch<threads, BK>(a_share, a_from, lda, m - row0, k - k0);
    fetch<threads, BN>(b_share, b_from, ldb, k - k0, n - col0);
    put<threads>(a_tile, a_share);
    put<threads>(b_tile, b_share);
    a_from += BK;
    b_from += BK * ldb;
    __syncthreads();
#pragma unroll
    for (unsigned l = 0; l < BK; l += 4) {
      float right[4];  // (4, 1): four steps along K
#pragma unroll
      for (unsigned step = 0; step < 4; ++step) right[step] = b_tile[l + step][col];
#pragma unroll
      for (unsigned i = 0; i < TM; ++i) {
        const float4 left = *reinterpret_cast<const float4*>(&a_tile[row + i][l]);  // (1, 4)
        sum[i] += left.x * right[0];
        sum[i] += left.y * right[1];
        sum[i] += left.z * right[2];
        sum[i] += left.w * right[3];
      }
    }
    __syncthreads();
  }
#pragma unroll
  for (unsigned i = 0; i < TM; ++i) {
    if (row + i < m - row0 && col < n - col0) {
      store(c[(row0 + row + i) * ldc + col0 + col], alpha, sum[i], beta);
    }
  }
}

// 4 + 16 = 20 wavefronts for 32 multiply-adds, or 0.625. **The counters** agree: 24,576 loads with
// 40,960 wavefronts. With 2,048 for filling the tiles w is 0.656, and the bound 25.5 TFLOP/s, more
// than twice as high as before.
//
// The program prints where the gain comes from. A thread computes 8 x 1 elements from 8 + 1 floats:
// 0.889 multiply-adds for each, where it was 0.5. That is not much, and A is to blame, whose floats
// are still used once each. Global memory gains as well: a tile of 64 x 64 makes 32 multiply-adds
// of each float, where 32 x 32 made 16. 2,048 load requests are left of 4,096.
//
// **The prediction** for the clock: about twice as fast as `wide_reads`. Its bound is 2.4 times as
// high, and it is no nearer to it: a slice is shallow, so a block waits for its loads and at its
// barriers four times as often.
//
// **The clock** agrees. 16.8 TFLOP/s are 2.04 times as much, and 66 % of the bound. At the other
// three sizes it is 1.97 to 2.04 times as much.
//
// (The other direction would have been worse. A thread with eight elements of a *row* would keep an
// element of A, which was a broadcast anyway, and fetch eight different ones of B: for four steps
// 2 wavefronts of A and at least 32 of B, where this kernel takes 20.)
//
// ## 3. A square for each thread
//
// Do both. A thread that computes 8 x 8 elements needs 8 floats of a column of A and 8 of a row of
// B in each step along K, and multiplies each with each. This is the *outer product* of the two:
//
//            b0  b1  b2  ...  b7
//      a0   +=  +=  +=       +=
//      a1   +=  +=  +=       +=        16 floats are read,
//      ...                             64 multiply-adds are done,
//      a7   +=  +=  +=       +=        and 64 sums stay in registers
//
// The product of two matrices is the sum of such outer products, one for each step along K. The
// textbook says that an element of C is the inner product of a row and a column, which is the same
// sum in another order. The order makes the difference: an inner product uses each float that it
// reads once, an outer product of 8 and 8 uses each of them 8 times.
//
// In general a thread with TM x TN elements computes TM * TN multiply-adds from TM + TN floats.
// That is the *computed-to-loaded ratio*: 0.5 for 1 x 1, 0.89 for 8 x 1, 4 for 8 x 8. It grows with
// the side of the square, and so does the number of registers, with its *square*. 16 x 16 would
// have a ratio of 8, but 256 sums, and a thread has 255 registers at most.
//
// The blocks get larger too. 256 threads with 64 elements each are a tile of 128 x 128. The names
// are those that every library uses: BM x BN is the block's tile, BK the depth of a slice, TM x TN
// the thread's tile.
//
// **Predict** w. Four steps along K are 8 loads of A, 128 bits wide, for 8 rows; and for each step
// two such loads of B, for 8 columns. So there are 16 loads for 256 multiply-adds. A wavefront
// delivers 128 bytes, and 32 lanes times 16 bytes are 512, so take 4 wavefronts for each load: 64
// for 256, which makes a quarter. The multiply-adders should just get what they need.

/// The tiles from here on: a block computes BM x BN elements of C in slices of BK along K, and each
/// of its threads TM x TN.
constexpr unsigned BM = 128, BN = 128, BK = 8, TM = 8, TN = 8;
constexpr unsigned threads_down = BM / TM, threads_across = BN / TN;  // 16 x 16
constexpr unsigned threads = threads_down * threads_across;           // 256

/// Adds the products of one slice to a thread's tile of C.
///
/// @param sum       TM x TN elements of C, four columns together
/// @param a_tile    the slice of A in shared memory
/// @param b_tile    the slice of B in shared memory
/// @param row, col  where the thread's tile begins in the block's
__device__ void multiply_slice(float4 (&sum)[TM][TN / 4], const float (&a_tile)[BM][BK],
                               const float (&b_tile)[BK][BN], unsigned row, unsigned col) {
#pragma unroll
  for (unsigned l = 0; l < BK; l += 4) {
    // Four columns of A at once, since neighbours in its tile lie along K.
    float4 left[TM];  // (TM, 4)
#pragma unroll
    for (unsigned i = 0; i < TM; ++i)
      left[i] = *reinterpret_cast<const float4*>(&a_tile[row + i][l]);

#pragma unroll
    for (unsigned step = 0; step < 4; ++step) {
      float4 right[TN / 4];  // (1, TN)
#pragma unroll
      for (unsigned j = 0; j < TN / 4; ++j)
        right[j] = *reinterpret_cast<const float4*>(&b_tile[l + step][col + 4 * j]);

        // The outer product of a column of A and a row of B: each with each.
#pragma unroll
      for (unsigned i = 0; i < TM; ++i) {
        const float4& four = left[i];
        const float one = step == 0 ? four.x : step == 1 ? four.y : step == 2 ? four.z : four.w;
#pragma unroll
        for (unsigned j = 0; j < TN / 4; ++j) {
          sum[i][j].x += one * right[j].x;
          sum[i][j].y += one * right[j].y;
          sum[i][j].z += one * right[j].z;
          sum[i][j].w += one * right[j].w;
        }
      }
    }
  }
}

/// C = alpha A B + beta C; each thread computes 8 x 8 elements of C.
///
/// @param m, n, k        extents: C is m x n, A is m x k, B is k x n
/// @param alpha, beta    factors; where beta is 0, c is not read
/// @param a, lda         m x k floats in device memory, and floats from a row to the next
/// @param b, ldb         k x n floats, and the same
/// @param c, ldc         m x n floats, and the same; written
///
/// Launch: blocks of 256 threads in one dimension, 8 KiB of static shared memory;
/// grid.x * 128 >= n, grid.y * 128 >= m.
/// Requires: nothing of alignment; extents below 2^31; at most 65,535 blocks along y.
__global__ void __launch_bounds__(threads, 2)  // the 2 is for section 6
    thread_tile_2d(unsigned m, unsigned n, unsigned k, float alpha, const float* a, std::size_t lda,
                   const float* b, std::size_t ldb, float beta, float* c, std::size_t ldc) {
  __shared__ __align__(16) float a_tile[BM][BK];  // (BM, BK)
  __shared__ __align__(16) float b_tile[BK][BN];  // (BK, BN)
  const unsigned row0 = blockIdx.y * BM, col0 = blockIdx.x * BN;
  const unsigned row = threadIdx.x / threads_across * TM;  // the first of its rows in the tile
  const unsigned col = threadIdx.x % threads_across * TN;  // the first of its columns

  float4 sum[TM][TN / 4] = {};  // (TM, TN)
  const First<BK> in_a;
  const First<BN> in_b;
  const float* a_from = a + (row0 + in_a.row) * lda + in_a.col;
  const float* b_from = b + in_b.row * ldb + col0 + in_b.col;
  for (unsigned k0 = 0; k0 < k; k0 += BK) {
    float a_share[BM * BK / threads], b_share[BK * BN / threads];
    fetch<threads, BK>(a_share, a_from, lda, m - row0, k - k0);
    fetch<threads, BN>(b_share, b_from, ldb, k - k0, n - col0);
    put<threads>(a_tile, a_share);
    put<threads>(b_tile, b_share);
    a_from += BK;
    b_from += BK * ldb;
    __syncthreads();
    multiply_slice(sum, a_tile, b_tile, row, col);
    __syncthreads();
  }

#pragma unroll
  for (unsigned i = 0; i < TM; ++i) {
    if (row + i >= m - row0) break;
    float* const to = c + (row0 + row + i) * ldc + col0 + col;
#pragma unroll
    for (unsigned j = 0; j < TN / 4; ++j) {
      const unsigned at = col + 4 * j, cols_left = n - col0;
      if (at < cols_left) store(to[4 * j], alpha, sum[i][j].x, beta);
      if (at + 1 < cols_left) store(to[4 * j + 1], alpha, sum[i][j].y, beta);
      if (at + 2 < cols_left) store(to[4 * j + 2], alpha, sum[i][j].z, beta);
      if (at + 3 < cols_left) store(to[4 * j + 3], alpha, sum[i][j].w, beta);
    }
  }
}

// **The counters.** 4,096 loads, as predicted. That is one for 16 multiply-adds, where
// `thread_tile_1d` had three for 8. But they take 20,480 wavefronts, 5 each and not 4. The two
// operands are far apart: line by line, a load of A takes 2 wavefronts and a load of B takes 8.
// Something is good about the one and bad about the other. Section 7 looks at it, and chapter 05 is
// all about it. With 1,024 for filling the tiles w is 0.328, and the bound is at 51.0 TFLOP/s.
//
// Global memory is read half as often as before, with 64 multiply-adds for each float: 1,024 requests. At
// 4096 that is 4.3 GB where `wide_reads` fetches 17.2 GB. The *stores* have become bad. A request
// stores one float for each lane, 8 columns apart, so that each goes to a sector of its own: 32
// sectors a request instead of 4, and 32,768 in all for a C that has 4,096. It happens once for
// each element, while the loop runs K times, so it hardly matters at K = 4096. Section 5 improves
// it.
//
// ### What the machine code says
//
// Wavefronts are one bound, instructions are another. An SM issues four of them in a cycle, of any
// kind, and has multiply-adders for four warps. So each instruction that is something else takes
// the place of a multiply-add. This is what a warp executes for a slice, in the machine code of
// nvcc 13.0 for an H200 (`cuobjdump -sass`):
//
// | kernel | instructions | `FFMA` | loads from shared memory | the rest |
// |---|--:|--:|--:|--:|
// | `wide_reads` | 102 | 32 | 40 | 30 |
// | `thread_tile_1d` | 112 | 64 | 24 | 24 |
// | `thread_tile_2d` | 617 | 512 | 32 | 73 |
//
// In `thread_tile_2d` 83 % are multiply-adds, and between the barriers 94 %: for each step 64
// `FFMA` and 4 `LDS.128`, and then 2 others in all. There is no address to compute and no jump.
// This is what the inner loop of every fast kernel looks like. The rest stands before the first
// barrier, and brings in 8 floats. Four instructions in a cycle, of which 83 % are multiply-adds,
// are 55 TFLOP/s, so this bound is hardly higher than the other.
//
// ### Loads that wait for each other
//
// Before the first barrier, the machine code has this order:
//
//     LDG  LDG  LDG  LDG  LDG  LDG  LDG  LDG    8 loads, and addresses between them
//     STS  STS  STS  STS  STS  STS  STS  STS    8 stores, the first waits for its load
//
// Each load takes hundreds of cycles, but the eight are under way together, so all of them are back
// soon after the first. That is what `fetch` and `put` are for, and it does not come by itself. Our
// first version had one function, with the loop that one writes without thinking:
//
//     for (unsigned i = threadIdx.x; i < rows * cols; i += threads)
//       tile[i / cols][i % cols] = ...;
//
// We know that `threadIdx.x` is less than `threads`, and that the loop has 4 turns. nvcc does not
// know it. It unrolled the loop, and left a comparison and a jump behind each turn:
//
//     LDG  STS  compare, jump  LDG  STS  compare, jump  LDG  STS  ...
//
// A load cannot be issued before the jump that decides whether it is made, and the store before the
// jump waits for *its* load. So a slice waited for eight loads one after the other, at each of
// which nothing else was under way. It took 157 registers as well, so that only one block of 256
// threads fitted on an SM and no other could fill the gaps (section 6). That version was slower
// than `thread_tile_1d`, in spite of everything that this section promises: the notes in `results/`
// have its times. *Count the turns with a constant, and load before you store.*
//
// **The prediction** for the clock: clearly faster than `thread_tile_1d`, and some way below both
// bounds. What is missing is not throughput but *waiting*. All threads of a block load their floats
// from global memory, wait for them to arrive, wait for each other at the barrier, compute, and
// wait for each other again. The loads of the next slice could be under way meanwhile, but nobody
// has asked for them yet. The one other block on the SM can use the time, and that is all there is.
//
// **The clock** says 32.1 TFLOP/s, 1.9 times as much as `thread_tile_1d`. That is 63 % of the one
// bound and 58 % of the other. Whether the rest is waiting, the clock alone does not say. Section 6
// puts it to the test, with one block on an SM instead of two.
//
// Large tiles have a price as well. A C of 1024 x 1024 has 256 tiles of 64 x 64, but only 64 of 128
// x 128, and an H200 has 132 SMs: more than half of them get no block at all. So at 1024 this rung
// is slower than the one before. There `thread_tile_1d` has 16.6 TFLOP/s, and `thread_tile_2d`, on
// 64 SMs, has 10.4. With the 256 blocks of a C of 2048 x 2048 it is 17.5 against 31.0. No tile is
// the best for all sizes, which is one reason why libraries have many kernels: cuBLAS has 34.0 at
// 1024.

// [hide] The ratio, and how these rungs are registered
/// Prints how many multiply-adds a kernel makes of each float that it reads, in whole tiles.
/// \param tile_m, tile_n elements of C that a thread computes
/// \param blocks elements of C that a block computes
void print_ratio(double tile_m, double tile_n, const Blocks& blocks) {
  const auto ratio = [](double rows, double cols) { return rows * cols / (rows + cols); };
  std::printf(
      "  a thread computes %g x %g elements from %g + %g floats: %.3g multiply-adds for each\n",
      tile_m, tile_n, tile_m, tile_n, ratio(tile_m, tile_n));
  std::printf(
      "  a block computes %u x %u elements: %g multiply-adds for each float of global memory\n",
      blocks.rows, blocks.cols, ratio(blocks.rows, blocks.cols));
}

void register_tiles(lab::GemmLadder& ladder) {
  const auto add = [&](const char* name, const char* idea, auto kernel, const Blocks& blocks,
                       double tile_m, double tile_n) {
    add_rung(ladder, name, idea, "", kernel, blocks, [=] { print_ratio(tile_m, tile_n, blocks); });
  };
  add("wide_reads", "one element a thread, from tiles of 32 x 32: the last kernel of chapter 03",
      wide_reads, element_blocks, 1, 1);
  add("thread_tile_1d", "8 elements of a column for each thread: a float of B serves 8 times",
      thread_tile_1d, column_blocks, 8, 1);
  add("thread_tile_2d", "8 x 8 elements for each thread: every float serves 8 times",
      thread_tile_2d, square_blocks, 8, 8);
}
// [/hide]

// ## 4. Unrolling
//
// There is a condition for keeping an array in registers. *A register has no address.* The
// instruction names it, and its name is fixed when the kernel is compiled. So `sum[i][j]` can be a
// register only if the compiler knows i and j, and in a loop it knows them only if it writes out
// every turn of the loop. That is what `#pragma unroll` asks for, and why it stands before every
// loop over the elements of a thread's tile.
//
// The rung is `thread_tile_2d` once more, this time with its inner loop written float by float, the
// way one would do it first. Its loops are unrolled to four degrees: nothing; the loops over the
// thread's tile; these and two of the eight steps along K; these and all eight steps.
//
// These are four programs for the same work, and the first two of them are no step forward. They
// are here to show what the others would be without a line that is easily forgotten.
//
// **Predict** which counts change.

/// thread_tile_2d, written float by float, with its loops unrolled to a chosen degree.
///
/// @tparam steps         how many of the 8 steps along K are unrolled
/// @tparam elements      how many of the 8 rows and of the 8 columns of a thread's tile are
/// @param m, n, k        extents: C is m x n, A is m x k, B is k x n
/// @param alpha, beta    factors; where beta is 0, c is not read
/// @param a, lda         m x k floats in device memory, and floats from a row to the next
/// @param b, ldb         k x n floats, and the same
/// @param c, ldc         m x n floats, and the same; written
///
/// Launch: as for thread_tile_2d.
/// Requires: as for thread_tile_2d.
template <unsigned steps, unsigned elements>
__global__ void __launch_bounds__(threads, 2)
    unroll_steps(unsigned m, unsigned n, unsigned k, float alpha, const float* a, std::size_t lda,
                 const float* b, std::size_t ldb, float beta, float* c, std::size_t ldc) {
  __shared__ __align__(16) float a_tile[BM][BK];  // (BM, BK)
  __shared__ __align__(16) float b_tile[BK][BN];  // (BK, BN)
  const unsigned row0 = blockIdx.y * BM, col0 = blockIdx.x * BN;
  const unsigned row = threadIdx.x / threads_across * TM;
  const unsigned col = threadIdx.x % threads_across * TN;

  float sum[TM][TN] = {};  // in registers only where i and j are known to the compiler
  const First<BK> in_a;
  const First<BN> in_b;
  const float* a_from = a + (row0 + in_a.row) * lda + in_a.col;
  const float* b_from = b + in_b.row * ldb + col0 + in_b.col;
  for (unsigned k0 = 0; k0 < k; k0 += BK) {
    float a_share[BM * BK / threads], b_share[BK * BN / threads];
    fetch<threads, BK>(a_share, a_from, lda, m - row0, k - k0);
    fetch<threads, BN>(b_share, b_from, ldb, k - k0, n - col0);
    put<threads>(a_tile, a_share);
    put<threads>(b_tile, b_share);
    a_from += BK;
    b_from += BK * ldb;
    __syncthreads();
#pragma unroll steps
    for (unsigned l = 0; l < BK; ++l) {
      float left[TM], right[TN];  // a column of A, a row of B
#pragma unroll elements
      for (unsigned i = 0; i < TM; ++i) left[i] = a_tile[row + i][l];
#pragma unroll elements
      for (unsigned j = 0; j < TN; ++j) right[j] = b_tile[l][col + j];
#pragma unroll elements
      for (unsigned i = 0; i < TM; ++i) {
#pragma unroll elements
        for (unsigned j = 0; j < TN; ++j) sum[i][j] += left[i] * right[j];
      }
    }
    __syncthreads();
  }
#pragma unroll elements
  for (unsigned i = 0; i < TM; ++i) {
#pragma unroll elements
    for (unsigned j = 0; j < TN; ++j) {
      if (row + i < m - row0 && col + j < n - col0) {
        store(c[(row0 + row + i) * ldc + col0 + col + j], alpha, sum[i][j], beta);
      }
    }
  }
}

// **The counters** do not change at all. All four variants make 16,384 loads from shared memory,
// and all other counts are the same to the last digit as well. Unrolling changes neither what is
// read nor what is computed. It changes the *instructions*:
//
// | unrolled | registers | local memory | instructions of the inner loop | multiply-adds in it |
// |---|--:|---|---|--:|
// | nothing | 47 | 320 bytes | 9 | 1 |
// | the tile | 102 | 0 | 81 | 64 |
// | the tile, 2 steps | 127 | 0 | 146 | 128 |
// | the tile, 8 steps | 128 | 0 | 546, and no loop | 512 |
//
// In the first line the sums are not in registers. 320 bytes are 64 sums and 16 factors, and they
// lie in *local memory*. It is called local because each thread has its own; it lies where global
// memory lies, and is cached in L1. Each multiply-add reads two of its operands from there and
// writes its sum back; 9 instructions, where one would do. The program runs and is right, and
// nobody complains. Only the time does, and `localSizeBytes`, which the program prints on a GPU.
//
// In the second line the sums are in registers, and there are 17 instructions beside 64
// multiply-adds: addresses, a counter, a jump, and 10 loads. These are the 8 floats of A one by
// one, and the 8 of B as two `LDS.128`. In the last line only 4 loads are left for a step, and here
// is why. Once *all* steps are written out, the compiler sees that four of them read four
// neighbours, `a_tile[row + i][l]` to `[l + 3]`, and merges them, as it did in chapter 03. So it
// arrives at what `thread_tile_2d` says in the source. **This is the one place where the compiler
// makes the hardware read something else than the source says.** The simulator counts the loads
// that the source spells, with 49,152 wavefronts. The hardware counts the merged ones, and their
// number depends on the unrolling. On the page of this chapter both stand side by side.
//
// **The prediction** for the clock: the first variant is slower by a factor of ten and more, since
// it issues 9 instructions for a multiply-add and goes to L1 three times for it. The others get
// faster line by line, as 79, 88 and 94 % of the instructions between the barriers are
// multiply-adds, and the last one is as fast as `thread_tile_2d`.
//
// **The clock**, in TFLOP/s:
//
// | unrolled | 1024 | 2048 | 4096 | 8192 |
// |---|--:|--:|--:|--:|
// | nothing | 0.73 | 1.25 | 0.94 | 1.00 |
// | the tile | 8.68 | 25.0 | 25.7 | 25.8 |
// | the tile, 2 steps | 9.13 | 28.1 | 28.7 | 29.1 |
// | the tile, 8 steps | 10.5 | 31.9 | 33.2 | 33.1 |
//
// The order is the predicted one. The first line is behind the last by a factor of 35 at 4096, far
// more than the instructions account for. Look at 1024. There 64 SMs have a block each and make
// 0.73 TFLOP/s, so 132 would make 1.5. At 4096 five blocks share an SM, and together they do *less*
// than one does alone. The local memory of one is 80 KiB, that of five 400 KiB, and L1 and shared
// memory together have 256. So the sums have to leave L1. They do not stay in L2 either: 400 KiB on
// each of 132 SMs are 54 MB, which with A and B is more than the 60 MB that L2 holds. In a trial
// with Nsight Compute at 4096 this variant had 61 GB from DRAM; A and B are 0.13.
//
// Between the other three lines, not only the share of multiply-adds grows. Merged loads also take
// fewer wavefronts. The hardware counts 33,792, 25,600 and 21,504 of them, which are bounds of
// 32.4, 42.8 and 51.0 TFLOP/s, and `the tile` is at 79 % of its own.
//
// The last line should be as fast as `thread_tile_2d`, and it is 3.6 % faster, 33.2 against 32.1.
// At 8192 it is 2.3 %, at 2048 3.0 %, and 0.3 % at 1024. That is no noise, for the two are not the
// same program. A slice takes 619 instructions in one and 617 in the other. Both have the same 512
// `FFMA` and 32 `LDS.128` among them, but in another order and with other registers. Nothing that
// we could count in the machine code favours one of them. So take it as a measure: *the compiler's
// order of instructions alone is worth a few per cent*, and a difference of that size between two
// kernels may be no more than that.
//
// Unrolling has a price: registers, and code. 512 `FFMA` are 8 KiB of instructions, and these come
// through a cache, too. Unroll the loops whose indices name registers, always; unroll others if
// they are short, and measure.

// [hide] How this rung is registered
void register_unrolling(lab::GemmLadder& ladder) {
  const auto add = [&](const char* variant, auto kernel) {
    add_rung(ladder, "unroll_steps",
             "the same loops, rolled up and unrolled: the same work, other instructions", variant,
             kernel, square_blocks);
  };
  add("nothing", unroll_steps<1, 1>);
  add("the tile", unroll_steps<1, TM>);
  add("the tile, 2 steps", unroll_steps<2, TM>);
  add("the tile, 8 steps", unroll_steps<BK, TM>);
}
// [/hide]

// ## 5. Four floats at a time
//
// Between the barriers nearly everything is a multiply-add. What stands before them is not. To fill
// the tiles, each thread of `thread_tile_2d` loads 8 floats one by one, each with a comparison of
// its row, an address of 64 bits, a zero in case it is not there, and a store into shared memory:
// 73 instructions in all. A thread can move four neighbouring floats with one instruction instead,
// as a `float4`. One rule comes with it: *the address must be a multiple of 16 bytes*. For matrices
// of any size that is not a given, and there are three cases.
//
// - The matrix starts at a multiple of 16 bytes, and its leading dimension is a multiple of 4. Then
//   every row starts at one, too, and so does every fourth float of it.
// - The rows are aligned, but their length is no multiple of 4. Then the last quad of each row
//   sticks out. Its floats have to be loaded one by one, and zeros have to stand in for the rest.
// - The rows are not aligned: the matrix is a part of a larger one and starts in the middle of a
//   quad, or the leading dimension is odd. Then no quad can be loaded as one.
//
// The kernel asks for each matrix, once: `rows_aligned`. All threads get the same answer, so no
// warp diverges. Then for each quad: is it whole? A quad that is not whole, or not aligned, goes
// the slow way.

/// Whether every row of a matrix starts at a multiple of 16 bytes, as a load of a float4 asks.
__device__ bool rows_aligned(const float* matrix, std::size_t ld) {
  return (reinterpret_cast<std::uintptr_t>(matrix) | ld * sizeof(float)) % sizeof(float4) == 0;
}

/// Loads four neighbours of a row, with zeros where the row ends.
///
/// @param from     the first of them
/// @param have     how many there are; none is read where 0, and 4 are enough
/// @param aligned  whether `from` is a multiple of 16 bytes
__device__ float4 load_quad(const float* from, int have, bool aligned) {
  if (aligned && have >= 4) return *reinterpret_cast<const float4*>(from);
  float4 quad = {0, 0, 0, 0};
  if (have > 0) quad.x = from[0];
  if (have > 1) quad.y = from[1];
  if (have > 2) quad.z = from[2];
  if (have > 3) quad.w = from[3];
  return quad;
}

/// The same for a store, of alpha * sum + beta * what is there.
__device__ void store_quad(float* to, int have, bool aligned, float alpha, const float4& sum,
                           float beta) {
  float4 quad = {alpha * sum.x, alpha * sum.y, alpha * sum.z, alpha * sum.w};
  if (beta != 0) {
    const float4 before = load_quad(to, have, aligned);
    quad.x += beta * before.x;
    quad.y += beta * before.y;
    quad.z += beta * before.z;
    quad.w += beta * before.w;
  }
  if (aligned && have >= 4) {
    *reinterpret_cast<float4*>(to) = quad;
    return;
  }
  if (have > 0) to[0] = quad.x;
  if (have > 1) to[1] = quad.y;
  if (have > 2) to[2] = quad.z;
  if (have > 3) to[3] = quad.w;
}

/// Fetches a thread's quads of a tile into registers, with zeros where the tile sticks out.
///
/// @tparam cols      columns of the tile
/// @param share      the thread's quads, in the order of their rows; written
/// @param from       the element of the matrix that belongs to the tile's corner
/// @param ld         floats from a row of the matrix to the next
/// @param rows_left  rows of the matrix from there on, at least 1
/// @param cols_left  columns of the matrix from there on, at least 1
/// @param aligned    whether all rows from there on start at multiples of 16 bytes
template <unsigned cols, unsigned count>
__device__ void fetch_quads(float4 (&share)[count], const float* from, std::size_t ld,
                            unsigned rows_left, unsigned cols_left, bool aligned) {
  constexpr int step = 4 * threads / cols;  // rows from one of them to the next
  const First<cols, 4> first;
  const int below = static_cast<int>(rows_left - first.row);
  const int right = static_cast<int>(cols_left - first.col);
#pragma unroll
  for (int i = 0; i < static_cast<int>(count); ++i) {
    const float* const quad = from + static_cast<std::size_t>(i * step) * ld;
    share[i] = load_quad(quad, i * step < below ? right : 0, aligned);
  }
}

/// Puts what `fetch_quads` has fetched into the tile, which is aligned to 16 bytes.
template <unsigned rows, unsigned cols, unsigned count>
__device__ void put_quads(float (&tile)[rows][cols], const float4 (&share)[count]) {
  constexpr unsigned step = 4 * threads / cols;
  static_assert(4 * threads % cols == 0 && step * count == rows, "equal shares, in whole rows");
  const First<cols, 4> first;
#pragma unroll
  for (unsigned i = 0; i < count; ++i) {
    *reinterpret_cast<float4*>(&tile[first.row + i * step][first.col]) = share[i];
  }
}

// ### Who loads what, who computes what
//
// A thread has two jobs now, and they have nothing to do with each other. It *loads* a quad of each
// tile, for everybody. It *computes* a square of C, from what others have loaded. Any map from
// threads to quads will do for the first, as long as neighbouring threads get neighbouring quads.
// Any map from threads to places will do for the second. The rung `thread_map` lets each thread
// write its number down for both, and draws the picture.
//
// **Predict:** which rows of A does warp 0 load, which of B, and which elements of C does it
// compute?

/// Which of the 16 x 16 places in the block's tile is a thread's.
enum class Order {
  rows,     ///< along the rows: a warp has 2 x 16 places
  columns,  ///< down the columns: 16 x 2
  blocks,   ///< a warp has a block of 4 x 8, along its rows
  z_curve   ///< a warp has a block of 4 x 8, along a curve that keeps neighbours together
};

/// A thread's place in the grid of 16 x 16 that covers the block's tile of C.
struct Place {
  unsigned row, col;
};

/// Where thread number `t` of a block works.
template <Order order>
__device__ Place place_of(unsigned t) {
  if constexpr (order == Order::rows) {
    return {t / threads_across, t % threads_across};
  } else if constexpr (order == Order::columns) {
    return {t % threads_down, t / threads_down};
  } else {
    const unsigned warp = t / 32, lane = t % 32;  // 4 x 2 warps of 4 x 8 lanes
    unsigned row = lane / 8, col = lane % 8;
    if constexpr (order == Order::z_curve) {
      // The bits of the lane belong to column, row, column, row, column.
      row = (lane >> 1 & 1) | (lane >> 2 & 2);
      col = (lane & 1) | (lane >> 1 & 2) | (lane >> 2 & 4);
    }
    return {warp / 2 * 4 + row, warp % 2 * 8 + col};
  }
}

/// Each thread writes its number down where it works.
///
/// @param loads_a   an integer for each quad of A's tile, BM x BK / 4; written
/// @param loads_b   an integer for each quad of B's tile, BK x BN / 4; written
/// @param computes  an integer for each place in C's tile, 16 x 16; written
///
/// Launch: one block of 256 threads in one dimension.
template <Order order>
__global__ void thread_map(int* loads_a, int* loads_b, int* computes) {
  const int me = static_cast<int>(threadIdx.x);
  for (unsigned i = threadIdx.x; i < BM * BK / 4; i += threads) loads_a[i] = me;
  for (unsigned i = threadIdx.x; i < BK * BN / 4; i += threads) loads_b[i] = me;
  const Place place = place_of<order>(threadIdx.x);
  computes[place.row * threads_across + place.col] = me;
}

// Look at the first picture, `rows`. Warp 0 loads 16 rows of A's tile, two quads each, since a
// slice is 8 floats deep; and one row of B's tile, 32 quads. It computes 16 rows of C's tile, over
// its whole width: 2 x 16 places of 8 x 8 elements. The other three pictures are for section 7.
//
// **Predict** the requests and sectors of these loads. B is easy: 32 quads side by side are 512
// bytes, 16 sectors, every byte of them is used. Of A a warp loads 16 pieces of 32 bytes, from 16
// rows. Each piece is exactly one sector, if it is aligned.

// [hide] The expected map, the pictures, and how this rung is registered
/// The host's own map: what thread_map has to write for the places in C's tile.
std::vector<int> expected_places(Order order) {
  std::vector<int> expected;
  for (int row = 0; row < 16; ++row) {
    for (int col = 0; col < 16; ++col) {
      const int warp = row / 4 * 2 + col / 8, y = row % 4, x = col % 8;
      switch (order) {
        case Order::rows:
          expected.push_back(16 * row + col);
          break;
        case Order::columns:
          expected.push_back(16 * col + row);
          break;
        case Order::blocks:
          expected.push_back(32 * warp + 8 * y + x);
          break;
        case Order::z_curve:
          expected.push_back(32 * warp + x % 2 + 2 * (y % 2) + 4 * (x / 2 % 2) + 8 * (y / 2) +
                             16 * (x / 4));
      }
    }
  }
  return expected;
}

/// Draws who loads the quads of a tile: the first rows and the last.
void print_loads(const char* name, const std::vector<int>& loads, int rows, int quads) {
  std::printf("  %s, %d rows of %d quads; the thread that loads each:\n", name, rows, quads);
  for (int row = 0; row < rows; ++row) {
    if (row == 3) std::printf("    ...\n");
    if (row >= 3 && row + 1 < rows) continue;
    std::printf("    row %3d:", row);
    for (int quad = 0; quad < quads; ++quad) {
      if (quads > 8 && quad == 6) std::printf(" ...");
      if (quads > 8 && quad >= 6 && quad + 2 < quads) continue;
      std::printf(" %3d", loads[static_cast<std::size_t>(row * quads + quad)]);
    }
    std::printf("\n");
  }
}

/// Draws the 16 x 16 places of C's tile: the warp of each, and the lanes of warp 0.
void print_places(const std::vector<int>& computes) {
  std::printf(
      "  C's tile, 16 x 16 places of 8 x 8 elements; the warp of each, the lanes of warp 0:\n");
  for (std::size_t row = 0; row < 16; ++row) {
    std::printf("    ");
    for (std::size_t col = 0; col < 16; ++col) std::printf("%d ", computes[16 * row + col] / 32);
    std::printf("  ");
    for (std::size_t col = 0; col < 16; ++col) {
      const int thread = computes[16 * row + col];
      if (thread < 32) {
        std::printf(" %2d", thread);
      } else {
        std::printf("  .");
      }
    }
    std::printf("\n");
  }
}

/// What thread_map writes.
struct Maps {
  lab::DeviceBuffer<int> a{BM * BK / 4, "A's quads"}, b{BK * BN / 4, "B's quads"},
      c{threads, "C's places"};
};

template <Order order>
void register_map(lab::Chapter& chapter, const char* variant) {
  const auto maps = std::make_shared<Maps>();
  const auto verify = [maps] {
    // Thread t loads quad t of both tiles: one each.
    std::vector<int> in_turn(BM * BK / 4);
    std::iota(in_turn.begin(), in_turn.end(), 0);
    for (const auto* loads : {&maps->a, &maps->b}) {
      if (const lab::Comparison found = lab::compare(loads->download(), in_turn); !found.pass) {
        return found;
      }
    }
    return lab::compare(maps->c.download(), expected_places(order));
  };
  const auto show = [maps] {
    if (order == Order::rows) {
      print_loads("A's tile", maps->a.download(), BM, BK / 4);
      print_loads("B's tile", maps->b.download(), BK, BN / 4);
    }
    print_places(maps->c.download());
  };
  chapter.add({.name = "thread_map",
               .idea = "who loads what, and who computes what, as a picture",
               .launch =
                   [maps] {
                     thread_map<order>
                         <<<1, threads>>>(maps->a.data(), maps->b.data(), maps->c.data());
                   },
               .verify = verify,
               .variant = variant,
               .show = show,
               .timed = false,
               .outputs = {&maps->a, &maps->b, &maps->c}});
}

void register_maps(lab::Chapter& chapter) {
  register_map<Order::rows>(chapter, "rows");
  register_map<Order::columns>(chapter, "columns");
  register_map<Order::blocks>(chapter, "blocks");
  register_map<Order::z_curve>(chapter, "z-curve");
}
// [/hide]

// Now the kernel. It is `thread_tile_2d` with these functions in place of the old ones: tiles are
// filled and C is stored quad by quad, and in between it is the same `multiply_slice`. Two more
// rungs differ from it only in what stands above the braces, so all three call one function.

/// What thread_tile_float4, launch_bounds and thread_orders do: see there for the arguments.
///
/// @tparam order  which of the 16 x 16 places is a thread's
template <Order order>
__device__ void multiply_quads(unsigned m, unsigned n, unsigned k, float alpha, const float* a,
                               std::size_t lda, const float* b, std::size_t ldb, float beta,
                               float* c, std::size_t ldc) {
  __shared__ __align__(16) float a_tile[BM][BK];  // (BM, BK)
  __shared__ __align__(16) float b_tile[BK][BN];  // (BK, BN)
  const bool a_aligned = rows_aligned(a, lda), b_aligned = rows_aligned(b, ldb);
  const bool c_aligned = rows_aligned(c, ldc);
  const unsigned row0 = blockIdx.y * BM, col0 = blockIdx.x * BN;
  const Place place = place_of<order>(threadIdx.x);
  const unsigned row = place.row * TM, col = place.col * TN;

  float4 sum[TM][TN / 4] = {};  // (TM, TN)
  const First<BK, 4> in_a;
  const First<BN, 4> in_b;
  const float* a_from = a + (row0 + in_a.row) * lda + in_a.col;
  const float* b_from = b + in_b.row * ldb + col0 + in_b.col;
  for (unsigned k0 = 0; k0 < k; k0 += BK) {
    float4 a_share[BM * BK / 4 / threads], b_share[BK * BN / 4 / threads];
    fetch_quads<BK>(a_share, a_from, lda, m - row0, k - k0, a_aligned);
    fetch_quads<BN>(b_share, b_from, ldb, k - k0, n - col0, b_aligned);
    put_quads(a_tile, a_share);
    put_quads(b_tile, b_share);
    a_from += BK;
    b_from += BK * ldb;
    __syncthreads();
    multiply_slice(sum, a_tile, b_tile, row, col);
    __syncthreads();
  }

#pragma unroll
  for (unsigned i = 0; i < TM; ++i) {
#pragma unroll
    for (unsigned j = 0; j < TN / 4; ++j) {
      store_quad(c + (row0 + row + i) * ldc + col0 + col + 4 * j,
                 row + i < m - row0 ? static_cast<int>(n - col0 - col - 4 * j) : 0, c_aligned,
                 alpha, sum[i][j], beta);
    }
  }
}

/// C = alpha A B + beta C; 8 x 8 elements of C for each thread, which moves four floats at a time.
///
/// @param m, n, k        extents: C is m x n, A is m x k, B is k x n
/// @param alpha, beta    factors; where beta is 0, c is not read
/// @param a, lda         m x k floats in device memory, and floats from a row to the next
/// @param b, ldb         k x n floats, and the same
/// @param c, ldc         m x n floats, and the same; written
///
/// Launch: blocks of 256 threads in one dimension, 8 KiB of static shared memory;
/// grid.x * 128 >= n, grid.y * 128 >= m.
/// Requires: extents below 2^31; at most 65,535 blocks along y. A matrix whose rows all start at
/// multiples of 16 bytes is read or written as float4, but for the ends of its rows; any other one
/// float by float.
__global__ void __launch_bounds__(threads, 2)
    thread_tile_float4(unsigned m, unsigned n, unsigned k, float alpha, const float* a,
                       std::size_t lda, const float* b, std::size_t ldb, float beta, float* c,
                       std::size_t ldc) {
  multiply_quads<Order::rows>(m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}

// **The counters.** 256 load requests where `thread_tile_2d` has 1,024, and 16 sectors each. So the
// sectors are the same, 4,096, A's and B's alike, and not a byte is wasted. A quarter of the
// instructions does the work. That is what a `float4` gives: *not fewer bytes but fewer
// instructions for them*. (Little's law, chapter 01, likes it as well. A thread that has asked for
// 16 bytes has four times as much under way.)
//
// The stores: 256 requests with 32 sectors each, 8,192 in all, a quarter of what they were. It
// should be 4,096. A thread's 8 columns are two quads, and the two go out with two requests, each
// of which fills half of each sector.
//
// The inner loop is the same function as in `thread_tile_2d`, and it takes the same 20,480
// wavefronts.
//
// And where the rows are not aligned? With `--size 256,127,64` a row of B and a row of C have 127
// floats, and the kernel goes the slow way for both. It makes 640 load requests then: A's 128, and
// four for each of B's 128 quads. Of the stores there are 1,024. The lanes of such a request are 4
// floats apart, so each of the four touches nearly all the sectors of the whole. The result is
// right, and what stands between the barriers is the same as ever.
//
// **The machine code.** A slice takes 574 instructions now, where `thread_tile_2d` takes 617. 512
// of them are `FFMA` and 32 load from shared memory, so that 30 are left of the 73 others, and 89 %
// are multiply-adds. (Counted along the way that a block takes which lies inside of the matrices.
// The slow way for the ends of the rows is there as well, and is jumped over.)
//
// **The prediction** for the clock: 43 instructions less for a slice are 7 %, and two loads wait
// less for each other than eight do. So it is somewhat faster, and not by much: the wavefronts are
// the same, and so is the waiting between the barriers.
//
// **The clock** agrees, with 32.8 TFLOP/s, 64 % of what cuBLAS has. It is faster than
// `thread_tile_2d` by 2 % at 4096, by 1 % at 8192 and by 4 % at 2048. At 1024, where each block is
// alone on its SM and nobody fills the time before its barrier, it is 6 %. Only the last of them is
// clearly more than the order of instructions makes: `unroll_steps` with all steps unrolled, which
// loads float by float, takes 1 % less time than this kernel at 4096, and 6 % more at 1024.
//
// ## 6. Registers are a budget
//
// An SM has 65,536 registers, and they are dealt out when a block is placed there, to all of its
// threads. With 128 for each, a block of 256 takes 32,768, and two blocks fit exactly. With 129,
// which are rounded up to 136, it takes 34,816. A second block does not fit, and nearly half of the
// registers lie idle. Two blocks are worth a lot: while one of them waits at its barrier, the other
// one computes.
//
// So something has to be said about it, and that is what the 2 has been for since section 3:
// `__launch_bounds__(256, blocks)` tells the compiler that blocks have no more than 256 threads,
// and that at least `blocks` of them shall fit on an SM. From this follows how many registers it
// may use: 65,536 / 256 / blocks, in steps of 8, and never more than 255. **Predict** what happens
// for 1 block, and for 3 and 4, with at most 80 and 64 registers. The sums alone are 64.

/// thread_tile_float4, compiled so that several of its blocks fit on an SM at once.
///
/// @tparam blocks        how many
/// @param m, n, k        extents: C is m x n, A is m x k, B is k x n
/// @param alpha, beta    factors; where beta is 0, c is not read
/// @param a, lda         m x k floats in device memory, and floats from a row to the next
/// @param b, ldb         k x n floats, and the same
/// @param c, ldc         m x n floats, and the same; written
///
/// Launch: as for thread_tile_float4.
/// Requires: as for thread_tile_float4.
template <unsigned blocks>
__global__ void __launch_bounds__(threads, blocks)
    launch_bounds(unsigned m, unsigned n, unsigned k, float alpha, const float* a, std::size_t lda,
                  const float* b, std::size_t ldb, float beta, float* c, std::size_t ldc) {
  multiply_quads<Order::rows>(m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}

// What the compiler cannot keep in registers, it *spills*: it writes it to local memory and reads
// it back later. `nvcc -Xptxas -v` and the machine code tell:
//
// | blocks | registers | bytes spilled | instructions of a slice | local loads | local stores |
// |---|--:|--:|--:|--:|--:|
// | 1 | 129 | 0 | 574 | 0 | 0 |
// | 2 | 128 | 0 | 574 | 0 | 0 |
// | 3 | 80 | 832 | 975 | 174 | 170 |
// | 4 | 64 | 1464 | 1258 | 316 | 312 |
//
// With room for 255 registers, the compiler has taken 129, and seen no harm in the last one. The
// two kernels of the first two lines execute equally many instructions, and differ in one register,
// and in whether one block runs on an SM or two. For 3 blocks the compiler has to move 344 values
// through L1 for 512 multiply-adds, for 4 blocks 628. L1 and shared memory are one piece of
// hardware with one data path, the very one that we have been taking load off since section 1.
// **The counters** say nothing about it: the simulator has no registers to run out of, and the
// hardware counts local memory apart from global. (With 3 and 4 blocks its count of the wavefronts
// of shared memory is 2 and 6 % too high, for the same loads: local memory disturbs it, as the
// notes in `results/` show.)
//
// **The prediction** for the time: `blocks=2` is the fastest of the four. 1 is slower, since nobody
// fills the time in which its one block waits. 3 and 4 are slower by much more, although more
// threads are there to hide what one of them waits for, and 4 is the slowest. Occupancy is a means,
// and there it is bought with what it was meant to save. cuBLAS, at 4096, has no more than 8 warps
// on an SM (chapter 03), half of what two blocks are here: it has found something else to do while
// it waits.
//
// **The clock**, in TFLOP/s:
//
// | blocks | 1024 | 2048 | 4096 | 8192 |
// |---|--:|--:|--:|--:|
// | 1 | 11.0 | 22.7 | 22.4 | 22.7 |
// | 2 | 11.1 | 32.2 | 32.8 | 32.7 |
// | 3 | 4.33 | 6.03 | 6.14 | 6.62 |
// | 4 | 2.28 | 3.23 | 3.18 | 3.19 |
//
// One register costs nearly a third of the speed. And it is the second block that makes the
// difference, as 1024 shows: there no SM has more than one, and the two kernels are within 1 % of
// each other. 11.0 TFLOP/s on 64 SMs would be 22.6 on 132, which is just what `blocks=1` makes of
// the larger sizes. So this is what a block can do alone. At 1.98 GHz it takes 2,960 cycles for a
// slice, and its 8 warps have work for the multiply-adders for 1,024 of them. The rest is the
// waiting of section 3. With a second block, two slices take 4,060 cycles. That fills some of it,
// and by far not all.
//
// With spills the time grows by much more than the instructions, of which a slice has 1.7 and 2.2
// times as many: it is 5.3 and 10.3 times as long as that of `blocks=2`. Here, too, a block is
// faster alone. 4.33 TFLOP/s on 64 SMs would be 8.9 on 132, and with three blocks on each it is
// 6.14. A thread's local memory is 352 bytes with three blocks and 624 with four, less than the
// bytes spilled, as most places are written more than once. What they have spilled is 264 KiB, with
// four blocks 624 KiB, and has to leave L1. On all SMs these are 36 MB, which L2 can hold, and 84
// MB, which it cannot. The trial with Nsight Compute fits: with three blocks L1 had 66 % of what it
// was asked for, L2 had 97 %, and 2.95 GB came from DRAM; with four blocks it was 22 GB. It is not
// the whole reason. At 2048 an SM has two blocks at most, with 176 KiB, and `blocks=3` is no faster.
//
// These rungs are no steps of the ladder, but one kernel in four versions. Say `__launch_bounds__`
// with the number of threads in any case: without it the compiler does not know how many there are,
// and a launch of many threads may fail for want of registers. Say the second number where you know
// it, and look at what `-Xptxas -v` says to it.

// [hide] How these rungs are registered
void register_quads(lab::GemmLadder& ladder) {
  add_rung(ladder, "thread_tile_float4", "four floats with each load and each store", "",
           thread_tile_float4, square_blocks);
  const auto add = [&](const char* variant, auto kernel) {
    add_rung(ladder, "launch_bounds", "fewer registers, more blocks on an SM, and spills", variant,
             kernel, square_blocks);
  };
  add("blocks=1", launch_bounds<1>);
  add("blocks=2", launch_bounds<2>);
  add("blocks=3", launch_bounds<3>);
  add("blocks=4", launch_bounds<4>);
}
// [/hide]

// ## 7. The shape of a warp
//
// In which order the 16 x 16 places of a tile are dealt out to the threads is up to us. It makes no
// difference for what a *block* reads, nor for what a *thread* reads. It does for a *warp*, the
// unit that goes to shared memory. The pictures of section 5 show four orders:
//
// - `rows`: along the rows, 2 x 16 places for each warp;
// - `columns`: down the columns, 16 x 2;
// - `blocks`: each warp has a block of 4 x 8, in the order of its rows;
// - `z-curve`: the same blocks, but the lanes follow a curve that folds again and again, so that
//   any 4, 8 or 16 lanes in a row are close together.
//
// How many *different* floats does a warp need for a step? One of 2 x 16 needs 16 rows and 128
// columns, 144 floats. One of 4 x 8 needs 32 and 64, 96 floats, the least that 32 places can do
// with. **Predict** from this which order takes the fewest wavefronts.

/// thread_tile_float4 with its threads in another order.
///
/// @tparam order         which of the 16 x 16 places is a thread's
/// @param m, n, k        extents: C is m x n, A is m x k, B is k x n
/// @param alpha, beta    factors; where beta is 0, c is not read
/// @param a, lda         m x k floats in device memory, and floats from a row to the next
/// @param b, ldb         k x n floats, and the same
/// @param c, ldc         m x n floats, and the same; written
///
/// Launch: as for thread_tile_float4.
/// Requires: as for thread_tile_float4.
template <Order order>
__global__ void __launch_bounds__(threads, 2)
    thread_orders(unsigned m, unsigned n, unsigned k, float alpha, const float* a, std::size_t lda,
                  const float* b, std::size_t ldb, float beta, float* c, std::size_t ldc) {
  multiply_quads<order>(m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}

// **The counters** say something else:
//
// | order | warp | different floats | wavefronts of a load of A | of B | in all | bound, TFLOP/s |
// |---|---|--:|--:|--:|--:|--:|
// | `columns` | 16 x 2 | 144 | 32 | 2 | 69,632 | 15.5 |
// | `blocks` | 4 x 8 | 96 | 4 | 8 | 24,576 | 42.8 |
// | `z-curve` | 4 x 8 | 96 | 8 | 2 | 20,480 | 51.0 |
// | `rows` | 2 x 16 | 144 | 2 | 8 | 20,480 | 51.0 |
//
// `columns` and `rows` need equally many floats, and one takes more than three times as many
// wavefronts as the other. `blocks` and `z-curve` are the same warps with the same floats, only the
// lanes are numbered in another way. So the number of different floats does not decide. What does?
//
// A 128-bit load is done in phases of 8 lanes, or of 16 where lanes next to each other want the
// same address. What matters is *where the addresses of one phase lie*, and more exactly in which
// of the 32 banks. In `columns` the 8 lanes of a phase read 8 rows of A's tile, 64 floats apart. 64
// floats are twice around the banks, so all 8 want the same four banks, and have to take turns: 8
// times 4 phases make 32. In `rows` all lanes of a phase have one row, and 16 of them are served at
// once. But their columns of B are 8 floats apart, so that four lanes go once around the banks, and
// the other four want the same banks again.
//
// Every order here is good for one of the operands and bad for the other, so none of them is good.
// This is not a matter of the warp's shape alone. It is the layout of the *tiles* that does not fit
// it.
//
// **The prediction** for the clock follows from the bounds, for one of the four at least: `columns`
// is bound by its wavefronts, and stays below 15.5. The others have bounds far above what we have
// reached, and may be nearly as fast as each other: `blocks` a little slower than the rest, and
// `rows` is `thread_tile_float4` itself. None of them is a step of the ladder: the step comes in
// chapter 05, with another layout.
//
// **The clock** gives `columns` 12.7 TFLOP/s, 82 % of its bound, `blocks` 29.9, `z-curve` 30.1, and
// `rows` 32.8. Half of the prediction was wrong. `z-curve` has the wavefronts of `rows`, and is as
// slow as `blocks`, which has a fifth more. These two even execute the same 575 instructions for a
// slice, with the same registers. So far below the bound the *number* of wavefronts does not
// decide.
//
// It may be *when* they come. The machine code loads A's quads at the beginning of each half of a
// slice, since they serve for four steps, and B's bit by bit. So right after the barrier all 8
// warps ask for 8 quads of A and 2 of B, and have nothing to compute before the first of them
// arrive. That makes 8 * (8 * 8 + 2 * 2) = 544 wavefronts in a row for `z-curve`, 384 for `blocks`,
// and 256 for `rows`: 288 and 128 more than for `rows`. A block that is alone on its SM, at 1024,
// takes 280 cycles more for a slice in `z-curve` than in `rows`, and 150 more in `blocks`.
//
// A trial with Nsight Compute at 4096 counted how long a warp waits for words of shared memory
// (`short_scoreboard`), in cycles for each instruction that it issues, and how many of the issue
// slots are used:
//
// | order | `rows` | `z-curve` | `blocks` | `columns` |
// |---|--:|--:|--:|--:|
// | waiting for shared memory | 0.79 | 1.48 | 2.29 | 10.44 |
// | issue slots in use | 56.6 % | 52.4 % | 52.2 % | 22.6 % |
//
// Both orders do wait longer than `rows`, and lose the same for it. `blocks` waits more than
// `z-curve` in all, and that fits as well: its wavefronts are B's for the most part, so its waits are
// spread over all steps, and other warps can fill them. Those of `z-curve` come all at once. *When* a
// warp waits this counter does not say, so this last part remains an inference. Whoever has the
// operands of a step in registers before the step begins need not care. That, too, is chapter 05.

// [hide] How this rung is registered
void register_orders(lab::GemmLadder& ladder) {
  const auto add = [&](const char* variant, auto kernel) {
    add_rung(ladder, "thread_orders", "four ways to lay the warps over the tile", variant, kernel,
             square_blocks);
  };
  add("columns", thread_orders<Order::columns>);
  add("blocks", thread_orders<Order::blocks>);
  add("z-curve", thread_orders<Order::z_curve>);
  add("rows", thread_orders<Order::rows>);
}
// [/hide]

// [hide] The program
int main(int argc, char** argv) {
  lab::GemmLadder ladder(argc, argv);
  register_peers(ladder);          // rung 0, and the peer of all others
  register_tiles(ladder);          // 1. to 3. from one element a thread to 64
  register_unrolling(ladder);      // 4. unrolling
  ladder.add_with(register_maps);  // 5. who loads what
  register_quads(ladder);          // 5. float4, 6. registers
  register_orders(ladder);         // 7. the shape of a warp
  return ladder.run();
}
// [/hide]

// ## What to take along
//
// - A thread that computes TM x TN elements needs TM + TN floats for TM * TN multiply-adds. Make it
//   a square, and as large as the registers allow.
// - An array is in registers only if every index into it is known to the compiler. Unroll the loops
//   over it, and look at `localSizeBytes`.
// - Count wavefronts for each multiply-add of a warp. Below a quarter, shared memory is no longer
//   in the way.
// - Count instructions. What is not an `FFMA` takes the place of one.
// - Let all loads of a slice be under way before the first of them is waited for: fetch into
//   registers, then store. A loop whose turns the compiler cannot count prevents it.
// - A `float4` moves the same bytes with a quarter of the instructions. It needs an address that is
//   a multiple of 16 bytes, and so a second path for everything else.
// - Registers are dealt out to whole blocks. 128 for each of 256 threads, and two blocks fit; 129,
//   and one does, at two thirds of the speed.
// - Spills cost more than the occupancy that they buy.
// - Which lanes work next to each other decides what a warp reads together.
// - A few per cent may come from nothing but the compiler's order of instructions.
//
// ## What comes next
//
// We are at four times the rate of chapter 03, and at 64 % of cuBLAS. The loads of a step should
// take 4 wavefronts each, or fewer where lanes share an address. Instead B takes 8 with one order
// of the threads, and A takes 32 with another. These are *bank conflicts*, and they come from where
// the tiles put their elements. Chapter 05 takes the banks apart, changes the layout of the tiles,
// gives the warps tiles of their own, and then turns to what is left: the waiting between the
// barriers.
//
// ## What a library does further
//
// cuBLAS has larger tiles, 256 x 128 elements in a block and 128 in a thread, so that its
// computed-to-loaded ratio is 5.3 and not 4. It loads a slice while it multiplies the one before,
// and its registers are filled a step ahead, so that no `FFMA` waits for its operands. Its
// assembler also chooses *which* registers the operands are in: they have banks, too. And it has
// many kernels with different tiles and picks one by the shape of the matrices, as a tile of 128 x
// 128 is a waste for a C of 130 x 130.
//
// ## Possibilities for extension
//
// 1. Give each thread 4 x 16 elements instead of 8 x 8. What is the ratio, what does w become, and
//    which order of the threads suits it?
// 2. Write `fetch` and `put` as the one loop of section 3, from `threadIdx.x` on. Look at the
//    machine code of `thread_tile_2d` and at its registers, and let the clock say what it costs.
// 3. Set BK to 16. Each thread then loads two quads of each tile. What changes in the counts, and
//    what in the number of barriers?
// 4. Take the `#pragma unroll` away from the loop over `i` in `multiply_slice`. Does nvcc unroll it
//    all the same? `-Xptxas -v` tells.
// 5. Let `thread_tile_1d` compute 16 elements a thread. At which number does the gain end, and why?
// 6. Write an order with warps of 8 x 4 places. Predict the wavefronts of A and of B with the rule
//    of section 7, then let `./learn explain 04` count them.
// 7. `./learn run 04 --size 4095,4095,4095 --rung thread_tile_float4`: three rows of four are not
//    aligned. How much does the second path cost?
