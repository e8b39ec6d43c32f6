// # Chapter 03: Shared tiling
//
// Question: How does a block load each element once and use it many times?
// Builds on: 02_naive_gemm
// Minutes: 35
// Path: short
// Afterwards: stage tiles in shared memory, with the barriers that they need, for any size
// Kind: gemm
// Size gpu: 4096,4096,4096
// Size simulator: 124,88,56
// Sizes measured: 4096,4096,4096 1024,1024,1024 2048,2048,2048 8192,8192,8192
// Run: ./learn run 03
//   ./learn run 03 --rung cublas               the vendor's library, with which all are compared  [needs cublas]
//   ./learn run 03 --rung reverse_block        ten lines: a block reverses 256 floats in shared memory
//   ./learn run 03 --rung reverse_no_barrier   reads before the others have written  [raises shared-race]
//   ./learn run 03 --rung barrier_in_branch    a barrier that half of the block never reaches  [raises barrier-divergence]
//   ./learn run 03 --rung naive_along_columns  chapter 02's kernel: every thread loads for itself
//   ./learn run 03 --rung shared_tiles         a block loads tiles of A and B together, one K-tile after the other
//   ./learn run 03 --rung unfilled_edges       no zeros where a tile sticks out of its matrix  [raises uninitialized-shared]
//   ./learn run 03 --rung early_return         threads without an element of C leave first  [raises uninitialized-shared]
//   ./learn run 03 --rung no_second_barrier    the next tiles overwrite those still being read  [raises shared-race]
//   ./learn run 03 --rung wide_reads           four elements of A with one load from shared memory
//   ./learn run 03 --rung k_tile_depth         K-tiles 32 to 256 deep, in dynamic shared memory
//   ./learn run 03 --rung blocks_per_sm        the same kernel with fewer and fewer blocks on an SM

#include <cuda_runtime.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "lab/gemm.h"
#include "lab/lab.h"

using std::size_t;

// The naive kernel of chapter 02 executes two loads for each FMA, and nearly every load fetches
// what a neighbouring thread has just fetched. With tiling, the threads of a block load a piece of A
// and a piece of B together, each element once, and compute from there. They keep such a piece in
// {term}`shared memory`, a few hundred KiB beside the FMA units of each SM.
//
// ## 1. Ten lines of shared memory
//
// `__shared__` declares an array that exists once per block. All threads of the block read and
// write the same copy; another block has its own. It lives as long as the block does, and starts with
// whatever the previous block on that SM left in it. Unlike a cache, it holds what the program stores there.
//
// This kernel reverses each group of 256 floats: thread 0 loads element 0 and stores element 255, which
// another thread loaded.

/// Reverses each run of 256 floats; the last run may be shorter.
///
/// @param out  n floats in device memory; written
/// @param in   n floats
/// @param n    at least 1
///
/// Launch: blocks of 256 threads, one for each run.
__global__ void reverse_block(float* out, const float* in, int n) {
  __shared__ float run[256];  // one array for the whole block
  const int t = threadIdx.x, first = blockIdx.x * 256;
  const int count = min(256, n - first);  // floats in this run

  if (t < count) run[t] = in[first + t];
  __syncthreads();  // all of run is written
  if (t < count) out[first + t] = run[count - 1 - t];
}

// `__syncthreads()` is a {term}`barrier`: no thread of the block continues until all of them have
// arrived, and what they wrote to shared memory before it is visible to all of them after it. The
// warps of a block run at their own pace. Thread 0, in the first warp, reads what the last warp
// writes. Without the barrier it may read the array before the value is there.
//
// The next kernel lacks the line. On a GPU it may pass a thousand times. The simulator does not depend
// on luck: for each word of shared memory it records which threads accessed it since the last barrier.
// Accesses by two threads, at least one of them a write, are a {term}`race`, whichever came first.

/// reverse_block without its barrier: a mistake on purpose.
///
/// Launch: as for reverse_block.
__global__ void reverse_no_barrier(float* out, const float* in, int n) {
  __shared__ float run[256];
  const int t = threadIdx.x, first = blockIdx.x * 256;
  const int count = min(256, n - first);

  if (t < count) run[t] = in[first + t];
  if (t < count) out[first + t] = run[count - 1 - t];
}

// A barrier is for the whole block: **all threads of a block reach the same barrier, or none does.** Put
// it where no condition depends on the thread.
//
// ### A barrier in a branch (second reading)
//
// Suppose that half of the threads load two floats each, and wait for each other once they have loaded
// them:

/// reverse_block with a barrier in a branch: a mistake on purpose.
///
/// Launch: as for reverse_block.
__global__ void barrier_in_branch(float* out, const float* in, int n) {
  __shared__ float run[256];
  const int t = threadIdx.x, first = blockIdx.x * 256;
  const int count = min(256, n - first);

  if (t < 128) {
    if (t < count) run[t] = in[first + t];
    if (t + 128 < count) run[t + 128] = in[first + t + 128];
    __syncthreads();  // half of the block waits here
  }
  __syncthreads();  // the other half waits here
  if (t < count) out[first + t] = run[count - 1 - t];
}

// What a GPU does here is undefined: it may hang, or count the two barriers as one. The simulator names
// both lines.
//
//? barrier_rule: A block has 256 threads, and its kernel starts with `if (i >= n) return;`. In the
//?   last block 100 threads return there. What happens at a later `__syncthreads()`?
//? choices: the block hangs | the others wait for each other only | the barrier has no effect
//? answer: "the others wait for each other only"
//
// Since compute capability 7.0 the hardware does not wait for a thread that has exited, and the barrier
// still works for the rest. CUDA's guide says the same, so the simulator
// lets it pass too, but warns of `barrier-divergence`, and `./learn check` takes no warning. Whether the
// *kernel* still works is another matter: section 3 has one that does not.
//
// ## 2. A tile for each block
//
// The problem is that of chapter 02, C = alpha A B + beta C for any M, N, K and leading dimensions,
// and the ladder starts from its kernel. Counts in this chapter are for M = 124, N = 88, K = 56, the
// size that the simulator runs; times and rates are for 4096 unless stated otherwise.

/// C = alpha A B + beta C, one thread per element of C; threadIdx.x runs along a row. Chapter 02's.
///
/// @param m, n, k        extents: C is m x n, A is m x k, B is k x n
/// @param alpha, beta    factors; where beta is 0, c is not read
/// @param a, lda         m x k floats in device memory, and floats from a row to the next
/// @param b, ldb         k x n floats, and the same
/// @param c, ldc         m x n floats, and the same; written
///
/// Launch: blocks of any shape; grid.x * block.x >= n, grid.y * block.y >= m; no shared memory.
/// Requires: no particular alignment.
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

