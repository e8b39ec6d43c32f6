// Moves, bits, shifts, comparisons.
#include <map>
#include <string>
#include <string_view>

#include "ptx/instruction.h"

namespace simtcc::ptx {
namespace {

std::string mov(Instruction& in) {
  const Type type = in.type("pred b16 b32 b64 u16 u32 u64 s16 s32 s64 f32 f64");
  in.end(2);
  const bool packs = in.operand(1).kind == Operand::Kind::vector;
  const bool unpacks = in.operand(0).kind == Operand::Kind::vector;
  if (!packs && !unpacks) return call("mov", {cpp(type)}, {in.out(0, type), in.in(1, type)});
  if (type.kind != 'b') in.fail("takes {...} with .b32 and .b64 only");
  if (packs && unpacks) in.fail("takes {...} on one side");
  const std::size_t count = in.operand(packs ? 1 : 0).parts.size();
  const int bits = type.bits / static_cast<int>(count);
  if ((count != 2 && count != 4) || bits < 8 || (type.bits == 16 && count == 4))
    in.fail("takes {...} with 2 or 4 elements");
  const Type part{'b', bits};
  std::string list;
  for (const Operand* element : in.elements(in.operand(packs ? 1 : 0), count))
    list += (list.empty() ? "" : ", ") +
            (packs ? in.source(*element, part) : in.target(*element, part));
  return packs ? call("pack", {cpp(part)}, {in.out(0, type), list})
               : call("unpack", {cpp(part)}, {in.in(1, type), list});
}

// and, or, xor
std::string logic(Instruction& in) {
  const Type type = in.type("pred b16 b32 b64");
  in.end(3);
  return call("bit_" + std::string(in.name()), {cpp(type)},
              {in.out(0, type), in.in(1, type), in.in(2, type)});
}

std::string bit_not(Instruction& in) {
  const Type type = in.type("pred b16 b32 b64");
  in.end(2);
  return call("bit_not", {cpp(type)}, {in.out(0, type), in.in(1, type)});
}

std::string shift(Instruction& in) {
  const Type type =
      in.type(in.name() == "shl" ? "b16 b32 b64" : "b16 b32 b64 u16 u32 u64 s16 s32 s64");
  in.end(3);
  return call(in.name(), {cpp(type)}, {in.out(0, type), in.in(1, type), in.in(2, kU32)});
}

std::string lop3(Instruction& in) {
  if (in.has("and") || in.has("or")) in.fail_unsupported();
  in.type("b32");
  in.end(5);
  return call("lop3", {in.constant(4)},
              {in.out(0, kB32), in.in(1, kB32), in.in(2, kB32), in.in(3, kB32)});
}

std::string prmt(Instruction& in) {
  in.type("b32");
  if (in.has("f4e") || in.has("b4e") || in.has("rc8") || in.has("ecl") || in.has("ecr") ||
      in.has("rc16"))
    in.fail_unsupported();
  in.end(4);
  return call("prmt", {}, {in.out(0, kB32), in.in(1, kB32), in.in(2, kB32), in.in(3, kU32)});
}

// popc, clz
std::string count(Instruction& in) {
  const Type type = in.type("b32 b64");
  in.end(2);
  return call(in.name(), {cpp(type)}, {in.out(0, kU32), in.in(1, type)});
}

std::string brev(Instruction& in) {
  const Type type = in.type("b32 b64");
  in.end(2);
  return call("brev", {cpp(type)}, {in.out(0, type), in.in(1, type)});
}

std::string selp(Instruction& in) {
  const Type type = in.type("b16 b32 b64 u16 u32 u64 s16 s32 s64 f32 f64");
  in.end(4);
  return call("selp", {cpp(type)},
              {in.out(0, type), in.in(1, type), in.in(2, type), in.in(3, kPredicate)});
}

std::string setp(Instruction& in) {
  const std::string compare(in.take_one({"eq", "ne", "lt", "le", "gt", "ge"}));
  const bool flushes = !compare.empty() && in.take("ftz");
  for (const std::string_view other : {"and", "or", "xor", "f16", "f16x2", "bf16", "bf16x2"}) {
    if (compare.empty() || in.has(other)) in.fail_unsupported();
  }
  const Type type = in.type("b16 b32 b64 u16 u32 u64 s16 s32 s64 f32 f64");
  if (type.kind == 'b' && compare != "eq" && compare != "ne")
    in.fail("cannot compare by ." + compare + " with this type");
  if (flushes && type != Type{'f', 32}) in.fail("takes .ftz with .f32 only");
  in.end(3);
  const Operand& target = in.operand(0);
  const bool both = target.kind == Operand::Kind::pair;
  const std::string first = in.target(both ? target.parts[0] : target, kPredicate);
  const std::string second = both ? in.target(target.parts[1], kPredicate) : "::simt::ptx::Sink{}";
  return call("setp", {cpp(type), "::simt::ptx::Compare::" + compare, flushes ? "true" : "false"},
              {first, second, in.in(1, type), in.in(2, type)});
}

}  // namespace

std::string translate_bits(Instruction& instruction) {
  using Function = std::string (*)(Instruction&);
  static const std::map<std::string_view, Function> functions = {
      {"mov", mov},   {"and", logic}, {"or", logic},  {"xor", logic}, {"not", bit_not},
      {"shl", shift}, {"shr", shift}, {"lop3", lop3}, {"prmt", prmt}, {"popc", count},
      {"clz", count}, {"brev", brev}, {"selp", selp}, {"setp", setp}};
  const auto found = functions.find(instruction.name());
  return found == functions.end() ? std::string() : found->second(instruction);
}

}  // namespace simtcc::ptx
