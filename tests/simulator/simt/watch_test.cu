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
  EXPECT_EQ(writer->writes, 1u);
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

TEST(Watch, CopiesOfTheHost) {
  Buffer<int> out(128);
  Buffer<int> other(128);
  int host[4] = {};
  const auto copy_all = [&] {
    cudaMemcpy(out.data() + 3, host, sizeof host, cudaMemcpyHostToDevice);
    cudaMemcpy(host, out.data() + 5, 2 * sizeof(int), cudaMemcpyDeviceToHost);
    cudaMemcpy(out.data(), other.data(), sizeof host, cudaMemcpyDeviceToDevice);
  };
  copy_all();
  EXPECT_TRUE(simt::transfers().empty());
  simt::watch_transfers(true);
  copy_all();
  simt::watch_transfers(false);
  copy_all();
  ASSERT_EQ(simt::transfers().size(), 2u);
  EXPECT_EQ(simt::transfers()[0].device, out.data() + 3);
  EXPECT_EQ(simt::transfers()[0].bytes, sizeof host);
  EXPECT_TRUE(simt::transfers()[0].to_device);
  EXPECT_EQ(simt::transfers()[1].device, out.data() + 5);
  EXPECT_EQ(simt::transfers()[1].bytes, 2 * sizeof(int));
  EXPECT_FALSE(simt::transfers()[1].to_device);
}

}  // namespace
