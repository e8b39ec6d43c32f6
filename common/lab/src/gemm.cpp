#include "lab/gemm.h"

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
#include "lab/inputs.h"
#include "lab/rungs.h"
#include "lab/text.h"

namespace lab {

Gemm Gemm::rows(int first, int count) const {
  Gemm slice = *this;
  slice.m = count;
  slice.a = a + static_cast<std::size_t>(first) * static_cast<std::size_t>(lda);
  slice.c = c + static_cast<std::size_t>(first) * static_cast<std::size_t>(ldc);
  return slice;
}

void for_row_slices(const Gemm& gemm, int rows_per_block,
                    const std::function<void(const Gemm&)>& launch) {
  constexpr int most_blocks = 65535;
  const std::int64_t step = std::int64_t{most_blocks} * rows_per_block;
  for (std::int64_t first = 0; first < gemm.m; first += step) {
    launch(gemm.rows(static_cast<int>(first),
                     static_cast<int>(std::min<std::int64_t>(step, gemm.m - first))));
  }
}

void launch(GemmKernel kernel, const GemmLaunch& how, const Gemm& gemm) {
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

std::function<void(const Gemm&)> launcher(GemmKernel kernel, const GemmLaunch& how) {
  return [=](const Gemm& gemm) { launch(kernel, how, gemm); };
}

void print_registers(GemmKernel kernel, const GemmLaunch& how) {
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

GemmRung::~GemmRung() = default;

GemmLadder::~GemmLadder() = default;

GemmLadder::GemmLadder(int argc, char** argv)
    : GemmLadder(argc, argv, detail::config_of_header()) {}

GemmLadder::GemmLadder(int argc, char** argv, const ChapterConfig& config)
    : chapter_(argc, argv, SizeKind::m_n_k, config) {
  add_others();
}

/// The rungs that stand in files of their own.
void GemmLadder::add_others() {
  for (const auto& add_rungs : detail::rungs_of<GemmLadder>()) add_rungs(*this);
  for (const auto& add_rungs : detail::rungs_of<Chapter>()) add_with(add_rungs);
}

/// cuBLAS, unless the chapter said something else of its peer.
void GemmLadder::add_vendor() {
  if (!peer_.empty()) return;
  if (chapter_.header().use_cublas != nullptr) {
    chapter_.header().use_cublas(*this);
  } else if (!chapter_.header().folder.empty()) {
    skip_peer("cuBLAS", chapter_.on_simulator() ? "needs a GPU and cuBLAS"
                                                : "this program was built without it");
  }
}

void GemmLadder::add(const std::string& name, GemmKernel kernel, const GemmLaunch& how) {
  sweep(name, {{"", kernel, how}});
}

void GemmLadder::add(const std::string& name, const std::function<void(const Gemm&)>& launch) {
  add(name, "", launch);
}

void GemmLadder::add(const std::string& name, const std::string& variant,
                     const std::function<void(const Gemm&)>& launch) {
  add({.name = name, .launch = launch, .variant = variant});
}

void GemmLadder::sweep(const std::string& name, std::initializer_list<GemmVariant> variants) {
  for (const GemmVariant& one : variants) {
    add(name, one.variant, launcher(one.kernel, one.how));
  }
}

void GemmLadder::demonstrate(const std::string& name, GemmKernel kernel, const GemmLaunch& how) {
  demonstrate(name, launcher(kernel, how));
}

void GemmLadder::demonstrate(const std::string& name,
                             const std::function<void(const Gemm&)>& launch) {
  chapter_.require_finding(name);
  add(name, launch);
}

void GemmLadder::add(const GemmRung& rung) {
  items_.push_back({false, [this, rung] {
                      const std::shared_ptr<GemmProblem> problem = problem_;
                      Rung entry{.name = rung.name};
                      entry.variant = rung.variant;
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
                    }});
}

void GemmLadder::add_with(const std::function<void(Chapter&)>& add_rungs) {
  items_.push_back({true, [this, add_rungs] { add_rungs(chapter_); }});
}

void GemmLadder::peer(const std::string& name, const std::function<void(const Gemm&)>& launch,
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

void GemmLadder::skip_peer(const std::string& name, const std::string& reason) {
  peer_ = name;
  add_peer_ = [=, this] { chapter_.skip_peer(name, reason); };
}

void GemmLadder::add_all(bool with_others) {
  if (add_peer_ && !chapter_.wants_cases()) add_peer_();
  for (const Item& item : items_) {
    if (with_others || !item.other) item.add();
  }
}

int GemmLadder::run() {
  add_vendor();
  if (chapter_.wants_cases()) {
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
    const Size& size = chapter_.size();
    const auto extent = [](std::size_t value) { return static_cast<int>(value); };
    problem_ = std::make_shared<GemmProblem>(
        GemmCase{.m = extent(size.M), .n = extent(size.N), .k = extent(size.K)}, chapter_.seed(),
        reference_);
    add_all(std::exchange(first, false));
  });
}

}  // namespace lab
