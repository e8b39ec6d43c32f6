// Products of matrices on the host, by tiles, on all cores.
#pragma once

#include <algorithm>
#include <thread>
#include <vector>

namespace simt::blas {

// alpha * a * b + beta * c for all elements of c, which is m x n; `k` is the inner extent.
// \param a, b give the elements (i, l) and (l, j) as T
// \param read, write get and set the element (i, j) of c, which is not read where beta is 0
template <class T, class A, class B, class Read, class Write>
void multiply(long m, long n, long k, T alpha, const A& a, const B& b, T beta, const Read& read,
              const Write& write) {
  constexpr long kRows = 8, kColumns = 4, kStretch = 256;
  typedef T Row __attribute__((vector_size(kRows * sizeof(T))));
  const long panels = (m + kRows - 1) / kRows, quads = (n + kColumns - 1) / kColumns;
  std::vector<T> left(static_cast<size_t>(panels * k * kRows));  // (panels, k, kRows)
  for (long i = 0; i < m; ++i) {
    for (long l = 0; l < k; ++l)
      left[static_cast<size_t>((i / kRows * k + l) * kRows + i % kRows)] = a(i, l);
  }
  const auto columns = [&](long first, long last) {
    std::vector<T> right(static_cast<size_t>(k * kColumns));  // (k, kColumns)
    for (long quad = first; quad < last; ++quad) {
      const long j = quad * kColumns, width = std::min(kColumns, n - j);
      for (long l = 0; l < k; ++l) {
        for (long x = 0; x < width; ++x) right[static_cast<size_t>(l * kColumns + x)] = b(l, j + x);
      }
      for (long panel = 0; panel < panels; ++panel) {
        Row sum[kColumns] = {};
        const T* const tile = left.data() + panel * k * kRows;
        for (long begin = 0; begin < k; begin += kStretch) {
          Row part[kColumns] = {};
          for (long l = begin; l < std::min(k, begin + kStretch); ++l) {
            Row row;
            __builtin_memcpy(&row, tile + l * kRows, sizeof(row));
            for (long x = 0; x < kColumns; ++x)
              part[x] += row * right[static_cast<size_t>(l * kColumns + x)];
          }
          for (long x = 0; x < kColumns; ++x) sum[x] += part[x];
        }
        for (long x = 0; x < width; ++x) {
          for (long y = 0; y < std::min(kRows, m - panel * kRows); ++y) {
            const long i = panel * kRows + y;
            T value = alpha * sum[x][y];
            if (beta != T(0)) value += beta * read(i, j + x);
            write(i, j + x, value);
          }
        }
      }
    }
  };
  const bool is_small =
      static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k) < 1e6;
  const long workers =
      is_small ? 1 : std::clamp<long>(std::thread::hardware_concurrency(), 1, quads);
  std::vector<std::thread> threads;
  for (long w = 1; w < workers; ++w)
    threads.emplace_back(columns, quads * w / workers, quads * (w + 1) / workers);
  columns(0, quads / workers);
  for (std::thread& thread : threads) thread.join();
}

}  // namespace simt::blas
