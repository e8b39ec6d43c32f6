/// \file
/// thrust::complex: cuda::std::complex, with numbers of any type beside it.
#pragma once

#include <simt/complex.h>

namespace cuda::std {

#define SIMT_MIXED(op)                                                                        \
  template <class T, class U,                                                                 \
            class = ::std::enable_if_t<!::std::is_same_v<T, U> && ::std::is_arithmetic_v<U>>> \
  constexpr auto operator op(const complex<T>& a, const U& b) {                               \
    using R = ::std::common_type_t<T, U>;                                                     \
    return complex<R>(a) op static_cast<R>(b);                                                \
  }                                                                                           \
  template <class T, class U,                                                                 \
            class = ::std::enable_if_t<!::std::is_same_v<T, U> && ::std::is_arithmetic_v<U>>> \
  constexpr auto operator op(const U& a, const complex<T>& b) {                               \
    using R = ::std::common_type_t<T, U>;                                                     \
    return static_cast<R>(a) op complex<R>(b);                                                \
  }                                                                                           \
  template <class T, class U, class = ::std::enable_if_t<!::std::is_same_v<T, U>>>            \
  constexpr auto operator op(const complex<T>& a, const complex<U>& b) {                      \
    using R = ::std::common_type_t<T, U>;                                                     \
    return complex<R>(a) op complex<R>(b);                                                    \
  }
SIMT_MIXED(+)
SIMT_MIXED(-)
SIMT_MIXED(*)
SIMT_MIXED(/)
SIMT_MIXED(==)
SIMT_MIXED(!=)
#undef SIMT_MIXED

}  // namespace cuda::std

namespace thrust {

using cuda::std::abs;
using cuda::std::acos;
using cuda::std::acosh;
using cuda::std::arg;
using cuda::std::asin;
using cuda::std::asinh;
using cuda::std::atan;
using cuda::std::atanh;
using cuda::std::complex;
using cuda::std::conj;
using cuda::std::cos;
using cuda::std::cosh;
using cuda::std::exp;
using cuda::std::log;
using cuda::std::log10;
using cuda::std::norm;
using cuda::std::polar;
using cuda::std::pow;
using cuda::std::proj;
using cuda::std::sin;
using cuda::std::sinh;
using cuda::std::sqrt;
using cuda::std::tan;
using cuda::std::tanh;

}  // namespace thrust
