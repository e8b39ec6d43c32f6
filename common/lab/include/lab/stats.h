/// \file
/// Many measurements of one thing, in three numbers.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace lab {

/// \addtogroup lab
/// @{

/// The times of many runs, in milliseconds.
struct TimeStats {
  double median = 0;
  double p10 = 0;  ///< a tenth of the runs is below
  double p90 = 0;  ///< a tenth of the runs is above
  int runs = 0;
};

/// Median, 10th and 90th percentile, interpolated between the two nearest runs.
/// \param ms one time per run; none at all gives zeros
inline TimeStats summarize(std::vector<double> ms) {
  if (ms.empty()) return {};
  std::sort(ms.begin(), ms.end());
  const auto at = [&](double fraction) {
    const double position = fraction * static_cast<double>(ms.size() - 1);
    const auto low = static_cast<std::size_t>(position);
    const std::size_t high = std::min(low + 1, ms.size() - 1);
    return ms[low] + (ms[high] - ms[low]) * (position - static_cast<double>(low));
  };
  return {at(0.5), at(0.1), at(0.9), static_cast<int>(ms.size())};
}

/// @}

}  // namespace lab
