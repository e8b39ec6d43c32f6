// One call of a routine of cuBLAS.
#pragma once

#include <cublas_v2.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "base/text.h"
#include "libraries/operands.h"
#include "memory/allocations.h"
#include "report/errors.h"
#include "report/log.h"
#include "runtime/streams.h"

namespace simt::blas {

// One call of a routine: what is wrong with its arguments, and what it writes.
class Call {
 public:
  Call(cublasHandle_t handle, const char* name, uint64_t caller)
      : handle_(handle), operands_(name, caller) {
    if (!handle) status_ = CUBLAS_STATUS_NOT_INITIALIZED;
    if (device::sticky_error()) status_ = CUBLAS_STATUS_EXECUTION_FAILED;
  }

  // An argument that may not have this value.
  void require(bool right, const std::string& what) {
    if (right || status_ != CUBLAS_STATUS_SUCCESS) return;
    status_ = CUBLAS_STATUS_INVALID_VALUE;
    operands_.report("api-error", Severity::warning, what, {});
  }

  // `count` elements, `apart` from each other.
  template <class T>
  void vector(const char* what, const T* x, int n, int apart, bool written = false) {
    if (n <= 0) return;
    const uint64_t steps = static_cast<uint64_t>(std::abs(apart));
    reach(what, x, ((static_cast<uint64_t>(n) - 1) * steps + 1) * sizeof(T), written);
  }
  void matrix(const char* what, const void* a, uint64_t element, int rows, int columns, int ld,
              bool written = false) {
    require(ld >= std::max(1, rows),
            "the leading dimension of " + std::string(what) + " is " + std::to_string(ld) +
                ", and a column has " +
                plural(static_cast<uint64_t>(std::max(rows, 0)), "element"));
    if (rows <= 0 || columns <= 0) return;
    reach(what, a,
          (static_cast<uint64_t>(columns - 1) * static_cast<uint64_t>(ld) +
           static_cast<uint64_t>(rows)) *
              element,
          written);
  }
  template <class T>
  void matrix(const char* what, const T* a, int rows, int columns, int ld, bool written = false) {
    matrix(what, a, sizeof(T), rows, columns, ld, written);
  }

  // Does the work, if nothing is wrong.
  template <class Work>
  cublasStatus_t run(Work work) {
    if (status_ != CUBLAS_STATUS_SUCCESS) return status_;
    device::note_uncounted("What cuBLAS computes is carried out on the host and not counted.");
    const cudaError_t error = graphs::enqueue(handle_->stream, cudaGraphNodeTypeHost,
                                              [work, written = operands_.written()] {
                                                work();
                                                for (const auto& [begin, size] : written)
                                                  memory::mark_written(begin, size);
                                                // For a number that it is given the host waits.
                                                stream_order::host_was_called();
                                                return cudaSuccess;
                                              });
    return error == cudaSuccess ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_EXECUTION_FAILED;
  }

 private:
  void reach(const char* what, const void* pointer, uint64_t size, bool written) {
    if (written && operands_.has_failed()) runtime::Operands::assume_written(pointer, size);
    if (status_ != CUBLAS_STATUS_SUCCESS) return;
    if (!operands_.reach(what, pointer, size, written)) status_ = CUBLAS_STATUS_EXECUTION_FAILED;
  }

  cublasHandle_t handle_;
  runtime::Operands operands_;
  cublasStatus_t status_ = CUBLAS_STATUS_SUCCESS;
};

// Where the element (i, j) of a matrix lies, or of what it is transposed.
inline std::ptrdiff_t place(bool transposed, std::ptrdiff_t i, std::ptrdiff_t j, int ld) {
  return transposed ? i * ld + j : j * ld + i;
}

}  // namespace simt::blas

#define SIMT_CALL(name) simt::blas::Call(handle, name, SIMT_CALLER)
