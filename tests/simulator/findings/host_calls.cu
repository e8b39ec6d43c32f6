// Faults on the host's side: copies, frees, launches.
#include <cstdio>
#include <cstdlib>

#include "planted.h"

namespace {

constexpr int kN = 1000;
constexpr size_t kBytes = kN * sizeof(float);

void copy_past_end(bool fixed) {
  const std::vector<float> host(kN + 1);
  float* device = nullptr;
  cudaMalloc(&device, kBytes);
  const size_t bytes = fixed ? kBytes : kBytes + 4;
  cudaMemcpy(device, host.data(), bytes, cudaMemcpyHostToDevice);  // fault: copy_past_end
  cudaFree(device);
}

void copy_back_past_end(bool fixed) {
  std::vector<float> host(2 * kN);
  OnDevice<float> device(kN);
  const size_t bytes = fixed ? kBytes : 2 * kBytes;
  const auto back = cudaMemcpyDeviceToHost;
  cudaMemcpy(host.data(), device.data(), bytes, back);  // fault: copy_back_past_end
}

void copy_wrong_way(bool fixed) {
  std::vector<float> host(kN);
  OnDevice<float> device(kN);
  const auto kind = fixed ? cudaMemcpyHostToDevice : cudaMemcpyDeviceToHost;
  cudaMemcpy(device.data(), host.data(), kBytes, kind);  // fault: copy_wrong_way
}

void copy_swapped(bool fixed) {
  std::vector<float> host(kN);
  OnDevice<float> device(kN);
  float* const to = fixed ? device.data() : host.data();
  const float* const from = fixed ? host.data() : device.data();
  cudaMemcpy(to, from, kBytes, cudaMemcpyHostToDevice);  // fault: copy_swapped
}

void copy_to_the_pointer(bool fixed) {
  const float one = 1.0f;
  float* device = nullptr;
  cudaMalloc(&device, sizeof one);
  void* const to = fixed ? static_cast<void*>(device) : &device;
  cudaMemcpy(to, &one, sizeof one, cudaMemcpyHostToDevice);  // fault: copy_to_the_pointer
  cudaFree(device);
}

void copy_on_the_device(bool fixed) {
  std::vector<float> host(kN);
  OnDevice<float> device(kN);
  const auto kind = fixed ? cudaMemcpyHostToDevice : cudaMemcpyDeviceToDevice;
  cudaMemcpy(device.data(), host.data(), kBytes, kind);  // fault: copy_on_the_device
}

void clear_past_end(bool fixed) {
  OnDevice<float> device(kN);
  cudaMemset(device.data(), 0, fixed ? kBytes : kBytes + 1);  // fault: clear_past_end
}

void free_twice(bool fixed) {
  float* device = nullptr;
  cudaMalloc(&device, kBytes);
  cudaFree(device);
  if (!fixed) cudaFree(device);  // fault: free_twice
}

void free_inside(bool fixed) {
  float* device = nullptr;
  cudaMalloc(&device, kBytes);
  if (!fixed) cudaFree(device + 16);  // fault: free_inside
  cudaFree(device);
}

void free_host_memory(bool fixed) {
  std::vector<float> host(kN);
  if (!fixed) cudaFree(host.data());  // fault: free_host_memory
}

void never_freed(bool fixed) {
  float* device = nullptr;
  cudaMalloc(&device, kBytes);  // fault: never_freed
  if (fixed) cudaFree(device);
}

__global__ void touch(float* data) {
  extern __shared__ float scratch[];
  if (threadIdx.x == 0 && blockIdx.x == 0) {
    scratch[0] = 1.0f;
    data[0] = scratch[0];
  }
}

void too_many_threads(bool fixed) {
  OnDevice<float> data(kN);
  touch<<<1, fixed ? 1024 : 2048, 4>>>(data.data());  // fault: too_many_threads
}

// A program that tries how many threads a block may have, and says so: no fault. But what fails at this line and is launched
// at another is none that was tried.
void launch_tried(bool fixed) {
  OnDevice<float> data(kN);
  for (int threads = 4096; threads > (fixed ? 512 : 1024); threads /= 2) {
    touch<<<1, threads, 4>>>(data.data());  // fault: launch_tried
    const cudaError_t error = cudaGetLastError();
    if (error == cudaSuccess) break;
    cudaGetErrorString(error);  // as one does who prints it
  }
  touch<<<1, 32, 4>>>(data.data());
}

void no_blocks(bool fixed) {
  OnDevice<float> data(kN);
  touch<<<fixed ? 1 : 0, 32, 4>>>(data.data());  // fault: no_blocks
}

void too_much_shared(bool fixed) {
  OnDevice<float> data(kN);
  touch<<<1, 32, fixed ? 48 * 1024 : 48 * 1024 + 4>>>(data.data());  // fault: too_much_shared
}

void pitch_too_small(bool fixed) {
  std::vector<float> host(16 * 16);
  OnDevice<float> device(16 * 16);
  const size_t pitch = fixed ? 64 : 16;
  const auto kind = cudaMemcpyHostToDevice;
  cudaMemcpy2D(device.data(), pitch, host.data(), 64, 64, 16, kind);  // fault: pitch_too_small
}

__constant__ float taps[5];

__global__ void use_taps(float* out) { out[threadIdx.x] = taps[threadIdx.x]; }

void copy_past_symbol(bool fixed) {
  const float values[9] = {1, 2, 3, 2, 1, 0, 0, 0, 0};
  OnDevice<float> out(5);
  const size_t bytes = fixed ? 5 * sizeof(float) : 9 * sizeof(float);
  cudaMemcpyToSymbol(taps, values, bytes);  // fault: copy_past_symbol
  use_taps<<<1, 5>>>(out.data());
}

void free_with_wrong_call(bool fixed) {
  float* pinned = nullptr;
  cudaMallocHost(&pinned, kBytes);
  if (!fixed) cudaFree(pinned);  // fault: free_with_wrong_call
  cudaFreeHost(pinned);
}

void no_such_device(bool fixed) {
  cudaSetDevice(fixed ? 0 : 99);  // fault: no_such_device
}

// An int that has overflowed, as a size.
void negative_size(bool fixed) {
  float* device = nullptr;
  const size_t bytes = fixed ? kBytes : static_cast<size_t>(-4000);
  cudaMalloc(&device, bytes);  // fault: negative_size
  cudaFree(device);
}

void pinned_never_freed(bool fixed) {
  float* pinned = nullptr;
  cudaMallocHost(&pinned, kBytes);  // fault: pinned_never_freed
  if (fixed) cudaFreeHost(pinned);
}

void null_copy(bool fixed) {
  std::vector<float> host(kN);
  OnDevice<float> device(kN);
  float* to = fixed ? device.data() : nullptr;
  cudaMemcpy(to, host.data(), kBytes, cudaMemcpyHostToDevice);  // fault: null_copy
}

__global__ void count_up(int* out, int first) {
  out[first + threadIdx.x] += static_cast<int>(threadIdx.x);
}

// Memory that host and device share; each way to wait, and what is left alone by the kernel.
void mapped_read_early(bool fixed) {
  int *host = nullptr, *device = nullptr, sum = 0;
  cudaHostAlloc(&host, 256, cudaHostAllocMapped);
  for (int i = 0; i < 64; ++i) host[i] = 0;
  cudaHostGetDevicePointer(&device, host, 0);
  cudaStream_t stream;
  cudaStreamCreate(&stream);
  cudaEvent_t event;
  cudaEventCreate(&event);
  count_up<<<1, 32, 0, stream>>>(device, 0);
  cudaStreamSynchronize(stream);
  sum += host[31];
  count_up<<<1, 32, 0, stream>>>(device, 0);
  cudaEventRecord(event, stream);
  cudaEventSynchronize(event);
  sum += host[31];
  count_up<<<1, 32, 0, stream>>>(device, 0);
  sum += host[32] + *const_cast<volatile int*>(host + 31);  // beside it; and as one polls a flag
  cudaLaunchHostFunc(
      stream, [](void* all) { ++static_cast<int*>(all)[31]; }, host);
  if (fixed) cudaDeviceSynchronize();
  sum += host[31];  // fault: mapped_read_early
  cudaFreeHost(host);
  cudaEventDestroy(event);
  cudaStreamDestroy(stream);
  if (sum != 31 + 62 + 93 + 94) std::printf("%d\n", sum);
}

void managed_read_early(bool fixed) {
  int* values = nullptr;
  cudaMallocManaged(&values, 256);
  for (int i = 0; i < 64; ++i) values[i] = i;
  count_up<<<1, 32>>>(values, 32);
  if (fixed) cudaDeviceSynchronize();
  const int last = values[63];  // fault: managed_read_early
  cudaFree(values);
  if (last != 63 + 31) std::printf("%d\n", last);
}

__global__ void add_ones(int* sum) { atomicAdd(sum, 1); }
__global__ void add_ones_for_all(int* sum) { atomicAdd_system(sum, 1); }

// The host adds, too, as soon as nobody else does: with the scope of the system the GPU's sums and the host's may mix.
void managed_read_between_atomics(bool fixed) {
  int* sum = nullptr;
  cudaMallocManaged(&sum, sizeof(int));
  *sum = 0;
  fixed ? add_ones_for_all<<<1, 32>>>(sum) : add_ones<<<1, 32>>>(sum);
  const int so_far = *sum;  // fault: managed_read_between_atomics
  __sync_fetch_and_add(sum, 2);
  cudaDeviceSynchronize();
  if (*sum != 34 || so_far > 32) std::printf("%d\n", *sum);
  cudaFree(sum);
}

void copy_read_early(bool fixed) {
  int *host = nullptr, *device = nullptr;
  cudaMallocHost(&host, 256);
  cudaMalloc(&device, 256);
  cudaMemset(device, 0, 256);
  cudaMemcpyAsync(host, device, 256, cudaMemcpyDeviceToHost, cudaStream_t{});
  if (fixed) cudaStreamSynchronize(cudaStream_t{});
  const int last = host[63];  // fault: copy_read_early
  cudaFreeHost(host);
  cudaFree(device);
  if (last) std::printf("%d\n", last);
}

struct Sums {
  const int* device;
  int host;
};

void call_in_host_function(bool fixed) {
  OnDevice<int> on_device(1, 0);
  Sums sums{on_device.data(), 0};
  if (fixed) cudaMemcpyAsync(&sums.host, sums.device, 4, cudaMemcpyDeviceToHost, cudaStream_t{});
  const cudaHostFn_t copy = [](void* data) {
    auto& s = *static_cast<Sums*>(data);
    cudaMemcpyAsync(&s.host, s.device, 4, cudaMemcpyDeviceToHost,  // fault: call_in_host_function
                    cudaStream_t{});
  };
  const cudaHostFn_t print = [](void* data) {
    if (const auto& s = *static_cast<Sums*>(data); s.host) std::printf("%d\n", s.host);
  };
  cudaLaunchHostFunc(cudaStream_t{}, fixed ? print : copy, &sums);
  cudaDeviceSynchronize();
}

// A variable of the device, by its name and without cudaMemcpyToSymbol().
void copy_to_stand_in(bool fixed) {
  const float values[5] = {1, 2, 3, 2, 1};
  OnDevice<float> out(5);
  void* there = nullptr;
  if (fixed) cudaGetSymbolAddress(&there, taps);
  void* const to = fixed ? there : static_cast<void*>(const_cast<float*>(taps));
  cudaMemcpy(to, values, sizeof(values), cudaMemcpyHostToDevice);  // fault: copy_to_stand_in
  use_taps<<<1, 5>>>(out.data());
}

float host_taps[5] = {1, 2, 3, 2, 1};

void copy_to_symbol_of_the_host(bool fixed) {
  const float values[5] = {1, 2, 3, 2, 1};
  OnDevice<float> out(5);
  if (fixed) cudaMemcpyToSymbol(taps, values, sizeof(values));
  if (!fixed) cudaMemcpyToSymbol(host_taps, values, 20);  // fault: copy_to_symbol_of_the_host
  use_taps<<<1, 5>>>(out.data());
}

__device__ float sums[32];
__device__ float* sums_on_device = sums;

__global__ void add_one(float* data) { data[threadIdx.x] += 1.0f; }

// The address comes from the device.
void stand_in_as_argument(bool fixed) {
  float* there = nullptr;
  if (fixed) cudaMemcpyFromSymbol(&there, sums_on_device, sizeof(there));
  if (!fixed) there = sums;
  add_one<<<1, 32>>>(there);  // fault: stand_in_as_argument
}

__device__ float* buffer;

__global__ void fill_buffer(float* data) { (data ? data : buffer)[threadIdx.x] = 1; }

void allocate_to_stand_in(bool fixed) {
  float* memory = nullptr;
  float** const target = fixed ? &memory : &buffer;
  cudaMalloc(target, 32 * sizeof(float));  // fault: allocate_to_stand_in
  fill_buffer<<<1, 32>>>(memory);
  cudaFree(*target);
}

using Function = float (*)(float);
__device__ float square(float x) { return x * x; }
__device__ Function square_on_device = square;

__global__ void call(Function function, float* data) { data[threadIdx.x] = function(3.0f); }

void function_of_the_host_as_argument(bool fixed) {
  OnDevice<float> data(32);
  Function function = square;
  if (fixed) cudaMemcpyFromSymbol(&function, square_on_device, sizeof(function));
  call<<<1, 32>>>(function, data.data());  // fault: function_of_the_host_as_argument
}

void copy_over_the_frame(bool fixed) {
  OnDevice<float> device(kN, 1.0f);
  std::vector<float> host(kN);
  void* to = fixed ? static_cast<void*>(host.data()) : &host;
  cudaMemcpy(to, device.data(), kBytes, cudaMemcpyDeviceToHost);  // fault: copy_over_the_frame
  if (fixed && host[kN - 1] != 1.0f) std::puts("wrong");
}

void time_too_early(bool fixed) {
  OnDevice<float> data(kN);
  cudaEvent_t begin = nullptr, end = nullptr;
  cudaEventCreate(&begin);
  cudaEventCreate(&end);
  cudaEventRecord(begin);
  add_one<<<1, 32>>>(data.data());
  cudaEventRecord(end);
  if (fixed) cudaEventSynchronize(end);
  float ms = 0;
  cudaEventElapsedTime(&ms, begin, end);  // fault: time_too_early
  cudaEventDestroy(begin);
  cudaEventDestroy(end);
}

void freed_by_free(bool fixed) {
  float* device = nullptr;
  cudaMalloc(&device, kBytes);
  if (!fixed) std::free(device);  // fault: freed_by_free
  cudaFree(device);
}

void freed_by_delete(bool fixed) {
  float* pinned = nullptr;
  cudaMallocHost(&pinned, kBytes);
  if (!fixed) delete[] pinned;  // fault: freed_by_delete
  cudaFreeHost(pinned);
}

// A vector of half as many elements as are copied into it.
void copy_over_the_heap(bool fixed) {
  OnDevice<float> device(kN);
  std::vector<float> host(fixed ? kN : kN / 2), behind(kN);
  const auto back = cudaMemcpyDeviceToHost;
  cudaMemcpy(host.data(), device.data(), kBytes, back);  // fault: copy_over_the_heap
}

// From the midst of a vector whose elements look like the heap's own headers.
void copy_from_numbers(bool fixed) {
  std::vector<unsigned long> host(4 * kN);
  for (size_t i = 0; i < host.size(); ++i) host[i] = fixed ? 0x21 : 16 * (i / 2) + 1;
  OnDevice<unsigned long> device(kN);
  for (int i = 0; i < kN; ++i) {
    cudaMemcpy(device.data(), &host[i], kN * sizeof(host[0]), cudaMemcpyHostToDevice);
  }
}

void copy_onto_itself(bool fixed) {
  OnDevice<float> device(2 * kN);
  float* const to = device.data() + (fixed ? kN : 1);
  cudaMemcpy(to, device.data(), kBytes, cudaMemcpyDeviceToDevice);  // fault: copy_onto_itself
}

// sizeof(float) of an array of double.
void half_of_the_result(bool fixed) {
  std::vector<double> host(kN, 2.0);
  OnDevice<double> device(kN, 1.0);
  const size_t bytes = kN * (fixed ? sizeof(double) : sizeof(float));
  const auto back = cudaMemcpyDeviceToHost;
  cudaMemcpy(host.data(), device.data(), bytes, back);  // fault: half_of_the_result
  double sum = 0;
  for (const double value : host) sum += value;
  if (sum < 0) std::printf("%g\n", sum);
}

// sizeof of a pointer.
void size_of_the_pointer(bool fixed) {
  int* const host = new int[kN];
  OnDevice<int> device(kN, 1);
  const size_t bytes = fixed ? kN * sizeof(*host) : sizeof(host);
  const auto back = cudaMemcpyDeviceToHost;
  cudaMemcpy(host, device.data(), bytes, back);  // fault: size_of_the_pointer
  int sum = 0;
  for (int i = 0; i < kN; ++i) sum += host[i];
  if (sum == 0) std::printf("%d\n", sum);
  delete[] host;
}

// 50 elements a row.
void width_in_elements(bool fixed) {
  std::vector<float> host(kN);
  OnDevice<float> device(kN, 1.0f);
  const size_t pitch = 50 * sizeof(float), width = fixed ? pitch : 50;
  const auto back = cudaMemcpyDeviceToHost;
  const float* const from = device.data();
  cudaMemcpy2D(host.data(), pitch, from, pitch, width, 20, back);  // fault: width_in_elements
  float sum = 0;
  for (const float value : host) sum += value;
  if (sum < 0) std::printf("%g\n", sum);
}

void rows_without_end(bool fixed) {
  char host[64];
  OnDevice<char> device(64);
  const size_t rows = fixed ? 8 : size_t{1} << 61;
  const auto back = cudaMemcpyDeviceToHost;
  cudaMemcpy2D(host, 8, device.data(), 8, 8, rows, back);  // fault: rows_without_end
}

volatile int taken;

void managed_read_after_free(bool fixed) {
  int* shared = nullptr;
  cudaMallocManaged(&shared, kBytes);
  shared[3] = 1;
  if (!fixed) cudaFree(shared);
  taken = shared[3];  // fault: managed_read_after_free
  if (fixed) cudaFree(shared);
}

void pinned_read_past_end(bool fixed) {
  float* pinned = nullptr;
  cudaMallocHost(&pinned, kBytes);
  for (int i = 0; i < kN; ++i) pinned[i] = 1;
  float sum = 0;
  for (int i = 0; i < (fixed ? kN : kN + 1); ++i) sum += pinned[i];  // fault: pinned_read_past_end
  taken = static_cast<int>(sum);
  cudaFreeHost(pinned);
}

struct Named {
  int number;
  const char* name;
};

__global__ void greet(Named who, bool of_host) {
  char own[3] = {'y', 'o', 0};
  const char* const name = of_host ? who.name : "you";
  printf("%d %5.1f %s %s\n", who.number, 1.5, own, name);  // fault: literal_printed
}

__global__ void letters(const Named* who, char* out, bool of_host) {
  const char* own[] = {"ab", "cd"};  // a kernel's own literals it may read
  const char* const text = of_host ? who->name : own[threadIdx.x];
  out[threadIdx.x] = text[1];  // fault: literal_read
}

void literal_read(bool fixed) {
  OnDevice<Named> who({{1, "me"}});
  OnDevice<char> out(2);
  letters<<<1, 2>>>(who.data(), out.data(), !fixed);
}

void literal_printed(bool fixed) { greet<<<1, 1>>>({1, "me"}, !fixed); }

}  // namespace

