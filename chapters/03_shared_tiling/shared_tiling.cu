// # Chapter 03: Shared tiling
//
// Question: How does a block fetch each element once and use it many times?
// Builds on: 02_naive_gemm
// Size gpu: 4096,4096,4096
// Size simulator: 128,96,64
// Sizes measured: 4096,4096,4096 1024,1024,1024 2048,2048,2048 8192,8192,8192
// Run: ./learn run 03
//   ./learn run 03 --rung cublas               the vendor's library: what all others are compared with
//   ./learn run 03 --rung naive_along_columns  the last kernel of chapter 02: every thread fetches for itself
//   ./learn run 03 --rung shared_tiles         a block fetches tiles of A and B together, slice by slice along K
//   ./learn run 03 --rung unfilled_edges       no zeros where a tile sticks out: leftovers are multiplied
//   ./learn run 03 --rung no_first_barrier     computing before the tiles are full
//   ./learn run 03 --rung no_second_barrier    filling the tiles again while others still compute
//   ./learn run 03 --rung sliced_tiles         dynamic shared memory, and slices of any depth
//   ./learn run 03 --rung blocks_per_sm        the same kernel with fewer and fewer blocks on an SM
//   ./learn run 03 --rung wide_reads           four elements of A with one load from shared memory

#include <cuda_runtime.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>

#include "lab/gemm.h"
#include "lab/lab.h"

// The naive kernel of chapter 02 has every thread fetch what it needs by itself: two loads for each
// multiply-add. Nearly all of them fetch what a neighbour has just fetched. The threads of a block
// could share: fetch a piece of A and a piece of B together, each element once, keep it where all
// of them can reach it, and compute from there. The place for it is *shared memory*, a few hundred
// KiB beside the multiply-adders of each SM, which belong to a block for as long as it lives. A
// cache would be filled and emptied by rules of its own. This memory holds what the program puts
// there, for as long as the program wants it.
//
// The problem is that of chapter 02, C = alpha A B + beta C, with any M, N, K and leading
// dimensions, and so is the base line: the ladder starts with `naive_along_columns`, unchanged. The
// counts below are for M = 128, N = 96, K = 64, the size that the simulator runs by default; times
// are for the size that stands beside them.

// [hide] How a kernel is launched, and the kernel of chapter 02
/// Hands a product's arguments to a kernel with square blocks, one thread an element of C. A grid has
/// at most 65,535 blocks along y: taller matrices are done in slices of rows.
/// \param tile threads of a block along x and along y
/// \param shared bytes of dynamic shared memory of a block
template <class Kernel>
void launch_tiles(Kernel kernel, unsigned tile, const lab::Gemm& gemm, std::size_t shared = 0) {
  lab::for_row_slices(gemm, static_cast<int>(tile), [&](const lab::Gemm& g) {
    const dim3 grid(lab::ceil_div(static_cast<unsigned>(g.n), tile),
                    lab::ceil_div(static_cast<unsigned>(g.m), tile));
    kernel<<<grid, dim3(tile, tile), shared>>>(g.m, g.n, g.k, g.alpha, g.a, g.lda, g.b, g.ldb,
                                               g.beta, g.c, g.ldc);
  });
}

/// C = alpha A B + beta C, one thread an element of C; threadIdx.x runs along a row of C. Chapter 02
/// explains it.
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

/// Threads of a block for a square tile.
constexpr unsigned square(unsigned tile) { return tile * tile; }

// What only the GPU build has: shared_tiling_peers.cu, or its stub, which says so.
void register_peers(lab::GemmLadder& ladder);
// [/hide]

// ## 1. What a block has in common
//
// Take a block of 32 x 32 threads and the tile of C that it computes. All threads of one row of the
// block need the same row of A; all threads of one column need the same column of B. So the block
// as a whole needs 32 rows of A and 32 columns of B, 2 * 32 K elements, and it executes 32 * 32 * K
// multiply-adds with them: each element is used 32 times. If the block fetched each of them once,
// it would load 1 element for 16 multiply-adds where the naive kernel loads 32.
//
// There are two obstacles. The first is room: at K = 4096, 32 rows and 32 columns are 1 MiB, and
// the shared memory of an SM of an H200 has 228 KiB. The way out is to *cut along K*. The sum over
// all of K is the sum of the sums over slices of K:
//
//     for each slice of 32 columns of A and 32 rows of B:
//       fetch a tile of A, 32 x 32, and a tile of B, 32 x 32, into shared memory
//       every thread adds 32 products to its sum
//
// Every slice adds to the *same* 32 x 32 sums, and these stay in registers, one in each thread,
// until the walk is over. Nothing of a slice is needed again by this block once its products are
// added, so the next slice may take its place: two tiles are enough, 8 KiB, whatever K is. Had we
// cut the tile of C into smaller ones instead, the tiles would be smaller, too, but every element
// would be fetched by more blocks. Cutting along K costs no read at all; section 5 puts that to the
// test.
//
// The second obstacle is that the threads of a block do not run in step. Section 3 is about that.
//
// **Predict** for the kernel below, from M = 128, N = 96, K = 64 and tiles of 32: how many load
// requests does it make from global memory, against the 49,152 of the naive kernel? How many from
// shared memory?

