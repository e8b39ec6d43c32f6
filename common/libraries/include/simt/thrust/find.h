/// \file
/// Thrust for the simulator: algorithms that look for elements, compare ranges and copy what passes.
#pragma once

#include <simt/thrust/iterators.h>

namespace thrust {

template <class P, class I, class Test, detail::IsPolicy<P> = 0>
I find_if(const P& policy, I first, I last, Test test) {
  const detail::Scope scope(policy);
  const auto begin = detail::raw(first);
  const auto end = detail::raw(last);
  auto i = begin;
  for (; i != end; ++i) {
    auto&& x = *i;
    if (test(x)) break;
  }
  return detail::moved(first, begin, i);
}
template <class P, class I, class Test, detail::IsPolicy<P> = 0>
I find_if_not(const P& policy, I first, I last, Test test) {
  return thrust::find_if(policy, first, last, detail::Not<Test>{test});
}
template <class P, class I, class T, detail::IsPolicy<P> = 0>
I find(const P& policy, I first, I last, const T& value) {
  return thrust::find_if(policy, first, last, [&](const auto& x) { return x == value; });
}
/// The first place where the ranges differ, in both.
template <class P, class I, class J, class Equal, detail::IsPolicy<P> = 0>
std::pair<I, J> mismatch(const P& policy, I first, I last, J second, Equal equal) {
  const detail::Scope scope(policy);
  const auto a = detail::raw(first);
  const auto b = detail::raw(second);
  const auto found = std::mismatch(a, detail::raw(last), b, equal);
  return {detail::moved(first, a, found.first), detail::moved(second, b, found.second)};
}
template <class P, class I, class J, detail::IsPolicy<P> = 0>
std::pair<I, J> mismatch(const P& policy, I first, I last, J second) {
  return thrust::mismatch(policy, first, last, second, equal_to<>());
}
template <class P, class I, class J, class Equal, detail::IsPolicy<P> = 0>
bool equal(const P& policy, I first, I last, J second, Equal same) {
  return thrust::mismatch(policy, first, last, second, same).first == last;
}
template <class P, class I, class J, detail::IsPolicy<P> = 0>
bool equal(const P& policy, I first, I last, J second) {
  return thrust::equal(policy, first, last, second, equal_to<>());
}

namespace detail {

/// Copies the elements whose mark passes. The output may be the input.
template <class P, class I, class S, class O, class Test>
O keep(const P& policy, I first, I last, S stencil, O out, Test test) {
  const Scope scope(policy);
  const auto begin = raw(out);
  auto o = begin;
  auto s = raw(stencil);
  for (auto i = raw(first), end = raw(last); i != end; ++i, ++s) {
    auto&& mark = *s;
    if (!test(mark)) continue;
    *o = *i;
    ++o;
  }
  return moved(out, begin, o);
}

}  // namespace detail

template <class P, class I, class O, class Test, detail::IsPolicy<P> = 0>
O copy_if(const P& policy, I first, I last, O out, Test test) {
  return detail::keep(policy, first, last, first, out, test);
}
template <class P, class I, class S, class O, class Test, detail::IsPolicy<P> = 0>
O copy_if(const P& policy, I first, I last, S stencil, O out, Test test) {
  return detail::keep(policy, first, last, stencil, out, test);
}

SIMT_THRUST_ALGORITHM(find)
SIMT_THRUST_ALGORITHM(find_if)
SIMT_THRUST_ALGORITHM(find_if_not)
SIMT_THRUST_ALGORITHM(mismatch)
SIMT_THRUST_ALGORITHM(equal)
SIMT_THRUST_ALGORITHM(copy_if)

}  // namespace thrust
