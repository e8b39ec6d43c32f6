/// \file
/// What __half and __nv_bfloat16 have in common: floating-point numbers of 16 bits and pairs of them.
///
/// A number is converted to double, in which every operation on two of them is exact or harmlessly
/// close, and rounded once. The functions are friends that argument-dependent lookup finds; each name
/// is CUDA's. The conversions are not traced: inside they touch no memory but the stack.
#pragma once

#include <cuda_runtime.h>
#include <simt/narrow_bits.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace simt::detail {

/// A number as a double that rounds to 16 bits as the number itself would.
template <class I>
[[gnu::noinline]] SIMT_UNTRACED inline double sticky_double(I value) {
  if constexpr (std::is_integral_v<I> && sizeof(I) == 8) {
    const bool negative = value < 0;
    auto magnitude = negative ? -static_cast<uint64_t>(value) : static_cast<uint64_t>(value);
    if (magnitude >> 53) magnitude = (magnitude >> 12 << 12) | (magnitude & 0xfff ? 0x1000 : 0);
    return negative ? -static_cast<double>(magnitude) : static_cast<double>(magnitude);
  } else {
    return static_cast<double>(value);
  }
}

/// A whole number as an `I`, the nearest one where it does not fit. NaN becomes 0, or of 64 bits the highest one alone.
template <class I>
[[gnu::noinline]] SIMT_UNTRACED inline I saturated_integer(double value) {
  using Limits = std::numeric_limits<I>;
  if (value != value) return sizeof(I) < 8 ? 0 : static_cast<I>(uint64_t{1} << 63);
  if (value <= static_cast<double>(Limits::min())) return Limits::min();
  if (value >= static_cast<double>(Limits::max())) return Limits::max();
  return static_cast<I>(value);
}

/// a * b + c, rounded so that rounding it again to 16 bits is as good as rounding once.
[[gnu::noinline]] SIMT_UNTRACED inline double fused(double a, double b, double c) {
  const double product = a * b;  // exact: 22 bits at most
  const double sum = product + c;
  const double c_part = sum - product;
  const double error = (product - (sum - c_part)) + (c - c_part);
  auto bits = __builtin_bit_cast(uint64_t, sum);
  // What was lost makes an even last bit odd ("round to odd"): no tie appears that was none.
  if (std::isfinite(sum) && error != 0 && !(bits & 1)) bits += (error > 0) == (sum > 0) ? 1 : -1;
  return __builtin_bit_cast(double, bits);
}

/// Adds in one step that no other thread interrupts; returns the old value.
template <class T, class Word>
[[gnu::noinline]] SIMT_UNTRACED T replace_by_sum(T* address, T value) {
  auto* const word = reinterpret_cast<Word*>(address);
  Word old = __atomic_load_n(word, __ATOMIC_SEQ_CST);
  Word sum;
  do {
    const T result = __builtin_bit_cast(T, old) + value;
    sum = __builtin_bit_cast(Word, result);
  } while (
      !__atomic_compare_exchange_n(word, &old, sum, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST));
  return __builtin_bit_cast(T, old);
}
template <class T>
SIMT_INLINE T atomic_sum(T* address, T value) {
  announce_atomic(address, sizeof(T));
  return replace_by_sum<T, std::conditional_t<sizeof(T) == 2, uint16_t, uint32_t>>(address, value);
}

/// A floating-point number of 16 bits, base of the type `T` that CUDA's name is for.
/// `T` has a member `bits` and a constructor from float.
template <class T, int kFraction>
struct NarrowFloat {
  SIMT_INLINE operator float() const { return widen<kFraction>(self().bits); }

  /// The number nearest to `value`, or rounded as asked.
  SIMT_INLINE static T rounded(double value, Rounding rounding = Rounding::nearest) {
    return from(narrow<kFraction>(value, rounding));
  }
  SIMT_INLINE static T from(unsigned bits) {
    T result;
    result.bits = static_cast<uint16_t>(bits);
    return result;
  }

