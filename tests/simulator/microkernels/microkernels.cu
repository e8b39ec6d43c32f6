// Microkernels: the small launches on which the simulator's counts are held against the hardware's.
//
// Each case is one kernel, launched exactly once, whose symbol is the case's name. A case does one thing
// that memory instructions can do (a stride, a permutation, a partial warp, an atomic with a conflict of
// a given degree, a loop that lanes leave at different times) and nothing that would blur it. The same
// source is built by nvcc, where Nsight Compute counts it, and by simtcc, where the simulator does.
//
// What keeps a compiler from changing the accesses: indices come from memory or from kernel arguments,
// loops carry `#pragma unroll 1`, every value that is loaded reaches a result, and every result is
// compared with a host computation. `--sass` prints, for each case, the memory instructions that the
// GPU's machine code must hold; check_sass.py holds the compiler to it.

#include <cuda_pipeline.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

/// What every kernel is called with; each uses the fields it needs.
struct Arguments {
  const unsigned* in;  ///< `input(0), input(1), ...`, by default `mix(i)`
  unsigned* out;       ///< first result, poisoned (or the initial value of atomics)
  unsigned* extra;     ///< second result, poisoned
  const int* index;    ///< one element index per thread of a block; negative: takes no part
  int words;           ///< 32-bit words of shared memory in use, or the region of a block in `out`
  int n;               ///< elements, or a loop's length
  int stride;          ///< distance in elements
  unsigned value;      ///< what atomics add, exchange, compare
};

constexpr int kSharedWords = 8192;           // 32 KiB
constexpr unsigned kPoison = 0xCDCDCDCDu;    // no kernel computes it
constexpr unsigned kInitial = 100000u;       // where atomics start
constexpr unsigned kFullWarp = 0xFFFFFFFFu;  // the mask of 32 lanes

/// A value that tells element `i` from every other.
__host__ __device__ inline unsigned mix(unsigned i) { return i * 2654435761u + (i >> 5); }

// Element types of 8, 16, 32, 64 and 128 bits: how one is made from its index, and how all of its bits
// enter one word.
template <class T>
__host__ __device__ inline T make(unsigned i) {
  return static_cast<T>(mix(i) >> 7);
}
template <>
__host__ __device__ inline uint2 make<uint2>(unsigned i) {
  return make_uint2(mix(2 * i), mix(2 * i + 1));
}
template <>
__host__ __device__ inline uint4 make<uint4>(unsigned i) {
  return make_uint4(mix(4 * i), mix(4 * i + 1), mix(4 * i + 2), mix(4 * i + 3));
}
__host__ __device__ inline unsigned digest(unsigned char v) { return v; }
__host__ __device__ inline unsigned digest(unsigned short v) { return v; }
__host__ __device__ inline unsigned digest(unsigned v) { return v; }
__host__ __device__ inline unsigned digest(uint2 v) { return v.x + 3 * v.y; }
__host__ __device__ inline unsigned digest(uint4 v) { return v.x + 3 * v.y + 5 * v.z + 7 * v.w; }

__device__ __forceinline__ int thread_in_block() {
  return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
}
__device__ __forceinline__ int block_threads() { return blockDim.x * blockDim.y * blockDim.z; }

// ---------------------------------------------------------------------------------------------------
// Patterns: one access per thread, at the element that `index` names. The pattern itself is data, given
// with the case below; a kernel of its own for each keeps its counters apart.
// ---------------------------------------------------------------------------------------------------

/// Fills shared memory by words, then reads one T per thread at `index[t]`.
template <class T>
__device__ __forceinline__ void shared_load(const Arguments& a) {
  __shared__ __align__(16) unsigned words[kSharedWords];
  const int t = thread_in_block();
#pragma unroll 1
  for (int i = t; i < a.words; i += block_threads()) words[i] = mix(i);
  const int at = a.index[t];
  __syncthreads();
  if (at >= 0) {
    a.out[blockIdx.x * block_threads() + t] = digest(reinterpret_cast<const T*>(words)[at]);
  }
}

/// Clears shared memory by words, writes one T per thread at `index[t]`, copies all words out. Threads
/// that meet at one element write the same value.
template <class T>
__device__ __forceinline__ void shared_store(const Arguments& a) {
  __shared__ __align__(16) unsigned words[kSharedWords];
  const int t = thread_in_block();
#pragma unroll 1
  for (int i = t; i < a.words; i += block_threads()) words[i] = 0;
  const int at = a.index[t];
  __syncthreads();
  if (at >= 0) reinterpret_cast<T*>(words)[at] = make<T>(at);
  __syncthreads();
#pragma unroll 1
  for (int i = t; i < a.words; i += block_threads()) a.out[blockIdx.x * a.words + i] = words[i];
}

/// Clears shared memory by words, copies one T per thread asynchronously, from `index[t]` of global memory to
/// `t * stride` of shared memory, waits, copies all words out.
template <class T>
__device__ __forceinline__ void async_copy(const Arguments& a) {
  __shared__ __align__(16) unsigned words[kSharedWords];
  const int t = thread_in_block();
#pragma unroll 1
  for (int i = t; i < a.words; i += block_threads()) words[i] = 0;
  const int at = a.index[t];
  __syncthreads();
  if (at >= 0) {
    __pipeline_memcpy_async(reinterpret_cast<T*>(words) + t * a.stride,
                            reinterpret_cast<const T*>(a.in) + at, sizeof(T));
  }
  __pipeline_commit();
  __pipeline_wait_prior(0);
  __syncthreads();
#pragma unroll 1
  for (int i = t; i < a.words; i += block_threads()) a.out[blockIdx.x * a.words + i] = words[i];
}

/// Reads one T per thread at `index[t]` of global memory.
template <class T>
__device__ __forceinline__ void global_load(const Arguments& a) {
  const int t = thread_in_block();
  const int at = a.index[t];
  if (at >= 0) {
    a.out[blockIdx.x * block_threads() + t] = digest(reinterpret_cast<const T*>(a.in)[at]);
  }
}

/// Writes one T per thread at `index[t]` of the block's region of global memory.
template <class T>
__device__ __forceinline__ void global_store(const Arguments& a) {
  const int at = a.index[thread_in_block()];
  if (at >= 0) reinterpret_cast<T*>(a.out + blockIdx.x * a.words)[at] = make<T>(at);
}

// Atomic operations: on the device, and what they do to a value, for the host.
struct Add {
  template <class T>
  static __device__ __forceinline__ T atomic(T* p, T v) {
    return atomicAdd(p, v);
  }
  template <class T>
  static T apply(T old, T v) {
    return old + v;
  }
};
struct AddOne {  // a constant one: the compiler has an instruction of its own for it
  template <class T>
  static __device__ __forceinline__ T atomic(T* p, T) {
    return atomicAdd(p, T(1));
  }
  template <class T>
  static T apply(T old, T) {
    return old + T(1);
  }
};
struct Min {
  template <class T>
  static __device__ __forceinline__ T atomic(T* p, T v) {
    return atomicMin(p, v);
  }
  template <class T>
  static T apply(T old, T v) {
    return std::min(old, v);
  }
};
struct Max {
  template <class T>
  static __device__ __forceinline__ T atomic(T* p, T v) {
    return atomicMax(p, v);
  }
  template <class T>
  static T apply(T old, T v) {
    return std::max(old, v);
  }
};
struct And {
  template <class T>
  static __device__ __forceinline__ T atomic(T* p, T v) {
    return atomicAnd(p, v);
  }
  template <class T>
  static T apply(T old, T v) {
    return old & v;
  }
};
struct Or {
  template <class T>
  static __device__ __forceinline__ T atomic(T* p, T v) {
    return atomicOr(p, v);
  }
  template <class T>
  static T apply(T old, T v) {
    return old | v;
  }
};
struct Exchange {
  template <class T>
  static __device__ __forceinline__ T atomic(T* p, T v) {
    return atomicExch(p, v);
  }
  template <class T>
  static T apply(T, T v) {
    return v;
  }
};
struct CompareAndSwap {
  template <class T>
  static __device__ __forceinline__ T atomic(T* p, T v) {
    return atomicCAS(p, T(kInitial), v);
  }
  template <class T>
  static T apply(T old, T v) {
    return old == T(kInitial) ? v : old;
  }
};

/// What a thread at element `at` brings to the operation: the same for all that meet there.
template <class T>
__host__ __device__ inline T operand(unsigned value, int at) {
  return static_cast<T>(value + static_cast<unsigned>(at));
}

enum class Returned { ignored, used };

/// Sets `words` elements of T in shared memory to kInitial, applies the operation once per thread at
/// `index[t]`, copies the elements out; the values returned go to `extra`.
template <class T, class Operation, Returned R>
__device__ __forceinline__ void shared_atomic(const Arguments& a) {
  __shared__ __align__(16) T elements[kSharedWords / 2];
  const int t = thread_in_block();
#pragma unroll 1
  for (int i = t; i < a.words; i += block_threads()) elements[i] = T(kInitial);
  const int at = a.index[t];
  __syncthreads();
  if (at >= 0) {
    if constexpr (R == Returned::ignored && std::is_same_v<Operation, AddOne>) {
      atomicAdd(&elements[at],
                T(1));  // the simulator knows by its place that the old value goes unused
    } else {
      const T old = Operation::atomic(&elements[at], operand<T>(a.value, at));
      if (R == Returned::used) {
        a.extra[blockIdx.x * block_threads() + t] = static_cast<unsigned>(old);
      }
    }
  }
  __syncthreads();
#pragma unroll 1
  for (int i = t; i < a.words; i += block_threads()) {
    reinterpret_cast<T*>(a.out)[blockIdx.x * a.words + i] = elements[i];
  }
}

/// The same in the block's region of global memory, which the host has initialised.
template <class T, class Operation, Returned R>
__device__ __forceinline__ void global_atomic(const Arguments& a) {
  const int t = thread_in_block();
  const int at = a.index[t];
  if (at >= 0) {
    T* const region = reinterpret_cast<T*>(a.out) + blockIdx.x * a.words;
    const T old = Operation::atomic(&region[at], operand<T>(a.value, at));
    if (R == Returned::used) {
      a.extra[blockIdx.x * block_threads() + t] = static_cast<unsigned>(old);
    }
  }
}

using u8 = unsigned char;
using u16 = unsigned short;
using u32 = unsigned;
using u64 = unsigned long long;

// Shared loads, 8 and 16 bits.
__global__ void lds8_stride1(Arguments a) { shared_load<u8>(a); }
__global__ void lds8_stride2(Arguments a) { shared_load<u8>(a); }
__global__ void lds8_stride4(Arguments a) { shared_load<u8>(a); }
__global__ void lds8_stride8(Arguments a) { shared_load<u8>(a); }
__global__ void lds8_stride128(Arguments a) { shared_load<u8>(a); }
__global__ void lds8_broadcast(Arguments a) { shared_load<u8>(a); }
__global__ void lds8_word_reversed(Arguments a) { shared_load<u8>(a); }
__global__ void lds8_two_words_one_bank(Arguments a) { shared_load<u8>(a); }
__global__ void lds8_random(Arguments a) { shared_load<u8>(a); }
__global__ void lds16_stride1(Arguments a) { shared_load<u16>(a); }
__global__ void lds16_stride2(Arguments a) { shared_load<u16>(a); }
__global__ void lds16_stride4(Arguments a) { shared_load<u16>(a); }
__global__ void lds16_stride64(Arguments a) { shared_load<u16>(a); }
__global__ void lds16_stride66(Arguments a) { shared_load<u16>(a); }
__global__ void lds16_halves_swapped(Arguments a) { shared_load<u16>(a); }
__global__ void lds16_random(Arguments a) { shared_load<u16>(a); }

// Shared loads, 32 bits.
__global__ void lds32_stride1(Arguments a) { shared_load<u32>(a); }
__global__ void lds32_stride2(Arguments a) { shared_load<u32>(a); }
__global__ void lds32_stride3(Arguments a) { shared_load<u32>(a); }
__global__ void lds32_stride4(Arguments a) { shared_load<u32>(a); }
__global__ void lds32_stride8(Arguments a) { shared_load<u32>(a); }
__global__ void lds32_stride16(Arguments a) { shared_load<u32>(a); }
__global__ void lds32_stride32(Arguments a) { shared_load<u32>(a); }
__global__ void lds32_stride33(Arguments a) { shared_load<u32>(a); }
__global__ void lds32_broadcast(Arguments a) { shared_load<u32>(a); }
__global__ void lds32_pairs(Arguments a) { shared_load<u32>(a); }
__global__ void lds32_reversed(Arguments a) { shared_load<u32>(a); }
__global__ void lds32_two_words_one_bank(Arguments a) { shared_load<u32>(a); }
__global__ void lds32_eight_words_one_bank(Arguments a) { shared_load<u32>(a); }
__global__ void lds32_random(Arguments a) { shared_load<u32>(a); }
__global__ void lds32_stride32_odd_lanes(Arguments a) { shared_load<u32>(a); }
__global__ void lds32_stride2_low_half(Arguments a) { shared_load<u32>(a); }
__global__ void lds32_one_lane(Arguments a) { shared_load<u32>(a); }
__global__ void lds32_second_warp_idle(Arguments a) { shared_load<u32>(a); }

// Shared loads, 64 bits.
__global__ void lds64_stride1(Arguments a) { shared_load<uint2>(a); }
__global__ void lds64_stride2(Arguments a) { shared_load<uint2>(a); }
__global__ void lds64_stride4(Arguments a) { shared_load<uint2>(a); }
__global__ void lds64_stride16(Arguments a) { shared_load<uint2>(a); }
__global__ void lds64_stride17(Arguments a) { shared_load<uint2>(a); }
__global__ void lds64_pairs(Arguments a) { shared_load<uint2>(a); }
__global__ void lds64_pairs_stride2(Arguments a) { shared_load<uint2>(a); }
__global__ void lds64_pairs_stride4(Arguments a) { shared_load<uint2>(a); }
__global__ void lds64_pairs_by_two(Arguments a) { shared_load<uint2>(a); }
__global__ void lds64_pairs_by_four(Arguments a) { shared_load<uint2>(a); }
__global__ void lds64_one_pair_broken(Arguments a) { shared_load<uint2>(a); }
__global__ void lds64_mixed_pairs(Arguments a) { shared_load<uint2>(a); }
__global__ void lds64_neighbours_swapped(Arguments a) { shared_load<uint2>(a); }
__global__ void lds64_quads(Arguments a) { shared_load<uint2>(a); }
__global__ void lds64_halves_equal(Arguments a) { shared_load<uint2>(a); }
__global__ void lds64_halves_conflict(Arguments a) { shared_load<uint2>(a); }
__global__ void lds64_broadcast(Arguments a) { shared_load<uint2>(a); }
__global__ void lds64_random(Arguments a) { shared_load<uint2>(a); }
__global__ void lds64_low_half(Arguments a) { shared_load<uint2>(a); }
__global__ void lds64_odd_lanes(Arguments a) { shared_load<uint2>(a); }
__global__ void lds64_even_lanes_packed(Arguments a) { shared_load<uint2>(a); }
__global__ void lds64_first8(Arguments a) { shared_load<uint2>(a); }
__global__ void lds64_one_lane(Arguments a) { shared_load<uint2>(a); }
__global__ void lds64_pairs_odd_lanes_missing(Arguments a) { shared_load<uint2>(a); }
__global__ void lds64_pairs_one_missing(Arguments a) { shared_load<uint2>(a); }

// Shared loads, 128 bits.
__global__ void lds128_stride1(Arguments a) { shared_load<uint4>(a); }
__global__ void lds128_stride2(Arguments a) { shared_load<uint4>(a); }
__global__ void lds128_stride8(Arguments a) { shared_load<uint4>(a); }
__global__ void lds128_stride9(Arguments a) { shared_load<uint4>(a); }
__global__ void lds128_mod16_stride2(Arguments a) { shared_load<uint4>(a); }
__global__ void lds128_eighths_stride2(Arguments a) { shared_load<uint4>(a); }
__global__ void lds128_pairs(Arguments a) { shared_load<uint4>(a); }
__global__ void lds128_pairs_stride2(Arguments a) { shared_load<uint4>(a); }
__global__ void lds128_pairs_by_two(Arguments a) { shared_load<uint4>(a); }
__global__ void lds128_pairs_by_four(Arguments a) { shared_load<uint4>(a); }
__global__ void lds128_one_pair_broken(Arguments a) { shared_load<uint4>(a); }
__global__ void lds128_quads(Arguments a) { shared_load<uint4>(a); }
__global__ void lds128_mod8(Arguments a) { shared_load<uint4>(a); }
__global__ void lds128_broadcast(Arguments a) { shared_load<uint4>(a); }
__global__ void lds128_swizzled(Arguments a) { shared_load<uint4>(a); }
__global__ void lds128_random(Arguments a) { shared_load<uint4>(a); }
__global__ void lds128_low_half(Arguments a) { shared_load<uint4>(a); }
__global__ void lds128_odd_lanes(Arguments a) { shared_load<uint4>(a); }
__global__ void lds128_even_lanes_packed(Arguments a) { shared_load<uint4>(a); }
__global__ void lds128_first8(Arguments a) { shared_load<uint4>(a); }
__global__ void lds128_one_lane(Arguments a) { shared_load<uint4>(a); }
__global__ void lds128_two_lanes_two_quarters(Arguments a) { shared_load<uint4>(a); }

