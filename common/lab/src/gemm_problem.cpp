#include <cuda_runtime.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdio>
#include <limits>
#include <utility>

#include "lab/ceil_div.h"
#include "lab/check.h"
#include "lab/gemm.h"
#include "lab/inputs.h"
#include "lab/rungs.h"
#include "lab/text.h"

namespace lab {

namespace {

constexpr float gemm_nan = std::numeric_limits<float>::quiet_NaN();

/// Where element (row, col) of a matrix lies, in floats from the aligned address.
constexpr std::size_t gemm_index(int row, int col, int ld, int offset) {
  return static_cast<std::size_t>(offset) +
         static_cast<std::size_t>(row) * static_cast<std::size_t>(ld) +
         static_cast<std::size_t>(col);
}

/// Floats from the aligned address to behind the last element.
constexpr std::size_t gemm_extent(int rows, int cols, int ld, int offset) {
  return gemm_index(rows - 1, cols, ld, offset);
}

/// A NaN that says where it lies: what stands in the gaps of C, and must stay there.
float gap_mark(std::size_t i) {
  return std::bit_cast<float>(0x7FC00000u | static_cast<std::uint32_t>(i % 4194301 + 1));
}

/// A matrix with `filler(i)` in its gaps and `element(i)` for its i-th element in the order of rows.
template <class Element, class Filler>
std::vector<float> gemm_image(int rows, int cols, int ld, int offset, Element element,
                              Filler filler) {
  std::vector<float> image(gemm_extent(rows, cols, ld, offset));
  std::size_t at = 0, i = 0;
  for (; at < static_cast<std::size_t>(offset); ++at) image[at] = filler(at);
  for (int row = 0; row < rows; ++row) {
    for (int col = 0; col < cols; ++col) image[at++] = element(i++);
    if (row + 1 == rows) break;
    for (int gap = cols; gap < ld; ++gap, ++at) image[at] = filler(at);
  }
  return image;
}

/// The case with its leading dimensions filled in.
GemmCase completed(GemmCase what) {
  if (what.lda == 0) what.lda = what.k;
  if (what.ldb == 0) what.ldb = what.n;
  if (what.ldc == 0) what.ldc = what.n;
  if (what.m < 1 || what.n < 1 || what.k < 1 || what.lda < what.k || what.ldb < what.n ||
      what.ldc < what.n || std::min({what.offset_a, what.offset_b, what.offset_c}) < 0) {
    detail::fail("not a product: " + to_string(what));
  }
  return what;
}

}  // namespace

Size GemmCase::size() const {
  const auto wide = [](int extent) { return static_cast<std::size_t>(extent); };
  return {.kind = SizeKind::m_n_k, .M = wide(m), .N = wide(n), .K = wide(k)};
}

std::string to_string(const GemmCase& what) {
  return to_string(what.size()) +
         format(", alpha = %g, beta = %g, lda = %d, ldb = %d, ldc = %d, offsets %d %d %d",
                static_cast<double>(what.alpha), static_cast<double>(what.beta), what.lda, what.ldb,
                what.ldc, what.offset_a, what.offset_b, what.offset_c);
}

std::vector<GemmCase> gemm_cases() {
  constexpr std::array extents{1, 2, 3, 17, 31, 32, 33, 127, 128, 129, 255, 257};
  constexpr int n = static_cast<int>(extents.size());
  constexpr std::array alphas{1.0f, -0.5f};
  constexpr std::array betas{0.0f, 1.0f, -0.5f};

  std::vector<GemmCase> cases;
  std::uint64_t drawn = 0;  // every case and matrix draws for itself, the same in each run
  const auto draw = [&](int below) {
    return static_cast<int>(random_bits(0x6e33, drawn++) >> 33) % below;
  };
  const auto place = [&](int row, int& ld, int& offset) {
    switch (draw(3)) {
      case 0:  // no gap
        ld = row;
        break;
      case 1:  // rows that a float4 may begin
        ld = (row + 3) / 4 * 4 + 4 * draw(3);
        break;
      default:  // anything
        ld = row + draw(8);
        offset = 1 + draw(3);
    }
  };
  const auto add = [&](int m, int n, int k, float alpha, float beta) {
    GemmCase what{.m = m, .n = n, .k = k, .alpha = alpha, .beta = beta};
    place(k, what.lda, what.offset_a);
    place(n, what.ldb, what.offset_b);
    place(n, what.ldc, what.offset_c);
    cases.push_back(what);
  };

  // M, N and K are numbered i, i + d and 2 i + d: two of them determine i and d.
  for (int dozen = 0; dozen < n; ++dozen) {
    const int d = (dozen + 5) % n;  // not 0 first: M = N hides what is swapped
    for (int i = 0; i < n; ++i) {
      const auto extent = [&](int number) { return extents[static_cast<std::size_t>(number % n)]; };
      add(extent(i), extent(i + d), extent(2 * i + d), alphas[static_cast<std::size_t>(draw(2))],
          betas[static_cast<std::size_t>(draw(3))]);
    }
  }
  for (const float beta : betas) {
    add(33, 17, 31, 0, beta);
    add(129, 128, 255, 0, beta);
    add(3, 257, 2, 0, beta);
  }
  return cases;
}

Tolerance gemm_tolerance(const GemmCase& what) {
  const auto k = static_cast<std::size_t>(what.k);
  // The sum, and two more roundings with what beta adds, whose mean magnitude is 1/2.
  const double magnitude = (std::abs(what.alpha) * 0.25 * what.k + std::abs(what.beta) * 0.5) /
                           static_cast<double>(k + 2);
  Tolerance tolerance = tolerance_for_sum(k + 2, magnitude);
  tolerance.basis =
      format("K = %zu products of mean magnitude 1/4, alpha %g, beta %g, each sum in one chain", k,
             static_cast<double>(what.alpha), static_cast<double>(what.beta));
  return tolerance;
}

GemmProblem::GemmProblem(const GemmCase& what, std::uint64_t seed, const DeviceReference& reference)
    : case_(completed(what)),
      tolerance_(gemm_tolerance(case_)),
      a_(gemm_extent(case_.m, case_.k, case_.lda, case_.offset_a), "A"),
      b_(gemm_extent(case_.k, case_.n, case_.ldb, case_.offset_b), "B"),
      c_(gemm_extent(case_.m, case_.n, case_.ldc, case_.offset_c), "C") {
  const auto nothing = [](std::size_t) { return gemm_nan; };
  const auto elements = [](std::uint64_t s) {
    return [s](std::size_t i) { return random_float(s, i); };
  };
  const std::vector<float> a =
      gemm_image(case_.m, case_.k, case_.lda, case_.offset_a, elements(3 * seed), nothing);
  const std::vector<float> b =
      gemm_image(case_.k, case_.n, case_.ldb, case_.offset_b, elements(3 * seed + 1), nothing);
  a_.upload(a);
  b_.upload(b);
  const bool gaps = case_.ldc != case_.n || case_.offset_c != 0;
  if (gaps || case_.beta != 0) {
    const auto random = elements(3 * seed + 2);
    const float beta = case_.beta;
    c_before_ = gemm_image(
        case_.m, case_.n, case_.ldc, case_.offset_c,
        [=](std::size_t i) { return beta != 0 ? random(i) : gemm_nan; }, gap_mark);
  }

  // Which rows: all of them, or the first, the last and six in between.
  constexpr double most = 134217728;
  if (gemm().flops() / 2 <= most) {
    for (int row = 0; row < case_.m; ++row) rows_.push_back(row);
  } else {
    rows_ = {0, case_.m - 1};
    for (std::uint64_t i = 0; i < 6; ++i) {
      rows_.push_back(static_cast<int>(random_bits(seed, i) % static_cast<std::uint64_t>(case_.m)));
    }
    std::sort(rows_.begin(), rows_.end());
    rows_.erase(std::unique(rows_.begin(), rows_.end()), rows_.end());
    if (reference) {
      prepare();
      device_check_ = reference(gemm(), tolerance_);
    }
  }

  // The outer loop runs over B's rows, so that each is fetched from memory once.
  const std::size_t n = static_cast<std::size_t>(case_.n);
  expected_.assign(rows_.size() * n, 0.0);
  for (int l = 0; l < case_.k; ++l) {
    const float* const b_row = b.data() + gemm_index(l, 0, case_.ldb, case_.offset_b);
    for (std::size_t r = 0; r < rows_.size(); ++r) {
      const double factor = a[gemm_index(rows_[r], l, case_.lda, case_.offset_a)];
      double* const row = expected_.data() + r * n;
      for (std::size_t j = 0; j < n; ++j) row[j] += factor * static_cast<double>(b_row[j]);
    }
  }
  for (std::size_t r = 0; r < rows_.size(); ++r) {
    for (std::size_t j = 0; j < n; ++j) {
      double& element = expected_[r * n + j];
      element *= static_cast<double>(case_.alpha);
      if (case_.beta == 0) continue;
      const std::size_t at = gemm_index(rows_[r], static_cast<int>(j), case_.ldc, case_.offset_c);
      element += static_cast<double>(case_.beta) * static_cast<double>(c_before_[at]);
    }
  }
}

GemmProblem::~GemmProblem() = default;

Gemm GemmProblem::gemm() {
  return {.m = case_.m,
          .n = case_.n,
          .k = case_.k,
          .alpha = case_.alpha,
          .a = a_.data() + case_.offset_a,
          .lda = case_.lda,
          .b = b_.data() + case_.offset_b,
          .ldb = case_.ldb,
          .beta = case_.beta,
          .c = c_.data() + case_.offset_c,
          .ldc = case_.ldc};
}

void GemmProblem::prepare() {
  if (c_before_.empty()) {
    c_.poison();  // NaN
  } else {
    c_.upload(c_before_);
  }
}

Comparison GemmProblem::verify() {
  const bool all = rows_.size() == static_cast<std::size_t>(case_.m);
  Comparison found = all ? verify_all() : verify_rows();
  if (found.pass && device_check_) {
    const Comparison rest = device_check_();
    if (!rest.pass || rest.max_error > found.max_error) found = rest;
  }
  return found;
}

/// The whole of C, its gaps too.
Comparison GemmProblem::verify_all() {
  const std::vector<float> image = c_.download();
  const std::size_t n = static_cast<std::size_t>(case_.n);
  std::vector<float> got;
  got.reserve(expected_.size());
  std::vector<bool> in_gap;
  if (!c_before_.empty()) in_gap.assign(image.size(), true);
  for (int row = 0; row < case_.m; ++row) {
    const std::size_t start = gemm_index(row, 0, case_.ldc, case_.offset_c);
    got.insert(got.end(), image.begin() + static_cast<std::ptrdiff_t>(start),
               image.begin() + static_cast<std::ptrdiff_t>(start + n));
    for (std::size_t j = 0; !in_gap.empty() && j < n; ++j) in_gap[start + j] = false;
  }
  Comparison found = compare(got, expected_, tolerance_);
  if (!found.pass && found.first_mismatch != Comparison::none) {
    found.text +=
        format("; that is row %zu, column %zu", found.first_mismatch / n, found.first_mismatch % n);
  }
  for (std::size_t i = 0; found.pass && i < in_gap.size(); ++i) {
    if (!in_gap[i] ||
        std::bit_cast<std::uint32_t>(image[i]) == std::bit_cast<std::uint32_t>(c_before_[i])) {
      continue;
    }
    const std::size_t ld = static_cast<std::size_t>(case_.ldc);
    const std::size_t offset = static_cast<std::size_t>(case_.offset_c);
    return verdict(false, i < offset
                              ? format("a write before the start of C, by %zu floats", offset - i)
                              : format("a write between the rows of C: row %zu, column %zu of %zu",
                                       (i - offset) / ld, (i - offset) % ld, n));
  }
  return found;
}

/// Some rows of a C that is too large for the host.
Comparison GemmProblem::verify_rows() {
  const std::size_t n = static_cast<std::size_t>(case_.n);
  std::vector<float> got(expected_.size());
  const float* const c = gemm().c;
  for (std::size_t r = 0; r < rows_.size(); ++r) {
    const std::size_t start =
        static_cast<std::size_t>(rows_[r]) * static_cast<std::size_t>(case_.ldc);
    CUDA_CHECK(
        cudaMemcpy(got.data() + r * n, c + start, n * sizeof(float), cudaMemcpyDeviceToHost));
  }
  Comparison found = compare(got, expected_, tolerance_);
  found.text += format("; of %zu rows of %d", rows_.size(), case_.m);
  if (!found.pass && found.first_mismatch != Comparison::none) {
    found.text += format(", in row %d, column %zu", rows_[found.first_mismatch / n],
                         found.first_mismatch % n);
  }
  return found;
}

}  // namespace lab
