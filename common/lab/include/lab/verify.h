/// \file
/// What a comparison of a result with its reference allows, and what it found (lab/elements.h compares).
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace lab {

/// How far a value may be from its reference: `absolute + relative * |reference|`.
struct Tolerance {
  double absolute = 0;
  double relative = 0;
  std::string basis = "exact";  ///< where the figure is from, for people

  ~Tolerance();  // here as elsewhere in lab's headers: where it is inline, each chapter compiles it, traced
  /// Bit for bit, but for the sign of zero.
  static const Tolerance& exact();
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
Tolerance tolerance_for_sum(std::size_t k, double magnitude, std::size_t depth = 0,
                            double u = float_roundoff);

/// The tolerance of a value that `roundings` operations made, none of which cancels: each may be
/// off by one unit roundoff.
Tolerance tolerance_for_roundings(std::size_t roundings, double u = float_roundoff);

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

  ~Comparison();
  /// Passed, and without any error at all.
  bool exact() const { return pass && max_error == 0; }
};

/// A verdict that is no comparison of arrays.
/// \param pass whether it holds
/// \param text what was wrong, or that nothing was
[[nodiscard]] Comparison verdict(bool pass, std::string_view text);

}  // namespace lab
