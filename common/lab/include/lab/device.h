/// \file
/// The machine and the moment: what a result needs to be worth something later.
#pragma once

#include <cuda_runtime.h>

#include <array>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <regex>
#include <string>

#include "lab/backend.h"
#include "lab/check.h"

namespace lab {

/// \addtogroup lab
/// @{

/// The current device's name, "NVIDIA H200".
inline std::string device_name() {
  int device = 0;
  cudaDeviceProp properties{};
  CUDA_CHECK(cudaGetDevice(&device));
  CUDA_CHECK(cudaGetDeviceProperties(&properties, device));
  return properties.name;
}

/// One of the current device's attributes.
inline int device_attribute(cudaDeviceAttr attribute) {
  int device = 0, value = 0;
  CUDA_CHECK(cudaGetDevice(&device));
  CUDA_CHECK(cudaDeviceGetAttribute(&value, attribute, device));
  return value;
}

/// The current device's compute capability, 90 for 9.0.
inline int compute_capability() {
  return 10 * device_attribute(cudaDevAttrComputeCapabilityMajor) +
         device_attribute(cudaDevAttrComputeCapabilityMinor);
}

/// The driver: its release ("580.159.03") where the kernel module tells it, and the newest CUDA
/// that it runs.
inline std::string driver_version() {
  int cuda = 0;
  CUDA_CHECK(cudaDriverGetVersion(&cuda));
  const std::string text =
      "CUDA " + std::to_string(cuda / 1000) + "." + std::to_string(cuda % 1000 / 10);
  std::ifstream file("/proc/driver/nvidia/version");
  std::string line;
  std::smatch match;
  if (std::getline(file, line) &&
      std::regex_search(line, match, std::regex(R"(\d+\.\d+(\.\d+)*)"))) {
    return match.str() + " (" + text + ")";
  }
  return text;
}

/// The time now, in UTC, as ISO 8601 has it: "2026-11-20T18:33:07Z".
inline std::string utc_now() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  std::array<char, 32> text{};
  std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text.data();
}

/// The commit that the program was built from: the launcher passes it in `WARP_COMMIT`.
inline std::string commit() {
  const char* text = std::getenv("WARP_COMMIT");
  return text != nullptr && *text != '\0' ? text : "unknown";
}

/// @}

}  // namespace lab
