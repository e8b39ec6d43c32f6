/// \file
/// Division that rounds up: how many blocks cover n elements.
#pragma once

#include <concepts>
#include <type_traits>

namespace lab {

/// The smallest integer that is not below `a / b`, without the overflow of `(a + b - 1) / b` and
/// without the rounding of `ceil(float(a) / b)`.
///
/// \param a dividend, at least 0
/// \param b divisor, at least 1
template <std::integral A, std::integral B>
[[nodiscard]] constexpr std::common_type_t<A, B> ceil_div(A a, B b) {
  using T = std::common_type_t<A, B>;
  const T n = static_cast<T>(a), d = static_cast<T>(b);
  return n / d + (n % d != 0 ? T{1} : T{0});
}

}  // namespace lab
