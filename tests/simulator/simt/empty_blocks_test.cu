// Blocks whose threads all return at once are passed over. Nothing but the time tells.
#include <gtest/gtest.h>
#include <simt/simt.h>

#include <ctime>
#include <vector>

namespace {

__device__ __attribute__((noinline)) int same(int n) { return n; }

// Each once as simtcc can read its beginning, and once as it cannot.
__global__ void row(int* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  out[i] += i;
}
__global__ void row_as_ever(int* out, int n) {
  const int i = same(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= n) return;
  out[i] += i;
}
__global__ void tile(int* out, int n) {
  const int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  if (x >= n || y >= n) return;
  out[y * n + x] += x;
}
__global__ void tile_as_ever(int* out, int n) {
  const int x = same(blockIdx.x * 16 + threadIdx.x), y = blockIdx.y * 16 + threadIdx.y;
  if (x >= n || y >= n) return;
  out[y * n + x] += x;
}
__global__ void inside(int* out, int n) {
  const int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  if (x < n && (y > 3)) {
    out[y * n + x] += x;
  }
}
__global__ void inside_as_ever(int* out, int n) {
  const int x = same(blockIdx.x * 16 + threadIdx.x), y = blockIdx.y * 16 + threadIdx.y;
  if (x < n && (y > 3)) {
    out[y * n + x] += x;
  }
}
// Every second block does something, and in some lanes part on their way to nothing.
__global__ void some(int* out, int n) {
  if ((blockIdx.x & 1) == 0) return;
  if (threadIdx.x == 3) return;
  const int i = blockIdx.x + threadIdx.x;
  if (i < n) return;
  out[threadIdx.x] = 1;
}
__global__ void some_as_ever(int* out, int n) {
  if ((same(blockIdx.x) & 1) == 0) return;
  if (threadIdx.x == 3) return;
  const int i = blockIdx.x + threadIdx.x;
  if (i < n) return;
  out[threadIdx.x] = 1;
}

struct Outcome {
  simt::Counts counts;
  uint64_t traced_blocks;
  std::vector<int> out;
  bool operator==(const Outcome& other) const {
    return counts == other.counts && traced_blocks == other.traced_blocks && out == other.out;
  }
};

Outcome run(void (*kernel)(int*, int), dim3 grid, dim3 block, int n) {
  constexpr int kWords = 4096;
  std::vector<int> out(kWords);
  int* device;
  cudaMalloc(&device, sizeof(int) * kWords);
  cudaMemset(device, 0, sizeof(int) * kWords);
  kernel<<<grid, block>>>(device, n);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  cudaMemcpy(out.data(), device, sizeof(int) * kWords, cudaMemcpyDeviceToHost);
  cudaFree(device);
  const simt::Launch& launch = simt::launch(simt::launch_count() - 1);
  return {launch.counts, launch.traced_blocks, out};
}

TEST(EmptyBlocks, CountAsIfTheyWereRun) {
  for (const int n : {0, 1, 31, 32, 45, 64}) {
    EXPECT_EQ(run(row, 7, 48, n), run(row_as_ever, 7, 48, n)) << n;
    EXPECT_EQ(run(tile, dim3(5, 6), dim3(16, 16), n),
              run(tile_as_ever, dim3(5, 6), dim3(16, 16), n))
        << n;
    EXPECT_EQ(run(inside, dim3(4, 4), dim3(16, 16), n),
              run(inside_as_ever, dim3(4, 4), dim3(16, 16), n))
        << n;
    EXPECT_EQ(run(some, 150, 64, n), run(some_as_ever, 150, 64, n)) << n;
  }
}

TEST(EmptyBlocks, TakeNextToNoTime) {
  const std::clock_t before = std::clock();
  const Outcome outcome = run(row, 2'000'000, 128, 100);
  EXPECT_LT(static_cast<double>(std::clock() - before) / CLOCKS_PER_SEC, 2.0);
  EXPECT_EQ(outcome.traced_blocks, 2'000'000u);
  EXPECT_EQ(outcome.counts.global_store_active_lanes, 100u);
}

}  // namespace
