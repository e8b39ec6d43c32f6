/// \file
/// Many measurements of one thing, in three numbers.
#pragma once

#include <cstddef>
#include <vector>

namespace lab {

/// The times of many runs, in milliseconds.
struct TimeStats {
  double median = 0;
  double p10 = 0;  ///< a tenth of the runs is below
  double p90 = 0;  ///< a tenth of the runs is above
  int runs = 0;
};

/// Median, 10th and 90th percentile, interpolated between the two nearest runs.
/// \param ms one time per run; none at all gives zeros
TimeStats summarize(std::vector<double> ms);

/// How far the median of many more runs may be off from that of these, as a share of it: half of a 95 % confidence
/// interval, 1.57 x (upper - lower quartile) / sqrt(runs).
/// \param ms one time per run; of fewer than two nothing is known, and the result is infinite
double median_uncertainty(std::vector<double> ms);

}  // namespace lab
