#include "report/errors.h"

#include <utility>

#include "report/api_errors.h"

namespace simt::device {
namespace {

cudaError_t sticky = cudaSuccess;
bool assertion_told = false;
thread_local cudaError_t last_error = cudaSuccess;  // as in CUDA, each host thread has its own

}  // namespace

cudaError_t result(cudaError_t error) {
  if (sticky == cudaErrorAssert) assertion_told = true;
  if (sticky != cudaSuccess) return sticky;
  if (error != cudaSuccess) {
    last_error = error;
    note_api_error(error);
  }
  return error;
}

cudaError_t sticky_error() { return sticky; }

void set_sticky_error(cudaError_t error) {
  if (sticky == cudaSuccess) sticky = last_error = error;
}

void clear_errors() { sticky = last_error = cudaSuccess; }

cudaError_t exchange_last_error(cudaError_t error) { return std::exchange(last_error, error); }

bool is_assertion_told() { return assertion_told; }

}  // namespace simt::device
