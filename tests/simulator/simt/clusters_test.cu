// Clusters: their launch, their barrier, and what their blocks read and write in each other's shared memory.
#include <cooperative_groups.h>
#include <gtest/gtest.h>
#include <simt/simt.h>

#include <cstdint>
#include <cuda/ptx>
#include <utility>
#include <vector>

#include "buffer.h"

namespace cg = cooperative_groups;
namespace ptx = cuda::ptx;

namespace {

struct Ints : Buffer<int> {
  using Buffer<int>::Buffer;
  int operator[](size_t i) const {
    int value = 0;
    EXPECT_EQ(cudaMemcpy(&value, data() + i, sizeof(int), cudaMemcpyDeviceToHost), cudaSuccess);
    return value;
  }
};

void expect_silence() {
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  for (const simt::Finding& finding : simt::take_findings()) ADD_FAILURE() << finding.message;
}

template <class Kernel, class... A>
cudaError_t launch(Kernel kernel, dim3 grid, dim3 block, dim3 cluster, A... arguments) {
  cudaLaunchConfig_t config = {};
  config.gridDim = grid, config.blockDim = block;
  cudaLaunchAttribute shape = {};
  shape.id = cudaLaunchAttributeClusterDimension;
  shape.val.clusterDim = {cluster.x, cluster.y, cluster.z};
  config.attrs = &shape, config.numAttrs = 1;
  return cudaLaunchKernelEx(&config, kernel, arguments...);
}

// What each block says of itself, by its place in the grid.
__global__ void names(int* rank, int* blocks, int* first) {
  const auto cluster = cg::this_cluster();
  __shared__ int own;
  own = static_cast<int>((blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x);
  cluster.sync();
  rank[own] = static_cast<int>(cluster.block_rank());
  blocks[own] = static_cast<int>(cluster.num_blocks());
  first[own] = *cluster.map_shared_rank(&own, 0);
  cluster.sync();
}

TEST(Clusters, RanksRunAlongX) {
  Ints rank(16), blocks(16), first(16);
  ASSERT_EQ(
      launch(names, dim3(4, 2, 2), 1, dim3(2, 2, 1), rank.data(), blocks.data(), first.data()),
      cudaSuccess);
  expect_silence();
  for (int z = 0; z < 2; ++z) {
    for (int y = 0; y < 2; ++y) {
      for (int x = 0; x < 4; ++x) {
        const size_t at = static_cast<size_t>((z * 2 + y) * 4 + x);
        EXPECT_EQ(rank[at], y * 2 + x % 2) << x << ' ' << y << ' ' << z;
        EXPECT_EQ(blocks[at], 4);
        EXPECT_EQ(first[at], z * 8 + x / 2 * 2) << x << ' ' << y << ' ' << z;
      }
    }
  }
}

__global__ void __cluster_dims__(2, 1, 1) __launch_bounds__(32) in_pairs(int* out) {
  const auto cluster = cg::this_cluster();
  if (threadIdx.x == 0)
    out[blockIdx.x] = static_cast<int>(10 * cluster.dim_blocks().x + cluster.block_rank());
}

TEST(Clusters, AKernelHasItsOwn) {
  Ints out(4);
  in_pairs<<<4, 32>>>(out.data());
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
  expect_silence();
  EXPECT_EQ(out[2], 20);
  EXPECT_EQ(out[3], 21);
  in_pairs<<<3, 32>>>(out.data());
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidClusterSize);
  EXPECT_EQ(launch(in_pairs, 4, 32, 4, out.data()), cudaErrorInvalidClusterSize);
  simt::take_findings();
}

TEST(Clusters, WhatAGpuRefuses) {
  Ints out(32);
  for (const unsigned size : {3u, 9u, 16u}) {
    EXPECT_EQ(launch(names, size == 3 ? 4 : 2 * size, 1, size, out.data(), out.data(), out.data()),
              cudaErrorInvalidClusterSize)
        << size;
  }
  EXPECT_EQ(launch(names, dim3(2, 3), 1, dim3(1, 2), out.data(), out.data(), out.data()),
            cudaErrorInvalidClusterSize);
  simt::take_findings();
}

TEST(Clusters, ABlockAloneIsACluster) {
  Ints out(2);
  names<<<1, 1>>>(out.data(), out.data() + 1, out.data());
  expect_silence();
  EXPECT_EQ(out[1], 1);
}

// Each block sums up what all have: in turns, by float4, into a neighbour, by atomics.
__global__ void sums(int* out, int rounds) {
  extern __shared__ int4 row[];
  __shared__ int total, got[64];
  const auto cluster = cg::this_cluster();
  const unsigned rank = cluster.block_rank(), blocks = cluster.num_blocks(), t = threadIdx.x;
  for (int round = 0; round < rounds; ++round) {
    const int x = static_cast<int>(rank * 100 + t) + round;
    row[t] = make_int4(x, x, x, x);
    if (t == 0) total = 0;
    cluster.sync();
    int sum = 0;
    for (unsigned b = 0; b < blocks; ++b) {
      const int4 other = cluster.map_shared_rank(row, static_cast<int>(b))[63 - t];
      sum += other.x + other.w;
    }
    cluster.map_shared_rank(got, static_cast<int>((rank + 1) % blocks))[t] = sum;
    atomicAdd(cluster.map_shared_rank(&total, 0), 1);
    cluster.sync();
    out[blockIdx.x * 64 + t] = got[t] + *cluster.map_shared_rank(&total, 0);
    auto token = cluster.barrier_arrive();
    cluster.barrier_wait(std::move(token));
  }
}

TEST(Clusters, BlocksReadAndWriteEachOthersMemory) {
  for (const unsigned size : {2u, 8u}) {
    Ints out(3 * size * 64);
    cudaLaunchConfig_t config = {};
    config.gridDim = 3 * size, config.blockDim = 64, config.dynamicSmemBytes = 64 * sizeof(int4);
    cudaLaunchAttribute shape = {};
    shape.id = cudaLaunchAttributeClusterDimension;
    shape.val.clusterDim = {size, 1, 1};
    config.attrs = &shape, config.numAttrs = 1;
    ASSERT_EQ(cudaLaunchKernelEx(&config, sums, out.data(), 3), cudaSuccess);
    expect_silence();
    int wrong = 0;
    for (unsigned i = 0; i < 3 * size * 64; ++i) {
      int expected = static_cast<int>(size * 64);
      for (unsigned b = 0; b < size; ++b)
        expected += 2 * static_cast<int>(b * 100 + 63 - i % 64 + 2);
      wrong += out[i] != expected;
    }
    EXPECT_EQ(wrong, 0) << size;
  }
}

// Threads of a block that exit are not waited for.
__global__ void some_exit(int* out) {
  __shared__ int x;
  const auto cluster = cg::this_cluster();
  if (threadIdx.x >= 40) return;
  if (threadIdx.x == 0) x = 5 + static_cast<int>(cluster.block_rank());
  cluster.sync();
  if (threadIdx.x == 0) out[blockIdx.x] = *cluster.map_shared_rank(&x, 1);
  cluster.sync();
}

TEST(Clusters, ThreadsThatHaveExitedAreNotWaitedFor) {
  Ints out(2);
  ASSERT_EQ(launch(some_exit, 2, 64, 2, out.data()), cudaSuccess);
  expect_silence();
  EXPECT_EQ(out[0], 6);
}

// The barrier orders what blocks do to global memory, too.
__global__ void by_global_memory(int* x, int* out) {
  const auto cluster = cg::this_cluster();
  const unsigned rank = cluster.block_rank();
  if (threadIdx.x == 0) x[blockIdx.x] = static_cast<int>(rank) + 1;
  cluster.sync();
  if (threadIdx.x == 0) out[blockIdx.x] = x[blockIdx.x ^ 1];
}

TEST(Clusters, TheBarrierOrdersGlobalMemory) {
  Ints x(4), out(4);
  ASSERT_EQ(launch(by_global_memory, 4, 32, 2, x.data(), out.data()), cudaSuccess);
  expect_silence();
  EXPECT_EQ(out[0], 2);
  EXPECT_EQ(out[3], 1);
}

// A block waits for a flag that another one sets in its memory.
__global__ void by_flag(int* out) {
  __shared__ int flag, value;
  const auto cluster = cg::this_cluster();
  if (threadIdx.x == 0) flag = 0;
  cluster.sync();
  if (cluster.block_rank() == 1) {
    if (threadIdx.x == 0) {
      *cluster.map_shared_rank(&value, 0) = 7;
      __threadfence();
      atomicExch(cluster.map_shared_rank(&flag, 0), 1);
    }
  } else if (threadIdx.x == 0) {
    while (atomicAdd(&flag, 0) == 0) {
    }
    out[0] = value;
  }
  cluster.sync();
}

TEST(Clusters, AFlagBehindAFenceOrders) {
  Ints out(1);
  ASSERT_EQ(launch(by_flag, 2, 32, 2, out.data()), cudaSuccess);
  expect_silence();
  EXPECT_EQ(out[0], 7);
}

__global__ void lost() {
  if (cg::this_cluster().block_rank() == 0) cg::this_cluster().barrier_arrive();
  __shared__ volatile int never;
  never = 0;
  __syncthreads();
  while (cg::this_cluster().block_rank() == 0 && never == 0) {
  }
}

TEST(Clusters, AHangIsTold) {
  if (IS_FAST) GTEST_SKIP() << "nothing is watched";
  ASSERT_EQ(launch(lost, 2, 32, 2), cudaSuccess);
  EXPECT_NE(cudaDeviceSynchronize(), cudaSuccess);
  const auto findings = simt::take_findings();
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].kind, "hang");
  cudaDeviceReset();
}

