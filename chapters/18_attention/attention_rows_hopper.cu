// ## Rows in a cluster (second reading)
//
// The rung `cluster_row` of section 3. Blocks of a {term}`cluster` run at the same time, on SMs near each other, and read
// and write each other's shared memory (distributed shared memory). So they can keep a row together, each block a slice of
// it in registers: every warp writes its state into the shared memory of all blocks of the cluster, and one barrier later
// each block has all states.
//
// The clusters are persistent: each takes one row after the other. A block has always the same slice, so it loads its part
// of the weights once, and it can load its slice of the next row before it waits for the states of this one.
//
// On an H200 this is slower than a block for each row, for all three operations: 0.85 of a copy for the softmax, 0.84 for layer
// norm, 0.89 for RMS norm, where `block_row` reaches 0.98, 0.96 and 0.94. Rows that are too long for a block's registers
// would need it.
//= 0.85 of: ratio("cluster_row/softmax,long")
//= 0.84 for layer: ratio("cluster_row/layer_norm,long")
//= 0.89 for RMS: ratio("cluster_row/rms_norm,long")
//= reaches 0.98, 0.96 and 0.94: (ratio("block_row/softmax,long"), ratio("block_row/layer_norm,long"), ratio("block_row/rms_norm,long"))

#include <cooperative_groups.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <cstddef>

#include "lab/lab.h"
#include "rows.h"

namespace cg = cooperative_groups;

/// Each row by a cluster of CLUSTER blocks, as `block_row` by a block.
///
/// Launch: blocks of THREADS threads in clusters of CLUSTER, with 2 * N * THREADS float4s of dynamic shared memory; as many
/// clusters as run at the same time. cols <= 4 * CLUSTER * THREADS * N.
/// Requires: compute capability 9.0; cols a multiple of 4.
template <class Op, int N, int THREADS, int CLUSTER>
__global__ void __launch_bounds__(THREADS, 512 / THREADS)
    cluster_row(float* __restrict__ out, const float* __restrict__ in,
                const float* __restrict__ gamma, const float* __restrict__ beta, int rows,
                int cols) {
  constexpr int WARPS = THREADS / 32, STEP = 4 * CLUSTER * THREADS;
  extern __shared__ float4 slices[];  // of gamma, (N, THREADS), and of beta
  __shared__ typename Op::State states[2][CLUSTER * WARPS];
  const cg::cluster_group cluster = cg::this_cluster();
  const int t = threadIdx.x, rank = static_cast<int>(cluster.block_rank());
  const int first = 4 * (rank * THREADS + t);  // column
  const int clusters = static_cast<int>(gridDim.x) / CLUSTER;
  if constexpr (Op::has_weights) {
#pragma unroll
    for (int i = 0; i < N; ++i) {
      slices[i * THREADS + t] = load_float4<true>(gamma, first + i * STEP, cols, 0);
      slices[(N + i) * THREADS + t] = load_float4<true>(beta, first + i * STEP, cols, 0);
    }
  }
  float4 x[N], next[N];
  const auto load = [&](float4(&to)[N], int row) {
#pragma unroll
    for (int i = 0; i < N; ++i) {
      to[i] = load_float4<true>(in + std::size_t(row) * cols, first + i * STEP,
                                row < rows ? cols : 0, Op::pad);
    }
  };
  cluster.sync();  // all of its blocks run: their shared memory may be written
  int row = static_cast<int>(blockIdx.x) / CLUSTER, turn = 0;
  load(next, row);
  for (; row < rows; row += clusters, turn ^= 1) {
#pragma unroll
    for (int i = 0; i < N; ++i) x[i] = next[i];
    const auto own = merged_by_warp<Op>(Op::template of<true>(x, first, STEP, cols));
    load(next, row + clusters);
    // Lane b writes to block b. The states of the row before, which others may still read, are in the other half.
    if (t % 32 < CLUSTER) {
      *cluster.map_shared_rank(&states[turn][rank * WARPS + t / 32], t % 32) = own;
    }
    cluster.sync();
    typename Op::State part = Op::none();
    for (int i = t % 32; i < CLUSTER * WARPS; i += 32) part = Op::merge(part, states[turn][i]);
    const auto all = merged_by_warp<Op>(part);
#pragma unroll
    for (int i = 0; i < N; ++i) {
      float4 scale = make_float4(0, 0, 0, 0), shift = scale;
      if constexpr (Op::has_weights) {
        scale = slices[i * THREADS + t], shift = slices[(N + i) * THREADS + t];
      }
      store_float4<true>(out + std::size_t(row) * cols, first + i * STEP, cols,
                         Op::map(x[i], all, scale, shift));
    }
  }
}

namespace {

/// Launches `cluster_row`.
template <class Op, int N, int THREADS, int CLUSTER>
void by_clusters(const Rows& r) {
  const auto kernel = cluster_row<Op, N, THREADS, CLUSTER>;
  cudaLaunchAttribute shape = {};
  shape.id = cudaLaunchAttributeClusterDimension;
  shape.val.clusterDim = {CLUSTER, 1, 1};
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3(CLUSTER), config.blockDim = dim3(THREADS);
  config.dynamicSmemBytes = 2 * N * THREADS * sizeof(float4);
  config.attrs = &shape, config.numAttrs = 1;
  CUDA_CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                  static_cast<int>(config.dynamicSmemBytes)));
  int clusters = 0;
  CUDA_CHECK(cudaOccupancyMaxActiveClusters(&clusters, kernel, &config));
  config.gridDim = dim3(static_cast<unsigned>(CLUSTER * std::min(clusters, r.rows)));
  CUDA_CHECK(cudaLaunchKernelEx(&config, kernel, r.out, r.in, r.gamma, r.beta, r.rows, r.cols));
}

const lab::Rungs here([](RowLaunches& launches) {
  launches.push_back({"cluster_row", "", 3, 0, by_clusters<Softmax, 8, 128, 8>});
  launches.push_back({"cluster_row", "", 3, 1, by_clusters<LayerNorm, 8, 128, 8>});
  launches.push_back({"cluster_row", "", 3, 2, by_clusters<RmsNorm, 8, 128, 8>});
});

}  // namespace
