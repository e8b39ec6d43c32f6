// Rungs of another file, in a file that both backends compile.
#include <cuda_runtime.h>

#include "lab/lab.h"

/// out[i] = i.
__global__ void registered(int* out) { out[threadIdx.x] = static_cast<int>(threadIdx.x); }

static void add_registered(lab::Ladder& ladder) {
  lab::DeviceBuffer<int> out(32, "out");
  ladder.add({.name = "registered",
              .launch = [&] { registered<<<1, 32>>>(out.data()); },
              .outputs = {lab::expect(
                  out, [] __host__ __device__(size_t i) { return static_cast<int>(i); })}});
}

static const lab::Rungs here(add_registered);
