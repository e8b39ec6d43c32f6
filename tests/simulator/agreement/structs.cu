// Arrays of structures and structures of arrays.
#include "program.h"

struct Particle {
  float x, y, z;
  float mass;
  int id;
};

struct Mixed {
  char tag;
  int count;
  double value;
};

struct alignas(16) Pixel {
  float r, g, b, a;
};

__global__ void scale_float3(const float3* in, float3* out, float s, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float3 v = in[i];
  v.x *= s;
  v.y *= s;
  v.z *= s;
  out[i] = v;
}

__global__ void length_float3(const float3* v, float* length, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) length[i] = sqrtf(v[i].x * v[i].x + v[i].y * v[i].y + v[i].z * v[i].z);
}

__global__ void copy_float3(const float3* in, float3* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i];
}

__global__ void momentum(const Particle* p, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = p[i].mass * (p[i].x + p[i].y + p[i].z) + p[i].id;
}

__global__ void move(Particle* p, float dt, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    p[i].x += dt;
    p[i].y += dt;
    p[i].z += dt;
  }
}

__global__ void one_field(const Particle* p, float* mass, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) mass[i] = p[i].mass;
}

__global__ void copy_particles(const Particle* in, Particle* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i];
}

__global__ void soa_momentum(const float* x, const float* y, const float* z, const float* mass,
                             float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = mass[i] * (x[i] + y[i] + z[i]);
}

__global__ void mixed(const Mixed* in, double* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i].value * in[i].count + in[i].tag;
}

__global__ void brighten(Pixel* pixels, float by, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    Pixel p = pixels[i];
    p.r += by;
    p.g += by;
    p.b += by;
    pixels[i] = p;
  }
}

__global__ void to_grey(const uchar4* rgba, unsigned char* grey, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    uchar4 p = rgba[i];
    grey[i] = (unsigned char)((p.x * 77 + p.y * 150 + p.z * 29) >> 8);
  }
}

__global__ void rgb_to_grey(const unsigned char* rgb, unsigned char* grey, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    int r = rgb[3 * i], g = rgb[3 * i + 1], b = rgb[3 * i + 2];
    grey[i] = (unsigned char)((r * 77 + g * 150 + b * 29) >> 8);
  }
}

__global__ void complex_multiply(const float2* a, const double2* b, double2* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    double2 c;
    c.x = a[i].x * b[i].x - a[i].y * b[i].y;
    c.y = a[i].x * b[i].y + a[i].y * b[i].x;
    out[i] = c;
  }
}

__global__ void sum_vec4(const float4* v, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = v[i].x + v[i].y + v[i].z + v[i].w;
}

__global__ void shuffle_tile_float3(const float3* in, float3* out, int n) {
  __shared__ float3 tile[128];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) tile[threadIdx.x] = in[i];
  __syncthreads();
  int from = blockDim.x - 1 - threadIdx.x;
  if (i < n && blockIdx.x * blockDim.x + from < n) out[i] = tile[from];
}

