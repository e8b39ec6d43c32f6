/// \file
/// Atomic functions, of every type and scope that CUDA has them for.
///
/// The library announces each to the scheduler, which groups the lanes of a warp and counts, and does
/// it with an atomic instruction of the CPU, since blocks run on several cores. All orders are
/// sequentially consistent, which is stronger than CUDA promises.
#pragma once

#include <simt/intrinsics.h>

namespace simt::detail {

template <class T>
inline constexpr AtomicType atomic_type =
    std::is_same_v<T, float>    ? AtomicType::f32
    : std::is_same_v<T, double> ? AtomicType::f64
    : sizeof(T) == 2            ? AtomicType::u16
    : sizeof(T) == 4            ? (std::is_signed_v<T> ? AtomicType::i32 : AtomicType::u32)
                                : (std::is_signed_v<T> ? AtomicType::i64 : AtomicType::u64);

template <class T>
SIMT_INLINE T atomic_apply(AtomicOp op, T* address, T value, T compare = T{}) {
  // Shared memory has a unit of its own for counting up; the compiler chooses it where it sees the one.
  if (op == AtomicOp::add && std::is_integral_v<T> && __builtin_constant_p(value) &&
      value == T(1)) {
    op = AtomicOp::add_one;
  }
  return from_bits<T>(atomic(op, atomic_type<T>, address, to_bits(value), to_bits(compare)));
}

}  // namespace simt::detail

#define SIMT_ATOMIC(name, op, T)                                                   \
  SIMT_INLINE T name(T* address, T value) {                                        \
    return simt::detail::atomic_apply(simt::detail::AtomicOp::op, address, value); \
  }                                                                                \
  SIMT_INLINE T name##_block(T* address, T value) {                                \
    simt::detail::announce_block_atomic(address);                                  \
    return name(address, value);                                                   \
  }                                                                                \
  SIMT_INLINE T name##_system(T* address, T value) {                               \
    simt::detail::announce_system_atomic(address, sizeof(T));                      \
    return name(address, value);                                                   \
  }

#define SIMT_ATOMIC_INTEGERS(name, op) \
  SIMT_ATOMIC(name, op, int)           \
  SIMT_ATOMIC(name, op, unsigned int)  \
  SIMT_ATOMIC(name, op, unsigned long long)

SIMT_ATOMIC_INTEGERS(atomicAdd, add)
SIMT_ATOMIC(atomicAdd, add, float)
SIMT_ATOMIC(atomicAdd, add, double)
SIMT_ATOMIC(atomicSub, subtract, int)
SIMT_ATOMIC(atomicSub, subtract, unsigned int)
SIMT_ATOMIC_INTEGERS(atomicMin, minimum)
SIMT_ATOMIC(atomicMin, minimum, long long)
SIMT_ATOMIC_INTEGERS(atomicMax, maximum)
SIMT_ATOMIC(atomicMax, maximum, long long)
SIMT_ATOMIC_INTEGERS(atomicAnd, bit_and)
SIMT_ATOMIC(atomicAnd, bit_and, long long)
SIMT_ATOMIC_INTEGERS(atomicOr, bit_or)
SIMT_ATOMIC(atomicOr, bit_or, long long)
SIMT_ATOMIC_INTEGERS(atomicXor, bit_xor)
SIMT_ATOMIC(atomicXor, bit_xor, long long)
SIMT_ATOMIC_INTEGERS(atomicExch, exchange)
SIMT_ATOMIC(atomicExch, exchange, float)
SIMT_ATOMIC(atomicInc, increment, unsigned int)
SIMT_ATOMIC(atomicDec, decrement, unsigned int)

#undef SIMT_ATOMIC_INTEGERS
#undef SIMT_ATOMIC

#define SIMT_ATOMIC_CAS(T)                                                                      \
  SIMT_INLINE T atomicCAS(T* address, T compare, T value) {                                     \
    return simt::detail::atomic_apply(simt::detail::AtomicOp::compare_exchange, address, value, \
                                      compare);                                                 \
  }                                                                                             \
  SIMT_INLINE T atomicCAS_block(T* address, T compare, T value) {                               \
    simt::detail::announce_block_atomic(address);                                               \
    return atomicCAS(address, compare, value);                                                  \
  }                                                                                             \
  SIMT_INLINE T atomicCAS_system(T* address, T compare, T value) {                              \
    simt::detail::announce_system_atomic(address, sizeof(T));                                   \
    return atomicCAS(address, compare, value);                                                  \
  }

SIMT_ATOMIC_CAS(int)
SIMT_ATOMIC_CAS(unsigned int)
SIMT_ATOMIC_CAS(unsigned long long)
SIMT_ATOMIC_CAS(unsigned short)
#undef SIMT_ATOMIC_CAS
