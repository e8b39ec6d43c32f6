// Matrix times vector, softmax and normalisation: a row per thread, per warp, per block.
#include <algorithm>

#include "program.h"

__global__ void matvec_thread(const float* A, const float* x, float* y, int rows, int columns) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  float sum = 0.0f;
  for (int c = 0; c < columns; ++c) sum += A[row * columns + c] * x[c];
  y[row] = sum;
}

__global__ void matvec_transposed(const float* A, const float* x, float* y, int rows, int columns) {
  int c = blockIdx.x * blockDim.x + threadIdx.x;
  if (c >= columns) return;
  float sum = 0.0f;
  for (int r = 0; r < rows; ++r) sum += A[r * columns + c] * x[r];
  y[c] = sum;
}

__global__ void matvec_warp(const float* A, const float* x, float* y, int rows, int columns) {
  int warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
  int lane = threadIdx.x & 31;
  if (warp >= rows) return;
  float sum = 0.0f;
  for (int c = lane; c < columns; c += 32) sum += A[warp * columns + c] * x[c];
  for (int mask = 16; mask > 0; mask /= 2) sum += __shfl_xor_sync(0xffffffff, sum, mask);
  if (lane == 0) y[warp] = sum;
}

__global__ void matvec_shared_x(const float* A, const float* x, float* y, int rows, int columns) {
  __shared__ float xs[128];
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0.0f;
  for (int c0 = 0; c0 < columns; c0 += blockDim.x) {
    if (c0 + threadIdx.x < columns) xs[threadIdx.x] = x[c0 + threadIdx.x];
    __syncthreads();
    if (row < rows) {
      int end = min((int)blockDim.x, columns - c0);
      for (int c = 0; c < end; ++c) sum += A[row * columns + c0 + c] * xs[c];
    }
    __syncthreads();
  }
  if (row < rows) y[row] = sum;
}

__global__ void softmax_thread(const float* in, float* out, int rows, int columns) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  const float* x = in + row * columns;
  float* y = out + row * columns;
  float largest = -INFINITY;
  for (int c = 0; c < columns; ++c) largest = fmaxf(largest, x[c]);
  float sum = 0.0f;
  for (int c = 0; c < columns; ++c) {
    y[c] = expf(x[c] - largest);
    sum += y[c];
  }
  for (int c = 0; c < columns; ++c) y[c] /= sum;
}

__global__ void softmax_block(const float* in, float* out, int columns) {
  extern __shared__ float shared[];
  int t = threadIdx.x, size = blockDim.x;
  const float* x = in + blockIdx.x * columns;
  float* y = out + blockIdx.x * columns;
  float largest = -INFINITY;
  for (int c = t; c < columns; c += size) largest = fmaxf(largest, x[c]);
  shared[t] = largest;
  __syncthreads();
  for (int s = size / 2; s >= 1; s /= 2) {
    if (t < s) shared[t] = fmaxf(shared[t], shared[t + s]);
    __syncthreads();
  }
  largest = shared[0];
  __syncthreads();
  float sum = 0.0f;
  for (int c = t; c < columns; c += size) {
    float e = expf(x[c] - largest);
    y[c] = e;
    sum += e;
  }
  shared[t] = sum;
  __syncthreads();
  for (int s = size / 2; s >= 1; s /= 2) {
    if (t < s) shared[t] += shared[t + s];
    __syncthreads();
  }
  sum = shared[0];
  for (int c = t; c < columns; c += size) y[c] = y[c] / sum;
}

__device__ float warp_max(float v) {
  for (int d = 16; d > 0; d /= 2) v = fmaxf(v, __shfl_xor_sync(0xffffffff, v, d));
  return v;
}

__device__ float warp_add(float v) {
  for (int d = 16; d > 0; d /= 2) v += __shfl_xor_sync(0xffffffff, v, d);
  return v;
}

