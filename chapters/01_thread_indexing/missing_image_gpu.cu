/// \file
/// A kernel for another GPU. gpu.cmake compiles this file, and no other, for an architecture that the
/// machine's GPU cannot run, as machine code alone: with PTX the driver could translate it.

#include <cuda_runtime.h>

#include <string>

/// Sets the first 32 floats to 1; never runs.
///
/// @param out  32 floats in device memory
///
/// Launch: one block of 32 threads.
/// Requires: a GPU of the architecture that this file is compiled for.
__global__ void missing_image(float* out) { out[threadIdx.x] = 1.0f; }

cudaError_t launch_missing_image(float* out) {
  missing_image<<<1, 32>>>(out);
  return cudaGetLastError();
}

bool missing_image_would_run(int major, int minor, std::string& architecture) {
  // Machine code runs on GPUs of the same major and the same or a larger minor compute capability.
  constexpr int own_major = WARP_OTHER_ARCHITECTURE / 10, own_minor = WARP_OTHER_ARCHITECTURE % 10;
  architecture = "sm_" + std::to_string(WARP_OTHER_ARCHITECTURE);
  return major == own_major && minor >= own_minor;
}
