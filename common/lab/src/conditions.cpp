#include "lab/conditions.h"

#include <cuda_runtime.h>
#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <utility>

#include "lab/check.h"

namespace lab {

namespace {

/// The few functions of NVML that are needed, from the library that comes with the driver. Names, values and meaning
/// are those of NVIDIA's nvml.h.
class Nvml {
 public:
  using Device = void*;

  static const Nvml& get() {
    static const Nvml one;
    return one;
  }

  std::string missing;
  Device device = nullptr;
  int (*clock)(Device, int type, unsigned* mhz) = nullptr;
  int (*power)(Device, unsigned* milliwatts) = nullptr;
  int (*reasons)(Device, unsigned long long* bits) = nullptr;

 private:
  Nvml() {
    void* const library = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) {
      missing = "the driver's libnvidia-ml.so.1 is not there";
      return;
    }
    const auto find = [&](const char* name, auto& function) {
      function =
          reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(library, name));
      return function != nullptr;
    };
    int (*init)() = nullptr;
    int (*by_bus)(const char*, Device*) = nullptr;
    if (!find("nvmlInit_v2", init) || !find("nvmlDeviceGetHandleByPciBusId_v2", by_bus) ||
        !find("nvmlDeviceGetClockInfo", clock) || !find("nvmlDeviceGetPowerUsage", power) ||
        (!find("nvmlDeviceGetCurrentClocksEventReasons", reasons) &&
         !find("nvmlDeviceGetCurrentClocksThrottleReasons", reasons))) {
      missing = "the driver's libnvidia-ml.so.1 lacks a function";
      return;
    }
    int number = 0;
    std::array<char, 32> bus{};
    if (cudaGetDevice(&number) != cudaSuccess ||
        cudaDeviceGetPCIBusId(bus.data(), static_cast<int>(bus.size()), number) != cudaSuccess ||
        init() != 0 || by_bus(bus.data(), &device) != 0) {
      static_cast<void>(cudaGetLastError());
      missing = "NVML does not know the device";
    }
  }
};

constexpr int sm_clock = 1;  // NVML_CLOCK_SM

/// The second that a power is the mean of, and a sixth of one by which the reading may be old.
constexpr std::chrono::milliseconds of_a_power{1167};

/// What the bits say, most serious first. An idle GPU and a clock that somebody set are no throttling.
std::string words_of(unsigned long long bits) {
  constexpr std::array<std::pair<unsigned long long, const char*>, 6> known{{
      {0x40, "hardware thermal slowdown"},
      {0x80, "hardware power brake"},
      {0x08, "hardware slowdown"},
      {0x20, "thermal limit"},
      {0x04, "power cap"},
      {0x10, "sync boost"},
  }};
  std::string words;
  for (const auto& [bit, word] : known) {
    if ((bits & bit) != 0) words += (words.empty() ? "" : ", ") + std::string(word);
  }
  return words;
}

}  // namespace

std::string ConditionSampler::missing() { return Nvml::get().missing; }

void ConditionSampler::sample() {
  const auto now = std::chrono::steady_clock::now();
  if (!missing().empty() || now - last_ < std::chrono::milliseconds(20)) return;
  last_ = now;
  const Nvml& nvml = Nvml::get();
  ConditionSample one{.at = now - begin_};
  if (nvml.clock(nvml.device, sm_clock, &one.sm_mhz) == 0 &&
      nvml.power(nvml.device, &one.milliwatts) == 0 &&
      nvml.reasons(nvml.device, &one.reasons) == 0) {
    samples_.push_back(one);
  }
}

std::optional<Conditions> ConditionSampler::seen() const { return conditions_of(samples_); }

std::optional<Conditions> conditions_of(std::span<const ConditionSample> samples) {
  if (samples.empty()) return std::nullopt;
  std::vector<unsigned> clocks;
  Conditions seen;
  unsigned long long reasons = 0;
  for (const ConditionSample& sample : samples) {
    clocks.push_back(sample.sm_mhz);
    if (sample.at >= of_a_power) {
      seen.power_w = std::max(seen.power_w.value_or(0), sample.milliwatts / 1000.0);
    }
    reasons |= sample.reasons;
  }
  std::sort(clocks.begin(), clocks.end());
  seen.sm_mhz = clocks[clocks.size() / 2];
  seen.sm_mhz_min = clocks.front();
  seen.throttled = words_of(reasons);
  return seen;
}

}  // namespace lab
