// What one launch, kernel or host thread leaves to the next, and what it must not.
#include <cooperative_groups.h>
#include <cuda_pipeline.h>
#include <gtest/gtest.h>
#include <simt/simt.h>
#include <sys/resource.h>

#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "buffer.h"

namespace {

/// The kinds of the findings so far, with a space behind each.
std::string kinds() {
  std::string text;
  for (const simt::Finding& finding : simt::take_findings()) text += finding.kind + " ";
  return text;
}

// ---- Before main() ------------------------------------------------------------------------------

__global__ void swap_with_neighbour_block(int* out) {
  out[(blockIdx.x ^ 1) * blockDim.x + threadIdx.x] = static_cast<int>(threadIdx.x);
}

// The constructor of a static object launches kernels.
struct Early {
  Early() {
    Buffer<int> out(64);
    for (int i = 0; i < 2; ++i) swap_with_neighbour_block<<<2, 32>>>(out.data());
    error = cudaDeviceSynchronize();
    cudaMemcpy(&last, out.data() + 63, sizeof(last), cudaMemcpyDeviceToHost);
    found = kinds();
  }
  cudaError_t error;
  int last = 0;
  std::string found;
};
const Early early;

TEST(DeviceState, KernelsRunBeforeMain) {
  EXPECT_EQ(early.error, cudaSuccess);
  EXPECT_EQ(early.last, 31);
  EXPECT_EQ(early.found, "");
}

// ---- A block that a fault has ended -------------------------------------------------------------

__global__ void copy_and_fail(const float* in, float* out, int n) {
  __shared__ float tile[64];
  const int t = threadIdx.x;
  if (t >= 16) {
    out[n + (1 << 20)] = 1;
  } else {
    __pipeline_memcpy_async(&tile[t], &in[t], 4);
  }
  __pipeline_commit();
  __pipeline_wait_prior(0);
  __syncthreads();
  out[t] = tile[t];
}

__global__ void swap_neighbours(float* out) {
  __shared__ float tile[64];
  tile[threadIdx.x] = threadIdx.x;
  __syncthreads();
  out[threadIdx.x] = tile[threadIdx.x ^ 1];
}

TEST(DeviceState, ABlockKnowsNothingOfTheCopiesOfOneThatFailed) {
  {
    Buffer<float> in(64), out(64);
    copy_and_fail<<<1, 32>>>(in.data(), out.data(), 64);
    EXPECT_EQ(kinds(), "out-of-bounds ");
  }
  cudaDeviceReset();
  Buffer<float> out(64);
  swap_neighbours<<<1, 32>>>(out.data());
  EXPECT_EQ(kinds(), "");
}

// ---- What belongs to one kernel, or to one host thread ------------------------------------------

__global__ void first(int* out) {
  extern __shared__ int tile[];
  tile[threadIdx.x] = 1;
  out[threadIdx.x] = tile[threadIdx.x];
}
__global__ void second(int* out) {
  extern __shared__ int tile[];
  tile[threadIdx.x] = 2;
  out[threadIdx.x] = tile[threadIdx.x];
}

TEST(DeviceState, LeaveForSharedMemoryIsOneKernels) {
  Buffer<int> out(32);
  constexpr int kBytes = 100 * 1024;
  cudaFuncSetAttribute(first, cudaFuncAttributeMaxDynamicSharedMemorySize, kBytes);
  first<<<1, 32, kBytes>>>(out.data());
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
  second<<<1, 32, kBytes>>>(out.data());
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidValue);
  cudaFuncAttributes of_first{}, of_second{};
  cudaFuncGetAttributes(&of_first, first);
  cudaFuncGetAttributes(&of_second, second);
  EXPECT_EQ(of_first.maxDynamicSharedSizeBytes, kBytes);
  EXPECT_EQ(of_second.maxDynamicSharedSizeBytes, 48 * 1024);
  simt::take_findings();
}

__global__ void number_all(int* out) { out[threadIdx.x] = static_cast<int>(threadIdx.x); }