// Take a block of 32 x 32 threads and the tile of C that it computes. The threads of one row of the
// block need the same row of A; the threads of one column need the same column of B. So the block
// as a whole needs 32 rows of A and 32 columns of B.
//
//? reuse: If the block loads each of these elements once, how many times does it use each?
//? choices: once | 32 times | 64 times | 1,024 times
//? answer: 32 * 32 / 32
//
// An element of A is used by all 32 threads of its row, an element of B by all 32 of its column.
// For every step along K the block loads 64 elements and executes 1,024 FMAs: 1 element for 16
// FMAs, where the naive kernel loads 32.
//
// ### Cut along K
//
// The obstacle is room. At K = 4096, 32 rows and 32 columns are 1 MiB, and an SM of an H200 has
// 228 KiB of shared memory. There are two ways to make the pieces smaller:
//
// - **Cut C.** Smaller tiles of C need fewer rows of A (cut across) and fewer columns of B (cut
//   down). But then more blocks need each element, and each of them loads it again.
// - **Cut K.** The sum over all of K is the sum of the sums over pieces of K. A piece of 32 columns
//   of A and 32 rows of B is a {term}`K-tile`. All K-tiles add to the *same* 32 x 32 sums, which stay
//   in registers, one per thread. Once its products are added, the next K-tile takes its place.
//
// ```{drawing} cuts
// ```
//
// Cutting along K costs no extra load. Two tiles of 32 x 32 floats, 8 KiB, suffice for any K:
//
//     for each K-tile:
//       load a tile of A, 32 x 32, and a tile of B, 32 x 32, into shared memory
//       every thread adds 32 products to its sum
//
// ```{drawing} walk
// ```
//
// In the kernel below, keep the two jobs of a thread apart. It *computes* C(rowC, colC). It *loads*
// A(rowA, colA) and B(rowB, colB), and in both of them `tx`, in which the lanes of a warp differ,
// is part of the column. So both loads are coalesced. Of the 64 elements that a thread multiplies
// in a K-tile, it has loaded two; the other 62 come from its neighbours.
//
// ### What it reads
//
// The reads can be counted without running anything. A row of A is loaded by every block along N, a
// column of B by every block along M:
//
//     floats  =  M K ceil(N / T)  +  K N ceil(M / T)
//
// **Each element of A is read ceil(N / T) times, each of B ceil(M / T) times**, whatever the depth of
// the K-tile. The naive kernel reads 2 M N K floats, T times as many.
//
//? cut_c: Tiles of 16 instead of 32 cut C across and down. How many times as many floats do they
//?   read from global memory?
//? answer: count("shared_tiles/tile=16", "global_load_active_lanes") / count("shared_tiles/tile=32",
//?   "global_load_active_lanes")
//? unit: times as many
//? near: exact
//? requests: How many load requests does `shared_tiles` with tiles of 32 make to global memory? The
//?   naive kernel makes 41,664.
//? answer: count("shared_tiles/tile=32", "global_load_requests")
//? unit: requests
//? near: 10 %
//? shared_loads: And to shared memory, compared with the naive kernel's 41,664 global ones?
//? choices: about as many | half as many | a thirtieth
//? answer: {"about as many": 0.8 < count("shared_tiles/tile=32", "shared_load_requests") /
//?   count("naive_along_columns", "global_load_requests") < 1.25,
//?   "half as many": 0.4 < count("shared_tiles/tile=32", "shared_load_requests") / count("naive_along_columns",
//?   "global_load_requests") < 0.6,
//?   "a thirtieth": 0.02 < count("shared_tiles/tile=32", "shared_load_requests") / count("naive_along_columns",
//?   "global_load_requests") < 0.05}
//? tiled_speed: At 4096, how many times as fast as `naive_along_columns` are tiles of 32?
//? answer: ms("naive_along_columns") / ms("shared_tiles/tile=32")
//? unit: times as fast
//? near: factor 1.5

/// C = alpha A B + beta C from tiles in static shared memory, one thread per element of C.
///
/// Launch: blocks of T x T threads; the grid covers C, x along its columns; 8 T^2 bytes of static
/// shared memory. Arguments as for naive_along_columns.
/// Requires: k at most 2^31 - T; no particular alignment.
/// Source of the idea: the CUDA C++ Programming Guide, "Shared Memory".
template <int T>
__global__ void __launch_bounds__(T* T)
    shared_tiles(int m, int n, int k, float alpha, const float* a, int lda, const float* b, int ldb,
                 float beta, float* c, int ldc) {
  __shared__ float a_tile[T][T];  // (T rows of C, T of K)
  __shared__ float b_tile[T][T];  // (T of K, T columns of C)
  const int tx = threadIdx.x, ty = threadIdx.y;
  const int rowC = blockIdx.y * T + ty, colC = blockIdx.x * T + tx;  // what it computes

  float sum = 0;
  for (int k0 = 0; k0 < k; k0 += T) {
    // What it loads: one element of each tile. Outside of A and B that is zero.
    const int rowA = rowC, colA = k0 + tx, rowB = k0 + ty, colB = colC;
    a_tile[ty][tx] = rowA < m && colA < k ? a[size_t(rowA) * lda + colA] : 0.0f;
    b_tile[ty][tx] = rowB < k && colB < n ? b[size_t(rowB) * ldb + colB] : 0.0f;
    __syncthreads();  // the tiles are full

    for (int l = 0; l < T; ++l) sum += a_tile[ty][l] * b_tile[l][tx];
    __syncthreads();  // the tiles may be overwritten
  }

  if (rowC >= m || colC >= n) return;
  float& out = c[size_t(rowC) * ldc + colC];
  out = beta == 0 ? alpha * sum : alpha * sum + beta * out;
}

