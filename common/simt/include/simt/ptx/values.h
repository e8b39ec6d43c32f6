/// \file
/// Registers of inline PTX and the values in them.
#pragma once

#include <simt/launch.h>
#include <simt/qualifiers.h>

#include <cstdint>
#include <type_traits>

#define SIMT_INLINE [[gnu::always_inline]] inline

namespace simt::ptx {

using u8 = std::uint8_t;
using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = unsigned long long;
using s8 = std::int8_t;
using s16 = std::int16_t;
using s32 = std::int32_t;
using s64 = long long;
using f32 = float;
using f64 = double;
/// Of 16 bits only cvt knows what they stand for.
struct f16 {
  u16 bits;
};
struct bf16 {
  u16 bits;
};

/// A register that nobody reads: `_`
struct Sink {};

/// An operand with the constraint "n".
template <s64 n>
struct Constant {
  static constexpr s64 number = n;
  SIMT_INLINE constexpr Constant value() const { return {}; }
  SIMT_INLINE void store() const {}
};

template <unsigned size>
struct UnsignedOf;
template <>
struct UnsignedOf<1> {
  using Type = u8;
};
template <>
struct UnsignedOf<2> {
  using Type = u16;
};
template <>
struct UnsignedOf<4> {
  using Type = u32;
};
template <>
struct UnsignedOf<8> {
  using Type = u64;
};
template <class T>
using Bits = typename UnsignedOf<sizeof(T)>::Type;

/// The value of type T in the low bits of a register.
template <class T, class R>
SIMT_INLINE constexpr T get(R bits) {
  if constexpr (std::is_same_v<T, bool>) {
    return bits;
  } else {
    return __builtin_bit_cast(T, static_cast<Bits<T>>(bits));
  }
}
template <class T, s64 n>
SIMT_INLINE constexpr T get(Constant<n>) {
  return get<T>(static_cast<u64>(n));
}

/// Writes a value to a register. One that is wider is filled with its sign, or with zeros.
template <class T, class R>
SIMT_INLINE void set(R& bits, T value) {
  if constexpr (std::is_same_v<std::remove_const_t<R>, Sink>) {
  } else if constexpr (std::is_integral_v<T>) {
    bits = static_cast<R>(value);
  } else {
    bits = __builtin_bit_cast(Bits<T>, value);
  }
}

}  // namespace simt::ptx
