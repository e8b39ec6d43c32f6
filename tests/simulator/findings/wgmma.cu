// Faults of wgmma: its registers, its descriptors, and what it reads.
#include <cuda.h>
#include <cuda_bf16.h>

#include <cstdint>
#include <cuda/ptx>

#include "planted.h"

namespace {

namespace ptx = cuda::ptx;
using u64 = unsigned long long;

__device__ u64 descriptor_of(const void* tile, u64 swizzle) {
  return (__cvta_generic_to_shared(tile) >> 4 & 0x3fff) | u64{64} << 32 | swizzle << 62;
}

// A tile of 64 rows of 128 bytes is A, and its first 8 rows are the columns of B.
__device__ void multiply(float (&d)[4], const void* tile, u64 swizzle, bool fences = true) {
  const u64 descriptor = descriptor_of(tile, swizzle);
  if (fences) asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
  // clang-format off
  asm volatile("wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%0, %1, %2, %3}, %4, %4, 1, 1, 1, 0, 0;"  // fault: wgmma_swizzle // fault: wgmma_no_proxy_fence // fault: wgmma_unwaited_copy // fault: wgmma_no_fence // fault: wgmma_released_early
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
    // clang-format off
    ptx::cp_async_bulk_tensor(ptx::space_cluster, ptx::space_global, tile, &map, corner, &full);  // fault: wgmma_box_refused
    // clang-format on
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

// A map of (rows, 64), for boxes of 64 rows and so many columns.
CUtensorMap map_of(const __nv_bfloat16* in, unsigned rows, unsigned columns) {
  void* entry = nullptr;
  cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &entry, 12000, cudaEnableDefault);
  const cuuint64_t size[] = {64, rows}, pitch[] = {128};
  const cuuint32_t box[] = {columns, 64}, steps[] = {1, 1};
  CUtensorMap map{};
  reinterpret_cast<decltype(&cuTensorMapEncodeTiled)>(entry)(
      &map, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 2, const_cast<__nv_bfloat16*>(in), size, pitch, box,
      steps, CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
      CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  return map;
}

void run_square(Fault fault, unsigned columns = 64) {
  OnDevice<__nv_bfloat16> in(64 * 64);
  OnDevice<float> out(4 * 128);
  square<<<1, 128>>>(map_of(in.data(), 64, columns), out.data(), fault);
}
void wgmma_swizzle(bool fixed) { run_square(fixed ? Fault::none : Fault::swizzle); }
void wgmma_unwaited_copy(bool fixed) { run_square(fixed ? Fault::none : Fault::no_wait); }
void wgmma_early(bool fixed) { run_square(fixed ? Fault::none : Fault::early); }
// A row of the box is longer than its swizzle, and nobody looks at what cuTensorMapEncodeTiled() returns.
void wgmma_box_refused(bool fixed) { run_square(Fault::none, fixed ? 64 : 128); }

// A warpgroup multiplies, and warp 4 fills the stage again once one thread of the warpgroup has arrived.
__global__ void two_tiles(const __grid_constant__ CUtensorMap map, float* out, bool waits_first) {
  __shared__ __align__(1024) __nv_bfloat16 tile[64 * 64];
  __shared__ std::uint64_t full, empty;
  const unsigned t = threadIdx.x;
  if (t == 0) {
    ptx::mbarrier_init(&full, 1);
    ptx::mbarrier_init(&empty, 1);
    ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
  }
  __syncthreads();
  for (int i = 0; i < 2; ++i) {
    if (t == 128) {
      while (i && !ptx::mbarrier_try_wait_parity(&empty, 0)) {
      }
      ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &full,
                                     sizeof(tile));
      const std::int32_t corner[] = {0, 64 * i};
      // clang-format off
      ptx::cp_async_bulk_tensor(ptx::space_cluster, ptx::space_global, tile, &map, corner, &full);  // fault: wgmma_released_early
      // clang-format on
    }
    if (t >= 128) continue;
    while (!ptx::mbarrier_try_wait_parity(&full, i)) {
    }
    float d[4] = {};
    multiply(d, tile, 1);
    if (!waits_first && t == 0) ptx::mbarrier_arrive(&empty);
    asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
    if (waits_first && t == 0) ptx::mbarrier_arrive(&empty);
    for (int j = 0; j < 4; ++j) out[(i * 128 + t) * 4 + j] = d[j];
  }
}
void wgmma_released_early(bool fixed) {
  OnDevice<__nv_bfloat16> in(2 * 64 * 64);
  OnDevice<float> out(2 * 4 * 128);
  two_tiles<<<1, 160>>>(map_of(in.data(), 128, 64), out.data(), fixed);
}

// The same with A in registers.
__device__ void multiply(float (&d)[4], const unsigned (&a)[4], const void* tile) {
  // clang-format off
  asm volatile("wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%0, %1, %2, %3}, {%4, %5, %6, %7}, %8, 1, 1, 1, 0;"  // fault: wgmma_operand_unfenced // fault: wgmma_sum_unfenced
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(descriptor_of(tile, 1)));
  // clang-format on
}
// The registers by value: those of the caller.
__device__ __forceinline__ void multiply(float (&d)[4], unsigned a0, unsigned a1,
                                         const void* tile) {
  asm volatile(
      "wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%0, %1, %2, %3}, {%4, %5, %4, %5}, "
      "%6, 1, 1, 1, 0;"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a0), "r"(a1), "l"(descriptor_of(tile, 1)));
}
// A function of its own, whose registers are gone when it has asked for the product.
__device__ __noinline__ void multiply_packed(float (&d)[4], const float* values, const void* tile) {
  unsigned a[4];
  for (int i = 0; i < 4; ++i) a[i] = __float_as_uint(values[i]);
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
  multiply(d, a, tile);
}
__device__ __noinline__ float sum_of(const float* values) {
  float copies[32];
  for (int i = 0; i < 32; ++i) copies[i] = values[i % 4];
  float sum = 0;
  for (int i = 0; i < 32; ++i) sum += copies[31 - i];
  return sum;
}

enum class Registers {
  ordered,
  rewritten,          // the fragment of A, while a wgmma may still read it
  fragment_unfenced,  // written after the last fence
  sums_unfenced,
  sums_early,
};

// Two steps, whose fragments of A come from global memory and use the same registers; between them the sums are scaled.
__global__ void two_steps(const unsigned* in, float* out, Registers fault) {
  __shared__ __align__(1024) __nv_bfloat16 tile[64 * 64];
  const int t = static_cast<int>(threadIdx.x);
  for (int i = t; i < 64 * 64; i += 128) tile[i] = 1.0f;
  asm volatile("fence.proxy.async;" ::: "memory");
  __syncthreads();
  float d[4] = {1, 2, 3, 4};
  unsigned a[4];
  for (int step = 0; step < 2; ++step) {
    if (step && fault == Registers::fragment_unfenced)
      asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
    for (int i = 0; i < 4 && (!step || fault != Registers::sums_unfenced); ++i)
      a[i] = in[(4 * step + i) * 128 + t];  // fault: wgmma_operand_rewritten
    if (!step || (fault != Registers::fragment_unfenced && fault != Registers::sums_unfenced))
      asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
    multiply(d, a, tile);
    if (fault == Registers::sums_early) d[1] *= 0.5f;  // fault: wgmma_sum_in_group
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
    if (fault != Registers::rewritten)
      asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
    if (fault == Registers::ordered || fault == Registers::sums_unfenced) {
      for (float& sum : d) sum *= 0.5f;
    }
  }
  asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
  for (int i = 0; i < 4; ++i) out[4 * t + i] = d[i];
}
void run_two_steps(Registers fault) {
  std::vector<unsigned> values(8 * 128);
  for (unsigned i = 0; i < values.size(); ++i) values[i] = 0x3f803f80 + (i % 5 << 20);
  OnDevice<unsigned> in(values);
  OnDevice<float> out(4 * 128);
  two_steps<<<1, 128>>>(in.data(), out.data(), fault);
}
void wgmma_operand_rewritten(bool fixed) {
  run_two_steps(fixed ? Registers::ordered : Registers::rewritten);
}
void wgmma_operand_unfenced(bool fixed) {
  run_two_steps(fixed ? Registers::ordered : Registers::fragment_unfenced);
}
void wgmma_sum_unfenced(bool fixed) {
  run_two_steps(fixed ? Registers::ordered : Registers::sums_unfenced);
}
void wgmma_sum_in_group(bool fixed) {
  run_two_steps(fixed ? Registers::ordered : Registers::sums_early);
}

// Registers of A that nobody has any more may be others: no fault.
__global__ void fragments_of_functions(const float* in, float* out) {
  __shared__ __align__(1024) __nv_bfloat16 tile[64 * 64];
  const int t = static_cast<int>(threadIdx.x);
  for (int i = t; i < 64 * 64; i += 128) tile[i] = 1.0f;
  asm volatile("fence.proxy.async;" ::: "memory");
  __syncthreads();
  float d[4] = {}, e[4] = {}, sum = 0;
  multiply_packed(d, in, tile);
  sum += sum_of(in);
  const unsigned x[] = {__float_as_uint(in[4]), __float_as_uint(in[5]), __float_as_uint(in[6])};
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
  for (int i = 0; i < 2; ++i) multiply(e, x[i], x[i + 1], tile);
  {
    unsigned a[4];
    for (int i = 0; i < 4; ++i) a[i] = __float_as_uint(in[i + 4]);
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
    multiply(e, a, tile);
  }
  {
    float others[4];
    for (int i = 0; i < 4; ++i) others[i] = in[i];
    sum += sum_of(others);
  }
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
  asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
  for (int i = 0; i < 4; ++i) out[4 * t + i] = d[i] + e[i] + sum;
}
void wgmma_fragments_of_functions(bool) {
  std::vector<float> values(8);
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i + 1);
  OnDevice<float> in(values), out(4 * 128);
  fragments_of_functions<<<1, 128>>>(in.data(), out.data());
}

