// # The double buffer, off by one
//
// Kind: repair
// Level: 2
// Minutes: 12
//
// The sums of `register_prefetch` again, now with two tiles in turn: while one is read, the other
// one is filled, and one barrier per iteration is enough. `out[b * 128 + t]` is the sum over all
// slices of element `(t + 1) mod 128` of the slice.
//
// The kernel below reads past the end of the row, and from two slices on it races.
// There are two mistakes; keep the one barrier per iteration, and read and store each element once.

#include <cuda_runtime.h>

constexpr int kSlice = 128;

__global__ void neighbour_sums(const float* x, float* out, int slices) {
  __shared__ float tiles[2][kSlice];
  const int t = threadIdx.x;
  const float* row = x + blockIdx.x * slices * kSlice;
  float sum = 0;
  tiles[0][t] = row[t];
  for (int s = 0; s < slices; ++s) {
    __syncthreads();
#ifdef SOLUTION
    if (s + 1 < slices) tiles[(s + 1) % 2][t] = row[(s + 1) * kSlice + t];
#else
    if (s < slices) tiles[s % 2][t] = row[(s + 1) * kSlice + t];
#endif
    sum += tiles[s % 2][(t + 1) % kSlice];
  }
  out[blockIdx.x * kSlice + t] = sum;
}