// Shared stores, 8 and 16 bits.
__global__ void sts8_stride1(Arguments a) { shared_store<u8>(a); }
__global__ void sts8_stride2(Arguments a) { shared_store<u8>(a); }
__global__ void sts8_stride4(Arguments a) { shared_store<u8>(a); }
__global__ void sts8_stride8(Arguments a) { shared_store<u8>(a); }
__global__ void sts8_stride128(Arguments a) { shared_store<u8>(a); }
__global__ void sts8_same(Arguments a) { shared_store<u8>(a); }
__global__ void sts8_pairs(Arguments a) { shared_store<u8>(a); }
__global__ void sts8_word_reversed(Arguments a) { shared_store<u8>(a); }
__global__ void sts8_random(Arguments a) { shared_store<u8>(a); }
__global__ void sts16_stride1(Arguments a) { shared_store<u16>(a); }
__global__ void sts16_stride2(Arguments a) { shared_store<u16>(a); }
__global__ void sts16_stride4(Arguments a) { shared_store<u16>(a); }
__global__ void sts16_stride64(Arguments a) { shared_store<u16>(a); }
__global__ void sts16_same(Arguments a) { shared_store<u16>(a); }
__global__ void sts16_pairs(Arguments a) { shared_store<u16>(a); }
__global__ void sts16_random(Arguments a) { shared_store<u16>(a); }

// Shared stores, 32 bits.
__global__ void sts32_stride1(Arguments a) { shared_store<u32>(a); }
__global__ void sts32_stride2(Arguments a) { shared_store<u32>(a); }
__global__ void sts32_stride4(Arguments a) { shared_store<u32>(a); }
__global__ void sts32_stride32(Arguments a) { shared_store<u32>(a); }
__global__ void sts32_stride33(Arguments a) { shared_store<u32>(a); }
__global__ void sts32_same(Arguments a) { shared_store<u32>(a); }
__global__ void sts32_pairs(Arguments a) { shared_store<u32>(a); }
__global__ void sts32_halves_same(Arguments a) { shared_store<u32>(a); }
__global__ void sts32_two_words_one_bank(Arguments a) { shared_store<u32>(a); }
__global__ void sts32_random(Arguments a) { shared_store<u32>(a); }
__global__ void sts32_stride32_odd_lanes(Arguments a) { shared_store<u32>(a); }
__global__ void sts32_one_lane(Arguments a) { shared_store<u32>(a); }

// Shared stores, 64 bits.
__global__ void sts64_stride1(Arguments a) { shared_store<uint2>(a); }
__global__ void sts64_stride2(Arguments a) { shared_store<uint2>(a); }
__global__ void sts64_stride4(Arguments a) { shared_store<uint2>(a); }
__global__ void sts64_stride16(Arguments a) { shared_store<uint2>(a); }
__global__ void sts64_stride17(Arguments a) { shared_store<uint2>(a); }
__global__ void sts64_pairs(Arguments a) { shared_store<uint2>(a); }
__global__ void sts64_pairs_by_two(Arguments a) { shared_store<uint2>(a); }
__global__ void sts64_neighbours_swapped(Arguments a) { shared_store<uint2>(a); }
__global__ void sts64_quads(Arguments a) { shared_store<uint2>(a); }
__global__ void sts64_halves_same(Arguments a) { shared_store<uint2>(a); }
__global__ void sts64_halves_conflict(Arguments a) { shared_store<uint2>(a); }
__global__ void sts64_same(Arguments a) { shared_store<uint2>(a); }
__global__ void sts64_random(Arguments a) { shared_store<uint2>(a); }
__global__ void sts64_low_half(Arguments a) { shared_store<uint2>(a); }
__global__ void sts64_odd_lanes(Arguments a) { shared_store<uint2>(a); }
__global__ void sts64_even_lanes_packed(Arguments a) { shared_store<uint2>(a); }
__global__ void sts64_first8(Arguments a) { shared_store<uint2>(a); }

// Shared stores, 128 bits.
__global__ void sts128_stride1(Arguments a) { shared_store<uint4>(a); }
__global__ void sts128_stride2(Arguments a) { shared_store<uint4>(a); }
__global__ void sts128_stride8(Arguments a) { shared_store<uint4>(a); }
__global__ void sts128_stride9(Arguments a) { shared_store<uint4>(a); }
__global__ void sts128_pairs(Arguments a) { shared_store<uint4>(a); }
__global__ void sts128_pairs_by_two(Arguments a) { shared_store<uint4>(a); }
__global__ void sts128_quads(Arguments a) { shared_store<uint4>(a); }
__global__ void sts128_mod16_stride2(Arguments a) { shared_store<uint4>(a); }
__global__ void sts128_eighths_stride2(Arguments a) { shared_store<uint4>(a); }
__global__ void sts128_mod8(Arguments a) { shared_store<uint4>(a); }
__global__ void sts128_same(Arguments a) { shared_store<uint4>(a); }
__global__ void sts128_swizzled(Arguments a) { shared_store<uint4>(a); }
__global__ void sts128_random(Arguments a) { shared_store<uint4>(a); }
__global__ void sts128_low_half(Arguments a) { shared_store<uint4>(a); }
__global__ void sts128_odd_lanes(Arguments a) { shared_store<uint4>(a); }
__global__ void sts128_even_lanes_packed(Arguments a) { shared_store<uint4>(a); }
__global__ void sts128_first8(Arguments a) { shared_store<uint4>(a); }

// Global loads.
__global__ void ldg8_stride1(Arguments a) { global_load<u8>(a); }
__global__ void ldg8_offset1(Arguments a) { global_load<u8>(a); }
__global__ void ldg8_stride32(Arguments a) { global_load<u8>(a); }
__global__ void ldg8_random(Arguments a) { global_load<u8>(a); }
__global__ void ldg16_stride1(Arguments a) { global_load<u16>(a); }
__global__ void ldg16_stride16(Arguments a) { global_load<u16>(a); }
__global__ void ldg16_offset5(Arguments a) { global_load<u16>(a); }
__global__ void ldg32_stride1(Arguments a) { global_load<u32>(a); }
__global__ void ldg32_stride2(Arguments a) { global_load<u32>(a); }
__global__ void ldg32_stride3(Arguments a) { global_load<u32>(a); }
__global__ void ldg32_stride8(Arguments a) { global_load<u32>(a); }
__global__ void ldg32_stride32(Arguments a) { global_load<u32>(a); }
__global__ void ldg32_stride1024(Arguments a) { global_load<u32>(a); }
__global__ void ldg32_offset1(Arguments a) { global_load<u32>(a); }
__global__ void ldg32_offset8(Arguments a) { global_load<u32>(a); }
__global__ void ldg32_broadcast(Arguments a) { global_load<u32>(a); }
__global__ void ldg32_reversed(Arguments a) { global_load<u32>(a); }
__global__ void ldg32_permuted(Arguments a) { global_load<u32>(a); }
__global__ void ldg32_random(Arguments a) { global_load<u32>(a); }
__global__ void ldg32_odd_lanes(Arguments a) { global_load<u32>(a); }
__global__ void ldg32_one_lane(Arguments a) { global_load<u32>(a); }
__global__ void ldg32_second_warp_idle(Arguments a) { global_load<u32>(a); }
__global__ void ldg64_stride1(Arguments a) { global_load<uint2>(a); }
__global__ void ldg64_stride2(Arguments a) { global_load<uint2>(a); }
__global__ void ldg64_offset1(Arguments a) { global_load<uint2>(a); }
__global__ void ldg64_pairs(Arguments a) { global_load<uint2>(a); }
__global__ void ldg64_halves_equal(Arguments a) { global_load<uint2>(a); }
__global__ void ldg64_random(Arguments a) { global_load<uint2>(a); }
__global__ void ldg64_low_half(Arguments a) { global_load<uint2>(a); }
__global__ void ldg128_stride1(Arguments a) { global_load<uint4>(a); }
__global__ void ldg128_stride2(Arguments a) { global_load<uint4>(a); }
__global__ void ldg128_stride8(Arguments a) { global_load<uint4>(a); }
__global__ void ldg128_offset1(Arguments a) { global_load<uint4>(a); }
__global__ void ldg128_pairs(Arguments a) { global_load<uint4>(a); }
__global__ void ldg128_mod8(Arguments a) { global_load<uint4>(a); }
__global__ void ldg128_broadcast(Arguments a) { global_load<uint4>(a); }
__global__ void ldg128_bit_reversed(Arguments a) { global_load<uint4>(a); }
__global__ void ldg128_random(Arguments a) { global_load<uint4>(a); }
__global__ void ldg128_odd_lanes(Arguments a) { global_load<uint4>(a); }
__global__ void ldg128_first8(Arguments a) { global_load<uint4>(a); }

// Global stores.
__global__ void stg8_stride1(Arguments a) { global_store<u8>(a); }
__global__ void stg8_offset1(Arguments a) { global_store<u8>(a); }
__global__ void stg8_stride32(Arguments a) { global_store<u8>(a); }
__global__ void stg16_stride1(Arguments a) { global_store<u16>(a); }
__global__ void stg16_stride2(Arguments a) { global_store<u16>(a); }
__global__ void stg32_stride1(Arguments a) { global_store<u32>(a); }
__global__ void stg32_stride2(Arguments a) { global_store<u32>(a); }
__global__ void stg32_stride8(Arguments a) { global_store<u32>(a); }
__global__ void stg32_stride32(Arguments a) { global_store<u32>(a); }
__global__ void stg32_offset1(Arguments a) { global_store<u32>(a); }
__global__ void stg32_same(Arguments a) { global_store<u32>(a); }
__global__ void stg32_pairs(Arguments a) { global_store<u32>(a); }
__global__ void stg32_permuted(Arguments a) { global_store<u32>(a); }
__global__ void stg32_random(Arguments a) { global_store<u32>(a); }
__global__ void stg32_odd_lanes(Arguments a) { global_store<u32>(a); }
__global__ void stg64_stride1(Arguments a) { global_store<uint2>(a); }
__global__ void stg64_stride2(Arguments a) { global_store<uint2>(a); }
__global__ void stg64_offset1(Arguments a) { global_store<uint2>(a); }
__global__ void stg64_halves_same(Arguments a) { global_store<uint2>(a); }
__global__ void stg64_low_half(Arguments a) { global_store<uint2>(a); }
__global__ void stg128_stride1(Arguments a) { global_store<uint4>(a); }
__global__ void stg128_stride2(Arguments a) { global_store<uint4>(a); }
__global__ void stg128_stride8(Arguments a) { global_store<uint4>(a); }
__global__ void stg128_offset1(Arguments a) { global_store<uint4>(a); }
__global__ void stg128_mod8(Arguments a) { global_store<uint4>(a); }
__global__ void stg128_bit_reversed(Arguments a) { global_store<uint4>(a); }
__global__ void stg128_random(Arguments a) { global_store<uint4>(a); }
__global__ void stg128_odd_lanes(Arguments a) { global_store<uint4>(a); }

// Shared atomics.
constexpr Returned kIgnored = Returned::ignored;
constexpr Returned kUsed = Returned::used;
__global__ void atoms_add_distinct(Arguments a) { shared_atomic<u32, Add, kIgnored>(a); }
__global__ void atoms_add_same(Arguments a) { shared_atomic<u32, Add, kIgnored>(a); }
__global__ void atoms_add_pairs(Arguments a) { shared_atomic<u32, Add, kIgnored>(a); }
__global__ void atoms_add_quads(Arguments a) { shared_atomic<u32, Add, kIgnored>(a); }
__global__ void atoms_add_halves_same(Arguments a) { shared_atomic<u32, Add, kIgnored>(a); }
__global__ void atoms_add_stride2(Arguments a) { shared_atomic<u32, Add, kIgnored>(a); }
__global__ void atoms_add_stride32(Arguments a) { shared_atomic<u32, Add, kIgnored>(a); }
__global__ void atoms_add_random(Arguments a) { shared_atomic<u32, Add, kIgnored>(a); }
__global__ void atoms_add_odd_lanes(Arguments a) { shared_atomic<u32, Add, kIgnored>(a); }
__global__ void atoms_add_used_distinct(Arguments a) { shared_atomic<u32, Add, kUsed>(a); }
__global__ void atoms_add_used_same(Arguments a) { shared_atomic<u32, Add, kUsed>(a); }
__global__ void atoms_add_used_pairs(Arguments a) { shared_atomic<u32, Add, kUsed>(a); }
__global__ void atoms_add_used_stride32(Arguments a) { shared_atomic<u32, Add, kUsed>(a); }
__global__ void atoms_one_distinct(Arguments a) { shared_atomic<u32, AddOne, kIgnored>(a); }
__global__ void atoms_one_same(Arguments a) { shared_atomic<u32, AddOne, kIgnored>(a); }
__global__ void atoms_one_pairs(Arguments a) { shared_atomic<u32, AddOne, kIgnored>(a); }
__global__ void atoms_one_stride32(Arguments a) { shared_atomic<u32, AddOne, kIgnored>(a); }
__global__ void atoms_one_random(Arguments a) { shared_atomic<u32, AddOne, kIgnored>(a); }
__global__ void atoms_one_used_same(Arguments a) { shared_atomic<u32, AddOne, kUsed>(a); }
__global__ void atoms_min_distinct(Arguments a) { shared_atomic<u32, Min, kIgnored>(a); }
__global__ void atoms_min_same(Arguments a) { shared_atomic<u32, Min, kIgnored>(a); }
__global__ void atoms_max_same(Arguments a) { shared_atomic<u32, Max, kIgnored>(a); }
__global__ void atoms_max_pairs(Arguments a) { shared_atomic<u32, Max, kIgnored>(a); }
__global__ void atoms_and_same(Arguments a) { shared_atomic<u32, And, kIgnored>(a); }
__global__ void atoms_or_distinct(Arguments a) { shared_atomic<u32, Or, kIgnored>(a); }
__global__ void atoms_exch_distinct(Arguments a) { shared_atomic<u32, Exchange, kUsed>(a); }
__global__ void atoms_exch_same(Arguments a) { shared_atomic<u32, Exchange, kUsed>(a); }
__global__ void atoms_exch_stride32(Arguments a) { shared_atomic<u32, Exchange, kUsed>(a); }
__global__ void atoms_cas_distinct(Arguments a) { shared_atomic<u32, CompareAndSwap, kUsed>(a); }
__global__ void atoms_cas_same(Arguments a) { shared_atomic<u32, CompareAndSwap, kUsed>(a); }
__global__ void atoms_cas_pairs(Arguments a) { shared_atomic<u32, CompareAndSwap, kUsed>(a); }
__global__ void atoms_cas_stride32(Arguments a) { shared_atomic<u32, CompareAndSwap, kUsed>(a); }
__global__ void atoms_fadd_distinct(Arguments a) { shared_atomic<float, Add, kIgnored>(a); }
__global__ void atoms_fadd_same(Arguments a) { shared_atomic<float, Add, kIgnored>(a); }
__global__ void atoms_fadd_pairs(Arguments a) { shared_atomic<float, Add, kIgnored>(a); }
__global__ void atoms_fadd_stride32(Arguments a) { shared_atomic<float, Add, kIgnored>(a); }
__global__ void atoms_fadd_random(Arguments a) { shared_atomic<float, Add, kIgnored>(a); }
__global__ void atoms_fadd_used_same(Arguments a) { shared_atomic<float, Add, kUsed>(a); }
__global__ void atoms_add64_distinct(Arguments a) { shared_atomic<u64, Add, kIgnored>(a); }
__global__ void atoms_add64_same(Arguments a) { shared_atomic<u64, Add, kIgnored>(a); }
__global__ void atoms_cas64_distinct(Arguments a) { shared_atomic<u64, CompareAndSwap, kUsed>(a); }
__global__ void atoms_cas64_same(Arguments a) { shared_atomic<u64, CompareAndSwap, kUsed>(a); }
__global__ void atoms_dadd_distinct(Arguments a) { shared_atomic<double, Add, kIgnored>(a); }
__global__ void atoms_dadd_same(Arguments a) { shared_atomic<double, Add, kIgnored>(a); }

// Global atomics: without use of the returned value (a reduction) and with.
__global__ void red_add_distinct(Arguments a) { global_atomic<u32, Add, kIgnored>(a); }
__global__ void red_add_same(Arguments a) { global_atomic<u32, Add, kIgnored>(a); }
__global__ void red_add_pairs(Arguments a) { global_atomic<u32, Add, kIgnored>(a); }
__global__ void red_add_stride2(Arguments a) { global_atomic<u32, Add, kIgnored>(a); }
__global__ void red_add_stride8(Arguments a) { global_atomic<u32, Add, kIgnored>(a); }
__global__ void red_add_offset1(Arguments a) { global_atomic<u32, Add, kIgnored>(a); }
__global__ void red_add_random(Arguments a) { global_atomic<u32, Add, kIgnored>(a); }
__global__ void red_add_odd_lanes(Arguments a) { global_atomic<u32, Add, kIgnored>(a); }
__global__ void red_one_same(Arguments a) { global_atomic<u32, AddOne, kIgnored>(a); }
__global__ void red_one_random(Arguments a) { global_atomic<u32, AddOne, kIgnored>(a); }
__global__ void red_min_same(Arguments a) { global_atomic<u32, Min, kIgnored>(a); }
__global__ void red_max_distinct(Arguments a) { global_atomic<u32, Max, kIgnored>(a); }
__global__ void red_or_pairs(Arguments a) { global_atomic<u32, Or, kIgnored>(a); }
__global__ void red_fadd_distinct(Arguments a) { global_atomic<float, Add, kIgnored>(a); }
__global__ void red_fadd_same(Arguments a) { global_atomic<float, Add, kIgnored>(a); }
__global__ void red_add64_distinct(Arguments a) { global_atomic<u64, Add, kIgnored>(a); }
__global__ void red_add64_same(Arguments a) { global_atomic<u64, Add, kIgnored>(a); }
__global__ void red_dadd_distinct(Arguments a) { global_atomic<double, Add, kIgnored>(a); }
__global__ void atom_add_distinct(Arguments a) { global_atomic<u32, Add, kUsed>(a); }
__global__ void atom_add_same(Arguments a) { global_atomic<u32, Add, kUsed>(a); }
__global__ void atom_add_pairs(Arguments a) { global_atomic<u32, Add, kUsed>(a); }
__global__ void atom_add_stride8(Arguments a) { global_atomic<u32, Add, kUsed>(a); }
__global__ void atom_add_random(Arguments a) { global_atomic<u32, Add, kUsed>(a); }
__global__ void atom_add_odd_lanes(Arguments a) { global_atomic<u32, Add, kUsed>(a); }
__global__ void atom_exch_distinct(Arguments a) { global_atomic<u32, Exchange, kUsed>(a); }
__global__ void atom_exch_same(Arguments a) { global_atomic<u32, Exchange, kUsed>(a); }
__global__ void atom_cas_distinct(Arguments a) { global_atomic<u32, CompareAndSwap, kUsed>(a); }
__global__ void atom_cas_same(Arguments a) { global_atomic<u32, CompareAndSwap, kUsed>(a); }
__global__ void atom_fadd_same(Arguments a) { global_atomic<float, Add, kUsed>(a); }
__global__ void atom_add64_distinct(Arguments a) { global_atomic<u64, Add, kUsed>(a); }

