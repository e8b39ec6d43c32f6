/// \file
/// NCCL as the peer of what several devices do together. It is optional: where the build has none, the peer says so.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "lab/ladder.h"

namespace lab {

/// Work of NCCL, begun in the streams that it was made for, one of each device. Empty where there is no NCCL.
using NcclLaunch = std::function<void()>;

/// out[d] of each device = the sum of all in[d], n floats each, by `ncclAllReduce` of one process. Without NVLink
/// multicast (`NCCL_NVLS_ENABLE=0`), as the kernels beside it.
NcclLaunch nccl_all_reduce(const std::vector<float*>& out, const std::vector<float*>& in,
                           std::size_t n, const std::vector<cudaStream_t>& streams);

/// Each device's rows, with a halo row before and behind, get their halos from its neighbours, by `ncclSend` and `ncclRecv`.
/// \param rows rows of each device
NcclLaunch nccl_halos(const std::vector<float*>& grids, const std::vector<int>& rows,
                      std::size_t cols, const std::vector<cudaStream_t>& streams);

/// Each device gets the parts of all, one behind the other, by an `ncclBroadcast` of each part in one group.
/// \param counts floats of each part
NcclLaunch nccl_all_gather(const std::vector<float*>& whole, const std::vector<float*>& parts,
                           const std::vector<std::size_t>& counts,
                           const std::vector<cudaStream_t>& streams);

/// The peer of that name, which calls `launch`; absent where `work` is empty.
Peer vendor(const std::string& name, const NcclLaunch& work, const std::function<void()>& launch,
            const std::function<void()>& prepare = {});

}  // namespace lab
