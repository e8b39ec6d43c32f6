// Every finding: a kernel that must raise it, and its corrected twin that must not.
#include <cooperative_groups.h>
#include <cuda_pipeline.h>
#include <curand_kernel.h>
#include <gtest/gtest.h>
#include <simt/simt.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <ctime>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include "buffer.h"

namespace {

std::vector<std::string> kinds() {
  std::vector<std::string> result;
  for (const simt::Finding& finding : simt::take_findings()) result.push_back(finding.kind);
  return result;
}

using Kinds = std::vector<std::string>;

__global__ void fill(float* out, int n, bool guarded) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (!guarded || i < n) out[i] = 1.0f;
}

TEST(OutOfBounds, NamesThreadLineAndAllocation) {
  Buffer<float> out(1000);
  fill<<<4, 256>>>(out.data(), 1000, false);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
  const auto findings = simt::take_findings();
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].kind, "out-of-bounds");
  EXPECT_EQ(findings[0].block.x, 3u);
  EXPECT_EQ(findings[0].thread.x, 232u);
  EXPECT_NE(findings[0].file.find("findings_test.cu"), std::string::npos);
  EXPECT_GT(findings[0].line, 0);
  EXPECT_NE(findings[0].allocation.find("4000-byte"), std::string::npos) << findings[0].allocation;
  EXPECT_NE(findings[0].allocation.find("buffer.h:"), std::string::npos) << findings[0].allocation;
}

TEST(OutOfBounds, CallsAnAllocationByItsName) {
  Buffer<float> out(1000);
  simt::name_allocation(out.data(), "out");
  fill<<<4, 256>>>(out.data(), 1000, false);
  const auto findings = simt::take_findings();
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].allocation, "the 4000 bytes of out");
  EXPECT_NE(findings[0].message.find("just past the end of the 4000 bytes of out"),
            std::string::npos)
      << findings[0].message;
}

TEST(OutOfBounds, IsSilentWithTheGuard) {
  Buffer<float> out(1000);
  fill<<<4, 256>>>(out.data(), 1000, true);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_EQ(kinds(), Kinds{});
}

__global__ void copy4(const float* in, float* out) {
  reinterpret_cast<float4*>(out)[threadIdx.x] =
      *reinterpret_cast<const float4*>(in + 4 * threadIdx.x);
}

TEST(Misaligned, VectorAtAnOddFloat) {
  Buffer<float> in(132), out(128);
  copy4<<<1, 32>>>(in.data() + 1, out.data());
  EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorMisalignedAddress);
  EXPECT_EQ(kinds(), Kinds{"misaligned-access"});
}

TEST(Misaligned, IsSilentOnAlignedVectors) {
  Buffer<float> in(132), out(128);
  copy4<<<1, 32>>>(in.data() + 4, out.data());
  EXPECT_EQ(kinds(), Kinds{});
}

__global__ void reverse(int* data, bool barrier) {
  __shared__ int tile[64];
  tile[threadIdx.x] = data[threadIdx.x];
  if (barrier) __syncthreads();
  data[threadIdx.x] = tile[63 - threadIdx.x];
}

TEST(SharedRace, WithoutTheBarrier) {
  Buffer<int> data(64);
  cudaMemset(data.data(), 0, 256);
  reverse<<<1, 64>>>(data.data(), false);
  const Kinds found = kinds();
  ASSERT_FALSE(found.empty());
  for (const std::string& kind : found) EXPECT_EQ(kind, "shared-race");
}

TEST(SharedRace, IsSilentWithTheBarrier) {
  Buffer<int> data(64);
  cudaMemset(data.data(), 0, 256);
  reverse<<<1, 64>>>(data.data(), true);
  EXPECT_EQ(kinds(), Kinds{});
}

__global__ void neighbour(int* data, bool sync) {
  __shared__ int tile[32];
  tile[threadIdx.x] = data[threadIdx.x];
  if (sync) __syncwarp();
  data[threadIdx.x] = tile[threadIdx.x ^ 1];
}

TEST(SharedRace, WithinAWarpNeedsSyncwarp) {
  Buffer<int> data(32);
  neighbour<<<1, 32>>>(data.data(), false);
  EXPECT_EQ(kinds(), Kinds{"shared-race"});
  neighbour<<<1, 32>>>(data.data(), true);
  EXPECT_EQ(kinds(), Kinds{});
}

__global__ void one_word(int* out, bool same) {
  __shared__ int word;
  word = same ? 7 : static_cast<int>(threadIdx.x);
  __syncthreads();
  out[threadIdx.x] = word;
}

TEST(SharedRace, LanesThatWriteTheSameValueAgree) {
  Buffer<int> out(32);
  one_word<<<1, 32>>>(out.data(), true);
  EXPECT_EQ(kinds(), Kinds{});
  one_word<<<1, 32>>>(out.data(), false);
  EXPECT_EQ(kinds(), Kinds{"shared-race"});
}

// Each thread counts in bytes of its own, four of which, of threads of two warps, make a word; or, with
// `shift`, in its neighbour's.
__global__ void count_in_bytes(unsigned* out, unsigned shift) {
  __shared__ unsigned char counts[4][64];
  const unsigned t = threadIdx.x;
  reinterpret_cast<unsigned*>(counts)[t] = 0;
  __syncthreads();
  const unsigned place = (t % 16) * 4 + t / 16;
  ++counts[t % 4][place];
  const unsigned other = place ^ shift;
  ++counts[t % 4][other];
  __syncthreads();
  out[t] = reinterpret_cast<const unsigned*>(counts)[t];
}

TEST(SharedRace, BytesOfOneWordAreApart) {
  Buffer<unsigned> out(64);
  count_in_bytes<<<1, 64>>>(out.data(), 0);
  EXPECT_EQ(kinds(), Kinds{});
  count_in_bytes<<<1, 64>>>(out.data(), 2);
  const Kinds found = kinds();
  ASSERT_FALSE(found.empty());
  for (const std::string& kind : found) EXPECT_EQ(kind, "shared-race");
}

// A flag that threads of all warps raise; with `who`, each leaves its own number.
__global__ void raise_flag(int* out, bool who) {
  __shared__ int flag;
  if (threadIdx.x == 0) flag = 0;
  __syncthreads();
  if (threadIdx.x % 3 != 0) flag = who ? threadIdx.x / 32 + 1 : 1;
  __syncthreads();
  out[threadIdx.x] = flag;
}

TEST(SharedRace, WarpsThatWriteTheSameValueAgree) {
  Buffer<int> out(128);
  raise_flag<<<1, 128>>>(out.data(), false);
  EXPECT_EQ(kinds(), Kinds{});
  raise_flag<<<1, 128>>>(out.data(), true);
  EXPECT_EQ(kinds(), Kinds{"shared-race"});
}