// One counter that the compiler can see is one: it may let one lane add for its warp.
// Where the compiler sees that all lanes name one address, one of them adds for all: so it must not see it.
__global__ void red_counter(Arguments a) {
  atomicAdd(&a.out[blockIdx.x + a.index[threadIdx.x]], 1u);
}
__global__ void red_counter_value(Arguments a) {
  atomicAdd(&a.out[blockIdx.x + a.index[threadIdx.x]], a.in[threadIdx.x] % 1000u);
}
__global__ void red_block_leader(Arguments a) {
  if (threadIdx.x == 0) atomicAdd(&a.out[blockIdx.x / 4], a.value);
}
__global__ void atom_counter_slots(Arguments a) {
  const unsigned slot = atomicAdd(&a.out[blockIdx.x + a.index[threadIdx.x]], 1u);
  a.extra[blockIdx.x * blockDim.x + slot] = threadIdx.x;
}

// ---------------------------------------------------------------------------------------------------
// Structures in memory
// ---------------------------------------------------------------------------------------------------

struct Quad {  // four words, aligned as one: nvcc may not widen the accesses
  unsigned x, y, z, w;
};
struct Mixed {  // 16 bytes with padding at the end
  unsigned long long key;
  unsigned value;
};
struct Rgb {
  unsigned char r, g, b;
};

__global__ void aos_one_field(Arguments a) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  a.out[i] = reinterpret_cast<const Quad*>(a.in)[i].y;
}

__global__ void aos_four_fields(Arguments a) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const Quad* const p = reinterpret_cast<const Quad*>(a.in) + i;
  a.out[i] = p->x + 3 * p->y + 5 * p->z + 7 * p->w;
}

__global__ void aos_aligned_vector(Arguments a) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  a.out[i] = digest(reinterpret_cast<const uint4*>(a.in)[i]);
}

__global__ void soa_four_fields(Arguments a) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  a.out[i] = a.in[i] + 3 * a.in[a.n + i] + 5 * a.in[2 * a.n + i] + 7 * a.in[3 * a.n + i];
}

__global__ void aos_write_one_field(Arguments a) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  reinterpret_cast<Quad*>(a.out)[i].z = mix(i);
}

__global__ void mixed_struct_read(Arguments a) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const Mixed* const p = reinterpret_cast<const Mixed*>(a.in) + i;
  a.out[i] = static_cast<unsigned>(p->key) + 3 * static_cast<unsigned>(p->key >> 32) + 5 * p->value;
}

__global__ void float3_copy(Arguments a) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  reinterpret_cast<float3*>(a.out)[i] = reinterpret_cast<const float3*>(a.in)[i];
}

__global__ void float3_one_field(Arguments a) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  reinterpret_cast<float*>(a.out)[i] = reinterpret_cast<const float3*>(a.in)[i].z;
}

__global__ void float3_shared(Arguments a) {
  __shared__ float3 s[128];
  const int t = threadIdx.x;
  s[t] = reinterpret_cast<const float3*>(a.in)[blockIdx.x * blockDim.x + t];
  __syncthreads();
  reinterpret_cast<float3*>(a.out)[blockIdx.x * blockDim.x + t] = s[blockDim.x - 1 - t];
}

__global__ void int2_copy(Arguments a) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  reinterpret_cast<int2*>(a.out)[i] = reinterpret_cast<const int2*>(a.in)[i];
}

__global__ void float4_copy(Arguments a) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  reinterpret_cast<float4*>(a.out)[i] = reinterpret_cast<const float4*>(a.in)[i];
}

__global__ void float4_scaled(Arguments a) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const uint4 v = reinterpret_cast<const uint4*>(a.in)[i];
  reinterpret_cast<uint4*>(a.out)[i] =
      make_uint4(v.x * a.value, v.y * a.value, v.z * a.value, v.w * a.value);
}

__global__ void double2_copy(Arguments a) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  reinterpret_cast<double2*>(a.out)[i] = reinterpret_cast<const double2*>(a.in)[i];
}

__global__ void uchar4_digest(Arguments a) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const uchar4 v = reinterpret_cast<const uchar4*>(a.in)[i];
  a.out[i] = v.x + 3 * v.y + 5 * v.z + 7 * v.w;
}

__global__ void rgb_to_gray(Arguments a) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const Rgb v = reinterpret_cast<const Rgb*>(a.in)[i];
  reinterpret_cast<unsigned char*>(a.out)[i] =
      static_cast<unsigned char>((v.r + 2 * v.g + v.b) / 4);
}

__global__ void read_only_cache(Arguments a) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  a.out[i] = __ldg(&a.in[i * a.stride]);
}

__constant__ unsigned constant_table[32] = {3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 9, 3,
                                            2, 3, 8, 4, 6, 2, 6, 4, 3, 3, 8, 3, 2, 7, 9, 5};
__device__ unsigned device_table[1024];

__global__ void constant_memory(Arguments a) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  a.out[i] = constant_table[threadIdx.x & 31] + a.in[i];
}

__global__ void device_variable(Arguments a) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  device_table[i] = a.in[i];
  a.out[i] = device_table[i] + 1;
}

/// An array of a thread's own, indexed at run time: local memory, which is none of the counts.
__global__ void local_array(Arguments a) {
  unsigned mine[16];
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
#pragma unroll 1
  for (int k = 0; k < 16; k++) mine[k] = mix(i + k);
  a.out[i] = mine[a.index[threadIdx.x]];
}

// ---------------------------------------------------------------------------------------------------
// Block shapes and tails
// ---------------------------------------------------------------------------------------------------

/// Any block shape: consecutive threads of the block read consecutive words.
__device__ __forceinline__ void copy_linear(const Arguments& a) {
  const int i = blockIdx.x * block_threads() + thread_in_block();
  if (i < a.n) a.out[i] = a.in[i] + 1;
}
/// A 2D grid over an array with rows of `stride` words and `n` rows, x fastest.
__device__ __forceinline__ void copy_rows(const Arguments& a) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  const int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < a.stride && y < a.n) a.out[y * a.stride + x] = a.in[y * a.stride + x] + 1;
}

__global__ void block_of_1(Arguments a) { copy_linear(a); }
__global__ void block_of_33(Arguments a) { copy_linear(a); }
__global__ void block_of_48(Arguments a) { copy_linear(a); }
__global__ void block_of_1000(Arguments a) { copy_linear(a); }
__global__ void tail_of_256(Arguments a) { copy_linear(a); }
__global__ void block_8x8(Arguments a) { copy_rows(a); }
__global__ void block_16x16(Arguments a) { copy_rows(a); }
__global__ void block_32x8_ragged(Arguments a) { copy_rows(a); }
__global__ void block_5x7(Arguments a) { copy_rows(a); }
__global__ void block_1x64(Arguments a) { copy_rows(a); }

/// x and y exchanged: threads that are neighbours in the warp are a row apart in memory.
__global__ void block_16x16_columns(Arguments a) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  const int column = blockIdx.y * blockDim.y + threadIdx.y;
  if (row < a.n && column < a.stride) {
    a.out[row * a.stride + column] = a.in[row * a.stride + column] + 1;
  }
}

__global__ void block_4x4x4(Arguments a) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  const int y = blockIdx.y * blockDim.y + threadIdx.y;
  const int z = blockIdx.z * blockDim.z + threadIdx.z;
  const int i = (z * a.stride + y) * a.stride + x;
  a.out[i] = a.in[i] + 1;
}

__global__ void shared_8x8_padded(Arguments a) {
  __shared__ unsigned tile[8][9];
  const int x = threadIdx.x, y = threadIdx.y;
  tile[y][x] = a.in[blockIdx.x * 64 + y * 8 + x];
  __syncthreads();
  a.out[blockIdx.x * 64 + y * 8 + x] = tile[x][y];
}

__global__ void shared_4x4x4(Arguments a) {
  __shared__ unsigned cube[4][4][4];
  const int x = threadIdx.x, y = threadIdx.y, z = threadIdx.z;
  cube[z][y][x] = a.in[blockIdx.x * 64 + (z * 4 + y) * 4 + x];
  __syncthreads();
  a.out[blockIdx.x * 64 + (z * 4 + y) * 4 + x] = cube[x][z][y];
}

__global__ void grid_stride(Arguments a) {
#pragma unroll 1
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < a.n; i += gridDim.x * blockDim.x) {
    a.out[i] = a.in[i] * 3;
  }
}

// ---------------------------------------------------------------------------------------------------
// Control flow: which lanes are together when an access is made
// ---------------------------------------------------------------------------------------------------

__global__ void loop_lane_length(Arguments a) {
  const int t = threadIdx.x;
  unsigned sum = 0;
#pragma unroll 1
  for (int i = 0; i < t; i++) sum += a.in[i * 32 + t];
  a.out[blockIdx.x * blockDim.x + t] = sum;
}

__global__ void loop_data_length(Arguments a) {
  const int t = threadIdx.x;
  unsigned sum = 0;
#pragma unroll 1
  for (int i = 0; i < a.index[t]; i++) sum += a.in[i * 32 + t];
  a.out[blockIdx.x * blockDim.x + t] = sum;
}

__global__ void loop_storing(Arguments a) {
  const int t = threadIdx.x;
#pragma unroll 1
  for (int i = 0; i < t % 5; i++) a.out[(blockIdx.x * 8 + i) * 32 + t] = mix(i * 32 + t);
}

__global__ void loop_tail_branch(Arguments a) {
  const int t = threadIdx.x;
  unsigned sum = 0;
#pragma unroll 1
  for (int i = 0; i < 8; i++) {
    const unsigned v = a.in[i * 32 + t];
    sum += v;
    if (v & 64) sum = sum * 5 + i;
  }
  a.out[blockIdx.x * blockDim.x + t] = sum;
}

__global__ void loop_tail_load(Arguments a) {
  const int t = threadIdx.x;
  unsigned sum = 0;
#pragma unroll 1
  for (int i = 0; i < 8; i++) {
    const unsigned v = a.in[i * 32 + t];
    sum += v;
    if (v & 64) sum ^= a.in[1024 + i * 64 + 2 * t];
  }
  a.out[blockIdx.x * blockDim.x + t] = sum;
}

__global__ void loop_continue(Arguments a) {
  const int t = threadIdx.x;
  unsigned sum = 0;
#pragma unroll 1
  for (int i = 0; i < 8; i++) {
    const unsigned v = a.in[i * 32 + t];
    if (v % 3 == 0) continue;
    sum += a.in[1024 + i * 32 + t];
  }
  a.out[blockIdx.x * blockDim.x + t] = sum;
}

__global__ void loop_break(Arguments a) {
  const int t = threadIdx.x;
  unsigned sum = 0;
#pragma unroll 1
  for (int i = 0; i < a.n; i++) {
    const unsigned v = a.in[i * 32 + t];
    if (((v >> 8) & 7) == 0) break;
    sum += v;
  }
  a.out[blockIdx.x * blockDim.x + t] = sum;
}

__global__ void loop_return(Arguments a) {
  const int t = threadIdx.x;
#pragma unroll 1
  for (int i = 0; i < a.n; i++) {
    if (a.in[i * 32 + t] % 5 == 0) {
      a.out[blockIdx.x * blockDim.x + t] = i;
      return;
    }
  }
}

__global__ void nested_divergence(Arguments a) {
  const int t = threadIdx.x;
  unsigned sum = 0;
  if (t & 1) {
#pragma unroll 1
    for (int i = 0; i < t % 7; i++) {
      sum += a.in[i * 32 + t];
      if (t & 2) {
#pragma unroll 1
        for (int k = 0; k < i; k++) sum ^= a.in[2048 + k * 32 + t];
      }
    }
  } else {
#pragma unroll 1
    for (int i = 0; i < t % 5; i++) sum += 3 * a.in[4096 + i * 64 + t];
  }
  a.out[blockIdx.x * blockDim.x + t] = sum + a.in[8192 + t];
}

__global__ void loops_in_step(Arguments a) {
  const int t = threadIdx.x;
  unsigned sum = 0;
#pragma unroll 1
  for (int i = 0; i < a.n; i++) {
    const int length = (t + i) % 4;
#pragma unroll 1
    for (int k = 0; k < length; k++) sum += a.in[(i * 4 + k) * 32 + t];
    sum ^= a.in[4096 + i * 32 + t];
  }
  a.out[blockIdx.x * blockDim.x + t] = sum;
}

__global__ void if_else_loads(Arguments a) {
  const int t = threadIdx.x;
  unsigned v;
  if (a.in[t] % 3 == 0) {
    v = a.in[1024 + t] * 3;
    a.extra[blockIdx.x * blockDim.x + t] = v;
  } else {
    v = reinterpret_cast<const unsigned short*>(a.in)[4096 + 2 * t];
  }
  a.out[blockIdx.x * blockDim.x + t] = v;
}

__global__ void switch_four(Arguments a) {
  const int t = threadIdx.x;
  unsigned v = 0;
  switch (a.index[t]) {
    case 0:
      v = a.in[t];
      break;
    case 1:
      v = reinterpret_cast<const unsigned short*>(a.in)[2048 + t] * 3u;
      break;
    case 2:
      v = digest(reinterpret_cast<const uint2*>(a.in)[1024 + t]);
      break;
    default:
      v = digest(reinterpret_cast<const uint4*>(a.in)[1024 + t]);
      break;
  }
  a.out[blockIdx.x * blockDim.x + t] = v;
}

__global__ void short_circuit(Arguments a) {
  const int t = threadIdx.x;
  unsigned v = 1;
  if (a.in[t] % 3 != 0 && a.in[1024 + 2 * t] % 5 != 0 && a.in[2048 + 4 * t] % 7 != 0) v = 2;
  a.out[blockIdx.x * blockDim.x + t] = v;
}

__global__ void branch_by_warp(Arguments a) {
  const int t = threadIdx.x;
  unsigned v;
  if ((t / 32) & 1) {
    v = digest(reinterpret_cast<const uint2*>(a.in)[t]);
  } else {
    v = a.in[t];
  }
  a.out[blockIdx.x * blockDim.x + t] = v;
}

