// Machine code of compute capability 9.0, as tools/sass hands it over: text that a disassembler has made, and what the code
// finds in its constant banks.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace simt::compiled {

struct Operand {
  enum class Kind : uint8_t {
    none,
    reg,
    uniform,  // a register that the warp has once
    predicate,
    uniform_predicate,
    number,    // as written: 0x10
    real,      // 0.5
    constant,  // c[bank][reg + uniform + offset]
    memory,    // [reg + uniform + offset]
    special,   // SR_TID.X, by its name
    barrier,   // B0
  };
  Kind kind = Kind::none;
  bool negated = false;   // -R1, !P0
  bool inverted = false;  // ~R1
  bool absolute = false;  // |R1|
  bool wide = false;      // R2.64: two registers make the address
  uint8_t index = 255;    // of the register or predicate, or of the bank
  uint8_t base = 255;     // registers of an address
  uint8_t uniform_base = 63;
  uint8_t scale = 1;
  int64_t number = 0;  // or the offset
  double real = 0;
  std::string name;
};

using Kind = Operand::Kind;
inline constexpr unsigned kZeroRegister = 255, kZeroUniform = 63, kTruePredicate = 7;

struct Instruction {
  uint32_t address = 0;
  Operand guard;  // none: always
  std::string opcode;
  std::string modifiers;  // ".E.128." with a dot on either side, empty where there are none
  std::vector<Operand> operands;
  int code = 0;  // which of the operations that warp.h lists; 0 is none of them

  bool has(std::string_view modifier) const {
    const size_t at = modifiers.find(modifier);
    return at != std::string::npos && modifiers[at - 1] == '.' &&
           modifiers[at + modifier.size()] == '.';
  }
};

struct Code {
  struct Parameter {
    unsigned offset = 0, size = 0;
  };
  // Bytes of a bank: of the program's own image, or written here.
  struct Piece {
    unsigned bank = 0, offset = 0;
    bool is_address = false;        // 8 bytes that say where it lies
    uint64_t symbol = 0, size = 0;  // in the program's image
    std::string bytes;              // where it is none of its variables
  };
  std::string name, base;  // reduce<int, 256u>, reduce
  std::vector<Parameter> parameters;
  std::vector<Piece> pieces;
  unsigned local_bytes = 0;
  std::vector<Instruction> instructions;
};

// What a file says; nothing where it cannot be read.
std::vector<Code> read(const char* path);

// The kernel of this name, "reduce<int, 256>"; of several with one plain name none that is not named so. nullptr: none.
const Code* find(const std::vector<Code>& codes, std::string_view name);

}  // namespace simt::compiled
