// Launches by kernels (dynamic parallelism). They begin when the grid that asked for them has ended, which is among the times
// that CUDA allows: a grid cannot wait for what it launches.
#pragma once

#include <cuda_runtime_api.h>

namespace simt::engine::child_launches {

// A grid begins, launched by the thread that calls.
void begin_grid();
// A grid has ended: what it has launched is next, for the thread that calls.
void take(cudaStream_t stream);
// Runs what this thread has taken, and what that launches in turn. Within a launch by a kernel it does nothing.
void run();

// Is it a lane that calls?
bool in_kernel();
// What the running lane gets of cudaGetLastError(), which forgets it, and of cudaPeekAtLastError().
cudaError_t last_error(bool forget);

}  // namespace simt::engine::child_launches
