// # Chapter 04: Register tiling
//
// Question: How does a thread get more out of each float that it loads from shared memory?
// Builds on: 03_shared_tiling
// Minutes: 40
// Afterwards: keep a tile of the result in registers and load several floats at once
// Kind: gemm
// Size gpu: 4096,4096,4096
// Size simulator: 200,120,60
// Sizes measured: 4096,4096,4096 1024,1024,1024 2048,2048,2048 8192,8192,8192
// Run: ./learn run 04
//   ./learn run 04 --rung cublas              the vendor's library, with which all are compared  [needs cublas]
//   ./learn run 04 --rung wide_reads          one element of C per thread: the last kernel of chapter 03
//   ./learn run 04 --rung thread_tile_1d      a thread computes 8 elements of one column
//   ./learn run 04 --rung thread_tile_2d      a thread computes 8 x 8 elements
//   ./learn run 04 --rung thread_map          who loads what, and who computes what, as a picture
//   ./learn run 04 --rung thread_tile_float4  four floats with each load and each store
//   ./learn run 04 --rung launch_bounds       the same kernel with room for 1 to 4 blocks on an SM
//   ./learn run 04 --rung unroll_steps        the same loops, rolled up and unrolled
//   ./learn run 04 --rung k_tile_depth        the same kernel with K-tiles of 16 and 32

#include <cuda_runtime.h>

#include <cstdio>
#include <functional>
#include <memory>
#include <numeric>
#include <vector>

#include "lab/gemm.h"
#include "lab/lab.h"
#include "lab/vectors.h"

using std::size_t;

// Chapter 03 ended with FMA units that idle five cycles out of six. A thread has one more memory, and
// it is the fastest: its registers, from which an FMA takes its three operands. An SM has 65,536
// registers, 256 KiB, more than its shared memory, and so far most of them hold nothing.
//
// In this chapter each thread computes more elements of C, so that a float loaded from shared
// memory into a register serves more than one FMA. Counts are for M = 200, N = 120, K = 60, the
// size that the simulator runs; times and rates are for 4096 unless stated otherwise.
//
// ## 1. Where we stand
//
// This is `wide_reads` of chapter 03, word for word: `shared_tiles`, but a thread reads four neighbours of A's row as one
// float4. All lanes want the same one, and such a broadcast takes 2 wavefronts.
//
// One number says whether shared memory limits such a kernel: **how many wavefronts of shared memory
// does one FMA of a warp take?** Call it w. An SM completes one wavefront per cycle, so it starts
// at most 1 / w warp-wide FMAs per cycle, 64 operations each. For 132 SMs at 1.98 GHz that is
//
//     132 * 1.98e9 * 64 / w = 16.7 / w TFLOP/s
//= 16.7 / w: 132 * 1.98 * 64 / 1000
//
//? w_wide_reads: What is w for the inner loop of `wide_reads`? It computes 57,344 warp-wide FMAs here.
//? answer: count("wide_reads", "shared_load_wavefronts") / 57344
//? unit: wavefronts per FMA
//? near: 5 %

/// C = alpha A B + beta C, one thread per element of C, from tiles of 32 x 32 in shared memory.
///
/// @param m, n, k        extents: C is m x n, A is m x k, B is k x n
/// @param alpha, beta    factors; where beta is 0, c is not read
/// @param a, lda         m x k floats in device memory, and floats from a row to the next
/// @param b, ldb         k x n floats, and the same
/// @param c, ldc         m x n floats, and the same; written
///
/// Launch: blocks of 32 x 32 threads; the grid covers C, x along its columns; 8 KiB of static shared
/// memory.
/// Requires: k at most 2^31 - 32; no particular alignment.
__global__ void __launch_bounds__(1024)
    wide_reads(int m, int n, int k, float alpha, const float* a, int lda, const float* b, int ldb,
               float beta, float* c, int ldc) {
  constexpr int T = 32;
  __shared__ __align__(16) float a_tile[T][T];  // (T rows of C, T of K)
  __shared__ float b_tile[T][T];                // (T of K, T columns of C)
  const int tx = threadIdx.x, ty = threadIdx.y;
  const int rowC = blockIdx.y * T + ty, colC = blockIdx.x * T + tx;

  float sum = 0;
  for (int k0 = 0; k0 < k; k0 += T) {
    const int rowA = rowC, colA = k0 + tx, rowB = k0 + ty, colB = colC;
    a_tile[ty][tx] = rowA < m && colA < k ? a[size_t(rowA) * lda + colA] : 0.0f;
    b_tile[ty][tx] = rowB < k && colB < n ? b[size_t(rowB) * ldb + colB] : 0.0f;
    __syncthreads();

    for (int l = 0; l < T; l += 4) {
      const float4 left = *reinterpret_cast<const float4*>(&a_tile[ty][l]);
      sum += left.x * b_tile[l][tx];
      sum += left.y * b_tile[l + 1][tx];
      sum += left.z * b_tile[l + 2][tx];
      sum += left.w * b_tile[l + 3][tx];
    }
    __syncthreads();
  }

  if (rowC >= m || colC >= n) return;
  float& out = c[size_t(rowC) * ldc + colC];
  out = beta == 0 ? alpha * sum : alpha * sum + beta * out;
}

// Four steps along K take one 128-bit load of A, a broadcast of 2 wavefronts, and four loads of B
// with 1 wavefront each: 6 for 4 FMAs, or 1.5. With the stores that fill the tiles w is 1.56, and
// the bound is 10.7 TFLOP/s. The clock says 8.5 TFLOP/s, where cuBLAS reaches 51.4 TFLOP/s.
//= 1.5: count("wide_reads", "shared_load_wavefronts") / 57344
//= w is 1.56: count("wide_reads", "shared_wavefronts") / 57344
//= 10.7 TFLOP/s: 132 * 1.98 * 64 / 1000 / (count("wide_reads", "shared_wavefronts") / 57344)
//= 8.5 TFLOP/s: rate("wide_reads") / 1000
//= 51.4 TFLOP/s: rate("cublas") / 1000
//
// An SM of the H200 has 128 FMA units, as every GPU of compute capability 8.6 and later. At 1.98 GHz
// that makes 66.9 TFLOP/s, and a loop of nothing but FMAs reaches more than 90 % of it. So shared
// memory is the bottleneck until w is down to a quarter. (Where an SM has 64 units, as in 7.x and 8.0,
// half suffices.)
//= 66.9 TFLOP/s: 132 * 128 * 2 * 1.98 / 1000
//= more than 90 %: 100 * limit("fma") / (132 * 128 * 2 * 1.98)
//= a quarter: 132 * 1.98 * 64 / (132 * 128 * 2 * 1.98)
//= half: 2 * 132 * 1.98 * 64 / (132 * 128 * 2 * 1.98)
//
// ## 2. A column for each thread
//
// All threads of a column of C multiply with the same element of B, and each loads it for itself.
// If *one* thread computes eight elements of the column, it loads that element once, keeps it in a
// register, and uses it eight times. It still needs eight elements of A, as eight threads did
// before. It takes four steps along K at a time, so that one float4 brings four elements of a row of A.
//
// The names are those of every library: a block computes BM x BN elements of C in K-tiles of depth
// BK, a thread computes TM of them. Here BM = BN = 64 and BK = 8. Then 64 * 64 / 8 = 512 threads
// have exactly one element of each tile to load, 64 * 8 = 512.
//
// A thread has three places now, and each has its own division of the thread's number: the element
// of A's tile that it loads, (rowA, colA); that of B's, (rowB, colB); and the first element of C
// that it computes, (rowC, colC).
//
// In the kernel below `acc` and `b_frag` are arrays, and they are to be registers. **A register has
// no address**: the instruction names it, and the name is fixed at compile time. So every index
// into such an array has to be known to the compiler, which it is once the loops are unrolled. That
// is what `#pragma unroll` is for. A loop over registers that stays rolled puts the array into
// {term}`local memory`, and costs a factor of 42 (section 7).
//= 42: rate("unroll_steps/the tile, 8 steps") / rate("unroll_steps/nothing")
//
//? w_1d: What is w for the inner loop of `thread_tile_1d`? There are 65,536 warp-wide FMAs.
//? answer: count("thread_tile_1d", "shared_load_wavefronts") / 65536
//? unit: wavefronts per FMA
//? near: 10 %
//? speed_1d: How many times as fast as `wide_reads` is `thread_tile_1d` at 4096?
//? answer: ms("wide_reads") / ms("thread_tile_1d")
//? unit: times as fast
//? near: 25 %