__global__ void binary_search(Arguments a) {
  const int t = threadIdx.x;
  const unsigned key = 7 + 89 * t + blockIdx.x;
  int low = 0, high = a.n;
#pragma unroll 1
  while (low < high) {
    const int middle = (low + high) / 2;
    if (a.in[middle] < key) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  a.out[blockIdx.x * blockDim.x + t] = low;
}

__global__ void chase(Arguments a) {
  const int t = threadIdx.x;
  unsigned at = a.index[t], steps = 0;
#pragma unroll 1
  while (at > 1) {
    at = a.in[at];
    steps++;
  }
  a.out[blockIdx.x * blockDim.x + t] = steps;
}

__global__ void early_return(Arguments a) {
  __shared__ unsigned s[64];
  const int t = threadIdx.x;
  if (t >= a.n) return;
  s[t] = a.in[t];
  __syncthreads();
  a.out[blockIdx.x * blockDim.x + t] = s[a.n - 1 - t];
}

__global__ void barrier_in_loop(Arguments a) {
  __shared__ unsigned s[64];
  const int t = threadIdx.x;
  unsigned v = a.in[t];
#pragma unroll 1
  for (int i = 0; i < a.n; i++) {
    s[t] = v;
    __syncthreads();
    v += s[(t + 1) % 64];
    __syncthreads();
  }
  a.out[blockIdx.x * blockDim.x + t] = v;
}

// Functions that are called, not inlined.
__device__ __noinline__ unsigned read_pair(const unsigned* p, int i) {
  return p[i] + 3 * p[i + 64];
}
__device__ __noinline__ unsigned read_until(const unsigned* p, int i, int n) {
  unsigned sum = 0;
#pragma unroll 1
  for (int k = 0; k < n; k++) sum += p[k * 32 + i];
  return sum;
}

__global__ void call_uniform(Arguments a) {
  const int t = threadIdx.x;
  a.out[blockIdx.x * blockDim.x + t] = read_pair(a.in, t) ^ read_pair(a.in + a.stride, 2 * t);
}

__global__ void call_divergent(Arguments a) {
  const int t = threadIdx.x;
  unsigned v;
  if (a.in[t] % 3 == 0) {
    v = read_pair(a.in + 512, t) * 3;
    a.extra[blockIdx.x * blockDim.x + t] = v;
  } else {
    v = read_pair(a.in + 2048, 4 * t) ^ 5;
  }
  a.out[blockIdx.x * blockDim.x + t] = v;
}

__global__ void call_loop_inside(Arguments a) {
  const int t = threadIdx.x;
  a.out[blockIdx.x * blockDim.x + t] = read_until(a.in, t, t % 6) + a.in[4096 + t];
}

__global__ void call_in_loop(Arguments a) {
  const int t = threadIdx.x;
  unsigned sum = 0;
#pragma unroll 1
  for (int i = 0; i <= t % 3; i++) sum += read_until(a.in + 1024 * i, t, (t + i) % 3);
  a.out[blockIdx.x * blockDim.x + t] = sum;
}

/// A pointer of which the compiler cannot know whether it points to shared or to global memory.
__device__ __noinline__ unsigned read_any(const unsigned* p, int i) { return p[i]; }

__global__ void generic_pointer(Arguments a) {
  __shared__ unsigned s[64];
  const int t = threadIdx.x;
  s[t] = mix(t);
  s[t + 32] = mix(t + 32);
  __syncthreads();
  a.out[blockIdx.x * blockDim.x + t] = read_any(s, 2 * t) + read_any(a.in, 8 * t);
}

// Shuffles and votes touch no memory; what counts is who is there.
__global__ void shuffle_sum(Arguments a) {
  const int t = threadIdx.x;
  unsigned v = a.in[blockIdx.x * blockDim.x + t];
#pragma unroll 1
  for (int distance = 16; distance > 0; distance /= 2) {
    v += __shfl_down_sync(kFullWarp, v, distance);
  }
  if (t % 32 == 0) a.out[(blockIdx.x * blockDim.x + t) / 32] = v;
}

__global__ void shuffle_exited_lanes(Arguments a) {
  const int t = threadIdx.x;
  if (t >= 20) return;
  const unsigned present = 0x000FFFFFu;
  unsigned v = a.in[t];
  v += __shfl_sync(present, v, (t + 1) % 20);
  v ^= __shfl_xor_sync(present, v, 1);
  v += __popc(__ballot_sync(present, v & 1));
  a.out[blockIdx.x * blockDim.x + t] = v;
}

__global__ void shuffle_in_branch(Arguments a) {
  const int t = threadIdx.x;
  unsigned v = a.in[t];
  if (t & 1) {
    v += __shfl_sync(0xAAAAAAAAu, a.in[1024 + t], (t + 2) % 32);
  }
  a.out[blockIdx.x * blockDim.x + t] = v;
}

__global__ void shuffle_in_loop(Arguments a) {
  const int t = threadIdx.x;
  unsigned v = a.in[t];
#pragma unroll 1
  for (int i = 0; i < a.n; i++) {
    const unsigned other = __shfl_xor_sync(kFullWarp, v, i + 1);
    if (other & 32) v += a.in[1024 + i * 32 + t];
    __syncwarp();
  }
  a.out[blockIdx.x * blockDim.x + t] = v;
}

// ---------------------------------------------------------------------------------------------------
// Whole kernels as courses write them
// ---------------------------------------------------------------------------------------------------

__global__ void transpose_naive(Arguments a) {
  const int x = blockIdx.x * 32 + threadIdx.x;
  const int y = blockIdx.y * 32 + threadIdx.y;
  a.out[x * a.n + y] = a.in[y * a.n + x];
}

__global__ void transpose_tile32(Arguments a) {
  __shared__ unsigned tile[32][32];
  tile[threadIdx.y][threadIdx.x] =
      a.in[(blockIdx.y * 32 + threadIdx.y) * a.n + blockIdx.x * 32 + threadIdx.x];
  __syncthreads();
  a.out[(blockIdx.x * 32 + threadIdx.y) * a.n + blockIdx.y * 32 + threadIdx.x] =
      tile[threadIdx.x][threadIdx.y];
}

__global__ void transpose_tile33(Arguments a) {
  __shared__ unsigned tile[32][33];
  tile[threadIdx.y][threadIdx.x] =
      a.in[(blockIdx.y * 32 + threadIdx.y) * a.n + blockIdx.x * 32 + threadIdx.x];
  __syncthreads();
  a.out[(blockIdx.x * 32 + threadIdx.y) * a.n + blockIdx.y * 32 + threadIdx.x] =
      tile[threadIdx.x][threadIdx.y];
}

__global__ void transpose_swizzled(Arguments a) {
  __shared__ unsigned tile[32][32];
  const int x = threadIdx.x, y = threadIdx.y;
  tile[y][x ^ y] = a.in[(blockIdx.y * 32 + y) * a.n + blockIdx.x * 32 + x];
  __syncthreads();
  a.out[(blockIdx.x * 32 + y) * a.n + blockIdx.y * 32 + x] = tile[x][y ^ x];
}

/// Each thread walks along a row of its own: neighbours are `stride` words apart.
__device__ __forceinline__ void walk_row(const Arguments& a) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned sum = 0;
#pragma unroll 1
  for (int i = 0; i < a.n; i++) sum += a.in[row * a.stride + i];
  a.out[row] = sum;
}
__global__ void column_walk_2(Arguments a) { walk_row(a); }
__global__ void column_walk_9(Arguments a) { walk_row(a); }
__global__ void column_walk_100(Arguments a) { walk_row(a); }
__global__ void column_walk_1024(Arguments a) { walk_row(a); }

__global__ void stencil_global(Arguments a) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= a.n) return;
  unsigned sum = 2 * a.in[i];
  if (i > 0) sum += a.in[i - 1];
  if (i + 1 < a.n) sum += a.in[i + 1];
  a.out[i] = sum;
}

// A call: around it the compiler has to branch. Shorter code it predicates instead, and Nsight Compute's
// counter of instructions takes those for executed in which no lane is active.
__device__ __noinline__ unsigned plus(unsigned a, unsigned b) { return a + b; }

__global__ void stencil_shared(Arguments a) {
  __shared__ unsigned s[128 + 6];  // a radius of 3 on both sides
  const int t = threadIdx.x;
  const int i = blockIdx.x * blockDim.x + t;
  s[t + 3] = a.in[i + 3];
  if (t < 3) {
    s[t] = plus(a.in[i], 0);
    s[t + 131] = plus(a.in[i + 131], 0);
  }
  __syncthreads();
  unsigned sum = 0;
#pragma unroll 1
  for (int k = 0; k < 7; k++) sum = sum * 3 + s[t + k];
  a.out[i] = sum;
}

__global__ void reduce_modulo(Arguments a) {
  __shared__ unsigned s[256];
  const int t = threadIdx.x;
  s[t] = a.in[blockIdx.x * blockDim.x + t];
  __syncthreads();
#pragma unroll 1
  for (int step = 1; step < static_cast<int>(blockDim.x); step *= 2) {
    if (t % (2 * step) == 0) s[t] = plus(s[t], s[t + step]);
    __syncthreads();
  }
  if (t == 0) a.out[blockIdx.x] = s[0];
}

__global__ void reduce_strided(Arguments a) {
  __shared__ unsigned s[256];
  const int t = threadIdx.x;
  s[t] = a.in[blockIdx.x * blockDim.x + t];
  __syncthreads();
#pragma unroll 1
  for (int step = 1; step < static_cast<int>(blockDim.x); step *= 2) {
    const int i = 2 * step * t;
    if (i < static_cast<int>(blockDim.x)) s[i] = plus(s[i], s[i + step]);
    __syncthreads();
  }
  if (t == 0) a.out[blockIdx.x] = s[0];
}

__global__ void reduce_sequential(Arguments a) {
  __shared__ unsigned s[256];
  const int t = threadIdx.x;
  s[t] = a.in[blockIdx.x * blockDim.x + t];
  __syncthreads();
#pragma unroll 1
  for (int step = blockDim.x / 2; step > 0; step /= 2) {
    if (t < step) s[t] = plus(s[t], s[t + step]);
    __syncthreads();
  }
  if (t == 0) a.out[blockIdx.x] = s[0];
}

__global__ void reduce_shuffle(Arguments a) {
  __shared__ unsigned warps[8];
  const int t = threadIdx.x;
  unsigned v = a.in[blockIdx.x * blockDim.x + t];
#pragma unroll 1
  for (int distance = 16; distance > 0; distance /= 2) {
    v += __shfl_down_sync(kFullWarp, v, distance);
  }
  if (t % 32 == 0) warps[t / 32] = v;
  __syncthreads();
  if (t < 32) {
    v = t < 8 ? warps[t] : 0;
#pragma unroll 1
    for (int distance = 4; distance > 0; distance /= 2) {
      v += __shfl_down_sync(kFullWarp, v, distance);
    }
    if (t == 0) a.out[blockIdx.x] = v;
  }
}

__global__ void scan_two_buffers(Arguments a) {
  __shared__ unsigned s[2][128];
  const int t = threadIdx.x;
  int from = 0;
  s[0][t] = a.in[blockIdx.x * blockDim.x + t];
  __syncthreads();
#pragma unroll 1
  for (int step = 1; step < 128; step *= 2) {
    unsigned v = s[from][t];
    if (t >= step) v = plus(v, s[from][t - step]);
    s[1 - from][t] = v;
    from = 1 - from;
    __syncthreads();
  }
  a.out[blockIdx.x * blockDim.x + t] = s[from][t];
}

__global__ void histogram_shared(Arguments a) {
  __shared__ unsigned bins[256];
  const int t = threadIdx.x;
  bins[t] = 0;
  __syncthreads();
  const unsigned char* const bytes = reinterpret_cast<const unsigned char*>(a.in);
#pragma unroll 1
  for (int i = blockIdx.x * blockDim.x + t; i < a.n; i += gridDim.x * blockDim.x) {
    atomicAdd(&bins[bytes[i]], 1u);
  }
  __syncthreads();
  atomicAdd(&a.out[t], bins[t]);
}

__global__ void histogram_global(Arguments a) {
  const unsigned char* const bytes = reinterpret_cast<const unsigned char*>(a.in);
#pragma unroll 1
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < a.n; i += gridDim.x * blockDim.x) {
    atomicAdd(&a.out[bytes[i]], 1u);
  }
}

__global__ void gather_random(Arguments a) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  a.out[i] = a.in[(a.in[i] >> 3) % a.n];
}

__global__ void scatter_permuted(Arguments a) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  a.out[(i * a.stride) & (a.n - 1)] = a.in[i];
}

__global__ void gemm_naive(Arguments a) {
  const int column = blockIdx.x * blockDim.x + threadIdx.x;
  const int row = blockIdx.y * blockDim.y + threadIdx.y;
  const unsigned* const b = a.in + a.n * a.n;
  unsigned sum = 0;
#pragma unroll 1
  for (int k = 0; k < a.n; k++) sum += a.in[row * a.n + k] * b[k * a.n + column];
  a.out[row * a.n + column] = sum;
}

__global__ void gemm_tiled16(Arguments a) {
  __shared__ unsigned as[16][16];  // (BM, BK)
  __shared__ unsigned bs[16][16];  // (BK, BN)
  const int tx = threadIdx.x, ty = threadIdx.y;
  const int column = blockIdx.x * 16 + tx;
  const int row = blockIdx.y * 16 + ty;
  const unsigned* const b = a.in + a.n * a.n;
  unsigned sum = 0;
#pragma unroll 1
  for (int k0 = 0; k0 < a.n; k0 += 16) {
    as[ty][tx] = a.in[row * a.n + k0 + tx];
    bs[ty][tx] = b[(k0 + ty) * a.n + column];
    __syncthreads();
#pragma unroll 1
    for (int k = 0; k < 16; k++) sum += as[ty][k] * bs[k][tx];
    __syncthreads();
  }
  a.out[row * a.n + column] = sum;
}

__global__ void gemm_tiled32(Arguments a) {
  __shared__ unsigned as[32][32];  // (BM, BK)
  __shared__ unsigned bs[32][32];  // (BK, BN)
  const int tx = threadIdx.x, ty = threadIdx.y;
  const int column = blockIdx.x * 32 + tx;
  const int row = blockIdx.y * 32 + ty;
  const unsigned* const b = a.in + a.n * a.n;
  unsigned sum = 0;
#pragma unroll 1
  for (int k0 = 0; k0 < a.n; k0 += 32) {
    as[ty][tx] = a.in[row * a.n + k0 + tx];
    bs[ty][tx] = b[(k0 + ty) * a.n + column];
    __syncthreads();
#pragma unroll 1
    for (int k = 0; k < 32; k++) sum += as[ty][k] * bs[k][tx];
    __syncthreads();
  }
  a.out[row * a.n + column] = sum;
}

// ---- asynchronous copies from global to shared memory

__global__ void cp4_stride1(Arguments a) { async_copy<u32>(a); }
__global__ void cp4_from_stride2(Arguments a) { async_copy<u32>(a); }
__global__ void cp4_from_stride8(Arguments a) { async_copy<u32>(a); }
__global__ void cp4_from_same(Arguments a) { async_copy<u32>(a); }
__global__ void cp4_from_random(Arguments a) { async_copy<u32>(a); }
__global__ void cp4_to_stride2(Arguments a) { async_copy<u32>(a); }
__global__ void cp4_to_stride4(Arguments a) { async_copy<u32>(a); }
__global__ void cp4_to_stride8(Arguments a) { async_copy<u32>(a); }
__global__ void cp4_odd_lanes(Arguments a) { async_copy<u32>(a); }
__global__ void cp4_low_half(Arguments a) { async_copy<u32>(a); }
__global__ void cp4_to_stride32(Arguments a) { async_copy<u32>(a); }
__global__ void cp4_to_stride33(Arguments a) { async_copy<u32>(a); }
__global__ void cp4_transposed(Arguments a) { async_copy<u32>(a); }
__global__ void cp4_one_lane(Arguments a) { async_copy<u32>(a); }
__global__ void cp8_stride1(Arguments a) { async_copy<uint2>(a); }
__global__ void cp8_from_stride2(Arguments a) { async_copy<uint2>(a); }
__global__ void cp8_from_stride8(Arguments a) { async_copy<uint2>(a); }
__global__ void cp8_from_same(Arguments a) { async_copy<uint2>(a); }
__global__ void cp8_from_random(Arguments a) { async_copy<uint2>(a); }
__global__ void cp8_to_stride2(Arguments a) { async_copy<uint2>(a); }
__global__ void cp8_to_stride4(Arguments a) { async_copy<uint2>(a); }
__global__ void cp8_to_stride8(Arguments a) { async_copy<uint2>(a); }
__global__ void cp8_odd_lanes(Arguments a) { async_copy<uint2>(a); }
__global__ void cp8_low_half(Arguments a) { async_copy<uint2>(a); }
__global__ void cp8_to_stride16(Arguments a) { async_copy<uint2>(a); }
__global__ void cp8_to_stride17(Arguments a) { async_copy<uint2>(a); }
__global__ void cp16_stride1(Arguments a) { async_copy<uint4>(a); }
__global__ void cp16_from_stride2(Arguments a) { async_copy<uint4>(a); }
__global__ void cp16_from_stride8(Arguments a) { async_copy<uint4>(a); }
__global__ void cp16_from_same(Arguments a) { async_copy<uint4>(a); }
__global__ void cp16_from_random(Arguments a) { async_copy<uint4>(a); }
__global__ void cp16_to_stride2(Arguments a) { async_copy<uint4>(a); }
__global__ void cp16_to_stride4(Arguments a) { async_copy<uint4>(a); }
__global__ void cp16_to_stride8(Arguments a) { async_copy<uint4>(a); }
__global__ void cp16_odd_lanes(Arguments a) { async_copy<uint4>(a); }
__global__ void cp16_low_half(Arguments a) { async_copy<uint4>(a); }
__global__ void cp16_to_stride9(Arguments a) { async_copy<uint4>(a); }
__global__ void cp16_from_stride4_to_stride2(Arguments a) { async_copy<uint4>(a); }

// ---------------------------------------------------------------------------------------------------
// Host side: what a case is, how it runs, what it must compute
// ---------------------------------------------------------------------------------------------------

namespace {

/// What a reference sees and fills. `out` and `extra` hold the initial values when it is called.
struct Host {
  const Arguments& a;  // the scalars; its pointers are the device's
  int blocks, threads;
  const std::vector<unsigned>& in;
  const std::vector<int>& index;
  std::vector<unsigned>& out;
  std::vector<unsigned>& extra;
};

using Kernel = void (*)(Arguments);
using Pattern = std::function<int(int)>;  // thread of the block -> element, negative: takes no part
using PerThread = std::function<std::optional<unsigned>(const Host&, int block, int thread)>;

struct Case {
  std::string name;
  Kernel kernel = nullptr;
  dim3 grid{16}, block{32};
  std::string sass;  // memory instructions that the machine code must hold: "LDG:1 STS:1 LDS.64:1"
  Arguments a{};     // scalars only
  Pattern index = [](int t) { return t; };
  std::function<unsigned(unsigned)> input = mix;
  std::size_t in_words = 16384;
  std::size_t out_words = 0, extra_words = 0;
  std::function<unsigned(std::size_t)> out_initial = [](std::size_t) { return kPoison; };
  std::function<void(Host)> reference;
  bool extra_any_order = false;  // the values returned at one element come in any order

