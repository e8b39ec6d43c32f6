/// \file
/// Blocks that add up their parts of a tile through distributed shared memory.
#pragma once

#include <cooperative_groups.h>

#include "any.cuh"

namespace any_shape {

/// The blocks of a thread block cluster, of any size; one that was launched without is alone.
struct Cluster {
  static __device__ void meet(int size) {
    if (size > 1) {
      cooperative_groups::this_cluster().sync();
    } else {
      __syncthreads();
    }
  }
  /// The sum of element e over all blocks, always in the order of their ranks.
  static __device__ float4 sum(const float4* sums, int e, int size) {
    if (size == 1) return sums[e];
    const auto cluster = cooperative_groups::this_cluster();
    float4* const here = const_cast<float4*>(sums) + e;
    float4 sum = *cluster.map_shared_rank(here, 0);
    for (int r = 1; r < size; ++r) sum = add(sum, *cluster.map_shared_rank(here, r));
    return sum;
  }
  static __device__ void leave(int size) {
    if (size > 1) cooperative_groups::this_cluster().sync();
  }
};

}  // namespace any_shape
