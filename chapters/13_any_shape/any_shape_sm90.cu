// The rungs of chapter 13 that need compute capability 9.0. They register themselves, and are SKIP in a build without this file.

#include <cooperative_groups.h>
#include <cuda_pipeline.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <memory>

#define ANY_PRODUCT_SPECIALIZED
#include "any_product.cuh"
#include "lab/lab.h"

// ## 13. Parts that meet in a cluster
//
// Sums of parts go to L2 and come back. On Hopper they need not: the blocks of a {term}`cluster` can read each other's shared
// memory. A tile has a cluster, and each of its blocks a part of K. When all have their sums in shared memory, each block adds up
// a share of the tile's elements over all of them, in the order of their ranks: no workspace, no ticket, and a fixed order.
// A cluster of 8 blocks is always possible, so there are at most 8 parts.

namespace {

using namespace any_product;

/// Shared memory of a block: the ring, or the sums of the tile.
template <class T>
constexpr int cluster_bytes = T::SHARED > 4 * T::BM* T::BN ? T::SHARED : 4 * T::BM* T::BN;

}  // namespace

/// C = alpha op(A) op(B) + beta C: the blocks of a cluster have a tile, and a part of K each. They add up their sums in
/// distributed shared memory, always in the order of their ranks.
///
/// Launch: (tiles of C) * parts blocks of T::THREADS threads in clusters of `parts`, cluster_bytes<T> of dynamic shared
/// memory.
/// Requires: compute capability 9.0; at most 8 parts.
template <class T, Lie A, Lie B>
__global__ void __launch_bounds__(T::THREADS, T::BLOCKS)
    split_k_cluster(const Product g, int parts) {
  constexpr int BM = T::BM, BN = T::BN, BK = T::BK, FOURS = T::TM * T::TN / 4, Q = T::TN / 4;
  extern __shared__ float4 memory[];
  const auto cluster = cooperative_groups::this_cluster();
  const int part = static_cast<int>(blockIdx.x) % parts, k_tiles = (g.k + BK - 1) / BK;
  int tile_row, tile_col;
  place(static_cast<int>(blockIdx.x) / parts, (g.m - 1) / BM + 1, (g.n - 1) / BN + 1, tile_row,
        tile_col);
  const int row0 = tile_row * BM, col0 = tile_col * BN;
  const Seat<T> seat(g.m - row0, g.n - col0);
  float acc[T::TM][T::TN] = {};
  multiply_tiles<T, A, B>(acc, g, memory, seat, row0, col0, share(k_tiles, part, parts),
                          share(k_tiles, part + 1, parts));
  __pipeline_wait_prior(0);
  __syncthreads();  // the ring is free for the sums
#pragma unroll
  for (int x = 0; x < FOURS; ++x) {
    const float* const s = &acc[x / Q][x % Q * 4];
    memory[x * T::THREADS + static_cast<int>(threadIdx.x)] = make_float4(s[0], s[1], s[2], s[3]);
  }
  cluster.sync();  // the sums of all blocks are there
  for (int x = share(FOURS, part, parts); x < share(FOURS, part + 1, parts); ++x) {
    const int row = row0 + seat.row + x / Q / 4 * 16 + x / Q % 4,
              col = col0 + seat.col + x % Q * 32;
    float4* const here = memory + x * T::THREADS + static_cast<int>(threadIdx.x);
    float4 sum = *cluster.map_shared_rank(here, 0);
    for (int p = 1; p < parts; ++p)
      sum = add(sum, *cluster.map_shared_rank(here, static_cast<unsigned>(p)));
    if (row < g.m && col < g.n)
      update4(g.c + static_cast<size_t>(row) * g.ldc + col, g.n - col, g.c_wide, g.alpha, sum,
              g.beta);
  }
  cluster.sync();  // no block exits while another one reads its shared memory
}

// ## 14. Chapter 12's warps for any layout
//
// Chapter 12's kernel has warps that load and warps that compute, so the copies cost the FMAs no instructions. It takes aligned
// matrices of one layout, and copies them with TMA. `specialized_sm90.cuh` has the same loop for all layouts. The computing warps see (K, rows) and (K,
// columns) in shared memory, whatever lies in global memory, and only the loading warps know: they copy 4 bytes at a time and transpose
// an operand along K; otherwise 4, 8 or 16 bytes of a row, as alignment allows. They ask as the kernel runs, because in their loop
// nothing waits for the answer. One kernel for each tile is enough, where the portable tiles need seven.
//
//? bulk: Rows across K that are aligned can also be copied whole, by the copy engine: one bulk copy for each row of a tile. How does
//?   that compare with 16-byte copies at M = N = K = 4096, with tiles of 128 x 256?
//? choices: faster by 10 % or more | within 10 % | slower by 10 % or more
//? answer: {"faster by 10 % or more": 3184.99 < 2730.88 / 1.1, "within 10 %": 2730.88 / 1.1 < 3184.99 < 1.1 * 2730.88,
//?   "slower by 10 % or more": 3184.99 > 1.1 * 2730.88}
//
// It was slower for every tile and shape of a trial: 43.2 TFLOP/s in place of 50.3. One operand lay along K there, and was copied by
// 4 bytes in both cases. The reason was not looked for. Bulk copies are gone.
//= 43.2 TFLOP/s: 2 * 4096**3 / 3184.99e6
//= 50.3: 2 * 4096**3 / 2730.88e6
//
// `choose_specialized` is the function with these kernels on its menu. The header has them where `ANY_PRODUCT_SPECIALIZED` is defined,
// for `nvcc -arch=sm_90a`.

