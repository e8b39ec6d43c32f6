// # One addition for each key
//
// Kind: optimise
// Level: 5
// Minutes: 15
//
// `add_by_key` computes sums[keys[i]] += values[i] for n elements. It is right, but where the lanes
// of a warp have the same key, each of them makes an atomic addition of its own to the same
// address. Let lanes with equal keys find each other and add up their values in registers, so that
// a warp makes one atomic addition for each key that it has.
//
// n may be any number. Bars: for n = 4096 with eight elements of each key side by side, 512 lanes
// with an atomic addition; with all keys equal, 128. And no access to shared memory.

#include <cuda_runtime.h>

/// Launch: one thread for each element, in blocks of 128.
__global__ void add_by_key(unsigned* sums, const unsigned* keys, const unsigned* values, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
#ifdef SOLUTION
  const unsigned there = __ballot_sync(0xFFFFFFFF, i < n);
  if (i >= n) return;
  const unsigned key = keys[i];
  const unsigned same = __match_any_sync(there, key);
  const unsigned sum = __reduce_add_sync(same, values[i]);
  if (threadIdx.x % 32 == __ffs(same) - 1) atomicAdd(&sums[key], sum);
#else
  if (i >= n) return;
  atomicAdd(&sums[keys[i]], values[i]);  // TODO: one for each key of a warp
#endif
}
