// What findings say: what happened, where, in which memory, and what usually causes it. The kinds themselves are
// tested in findings_test.cu and tests/simulator/findings.
#include <cuda_pipeline.h>
#include <gtest/gtest.h>
#include <simt/simt.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "buffer.h"

namespace {

/// The findings so far, each as "kind: message", one a line.
std::string said() {
  std::string text;
  for (const simt::Finding& finding : simt::take_findings()) {
    text += finding.kind + ": " + finding.message + "\n";
  }
  return text;
}

/// Expects one finding that says all of `parts`.
void expect(std::initializer_list<const char*> parts) {
  const std::string text = said();
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1) << text;
  for (const char* part : parts)
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
}

__global__ void read_at(const int* in, long long index, int* out) { *out = in[index]; }

__constant__ float weights[4];
__device__ const int answer = 42;

TEST(Messages, OfASymbolThatIsNone) {
  float values[4] = {};
  int read = 0;
  EXPECT_EQ(cudaMemcpyToSymbol(weights, values, sizeof values), cudaSuccess);
  EXPECT_EQ(cudaMemcpyFromSymbol(&read, answer, sizeof read), cudaSuccess);
  EXPECT_EQ(read, 42);
  EXPECT_EQ(said(), "");
  EXPECT_EQ(cudaMemcpyToSymbol(&weights, values, sizeof values), cudaErrorInvalidSymbol);
  expect({"invalid device symbol", "not its address"});
  EXPECT_EQ(cudaMemcpyFromSymbol(values, &weights, sizeof values), cudaErrorInvalidSymbol);
  expect({"invalid device symbol", "not its address"});
  EXPECT_EQ(cudaMemcpyToSymbol("weights", values, sizeof values), cudaErrorInvalidSymbol);
  expect({"invalid device symbol", "not its name"});
}

TEST(Messages, OfAnIndexThatIsWrong) {
  Buffer<int> in(10), out(1);
  read_at<<<1, 1>>>(in.data(), -1, out.data());
  expect({"out-of-bounds: ", "4 bytes before the start of the 40-byte", "an index below 0"});
  read_at<<<1, 1>>>(in.data(), 10, out.data());
  expect({"just past the end of the 40-byte", "a guard such as `if (i < n)`", "a row length"});
  read_at<<<1, 1>>>(in.data(), 0xffffffff, out.data());
  expect({" bytes past the end of ", "wrapped around"});
  read_at<<<1, 1>>>(nullptr, 0, out.data());
  expect({"a null pointer", "never set"});
  read_at<<<1, 1>>>(in.data(), 9, out.data());
  EXPECT_EQ(said(), "");
}

// An index that is beyond one array, and close to the next one: either may be meant.
TEST(Messages, OfAnIndexBetweenTwoArrays) {
  Buffer<int> in(4096), next(4096), out(1);
  const auto distance = next.data() - in.data();
  ASSERT_GT(distance, 4096);
  read_at<<<1, 1>>>(in.data(), distance - 1, out.data());
  expect({"4 bytes before the start of the 16384-byte", " past the end of the 16384-byte",
          "an index below 0", "`if (i < n)`"});
}

__global__ void print(int* returned) {
  returned[0] = printf("%d %s, %.*f\n", 1, "two", 3, 4.5);
  returned[1] = printf("no arguments, 100%%\n");
}

TEST(Printf, ReturnsHowManyArgumentsThereAre) {
  Buffer<int> returned(2);
  print<<<1, 1>>>(returned.data());
  int here[2] = {};
  cudaMemcpy(here, returned.data(), sizeof here, cudaMemcpyDeviceToHost);
  EXPECT_EQ(here[0], 4);
  EXPECT_EQ(here[1], 0);
}

__global__ void print_twice() {
  printf("a%d ", static_cast<int>(threadIdx.x));
  if (threadIdx.x == 1) printf("one ");
  printf("b%d ", static_cast<int>(threadIdx.x));
}

TEST(Printf, IsCalledByTheLanesOfAWarpTogether) {
  testing::internal::CaptureStdout();
  print_twice<<<1, 3>>>();
  std::fflush(stdout);
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "a0 a1 a2 one b0 b1 b2 ");
}

TEST(Messages, OfALineOfTheHostThatComesAgain) {
  int value = 0;
  for (int i = 0; i < 3; ++i) EXPECT_NE(cudaMemcpy(&value, nullptr, 4, cudaMemcpyDefault), 0);
  expect({"api-error: cudaMemcpy"});
}

