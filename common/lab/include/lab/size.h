/// \file
/// The size of a problem and how `--size` spells it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace lab {

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
  std::vector<std::pair<std::string, std::size_t>> dimensions() const;
  bool operator==(const Size&) const = default;
};

/// The largest legal dimension: 2^40 elements of a vector, 2^31 - 1 rows or columns.
constexpr std::uint64_t largest_dimension(SizeKind kind) {
  return kind == SizeKind::n ? std::uint64_t{1} << 40 : (std::uint64_t{1} << 31) - 1;
}

/// Which kind a size is that `--size` spells, by the number of its extents.
SizeKind kind_of_size(std::string_view spelled);

/// The small sizes of `--cases`: extents around the multiples of 32, small ones, and a prime. None for a product, whose
/// cases are those of `gemm_cases`.
std::vector<Size> size_cases(SizeKind kind);

/// How `--size` spells a kind: "n", "rows,cols", "M,N,K".
std::string spelling(SizeKind kind);

/// Reads a whole number from 0 to 2^64 - 1 written in decimal digits and nothing else.
/// \return false where `text` is anything else
bool parse_number(std::string_view text, std::uint64_t& value);

/// Reads a size such as "1000", "30,50" or "64,32,16". As for images, "50x30" is 50 columns and 30 rows.
/// \throws BadInput where `text` is anything but the dimensions of `kind`, each from 1 to
///   `largest_dimension(kind)`, with commas between them
Size parse_size(std::string_view text, SizeKind kind);

/// A size for people: "n = 1000", "M = 64, N = 32, K = 16".
std::string to_string(const Size& size);

}  // namespace lab
