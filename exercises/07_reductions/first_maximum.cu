// # The first maximum
//
// Kind: repair
// Level: 4
// Minutes: 12
//
// `arg_max` writes the index of the largest of n floats to `where`, with one block of 256 threads.
// If several elements are the largest, it has to be the first of them. n is at least 1, and there
// is no NaN; there may be any other float, infinities as well, and -0 equals 0.
//
// It was tested with random floats, and it is wrong for others. Repair it.

#include <cuda_runtime.h>

constexpr int kThreads = 256;

struct Best {
  float value;
  int index;
};

#ifdef SOLUTION
__device__ inline Best better(Best a, Best b) {
  const bool take = b.value > a.value || (b.value == a.value && b.index < a.index);
  return take ? b : a;
}
#else
__device__ inline Best better(Best a, Best b) { return b.value >= a.value ? b : a; }
#endif

__device__ inline Best warp_best(Best best) {
  for (int d = 16; d > 0; d /= 2) {
    const Best other{__shfl_xor_sync(0xffffffff, best.value, d),
                     __shfl_xor_sync(0xffffffff, best.index, d)};
    best = better(best, other);
  }
  return best;
}

__global__ void arg_max(const float* in, int* where, int n) {
  __shared__ Best of_warp[kThreads / 32];
  const int t = threadIdx.x;
#ifdef SOLUTION
  Best best{t < n ? in[t] : in[0], t < n ? t : 0};
#else
  Best best{0, 0};
#endif
  for (int i = t; i < n; i += kThreads) best = better(best, {in[i], i});
  best = warp_best(best);
  if (t % 32 == 0) of_warp[t / 32] = best;
  __syncthreads();
  if (t > 0) return;
  for (int w = 1; w < kThreads / 32; ++w) best = better(best, of_warp[w]);
  *where = best.index;
}
