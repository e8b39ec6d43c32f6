// # Tile it
//
// Kind: optimise
// Level: 6
// Minutes: 25
// Path: short
//
// `product` computes C = A B (A: M x K, B: K x N, C: M x N, row-major) with one thread per element.
// It reads every element of A and B from global memory as often as it is used. Rewrite the kernel,
// and the launch if you like, so that each block fetches tiles into shared memory and uses each
// element 32 times.
//
// It must be right for every shape, without findings.
//
// Bars at M = N = K = 64: 512 global load requests (16,384 now), 4 sectors each, and no bank
// conflicts.

#include <cuda_runtime.h>

// TODO: tiles of 32 x 32
__global__ void product(const float* a, const float* b, float* c, int m, int n, int k) {
  const int row = blockIdx.y * blockDim.y + threadIdx.y;
  const int col = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= m || col >= n) return;
  float sum = 0;
  for (int i = 0; i < k; ++i) sum += a[row * k + i] * b[i * n + col];
  c[row * n + col] = sum;
}

void launch_product(const float* a, const float* b, float* c, int m, int n, int k) {
  const dim3 block(32, 32);
  const dim3 grid((n + 31) / 32, (m + 31) / 32);
  product<<<grid, block>>>(a, b, c, m, n, k);
}
