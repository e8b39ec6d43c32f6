// A dot product three ways: a tree in shared memory, shuffles, and cooperative groups.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

#include <cmath>
#include <cstdio>
#include <vector>

namespace cg = cooperative_groups;
constexpr int kBlock = 128;

__device__ float own_part(int n, const float* x, const float* y) {
  float sum = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    sum += x[i] * y[i];
  }
  return sum;
}

__global__ void dot_tree(int n, const float* x, const float* y, float* result) {
  extern __shared__ float sums[];  // (blockDim.x)
  sums[threadIdx.x] = own_part(n, x, y);
  for (unsigned half = blockDim.x / 2; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half) sums[threadIdx.x] += sums[threadIdx.x + half];
  }
  if (threadIdx.x == 0) atomicAdd(result, sums[0]);
}

__global__ void dot_shuffle(int n, const float* x, const float* y, float* result) {
  __shared__ float warps[32];
  float sum = own_part(n, x, y);
  for (int step = 16; step > 0; step /= 2) sum += __shfl_down_sync(0xffffffff, sum, step);
  if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x >= 32) return;
  sum = threadIdx.x < blockDim.x / 32 ? warps[threadIdx.x] : 0;
  for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(0xffffffff, sum, step);
  if (threadIdx.x == 0) atomicAdd(result, sum);
}

__global__ void dot_groups(int n, const float* x, const float* y, float* result) {
  const cg::thread_block block = cg::this_thread_block();
  const auto warp = cg::tiled_partition<32>(block);
  const float sum = cg::reduce(warp, own_part(n, x, y), cg::plus<float>());
  if (warp.thread_rank() == 0) atomicAdd(result, sum);
}

int main() {
  constexpr int n = 12345;
  std::vector<float> x(n), y(n);
  double expected = 0;
  for (int i = 0; i < n; ++i) {
    x[i] = std::sin(0.01f * i);
    y[i] = 1.0f / (1 + i % 17);
    expected += static_cast<double>(x[i]) * y[i];
  }
  float *dx, *dy, *result;
  cudaMalloc(&dx, n * sizeof(float));
  cudaMalloc(&dy, n * sizeof(float));
  cudaMallocManaged(&result, 3 * sizeof(float));
  cudaMemcpy(dx, x.data(), n * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(dy, y.data(), n * sizeof(float), cudaMemcpyHostToDevice);
  for (int i = 0; i < 3; ++i) result[i] = 0;
  dot_tree<<<5, kBlock, kBlock * sizeof(float)>>>(n, dx, dy, &result[0]);
  dot_shuffle<<<5, kBlock>>>(n, dx, dy, &result[1]);
  dot_groups<<<5, kBlock>>>(n, dx, dy, &result[2]);
  cudaDeviceSynchronize();
  int wrong = 0;
  for (int i = 0; i < 3; ++i) wrong += !(std::fabs(result[i] - expected) <= 1e-2);
  std::printf("reduction: %s (%g %g %g, expected %g)\n", wrong ? "FAILED" : "ok", result[0],
              result[1], result[2], expected);
  cudaFree(dx);
  cudaFree(dy);
  cudaFree(result);
  return wrong != 0;
}
