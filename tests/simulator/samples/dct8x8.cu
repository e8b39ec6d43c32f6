// The discrete cosine transform of an image's blocks of 8 x 8 pixels, and back.
#include <cmath>
#include <cstdio>
#include <vector>

constexpr int kSide = 8;
__constant__ float basis[kSide][kSide];  // [frequency][position]

// Blocks of 8 x 8 threads; forward: C * X * C', backward: C' * X * C.
template <bool forward>
__global__ void transform(int columns, const float* in, float* out) {
  __shared__ float block[kSide][kSide + 1], half[kSide][kSide + 1];
  const int x = threadIdx.x, y = threadIdx.y;
  const int place = (blockIdx.y * kSide + y) * columns + blockIdx.x * kSide + x;
  block[y][x] = in[place];
  __syncthreads();
  float sum = 0;
  for (int i = 0; i < kSide; ++i) sum += (forward ? basis[y][i] : basis[i][y]) * block[i][x];
  half[y][x] = sum;
  __syncthreads();
  sum = 0;
  for (int i = 0; i < kSide; ++i) sum += half[y][i] * (forward ? basis[x][i] : basis[i][x]);
  out[place] = sum;
}

int main() {
  constexpr int rows = 48, columns = 64;
  const double pi = std::acos(-1.0);
  double cosines[kSide][kSide];
  float rounded[kSide][kSide];
  for (int f = 0; f < kSide; ++f) {
    for (int i = 0; i < kSide; ++i) {
      cosines[f][i] = std::sqrt((f ? 2.0 : 1.0) / kSide) * std::cos(pi * (2 * i + 1) * f / 16);
      rounded[f][i] = static_cast<float>(cosines[f][i]);
    }
  }
  std::vector<float> image(rows * columns), frequencies(rows * columns), back(rows * columns);
  for (int i = 0; i < rows * columns; ++i) image[i] = (i * 31 + i / columns * 17) % 256;
  float *in, *out;
  const size_t bytes = image.size() * sizeof(float);
  cudaMalloc(&in, bytes);
  cudaMalloc(&out, bytes);
  cudaMemcpyToSymbol(basis, rounded, sizeof(rounded));
  cudaMemcpy(in, image.data(), bytes, cudaMemcpyHostToDevice);
  const dim3 grid(columns / kSide, rows / kSide), block(kSide, kSide);
  transform<true><<<grid, block>>>(columns, in, out);
  cudaMemcpy(frequencies.data(), out, bytes, cudaMemcpyDeviceToHost);
  transform<false><<<grid, block>>>(columns, out, in);
  cudaMemcpy(back.data(), in, bytes, cudaMemcpyDeviceToHost);

  int wrong = 0;
  for (int row = 0; row < rows; ++row) {
    for (int column = 0; column < columns; ++column) {
      const float* corner = &image[row / kSide * kSide * columns + column / kSide * kSide];
      double sum = 0;
      for (int i = 0; i < kSide * kSide; ++i) {
        sum += cosines[row % kSide][i / kSide] * cosines[column % kSide][i % kSide] *
               corner[i / kSide * columns + i % kSide];
      }
      const int place = row * columns + column;
      wrong += !(std::fabs(frequencies[place] - sum) <= 1e-2);
      wrong += !(std::fabs(back[place] - image[place]) <= 1e-2f);
    }
  }
  std::printf("dct8x8: %s (%d wrong)\n", wrong ? "FAILED" : "ok", wrong);
  cudaFree(in);
  cudaFree(out);
  return wrong != 0;
}
