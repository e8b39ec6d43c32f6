#include <cuda_runtime.h>

#include <cstdio>
#include <vector>

struct Particle {
  float x, y, z, mass, u, v, w, charge;
};

// Neighbouring lanes read one member each of 32 bytes.
__global__ void move(Particle* all, float step, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) all[i].x += step * all[i].u;
}

int main() {
  const int n = 20000;
  std::vector<Particle> host(n, Particle{1, 0, 0, 0, 2, 0, 0, 0});
  Particle* all;
  cudaMalloc(&all, n * sizeof(Particle));
  cudaMemcpy(all, host.data(), n * sizeof(Particle), cudaMemcpyHostToDevice);
  move<<<(n + 255) / 256, 256>>>(all, 0.5f, n);
  cudaMemcpy(host.data(), all, n * sizeof(Particle), cudaMemcpyDeviceToHost);
  cudaFree(all);
  int wrong = 0;
  for (const Particle& one : host) wrong += one.x != 2.0f;
  std::printf("%d wrong\n", wrong);
  return wrong != 0;
}