/// C = alpha A B + beta C; each thread computes 8 elements of a column of C.
///
/// Launch: blocks of 512 threads in one dimension, each for 64 x 64 elements of C; 4 KiB of static
/// shared memory. Arguments as for wide_reads.
/// Requires: k at most 2^31 - 8; no particular alignment.
__global__ void __launch_bounds__(512)
    thread_tile_1d(int m, int n, int k, float alpha, const float* a, int lda, const float* b,
                   int ldb, float beta, float* c, int ldc) {
  constexpr int BM = 64, BN = 64, BK = 8, TM = 8;
  __shared__ __align__(16) float a_tile[BM][BK];  // (BM, BK)
  __shared__ float b_tile[BK][BN];                // (BK, BN)
  const int t = threadIdx.x, row0 = blockIdx.y * BM, col0 = blockIdx.x * BN;
  const int rowA = t / BK, colA = t % BK;
  const int rowB = t / BN, colB = t % BN;
  const int rowC = t / BN * TM, colC = t % BN;
  static_assert(BM * BK == 512 && BK * BN == 512 && BM * BN / TM == 512, "one of each per thread");

  float acc[TM] = {};  // (TM, 1)
  const float* from_a = a + size_t(row0 + rowA) * lda + colA;
  const float* from_b = b + size_t(rowB) * ldb + col0 + colB;
  const bool in_a = row0 + rowA < m, in_b = col0 + colB < n;
  for (int k0 = 0; k0 < k; k0 += BK) {
    a_tile[rowA][colA] = in_a && k0 + colA < k ? *from_a : 0.0f;
    b_tile[rowB][colB] = in_b && k0 + rowB < k ? *from_b : 0.0f;
    from_a += BK;
    from_b += size_t(BK) * ldb;
    __syncthreads();

#pragma unroll
    for (int l = 0; l < BK; l += 4) {
      float b_frag[4];  // (4, 1): four steps along K
#pragma unroll
      for (int step = 0; step < 4; ++step) b_frag[step] = b_tile[l + step][colC];
#pragma unroll
      for (int i = 0; i < TM; ++i) {
        const float4 a_frag = *reinterpret_cast<const float4*>(&a_tile[rowC + i][l]);  // (1, 4)
        acc[i] += a_frag.x * b_frag[0];
        acc[i] += a_frag.y * b_frag[1];
        acc[i] += a_frag.z * b_frag[2];
        acc[i] += a_frag.w * b_frag[3];
      }
    }
    __syncthreads();
  }

#pragma unroll
  for (int i = 0; i < TM; ++i) {
    if (row0 + rowC + i >= m || col0 + colC >= n) break;
    float& out = c[size_t(row0 + rowC + i) * ldc + col0 + colC];
    out = beta == 0 ? alpha * acc[i] : alpha * acc[i] + beta * out;
  }
}

// Four steps along K take four loads of B with 1 wavefront each, and eight 128-bit broadcasts of A
// with 2 each: 20 wavefronts for 32 FMAs, or 0.625. With the stores w is 0.656 and the bound
// 25.5 TFLOP/s.
//= 0.625: count("thread_tile_1d", "shared_load_wavefronts") / 65536
//= w is 0.656: count("thread_tile_1d", "shared_wavefronts") / 65536
//= 25.5 TFLOP/s: 132 * 1.98 * 64 / 1000 / (count("thread_tile_1d", "shared_wavefronts") / 65536)
//
// Its bound is 2.4 times as high, and the clock says 16.6 TFLOP/s, twice the rate and 65 % of the
// bound. A K-tile of 8 is shallow: the block waits for its loads and at its barriers four times as
// often as before. How much of the missing third that explains is not measured here.
//= 2.4 times: (count("wide_reads", "shared_wavefronts") / 57344) / (count("thread_tile_1d", "shared_wavefronts") /
//=   65536)
//= 16.6 TFLOP/s: rate("thread_tile_1d") / 1000
//= twice: rate("thread_tile_1d") / rate("wide_reads")
//= 65 %: 100 * rate("thread_tile_1d") / (132 * 1.98 * 64 / (count("thread_tile_1d", "shared_wavefronts") / 65536))
//
// Would eight elements of a *row* do as well? That depends on which lanes compute which rows, and so
// on which words a warp reads at a time. Chapter 05 is about that.
//
// ## 3. A square for each thread
//
// Do both. A thread with 8 x 8 elements of C needs 8 floats of a column of A and 8 of a row of B in
// each step along K, and multiplies each with each. This is an {term}`outer product`:
//
//            b0  b1  b2  ...  b7
//      a0   +=  +=  +=       +=
//      a1   +=  +=  +=       +=        16 floats are read,
//      ...                             64 FMAs are done,
//      a7   +=  +=  +=       +=        and 64 sums stay in registers
//
// A matrix product is the sum of such outer products, one for each step along K. The inner product
// of the textbook is the same sum in another order. The order matters: an inner product uses each
// float that it reads once, an outer product of 8 and 8 uses it 8 times.
//
// With TM x TN elements a thread does TM * TN FMAs with TM + TN floats. That is the
// {term}`computed-to-loaded ratio`: 0.5 for 1 x 1, 0.89 for 8 x 1, 4 for 8 x 8. It grows with the
// side of the square, while the number of registers grows with its *area*. 16 x 16 would have a
// ratio of 8, but 256 sums, and a thread has at most 255 registers.
//
//? w_2d: What is w for an 8 x 8 tile, if each 128-bit load takes 4 wavefronts? Four steps along K are
//?   8 such loads of A, where a float4 has four steps of a row, and 8 of B, for 256 FMAs.
//? choices: 1 | 1/2 | 1/4 | 1/16
//? answer: {"1": (8 + 8) * 4 / 256 == 1,
//?   "1/2": (8 + 8) * 4 / 256 == 1 / 2,
//?   "1/4": (8 + 8) * 4 / 256 == 1 / 4,
//?   "1/16": (8 + 8) * 4 / 256 == 1 / 16}
//
// A wavefront delivers 128 bytes, and 32 lanes times 16 bytes are 512: 4 wavefronts for a load in
// which all lanes want different words. 16 loads make 64 wavefronts for 256 FMAs, just what the FMA
// units need, if no lanes get in each other's way.
//
// ### The kernel
//
// 256 threads with 64 elements each make a tile of 128 x 128. The innermost part is a function of
// its own, because the next kernels share it.

constexpr int BM = 128, BN = 128, TM = 8, TN = 8;  // of a block, of a thread
constexpr int THREADS = (BM / TM) * (BN / TN);     // 256
constexpr int ACROSS = BN / TN;                    // threads side by side along a row of C: 16

/// Reads a fragment of T neighbouring floats, as float4.
template <int T>
__device__ void load_fragment(float (&frag)[T], const float* from) {
  static_assert(T % 4 == 0, "a fragment is read as float4");
#pragma unroll
  for (int q = 0; q < T; q += 4)
    *reinterpret_cast<float4*>(frag + q) = *reinterpret_cast<const float4*>(from + q);
}

/// acc += a b^T, the outer product of two fragments: each with each.
__device__ void outer_product(float (&acc)[TM][TN], const float (&a)[TM], const float (&b)[TN]) {
#pragma unroll
  for (int i = 0; i < TM; ++i) {
#pragma unroll
    for (int j = 0; j < TN; ++j) acc[i][j] += a[i] * b[j];
  }
}

/// Adds the outer products of a K-tile to a thread's tile of C.
///
/// @param acc         TM x TN elements of C
/// @param a_tile      the K-tile of A in shared memory
/// @param b_tile      the K-tile of B in shared memory
/// @param rowC, colC  where the thread's tile begins in the block's
template <int BK>
__device__ void add_outer_products(float (&acc)[TM][TN], const float (&a_tile)[BM][BK],
                                   const float (&b_tile)[BK][BN], int rowC, int colC) {
  static_assert(BK % 4 == 0, "four steps along K are read at once");
#pragma unroll
  for (int l = 0; l < BK; l += 4) {
    // The fragments of A for four steps at once, since neighbours in its tile lie along K.
    alignas(16) float a_frag[4][TM], b_frag[TN];
#pragma unroll
    for (int i = 0; i < TM; ++i) {
      const float4 four = *reinterpret_cast<const float4*>(&a_tile[rowC + i][l]);
      a_frag[0][i] = four.x, a_frag[1][i] = four.y, a_frag[2][i] = four.z, a_frag[3][i] = four.w;
    }
#pragma unroll
    for (int step = 0; step < 4; ++step) {
      load_fragment(b_frag, &b_tile[l + step][colC]);
      outer_product(acc, a_frag[step], b_frag);
    }
  }
}

