/// \file
/// Bodies of lab/cublas_gemm.h.

#include <cublas_v2.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <cstdlib>
#include <map>
#include <string>
#include <string_view>

#include "lab/buffer.h"
#include "lab/check.h"
#include "lab/cublas_gemm.h"
#include "lab/expect.h"
#include "lab/text.h"

namespace lab {

namespace {

void check_cublas(cublasStatus_t status, const char* call) {
  if (status == CUBLAS_STATUS_SUCCESS) return;
  throw Failure(std::string(call) + " returned " + cublasGetStatusName(status) + ": " +
                cublasGetStatusString(status));
}

/// One handle of the current device for the process; it ends with it.
cublasHandle_t handle() {
  static std::map<int, cublasHandle_t> of_devices;
  int device = 0;
  CUDA_CHECK(cudaGetDevice(&device));
  cublasHandle_t& made = of_devices[device];
  if (made != nullptr) return made;
  const char* const override = std::getenv("NVIDIA_TF32_OVERRIDE");
  if (override != nullptr && std::string_view(override) == "1") {
    throw Failure("NVIDIA_TF32_OVERRIDE=1 makes cuBLAS compute in TF32: unset it");
  }
  check_cublas(cublasCreate(&made), "cublasCreate");
  check_cublas(cublasSetMathMode(made, CUBLAS_DEFAULT_MATH), "cublasSetMathMode");
  return made;
}

constexpr int threads = 256;
constexpr int blocks = 2048;

/// A matrix with a 1 in row `col % rows` of each column, and zeros elsewhere.
__global__ void pick(float* to, int ld, int rows, int cols) {
  const std::size_t n = static_cast<std::size_t>(rows) * static_cast<std::size_t>(cols);
  const std::size_t step = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n; i += step) {
    const std::size_t row = i / cols, col = i % cols;
    to[row * static_cast<std::size_t>(ld) + col] = row == col % rows ? 1.0f : 0.0f;
  }
}

/// What a product with a picking matrix gives: element (row, col % k) of A.
struct Picked {
  const float* a;
  std::size_t lda, k, n;
  __host__ __device__ float operator()(std::size_t i) const { return a[i / n * lda + i % n % k]; }
};

std::size_t product(int a, int b) {
  return static_cast<std::size_t>(a) * static_cast<std::size_t>(b);
}

/// A product by `cublasGemmEx`, which picks an algorithm by its heuristic.
template <class T>
void gemm_ex(const GemmOf<T>& gemm, cudaDataType type, cublasComputeType_t compute) {
  check_cublas(cublasGemmEx(handle(), CUBLAS_OP_N, CUBLAS_OP_N, gemm.n, gemm.m, gemm.k, &gemm.alpha,
                            gemm.b, type, gemm.ldb, gemm.a, type, gemm.lda, &gemm.beta, gemm.c,
                            type, gemm.ldc, compute, CUBLAS_GEMM_DEFAULT),
               "cublasGemmEx");
}

}  // namespace

void cublas_sgemm(const Gemm& gemm) {
  check_cublas(cublasSgemm(handle(), CUBLAS_OP_N, CUBLAS_OP_N, gemm.n, gemm.m, gemm.k, &gemm.alpha,
                           gemm.b, gemm.ldb, gemm.a, gemm.lda, &gemm.beta, gemm.c, gemm.ldc),
               "cublasSgemm");
}

SgemmLaunch cublas_sgemm_in_streams() {
  return [](const Gemm& gemm, cudaStream_t stream) {
    check_cublas(cublasSetStream(handle(), stream), "cublasSetStream");
    cublas_sgemm(gemm);
    check_cublas(cublasSetStream(handle(), nullptr), "cublasSetStream");
  };
}

void cublas_bf16_gemm(const GemmOf<__nv_bfloat16>& gemm) {
  gemm_ex(gemm, CUDA_R_16BF, CUBLAS_COMPUTE_32F);
}

void cublas_f16_gemm(const GemmOf<__half>& gemm) {
  // By default parts of a sum may be rounded to FP16 before they are added up.
  constexpr auto sums_in_fp32 = static_cast<cublasMath_t>(
      CUBLAS_DEFAULT_MATH | CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION);
  check_cublas(cublasSetMathMode(handle(), sums_in_fp32), "cublasSetMathMode");
  gemm_ex(gemm, CUDA_R_16F, CUBLAS_COMPUTE_32F);
  check_cublas(cublasSetMathMode(handle(), CUBLAS_DEFAULT_MATH), "cublasSetMathMode");
}

void cublas_tf32_gemm(const Gemm& gemm) { gemm_ex(gemm, CUDA_R_32F, CUBLAS_COMPUTE_32F_FAST_TF32); }

Comparison cublas_keeps_fp32(const Gemm& gemm) {
  DeviceBuffer<float> b(product(gemm.k, gemm.n), "a B that picks"),
      c(product(gemm.m, gemm.n), "what it picked");
  pick<<<blocks, threads>>>(b.data(), gemm.n, gemm.k, gemm.n);
  CUDA_CHECK(cudaGetLastError());
  Gemm probe = gemm;
  probe.alpha = 1, probe.beta = 0;
  probe.b = b.data(), probe.ldb = gemm.n;
  probe.c = c.data(), probe.ldc = gemm.n;
  const auto extent = [](int value) { return static_cast<std::size_t>(value); };
  const Picked picked{gemm.a, extent(gemm.lda), extent(gemm.k), extent(gemm.n)};
  const Expectation exactly = expect(c, picked);
  exactly.poison();
  cublas_sgemm(probe);
  Comparison found = exactly.check();
  if (!found.pass) found.text = "cuBLAS does not compute in FP32: " + found.text;
  return found;
}

void use_cublas(GemmLadder& ladder) {
  if (ladder.beside()) {
    if (ladder.beside()->tf32) return ladder.peer("cuBLAS TF32", cublas_tf32_gemm);
    return ladder.peer("cuBLAS FP32", cublas_sgemm, cublas_keeps_fp32);
  }
  ladder.peer("cuBLAS", cublas_sgemm, cublas_keeps_fp32);
  if (ladder.ladder().header().find("cublas") != nullptr) ladder.add("cublas", cublas_sgemm);
}

void use_cublas(GemmLadderOf<__nv_bfloat16>& ladder) {
  ladder.peer("cuBLAS", cublas_bf16_gemm);
  if (ladder.ladder().header().find("cublas") != nullptr) ladder.add("cublas", cublas_bf16_gemm);
}

void use_cublas(GemmLadderOf<__half>& ladder) { ladder.peer("cuBLAS FP16", cublas_f16_gemm); }

}  // namespace lab
