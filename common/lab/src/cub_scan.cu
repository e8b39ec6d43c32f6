/// \file
/// Bodies of lab/cub.h: scans, what is selected by them, a sort, and a scatter that adds.
#include <thrust/iterator/counting_iterator.h>

#include <algorithm>
#include <bit>
#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_reduce.cuh>
#include <cub/device/device_scan.cuh>
#include <cub/device/device_select.cuh>
#include <cuda/std/functional>
#include <memory>

#include "cub.h"

namespace lab {

namespace {

/// Whether an element equals the one behind it.
struct EqualsNext {
  const unsigned* in;
  __device__ bool operator()(unsigned i) const { return in[i] == in[i + 1]; }
};

struct IsEven {
  __device__ bool operator()(unsigned value) const { return value % 2 == 0; }
};

/// sums[keys[i]] = totals[i] for each of *runs keys.
__global__ void place(unsigned* sums, const unsigned* keys, const unsigned* totals,
                      const unsigned* runs) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < *runs) sums[keys[i]] = totals[i];
}

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

CubLaunch cub_select_even(unsigned* out, unsigned* size, const unsigned* in, std::size_t n) {
  const unsigned count = static_cast<unsigned>(n);
  return detail::with_temporary([=](void* temporary, std::size_t& bytes, cudaStream_t stream) {
    return cub::DeviceSelect::If(temporary, bytes, in, out, size, count, IsEven{}, stream);
  });
}

CubLaunch cub_sort_pairs(unsigned* keys_out, unsigned* values_out, const unsigned* keys,
                         const unsigned* values, std::size_t n) {
  const unsigned count = static_cast<unsigned>(n);
  return detail::with_temporary([=](void* temporary, std::size_t& bytes, cudaStream_t stream) {
    return cub::DeviceRadixSort::SortPairs(temporary, bytes, keys, keys_out, values, values_out,
                                           count, 0, 32, stream);
  });
}

CubLaunch cub_scatter_add(unsigned* sums, unsigned size, const unsigned* index,
                          const unsigned* values, std::size_t n) {
  const unsigned count = static_cast<unsigned>(n), most = std::min(size, count);
  const auto memory = [](std::size_t elements) {
    return std::make_shared<DeviceBuffer<unsigned>>(elements, "CUB's memory");
  };
  const auto keys = memory(n), sorted = memory(n), of_runs = memory(most), totals = memory(most),
             runs = memory(1);
  const int bits = std::bit_width(size - 1);
  const CubLaunch sort =
      detail::with_temporary([=](void* temporary, std::size_t& bytes, cudaStream_t stream) {
        return cub::DeviceRadixSort::SortPairs(temporary, bytes, index, keys->data(), values,
                                               sorted->data(), count, 0, bits, stream);
      });
  const CubLaunch reduce =
      detail::with_temporary([=](void* temporary, std::size_t& bytes, cudaStream_t stream) {
        return cub::DeviceReduce::ReduceByKey(temporary, bytes, keys->data(), of_runs->data(),
                                              sorted->data(), totals->data(), runs->data(),
                                              cuda::std::plus<>{}, count, stream);
      });
  return [=](cudaStream_t stream) {
    CUDA_CHECK(cudaMemsetAsync(sums, 0, std::size_t{size} * 4, stream));
    sort(stream);
    reduce(stream);
    place<<<(most + 255) / 256, 256, 0, stream>>>(sums, of_runs->data(), totals->data(),
                                                  runs->data());
  };
}

}  // namespace lab
