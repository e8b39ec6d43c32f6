#include "lab/stats.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace lab {

namespace {

/// What a fraction of the sorted times is below, interpolated between the two nearest.
double quantile(const std::vector<double>& sorted, double fraction) {
  const double position = fraction * static_cast<double>(sorted.size() - 1);
  const auto low = static_cast<std::size_t>(position);
  const std::size_t high = std::min(low + 1, sorted.size() - 1);
  return sorted[low] + (sorted[high] - sorted[low]) * (position - static_cast<double>(low));
}

}  // namespace

TimeStats summarize(std::vector<double> ms) {
  if (ms.empty()) return {};
  std::sort(ms.begin(), ms.end());
  return {quantile(ms, 0.5), quantile(ms, 0.1), quantile(ms, 0.9), static_cast<int>(ms.size())};
}

double median_uncertainty(std::vector<double> ms) {
  if (ms.size() < 2) return std::numeric_limits<double>::infinity();
  std::sort(ms.begin(), ms.end());
  const double median = quantile(ms, 0.5), spread = quantile(ms, 0.75) - quantile(ms, 0.25);
  return 1.57 * spread / (std::sqrt(static_cast<double>(ms.size())) * median);
}

}  // namespace lab
