/// \file
/// The machine's own limits, measured on it: what a perfect rung would reach.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

#include "lab/buffer.h"
#include "lab/check.h"
#include "lab/timing.h"

namespace lab {

/// \addtogroup lab
/// @{

/// What bounds a rung.
enum class Limit {
  none,  ///< nothing that is measured
  copy,  ///< memory bandwidth, as a copy within the device's memory reaches it
  fp32   ///< fused multiply-adds in float, as a loop of nothing else reaches them
};

/// How much work to measure the limits with.
struct LimitOptions {
  std::size_t copy_bytes = std::size_t{1}
                           << 30;  ///< less where the device has not four times as many
  int fma_iterations = 4096;       ///< of the loop in each thread
};

namespace detail {

/// Independent chains of fused multiply-adds: enough of them to hide each one's latency.
template <int chains>
__global__ void fma_loop(float a, float b, int iterations, float* sink) {
  float x[chains];
  for (int c = 0; c < chains; ++c) x[c] = static_cast<float>(threadIdx.x + c);
  for (int i = 0; i < iterations; ++i) {
    for (int c = 0; c < chains; ++c) x[c] = fmaf(x[c], a, b);
  }
  float sum = 0;
  for (int c = 0; c < chains; ++c) sum += x[c];
  if (sum == -1.0f) *sink = sum;  // never, but the compiler cannot know
}

}  // namespace detail

/// GB/s of `cudaMemcpy` within the device's memory, bytes read plus bytes written.
inline double measure_copy(const LimitOptions& limits = {}, const TimingOptions& timing = {}) {
  std::size_t available = 0, total = 0;
  CUDA_CHECK(cudaMemGetInfo(&available, &total));
  const std::size_t bytes = std::max<std::size_t>(std::min(limits.copy_bytes, available / 4), 1);
  DeviceBuffer<char> from(bytes, "the source of the copy", 0), to(bytes, "its target", 0);
  from.zero();
  const std::array contestants{Contestant{[&] {
    CUDA_CHECK(cudaMemcpyAsync(to.data(), from.data(), bytes, cudaMemcpyDeviceToDevice));
  }}};
  const TimeStats time = time_interleaved(contestants, timing).front();
  return 2.0 * static_cast<double>(bytes) / (time.median * 1e6);
}

/// GFLOP/s of a loop of fused multiply-adds in float, two operations each.
inline double measure_fp32(const LimitOptions& limits = {}, const TimingOptions& timing = {}) {
  static constexpr int chains = 16, threads = 256;
  int device = 0, sms = 0;
  CUDA_CHECK(cudaGetDevice(&device));
  CUDA_CHECK(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device));
  const int blocks = 8 * sms;
  DeviceBuffer<float> sink(1, "the sink", 0);
  const std::array contestants{Contestant{[&] {
    detail::fma_loop<chains>
        <<<blocks, threads>>>(0.999f, 0.001f, limits.fma_iterations, sink.data());
  }}};
  TimingOptions unflushed = timing;
  unflushed.flush = false;
  const TimeStats time = time_interleaved(contestants, unflushed).front();
  return 2.0 * chains * limits.fma_iterations * threads * blocks / (time.median * 1e6);
}

/// @}

}  // namespace lab
