// Work in several streams: what orders it, and what does not.
#include <cstdio>
#include <cstring>

#include "planted.h"

namespace {

constexpr int kN = 4096;
constexpr size_t kBytes = kN * sizeof(int);
constexpr int kChunks = 4, kChunk = kN / kChunks;

class Stream {
 public:
  explicit Stream(unsigned flags = cudaStreamDefault) {
    cudaStreamCreateWithFlags(&stream_, flags);
  }
  ~Stream() { cudaStreamDestroy(stream_); }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  operator cudaStream_t() const { return stream_; }

 private:
  cudaStream_t stream_ = nullptr;
};

class Event {
 public:
  Event() { cudaEventCreateWithFlags(&event_, cudaEventDisableTiming); }
  ~Event() { cudaEventDestroy(event_); }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  operator cudaEvent_t() const { return event_; }

 private:
  cudaEvent_t event_ = nullptr;
};

class Pinned {
 public:
  Pinned() {
    cudaMallocHost(&data_, kBytes);
    for (int i = 0; i < kN; ++i) data_[i] = i;
  }
  ~Pinned() { cudaFreeHost(data_); }
  Pinned(const Pinned&) = delete;
  Pinned& operator=(const Pinned&) = delete;
  int* data() const { return data_; }

 private:
  int* data_ = nullptr;
};

__global__ void fill(int* out, int n, int value) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < n) out[i] = i + value;
}

__global__ void twice(const int* in, int* out, int n) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < n) out[i] = 2 * in[i];
}

void no_event(bool fixed) {
  OnDevice<int> a(kN), b(kN);
  Stream first, second;
  Event filled;
  fill<<<kN / 256, 256, 0, first>>>(a.data(), kN, 1);
  cudaEventRecord(filled, first);
  if (fixed) cudaStreamWaitEvent(second, filled, 0);
  twice<<<kN / 256, 256, 0, second>>>(a.data(), b.data(), kN);  // fault: no_event
  cudaDeviceSynchronize();
}

void event_too_early(bool fixed) {
  OnDevice<int> a(kN), b(kN);
  Stream first, second;
  Event filled;
  if (!fixed) cudaEventRecord(filled, first);
  fill<<<kN / 256, 256, 0, first>>>(a.data(), kN, 1);
  if (fixed) cudaEventRecord(filled, first);
  cudaStreamWaitEvent(second, filled, 0);
  twice<<<kN / 256, 256, 0, second>>>(a.data(), b.data(), kN);  // fault: event_too_early
  cudaDeviceSynchronize();
}

void kernel_before_copy(bool fixed) {
  OnDevice<int> a(kN), b(kN);
  Pinned host;
  Stream copies, kernels;
  cudaMemcpyAsync(a.data(), host.data(), kBytes, cudaMemcpyHostToDevice, copies);
  if (fixed) cudaStreamSynchronize(copies);
  twice<<<kN / 256, 256, 0, kernels>>>(a.data(), b.data(), kN);  // fault: kernel_before_copy
  cudaDeviceSynchronize();
}

void copy_elsewhere(bool fixed) {
  OnDevice<int> a(kN);
  Pinned host;
  Stream copies, kernels;
  fill<<<kN / 256, 256, 0, kernels>>>(a.data(), kN, 1);
  const cudaStream_t stream = fixed ? kernels : copies;
  const auto back = cudaMemcpyDeviceToHost;
  cudaMemcpyAsync(host.data(), a.data(), kBytes, back, stream);  // fault: copy_elsewhere
  cudaDeviceSynchronize();
}

