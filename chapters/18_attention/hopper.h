/// \file
/// Hopper's instructions as this chapter uses them: barriers, boxes and products of a warpgroup. Chapter 17 explains them.
#pragma once

#include <cuda.h>
#include <cuda_runtime.h>

#include <cstdint>

#include "bf16.h"
#include "lab/lab.h"

/// Initializes a barrier for `arrivals` of each phase.
__device__ __forceinline__ void initialize(std::uint64_t* barrier, unsigned arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(address_of(barrier)), "r"(arrivals)
               : "memory");
}
/// The copy engine sees the barriers initialized.
__device__ __forceinline__ void barriers_are_initialized() {
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}
__device__ __forceinline__ void arrive(std::uint64_t* barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(address_of(barrier)) : "memory");
}
/// Arrives, and has the phase wait for so many bytes, too.
__device__ __forceinline__ void expect(std::uint64_t* barrier, unsigned bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(address_of(barrier)),
               "r"(bytes)
               : "memory");
}
/// Has the hardware arrive when all copies have landed that this thread has started so far.
__device__ __forceinline__ void arrive_when_copied(std::uint64_t* barrier) {
  asm volatile("cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%0];" ::"r"(address_of(barrier))
               : "memory");
}
/// Waits until a barrier has completed the phase of this parity.
__device__ __forceinline__ void wait_for(std::uint64_t* barrier, unsigned parity) {
  unsigned done = 0;
  while (!done) {
    asm volatile(
        "{\n.reg .pred p;\nmbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n"
        "selp.u32 %0, 1, 0, p;\n}"
        : "=r"(done)
        : "r"(address_of(barrier)), "r"(parity)
        : "memory");
  }
}

/// The tensor map of an array (heads, rows, d), for boxes of (1, height, 64) swizzled by 128 bytes. What lies behind a head's
/// rows is read as zeros, not as the next head's.
inline CUtensorMap tensor_map(const bf16* from, int heads, int rows, int d, int height) {
  void* entry = nullptr;
  cudaDriverEntryPointQueryResult found;
  CUDA_CHECK(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &entry, 12000,
                                              cudaEnableDefault, &found));
  CUDA_CHECK(found == cudaDriverEntryPointSuccess ? cudaSuccess : cudaErrorSymbolNotFound);
  const cuuint64_t size[] = {cuuint64_t(d), cuuint64_t(rows), cuuint64_t(heads)};
  const cuuint64_t pitch[] = {size[0] * sizeof(bf16), size[0] * size[1] * sizeof(bf16)};
  const cuuint32_t box[] = {64, cuuint32_t(height), 1}, steps[] = {1, 1, 1};
  CUtensorMap map;
  const CUresult made = reinterpret_cast<decltype(&cuTensorMapEncodeTiled)>(entry)(
      &map, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 3, const_cast<bf16*>(from), size, pitch, box, steps,
      CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B, CU_TENSOR_MAP_L2_PROMOTION_L2_256B,
      CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  CUDA_CHECK(made == CUDA_SUCCESS ? cudaSuccess : cudaErrorInvalidValue);
  return map;
}

/// Starts to copy a box of 64 columns from (head, row, col) on to shared memory; its bytes arrive at `full`.
__device__ __forceinline__ void load_box(std::uint32_t to, const CUtensorMap& map, int head,
                                         int row, int col, std::uint64_t* full) {
  asm volatile(
      "cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes "
      "[%0], [%1, {%2, %3, %4}], [%5];" ::"r"(to),
      "l"(&map), "r"(col), "r"(row), "r"(head), "r"(address_of(full))
      : "memory");
}

/// How wgmma finds a matrix that boxes of 64 columns have brought, swizzled by 128 bytes; eight rows are 1024 bytes.
///
/// @param strip  bytes from a box to the next; of no account where K runs along the rows
__device__ __forceinline__ std::uint64_t descriptor(std::uint32_t address, unsigned strip) {
  constexpr std::uint64_t swizzle_128 = std::uint64_t{1} << 62, rows8 = 1024;
  return (address & 0x3FFFF) >> 4 | std::uint64_t{strip >> 4} << 16 | rows8 >> 4 << 32 |
         swizzle_128;
}

