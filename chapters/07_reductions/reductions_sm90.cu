// ## A hundred small sums
//
// The rung `small_sums` of section 9.

#include <cuda_runtime.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cuda/atomic>
#include <functional>
#include <memory>
#include <vector>

#include "lab/cub.h"
#include "lab/lab.h"

using std::size_t;

namespace {

constexpr unsigned ALL = 0xffffffff, THREADS = 256, LOADS = 8;
constexpr unsigned TILE = THREADS * LOADS;  // float4 that a block takes at a time

using Word = unsigned long long;  // a float, and above it the flag that it is there
using AtomicWord = cuda::atomic_ref<Word, cuda::thread_scope_device>;

/// The sum of a value over the lanes of a warp.
__device__ float warp_sum(float value) {
#pragma unroll
  for (unsigned distance = 16; distance > 0; distance /= 2) {
    value += __shfl_xor_sync(ALL, value, distance);
  }
  return value;
}

/// The sum of a value over the block, for the threads of its first warp.
__device__ float block_sum(float value) {
  __shared__ float sums[THREADS / 32];  // (warp)
  value = warp_sum(value);
  if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = value;
  __syncthreads();
  if (threadIdx.x >= 32) return 0;
  return warp_sum(threadIdx.x < THREADS / 32 ? sums[threadIdx.x] : 0);
}

}  // namespace

/// When a launch waits for the one in front of it.
enum class Wait {
  first,         ///< before anything else
  before_words,  ///< once each block has its sum
  at_the_end,    ///< before the sum is stored: its words must be its own
};

/// *out = the sum of n floats, as `single_pass`; made to run behind another launch of itself.
///
/// @tparam WAIT   when it waits for the launch in front
/// @param words  one for each block, 0 before the launch and after it
///
/// Launch: blocks of THREADS, no more than run at a time.
/// Requires: in is aligned to 16 bytes, and not written by the launch in front.
template <Wait WAIT>
__global__ void __launch_bounds__(THREADS)
    small_sums(float* out, Word* words, const float* in, size_t n) {
  const float4* const in4 = reinterpret_cast<const float4*>(in);
  const size_t whole = n / 4;
  cudaTriggerProgrammaticLaunchCompletion();  // the next launch may begin
  if constexpr (WAIT == Wait::first) cudaGridDependencySynchronize();

  float sums[LOADS] = {};
  for (size_t i = size_t{blockIdx.x} * TILE + threadIdx.x; i < whole;
       i += size_t{gridDim.x} * TILE) {
#pragma unroll
    for (unsigned u = 0; u < LOADS; ++u) {
      if (i + u * THREADS >= whole) continue;
      const float4 four = __ldg(in4 + i + u * THREADS);
      sums[u] += (four.x + four.y) + (four.z + four.w);
    }
  }
  if (blockIdx.x == 0 && threadIdx.x < n % 4) sums[0] += in[4 * whole + threadIdx.x];
#pragma unroll
  for (unsigned u = 1; u < LOADS; ++u) sums[0] += sums[u];
  const float sum = block_sum(sums[0]);

  if constexpr (WAIT == Wait::before_words) cudaGridDependencySynchronize();
  const unsigned last = gridDim.x - 1;
  if (blockIdx.x != last) {
    if (threadIdx.x == 0) {
      AtomicWord(words[blockIdx.x])
          .store(Word{1} << 32 | __float_as_uint(sum), cuda::memory_order_relaxed);
    }
    return;
  }
  float total = threadIdx.x == 0 ? sum : 0;
  for (unsigned b = threadIdx.x; b < last; b += THREADS) {
    AtomicWord word(words[b]);
    Word seen = 0;
    while ((seen = word.load(cuda::memory_order_relaxed)) == 0) {
    }
    word.store(0, cuda::memory_order_relaxed);
    total += __uint_as_float(static_cast<unsigned>(seen));
  }
  __syncthreads();  // the first block_sum has been read
  total = block_sum(total);
  if (threadIdx.x != 0) return;
  if constexpr (WAIT == Wait::at_the_end) cudaGridDependencySynchronize();
  *out = total;
}

// All launches are recorded once, as a CUDA graph, so that the host does not set the pace.

