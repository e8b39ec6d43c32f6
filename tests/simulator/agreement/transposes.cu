// Transposes: naive, tiled, padded, swizzled.
#include "program.h"

constexpr int TILE = 32, ROWS = 8;

__global__ void naive(const float* in, float* out, int width, int height) {
  int x = blockIdx.x * TILE + threadIdx.x;
  int y = blockIdx.y * TILE + threadIdx.y;
  for (int j = 0; j < TILE; j += ROWS) {
    if (x < width && y + j < height) out[x * height + y + j] = in[(y + j) * width + x];
  }
}

__global__ void naive_16(const float* in, float* out, int width, int height) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < width && y < height) out[x * height + y] = in[y * width + x];
}

template <int PAD>
__global__ void tiled(const float* in, float* out, int width, int height) {
  __shared__ float tile[TILE][TILE + PAD];
  int x = blockIdx.x * TILE + threadIdx.x;
  int y = blockIdx.y * TILE + threadIdx.y;
  for (int j = 0; j < TILE; j += ROWS) {
    if (x < width && y + j < height) tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * width + x];
  }
  __syncthreads();
  x = blockIdx.y * TILE + threadIdx.x;
  y = blockIdx.x * TILE + threadIdx.y;
  for (int j = 0; j < TILE; j += ROWS) {
    if (x < height && y + j < width) out[(y + j) * height + x] = tile[threadIdx.x][threadIdx.y + j];
  }
}

__global__ void swizzled(const float* in, float* out, int n) {
  __shared__ float tile[TILE][TILE];
  int x = blockIdx.x * TILE + threadIdx.x;
  int y = blockIdx.y * TILE + threadIdx.y;
  tile[threadIdx.y][threadIdx.x ^ threadIdx.y] = in[y * n + x];
  __syncthreads();
  x = blockIdx.y * TILE + threadIdx.x;
  y = blockIdx.x * TILE + threadIdx.y;
  out[y * n + x] = tile[threadIdx.x][threadIdx.y ^ threadIdx.x];
}

__global__ void swizzled_double(const double* in, double* out, int n) {
  __shared__ double tile[16][16];
  int x = blockIdx.x * 16 + threadIdx.x;
  int y = blockIdx.y * 16 + threadIdx.y;
  tile[threadIdx.y][threadIdx.x ^ threadIdx.y] = in[y * n + x];
  __syncthreads();
  x = blockIdx.y * 16 + threadIdx.x;
  y = blockIdx.x * 16 + threadIdx.y;
  out[y * n + x] = tile[threadIdx.x][threadIdx.y ^ threadIdx.x];
}

/// Eight rows of eight float4, each chunk at its column exclusive-or its row; read by columns of chunks.
__global__ void swizzled_chunks(const float4* in, float4* out) {
  __shared__ float4 tile[32 * 8];
  int row = threadIdx.x / 8, chunk = threadIdx.x % 8;
  tile[row * 8 + (chunk ^ (row % 8))] = in[threadIdx.x];
  __syncthreads();
  row = threadIdx.x % 32;
  chunk = threadIdx.x / 32;
  out[chunk * 32 + row] = tile[row * 8 + (chunk ^ (row % 8))];
}

__global__ void plain_chunks(const float4* in, float4* out) {
  __shared__ float4 tile[32 * 8];
  tile[threadIdx.x] = in[threadIdx.x];
  __syncthreads();
  int row = threadIdx.x % 32, chunk = threadIdx.x / 32;
  out[chunk * 32 + row] = tile[row * 8 + chunk];
}

__global__ void rotated(const float* in, float* out, int n) {
  __shared__ float tile[TILE * TILE];
  int x = blockIdx.x * TILE + threadIdx.x;
  int y = blockIdx.y * TILE + threadIdx.y;
  tile[threadIdx.y * TILE + (threadIdx.x + threadIdx.y) % TILE] = in[y * n + x];
  __syncthreads();
  x = blockIdx.y * TILE + threadIdx.x;
  y = blockIdx.x * TILE + threadIdx.y;
  out[y * n + x] = tile[threadIdx.x * TILE + (threadIdx.x + threadIdx.y) % TILE];
}

__global__ void short_tile(const short* in, short* out, int n) {
  __shared__ short tile[TILE][TILE + 2];
  int x = blockIdx.x * TILE + threadIdx.x;
  int y = blockIdx.y * TILE + threadIdx.y;
  tile[threadIdx.y][threadIdx.x] = in[y * n + x];
  __syncthreads();
  x = blockIdx.y * TILE + threadIdx.x;
  y = blockIdx.x * TILE + threadIdx.y;
  out[y * n + x] = tile[threadIdx.x][threadIdx.y];
}

int main() {
  const int width = 100, height = 70;
  const std::vector<float> data = random_floats(96 * 96);
  Array<float> in(data);
  const auto turned = [&](size_t i) { return data[i % height * width + i / height]; };
  const dim3 grid((width + TILE - 1) / TILE, (height + TILE - 1) / TILE);
  {
    Array<float> a(width * height), b(width * height), c(width * height), d(width * height);
    naive<<<grid, dim3(TILE, ROWS)>>>(in, a, width, height);
    expect("naive", a.host(), turned);
    naive_16<<<dim3(7, 5), dim3(16, 16)>>>(in, b, width, height);
    expect("naive_16", b.host(), turned);
    tiled<0><<<grid, dim3(TILE, ROWS)>>>(in, c, width, height);
    expect("tiled<0>", c.host(), turned);
    tiled<1><<<grid, dim3(TILE, ROWS)>>>(in, d, width, height);
    expect("tiled<1>", d.host(), turned);
  }
  const int n = 96;
  const auto square = [&](size_t i) { return data[i % n * n + i / n]; };
  {
    Array<float> a(n * n), b(n * n);
    swizzled<<<dim3(3, 3), dim3(TILE, TILE)>>>(in, a, n);
    expect("swizzled", a.host(), square);
    rotated<<<dim3(3, 3), dim3(TILE, TILE)>>>(in, b, n);
    expect("rotated", b.host(), square);
    Array<double> from(std::vector<double>(data.begin(), data.end())), to(n * n);
    swizzled_double<<<dim3(6, 6), dim3(16, 16)>>>(from, to, n);
    expect("swizzled_double", to.host(), square);
    std::vector<short> numbers(n * n);
    for (int i = 0; i < n * n; ++i) numbers[i] = (short)i;
    Array<short> shorts(numbers), flipped(n * n);
    short_tile<<<dim3(3, 3), dim3(TILE, TILE)>>>(shorts, flipped, n);
    expect("short_tile", flipped.host(), [&](size_t i) { return numbers[i % n * n + i / n]; });
  }
  {
    Array<float> a(1024), b(1024);
    const auto chunk = [&](size_t i) { return data[(i / 4 % 32 * 8 + i / 128) * 4 + i % 4]; };
    swizzled_chunks<<<1, 256>>>((float4*)(float*)in, (float4*)(float*)a);
    expect("swizzled_chunks", a.host(), chunk);
    plain_chunks<<<1, 256>>>((float4*)(float*)in, (float4*)(float*)b);
    expect("plain_chunks", b.host(), chunk);
  }
  return finish();
}
