/// \file
/// make_float4 and its like.
#pragma once

#include <vector_types.h>

#define SIMT_MAKE [[gnu::always_inline]] constexpr
#define SIMT_MAKE_FUNCTIONS(name, T)                                            \
  SIMT_MAKE name##1 make_##name##1(T x) { return name##1 {x}; }                 \
  SIMT_MAKE name##2 make_##name##2(T x, T y) { return name##2(x, y); }          \
  SIMT_MAKE name##3 make_##name##3(T x, T y, T z) { return name##3 {x, y, z}; } \
  SIMT_MAKE name##4 make_##name##4(T x, T y, T z, T w) { return name##4(x, y, z, w); }

SIMT_MAKE_FUNCTIONS(char, signed char)
SIMT_MAKE_FUNCTIONS(uchar, unsigned char)
SIMT_MAKE_FUNCTIONS(short, short)
SIMT_MAKE_FUNCTIONS(ushort, unsigned short)
SIMT_MAKE_FUNCTIONS(int, int)
SIMT_MAKE_FUNCTIONS(uint, unsigned int)
SIMT_MAKE_FUNCTIONS(long, long)
SIMT_MAKE_FUNCTIONS(ulong, unsigned long)
SIMT_MAKE_FUNCTIONS(longlong, long long)
SIMT_MAKE_FUNCTIONS(ulonglong, unsigned long long)
SIMT_MAKE_FUNCTIONS(float, float)
SIMT_MAKE_FUNCTIONS(double, double)

#undef SIMT_MAKE_FUNCTIONS
#undef SIMT_MAKE
