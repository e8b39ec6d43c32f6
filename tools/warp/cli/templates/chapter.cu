// # Chapter @NUMBER@: @TITLE@
//
// Question: Which question does this chapter answer?
// Builds on: @BUILDS_ON@
// Minutes: 30
// Afterwards: do what this chapter is about
// Kind: map
// Size gpu: 67108859
// Size simulator: 65531
// Run: ./learn run @NUMBER@
//   ./learn run @NUMBER@ --rung one_each     one thread for each element
//   ./learn run @NUMBER@ --rung grid_stride  a fixed grid that strides over all elements

#include <cuda_runtime.h>

#include "lab/lab.h"

// Say here, in a paragraph, what the reader knows already and what this chapter adds.
//
// ## 1. The obvious kernel
//
// The idea of the first kernel comes first, then the kernel, then what the counters say of it.

/// out[i] = 2 in[i] for all i < n.
///
/// Launch: one dimension, at least n threads.
__global__ void one_each(float* out, const float* in, unsigned n) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = 2 * in[i];
}

// **Counted.** A warp of 32 lanes reads 128 bytes that lie side by side: 4.0 sectors a request.
//= 4.0 sectors: count("one_each", "global_load_sectors") / count("one_each", "global_load_requests")
//
// ## 2. A better one
//
// What the counters said suggests the next step; each rung has one idea.

/// The same; each thread takes every T-th element, T being the threads of the grid.
///
/// Launch: one dimension, any number of threads.
__global__ void grid_stride(float* out, const float* in, unsigned n) {
  const unsigned threads = gridDim.x * blockDim.x;
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += threads) out[i] = 2 * in[i];
}

// **Counted.** The requests are the same; a block of the grid now serves many elements.

int main(int argc, char** argv) {
  return lab::run(argc, argv, [](lab::Ladder& ladder, size_t n) {
    lab::Map<float> map(ladder, n);
    const auto in = map.in;
    const auto doubled = [=] __host__ __device__(size_t i) { return 2 * in[i]; };
    const auto count = static_cast<unsigned>(n);

    map.add("one_each", doubled, lab::launcher(one_each, lab::tiles(n, 256), 256, count));
    map.add("grid_stride", doubled, lab::launcher(grid_stride, 64, 256, count));
  });
}
