// # Idle lanes
//
// Kind: predict
// Level: 2
// Minutes: 6
//
// A block of 256 threads adds in shared memory. `halves` takes the steps from s = first down to
// s = last of a tree that adds the halves to each other. `neighbours` is one step of a tree that
// adds neighbours, at distance s. Each active lane loads one word. A request is one warp
// instruction in which at least one lane is active.
//
// Predict how many lanes are active in a load request from shared memory, on average, and how many
// in all requests of a tail together.

#include <cuda_runtime.h>

#ifdef SOLUTION
constexpr int kHalves64 = 32;      // active lanes per request of `halves`, s = 64 alone
constexpr int kHalves4 = 4;        // and s = 4 alone
constexpr int kNeighbours2 = 8;    // active lanes per request of `neighbours`, s = 2
constexpr int kActiveInTail = 31;  // lanes of all requests, s = 16, 8, 4, 2, 1
#else
constexpr int kHalves64 = -1;      // TODO: active lanes per request of `halves`, s = 64 alone
constexpr int kHalves4 = -1;       // TODO: and s = 4 alone
constexpr int kNeighbours2 = -1;   // TODO: active lanes per request of `neighbours`, s = 2
constexpr int kActiveInTail = -1;  // TODO: lanes of all requests, s = 16, 8, 4, 2, 1
#endif

__global__ void halves(int* sums, int first, int last) {
  __shared__ int words[256];
  const int t = threadIdx.x;
  int sum = sums[t];
  words[t] = sum;
  __syncthreads();
  for (int s = first; s >= last; s /= 2) {
    if (t < s) {
      sum += words[t + s];
      words[t] = sum;
    }
    __syncthreads();
  }
  sums[t] = sum;
}

__global__ void neighbours(int* sums, int s) {
  __shared__ int words[256];
  const int t = threadIdx.x;
  int sum = sums[t];
  words[t] = sum;
  __syncthreads();
  if (t % (2 * s) == 0) sum += words[t + s];
  sums[t] = sum;
}
