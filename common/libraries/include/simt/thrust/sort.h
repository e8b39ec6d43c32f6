/// \file
/// Thrust for the simulator: sorting and merging. All sorts are stable, as sorts of equal keys may be.
#pragma once

#include <simt/thrust/transform.h>

#include <memory>
#include <vector>

namespace thrust {
namespace detail {

/// Copies of elements. (A std::vector<bool> would have none.)
template <class T>
using Copies = std::vector<std::conditional_t<std::is_same_v<T, bool>, char, T>>;
template <class I>
auto copies(I first, std::ptrdiff_t n) {
  Copies<ValueOf<I>> values;
  values.reserve(static_cast<std::size_t>(n));
  for (std::ptrdiff_t i = 0; i < n; ++i, ++first) values.push_back(*first);
  return values;
}

}  // namespace detail

template <class P, class I, class Less, detail::IsPolicy<P> = 0>
void stable_sort(const P& policy, I first, I last, Less less) {
  const detail::Scope scope(policy);
  if constexpr (P::kSystem == detail::System::none && std::is_pointer_v<I>) {
    std::make_heap(first, last, less);  // in a kernel, where memory is scarce
    std::sort_heap(first, last, less);
  } else {
    const auto begin = detail::raw(first);
    auto values = detail::copies(begin, last - first);
    std::stable_sort(values.begin(), values.end(), less);
    std::copy(values.begin(), values.end(), begin);
  }
}
template <class P, class I, detail::IsPolicy<P> = 0>
void stable_sort(const P& policy, I first, I last) {
  thrust::stable_sort(policy, first, last, less<>());
}
template <class P, class I, class Less, detail::IsPolicy<P> = 0>
void sort(const P& policy, I first, I last, Less less) {
  thrust::stable_sort(policy, first, last, less);
}
template <class P, class I, detail::IsPolicy<P> = 0>
void sort(const P& policy, I first, I last) {
  thrust::stable_sort(policy, first, last, less<>());
}
/// Sorts the keys, and the values along with them.
template <class P, class K, class V, class Less, detail::IsPolicy<P> = 0>
void stable_sort_by_key(const P& policy, K first, K last, V values, Less less) {
  const detail::Scope scope(policy);
  const std::ptrdiff_t n = last - first;
  auto k = detail::raw(first);
  auto v = detail::raw(values);
  const auto keys = detail::copies(k, n);
  const auto before = detail::copies(v, n);
  std::vector<std::size_t> order(static_cast<std::size_t>(n));
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return less(keys[a], keys[b]); });
  for (const std::size_t i : order) {
    *k = keys[i];
    *v = before[i];
    ++k, ++v;
  }
}
template <class P, class K, class V, detail::IsPolicy<P> = 0>
void stable_sort_by_key(const P& policy, K first, K last, V values) {
  thrust::stable_sort_by_key(policy, first, last, values, less<>());
}
template <class P, class K, class V, class Less, detail::IsPolicy<P> = 0>
void sort_by_key(const P& policy, K first, K last, V values, Less less) {
  thrust::stable_sort_by_key(policy, first, last, values, less);
}
template <class P, class K, class V, detail::IsPolicy<P> = 0>
void sort_by_key(const P& policy, K first, K last, V values) {
  thrust::stable_sort_by_key(policy, first, last, values, less<>());
}

template <class P, class I, class Less, detail::IsPolicy<P> = 0>
I is_sorted_until(const P& policy, I first, I last, Less less) {
  const detail::Scope scope(policy);
  const auto begin = detail::raw(first);
  return detail::moved(first, begin, std::is_sorted_until(begin, detail::raw(last), less));
}
template <class P, class I, detail::IsPolicy<P> = 0>
I is_sorted_until(const P& policy, I first, I last) {
  return thrust::is_sorted_until(policy, first, last, less<>());
}
template <class P, class I, class Less, detail::IsPolicy<P> = 0>
bool is_sorted(const P& policy, I first, I last, Less less) {
  return thrust::is_sorted_until(policy, first, last, less) == last;
}
template <class P, class I, detail::IsPolicy<P> = 0>
bool is_sorted(const P& policy, I first, I last) {
  return thrust::is_sorted(policy, first, last, less<>());
}

/// Two sorted ranges to one.
template <class P, class I, class J, class O, class Less, detail::IsPolicy<P> = 0>
O merge(const P& policy, I first, I last, J second, J second_last, O out, Less less) {
  const detail::Scope scope(policy);
  const auto a = detail::copies(detail::raw(first), last - first);
  const auto b = detail::copies(detail::raw(second), second_last - second);
  const auto begin = detail::raw(out);
  return detail::moved(out, begin, std::merge(a.begin(), a.end(), b.begin(), b.end(), begin, less));
}
template <class P, class I, class J, class O, detail::IsPolicy<P> = 0>
O merge(const P& policy, I first, I last, J second, J second_last, O out) {
  return thrust::merge(policy, first, last, second, second_last, out, less<>());
}

SIMT_THRUST_ALGORITHM(merge)
SIMT_THRUST_ALGORITHM(sort)
SIMT_THRUST_ALGORITHM(stable_sort)
SIMT_THRUST_ALGORITHM(sort_by_key)
SIMT_THRUST_ALGORITHM(stable_sort_by_key)
SIMT_THRUST_ALGORITHM(is_sorted)
SIMT_THRUST_ALGORITHM(is_sorted_until)

}  // namespace thrust
