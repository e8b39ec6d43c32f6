/// \file
/// Comparing a result with its reference: no NaN passes, and every tolerance says where it is from.
#pragma once

#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <type_traits>
#include <utility>

#include "lab/text.h"

namespace lab {

/// \addtogroup lab
/// @{

/// How far a value may be from its reference: `absolute + relative * |reference|`.
struct Tolerance {
  double absolute = 0;
  double relative = 0;
  std::string basis = "exact";  ///< where the figure is from, for people

  /// Bit for bit, but for the sign of zero.
  static Tolerance exact() { return {}; }
};

/// 2^-24: the largest relative error of one rounding to float.
inline constexpr double float_roundoff = 1.0 / 16777216.0;

/// The tolerance of a sum that was added up in some order in floating point.
///
/// An n-step chain of roundings, each off by up to `u` either way, drifts like a random walk: the
/// error stays below `lambda * sqrt(depth) * u * sum|x|` but for a chance of about
/// `2 exp(-lambda^2 / 2)` (Higham and Mary, A New Approach to Probabilistic Rounding Error
/// Analysis, 2019), and in practice far below. The certain bound, `depth * u * sum|x|`, would let
/// whole blocks of a long sum go missing. `lambda` is 4 here.
///
/// \param k terms, at least 1
/// \param magnitude mean magnitude of a term (for products of `random_floats`: 1/4)
/// \param depth longest chain of additions that a term takes part in; `k` where one loop adds up
///   all, less for a tree. 0 stands for `k`
/// \param u the unit roundoff of the type that adds
inline Tolerance tolerance_for_sum(std::size_t k, double magnitude, std::size_t depth = 0,
                                   double u = float_roundoff) {
  constexpr double lambda = 4;
  if (depth == 0) depth = k;
  const double drift = lambda * std::sqrt(static_cast<double>(depth)) * u;
  return {drift * static_cast<double>(k) * magnitude, 0,
          format("%zu terms of mean magnitude %g, at most %zu roundings in a row", k, magnitude,
                 depth)};
}

/// The tolerance of a value that `roundings` operations made, none of which cancels: each may be
/// off by one unit roundoff.
inline Tolerance tolerance_for_roundings(std::size_t roundings, double u = float_roundoff) {
  return {0, static_cast<double>(roundings) * u, std::to_string(roundings) + " roundings"};
}

/// What a comparison found.
struct Comparison {
  /// `first_mismatch` where there is none.
  static constexpr std::size_t none = static_cast<std::size_t>(-1);

  bool pass = false;
  /// The error of the element that is worst for its tolerance; NaN where one is NaN.
  double max_error = 0;
  double tolerance = 0;               ///< what that element was allowed
  std::size_t size = 0;               ///< elements compared
  std::size_t mismatches = 0;         ///< elements that were off by more than they may
  std::size_t first_mismatch = none;  ///< index of the first of them
  std::string text;                   ///< one line for people: what is wrong, or that nothing is

  /// Passed, and without any error at all.
  bool exact() const { return pass && max_error == 0; }
};

namespace detail {

template <class T>
double as_double(const T& value) {
  if constexpr (std::is_arithmetic_v<T>) {
    return static_cast<double>(value);
  } else {
    return static_cast<double>(static_cast<float>(value));  // __half, __nv_bfloat16
  }
}

/// |got - want|: 0 only where they are equal, NaN where one is NaN.
template <class G, class W>
double error_of(const G& got, const W& want) {
  if constexpr (std::integral<G> && std::integral<W> && !std::same_as<G, bool> &&
                !std::same_as<W, bool>) {
    // In integers: two int64 that differ may be the same double.
    if (std::cmp_equal(got, want)) return 0;
    const auto wide = [](auto v) { return static_cast<std::uint64_t>(v); };
    return static_cast<double>(std::cmp_less(got, want) ? wide(want) - wide(got)
                                                        : wide(got) - wide(want));
  } else {
    const double g = as_double(got), w = as_double(want);
    return g == w ? 0.0 : std::abs(g - w);  // equal infinities have no distance
  }
}

}  // namespace detail

/// Compares a result with its reference, element by element.
///
/// An element passes only if `error <= tolerance` holds, which it does not for a NaN, in the result
/// or in the reference. Different sizes fail, and so does comparing nothing.
///
/// \param got the result: a vector, span or array of numbers
/// \param want the reference, of the same size; its type may be wider
/// \param tolerance how far each element may be off
template <class Got, class Want>
[[nodiscard]] Comparison compare(const Got& got, const Want& want,
                                 const Tolerance& tolerance = Tolerance::exact()) {
  const std::span g(got), w(want);
  const std::size_t n = g.size();
  Comparison result;
  const auto worthless = [&](std::string why) {
    result.max_error = std::numeric_limits<double>::quiet_NaN();
    result.text = std::move(why);
    return result;
  };
  if (n != w.size()) {
    return worthless(format("the result has %zu elements, the reference %zu", n, w.size()));
  }
  if (n == 0) return worthless("nothing was compared: the result is empty");
  if (!(std::isfinite(tolerance.absolute) && tolerance.absolute >= 0 &&
        std::isfinite(tolerance.relative) && tolerance.relative >= 0)) {
    return worthless("the tolerance is not a number from 0 up: it would let anything pass");
  }

  const auto allowed_at = [&](std::size_t i) {
    if (tolerance.relative == 0) return tolerance.absolute;
    const double scale = std::abs(detail::as_double(w[i]));
    return tolerance.absolute + (std::isfinite(scale) ? tolerance.relative * scale : 0);
  };
  result.size = n;
  result.tolerance = allowed_at(0);
  double worst = 0;  // error / tolerance of the worst element so far
  for (std::size_t i = 0; i < n; ++i) {
    const double error = detail::error_of(g[i], w[i]);
    if (error == 0) continue;
    const double allowed = allowed_at(i);
    if (!(error <= allowed)) {
      if (result.mismatches++ == 0) result.first_mismatch = i;
    }
    // A NaN is the worst there is; after it comes the largest share of the tolerance.
    if (std::isnan(result.max_error)) continue;
    const double share =
        std::isnan(error) ? std::numeric_limits<double>::infinity() : error / allowed;
    if (std::isnan(error) || share > worst || (share == worst && error > result.max_error)) {
      worst = share;
      result.max_error = error;
      result.tolerance = allowed;
    }
  }

  result.pass = result.mismatches == 0;
  result.text = result.pass ? format("%zu elements, ", n)
                            : format(
                                  "%zu of %zu elements are wrong, the first at index %zu: %.9g "
                                  "where %.9g is right; ",
                                  result.mismatches, n, result.first_mismatch,
                                  detail::as_double(g[result.first_mismatch]),
                                  detail::as_double(w[result.first_mismatch]));
  result.text += format("largest error %.3g, allowed %.3g (%s)", result.max_error, result.tolerance,
                        tolerance.basis.c_str());
  return result;
}

/// A verdict that is no comparison of arrays.
/// \param pass whether it holds
/// \param text what was wrong, or that nothing was
[[nodiscard]] inline Comparison verdict(bool pass, std::string text) {
  Comparison result;
  result.pass = pass;
  result.size = 1;
  result.mismatches = pass ? 0 : 1;
  result.first_mismatch = pass ? Comparison::none : 0;
  result.max_error = pass ? 0 : std::numeric_limits<double>::quiet_NaN();
  result.text = std::move(text);
  return result;
}

/// @}

}  // namespace lab
