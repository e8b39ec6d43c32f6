// ## What only a GPU can show
//
// `hide_latency` measures how many independent instructions a scheduler needs (section 8), `register_banks` what an FMA's
// registers cost (section 7), `clock_under_load` how fast the clock is (section 11). `stall_reasons` has a kernel for each
// reason of section 12.

#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <initializer_list>
#include <list>
#include <string>
#include <vector>

#include "lab/lab.h"

/// FMAs in CHAINS independent chains per thread.
///
/// @param out   of each thread of the grid; written: its number, CHAINS times
/// @param steps FMAs of each chain, a multiple of 16
/// @param one   1, unknown to the compiler
/// @param zero  0, likewise
///
/// Launch: one block per SM.
template <int CHAINS>
__global__ void __launch_bounds__(1024)
    hide_latency(float* out, unsigned steps, float one, float zero) {
  const unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
  float x[CHAINS];
  for (int j = 0; j < CHAINS; ++j) x[j] = static_cast<float>(thread);
#pragma unroll 1
  for (unsigned i = 0; i < steps; i += 16) {
#pragma unroll
    for (int k = 0; k < 16; ++k) {
#pragma unroll
      for (int j = 0; j < CHAINS; ++j) x[j] = fmaf(x[j], one, zero);
    }
  }
  float sum = 0;
  for (int j = 0; j < CHAINS; ++j) sum += x[j];
  out[thread] = sum;
}

/// `hide_latency` with so many chains.
struct Chains {
  int count;
  void (*kernel)(float* out, unsigned steps, float one, float zero);
};
constexpr Chains CHAINS[] = {{1, hide_latency<1>}, {2, hide_latency<2>}, {4, hide_latency<4>}};

/// Which registers the FMAs of `register_banks` read: two, whose numbers differ by 1, 2 or 0 modulo 4; or three, of which two
/// are even or odd alike, for 128 FMAs or in turn, or all three.
enum class Reads { two_by_1, two_by_2, two_by_0, three, three_in_turn, three_alike };

constexpr unsigned SUMS = 32;           ///< of a thread of register_banks
constexpr unsigned FMAS_OF_STEP = 256;  ///< of a thread

/// Sums of products whose registers the source chooses: the floats of a 16-byte load lie in four registers in a row, the
/// first of which has a number that is a multiple of four. What nvcc makes of it is bound in section 7.
///
/// Where two are read, an element of `a` stays the same for 16 FMAs, in the reuse cache, and what is left to be read are an element
/// of `b` and the sum. Where three are read, nothing is reused.
///
/// @param out   (threads, SUMS / 4); written: 1 + steps FMAS_OF_STEP / SUMS in each float
/// @param ones  (16, blockDim.x), each float 1
///
/// Launch: one block per SM.
template <Reads READS>
__global__ void __launch_bounds__(512, 1)
    register_banks(float4* out, const float4* ones, unsigned steps) {
  const unsigned t = threadIdx.x;
  float sums[SUMS], a[16], b[16];
  const auto load = [&](float* to, unsigned row) {
    const float4 four = ones[row * blockDim.x + t];
    to[0] = four.x;
    to[1] = four.y;
    to[2] = four.z;
    to[3] = four.w;
  };
#pragma unroll
  for (unsigned i = 0; i < SUMS; i += 4) load(sums + i, i / 4);
#pragma unroll
  for (unsigned i = 0; i < 16; i += 4) {
    load(a + i, 8 + i / 4);
    load(b + i, 12 + i / 4);
  }
#pragma unroll 1
  for (unsigned step = 0; step < steps; ++step) {
#pragma unroll
    for (unsigned x = 0; x < FMAS_OF_STEP; ++x) {
      const unsigned odd = READS == Reads::three_in_turn ? x % 2 : x / 128, of_run = x % 16;
      const unsigned sum = READS == Reads::three_in_turn ? x % SUMS : 2 * of_run + odd;
      if constexpr (READS >= Reads::three) {
        const unsigned odd_a = READS == Reads::three_alike ? odd : 1 - odd;
        sums[sum] = fmaf(a[6 * x % 16 + odd_a], b[10 * x % 16 + odd], sums[sum]);
      } else {
        constexpr unsigned apart = READS == Reads::two_by_1 ? 1 : READS == Reads::two_by_2 ? 2 : 0;
        const unsigned of_a = x / 16 % 8 * 2 + 1 - odd;
        sums[sum] = fmaf(a[of_a], b[of_run / 4 * 4 + (sum % 4 ^ apart)], sums[sum]);
      }
    }
  }
#pragma unroll
  for (unsigned i = 0; i < SUMS; i += 4)
    out[(blockIdx.x * blockDim.x + t) * (SUMS / 4) + i / 4] =
        make_float4(sums[i], sums[i + 1], sums[i + 2], sums[i + 3]);
}

