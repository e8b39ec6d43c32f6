/// \file
/// One instruction of inline PTX on its way to C++: its modifiers are taken one by one, its operands checked as ptxas does.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ptx/parser.h"

namespace simtcc::ptx {

/// What `%0` stands for: the type of its constraint. "n" is a number that the compiler knows.
struct Slot {
  Type type;
  bool is_constant = false;
};

/// A register, and what it is called in C++.
struct Register {
  Type type;
  std::string variable;
};

/// The names that an instruction can see, from the innermost block outwards.
struct Names {
  std::vector<std::map<std::string_view, Register>> registers;
  std::vector<std::map<std::string_view, std::string>> labels;
  std::vector<Slot> slots;
  bool in_kernel = false;  ///< The asm stands in a kernel's own body.
};

class Instruction {
 public:
  /// \param is_volatile of an `asm volatile`
  Instruction(const Statement& statement, const Names& names, bool is_volatile)
      : statement_(statement), names_(names), is_volatile_(is_volatile) {}

  std::string_view name() const { return statement_.name; }
  bool is_volatile() const { return is_volatile_; }
  bool in_kernel() const { return names_.in_kernel; }
  std::size_t operands() const { return statement_.operands.size(); }
  const Operand& operand(std::size_t i) const { return statement_.operands[i]; }

  [[noreturn]] void fail(const std::string& what) const;
  [[noreturn]] void fail_unsupported() const;

  /// Takes the next modifier if it is this one.
  bool take(std::string_view modifier);
  /// Takes the next modifier if it is one of these; else "".
  std::string_view take_one(std::initializer_list<std::string_view> modifiers);
  /// Takes the next modifier, which has to be one of these. \param what "a rounding modifier"
  std::string_view need_one(std::initializer_list<std::string_view> modifiers,
                            std::string_view what);
  /// Is it among those that are left?
  bool has(std::string_view modifier) const;
  /// The last one, taken or not.
  std::string_view last_modifier() const {
    return statement_.modifiers.empty() ? std::string_view{} : statement_.modifiers.back();
  }
  /// Takes the next modifier, a type that is one of these: "u32 s32".
  Type type(std::string_view types);
  /// Are all modifiers taken, and is the number of operands one of these?
  void end(std::size_t least, std::size_t most);
  void end(std::size_t count) { end(count, count); }

  /// Operand i as C++: what is read or written as a value of this type. `wider` registers may be where a type is said
  /// twice, as in `cvt` and `ld`.
  std::string in(std::size_t i, Type type, bool wider = false) const {
    return source(operand(i), type, wider);
  }
  std::string out(std::size_t i, Type type, bool wider = false) const {
    return target(operand(i), type, wider);
  }
  std::string source(const Operand& operand, Type type, bool wider = false) const;
  std::string target(const Operand& operand, Type type, bool wider = false) const;
  /// The elements of `{a, b}`, or the operand alone where there shall be one.
  std::vector<const Operand*> elements(const Operand& operand, std::size_t count) const;
  /// The coordinates of [map, {x, y}] as C++; "" where there are none.
  std::string coordinates(const Operand& operand) const;
  /// [a + 8] as C++: base and offset.
  std::string address(const Operand& operand, bool is_shared) const;
  /// The number of an operand that has to be one, as C++ that the compiler knows.
  std::string constant(std::size_t i) const;
  std::string label(std::size_t i) const;
  bool is_predicate(std::size_t i) const;
  /// Is operand i a number that the compiler knows?
  bool is_constant(std::size_t i) const;
  /// The variable of the guard, or "".
  std::string guard() const;

 private:
  [[noreturn]] void mismatch(const Operand& operand, Type found) const;
  const Register* find(std::string_view name) const;
  std::string checked(const Operand& operand, Type found, Type type, bool wider,
                      std::string variable) const;
  std::string place(const Operand& operand) const;

  const Statement& statement_;
  const Names& names_;
  const bool is_volatile_;
  std::size_t taken_ = 0;
};

/// That the instruction is not simulated, and what there is in its place.
std::string not_simulated(std::string_view opcode);
/// "::simt::ptx::u32"
std::string cpp(Type type);
/// "::simt::ptx::FUNCTION<TEMPLATE ARGUMENTS>(ARGUMENTS);"
std::string call(std::string_view function, std::initializer_list<std::string> template_arguments,
                 std::initializer_list<std::string> arguments);

/// Translates an instruction to a statement of C++; "" if it is none of these.
std::string translate_arithmetic(Instruction& instruction);
std::string translate_bits(Instruction& instruction);
std::string translate_memory(Instruction& instruction);
std::string translate_control(Instruction& instruction);
std::string translate_matrices(Instruction& instruction);
/// What follows cp.async.bulk.
std::string bulk(Instruction& in);

}  // namespace simtcc::ptx
