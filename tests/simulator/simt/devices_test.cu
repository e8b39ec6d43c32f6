// Several devices: their memory, what opens it to each other, their streams and events, kernels that run at once and signal to
// each other, and what is found where something is missing. Run with SIMT_DEVICES=3.
#include <cooperative_groups.h>
#include <cuda_runtime.h>
#include <gtest/gtest.h>
#include <simt/simt.h>

#include <chrono>
#include <cstdlib>
#include <cuda/atomic>
#include <string>
#include <thread>
#include <vector>

namespace {

using SystemFlag = cuda::atomic_ref<int, cuda::thread_scope_system>;

constexpr int kCount = 256;

// Ints on a device.
class Array {
 public:
  Array(int device, int count, int value = 0) : device_(device) {
    cudaSetDevice(device);
    cudaMalloc(&data_, static_cast<size_t>(count) * sizeof(int));
    std::vector<int> values(static_cast<size_t>(count), value);
    cudaMemcpy(data_, values.data(), values.size() * sizeof(int), cudaMemcpyHostToDevice);
  }
  ~Array() {
    cudaSetDevice(device_);
    cudaFree(data_);
  }
  Array(const Array&) = delete;
  Array& operator=(const Array&) = delete;
  operator int*() const { return data_; }
  int at(int i) const {
    int value = 0;
    cudaMemcpy(&value, data_ + i, sizeof(int), cudaMemcpyDefault);
    return value;
  }

 private:
  int device_;
  int* data_ = nullptr;
};

class Stream {
 public:
  explicit Stream(int device) {
    cudaSetDevice(device);
    cudaStreamCreate(&stream_);
  }
  ~Stream() { cudaStreamDestroy(stream_); }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  operator cudaStream_t() const { return stream_; }

 private:
  cudaStream_t stream_ = nullptr;
};

void synchronize_all() {
  for (int device = 0; device < 3; ++device) {
    cudaSetDevice(device);
    cudaDeviceSynchronize();
  }
  cudaSetDevice(0);
}

void open_all() {
  for (int device = 0; device < 3; ++device) {
    cudaSetDevice(device);
    for (int peer = 0; peer < 3; ++peer) {
      if (peer != device) cudaDeviceEnablePeerAccess(peer, 0);
    }
  }
  cudaGetLastError();
  cudaSetDevice(0);
}

void close_all() {
  for (int device = 0; device < 3; ++device) {
    cudaSetDevice(device);
    for (int peer = 0; peer < 3; ++peer) {
      if (peer != device) cudaDeviceDisablePeerAccess(peer);
    }
  }
  cudaGetLastError();
  cudaSetDevice(0);
}

class Devices : public testing::Test {
 protected:
  void SetUp() override {
    simt::print_findings(false);
    close_all();
    simt::take_findings();
  }
  void TearDown() override { synchronize_all(); }

  // What was found, errors and warnings but for calls that failed.
  static std::vector<simt::Finding> findings() {
    synchronize_all();
    std::vector<simt::Finding> found = simt::take_findings();
    std::erase_if(found, [](const simt::Finding& f) { return f.kind == "api-error"; });
    return found;
  }
  static void expect_clean() {
    for (const simt::Finding& finding : findings()) ADD_FAILURE() << finding.message;
  }
  static std::string only(const std::string& kind) {
    const std::vector<simt::Finding> found = findings();
    if (found.size() != 1) {
      for (const simt::Finding& finding : found) ADD_FAILURE() << finding.message;
      ADD_FAILURE() << found.size() << " findings";
    }
    if (found.empty()) return {};
    EXPECT_EQ(found[0].kind, kind);
    return found[0].message;
  }
};

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

__global__ void add(int* to, const int* from, int by) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  to[i] = from[i] + by;
}

TEST_F(Devices, AreAsManyAsAsked) {
  int count = 0;
  EXPECT_EQ(cudaGetDeviceCount(&count), cudaSuccess);
  EXPECT_EQ(count, 3);
  EXPECT_EQ(cudaSetDevice(3), cudaErrorInvalidDevice);
  EXPECT_EQ(cudaSetDevice(-1), cudaErrorInvalidDevice);
  cudaGetLastError();
  cudaDeviceProp prop;
  EXPECT_EQ(cudaGetDeviceProperties(&prop, 2), cudaSuccess);
  EXPECT_EQ(cudaGetDeviceProperties(&prop, 3), cudaErrorInvalidDevice);
  cudaGetLastError();
}