/// `register_banks` with the registers of one kind.
struct Banked {
  const char* reads;
  void (*kernel)(float4* out, const float4* ones, unsigned steps);
};
constexpr Banked BANKED[] = {{"two, 1 apart", register_banks<Reads::two_by_1>},
                             {"two, 2 apart", register_banks<Reads::two_by_2>},
                             {"two, 4 apart", register_banks<Reads::two_by_0>},
                             {"three", register_banks<Reads::three>},
                             {"three, in turn", register_banks<Reads::three_in_turn>},
                             {"three alike", register_banks<Reads::three_alike>}};

/// The stall reasons that a kernel is made for.
enum class Stall {
  long_scoreboard,
  short_scoreboard,
  mio_throttle,
  lg_throttle,
  barrier,
  membar,
  wait,
  math_pipe_throttle,
  not_selected,
  branch_resolving,
  no_instruction,
  sleeping
};

constexpr unsigned STALL_WORDS = 1024;  ///< of the table that the loads walk through

/// What a kernel calls for the sake of the call.
__device__ __noinline__ void do_nothing() { asm volatile(""); }

/// Does one thing again and again, so that its warps wait for one reason.
///
/// @param out   a word for each thread of the grid; written: 1
/// @param table STALL_WORDS words, all 0
/// @param steps how often
/// @param one   1, unknown to the compiler
///
/// Launch: blocks of one dimension, a multiple of 32 threads.
template <Stall REASON>
__global__ void __launch_bounds__(1024)
    stall_reasons(std::uint32_t* out, volatile std::uint32_t* table, unsigned steps, unsigned one) {
  __shared__ std::uint32_t words[STALL_WORDS];
  const unsigned t = threadIdx.x, thread = blockIdx.x * blockDim.x + t;
  for (unsigned i = t; i < STALL_WORDS; i += blockDim.x) words[i] = 0;
  __syncthreads();  // the words are here
  volatile std::uint32_t* const shared = words;
  std::uint32_t x = t * (one - 1);  // 0, and stays so
  float y[8];
  for (float& each : y) each = static_cast<float>(one - 1);
#pragma unroll 1
  for (unsigned i = 0; i < steps; ++i) {
    if constexpr (REASON == Stall::long_scoreboard) {  // a load whose address is the load before
      x = table[(x + 32 * i + t) % STALL_WORDS];
    } else if constexpr (REASON == Stall::short_scoreboard) {
#pragma unroll
      for (int k = 0; k < 16; ++k) x = shared[x];
    } else if constexpr (REASON == Stall::mio_throttle) {  // more LDS than the queue holds
#pragma unroll
      for (unsigned k = 0; k < 16; ++k) x |= shared[(32 * t + k) % STALL_WORDS];
    } else if constexpr (REASON == Stall::lg_throttle) {  // 32 sectors each
#pragma unroll
      for (unsigned k = 0; k < 16; ++k) x |= table[(32 * t + k) % STALL_WORDS];
    } else if constexpr (REASON == Stall::barrier) {  // 31 warps wait for one
      if (t < 32) {
#pragma unroll 1
        for (int k = 0; k < 64; ++k) x = shared[(x + t) % STALL_WORDS];
      }
      __syncthreads();  // the first warp is through
    } else if constexpr (REASON == Stall::membar) {
      out[thread] = i;
      __threadfence();
    } else if constexpr (REASON == Stall::wait) {  // one warp, one chain
#pragma unroll
      for (int k = 0; k < 16; ++k) y[0] = fmaf(y[0], static_cast<float>(one), y[0]);
    } else if constexpr (REASON == Stall::math_pipe_throttle) {  // half as fast as a warp can issue
#pragma unroll
      for (int k = 0; k < 64; ++k) x = (x & one) ^ (x >> 1);
    } else if constexpr (REASON == Stall::not_selected) {  // 16 warps, and all could
#pragma unroll
      for (int k = 0; k < 64; ++k) y[k % 8] = fmaf(y[k % 8], static_cast<float>(one), y[k % 8]);
    } else if constexpr (REASON == Stall::branch_resolving) {  // there and back, 16 times
#pragma unroll
      for (int k = 0; k < 16; ++k) do_nothing();
    } else if constexpr (REASON == Stall::no_instruction) {  // more code than the caches hold
#pragma unroll
      for (int k = 0; k < 12288; ++k) y[k % 8] = fmaf(y[k % 8], static_cast<float>(one), y[k % 8]);
    } else {
      __nanosleep(100);
    }
  }
  float sum = 0;
  for (const float one_of_them : y) sum += one_of_them;
  out[thread] = x == 0 && sum == 0 ? 1 : 2;
}

