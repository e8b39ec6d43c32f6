// Faults of the matrix instructions of a warp.
#include <cuda_bf16.h>
#include <mma.h>

#include <cstdint>

#include "planted.h"

namespace {

namespace wmma = nvcuda::wmma;

__device__ unsigned shared_address(const void* p) {
  return static_cast<unsigned>(__cvta_generic_to_shared(p));
}

// A warp of which only some threads come.
__global__ void transpose_some(unsigned* out, unsigned n) {
  const unsigned t = threadIdx.x;
  if (t >= n) return;
  asm volatile("movmatrix.sync.aligned.m8n8.trans.b16 %0, %0;"  // fault: matrix_part_of_a_warp
               : "+r"(out[t]));
}
void matrix_part_of_a_warp(bool fixed) {
  OnDevice<unsigned> out(32);
  transpose_some<<<1, 32>>>(out.data(), fixed ? 32 : 20);
}

// Each lane names a row that other lanes have written.
__global__ void load_rows(const std::uint16_t* in, unsigned* out, bool waits, int pitch, int rows) {
  __shared__ __align__(16) std::uint16_t tile[32 * 8];
  const unsigned t = threadIdx.x;
  for (unsigned i = t; i < 8u * rows; i += 32) tile[i] = in[i];  // fault: ldmatrix_no_barrier
  if (waits) __syncwarp();
  unsigned a, b, c, d;
  asm volatile(
      "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"  // fault: ldmatrix_no_barrier // fault: ldmatrix_misaligned // fault: ldmatrix_past_end // fault: ldmatrix_unwritten
      : "=r"(a), "=r"(b), "=r"(c), "=r"(d)
      : "r"(shared_address(tile) + t * pitch));
  out[t] = a + b + c + d;
}
void ldmatrix_no_barrier(bool fixed) {
  OnDevice<std::uint16_t> in(256);
  OnDevice<unsigned> out(32);
  load_rows<<<1, 32>>>(in.data(), out.data(), fixed, 16, 32);
}
void ldmatrix_misaligned(bool fixed) {
  OnDevice<std::uint16_t> in(256);
  OnDevice<unsigned> out(32);
  load_rows<<<1, 32>>>(in.data(), out.data(), true, fixed ? 16 : 8, 32);
}
void ldmatrix_past_end(bool fixed) {
  OnDevice<std::uint16_t> in(256);
  OnDevice<unsigned> out(32);
  load_rows<<<1, 32>>>(in.data(), out.data(), true, fixed ? 16 : 32, 32);
}
void ldmatrix_unwritten(bool fixed) {
  OnDevice<std::uint16_t> in(256);
  OnDevice<unsigned> out(32);
  load_rows<<<1, 32>>>(in.data(), out.data(), true, 16, fixed ? 32 : 31);
}

__global__ void load_fragment(const __nv_bfloat16* in, float* out, unsigned pitch) {
  wmma::fragment<wmma::matrix_a, 16, 16, 16, __nv_bfloat16, wmma::row_major> a;
  wmma::load_matrix_sync(a, in, pitch);  // fault: wmma_pitch
  out[threadIdx.x] = static_cast<float>(a.x[0]);
}
void wmma_pitch(bool fixed) {
  OnDevice<__nv_bfloat16> in(16 * 24);
  OnDevice<float> out(32);
  load_fragment<<<1, 32>>>(in.data(), out.data(), fixed ? 24 : 20);
}

}  // namespace

const std::vector<Planted> kMatrices = {
    {"matrix_part_of_a_warp", "trap", matrix_part_of_a_warp, false},
    {"ldmatrix_no_barrier", "shared-race", ldmatrix_no_barrier, false},
    {"ldmatrix_misaligned", "misaligned-access", ldmatrix_misaligned, false},
    {"ldmatrix_past_end", "out-of-bounds", ldmatrix_past_end, false},
    {"ldmatrix_unwritten", "uninitialized-shared", ldmatrix_unwritten, false},
    {"wmma_pitch", "trap", wmma_pitch, false},
};