// The next chunk arrives where the kernel still reads the last one.
void refilled_too_early(bool fixed) {
  OnDevice<int> buffer(2 * kChunk), out(2 * kChunk);
  Pinned host;
  Stream streams[2];
  for (int c = 0; c < 2; ++c) {
    int* const in = buffer.data() + (fixed ? c * kChunk : 0);
    const int* const from = host.data() + c * kChunk;
    const size_t bytes = kChunk * sizeof(int);
    const auto kind = cudaMemcpyHostToDevice;
    cudaMemcpyAsync(in, from, bytes, kind, streams[c]);  // fault: refilled_too_early
    int* const to = out.data() + c * kChunk;
    twice<<<kChunk / 256, 256, 0, streams[c]>>>(in, to, kChunk);  // fault: refilled_too_early
  }
  cudaDeviceSynchronize();
}

void non_blocking(bool fixed) {
  OnDevice<int> a(kN), b(kN);
  Stream stream(fixed ? cudaStreamDefault : cudaStreamNonBlocking);
  fill<<<kN / 256, 256, 0, stream>>>(a.data(), kN, 1);
  twice<<<kN / 256, 256>>>(a.data(), b.data(), kN);  // fault: non_blocking
  cudaDeviceSynchronize();
}

void memset_elsewhere(bool fixed) {
  OnDevice<int> a(kN), b(kN);
  Stream stream(cudaStreamNonBlocking);
  if (!fixed) cudaMemset(a.data(), 0, kBytes);
  if (fixed) cudaMemsetAsync(a.data(), 0, kBytes, stream);
  twice<<<kN / 256, 256, 0, stream>>>(a.data(), b.data(), kN);  // fault: memset_elsewhere
  cudaDeviceSynchronize();
}

__device__ int step = 3;
__global__ void add_step(int* out) { out[threadIdx.x] += step; }

void symbol_elsewhere(bool fixed) {
  OnDevice<int> a(32);
  const int value = 4;
  Stream first, second;
  add_step<<<1, 32, 0, first>>>(a.data());
  const cudaStream_t stream = fixed ? first : second;
  const auto kind = cudaMemcpyHostToDevice;
  cudaMemcpyToSymbolAsync(step, &value, sizeof value, 0, kind, stream);  // fault: symbol_elsewhere
  cudaDeviceSynchronize();
}

void freed_elsewhere(bool fixed) {
  Stream first, second;
  int* memory = nullptr;
  cudaMallocAsync(&memory, kBytes, first);
  fill<<<kN / 256, 256, 0, first>>>(memory, kN, 1);
  cudaFreeAsync(memory, fixed ? first : second);  // fault: freed_elsewhere
  cudaDeviceSynchronize();
}

void no_edge(bool fixed) {
  OnDevice<int> a(kN), b(kN);
  cudaGraph_t graph = nullptr;
  cudaGraphCreate(&graph, 0);
  int* in = a.data();
  int* out = b.data();
  int n = kN, value = 5;
  void* fill_arguments[] = {&in, &n, &value};
  void* twice_arguments[] = {&in, &out, &n};
  cudaKernelNodeParams fills = {};
  fills.func = reinterpret_cast<void*>(fill);
  fills.gridDim = dim3(kN / 256);
  fills.blockDim = dim3(256);
  fills.kernelParams = fill_arguments;
  cudaKernelNodeParams doubles = fills;
  doubles.func = reinterpret_cast<void*>(twice);
  doubles.kernelParams = twice_arguments;
  cudaGraphNode_t first = nullptr, second = nullptr;
  cudaGraphAddKernelNode(&first, graph, nullptr, 0, &fills);
  cudaGraphAddKernelNode(&second, graph, &first, fixed ? 1 : 0, &doubles);
  cudaGraphExec_t exec = nullptr;
  cudaGraphInstantiate(&exec, graph, 0);
  for (int i = 0; i < 3; ++i) cudaGraphLaunch(exec, nullptr);  // fault: no_edge
  cudaDeviceSynchronize();
  cudaGraphExecDestroy(exec);
  cudaGraphDestroy(graph);
}

