/// \file
/// Clock, power and throttling of the GPU while something is timed.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace lab {

/// What the GPU did while a rung was timed, as the driver's NVML tells it.
struct Conditions {
  double sm_mhz = 0;      ///< clock of the SMs, the median of the samples
  double sm_mhz_min = 0;  ///< the lowest of them
  double power_w = 0;     ///< the highest power that was drawn, in watts
  std::string throttled;  ///< why the clock was held down, "power cap"; empty where it was not
};

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
  struct Sample {
    unsigned sm_mhz = 0, milliwatts = 0;
    unsigned long long reasons = 0;
  };

  std::vector<Sample> samples_;
  std::chrono::steady_clock::time_point last_{};
};

}  // namespace lab
