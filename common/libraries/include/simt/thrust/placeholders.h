/// \file
/// Thrust for the simulator: `_1 * 2 + _2` as a function object.
#pragma once

#include <simt/thrust/functional.h>

namespace thrust {
namespace detail {

/// What is made of placeholders, values and operators; `f` computes it of the arguments.
template <class F>
struct Expression {
  F f;
  template <class... A>
  constexpr auto operator()(const A&... arguments) const {
    return f(std::tie(arguments...));
  }
};
template <std::size_t n>
struct Argument {
  template <class Tuple>
  constexpr auto operator()(const Tuple& arguments) const {
    return std::get<n>(arguments);
  }
};
template <class T>
struct Value {
  T value;
  template <class Tuple>
  constexpr T operator()(const Tuple&) const {
    return value;
  }
};
template <class T>
inline constexpr bool is_expression = false;
template <class F>
inline constexpr bool is_expression<Expression<F>> = true;
template <class F>
constexpr F part_of(const Expression<F>& expression) {
  return expression.f;
}
template <class T, std::enable_if_t<!is_expression<T>, int> = 0>
constexpr Value<T> part_of(const T& value) {
  return {value};
}
template <class Op, class A>
struct Unary {
  Op op;
  A a;
  template <class Tuple>
  constexpr auto operator()(const Tuple& arguments) const {
    return op(a(arguments));
  }
};
template <class Op, class A, class B>
struct Binary {
  Op op;
  A a;
  B b;
  template <class Tuple>
  constexpr auto operator()(const Tuple& arguments) const {
    return op(a(arguments), b(arguments));
  }
};

#define SIMT_THRUST_OPERATOR(symbol, name)                                                     \
  struct name {                                                                                \
    template <class A, class B>                                                                \
    constexpr auto operator()(const A& a, const B& b) const {                                  \
      return a symbol b;                                                                       \
    }                                                                                          \
  };                                                                                           \
  template <class A, class B, std::enable_if_t<is_expression<A> || is_expression<B>, int> = 0> \
  constexpr auto operator symbol(const A& a, const B& b) {                                     \
    using Both = Binary<name, decltype(part_of(a)), decltype(part_of(b))>;                     \
    return Expression<Both>{Both{name(), part_of(a), part_of(b)}};                             \
  }
SIMT_THRUST_OPERATOR(+, Add)
SIMT_THRUST_OPERATOR(-, Subtract)
SIMT_THRUST_OPERATOR(*, Multiply)
SIMT_THRUST_OPERATOR(/, Divide)
SIMT_THRUST_OPERATOR(%, Remainder)
SIMT_THRUST_OPERATOR(==, Same)
SIMT_THRUST_OPERATOR(!=, Other)
SIMT_THRUST_OPERATOR(<, Below)
SIMT_THRUST_OPERATOR(>, Above)
SIMT_THRUST_OPERATOR(<=, AtMost)
SIMT_THRUST_OPERATOR(>=, AtLeast)
SIMT_THRUST_OPERATOR(&&, AndAlso)
SIMT_THRUST_OPERATOR(||, OrElse)
SIMT_THRUST_OPERATOR(&, BitAnd)
SIMT_THRUST_OPERATOR(|, BitOr)
SIMT_THRUST_OPERATOR(^, BitXor)
#undef SIMT_THRUST_OPERATOR
#define SIMT_THRUST_OPERATOR(symbol, name)                 \
  struct name {                                            \
    template <class A>                                     \
    constexpr auto operator()(const A& a) const {          \
      return symbol a;                                     \
    }                                                      \
  };                                                       \
  template <class F>                                       \
  constexpr auto operator symbol(const Expression<F>& a) { \
    return Expression<Unary<name, F>>{{name(), a.f}};      \
  }
SIMT_THRUST_OPERATOR(-, Minus)
SIMT_THRUST_OPERATOR(!, No)
SIMT_THRUST_OPERATOR(~, Complement)
#undef SIMT_THRUST_OPERATOR

}  // namespace detail

namespace placeholders {
inline constexpr detail::Expression<detail::Argument<0>> _1{};
inline constexpr detail::Expression<detail::Argument<1>> _2{};
inline constexpr detail::Expression<detail::Argument<2>> _3{};
inline constexpr detail::Expression<detail::Argument<3>> _4{};
}  // namespace placeholders

}  // namespace thrust
