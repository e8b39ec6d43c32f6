/// \file
/// What a rung writes, and what has to be in it afterwards.
///
///     lab::DeviceBuffer<float> out(n, "out");
///     ladder.add({.name = "square",
///                 .launch = [&] { square<<<grid, block>>>(out.data(), in.data(), n); },
///                 .outputs = {lab::expect(out, [=] __host__ __device__(std::size_t i) { return x[i] * x[i]; })}});
///
/// An expectation poisons its array before the rung runs, so that an element that nobody writes is wrong, and compares
/// it afterwards: on the device, on a GPU. Its reference is computed once, when the expectation is made.
#pragma once

#include <concepts>
#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "lab/buffer.h"
#include "lab/elements.h"
#include "lab/reference.h"
#include "lab/verify.h"

namespace lab {

/// An array that a rung writes, and its check.
struct Expectation {
  std::function<void()> poison = {};
  std::function<Comparison()> check = {};  ///< none: the array is poisoned and not looked at
};

/// How an array is compared.
struct Check {
  Tolerance tolerance = Tolerance::exact();
  std::size_t cols = 0;  ///< of the matrix that the array is: a message names row and column
  /// What each element may be off, in place of the tolerance; `tolerance.basis` says why.
  std::shared_ptr<const Reference<double>> allowed = {};

  Check() = default;
  Check(const Tolerance& tolerance)
      : tolerance(tolerance) {}  // NOLINT: a tolerance is all that most need
  Check(const Tolerance& tolerance, std::size_t cols) : tolerance(tolerance), cols(cols) {}
};

namespace detail {

/// Compares an array in device memory with a reference.
Comparison compare_buffer(const void* got, Elements elements, const Elements& want,
                          const Check& check);

/// Overwrites memory of the host as `Buffer::poison` does.
void poison_host(void* data, std::size_t bytes);

template <class W>
Elements elements_of_reference(const Reference<W>& want) {
  return elements_of(want.data(), want.size());
}

}  // namespace detail

/// The first elements of an array in device memory have to be those of a reference; what lies behind them is not
/// looked at.
template <class T, class W>
Expectation expect(DeviceBuffer<T>& out, std::shared_ptr<const Reference<W>> want,
                   const Check& check = {}) {
  return {[&out] { out.poison(); },
          [&out, want, check] {
            const std::size_t most = out.size() * numbers_in<T>();
            Elements got = elements_of(static_cast<const T*>(out.data()), out.size());
            const Elements right = detail::elements_of_reference(*want);
            if (right.size == 0) return verdict(true, "no element");  // another output says so
            got.size = std::min(most, right.size);
            return detail::compare_buffer(out.data(), got, right, check);
          }};
}
template <class T, class W>
Expectation expect(DeviceBuffer<T>& out, std::shared_ptr<Reference<W>> want,
                   const Check& check = {}) {
  return expect(out, std::shared_ptr<const Reference<W>>(std::move(want)), check);
}
/// The array has to be a copy of an input, which outlives the expectation.
template <class T>
Expectation expect(DeviceBuffer<T>& out, const Input<T>& in, const Check& check = {}) {
  return {[&out] { out.poison(); },
          [&out, &in, check] {
            return detail::compare_buffer(
                out.data(), elements_of(static_cast<const T*>(out.data()), out.size()),
                elements_of(in.view().data(), in.size()), check);
          }};
}
/// The same for a list of values.
template <class T, class W>
Expectation expect(DeviceBuffer<T>& out, const std::vector<W>& want, const Check& check = {}) {
  return expect(out, std::make_shared<const Reference<W>>(want), check);
}
/// Element i has to be `element(i)`, a `__host__ __device__` function, for each i.
template <class T, std::invocable<std::size_t> F>
Expectation expect(DeviceBuffer<T>& out, F element, const Check& check = {}) {
  using W = std::remove_cvref_t<std::invoke_result_t<F, std::size_t>>;
  const auto want = std::make_shared<Reference<W>>(out.size());
  fill(*want, element);
  return expect(out, want, check);
}

/// An array of the host, pinned or not, has to be that.
template <class T, class W>
Expectation expect(std::span<T> out, const std::vector<W>& want, const Check& check = {}) {
  return {[out] { detail::poison_host(out.data(), out.size_bytes()); },
          [out, want, check] {
            return compare_on_host(elements_of(static_cast<const T*>(out.data()), out.size()),
                                   elements_of(want.data(), want.size()), check.tolerance);
          }};
}
/// Element i of an array of the host has to be `element(i)`, a `__host__ __device__` function.
template <class T, std::invocable<std::size_t> F>
Expectation expect(std::span<T> out, F element, const Check& check = {}) {
  using W = std::remove_cvref_t<std::invoke_result_t<F, std::size_t>>;
  Reference<W> want(out.size());
  fill(want, element);
  return expect(out, want.host(), check);
}
/// One value of the host has to be that.
template <class T, class W>
requires(std::is_arithmetic_v<T>) Expectation
    expect(T& out, const W& want, const Check& check = {}) {
  return expect(std::span<T>(&out, 1), std::vector<W>{want}, check);
}

/// An array that a rung writes on its way: poisoned, and not looked at.
inline Expectation on_the_way(Buffer& buffer) {
  return {[&buffer] { buffer.poison(); }, {}};
}

}  // namespace lab