/// `stall_reasons` for one reason, and the grid in which its warps wait for that.
struct Waiting {
  const char* reason;
  void (*kernel)(std::uint32_t* out, volatile std::uint32_t* table, unsigned steps, unsigned one);
  unsigned threads, blocks_per_sm, steps;
};
constexpr Waiting WAITING[] = {
    {"long_scoreboard", stall_reasons<Stall::long_scoreboard>, 128, 1, 4096},
    {"short_scoreboard", stall_reasons<Stall::short_scoreboard>, 128, 1, 4096},
    {"mio_throttle", stall_reasons<Stall::mio_throttle>, 1024, 2, 64},
    {"lg_throttle", stall_reasons<Stall::lg_throttle>, 1024, 2, 64},
    {"barrier", stall_reasons<Stall::barrier>, 1024, 1, 256},
    {"membar", stall_reasons<Stall::membar>, 128, 1, 1024},
    {"wait", stall_reasons<Stall::wait>, 128, 1, 16384},
    {"math_pipe_throttle", stall_reasons<Stall::math_pipe_throttle>, 1024, 2, 1024},
    {"not_selected", stall_reasons<Stall::not_selected>, 1024, 2, 1024},
    {"branch_resolving", stall_reasons<Stall::branch_resolving>, 128, 1, 4096},
    {"no_instruction", stall_reasons<Stall::no_instruction>, 128, 1, 64},
    {"sleeping", stall_reasons<Stall::sleeping>, 128, 1, 256},
};

/// What the units do while the cycles of clock_under_load pass.
enum class Load { none, fma, memory };

/// What a block saw of its SM's clock.
struct Ticks {
  long long cycles;         ///< of the SM
  unsigned long long time;  ///< in nanoseconds
};

