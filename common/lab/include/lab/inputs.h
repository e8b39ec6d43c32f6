/// \file
/// Inputs that are the same in every run, and that let no mistake hide.
///
/// Element i depends on the seed and on i alone (a counter-based generator), so a prefix of a
/// longer input is the shorter input, and no two elements are related: a swapped index, a row
/// taken for a column or an element counted twice changes the result. The mean is far from 0, so a
/// missing term shows in a sum.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "lab/parallel.h"

namespace lab {

namespace detail {

/// The finaliser of splitmix64: every input bit reaches every output bit.
__host__ __device__ constexpr std::uint64_t mix_bits(std::uint64_t z) {
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

}  // namespace detail

/// 64 random bits for element `i` of the sequence that `seed` names.
__host__ __device__ constexpr std::uint64_t random_bits(std::uint64_t seed, std::uint64_t i) {
  // The seed is mixed as well, else seeds 1 and 2 would be one sequence, shifted.
  return detail::mix_bits(detail::mix_bits(seed + 0x9e3779b97f4a7c15u) +
                          (i + 1) * 0x9e3779b97f4a7c15u);
}

/// Element `i` of `random_floats`.
__host__ __device__ constexpr float random_float(std::uint64_t seed, std::uint64_t i) {
  const std::uint64_t bits = random_bits(seed, i);
  // (2k + 1) / 2^24 with k below 2^23: exact in a float, above 0 and below 1.
  const float u = static_cast<float>(2 * (bits >> 41) + 1) * (1.0f / 16777216.0f);
  return (bits & 3) != 0 ? u : u - 1.0f;
}

/// Element `i` of `random_ints`.
__host__ __device__ constexpr int random_int(std::uint64_t seed, std::uint64_t i, int low = -100,
                                             int high = 200) {
  const std::uint64_t range =
      static_cast<std::uint64_t>(static_cast<std::int64_t>(high) - low) + 1;  // at most 2^32
  const std::uint64_t offset = ((random_bits(seed, i) >> 32) * range) >> 32;
  return static_cast<int>(low + static_cast<std::int64_t>(offset));
}

/// Element `i` of `random_bytes`.
__host__ __device__ constexpr std::uint8_t random_byte(std::uint64_t seed, std::uint64_t i) {
  const std::uint64_t bits = random_bits(seed, i);
  const auto a = static_cast<std::uint8_t>(bits >> 56), b = static_cast<std::uint8_t>(bits >> 48);
  return (bits & 1) != 0 && b < a ? b : a;
}

/// Element `i` of `random_values`.
template <class T>
__host__ __device__ constexpr T random_value(std::uint64_t seed, std::uint64_t i) {
  if constexpr (std::is_same_v<T, int>) {
    return random_int(seed, i);
  } else if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(random_bits(seed, i));
  } else {
    return static_cast<T>(random_float(seed, i));
  }
}

/// `random_value<T>(seed, i)` as a function of i, for `fill` and `Input`.
template <class T>
struct RandomValue {
  std::uint64_t seed;
  __host__ __device__ T operator()(std::size_t i) const { return random_value<T>(seed, i); }
};

namespace detail {

/// `n` elements, the i-th of them `element(i)`, made by all of the host's threads where they are many.
template <class T, class Element>
std::vector<T> generate(std::size_t n, const Element& element) {
  std::vector<T> values(n);
  in_parallel(n, [&](std::size_t first, std::size_t last) {
    for (std::size_t i = first; i < last; ++i) values[i] = element(i);
  });
  return values;
}

}  // namespace detail

/// Floats in (-1, 1), a quarter of them negative: mean 1/4, mean magnitude 1/2, none of them 0.
///
/// \param n elements
/// \param seed which sequence; different inputs of one problem take different seeds
std::vector<float> random_floats(std::size_t n, std::uint64_t seed);

/// Integers from `low` to `high` inclusive, uniformly; by default their mean is 50.
std::vector<int> random_ints(std::size_t n, std::uint64_t seed, int low = -100, int high = 200);

/// Bytes, the small ones more often: a histogram of them is not flat.
std::vector<std::uint8_t> random_bytes(std::size_t n, std::uint64_t seed);

/// `random_byte(seed, i)` likewise.
struct RandomByte {
  std::uint64_t seed;
  __host__ __device__ std::uint8_t operator()(std::size_t i) const { return random_byte(seed, i); }
};

/// Random elements of any arithmetic type, or of one that a float converts to: those of `random_floats`, or integers
/// of all bits (but those of `random_ints` for an int, whose sums shall not overflow).
template <class T>
std::vector<T> random_values(std::size_t n, std::uint64_t seed) {
  return detail::generate<T>(n, RandomValue<T>{seed});
}

}  // namespace lab
