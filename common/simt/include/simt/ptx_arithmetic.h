/// \file
/// Arithmetic of inline PTX. The names are the instructions'; what differs by a modifier has it behind its name.
///
/// What would take a branch is not traced: it is one instruction of the GPU.
#pragma once

#include <simt/conversions.h>
#include <simt/math.h>
#include <simt/narrow_bits.h>
#include <simt/ptx_values.h>

#include <cfenv>
#include <cmath>
#include <limits>
#include <type_traits>

namespace simt::ptx {

template <class T>
inline constexpr bool is_float = std::is_floating_point_v<T>;

/// Twice as wide: what the whole product of two values is.
template <class T>
struct WideOf;
__extension__ typedef __int128 s128;
__extension__ typedef unsigned __int128 u128;
#define SIMT_WIDE(narrow, wide) \
  template <>                   \
  struct WideOf<narrow> {       \
    using Type = wide;          \
  };
SIMT_WIDE(u16, u32)
SIMT_WIDE(u32, u64)
SIMT_WIDE(u64, u128)
SIMT_WIDE(s16, s32)
SIMT_WIDE(s32, s64)
SIMT_WIDE(s64, s128)
#undef SIMT_WIDE
template <class T>
using Wide = typename WideOf<T>::Type;

template <class T>
SIMT_INLINE Wide<T> product(T a, T b) {
  return static_cast<Wide<T>>(static_cast<Wide<T>>(a) * static_cast<Wide<T>>(b));
}
template <class T>
SIMT_INLINE T high_half(Wide<T> value) {
  return static_cast<T>(value >> (sizeof(T) * 8));
}
/// Sums and products modulo 2^bits.
template <class T>
SIMT_INLINE T wrapped(u64 value) {
  return static_cast<T>(value);
}

constexpr int mode_of(Round round) {
  return round == Round::rz   ? FE_TOWARDZERO
         : round == Round::rm ? FE_DOWNWARD
         : round == Round::rp ? FE_UPWARD
                              : FE_TONEAREST;
}

/// .ftz: a subnormal number is zero, of the same sign.
SIMT_INLINE float flushed(float value) {
  const u32 bits = __builtin_bit_cast(u32, value);
  const u32 keeps = -static_cast<u32>((bits & 0x7f800000u) != 0);
  return __builtin_bit_cast(float, bits&(keeps | 0x80000000u));
}
/// .sat: between 0 and 1, and NaN is 0.
template <class T>
[[gnu::noinline]] SIMT_UNTRACED inline T saturated(T value) {
  if (!(value > 0)) return 0;
  return value > 1 ? 1 : value;
}

/// `operation` of floating-point numbers with the modifiers that there are.
template <class T, Round round, bool flushes, bool saturates, class R, class Operation,
          class... Values>
SIMT_INLINE void compute(R&& target, Operation operation, Values... values) {
  T result;
  if constexpr (flushes) ((values = flushed(values)), ...);
  if constexpr (round == Round::rn) {
    result = operation(values...);
  } else {
    result = simt::detail::rounded_with<T>(mode_of(round), operation, values...);
  }
  if constexpr (flushes) result = flushed(result);
  if constexpr (saturates) result = saturated(result);
  set(target, result);
}

#define SIMT_SUM(name, sign)                                                                 \
  template <class T, Round round = Round::rn, bool flushes = false, bool saturates = false,  \
            class R, class A, class B>                                                       \
  SIMT_INLINE void name(R&& target, A a, B b) {                                              \
    if constexpr (is_float<T>) {                                                             \
      compute<T, round, flushes, saturates>(                                                 \
          target, [](T x, T y) { return x sign y; }, get<T>(a), get<T>(b));                  \
    } else {                                                                                 \
      set(target, wrapped<T>(static_cast<u64>(get<T>(a)) sign static_cast<u64>(get<T>(b)))); \
    }                                                                                        \
  }                                                                                          \
  template <class T, class R, class A, class B>                                              \
  SIMT_INLINE void name##_sat(R&& target, A a, B b) {                                        \
    set(target, clamped<T>(static_cast<s64>(get<T>(a)) sign static_cast<s64>(get<T>(b))));   \
  }

/// The nearest T.
template <class T>
[[gnu::noinline]] SIMT_UNTRACED inline T clamped(s64 value) {
  using Limits = std::numeric_limits<T>;
  if (value < static_cast<s64>(Limits::min())) return Limits::min();
  return value > static_cast<s64>(Limits::max()) ? Limits::max() : static_cast<T>(value);
}
SIMT_SUM(add, +)
SIMT_SUM(sub, -)
#undef SIMT_SUM

