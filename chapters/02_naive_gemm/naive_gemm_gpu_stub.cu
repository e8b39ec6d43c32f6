/// \file
/// Stands in for naive_gemm_gpu.cu on the simulator: says why a rung cannot run here.

#include "lab/lab.h"

void register_memories(lab::Chapter& chapter) {
  const char* const reason = "needs a GPU: the simulator has no clock";
  chapter.skip("memory_latency", reason, "one load after the other, in each memory (GPU only)");
  chapter.skip("memory_bandwidth", reason, "all threads at once, in each memory (GPU only)");
}
