/// \file
/// The command line that every chapter understands.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lab/size.h"

namespace lab {

/// What the command line asks for.
struct Options {
  bool help = false;
  bool list = false;
  std::vector<std::string> rungs;  ///< only these; empty: all
  std::vector<Size> sizes;         ///< in the order given; one where none is given
  std::string cases;               ///< what `--cases` asks for; empty: it is not there
  std::uint64_t seed = 1;
  std::string json;  ///< file for the results; empty: none
};

/// An option that one chapter has beside those of all.
struct OwnOption {
  std::string name;   ///< without the dashes
  std::string value;  ///< how the help spells its value; empty: it has none
  std::string help;   ///< what it does, in a line
  /// Called with the value each time that the option is given.
  /// \throws BadInput where the value is not legal
  std::function<void(const std::string&)> take;
};

/// Single-character edits that turn `a` into `b`.
std::size_t edit_distance(std::string_view a, std::string_view b);

/// The name that was probably meant, or nothing where none is near.
std::optional<std::string> nearest(std::string_view typed, const std::vector<std::string>& names);

/// A run of cases out of many: `first` to `last`, both included.
struct CaseRange {
  std::size_t first = 0;
  std::size_t last = 0;
};

/// Reads what `--cases` asks for: "all", a number, or "first-last".
/// \param text what was typed
/// \param count how many cases there are, at least 1; they are numbered from 0
/// \throws BadInput where `text` is anything else, or names a case that does not exist
CaseRange parse_cases(std::string_view text, std::size_t count);

/// Reads a chapter's command line.
/// \param argc,argv as `main` got them
/// \param kind which dimensions `--size` has
/// \param default_size what holds without `--size`; where empty, `--size` is required
/// \param has_cases whether `--cases` is legal
/// \param own the chapter's own options: each `take` is called as the option is read
/// \throws BadInput where an option is unknown, lacks its value, or has one that is not legal
Options parse_command_line(int argc, char** argv, SizeKind kind, std::string_view default_size,
                           bool has_cases, const std::vector<OwnOption>& own = {});

}  // namespace lab
