// ## A bulk copy
//
// `copy_bulk` of section 4. Thread 0 starts the copy of the block's 16 KiB with one instruction, the {term}`mbarrier`
// counts the bytes that arrive, and thread 0 starts the copy back. The others copy only what does not fill 16 bytes.

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <cuda/ptx>

#include "lab/lab.h"

namespace ptx = cuda::ptx;

constexpr unsigned BULK = 4096;        ///< floats of a block
constexpr unsigned BULK_THREADS = 32;  ///< threads of a block

/// out[i] = in[i], BULK elements per block with two bulk copies, through shared memory.
///
/// Launch: blocks of BULK_THREADS for every BULK elements, at least one.
/// Requires: in and out are aligned to 16 bytes.
__global__ void __launch_bounds__(BULK_THREADS) copy_bulk(float* out, const float* in, unsigned n) {
  __shared__ alignas(128) float staged[BULK];
  __shared__ std::uint64_t full;
  const unsigned first = blockIdx.x * BULK;
  const unsigned count = min(BULK, n - first) / 4 * 4;  // whole float4
  if (threadIdx.x == 0 && count > 0) {
    const std::uint32_t bytes = count * sizeof(float);
    ptx::mbarrier_init(&full, 1);
    ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
    ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &full,
                                   bytes);
    ptx::cp_async_bulk(ptx::space_cluster, ptx::space_global, staged, in + first, bytes, &full);
    while (!ptx::mbarrier_try_wait_parity(&full, 0)) {
    }
    ptx::cp_async_bulk(ptx::space_global, ptx::space_shared, out + first, staged, bytes);
    ptx::cp_async_bulk_commit_group();
    ptx::cp_async_bulk_wait_group_read(ptx::n32_t<0>{});  // shared memory goes with the block
  }
  const unsigned i = first + count + threadIdx.x;  // the last block's tail
  if (i < n && i < first + BULK) out[i] = in[i];
}

static const lab::Rungs here([](lab::Map<float>& map) {
  const auto n = static_cast<unsigned>(map.n);
  map.add("copy_bulk", map.in, lab::launcher(copy_bulk, lab::tiles(n, BULK), BULK_THREADS, n));
});
