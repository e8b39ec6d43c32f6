// What of chapter 02 only a GPU can show: the latency and the bandwidth of its memories.

#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <numeric>
#include <type_traits>
#include <utility>
#include <vector>

#include "lab/lab.h"

/// The places that are measured.
enum class Place { registers, shared, constant, constant_scattered, l1, l2, memory };

/// Words in constant memory: 1 KiB, which the smallest of its caches holds.
constexpr unsigned constant_words = 256;
__constant__ std::uint32_t constant_table[constant_words];

/// One link of a chain: the next value of `at` is known only when this one is.
///
/// @param at   a float for registers; for shared memory an address there; for constant memory bytes
///             from the start of the table; else an address in global memory
/// @param one  1, which the compiler cannot know
/// @return what lies there, or for registers at * one + 0
template <Place place, class At>
__device__ __forceinline__ At follow(At at, float one) {
  if constexpr (place == Place::registers) {
    asm volatile("fma.rn.f32 %0, %0, %1, %2;" : "+f"(at) : "f"(one), "f"(0.0f));
  } else if constexpr (place == Place::shared) {
    asm volatile("ld.shared.u32 %0, [%0];" : "+r"(at)::"memory");
  } else if constexpr (place == Place::constant) {
    at =
        *reinterpret_cast<const std::uint32_t*>(reinterpret_cast<const char*>(constant_table) + at);
  } else if constexpr (place == Place::l1) {
    asm volatile("ld.global.ca.u64 %0, [%0];" : "+l"(at)::"memory");
  } else {
    asm volatile("ld.global.cg.u64 %0, [%0];" : "+l"(at)::"memory");  // past L1
  }
  return at;
}

/// Follows a chain of loads, or of FMAs, one after the other.
///
/// @param end     where the chain led to; written
/// @param cycles  clock cycles of the SM that it took; written
/// @param at      where the chain begins: see follow; for shared memory not looked at
/// @param offsets for shared memory: a chain of offsets in bytes, each that of the next one
/// @param words   words of that chain
/// @param links   length of the walk, a multiple of 16
/// @param one     1
///
/// Launch: one block of one thread, with 4 * words bytes of dynamic shared memory.
/// Idea: the pointer chase of lmbench (McVoy and Staelin, 1996).
template <Place place, class At>
__global__ void memory_latency(At* end, long long* cycles, At at, const std::uint32_t* offsets,
                               unsigned words, unsigned links, float one) {
  extern __shared__ std::uint32_t chain[];
  if constexpr (place == Place::shared) {
    at = static_cast<std::uint32_t>(__cvta_generic_to_shared(chain));
    for (unsigned i = 0; i < words; ++i) chain[i] = at + offsets[i];
  }
  const At begin = at;

  const long long start = clock64();
#pragma unroll 1
  for (unsigned i = 0; i < links; i += 16) {
#pragma unroll
    for (int j = 0; j < 16; ++j) at = follow<place>(at, one);
  }
  *end = place == Place::registers ? at : at - begin;
  *cycles = clock64() - start;
}

/// All threads read as much as they can and add it up, bits as unsigned integers.
///
/// @param sums    one word for each thread of the grid; written
/// @param in      uint4s in global memory: 1024 for shared and l1
/// @param count   how many there are
/// @param iterations  of each thread, a multiple of 8: through its share of `in` for l2 and
///                memory; over `iterations` words for constant memory, else over `iterations` uint4s
/// @param one     1
///
/// Launch: one dimension, blocks of 1024 threads, with 16 KiB of dynamic shared memory for shared.
template <Place place>
__global__ void __launch_bounds__(1024)
    memory_bandwidth(std::uint32_t* sums, const uint4* in, std::size_t count, unsigned iterations,
                     float one) {
  extern __shared__ uint4 tile[];
  const std::size_t thread = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  const unsigned t = threadIdx.x;
  std::uint32_t sum = 0;
  const auto add = [&](const uint4& four) { sum += four.x + four.y + four.z + four.w; };

  if constexpr (place == Place::registers) {
    float x[8];
    for (int j = 0; j < 8; ++j) x[j] = one * static_cast<float>(j + 1);  // each a chain of its own
    for (unsigned r = 0; r < iterations; r += 8) {
#pragma unroll
      for (int j = 0; j < 64; ++j) x[j % 8] = fmaf(x[j % 8], one, one - one);
    }
    for (int j = 0; j < 8; ++j) sum += static_cast<std::uint32_t>(x[j]);
  } else if constexpr (place == Place::shared) {
    tile[t] = in[t];
    __syncthreads();
#pragma unroll 8
    for (unsigned r = 0; r < iterations; ++r) add(tile[(t + 33 * r) % 1024]);
  } else if constexpr (place == Place::l1) {
#pragma unroll 8
    for (unsigned r = 0; r < iterations; ++r) add(__ldca(in + (t + 33 * r) % 1024));
  } else if constexpr (place == Place::constant) {
#pragma unroll 8
    for (unsigned r = 0; r < iterations; ++r)
      sum += constant_table[(r + blockIdx.x) % constant_words];
  } else if constexpr (place == Place::constant_scattered) {
#pragma unroll 8
    for (unsigned r = 0; r < iterations; ++r) sum += constant_table[(r + t) % constant_words];
  } else {
    const std::size_t step = std::size_t{gridDim.x} * blockDim.x;
    for (unsigned r = 0; r < iterations; ++r) {
#pragma unroll 4
      for (std::size_t i = thread; i < count; i += step) {
        add(place == Place::l2 ? __ldcg(in + i) : __ldcs(in + i));
      }
    }
  }
  sums[thread] = sum;
}

