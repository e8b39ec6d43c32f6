// lab/convolution.h by cuDNN.
#include <cuda_bf16.h>
#include <cudnn.h>

#include <algorithm>
#include <array>
#include <functional>
#include <limits>
#include <memory>
#include <utility>

#include "lab/buffer.h"
#include "lab/ceil_div.h"
#include "lab/check.h"
#include "lab/convolution.h"
#include "lab/timing.h"

namespace lab {

namespace {

void check(cudnnStatus_t status, const char* call) {
  if (status == CUDNN_STATUS_SUCCESS) return;
  throw Failure(std::string(call) + " returned " + cudnnGetErrorString(status));
}

/// to[n][i][c] = from[n][c][i], for `across` channels c and `along` pixels i.
__global__ void swap_inner(float* to, const float* from, std::size_t size, std::size_t across,
                           std::size_t along) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i >= size) return;
  const std::size_t image = i / (across * along), c = i / along % across, at = i % along;
  to[image * across * along + at * across + c] = from[i];
}

void turn(float* to, const float* from, std::size_t size, std::size_t across, std::size_t along) {
  swap_inner<<<static_cast<unsigned>(ceil_div(size, std::size_t{256})), 256>>>(to, from, size,
                                                                               across, along);
  CUDA_CHECK(cudaGetLastError());
}

/// A layer as cuDNN knows it, in one layout: of floats on the FP32 pipes, or of BF16 on the tensor cores. Sums are floats.
class Layer {
 public:
  Layer(const Convolution& l, cudnnTensorFormat_t format, cudnnDataType_t type = CUDNN_DATA_FLOAT) {
    check(cudnnCreate(&handle_), "cudnnCreate");
    check(cudnnCreateTensorDescriptor(&in_), "cudnnCreateTensorDescriptor");
    check(cudnnCreateTensorDescriptor(&out_), "cudnnCreateTensorDescriptor");
    check(cudnnCreateFilterDescriptor(&filter_), "cudnnCreateFilterDescriptor");
    check(cudnnCreateConvolutionDescriptor(&how_), "cudnnCreateConvolutionDescriptor");
    check(cudnnSetTensor4dDescriptor(in_, format, type, l.n, l.c, l.h, l.w),
          "cudnnSetTensor4dDescriptor");
    check(cudnnSetTensor4dDescriptor(out_, format, type, l.n, l.k, l.p(), l.q()),
          "cudnnSetTensor4dDescriptor");
    check(cudnnSetFilter4dDescriptor(filter_, type, format, l.k, l.c / l.groups, l.r, l.s),
          "cudnnSetFilter4dDescriptor");
    check(cudnnSetConvolution2dDescriptor(how_, l.pad, l.pad, l.stride, l.stride, l.dilation,
                                          l.dilation, CUDNN_CROSS_CORRELATION, CUDNN_DATA_FLOAT),
          "cudnnSetConvolution2dDescriptor");
    check(cudnnSetConvolutionGroupCount(how_, l.groups), "cudnnSetConvolutionGroupCount");
    check(cudnnSetConvolutionMathType(
              how_, type == CUDNN_DATA_FLOAT ? CUDNN_FMA_MATH : CUDNN_TENSOR_OP_MATH),
          "cudnnSetConvolutionMathType");
  }
  Layer(const Layer&) = delete;
  Layer& operator=(const Layer&) = delete;
  ~Layer() {
    if (graph_) cudaGraphExecDestroy(graph_);
    cudnnDestroyConvolutionDescriptor(how_);
    cudnnDestroyFilterDescriptor(filter_);
    cudnnDestroyTensorDescriptor(out_);
    cudnnDestroyTensorDescriptor(in_);
    cudnnDestroy(handle_);
  }

  /// Milliseconds of the fastest algorithm whose result is right, which `run` then uses; infinity where there is none.
  double choose(void* out, const void* in, const void* filter,
                const std::function<bool()>& is_right) {
    double best = std::numeric_limits<double>::infinity();
    for (int i = 0; i < CUDNN_CONVOLUTION_FWD_ALGO_COUNT; ++i) {
      const auto algorithm = static_cast<cudnnConvolutionFwdAlgo_t>(i);
      std::size_t bytes = 0, available = 0, total = 0;
      CUDA_CHECK(cudaMemGetInfo(&available, &total));
      if (cudnnGetConvolutionForwardWorkspaceSize(handle_, in_, filter_, how_, out_, algorithm,
                                                  &bytes) != CUDNN_STATUS_SUCCESS ||
          bytes > available / 2)
        continue;
      auto workspace = std::make_unique<DeviceBuffer<char>>(std::max<std::size_t>(bytes, 1),
                                                            "cuDNN's workspace", 0);
      const cudaGraphExec_t graph = captured(algorithm, *workspace, out, in, filter);
      if (!graph) continue;
      if (!is_right()) {
        CUDA_CHECK(cudaGraphExecDestroy(graph));
        continue;
      }
      const std::array contestants{
          Contestant{[&] { CUDA_CHECK(cudaGraphLaunch(graph, nullptr)); }}};
      TimingOptions few;
      few.warmup = 1, few.warmup_s = 0, few.min_runs = few.max_runs = 7;
      const double ms = time_interleaved(contestants, few).front().median;
      const bool better = ms < best;
      if (better) best = ms, workspace_ = std::move(workspace);
      const cudaGraphExec_t other = better ? std::exchange(graph_, graph) : graph;
      if (other) CUDA_CHECK(cudaGraphExecDestroy(other));
    }
    return best;
  }