namespace {

constexpr size_t COUNT = 100, MOST = size_t{1} << 20;  // sums, and floats of each

/// A launch of `small_sums`.
struct Way {
  const char* variant;
  void (*kernel)(float* out, Word* words, const float* in, size_t n);
  bool programmatic;  ///< it may begin before the one in front has ended
  bool own_words;     ///< for each sum; else the sums share theirs
};
constexpr Way WAYS[] = {
    {"launch=plain", small_sums<Wait::first>, false, false},
    {"launch=programmatic", small_sums<Wait::first>, true, false},
    {"launch=late", small_sums<Wait::before_words>, true, false},
    {"launch=own_words", small_sums<Wait::at_the_end>, true, true},
};

/// A hundred arrays of n floats that lie one behind the other; behind the last of `count` the first comes again.
struct Arrays {
  const float* first;
  size_t n, count;
  const float* operator[](size_t i) const { return first + i % count * n; }
};

/// Records launches once.
/// @param record  launches into the stream
/// @return what launches all of them as one, into the default stream
template <class Record>
std::function<void()> recorded(const Record& record) {
  cudaStream_t stream = nullptr;
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t all = nullptr;
  CUDA_CHECK(cudaStreamCreate(&stream));
  CUDA_CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  record(stream);
  CUDA_CHECK(cudaStreamEndCapture(stream, &graph));
  CUDA_CHECK(cudaGraphInstantiate(&all, graph, 0));
  CUDA_CHECK(cudaGraphDestroy(graph));
  CUDA_CHECK(cudaStreamDestroy(stream));
  const std::shared_ptr<CUgraphExec_st> owner(all, cudaGraphExecDestroy);
  return [owner] { CUDA_CHECK(cudaGraphLaunch(owner.get(), nullptr)); };
}

size_t multiprocessors() {
  return static_cast<size_t>(lab::device_attribute(cudaDevAttrMultiProcessorCount));
}

/// All sums: out[i] = that of array i.
///
/// @param words  one for each block, and as many for each sum that has its own
std::function<void()> sums_of(float* out, Word* words, const Arrays& arrays, const Way& way) {
  const size_t tiles = lab::ceil_div(arrays.n, size_t{4} * TILE);
  const size_t blocks = std::clamp<size_t>(tiles, 1, multiprocessors());
  return recorded([&](cudaStream_t stream) {
    for (size_t i = 0; i < COUNT; ++i) {
      cudaLaunchAttribute attribute{};
      attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
      attribute.val.programmaticStreamSerializationAllowed = 1;
      cudaLaunchConfig_t config{};
      config.gridDim = static_cast<unsigned>(blocks);
      config.blockDim = THREADS;
      config.stream = stream;
      config.attrs = &attribute;
      config.numAttrs = way.programmatic ? 1 : 0;
      Word* const own = words + (way.own_words ? i * blocks : 0);
      CUDA_CHECK(cudaLaunchKernelEx(&config, way.kernel, out + i, own, arrays[i], arrays.n));
    }
  });
}

/// The same by CUB.
lab::CubLaunch cub_sums(float* out, const Arrays& arrays) {
  std::vector<lab::CubLaunch> sums;  // each owns temporary memory, which the graph uses
  for (size_t i = 0; i < COUNT; ++i) {
    sums.push_back(lab::cub_sum(out + i, arrays[i], arrays.n));
    if (!sums.back()) return {};
  }
  const std::function<void()> all = recorded([&](cudaStream_t stream) {
    for (const lab::CubLaunch& sum : sums) sum(stream);
  });
  return [all, sums](cudaStream_t) { all(); };
}

/// What the sums have to be.
std::vector<double> sums_in_double(lab::View<float> in, size_t n, size_t count) {
  std::vector<double> sums;
  for (size_t i = 0; i < COUNT; ++i) {
    const size_t first = i % count * n;
    const auto term = [=] __host__ __device__(size_t j) { return double{in[first + j]}; };
    sums.push_back(lab::fold(n, 0.0, term, lab::plus<double>()));
  }
  return sums;
}

/// The sums, and what they have to be.
struct SmallSums {
  SmallSums(size_t total, std::uint64_t seed)
      : in(total, lab::RandomValue<float>{seed}, "small arrays"),
        arrays{in.data(), std::min(total, MOST), total / std::min(total, MOST)} {
    words.zero();
  }

  lab::Rung problem() {
    const size_t n = arrays.n;
    return {.outputs = {lab::expect(out, sums_in_double(in.view(), n, arrays.count),
                                    lab::tolerance_for_sum(n, 0.5, n / 32768 + 64))},
            .bytes = 4.0 * static_cast<double>(n * COUNT),
            .limit = lab::Limit::copy,
            .peer = lab::vendor("CUB, small sums", cub_sums(out.data(), arrays))};
  }

  std::function<void()> launches(const Way& way) {
    return sums_of(out.data(), words.data(), arrays, way);
  }

  lab::Input<float> in;
  Arrays arrays;
  lab::DeviceBuffer<float> out{COUNT, "small sums"};
  lab::DeviceBuffer<Word> words{COUNT * multiprocessors(), "words"};
};

const lab::Rungs here([](lab::Ladder& ladder) {
  if (!ladder.wants("small_sums")) return;
  SmallSums small(ladder.extents<1>()[0], ladder.seed());
  const lab::Problem sums(ladder, small.problem());
  for (const Way& way : WAYS) sums.add("small_sums", way.variant, small.launches(way));
});

}  // namespace