// Each thread now loads four elements of each tile, `stepA` or `stepB` rows apart. It loads all
// eight into registers first, and then stores all of them into shared memory.
//
//? stores_2d: How many sectors does a store request of `thread_tile_2d` touch? Each lane stores one float,
//?   and its neighbour's is 8 columns away.
//? answer: round(count("thread_tile_2d", "global_store_sectors") / count("thread_tile_2d", "global_store_requests"))
//? unit: sectors
//? near: 15 %
//? speed_2d: How many times as fast as `thread_tile_1d` is `thread_tile_2d` at 4096?
//? answer: ms("thread_tile_1d") / ms("thread_tile_2d")
//? unit: times as fast
//? near: 25 %
//? small_sizes: Which is faster at 1024?
//? choices: `thread_tile_1d` | `thread_tile_2d`
//? answer: {"thread_tile_1d": ms("thread_tile_1d", 1024) < ms("thread_tile_2d", 1024),
//?   "thread_tile_2d": ms("thread_tile_2d", 1024) < ms("thread_tile_1d", 1024)}

/// Writes alpha * sum + beta * out to `out`, which is not read where beta is 0.
__device__ void store(float& out, float alpha, float sum, float beta) {
  out = beta == 0 ? alpha * sum : alpha * sum + beta * out;
}

/// C = alpha A B + beta C; each thread computes 8 x 8 elements of C.
///
/// Launch: blocks of 256 threads in one dimension, each for 128 x 128 elements of C; 8 KiB of static
/// shared memory. Arguments as for wide_reads.
/// Requires: k at most 2^31 - 8; no particular alignment.
__global__ void __launch_bounds__(THREADS, 2)  // the 2 is for section 6
    thread_tile_2d(int m, int n, int k, float alpha, const float* a, int lda, const float* b,
                   int ldb, float beta, float* c, int ldc) {
  constexpr int BK = 8;
  constexpr int stepA = THREADS / BK, stepB = THREADS / BN;  // rows that 256 threads load at a time
  __shared__ __align__(16) float a_tile[BM][BK];             // (BM, BK)
  __shared__ __align__(16) float b_tile[BK][BN];             // (BK, BN)
  static_assert(BM % stepA == 0 && BK % stepB == 0, "each thread loads as much of a tile");
  const int t = threadIdx.x, row0 = blockIdx.y * BM, col0 = blockIdx.x * BN;
  const int rowA = t / BK, colA = t % BK;
  const int rowB = t / BN, colB = t % BN;
  const int rowC = t / ACROSS * TM, colC = t % ACROSS * TN;

  float acc[TM][TN] = {};  // (TM, TN)
  const float* from_a = a + size_t(row0 + rowA) * lda + colA;
  const float* from_b = b + size_t(rowB) * ldb + col0 + colB;
  for (int k0 = 0; k0 < k; k0 += BK) {
    // All loads from global memory before the first store that waits for one.
    float staged_a[BM / stepA], staged_b[BK / stepB];
#pragma unroll
    for (int i = 0; i < BM / stepA; ++i) {
      const bool inside = row0 + rowA + i * stepA < m && k0 + colA < k;
      staged_a[i] = inside ? from_a[size_t(i * stepA) * lda] : 0.0f;
    }
#pragma unroll
    for (int i = 0; i < BK / stepB; ++i) {
      const bool inside = k0 + rowB + i * stepB < k && col0 + colB < n;
      staged_b[i] = inside ? from_b[size_t(i * stepB) * ldb] : 0.0f;
    }
#pragma unroll
    for (int i = 0; i < BM / stepA; ++i) a_tile[rowA + i * stepA][colA] = staged_a[i];
#pragma unroll
    for (int i = 0; i < BK / stepB; ++i) b_tile[rowB + i * stepB][colB] = staged_b[i];
    from_a += BK;
    from_b += size_t(BK) * ldb;
    __syncthreads();

    add_outer_products(acc, a_tile, b_tile, rowC, colC);
    __syncthreads();
  }

#pragma unroll
  for (int i = 0; i < TM; ++i) {
    if (row0 + rowC + i >= m) break;
    float* const to = c + size_t(row0 + rowC + i) * ldc + col0 + colC;
#pragma unroll
    for (int j = 0; j < TN; ++j) {
      if (col0 + colC + j < n) store(to[j], alpha, acc[i][j], beta);
    }
  }
}