// The environment's word stands.
TEST_F(Devices, AreNotWhatTheProgramSays) {
  simt::simulate_devices(2);
  int count = 0;
  cudaGetDeviceCount(&count);
  EXPECT_EQ(count, 3);
}

TEST_F(Devices, EachHostThreadHasItsOwnCurrentOne) {
  cudaSetDevice(2);
  int there = -1, here = -1;
  std::thread([&] { cudaGetDevice(&there); }).join();
  cudaGetDevice(&here);
  EXPECT_EQ(there, 0);
  EXPECT_EQ(here, 2);
}

TEST_F(Devices, EachHasItsMemory) {
  size_t before[3], after[3], total;
  const auto ask = [&](size_t* free) {
    for (int device = 0; device < 3; ++device) {
      cudaSetDevice(device);
      cudaMemGetInfo(&free[device], &total);
    }
  };
  ask(before);
  const Array on_1(1, kCount);
  ask(after);
  EXPECT_EQ(before[0], after[0]);
  EXPECT_EQ(before[1], after[1] + kCount * sizeof(int));
  EXPECT_EQ(before[2], after[2]);
  cudaPointerAttributes attributes;
  cudaPointerGetAttributes(&attributes, on_1);
  EXPECT_EQ(attributes.device, 1);
}

TEST_F(Devices, ResetFreesThatOfOneDevice) {
  int *first = nullptr, *second = nullptr;
  cudaSetDevice(1);
  cudaMalloc(&first, 4);
  cudaSetDevice(2);
  cudaMalloc(&second, 4);
  cudaDeviceReset();
  cudaSetDevice(1);
  EXPECT_EQ(cudaFree(first), cudaSuccess);
  EXPECT_EQ(cudaFree(second), cudaErrorInvalidValue);
  cudaGetLastError();
}

TEST_F(Devices, KernelsRunOnTheCurrentOne) {
  const Array a(2, kCount, 5);
  cudaSetDevice(2);
  const size_t first = simt::launch_count();
  add<<<1, kCount>>>(a, a, 1);
  EXPECT_EQ(simt::launch(first).device, 2);
  EXPECT_EQ(a.at(7), 6);
  expect_clean();
}

TEST_F(Devices, PeerAccessIsAskedForOnce) {
  int can = -1;
  cudaDeviceCanAccessPeer(&can, 0, 1);
  EXPECT_EQ(can, 1);
  cudaDeviceCanAccessPeer(&can, 1, 1);
  EXPECT_EQ(can, 0);
  cudaSetDevice(0);
  EXPECT_EQ(cudaDeviceEnablePeerAccess(1, 0), cudaSuccess);
  EXPECT_EQ(cudaDeviceEnablePeerAccess(1, 0), cudaErrorPeerAccessAlreadyEnabled);
  EXPECT_EQ(cudaDeviceEnablePeerAccess(0, 0), cudaErrorPeerAccessUnsupported);
  EXPECT_EQ(cudaDeviceEnablePeerAccess(3, 0), cudaErrorInvalidDevice);
  EXPECT_EQ(cudaDeviceDisablePeerAccess(1), cudaSuccess);
  EXPECT_EQ(cudaDeviceDisablePeerAccess(1), cudaErrorPeerAccessNotEnabled);
  cudaGetLastError();
}

TEST_F(Devices, AccessWithoutItIsTold) {
  const Array a(0, kCount, 1), b(1, kCount, 2);
  cudaSetDevice(1);
  add<<<1, kCount>>>(b, a, 1);
  const std::string told = only("peer-access");
  EXPECT_TRUE(has(told, "memory of device 0, to which device 1 has no access")) << told;
  EXPECT_TRUE(has(told, "cudaDeviceEnablePeerAccess(0, 0)")) << told;
  EXPECT_TRUE(has(told, "of device 1, block")) << told;
}

TEST_F(Devices, AccessWithItIsNot) {
  const Array a(0, kCount, 1), b(1, kCount, 2);
  cudaSetDevice(1);
  cudaDeviceEnablePeerAccess(0, 0);
  add<<<1, kCount>>>(b, a, 1);
  EXPECT_EQ(b.at(9), 2);
  expect_clean();
}

TEST_F(Devices, OneDirectionDoesNotOpenTheOther) {
  const Array a(0, kCount, 1), b(1, kCount, 2);
  cudaSetDevice(0);
  cudaDeviceEnablePeerAccess(1, 0);
  cudaSetDevice(1);
  add<<<1, kCount>>>(b, a, 1);
  EXPECT_TRUE(has(only("peer-access"), "device 0"));
}

