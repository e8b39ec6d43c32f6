// # Split the keys
//
// Kind: fill in
// Level: 4
// Minutes: 12
//
// One query has n keys. What is wanted is `sum of exp(s[i]) v[i] / sum of exp(s[i])`, for scores s
// and values v. One block would leave the other SMs idle, so `kBlocks` blocks have a part of the
// keys each. A block finds for its part the largest score, the sum of `exp(s - max)` and the sum of
// `exp(s - max) v`, and `merge_parts`, one warp, makes the answer of these.
//
// Two things are missing: which keys a block has, and how the parts are merged. A part may be
// without keys, where n is small; its maximum is `-INFINITY` and both sums are 0. Scores may be
// large. Each key is read once, by neighbouring lanes.
//
// Bars at n = 4096: 256 load requests in all for scores and values, and 3 for the parts

#include <cuda_runtime.h>

#include <cmath>

constexpr int kBlocks = 32;  // of one warp each

// The largest value of all lanes, or the sum.
__device__ float over_warp(float x, bool largest) {
  for (int far = 16; far > 0; far /= 2) {
    const float other = __shfl_xor_sync(0xffffffff, x, far);
    x = largest ? fmaxf(x, other) : x + other;
  }
  return x;
}

// kBlocks blocks of 32 threads. What block b found: max[b], sum[b], weighted[b].
__global__ void parts(const float* s, const float* v, float* max, float* sum, float* weighted,
                      int n) {
#ifdef SOLUTION
  const int each = (n + kBlocks - 1) / kBlocks;
  const int first = blockIdx.x * each, last = min(n, first + each);
#else
  const int first = 0, last = n;  // TODO
#endif
  float top = -INFINITY, total = 0, out = 0;
  for (int i = first + threadIdx.x; i < last; i += 32) {
    const float score = s[i], now = fmaxf(top, score), shrink = expf(top - now);
    total = total * shrink + expf(score - now);
    out = out * shrink + expf(score - now) * v[i];
    top = now;
  }
  const float all = over_warp(top, true), factor = all == -INFINITY ? 0 : expf(top - all);
  total = over_warp(total * factor, false), out = over_warp(out * factor, false);
  if (threadIdx.x == 0) max[blockIdx.x] = all, sum[blockIdx.x] = total, weighted[blockIdx.x] = out;
}

// One warp: lane b has part b.
__global__ void merge_parts(const float* max, const float* sum, const float* weighted,
                            float* answer) {
#ifdef SOLUTION
  const int b = threadIdx.x;
  const float own = max[b], all = over_warp(own, true), factor = expf(own - all);
  const float total = over_warp(sum[b] * factor, false);
  const float out = over_warp(weighted[b] * factor, false);
#else
  const int b = threadIdx.x;
  const float total = over_warp(sum[b], false), out = over_warp(weighted[b], false);  // TODO
#endif
  if (b == 0) *answer = out / total;
}

void launch(const float* s, const float* v, float* max, float* sum, float* weighted, float* answer,
            int n) {
  parts<<<kBlocks, 32>>>(s, v, max, sum, weighted, n);
  merge_parts<<<1, kBlocks>>>(max, sum, weighted, answer);
}