TEST(Messages, OfAnAddressWhereNothingIs) {
  Buffer<int> out(1);
  for (const unsigned long long address : {0x37ab6fbbf2bf8ull, 0xdeadbeefdeadbee0ull}) {
    read_at<<<1, 1>>>(reinterpret_cast<const int*>(address), 0, out.data());
    expect({"out-of-bounds: ", "an address where nothing is", "a pointer that was never set"});
  }
}

// Threads leave for reasons of their own, by these lines.
constexpr int kGuard = __LINE__ + 3, kNegative = __LINE__ + 7, kInLoop = __LINE__ + 10;
__global__ void leave(const int* in, int* out, int n, bool all_stay) {
  const int i = static_cast<int>(threadIdx.x);
  if (i >= n && !all_stay) return;
  const int v = i < n ? in[i] : 0;
  if (v < 0) {
    out[0] = i;
    return;
  }
  for (int k = 0; k < v; ++k)
    if (in[k] == 77) return;
  if (v != 2) {
    __syncthreads();
    if (i < n) out[i] = v;
  }
}

TEST(Messages, OfAThreadThatHasExited) {
  Buffer<int> in(64), out(64);
  std::vector<int> values(64, 1);
  const auto leave_with = [&](int n, bool all_stay) {
    cudaMemcpy(in.data(), values.data(), sizeof(int) * values.size(), cudaMemcpyHostToDevice);
    leave<<<1, 64>>>(in.data(), out.data(), n, all_stay);
  };
  const auto by_line = [](int line) {
    return "messages_test.cu:" + std::to_string(line) + ", before the barrier at ";
  };
  leave_with(64, false);
  EXPECT_EQ(said(), "");
  leave_with(40, false);
  expect({"thread (40,0,0) of block (0,0,0) has exited, by the return at ", by_line(kGuard).c_str(),
          "Let those threads stay"});
  values[3] = -1;
  leave_with(40, true);
  expect({"thread (3,0,0) ", by_line(kNegative).c_str()});
  values[3] = 77, values[5] = 6;
  leave_with(64, false);
  expect({"thread (3,0,0) ", by_line(kInLoop).c_str()});
  values[3] = 2, values[5] = 1;
  leave_with(64, true);
  expect({"thread (3,0,0) of block (0,0,0) has exited before",
          "within an `if`, in a loop that some threads leave earlier"});
}

// Their last line is one of the library's, which is no place to name.
__global__ void add_in_loop(int* out, int n) {
  const int i = static_cast<int>(threadIdx.x);
  int sum = 0;
  for (int k = 0; k < 4; ++k) {
    if (i < n) {
      sum += k;
      __syncthreads();
    }
  }
  atomicAdd(out, sum);
}

constexpr int kEarly = __LINE__ + 3;
__global__ void add_or_leave(int* out, int n) {
  const int i = static_cast<int>(threadIdx.x);
  if (i >= n) return;
  __syncthreads();
  atomicAdd(out, i);
}

TEST(Messages, OfAThreadThatHasExitedByALineOfTheLibrarys) {
  Buffer<int> out(1);
  cudaMemset(out.data(), 0, sizeof(int));
  add_in_loop<<<1, 64>>>(out.data(), 40);
  expect({"thread (40,0,0) of block (0,0,0) has exited before the barrier at ", "within an `if`"});
  add_or_leave<<<1, 64>>>(out.data(), 40);
  const std::string place = "messages_test.cu:" + std::to_string(kEarly) + ", before the barrier";
  expect({"thread (40,0,0) of block (0,0,0) has exited, by the return at ", place.c_str()});
  add_in_loop<<<1, 64>>>(out.data(), 64);
  add_or_leave<<<1, 64>>>(out.data(), 64);
  EXPECT_EQ(said(), "");
}

// What the cure of a race between threads of a block is depends on how they race.
template <class T>
__device__ void count_up(T* bins, const int* bin, bool atomically) {
  if (atomically) {
    atomicAdd(&bins[bin[threadIdx.x]], 1);
  } else {
    bins[bin[threadIdx.x]]++;
  }
}

__global__ void histogram(const int* bin, int* out, bool atomically) {
  __shared__ int bins[64];
  bins[threadIdx.x] = 0;
  __syncthreads();
  count_up(bins, bin, atomically);
  __syncthreads();
  out[threadIdx.x] = bins[threadIdx.x];
}

__global__ void histogram_in_global_memory(const int* bin, int* out, bool atomically) {
  count_up(out, bin, atomically);
}