// Two streams join in a capture; only one of them waits for the copy.
void fork_too_early(bool fixed) {
  OnDevice<int> a(kN), b(kN);
  Pinned host;
  Stream main, side;
  Event forked, joined;
  cudaGraph_t graph = nullptr;
  cudaStreamBeginCapture(main, cudaStreamCaptureModeGlobal);
  if (!fixed) cudaEventRecord(forked, main);
  cudaMemcpyAsync(a.data(), host.data(), kBytes, cudaMemcpyHostToDevice, main);
  if (fixed) cudaEventRecord(forked, main);
  cudaStreamWaitEvent(side, forked, 0);
  twice<<<kN / 256, 256, 0, side>>>(a.data(), b.data(), kN);
  cudaEventRecord(joined, side);
  cudaStreamWaitEvent(main, joined, 0);
  cudaStreamEndCapture(main, &graph);
  cudaGraphExec_t exec = nullptr;
  cudaGraphInstantiate(&exec, graph, 0);
  cudaGraphLaunch(exec, main);  // fault: fork_too_early
  cudaStreamSynchronize(main);
  cudaGraphExecDestroy(exec);
  cudaGraphDestroy(graph);
}

// ---- The host, and memory of its own

void source_refilled_early(bool fixed) {
  OnDevice<int> a(kN);
  Pinned host;
  Stream stream;
  cudaMemcpyAsync(a.data(), host.data(), kBytes, cudaMemcpyHostToDevice, stream);
  if (fixed) cudaStreamSynchronize(stream);
  for (int i = 0; i < kN; ++i) host.data()[i] = 2 * i;  // fault: source_refilled_early
  cudaMemcpyAsync(a.data(), host.data(), kBytes, cudaMemcpyHostToDevice, stream);
  cudaStreamSynchronize(stream);
}

void source_cleared_early(bool fixed) {
  OnDevice<int> a(kN);
  Pinned host;
  cudaMemcpyAsync(a.data(), host.data(), kBytes, cudaMemcpyHostToDevice, cudaStream_t{});
  if (fixed) cudaDeviceSynchronize();
  std::memset(host.data(), 0, kBytes);  // fault: source_cleared_early
  cudaDeviceSynchronize();
}

void registered_source(bool fixed) {
  OnDevice<int> a(kN);
  std::vector<int> host(kN);
  Stream stream;
  cudaHostRegister(host.data(), kBytes, cudaHostRegisterDefault);
  cudaMemcpyAsync(a.data(), host.data(), kBytes, cudaMemcpyHostToDevice, stream);
  if (fixed) cudaStreamSynchronize(stream);
  host[7] = 1;  // fault: registered_source
  cudaStreamSynchronize(stream);
  cudaHostUnregister(host.data());
}

void other_stream_waited_for(bool fixed) {
  OnDevice<int> a(kN);
  Pinned host;
  Stream first, second;
  cudaMemcpyAsync(host.data(), a.data(), kBytes, cudaMemcpyDeviceToHost, first);
  cudaStreamSynchronize(fixed ? first : second);
  const int last = host.data()[kN - 1];  // fault: other_stream_waited_for
  if (last) std::puts("wrong");
  cudaDeviceSynchronize();
}

__managed__ int total;
__global__ void add_to_total(const int* in) { atomicAdd(&total, in[threadIdx.x]); }

void managed_variable_early(bool fixed) {
  OnDevice<int> a(32, 1);
  add_to_total<<<1, 32>>>(a.data());
  if (fixed) cudaDeviceSynchronize();
  if (total != 32) std::puts("wrong");  // fault: managed_variable_early
}

void managed_argument_changed(bool fixed) {
  OnDevice<int> a(32);
  int* in = nullptr;
  cudaMallocManaged(&in, 64 * sizeof(int));
  for (int i = 0; i < 64; ++i) in[i] = i;
  twice<<<1, 32>>>(in, a.data(), 32);
  in[40] = 1;  // the kernel reads none of this
  if (fixed) cudaDeviceSynchronize();
  in[31] = 1;  // fault: managed_argument_changed
  cudaFree(in);
}