// **The reads.** Half the tile, twice the blocks along each side: 6 reads of each element of A
// instead of 3, 8 of B instead of 4. This is the cut across and down, and section 6 makes the cut
// along K: at depths from 32 to 256 the reads do not change at all.
//
// **The requests.** A warp is one row of the block, and each request covers one row of a tile. The
// tiles cover C with 4 x 3 blocks, and K with 2 K-tiles. The 124 rows of A have 2 requests in each
// of 3 blocks, the 56 rows of B have 3 in each of 4: 744 + 672 = 1,416. Rows of a tile outside of
// the matrix are never requested. In sectors the gain is less, 5,068 instead of 97,216, a
// nineteenth: the naive kernel's broadcasts of A cost 1 sector each and not 4.
//= 744: 124 * 2 * 3
//= 672: 56 * 3 * 4
//= 1,416: count("shared_tiles/tile=32", "global_load_requests")
//= 5,068: count("shared_tiles/tile=32", "global_load_sectors")
//= 97,216: count("naive_along_columns", "global_load_sectors")
//
// Shared memory gets 49,152 requests. Every load of the naive kernel is still there, and a few more, since
// the tiles cover 128 x 96 x 64. Tiling does not remove loads; it redirects them to shared memory.
//= 49,152: count("shared_tiles/tile=32", "shared_load_requests")
//
// **The clock.** The naive kernel takes 50 ms, tiles of 16 take 17.1 ms and tiles of 32 take 16.7
// ms. A twentieth of the sectors gives three times the speed, and part of the gain reflects a weak
// baseline: `naive_flat` of chapter 02 takes 26 ms.
//= 50 ms: ms("naive_along_columns")
//= 17.1 ms: ms("shared_tiles/tile=16")
//= 16.7 ms: ms("shared_tiles/tile=32")
//= three times: ms("naive_along_columns") / ms("shared_tiles/tile=32")
//= 26 ms: ms("02:naive_flat")
//
// Shared memory is no wider than L1: they are the same hardware, with the same bandwidth, and its latency is 23 cycles
// instead of 32. L1 alone would allow the naive kernel 8.4 TFLOP/s (chapter 02). It waits for what lies *beyond* L1: at
// 2048 a warp of the naive kernel waits 14.2 cycles for global loads per instruction issued, and a warp of the tiled
// kernel 3.1; the rate rises from 5.3 to 8.9 TFLOP/s.
//= 8.4 TFLOP/s: 132 * 1.98 / 2 * 64 / 1000
//= 23 cycles: ms("02:memory_latency/shared memory") * 1.98
//= 32: ms("02:memory_latency/L1 cache") * 1.98
//= 14.2 cycles: ncu("02:naive_along_columns/block=32x32",
//=   "smsp__average_warps_issue_stalled_long_scoreboard_per_issue_active.ratio", 2048)
//= 3.1: ncu("shared_tiles/tile=32", "smsp__average_warps_issue_stalled_long_scoreboard_per_issue_active.ratio", 2048)
//= 5.3: rate("naive_along_columns", 2048) / 1000
//= 8.9 TFLOP/s: rate("shared_tiles/tile=32", 2048) / 1000
//
// Global bandwidth is not the limit, nor was it before. At 4096 the kernel requests 17 GB of sectors, which L2
// delivers in 2.1 ms. Section 5 finds what takes longer.
//= 17 GB: 2 * 4 * 4096**3 / 32 / 1e9
//= 2.1 ms: 2 * 4 * 4096**3 / 32 / rate("02:memory_bandwidth/L2 cache") / 1e6
//
// ## 3. Zeros at the edges
//
// A tile may stick out of its matrix on every side. Below A and to the right of B that is harmless,
// because nothing computed there is stored. Along K it is not: each tile element is a factor in the
// sum of every element of C. There the kernel has to store *zeros*. What if it stores only where there
// is an element?

/// shared_tiles without the zeros: a mistake on purpose.
///
/// Launch: as for shared_tiles with T = 32.
__global__ void unfilled_edges(int m, int n, int k, float alpha, const float* a, int lda,
                               const float* b, int ldb, float beta, float* c, int ldc) {
  constexpr int T = 32;
  __shared__ float a_tile[T][T];  // (T rows of C, T of K)
  __shared__ float b_tile[T][T];  // (T of K, T columns of C)
  const int tx = threadIdx.x, ty = threadIdx.y;
  const int rowC = blockIdx.y * T + ty, colC = blockIdx.x * T + tx;

  float sum = 0;
  for (int k0 = 0; k0 < k; k0 += T) {
    const int rowA = rowC, colA = k0 + tx, rowB = k0 + ty, colB = colC;
    if (rowA < m && colA < k) a_tile[ty][tx] = a[size_t(rowA) * lda + colA];
    if (rowB < k && colB < n) b_tile[ty][tx] = b[size_t(rowB) * ldb + colB];
    __syncthreads();

    for (int l = 0; l < T; ++l) sum += a_tile[ty][l] * b_tile[l][tx];
    __syncthreads();
  }

  if (rowC >= m || colC >= n) return;
  float& out = c[size_t(rowC) * ldc + colC];
  out = beta == 0 ? alpha * sum : alpha * sum + beta * out;
}

// The demonstration runs it for a C of 32 x 32 and K = 8. The threads then read 24 columns of A's
// tile and 24 rows of B's that no thread has written, and the simulator says so. On a GPU they hold
// what the previous block left, which may well be zeros today.
//
//? leftovers: What would the simulator report for K = 40?
//? choices: uninitialized-shared | shared-race | nothing
//? answer: "nothing"
//
// The second K-tile has 8 new columns, and the other 24 still hold the *first* K-tile, written by
// this very block. They are multiplied a second time. The sum is wrong without a single illegal
// access; only a comparison with the right result catches it. That is why every rung here is
// verified at sizes that are no multiples of anything.
//
// Filling only one of the two tiles with zeros does not suffice, either: 0 x NaN is NaN, and
// leftovers can be anything.
//
// The guard comes last: threads without an element of C still load.
//
// ### Who may leave (second reading)
//
// Chapter 02 begins with `if (row >= m || col >= n) return;`. Here that line is a mistake, too.

/// shared_tiles with the guard at the top, as in the naive kernel: a mistake on purpose.
///
/// Launch: as for shared_tiles with T = 32.
__global__ void early_return(int m, int n, int k, float alpha, const float* a, int lda,
                             const float* b, int ldb, float beta, float* c, int ldc) {
  constexpr int T = 32;
  __shared__ float a_tile[T][T];  // (T rows of C, T of K)
  __shared__ float b_tile[T][T];  // (T of K, T columns of C)
  const int tx = threadIdx.x, ty = threadIdx.y;
  const int rowC = blockIdx.y * T + ty, colC = blockIdx.x * T + tx;
  if (rowC >= m || colC >= n) return;  // and who loads its elements?

  float sum = 0;
  for (int k0 = 0; k0 < k; k0 += T) {
    a_tile[ty][tx] = k0 + tx < k ? a[size_t(rowC) * lda + k0 + tx] : 0.0f;
    b_tile[ty][tx] = k0 + ty < k ? b[size_t(k0 + ty) * ldb + colC] : 0.0f;
    __syncthreads();

    for (int l = 0; l < T; ++l) sum += a_tile[ty][l] * b_tile[l][tx];
    __syncthreads();
  }
  float& out = c[size_t(rowC) * ldc + colC];
  out = beta == 0 ? alpha * sum : alpha * sum + beta * out;
}

