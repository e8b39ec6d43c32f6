// # Which way do the lanes run?
//
// Kind: optimise
// Level: 4
// Minutes: 10
// Path: short
//
// `product` computes C = A B (A: M x K, B: K x N, row-major), one thread per element, and is right.
// But `threadIdx.x` counts the rows of C: in each iteration the lanes of a warp read 32 rows of A,
// and they write to 32 rows of C.
//
// Let the lanes of a warp have neighbouring columns. You may change the kernel and the launch; the
// result must stay right for every shape.
//
// Bars: 3 sectors per load request and 4 sectors per store request, at M = N = K = 64

#include <cuda_runtime.h>

__global__ void product(const float* a, const float* b, float* c, int m, int n, int k) {
#ifdef SOLUTION
  const int row = blockIdx.y * blockDim.y + threadIdx.y;
  const int col = blockIdx.x * blockDim.x + threadIdx.x;
#else
  // TODO
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  const int col = blockIdx.y * blockDim.y + threadIdx.y;
#endif
  if (row >= m || col >= n) return;
  float sum = 0;
  for (int i = 0; i < k; ++i) sum += a[row * k + i] * b[i * n + col];
  c[row * n + col] = sum;
}

void launch_product(const float* a, const float* b, float* c, int m, int n, int k) {
  const dim3 block(32, 8);
#ifdef SOLUTION
  const dim3 grid((n + 31) / 32, (m + 7) / 8);
#else
  const dim3 grid((m + 31) / 32, (n + 7) / 8);
#endif
  product<<<grid, block>>>(a, b, c, m, n, k);
}
