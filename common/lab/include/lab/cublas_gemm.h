/// \file
/// cuBLAS as the peer of the GEMM chapters. Only the gpu backend has its bodies (the library
/// `lab_cublas`), and calls them for every chapter about products. `cublas_sgemm_in_streams` is there in every build.
#pragma once

#include <cuda_runtime.h>

#include <functional>

#include "lab/gemm.h"
#include "lab/verify.h"

namespace lab {

/// C = alpha A B + beta C by `cublasSgemm`, in the default stream, on the FP32 pipes: math mode
/// `CUBLAS_DEFAULT_MATH`, which computes in TF32 only where the environment says so. That is refused
/// here (`NVIDIA_TF32_OVERRIDE=1`).
///
/// cuBLAS stores matrices by columns. A row-major matrix read by columns is its transpose, so it
/// computes C^T = B^T A^T: operands, M and N change places, and no element moves.
void cublas_sgemm(const Gemm& gemm);

/// The same in a stream, on the current device.
using SgemmLaunch = std::function<void(const Gemm&, cudaStream_t)>;
/// That of cuBLAS; empty where this build has none.
SgemmLaunch cublas_sgemm_in_streams();

/// The same for matrices of BF16 by `cublasGemmEx`, which adds up in FP32 (`CUBLAS_COMPUTE_32F`) and picks an algorithm
/// by its heuristic.
void cublas_bf16_gemm(const GemmOf<__nv_bfloat16>& gemm);

/// And for matrices of FP16, whose sums may not be rounded to FP16 before they are complete
/// (`CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION`).
void cublas_f16_gemm(const GemmOf<__half>& gemm);

/// For matrices of float that cuBLAS may cut to TF32 (`CUBLAS_COMPUTE_32F_FAST_TF32`).
void cublas_tf32_gemm(const Gemm& gemm);

/// Whether cuBLAS keeps all 24 bits for a product of this size: with a B that has a single 1 in each
/// column, every element of C must be exactly an element of A. TF32 and BF16 round A first and fail.
/// \param gemm says the extents, the leading dimensions and A; B and C are made anew
Comparison cublas_keeps_fp32(const Gemm& gemm);

/// Makes cuBLAS the peer of all rungs (named "cuBLAS", and held to `cublas_keeps_fp32`), and adds the rung `cublas`
/// where the header names one. In a ladder beside the chapter's own its name says the type, and it adds no rung. The build
/// puts it into the header of each gemm chapter where there is cuBLAS, see `Header::use_cublas`.
void use_cublas(GemmLadder& ladder);
void use_cublas(GemmLadderOf<__nv_bfloat16>& ladder);
void use_cublas(GemmLadderOf<__half>& ladder);

}  // namespace lab
