/// \file
/// Reads the assembly that g++ writes for x86-64, line by line.
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace simtcc {

inline bool is_instruction(std::string_view line) {
  return line.size() > 1 && line[0] == '\t' && line[1] != '.' && line[1] != '#';
}

/// The first word: an instruction's name, a directive.
inline std::string_view word(std::string_view line) {
  line.remove_prefix(std::min(line.find_first_not_of('\t'), line.size()));
  return line.substr(0, line.find_first_of("\t "));
}

/// The label of a line such as ".L5:", or nothing.
inline std::string_view label_of(std::string_view line) {
  return line.starts_with(".L") && line.ends_with(":") ? line.substr(0, line.size() - 1)
                                                       : std::string_view{};
}

/// Where a jump to a label goes, or nothing.
inline std::string_view target_of(std::string_view line) {
  if (!is_instruction(line) || !word(line).starts_with('j')) return {};
  const std::string_view target = line.substr(line.rfind('\t') + 1);
  return target.starts_with(".L") ? target : std::string_view{};
}

inline bool is_return(std::string_view line) {
  return is_instruction(line) && (word(line) == "ret" || word(line) == "ud2");
}

/// Takes the first line off the text.
inline std::string_view next_line(std::string_view& text) {
  const std::size_t length = text.find('\n');
  const std::string_view line = text.substr(0, length);
  text.remove_prefix(length == std::string_view::npos ? text.size() : length + 1);
  return line;
}

/// The symbol in the line with which a function begins, `.type f, @function`, or nothing.
std::optional<std::string_view> function_begun(std::string_view line);

/// Does the line end the function `symbol`? (`.size f, .-f`)
bool ends_function(std::string_view line, std::string_view symbol);

/// Is what the flags say behind line `at` of a function lost, whatever comes next? False where that cannot be told.
bool flags_are_free_behind(const std::vector<std::string_view>& function, std::size_t at);

/// Vector registers that nothing in the function names, such as "%xmm15", at most `most`. The callers of a function expect none
/// to be kept (-fno-ipa-ra).
std::vector<std::string_view> unnamed_vector_registers(
    const std::vector<std::string_view>& function, std::size_t most);

}  // namespace simtcc
