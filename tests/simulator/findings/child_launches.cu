// Kernels that launch kernels wrongly.
#include "planted.h"

namespace {

constexpr int kN = 256;

__global__ void add_to_all(int* data, const int* addend, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) data[i] += *addend;  // fault: child_past_end
}

__global__ void passes_own(int* data, int* global, bool fixed) {
  int own = 3;
  *global = own;
  add_to_all<<<1, kN>>>(data, fixed ? global : &own, kN);  // fault: child_gets_local
}

void child_gets_local(bool fixed) {
  const OnDevice<int> data(kN), global(1);
  passes_own<<<1, 1>>>(data.data(), global.data(), fixed);
  cudaDeviceSynchronize();
}

__global__ void passes_shared(int* data, int* global, bool fixed) {
  __shared__ int sum;
  if (threadIdx.x == 0) sum = *global = 3;
  __syncthreads();
  if (threadIdx.x == 31)
    add_to_all<<<1, kN>>>(data, fixed ? global : &sum, kN);  // fault: child_gets_shared
}

void child_gets_shared(bool fixed) {
  const OnDevice<int> data(kN), global(1);
  passes_shared<<<1, 32>>>(data.data(), global.data(), fixed);
  cudaDeviceSynchronize();
}

struct Addends {
  int n;
  const int* values;
};

__global__ void add_values(int* data, Addends addends) {
  const int i = threadIdx.x;
  data[i] += addends.values[i % addends.n];
}

__global__ void passes_shared_in_struct(int* data, int* global, bool fixed) {
  __shared__ int sum;
  sum = *global = 3;
  const Addends addends{1, fixed ? global : &sum};
  add_values<<<1, kN>>>(data, addends);  // fault: child_gets_shared_in_struct
}

void child_gets_shared_in_struct(bool fixed) {
  const OnDevice<int> data(kN), global(1);
  passes_shared_in_struct<<<1, 1>>>(data.data(), global.data(), fixed);
  cudaDeviceSynchronize();
}

__global__ void launches(int* data, const int* addend, int threads, int n) {
  if (threadIdx.x == 0) add_to_all<<<2, threads>>>(data, addend, n);  // fault: child_too_large
}

void child_too_large(bool fixed) {
  const OnDevice<int> data(kN), addend(1, 1);
  launches<<<1, 32>>>(data.data(), addend.data(), fixed ? kN : 2000, kN);
  cudaDeviceSynchronize();
}

__global__ void launches_itself(int* count, int levels) {
  if (threadIdx.x == 0) atomicAdd(count, 1);
  if (levels > 0 && threadIdx.x == 0)
    launches_itself<<<1, 32>>>(count, levels - 1);  // fault: child_too_deep
}

void child_too_deep(bool fixed) {
  constexpr int kMost = 24;
  cudaDeviceSetLimit(cudaLimitDevRuntimePendingLaunchCount, kMost);
  const OnDevice<int> count(1, 0);
  launches_itself<<<1, 32>>>(count.data(), fixed ? kMost : kMost + 1);
  cudaDeviceSynchronize();
}

void child_past_end(bool fixed) {
  const OnDevice<int> data(kN), addend(1, 1);
  launches<<<1, 32>>>(data.data(), addend.data(), kN, fixed ? kN : kN + 1);
  cudaDeviceSynchronize();
}

}  // namespace

const std::vector<Planted> kChildLaunches = {
    {"child_gets_local", "trap", child_gets_local, false},
    {"child_gets_shared", "trap", child_gets_shared, false},
    {"child_gets_shared_in_struct", "trap", child_gets_shared_in_struct, false},
    {"child_too_large", "api-error", child_too_large, false},
    {"child_too_deep", "api-error", child_too_deep, false},
    {"child_past_end", "out-of-bounds", child_past_end, false},
};
