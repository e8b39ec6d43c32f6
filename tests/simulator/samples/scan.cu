// An inclusive prefix sum in three launches: blocks scan, one block scans their sums, blocks add them.
#include <cstdio>
#include <vector>

constexpr int kBlock = 256;

// The sum of the values of threads 0 to this one. warp_sums: (32), shared
__device__ int block_scan(int value, int* warp_sums) {
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  for (int step = 1; step < 32; step *= 2) {
    const int other = __shfl_up_sync(0xffffffff, value, step);
    if (lane >= step) value += other;
  }
  if (lane == 31) warp_sums[warp] = value;
  __syncthreads();
  int before = 0;
  for (int w = 0; w < warp; ++w) before += warp_sums[w];
  return value + before;
}

__global__ void scan_blocks(int n, const int* in, int* out, int* sums) {
  __shared__ int warp_sums[32];
  const int i = blockIdx.x * kBlock + threadIdx.x;
  const int value = block_scan(i < n ? in[i] : 0, warp_sums);
  if (i < n) out[i] = value;
  if (threadIdx.x == kBlock - 1) sums[blockIdx.x] = value;
}

__global__ void add_sums(int n, int* out, const int* scanned_sums) {
  const int i = blockIdx.x * kBlock + threadIdx.x;
  if (i < n && blockIdx.x > 0) out[i] += scanned_sums[blockIdx.x - 1];
}

int main() {
  constexpr int n = 10007, blocks = (n + kBlock - 1) / kBlock;
  std::vector<int> in(n), out(n);
  for (int i = 0; i < n; ++i) in[i] = (i * 7919) % 101 - 30;
  int *device_in, *device_out, *sums, *total;
  cudaMalloc(&device_in, n * sizeof(int));
  cudaMalloc(&device_out, n * sizeof(int));
  cudaMalloc(&sums, blocks * sizeof(int));
  cudaMalloc(&total, sizeof(int));
  cudaMemcpy(device_in, in.data(), n * sizeof(int), cudaMemcpyHostToDevice);
  scan_blocks<<<blocks, kBlock>>>(n, device_in, device_out, sums);
  scan_blocks<<<1, kBlock>>>(blocks, sums, sums, total);
  add_sums<<<blocks, kBlock>>>(n, device_out, sums);
  cudaMemcpy(out.data(), device_out, n * sizeof(int), cudaMemcpyDeviceToHost);

  int wrong = 0, sum = 0;
  for (int i = 0; i < n; ++i) {
    sum += in[i];
    wrong += out[i] != sum;
  }
  std::printf("scan: %s (%d wrong)\n", wrong ? "FAILED" : "ok", wrong);
  cudaFree(device_in);
  cudaFree(device_out);
  cudaFree(sums);
  cudaFree(total);
  return wrong != 0;
}