// A test of what the same thread then changes by an atomic operation may race with the others'; a read that is no
// such test may not.
__global__ void guarded_atomics(int* out, bool guarded) {
  __shared__ int left;
  if (threadIdx.x == 0) left = 40;
  __syncthreads();
  if (guarded) {
    out[threadIdx.x] = left > 0 && atomicSub(&left, 1) > 0;
  } else {
    atomicSub(&left, 1);
    out[threadIdx.x] = left;
  }
}

TEST(SharedRace, TestsAheadOfAtomicOperationsAreMeant) {
  Buffer<int> out(128);
  guarded_atomics<<<1, 128>>>(out.data(), true);
  EXPECT_EQ(kinds(), Kinds{});
  guarded_atomics<<<1, 128>>>(out.data(), false);
  const Kinds found = kinds();
  EXPECT_FALSE(found.empty());
  for (const std::string& kind : found) EXPECT_EQ(kind, "shared-race");
}

__global__ void half_at_the_barrier(int* out, bool all) {
  if (all || threadIdx.x < 16) __syncthreads();
  out[threadIdx.x] = 1;
  __syncthreads();
}

TEST(BarrierDivergence, IsReportedAndDoesNotHang) {
  Buffer<int> out(64);
  half_at_the_barrier<<<1, 64>>>(out.data(), false);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorLaunchFailure);
  EXPECT_EQ(kinds(), Kinds{"barrier-divergence"});
}

TEST(BarrierDivergence, IsSilentWhenAllCome) {
  Buffer<int> out(64);
  half_at_the_barrier<<<1, 64>>>(out.data(), true);
  EXPECT_EQ(kinds(), Kinds{});
}

__global__ void early_return(int* out) {
  if (threadIdx.x >= 40) return;
  __syncthreads();
  out[threadIdx.x] = 1;
}

TEST(BarrierDivergence, ThreadsThatHaveExitedAreNotWaitedForAndAreAWarning) {
  Buffer<int> out(64);
  early_return<<<1, 64>>>(out.data());
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  const auto findings = simt::take_findings();
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].kind, "barrier-divergence");
  EXPECT_EQ(findings[0].severity, simt::Severity::warning);
  EXPECT_EQ(findings[0].thread.x, 40u);
}

// Thread 32 waits for what thread 0 does behind a barrier that needs thread 32.
__global__ void waits_for_the_barrier(volatile int* flag) {
  if (threadIdx.x == 32) {
    while (*flag == 0) {
    }
  }
  __syncthreads();
  if (threadIdx.x == 0) *flag = 1;
}

TEST(BarrierDivergence, IsTheCauseWhereAThreadWaitsForOnesAtABarrier) {
  Buffer<int> flag(1);
  cudaMemset(flag.data(), 0, sizeof(int));
  waits_for_the_barrier<<<1, 64>>>(flag.data());
  EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorLaunchTimeout);
  const auto findings = simt::take_findings();
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].kind, "barrier-divergence");
  EXPECT_NE(findings[0].message.find("thread (0,0,0) of block (0,0,0) waits at the barrier"),
            std::string::npos);
}

// Each thread takes its right neighbour's element; the last one has none.
__global__ void shift_left(float* data, bool guarded) {
  __shared__ float border[64];
  border[threadIdx.x] = data[threadIdx.x];
  __syncthreads();
  if (!guarded || threadIdx.x < 63) data[threadIdx.x] = border[threadIdx.x + 1];
}

TEST(SharedOutOfBounds, NamesTheArray) {
  Buffer<float> data(64);
  shift_left<<<1, 64>>>(data.data(), false);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
  const auto findings = simt::take_findings();
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].kind, "out-of-bounds");
  EXPECT_EQ(findings[0].thread.x, 63u);
  EXPECT_EQ(findings[0].allocation, "the 256 bytes of border in shared memory");
}

TEST(SharedOutOfBounds, IsSilentWithTheGuard) {
  Buffer<float> data(64);
  shift_left<<<1, 64>>>(data.data(), true);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_EQ(kinds(), Kinds{});
}

__global__ void fill_dynamic(float* data, int past) {
  extern __shared__ float all[];
  all[threadIdx.x + past] = 1.0f;
  __syncthreads();
  data[threadIdx.x] = all[threadIdx.x + past];
}

TEST(SharedOutOfBounds, OfDynamicMemory) {
  Buffer<float> data(64);
  fill_dynamic<<<1, 64, 64 * sizeof(float)>>>(data.data(), 0);
  EXPECT_EQ(kinds(), Kinds{});
  fill_dynamic<<<1, 64, 64 * sizeof(float)>>>(data.data(), 1);
  EXPECT_EQ(kinds(), Kinds{"out-of-bounds"});
}

// A tile of 64, of which the upper half is filled only if `whole`; all of it is read.
__global__ void read_tile(float* out, bool whole) {
  __shared__ float tile[64];
  if (threadIdx.x < 32 || whole) tile[threadIdx.x] = 1.0f;
  __syncthreads();
  out[threadIdx.x] = tile[63 - threadIdx.x];
}

// Counts in shared memory that is zeroed first, or not.
__global__ void count_bytes(const unsigned char* in, unsigned* out, bool zeroed) {
  __shared__ unsigned bins[64];
  if (zeroed) bins[threadIdx.x] = 0;
  __syncthreads();
  atomicAdd(&bins[in[threadIdx.x] % 64], 1);
  __syncthreads();
  if (zeroed) out[threadIdx.x] = bins[threadIdx.x];
}

TEST(UninitializedShared, NamesTheThreadThatReadsIt) {
  Buffer<float> out(64);
  read_tile<<<1, 64>>>(out.data(), true);  // what another block wrote does not count
  read_tile<<<1, 64>>>(out.data(), false);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  const auto findings = simt::take_findings();
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].kind, "uninitialized-shared");
  EXPECT_EQ(findings[0].launch + 1, static_cast<int>(simt::launch_count()));
  EXPECT_EQ(findings[0].thread.x, 0u);
}

TEST(UninitializedShared, AnAtomicReadsToo) {
  Buffer<unsigned char> in(64);
  Buffer<unsigned> out(64);
  count_bytes<<<1, 64>>>(in.data(), out.data(), false);
  EXPECT_EQ(kinds(), Kinds{"uninitialized-shared"});
}

// A scan of the sums of four warps by a whole warp: lanes 4 to 31 read what nobody has written. A scan
// brings that to no one below them; with a sum of all it comes to lane 0.
__global__ void combine_warps(int* out, bool scan) {
  __shared__ int sums[32];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  if (lane == 0) sums[warp] = warp;
  __syncthreads();
  if (warp == 0) {
    int sum = sums[lane];
    for (int step = 1; step < 32; step *= 2) {
      const int other = scan ? __shfl_up_sync(~0u, sum, step) : __shfl_down_sync(~0u, sum, step);
      if (!scan || lane >= step) sum += other;
    }
    sums[lane] = sum;
  }
  __syncthreads();
  out[blockIdx.x * blockDim.x + threadIdx.x] = sums[scan ? warp : 0];
}

