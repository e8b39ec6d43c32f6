// count_sectors: prediction shifted
#include <cuda_runtime.h>
__global__ void shifted(const float* x, float* y) { y[threadIdx.x] = x[threadIdx.x]; }
constexpr int kNeighbours = 4;
constexpr int kShifted = 4;
constexpr int kEverySecond = 8;
constexpr int kEvery32nd = 32;
constexpr int kBackwards = 4;
constexpr int kAllTheSame = 1;
