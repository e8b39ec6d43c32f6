// The error that the program asks for.
#include <cuda_runtime_api.h>

#include "report/api_errors.h"
#include "report/errors.h"

cudaError_t cudaGetLastError() {
  if (const cudaError_t sticky = simt::device::surfaced_error()) return sticky;
  const cudaError_t last = simt::device::exchange_last_error(cudaSuccess);
  simt::device::api_error_told(last, true);
  return last;
}

cudaError_t cudaPeekAtLastError() {
  if (const cudaError_t sticky = simt::device::surfaced_error()) return sticky;
  const cudaError_t last = simt::device::exchange_last_error(cudaSuccess);
  simt::device::exchange_last_error(last);
  simt::device::api_error_told(last, false);
  return last;
}
