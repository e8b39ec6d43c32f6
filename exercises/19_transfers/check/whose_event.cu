#include "grader/grader.h"
#include EXERCISE

void grade(grader::Exercise& exercise) {
  for (const int n : {1, 2, 127, 128, 129, 1000}) {
    const auto count = static_cast<std::size_t>(n);
    std::vector<int> numbers = lab::random_ints(count, 1);
    for (int& number : numbers) number = 1 + static_cast<int>(static_cast<unsigned>(number) % 1000);
    const int most = *std::max_element(numbers.begin(), numbers.end());
    const grader::Input<int> in("in", numbers);
    grader::Output<int> out("out", count);
    grader::Output<int> largest("largest", std::vector<int>{0});
    cudaStream_t finds = nullptr, subtracts = nullptr;
    cudaStreamCreateWithFlags(&finds, cudaStreamNonBlocking);
    cudaStreamCreateWithFlags(&subtracts, cudaStreamNonBlocking);
    exercise.run(lab::format("n = %d", n), [&] {
      below_largest(out.data(), in.data(), largest.data(), n, finds, subtracts);
      cudaStreamSynchronize(finds);
      cudaStreamSynchronize(subtracts);
    });
    exercise.compare(out, [&](std::size_t i) { return most - numbers[i]; });
    if (n == 1000) {
      // Recorded, not run: a wait of the host cannot be part of a graph.
      cudaEvent_t fork = nullptr, join = nullptr;
      cudaEventCreate(&fork);
      cudaEventCreate(&join);
      cudaGraph_t graph = nullptr;
      cudaStreamBeginCapture(finds, cudaStreamCaptureModeThreadLocal);
      cudaEventRecord(fork, finds);
      cudaStreamWaitEvent(subtracts, fork);
      below_largest(out.data(), in.data(), largest.data(), n, finds, subtracts);
      cudaEventRecord(join, subtracts);
      cudaStreamWaitEvent(finds, join);
      cudaStreamEndCapture(finds, &graph);
      std::size_t nodes = 0;
      if (graph) cudaGraphGetNodes(graph, nullptr, &nodes);
      cudaGetLastError();  // what a capture that was broken off has left
      exercise.compare_host("kernels of a recorded call, in which the host does not wait",
                            std::vector<int>{static_cast<int>(nodes)}, std::vector<int>{2});
      if (graph) cudaGraphDestroy(graph);
      cudaEventDestroy(fork);
      cudaEventDestroy(join);
    }
    cudaStreamDestroy(finds);
    cudaStreamDestroy(subtracts);
  }
}
