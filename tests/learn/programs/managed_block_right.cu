#include <cuda_runtime.h>

#include <cstdio>

// In managed memory.
__global__ void add(const float* x, float* y, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    y[i] += x[i];
}

int main() {
  const int n = 100000;
  float *x, *y;
  cudaMallocManaged(&x, n * sizeof(float));
  cudaMallocManaged(&y, n * sizeof(float));
  for (int i = 0; i < n; ++i) x[i] = 1, y[i] = 2;
  add<<<(n + 255) / 256, 256>>>(x, y, n);
  cudaDeviceSynchronize();
  int wrong = 0;
  for (int i = 0; i < n; ++i) wrong += y[i] != 3;
  std::printf("%d wrong\n", wrong);
  cudaFree(x);
  cudaFree(y);
  return wrong != 0;
}
