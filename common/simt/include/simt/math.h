/// \file
/// Device mathematics: what CUDA adds to the standard library's functions.
///
/// The fast intrinsics (`__expf`, ...) are computed at full precision here.
#pragma once

#include <math.h>
#include <simt/api/runtime.h>
#include <simt/qualifiers.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#define SIMT_INLINE [[gnu::always_inline]] inline

// min and max at global scope, for mixed integer types as CUDA has them. No constant expressions: CUDA's are none.
#define SIMT_MIN_MAX(T, A, B)                                                             \
  SIMT_INLINE T min(A a, B b) {                                                           \
    return static_cast<T>(b) < static_cast<T>(a) ? static_cast<T>(b) : static_cast<T>(a); \
  }                                                                                       \
  SIMT_INLINE T max(A a, B b) {                                                           \
    return static_cast<T>(a) < static_cast<T>(b) ? static_cast<T>(b) : static_cast<T>(a); \
  }
#define SIMT_MIN_MAX_MIXED(S, U) \
  SIMT_MIN_MAX(S, S, S)          \
  SIMT_MIN_MAX(U, U, U)          \
  SIMT_MIN_MAX(U, S, U)          \
  SIMT_MIN_MAX(U, U, S)
SIMT_MIN_MAX_MIXED(int, unsigned int)
SIMT_MIN_MAX_MIXED(long, unsigned long)
SIMT_MIN_MAX_MIXED(long long, unsigned long long)
#undef SIMT_MIN_MAX_MIXED
#undef SIMT_MIN_MAX
SIMT_INLINE float min(float a, float b) { return fminf(a, b); }
SIMT_INLINE float max(float a, float b) { return fmaxf(a, b); }
SIMT_INLINE double min(double a, double b) { return fmin(a, b); }
SIMT_INLINE double max(double a, double b) { return fmax(a, b); }
SIMT_INLINE double min(float a, double b) { return fmin(a, b); }
SIMT_INLINE double min(double a, float b) { return fmin(a, b); }
SIMT_INLINE double max(float a, double b) { return fmax(a, b); }
SIMT_INLINE double max(double a, float b) { return fmax(a, b); }
SIMT_INLINE int umin(unsigned a, unsigned b) { return static_cast<int>(min(a, b)); }
SIMT_INLINE int umax(unsigned a, unsigned b) { return static_cast<int>(max(a, b)); }

SIMT_INLINE float rsqrtf(float x) { return 1.0f / sqrtf(x); }
SIMT_INLINE double rsqrt(double x) { return 1.0 / sqrt(x); }
SIMT_INLINE float rsqrt(float x) { return rsqrtf(x); }
SIMT_INLINE float rcbrtf(float x) { return 1.0f / cbrtf(x); }
SIMT_INLINE double rcbrt(double x) { return 1.0 / cbrt(x); }
SIMT_INLINE float fdividef(float x, float y) { return x / y; }
SIMT_INLINE float sinpif(float x) { return sinf(x * 3.14159265358979323846f); }
SIMT_INLINE double sinpi(double x) { return sin(x * 3.14159265358979323846); }
SIMT_INLINE float cospif(float x) { return cosf(x * 3.14159265358979323846f); }
SIMT_INLINE double cospi(double x) { return cos(x * 3.14159265358979323846); }
SIMT_INLINE float normcdff(float x) { return 0.5f * erfcf(-x * 0.70710678118654752440f); }
SIMT_INLINE double normcdf(double x) { return 0.5 * erfc(-x * 0.70710678118654752440); }
SIMT_INLINE float saturate(float x) { return fminf(fmaxf(x, 0.0f), 1.0f); }
SIMT_INLINE float __saturatef(float x) { return saturate(x); }

SIMT_INLINE float __expf(float x) { return expf(x); }
SIMT_INLINE float __exp10f(float x) { return powf(10.0f, x); }
SIMT_INLINE float __logf(float x) { return logf(x); }
SIMT_INLINE float __log2f(float x) { return log2f(x); }
SIMT_INLINE float __log10f(float x) { return log10f(x); }
SIMT_INLINE float __sinf(float x) { return sinf(x); }
SIMT_INLINE float __cosf(float x) { return cosf(x); }
SIMT_INLINE float __tanf(float x) { return tanf(x); }
SIMT_INLINE float __tanhf(float x) { return tanhf(x); }
SIMT_INLINE float __powf(float x, float y) { return powf(x, y); }
SIMT_INLINE void __sincosf(float x, float* s, float* c) {
  *s = sinf(x);
  *c = cosf(x);
}
SIMT_INLINE float __fdividef(float x, float y) { return x / y; }
SIMT_INLINE float __frsqrt_rn(float x) { return 1.0f / sqrtf(x); }

