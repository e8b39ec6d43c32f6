// A program as a reader writes it around any_product.cuh: every kernel of the menu on products that leave no tile whole, the
// function in both orders with all transpositions, and what it refuses. Exit code 0: all is right. With an argument:
// the one kernel of that number alone.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <memory>
#include <vector>

#include "any_product.cuh"

using namespace any_product;

namespace {

int wrong = 0;

struct Shape {
  int m, n, k;
  bool ta, tb;
  int gap, offset;  // floats behind each row; from an aligned address
};

/// A matrix in device memory, and what it holds.
struct Matrix {
  std::vector<float> host;
  float* device = nullptr;

  Matrix(size_t floats, bool random) : host(floats, NAN) {
    unsigned state = 12345 + static_cast<unsigned>(floats);
    for (float& x : host) {
      state = state * 1664525 + 1013904223;
      if (random) x = static_cast<float>(state >> 21) / 1024 - 1;
    }
    cudaMalloc(&device, floats * sizeof(float));
    cudaMemcpy(device, host.data(), floats * sizeof(float), cudaMemcpyHostToDevice);
  }
  Matrix(const Matrix&) = delete;
  Matrix& operator=(const Matrix&) = delete;
  ~Matrix() { cudaFree(device); }
};

/// Computes one product by launch(a, lda, b, ldb, c, ldc), over a C full of NaN, and compares all of C and its gaps.
template <class Launch>
void check(const char* name, const Shape& s, float alpha, Launch launch) {
  const size_t lda = static_cast<size_t>(std::max(1, s.ta ? s.m : s.k) + s.gap);
  const size_t ldb = static_cast<size_t>(std::max(1, s.tb ? s.k : s.n) + s.gap);
  const size_t ldc = static_cast<size_t>(s.n + s.gap), off = static_cast<size_t>(s.offset);
  const size_t rows_a = static_cast<size_t>(s.ta ? s.k : s.m),
               rows_b = static_cast<size_t>(s.tb ? s.n : s.k);
  Matrix a(rows_a * lda + off + 1, true), b(rows_b * ldb + off + 1, true);
  Matrix c(static_cast<size_t>(s.m) * ldc + off, false);
  const std::vector<float> before = c.host;
  const cudaError_t error = launch(a.device + off, lda, b.device + off, ldb, c.device + off, ldc);
  const cudaError_t done = cudaDeviceSynchronize();
  cudaMemcpy(c.host.data(), c.device, c.host.size() * sizeof(float), cudaMemcpyDeviceToHost);
  int bad = 0;
  for (size_t at = 0; at < c.host.size(); ++at) {
    const size_t i = at < off ? 0 : (at - off) / ldc, j = at < off ? ldc : (at - off) % ldc;
    if (j >= static_cast<size_t>(s.n)) {
      bad += std::memcmp(&c.host[at], &before[at], sizeof(float)) != 0;
      continue;
    }
    double sum = 0;
    for (size_t l = 0; l < static_cast<size_t>(s.k); ++l)
      sum += double(a.host[off + (s.ta ? l * lda + i : i * lda + l)]) *
             b.host[off + (s.tb ? j * ldb + l : l * ldb + j)];
    bad += !(std::fabs(c.host[at] - alpha * sum) < 1e-4);
  }
  if (error == cudaSuccess && done == cudaSuccess && bad == 0) return;
  std::printf("%s, %d x %d x %d, %d%d: %d elements wrong, %s\n", name, s.m, s.n, s.k, s.ta, s.tb,
              bad, cudaGetErrorString(error != cudaSuccess ? error : done));
  ++wrong;
}

}  // namespace

