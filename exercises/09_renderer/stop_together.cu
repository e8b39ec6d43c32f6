// # Stop early, stop together
//
// Kind: optimise
// Level: 3
// Minutes: 15
//
// A row of pixels, and stripes on it, the nearest first: stripe k covers the pixels from `left[k]`
// to `right[k]` and has the value `value[k]`. It hides half of what is below it. `draw_row` draws
// them front to back. A block has 256 pixels and takes the stripes in batches of 256, which it
// loads into shared memory.
//
// The result is right, but a block goes on after all of its pixels are saturated. Once less than
// 2^-24 of the light is left, nothing below can be seen. Let the block end its loop when that holds
// for **all** of its pixels.
//
// Bar for 200 pixels and 4096 stripes, all of which cover just these pixels: 24 load requests to
// global memory, those of one batch (there are 384 now). The block's other 56 threads have no
// pixel.

#include <cuda_runtime.h>

__global__ void draw_row(float* out, const int* left, const int* right, const float* value,
                         int stripes, int pixels) {
  __shared__ int from[256], to[256];
  __shared__ float values[256];
  const int t = threadIdx.x, p = blockIdx.x * 256 + t;
#ifdef SOLUTION
  float sum = 0, light = p < pixels ? 1 : 0;
#else
  float sum = 0, light = 1;
#endif
  for (int first = 0; first < stripes; first += 256) {
    if (first + t < stripes) {
      from[t] = left[first + t];
      to[t] = right[first + t];
      values[t] = value[first + t];
    }
    __syncthreads();
    for (int k = 0; k < min(256, stripes - first); ++k) {
      if (p < from[k] || p > to[k]) continue;
      sum += light * 0.5f * values[k];
      light *= 0.5f;
    }
#ifdef SOLUTION
    if (!__syncthreads_or(light >= 0x1p-24f)) break;
#else
    __syncthreads();  // TODO: is there any pixel that needs more?
#endif
  }
  if (p < pixels) out[p] = sum + light;
}
