// Walks over rows and columns of a tile in shared memory, at several widths and pads.
#include "program.h"

/// Each warp reads a column: lane i reads row i.
template <class T, int PITCH>
__global__ void column(const T* in, T* out) {
  __shared__ T tile[32][PITCH];
  for (int r = threadIdx.y; r < 32; r += blockDim.y) {
    if (threadIdx.x < PITCH) tile[r][threadIdx.x] = in[r * 32 + threadIdx.x];
  }
  __syncthreads();
  for (int c = threadIdx.y; c < 16; c += blockDim.y)
    out[c * 32 + threadIdx.x] = tile[threadIdx.x][c];
}

/// Each warp writes a column and reads rows.
template <class T, int PITCH>
__global__ void column_store(const T* in, T* out) {
  __shared__ T tile[32][PITCH];
  for (int c = threadIdx.y; c < 16; c += blockDim.y)
    tile[threadIdx.x][c] = in[c * 32 + threadIdx.x];
  __syncthreads();
  for (int r = threadIdx.y; r < 32; r += blockDim.y) {
    if (threadIdx.x < 16) out[r * 16 + threadIdx.x] = tile[r][threadIdx.x];
  }
}

/// Each thread adds up a row of its own.
template <int PITCH>
__global__ void row_sums(const float* in, float* out) {
  __shared__ float tile[64][PITCH];
  for (int i = threadIdx.x; i < 64 * 32; i += blockDim.x) tile[i / 32][i % 32] = in[i];
  __syncthreads();
  float sum = 0.0f;
  for (int c = 0; c < 32; ++c) sum += tile[threadIdx.x][c];
  out[threadIdx.x] = sum;
}

/// The pitch is known at run time only.
__global__ void row_sums_dynamic(const float* in, float* out, int columns, int pitch) {
  extern __shared__ float rows[];
  for (int i = threadIdx.x; i < blockDim.x * columns; i += blockDim.x) {
    rows[i / columns * pitch + i % columns] = in[i];
  }
  __syncthreads();
  float sum = 0.0f;
  for (int c = 0; c < columns; ++c) sum += rows[threadIdx.x * pitch + c];
  out[threadIdx.x] = sum;
}

/// Each thread adds up a row by float4.
template <int PITCH4>
__global__ void row_sums_float4(const float4* in, float* out) {
  __shared__ float4 tile[64][PITCH4];
  for (int i = threadIdx.x; i < 64 * 8; i += blockDim.x) tile[i / 8][i % 8] = in[i];
  __syncthreads();
  float sum = 0.0f;
  for (int c = 0; c < 8; ++c) {
    float4 v = tile[threadIdx.x][c];
    sum += v.x + v.y + v.z + v.w;
  }
  out[threadIdx.x] = sum;
}

/// A column in steps of a stride.
__global__ void strided(const float* in, float* out, int stride) {
  __shared__ float s[1024];
  for (int i = threadIdx.x; i < 1024; i += blockDim.x) s[i] = in[i];
  __syncthreads();
  out[threadIdx.x] = s[threadIdx.x * stride % 1024];
}

template <class T, int PITCH>
void columns_of(const char* name) {
  std::vector<T> data(32 * 32);
  for (int i = 0; i < 32 * 32; ++i) data[i] = (T)(i % 127);
  Array<T> in(data), out(16 * 32), stored(32 * 16);
  column<T, PITCH><<<1, dim3(32, 4)>>>(in, out);
  expect(name, out.host(), [&](size_t i) { return data[i % 32 * 32 + i / 32]; });
  column_store<T, PITCH><<<1, dim3(32, 4)>>>(in, stored);
  expect(name, stored.host(), [&](size_t i) { return data[i % 16 * 32 + i / 16]; });
}

int main() {
  columns_of<float, 32>("float, 32");
  columns_of<float, 33>("float, 33");
  columns_of<float, 36>("float, 36");
  columns_of<double, 32>("double, 32");
  columns_of<double, 33>("double, 33");
  columns_of<short, 32>("short, 32");
  columns_of<short, 34>("short, 34");
  columns_of<char, 32>("char, 32");
  columns_of<char, 36>("char, 36");
  const std::vector<float> data = random_floats(64 * 32);
  Array<float> in(data), out(64);
  const auto row = [&](size_t r) {
    float sum = 0;
    for (int c = 0; c < 32; ++c) sum += data[32 * r + c];
    return sum;
  };
  row_sums<32><<<1, 64>>>(in, out);
  expect("row_sums<32>", out.host(), row);
  row_sums<33><<<1, 64>>>(in, out);
  expect("row_sums<33>", out.host(), row);
  for (int pitch : {32, 33, 34, 40}) {
    row_sums_dynamic<<<1, 64, 64 * pitch * sizeof(float)>>>(in, out, 32, pitch);
    expect("row_sums_dynamic", out.host(), row);
  }
  row_sums_float4<8><<<1, 64>>>((float4*)(float*)in, out);
  expect("row_sums_float4<8>", out.host(), row);
  row_sums_float4<9><<<1, 64>>>((float4*)(float*)in, out);
  expect("row_sums_float4<9>", out.host(), row);
  for (int stride : {1, 3, 4, 16, 31}) {
    strided<<<1, 64>>>(in, out, stride);
    expect("strided", out.host(), [&](size_t i) { return data[i * stride % 1024]; });
  }
  return finish();
}