  // Arithmetic, rounded to nearest even.
  SIMT_INLINE friend T operator+(const T& a, const T& b) { return rounded(d(a) + d(b)); }
  SIMT_INLINE friend T operator-(const T& a, const T& b) { return rounded(d(a) - d(b)); }
  SIMT_INLINE friend T operator*(const T& a, const T& b) { return rounded(d(a) * d(b)); }
  SIMT_INLINE friend T operator/(const T& a, const T& b) { return rounded(d(a) / d(b)); }
  SIMT_INLINE friend T operator+(const T& a) { return a; }
  SIMT_INLINE friend T operator-(const T& a) { return from(a.bits ^ 0x8000u); }
  SIMT_INLINE friend T& operator+=(T& a, const T& b) { return a = a + b; }
  SIMT_INLINE friend T& operator-=(T& a, const T& b) { return a = a - b; }
  SIMT_INLINE friend T& operator*=(T& a, const T& b) { return a = a * b; }
  SIMT_INLINE friend T& operator/=(T& a, const T& b) { return a = a / b; }
  SIMT_INLINE friend T& operator++(T& a) { return a = a + T(1.0f); }
  SIMT_INLINE friend T& operator--(T& a) { return a = a - T(1.0f); }
  SIMT_INLINE friend bool operator==(const T& a, const T& b) { return f(a) == f(b); }
  SIMT_INLINE friend bool operator!=(const T& a, const T& b) { return f(a) != f(b); }
  SIMT_INLINE friend bool operator<(const T& a, const T& b) { return f(a) < f(b); }
  SIMT_INLINE friend bool operator<=(const T& a, const T& b) { return f(a) <= f(b); }
  SIMT_INLINE friend bool operator>(const T& a, const T& b) { return f(a) > f(b); }
  SIMT_INLINE friend bool operator>=(const T& a, const T& b) { return f(a) >= f(b); }

  SIMT_INLINE friend T __hadd(T a, T b) { return a + b; }
  SIMT_INLINE friend T __hsub(T a, T b) { return a - b; }
  SIMT_INLINE friend T __hmul(T a, T b) { return a * b; }
  SIMT_INLINE friend T __hdiv(T a, T b) { return a / b; }
  SIMT_INLINE friend T __hadd_rn(T a, T b) { return a + b; }
  SIMT_INLINE friend T __hsub_rn(T a, T b) { return a - b; }
  SIMT_INLINE friend T __hmul_rn(T a, T b) { return a * b; }
  SIMT_INLINE friend T __hneg(T a) { return -a; }
  SIMT_INLINE friend T __habs(T a) { return from(a.bits & 0x7fffu); }
  /// a * b + c, rounded once.
  SIMT_INLINE friend T __hfma(T a, T b, T c) { return rounded(fused(d(a), d(b), d(c))); }
  // Saturated: into [0, 1], NaN becomes 0.
  SIMT_INLINE friend T __hadd_sat(T a, T b) { return saturated(a + b); }
  SIMT_INLINE friend T __hsub_sat(T a, T b) { return saturated(a - b); }
  SIMT_INLINE friend T __hmul_sat(T a, T b) { return saturated(a * b); }
  SIMT_INLINE friend T __hfma_sat(T a, T b, T c) { return saturated(__hfma(a, b, c)); }
  /// a * b + c, or 0 where that is negative.
  SIMT_INLINE friend T __hfma_relu(T a, T b, T c) {
    const T result = __hfma(a, b, c);
    return result < from(0) ? from(0) : result;
  }

