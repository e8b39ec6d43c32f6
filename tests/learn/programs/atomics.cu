#include <cuda_runtime.h>

#include <cmath>
#include <cstdio>
#include <vector>

__global__ void sum(float* out, const float* in, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(out, in[i]);
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
  sum<<<(n + 255) / 256, 256>>>(out, in, n);
  std::vector<float> h_out(1);
  cudaMemcpy(h_out.data(), out, 1 * sizeof(float), cudaMemcpyDeviceToHost);
  cudaFree(in);
  cudaFree(out);
  int wrong = 0;
  for (int i = 0; i < 1; ++i) wrong += std::fabs(h_out[i] - (n)) > 0.001f * std::fabs(n);
  std::printf("%d wrong\n", wrong);
  return wrong != 0;
}
