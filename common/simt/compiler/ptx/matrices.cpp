// The matrix instructions of a warp.
#include <map>
#include <string>
#include <string_view>

#include "ptx/instruction.h"

namespace simtcc::ptx {
namespace {

// .sync.aligned: all 32 threads, together.
void need_whole_warp(Instruction& in) {
  in.need_one({"sync"}, "the modifier");
  in.need_one({"aligned"}, "the modifier");
}

// {a, b} as C++: "a, b".
template <class Spell>
std::string list(const Instruction& in, std::size_t i, std::size_t count, Spell spell) {
  std::string text;
  for (const Operand* element : in.elements(in.operand(i), count))
    text += (text.empty() ? "" : ", ") + spell(*element);
  return text;
}
std::string targets(const Instruction& in, std::size_t i, std::size_t count, Type type) {
  return list(in, i, count, [&](const Operand& element) { return in.target(element, type); });
}
std::string sources(const Instruction& in, std::size_t i, std::size_t count, Type type) {
  return list(in, i, count, [&](const Operand& element) { return in.source(element, type); });
}

// Those of four registers for A, two for B and four for C.
std::string mma(Instruction& in) {
  need_whole_warp(in);
  const std::string_view shape = in.take_one({"m16n8k16", "m16n8k8", "m16n8k32"});
  if (shape.empty() || !in.take("row") || !in.take("col")) in.fail_unsupported();
  static const std::map<std::string_view, std::pair<std::string_view, std::string_view>> simulated =
      {{"bf16", {"m16n8k16", "f32"}},
       {"f16", {"m16n8k16", "f32"}},
       {"tf32", {"m16n8k8", "f32"}},
       {"s8", {"m16n8k32", "s32"}}};
  const std::string_view sum = in.take_one({"f32", "s32"});
  const std::string_view element = in.take_one({"bf16", "f16", "tf32", "s8"});
  const auto found = simulated.find(element);
  if (found == simulated.end() || found->second.first != shape || found->second.second != sum ||
      !in.take(element) || !in.take(sum))
    in.fail_unsupported();
  in.end(4);
  const Type type = type_named(sum);
  return call("mma", {"::simt::detail::MatrixType::" + std::string(element)},
              {targets(in, 0, 4, type), sources(in, 1, 4, kB32), sources(in, 2, 2, kB32),
               sources(in, 3, 4, type)});
}

// ldmatrix, stmatrix: one, two or four matrices of 8 rows of 16 bytes.
std::string rows(Instruction& in) {
  need_whole_warp(in);
  const bool loads = in.name() == "ldmatrix";
  if (!in.take("m8n8")) in.fail_unsupported();
  const std::string_view number = in.need_one({"x1", "x2", "x4"}, "how many matrices");
  const std::size_t count = static_cast<std::size_t>(number[1] - '0');
  const std::string transposed = in.take("trans") ? "true" : "false";
  const bool is_shared = !in.take_one({"shared", "shared::cta"}).empty();
  if (in.has("b8")) in.fail_unsupported();
  in.type("b16");
  in.end(2);
  const std::string space =
      std::string("::simt::ptx::Space::") + (is_shared ? "shared" : "generic");
  return call(in.name(), {space, transposed},
              {in.address(in.operand(loads ? 1 : 0), is_shared),
               loads ? targets(in, 0, count, kB32) : sources(in, 1, count, kB32)});
}

std::string movmatrix(Instruction& in) {
  need_whole_warp(in);
  in.need_one({"m8n8"}, "a shape");
  in.need_one({"trans"}, "the modifier");
  in.type("b16");
  in.end(2);
  return call("movmatrix", {}, {in.out(0, kB32), in.in(1, kB32)});
}

// wgmma: D of n / 2 registers, A in four of them or as a descriptor, B as a descriptor.
std::string wgmma(Instruction& in) {
  if (in.take("fence")) {
    need_whole_warp(in);
    in.end(0);
    return "::simt::detail::fence_wgmma();";
  }
  if (in.take("commit_group")) {
    need_whole_warp(in);
    in.end(0);
    return "::simt::detail::commit_wgmma();";
  }
  if (in.take("wait_group")) {
    need_whole_warp(in);
    in.end(1);
    return "::simt::detail::wait_wgmma(" + in.constant(0) + ");";
  }
  in.need_one({"mma_async"}, "what it does");
  if (in.has("sp")) in.fail_unsupported();
  need_whole_warp(in);

  unsigned n = 0;
  std::string_view depth;
  for (unsigned columns = 8; columns <= 256 && !n; columns += 8) {
    for (const std::string_view k : {"k16", "k8", "k32"}) {
      if (!in.take("m64n" + std::to_string(columns) + std::string(k))) continue;
      n = columns;
      depth = k;
    }
  }
  if (!n || !in.take("f32")) in.fail_unsupported();
  const std::string element(in.take_one({"bf16", "f16", "tf32", "e4m3"}));
  if (element.empty() || (element == "tf32") != (depth == "k8") ||
      (element == "e4m3") != (depth == "k32") || !in.take(element))
    in.fail_unsupported();
  const bool in_registers = in.operand(1).kind == Operand::Kind::vector;
  if (in_registers && element == "e4m3") in.fail_unsupported();
  const std::size_t turns = element == "tf32" || element == "e4m3" ? 0 : in_registers ? 1 : 2;
  in.end(6 + turns);
  const auto is_minus = [&](std::size_t i) { return "(" + in.constant(i) + " == -1)"; };
  const auto is_one = [&](std::size_t i) {
    return i < in.operands() ? "(" + in.constant(i) + " == 1)" : std::string("false");
  };
  std::string operands = in_registers ? sources(in, 1, 4, kB32) : in.in(1, {'b', 64});
  operands += ", " + in.in(2, {'b', 64}) + ", " + is_minus(4) + ", " + is_minus(5);
  if (!in_registers) operands += ", " + is_one(6);
  operands += ", " + is_one(in_registers ? 6 : 7);
  return call("wgmma", {"::simt::detail::MatrixType::" + element},
              {"::simt::ptx::wgmma_operands(" + operands + ")",
               in.is_constant(3) ? "(" + in.constant(3) + " != 0)" : in.in(3, kPredicate),
               targets(in, 0, n / 2, {'f', 32})});
}

}  // namespace

std::string translate_matrices(Instruction& instruction) {
  using Function = std::string (*)(Instruction&);
  static const std::map<std::string_view, Function> functions = {{"mma", mma},
                                                                 {"ldmatrix", rows},
                                                                 {"stmatrix", rows},
                                                                 {"movmatrix", movmatrix},
                                                                 {"wgmma", wgmma}};
  const auto found = functions.find(instruction.name());
  return found == functions.end() ? std::string() : found->second(instruction);
}

}  // namespace simtcc::ptx
