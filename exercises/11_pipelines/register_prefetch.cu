// # Fetch ahead into a register
//
// Kind: fill in
// Level: 1
// Minutes: 12
//
// Each block of 128 threads goes through a row of `slices * 128` elements, slice by slice. It puts
// a slice into shared memory, and each thread adds the element of its right neighbour (the last
// thread that of the first): `out[b * 128 + t]` is the sum over all slices of element `(t + 1) mod
// 128` of the slice. The load of a slice and the work on it wait for each other.
//
// Let the loads run ahead: while a slice is being worked on, each thread holds its element of the
// next one in the register `next`. Complete the kernel. It must read every element exactly once,
// and nothing past the row.

#include <cuda_runtime.h>

constexpr int kSlice = 128;

__global__ void neighbour_sums(const float* x, float* out, int slices) {
  __shared__ float tile[kSlice];
  const int t = threadIdx.x;
  const float* row = x + blockIdx.x * slices * kSlice;
  float sum = 0;
#ifdef SOLUTION
  float next = row[t];
#else
  float next = 0;  // TODO: ahead of the loop, the first slice is on its way
#endif
  for (int s = 0; s < slices; ++s) {
    tile[t] = next;
#ifdef SOLUTION
    __syncthreads();
    if (s + 1 < slices) next = row[(s + 1) * kSlice + t];
#else
    __syncthreads();
    // TODO: begin to fetch the next slice, if there is one
#endif
    sum += tile[(t + 1) % kSlice];
    __syncthreads();
  }
  out[blockIdx.x * kSlice + t] = sum;
}