// ---- What is right

// Two buffers, and an event for each.
void two_buffers(bool) {
  OnDevice<int> a(kN);
  Pinned host;
  Stream stream;
  Event copied[2];
  constexpr int kHalf = kN / 2;
  for (int i = 0; i < 8; ++i) {
    int* const half = host.data() + i % 2 * kHalf;
    cudaEventSynchronize(copied[i % 2]);
    for (int j = 0; j < kHalf; ++j) half[j] = i + j;
    cudaMemcpyAsync(a.data(), half, kHalf * sizeof(int), cudaMemcpyHostToDevice, stream);
    cudaEventRecord(copied[i % 2], stream);
    fill<<<kHalf / 256, 256, 0, stream>>>(a.data(), kHalf, i);
  }
  cudaStreamSynchronize(stream);
  host.data()[0] = 1;
  std::vector<int> pageable(kN, 3);
  cudaMemcpyAsync(a.data(), pageable.data(), kBytes, cudaMemcpyHostToDevice, stream);
  pageable[0] = 4;  // copied already
  cudaMemcpy2DAsync(pageable.data(), 64, a.data(), 64, 64, 4, cudaMemcpyDeviceToHost, stream);
  if (pageable[0] != 3) std::puts("wrong");
  cudaStreamSynchronize(stream);
}

__global__ void count(const int* in, int* sum, int n) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < n && in[i] % 2 == 0) atomicAdd(sum, 1);
}

__global__ void scale_column(int* matrix, int columns, int column) {
  matrix[static_cast<int>(threadIdx.x) * columns + column] *= 2;
}

__global__ void set_flag(int* flag, const int* in) {
  if (in[threadIdx.x] >= 0) *flag = 1;
}

// Copies and kernels overlap, on chunks that share sectors; counters are atomic, a flag gets the same value from all.
void chunks_in_streams(bool) {
  constexpr int kOdd = kN / kChunks - 3;  // no multiple of a sector
  OnDevice<int> a(kN), b(kN), sums(2);
  Pinned in, out;
  Stream streams[kChunks];
  Event done[kChunks];
  for (int repeat = 0; repeat < 3; ++repeat) {
    for (int c = 0; c < kChunks; ++c) {
      const int first = c * kOdd;
      const size_t bytes = kOdd * sizeof(int);
      cudaMemcpyAsync(a.data() + first, in.data() + first, bytes, cudaMemcpyHostToDevice,
                      streams[c]);
      twice<<<(kOdd + 255) / 256, 256, 0, streams[c]>>>(a.data() + first, b.data() + first, kOdd);
      count<<<(kOdd + 255) / 256, 256, 0, streams[c]>>>(b.data() + first, sums.data(), kOdd);
      set_flag<<<1, 32, 0, streams[c]>>>(sums.data() + 1, b.data() + first);
      cudaMemcpyAsync(out.data() + first, b.data() + first, bytes, cudaMemcpyDeviceToHost,
                      streams[c]);
      cudaEventRecord(done[c], streams[c]);
    }
  }
  // Columns of one matrix; then one stream waits for all.
  for (int c = 1; c < kChunks; ++c) cudaStreamWaitEvent(streams[0], done[c], 0);
  twice<<<kN / 256, 256, 0, streams[0]>>>(b.data(), a.data(), kN);
  cudaDeviceSynchronize();
  for (int c = 0; c < kChunks; ++c)
    scale_column<<<1, kN / kChunks, 0, streams[c]>>>(a.data(), kChunks, c);
  // The default stream waits for all of them, and they for it.
  twice<<<kN / 256, 256>>>(a.data(), b.data(), kN);
  fill<<<kN / 256, 256, 0, streams[1]>>>(b.data(), kN, 7);
  cudaDeviceSynchronize();
  if (out.data()[kOdd] != 2 * kOdd) std::puts("wrong");
}

