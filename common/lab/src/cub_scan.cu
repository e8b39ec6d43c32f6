/// \file
/// Bodies of lab/cub.h: scans, and what is selected by them.
#include <thrust/iterator/counting_iterator.h>

#include <cub/device/device_scan.cuh>
#include <cub/device/device_select.cuh>

#include "cub.h"

namespace lab {

namespace {

/// Whether an element equals the one behind it.
struct EqualsNext {
  const unsigned* in;
  __device__ bool operator()(unsigned i) const { return in[i] == in[i + 1]; }
};

}  // namespace

CubLaunch cub_exclusive_sum(unsigned* out, const unsigned* in, std::size_t n) {
  const unsigned count = static_cast<unsigned>(n);
  return detail::with_temporary([=](void* temporary, std::size_t& bytes, cudaStream_t stream) {
    return cub::DeviceScan::ExclusiveSum(temporary, bytes, in, out, count, stream);
  });
}

CubLaunch cub_sum_by_key(unsigned* out, const unsigned* keys, const unsigned* in, std::size_t n) {
  const unsigned count = static_cast<unsigned>(n);
  return detail::with_temporary([=](void* temporary, std::size_t& bytes, cudaStream_t stream) {
    return cub::DeviceScan::InclusiveSumByKey(temporary, bytes, keys, in, out, count,
                                              cuda::std::equal_to<>{}, stream);
  });
}

CubLaunch cub_select_repeats(unsigned* out, unsigned* size, const unsigned* in, std::size_t n) {
  const unsigned count = static_cast<unsigned>(n - 1);
  return detail::with_temporary([=](void* temporary, std::size_t& bytes, cudaStream_t stream) {
    return cub::DeviceSelect::If(temporary, bytes, thrust::counting_iterator<unsigned>(0), out,
                                 size, count, EqualsNext{in}, stream);
  });
}

}  // namespace lab