// The barriers open, since exited threads are not waited for. But a thread without an element
// of C still has elements of A and B to load for the others. The demonstration has a C of 20 x 32:
// rows 20 to 31 of B's tile are missing. In a tiled kernel the guard comes last.
//
// ## 4. Two barriers
//
// `shared_tiles` has two barriers per K-tile, and they prevent two different mistakes. The first is
// that of section 1: no thread may read a tile before all threads have filled it. The second keeps
// a fast warp from overwriting the tile while a slow warp *still reads* it.

/// shared_tiles without the barrier after the products: a mistake on purpose.
///
/// Launch: as for shared_tiles with T = 32.
__global__ void no_second_barrier(int m, int n, int k, float alpha, const float* a, int lda,
                                  const float* b, int ldb, float beta, float* c, int ldc) {
  constexpr int T = 32;
  __shared__ float a_tile[T][T];  // (T rows of C, T of K)
  __shared__ float b_tile[T][T];  // (T of K, T columns of C)
  const int tx = threadIdx.x, ty = threadIdx.y;
  const int rowC = blockIdx.y * T + ty, colC = blockIdx.x * T + tx;

  float sum = 0;
  for (int k0 = 0; k0 < k; k0 += T) {
    const int rowA = rowC, colA = k0 + tx, rowB = k0 + ty, colB = colC;
    a_tile[ty][tx] = rowA < m && colA < k ? a[size_t(rowA) * lda + colA] : 0.0f;
    b_tile[ty][tx] = rowB < k && colB < n ? b[size_t(rowB) * ldb + colB] : 0.0f;
    __syncthreads();

    for (int l = 0; l < T; ++l) sum += a_tile[ty][l] * b_tile[l][tx];
  }

  if (rowC >= m || colC >= n) return;
  float& out = c[size_t(rowC) * ldc + colC];
  out = beta == 0 ? alpha * sum : alpha * sum + beta * out;
}

//? smallest_k: What is the smallest K for which this kernel can go wrong?
//? choices: 2 | 32 | 33 | 64
//? answer: 32 + 1
//
// With K up to 32 there is one K-tile, nothing is overwritten, and a test with small K passes. From
// K = 33 on, a warp that starts its second K-tile can overwrite the first. The finding names a
// *write* that races with a read; without the first barrier it would be a read that races with a
// write.
//
// ```{drawing} race
// ```
//
// Between two K-tiles with the same buffers both barriers are needed, and no third one. ("When in doubt, add another
// `__syncthreads()`" is bad advice: a barrier that orders nothing still makes all warps wait, and a race elsewhere stays.)
// With two or more pairs of buffers, used in turn, one barrier per K-tile suffices. Chapter 11 builds such a ring, to load
// later K-tiles during the computation.
//
// ## 5. The bound
//
// All the work is in one line now:
//
//     for (int l = 0; l < T; ++l) sum += a_tile[ty][l] * b_tile[l][tx];
//
// Shared memory has 32 {term}`banks <bank>`, each 4 bytes wide; neighbouring words lie in
// neighbouring banks. In one pass, a {term}`wavefront`, each bank delivers one word, to as many
// lanes as ask for that word. An SM completes one wavefront per cycle. For T = 32 a warp is a row of
// the block: its lanes share `ty` and differ in `tx`.
//
//? wavefronts: How many wavefronts do the two loads take for one FMA of a warp?
//? answer: count("shared_tiles/tile=32", "shared_load_wavefronts") / (4 * 3 * 32 * 64)
//? unit: wavefronts
//? near: exact
//
// - `a_tile[ty][l]` is the same word for all lanes: a broadcast, 1 wavefront for 4 bytes.
// - `b_tile[l][tx]` is 32 neighbouring words in 32 banks: 1 wavefront for 128 bytes.
//
// There is no bank conflict, and yet this is the limit: two wavefronts for each FMA of a warp.
//
//? bound: A K-tile of 32 takes a warp 64 wavefronts for its loads and 2 for its stores, in which it
//?   does 32 FMAs. An SM has FMA units for four warps per cycle. How busy can they be at most?
//? choices: 6 % | 12 % | 25 % | 50 %
//? answer: 100 * 32 / (4 * (64 + 2))
//
// The FMAs would take 8 cycles, the wavefronts take 66. In these 66 cycles a warp does 2 x 32 x 32
// = 2,048 operations:
//
//     132 * 1.98e9 * 2048 / 66 = 8.1 TFLOP/s
//= 8.1 TFLOP/s: 132 * 1.98 * 2048 / 66 / 1000
//
// That is an eighth of the 66.9 TFLOP/s that 128 FMA units per SM make at this clock, whatever the
// occupancy and the global memory do. It is no more than the naive kernel's bound, either, since L1
// and shared memory share one data path.
//= an eighth: 132 * 1.98 * 2048 / 66 / (132 * 128 * 2 * 1.98)
//= 66.9 TFLOP/s: 132 * 128 * 2 * 1.98 / 1000
//
// The clock says 8.2 TFLOP/s. nvcc merges four loads of A into one wide one, and with that the bound is
// 10.7 TFLOP/s; the second reading has the machine code, and a kernel that is written so.
//= 8.2 TFLOP/s: rate("shared_tiles/tile=32") / 1000
//= 10.7 TFLOP/s: 132 * 1.98 * 2048 / 50 / 1000
//
// ### What the clock says of the bound (second reading)
//
// The clock says 8.2 TFLOP/s at 4096 and 8.9 TFLOP/s at 2048. *A rate above a bound means that the
// bound is wrong.* The machine code shows why (`cuobjdump -sass`); this is how the loop begins:
//= 8.2 TFLOP/s: rate("shared_tiles/tile=32") / 1000
//= 8.9 TFLOP/s: rate("shared_tiles/tile=32", 2048) / 1000
//
//     LDS     R26, [R4]           b_tile[0][tx]
//     LDS.128 R12, [R7]           a_tile[ty][0] to a_tile[ty][3], into R12 to R15
//     LDS     R27, [R4+0x80]      b_tile[1][tx]
//     LDS     R29, [R4+0x100]     b_tile[2][tx]
//     LDS     R24, [R4+0x180]     b_tile[3][tx]
//     ...
//     FFMA    R12, R26, R12, R23  sum + a_tile[ty][0] * b_tile[0][tx]
//     FFMA    R12, R27, R13, R12    ... + a_tile[ty][1] * b_tile[1][tx]
//     FFMA    R29, R29, R14, R12    ... + a_tile[ty][2] * b_tile[2][tx]
//     FFMA    R24, R24, R15, R29    ... + a_tile[ty][3] * b_tile[3][tx]
//
// nvcc has unrolled the loop and merged four loads of A into one of 128 bits. The simulator counts
// what the source says, and does not know. The next kernel writes the wide load into the source, as
// a `float4`: four floats that one instruction moves, from an address that is a multiple of 16. A
// 128-bit load that all lanes make from one address takes 2 wavefronts. (Chapter 05 has the rule.)
//
//? wide_speed: What does the clock say of `wide_reads`, compared with `shared_tiles` of 32?
//? choices: a quarter faster | a few per cent faster | slower
//? answer: {"a quarter faster": 1.2 < ms("shared_tiles/tile=32") / ms("wide_reads") < 1.3,
//?   "a few per cent faster": 1.01 < ms("shared_tiles/tile=32") / ms("wide_reads") < 1.1,
//?   "slower": ms("shared_tiles/tile=32") / ms("wide_reads") < 0.99}

