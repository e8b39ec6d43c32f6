/// \file
/// Thrust for the simulator: function objects, pairs and tuples.
#pragma once

#include <simt/thrust/system.h>

#include <cuda/std/functional>
#include <optional>
#include <tuple>

namespace thrust {

using std::get;
using std::make_pair;
using std::make_tuple;
using std::pair;
using std::tie;
using std::tuple;
using std::tuple_element;
using std::tuple_size;

template <class T>
constexpr const T& max(const T& a, const T& b) {
  return a < b ? b : a;
}
template <class T, class Less>
constexpr const T& max(const T& a, const T& b, Less less) {
  return less(a, b) ? b : a;
}
template <class T>
constexpr const T& min(const T& a, const T& b) {
  return b < a ? b : a;
}
template <class T, class Less>
constexpr const T& min(const T& a, const T& b, Less less) {
  return less(b, a) ? b : a;
}
template <class T>
constexpr void swap(T& a, T& b) {
  T value(static_cast<T&&>(a));
  a = static_cast<T&&>(b);
  b = static_cast<T&&>(value);
}

// Bases that CUDA 13 has dropped.
template <class A, class R>
struct unary_function {
  using argument_type = A;
  using result_type = R;
};
template <class A, class B, class R>
struct binary_function {
  using first_argument_type = A;
  using second_argument_type = B;
  using result_type = R;
};

#define SIMT_THRUST_BINARY(name, expression)                                       \
  template <class T = void>                                                        \
  struct name {                                                                    \
    using first_argument_type = T;                                                 \
    using second_argument_type = T;                                                \
    constexpr auto operator()(const T& a, const T& b) const { return expression; } \
  };                                                                               \
  template <>                                                                      \
  struct name<void> {                                                              \
    template <class A, class B>                                                    \
    constexpr auto operator()(const A& a, const B& b) const {                      \
      return expression;                                                           \
    }                                                                              \
  };
SIMT_THRUST_BINARY(plus, a + b)
SIMT_THRUST_BINARY(minus, a - b)
SIMT_THRUST_BINARY(multiplies, a* b)
SIMT_THRUST_BINARY(divides, a / b)
SIMT_THRUST_BINARY(modulus, a % b)
SIMT_THRUST_BINARY(equal_to, a == b)
SIMT_THRUST_BINARY(not_equal_to, a != b)
SIMT_THRUST_BINARY(greater, a > b)
SIMT_THRUST_BINARY(less, a < b)
SIMT_THRUST_BINARY(greater_equal, a >= b)
SIMT_THRUST_BINARY(less_equal, a <= b)
SIMT_THRUST_BINARY(logical_and, a&& b)
SIMT_THRUST_BINARY(logical_or, a || b)
SIMT_THRUST_BINARY(bit_and, a& b)
SIMT_THRUST_BINARY(bit_or, a | b)
SIMT_THRUST_BINARY(bit_xor, a ^ b)
SIMT_THRUST_BINARY(maximum, a < b ? b : a)
SIMT_THRUST_BINARY(minimum, b < a ? b : a)
#undef SIMT_THRUST_BINARY

#define SIMT_THRUST_UNARY(name, expression)                            \
  template <class T = void>                                            \
  struct name {                                                        \
    using argument_type = T;                                           \
    constexpr auto operator()(const T& x) const { return expression; } \
  };                                                                   \
  template <>                                                          \
  struct name<void> {                                                  \
    template <class A>                                                 \
    constexpr auto operator()(const A& x) const {                      \
      return expression;                                               \
    }                                                                  \
  };
SIMT_THRUST_UNARY(negate, -x)
SIMT_THRUST_UNARY(square, x* x)
SIMT_THRUST_UNARY(absolute_value, x < 0 ? -x : x)
SIMT_THRUST_UNARY(logical_not, !x)
SIMT_THRUST_UNARY(identity, x)
#undef SIMT_THRUST_UNARY
template <class A = void, class B = void>
struct project1st {
  template <class X, class Y>
  constexpr X operator()(const X& x, const Y&) const {
    return x;
  }
};
template <class A = void, class B = void>
struct project2nd {
  template <class X, class Y>
  constexpr Y operator()(const X&, const Y& y) const {
    return y;
  }
};

namespace detail {

template <class F>
struct Not {
  F f;
  template <class... A>
  constexpr bool operator()(const A&... a) const {
    return !f(a...);
  }
};

/// What an expression that may be a temporary is called with: a name for it.
template <class T>
T& lvalue(T&& value);

/// A function object that can be assigned, as iterators are, though a lambda cannot.
template <class F>
class Assignable {
 public:
  Assignable() {
    if constexpr (std::is_default_constructible_v<F>) f_.emplace();
  }
  Assignable(const F& f) : f_(f) {}
  Assignable(const Assignable&) = default;
  Assignable& operator=(const Assignable& other) {
    if (this != &other) f_.emplace(*other.f_);
    return *this;
  }
  F& get() const { return *f_; }

 private:
  mutable std::optional<F> f_;  // whose operator() need not be const
};

}  // namespace detail

template <class F>
detail::Not<F> not_fn(F f) {
  return {f};
}
template <class F>
detail::Not<F> not1(F f) {
  return {f};
}
template <class F>
detail::Not<F> not2(F f) {
  return {f};
}

}  // namespace thrust
