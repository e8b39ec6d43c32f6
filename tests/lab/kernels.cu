#include <cuda_runtime.h>

#include "kernels.h"
#include "lab/vectors.h"

namespace {

__global__ void add_kernel(const float* a, const float* b, float* c, int first, int count) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < count) c[first + i] = a[first + i] + b[first + i];
}

__global__ void set_kernel(float* c, long first, int count, float value) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < count) c[first + i] = value;
}

__global__ void scale_kernel(float* x, int count) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < count) x[i] = 2 * x[i];
}

__global__ void racy_kernel(float* c) {
  __shared__ float tile[64];
  tile[threadIdx.x] = static_cast<float>(threadIdx.x);
  c[threadIdx.x] = tile[63 - threadIdx.x];
}

__global__ void racy_without_all_kernel(float* c) {
  __shared__ float tile[64];
  if (threadIdx.x >= 64) return;
  tile[threadIdx.x] = static_cast<float>(threadIdx.x);
  c[threadIdx.x] = tile[63 - threadIdx.x];
  __syncthreads();
}

__global__ void leave_kernel(float* c) {
  if (threadIdx.x >= 64) return;
  __syncthreads();
  c[threadIdx.x] = 0;
}

__global__ void update4_kernel(float* c, int there, int ld, float alpha, float beta) {
  const float4 sum = make_float4(1, 2, 3, 4);
  lab::update4(c, there, lab::aligned16(c, ld), alpha, sum, beta);
}

__global__ void load4_kernel(float4* to, const float* from, int there, int ld) {
  *to = lab::load4(from, there, lab::aligned16(from, ld));
}

__global__ void gemm_kernel(GemmFault fault, int m, int n, int k, float alpha, const float* a,
                            int lda, const float* b, int ldb, float beta, float* c, int ldc) {
  const int col = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  const int row = static_cast<int>(blockIdx.y);
  const long rowc = row;
  if (fault == GemmFault::ld_of_c_is_n) ldc = n;
  float* const out = c + rowc * ldc + col;
  if (col >= n) {
    // In the last row there is no gap: C ends there.
    if (fault == GemmFault::gap_written && col < ldc && row + 1 < m) *out = 0;
    return;
  }
  if (fault == GemmFault::ld_of_a_is_k) lda = k;
  if (fault == GemmFault::last_k_left_out) k -= k % 2;
  if (fault == GemmFault::aligned_rows_only && reinterpret_cast<unsigned long>(a) % 16 != 0) return;
  float sum = 0;
  for (int l = 0; l < k; ++l) {
    const bool swap = fault == GemmFault::swapped_inputs && l < m && row < k;
    sum += (swap ? a[static_cast<long>(l) * lda + row] : a[rowc * lda + l]) *
           b[static_cast<long>(l) * ldb + col];
  }
  if (fault != GemmFault::alpha_ignored) sum *= alpha;
  if (fault == GemmFault::beta_times_nan || (beta != 0 && fault != GemmFault::beta_ignored)) {
    sum += beta * *out;
  }
  *out = sum;
}

}  // namespace

void gemm(GemmFault fault, int m, int n, int k, float alpha, const float* a, int lda,
          const float* b, int ldb, float beta, float* c, int ldc) {
  gemm_kernel<<<dim3(static_cast<unsigned>(ldc + 63) / 64, static_cast<unsigned>(m)), 64>>>(
      fault, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}

void add(int blocks, int threads, const float* a, const float* b, float* c, int first, int count) {
  add_kernel<<<blocks, threads>>>(a, b, c, first, count);
}

void set(int blocks, int threads, float* c, long first, int count, float value) {
  set_kernel<<<blocks, threads>>>(c, first, count, value);
}

void scale_in_place(int blocks, int threads, float* x, int count) {
  scale_kernel<<<blocks, threads>>>(x, count);
}

void scale_in_stream(cudaStream_t stream, float* x, int count) {
  scale_kernel<<<1, 256, 0, stream>>>(x, count);
}

void update4(float* c, int there, int ld, float alpha, float beta) {
  update4_kernel<<<1, 1>>>(c, there, ld, alpha, beta);
}

void load4(float4* to, const float* from, int there, int ld) {
  load4_kernel<<<1, 1>>>(to, from, there, ld);
}

void racy(float* c) { racy_kernel<<<1, 64>>>(c); }

void racy_without_all(float* c) { racy_without_all_kernel<<<1, 96>>>(c); }

void leave_before_barrier(float* c) { leave_kernel<<<1, 96>>>(c); }