// A load of another block's shared memory counts as one of shared memory.
__global__ void one_load(int* out) {
  __shared__ int row[32 * 32];
  const auto cluster = cg::this_cluster();
  for (int i = 0; i < 32; ++i) row[32 * i + threadIdx.x] = 1;
  cluster.sync();
  out[threadIdx.x] = cluster.map_shared_rank(row, 1)[32 * threadIdx.x];
  cluster.sync();
}

// As there, neighbouring members are one access.
__global__ void one_wide_load(int* out) {
  __shared__ int4 fours[32];
  const auto cluster = cg::this_cluster();
  fours[threadIdx.x] = make_int4(1, 2, 3, 4);
  cluster.sync();
  const int4* const other = cluster.map_shared_rank(fours, 1) + threadIdx.x;
  out[threadIdx.x] = other->x + other->y + other->z + other->w;
  cluster.sync();
}

TEST(Clusters, LoadsAreCountedAsThoseOfSharedMemory) {
  if (IS_FAST) GTEST_SKIP() << "nothing is counted";
  Ints out(32);
  ASSERT_EQ(launch(one_load, 2, 32, 2, out.data()), cudaSuccess);
  expect_silence();
  const simt::Counts counts = simt::launch(simt::launch_count() - 1).counts;
  EXPECT_EQ(counts.shared_load_wavefronts, 2u * 32u);
  EXPECT_EQ(counts.global_load_requests, 0u);
  ASSERT_EQ(launch(one_wide_load, 2, 32, 2, out.data()), cudaSuccess);
  expect_silence();
  EXPECT_EQ(simt::launch(simt::launch_count() - 1).counts.shared_load_requests, 2u);
}