namespace {

/// A cycle through `count` places in random order, `step` apart: entry i leads to the next place.
std::vector<std::uint32_t> cycle(std::size_t count, std::uint32_t step, std::uint64_t seed) {
  std::vector<std::uint32_t> order(count), next(count);
  std::iota(order.begin(), order.end(), 0u);
  for (std::size_t i = count - 1; i > 0; --i) {
    std::swap(order[i], order[lab::random_bits(seed, i) % (i + 1)]);
  }
  for (std::size_t i = 0; i < count; ++i) next[order[i]] = order[(i + 1) % count] * step;
  return next;
}

/// Where a walk along a cycle ends.
std::uint64_t walk(const std::vector<std::uint32_t>& next, std::uint32_t step, unsigned links) {
  std::uint64_t at = 0;
  for (unsigned i = 0; i < links; ++i) at = next[at / step];
  return at;
}

/// A walk along a chain through one of the memories, and what the kernel notes down of it.
template <Place place>
class Walk {
  static constexpr bool global = place == Place::l1 || place == Place::l2 || place == Place::memory;
  using Address = std::conditional_t<global, std::uint64_t, std::uint32_t>;
  using At = std::conditional_t<place == Place::registers, float, Address>;  // see follow

 public:
  /// \param bytes  of the chain, which has one link for each line of 128 bytes, but where there are no lines
  Walk(std::size_t bytes, unsigned links, std::uint64_t seed) : links_(links) {
    constexpr std::uint32_t step = global ? 128 : 4;
    if (place == Place::registers) return;
    const std::vector<std::uint32_t> next = cycle(bytes / step, step, seed);
    goal_ = static_cast<At>(walk(next, step, links));
    if constexpr (global) {
      memory_ = lab::DeviceBuffer<std::uint64_t>(bytes / sizeof(std::uint64_t), "chain");
      const auto base = reinterpret_cast<std::uint64_t>(memory_.data());
      std::vector<std::uint64_t> addresses(memory_.size(), 0);
      for (std::size_t i = 0; i < next.size(); ++i) {
        addresses[i * step / sizeof(std::uint64_t)] = base + next[i];
      }
      memory_.upload(addresses);
      begin_ = base;
    } else {
      offsets_ = lab::DeviceBuffer<std::uint32_t>(next, "offsets");
      begin_ = 0;
      if (place == Place::constant) {
        CUDA_CHECK(cudaMemcpyToSymbol(constant_table, next.data(), 4 * next.size()));
      }
    }
  }

  void launch() {
    const auto words = static_cast<unsigned>(offsets_.size());
    memory_latency<place, At><<<1, 1, 4 * words>>>(end_.data(), cycles_.data(), begin_,
                                                   offsets_.data(), words, links_, 1.0f);
  }

  /// Where it has to end.
  std::vector<lab::Expectation> outputs() { return {lab::expect(end_, std::vector<At>{goal_})}; }

  void show() const {
    std::printf("  %.1f cycles each, of %u\n", static_cast<double>(cycles_.download()[0]) / links_,
                links_);
  }

 private:
  unsigned links_;
  lab::DeviceBuffer<std::uint64_t> memory_{0, "chain"};     // global memory: addresses
  lab::DeviceBuffer<std::uint32_t> offsets_{0, "offsets"};  // shared and constant memory
  At begin_ = 1, goal_ = 1;                                 // of a chain of FMAs
  lab::DeviceBuffer<At> end_{1, "end"};
  lab::DeviceBuffer<long long> cycles_{1, "cycles"};
};

constexpr std::size_t pattern_words = 4096;

/// Words that repeat after 4096 of them, so that the sum of any number of repetitions is known.
struct Word {
  std::uint64_t seed;
  __host__ __device__ std::uint32_t operator()(std::size_t i) const {
    return static_cast<std::uint32_t>(lab::random_bits(seed, i % pattern_words));
  }
};

/// A launch of memory_bandwidth.
struct Reading {
  const char* memory;
  void (*kernel)(std::uint32_t*, const uint4*, std::size_t, unsigned, float);
  std::size_t count;    ///< uint4s that it reads
  unsigned iterations;  ///< as for the kernel
  unsigned shared;      ///< bytes of shared memory of a block
  lab::Limit limit;
  std::uint32_t sum = 0;  ///< of what all threads write, modulo 2^32
  double bytes = 0;       ///< that they read
};

/// All of them, with two blocks of 1024 threads for each SM, and what they share.
class Readings {
 public:
  Readings(bool full, std::uint64_t seed)
      : rounds_(full ? 2048 : 256),
        data_(std::size_t{full ? 512u : 32u} << 18, Word{seed}, "data"),
        pattern_(pattern_words) {
    for (std::size_t i = 0; i < pattern_.size(); ++i) pattern_[i] = Word{seed}(i);
    CUDA_CHECK(cudaMemcpyToSymbol(constant_table, pattern_.data(), 4 * constant_words));
  }

