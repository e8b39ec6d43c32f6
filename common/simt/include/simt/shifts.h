/// \file
/// Shifts as the GPU has them: by 32 or more (by 64 or more of a 64-bit value) all bits leave. A CPU takes the amount modulo
/// the width.
///
/// simtcc writes `a << ::simt::shift << b` for `a << b` in device code, and `a <<= ::simt::shift <<= b` for `a <<= b`, so that
/// precedence stays as it is.
#pragma once

#include <type_traits>
#include <utility>

namespace simt {

struct Shift {};
inline constexpr Shift shift{};

namespace detail {

/// What behaves as an integer under `<<`. Of enumerations those without a scope.
template <class T, bool = std::is_enum_v<T>>
struct Shifts : std::is_integral<T> {};
template <class T>
struct Shifts<T, true> : std::is_convertible<T, int> {};

/// The left side, waiting for the amount.
template <class T>
struct Integer {
  T value;
};
/// The same of a class that has a shift of its own, or is converted.
template <class T>
struct Object {
  T&& value;
};

/// The amount of an assignment.
template <class N>
struct Amount {
  N&& value;
};

template <class T>
inline constexpr unsigned kWidth = sizeof(T) * 8;

// Without a branch: that would be a block of code more to trace. Where the amount is known to be small, as in n & 31,
// nothing is left of it.
template <class T>
[[gnu::always_inline, gnu::artificial]] constexpr T shifted_left(T value, unsigned n) {
  using U = std::make_unsigned_t<T>;
  const U all = static_cast<U>(-static_cast<U>(n < kWidth<T>));
  return static_cast<T>(static_cast<U>(static_cast<U>(value) << (n & (kWidth<T> - 1))) & all);
}

template <class T>
[[gnu::always_inline, gnu::artificial]] constexpr T shifted_right(T value, unsigned n) {
  if constexpr (std::is_signed_v<T>) {
    return static_cast<T>(value >> (n < kWidth<T> ? n : kWidth<T> - 1));
  } else {
    const T all = static_cast<T>(-static_cast<T>(n < kWidth<T>));
    return static_cast<T>((value >> (n & (kWidth<T> - 1))) & all);
  }
}

template <class T>
inline constexpr bool is_object = std::is_class_v<T> || std::is_union_v<T> ||
                                  (std::is_enum_v<T> && !Shifts<T>::value);

}  // namespace detail

template <class T, std::enable_if_t<detail::Shifts<T>::value, int> = 0>
[[gnu::always_inline, gnu::artificial]] constexpr auto operator<<(T value, Shift) {
  return detail::Integer<decltype(+value)>{+value};
}
template <class T, std::enable_if_t<detail::Shifts<T>::value, int> = 0>
[[gnu::always_inline, gnu::artificial]] constexpr auto operator>>(T value, Shift) {
  return detail::Integer<decltype(+value)>{+value};
}
template <class T, std::enable_if_t<!detail::Shifts<std::decay_t<T>>::value, int> = 0>
[[gnu::always_inline, gnu::artificial]] constexpr detail::Object<T> operator<<(T&& value, Shift) {
  static_assert(detail::is_object<std::decay_t<T>>, "simt: only integers can be shifted");
  return {static_cast<T&&>(value)};
}
template <class T, std::enable_if_t<!detail::Shifts<std::decay_t<T>>::value, int> = 0>
[[gnu::always_inline, gnu::artificial]] constexpr detail::Object<T> operator>>(T&& value, Shift) {
  static_assert(detail::is_object<std::decay_t<T>>, "simt: only integers can be shifted");
  return {static_cast<T&&>(value)};
}

namespace detail {

template <class T, class N, std::enable_if_t<Shifts<N>::value, int> = 0>
[[gnu::always_inline, gnu::artificial]] constexpr T operator<<(Integer<T> a, N n) {
  return shifted_left(a.value, static_cast<unsigned>(n));
}
template <class T, class N, std::enable_if_t<Shifts<N>::value, int> = 0>
[[gnu::always_inline, gnu::artificial]] constexpr T operator>>(Integer<T> a, N n) {
  return shifted_right(a.value, static_cast<unsigned>(n));
}
template <class T, class N, std::enable_if_t<!Shifts<std::decay_t<N>>::value, int> = 0>
[[gnu::always_inline, gnu::artificial]] constexpr decltype(auto) operator<<(Integer<T> a, N&& n) {
  static_assert(is_object<std::decay_t<N>>, "simt: only by integers can be shifted");
  return a.value << static_cast<N&&>(n);
}
template <class T, class N, std::enable_if_t<!Shifts<std::decay_t<N>>::value, int> = 0>
[[gnu::always_inline, gnu::artificial]] constexpr decltype(auto) operator>>(Integer<T> a, N&& n) {
  static_assert(is_object<std::decay_t<N>>, "simt: only by integers can be shifted");
  return a.value >> static_cast<N&&>(n);
}
template <class T, class N>
[[gnu::always_inline, gnu::artificial]] constexpr decltype(auto) operator<<(Object<T> a, N&& n) {
  return static_cast<T&&>(a.value) << static_cast<N&&>(n);
}
// stream << std::endl, a function template
template <class T>
decltype(auto) operator<<(Object<T> a,
                          std::remove_reference_t<T>& (*manipulate)(std::remove_reference_t<T>&)) {
  return static_cast<T&&>(a.value) << manipulate;
}
template <class T, class N>
[[gnu::always_inline, gnu::artificial]] constexpr decltype(auto) operator>>(Object<T> a, N&& n) {
  return static_cast<T&&>(a.value) >> static_cast<N&&>(n);
}

template <class T, class N>
inline constexpr bool is_shift_of_integers =
    Shifts<std::remove_volatile_t<T>>::value&& Shifts<std::decay_t<N>>::value;

// Of a volatile variable no reference: who leaves that alone would be warned.
template <class T>
using Assigned = std::conditional_t<std::is_volatile_v<T>, std::remove_volatile_t<T>, T&>;
template <class T, class V>
[[gnu::always_inline, gnu::artificial]] constexpr Assigned<T> assign(T& a, V value) {
  const auto narrow = static_cast<std::remove_volatile_t<T>>(value);
  a = narrow;
  if constexpr (std::is_volatile_v<T>) {
    return narrow;
  } else {
    return a;
  }
}

template <class T, class N, std::enable_if_t<is_shift_of_integers<T, N>, int> = 0>
[[gnu::always_inline, gnu::artificial]] constexpr Assigned<T> operator<<=(T& a, Amount<N> n) {
  return assign(a, shifted_left(+a, static_cast<unsigned>(n.value)));
}
template <class T, class N, std::enable_if_t<is_shift_of_integers<T, N>, int> = 0>
[[gnu::always_inline, gnu::artificial]] constexpr Assigned<T> operator>>=(T& a, Amount<N> n) {
  return assign(a, shifted_right(+a, static_cast<unsigned>(n.value)));
}
template <class T, class N,
          std::enable_if_t<!is_shift_of_integers<std::remove_reference_t<T>, N>, int> = 0>
[[gnu::always_inline, gnu::artificial]] constexpr decltype(auto) operator<<=(T&& a, Amount<N> n) {
  return static_cast<T&&>(a) <<= static_cast<N&&>(n.value);
}
template <class T, class N,
          std::enable_if_t<!is_shift_of_integers<std::remove_reference_t<T>, N>, int> = 0>
[[gnu::always_inline, gnu::artificial]] constexpr decltype(auto) operator>>=(T&& a, Amount<N> n) {
  return static_cast<T&&>(a) >>= static_cast<N&&>(n.value);
}

}  // namespace detail

template <class N>
[[gnu::always_inline, gnu::artificial]] constexpr detail::Amount<N> operator<<=(Shift, N&& n) {
  return {static_cast<N&&>(n)};
}
template <class N>
[[gnu::always_inline, gnu::artificial]] constexpr detail::Amount<N> operator>>=(Shift, N&& n) {
  return {static_cast<N&&>(n)};
}

}  // namespace simt