/// C = alpha A B + beta C from tiles in static shared memory, one thread an element of C.
///
/// @param m, n, k        extents: C is m x n, A is m x k, B is k x n
/// @param alpha, beta    factors; where beta is 0, c is not read
/// @param a, lda         m x k floats in device memory, and floats from a row to the next
/// @param b, ldb         k x n floats, and the same
/// @param c, ldc         m x n floats, and the same; written
///
/// Launch: blocks of tile x tile threads; the grid covers C, x along its columns; 8 tile^2 bytes of
/// static shared memory.
/// Requires: nothing of alignment; at most 65,535 blocks along y, so the host launches slices of
/// rows where m is larger than 65,535 * tile.
/// Source of the idea: the CUDA C++ Programming Guide, "Shared Memory".
template <unsigned tile>
__global__ void __launch_bounds__(square(tile))
    shared_tiles(unsigned m, unsigned n, unsigned k, float alpha, const float* a, std::size_t lda,
                 const float* b, std::size_t ldb, float beta, float* c, std::size_t ldc) {
  __shared__ float a_tile[tile][tile];  // (rows of C, slice)
  __shared__ float b_tile[tile][tile];  // (slice, columns of C)
  const unsigned tx = threadIdx.x, ty = threadIdx.y;
  const unsigned row = blockIdx.y * tile + ty, col = blockIdx.x * tile + tx;

  float sum = 0;
  for (unsigned k0 = 0; k0 < k; k0 += tile) {
    // Each thread fetches one element of each tile. What lies outside of A or B counts as zero.
    float from_a = 0, from_b = 0;
    if (row < m && k0 + tx < k) from_a = a[row * lda + k0 + tx];
    if (k0 + ty < k && col < n) from_b = b[(k0 + ty) * ldb + col];
    a_tile[ty][tx] = from_a;
    b_tile[ty][tx] = from_b;
    __syncthreads();  // the tiles are full

    for (unsigned l = 0; l < tile; ++l) sum += a_tile[ty][l] * b_tile[l][tx];
    __syncthreads();  // nobody needs them any more
  }

  if (row >= m || col >= n) return;
  float& out = c[row * ldc + col];
  out = beta == 0 ? alpha * sum : alpha * sum + beta * out;
}

// Look at the two indices of each thread's load. The thread that *computes* C(row, col) *fetches*
// A(row, k0 + tx) and B(k0 + ty, col): one element of each tile, and for both of them `tx`, in
// which the lanes of a warp differ, runs along a row. So both loads read 32 neighbours, 4 sectors a
// request. What a thread fetches has little to do with what it needs: of the 64 elements that it
// will multiply in this slice it has fetched two, and 62 come from others.
//
// **The counters.** Each of the 12 blocks has 32 warps, and each of these makes 2 requests in each
// of the 2 slices: 12 * 32 * 2 * 2 = 1,536, a 32nd of 49,152. They ask for 6,144 sectors where the
// naive kernel asks for 122,880, a twentieth. (Not a 32nd: the naive kernel's broadcasts from A
// cost 1 sector and not 4.) What became of the others? They are still there: `shared loads` counts
// 49,152 requests. The kernel makes every single load that the naive kernel makes. It makes them to
// a place that is nearer.
//
// With tiles of 16 x 16, a warp is two rows of the block. It reads two pieces of 16 neighbours, 2
// sectors each, so a request still costs 4. But a tile is only half as wide, and so each element is
// fetched by twice as many blocks: 3,072 requests and 12,288 sectors.
//
// **The clock.** Twenty times fewer sectors; is the kernel twenty times faster? It is three times
// faster. At 4096 the naive kernel takes 51.98 ms, tiles of 16 take 17.07 ms, and tiles of 32 take
// 16.70 ms. A part of the gain is the loser's doing: `naive_flat` of chapter 02 is done in 27.3 ms,
// and at 2048, where L2 holds all three matrices, the naive kernel has 4.99 TFLOP/s and this one
// 8.87, no more than 1.8 times as much.
//
// Is it still waiting for bytes? At 4096 it asks for 17 GB of sectors, which an L2 that delivers
// 8,104 GB/s (`memory_bandwidth` in chapter 02) hands over in 2.1 ms. cuBLAS takes 2.68 ms for the
// whole product. So it is not the bandwidth of L2 that 16.70 ms are spent on. The loads that have
// moved to shared memory are now what it waits for. Nsight Compute agrees: a warp issues an
// instruction every 37.7 cycles, and for 16.8 of them it stands in the queue before shared memory
// (`mio_throttle`). Section 7 counts what it queues for.

// ## 2. Zeros at the edges
//
// A tile may stick out of its matrix on all sides: below A where M is no multiple of 32, to the
// right of B where N is none, and for both along K. Below and to the right it is harmless, as what
// is computed there is never stored. Along K it is not. There the tile's elements are summed up
// into every element of C, so they have to be *zeros*, and somebody has to put them there: shared
// memory starts with whatever the block before has left.
//
// It would be natural to store an element only where there is one, and leave the rest of the tile
// alone. **Predict** what happens then for K = 8, and what for K = 40.

/// shared_tiles without the zeros: what lies outside of A and B is left as it was.
///
/// @param m, n, k        extents: C is m x n, A is m x k, B is k x n
/// @param alpha, beta    factors; where beta is 0, c is not read
/// @param a, lda         m x k floats in device memory, and floats from a row to the next
/// @param b, ldb         k x n floats, and the same
/// @param c, ldc         m x n floats, and the same; written
///
/// Launch: blocks of 32 x 32 threads; the grid covers C; 8 KiB of static shared memory.
/// Requires: k a multiple of 32.
__global__ void unfilled_edges(unsigned m, unsigned n, unsigned k, float alpha, const float* a,
                               std::size_t lda, const float* b, std::size_t ldb, float beta,
                               float* c, std::size_t ldc) {
  constexpr unsigned tile = 32;
  __shared__ float a_tile[tile][tile];  // (rows of C, slice)
  __shared__ float b_tile[tile][tile];  // (slice, columns of C)
  const unsigned tx = threadIdx.x, ty = threadIdx.y;
  const unsigned row = blockIdx.y * tile + ty, col = blockIdx.x * tile + tx;

  float sum = 0;
  for (unsigned k0 = 0; k0 < k; k0 += tile) {
    if (row < m && k0 + tx < k) a_tile[ty][tx] = a[row * lda + k0 + tx];
    if (k0 + ty < k && col < n) b_tile[ty][tx] = b[(k0 + ty) * ldb + col];
    __syncthreads();

    for (unsigned l = 0; l < tile; ++l) sum += a_tile[ty][l] * b_tile[l][tx];
    __syncthreads();
  }

  if (row >= m || col >= n) return;
  float& out = c[row * ldc + col];
  out = beta == 0 ? alpha * sum : alpha * sum + beta * out;
}

