// # Idle lanes
//
// Kind: predict
// Level: 2
// Minutes: 6
//
// A block of 256 threads adds up 256 words in shared memory, in steps. There are two ways:
//
//     halves:      in step s, the threads 0, 1, 2, ..., s - 1 add the word s places on
//     neighbours:  in step s, the threads 0, 2 s, 4 s, ... add the word s places on
//
// A thread that adds loads one word: its lane is active. A warp makes a load request in each step
// in which at least one of its 32 lanes is active.
//
// Predict for three single steps how many lanes are active in a request, on average. Then add up
// the active lanes of the last five steps of `halves`.

#include <cuda_runtime.h>

#ifdef SOLUTION
constexpr int kHalves64 = 32;      // active lanes per request: `halves`, s = 64
constexpr int kHalves4 = 4;        // the same: `halves`, s = 4
constexpr int kNeighbours2 = 8;    // the same: `neighbours`, s = 2
constexpr int kActiveInTail = 31;  // active lanes, all together: `halves`, s = 16, 8, 4, 2, 1
#else
constexpr int kHalves64 = -1;      // TODO: active lanes per request: `halves`, s = 64
constexpr int kHalves4 = -1;       // TODO: the same: `halves`, s = 4
constexpr int kNeighbours2 = -1;   // TODO: the same: `neighbours`, s = 2
constexpr int kActiveInTail = -1;  // TODO: active lanes, all together: `halves`, s = 16, 8, 4, 2, 1
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