TEST(UninitializedShared, OnlyWhatComesToMemoryCounts) {
  Buffer<int> out(256);
  combine_warps<<<2, 128>>>(out.data(), true);
  EXPECT_EQ(kinds(), Kinds{});
  combine_warps<<<2, 128>>>(out.data(), false);
  const auto findings = simt::take_findings();
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].kind, "uninitialized-shared");
  EXPECT_EQ(findings[0].thread.x, 4u);
}

TEST(UninitializedShared, IsSilentOnceWritten) {
  Buffer<unsigned char> in(64);
  Buffer<unsigned> bins(64);
  Buffer<float> out(64);
  read_tile<<<3, 64>>>(out.data(), true);
  count_bytes<<<3, 64>>>(in.data(), bins.data(), true);
  EXPECT_EQ(kinds(), Kinds{});
}

// Whoever knows that a function only writes has no need of what stood there before.
__device__ __noinline__ void count_up(int* at, int n) {
  for (int i = 0; i < n; ++i) at[i] = i;
}
__global__ void last_of(int* out, int n) {
  int own[8];
  count_up(own, n);
  *out = own[3];
}

TEST(OwnArray, IsGuardedAgainstAFunctionThatOnlyWrites) {
  int* out = nullptr;
  cudaMalloc(&out, sizeof(int));
  last_of<<<1, 1>>>(out, 8);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_EQ(kinds(), Kinds{});
  last_of<<<1, 1>>>(out, 9);
  EXPECT_NE(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_EQ(kinds(), Kinds{"out-of-bounds"});
  cudaDeviceReset();
}

// Block 0 waits for a flag; the last thread of the grid sets it, or forgets to.
__global__ void wait_for_flag(volatile int* flag, bool set) {
  const bool last = blockIdx.x == gridDim.x - 1 && threadIdx.x == blockDim.x - 1;
  if (set && last) *flag = 1;
  if (blockIdx.x == 0) {
    while (*flag == 0) {
    }
  }
}

class Hang : public testing::Test {
 protected:
  void SetUp() override {
    setenv("SIMT_STEPS", "100000", 1);
    cudaMemset(flag.data(), 0, sizeof(int));
  }
  void TearDown() override { unsetenv("SIMT_STEPS"); }

  Buffer<int> flag{1};
};

TEST_F(Hang, IsReportedWithTheLineThatSpins) {
  wait_for_flag<<<2, 32>>>(flag.data(), false);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorLaunchTimeout);
  const auto findings = simt::take_findings();
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].kind, "hang");
  EXPECT_EQ(findings[0].block.x, 0u);
  EXPECT_NE(findings[0].file.find("findings_test.cu"), std::string::npos);
}

TEST_F(Hang, IsSilentWhereALaterBlockSetsTheFlag) {
  wait_for_flag<<<2, 32>>>(flag.data(), true);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_EQ(kinds(), Kinds{});
}

// Block 0, or the first warp, waits while another works for a long time, in registers alone.
__global__ void wait_for_work(volatile int* flag, int rounds, bool in_block) {
  const unsigned worker = in_block ? threadIdx.x / 32 : blockIdx.x;
  if (worker == 0) {
    while (*flag == 0) {
    }
  } else if (worker == 1) {
    unsigned x = threadIdx.x;
#pragma unroll 1
    for (int i = 0; i < rounds; ++i) x = x * 1664525u + 1013904223u;
    if (threadIdx.x % 32 == 0) *flag = x != 12345u;
  }
}

TEST_F(Hang, IsSilentWhereTheWaitIsLong) {
  unsetenv("SIMT_STEPS");
  for (const bool in_block : {false, true}) {
    cudaMemset(flag.data(), 0, sizeof(int));
    wait_for_work<<<in_block ? 1 : 2, in_block ? 64 : 32>>>(flag.data(), 500'000, in_block);
    EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
    EXPECT_EQ(kinds(), Kinds{});
  }
}

// Nothing changes but the clock.
__global__ void pass_time(long long clocks, int* out) {
  const long long start = clock64();
  while (clock64() - start < clocks) {
  }
  out[threadIdx.x] = 1;
}

TEST_F(Hang, IsSilentWhereTheClockEndsTheLoop) {
  unsetenv("SIMT_STEPS");
  Buffer<int> out(32);
  pass_time<<<1, 32>>>(1'000'000'000, out.data());
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_EQ(kinds(), Kinds{});
}

// A thread of the host ends the loop.
TEST_F(Hang, IsSilentWhereTheHostEndsTheLoop) {
  unsetenv("SIMT_STEPS");
  int* shared = nullptr;
  ASSERT_EQ(cudaMallocHost(&shared, sizeof(int)), cudaSuccess);
  *shared = 0;
  std::thread host([shared] {
    std::this_thread::sleep_for(std::chrono::milliseconds(400));
    *static_cast<volatile int*>(shared) = 1;
  });
  wait_for_flag<<<2, 32>>>(shared, false);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  host.join();
  EXPECT_EQ(kinds(), Kinds{});
  cudaFreeHost(shared);
}

// Stores the same for ever so many rounds: only the counter moves.
__global__ void repeat(int* out, int rounds) {
#pragma unroll 1
  for (int i = 0; i < rounds; ++i) {
    out[threadIdx.x] = 7;
    __syncthreads();
  }
}

TEST_F(Hang, IsSilentWhereACounterWillEndTheLoop) {
  Buffer<int> out(64);
  repeat<<<1, 64>>>(out.data(), 100'000);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_EQ(kinds(), Kinds{});
}

// More rounds than SIMT_STEPS, but they only compute.
__global__ void compute_alone(int* out, int rounds) {
  unsigned x = 1;
#pragma unroll 1
  for (int i = 0; i < rounds; ++i) x = x * 1664525u + 1013904223u;
  *out = static_cast<int>(x);
}

// It may compute, but it has no end.
__global__ void never_ends(int* out) {
  for (unsigned x = 1; x != 0; x |= x << 1) {
    if (threadIdx.x > 32) *out = static_cast<int>(x);
  }
}

TEST_F(Hang, IsToldOfAnEndlessLoopFromALongOne) {
  compute_alone<<<1, 1>>>(flag.data(), 1'200'000);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_EQ(kinds(), Kinds{});
  never_ends<<<1, 32>>>(flag.data());
  EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorLaunchTimeout);
  EXPECT_EQ(kinds(), Kinds{"hang"});
}

// The host forgets it, and waits for the kernel.
TEST_F(Hang, NamesTheMemoryThatTheHostIsToWrite) {
  int* latch = nullptr;
  ASSERT_EQ(cudaHostAlloc(&latch, 2 * sizeof(int), cudaHostAllocMapped), cudaSuccess);
  latch[0] = latch[1] = 0;
  wait_for_flag<<<2, 32>>>(latch + 1, false);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorLaunchTimeout);
  const auto findings = simt::take_findings();
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].kind, "hang");
  for (const char* const part :
       {"what the host writes after the launch, 4 bytes into the 8-byte allocation",
        "and the host waits for the kernel"}) {
    EXPECT_NE(findings[0].message.find(part), std::string::npos) << findings[0].message;
  }
  cudaFreeHost(latch);
}