/// The function, with specialized warps on its menu.
void choose_specialized(const lab::Gemm& g, void* workspace) {
  CUDA_CHECK(any_product::sgemm(Order::ROW_MAJOR, false, false, g.m, g.n, g.k, g.alpha, g.a, g.lda,
                                g.b, g.ldb, g.beta, g.c, g.ldc, workspace, nullptr));
}

// [hide] How the rungs are registered
namespace {

/// As many parts as there are SMs for, up to 8.
void launch_cluster(const lab::Gemm& g) {
  using T = Tile64x64;
  const int tiles = lab::ceil_div(g.m, T::BM) * lab::ceil_div(g.n, T::BN);
  const int sms = static_cast<int>(lab::multiprocessors());
  const int parts = std::clamp(2 * sms / tiles, 1, std::clamp(lab::ceil_div(g.k, 2 * T::BK), 1, 8));
  const Product product =
      row_major(false, false, g.m, g.n, g.k, g.alpha, g.a, g.lda, g.b, g.ldb, g.beta, g.c, g.ldc);
  CUDA_CHECK(with_lies(product, [&]<Lie A, Lie B>() {
    const auto kernel = split_k_cluster<T, A, B>;
    CUDA_CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                    cluster_bytes<T>));
    cudaLaunchConfig_t config = {};
    config.gridDim = static_cast<unsigned>(tiles * parts), config.blockDim = T::THREADS;
    config.dynamicSmemBytes = cluster_bytes<T>;
    cudaLaunchAttribute attribute = {};
    attribute.id = cudaLaunchAttributeClusterDimension;
    attribute.val.clusterDim = {static_cast<unsigned>(parts), 1, 1};
    config.attrs = &attribute, config.numAttrs = 1;
    return cudaLaunchKernelEx(&config, kernel, product, parts);
  }));
}

const lab::Rungs here([](lab::GemmLadder& ladder) {
  ladder.add("split_k_cluster", launch_cluster);
  const auto room =
      std::make_shared<lab::DeviceBuffer<float>>(WORKSPACE / sizeof(float), "workspace");
  room->zero();
  ladder.add("choose_specialized",
             [room](const lab::Gemm& g) { choose_specialized(g, room->data()); });
});

}  // namespace
// [/hide]

// ## 15. The map again
//
// The same random shapes as in section 1, each computed by `sgemm`:
//
// ```{drawing} after
// ```
//
// Over these shapes the function is 1.2 times as fast as cuBLAS in the geometric mean, and as fast or faster for 60 %. cuBLAS falls off
// where C is thin: it takes 2.9 times as long for 4 x 4096 x 4096, and 2.2 times for 8 x 8 x 100000. The one tile of
// section 1 was at 0.5 in the geometric mean.
//= 1.2 times as: shapes("geometric mean")
//= 60 %: 100 * shapes("at least 1")
//= 2.9 times as: shapes("4,4096,4096")
//= 2.2 times for: shapes("8,8,100000")
//= 0.5 in: shapes("one tile")
//
// The function is *not* faster everywhere. At 4096 x 4096 x 4096 it is at 0.98; for one shape in ten it is below 0.8. What cuBLAS does
// better for these was not measured; the notes list what was tried.
//= 0.98: shapes("4096,4096,4096")
//= 0.8: shapes("p10")
//
// Some shapes are timed with all candidates. How much longer the choice takes than the best of them is its *regret*: 0 % in
// the median, 15 % at the 90th percentile. Two timings of the same kernel differ by 1 % in the median.
//= 0 % in: 100 * shapes("regret median")
//= 15 %: 100 * shapes("regret p90")
//= by 1 %: 100 * shapes("noise median")
//
// ## What to remember
//
// - Know the floors of a shape, FMAs, bytes and start, before you ask what a kernel loses.
// - All SMs have to work: split K where C has few tiles, stream the large operand where C is thin.
// - Add up in a fixed order. Atomics on C are short to write, and their sums differ from run to run.
// - Tests do not belong in the loop: copy what exists last in place of what does not exist, and zeros beyond K.
// - Who waits for a block must know that it has begun: draw numbers from a ticket, and wait for smaller ones.
// - What should help may not: measure a test in the loop, or a bulk copy, before you keep it.
//
// ## Possibilities for extension
//
// 1. Let `sgemm` use `split_k_cluster` where the device has clusters. For which shapes does it become the best?
// 2. Let the loading warps use TMA where all rows are aligned, as chapter 12 does. What does it gain at 4096?
// 3. Fit the constants on your GPU from the times of `tools/measure/any_shape`. How much better is the choice?
// 4. Add a bias and a ReLU to `update4`. What does it save over a second kernel?
// 5. Copy A and B once into aligned, padded panels, as CPU libraries do. From which size on does that pay at 4001?
