// # Merge two partial softmaxes
//
// Kind: fill in
// Level: 1
// Minutes: 6
//
// Two warps have each seen a part of a row. What a part came to is its largest element, and the sum
// of `exp(x - max)` over its elements. `merge` makes one of two such parts, as if one warp had seen
// all elements. A part without any element has the maximum `-INFINITY` and the sum 0; both parts
// may be without elements.
//
// `merge_all` merges n pairs of parts. The elements may be large: an `exp` of one of them without
// its maximum overflows.

#include <cuda_runtime.h>

#include <cmath>

struct Part {
  float max, sum;
};

__device__ Part merge(Part a, Part b) {
#ifdef SOLUTION
  const float max = fmaxf(a.max, b.max);
  if (max == -INFINITY) return {max, 0};  // no element at all: -inf - -inf would be NaN
  return {max, a.sum * expf(a.max - max) + b.sum * expf(b.max - max)};
#else
  return {fmaxf(a.max, b.max), a.sum + b.sum};  // TODO
#endif
}

// One thread for each pair, in blocks of 128.
__global__ void merge_all(const float* max_a, const float* sum_a, const float* max_b,
                          const float* sum_b, float* max, float* sum, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const Part both = merge({max_a[i], sum_a[i]}, {max_b[i], sum_b[i]});
  max[i] = both.max;
  sum[i] = both.sum;
}
