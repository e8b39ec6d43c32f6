/// \file
/// Bodies of lab/cublas_gemm.h.

#include <cublas_v2.h>
#include <cuda_runtime.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "lab/buffer.h"
#include "lab/check.h"
#include "lab/cublas_gemm.h"
#include "lab/text.h"

namespace lab {

namespace {

void check_cublas(cublasStatus_t status, const char* call) {
  if (status == CUBLAS_STATUS_SUCCESS) return;
  throw Failure(std::string(call) + " returned " + cublasGetStatusName(status) + ": " +
                cublasGetStatusString(status));
}

/// One handle for the process; it ends with it.
cublasHandle_t handle() {
  static const cublasHandle_t shared = [] {
    const char* const override = std::getenv("NVIDIA_TF32_OVERRIDE");
    if (override != nullptr && std::string_view(override) == "1") {
      throw Failure("NVIDIA_TF32_OVERRIDE=1 makes cuBLAS compute in TF32: unset it");
    }
    cublasHandle_t made = nullptr;
    check_cublas(cublasCreate(&made), "cublasCreate");
    check_cublas(cublasSetMathMode(made, CUBLAS_DEFAULT_MATH), "cublasSetMathMode");
    return made;
  }();
  return shared;
}

constexpr int threads = 256;
constexpr int blocks = 2048;

/// A row-major matrix in tight rows of doubles.
__global__ void widen(double* to, const float* from, int ld, int rows, int cols) {
  const std::size_t n = static_cast<std::size_t>(rows) * static_cast<std::size_t>(cols);
  const std::size_t step = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n; i += step) {
    to[i] = static_cast<double>(from[i / cols * static_cast<std::size_t>(ld) + i % cols]);
  }
}

/// A matrix with a 1 in row `col % rows` of each column, and zeros elsewhere.
__global__ void pick(float* to, int ld, int rows, int cols) {
  const std::size_t n = static_cast<std::size_t>(rows) * static_cast<std::size_t>(cols);
  const std::size_t step = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n; i += step) {
    const std::size_t row = i / cols, col = i % cols;
    to[row * static_cast<std::size_t>(ld) + col] = row == col % rows ? 1.0f : 0.0f;
  }
}

/// What a comparison on the device found.
struct Found {
  unsigned long long mismatches;
  unsigned long long first;     ///< index of the first mismatch
  unsigned long long max_bits;  ///< bits of the largest error, a double from 0 up
  unsigned long long nans;
};

/// Compares `got` (ld) with `want(row, col)`.
template <class Want>
__global__ void compare_elements(const float* got, int ld, int rows, int cols, Want want,
                                 double tolerance, Found* found) {
  const std::size_t n = static_cast<std::size_t>(rows) * static_cast<std::size_t>(cols);
  const std::size_t step = std::size_t{gridDim.x} * blockDim.x;
  double worst = 0;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n; i += step) {
    const std::size_t row = i / cols, col = i % cols;
    const double error =
        fabs(static_cast<double>(got[row * static_cast<std::size_t>(ld) + col]) - want(row, col));
    if (error > worst) worst = error;
    if (error <= tolerance) continue;  // which no NaN is
    if (!(error > tolerance)) atomicAdd(&found->nans, 1ull);
    atomicAdd(&found->mismatches, 1ull);
    atomicMin(&found->first, static_cast<unsigned long long>(i));
  }
  // The bits of doubles from 0 up are in the order of the doubles.
  if (worst > 0) {
    atomicMax(&found->max_bits, static_cast<unsigned long long>(__double_as_longlong(worst)));
  }
}

template <class Want>
Comparison compare_on_device(const Gemm& gemm, Want want, const Tolerance& tolerance) {
  DeviceBuffer<Found> found(1, "what the comparison found");
  found.upload(std::vector<Found>{{0, std::numeric_limits<unsigned long long>::max(), 0, 0}});
  compare_elements<<<blocks, threads>>>(gemm.c, gemm.ldc, gemm.m, gemm.n, want, tolerance.absolute,
                                        found.data());
  CUDA_CHECK(cudaGetLastError());
  const Found result = found.download()[0];

  Comparison comparison;
  comparison.size = static_cast<std::size_t>(gemm.m) * static_cast<std::size_t>(gemm.n);
  comparison.mismatches = result.mismatches;
  comparison.pass = result.mismatches == 0;
  comparison.tolerance = tolerance.absolute;
  static_assert(sizeof(double) == sizeof(result.max_bits));
  std::memcpy(&comparison.max_error, &result.max_bits, sizeof(double));
  if (result.nans > 0) comparison.max_error = std::numeric_limits<double>::quiet_NaN();
  if (!comparison.pass) {
    comparison.first_mismatch = result.first;
    comparison.text = format("%llu of %zu elements are wrong, the first at row %llu, column %llu; ",
                             result.mismatches, comparison.size,
                             result.first / static_cast<unsigned long long>(gemm.n),
                             result.first % static_cast<unsigned long long>(gemm.n));
  } else {
    comparison.text = format("%zu elements, ", comparison.size);
  }
  comparison.text += format("largest error %.3g, allowed %.3g (%s)", comparison.max_error,
                            comparison.tolerance, tolerance.basis.c_str());
  return comparison;
}