/// Before the first wgmma of a group: the registers that it reads are written.
__device__ __forceinline__ void wgmma_fence() {
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}
__device__ __forceinline__ void wgmma_commit() {
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}
/// Waits until at most PENDING groups are not complete.
template <int PENDING>
__device__ __forceinline__ void wgmma_wait() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(PENDING) : "memory");
}
/// Keeps the compiler from using registers before the wait in front of this: to it, a wait writes none. No instruction.
template <int TILES>
__device__ __forceinline__ void are_ready(float (&d)[TILES][4]) {
#pragma unroll
  for (auto& four : d) {
#pragma unroll
    for ([[maybe_unused]] float& sum : four) asm volatile("" : "+f"(sum)::"memory");
  }
}

// A thread's sums as operands of an asm statement: four, and those of eight tiles from `i` on.
#define SUMS_OF_1(d, i) "+f"((d)[i][0]), "+f"((d)[i][1]), "+f"((d)[i][2]), "+f"((d)[i][3])
#define SUMS_OF_2(d, i) SUMS_OF_1(d, i), SUMS_OF_1(d, (i) + 1)
#define SUMS_OF_4(d, i) SUMS_OF_2(d, i), SUMS_OF_2(d, (i) + 2)
#define SUMS_OF_8(d, i) SUMS_OF_4(d, i), SUMS_OF_4(d, (i) + 4)

/// d += A B by a warpgroup, or d = A B: A (64, 16) and B (16, 64) in shared memory, both with K contiguous.
__device__ __forceinline__ void wgmma(float (&d)[8][4], std::uint64_t a, std::uint64_t b,
                                      bool add) {
  asm volatile(
      "{\n.reg .pred p;\nsetp.ne.b32 p, %34, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 {"
      "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, "
      "%20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31}, "
      "%32, %33, p, 1, 1, 0, 0;\n}"
      : SUMS_OF_8(d, 0)
      : "l"(a), "l"(b), "r"(static_cast<int>(add)));
}

/// d += A B by a warpgroup, or d = A B: A (64, 16) and B (16, 128) in shared memory, both with K contiguous.
__device__ __forceinline__ void wgmma(float (&d)[16][4], std::uint64_t a, std::uint64_t b,
                                      bool add) {
  asm volatile(
      "{\n.reg .pred p;\nsetp.ne.b32 p, %66, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16 {"
      "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, "
      "%20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, %32, %33, %34, %35, %36, %37, "
      "%38, %39, %40, %41, %42, %43, %44, %45, %46, %47, %48, %49, %50, %51, %52, %53, %54, %55, "
      "%56, %57, %58, %59, %60, %61, %62, %63}, "
      "%64, %65, p, 1, 1, 0, 0;\n}"
      : SUMS_OF_8(d, 0), SUMS_OF_8(d, 8)
      : "l"(a), "l"(b), "r"(static_cast<int>(add)));
}

/// The same for N = 64 where A is in registers, four a thread as for mma.sync, and B (16, 64) has its columns contiguous.
__device__ __forceinline__ void wgmma(float (&d)[8][4], const std::uint32_t (&a)[4],
                                      std::uint64_t b, bool add) {
  asm volatile(
      "{\n.reg .pred p;\nsetp.ne.b32 p, %37, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 {"
      "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, "
      "%20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31}, "
      "{%32, %33, %34, %35}, %36, p, 1, 1, 1;\n}"
      : SUMS_OF_8(d, 0)
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(static_cast<int>(add)));
}

/// The same for N = 128 where A is in registers, four a thread as for mma.sync, and B (16, 128) has its columns contiguous.
__device__ __forceinline__ void wgmma(float (&d)[16][4], const std::uint32_t (&a)[4],
                                      std::uint64_t b, bool add) {
  asm volatile(
      "{\n.reg .pred p;\nsetp.ne.b32 p, %69, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16 {"
      "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, "
      "%20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, %32, %33, %34, %35, %36, %37, "
      "%38, %39, %40, %41, %42, %43, %44, %45, %46, %47, %48, %49, %50, %51, %52, %53, %54, %55, "
      "%56, %57, %58, %59, %60, %61, %62, %63}, "
      "{%64, %65, %66, %67}, %68, p, 1, 1, 1;\n}"
      : SUMS_OF_8(d, 0), SUMS_OF_8(d, 8)
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(static_cast<int>(add)));
}

/// A place in a ring of SLOTS slots, and the parity of the phase that it is used for.
template <int SLOTS>
struct Slot {
  int at = 0;
  unsigned parity = 0;
  __device__ __forceinline__ void advance() {
    if (++at == SLOTS) at = 0, parity ^= 1;
  }
};
