#include "lab/device.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string_view>

#include "lab/check.h"
#include "lab/text.h"

namespace lab {

std::string device_name() {
  int device = 0;
  cudaDeviceProp properties{};
  CUDA_CHECK(cudaGetDevice(&device));
  CUDA_CHECK(cudaGetDeviceProperties(&properties, device));
  return properties.name;
}

int device_attribute(cudaDeviceAttr attribute) {
  int device = 0, value = 0;
  CUDA_CHECK(cudaGetDevice(&device));
  CUDA_CHECK(cudaDeviceGetAttribute(&value, attribute, device));
  return value;
}

unsigned multiprocessors() {
  return static_cast<unsigned>(device_attribute(cudaDevAttrMultiProcessorCount));
}

int compute_capability() {
  return 10 * device_attribute(cudaDevAttrComputeCapabilityMajor) +
         device_attribute(cudaDevAttrComputeCapabilityMinor);
}

std::string driver_version() {
  int cuda = 0;
  CUDA_CHECK(cudaDriverGetVersion(&cuda));
  const std::string newest = format("CUDA %d.%d", cuda / 1000, cuda % 1000 / 10);
  std::FILE* const file = std::fopen("/proc/driver/nvidia/version", "r");
  if (file == nullptr) return newest;
  std::array<char, 256> line{};
  const bool read = std::fgets(line.data(), static_cast<int>(line.size()), file) != nullptr;
  std::fclose(file);
  // "NVRM version: NVIDIA UNIX ... x86_64  580.159.03  Release Build ...": the first word that is a
  // number with dots.
  std::string_view rest = read ? line.data() : "";
  while (!rest.empty()) {
    const std::string_view word = rest.substr(0, rest.find_first_of(" \n"));
    rest.remove_prefix(std::min(rest.size(), word.size() + 1));
    if (word.find('.') != std::string_view::npos &&
        word.find_first_not_of("0123456789.") == std::string_view::npos) {
      return std::string(word) + " (" + newest + ")";
    }
  }
  return newest;
}

std::string utc_now() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  std::array<char, 32> text{};
  std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text.data();
}

std::string commit() {
  const char* text = std::getenv("WARP_COMMIT");
  return text != nullptr && *text != '\0' ? text : "unknown";
}

}  // namespace lab
