/// \file
/// Thrust for the simulator: prefix sums. Each reads an element before it writes there, so that they may work in place.
#pragma once

#include <simt/thrust/iterators.h>

namespace thrust {
namespace detail {

/// out[i] = op over f of the elements up to i, that one among them or not, and over `init`, if there is one.
template <bool inclusive, class P, class I, class O, class F, class T, class Op>
O scan(const P& policy, I first, I last, O out, F f, std::optional<T> sum, Op op) {
  const Scope scope(policy);
  const auto begin = raw(out);
  auto o = begin;
  for (auto i = raw(first), end = raw(last); i != end; ++i, ++o) {
    auto&& x = *i;
    T value = f(x);
    if constexpr (!inclusive) *o = *sum;
    sum = sum ? static_cast<T>(op(*sum, value)) : value;
    if constexpr (inclusive) *o = *sum;
  }
  return moved(out, begin, o);
}
struct AsItIs {
  template <class T>
  std::decay_t<T> operator()(T&& x) const {
    return x;
  }
};
/// The same within each run of equal keys.
template <bool inclusive, class P, class K, class V, class O, class T, class Equal, class Op>
O scan_by_key(const P& policy, K first, K last, V values, O out, T init, Equal equal, Op op) {
  const Scope scope(policy);
  const auto begin = raw(out);
  auto o = begin;
  auto v = raw(values);
  auto k = raw(first);
  const auto end = raw(last);
  while (k != end) {
    ValueOf<K> key = *k;
    T sum = init;
    bool is_first = true;
    for (; k != end && (is_first || equal(key, *k)); ++k, ++v, ++o) {
      T value = *v;
      key = *k;
      if constexpr (inclusive) {
        sum = is_first ? value : static_cast<T>(op(sum, value));
        *o = sum;
      } else {
        *o = sum;
        sum = op(sum, value);
      }
      is_first = false;
    }
  }
  return moved(out, begin, o);
}

}  // namespace detail

template <class P, class I, class O, class T, class Op, detail::IsPolicy<P> = 0>
O inclusive_scan(const P& policy, I first, I last, O out, T init, Op op) {
  return detail::scan<true>(policy, first, last, out, detail::AsItIs(), std::optional<T>(init), op);
}
template <class P, class I, class O, class Op, detail::IsPolicy<P> = 0>
O inclusive_scan(const P& policy, I first, I last, O out, Op op) {
  using T = detail::ValueOf<I>;
  return detail::scan<true>(policy, first, last, out, detail::AsItIs(), std::optional<T>(), op);
}
template <class P, class I, class O, detail::IsPolicy<P> = 0>
O inclusive_scan(const P& policy, I first, I last, O out) {
  return thrust::inclusive_scan(policy, first, last, out, plus<>());
}
template <class P, class I, class O, class T, class Op, detail::IsPolicy<P> = 0>
O exclusive_scan(const P& policy, I first, I last, O out, T init, Op op) {
  return detail::scan<false>(policy, first, last, out, detail::AsItIs(), std::optional<T>(init),
                             op);
}
template <class P, class I, class O, class T, detail::IsPolicy<P> = 0>
O exclusive_scan(const P& policy, I first, I last, O out, T init) {
  return thrust::exclusive_scan(policy, first, last, out, init, plus<>());
}
template <class P, class I, class O, detail::IsPolicy<P> = 0>
O exclusive_scan(const P& policy, I first, I last, O out) {
  return thrust::exclusive_scan(policy, first, last, out, detail::ValueOf<I>());
}
template <class P, class I, class O, class F, class Op, detail::IsPolicy<P> = 0>
O transform_inclusive_scan(const P& policy, I first, I last, O out, F f, Op op) {
  using T = std::decay_t<std::invoke_result_t<F&, decltype(detail::lvalue(*detail::raw(first)))>>;
  return detail::scan<true>(policy, first, last, out, f, std::optional<T>(), op);
}
template <class P, class I, class O, class F, class T, class Op, detail::IsPolicy<P> = 0>
O transform_exclusive_scan(const P& policy, I first, I last, O out, F f, T init, Op op) {
  return detail::scan<false>(policy, first, last, out, f, std::optional<T>(init), op);
}

template <class P, class K, class V, class O, class Equal, class Op, detail::IsPolicy<P> = 0>
O inclusive_scan_by_key(const P& policy, K first, K last, V values, O out, Equal equal, Op op) {
  return detail::scan_by_key<true>(policy, first, last, values, out, detail::ValueOf<V>(), equal,
                                   op);
}
template <class P, class K, class V, class O, class Equal, detail::IsPolicy<P> = 0>
O inclusive_scan_by_key(const P& policy, K first, K last, V values, O out, Equal equal) {
  return thrust::inclusive_scan_by_key(policy, first, last, values, out, equal, plus<>());
}
template <class P, class K, class V, class O, detail::IsPolicy<P> = 0>
O inclusive_scan_by_key(const P& policy, K first, K last, V values, O out) {
  return thrust::inclusive_scan_by_key(policy, first, last, values, out, equal_to<>());
}
template <class P, class K, class V, class O, class T, class Equal, class Op,
          detail::IsPolicy<P> = 0>
O exclusive_scan_by_key(const P& policy, K first, K last, V values, O out, T init, Equal equal,
                        Op op) {
  return detail::scan_by_key<false>(policy, first, last, values, out, init, equal, op);
}
template <class P, class K, class V, class O, class T, class Equal, detail::IsPolicy<P> = 0>
O exclusive_scan_by_key(const P& policy, K first, K last, V values, O out, T init, Equal equal) {
  return thrust::exclusive_scan_by_key(policy, first, last, values, out, init, equal, plus<>());
}
template <class P, class K, class V, class O, class T, detail::IsPolicy<P> = 0>
O exclusive_scan_by_key(const P& policy, K first, K last, V values, O out, T init) {
  return thrust::exclusive_scan_by_key(policy, first, last, values, out, init, equal_to<>());
}
template <class P, class K, class V, class O, detail::IsPolicy<P> = 0>
O exclusive_scan_by_key(const P& policy, K first, K last, V values, O out) {
  return thrust::exclusive_scan_by_key(policy, first, last, values, out, detail::ValueOf<V>());
}

SIMT_THRUST_ALGORITHM(inclusive_scan)
SIMT_THRUST_ALGORITHM(exclusive_scan)
SIMT_THRUST_ALGORITHM(transform_inclusive_scan)
SIMT_THRUST_ALGORITHM(transform_exclusive_scan)
SIMT_THRUST_ALGORITHM(inclusive_scan_by_key)
SIMT_THRUST_ALGORITHM(exclusive_scan_by_key)

}  // namespace thrust
