/// \file
/// Rungs of a chapter that stand in a file of their own, because not every build compiles it: `*_gpu.cu`,
/// `*_sm90.cu`. Such a file registers them by itself, and where it is left out the header's rungs are SKIP.
#pragma once

#include <functional>
#include <vector>

namespace lab {

namespace detail {

/// What a ladder of this type calls before it runs, to have the rungs of other files added.
template <class Ladder>
std::vector<std::function<void(Ladder&)>>& rungs_of() {
  static std::vector<std::function<void(Ladder&)>> all;
  return all;
}

/// \cond  Doxygen takes the first of these for a base of itself.
/// The type that a function takes by reference.
template <class F>
struct LadderOf : LadderOf<decltype(&F::operator())> {};
template <class F, class Ladder>
struct LadderOf<void (F::*)(Ladder&) const> {
  using type = Ladder;
};
template <class Ladder>
struct LadderOf<void (*)(Ladder&)> {
  using type = Ladder;
};
/// \endcond

}  // namespace detail

/// Registers rungs from a file of their own:
///
///     static const lab::Rungs here([](lab::GemmLadder& ladder) { ladder.add(...); });
///
/// The function takes what `main` registers rungs with: `lab::Chapter&`, `lab::GemmLadder&` or
/// `lab::Map<T>&`. It is called once `main` has made that; the order of the ladder is that of the header.
class Rungs {
 public:
  template <class F>
  explicit Rungs(F add_rungs) {
    detail::rungs_of<typename detail::LadderOf<F>::type>().emplace_back(std::move(add_rungs));
  }
};

}  // namespace lab