const std::vector<Planted> kHostCalls = {
    {"copy_past_end", "api-error", copy_past_end},
    {"copy_back_past_end", "api-error", copy_back_past_end},
    {"copy_wrong_way", "api-error", copy_wrong_way},
    {"copy_swapped", "api-error", copy_swapped, false},
    {"copy_to_the_pointer", "api-error", copy_to_the_pointer, false},
    {"copy_on_the_device", "api-error", copy_on_the_device, false},
    {"clear_past_end", "api-error", clear_past_end},
    {"free_twice", "api-error", free_twice},
    {"free_inside", "api-error", free_inside},
    {"free_host_memory", "api-error", free_host_memory},
    {"never_freed", "leak", never_freed},
    {"too_many_threads", "api-error", too_many_threads},
    {"launch_tried", "api-error", launch_tried, false},
    {"no_blocks", "api-error", no_blocks},
    {"too_much_shared", "api-error", too_much_shared},
    {"pitch_too_small", "api-error", pitch_too_small},
    {"copy_past_symbol", "api-error", copy_past_symbol},
    {"free_with_wrong_call", "api-error", free_with_wrong_call},
    {"no_such_device", "api-error", no_such_device},
    {"negative_size", "api-error", negative_size},
    {"pinned_never_freed", "leak", pinned_never_freed},
    {"null_copy", "api-error", null_copy},
    {"mapped_read_early", "host-access", mapped_read_early, false},
    {"managed_read_early", "host-access", managed_read_early, false},
    {"managed_read_between_atomics", "host-access", managed_read_between_atomics, false},
    {"copy_read_early", "host-access", copy_read_early, false},
    {"call_in_host_function", "api-error", call_in_host_function, false},
    {"copy_to_stand_in", "api-error", copy_to_stand_in, false},
    {"copy_to_symbol_of_the_host", "api-error", copy_to_symbol_of_the_host, false},
    {"stand_in_as_argument", "device-access", stand_in_as_argument, false},
    {"function_of_the_host_as_argument", "device-access", function_of_the_host_as_argument, false},
    {"copy_over_the_frame", "api-error", copy_over_the_frame, false},
    {"time_too_early", "api-error", time_too_early, false},
    {"freed_by_free", "api-error", freed_by_free, false},
    {"freed_by_delete", "api-error", freed_by_delete, false},
    {"copy_over_the_heap", "api-error", copy_over_the_heap, false},
    {"copy_from_numbers", "none", copy_from_numbers, false},
    {"copy_onto_itself", "api-error", copy_onto_itself, false},
    {"half_of_the_result", "api-error", half_of_the_result, false},
    {"size_of_the_pointer", "api-error", size_of_the_pointer, false},
    {"width_in_elements", "api-error", width_in_elements, false},
    {"rows_without_end", "api-error", rows_without_end, false},
    {"allocate_to_stand_in", "device-access", allocate_to_stand_in, false},
    {"managed_read_after_free", "use-after-free", managed_read_after_free, false},
    {"pinned_read_past_end", "out-of-bounds", pinned_read_past_end, false},
    {"literal_read", "device-access", literal_read, false},
    {"literal_printed", "device-access", literal_printed, false},
};
