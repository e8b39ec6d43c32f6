/// \file
/// The size of a problem and how `--size` spells it.
#pragma once

#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace lab {

/// \addtogroup lab
/// @{

/// Which dimensions a problem has.
enum class SizeKind {
  n,          ///< `n` elements
  rows_cols,  ///< a matrix of `rows` x `cols`
  m_n_k       ///< a product: (M x K) times (K x N)
};

/// What was typed is not legal: one line that says what is wrong and what is legal. Exit code 2.
class BadInput : public std::invalid_argument {
 public:
  using std::invalid_argument::invalid_argument;
};

/// The size of a problem. Only the dimensions of its kind are set; the others are 0.
struct Size {
  SizeKind kind = SizeKind::n;
  std::size_t n = 0;
  std::size_t rows = 0, cols = 0;
  std::size_t M = 0, N = 0, K = 0;

  /// Name and value of each dimension, in the order of `--size`.
  std::vector<std::pair<std::string, std::size_t>> dimensions() const {
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
  bool operator==(const Size&) const = default;
};

/// The largest legal dimension: 2^40 elements of a vector, 2^31 - 1 rows or columns.
constexpr std::uint64_t largest_dimension(SizeKind kind) {
  return kind == SizeKind::n ? std::uint64_t{1} << 40 : (std::uint64_t{1} << 31) - 1;
}

/// How `--size` spells a kind: "n", "rows,cols", "M,N,K".
inline std::string spelling(SizeKind kind) {
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

/// Reads a whole number from 0 to 2^64 - 1 written in decimal digits and nothing else.
/// \return false where `text` is anything else
inline bool parse_number(std::string_view text, std::uint64_t& value) {
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  return error == std::errc{} && stop == end;
}

/// Reads a size such as "1000", "30,50" or "64,32,16".
/// \throws BadInput where `text` is anything but the dimensions of `kind`, each from 1 to
///   `largest_dimension(kind)`, with commas between them
inline Size parse_size(std::string_view text, SizeKind kind) {
  const std::size_t wanted = Size{.kind = kind}.dimensions().size();
  const std::uint64_t largest = largest_dimension(kind);
  const auto bad = [&](const std::string& why) {
    return BadInput("--size '" + std::string(text) + "': " + why + "; legal is " + spelling(kind) +
                    (wanted == 1 ? ", a whole number" : ", whole numbers") + " from 1 to " +
                    std::to_string(largest));
  };

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

/// A size for people: "n = 1000", "M = 64, N = 32, K = 16".
inline std::string to_string(const Size& size) {
  std::string text;
  for (const auto& [name, value] : size.dimensions()) {
    if (!text.empty()) text += ", ";
    text += name + " = " + std::to_string(value);
  }
  return text;
}

/// @}

}  // namespace lab
