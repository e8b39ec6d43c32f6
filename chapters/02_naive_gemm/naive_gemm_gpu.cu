// What of chapter 02 only a GPU can show: the latency and the bandwidth of its memories.

#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <memory>
#include <numeric>
#include <string>
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
/// @param rounds  iterations of each thread, a multiple of 8: through its share of `in` for l2 and
///                memory; over `rounds` words for constant memory, else over `rounds` uint4s
/// @param one     1
///
/// Launch: one dimension, blocks of 1024 threads, with 16 KiB of dynamic shared memory for shared.
template <Place place>
__global__ void __launch_bounds__(1024)
    memory_bandwidth(std::uint32_t* sums, const uint4* in, std::size_t count, unsigned rounds,
                     float one) {
  extern __shared__ uint4 tile[];
  const std::size_t thread = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  const unsigned t = threadIdx.x;
  std::uint32_t sum = 0;
  const auto add = [&](const uint4& four) { sum += four.x + four.y + four.z + four.w; };

  if constexpr (place == Place::registers) {
    float x[8];
    for (int j = 0; j < 8; ++j) x[j] = one * static_cast<float>(j + 1);  // each a chain of its own
    for (unsigned r = 0; r < rounds; r += 8) {
#pragma unroll
      for (int j = 0; j < 64; ++j) x[j % 8] = fmaf(x[j % 8], one, one - one);
    }
    for (int j = 0; j < 8; ++j) sum += static_cast<std::uint32_t>(x[j]);
  } else if constexpr (place == Place::shared) {
    tile[t] = in[t];
    __syncthreads();
#pragma unroll 8
    for (unsigned r = 0; r < rounds; ++r) add(tile[(t + 33 * r) % 1024]);
  } else if constexpr (place == Place::l1) {
#pragma unroll 8
    for (unsigned r = 0; r < rounds; ++r) add(__ldca(in + (t + 33 * r) % 1024));
  } else if constexpr (place == Place::constant) {
#pragma unroll 8
    for (unsigned r = 0; r < rounds; ++r) sum += constant_table[(r + blockIdx.x) % constant_words];
  } else if constexpr (place == Place::constant_scattered) {
#pragma unroll 8
    for (unsigned r = 0; r < rounds; ++r) sum += constant_table[(r + t) % constant_words];
  } else {
    const std::size_t step = std::size_t{gridDim.x} * blockDim.x;
    for (unsigned r = 0; r < rounds; ++r) {
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

/// What a chain begins with and ends with, and where its links lie.
template <class At>
struct Chain {
  lab::DeviceBuffer<std::uint64_t> memory{0, "chain"};     // global memory: addresses
  lab::DeviceBuffer<std::uint32_t> offsets{0, "offsets"};  // shared and constant memory
  At begin = 1, end = 1;                                   // of a chain of FMAs
};

/// A chain in one of the memories, one link for each line of 128 bytes, but where there are no lines.
template <Place place, class At>
Chain<At> chain_in(std::size_t bytes, unsigned links, std::uint64_t seed) {
  constexpr bool global = place == Place::l1 || place == Place::l2 || place == Place::memory;
  constexpr std::uint32_t step = global ? 128 : 4;
  Chain<At> chain;
  if (place == Place::registers) return chain;
  const std::vector<std::uint32_t> next = cycle(bytes / step, step, seed);
  chain.end = static_cast<At>(walk(next, step, links));
  if constexpr (global) {
    chain.memory = lab::DeviceBuffer<std::uint64_t>(bytes / sizeof(std::uint64_t), "chain");
    const auto base = reinterpret_cast<std::uint64_t>(chain.memory.data());
    std::vector<std::uint64_t> addresses(chain.memory.size(), 0);
    for (std::size_t i = 0; i < next.size(); ++i) {
      addresses[i * step / sizeof(std::uint64_t)] = base + next[i];
    }
    chain.memory.upload(addresses);
    chain.begin = base;
  } else {
    chain.offsets = lab::DeviceBuffer<std::uint32_t>(next, "offsets");
    chain.begin = 0;
    if (place == Place::constant) {
      CUDA_CHECK(cudaMemcpyToSymbol(constant_table, next.data(), 4 * next.size()));
    }
  }
  return chain;
}

/// What all sums of memory_bandwidth make together, modulo 2^32, and the bytes that were read for them.
struct Expected {
  std::uint32_t sum = 0;
  double bytes = 0;
};
Expected expected_of(Place place, const std::vector<std::uint32_t>& pattern, std::size_t threads,
                     unsigned blocks, std::size_t count, unsigned rounds) {
  const auto total = [](auto begin, auto end) { return std::accumulate(begin, end, 0u); };
  const std::uint32_t whole = total(pattern.begin(), pattern.end());
  const auto iterations = static_cast<double>(threads) * rounds;
  switch (place) {
    case Place::registers:  // 1 + 2 + ... + 8; three operands of each of 8 FMAs
      return {static_cast<std::uint32_t>(36 * threads), 12 * 8 * iterations};
    case Place::constant:
    case Place::constant_scattered:
      return {static_cast<std::uint32_t>(threads * (rounds / constant_words)) *
                  total(pattern.begin(), pattern.begin() + constant_words),
              4 * iterations};
    case Place::shared:
    case Place::l1:
      return {blocks * rounds * whole, 16 * iterations};
    default:
      return {static_cast<std::uint32_t>(4 * count / pattern.size()) * rounds * whole,
              16.0 * static_cast<double>(count) * rounds};
  }
}

/// Adds the variant of memory_latency for one place, with a chain of `bytes`.
template <Place place, class At>
void add_latency(lab::Ladder& ladder, const char* variant, std::size_t bytes, unsigned links) {
  Chain<At> chain = chain_in<place, At>(bytes, links, ladder.seed());
  lab::DeviceBuffer<At> end(1, "end");
  lab::DeviceBuffer<long long> cycles(1, "cycles");
  const auto words = static_cast<unsigned>(chain.offsets.size());
  ladder.add({.name = "memory_latency",
              .variant = variant,
              .launch =
                  [&] {
                    memory_latency<place, At>
                        <<<1, 1, 4 * words>>>(end.data(), cycles.data(), chain.begin,
                                              chain.offsets.data(), words, links, 1.0f);
                  },
              .outputs = {lab::expect(end, std::vector<At>{chain.end})},
              .show =
                  [&] {
                    std::printf("  %.1f cycles each, of %u\n",
                                static_cast<double>(cycles.download()[0]) / links, links);
                  }});
}

/// Adds the variant of memory_bandwidth for one place.
/// \param count uint4s that it reads
template <Place place>
void add_bandwidth(lab::Ladder& ladder, const char* variant,
                   const lab::DeviceBuffer<std::uint32_t>& data,
                   const std::vector<std::uint32_t>& pattern, std::size_t count, unsigned rounds,
                   lab::Limit limit = lab::Limit::none) {
  constexpr unsigned threads = 1024, shared = place == Place::shared ? 16 << 10 : 0;
  const unsigned blocks = 2 * lab::multiprocessors();
  lab::DeviceBuffer<std::uint32_t> sums(std::size_t{blocks} * threads, "sums");
  const Expected want = expected_of(place, pattern, sums.size(), blocks, count, rounds);
  const auto verify = [&] {
    const std::vector<std::uint32_t> got = sums.download();
    return lab::compare(std::vector{std::accumulate(got.begin(), got.end(), 0u)},
                        std::vector{want.sum});
  };
  ladder.add(
      {.name = "memory_bandwidth",
       .variant = variant,
       .launch =
           [&] {
             memory_bandwidth<place><<<blocks, threads, shared>>>(
                 sums.data(), reinterpret_cast<const uint4*>(data.data()), count, rounds, 1.0f);
           },
       .outputs = {lab::on_the_way(sums)},
       .prepare =
           [&] {
             CUDA_CHECK(cudaMemcpyToSymbol(constant_table, pattern.data(), 4 * constant_words));
           },
       .verify = verify,
       .bytes = want.bytes,
       .limit = limit});
}

void add_memories(lab::Ladder& ladder) {
  // A small product means a run that counts or checks, not one that times.
  const bool full = ladder.size().M * ladder.size().N >= std::size_t{1} << 20;
  const unsigned links = full ? 1000000 : 16000, rounds = full ? 2048 : 256;
  add_latency<Place::registers, float>(ladder, "registers", 0, links);
  add_latency<Place::shared, std::uint32_t>(ladder, "shared memory", 16 << 10, links);
  add_latency<Place::constant, std::uint32_t>(ladder, "constant memory", 4 * constant_words, links);
  add_latency<Place::l1, std::uint64_t>(ladder, "L1 cache", 16 << 10, links);
  add_latency<Place::l2, std::uint64_t>(ladder, "L2 cache", 512 << 10, links);
  add_latency<Place::memory, std::uint64_t>(ladder, "global memory",
                                            std::size_t{full ? 256u : 16u} << 20, links);

  // Words that repeat after 4096 of them, so that the sum of any number of repetitions is known.
  const std::uint64_t seed = ladder.seed();
  const lab::Input<std::uint32_t> data(
      std::size_t{full ? 512u : 32u} << 18,
      [=] __host__ __device__(std::size_t i) {
        return static_cast<std::uint32_t>(lab::random_bits(seed, i % 4096));
      },
      "data");
  std::vector<std::uint32_t> pattern(4096);
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    pattern[i] = static_cast<std::uint32_t>(lab::random_bits(seed, i));
  }
  add_bandwidth<Place::registers>(ladder, "registers", data, pattern, 0, rounds);
  add_bandwidth<Place::shared>(ladder, "shared memory", data, pattern, 1024, rounds);
  add_bandwidth<Place::constant>(ladder, "constant, one word", data, pattern, 0, rounds);
  add_bandwidth<Place::constant_scattered>(ladder, "constant, 32 words", data, pattern, 0, rounds);
  add_bandwidth<Place::l1>(ladder, "L1 cache", data, pattern, 1024, rounds);
  add_bandwidth<Place::l2>(ladder, "L2 cache", data, pattern, std::size_t{1} << 20, rounds / 16);
  add_bandwidth<Place::memory>(ladder, "global memory", data, pattern, data.size() / 4, 1,
                               lab::Limit::copy);
}

const lab::Rungs here([](lab::GemmLadder& ladder) { ladder.add_with(add_memories); });

}  // namespace
