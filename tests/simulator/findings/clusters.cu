// Faults between the blocks of a cluster.
#include <cooperative_groups.h>

#include "planted.h"

namespace cg = cooperative_groups;

namespace {

constexpr unsigned kBlocks = 4;

// clang-format off
template <class Kernel, class... A>
void in_clusters(Kernel kernel, unsigned blocks, unsigned size, A... arguments) {
  cudaLaunchConfig_t config = {};
  config.gridDim = blocks, config.blockDim = 64;
  cudaLaunchAttribute shape = {};
  shape.id = cudaLaunchAttributeClusterDimension;
  shape.val.clusterDim = {size, 1, 1};
  config.attrs = &shape, config.numAttrs = 1;
  cudaLaunchKernelEx(&config, kernel, arguments...);  // fault: cluster_of_nine // fault: cluster_no_divisor
}

// Blocks add up what all have, each the share of a thread.
__global__ void add_up(int* out, bool waits) {
  __shared__ int part[64];
  const auto cluster = cg::this_cluster();
  part[threadIdx.x] = static_cast<int>(threadIdx.x);
  cluster.sync();
  int sum = 0;
  for (int b = 0; b < static_cast<int>(cluster.num_blocks()); ++b)
    sum += cluster.map_shared_rank(part, b)[threadIdx.x];  // fault: cluster_exits_early
  out[blockIdx.x * 64 + threadIdx.x] = sum;
  if (waits) cluster.sync();
}
void cluster_exits_early(bool fixed) {
  OnDevice<int> out(kBlocks * 64);
  in_clusters(add_up, kBlocks, kBlocks, out.data(), fixed);
}
void cluster_of_nine(bool fixed) {
  OnDevice<int> out(9 * 64);
  in_clusters(add_up, 9, fixed ? 3 : 9, out.data(), true);
}
void cluster_no_divisor(bool fixed) {
  OnDevice<int> out(9 * 64);
  in_clusters(add_up, 9, fixed ? 3 : 2, out.data(), true);
}

// One block reads, the other one has nothing to do any more.
__global__ void read_last(int* out, bool waits) {
  __shared__ int part[64];
  const auto cluster = cg::this_cluster();
  part[threadIdx.x] = static_cast<int>(threadIdx.x);
  cluster.sync();
  if (cluster.block_rank() == 1) out[threadIdx.x] = cluster.map_shared_rank(part, 0)[threadIdx.x];  // fault: cluster_reader_is_last
  if (waits) cluster.sync();
}
void cluster_reader_is_last(bool fixed) {
  OnDevice<int> out(64);
  in_clusters(read_last, 2, 2, out.data(), fixed);
}

// What each block has written reaches its neighbour.
__global__ void pass_on(int* out, bool meets) {
  __shared__ int part[64], got[64];
  const auto cluster = cg::this_cluster();
  part[threadIdx.x] = static_cast<int>(threadIdx.x);
  cluster.sync();
  const int next = static_cast<int>((cluster.block_rank() + 1) % cluster.num_blocks());
  cluster.map_shared_rank(got, next)[threadIdx.x] = part[threadIdx.x] + 1;  // fault: cluster_no_sync
  if (meets) cluster.sync();
  else __syncthreads();
  out[blockIdx.x * 64 + threadIdx.x] = got[63 - threadIdx.x];  // fault: cluster_no_sync
  cluster.sync();
}
void cluster_no_sync(bool fixed) {
  OnDevice<int> out(kBlocks * 64);
  in_clusters(pass_on, kBlocks, kBlocks, out.data(), fixed);
}

// A row that is changed while a neighbour still reads it.
__global__ void reuse(int* out, bool meets) {
  __shared__ int part[64];
  const auto cluster = cg::this_cluster();
  const int next = static_cast<int>((cluster.block_rank() + 1) % cluster.num_blocks());
  part[threadIdx.x] = static_cast<int>(threadIdx.x);
  cluster.sync();
  out[blockIdx.x * 64 + threadIdx.x] = cluster.map_shared_rank(part, next)[threadIdx.x];  // fault: cluster_reuse
  if (meets) cluster.sync();
  else __syncthreads();
  part[threadIdx.x] = 7;  // fault: cluster_reuse
  cluster.sync();
}
void cluster_reuse(bool fixed) {
  OnDevice<int> out(kBlocks * 64);
  in_clusters(reuse, kBlocks, kBlocks, out.data(), fixed);
}

// A block that may not have begun.
__global__ void write_at_once(int* out, bool meets) {
  __shared__ int got;
  const auto cluster = cg::this_cluster();
  if (meets) cluster.sync();
  if (cluster.block_rank() == 0 && threadIdx.x == 0) *cluster.map_shared_rank(&got, 1) = 3;  // fault: cluster_not_begun
  cluster.sync();
  if (cluster.block_rank() == 1 && threadIdx.x == 0) *out = got;
}
void cluster_not_begun(bool fixed) {
  OnDevice<int> out(1);
  in_clusters(write_at_once, 2, 2, out.data(), fixed);
}

// A rank that the cluster does not have.
__global__ void next_rank(int* out, bool wraps) {
  __shared__ int part;
  const auto cluster = cg::this_cluster();
  part = 5;
  cluster.sync();
  const int next = static_cast<int>(cluster.block_rank()) + 1, size = static_cast<int>(cluster.num_blocks());
  const int* const other = cluster.map_shared_rank(&part, wraps ? next % size : next);  // fault: cluster_rank_outside
  if (threadIdx.x == 0) out[blockIdx.x] = *other;
  cluster.sync();
}
void cluster_rank_outside(bool fixed) {
  OnDevice<int> out(2);
  in_clusters(next_rank, 2, 2, out.data(), fixed);
}

// An index that leaves the other block's array.
__global__ void past_end(int* out, bool stays) {
  __shared__ int part[64];
  const auto cluster = cg::this_cluster();
  part[threadIdx.x] = static_cast<int>(threadIdx.x);
  cluster.sync();
  out[blockIdx.x * 64 + threadIdx.x] = cluster.map_shared_rank(part, 1)[(threadIdx.x + 1) % (stays ? 64 : 128)];  // fault: cluster_past_end
  cluster.sync();
}
void cluster_past_end(bool fixed) {
  OnDevice<int> out(2 * 64);
  in_clusters(past_end, 2, 2, out.data(), fixed);
}

// The barrier in two halves, of which the second is missing.
__global__ void halves(int* out, bool waits) {
  __shared__ int part;
  const auto cluster = cg::this_cluster();
  if (threadIdx.x == 0) part = 5;
  auto token = cluster.barrier_arrive();
  if (waits) cluster.barrier_wait(static_cast<decltype(token)&&>(token));
  cg::this_cluster().barrier_arrive();  // fault: cluster_arrives_twice
  cg::this_cluster().barrier_wait();
  if (threadIdx.x == 0) out[blockIdx.x] = part;
}
void cluster_arrives_twice(bool fixed) {
  OnDevice<int> out(2);
  in_clusters(halves, 2, 2, out.data(), fixed);
}
// clang-format on

}  // namespace

const std::vector<Planted> kClusters = {
    {"cluster_exits_early", "absent-block", cluster_exits_early, false},
    {"cluster_reader_is_last", "absent-block", cluster_reader_is_last, false},
    {"cluster_of_nine", "api-error", cluster_of_nine, false},
    {"cluster_no_divisor", "api-error", cluster_no_divisor, false},
    {"cluster_no_sync", "shared-race", cluster_no_sync, false},
    {"cluster_reuse", "shared-race", cluster_reuse, false},
    {"cluster_not_begun", "absent-block", cluster_not_begun, false},
    {"cluster_rank_outside", "trap", cluster_rank_outside, false},
    {"cluster_past_end", "out-of-bounds", cluster_past_end, false},
    {"cluster_arrives_twice", "trap", cluster_arrives_twice, false},
};
