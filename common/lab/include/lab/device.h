/// \file
/// The machine and the moment: what a result needs to be worth something later.
#pragma once

#include <cuda_runtime.h>

#include <string>

namespace lab {

/// The current device's name, "NVIDIA H200".
std::string device_name();

/// One of the current device's attributes.
int device_attribute(cudaDeviceAttr attribute);

/// How many SMs the current device has.
unsigned multiprocessors();

/// The current device's compute capability, 90 for 9.0.
int compute_capability();

/// The driver: its release ("580.159.03") where the kernel module tells it, and the newest CUDA
/// that it runs.
std::string driver_version();

/// The time now, in UTC, as ISO 8601 has it: "2026-11-20T18:33:07Z".
std::string utc_now();

/// The commit that the program was built from: the launcher passes it in `WARP_COMMIT`.
std::string commit();

}  // namespace lab
