// ## A chain by programmatic dependent launch
//
// The rung `programmatic` of section 5.

#include <cuda_runtime.h>

#include <vector>

#include "lab/lab.h"

namespace {

constexpr unsigned BLOCK = 256, CHAIN = 1000, CHAINED = 4096;  // as in transfers.cu

}  // namespace

/// x[i] += 1, as `step`. It may begin while the launch in front still runs, and waits for the end of that before it reads x.
///
/// TRIGGERS: the next launch may begin as soon as all blocks of this one have begun; else when they have ended.
/// Launch: one thread per element, in one dimension.
template <bool TRIGGERS>
__global__ void programmatic(float* x, unsigned n) {
  if constexpr (TRIGGERS) cudaTriggerProgrammaticLaunchCompletion();
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  cudaGridDependencySynchronize();  // all that the launches in front have written is there
  if (i < n) x[i] += 1;
}

namespace {

/// A way to launch the chain.
struct Way {
  const char* variant;
  void (*kernel)(float* x, unsigned n);
  bool attribute;  ///< each launch may begin before the one in front has ended
  bool graph;      ///< recorded once
};
constexpr Way WAYS[] = {
    {"how=launches", programmatic<true>, true, false},
    {"how=launches, no attribute", programmatic<true>, false, false},
    {"how=graph", programmatic<true>, true, true},
    {"how=graph, no trigger", programmatic<false>, true, true},
};

/// `count` steps, a launch each.
void steps(const Way& way, unsigned count, float* x, cudaStream_t stream) {
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attribute.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = CHAINED / BLOCK;
  config.blockDim = BLOCK;
  config.stream = stream;
  config.attrs = &attribute;
  config.numAttrs = way.attribute ? 1 : 0;
  for (unsigned s = 0; s < count; ++s)
    CUDA_CHECK(cudaLaunchKernelEx(&config, way.kernel, x, CHAINED));
}

/// The chain, launched in one way.
class Chain {
 public:
  Chain(const Way& way, unsigned count) : way_(way), count_(count) {
    if (!way.graph) return;
    const lab::Streams streams(1);
    cudaGraph_t graph = nullptr;
    CUDA_CHECK(cudaStreamBeginCapture(streams[0], cudaStreamCaptureModeThreadLocal));
    steps(way, count, x_.data(), streams[0]);
    CUDA_CHECK(cudaStreamEndCapture(streams[0], &graph));
    CUDA_CHECK(cudaGraphInstantiate(&exec_, graph, 0));
    CUDA_CHECK(cudaGraphDestroy(graph));
  }
  ~Chain() {
    if (exec_) cudaGraphExecDestroy(exec_);
  }
  Chain(const Chain&) = delete;
  Chain& operator=(const Chain&) = delete;

  std::vector<lab::Expectation> outputs() {
    return {lab::expect(x_, std::vector<float>(CHAINED, static_cast<float>(count_)))};
  }
  void prepare() { x_.zero(); }
  void launch() {
    if (exec_) {
      CUDA_CHECK(cudaGraphLaunch(exec_, nullptr));
    } else {
      steps(way_, count_, x_.data(), nullptr);
    }
  }

 private:
  const Way& way_;
  const unsigned count_;
  lab::DeviceBuffer<float> x_{CHAINED, "x"};
  cudaGraphExec_t exec_ = nullptr;
};

const lab::Rungs here([](lab::Ladder& ladder) {
  const unsigned count = ladder.on_simulator() ? CHAIN / 10 : CHAIN;
  for (const Way& way : WAYS)
    ladder.add("programmatic", way.variant, Chain(way, count), {.prepare_every_run = true});
});

}  // namespace
