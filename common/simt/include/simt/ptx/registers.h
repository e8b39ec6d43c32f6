/// \file
/// The special registers of PTX that simtcc lets inline assembly read, as functions of their names.
#pragma once

#include <device_launch_parameters.h>
#include <simt/intrinsics.h>

namespace simt::ptx {

SIMT_INLINE unsigned tid_x() { return threadIdx.x; }
SIMT_INLINE unsigned tid_y() { return threadIdx.y; }
SIMT_INLINE unsigned tid_z() { return threadIdx.z; }
SIMT_INLINE unsigned ntid_x() { return blockDim.x; }
SIMT_INLINE unsigned ntid_y() { return blockDim.y; }
SIMT_INLINE unsigned ntid_z() { return blockDim.z; }
SIMT_INLINE unsigned ctaid_x() { return blockIdx.x; }
SIMT_INLINE unsigned ctaid_y() { return blockIdx.y; }
SIMT_INLINE unsigned ctaid_z() { return blockIdx.z; }
SIMT_INLINE unsigned nctaid_x() { return gridDim.x; }
SIMT_INLINE unsigned nctaid_y() { return gridDim.y; }
SIMT_INLINE unsigned nctaid_z() { return gridDim.z; }

SIMT_INLINE unsigned cluster_ctarank() { return simt::detail::cluster_rank(); }
SIMT_INLINE unsigned cluster_nctarank() {
  const dim3 blocks = simt::detail::cluster_extent();
  return blocks.x * blocks.y * blocks.z;
}

SIMT_INLINE unsigned thread() {
  return (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
}
SIMT_INLINE unsigned laneid() { return thread() % 32; }
SIMT_INLINE unsigned warpid() { return thread() / 32; }
SIMT_INLINE unsigned nwarpid() { return 64; }
/// The multiprocessors take turns.
SIMT_INLINE unsigned nsmid() { return 8; }
SIMT_INLINE unsigned smid() {
  return ((blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x) % nsmid();
}
SIMT_INLINE unsigned long long gridid() { return 1; }

SIMT_INLINE unsigned lanemask_eq() { return 1u << laneid(); }
SIMT_INLINE unsigned lanemask_lt() { return lanemask_eq() - 1; }
SIMT_INLINE unsigned lanemask_le() { return lanemask_lt() | lanemask_eq(); }
SIMT_INLINE unsigned lanemask_gt() { return ~lanemask_le(); }
SIMT_INLINE unsigned lanemask_ge() { return ~lanemask_lt(); }

SIMT_INLINE unsigned long long clock64() {
  return static_cast<unsigned long long>(simt::detail::clock());
}
SIMT_INLINE unsigned clock() { return static_cast<unsigned>(clock64()); }
SIMT_INLINE unsigned clock_hi() { return static_cast<unsigned>(clock64() >> 32); }
SIMT_INLINE unsigned long long globaltimer() { return clock64(); }
SIMT_INLINE unsigned globaltimer_lo() { return clock(); }
SIMT_INLINE unsigned globaltimer_hi() { return clock_hi(); }

SIMT_INLINE unsigned dynamic_smem_size() { return simt::detail::dynamic_shared_size(); }
SIMT_INLINE unsigned total_smem_size() { return simt::detail::dynamic_shared_size(); }

}  // namespace simt::ptx
