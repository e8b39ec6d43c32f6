// # Reads for each multiply-add
//
// Kind: predict
// Level: 5
// Minutes: 8
//
// A thread computes a tile of TM x TN sums. In each step along K it reads TM elements of A and TN
// of B from shared memory into registers, and makes TM x TN multiply-adds. The kernel below does
// that for 32 steps, with one warp. Count its shared load requests; an instruction that reads a
// `float4` is one request, a `float` is one, too.

#include <cuda_runtime.h>

constexpr int kSteps = 32;

template <int TM, int TN>
__global__ void scalars(float* out) {
  __shared__ float a[kSteps][TM], b[kSteps][32 * TN];
  for (int i = threadIdx.x; i < kSteps * TM; i += 32) a[0][i] = 1;
  for (int i = threadIdx.x; i < kSteps * 32 * TN; i += 32) b[0][i] = 2;
  __syncwarp();
  float sums[TM][TN] = {};
  for (int s = 0; s < kSteps; ++s) {
    float from_a[TM], from_b[TN];
    for (int i = 0; i < TM; ++i) from_a[i] = a[s][i];
    for (int j = 0; j < TN; ++j) from_b[j] = b[s][threadIdx.x + 32 * j];
    for (int i = 0; i < TM; ++i) {
      for (int j = 0; j < TN; ++j) sums[i][j] += from_a[i] * from_b[j];
    }
  }
  for (int i = 0; i < TM; ++i) {
    for (int j = 0; j < TN; ++j) out[(i * TN + j) * 32 + threadIdx.x] = sums[i][j];
  }
}

#ifdef SOLUTION
// Shared load requests of scalars<1, 1>, scalars<4, 1>, scalars<4, 4> and scalars<8, 8>.
constexpr int kReads1x1 = 64;
constexpr int kReads4x1 = 160;
constexpr int kReads4x4 = 256;
constexpr int kReads8x8 = 512;
// Multiply-adds for each shared load request of scalars<8, 8>, counting a warp's instructions.
constexpr int kFmasPerRead8x8 = 4;
// If scalars<8, 8> read float4 wherever it reads four neighbours (and its columns were
// neighbours): shared load requests.
constexpr int kReads8x8Float4 = 128;
#else
// Shared load requests of scalars<1, 1>, scalars<4, 1>, scalars<4, 4> and scalars<8, 8>.
constexpr int kReads1x1 = -1;  // TODO
constexpr int kReads4x1 = -1;  // TODO
constexpr int kReads4x4 = -1;  // TODO
constexpr int kReads8x8 = -1;  // TODO
// Multiply-adds for each shared load request of scalars<8, 8>, counting a warp's instructions.
constexpr int kFmasPerRead8x8 = -1;  // TODO
// If scalars<8, 8> read float4 wherever it reads four neighbours (and its columns were
// neighbours): shared load requests.
constexpr int kReads8x8Float4 = -1;  // TODO
#endif