  SIMT_INLINE friend bool __hisnan(T a) { return f(a) != f(a); }
  SIMT_INLINE friend int __hisinf(T a) { return std::isinf(f(a)) ? (a.bits >> 15 ? -1 : 1) : 0; }
  SIMT_INLINE friend bool __heq(T a, T b) { return a == b; }
  SIMT_INLINE friend bool __hne(T a, T b) { return f(a) < f(b) || f(a) > f(b); }
  SIMT_INLINE friend bool __hlt(T a, T b) { return a < b; }
  SIMT_INLINE friend bool __hle(T a, T b) { return a <= b; }
  SIMT_INLINE friend bool __hgt(T a, T b) { return a > b; }
  SIMT_INLINE friend bool __hge(T a, T b) { return a >= b; }
  // Unordered comparisons hold if there is a NaN.
  SIMT_INLINE friend bool __hequ(T a, T b) { return !__hne(a, b); }
  SIMT_INLINE friend bool __hneu(T a, T b) { return a != b; }
  SIMT_INLINE friend bool __hltu(T a, T b) { return !(a >= b); }
  SIMT_INLINE friend bool __hleu(T a, T b) { return !(a > b); }
  SIMT_INLINE friend bool __hgtu(T a, T b) { return !(a <= b); }
  SIMT_INLINE friend bool __hgeu(T a, T b) { return !(a < b); }
  // Of a NaN and a number, the number; of two zeros, the positive one is greater.
  SIMT_INLINE friend T __hmax(T a, T b) {
    if (__hisnan(a)) return __hisnan(b) ? from(0x7fff) : b;
    if (a == b) return from(f(a) == 0 ? a.bits & b.bits : a.bits);
    return b > a ? b : a;
  }
  SIMT_INLINE friend T __hmin(T a, T b) {
    if (__hisnan(a)) return __hisnan(b) ? from(0x7fff) : b;
    if (a == b) return from(f(a) == 0 ? a.bits | b.bits : a.bits);
    return b < a ? b : a;
  }
  SIMT_INLINE friend T __hmax_nan(T a, T b) {
    return __hisnan(a) || __hisnan(b) ? from(0x7fff) : __hmax(a, b);
  }
  SIMT_INLINE friend T __hmin_nan(T a, T b) {
    return __hisnan(a) || __hisnan(b) ? from(0x7fff) : __hmin(a, b);
  }

  /// Rounded once; the old value.
  SIMT_INLINE friend T atomicAdd(T* address, T value) { return atomic_sum(address, value); }
  SIMT_INLINE friend T atomicCAS(T* address, T compare, T value) {
    return from(atomic_apply(AtomicOp::compare_exchange, &address->bits, value.bits, compare.bits));
  }

  SIMT_INLINE friend T hsqrt(T a) { return rounded(std::sqrt(d(a))); }
  SIMT_INLINE friend T hrsqrt(T a) { return rounded(1 / std::sqrt(d(a))); }
  SIMT_INLINE friend T hrcp(T a) { return rounded(1 / d(a)); }
  SIMT_INLINE friend T hexp(T a) { return rounded(std::exp(d(a))); }
  SIMT_INLINE friend T hexp2(T a) { return rounded(std::exp2(d(a))); }
  SIMT_INLINE friend T hexp10(T a) { return rounded(std::pow(10.0, d(a))); }
  SIMT_INLINE friend T hlog(T a) { return rounded(std::log(d(a))); }
  SIMT_INLINE friend T hlog2(T a) { return rounded(std::log2(d(a))); }
  SIMT_INLINE friend T hlog10(T a) { return rounded(std::log10(d(a))); }
  SIMT_INLINE friend T hsin(T a) { return rounded(std::sin(d(a))); }
  SIMT_INLINE friend T hcos(T a) { return rounded(std::cos(d(a))); }
  SIMT_INLINE friend T htanh(T a) { return rounded(std::tanh(d(a))); }
  SIMT_INLINE friend T htanh_approx(T a) { return htanh(a); }
  SIMT_INLINE friend T hceil(T a) { return rounded(std::ceil(d(a))); }
  SIMT_INLINE friend T hfloor(T a) { return rounded(std::floor(d(a))); }
  SIMT_INLINE friend T htrunc(T a) { return rounded(std::trunc(d(a))); }
  SIMT_INLINE friend T hrint(T a) { return rounded(std::rint(d(a))); }

 private:
  SIMT_INLINE const T& self() const { return static_cast<const T&>(*this); }
  SIMT_INLINE static float f(const T& a) { return widen<kFraction>(a.bits); }
  SIMT_INLINE static double d(const T& a) { return static_cast<double>(f(a)); }
  SIMT_INLINE static T saturated(T a) { return a > T(1.0f) ? T(1.0f) : a > from(0) ? a : from(0); }
};