template <class T, Round round = Round::rn, bool flushes = false, bool saturates = false, class R,
          class A, class B>
SIMT_INLINE void mul(R&& target, A a, B b) {
  compute<T, round, flushes, saturates>(
      target, [](T x, T y) { return x * y; }, get<T>(a), get<T>(b));
}
template <class T, class R, class A, class B>
SIMT_INLINE void mul_lo(R&& target, A a, B b) {
  set(target, wrapped<T>(static_cast<u64>(get<T>(a)) * static_cast<u64>(get<T>(b))));
}
template <class T, class R, class A, class B>
SIMT_INLINE void mul_hi(R&& target, A a, B b) {
  set(target, high_half<T>(product(get<T>(a), get<T>(b))));
}
template <class T, class R, class A, class B>
SIMT_INLINE void mul_wide(R&& target, A a, B b) {
  set(target, product(get<T>(a), get<T>(b)));
}
/// The low 24 bits, as a number of their own.
template <class T, class R>
SIMT_INLINE T low24(R value) {
  return static_cast<T>(static_cast<T>(get<u32>(value) << 8) >> 8);
}
template <class T, class R, class A, class B>
SIMT_INLINE void mul24_lo(R&& target, A a, B b) {
  set(target, static_cast<T>(product(low24<T>(a), low24<T>(b))));
}
template <class T, class R, class A, class B>
SIMT_INLINE void mul24_hi(R&& target, A a, B b) {
  set(target, static_cast<T>(product(low24<T>(a), low24<T>(b)) >> 16));
}

template <class T, Round round, bool flushes, bool saturates, class R, class A, class B, class C>
SIMT_INLINE void fma(R&& target, A a, B b, C c) {
  compute<T, round, flushes, saturates>(
      target, [](T x, T y, T z) { return std::fma(x, y, z); }, get<T>(a), get<T>(b), get<T>(c));
}
template <class T, class R, class A, class B, class C>
SIMT_INLINE void mad_lo(R&& target, A a, B b, C c) {
  set(target, wrapped<T>(static_cast<u64>(get<T>(a)) * static_cast<u64>(get<T>(b)) +
                         static_cast<u64>(get<T>(c))));
}
template <class T, class R, class A, class B, class C>
SIMT_INLINE void mad_hi(R&& target, A a, B b, C c) {
  set(target, wrapped<T>(static_cast<u64>(high_half<T>(product(get<T>(a), get<T>(b)))) +
                         static_cast<u64>(get<T>(c))));
}
template <class T, class R, class A, class B, class C>
SIMT_INLINE void mad_hi_sat(R&& target, A a, B b, C c) {
  set(target,
      clamped<T>(s64{high_half<T>(product(get<T>(a), get<T>(b)))} + static_cast<s64>(get<T>(c))));
}
template <class T, class R, class A, class B, class C>
SIMT_INLINE void mad_wide(R&& target, A a, B b, C c) {
  set(target, wrapped<Wide<T>>(static_cast<u64>(product(get<T>(a), get<T>(b))) +
                               static_cast<u64>(get<Wide<T>>(c))));
}

// .cc writes whether there was a carry (of a difference: a borrow), addc and its like add it.
template <class T, class R, class A, class B, class Carry>
SIMT_INLINE void add_carry(R&& target, A a, B b, bool carry, Carry&& out) {
  const u128 sum = static_cast<u128>(get<T>(a)) + get<T>(b) + carry;
  set(target, static_cast<T>(sum));
  set(out, static_cast<bool>(sum >> (sizeof(T) * 8) & 1));
}
template <class T, class R, class A, class B, class Carry>
SIMT_INLINE void sub_carry(R&& target, A a, B b, bool carry, Carry&& out) {
  const u128 difference = static_cast<u128>(get<T>(a)) - get<T>(b) - carry;
  set(target, static_cast<T>(difference));
  set(out, static_cast<bool>(difference >> (sizeof(T) * 8) & 1));
}
template <class T, bool high, class R, class A, class B, class C, class Carry>
SIMT_INLINE void mad_carry(R&& target, A a, B b, C c, bool carry, Carry&& out) {
  const Wide<T> both = product(get<T>(a), get<T>(b));
  using Part = Bits<T>;
  add_carry<Part>(target, static_cast<Part>(high ? high_half<T>(both) : static_cast<T>(both)), c,
                  carry, out);
}

template <class T, Round round = Round::rn, bool flushes = false, bool saturates = false, class R,
          class A, class B>