  int threads() const { return static_cast<int>(block.x * block.y * block.z); }
  int blocks() const { return static_cast<int>(grid.x * grid.y * grid.z); }
};

std::vector<Case>& cases() {
  static std::vector<Case> all;
  return all;
}

// A kernel and its name: what only a macro can do.
#define NAMED(kernel) #kernel, kernel

int round_up(int n, int multiple) { return (n + multiple - 1) / multiple * multiple; }

/// One past the greatest element that the pattern names.
int extent(const Case& c) {
  int most = 0;
  for (int t = 0; t < c.threads(); t++) most = std::max(most, c.index(t) + 1);
  return most;
}

template <class T>
std::string width() {
  return sizeof(T) == 4  ? ""
         : sizeof(T) < 4 ? ".U" + std::to_string(8 * sizeof(T))
                         : "." + std::to_string(8 * sizeof(T));
}

Case pattern_case(const char* name, Kernel kernel, Pattern index, int threads) {
  Case c;
  c.name = name;
  c.kernel = kernel;
  c.index = std::move(index);
  c.block = dim3(threads);
  return c;
}

template <class T>
void shared_load_case(const char* name, Kernel kernel, Pattern index, int threads = 32) {
  Case c = pattern_case(name, kernel, std::move(index), threads);
  c.a.words = round_up(static_cast<int>((extent(c) * sizeof(T) + 3) / 4), threads);
  c.sass = "LDG:1 STS:1 LDS" + width<T>() + ":1 STG:1";
  c.out_words = c.blocks() * threads;
  c.reference = [](Host h) {
    std::vector<unsigned> words(h.a.words);
    for (int i = 0; i < h.a.words; i++) words[i] = mix(i);
    for (int i = 0; i < h.blocks * h.threads; i++) {
      const int at = h.index[i % h.threads];
      if (at < 0) continue;
      T v;
      std::memcpy(&v, reinterpret_cast<const char*>(words.data()) + at * sizeof(T), sizeof(T));
      h.out[i] = digest(v);
    }
  };
  cases().push_back(std::move(c));
}

template <class T>
void store_reference(Host h, unsigned initial) {
  for (int b = 0; b < h.blocks; b++) {
    unsigned* const region = h.out.data() + b * h.a.words;
    if (initial == 0) std::fill(region, region + h.a.words, 0u);
    for (int t = 0; t < h.threads; t++) {
      const int at = h.index[t];
      if (at < 0) continue;
      const T v = make<T>(at);
      std::memcpy(reinterpret_cast<char*>(region) + at * sizeof(T), &v, sizeof(T));
    }
  }
}

template <class T>
void shared_store_case(const char* name, Kernel kernel, Pattern index, int threads = 32) {
  Case c = pattern_case(name, kernel, std::move(index), threads);
  c.a.words = round_up(static_cast<int>((extent(c) * sizeof(T) + 3) / 4), threads);
  // nvcc names a narrow store by its width alone (STS.U8), as it does a narrow load.
  c.sass = sizeof(T) == 4 ? "LDG:1 STS:2 LDS:1 STG:1"
                          : "LDG:1 STS:1 STS" + width<T>() + ":1 LDS:1 STG:1";
  c.out_words = c.blocks() * c.a.words;
  c.reference = [](Host h) { store_reference<T>(h, 0); };
  cases().push_back(std::move(c));
}

template <class T>
void async_copy_case(const char* name, Kernel kernel, Pattern index, int stride, int threads = 32) {
  Case c = pattern_case(name, kernel, std::move(index), threads);
  c.in_words = round_up(static_cast<int>(extent(c) * sizeof(T) / 4), 64);
  c.a.stride = stride;
  c.a.words = round_up(static_cast<int>(((threads - 1) * stride + 1) * sizeof(T) / 4), threads);
  const std::string copy = sizeof(T) == 4   ? "LDGSTS"
                           : sizeof(T) == 8 ? "LDGSTS.64"
                                            : "LDGSTS.BYPASS.128";
  c.sass = "LDG:1 STS:1 " + copy + ":1 LDS:1 STG:1";
  c.out_words = c.blocks() * c.a.words;
  c.reference = [](Host h) {
    constexpr int kWords = sizeof(T) / 4;
    std::fill(h.out.begin(), h.out.end(), 0u);
    for (int i = 0; i < h.blocks * h.threads; i++) {
      const int block = i / h.threads, t = i % h.threads;
      for (int w = 0; h.index[t] >= 0 && w < kWords; w++) {
        h.out[block * h.a.words + t * h.a.stride * kWords + w] = h.in[h.index[t] * kWords + w];
      }
    }
  };
  cases().push_back(std::move(c));
}

template <class T>
void global_load_case(const char* name, Kernel kernel, Pattern index, int threads = 32) {
  Case c = pattern_case(name, kernel, std::move(index), threads);
  c.in_words = round_up(static_cast<int>((extent(c) * sizeof(T) + 3) / 4), 64);
  c.sass = sizeof(T) == 4 ? "LDG:2 STG:1" : "LDG:1 LDG" + width<T>() + ":1 STG:1";
  c.out_words = c.blocks() * threads;
  c.reference = [](Host h) {
    for (int i = 0; i < h.blocks * h.threads; i++) {
      const int at = h.index[i % h.threads];
      if (at < 0) continue;
      T v;
      std::memcpy(&v, reinterpret_cast<const char*>(h.in.data()) + at * sizeof(T), sizeof(T));
      h.out[i] = digest(v);
    }
  };
  cases().push_back(std::move(c));
}

template <class T>
void global_store_case(const char* name, Kernel kernel, Pattern index, int threads = 32) {
  Case c = pattern_case(name, kernel, std::move(index), threads);
  c.a.words = round_up(static_cast<int>((extent(c) * sizeof(T) + 3) / 4), 64);
  c.sass = "LDG:1 STG" + width<T>() + ":1";
  c.out_words = c.blocks() * c.a.words;
  c.reference = [](Host h) { store_reference<T>(h, kPoison); };
  cases().push_back(std::move(c));
}

/// Applies the operation thread by thread. Threads that meet bring the same operand, so neither the
/// last value nor the set of returned values depends on the order.
template <class T, class Operation>
void atomic_reference(Host h) {
  std::vector<T> elements(h.blocks * h.a.words, T(kInitial));
  for (int i = 0; i < h.blocks * h.threads; i++) {
    const int at = h.index[i % h.threads];
    if (at < 0) continue;
    T& element = elements[i / h.threads * h.a.words + at];
    if (!h.extra.empty()) h.extra[i] = static_cast<unsigned>(element);
    element = Operation::apply(element, operand<T>(h.a.value, at));
  }
  std::memcpy(h.out.data(), elements.data(), elements.size() * sizeof(T));
}

template <class T, class Operation>
Case atomic_case(const char* name, Kernel kernel, Pattern index, bool used) {
  Case c = pattern_case(name, kernel, std::move(index), 32);
  c.a.words = round_up(extent(c), 64);
  c.a.value = 1000;
  c.out_words = c.blocks() * c.a.words * sizeof(T) / 4;
  c.extra_words = used ? c.blocks() * c.threads() : 0;
  c.extra_any_order = used;
  c.reference = atomic_reference<T, Operation>;
  return c;
}

template <class T, class Operation, Returned R = kIgnored>
void shared_atomic_case(const char* name, Kernel kernel, Pattern index,
                        const std::string& atomics) {
  Case c = atomic_case<T, Operation>(name, kernel, std::move(index), R == kUsed);
  const std::string w = width<T>();
  c.sass = "LDG:1 STS" + w + ":1 " + atomics + " STG" + w + ":1" + (R == kUsed ? " STG:1" : "");
  cases().push_back(std::move(c));
}

template <class T, class Operation, Returned R = kIgnored>
void global_atomic_case(const char* name, Kernel kernel, Pattern index,
                        const std::string& atomics) {
  Case c = atomic_case<T, Operation>(name, kernel, std::move(index), R == kUsed);
  const T initial = T(kInitial);
  c.out_initial = [initial](std::size_t word) {
    unsigned words[sizeof(T) / 4];
    std::memcpy(words, &initial, sizeof(T));
    return words[word % (sizeof(T) / 4)];
  };
  c.sass = "LDG:1 " + atomics + (R == kUsed ? " STG:1" : "");
  cases().push_back(std::move(c));
}

/// Any other kernel: thread `t` of block `b` writes what `value` says to `out[b * threads + t]`. The
/// case is returned for what is special about it.
Case& thread_case(const char* name, Kernel kernel, dim3 grid, dim3 block, const char* sass,
                  PerThread value) {
  Case c;
  c.name = name;
  c.kernel = kernel;
  c.grid = grid;
  c.block = block;
  c.sass = sass;
  c.out_words = c.blocks() * c.threads();
  c.reference = [value = std::move(value)](Host h) {
    for (int i = 0; i < h.blocks * h.threads; i++) {
      if (const auto v = value(h, i / h.threads, i % h.threads)) h.out[i] = *v;
    }
  };
  cases().push_back(std::move(c));
  return cases().back();
}

/// Any other kernel, with a reference that fills `out` itself.
Case& whole_case(const char* name, Kernel kernel, dim3 grid, dim3 block, const char* sass,
                 std::size_t out_words, std::function<void(Host)> reference) {
  Case& c = thread_case(name, kernel, grid, block, sass, nullptr);
  c.out_words = out_words;
  c.reference = std::move(reference);
  return c;
}

// Patterns that several cases share.
Pattern stride(int s, int offset = 0) {
  return [=](int t) { return t * s + offset; };
}
Pattern only(std::function<bool(int)> takes_part, Pattern of = stride(1)) {
  return [=](int t) { return takes_part(t) ? of(t) : -1; };
}
bool odd(int t) { return t % 2 != 0; }
bool low_half(int t) { return t < 16; }
bool first8(int t) { return t < 8; }
bool lane5(int t) { return t == 5; }
Pattern random_below(unsigned n, unsigned seed) {
  return [=](int t) { return static_cast<int>((mix(t * 7919u + seed * 104729u) >> 11) % n); };
}
int permuted(int t) { return (t * 13 + 5) % 32; }
int bit_reversed(int t) {
  return (t & 1) << 4 | (t & 2) << 2 | (t & 4) | (t & 8) >> 2 | (t & 16) >> 4;
}
int zero(int) { return 0; }
int pairs(int t) { return t / 2; }
int quads(int t) { return t / 4; }
int by_two(int t) { return t & ~2; }   // lane i reads where lane i^2 does
int by_four(int t) { return t & ~4; }  // lane i reads where lane i^4 does
int halves_equal(int t) { return t % 16; }
int swapped(int t) { return t ^ 1; }
int word_reversed_bytes(int t) { return t / 4 * 4 + 3 - t % 4; }
int two_words_one_bank(int t) { return t % 2 * 32; }

void register_shared_loads() {
  shared_load_case<u8>(NAMED(lds8_stride1), stride(1));
  shared_load_case<u8>(NAMED(lds8_stride2), stride(2));
  shared_load_case<u8>(NAMED(lds8_stride4), stride(4));
  shared_load_case<u8>(NAMED(lds8_stride8), stride(8));
  shared_load_case<u8>(NAMED(lds8_stride128), stride(128));
  shared_load_case<u8>(NAMED(lds8_broadcast), zero);
  shared_load_case<u8>(NAMED(lds8_word_reversed), word_reversed_bytes);
  shared_load_case<u8>(NAMED(lds8_two_words_one_bank),
                       [](int t) { return t % 2 * 128 + t / 2 % 4; });
  shared_load_case<u8>(NAMED(lds8_random), random_below(512, 1));
  shared_load_case<u16>(NAMED(lds16_stride1), stride(1));
  shared_load_case<u16>(NAMED(lds16_stride2), stride(2));
  shared_load_case<u16>(NAMED(lds16_stride4), stride(4));
  shared_load_case<u16>(NAMED(lds16_stride64), stride(64));
  shared_load_case<u16>(NAMED(lds16_stride66), stride(66));
  shared_load_case<u16>(NAMED(lds16_halves_swapped), swapped);
  shared_load_case<u16>(NAMED(lds16_random), random_below(512, 2));

  shared_load_case<u32>(NAMED(lds32_stride1), stride(1));
  shared_load_case<u32>(NAMED(lds32_stride2), stride(2));
  shared_load_case<u32>(NAMED(lds32_stride3), stride(3));
  shared_load_case<u32>(NAMED(lds32_stride4), stride(4));
  shared_load_case<u32>(NAMED(lds32_stride8), stride(8));
  shared_load_case<u32>(NAMED(lds32_stride16), stride(16));
  shared_load_case<u32>(NAMED(lds32_stride32), stride(32));
  shared_load_case<u32>(NAMED(lds32_stride33), stride(33));
  shared_load_case<u32>(NAMED(lds32_broadcast), zero);
  shared_load_case<u32>(NAMED(lds32_pairs), pairs);
  shared_load_case<u32>(NAMED(lds32_reversed), stride(-1, 31));
  shared_load_case<u32>(NAMED(lds32_two_words_one_bank), two_words_one_bank);
  shared_load_case<u32>(NAMED(lds32_eight_words_one_bank),
                        [](int t) { return t % 8 * 32 + t / 8; });
  shared_load_case<u32>(NAMED(lds32_random), random_below(1024, 3));
  shared_load_case<u32>(NAMED(lds32_stride32_odd_lanes), only(odd, stride(32)));
  shared_load_case<u32>(NAMED(lds32_stride2_low_half), only(low_half, stride(2)));
  shared_load_case<u32>(NAMED(lds32_one_lane), only(lane5));
  shared_load_case<u32>(NAMED(lds32_second_warp_idle), only([](int t) { return t < 32; }), 64);

  shared_load_case<uint2>(NAMED(lds64_stride1), stride(1));
  shared_load_case<uint2>(NAMED(lds64_stride2), stride(2));
  shared_load_case<uint2>(NAMED(lds64_stride4), stride(4));
  shared_load_case<uint2>(NAMED(lds64_stride16), stride(16));
  shared_load_case<uint2>(NAMED(lds64_stride17), stride(17));
  shared_load_case<uint2>(NAMED(lds64_pairs), pairs);
  shared_load_case<uint2>(NAMED(lds64_pairs_stride2), [](int t) { return t / 2 * 2; });
  shared_load_case<uint2>(NAMED(lds64_pairs_stride4), [](int t) { return t / 2 * 4; });
  shared_load_case<uint2>(NAMED(lds64_pairs_by_two), by_two);
  shared_load_case<uint2>(NAMED(lds64_pairs_by_four), by_four);
  shared_load_case<uint2>(NAMED(lds64_one_pair_broken), [](int t) { return t == 31 ? 16 : t / 2; });
  shared_load_case<uint2>(NAMED(lds64_mixed_pairs),
                          [](int t) { return t < 16 ? t / 2 : 8 + by_two(t) % 16; });
  shared_load_case<uint2>(NAMED(lds64_neighbours_swapped), swapped);
  shared_load_case<uint2>(NAMED(lds64_quads), quads);
  shared_load_case<uint2>(NAMED(lds64_halves_equal), halves_equal);
  shared_load_case<uint2>(NAMED(lds64_halves_conflict),
                          [](int t) { return t % 16 / 2 + t / 16 * 16; });
  shared_load_case<uint2>(NAMED(lds64_broadcast), zero);
  shared_load_case<uint2>(NAMED(lds64_random), random_below(512, 4));
  shared_load_case<uint2>(NAMED(lds64_low_half), only(low_half));
  shared_load_case<uint2>(NAMED(lds64_odd_lanes), only(odd));
  shared_load_case<uint2>(NAMED(lds64_even_lanes_packed),
                          only([](int t) { return !odd(t); }, pairs));
  shared_load_case<uint2>(NAMED(lds64_first8), only(first8));
  shared_load_case<uint2>(NAMED(lds64_one_lane), only(lane5));
  shared_load_case<uint2>(NAMED(lds64_pairs_odd_lanes_missing),
                          only([](int t) { return t % 4 != 3; }, pairs));
  shared_load_case<uint2>(NAMED(lds64_pairs_one_missing),
                          only([](int t) { return t != 31; }, pairs));

  shared_load_case<uint4>(NAMED(lds128_stride1), stride(1));
  shared_load_case<uint4>(NAMED(lds128_stride2), stride(2));
  shared_load_case<uint4>(NAMED(lds128_stride8), stride(8));
  shared_load_case<uint4>(NAMED(lds128_stride9), stride(9));
  shared_load_case<uint4>(NAMED(lds128_mod16_stride2), [](int t) { return t % 16 * 2; });
  shared_load_case<uint4>(NAMED(lds128_eighths_stride2), [](int t) { return t / 8 * 2; });
  shared_load_case<uint4>(NAMED(lds128_pairs), pairs);
  shared_load_case<uint4>(NAMED(lds128_pairs_stride2), [](int t) { return t / 2 * 2; });
  shared_load_case<uint4>(NAMED(lds128_pairs_by_two), by_two);
  shared_load_case<uint4>(NAMED(lds128_pairs_by_four), by_four);
  shared_load_case<uint4>(NAMED(lds128_one_pair_broken),
                          [](int t) { return t == 31 ? 16 : t / 2; });
  shared_load_case<uint4>(NAMED(lds128_quads), quads);
  shared_load_case<uint4>(NAMED(lds128_mod8), [](int t) { return t % 8; });
  shared_load_case<uint4>(NAMED(lds128_broadcast), zero);
  shared_load_case<uint4>(NAMED(lds128_swizzled),
                          [](int t) { return t / 8 * 8 + (t % 8 ^ t / 8); });
  shared_load_case<uint4>(NAMED(lds128_random), random_below(256, 5));
  shared_load_case<uint4>(NAMED(lds128_low_half), only(low_half));
  shared_load_case<uint4>(NAMED(lds128_odd_lanes), only(odd));
  shared_load_case<uint4>(NAMED(lds128_even_lanes_packed),
                          only([](int t) { return !odd(t); }, pairs));
  shared_load_case<uint4>(NAMED(lds128_first8), only(first8));
  shared_load_case<uint4>(NAMED(lds128_one_lane), only(lane5));
  shared_load_case<uint4>(NAMED(lds128_two_lanes_two_quarters),
                          only([](int t) { return t == 3 || t == 12; }));
}

void register_shared_stores() {
  shared_store_case<u8>(NAMED(sts8_stride1), stride(1));
  shared_store_case<u8>(NAMED(sts8_stride2), stride(2));
  shared_store_case<u8>(NAMED(sts8_stride4), stride(4));
  shared_store_case<u8>(NAMED(sts8_stride8), stride(8));
  shared_store_case<u8>(NAMED(sts8_stride128), stride(128));
  shared_store_case<u8>(NAMED(sts8_same), zero);
  shared_store_case<u8>(NAMED(sts8_pairs), pairs);
  shared_store_case<u8>(NAMED(sts8_word_reversed), word_reversed_bytes);
  shared_store_case<u8>(NAMED(sts8_random), random_below(512, 6));
  shared_store_case<u16>(NAMED(sts16_stride1), stride(1));
  shared_store_case<u16>(NAMED(sts16_stride2), stride(2));
  shared_store_case<u16>(NAMED(sts16_stride4), stride(4));
  shared_store_case<u16>(NAMED(sts16_stride64), stride(64));
  shared_store_case<u16>(NAMED(sts16_same), zero);
  shared_store_case<u16>(NAMED(sts16_pairs), pairs);
  shared_store_case<u16>(NAMED(sts16_random), random_below(512, 7));

  shared_store_case<u32>(NAMED(sts32_stride1), stride(1));
  shared_store_case<u32>(NAMED(sts32_stride2), stride(2));
  shared_store_case<u32>(NAMED(sts32_stride4), stride(4));
  shared_store_case<u32>(NAMED(sts32_stride32), stride(32));
  shared_store_case<u32>(NAMED(sts32_stride33), stride(33));
  shared_store_case<u32>(NAMED(sts32_same), zero);
  shared_store_case<u32>(NAMED(sts32_pairs), pairs);
  shared_store_case<u32>(NAMED(sts32_halves_same), halves_equal);
  shared_store_case<u32>(NAMED(sts32_two_words_one_bank), two_words_one_bank);
  shared_store_case<u32>(NAMED(sts32_random), random_below(1024, 8));
  shared_store_case<u32>(NAMED(sts32_stride32_odd_lanes), only(odd, stride(32)));
  shared_store_case<u32>(NAMED(sts32_one_lane), only(lane5));

  shared_store_case<uint2>(NAMED(sts64_stride1), stride(1));
  shared_store_case<uint2>(NAMED(sts64_stride2), stride(2));
  shared_store_case<uint2>(NAMED(sts64_stride4), stride(4));
  shared_store_case<uint2>(NAMED(sts64_stride16), stride(16));
  shared_store_case<uint2>(NAMED(sts64_stride17), stride(17));
  shared_store_case<uint2>(NAMED(sts64_pairs), pairs);
  shared_store_case<uint2>(NAMED(sts64_pairs_by_two), by_two);
  shared_store_case<uint2>(NAMED(sts64_neighbours_swapped), swapped);
  shared_store_case<uint2>(NAMED(sts64_quads), quads);
  shared_store_case<uint2>(NAMED(sts64_halves_same), halves_equal);
  shared_store_case<uint2>(NAMED(sts64_halves_conflict),
                           [](int t) { return t % 16 / 2 + t / 16 * 16; });
  shared_store_case<uint2>(NAMED(sts64_same), zero);
  shared_store_case<uint2>(NAMED(sts64_random), random_below(512, 9));
  shared_store_case<uint2>(NAMED(sts64_low_half), only(low_half));
  shared_store_case<uint2>(NAMED(sts64_odd_lanes), only(odd));
  shared_store_case<uint2>(NAMED(sts64_even_lanes_packed),
                           only([](int t) { return !odd(t); }, pairs));
  shared_store_case<uint2>(NAMED(sts64_first8), only(first8));

  shared_store_case<uint4>(NAMED(sts128_stride1), stride(1));
  shared_store_case<uint4>(NAMED(sts128_stride2), stride(2));
  shared_store_case<uint4>(NAMED(sts128_stride8), stride(8));
  shared_store_case<uint4>(NAMED(sts128_stride9), stride(9));
  shared_store_case<uint4>(NAMED(sts128_pairs), pairs);
  shared_store_case<uint4>(NAMED(sts128_pairs_by_two), by_two);
  shared_store_case<uint4>(NAMED(sts128_quads), quads);
  shared_store_case<uint4>(NAMED(sts128_mod16_stride2), [](int t) { return t % 16 * 2; });
  shared_store_case<uint4>(NAMED(sts128_eighths_stride2), [](int t) { return t / 8 * 2; });
  shared_store_case<uint4>(NAMED(sts128_mod8), [](int t) { return t % 8; });
  shared_store_case<uint4>(NAMED(sts128_same), zero);
  shared_store_case<uint4>(NAMED(sts128_swizzled),
                           [](int t) { return t / 8 * 8 + (t % 8 ^ t / 8); });
  shared_store_case<uint4>(NAMED(sts128_random), random_below(256, 10));
  shared_store_case<uint4>(NAMED(sts128_low_half), only(low_half));
  shared_store_case<uint4>(NAMED(sts128_odd_lanes), only(odd));
  shared_store_case<uint4>(NAMED(sts128_even_lanes_packed),
                           only([](int t) { return !odd(t); }, pairs));
  shared_store_case<uint4>(NAMED(sts128_first8), only(first8));
}

void register_async_copies() {
  async_copy_case<u32>(NAMED(cp4_stride1), stride(1), 1);
  async_copy_case<u32>(NAMED(cp4_from_stride2), stride(2), 1);
  async_copy_case<u32>(NAMED(cp4_from_stride8), stride(8), 1);
  async_copy_case<u32>(NAMED(cp4_from_same), zero, 1);
  async_copy_case<u32>(NAMED(cp4_from_random), random_below(512, 40), 1);
  async_copy_case<u32>(NAMED(cp4_to_stride2), stride(1), 2);
  async_copy_case<u32>(NAMED(cp4_to_stride4), stride(1), 4);
  async_copy_case<u32>(NAMED(cp4_to_stride8), stride(1), 8);
  async_copy_case<u32>(NAMED(cp4_odd_lanes), only(odd), 1);
  async_copy_case<u32>(NAMED(cp4_low_half), only(low_half), 1);
  async_copy_case<u32>(NAMED(cp4_to_stride32), stride(1), 32);
  async_copy_case<u32>(NAMED(cp4_to_stride33), stride(1), 33);
  async_copy_case<u32>(NAMED(cp4_transposed), stride(32), 33);
  async_copy_case<u32>(NAMED(cp4_one_lane), only(lane5), 1);
  async_copy_case<uint2>(NAMED(cp8_stride1), stride(1), 1);
  async_copy_case<uint2>(NAMED(cp8_from_stride2), stride(2), 1);
  async_copy_case<uint2>(NAMED(cp8_from_stride8), stride(8), 1);
  async_copy_case<uint2>(NAMED(cp8_from_same), zero, 1);
  async_copy_case<uint2>(NAMED(cp8_from_random), random_below(512, 41), 1);
  async_copy_case<uint2>(NAMED(cp8_to_stride2), stride(1), 2);
  async_copy_case<uint2>(NAMED(cp8_to_stride4), stride(1), 4);
  async_copy_case<uint2>(NAMED(cp8_to_stride8), stride(1), 8);
  async_copy_case<uint2>(NAMED(cp8_odd_lanes), only(odd), 1);
  async_copy_case<uint2>(NAMED(cp8_low_half), only(low_half), 1);
  async_copy_case<uint2>(NAMED(cp8_to_stride16), stride(1), 16);
  async_copy_case<uint2>(NAMED(cp8_to_stride17), stride(1), 17);
  async_copy_case<uint4>(NAMED(cp16_stride1), stride(1), 1);
  async_copy_case<uint4>(NAMED(cp16_from_stride2), stride(2), 1);
  async_copy_case<uint4>(NAMED(cp16_from_stride8), stride(8), 1);
  async_copy_case<uint4>(NAMED(cp16_from_same), zero, 1);
  async_copy_case<uint4>(NAMED(cp16_from_random), random_below(512, 42), 1);
  async_copy_case<uint4>(NAMED(cp16_to_stride2), stride(1), 2);
  async_copy_case<uint4>(NAMED(cp16_to_stride4), stride(1), 4);
  async_copy_case<uint4>(NAMED(cp16_to_stride8), stride(1), 8);
  async_copy_case<uint4>(NAMED(cp16_odd_lanes), only(odd), 1);
  async_copy_case<uint4>(NAMED(cp16_low_half), only(low_half), 1);
  async_copy_case<uint4>(NAMED(cp16_to_stride9), stride(1), 9);
  async_copy_case<uint4>(NAMED(cp16_from_stride4_to_stride2), stride(4), 2);
}

void register_global_loads() {
  global_load_case<u8>(NAMED(ldg8_stride1), stride(1));
  global_load_case<u8>(NAMED(ldg8_offset1), stride(1, 1));
  global_load_case<u8>(NAMED(ldg8_stride32), stride(32));
  global_load_case<u8>(NAMED(ldg8_random), random_below(4096, 11));
  global_load_case<u16>(NAMED(ldg16_stride1), stride(1));
  global_load_case<u16>(NAMED(ldg16_stride16), stride(16));
  global_load_case<u16>(NAMED(ldg16_offset5), stride(1, 5));
  global_load_case<u32>(NAMED(ldg32_stride1), stride(1));
  global_load_case<u32>(NAMED(ldg32_stride2), stride(2));
  global_load_case<u32>(NAMED(ldg32_stride3), stride(3));
  global_load_case<u32>(NAMED(ldg32_stride8), stride(8));
  global_load_case<u32>(NAMED(ldg32_stride32), stride(32));
  global_load_case<u32>(NAMED(ldg32_stride1024), stride(1024));
  global_load_case<u32>(NAMED(ldg32_offset1), stride(1, 1));
  global_load_case<u32>(NAMED(ldg32_offset8), stride(1, 8));
  global_load_case<u32>(NAMED(ldg32_broadcast), zero);
  global_load_case<u32>(NAMED(ldg32_reversed), stride(-1, 31));
  global_load_case<u32>(NAMED(ldg32_permuted), permuted);
  global_load_case<u32>(NAMED(ldg32_random), random_below(512, 12));
  global_load_case<u32>(NAMED(ldg32_odd_lanes), only(odd));
  global_load_case<u32>(NAMED(ldg32_one_lane), only(lane5));
  global_load_case<u32>(NAMED(ldg32_second_warp_idle), only([](int t) { return t < 32; }), 64);
  global_load_case<uint2>(NAMED(ldg64_stride1), stride(1));
  global_load_case<uint2>(NAMED(ldg64_stride2), stride(2));
  global_load_case<uint2>(NAMED(ldg64_offset1), stride(1, 1));
  global_load_case<uint2>(NAMED(ldg64_pairs), pairs);
  global_load_case<uint2>(NAMED(ldg64_halves_equal), halves_equal);
  global_load_case<uint2>(NAMED(ldg64_random), random_below(256, 13));
  global_load_case<uint2>(NAMED(ldg64_low_half), only(low_half));
  global_load_case<uint4>(NAMED(ldg128_stride1), stride(1));
  global_load_case<uint4>(NAMED(ldg128_stride2), stride(2));
  global_load_case<uint4>(NAMED(ldg128_stride8), stride(8));
  global_load_case<uint4>(NAMED(ldg128_offset1), stride(1, 1));
  global_load_case<uint4>(NAMED(ldg128_pairs), pairs);
  global_load_case<uint4>(NAMED(ldg128_mod8), [](int t) { return t % 8; });
  global_load_case<uint4>(NAMED(ldg128_broadcast), zero);
  global_load_case<uint4>(NAMED(ldg128_bit_reversed), bit_reversed);
  global_load_case<uint4>(NAMED(ldg128_random), random_below(64, 14));
  global_load_case<uint4>(NAMED(ldg128_odd_lanes), only(odd));
  global_load_case<uint4>(NAMED(ldg128_first8), only(first8));
}

void register_global_stores() {
  global_store_case<u8>(NAMED(stg8_stride1), stride(1));
  global_store_case<u8>(NAMED(stg8_offset1), stride(1, 1));
  global_store_case<u8>(NAMED(stg8_stride32), stride(32));
  global_store_case<u16>(NAMED(stg16_stride1), stride(1));
  global_store_case<u16>(NAMED(stg16_stride2), stride(2));
  global_store_case<u32>(NAMED(stg32_stride1), stride(1));
  global_store_case<u32>(NAMED(stg32_stride2), stride(2));
  global_store_case<u32>(NAMED(stg32_stride8), stride(8));
  global_store_case<u32>(NAMED(stg32_stride32), stride(32));
  global_store_case<u32>(NAMED(stg32_offset1), stride(1, 1));
  global_store_case<u32>(NAMED(stg32_same), zero);
  global_store_case<u32>(NAMED(stg32_pairs), pairs);
  global_store_case<u32>(NAMED(stg32_permuted), permuted);
  global_store_case<u32>(NAMED(stg32_random), random_below(512, 15));
  global_store_case<u32>(NAMED(stg32_odd_lanes), only(odd));
  global_store_case<uint2>(NAMED(stg64_stride1), stride(1));
  global_store_case<uint2>(NAMED(stg64_stride2), stride(2));
  global_store_case<uint2>(NAMED(stg64_offset1), stride(1, 1));
  global_store_case<uint2>(NAMED(stg64_halves_same), halves_equal);
  global_store_case<uint2>(NAMED(stg64_low_half), only(low_half));
  global_store_case<uint4>(NAMED(stg128_stride1), stride(1));
  global_store_case<uint4>(NAMED(stg128_stride2), stride(2));
  global_store_case<uint4>(NAMED(stg128_stride8), stride(8));
  global_store_case<uint4>(NAMED(stg128_offset1), stride(1, 1));
  global_store_case<uint4>(NAMED(stg128_mod8), [](int t) { return t % 8; });
  global_store_case<uint4>(NAMED(stg128_bit_reversed), bit_reversed);
  global_store_case<uint4>(NAMED(stg128_random), random_below(64, 16));
  global_store_case<uint4>(NAMED(stg128_odd_lanes), only(odd));
}

void register_shared_atomics() {
  const std::string add = "ATOMS.ADD:1 LDS:1";
  shared_atomic_case<u32, Add>(NAMED(atoms_add_distinct), stride(1), add);
  shared_atomic_case<u32, Add>(NAMED(atoms_add_same), zero, add);
  shared_atomic_case<u32, Add>(NAMED(atoms_add_pairs), pairs, add);
  shared_atomic_case<u32, Add>(NAMED(atoms_add_quads), quads, add);
  shared_atomic_case<u32, Add>(NAMED(atoms_add_halves_same), halves_equal, add);
  shared_atomic_case<u32, Add>(NAMED(atoms_add_stride2), stride(2), add);
  shared_atomic_case<u32, Add>(NAMED(atoms_add_stride32), stride(32), add);
  shared_atomic_case<u32, Add>(NAMED(atoms_add_random), random_below(64, 17), add);
  shared_atomic_case<u32, Add>(NAMED(atoms_add_odd_lanes), only(odd), add);
  shared_atomic_case<u32, Add, kUsed>(NAMED(atoms_add_used_distinct), stride(1), add);
  shared_atomic_case<u32, Add, kUsed>(NAMED(atoms_add_used_same), zero, add);
  shared_atomic_case<u32, Add, kUsed>(NAMED(atoms_add_used_pairs), pairs, add);
  shared_atomic_case<u32, Add, kUsed>(NAMED(atoms_add_used_stride32), stride(32), add);
  const std::string one = "ATOMS.POPC.INC:1 LDS:1";
  shared_atomic_case<u32, AddOne>(NAMED(atoms_one_distinct), stride(1), one);
  shared_atomic_case<u32, AddOne>(NAMED(atoms_one_same), zero, one);
  shared_atomic_case<u32, AddOne>(NAMED(atoms_one_pairs), pairs, one);
  shared_atomic_case<u32, AddOne>(NAMED(atoms_one_stride32), stride(32), one);
  shared_atomic_case<u32, AddOne>(NAMED(atoms_one_random), random_below(64, 18), one);
  shared_atomic_case<u32, AddOne, kUsed>(NAMED(atoms_one_used_same), zero, add);
  shared_atomic_case<u32, Min>(NAMED(atoms_min_distinct), stride(1), "ATOMS.MIN:1 LDS:1");
  shared_atomic_case<u32, Min>(NAMED(atoms_min_same), zero, "ATOMS.MIN:1 LDS:1");
  shared_atomic_case<u32, Max>(NAMED(atoms_max_same), zero, "ATOMS.MAX:1 LDS:1");
  shared_atomic_case<u32, Max>(NAMED(atoms_max_pairs), pairs, "ATOMS.MAX:1 LDS:1");
  shared_atomic_case<u32, And>(NAMED(atoms_and_same), zero, "ATOMS.AND:1 LDS:1");
  shared_atomic_case<u32, Or>(NAMED(atoms_or_distinct), stride(1), "ATOMS.OR:1 LDS:1");
  const std::string exchange = "ATOMS.EXCH:1 LDS:1";
  shared_atomic_case<u32, Exchange, kUsed>(NAMED(atoms_exch_distinct), stride(1), exchange);
  shared_atomic_case<u32, Exchange, kUsed>(NAMED(atoms_exch_same), zero, exchange);
  shared_atomic_case<u32, Exchange, kUsed>(NAMED(atoms_exch_stride32), stride(32), exchange);
  const std::string cas = "ATOMS.CAS:1 LDS:1";
  shared_atomic_case<u32, CompareAndSwap, kUsed>(NAMED(atoms_cas_distinct), stride(1), cas);
  shared_atomic_case<u32, CompareAndSwap, kUsed>(NAMED(atoms_cas_same), zero, cas);
  shared_atomic_case<u32, CompareAndSwap, kUsed>(NAMED(atoms_cas_pairs), pairs, cas);
  shared_atomic_case<u32, CompareAndSwap, kUsed>(NAMED(atoms_cas_stride32), stride(32), cas);
  // What has no instruction of its own is a loop: load, compute, compare and swap, until it held.
  const std::string fadd = "LDS:2 ATOMS.CAST.SPIN:1";
  shared_atomic_case<float, Add>(NAMED(atoms_fadd_distinct), stride(1), fadd);
  shared_atomic_case<float, Add>(NAMED(atoms_fadd_same), zero, fadd);
  shared_atomic_case<float, Add>(NAMED(atoms_fadd_pairs), pairs, fadd);
  shared_atomic_case<float, Add>(NAMED(atoms_fadd_stride32), stride(32), fadd);
  shared_atomic_case<float, Add>(NAMED(atoms_fadd_random), random_below(64, 19), fadd);
  shared_atomic_case<float, Add, kUsed>(NAMED(atoms_fadd_used_same), zero, fadd);
  const std::string add64 = "LDS.64:2 ATOMS.CAST.SPIN.64:1";
  shared_atomic_case<u64, Add>(NAMED(atoms_add64_distinct), stride(1), add64);
  shared_atomic_case<u64, Add>(NAMED(atoms_add64_same), zero, add64);
  const std::string cas64 = "ATOMS.CAS.64:1 LDS.64:1";
  shared_atomic_case<u64, CompareAndSwap, kUsed>(NAMED(atoms_cas64_distinct), stride(1), cas64);
  shared_atomic_case<u64, CompareAndSwap, kUsed>(NAMED(atoms_cas64_same), zero, cas64);
  shared_atomic_case<double, Add>(NAMED(atoms_dadd_distinct), stride(1), add64);
  shared_atomic_case<double, Add>(NAMED(atoms_dadd_same), zero, add64);
}

void register_global_atomics() {
  global_atomic_case<u32, Add>(NAMED(red_add_distinct), stride(1), "REDG.ADD:1");
  global_atomic_case<u32, Add>(NAMED(red_add_same), zero, "REDG.ADD:1");
  global_atomic_case<u32, Add>(NAMED(red_add_pairs), pairs, "REDG.ADD:1");
  global_atomic_case<u32, Add>(NAMED(red_add_stride2), stride(2), "REDG.ADD:1");
  global_atomic_case<u32, Add>(NAMED(red_add_stride8), stride(8), "REDG.ADD:1");
  global_atomic_case<u32, Add>(NAMED(red_add_offset1), stride(1, 1), "REDG.ADD:1");
  global_atomic_case<u32, Add>(NAMED(red_add_random), random_below(512, 20), "REDG.ADD:1");
  global_atomic_case<u32, Add>(NAMED(red_add_odd_lanes), only(odd), "REDG.ADD:1");
  global_atomic_case<u32, AddOne>(NAMED(red_one_same), zero, "REDG.ADD:1");
  global_atomic_case<u32, AddOne>(NAMED(red_one_random), random_below(64, 21), "REDG.ADD:1");
  global_atomic_case<u32, Min>(NAMED(red_min_same), zero, "REDG.MIN:1");
  global_atomic_case<u32, Max>(NAMED(red_max_distinct), stride(1), "REDG.MAX:1");
  global_atomic_case<u32, Or>(NAMED(red_or_pairs), pairs, "REDG.OR:1");
  global_atomic_case<float, Add>(NAMED(red_fadd_distinct), stride(1), "REDG.ADD.F32:1");
  global_atomic_case<float, Add>(NAMED(red_fadd_same), zero, "REDG.ADD.F32:1");
  global_atomic_case<u64, Add>(NAMED(red_add64_distinct), stride(1), "REDG.ADD.64:1");
  global_atomic_case<u64, Add>(NAMED(red_add64_same), zero, "REDG.ADD.64:1");
  global_atomic_case<double, Add>(NAMED(red_dadd_distinct), stride(1), "REDG.ADD.F64:1");
  global_atomic_case<u32, Add, kUsed>(NAMED(atom_add_distinct), stride(1), "ATOMG.ADD:1");
  global_atomic_case<u32, Add, kUsed>(NAMED(atom_add_same), zero, "ATOMG.ADD:1");
  global_atomic_case<u32, Add, kUsed>(NAMED(atom_add_pairs), pairs, "ATOMG.ADD:1");
  global_atomic_case<u32, Add, kUsed>(NAMED(atom_add_stride8), stride(8), "ATOMG.ADD:1");
  global_atomic_case<u32, Add, kUsed>(NAMED(atom_add_random), random_below(512, 22), "ATOMG.ADD:1");
  global_atomic_case<u32, Add, kUsed>(NAMED(atom_add_odd_lanes), only(odd), "ATOMG.ADD:1");
  global_atomic_case<u32, Exchange, kUsed>(NAMED(atom_exch_distinct), stride(1), "ATOMG.EXCH:1");
  global_atomic_case<u32, Exchange, kUsed>(NAMED(atom_exch_same), zero, "ATOMG.EXCH:1");
  global_atomic_case<u32, CompareAndSwap, kUsed>(NAMED(atom_cas_distinct), stride(1),
                                                 "ATOMG.CAS:1");
  global_atomic_case<u32, CompareAndSwap, kUsed>(NAMED(atom_cas_same), zero, "ATOMG.CAS:1");
  global_atomic_case<float, Add, kUsed>(NAMED(atom_fadd_same), zero, "ATOMG.ADD.F32:1");
  global_atomic_case<u64, Add, kUsed>(NAMED(atom_add64_distinct), stride(1), "ATOMG.ADD.64:1");

  const auto zeros = [](std::size_t) { return 0u; };
  Case& counter = whole_case(NAMED(red_counter), 16, 96, "LDG:1 REDG.ADD:1", 16, [](Host h) {
    std::fill(h.out.begin(), h.out.end(), static_cast<unsigned>(h.threads));
  });
  counter.out_initial = zeros;
  counter.index = zero;
  Case& value = whole_case(NAMED(red_counter_value), 16, 96, "LDG:2 REDG.ADD:1", 16, [](Host h) {
    unsigned sum = 0;
    for (int t = 0; t < h.threads; t++) sum += h.in[t] % 1000u;
    std::fill(h.out.begin(), h.out.end(), sum);
  });
  value.out_initial = zeros;
  value.index = zero;
  Case& leader = whole_case(NAMED(red_block_leader), 16, 96, "REDG.ADD:1", 4,
                            [](Host h) { std::fill(h.out.begin(), h.out.end(), 4 * h.a.value); });
  leader.out_initial = zeros;
  leader.a.value = 77;
  Case& slots =
      whole_case(NAMED(atom_counter_slots), 16, 96, "LDG:1 ATOMG.ADD:1 STG:1", 16, [](Host h) {
        std::fill(h.out.begin(), h.out.end(), static_cast<unsigned>(h.threads));
        for (std::size_t i = 0; i < h.extra.size(); i++) h.extra[i] = i % h.threads;
      });
  slots.out_initial = zeros;
  slots.extra_words = 16 * 96;
  slots.extra_any_order = true;
  slots.index = zero;
}

template <class T>
T element(const std::vector<unsigned>& words, std::size_t i) {
  T v;
  std::memcpy(&v, reinterpret_cast<const char*>(words.data()) + i * sizeof(T), sizeof(T));
  return v;
}

/// Output equals input, word for word.
void copy_reference(Host h) { std::copy_n(h.in.begin(), h.out.size(), h.out.begin()); }

void register_structures() {
  thread_case(NAMED(aos_one_field), 16, 64, "LDG:1 STG:1",
              [](const Host& h, int b, int t) { return h.in[(b * h.threads + t) * 4 + 1]; });
  const auto four = [](const Host& h, int b, int t) {
    return digest(element<uint4>(h.in, b * h.threads + t));
  };
  thread_case(NAMED(aos_four_fields), 16, 64, "LDG:4 STG:1", four);
  thread_case(NAMED(aos_aligned_vector), 16, 64, "LDG.128:1 STG:1", four);
  thread_case(NAMED(soa_four_fields), 16, 64, "LDG:4 STG:1", [](const Host& h, int b, int t) {
    const int i = b * h.threads + t;
    return h.in[i] + 3 * h.in[h.a.n + i] + 5 * h.in[2 * h.a.n + i] + 7 * h.in[3 * h.a.n + i];
  }).a.n = 1024;
  whole_case(NAMED(aos_write_one_field), 16, 64, "STG:1", 16 * 64 * 4, [](Host h) {
    for (int i = 0; i < h.blocks * h.threads; i++) h.out[4 * i + 2] = mix(i);
  });
  thread_case(NAMED(mixed_struct_read), 16, 64, "LDG.64:1 LDG:1 STG:1",
              [](const Host& h, int b, int t) {
                const uint4 v = element<uint4>(h.in, b * h.threads + t);
                return v.x + 3 * v.y + 5 * v.z;
              });
  whole_case(NAMED(float3_copy), 16, 64, "LDG:3 STG:3", 16 * 64 * 3, copy_reference);
  thread_case(NAMED(float3_one_field), 16, 64, "LDG:1 STG:1",
              [](const Host& h, int b, int t) { return h.in[(b * h.threads + t) * 3 + 2]; });
  whole_case(NAMED(float3_shared), 4, 128, "LDG:3 STS:3 LDS:3 STG:3", 4 * 128 * 3, [](Host h) {
    for (int i = 0; i < 4 * 128; i++) {
      const int from = i / 128 * 128 + 127 - i % 128;
      for (int k = 0; k < 3; k++) h.out[3 * i + k] = h.in[3 * from + k];
    }
  });
  whole_case(NAMED(int2_copy), 16, 64, "LDG.64:1 STG.64:1", 16 * 64 * 2, copy_reference);
  whole_case(NAMED(float4_copy), 16, 64, "LDG.128:1 STG.128:1", 16 * 64 * 4, copy_reference);
  whole_case(NAMED(float4_scaled), 16, 64, "LDG.128:1 STG.128:1", 16 * 64 * 4, [](Host h) {
    for (std::size_t i = 0; i < h.out.size(); i++) h.out[i] = h.in[i] * h.a.value;
  }).a.value = 5;
  whole_case(NAMED(double2_copy), 16, 64, "LDG.128:1 STG.128:1", 16 * 64 * 4, copy_reference);
  thread_case(NAMED(uchar4_digest), 16, 64, "LDG:1 STG:1", [](const Host& h, int b, int t) {
    const uchar4 v = element<uchar4>(h.in, b * h.threads + t);
    return static_cast<unsigned>(v.x + 3 * v.y + 5 * v.z + 7 * v.w);
  });
  whole_case(NAMED(rgb_to_gray), 16, 64, "LDG.U8:3 STG.U8:1", 16 * 64 / 4, [](Host h) {
    for (int i = 0; i < h.blocks * h.threads; i++) {
      const Rgb v = element<Rgb>(h.in, i);
      reinterpret_cast<unsigned char*>(h.out.data())[i] = (v.r + 2 * v.g + v.b) / 4;
    }
  });
  thread_case(NAMED(read_only_cache), 16, 64, "LDG:1 STG:1", [](const Host& h, int b, int t) {
    return h.in[(b * h.threads + t) * h.a.stride];
  }).a.stride = 2;
  thread_case(NAMED(constant_memory), 16, 64, "LDG:1 STG:1", [](const Host& h, int b, int t) {
    static const char digits[] = "31415926535897932384626433832795";
    return h.in[b * h.threads + t] + (digits[t % 32] - '0');
  });
  thread_case(NAMED(device_variable), 16, 64, "LDG:1 STG:2",
              [](const Host& h, int b, int t) { return h.in[b * h.threads + t] + 1; });
  thread_case(NAMED(local_array), 16, 64, "STL:1 LDG:1 LDL:1 STG:1",
              [](const Host& h, int b, int t) { return mix(b * h.threads + t + h.index[t]); })
      .index = [](int t) { return t * 5 % 16; };
}

void register_shapes() {
  const auto plus_one = [](Host h) {
    for (int i = 0; i < h.a.n * std::max(h.a.stride, 1); i++) h.out[i] = h.in[i] + 1;
  };
  const auto linear = [&](const char* name, Kernel kernel, int blocks, int threads, int n) {
    Case& c = whole_case(name, kernel, blocks, threads, "LDG:1 STG:1", blocks * threads, plus_one);
    c.a.n = n;
  };
  linear(NAMED(block_of_1), 16, 1, 16);
  linear(NAMED(block_of_33), 16, 33, 16 * 33);
  linear(NAMED(block_of_48), 16, 48, 16 * 48);
  linear(NAMED(block_of_1000), 4, 1000, 4000);
  linear(NAMED(tail_of_256), 4, 256, 1000);

  const auto rows = [&](const char* name, Kernel kernel, dim3 grid, dim3 block, int width,
                        int height) {
    Case& c = whole_case(name, kernel, grid, block, "LDG:1 STG:1", width * height, plus_one);
    c.a.stride = width;
    c.a.n = height;
  };
  rows(NAMED(block_8x8), dim3(4, 4), dim3(8, 8), 32, 32);
  rows(NAMED(block_16x16), dim3(4, 4), dim3(16, 16), 64, 64);
  rows(NAMED(block_32x8_ragged), dim3(4, 8), dim3(32, 8), 100, 61);
  rows(NAMED(block_5x7), dim3(8, 4), dim3(5, 7), 40, 28);
  rows(NAMED(block_1x64), dim3(16, 1), dim3(1, 64), 16, 64);
  rows(NAMED(block_16x16_columns), dim3(4, 4), dim3(16, 16), 64, 64);

  Case& cube = whole_case(NAMED(block_4x4x4), dim3(4, 4, 4), dim3(4, 4, 4), "LDG:1 STG:1",
                          16 * 16 * 16, [](Host h) {
                            for (int i = 0; i < 4096; i++) h.out[i] = h.in[i] + 1;
                          });
  cube.a.stride = 16;

  thread_case(NAMED(shared_8x8_padded), 16, dim3(8, 8), "LDG:1 STS:1 LDS:1 STG:1",
              [](const Host& h, int b, int t) { return h.in[b * 64 + t % 8 * 8 + t / 8]; });
  thread_case(NAMED(shared_4x4x4), 16, dim3(4, 4, 4), "LDG:1 STS:1 LDS:1 STG:1",
              [](const Host& h, int b, int t) {
                const int x = t % 4, y = t / 4 % 4, z = t / 16;
                return h.in[b * 64 + (x * 4 + z) * 4 + y];
              });
  whole_case(NAMED(grid_stride), 4, 64, "LDG:1 STG:1", 1000, [](Host h) {
    for (int i = 0; i < 1000; i++) h.out[i] = h.in[i] * 3;
  }).a.n = 1000;
}

// Host twins of the device functions that are called.
unsigned read_pair_host(const Host& h, int p, int i) { return h.in[p + i] + 3 * h.in[p + i + 64]; }
unsigned read_until_host(const Host& h, int p, int i, int n) {
  unsigned sum = 0;
  for (int k = 0; k < n; k++) sum += h.in[p + k * 32 + i];
  return sum;
}

void register_control_flow() {
  thread_case(NAMED(loop_lane_length), 16, 32, "LDG:1 STG:1",
              [](const Host& h, int, int t) { return read_until_host(h, 0, t, t); });
  thread_case(NAMED(loop_data_length), 16, 32, "LDG:2 STG:1", [](const Host& h, int, int t) {
    return read_until_host(h, 0, t, h.index[t]);
  }).index = random_below(20, 23);
  whole_case(NAMED(loop_storing), 16, 32, "STG:1", 16 * 8 * 32, [](Host h) {
    for (int b = 0; b < 16; b++) {
      for (int t = 0; t < 32; t++) {
        for (int i = 0; i < t % 5; i++) h.out[(b * 8 + i) * 32 + t] = mix(i * 32 + t);
      }
    }
  });
  thread_case(NAMED(loop_tail_branch), 16, 32, "LDG:1 STG:1", [](const Host& h, int, int t) {
    unsigned sum = 0;
    for (int i = 0; i < 8; i++) {
      const unsigned v = h.in[i * 32 + t];
      sum += v;
      if (v & 64) sum = sum * 5 + i;
    }
    return sum;
  });
  thread_case(NAMED(loop_tail_load), 16, 32, "LDG:2 STG:1", [](const Host& h, int, int t) {
    unsigned sum = 0;
    for (int i = 0; i < 8; i++) {
      const unsigned v = h.in[i * 32 + t];
      sum += v;
      if (v & 64) sum ^= h.in[1024 + i * 64 + 2 * t];
    }
    return sum;
  });
  thread_case(NAMED(loop_continue), 16, 32, "LDG:2 STG:1", [](const Host& h, int, int t) {
    unsigned sum = 0;
    for (int i = 0; i < 8; i++) {
      if (h.in[i * 32 + t] % 3 != 0) sum += h.in[1024 + i * 32 + t];
    }
    return sum;
  });
  thread_case(NAMED(loop_break), 16, 32, "LDG:1 STG:1", [](const Host& h, int, int t) {
    unsigned sum = 0;
    for (int i = 0; i < h.a.n; i++) {
      const unsigned v = h.in[i * 32 + t];
      if (((v >> 8) & 7) == 0) break;
      sum += v;
    }
    return sum;
  }).a.n = 20;
  thread_case(NAMED(loop_return), 16, 32, "LDG:1 STG:1",
              [](const Host& h, int, int t) -> std::optional<unsigned> {
                for (int i = 0; i < h.a.n; i++) {
                  if (h.in[i * 32 + t] % 5 == 0) return i;
                }
                return std::nullopt;
              })
      .a.n = 12;
  thread_case(NAMED(nested_divergence), 16, 32, "LDG:4 STG:1", [](const Host& h, int, int t) {
    unsigned sum = 0;
    if (t & 1) {
      for (int i = 0; i < t % 7; i++) {
        sum += h.in[i * 32 + t];
        if (t & 2) {
          for (int k = 0; k < i; k++) sum ^= h.in[2048 + k * 32 + t];
        }
      }
    } else {
      for (int i = 0; i < t % 5; i++) sum += 3 * h.in[4096 + i * 64 + t];
    }
    return sum + h.in[8192 + t];
  });
  thread_case(NAMED(loops_in_step), 16, 32, "LDG:2 STG:1", [](const Host& h, int, int t) {
    unsigned sum = 0;
    for (int i = 0; i < h.a.n; i++) {
      for (int k = 0; k < (t + i) % 4; k++) sum += h.in[(i * 4 + k) * 32 + t];
      sum ^= h.in[4096 + i * 32 + t];
    }
    return sum;
  }).a.n = 6;

  // Two kernels write `extra` on one side of a branch.
  const auto two_sided = [](auto then_value, auto else_value) {
    return [=](Host h) {
      for (int i = 0; i < h.blocks * h.threads; i++) {
        const int t = i % h.threads;
        if (h.in[t] % 3 == 0) {
          h.out[i] = h.extra[i] = then_value(h, t);
        } else {
          h.out[i] = else_value(h, t);
        }
      }
    };
  };
  whole_case(
      NAMED(if_else_loads), 16, 32, "LDG:2 LDG.U16:1 STG:2", 16 * 32,
      two_sided([](const Host& h, int t) { return h.in[1024 + t] * 3; },
                [](const Host& h, int t) -> unsigned { return element<u16>(h.in, 4096 + 2 * t); }))
      .extra_words = 16 * 32;
  thread_case(NAMED(switch_four), 16, 32, "LDG:2 LDG.U16:1 LDG.64:1 LDG.128:1 STG:1",
              [](const Host& h, int, int t) -> unsigned {
                switch (h.index[t]) {
                  case 0:
                    return h.in[t];
                  case 1:
                    return element<u16>(h.in, 2048 + t) * 3u;
                  case 2:
                    return digest(element<uint2>(h.in, 1024 + t));
                  default:
                    return digest(element<uint4>(h.in, 1024 + t));
                }
              })
      .index = random_below(4, 24);
  thread_case(NAMED(short_circuit), 16, 32, "LDG:3 STG:1", [](const Host& h, int, int t) {
    return h.in[t] % 3 != 0 && h.in[1024 + 2 * t] % 5 != 0 && h.in[2048 + 4 * t] % 7 != 0 ? 2u : 1u;
  });
  thread_case(NAMED(branch_by_warp), 4, 128, "LDG.64:1 LDG:1 STG:1", [](const Host& h, int, int t) {
    return t / 32 & 1 ? digest(element<uint2>(h.in, t)) : h.in[t];
  });
  Case& search =
      thread_case(NAMED(binary_search), 16, 32, "LDG:1 STG:1", [](const Host& h, int b, int t) {
        const unsigned key = 7 + 89 * t + b;
        return static_cast<unsigned>(std::lower_bound(h.in.begin(), h.in.begin() + h.a.n, key) -
                                     h.in.begin());
      });
  search.a.n = 1000;
  search.input = [](unsigned i) { return 3 * i; };
  Case& chased = thread_case(NAMED(chase), 16, 32, "LDG:2 STG:1", [](const Host& h, int, int t) {
    unsigned steps = 0;
    for (unsigned at = h.index[t]; at > 1; at = h.in[at]) steps++;
    return steps;
  });
  chased.input = [](unsigned i) { return i / 2; };
  chased.index = [](int t) { return 1 + t * t * 13; };

  Case& early = thread_case(NAMED(early_return), 16, 64, "LDG:1 STS:1 LDS:1 STG:1",
                            [](const Host& h, int, int t) -> std::optional<unsigned> {
                              if (t >= h.a.n) return std::nullopt;
                              return h.in[h.a.n - 1 - t];
                            });
  early.a.n = 40;
  thread_case(NAMED(barrier_in_loop), 16, 64, "LDG:1 STS:1 LDS:1 STG:1",
              [](const Host& h, int, int t) {
                std::vector<unsigned> v(h.in.begin(), h.in.begin() + 64);
                for (int i = 0; i < h.a.n; i++) {
                  const std::vector<unsigned> s = v;
                  for (int k = 0; k < 64; k++) v[k] += s[(k + 1) % 64];
                }
                return v[t];
              })
      .a.n = 5;

  thread_case(NAMED(call_uniform), 16, 32, "LDG:2 STG:1", [](const Host& h, int, int t) {
    return read_pair_host(h, 0, t) ^ read_pair_host(h, h.a.stride, 2 * t);
  }).a.stride = 512;
  whole_case(NAMED(call_divergent), 16, 32, "LDG:3 STG:2", 16 * 32,
             two_sided([](const Host& h, int t) { return read_pair_host(h, 512, t) * 3; },
                       [](const Host& h, int t) { return read_pair_host(h, 2048, 4 * t) ^ 5; }))
      .extra_words = 16 * 32;
  thread_case(NAMED(call_loop_inside), 16, 32, "LDG:2 STG:1", [](const Host& h, int, int t) {
    return read_until_host(h, 0, t, t % 6) + h.in[4096 + t];
  });
  thread_case(NAMED(call_in_loop), 16, 32, "LDG:1 STG:1", [](const Host& h, int, int t) {
    unsigned sum = 0;
    for (int i = 0; i <= t % 3; i++) sum += read_until_host(h, 1024 * i, t, (t + i) % 3);
    return sum;
  });
  thread_case(NAMED(generic_pointer), 16, 32, "STS:2 LD:1 STG:1",
              [](const Host& h, int, int t) { return mix(2 * t) + h.in[8 * t]; });

  whole_case(NAMED(shuffle_sum), 16, 64, "LDG:1 STG:1", 32, [](Host h) {
    for (int w = 0; w < 32; w++) {
      h.out[w] = 0;
      for (int t = 0; t < 32; t++) h.out[w] += h.in[w * 32 + t];
    }
  });
  thread_case(NAMED(shuffle_exited_lanes), 16, 32, "LDG:1 STG:1",
              [](const Host& h, int, int t) -> std::optional<unsigned> {
                if (t >= 20) return std::nullopt;
                const auto first = [&](int lane) { return h.in[lane] + h.in[(lane + 1) % 20]; };
                const auto second = [&](int lane) { return first(lane) ^ first(lane ^ 1); };
                unsigned votes = 0;
                for (int lane = 0; lane < 20; lane++) votes += second(lane) & 1;
                return second(t) + votes;
              });
  thread_case(NAMED(shuffle_in_branch), 16, 32, "LDG:2 STG:1", [](const Host& h, int, int t) {
    return t & 1 ? h.in[t] + h.in[1024 + (t + 2) % 32] : h.in[t];
  });
  thread_case(NAMED(shuffle_in_loop), 16, 32, "LDG:2 STG:1", [](const Host& h, int, int t) {
    std::vector<unsigned> v(h.in.begin(), h.in.begin() + 32);
    for (int i = 0; i < h.a.n; i++) {
      const std::vector<unsigned> before = v;
      for (int k = 0; k < 32; k++) {
        if (before[k ^ (i + 1)] & 32) v[k] += h.in[1024 + i * 32 + k];
      }
    }
    return v[t];
  }).a.n = 6;
}

void register_whole_kernels() {
  const auto transposed = [](Host h) {
    for (int y = 0; y < h.a.n; y++) {
      for (int x = 0; x < h.a.n; x++) h.out[x * h.a.n + y] = h.in[y * h.a.n + x];
    }
  };
  const auto transpose = [&](const char* name, Kernel kernel, const char* sass) {
    Case& c = whole_case(name, kernel, dim3(32, 32), dim3(32, 32), sass, 1024 * 1024, transposed);
    c.a.n = 1024;
    c.in_words = 1024 * 1024;
  };
  transpose(NAMED(transpose_naive), "LDG:1 STG:1");
  transpose(NAMED(transpose_tile32), "LDG:1 STS:1 LDS:1 STG:1");
  transpose(NAMED(transpose_tile33), "LDG:1 STS:1 LDS:1 STG:1");
  transpose(NAMED(transpose_swizzled), "LDG:1 STS:1 LDS:1 STG:1");

  const auto walk = [](const char* name, Kernel kernel, int width, int length) {
    Case& c = thread_case(name, kernel, 4, 64, "LDG:1 STG:1", [](const Host& h, int b, int t) {
      const int row = b * h.threads + t;
      unsigned sum = 0;
      for (int i = 0; i < h.a.n; i++) sum += h.in[row * h.a.stride + i];
      return sum;
    });
    c.a.stride = width;
    c.a.n = length;
    c.in_words = 256 * 1024;
  };
  walk(NAMED(column_walk_2), 2, 2);
  walk(NAMED(column_walk_9), 9, 9);
  walk(NAMED(column_walk_100), 100, 10);
  walk(NAMED(column_walk_1024), 1024, 10);

  thread_case(NAMED(stencil_global), 4, 256, "LDG:3 STG:1",
              [](const Host& h, int b, int t) -> std::optional<unsigned> {
                const int i = b * h.threads + t;
                if (i >= h.a.n) return std::nullopt;
                return 2 * h.in[i] + (i > 0 ? h.in[i - 1] : 0) + (i + 1 < h.a.n ? h.in[i + 1] : 0);
              })
      .a.n = 1000;
  thread_case(NAMED(stencil_shared), 8, 128, "LDG:3 STS:3 LDS:1 STG:1",
              [](const Host& h, int b, int t) {
                unsigned sum = 0;
                for (int k = 0; k < 7; k++) sum = sum * 3 + h.in[b * 128 + t + k];
                return sum;
              });

  const auto block_sums = [](Host h) {
    for (int b = 0; b < h.blocks; b++) {
      h.out[b] = 0;
      for (int t = 0; t < h.threads; t++) h.out[b] += h.in[b * h.threads + t];
    }
  };
  const char* const tree = "LDG:1 STS:2 LDS:3 STG:1";
  whole_case(NAMED(reduce_modulo), 8, 256, tree, 8, block_sums);
  whole_case(NAMED(reduce_strided), 8, 256, tree, 8, block_sums);
  whole_case(NAMED(reduce_sequential), 8, 256, tree, 8, block_sums);
  whole_case(NAMED(reduce_shuffle), 8, 256, "LDG:1 STS:1 LDS:1 STG:1", 8, block_sums);
  thread_case(NAMED(scan_two_buffers), 8, 128, "LDG:1 STS:2 LDS:3 STG:1",
              [](const Host& h, int b, int t) {
                unsigned sum = 0;
                for (int i = 0; i <= t; i++) sum += h.in[b * h.threads + i];
                return sum;
              });

  const auto histogram = [](Host h) {
    for (int i = 0; i < h.a.n; i++) h.out[element<u8>(h.in, i)]++;
  };
  const auto bins = [&](const char* name, Kernel kernel, const char* sass) {
    Case& c = whole_case(name, kernel, 8, 256, sass, 256, histogram);
    c.a.n = 20000;
    c.out_initial = [](std::size_t) { return 0u; };
  };
  bins(NAMED(histogram_shared), "STS:1 LDG.U8:1 ATOMS.POPC.INC:1 LDS:1 REDG.ADD:1");
  bins(NAMED(histogram_global), "LDG.U8:1 REDG.ADD:1");

  thread_case(NAMED(gather_random), 16, 64, "LDG:2 STG:1", [](const Host& h, int b, int t) {
    return h.in[(h.in[b * h.threads + t] >> 3) % h.a.n];
  }).a.n = 16000;
  Case& scatter = whole_case(NAMED(scatter_permuted), 16, 64, "LDG:1 STG:1", 1024, [](Host h) {
    for (int i = 0; i < 1024; i++) h.out[(i * h.a.stride) & 1023] = h.in[i];
  });
  scatter.a.n = 1024;
  scatter.a.stride = 37;

  const auto gemm = [](const char* name, Kernel kernel, int side, const char* sass) {
    Case& c = whole_case(name, kernel, dim3(96 / side, 96 / side), dim3(side, side), sass, 96 * 96,
                         [](Host h) {
                           const int n = h.a.n;
                           for (int i = 0; i < n * n; i++) {
                             h.out[i] = 0;
                             for (int k = 0; k < n; k++) {
                               h.out[i] += h.in[i / n * n + k] * h.in[n * n + k * n + i % n];
                             }
                           }
                         });
    c.a.n = 96;
    c.in_words = 2 * 96 * 96;
  };
  gemm(NAMED(gemm_naive), 16, "LDG:2 STG:1");
  gemm(NAMED(gemm_tiled16), 16, "LDG:2 STS:2 LDS:2 STG:1");
  gemm(NAMED(gemm_tiled32), 32, "LDG:2 STS:2 LDS:2 STG:1");
}

// ---------------------------------------------------------------------------------------------------
// Running
// ---------------------------------------------------------------------------------------------------

void check(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "microkernels: %s: %s: %s\n", what, cudaGetErrorName(error),
               cudaGetErrorString(error));
  std::exit(1);
}

