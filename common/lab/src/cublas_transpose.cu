/// \file
/// Body of lab/cublas_transpose.h.

#include <cublas_v2.h>

#include <string>

#include "lab/check.h"
#include "lab/cublas_transpose.h"

namespace lab {

namespace {

void check(cublasStatus_t status, const char* call) {
  if (status == CUBLAS_STATUS_SUCCESS) return;
  throw Failure(std::string(call) + " returned " + cublasGetStatusName(status) + ": " +
                cublasGetStatusString(status));
}

}  // namespace

void cublas_transpose(float* out, const float* in, int rows, int cols) {
  static const cublasHandle_t handle = [] {
    cublasHandle_t made = nullptr;
    check(cublasCreate(&made), "cublasCreate");
    return made;
  }();
  // By columns, as cuBLAS stores, in is (cols, rows) and out is (rows, cols): out = in^T, whoever reads them.
  const float one = 1, zero = 0;
  check(cublasSgeam(handle, CUBLAS_OP_T, CUBLAS_OP_N, rows, cols, &one, in, cols, &zero, out, rows,
                    out, rows),
        "cublasSgeam");
}

}  // namespace lab
