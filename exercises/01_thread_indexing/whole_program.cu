// # A whole program
//
// Kind: fill in
// Level: 3
// Minutes: 15
// Path: short
//
// Complete the program: it adds two arrays, which the host fills, on the device, and prints the sum
// of all results: 2001000. The five steps of every CUDA program are missing: allocate, copy in,
// launch, copy out, free. Use blocks of 256 threads, and one launch.

#include <cuda_runtime.h>

#include <cstdio>
#include <numeric>
#include <vector>

__global__ void add(const float* a, const float* b, float* c, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) c[i] = a[i] + b[i];
}

int main() {
  const int n = 1000;
  std::vector<float> a(n), b(n), c(n);
  std::iota(a.begin(), a.end(), 1.0f);     // 1, 2, 3, ...
  std::iota(b.begin(), b.end(), 1001.0f);  // 1001, 1002, ...

#ifdef SOLUTION
  const size_t bytes = n * sizeof(float);
  float *device_a = nullptr, *device_b = nullptr, *device_c = nullptr;
  cudaMalloc(&device_a, bytes);
  cudaMalloc(&device_b, bytes);
  cudaMalloc(&device_c, bytes);
  cudaMemcpy(device_a, a.data(), bytes, cudaMemcpyHostToDevice);
  cudaMemcpy(device_b, b.data(), bytes, cudaMemcpyHostToDevice);

  const int threads = 256;
  add<<<(n + threads - 1) / threads, threads>>>(device_a, device_b, device_c, n);

  cudaMemcpy(c.data(), device_c, bytes, cudaMemcpyDeviceToHost);
  cudaFree(device_a);
  cudaFree(device_b);
  cudaFree(device_c);
#else
  // TODO: c[i] = a[i] + b[i], computed by the kernel
#endif

  double sum = 0;
  for (const float value : c) sum += value;
  std::printf("%.0f\n", sum);
  return 0;
}
