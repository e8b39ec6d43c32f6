// # The two sides of a swizzle
//
// Kind: repair
// Level: 4
// Minutes: 8
//
// This transpose does without padding: element (r, c) of the tile is kept in another column of row
// r, so that the 32 elements of a column lie in 32 different banks. Rows and columns of the matrix
// need not be multiples of 32. The idea is right, but the result is not: the side that fills the
// tile and the side that reads it do not agree on where an element is.
//
// Repair it. The tile stays 32 x 32, without padding.
//
// Bars at 64 x 96: no bank conflicts, 4 sectors per load request and per store request

#include <cuda_runtime.h>

constexpr int kTile = 32, kRows = 8;

__global__ void transpose(const float* in, float* out, int rows, int cols) {
  __shared__ float tile[kTile][kTile];
  const int x = threadIdx.x, y = threadIdx.y;
  const int top = blockIdx.y * kTile, left = blockIdx.x * kTile;  // of the tile in `in`
  for (int i = y; i < kTile; i += kRows) {
#ifdef SOLUTION
    if (top + i < rows && left + x < cols) tile[i][x ^ i] = in[(top + i) * cols + left + x];
#else
    if (top + i < rows && left + x < cols) tile[i][x ^ y] = in[(top + i) * cols + left + x];
#endif
  }
  __syncthreads();
  for (int i = y; i < kTile; i += kRows) {
#ifdef SOLUTION
    if (left + i < cols && top + x < rows) out[(left + i) * rows + top + x] = tile[x][i ^ x];
#else
    if (left + i < cols && top + x < rows) out[(left + i) * rows + top + x] = tile[x][i ^ y];
#endif
  }
}