// What the host waits for; streams of non-blocking kind, memory of a pool, a stream that was destroyed.
void host_waits_between_streams(bool) {
  OnDevice<int> a(kN), b(kN);
  Stream first(cudaStreamNonBlocking), second(cudaStreamNonBlocking);
  Event filled;
  fill<<<kN / 256, 256, 0, first>>>(a.data(), kN, 1);
  cudaEventRecord(filled, first);
  while (cudaEventQuery(filled) == cudaErrorNotReady) {
  }
  twice<<<kN / 256, 256, 0, second>>>(a.data(), b.data(), kN);
  cudaStreamSynchronize(second);
  int* memory = nullptr;
  cudaMallocAsync(&memory, kBytes, first);
  twice<<<kN / 256, 256, 0, first>>>(b.data(), memory, kN);
  cudaEventRecord(filled, first);
  cudaStreamWaitEvent(second, filled, 0);
  twice<<<kN / 256, 256, 0, second>>>(memory, a.data(), kN);
  cudaFreeAsync(memory, second);
  cudaStreamSynchronize(second);
  {
    Stream brief;
    fill<<<kN / 256, 256, 0, brief>>>(a.data(), kN, 1);
  }
  std::vector<int> host(kN);
  cudaMemcpy(host.data(), a.data(), kBytes, cudaMemcpyDeviceToHost);
  if (host[1] != 2) std::puts("wrong");
}

__global__ void fill_and_let_begin(int* out, int n) {
  cudaTriggerProgrammaticLaunchCompletion();
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < n) out[i] = i;
}

template <bool waits>
__global__ void twice_behind(const int* in, int* out, int n) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (waits) cudaGridDependencySynchronize();
  if (i < n) out[i] = 2 * in[i];
}

void no_wait_for_dependency(bool fixed) {
  OnDevice<int> a(kN), b(kN);
  fill_and_let_begin<<<kN / 256, 256>>>(a.data(), kN);
  cudaLaunchAttribute overlap = {};
  overlap.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  overlap.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config = {};
  config.gridDim = kN / 256;
  config.blockDim = 256;
  config.attrs = &overlap;
  config.numAttrs = 1;
  const auto kernel = fixed ? twice_behind<true> : twice_behind<false>;
  const int* in = a.data();
  cudaLaunchKernelEx(&config, kernel, in, b.data(), kN);  // fault: no_wait_for_dependency
  cudaDeviceSynchronize();
}

}  // namespace

const std::vector<Planted> kStreams = {
    {"no_wait_for_dependency", "stream-race", no_wait_for_dependency, false},
    {"no_event", "stream-race", no_event, false},
    {"event_too_early", "stream-race", event_too_early, false},
    {"kernel_before_copy", "stream-race", kernel_before_copy, false},
    {"copy_elsewhere", "stream-race", copy_elsewhere, false},
    {"refilled_too_early", "stream-race", refilled_too_early, false},
    {"non_blocking", "stream-race", non_blocking, false},
    {"memset_elsewhere", "stream-race", memset_elsewhere, false},
    {"symbol_elsewhere", "stream-race", symbol_elsewhere, false},
    {"freed_elsewhere", "stream-race", freed_elsewhere, false},
    {"no_edge", "stream-race", no_edge, false},
    {"fork_too_early", "stream-race", fork_too_early, false},
    {"source_refilled_early", "host-access", source_refilled_early, false},
    {"source_cleared_early", "host-access", source_cleared_early, false},
    {"registered_source", "host-access", registered_source, false},
    {"other_stream_waited_for", "host-access", other_stream_waited_for, false},
    {"managed_variable_early", "host-access", managed_variable_early, false},
    {"managed_argument_changed", "host-access", managed_argument_changed, false},
    {"two_buffers", "none", two_buffers, false},
    {"chunks_in_streams", "none", chunks_in_streams, false},
    {"host_waits_between_streams", "none", host_waits_between_streams, false},
};
