// # Maximum and sum in one pass
//
// Kind: fill in
// Level: 2
// Minutes: 8
//
// `log_sum_exp` computes `log(sum of exp(x))` of each row of a matrix. Written like that, `exp`
// overflows for x above 88; so the largest element is subtracted first, and added to the logarithm.
// A block of one warp has a row. It must not read the row twice: while a lane goes through its
// elements, it keeps the largest that it has seen, and the sum that belongs to it.
//
// The lanes' results are merged at the end; `merge` is given. Rows have 32 elements or more, or
// fewer: then some lanes have none.
//
// Bar at 33 x 65: 3 load requests per row

#include <cuda_runtime.h>

#include <cmath>

struct Part {
  float max, sum;  // the sum of exp(x - max)
};

__device__ Part merge(Part a, Part b) {
  const float max = fmaxf(a.max, b.max);
  if (max == -INFINITY) return {max, 0};
  return {max, a.sum * expf(a.max - max) + b.sum * expf(b.max - max)};
}

// A block of 32 threads for each row.
__global__ void log_sum_exp(const float* in, float* out, int cols) {
  const float* row = in + blockIdx.x * cols;
  Part own = {-INFINITY, 0};
  for (int c = threadIdx.x; c < cols; c += 32) {
    const float x = row[c];
#ifdef SOLUTION
    const float max = fmaxf(own.max, x);
    own.sum = own.sum * expf(own.max - max) + expf(x - max);
    own.max = max;
#else
    own.max = fmaxf(own.max, x);
    own.sum += expf(x - own.max);  // TODO: which maximum does the sum so far belong to?
#endif
  }
  for (int far = 16; far > 0; far /= 2) {
    const Part other = {__shfl_xor_sync(0xffffffff, own.max, far),
                        __shfl_xor_sync(0xffffffff, own.sum, far)};
    own = merge(own, other);
  }
  if (threadIdx.x == 0) out[blockIdx.x] = own.max + logf(own.sum);
}