/// Two of them, loaded and stored in one access of 4 bytes; operands are taken by value for that reason.
/// `P` has members `x` and `y` of type `T`.
template <class P, class T>
struct NarrowPair {
  SIMT_INLINE friend P operator+(P a, P b) { return P(a.x + b.x, a.y + b.y); }
  SIMT_INLINE friend P operator-(P a, P b) { return P(a.x - b.x, a.y - b.y); }
  SIMT_INLINE friend P operator*(P a, P b) { return P(a.x * b.x, a.y * b.y); }
  SIMT_INLINE friend P operator/(P a, P b) { return P(a.x / b.x, a.y / b.y); }
  SIMT_INLINE friend P operator+(P a) { return a; }
  SIMT_INLINE friend P operator-(P a) { return P(-a.x, -a.y); }
  SIMT_INLINE friend P& operator+=(P& a, P b) { return a = a + b; }
  SIMT_INLINE friend P& operator-=(P& a, P b) { return a = a - b; }
  SIMT_INLINE friend P& operator*=(P& a, P b) { return a = a * b; }
  SIMT_INLINE friend P& operator/=(P& a, P b) { return a = a / b; }
  SIMT_INLINE friend bool operator==(P a, P b) { return a.x == b.x && a.y == b.y; }
  SIMT_INLINE friend bool operator!=(P a, P b) { return a.x != b.x && a.y != b.y; }
  SIMT_INLINE friend bool operator<(P a, P b) { return a.x < b.x && a.y < b.y; }
  SIMT_INLINE friend bool operator<=(P a, P b) { return a.x <= b.x && a.y <= b.y; }
  SIMT_INLINE friend bool operator>(P a, P b) { return a.x > b.x && a.y > b.y; }
  SIMT_INLINE friend bool operator>=(P a, P b) { return a.x >= b.x && a.y >= b.y; }

  SIMT_INLINE friend P __hadd2(P a, P b) { return a + b; }
  SIMT_INLINE friend P __hsub2(P a, P b) { return a - b; }
  SIMT_INLINE friend P __hmul2(P a, P b) { return a * b; }
  SIMT_INLINE friend P __h2div(P a, P b) { return a / b; }
  SIMT_INLINE friend P __hadd2_rn(P a, P b) { return a + b; }
  SIMT_INLINE friend P __hsub2_rn(P a, P b) { return a - b; }
  SIMT_INLINE friend P __hmul2_rn(P a, P b) { return a * b; }
  SIMT_INLINE friend P __hneg2(P a) { return -a; }
  SIMT_INLINE friend P __habs2(P a) { return P(__habs(a.x), __habs(a.y)); }
  SIMT_INLINE friend P __hfma2(P a, P b, P c) {
    return P(__hfma(a.x, b.x, c.x), __hfma(a.y, b.y, c.y));
  }
  SIMT_INLINE friend P __hadd2_sat(P a, P b) {
    return P(__hadd_sat(a.x, b.x), __hadd_sat(a.y, b.y));
  }
  SIMT_INLINE friend P __hsub2_sat(P a, P b) {
    return P(__hsub_sat(a.x, b.x), __hsub_sat(a.y, b.y));
  }
  SIMT_INLINE friend P __hmul2_sat(P a, P b) {
    return P(__hmul_sat(a.x, b.x), __hmul_sat(a.y, b.y));
  }
  SIMT_INLINE friend P __hfma2_sat(P a, P b, P c) {
    return P(__hfma_sat(a.x, b.x, c.x), __hfma_sat(a.y, b.y, c.y));
  }
  SIMT_INLINE friend P __hfma2_relu(P a, P b, P c) {
    return P(__hfma_relu(a.x, b.x, c.x), __hfma_relu(a.y, b.y, c.y));
  }
  SIMT_INLINE friend P __hmax2(P a, P b) { return P(__hmax(a.x, b.x), __hmax(a.y, b.y)); }
  SIMT_INLINE friend P __hmin2(P a, P b) { return P(__hmin(a.x, b.x), __hmin(a.y, b.y)); }
  SIMT_INLINE friend P __hmax2_nan(P a, P b) {
    return P(__hmax_nan(a.x, b.x), __hmax_nan(a.y, b.y));
  }
  SIMT_INLINE friend P __hmin2_nan(P a, P b) {
    return P(__hmin_nan(a.x, b.x), __hmin_nan(a.y, b.y));
  }
  // a * b + c of complex numbers, x the real part.
  SIMT_INLINE friend P __hcmadd(P a, P b, P c) {
    return P(__hfma(-a.y, b.y, __hfma(a.x, b.x, c.x)), __hfma(a.y, b.x, __hfma(a.x, b.y, c.y)));
  }

