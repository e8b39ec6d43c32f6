// Radix sort of keys with their values, 4 bits at a time: count, scan, scatter; equal keys keep their order.
#include <algorithm>
#include <cstdio>
#include <numeric>
#include <utility>
#include <vector>

constexpr int kBlock = 128, kDigits = 16;

// counts: (kDigits, blocks)
__global__ void count_digits(int n, int shift, const unsigned* keys, int* counts) {
  __shared__ int local[kDigits];
  if (threadIdx.x < kDigits) local[threadIdx.x] = 0;
  __syncthreads();
  const int i = blockIdx.x * kBlock + threadIdx.x;
  if (i < n) atomicAdd(&local[keys[i] >> shift & 15], 1);
  __syncthreads();
  if (threadIdx.x < kDigits) counts[threadIdx.x * gridDim.x + blockIdx.x] = local[threadIdx.x];
}

// Each count becomes the sum of those before it. One warp does it all.
__global__ void scan_counts(int n, int* counts) {
  int before = 0;
  for (int first = 0; first < n; first += 32) {
    const int i = first + threadIdx.x;
    const int own = i < n ? counts[i] : 0;
    int sum = own;
    for (int step = 1; step < 32; step *= 2) {
      const int other = __shfl_up_sync(0xffffffff, sum, step);
      if (threadIdx.x >= static_cast<unsigned>(step)) sum += other;
    }
    if (i < n) counts[i] = before + sum - own;
    before += __shfl_sync(0xffffffff, sum, 31);
  }
}

// A thread's place: where its block's share of the digit begins, plus the block's equal digits before it.
__global__ void scatter(int n, int shift, const unsigned* keys, const int* values,
                        const int* begins, unsigned* sorted_keys, int* sorted_values) {
  __shared__ int warp_counts[kBlock / 32][kDigits];
  const int i = blockIdx.x * kBlock + threadIdx.x;
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  if (lane < kDigits) warp_counts[warp][lane] = 0;
  __syncwarp();
  const bool is_in = i < n;
  const int digit = is_in ? keys[i] >> shift & 15 : kDigits;
  const unsigned equal = __match_any_sync(0xffffffff, digit);
  const int before = __popc(equal & ((1u << lane) - 1));
  if (is_in && before == 0) warp_counts[warp][digit] = __popc(equal);
  __syncthreads();
  if (!is_in) return;
  int place = begins[digit * gridDim.x + blockIdx.x] + before;
  for (int w = 0; w < warp; ++w) place += warp_counts[w][digit];
  sorted_keys[place] = keys[i];
  sorted_values[place] = values[i];
}

int main() {
  constexpr int n = 1500, blocks = (n + kBlock - 1) / kBlock;
  std::vector<unsigned> keys(n), sorted_keys(n);
  std::vector<int> values(n), order(n);
  unsigned state = 2;
  for (unsigned& key : keys) key = (state = state * 1664525u + 1013904223u) >> 20;  // some equal
  std::iota(order.begin(), order.end(), 0);

  unsigned *from_keys, *to_keys;
  int *from_values, *to_values, *counts;
  cudaMalloc(&from_keys, n * sizeof(unsigned));
  cudaMalloc(&to_keys, n * sizeof(unsigned));
  cudaMalloc(&from_values, n * sizeof(int));
  cudaMalloc(&to_values, n * sizeof(int));
  cudaMalloc(&counts, kDigits * blocks * sizeof(int));
  cudaMemcpy(from_keys, keys.data(), n * sizeof(unsigned), cudaMemcpyHostToDevice);
  cudaMemcpy(from_values, order.data(), n * sizeof(int), cudaMemcpyHostToDevice);
  for (int shift = 0; shift < 12; shift += 4) {
    count_digits<<<blocks, kBlock>>>(n, shift, from_keys, counts);
    scan_counts<<<1, 32>>>(kDigits * blocks, counts);
    scatter<<<blocks, kBlock>>>(n, shift, from_keys, from_values, counts, to_keys, to_values);
    std::swap(from_keys, to_keys);
    std::swap(from_values, to_values);
  }
  cudaMemcpy(sorted_keys.data(), from_keys, n * sizeof(unsigned), cudaMemcpyDeviceToHost);
  cudaMemcpy(values.data(), from_values, n * sizeof(int), cudaMemcpyDeviceToHost);

  std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return keys[a] < keys[b]; });
  int wrong = 0;
  for (int i = 0; i < n; ++i) wrong += values[i] != order[i] || sorted_keys[i] != keys[order[i]];
  std::printf("radix_sort: %s (%d wrong)\n", wrong ? "FAILED" : "ok", wrong);
  cudaFree(from_keys);
  cudaFree(to_keys);
  cudaFree(from_values);
  cudaFree(to_values);
  cudaFree(counts);
  return wrong != 0;
}
