/// \file
/// The command line that every chapter understands.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lab/size.h"

namespace lab {

/// \addtogroup lab
/// @{

/// What the command line asks for.
struct Options {
  bool help = false;
  bool list = false;
  std::vector<std::string> rungs;  ///< only these; empty: all
  Size size;
  std::uint64_t seed = 1;
  std::string json;  ///< file for the results; empty: none
};

/// Single-character edits that turn `a` into `b`.
std::size_t edit_distance(std::string_view a, std::string_view b);

/// The name that was probably meant, or nothing where none is near.
std::optional<std::string> nearest(std::string_view typed, const std::vector<std::string>& names);

/// Reads a chapter's command line.
/// \param argc,argv as `main` got them
/// \param kind which dimensions `--size` has
/// \param default_size what holds without `--size`; where empty, `--size` is required
/// \throws BadInput where an option is unknown, lacks its value, or has one that is not legal
Options parse_command_line(int argc, char** argv, SizeKind kind, std::string_view default_size);

/// @}

}  // namespace lab

#if !defined(LAB_COMPILED)
#include "lab/command_line-inl.h"
#endif