// Threads without work leave, and the others give up registers.
__global__ void give_up_registers(int* out, unsigned n) {
  if (threadIdx.x >= n) return;
  asm volatile("setmaxnreg.dec.sync.aligned.u32 24;");  // fault: setmaxnreg_of_some
  out[threadIdx.x] = 1;
}
void setmaxnreg_of_some(bool fixed) {
  OnDevice<int> out(128);
  give_up_registers<<<1, 128>>>(out.data(), fixed ? 128 : 100);
}
// One warp of a warpgroup copies, the others of it have nothing to do.
__global__ void one_warp_gives(int* out, bool all) {
  const unsigned t = threadIdx.x;
  if (t / 128 == 1) {
    asm volatile("setmaxnreg.inc.sync.aligned.u32 240;");
  } else if (all || t < 32) {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 24;");  // fault: setmaxnreg_of_warp
  }
  out[t] = 1;
}
void setmaxnreg_of_warp(bool fixed) {
  OnDevice<int> out(256);
  one_warp_gives<<<1, 256>>>(out.data(), fixed);
}
// The warps of a warpgroup ask for different numbers.
__global__ void warps_differ(int* out, unsigned first) {
  const unsigned t = threadIdx.x;
  if (t < first) {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 24;");  // fault: setmaxnreg_of_two_kinds
  } else {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");  // fault: setmaxnreg_of_two_kinds
  }
  out[t] = 1;
}
void setmaxnreg_of_two_kinds(bool fixed) {
  OnDevice<int> out(256);
  warps_differ<<<1, 256>>>(out.data(), fixed ? 128 : 160);
}