  std::vector<Reading> all() const {
    return {of<Place::registers>("registers", 0, rounds_),
            of<Place::shared>("shared memory", 1024, rounds_),
            of<Place::constant>("constant, one word", 0, rounds_),
            of<Place::constant_scattered>("constant, 32 words", 0, rounds_),
            of<Place::l1>("L1 cache", 1024, rounds_),
            of<Place::l2>("L2 cache", std::size_t{1} << 20, rounds_ / 16),
            of<Place::memory>("global memory", data_.size() / 4, 1)};
  }

  /// A variant of memory_bandwidth.
  lab::Rung rung(const Reading& one) {
    return {.name = "memory_bandwidth",
            .variant = one.memory,
            .launch = [this, one] { launch(one); },
            .outputs = {sums(one)},
            .bytes = one.bytes,
            .limit = one.limit};
  }

 private:
  static constexpr unsigned threads = 1024;

  void launch(const Reading& one) {
    one.kernel<<<blocks_, threads, one.shared>>>(sums_.data(),
                                                 reinterpret_cast<const uint4*>(data_.data()),
                                                 one.count, one.iterations, 1.0f);
  }

  /// The sums of the threads, which together have to be that of the reading.
  lab::Expectation sums(const Reading& one) {
    return {[this] { sums_.poison(); },
            [this, want = one.sum] {
              const std::vector<std::uint32_t> got = sums_.download();
              return lab::compare(std::vector{std::accumulate(got.begin(), got.end(), 0u)},
                                  std::vector{want});
            }};
  }

  template <Place place>
  Reading of(const char* memory, std::size_t count, unsigned iterations) const {
    const unsigned shared = place == Place::shared ? 16 << 10 : 0;
    const auto limit = place == Place::memory ? lab::Limit::copy : lab::Limit::none;
    Reading one{memory, memory_bandwidth<place>, count, iterations, shared, limit};
    const auto total = [](auto begin, auto end) { return std::accumulate(begin, end, 0u); };
    const std::uint32_t whole = total(pattern_.begin(), pattern_.end());
    const unsigned all_threads = blocks_ * threads;
    const double all_iterations = static_cast<double>(all_threads) * iterations;
    switch (place) {
      case Place::registers:  // 1 + 2 + ... + 8; three operands of each of 8 FMAs
        one.sum = 36 * all_threads, one.bytes = 12 * 8 * all_iterations;
        break;
      case Place::constant:
      case Place::constant_scattered:
        one.sum = all_threads * (iterations / constant_words) *
                  total(pattern_.begin(), pattern_.begin() + constant_words);
        one.bytes = 4 * all_iterations;
        break;
      case Place::shared:
      case Place::l1:
        one.sum = blocks_ * iterations * whole, one.bytes = 16 * all_iterations;
        break;
      default:
        one.sum = static_cast<std::uint32_t>(4 * count / pattern_words) * iterations * whole;
        one.bytes = 16.0 * static_cast<double>(count) * iterations;
    }
    return one;
  }

  const unsigned rounds_, blocks_ = 2 * lab::multiprocessors();
  const lab::Input<std::uint32_t> data_;
  lab::DeviceBuffer<std::uint32_t> sums_{std::size_t{blocks_} * threads, "sums"};
  std::vector<std::uint32_t> pattern_;
};

void add_memories(lab::Ladder& ladder) {
  // A small product means a run that counts or checks, not one that times.
  const bool full = ladder.size().M * ladder.size().N >= std::size_t{1} << 20;
  const unsigned links = full ? 1000000 : 16000;
  const std::size_t beyond_l2 = std::size_t{full ? 256u : 16u} << 20;
  const std::uint64_t seed = ladder.seed();
  ladder.add("memory_latency", "registers", Walk<Place::registers>(0, links, seed));
  ladder.add("memory_latency", "shared memory", Walk<Place::shared>(16 << 10, links, seed));
  ladder.add("memory_latency", "constant memory", Walk<Place::constant>(1 << 10, links, seed));
  ladder.add("memory_latency", "L1 cache", Walk<Place::l1>(16 << 10, links, seed));
  ladder.add("memory_latency", "L2 cache", Walk<Place::l2>(512 << 10, links, seed));
  ladder.add("memory_latency", "global memory", Walk<Place::memory>(beyond_l2, links, seed));
  Readings readings(full, seed);
  for (const Reading& one : readings.all()) ladder.add(readings.rung(one));
}

const lab::Rungs here([](lab::GemmLadder& ladder) { ladder.add_with(add_memories); });

}  // namespace