int main(int argc, char** argv) {
  const int only = argc > 1 ? std::atoi(argv[1]) : -1;
  void* workspace;
  cudaMalloc(&workspace, WORKSPACE);
  cudaMemset(workspace, 0, WORKSPACE);
  const Shape shapes[] = {{130, 70, 35, false, false, 0, 0}, {65, 140, 50, true, true, 3, 1},
                          {36, 132, 50, true, false, 4, 0},  {33, 129, 64, true, false, 3, 0},
                          {100, 260, 50, false, true, 1, 0}, {1, 70, 300, false, false, 0, 0},
                          {3, 37, 270, false, true, 0, 0},   {40, 2, 300, true, false, 0, 0},
                          {50, 7, 270, false, true, 1, 1},   {36, 66, 50, true, false, 0, 0},
                          {66, 36, 50, true, false, 0, 0}};
  for (const Shape& s : shapes) {
    for (int i = 0; i < static_cast<int>(std::size(menu)); ++i) {
      const Kernel& kernel = menu[i];
      if (only >= 0 && i != only) continue;
      const bool thin = kernel.kind == Kind::COLUMNS || kernel.kind == Kind::ROWS;
      const bool along_k = s.m <= s.n ? s.tb : !s.ta;
      if (thin && (kernel.bm < std::min(s.m, s.n) || (kernel.kind == Kind::ROWS) != along_k))
        continue;
      if (kernel.kind == Kind::LITTLE && s.m * s.n > 9000) continue;
      if (kernel.kind == Kind::STAGED && !s.ta && s.tb) continue;  // both lie along K
      for (const int parts : {1, 3}) {
        for (const bool second : {false, true}) {
          if (second && (parts == 1 || (kernel.kind != Kind::TILE && kernel.kind != Kind::STAGED)))
            continue;
          if (parts > 1 && (kernel.kind == Kind::STREAM || kernel.kind == Kind::LITTLE)) continue;
          if (parts > 1 && s.k < 3 * (thin ? 64 : 16)) continue;
          check(kernel.name, s, -0.5f,
                [&](const float* a, size_t lda, const float* b, size_t ldb, float* c, size_t ldc) {
                  const auto ll = [](size_t x) { return static_cast<long long>(x); };
                  return kernel.launch(row_major(s.ta, s.tb, s.m, s.n, s.k, -0.5f, a, ll(lda), b,
                                                 ll(ldb), 0, c, ll(ldc)),
                                       parts, second, workspace, nullptr);
                });
        }
      }
    }
    if (only >= 0) continue;
    for (const bool room : {true, false}) {
      for (const Order order : {Order::ROW_MAJOR, Order::COLUMN_MAJOR}) {
        check("sgemm", s, 2,
              [&](const float* a, size_t lda, const float* b, size_t ldb, float* c, size_t ldc) {
                const auto ll = [](size_t x) { return static_cast<long long>(x); };
                void* const with = room ? workspace : nullptr;
                // Told in columns, it is the transposed product.
                return order == Order::ROW_MAJOR
                           ? sgemm(order, s.ta, s.tb, s.m, s.n, s.k, 2, a, ll(lda), b, ll(ldb), 0,
                                   c, ll(ldc), with, nullptr)
                           : sgemm(order, s.tb, s.ta, s.n, s.m, s.k, 2, b, ll(ldb), a, ll(lda), 0,
                                   c, ll(ldc), with, nullptr);
              });
      }
    }
  }
  const auto plain = [&](int m, int n, int k, float alpha, float beta, float* c) {
    return sgemm(Order::ROW_MAJOR, false, false, m, n, k, alpha, nullptr, std::max(1, k), nullptr,
                 std::max(1, n), beta, c, std::max(1, n), workspace, nullptr);
  };
  if (only < 0) {
    // Nothing to multiply: A and B are not read. No C at all: nothing is launched.
    check("k = 0", {5, 7, 0, false, false, 0, 0}, 1,
          [&](const float*, size_t, const float*, size_t, float* c, size_t) {
            return plain(5, 7, 0, 1, 0, c);
          });
    check("alpha = 0", {5, 7, 9, false, false, 0, 0}, 0,
          [&](const float*, size_t, const float*, size_t, float* c, size_t) {
            return plain(5, 7, 9, 0, 0, c);
          });
    const auto expect = [](const char* what, cudaError_t got, cudaError_t want) {
      if (got == want) return;
      std::printf("%s: %s\n", what, cudaGetErrorString(got));
      ++wrong;
    };
    expect("m = 0", plain(0, 7, 9, 1, 0, nullptr), cudaSuccess);
    expect("n = 0", plain(7, 0, 9, 1, 0, nullptr), cudaSuccess);
    expect("m = -1", plain(-1, 7, 9, 1, 0, nullptr), cudaErrorInvalidValue);
    float x = 0;
    const auto refuse = [&](const char* what, long long m, long long lda, long long ldb,
                            long long ldc) {
      expect(what,
             sgemm(Order::ROW_MAJOR, false, true, m, 7, 9, 1, &x, lda, &x, ldb, 0, &x, ldc,
                   workspace, nullptr),
             cudaErrorInvalidValue);
    };
    refuse("lda", 5, 8, 9, 7);
    refuse("ldb", 5, 9, 8, 7);
    refuse("ldc", 5, 9, 9, 6);
    refuse("m above the limit", 1LL << 31, 9, 9, 7);
  }
  cudaFree(workspace);
  return wrong == 0 ? 0 : 1;
}
