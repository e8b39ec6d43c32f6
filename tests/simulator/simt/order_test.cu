// What makes order besides __syncthreads(): each kernel with it, where nothing may be found, and without.
#include <cooperative_groups.h>
#include <gtest/gtest.h>
#include <simt/simt.h>

#include <cuda/atomic>
#include <cuda/barrier>
#include <string>
#include <vector>

#include "buffer.h"

namespace {

using Ints = Buffer<int>;

using Kinds = std::vector<std::string>;

Kinds kinds() {
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  Kinds result;
  for (const simt::Finding& finding : simt::take_findings()) result.push_back(finding.kind);
  return result;
}

// Block 0 reads what block 1 overwrites once it may.
__global__ void read_then_overwrite(int* data, int* done, int* out, bool fence) {
  if (blockIdx.x == 0) {
    if (data[threadIdx.x] + data[threadIdx.x + 32] > 0) out[threadIdx.x] = 1;
    if (fence) __threadfence();
    atomicAdd(done, 1);
  } else {
    while (*static_cast<volatile int*>(done) < 32) {
    }
    data[threadIdx.x] = 7;
    data[threadIdx.x + 32] = 7;
  }
}

TEST(Order, AFenceCoversWhatABlockHasReadOnly) {
  for (const bool fence : {true, false}) {
    Ints data(64), done(1), out(32);
    read_then_overwrite<<<2, 32>>>(data.data(), done.data(), out.data(), fence);
    EXPECT_EQ(kinds().empty(), fence);
  }
}

// All blocks store to the same places at about the same time: one value, or each its own.
__global__ void store_at_once(int* data, bool own) {
  const int value = own ? static_cast<int>(blockIdx.x) : 7;
  for (int i = 0; i < 4; ++i) data[threadIdx.x + 64 * i] = value;
}

// Whether the other block's store is the same can be told only once it has been carried out, which takes a moment. It
// has to be told right every time.
TEST(Order, BlocksMayStoreTheSameValueAtOnce) {
  Ints data(256);
  for (int i = 0; i < 500; ++i) {
    const bool own = i % 50 == 49;
    cudaMemset(data.data(), 0, 256 * sizeof(int));
    store_at_once<<<own ? 2 : 4, 64>>>(data.data(), own);
    ASSERT_EQ(kinds(), own ? Kinds{"global-race"} : Kinds{}) << "launch " << i;
  }
}

// Each block reads what its neighbour has written before the barrier of the grid, and overwrites after a
// second one.
__global__ void rotate(int* data, int* out, int barriers) {
  const auto grid = cooperative_groups::this_grid();
  const unsigned here = blockIdx.x * blockDim.x + threadIdx.x;
  data[here] = static_cast<int>(here) + 1;
  if (barriers > 0) grid.sync();
  out[here] = data[(here + blockDim.x) % (gridDim.x * blockDim.x)];
  if (barriers > 1) grid.sync();
  data[here] = -1;
}

TEST(Order, TheBarrierOfTheGridOrdersItsBlocks) {
  for (const int barriers : {0, 1, 2}) {
    Ints data(8 * 64), out(8 * 64);
    int *data_argument = data.data(), *out_argument = out.data(), count = barriers;
    void* arguments[] = {&data_argument, &out_argument, &count};
    ASSERT_EQ(cudaLaunchCooperativeKernel(rotate, dim3(8), dim3(64), arguments, 0, nullptr),
              cudaSuccess);
    EXPECT_EQ(kinds().empty(), barriers == 2) << barriers;
    if (barriers < 2) continue;
    std::vector<int> host(8 * 64);
    cudaMemcpy(host.data(), out_argument, host.size() * sizeof(int), cudaMemcpyDeviceToHost);
    for (int i = 0; i < 8 * 64; ++i) ASSERT_EQ(host[i], (i + 64) % (8 * 64) + 1);
  }
}

template <class Ready>
__device__ void hand_over(int* data, Ready ready, cuda::memory_order order) {
  if (blockIdx.x == 0) {
    *data = 5;
    ready.store(1, order);
  } else {
    while (ready.load(cuda::memory_order_acquire) == 0) {
    }
    *data += 1;
  }
}

__global__ void hand_over_by_flag(int* data, int* ready, cuda::memory_order order) {
  hand_over(data, cuda::atomic_ref<int, cuda::thread_scope_device>(*ready), order);
}

TEST(Order, AnAtomicObjectReleasesWhatItIsToldTo) {
  for (const auto order : {cuda::memory_order_release, cuda::memory_order_relaxed}) {
    Ints data(1), ready(1);
    hand_over_by_flag<<<2, 1>>>(data.data(), ready.data(), order);
    EXPECT_EQ(kinds().empty(), order == cuda::memory_order_release);
  }
}

// Lanes run ahead of loads: those before the arrival are still behind it.
__global__ void reverse(const int* in, int* out, bool wait) {
  __shared__ cuda::barrier<cuda::thread_scope_block> barrier;
  __shared__ int tile[128];
  const unsigned t = threadIdx.x;
  if (t == 0) init(&barrier, static_cast<int>(blockDim.x));
  tile[t] = in[t];
  __syncthreads();
  const int value = tile[127 - t] + tile[(t + 32) % 128];
  if (wait) barrier.arrive_and_wait();
  tile[t] = value;
  out[t] = tile[t];
}

TEST(Order, ABarrierObjectOrdersTheLoadsBeforeIt) {
  for (const bool wait : {true, false}) {
    Ints in(128), out(128);
    reverse<<<1, 128>>>(in.data(), out.data(), wait);
    EXPECT_EQ(kinds().empty(), wait);
  }
}

// Every lane reads its own object once more and gives it back.
__global__ void give_back(int* out, bool too_early) {
  int* const mine = static_cast<int*>(malloc(2 * sizeof(int)));
  mine[0] = mine[1] = 3;
  if (too_early) free(mine);
  out[threadIdx.x] = mine[0] + mine[1];
  out[threadIdx.x] += mine[0] * mine[1];
  if (!too_early) free(mine);
}

TEST(Order, MemoryIsFreedAfterTheLoadsBeforeIt) {
  Ints out(32);
  give_back<<<1, 32>>>(out.data(), false);
  EXPECT_EQ(kinds(), Kinds{});
  give_back<<<1, 32>>>(out.data(), true);
  const auto findings = simt::take_findings();
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].kind, "use-after-free");
}

// A load is the last thing before free(). The second time around, lanes run ahead of it.
__global__ void look_and_free(int* out) {
  for (int i = 0; i < 4; ++i) {
    int* const mine = static_cast<int*>(malloc(sizeof(int)));
    *mine = i;
    __syncwarp();
    const int value = *mine;
    free(mine);
    out[threadIdx.x] += value;
  }
}

TEST(Order, ALoadIsSeenBeforeItsMemoryIsFreed) {
  Ints out(32);
  look_and_free<<<1, 32>>>(out.data());
  EXPECT_EQ(kinds(), Kinds{});
}

}  // namespace