  void run() { CUDA_CHECK(cudaGraphLaunch(graph_, nullptr)); }

 private:
  /// A call as a graph: what the host takes to choose and launch several kernels is no part of the time.
  /// \return none where cuDNN has no such algorithm for the layer, or it cannot be captured
  cudaGraphExec_t captured(cudnnConvolutionFwdAlgo_t algorithm, DeviceBuffer<char>& workspace,
                           void* out, const void* in, const void* filter) {
    const float one = 1, zero = 0;
    const auto call = [&] {
      return cudnnConvolutionForward(handle_, &one, in_, in, filter_, filter, how_, algorithm,
                                     workspace.data(), workspace.size(), &zero, out_, out);
    };
    if (call() != CUDNN_STATUS_SUCCESS) return nullptr;  // loads what it needs, too
    CUDA_CHECK(cudaDeviceSynchronize());
    cudaStream_t stream = nullptr;
    CUDA_CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    check(cudnnSetStream(handle_, stream), "cudnnSetStream");
    cudaGraph_t graph = nullptr;
    CUDA_CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
    const bool done = call() == CUDNN_STATUS_SUCCESS;
    const bool ended = cudaStreamEndCapture(stream, &graph) == cudaSuccess;
    check(cudnnSetStream(handle_, nullptr), "cudnnSetStream");
    CUDA_CHECK(cudaStreamDestroy(stream));
    cudaGraphExec_t made = nullptr;
    if (done && ended) CUDA_CHECK(cudaGraphInstantiate(&made, graph, 0));
    if (graph) CUDA_CHECK(cudaGraphDestroy(graph));
    if (!ended) cudaGetLastError();
    return made;
  }

  cudnnHandle_t handle_ = nullptr;
  cudnnTensorDescriptor_t in_ = nullptr, out_ = nullptr;
  cudnnFilterDescriptor_t filter_ = nullptr;
  cudnnConvolutionDescriptor_t how_ = nullptr;
  cudaGraphExec_t graph_ = nullptr;
  std::unique_ptr<DeviceBuffer<char>> workspace_;
};

/// The arrays of a layer with the channels inside.
struct Turned {
  Turned(const Convolution& l, const float* in, const float* filter)
      : in(l.inputs(), "NHWC images", 0),
        filter(l.weights(), "NHWC filters", 0),
        out(l.outputs(), "NHWC results", 0) {
    turn(this->in.data(), in, l.inputs(), l.c, std::size_t(l.h) * l.w);
    turn(this->filter.data(), filter, l.weights(), l.c / l.groups, std::size_t(l.r) * l.s);
  }
  DeviceBuffer<float> in, filter, out;
};

}  // namespace

Peer cudnn(const std::string& name, const Convolution& layer, DeviceBuffer<float>& out,
           const float* in, const float* filter, const Expectation& right) {
  const auto nchw = std::make_shared<Layer>(layer, CUDNN_TENSOR_NCHW);
  const auto nhwc = std::make_shared<Layer>(layer, CUDNN_TENSOR_NHWC);
  const auto turned = std::make_shared<Turned>(layer, in, filter);
  const auto back = [turned, layer, &out] {
    // The inverse of the turn: pixels and channels change their names.
    const std::size_t pixels = std::size_t(layer.p()) * layer.q();
    turn(out.data(), turned->out.data(), layer.outputs(), pixels, layer.k);
  };
  const double first = nchw->choose(out.data(), in, filter, [&] { return right.check().pass; });
  const double second =
      nhwc->choose(turned->out.data(), turned->in.data(), turned->filter.data(), [&] {
        back();
        return right.check().pass;
      });
  if (std::min(first, second) == std::numeric_limits<double>::infinity())
    return {.name = name, .absent = "no algorithm of cuDNN's takes this layer in FP32"};
  if (first <= second) {
    return {.name = name, .launch = [nchw] { nchw->run(); }, .outputs = {right}};
  }
  return {.name = name,
          .launch = [nhwc, turned] { nhwc->run(); },
          .outputs = {{.poison = [turned] { turned->out.poison(); },
                       .check =
                           [back, right] {
                             back();
                             return right.check();
                           }}}};
}

Peer cudnn(const std::string& name, const Convolution& layer, DeviceBuffer<__nv_bfloat16>& out,
           const __nv_bfloat16* in, const __nv_bfloat16* filter, const Expectation& right) {
  const auto nhwc = std::make_shared<Layer>(layer, CUDNN_TENSOR_NHWC, CUDNN_DATA_BFLOAT16);
  if (nhwc->choose(out.data(), in, filter, [&] { return right.check().pass; }) ==
      std::numeric_limits<double>::infinity())
    return {.name = name, .absent = "no algorithm of cuDNN's takes this layer in BF16"};
  return {.name = name, .launch = [nhwc] { nhwc->run(); }, .outputs = {right}};
}

}  // namespace lab
