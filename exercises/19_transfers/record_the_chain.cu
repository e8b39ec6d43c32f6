// # Record the chain
//
// Kind: fill in
// Level: 3
// Minutes: 8
//
// `chain` makes a graph of `steps` launches of `step` and returns it, ready to be launched as often
// as one likes. It runs nothing itself. So far it launches the kernels and returns no graph.

#include <cuda_runtime.h>

__global__ void step(float* x, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] = 2 * x[i] + 1;
}

// x: n floats on the device. stream: any but the default stream.
cudaGraphExec_t chain(float* x, int n, int steps, cudaStream_t stream) {
#ifdef SOLUTION
  cudaGraph_t graph = nullptr;
  cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal);
  for (int s = 0; s < steps; ++s) step<<<(n + 127) / 128, 128, 0, stream>>>(x, n);
  cudaStreamEndCapture(stream, &graph);
  cudaGraphExec_t exec = nullptr;
  cudaGraphInstantiate(&exec, graph, 0);
  cudaGraphDestroy(graph);
  return exec;
#else
  for (int s = 0; s < steps; ++s) step<<<(n + 127) / 128, 128, 0, stream>>>(x, n);
  return nullptr;  // TODO
#endif
}
