#pragma once

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
#include "lab/config.h"
#include "lab/gemm.h"
#include "lab/inputs.h"
#include "lab/rungs.h"
#include "lab/text.h"

namespace lab {

namespace detail {

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
LAB_INLINE float gap_mark(std::size_t i) {
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
LAB_INLINE GemmCase completed(GemmCase what) {
  if (what.lda == 0) what.lda = what.k;
  if (what.ldb == 0) what.ldb = what.n;
  if (what.ldc == 0) what.ldc = what.n;
  if (what.m < 1 || what.n < 1 || what.k < 1 || what.lda < what.k || what.ldb < what.n ||
      what.ldc < what.n || std::min({what.offset_a, what.offset_b, what.offset_c}) < 0) {
    fail("not a product: " + to_string(what));
  }
  return what;
}

}  // namespace detail

LAB_INLINE Gemm Gemm::rows(int first, int count) const {
  Gemm slice = *this;
  slice.m = count;
  slice.a = a + static_cast<std::size_t>(first) * static_cast<std::size_t>(lda);
  slice.c = c + static_cast<std::size_t>(first) * static_cast<std::size_t>(ldc);
  return slice;
}

LAB_INLINE void for_row_slices(const Gemm& gemm, int rows_per_block,
                               const std::function<void(const Gemm&)>& launch) {
  constexpr int most_blocks = 65535;
  const std::int64_t step = std::int64_t{most_blocks} * rows_per_block;
  for (std::int64_t first = 0; first < gemm.m; first += step) {
    launch(gemm.rows(static_cast<int>(first),
                     static_cast<int>(std::min<std::int64_t>(step, gemm.m - first))));
  }
}

LAB_INLINE void launch(GemmKernel kernel, const GemmLaunch& how, const Gemm& gemm) {
  const void* const function = reinterpret_cast<const void*>(kernel);
  if (how.shared > std::size_t{48} << 10) {
    CUDA_CHECK(cudaFuncSetAttribute(function, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                    static_cast<int>(how.shared)));
  }
  for_row_slices(gemm, how.rows, [&](const Gemm& g) {
    Gemm slice = g;
    void* arguments[] = {&slice.m, &slice.n,   &slice.k,    &slice.alpha, &slice.a,  &slice.lda,
                         &slice.b, &slice.ldb, &slice.beta, &slice.c,     &slice.ldc};
    const dim3 grid(static_cast<unsigned>(ceil_div(g.n, how.cols)),
                    static_cast<unsigned>(ceil_div(g.m, how.rows)));
    CUDA_CHECK(cudaLaunchKernel(function, grid, how.threads, arguments, how.shared, nullptr));
  });
}

LAB_INLINE std::function<void(const Gemm&)> launcher(GemmKernel kernel, const GemmLaunch& how) {
  return [=](const Gemm& gemm) { launch(kernel, how, gemm); };
}

LAB_INLINE void print_registers(GemmKernel kernel, const GemmLaunch& how) {
  if (this_backend().name == "simulator") return;
  const void* const function = reinterpret_cast<const void*>(kernel);
  const unsigned threads = how.threads.x * how.threads.y * how.threads.z;
  cudaFuncAttributes made{};
  int fit = 0;
  CUDA_CHECK(cudaFuncGetAttributes(&made, function));
  CUDA_CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&fit, function,
                                                           static_cast<int>(threads), how.shared));
  std::printf(
      "  %d registers and %zu bytes of local memory a thread; %d blocks of %u threads fit on an "
      "SM\n",
      made.numRegs, made.localSizeBytes, fit, threads);
}

LAB_INLINE Size GemmCase::size() const {
  const auto wide = [](int extent) { return static_cast<std::size_t>(extent); };
  return {.kind = SizeKind::m_n_k, .M = wide(m), .N = wide(n), .K = wide(k)};
}

LAB_INLINE std::string to_string(const GemmCase& what) {
  return to_string(what.size()) +
         format(", alpha = %g, beta = %g, lda = %d, ldb = %d, ldc = %d, offsets %d %d %d",
                static_cast<double>(what.alpha), static_cast<double>(what.beta), what.lda, what.ldb,
                what.ldc, what.offset_a, what.offset_b, what.offset_c);
}

