/// \file
/// Thrust for the simulator: algorithms that keep some elements.
#pragma once

#include <simt/thrust/find.h>
#include <simt/thrust/sort.h>

namespace thrust {

template <class P, class I, class O, class Test, detail::IsPolicy<P> = 0>
O remove_copy_if(const P& policy, I first, I last, O out, Test test) {
  return detail::keep(policy, first, last, first, out, detail::Not<Test>{test});
}
template <class P, class I, class S, class O, class Test, detail::IsPolicy<P> = 0>
O remove_copy_if(const P& policy, I first, I last, S stencil, O out, Test test) {
  return detail::keep(policy, first, last, stencil, out, detail::Not<Test>{test});
}
template <class P, class I, class Test, detail::IsPolicy<P> = 0>
I remove_if(const P& policy, I first, I last, Test test) {
  return detail::keep(policy, first, last, first, first, detail::Not<Test>{test});
}
template <class P, class I, class S, class Test, detail::IsPolicy<P> = 0>
I remove_if(const P& policy, I first, I last, S stencil, Test test) {
  return detail::keep(policy, first, last, stencil, first, detail::Not<Test>{test});
}
template <class P, class I, class T, detail::IsPolicy<P> = 0>
I remove(const P& policy, I first, I last, const T& value) {
  return detail::keep(policy, first, last, first, first,
                      [&](const auto& x) { return !(x == value); });
}

/// The first of each run of equal elements.
template <class P, class I, class O, class Equal, detail::IsPolicy<P> = 0>
O unique_copy(const P& policy, I first, I last, O out, Equal equal) {
  const detail::Scope scope(policy);
  const auto begin = detail::raw(out);
  auto o = begin;
  auto i = detail::raw(first);
  const auto end = detail::raw(last);
  while (i != end) {
    detail::ValueOf<I> before = *i;
    *o = before;
    ++o;
    for (++i; i != end && equal(before, *i); ++i) before = *i;
  }
  return detail::moved(out, begin, o);
}
template <class P, class I, class O, detail::IsPolicy<P> = 0>
O unique_copy(const P& policy, I first, I last, O out) {
  return thrust::unique_copy(policy, first, last, out, equal_to<>());
}
template <class P, class I, class Equal, detail::IsPolicy<P> = 0>
I unique(const P& policy, I first, I last, Equal equal) {
  return thrust::unique_copy(policy, first, last, first, equal);
}
template <class P, class I, detail::IsPolicy<P> = 0>
I unique(const P& policy, I first, I last) {
  return thrust::unique_copy(policy, first, last, first, equal_to<>());
}
/// The same of keys, with the value of each that stays.

/// Those that pass come first; both parts keep their order.
template <class P, class I, class S, class Test, detail::IsPolicy<P> = 0>
I stable_partition(const P& policy, I first, I last, S stencil, Test test) {
  const detail::Scope scope(policy);
  const auto begin = detail::raw(first);
  const auto values = detail::copies(begin, last - first);
  auto s = detail::raw(stencil);
  std::vector<bool> passes;
  for (std::size_t i = 0; i < values.size(); ++i, ++s) {
    auto&& mark = *s;
    passes.push_back(test(mark));
  }
  auto o = begin;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (passes[i]) *o = values[i], ++o;
  }
  const auto middle = o;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!passes[i]) *o = values[i], ++o;
  }
  return detail::moved(first, begin, middle);
}
template <class P, class I, class Test, detail::IsPolicy<P> = 0>
I stable_partition(const P& policy, I first, I last, Test test) {
  return thrust::stable_partition(policy, first, last, first, test);
}
template <class P, class I, class Test, detail::IsPolicy<P> = 0>
I partition(const P& policy, I first, I last, Test test) {
  return thrust::stable_partition(policy, first, last, first, test);
}
template <class P, class I, class S, class Test, detail::IsPolicy<P> = 0>
I partition(const P& policy, I first, I last, S stencil, Test test) {
  return thrust::stable_partition(policy, first, last, stencil, test);
}

SIMT_THRUST_ALGORITHM(remove_copy_if)
SIMT_THRUST_ALGORITHM(remove_if)
SIMT_THRUST_ALGORITHM(remove)
SIMT_THRUST_ALGORITHM(unique_copy)
SIMT_THRUST_ALGORITHM(unique)
SIMT_THRUST_ALGORITHM(stable_partition)
SIMT_THRUST_ALGORITHM(partition)

}  // namespace thrust