// The shared memory loads are 4,096, one for 16 FMAs. But they take 20,480 wavefronts, 5 each and
// not 4. Line by line, a load of A takes 2 wavefronts and a load of B takes 8: something is better
// than expected about the one and worse about the other. These are *bank conflicts*, the subject of
// chapter 05. With the stores w is 0.328, and the bound 51 TFLOP/s.
//= 4,096: count("thread_tile_2d", "shared_load_requests")
//= 20,480: count("thread_tile_2d", "shared_load_wavefronts")
//= 5 each: count("thread_tile_2d", "shared_load_wavefronts") / count("thread_tile_2d", "shared_load_requests")
//= w is 0.328: count("thread_tile_2d", "shared_wavefronts") / 65536
//= 51 TFLOP/s: 132 * 1.98 * 64 / 1000 / (count("thread_tile_2d", "shared_wavefronts") / 65536)
//
// Stores got worse. A request touches a sector for each active lane, where the kernels before have
// 4. A store happens once per element of C, while the loop runs K times, so it hardly matters at K =
// 4096. Section 5 fixes it.
//
// The clock says 31 TFLOP/s, 1.9 times the rate, and well below the bound. Neither shared memory nor
// the FMA units are at their limit, so what remains is latency: all threads of a block load, wait for
// their loads, wait at the barrier, compute, and wait at the barrier again. Meanwhile only the other
// block on the SM can compute. The sweep of BK in section 8 tests this.
//= 31 TFLOP/s: rate("thread_tile_2d") / 1000
//= 1.9 times: ms("thread_tile_1d") / ms("thread_tile_2d")
//
// A C of 1024 x 1024 has 64 tiles of 128 x 128, and an H200 has 132 SMs: more than half of them get
// no block at all. `thread_tile_1d` has 256 blocks and reaches 16.4 TFLOP/s, `thread_tile_2d`
// 10.1 TFLOP/s. No tile is best for all sizes, which is one reason why libraries have many kernels.
//= 64 tiles: 1024**2 / 128**2
//= 16.4 TFLOP/s: rate("thread_tile_1d", 1024) / 1000
//= 10.1 TFLOP/s: rate("thread_tile_2d", 1024) / 1000
//
// ### What global memory sees
//
// A block of BM x BN elements loads BM + BN floats for BM * BN FMAs in each step along K:
//
//     floats  =  M K ceil(N / BN)  +  K N ceil(M / BM)
//
// Each element of A is read ceil(N / BN) times, each element of B ceil(M / BM) times. For 32 x 32
// that is 16 FMAs for each float, for 64 x 64 it is 32, for 128 x 128 it is 64. At 4096
// `wide_reads` loads 17.2 GB and this kernel 4.3 GB.
//= 17.2 GB: 4 * 4096**3 / 16 / 1e9
//= 4.3 GB: 4 * 4096**3 / 64 / 1e9
//
//? oblong: A block of 64 x 256 has as many elements as one of 128 x 128. How many times as many floats
//?   does it load, for large square matrices?
//? choices: as many | 1.25 times | 1.5 times | twice
//? answer: {"as many": (64 + 256) / (128 + 128) == 1,
//?   "1.25 times": (64 + 256) / (128 + 128) == 1.25,
//?   "1.5 times": (64 + 256) / (128 + 128) == 1.5,
//?   "twice": (64 + 256) / (128 + 128) == 2}
//
// Per element of C and step along K it loads 1 / 64 + 1 / 256 floats instead of 2 / 128: 64 * 256 /
// (64 + 256) = 51 FMAs for each float, not 64. For a given area the square reads least. cuBLAS's
// 256 x 128 has 85, because it is larger.
//= 51: 64 * 256 / (64 + 256)
//= 85: 256 * 128 / (256 + 128)
//
// ```{drawing} walk
// ```
//
// ### What the machine code says (second reading)
//
// Wavefronts are one bound, instructions another. An SM issues four instructions per cycle, of any
// kind. With 128 FMA units all four can be FMAs, so each instruction that is not one takes the place of
// one. This is what a warp executes for a K-tile, in the machine code of nvcc 13.0 for an H200:
//
// | kernel | instructions | `FFMA` | loads from shared memory | the rest |
// |---|--:|--:|--:|--:|
// | `wide_reads` | 103 | 32 | 40 | 31 |
// | `thread_tile_1d` | 111 | 64 | 24 | 23 |
// | `thread_tile_2d` | 610 | 512 | 32 | 66 |
//= | 103 | 32 | 40 | 31 |: (sass("wide_reads", "instructions", "FFMA"), sass("wide_reads", "FFMA", "FFMA"),
//=   sass("wide_reads", "LDS", "FFMA"), sass("wide_reads", "instructions", "FFMA") - sass("wide_reads", "FFMA", "FFMA") -
//=   sass("wide_reads", "LDS", "FFMA"))
//= | 111 | 64 | 24 | 23 |: (sass("thread_tile_1d", "instructions", "FFMA"), sass("thread_tile_1d", "FFMA", "FFMA"),
//=   sass("thread_tile_1d", "LDS", "FFMA"), sass("thread_tile_1d", "instructions", "FFMA") - sass("thread_tile_1d",
//=   "FFMA", "FFMA") - sass("thread_tile_1d", "LDS", "FFMA"))
//= | 610 | 512 | 32 | 66 |: (sass("thread_tile_2d", "instructions", "FFMA"), sass("thread_tile_2d", "FFMA", "FFMA"),
//=   sass("thread_tile_2d", "LDS", "FFMA"), sass("thread_tile_2d", "instructions", "FFMA") - sass("thread_tile_2d",
//=   "FFMA", "FFMA") - sass("thread_tile_2d", "LDS", "FFMA"))
//
// In `thread_tile_2d` 84 % are FMAs. Between its barriers stand the reads and the FMAs, without an
// address to compute and without a jump, as in the inner loop of every fast kernel. The other
// instructions stand before the first barrier and bring in 8 floats. The bound by instructions is 56
// TFLOP/s.
//= 56 TFLOP/s: 132 * 4 * 1.98 * 64 / 1000 * sass("thread_tile_2d", "FFMA", "FFMA") / sass("thread_tile_2d",
//=   "instructions", "FFMA")
//= 84 %: 100 * sass("thread_tile_2d", "FFMA", "FFMA") / sass("thread_tile_2d", "instructions", "FFMA")
//
// Its order matters, too. Eight `LDG` come first and eight `STS` after them, so that the eight
// loads are in flight together. A single loop that loads and stores one element at a time,
//
//     for (int i = threadIdx.x; i < BM * BK; i += THREADS) a_tile[i / BK][i % BK] = ...;
//
// would wait eight times: nvcc does not know that the loop has exactly four iterations, leaves a
// jump after each, and no load passes a jump. *Count the iterations with a constant, and load
// before you store.* (The notes in `results/` have the times of that version: slower than the
// column.)
//
// ## 4. One thread, followed
//
// To fill the tiles, each thread of `thread_tile_2d` loads 8 floats one by one, each with a
// comparison of its row, a 64-bit address and a zero in case it is not there. A thread can move
// four neighbouring floats with one instruction instead, as a `float4`. Then 256 threads load each
// tile at once: A's is 128 x 8, two float4 to a row; B's is 8 x 128, 32 float4 to a row.
//
// Follow thread 18, in warp 0. It **loads** float4 number 18 of both tiles:
//
// - of A, rowA = 18 / 2 = 9 and colA = 18 % 2 * 4 = 0: the elements (9, 0) to (9, 3);
// - of B, rowB = 18 / 32 = 0 and colB = 18 % 32 * 4 = 72: the elements (0, 72) to (0, 75).
//
// It **computes** with what others have loaded. rowC = 18 / 16 * 8 = 8 and colC = 18 % 16 * 8 = 16:
// the square from (8, 16) to (15, 23). For that it reads rows 8 to 15 of A's tile and columns 16 to
// 23 of B's. Of its own 8 floats it uses the four of A, and none of B. Loading and computing are
// two independent maps from threads to elements; only the tile between them has to agree.
//
// In another block the same places move by the block's corner. In block (1, 2), `blockIdx.x` = 1 and `blockIdx.y` = 2, the
// tile of C begins at row 2 * 128 = 256 and column 1 * 128 = 128. There thread 18 loads A(265, k0) to A(265, k0 + 3) and
// B(k0, 200) to B(k0, 203), and computes rows 264 to 271 and columns 144 to 151 of C.
//
// The rung `thread_map` lets each thread write its number down for both maps. The drawing is made
// of what it wrote.

/// Each thread writes its number down where it loads and where it computes in thread_tile_float4.
///
/// @param loads_a   an integer for each float4 of A's tile, BM x 8 / 4; written
/// @param loads_b   an integer for each float4 of B's tile, 8 x BN / 4; written
/// @param computes  an integer for each thread's square of C's tile, 16 x 16; written
///
/// Launch: one block of 256 threads in one dimension.
__global__ void thread_map(int* loads_a, int* loads_b, int* computes) {
  const int t = threadIdx.x;
  const int rowA = t / 2, colA = t % 2 * 4;
  const int rowB = t / (BN / 4), colB = t % (BN / 4) * 4;
  const int rowC = t / ACROSS * TM, colC = t % ACROSS * TN;
  loads_a[rowA * 2 + colA / 4] = t;
  loads_b[rowB * (BN / 4) + colB / 4] = t;
  computes[rowC / TM * ACROSS + colC / TN] = t;
}

//? warp_rows: Warp 0 is threads 0 to 31. How many rows of C does it compute?
//? choices: 2 | 8 | 16 | 32
//? answer: 32 / (128 / 8) * 8
//
// Warp 0 has 2 rows of squares with 8 rows each, across the whole width of the tile. It loads 16
// rows of A's K-tile and one of B's.
//
// ## 5. Four floats at a time
//
// A float4 must lie at a *multiple of 16 bytes*. For matrices of any size that is not a given:
//
// - The matrix starts at such an address and its leading dimension is a multiple of 4. Then every row
//   starts at one, and so does every fourth float of it.
// - As above, but the row length is not a multiple of 4: the last float4 is partial.
// - The rows are not aligned: the matrix starts in the middle of a larger one, or its leading
//   dimension is odd. Then nothing can be loaded as a float4.
//
// The kernel asks once per matrix, `aligned16(a, lda)`. All threads get the same answer, so no warp
// diverges. `load4(from, there, aligned)` then takes one 128-bit load if the address is aligned and
// all four floats are there; otherwise it loads what is there one by one, and the rest is zero:
//
//     if (aligned && there >= 4) return *reinterpret_cast<const float4*>(from);
//     float4 four = {0, 0, 0, 0};
//     if (there > 0) four.x = from[0];
//     ...
//
// `update4` does the same for a store of alpha * sum + beta * C. Both stand in `lab/vectors.h`.
//
//? requests_float4: How many times as many load requests from global memory does `thread_tile_2d`
//?   make as the next kernel?
//? answer: count("thread_tile_2d", "global_load_requests") / count("thread_tile_float4", "global_load_requests")
//? unit: times as many
//? near: 15 %
//? sectors_float4: And sectors?
//? choices: four times as many | as many
//? answer: {"four times as many": 3.5 < count("thread_tile_float4", "global_load_sectors") /
//?   count("thread_tile_2d", "global_load_sectors") < 4.5,
//?   "as many": 0.8 < count("thread_tile_float4", "global_load_sectors") / count("thread_tile_2d",
//?   "global_load_sectors") < 1.2}

