// The errors of the device, as cudaGetLastError() and every call of the runtime return them.
#pragma once

#include <cuda_runtime_api.h>

namespace simt::device {

// Notes `error` for cudaGetLastError() and returns it. If a kernel has failed, its error instead: it
// sticks until the device is reset.
cudaError_t result(cudaError_t error);
cudaError_t sticky_error();
// The same for who asks without waiting: on a GPU the kernel may still run, so its error shows once a call has waited.
cudaError_t surfaced_error();
bool has_failed();                                   // a kernel; nobody is told
cudaError_t exchange_last_error(cudaError_t error);  // of those that do not stick
void set_sticky_error(cudaError_t error);            // the first one stays
void clear_errors();
// Has a call of the runtime given the program cudaErrorAssert?
bool is_assertion_told();

}  // namespace simt::device