__device__ void smooth(int* a, bool in_two_steps) {
  const int i = static_cast<int>(threadIdx.x);
  if (!in_two_steps) {
    if (i > 0 && i < 63) a[i] = a[i - 1] + a[i] + a[i + 1];
    return;
  }
  const int sum = i > 0 && i < 63 ? a[i - 1] + a[i] + a[i + 1] : a[i];
  __syncthreads();
  a[i] = sum;
}

__global__ void smooth_shared(const int* in, int* out, bool in_two_steps) {
  __shared__ int a[64];
  a[threadIdx.x] = in[threadIdx.x];
  __syncthreads();
  smooth(a, in_two_steps);
  __syncthreads();
  out[threadIdx.x] = a[threadIdx.x];
}

__global__ void smooth_global(const int*, int* a, bool in_two_steps) { smooth(a, in_two_steps); }

__global__ void reverse(const int* in, int* out, bool wait) {
  __shared__ int a[64];
  a[threadIdx.x] = in[threadIdx.x];
  if (wait) __syncthreads();
  out[threadIdx.x] = a[63 - threadIdx.x];
}

// A lock keeps the others out, and tells nobody what it has seen.
template <bool shared>
__global__ void count_in_lock(const int*, int* out, bool fences) {
  __shared__ int lock, count;
  int* const sum = shared ? &count : out;
  if (threadIdx.x == 0) lock = count = 0;
  __syncthreads();
  for (bool done = false; !done;) {
    if (atomicExch(&lock, 1) != 0) continue;
    if (fences) __threadfence_block();
    *sum += 1;
    if (fences) __threadfence_block();
    atomicExch(&lock, 0);
    done = true;
  }
}

__device__ int mutex = 0;
__global__ void count_in_lock_of_all(const int*, int* out, bool fences) {
  if (threadIdx.x % 32 != 0) return;
  while (atomicCAS(&mutex, 0, 1) != 0) __nanosleep(20);
  if (fences) __threadfence();
  *out += 1;
  if (fences) __threadfence();
  atomicExch(&mutex, 0);
}

// What one iteration reads the next overwrites; all lanes of a warp write the same.
__global__ void sums_of_rows(const int* in, int* out, bool wait) {
  __shared__ int part[2];
  for (int row = 0; row < 2; ++row) {
    part[threadIdx.x / 32] = __reduce_add_sync(~0u, in[threadIdx.x] + row);
    __syncthreads();
    const int other = threadIdx.x % 32 < 2 ? part[threadIdx.x % 32] : 0;
    out[threadIdx.x] = __reduce_add_sync(~0u, other);
    if (wait) __syncthreads();
  }
}

TEST(Messages, OfARaceNameTheCureOfItsKind) {
  Buffer<int> in(64), out(64);
  std::vector<int> values(64);
  for (int i = 0; i < 64; ++i) values[i] = i * i % 31;
  const auto run = [&](void (*kernel)(const int*, int*, bool), bool fixed) {
    cudaMemcpy(in.data(), values.data(), 256, cudaMemcpyHostToDevice);
    cudaMemcpy(out.data(), values.data(), 256, cudaMemcpyHostToDevice);
    kernel<<<1, 64>>>(in.data(), out.data(), fixed);
  };
  struct {
    void (*kernel)(const int*, int*, bool);
    const char *kind, *cure;
  } const cases[] = {
      {histogram,
       "shared-race: ", "Let atomicAdd(), or another atomic function, do it in one step"},
      {histogram_in_global_memory, "global-race: ", "Let atomicAdd(), or another atomic function"},
      {smooth_shared, "shared-race: ", "changed in place while other threads still read"},
      {smooth_global, "global-race: ", "changed in place while other threads still read"},
      {reverse, "shared-race: ", "Usual cause: a missing __syncthreads()"},
      {sums_of_rows, "shared-race: ", "Usual cause: a missing __syncthreads()"},
      {count_in_lock<true>, "shared-race: ", "a lock without fences"},
      {count_in_lock<false>, "global-race: ", "a lock without fences"},
  };
  for (const auto& [kernel, kind, cure] : cases) {
    run(kernel, false);
    expect({kind, cure});
    run(kernel, true);
    EXPECT_EQ(said(), "");
  }
  for (const bool fences : {false, true}) {
    count_in_lock_of_all<<<8, 32>>>(in.data(), out.data(), fences);
    if (fences) {
      EXPECT_EQ(said(), "");
    } else {
      expect({"global-race: ", "a lock without fences"});
    }
  }
}

