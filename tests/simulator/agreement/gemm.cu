// Matrix products, C = A B: naive, coalesced, tiled in shared memory and in registers.
#include "program.h"

__global__ void gemm_column_per_x(int M, int N, int K, const float* A, const float* B, float* C) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  const int col = blockIdx.y * blockDim.y + threadIdx.y;
  if (row < M && col < N) {
    float sum = 0.0f;
    for (int k = 0; k < K; ++k) sum += A[row * K + k] * B[k * N + col];
    C[row * N + col] = sum;
  }
}

__global__ void gemm_coalesced(int M, int N, int K, const float* A, const float* B, float* C) {
  const int col = blockIdx.x * blockDim.x + threadIdx.x;
  const int row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row < M && col < N) {
    float sum = 0.0f;
    for (int k = 0; k < K; ++k) sum += A[row * K + k] * B[k * N + col];
    C[row * N + col] = sum;
  }
}

template <int TILE>
__global__ void gemm_tiled(int M, int N, int K, const float* A, const float* B, float* C) {
  __shared__ float As[TILE][TILE];
  __shared__ float Bs[TILE][TILE];
  const int tx = threadIdx.x, ty = threadIdx.y;
  const int row = blockIdx.y * TILE + ty, col = blockIdx.x * TILE + tx;
  float sum = 0.0f;
  for (int t = 0; t < (K + TILE - 1) / TILE; ++t) {
    As[ty][tx] = row < M && t * TILE + tx < K ? A[row * K + t * TILE + tx] : 0.0f;
    Bs[ty][tx] = col < N && t * TILE + ty < K ? B[(t * TILE + ty) * N + col] : 0.0f;
    __syncthreads();
    for (int k = 0; k < TILE; ++k) sum += As[ty][k] * Bs[k][tx];
    __syncthreads();
  }
  if (row < M && col < N) C[row * N + col] = sum;
}

/// B's tile is kept transposed, with or without a pad.
template <int PAD>
__global__ void gemm_transposed_tile(int N, const float* A, const float* B, float* C) {
  __shared__ float As[16][16];
  __shared__ float Bs[16][16 + PAD];
  const int tx = threadIdx.x, ty = threadIdx.y;
  const int row = blockIdx.y * 16 + ty, col = blockIdx.x * 16 + tx;
  float sum = 0.0f;
  for (int t = 0; t < N; t += 16) {
    As[ty][tx] = A[row * N + t + tx];
    Bs[tx][ty] = B[(t + ty) * N + col];
    __syncthreads();
#pragma unroll 1
    for (int k = 0; k < 16; ++k) sum += As[ty][k] * Bs[tx][k];
    __syncthreads();
  }
  C[row * N + col] = sum;
}

/// Each thread computes TM results of a column.
template <int BM, int BN, int BK, int TM>
__global__ void gemm_1d_tile(int M, int N, int K, const float* A, const float* B, float* C) {
  __shared__ float As[BM * BK];
  __shared__ float Bs[BK * BN];
  const int threadCol = threadIdx.x % BN;
  const int threadRow = threadIdx.x / BN;
  A += blockIdx.y * BM * K;
  B += blockIdx.x * BN;
  C += blockIdx.y * BM * N + blockIdx.x * BN;
  const int innerColA = threadIdx.x % BK, innerRowA = threadIdx.x / BK;
  const int innerColB = threadIdx.x % BN, innerRowB = threadIdx.x / BN;
  float results[TM] = {0.0f};
  for (int bk = 0; bk < K; bk += BK) {
    As[innerRowA * BK + innerColA] = A[innerRowA * K + innerColA];
    Bs[innerRowB * BN + innerColB] = B[innerRowB * N + innerColB];
    __syncthreads();
    A += BK;
    B += BK * N;
    for (int dot = 0; dot < BK; ++dot) {
      float b = Bs[dot * BN + threadCol];
      for (int r = 0; r < TM; ++r) results[r] += As[(threadRow * TM + r) * BK + dot] * b;
    }
    __syncthreads();
  }
  for (int r = 0; r < TM; ++r) C[(threadRow * TM + r) * N + threadCol] = results[r];
}

/// Each thread computes TM x TN results; A's tile is kept transposed; loads by float4.
template <int BM, int BN, int BK, int TM, int TN>
__global__ void gemm_2d_tile(int M, int N, int K, float* A, float* B, float* C) {
  __shared__ __align__(16) float As[BK * BM];
  __shared__ __align__(16) float Bs[BK * BN];
  const int threadCol = threadIdx.x % (BN / TN), threadRow = threadIdx.x / (BN / TN);
  A += blockIdx.y * BM * K;
  B += blockIdx.x * BN;
  C += blockIdx.y * BM * N + blockIdx.x * BN;
  const int innerRowA = threadIdx.x / (BK / 4), innerColA = threadIdx.x % (BK / 4);
  const int innerRowB = threadIdx.x / (BN / 4), innerColB = threadIdx.x % (BN / 4);
  float results[TM * TN] = {0.0f};
  float regM[TM], regN[TN];
  for (int bk = 0; bk < K; bk += BK) {
    float4 tmp = reinterpret_cast<float4*>(&A[innerRowA * K + innerColA * 4])[0];
    As[(innerColA * 4 + 0) * BM + innerRowA] = tmp.x;
    As[(innerColA * 4 + 1) * BM + innerRowA] = tmp.y;
    As[(innerColA * 4 + 2) * BM + innerRowA] = tmp.z;
    As[(innerColA * 4 + 3) * BM + innerRowA] = tmp.w;
    reinterpret_cast<float4*>(&Bs[innerRowB * BN + innerColB * 4])[0] =
        reinterpret_cast<float4*>(&B[innerRowB * N + innerColB * 4])[0];
    __syncthreads();
    A += BK;
    B += BK * N;
    for (int dot = 0; dot < BK; ++dot) {
      for (int i = 0; i < TM; ++i) regM[i] = As[dot * BM + threadRow * TM + i];
      for (int i = 0; i < TN; ++i) regN[i] = Bs[dot * BN + threadCol * TN + i];
      for (int m = 0; m < TM; ++m) {
        for (int n = 0; n < TN; ++n) results[m * TN + n] += regM[m] * regN[n];
      }
    }
    __syncthreads();
  }
  for (int m = 0; m < TM; ++m) {
    for (int n = 0; n < TN; n += 4) {
      float4 v;
      v.x = results[m * TN + n];
      v.y = results[m * TN + n + 1];
      v.z = results[m * TN + n + 2];
      v.w = results[m * TN + n + 3];
      reinterpret_cast<float4*>(&C[(threadRow * TM + m) * N + threadCol * TN + n])[0] = v;
    }
  }
}

