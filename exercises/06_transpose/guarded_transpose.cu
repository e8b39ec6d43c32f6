// # A transpose of any rectangle
//
// Kind: fill in
// Level: 3
// Minutes: 12
// Path: short
//
// `transpose` turns a row-major matrix of rows x cols floats into one of cols x rows: `out[c][r] =
// in[r][c]`. Neither extent is a multiple of 32. A block of 32 x 8 threads turns a tile of 32 x 32:
// each thread moves four elements of it, 8 rows apart. Both sides must move rows, so the tile goes
// through shared memory, which is padded already.
//
// Write both loops with their guards, and the barrier. The grid has a block for each tile of `in`:
// x along its columns, y along its rows.
//
// Bars at 64 x 96: 4 sectors per load request and per store request, no bank conflicts

#include <cuda_runtime.h>

constexpr int kTile = 32, kRows = 8;

__global__ void transpose(const float* in, float* out, int rows, int cols) {
  __shared__ float tile[kTile][kTile + 1];
  const int x = threadIdx.x, y = threadIdx.y;
  const int top = blockIdx.y * kTile, left = blockIdx.x * kTile;  // of the tile in `in`
#ifdef SOLUTION
  for (int i = y; i < kTile; i += kRows) {
    if (top + i < rows && left + x < cols) tile[i][x] = in[(top + i) * cols + left + x];
  }
  __syncthreads();
  for (int i = y; i < kTile; i += kRows) {
    if (left + i < cols && top + x < rows) out[(left + i) * rows + top + x] = tile[x][i];
  }
#else
  // TODO: this is one of the thread's four elements
  if (top + y < rows && left + x < cols) tile[y][x] = in[(top + y) * cols + left + x];
  // TODO: tile -> out
  (void)out;
#endif
}
