#include "run.h"

__global__ void two_series(float* out, const float* in, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float x = in[i];
  if (i % 2 == 0) {
    for (int k = 0; k < 40; ++k) x = __sinf(x) + 0.5f;
  } else {
    for (int k = 0; k < 40; ++k) x = __cosf(x) * 0.25f;
  }
  out[i] = x;
}

int main() {
  const int n = 20000;
  return run(
      n, n, [](int i) { return static_cast<float>(i % 3); },
      [=](float* out, const float* in) { two_series<<<(n + 255) / 256, 256>>>(out, in, n); },
      [=](const float* in, int i) {
        float x = in[i];
        for (int k = 0; k < 40; ++k) x = i % 2 == 0 ? std::sin(x) + 0.5f : std::cos(x) * 0.25f;
        return x;
      });
}