__global__ void wait_by_an_atomic(int* flag) {
  while (atomicAdd(flag, 0) == 0) {
  }
}
__managed__ int told_by_the_host;

TEST_F(Hang, TheHostMayWriteWhatAnAtomicOperationWaitsFor) {
  told_by_the_host = 0;
  wait_by_an_atomic<<<1, 32>>>(&told_by_the_host);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorLaunchTimeout);
  const auto findings = simt::take_findings();
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_NE(findings[0].message.find(
                "what the host writes after the launch, in told_by_the_host, and the host waits"),
            std::string::npos)
      << findings[0].message;
  // Here it does so in time.
  int* shared = nullptr;
  cudaMallocManaged(&shared, sizeof(int));
  *shared = 0;
  std::thread host([shared] {
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    *const_cast<volatile int*>(shared) = 1;
  });
  unsetenv("SIMT_STEPS");
  wait_by_an_atomic<<<1, 32>>>(shared);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  host.join();
  EXPECT_EQ(kinds(), Kinds{});
  cudaFree(shared);
}

// Neither a flag nor a lock: the lanes that go in circles read nothing.
__global__ void never_counts(int* out) {
  if (threadIdx.x < 16) {
    while (threadIdx.x < 32) {
    }
  }
  __syncthreads();
  out[threadIdx.x] = 1;
}

TEST_F(Hang, IsOfTheConditionWhereTheLoopReadsNothing) {
  Buffer<int> out(64);
  never_counts<<<1, 64>>>(out.data());
  EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorLaunchTimeout);
  const auto findings = simt::take_findings();
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].kind, "hang");
  EXPECT_NE(findings[0].message.find("a loop whose condition stays true"), std::string::npos);
}

// It comes to the elements of an array in an order of its own, again and again.
__global__ void wanders(int* p, unsigned n) {
  for (unsigned i = 0;; ++i) p[i % n] = static_cast<int>(i);
}

TEST_F(Hang, IsToldSoonWhereTheLoopWanders) {
  unsetenv("SIMT_STEPS");
  Buffer<int> out(1024);
  const std::clock_t began = std::clock();
  wanders<<<1, 32>>>(out.data(), 1024);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorLaunchTimeout);
  EXPECT_EQ(kinds(), (Kinds{"global-race", "hang"}));
  EXPECT_LT((std::clock() - began) / CLOCKS_PER_SEC, 16);  // of the CPU; the patience is 8
}

// One thread for all: many more steps than SIMT_STEPS, and each comes to a new element.
__global__ void sum_alone(const int* in, int n, int* sum) {
  int total = 0;
#pragma unroll 1
  for (int i = 0; i < n; ++i) total += in[i];
  *sum = total;
}

TEST_F(Hang, IsSilentWhereTheLoopGetsOn) {
  constexpr int n = 1 << 19;
  Buffer<int> in(n), sum(1);
  cudaMemset(in.data(), 0, n * sizeof(int));
  sum_alone<<<1, 1>>>(in.data(), n, sum.data());
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_EQ(kinds(), Kinds{});
}

TEST(HostAccess, OfDeviceMemory) {
  Buffer<float> data(16);
  cudaMemset(data.data(), 0, 64);
  const volatile float value = data.data()[3];
  EXPECT_EQ(value, 0.0f);
  EXPECT_EQ(kinds(), Kinds{"host-access"});
}

TEST(HostAccess, PinnedMemoryBelongsToBoth) {
  float* data = nullptr;
  ASSERT_EQ(cudaMallocHost(&data, 256), cudaSuccess);
  for (int i = 0; i < 64; ++i) data[i] = 2.0f;
  fill<<<1, 64>>>(data, 64, true);
  cudaDeviceSynchronize();
  EXPECT_EQ(data[63], 1.0f);
  EXPECT_EQ(kinds(), Kinds{});
  fill<<<1, 64>>>(data, 64, true);
  EXPECT_EQ(data[63], 1.0f);  // nobody has waited for it
  EXPECT_EQ(kinds(), Kinds{"host-access"});
  cudaFreeHost(data);
}

TEST(DeviceAccess, OfHostMemory) {
  std::vector<float> host(64);
  fill<<<1, 64>>>(host.data(), 64, true);
  EXPECT_EQ(kinds(), Kinds{"device-access"});
}

TEST(UseAfterFree, IsNamed) {
  float* data = nullptr;
  ASSERT_EQ(cudaMalloc(&data, 256), cudaSuccess);
  cudaFree(data);
  fill<<<1, 64>>>(data, 64, true);
  EXPECT_EQ(kinds(), Kinds{"use-after-free"});
}

__global__ void sum(const int* in, int* out) {
  int value = in[threadIdx.x];
  for (int delta = 16; delta > 0; delta /= 2) value += __shfl_down_sync(0xffffffffu, value, delta);
  if (threadIdx.x == 0) *out = value;
}

TEST(Collectives, ShufflesSum) {
  Buffer<int> in(32), out(1);
  std::vector<int> host(32);
  std::iota(host.begin(), host.end(), 1);
  cudaMemcpy(in.data(), host.data(), 128, cudaMemcpyHostToDevice);
  sum<<<1, 32>>>(in.data(), out.data());
  int result = 0;
  cudaMemcpy(&result, out.data(), 4, cudaMemcpyDeviceToHost);
  EXPECT_EQ(result, 32 * 33 / 2);
  EXPECT_EQ(kinds(), Kinds{});
}

__global__ void half_shuffle(int* out) {
  if (threadIdx.x < 16) out[threadIdx.x] = __shfl_sync(0xffffffffu, 1, 0);
}

TEST(InvalidMask, NamesLanesThatNeverCome) {
  // Lanes 16 to 31 exit, so they are not waited for; lanes that wait elsewhere are.
  Buffer<int> out(32);
  half_shuffle<<<1, 32>>>(out.data());
  EXPECT_EQ(kinds(), Kinds{});
}