__global__ void add_sums_of_others(const int* in, int* sums, int* out, bool barrier) {
  if (!barrier) {
    if (threadIdx.x == 0) sums[blockIdx.x] = in[blockIdx.x];
    out[blockIdx.x] = sums[gridDim.x - 1 - blockIdx.x];
    return;
  }
  if (threadIdx.x == 0) sums[blockIdx.x] = in[blockIdx.x];
  __syncthreads();
  out[blockIdx.x] = sums[gridDim.x - 1 - blockIdx.x];
}

TEST(Messages, OfARaceBetweenBlocksNameABarrierThatIsBetween) {
  Buffer<int> in(2), sums(2), out(2);
  const std::vector<int> values{1, 2}, zeros(2);
  for (const bool barrier : {true, false}) {
    cudaMemcpy(in.data(), values.data(), 8, cudaMemcpyHostToDevice);
    cudaMemcpy(sums.data(), zeros.data(), 8, cudaMemcpyHostToDevice);
    add_sums_of_others<<<2, 1>>>(in.data(), sums.data(), out.data(), barrier);
    const std::string cause = barrier
                                  ? "Usual cause: a __syncthreads() that is meant for all blocks"
                                  : "Usual cause: an index that leaves out";
    expect({"global-race: ", cause.c_str()});
  }
}

__global__ void write_own(float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = 1;
}

// As many bytes as elements, whether one of 4 lies across the end or not.
TEST(Messages, OfASizeInElements) {
  for (const int n : {10007, 10000}) {
    Buffer<char> out(n);
    write_own<<<(n + 255) / 256, 256>>>(reinterpret_cast<float*>(out.data()), n);
    expect({"out-of-bounds: ",
            "Usual cause: an allocation whose size is a number of elements and not of bytes"});
  }
  // Bytes for each element, and no guard.
  Buffer<float> out(10007);
  write_own<<<40, 256>>>(out.data(), 10240);
  expect({"out-of-bounds: ", "Usual cause: a guard such as"});
}

TEST(Messages, OfMemoryThatIsNotTheKernels) {
  Buffer<int> out(1);
  const std::vector<int> host(1);
  read_at<<<1, 1>>>(host.data(), 0, out.data());
  expect({"device-access: ", "host memory", "data() of a std::vector"});
  int* freed = nullptr;
  cudaMalloc(&freed, 40);
  cudaFree(freed);
  read_at<<<1, 1>>>(freed, 0, out.data());
  expect({"use-after-free: ", "at the start of the 40-byte allocation",
          "freed before the last kernel"});
}

__global__ void read_pair(const char* in, double* out) {
  *out = *reinterpret_cast<const double*>(in);
}

TEST(Messages, OfMisalignment) {
  Buffer<char> in(64);
  Buffer<double> out(1);
  read_pair<<<1, 1>>>(in.data() + 12, out.data());
  expect({"misaligned-access: ", "not a multiple of 8 bytes, 12 bytes into the 64-byte",
          "cast after it was moved"});
}

__global__ void shift(int* out, int bytes) {
  extern __shared__ int dynamic[];
  __shared__ int fixed[32];
  int* const tile = bytes ? dynamic : fixed;
  tile[threadIdx.x] = threadIdx.x;
  out[threadIdx.x] = tile[threadIdx.x ^ 1];
}

TEST(Messages, OfARaceNameTheArray) {
  Buffer<int> out(64);
  shift<<<1, 32>>>(out.data(), 0);
  expect(
      {"shared-race: ", "both touch fixed in shared memory, byte 4, and nothing orders the two"});
  shift<<<1, 32, 128>>>(out.data(), 128);
  expect({"both touch byte 4 of the dynamic shared memory"});
}

TEST(Messages, OfDynamicSharedMemorySayHowMuchThereIs) {
  Buffer<int> out(64);
  shift<<<1, 32, 64>>>(out.data(), 64);
  expect({"byte 64 of the block's dynamic shared memory, which has 64 bytes",
          "third argument of <<<>>>"});
}

__device__ int counter;

__global__ void count_badly() {
  if (threadIdx.x == 0) counter = counter + 1 + blockIdx.x;
}

TEST(Messages, OfRacesBetweenBlocksNameTheVariable) {
  count_badly<<<4, 32>>>();
  expect({"global-race: ", "the __device__ variable counter"});
}