LAB_INLINE std::vector<GemmCase> gemm_cases() {
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

LAB_INLINE Tolerance gemm_tolerance(const GemmCase& what) {
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

LAB_INLINE GemmProblem::GemmProblem(const GemmCase& what, std::uint64_t seed,
                                    const DeviceReference& reference)
    : case_(detail::completed(what)),
      tolerance_(gemm_tolerance(case_)),
      a_(detail::gemm_extent(case_.m, case_.k, case_.lda, case_.offset_a), "A"),
      b_(detail::gemm_extent(case_.k, case_.n, case_.ldb, case_.offset_b), "B"),
      c_(detail::gemm_extent(case_.m, case_.n, case_.ldc, case_.offset_c), "C") {
  const auto nothing = [](std::size_t) { return detail::gemm_nan; };
  const auto elements = [](std::uint64_t s) {
    return [s](std::size_t i) { return random_float(s, i); };
  };
  const std::vector<float> a =
      detail::gemm_image(case_.m, case_.k, case_.lda, case_.offset_a, elements(3 * seed), nothing);
  const std::vector<float> b = detail::gemm_image(case_.k, case_.n, case_.ldb, case_.offset_b,
                                                  elements(3 * seed + 1), nothing);
  a_.upload(a);
  b_.upload(b);
  const bool gaps = case_.ldc != case_.n || case_.offset_c != 0;
  if (gaps || case_.beta != 0) {
    const auto random = elements(3 * seed + 2);
    const float beta = case_.beta;
    c_before_ = detail::gemm_image(
        case_.m, case_.n, case_.ldc, case_.offset_c,
        [=](std::size_t i) { return beta != 0 ? random(i) : detail::gemm_nan; }, detail::gap_mark);
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
    const float* const b_row = b.data() + detail::gemm_index(l, 0, case_.ldb, case_.offset_b);
    for (std::size_t r = 0; r < rows_.size(); ++r) {
      const double factor = a[detail::gemm_index(rows_[r], l, case_.lda, case_.offset_a)];
      double* const row = expected_.data() + r * n;
      for (std::size_t j = 0; j < n; ++j) row[j] += factor * static_cast<double>(b_row[j]);
    }
  }
  for (std::size_t r = 0; r < rows_.size(); ++r) {
    for (std::size_t j = 0; j < n; ++j) {
      double& element = expected_[r * n + j];
      element *= static_cast<double>(case_.alpha);
      if (case_.beta == 0) continue;
      const std::size_t at =
          detail::gemm_index(rows_[r], static_cast<int>(j), case_.ldc, case_.offset_c);
      element += static_cast<double>(case_.beta) * static_cast<double>(c_before_[at]);
    }
  }
}

LAB_INLINE GemmProblem::~GemmProblem() = default;

LAB_INLINE Gemm GemmProblem::gemm() {
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

LAB_INLINE void GemmProblem::prepare() {
  if (c_before_.empty()) {
    c_.poison();  // NaN
  } else {
    c_.upload(c_before_);
  }
}

LAB_INLINE Comparison GemmProblem::verify() {
  const bool all = rows_.size() == static_cast<std::size_t>(case_.m);
  Comparison found = all ? verify_all() : verify_rows();
  if (found.pass && device_check_) {
    const Comparison rest = device_check_();
    if (!rest.pass || rest.max_error > found.max_error) found = rest;
  }
  return found;
}

/// The whole of C, its gaps too.
LAB_INLINE Comparison GemmProblem::verify_all() {
  const std::vector<float> image = c_.download();
  const std::size_t n = static_cast<std::size_t>(case_.n);
  std::vector<float> got;
  got.reserve(expected_.size());
  std::vector<bool> in_gap;
  if (!c_before_.empty()) in_gap.assign(image.size(), true);
  for (int row = 0; row < case_.m; ++row) {
    const std::size_t start = detail::gemm_index(row, 0, case_.ldc, case_.offset_c);
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
LAB_INLINE Comparison GemmProblem::verify_rows() {
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

LAB_INLINE GemmLadder::GemmLadder(int argc, char** argv, const char* name, const char* default_size)
    : chapter_(argc, argv, SizeKind::m_n_k,
               this_header().folder.empty()
                   ? ChapterConfig{.name = name, .default_size = default_size}
                   : detail::config_of_header()) {
  add_others();
}

LAB_INLINE GemmLadder::GemmLadder(int argc, char** argv, const ChapterConfig& config)
    : chapter_(argc, argv, SizeKind::m_n_k, config) {
  add_others();
}

/// The rungs that stand in files of their own.
LAB_INLINE void GemmLadder::add_others() {
  for (const auto& add_rungs : detail::rungs_of<GemmLadder>()) add_rungs(*this);
  for (const auto& add_rungs : detail::rungs_of<Chapter>()) add_with(add_rungs);
}

/// cuBLAS, unless the chapter said something else of its peer.
LAB_INLINE void GemmLadder::add_vendor() {
  if (!peer_.empty()) return;
  if (chapter_.header().use_cublas != nullptr) {
    chapter_.header().use_cublas(*this);
  } else if (!chapter_.header().folder.empty()) {
    skip_peer("cuBLAS", chapter_.on_simulator() ? "needs a GPU and cuBLAS"
                                                : "this program was built without it");
  }
}

LAB_INLINE void GemmLadder::add(const std::string& name, GemmKernel kernel, const GemmLaunch& how) {
  sweep(name, {{"", kernel, how}});
}

LAB_INLINE void GemmLadder::add(const std::string& name,
                                const std::function<void(const Gemm&)>& launch) {
  add(name, "", launch);
}

LAB_INLINE void GemmLadder::add(const std::string& name, const std::string& variant,
                                const std::function<void(const Gemm&)>& launch) {
  add({.name = name, .launch = launch, .variant = variant});
}

LAB_INLINE void GemmLadder::sweep(const std::string& name,
                                  std::initializer_list<GemmVariant> variants) {
  for (const GemmVariant& one : variants) {
    add(name, one.variant, launcher(one.kernel, one.how));
  }
}

LAB_INLINE void GemmLadder::demonstrate(const std::string& name, GemmKernel kernel,
                                        const GemmLaunch& how) {
  demonstrate(name, launcher(kernel, how));
}

LAB_INLINE void GemmLadder::demonstrate(const std::string& name,
                                        const std::function<void(const Gemm&)>& launch) {
  const HeaderRung* const line = chapter_.header().find(name);
  if (line == nullptr || line->raises.empty()) {
    detail::fail("demonstration " + name + ": its line in the header has no [raises KIND]");
  }
  add({.name = name, .launch = launch, .expect_finding = line->raises});
}

LAB_INLINE void GemmLadder::add(const GemmRung& rung) {
  items_.push_back({false,
                    [this, rung] {
                      if (chapter_.wants_list())
                        return chapter_.skip(rung.name, "listed", rung.idea);
                      const std::shared_ptr<GemmProblem> problem = problem_;
                      Rung entry{.name = rung.name, .idea = rung.idea};
                      entry.variant = rung.variant;
                      entry.expect_finding = rung.expect_finding;
                      entry.min_compute_capability = rung.min_compute_capability;
                      entry.prepare = [problem] { problem->prepare(); };
                      if (rung.launch)
                        entry.launch = [problem, rung] { rung.launch(problem->gemm()); };
                      entry.verify = [problem] { return problem->verify(); };
                      if (rung.show) entry.show = [problem, rung] { rung.show(problem->gemm()); };
                      entry.flops = problem->gemm().flops();
                      entry.limit = Limit::fp32;
                      entry.peer = chapter_.wants_cases() ? "" : peer_;
                      entry.outputs = {&problem->output()};
                      entry.may_do_nothing =
                          problem->what().alpha == 0 && problem->what().beta == 1;
                      chapter_.add(entry);
                    },
                    rung.name});
}

LAB_INLINE void GemmLadder::add_with(const std::function<void(Chapter&)>& add_rungs) {
  items_.push_back({true, [this, add_rungs] { add_rungs(chapter_); }});
}

LAB_INLINE void GemmLadder::skip(const std::string& rung, const std::string& reason,
                                 const std::string& idea) {
  items_.push_back({false, [=, this] { chapter_.skip(rung, reason, idea); }, rung});
}

LAB_INLINE bool GemmLadder::has(std::string_view rung) const {
  return std::any_of(items_.begin(), items_.end(),
                     [&](const Item& item) { return item.name == rung; });
}

LAB_INLINE void GemmLadder::peer(const std::string& name,
                                 const std::function<void(const Gemm&)>& launch,
                                 const std::function<Comparison(const Gemm&)>& verify) {
  peer_ = name;
  add_peer_ = [=, this] {
    const std::shared_ptr<GemmProblem> problem = problem_;
    // It writes the same C as the rung: each of the two finds it full of NaN before it is checked.
    chapter_.peer({.name = name,
                   .launch = [=] { launch(problem->gemm()); },
                   .flops = problem->gemm().flops(),
                   .verify =
                       [=] {
                         Comparison found = problem->verify();
                         return found.pass && verify ? verify(problem->gemm()) : found;
                       },
                   .prepare = [=] { problem->prepare(); },
                   .outputs = {&problem->output()}});
  };
}

LAB_INLINE void GemmLadder::skip_peer(const std::string& name, const std::string& reason) {
  peer_ = name;
  add_peer_ = [=, this] { chapter_.skip_peer(name, reason); };
}

LAB_INLINE void GemmLadder::add_all(bool with_others) {
  if (add_peer_ && !chapter_.wants_cases() && !chapter_.wants_list()) add_peer_();
  for (const Item& item : items_) {
    if (with_others || !item.other) item.add();
  }
}

LAB_INLINE int GemmLadder::run() {
  add_vendor();
  if (chapter_.wants_cases() && !chapter_.wants_list()) {
    const std::vector<GemmCase> cases = gemm_cases();
    return chapter_.run_cases(cases.size(), [&](std::size_t i) -> CaseName {
      problem_ = std::make_shared<GemmProblem>(cases[i], chapter_.seed());
      add_all(false);
      return {cases[i].size(), to_string(cases[i])};
    });
  }
  chapter_.measure(Limit::copy);
  bool first = true;
  return chapter_.run([&] {
    problem_.reset();
    if (!chapter_.wants_list()) {
      const Size& size = chapter_.size();
      const auto extent = [](std::size_t value) { return static_cast<int>(value); };
      problem_ = std::make_shared<GemmProblem>(
          GemmCase{.m = extent(size.M), .n = extent(size.N), .k = extent(size.K)}, chapter_.seed(),
          reference_);
    }
    add_all(std::exchange(first, false));
  });
}

}  // namespace lab
