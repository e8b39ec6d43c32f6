#include <cuda_runtime.h>

#include <cmath>
#include <cstdio>
#include <vector>

__global__ void twice(float* out, const float* in, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    out[i] = 2.0f * in[i];
}

int main() {
  const int n = 100000;
  std::vector<float> h_in(n);
  for (int i = 0; i < n; ++i) h_in[i] = static_cast<float>(i % 1000);
  float *in, *out;
  cudaMalloc(&in, n * sizeof(float));
  cudaMalloc(&out, n * sizeof(float));
  cudaMemcpy(in, h_in.data(), n * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemset(out, 0, n * sizeof(float));
  twice<<<(n + 127) / 128, 128>>>(out, in, n);
  std::vector<float> h_out(n);
  cudaMemcpy(h_out.data(), out, n * sizeof(float), cudaMemcpyDeviceToHost);
  cudaFree(in);
  cudaFree(out);
  int wrong = 0;
  for (int i = 0; i < n; ++i)
    wrong += std::fabs(h_out[i] - (2.0f * h_in[i])) > 0.001f * std::fabs(2.0f * h_in[i]);
  std::printf("%d wrong\n", wrong);
  return wrong != 0;
}
