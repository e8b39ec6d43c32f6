// # Sectors of a stride
//
// Kind: predict
// Level: 2
// Minutes: 6
// Path: short
//
// Each lane of one warp reads one element of an array that begins at a multiple of 256 bytes. A
// sector is 32 bytes, at a multiple of 32. How many sectors does the load of each kernel touch?

#include <cuda_runtime.h>

__global__ void read(const float* in, float* out, int first, int stride) {
  out[threadIdx.x] = in[first + stride * threadIdx.x];
}

__global__ void read_doubles(const double* in, double* out) { out[threadIdx.x] = in[threadIdx.x]; }

__global__ void read_float4(const float4* in, float4* out) { out[threadIdx.x] = in[threadIdx.x]; }

#ifdef SOLUTION
// Every second float: first 0, stride 2
constexpr int kEverySecond = 8;
// Every eighth: first 0, stride 8
constexpr int kEveryEighth = 32;
// A column of a matrix with 1000 floats per row: first 0, stride 1000
constexpr int kColumn = 32;
// Neighbours, but from the third float on: first 2, stride 1
constexpr int kFromTheThird = 5;
// Neighbouring doubles: read_doubles
constexpr int kDoubles = 8;
// Every third float, as the x of points of three floats: first 0, stride 3
constexpr int kEveryThird = 12;
// Neighbouring float4, 16 bytes each: read_float4
constexpr int kFloat4 = 16;
#else
// Every second float: first 0, stride 2
constexpr int kEverySecond = -1;  // TODO
// Every eighth: first 0, stride 8
constexpr int kEveryEighth = -1;  // TODO
// A column of a matrix with 1000 floats per row: first 0, stride 1000
constexpr int kColumn = -1;  // TODO
// Neighbours, but from the third float on: first 2, stride 1
constexpr int kFromTheThird = -1;  // TODO
// Neighbouring doubles: read_doubles
constexpr int kDoubles = -1;  // TODO
// Every third float, as the x of points of three floats: first 0, stride 3
constexpr int kEveryThird = -1;  // TODO
// Neighbouring float4, 16 bytes each: read_float4
constexpr int kFloat4 = -1;  // TODO
#endif
