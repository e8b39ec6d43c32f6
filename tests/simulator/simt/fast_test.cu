// Without tracing a block runs as a plain loop until a thread has to wait for others.
#include <gtest/gtest.h>
#include <simt/simt.h>

#include <chrono>
#include <ctime>
#include <string>
#include <thread>
#include <vector>

namespace {

template <class Kernel>
std::vector<int> run(int words, Kernel kernel) {
  int* device;
  cudaMalloc(&device, sizeof(int) * words);
  cudaMemset(device, 0, sizeof(int) * words);
  kernel(device);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  std::vector<int> out(words);
  cudaMemcpy(out.data(), device, sizeof(int) * words, cudaMemcpyDeviceToHost);
  cudaFree(device);
  return out;
}

__global__ void indices(int* out) {
  const unsigned block = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
  const unsigned thread = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
  out[block * blockDim.x * blockDim.y * blockDim.z + thread] += static_cast<int>(
      threadIdx.x + 10 * threadIdx.y + 100 * threadIdx.z + 1000 * blockIdx.x + 10000 * blockIdx.y);
}

TEST(Fast, EveryThreadRunsOnceWithItsIndices) {
  const auto out =
      run(2 * 3 * 3 * 5 * 2, [](int* p) { indices<<<dim3(2, 3), dim3(3, 5, 2)>>>(p); });
  std::size_t at = 0;
  for (int by = 0; by < 3; ++by)
    for (int bx = 0; bx < 2; ++bx)
      for (int z = 0; z < 2; ++z)
        for (int y = 0; y < 5; ++y)
          for (int x = 0; x < 3; ++x)
            ASSERT_EQ(out[at++], x + 10 * y + 100 * z + 1000 * bx + 10000 * by);
}

// The first `leave` threads never come to the barrier.
__global__ void late_barrier(int leave, int* out) {
  __shared__ int sum;
  const int thread = static_cast<int>(threadIdx.x);
  if (thread < leave) {
    out[blockIdx.x * blockDim.x + thread] = -1;
    return;
  }
  if (thread == leave) sum = 0;
  __syncthreads();
  atomicAdd(&sum, thread);
  __syncthreads();
  out[blockIdx.x * blockDim.x + thread] = sum;
}

TEST(Fast, ThreadsBeforeTheBarrierHaveExited) {
  for (const int leave : {0, 1, 31, 32, 45, 99}) {
    const auto out = run(300, [=](int* p) { late_barrier<<<3, 100>>>(leave, p); });
    const int sum = 99 * 100 / 2 - leave * (leave - 1) / 2;
    for (int i = 0; i < 300; ++i) ASSERT_EQ(out[i], i % 100 < leave ? -1 : sum) << leave;
  }
}

// Only some blocks have a barrier, so that loops and fibers take turns.
__global__ void some_blocks(int* out) {
  __shared__ int turned[64];
  const int thread = static_cast<int>(threadIdx.x);
  turned[thread] = thread;
  int value = thread;
  if (blockIdx.x % 3 == 1) {
    __syncthreads();
    value = turned[63 - thread];
  }
  out[blockIdx.x * 64 + thread] = value;
}

TEST(Fast, BlocksWithAndWithoutABarrier) {
  const auto out = run(64 * 20, [](int* p) { some_blocks<<<20, 64>>>(p); });
  for (int i = 0; i < 64 * 20; ++i) ASSERT_EQ(out[i], i / 64 % 3 == 1 ? 63 - i % 64 : i % 64);
}

__global__ void upper_half_sums(int* out) {
  int value = static_cast<int>(threadIdx.x);
  if (threadIdx.x >= 16) {
    for (int distance = 8; distance; distance /= 2)
      value += __shfl_xor_sync(0xffff0000u, value, distance);
  }
  out[threadIdx.x] = value;
}

TEST(Fast, AShuffleOfSomeLanes) {
  const auto out = run(32, [](int* p) { upper_half_sums<<<1, 32>>>(p); });
  for (int i = 0; i < 32; ++i) ASSERT_EQ(out[i], i < 16 ? i : (16 + 31) * 8);
}

// Thread 0 waits for what the last thread does.
__global__ void waits(int* out) {
  if (threadIdx.x == 0) {
    while (atomicAdd(&out[0], 0) == 0) {
    }
    out[1] = 7;
  }
  if (threadIdx.x == blockDim.x - 1) atomicExch(&out[0], 1);
}

TEST(Fast, AThreadThatSpinsLetsOthersRun) {
  const auto out = run(2, [](int* p) { waits<<<1, 70>>>(p); });
  EXPECT_EQ(out[1], 7);
}

__global__ void waits_for_the_host(volatile int* flag) {
  while (*flag == 0) {
  }
}

// Nothing is traced; but that no block ends is said.
TEST(Fast, AKernelThatDoesNotEndIsTold) {
  int* flag;
  cudaMallocManaged(&flag, sizeof(int));
  *flag = 0;
  std::thread host([flag] {
    const std::clock_t begin = std::clock();  // of the CPU
    while (std::clock() - begin < 4 * CLOCKS_PER_SEC) {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    *const_cast<volatile int*>(flag) = 1;
  });
  testing::internal::CaptureStderr();
  waits_for_the_host<<<1, 1>>>(flag);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  host.join();
  const std::string told = testing::internal::GetCapturedStderr();
  EXPECT_NE(told.find("simt: waits_for_the_host: for 2 s no block has ended. A run "),
            std::string::npos)
      << told;
  EXPECT_EQ(told.find("simt:", told.find("simt:") + 1), std::string::npos) << "once: " << told;
  cudaFree(flag);
}

__global__ void waits_for_a_later_block(volatile int* flag, int* out) {
  if (blockIdx.x == gridDim.x - 1) *flag = 1;
  while (*flag == 0) {
  }
  out[blockIdx.x] = 1;
}

// A GPU has all of them running.
TEST(Fast, BlocksThatWaitForOthersRunSideBySide) {
  int* memory;
  cudaMallocManaged(&memory, 101 * sizeof(int));
  cudaMemset(memory, 0, 101 * sizeof(int));
  testing::internal::CaptureStderr();
  waits_for_a_later_block<<<100, 32>>>(memory, memory + 1);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  testing::internal::GetCapturedStderr();
  EXPECT_TRUE(simt::take_findings().empty());
  EXPECT_EQ(std::count(memory + 1, memory + 101, 1), 100);
  cudaFree(memory);
}

__global__ void works(double* out, const std::clock_t* until) {
  double x = threadIdx.x;
  // (An int would become negative, and stay below 1000 for seconds.)
  for (int64_t i = 0; *const_cast<const volatile std::clock_t*>(until) > 0 || i < 1000; ++i)
    x = x * 0.999 + static_cast<double>(i);
  *out = x;
}

TEST(Fast, AKernelThatWorksForLongIsLeftAlone) {
  double* out;
  std::clock_t* until;
  cudaMallocManaged(&out, sizeof(double));
  cudaMallocManaged(&until, sizeof(std::clock_t));
  *until = 1;
  const std::clock_t begin = std::clock();
  std::thread host([until, begin] {
    while (std::clock() - begin < 5 * CLOCKS_PER_SEC / 2)
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    *const_cast<volatile std::clock_t*>(until) = 0;
  });
  testing::internal::CaptureStderr();
  works<<<1, 1>>>(out, until);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  host.join();
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_TRUE(simt::take_findings().empty()) << said;
  cudaFree(out);
  cudaFree(until);
}

__global__ void many_atomics(int* out) {
  for (int i = 0; i < 600; ++i) atomicAdd(&out[i % 3], 1);
  out[3 + threadIdx.x] = static_cast<int>(threadIdx.x);
}

TEST(Fast, AtomicsWithoutASpin) {
  const auto out = run(3 + 40, [](int* p) { many_atomics<<<5, 40>>>(p); });
  for (int i = 0; i < 3; ++i) EXPECT_EQ(out[i], 600 * 40 * 5 / 3);
  for (int i = 0; i < 40; ++i) EXPECT_EQ(out[3 + i], i);
}

__global__ void traps(int) {
  if (threadIdx.x == 40) __trap();
}

TEST(Fast, ATrapNamesItsThread) {
  traps<<<1, 64>>>(0);
  EXPECT_NE(cudaDeviceSynchronize(), cudaSuccess);
  const auto findings = simt::take_findings();
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].kind, "trap");
  EXPECT_EQ(findings[0].thread.x, 40u);
}

}  // namespace
