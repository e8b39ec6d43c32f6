#include <cuda_runtime.h>

#include <cstdio>
#include <vector>

// A thread for each element of the product loads its row and its column by itself.
__global__ void product(const float* a, const float* b, float* c, int n) {
  const int row = blockIdx.y * blockDim.y + threadIdx.y;
  const int col = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= n || col >= n) return;
  float sum = 0;
  for (int k = 0; k < n; ++k) sum += a[row * n + k] * b[k * n + col];
  c[row * n + col] = sum;
}

int main() {
  const int n = 256;
  std::vector<float> h_a(n * n), h_b(n * n, 2.0f), h_c(n * n);
  for (int i = 0; i < n * n; ++i) h_a[i] = static_cast<float>(i / n % 7);
  float *a, *b, *c;
  cudaMalloc(&a, n * n * sizeof(float));
  cudaMalloc(&b, n * n * sizeof(float));
  cudaMalloc(&c, n * n * sizeof(float));
  cudaMemcpy(a, h_a.data(), n * n * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(b, h_b.data(), n * n * sizeof(float), cudaMemcpyHostToDevice);
  product<<<dim3(n / 32, n / 8), dim3(32, 8)>>>(a, b, c, n);
  cudaMemcpy(h_c.data(), c, n * n * sizeof(float), cudaMemcpyDeviceToHost);
  cudaFree(a);
  cudaFree(b);
  cudaFree(c);
  int wrong = 0;
  for (int i = 0; i < n * n; ++i) wrong += h_c[i] != 2.0f * n * static_cast<float>(i / n % 7);
  std::printf("%d wrong\n", wrong);
  return wrong != 0;
}
