/// \file
/// Barriers, shuffles, votes and the other intrinsics of a thread, warp or block.
#pragma once

#include <simt/api/runtime.h>
#include <simt/qualifiers.h>
#include <vector_types.h>

#include <cassert>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <type_traits>

#define SIMT_INLINE [[gnu::always_inline]] inline

SIMT_INLINE void __syncthreads() { simt::detail::barrier(simt::detail::BarrierReduction::none, 0); }
SIMT_INLINE int __syncthreads_count(int predicate) {
  return simt::detail::barrier(simt::detail::BarrierReduction::count, predicate);
}
SIMT_INLINE int __syncthreads_and(int predicate) {
  return simt::detail::barrier(simt::detail::BarrierReduction::all, predicate);
}
SIMT_INLINE int __syncthreads_or(int predicate) {
  return simt::detail::barrier(simt::detail::BarrierReduction::any, predicate);
}

// Lanes of one OS thread see each other's writes in order; fences order them between OS threads.
SIMT_INLINE void __threadfence() { simt::detail::fence(); }
SIMT_INLINE void __threadfence_block() { simt::detail::fence_block(); }
SIMT_INLINE void __threadfence_system() { simt::detail::fence(); }

/// Of programmatic dependent launches. Here a kernel begins when the one before it in its stream has ended; for the checks it is
/// behind that one if it calls the first of these.
SIMT_INLINE void cudaGridDependencySynchronize() { simt::detail::wait_for_dependency(); }
SIMT_INLINE void cudaTriggerProgrammaticLaunchCompletion() { simt::detail::let_dependents_begin(); }

SIMT_INLINE unsigned __activemask() { return simt::detail::in_place(simt::detail::active_mask); }
SIMT_INLINE void __nanosleep(unsigned) { simt::detail::yield(); }
SIMT_INLINE long long clock64() { return simt::detail::clock(); }
namespace simt::detail {
/// clock() in a kernel.
SIMT_INLINE clock_t device_clock() { return clock(); }

/// For g++ somebody reads what is stored there. What is deleted is given to it first: see simtcc's rules.
template <class T>
SIMT_INLINE T* as_stored(T* p) {
  asm volatile("" : "+r"(p) : : "memory");
  return p;
}
template <class T>
SIMT_INLINE T&& as_stored(T&& p) {
  return static_cast<T&&>(p);
}
}  // namespace simt::detail
/// What the compiler may take for granted is not checked.
SIMT_INLINE void __builtin_assume(bool) {}
SIMT_INLINE void __trap() { simt::detail::trap("__trap() was called"); }
SIMT_INLINE void __brkpt() { simt::detail::trap("__brkpt() was called"); }

namespace simt::detail {

/// A value of up to 8 bytes as the 64 bits that a collective moves, and back.
template <class T>
SIMT_INLINE uint64_t to_bits(const T& value) {
  static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= 8);
  uint64_t bits = 0;
  __builtin_memcpy(&bits, &value, sizeof(T));
  return bits;
}
template <class T>
SIMT_INLINE T from_bits(uint64_t bits) {
  T value;
  __builtin_memcpy(&value, &bits, sizeof(T));
  return value;
}

template <class T, int mantissa>
struct NarrowFloat;
template <class T, class Half>
struct NarrowPair;
template <class T, int mantissa>
std::true_type narrow(const NarrowFloat<T, mantissa>*);
template <class T, class Half>
std::true_type narrow(const NarrowPair<T, Half>*);
std::false_type narrow(const volatile void*);
template <class T>
inline constexpr bool is_narrow = decltype(narrow(static_cast<T*>(nullptr)))::value;

/// There if CUDA has shuffles of a T: not of a pointer or a struct.
template <class T>
using Exchanged = std::enable_if_t<std::is_arithmetic_v<T> || is_narrow<T> ||
                                   (std::is_enum_v<T> && std::is_convertible_v<T, int>)>;

/// There if CUDA has loads and stores of a T with a cache hint.
template <class T, class... Others>
inline constexpr bool is_one_of = (std::is_same_v<T, Others> || ...);
template <class T>
using Hinted = std::enable_if_t<
    (std::is_arithmetic_v<T> && !std::is_volatile_v<T> && !std::is_same_v<T, bool>) ||
    is_narrow<T> ||
    is_one_of<T, char2, char4, uchar2, uchar4, short2, short4, ushort2, ushort4, int2, int4, uint2,
              uint4, float2, float4, double2, longlong2, ulonglong2>>;

