// What errors are called.
#include <cuda_runtime_api.h>

#include "report/api_errors.h"

namespace {

struct ErrorText {
  cudaError_t error;
  const char* name;
  const char* text;
};
#define SIMT_ERROR(name, value, text) {name, #name, text},
constexpr ErrorText kErrors[] = {SIMT_ERRORS(SIMT_ERROR)};
#undef SIMT_ERROR

const ErrorText* find_error(cudaError_t error) {
  for (const ErrorText& e : kErrors) {
    if (e.error == error) return &e;
  }
  return nullptr;
}

}  // namespace

const char* cudaGetErrorName(cudaError_t error) {
  simt::device::api_error_named(error);
  const ErrorText* found = find_error(error);
  return found ? found->name : "unrecognized error code";
}

const char* cudaGetErrorString(cudaError_t error) {
  simt::device::api_error_named(error);
  const ErrorText* found = find_error(error);
  return found ? found->text : "unrecognized error code";
}
