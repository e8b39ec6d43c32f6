/// \file
/// Rungs of a chapter that stand in a file of their own, because not every build compiles it: `*_gpu.cu`,
/// `*_sm90.cu`. Such a file registers a function that adds them, the chapter calls `lab::add_others` where they belong,
/// and where the file is left out the header's rungs are SKIP.
#pragma once

#include <functional>
#include <utility>
#include <vector>

namespace lab {

namespace detail {

/// How many files registered rungs, and how many of them the chapter has called for.
struct OtherFiles {
  int registered = 0, called = 0;
};
OtherFiles& other_files();

/// The functions of other files that add rungs to a ladder of this type.
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
///     static void add_tma(lab::Map<float>& map) { map.add("tma", ...); }
///     static const lab::Rungs here(add_tma);
///
/// The function takes what the chapter adds rungs to: `lab::Ladder&`, `lab::GemmLadder&`, `lab::Map<T>&`, or a type of
/// its own. It has a name: nvcc takes no `__host__ __device__` lambda within one that stands outside of all functions.
class Rungs {
 public:
  template <class F>
  explicit Rungs(F add_rungs) {
    ++detail::other_files().registered;
    detail::rungs_of<typename detail::LadderOf<F>::type>().emplace_back(std::move(add_rungs));
  }
};

/// Adds the rungs of other files that take such a ladder. A program that does not call for what its files registered
/// ends with an error.
template <class Ladder>
void add_others(Ladder& ladder) {
  const auto& all = detail::rungs_of<Ladder>();
  detail::other_files().called += static_cast<int>(all.size());
  for (const auto& add_rungs : all) add_rungs(ladder);
}

}  // namespace lab