SIMT_INLINE uint64_t warp_collective(CollectiveOp op, unsigned mask, uint64_t value,
                                     int operand = 0, int width = 32) {
  return in_place([=](int call) __attribute__((always_inline)) {
    return collective(op, mask, value, operand, width, call);
  });
}

}  // namespace simt::detail

SIMT_INLINE void __syncwarp(unsigned mask = 0xffffffffu) {
  simt::detail::warp_collective(simt::detail::CollectiveOp::sync, mask, 0);
  asm volatile("" : : : "memory");  // this one orders memory
}

// A float is sign-extended nowhere: the bits travel.
template <class T, class = simt::detail::Exchanged<T>>
SIMT_INLINE T __shfl_sync(unsigned mask, T value, int lane, int width = 32) {
  using namespace simt::detail;
  return from_bits<T>(
      warp_collective(CollectiveOp::shuffle_index, mask, to_bits(value), lane, width));
}
template <class T, class = simt::detail::Exchanged<T>>
SIMT_INLINE T __shfl_up_sync(unsigned mask, T value, unsigned delta, int width = 32) {
  using namespace simt::detail;
  return from_bits<T>(warp_collective(CollectiveOp::shuffle_up, mask, to_bits(value),
                                      static_cast<int>(delta), width));
}
template <class T, class = simt::detail::Exchanged<T>>
SIMT_INLINE T __shfl_down_sync(unsigned mask, T value, unsigned delta, int width = 32) {
  using namespace simt::detail;
  return from_bits<T>(warp_collective(CollectiveOp::shuffle_down, mask, to_bits(value),
                                      static_cast<int>(delta), width));
}
template <class T, class = simt::detail::Exchanged<T>>
SIMT_INLINE T __shfl_xor_sync(unsigned mask, T value, int lane_mask, int width = 32) {
  using namespace simt::detail;
  return from_bits<T>(
      warp_collective(CollectiveOp::shuffle_xor, mask, to_bits(value), lane_mask, width));
}

SIMT_INLINE int __all_sync(unsigned mask, int predicate) {
  using namespace simt::detail;
  return static_cast<int>(warp_collective(CollectiveOp::vote_all, mask, predicate != 0));
}
SIMT_INLINE int __any_sync(unsigned mask, int predicate) {
  using namespace simt::detail;
  return static_cast<int>(warp_collective(CollectiveOp::vote_any, mask, predicate != 0));
}
SIMT_INLINE unsigned __ballot_sync(unsigned mask, int predicate) {
  using namespace simt::detail;
  return static_cast<unsigned>(warp_collective(CollectiveOp::vote_ballot, mask, predicate != 0));
}
SIMT_INLINE int __uni_sync(unsigned mask, int predicate) {
  using namespace simt::detail;
  return static_cast<int>(warp_collective(CollectiveOp::vote_uniform, mask, predicate != 0));
}
template <class T, class = simt::detail::Exchanged<T>>
SIMT_INLINE unsigned __match_any_sync(unsigned mask, T value) {
  using namespace simt::detail;
  return static_cast<unsigned>(warp_collective(CollectiveOp::match_any, mask, to_bits(value)));
}
template <class T, class = simt::detail::Exchanged<T>>
SIMT_INLINE unsigned __match_all_sync(unsigned mask, T value, int* predicate) {
  using namespace simt::detail;
  auto all = static_cast<unsigned>(warp_collective(CollectiveOp::match_all, mask, to_bits(value)));
  *predicate = all != 0;
  return all;
}

