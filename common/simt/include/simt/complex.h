/// \file
/// Complex numbers of device code: cuda::std::complex, and with thrust/complex.h thrust::complex. Under CUDA they are as aligned
/// as they are large, so that one access loads or stores both parts: what makes g++ do so is vector_types.h's.
#pragma once

#include <cmath>
#include <complex>
#include <type_traits>

namespace cuda::std {

template <class T>
struct alignas(2 * sizeof(T)) complex {
  using value_type = T;

  constexpr complex(const T& re = T(), const T& im = T()) : re_(re), im_(im) {}
  template <class U>
  constexpr complex(const complex<U>& z)
      : re_(static_cast<T>(z.real())), im_(static_cast<T>(z.imag())) {}
  template <class U>
  constexpr complex(const ::std::complex<U>& z)
      : re_(static_cast<T>(z.real())), im_(static_cast<T>(z.imag())) {}
  operator ::std::complex<T>() const { return {re_, im_}; }

  constexpr T real() const { return re_; }
  constexpr T imag() const { return im_; }
  constexpr void real(T re) { re_ = re; }
  constexpr void imag(T im) { im_ = im; }

  complex& operator=(const T& re) { return *this = complex(re); }
  template <class U>
  complex& operator=(const complex<U>& z) {
    return *this = complex(z);
  }
  complex& operator+=(const T& x) { return *this = complex(re_ + x, im_); }
  complex& operator-=(const T& x) { return *this = complex(re_ - x, im_); }
  complex& operator*=(const T& x) { return *this = complex(re_ * x, im_ * x); }
  complex& operator/=(const T& x) { return *this = complex(re_ / x, im_ / x); }
  template <class U>
  complex& operator+=(const complex<U>& z) {
    return *this = *this + complex(z);
  }
  template <class U>
  complex& operator-=(const complex<U>& z) {
    return *this = *this - complex(z);
  }
  template <class U>
  complex& operator*=(const complex<U>& z) {
    return *this = *this * complex(z);
  }
  template <class U>
  complex& operator/=(const complex<U>& z) {
    return *this = *this / complex(z);
  }

  friend complex operator+(const complex& a) { return a; }
  friend complex operator-(const complex& a) { return complex(-a.re_, -a.im_); }

