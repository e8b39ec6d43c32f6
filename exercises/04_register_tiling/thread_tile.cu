// # A thread's tile of sums
//
// Kind: repair
// Level: 4
// Minutes: 12
//
// `product` computes C = A B (A: M x K, B: K x N, C: M x N, row-major; M and N multiples of 32, K a
// multiple of 8). A block of 8 x 8 threads computes 32 x 32 elements, each thread 4 x 4 of them:
// thread (x, y) those of rows `y + 8 i` and columns `x + 8 j`.
//
// It was written in a hurry. There are three mistakes: the simulator names one, and the result
// shows the others. There are as many load requests as now.

#include <cuda_runtime.h>

constexpr int kTile = 32, kDepth = 8, kSide = 8, kEach = 4;

__global__ void product(const float* a, const float* b, float* c, int n, int k) {
  __shared__ float tile_a[kTile][kDepth];  // 32 rows, 8 along K
  __shared__ float tile_b[kDepth][kTile];  // 8 along K, 32 columns
  const int x = threadIdx.x, y = threadIdx.y;
  const int row = blockIdx.y * kTile, col = blockIdx.x * kTile;  // of the block
#ifdef SOLUTION
  float sums[kEach][kEach] = {};
#else
  float sums[kEach][kEach];
#endif
  for (int first = 0; first < k; first += kDepth) {
    for (int i = 0; i < kEach; ++i) {
      tile_a[y + kSide * i][x] = a[(row + y + kSide * i) * k + first + x];
      tile_b[y][x + kSide * i] = b[(first + y) * n + col + x + kSide * i];
    }
#ifdef SOLUTION
    __syncthreads();
#else
    for (int i = 0; i < kEach; ++i) {
      for (int j = 0; j < kEach; ++j) sums[i][j] = 0;
    }
#endif
    for (int s = 0; s < kDepth; ++s) {
      for (int i = 0; i < kEach; ++i) {
        for (int j = 0; j < kEach; ++j) {
          sums[i][j] += tile_a[y + kSide * i][s] * tile_b[s][x + kSide * j];
        }
      }
    }
    __syncthreads();
  }
  for (int i = 0; i < kEach; ++i) {
    for (int j = 0; j < kEach; ++j) {
#ifdef SOLUTION
      c[(row + y + kSide * i) * n + col + x + kSide * j] = sums[i][j];
#else
      c[(row + y + kSide * i) * n + col + x + kEach * j] = sums[i][j];
#endif
    }
  }
}