/// shared_tiles<32> with four elements of A in one load from shared memory.
///
/// Launch: blocks of 32 x 32 threads; the grid covers C, x along its columns; 8 KiB of static shared
/// memory. Arguments as for naive_along_columns.
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

// Four FMAs take 2 wavefronts for A and 4 for B, 6 where it was 8. A K-tile takes 48 and 2 for its
// stores, and the bound becomes
//
//     132 * 1.98e9 * 2048 / 50 = 10.7 TFLOP/s
//= 10.7 TFLOP/s: 132 * 1.98 * 2048 / 50 / 1000
//
// `wide_reads` takes 16.1 ms, `shared_tiles` 16.7 ms. The source now says what nvcc made of both:
// 36,864 wavefronts, in the simulator as on the hardware. Per K-tile they take 103 instructions and
// 99, with the same reads from shared memory. Where the 4 % come from is not measured; the order of
// the instructions differs. The rate is below the bound now, at 80 % of it.
//= 16.1 ms: ms("wide_reads")
//= 16.7 ms: ms("shared_tiles/tile=32")
//= 103 instructions and 99: (sass("wide_reads", "instructions", "FFMA"), sass("shared_tiles<32>", "instructions",
//=   "FFMA"))
//= the 4 %: 100 * (ms("shared_tiles/tile=32") / ms("wide_reads") - 1)
//= 36,864: count("wide_reads", "shared_load_wavefronts")
//= 80 %: 100 * rate("wide_reads") / (132 * 1.98 * 2048 / 50)
//
// ### What else could be the limit? (second reading)
//
// This is what an SM does for one warp and one K-tile:
//
// | what | how many | an SM does, per cycle | cycles |
// |---|--:|---|--:|
// | wavefronts of shared memory | 50 | 1 | 50 |
// | FMAs | 32 | 4 warps | 8 |
// | instructions of any kind | about 100 | 4 | 25 |
// | sectors from L2 | 8 | 1 | 8 |
//
// Shared memory takes by far the longest. The FMA units are busy for 8 cycles of 50, or 16 %. Neither
// occupancy nor a saved barrier lifts the kernel above that. The third line is a warning: without
// the limit of shared memory, the next bound is at 21 TFLOP/s. The *instructions that are not FMAs*
// have to go as well.
//= 16 %: 100 * 8 / 50
//= 21 TFLOP/s: 132 * 1.98 * 2048 / 25 / 1000
//
// What about the roofline? A float of 4 bytes serves T FMAs, so the arithmetic intensity is T / 4 operations per byte: 8
// for T = 32. If all of it came from memory, 4.26 TB/s would allow 34 TFLOP/s, half the machine. Only 8.4 GB of the 17
// do, which allows 70 TFLOP/s. The block's tile settles what global memory can do. The next chapter is about the tile of
// a thread, which settles what shared memory can do.
//= 8.4 GB: ncu("shared_tiles/tile=32", "dram__bytes_read.sum") / 1e9
//= 70 TFLOP/s: 2 * 4096**3 / ncu("shared_tiles/tile=32", "dram__bytes_read.sum") * limit("copy") / 1000
//= 4.26 TB/s: limit("copy") / 1000
//= 34 TFLOP/s: 8 * limit("copy") / 1000
//
// ## 6. How deep a K-tile?
//
// So far a K-tile is as deep as a tile of C is wide. The depth is free, and libraries call it BK. Deeper
// tiles outgrow *static* shared memory, whose size the compiler knows and which ends at 48 KiB.
// {term}`Dynamic shared memory <dynamic shared memory>` gets its size at the launch,
// `kernel<<<grid, block, bytes>>>`, and is one array, `extern __shared__`, which the kernel divides
// itself. The program has to ask for it with `cudaFuncSetAttribute`; an H200 gives a block up to 227 KiB.
//
//? depth_reads: By what factor does the number of global load requests change from BK = 32 to 256?
//? answer: count("k_tile_depth/BK=256", "global_load_requests") / count("k_tile_depth/BK=32", "global_load_requests")
//? unit: times as many
//? near: exact
//? depth_time: At 4096, by how many per cent is BK = 256 faster than BK = 32?
//? answer: 100 * (ms("k_tile_depth/BK=32") / ms("k_tile_depth/BK=256") - 1)
//? unit: %
//? near: factor 2

/// shared_tiles with K-tiles of any depth, in dynamic shared memory.
///
/// Launch: blocks of T x T threads; the grid covers C, x along its columns; at least 8 T BK bytes of
/// dynamic shared memory. Arguments as for naive_along_columns.
/// Requires: BK a multiple of T; k at most 2^31 - BK; no particular alignment.
template <int T, int BK>
__global__ void __launch_bounds__(T* T, 2048 / (T * T))
    k_tile_depth(int m, int n, int k, float alpha, const float* a, int lda, const float* b, int ldb,
                 float beta, float* c, int ldc) {
  static_assert(BK % T == 0);
  extern __shared__ __align__(16) float tiles[];
  float* const a_tile = tiles;           // (T, BK)
  float* const b_tile = tiles + T * BK;  // (BK, T)
  const int tx = threadIdx.x, ty = threadIdx.y;
  const int rowC = blockIdx.y * T + ty, colC = blockIdx.x * T + tx;

  float sum = 0;
  for (int k0 = 0; k0 < k; k0 += BK) {
    // Each thread loads BK / T elements of each tile.
    for (int part = 0; part < BK; part += T) {
      const int l = part + tx;
      a_tile[ty * BK + l] = rowC < m && k0 + l < k ? a[size_t(rowC) * lda + k0 + l] : 0.0f;
    }
    for (int part = 0; part < BK; part += T) {
      const int l = part + ty;
      b_tile[l * T + tx] = k0 + l < k && colC < n ? b[size_t(k0 + l) * ldb + colC] : 0.0f;
    }
    __syncthreads();

#pragma unroll 32
    for (int l = 0; l < BK; ++l) sum += a_tile[ty * BK + l] * b_tile[l * T + tx];
    __syncthreads();
  }

  if (rowC >= m || colC >= n) return;
  float& out = c[size_t(rowC) * ldc + colC];
  out = beta == 0 ? alpha * sum : alpha * sum + beta * out;
}