  // 1 where the comparison holds, 0 elsewhere; the `b` forms: whether it holds for both.
  SIMT_INLINE friend P __heq2(P a, P b) { return truth(__heq(a.x, b.x), __heq(a.y, b.y)); }
  SIMT_INLINE friend P __hne2(P a, P b) { return truth(__hne(a.x, b.x), __hne(a.y, b.y)); }
  SIMT_INLINE friend P __hlt2(P a, P b) { return truth(a.x < b.x, a.y < b.y); }
  SIMT_INLINE friend P __hle2(P a, P b) { return truth(a.x <= b.x, a.y <= b.y); }
  SIMT_INLINE friend P __hgt2(P a, P b) { return truth(a.x > b.x, a.y > b.y); }
  SIMT_INLINE friend P __hge2(P a, P b) { return truth(a.x >= b.x, a.y >= b.y); }
  SIMT_INLINE friend P __hisnan2(P a) { return truth(__hisnan(a.x), __hisnan(a.y)); }
  SIMT_INLINE friend P __hequ2(P a, P b) { return truth(__hequ(a.x, b.x), __hequ(a.y, b.y)); }
  SIMT_INLINE friend P __hneu2(P a, P b) { return truth(__hneu(a.x, b.x), __hneu(a.y, b.y)); }
  SIMT_INLINE friend P __hltu2(P a, P b) { return truth(__hltu(a.x, b.x), __hltu(a.y, b.y)); }
  SIMT_INLINE friend P __hleu2(P a, P b) { return truth(__hleu(a.x, b.x), __hleu(a.y, b.y)); }
  SIMT_INLINE friend P __hgtu2(P a, P b) { return truth(__hgtu(a.x, b.x), __hgtu(a.y, b.y)); }
  SIMT_INLINE friend P __hgeu2(P a, P b) { return truth(__hgeu(a.x, b.x), __hgeu(a.y, b.y)); }
  SIMT_INLINE friend bool __hbeq2(P a, P b) { return a == b; }
  SIMT_INLINE friend bool __hbne2(P a, P b) { return __hne(a.x, b.x) && __hne(a.y, b.y); }
  SIMT_INLINE friend bool __hblt2(P a, P b) { return a < b; }
  SIMT_INLINE friend bool __hble2(P a, P b) { return a <= b; }
  SIMT_INLINE friend bool __hbgt2(P a, P b) { return a > b; }
  SIMT_INLINE friend bool __hbge2(P a, P b) { return a >= b; }
  SIMT_INLINE friend bool __hbequ2(P a, P b) { return __hequ(a.x, b.x) && __hequ(a.y, b.y); }
  SIMT_INLINE friend bool __hbneu2(P a, P b) { return __hneu(a.x, b.x) && __hneu(a.y, b.y); }
  SIMT_INLINE friend bool __hbltu2(P a, P b) { return __hltu(a.x, b.x) && __hltu(a.y, b.y); }
  SIMT_INLINE friend bool __hbleu2(P a, P b) { return __hleu(a.x, b.x) && __hleu(a.y, b.y); }
  SIMT_INLINE friend bool __hbgtu2(P a, P b) { return __hgtu(a.x, b.x) && __hgtu(a.y, b.y); }
  SIMT_INLINE friend bool __hbgeu2(P a, P b) { return __hgeu(a.x, b.x) && __hgeu(a.y, b.y); }
  // All bits of a half where the comparison holds.
  SIMT_INLINE friend unsigned __heq2_mask(P a, P b) {
    return mask(__heq(a.x, b.x), __heq(a.y, b.y));
  }
  SIMT_INLINE friend unsigned __hne2_mask(P a, P b) {
    return mask(__hne(a.x, b.x), __hne(a.y, b.y));
  }
  SIMT_INLINE friend unsigned __hlt2_mask(P a, P b) {
    return mask(__hlt(a.x, b.x), __hlt(a.y, b.y));
  }
  SIMT_INLINE friend unsigned __hle2_mask(P a, P b) {
    return mask(__hle(a.x, b.x), __hle(a.y, b.y));
  }
  SIMT_INLINE friend unsigned __hgt2_mask(P a, P b) {
    return mask(__hgt(a.x, b.x), __hgt(a.y, b.y));
  }
  SIMT_INLINE friend unsigned __hge2_mask(P a, P b) {
    return mask(__hge(a.x, b.x), __hge(a.y, b.y));
  }
  SIMT_INLINE friend unsigned __hequ2_mask(P a, P b) {
    return mask(__hequ(a.x, b.x), __hequ(a.y, b.y));
  }
  SIMT_INLINE friend unsigned __hneu2_mask(P a, P b) {
    return mask(__hneu(a.x, b.x), __hneu(a.y, b.y));
  }
  SIMT_INLINE friend unsigned __hltu2_mask(P a, P b) {
    return mask(__hltu(a.x, b.x), __hltu(a.y, b.y));
  }
  SIMT_INLINE friend unsigned __hleu2_mask(P a, P b) {
    return mask(__hleu(a.x, b.x), __hleu(a.y, b.y));
  }
  SIMT_INLINE friend unsigned __hgtu2_mask(P a, P b) {
    return mask(__hgtu(a.x, b.x), __hgtu(a.y, b.y));
  }
  SIMT_INLINE friend unsigned __hgeu2_mask(P a, P b) {
    return mask(__hgeu(a.x, b.x), __hgeu(a.y, b.y));
  }

