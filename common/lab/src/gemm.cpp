#include "lab/gemm.h"

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <cstdio>
#include <utility>

#include "lab/ceil_div.h"
#include "lab/check.h"
#include "lab/header.h"
#include "lab/text.h"

namespace lab {

template <class T>
void for_row_slices(const GemmOf<T>& gemm, int rows_per_block,
                    const std::function<void(const std::type_identity_t<GemmOf<T>>&)>& launch) {
  constexpr int most_blocks = 65535;
  const std::int64_t step = std::int64_t{most_blocks} * rows_per_block;
  for (std::int64_t first = 0; first < gemm.m; first += step) {
    launch(gemm.rows(static_cast<int>(first),
                     static_cast<int>(std::min<std::int64_t>(step, gemm.m - first))));
  }
}

template <class T>
void launch(GemmKernelOf<T> kernel, const GemmLaunch& how, const GemmOf<T>& gemm) {
  const void* const function = reinterpret_cast<const void*>(kernel);
  if (how.shared > std::size_t{48} << 10) {
    CUDA_CHECK(cudaFuncSetAttribute(function, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                    static_cast<int>(how.shared)));
  }
  for_row_slices(gemm, how.rows, [&](const GemmOf<T>& g) {
    GemmOf<T> slice = g;
    void* arguments[] = {&slice.m, &slice.n,   &slice.k,    &slice.alpha, &slice.a,  &slice.lda,
                         &slice.b, &slice.ldb, &slice.beta, &slice.c,     &slice.ldc};
    const dim3 grid(static_cast<unsigned>(ceil_div(g.n, how.cols)),
                    static_cast<unsigned>(ceil_div(g.m, how.rows)));
    CUDA_CHECK(cudaLaunchKernel(function, grid, how.threads, arguments, how.shared, nullptr));
  });
}

template <class T>
std::function<void(const GemmOf<T>&)> launcher(GemmKernelOf<T> kernel, const GemmLaunch& how) {
  return [=](const GemmOf<T>& gemm) { launch(kernel, how, gemm); };
}

template <class T>
void print_registers(GemmKernelOf<T> kernel, const GemmLaunch& how) {
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

template <class T>
GemmVariantOf<T>::~GemmVariantOf() = default;
template <class T>
GemmRungOf<T>::~GemmRungOf() = default;

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

template <class T>
GemmLadderOf<T>::GemmLadderOf(Ladder& ladder)
    : ladder_(ladder), problem_(case_of(ladder), ladder.seed()) {
  if (ladder.is_first()) ladder.measure(Limit::copy);
  use_cublas();
}

template <class T>
GemmLadderOf<T>::GemmLadderOf(Ladder& ladder, const GemmLoss& loss)
    : ladder_(ladder), beside_(loss), problem_(case_of(ladder), ladder.seed(), loss) {
  use_cublas();
}

template <class T>
void GemmLadderOf<T>::use_cublas() {
  const Header& header = ladder_.header();
  const auto use_cublas = [&] {
    if constexpr (std::is_same_v<T, float>)
      return header.use_cublas;
    else if constexpr (std::is_same_v<T, __half>)
      return header.use_cublas_f16;
    else
      return header.use_cublas_bf16;
  }();
  if (use_cublas != nullptr) {
    use_cublas(*this);
  } else if (!header.folder.empty()) {
    peer("cuBLAS", {}, {},
         ladder_.on_simulator() ? "needs a GPU and cuBLAS" : "this program was built without it");
  }
}

template <class T>
GemmLadderOf<T>::~GemmLadderOf() = default;

template <class T>
void GemmLadderOf<T>::add(const std::string& name, GemmKernelOf<T> kernel, const GemmLaunch& how) {
  sweep(name, {{"", kernel, how}});
}

template <class T>
void GemmLadderOf<T>::add(const std::string& name, const Launch& launch) {
  add(name, "", launch);
}

template <class T>
void GemmLadderOf<T>::add(const std::string& name, const std::string& variant,
                          const Launch& launch) {
  add({.name = name, .launch = launch, .variant = variant});
}

template <class T>
void GemmLadderOf<T>::sweep(const std::string& name,
                            std::initializer_list<GemmVariantOf<T>> variants) {
  for (const GemmVariantOf<T>& one : variants) {
    add({.name = name,
         .launch = launcher(one.kernel, one.how),
         .variant = one.variant,
         .show = one.show});
  }
}

template <class T>
void GemmLadderOf<T>::add(const GemmRungOf<T>& rung) {
  const GemmOf<T> gemm = problem_.gemm();
  Rung entry;
  entry.name = rung.name;
  entry.variant = rung.variant;
  entry.prepare = [this] { problem_.prepare(); };
  if (rung.launch) entry.launch = [&] { rung.launch(gemm); };
  if (rung.show) entry.show = [&] { rung.show(gemm); };
  entry.outputs = {problem_.output()};
  entry.flops = gemm.flops();
  entry.limit = std::is_same_v<T, float> && !beside_ ? Limit::fp32 : Limit::none;
  entry.peer = peer_;
  entry.may_do_nothing = problem_.what().alpha == 0 && problem_.what().beta == 1;
  ladder_.add(entry);
}

template <class T>
void GemmLadderOf<T>::demonstrate(const std::string& name, GemmKernelOf<T> kernel,
                                  const GemmLaunch& how) {
  demonstrate(name, launcher(kernel, how));
}

template <class T>
void GemmLadderOf<T>::demonstrate(const std::string& name, const Launch& launch) {
  ladder_.demonstrate(name, [&] {
    problem_.prepare();
    launch(problem_.gemm());
  });
}

template <class T>
void GemmLadderOf<T>::add_with(const std::function<void(Ladder&)>& add_rungs) {
  if (ladder_.is_first()) add_rungs(ladder_);
}

template <class T>
void GemmLadderOf<T>::peer(const std::string& name, const Launch& launch,
                           const std::function<Comparison(const GemmOf<T>&)>& proof,
                           const std::string& absent) {
  peer_ = {};
  peer_.name = name;
  peer_.absent = absent;
  peer_.prepare = [this] { problem_.prepare(); };
  if (launch) peer_.launch = [this, launch] { launch(problem_.gemm()); };
  if (proof) peer_.proof = [this, proof] { return proof(problem_.gemm()); };
}

// The types of elements that there are products of.
#define LAB_PRODUCTS_OF(T)                                                                     \
  template void for_row_slices(const GemmOf<T>&, int,                                          \
                               const std::function<void(const GemmOf<T>&)>&);                  \
  template void launch(GemmKernelOf<T>, const GemmLaunch&, const GemmOf<T>&);                  \
  template std::function<void(const GemmOf<T>&)> launcher(GemmKernelOf<T>, const GemmLaunch&); \
  template void print_registers(GemmKernelOf<T>, const GemmLaunch&);                           \
  template struct GemmVariantOf<T>;                                                            \
  template struct GemmRungOf<T>;                                                               \
  template class GemmLadderOf<T>

LAB_PRODUCTS_OF(float);
LAB_PRODUCTS_OF(__nv_bfloat16);
LAB_PRODUCTS_OF(__half);

}  // namespace lab
