// # Two dimensions, not square
//
// Kind: fill in
// Level: 2
// Minutes: 5
//
// `shift` adds to each element of a row-major matrix the number of its column: `out[r][c] =
// in[r][c] + c`. The matrix has `rows` rows and `cols` columns, which differ, and neither is a
// multiple of the block's extents. A block is 32 threads wide (x) and 8 high (y).
//
// Fill in the indices, the guard and the grid. Neighbouring threads along x must get neighbouring
// columns, and the grid has no more blocks than it needs.
//
// Bar: 5 sectors per load request on 70 rows of 130 columns

#include <cuda_runtime.h>

__global__ void shift(const float* in, float* out, int rows, int cols) {
#ifdef SOLUTION
  const int row = blockIdx.y * blockDim.y + threadIdx.y;
  const int col = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows || col >= cols) return;
#else
  const int row = 0;  // TODO
  const int col = 0;  // TODO
  // TODO: no access outside of the matrix
#endif
  out[row * cols + col] = in[row * cols + col] + col;
}

// in and out: rows x cols floats on the device.
void launch_shift(const float* in, float* out, int rows, int cols) {
  const dim3 block(32, 8);
#ifdef SOLUTION
  const dim3 grid((cols + block.x - 1) / block.x, (rows + block.y - 1) / block.y);
#else
  const dim3 grid(1, 1);  // TODO
#endif
  shift<<<grid, block>>>(in, out, rows, cols);
}