/// Lets `cycles` of the SM's clock pass, under a load.
///
/// @param ticks  of each block; written
/// @param sink   a float for each thread of the grid; written
/// @param in     read by the load on the memory
/// @param count  how many there are of them, 1 at least
/// @param one    1
///
/// Launch: two blocks of 1024 threads per SM.
template <Load LOAD>
__global__ void __launch_bounds__(1024)
    clock_under_load(Ticks* ticks, float* sink, const float4* in, std::size_t count,
                     long long cycles, float one) {
  const std::size_t thread = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  const std::size_t all = std::size_t{gridDim.x} * blockDim.x;
  float x[8];
  for (int j = 0; j < 8; ++j) x[j] = static_cast<float>(j);
  unsigned long long begin_time = 0, end_time = 0;
  const long long begin = clock64();
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(begin_time));
  const std::size_t first = thread % count;
  std::size_t at = first;
  while (clock64() - begin < cycles) {
    if constexpr (LOAD == Load::fma) {
#pragma unroll
      for (int k = 0; k < 512; ++k) x[k % 8] = fmaf(x[k % 8], one, x[(k + 1) % 8]);
    } else if constexpr (LOAD == Load::memory) {
#pragma unroll
      for (int k = 0; k < 8; ++k) {
        x[k] += __ldcs(in + at).x;
        at = at + all < count ? at + all : first;
      }
    }
  }
  const long long end = clock64();
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(end_time));
  float sum = 0;
  for (const float part : x) sum += part;
  sink[thread] = sum;
  if (threadIdx.x == 0) ticks[blockIdx.x] = {end - begin, end_time - begin_time};
}

/// `clock_under_load` with one load.
struct Loaded {
  const char* variant;
  void (*kernel)(Ticks* ticks, float* sink, const float4* in, std::size_t count, long long cycles,
                 float one);
};
constexpr Loaded LOADED[] = {{"load=none", clock_under_load<Load::none>},
                             {"load=fma", clock_under_load<Load::fma>},
                             {"load=memory", clock_under_load<Load::memory>}};

namespace {

/// `hide_latency` with so many warps for each of an SM's four schedulers.
struct Latency {
  const Chains chains;
  const unsigned warps, steps;
  const unsigned blocks = lab::multiprocessors(), threads = 4 * 32 * warps;
  lab::DeviceBuffer<float> out{blocks * threads, "out"};

  void launch() { chains.kernel<<<blocks, threads>>>(out.data(), steps, 1.0f, 0.0f); }
  std::vector<lab::Expectation> outputs() {
    const int count = chains.count;
    return {lab::expect(
        out, [=] __host__ __device__(std::size_t i) { return static_cast<float>(count * i); })};
  }
  std::string variant() const { return lab::format("warps=%u, chains=%d", warps, chains.count); }
  lab::Rung rung() const {
    return {.flops = 2.0 * chains.count * steps * blocks * threads, .limit = lab::Limit::fp32};
  }
};

/// `register_banks` with so many warps for each of an SM's four schedulers.
struct Banks {
  const Banked banked;
  const unsigned warps, steps;
  const unsigned blocks = lab::multiprocessors(), threads = 4 * 32 * warps;
  lab::DeviceBuffer<float> ones{std::vector<float>(std::size_t{64} * threads, 1.0f), "ones"};
  lab::DeviceBuffer<float> out{std::size_t{blocks} * threads * SUMS, "out"};

  void launch() {
    banked.kernel<<<blocks, threads>>>(reinterpret_cast<float4*>(out.data()),
                                       reinterpret_cast<const float4*>(ones.data()), steps);
  }
  std::vector<lab::Expectation> outputs() {
    const auto sum = static_cast<float>(1 + steps * (FMAS_OF_STEP / SUMS));
    return {lab::expect(out, [=] __host__ __device__(std::size_t) { return sum; })};
  }
  std::string variant() const { return lab::format("reads=%s, warps=%u", banked.reads, warps); }
  lab::Rung rung() const {
    return {.flops = 2.0 * FMAS_OF_STEP * steps * blocks * threads, .limit = lab::Limit::fp32};
  }
};

/// One of each of some kernels, with each of these numbers of warps for a scheduler.
template <class T, class Kernel, std::size_t COUNT>
std::list<T> with_warps(const Kernel (&kernels)[COUNT], std::initializer_list<unsigned> all,
                        unsigned steps) {
  std::list<T> made;
  for (const unsigned warps : all)
    for (const Kernel& kernel : kernels) made.emplace_back(kernel, warps, steps);
  return made;
}

/// `stall_reasons` for one reason.
struct Stalls {
  const Waiting waiting;
  const bool full;  ///< a run that times
  const unsigned steps = full ? waiting.steps : 1 + waiting.steps / 64;
  const unsigned blocks = waiting.blocks_per_sm * lab::multiprocessors();
  lab::DeviceBuffer<std::uint32_t> table{STALL_WORDS, "table"};
  lab::DeviceBuffer<std::uint32_t> out{blocks * waiting.threads, "out"};