/// C = alpha A B + beta C; each thread computes 8 x 8 elements and loads and stores float4s.
///
/// @tparam BK      depth of a K-tile, a multiple of 8
/// @tparam blocks  how many blocks must fit on an SM (section 6)
///
/// Launch: blocks of 256 threads in one dimension, each for 128 x 128 elements of C; 1 KiB of static
/// shared memory for each step of BK. Arguments as for wide_reads.
/// Requires: k at most 2^31 - BK. A matrix whose rows all start at multiples of 16 bytes is accessed
/// as float4 but for the ends of its rows; any other one float by float.
template <int BK, int blocks = 2>
__global__ void __launch_bounds__(THREADS, blocks)
    thread_tile_float4(int m, int n, int k, float alpha, const float* a, int lda, const float* b,
                       int ldb, float beta, float* c, int ldc) {
  constexpr int stepA = THREADS / (BK / 4), stepB = THREADS / (BN / 4);  // rows at a time
  __shared__ __align__(16) float a_tile[BM][BK];                         // (BM, BK)
  __shared__ __align__(16) float b_tile[BK][BN];                         // (BK, BN)
  static_assert(BM % stepA == 0 && BK % stepB == 0, "each thread loads as much of a tile");
  const bool aligned_a = lab::aligned16(a, lda), aligned_b = lab::aligned16(b, ldb);
  const bool aligned_c = lab::aligned16(c, ldc);
  const unsigned t = threadIdx.x;
  const int row0 = blockIdx.y * BM, col0 = blockIdx.x * BN;
  const int rowA = t / (BK / 4), colA = t % (BK / 4) * 4;
  const int rowB = t / (BN / 4), colB = t % (BN / 4) * 4;
  const int rowC = t / ACROSS * TM, colC = t % ACROSS * TN;

  float acc[TM][TN] = {};  // (TM, TN)
  const float* from_a = a + size_t(row0 + rowA) * lda + colA;
  const float* from_b = b + size_t(rowB) * ldb + col0 + colB;
  for (int k_left = k; k_left > 0; k_left -= BK) {
    float4 staged_a[BM / stepA], staged_b[BK / stepB];
#pragma unroll
    for (int i = 0; i < BM / stepA; ++i) {
      const int there = row0 + rowA + i * stepA < m ? k_left - colA : 0;
      staged_a[i] = lab::load4(from_a + size_t(i * stepA) * lda, there, aligned_a);
    }
#pragma unroll
    for (int i = 0; i < BK / stepB; ++i) {
      const int there = rowB + i * stepB < k_left ? n - col0 - colB : 0;
      staged_b[i] = lab::load4(from_b + size_t(i * stepB) * ldb, there, aligned_b);
    }
#pragma unroll
    for (int i = 0; i < BM / stepA; ++i)
      *reinterpret_cast<float4*>(&a_tile[rowA + i * stepA][colA]) = staged_a[i];
#pragma unroll
    for (int i = 0; i < BK / stepB; ++i)
      *reinterpret_cast<float4*>(&b_tile[rowB + i * stepB][colB]) = staged_b[i];
    from_a += BK;
    from_b += size_t(BK) * ldb;
    __syncthreads();

    add_outer_products(acc, a_tile, b_tile, rowC, colC);
    __syncthreads();
  }

#pragma unroll
  for (int i = 0; i < TM; ++i) {
    if (row0 + rowC + i >= m) break;
    float* const to = c + size_t(row0 + rowC + i) * ldc + col0 + colC;
#pragma unroll
    for (int j = 0; j < TN; j += 4) {
      const float4 four = {acc[i][j], acc[i][j + 1], acc[i][j + 2], acc[i][j + 3]};
      lab::update4(to + j, n - col0 - colC - j, aligned_c, alpha, four, beta);
    }
  }
}

// 224 requests do the work of 880, and move the same sectors. That is what a float4 gives: *not
// fewer bytes but fewer instructions for them*, and four times as many bytes in flight per load. A
// K-tile takes 569 instructions instead of 610, and 90 % of them are FMAs. The stores gain as well:
// 16 bytes from each lane fill half of a sector instead of an eighth.
//= 224: count("thread_tile_float4", "global_load_requests")
//= 880: count("thread_tile_2d", "global_load_requests")
//= 569 instructions instead of 610: (sass("thread_tile_float4<8, 2>", "instructions", "FFMA"), sass("thread_tile_2d",
//=   "instructions", "FFMA"))
//= 90 %: 100 * sass("thread_tile_float4<8, 2>", "FFMA", "FFMA") / sass("thread_tile_float4<8, 2>", "instructions",
//=   "FFMA")
//
// Where rows are not aligned, the kernel is right and slower. With `--size 200,119,60` a row of B
// and a row of C have 119 floats, and both go one by one.
//
// **The clock.** 41 fewer instructions per K-tile are 7 %. The gain is more, 11 % at 4096
// and 12 % at 1024, where each block is alone on its SM and no other hides its loads. The rate of
// 34 TFLOP/s is 67 % of cuBLAS's.
//= 41 fewer: sass("thread_tile_2d", "instructions", "FFMA") - sass("thread_tile_float4<8, 2>", "instructions", "FFMA")
//= 7 %: 100 - 100 * sass("thread_tile_float4<8, 2>", "instructions", "FFMA") / sass("thread_tile_2d", "instructions",
//=   "FFMA")
//= 11 % at: 100 * (rate("thread_tile_float4") / rate("thread_tile_2d") - 1)
//= 12 % at: 100 * (rate("thread_tile_float4", 1024) / rate("thread_tile_2d", 1024) - 1)
//= 34 TFLOP/s: rate("thread_tile_float4") / 1000
//= 67 %: 100 * rate("thread_tile_float4") / rate("cublas")
//
// ## 6. Registers are a budget
//
// An SM has 65,536 registers, dealt out when a block is placed, to all of its threads at once. With
// 128 per thread a block of 256 takes 32,768, and two blocks fit exactly. With 129, rounded up to
// 136, a second block does not fit and nearly half of the registers lie idle.
//
// ```{drawing} budget
// ```
//
// So the compiler has to be told. `__launch_bounds__(256, blocks)` says that a block has at most
// 256 threads and that at least `blocks` of them must fit on an SM. From this follows how many
// registers a thread may use: 65,536 / 256 / blocks, rounded down to a multiple of 8, and never more than 255. Always state the first
// number: without it the compiler does not know how many threads a block has, and a large launch may
// fail with "too many resources requested". State the second where you know it.
//
// What the compiler cannot keep in registers it {term}`spills <spill>`: it writes it to local
// memory and reads it back. `nvcc -Xptxas -v` tells how many bytes.
//
//? best_bound: How many blocks per SM are fastest at 4096? With two, a thread may use 128 registers,
//?   with three 80, with four 64.
//? choices: 1 | 2 | 3 | 4
//? answer: {"1": ms("launch_bounds/blocks=1") < min(ms("launch_bounds/blocks=2"), ms("launch_bounds/blocks=3"),
//?   ms("launch_bounds/blocks=4")),
//?   "2": ms("launch_bounds/blocks=2") < min(ms("launch_bounds/blocks=1"), ms("launch_bounds/blocks=3"),
//?   ms("launch_bounds/blocks=4")),
//?   "3": ms("launch_bounds/blocks=3") < min(ms("launch_bounds/blocks=1"), ms("launch_bounds/blocks=2"),
//?   ms("launch_bounds/blocks=4")),
//?   "4": ms("launch_bounds/blocks=4") < min(ms("launch_bounds/blocks=1"), ms("launch_bounds/blocks=2"),
//?   ms("launch_bounds/blocks=3"))}

/// C = alpha A B + beta C by thread_tile_float4<8>, compiled for so many blocks on an SM.
///
/// @tparam blocks  how many
/// @param gemm     the product
///
/// Launch: as for thread_tile_float4; a lone block takes all shared memory that it can get.
template <int blocks>
void launch_bounds(const lab::Gemm& gemm) {
  constexpr int tiles = (BM + BN) * 8 * sizeof(float);
  const int most = lab::device_attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin);
  const size_t spare = blocks == 1 ? most - tiles : 0;
  lab::launch(thread_tile_float4<8, blocks>, {BM, BN, {THREADS}, spare}, gemm);
}