// For K = 8 the threads read 24 columns of the tile that nobody in this block has ever written. The
// simulator knows who wrote what, and says so. On a GPU it is what an earlier block has left there,
// and it may well be zeros today.
//
// For K = 40 it is worse: nothing is raised. In the second slice 8 columns are new, and the other
// 24 still hold the *first* slice, written by this very block. They are multiplied a second time,
// and the sum is wrong without an access that anybody could object to. Only a comparison notices.
// (It is one of the mutants that this chapter's tests try.)
//
// Two more things that look like they would help, and do not:
//
// - *The early return.* Chapter 02 begins with `if (row >= m || col >= n) return;`. Here a thread
//   without an element of C has still work to do: it fetches elements of the tiles that others
//   need, and takes part in the barriers. The guard has to come last.
// - *Zeros in one of the two tiles only.* 0 x anything is 0, so one might spare the other half of
//   the work. But 0 x NaN is NaN, and so is 0 x infinity, and what is left in shared memory may be
//   either.

// ## 3. Two barriers
//
// `__syncthreads()` is a *barrier*: no thread of the block goes on until all of them have come
// there, and what they have written to shared memory before it is seen by all after it. The kernel
// has two, and they prevent two different things.
//
// - **The first** keeps a thread from reading a tile *before* it is full. Of the 64 elements that a
//   thread needs, others fetch 62, and they may be late: their loads take hundreds of cycles.
// - **The second** keeps a thread from overwriting a tile while others *still read* it. A warp that
//   is done with its 32 products would go on to the next slice and put it in the place of the old
//   one.
//
// Leave one of them out, and the result is right nearly every time, on a quiet day, for small
// matrices. The simulator does not wait for an unlucky day. For each word of shared memory it keeps
// who touched it since the last barrier, and if two threads did, one of them writing, that is a
// race, whichever way it went this time. **Predict** for both kernels which access it will blame.

/// shared_tiles without the barrier before the products.
///
/// @param m, n, k        extents: C is m x n, A is m x k, B is k x n
/// @param alpha, beta    factors; where beta is 0, c is not read
/// @param a, lda         m x k floats in device memory, and floats from a row to the next
/// @param b, ldb         k x n floats, and the same
/// @param c, ldc         m x n floats, and the same; written
///
/// Launch: blocks of 32 x 32 threads; the grid covers C; 8 KiB of static shared memory.
/// Requires: a first barrier.
__global__ void no_first_barrier(unsigned m, unsigned n, unsigned k, float alpha, const float* a,
                                 std::size_t lda, const float* b, std::size_t ldb, float beta,
                                 float* c, std::size_t ldc) {
  constexpr unsigned tile = 32;
  __shared__ float a_tile[tile][tile];  // (rows of C, slice)
  __shared__ float b_tile[tile][tile];  // (slice, columns of C)
  const unsigned tx = threadIdx.x, ty = threadIdx.y;
  const unsigned row = blockIdx.y * tile + ty, col = blockIdx.x * tile + tx;

  float sum = 0;
  for (unsigned k0 = 0; k0 < k; k0 += tile) {
    float from_a = 0, from_b = 0;
    if (row < m && k0 + tx < k) from_a = a[row * lda + k0 + tx];
    if (k0 + ty < k && col < n) from_b = b[(k0 + ty) * ldb + col];
    a_tile[ty][tx] = from_a;
    b_tile[ty][tx] = from_b;

    for (unsigned l = 0; l < tile; ++l) sum += a_tile[ty][l] * b_tile[l][tx];
    __syncthreads();
  }

  if (row >= m || col >= n) return;
  float& out = c[row * ldc + col];
  out = beta == 0 ? alpha * sum : alpha * sum + beta * out;
}

// The finding names a *read*, and a write that should have come before it. Both are of the same
// warp: thread (1,0,0) reads what thread (0,0,0) has written. Is a warp not in step with itself?
// Lanes usually are, and CUDA promises it no more since Volta, so between lanes, too, something has
// to order the two (`__syncwarp()` would do, were it the only one). Row `ty` of A's tile is in fact
// fetched and used by one and the same warp. B's tile is not: every warp needs all of it.

/// shared_tiles without the barrier after the products.
///
/// @param m, n, k        extents: C is m x n, A is m x k, B is k x n
/// @param alpha, beta    factors; where beta is 0, c is not read
/// @param a, lda         m x k floats in device memory, and floats from a row to the next
/// @param b, ldb         k x n floats, and the same
/// @param c, ldc         m x n floats, and the same; written
///
/// Launch: blocks of 32 x 32 threads; the grid covers C; 8 KiB of static shared memory.
/// Requires: a second barrier, where k is larger than 32.
__global__ void no_second_barrier(unsigned m, unsigned n, unsigned k, float alpha, const float* a,
                                  std::size_t lda, const float* b, std::size_t ldb, float beta,
                                  float* c, std::size_t ldc) {
  constexpr unsigned tile = 32;
  __shared__ float a_tile[tile][tile];  // (rows of C, slice)
  __shared__ float b_tile[tile][tile];  // (slice, columns of C)
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

    for (unsigned l = 0; l < tile; ++l) sum += a_tile[ty][l] * b_tile[l][tx];
  }

  if (row >= m || col >= n) return;
  float& out = c[row * ldc + col];
  out = beta == 0 ? alpha * sum : alpha * sum + beta * out;
}

// Here it names a *write*: of the next slice, over an element that somebody else has still to read.
// With one slice only, K up to 32, there is no next one and no race: a test with small K would
// pass.
//
// Do we need two barriers in each slice? With two pairs of tiles, filled in turn, one is enough:
// while some still read the one pair, others fill the other. It takes twice the shared memory.
// Chapter 05 does so, for a better reason: the next tiles are then under way while this one is
// multiplied.

