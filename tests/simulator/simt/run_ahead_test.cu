// Lanes that run ahead of loads count the same, and load the same, as lanes that wait at each.
#include <gtest/gtest.h>
#include <simt/simt.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

namespace {

constexpr int kWords = 1024;

__device__ __attribute__((noinline)) int walk(const int* in, int at, int steps) {
  for (int i = 0; i < steps; ++i) {
    at = in[at & (kWords - 1)];
    if (at % 7 == 3) return at;
  }
  return at + in[steps];
}

// What the lanes do is read from `program`, so that one kernel takes many ways: common ones, loops that
// lanes leave one by one, stores in between, calls that return early.
__global__ void wander(const int* in, const int* program, int* out) {
  __shared__ int shared[128];
  const int thread = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  int x = thread;
  shared[threadIdx.x] = 0;
  for (int step = 0; step < 12; ++step) {
    const int what = program[step];
    const int stride = program[step + 12];
    x += in[(thread * stride + step) & (kWords - 1)];
    if ((what & 1) && x % 3 == 0) x += in[(x + stride) & (kWords - 1)];
    if (what & 2) {
      for (int i = 0; i < (x & 3); ++i) {
        x += in[(thread + i * stride) & (kWords - 1)];
        if ((what & 4) && x % 5 == 0) continue;
        x += shared[threadIdx.x];
      }
    }
    if ((what & 8) && thread % 4 == step % 4) shared[threadIdx.x] = x;
    if (what & 16) x += walk(in, x, thread % 3 + 1);
    if ((what & 32) && x % 11 == 0) break;
    if (what & 64) out[thread] += x;
    if ((what & 128) && thread % 2) atomicAdd(&out[gridDim.x * blockDim.x + (x & 7)], 1);
  }
  out[thread] += x;
}

// Lane 31 stores before the other lanes load, if they keep in step, which nothing but the order of the
// code asks for. They stay so even where the loads around have been run ahead of.
__global__ void last_lane_stores(const int* in, int* word, int* out) {
  const unsigned lane = threadIdx.x % 32;
  int x = in[lane] + in[lane + 32];
  if (lane == 31) word[threadIdx.x / 32] = x + 1;
  out[threadIdx.x] = word[threadIdx.x / 32];
}

// The tile is walked over as a whole, with indices past the end of its first row, and some bytes are
// copied: where the checks have to see the access itself nobody runs ahead.
__global__ void flat_tile(const int* in, int* out) {
  __shared__ int tile[4][33];
  const int t = static_cast<int>(threadIdx.x);
  for (int i = t; i < 4 * 33; i += 32) tile[0][i] = in[i] + in[i + t];
  __syncthreads();
  int x = in[t] + in[2 * t];
  x += tile[0][4 * t] + in[3 * t];
  if (t % 3) x += tile[0][127 - t] + tile[1][t];
  char some[20];
  memcpy(some, reinterpret_cast<const char*>(in + t) + t % 4, x % 2 ? 20 : 18);
  out[t] = x + some[t % 18] + in[x & (kWords - 1)];
}

// Most blocks have nothing to do, and cost little: the others find no trace of them.
__device__ __attribute__((noinline)) int twice(int x) { return x * 2; }

__global__ void seldom(const int* in, int* out) {
  __shared__ int tile[128];
  const int t = static_cast<int>(threadIdx.x);
  const int thread = static_cast<int>(blockIdx.x * blockDim.x) + t;
  const unsigned what = blockIdx.x * 7 % 16;
  if (what < 9) return;
  // Lanes that part, and touch no memory. (Without the empty instructions the compiler would leave nothing of that.)
  if (what == 9) {
    if (t % 3 == 0) asm volatile("" : : "r"(t));
    return;
  }
  if (what == 10) {
    const int x = twice(t);
    asm volatile("" : : "r"(x));
    return;
  }
  if (what == 11) {
    for (int x = t; x % 8 != 7; ++x) asm volatile("" : : "r"(x));
    return;
  }
  if (what == 12 && t % 2 == 0) return;
  if (what == 13) {
    tile[t] = in[thread & (kWords - 1)];
    __syncthreads();
    out[thread] = tile[blockDim.x - 1 - threadIdx.x];
    return;
  }
  if (what == 14) {
    atomicAdd(&out[blockIdx.x * blockDim.x], 1);
    return;
  }
  out[thread] += in[t];
}

struct Result {
  simt::Launch launch;
  std::vector<int> out;
};

template <class Kernel>
Result run(bool ahead, int words_out, Kernel kernel) {
  setenv("SIMT_AHEAD", ahead ? "1" : "0", 1);
  std::vector<int> in(kWords);
  std::mt19937 random(1);
  for (int& word : in) word = static_cast<int>(random() % 100000);
  int *device_in, *device_out;
  cudaMalloc(&device_in, sizeof(int) * kWords);
  cudaMalloc(&device_out, sizeof(int) * words_out);
  cudaMemcpy(device_in, in.data(), sizeof(int) * kWords, cudaMemcpyHostToDevice);
  cudaMemset(device_out, 0, sizeof(int) * words_out);
  kernel(device_in, device_out);
  Result result;
  result.out.resize(words_out);
  cudaMemcpy(result.out.data(), device_out, sizeof(int) * words_out, cudaMemcpyDeviceToHost);
  result.launch = simt::launch(simt::launch_count() - 1);
  cudaFree(device_in);
  cudaFree(device_out);
  unsetenv("SIMT_AHEAD");
  return result;
}

void expect_same(const Result& a, const Result& b) {
  EXPECT_EQ(a.out, b.out);
  EXPECT_EQ(a.launch.counts, b.launch.counts);
  ASSERT_EQ(a.launch.lines.size(), b.launch.lines.size());
  for (std::size_t i = 0; i < a.launch.lines.size(); ++i) {
    EXPECT_EQ(a.launch.lines[i].line, b.launch.lines[i].line);
    EXPECT_EQ(a.launch.lines[i].counts, b.launch.lines[i].counts)
        << "line " << a.launch.lines[i].line;
  }
}

TEST(RunAhead, CountsAndLoadsTheSameOnRandomWays) {
  std::mt19937 random(7);
  for (int round = 0; round < 60; ++round) {
    std::vector<int> program(24);
    for (int i = 0; i < 12; ++i) {
      program[i] = static_cast<int>(random() & random() & 255);
      program[i + 12] = static_cast<int>(random() % 3 ? random() % 3 : random() % 40);
    }
    const unsigned threads = 1 + random() % 128;
    const auto launch = [&](const int* in, int* out) {
      int* device_program;
      cudaMalloc(&device_program, sizeof(int) * program.size());
      cudaMemcpy(device_program, program.data(), sizeof(int) * program.size(),
                 cudaMemcpyHostToDevice);
      wander<<<3, threads>>>(in, device_program, out);
      cudaDeviceSynchronize();
      cudaFree(device_program);
    };
    SCOPED_TRACE(round);
    const int words = static_cast<int>(3 * threads + 8);
    expect_same(run(true, words, launch), run(false, words, launch));
    EXPECT_TRUE(simt::take_findings().empty());
  }
}

TEST(RunAhead, ChangesNothingWhereAnIndexIsChecked) {
  const auto launch = [](const int* in, int* out) { flat_tile<<<1, 32>>>(in, out); };
  expect_same(run(true, 32, launch), run(false, 32, launch));
  EXPECT_TRUE(simt::take_findings().empty());
}

TEST(RunAhead, AStoreThatGoesFirstIsSeen) {
  const auto launch = [](const int* in, int* out) {
    last_lane_stores<<<1, 128>>>(in, out + 128, out);
    cudaDeviceSynchronize();
  };
  const Result ahead = run(true, 132, launch);
  expect_same(ahead, run(false, 132, launch));
  EXPECT_NE(ahead.out[0], 0);
  // A program that relies on the step has a race, and is told so.
  const auto findings = simt::take_findings();
  EXPECT_FALSE(findings.empty());
  for (const simt::Finding& finding : findings) EXPECT_EQ(finding.kind, "global-race");
}

TEST(RunAhead, BlocksThatReturnAtOnceLeaveNoTrace) {
  for (const unsigned threads : {1u, 7u, 32u, 100u}) {
    SCOPED_TRACE(threads);
    const unsigned blocks = 300;
    const auto launch = [&](const int* in, int* out) { seldom<<<blocks, threads>>>(in, out); };
    const int words = static_cast<int>(blocks * threads);
    const Result passed = run(true, words, launch);
    expect_same(passed, run(false, words, launch));
    EXPECT_EQ(passed.launch.counts.divergent_branches > 0, threads > 1);
    EXPECT_TRUE(simt::take_findings().empty());
  }
}

// The first block that does something and the last do the same, with thousands between them that return at once.
__global__ void both_ends(int* out, bool part) {
  __shared__ int tile[32];
  if (blockIdx.x > 0 && blockIdx.x + 1 < gridDim.x) return;
  if (part && threadIdx.x == 0) return;
  if (blockIdx.x == 0) tile[threadIdx.x] = 1;
  __syncthreads();
  out[threadIdx.x] = tile[threadIdx.x] + static_cast<int>(blockIdx.x);
}

TEST(RunAhead, FindingsReachOverBlocksThatReturnAtOnce) {
  for (const bool part : {false, true}) {
    std::vector<std::string> kinds[2];
    for (const bool ahead : {false, true}) {
      const auto launch = [&](const int*, int* out) { both_ends<<<3000, 32>>>(out, part); };
      run(ahead, 32, launch);
      for (const simt::Finding& finding : simt::take_findings())
        kinds[ahead].push_back(finding.kind);
      cudaGetLastError();
      std::sort(kinds[ahead].begin(),
                kinds[ahead].end());  // what is found first depends on the machine
    }
    EXPECT_EQ(kinds[0], kinds[1]);
    EXPECT_EQ(kinds[1].size(), part ? 3u : 2u) << "a race, garbage, and threads that have exited";
  }
}

// A lane ends with its kernel, not with the first function that returns. (A kernel that is not instrumented calls two
// that are.)
__device__ [[gnu::noinline]] void add_one(int* sum) { *sum += 1; }

__global__ __attribute__((no_sanitize("thread"))) void add_twice(int* sums) {
  add_one(sums + threadIdx.x);
  add_one(sums + threadIdx.x);
}

TEST(RunAhead, ALaneEndsWithItsKernel) {
  int* sums;
  ASSERT_EQ(cudaMalloc(&sums, 64 * sizeof(int)), cudaSuccess);
  cudaMemset(sums, 0, 64 * sizeof(int));
  add_twice<<<1, 64>>>(sums);
  int host[64];
  cudaMemcpy(host, sums, sizeof(host), cudaMemcpyDeviceToHost);
  for (const int sum : host) EXPECT_EQ(sum, 2);
  cudaFree(sums);
}

// Of the two stores the compiler makes one, behind where either way out says that the kernel is left.
__global__ void reverse_or_negate(int* data) {
  __shared__ int tile[64];
  const unsigned t = threadIdx.x, i = blockIdx.x * 64 + t;
  if (blockIdx.x & 1) {
    data[i] = -data[i];
    return;
  }
  tile[t] = data[i];
  __syncthreads();
  data[i] = tile[63 - t];
}

TEST(RunAhead, ALaneEndsAfterItsLastStore) {
  int* data;
  ASSERT_EQ(cudaMallocManaged(&data, 128 * sizeof(int)), cudaSuccess);
  for (int i = 0; i < 128; ++i) data[i] = i;
  reverse_or_negate<<<2, 64>>>(data);
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_EQ(simt::launch(simt::launch_count() - 1).counts.global_store_requests, 4u);
  EXPECT_TRUE(simt::take_findings().empty());
  for (int i = 0; i < 128; ++i) EXPECT_EQ(data[i], i < 64 ? 63 - i : -i);
  cudaFree(data);
}

}  // namespace
