// Rungs that register themselves, in a file that both backends compile.
#include <cuda_runtime.h>

#include <vector>

#include "lab/lab.h"

/// out[i] = i.
__global__ void registered(int* out) { out[threadIdx.x] = static_cast<int>(threadIdx.x); }

static const lab::Rungs here([](lab::Chapter& chapter) {
  const auto out = std::make_shared<lab::DeviceBuffer<int>>(32, "out");
  chapter.add({.name = "registered",
               .launch = [out] { registered<<<1, 32>>>(out->data()); },
               .verify =
                   [out] {
                     std::vector<int> want(32);
                     for (int i = 0; i < 32; ++i) want[static_cast<size_t>(i)] = i;
                     return lab::compare(out->download(), want);
                   },
               .outputs = {out.get()}});
});
