#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <type_traits>
#include <utility>

#include "lab/check.h"
#include "lab/elements.h"
#include "lab/gemm.h"
#include "lab/inputs.h"
#include "lab/reference.h"
#include "lab/text.h"

namespace lab {

namespace {

/// Where element (row, col) of a matrix lies, in floats from the aligned address.
__host__ __device__ constexpr std::size_t gemm_index(int row, int col, int ld, int offset) {
  return static_cast<std::size_t>(offset) +
         static_cast<std::size_t>(row) * static_cast<std::size_t>(ld) +
         static_cast<std::size_t>(col);
}

/// Floats from the aligned address to behind the last element.
constexpr std::size_t gemm_extent(int rows, int cols, int ld, int offset) {
  return gemm_index(rows - 1, cols, ld, offset);
}

/// The bits of an element, as many as it has.
template <class T>
using BitsOf = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint16_t>;

template <class T>
__host__ __device__ BitsOf<T> bits_of(T value) {
  BitsOf<T> bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

/// One of the quiet NaNs, of which T has `nans<T>`.
template <class T>
constexpr std::size_t nans = sizeof(T) == 4 ? 4194301 : 61;

template <class T>
__host__ __device__ T nan_of(std::size_t which) {
  const auto bits = static_cast<BitsOf<T>>((sizeof(T) == 4 ? 0x7FC00000u : 0x7FC0u) | which);
  T value;
  memcpy(&value, &bits, sizeof bits);
  return value;
}

/// A matrix with its gaps: where its rows lie in the memory from the aligned address on.
struct Place {
  int cols, ld, offset;

  __host__ __device__ bool in_gap(std::size_t at) const {
    const auto first = static_cast<std::size_t>(offset);
    return at < first ||
           (at - first) % static_cast<std::size_t>(ld) >= static_cast<std::size_t>(cols);
  }
  /// Which element lies there, in the order of rows.
  __host__ __device__ std::size_t element(std::size_t at) const {
    const std::size_t from = at - static_cast<std::size_t>(offset),
                      pitch = static_cast<std::size_t>(ld);
    return from / pitch * static_cast<std::size_t>(cols) + from % pitch;
  }
};

/// A or B: random elements, or zeros; NaN between the rows.
template <class T>
struct InputImage {
  Place place;
  std::uint64_t seed;
  bool zeros = std::getenv("LAB_ZEROS") != nullptr;
  __host__ __device__ T operator()(std::size_t at) const {
    if (place.in_gap(at)) return nan_of<T>(0);
    return zeros ? T(0.0f) : T(random_float(seed, place.element(at)));
  }
};

/// C before the product: random elements or NaN, and between the rows a NaN that says where it lies and must stay.
template <class T>
struct OutputImage {
  Place place;
  std::uint64_t seed;
  bool random;
  __host__ __device__ T operator()(std::size_t at) const {
    if (place.in_gap(at)) return nan_of<T>(at % nans<T> + 1);
    return random ? T(random_float(seed, place.element(at))) : nan_of<T>(0);
  }
};

/// An element of alpha A B + beta C, in double.
template <class T>
struct ProductElement {
  GemmCase of;
  View<T> a, b, c;
  View<int> rows;  // which rows are wanted; empty: all
  __host__ __device__ double operator()(std::size_t i) const {
    const auto n = static_cast<std::size_t>(of.n);
    const int row = rows.size() == 0 ? static_cast<int>(i / n) : rows[i / n];
    const int col = static_cast<int>(i % n);
    const T* const a_row = a.data() + gemm_index(row, 0, of.lda, of.offset_a);
    const T* b_at = b.data() + gemm_index(0, col, of.ldb, of.offset_b);
    double sum = 0;
    for (int l = 0; l < of.k; ++l, b_at += of.ldb) {
      sum += static_cast<double>(static_cast<float>(a_row[l])) *
             static_cast<double>(static_cast<float>(*b_at));
    }
    sum *= static_cast<double>(of.alpha);
    if (of.beta == 0) return sum;
    return sum + static_cast<double>(of.beta) * static_cast<double>(static_cast<float>(
                                                    c[gemm_index(row, col, of.ldc, of.offset_c)]));
  }
};

constexpr std::size_t whole = ~std::size_t{0};

/// The index of an element in a gap that is not what it was, or `whole`.
template <class T>
struct DamageAt {
  Place place;
  View<T> now, before;
  __host__ __device__ std::size_t operator()(std::size_t at) const {
    return place.in_gap(at) && bits_of(now[at]) != bits_of(before[at]) ? at : ~std::size_t{0};
  }
};

struct Least {
  __host__ __device__ std::size_t operator()(std::size_t a, std::size_t b) const {
    return a < b ? a : b;
  }
};

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

/// C before the product of a case; none where it is tight rows of NaN.
template <class T>
std::optional<Input<T>> c_before(const GemmCase& of, std::uint64_t seed) {
  if (of.ldc == of.n && of.offset_c == 0 && of.beta == 0) return std::nullopt;
  const OutputImage<T> image{{of.n, of.ldc, of.offset_c}, 3 * seed + 2, of.beta != 0};
  return std::optional<Input<T>>(std::in_place, gemm_extent(of.m, of.n, of.ldc, of.offset_c), image,
                                 "C as it was");
}

/// The tolerance of a result that is rounded to T in the end.
template <class T>
Tolerance rounded_to(Tolerance tolerance) {
  if constexpr (std::is_same_v<T, __half>) {
    tolerance.relative += 0x1p-11;  // half a unit in the last of 11 bits
    tolerance.basis += ", rounded to FP16";
  } else if constexpr (!std::is_same_v<T, float>) {
    tolerance.relative += 0x1p-8;  // of 8 bits
    tolerance.basis += ", rounded to BF16";
  }
  return tolerance;
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

Tolerance gemm_tolerance(const GemmCase& what, const GemmLoss& loss) {
  const auto k = static_cast<std::size_t>(what.k);
  // The sum, and two more roundings with what beta adds, whose mean magnitude is 1/2.
  const double magnitude = (std::abs(what.alpha) * 0.25 * what.k + std::abs(what.beta) * 0.5) /
                           static_cast<double>(k + 2);
  Tolerance tolerance = tolerance_for_sum(k + 2, magnitude);
  tolerance.basis =
      format("K = %zu products of mean magnitude 1/4, alpha %g, beta %g, each sum in one chain", k,
             static_cast<double>(what.alpha), static_cast<double>(what.beta));
  if (loss.tf32) {
    // What is cut off is up to 2^-10 of an element, half of it on average: the same from both factors, and either way at random.
    constexpr double cut = 0x1p-10;
    tolerance.relative += cut;
    tolerance.absolute += 4 * std::sqrt(static_cast<double>(k)) * 2 * cut * 0.25 *
                          std::abs(static_cast<double>(what.alpha));
    tolerance.basis += ", A and B cut to TF32";
  }
  if (loss.cuts > 0) {
    // Each time up to 2^-23 of the sum so far, half of it on average, always towards zero; on average that sum is half of the last.
    tolerance.relative += loss.cuts * what.k * float_roundoff;
    tolerance.basis += ", sums cut off";
  }
  if (loss.dropped > 0) {
    // A random walk of k steps. With k = 1 that is what a product of magnitude 1, the largest, can lack.
    tolerance.absolute += 4 * std::sqrt(static_cast<double>(k)) * loss.dropped * 0.25 *
                          std::abs(static_cast<double>(what.alpha));
    tolerance.basis += format(", of each product up to %g dropped", loss.dropped);
  }
  return tolerance;
}

template <class T>
GemmProblemOf<T>::GemmProblemOf(const GemmCase& what, std::uint64_t seed, const GemmLoss& loss)
    : case_(completed(what)),
      tolerance_(rounded_to<T>(gemm_tolerance(case_, loss))),
      a_(gemm_extent(case_.m, case_.k, case_.lda, case_.offset_a),
         InputImage<T>{{case_.k, case_.lda, case_.offset_a}, 3 * seed}, "A"),
      b_(gemm_extent(case_.k, case_.n, case_.ldb, case_.offset_b),
         InputImage<T>{{case_.n, case_.ldb, case_.offset_b}, 3 * seed + 1}, "B"),
      c_before_(c_before<T>(case_, seed)),
      c_(gemm_extent(case_.m, case_.n, case_.ldc, case_.offset_c), "C") {
  constexpr double most = 134217728;
  std::size_t rows = static_cast<std::size_t>(case_.m);
  if (!references_on_device && gemm().flops() / 2 > most) {
    rows_ = {0, case_.m - 1};
    for (std::uint64_t i = 0; i < 6; ++i) {
      rows_.push_back(static_cast<int>(random_bits(seed, i) % static_cast<std::uint64_t>(case_.m)));
    }
    std::sort(rows_.begin(), rows_.end());
    rows_.erase(std::unique(rows_.begin(), rows_.end()), rows_.end());
    rows = rows_.size();
  }
  row_numbers_.emplace(rows_);
  want_.emplace(rows * static_cast<std::size_t>(case_.n));
  fill(*want_, ProductElement<T>{case_, a_.view(), b_.view(),
                                 c_before_ ? c_before_->view() : View<T>(), row_numbers_->view()});
}

template <class T>
GemmProblemOf<T>::~GemmProblemOf() = default;

template <class T>
GemmOf<T> GemmProblemOf<T>::gemm() {
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

template <class T>
void GemmProblemOf<T>::prepare() {
  if (!c_before_) {
    c_.poison();  // NaN
  } else {
    CUDA_CHECK(cudaMemcpy(c_.data(), std::as_const(*c_before_).data(), c_.size_bytes(),
                          cudaMemcpyDeviceToDevice));
  }
}

template <class T>
Comparison GemmProblemOf<T>::verify() {
  // On the simulator the host compares, its own copy.
  const std::vector<T> copy = references_on_device ? std::vector<T>() : c_.download();
  const View<T> image(references_on_device ? c_.data() : copy.data(), c_.size());
  const auto n = static_cast<std::size_t>(case_.n);
  Elements got = elements_of(image.data() + case_.offset_c, want_->size());
  got.cols = n;
  got.ld = static_cast<std::size_t>(case_.ldc);
  if (!rows_.empty()) got.rows = row_numbers_->view().data();
  const Elements want = elements_of(std::as_const(*want_).data(), want_->size());
  Comparison found =
      (references_on_device ? compare_on_device : compare_on_host)(got, want, tolerance_, nullptr);
  if (!rows_.empty()) {
    found.text += format("; of %zu rows of %d", rows_.size(), case_.m);
    if (!found.pass && found.first_mismatch != Comparison::none) {
      found.text += format(", in row %d, column %zu", rows_[found.first_mismatch / n],
                           found.first_mismatch % n);
    }
  }
  if (!found.pass || !c_before_) return found;

  const Place place{case_.n, case_.ldc, case_.offset_c};
  const std::size_t at =
      fold(c_.size(), whole, DamageAt<T>{place, image, c_before_->view()}, Least{});
  if (at == whole) return found;
  const auto offset = static_cast<std::size_t>(case_.offset_c),
             ld = static_cast<std::size_t>(case_.ldc);
  return verdict(false, at < offset
                            ? format("a write before the start of C, by %zu elements", offset - at)
                            : format("a write between the rows of C: row %zu, column %zu of %zu",
                                     (at - offset) / ld, (at - offset) % ld, n));
}

template <class T>
Expectation GemmProblemOf<T>::output() {
  return {[this] { c_.poison(); }, [this] { return verify(); }};
}

template class GemmProblemOf<float>;
template class GemmProblemOf<__nv_bfloat16>;
template class GemmProblemOf<__half>;

}  // namespace lab