TEST_F(Devices, CopiesNeedNone) {
  const Array a(0, kCount, 7), b(1, kCount), c(2, kCount);
  EXPECT_EQ(cudaMemcpyPeer(b, 1, a, 0, kCount * sizeof(int)), cudaSuccess);
  EXPECT_EQ(cudaMemcpy(c, b, kCount * sizeof(int), cudaMemcpyDefault), cudaSuccess);
  EXPECT_EQ(c.at(kCount - 1), 7);
  EXPECT_EQ(cudaMemcpyPeer(b, 2, a, 0, kCount * sizeof(int)), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemcpyPeer(b, 1, a, 3, kCount * sizeof(int)), cudaErrorInvalidDevice);
  cudaGetLastError();
  expect_clean();
}

TEST_F(Devices, LaunchIntoAStreamOfAnotherFails) {
  const Array a(1, kCount, 1);
  const Stream of_0(0);
  cudaSetDevice(1);
  add<<<1, kCount, 0, of_0>>>(a, a, 1);
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidResourceHandle);
  EXPECT_EQ(a.at(0), 1);
}

TEST_F(Devices, EventsBelongToTheirDevice) {
  const Stream of_0(0), of_1(1);
  cudaSetDevice(0);
  cudaEvent_t event;
  cudaEventCreate(&event);
  EXPECT_EQ(cudaEventRecord(event, of_1), cudaErrorInvalidResourceHandle);
  EXPECT_EQ(cudaEventRecord(event, of_0), cudaSuccess);
  EXPECT_EQ(cudaStreamWaitEvent(of_1, event, 0), cudaSuccess);
  cudaEventDestroy(event);
  cudaGetLastError();
}

// A copy on one device of what a kernel of the other one writes.
void copy_behind_kernel(bool waits) {
  const Array a(0, kCount, 1), b(1, kCount);
  const Stream of_0(0), of_1(1);
  cudaSetDevice(0);
  cudaEvent_t event;
  cudaEventCreate(&event);
  add<<<1, kCount, 0, of_0>>>(a, a, 1);
  cudaEventRecord(event, of_0);
  cudaSetDevice(1);
  if (waits) cudaStreamWaitEvent(of_1, event, 0);
  cudaMemcpyPeerAsync(b, 1, a, 0, kCount * sizeof(int), of_1);
  cudaStreamSynchronize(of_1);
  cudaEventDestroy(event);
}

TEST_F(Devices, EventsOrderThem) {
  copy_behind_kernel(true);
  expect_clean();
}

TEST_F(Devices, WithoutOneTheyRace) {
  copy_behind_kernel(false);
  const std::string told = only("stream-race");
  EXPECT_TRUE(has(told, "cudaMemcpyPeerAsync of device 1")) << told;
  EXPECT_TRUE(has(told, "of device 0 at")) << told;
}

TEST_F(Devices, WaitingForOneLeavesTheOthersUnderWay) {
  const Array a(0, kCount, 1), b(1, kCount);
  cudaSetDevice(0);
  add<<<1, kCount>>>(a, a, 1);
  cudaSetDevice(1);
  cudaDeviceSynchronize();  // of device 1: says nothing of device 0
  cudaMemcpyAsync(b, a, kCount * sizeof(int), cudaMemcpyDefault);
  EXPECT_TRUE(has(only("stream-race"), "of device 0 at"));
  cudaSetDevice(0);
  add<<<1, kCount>>>(a, a, 1);
  cudaDeviceSynchronize();
  cudaSetDevice(1);
  cudaMemcpyAsync(b, a, kCount * sizeof(int), cudaMemcpyDefault);
  expect_clean();
}

// Each device tells the next one its number, and adds what the one before has told: nobody can end before all have begun.
__global__ void tell_and_wait(int* mine, int* theirs, int* flag, int* their_flag, int number,
                              int round) {
  if (threadIdx.x == 0) {
    *theirs = number;
    SystemFlag(*their_flag).store(round, cuda::memory_order_release);
    while (SystemFlag(*flag).load(cuda::memory_order_acquire) < round) {
    }
    mine[1] += mine[0];
  }
}