// (For one block nvcc 13.0 takes 128 registers, too, and a second block would fit. So that rung
// asks for more shared memory than it uses, as `blocks_per_sm` did in chapter 03.)
//
// With one block the SM idles whenever that block waits, and about a third of the speed is lost.
// With three or four there are more threads to hide the latency, but the 64 sums alone need 64
// registers: the kernel spills, and is several times slower. Occupancy is a means to hide latency.
// Here the spills that it costs add more latency than it hides.
//= a third: 1 - rate("launch_bounds/blocks=1") / rate("launch_bounds/blocks=2")
//
// ### What spilling costs (second reading)
//
// | blocks | registers | bytes spilled | instructions of a K-tile | local loads | local stores |
// |---|--:|--:|--:|--:|--:|
// | 1 | 128 | 0 | 568 | 0 | 0 |
// | 2 | 128 | 0 | 569 | 0 | 0 |
// | 3 | 80 | 908 | 985 | 185 | 180 |
// | 4 | 64 | 1436 | 1233 | 311 | 306 |
//= | 1 | 128 | 0 | 568 |: (1, sass("thread_tile_float4<8, 1>", "registers"), sass("thread_tile_float4<8, 1>", "spills"),
//=   sass("thread_tile_float4<8, 1>", "instructions", "FFMA"))
//= | 2 | 128 | 0 | 569 |: (2, sass("thread_tile_float4<8, 2>", "registers"), sass("thread_tile_float4<8, 2>", "spills"),
//=   sass("thread_tile_float4<8, 2>", "instructions", "FFMA"))
//= | 3 | 80 |: (3, sass("thread_tile_float4<8, 3>", "registers"))
//= | 985 | 185 | 180 |: (sass("thread_tile_float4<8, 3>", "instructions", "FFMA"), sass("thread_tile_float4<8, 3>", "LDL",
//=   "FFMA"), sass("thread_tile_float4<8, 3>", "STL", "FFMA"))
//= | 4 | 64 |: (4, sass("thread_tile_float4<8, 4>", "registers"))
//= | 1233 | 311 | 306 |: (sass("thread_tile_float4<8, 4>", "instructions", "FFMA"), sass("thread_tile_float4<8, 4>", "LDL",
//=   "FFMA"), sass("thread_tile_float4<8, 4>", "STL", "FFMA"))
//
// The first two differ by one instruction, and in whether one block runs on an SM or
// two. At 1024, where no SM has more than one, they are equally fast.
//
// | rates in TFLOP/s | 1024 | 2048 | 4096 | 8192 |
// |---|--:|--:|--:|--:|
// | 1 | 11.5 | 23.7 | 22.9 | 23.1 |
// | 2 | 11.3 | 34.2 | 34.5 | 34.0 |
// | 3 | 3.9 | 5.7 | 5.9 | 6.3 |
// | 4 | 2.3 | 3.2 | 3.3 | 3.3 |
//= | 11.5 | 23.7 | 22.9 | 23.1 |: rate("launch_bounds/blocks=1", 1024) / 1000, rate("launch_bounds/blocks=1", 2048) /
//=   1000, rate("launch_bounds/blocks=1", 4096) / 1000, rate("launch_bounds/blocks=1", 8192) / 1000
//= | 11.3 | 34.2 | 34.5 | 34.0 |: rate("launch_bounds/blocks=2", 1024) / 1000, rate("launch_bounds/blocks=2", 2048) /
//=   1000, rate("launch_bounds/blocks=2", 4096) / 1000, rate("launch_bounds/blocks=2", 8192) / 1000
//= | 3.9 | 5.7 | 5.9 | 6.3 |: rate("launch_bounds/blocks=3", 1024) / 1000, rate("launch_bounds/blocks=3", 2048) / 1000,
//=   rate("launch_bounds/blocks=3", 4096) / 1000, rate("launch_bounds/blocks=3", 8192) / 1000
//= | 2.3 | 3.2 | 3.3 | 3.3 |: rate("launch_bounds/blocks=4", 1024) / 1000, rate("launch_bounds/blocks=4", 2048) / 1000,
//=   rate("launch_bounds/blocks=4", 4096) / 1000, rate("launch_bounds/blocks=4", 8192) / 1000
//
// With spills the time grows by much more than the instructions, which are 1.7 and 2.2 times as
// many. L1 and shared memory are one piece of hardware with one data path, the one that this chapter
// has tried to relieve. And the local memory of all blocks on an SM, 276 and 616 KiB, does not fit
// into L1: in a trial with Nsight Compute 2.95 GB and 22 GB were read from DRAM. Which of the two
// costs more is not measured.
//= 1.7 and 2.2 times: (sass("thread_tile_float4<8, 3>", "instructions", "FFMA") / sass("thread_tile_float4<8, 2>",
//=   "instructions", "FFMA"), sass("thread_tile_float4<8, 4>", "instructions", "FFMA") /
//=   sass("thread_tile_float4<8, 2>", "instructions", "FFMA"))
//= 276 and 616 KiB: (3 * 256 * sass("thread_tile_float4<8, 3>", "stack") / 1024,
//=   4 * 256 * sass("thread_tile_float4<8, 4>", "stack") / 1024)
//
// ## 7. Unrolling (second reading)
//
// The rung is `thread_tile_2d` once more, with its inner loop written float by float, the way one
// would first do it. Its loops are unrolled to four degrees: nothing; the loops over the thread's
// tile; these and two of the eight steps along K; these and all eight steps.

/// thread_tile_2d, written float by float, with its loops unrolled to a chosen degree.
///
/// @tparam steps     how many of the 8 steps along K are unrolled
/// @tparam elements  how many of the 8 rows and of the 8 columns of a thread's tile are
///
/// Launch: as for thread_tile_2d.
/// Requires: as for thread_tile_2d.
template <int steps, int elements>
__global__ void __launch_bounds__(THREADS, 2)
    unroll_steps(int m, int n, int k, float alpha, const float* a, int lda, const float* b, int ldb,
                 float beta, float* c, int ldc) {
  constexpr int BK = 8;
  constexpr int stepA = THREADS / BK, stepB = THREADS / BN;
  __shared__ __align__(16) float a_tile[BM][BK];  // (BM, BK)
  __shared__ __align__(16) float b_tile[BK][BN];  // (BK, BN)
  const int t = threadIdx.x, row0 = blockIdx.y * BM, col0 = blockIdx.x * BN;
  const int rowA = t / BK, colA = t % BK;
  const int rowB = t / BN, colB = t % BN;
  const int rowC = t / ACROSS * TM, colC = t % ACROSS * TN;

  float acc[TM][TN] = {};  // in registers only where i and j are known to the compiler
  const float* from_a = a + size_t(row0 + rowA) * lda + colA;
  const float* from_b = b + size_t(rowB) * ldb + col0 + colB;
  for (int k0 = 0; k0 < k; k0 += BK) {
    float staged_a[BM / stepA], staged_b[BK / stepB];
#pragma unroll
    for (int i = 0; i < BM / stepA; ++i) {
      const bool inside = row0 + rowA + i * stepA < m && k0 + colA < k;
      staged_a[i] = inside ? from_a[size_t(i * stepA) * lda] : 0.0f;
    }
#pragma unroll
    for (int i = 0; i < BK / stepB; ++i) {
      const bool inside = k0 + rowB + i * stepB < k && col0 + colB < n;
      staged_b[i] = inside ? from_b[size_t(i * stepB) * ldb] : 0.0f;
    }
#pragma unroll
    for (int i = 0; i < BM / stepA; ++i) a_tile[rowA + i * stepA][colA] = staged_a[i];
#pragma unroll
    for (int i = 0; i < BK / stepB; ++i) b_tile[rowB + i * stepB][colB] = staged_b[i];
    from_a += BK;
    from_b += size_t(BK) * ldb;
    __syncthreads();

#pragma unroll steps
    for (int l = 0; l < BK; ++l) {
      alignas(16) float a_frag[TM], b_frag[TN];  // a column of A, a row of B
#pragma unroll elements
      for (int i = 0; i < TM; ++i) a_frag[i] = a_tile[rowC + i][l];
#pragma unroll elements
      for (int j = 0; j < TN; ++j) b_frag[j] = b_tile[l][colC + j];
#pragma unroll elements
      for (int i = 0; i < TM; ++i) {
#pragma unroll elements
        for (int j = 0; j < TN; ++j) acc[i][j] += a_frag[i] * b_frag[j];
      }
    }
    __syncthreads();
  }

#pragma unroll elements
  for (int i = 0; i < TM; ++i) {
#pragma unroll elements
    for (int j = 0; j < TN; ++j) {
      if (row0 + rowC + i < m && col0 + colC + j < n) {
        store(c[size_t(row0 + rowC + i) * ldc + col0 + colC + j], alpha, acc[i][j], beta);
      }
    }
  }
}

