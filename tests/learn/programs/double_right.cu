#include <cuda_runtime.h>

#include <cmath>
#include <cstdio>
#include <vector>

__global__ void waves(float* out, const float* in, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float sum = 0.0f;
  for (int k = 0; k < 20; ++k) sum += in[i] * 0.1f + k;
  out[i] = sum;
}

int main() {
  const int n = 20000;
  std::vector<float> h_in(n);
  for (int i = 0; i < n; ++i) h_in[i] = static_cast<float>(i % 1000);
  float *in, *out;
  cudaMalloc(&in, n * sizeof(float));
  cudaMalloc(&out, n * sizeof(float));
  cudaMemcpy(in, h_in.data(), n * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemset(out, 0, n * sizeof(float));
  waves<<<(n + 255) / 256, 256>>>(out, in, n);
  std::vector<float> h_out(n);
  cudaMemcpy(h_out.data(), out, n * sizeof(float), cudaMemcpyDeviceToHost);
  cudaFree(in);
  cudaFree(out);
  int wrong = 0;
  for (int i = 0; i < n; ++i)
    wrong += std::fabs(h_out[i] - (2.0f * h_in[i] + 190.0f)) >
             0.001f * std::fabs(2.0f * h_in[i] + 190.0f);
  std::printf("%d wrong\n", wrong);
  return wrong != 0;
}
