// What only a build for 9.0 has.
#include <cuda_runtime.h>

#include "lab/lab.h"

/// C = alpha A B + beta C, a thread for each element, in blocks of 1 x 32.
__global__ void elsewhere(int m, int n, int k, float alpha, const float* a, int lda, const float* b,
                          int ldb, float beta, float* c, int ldc) {
  const int row = static_cast<int>(blockIdx.y);
  const int col = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (row >= m || col >= n) return;
  float sum = 0;
  for (int l = 0; l < k; ++l) sum += a[size_t(row) * lda + l] * b[size_t(l) * ldb + col];
  float& out = c[size_t(row) * ldc + col];
  out = beta == 0 ? alpha * sum : alpha * sum + beta * out;
}

static const lab::Rungs here([](lab::GemmLadder& ladder) {
  ladder.add("elsewhere", elsewhere, {.rows = 1, .cols = 32, .threads = 32});
});
