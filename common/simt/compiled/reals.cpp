// Floating-point arithmetic. It has to be right where a branch or an address depends on it.
#include <cfenv>
#include <cmath>
#include <limits>
#include <string>

#include "compiled/warp.h"

namespace simt::compiled {
namespace {

template <class T>
bool compare_reals(const Instruction& one, T a, T b) {
  const bool nan = std::isnan(a) || std::isnan(b);
  if (one.has("LT")) return a < b;
  if (one.has("LE")) return a <= b;
  if (one.has("GT")) return a > b;
  if (one.has("GE")) return a >= b;
  if (one.has("EQ")) return a == b;
  if (one.has("NE")) return !nan && a != b;
  if (one.has("LTU")) return nan || a < b;
  if (one.has("LEU")) return nan || a <= b;
  if (one.has("GTU")) return nan || a > b;
  if (one.has("GEU")) return nan || a >= b;
  if (one.has("EQU")) return nan || a == b;
  if (one.has("NEU")) return a != b;
  if (one.has("NUM")) return !nan;
  if (one.has("NAN")) return nan;
  throw NotCarriedOut{one.opcode + one.modifiers};
}

bool combine_reals(const Instruction& one, bool a, bool b) {
  return one.has("AND") ? a && b : one.has("OR") ? a || b : a != b;
}

// Rounds as the instruction says while it is there.
class Rounding {
 public:
  explicit Rounding(const Instruction& one) : before_(std::fegetround()) {
    if (one.has("RM")) std::fesetround(FE_DOWNWARD);
    if (one.has("RP")) std::fesetround(FE_UPWARD);
    if (one.has("RZ") || one.has("TRUNC")) std::fesetround(FE_TOWARDZERO);
    if (one.has("FLOOR")) std::fesetround(FE_DOWNWARD);
    if (one.has("CEIL")) std::fesetround(FE_UPWARD);
  }
  ~Rounding() { std::fesetround(before_); }
  Rounding(const Rounding&) = delete;
  Rounding& operator=(const Rounding&) = delete;