__global__ void shuffle_in_a_branch(int* out) {
  int value = static_cast<int>(threadIdx.x);
  if (threadIdx.x < 16) value = __shfl_sync(0xffffffffu, value, 3);
  out[threadIdx.x] = __shfl_sync(0xffffffffu, value + 100, 5);
}

// The first shuffle of one half is made with the second one of the other half, whose one call is over then.
TEST(InvalidMask, AShuffleServesOneOther) {
  Buffer<int> out(32);
  shuffle_in_a_branch<<<1, 32>>>(out.data());
  EXPECT_EQ(kinds(), Kinds{"invalid-mask"});
  std::vector<int> host(32);
  cudaMemcpy(host.data(), out.data(), 128, cudaMemcpyDeviceToHost);
  EXPECT_EQ(host[0], 103);
  EXPECT_EQ(host[16], 5);
}

__global__ void read_texture(cudaTextureObject_t texture, float* out) {
  out[threadIdx.x] = texture ? tex1Dfetch<float>(texture, static_cast<int>(threadIdx.x)) : 0.0f;
}

TEST(Texture, ReadsAreNotedForEachLaunch) {
  Buffer<float> in(32), out(32);
  cudaMemset(in.data(), 0, 32 * sizeof(float));
  cudaResourceDesc resource{};
  resource.resType = cudaResourceTypeLinear;
  resource.res.linear.devPtr = in.data();
  resource.res.linear.desc = cudaCreateChannelDesc<float>();
  resource.res.linear.sizeInBytes = 32 * sizeof(float);
  const cudaTextureDesc description{};
  cudaTextureObject_t texture = 0;
  ASSERT_EQ(cudaCreateTextureObject(&texture, &resource, &description, nullptr), cudaSuccess);
  for (const bool reads : {false, true, false}) {
    read_texture<<<1, 32>>>(reads ? texture : 0, out.data());
    EXPECT_EQ(simt::launch(simt::launch_count() - 1).reads_textures, reads);
  }
  cudaDestroyTextureObject(texture);
  simt::take_findings();
}

TEST(Sample, CountsSomeBlocksAndRunsAll) {
  constexpr int n = 64 * 256;
  Buffer<float> out(n);
  cudaMemset(out.data(), 0, n * sizeof(float));
  setenv("SIMT_BLOCKS", "10", 1);
  fill<<<64, 256>>>(out.data(), n, true);
  unsetenv("SIMT_BLOCKS");
  std::vector<float> host(n);
  cudaMemcpy(host.data(), out.data(), n * sizeof(float), cudaMemcpyDeviceToHost);
  EXPECT_EQ(std::count(host.begin(), host.end(), 1.0f), n);
  const simt::Launch& sampled = simt::launch(simt::launch_count() - 1);
  EXPECT_EQ(sampled.traced_blocks, 10u);  // every seventh of 64
  EXPECT_EQ(sampled.counts.global_store_requests, 10u * 8);
  fill<<<64, 256>>>(out.data(), n, true);
  EXPECT_EQ(simt::launch(simt::launch_count() - 1).traced_blocks, 64u);
  EXPECT_EQ(simt::launch(simt::launch_count() - 1).counts.global_store_requests, 64u * 8);
}

__global__ void copy_index(float* out) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = i;
}

// After so many accesses a launch that is like the ones before counts some of its blocks; another does not.
__global__ void count_up(float* out) { out[blockIdx.x * blockDim.x + threadIdx.x] += 1; }

TEST(Sample, RepeatedLaunches) {
  constexpr int n = 64 * 256;
  Buffer<float> out(n);
  const auto traced = [&](int blocks) {
    count_up<<<blocks, 256>>>(out.data());
    return simt::launch(simt::launch_count() - 1).traced_blocks;
  };
  setenv("SIMT_FULL", "60000", 1);
  EXPECT_EQ(traced(64), 64u);  // 32768 accesses
  EXPECT_EQ(traced(64), 64u);
  EXPECT_EQ(traced(64), 4u);
  EXPECT_EQ(traced(32), 32u);
  setenv("SIMT_BLOCKS", "all", 1);
  EXPECT_EQ(traced(64), 64u);
  unsetenv("SIMT_BLOCKS");
  EXPECT_EQ(traced(64), 4u);
  setenv("SIMT_FULL", "30000", 1);  // more than twice as many by now
  EXPECT_EQ(traced(64), 1u);
  unsetenv("SIMT_FULL");
  EXPECT_EQ(traced(64), 64u);
  float last = 0;
  cudaMemcpy(&last, out.data() + n - 1, sizeof(last), cudaMemcpyDeviceToHost);
  EXPECT_EQ(last, 7);
}

__constant__ int scale = 2;
__global__ void scaled(int* out, const int* in, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = scale * in[i];
}

// Threads of the host launch at the same time: what the one's blocks touch is not taken for the other's.
TEST(Sample, KnowsTheLaunchesOfSeveralThreadsApart) {
  constexpr int threads = 4, rounds = 40, n = 2048;
  int wrong[threads] = {};
  std::vector<std::thread> launching;
  for (int t = 0; t < threads; ++t) {
    launching.emplace_back([t, &wrong] {
      Buffer<int> in(n), out(n);
      std::vector<int> host(n);
      for (int round = 0; round < rounds; ++round) {
        const int value = 1 + round * threads + t;
        std::fill(host.begin(), host.end(), value);
        cudaMemcpy(in.data(), host.data(), n * sizeof(int), cudaMemcpyHostToDevice);
        for (int i = 0; i < 3; ++i) scaled<<<n / 128, 128>>>(out.data(), in.data(), n);
        cudaMemcpy(host.data(), out.data(), n * sizeof(int), cudaMemcpyDeviceToHost);
        wrong[t] += std::count(host.begin(), host.end(), 2 * value) != n;
      }
    });
  }
  for (std::thread& thread : launching) thread.join();
  for (int t = 0; t < threads; ++t) EXPECT_EQ(wrong[t], 0) << "thread " << t;
}

// Blocks of a sample wait for blocks that are not counted, and the reverse.
TEST(Sample, BlocksThatWaitForOthersGoOn) {
  Buffer<int> flag(1);
  for (const char* blocks : {"1", "2", "3"}) {
    cudaMemset(flag.data(), 0, sizeof(int));
    setenv("SIMT_BLOCKS", blocks, 1);
    wait_for_flag<<<4, 32>>>(flag.data(), true);
    unsetenv("SIMT_BLOCKS");
    EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  }
  EXPECT_EQ(kinds(), Kinds{});
}

// Types with a constructor, as CUDA's vector types have one here.
__global__ void swap_pairs(float2* data) {
  __shared__ float2 pairs[32];
  pairs[threadIdx.x] = data[threadIdx.x];
  __syncwarp();
  data[threadIdx.x] = pairs[31 - threadIdx.x];
}

