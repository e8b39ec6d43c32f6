#include <cuda_runtime.h>

#include <cstdio>
#include <vector>

// Each member is an array of its own.
__global__ void move(float* x, const float* u, float step, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] += step * u[i];
}

int main() {
  const int n = 20000;
  std::vector<float> host(n, 1.0f), speeds(n, 2.0f);
  float *x, *u;
  cudaMalloc(&x, n * sizeof(float));
  cudaMalloc(&u, n * sizeof(float));
  cudaMemcpy(x, host.data(), n * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(u, speeds.data(), n * sizeof(float), cudaMemcpyHostToDevice);
  move<<<(n + 255) / 256, 256>>>(x, u, 0.5f, n);
  cudaMemcpy(host.data(), x, n * sizeof(float), cudaMemcpyDeviceToHost);
  cudaFree(x);
  cudaFree(u);
  int wrong = 0;
  for (const float one : host) wrong += one != 2.0f;
  std::printf("%d wrong\n", wrong);
  return wrong != 0;
}
