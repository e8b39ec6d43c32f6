// # Chapter 07: The form of a chapter about products
//
// Question: Does a chapter with products run as its header says?
// Builds on: nothing
// Kind: gemm
// Size gpu: 300,200,100
// Size simulator: 70,45,33
// Run: ./learn run 07
//   ./learn run 07 --rung cublas       the vendor's library                  [needs cublas]
//   ./learn run 07 --rung one_each     a thread for each element
//   ./learn run 07 --rung strips       dynamic shared memory, of any depth
//   ./learn run 07 --rung flat         a launch of its own
//   ./learn run 07 --rung unwritten    reads shared memory that nobody wrote [raises uninitialized-shared]
//   ./learn run 07 --rung registered   an own file, and a chapter's rung     [needs sm_90]
//   ./learn run 07 --rung elsewhere    an own file                           [needs sm_90a, cuda 12.9]

#include <cuda_runtime.h>

#include "lab/lab.h"

/// C = alpha A B + beta C, a thread for each element.
__global__ void one_each(int m, int n, int k, float alpha, const float* a, int lda, const float* b,
                         int ldb, float beta, float* c, int ldc) {
  const int row = static_cast<int>(blockIdx.y * blockDim.y + threadIdx.y);
  const int col = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (row >= m || col >= n) return;
  float sum = 0;
  for (int l = 0; l < k; ++l) sum += a[size_t(row) * lda + l] * b[size_t(l) * ldb + col];
  float& out = c[size_t(row) * ldc + col];
  out = beta == 0 ? alpha * sum : alpha * sum + beta * out;
}

/// The same; a warp for each 32 columns of a row, the row of A in shared memory, `dynamic` floats at a time.
template <int depth, bool filled = true>
__global__ void strips(int m, int n, int k, float alpha, const float* a, int lda, const float* b,
                       int ldb, float beta, float* c, int ldc) {
  extern __shared__ float strip[];  // (depth)
  const int row = static_cast<int>(blockIdx.y), lane = static_cast<int>(threadIdx.x);
  const int col = static_cast<int>(blockIdx.x) * 32 + lane;
  float sum = 0;
  for (int k0 = 0; k0 < k; k0 += depth) {
    __syncthreads();
    for (int l = lane; filled && l < depth && k0 + l < k; l += 32)
      strip[l] = a[size_t(row) * lda + k0 + l];
    __syncthreads();
    if (col >= n) continue;
    for (int l = 0; l < depth && k0 + l < k; ++l) sum += strip[l] * b[size_t(k0 + l) * ldb + col];
  }
  if (row >= m || col >= n) return;
  float& out = c[size_t(row) * ldc + col];
  out = beta == 0 ? alpha * sum : alpha * sum + beta * out;
}

/// The same; thread i computes the i-th element, counted along the rows.
__global__ void flat(int m, int n, int k, float alpha, const float* a, int lda, const float* b,
                     int ldb, float beta, float* c, int ldc) {
  const size_t i = size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i >= size_t(m) * n) return;
  const size_t row = i / n, col = i % n;
  float sum = 0;
  for (int l = 0; l < k; ++l) sum += a[row * lda + l] * b[size_t(l) * ldb + col];
  float& out = c[row * ldc + col];
  out = beta == 0 ? alpha * sum : alpha * sum + beta * out;
}

int main(int argc, char** argv) {
  return lab::run(argc, argv, [](lab::GemmLadder& ladder) {
    ladder.add("flat", [](const lab::Gemm& g) {
      flat<<<lab::tiles(size_t(g.m) * g.n, 128), 128>>>(g.m, g.n, g.k, g.alpha, g.a, g.lda, g.b,
                                                        g.ldb, g.beta, g.c, g.ldc);
    });
    ladder.add("one_each", one_each, {.rows = 8, .cols = 32, .threads = {32, 8}});
    // 60 KiB are more than a block has without asking.
    ladder.sweep("strips", {{"depth=16", strips<16>, {1, 32, 32, 16 * sizeof(float)}},
                            {"depth=15360", strips<15360>, {1, 32, 32, 15360 * sizeof(float)}}});
    ladder.demonstrate("unwritten", strips<16, false>, {1, 32, 32, 16 * sizeof(float)});
    ladder.add_with([](lab::Ladder& plain) { lab::add_others(plain); });
    lab::add_others(ladder);
  });
}