TEST(Counts, OfSharedVectorsAreThoseOfTheSource) {
  Buffer<float2> data(32);
  swap_pairs<<<1, 32>>>(data.data());
  EXPECT_EQ(kinds(), Kinds{});
  const simt::Counts& counts = simt::launch(simt::launch_count() - 1).counts;
  EXPECT_EQ(counts.shared_load_requests, 1u);
  EXPECT_EQ(counts.shared_store_requests, 1u);
}

__global__ void add_one_line_apart(int* data) {
  atomicAdd(&data[threadIdx.x], 1);
  atomicAdd(&data[0], 2);
}

TEST(Counts, OfAtomicsBelongToTheLineOfTheCall) {
  Buffer<int> data(32);
  cudaMemset(data.data(), 0, 32 * sizeof(int));
  add_one_line_apart<<<1, 32>>>(data.data());
  const simt::Launch& launch = simt::launch(simt::launch_count() - 1);
  ASSERT_EQ(launch.lines.size(), 2u);
  for (const simt::LineCounts& line : launch.lines) {
    EXPECT_NE(line.file.find("findings_test.cu"), std::string::npos) << line.file;
    EXPECT_EQ(line.counts.global_atomic_requests, 1u);
  }
}

TEST(Counts, LinesSumToTheLaunch) {
  Buffer<float> out(1024);
  const size_t first = simt::launch_count();
  fill<<<4, 256>>>(out.data(), 1024, true);
  const simt::Launch& launch = simt::launch(first);
  simt::Counts sum;
  for (const simt::LineCounts& line : launch.lines) sum += line.counts;
  EXPECT_EQ(sum, launch.counts);
  EXPECT_EQ(launch.counts.global_store_requests, 32u);
  EXPECT_EQ(launch.counts.global_store_sectors, 128u);
  EXPECT_NE(launch.kernel.find("fill"), std::string::npos);
}

// ---- the grid's barrier

__global__ void meet(int* out, bool some_leave) {
  if (some_leave && blockIdx.x == 1) return;
  cooperative_groups::this_grid().sync();
  if (threadIdx.x == 0) atomicAdd(out, 1);
}

TEST(GridBarrier, ABlockThatNeverComes) {
  Buffer<int> out(1);
  cudaMemset(out.data(), 0, sizeof(int));
  int* data = out.data();
  for (const bool some_leave : {false, true}) {
    bool flag = some_leave;
    void* arguments[] = {&data, &flag};
    EXPECT_EQ(cudaLaunchCooperativeKernel(meet, 4, 64, arguments), cudaSuccess);
    EXPECT_EQ(cudaDeviceSynchronize(), some_leave ? cudaErrorLaunchFailure : cudaSuccess);
    const auto findings = simt::take_findings();
    ASSERT_EQ(findings.size(), some_leave ? 1u : 0u);
    if (!some_leave) continue;
    EXPECT_EQ(findings[0].kind, "barrier-divergence");
    EXPECT_NE(findings[0].message.find("barrier of the grid"), std::string::npos);
    EXPECT_GT(findings[0].line, 0);
  }
}

// One block's fault ends the launch, whatever the others wait for.
__global__ void fault_then_meet(int* out) {
  if (blockIdx.x == 2) out[1 << 20] = 1;
  cooperative_groups::this_grid().sync();
}

TEST(GridBarrier, AFaultOfOneBlockEndsAll) {
  Buffer<int> out(1);
  int* data = out.data();
  void* arguments[] = {&data};
  EXPECT_EQ(cudaLaunchCooperativeKernel(fault_then_meet, 8, 64, arguments), cudaSuccess);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
  EXPECT_EQ(kinds(), Kinds{"out-of-bounds"});
}

TEST(GridBarrier, OnlyInCooperativeLaunches) {
  Buffer<int> out(1);
  meet<<<4, 64>>>(out.data(), false);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorLaunchFailure);
  const auto findings = simt::take_findings();
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].kind, "trap");
  EXPECT_NE(findings[0].message.find("not made by cudaLaunchCooperativeKernel()"),
            std::string::npos);
}

// ---- asynchronous copies

__global__ void copy_tile(const float* in, float* out, unsigned n, bool waits) {
  __shared__ float tile[64];
  __pipeline_memcpy_async(&tile[threadIdx.x], &in[threadIdx.x < n ? threadIdx.x : n], 4);
  __pipeline_commit();
  if (waits) __pipeline_wait_prior(0);
  __syncthreads();
  out[threadIdx.x] = tile[63 - threadIdx.x];
}

TEST(AsyncCopy, ArrivesWithTheWait) {
  Buffer<float> in(64), out(64);
  const std::vector<float> numbers(64, 2.5f);
  cudaMemcpy(in.data(), numbers.data(), 256, cudaMemcpyHostToDevice);
  for (const bool waits : {true, false}) {
    copy_tile<<<1, 64>>>(in.data(), out.data(), 64, waits);
    std::vector<float> back(64);
    cudaMemcpy(back.data(), out.data(), 256, cudaMemcpyDeviceToHost);
    EXPECT_EQ(back == numbers, waits);
    EXPECT_EQ(kinds(), waits ? Kinds{} : Kinds{"uninitialized-shared"});
  }
}

TEST(AsyncCopy, IsCheckedAndCounted) {
  Buffer<float> in(64), out(64);
  cudaMemset(in.data(), 0, 256);
  const size_t first = simt::launch_count();
  copy_tile<<<1, 64>>>(in.data(), out.data(), 64, true);
  const simt::Counts counts = simt::counts_since(first);
  EXPECT_EQ(counts.global_load_requests, 2u);
  EXPECT_EQ(counts.global_load_sectors, 8u);
  EXPECT_EQ(counts.shared_store_requests, 0u);  // to the hardware a copy is a load only
  EXPECT_EQ(counts.shared_load_wavefronts, 2u);
  EXPECT_EQ(counts.shared_wavefronts, 4u);
  EXPECT_EQ(counts.shared_wavefronts_ideal, 4u);
  copy_tile<<<1, 64>>>(in.data(), out.data(), 63, true);
  EXPECT_TRUE(kinds().empty());
  Buffer<float> small(32);
  copy_tile<<<1, 64>>>(small.data(), out.data(), 64, true);
  EXPECT_EQ(kinds(), Kinds{"out-of-bounds"});
}

// ---- the heap of the device

__global__ void use_heap(int* out, int extra, bool twice) {
  int* volatile again = new int[8];
  int* const list = again;
  for (int i = 0; i < 8 + extra; ++i) list[i] = i;
  out[0] = list[7];
  delete[] list;
  if (twice) delete[] again;
}

