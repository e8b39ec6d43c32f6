// # Blend front to back
//
// Kind: repair
// Level: 2
// Minutes: 10
//
// Pixel p has `layers` layers: layer k has the value `value[k * pixels + p]` and hides the part
// `alpha[k * pixels + p]` of what is below it. **Layer 0 is the lowest.** Below all of them the
// pixel is 1. From below, a layer makes
//
//     pixel = alpha * value + (1 - alpha) * pixel
//
// of the pixel. `blend` computes the same front to back: it adds up what each layer contributes,
// and keeps the transmittance of all layers above. It compiles, and its result is wrong. Find what
// is wrong; keep the direction.

#include <cuda_runtime.h>

__global__ void blend(float* out, const float* value, const float* alpha, int layers, int pixels) {
  const int p = blockIdx.x * blockDim.x + threadIdx.x;
  if (p >= pixels) return;
  float sum = 0, light = 1;
#ifdef SOLUTION
  for (int k = layers - 1; k >= 0; --k) {
    const float a = alpha[k * pixels + p];
    sum += light * a * value[k * pixels + p];
    light *= 1 - a;
  }
  out[p] = sum + light;
#else
  for (int k = 0; k < layers; ++k) {
    const float a = alpha[k * pixels + p];
    light *= 1 - a;
    sum += light * a * value[k * pixels + p];
  }
  out[p] = sum;
#endif
}
