/// \file
/// Thrust for the simulator: algorithms that look for places in ordered ranges.
#pragma once

#include <simt/thrust/find.h>

namespace thrust {

/// Where the elements that pass end, which come first.
template <class P, class I, class Test, detail::IsPolicy<P> = 0>
I partition_point(const P& policy, I first, I last, Test test) {
  return thrust::find_if_not(policy, first, last, test);
}
template <class P, class I, class Test, detail::IsPolicy<P> = 0>
bool is_partitioned(const P& policy, I first, I last, Test test) {
  return thrust::find_if(policy, thrust::find_if_not(policy, first, last, test), last, test) ==
         last;
}

namespace detail {

struct Lower {
  template <class I, class T, class Less>
  std::ptrdiff_t operator()(I first, I last, const T& value, Less& less) const {
    return std::lower_bound(first, last, value, less) - first;
  }
};
struct Upper {
  template <class I, class T, class Less>
  std::ptrdiff_t operator()(I first, I last, const T& value, Less& less) const {
    return std::upper_bound(first, last, value, less) - first;
  }
};
struct Holds {
  template <class I, class T, class Less>
  bool operator()(I first, I last, const T& value, Less& less) const {
    return std::binary_search(first, last, value, less);
  }
};

/// What `search` finds in the sorted range, of one value.
template <class Search, class P, class I, class T, class Less>
auto search_one(const P& policy, I first, I last, const T& value, Less less) {
  const Scope scope(policy);
  return Search()(raw(first), raw(last), value, less);
}
/// The same of each of many values.
template <class Search, class P, class I, class V, class O, class Less>
O search_each(const P& policy, I first, I last, V values, V values_last, O out, Less less) {
  const Scope scope(policy);
  const auto begin = raw(first), end = raw(last);
  const auto target = raw(out);
  auto o = target;
  for (auto v = raw(values), stop = raw(values_last); v != stop; ++v, ++o)
    *o = Search()(begin, end, static_cast<ValueOf<V>>(*v), less);
  return moved(out, target, o);
}

}  // namespace detail

#define SIMT_THRUST_SEARCH(name, Search, Result, result)                                      \
  template <class P, class I, class T, class Less, detail::IsPolicy<P> = 0>                   \
  Result name(const P& policy, I first, I last, const T& value, Less less) {                  \
    return result(detail::search_one<detail::Search>(policy, first, last, value, less));      \
  }                                                                                           \
  template <class P, class I, class T, detail::IsPolicy<P> = 0>                               \
  Result name(const P& policy, I first, I last, const T& value) {                             \
    return result(detail::search_one<detail::Search>(policy, first, last, value, less<>()));  \
  }                                                                                           \
  template <class P, class I, class V, class O, class Less, detail::IsPolicy<P> = 0>          \
  O name(const P& policy, I first, I last, V values, V values_last, O out, Less less) {       \
    return detail::search_each<detail::Search>(policy, first, last, values, values_last, out, \
                                               less);                                         \
  }                                                                                           \
  template <class P, class I, class V, class O, detail::IsPolicy<P> = 0>                      \
  O name(const P& policy, I first, I last, V values, V values_last, O out) {                  \
    return detail::search_each<detail::Search>(policy, first, last, values, values_last, out, \
                                               less<>());                                     \
  }                                                                                           \
  SIMT_THRUST_ALGORITHM(name)
SIMT_THRUST_SEARCH(lower_bound, Lower, I, first +)
SIMT_THRUST_SEARCH(upper_bound, Upper, I, first +)
SIMT_THRUST_SEARCH(binary_search, Holds, bool, )
#undef SIMT_THRUST_SEARCH
template <class P, class I, class T, detail::IsPolicy<P> = 0>
std::pair<I, I> equal_range(const P& policy, I first, I last, const T& value) {
  return {thrust::lower_bound(policy, first, last, value),
          thrust::upper_bound(policy, first, last, value)};
}

SIMT_THRUST_ALGORITHM(partition_point)
SIMT_THRUST_ALGORITHM(is_partitioned)
SIMT_THRUST_ALGORITHM(equal_range)

}  // namespace thrust
