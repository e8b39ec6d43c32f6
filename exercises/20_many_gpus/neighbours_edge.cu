// # The neighbour's edge
//
// Kind: repair
// Level: 2
// Minutes: 10
//
// Each GPU smooths a piece of a line: every cell becomes the mean of its two neighbours. A piece
// has a halo cell at each end, which the GPU beside it fills after each step by a copy. Streams,
// one of each GPU, do not wait for each other, so a step may read a halo that has not arrived.
//
// Repair `smooth`. A step of a GPU has to wait for the copies of its neighbours, and for nothing
// else: neither the host nor a GPU that is no neighbour.

#include <cuda_runtime.h>

#include <vector>

// out[i] = (in[i - 1] + in[i + 1]) / 2 for i from 1 to n
__global__ void step(float* out, const float* in, int n) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x) + 1;
  if (i <= n) out[i] = 0.5f * (in[i - 1] + in[i + 1]);
}

// Two arrays of n + 2 floats on each GPU, which take turns; step s reads cells[s % 2][g]. The halo
// cells before the first piece and behind the last one stay as they are.
void smooth(const std::vector<float*>* cells, int n, int gpus, int steps,
            const std::vector<cudaStream_t>& streams) {
  std::vector<cudaEvent_t> sent(gpus);
  for (int g = 0; g < gpus; ++g) {
    cudaSetDevice(g);
    cudaEventCreate(&sent[g]);
  }
  for (int s = 0; s < steps; ++s) {
    for (int g = 0; g < gpus; ++g) {
      cudaSetDevice(g);
#ifdef SOLUTION
      if (g > 0) cudaStreamWaitEvent(streams[g], sent[g - 1]);
      if (g + 1 < gpus) cudaStreamWaitEvent(streams[g], sent[g + 1]);
#else
      cudaStreamWaitEvent(streams[g], sent[g]);
#endif
      step<<<(n + 127) / 128, 128, 0, streams[g]>>>(cells[(s + 1) % 2][g], cells[s % 2][g], n);
    }
    const std::vector<float*>& made = cells[(s + 1) % 2];
    for (int g = 0; g < gpus; ++g) {
      if (g > 0)
        cudaMemcpyPeerAsync(made[g - 1] + n + 1, g - 1, made[g] + 1, g, sizeof(float), streams[g]);
      if (g + 1 < gpus)
        cudaMemcpyPeerAsync(made[g + 1], g + 1, made[g] + n, g, sizeof(float), streams[g]);
      cudaEventRecord(sent[g], streams[g]);
    }
  }
  for (int g = 0; g < gpus; ++g) {
    cudaSetDevice(g);
    cudaStreamSynchronize(streams[g]);
  }
  for (const cudaEvent_t event : sent) cudaEventDestroy(event);
}
