/// \file
/// The transpose of a matrix on the host: what a device's transpose is held against.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace lab {

/// Element (row, col) of `matrix` at (col, row).
///
/// It goes in squares of 64 x 64, whose rows stay in the cache: column by column, a matrix of 1 GiB takes ten
/// times as long.
/// \param matrix (rows, cols), row-major
/// \param rows its rows
/// \param cols its columns
/// \return (cols, rows), row-major
template <class T>
std::vector<T> transposed(const std::vector<T>& matrix, std::size_t rows, std::size_t cols) {
  constexpr std::size_t square = 64;
  std::vector<T> result(rows * cols);
  for (std::size_t row0 = 0; row0 < rows; row0 += square) {
    for (std::size_t col0 = 0; col0 < cols; col0 += square) {
      for (std::size_t col = col0; col < std::min(col0 + square, cols); ++col) {
        for (std::size_t row = row0; row < std::min(row0 + square, rows); ++row) {
          result[col * rows + row] = matrix[row * cols + col];
        }
      }
    }
  }
  return result;
}

}  // namespace lab