__global__ void vote_or_meet(int* out, bool faulty) {
  if (!faulty || threadIdx.x < 8) out[threadIdx.x] = __ballot_sync(0xffffffffu, 1) != 0;
  __syncthreads();
}

TEST(Messages, OfAMaskWhoseLanesWaitAtABarrier) {
  Buffer<int> out(32);
  vote_or_meet<<<1, 32>>>(out.data(), true);
  expect({"barrier-divergence: ", "calls a warp function at ", "with the mask 0xffffffff",
          "thread (8,0,0) of the same block waits at the barrier"});
  vote_or_meet<<<1, 32>>>(out.data(), false);
  EXPECT_EQ(said(), "");
}

// One line is several instructions.
__global__ void add_up(const int* in, int* out, int n) {
  int sums[4] = {};
  for (int i = 0; i < n; ++i) sums[i] += in[i];
  *out = sums[0] + sums[1] + sums[2] + sums[3];
}

__global__ void copy_all(const int* in, int* out) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = in[i];
}

// However the blocks were spread over the CPUs.
TEST(Messages, SayHowOftenOfAllBlocks) {
  int* in = nullptr;
  cudaMalloc(&in, 64 * 128 * sizeof(int));
  Buffer<int> out(64 * 128);
  cudaMemset(in, 0, sizeof(int));
  copy_all<<<128, 64>>>(in, out.data());
  expect({"uninitialized-global: ", "block (0,0,0), thread (1,0,0) (and 8190 times more)"});
  cudaMemset(in, 0, 64 * 128 * sizeof(int));
  copy_all<<<128, 64>>>(in, out.data());
  EXPECT_EQ(said(), "");
  cudaFree(in);
}

TEST(Messages, AreToldOnce) {
  Buffer<int> in(8), out(1);
  add_up<<<1, 1>>>(in.data(), out.data(), 5);
  expect({"out-of-bounds: index 4 of an array of type 'int [4]'"});
  add_up<<<1, 1>>>(in.data(), out.data(), 4);
  EXPECT_EQ(said(), "");
}

// In a kernel that comes again, too; but each launch is on record.
TEST(Messages, AreToldOnceForManyLaunches) {
  Buffer<int> out(64);
  const size_t first = simt::launch_count();
  for (int i = 0; i < 3; ++i) shift<<<1, 32>>>(out.data(), 0);
  expect({"shared-race: "});
  for (size_t i = first; i < first + 3; ++i) EXPECT_EQ(simt::launch(i).findings.size(), 1u);
  shift<<<1, 32>>>(out.data(), 0);  // those before have been taken
  expect({"shared-race: "});
}

__global__ void copy_tile(const float* in, float* out, int kept) {
  __shared__ float tile[2][64];
  for (int part = 0; part < 2; ++part) {
    __pipeline_memcpy_async(&tile[part][threadIdx.x], &in[64 * part + threadIdx.x], 4);
    __pipeline_commit();
  }
  if (kept == 1) __pipeline_wait_prior(1);
  if (kept == 0) __pipeline_wait_prior(0);
  __syncthreads();
  out[threadIdx.x] = tile[0][63 - threadIdx.x] + (kept == 1 ? 0 : tile[1][63 - threadIdx.x]);
  __pipeline_wait_prior(0);
}

TEST(Messages, OfACopyThatNobodyWaitsFor) {
  Buffer<float> in(128), out(64);
  copy_tile<<<2, 64>>>(in.data(), out.data(), 2);
  expect({"uninitialized-shared: read of 4 bytes", "the asynchronous copy at ",
          "tile in shared memory", "has not arrived. No wait comes before this read",
          "__pipeline_wait_prior(0)"});
  for (const int kept : {1, 0}) copy_tile<<<2, 64>>>(in.data(), out.data(), kept);
  EXPECT_EQ(said(), "");
}

enum class Flaw { none, wait, commit, barrier };

__global__ void copy_two(const float* in, float* out, Flaw flaw) {
  __shared__ float tile[2][64];
  const unsigned t = threadIdx.x;
  __pipeline_memcpy_async(&tile[0][t], &in[t], 4);
  __pipeline_commit();
  __pipeline_memcpy_async(&tile[1][t], &in[64 + t], 4);
  if (flaw != Flaw::commit) __pipeline_commit();
  if (flaw == Flaw::barrier) __syncthreads();
  if (flaw == Flaw::wait) {
    __pipeline_wait_prior(2);
  } else {
    __pipeline_wait_prior(0);
  }
  if (flaw != Flaw::barrier) __syncthreads();
  out[t] = tile[0][63 - t] + (flaw == Flaw::wait ? 0 : tile[1][63 - t]);
}

