/// \file
/// Comparing a result with its reference: no NaN passes, and every tolerance says where it is from.
#pragma once

#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

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
    if (std::cmp_less(got, 0) != std::cmp_less(want, 0)) {  // 2^64 apart at most
      const auto size = [&](auto v) {
        return static_cast<double>(std::cmp_less(v, 0) ? 0 - wide(v) : wide(v));
      };
      return size(got) + size(want);
    }
    return static_cast<double>(std::cmp_less(got, want) ? wide(want) - wide(got)
                                                        : wide(got) - wide(want));
  } else {
    const double g = as_double(got), w = as_double(want);
    return g == w ? 0.0 : std::abs(g - w);  // equal infinities have no distance
  }
}

/// Why a comparison of so many elements would prove nothing; empty where it would.
std::string worthless(std::size_t got, std::size_t want, const Tolerance& tolerance);

/// What a comparison found, in one line.
std::string describe_comparison(const Comparison& found, double first_got, double first_want,
                                const std::string& basis);

/// What `compare` does that does not depend on the type of the elements.
class Comparer {
 public:
  Comparer(std::size_t got, std::size_t want, const Tolerance& tolerance);

  /// Whether there is anything to compare, and a tolerance that something can exceed.
  bool sound() const { return sound_; }
  /// Takes note of an element: the first one, and each whose error is not 0.
  void note(std::size_t i, double error, double got, double want);
  /// The same for an element with a tolerance of its own.
  void note(std::size_t i, double error, double got, double want, double allowed);
  /// Takes note of all that a copy of this one, made before anything was noted, noted since.
  void add(const Comparer& part);
  /// What came of it.
  Comparison result();

 private:
  /// Keeps an error if none before it was as large a share of what was allowed.
  void weigh(double share, double error, double allowed);

  Tolerance tolerance_;
  Comparison result_;
  bool sound_ = true;
  double worst_ = 0;                       // error / tolerance of the worst element so far
  double first_got_ = 0, first_want_ = 0;  // of the first mismatch
};

/// Compares `got` elements with `want` others, on all of the host's threads where they are many.
/// \param note_range notes those from `first` up to `last`
Comparison compare_ranges(
    std::size_t got, std::size_t want, const Tolerance& tolerance,
    const std::function<void(Comparer& part, std::size_t first, std::size_t last)>& note_range);

/// Compares elements with `want(i)`.
/// \param sizes how many elements the result has, and the reference
/// \param allowed nothing, or what each element is allowed: `allowed(i)`
template <class G, class Want, class... Allowed>
Comparison compare_elements(const G* got, const Want& want,
                            std::pair<std::size_t, std::size_t> sizes, const Tolerance& tolerance,
                            const Allowed&... allowed) {
  return compare_ranges(sizes.first, sizes.second, tolerance,
                        [&](Comparer& part, std::size_t first, std::size_t last) {
                          for (std::size_t i = first; i < last; ++i) {
                            const auto right = want(i);
                            const double error = error_of(got[i], right);
                            if (error != 0 || i == 0) {
                              part.note(i, error, as_double(got[i]), as_double(right),
                                        allowed(i)...);
                            }
                          }
                        });
}

/// Element i of an array, as a function of i.
template <class Values>
auto element_of(const Values& values) {
  return [from = std::data(values)](std::size_t i) { return from[i]; };
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
[[nodiscard]] Comparison compare(const Got& got, const Want& want, const Tolerance& tolerance) {
  return detail::compare_elements(std::data(got), detail::element_of(want),
                                  {std::size(got), std::size(want)}, tolerance);
}

/// Compares a result with its reference, bit for bit.
template <class Got, class Want>
[[nodiscard]] Comparison compare(const Got& got, const Want& want) {
  return compare(got, want, Tolerance::exact());
}

/// Compares a result with its reference where each element has a tolerance of its own.
/// \param basis where the tolerances are from, for people
/// \param allowed called with an index, by several threads at once: how far this element may be off, from 0 up
template <class Got, class Want, std::invocable<std::size_t> Allowed>
[[nodiscard]] Comparison compare_each(const Got& got, const Want& want, std::string basis,
                                      const Allowed& allowed) {
  return detail::compare_elements(std::data(got), detail::element_of(want),
                                  {std::size(got), std::size(want)},
                                  Tolerance{.basis = std::move(basis)}, allowed);
}

/// A verdict that is no comparison of arrays.
/// \param pass whether it holds
/// \param text what was wrong, or that nothing was
[[nodiscard]] Comparison verdict(bool pass, std::string_view text);

}  // namespace lab