// Three warpgroups, one of which gives up registers for the two others: each of the block's 384 threads has 168.
template <int few>
__global__ void __launch_bounds__(384, 1) move_registers(int* out) {
  if (threadIdx.x >= 128) {
    asm volatile("setmaxnreg.inc.sync.aligned.u32 240;");  // fault: setmaxnreg_sum
  } else {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(few));
  }
  out[threadIdx.x] = 1;
}
void setmaxnreg_sum(bool fixed) {
  OnDevice<int> out(384);
  if (fixed) {
    move_registers<24><<<1, 384>>>(out.data());
  } else {
    move_registers<40><<<1, 384>>>(out.data());
  }
}

__global__ void square_of_stores(float* out, bool fences, bool fences_registers) {
  __shared__ __align__(1024) __nv_bfloat16 tile[64 * 64];
  for (int i = threadIdx.x; i < 64 * 64; i += 128) tile[i] = 1.0f;
  if (fences) asm volatile("fence.proxy.async;" ::: "memory");
  __syncthreads();
  float d[4] = {};
  multiply(d, tile, 1, fences_registers);
  asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
  for (int i = 0; i < 4; ++i) out[4 * threadIdx.x + i] = d[i];
}
void wgmma_no_fence(bool fixed) {
  OnDevice<float> out(4 * 128);
  square_of_stores<<<1, 128>>>(out.data(), true, fixed);
}
void wgmma_no_proxy_fence(bool fixed) {
  OnDevice<float> out(4 * 128);
  square_of_stores<<<1, 128>>>(out.data(), fixed, true);
}

}  // namespace

const std::vector<Planted> kWgmma = {
    {"wgmma_swizzle", "wrong-swizzle", wgmma_swizzle, false},
    {"wgmma_unwaited_copy", "uninitialized-shared", wgmma_unwaited_copy, false},
    {"wgmma_early", "pending-register", wgmma_early, false},
    {"wgmma_box_refused", "trap", wgmma_box_refused, false},
    {"wgmma_released_early", "shared-race", wgmma_released_early, false},
    {"wgmma_no_fence", "trap", wgmma_no_fence, false},
    {"wgmma_operand_rewritten", "pending-register", wgmma_operand_rewritten, false},
    {"wgmma_operand_unfenced", "trap", wgmma_operand_unfenced, false},
    {"wgmma_sum_unfenced", "trap", wgmma_sum_unfenced, false},
    {"wgmma_sum_in_group", "pending-register", wgmma_sum_in_group, false},
    {"wgmma_fragments_of_functions", "none", wgmma_fragments_of_functions, false},
    {"setmaxnreg_of_some", "trap", setmaxnreg_of_some, false},
    {"setmaxnreg_sum", "hang", setmaxnreg_sum, false},
    {"setmaxnreg_of_warp", "trap", setmaxnreg_of_warp, false},
    {"setmaxnreg_of_two_kinds", "trap", setmaxnreg_of_two_kinds, false},
    {"wgmma_no_proxy_fence", "missing-proxy-fence", wgmma_no_proxy_fence, false},
};