void ring(int rounds) {
  const Array mine_0(0, 2), mine_1(1, 2), mine_2(2, 2), flag_0(0, 1), flag_1(1, 1), flag_2(2, 1);
  int* const mine[] = {mine_0, mine_1, mine_2};
  int* const flag[] = {flag_0, flag_1, flag_2};
  for (int round = 1; round <= rounds; ++round) {
    for (int device = 0; device < 3; ++device) {
      const int next = (device + 1) % 3;
      cudaSetDevice(device);
      tell_and_wait<<<1, 32>>>(mine[device], mine[next], flag[device], flag[next], device + 1,
                               round);
    }
    synchronize_all();
  }
  EXPECT_EQ(mine_0.at(1), 3 * rounds);
  EXPECT_EQ(mine_1.at(1), 1 * rounds);
  EXPECT_EQ(mine_2.at(1), 2 * rounds);
}

TEST_F(Devices, KernelsWaitForEachOther) {
  open_all();
  ring(1);
  expect_clean();
  ring(4);
  expect_clean();
}

// Each writes into the other's memory, tells it, waits for the other's word, and copies what came.
__global__ void exchange(int* mine, int* theirs, int* flag, int* their_flag) {
  theirs[threadIdx.x] = static_cast<int>(threadIdx.x);
  __threadfence_system();
  __syncthreads();
  if (threadIdx.x == 0) {
    SystemFlag(*their_flag).store(1, cuda::memory_order_release);
    while (SystemFlag(*flag).load(cuda::memory_order_acquire) < 1) {
    }
  }
  __syncthreads();
  mine[kCount + threadIdx.x] = mine[threadIdx.x];
}

TEST_F(Devices, FlagsOrderTheirKernels) {
  const Array mine_0(0, 2 * kCount), mine_1(1, 2 * kCount), flag_0(0, 1), flag_1(1, 1);
  open_all();
  cudaSetDevice(0);
  exchange<<<1, kCount>>>(mine_0, mine_1, flag_0, flag_1);
  cudaSetDevice(1);
  exchange<<<1, kCount>>>(mine_1, mine_0, flag_1, flag_0);
  synchronize_all();
  EXPECT_EQ(mine_0.at(2 * kCount - 1), kCount - 1);
  expect_clean();
}

// The last block of each grid tells the other device, and the first one waits for the word from there.
__global__ void exchange_by_grids(int* flag, int* their_flag, int* out) {
  for (int round = 1; round <= 3; ++round) {
    if (threadIdx.x == 0 && blockIdx.x == gridDim.x - 1)
      SystemFlag(*their_flag).store(round, cuda::memory_order_release);
    if (threadIdx.x == 0 && blockIdx.x == 0) {
      while (SystemFlag(*flag).load(cuda::memory_order_acquire) < round) {
      }
    }
    cooperative_groups::this_grid().sync();
    if (threadIdx.x == 0) out[blockIdx.x] = round;
  }
}

TEST_F(Devices, BlocksOfAGridTakeTurnsWhileOneWaitsForAnotherDevice) {
  const Array out_0(0, 4), out_1(1, 4), flag_0(0, 1), flag_1(1, 1);
  open_all();
  for (int device = 0; device < 2; ++device) {
    cudaSetDevice(device);
    int *flag = device ? flag_1 : flag_0, *their_flag = device ? flag_0 : flag_1;
    int* out = device ? out_1 : out_0;
    void* arguments[] = {&flag, &their_flag, &out};
    cudaLaunchCooperativeKernel(exchange_by_grids, dim3(4), dim3(32), arguments);
  }
  synchronize_all();
  EXPECT_EQ(out_0.at(3), 3);
  EXPECT_EQ(out_1.at(0), 3);
  expect_clean();
}

__global__ void publish_late(int* theirs, int* their_flag) {
  SystemFlag(their_flag[0]).store(1, cuda::memory_order_release);
  theirs[0] = 5;
  SystemFlag(their_flag[1]).store(1, cuda::memory_order_relaxed);
}
// The second flag is in no order with the data; it comes after them in each run, so that each run is told of the race.
__global__ void wait_and_read(int* mine, int* flag) {
  while (SystemFlag(flag[0]).load(cuda::memory_order_acquire) < 1) {
  }
  while (SystemFlag(flag[1]).load(cuda::memory_order_relaxed) < 1) {
  }
  mine[1] = mine[0];
}

