// Copies: aligned, shifted, strided, of every width, with a ragged end.
#include "program.h"

__global__ void copy(const float* in, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i];
}

__global__ void copy_offset(const float* in, float* out, int n, int offset) {
  int i = blockIdx.x * blockDim.x + threadIdx.x + offset;
  if (i < n) out[i] = in[i];
}

__global__ void copy_stride(const float* in, float* out, int n, int stride) {
  int i = (blockIdx.x * blockDim.x + threadIdx.x) * stride;
  if (i < n) out[i] = in[i];
}

__global__ void copy_reversed(const float* __restrict__ in, float* __restrict__ out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  out[n - 1 - i] = in[i];
}

__global__ void copy_grid_stride(const float* __restrict__ in, float* __restrict__ out, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    out[i] = in[i];
  }
}

template <class T>
__global__ void copy_of(const T* in, T* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i];
}

__global__ void copy_4_per_thread(const float* in, float* out, int n) {
  int i = 4 * (blockIdx.x * blockDim.x + threadIdx.x);
  for (int k = 0; k < 4; ++k) {
    if (i + k < n) out[i + k] = in[i + k];
  }
}

__global__ void copy_float4(const float* in, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n / 4) reinterpret_cast<float4*>(out)[i] = reinterpret_cast<const float4*>(in)[i];
  if (i < n % 4) out[n / 4 * 4 + i] = in[n / 4 * 4 + i];
}

__global__ void saxpy(int n, float a, const float* x, float* y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = a * x[i] + y[i];
}

__global__ void copy_2d(const float* in, float* out, int width, int height) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < width && y < height) out[y * width + x] = in[y * width + x];
}

__global__ void every_third_lane(const float* in, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && threadIdx.x % 3 == 0) out[i] = in[i];
}

template <class T>
void copies_of(const char* name, int n) {
  std::vector<T> data(n);
  for (int i = 0; i < n; ++i) data[i] = static_cast<T>(i * 7 % 101);
  Array<T> in(data), out(n);
  copy_of<T><<<(n + 127) / 128, 128>>>(in, out, n);
  expect(name, out.host(), [&](size_t i) { return data[i]; });
}

int main() {
  const int n = 5000;
  const std::vector<float> data = random_floats(n);
  Array<float> in(data);
  {
    Array<float> out(n);
    copy<<<(n + 255) / 256, 256>>>(in, out, n);
    expect("copy", out.host(), [&](size_t i) { return data[i]; });
  }
  for (int offset : {1, 8, 31}) {
    Array<float> out(n);
    copy_offset<<<16, 256>>>(in, out, n, offset);
    expect("copy_offset", out.host(),
           [&](size_t i) { return (int)i >= offset && (int)i < 16 * 256 + offset ? data[i] : 0; });
  }
  for (int stride : {2, 5, 32}) {
    Array<float> out(n);
    copy_stride<<<4, 192>>>(in, out, n, stride);
    expect("copy_stride", out.host(),
           [&](size_t i) { return i % stride == 0 && (int)i / stride < 4 * 192 ? data[i] : 0; });
  }
  {
    Array<float> out(n);
    copy_reversed<<<20, 256>>>(in, out, n);
    expect("copy_reversed", out.host(), [&](size_t i) { return data[n - 1 - i]; });
  }
  {
    Array<float> out(n);
    copy_grid_stride<<<3, 96>>>(in, out, n);
    expect("copy_grid_stride", out.host(), [&](size_t i) { return data[i]; });
  }
  copies_of<char>("copy_of<char>", n);
  copies_of<short>("copy_of<short>", n);
  copies_of<double>("copy_of<double>", n);
  copies_of<long long>("copy_of<long long>", n);
  {
    std::vector<int2> pairs(777);
    for (int i = 0; i < 777; ++i) pairs[i] = make_int2(i, -i);
    Array<int2> from(pairs), to(777);
    copy_of<int2><<<7, 128>>>(from, to, 777);
    const std::vector<int2> got = to.host();
    expect("copy_of<int2>", std::vector<int>(1, got[700].x - got[3].y), [](size_t) { return 703; });
  }
  {
    Array<float> out(n);
    copy_4_per_thread<<<10, 128>>>(in, out, n);
    expect("copy_4_per_thread", out.host(), [&](size_t i) { return data[i]; });
  }
  {
    const int ragged = n - 1;  // 3 floats are left for the last warp
    Array<float> out(n);
    copy_float4<<<10, 128>>>(in, out, ragged);
    expect("copy_float4", out.host(), [&](size_t i) { return (int)i < ragged ? data[i] : 0; });
  }
  {
    Array<float> y(data);
    saxpy<<<(n + 255) / 256, 256>>>(n, 2.0f, in, y);
    expect("saxpy", y.host(), [&](size_t i) { return 3 * data[i]; });
  }
  for (const dim3 block : {dim3(16, 16), dim3(8, 8), dim3(5, 7), dim3(32, 4)}) {
    const int width = 70, height = 50;
    Array<float> out(width * height);
    const dim3 grid((width + block.x - 1) / block.x, (height + block.y - 1) / block.y);
    copy_2d<<<grid, block>>>(in, out, width, height);
    expect("copy_2d", out.host(), [&](size_t i) { return data[i]; });
  }
  {
    Array<float> out(n);
    every_third_lane<<<20, 256>>>(in, out, n);
    expect("every_third_lane", out.host(),
           [&](size_t i) { return i % 256 % 3 == 0 ? data[i] : 0; });
  }
  return finish();
}
