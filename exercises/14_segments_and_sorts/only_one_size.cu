// # Only one size
//
// Kind: repair
// Level: 2
// Minutes: 8
//
// `find_repeats` writes all i with a[i] == a[i + 1] to `out`, in ascending order, and how many
// there are to `*size`. n is at least 1. It goes in three steps: flags, their exclusive scan (which
// is right), and a scatter.
//
// Its author tested it with lengths of 2^k, in arrays that were longer than n. It has two mistakes.
// Repair both. Bar: at most three kernel launches.

#include <cuda_runtime.h>

__global__ void mark(int* flags, const int* a, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
#ifdef SOLUTION
  if (i < n) flags[i] = i + 1 < n && a[i] == a[i + 1] ? 1 : 0;
#else
  if (i < n) flags[i] = a[i] == a[i + 1] ? 1 : 0;
#endif
}

__global__ void scan(int* places, const int* flags, int n) {  // a single thread: slow, and right
  int sum = 0;
  for (int i = 0; i < n; ++i) {
    places[i] = sum;
    sum += flags[i];
  }
}

__global__ void scatter(int* out, int* size, const int* flags, const int* places, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  if (flags[i] == 1) out[places[i]] = i;
#ifdef SOLUTION
  if (i == n - 1) *size = places[i] + flags[i];
#else
  *size = places[i] + flags[i];
#endif
}

void find_repeats(int* out, int* size, const int* a, int n, int* flags, int* places) {
  const int blocks = (n + 127) / 128;
  mark<<<blocks, 128>>>(flags, a, n);
  scan<<<1, 1>>>(places, flags, n);
  scatter<<<blocks, 128>>>(out, size, flags, places, n);
}
