// Faults between the blocks of a cluster.
#include <cooperative_groups.h>

#include <cstdint>
#include <cuda/ptx>

#include "planted.h"

namespace cg = cooperative_groups;
namespace ptx = cuda::ptx;

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

// Two blocks that load halves of each stage for each other.
enum class Ring { right, waits_for_own, exits_early };
__device__ std::uint32_t in_block(const std::uint64_t* barrier, unsigned rank) {
  std::uint32_t there;
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(static_cast<std::uint32_t>(__cvta_generic_to_shared(barrier))), "r"(rank));
  return there;
}
__global__ void ring(const float* in, float* out, Ring how) {
  __shared__ __align__(128) float stage[64];
  __shared__ std::uint64_t full, empty;
  const auto cluster = cg::this_cluster();
  const unsigned rank = cluster.block_rank(), t = threadIdx.x;
  const bool is_own = how == Ring::waits_for_own;
  if (t == 0) {
    ptx::mbarrier_init(&full, 1);
    ptx::mbarrier_init(&empty, is_own ? 1 : 2);
    ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
  }
  cluster.sync();
  for (int i = 0; i < 6; ++i) {
    if (t == 32) {
      while (!ptx::mbarrier_try_wait_parity(&empty, (i + 1) % 2)) {}
      ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &full, 256);
      ptx::cp_async_bulk(ptx::space_cluster, ptx::space_global, stage + 32 * rank, in + 32 * rank, 128, &full, std::uint16_t{3});  // fault: cluster_stage_in_use
    }
    if (t < 32) {
      while (!ptx::mbarrier_try_wait_parity(&full, i % 2)) {}
      if (rank == 1) __nanosleep(100);
      out[64 * rank + t] = stage[t] + stage[t + 32];  // fault: cluster_stage_in_use
      __syncwarp();
      if (is_own ? t == 0 : t < 2)
        asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" ::"r"(in_block(&empty, is_own ? rank : t)) : "memory");  // fault: cluster_last_arrival
    }
  }
  if (how != Ring::exits_early) cluster.sync();
}
void cluster_stage_in_use(bool fixed) {
  OnDevice<float> in(64), out(128);
  in_clusters(ring, 2, 2, static_cast<const float*>(in.data()), out.data(), fixed ? Ring::right : Ring::waits_for_own);
}
void cluster_last_arrival(bool fixed) {
  OnDevice<float> in(64), out(128);
  in_clusters(ring, 2, 2, static_cast<const float*>(in.data()), out.data(), fixed ? Ring::right : Ring::exits_early);
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
    {"cluster_stage_in_use", "shared-race", cluster_stage_in_use, false},
    {"cluster_last_arrival", "absent-block", cluster_last_arrival, false},
};