// Of a graph that allocates and does not free, the program frees; the next launch allocates again, at the same address.
TEST(DeviceState, AGraphAllocatesAgainWhatTheProgramFreed) {
  simt::take_findings();
  cudaGraph_t graph;
  cudaGraphCreate(&graph, 0);
  cudaMemAllocNodeParams params = {};
  params.bytesize = 32 * sizeof(int);
  cudaGraphNode_t alloc, kernel;
  ASSERT_EQ(cudaGraphAddMemAllocNode(&alloc, graph, nullptr, 0, &params), cudaSuccess);
  void* arguments[] = {&params.dptr};
  cudaKernelNodeParams launch = {};
  launch.func = reinterpret_cast<void*>(number_all);
  launch.gridDim = dim3(1);
  launch.blockDim = dim3(32);
  launch.kernelParams = arguments;
  ASSERT_EQ(cudaGraphAddKernelNode(&kernel, graph, &alloc, 1, &launch), cudaSuccess);
  cudaGraphExec_t exec;
  ASSERT_EQ(cudaGraphInstantiate(&exec, graph, nullptr, nullptr, 0), cudaSuccess);
  for (int i = 0; i < 2; ++i) {
    ASSERT_EQ(cudaGraphLaunch(exec, nullptr), cudaSuccess) << i;
    int out[32] = {};
    ASSERT_EQ(cudaMemcpy(out, params.dptr, sizeof(out), cudaMemcpyDeviceToHost), cudaSuccess);
    EXPECT_EQ(out[31], 31) << i;
    EXPECT_EQ(cudaFree(params.dptr), cudaSuccess) << i;
  }
  cudaGraphExecDestroy(exec);
  cudaGraphDestroy(graph);
  EXPECT_TRUE(simt::take_findings().empty());
  // Between two launches the memory is freed all the same.
  EXPECT_NE(cudaFree(params.dptr), cudaSuccess);
  EXPECT_FALSE(simt::take_findings().empty());
  cudaGetLastError();
}

// A kernel of a graph that is ready gets other arguments; the graph that it was made from keeps its own.
TEST(DeviceState, AKernelOfAReadyGraphGetsOtherArguments) {
  simt::take_findings();
  Buffer<int> one(32), two(32);
  int *first = one.data(), *second = two.data();
  void *to_first[] = {&first}, *to_second[] = {&second};
  cudaKernelNodeParams launch = {};
  launch.func = reinterpret_cast<void*>(number_all);
  launch.gridDim = dim3(1), launch.blockDim = dim3(32);
  launch.kernelParams = to_first;
  cudaGraph_t graph, other;
  cudaGraphNode_t kernel, stranger, empty;
  cudaGraphExec_t exec;
  cudaGraphCreate(&graph, 0), cudaGraphCreate(&other, 0);
  ASSERT_EQ(cudaGraphAddKernelNode(&kernel, graph, nullptr, 0, &launch), cudaSuccess);
  ASSERT_EQ(cudaGraphAddEmptyNode(&empty, graph, &kernel, 1), cudaSuccess);
  ASSERT_EQ(cudaGraphAddKernelNode(&stranger, other, nullptr, 0, &launch), cudaSuccess);
  ASSERT_EQ(cudaGraphInstantiate(&exec, graph, 0), cudaSuccess);
  cudaMemset(first, 0, 32 * sizeof(int)), cudaMemset(second, 0, 32 * sizeof(int));

  launch.kernelParams = to_second;
  EXPECT_EQ(cudaGraphExecKernelNodeSetParams(exec, stranger, &launch), cudaErrorInvalidValue);
  EXPECT_EQ(cudaGraphExecKernelNodeSetParams(exec, empty, &launch), cudaErrorInvalidValue);
  EXPECT_EQ(cudaGraphExecKernelNodeSetParams(exec, kernel, nullptr), cudaErrorInvalidValue);
  EXPECT_EQ(cudaGraphExecKernelNodeSetParams(exec, kernel, &launch), cudaSuccess);
  EXPECT_EQ(cudaGraphLaunch(exec, nullptr), cudaSuccess);
  const auto last = [](const int* from) {
    int value = -1;
    cudaMemcpy(&value, from + 31, sizeof value, cudaMemcpyDeviceToHost);
    return value;
  };
  EXPECT_EQ(last(first), 0);
  EXPECT_EQ(last(second), 31);

  cudaGraphExecDestroy(exec);
  ASSERT_EQ(cudaGraphInstantiate(&exec, graph, 0), cudaSuccess);
  EXPECT_EQ(cudaGraphLaunch(exec, nullptr), cudaSuccess);
  EXPECT_EQ(last(first), 31);
  cudaGraphExecDestroy(exec), cudaGraphDestroy(graph), cudaGraphDestroy(other);
  cudaGetLastError();
  simt::take_findings();
}

