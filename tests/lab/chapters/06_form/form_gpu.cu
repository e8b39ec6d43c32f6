// A rung that registers itself.
#include <cuda_runtime.h>

#include "lab/lab.h"

/// out = -in.
__global__ void other_file(float* out, const float* in, unsigned n) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = -in[i];
}

static const lab::Rungs here([](lab::Map<float>& map) {
  map.add(
      "other_file", [&](size_t i) { return -map.in[i]; },
      [&](auto* out, auto* in) {
        other_file<<<lab::tiles(map.n, 256), 256>>>(out, in, static_cast<unsigned>(map.n));
      });
});
