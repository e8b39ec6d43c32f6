// Faults of wgmma: its accumulators, its descriptors, and what it reads.
#include <cuda.h>
#include <cuda_bf16.h>

#include <cstdint>
#include <cuda/ptx>

#include "planted.h"

namespace {

namespace ptx = cuda::ptx;
using u64 = unsigned long long;

// A tile of 64 rows of 128 bytes is A, and its first 8 rows are the columns of B.
__device__ void multiply(float (&d)[4], const void* tile, u64 swizzle) {
  const u64 descriptor =
      (__cvta_generic_to_shared(tile) >> 4 & 0x3fff) | u64{64} << 32 | swizzle << 62;
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
  // clang-format off
  asm volatile("{.reg .pred p; setp.ne.b32 p, 1, 0;"
               "wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%0, %1, %2, %3}, %4, %4, p, 1, 1, 0, 0;}"  // fault: wgmma_swizzle // fault: wgmma_no_proxy_fence // fault: wgmma_unwaited_copy
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "l"(descriptor));
  // clang-format on
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}

enum class Fault { none, swizzle, no_wait, early };

__global__ void square(const __grid_constant__ CUtensorMap map, float* out, Fault fault) {
  __shared__ __align__(1024) __nv_bfloat16 tile[64 * 64];
  __shared__ std::uint64_t full;
  if (threadIdx.x == 0) {
    ptx::mbarrier_init(&full, 1);
    ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
    ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &full,
                                   sizeof(tile));
    const std::int32_t corner[] = {0, 0};
    ptx::cp_async_bulk_tensor(ptx::space_cluster, ptx::space_global, tile, &map, corner, &full);
  }
  __syncthreads();
  while (fault != Fault::no_wait && !ptx::mbarrier_try_wait_parity(&full, 0)) {
  }
  float d[4] = {};
  multiply(d, tile, fault == Fault::swizzle ? 2 : 1);
  if (fault == Fault::early) d[0] += 1;  // fault: wgmma_early
  asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
  for (int i = 0; i < 4; ++i) out[4 * threadIdx.x + i] = d[i];
}
void run_square(Fault fault) {
  OnDevice<__nv_bfloat16> in(64 * 64);
  OnDevice<float> out(4 * 128);
  void* entry = nullptr;
  cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &entry, 12000, cudaEnableDefault);
  const cuuint64_t size[] = {64, 64}, pitch[] = {128};
  const cuuint32_t box[] = {64, 64}, steps[] = {1, 1};
  CUtensorMap map;
  reinterpret_cast<decltype(&cuTensorMapEncodeTiled)>(entry)(
      &map, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 2, in.data(), size, pitch, box, steps,
      CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B, CU_TENSOR_MAP_L2_PROMOTION_NONE,
      CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  square<<<1, 128>>>(map, out.data(), fault);
}
void wgmma_swizzle(bool fixed) { run_square(fixed ? Fault::none : Fault::swizzle); }
void wgmma_unwaited_copy(bool fixed) { run_square(fixed ? Fault::none : Fault::no_wait); }
void wgmma_early(bool fixed) { run_square(fixed ? Fault::none : Fault::early); }

__global__ void square_of_stores(float* out, bool fences) {
  __shared__ __align__(1024) __nv_bfloat16 tile[64 * 64];
  for (int i = threadIdx.x; i < 64 * 64; i += 128) tile[i] = 1.0f;
  if (fences) asm volatile("fence.proxy.async;" ::: "memory");
  __syncthreads();
  float d[4] = {};
  multiply(d, tile, 1);
  asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
  for (int i = 0; i < 4; ++i) out[4 * threadIdx.x + i] = d[i];
}
void wgmma_no_proxy_fence(bool fixed) {
  OnDevice<float> out(4 * 128);
  square_of_stores<<<1, 128>>>(out.data(), fixed);
}

}  // namespace

const std::vector<Planted> kWgmma = {
    {"wgmma_swizzle", "wrong-swizzle", wgmma_swizzle, false},
    {"wgmma_unwaited_copy", "uninitialized-shared", wgmma_unwaited_copy, false},
    {"wgmma_early", "pending-accumulator", wgmma_early, false},
    {"wgmma_no_proxy_fence", "missing-proxy-fence", wgmma_no_proxy_fence, false},
};