// [hide] How these rungs are registered
/// A demonstration on a product of 32 x 32 x k, one block, whatever was asked for.
template <class Kernel>
void add_mistake(lab::Chapter& chapter, const char* name, const char* idea, int k,
                 const char* finding, Kernel kernel) {
  const auto problem =
      std::make_shared<lab::GemmProblem>(lab::GemmCase{.m = 32, .n = 32, .k = k}, chapter.seed());
  chapter.add({.name = name,
               .idea = idea,
               .launch = [=] { launch_tiles(kernel, 32, problem->gemm()); },
               .expect_finding = finding});
}

void register_mistakes(lab::Chapter& chapter) {
  add_mistake(chapter, "unfilled_edges",
              "no zeros where a tile sticks out: leftovers are multiplied", 8,
              "uninitialized-shared", unfilled_edges);
  add_mistake(chapter, "no_first_barrier", "computing before the tiles are full", 64, "shared-race",
              no_first_barrier);
  add_mistake(chapter, "no_second_barrier", "filling the tiles again while others still compute",
              64, "shared-race", no_second_barrier);
}
// [/hide]

// ## 4. Counting the reads again
//
// As in chapter 02, the counts can be had without running anything. Let T be the width of a tile,
// 16 or 32. A row of A is fetched once by each block along N, so ceil(N / T) times; a column of B
// once by each block along M. So the floats that are read are
//
//     floats = M K ceil(N / T) + K N ceil(M / T)
//
// where the naive kernel has 2 M N K, one for each operand of each multiply-add: T times fewer.
// **Each element of A is read ceil(N / T) times, each of B ceil(M / T) times**: 3 and 4 times here,
// where it was 96 and 128. In sectors, for rows that start at multiples of 32 bytes,
//
//     sectors = M ceil(K / 8) ceil(N / T) + K ceil(N / 8) ceil(M / T)
//
// and in requests, with R = 32 / T rows of a tile in each warp,
//
//     requests = ceil(M / R) ceil(K / T) ceil(N / T) + ceil(K / R) ceil(N / T) ceil(M / T)
//
// The program prints all three with each run. Try sizes that are no multiples of anything.
//
// What does it mean for the roofline? A float of 4 bytes now serves T multiply-adds, 2 T
// operations. So the intensity is T / 4: 8 operations a byte for T = 32, 4 for T = 16, and it was
// 0.4. The memory's 4.26 TB/s make a roof of 34 TFLOP/s over an intensity of 8. If bytes from global
// memory were all that counts, tiles of 32 would be good for half the machine, and tiles of 64 for
// all of it. (The drawing at the end of this page has 7.97 instead of 8, since C is written, too.)

// [hide] The formulas, and how these rungs are registered
/// Prints what section 4 predicts.
void print_formulas(const lab::Gemm& g, unsigned tile) {
  const unsigned long long m = g.m, n = g.n, k = g.k, t = tile, r = 32 / tile;
  const auto up = [](unsigned long long a, unsigned long long b) { return lab::ceil_div(a, b); };
  std::printf("  each element of A is read %llu times, each of B %llu times: %s floats of %s\n",
              up(n, t), up(m, t), lab::grouped(m * k * up(n, t) + k * n * up(m, t)).c_str(),
              lab::grouped(2 * m * n * k).c_str());
  std::printf(
      "  %s load requests\n",
      lab::grouped(up(m, r) * up(k, t) * up(n, t) + up(k, r) * up(n, t) * up(m, t)).c_str());
  std::printf("  %s sectors, with rows of 32-byte multiples\n",
              lab::grouped(m * up(k, 8) * up(n, t) + k * up(n, 8) * up(m, t)).c_str());
}

void register_tiles(lab::GemmLadder& ladder) {
  ladder.add({.name = "naive_along_columns",
              .idea = "the last kernel of chapter 02: every thread fetches for itself",
              .launch = [](const lab::Gemm& g) { launch_tiles(naive_along_columns, 32, g); }});
  const char* const idea = "a block fetches tiles of A and B together, slice by slice along K";
  ladder.add({.name = "shared_tiles",
              .idea = idea,
              .launch = [](const lab::Gemm& g) { launch_tiles(shared_tiles<16>, 16, g); },
              .variant = "tile=16",
              .show = [](const lab::Gemm& g) { print_formulas(g, 16); }});
  ladder.add({.name = "shared_tiles",
              .idea = idea,
              .launch = [](const lab::Gemm& g) { launch_tiles(shared_tiles<32>, 32, g); },
              .variant = "tile=32",
              .show = [](const lab::Gemm& g) { print_formulas(g, 32); }});
}
// [/hide]

// ## 5. How deep a slice?
//
// So far a slice was as deep as a tile is wide, for no better reason than that each thread then
// fetches one element of each tile. In none of the formulas for floats and sectors does the depth
// of a slice appear. **Predict** what changes if slices are 64, 128 or 256 deep: the reads, the
// barriers, the shared memory?
//
// Such tiles outgrow what we have used so far. A *static* array, `__shared__ float a_tile[32][32]`,
// has a size that the compiler knows, and a block may have 48 KiB of them. For more there is
// *dynamic* shared memory. Its size is the third parameter of the launch, `kernel<<<grid, block,
// bytes>>>`, and the kernel gets all of it as one array, `extern __shared__`, that it has to cut up
// by itself. Beyond 48 KiB the program has to say beforehand that it means it, with
// `cudaFuncSetAttribute`; otherwise the launch is refused. An H200 then gives a block up to 227
// KiB.

