#include <cuda_runtime.h>

#include "kernels.h"

namespace {

__global__ void add_kernel(const float* a, const float* b, float* c, int first, int count) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < count) c[first + i] = a[first + i] + b[first + i];
}

__global__ void set_kernel(float* c, long first, int count, float value) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < count) c[first + i] = value;
}

__global__ void scale_kernel(float* x, int count) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < count) x[i] = 2 * x[i];
}

__global__ void racy_kernel(float* c) {
  __shared__ float tile[64];
  tile[threadIdx.x] = static_cast<float>(threadIdx.x);
  c[threadIdx.x] = tile[63 - threadIdx.x];
}

}  // namespace

void add(int blocks, int threads, const float* a, const float* b, float* c, int first, int count) {
  add_kernel<<<blocks, threads>>>(a, b, c, first, count);
}

void set(int blocks, int threads, float* c, long first, int count, float value) {
  set_kernel<<<blocks, threads>>>(c, first, count, value);
}

void scale_in_place(int blocks, int threads, float* x, int count) {
  scale_kernel<<<blocks, threads>>>(x, count);
}

void racy(float* c) { racy_kernel<<<1, 64>>>(c); }
