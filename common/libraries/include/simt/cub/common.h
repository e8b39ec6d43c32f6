/// \file
/// CUB for the simulator: operators, iterators, and what the device-wide functions have in common.
#pragma once

#include <simt/thrust/iterators.h>

#include <cstdint>
#include <limits>

#define CUB_VERSION 300100
#define CUB_NS_QUALIFIER ::cub

namespace cub {

using Sum = thrust::plus<>;
using Difference = thrust::minus<>;
using Division = thrust::divides<>;
using Max = thrust::maximum<>;
using Min = thrust::minimum<>;
using Equality = thrust::equal_to<>;
using Inequality = thrust::not_equal_to<>;
template <class T, class... Ignored>
using CountingInputIterator = thrust::counting_iterator<T>;
template <class T, class... Ignored>
using ConstantInputIterator = thrust::constant_iterator<T>;
template <class T, class F, class I, class... Ignored>
using TransformInputIterator = thrust::transform_iterator<F, I>;

/// Two buffers, one of which holds the data.
template <class T>
struct DoubleBuffer {
  T* d_buffers[2] = {nullptr, nullptr};
  int selector = 0;
  DoubleBuffer() = default;
  DoubleBuffer(T* current, T* alternate) : d_buffers{current, alternate} {}
  T* Current() { return d_buffers[selector]; }
  T* Alternate() { return d_buffers[selector ^ 1]; }
};

template <class N, class M>
constexpr N DivideAndRoundUp(N a, M b) {
  return static_cast<N>((a + b - 1) / b);
}

/// What CUB's macros for errors call. It says nothing unless asked to.
inline cudaError_t Debug(cudaError_t error, const char*, int) { return error; }
#define CubDebug(e) cub::Debug(static_cast<cudaError_t>(e), __FILE__, __LINE__)

namespace detail {

using thrust::detail::raw;
using thrust::detail::ValueOf;

/// A function of the whole device: tells what temporary memory it takes, or does its work.
template <class Work>
cudaError_t run(void* temporary, std::size_t& bytes, Work work) {
  constexpr std::size_t kBytes = 256;
  if (!temporary) {
    bytes = kBytes;
    return cudaSuccess;
  }
  if (bytes < kBytes) return cudaErrorInvalidValue;
  const simt::detail::LibraryScope scope("CUB");
  if (scope.error() == cudaSuccess) work();
  return scope.error();
}

}  // namespace detail
}  // namespace cub
