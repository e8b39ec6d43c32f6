/// \file
/// Text for people: numbers, units, lines of limited width. No streams: every chapter compiles
/// this, and `<iostream>` and its like cost more to compile than the rest of lab.
#pragma once

#include <unistd.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

namespace lab {

/// \addtogroup lab
/// @{

/// `printf` into a string.
template <class... Args>
std::string format(const char* pattern, Args... args) {
  const int length = std::snprintf(nullptr, 0, pattern, args...);
  std::string text(length > 0 ? static_cast<std::size_t>(length) : 0, '\0');
  std::snprintf(text.data(), text.size() + 1, pattern, args...);
  return text;
}

/// 1234567 as "1,234,567".
inline std::string grouped(std::uint64_t value) {
  std::string text = std::to_string(value);
  for (std::size_t i = text.size(); i > 3; i -= 3) text.insert(i - 3, ",");
  return text;
}

/// Milliseconds with four significant digits or more, without the unit.
inline std::string milliseconds(double ms) {
  return format("%.*f", ms >= 1000 ? 0 : ms >= 100 ? 1 : ms >= 10 ? 2 : ms >= 1 ? 3 : 4, ms);
}

/// A rate, its thousands apart; decimals where it is small.
inline std::string rate_text(double value) {
  if (value >= 100) return grouped(static_cast<std::uint64_t>(std::llround(value)));
  return format("%.*f", value >= 10 ? 1 : 2, value);
}

/// `text` without line breaks: what a table row or an error message may hold.
inline std::string one_line(std::string text) {
  for (char& c : text) c = c == '\n' || c == '\r' ? ' ' : c;
  return text;
}

/// `text` in lines of at most `width` characters, broken at spaces where there are any.
inline std::vector<std::string> wrapped(std::string_view text, std::size_t width) {
  std::vector<std::string> lines;
  while (text.size() > width) {
    std::size_t end = text.rfind(' ', width);
    if (end == std::string_view::npos || end == 0) end = width;
    lines.emplace_back(text.substr(0, end));
    text.remove_prefix(end);
    if (text.front() == ' ') text.remove_prefix(1);
  }
  lines.emplace_back(text);
  return lines;
}

/// Whether a file descriptor is a terminal on which colours are welcome (see no-color.org).
inline bool wants_color(int descriptor) {
  const auto value = [](const char* name) {
    const char* text = std::getenv(name);
    return std::string_view(text == nullptr ? "" : text);
  };
  return value("NO_COLOR").empty() && value("TERM") != "dumb" && isatty(descriptor) == 1;
}

/// @}

}  // namespace lab
