// # Which kernel is it?
//
// Kind: predict
// Level: 1
// Minutes: 8
//
// Four of the five kernels below were compiled, by nvcc 13.0 for sm_90a. This is what their machine
// code has of memory accesses, sums and barriers, in its order; addresses are left out. Which
// kernel is each? Write its number, 1 to 5.
//
//     first             second            third             fourth
//     LDG.E R0          LDG.E R0          LDG.E R7          LDG.E.64 R2
//     LDG.E R7          STS R0            STG.E R7          FADD R7, R2, R3
//     FADD R7, R0, R7   BAR               LDG.E R0          STG.E R7
//     STG.E R7          LDS R4            FADD R9, R7, R0
//                       LDS R7            STG.E R9
//                       FADD R7, R4, R7
//                       STG.E R7

#include <cuda_runtime.h>

// 1
__global__ void add_one(float* out, const float* in) { out[threadIdx.x] = in[threadIdx.x] + 1; }

// 2
__global__ void add_pair(float* out, const float* in) {
  const float2 pair = reinterpret_cast<const float2*>(in)[threadIdx.x];
  out[threadIdx.x] = pair.x + pair.y;
}

// 3
__global__ void add_in_place(float* out, const float* in) {
  out[threadIdx.x] = in[threadIdx.x];
  out[threadIdx.x] += in[threadIdx.x + 32];
}

// 4
__global__ void add_local(float* out, const float* in) {
  float sum = in[threadIdx.x];
  sum += in[threadIdx.x + 32];
  out[threadIdx.x] = sum;
}

// 5
__global__ void add_reversed(float* out, const float* in) {
  __shared__ float values[32];
  values[threadIdx.x] = in[threadIdx.x];
  __syncthreads();  // all values are there
  out[threadIdx.x] = values[threadIdx.x] + values[31 - threadIdx.x];
}

#ifdef SOLUTION
constexpr int kFirst = 4;
constexpr int kSecond = 5;
constexpr int kThird = 3;
constexpr int kFourth = 2;
#else
constexpr int kFirst = -1;   // TODO
constexpr int kSecond = -1;  // TODO
constexpr int kThird = -1;   // TODO
constexpr int kFourth = -1;  // TODO
#endif