/// shared_tiles with slices of any depth, in dynamic shared memory.
///
/// @param m, n, k        extents: C is m x n, A is m x k, B is k x n
/// @param alpha, beta    factors; where beta is 0, c is not read
/// @param a, lda         m x k floats in device memory, and floats from a row to the next
/// @param b, ldb         k x n floats, and the same
/// @param c, ldc         m x n floats, and the same; written
///
/// Launch: blocks of tile x tile threads; the grid covers C, x along its columns; at least
/// 8 tile slice bytes of dynamic shared memory.
/// Requires: slice a multiple of tile; nothing of alignment; at most 65,535 blocks along y, so the
/// host launches slices of rows where m is larger than 65,535 * tile.
template <unsigned tile, unsigned slice>
__global__ void __launch_bounds__(square(tile), 2048 / square(tile))
    sliced_tiles(unsigned m, unsigned n, unsigned k, float alpha, const float* a, std::size_t lda,
                 const float* b, std::size_t ldb, float beta, float* c, std::size_t ldc) {
  static_assert(slice % tile == 0);
  extern __shared__ __align__(16) float tiles[];
  float* const a_tile = tiles;                 // (tile, slice)
  float* const b_tile = tiles + tile * slice;  // (slice, tile)
  const unsigned tx = threadIdx.x, ty = threadIdx.y;
  const unsigned row = blockIdx.y * tile + ty, col = blockIdx.x * tile + tx;

  float sum = 0;
  for (unsigned k0 = 0; k0 < k; k0 += slice) {
    // The slice is fetched in parts that are as deep as a tile is wide.
    for (unsigned part = 0; part < slice; part += tile) {
      const unsigned l = part + tx;
      float from_a = 0;
      if (row < m && k0 + l < k) from_a = a[row * lda + k0 + l];
      a_tile[ty * slice + l] = from_a;
    }
    for (unsigned part = 0; part < slice; part += tile) {
      const unsigned l = part + ty;
      float from_b = 0;
      if (k0 + l < k && col < n) from_b = b[(k0 + l) * ldb + col];
      b_tile[l * tile + tx] = from_b;
    }
    __syncthreads();

#pragma unroll 32
    for (unsigned l = 0; l < slice; ++l) sum += a_tile[ty * slice + l] * b_tile[l * tile + tx];
    __syncthreads();
  }

  if (row >= m || col >= n) return;
  float& out = c[row * ldc + col];
  out = beta == 0 ? alpha * sum : alpha * sum + beta * out;
}

// **The counters.** The reads are the same for each of the depths, and the same as those of
// `shared_tiles`: 1,536 requests, 6,144 sectors. The walk along K visits every element once, in
// steps of whatever length. What is saved are barriers, two a slice: at K = 4096, 256 of them for
// slices of 32, and 32 for slices of 256. What it costs is shared memory, 8 KiB for slices of 32
// and 64 KiB for slices of 256, and work at the end: K is rounded up to whole slices, and zeros are
// multiplied like any other number. Look at the shared loads. With K = 64, slices of 128 and 256
// multiply 2 and 4 times as much as there is, 98,304 and 196,608 requests.
//
// **The prediction.** A barrier costs as long as the slowest warp of the block lets the others wait,
// and there is a second block on the SM that computes in the meantime. So expect little of fewer
// barriers. Nor should anything be lost by dynamic shared memory as such: the row `slice=32` is
// `shared_tiles` with another kind of array.
//
// **The clock** disagrees with the first half. This is at 4096:
//
// | depth of a slice | 32 | 64 | 128 | 256 |
// |---|--:|--:|--:|--:|
// | time in ms | 16.52 | 15.53 | 14.92 | 14.48 |
// | TFLOP/s | 8.32 | 8.85 | 9.21 | 9.49 |
//
// From slices of 32 to slices of 256 it is a gain of 14 %. What was forgotten is the wait that
// stands *before* the first barrier. With slices of 32 a thread has two loads under way, waits until
// both are there, and does so 128 times. For slices of 256 nvcc puts 14 of a thread's 16 loads
// before the first of its stores to shared memory (`cuobjdump -sass` shows it). They are under way
// together, and the thread waits for them and once more for the other two, 32 times in all. Hardly
// an instruction is saved: 32 steps of the walk take 101, 110, 103 and 98 of them, from the smallest
// depth to the largest.
//
// Barriers and waits become fewer together, so these times cannot tell which of them costs more.
// But at 2048, with as many barriers to a multiply-add, depth gains less: from 8.94 to 9.31
// TFLOP/s, 4 %. There A and B have 16 MiB each, L2 keeps them, and a load takes 282 cycles
// (`memory_latency` in chapter 02). At 4096 they have 64 MiB each, more than L2 holds, and every
// row of blocks walks through the whole of B. What comes from memory takes 684 cycles. **Predict**
// what a warp waits for at either size, and what depth makes of it.
//
// **The counters** are Nsight Compute's again, in cycles of a warp for each instruction that it
// issues:
//
// | depth of a slice | 32 | 64 | 128 | 256 |
// |---|--:|--:|--:|--:|
// | for loads, at 4096 (`long_scoreboard`) | 5.14 | 2.30 | 1.43 | 0.50 |
// | at a barrier, at 4096 (`barrier`) | 4.54 | 2.61 | 2.24 | 1.42 |
// | before shared memory, at 4096 (`mio_throttle`) | 16.57 | 17.74 | 19.64 | 21.66 |
// | for loads, at 2048 | 3.04 | 1.14 | 0.50 | 0.14 |
// | at a barrier, at 2048 | 3.16 | 2.58 | 1.88 | 2.22 |
// | before shared memory, at 2048 | 17.85 | 17.88 | 20.19 | 20.90 |
//
// Both are saved, and the loads are the larger part: at 4096 the wait for them falls by 4.64 cycles
// from the smallest depth to the largest, that at barriers by 3.12, and at 2048 by 2.90 and 0.94.
// And the loads do come from memory at 4096. L2 finds 37.8 % of what it is asked for in slices of
// 32, and 8.49 GB come from memory, nearly the 8.6 of 128 rows of blocks that read 64 MiB each. At
// 2048 it finds 96.2 %, and the memory delivers A and B once. Most of the wait that is saved is not
// time that is gained, however. Who does not wait for a load comes earlier to shared memory and
// waits there: 5.09 cycles more at 4096.
//
// One thing is open. Two rows of blocks run at the same time and could share what they read of B,
// as the tiles of chapter 02 do, which are as many and have 4.26 GB from memory. Why these do not,
// the counters do not say. (At 1024 nothing was counted. There depth gains 10 %: L2 is emptied
// before each run, and a run is over after four rounds of blocks.)
//
// The second half of the prediction holds: 16.52 ms are 1 % less than the 16.70 of `shared_tiles`.