/// A device array filled from the host.
template <class T>
class DeviceArray {
 public:
  explicit DeviceArray(const std::vector<T>& from) : size_(from.size()) {
    check(cudaMalloc(reinterpret_cast<void**>(&data_), std::max<std::size_t>(bytes(), 4)),
          "cudaMalloc");
    check(cudaMemcpy(data_, from.data(), bytes(), cudaMemcpyHostToDevice), "copy to the device");
  }
  DeviceArray(const DeviceArray&) = delete;
  DeviceArray& operator=(const DeviceArray&) = delete;
  ~DeviceArray() { cudaFree(data_); }
  T* data() const { return data_; }
  std::vector<T> download() const {
    std::vector<T> to(size_);
    check(cudaMemcpy(to.data(), data_, bytes(), cudaMemcpyDeviceToHost), "copy to the host");
    return to;
  }

 private:
  std::size_t bytes() const { return size_ * sizeof(T); }
  std::size_t size_;
  T* data_ = nullptr;
};

/// Brings the values that came back at one element of one block into ascending order.
void sort_returned(const Case& c, const std::vector<int>& index, std::vector<unsigned>& extra) {
  std::map<std::pair<int, int>, std::vector<unsigned>> groups;
  const int threads = c.threads();
  for (std::size_t i = 0; i < extra.size(); i++) {
    groups[{i / threads, index[i % threads]}].push_back(extra[i]);
  }
  for (auto& [key, values] : groups) std::sort(values.rbegin(), values.rend());
  for (std::size_t i = 0; i < extra.size(); i++) {
    auto& values = groups[{i / threads, index[i % threads]}];
    extra[i] = values.back();
    values.pop_back();
  }
}

