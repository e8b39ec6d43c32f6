/// \file
/// Bodies of lab/cub.h: what Thrust returns to the host.
#include <thrust/execution_policy.h>
#include <thrust/inner_product.h>
#include <thrust/reduce.h>

#include "lab/cub.h"

namespace lab {

ThrustSum thrust_sum(const float* in, std::size_t n) {
  return [=] { return thrust::reduce(thrust::device, in, in + n, 0.0f); };
}

ThrustSum thrust_dot_product(const float* x, const float* y, std::size_t n) {
  return [=] { return thrust::inner_product(thrust::device, x, x + n, y, 0.0f); };
}

}  // namespace lab
