/// \file
/// Moves, bits, shifts and comparisons of inline PTX. The names are the instructions'.
#pragma once

#include <simt/math.h>
#include <simt/ptx/values.h>
#include <simt/shifts.h>

#include <cmath>

namespace simt::ptx {

template <class T, class R, class A>
SIMT_INLINE void mov(R&& target, A a) {
  set(target, get<T>(a));
}

/// {a, b}, of which the first is the low part.
template <class Part, class R, class... Parts>
SIMT_INLINE void pack(R&& target, Parts... parts) {
  u64 bits = 0;
  unsigned shift = 0;
  ((bits |= u64{get<Part>(parts)} << shift, shift += sizeof(Part) * 8), ...);
  set(target, static_cast<std::remove_reference_t<R>>(bits));
}
template <class Part, class A, class... Targets>
SIMT_INLINE void unpack(A a, Targets&&... targets) {
  u64 bits = get<u64>(a);
  ((set(targets, static_cast<Part>(bits)), bits >>= sizeof(Part) * 8), ...);
}

#define SIMT_LOGIC(name, sign)                             \
  template <class T, class R, class A, class B>            \
  SIMT_INLINE void name(R&& target, A a, B b) {            \
    set(target, static_cast<T>(get<T>(a) sign get<T>(b))); \
  }
SIMT_LOGIC(bit_and, &)
SIMT_LOGIC(bit_or, |)
SIMT_LOGIC(bit_xor, ^)
#undef SIMT_LOGIC
template <class T, class R, class A>
SIMT_INLINE void bit_not(R&& target, A a) {
  if constexpr (std::is_same_v<T, bool>) {
    set(target, !get<T>(a));
  } else {
    set(target, static_cast<T>(~get<T>(a)));
  }
}

template <class T, class R, class A, class B>
SIMT_INLINE void shl(R&& target, A a, B amount) {
  set(target, simt::detail::shifted_left(get<T>(a), get<u32>(amount)));
}
template <class T, class R, class A, class B>
SIMT_INLINE void shr(R&& target, A a, B amount) {
  set(target, simt::detail::shifted_right(get<T>(a), get<u32>(amount)));
}
/// Bit (a, b, c) of the table, for each bit.
template <s64 table, class R, class A, class B, class C>
SIMT_INLINE void lop3(R&& target, A a, B b, C c) {
  static_assert(table >= 0 && table <= 255,
                "simt: inline PTX: the table of lop3 is a number from 0 to 255");
  const u32 x = get<u32>(a), y = get<u32>(b), z = get<u32>(c);
  u32 result = 0;
  if constexpr (table & 0x01) result |= ~x & ~y & ~z;
  if constexpr (table & 0x02) result |= ~x & ~y & z;
  if constexpr (table & 0x04) result |= ~x & y & ~z;
  if constexpr (table & 0x08) result |= ~x & y & z;
  if constexpr (table & 0x10) result |= x & ~y & ~z;
  if constexpr (table & 0x20) result |= x & ~y & z;
  if constexpr (table & 0x40) result |= x & y & ~z;
  if constexpr (table & 0x80) result |= x & y & z;
  set(target, result);
}

/// Four bytes of eight, by the selectors in 16 bits; the highest bit of one asks for copies of the byte's sign.
[[gnu::noinline]] SIMT_UNTRACED inline u32 permuted(u32 a, u32 b, u32 selectors) {
  return __byte_perm(a, b, selectors);
}
template <class R, class A, class B, class C>
SIMT_INLINE void prmt(R&& target, A a, B b, C selectors) {
  set(target, permuted(get<u32>(a), get<u32>(b), get<u32>(selectors)));
}
template <class T>
SIMT_INLINE u32 leading_zeros(T value) {
  return static_cast<u32>(sizeof(T) == 4 ? __clz(static_cast<int>(value))
                                         : __clzll(static_cast<long long>(value)));
}
template <class T, class R, class A>
SIMT_INLINE void popc(R&& target, A a) {
  set(target, static_cast<u32>(__popcll(get<T>(a))));
}
template <class T>
[[gnu::noinline]] SIMT_UNTRACED inline u32 zeros_of(T value) {
  return leading_zeros(value);
}
template <class T, class R, class A>
SIMT_INLINE void clz(R&& target, A a) {
  set(target, zeros_of(get<T>(a)));
}
template <class T, class R, class A>
SIMT_INLINE void brev(R&& target, A a) {
  if constexpr (sizeof(T) == 4) {
    set(target, __brev(get<T>(a)));
  } else {
    set(target, __brevll(get<T>(a)));
  }
}

template <class T, class R, class A, class B, class C>
SIMT_INLINE void selp(R&& target, A a, B b, C predicate) {
  using U = Bits<T>;
  const U mask = static_cast<U>(-static_cast<U>(get<bool>(predicate)));
  set(target, static_cast<U>((get<U>(a) & mask) | (get<U>(b) & ~mask)));
}

enum class Compare { eq, ne, lt, le, gt, ge };

template <Compare compare, class T>
SIMT_INLINE bool compares(T a, T b) {
  switch (compare) {
    case Compare::eq:
      return a == b;
    case Compare::ne:
      return (a < b) | (a > b);
    case Compare::lt:
      return a < b;
    case Compare::le:
      return a <= b;
    case Compare::gt:
      return a > b;
    default:
      return a >= b;
  }
}

SIMT_INLINE float flushed(float value);
template <class T, Compare compare, bool flushes, class A, class B>
SIMT_INLINE bool compared(A a, B b) {
  T x = get<T>(a), y = get<T>(b);
  if constexpr (flushes) {
    x = flushed(x);
    y = flushed(y);
  }
  return compares<compare>(x, y);
}
template <class T, Compare compare, bool flushes, class R, class S, class A, class B>
SIMT_INLINE void setp(R&& target, S&& opposite, A a, B b) {
  const bool holds = compared<T, compare, flushes>(a, b);
  set(target, holds);
  set(opposite, !holds);
}

}  // namespace simt::ptx
