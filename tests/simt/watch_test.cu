// Who wrote last to the bytes that a program watches.
#include <gtest/gtest.h>
#include <simt/simt.h>

#include "buffer.h"

namespace {

constexpr int kStoreLine = __LINE__ + 3;
__global__ void fill(int* out) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = static_cast<int>(i);
  if (i == 0 && blockDim.x <= 40) atomicAdd(&out[40], 1);  // stored by no thread of the block
}

__global__ void fill_wide(int4* out) { out[threadIdx.x] = make_int4(1, 2, 3, 4); }

TEST(Watch, TheThreadAndTheLineOfTheStore) {
  Buffer<int> out(128);
  simt::watch(out.data() + 70, sizeof(int));
  fill<<<2, 64>>>(out.data());
  cudaDeviceSynchronize();
  const auto writer = simt::last_writer();
  ASSERT_TRUE(writer.has_value());
  EXPECT_EQ(writer->block.x, 1u);
  EXPECT_EQ(writer->thread.x, 6u);
  EXPECT_EQ(writer->line, kStoreLine);
}

TEST(Watch, AnAtomicOperationAndAWideStoreWriteToo) {
  Buffer<int> out(128);
  simt::watch(out.data() + 40, sizeof(int));
  fill<<<1, 32>>>(out.data());
  cudaDeviceSynchronize();
  ASSERT_TRUE(simt::last_writer().has_value());
  EXPECT_EQ(simt::last_writer()->thread.x, 0u);
  EXPECT_EQ(simt::last_writer()->line, kStoreLine + 1);
  simt::watch(out.data() + 41, sizeof(int));
  fill_wide<<<1, 32>>>(reinterpret_cast<int4*>(out.data()));
  cudaDeviceSynchronize();
  ASSERT_TRUE(simt::last_writer().has_value());
  EXPECT_EQ(simt::last_writer()->thread.x, 10u);
}

TEST(Watch, NobodyAndNoLonger) {
  Buffer<int> out(128);
  simt::watch(out.data() + 64, sizeof(int));
  fill<<<1, 64>>>(out.data());
  cudaDeviceSynchronize();
  EXPECT_FALSE(simt::last_writer().has_value());
  simt::watch(nullptr, 0);
  fill<<<2, 64>>>(out.data());
  cudaDeviceSynchronize();
  EXPECT_FALSE(simt::last_writer().has_value());
}

}  // namespace
