// A dot product: each block reduces its part in shared memory, the last block to finish adds up the parts.
#include <cstdio>
#include <vector>

constexpr int kThreads = 128;

__device__ unsigned finished = 0;

__global__ void dot(const int* a, const int* b, int n, volatile long long* parts,
                    long long* result) {
  __shared__ long long cache[kThreads];
  __shared__ bool last;
  long long sum = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    sum += static_cast<long long>(a[i]) * b[i];
  cache[threadIdx.x] = sum;
  __syncthreads();
  for (int half = kThreads / 2; half > 0; half /= 2) {
    if (static_cast<int>(threadIdx.x) < half) cache[threadIdx.x] += cache[threadIdx.x + half];
    __syncthreads();
  }
  if (threadIdx.x == 0) {
    parts[blockIdx.x] = cache[0];
    __threadfence();
    last = atomicInc(&finished, gridDim.x - 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (last && threadIdx.x == 0) {
    long long total = 0;
    for (unsigned i = 0; i < gridDim.x; ++i) total += parts[i];
    *result = total;
  }
}

int main() {
  const int n = 10007, blocks = 12;
  std::vector<int> a(n), b(n);
  long long want = 0;
  for (int i = 0; i < n; ++i) {
    a[i] = i % 1009 - 500;
    b[i] = i * 3 % 2003;
    want += static_cast<long long>(a[i]) * b[i];
  }
  int *device_a, *device_b;
  long long *parts, *result, found[2] = {0, 0};
  cudaMalloc(&device_a, n * sizeof(int));
  cudaMalloc(&device_b, n * sizeof(int));
  cudaMalloc(&parts, blocks * sizeof(long long));
  cudaMalloc(&result, sizeof(long long));
  cudaMemcpy(device_a, a.data(), n * sizeof(int), cudaMemcpyHostToDevice);
  cudaMemcpy(device_b, b.data(), n * sizeof(int), cudaMemcpyHostToDevice);
  for (long long& one : found) {  // the counter is back at zero for the second launch
    dot<<<blocks, kThreads>>>(device_a, device_b, n, parts, result);
    cudaMemcpy(&one, result, sizeof(one), cudaMemcpyDeviceToHost);
  }
  const bool right = found[0] == want && found[1] == want;
  std::printf("dot_product: %s\n", right ? "ok" : "FAILED");
  cudaFree(device_a);
  cudaFree(device_b);
  cudaFree(parts);
  cudaFree(result);
  return right ? 0 : 1;
}
