/// \file
/// Bodies of lab/cub.h: what Thrust does.
#include <thrust/execution_policy.h>
#include <thrust/gather.h>
#include <thrust/inner_product.h>
#include <thrust/reduce.h>
#include <thrust/scatter.h>

#include "lab/cub.h"

namespace lab {

ThrustSum thrust_sum(const float* in, std::size_t n) {
  return [=] { return thrust::reduce(thrust::device, in, in + n, 0.0f); };
}

ThrustSum thrust_dot_product(const float* x, const float* y, std::size_t n) {
  return [=] { return thrust::inner_product(thrust::device, x, x + n, y, 0.0f); };
}

CubLaunch thrust_gather(unsigned* out, const unsigned* in, const unsigned* index, std::size_t n) {
  return [=](cudaStream_t stream) {
    thrust::gather(thrust::cuda::par_nosync.on(stream), index, index + n, in, out);
  };
}

CubLaunch thrust_scatter(unsigned* out, const unsigned* in, const unsigned* index, std::size_t n) {
  return [=](cudaStream_t stream) {
    thrust::scatter(thrust::cuda::par_nosync.on(stream), in, in + n, index, out);
  };
}

}  // namespace lab