// [hide] How these rungs are registered
/// Bytes of shared memory that two tiles take.
constexpr std::size_t tile_bytes(unsigned tile, unsigned slice) {
  return 2 * sizeof(float) * tile * slice;
}

/// Launches sliced_tiles with `spare` bytes of shared memory more than it uses.
template <unsigned tile, unsigned slice>
void launch_sliced(const lab::Gemm& gemm, std::size_t spare = 0) {
  const auto kernel = sliced_tiles<tile, slice>;
  static const cudaError_t allowed =  // once for each kernel
      cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                           lab::device_attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin));
  CUDA_CHECK(allowed);
  launch_tiles(kernel, tile, gemm, tile_bytes(tile, slice) + spare);
}

/// Bytes of shared memory for a block of sliced_tiles<16, 16> with which no more than `most` blocks fit
/// on an SM; 0: what the block uses.
std::size_t bytes_for_at_most(unsigned most) {
  if (most == 0) return tile_bytes(16, 16);
  const auto attribute = [](cudaDeviceAttr which) {
    return static_cast<std::size_t>(lab::device_attribute(which));
  };
  const std::size_t share = attribute(cudaDevAttrMaxSharedMemoryPerMultiprocessor) / most -
                            attribute(cudaDevAttrReservedSharedMemoryPerBlock);
  return std::min(share, attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin));
}

template <unsigned slice>
void add_slices(lab::GemmLadder& ladder) {
  ladder.add({.name = "sliced_tiles",
              .idea = "dynamic shared memory, and slices of any depth",
              .launch = [](const lab::Gemm& g) { launch_sliced<32, slice>(g); },
              .variant = "slice=" + std::to_string(slice)});
}
// [/hide]

// ## 6. How many blocks fit
//
// An SM has room for 2048 threads, 64 warps, and the more of them are there, the more likely it is
// that one is ready when the others wait: for a load, or at a barrier. How many threads are there,
// of the 2048, is called *occupancy*. Three things bound the number of blocks that an SM takes on
// at a time: their threads, their registers, and their shared memory. Each block has to have all
// that it needs before it starts, and keeps it until it ends.
//
// With shared memory the arithmetic is this: an SM of an H200 has 228 KiB, and each block takes
// what it asks for and 1 KiB that the system keeps for itself. **Predict** for blocks of 32 x 32
// threads how deep the slices may become before only one block fits, and what that costs. With two
// blocks, one can compute while the other waits at its barrier. With one, at every barrier all that
// is left to do is to wait for its slowest warp; and after the barrier all warps want their next
// tile from memory at once, and nobody has anything to multiply.
//
// The rung launches `sliced_tiles` with tiles of 16 x 16 and slices of 16. Such a block takes 2
// KiB, and 8 of them fill an SM with 2048 threads. Then it asks for more shared memory than it
// uses, just so much that no more than 4, 2 or 1 of them fit. Nothing else changes: the same
// machine code, the same counts.

/// C = alpha A B + beta C by sliced_tiles<16, 16>, with no more than so many blocks on an SM at a time.
///
/// @param gemm  the product
/// @param most  blocks on an SM; 0: as many as fit
///
/// Launch: blocks of 16 x 16 threads, with an SM's shared memory / most for each of them.
void blocks_per_sm(const lab::Gemm& gemm, unsigned most) {
  launch_sliced<16, 16>(gemm, bytes_for_at_most(most) - tile_bytes(16, 16));
}

// The program prints the table that the runtime's own arithmetic gives
// (`cudaOccupancyMaxActiveBlocksPerMultiprocessor`). Up to slices of 256 two blocks of 1024 threads
// fit. Slices of 512 need 128 KiB, and the second block has to stay out: half of the threads are
// gone for the sake of fewer barriers. Between 384 and 512 lies the edge: the two blocks' shares
// are 228 / 2 - 1 = 113 KiB each, slices of 452.
//
// **The prediction** for `at most 1`. 256 threads are 8 warps, and the SM has nothing else. Each
// slice begins with a load, 300 cycles until it is there if it comes from L2 (`memory_latency` in
// chapter 02), more if it comes from memory. Then 8 warps make 16 multiply-adds each, with 26
// passes through shared memory (section 7 counts them), one in a cycle: 208 cycles. Add 100 for
// addresses, stores and barriers, and a slice of 8,192 operations takes 600 cycles:
//
//     132 * 1.98e9 / 600 * 8192 = 3.6 TFLOP/s
//
// Of these 600 cycles shared memory is busy for a third. So two blocks should do nearly twice as
// much, 7.1, since one computes while the other waits, and with four of them shared memory should
// be the limit, at 10.
//
// **The clock**, in TFLOP/s:
//
// | blocks on an SM | 1 | 2 | 4 | 8 |
// |---|--:|--:|--:|--:|
// | predicted | 3.6 | 7.1 | 10 | 10 |
// | measured at 4096 | 1.60 | 3.10 | 6.02 | 8.03 |
// | measured at 2048 | 2.73 | 4.55 | 7.15 | 8.11 |
//
// The course of it is right, and the scale is not. At 4096 a block that is alone needs 1,340 cycles
// for a slice and not 600; at 2048 it needs 780. For what? A warp issues 66 instructions in a
// slice. With Nsight Compute's cycles for each of them, a slice of a lone block has
//
// | cycles of a slice | predicted | at 2048 | at 4096 |
// |---|--:|--:|--:|
// | waiting for loads | 300 | 265 | 562 |
// | waiting at the barriers | | 57 | 202 |
// | its own work: waiting for words of shared memory and for results, issuing | 308 | 321 | 321 |
// | anything else | | 42 | 24 |
//
// (They add up to less than 780 and 1,340, since Nsight Compute holds the SMs at about 1.5 GHz, and
// a wait for L2 or for the memory then has fewer cycles. 265 of them are 350 at 1.98 GHz.)
//
// The work of the block itself was predicted well. There was a suspect in it: when the last word
// has come, a chain of up to 16 multiply-adds, 4.4 cycles each, is still to be done. But it is part
// of the 321, so it is not what was missing. What was wrong are the waits. A load takes longer where
// all SMs ask at the same time. And the 100 cycles for addresses, stores and barriers had no room
// for waiting there: a warp that has its elements waits for one whose loads are late. At 4096, where
// 17.2 GB come from memory, both waits are longer, by 297 and by 145 cycles, and that is all that
// this size adds.
//
// Put 1,340 into the prediction, and it is 1.6, 3.2 and 6.4, close to what was measured. A slice
// uses shared memory for 208 of its 1,340 cycles, so it takes 1,340 / 208, more than six blocks, to
// keep it busy, and at 4096 the step from four blocks to eight still gains a third. At 2048 it takes
// 780 / 208, not quite four, and the same step gains 13 %.
//
// So a slower rung is one that has nobody to fill in while it waits, and how many it takes depends
// on how long it waits. *High occupancy is not a goal.* It is one way of having something to do
// while others wait. Chapter 04 finds another.

