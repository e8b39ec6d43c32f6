// add, mul, fma, div, cvt and their like, of integers and of floating-point numbers.
#include <map>
#include <string>
#include <string_view>

#include "ptx_instruction.h"

namespace simtcc::ptx {
namespace {

constexpr std::string_view kIntegers = "u16 u32 u64 s16 s32 s64";
constexpr std::string_view kNumbers = "u16 u32 u64 s16 s32 s64 f32 f64";

std::string flag(bool on) { return on ? "true" : "false"; }

// "::simt::ptx::Round::rn"; the default is the nearest.
std::string round(std::string_view modifier) {
  return "::simt::ptx::Round::" + std::string(modifier.empty() ? "rn" : modifier);
}

// What floating-point instructions can have in front of their type: .rn, .ftz, .sat.
struct FloatModifiers {
  std::string rounding;
  bool flushes;
  bool saturates;
};

FloatModifiers float_modifiers(Instruction& in, bool must_round, bool can_saturate) {
  FloatModifiers result;
  const auto modes = {std::string_view("rn"), std::string_view("rz"), std::string_view("rm"),
                      std::string_view("rp")};
  result.rounding =
      round(must_round ? in.need_one(modes, "a rounding modifier") : in.take_one(modes));
  result.flushes = in.take("ftz");
  result.saturates = can_saturate && in.take("sat");
  return result;
}

// D = F(A, B, ...), all of one type. FUNCTION is a template of the type and of what else is given.
std::string plain(Instruction& in, std::string_view function, Type type, std::size_t sources,
                  std::string more = {}) {
  in.end(sources + 1);
  const auto source = [&](std::size_t i) { return i <= sources ? in.in(i, type) : std::string(); };
  return call(function, {cpp(type), std::move(more)},
              {in.out(0, type), source(1), source(2), source(3)});
}

std::string float_plain(Instruction& in, std::string_view function, const FloatModifiers& modifiers,
                        std::size_t sources) {
  const Type type = in.type("f32 f64");
  if (type.bits == 64 && (modifiers.flushes || modifiers.saturates))
    in.fail("takes no .ftz and no .sat with .f64");
  return plain(
      in, function, type, sources,
      modifiers.rounding + ", " + flag(modifiers.flushes) + ", " + flag(modifiers.saturates));
}

// Do the modifiers end in a type of floating-point numbers?
bool of_floats(const Instruction& in) { return in.has("f32") || in.has("f64"); }

void refuse_halves(const Instruction& in) {
  for (const std::string_view type :
       {"f16", "f16x2", "bf16", "bf16x2", "f32x2", "u16x2", "s16x2"}) {
    if (in.has(type)) in.fail_unsupported();
  }
}

// add{.cc}, addc{.cc}, sub, subc: with the carry of the one before.
std::string carrying(Instruction& in, std::string_view function, bool takes) {
  const bool gives = in.take("cc");
  const Type type = in.type("u32 u64 s32 s64");
  in.end(3);
  return call(function, {cpp({'u', type.bits})},
              {in.out(0, type), in.in(1, type), in.in(2, type), takes ? "cc" : "false",
               gives ? "cc" : "::simt::ptx::Sink{}"});
}

std::string add_or_sub(Instruction& in) {
  const std::string function(in.name());
  refuse_halves(in);
  if (in.has("cc")) return carrying(in, function + "_carry", false);
  if (of_floats(in)) return float_plain(in, function, float_modifiers(in, false, true), 2);
  const bool saturates = in.take("sat");
  return plain(in, saturates ? function + "_sat" : function, in.type(saturates ? "s32" : kIntegers),
               2);
}

std::string mul(Instruction& in) {
  refuse_halves(in);
  if (of_floats(in)) return float_plain(in, "mul", float_modifiers(in, false, true), 2);
  const std::string_view part = in.need_one({"lo", "hi", "wide"}, "one of");
  const Type type = in.type(part == "wide" ? "u16 u32 s16 s32" : kIntegers);
  if (part != "wide") return plain(in, "mul_" + std::string(part), type, 2);
  in.end(3);
  return call("mul_wide", {cpp(type)},
              {in.out(0, {type.kind, type.bits * 2}), in.in(1, type), in.in(2, type)});
}

std::string mul24(Instruction& in) {
  const std::string_view part = in.need_one({"lo", "hi"}, "one of");
  return plain(in, "mul24_" + std::string(part), in.type("u32 s32"), 2);
}

std::string mad(Instruction& in) {
  refuse_halves(in);
  if (of_floats(in)) return float_plain(in, "fma", float_modifiers(in, true, true), 3);
  const std::string_view part = in.need_one({"lo", "hi", "wide"}, "one of");
  if (in.take("cc")) {
    if (part == "wide") in.fail("gives no carry");
    const Type type = in.type("u32 u64 s32 s64");
    in.end(4);
    return call("mad_carry", {cpp(type), flag(part == "hi")},
                {in.out(0, type), in.in(1, type), in.in(2, type), in.in(3, type), "false", "cc"});
  }
  const bool saturates = part == "hi" && in.take("sat");
  const Type type = in.type(saturates ? "s32" : part == "wide" ? "u16 u32 s16 s32" : kIntegers);
  if (part != "wide")
    return plain(in, "mad_" + std::string(part) + (saturates ? "_sat" : ""), type, 3);
  in.end(4);
  const Type wide{type.kind, type.bits * 2};
  return call("mad_wide", {cpp(type)},
              {in.out(0, wide), in.in(1, type), in.in(2, type), in.in(3, wide)});
}

std::string madc(Instruction& in) {
  const std::string_view part = in.need_one({"lo", "hi"}, "one of");
  const bool gives = in.take("cc");
  const Type type = in.type("u32 u64 s32 s64");
  in.end(4);
  return call("mad_carry", {cpp(type), flag(part == "hi")},
              {in.out(0, type), in.in(1, type), in.in(2, type), in.in(3, type), "cc",
               gives ? "cc" : "::simt::ptx::Sink{}"});
}

std::string fma(Instruction& in) {
  refuse_halves(in);
  return float_plain(in, "fma", float_modifiers(in, true, true), 3);
}

std::string div(Instruction& in) {
  if (!of_floats(in)) return plain(in, "div", in.type(kIntegers), 2);
  FloatModifiers modifiers{round({}), false, false};
  if (!in.take_one({"approx", "full"}).empty()) {
    modifiers.flushes = in.take("ftz");
    if (in.has("f64")) in.fail("is there for .f32 only");
  } else {
    modifiers = float_modifiers(in, true, false);
  }
  return float_plain(in, "div", modifiers, 2);
}

std::string rem(Instruction& in) { return plain(in, "rem", in.type(kIntegers), 2); }

std::string min_or_max(Instruction& in) {
  const std::string function(in.name());
  refuse_halves(in);
  if (!of_floats(in)) {
    return plain(in, function, in.type(kIntegers), 2);
  }
  const bool flushes = in.take("ftz");
  const bool keeps_nan = in.take("NaN");
  const Type type = in.type("f32 f64");
  if (type.bits == 64 && (flushes || keeps_nan)) in.fail("takes no .ftz and no .NaN with .f64");
  return plain(in, function, type, 2, flag(flushes) + ", " + flag(keeps_nan));
}

std::string abs_or_neg(Instruction& in) {
  refuse_halves(in);
  const bool flushes = in.take("ftz");
  const Type type = in.type("s16 s32 s64 f32 f64");
  if (flushes && type.bits != 32) in.fail("takes no .ftz with this type");
  return plain(in, in.name(), type, 1, flushes ? "true" : "");
}

std::string sad(Instruction& in) { return plain(in, "sad", in.type(kIntegers), 3); }

// rcp, sqrt: rounded or approximate, which is as exact here.
std::string rcp_or_sqrt(Instruction& in) {
  if (!in.take("approx")) return float_plain(in, in.name(), float_modifiers(in, true, false), 1);
  const bool flushes = in.take("ftz");
  if (in.has("f64")) in.fail_unsupported();
  return float_plain(in, in.name(), {round({}), flushes, false}, 1);
}

std::string approximate(Instruction& in) {
  static const std::map<std::string_view, std::string_view> functions = {
      {"rsqrt", "rsqrt"}, {"sin", "sine"}, {"cos", "cosine"},
      {"ex2", "exp2"},    {"lg2", "log2"}, {"tanh", "tanh"}};
  in.need_one({"approx"}, "a modifier");
  refuse_halves(in);
  const bool flushes = in.name() != "tanh" && in.take("ftz");
  if (in.name() != "rsqrt" && in.has("f64")) in.fail_unsupported();
  return float_plain(in, functions.at(in.name()), {round({}), flushes, false}, 1);
}

std::string copysign(Instruction& in) { return plain(in, "copysign", in.type("f32 f64"), 2); }

// cvt.rn.f16x2.f32 d, high, low: two numbers in one register.
std::string pack_halves(Instruction& in, std::string_view rounding, bool relu) {
  const bool saturates = in.take_one({"satfinite"}) != "";
  const Type to = in.type("f16x2 bf16x2");
  in.type("f32");
  if (relu || saturates) in.fail_unsupported();
  if (rounding != "rn" && rounding != "rz") in.fail("needs a rounding modifier: .rn, .rz");
  in.end(3);
  const Type f32{'f', 32};
  return call("convert_pair", {to.kind == 'h' ? "10" : "7", round(rounding)},
              {in.out(0, {'b', 32}), in.in(1, f32), in.in(2, f32)});
}

std::string cvt(Instruction& in) {
  static constexpr std::string_view kTypes = "u8 u16 u32 u64 s8 s16 s32 s64 f16 bf16 f32 f64";
  if (in.has("tf32") && in.take("rna") && in.take("tf32") && in.take("f32")) {
    in.end(2);
    return call("to_tf32", {}, {in.out(0, kB32, true), in.in(1, {'f', 32})});
  }
  if (in.has("pack") || in.has("tf32") || in.has("e4m3x2") || in.has("e5m2x2") || in.has("rna") ||
      in.has("rs"))
    in.fail_unsupported();
  const std::string_view integral = in.take_one({"rni", "rzi", "rmi", "rpi"});
  const std::string_view rounding =
      integral.empty() ? in.take_one({"rn", "rz", "rm", "rp"}) : integral.substr(0, 2);
  if (in.has("f16x2") || in.has("bf16x2")) return pack_halves(in, rounding, in.take("relu"));
  if (in.has("relu") || in.has("satfinite")) in.fail_unsupported();
  const bool flushes = in.take("ftz");
  const bool saturates = in.take("sat");
  const Type to = in.type(kTypes);
  const Type from = in.type(kTypes);
  in.end(2);

  const auto real = [](Type type) { return type.kind == 'f' || type.kind == 'e'; };
  const bool narrows = real(to) && (!real(from) || to.bits < from.bits);
  if (real(from) && !real(to) && integral.empty())
    in.fail("needs a rounding modifier: .rni, .rzi, .rmi, .rpi");
  if (narrows && (rounding.empty() || !integral.empty()))
    in.fail("needs a rounding modifier: .rn, .rz, .rm, .rp");
  if (!real(from) && !real(to) && !rounding.empty()) in.fail("takes no rounding modifier");
  if (real(to) && real(from) && to.bits > from.bits && !rounding.empty())
    in.fail("takes no rounding modifier");
  if (to == from && real(to) && !rounding.empty() && integral.empty())
    in.fail("takes .rni, .rzi, .rmi or .rpi");
  if ((to.kind == 'e' || from.kind == 'e') &&
      (!real(from) || !real(to) || to.bits + from.bits != 48))
    in.fail_unsupported();
  // Numbers of 16 bits are in registers of bits.
  const auto in_register = [](Type type) {
    return type.bits == 16 && (type.kind == 'f' || type.kind == 'e') ? Type{'b', 16} : type;
  };
  const auto spelled = [](Type type) {
    if (type.kind == 'e') return std::string("::simt::ptx::bf16");
    return cpp(type);
  };
  return call("convert",
              {spelled(to), spelled(from), round(rounding), flag(!integral.empty()), flag(flushes),
               flag(saturates)},
              {in.out(0, in_register(to), true), in.in(1, in_register(from), true)});
}

std::string dp4a(Instruction& in) {
  const Type a = in.type("u32 s32"), b = in.type("u32 s32");
  in.end(4);
  const Type c{a.kind == 's' || b.kind == 's' ? 's' : 'u', 32};
  return call("dot4", {cpp(a), cpp(b)}, {in.out(0, c), in.in(1, a), in.in(2, b), in.in(3, c)});
}

}  // namespace

std::string translate_arithmetic(Instruction& instruction) {
  using Function = std::string (*)(Instruction&);
  static const std::map<std::string_view, Function> functions = {
      {"add", add_or_sub},
      {"sub", add_or_sub},
      {"addc", [](Instruction& in) { return carrying(in, "add_carry", true); }},
      {"subc", [](Instruction& in) { return carrying(in, "sub_carry", true); }},
      {"mul", mul},
      {"mul24", mul24},
      {"mad", mad},
      {"madc", madc},
      {"fma", fma},
      {"div", div},
      {"rem", rem},
      {"min", min_or_max},
      {"max", min_or_max},
      {"abs", abs_or_neg},
      {"neg", abs_or_neg},
      {"sad", sad},
      {"rcp", rcp_or_sqrt},
      {"sqrt", rcp_or_sqrt},
      {"rsqrt", approximate},
      {"sin", approximate},
      {"cos", approximate},
      {"ex2", approximate},
      {"lg2", approximate},
      {"tanh", approximate},
      {"copysign", copysign},
      {"cvt", cvt},
      {"dp4a", dp4a},
  };
  const auto found = functions.find(instruction.name());
  return found == functions.end() ? std::string() : found->second(instruction);
}

}  // namespace simtcc::ptx
