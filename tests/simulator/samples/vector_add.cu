// The sum of two vectors, with every call checked, on a device that is asked for its properties.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

void check(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "vector_add: %s: %s\n", what, cudaGetErrorString(error));
  std::exit(1);
}

// a, b, c: (n)
__global__ void add(const float* a, const float* b, float* c, int n) {
  const int i = blockDim.x * blockIdx.x + threadIdx.x;
  if (i < n) c[i] = a[i] + b[i];
}

int main() {
  constexpr int n = 50000, threads = 256;
  int device = -1, devices = 0;
  check(cudaGetDeviceCount(&devices), "cudaGetDeviceCount");
  check(cudaGetDevice(&device), "cudaGetDevice");
  cudaDeviceProp properties;
  check(cudaGetDeviceProperties(&properties, device), "cudaGetDeviceProperties");

  std::vector<float> a(n), b(n), c(n, NAN);
  for (int i = 0; i < n; ++i) {
    a[i] = 0.25f * i;
    b[i] = 1.0f / (1 + i);
  }
  const size_t bytes = n * sizeof(float);
  float *device_a, *device_b, *device_c;
  check(cudaMalloc((void**)&device_a, bytes), "cudaMalloc");
  check(cudaMalloc((void**)&device_b, bytes), "cudaMalloc");
  check(cudaMalloc((void**)&device_c, bytes), "cudaMalloc");
  check(cudaMemcpy(device_a, a.data(), bytes, cudaMemcpyHostToDevice), "cudaMemcpy");
  check(cudaMemcpy(device_b, b.data(), bytes, cudaMemcpyHostToDevice), "cudaMemcpy");
  add<<<(n + threads - 1) / threads, threads>>>(device_a, device_b, device_c, n);
  check(cudaGetLastError(), "add");
  check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
  check(cudaMemcpy(c.data(), device_c, bytes, cudaMemcpyDeviceToHost), "cudaMemcpy");

  int wrong = devices < 1 || properties.warpSize != 32 || properties.maxThreadsPerBlock < threads;
  for (int i = 0; i < n; ++i) wrong += c[i] != a[i] + b[i];
  std::printf("vector_add: %s (%d wrong)\n", wrong ? "FAILED" : "ok", wrong);
  check(cudaFree(device_a), "cudaFree");
  check(cudaFree(device_b), "cudaFree");
  check(cudaFree(device_c), "cudaFree");
  return wrong != 0;
}
