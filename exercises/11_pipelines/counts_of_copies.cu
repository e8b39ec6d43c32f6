// # What the copies cost
//
// Kind: predict
// Level: 4
// Minutes: 8
//
// Three kernels bring the same 4,096 bytes from global to shared memory, with one block of 256
// threads: by way of registers, one float per load; with `cp.async` in pieces of 4 bytes; and with
// `cp.async` in pieces of 16 bytes. Write down the counts; a warp instruction of `cp.async` counts
// as a load from global memory, and as no store to shared memory.

#include <cuda_pipeline.h>
#include <cuda_runtime.h>

__global__ void by_registers(const float* x, float* out) {
  __shared__ alignas(16) float tile[1024];
  for (int i = threadIdx.x; i < 1024; i += 256) tile[i] = x[i];
  __syncthreads();
  out[threadIdx.x] = tile[threadIdx.x];
}

__global__ void by_4_bytes(const float* x, float* out) {
  __shared__ alignas(16) float tile[1024];
  for (int i = threadIdx.x; i < 1024; i += 256) __pipeline_memcpy_async(&tile[i], &x[i], 4);
  __pipeline_commit();
  __pipeline_wait_prior(0);
  __syncthreads();
  out[threadIdx.x] = tile[threadIdx.x];
}

__global__ void by_16_bytes(const float* x, float* out) {
  __shared__ alignas(16) float tile[1024];
  __pipeline_memcpy_async(&tile[4 * threadIdx.x], &x[4 * threadIdx.x], 16);
  __pipeline_commit();
  __pipeline_wait_prior(0);
  __syncthreads();
  out[threadIdx.x] = tile[threadIdx.x];
}

#ifdef SOLUTION
// Global load requests of each.
constexpr int kRequestsByRegisters = 32;
constexpr int kRequestsBy4Bytes = 32;
constexpr int kRequestsBy16Bytes = 8;
// Shared store requests of by_registers and of by_16_bytes.
constexpr int kStoresByRegisters = 32;
constexpr int kStoresBy16Bytes = 0;
// Sectors of the loads of by_16_bytes.
constexpr int kSectorsBy16Bytes = 128;
#else
// Global load requests of each.
constexpr int kRequestsByRegisters = -1;  // TODO
constexpr int kRequestsBy4Bytes = -1;     // TODO
constexpr int kRequestsBy16Bytes = -1;    // TODO
// Shared store requests of by_registers and of by_16_bytes.
constexpr int kStoresByRegisters = -1;  // TODO
constexpr int kStoresBy16Bytes = -1;    // TODO
// Sectors of the loads of by_16_bytes.
constexpr int kSectorsBy16Bytes = -1;  // TODO
#endif