__global__ void softmax_warp(const float* in, float* out, int rows, int columns) {
  int row = blockIdx.x * blockDim.y + threadIdx.y;
  if (row >= rows) return;
  const float* x = in + row * columns;
  float largest = -INFINITY;
  for (int c = threadIdx.x; c < columns; c += 32) largest = fmaxf(largest, x[c]);
  largest = warp_max(largest);
  float sum = 0.0f;
  for (int c = threadIdx.x; c < columns; c += 32) sum += expf(x[c] - largest);
  sum = warp_add(sum);
  for (int c = threadIdx.x; c < columns; c += 32)
    out[row * columns + c] = expf(x[c] - largest) / sum;
}

__global__ void layernorm(const float* in, const float* gain, const float* bias, float* out,
                          int columns) {
  __shared__ float sums[4], squares[4];
  const float* x = in + blockIdx.x * columns;
  float sum = 0.0f, square = 0.0f;
  for (int c = threadIdx.x; c < columns; c += blockDim.x) {
    float v = x[c];
    sum += v;
    square += v * v;
  }
  sum = warp_add(sum);
  square = warp_add(square);
  if (threadIdx.x % 32 == 0) {
    sums[threadIdx.x / 32] = sum;
    squares[threadIdx.x / 32] = square;
  }
  __syncthreads();
  sum = square = 0.0f;
  for (int w = 0; w < 4; ++w) {
    sum += sums[w];
    square += squares[w];
  }
  float mean = sum / columns;
  float scale = rsqrtf(square / columns - mean * mean + 1e-5f);
  for (int c = threadIdx.x; c < columns; c += blockDim.x) {
    out[blockIdx.x * columns + c] = (x[c] - mean) * scale * gain[c] + bias[c];
  }
}

__global__ void column_sums(const float* in, float* out, int rows, int columns) {
  int c = blockIdx.x * blockDim.x + threadIdx.x;
  if (c < columns) {
    float sum = 0.0f;
    for (int r = blockIdx.y; r < rows; r += gridDim.y) sum += in[r * columns + c];
    atomicAdd(&out[c], sum);
  }
}

__global__ void outer_product(const float* x, const float* y, float* out, int rows, int columns) {
  int c = blockIdx.x * blockDim.x + threadIdx.x;
  int r = blockIdx.y * blockDim.y + threadIdx.y;
  if (r < rows && c < columns) out[r * columns + c] = x[r] * y[c];
}

__global__ void distances(const float2* points, float* out, int n) {
  __shared__ float2 tile[64];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float2 mine = i < n ? points[i] : make_float2(0.0f, 0.0f);
  float sum = 0.0f;
  for (int t = 0; t < n; t += 64) {
    if (t + threadIdx.x < n) tile[threadIdx.x] = points[t + threadIdx.x];
    __syncthreads();
    for (int k = 0; k < 64 && t + k < n; ++k) {
      float dx = tile[k].x - mine.x, dy = tile[k].y - mine.y;
      sum += sqrtf(dx * dx + dy * dy);
    }
    __syncthreads();
  }
  if (i < n) out[i] = sum;
}

__global__ void nbody(const float4* body, float3* force, int n) {
  extern __shared__ float4 near[];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float4 mine = body[i];
  float3 f = make_float3(0.0f, 0.0f, 0.0f);
  for (int t = 0; t < n; t += blockDim.x) {
    near[threadIdx.x] = body[t + threadIdx.x];
    __syncthreads();
    for (int k = 0; k < blockDim.x; ++k) {
      float4 other = near[k];
      float dx = other.x - mine.x, dy = other.y - mine.y, dz = other.z - mine.z;
      float inverse = rsqrtf(dx * dx + dy * dy + dz * dz + 0.01f);
      float s = other.w * inverse * inverse * inverse;
      f.x += dx * s;
      f.y += dy * s;
      f.z += dz * s;
    }
    __syncthreads();
  }
  force[i] = f;
}

