#include "run.h"

__global__ void waves(float* out, const float* in, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float sum = 0.0f;
  for (int k = 0; k < 20; ++k) sum += in[i] * 0.1 + k;
  out[i] = sum;
}

int main() {
  const int n = 20000;
  return run(
      n, n, some, [=](float* out, const float* in) { waves<<<(n + 255) / 256, 256>>>(out, in, n); },
      [=](const float* in, int i) { return 2.0f * in[i] + 190.0f; });
}
