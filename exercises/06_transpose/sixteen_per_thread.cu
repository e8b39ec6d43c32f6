// # Sixteen elements per thread
//
// Kind: optimise
// Level: 6
// Minutes: 20
//
// `transpose` turns a row-major matrix of rows x cols floats into one of cols x rows. Both extents
// are multiples of 4, and both matrices begin at a multiple of 16 bytes. One thread moves one
// element.
//
// Let a thread move 4 x 4 elements, without shared memory: it reads four `float4`, one from each of
// four rows, swaps its 16 values in registers, and writes four `float4`. The shape of the block is
// yours: of a warp's lanes, some must be neighbours along a row of `in`, some along a row of `out`.
//
// Bars at 64 x 96: 48 load requests, 48 store requests (192 of each now), 16 sectors in each of
// them, which is what 32 x 16 bytes fill

#include <cuda_runtime.h>

// TODO
__global__ void transpose_kernel(const float* in, float* out, int rows, int cols) {
  const int row = blockIdx.y * blockDim.y + threadIdx.y;
  const int col = blockIdx.x * blockDim.x + threadIdx.x;
  if (row < rows && col < cols) out[col * rows + row] = in[row * cols + col];
}

void transpose(const float* in, float* out, int rows, int cols) {
  const dim3 block(8, 4);
  const dim3 grid((cols + 7) / 8, (rows + 3) / 4);
  transpose_kernel<<<grid, block>>>(in, out, rows, cols);
}