__constant__ int summand;
__global__ void add_summand(int* out) { out[threadIdx.x] += summand; }

// A capture that goes on in a graph, behind a copy to a symbol.
TEST(DeviceState, AGraphTakesThePlaceOfOneWithTheSameNodes) {
  simt::take_findings();
  Buffer<int> out(32);
  int* pointer = out.data();
  static int three = 3;
  cudaGraph_t graph, other;
  cudaStream_t stream;
  cudaStreamCreate(&stream);
  const auto mode = cudaStreamCaptureModeGlobal;
  cudaStreamBeginCapture(stream, mode);
  cudaMemcpyToSymbolAsync(summand, &three, sizeof three, 0, cudaMemcpyHostToDevice, stream);
  cudaMemsetAsync(pointer, 0, 32 * sizeof(int), stream);
  add_summand<<<1, 32, 0, stream>>>(pointer);
  ASSERT_EQ(cudaStreamEndCapture(stream, &graph), cudaSuccess);
  cudaGraphNode_t nodes[3];
  size_t count = 3;
  ASSERT_EQ(cudaGraphGetNodes(graph, nodes, &count), cudaSuccess);
  ASSERT_EQ(count, 3u);

  cudaGraphExec_t exec = nullptr;
  ASSERT_EQ(cudaGraphInstantiate(&exec, graph, 0), cudaSuccess);
  const auto result = [&] {
    EXPECT_EQ(cudaGraphLaunch(exec, stream), cudaSuccess);
    int last = 0;
    cudaMemcpy(&last, pointer + 31, sizeof last, cudaMemcpyDeviceToHost);
    return last;
  };
  EXPECT_EQ(result(), 3);

  // Another graph takes its place only if it has the same nodes.
  cudaGraphExecUpdateResultInfo info = {};
  cudaStreamBeginCapture(stream, mode);
  cudaMemsetAsync(pointer, 0, 32 * sizeof(int), stream);
  ASSERT_EQ(cudaStreamEndCapture(stream, &other), cudaSuccess);
  EXPECT_EQ(cudaGraphExecUpdate(exec, other, &info), cudaErrorGraphExecUpdateFailure);
  EXPECT_EQ(info.result, cudaGraphExecUpdateErrorTopologyChanged);
  cudaGraphDestroy(other);
  EXPECT_EQ(result(), 3);
  static int seven = 7;
  cudaStreamBeginCapture(stream, mode);
  cudaMemcpyToSymbolAsync(summand, &seven, sizeof seven, 0, cudaMemcpyHostToDevice, stream);
  cudaMemsetAsync(pointer, 0, 32 * sizeof(int), stream);
  add_summand<<<1, 32, 0, stream>>>(pointer);
  ASSERT_EQ(cudaStreamEndCapture(stream, &other), cudaSuccess);
  EXPECT_EQ(cudaGraphExecUpdate(exec, other, &info), cudaSuccess);
  cudaGraphDestroy(other);
  EXPECT_EQ(result(), 7);

  cudaGraphExecDestroy(exec);
  cudaGraphDestroy(graph);
  cudaStreamDestroy(stream);
  simt::take_findings();
}

TEST(DeviceState, TheLastErrorIsTheHostThreadsOwn) {
  int* pointer = nullptr;
  EXPECT_EQ(cudaMalloc(&pointer, ~size_t{0}), cudaErrorMemoryAllocation);
  cudaError_t elsewhere = cudaErrorUnknown;
  std::thread([&] { elsewhere = cudaGetLastError(); }).join();
  EXPECT_EQ(elsewhere, cudaSuccess);
  EXPECT_EQ(cudaGetLastError(), cudaErrorMemoryAllocation);
  simt::take_findings();
}

__device__ __noinline__ int recurse(int n, volatile int* p) {
  int pad[64];
  pad[n & 63] = n;
  return n < 0 ? 0 : recurse(n + 1, p) + pad[(n * 7) & 63] + p[0];
}
__global__ void overflow(int* out) { out[threadIdx.x] = recurse(0, out); }
__global__ void fill(int* out) { out[threadIdx.x] = 1; }

