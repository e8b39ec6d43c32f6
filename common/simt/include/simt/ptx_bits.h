/// \file
/// Moves, bits, shifts and comparisons of inline PTX. The names are the instructions'.
#pragma once

#include <simt/math.h>
#include <simt/ptx_values.h>
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
// b is the upper half of what is shifted, a the lower one.
template <class R, class A, class B, class C>
SIMT_INLINE void shf_l_wrap(R&& target, A a, B b, C amount) {
  set(target, __funnelshift_l(get<u32>(a), get<u32>(b), get<u32>(amount)));
}
template <class R, class A, class B, class C>
SIMT_INLINE void shf_r_wrap(R&& target, A a, B b, C amount) {
  set(target, __funnelshift_r(get<u32>(a), get<u32>(b), get<u32>(amount)));
}
/// The lower of two numbers without a branch.
SIMT_INLINE u32 at_most(u32 value, u32 most) {
  const u32 exceeds = -static_cast<u32>(value > most);
  return (value & ~exceeds) | (most & exceeds);
}
template <class R, class A, class B, class C>
SIMT_INLINE void shf_l_clamp(R&& target, A a, B b, C amount) {
  const u64 both = u64{get<u32>(b)} << 32 | get<u32>(a);
  set(target, static_cast<u32>(both << at_most(get<u32>(amount), 32) >> 32));
}
template <class R, class A, class B, class C>
SIMT_INLINE void shf_r_clamp(R&& target, A a, B b, C amount) {
  const u64 both = u64{get<u32>(b)} << 32 | get<u32>(a);
  set(target, static_cast<u32>(both >> at_most(get<u32>(amount), 32)));
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
// The other modes are selectors of their own for each of the four values of the two lowest bits.
#define SIMT_PRMT(mode, first, second, third, fourth)                                              \
  template <class R, class A, class B, class C>                                                    \
  SIMT_INLINE void prmt_##mode(R&& target, A a, B b, C selector) {                                 \
    const u64 selectors = first | second##ull << 16 | third##ull << 32 | fourth##ull << 48;        \
    set(target, permuted(get<u32>(a), get<u32>(b),                                                 \
                         static_cast<u32>(selectors >> (get<u32>(selector) % 4 * 16)) & 0xffffu)); \
  }
SIMT_PRMT(f4e, 0x3210, 0x4321, 0x5432, 0x6543)
SIMT_PRMT(b4e, 0x5670, 0x6701, 0x7012, 0x0123)
SIMT_PRMT(rc8, 0x0000, 0x1111, 0x2222, 0x3333)
SIMT_PRMT(ecl, 0x3210, 0x3211, 0x3222, 0x3333)
SIMT_PRMT(ecr, 0x0000, 0x1110, 0x2210, 0x3210)
SIMT_PRMT(rc16, 0x1010, 0x3232, 0x1010, 0x3232)
#undef SIMT_PRMT

/// A position or a length in a value of type T. PTX has them up to 255 only; of larger ones the H200 takes the lowest 8
/// bits where the value has 32 bits, and takes them as they are where it has 64.
template <class T>
SIMT_INLINE u32 up_to_255(u32 value) {
  if constexpr (sizeof(T) == 4) return value & 0xff;
  return value < 0xff ? value : 0xff;
}
/// `length` bits from `position` on; bits beyond the highest are zeros, or the sign.
template <class T>
[[gnu::noinline]] SIMT_UNTRACED inline T extracted(T value, u32 position, u32 length) {
  constexpr u32 kBits = sizeof(T) * 8;
  position = up_to_255<T>(position);
  length = up_to_255<T>(length);
  if (length == 0) return 0;
  const T shifted = simt::detail::shifted_right(value, position);
  if (position + length >= kBits && position >= kBits) return shifted;
  const u32 most = kBits - position;
  if (length >= most) return shifted;
  const u32 unused = kBits - length;
  return static_cast<T>(static_cast<T>(static_cast<Bits<T>>(shifted) << unused) >> unused);
}
template <class T, class R, class A, class B, class C>
SIMT_INLINE void bfe(R&& target, A a, B position, C length) {
  set(target, extracted(get<T>(a), get<u32>(position), get<u32>(length)));
}
/// The lowest `length` bits of a in b, from `position` on.
template <class T, class R, class A, class B, class C, class D>
SIMT_INLINE void bfi(R&& target, A a, B b, C position, D length) {
  const u32 at = up_to_255<T>(get<u32>(position));
  const T ones =
      static_cast<T>(simt::detail::shifted_left(T{1}, up_to_255<T>(get<u32>(length))) - 1);
  const T mask = simt::detail::shifted_left(ones, at);
  set(target,
      static_cast<T>((get<T>(b) & ~mask) | (simt::detail::shifted_left(get<T>(a), at) & mask)));
}

template <class T>
SIMT_INLINE u32 leading_zeros(T value) {
  return static_cast<u32>(sizeof(T) == 4 ? __clz(static_cast<int>(value))
                                         : __clzll(static_cast<long long>(value)));
}
/// The place of the highest bit that is not a sign, or how far it has to be shifted to the top; ~0 if there is none.
template <class T, bool shifts>
[[gnu::noinline]] SIMT_UNTRACED inline u32 highest(T value) {
  if (value < 0) value = static_cast<T>(~value);
  if (value == 0) return ~0u;
  const u32 zeros = leading_zeros(value);
  return shifts ? zeros : static_cast<u32>(sizeof(T) * 8 - 1) - zeros;
}
template <class T, bool shifts, class R, class A>
SIMT_INLINE void bfind(R&& target, A a) {
  set(target, highest<T, shifts>(get<T>(a)));
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

enum class Compare {
  eq,
  ne,
  lt,
  le,
  gt,
  ge,
  lo,
  ls,
  hi,
  hs,
  equ,
  neu,
  ltu,
  leu,
  gtu,
  geu,
  num,
  nan
};
enum class Join { bit_and, bit_or, bit_xor };

/// The comparisons with a `u` at the end hold of NaN, too.
template <Compare compare, class T>
SIMT_INLINE bool compares(T a, T b) {
  switch (compare) {
    case Compare::eq:
      return a == b;
    case Compare::ne:
      return (a < b) | (a > b);
    case Compare::lt:
    case Compare::lo:
      return a < b;
    case Compare::le:
    case Compare::ls:
      return a <= b;
    case Compare::gt:
    case Compare::hi:
      return a > b;
    case Compare::ge:
    case Compare::hs:
      return a >= b;
    case Compare::equ:
      return !((a < b) | (a > b));
    case Compare::neu:
      return a != b;
    case Compare::ltu:
      return !(a >= b);
    case Compare::leu:
      return !(a > b);
    case Compare::gtu:
      return !(a <= b);
    case Compare::geu:
      return !(a < b);
    case Compare::num:
      return (a == a) & (b == b);
    default:
      return (a != a) | (b != b);
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
template <class T, Compare compare, bool flushes, class R, class S, class A, class B, class C>
SIMT_INLINE void setp(R&& target, S&& opposite, A a, B b, C other, Join join) {
  const bool holds = compared<T, compare, flushes>(a, b), c = get<bool>(other);
  const auto joined = [&](bool p) -> bool {
    return join == Join::bit_and ? p & c : join == Join::bit_or ? p | c : p ^ c;
  };
  set(target, joined(holds));
  set(opposite, joined(!holds));
}

}  // namespace simt::ptx