/// Element (row, col) of a tight matrix of doubles.
struct Stored {
  const double* values;
  int cols;
  __device__ double operator()(std::size_t row, std::size_t col) const {
    return values[row * static_cast<std::size_t>(cols) + col];
  }
};

/// What a product with a picking matrix gives: element (row, col % k) of A.
struct Picked {
  const float* a;
  int lda, k;
  __device__ double operator()(std::size_t row, std::size_t col) const {
    return static_cast<double>(
        a[row * static_cast<std::size_t>(lda) + col % static_cast<std::size_t>(k)]);
  }
};

std::size_t product(int a, int b) {
  return static_cast<std::size_t>(a) * static_cast<std::size_t>(b);
}

}  // namespace

void cublas_sgemm(const Gemm& gemm) {
  check_cublas(cublasSgemm(handle(), CUBLAS_OP_N, CUBLAS_OP_N, gemm.n, gemm.m, gemm.k, &gemm.alpha,
                           gemm.b, gemm.ldb, gemm.a, gemm.lda, &gemm.beta, gemm.c, gemm.ldc),
               "cublasSgemm");
}

std::function<Comparison()> cublas_reference(const Gemm& gemm, const Tolerance& tolerance) {
  const auto want =
      std::make_shared<DeviceBuffer<double>>(product(gemm.m, gemm.n), "the reference");
  {
    DeviceBuffer<double> a(product(gemm.m, gemm.k), "A in double"),
        b(product(gemm.k, gemm.n), "B in double");
    widen<<<blocks, threads>>>(a.data(), gemm.a, gemm.lda, gemm.m, gemm.k);
    widen<<<blocks, threads>>>(b.data(), gemm.b, gemm.ldb, gemm.k, gemm.n);
    widen<<<blocks, threads>>>(want->data(), gemm.c, gemm.ldc, gemm.m, gemm.n);
    CUDA_CHECK(cudaGetLastError());
    const double alpha = gemm.alpha, beta = gemm.beta;
    check_cublas(cublasDgemm(handle(), CUBLAS_OP_N, CUBLAS_OP_N, gemm.n, gemm.m, gemm.k, &alpha,
                             b.data(), gemm.n, a.data(), gemm.k, &beta, want->data(), gemm.n),
                 "cublasDgemm");
    CUDA_CHECK(cudaDeviceSynchronize());
  }
  return [=] { return compare_on_device(gemm, Stored{want->data(), gemm.n}, tolerance); };
}

Comparison cublas_keeps_fp32(const Gemm& gemm) {
  DeviceBuffer<float> b(product(gemm.k, gemm.n), "a B that picks"),
      c(product(gemm.m, gemm.n), "what it picked");
  pick<<<blocks, threads>>>(b.data(), gemm.n, gemm.k, gemm.n);
  CUDA_CHECK(cudaGetLastError());
  Gemm probe = gemm;
  probe.alpha = 1, probe.beta = 0;
  probe.b = b.data(), probe.ldb = gemm.n;
  probe.c = c.data(), probe.ldc = gemm.n;
  c.poison();
  cublas_sgemm(probe);
  Comparison found = compare_on_device(probe, Picked{gemm.a, gemm.lda, gemm.k}, Tolerance::exact());
  if (!found.pass) found.text = "cuBLAS does not compute in FP32: " + found.text;
  return found;
}

void use_cublas(GemmLadder& ladder) {
  ladder.peer("cuBLAS", cublas_sgemm, cublas_keeps_fp32);
  ladder.reference(cublas_reference);
  if (ladder.chapter().header().find("cublas") != nullptr) ladder.add("cublas", cublas_sgemm);
}

}  // namespace lab
