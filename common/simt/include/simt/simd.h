/// \file
/// Arithmetic on two halves or four bytes of a 32-bit word at a time.
///
/// The name ends with the number of parts; `s` and `u` say that they are signed or not, `ss` and `us` that
/// the result saturates. Comparisons of the `cmp` family give all ones in a part, those of `set` a one.
#pragma once

#include <simt/launch.h>

#include <cstdint>

namespace simt::detail {

/// `operation` on each of the parts, which have the type `Part`; the result is cut to the part's bits.
template <class Part, class Operation>
[[gnu::noinline]] SIMT_UNTRACED inline unsigned by_parts(unsigned a, unsigned b,
                                                         Operation operation) {
  constexpr unsigned kBits = 8 * sizeof(Part);
  constexpr unsigned kMask = (1u << kBits) - 1;
  unsigned result = 0;
  for (unsigned shift = 0; shift < 32; shift += kBits) {
    const int x = static_cast<Part>(a >> shift), y = static_cast<Part>(b >> shift);
    result |= (static_cast<unsigned>(operation(x, y)) & kMask) << shift;
  }
  return result;
}

template <class Part>
inline int saturated_part(int value) {
  constexpr bool kSigned = static_cast<Part>(-1) < 0;
  constexpr int kMost = kSigned ? (1 << (8 * sizeof(Part) - 1)) - 1 : (1 << 8 * sizeof(Part)) - 1;
  constexpr int kLeast = kSigned ? -kMost - 1 : 0;
  return value < kLeast ? kLeast : value > kMost ? kMost : value;
}

/// The sum of the parts.
template <class Part>
[[gnu::noinline]] SIMT_UNTRACED inline unsigned sum_of_parts(unsigned a) {
  unsigned sum = 0;
  for (unsigned shift = 0; shift < 32; shift += 8 * sizeof(Part)) {
    sum += static_cast<Part>(a >> shift);
  }
  return sum;
}

}  // namespace simt::detail

#define SIMT_INLINE [[gnu::always_inline]] inline

#define SIMT_BINARY(name, Part, expression)                                             \
  SIMT_INLINE unsigned name(unsigned a, unsigned b) {                                   \
    using P [[maybe_unused]] = Part;                                                    \
    return simt::detail::by_parts<Part>(a, b, [](int x, int y) { return expression; }); \
  }
#define SIMT_UNARY(name, Part, expression)                                                       \
  SIMT_INLINE unsigned name(unsigned a) {                                                        \
    using P [[maybe_unused]] = Part;                                                             \
    return simt::detail::by_parts<Part>(a, 0,                                                    \
                                        [](int x, [[maybe_unused]] int) { return expression; }); \
  }
