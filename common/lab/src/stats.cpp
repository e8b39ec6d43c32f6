#include "lab/stats.h"

#include <algorithm>

namespace lab {

TimeStats summarize(std::vector<double> ms) {
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

}  // namespace lab
