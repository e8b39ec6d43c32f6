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

// A function that is given an array of the thread's own, and how long it is.
__device__ __noinline__ void running_sums(const int* in, int* sums, int n) {
  int sum = 0;
  for (int i = 0; i < n; ++i) {
    sum += in[i];
    sums[i] = sum;  // fault: own_array_by_pointer
  }
}

// The array begins anew where an earlier call has left its own, and is in both variants cleared as it is declared.
__device__ __noinline__ int sum_of_sums(const int* in, int n) {
  int sums[7] = {};
  running_sums(in, sums, n);
  return sums[6] + sums[n / 2];
}

__device__ __noinline__ int longest_sum(const int* in, int n) {
  int sums[40];
  running_sums(in, sums, n);
  return sums[n - 1];
}

// An array whose place one that is declared later has, too: what that has left there from the round before is no edge of it.
__device__ __noinline__ int sum_in_rounds(const int* in, int n) {
  int sum = 0;
  for (int round = 0; round < 3; ++round) {
    {
      int early[24];
      running_sums(in, early, 24);
      sum += early[23];
    }
    int late[7];
    running_sums(in, late, n);
    sum += late[6];
  }
  return sum;
}

__global__ void sum_up(const int* in, int* out, int n) {
  int sum = longest_sum(in, 40) + sum_in_rounds(in, n);
  for (int round = 0; round < 3; ++round) sum += sum_of_sums(in, n) + longest_sum(in, 39);
  out[threadIdx.x] = sum;
}

void own_array_by_pointer(bool fixed) {
  OnDevice<int> in(40, 1), out(32);
  sum_up<<<1, 32>>>(in.data(), out.data(), fixed ? 7 : 8);
}

// What lies ahead of an array, read through a pointer; the array is an element of a row of others.
template <class T>
__device__ __noinline__ T left_of(const T* at) {
  return at[-1];  // fault: own_array_from_below
}

__global__ void differences(float* out, int first) {
  float value, row[2][3], *at = row[0];
  for (int i = 0; i < 6; ++i) at[i] = i * threadIdx.x;
  value = left_of(at + first) - left_of(row[1]);
  out[threadIdx.x] = value;
}

void own_array_from_below(bool fixed) {
  OnDevice<float> out(32);
  differences<<<1, 32>>>(out.data(), fixed);
}

// An array of the thread's own beside one in shared memory: a later access to that is none with the wrong index.
__global__ void next_to_tile(const float* in, float* out, int n) {
  __shared__ float tile[64];
  float own[4];
  for (int i = 0; i < n; ++i) own[i] = in[threadIdx.x + i];  // fault: own_array_beside_tile
  tile[threadIdx.x] = own[0];
  __syncthreads();
  out[threadIdx.x] = tile[63 - threadIdx.x] + own[1] + own[2] + own[3];
}

void own_array_beside_tile(bool fixed) {
  OnDevice<float> in(80, 1.0f), out(64);
  next_to_tile<<<1, 64>>>(in.data(), out.data(), fixed ? 4 : 5);
}

__global__ void next_to_two(const int* in, int* out) {
  __shared__ int row[32], all[4][32];
  int own[4] = {};
  const int at = in[32] + threadIdx.x % 4;
  own[at] = in[threadIdx.x];  // fault: own_array_beside_two
  row[threadIdx.x] = own[0];
  // (In one row an index may run through all of them.)
  all[0][threadIdx.x + 64] = own[1];
  __syncthreads();
  out[threadIdx.x] = row[31 - threadIdx.x] + all[2][31 - threadIdx.x];
}

void own_array_beside_two(bool fixed) {
  std::vector<int> values(33, 7);
  values[32] = !fixed;
  OnDevice<int> in(values), out(32);
  next_to_two<<<1, 32>>>(in.data(), out.data());
}

// The lanes that have no element bring nothing, which is more than a negative number.
__global__ void largest(const float* in, float* out, bool guards) {
  float value = in[threadIdx.x];
  const unsigned mask = __activemask();
  for (int by = 8; by > 0; by /= 2) {
    const float other = __shfl_down_sync(mask, value, by);  // fault: lanes_without_element
    if (!guards || threadIdx.x + by < blockDim.x) value = fmaxf(value, other);
  }
  if (threadIdx.x == 0) *out = value;
}

void lanes_without_element(bool fixed) {
  OnDevice<float> in(11, -1.0f), out(1);
  largest<<<1, 11>>>(in.data(), out.data(), fixed);
}

}  // namespace

const std::vector<Planted> kThreads = {
    {"division_by_zero", "division-by-zero", division_by_zero, false},
    {"endless_recursion", "stack-overflow", endless_recursion, false},
    {"own_array_by_pointer", "out-of-bounds", own_array_by_pointer, false},
    {"own_array_from_below", "out-of-bounds", own_array_from_below, false},
    {"own_array_beside_tile", "out-of-bounds", own_array_beside_tile, false},
    {"own_array_beside_two", "out-of-bounds", own_array_beside_two, false},
    {"lanes_without_element", "invalid-mask", lanes_without_element, false},
    {"large_array", "none", large_array, false},
};
