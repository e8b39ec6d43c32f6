/// \file
/// Inline PTX as C++: what the code of an asm statement becomes.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "ptx_instruction.h"
#include "ptx_parser.h"

namespace simtcc::ptx {

/// The C++ of what stands at `offset`.
struct Piece {
  std::size_t offset;
  std::string code;
};

struct Translation {
  std::string declarations;  ///< of all registers: they come first
  std::vector<Piece> pieces;
  bool wide = false;  ///< Accesses more than 8 bytes at a time.
};

/// Translates a text as parse() takes it. In it operand i is called `oi`. Throws an Error. \param in_kernel in its own body
Translation translate(std::string_view text, const std::vector<Slot>& slots, bool is_volatile,
                      bool in_kernel);

}  // namespace simtcc::ptx