std::string first_difference(const char* array, const std::vector<unsigned>& got,
                             const std::vector<unsigned>& want) {
  for (std::size_t i = 0; i < got.size(); i++) {
    if (got[i] == want[i]) continue;
    char text[160];
    std::snprintf(text, sizeof text, "word %zu of `%s` is %u (0x%08x), expected %u (0x%08x)", i,
                  array, got[i], got[i], want[i], want[i]);
    return text;
  }
  return "";
}

/// Launches the case once; empty if its results are right, else what is wrong.
std::string run(const Case& c) {
  std::vector<unsigned> in(c.in_words), out(c.out_words), extra(c.extra_words, kPoison);
  std::vector<int> index(c.threads());
  for (std::size_t i = 0; i < in.size(); i++) in[i] = c.input(i);
  for (std::size_t i = 0; i < out.size(); i++) out[i] = c.out_initial(i);
  for (int t = 0; t < c.threads(); t++) index[t] = c.index(t);

  const DeviceArray<unsigned> device_in(in), device_out(out), device_extra(extra);
  const DeviceArray<int> device_index(index);
  Arguments a = c.a;
  a.in = device_in.data();
  a.out = device_out.data();
  a.extra = device_extra.data();
  a.index = device_index.data();
  c.kernel<<<c.grid, c.block>>>(a);
  check(cudaGetLastError(), c.name.c_str());
  check(cudaDeviceSynchronize(), c.name.c_str());

  c.reference(Host{c.a, c.blocks(), c.threads(), in, index, out, extra});
  std::vector<unsigned> got_extra = device_extra.download();
  if (c.extra_any_order) {
    sort_returned(c, index, got_extra);
    sort_returned(c, index, extra);
  }
  std::string wrong = first_difference("out", device_out.download(), out);
  if (wrong.empty()) wrong = first_difference("extra", got_extra, extra);
  return wrong;
}