// In the source nothing changes that a memory would see: unrolling changes neither what is read nor
// what is computed. It changes the *instructions*.
//
// | unrolled | registers | local memory | instructions of the inner loop | FMAs in it |
// |---|--:|---|--:|--:|
// | nothing | 40 | 320 bytes | 9 | 1 |
// | the tile | 108 | 0 | 81 | 64 |
// | the tile, 2 steps | 112 | 0 | 147 | 128 |
// | the tile, 8 steps | 128 | 0 | 551, and no loop | 512 |
//= | nothing | 40 | 320 bytes: (sass("unroll_steps<1, 1>", "registers"), sass("unroll_steps<1, 1>", "stack"))
//= | the tile | 108 | 0 | 81 | 64 |: (sass("unroll_steps<1, 8>", "registers"), sass("unroll_steps<1, 8>", "stack"),
//=   sass("unroll_steps<1, 8>", "instructions", "loop"), sass("unroll_steps<1, 8>", "FFMA", "loop"))
//= steps | 112 | 0 | 147 | 128 |: (sass("unroll_steps<2, 8>", "registers"), sass("unroll_steps<2, 8>", "stack"),
//=   sass("unroll_steps<2, 8>", "instructions", "loop"), sass("unroll_steps<2, 8>", "FFMA", "loop"))
//= steps | 128 | 0 |: (sass("unroll_steps<8, 8>", "registers"), sass("unroll_steps<8, 8>", "stack"))
//
// In the first line the sums are not in registers. 320 bytes are 64 sums and 16 factors, and they
// lie in *local memory*, which is part of device memory, one piece for each thread, cached in L1.
// Each FMA reads its operands from there and writes its sum back. The program runs, gives the right
// result, and no tool complains.
//
// In the last line the compiler sees that four steps read four neighbours of A, and merges the
// loads, as it did in chapter 03. The simulator counts the 49,152 wavefronts that the source
// spells; the hardware has fewer, the more steps are unrolled. At the end of this page both stand
// side by side.
//= 49,152: count("unroll_steps/nothing", "shared_load_wavefronts")
//
// | rates in TFLOP/s | 1024 | 2048 | 4096 | 8192 |
// |---|--:|--:|--:|--:|
// | nothing | 0.72 | 1.0 | 0.75 | 0.82 |
// | the tile | 8.7 | 25.4 | 25.9 | 26.0 |
// | the tile, 2 steps | 9.1 | 27.5 | 28.8 | 29.2 |
// | the tile, 8 steps | 10.1 | 30.1 | 31.2 | 30.6 |
//= | 0.72 | 1.0 | 0.75 | 0.82 |: rate("unroll_steps/nothing", 1024) / 1000, rate("unroll_steps/nothing", 2048) / 1000,
//=   rate("unroll_steps/nothing", 4096) / 1000, rate("unroll_steps/nothing", 8192) / 1000
//= | 8.7 | 25.4 | 25.9 | 26.0 |: rate("unroll_steps/the tile", 1024) / 1000, rate("unroll_steps/the tile", 2048) /
//=   1000, rate("unroll_steps/the tile", 4096) / 1000, rate("unroll_steps/the tile", 8192) / 1000
//= | 9.1 | 27.5 | 28.8 | 29.2 |: rate("unroll_steps/the tile, 2 steps", 1024) / 1000, rate("unroll_steps/the tile,
//=   2 steps", 2048) / 1000, rate("unroll_steps/the tile, 2 steps", 4096) / 1000, rate("unroll_steps/the tile,
//=   2 steps", 8192) / 1000
//= | 10.1 | 30.1 | 31.2 | 30.6 |: rate("unroll_steps/the tile, 8 steps", 1024) / 1000, rate("unroll_steps/the tile,
//=   8 steps", 2048) / 1000, rate("unroll_steps/the tile, 8 steps", 4096) / 1000, rate("unroll_steps/the tile,
//=   8 steps", 8192) / 1000
//
// The first line is behind the last by a factor of 42 at 4096, more than the instructions account
// for. The local memory of a block is 80 KiB, and six blocks share an SM: 480 KiB do not fit into
// L1, and those of all SMs, 65 MB, do not fit into L2. A trial with Nsight Compute agrees: 61 GB were
// read from DRAM, where A and B are 0.13 GB (the notes have it).
//= 0.13 GB: 2 * 4 * 4096**2 / 1e9
//= 42: rate("unroll_steps/the tile, 8 steps") / rate("unroll_steps/nothing")
//= 80 KiB: 256 * 320 / 1024
//= 480 KiB: 6 * 256 * 320 / 1024
//= 65 MB: 132 * 6 * 256 * 320 / 1e6
//
// The last line and `thread_tile_2d` are the same work, with the same 512 `FFMA` and 32 `LDS.128`
// per K-tile, in another order and with other registers. Their rates differ by a few per cent: the
// compiler's order of instructions alone can be worth that much. A difference of this size between two
// kernels proves nothing about anything else that differs.
//= 512 `FFMA` and 32: (sass("unroll_steps<8, 8>", "FFMA", "FFMA"), sass("unroll_steps<8, 8>", "LDS.128", "FFMA"))
//
// Unrolling has a price: registers, and code. 512 `FFMA` are 8 KiB of instructions, which pass
// through a cache, too. Unroll loops whose indices name registers, always; unroll others if they
// are short, and measure.
//
// ## 8. Deeper K-tiles (second reading)
//
// The K-tiles so far are 8 deep. Chapter 03 tells what a deeper one changes: as many reads, fewer
// barriers, more loads in flight at each. What it costs is registers: until a thread may store what it
// has loaded, it keeps 2 float4 with BK = 8, 4 with 16, 8 with 32, and 64 of its 128 registers are
// sums. (Once they are stored, these registers are free for fragments.) With BK = 64 it would keep 16, which are the other 64
// registers, and nothing would be left for addresses. Shared memory grows from 8 to 32 KiB per block.
//
//? best_bk: Which depth is the fastest at 4096?
//? choices: 8 | 16 | 32
//? answer: {"8": ms("thread_tile_float4") < min(ms("k_tile_depth/BK=16"), ms("k_tile_depth/BK=32")),
//?   "16": ms("k_tile_depth/BK=16") < min(ms("thread_tile_float4"), ms("k_tile_depth/BK=32")),
//?   "32": ms("k_tile_depth/BK=32") < min(ms("thread_tile_float4"), ms("k_tile_depth/BK=16"))}

/// C = alpha A B + beta C by thread_tile_float4 with K-tiles of another depth.
///
/// @tparam BK   depth of a K-tile
/// @param gemm  the product
///
/// Launch: as for thread_tile_float4.
template <int BK>
void k_tile_depth(const lab::Gemm& gemm) {
  lab::launch(thread_tile_float4<BK>, {.rows = BM, .cols = BN, .threads = {THREADS}}, gemm);
}