#define SIMT_COMPARE(name, n, Part, op)         \
  SIMT_BINARY(__vcmp##name##n, Part, -(x op y)) \
  SIMT_BINARY(__vset##name##n, Part, x op y ? 1 : 0)
#define SIMT_SIMD(n, S, U)                                                    \
  SIMT_BINARY(__vadd##n, U, x + y)                                            \
  SIMT_BINARY(__vsub##n, U, x - y)                                            \
  SIMT_BINARY(__vaddss##n, S, simt::detail::saturated_part<P>(x + y))         \
  SIMT_BINARY(__vaddus##n, U, simt::detail::saturated_part<P>(x + y))         \
  SIMT_BINARY(__vsubss##n, S, simt::detail::saturated_part<P>(x - y))         \
  SIMT_BINARY(__vsubus##n, U, simt::detail::saturated_part<P>(x - y))         \
  SIMT_BINARY(__vabsdiffs##n, S, x < y ? y - x : x - y)                       \
  SIMT_BINARY(__vabsdiffu##n, U, x < y ? y - x : x - y)                       \
  SIMT_BINARY(__vavgs##n, S, (x + y + (x + y >= 0)) >> 1)                     \
  SIMT_BINARY(__vavgu##n, U, (x + y + 1) >> 1)                                \
  SIMT_BINARY(__vhaddu##n, U, (x + y) >> 1)                                   \
  SIMT_BINARY(__vmaxs##n, S, x < y ? y : x)                                   \
  SIMT_BINARY(__vmaxu##n, U, x < y ? y : x)                                   \
  SIMT_BINARY(__vmins##n, S, x < y ? x : y)                                   \
  SIMT_BINARY(__vminu##n, U, x < y ? x : y)                                   \
  SIMT_UNARY(__vabs##n, S, x < 0 ? -x : x)                                    \
  SIMT_UNARY(__vabsss##n, S, simt::detail::saturated_part<P>(x < 0 ? -x : x)) \
  SIMT_UNARY(__vneg##n, S, -x)                                                \
  SIMT_UNARY(__vnegss##n, S, simt::detail::saturated_part<P>(-x))             \
  SIMT_COMPARE(eq, n, U, ==)                                                  \
  SIMT_COMPARE(ne, n, U, !=)                                                  \
  SIMT_COMPARE(ges, n, S, >=)                                                 \
  SIMT_COMPARE(geu, n, U, >=)                                                 \
  SIMT_COMPARE(gts, n, S, >)                                                  \
  SIMT_COMPARE(gtu, n, U, >)                                                  \
  SIMT_COMPARE(les, n, S, <=)                                                 \
  SIMT_COMPARE(leu, n, U, <=)                                                 \
  SIMT_COMPARE(lts, n, S, <)                                                  \
  SIMT_COMPARE(ltu, n, U, <)                                                  \
  SIMT_INLINE unsigned __vsads##n(unsigned a, unsigned b) {                   \
    return simt::detail::sum_of_parts<U>(__vabsdiffs##n(a, b));               \
  }                                                                           \
  SIMT_INLINE unsigned __vsadu##n(unsigned a, unsigned b) {                   \
    return simt::detail::sum_of_parts<U>(__vabsdiffu##n(a, b));               \
  }
SIMT_SIMD(2, int16_t, uint16_t)
SIMT_SIMD(4, int8_t, uint8_t)
#undef SIMT_SIMD

// Minima and maxima of several values, with a ceiling of zero or without, of words and of halves.
#define SIMT_MINIMA(T, suffix)                                                          \
  SIMT_INLINE T __vimax3_##suffix(T a, T b, T c) { return max(max(a, b), c); }          \
  SIMT_INLINE T __vimin3_##suffix(T a, T b, T c) { return min(min(a, b), c); }          \
  SIMT_INLINE T __viaddmax_##suffix(T a, T b, T c) {                                    \
    return max(static_cast<T>(static_cast<unsigned>(a) + static_cast<unsigned>(b)), c); \
  }                                                                                     \
  SIMT_INLINE T __viaddmin_##suffix(T a, T b, T c) {                                    \
    return min(static_cast<T>(static_cast<unsigned>(a) + static_cast<unsigned>(b)), c); \
  }                                                                                     \
  SIMT_INLINE T __vibmax_##suffix(T a, T b, bool* first) {                              \
    *first = a >= b;                                                                    \
    return max(a, b);                                                                   \
  }                                                                                     \
  SIMT_INLINE T __vibmin_##suffix(T a, T b, bool* first) {                              \
    *first = a <= b;                                                                    \
    return min(a, b);                                                                   \
  }
SIMT_MINIMA(int, s32)
SIMT_MINIMA(unsigned, u32)
#undef SIMT_MINIMA
SIMT_INLINE int __vimax_s32_relu(int a, int b) { return max(max(a, b), 0); }
SIMT_INLINE int __vimin_s32_relu(int a, int b) { return max(min(a, b), 0); }
SIMT_INLINE int __vimax3_s32_relu(int a, int b, int c) { return max(__vimax3_s32(a, b, c), 0); }
SIMT_INLINE int __vimin3_s32_relu(int a, int b, int c) { return max(__vimin3_s32(a, b, c), 0); }
SIMT_INLINE int __viaddmax_s32_relu(int a, int b, int c) { return max(__viaddmax_s32(a, b, c), 0); }
SIMT_INLINE int __viaddmin_s32_relu(int a, int b, int c) { return max(__viaddmin_s32(a, b, c), 0); }
SIMT_INLINE unsigned __vimax3_s16x2(unsigned a, unsigned b, unsigned c) {
  return __vmaxs2(__vmaxs2(a, b), c);
}
SIMT_INLINE unsigned __vimin3_s16x2(unsigned a, unsigned b, unsigned c) {
  return __vmins2(__vmins2(a, b), c);
}
SIMT_INLINE unsigned __vimax3_u16x2(unsigned a, unsigned b, unsigned c) {
  return __vmaxu2(__vmaxu2(a, b), c);
}
SIMT_INLINE unsigned __vimin3_u16x2(unsigned a, unsigned b, unsigned c) {
  return __vminu2(__vminu2(a, b), c);
}
SIMT_INLINE unsigned __viaddmax_s16x2(unsigned a, unsigned b, unsigned c) {
  return __vmaxs2(__vadd2(a, b), c);
}
SIMT_INLINE unsigned __viaddmin_s16x2(unsigned a, unsigned b, unsigned c) {
  return __vmins2(__vadd2(a, b), c);
}
SIMT_INLINE unsigned __viaddmax_u16x2(unsigned a, unsigned b, unsigned c) {
  return __vmaxu2(__vadd2(a, b), c);
}
SIMT_INLINE unsigned __viaddmin_u16x2(unsigned a, unsigned b, unsigned c) {
  return __vminu2(__vadd2(a, b), c);
}
SIMT_INLINE unsigned __vimax_s16x2_relu(unsigned a, unsigned b) { return __vimax3_s16x2(a, b, 0); }
SIMT_INLINE unsigned __vimin_s16x2_relu(unsigned a, unsigned b) {
  return __vmaxs2(__vmins2(a, b), 0);
}

#undef SIMT_BINARY
#undef SIMT_UNARY
#undef SIMT_COMPARE

// Dot products of four bytes, or of two halves with two of four bytes, added to c.
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