SIMT_INLINE int __float_as_int(float x) { return __builtin_bit_cast(int, x); }
SIMT_INLINE unsigned __float_as_uint(float x) { return __builtin_bit_cast(unsigned, x); }
SIMT_INLINE float __int_as_float(int x) { return __builtin_bit_cast(float, x); }
SIMT_INLINE float __uint_as_float(unsigned x) { return __builtin_bit_cast(float, x); }
SIMT_INLINE long long __double_as_longlong(double x) { return __builtin_bit_cast(long long, x); }
SIMT_INLINE double __longlong_as_double(long long x) { return __builtin_bit_cast(double, x); }
SIMT_INLINE int __double2hiint(double x) {
  return static_cast<int>(__builtin_bit_cast(uint64_t, x) >> 32);
}
SIMT_INLINE int __double2loint(double x) {
  return static_cast<int>(__builtin_bit_cast(uint64_t, x));
}
SIMT_INLINE double __hiloint2double(int hi, int lo) {
  return __builtin_bit_cast(
      double, static_cast<uint64_t>(static_cast<unsigned>(hi)) << 32 | static_cast<unsigned>(lo));
}

SIMT_INLINE int __popc(unsigned x) { return __builtin_popcount(x); }
SIMT_INLINE int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
SIMT_INLINE int __clz(int x) { return x ? __builtin_clz(static_cast<unsigned>(x)) : 32; }
SIMT_INLINE int __clzll(long long x) {
  return x ? __builtin_clzll(static_cast<unsigned long long>(x)) : 64;
}
SIMT_INLINE int __ffs(int x) { return __builtin_ffs(x); }
SIMT_INLINE int __ffsll(long long x) { return __builtin_ffsll(x); }
SIMT_INLINE unsigned __brev(unsigned x) {
  x = (x >> 1 & 0x55555555u) | (x & 0x55555555u) << 1;
  x = (x >> 2 & 0x33333333u) | (x & 0x33333333u) << 2;
  x = (x >> 4 & 0x0f0f0f0fu) | (x & 0x0f0f0f0fu) << 4;
  return __builtin_bswap32(x);
}
SIMT_INLINE unsigned long long __brevll(unsigned long long x) {
  return static_cast<unsigned long long>(__brev(static_cast<unsigned>(x))) << 32 |
         __brev(static_cast<unsigned>(x >> 32));
}
SIMT_INLINE int __mul24(int x, int y) { return ((x << 8) >> 8) * ((y << 8) >> 8); }
SIMT_INLINE unsigned __umul24(unsigned x, unsigned y) { return (x & 0xffffffu) * (y & 0xffffffu); }
SIMT_INLINE int __mulhi(int x, int y) {
  return static_cast<int>(static_cast<int64_t>(x) * y >> 32);
}
SIMT_INLINE unsigned __umulhi(unsigned x, unsigned y) {
  return static_cast<unsigned>(static_cast<uint64_t>(x) * y >> 32);
}
SIMT_INLINE unsigned long long __umul64hi(unsigned long long x, unsigned long long y) {
  __extension__ using Wide = unsigned __int128;
  return static_cast<unsigned long long>(static_cast<Wide>(x) * y >> 64);
}
SIMT_INLINE unsigned __funnelshift_l(unsigned lo, unsigned hi, unsigned shift) {
  return static_cast<unsigned>((static_cast<uint64_t>(hi) << 32 | lo) << (shift & 31) >> 32);
}
SIMT_INLINE unsigned __funnelshift_r(unsigned lo, unsigned hi, unsigned shift) {
  return static_cast<unsigned>((static_cast<uint64_t>(hi) << 32 | lo) >> (shift & 31));
}
SIMT_INLINE unsigned __byte_perm(unsigned x, unsigned y, unsigned selector) {
  const uint64_t bytes = static_cast<uint64_t>(y) << 32 | x;
  unsigned result = 0;
  for (int i = 0; i < 4; ++i) {
    const unsigned s = selector >> (4 * i);
    unsigned byte = static_cast<unsigned>(bytes >> (8 * (s & 7))) & 0xffu;
    if (s & 8) byte = byte & 0x80u ? 0xffu : 0u;
    result |= byte << (8 * i);
  }
  return result;
}
SIMT_INLINE unsigned __sad(int x, int y, unsigned z) {
  return z + static_cast<unsigned>(x < y ? y - x : x - y);
}
SIMT_INLINE unsigned __usad(unsigned x, unsigned y, unsigned z) {
  return z + (x < y ? y - x : x - y);
}
SIMT_INLINE int __hadd(int x, int y) {
  return static_cast<int>((static_cast<int64_t>(x) + y) >> 1);
}
SIMT_INLINE int __rhadd(int x, int y) {
  return static_cast<int>((static_cast<int64_t>(x) + y + 1) >> 1);
}
SIMT_INLINE long long __mul64hi(long long x, long long y) {
  __extension__ using Wide = __int128;
  return static_cast<long long>(static_cast<Wide>(x) * y >> 64);
}
SIMT_INLINE unsigned __uhadd(unsigned x, unsigned y) {
  return static_cast<unsigned>((static_cast<uint64_t>(x) + y) >> 1);
}
SIMT_INLINE unsigned __urhadd(unsigned x, unsigned y) {
  return static_cast<unsigned>((static_cast<uint64_t>(x) + y + 1) >> 1);
}
/// As __funnelshift_l and _r, with shifts of 32 and more as 32.
SIMT_INLINE unsigned __funnelshift_lc(unsigned lo, unsigned hi, unsigned shift) {
  return shift >= 32 ? lo : __funnelshift_l(lo, hi, shift);
}
SIMT_INLINE unsigned __funnelshift_rc(unsigned lo, unsigned hi, unsigned shift) {
  return shift >= 32 ? hi : __funnelshift_r(lo, hi, shift);
}
/// The place of the `offset`-th set bit from `base` on, downwards if it is negative; ~0 if there is none.
SIMT_INLINE unsigned __fns(unsigned mask, unsigned base, int offset) {
  if (offset == 0) return mask >> base & 1 ? base : 0xffffffffu;
  const int step = offset > 0 ? 1 : -1;
  int left = offset > 0 ? offset : -offset;
  for (int place = static_cast<int>(base); place >= 0 && place < 32; place += step) {
    if ((mask >> place & 1) && --left == 0) return static_cast<unsigned>(place);
  }
  return 0xffffffffu;
}
SIMT_INLINE long long llmin(long long a, long long b) { return min(a, b); }
SIMT_INLINE long long llmax(long long a, long long b) { return max(a, b); }
SIMT_INLINE unsigned long long ullmin(unsigned long long a, unsigned long long b) {
  return min(a, b);
}
SIMT_INLINE unsigned long long ullmax(unsigned long long a, unsigned long long b) {
  return max(a, b);
}