TEST_F(Devices, FlagAheadOfTheDataIsARace) {
  const Array mine(0, 2), flag(0, 2);
  open_all();
  cudaSetDevice(0);
  wait_and_read<<<1, 1>>>(mine, flag);
  cudaSetDevice(1);
  publish_late<<<1, 1>>>(mine, flag);
  synchronize_all();
  const std::vector<simt::Finding> found = findings();
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].kind, "global-race");
  EXPECT_TRUE(has(found[0].message, "of a kernel of device")) << found[0].message;
  EXPECT_TRUE(has(found[0].message, "scope of the system")) << found[0].message;
}

__global__ void count_up(int* flag) {
  __threadfence_system();
  atomicAdd_system(flag, 1);
}

// What a kernel has been told by a flag orders what its stream does after it, too.
TEST_F(Devices, FlagsOrderWhatComesBehind) {
  const Array mine_0(0, 2 * kCount), mine_1(1, 2 * kCount), flag_0(0, 1), flag_1(1, 1);
  open_all();
  cudaSetDevice(0);
  exchange<<<1, kCount>>>(mine_0, mine_1, flag_0, flag_1);
  cudaSetDevice(1);
  exchange<<<1, kCount>>>(mine_1, mine_0, flag_1, flag_0);
  cudaSetDevice(0);
  add<<<1, kCount>>>(mine_0, mine_0, 1);  // where device 1 has written
  expect_clean();
}

// Another word of the same sector is another flag.
TEST_F(Devices, OtherFlagsOrderNothing) {
  for (const int which : {0, 1}) {
    const Array mine(0, 2), flags(0, 2, 1);
    open_all();
    cudaSetDevice(1);
    add<<<1, 1>>>(mine, mine, 1);
    count_up<<<1, 1>>>(flags);
    cudaSetDevice(0);
    wait_and_read<<<1, 1>>>(mine, flags + which);
    const std::vector<simt::Finding> found = findings();
    EXPECT_EQ(found.size(), which == 0 ? 0u : 1u);
  }
}

TEST_F(Devices, KernelOfAnotherThatNobodyLaunchesIsAHang) {
  const Array mine(0, 2), flag(0, 1);
  open_all();
  cudaSetDevice(0);
  wait_and_read<<<1, 1>>>(mine, flag);
  cudaDeviceSynchronize();
  EXPECT_FALSE(only("hang").empty());
}

TEST_F(Devices, KernelsThatWaitForEachOtherForEverHang) {
  const Array mine_0(0, 2), mine_1(1, 2), flag_0(0, 1), flag_1(1, 1);
  open_all();
  cudaSetDevice(0);
  wait_and_read<<<1, 1>>>(mine_0, flag_0);
  cudaSetDevice(1);
  wait_and_read<<<1, 1>>>(mine_1, flag_1);
  synchronize_all();
  const std::vector<simt::Finding> found = findings();
  ASSERT_FALSE(found.empty());
  EXPECT_EQ(found[0].kind, "hang");
}

// Device 1's second kernel joins while device 0's still waits. It is behind the first one, which has waited for device 0.
__global__ void wait_twice(int* theirs, int* flag, int* their_flag) {
  theirs[0] = 1;
  SystemFlag(*their_flag).store(1, cuda::memory_order_release);
  while (SystemFlag(*flag).load(cuda::memory_order_acquire) < 1) {
  }
}
__global__ void wait_once(int* flag) {
  while (SystemFlag(*flag).load(cuda::memory_order_acquire) < 1) {
  }
}
__global__ void change_and_tell(int* mine, int* their_flag) {
  mine[0] += 1;
  SystemFlag(*their_flag).store(1, cuda::memory_order_release);
}

TEST_F(Devices, NextKernelKnowsWhatTheOneBeforeWasTold) {
  const Array flag_0(0, 1), mine_1(1, 1), flag_1(1, 1);
  open_all();
  cudaSetDevice(0);
  wait_twice<<<1, 1>>>(mine_1, flag_0, flag_1);
  cudaSetDevice(1);
  wait_once<<<1, 1>>>(flag_1);
  change_and_tell<<<1, 1>>>(mine_1, flag_0);
  synchronize_all();
  EXPECT_EQ(mine_1.at(0), 2);
  expect_clean();
}

TEST_F(Devices, KernelsThatNothingOrdersRace) {
  const Array a(0, kCount, 1);
  open_all();
  cudaSetDevice(0);
  add<<<1, kCount>>>(a, a, 1);
  cudaSetDevice(1);
  add<<<1, kCount>>>(a, a, 1);
  const std::string told = only("stream-race");
  EXPECT_TRUE(has(told, "of device 1 at")) << told;
  EXPECT_TRUE(has(told, "of device 0 at")) << told;
  EXPECT_TRUE(has(told, "scope of the system")) << told;
}

