// The same work three times: asked for directly, captured from streams into a graph, and put together as a graph
// node by node. A graph does nothing until it is launched, and then everything, with the arguments as they were.
#include <cstdio>
#include <vector>

__global__ void scale(float* data, float by, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) data[i] *= by;
}
template <int kAdd>
__global__ void add(float* data, const float* more, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) data[i] += more[i] + kAdd;
}
void CUDART_CB count(void* calls) { ++*static_cast<int*>(calls); }

int main() {
  int n = 1000;
  std::vector<float> host(n), back(n);
  for (int i = 0; i < n; ++i) host[i] = static_cast<float>(i);
  float *data, *more;
  cudaMalloc(&data, n * sizeof(float));
  cudaMalloc(&more, n * sizeof(float));
  bool right = true;
  const auto check = [&](float add) {
    for (int i = 0; i < n; ++i) right = right && back[i] == 3 * host[i] + add;
  };

  cudaStream_t main_stream, side;
  cudaEvent_t fork, join;
  cudaStreamCreate(&main_stream);
  cudaStreamCreateWithFlags(&side, cudaStreamNonBlocking);
  cudaEventCreate(&fork);
  cudaEventCreateWithFlags(&join, cudaEventDisableTiming);
  int calls = 0;
  const auto work = [&](float by) {
    cudaEventRecord(fork, main_stream);
    cudaStreamWaitEvent(side, fork, 0);
    cudaMemsetAsync(more, 0, n * sizeof(float), side);
    cudaMemcpyAsync(data, host.data(), n * sizeof(float), cudaMemcpyHostToDevice, main_stream);
    scale<<<4, 256, 0, main_stream>>>(data, by, n);
    cudaEventRecord(join, side);
    cudaStreamWaitEvent(main_stream, join, 0);
    add<2><<<4, 256, 0, main_stream>>>(data, more, n);
    cudaMemcpyAsync(back.data(), data, n * sizeof(float), cudaMemcpyDeviceToHost, main_stream);
    cudaLaunchHostFunc(main_stream, count, &calls);
  };
  work(3.0f);
  check(2);

  cudaGraph_t captured;
  cudaGraphExec_t executable;
  cudaStreamBeginCapture(main_stream, cudaStreamCaptureModeGlobal);
  back.assign(n, -1.0f);
  work(3.0f);
  cudaStreamCaptureStatus status;
  cudaStreamIsCapturing(side, &status);
  right = right && status == cudaStreamCaptureStatusActive && calls == 1 && back[5] == -1.0f;
  right = right && cudaStreamEndCapture(main_stream, &captured) == cudaSuccess;
  right = right && cudaGraphInstantiate(&executable, captured, 0) == cudaSuccess;
  size_t nodes = 0;
  cudaGraphGetNodes(captured, nullptr, &nodes);
  right = right && nodes == 6;
  cudaGraphDestroy(captured);
  for (int i = 0; i < 3; ++i) cudaGraphLaunch(executable, main_stream);
  right = right && cudaStreamSynchronize(main_stream) == cudaSuccess && calls == 4;
  check(2);
  cudaGraphExecDestroy(executable);

  // The default stream that each thread has for itself is captured like any other.
  const cudaStream_t own = cudaStreamPerThread;
  right = right && cudaStreamBeginCapture(own, cudaStreamCaptureModeGlobal) == cudaSuccess;
  cudaMemsetAsync(more, 0, n * sizeof(float), own);
  cudaMemcpyAsync(data, host.data(), n * sizeof(float), cudaMemcpyHostToDevice, own);
  cudaEventRecord(fork, own);
  cudaStreamWaitEvent(side, fork, 0);
  scale<<<4, 256, 0, side>>>(data, 3.0f, n);
  cudaEventRecord(join, side);
  cudaStreamWaitEvent(own, join, 0);
  add<4><<<4, 256, 0, own>>>(data, more, n);
  right = right && cudaStreamEndCapture(own, &captured) == cudaSuccess;
  cudaGraphGetNodes(captured, nullptr, &nodes);
  right = right && nodes == 4;
  cudaGraphInstantiate(&executable, captured, 0);
  right = right && cudaGraphLaunch(executable, own) == cudaSuccess;
  cudaMemcpyAsync(back.data(), data, n * sizeof(float), cudaMemcpyDeviceToHost, own);
  right = right && cudaStreamSynchronize(own) == cudaSuccess;
  check(4);
  cudaGraphDestroy(captured);
  cudaGraphExecDestroy(executable);

  // By hand. The arguments are copied when a node is made.
  cudaGraph_t graph;
  cudaGraphCreate(&graph, 0);
  cudaGraphNode_t set, copy, kernel, second, out;
  cudaMemsetParams zero = {};
  zero.dst = more;
  zero.elementSize = 4;
  zero.width = n;
  zero.height = 1;
  cudaGraphAddMemsetNode(&set, graph, nullptr, 0, &zero);
  cudaGraphAddMemcpyNode1D(&copy, graph, nullptr, 0, data, host.data(), n * sizeof(float),
                           cudaMemcpyHostToDevice);
  float by = 3.0f;
  void* arguments[] = {&data, &by, &n};
  cudaKernelNodeParams params = {};
  params.func = (void*)scale;
  params.gridDim = dim3(4);
  params.blockDim = dim3(256);
  params.kernelParams = arguments;
  right = right && cudaGraphAddKernelNode(&kernel, graph, &copy, 1, &params) == cudaSuccess;
  by = 100.0f;
  void* other_arguments[] = {&data, &more, &n};
  params.func = (void*)add<7>;
  params.kernelParams = other_arguments;
  const cudaGraphNode_t both[] = {kernel, set};
  right = right && cudaGraphAddKernelNode(&second, graph, both, 2, &params) == cudaSuccess;
  cudaGraphAddMemcpyNode1D(&out, graph, &second, 1, back.data(), data, n * sizeof(float),
                           cudaMemcpyDeviceToHost);
  cudaGraphNode_t near[4] = {};
  size_t count = 4;
  cudaGraphNodeGetDependencies(second, near, &count);
  right = right && count == 2 && near[0] == kernel && near[1] == set;
  cudaGraphNodeGetDependentNodes(second, nullptr, &count);
  right = right && count == 1;
  cudaGraphNodeGetDependentNodes(second, near, nullptr, &count);
  right = right && near[0] == out;
  back.assign(n, -1.0f);
  cudaGraphInstantiate(&executable, graph, nullptr, nullptr, 0);
  right = right && back[5] == -1.0f && cudaGraphLaunch(executable, main_stream) == cudaSuccess;
  check(7);
  cudaGraphDestroy(graph);

  std::printf("graphs: %s\n", right ? "ok" : "FAILED");
  cudaGraphExecDestroy(executable);
  cudaStreamDestroy(main_stream);
  cudaStreamDestroy(side);
  cudaEventDestroy(fork);
  cudaEventDestroy(join);
  cudaFree(data);
  cudaFree(more);
  return right ? 0 : 1;
}
