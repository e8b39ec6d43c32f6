// Libraries that are called wrongly.
#include <thrust/device_vector.h>
#include <thrust/sort.h>
#include <thrust/transform.h>

#include "planted.h"

namespace {

constexpr int kN = 100;

void output_too_small(bool fixed) {
  const thrust::device_vector<int> in(kN, 1);
  thrust::device_vector<int> out(fixed ? kN : kN - 1);
  const thrust::negate<int> op;
  thrust::transform(in.begin(), in.end(), out.begin(), op);  // fault: output_too_small
}

// A raw pointer is one of the host's to Thrust, unless a policy says otherwise.
void sort_without_policy(bool fixed) {
  thrust::device_vector<int> data(kN, 1);
  int* const p = thrust::raw_pointer_cast(data.data());
  if (fixed) {
    thrust::sort(thrust::device, p, p + kN);
  } else {
    thrust::sort(p, p + kN);  // fault: sort_without_policy
  }
}

void vector_is_gone(bool fixed) {
  int* p = nullptr;
  thrust::device_vector<int> data(kN, 1);
  p = thrust::raw_pointer_cast(data.data());
  if (!fixed) data.push_back(2);            // which moves all of them
  thrust::fill_n(thrust::device, p, 1, 3);  // fault: vector_is_gone
}

}  // namespace

const std::vector<Planted> kLibraries = {
    {"output_too_small", "out-of-bounds", output_too_small, false},
    {"sort_without_policy", "host-access", sort_without_policy, false},
    {"vector_is_gone", "use-after-free", vector_is_gone, false},
};
