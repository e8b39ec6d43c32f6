// # Pad the tile
//
// Kind: optimise
// Level: 2
// Minutes: 5
//
// `transpose` turns a matrix of rows x cols floats into one of cols x rows, through a tile of 32 x
// 32 in shared memory, so that both sides of the copy are coalesced. It is right. But a warp reads
// a column of the tile, and all 32 words of a column lie in one bank.
//
// Let them lie in 32 different banks, with one small change.
//
// Bars at 64 x 64: no bank conflicts, 4 sectors per load request and per store request, 128 shared
// load requests as now

#include <cuda_runtime.h>

constexpr int kTile = 32, kRows = 8;

__global__ void transpose(const float* in, float* out, int rows, int cols) {
#ifdef SOLUTION
  __shared__ float tile[kTile][kTile + 1];
#else
  __shared__ float tile[kTile][kTile];  // TODO
#endif
  const int x = threadIdx.x, y = threadIdx.y;
  const int top = blockIdx.y * kTile, left = blockIdx.x * kTile;  // of the tile in `in`
  for (int i = y; i < kTile; i += kRows) {
    if (top + i < rows && left + x < cols) tile[i][x] = in[(top + i) * cols + left + x];
  }
  __syncthreads();
  for (int i = y; i < kTile; i += kRows) {
    if (left + i < cols && top + x < rows) out[(left + i) * rows + top + x] = tile[x][i];
  }
}
