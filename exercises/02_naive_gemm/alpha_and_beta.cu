// # alpha, beta, and a C that holds anything
//
// Kind: fill in
// Level: 2
// Minutes: 8
//
// GEMM is more than a product: `C = alpha A B + beta C`. A is M x K, B is K x N, C is M x N, all
// row-major. Two rules come with it:
//
// - For beta = 0, C is written and never read: it may be uninitialized, or hold a NaN.
// - Each element of C is written exactly once.
//
// Complete the kernel, which computes the plain product so far. The launch covers C with blocks of
// 32 x 8 threads, x along the columns. For beta = 0 there are as many load requests as now.

#include <cuda_runtime.h>

__global__ void gemm(int m, int n, int k, float alpha, const float* a, const float* b, float beta,
                     float* c) {
  const int row = blockIdx.y * blockDim.y + threadIdx.y;
  const int col = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= m || col >= n) return;
  float sum = 0;
  for (int i = 0; i < k; ++i) sum += a[row * k + i] * b[i * n + col];
#ifdef SOLUTION
  float result = alpha * sum;
  if (beta != 0) result += beta * c[row * n + col];
  c[row * n + col] = result;
#else
  c[row * n + col] = sum;  // TODO: alpha and beta
  (void)alpha, (void)beta;
#endif
}
