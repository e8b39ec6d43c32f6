/// \file
/// The launch configuration, what stands between <<< and >>>.
#pragma once

#include <cuda_runtime_api.h>

namespace simt {

/// Grid, block, bytes of dynamic shared memory, stream: in the order of `<<<...>>>`.
struct Config {
  Config(dim3 grid_, dim3 block_, size_t shared_ = 0, cudaStream_t stream_ = nullptr)
      : grid(grid_), block(block_), shared(shared_), stream(stream_) {}
  dim3 grid;
  dim3 block;
  size_t shared;
  cudaStream_t stream;
  dim3 cluster{0, 0, 0};     ///< blocks of a cluster, where the launch says so
  bool cooperative = false;  ///< all blocks at once, which may wait for each other
  bool is_programmatic =
      false;             ///< it may begin before the kernel ahead of it in its stream has ended
  bool to_node = false;  ///< of a node of a graph that is being made
  const void* kernel = nullptr;  ///< the kernel's address, where the launch names just one
};

}  // namespace simt
