// memcpy, memmove and memset in kernels: counted and checked like loads and stores.

#include <gtest/gtest.h>
#include <simt/simt.h>

#include <cstdint>
#include <cstring>

namespace {

__global__ void copy(char* to, const char* from, int size) {
  memcpy(to + threadIdx.x * size, from + threadIdx.x * size, size);
}
__global__ void copy_48(char* to, const char* from, int) {
  std::memcpy(to + threadIdx.x * 48, from + threadIdx.x * 48, 48);
}
__global__ void copy_one_word(char* to, const char* from, int) {
  uint32_t word;
  memcpy(&word, from + threadIdx.x * 4, sizeof(word));
  ++word;
  memcpy(reinterpret_cast<uint32_t*>(to) + threadIdx.x, &word, sizeof(word));
}
__global__ void copy_48_builtin(char* to, const char* from, int) {
  __builtin_memcpy(to + threadIdx.x * 48, from + threadIdx.x * 48, 48);
  __builtin_memset(to + 1536 + threadIdx.x * 12, 3, 12);
}
__global__ void fill(char* to, const char*, int size) { memset(to + threadIdx.x * size, 7, size); }
__global__ void move_up(char* to, const char*, int size) { memmove(to + 16, to, size); }
__global__ void move_down(char* to, const char*, int size) { memmove(to, to + 16, size); }
__global__ void through_shared(char* to, const char* from, int size) {
  __shared__ alignas(16) char s[32 * 16];
  if (size) memset(s + threadIdx.x * 16, 1, size);
  __syncthreads();
  memcpy(to + threadIdx.x * 16, s + 16 * (31 - threadIdx.x), 16 + size - size);
}

class Bytes : public testing::Test {
 protected:
  void SetUp() override {
    cudaMallocManaged(&memory_, 4096);
    for (int i = 0; i < 4096; ++i) memory_[i] = static_cast<char>(i % 127);
  }
  void TearDown() override {
    simt::take_findings();
    cudaFree(memory_);
  }
  using Kernel = void (*)(char*, const char*, int);
  simt::Counts run(Kernel kernel, int size, int offset = 0, int threads = 32) {
    kernel<<<1, threads>>>(memory_ + offset, memory_ + 2048 + offset, size);
    cudaDeviceSynchronize();
    return simt::launch(simt::launch_count() - 1).counts;
  }
  char* memory_ = nullptr;
};

TEST_F(Bytes, AreCopiedInPiecesAsWideAsTheirAlignment) {
  simt::Counts counts = run(copy, 32);
  EXPECT_EQ(counts.global_load_requests, 2u);
  EXPECT_EQ(counts.global_store_requests, 2u);
  EXPECT_EQ(counts.global_load_bytes, 32u * 32);
  EXPECT_EQ(std::memcmp(memory_, memory_ + 2048, 1024), 0);
  EXPECT_EQ(run(copy, 24).global_load_requests, 3u);
  EXPECT_EQ(run(copy, 12).global_load_requests, 3u);
  EXPECT_EQ(run(copy, 32, 4).global_store_requests, 8u);
  EXPECT_EQ(run(copy, 7).global_store_requests, 7u);
  EXPECT_EQ(run(copy, 0).global_store_requests, 0u);
  EXPECT_EQ(run(copy_48, 0).global_store_requests, 3u);
  counts = run(copy_48_builtin, 0);
  EXPECT_EQ(counts.global_load_requests, 3u);
  EXPECT_EQ(counts.global_store_requests, 3u + 3u);
  counts = run(copy_one_word, 0);
  EXPECT_EQ(counts.global_load_bytes, 4u * 32);
  EXPECT_EQ(counts.global_store_requests, 1u);
  EXPECT_TRUE(simt::take_findings().empty());
}

TEST_F(Bytes, AreFilled) {
  const simt::Counts counts = run(fill, 16);
  EXPECT_EQ(counts.global_store_requests, 1u);
  EXPECT_EQ(counts.global_store_sectors, 16u);
  EXPECT_EQ(memory_[511], 7);
  EXPECT_NE(memory_[512], 7);
}

TEST_F(Bytes, AreMovedWhereTheyOverlap) {
  run(move_up, 48, 0, 1);
  for (int i = 0; i < 48; ++i) EXPECT_EQ(memory_[16 + i], i) << i;
  run(move_down, 48, 0, 1);
  for (int i = 0; i < 48; ++i) EXPECT_EQ(memory_[i], i) << i;
}

TEST_F(Bytes, OutsideOfAnAllocationAreAFinding) {
  run(fill, 128);
  EXPECT_TRUE(simt::take_findings().empty());
  run(fill, 129);
  const auto findings = simt::take_findings();
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].kind, "out-of-bounds");
  EXPECT_EQ(findings[0].thread.x, 31u);
}

TEST_F(Bytes, InSharedMemoryAreWrittenBeforeTheyAreRead) {
  const simt::Counts counts = run(through_shared, 16);
  EXPECT_EQ(counts.shared_store_requests, 1u);
  EXPECT_EQ(counts.shared_load_wavefronts, 4u);
  EXPECT_TRUE(simt::take_findings().empty());
  run(through_shared, 0);
  const auto findings = simt::take_findings();
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].kind, "uninitialized-shared");
}

}  // namespace
