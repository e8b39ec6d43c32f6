/// \file
/// Rung 0 of chapter 05: cuBLAS. bank_conflicts_peers_stub.cu stands in where there is none.

#include "lab/cublas_gemm.h"
#include "lab/gemm.h"

/// C = alpha A B + beta C by cuBLAS, in FP32.
///
/// @param gemm  the product, row-major
///
/// Launch: kernels of the library's choice.
/// Requires: cuBLAS; `lab::cublas_sgemm` says how it is called for row-major matrices.
void cublas(const lab::Gemm& gemm) { lab::cublas_sgemm(gemm); }

void register_peers(lab::GemmLadder& ladder) {
  lab::add_cublas(ladder);
  ladder.add({.name = "cublas",
              .idea = "the vendor's library: what all others are compared with",
              .launch = cublas});
}