TEST(Messages, OfAnEarlyReadOfACopyNameTheCure) {
  Buffer<float> in(128), out(64);
  copy_two<<<1, 64>>>(in.data(), out.data(), Flaw::none);
  EXPECT_EQ(said(), "");
  copy_two<<<1, 64>>>(in.data(), out.data(), Flaw::wait);
  expect({"The wait at ", "leaves this copy under way: it has to be __pipeline_wait_prior(1)"});
  copy_two<<<1, 64>>>(in.data(), out.data(), Flaw::commit);
  expect({"It belongs to no group yet", "__pipeline_commit()"});
  copy_two<<<1, 64>>>(in.data(), out.data(), Flaw::barrier);
  expect({"waits for its own copies alone, at ", "a __syncthreads() between the wait and this"});
}

// Warp 2 copies for the others, and an mbarrier tells them of it.
enum class Arrival { behind_copies, behind_wait, at_once, of_one_lane };

template <Arrival how>
__global__ void copy_for_others(const float* in, float* out) {
  __shared__ float tile[64];
  __shared__ std::uint64_t full;
  const unsigned t = threadIdx.x;
  const auto barrier = static_cast<unsigned>(__cvta_generic_to_shared(&full));
  if (t == 0)
    asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(barrier),
                 "r"(how < Arrival::of_one_lane ? 32 : 1)
                 : "memory");
  __syncthreads();
  if (t >= 64) {
    for (unsigned i = t % 32; i < 64; i += 32) __pipeline_memcpy_async(&tile[i], &in[i], 4);
    __syncwarp();
    if (how == Arrival::behind_copies) {
      asm volatile("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];" ::"r"(barrier) : "memory");
      return;
    }
    if (how == Arrival::behind_wait) asm volatile("cp.async.wait_all;" ::: "memory");
    if (how < Arrival::of_one_lane || t == 64)
      asm volatile("mbarrier.arrive.shared.b64 _, [%0];" ::"r"(barrier) : "memory");
    return;
  }
  unsigned done = 0;
  while (!done)
    asm volatile(
        "{\n.reg .pred p;\nmbarrier.try_wait.parity.shared.b64 p, [%1], 0;\n"
        "selp.u32 %0, 1, 0, p;\n}"
        : "=r"(done)
        : "r"(barrier)
        : "memory");
  out[t] = tile[63 - t];
}

TEST(Messages, OfCopiesThatAnMbarrierTellsOfTooEarlyNameTheArrival) {
  Buffer<float> in(64), out(64);
  copy_for_others<Arrival::behind_copies><<<1, 96>>>(in.data(), out.data());
  copy_for_others<Arrival::behind_wait><<<1, 96>>>(in.data(), out.data());
  EXPECT_EQ(said(), "");
  for (const auto kernel :
       {&copy_for_others<Arrival::at_once>, &copy_for_others<Arrival::of_one_lane>}) {
    kernel<<<1, 96>>>(in.data(), out.data());
    expect({"uninitialized-shared: read of 4 bytes", "The arrival at ", "does not wait for it",
            "cp.async.mbarrier.arrive.noinc", "ahead of the arrival"});
  }
}

// ---- The host and device memory -----------------------------------------------------------------

TEST(Messages, OfTheStandardLibraryNameTheProgramsLine) {
  Buffer<int> data(200);
  std::sort(data.data(), data.data() + 200);
  expect({"host-access: ", "messages_test.cu:", "the 800-byte allocation"});
  const volatile size_t n = 200;
  const std::vector<int> copy(data.data(), data.data() + n);
  expect({"host-access: the host reads ", "messages_test.cu:"});
  std::vector<int> host(200);
  cudaMemcpy(host.data(), data.data(), 800, cudaMemcpyDeviceToHost);
  std::sort(host.begin(), host.end());
  const std::vector<int> other(host.data(), host.data() + n);
  EXPECT_EQ(said(), "");
}

TEST(Messages, OfWhatTheHostWroteAreNoneOfUnwrittenMemory) {
  Buffer<int> out(1);
  int* in = nullptr;
  cudaMalloc(&in, 4);
  *in = 1;
  expect({"host-access: the host writes 4 bytes"});
  read_at<<<1, 1>>>(in, 0, out.data());
  EXPECT_EQ(said(), "");
  cudaFree(in);
}

}  // namespace