 private:
  union {
    T re_;
    volatile T whole_;
  };
  T im_;
};

template <class T>
constexpr complex<T> operator+(const complex<T>& a, const complex<T>& b) {
  return complex<T>(a.real() + b.real(), a.imag() + b.imag());
}
template <class T>
constexpr complex<T> operator-(const complex<T>& a, const complex<T>& b) {
  return complex<T>(a.real() - b.real(), a.imag() - b.imag());
}
template <class T>
constexpr complex<T> operator*(const complex<T>& a, const complex<T>& b) {
  return complex<T>(a.real() * b.real() - a.imag() * b.imag(),
                    a.real() * b.imag() + a.imag() * b.real());
}
/// Scaled, so that no square overflows that the quotient does not.
template <class T>
constexpr complex<T> operator/(const complex<T>& a, const complex<T>& b) {
  const T re = b.real() < 0 ? -b.real() : b.real(), im = b.imag() < 0 ? -b.imag() : b.imag();
  const T one = T(1) / (re + im);
  const T ar = a.real() * one, ai = a.imag() * one, br = b.real() * one, bi = b.imag() * one;
  const T inverse = T(1) / (br * br + bi * bi);
  return complex<T>((ar * br + ai * bi) * inverse, (ai * br - ar * bi) * inverse);
}
#define SIMT_MIXED(op)                                                \
  template <class T>                                                  \
  constexpr complex<T> operator op(const complex<T>& a, const T& b) { \
    return a op complex<T>(b);                                        \
  }                                                                   \
  template <class T>                                                  \
  constexpr complex<T> operator op(const T& a, const complex<T>& b) { \
    return complex<T>(a) op b;                                        \
  }
SIMT_MIXED(+)
SIMT_MIXED(-)
#undef SIMT_MIXED
template <class T>
constexpr complex<T> operator*(const complex<T>& a, const T& b) {
  return complex<T>(a.real() * b, a.imag() * b);
}
template <class T>
constexpr complex<T> operator*(const T& a, const complex<T>& b) {
  return b * a;
}
template <class T>
constexpr complex<T> operator/(const complex<T>& a, const T& b) {
  return complex<T>(a.real() / b, a.imag() / b);
}
template <class T>
constexpr complex<T> operator/(const T& a, const complex<T>& b) {
  return complex<T>(a) / b;
}
template <class T>
constexpr bool operator==(const complex<T>& a, const complex<T>& b) {
  return a.real() == b.real() && a.imag() == b.imag();
}
template <class T>
constexpr bool operator==(const complex<T>& a, const T& b) {
  return a == complex<T>(b);
}
template <class T>
constexpr bool operator==(const T& a, const complex<T>& b) {
  return complex<T>(a) == b;
}
template <class T>
constexpr bool operator!=(const complex<T>& a, const complex<T>& b) {
  return !(a == b);
}
template <class T>
constexpr bool operator!=(const complex<T>& a, const T& b) {
  return !(a == b);
}
template <class T>
constexpr bool operator!=(const T& a, const complex<T>& b) {
  return !(a == b);
}
template <class T, class Char, class Traits>
auto& operator<<(::std::basic_ostream<Char, Traits>& stream, const complex<T>& z) {
  return stream << ::std::complex<T>(z);
}

template <class T>
constexpr T real(const complex<T>& z) {
  return z.real();
}
template <class T>
constexpr T imag(const complex<T>& z) {
  return z.imag();
}
template <class T>
constexpr T norm(const complex<T>& z) {
  return z.real() * z.real() + z.imag() * z.imag();
}
template <class T>
constexpr complex<T> conj(const complex<T>& z) {
  return complex<T>(z.real(), -z.imag());
}
template <class T>
T arg(const complex<T>& z) {
  return ::std::atan2(z.imag(), z.real());
}
template <class T>
complex<T> polar(const T& radius, const T& angle = T()) {
  return complex<T>(radius * ::std::cos(angle), radius * ::std::sin(angle));
}

// Of numbers these are std's, which a name of cuda::std's own would hide.
using ::std::abs;
using ::std::acos;
using ::std::acosh;
using ::std::arg;
using ::std::asin;
using ::std::asinh;
using ::std::atan;
using ::std::atanh;
using ::std::conj;
using ::std::cos;
using ::std::cosh;
using ::std::exp;
using ::std::imag;
using ::std::log;
using ::std::log10;
using ::std::norm;
using ::std::pow;
using ::std::real;
using ::std::sin;
using ::std::sinh;
using ::std::sqrt;
using ::std::tan;
using ::std::tanh;
template <class T>
T abs(const complex<T>& z) {
  return ::std::hypot(z.real(), z.imag());
}
#define SIMT_FUNCTION(name)                   \
  template <class T>                          \
  complex<T> name(const complex<T>& z) {      \
    return ::std::name(::std::complex<T>(z)); \
  }
SIMT_FUNCTION(exp)
SIMT_FUNCTION(log)
SIMT_FUNCTION(log10)
SIMT_FUNCTION(sqrt)
SIMT_FUNCTION(sin)
SIMT_FUNCTION(cos)
SIMT_FUNCTION(tan)
SIMT_FUNCTION(sinh)
SIMT_FUNCTION(cosh)
SIMT_FUNCTION(tanh)
SIMT_FUNCTION(asin)
SIMT_FUNCTION(acos)
SIMT_FUNCTION(atan)
SIMT_FUNCTION(asinh)
SIMT_FUNCTION(acosh)
SIMT_FUNCTION(atanh)
SIMT_FUNCTION(proj)
#undef SIMT_FUNCTION
template <class T>
complex<T> pow(const complex<T>& a, const complex<T>& b) {
  return ::std::pow(::std::complex<T>(a), ::std::complex<T>(b));
}
template <class T>
complex<T> pow(const complex<T>& a, const T& b) {
  return ::std::pow(::std::complex<T>(a), b);
}
template <class T>
complex<T> pow(const T& a, const complex<T>& b) {
  return ::std::pow(a, ::std::complex<T>(b));
}

}  // namespace cuda::std
