// # Right for square matrices only
//
// Kind: repair
// Level: 1
// Minutes: 5
// Path: short
//
// `product` computes C = A B, where A is M x K, B is K x N and C is M x N, all of them row-major.
// It passed every test of its author, who tested with square matrices alone: for M = N = K it is
// right.
//
// Repair it. The launch covers C with blocks of 32 x 8 threads, x along the columns.

#include <cuda_runtime.h>

__global__ void product(const float* a, const float* b, float* c, int m, int n, int k) {
  const int row = blockIdx.y * blockDim.y + threadIdx.y;
  const int col = blockIdx.x * blockDim.x + threadIdx.x;
#ifdef SOLUTION
  if (row >= m || col >= n) return;
  float sum = 0;
  for (int i = 0; i < k; ++i) sum += a[row * k + i] * b[i * n + col];
#else
  if (row >= n || col >= m) return;
  float sum = 0;
  for (int i = 0; i < k; ++i) sum += a[row * n + i] * b[i * k + col];
#endif
  c[row * n + col] = sum;
}
