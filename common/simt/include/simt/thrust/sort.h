/// \file
/// Thrust for the simulator: sorting, merging, and sets. All sorts are stable, as sorts of equal keys may be.
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

/// Two sorted ranges to one by an algorithm of the standard library.
template <class P, class I, class J, class O, class Less, class Algorithm>
O combine(const P& policy, I first, I last, J second, J second_last, O out, Less less,
          Algorithm algorithm) {
  const Scope scope(policy);
  const auto a = copies(raw(first), last - first);
  const auto b = copies(raw(second), second_last - second);
  Copies<ValueOf<I>> result;
  result.reserve(a.size() + b.size());
  algorithm(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(result), less);
  const auto begin = raw(out);
  return moved(out, begin, std::copy(result.begin(), result.end(), begin));
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

#define SIMT_THRUST_OF_SORTED(name)                                                     \
  template <class P, class I, class J, class O, class Less, detail::IsPolicy<P> = 0>    \
  O name(const P& policy, I first, I last, J second, J second_last, O out, Less less) { \
    return detail::combine(policy, first, last, second, second_last, out, less,         \
                           [](auto... arguments) { std::name(arguments...); });         \
  }                                                                                     \
  template <class P, class I, class J, class O, detail::IsPolicy<P> = 0>                \
  O name(const P& policy, I first, I last, J second, J second_last, O out) {            \
    return thrust::name(policy, first, last, second, second_last, out, less<>());       \
  }                                                                                     \
  SIMT_THRUST_ALGORITHM(name)
SIMT_THRUST_OF_SORTED(merge)
SIMT_THRUST_OF_SORTED(set_union)
SIMT_THRUST_OF_SORTED(set_intersection)
SIMT_THRUST_OF_SORTED(set_difference)
SIMT_THRUST_OF_SORTED(set_symmetric_difference)
#undef SIMT_THRUST_OF_SORTED

/// Merges the keys, and the values along with them; of equal keys the first range's come first.
template <class P, class K, class L, class V, class W, class KOut, class VOut, class Less,
          detail::IsPolicy<P> = 0>
std::pair<KOut, VOut> merge_by_key(const P& policy, K first, K last, L second, L second_last,
                                   V values, W second_values, KOut keys_out, VOut values_out,
                                   Less less) {
  const detail::Scope scope(policy);
  const auto a = detail::copies(detail::raw(first), last - first);
  const auto b = detail::copies(detail::raw(second), second_last - second);
  const auto va = detail::copies(detail::raw(values), last - first);
  const auto vb = detail::copies(detail::raw(second_values), second_last - second);
  const auto keys_begin = detail::raw(keys_out);
  const auto values_begin = detail::raw(values_out);
  auto k = keys_begin;
  auto v = values_begin;
  for (std::size_t i = 0, j = 0; i < a.size() || j < b.size(); ++k, ++v) {
    if (j == b.size() || (i < a.size() && !less(b[j], a[i]))) {
      *k = a[i];
      *v = va[i++];
    } else {
      *k = b[j];
      *v = vb[j++];
    }
  }
  return {detail::moved(keys_out, keys_begin, k), detail::moved(values_out, values_begin, v)};
}
template <class P, class K, class L, class V, class W, class KOut, class VOut,
          detail::IsPolicy<P> = 0>
std::pair<KOut, VOut> merge_by_key(const P& policy, K first, K last, L second, L second_last,
                                   V values, W second_values, KOut keys_out, VOut values_out) {
  return thrust::merge_by_key(policy, first, last, second, second_last, values, second_values,
                              keys_out, values_out, less<>());
}

/// In an order that the generator decides; Thrust's order is another.
template <class P, class I, class O, class G, detail::IsPolicy<P> = 0>
O shuffle_copy(const P& policy, I first, I last, O out, G&& generator) {
  const detail::Scope scope(policy);
  auto values = detail::copies(detail::raw(first), last - first);
  for (std::size_t i = values.size(); i > 1; --i)
    std::swap(values[i - 1], values[static_cast<std::size_t>(generator()) % i]);
  const auto begin = detail::raw(out);
  return detail::moved(out, begin, std::copy(values.begin(), values.end(), begin));
}
template <class P, class I, class G, detail::IsPolicy<P> = 0>
void shuffle(const P& policy, I first, I last, G&& generator) {
  thrust::shuffle_copy(policy, first, last, first, generator);
}
template <class I, class O, class G, detail::IsNoPolicy<I> = 0>
O shuffle_copy(I first, I last, O out, G&& generator) {
  return thrust::shuffle_copy(detail::policy_of<I, O>(), first, last, out, generator);
}
template <class I, class G, detail::IsNoPolicy<I> = 0>
void shuffle(I first, I last, G&& generator) {
  thrust::shuffle_copy(detail::policy_of<I>(), first, last, first, generator);
}

SIMT_THRUST_ALGORITHM(merge_by_key)
SIMT_THRUST_ALGORITHM(sort)
SIMT_THRUST_ALGORITHM(stable_sort)
SIMT_THRUST_ALGORITHM(sort_by_key)
SIMT_THRUST_ALGORITHM(stable_sort_by_key)
SIMT_THRUST_ALGORITHM(is_sorted)
SIMT_THRUST_ALGORITHM(is_sorted_until)

}  // namespace thrust
