// Inline PTX that computes: every instruction of the subset on edge values, against the same in plain C++ on the host. nvcc
// compiles this file as well (test_ptx.py), so that what it calls PTX is PTX.
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <type_traits>
#include <vector>

#include "ptx_checks.h"

using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = unsigned long long;
using s16 = std::int16_t;
using s32 = std::int32_t;
using s64 = long long;

// An operation with the name NAME: the asm with its operands in `code`, the expectation in terms of a, b and c.
#define OP(NAME, D, A, B, C, code, expected)   \
  struct NAME {                                \
    using Result = D;                          \
    using First = A;                           \
    using Second = B;                          \
    using Third = C;                           \
    static constexpr const char* name = #NAME; \
    static __device__ D run(A a, B b, C c) {   \
      (void)a, (void)b, (void)c;               \
      D d;                                     \
      code;                                    \
      return d;                                \
    }                                          \
    static D expect(A a, B b, C c) {           \
      (void)a, (void)b, (void)c;               \
      return expected;                         \
    }                                          \
  };                                           \
  static const checks::Registration<NAME> register_##NAME;
struct None {};
// D, its constraint, one operand type for all, its constraint.
#define OP1(NAME, text, D, d_, A, a_, expected) \
  OP(NAME, D, A, None, None, asm(text : "=" d_(d) : a_(a)), expected)
#define OP2(NAME, text, D, d_, A, a_, B, b_, expected) \
  OP(NAME, D, A, B, None, asm(text : "=" d_(d) : a_(a), b_(b)), expected)
#define OP3(NAME, text, D, d_, A, a_, B, b_, C, c_, expected) \
  OP(NAME, D, A, B, C, asm(text : "=" d_(d) : a_(a), b_(b), c_(c)), expected)

