/// \file
/// Stands in for thread_indexing_gpu.cu on the simulator: says why a rung cannot run here.

#include "lab/lab.h"

void register_where_blocks_run(lab::Chapter& chapter) {
  chapter.skip("where_blocks_run",
               "needs a GPU: the simulator runs blocks on the cores of the CPU, and has no SMs",
               "which SM each block ran on, and when (GPU only)");
}

void register_missing_image(lab::Chapter& chapter) {
  chapter.skip("missing_image",
               "needs a GPU: the simulator's kernels are compiled for the CPU that runs them",
               "a kernel that was compiled for another GPU (GPU only)");
}
