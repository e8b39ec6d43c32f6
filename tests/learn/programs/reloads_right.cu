#include <cuda_runtime.h>

#include <cstdio>
#include <vector>

// A block loads each tile once and uses it 32 times.
__global__ void product(const float* a, const float* b, float* c, int n) {
  __shared__ float a_tile[32][32], b_tile[32][32];
  const int row = blockIdx.y * 32 + threadIdx.y, col = blockIdx.x * 32 + threadIdx.x;
  float sum = 0;
  for (int first = 0; first < n; first += 32) {
    a_tile[threadIdx.y][threadIdx.x] = a[row * n + first + threadIdx.x];
    b_tile[threadIdx.y][threadIdx.x] = b[(first + threadIdx.y) * n + col];
    __syncthreads();
    for (int k = 0; k < 32; ++k) sum += a_tile[threadIdx.y][k] * b_tile[k][threadIdx.x];
    __syncthreads();
  }
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
  product<<<dim3(n / 32, n / 32), dim3(32, 32)>>>(a, b, c, n);
  cudaMemcpy(h_c.data(), c, n * n * sizeof(float), cudaMemcpyDeviceToHost);
  cudaFree(a);
  cudaFree(b);
  cudaFree(c);
  int wrong = 0;
  for (int i = 0; i < n * n; ++i) wrong += h_c[i] != 2.0f * n * static_cast<float>(i / n % 7);
  std::printf("%d wrong\n", wrong);
  return wrong != 0;
}