// [hide] The table of occupancy, and how these rungs are registered
/// Prints how many blocks of a kernel fit on an SM.
template <class Kernel>
void print_occupancy(Kernel kernel, unsigned tile, const std::string& what, std::size_t bytes) {
  CUDA_CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                  lab::device_attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin)));
  const unsigned threads = tile * tile;
  int blocks = 0;
  CUDA_CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel,
                                                           static_cast<int>(threads), bytes));
  const int most = lab::device_attribute(cudaDevAttrMaxThreadsPerMultiProcessor);
  const int fit = blocks * static_cast<int>(threads);
  std::printf(
      "  %2u x %2u threads, %-12s %5.1f KiB a block: %d fit on an SM, %4d of %d threads, %5.1f "
      "%%\n",
      tile, tile, what.c_str(), static_cast<double>(bytes) / 1024, blocks, fit, most,
      100.0 * fit / most);
}

void print_occupancies() {
  // How deep the slices are makes no difference to the other limits, so one kernel stands for all.
  for (const unsigned slice : {32, 64, 128, 256, 384, 448, 512, 896}) {
    print_occupancy(sliced_tiles<32, 32>, 32, "slice=" + std::to_string(slice),
                    tile_bytes(32, slice));
  }
}

void register_slices(lab::GemmLadder& ladder) {
  add_slices<32>(ladder);
  add_slices<64>(ladder);
  add_slices<128>(ladder);
  add_slices<256>(ladder);
  for (const unsigned most : {1u, 2u, 4u, 0u}) {
    lab::GemmRung rung{.name = "blocks_per_sm",
                       .idea = "the same kernel with fewer and fewer blocks on an SM",
                       .launch = [most](const lab::Gemm& g) { blocks_per_sm(g, most); },
                       .variant = most == 0 ? "all that fit" : "at most " + std::to_string(most)};
    rung.show = [most, variant = rung.variant](const lab::Gemm&) {
      if (most == 1) print_occupancies();
      print_occupancy(sliced_tiles<16, 16>, 16, variant, bytes_for_at_most(most));
    };
    ladder.add(rung);
  }
}
// [/hide]

// ## 7. The inner loop, seen from the banks
//
// One line does all the work now:
//
//     for (l = 0; l < 32; ++l) sum += a_tile[ty][l] * b_tile[l][tx];
//
// Shared memory has 32 *banks*, each 4 bytes wide, and neighbouring words lie in neighbouring
// banks. In one pass, a *wavefront*, each bank hands out one word, to as many lanes as want that
// word. (Chapter 05 is about what happens if they want different ones.) A warp is a row of the
// block, so its lanes share `ty` and differ in `tx`.
//
// - `a_tile[ty][l]` is the same word for all lanes, in one bank: a broadcast, 1 wavefront for 4
//   bytes.
// - `b_tile[l][tx]` are 32 neighbouring words in 32 banks: 1 wavefront for 128 bytes.
//
// That is as good as it can be, and the counters show no bank conflict. **It is also the limit.**
// Each multiply-add of a warp takes two wavefronts, and an SM does one wavefront in a cycle
// (`memory_bandwidth` in chapter 02 reaches 97 % of that). A slice of 32 makes 64 of them for a
// warp, and 2 for storing what it has fetched. In these 66 cycles the warp does 32 multiply-adds,
// 2,048 operations:
//
//     132 * 1.98e9 / 66 * 2048 = 8.1 TFLOP/s
//
// an eighth of what the multiply-adders can do, whatever the occupancy, whatever the global memory.
// It is no more than the 8.4 that bounded the naive kernel, either: L1 is the same piece of
// hardware as shared memory, and looks up one line in a cycle, too.
//
// **The clock** says 8.23 TFLOP/s for `shared_tiles` at 4096 and 8.9 at 2048. Slices of 256, which
// make the same wavefronts, are 17 % above the bound. *A rate above a bound means that the bound is
// wrong*: something that this arithmetic takes for granted does not hold. What the kernel really
// does stands in the machine code (`cuobjdump -sass`). This is how the loop over a slice begins, for
// tiles of 32:
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
// nvcc has unrolled the loop, seen that four steps need four neighbouring words of A, and fetches
// them with one instruction of 128 bits. The 102 instructions of a slice have 32 `FFMA`, 32 `LDS`
// and only 8 `LDS.128`. These are merged accesses, and the simulator, which counts what the source
// says, does not know of them. Nsight Compute does: at the end of this page its counts stand beside
// the simulator's, and those of shared memory differ for `shared_tiles` and `sliced_tiles`. The next
// rung writes the wide loads into the source. **Predict** how many requests and how many wavefronts
// are left, and what the clock will say to it.

/// shared_tiles<32>, with four elements of A in one load from shared memory.
///
/// @param m, n, k        extents: C is m x n, A is m x k, B is k x n
/// @param alpha, beta    factors; where beta is 0, c is not read
/// @param a, lda         m x k floats in device memory, and floats from a row to the next
/// @param b, ldb         k x n floats, and the same
/// @param c, ldc         m x n floats, and the same; written
///
/// Launch: blocks of 32 x 32 threads; the grid covers C, x along its columns; 8 KiB of static shared
/// memory.
/// Requires: nothing of alignment; at most 65,535 blocks along y, so the host launches slices of
/// rows where m is larger than 65,535 * 32.
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

