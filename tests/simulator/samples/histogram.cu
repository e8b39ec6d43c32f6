// A histogram of bytes: each block counts in shared memory, then adds to the result.
#include <cstdio>
#include <vector>

constexpr int kBins = 256;

__global__ void histogram(int n, const unsigned char* data, unsigned* counts) {
  __shared__ unsigned local[kBins];
  for (int bin = threadIdx.x; bin < kBins; bin += blockDim.x) local[bin] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    atomicAdd(&local[data[i]], 1u);
  }
  __syncthreads();
  for (int bin = threadIdx.x; bin < kBins; bin += blockDim.x) {
    if (local[bin] != 0) atomicAdd(&counts[bin], local[bin]);
  }
}

int main() {
  constexpr int n = 20001;
  std::vector<unsigned char> data(n);
  std::vector<unsigned> expected(kBins), counts(kBins);
  unsigned state = 7;
  for (unsigned char& value : data) {
    state = state * 1664525u + 1013904223u;
    value = (state >> 24) & (state >> 16);  // small values are the more frequent ones
    ++expected[value];
  }
  unsigned char* device_data;
  unsigned* device_counts;
  cudaMalloc(&device_data, n);
  cudaMalloc(&device_counts, kBins * sizeof(unsigned));
  cudaMemcpy(device_data, data.data(), n, cudaMemcpyHostToDevice);
  cudaMemset(device_counts, 0, kBins * sizeof(unsigned));
  histogram<<<6, 192>>>(n, device_data, device_counts);
  cudaMemcpy(counts.data(), device_counts, kBins * sizeof(unsigned), cudaMemcpyDeviceToHost);
  const bool right = counts == expected;
  std::printf("histogram: %s\n", right ? "ok" : "FAILED");
  cudaFree(device_data);
  cudaFree(device_counts);
  return right ? 0 : 1;
}
