// # What all threads read
//
// Kind: optimise
// Level: 3
// Minutes: 12
//
// A row of pixels begins with its ground: pixel p has the value `ground[kind[p]]`. Stripes are laid
// over it, in order: stripe s covers the pixels from `s.x` to `s.y`, has the value `s.z`, and hides
// half of what is below it. `draw` gets the stripes in the host's memory, at most 2048 of them, and
// copies them to global memory, where every warp loads every stripe.
//
// Keep the stripes in **constant memory**. Leave in global memory what lanes read at different
// addresses: a warp that reads constant memory at 32 addresses has to wait for one after the other.
// `draw` is called several times, each time with other stripes.
//
// Bar for 256 pixels and 1000 stripes: exactly 16 load requests to global memory, two for each warp
// (there are 8,016 now), and one kernel launch.

#include <cuda_runtime.h>

constexpr int kMostStripes = 2048;

#ifdef SOLUTION
__constant__ float4 stripe_of[kMostStripes];

__global__ void draw_row(float* out, const unsigned char* kind, const float* ground, int count,
                         int pixels) {
  const int p = blockIdx.x * blockDim.x + threadIdx.x;
  if (p >= pixels) return;
  float sum = ground[kind[p]];
  for (int k = 0; k < count; ++k) {
    const float4 s = stripe_of[k];
    if (p >= s.x && p <= s.y) sum = 0.5f * sum + 0.5f * s.z;
  }
  out[p] = sum;
}
#else
__global__ void draw_row(float* out, const unsigned char* kind, const float* ground,
                         const float4* stripes, int count, int pixels) {
  const int p = blockIdx.x * blockDim.x + threadIdx.x;
  if (p >= pixels) return;
  float sum = ground[kind[p]];
  for (int k = 0; k < count; ++k) {
    const float4 s = stripes[k];
    if (p >= s.x && p <= s.y) sum = 0.5f * sum + 0.5f * s.z;
  }
  out[p] = sum;
}
#endif

/// Draws `count` stripes on `pixels` pixels. `stripes` is in the host's memory, the other arrays
/// are in the device's.
void draw(float* out, const unsigned char* kind, const float* ground, const float4* stripes,
          int count, int pixels) {
#ifdef SOLUTION
  cudaMemcpyToSymbol(stripe_of, stripes, count * sizeof(float4));
  draw_row<<<(pixels + 127) / 128, 128>>>(out, kind, ground, count, pixels);
#else
  // TODO: which of the arrays do all threads read at the same address?
  float4* copied;
  cudaMalloc(&copied, kMostStripes * sizeof(float4));
  cudaMemcpy(copied, stripes, count * sizeof(float4), cudaMemcpyHostToDevice);
  draw_row<<<(pixels + 127) / 128, 128>>>(out, kind, ground, copied, count, pixels);
  cudaFree(copied);
#endif
}
