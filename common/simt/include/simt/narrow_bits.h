/// \file
/// Floating-point numbers of 16 bits: of a wider number the bits, and back.
#pragma once

#include <simt/launch.h>

#include <cstdint>

namespace simt::detail {

/// How a value between two representable ones is rounded: to the nearest (ties to even), to zero,
/// down or up.
enum class Rounding { nearest, zero, down, up };

/// The 16 bits of `value` in a format of `kFraction` fraction bits below 15 - `kFraction` of exponent.
/// Numbers too large become infinite (or the largest, where the rounding says so), NaNs 0x7fff.
template <int kFraction>
[[gnu::noinline]] SIMT_UNTRACED inline uint16_t narrow(double value, Rounding rounding) {
  constexpr int kBias = (1 << (14 - kFraction)) - 1;
  constexpr unsigned kInfinity = ((1u << (15 - kFraction)) - 1) << kFraction;
  const auto bits = __builtin_bit_cast(uint64_t, value);
  const unsigned sign = static_cast<unsigned>(bits >> 63) << 15;
  const int exponent = static_cast<int>(bits >> 52 & 0x7ff) - 1023;
  if (exponent == 1024) {
    return static_cast<uint16_t>(bits << 12 ? 0x7fffu : sign | kInfinity);
  }
  if (!(bits << 1)) return static_cast<uint16_t>(sign);

  // The significand, cut at the last place that the format has at this exponent.
  const int least = 1 - kBias;
  const int place = (exponent < least ? least : exponent) - kFraction;
  const uint64_t significand = (bits & ((uint64_t{1} << 52) - 1)) | uint64_t{1} << 52;
  const int shift = place - (exponent - 52);  // at least 52 - kFraction
  const uint64_t kept = shift > 63 ? 0 : significand >> shift;
  const uint64_t half = shift > 63 ? 0 : uint64_t{1} << (shift - 1);
  const uint64_t rest = shift > 63 ? 1 : significand & ((half << 1) - 1);
  bool away = false;
  switch (rounding) {
    case Rounding::nearest:
      away = half && (rest > half || (rest == half && (kept & 1)));
      break;
    case Rounding::zero:
      break;
    case Rounding::down:
      away = sign && rest;
      break;
    case Rounding::up:
      away = !sign && rest;
      break;
  }
  // A carry out of the fraction moves on into the exponent, as it should.
  const uint64_t biased = exponent < least ? 0 : static_cast<uint64_t>(exponent + kBias - 1);
  const uint64_t result = (biased << kFraction) + kept + away;
  if (result >= kInfinity) {
    const bool stays = rounding == Rounding::zero || (rounding == Rounding::down && !sign) ||
                       (rounding == Rounding::up && sign);
    return static_cast<uint16_t>(sign | (stays ? kInfinity - 1 : kInfinity));
  }
  return static_cast<uint16_t>(sign | result);
}

/// The number that 16 bits stand for.
template <int kFraction>
[[gnu::noinline]] SIMT_UNTRACED inline float widen(uint16_t bits) {
  constexpr int kBias = (1 << (14 - kFraction)) - 1;
  constexpr unsigned kMostExponent = (1u << (15 - kFraction)) - 1;
  const unsigned sign = static_cast<unsigned>(bits & 0x8000u) << 16;
  const unsigned exponent = (bits & 0x7fffu) >> kFraction;
  const unsigned fraction = bits & ((1u << kFraction) - 1);
  if (kFraction == 7) return __builtin_bit_cast(float, static_cast<unsigned>(bits) << 16);
  if (exponent == kMostExponent) {
    return __builtin_bit_cast(float, sign | 0x7f800000u | fraction << (23 - kFraction));
  }
  if (exponent == 0) {
    const float value =
        static_cast<float>(fraction) * __builtin_bit_cast(float, (128u - kBias - kFraction) << 23);
    return sign ? -value : value;
  }
  return __builtin_bit_cast(float,
                            sign | (exponent + 127 - kBias) << 23 | fraction << (23 - kFraction));
}

}  // namespace simt::detail
