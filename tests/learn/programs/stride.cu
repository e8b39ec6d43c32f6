#include "run.h"

// Each thread has eight neighbours of its own.
__global__ void twice(float* out, const float* in, int n) {
  const int per_thread = 8;
  const int thread = blockIdx.x * blockDim.x + threadIdx.x;
  const int threads = gridDim.x * blockDim.x;
  for (int k = 0; k < per_thread; ++k) {
    const int i = thread * per_thread + k;
    if (i < n) out[i] = 2.0f * in[i];
  }
}

int main() {
  const int n = 100000;
  return run(
      n, n, some,
      [=](float* out, const float* in) { twice<<<(n + 2047) / 2048, 256>>>(out, in, n); },
      [=](const float* in, int i) { return 2.0f * in[i]; });
}