float ftz(float x) { return std::fpclassify(x) == FP_SUBNORMAL ? std::copysign(0.0f, x) : x; }
// ---- integers
#define SUMS(T, B, r)                                                                \
  OP2(add_##T, "add." #T " %0, %1, %2;", T, r, T, r, T, r, T(B(a) + B(b)))           \
  OP2(sub_##T, "sub." #T " %0, %1, %2;", T, r, T, r, T, r, T(B(a) - B(b)))           \
  OP2(mul_lo_##T, "mul.lo." #T " %0, %1, %2;", T, r, T, r, T, r, T(u64(a) * u64(b))) \
  OP3(mad_lo_##T, "mad.lo." #T " %0, %1, %2, %3;", T, r, T, r, T, r, T, r,           \
      T(u64(a) * u64(b) + u64(c)))                                                   \
  OP2(min_##T, "min." #T " %0, %1, %2;", T, r, T, r, T, r, a < b ? a : b)            \
  OP2(max_##T, "max." #T " %0, %1, %2;", T, r, T, r, T, r, a < b ? b : a)
SUMS(u16, u16, "h")
SUMS(s16, u16, "h")
SUMS(u32, u32, "r")
SUMS(s32, u32, "r")
SUMS(s64, u64, "l")
OP2(mul_hi_u32, "mul.hi.u32 %0, %1, %2;", u32, "r", u32, "r", u32, "r", u32(u64(a) * b >> 32))
OP2(mul_hi_s32, "mul.hi.s32 %0, %1, %2;", s32, "r", s32, "r", s32, "r", s32(s64(a) * b >> 32))
OP2(mul_lo_u64, "mul.lo.u64 %0, %1, %2;", u64, "l", u64, "l", u64, "l", a* b)
OP2(min_u64, "min.u64 %0, %1, %2;", u64, "l", u64, "l", u64, "l", a < b ? a : b)
OP2(mul_wide_u32, "mul.wide.u32 %0, %1, %2;", u64, "l", u32, "r", u32, "r", u64(a) * b)
OP2(mul_wide_s32, "mul.wide.s32 %0, %1, %2;", s64, "l", s32, "r", s32, "r", s64(a) * b)
OP3(mad_wide_u32, "mad.wide.u32 %0, %1, %2, %3;", u64, "l", u32, "r", u32, "r", u64, "l",
    u64(a) * b + c)
OP3(mad_wide_s32, "mad.wide.s32 %0, %1, %2, %3;", s64, "l", s32, "r", s32, "r", s64, "l",
    s64(u64(s64(a) * b) + u64(c)))
OP1(abs_s16, "abs.s16 %0, %1;", s16, "h", s16, "h", s16(a < 0 ? -a : a))
OP1(abs_s32, "abs.s32 %0, %1;", s32, "r", s32, "r", s32(a < 0 ? 0u - u32(a) : u32(a)))
OP1(abs_s64, "abs.s64 %0, %1;", s64, "l", s64, "l", s64(a < 0 ? 0u - u64(a) : u64(a)))
OP1(neg_s32, "neg.s32 %0, %1;", s32, "r", s32, "r", s32(0u - u32(a)))
OP1(neg_s64, "neg.s64 %0, %1;", s64, "l", s64, "l", s64(0u - u64(a)))
// ---- bits
OP2(and_b16, "and.b16 %0, %1, %2;", u16, "h", u16, "h", u16, "h", u16(a& b))
OP2(and_b32, "and.b32 %0, %1, %2;", u32, "r", u32, "r", u32, "r", a& b)
OP2(or_b64, "or.b64 %0, %1, %2;", u64, "l", u64, "l", u64, "l", a | b)
OP2(xor_b32, "xor.b32 %0, %1, %2;", u32, "r", u32, "r", u32, "r", a ^ b)
OP1(not_b32, "not.b32 %0, %1;", u32, "r", u32, "r", ~a)
OP1(not_b64, "not.b64 %0, %1;", u64, "l", u64, "l", ~a)
OP2(shl_b16, "shl.b16 %0, %1, %2;", u16, "h", u16, "h", u32, "r", b > 15 ? u16(0) : u16(a << b))
OP2(shl_b32, "shl.b32 %0, %1, %2;", u32, "r", u32, "r", u32, "r", b > 31 ? 0 : a << b)
OP2(shl_b64, "shl.b64 %0, %1, %2;", u64, "l", u64, "l", u32, "r", b > 63 ? 0 : a << b)
OP2(shr_u32, "shr.u32 %0, %1, %2;", u32, "r", u32, "r", u32, "r", b > 31 ? 0 : a >> b)
OP2(shr_b32, "shr.b32 %0, %1, %2;", u32, "r", u32, "r", u32, "r", b > 31 ? 0 : a >> b)
OP2(shr_s32, "shr.s32 %0, %1, %2;", s32, "r", s32, "r", u32, "r", a >> (b > 31 ? 31 : b))
OP2(shr_s16, "shr.s16 %0, %1, %2;", s16, "h", s16, "h", u32, "r", s16(a >> (b > 15 ? 15 : b)))
OP2(shr_s64, "shr.s64 %0, %1, %2;", s64, "l", s64, "l", u32, "r", a >> (b > 63 ? 63 : b))
u32 table_of(u32 a, u32 b, u32 c, unsigned table) {
  u32 d = 0;
  for (int i = 0; i < 32; ++i)
    d |= (table >> ((a >> i & 1) * 4 + (b >> i & 1) * 2 + (c >> i & 1)) & 1) << i;
  return d;
}
OP3(lop3_96, "lop3.b32 %0, %1, %2, %3, 0x96;", u32, "r", u32, "r", u32, "r", u32, "r", a ^ b ^ c)
OP3(lop3_ea, "lop3.b32 %0, %1, %2, %3, 0xEA;", u32, "r", u32, "r", u32, "r", u32, "r", (a & b) | c)
OP(lop3_1b, u32, u32, u32, u32,
   asm("lop3.b32 %0, %1, %2, %3, %4;"
       : "=r"(d)
       : "r"(a), "r"(b), "r"(c), "n"(0x1b)),
   table_of(a, b, c, 0x1b))
u32 permute(u32 a, u32 b, u32 selectors) {
  const u64 both = u64(b) << 32 | a;
  u32 d = 0;
  for (int i = 0; i < 4; ++i) {
    const u32 s = selectors >> (4 * i) & 15;
    const u32 byte = u32(both >> (8 * (s & 7))) & 255;
    d |= (s & 8 ? (byte & 128 ? 255u : 0u) : byte) << (8 * i);
  }
  return d;
}
OP3(prmt_b32, "prmt.b32 %0, %1, %2, %3;", u32, "r", u32, "r", u32, "r", u32, "r", permute(a, b, c))
OP1(popc_b32, "popc.b32 %0, %1;", u32, "r", u32, "r", u32(std::popcount(a)))
OP1(popc_b64, "popc.b64 %0, %1;", u32, "r", u64, "l", u32(std::popcount(a)))
OP1(clz_b32, "clz.b32 %0, %1;", u32, "r", u32, "r", u32(std::countl_zero(a)))
OP1(clz_b64, "clz.b64 %0, %1;", u32, "r", u64, "l", u32(std::countl_zero(a)))
template <class T>
T reversed(T a) {
  T d = 0;
  for (unsigned i = 0; i < sizeof(T) * 8; ++i) d = T(d << 1 | (a >> i & 1));
  return d;
}
OP1(brev_b32, "brev.b32 %0, %1;", u32, "r", u32, "r", reversed(a))
OP1(brev_b64, "brev.b64 %0, %1;", u64, "l", u64, "l", reversed(a))

// ---- moves, predicates
OP1(mov_b32_of_float, "mov.b32 %0, %1;", u32, "r", float, "f", std::bit_cast<u32>(a))
OP1(mov_f32, "mov.f32 %0, %1;", float, "f", float, "f", a)
OP1(mov_b64_of_double, "mov.b64 %0, %1;", u64, "l", double, "d", std::bit_cast<u64>(a))
OP2(mov_pack, "mov.b64 %0, {%1, %2};", u64, "l", u32, "r", u32, "r", u64(b) << 32 | a)
OP(mov_unpack, u32, u64, None, None,
   asm("{ .reg .b32 h; mov.b64 {%0, h}, %1; xor.b32 %0, %0, h; }"
       : "=r"(d)
       : "l"(a)),
   u32(a) ^ u32(a >> 32))
OP(mov_halves, u32, u32, None, None,
   asm("{ .reg .b16 %%l, %%h; mov.b32 {%%l, %%h}, %1; mov.b32 %0, {%%h, %%l}; }"
       : "=r"(d)
       : "r"(a)),
   a << 16 | a >> 16)
OP(mov_bits_of_literals, u32, None, None, None,
   asm("{ .reg .f32 x; mov.f32 x, 0fC0490FDB; mov.b32 %0, x; }"
       : "=r"(d)),
   0xc0490fdb)
OP(mov_decimal, float, None, None, None, asm("mov.f32 %0, 0.1;" : "=f"(d)), 0.1f)
OP(mov_double, double, None, None, None, asm("mov.f64 %0, 0d3FF8000000000000;" : "=d"(d)), 1.5)
OP(mov_n, u32, None, None, None, asm("mov.u32 %0, %1;" : "=r"(d) : "n"(3 << 4 | 1)), 49)
OP(mov_literals, u32, None, None, None,
   asm("{ add.u32 %0, 0x10, 010; add.u32 %0, %0, 0b11; add.u32 %0, %0, -2; }"
       : "=r"(d)),
   16 + 8 + 3 - 2)
OP(in_out, u32, u32, None, None, d = 7; asm("add.u32 %0, %0, %1;" : "+r"(d) : "r"(a)), a + 7)
#define COMPARE(NAME, op, T, r, expected)                                 \
  OP(NAME, u32, T, T, None,                                               \
     asm("{ .reg .pred p; setp." op " p, %1, %2; selp.u32 %0, 1, 0, p; }" \
         : "=r"(d)                                                        \
         : r(a), r(b)),                                                   \
     expected)
COMPARE(setp_eq, "eq.b32", u32, "r", a == b)
COMPARE(setp_ne, "ne.s64", s64, "l", a != b)
COMPARE(setp_lt_s, "lt.s32", s32, "r", a < b)
COMPARE(setp_lt_u, "lt.u32", u32, "r", a < b)
COMPARE(setp_le, "le.s16", s16, "h", a <= b)
COMPARE(setp_gt, "gt.u64", u64, "l", a > b)
COMPARE(setp_ge, "ge.s32", s32, "r", a >= b)
COMPARE(setp_feq, "eq.f32", float, "f", a == b)
COMPARE(setp_fne, "ne.f32", float, "f", a == a && b == b && a != b)
COMPARE(setp_flt, "lt.f32", float, "f", a < b)
COMPARE(setp_fltz, "lt.ftz.f32", float, "f", ftz(a) < ftz(b))
COMPARE(setp_fle, "le.f64", double, "d", a <= b)
COMPARE(setp_fgt, "gt.f32", float, "f", a > b)
COMPARE(setp_fge, "ge.f64", double, "d", a >= b)
OP(predicates, u32, u32, u32, None,
   asm("{ .reg .pred p<4>; setp.lt.s32 p0, %1, 0; setp.lt.s32 p1, %2, 0; and.pred p2, p0, p1; "
       "xor.pred p3, p0, p1;\n\t"
       "not.pred p2, p2; or.pred p0, p2, p3; mov.pred p1, p0; selp.b32 %0, %1, %2, p1; }"
       : "=r"(d)
       : "r"(a), "r"(b)),
   s32(a) < 0 && s32(b) < 0 ? b : a)
OP(branches, u32, u32, None, None,
   asm("{\n\t.reg .pred p; .reg .u32 i;\n\t and.b32 i, %1, 15;\n\t mov.u32 %0, 0;\n"
       "again:\n\t setp.eq.u32 p, i, 0;\n\t @p bra done; // the end\n\t add.u32 %0, %0, i;\n\t "
       "sub.u32 i, i, 1; /* down */\n\t"
       "bra.uni again;\n done:\n\t}"
       : "=r"(d)
       : "r"(a)),
   (a & 15) * ((a & 15) + 1) / 2)
OP(nested, u32, u32, None, None,
   asm("{ .reg .u32 t; add.u32 t, %1, 1; { .reg .u32 t; mov.u32 t, 5; add.u32 %0, t, %1; } add.u32 "
       "%0, %0, t; }"
       : "=r"(d)
       : "r"(a)),
   2 * a + 6)

// ---- floating-point numbers
#define FLOATS(T, t, r)                                                                           \
  OP2(add_##t, "add." #t " %0, %1, %2;", T, r, T, r, T, r, a + b)                                 \
  OP2(sub_##t, "sub.rn." #t " %0, %1, %2;", T, r, T, r, T, r, a - b)                              \
  OP2(mul_##t, "mul." #t " %0, %1, %2;", T, r, T, r, T, r, a* b)                                  \
  OP3(fma_##t, "fma.rn." #t " %0, %1, %2, %3;", T, r, T, r, T, r, T, r, std::fma(a, b, c))        \
  OP3(mad_##t, "mad.rn." #t " %0, %1, %2, %3;", T, r, T, r, T, r, T, r, std::fma(a, b, c))        \
  OP2(min_##t, "min." #t " %0, %1, %2;", T, r, T, r, T, r,                                        \
      a != a   ? b                                                                                \
      : b != b ? a                                                                                \
      : a == b ? (std::signbit(a) ? a : b)                                                        \
      : a < b  ? a                                                                                \
               : b)                                                                                \
  OP2(max_##t, "max." #t " %0, %1, %2;", T, r, T, r, T, r,                                        \
      a != a   ? b                                                                                \
      : b != b ? a                                                                                \
      : a == b ? (std::signbit(a) ? b : a)                                                        \
      : a < b  ? b                                                                                \
               : a)                                                                                \
  OP1(abs_##t, "abs." #t " %0, %1;", T, r, T, r, std::fabs(a))                                    \
  OP1(neg_##t, "neg." #t " %0, %1;", T, r, T, r, -a)                                              \
  OP1(rcp_rn_##t, "rcp.rn." #t " %0, %1;", T, r, T, r, T(1) / a)                                  \
  OP1(sqrt_rn_##t, "sqrt.rn." #t " %0, %1;", T, r, T, r, std::sqrt(a))                            \
  OP3(selp_##t, "{ .reg .pred p; setp.gt.s32 p, %3, 0; selp." #t " %0, %1, %2, p; }", T, r, T, r, \
      T, r, s32, "r", c > 0 ? a : b)
FLOATS(float, f32, "f")
FLOATS(double, f64, "d")
OP2(add_ftz, "add.ftz.f32 %0, %1, %2;", float, "f", float, "f", float, "f", ftz(ftz(a) + ftz(b)))
OP2(mul_ftz, "mul.rn.ftz.f32 %0, %1, %2;", float, "f", float, "f", float, "f", ftz(ftz(a) * ftz(b)))
// Approximations: near is good enough.
#define NEAR(NAME, op, expression) OP1(NAME, op " %0, %1;", float, "f", float, "f", (expression))
NEAR(rcp_approx, "rcp.approx.ftz.f32", ftz(1 / ftz(a)))
NEAR(sqrt_approx, "sqrt.approx.f32", std::sqrt(a))
NEAR(rsqrt_approx, "rsqrt.approx.f32", 1 / std::sqrt(a))
// Beyond pi they are less exact.
#define NEAR_PI(NAME, op, function)                                                                \
  OP1(NAME,                                                                                        \
      "{ .reg .f32 t; .reg .pred p; abs.f32 t, %1; setp.le.f32 p, t, 0f40490FDB; selp.f32 t, %1, " \
      "0f00000000, p; " op " %0, t; }",                                                            \
      float, "f", float, "f", function(std::fabs(a) <= 3.14159274f ? ftz(a) : 0.0f))
NEAR_PI(sin_approx, "sin.approx.ftz.f32", std::sin)
NEAR_PI(cos_approx, "cos.approx.ftz.f32", std::cos)
NEAR(ex2_approx, "ex2.approx.ftz.f32", ftz(std::exp2(ftz(a))))
NEAR(lg2_approx, "lg2.approx.f32", std::log2(a))
NEAR(tanh_approx, "tanh.approx.f32", std::tanh(a))

// ---- conversions
OP1(cvt_u32_u16, "cvt.u32.u16 %0, %1;", u32, "r", u16, "h", a)
OP1(cvt_s32_s16, "cvt.s32.s16 %0, %1;", s32, "r", s16, "h", a)
OP1(cvt_s64_s32, "cvt.s64.s32 %0, %1;", s64, "l", s32, "r", a)
OP1(cvt_u64_s32, "cvt.u64.s32 %0, %1;", u64, "l", s32, "r", u64(s64(a)))
OP1(cvt_u32_u64, "cvt.u32.u64 %0, %1;", u32, "r", u64, "l", u32(a))
OP1(cvt_s8, "cvt.s32.s8 %0, %1;", s32, "r", s32, "r", static_cast<std::int8_t>(a))
OP1(cvt_u8, "cvt.u8.u32 %0, %1;", u32, "r", u32, "r", a & 255)
OP1(cvt_to_s8, "cvt.s8.s32 %0, %1;", s32, "r", s32, "r", static_cast<std::int8_t>(a))
OP2(cvt_pair, "cvt.rn.f16x2.f32 %0, %1, %2;", u32, "r", float, "f", float, "f",
    u32(checks::half_bits(a)) << 16 | checks::half_bits(b))

int main() { return checks::run_all(); }