  /// Each of the two is added by itself, in one operation.
  SIMT_INLINE friend P atomicAdd(P* address, P value) { return atomic_sum(address, value); }

  SIMT_INLINE friend P h2sqrt(P a) { return P(hsqrt(a.x), hsqrt(a.y)); }
  SIMT_INLINE friend P h2rsqrt(P a) { return P(hrsqrt(a.x), hrsqrt(a.y)); }
  SIMT_INLINE friend P h2rcp(P a) { return P(hrcp(a.x), hrcp(a.y)); }
  SIMT_INLINE friend P h2exp(P a) { return P(hexp(a.x), hexp(a.y)); }
  SIMT_INLINE friend P h2exp2(P a) { return P(hexp2(a.x), hexp2(a.y)); }
  SIMT_INLINE friend P h2log(P a) { return P(hlog(a.x), hlog(a.y)); }
  SIMT_INLINE friend P h2log2(P a) { return P(hlog2(a.x), hlog2(a.y)); }
  SIMT_INLINE friend P h2exp10(P a) { return P(hexp10(a.x), hexp10(a.y)); }
  SIMT_INLINE friend P h2log10(P a) { return P(hlog10(a.x), hlog10(a.y)); }
  SIMT_INLINE friend P h2tanh(P a) { return P(htanh(a.x), htanh(a.y)); }
  SIMT_INLINE friend P h2tanh_approx(P a) { return h2tanh(a); }
  SIMT_INLINE friend P h2ceil(P a) { return P(hceil(a.x), hceil(a.y)); }
  SIMT_INLINE friend P h2floor(P a) { return P(hfloor(a.x), hfloor(a.y)); }
  SIMT_INLINE friend P h2trunc(P a) { return P(htrunc(a.x), htrunc(a.y)); }
  SIMT_INLINE friend P h2rint(P a) { return P(hrint(a.x), hrint(a.y)); }
  SIMT_INLINE friend P h2sin(P a) { return P(hsin(a.x), hsin(a.y)); }
  SIMT_INLINE friend P h2cos(P a) { return P(hcos(a.x), hcos(a.y)); }

  SIMT_INLINE friend float __low2float(P a) { return a.x; }
  SIMT_INLINE friend float __high2float(P a) { return a.y; }
  SIMT_INLINE friend P __lowhigh2highlow(P a) { return P(a.y, a.x); }
  SIMT_INLINE friend P __lows2half2(P a, P b) { return P(a.x, b.x); }
  SIMT_INLINE friend P __highs2half2(P a, P b) { return P(a.y, b.y); }
  SIMT_INLINE friend P __lows2bfloat162(P a, P b) { return P(a.x, b.x); }
  SIMT_INLINE friend P __highs2bfloat162(P a, P b) { return P(a.y, b.y); }

 private:
  SIMT_INLINE static unsigned mask(bool x, bool y) {
    return (x ? 0xffffu : 0) | (y ? 0xffff0000u : 0);
  }
  SIMT_INLINE static P truth(bool x, bool y) { return P(T(x ? 1.0f : 0.0f), T(y ? 1.0f : 0.0f)); }
};

}  // namespace simt::detail