// The loop over K touches each element once, whatever the depth of a K-tile. What changes is the
// rest: two barriers per K-tile, 256 of them at K = 4096 and BK = 32, but 32 at BK = 256; 8 KiB of
// shared memory against 64 KiB; and the zeros at the end, because K is rounded up to whole K-tiles.
// With K = 56, BK = 256 multiplies four times as much as there is: 196,608 shared loads instead of
// 49,152.
//= 196,608: count("k_tile_depth/BK=256", "shared_load_requests")
//= 49,152: count("k_tile_depth/BK=32", "shared_load_requests")
//
// | BK | 32 | 64 | 128 | 256 |
// |---|--:|--:|--:|--:|
// | time in ms, at 4096 | 15.9 | 15.3 | 14.5 | 14.2 |
// | TFLOP/s at 4096 | 8.6 | 9.0 | 9.5 | 9.7 |
// | TFLOP/s at 2048 | 9.1 | 9.1 | 9.3 | 9.5 |
//= | 15.9 | 15.3 | 14.5 | 14.2 |: ms("k_tile_depth/BK=32"), ms("k_tile_depth/BK=64"), ms("k_tile_depth/BK=128"),
//=   ms("k_tile_depth/BK=256")
//= | 8.6 | 9.0 | 9.5 | 9.7 |: rate("k_tile_depth/BK=32") / 1000, rate("k_tile_depth/BK=64") / 1000,
//=   rate("k_tile_depth/BK=128") / 1000, rate("k_tile_depth/BK=256") / 1000
//= | 9.1 | 9.1 | 9.3 | 9.5 |: rate("k_tile_depth/BK=32", 2048) / 1000, rate("k_tile_depth/BK=64", 2048) / 1000,
//=   rate("k_tile_depth/BK=128", 2048) / 1000, rate("k_tile_depth/BK=256", 2048) / 1000
//
// The sweep gains 12 %. With BK = 32 a thread has two loads in flight, waits for both, and does so
// 128 times. With BK = 256 it does so 16 times, and in the machine code 13 of its 16 loads come before
// the first store that waits for one. At 2048, where L2 holds A and B and a load returns sooner, the
// sweep gains 5 %. Section 8 has what a profile says of loads and barriers.
//= 12 %: 100 * (ms("k_tile_depth/BK=32") / ms("k_tile_depth/BK=256") - 1)
//= 5 %: 100 * (ms("k_tile_depth/BK=32", 2048) / ms("k_tile_depth/BK=256", 2048) - 1)
//
// ## 7. How many blocks fit
//
// An SM holds up to 2048 threads, and the more there are, the more likely one is ready while others
// wait. The share of them that a kernel can have is its {term}`occupancy`. Three resources bound it,
// whichever runs out first: threads, registers, shared memory. An SM of an H200 has 228 KiB of that, and
// a block takes what it asks for and 1 KiB that the system reserves.
//
//? deepest: Blocks of 32 x 32 threads take 256 bytes of shared memory for each step of BK. How deep
//?   may a K-tile be, if two blocks are to fit on an SM?
//? choices: 224 | 448 | 512 | 896
//? answer: (228 / 2 - 1) * 1024 // 256 // 32 * 32
//
// Each of two blocks may have 228 / 2 - 1 = 113 KiB, which are 452 steps, so BK = 448. At BK = 512
// the second block stays out: half of the threads are lost for the sake of fewer barriers. With two
// blocks, one computes while the other waits at its barrier. With one, every barrier leaves the SM
// idle until the slowest warp arrives. The program asks
// `cudaOccupancyMaxActiveBlocksPerMultiprocessor` for each depth and prints the answer.
//
// ```{drawing} resident
// ```
//
// High occupancy is a means, not a goal. The kernels of the next chapters are faster at a quarter of
// it: each warp has more independent work while its loads are in flight.
//
// ## 8. What the warps wait for (second reading)
//
// Nsight Compute splits the cycles that a warp spends per instruction issued by what it waited for:
//
// | BK | 32 | 64 | 128 | 256 |
// |---|--:|--:|--:|--:|
// | for global loads, at 4096 (`long_scoreboard`) | 5.0 | 2.8 | 1.5 | 0.6 |
// | at a barrier, at 4096 (`barrier`) | 3.9 | 2.6 | 2.1 | 1.8 |
// | for shared memory's queue, at 4096 (`mio_throttle`) | 17.3 | 18.4 | 20.0 | 21.4 |
// | for global loads, at 2048 | 2.9 | 1.5 | 0.6 | 0.2 |
// | at a barrier, at 2048 | 2.9 | 2.2 | 2.2 | 2.2 |
// | for shared memory's queue, at 2048 | 18.1 | 18.7 | 20.2 | 21.1 |
//= | 5.0 | 2.8 | 1.5 | 0.6 |: ncu("k_tile_depth/BK=32",
//=   "smsp__average_warps_issue_stalled_long_scoreboard_per_issue_active.ratio"), ncu("k_tile_depth/BK=64",
//=   "smsp__average_warps_issue_stalled_long_scoreboard_per_issue_active.ratio"), ncu("k_tile_depth/BK=128",
//=   "smsp__average_warps_issue_stalled_long_scoreboard_per_issue_active.ratio"), ncu("k_tile_depth/BK=256",
//=   "smsp__average_warps_issue_stalled_long_scoreboard_per_issue_active.ratio")
//= | 3.9 | 2.6 | 2.1 | 1.8 |: ncu("k_tile_depth/BK=32",
//=   "smsp__average_warps_issue_stalled_barrier_per_issue_active.ratio"), ncu("k_tile_depth/BK=64",
//=   "smsp__average_warps_issue_stalled_barrier_per_issue_active.ratio"), ncu("k_tile_depth/BK=128",
//=   "smsp__average_warps_issue_stalled_barrier_per_issue_active.ratio"), ncu("k_tile_depth/BK=256",
//=   "smsp__average_warps_issue_stalled_barrier_per_issue_active.ratio")
//= | 17.3 | 18.4 | 20.0 | 21.4 |: ncu("k_tile_depth/BK=32",
//=   "smsp__average_warps_issue_stalled_mio_throttle_per_issue_active.ratio"), ncu("k_tile_depth/BK=64",
//=   "smsp__average_warps_issue_stalled_mio_throttle_per_issue_active.ratio"), ncu("k_tile_depth/BK=128",
//=   "smsp__average_warps_issue_stalled_mio_throttle_per_issue_active.ratio"), ncu("k_tile_depth/BK=256",
//=   "smsp__average_warps_issue_stalled_mio_throttle_per_issue_active.ratio")
//= | 2.9 | 1.5 | 0.6 | 0.2 |: ncu("k_tile_depth/BK=32",
//=   "smsp__average_warps_issue_stalled_long_scoreboard_per_issue_active.ratio", 2048), ncu("k_tile_depth/BK=64",
//=   "smsp__average_warps_issue_stalled_long_scoreboard_per_issue_active.ratio", 2048), ncu("k_tile_depth/BK=128",
//=   "smsp__average_warps_issue_stalled_long_scoreboard_per_issue_active.ratio", 2048), ncu("k_tile_depth/BK=256",
//=   "smsp__average_warps_issue_stalled_long_scoreboard_per_issue_active.ratio", 2048)
//= | 2.9 | 2.2 | 2.2 | 2.2 |: ncu("k_tile_depth/BK=32",
//=   "smsp__average_warps_issue_stalled_barrier_per_issue_active.ratio", 2048), ncu("k_tile_depth/BK=64",
//=   "smsp__average_warps_issue_stalled_barrier_per_issue_active.ratio", 2048), ncu("k_tile_depth/BK=128",
//=   "smsp__average_warps_issue_stalled_barrier_per_issue_active.ratio", 2048), ncu("k_tile_depth/BK=256",
//=   "smsp__average_warps_issue_stalled_barrier_per_issue_active.ratio", 2048)
//= | 18.1 | 18.7 | 20.2 | 21.1 |: ncu("k_tile_depth/BK=32",
//=   "smsp__average_warps_issue_stalled_mio_throttle_per_issue_active.ratio", 2048), ncu("k_tile_depth/BK=64",
//=   "smsp__average_warps_issue_stalled_mio_throttle_per_issue_active.ratio", 2048), ncu("k_tile_depth/BK=128",
//=   "smsp__average_warps_issue_stalled_mio_throttle_per_issue_active.ratio", 2048), ncu("k_tile_depth/BK=256",
//=   "smsp__average_warps_issue_stalled_mio_throttle_per_issue_active.ratio", 2048)
//
// Depth saves both waits, loads more than barriers. Most of the saved wait is not saved time,
// however: a warp that waits less for its loads reaches shared memory sooner and queues there. That
// queue is the bound of section 5, seen from a warp.
//
// The loads do come from memory at 4096. With BK = 32 the L2 hit rate is 39 %, and 8.4 GB come from
// DRAM: nearly the 8.6 GB of 128 rows of blocks that each read all of B. At 2048 it is 96 %, and
// DRAM delivers A and B once. Two rows of blocks run at a time and could share what they read of B;
// why they do not, these counters do not say.
//= 39 %: ncu("k_tile_depth/BK=32", "lts__t_sector_hit_rate.pct")
//= 8.4 GB: ncu("k_tile_depth/BK=32", "dram__bytes_read.sum") / 1e9
//= 8.6 GB: 4096 / 32 * 4096**2 * 4 / 1e9
//= 96 %: ncu("k_tile_depth/BK=32", "lts__t_sector_hit_rate.pct", 2048)
//
// ## 9. Fewer blocks on an SM (second reading)
//
// The rung launches `k_tile_depth` with tiles of 16 x 16 and BK = 16. Such a block takes 2 KiB, and
// 8 of them fill an SM. Then it asks for more shared memory than it uses, just enough that no more
// than 4, 2 or 1 of them fit. Nothing else changes: the same machine code, the same counts.

