/// \file
/// The machine's own limits, measured on it: what a perfect rung would reach.
#pragma once

#include <cstddef>

#include "lab/timing.h"

namespace lab {

/// What bounds a rung.
enum class Limit {
  none,  ///< nothing that is measured
  copy,  ///< memory bandwidth, as a copy within the device's memory reaches it
  fp32   ///< fused multiply-adds in float, as a loop of nothing else reaches them
};

/// How much work to measure the limits with.
struct LimitOptions {
  std::size_t copy_bytes = std::size_t{1}
                           << 30;  ///< less where the device has not four times as many
  int fma_iterations = 512;        ///< of the loop in each thread, 1024 FMAs each
};

/// GB/s of `cudaMemcpy` within the device's memory, bytes read plus bytes written.
double measure_copy(const LimitOptions& limits = {}, const TimingOptions& timing = {});

/// GFLOP/s of a loop of fused multiply-adds in float, two operations each.
double measure_fp32(const LimitOptions& limits = {}, const TimingOptions& timing = {});

}  // namespace lab
