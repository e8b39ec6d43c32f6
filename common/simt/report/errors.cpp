#include "report/errors.h"

#include <utility>

#include "report/api_errors.h"

namespace simt::device {
namespace {

cudaError_t sticky = cudaSuccess;
bool surfaced = false;  // a call has waited for the kernel that failed, or came after one that has
bool assertion_told = false;
thread_local cudaError_t last_error = cudaSuccess;  // as in CUDA, each host thread has its own

}  // namespace

cudaError_t result(cudaError_t error) {
  if (sticky == cudaErrorAssert) assertion_told = true;
  if (sticky != cudaSuccess) return sticky_error();
  if (error != cudaSuccess) {
    last_error = error;
    note_api_error(error);
  }
  return error;
}

cudaError_t sticky_error() {
  if (sticky != cudaSuccess) surfaced = true;
  return sticky;
}

cudaError_t surfaced_error() { return surfaced ? sticky : cudaSuccess; }

bool has_failed() { return sticky != cudaSuccess; }

void set_sticky_error(cudaError_t error) {
  if (sticky == cudaSuccess) sticky = error;
}

void clear_errors() {
  sticky = last_error = cudaSuccess;
  surfaced = false;
}

cudaError_t exchange_last_error(cudaError_t error) { return std::exchange(last_error, error); }

bool is_assertion_told() { return assertion_told; }

}  // namespace simt::device
