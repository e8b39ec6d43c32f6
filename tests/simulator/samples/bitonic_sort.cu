// Bitonic sort of keys: short distances in shared memory, long ones in global memory.
#include <algorithm>
#include <cstdio>
#include <vector>

constexpr int kBlock = 128, kTile = 2 * kBlock;

__device__ void order(int& a, int& b, bool ascending) {
  if ((a > b) != ascending) return;
  const int other = a;
  a = b;
  b = other;
}

// Sequences of `length` grow by merging: all distances from `distance` down, within a tile.
__global__ void merge_in_tile(int* keys, int length, int distance) {
  __shared__ int tile[kTile];
  const int base = blockIdx.x * kTile, t = threadIdx.x;
  tile[t] = keys[base + t];
  tile[t + kBlock] = keys[base + t + kBlock];
  const int last = length > kTile ? length : kTile;
  for (int size = length; size <= last; size *= 2) {
    for (int d = size == length ? distance : size / 2; d > 0; d /= 2) {
      __syncthreads();
      const int low = 2 * t - (t & (d - 1));
      order(tile[low], tile[low + d], ((base + low) & size) == 0);
    }
  }
  __syncthreads();
  keys[base + t] = tile[t];
  keys[base + t + kBlock] = tile[t + kBlock];
}

__global__ void merge_step(int* keys, int length, int distance) {
  const int t = blockIdx.x * kBlock + threadIdx.x;
  const int low = 2 * t - (t & (distance - 1));
  order(keys[low], keys[low + distance], (low & length) == 0);
}

int main() {
  constexpr int n = 2048;
  std::vector<int> keys(n), sorted(n);
  unsigned state = 3;
  for (int& key : keys) key = static_cast<int>(state = state * 1664525u + 1013904223u) >> 8;
  int* device;
  cudaMalloc(&device, n * sizeof(int));
  cudaMemcpy(device, keys.data(), n * sizeof(int), cudaMemcpyHostToDevice);
  merge_in_tile<<<n / kTile, kBlock>>>(device, 2, 1);
  for (int length = 2 * kTile; length <= n; length *= 2) {
    int distance = length / 2;
    for (; distance >= kTile; distance /= 2) {
      merge_step<<<n / kTile, kBlock>>>(device, length, distance);
    }
    merge_in_tile<<<n / kTile, kBlock>>>(device, length, distance);
  }
  cudaMemcpy(sorted.data(), device, n * sizeof(int), cudaMemcpyDeviceToHost);
  std::sort(keys.begin(), keys.end());
  const bool right = sorted == keys;
  std::printf("bitonic_sort: %s\n", right ? "ok" : "FAILED");
  cudaFree(device);
  return right ? 0 : 1;
}
