// Kernels that wait for the host: it goes on beside them. Built for counting, and with --fast.
#include <cuda_runtime.h>
#include <gtest/gtest.h>
#include <simt/simt.h>

#include <chrono>
#include <ctime>
#include <cuda/atomic>
#include <string>
#include <thread>
#include <vector>

namespace {

enum class Memory { pinned, managed };

// Words that host and device see.
class Words {
 public:
  explicit Words(size_t count, Memory memory = Memory::pinned) : memory_(memory) {
    if (memory == Memory::pinned) {
      cudaHostAlloc(&data_, count * sizeof(int), cudaHostAllocMapped);
    } else {
      cudaMallocManaged(&data_, count * sizeof(int));
    }
    for (size_t i = 0; i < count; ++i) data_[i] = 0;
  }
  ~Words() { memory_ == Memory::pinned ? cudaFreeHost(data_) : cudaFree(data_); }
  Words(const Words&) = delete;
  Words& operator=(const Words&) = delete;
  int* data() const { return data_; }
  void set(size_t i, int value) { reinterpret_cast<volatile int*>(data_)[i] = value; }
  int get(size_t i) const { return reinterpret_cast<const volatile int*>(data_)[i]; }

 private:
  Memory memory_;
  int* data_ = nullptr;
};

void expect_success() {
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  for (const simt::Finding& finding : simt::take_findings()) ADD_FAILURE() << finding.message;
}

__global__ void wait_then_add(const int* flag, int* sum, int by) {
  while (*const_cast<const volatile int*>(flag) == 0) {
  }
  atomicAdd(sum, by);
}

TEST(BesideHost, SetsTheFlagAfterTheLaunch) {
  for (const Memory memory : {Memory::pinned, Memory::managed}) {
    const Words sum(1, memory);
    Words flag(1, memory);
    wait_then_add<<<200, 64>>>(flag.data(), sum.data(), 3);
    flag.set(0, 1);
    expect_success();
    EXPECT_EQ(sum.get(0), 200 * 64 * 3);
  }
}

TEST(BesideHost, ArgumentsAreThoseOfTheLaunch) {
  const Words sum(1);
  Words flag(1);
  {
    int by = 5;
    wait_then_add<<<1, 1>>>(flag.data(), sum.data(), by);
    by = 7;
  }
  flag.set(0, 1);
  expect_success();
  EXPECT_EQ(sum.get(0), 5);
}

__global__ void wait_by_atomics(int* flag, int* sum) {
  cuda::atomic_ref<int, cuda::thread_scope_system> flag_of_both(*flag);
  while (flag_of_both.load(cuda::memory_order_acquire) == 0) {
  }
  atomicAdd(sum, 1);
}

TEST(BesideHost, AtomicOperationsMayPoll) {
  for (const Memory memory : {Memory::pinned, Memory::managed}) {
    const Words flag(1, memory), sum(1, memory);
    wait_by_atomics<<<2, 32>>>(flag.data(), sum.data());
    __atomic_store_n(flag.data(), 1, __ATOMIC_SEQ_CST);
    expect_success();
    EXPECT_EQ(sum.get(0), 64);
  }
}

__managed__ volatile int question, answer;
__global__ void squares(int count) {
  for (int i = 1; i <= count; ++i) {
    while (question != i) __nanosleep(100);
    answer = i * i;
    __threadfence_system();
  }
}

TEST(BesideHost, KernelAndHostAnswerEachOther) {
  squares<<<1, 1>>>(5);
  for (int i = 1; i <= 5; ++i) {
    question = i;
    while (answer != i * i) std::this_thread::yield();
  }
  expect_success();
}

TEST(BesideHost, MayTakeItsTime) {
  const Words sum(1);
  Words flag(1);
  wait_then_add<<<1, 1>>>(flag.data(), sum.data(), 1);
  const std::clock_t begin = std::clock();  // of two threads, and longer than one may stand still
  while (std::clock() - begin < 14 * CLOCKS_PER_SEC) std::this_thread::yield();
  flag.set(0, 1);
  expect_success();
}

TEST(BesideHost, QueriesSayThatTheKernelIsNotReady) {
  const Words sum(1);
  Words flag(1);
  cudaStream_t stream, other;
  cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking);
  cudaEvent_t begin, end;
  cudaEventCreate(&begin);
  cudaEventCreate(&end);
  cudaEventRecord(begin, stream);
  wait_then_add<<<1, 1, 0, stream>>>(flag.data(), sum.data(), 1);
  cudaEventRecord(end, stream);
  EXPECT_EQ(cudaStreamQuery(stream), cudaErrorNotReady);
  EXPECT_EQ(cudaEventQuery(end), cudaErrorNotReady);
  EXPECT_EQ(cudaEventQuery(begin), cudaSuccess);
  EXPECT_EQ(cudaStreamQuery(other), cudaSuccess);
  EXPECT_EQ(cudaStreamSynchronize(other), cudaSuccess);
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  flag.set(0, 1);
  EXPECT_EQ(cudaEventSynchronize(end), cudaSuccess);
  EXPECT_EQ(cudaStreamQuery(stream), cudaSuccess);
  float milliseconds = 0;
  cudaEventElapsedTime(&milliseconds, begin, end);
  EXPECT_GE(milliseconds, 50);
  expect_success();
  cudaEventDestroy(begin);
  cudaEventDestroy(end);
  cudaStreamDestroy(stream);
  cudaStreamDestroy(other);
}

