// Doubles a thousand numbers on the GPU.
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

__global__ void twice(float* x, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;  // which element is mine?
  if (i < n) x[i] = 2 * x[i];
}

void check(cudaError_t code) {  // every call returns a code: look at all of them
  if (code == cudaSuccess) return;
  std::printf("CUDA: %s\n", cudaGetErrorString(code));
  std::exit(1);
}

int main() {
  const int n = 1000;
  const size_t bytes = n * sizeof(float);
  std::vector<float> host(n);
  for (int i = 0; i < n; ++i) host[i] = i + 0.5f;

  float* device = nullptr;
  check(cudaMalloc(&device, bytes));
  check(cudaMemcpy(device, host.data(), bytes, cudaMemcpyHostToDevice));
  twice<<<(n + 255) / 256, 256>>>(device, n);  // 4 blocks of 256 threads
  check(cudaGetLastError());
  check(cudaMemcpy(host.data(), device, bytes, cudaMemcpyDeviceToHost));
  check(cudaFree(device));

  for (int i = 0; i < n; ++i) {
    if (host[i] == 2 * (i + 0.5f)) continue;
    std::printf("element %d is %g and should be %g\n", i, host[i], 2 * (i + 0.5f));
    return 1;
  }
  std::printf("%d numbers doubled\n", n);
}
