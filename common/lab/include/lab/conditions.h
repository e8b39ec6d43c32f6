/// \file
/// Clock, power and throttling of the GPU while something is timed.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace lab {

/// What the GPU did while a rung was timed, as the driver's NVML tells it.
struct Conditions {
  double sm_mhz = 0;      ///< clock of the SMs, the median of the samples
  double sm_mhz_min = 0;  ///< the lowest of them
  double power_w = 0;     ///< the highest power that was drawn, in watts
  std::string throttled;  ///< why the clock was held down, "power cap"; empty where it was not
};

/// Samples the conditions of the current device in a thread of its own, from its construction until `stop`.
class ConditionSampler {
 public:
  ConditionSampler();
  ~ConditionSampler();
  ConditionSampler(const ConditionSampler&) = delete;
  ConditionSampler& operator=(const ConditionSampler&) = delete;

  /// What was seen; nothing where NVML is missing, or no sample was taken.
  std::optional<Conditions> stop();

  /// Why conditions cannot be sampled on this machine; empty where they can.
  static std::string missing();

 private:
  struct Sample {
    unsigned sm_mhz = 0, milliwatts = 0;
    unsigned long long reasons = 0;
  };

  void take_samples();

  std::vector<Sample> samples_;
  std::atomic<bool> ended_ = false;
  std::thread thread_;
};

}  // namespace lab
