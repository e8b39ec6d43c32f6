// Machine code of compute capability 9.0, as tools/warp/trace hands it over: text that a disassembler has made, and what the code
// finds in its constant banks.
#pragma once

#include <array>
#include <bitset>
#include <cstdint>
#include <iterator>
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

// The modifiers that matter here, as the disassembler writes them: IADD3.X has X.
inline constexpr std::string_view kModifiers[] = {
    "128",  "32",         "4A",    "64",   "ADD",    "ALL",   "AND", "ANY",   "BFLY",  "CAS",
    "CEIL", "COLLECTIVE", "COS",   "D2",   "D4",     "D8",    "DEC", "DIV",   "DOWN",  "E",
    "EQ",   "EQU",        "EX",    "EX2",  "EXCH",   "F16",   "F32", "F64",   "FLOOR", "FTZ",
    "GE",   "GEU",        "GT",    "GTU",  "HI",     "INC",   "L",   "LE",    "LEU",   "LG2",
    "LT",   "LTU",        "M2",    "M4",   "M8",     "MAX",   "MIN", "NAN",   "NE",    "NEU",
    "NUM",  "OR",         "POPC",  "RCP",  "RCP64H", "REL",   "RM",  "RP",    "RSQ",   "RSQ64H",
    "RZ",   "S16",        "S16x2", "S32",  "S64",    "S8",    "SAT", "SH",    "SIN",   "SPIN",
    "SQRT", "SUM",        "SX32",  "SYNC", "TANH",   "TRUNC", "U16", "U16x2", "U32",   "U64",
    "U8",   "UP",         "W",     "WIDE", "X",      "XOR",
};

// One of them; another does not compile.
struct Modifier {
  unsigned index = 0;
  consteval Modifier(const char* name) {
    while (kModifiers[index] != name) ++index;
  }
};

struct Instruction {
  uint32_t address = 0;
  Operand guard;  // none: always
  std::string opcode;
  std::string modifiers;  // ".E.128." with a dot on either side, empty where there are none
  std::vector<Operand> operands;
  int code = 0;  // which of the operations that warp.h lists; 0 is none of them

  std::bitset<std::size(kModifiers)> flags;

  bool has(Modifier modifier) const { return flags[modifier.index]; }
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
