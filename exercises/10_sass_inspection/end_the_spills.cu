// # End the spills
//
// Kind: optimise
// Level: 5
// Minutes: 20
//
// `product` computes C = A B, where C has 256 x 256 floats. Each thread computes 8 x 8 of them in
// registers, so one block of 1024 threads is enough. But 1024 threads share the 65,536 registers
// of an SM: 64 for each. 64 sums leave none for anything else, and nvcc puts what does not fit into
// local memory, which is memory traffic in the innermost loop: `./learn sass` on your copy of this
// file shows `LDL` and `STL`, if nvcc is here.
//
// End the spills, and keep the 8 x 8 of a thread: a block of at most 256 threads may use 255
// registers for each. C then takes several blocks.
//
// Bars: at most 256 threads per block; 4096 load requests to shared memory, as now (a thread with
// fewer elements needs more of them). They hold the shape that ends the spills; the spills
// themselves only nvcc shows.

#include <cuda_runtime.h>

constexpr int kN = 256, kK = 32;  // C is kN x kN, A is kN x kK, B is kK x kN
constexpr int kDepth = 8;         // depth of a tile
#ifdef SOLUTION
constexpr int kSide = 16;         // threads along each side of the block
constexpr int kTile = 8 * kSide;  // rows and columns of C in a block
#else
// TODO
constexpr int kSide = 32;         // threads along each side of the block
constexpr int kTile = 8 * kSide;  // rows and columns of C in a block
#endif

__global__ void __launch_bounds__(kSide* kSide, 1)
    product_kernel(float* c, const float* a, const float* b) {
#ifdef SOLUTION
  __shared__ alignas(16) float a_tile[kDepth][kTile], b_tile[kDepth][kTile];  // (k, row), (k, col)
  const int top = blockIdx.y * kTile, left = blockIdx.x * kTile;              // of the block in C
  const int row = threadIdx.x / kSide * 8, col = threadIdx.x % kSide * 8;     // in the tile
#else
  __shared__ alignas(16) float a_tile[kDepth][kTile], b_tile[kDepth][kTile];  // (k, row), (k, col)
  const int row = threadIdx.x / kSide * 8, col = threadIdx.x % kSide * 8;     // in the tile
#endif
  float sum[8][8] = {};
  for (int first = 0; first < kK; first += kDepth) {
    for (int i = threadIdx.x; i < kDepth * kTile; i += kSide * kSide) {
#ifdef SOLUTION
      a_tile[i % kDepth][i / kDepth] = a[(top + i / kDepth) * kK + first + i % kDepth];
      b_tile[i / kTile][i % kTile] = b[(first + i / kTile) * kN + left + i % kTile];
#else
      a_tile[i % kDepth][i / kDepth] = a[(i / kDepth) * kK + first + i % kDepth];
      b_tile[i / kTile][i % kTile] = b[(first + i / kTile) * kN + i % kTile];
#endif
    }
    __syncthreads();  // both tiles are full
#pragma unroll
    for (int k = 0; k < kDepth; ++k) {
      float mine[8], other[8];
#pragma unroll
      for (int half = 0; half < 8; half += 4) {
        *reinterpret_cast<float4*>(mine + half) =
            *reinterpret_cast<const float4*>(&a_tile[k][row + half]);
        *reinterpret_cast<float4*>(other + half) =
            *reinterpret_cast<const float4*>(&b_tile[k][col + half]);
      }
#pragma unroll
      for (int i = 0; i < 8; ++i) {
#pragma unroll
        for (int j = 0; j < 8; ++j) sum[i][j] += mine[i] * other[j];
      }
    }
    __syncthreads();  // before the next tiles overwrite these
  }
#pragma unroll
  for (int i = 0; i < 8; ++i) {
#pragma unroll
#ifdef SOLUTION
    for (int j = 0; j < 8; ++j) c[(top + row + i) * kN + left + col + j] = sum[i][j];
#else
    for (int j = 0; j < 8; ++j) c[(row + i) * kN + col + j] = sum[i][j];
#endif
  }
}

void product(float* c, const float* a, const float* b) {
#ifdef SOLUTION
  product_kernel<<<dim3(kN / kTile, kN / kTile), kSide * kSide>>>(c, a, b);
#else
  product_kernel<<<1, kSide * kSide>>>(c, a, b);
#endif
}
