#include "lab/verify.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <mutex>
#include <string>
#include <utility>

#include "lab/parallel.h"
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

namespace detail {

std::string worthless(std::size_t got, std::size_t want, const Tolerance& tolerance) {
  if (got != want) return format("the result has %zu elements, the reference %zu", got, want);
  if (got == 0) return "nothing was compared: the result is empty";
  if (!(std::isfinite(tolerance.absolute) && tolerance.absolute >= 0 &&
        std::isfinite(tolerance.relative) && tolerance.relative >= 0)) {
    return "the tolerance is not a number from 0 up: it would let anything pass";
  }
  return "";
}

std::string describe_comparison(const Comparison& found, double first_got, double first_want,
                                const std::string& basis) {
  const std::string elements =
      found.pass ? format("%zu elements, ", found.size)
                 : format(
                       "%zu of %zu elements are wrong, the first at index %zu: %.9g where "
                       "%.9g is right; ",
                       found.mismatches, found.size, found.first_mismatch, first_got, first_want);
  return elements + format("largest error %.3g, allowed %.3g (%s)", found.max_error,
                           found.tolerance, basis.c_str());
}

Comparer::Comparer(std::size_t got, std::size_t want, const Tolerance& tolerance)
    : tolerance_(tolerance) {
  result_.text = worthless(got, want, tolerance);
  sound_ = result_.text.empty();
  if (sound_) {
    result_.size = got;
  } else {
    result_.max_error = std::numeric_limits<double>::quiet_NaN();
  }
}

void Comparer::note(std::size_t i, double error, double got, double want) {
  double allowed = tolerance_.absolute;
  if (tolerance_.relative != 0 && std::isfinite(want)) {
    allowed += tolerance_.relative * std::abs(want);
  }
  note(i, error, got, want, allowed);
}

void Comparer::note(std::size_t i, double error, double got, double want, double allowed) {
  if (i == 0) result_.tolerance = allowed;
  if (error == 0) return;

  if (!(error <= allowed) && result_.mismatches++ == 0) {
    result_.first_mismatch = i;
    first_got_ = got;
    first_want_ = want;
  }
  weigh(std::isnan(error) ? std::numeric_limits<double>::infinity() : error / allowed, error,
        allowed);
}

void Comparer::weigh(double share, double error, double allowed) {
  // A NaN is the worst there is; after it comes the largest share of the tolerance.
  if (std::isnan(result_.max_error)) return;
  if (std::isnan(error) || share > worst_ || (share == worst_ && error > result_.max_error)) {
    worst_ = share;
    result_.max_error = error;
    result_.tolerance = allowed;
  }
}

void Comparer::add(const Comparer& part) {
  const Comparison& other = part.result_;
  result_.mismatches += other.mismatches;
  if (other.first_mismatch < result_.first_mismatch) {
    result_.first_mismatch = other.first_mismatch;
    first_got_ = part.first_got_;
    first_want_ = part.first_want_;
  }
  if (other.max_error == 0 && result_.max_error == 0) {  // element 0 was in one of the two
    result_.tolerance = std::max(result_.tolerance, other.tolerance);
  }
  weigh(part.worst_, other.max_error, other.tolerance);
}

Comparison Comparer::result() {
  if (!sound_) return result_;
  result_.pass = result_.mismatches == 0;
  result_.text = describe_comparison(result_, first_got_, first_want_, tolerance_.basis);
  return result_;
}

Comparison compare_ranges(
    std::size_t got, std::size_t want, const Tolerance& tolerance,
    const std::function<void(Comparer& part, std::size_t first, std::size_t last)>& note_range) {
  Comparer comparer(got, want, tolerance);
  if (!comparer.sound()) return comparer.result();
  const Comparer blank = comparer;
  std::mutex one_at_a_time;
  in_parallel(got, [&](std::size_t first, std::size_t last) {
    Comparer part = blank;
    note_range(part, first, last);
    const std::lock_guard lock(one_at_a_time);
    comparer.add(part);
  });
  return comparer.result();
}

}  // namespace detail

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