/// The same tile with every shared read written as a float4.
__global__ void gemm_float4_reads(int N, const float4* A, const float4* B, float4* C) {
  __shared__ float4 As[16][4];   // 16 rows of 16 floats
  __shared__ float4 Bs[16][16];  // 16 rows of 64 floats
  const int t = threadIdx.x;     // 64 threads: 4 rows of 16
  const int tx = t % 16, ty = t / 16;
  float4 sum[4] = {};
  for (int k0 = 0; k0 < N; k0 += 16) {
    As[t / 4][t % 4] = A[(blockIdx.y * 16 + t / 4) * (N / 4) + k0 / 4 + t % 4];
    for (int r = ty; r < 16; r += 4) Bs[r][tx] = B[(k0 + r) * (N / 4) + blockIdx.x * 16 + tx];
    __syncthreads();
#pragma unroll 1
    for (int k = 0; k < 16; k += 4) {
      float4 b0 = Bs[k][tx], b1 = Bs[k + 1][tx], b2 = Bs[k + 2][tx], b3 = Bs[k + 3][tx];
      for (int r = 0; r < 4; ++r) {
        float4 a = As[ty * 4 + r][k / 4];
        sum[r].x += a.x * b0.x + a.y * b1.x + a.z * b2.x + a.w * b3.x;
        sum[r].y += a.x * b0.y + a.y * b1.y + a.z * b2.y + a.w * b3.y;
        sum[r].z += a.x * b0.z + a.y * b1.z + a.z * b2.z + a.w * b3.z;
        sum[r].w += a.x * b0.w + a.y * b1.w + a.z * b2.w + a.w * b3.w;
      }
    }
    __syncthreads();
  }
  for (int r = 0; r < 4; ++r) {
    C[(blockIdx.y * 16 + ty * 4 + r) * (N / 4) + blockIdx.x * 16 + tx] = sum[r];
  }
}

int main() {
  const int M = 50, N = 70, K = 45;
  const std::vector<float> a = random_floats(128 * 128), b = random_floats(128 * 128);
  Array<float> A(a), B(b);
  const auto product = [&](int n, int k) {
    return [&a, &b, n, k](size_t i) {
      float sum = 0;
      for (int j = 0; j < k; ++j) sum += a[i / n * k + j] * b[j * n + i % n];
      return sum;
    };
  };
  {
    Array<float> C(M * N), D(M * N), E(M * N), F(M * N);
    gemm_column_per_x<<<dim3(4, 5), dim3(16, 16)>>>(M, N, K, A, B, C);
    expect("gemm_column_per_x", C.host(), product(N, K), 1e-3);
    gemm_coalesced<<<dim3(3, 7), dim3(32, 8)>>>(M, N, K, A, B, D);
    expect("gemm_coalesced", D.host(), product(N, K), 1e-3);
    gemm_tiled<16><<<dim3(5, 4), dim3(16, 16)>>>(M, N, K, A, B, E);
    expect("gemm_tiled<16>", E.host(), product(N, K), 1e-3);
    gemm_tiled<32><<<dim3(3, 2), dim3(32, 32)>>>(M, N, K, A, B, F);
    expect("gemm_tiled<32>", F.host(), product(N, K), 1e-3);
  }
  {
    const int n = 64;
    Array<float> C(n * n), D(n * n), E(n * n), F(n * n), G(n * n);
    gemm_transposed_tile<0><<<dim3(4, 4), dim3(16, 16)>>>(n, A, B, C);
    expect("gemm_transposed_tile<0>", C.host(), product(n, n), 1e-3);
    gemm_transposed_tile<1><<<dim3(4, 4), dim3(16, 16)>>>(n, A, B, D);
    expect("gemm_transposed_tile<1>", D.host(), product(n, n), 1e-3);
    gemm_1d_tile<32, 32, 8, 4><<<dim3(2, 2), 256>>>(n, n, n, A, B, E);
    expect("gemm_1d_tile", E.host(), product(n, n), 1e-3);
    gemm_2d_tile<64, 64, 8, 4, 8><<<dim3(1, 1), 128>>>(n, n, n, A, B, F);
    expect("gemm_2d_tile", F.host(), product(n, n), 1e-3);
    gemm_float4_reads<<<dim3(1, 4), 64>>>(n, (float4*)(float*)A, (float4*)(float*)B,
                                          (float4*)(float*)G);
    expect("gemm_float4_reads", G.host(), product(n, n), 1e-3);
  }
  return finish();
}
