#include <cuda_runtime.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "lab/buffer.h"
#include "lab/check.h"
#include "lab/limits.h"

namespace lab {

namespace {

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

}  // namespace

double measure_copy(const LimitOptions& limits, const TimingOptions& timing) {
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

double measure_fp32(const LimitOptions& limits, const TimingOptions& timing) {
  static constexpr int chains = 16, threads = 256;
  int device = 0, sms = 0;
  CUDA_CHECK(cudaGetDevice(&device));
  CUDA_CHECK(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device));
  const int blocks = 8 * sms;
  DeviceBuffer<float> sink(1, "the sink", 0);
  const std::array contestants{Contestant{[&] {
    fma_loop<chains><<<blocks, threads>>>(0.999f, 0.001f, limits.fma_iterations, sink.data());
  }}};
  TimingOptions unflushed = timing;
  unflushed.flush = false;
  const TimeStats time = time_interleaved(contestants, unflushed).front();
  return 2.0 * chains * limits.fma_iterations * threads * blocks / (time.median * 1e6);
}

}  // namespace lab