TEST(Heap, IsCheckedAsOtherMemory) {
  Buffer<int> out(1);
  use_heap<<<1, 1>>>(out.data(), 0, false);
  EXPECT_TRUE(kinds().empty());
  use_heap<<<1, 1>>>(out.data(), 1, false);
  auto findings = simt::take_findings();
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].kind, "out-of-bounds");
  EXPECT_NE(findings[0].allocation.find("32-byte allocation made by malloc or new in a kernel"),
            std::string::npos)
      << findings[0].allocation;
  use_heap<<<1, 1>>>(out.data(), 0, true);
  findings = simt::take_findings();
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].kind, "trap");
  EXPECT_GT(findings[0].line, 0);
}

// The simulator's own memory is not the kernel's.
__global__ void fill_heap(unsigned* out) {
  curandState state;
  curand_init(1, 1, 1, &state);  // makes tables
  void* most = malloc((8 << 20) - 4096);
  out[0] = curand(&state) != 0 && most != nullptr;
  out[1] = malloc(8192) == nullptr;
  free(most);
}

TEST(Heap, IsAsLargeAsItsLimit) {
  Buffer<unsigned> out(2);
  fill_heap<<<1, 1>>>(out.data());
  unsigned seen[2] = {0, 0};
  EXPECT_EQ(cudaMemcpy(seen, out.data(), sizeof(seen), cudaMemcpyDeviceToHost), cudaSuccess);
  EXPECT_EQ(seen[0], 1u);
  EXPECT_EQ(seen[1], 1u);
  EXPECT_TRUE(kinds().empty());
}

// Freed between two launches that run on the same thread of the CPU.
__global__ void touch(int* data) { data[0] = 1; }

TEST(UseAfterFree, InALaterLaunch) {
  int* data = nullptr;
  cudaMalloc(&data, 400);
  touch<<<1, 1>>>(data);
  EXPECT_TRUE(kinds().empty());
  cudaFree(data);
  touch<<<1, 1>>>(data);
  EXPECT_EQ(kinds(), Kinds{"use-after-free"});
}

// ---- assertions

__global__ void assert_below(unsigned n) { assert(threadIdx.x < n); }

TEST(Assertion, EndsTheKernelWithAnErrorOfItsOwn) {
  assert_below<<<1, 64>>>(64);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  assert_below<<<1, 64>>>(60);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorAssert);
  const auto findings = simt::take_findings();
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].kind, "trap");
  EXPECT_EQ(findings[0].thread.x, 60u);
  EXPECT_NE(findings[0].message.find("`threadIdx.x < n` failed"), std::string::npos);
}

// A program that is given the error decides itself how it ends; one that does not ask has failed.
TEST(Assertion, FailsTheProcessUnlessTheProgramIsTold) {
  testing::GTEST_FLAG(death_test_style) = "threadsafe";
  const auto run = [](bool asks) {
    assert_below<<<1, 64>>>(60);
    if (asks) std::exit(cudaDeviceSynchronize() == cudaErrorAssert ? 0 : 1);
    std::exit(0);
  };
  EXPECT_EXIT(run(true), testing::ExitedWithCode(0), "Assertion `threadIdx.x < n` failed");
  EXPECT_EXIT(run(false), testing::ExitedWithCode(86), "1 finding");
}

}  // namespace

// ---- What must stay silent ----------------------------------------------------------------------

// A running sum over blocks: each publishes its sum, and adds up what those before it have published.
__global__ void look_back(const int* in, int* out, int* sums, volatile int* state) {
  if (threadIdx.x != 0) return;
  const int b = blockIdx.x;
  sums[b] = in[b];
  __threadfence();
  state[b] = 1;
  int before = 0;
  for (int p = b - 1; p >= 0; --p) {
    while (state[p] == 0) {
    }
    __threadfence();
    before += sums[p];
  }
  out[b] = before + in[b];
}

TEST(Silent, OnLookBack) {
  Buffer<int> in(64), out(64), sums(64), state(64);
  const std::vector<int> ones(64, 1);
  cudaMemcpy(in.data(), ones.data(), 64 * sizeof(int), cudaMemcpyHostToDevice);
  look_back<<<64, 32>>>(in.data(), out.data(), sums.data(), state.data());
  std::vector<int> host(64);
  cudaMemcpy(host.data(), out.data(), 64 * sizeof(int), cudaMemcpyDeviceToHost);
  for (int i = 0; i < 64; ++i) EXPECT_EQ(host[i], i + 1);
  EXPECT_EQ(kinds(), Kinds{});
}

// Row and column k are stored to while other blocks read them, and keep their values.
__global__ void floyd_warshall_step(int* d, int n, int k) {
  const int i = blockIdx.y * blockDim.y + threadIdx.y, j = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && j < n) d[i * n + j] = min(d[i * n + j], d[i * n + k] + d[k * n + j]);
}

TEST(Silent, OnFloydWarshall) {
  constexpr int kN = 40;
  std::vector<int> host(kN * kN);
  for (int i = 0; i < kN * kN; ++i) host[i] = i % (kN + 1) == 0 ? 0 : 1 + i * 7919 % 101;
  Buffer<int> d(kN * kN);
  cudaMemcpy(d.data(), host.data(), host.size() * sizeof(int), cudaMemcpyHostToDevice);
  for (int k = 0; k < kN; ++k) {
    floyd_warshall_step<<<dim3(3, 3), dim3(16, 16)>>>(d.data(), kN, k);
  }
  EXPECT_EQ(kinds(), Kinds{});
}

// Many find the same vertex and give it the same level.
__global__ void next_level(const int* first, const int* edges, int* level, int n, int now) {
  const int v = blockIdx.x * blockDim.x + threadIdx.x;
  if (v >= n || level[v] != now) return;
  for (int e = first[v]; e < first[v + 1]; ++e) {
    if (level[edges[e]] < 0) level[edges[e]] = now + 1;
  }
}

TEST(Silent, OnBreadthFirstSearch) {
  constexpr int kN = 500, kDegree = 8;
  std::vector<int> first(kN + 1), edges(kN * kDegree), level(kN, -1);
  for (int v = 0; v <= kN; ++v) first[v] = v * kDegree;
  for (int e = 0; e < kN * kDegree; ++e) edges[e] = (e * 37 + e / kDegree) % kN;
  level[0] = 0;
  Buffer<int> f(first.size()), g(edges.size()), l(level.size());
  cudaMemcpy(f.data(), first.data(), first.size() * sizeof(int), cudaMemcpyHostToDevice);
  cudaMemcpy(g.data(), edges.data(), edges.size() * sizeof(int), cudaMemcpyHostToDevice);
  cudaMemcpy(l.data(), level.data(), level.size() * sizeof(int), cudaMemcpyHostToDevice);
  for (int now = 0; now < 6; ++now) {
    next_level<<<8, 64>>>(f.data(), g.data(), l.data(), kN, now);
  }
  EXPECT_EQ(kinds(), Kinds{});
}

