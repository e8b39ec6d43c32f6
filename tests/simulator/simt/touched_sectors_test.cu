// Which sectors a launch touches, each once, and how often one word meets an atomic operation.
#include <cuda_runtime.h>
#include <gtest/gtest.h>
#include <simt/simt.h>

#include <cstdlib>
#include <optional>

namespace {

__global__ void copy(float* out, const float* in, int n, int stride) {
  const int i = (blockIdx.x * blockDim.x + threadIdx.x) * stride;
  if (i < n) out[i] = in[i];
}

__global__ void twice(float* x, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] *= 2;
}

__global__ void write_and_read(float* out, float* scratch, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  scratch[i] = static_cast<float>(i);
  __syncthreads();
  if (i < n) out[i] = scratch[i ^ 1];
}

__global__ void read_by_all(float* out, const float* in) {
  out[blockIdx.x * blockDim.x + threadIdx.x] = in[threadIdx.x];
}

__global__ void add(unsigned* sums, unsigned words) {
  atomicAdd(&sums[threadIdx.x % words], threadIdx.x);
}

const simt::Launch& latest() { return simt::launch(simt::launch_count() - 1); }

class TouchedSectors : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(cudaMalloc(&a_, kBytes), cudaSuccess);
    ASSERT_EQ(cudaMalloc(&b_, kBytes), cudaSuccess);
    cudaMemset(a_, 0, kBytes);
    cudaMemset(b_, 0, kBytes);
  }
  void TearDown() override {
    cudaFree(a_);
    cudaFree(b_);
  }

  void expect(uint64_t read, uint64_t written) {
    cudaDeviceSynchronize();
    ASSERT_TRUE(latest().touched);
    EXPECT_EQ(latest().touched->read, read);
    EXPECT_EQ(latest().touched->written, written);
  }

  static constexpr size_t kBytes = 1 << 24;
  float *a_ = nullptr, *b_ = nullptr;
};

TEST_F(TouchedSectors, OnceEachHoweverManyRequests) {
  copy<<<4, 256>>>(a_, b_, 1024, 1);
  expect(128, 128);
  copy<<<4, 256>>>(a_, b_, 1000, 1);
  expect(125, 125);
  read_by_all<<<4, 256>>>(a_, b_);
  expect(32, 128);
}

TEST_F(TouchedSectors, AsManyAsLanesWhereTheseLieApart) {
  copy<<<4, 256>>>(a_, b_, 1 << 20, 8);
  expect(1024, 1024);
}

TEST_F(TouchedSectors, WhatIsReadFirstComesFromMemory) {
  twice<<<4, 256>>>(a_, 1024);
  expect(128, 128);
}

TEST_F(TouchedSectors, WhatTheLaunchHasWrittenDoesNot) {
  write_and_read<<<4, 256>>>(a_, b_, 1024);
  expect(0, 256);
}

TEST_F(TouchedSectors, AreNotKnownOfAccessesFarApart) {
  copy<<<1, 32>>>(a_, b_, 1 << 22, 1 << 17);
  cudaDeviceSynchronize();
  EXPECT_FALSE(latest().touched);
}

TEST_F(TouchedSectors, AreNotKnownOfASample) {
  setenv("SIMT_BLOCKS", "4", 1);
  copy<<<64, 256>>>(a_, b_, 1 << 14, 1);
  cudaDeviceSynchronize();
  EXPECT_FALSE(latest().touched);
  unsetenv("SIMT_BLOCKS");
}

TEST_F(TouchedSectors, OfAManagedArrayAreNotTheDevices) {
  float* managed = nullptr;
  ASSERT_EQ(cudaMallocManaged(&managed, 4096), cudaSuccess);
  copy<<<4, 256>>>(managed, b_, 1024, 1);
  expect(128, 0);
  cudaFree(managed);
}

TEST_F(TouchedSectors, AtomicOperationsOnOneWord) {
  auto* const sums = reinterpret_cast<unsigned*>(a_);
  add<<<4, 256>>>(sums, 256);
  expect(0, 32);
  EXPECT_EQ(latest().atomics_on_one_word, 4u);
  add<<<4, 256>>>(sums, 2);
  expect(0, 1);
  EXPECT_EQ(latest().atomics_on_one_word, 512u);
}

TEST_F(TouchedSectors, KnowsWhoseGridMayFollowTheDevice) {
  int multiprocessors = 0;
  copy<<<1, 32>>>(a_, b_, 32, 1);
  const bool before = latest().is_sized_by_device;
  cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, 0);
  copy<<<1, 32>>>(a_, b_, 32, 1);
  EXPECT_FALSE(before);
  EXPECT_TRUE(latest().is_sized_by_device);
}

}  // namespace