 private:
  int before_;
};

float finished(const Instruction& one, float value) {
  if (one.has("SAT")) return value > 0 ? std::fmin(value, 1.0f) : 0.0f;
  return one.has("FTZ") && std::fpclassify(value) == FP_SUBNORMAL ? std::copysign(0.0f, value)
                                                                  : value;
}

uint32_t half_of(double real) {
  const auto value = static_cast<float>(real);
  if (value == 0) return std::signbit(value) ? 0x8000 : 0;
  int exponent = 0;
  const float fraction = std::frexp(std::fabs(value), &exponent);
  const uint32_t sign = value < 0 ? 0x8000 : 0;
  if (exponent < -13)
    return sign | static_cast<uint32_t>(std::lround(std::ldexp(std::fabs(value), 24)));
  return sign | ((static_cast<uint32_t>(exponent + 14) << 10) +
                 static_cast<uint32_t>(std::lround(std::ldexp(fraction, 11)) - 1024));
}

// As far as the compiler's code for a division asks: what its short way gets wrong.
bool needs_care(float a, float b) {
  if (!std::isnormal(b) || !(std::isnormal(a) || a == 0)) return true;
  const int apart = std::ilogb(a == 0 ? 1.0f : a) - std::ilogb(b);
  return std::ilogb(b) > 125 || std::ilogb(b) < -125 || apart > 125 || apart < -125 ||
         (a != 0 && std::ilogb(a) < -102);
}

float special_function(const Instruction& one, float x) {
  constexpr double kTurn = 6.283185307179586476925;
  if (one.has("RCP")) return 1.0f / x;
  if (one.has("RSQ")) return 1.0f / std::sqrt(x);
  if (one.has("SQRT")) return std::sqrt(x);
  if (one.has("EX2")) return std::exp2(x);
  if (one.has("LG2")) return std::log2(x);
  if (one.has("SIN")) return static_cast<float>(std::sin(kTurn * double{x}));
  if (one.has("COS")) return static_cast<float>(std::cos(kTurn * double{x}));
  if (one.has("TANH")) return std::tanh(x);
  throw NotCarriedOut{one.opcode + one.modifiers};
}

template <class T>
T clamped(long double value) {
  if (std::isnan(value)) return 0;
  constexpr auto least = static_cast<long double>(std::numeric_limits<T>::min());
  constexpr auto most = static_cast<long double>(std::numeric_limits<T>::max());
  return value <= least  ? std::numeric_limits<T>::min()
         : value >= most ? std::numeric_limits<T>::max()
                         : static_cast<T>(value);
}

}  // namespace

bool Warp::reals(const Instruction& one, uint32_t lanes) {
  const auto& ops = one.operands;
  const auto each = [&](auto&& f) {
    const Rounding rounding(one);
    for_lanes(lanes, [&](unsigned lane) {
      const volatile float value = f(lane);
      set(ops[0], lane, std::bit_cast<uint32_t>(finished(one, value)));
    });
    return true;
  };
  const auto each64 = [&](auto&& f) {
    const Rounding rounding(one);
    for_lanes(lanes, [&](unsigned lane) {
      const volatile double value = f(lane);
      set64(ops[0], lane, std::bit_cast<uint64_t>(double{value}));
    });
    return true;
  };
  switch (one.code) {
    case kFadd:
      return each([&](unsigned lane) { return real(ops[1], lane) + real(ops[2], lane); });
    case kFmul: {
      const float scale = one.has("D2")   ? 0.5f
                          : one.has("D4") ? 0.25f
                          : one.has("D8") ? 0.125f
                          : one.has("M2") ? 2.0f
                          : one.has("M4") ? 4.0f
                          : one.has("M8") ? 8.0f
                                          : 1.0f;
      return each([&](unsigned lane) { return real(ops[1], lane) * scale * real(ops[2], lane); });
    }
    case kFfma:
      return each([&](unsigned lane) {
        return std::fma(real(ops[1], lane), real(ops[2], lane), real(ops[3], lane));
      });
    case kFmnmx:
      return each([&](unsigned lane) {
        const float a = real(ops[1], lane), b = real(ops[2], lane);
        return truth(ops[3], lane) ? std::fmin(a, b) : std::fmax(a, b);
      });
    case kFsel:
      return each([&](unsigned lane) { return real(ops[truth(ops[3], lane) ? 1 : 2], lane); });
    case kFsetp:
    case kDsetp:
      for_lanes(lanes, [&](unsigned lane) {
        const bool holds = one.code == kFsetp
                               ? compare_reals(one, real(ops[2], lane), real(ops[3], lane))
                               : compare_reals(one, real64(ops[2], lane), real64(ops[3], lane));
        const bool other = truth(ops[4], lane);
        set_truth(ops[0], lane, combine_reals(one, holds, other));
        set_truth(ops[1], lane, combine_reals(one, !holds, other));
      });
      return true;
    case kMufu:
      if (one.has("RCP64H") || one.has("RSQ64H")) {
        for_lanes(lanes, [&](unsigned lane) {
          const auto x = std::bit_cast<double>(uint64_t{integer(ops[1], lane)} << 32);
          const double value = one.has("RCP64H") ? 1 / x : 1 / std::sqrt(x);
          set(ops[0], lane, static_cast<uint32_t>(std::bit_cast<uint64_t>(value) >> 32));
        });
        return true;
      }
      return each([&](unsigned lane) { return special_function(one, real(ops[1], lane)); });
    case kFchk:
      for_lanes(lanes, [&](unsigned lane) {
        set_truth(ops[0], lane, needs_care(real(ops[1], lane), real(ops[2], lane)));
      });
      return true;
    case kDadd:
      return each64([&](unsigned lane) { return real64(ops[1], lane) + real64(ops[2], lane); });
    case kDmul:
      return each64([&](unsigned lane) { return real64(ops[1], lane) * real64(ops[2], lane); });
    case kDfma:
      return each64([&](unsigned lane) {
        return std::fma(real64(ops[1], lane), real64(ops[2], lane), real64(ops[3], lane));
      });
    case kHfma2Constant:
      // It makes constants; arithmetic of halves is not carried out.
      if (ops[1].index != kZeroRegister || ops[2].index != kZeroRegister ||
          ops[4].kind == Kind::none)
        throw NotCarriedOut{"arithmetic of 16 bits"};
      for_lanes(lanes, [&](unsigned lane) {
        const auto value = [&](const Operand& of) {
          return half_of(of.kind == Kind::number ? static_cast<double>(of.number) : of.real);
        };
        set(ops[0], lane, value(ops[3]) << 16 | value(ops[4]));
      });
      return true;
    case kI2f: {
      const Rounding rounding(one);
      const bool wide = one.has("U64") || one.has("S64");
      for_lanes(lanes, [&](unsigned lane) {
        int64_t from = 0;
        if (wide) {
          from = static_cast<int64_t>(integer64(ops[1], lane));
        } else {
          const uint32_t value = integer(ops[1], lane);
          from = one.has("U32")   ? int64_t{value}
                 : one.has("U16") ? int64_t{static_cast<uint16_t>(value)}
                 : one.has("S16") ? int64_t{static_cast<int16_t>(value)}
                 : one.has("U8")  ? int64_t{static_cast<uint8_t>(value)}
                 : one.has("S8")  ? int64_t{static_cast<int8_t>(value)}
                                  : int64_t{static_cast<int32_t>(value)};
        }
        const volatile int64_t as_signed = from;
        if (one.has("F64")) {
          const volatile double value = one.has("U64")
                                            ? static_cast<double>(static_cast<uint64_t>(as_signed))
                                            : static_cast<double>(as_signed);
          set64(ops[0], lane, std::bit_cast<uint64_t>(double{value}));
        } else {
          const volatile float value = one.has("U64")
                                           ? static_cast<float>(static_cast<uint64_t>(as_signed))
                                           : static_cast<float>(as_signed);
          set(ops[0], lane, std::bit_cast<uint32_t>(float{value}));
        }
      });
      return true;
    }
    case kF2i: {
      const Rounding rounding(one);
      for_lanes(lanes, [&](unsigned lane) {
        const volatile double from =
            one.has("F64") ? real64(ops[1], lane) : double{real(ops[1], lane)};
        const long double value = std::nearbyint(from);
        if (one.has("U64")) return set64(ops[0], lane, clamped<uint64_t>(value));
        if (one.has("S64"))
          return set64(ops[0], lane, static_cast<uint64_t>(clamped<int64_t>(value)));
        if (one.has("U32")) return set(ops[0], lane, clamped<uint32_t>(value));
        if (one.has("U16")) return set(ops[0], lane, clamped<uint16_t>(value));
        if (one.has("U8")) return set(ops[0], lane, clamped<uint8_t>(value));
        set(ops[0], lane, static_cast<uint32_t>(clamped<int32_t>(value)));
      });
      return true;
    }
    case kF2f:
      if (one.has("F16")) throw NotCarriedOut{"arithmetic of 16 bits"};
      if (one.modifiers.find(".F64.F32") != std::string::npos)
        return each64([&](unsigned lane) { return double{real(ops[1], lane)}; });
      return each([&](unsigned lane) { return static_cast<float>(real64(ops[1], lane)); });
    case kFrnd:
      if (one.has("F64"))
        return each64([&](unsigned lane) { return std::nearbyint(real64(ops[1], lane)); });
      return each([&](unsigned lane) { return std::nearbyint(real(ops[1], lane)); });
    default:
      return false;
  }
}

}  // namespace simt::compiled
