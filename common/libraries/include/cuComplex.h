/// \file
/// Complex numbers as pairs.
#pragma once

#include <cuda_runtime.h>

using cuFloatComplex = float2;
using cuDoubleComplex = double2;
using cuComplex = cuFloatComplex;

#define SIMT_COMPLEX(Complex, Real, make, suffix, f)                                              \
  SIMT_INLINE Complex make_##Complex(Real re, Real im) { return make(re, im); }                   \
  SIMT_INLINE Real cuCreal##suffix(Complex z) { return z.x; }                                     \
  SIMT_INLINE Real cuCimag##suffix(Complex z) { return z.y; }                                     \
  SIMT_INLINE Complex cuConj##suffix(Complex z) { return make(z.x, -z.y); }                       \
  SIMT_INLINE Complex cuCadd##suffix(Complex a, Complex b) { return make(a.x + b.x, a.y + b.y); } \
  SIMT_INLINE Complex cuCsub##suffix(Complex a, Complex b) { return make(a.x - b.x, a.y - b.y); } \
  SIMT_INLINE Complex cuCmul##suffix(Complex a, Complex b) {                                      \
    return make(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x);                                    \
  }                                                                                               \
  SIMT_INLINE Complex cuCdiv##suffix(Complex a, Complex b) {                                      \
    const Real s = fabs##f(b.x) + fabs##f(b.y); /* against overflow */                            \
    const Real ax = a.x / s, ay = a.y / s, bx = b.x / s, by = b.y / s;                            \
    const Real n = bx * bx + by * by;                                                             \
    return make((ax * bx + ay * by) / n, (ay * bx - ax * by) / n);                                \
  }                                                                                               \
  SIMT_INLINE Real cuCabs##suffix(Complex z) { return hypot##f(z.x, z.y); }                       \
  SIMT_INLINE Complex cuCfma##suffix(Complex a, Complex b, Complex c) {                           \
    return cuCadd##suffix(cuCmul##suffix(a, b), c);                                               \
  }
SIMT_COMPLEX(cuFloatComplex, float, make_float2, f, f)
SIMT_COMPLEX(cuDoubleComplex, double, make_double2, , )
#undef SIMT_COMPLEX

SIMT_INLINE cuComplex make_cuComplex(float re, float im) { return make_float2(re, im); }
SIMT_INLINE cuDoubleComplex cuComplexFloatToDouble(cuFloatComplex z) {
  return make_double2(z.x, z.y);
}
SIMT_INLINE cuFloatComplex cuComplexDoubleToFloat(cuDoubleComplex z) {
  return make_float2(static_cast<float>(z.x), static_cast<float>(z.y));
}
