// Batcher's odd-even merge sort of keys and values: within shared memory as far as a block goes, then step by
// step through global memory.
#include <algorithm>
#include <cstdio>
#include <vector>

constexpr unsigned kShared = 256;  // elements of a block

__device__ inline void order(unsigned& a, unsigned& va, unsigned& b, unsigned& vb, bool ascending) {
  if ((a > b) != ascending) return;
  unsigned t = a;
  a = b;
  b = t;
  t = va;
  va = vb;
  vb = t;
}

__global__ void sort_shared(unsigned* keys, unsigned* values) {
  __shared__ unsigned k[kShared], v[kShared];
  const unsigned base = blockIdx.x * kShared, t = threadIdx.x;
  for (unsigned i = t; i < kShared; i += kShared / 2) {
    k[i] = keys[base + i];
    v[i] = values[base + i];
  }
  for (unsigned size = 2; size <= kShared; size *= 2) {
    unsigned stride = size / 2;
    const unsigned offset = t & (stride - 1);
    __syncthreads();
    unsigned at = 2 * t - (t & (stride - 1));
    order(k[at], v[at], k[at + stride], v[at + stride], true);
    for (stride /= 2; stride > 0; stride /= 2) {
      __syncthreads();
      at = 2 * t - (t & (stride - 1));
      if (offset >= stride) order(k[at - stride], v[at - stride], k[at], v[at], true);
    }
  }
  __syncthreads();
  for (unsigned i = t; i < kShared; i += kShared / 2) {
    keys[base + i] = k[i];
    values[base + i] = v[i];
  }
}

__global__ void merge_step(unsigned* keys, unsigned* values, unsigned size, unsigned stride) {
  const unsigned t = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned at = 2 * t - (t & (stride - 1));
  if (stride < size / 2) {
    if ((t & (size / 2 - 1)) >= stride)
      order(keys[at - stride], values[at - stride], keys[at], values[at], true);
  } else {
    order(keys[at], values[at], keys[at + stride], values[at + stride], true);
  }
}

int main() {
  const unsigned n = 4 * kShared;
  std::vector<unsigned> keys(n), values(n);
  for (unsigned i = 0; i < n; ++i) {
    keys[i] = i * 2654435761u >> 8;
    values[i] = i;
  }
  const std::vector<unsigned> input = keys;
  unsigned *device_keys, *device_values;
  cudaMalloc(&device_keys, n * sizeof(unsigned));
  cudaMalloc(&device_values, n * sizeof(unsigned));
  cudaMemcpy(device_keys, keys.data(), n * sizeof(unsigned), cudaMemcpyHostToDevice);
  cudaMemcpy(device_values, values.data(), n * sizeof(unsigned), cudaMemcpyHostToDevice);
  sort_shared<<<n / kShared, kShared / 2>>>(device_keys, device_values);
  for (unsigned size = 2 * kShared; size <= n; size *= 2) {
    for (unsigned stride = size / 2; stride > 0; stride /= 2)
      merge_step<<<n / 2 / 128, 128>>>(device_keys, device_values, size, stride);
  }
  cudaMemcpy(keys.data(), device_keys, n * sizeof(unsigned), cudaMemcpyDeviceToHost);
  cudaMemcpy(values.data(), device_values, n * sizeof(unsigned), cudaMemcpyDeviceToHost);
  std::vector<unsigned> want = input;
  std::sort(want.begin(), want.end());
  bool right = keys == want && cudaGetLastError() == cudaSuccess;
  for (unsigned i = 0; i < n; ++i) right = right && input[values[i]] == keys[i];
  std::printf("sorting_network: %s\n", right ? "ok" : "FAILED");
  cudaFree(device_keys);
  cudaFree(device_values);
  return right ? 0 : 1;
}
