// # Four rows for each thread
//
// Kind: fill in
// Level: 1
// Minutes: 10
//
// `product` computes C = A B (A: M x K, B: K x N, C: M x N, row-major) straight from global memory.
// A thread shall compute four elements of C: those of rows `4 r` to `4 r + 3` in one column. So it
// can load an element of B once and use it four times, from a register.
//
// Complete the kernel. M is a multiple of 4; N and K are anything. Each thread adds up its four
// sums side by side in one loop along K.
//
// Bar: 10,240 global load requests at M = N = K = 64 (one thread per element makes 16,384)

#include <cuda_runtime.h>

constexpr int kRows = 4;

__global__ void product(const float* a, const float* b, float* c, int m, int n, int k) {
  const int row = (blockIdx.y * blockDim.y + threadIdx.y) * kRows;
  const int col = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= m || col >= n) return;
  float sums[kRows] = {};
#ifdef SOLUTION
  for (int i = 0; i < k; ++i) {
    const float from_b = b[i * n + col];
    for (int r = 0; r < kRows; ++r) sums[r] += a[(row + r) * k + i] * from_b;
  }
#else
  // TODO: all four sums, with one load of B for each step along K
  for (int i = 0; i < k; ++i) sums[0] += a[row * k + i] * b[i * n + col];
#endif
  for (int r = 0; r < kRows; ++r) c[(row + r) * n + col] = sums[r];
}

void launch_product(const float* a, const float* b, float* c, int m, int n, int k) {
  const dim3 block(32, 4);
  const dim3 grid((n + 31) / 32, (m / kRows + 3) / 4);
  product<<<grid, block>>>(a, b, c, m, n, k);
}
