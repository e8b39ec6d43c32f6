/// \file
/// The routines of cuBLAS that the simulator carries out, on the host: results, no counts. Matrices are stored by columns;
/// `ld` is the distance of a column from the next. All return when they are done, and refuse operands that go past the
/// end of their allocation with a finding. cublas_v2.h includes this.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

// Of float (S) and double (D). Scalars and results are the host's or the device's, as the handle's pointer mode says.
#define SIMT_CUBLAS_REAL(letter, T)                                                              \
  /** y += alpha * x */                                                                          \
  cublasStatus_t cublas##letter##axpy(cublasHandle_t handle, int n, const T* alpha, const T* x,  \
                                      int incx, T* y, int incy);                                 \
  cublasStatus_t cublas##letter##dot(cublasHandle_t handle, int n, const T* x, int incx,         \
                                     const T* y, int incy, T* result);                           \
  cublasStatus_t cublas##letter##scal(cublasHandle_t handle, int n, const T* alpha, T* x,        \
                                      int incx);                                                 \
  cublasStatus_t cublas##letter##copy(cublasHandle_t handle, int n, const T* x, int incx, T* y,  \
                                      int incy);                                                 \
  cublasStatus_t cublas##letter##swap(cublasHandle_t handle, int n, T* x, int incx, T* y,        \
                                      int incy);                                                 \
  cublasStatus_t cublas##letter##nrm2(cublasHandle_t handle, int n, const T* x, int incx,        \
                                      T* result);                                                \
  cublasStatus_t cublas##letter##asum(cublasHandle_t handle, int n, const T* x, int incx,        \
                                      T* result);                                                \
  /** y = alpha * op(A) * x + beta * y, where A is m x n */                                      \
  cublasStatus_t cublas##letter##gemv(cublasHandle_t handle, cublasOperation_t op, int m, int n, \
                                      const T* alpha, const T* a, int lda, const T* x, int incx, \
                                      const T* beta, T* y, int incy);                            \
  /** A += alpha * x * y^T, where A is m x n */                                                  \
  cublasStatus_t cublas##letter##ger(cublasHandle_t handle, int m, int n, const T* alpha,        \
                                     const T* x, int incx, const T* y, int incy, T* a, int lda); \
  /** C = alpha * op(A) * op(B) + beta * C, where C is m x n, and k the inner extent */          \
  cublasStatus_t cublas##letter##gemm(                                                           \
      cublasHandle_t handle, cublasOperation_t opa, cublasOperation_t opb, int m, int n, int k,  \
      const T* alpha, const T* a, int lda, const T* b, int ldb, const T* beta, T* c, int ldc);   \
  cublasStatus_t cublas##letter##gemmStridedBatched(                                             \
      cublasHandle_t handle, cublasOperation_t opa, cublasOperation_t opb, int m, int n, int k,  \
      const T* alpha, const T* a, int lda, long long stride_a, const T* b, int ldb,              \
      long long stride_b, const T* beta, T* c, int ldc, long long stride_c, int count);          \
  /** The matrices lie where the device's lists of pointers say. */                              \
  cublasStatus_t cublas##letter##gemmBatched(                                                    \
      cublasHandle_t handle, cublasOperation_t opa, cublasOperation_t opb, int m, int n, int k,  \
      const T* alpha, const T* const a[], int lda, const T* const b[], int ldb, const T* beta,   \
      T* const c[], int ldc, int count);                                                         \
  /** C = alpha * op(A) + beta * op(B), where C is m x n */                                      \
  cublasStatus_t cublas##letter##geam(                                                           \
      cublasHandle_t handle, cublasOperation_t opa, cublasOperation_t opb, int m, int n,         \
      const T* alpha, const T* a, int lda, const T* beta, const T* b, int ldb, T* c, int ldc);
SIMT_CUBLAS_REAL(S, float)
SIMT_CUBLAS_REAL(D, double)
#undef SIMT_CUBLAS_REAL

// The first element whose magnitude is the largest, or the smallest, counted from 1.
cublasStatus_t cublasIsamax(cublasHandle_t handle, int n, const float* x, int incx, int* result);
cublasStatus_t cublasIdamax(cublasHandle_t handle, int n, const double* x, int incx, int* result);
cublasStatus_t cublasIsamin(cublasHandle_t handle, int n, const float* x, int incx, int* result);
cublasStatus_t cublasIdamin(cublasHandle_t handle, int n, const double* x, int incx, int* result);

cublasStatus_t cublasHgemm(cublasHandle_t handle, cublasOperation_t opa, cublasOperation_t opb,
                           int m, int n, int k, const __half* alpha, const __half* a, int lda,
                           const __half* b, int ldb, const __half* beta, __half* c, int ldc);
/// Products of __half, __nv_bfloat16, float, double and signed char; the sums are made in `compute`.
cublasStatus_t cublasGemmEx(cublasHandle_t handle, cublasOperation_t opa, cublasOperation_t opb,
                            int m, int n, int k, const void* alpha, const void* a,
                            cudaDataType a_type, int lda, const void* b, cudaDataType b_type,
                            int ldb, const void* beta, void* c, cudaDataType c_type, int ldc,
                            cublasComputeType_t compute, cublasGemmAlgo_t algorithm);
cublasStatus_t cublasGemmStridedBatchedEx(cublasHandle_t handle, cublasOperation_t opa,
                                          cublasOperation_t opb, int m, int n, int k,
                                          const void* alpha, const void* a, cudaDataType a_type,
                                          int lda, long long stride_a, const void* b,
                                          cudaDataType b_type, int ldb, long long stride_b,
                                          const void* beta, void* c, cudaDataType c_type, int ldc,
                                          long long stride_c, int count,
                                          cublasComputeType_t compute, cublasGemmAlgo_t algorithm);

// Vectors and matrices between host and device.
cublasStatus_t cublasSetVector(int n, int size, const void* x, int incx, void* device, int incy);
cublasStatus_t cublasGetVector(int n, int size, const void* device, int incx, void* y, int incy);
cublasStatus_t cublasSetMatrix(int rows, int columns, int size, const void* a, int lda,
                               void* device, int ldb);
cublasStatus_t cublasGetMatrix(int rows, int columns, int size, const void* device, int lda,
                               void* b, int ldb);
