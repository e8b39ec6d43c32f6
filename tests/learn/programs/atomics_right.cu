#include <cuda_runtime.h>

#include <cmath>
#include <cstdio>
#include <vector>

__global__ void sum(float* out, const float* in, int n) {
  __shared__ float sums[8];
  float mine = 0.0f;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    mine += in[i];
  for (int by = 16; by > 0; by /= 2) mine += __shfl_down_sync(~0u, mine, by);
  if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = mine;
  __syncthreads();
  if (threadIdx.x >= 32) return;
  mine = threadIdx.x < 8 ? sums[threadIdx.x] : 0.0f;
  for (int by = 4; by > 0; by /= 2) mine += __shfl_down_sync(~0u, mine, by);
  if (threadIdx.x == 0) atomicAdd(out, mine);
}

int main() {
  const int n = 100000;
  std::vector<float> h_in(n);
  for (int i = 0; i < n; ++i) h_in[i] = 1.0f;
  float *in, *out;
  cudaMalloc(&in, n * sizeof(float));
  cudaMalloc(&out, 1 * sizeof(float));
  cudaMemcpy(in, h_in.data(), n * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemset(out, 0, 1 * sizeof(float));
  sum<<<(n + 1023) / 1024, 256>>>(out, in, n);
  std::vector<float> h_out(1);
  cudaMemcpy(h_out.data(), out, 1 * sizeof(float), cudaMemcpyDeviceToHost);
  cudaFree(in);
  cudaFree(out);
  int wrong = 0;
  for (int i = 0; i < 1; ++i) wrong += std::fabs(h_out[i] - (n)) > 0.001f * std::fabs(n);
  std::printf("%d wrong\n", wrong);
  return wrong != 0;
}