TEST(BesideHost, OtherStreamsGoOnAndTheSameOneWaits) {
  const Words sum(1), host(2);
  Words flag(1);
  int* device;
  cudaMalloc(&device, sizeof(int));
  cudaStream_t stream, other;
  cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking);
  wait_then_add<<<1, 1, 0, stream>>>(flag.data(), sum.data(), 1);
  host.data()[0] = 42;
  cudaMemcpyAsync(device, host.data(), sizeof(int), cudaMemcpyHostToDevice, other);
  cudaMemcpyAsync(host.data() + 1, device, sizeof(int), cudaMemcpyDeviceToHost, other);
  EXPECT_EQ(cudaStreamSynchronize(other), cudaSuccess);
  EXPECT_EQ(host.get(1), 42);
  EXPECT_EQ(sum.get(0), 0);
  flag.set(0, 1);
  int result = 0;
  cudaMemcpyAsync(&result, sum.data(), sizeof(int), cudaMemcpyDefault, stream);
  EXPECT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
  EXPECT_EQ(result, 1);
  expect_success();
  cudaStreamDestroy(stream);
  cudaStreamDestroy(other);
  cudaFree(device);
}

TEST(BesideHost, ThreadsOfTheHostLaunchAtOnce) {
  const Words sum(1);
  Words flag(1);
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      wait_then_add<<<4, 32>>>(flag.data(), sum.data(), 1);
      EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
    });
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  flag.set(0, 1);
  for (std::thread& thread : threads) thread.join();
  expect_success();
  EXPECT_EQ(sum.get(0), 4 * 4 * 32);
}

TEST(BesideHost, AnIllegalLaunchIsTold) {
  const Words flag(1), sum(1);
  wait_then_add<<<1, 2000>>>(flag.data(), sum.data(), 1);
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidValue);
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
  simt::take_findings();
}

// What nobody will set is a hang, once the host waits, too.
TEST(BesideHost, AFlagThatNobodySetsIsAHang) {
  if (IS_FAST) GTEST_SKIP() << "with --fast a hang is told, and not ended";
  int* flag;
  cudaMallocHost(&flag, sizeof(int));
  *flag = 0;
  wait_then_add<<<1, 1>>>(flag, flag, 1);
  testing::internal::CaptureStderr();
  EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorLaunchTimeout);
  testing::internal::GetCapturedStderr();
  const auto findings = simt::take_findings();
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].kind, "hang");
  EXPECT_NE(findings[0].message.find("beside_host_test.cu:"), std::string::npos);
  EXPECT_NE(findings[0].message.find("the kernel"), std::string::npos) << findings[0].message;
  cudaDeviceReset();
}

// The other way round: the host waits for a flag that the kernel raises behind its results.
__global__ void compute_then_raise(int* results, int* flag, bool fence) {
  results[threadIdx.x] = static_cast<int>(threadIdx.x);
  if (fence) __threadfence_system();
  __syncthreads();
  if (threadIdx.x == 0) *static_cast<volatile int*>(flag) = 1;
}

TEST(BesideHost, AFlagOfTheKernelBehindAFenceIsWaitedFor) {
  const auto launch = [](const Words& results, const Words& flag, bool fence, bool polls) {
    compute_then_raise<<<1, 32>>>(results.data(), flag.data(), fence);
    while (polls && flag.get(0) == 0) {
    }
  };
  const auto found = [] {
    cudaDeviceSynchronize();
    return simt::take_findings().size();
  };
  const size_t told = simt::tracing() ? 1 : 0;  // once for each line that reads
  const Words results(32), flag(1);
  launch(results, flag, true, true);
  EXPECT_EQ(results.data()[31], 31);
  EXPECT_EQ(found(), 0u);
  launch(results, flag, false, true);
  EXPECT_EQ(results.data()[31], 31);
  EXPECT_EQ(found(), told);
  launch(results, flag, true, false);
  EXPECT_EQ(results.data()[31], 31);
  EXPECT_EQ(found(), told);
}

}  // namespace