SIMT_INLINE unsigned __reduce_add_sync(unsigned mask, unsigned value) {
  using namespace simt::detail;
  return static_cast<unsigned>(warp_collective(CollectiveOp::reduce_add, mask, value));
}
SIMT_INLINE int __reduce_add_sync(unsigned mask, int value) {
  return static_cast<int>(__reduce_add_sync(mask, static_cast<unsigned>(value)));
}
SIMT_INLINE unsigned __reduce_min_sync(unsigned mask, unsigned value) {
  using namespace simt::detail;
  return static_cast<unsigned>(warp_collective(CollectiveOp::reduce_min_unsigned, mask, value));
}
SIMT_INLINE int __reduce_min_sync(unsigned mask, int value) {
  using namespace simt::detail;
  return static_cast<int>(
      warp_collective(CollectiveOp::reduce_min_signed, mask, static_cast<unsigned>(value)));
}
SIMT_INLINE unsigned __reduce_max_sync(unsigned mask, unsigned value) {
  using namespace simt::detail;
  return static_cast<unsigned>(warp_collective(CollectiveOp::reduce_max_unsigned, mask, value));
}
SIMT_INLINE int __reduce_max_sync(unsigned mask, int value) {
  using namespace simt::detail;
  return static_cast<int>(
      warp_collective(CollectiveOp::reduce_max_signed, mask, static_cast<unsigned>(value)));
}
SIMT_INLINE unsigned __reduce_and_sync(unsigned mask, unsigned value) {
  using namespace simt::detail;
  return static_cast<unsigned>(warp_collective(CollectiveOp::reduce_and, mask, value));
}
SIMT_INLINE unsigned __reduce_or_sync(unsigned mask, unsigned value) {
  using namespace simt::detail;
  return static_cast<unsigned>(warp_collective(CollectiveOp::reduce_or, mask, value));
}
SIMT_INLINE unsigned __reduce_xor_sync(unsigned mask, unsigned value) {
  using namespace simt::detail;
  return static_cast<unsigned>(warp_collective(CollectiveOp::reduce_xor, mask, value));
}

// Which memory an address is of.
SIMT_INLINE unsigned __isGlobal(const void* p) {
  return simt::detail::memory_of(p) == simt::detail::MemoryKind::global;
}
SIMT_INLINE unsigned __isShared(const void* p) {
  return simt::detail::memory_of(p) == simt::detail::MemoryKind::shared;
}
SIMT_INLINE unsigned __isConstant(const void* p) {
  return simt::detail::memory_of(p) == simt::detail::MemoryKind::constant;
}
SIMT_INLINE unsigned __isLocal(const void* p) {
  return simt::detail::memory_of(p) == simt::detail::MemoryKind::local;
}
SIMT_INLINE size_t __cvta_generic_to_global(const void* p) { return reinterpret_cast<size_t>(p); }
SIMT_INLINE size_t __cvta_generic_to_shared(const void* p) {
  asm("" : "+r"(p));  // g++ shall take into account that the number leads there, too
  return simt::detail::to_shared_window(p);
}
SIMT_INLINE size_t __cvta_generic_to_constant(const void* p) { return reinterpret_cast<size_t>(p); }
SIMT_INLINE size_t __cvta_generic_to_local(const void* p) { return reinterpret_cast<size_t>(p); }
SIMT_INLINE void* __cvta_global_to_generic(size_t p) { return reinterpret_cast<void*>(p); }
SIMT_INLINE void* __cvta_shared_to_generic(size_t p) {
  return simt::detail::from_shared_window(static_cast<uint32_t>(p));
}
SIMT_INLINE void* __cvta_constant_to_generic(size_t p) { return reinterpret_cast<void*>(p); }
SIMT_INLINE void* __cvta_local_to_generic(size_t p) { return reinterpret_cast<void*>(p); }
SIMT_INLINE void __prof_trigger(int) {}

// Loads and stores with a cache hint are plain accesses to the counters.
template <class T, class = simt::detail::Hinted<T>>
SIMT_INLINE T __ldg(const T* address) {
  return *address;
}
template <class T, class = simt::detail::Hinted<T>>
SIMT_INLINE T __ldcg(const T* address) {
  return *address;
}
template <class T, class = simt::detail::Hinted<T>>
SIMT_INLINE T __ldca(const T* address) {
  return *address;
}
template <class T, class = simt::detail::Hinted<T>>
SIMT_INLINE T __ldcs(const T* address) {
  return *address;
}
template <class T, class = simt::detail::Hinted<T>>
SIMT_INLINE T __ldlu(const T* address) {
  return *address;
}
template <class T, class = simt::detail::Hinted<T>>
SIMT_INLINE T __ldcv(const T* address) {
  return *const_cast<const volatile T*>(address);
}
template <class T, class = simt::detail::Hinted<T>>
SIMT_INLINE void __stcg(T* address, T value) {
  *address = value;
}
template <class T, class = simt::detail::Hinted<T>>
SIMT_INLINE void __stcs(T* address, T value) {
  *address = value;
}
template <class T, class = simt::detail::Hinted<T>>
SIMT_INLINE void __stwb(T* address, T value) {
  *address = value;
}
template <class T, class = simt::detail::Hinted<T>>
SIMT_INLINE void __stwt(T* address, T value) {
  *address = value;
}
