#include "lab/size.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <system_error>

namespace lab {

std::vector<std::pair<std::string, std::size_t>> Size::dimensions() const {
  switch (kind) {
    case SizeKind::n:
      return {{"n", n}};
    case SizeKind::rows_cols:
      return {{"rows", rows}, {"cols", cols}};
    case SizeKind::m_n_k:
      return {{"M", M}, {"N", N}, {"K", K}};
  }
  return {};
}

SizeKind kind_of_size(std::string_view spelled) {
  const auto commas = std::count(spelled.begin(), spelled.end(), ',');
  return commas == 0 ? SizeKind::n : commas == 1 ? SizeKind::rows_cols : SizeKind::m_n_k;
}

std::vector<Size> size_cases(SizeKind kind) {
  std::vector<Size> cases;
  if (kind == SizeKind::n) {
    for (const std::size_t n : {1,   2,   3,   31,  32,  33,  63,   64,   65,   127,  128, 129,
                                255, 256, 257, 511, 512, 513, 1000, 1023, 1024, 1025, 4099}) {
      cases.push_back({.kind = kind, .n = n});
    }
  } else if (kind == SizeKind::rows_cols) {
    constexpr std::array<std::size_t, 11> extents{1, 2, 3, 31, 32, 33, 63, 64, 65, 129, 257};
    for (const std::size_t step : {1, 4, 0}) {  // each extent as rows and as cols, equal ones last
      for (std::size_t i = 0; i < extents.size(); ++i) {
        cases.push_back(
            {.kind = kind, .rows = extents[i], .cols = extents[(i + step) % extents.size()]});
      }
    }
  }
  return cases;
}

std::string spelling(SizeKind kind) {
  switch (kind) {
    case SizeKind::n:
      return "n";
    case SizeKind::rows_cols:
      return "rows,cols";
    case SizeKind::m_n_k:
      return "M,N,K";
  }
  return "";
}

bool parse_number(std::string_view text, std::uint64_t& value) {
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  return error == std::errc{} && stop == end;
}

Size parse_size(std::string_view text, SizeKind kind) {
  const std::size_t wanted = Size{.kind = kind}.dimensions().size();
  const std::uint64_t largest = largest_dimension(kind);
  const auto bad = [&](const std::string& why) {
    return BadInput("--size '" + std::string(text) + "': " + why + "; legal is " + spelling(kind) +
                    (wanted == 1 ? ", a whole number" : ", whole numbers") + " from 1 to " +
                    std::to_string(largest));
  };

  if (const std::size_t x = text.find('x'); kind == SizeKind::rows_cols && x != text.npos) {
    std::uint64_t width = 0, height = 0;
    if (parse_number(text.substr(0, x), width) && parse_number(text.substr(x + 1), height) &&
        std::min(width, height) >= 1 && std::max(width, height) <= largest) {
      return {.kind = kind, .rows = height, .cols = width};
    }
  }

  std::vector<std::size_t> values;
  for (std::string_view rest = text;;) {
    const std::size_t comma = rest.find(',');
    const std::string_view word = rest.substr(0, comma);
    std::uint64_t value = 0;
    if (!parse_number(word, value)) {
      const bool digits =
          !word.empty() && word.find_first_not_of("0123456789") == std::string_view::npos;
      throw bad(digits ? "'" + std::string(word) + "' is too large"
                       : "'" + std::string(word) + "' is not a whole number");
    }
    if (value == 0) throw bad("0 is too small");
    if (value > largest) throw bad("'" + std::string(word) + "' is too large");
    values.push_back(value);
    if (comma == std::string_view::npos) break;
    rest.remove_prefix(comma + 1);
  }
  if (values.size() != wanted) {
    throw bad(std::to_string(values.size()) + (values.size() == 1 ? " number" : " numbers") +
              " where " + std::to_string(wanted) + (wanted == 1 ? " is" : " are") + " wanted");
  }

  Size size{.kind = kind};
  switch (kind) {
    case SizeKind::n:
      size.n = values[0];
      break;
    case SizeKind::rows_cols:
      size.rows = values[0], size.cols = values[1];
      break;
    case SizeKind::m_n_k:
      size.M = values[0], size.N = values[1], size.K = values[2];
      break;
  }
  return size;
}

std::string to_string(const Size& size) {
  std::string text;
  for (const auto& [name, value] : size.dimensions()) {
    if (!text.empty()) text += ", ";
    text += name + " = " + std::to_string(value);
  }
  return text;
}

}  // namespace lab