[[noreturn]] void usage_error(const std::string& message) {
  std::fprintf(stderr, "microkernels: %s\n", message.c_str());
  std::exit(2);
}

void print_help() {
  std::puts(
      "usage: microkernels [--case NAME]... [--list] [--sass]\n"
      "Launches each microkernel once and checks its results.\n"
      "  --case NAME  only this one (may be given several times)\n"
      "  --list       print the names\n"
      "  --sass       print each name with the memory instructions its machine code must hold");
}

}  // namespace

int main(int argc, char** argv) {
  register_shared_loads();
  register_shared_stores();
  register_global_loads();
  register_global_stores();
  register_shared_atomics();
  register_global_atomics();
  register_structures();
  register_shapes();
  register_control_flow();
  register_whole_kernels();
  register_async_copies();

  std::map<std::string, const Case*> by_name;
  for (const Case& c : cases()) {
    if (!by_name.emplace(c.name, &c).second) usage_error("two cases are named " + c.name);
  }

  std::vector<const Case*> chosen;
  for (int i = 1; i < argc; i++) {
    const std::string argument = argv[i];
    if (argument == "--help") {
      print_help();
      return 0;
    } else if (argument == "--list" || argument == "--sass") {
      for (const Case& c : cases()) {
        if (argument == "--list") {
          std::puts(c.name.c_str());
        } else {
          std::printf("%s\t%s\n", c.name.c_str(), c.sass.c_str());
        }
      }
      return 0;
    } else if (argument == "--case") {
      if (i + 1 == argc) usage_error("--case needs the name of a case; --list prints them");
      const auto found = by_name.find(argv[++i]);
      if (found == by_name.end()) {
        usage_error(std::string("no case is named '") + argv[i] + "'; --list prints the " +
                    std::to_string(cases().size()) + " names");
      }
      chosen.push_back(found->second);
    } else {
      usage_error("unknown argument '" + argument +
                  "'; legal are --case NAME, --list, --sass, --help");
    }
  }
  if (chosen.empty()) {
    for (const Case& c : cases()) chosen.push_back(&c);
  }

  int failed = 0;
  for (const Case* c : chosen) {
    const std::string wrong = run(*c);
    if (!wrong.empty()) {
      failed++;
      std::printf("FAIL %s: %s\n", c->name.c_str(), wrong.c_str());
    }
  }
  std::printf("%zu passed, %d failed\n", chosen.size() - failed, failed);
  return failed == 0 ? 0 : 1;
}
