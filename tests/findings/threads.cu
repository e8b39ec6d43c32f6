// What a single thread does wrong with its numbers and its stack.
#include "planted.h"

namespace {

__global__ void average(const int* sums, const int* counts, int* out, int n) {
  const int i = threadIdx.x;
  if (i < n) out[i] = sums[i] / counts[i];  // fault: division_by_zero
}

void division_by_zero(bool fixed) {
  std::vector<int> counts(32);
  for (int i = 0; i < 32; ++i) counts[i] = i + fixed;
  OnDevice<int> sums(32, 100), number(counts), out(32);
  average<<<1, 32>>>(sums.data(), number.data(), out.data(), 32);
}

// The halves of an odd length do not shrink to nothing.
__device__ __noinline__ int depth(const int* lengths, int n, int least) {
  if (n <= least) return lengths[0];
  return depth(lengths, n - n / 2, least) + lengths[n];  // fault: endless_recursion
}

__global__ void recurse(const int* lengths, int* out, int least) {
  out[threadIdx.x] = depth(lengths, 63, least);
}

void endless_recursion(bool fixed) {
  OnDevice<int> lengths(64, 1), out(32);
  recurse<<<1, 32>>>(lengths.data(), out.data(), fixed ? 1 : 0);
}

// 200 KB of a thread's own: much, but legal.
__global__ void shuffle(int* out, int n) {
  int own[50000];
  for (int i = 0; i < n; ++i) own[i * 499 % 50000] = i + threadIdx.x;
  out[threadIdx.x] = own[threadIdx.x * 499 % 50000];
}

void large_array(bool) {
  OnDevice<int> out(32);
  shuffle<<<1, 32>>>(out.data(), 100);
}

}  // namespace

const std::vector<Planted> kThreads = {
    {"division_by_zero", "division-by-zero", division_by_zero, false},
    {"endless_recursion", "stack-overflow", endless_recursion, false},
    {"large_array", "none", large_array, false},
};
