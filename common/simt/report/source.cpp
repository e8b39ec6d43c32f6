#include "report/source.h"

#include <algorithm>
#include <cctype>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

namespace simt::device {
namespace {

bool has_return(std::string_view line) {
  constexpr std::string_view kReturn = "return";
  line = line.substr(0, line.find("//"));
  const auto is_in_word = [&](std::size_t at) {
    return at < line.size() &&
           (std::isalnum(static_cast<unsigned char>(line[at])) || line[at] == '_');
  };
  for (std::size_t at = 0; (at = line.find(kReturn, at)) != line.npos; at += kReturn.size()) {
    if (!is_in_word(at - 1) && !is_in_word(at + kReturn.size())) return true;
  }
  return false;
}

std::vector<int> lines_with_return(const std::string& name) {
  std::ifstream file(name);
  std::vector<int> lines;
  std::string text;
  for (int line = 1; std::getline(file, text); ++line) {
    if (has_return(text)) lines.push_back(line);
  }
  return lines;
}

}  // namespace

int line_of_return(const symbols::Location& exit, const symbols::Location& before,
                   const symbols::Location& barrier) {
  if (symbols::is_library_file(exit.file)) {
    // The kernel's last line calls the library, and lends it the end. `if (i >= n) return;` is known by where the thread was.
    const std::vector<int> lines = lines_with_return(before.file);
    const auto found = std::lower_bound(lines.begin(), lines.end(), before.line);
    const bool is_near = found != lines.end() && *found <= before.line + 1;
    return is_near && before.file == barrier.file && *found < barrier.line ? *found : 0;
  }
  if (!std::ifstream(exit.file)) {
    const bool is_ahead = exit.file == barrier.file && exit.line < barrier.line;
    return is_ahead && before.line <= exit.line ? exit.line : 0;
  }
  const std::vector<int> lines = lines_with_return(exit.file);
  if (!std::binary_search(lines.begin(), lines.end(), exit.line)) return 0;
  if (before.file != exit.file) return exit.line;
  const auto found = std::lower_bound(lines.begin(), lines.end(), before.line);
  return found == lines.end() ? 0 : *found;
}

bool has_barrier_between(const symbols::Location& one, const symbols::Location& other) {
  std::ifstream file(one.file);
  std::string text;
  for (int line = 1; one.file == other.file && std::getline(file, text); ++line) {
    const bool is_between = (line > one.line) != (line >= other.line);
    const std::string_view code = std::string_view(text).substr(0, text.find("//"));
    if (is_between && code.find("__syncthreads(") != code.npos) return true;
  }
  return false;
}

}  // namespace simt::device