  void prepare() { table.zero(); }
  void launch() { waiting.kernel<<<blocks, waiting.threads>>>(out.data(), table.data(), steps, 1); }
  std::vector<lab::Expectation> outputs() {
    return {lab::expect(out, [] __host__ __device__(std::size_t) { return std::uint32_t{1}; })};
  }
};

/// `clock_under_load` with one load.
struct Clock {
  static constexpr unsigned threads = 1024;
  const Loaded load;
  const bool full;  ///< a run that times
  const long long cycles = full ? 20'000'000 : 20'000;
  const unsigned blocks = 2 * lab::multiprocessors();
  lab::DeviceBuffer<float4> in{std::size_t{1} << (full ? 26 : 10), "in"};  // larger than L2 if full
  lab::DeviceBuffer<Ticks> ticks{blocks, "ticks"};
  lab::DeviceBuffer<float> sink{std::size_t{blocks} * threads, "sink"};

  void prepare() { in.zero(); }
  void launch() {
    load.kernel<<<blocks, threads>>>(ticks.data(), sink.data(), in.data(), in.size(), cycles, 1.0f);
  }
  std::vector<lab::Expectation> outputs() { return {lab::on_the_way(ticks)}; }

  /// Whether each block let the cycles pass, and not many more.
  lab::Comparison verify() const {
    const std::vector<Ticks> seen = ticks.download();
    // A short spin takes much longer under a tool that instruments or replays the kernel.
    const long long most = cycles * (full ? 4 : 10'000);
    const bool all = std::all_of(seen.begin(), seen.end(), [&](const Ticks& one) {
      return one.cycles >= cycles && one.cycles < most;
    });
    return lab::verdict(all, "a block did not let the cycles pass");
  }

  /// Prints the clock, every tenth of a second for a second; of a short run, what it was.
  void show() {
    std::printf(full ? "  MHz, while a second passes:" : "  MHz:");
    double passed = 0;
    int printed = 0;
    do {
      if (full) launch();
      CUDA_CHECK(cudaDeviceSynchronize());
      const Ticks first = ticks.download()[0];
      passed += static_cast<double>(first.time);
      if (passed >= 1e8 * printed) {
        std::printf(" %.0f",
                    1e3 * static_cast<double>(first.cycles) / static_cast<double>(first.time));
        ++printed;
      }
    } while (full && passed < 1e9);
    std::printf("\n");
  }
};

void add_microbenchmarks(lab::Map<float>& map) {
  // A small n means a run that counts or checks, not one that times.
  const bool full = map.n >= std::size_t{1} << 24;
  for (Latency& one : with_warps<Latency>(CHAINS, {1, 2, 4, 8}, full ? 1u << 18 : 1u << 8))
    map.ladder().add("hide_latency", one.variant(), one, one.rung());
  for (Banks& one : with_warps<Banks>(BANKED, {1, 2, 4}, full ? 1u << 13 : 1u << 4))
    map.ladder().add("register_banks", one.variant(), one, one.rung());
  for (const Waiting& one : WAITING)
    map.ladder().add("stall_reasons", one.reason, Stalls{one, full});
  for (const Loaded& one : LOADED)
    map.ladder().add("clock_under_load", one.variant, Clock{one, full});
}

const lab::Rungs here(add_microbenchmarks);

}  // namespace
