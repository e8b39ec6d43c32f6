// The routines of cuBLAS for vectors, and those between a matrix and vectors: see simt/cublas_routines.h.
#include <cmath>

#include "ending/unread_results.h"
#include "libraries/blas_call.h"

namespace {

using namespace simt;
using blas::Call;
using blas::place;

// The elements of a vector; a negative distance begins at the end.
template <class T>
T* start(T* x, int n, int apart) {
  return apart < 0 ? x - static_cast<std::ptrdiff_t>(n - 1) * apart : x;
}
template <class T, class F>
void each(int n, T* x, int apart, F f) {
  T* p = start(x, n, apart);
  for (int i = 0; i < n; ++i, p += apart) f(*p);
}
template <class T, class U, class F>
void each(int n, T* x, int incx, U* y, int incy, F f) {
  T* p = start(x, n, incx);
  U* q = start(y, n, incy);
  for (int i = 0; i < n; ++i, p += incx, q += incy) f(*p, *q);
}

// The routines of a real type.
template <class T>
struct VectorRoutines {
  static cublasStatus_t axpy(Call call, int n, const T* alpha, const T* x, int incx, T* y,
                             int incy) {
    call.vector("x", x, n, incx);
    call.vector("y", y, n, incy, true);
    const T factor = *alpha;  // which may be gone when a graph runs
    return call.run([=] { each(n, x, incx, y, incy, [=](const T& a, T& b) { b += factor * a; }); });
  }
  static cublasStatus_t dot(Call call, int n, const T* x, int incx, const T* y, int incy,
                            T* result) {
    call.vector("x", x, n, incx);
    call.vector("y", y, n, incy);
    return call.run([=] {
      double sum = 0;
      each(n, x, incx, y, incy, [&](const T& a, const T& b) { sum += static_cast<double>(a) * b; });
      give(result, static_cast<T>(sum));
    });
  }
  static cublasStatus_t scal(Call call, int n, const T* alpha, T* x, int incx) {
    call.vector("x", x, n, incx, true);
    const T factor = *alpha;
    return call.run([=] { each(n, x, incx, [=](T& a) { a *= factor; }); });
  }
  static cublasStatus_t copy(Call call, int n, const T* x, int incx, T* y, int incy) {
    call.vector("x", x, n, incx);
    call.vector("y", y, n, incy, true);
    return call.run([=] { each(n, x, incx, y, incy, [](const T& a, T& b) { b = a; }); });
  }
  static cublasStatus_t swap(Call call, int n, T* x, int incx, T* y, int incy) {
    call.vector("x", x, n, incx, true);
    call.vector("y", y, n, incy, true);
    return call.run([=] { each(n, x, incx, y, incy, [](T& a, T& b) { std::swap(a, b); }); });
  }
  static cublasStatus_t nrm2(Call call, int n, const T* x, int incx, T* result) {
    call.vector("x", x, n, incx);
    return call.run([=] {
      double sum = 0;
      each(n, x, incx, [&](const T& a) { sum += static_cast<double>(a) * a; });
      give(result, static_cast<T>(std::sqrt(sum)));
    });
  }
  static cublasStatus_t asum(Call call, int n, const T* x, int incx, T* result) {
    call.vector("x", x, n, incx);
    return call.run([=] {
      double sum = 0;
      each(n, x, incx, [&](const T& a) { sum += std::fabs(a); });
      give(result, static_cast<T>(sum));
    });
  }
  static cublasStatus_t extreme(Call call, int n, const T* x, int incx, int* result, bool largest) {
    call.vector("x", x, n, incx);
    return call.run([=] {
      int place = 0, i = 0;
      T best = 0;
      each(n, x, incx, [&](const T& a) {
        ++i;
        const T magnitude = std::fabs(a);
        if (place && (largest ? magnitude <= best : magnitude >= best)) return;
        place = i;
        best = magnitude;
      });
      give(result, place);
    });
  }
  static cublasStatus_t gemv(Call call, cublasOperation_t op, int m, int n, const T* alpha,
                             const T* a, int lda, const T* x, int incx, const T* beta, T* y,
                             int incy) {
    const bool transposed = op != CUBLAS_OP_N;
    const int rows = transposed ? n : m, columns = transposed ? m : n;
    call.matrix("A", a, m, n, lda);
    call.vector("x", x, columns, incx);
    call.vector("y", y, rows, incy, true);
    const T factor = *alpha, kept = *beta;
    return call.run([=] {
      int i = 0;
      each(rows, y, incy, [&](T& result) {
        double sum = 0;
        int j = 0;
        each(columns, x, incx, [&](const T& value) {
          sum += static_cast<double>(a[place(transposed, i, j, lda)]) * value;
          ++j;
        });
        result = static_cast<T>(factor * sum) + (kept != 0 ? kept * result : T(0));
        ++i;
      });
    });
  }
  static cublasStatus_t ger(Call call, int m, int n, const T* alpha, const T* x, int incx,
                            const T* y, int incy, T* a, int lda) {
    call.vector("x", x, m, incx);
    call.vector("y", y, n, incy);
    call.matrix("A", a, m, n, lda, true);
    const T factor = *alpha;
    return call.run([=] {
      int j = 0;
      each(n, y, incy, [&](const T& right) {
        int i = 0;
        each(m, x, incx,
             [&](const T& left) { a[place(false, i++, j, lda)] += factor * left * right; });
        ++j;
      });
    });
  }
  static cublasStatus_t geam(Call call, cublasOperation_t opa, cublasOperation_t opb, int m, int n,
                             const T* alpha, const T* a, int lda, const T* beta, const T* b,
                             int ldb, T* c, int ldc) {
    const bool ta = opa != CUBLAS_OP_N, tb = opb != CUBLAS_OP_N;
    if (a) call.matrix("A", a, ta ? n : m, ta ? m : n, lda);
    if (b) call.matrix("B", b, tb ? n : m, tb ? m : n, ldb);
    call.matrix("C", c, m, n, ldc, true);
    const T by_a = *alpha, by_b = *beta;
    return call.run([=] {
      for (int j = 0; j < n; ++j) {
        for (int i = 0; i < m; ++i) {
          const T left = a && by_a != 0 ? by_a * a[place(ta, i, j, lda)] : T(0);
          const T right = b && by_b != 0 ? by_b * b[place(tb, i, j, ldb)] : T(0);
          c[place(false, i, j, ldc)] = left + right;
        }
      }
    });
  }

