// # A histogram for each warp
//
// Kind: optimise
// Level: 6
// Minutes: 15
//
// `histogram` adds to bins[v], for each v from 0 to 255, how many of n bytes are v. It is right.
// But every byte is an atomic in global memory, and if all bytes are equal, all of them wait for
// the same word.
//
// Count in shared memory first, with 256 counters for each of the 8 warps, and add each counter of
// the block to the global one once. Only counters that are not 0 may be added.
//
// Bars at n = 4096 with 2 blocks: at most 16 global atomic requests for random bytes, 2 if all
// bytes are equal; 4 bytes for each load

#include <cuda_runtime.h>

constexpr int kThreads = 256, kWarps = kThreads / 32, kBins = 256;

__global__ void histogram(const unsigned char* in, int* bins, int n) {
#ifdef SOLUTION
  __shared__ int counts[kWarps][kBins];  // (warp, value)
  const int t = threadIdx.x, thread = blockIdx.x * kThreads + t;
  for (int w = 0; w < kWarps; ++w) counts[w][t] = 0;
  __syncthreads();  // all counters are 0

  int* const mine = counts[t / 32];
  for (int i = thread; i < n / 4; i += gridDim.x * kThreads) {
    const unsigned four = reinterpret_cast<const unsigned*>(in)[i];
    for (int b = 0; b < 32; b += 8) atomicAdd(mine + (four >> b & 255), 1);
  }
  const int rest = n / 4 * 4 + thread;
  if (rest < n) atomicAdd(mine + in[rest], 1);
  __syncthreads();  // all bytes are counted

  int sum = 0;
  for (int w = 0; w < kWarps; ++w) sum += counts[w][t];
  if (sum > 0) atomicAdd(bins + t, sum);
#else
  for (int i = blockIdx.x * kThreads + threadIdx.x; i < n; i += gridDim.x * kThreads) {
    atomicAdd(bins + in[i], 1);  // TODO
  }
#endif
}
