// # Even shares
//
// Kind: fill in
// Level: 1
// Minutes: 8
//
// A product has `steps` steps of work: all tiles of C, each with all its steps along K. They are to
// be divided among `workers` blocks that stay on the GPU: worker w takes the steps from
// `first_step(w)` up to, but not including, `first_step(w + 1)`, one after the other. The shares
// must cover every step once, in order, and differ by at most one.
//
// Complete `first_step`. w runs from 0 to `workers`; `steps` may be smaller than `workers`, and as
// large as 2,000,000,000.

#include <cuda_runtime.h>

__host__ __device__ int first_step(int w, int workers, int steps) {
#ifdef SOLUTION
  const int each = steps / workers, longer = steps % workers;
  return w * each + (w < longer ? w : longer);  // the first `longer` workers take one more
#else
  return w * (steps / workers);  // TODO
#endif
}

// What the check launches: every worker notes its number at each of its steps.
__global__ void divide(int* taken_by, int workers, int steps) {
  const int w = blockIdx.x * blockDim.x + threadIdx.x;
  if (w >= workers) return;
  for (int s = first_step(w, workers, steps); s < first_step(w + 1, workers, steps); ++s) {
    taken_by[s] = w;
  }
}