TEST(DeviceState, EachHostThreadCanReportAFault) {
  int* out = nullptr;
  cudaMalloc(&out, 32 * sizeof(int));
  std::thread([&] { fill<<<1, 32>>>(out); }).join();
  EXPECT_EQ(kinds(), "");
  std::thread([&] { overflow<<<1, 32>>>(out); }).join();  // often with the first one's id
  const std::vector<simt::Finding> findings = simt::take_findings();
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].kind, "stack-overflow");
  EXPECT_NE(findings[0].file.find("device_state_test.cu"), std::string::npos) << findings[0].file;
  cudaDeviceReset();
}

// ---- Handles ------------------------------------------------------------------------------------

TEST(DeviceState, DestroyedGraphsAreNone) {
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t exec = nullptr;
  cudaGraphCreate(&graph, 0);
  EXPECT_EQ(cudaGraphInstantiate(&exec, graph, 0), cudaSuccess);
  EXPECT_EQ(cudaGraphLaunch(exec, nullptr), cudaSuccess);
  EXPECT_EQ(cudaGraphExecDestroy(exec), cudaSuccess);
  EXPECT_EQ(cudaGraphExecDestroy(exec), cudaErrorInvalidValue);
  EXPECT_EQ(cudaGraphLaunch(exec, nullptr), cudaErrorInvalidValue);
  EXPECT_EQ(cudaGraphDestroy(graph), cudaSuccess);
  EXPECT_EQ(cudaGraphDestroy(graph), cudaErrorInvalidValue);
  EXPECT_EQ(cudaGraphInstantiate(&exec, graph, 0), cudaErrorInvalidValue);
  EXPECT_EQ(cudaGraphAddEmptyNode(nullptr, graph, nullptr, 0), cudaErrorInvalidValue);
  simt::take_findings();
}

TEST(DeviceState, EventsWithoutTimeHaveNone) {
  cudaEvent_t event = nullptr, silent = nullptr;
  EXPECT_EQ(cudaEventCreateWithFlags(&event, 0x40), cudaErrorInvalidValue);
  EXPECT_EQ(cudaEventCreateWithFlags(&event, cudaEventInterprocess), cudaErrorInvalidValue);
  EXPECT_EQ(cudaEventCreateWithFlags(&silent, cudaEventDisableTiming), cudaSuccess);
  EXPECT_EQ(cudaEventCreateWithFlags(&event, cudaEventBlockingSync), cudaSuccess);
  cudaEventRecord(silent);
  cudaEventRecord(event);
  EXPECT_EQ(cudaEventSynchronize(event), cudaSuccess);
  float milliseconds = 0;
  EXPECT_EQ(cudaEventElapsedTime(&milliseconds, event, event), cudaSuccess);
  EXPECT_EQ(cudaEventElapsedTime(&milliseconds, silent, event), cudaErrorInvalidResourceHandle);
  EXPECT_EQ(cudaEventElapsedTime(&milliseconds, event, silent), cudaErrorInvalidResourceHandle);
  cudaEventDestroy(silent);
  cudaEventDestroy(event);
  simt::take_findings();
}

// ---- Memory -------------------------------------------------------------------------------------

TEST(DeviceState, RegisteredMemoryIsTheHosts) {
  std::vector<char> host(4096);
  cudaHostRegister(host.data(), host.size(), 0);
  cudaPointerAttributes attributes{};
  cudaPointerGetAttributes(&attributes, host.data());
  EXPECT_EQ(attributes.type, cudaMemoryTypeHost);
  cudaHostUnregister(host.data());
}

__device__ int counted_on_device;
__managed__ int counted_by_both;
template <int kBegin>
__device__ int counted_from = kBegin;
__device__ const int kCounted[2] = {1, 2};

TEST(DeviceState, VariablesHaveAttributesOfTheirMemory) {
  cudaPointerAttributes attributes{};
  void* device = nullptr;
  cudaGetSymbolAddress(&device, counted_on_device);
  cudaPointerGetAttributes(&attributes, device);
  EXPECT_EQ(attributes.type, cudaMemoryTypeDevice);
  EXPECT_EQ(attributes.hostPointer, nullptr);
  for (const void* symbol :
       {static_cast<const void*>(&counted_from<3>), static_cast<const void*>(kCounted)}) {
    cudaGetSymbolAddress(&device, symbol);
    cudaPointerGetAttributes(&attributes, device);
    EXPECT_EQ(attributes.type, cudaMemoryTypeDevice);
  }
  cudaPointerGetAttributes(&attributes, &counted_by_both);
  EXPECT_EQ(attributes.type, cudaMemoryTypeManaged);
  EXPECT_EQ(attributes.hostPointer, &counted_by_both);
  int local = 0;
  cudaPointerGetAttributes(&attributes, &local);
  EXPECT_EQ(attributes.type, cudaMemoryTypeUnregistered);
}

