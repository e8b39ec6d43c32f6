/// \file
/// Inline PTX as C++: what the code of an asm statement becomes.
#pragma once

#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ptx/instruction.h"
#include "ptx/parser.h"

namespace simtcc::ptx {

/// The C++ of what stands at `offset`.
struct Piece {
  std::size_t offset;
  std::string code;
};

/// An atomic operation that is all of a text: which operand is its address, and which its value, if not a literal.
struct AtomicOperands {
  std::size_t address;
  std::optional<std::size_t> value;
};

struct Translation {
  std::string declarations;  ///< of all registers: they come first
  std::vector<Piece> pieces;
  std::vector<std::pair<std::size_t, std::string_view>>
      outer_registers;              ///< declared outside of all braces, and where
  bool wide = false;                ///< Accesses more than 8 bytes at a time.
  bool is_wgmma = false;            ///< Its outputs are written later,
  std::set<std::size_t> fragments;  ///< and these operands are read later.
  std::optional<AtomicOperands> atomic;
};

/// Translates a text as parse() takes it. In it operand i is called `oi`. Throws an Error. \param in_kernel in its own body
Translation translate(std::string_view text, const std::vector<Slot>& slots, bool is_volatile,
                      bool in_kernel);

}  // namespace simtcc::ptx