// A device's next kernels come while another device's still waits.
__global__ void wait_until(int* flag, int wanted, int* out) {
  while (SystemFlag(*flag).load(cuda::memory_order_acquire) < wanted) {
  }
  *out = wanted;
}

TEST_F(Devices, OneWaitsForSeveralKernelsOfAnother) {
  const Array flag(0, 1), out(0, 1);
  open_all();
  cudaSetDevice(0);
  wait_until<<<1, 1>>>(flag, 3, out);
  // The host takes its time.
  std::this_thread::sleep_for(std::chrono::milliseconds(500));
  cudaSetDevice(1);
  for (int i = 0; i < 3; ++i) count_up<<<1, 1>>>(flag);
  synchronize_all();
  EXPECT_EQ(out.at(0), 3);
  expect_clean();
}

__global__ void walk_and_tell(int* start, const int* data, int count, int* flag, int* out) {
  while (SystemFlag(*start).load(cuda::memory_order_acquire) < 1) {
  }
  int sum = 0;
  for (int i = 0; i < count; ++i) sum += data[i];
  *out = sum;
  SystemFlag(*flag).store(1, cuda::memory_order_release);
}

// The host waits for all three when device 1 walks.
TEST_F(Devices, WaitsForALongKernel) {
  constexpr int kLong = 1 << 14;
  const Array flag(0, 1), out_0(0, 1), data(1, kLong, 1), out_1(1, 1), start(1, 1);
  open_all();
  setenv("SIMT_STEPS", "1000", 1);
  cudaSetDevice(0);
  wait_until<<<1, 1>>>(flag, 1, out_0);
  cudaSetDevice(1);
  walk_and_tell<<<1, 1>>>(start, data, kLong, flag, out_1);
  cudaSetDevice(2);
  count_up<<<1, 1>>>(start);
  synchronize_all();
  unsetenv("SIMT_STEPS");
  EXPECT_EQ(out_1.at(0), kLong);
  expect_clean();
}

// Device 1's kernel is behind the one that waits, and device 2's ends the wait.
TEST_F(Devices, HostGoesOnPastAStreamThatWaits) {
  const Array flag(0, 1), out_0(0, 1), out_1(1, 1);
  const Stream of_0(0), of_1(1);
  open_all();
  cudaSetDevice(0);
  cudaEvent_t event;
  cudaEventCreate(&event);
  wait_until<<<1, 1, 0, of_0>>>(flag, 1, out_0);
  cudaEventRecord(event, of_0);
  cudaSetDevice(1);
  cudaStreamWaitEvent(of_1, event, 0);
  add<<<1, 1, 0, of_1>>>(out_1, out_0, 1);
  cudaSetDevice(2);
  count_up<<<1, 1>>>(flag);
  synchronize_all();
  cudaEventDestroy(event);
  EXPECT_EQ(out_1.at(0), 2);
  expect_clean();
}

// Device 2's kernel is behind device 1's, which itself waits when device 2's is asked for.
TEST_F(Devices, WhatWaitsIsWaitedFor) {
  const Array out_0(0, 1), out_1(1, 1), out_2(2, 1);
  const Stream of_0(0), of_1(1), of_2(2);
  open_all();
  int* flag = nullptr;
  cudaMallocHost(&flag, sizeof(int));
  *flag = 0;
  cudaEvent_t events[2];
  for (int device : {0, 1}) cudaSetDevice(device), cudaEventCreate(&events[device]);
  cudaSetDevice(0);
  wait_until<<<1, 1, 0, of_0>>>(flag, 1, out_0);
  cudaEventRecord(events[0], of_0);
  cudaSetDevice(1);
  cudaStreamWaitEvent(of_1, events[0], 0);
  add<<<1, 1, 0, of_1>>>(out_1, out_0, 1);
  cudaEventRecord(events[1], of_1);
  cudaSetDevice(2);
  cudaStreamWaitEvent(of_2, events[1], 0);
  add<<<1, 1, 0, of_2>>>(out_2, out_1, 1);
  std::this_thread::sleep_for(std::chrono::milliseconds(100));  // for one that does not wait
  SystemFlag(*flag).store(1, cuda::memory_order_release);
  synchronize_all();
  for (cudaEvent_t event : events) cudaEventDestroy(event);
  EXPECT_EQ(out_2.at(0), 3);
  expect_clean();
  cudaFreeHost(flag);
}

}  // namespace
