// add, mul, fma, cvt and their like, of integers and of floating-point numbers.
#include <map>
#include <string>
#include <string_view>

#include "ptx/instruction.h"

namespace simtcc::ptx {
namespace {

constexpr std::string_view kIntegers = "u16 u32 u64 s16 s32 s64";

// D = F(A, B, ...), all of one type. FUNCTION is a template of the type and of what else is given.
std::string plain(Instruction& in, std::string_view function, Type type, std::size_t sources,
                  std::string more = {}) {
  in.end(sources + 1);
  const auto source = [&](std::size_t i) { return i <= sources ? in.in(i, type) : std::string(); };
  return call(function, {cpp(type), std::move(more)},
              {in.out(0, type), source(1), source(2), source(3)});
}

// Do the modifiers end in a type of floating-point numbers?
bool of_floats(const Instruction& in) { return in.has("f32") || in.has("f64"); }

// What is there for numbers of 32 and 64 bits alone, rounded to the nearest.
void refuse_others(const Instruction& in) {
  for (const std::string_view other : {"f16", "f16x2", "bf16", "bf16x2", "f32x2", "u16x2", "s16x2",
                                       "cc", "sat", "rz", "rm", "rp", "NaN"}) {
    if (in.has(other)) in.fail_unsupported();
  }
}

// With .rn in front of the type where it must be, or may.
enum class Rounded { must, may, not_at_all };
std::string of_reals(Instruction& in, std::string_view function, Rounded rounded,
                     std::size_t sources) {
  if (rounded == Rounded::must) in.need_one({"rn"}, "a rounding modifier");
  if (rounded == Rounded::may) in.take("rn");
  const bool flushes = in.take("ftz");
  const Type type = in.type("f32 f64");
  if (type.bits == 64 && flushes) in.fail("takes no .ftz with .f64");
  return plain(in, function, type, sources, flushes ? "true" : "");
}

std::string add_or_sub(Instruction& in) {
  refuse_others(in);
  return of_floats(in) ? of_reals(in, in.name(), Rounded::may, 2)
                       : plain(in, in.name(), in.type(kIntegers), 2);
}

std::string mul(Instruction& in) {
  refuse_others(in);
  if (of_floats(in)) return of_reals(in, "mul", Rounded::may, 2);
  const std::string_view part = in.need_one({"lo", "hi", "wide"}, "one of");
  if (part == "lo") return plain(in, "mul_lo", in.type(kIntegers), 2);
  const Type type = in.type("u32 s32");
  if (part == "hi") return plain(in, "mul_hi", type, 2);
  in.end(3);
  return call("mul_wide", {cpp(type)},
              {in.out(0, {type.kind, type.bits * 2}), in.in(1, type), in.in(2, type)});
}

std::string mad(Instruction& in) {
  refuse_others(in);
  if (of_floats(in)) return of_reals(in, "fma", Rounded::must, 3);
  if (in.has("hi")) in.fail_unsupported();
  const std::string_view part = in.need_one({"lo", "wide"}, "one of");
  if (part == "lo") return plain(in, "mad_lo", in.type(kIntegers), 3);
  const Type type = in.type("u32 s32");
  in.end(4);
  const Type wide{type.kind, type.bits * 2};
  return call("mad_wide", {cpp(type)},
              {in.out(0, wide), in.in(1, type), in.in(2, type), in.in(3, wide)});
}

std::string fma(Instruction& in) {
  refuse_others(in);
  return of_reals(in, "fma", Rounded::must, 3);
}

std::string min_or_max(Instruction& in) {
  refuse_others(in);
  return of_floats(in) ? of_reals(in, in.name(), Rounded::not_at_all, 2)
                       : plain(in, in.name(), in.type(kIntegers), 2);
}

std::string abs_or_neg(Instruction& in) {
  refuse_others(in);
  return of_floats(in) ? of_reals(in, in.name(), Rounded::not_at_all, 1)
                       : plain(in, in.name(), in.type("s16 s32 s64"), 1);
}

// rcp, sqrt: rounded or approximate, which is as exact here.
std::string rcp_or_sqrt(Instruction& in) {
  refuse_others(in);
  if (!in.take("approx")) return of_reals(in, in.name(), Rounded::must, 1);
  if (in.has("f64")) in.fail_unsupported();
  return of_reals(in, in.name(), Rounded::not_at_all, 1);
}

std::string approximate(Instruction& in) {
  static const std::map<std::string_view, std::string_view> functions = {
      {"rsqrt", "rsqrt"}, {"sin", "sine"}, {"cos", "cosine"},
      {"ex2", "exp2"},    {"lg2", "log2"}, {"tanh", "tanh"}};
  in.need_one({"approx"}, "a modifier");
  refuse_others(in);
  if (in.name() != "rsqrt" && in.has("f64")) in.fail_unsupported();
  return of_reals(in, functions.at(in.name()), Rounded::not_at_all, 1);
}

// Among integers; to TF32; and cvt.rn.f16x2.f32 d, high, low: two numbers in one register.
std::string cvt(Instruction& in) {
  if (in.has("tf32") && in.take("rna") && in.take("tf32") && in.take("f32")) {
    in.end(2);
    return call("to_tf32", {}, {in.out(0, kB32, true), in.in(1, {'f', 32})});
  }
  if ((in.has("f16x2") || in.has("bf16x2")) && in.take("rn")) {
    if (in.has("relu") || in.has("satfinite")) in.fail_unsupported();
    const Type to = in.type("f16x2 bf16x2");
    in.type("f32");
    in.end(3);
    const Type f32{'f', 32};
    return call("convert_pair", {to.kind == 'h' ? "10" : "7"},
                {in.out(0, {'b', 32}), in.in(1, f32), in.in(2, f32)});
  }
  for (const std::string_view other : {"sat", "pack", "tf32", "f16", "bf16", "f16x2", "bf16x2",
                                       "f32", "f64", "e4m3x2", "e5m2x2"}) {
    if (in.has(other)) in.fail_unsupported();
  }
  static constexpr std::string_view kTypes = "u8 u16 u32 u64 s8 s16 s32 s64";
  const Type to = in.type(kTypes);
  const Type from = in.type(kTypes);
  in.end(2);
  return call("convert", {cpp(to), cpp(from)}, {in.out(0, to, true), in.in(1, from, true)});
}

}  // namespace

std::string translate_arithmetic(Instruction& instruction) {
  using Function = std::string (*)(Instruction&);
  static const std::map<std::string_view, Function> functions = {
      {"add", add_or_sub},   {"sub", add_or_sub},  {"mul", mul},          {"mad", mad},
      {"fma", fma},          {"min", min_or_max},  {"max", min_or_max},   {"abs", abs_or_neg},
      {"neg", abs_or_neg},   {"rcp", rcp_or_sqrt}, {"sqrt", rcp_or_sqrt}, {"rsqrt", approximate},
      {"sin", approximate},  {"cos", approximate}, {"ex2", approximate},  {"lg2", approximate},
      {"tanh", approximate}, {"cvt", cvt},
  };
  const auto found = functions.find(instruction.name());
  return found == functions.end() ? std::string() : found->second(instruction);
}

}  // namespace simtcc::ptx
