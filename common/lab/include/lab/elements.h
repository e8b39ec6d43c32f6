/// \file
/// Arrays of any type of number, compared element by element on the device or on the host.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "lab/verify.h"

struct __half;
struct __nv_bfloat16;

namespace lab {

/// The types of numbers that arrays are compared in.
enum class Number { f16, bf16, f32, f64, i8, u8, i16, u16, i32, u32, i64, u64 };

/// Bytes of one of them.
std::size_t bytes_of(Number type);

/// The type of number that T is, or that it is made of: float4 is four f32.
template <class T>
constexpr Number number_of() {
  if constexpr (std::is_same_v<T, __half>) {
    return Number::f16;
  } else if constexpr (std::is_same_v<T, __nv_bfloat16>) {
    return Number::bf16;
  } else if constexpr (std::is_floating_point_v<T>) {
    return sizeof(T) == 4 ? Number::f32 : Number::f64;
  } else if constexpr (std::is_integral_v<T>) {
    constexpr bool is_signed = std::is_signed_v<T>;
    if constexpr (sizeof(T) == 1) return is_signed ? Number::i8 : Number::u8;
    if constexpr (sizeof(T) == 2) return is_signed ? Number::i16 : Number::u16;
    if constexpr (sizeof(T) == 4) return is_signed ? Number::i32 : Number::u32;
    if constexpr (sizeof(T) == 8) return is_signed ? Number::i64 : Number::u64;
  } else {
    return number_of<std::remove_cvref_t<decltype(T::x)>>();  // float2, uint4, ...
  }
}

/// How many of them a T has.
template <class T>
constexpr std::size_t numbers_in() {
  if constexpr (requires(T t) { t.x; }) {
    return std::is_same_v<T, __half> || std::is_same_v<T, __nv_bfloat16> ? 1
                                                                         : sizeof(T) / sizeof(T::x);
  } else {
    return 1;
  }
}

/// Numbers somewhere in memory. With `cols`, they are rows of that many, `ld` apart.
struct Elements {
  const void* data = nullptr;
  Number type = Number::f32;
  std::size_t size = 0;          ///< how many are compared
  std::size_t cols = 0, ld = 0;  ///< 0: one after the other
  const int* rows = nullptr;     ///< which rows, where these are not the first ones
};

/// The numbers of an array of T.
template <class T>
Elements elements_of(const T* data, std::size_t n) {
  return {data, number_of<T>(), n * numbers_in<T>()};
}

/// Compares numbers in device memory with a reference there. Like `compare`: no NaN passes, integers are compared as
/// integers, and the first mismatch is named.
/// \param got the result
/// \param want as many numbers, one after the other
/// \param tolerance how far each may be off
/// \param allowed nothing, or what each may be off, in device memory
Comparison compare_on_device(const Elements& got, const Elements& want, const Tolerance& tolerance,
                             const double* allowed = nullptr);

/// The same in the host's memory, on all of its threads.
Comparison compare_on_host(const Elements& got, const Elements& want, const Tolerance& tolerance,
                           const double* allowed = nullptr);

/// Compares a result with its reference, element by element, in the host's memory.
///
/// An element passes only if `error <= tolerance` holds, which it does not for a NaN, in the result
/// or in the reference. Different sizes fail, and so does comparing nothing.
///
/// \param got the result: a vector, span or array of numbers
/// \param want the reference, of the same size; its type may be wider
/// \param tolerance how far each element may be off; without it, bit for bit
template <class Got, class Want>
[[nodiscard]] Comparison compare(const Got& got, const Want& want,
                                 const Tolerance& tolerance = Tolerance::exact()) {
  return compare_on_host(elements_of(std::data(got), std::size(got)),
                         elements_of(std::data(want), std::size(want)), tolerance);
}

/// The same where each element has a tolerance of its own.
/// \param allowed how far each may be off, from 0 up: one for each element of the reference
/// \param basis where these are from, for people
template <class Got, class Want>
[[nodiscard]] Comparison compare_each(const Got& got, const Want& want,
                                      const std::vector<double>& allowed, std::string basis) {
  if (allowed.size() != std::size(want)) {
    return verdict(false, "the tolerances are not as many as the elements of the reference");
  }
  return compare_on_host(elements_of(std::data(got), std::size(got)),
                         elements_of(std::data(want), std::size(want)),
                         Tolerance{.basis = std::move(basis)}, allowed.data());
}

}  // namespace lab