SIMT_INLINE void sincospif(float x, float* s, float* c) {
  *s = sinpif(x);
  *c = cospif(x);
}
SIMT_INLINE void sincospi(double x, double* s, double* c) {
  *s = sinpi(x);
  *c = cospi(x);
}
SIMT_INLINE float rhypotf(float x, float y) { return 1.0f / hypotf(x, y); }
SIMT_INLINE double rhypot(double x, double y) { return 1.0 / hypot(x, y); }
SIMT_INLINE double norm3d(double x, double y, double z) { return sqrt(x * x + y * y + z * z); }
SIMT_INLINE double norm4d(double x, double y, double z, double w) {
  return sqrt(x * x + y * y + z * z + w * w);
}
SIMT_INLINE float norm3df(float x, float y, float z) { return static_cast<float>(norm3d(x, y, z)); }
SIMT_INLINE float norm4df(float x, float y, float z, float w) {
  return static_cast<float>(norm4d(x, y, z, w));
}
SIMT_INLINE double rnorm3d(double x, double y, double z) { return 1.0 / norm3d(x, y, z); }
SIMT_INLINE double rnorm4d(double x, double y, double z, double w) {
  return 1.0 / norm4d(x, y, z, w);
}
SIMT_INLINE float rnorm3df(float x, float y, float z) {
  return static_cast<float>(rnorm3d(x, y, z));
}
SIMT_INLINE float rnorm4df(float x, float y, float z, float w) {
  return static_cast<float>(rnorm4d(x, y, z, w));
}
SIMT_INLINE double norm(int n, const double* x) {
  double sum = 0;
  for (int i = 0; i < n; ++i) sum += x[i] * x[i];
  return sqrt(sum);
}
SIMT_INLINE float normf(int n, const float* x) {
  double sum = 0;
  for (int i = 0; i < n; ++i) sum += static_cast<double>(x[i]) * x[i];
  return static_cast<float>(sqrt(sum));
}
SIMT_INLINE double rnorm(int n, const double* x) { return 1.0 / norm(n, x); }
SIMT_INLINE float rnormf(int n, const float* x) { return 1.0f / normf(n, x); }

// Special functions, in hooks/math.cpp.
double erfinv(double y);
double erfcinv(double y);
double erfcx(double x);
double normcdfinv(double y);
double cyl_bessel_i0(double x);
double cyl_bessel_i1(double x);
#define SIMT_SINGLE(name) \
  SIMT_INLINE float name##f(float x) { return static_cast<float>(name(static_cast<double>(x))); }
SIMT_SINGLE(erfinv)
SIMT_SINGLE(erfcinv)
SIMT_SINGLE(erfcx)
SIMT_SINGLE(normcdfinv)
SIMT_SINGLE(cyl_bessel_i0)
SIMT_SINGLE(cyl_bessel_i1)
#undef SIMT_SINGLE