int main() {
  const int rows = 90, columns = 150;
  const std::vector<float> data = random_floats(rows * columns), vector = random_floats(columns);
  Array<float> A(data), x(vector);
  {
    Array<float> y(rows), z(columns);
    const auto product = [&](size_t r) {
      float sum = 0;
      for (int c = 0; c < columns; ++c) sum += data[r * columns + c] * vector[c];
      return sum;
    };
    matvec_thread<<<3, 32>>>(A, x, y, rows, columns);
    expect("matvec_thread", y.host(), product, 1e-3);
    matvec_warp<<<23, 128>>>(A, x, y, rows, columns);
    expect("matvec_warp", y.host(), product, 1e-3);
    matvec_shared_x<<<1, 128>>>(A, x, y, rows, columns);
    expect("matvec_shared_x", y.host(), product, 1e-3);
    matvec_transposed<<<5, 32>>>(A, x, z, rows, columns);
    expect(
        "matvec_transposed", z.host(),
        [&](size_t c) {
          float sum = 0;
          for (int r = 0; r < rows; ++r) sum += data[r * columns + c] * vector[r];
          return sum;
        },
        1e-3);
  }
  {
    const auto softmax = [&](size_t i) {
      const float* row = &data[i / columns * columns];
      float sum = 0;
      for (int c = 0; c < columns; ++c) sum += std::exp(row[c]);
      return std::exp(data[i]) / sum;
    };
    Array<float> out(rows * columns);
    softmax_thread<<<3, 32>>>(A, out, rows, columns);
    expect("softmax_thread", out.host(), softmax);
    softmax_block<<<rows, 64, 64 * sizeof(float)>>>(A, out, columns);
    expect("softmax_block", out.host(), softmax);
    softmax_warp<<<30, dim3(32, 3)>>>(A, out, rows, columns);
    expect("softmax_warp", out.host(), softmax);
    layernorm<<<rows, 128>>>(A, x, x, out, columns);
    expect(
        "layernorm", std::vector<float>(1, out.host()[5]),
        [&](size_t) {
          double mean = 0, square = 0;
          for (int c = 0; c < columns; ++c) {
            mean += data[c] / columns;
            square += data[c] * data[c] / columns;
          }
          return (data[5] - mean) / std::sqrt(square - mean * mean + 1e-5) * vector[5] + vector[5];
        },
        1e-3);
  }
  {
    Array<float> sums(columns), table(rows * columns);
    column_sums<<<dim3(5, 4), 32>>>(A, sums, rows, columns);
    expect(
        "column_sums", sums.host(),
        [&](size_t c) {
          float sum = 0;
          for (int r = 0; r < rows; ++r) sum += data[r * columns + c];
          return sum;
        },
        1e-3);
    outer_product<<<dim3(10, 12), dim3(16, 8)>>>(A, x, table, rows, columns);
    expect("outer_product", table.host(),
           [&](size_t i) { return data[i / columns] * vector[i % columns]; });
  }
  {
    Array<float> far(200), force(3 * 128);
    distances<<<4, 64>>>((float2*)(float*)A, far, 200);
    expect(
        "distances", far.host(),
        [&](size_t i) {
          float sum = 0;
          for (int k = 0; k < 200; ++k) {
            sum += std::hypot(data[2 * k] - data[2 * i], data[2 * k + 1] - data[2 * i + 1]);
          }
          return sum;
        },
        1e-3);
    nbody<<<2, 64, 64 * sizeof(float4)>>>((float4*)(float*)A, (float3*)(float*)force, 128);
    expect(
        "nbody", std::vector<float>(1, force.host()[4]),
        [&](size_t) {
          double sum = 0;
          for (int k = 0; k < 128; ++k) {
            const double dx = data[4 * k] - data[4], dy = data[4 * k + 1] - data[5],
                         dz = data[4 * k + 2] - data[6];
            sum += dy * data[4 * k + 3] * std::pow(dx * dx + dy * dy + dz * dz + 0.01, -1.5);
          }
          return sum;
        },
        1e-2);
  }
  return finish();
}
