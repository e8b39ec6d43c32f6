/// \file
/// Text for people: numbers, units, lines of limited width.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace lab {

/// `printf` into a string.
[[gnu::format(printf, 1, 2)]] std::string format(const char* pattern, ...);

/// 1234567 as "1,234,567".
std::string grouped(std::uint64_t value);

/// Milliseconds with four significant digits or more, without the unit.
std::string milliseconds(double ms);

/// A rate, its thousands apart; decimals where it is small.
std::string rate_text(double value);

/// `text` without line breaks: what a table row or an error message may hold.
std::string one_line(std::string text);

/// `text` in lines of at most `width` characters, broken at spaces where there are any.
std::vector<std::string> wrapped(std::string_view text, std::size_t width);

/// Whether a file descriptor is a terminal on which colours are welcome (see no-color.org).
bool wants_color(int descriptor);

}  // namespace lab
