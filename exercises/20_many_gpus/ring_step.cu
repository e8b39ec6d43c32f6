// # A step of the ring
//
// Kind: fill in
// Level: 3
// Minutes: 10
//
// A reduce-scatter adds up an array of each GPU; afterwards each GPU has the sums of one chunk.
// The array is cut into as many chunks as there are GPUs. In step s, GPU g adds one chunk of what
// its left neighbour has to its own, in place. Write `chunk_of`: which chunk that is, so that
// after the last step, s = gpus - 2, GPU g has the sums of chunk g. The left neighbour of GPU g is
// GPU g - 1, and that of GPU 0 the last one.

#include <cuda_runtime.h>

#include <vector>

// mine[i] += theirs[i]
__global__ void add(float* mine, const float* theirs, int n) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < n) mine[i] += theirs[i];
}

// Which chunk GPU g adds in step s.
#ifdef SOLUTION
int chunk_of(int g, int s, int gpus) { return (g + 2 * gpus - 2 - s) % gpus; }
#else
int chunk_of(int g, int s, int gpus) {
  return g;  // TODO
}
#endif

// arrays[g]: n floats of GPU g. Peer access is open to all.
void reduce_scatter(const std::vector<float*>& arrays, int n) {
  const int gpus = static_cast<int>(arrays.size());
  for (int s = 0; s < gpus - 1; ++s) {
    for (int g = 0; g < gpus; ++g) {
      const int chunk = chunk_of(g, s, gpus), left = (g + gpus - 1) % gpus;
      const int first = n * chunk / gpus, count = n * (chunk + 1) / gpus - first;
      if (count == 0) continue;
      cudaSetDevice(g);
      add<<<(count + 127) / 128, 128>>>(arrays[g] + first, arrays[left] + first, count);
    }
    for (int g = 0; g < gpus; ++g) {
      cudaSetDevice(g);
      cudaDeviceSynchronize();
    }
  }
}
