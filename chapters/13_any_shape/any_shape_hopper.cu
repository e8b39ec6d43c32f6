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
//
//? cluster: 4096 x 64 x 4096 has 64 tiles of 64 x 64; each of them gets 4 parts, with and without clusters. How long does the cluster take,
//?   compared with tickets?
//? choices: less than 0.9 | 0.9 to 1.1 | more than 1.1
//? answer: {"less than 0.9": ms("split_k_cluster", "4096,64,4096") / ms("split_k_ordered/tickets", "4096,64,4096") < 0.9,
//?   "0.9 to 1.1": 0.9 <= ms("split_k_cluster", "4096,64,4096") / ms("split_k_ordered/tickets", "4096,64,4096") <= 1.1,
//?   "more than 1.1": ms("split_k_cluster", "4096,64,4096") / ms("split_k_ordered/tickets", "4096,64,4096") > 1.1}
//
// 1.32 times as long; why was not measured. The cluster wins at 256 x 256 x 256, 0.0107 ms in place of 0.0116, but the function, by
// slices, takes 0.0084. At 128 x 128 x 8192 four tiles in 8 parts make 32 blocks, and it takes 0.041 ms, where 64 parts and a second
// kernel take 0.022. So the function does not use it.
//= 1.32 times as: ms("split_k_cluster", "4096,64,4096") / ms("split_k_ordered/tickets", "4096,64,4096")
//= 0.0107 ms: ms("split_k_cluster", 256)
//= place of 0.0116: ms("split_k_ordered/tickets", 256)
//= takes 0.0084: ms("choose", 256)
//= 0.041 ms: ms("split_k_cluster", "128,128,8192")
//= take 0.022: ms("split_k_ordered/second kernel", "128,128,8192")

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
// Chapter 12's kernel has warps that load and warps that compute. It takes matrices of one layout, and copies B with TMA where its
// rows are aligned. `specialized_sm90.cuh` has the same loop for all layouts. The computing warps see (K, rows) and (K, columns) in shared memory,
// whatever lies in global memory, and only the loading warps know: they copy 4 bytes at a time and transpose an operand along K;
// otherwise 4, 8 or 16 bytes of a row, as alignment allows. They ask for the layout as the kernel runs, so one kernel for each tile
// is enough, where the portable tiles need seven. What asking costs them was not measured.
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
// for `nvcc -gencode arch=compute_90a,code=sm_90a`. At M = N = K = 4001 it takes 2.69 ms, with the portable menu 3.06; cuBLAS
// takes 2.80. At 1500 it is 0.158 ms in place of 0.176.
//= 2.69 ms: ms("choose_specialized", 4001)
//= menu 3.06: ms("choose", 4001)
//= takes 2.80: ms("cublas", 4001)
//= 0.158 ms: ms("choose_specialized", 1500)
//= place of 0.176: ms("choose", 1500)

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
// Over these shapes the function is 1.49 times as fast as cuBLAS in the geometric mean, and as fast or faster for 85 %. On thin
// ones the two differ most: cuBLAS takes 2.9 times as long for 4 x 4096 x 4096, and 23 times for one of the random shapes,
// 7 x 121 x 155; but at 1 x 4096 x 4096 the function is at 0.86, and at 1816 x 20 x 7244 at 0.92. The one tile of section 1 was at 0.22.
//= 1.49 times as: shapes("geometric mean")
//= 85 %: 100 * shapes("at least 1")
//= 2.9 times as: shapes("4,4096,4096")
//= 23 times: shapes("most")
//= at 0.86: shapes("1,4096,4096")
//= at 0.92: shapes("1816,20,7244")
//= at 0.22: shapes("one tile")
//
// On 500 of the shapes the eight algorithms that cublasLt proposes were timed as well: beside the fastest of them the function is at 1.20, and as fast or faster for 73 %.
//= 500: shapes("cublasLt's best of eight, shapes")
//= at 1.20: shapes("cublasLt's best of eight, geometric mean")
//= 73 %: 100 * shapes("cublasLt's best of eight, at least 1")
//
// The function is *not* faster everywhere. One shape in ten is below 0.95, and the worst of the random ones is at 0.63:
//= 0.95: shapes("p10")
//= at 0.63: shapes("least")
//
// | Random shapes | how many | geometric mean | at or above 1 | below 0.9 |
// |---|--:|--:|--:|--:|
// | up to a million FMAs | 1,043 | 1.76 | 95 % | 2 % |
// | up to 50 million | 607 | 1.36 | 83 % | 8 % |
// | up to 5,000 million | 299 | 1.06 | 56 % | 14 % |
// | these, M, N and K multiples of 4 | 183 | 1.08 | 62 % | 10 % |
// | the others of these | 116 | 1.05 | 47 % | 20 % |
// | more | 51 | 1.03 | 65 % | 2 % |
// | M and N above 256, K from 17 to 1024 | 126 | 0.99 | 40 % | 22 % |
// | M and N above 256, K above 1024 | 67 | 1.03 | 67 % | 0 % |
// | one of M, N from 17 to 256, the other from 2048, K from 17 to 1024 | 92 | 1.08 | 53 % | 16 % |
// | N from 2 to 16, M from 2048, K from 128 | 57 | 1.44 | 86 % | 5 % |
//= 1,043 | 1.76 | 95 % | 2 %: shapes("count", "m * n * k < 1e6"),
//=   shapes("geometric mean", "m * n * k < 1e6"),
//=   100 * shapes("at least 1", "m * n * k < 1e6"),
//=   100 - 100 * shapes("at least 0.9", "m * n * k < 1e6")
//= 607 | 1.36 | 83 % | 8 %: shapes("count", "1e6 <= m * n * k < 5e7"),
//=   shapes("geometric mean", "1e6 <= m * n * k < 5e7"),
//=   100 * shapes("at least 1", "1e6 <= m * n * k < 5e7"),
//=   100 - 100 * shapes("at least 0.9", "1e6 <= m * n * k < 5e7")
//= 299 | 1.06 | 56 % | 14 %: shapes("count", "5e7 <= m * n * k < 5e9"),
//=   shapes("geometric mean", "5e7 <= m * n * k < 5e9"),
//=   100 * shapes("at least 1", "5e7 <= m * n * k < 5e9"),
//=   100 - 100 * shapes("at least 0.9", "5e7 <= m * n * k < 5e9")
//= 183 | 1.08 | 62 % | 10 %: shapes("count", "5e7 <= m * n * k < 5e9 and m % 4 == n % 4 == k % 4 == 0"),
//=   shapes("geometric mean", "5e7 <= m * n * k < 5e9 and m % 4 == n % 4 == k % 4 == 0"),
//=   100 * shapes("at least 1", "5e7 <= m * n * k < 5e9 and m % 4 == n % 4 == k % 4 == 0"),
//=   100 - 100 * shapes("at least 0.9", "5e7 <= m * n * k < 5e9 and m % 4 == n % 4 == k % 4 == 0")
//= 116 | 1.05 | 47 % | 20 %: shapes("count", "5e7 <= m * n * k < 5e9 and m % 4 + n % 4 + k % 4 > 0"),
//=   shapes("geometric mean", "5e7 <= m * n * k < 5e9 and m % 4 + n % 4 + k % 4 > 0"),
//=   100 * shapes("at least 1", "5e7 <= m * n * k < 5e9 and m % 4 + n % 4 + k % 4 > 0"),
//=   100 - 100 * shapes("at least 0.9", "5e7 <= m * n * k < 5e9 and m % 4 + n % 4 + k % 4 > 0")
//= 51 | 1.03 | 65 % | 2 %: shapes("count", "m * n * k >= 5e9"),
//=   shapes("geometric mean", "m * n * k >= 5e9"),
//=   100 * shapes("at least 1", "m * n * k >= 5e9"),
//=   100 - 100 * shapes("at least 0.9", "m * n * k >= 5e9")
//= 126 | 0.99 | 40 % | 22 %: shapes("count", "min(m, n) > 256 and 17 <= k <= 1024"),
//=   shapes("geometric mean", "min(m, n) > 256 and 17 <= k <= 1024"),
//=   100 * shapes("at least 1", "min(m, n) > 256 and 17 <= k <= 1024"),
//=   100 - 100 * shapes("at least 0.9", "min(m, n) > 256 and 17 <= k <= 1024")
//= 67 | 1.03 | 67 % | 0 %: shapes("count", "min(m, n) > 256 and k > 1024"),
//=   shapes("geometric mean", "min(m, n) > 256 and k > 1024"),
//=   100 * shapes("at least 1", "min(m, n) > 256 and k > 1024"),
//=   100 - 100 * shapes("at least 0.9", "min(m, n) > 256 and k > 1024")
//= 92 | 1.08 | 53 % | 16 %: shapes("count", "17 <= min(m, n) <= 256 and max(m, n) >= 2048 and 17 <= k <= 1024"),
//=   shapes("geometric mean", "17 <= min(m, n) <= 256 and max(m, n) >= 2048 and 17 <= k <= 1024"),
//=   100 * shapes("at least 1", "17 <= min(m, n) <= 256 and max(m, n) >= 2048 and 17 <= k <= 1024"),
//=   100 - 100 * shapes("at least 0.9", "17 <= min(m, n) <= 256 and max(m, n) >= 2048 and 17 <= k <= 1024")
//= 57 | 1.44 | 86 % | 5 %: shapes("count", "2 <= n <= 16 and m >= 2048 and k >= 128"),
//=   shapes("geometric mean", "2 <= n <= 16 and m >= 2048 and k >= 128"),
//=   100 * shapes("at least 1", "2 <= n <= 16 and m >= 2048 and k >= 128"),
//=   100 - 100 * shapes("at least 0.9", "2 <= n <= 16 and m >= 2048 and k >= 128")
//
// Little products gain most. The middle loses: one product in seven of 50 to 5,000 million FMAs is below 0.9, and more where M and N are large
// and K is not, or where an extent is no multiple of four. At 4096 x 4096 x 4096 the function is at 0.98, at 4001 x 4001 x 4001 at 1.04.
// 1 x 1 x 1000000 is at 0.67. What cuBLAS does better for these was not measured.
//= 0.98: shapes("4096,4096,4096")
//= at 1.04: shapes("4001,4001,4001")
//= at 0.67: shapes("1,1,1000000")
//
// Some shapes are timed with all candidates. How much longer the choice takes than the best of them is its *regret*: 0 % in
// the median, 9 % at the 90th percentile, 32 % at the 99th. Two timings of the same kernel differ by 0.4 % at the 99th
// percentile. The largest regrets are those of small products: 6 x 3576 x 8 takes 1.46 times as long as with the best kernel.
//= 0 % in: 100 * shapes("regret median")
//= 9 %: 100 * shapes("regret p90")
//= 32 %: 100 * shapes("regret p99")
//= 0.4 % at: 100 * shapes("noise p99")
//= 1.46 times as: 1 + 0.459042
//
// ## What to remember
//
// - Know the floors of a shape, FMAs, bytes and start, before you ask what a kernel loses.
// - All SMs have to work: split K where C has few tiles, and stream the large operand where C has one row or column, or a few. With
//   16, tiles in slices are faster.
// - Add up in a fixed order. Atomics on C are short to write, and their sums differ from run to run.
// - Tests do not belong in the loop: copy what exists last in place of what does not exist, and zeros beyond K.
// - A block may wait only for blocks that have begun: draw numbers from a ticket, and wait for smaller ones.
//
// ## Possibilities for extension
//
// 1. Let `sgemm` use `split_k_cluster` where the device has clusters. For which shapes does it become the best?
// 2. Let the loading warps use TMA where all rows are aligned, as chapter 12 does. What does it gain at 4096?
// 3. Fit the constants on your GPU from the times of `tools/measure/any_shape`. How much better is the choice?
// 4. Add a bias and a ReLU to `update4`. What does it save over a second kernel?
// 5. Copy A and B once into aligned, padded panels, as CPU libraries do. From which size on does that pay at 4001?