/// C = alpha A B + beta C by k_tile_depth<16, 16>, with at most so many blocks on an SM at a time.
///
/// @param gemm  the product
/// @param most  blocks on an SM; 0: as many as fit
///
/// Launch: blocks of 16 x 16 threads, each with an SM's shared memory / most.
void blocks_per_sm(const lab::Gemm& gemm, int most) {
  size_t bytes = 2 * 16 * 16 * sizeof(float);
  if (most > 0) {
    const int share = lab::device_attribute(cudaDevAttrMaxSharedMemoryPerMultiprocessor) / most -
                      lab::device_attribute(cudaDevAttrReservedSharedMemoryPerBlock);
    bytes = std::min(share, lab::device_attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin));
  }
  lab::launch(k_tile_depth<16, 16>, {16, 16, {16, 16}, bytes}, gemm);
}

// A prediction for `at most 1`: 256 threads are 8 warps, and the SM has nothing else. Each K-tile
// begins with a load, 300 cycles if it comes from L2. Then 8 warps make 16 FMAs each, with 26
// wavefronts, one per cycle: 208 cycles. Add 100 for addresses, stores and barriers, and a K-tile
// of 8,192 operations takes about 600 cycles:
//
//     132 * 1.98e9 * 8192 / 600 = 3.6 TFLOP/s
//
// Shared memory is busy for a third of it. So two blocks should do nearly twice as much, and four
// should reach the limit of shared memory, at 10 TFLOP/s.
//= 10 TFLOP/s: 132 * 1.98 * 1024 / 26 / 1000
//
// | blocks on an SM | 1 | 2 | 4 | 8 |
// |---|--:|--:|--:|--:|
// | predicted TFLOP/s | 3.6 | 7.1 | 10 | 10 |
// | at 4096 | 1.6 | 3.1 | 6.1 | 8.0 |
// | at 2048 | 2.7 | 4.6 | 7.2 | 8.1 |
//= | 1.6 | 3.1 | 6.1 | 8.0 |: rate("blocks_per_sm/at most 1") / 1000, rate("blocks_per_sm/at most 2") / 1000,
//=   rate("blocks_per_sm/at most 4") / 1000, rate("blocks_per_sm/all that fit") / 1000
//= | 2.7 | 4.6 | 7.2 | 8.1 |: rate("blocks_per_sm/at most 1", 2048) / 1000, rate("blocks_per_sm/at most 2", 2048) /
//=   1000, rate("blocks_per_sm/at most 4", 2048) / 1000, rate("blocks_per_sm/all that fit", 2048) / 1000
//
// The trend is right; the scale is not. At 4096 a lone block takes some 1,320 cycles for a K-tile, at 2048 some 780. Of
// the 16.1 cycles that a warp takes per instruction at 4096, it waits 8.0 for global loads and 3.0 at the barrier. L2
// has 39 % of what a lone block asks for at 4096, 96 % at 2048; the rest comes from memory, at 650 cycles instead of
// 280. And a warp whose elements have arrived still waits for those whose loads are late. A K-tile uses shared memory
// for 208 of 1,320 cycles, so more than six blocks are needed to keep it busy.
//= 39 %: ncu("blocks_per_sm/at most 1", "lts__t_sector_hit_rate.pct")
//= 96 %: ncu("blocks_per_sm/at most 1", "lts__t_sector_hit_rate.pct", 2048)
//= 16.1 cycles: ncu("blocks_per_sm/at most 1", "smsp__average_warp_latency_per_inst_issued.ratio")
//= waits 8.0: ncu("blocks_per_sm/at most 1",
//=   "smsp__average_warps_issue_stalled_long_scoreboard_per_issue_active.ratio")
//= and 3.0: ncu("blocks_per_sm/at most 1", "smsp__average_warps_issue_stalled_barrier_per_issue_active.ratio")
//= 1,320 cycles: round(ms("blocks_per_sm/at most 1") * 132 * 1.98e6 / 256**3, -1)
//= 780: round(ms("blocks_per_sm/at most 1", 2048) * 132 * 1.98e6 / 128**3, -1)
//
// How many resident warps are needed is Little's law again: latency times issue rate.
//
// ## What to remember
//
// - A tile of T x T elements of C uses each loaded element T times. Global reads fall by T.
// - Cut along K: all K-tiles add to the same sums, so the depth costs no read. Cut C, and reads grow.
// - What sticks out along K must be zero in both tiles. Threads without an element of C still load
//   for the others; the guard comes last.
// - Two barriers: no read before all have written, no write before all have read. All threads reach
//   a barrier, or none does.
// - Occupancy is bounded by threads, registers or shared memory, whichever runs out first.
// - A rate above your bound means that your bound is wrong. Look at the machine code.
// - Two operands from shared memory for each FMA leave the FMA units idle seven eighths of the time.
//= seven eighths: 1 - 32 / (4 * 64)
//
// ## What comes next
//
// Each thread computes one element of C, so every value it loads from shared memory is used once. A
// thread that computes 8 x 8 elements needs 8 values of A and 8 of B for 64 FMAs: 16 loads where it
// takes 128 now. Chapter 04 applies the idea of this chapter one level up: load from shared memory
// into registers once, and use it there many times.
//
// ## What a library does further
//
// At 4096 cuBLAS runs `sm80_xmma_gemm` with a tile of 256 x 128 elements of C per block. Its
// K-tiles are only 8 deep, and three of them are in shared memory at a time, two being loaded while
// one is multiplied. With 254 registers a thread, one block of 8 warps fits on an SM: its
// occupancy is 12.5 %. Yet its FMA units are busy for 77 % of the time. Many warps are one way to
// hide latency; independent work within a warp is another, and chapter 10 measures both.
//= because independent work within a warp is another: rate("10:hide_latency/warps=1, chains=4") >
//=   3 * rate("10:hide_latency/warps=1, chains=1")
//
// ## Possibilities for extension
//
// 1. Swap the indices of the load: let a thread load A(row0 + tx, k0 + ty) into `a_tile[tx][ty]`.
//    Predict the sectors and the bank conflicts of the store, then let `./learn explain 03` count.
// 2. Let a block of 32 x 32 threads compute 32 x 64 elements, two per thread. How many wavefronts
//    does an FMA take now? What does the bound say?
// 3. Try blocks of 16 x 64 threads, with tiles to match. How many floats are read, by the formula of
//    section 2, and why is a square the best shape?
// 4. Put two pairs of tiles into `shared_tiles` and take one of the barriers out. Which one? Let the
//    simulator check your answer.
// 5. Take the `#pragma unroll 32` out of `k_tile_depth`, then write `#pragma unroll 1`. What becomes
//    of the `LDS.128`, and of the time?

