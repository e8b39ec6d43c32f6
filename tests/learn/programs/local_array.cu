#include "run.h"

__global__ void pick(float* out, const float* in, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float own[16];
  own[0] = in[i];
#pragma unroll 1
  for (int k = 1; k < 16; ++k) own[k] = 0.5f * own[k - 1] + 1.0f;
  float value = 0;
#pragma unroll
  for (int k = 0; k < 16; ++k) value += own[k] * static_cast<float>(k == i % 16);
  out[i] = value;
}

int main() {
  const int n = 100000;
  const auto launch = [=](float* out, const float* in) {
    pick<<<(n + 255) / 256, 256>>>(out, in, n);
  };
  const auto want = [](const float* in, int i) {
    float value = in[i];
    for (int k = 0; k < i % 16; ++k) value = 0.5f * value + 1.0f;
    return value;
  };
  return run(n, n, some, launch, want);
}