int main() {
  const int n = 1000, blocks = 8, threads = 128;
  const std::vector<float> data = random_floats(5 * n);
  {
    Array<float> in(data), out(3 * n);
    scale_float3<<<blocks, threads>>>((float3*)(float*)in, (float3*)(float*)out, 2.0f, n);
    expect("scale_float3", out.host(), [&](size_t i) { return 2 * data[i]; });
    copy_float3<<<blocks, threads>>>((float3*)(float*)in, (float3*)(float*)out, n);
    expect("copy_float3", out.host(), [&](size_t i) { return data[i]; });
    Array<float> length(n);
    length_float3<<<blocks, threads>>>((float3*)(float*)in, length, n);
    expect("length_float3", length.host(), [&](size_t i) {
      const float* v = &data[3 * i];
      return std::sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
    });
    Array<float> turned(3 * n);
    shuffle_tile_float3<<<blocks, threads>>>((float3*)(float*)in, (float3*)(float*)turned, n);
    expect("shuffle_tile_float3", turned.host(), [&](size_t k) {
      const int i = (int)k / 3, from = i / 128 * 128 + 127 - i % 128;
      return from < n ? data[3 * from + k % 3] : 0;
    });
  }
  {
    std::vector<Particle> particles(n);
    for (int i = 0; i < n; ++i) particles[i] = {data[i], data[i + n], data[i + 2 * n], 1.5f, i};
    Array<Particle> p(particles), copy(n);
    Array<float> out(n);
    momentum<<<blocks, threads>>>(p, out, n);
    expect("momentum", out.host(),
           [&](size_t i) { return 1.5f * (data[i] + data[i + n] + data[i + 2 * n]) + i; });
    one_field<<<blocks, threads>>>(p, out, n);
    expect("one_field", out.host(), [](size_t) { return 1.5; });
    copy_particles<<<blocks, threads>>>(p, copy, n);
    expect("copy_particles", std::vector<int>(1, copy.host()[999].id), [](size_t) { return 999; });
    move<<<blocks, threads>>>(p, 1.0f, n);
    expect("move", std::vector<float>(1, p.host()[7].y), [&](size_t) { return data[7 + n] + 1; });
    Array<float> x(data);
    float* d = x;
    soa_momentum<<<blocks, threads>>>(d, d + n, d + 2 * n, d + 3 * n, out, n);
    expect("soa_momentum", out.host(),
           [&](size_t i) { return data[i + 3 * n] * (data[i] + data[i + n] + data[i + 2 * n]); });
  }
  {
    std::vector<Mixed> items(n);
    for (int i = 0; i < n; ++i) items[i] = {(char)(i % 100), i, 0.5};
    Array<Mixed> in(items);
    Array<double> out(n);
    mixed<<<blocks, threads>>>(in, out, n);
    expect("mixed", out.host(), [](size_t i) { return 0.5 * i + i % 100; });
  }
  {
    Array<float> pixels(std::vector<float>(data.begin(), data.begin() + 4 * n));
    brighten<<<blocks, threads>>>((Pixel*)(float*)pixels, 1.0f, n);
    expect("brighten", pixels.host(), [&](size_t i) { return data[i] + (i % 4 != 3); });
    Array<float> in(data), out(n);
    sum_vec4<<<blocks, threads>>>((float4*)(float*)in, out, n);
    expect("sum_vec4", out.host(), [&](size_t i) {
      return data[4 * i] + data[4 * i + 1] + data[4 * i + 2] + data[4 * i + 3];
    });
  }
  {
    std::vector<unsigned char> bytes(4 * n);
    for (int i = 0; i < 4 * n; ++i) bytes[i] = (unsigned char)(i * 31);
    Array<unsigned char> in(bytes), grey(n);
    to_grey<<<blocks, threads>>>((uchar4*)(unsigned char*)in, grey, n);
    expect("to_grey", grey.host(), [&](size_t i) {
      return (bytes[4 * i] * 77 + bytes[4 * i + 1] * 150 + bytes[4 * i + 2] * 29) >> 8;
    });
    rgb_to_grey<<<blocks, threads>>>(in, grey, n);
    expect("rgb_to_grey", grey.host(), [&](size_t i) {
      return (bytes[3 * i] * 77 + bytes[3 * i + 1] * 150 + bytes[3 * i + 2] * 29) >> 8;
    });
  }
  {
    Array<float> a(data);
    std::vector<double> numbers(data.begin(), data.begin() + 2 * n);
    Array<double> b(numbers), out(2 * n);
    complex_multiply<<<blocks, threads>>>((float2*)(float*)a, (double2*)(double*)b,
                                          (double2*)(double*)out, n);
    expect("complex_multiply", out.host(), [&](size_t i) {
      const double x = data[i / 2 * 2], y = data[i / 2 * 2 + 1];
      return i % 2 ? 2 * x * y : x * x - y * y;
    });
  }
  return finish();
}
