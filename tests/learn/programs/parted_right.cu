#include <cuda_runtime.h>

#include <cmath>
#include <cstdio>
#include <vector>

__global__ void two_series(float* out, const float* in, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float x = in[i];
  if (i / 32 % 2 == 0) {
    for (int k = 0; k < 40; ++k) x = __sinf(x) + 0.5f;
  } else {
    for (int k = 0; k < 40; ++k) x = __cosf(x) * 0.25f;
  }
  out[i] = x;
}

int main() {
  const int n = 20000;
  std::vector<float> h_in(n);
  for (int i = 0; i < n; ++i) h_in[i] = static_cast<float>(i % 3);
  float *in, *out;
  cudaMalloc(&in, n * sizeof(float));
  cudaMalloc(&out, n * sizeof(float));
  cudaMemcpy(in, h_in.data(), n * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemset(out, 0, n * sizeof(float));
  two_series<<<(n + 255) / 256, 256>>>(out, in, n);
  std::vector<float> h_out(n);
  cudaMemcpy(h_out.data(), out, n * sizeof(float), cudaMemcpyDeviceToHost);
  cudaFree(in);
  cudaFree(out);
  int wrong = 0;
  for (int i = 0; i < n; ++i) {
    float x = h_in[i];
    for (int k = 0; k < 40; ++k) x = i / 32 % 2 == 0 ? std::sin(x) + 0.5f : std::cos(x) * 0.25f;
    wrong += std::fabs(h_out[i] - x) > 0.01f;
  }
  std::printf("%d wrong\n", wrong);
  return wrong != 0;
}