 private:
  // To the host's memory or the device's.
  template <class R>
  static void give(R* to, R value) {
    *to = value;
    memory::mark_written(reinterpret_cast<uint64_t>(to), sizeof(R));
    if (!memory::in_device_arena(reinterpret_cast<uint64_t>(to))) device::note_came_back();
  }
};

cublasStatus_t copied(cudaError_t error) {
  return error == cudaSuccess ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_MAPPING_ERROR;
}

}  // namespace

#define SIMT_CUBLAS_REAL(letter, T)                                                                \
  cublasStatus_t cublas##letter##axpy(cublasHandle_t handle, int n, const T* alpha, const T* x,    \
                                      int incx, T* y, int incy) {                                  \
    return VectorRoutines<T>::axpy(SIMT_CALL("cublas" #letter "axpy"), n, alpha, x, incx, y,       \
                                   incy);                                                          \
  }                                                                                                \
  cublasStatus_t cublas##letter##dot(cublasHandle_t handle, int n, const T* x, int incx,           \
                                     const T* y, int incy, T* result) {                            \
    return VectorRoutines<T>::dot(SIMT_CALL("cublas" #letter "dot"), n, x, incx, y, incy, result); \
  }                                                                                                \
  cublasStatus_t cublas##letter##scal(cublasHandle_t handle, int n, const T* alpha, T* x,          \
                                      int incx) {                                                  \
    return VectorRoutines<T>::scal(SIMT_CALL("cublas" #letter "scal"), n, alpha, x, incx);         \
  }                                                                                                \
  cublasStatus_t cublas##letter##copy(cublasHandle_t handle, int n, const T* x, int incx, T* y,    \
                                      int incy) {                                                  \
    return VectorRoutines<T>::copy(SIMT_CALL("cublas" #letter "copy"), n, x, incx, y, incy);       \
  }                                                                                                \
  cublasStatus_t cublas##letter##swap(cublasHandle_t handle, int n, T* x, int incx, T* y,          \
                                      int incy) {                                                  \
    return VectorRoutines<T>::swap(SIMT_CALL("cublas" #letter "swap"), n, x, incx, y, incy);       \
  }                                                                                                \
  cublasStatus_t cublas##letter##nrm2(cublasHandle_t handle, int n, const T* x, int incx,          \
                                      T* result) {                                                 \
    return VectorRoutines<T>::nrm2(SIMT_CALL("cublas" #letter "nrm2"), n, x, incx, result);        \
  }                                                                                                \
  cublasStatus_t cublas##letter##asum(cublasHandle_t handle, int n, const T* x, int incx,          \
                                      T* result) {                                                 \
    return VectorRoutines<T>::asum(SIMT_CALL("cublas" #letter "asum"), n, x, incx, result);        \
  }                                                                                                \
  cublasStatus_t cublas##letter##gemv(cublasHandle_t handle, cublasOperation_t op, int m, int n,   \
                                      const T* alpha, const T* a, int lda, const T* x, int incx,   \
                                      const T* beta, T* y, int incy) {                             \
    return VectorRoutines<T>::gemv(SIMT_CALL("cublas" #letter "gemv"), op, m, n, alpha, a, lda, x, \
                                   incx, beta, y, incy);                                           \
  }                                                                                                \
  cublasStatus_t cublas##letter##ger(cublasHandle_t handle, int m, int n, const T* alpha,          \
                                     const T* x, int incx, const T* y, int incy, T* a, int lda) {  \
    return VectorRoutines<T>::ger(SIMT_CALL("cublas" #letter "ger"), m, n, alpha, x, incx, y,      \
                                  incy, a, lda);                                                   \
  }                                                                                                \
  cublasStatus_t cublas##letter##geam(                                                             \
      cublasHandle_t handle, cublasOperation_t opa, cublasOperation_t opb, int m, int n,           \
      const T* alpha, const T* a, int lda, const T* beta, const T* b, int ldb, T* c, int ldc) {    \
    return VectorRoutines<T>::geam(SIMT_CALL("cublas" #letter "geam"), opa, opb, m, n, alpha, a,   \
                                   lda, beta, b, ldb, c, ldc);                                     \
  }
SIMT_CUBLAS_REAL(S, float)
SIMT_CUBLAS_REAL(D, double)
#undef SIMT_CUBLAS_REAL

cublasStatus_t cublasIsamax(cublasHandle_t handle, int n, const float* x, int incx, int* result) {
  return VectorRoutines<float>::extreme(SIMT_CALL("cublasIsamax"), n, x, incx, result, true);
}
cublasStatus_t cublasIdamax(cublasHandle_t handle, int n, const double* x, int incx, int* result) {
  return VectorRoutines<double>::extreme(SIMT_CALL("cublasIdamax"), n, x, incx, result, true);
}
cublasStatus_t cublasIsamin(cublasHandle_t handle, int n, const float* x, int incx, int* result) {
  return VectorRoutines<float>::extreme(SIMT_CALL("cublasIsamin"), n, x, incx, result, false);
}
cublasStatus_t cublasIdamin(cublasHandle_t handle, int n, const double* x, int incx, int* result) {
  return VectorRoutines<double>::extreme(SIMT_CALL("cublasIdamin"), n, x, incx, result, false);
}

cublasStatus_t cublasSetVector(int n, int size, const void* x, int incx, void* device, int incy) {
  if (n < 0 || size <= 0 || incx <= 0 || incy <= 0) return CUBLAS_STATUS_INVALID_VALUE;
  const auto bytes = static_cast<size_t>(size);
  return copied(cudaMemcpy2D(device, bytes * static_cast<size_t>(incy), x,
                             bytes * static_cast<size_t>(incx), bytes, static_cast<size_t>(n),
                             cudaMemcpyHostToDevice));
}
cublasStatus_t cublasGetVector(int n, int size, const void* device, int incx, void* y, int incy) {
  if (n < 0 || size <= 0 || incx <= 0 || incy <= 0) return CUBLAS_STATUS_INVALID_VALUE;
  const auto bytes = static_cast<size_t>(size);
  return copied(cudaMemcpy2D(y, bytes * static_cast<size_t>(incy), device,
                             bytes * static_cast<size_t>(incx), bytes, static_cast<size_t>(n),
                             cudaMemcpyDeviceToHost));
}
cublasStatus_t cublasSetMatrix(int rows, int columns, int size, const void* a, int lda,
                               void* device, int ldb) {
  if (rows < 0 || columns < 0 || size <= 0 || lda < rows || ldb < rows)
    return CUBLAS_STATUS_INVALID_VALUE;
  const auto bytes = static_cast<size_t>(size);
  return copied(cudaMemcpy2D(device, bytes * static_cast<size_t>(ldb), a,
                             bytes * static_cast<size_t>(lda), bytes * static_cast<size_t>(rows),
                             static_cast<size_t>(columns), cudaMemcpyHostToDevice));
}
cublasStatus_t cublasGetMatrix(int rows, int columns, int size, const void* device, int lda,
                               void* b, int ldb) {
  if (rows < 0 || columns < 0 || size <= 0 || lda < rows || ldb < rows)
    return CUBLAS_STATUS_INVALID_VALUE;
  const auto bytes = static_cast<size_t>(size);
  return copied(cudaMemcpy2D(b, bytes * static_cast<size_t>(ldb), device,
                             bytes * static_cast<size_t>(lda), bytes * static_cast<size_t>(rows),
                             static_cast<size_t>(columns), cudaMemcpyDeviceToHost));
}
