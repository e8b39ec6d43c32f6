/// \file
/// The transpose of a matrix on the host: what a device's transpose is held against.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "lab/ceil_div.h"
#include "lab/parallel.h"

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
  const auto turn = [&](std::size_t first, std::size_t last) {  // columns, in squares
    for (std::size_t row0 = 0; row0 < rows; row0 += square) {
      for (std::size_t col0 = first * square; col0 < std::min(last * square, cols);
           col0 += square) {
        for (std::size_t col = col0; col < std::min(col0 + square, cols); ++col) {
          for (std::size_t row = row0; row < std::min(row0 + square, rows); ++row) {
            result[col * rows + row] = matrix[row * cols + col];
          }
        }
      }
    }
  };
  in_parallel(ceil_div(cols, square), turn, parallel_grain / (square * rows + 1));
  return result;
}

}  // namespace lab
