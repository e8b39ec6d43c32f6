#include <cuda_runtime.h>

#include <algorithm>
#include <ctime>
#include <optional>
#include <utility>

#include "lab/buffer.h"
#include "lab/check.h"
#include "lab/timing.h"

namespace lab {

namespace {

/// Reads `n` words, so that they are what the L2 cache holds afterwards.
template <class T>
__global__ void read_all(const T* data, std::size_t n, T* sink) {
  T sum = 0;
  const std::size_t step = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n; i += step) {
    sum += data[i];
  }
  if (sum == 1) *sink = sum;  // never: the words are 0. The compiler cannot know, so it reads them
}

/// Pushes everything out of the L2 cache.
///
/// It fills the cache by reading, not by writing: what a memset leaves in the cache has yet to be
/// written back, and the run that is timed next would pay for it.
class CacheFlusher {
 public:
  /// \param bytes how much to read: several times the cache; 0 asks the device for its size
  explicit CacheFlusher(std::size_t bytes = 0) : scratch_(words(bytes), "the flush buffer", 0) {
    scratch_.zero();
  }

  /// Asynchronous, in the default stream.
  void operator()() {
    read_all<<<1024, 256>>>(scratch_.data(), scratch_.size() - 1,
                            scratch_.data() + scratch_.size() - 1);
    CUDA_CHECK(cudaGetLastError());
  }

 private:
  static std::size_t words(std::size_t bytes) {
    if (bytes == 0) {
      int device = 0, l2 = 0;
      CUDA_CHECK(cudaGetDevice(&device));
      CUDA_CHECK(cudaDeviceGetAttribute(&l2, cudaDevAttrL2CacheSize, device));
      bytes = 4 * static_cast<std::size_t>(std::max(l2, 1 << 20));
    }
    return bytes / sizeof(unsigned long long) + 2;
  }

  DeviceBuffer<unsigned long long> scratch_;
};

/// Two events and the time between them.
class EventPair {
 public:
  EventPair() {
    CUDA_CHECK(cudaEventCreate(&start_));
    CUDA_CHECK(cudaEventCreate(&stop_));
  }
  ~EventPair() {
    cudaEventDestroy(start_);
    cudaEventDestroy(stop_);
  }
  EventPair(const EventPair&) = delete;
  EventPair& operator=(const EventPair&) = delete;

  /// Milliseconds between the two events around `work`, once the GPU has passed both.
  double time(const std::function<void()>& work) {
    CUDA_CHECK(cudaEventRecord(start_));
    work();
    CUDA_CHECK(cudaEventRecord(stop_));
    CUDA_CHECK(cudaGetLastError());
    CUDA_CHECK(cudaEventSynchronize(stop_));
    float ms = 0;
    CUDA_CHECK(cudaEventElapsedTime(&ms, start_, stop_));
    return ms;
  }

 private:
  cudaEvent_t start_ = nullptr, stop_ = nullptr;
};

/// Whether the medians are known well enough.
bool known(const std::vector<std::vector<double>>& ms, double precision) {
  return std::all_of(ms.begin(), ms.end(),
                     [=](const auto& times) { return median_uncertainty(times) <= precision; });
}

double seconds_now() {
  std::timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

}  // namespace

double time_on_device(const std::function<void()>& work) { return EventPair().time(work); }

double time_on_host(const std::function<void()>& work) {
  CUDA_CHECK(cudaDeviceSynchronize());
  const double start = seconds_now();
  work();
  const double ms = 1e3 * (seconds_now() - start);
  CUDA_CHECK(cudaGetLastError());
  return ms;
}

std::vector<TimeStats> time_interleaved(std::span<const Contestant> contestants,
                                        const TimingOptions& options,
                                        const std::function<void()>& between) {
  std::optional<CacheFlusher> flush;
  if (options.flush) flush.emplace();
  EventPair events;

  const auto run = [&](const Contestant& contestant, bool last) {
    if (contestant.before) contestant.before(last);
    if (flush) (*flush)();
    if (contestant.clock == Clock::device) return events.time(contestant.run);
    const double ms = time_on_host(contestant.run);
    CUDA_CHECK(cudaDeviceSynchronize());
    return ms;
  };

  const double begin = seconds_now();
  for (int i = 0;; ++i) {
    const double spent = seconds_now() - begin;
    if (i > 0 && spent >= options.budget_s) break;
    if (i >= options.warmup && spent >= options.warmup_s) break;
    for (const Contestant& contestant : contestants) run(contestant, false);
  }

  std::vector<std::vector<double>> ms(contestants.size());
  const double start = seconds_now();
  for (int i = 1;; ++i) {
    const double spent = seconds_now() - start;
    const bool last =
        i >= options.max_runs ||
        (i >= options.min_runs && (spent >= options.budget_s || known(ms, options.precision))) ||
        (i >= 3 && spent >= 2 * options.budget_s);
    for (std::size_t c = 0; c < contestants.size(); ++c) {
      ms[c].push_back(run(contestants[c], last));
      if (last && contestants[c].after_last) contestants[c].after_last();
    }
    if (between) between();
    if (last) break;
  }

  std::vector<TimeStats> stats;
  for (auto& times : ms) stats.push_back(summarize(std::move(times)));
  return stats;
}

}  // namespace lab
