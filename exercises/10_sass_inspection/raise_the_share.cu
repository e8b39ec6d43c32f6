// # Raise the share of FMAs
//
// Kind: optimise
// Level: 4
// Minutes: 20
//
// `product` computes C = A B for matrices of 32 x 32 floats, in one block, from tiles in shared
// memory. A thread computes one element. For each FMA it loads two floats from shared memory, so at
// most a third of the instructions in its loop are FMAs.
//
// Let a thread compute 4 x 4 elements from registers: 64 threads, and 8 floats for every 16 FMAs.
// Four floats of B that lie side by side are one 128-bit load. The number of threads is yours.
//
// Bars: at most 320 load requests to shared memory (2048 now), which is 3.2 FMAs for each of them;
// at most 64 threads per block

#include <cuda_runtime.h>

constexpr int kN = 32;

#ifndef SOLUTION
// TODO
#endif
__global__ void product_kernel(float* c, const float* a, const float* b) {
  __shared__ alignas(16) float a_tile[kN][kN], b_tile[kN][kN];  // (row, k), (k, col)
#ifdef SOLUTION
  for (int i = threadIdx.x; i < kN * kN; i += blockDim.x) {
    a_tile[i / kN][i % kN] = a[i];
    b_tile[i / kN][i % kN] = b[i];
  }
  __syncthreads();  // both tiles are full

  const int row = threadIdx.x / 8 * 4, col = threadIdx.x % 8 * 4;  // of the thread's 4 x 4
  float sum[4][4] = {};
  for (int k = 0; k < kN; ++k) {
    const float4 four = *reinterpret_cast<const float4*>(&b_tile[k][col]);
    for (int i = 0; i < 4; ++i) {
      const float one = a_tile[row + i][k];
      sum[i][0] += one * four.x;
      sum[i][1] += one * four.y;
      sum[i][2] += one * four.z;
      sum[i][3] += one * four.w;
    }
  }
  for (int i = 0; i < 4; ++i) {
    for (int j = 0; j < 4; ++j) c[(row + i) * kN + col + j] = sum[i][j];
  }
#else
  const int row = threadIdx.x / kN, col = threadIdx.x % kN;
  a_tile[row][col] = a[row * kN + col];
  b_tile[row][col] = b[row * kN + col];
  __syncthreads();  // both tiles are full

  float sum = 0;
  for (int k = 0; k < kN; ++k) sum += a_tile[row][k] * b_tile[k][col];
  c[row * kN + col] = sum;
#endif
}

#ifdef SOLUTION
void product(float* c, const float* a, const float* b) { product_kernel<<<1, 64>>>(c, a, b); }
#else
void product(float* c, const float* a, const float* b) { product_kernel<<<1, kN * kN>>>(c, a, b); }
#endif
