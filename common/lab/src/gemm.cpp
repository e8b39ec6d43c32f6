#include "lab/gemm.h"

#include <cuda_runtime.h>

#include <algorithm>
#include <cstdio>
#include <utility>

#include "lab/ceil_div.h"
#include "lab/check.h"
#include "lab/header.h"
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

GemmVariant::~GemmVariant() = default;
GemmRung::~GemmRung() = default;

namespace {

/// The product that a ladder is at: a case, or C = A B of its size.
GemmCase case_of(const Ladder& ladder) {
  if (ladder.case_number() >= 0) {
    return gemm_cases()[static_cast<std::size_t>(ladder.case_number())];
  }
  const Size& size = ladder.size();
  const auto extent = [](std::size_t value) { return static_cast<int>(value); };
  return {.m = extent(size.M), .n = extent(size.N), .k = extent(size.K)};
}

}  // namespace

GemmLadder::GemmLadder(Ladder& ladder) : ladder_(ladder), problem_(case_of(ladder), ladder.seed()) {
  const Header& header = ladder.header();
  if (ladder.is_first()) ladder.measure(Limit::copy);
  if (header.use_cublas != nullptr) {
    header.use_cublas(*this);
  } else if (!header.folder.empty()) {
    peer("cuBLAS", {}, {},
         ladder.on_simulator() ? "needs a GPU and cuBLAS" : "this program was built without it");
  }
}

GemmLadder::~GemmLadder() = default;

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
    add({.name = name,
         .launch = launcher(one.kernel, one.how),
         .variant = one.variant,
         .show = one.show});
  }
}

void GemmLadder::add(const GemmRung& rung) {
  const Gemm gemm = problem_.gemm();
  Rung entry;
  entry.name = rung.name;
  entry.variant = rung.variant;
  entry.prepare = [this] { problem_.prepare(); };
  if (rung.launch) entry.launch = [&] { rung.launch(gemm); };
  if (rung.show) entry.show = [&] { rung.show(gemm); };
  entry.outputs = {problem_.output()};
  entry.flops = gemm.flops();
  entry.limit = Limit::fp32;
  entry.peer = peer_;
  entry.may_do_nothing = problem_.what().alpha == 0 && problem_.what().beta == 1;
  ladder_.add(entry);
}

void GemmLadder::demonstrate(const std::string& name, GemmKernel kernel, const GemmLaunch& how) {
  demonstrate(name, launcher(kernel, how));
}

void GemmLadder::demonstrate(const std::string& name,
                             const std::function<void(const Gemm&)>& launch) {
  ladder_.demonstrate(name, [&] {
    problem_.prepare();
    launch(problem_.gemm());
  });
}

void GemmLadder::add_with(const std::function<void(Ladder&)>& add_rungs) {
  if (ladder_.is_first()) add_rungs(ladder_);
}

void GemmLadder::peer(const std::string& name, const std::function<void(const Gemm&)>& launch,
                      const std::function<Comparison(const Gemm&)>& proof,
                      const std::string& absent) {
  peer_ = {};
  peer_.name = name;
  peer_.absent = absent;
  peer_.prepare = [this] { problem_.prepare(); };
  if (launch) peer_.launch = [this, launch] { launch(problem_.gemm()); };
  if (proof) peer_.proof = [this, proof] { return proof(problem_.gemm()); };
}

}  // namespace lab
