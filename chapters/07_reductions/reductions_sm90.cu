// ## A hundred small sums
//
// The rung `small_sums` of section 9.

#include <cuda_runtime.h>

#include <algorithm>
#include <cstddef>
#include <cuda/atomic>
#include <memory>
#include <string>
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

// [hide] The graphs of launches, and CUB's
namespace {

/// Launches that were recorded once and are launched as one.
class Graph {
 public:
  /// @param record  launches into the stream
  template <class Record>
  explicit Graph(Record record) {
    cudaStream_t stream = nullptr;
    cudaGraph_t graph = nullptr;
    CUDA_CHECK(cudaStreamCreate(&stream));
    CUDA_CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    record(stream);
    CUDA_CHECK(cudaStreamEndCapture(stream, &graph));
    CUDA_CHECK(cudaGraphInstantiate(&graph_, graph, 0));
    CUDA_CHECK(cudaGraphDestroy(graph));
    CUDA_CHECK(cudaStreamDestroy(stream));
  }
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;
  ~Graph() { static_cast<void>(cudaGraphExecDestroy(graph_)); }

  void launch() const { CUDA_CHECK(cudaGraphLaunch(graph_, nullptr)); }

 private:
  cudaGraphExec_t graph_ = nullptr;
};

constexpr size_t COUNT = 100, MOST = size_t{1} << 20;  // sums, and floats of each

/// A hundred arrays that lie one behind the other, as many as there is memory for; then they begin again.
struct SmallSums {
  explicit SmallSums(lab::Chapter& chapter)
      : total(chapter.extents<1>()[0]),
        n(std::min(total, MOST)),
        arrays(total / n),
        in(total, "small arrays"),
        out(COUNT, "small sums"),
        words(COUNT * sms, "words") {
    const std::vector<float> values = lab::random_floats(total, chapter.seed());
    in.upload(values);
    words.zero();
    for (size_t i = 0; i < COUNT; ++i) {
      double sum = 0;
      for (size_t j = 0; j < n; ++j) sum += values[i % arrays * n + j];
      want.push_back(sum);
    }
  }

  const float* array(size_t i) const { return in.data() + i % arrays * n; }
  double bytes() const { return 4.0 * static_cast<double>(n * COUNT); }
  lab::Comparison verify(const std::vector<float>& got) const {
    return lab::compare(got, want, lab::tolerance_for_sum(n, 0.5, n / 32768 + 64));
  }

  const size_t total, n, arrays;
  const size_t sms = static_cast<size_t>(lab::device_attribute(cudaDevAttrMultiProcessorCount));
  lab::DeviceBuffer<float> in, out;
  lab::DeviceBuffer<Word> words;
  std::vector<double> want;
};

/// A graph of all sums.
/// @param programmatic  each launch may begin before the one in front has ended
template <Wait WAIT>
std::shared_ptr<Graph> graph_of(SmallSums& sums, bool programmatic) {
  const size_t blocks = std::clamp<size_t>(lab::ceil_div(sums.n, size_t{4} * TILE), 1, sums.sms);
  return std::make_shared<Graph>([&](cudaStream_t stream) {
    for (size_t i = 0; i < COUNT; ++i) {
      cudaLaunchAttribute attribute{};
      attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
      attribute.val.programmaticStreamSerializationAllowed = 1;
      cudaLaunchConfig_t config{};
      config.gridDim = static_cast<unsigned>(blocks);
      config.blockDim = THREADS;
      config.stream = stream;
      config.attrs = &attribute;
      config.numAttrs = programmatic ? 1 : 0;
      Word* const words = sums.words.data() + (WAIT == Wait::at_the_end ? i * blocks : 0);
      CUDA_CHECK(cudaLaunchKernelEx(&config, small_sums<WAIT>, sums.out.data() + i, words,
                                    sums.array(i), sums.n));
    }
  });
}

const lab::Rungs here([](lab::Chapter& chapter) {
  if (!chapter.wants("small_sums")) return;
  const auto sums = std::make_shared<SmallSums>(chapter);
  const auto add = [&](const std::string& variant, const std::shared_ptr<Graph>& graph) {
    chapter.add({.name = "small_sums",
                 .launch = [=] { graph->launch(); },
                 .verify = [=] { return sums->verify(sums->out.download()); },
                 .bytes = sums->bytes(),
                 .peer = "CUB, small sums",
                 .limit = lab::Limit::copy,
                 .variant = "launch=" + variant,
                 .outputs = {&sums->out}});
  };
  add("plain", graph_of<Wait::first>(*sums, false));
  add("programmatic", graph_of<Wait::first>(*sums, true));
  add("late", graph_of<Wait::before_words>(*sums, true));
  add("own_words", graph_of<Wait::at_the_end>(*sums, true));

  const auto cub_out = std::make_shared<lab::DeviceBuffer<float>>(COUNT, "CUB's small sums");
  // They own CUB's temporary memory, which the graph uses each time that it is launched.
  const auto launches = std::make_shared<std::vector<lab::CubLaunch>>();
  for (size_t i = 0; i < COUNT; ++i) {
    launches->push_back(lab::cub_sum(cub_out->data() + i, sums->array(i), sums->n));
    if (!launches->back()) return chapter.skip_peer("CUB, small sums", lab::why_no_cub);
  }
  const auto graph = std::make_shared<Graph>([&](cudaStream_t stream) {
    for (const lab::CubLaunch& launch : *launches) launch(stream);
  });
  chapter.peer({.name = "CUB, small sums",
                .launch = [graph, launches] { graph->launch(); },
                .bytes = sums->bytes(),
                .verify = [=] { return sums->verify(cub_out->download()); },
                .outputs = {cub_out.get()}});
});

}  // namespace
// [/hide]
