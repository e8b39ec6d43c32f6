// One launch of some kernels each, for a profiler: a product that is mostly start.
#include "bench.cuh"
int main() {
  Bench bench;
  for (const Shape x : {Shape{41, 1327, 1, true, true}, Shape{40, 1328, 4, true, false}}) {
    const Rotation r(bench, x);
    for (const char* const name :
         {"64x64", "64x64 x1", "64x64 x1 b8", "32x32", "32x32 x4", "128x64", "little 1"})
      for (const Kernel& kernel : menu)
        if (std::string(kernel.name) == name)
          for (int i = 0; i < 3; ++i) {
            CHECK(kernel.launch(bench.product(r.calls[size_t(i)]), 1, false, bench.workspace, bench.stream));
            CHECK(cudaStreamSynchronize(bench.stream));
          }
  }
}
