// # The reads of a tile
//
// Kind: predict
// Level: 5
// Minutes: 10
//
// `product` computes C = A B with M = N = K = 128 in tiles of T x T, where T is 16 or 32, and one
// thread per element: blocks of T x T threads. A thread loads one element of each tile of A and B
// per iteration, and reads 2 T elements of shared memory. First find the formula, then write the
// numbers; then it is counted.

#include <cuda_runtime.h>

constexpr int kSize = 128;

template <int T>
__global__ void product(const float* a, const float* b, float* c) {
  __shared__ float tile_a[T][T], tile_b[T][T];
  const int x = threadIdx.x, y = threadIdx.y;
  const int row = blockIdx.y * T + y, col = blockIdx.x * T + x;
  float sum = 0;
  for (int first = 0; first < kSize; first += T) {
    tile_a[y][x] = a[row * kSize + first + x];
    tile_b[y][x] = b[(first + y) * kSize + col];
    __syncthreads();
    for (int i = 0; i < T; ++i) sum += tile_a[y][i] * tile_b[i][x];
    __syncthreads();
  }
  c[row * kSize + col] = sum;
}

#ifdef SOLUTION
// T = 16: global load requests.
constexpr int kLoads16 = 8192;
// T = 32: global load requests.
constexpr int kLoads32 = 4096;
// T = 32: sectors of these loads.
constexpr int kSectors32 = 16384;
// T = 16: sectors of these loads.
constexpr int kSectors16 = 32768;
// T = 32: shared load requests. (Each multiply-add has two.)
constexpr int kSharedLoads32 = 131072;
#else
// T = 16: global load requests.
constexpr int kLoads16 = -1;  // TODO
// T = 32: global load requests.
constexpr int kLoads32 = -1;  // TODO
// T = 32: sectors of these loads.
constexpr int kSectors32 = -1;  // TODO
// T = 16: sectors of these loads.
constexpr int kSectors16 = -1;  // TODO
// T = 32: shared load requests. (Each multiply-add has two.)
constexpr int kSharedLoads32 = -1;  // TODO
#endif
