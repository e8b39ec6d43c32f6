#include "ptx/instruction.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>

namespace simtcc::ptx {
namespace {

struct Special {
  std::string_view name;
  int bits;
};
constexpr Special kSpecial[] = {{"laneid", 32},
                                {"warpid", 32},
                                {"nwarpid", 32},
                                {"smid", 32},
                                {"nsmid", 32},
                                {"gridid", 64},
                                {"clock", 32},
                                {"clock_hi", 32},
                                {"clock64", 64},
                                {"globaltimer", 64},
                                {"globaltimer_lo", 32},
                                {"globaltimer_hi", 32},
                                {"lanemask_eq", 32},
                                {"lanemask_lt", 32},
                                {"lanemask_le", 32},
                                {"lanemask_gt", 32},
                                {"lanemask_ge", 32},
                                {"tid.x", 32},
                                {"tid.y", 32},
                                {"tid.z", 32},
                                {"ntid.x", 32},
                                {"ntid.y", 32},
                                {"ntid.z", 32},
                                {"ctaid.x", 32},
                                {"ctaid.y", 32},
                                {"ctaid.z", 32},
                                {"nctaid.x", 32},
                                {"nctaid.y", 32},
                                {"nctaid.z", 32},
                                {"cluster_ctarank", 32},
                                {"cluster_nctarank", 32},
                                {"total_smem_size", 32},
                                {"dynamic_smem_size", 32}};

bool is_integer(Type type) { return type.kind == 'u' || type.kind == 's'; }

// May a register of type `found` hold a value of `type`?
bool fits(Type found, Type type, bool wider) {
  if (found.kind == 'p' || type.kind == 'p') return found.kind == type.kind;
  const bool is_bits = found.kind == 'b' || type.kind == 'b';
  const bool same_kind = found.kind == type.kind || (is_integer(found) && is_integer(type));
  if (found.bits == type.bits) return is_bits || same_kind;
  return wider && found.bits > type.bits &&
         (found.kind == 'b' || (found.kind != 'f' && type.kind != 'f'));
}

std::string literal(std::uint64_t value, Type type) {
  return cpp({'b', type.bits}) + "(" + std::to_string(value) + "ull)";
}

// By how the instruction begins: the first that fits.
struct Instead {
  std::string_view beginning, text;
};
constexpr std::string_view kOtherMatrices =
    "of the matrix instructions there are mma.m16n8k16 of .bf16 and .f16, mma.m16n8k8 of .tf32 and "
    "mma.m16n8k32 of .s8, A .row and B .col, summed up in .f32 or .s32, and ldmatrix, stmatrix and "
    "movmatrix of .m8n8 and .b16";
constexpr std::string_view kOtherWarpgroups =
    "of wgmma there is m64nNk16 of .bf16 and .f16, m64nNk8 of .tf32 and, with A in shared memory, "
    "m64nNk32 of .e4m3, summed up in .f32";
constexpr std::string_view kNoTensorCores = "call nvcuda::wmma, or use mma or wgmma";
constexpr std::string_view kNoAccelerator =
    "of the bulk copies there are those between global memory and the block's own shared memory, "
    "of "
    "bytes and of a tensor's boxes (.tile), and those to several blocks (.multicast::cluster)";
constexpr std::string_view kNoClusters =
    "for clusters there are barrier.cluster, mapa, accesses with .shared::cluster, and "
    "mbarrier.arrive there";
constexpr std::string_view kNoSurfaces = "surfaces are not simulated either";
constexpr std::string_view kNoTextures =
    "call tex1Dfetch() and its like, which read texture objects";
constexpr std::string_view kNoHalves =
    "call __hadd(), __hfma() and their like, of <cuda_fp16.h> and <cuda_bf16.h>";
constexpr Instead kInstead[] = {{"ldmatrix", kOtherMatrices},
                                {"stmatrix", kOtherMatrices},
                                {"mma", kOtherMatrices},
                                {"wmma", kNoTensorCores},
                                {"wgmma", kOtherWarpgroups},
                                {"tcgen05", kNoTensorCores},
                                {"cp.async.bulk", kNoAccelerator},
                                {"tensormap", kNoAccelerator},
                                {"multimem", kNoAccelerator},
                                {"mbarrier", kNoAccelerator},
                                {"cp.async.mbarrier", "wait with cp.async.wait_group"},
                                {"st.async", kNoClusters},
                                {"red.async", kNoClusters},
                                {"getctarank", kNoClusters},
                                {"clusterlaunchcontrol", kNoClusters},
                                {"sul", kNoSurfaces},
                                {"suq", kNoSurfaces},
                                {"sust", kNoSurfaces},
                                {"sured", kNoSurfaces},
                                {"tex", kNoTextures},
                                {"tld4", kNoTextures},
                                {"txq", kNoTextures},
                                {"call", "call the function in C++"}};

}  // namespace

std::string not_simulated(std::string_view opcode) {
  std::string text = std::string(opcode) + " is not simulated";
  for (const auto& [beginning, instead] : kInstead) {
    if (opcode.starts_with(beginning)) return text + ": " + std::string(instead);
  }
  const bool is_of_halves =
      opcode.ends_with("f16") || opcode.ends_with("f16x2") || opcode.ends_with("bf16x2");
  return is_of_halves ? text + ": " + std::string(kNoHalves) : text;
}

std::string cpp(Type type) {
  if (type.kind == 'p') return "bool";
  const std::string bits = std::to_string(type.bits);
  const char kind = type.kind == 'b' ? 'u' : type.kind;
  return std::string("::simt::ptx::") + kind + bits;
}

std::string call(std::string_view function, std::initializer_list<std::string> template_arguments,
                 std::initializer_list<std::string> arguments) {
  const auto list = [](std::initializer_list<std::string> parts) {
    std::string text;
    for (const std::string& part : parts) {
      if (part.empty()) continue;
      text += (text.empty() ? "" : ", ") + part;
    }
    return text;
  };
  std::string text = "::simt::ptx::" + std::string(function);
  if (template_arguments.size()) text += "<" + list(template_arguments) + ">";
  return text + "(" + list(arguments) + ");";
}

void Instruction::fail(const std::string& what) const {
  throw Error{statement_.offset, "'" + std::string(statement_.opcode) + "' " + what};
}

void Instruction::fail_unsupported() const {
  throw Error{statement_.offset, not_simulated(statement_.opcode)};
}

bool Instruction::take(std::string_view modifier) { return !take_one({modifier}).empty(); }

std::string_view Instruction::take_one(std::initializer_list<std::string_view> modifiers) {
  if (taken_ == statement_.modifiers.size()) return {};
  const std::string_view next = statement_.modifiers[taken_];
  if (std::find(modifiers.begin(), modifiers.end(), next) == modifiers.end()) return {};
  ++taken_;
  return next;
}

std::string_view Instruction::need_one(std::initializer_list<std::string_view> modifiers,
                                       std::string_view what) {
  const std::string_view taken = take_one(modifiers);
  if (!taken.empty()) return taken;
  std::string list;
  for (const std::string_view modifier : modifiers)
    list += (list.empty() ? "." : ", .") + std::string(modifier);
  fail("needs " + std::string(what) + ": " + list);
}

bool Instruction::has(std::string_view modifier) const {
  return std::find(statement_.modifiers.begin() + static_cast<std::ptrdiff_t>(taken_),
                   statement_.modifiers.end(), modifier) != statement_.modifiers.end();
}

Type Instruction::type(std::string_view types) {
  std::string list;
  for (std::string_view rest = types; !rest.empty();) {
    const std::string_view name = rest.substr(0, rest.find(' '));
    if (take(name)) return type_named(name);
    list += (list.empty() ? "." : ", .") + std::string(name);
    rest.remove_prefix(std::min(name.size() + 1, rest.size()));
  }
  if (taken_ == statement_.modifiers.size()) fail("needs a type: " + list);
  fail("has ." + std::string(statement_.modifiers[taken_]) + " where its type stands: " + list);
}

void Instruction::end(std::size_t least, std::size_t most) {
  if (taken_ < statement_.modifiers.size())
    fail("does not take ." + std::string(statement_.modifiers[taken_]) + " there");
  if (operands() >= least && operands() <= most) return;
  const std::string range =
      least == most ? std::to_string(least) : std::to_string(least) + " to " + std::to_string(most);
  fail("takes " + range + (most == 1 ? " operand" : " operands") + ", not " +
       std::to_string(operands()));
}

std::string Instruction::place(const Operand& operand) const {
  for (std::size_t i = 0; i < operands(); ++i) {
    if (&statement_.operands[i] == &operand) return "operand " + std::to_string(i + 1);
    for (const Operand& part : statement_.operands[i].parts) {
      if (&part == &operand) return "operand " + std::to_string(i + 1);
    }
  }
  return "the guard";
}

void Instruction::mismatch(const Operand& operand, Type found) const {
  static constexpr std::string_view kKinds[] = {
      "a name",         "",           "a whole number",   "a real number",
      "a vector {...}", "a pair p|q", "an address [...]", "_"};
  const std::string what = found ? "is of type " + name_of(found)
                                 : "is " + std::string(kKinds[static_cast<int>(operand.kind)]);
  fail("cannot take its operands: " + place(operand) + " " + what);
}

const Register* Instruction::find(std::string_view name) const {
  for (auto scope = names_.registers.rbegin(); scope != names_.registers.rend(); ++scope) {
    if (const auto found = scope->find(name); found != scope->end()) return &found->second;
  }
  return nullptr;
}

std::string Instruction::checked(const Operand& operand, Type found, Type type, bool wider,
                                 std::string variable) const {
  if (!fits(found, type, wider)) mismatch(operand, found);
  return variable;
}

std::string Instruction::source(const Operand& operand, Type type, bool wider) const {
  if (operand.negated && type.kind != 'p') fail("takes no '!' in front of " + place(operand));
  const std::string sign = operand.negated ? "!" : "";
  switch (operand.kind) {
    case Operand::Kind::slot: {
      if (operand.value >= names_.slots.size())
        fail("names %" + std::to_string(operand.value) + ", which is no operand of this asm");
      const Slot& slot = names_.slots[operand.value];
      const std::string variable = "o" + std::to_string(operand.value);
      if (!slot.is_constant) return sign + checked(operand, slot.type, type, wider, variable);
      if (type.kind == 'f' || type.kind == 'p')
        fail("cannot take its operands: " + place(operand) + " is a whole number");
      return variable;
    }
    case Operand::Kind::name: {
      if (const Register* const found = find(operand.name))
        return sign + checked(operand, found->type, type, wider, found->variable);
      if (operand.name == "WARP_SZ" && is_integer(type)) return literal(32, type);
      for (const Special& special : kSpecial) {
        if (operand.name.substr(1) != special.name || operand.name[0] != '%') continue;
        if (name() != "mov" && name() != "cvt")
          fail("cannot take the special register " + std::string(operand.name) + ": mov can");
        std::string function(special.name);
        std::replace(function.begin(), function.end(), '.', '_');
        return checked(operand, {'b', special.bits}, type, wider,
                       "::simt::ptx::" + function + "()");
      }
      if (operand.name.front() == '%')
        fail("names " + std::string(operand.name) +
             ", which is no register declared here and no special register that is simulated");
      fail("names '" + std::string(operand.name) + "', which is no register declared here");
    }
    case Operand::Kind::integer:
      if (type.kind == 'f' || type.kind == 'p') mismatch(operand, {});
      return literal(operand.value, type);
    case Operand::Kind::real:
      if (operand.is_single) {
        if (type != Type{'f', 32} && type != Type{'b', 32}) mismatch(operand, {});
        return literal(operand.value, type);
      }
      if (type == Type{'f', 64} || type == Type{'b', 64}) return literal(operand.value, type);
      if (type != Type{'f', 32}) mismatch(operand, {});
      return literal(
          std::bit_cast<std::uint32_t>(static_cast<float>(std::bit_cast<double>(operand.value))),
          type);
    default:
      mismatch(operand, {});
  }
}

std::string Instruction::target(const Operand& operand, Type type, bool wider) const {
  if (operand.kind == Operand::Kind::sink) return "::simt::ptx::Sink{}";
  const bool is_register =
      operand.kind == Operand::Kind::name
          ? find(operand.name) != nullptr
          : operand.kind == Operand::Kind::slot &&
                (operand.value >= names_.slots.size() || !names_.slots[operand.value].is_constant);
  if (!is_register || operand.negated) {
    if (operand.kind == Operand::Kind::name) source(operand, type, wider);  // of no such name
    fail("has no register to write to: " + place(operand));
  }
  return source(operand, type, wider);
}

std::vector<const Operand*> Instruction::elements(const Operand& operand, std::size_t count) const {
  if (count == 1 && operand.kind != Operand::Kind::vector) return {&operand};
  if (operand.kind != Operand::Kind::vector || operand.parts.size() != count)
    fail("takes {...} with " + std::to_string(count) + " elements as " + place(operand));
  std::vector<const Operand*> result;
  for (const Operand& part : operand.parts) result.push_back(&part);
  return result;
}

std::string Instruction::coordinates(const Operand& operand) const {
  std::string text;
  if (operand.parts.empty() || operand.parts.back().kind != Operand::Kind::vector) return text;
  for (const Operand& part : operand.parts.back().parts)
    text += (text.empty() ? "" : ", ") + source(part, {'s', 32});
  return text;
}

std::string Instruction::address(const Operand& operand, bool is_shared) const {
  if (operand.kind != Operand::Kind::address) fail("takes an address [...] as " + place(operand));
  const Operand& base = operand.parts[0];
  std::string text;
  if (base.kind == Operand::Kind::integer) {
    text = literal(base.value, {'u', 64});
  } else {
    // An address of shared memory has 32 bits, or is the low half of 64.
    const bool is_slot = base.kind == Operand::Kind::slot && base.value < names_.slots.size();
    const Register* const found = base.kind == Operand::Kind::name ? find(base.name) : nullptr;
    const Type type = is_slot ? names_.slots[base.value].type : found ? found->type : Type{};
    const bool is_short = is_shared && type.bits == 32;
    if (type && type.kind == 'f')
      fail("needs an address: " + place(operand) + " is of type " + name_of(type));
    if (type && type.bits == 32 && !is_shared)
      fail("needs an address of 64 bits as " + place(operand));
    text = source(base, {'u', is_short ? 32 : 64});
  }
  std::string offset = std::to_string(static_cast<std::int64_t>(operand.value)) + "ll";
  if (operand.parts.size() > 1 && operand.parts[1].kind == Operand::Kind::slot) {
    const Operand& number = operand.parts[1];
    if (number.value >= names_.slots.size() || !names_.slots[number.value].is_constant)
      fail("takes a number as the offset of " + place(operand));
    offset = std::string(operand.negated ? "-" : "") + "::simt::ptx::get<::simt::ptx::s64>(" +
             source(number, {'s', 64}) + ")";
  }
  return text + ", " + offset;
}

bool Instruction::is_constant(std::size_t i) const {
  const Operand& number = operand(i);
  return number.kind == Operand::Kind::integer ||
         (number.kind == Operand::Kind::slot && number.value < names_.slots.size() &&
          names_.slots[number.value].is_constant);
}

std::string Instruction::constant(std::size_t i) const {
  const Operand& number = operand(i);
  if (!is_constant(i)) fail("takes a number, known when it is compiled, as " + place(number));
  if (number.kind == Operand::Kind::integer)
    return std::to_string(static_cast<std::int64_t>(number.value)) + "ll";
  return "decltype(o" + std::to_string(number.value) + ")::number";
}

std::string Instruction::label(std::size_t i) const {
  const Operand& target = operand(i);
  if (target.kind != Operand::Kind::name) fail("takes a label");
  for (auto scope = names_.labels.rbegin(); scope != names_.labels.rend(); ++scope) {
    if (const auto found = scope->find(target.name); found != scope->end()) return found->second;
  }
  fail("names the label '" + std::string(target.name) + "', which is not there");
}

bool Instruction::is_predicate(std::size_t i) const {
  const Register* const found =
      operand(i).kind == Operand::Kind::name ? find(operand(i).name) : nullptr;
  return found && found->type.kind == 'p';
}

std::string Instruction::guard() const {
  if (statement_.guard.empty()) return {};
  return source(statement_.guard[0], {'p', 1});
}

}  // namespace simtcc::ptx
