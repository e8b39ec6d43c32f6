#include "lab/verify.h"

#include <cmath>
#include <limits>
#include <string>

#include "lab/text.h"

namespace lab {

Tolerance::~Tolerance() = default;
Comparison::~Comparison() = default;

const Tolerance& Tolerance::exact() {
  static const Tolerance none;
  return none;
}

Tolerance tolerance_for_sum(std::size_t k, double magnitude, std::size_t depth, double u) {
  constexpr double lambda = 4;
  if (depth == 0) depth = k;
  const double drift = lambda * std::sqrt(static_cast<double>(depth)) * u;
  return {drift * static_cast<double>(k) * magnitude, 0,
          format("%zu terms of mean magnitude %g, at most %zu roundings in a row", k, magnitude,
                 depth)};
}

Tolerance tolerance_for_roundings(std::size_t roundings, double u) {
  return {0, static_cast<double>(roundings) * u, std::to_string(roundings) + " roundings"};
}

Comparison verdict(bool pass, std::string_view text) {
  Comparison result;
  result.pass = pass;
  result.size = 1;
  result.mismatches = pass ? 0 : 1;
  result.first_mismatch = pass ? Comparison::none : 0;
  result.max_error = pass ? 0 : std::numeric_limits<double>::quiet_NaN();
  result.text = text;
  return result;
}

}  // namespace lab
