// # Loop over K-tiles
//
// Kind: fill in
// Level: 3
// Minutes: 15
//
// `product` computes C = A B (A: M x K, B: K x N, C: M x N, row-major, any M, N and K). A block of
// 32 x 8 threads computes 32 x 32 elements of C: thread (x, y) those of rows `y`, `y + 8`, `y + 16`
// and `y + 24`, all in column `x` of the block. Of A it needs 32 rows, of B 32 columns, and both
// are cut along K into K-tiles of 8: a tile of 32 x 8 and one of 8 x 32, which is one element per
// thread of each.
//
// The loop is written for the first K-tile alone. Let it run through all of them: the loads with
// zeros for what does not exist, the barriers, the sums. The last K-tile may be shorter.
//
// Bars for M = 64, N = 96, K = 40: 480 load requests, no bank conflicts

#include <cuda_runtime.h>

constexpr int kTile = 32, kDepth = 8, kEach = 4;

__global__ void product(const float* a, const float* b, float* c, int m, int n, int k) {
  __shared__ float tile_a[kTile][kDepth];  // 32 rows, 8 along K
  __shared__ float tile_b[kDepth][kTile];  // 8 along K, 32 columns
  const int x = threadIdx.x, y = threadIdx.y, t = kTile * y + x;
  const int row = blockIdx.y * kTile, col = blockIdx.x * kTile;  // of the block
  // Which element of each tile this thread loads.
  const int row_a = t / kDepth, k_a = t % kDepth, k_b = y, col_b = x;
  float sums[kEach] = {};
#ifdef SOLUTION
  for (int first = 0; first < k; first += kDepth) {
    const bool in_a = row + row_a < m && first + k_a < k;
    const bool in_b = first + k_b < k && col + col_b < n;
    tile_a[row_a][k_a] = in_a ? a[(row + row_a) * k + first + k_a] : 0.0f;
    tile_b[k_b][col_b] = in_b ? b[(first + k_b) * n + col + col_b] : 0.0f;
    __syncthreads();
    for (int s = 0; s < kDepth; ++s) {
      for (int i = 0; i < kEach; ++i) sums[i] += tile_a[y + 8 * i][s] * tile_b[s][x];
    }
    __syncthreads();
  }
#else
  // TODO: this is the first K-tile, where nothing is missing
  tile_a[row_a][k_a] = a[(row + row_a) * k + k_a];
  tile_b[k_b][col_b] = b[k_b * n + col + col_b];
  __syncthreads();
  for (int s = 0; s < kDepth; ++s) {
    for (int i = 0; i < kEach; ++i) sums[i] += tile_a[y + 8 * i][s] * tile_b[s][x];
  }
#endif
  for (int i = 0; i < kEach; ++i) {
    const int r = row + y + 8 * i;
    if (r < m && col + x < n) c[r * n + col + x] = sums[i];
  }
}