SIMT_INLINE void div(R&& target, A a, B b) {
  if constexpr (is_float<T>) {
    compute<T, round, flushes, saturates>(
        target, [](T x, T y) { return x / y; }, get<T>(a), get<T>(b));
  } else {
    set(target, static_cast<T>(get<T>(a) / get<T>(b)));
  }
}
template <class T, class R, class A, class B>
SIMT_INLINE void rem(R&& target, A a, B b) {
  set(target, static_cast<T>(get<T>(a) % get<T>(b)));
}

/// The smaller or the larger number; -0 is smaller than +0, and NaN is no number unless it is kept.
template <bool largest, bool keeps_nan, class T>
[[gnu::noinline]] SIMT_UNTRACED inline T chosen(T a, T b) {
  constexpr T kNan = sizeof(T) == 4 ? static_cast<T>(__builtin_bit_cast(f32, 0x7fffffffu))
                                    : std::numeric_limits<T>::quiet_NaN();
  if (a != a || b != b) {
    if (keeps_nan || (a != a && b != b)) return kNan;
    return a != a ? b : a;
  }
  if (a == b) return std::signbit(a) == largest ? b : a;
  return (a < b) == largest ? b : a;
}
#define SIMT_CHOICE(name, largest, sign)                                                      \
  template <class T, bool flushes = false, bool keeps_nan = false, class R, class A, class B> \
  SIMT_INLINE void name(R&& target, A a, B b) {                                               \
    if constexpr (is_float<T>) {                                                              \
      compute<T, Round::rn, flushes, false>(target, chosen<largest, keeps_nan, T>, get<T>(a), \
                                            get<T>(b));                                       \
    } else {                                                                                  \
      const T x = get<T>(a), y = get<T>(b);                                                   \
      set(target, x sign y ? x : y);                                                          \
    }                                                                                         \
  }
SIMT_CHOICE(min, false, <)
SIMT_CHOICE(max, true, >)
#undef SIMT_CHOICE

template <class T, bool flushes = false, class R, class A>
SIMT_INLINE void abs(R&& target, A a) {
  if constexpr (is_float<T>) {
    compute<T, Round::rn, flushes, false>(
        target, [](T x) { return std::fabs(x); }, get<T>(a));
  } else {
    const u64 value = static_cast<u64>(get<T>(a));
    const u64 sign = -(value >> 63);
    set(target, wrapped<T>((value ^ sign) - sign));
  }
}
template <class T, bool flushes = false, class R, class A>
SIMT_INLINE void neg(R&& target, A a) {
  if constexpr (is_float<T>) {
    compute<T, Round::rn, flushes, false>(
        target, [](T x) { return -x; }, get<T>(a));
  } else {
    set(target, wrapped<T>(-static_cast<u64>(get<T>(a))));
  }
}
template <class T, class R, class A, class B, class C>
SIMT_INLINE void sad(R&& target, A a, B b, C c) {
  const T x = get<T>(a), y = get<T>(b);
  const u64 swaps = -static_cast<u64>(x < y);
  const u64 difference = static_cast<u64>(x) - static_cast<u64>(y);
  set(target, wrapped<T>(static_cast<u64>(get<T>(c)) + ((difference ^ swaps) - swaps)));
}
template <class T, class R, class A, class B>
SIMT_INLINE void copysign(R&& target, A sign, B magnitude) {
  set(target, std::copysign(get<T>(magnitude), get<T>(sign)));
}

// Approximations are computed at full precision, as the intrinsics are.
#define SIMT_FUNCTION(name, expression)                                           \
  template <class T, Round round, bool flushes, bool saturates, class R, class A> \
  SIMT_INLINE void name(R&& target, A a) {                                        \
    compute<T, round, flushes, saturates>(                                        \
        target, [](T x) { return expression; }, get<T>(a));                       \
  }
SIMT_FUNCTION(rcp, T(1) / x)
SIMT_FUNCTION(sqrt, std::sqrt(x))
SIMT_FUNCTION(rsqrt, T(1) / std::sqrt(x))
SIMT_FUNCTION(sine, std::sin(x))
SIMT_FUNCTION(cosine, std::cos(x))
SIMT_FUNCTION(exp2, std::exp2(x))
SIMT_FUNCTION(log2, std::log2(x))
SIMT_FUNCTION(tanh, std::tanh(x))
#undef SIMT_FUNCTION

constexpr simt::detail::Rounding narrowing(Round round) {
  using simt::detail::Rounding;
  return round == Round::rz   ? Rounding::zero
         : round == Round::rm ? Rounding::down
         : round == Round::rp ? Rounding::up
                              : Rounding::nearest;
}

template <class T>
SIMT_INLINE T rounded(Round round, T value) {
  return round == Round::rz   ? std::trunc(value)
         : round == Round::rm ? std::floor(value)
         : round == Round::rp ? std::ceil(value)
                              : std::rint(value);
}

