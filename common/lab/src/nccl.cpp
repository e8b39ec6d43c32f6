// NCCL, in one process.
#include "lab/nccl.h"

#include <nccl.h>

#include <cstdlib>
#include <map>
#include <memory>
#include <numeric>

#include "lab/check.h"
#include "lab/text.h"

namespace lab {
namespace {

void check(ncclResult_t result, const char* call) {
  if (result == ncclSuccess) return;
  detail::fail(format("%s failed: %s", call, ncclGetErrorString(result)));
}

/// A communicator for each of the first devices, made once for each number of them.
const std::vector<ncclComm_t>& communicators(std::size_t devices) {
  static std::map<std::size_t, std::vector<ncclComm_t>> made;
  std::vector<ncclComm_t>& all = made[devices];
  if (!all.empty()) return all;
  setenv("NCCL_NVLS_ENABLE", "0", 0);
  std::vector<int> numbers(devices);
  std::iota(numbers.begin(), numbers.end(), 0);
  all.resize(devices);
  check(ncclCommInitAll(all.data(), static_cast<int>(devices), numbers.data()), "ncclCommInitAll");
  return all;
}

}  // namespace

NcclLaunch nccl_all_reduce(const std::vector<float*>& out, const std::vector<float*>& in,
                           std::size_t n, const std::vector<cudaStream_t>& streams) {
  const std::vector<ncclComm_t>& all = communicators(in.size());
  return [=, &all] {
    check(ncclGroupStart(), "ncclGroupStart");
    for (std::size_t d = 0; d < in.size(); ++d)
      check(ncclAllReduce(in[d], out[d], n, ncclFloat, ncclSum, all[d], streams[d]),
            "ncclAllReduce");
    check(ncclGroupEnd(), "ncclGroupEnd");
  };
}

NcclLaunch nccl_halos(const std::vector<float*>& grids, const std::vector<int>& rows,
                      std::size_t cols, const std::vector<cudaStream_t>& streams) {
  const std::vector<ncclComm_t>& all = communicators(grids.size());
  return [=, &all] {
    check(ncclGroupStart(), "ncclGroupStart");
    for (std::size_t d = 0; d < grids.size(); ++d) {
      const auto exchange = [&](std::size_t peer, std::size_t sent, std::size_t received) {
        const int other = static_cast<int>(peer);
        check(ncclSend(grids[d] + sent * cols, cols, ncclFloat, other, all[d], streams[d]),
              "ncclSend");
        check(ncclRecv(grids[d] + received * cols, cols, ncclFloat, other, all[d], streams[d]),
              "ncclRecv");
      };
      const auto last = static_cast<std::size_t>(rows[d]);
      if (d > 0) exchange(d - 1, 1, 0);
      if (d + 1 < grids.size()) exchange(d + 1, last, last + 1);
    }
    check(ncclGroupEnd(), "ncclGroupEnd");
  };
}

NcclLaunch nccl_all_gather(const std::vector<float*>& whole, const std::vector<float*>& parts,
                           const std::vector<std::size_t>& counts,
                           const std::vector<cudaStream_t>& streams) {
  const std::vector<ncclComm_t>& all = communicators(parts.size());
  return [=, &all] {
    check(ncclGroupStart(), "ncclGroupStart");
    std::size_t first = 0;
    for (std::size_t from = 0; from < parts.size(); first += counts[from++])
      for (std::size_t d = 0; d < parts.size(); ++d)
        check(ncclBroadcast(parts[d], whole[d] + first, counts[from], ncclFloat,
                            static_cast<int>(from), all[d], streams[d]),
              "ncclBroadcast");
    check(ncclGroupEnd(), "ncclGroupEnd");
  };
}

}  // namespace lab