// ---- PTX

__global__ void registers(int* out) {
  unsigned rank, blocks;
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  asm("mov.u32 %0, %%cluster_nctarank;" : "=r"(blocks));
  out[blockIdx.y * gridDim.x + blockIdx.x] = static_cast<int>(rank + 10 * blocks);
}

TEST(Clusters, SpecialRegisters) {
  Ints out(8);
  ASSERT_EQ(launch(registers, dim3(4, 2), 1, dim3(2, 2), out.data()), cudaSuccess);
  expect_silence();
  EXPECT_EQ(out[0], 40);
  EXPECT_EQ(out[7], 43);
}

__device__ uint32_t window(const void* p) {
  return static_cast<uint32_t>(__cvta_generic_to_shared(p));
}
__device__ uint32_t window_of(const void* p, unsigned rank) {
  uint32_t there;
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(window(p)), "r"(rank));
  return there;
}

__global__ void by_instructions(int* out) {
  extern __shared__ int line[];
  __shared__ int sum;
  unsigned rank;
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  line[threadIdx.x] = static_cast<int>(100 * rank + threadIdx.x);
  if (threadIdx.x == 0) sum = 0;
  asm volatile("barrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait.acquire.aligned;" ::
                   : "memory");
  int other;
  asm volatile("ld.shared::cluster.s32 %0, [%1];"
               : "=r"(other)
               : "r"(window_of(line + threadIdx.x, rank ^ 1)));
  asm volatile("red.relaxed.cluster.shared::cluster.add.s32 [%0], %1;" ::"r"(window_of(&sum, 0)),
               "r"(other));
  asm volatile(
      "st.shared::cluster.u32 [%0], %1;" ::"r"(window_of(line + 32 + threadIdx.x, rank ^ 1)),
      "r"(other + 1));
  uint64_t generic;
  asm("mapa.u64 %0, %1, %2;" : "=l"(generic) : "l"(&sum), "r"(0));
  asm volatile("barrier.cluster.arrive;\nbarrier.cluster.wait;" ::: "memory");
  out[blockIdx.x * 32 + threadIdx.x] =
      line[32 + threadIdx.x] + *reinterpret_cast<const int*>(generic);
  asm volatile("barrier.cluster.arrive.relaxed;\nbarrier.cluster.wait;" ::: "memory");
}

