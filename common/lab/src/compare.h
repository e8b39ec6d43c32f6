/// \file
/// What the comparisons of lab/elements.h share on both sides.
#pragma once

#include <cuda_runtime.h>

#include <cmath>
#include <cstdint>

#include "lab/elements.h"

namespace lab::detail {

/// A comparison of two arrays, as kernels take it.
struct Task {
  Elements got, want;
  double absolute, relative;
  const double* allowed;
};

/// What the comparison of some elements found.
struct Findings {
  static constexpr unsigned long long none = ~0ull;

  unsigned long long mismatches = 0;
  unsigned long long first = none;  ///< index of the first mismatch
  unsigned long long worst = none;  ///< index of the element that is worst for its tolerance
  double share = 0, error = 0;      ///< of that: error over tolerance, error; infinite for a NaN

  /// Takes note of an element that is not equal to its reference.
  __host__ __device__ void note(unsigned long long i, double off, double allowed) {
    const bool nan = off != off;
    if (!(off <= allowed)) {
      ++mismatches;
      if (i < first) first = i;
    }
    const double infinite = 1e308 * 10;
    weigh(i, nan ? infinite : off / allowed, nan ? infinite : off);
  }
  __host__ __device__ void add(const Findings& other) {
    mismatches += other.mismatches;
    if (other.first < first) first = other.first;
    if (other.worst != none) weigh(other.worst, other.share, other.error);
  }

 private:
  __host__ __device__ void weigh(unsigned long long i, double part, double off) {
    if (worst != none && (part < share || (part == share && off <= error))) return;
    worst = i, share = part, error = off;
  }
};

__host__ __device__ inline bool is_float(Number type) { return type <= Number::f64; }
__host__ __device__ inline bool is_signed(Number type) {
  return type == Number::i8 || type == Number::i16 || type == Number::i32 || type == Number::i64;
}

__host__ __device__ inline float half_to_float(std::uint16_t bits) {
  const int exponent = bits >> 10 & 31, fraction = bits & 1023;
  const float sign = (bits & 0x8000) != 0 ? -1.0f : 1.0f;
  if (exponent == 31) return fraction == 0 ? sign * HUGE_VALF : sign * (HUGE_VALF - HUGE_VALF);
  return sign * (exponent == 0 ? ldexpf(static_cast<float>(fraction), -24)
                               : ldexpf(static_cast<float>(1024 + fraction), exponent - 25));
}

/// Where element i lies.
__host__ __device__ inline std::size_t place_of(const Elements& of, std::size_t i) {
  if (of.cols == 0) return i;
  const std::size_t row = i / of.cols;
  return (of.rows == nullptr ? row : static_cast<std::size_t>(of.rows[row])) * of.ld + i % of.cols;
}

/// An integer at a place: its 64 bits, extended by its sign.
__host__ __device__ inline std::uint64_t integer_at(const Elements& of, std::size_t at) {
  const auto get = [&](auto zero) {
    return static_cast<std::uint64_t>(static_cast<const decltype(zero)*>(of.data)[at]);
  };
  switch (of.type) {
    case Number::i8:
      return get(std::int8_t{});
    case Number::u8:
      return get(std::uint8_t{});
    case Number::i16:
      return get(std::int16_t{});
    case Number::u16:
      return get(std::uint16_t{});
    case Number::i32:
      return get(std::int32_t{});
    case Number::u32:
      return get(std::uint32_t{});
    default:
      return get(std::uint64_t{});
  }
}

/// Any number at a place.
__host__ __device__ inline double number_at(const Elements& of, std::size_t at) {
  switch (of.type) {
    case Number::f16:
      return half_to_float(static_cast<const std::uint16_t*>(of.data)[at]);
    case Number::bf16: {
      union {
        std::uint32_t bits;
        float value;
      } wide;
      wide.bits = static_cast<std::uint32_t>(static_cast<const std::uint16_t*>(of.data)[at]) << 16;
      return wide.value;
    }
    case Number::f32:
      return static_cast<const float*>(of.data)[at];
    case Number::f64:
      return static_cast<const double*>(of.data)[at];
    default: {
      const std::uint64_t bits = integer_at(of, at);
      return is_signed(of.type) ? static_cast<double>(static_cast<std::int64_t>(bits))
                                : static_cast<double>(bits);
    }
  }
}

/// |got - want| of element i: 0 only where they are equal, NaN where one is NaN.
__host__ __device__ inline double error_at(const Task& task, std::size_t i) {
  const std::size_t at = place_of(task.got, i);
  if (is_float(task.got.type) || is_float(task.want.type)) {
    const double got = number_at(task.got, at), want = number_at(task.want, i);
    return got == want ? 0.0 : fabs(got - want);  // equal infinities have no distance
  }
  // In integers: two of 64 bits that differ may be the same double.
  const std::uint64_t got = integer_at(task.got, at), want = integer_at(task.want, i);
  const bool got_negative = is_signed(task.got.type) && static_cast<std::int64_t>(got) < 0;
  const bool want_negative = is_signed(task.want.type) && static_cast<std::int64_t>(want) < 0;
  if (got == want && got_negative == want_negative) return 0;
  if (got_negative != want_negative) {  // 2^64 apart at most, which a uint64 does not hold
    return static_cast<double>(got_negative ? 0 - got : got) +
           static_cast<double>(want_negative ? 0 - want : want);
  }
  return static_cast<double>(got < want ? want - got : got - want);
}

/// How far element i may be off.
__host__ __device__ inline double allowed_at(const Task& task, std::size_t i) {
  if (task.allowed != nullptr) return task.allowed[i];
  if (task.relative == 0) return task.absolute;
  const double want = fabs(number_at(task.want, i));
  return want <= 1.7976931348623157e308 ? task.absolute + task.relative * want : task.absolute;
}

/// What of element i there is to note.
__host__ __device__ inline void note_element(Findings& findings, const Task& task, std::size_t i) {
  const double error = error_at(task, i);
  if (error != 0) findings.note(i, error, allowed_at(task, i));
}

/// The comparison on the device.
Findings find_on_device(const Task& task);

}  // namespace lab::detail
