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

#ifdef SOLUTION
constexpr int kTile = 32;

__global__ void product(const float* a, const float* b, float* c, int m, int n, int k) {
  __shared__ float tile_a[kTile][kTile];
  __shared__ float tile_b[kTile][kTile];
  const int x = threadIdx.x, y = threadIdx.y;
  const int row = blockIdx.y * kTile + y, col = blockIdx.x * kTile + x;
  float sum = 0;
  for (int first = 0; first < k; first += kTile) {
    tile_a[y][x] = row < m && first + x < k ? a[row * k + first + x] : 0.0f;
    tile_b[y][x] = first + y < k && col < n ? b[(first + y) * n + col] : 0.0f;
    __syncthreads();
    for (int i = 0; i < kTile; ++i) sum += tile_a[y][i] * tile_b[i][x];
    __syncthreads();
  }
  if (row < m && col < n) c[row * n + col] = sum;
}
#else
// TODO: tiles of 32 x 32
__global__ void product(const float* a, const float* b, float* c, int m, int n, int k) {
  const int row = blockIdx.y * blockDim.y + threadIdx.y;
  const int col = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= m || col >= n) return;
  float sum = 0;
  for (int i = 0; i < k; ++i) sum += a[row * k + i] * b[i * n + col];
  c[row * n + col] = sum;
}
#endif

void launch_product(const float* a, const float* b, float* c, int m, int n, int k) {
#ifdef SOLUTION
  const dim3 block(kTile, kTile);
  const dim3 grid((n + kTile - 1) / kTile, (m + kTile - 1) / kTile);
#else
  const dim3 block(32, 32);
  const dim3 grid((n + 31) / 32, (m + 31) / 32);
#endif
  product<<<grid, block>>>(a, b, c, m, n, k);
}