/// The rungs of section 1, with a last run that is not full.
void add_reversals(lab::Ladder& ladder) {
  const lab::Input<float> in(1000, lab::RandomValue<float>{ladder.seed()});
  lab::DeviceBuffer<float> out(in.size(), "out");
  const auto x = in.view();
  const auto reversed = [=] __host__ __device__(size_t i) {
    const size_t first = i / 256 * 256, end = first + 256 < 1000 ? first + 256 : 1000;
    return x[first + (end - 1 - i)];
  };
  const auto launch = [&](auto* kernel) { kernel<<<4, 256>>>(out.data(), in.data(), 1000); };
  const lab::Problem reversal(ladder, {.outputs = {lab::expect(out, reversed)}, .timed = false});
  reversal.add("reverse_block", [&] { launch(reverse_block); });
  reversal.demonstrate("reverse_no_barrier", [&] { launch(reverse_no_barrier); });
  reversal.demonstrate("barrier_in_branch", [&] { launch(barrier_in_branch); });
}

/// A demonstration on a small product of its own.
auto on_product(lab::GemmKernel kernel, int m, int n, int k) {
  return [=](const lab::Gemm&) {
    lab::GemmProblem problem({.m = m, .n = n, .k = k}, 1);
    problem.prepare();
    lab::launch(kernel, {32, 32, {32, 32}}, problem.gemm());
  };
}

int main(int argc, char** argv) {
  return lab::run(argc, argv, [](lab::GemmLadder& ladder) {
    const lab::GemmLaunch tile16{16, 16, {16, 16}}, tile32{32, 32, {32, 32}};

    ladder.add_with(add_reversals);
    ladder.add("naive_along_columns", naive_along_columns, tile32);
    ladder.sweep("shared_tiles",
                 {{"tile=16", shared_tiles<16>, tile16}, {"tile=32", shared_tiles<32>, tile32}});
    ladder.demonstrate("unfilled_edges", on_product(unfilled_edges, 32, 32, 8));
    ladder.demonstrate("early_return", on_product(early_return, 20, 32, 64));
    ladder.demonstrate("no_second_barrier", on_product(no_second_barrier, 32, 32, 64));
    ladder.add("wide_reads", wide_reads, tile32);

    const auto add_depth = [&](int BK, lab::GemmKernel kernel) {
      const lab::GemmLaunch how{32, 32, {32, 32}, 2 * 32 * BK * sizeof(float)};
      const auto print_fit = [=](const lab::Gemm&) {
        int fit = 0;
        CUDA_CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&fit, kernel, 1024, how.shared));
        std::printf("  %zu KiB of shared memory a block: %d blocks fit on an SM\n",
                    how.shared / 1024, fit);
      };
      ladder.add({.name = "k_tile_depth",
                  .launch = lab::launcher(kernel, how),
                  .variant = "BK=" + std::to_string(BK),
                  .show = print_fit});
    };
    add_depth(32, k_tile_depth<32, 32>);
    add_depth(64, k_tile_depth<32, 64>);
    add_depth(128, k_tile_depth<32, 128>);
    add_depth(256, k_tile_depth<32, 256>);

    for (const int most : {1, 2, 4, 0}) {
      ladder.add("blocks_per_sm", most == 0 ? "all that fit" : "at most " + std::to_string(most),
                 [=](const lab::Gemm& gemm) { blocks_per_sm(gemm, most); });
    }
  });
}