TEST(Clusters, AccessesByInstructions) {
  Ints out(64);
  cudaLaunchConfig_t config = {};
  config.gridDim = 2, config.blockDim = 32, config.dynamicSmemBytes = 64 * sizeof(int);
  cudaLaunchAttribute shape = {};
  shape.id = cudaLaunchAttributeClusterDimension;
  shape.val.clusterDim = {2, 1, 1};
  config.attrs = &shape, config.numAttrs = 1;
  ASSERT_EQ(cudaLaunchKernelEx(&config, by_instructions, out.data()), cudaSuccess);
  expect_silence();
  const int sum = 2 * (31 * 32 / 2) + 3200;
  // What block 0 has written to block 1 is what it has read there.
  EXPECT_EQ(out[32 + 3], 100 + 3 + 1 + sum);
  EXPECT_EQ(out[3], 3 + 1 + sum);
}

// Two blocks load halves of each stage for each other; a stage is filled when the consumers of both have read it.
__global__ void shared_loads(const float* in, float* out, int tiles) {
  __shared__ __align__(128) float stage[2][128];
  __shared__ uint64_t full[2], empty[2];
  const auto cluster = cg::this_cluster();
  const unsigned rank = cluster.block_rank(), t = threadIdx.x;
  if (t == 0) {
    for (int s = 0; s < 2; ++s)
      ptx::mbarrier_init(&full[s], 1), ptx::mbarrier_init(&empty[s], 2 * 4);
    ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
  }
  cluster.sync();
  if (t == 128) {
    for (int i = 0; i < tiles; ++i) {
      const int s = i % 2;
      while (!ptx::mbarrier_try_wait_parity(&empty[s], (i / 2 + 1) % 2)) {
      }
      ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &full[s],
                                     512);
      ptx::cp_async_bulk(ptx::space_cluster, ptx::space_global, &stage[s][64 * rank],
                         in + 128 * i + 64 * rank, 256, &full[s], uint16_t{3});
    }
  } else if (t < 128) {
    for (int i = 0; i < tiles; ++i) {
      const int s = i % 2;
      while (!ptx::mbarrier_try_wait_parity(&full[s], i / 2 % 2)) {
      }
      out[(2 * i + rank) * 128 + t] = stage[s][t];
      __syncwarp();
      if (t % 32 < 2)
        asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" ::"r"(
                         window_of(&empty[s], t % 32))
                     : "memory");
    }
  }
  cluster.sync();
}

TEST(Clusters, BlocksLoadForEachOther) {
  constexpr int tiles = 9;
  Buffer<float> in(128 * tiles), out(2 * 128 * tiles);
  std::vector<float> values(128 * tiles), got(2 * 128 * tiles);
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i);
  cudaMemcpy(in.data(), values.data(), values.size() * sizeof(float), cudaMemcpyHostToDevice);
  ASSERT_EQ(launch(shared_loads, 2, 160, 2, in.data(), out.data(), tiles), cudaSuccess);
  expect_silence();
  cudaMemcpy(got.data(), out.data(), got.size() * sizeof(float), cudaMemcpyDeviceToHost);
  int wrong = 0;
  for (size_t i = 0; i < got.size(); ++i) wrong += got[i] != values[i / 256 * 128 + i % 128];
  EXPECT_EQ(wrong, 0);
}

}  // namespace