struct Padded {
  double a;
  double b;
  int c;  // and four bytes that nobody writes
};

__global__ void write_members(Padded* out) {
  out[threadIdx.x].a = out[threadIdx.x].b = 1.0;
  out[threadIdx.x].c = 1;
}
__global__ void copy_structs(const Padded* in, Padded* out) { out[threadIdx.x] = in[threadIdx.x]; }
__global__ void copy_bytes(const char* in, char* out, size_t n) {
  memcpy(out + threadIdx.x * n, in + threadIdx.x * n, n);
}

TEST(Silent, OnPaddingAndCopiesInKernels) {
  Padded *a, *b, *c;
  for (Padded** p : {&a, &b, &c}) ASSERT_EQ(cudaMalloc(p, 32 * sizeof(Padded)), cudaSuccess);
  write_members<<<1, 32>>>(a);
  copy_structs<<<1, 32>>>(a, b);
  copy_bytes<<<1, 32>>>(reinterpret_cast<const char*>(a), reinterpret_cast<char*>(c),
                        sizeof(Padded));
  copy_structs<<<1, 32>>>(c, b);
  for (Padded* p : {a, b, c}) cudaFree(p);
  EXPECT_EQ(kinds(), Kinds{});
}

// The rows of a tile lie one behind the other.
__global__ void fill_tile_as_a_whole(int* out) {
  __shared__ int tile[8][33];
  for (int i = threadIdx.x; i < 8 * 33; i += blockDim.x) tile[0][i] = i;
  __syncthreads();
  out[threadIdx.x] = tile[7][threadIdx.x];
}

TEST(Silent, OnATileThatIsFilledAsAWhole) {
  Buffer<int> out(32);
  fill_tile_as_a_whole<<<1, 32>>>(out.data());
  EXPECT_EQ(kinds(), Kinds{});
}

__device__ int* ones() {
  __shared__ int array[32];
  array[threadIdx.x] = 1;
  return array;
}
__device__ int* twos() {
  __shared__ int array[32];
  array[threadIdx.x] = 2;
  return array;
}
__global__ void choose(int* out) {
  const int *a = ones(), *b = twos();
  __syncthreads();
  out[threadIdx.x] = (threadIdx.x % 2 ? a : b)[31 - threadIdx.x];
}

TEST(Silent, WhereOneInstructionReadsArraysOfTwoFunctions) {
  Buffer<int> out(32);
  choose<<<1, 32>>>(out.data());
  EXPECT_EQ(kinds(), Kinds{});
}

// Not all that is copied need be written, only what is read.
TEST(Silent, OnAPartOfABufferThatNobodyReads) {
  int* some = nullptr;
  ASSERT_EQ(cudaMalloc(&some, 64 * sizeof(int)), cudaSuccess);
  cudaMemset(some, 0, 32 * sizeof(int));
  std::vector<int> host(64);
  cudaMemcpy(host.data(), some, 64 * sizeof(int), cudaMemcpyDeviceToHost);
  EXPECT_EQ(std::accumulate(host.begin(), host.begin() + 32, 0), 0);
  EXPECT_EQ(kinds(), Kinds{});
  EXPECT_EQ(host[32], -1);  // what fresh memory holds
  EXPECT_EQ(kinds(), Kinds{"uninitialized-global"});
  cudaFree(some);
}

// ---- Calls that fail ----------------------------------------------------------------------------

TEST(ApiError, IsAFindingUnlessTheProgramTakesIt) {
  Buffer<int> out(4);
  const std::vector<int> host(5);
  cudaMemcpy(out.data(), host.data(), 5 * sizeof(int), cudaMemcpyHostToDevice);
  auto findings = simt::take_findings();
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].kind, "api-error");
  EXPECT_NE(findings[0].message.find("cudaMemcpy at "), std::string::npos) << findings[0].message;
  EXPECT_NE(findings[0].message.find("4 bytes past the end of the 16-byte"), std::string::npos)
      << findings[0].message;

  cudaMemcpy(out.data(), host.data(), 5 * sizeof(int), cudaMemcpyHostToDevice);
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidValue);
  EXPECT_EQ(kinds(), Kinds{});
}

TEST(UseAfterFree, BetweenTwoLaunches) {
  float* out = nullptr;
  ASSERT_EQ(cudaMalloc(&out, 64 * sizeof(float)), cudaSuccess);
  fill<<<1, 64>>>(out, 64, true);
  EXPECT_EQ(kinds(), Kinds{});
  cudaFree(out);
  fill<<<1, 64>>>(out, 64, true);
  EXPECT_EQ(kinds(), Kinds{"use-after-free"});
}

__global__ void copy_quads(const float4* in, float4* out) { out[threadIdx.x] = in[threadIdx.x]; }

TEST(OutOfBounds, AcrossTheEnd) {
  Buffer<float> in(5), out(8);
  copy_quads<<<1, 2>>>(reinterpret_cast<const float4*>(in.data()),
                       reinterpret_cast<float4*>(out.data()));
  const auto findings = simt::take_findings();
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_NE(findings[0].message.find(": across the end of the 20-byte"), std::string::npos)
      << findings[0].message;
}

// Block 1 ends before it has written what block 0 reads: where it ended comes first. Where a block has read what nobody wrote, and
// that leads it past an end, the read does.
__global__ void read_neighbours(const int* in, int* out, int past) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (blockIdx.x == 1) out[i + past] = 1;
  out[i] = in[i];
}

__global__ void scatter(const int* index, int* out) { out[index[threadIdx.x]] = 1; }

TEST(Order, OfAnEndAndWhatItLeavesUndone) {
  Buffer<int> out(64);
  int* in = nullptr;
  cudaMalloc(&in, 256);
  read_neighbours<<<2, 32>>>(in, out.data(), 32);
  EXPECT_EQ(kinds(), (Kinds{"out-of-bounds", "uninitialized-global"}));
  cudaFree(in);
}

TEST(Order, OfAnEndAndWhatLedToIt) {
  Buffer<int> out(32);
  int* index = nullptr;
  cudaMalloc(&index, 128);
  scatter<<<1, 32>>>(index, out.data());
  EXPECT_EQ(kinds(), (Kinds{"uninitialized-global", "out-of-bounds"}));
  cudaFree(index);
}

__global__ void say(const char* text) { printf("%s\n", text); }

TEST(Printf, OfABadStringIsAtItsLine) {
  say<<<1, 1>>>(reinterpret_cast<const char*>(uint64_t{0x123456789000}));
  const int line = __LINE__ - 4;
  const auto findings = simt::take_findings();
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].kind, "out-of-bounds");
  EXPECT_EQ(findings[0].line, line);
}
