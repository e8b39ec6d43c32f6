/// \file
/// CUB, the library of the CUDA Toolkit for scans, reductions and their like, and Thrust, which stands on it, as the peers
/// of chapters: `.peer = lab::vendor("CUB", lab::cub_sum(out, in, n))`. Where a build has no CUB (the simulator never
/// has), each of these returns an empty function, and the peer says why it is not there.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "lab/ladder.h"

namespace lab {

/// Work of CUB whose temporary memory is there already: launches it in a stream and does not wait. A call may be
/// captured in a graph.
using CubLaunch = std::function<void(cudaStream_t)>;

/// Why a peer is missing whose `CubLaunch` is empty.
inline constexpr const char* why_no_cub = "needs a GPU and CUB 3.0, which comes with CUDA 13.0";

/// The peer of that name: it does that work in the default stream. Where the work is empty, it is absent.
/// \param outputs what it writes; where empty, what the rung writes
Peer vendor(const std::string& name, const CubLaunch& work,
            const std::vector<Expectation>& outputs = {});

/// *out = the sum of n floats, by `cub::DeviceReduce::Sum`.
CubLaunch cub_sum(float* out, const float* in, std::size_t n);
/// The same for ints.
CubLaunch cub_sum(int* out, const int* in, std::size_t n);

/// *out = the largest of n ints, INT_MIN of none, by `cub::DeviceReduce::Reduce` with an operator of our own.
CubLaunch cub_fold_largest(int* out, const int* in, std::size_t n);

/// *value = the largest of n floats, *index = the lowest index that has it, by `cub::DeviceReduce::ArgMax`.
CubLaunch cub_arg_max(float* value, std::int64_t* index, const float* in, std::size_t n);

/// bins[b] = how many of n bytes are b, for b from 0 to 255, by `cub::DeviceHistogram::HistogramEven`.
CubLaunch cub_histogram(int* bins, const std::uint8_t* in, std::size_t n);

/// The exclusive sums of n elements, by `cub::DeviceScan::ExclusiveSum`.
/// \param n less than 2^32
CubLaunch cub_exclusive_sum(unsigned* out, const unsigned* in, std::size_t n);

/// The inclusive sums of n elements over each run of equal keys, by `cub::DeviceScan::InclusiveSumByKey`.
/// \param n less than 2^32
CubLaunch cub_sum_by_key(unsigned* out, const unsigned* keys, const unsigned* in, std::size_t n);

/// All i with in[i] == in[i + 1], ascending, and how many there are, by `cub::DeviceSelect::If` over a counting iterator.
/// \param n at least 1, less than 2^32
CubLaunch cub_select_repeats(unsigned* out, unsigned* size, const unsigned* in, std::size_t n);

/// The even ones of n elements, in their order, and how many there are, by `cub::DeviceSelect::If`.
/// \param n less than 2^32
CubLaunch cub_select_even(unsigned* out, unsigned* size, const unsigned* in, std::size_t n);

/// n pairs in the order of their keys, equal ones in that of before, by `cub::DeviceRadixSort::SortPairs`.
/// \param n less than 2^32
CubLaunch cub_sort_pairs(unsigned* keys_out, unsigned* values_out, const unsigned* keys,
                         const unsigned* values, std::size_t n);

/// sums[i] = the sum of the values whose index is i, for i below `size`: by `cub::DeviceRadixSort::SortPairs` over as
/// many bits as an index has, `cub::DeviceReduce::ReduceByKey`, and a kernel that writes each sum to its place.
/// \param n less than 2^32
CubLaunch cub_scatter_add(unsigned* sums, unsigned size, const unsigned* index,
                          const unsigned* values, std::size_t n);

/// out[i] = in[index[i]], by `thrust::gather`.
CubLaunch thrust_gather(unsigned* out, const unsigned* in, const unsigned* index, std::size_t n);
/// out[index[i]] = in[i], by `thrust::scatter`.
CubLaunch thrust_scatter(unsigned* out, const unsigned* in, const unsigned* index, std::size_t n);

/// Work of Thrust that waits for its result and returns it.
using ThrustSum = std::function<float()>;

/// The peer of that name: it does that work and leaves what it returns in `*result`, a variable of the host.
/// \param clock whose time counts
/// \param outputs what it writes; where empty, what the rung writes
Peer vendor(const std::string& name, const ThrustSum& work, float* result, Clock clock,
            const std::vector<Expectation>& outputs = {});

/// The sum of n floats on the device, by `thrust::reduce`.
ThrustSum thrust_sum(const float* in, std::size_t n);

/// The dot product of x and y, n floats each on the device, by `thrust::inner_product`.
ThrustSum thrust_dot_product(const float* x, const float* y, std::size_t n);

}  // namespace lab