__global__ void take(size_t bytes, int* got) { *got = malloc(bytes) != nullptr; }

TEST(DeviceState, AResetEmptiesTheHeap) {
  for (int i = 0; i < 2; ++i) {
    int* got = nullptr;
    cudaMalloc(&got, sizeof(int));
    take<<<1, 1>>>(size_t{6} << 20, got);
    int value = 0;
    cudaMemcpy(&value, got, sizeof(int), cudaMemcpyDeviceToHost);
    EXPECT_EQ(value, 1) << i;
    cudaDeviceReset();
  }
}

TEST(DeviceState, TheHostsReadsOfWhatNobodyWroteAreSeenFarIntoAnAllocation) {
  constexpr size_t kBytes = size_t{96} << 20;
  char* device = nullptr;
  cudaMalloc(&device, kBytes);
  std::vector<int> host(16);
  cudaMemcpy(host.data(), device + kBytes - 64, 64, cudaMemcpyDeviceToHost);
  volatile int sink = host[3];
  (void)sink;
  EXPECT_EQ(kinds(), "uninitialized-global ");
  cudaFree(device);
}

__global__ void grid_twice(int* out) {
  cooperative_groups::this_grid().sync();
  out[blockIdx.x * blockDim.x + threadIdx.x] = 1;
  cooperative_groups::this_grid().sync();
}

TEST(DeviceState, ACooperativeLaunchTakesLittleMemory) {
  Buffer<int> out(256 * 32);
  int* pointer = out.data();
  void* arguments[] = {&pointer};
  cudaLaunchCooperativeKernel(reinterpret_cast<void*>(grid_twice), dim3(256), dim3(32), arguments);
  EXPECT_EQ(kinds(), "");
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  EXPECT_LT(usage.ru_maxrss, 300 * 1024);
}

// ---- Faults that were told as something else ----------------------------------------------------

__managed__ volatile int flag = 0;
__global__ void wait_for_host(int* out) {
  while (flag == 0) {
  }
  *out = 1;
}

TEST(DeviceState, AFlagInManagedMemoryMayBeSetByTheHost) {
  Buffer<int> out(1);
  std::thread host([] {
    std::this_thread::sleep_for(std::chrono::milliseconds(700));
    flag = 1;
  });
  wait_for_host<<<1, 1>>>(out.data());
  host.join();
  EXPECT_EQ(kinds(), "");
}

__global__ void write_then_add(int* out) {
  __shared__ int last;
  last = threadIdx.x;
  atomicAdd(&out[threadIdx.x], 1);
  __syncthreads();
  out[threadIdx.x] = last;
}

TEST(DeviceState, ARaceIsToldAsTheAccessThatItWas) {
  Buffer<int> out(32);
  write_then_add<<<1, 32>>>(out.data());
  const std::vector<simt::Finding> findings = simt::take_findings();
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].message.find("write at "), 0u) << findings[0].message;
}

template <int kPlace>
__device__ void store_each(const int* tile, int* out) {
  if constexpr (kPlace > 0) store_each<kPlace - 1>(tile, out);
  out[kPlace] = tile[kPlace];
}
__global__ void read_twenty(int* out, int n) {
  __shared__ int tile[20];
  if (n < 20) tile[n] = 1;  // g++ does not know that it is not
  store_each<19>(tile, out);
}

TEST(DeviceState, MoreThanSixteenReadsOfUnwrittenSharedMemoryAreEachTheirOwn) {
  Buffer<int> out(20);
  read_twenty<<<1, 1>>>(out.data(), 20);
  std::vector<std::string> places;
  for (const simt::Finding& finding : simt::take_findings()) {
    const size_t at = finding.message.find(", byte ");
    places.push_back(finding.message.substr(
        at + 7, finding.message.find_first_not_of("0123456789", at + 7) - at - 7));
  }
  std::vector<std::string> wanted;
  for (int i = 0; i < 20; ++i) wanted.push_back(std::to_string(4 * i));
  EXPECT_EQ(places, wanted);
}

}  // namespace
