#include <cuda_runtime.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "lab/buffer.h"
#include "lab/check.h"
#include "lab/limits.h"

namespace lab {

namespace {

constexpr int CHAINS = 16, UNROLLED = 64, THREADS = 256;

/// Independent chains of fused multiply-adds: enough of them to hide each one's latency, and enough of each in an
/// iteration that the loop's own instructions are 3 in 1,024.
///
/// x becomes x + x a: an FMA of two registers, which no bank of the register file holds up.
__global__ void __launch_bounds__(THREADS) fma_loop(float a, int iterations, float* sink) {
  float x[CHAINS];
  for (int c = 0; c < CHAINS; ++c) x[c] = static_cast<float>(threadIdx.x + c);
#pragma unroll 1
  for (int i = 0; i < iterations; ++i) {
#pragma unroll
    for (int u = 0; u < UNROLLED; ++u) {
#pragma unroll
      for (int c = 0; c < CHAINS; ++c) x[c] = fmaf(x[c], a, x[c]);
    }
  }
  float sum = 0;
  for (int c = 0; c < CHAINS; ++c) sum += x[c];
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
  int device = 0, sms = 0;
  CUDA_CHECK(cudaGetDevice(&device));
  CUDA_CHECK(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device));
  const int blocks = 8 * sms;  // 2048 threads an SM, or more waves of fewer
  DeviceBuffer<float> sink(1, "the sink", 0);
  const std::array contestants{Contestant{
      [&] { fma_loop<<<blocks, THREADS>>>(1e-9f, limits.fma_iterations, sink.data()); }}};
  TimingOptions unflushed = timing;
  unflushed.flush = false;
  const TimeStats time = time_interleaved(contestants, unflushed).front();
  const double fmas = 1.0 * CHAINS * UNROLLED * limits.fma_iterations * THREADS * blocks;
  return 2 * fmas / (time.median * 1e6);
}

}  // namespace lab
