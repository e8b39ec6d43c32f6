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
template <class P, class I, class O, class T, detail::IsPolicy<P> = 0>
O remove_copy(const P& policy, I first, I last, O out, const T& value) {
  return detail::keep(policy, first, last, first, out,
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
template <class P, class I, class Equal, detail::IsPolicy<P> = 0>
std::ptrdiff_t unique_count(const P& policy, I first, I last, Equal equal) {
  return thrust::unique_copy(policy, first, last, discard_iterator<>(), equal) -
         discard_iterator<>();
}
template <class P, class I, detail::IsPolicy<P> = 0>
std::ptrdiff_t unique_count(const P& policy, I first, I last) {
  return thrust::unique_count(policy, first, last, equal_to<>());
}
/// The same of keys, with the value of each that stays.
template <class P, class K, class V, class KO, class VO, class Equal, detail::IsPolicy<P> = 0>
std::pair<KO, VO> unique_by_key_copy(const P& policy, K first, K last, V values, KO keys_out,
                                     VO values_out, Equal equal) {
  const detail::Scope scope(policy);
  const auto keys_begin = detail::raw(keys_out);
  const auto values_begin = detail::raw(values_out);
  auto ko = keys_begin;
  auto vo = values_begin;
  auto v = detail::raw(values);
  auto k = detail::raw(first);
  const auto end = detail::raw(last);
  while (k != end) {
    detail::ValueOf<K> before = *k;
    detail::ValueOf<V> value = *v;
    *ko = before;
    *vo = value;
    ++ko, ++vo;
    for (++k, ++v; k != end && equal(before, *k); ++k, ++v) before = *k;
  }
  return {detail::moved(keys_out, keys_begin, ko), detail::moved(values_out, values_begin, vo)};
}
template <class P, class K, class V, class KO, class VO, detail::IsPolicy<P> = 0>
std::pair<KO, VO> unique_by_key_copy(const P& policy, K first, K last, V values, KO keys_out,
                                     VO values_out) {
  return thrust::unique_by_key_copy(policy, first, last, values, keys_out, values_out,
                                    equal_to<>());
}
template <class P, class K, class V, class Equal, detail::IsPolicy<P> = 0>
std::pair<K, V> unique_by_key(const P& policy, K first, K last, V values, Equal equal) {
  return thrust::unique_by_key_copy(policy, first, last, values, first, values, equal);
}
template <class P, class K, class V, detail::IsPolicy<P> = 0>
std::pair<K, V> unique_by_key(const P& policy, K first, K last, V values) {
  return thrust::unique_by_key(policy, first, last, values, equal_to<>());
}

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
template <class P, class I, class O, class Q, class Test, detail::IsPolicy<P> = 0>
std::pair<O, Q> stable_partition_copy(const P& policy, I first, I last, O passing, Q others,
                                      Test test) {
  return {thrust::copy_if(policy, first, last, passing, test),
          thrust::remove_copy_if(policy, first, last, others, test)};
}
template <class P, class I, class O, class Q, class Test, detail::IsPolicy<P> = 0>
std::pair<O, Q> partition_copy(const P& policy, I first, I last, O passing, Q others, Test test) {
  return thrust::stable_partition_copy(policy, first, last, passing, others, test);
}

SIMT_THRUST_ALGORITHM(remove_copy_if)
SIMT_THRUST_ALGORITHM(remove_if)
SIMT_THRUST_ALGORITHM(remove)
SIMT_THRUST_ALGORITHM(remove_copy)
SIMT_THRUST_ALGORITHM(unique_copy)
SIMT_THRUST_ALGORITHM(unique)
SIMT_THRUST_ALGORITHM(unique_count)
SIMT_THRUST_ALGORITHM(unique_by_key_copy)
SIMT_THRUST_ALGORITHM(unique_by_key)
SIMT_THRUST_ALGORITHM(stable_partition)
SIMT_THRUST_ALGORITHM(partition)
SIMT_THRUST_ALGORITHM(stable_partition_copy)
SIMT_THRUST_ALGORITHM(partition_copy)

}  // namespace thrust