// **The counters.** 30,720 requests to shared memory where there were 49,152: five for four
// multiply-adds instead of eight. In wavefronts it is less of a gain. A 128-bit load that all lanes
// make from one address takes 2 wavefronts and not 1, so that the four steps take 2 + 4 = 6 where
// they took 8: 36,864 in all. A slice then makes 48 wavefronts and 2 for its stores, and the bound
// is
//
//     132 * 1.98e9 / 50 * 2048 = 10.7 TFLOP/s
//
// For tiles of 16 it is 24 and 2 for 16 steps, and 10.3 TFLOP/s, hardly less. These counts are also
// what Nsight Compute finds, for this kernel and for `shared_tiles<32>`.
//
// **The clock** should agree with that of `shared_tiles` with tiles of 32, since nvcc makes a loop
// of the same 102 instructions from both. It does: 16.71 ms. So this is no faster kernel. It is the
// same kernel with its counts in the open, and with slices of 32 it has to be slower than
// `sliced_tiles` with slices of 256.
//
// Now all rates are below the bound: tiles of 32 reach 77 % of it, tiles of 16, with 8.05 TFLOP/s,
// 78 % of theirs, slices of 256 reach 89 %. The rest is waiting for tiles, as sections 5 and 6 have
// it.
//
// ### What else could be the limit?
//
// Look at all that an SM has to do for a slice of a warp, and in how many cycles it can:
//
// | for one warp and one slice of 32 | how many | an SM does, in a cycle | cycles |
// |---|--:|---|--:|
// | wavefronts of shared memory | 50 | 1 | 50 |
// | multiply-adds | 32 | 4 warps | 8 |
// | instructions of any kind | 102 | 4 | 25.5 |
// | sectors from L2 | 8 | 1 | 8 |
//
// (L2 was measured in chapter 02: its 8,104 GB/s are one sector in a cycle for each SM.) Shared
// memory is by far the longest. The multiply-adders are busy for 8 cycles out of 50, 16 %, and that
// is what 10.7 of 65 TFLOP/s are. No barrier that is saved and no occupancy that is gained will lift
// it above that. The third line is a warning as well. 102 instructions for 32 multiply-adds are
// 25.5 cycles of issuing where 8 would do, so with shared memory out of the way the next bound is
// at 21 TFLOP/s. What has to go is not only the wavefronts but the *instructions that are not
// multiply-adds*.

// [hide] The program
int main(int argc, char** argv) {
  lab::GemmLadder ladder(argc, argv);
  register_peers(ladder);              // rung 0, and the peer of all others
  register_tiles(ladder);              // 1. tiles, 4. counting
  ladder.add_with(register_mistakes);  // 2. zeros, 3. barriers
  register_slices(ladder);             // 5. depth, 6. occupancy
  ladder.add({.name = "wide_reads",    // 7. banks
              .idea = "four elements of A with one load from shared memory",
              .launch = [](const lab::Gemm& g) { launch_tiles(wide_reads, 32, g); }});
  return ladder.run();
}
// [/hide]

// ## What to take along
//
// - A tile of T x T elements of C needs T rows of A and T columns of B: each element that is
//   fetched is used T times. Reads from global memory fall by T.
// - Cut along K. All slices add to the same sums, so the depth of a slice costs no read.
// - What sticks out along K has to be zero, in both tiles. Threads without an element of C still
//   fetch for the others, and still come to the barrier.
// - Two barriers: nobody reads before all have written, nobody writes before all have read.
// - Static shared memory up to 48 KiB; dynamic shared memory beyond that, on request.
// - Occupancy is bounded by threads, registers and shared memory, whichever is used up first.
// - A rate above your bound means that your bound is wrong. Look at the machine code.
// - Two operands from shared memory for each multiply-add keep the multiply-adders idle for six
//   sevenths of the time.
//
// ## What comes next
//
// Each thread computes one element of C, and so everything that it loads from shared memory is used
// once. A thread that computes 8 x 8 elements needs 8 words of A and 8 of B for 64 multiply-adds:
// 16 words for 64, where it takes 128 now. The idea is the one of this chapter once more, one level
// further up: fetch from shared memory into registers, once, and use it there many times. Chapter
// 04 does that.
//
// ## What a library does further
//
// At 4096 cuBLAS runs a kernel of the generation before this GPU's, `sm80_xmma_gemm` with tiles of
// 256 x 128 elements of C in a block where we have 32 x 32. So it fetches each element of one matrix
// 16 times and of the other 32 times, where we fetch both 128 times. Its slices are only 8 deep, and
// three of them are in shared memory at a time, two of them under way while one is multiplied. With
// 254 registers a thread, there is room for one block of 256 threads on an SM, 8 warps, an occupancy
// of 12.5 %. Yet Nsight Compute finds its multiply-adders busy for 77 % of the time, and 87 % of all
// issue slots used: each warp has something to do while it waits, and needs no other warp to fill
// in.
//
// ## Possibilities for extension
//
// 1. Swap the two loads' indices: let a thread fetch A(row0 + tx, k0 + ty) into `a_tile[tx][ty]`.
//    Predict the sectors and the bank conflicts of the store, then let `./learn explain 03` count
//    them.
// 2. Let a block of 32 x 32 threads compute a tile of 32 x 64, two elements a thread. How many
//    wavefronts does a multiply-add take now? What does the bound say?
// 3. Try blocks of 16 x 64 threads (columns x rows), with tiles to match. By the formulas of
//    section 4, how many floats are read, and why is a square the best shape?
// 4. Put two pairs of tiles into `shared_tiles` and take one of the barriers out. Which one? Let
//    the simulator check your answer.
// 5. Take the `#pragma unroll 32` out of `sliced_tiles`, then write `#pragma unroll 1`. What
//    becomes of the `LDS.128`, and of the time?
