// # Reverse a block in shared memory
//
// Kind: fill in
// Level: 1
// Minutes: 6
// Path: short
//
// `reverse` turns each piece of 256 elements around, in place: the first element of a piece changes
// places with its last, and so on. The last piece may be shorter; it is turned around as it is. One
// block of 256 threads takes one piece.
//
// The threads exchange their elements through `tile`. Complete the kernel.

#include <cuda_runtime.h>

constexpr int kPiece = 256;

__global__ void reverse(float* x, int n) {
  __shared__ float tile[kPiece];
  const int first = blockIdx.x * kPiece;
  const int count = min(kPiece, n - first);  // elements of this piece
  const int t = threadIdx.x;
#ifdef SOLUTION
  if (t < count) tile[t] = x[first + t];
  __syncthreads();
  if (t < count) x[first + t] = tile[count - 1 - t];
#else
  // TODO: every thread with an element puts it into the tile
  // TODO: when may the tile be read?
  if (t < count) x[first + t] = tile[0];  // TODO: which element comes here?
#endif
}
