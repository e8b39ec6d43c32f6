/// \file
/// `CUDA_CHECK`: every call of the CUDA runtime either succeeds or says what went wrong, and where.
#pragma once

#include <cuda_runtime.h>

#include <stdexcept>
#include <string>

/// Evaluates a call that returns `cudaError_t`. Where it failed, reports the call, its file and
/// line, the name and the text of the error, and what usually helps.
///
/// Inside a rung the report becomes an ERROR row and the other rungs still run; anywhere else it
/// goes to stderr and the program ends with exit code 1.
#define CUDA_CHECK(call) ::lab::check_cuda((call), #call, __FILE__, __LINE__)

namespace lab {

/// Something that ends a rung, or, outside of one, the program.
class Failure : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A failed call of the CUDA runtime.
class CudaFailure : public Failure {
 public:
  CudaFailure(const std::string& message, cudaError_t code) : Failure(message), code_(code) {}
  /// The error that the call returned.
  cudaError_t code() const { return code_; }

 private:
  cudaError_t code_;
};

/// What usually helps after `error`, as a sentence; empty where there is nothing to add.
std::string advice(cudaError_t error);

/// What `CUDA_CHECK` calls.
void check_cuda(cudaError_t error, const char* call, const char* file, int line);

namespace detail {

/// Ends the rung, or outside of one the program, with a message.
[[noreturn]] void fail(const std::string& message);

/// Name, text and advice.
std::string describe(cudaError_t error);

/// While one lives, a failure is thrown instead of ending the program: a chapter opens one around
/// each rung.
class ThrowInstead {
 public:
  ThrowInstead();
  ~ThrowInstead();
  ThrowInstead(const ThrowInstead&) = delete;
  ThrowInstead& operator=(const ThrowInstead&) = delete;
};

}  // namespace detail

}  // namespace lab