/// The nearest number of another integer type.
template <class To, class From>
[[gnu::noinline]] SIMT_UNTRACED inline To nearest(From value) {
  using Limits = std::numeric_limits<To>;
  if (static_cast<s128>(value) < static_cast<s128>(Limits::min())) return Limits::min();
  if (static_cast<s128>(value) > static_cast<s128>(Limits::max())) return Limits::max();
  return static_cast<To>(value);
}

template <class T>
SIMT_INLINE T flushed_if_float(T value) {
  if constexpr (std::is_same_v<T, float>) {
    return flushed(value);
  } else {
    return value;
  }
}

template <class To, Round round, bool integral, bool saturates, class From>
SIMT_INLINE To converted(From value) {
  if constexpr (std::is_same_v<From, f16> || std::is_same_v<From, bf16>) {
    constexpr int kFraction = std::is_same_v<From, f16> ? 10 : 7;
    return converted<To, round, integral, saturates>(simt::detail::widen<kFraction>(value.bits));
  } else if constexpr (std::is_same_v<To, f16> || std::is_same_v<To, bf16>) {
    constexpr int kFraction = std::is_same_v<To, f16> ? 10 : 7;
    double number = static_cast<double>(value);
    if constexpr (integral) number = rounded(round, number);
    if constexpr (saturates) number = saturated(number);
    return {simt::detail::narrow<kFraction>(number, narrowing(round))};
  } else if constexpr (is_float<From> && is_float<To>) {
    To number;
    if constexpr (sizeof(To) < sizeof(From) && round != Round::rn) {
      number = simt::detail::rounded_with<To>(
          mode_of(round), [](From x) { return static_cast<To>(x); }, value);
    } else {
      number = static_cast<To>(integral ? rounded(round, value) : value);
    }
    if constexpr (saturates) number = saturated(number);
    return number;
  } else if constexpr (is_float<From>) {
    return simt::detail::to_integer<To>(rounded(round, value));
  } else if constexpr (is_float<To>) {
    To number;
    if constexpr (round == Round::rn) {
      number = static_cast<To>(value);
    } else {
      number = simt::detail::from_integer<To>(mode_of(round), value);
    }
    if constexpr (saturates) number = saturated(number);
    return number;
  } else if constexpr (saturates) {
    return nearest<To>(value);
  } else {
    return static_cast<To>(value);
  }
}

template <class To, class From, Round round, bool integral, bool flushes, bool saturates, class R,
          class A>
SIMT_INLINE void convert(R&& target, A a) {
  From value = get<From>(a);
  if constexpr (flushes) value = flushed_if_float(value);
  To result = converted<To, round, integral, saturates>(value);
  if constexpr (flushes) result = flushed_if_float(result);
  set(target, result);
}
/// Two numbers of 16 bits with this many fraction bits, `high` in the upper half.
template <int fraction, Round round, class R, class A, class B>
SIMT_INLINE void convert_pair(R&& target, A high, B low) {
  const u32 upper = simt::detail::narrow<fraction>(get<f32>(high), narrowing(round));
  const u32 lower = simt::detail::narrow<fraction>(get<f32>(low), narrowing(round));
  set(target, upper << 16 | lower);
}

/// cvt.rna.tf32: to 10 bits of fraction, the nearest, ties away from zero.
template <class R, class A>
SIMT_INLINE void to_tf32(R&& target, A a) {
  const u32 bits = get<u32>(a);
  const bool is_number = (bits & 0x7fffffff) <= 0x7f800000;
  set(target, is_number ? (bits + 0x1000) & 0xffffe000 : 0x7fffffff);
}

/// The sum of four products of bytes and c.
template <class A, class B, class R, class X, class Y, class C>
SIMT_INLINE void dot4(R&& target, X a, Y b, C c) {
  using ByteA = std::conditional_t<std::is_signed_v<A>, s8, u8>;
  using ByteB = std::conditional_t<std::is_signed_v<B>, s8, u8>;
  u32 sum = get<u32>(c);
  const u32 x = get<u32>(a), y = get<u32>(b);
  sum += static_cast<u32>(s32{static_cast<ByteA>(x)} * s32{static_cast<ByteB>(y)});
  sum += static_cast<u32>(s32{static_cast<ByteA>(x >> 8)} * s32{static_cast<ByteB>(y >> 8)});
  sum += static_cast<u32>(s32{static_cast<ByteA>(x >> 16)} * s32{static_cast<ByteB>(y >> 16)});
  sum += static_cast<u32>(s32{static_cast<ByteA>(x >> 24)} * s32{static_cast<ByteB>(y >> 24)});
  set(target, sum);
}

}  // namespace simt::ptx
