// # The second barrier
//
// Kind: repair
// Level: 3
// Minutes: 8
// Path: short
//
// `product` computes C = A B (A: M x K, B: K x N, C: M x N, row-major) with tiles of 16 x 16 in
// shared memory. It gives the right result in many runs, and now and then a wrong one. M, N and K
// are multiples of 16.
//
// Find out which threads do not wait for which, and repair it. The tiles stay, with as many loads
// as now.

#include <cuda_runtime.h>

constexpr int kTile = 16;

__global__ void product(const float* a, const float* b, float* c, int n, int k) {
  __shared__ float tile_a[kTile][kTile];
  __shared__ float tile_b[kTile][kTile];
  const int x = threadIdx.x, y = threadIdx.y;
  const int row = blockIdx.y * kTile + y, col = blockIdx.x * kTile + x;
  float sum = 0;
  for (int first = 0; first < k; first += kTile) {
    tile_a[y][x] = a[row * k + first + x];
    tile_b[y][x] = b[(first + y) * n + col];
    __syncthreads();
    for (int i = 0; i < kTile; ++i) sum += tile_a[y][i] * tile_b[i][x];
#ifdef SOLUTION
    __syncthreads();
#endif
  }
  c[row * n + col] = sum;
}