// The deepest: 37.9 TFLOP/s with BK = 16 and 40.4 with 32, 17 % above BK = 8 and 79 % of cuBLAS.
//= 37.9 TFLOP/s: rate("k_tile_depth/BK=16") / 1000
//= 40.4 with: rate("k_tile_depth/BK=32") / 1000
//= 17 % above: 100 * (rate("k_tile_depth/BK=32") / rate("thread_tile_float4") - 1)
//= 79 % of cuBLAS: 100 * rate("k_tile_depth/BK=32") / rate("cublas")
//
// It is one kernel with one number changed, so what else changed can be listed:
//
// | | BK = 8 | BK = 32 |
// |---|--:|--:|
// | FMAs of a warp | 65,536 | 65,536 |
// | wavefronts of shared memory for an FMA | 0.328 | 0.328 |
// | instructions of a warp for a step along K | 71.1 | 71.6 |
// | pairs of barriers at K = 4096 | 512 | 128 |
// | float4 that a thread loads between two barriers | 2 | 8 |
//= | 0.328 | 0.328 |: (count("thread_tile_float4", "shared_wavefronts") / 65536, count("k_tile_depth/BK=32",
//=   "shared_wavefronts") / 65536)
//= | 71.1 | 71.6 |: (sass("thread_tile_float4<8, 2>", "instructions", "FFMA") / 8, sass("thread_tile_float4<32, 2>",
//=   "instructions", "FFMA") / 32)
//= | 512 | 128 |: (4096 / 8, 4096 / 32)
//
// The work is the same to within a per cent, so the gain is time that was spent waiting. How it divides
// between loads and barriers is not measured, and the best depth depends on the latencies of a GPU:
// sweep it on your own.
//
// Three bounds of this kernel have come up: the FMA units allow 66.9 TFLOP/s, the issue slots 60, and
// shared memory 51, the least. The kernel reaches 79 % of that one, with BK = 8 it was 68 %. So the next
// thing to change is w.
//= slots 60: 132 * 4 * 1.98 * 64 / 1000 * 64 / (sass("thread_tile_float4<32, 2>", "instructions", "FFMA") / 32)
//= 66.9 TFLOP/s: 132 * 128 * 2 * 1.98 / 1000
//= memory 51: 132 * 1.98 * 64 / 1000 / (count("k_tile_depth/BK=32", "shared_wavefronts") / 65536)
//= reaches 79 %: 100 * rate("k_tile_depth/BK=32") / (132 * 1.98 * 64 / (count("k_tile_depth/BK=32",
//=   "shared_wavefronts") / 65536))
//= was 68 %: 100 * rate("thread_tile_float4") / (132 * 1.98 * 64 / (count("thread_tile_float4",
//=   "shared_wavefronts") / 65536))
//
// ## What to remember
//
// - A thread with TM x TN elements needs TM + TN floats for TM * TN FMAs. Make it a square, as large
//   as the registers allow. The same holds for the block's tile and global memory.
// - An array is in registers only if the compiler knows every index into it: unroll the loops over it.
// - Count wavefronts per FMA of a warp. At a quarter, shared memory is no longer in the way.
// - Count instructions: where an SM has 128 FMA units, what is not an `FFMA` takes the place of one.
// - Deeper K-tiles cost registers and shared memory, and save waiting. Sweep the depth.
// - Load everything into registers, then store: all loads of a K-tile are in flight together.
// - What a thread loads and what it computes are two independent maps.
// - A float4 moves the same bytes with a quarter of the instructions. It needs 16-byte alignment, and
//   so a second path for everything else.
// - Registers are dealt out to whole blocks. Spills cost more than the occupancy that they buy.
//
// ## What comes next
//
// With K-tiles of 32 we are at nearly five times the rate of chapter 03 and at 79 % of cuBLAS. A load of
// B takes 8 wavefronts where 4 would do. These bank conflicts come from where the tiles put their
// elements and from how the lanes of a warp lie on the tile. Chapter 05 goes on from this kernel: it
// takes the banks apart, changes the layout of the tiles, and gives the warps tiles of their own.
// Chapter 11 is about the waiting between the barriers.
//= nearly five times: rate("k_tile_depth/BK=32") / rate("wide_reads")
//= 79 %: 100 * rate("k_tile_depth/BK=32") / rate("cublas")
//
// ## What a library does further
//
// cuBLAS has larger tiles, 256 x 128 elements per block and 128 per thread, so its
// computed-to-loaded ratio is 5.3 and not 4. It loads a K-tile while it multiplies the one before,
// and fills its registers a step ahead, so that no `FFMA` waits for its operands. Its assembler
// also chooses *which* registers hold the operands. And it has many kernels with different tiles
// and picks one by the shape of the matrices.
//= 5.3: 8 * 16 / (8 + 16)
//
// ## Possibilities for extension
//
// 1. Give each thread 4 x 16 elements instead of 8 x 8. What is the ratio, and what does w become?
// 2. Write the loads of `thread_tile_2d` as the one loop of section 3. Look at its machine code and
//    its registers, and let the clock say what it costs.
// 3. Give a block of 256 threads 256 x 128 elements of C. What is the read count, and how many
//    registers does a thread need?
// 4. Take the `#pragma unroll` away from the loop over `i` in `add_outer_products`. Does nvcc unroll
//    it all the same? `-Xptxas -v` tells.
// 5. Let `thread_tile_1d` compute 16 elements per thread. Where does the gain end, and why?
// 6. `./learn run 04 --size 4095,4095,4095 --rung thread_tile_float4`: three rows of four are not
//    aligned. How much does the second path cost?

/// The maps of thread_map, and the check of both against what section 4 says.
void add_map(lab::Ladder& ladder) {
  lab::DeviceBuffer<int> a(THREADS, "loads of A"), b(THREADS, "loads of B");
  lab::DeviceBuffer<int> c(THREADS, "squares of C");
  // Thread t has float4 number t of both tiles, and square t of C.
  const auto in_turn = [] __host__ __device__(size_t i) { return static_cast<int>(i); };
  const auto draw = [&] {
    const auto print = [](const char* what, const std::vector<int>& thread, int row, int per_row) {
      std::printf("  %s, row %3d:", what, row);
      for (int i = 0; i < per_row; ++i) {
        if (per_row > 16 && i == 8) std::printf(" ...");
        if (per_row > 16 && i >= 8 && i + 8 < per_row) continue;
        std::printf(" %3d", thread[static_cast<size_t>(row * per_row + i)]);
      }
      std::printf("\n");
    };
    std::printf(
        "  the thread that loads each float4, and the one that computes each 8 x 8 square\n");
    for (const int row : {0, 1, 9, 127}) print("A's tile", a.download(), row, 2);
    for (const int row : {0, 1, 7}) print("B's tile", b.download(), row, BN / 4);
    for (const int row : {0, 1, 2, 15}) print("C's squares", c.download(), row, ACROSS);
  };
  ladder.add(
      {.name = "thread_map",
       .launch = [&] { thread_map<<<1, THREADS>>>(a.data(), b.data(), c.data()); },
       .outputs = {lab::expect(a, in_turn), lab::expect(b, in_turn), lab::expect(c, in_turn)},
       .show = draw,
       .timed = false});
}

int main(int argc, char** argv) {
  return lab::run(argc, argv, [](lab::GemmLadder& ladder) {
    const lab::GemmLaunch element{32, 32, {32, 32}}, column{64, 64, {512}},
        square{BM, BN, {THREADS}};
    // Rungs that print their registers, on a GPU.
    const auto show = [&](const char* name, const char* variant, lab::GemmKernel kernel,
                          const lab::GemmLaunch& how, const auto& launch) {
      lab::GemmRung rung{.name = name, .launch = launch, .variant = variant};
      if (!ladder.ladder().on_simulator()) {
        rung.show = [&](const lab::Gemm&) { lab::print_registers(kernel, how); };
      }
      ladder.add(rung);
    };
    const auto add = [&](const char* name, const char* variant, lab::GemmKernel kernel,
                         const lab::GemmLaunch& how) {
      show(name, variant, kernel, how, lab::launcher(kernel, how));
    };
    add("wide_reads", "", wide_reads, element);
    add("thread_tile_1d", "", thread_tile_1d, column);
    add("thread_tile_2d", "", thread_tile_2d, square);
    ladder.add_with(add_map);
    add("thread_tile_float4", "", thread_tile_float4<8>, square);
    show("launch_bounds", "blocks=1", thread_tile_float4<8, 1>, square, launch_bounds<1>);
    show("launch_bounds", "blocks=2", thread_tile_float4<8, 2>, square, launch_bounds<2>);
    show("launch_bounds", "blocks=3", thread_tile_float4<8, 3>, square, launch_bounds<3>);
    show("launch_bounds", "blocks=4", thread_tile_float4<8, 4>, square, launch_bounds<4>);
    add("unroll_steps", "nothing", unroll_steps<1, 1>, square);
    add("unroll_steps", "the tile", unroll_steps<1, TM>, square);
    add("unroll_steps", "the tile, 2 steps", unroll_steps<2, TM>, square);
    add("unroll_steps", "the tile, 8 steps", unroll_steps<8, TM>, square);
    ladder.add("k_tile_depth", "BK=16", k_tile_depth<16>);
    ladder.add("k_tile_depth", "BK=32", k_tile_depth<32>);
  });
}
