// # How many sectors?
//
// Kind: predict
// Level: 3
// Minutes: 6
// Path: short
//
// A warp of 32 threads reads floats (4 bytes each) from an array that begins on a 256-byte
// boundary. Each kernel below makes one load request. How many sectors of 32 bytes does it touch?
// Write the numbers; then they are counted.

#include <cuda_runtime.h>

// threadIdx.x is the number of the thread in its warp, 0 to 31.
__global__ void neighbours(const float* x, float* y) { y[threadIdx.x] = x[threadIdx.x]; }
__global__ void shifted(const float* x, float* y) { y[threadIdx.x] = x[threadIdx.x + 1]; }
__global__ void every_second(const float* x, float* y) { y[threadIdx.x] = x[2 * threadIdx.x]; }
__global__ void every_32nd(const float* x, float* y) { y[threadIdx.x] = x[32 * threadIdx.x]; }
__global__ void backwards(const float* x, float* y) { y[threadIdx.x] = x[31 - threadIdx.x]; }
__global__ void all_the_same(const float* x, float* y) { y[threadIdx.x] = x[7]; }

#ifdef SOLUTION
constexpr int kNeighbours = 4;
constexpr int kShifted = 5;
constexpr int kEverySecond = 8;
constexpr int kEvery32nd = 32;
constexpr int kBackwards = 4;
constexpr int kAllTheSame = 1;
#else
constexpr int kNeighbours = -1;   // TODO
constexpr int kShifted = -1;      // TODO
constexpr int kEverySecond = -1;  // TODO
constexpr int kEvery32nd = -1;    // TODO
constexpr int kBackwards = -1;    // TODO
constexpr int kAllTheSame = -1;   // TODO
#endif
