/// \file
/// The text of inline PTX as statements: declarations of registers, labels, blocks, instructions. What an instruction means
/// is ptx_instructions.h's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace simtcc::ptx {

/// What is wrong with the text at `offset`.
struct Error {
  std::size_t offset;
  std::string message;  ///< "'fma.f32' needs a rounding modifier"
};

/// Of a register or an instruction: `.u32` is {'u', 32}, a predicate {'p', 1}, `.f16x2` {'h', 32}.
struct Type {
  char kind = 0;  ///< b, u, s, f; p: predicate; h: pair of halves; e: bfloat16; g: pair of these
  int bits = 0;

  bool operator==(const Type&) const = default;
  explicit operator bool() const { return kind != 0; }
};

inline constexpr Type kPredicate{'p', 1};
inline constexpr Type kB32{'b', 32};
inline constexpr Type kU32{'u', 32};
inline constexpr Type kU64{'u', 64};

/// The type whose name this is ("u32"), or one of no kind.
Type type_named(std::string_view name);
std::string name_of(Type type);

struct Operand {
  enum class Kind {
    name,     ///< a register, a special register or a label
    slot,     ///< %0: what the asm statement names
    integer,  ///< `value`
    real,     ///< `value`: the bits of a double; of 0f3F800000 those of a float
    vector,   ///< {a, b}
    pair,     ///< p|q
    address,  ///< [parts[0] + value], or [parts[0], parts[1]], which are coordinates
    sink,     ///< _
  };
  Kind kind = Kind::name;
  std::size_t offset = 0;
  std::string_view name;
  std::uint64_t value = 0;  ///< A slot's index, too.
  bool is_single = false;   ///< A real number of 32 bits: 0f...
  bool negated = false;     ///< !p
  std::vector<Operand> parts;
};

struct Statement {
  enum class Kind { declaration, label, open, close, instruction };
  Kind kind = Kind::instruction;
  std::size_t offset = 0;
  std::string_view name;                    ///< the label, or the instruction up to its first dot
  Type type;                                ///< of the registers that are declared
  std::vector<std::string_view> names;      ///< these registers
  std::vector<unsigned> counts;             ///< r<4> declares r0 to r3; 0 without
  std::vector<Operand> guard;               ///< @p or @!p, if there is one
  std::string_view opcode;                  ///< with its modifiers, as it is written
  std::vector<std::string_view> modifiers;  ///< what follows the dots
  std::vector<Operand> operands;
};

/// Parses a text in which `%0` names an operand and nothing is escaped. The statements point into it. Throws an Error.
std::vector<Statement> parse(std::string_view text);

}  // namespace simtcc::ptx
