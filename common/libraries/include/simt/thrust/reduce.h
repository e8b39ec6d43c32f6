/// \file
/// Thrust for the simulator: algorithms that make one value of many.
#pragma once

#include <simt/thrust/iterators.h>

namespace thrust {
namespace detail {

/// op over `n` elements, by halves as a device has it, not one after the other: sums of floats differ much else.
/// \param at gives the element that an index stands for, as a T
template <class T, class At, class Op>
T fold(std::ptrdiff_t first, std::ptrdiff_t n, const At& at, Op& op) {
  if (n > 32) {
    const std::ptrdiff_t half = n / 2;
    T left = fold<T>(first, half, at, op);
    return op(left, fold<T>(first + half, n - half, at, op));
  }
  T sum = at(first);
  for (std::ptrdiff_t i = 1; i < n; ++i) sum = op(sum, static_cast<T>(at(first + i)));
  return sum;
}

}  // namespace detail

/// op over f(x) of all elements x, and `init`.
template <class P, class I, class F, class T, class Op, detail::IsPolicy<P> = 0>
T transform_reduce(const P& policy, I first, I last, F f, T init, Op op) {
  const detail::Scope scope(policy);
  const auto begin = detail::raw(first);
  const std::ptrdiff_t n = last - first;
  if (n == 0) return init;
  const auto at = [&](std::ptrdiff_t i) -> T {
    auto&& x = begin[i];
    return f(x);
  };
  return op(init, detail::fold<T>(0, n, at, op));
}
template <class P, class I, class T, class Op, detail::IsPolicy<P> = 0>
T reduce(const P& policy, I first, I last, T init, Op op) {
  return thrust::transform_reduce(
      policy, first, last, [](auto& x) -> T { return static_cast<T>(x); }, init, op);
}
template <class P, class I, class T, detail::IsPolicy<P> = 0>
T reduce(const P& policy, I first, I last, T init) {
  return thrust::reduce(policy, first, last, init, plus<T>());
}
template <class P, class I, detail::IsPolicy<P> = 0>
detail::ValueOf<I> reduce(const P& policy, I first, I last) {
  return thrust::reduce(policy, first, last, detail::ValueOf<I>());
}
/// sum over product(x, y), and `init`
template <class P, class I, class J, class T, class Sum, class Product, detail::IsPolicy<P> = 0>
T inner_product(const P& policy, I first, I last, J second, T init, Sum sum, Product product) {
  const detail::Scope scope(policy);
  const auto a = detail::raw(first);
  const auto b = detail::raw(second);
  const std::ptrdiff_t n = last - first;
  if (n == 0) return init;
  const auto at = [&](std::ptrdiff_t i) -> T {
    auto&& x = a[i];
    auto&& y = b[i];
    return product(x, y);
  };
  return sum(init, detail::fold<T>(0, n, at, sum));
}
template <class P, class I, class J, class T, detail::IsPolicy<P> = 0>
T inner_product(const P& policy, I first, I last, J second, T init) {
  return thrust::inner_product(policy, first, last, second, init, plus<T>(), multiplies<T>());
}

/// Of each run of equal keys, the key and the sum of the values.
/// \return where the keys and the sums end
template <class P, class K, class V, class KO, class VO, class Equal, class Op,
          detail::IsPolicy<P> = 0>
std::pair<KO, VO> reduce_by_key(const P& policy, K first, K last, V values, KO keys_out,
                                VO values_out, Equal equal, Op op) {
  const detail::Scope scope(policy);
  using Key = detail::ValueOf<K>;
  using Value = detail::ValueOf<V>;
  const auto keys_begin = detail::raw(keys_out);
  const auto values_begin = detail::raw(values_out);
  auto ko = keys_begin;
  auto vo = values_begin;
  auto v = detail::raw(values);
  auto k = detail::raw(first);
  const auto end = detail::raw(last);
  while (k != end) {
    const Key key = *k;
    Value sum = *v;
    Key before = key;
    for (++k, ++v; k != end && equal(before, *k); ++k, ++v) {
      sum = op(sum, *v);
      before = *k;
    }
    *ko = key;
    *vo = sum;
    ++ko, ++vo;
  }
  return {detail::moved(keys_out, keys_begin, ko), detail::moved(values_out, values_begin, vo)};
}
template <class P, class K, class V, class KO, class VO, class Equal, detail::IsPolicy<P> = 0>
std::pair<KO, VO> reduce_by_key(const P& policy, K first, K last, V values, KO keys_out,
                                VO values_out, Equal equal) {
  return thrust::reduce_by_key(policy, first, last, values, keys_out, values_out, equal, plus<>());
}
template <class P, class K, class V, class KO, class VO, detail::IsPolicy<P> = 0>
std::pair<KO, VO> reduce_by_key(const P& policy, K first, K last, V values, KO keys_out,
                                VO values_out) {
  return thrust::reduce_by_key(policy, first, last, values, keys_out, values_out, equal_to<>());
}

template <class P, class I, class Test, detail::IsPolicy<P> = 0>
std::ptrdiff_t count_if(const P& policy, I first, I last, Test test) {
  const detail::Scope scope(policy);
  std::ptrdiff_t n = 0;
  for (auto i = detail::raw(first), end = detail::raw(last); i != end; ++i) {
    auto&& x = *i;
    if (test(x)) ++n;
  }
  return n;
}
template <class P, class I, class T, detail::IsPolicy<P> = 0>
std::ptrdiff_t count(const P& policy, I first, I last, const T& value) {
  return thrust::count_if(policy, first, last, [&](const auto& x) { return x == value; });
}

template <class P, class I, class Less, detail::IsPolicy<P> = 0>
I min_element(const P& policy, I first, I last, Less less) {
  const detail::Scope scope(policy);
  const auto begin = detail::raw(first);
  return detail::moved(first, begin, std::min_element(begin, detail::raw(last), less));
}
template <class P, class I, detail::IsPolicy<P> = 0>
I min_element(const P& policy, I first, I last) {
  return thrust::min_element(policy, first, last, less<>());
}
template <class P, class I, class Less, detail::IsPolicy<P> = 0>
I max_element(const P& policy, I first, I last, Less less) {
  const detail::Scope scope(policy);
  const auto begin = detail::raw(first);
  return detail::moved(first, begin, std::max_element(begin, detail::raw(last), less));
}
template <class P, class I, detail::IsPolicy<P> = 0>
I max_element(const P& policy, I first, I last) {
  return thrust::max_element(policy, first, last, less<>());
}
/// The first smallest and the first largest.
template <class P, class I, class Less, detail::IsPolicy<P> = 0>
std::pair<I, I> minmax_element(const P& policy, I first, I last, Less less) {
  return {thrust::min_element(policy, first, last, less),
          thrust::max_element(policy, first, last, less)};
}
template <class P, class I, detail::IsPolicy<P> = 0>
std::pair<I, I> minmax_element(const P& policy, I first, I last) {
  return thrust::minmax_element(policy, first, last, less<>());
}

template <class P, class I, class Test, detail::IsPolicy<P> = 0>
bool all_of(const P& policy, I first, I last, Test test) {
  return thrust::count_if(policy, first, last, test) == last - first;
}
template <class P, class I, class Test, detail::IsPolicy<P> = 0>
bool any_of(const P& policy, I first, I last, Test test) {
  return thrust::count_if(policy, first, last, test) != 0;
}
template <class P, class I, class Test, detail::IsPolicy<P> = 0>
bool none_of(const P& policy, I first, I last, Test test) {
  return thrust::count_if(policy, first, last, test) == 0;
}

SIMT_THRUST_ALGORITHM(transform_reduce)
SIMT_THRUST_ALGORITHM(reduce)
SIMT_THRUST_ALGORITHM(inner_product)
SIMT_THRUST_ALGORITHM(reduce_by_key)
SIMT_THRUST_ALGORITHM(count)
SIMT_THRUST_ALGORITHM(count_if)
SIMT_THRUST_ALGORITHM(min_element)
SIMT_THRUST_ALGORITHM(max_element)
SIMT_THRUST_ALGORITHM(minmax_element)
SIMT_THRUST_ALGORITHM(all_of)
SIMT_THRUST_ALGORITHM(any_of)
SIMT_THRUST_ALGORITHM(none_of)

}  // namespace thrust
