// # A branch for whole warps
//
// Kind: optimise
// Level: 4
// Minutes: 10
//
// A picture has two kinds of pixels: those of even rows are brightened (`2 * x + 1`), those of odd
// rows are darkened (`x / 4 - 1`). The picture is stored row by row, and a row is 16 pixels wide.
// One thread takes one pixel, so each warp holds two rows, takes both sides of the branch, and
// leaves half of its lanes idle on each.
//
// Give the threads other pixels, so that no warp diverges: all 32 lanes of a warp must work on rows
// of one kind. The number of rows is always a multiple of 16. The launch stays: `rows / 16` blocks
// of 256 threads, 16 rows a block.
//
// Bars: 0 divergent branches, 32 active lanes and at most 4 sectors per load request, at 64 rows

#include <cuda_runtime.h>

constexpr int kWidth = 16;

__global__ void shade(const float* in, float* out) {
  const int first = blockIdx.x * 256;  // of this block's pixels: 16 rows
#ifdef SOLUTION
  // The first four warps take the even rows, the others the odd ones: two rows of one kind for
  // each warp.
  const int kind = threadIdx.x / 128;
  const int row = 2 * (threadIdx.x % 128 / kWidth) + kind;
  const int pixel = row * kWidth + threadIdx.x % kWidth;
#else
  // TODO: which pixel of the block does this thread take?
  const int pixel = threadIdx.x;
  const int row = pixel / kWidth;
#endif
  const int i = first + pixel;
  if (row % 2 == 0) {
    out[i] = 2 * in[i] + 1;
  } else {
    out[i] = in[i] / 4 - 1;
  }
}
