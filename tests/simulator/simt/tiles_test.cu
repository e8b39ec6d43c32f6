// Tiles of floats, filled by float4 as in every tiled product: arrays whose sizes are multiples of 16 begin at such. A file of
// its own, since other shared variables would move them.
#include <gtest/gtest.h>
#include <simt/simt.h>

#include <cstdint>

#include "buffer.h"

namespace {

__device__ bool is_aligned(const void* array) {
  return reinterpret_cast<std::uintptr_t>(array) % 16 == 0;
}

__global__ void fill_tiles(const float* in, float* out, bool* aligned) {
  __shared__ float a[16][8];
  __shared__ float b[8][16];
  const unsigned t = threadIdx.x;
  *reinterpret_cast<float4*>(&a[t / 2][t % 2 * 4]) = *reinterpret_cast<const float4*>(in + 4 * t);
  *reinterpret_cast<float4*>(&b[t / 4][t % 4 * 4]) = *reinterpret_cast<const float4*>(in + 4 * t);
  __syncthreads();
  out[t] = a[t / 2][t % 8] + b[t % 8][t / 2];
  if (t == 0) *aligned = is_aligned(a) && is_aligned(b);
}

TEST(Tiles, BeginWhereFloat4MayGo) {
  Buffer<float> in(128), out(32);
  Buffer<bool> aligned(1);
  cudaMemset(in.data(), 0, 512);
  fill_tiles<<<1, 32>>>(in.data(), out.data(), aligned.data());
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_TRUE(simt::take_findings().empty());
  bool answer = false;
  cudaMemcpy(&answer, aligned.data(), sizeof(answer), cudaMemcpyDeviceToHost);
  EXPECT_TRUE(answer);
}

}  // namespace
