// A rung of another file.
#include <cuda_runtime.h>

#include "lab/lab.h"

/// out = -in.
__global__ void other_file(float* out, const float* in, unsigned n) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = -in[i];
}

static void add_other_file(lab::Map<float>& map) {
  const auto x = map.in;
  const auto n = static_cast<unsigned>(map.n);
  map.add(
      "other_file", [=] __host__ __device__(size_t i) { return -x[i]; },
      lab::launcher(other_file, lab::tiles(n, 256), 256, n));
}

static const lab::Rungs here(add_other_file);
