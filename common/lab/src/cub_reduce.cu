/// \file
/// Bodies of lab/cub.h: sums, arg-max, histogram.
#include <cub/device/device_histogram.cuh>
#include <cub/device/device_reduce.cuh>

#include "cub.h"

namespace lab {

namespace {

template <class T>
CubLaunch sum_of(T* out, const T* in, std::size_t n) {
  return detail::with_count(n, [=](auto count) {
    return detail::with_temporary([=](void* temporary, std::size_t& bytes, cudaStream_t stream) {
      return cub::DeviceReduce::Sum(temporary, bytes, in, out, count, stream);
    });
  });
}

/// The larger of two.
struct Larger {
  __host__ __device__ int operator()(int a, int b) const { return a < b ? b : a; }
};

}  // namespace

CubLaunch cub_sum(float* out, const float* in, std::size_t n) { return sum_of(out, in, n); }
CubLaunch cub_sum(int* out, const int* in, std::size_t n) { return sum_of(out, in, n); }

CubLaunch cub_fold_largest(int* out, const int* in, std::size_t n) {
  return detail::with_count(n, [=](auto count) {
    return detail::with_temporary([=](void* temporary, std::size_t& bytes, cudaStream_t stream) {
      return cub::DeviceReduce::Reduce(temporary, bytes, in, out, count, Larger{},
                                       std::numeric_limits<int>::min(), stream);
    });
  });
}

CubLaunch cub_arg_max(float* value, std::int64_t* index, const float* in, std::size_t n) {
  return detail::with_temporary([=](void* temporary, std::size_t& bytes, cudaStream_t stream) {
    return cub::DeviceReduce::ArgMax(temporary, bytes, in, value, index,
                                     static_cast<std::int64_t>(n), stream);
  });
}

CubLaunch cub_histogram(int* bins, const std::uint8_t* in, std::size_t n) {
  return detail::with_count(n, [=](auto count) {
    return detail::with_temporary([=](void* temporary, std::size_t& bytes, cudaStream_t stream) {
      return cub::DeviceHistogram::HistogramEven(temporary, bytes, in, bins, 257, 0, 256, count,
                                                 stream);
    });
  });
}

}  // namespace lab
