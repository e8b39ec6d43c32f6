/// \file
/// Dot products of four bytes, or of two halves with two of four bytes, added to c.
#pragma once

#include <simt/qualifiers.h>
#include <vector_types.h>

#include <cstdint>

#define SIMT_INLINE [[gnu::always_inline]] inline

#define SIMT_DOT(C, A2, A4)                                                                    \
  SIMT_INLINE C __dp4a(C a, C b, C c) {                                                        \
    for (int i = 0; i < 32; i += 8) {                                                          \
      c += static_cast<C>(static_cast<A4>(a >> i)) * static_cast<C>(static_cast<A4>(b >> i));  \
    }                                                                                          \
    return c;                                                                                  \
  }                                                                                            \
  SIMT_INLINE C __dp2a_lo(C a, C b, C c) {                                                     \
    return c + static_cast<C>(static_cast<A2>(a)) * static_cast<C>(static_cast<A4>(b)) +       \
           static_cast<C>(static_cast<A2>(a >> 16)) * static_cast<C>(static_cast<A4>(b >> 8)); \
  }                                                                                            \
  SIMT_INLINE C __dp2a_hi(C a, C b, C c) { return __dp2a_lo(a, b >> 16, c); }
SIMT_DOT(int, int16_t, int8_t)
SIMT_DOT(unsigned, uint16_t, uint8_t)
#undef SIMT_DOT
SIMT_INLINE int __dp4a(char4 a, char4 b, int c) {
  return c + a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w;
}
SIMT_INLINE unsigned __dp4a(uchar4 a, uchar4 b, unsigned c) {
  return c + static_cast<unsigned>(a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w);
}
