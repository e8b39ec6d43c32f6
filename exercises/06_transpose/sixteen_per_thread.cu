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

#ifdef SOLUTION
__global__ void transpose_kernel(const float* in, float* out, int rows, int cols) {
  const int row = 4 * (blockIdx.y * blockDim.y + threadIdx.y);  // of the thread's 4 x 4 elements
  const int col = 4 * (blockIdx.x * blockDim.x + threadIdx.x);
  if (row >= rows || col >= cols) return;
  float4 v[4];  // four rows of in
  for (int i = 0; i < 4; ++i) {
    v[i] = *reinterpret_cast<const float4*>(&in[(row + i) * cols + col]);
  }
  const float4 turned[4] = {{v[0].x, v[1].x, v[2].x, v[3].x},
                            {v[0].y, v[1].y, v[2].y, v[3].y},
                            {v[0].z, v[1].z, v[2].z, v[3].z},
                            {v[0].w, v[1].w, v[2].w, v[3].w}};
  for (int i = 0; i < 4; ++i) {
    *reinterpret_cast<float4*>(&out[(col + i) * rows + row]) = turned[i];
  }
}
#else
// TODO
__global__ void transpose_kernel(const float* in, float* out, int rows, int cols) {
  const int row = blockIdx.y * blockDim.y + threadIdx.y;
  const int col = blockIdx.x * blockDim.x + threadIdx.x;
  if (row < rows && col < cols) out[col * rows + row] = in[row * cols + col];
}
#endif

void transpose(const float* in, float* out, int rows, int cols) {
#ifdef SOLUTION
  const dim3 block(8, 4);  // a warp: 8 float4 along a row of in, 4 along a row of out
  const dim3 grid((cols + 31) / 32, (rows + 15) / 16);
#else
  const dim3 block(8, 4);
  const dim3 grid((cols + 7) / 8, (rows + 3) / 4);
#endif
  transpose_kernel<<<grid, block>>>(in, out, rows, cols);
}
