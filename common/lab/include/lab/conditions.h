/// \file
/// Clock, power and throttling of the GPU while something is timed.
#pragma once

#include <chrono>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace lab {

/// What the GPU did while a rung was timed, as the driver's NVML tells it.
struct Conditions {
  double sm_mhz = 0;      ///< clock of the SMs, the median of the samples
  double sm_mhz_min = 0;  ///< the lowest of them
  /// The highest mean power of a second of it, in watts; nothing where it was over too soon for one.
  std::optional<double> power_w = std::nullopt;
  std::string throttled;  ///< why the clock was held down, "power cap"; empty where it was not
};

/// What NVML says at one moment.
struct ConditionSample {
  std::chrono::steady_clock::duration at{};  ///< since the sampler was made
  unsigned sm_mhz = 0, milliwatts = 0;
  unsigned long long reasons = 0;
};

/// What samples come to; nothing without any.
///
/// From Ampere on NVML's power is the mean over the last second (nvmlDeviceGetPowerUsage in nvml.h). So a sample has a power of
/// what is timed only if that had been going on for so long; an earlier one has that of whatever ran before.
std::optional<Conditions> conditions_of(std::span<const ConditionSample> samples);

/// Samples the conditions of the current device between runs that are timed, never during one: the driver that is asked
/// is the one that launches.
class ConditionSampler {
 public:
  /// Takes a sample, unless the last one was taken less than 20 ms ago.
  void sample();
  /// What was seen; nothing where NVML is missing, or no sample was taken.
  std::optional<Conditions> seen() const;

  /// Why conditions cannot be sampled on this machine; empty where they can.
  static std::string missing();

 private:
  std::vector<ConditionSample> samples_;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now(), last_{};
};

}  // namespace lab
