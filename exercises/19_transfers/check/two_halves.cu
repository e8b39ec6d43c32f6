#include "grader/grader.h"
#include EXERCISE

namespace {

/// How many pairs of copies and kernels of a recorded graph have an order between them.
int ordered_pairs(cudaGraph_t graph) {
  std::size_t count = 0;
  cudaGraphGetNodes(graph, nullptr, &count);
  std::vector<cudaGraphNode_t> nodes(count);
  cudaGraphGetNodes(graph, nodes.data(), &count);
  std::vector<std::vector<bool>> before(count, std::vector<bool>(count));
  for (std::size_t from = 0; from < count; ++from) {
    std::size_t many = 0;
#if CUDART_VERSION >= 13000
    cudaGraphNodeGetDependentNodes(nodes[from], nullptr, nullptr, &many);
    std::vector<cudaGraphNode_t> after(many);
    cudaGraphNodeGetDependentNodes(nodes[from], after.data(), nullptr, &many);
#else
    cudaGraphNodeGetDependentNodes(nodes[from], nullptr, &many);
    std::vector<cudaGraphNode_t> after(many);
    cudaGraphNodeGetDependentNodes(nodes[from], after.data(), &many);
#endif
    for (const cudaGraphNode_t one : after)
      before[from][std::find(nodes.begin(), nodes.end(), one) - nodes.begin()] = true;
  }
  for (std::size_t by = 0; by < count; ++by) {
    for (std::size_t from = 0; from < count; ++from) {
      for (std::size_t to = 0; to < count; ++to)
        if (before[from][by] && before[by][to]) before[from][to] = true;
    }
  }
  int pairs = 0;
  for (const std::vector<bool>& row : before) pairs += std::count(row.begin(), row.end(), true);
  return pairs;
}

}  // namespace

void grade(grader::Exercise& exercise) {
  for (const int n : {1, 2, 255, 1000}) {
    const auto count = static_cast<std::size_t>(n);
    const std::vector<float> values = lab::random_floats(count, 1);
    std::vector<float> want, got(count);
    for (const float value : values) want.push_back(2 * value);
    float *in = nullptr, *out = nullptr, *device = nullptr;
    cudaMallocHost(&in, count * sizeof(float));
    cudaMallocHost(&out, count * sizeof(float));
    cudaMalloc(&device, count * sizeof(float));
    std::copy(values.begin(), values.end(), in);
    cudaStream_t streams[2];
    for (cudaStream_t& stream : streams) cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    exercise.run(lab::format("n = %d", n), [&] {
      doubled(out, in, device, n, streams[0], streams[1]);
      for (const cudaStream_t stream : streams) cudaStreamSynchronize(stream);
    });
    std::copy_n(out, count, got.begin());
    exercise.compare_host("the result", got, want);
    if (n == 1000) {
      // Recorded, not run: what waits for what.
      cudaEvent_t fork = nullptr, join = nullptr;
      cudaEventCreate(&fork);
      cudaEventCreate(&join);
      cudaGraph_t graph = nullptr;
      cudaStreamBeginCapture(streams[0], cudaStreamCaptureModeThreadLocal);
      cudaEventRecord(fork, streams[0]);
      cudaStreamWaitEvent(streams[1], fork);
      doubled(out, in, device, n, streams[0], streams[1]);
      cudaEventRecord(join, streams[1]);
      cudaStreamWaitEvent(streams[0], join);
      cudaStreamEndCapture(streams[0], &graph);
      exercise.compare_host("pairs of copies and kernels with an order between them",
                            std::vector<int>{ordered_pairs(graph)}, std::vector<int>{6});
      cudaGraphDestroy(graph);
      cudaEventDestroy(fork);
      cudaEventDestroy(join);
    }
    for (const cudaStream_t stream : streams) cudaStreamDestroy(stream);
    cudaFreeHost(in);
    cudaFreeHost(out);
    cudaFree(device);
  }
}
