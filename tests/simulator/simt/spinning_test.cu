// A warp that spins serves its lanes in another order until they have what they wait for. Nothing else may depend on
// it: what the lanes do before and after is counted as if nobody had waited.
#include <gtest/gtest.h>
#include <simt/simt.h>

#include "buffer.h"

namespace {

using Ints = Buffer<int>;

simt::Counts counts_of_last() {
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_TRUE(simt::take_findings().empty());
  return simt::launch(simt::launch_count() - 1).counts;
}

// Every second lane stores, then all do: two requests, if those that skip the first one wait for the others.
__device__ void store_twice(int* out, unsigned at) {
  if (threadIdx.x % 2) out[at] = 1;
  out[at + 1024] = 2;
}

// Warp 0 waits for warp 1, which works for so many rounds before it sets the flag.
__global__ void wait_then_store(int* flag, int* out, const int* in, int rounds) {
  volatile int* const shared = flag;
  if (threadIdx.x < 32) {
    while (*shared == 0) {
    }
  } else {
    int x = 0;
    for (int i = 0; i < rounds; ++i) x += in[x + i % 64];
    if (threadIdx.x == 32) *shared = x + 1;
  }
  store_twice(out, threadIdx.x);
}

TEST(Spinning, AWaitChangesNothingBehindIt) {
  // It may end in any of its turns.
  for (const int rounds : {0, 3000, 9000, 15000, 21000}) {
    Ints flag(1), out(2048), in(64);
    wait_then_store<<<1, 64>>>(flag.data(), out.data(), in.data(), rounds);
    const simt::Counts counts = counts_of_last();
    EXPECT_EQ(counts.global_store_requests, 1u + 4u) << rounds << " rounds";
    EXPECT_EQ(counts.global_store_sectors, 1u + 16u) << rounds << " rounds";
  }
}

__global__ void wait_at_a_vote(int* flag, int* out, const int* in, int rounds) {
  volatile int* const shared = flag;
  if (threadIdx.x < 32) {
    int seen = 1;
    do {
      if (threadIdx.x % 4 == 0) seen = *shared;
    } while (__any_sync(~0u, seen == 0));
    if (threadIdx.x == 0) out[2047] = seen;
  } else {
    int x = 0;
    for (int i = 0; i < rounds; ++i) x += in[x + i % 64];
    if (threadIdx.x == 32) *shared = x + 1;
  }
  __syncthreads();
  store_twice(out, threadIdx.x);
}

TEST(Spinning, NorDoesAWaitOfSomeLanes) {
  for (const int rounds : {0, 3000, 9000, 15000, 21000}) {
    Ints flag(1), out(2048), in(64);
    wait_at_a_vote<<<1, 64>>>(flag.data(), out.data(), in.data(), rounds);
    EXPECT_EQ(counts_of_last().global_store_requests, 2u + 4u) << rounds << " rounds";
  }
}

__global__ void long_way(int* out, int rounds) {
  for (int i = 0; i < rounds; ++i) store_twice(out, static_cast<unsigned>(i) * 2048 + threadIdx.x);
}

// More steps than a warp takes at a time, and nobody spins.
TEST(Spinning, ALongWayIsNoSpinning) {
  constexpr int kRounds = 4000;
  Ints out(kRounds * 2048);
  long_way<<<1, 32>>>(out.data(), kRounds);
  EXPECT_EQ(counts_of_last().global_store_requests, 2u * kRounds);
}

// A lane waits for another one of its own warp, which comes behind it in the code, and for one that comes before.
__global__ void wait_for_a_lane(int* flags, int* out) {
  volatile int* const shared = flags;
  if (threadIdx.x == 3) {
    while (shared[0] == 0) {
    }
    shared[1] = 1;
  } else if (threadIdx.x == 7) {
    shared[0] = 1;
    while (shared[1] == 0) {
    }
  }
  __syncwarp();
  store_twice(out, threadIdx.x);
}

TEST(Spinning, LanesOfAWarpWaitForEachOther) {
  Ints flags(2), out(2048);
  wait_for_a_lane<<<1, 32>>>(flags.data(), out.data());
  EXPECT_EQ(counts_of_last().global_store_requests, 2u + 2u);
}

// Each block waits until all have come, with nothing but atomic operations.
__global__ void wait_for_all(unsigned* arrived, int* out) {
  if (threadIdx.x == 0) {
    __threadfence();
    atomicAdd(arrived, 1u);
    while (atomicAdd(arrived, 0u) < gridDim.x) {
    }
    __threadfence();
  }
  __syncthreads();
  out[blockIdx.x * blockDim.x + threadIdx.x] = 1;
}

// A GPU has them running side by side, however few threads of the CPU there are.
TEST(Spinning, BlocksOfAPlainLaunchWaitForEachOther) {
  constexpr unsigned kBlocks = 48;  // those of 256 threads that the device holds: 64
  Buffer<unsigned> arrived(1);
  Ints out(kBlocks * 256);
  wait_for_all<<<kBlocks, 256>>>(arrived.data(), out.data());
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_TRUE(simt::take_findings().empty());
}

// More than it holds do not.
TEST(Spinning, BlocksThatAreTooManyDoNot) {
  constexpr unsigned kBlocks = 70;
  unsigned* arrived;
  int* out;
  cudaMalloc(&arrived, sizeof(unsigned));
  cudaMemset(arrived, 0, sizeof(unsigned));
  cudaMalloc(&out, kBlocks * 256 * sizeof(int));
  testing::internal::CaptureStderr();
  wait_for_all<<<kBlocks, 256>>>(arrived, out);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorLaunchTimeout);
  testing::internal::GetCapturedStderr();
  const auto findings = simt::take_findings();
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_TRUE(findings[0].kind == "hang" || findings[0].kind == "barrier-divergence");
  cudaDeviceReset();
}

}  // namespace
