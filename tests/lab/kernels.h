// The kernels of the tests of lab, as functions of the host that launch them: so the tests
// themselves are plain C++, and compile in a third of the time.
#pragma once

#include <cuda_runtime.h>

/// c = a + b. `count` elements are computed, from `first` on.
void add(int blocks, int threads, const float* a, const float* b, float* c, int first, int count);

/// Sets `count` elements from `first` on.
void set(int blocks, int threads, float* c, long first, int count, float value);

/// x = 2 x, in place.
void scale_in_place(int blocks, int threads, float* x, int count);

/// The same in a stream.
void scale_in_stream(cudaStream_t stream, float* x, int count);

/// What a product may do wrong.
enum class GemmFault {
  none,
  swapped_inputs,     ///< computes with the index of A transposed where that is within A
  ld_of_a_is_k,       ///< takes lda for k
  ld_of_c_is_n,       ///< takes ldc for n
  beta_ignored,       ///< C = alpha A B
  beta_times_nan,     ///< reads C although beta is 0
  alpha_ignored,      ///< C = A B + beta C
  last_k_left_out,    ///< one product too few where K is odd
  gap_written,        ///< writes the whole of C's rows, gaps and all
  aligned_rows_only,  ///< leaves out what lies in a row that a float4 cannot begin
};

/// C = alpha A B + beta C, with a fault.
void gemm(GemmFault fault, int m, int n, int k, float alpha, const float* a, int lda,
          const float* b, int ldb, float beta, float* c, int ldc);

/// `lab::update4` of the sums 1, 2, 3, 4 at c, which is aligned where c and ld are.
void update4(float* c, int there, int ld, float alpha, float beta);

/// What `lab::load4` loads from there.
void load4(float4* to, const float* from, int there, int ld);

/// Each of 64 threads reads what another thread of the block writes, with no barrier between.
void racy(float* c);

/// That, and a warning: of one warp more, which has exited before a barrier that the others reach.
void racy_without_all(float* c);

/// The warning alone.
void leave_before_barrier(float* c);
