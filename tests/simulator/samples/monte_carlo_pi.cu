// Pi from random points: every thread has a generator of its own, votes count a warp's hits.
#include <cmath>
#include <cstdio>

__host__ __device__ unsigned next(unsigned& state) {
  state = state * 1664525u + 1013904223u;
  return state >> 16;
}

__host__ __device__ bool inside(unsigned& state) {
  const unsigned long long x = next(state), y = next(state);
  return x * x + y * y <= 65535ull * 65535ull;
}

__global__ void throw_points(int points, unsigned long long* hits) {
  unsigned state = (blockIdx.x * blockDim.x + threadIdx.x) * 2654435761u + 1;
  unsigned count = 0;
  for (int i = 0; i < points; ++i) {
    const unsigned lanes = __ballot_sync(0xffffffff, inside(state));
    if (threadIdx.x % 32 == 0) count += __popc(lanes);
  }
  if (threadIdx.x % 32 == 0) atomicAdd(hits, static_cast<unsigned long long>(count));
}

int main() {
  constexpr int threads = 64, blocks = 8, points = 200;
  unsigned long long* hits;
  cudaMallocManaged(&hits, sizeof(*hits));
  *hits = 0;
  throw_points<<<blocks, threads>>>(points, hits);
  cudaDeviceSynchronize();
  unsigned long long expected = 0;
  for (unsigned t = 0; t < threads * blocks; ++t) {
    unsigned state = t * 2654435761u + 1;
    for (int i = 0; i < points; ++i) expected += inside(state);
  }
  const double pi = 4.0 * *hits / (1.0 * threads * blocks * points);
  const bool right = *hits == expected && std::fabs(pi - 3.14159265) < 0.03;
  std::printf("monte_carlo_pi: %s (%.4f)\n", right ? "ok" : "FAILED", pi);
  cudaFree(hits);
  return right ? 0 : 1;
}
