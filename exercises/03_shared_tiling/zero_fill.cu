// # Zeros at the edges
//
// Kind: fill in
// Level: 4
// Minutes: 12
//
// The tiled product of chapter 03, for extents that are no multiples of 16: C = A B, where A is M x
// K, B is K x N and C is M x N, row-major. Tiles at the edges stick out of the matrices.
//
// Complete the kernel so that it is right for every M, N and K from 1 up. Threads without an
// element of C must still help to load the tiles, and come to every barrier.
//
// Bar for M = 65, N = 70, K = 37: 1200 load requests, one per tile, warp and matrix

#include <cuda_runtime.h>

constexpr int kTile = 16;

__global__ void product(const float* a, const float* b, float* c, int m, int n, int k) {
  __shared__ float tile_a[kTile][kTile];
  __shared__ float tile_b[kTile][kTile];
  const int x = threadIdx.x, y = threadIdx.y;
  const int row = blockIdx.y * kTile + y, col = blockIdx.x * kTile + x;
  float sum = 0;
  for (int first = 0; first < k; first += kTile) {
#ifdef SOLUTION
    tile_a[y][x] = row < m && first + x < k ? a[row * k + first + x] : 0.0f;
    tile_b[y][x] = first + y < k && col < n ? b[(first + y) * n + col] : 0.0f;
    __syncthreads();
#else
    tile_a[y][x] = a[row * k + first + x];    // TODO
    tile_b[y][x] = b[(first + y) * n + col];  // TODO
    __syncthreads();
#endif
    for (int i = 0; i < kTile; ++i) sum += tile_a[y][i] * tile_b[i][x];
    __syncthreads();
  }
#ifdef SOLUTION
  if (row < m && col < n) c[row * n + col] = sum;
#else
  if (row < m) c[row * n + col] = sum;  // TODO
#endif
}
