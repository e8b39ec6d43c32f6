/// \file
/// Thrust for the simulator: algorithms that visit each element, and those that move elements.
#pragma once

#include <simt/thrust/iterators.h>

namespace thrust {

template <class P, class I, class F, detail::IsPolicy<P> = 0>
I for_each(const P& policy, I first, I last, F f) {
  const detail::Scope scope(policy);
  for (auto i = detail::raw(first), end = detail::raw(last); i != end; ++i) {
    auto&& x = *i;
    f(x);
  }
  return last;
}
template <class P, class I, class N, class F, detail::IsPolicy<P> = 0>
I for_each_n(const P& policy, I first, N n, F f) {
  return thrust::for_each(policy, first, first + static_cast<std::ptrdiff_t>(n), f);
}

/// out[i] = f(first[i]), or f(first[i], second[i]).
template <class P, class I, class O, class F, detail::IsPolicy<P> = 0>
O transform(const P& policy, I first, I last, O out, F f) {
  const detail::Scope scope(policy);
  const auto begin = detail::raw(out);
  auto o = begin;
  for (auto i = detail::raw(first), end = detail::raw(last); i != end; ++i, ++o) {
    auto&& x = *i;
    *o = f(x);
  }
  return detail::moved(out, begin, o);
}
template <class P, class I, class J, class O, class F, detail::IsPolicy<P> = 0>
O transform(const P& policy, I first, I last, J second, O out, F f) {
  const detail::Scope scope(policy);
  const auto begin = detail::raw(out);
  auto o = begin;
  auto j = detail::raw(second);
  for (auto i = detail::raw(first), end = detail::raw(last); i != end; ++i, ++j, ++o) {
    auto&& x = *i;
    auto&& y = *j;
    *o = f(x, y);
  }
  return detail::moved(out, begin, o);
}
/// Where the predicate holds: of the element, of the stencil's, or of two inputs and a stencil.
template <class P, class I, class O, class F, class Test, detail::IsPolicy<P> = 0>
O transform_if(const P& policy, I first, I last, O out, F f, Test test) {
  const detail::Scope scope(policy);
  const auto begin = detail::raw(out);
  auto o = begin;
  for (auto i = detail::raw(first), end = detail::raw(last); i != end; ++i, ++o) {
    auto&& x = *i;
    if (test(x)) *o = f(x);
  }
  return detail::moved(out, begin, o);
}
template <class P, class I, class S, class O, class F, class Test, detail::IsPolicy<P> = 0>
O transform_if(const P& policy, I first, I last, S stencil, O out, F f, Test test) {
  const detail::Scope scope(policy);
  const auto begin = detail::raw(out);
  auto o = begin;
  auto s = detail::raw(stencil);
  for (auto i = detail::raw(first), end = detail::raw(last); i != end; ++i, ++s, ++o) {
    auto&& mark = *s;
    auto&& x = *i;
    if (test(mark)) *o = f(x);
  }
  return detail::moved(out, begin, o);
}
template <class P, class I, class J, class S, class O, class F, class Test, detail::IsPolicy<P> = 0>
O transform_if(const P& policy, I first, I last, J second, S stencil, O out, F f, Test test) {
  const detail::Scope scope(policy);
  const auto begin = detail::raw(out);
  auto o = begin;
  auto s = detail::raw(stencil);
  auto j = detail::raw(second);
  for (auto i = detail::raw(first), end = detail::raw(last); i != end; ++i, ++j, ++s, ++o) {
    auto&& mark = *s;
    auto&& x = *i;
    auto&& y = *j;
    if (test(mark)) *o = f(x, y);
  }
  return detail::moved(out, begin, o);
}

namespace detail {
/// Makes each element f(its index).
template <class P, class I, class F>
void make_each(const P& policy, I first, I last, F f) {
  const Scope scope(policy);
  std::ptrdiff_t n = 0;
  for (auto i = raw(first), end = raw(last); i != end; ++i, ++n) *i = f(n);
}
}  // namespace detail

template <class P, class I, class T, detail::IsPolicy<P> = 0>
void fill(const P& policy, I first, I last, const T& value) {
  detail::make_each(policy, first, last, [&](std::ptrdiff_t) -> const T& { return value; });
}
template <class P, class I, class N, class T, detail::IsPolicy<P> = 0>
I fill_n(const P& policy, I first, N n, const T& value) {
  thrust::fill(policy, first, first + static_cast<std::ptrdiff_t>(n), value);
  return first + static_cast<std::ptrdiff_t>(n);
}
template <class P, class I, class T, detail::IsPolicy<P> = 0>
void uninitialized_fill(const P& policy, I first, I last, const T& value) {
  thrust::fill(policy, first, last, value);
}
template <class P, class I, class F, detail::IsPolicy<P> = 0>
void generate(const P& policy, I first, I last, F f) {
  detail::make_each(policy, first, last, [&](std::ptrdiff_t) { return f(); });
}
template <class P, class I, class N, class F, detail::IsPolicy<P> = 0>
I generate_n(const P& policy, I first, N n, F f) {
  thrust::generate(policy, first, first + static_cast<std::ptrdiff_t>(n), f);
  return first + static_cast<std::ptrdiff_t>(n);
}
/// Makes each element f(its index).
template <class P, class I, class F, detail::IsPolicy<P> = 0>
void tabulate(const P& policy, I first, I last, F f) {
  using Index = detail::ValueOf<I>;
  detail::make_each(policy, first, last,
                    [&](std::ptrdiff_t n) { return f(static_cast<Index>(n)); });
}
/// start, start + step, start + 2 * step, ...
template <class P, class I, class T, detail::IsPolicy<P> = 0>
void sequence(const P& policy, I first, I last, T start, T step) {
  using Value = detail::ValueOf<I>;
  detail::make_each(policy, first, last, [&](std::ptrdiff_t n) {
    return static_cast<Value>(start + static_cast<T>(n) * step);
  });
}
template <class P, class I, class T, detail::IsPolicy<P> = 0>
void sequence(const P& policy, I first, I last, T start) {
  thrust::sequence(policy, first, last, start, T(1));
}
template <class P, class I, detail::IsPolicy<P> = 0>
void sequence(const P& policy, I first, I last) {
  using Value = detail::ValueOf<I>;
  thrust::sequence(policy, first, last, Value(0), Value(1));
}

template <class P, class I, class O, detail::IsPolicy<P> = 0>
O copy(const P& policy, I first, I last, O out) {
  const detail::Scope scope(policy);
  const auto begin = detail::raw(out);
  return detail::moved(out, begin, std::copy(detail::raw(first), detail::raw(last), begin));
}
template <class P, class I, class N, class O, detail::IsPolicy<P> = 0>
O copy_n(const P& policy, I first, N n, O out) {
  return thrust::copy(policy, first, first + static_cast<std::ptrdiff_t>(n), out);
}
template <class P, class I, class O, detail::IsPolicy<P> = 0>
O uninitialized_copy(const P& policy, I first, I last, O out) {
  return thrust::copy(policy, first, last, out);
}

/// out[i] = from[map[i]]
template <class P, class M, class I, class O, detail::IsPolicy<P> = 0>
O gather(const P& policy, M first, M last, I from, O out) {
  const detail::Scope scope(policy);
  const auto begin = detail::raw(out);
  auto o = begin;
  const auto source = detail::raw(from);
  for (auto m = detail::raw(first), end = detail::raw(last); m != end; ++m, ++o)
    *o = source[static_cast<std::ptrdiff_t>(*m)];
  return detail::moved(out, begin, o);
}
/// The same where the stencil's element is true.
template <class P, class M, class S, class I, class O, detail::IsPolicy<P> = 0>
O gather_if(const P& policy, M first, M last, S stencil, I from, O out) {
  const detail::Scope scope(policy);
  const auto begin = detail::raw(out);
  auto o = begin;
  auto s = detail::raw(stencil);
  const auto source = detail::raw(from);
  for (auto m = detail::raw(first), end = detail::raw(last); m != end; ++m, ++s, ++o) {
    if (*s) *o = source[static_cast<std::ptrdiff_t>(*m)];
  }
  return detail::moved(out, begin, o);
}
/// out[map[i]] = first[i]
template <class P, class I, class M, class O, detail::IsPolicy<P> = 0>
void scatter(const P& policy, I first, I last, M map, O out) {
  const detail::Scope scope(policy);
  const auto target = detail::raw(out);
  auto m = detail::raw(map);
  for (auto i = detail::raw(first), end = detail::raw(last); i != end; ++i, ++m)
    target[static_cast<std::ptrdiff_t>(*m)] = *i;
}
template <class P, class I, class M, class S, class O, detail::IsPolicy<P> = 0>
void scatter_if(const P& policy, I first, I last, M map, S stencil, O out) {
  const detail::Scope scope(policy);
  const auto target = detail::raw(out);
  auto m = detail::raw(map);
  auto s = detail::raw(stencil);
  for (auto i = detail::raw(first), end = detail::raw(last); i != end; ++i, ++m, ++s) {
    if (*s) target[static_cast<std::ptrdiff_t>(*m)] = *i;
  }
}

template <class P, class I, class J, detail::IsPolicy<P> = 0>
J swap_ranges(const P& policy, I first, I last, J second) {
  const detail::Scope scope(policy);
  const auto begin = detail::raw(second);
  auto j = begin;
  for (auto i = detail::raw(first), end = detail::raw(last); i != end; ++i, ++j) {
    detail::ValueOf<I> value = *i;
    *i = *j;
    *j = value;
  }
  return detail::moved(second, begin, j);
}
template <class P, class I, detail::IsPolicy<P> = 0>
void reverse(const P& policy, I first, I last) {
  const detail::Scope scope(policy);
  auto i = detail::raw(first), end = detail::raw(last);
  while (end - i > 1) {
    --end;
    detail::ValueOf<I> value = *i;
    *i = *end;
    *end = value;
    ++i;
  }
}
template <class P, class I, class O, detail::IsPolicy<P> = 0>
O reverse_copy(const P& policy, I first, I last, O out) {
  return thrust::copy(policy, std::make_reverse_iterator(last), std::make_reverse_iterator(first),
                      out);
}

template <class P, class I, class T, detail::IsPolicy<P> = 0>
void replace(const P& policy, I first, I last, const T& before, const T& after) {
  const detail::Scope scope(policy);
  std::replace(detail::raw(first), detail::raw(last), before, after);
}
template <class P, class I, class Test, class T, detail::IsPolicy<P> = 0>
void replace_if(const P& policy, I first, I last, Test test, const T& after) {
  const detail::Scope scope(policy);
  std::replace_if(detail::raw(first), detail::raw(last), test, after);
}
template <class P, class I, class S, class Test, class T, detail::IsPolicy<P> = 0>
void replace_if(const P& policy, I first, I last, S stencil, Test test, const T& after) {
  const detail::Scope scope(policy);
  auto s = detail::raw(stencil);
  for (auto i = detail::raw(first), end = detail::raw(last); i != end; ++i, ++s) {
    if (test(*s)) *i = after;
  }
}

/// The first element, then the difference of each from the one before it.
template <class P, class I, class O, class F, detail::IsPolicy<P> = 0>
O adjacent_difference(const P& policy, I first, I last, O out, F f) {
  const detail::Scope scope(policy);
  const auto begin = detail::raw(out);
  auto o = begin;
  auto i = detail::raw(first);
  const auto end = detail::raw(last);
  if (i == end) return out;
  detail::ValueOf<I> before = *i;
  *o = before;
  for (++o, ++i; i != end; ++i, ++o) {
    detail::ValueOf<I> x = *i;
    *o = f(x, before);
    before = x;
  }
  return detail::moved(out, begin, o);
}
template <class P, class I, class O, detail::IsPolicy<P> = 0>
O adjacent_difference(const P& policy, I first, I last, O out) {
  return thrust::adjacent_difference(policy, first, last, out, minus<>());
}

SIMT_THRUST_ALGORITHM(for_each)
SIMT_THRUST_ALGORITHM(for_each_n)
SIMT_THRUST_ALGORITHM(transform)
SIMT_THRUST_ALGORITHM(transform_if)
SIMT_THRUST_ALGORITHM(fill)
SIMT_THRUST_ALGORITHM(fill_n)
SIMT_THRUST_ALGORITHM(uninitialized_fill)
SIMT_THRUST_ALGORITHM(generate)
SIMT_THRUST_ALGORITHM(generate_n)
SIMT_THRUST_ALGORITHM(tabulate)
SIMT_THRUST_ALGORITHM(sequence)
SIMT_THRUST_ALGORITHM(copy)
SIMT_THRUST_ALGORITHM(copy_n)
SIMT_THRUST_ALGORITHM(uninitialized_copy)
SIMT_THRUST_ALGORITHM(gather)
SIMT_THRUST_ALGORITHM(gather_if)
SIMT_THRUST_ALGORITHM(scatter)
SIMT_THRUST_ALGORITHM(scatter_if)
SIMT_THRUST_ALGORITHM(swap_ranges)
SIMT_THRUST_ALGORITHM(reverse)
SIMT_THRUST_ALGORITHM(reverse_copy)
SIMT_THRUST_ALGORITHM(replace)
SIMT_THRUST_ALGORITHM(replace_if)
SIMT_THRUST_ALGORITHM(adjacent_difference)

}  // namespace thrust
