// # Warps without elements
//
// Kind: optimise
// Level: 2
// Minutes: 10
//
// A block of 8 warps computes 64 rows of `out`, 8 rows a warp: `out[row]` is the sum of
// `a[row * cols + c]`. The block copies 64 x 32 elements at a time to shared memory, all threads
// together, and zeros for rows that do not exist; then each warp adds up its rows.
//
// With `rows` = 20, five of the eight warps add up zeros. Let them skip that. They have to go on
// copying, and to reach each barrier.
//
// Bars at rows = 20, cols = 256: at most 192 load requests to shared memory (512 now).

#include <cuda_runtime.h>

constexpr int kRows = 64, kCols = 32;

// ceil(rows / 64) blocks of 256 threads. cols is a multiple of 32.
__global__ void sum_rows(const float* a, float* out, int rows, int cols) {
  __shared__ float tile[kRows][kCols];
  const int row0 = blockIdx.x * kRows, warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  float sums[8] = {};
  for (int c0 = 0; c0 < cols; c0 += kCols) {
    for (int r = warp; r < kRows; r += 8)
      tile[r][lane] = row0 + r < rows ? a[(row0 + r) * cols + c0 + lane] : 0;
    __syncthreads();
#ifdef SOLUTION
    if (row0 + warp * 8 < rows) {
      for (int r = 0; r < 8; ++r) sums[r] += tile[warp * 8 + r][lane];
    }
#else
    for (int r = 0; r < 8; ++r) sums[r] += tile[warp * 8 + r][lane];  // TODO
#endif
    __syncthreads();
  }
  for (int r = 0; r < 8; ++r) {
    float sum = sums[r];
    for (int d = 16; d > 0; d /= 2) sum += __shfl_xor_sync(~0u, sum, d);
    const int row = row0 + warp * 8 + r;
    if (lane == 0 && row < rows) out[row] = sum;
  }
}
