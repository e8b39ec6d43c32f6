// Floats of 8 bits: quantized on the device and read back; every code, its neighbours' middle, and what is too large.
#include <cuda_fp8.h>

#include <cmath>
#include <cstdio>
#include <vector>

static int failures = 0;

static void check(bool right, const char* what, int line) {
  if (right) return;
  ++failures;
  std::printf("line %d: %s\n", line, what);
}
#define CHECK(condition) check(condition, #condition, __LINE__)

__global__ void quantize(const float* in, __nv_fp8_e4m3* out, int n, float scale) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = __nv_fp8_e4m3(in[i] * scale);
}
__global__ void restore(const __nv_fp8_e4m3* in, float* out, int n, float scale) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = static_cast<float>(in[i]) / scale;
}

// A code to a float and back is the same code; the middle of two goes to the even one.
template <class Fp8>
static void every_code(int largest) {
  for (int code = 0; code <= largest; ++code) {
    Fp8 x;
    x.__x = static_cast<unsigned char>(code);
    const float value = static_cast<float>(x);
    CHECK(Fp8(value).__x == code && Fp8(-value).__x == (code | 0x80));
    if (code == largest) continue;
    x.__x = static_cast<unsigned char>(code + 1);
    const float next = static_cast<float>(x);
    CHECK(next > value);
    CHECK(Fp8((value + next) / 2).__x == code + code % 2);
    CHECK(Fp8(value + (next - value) * 0.51f).__x == code + 1);
  }
}

int main() {
  every_code<__nv_fp8_e4m3>(0x7e);
  every_code<__nv_fp8_e5m2>(0x7b);
  CHECK(static_cast<float>(__nv_fp8_e4m3(1.0f)) == 1 && __nv_fp8_e4m3(1.0f).__x == 0x38);
  CHECK(static_cast<float>(__nv_fp8_e4m3(1e9f)) == 448 &&
        static_cast<float>(__nv_fp8_e5m2(-1e9f)) == -57344);
  CHECK(std::isnan(static_cast<float>(__nv_fp8_e4m3(NAN))));
  CHECK(__nv_cvt_float_to_fp8(500.0f, __NV_NOSAT, __NV_E4M3) == 0x7f);
  CHECK(__nv_cvt_float_to_fp8(1e6f, __NV_NOSAT, __NV_E5M2) == 0x7c);
  const float4 four = static_cast<float4>(__nv_fp8x4_e5m2(make_float4(1, -2, 0.5f, 1e-9f)));
  CHECK(four.x == 1 && four.y == -2 && four.z == 0.5f && four.w == 0);

  const int n = 1000;
  std::vector<float> host(n), seen(n);
  for (int i = 0; i < n; ++i) host[i] = std::sin(0.1f * i);
  float* data = nullptr;
  __nv_fp8_e4m3* small = nullptr;
  cudaMalloc(&data, n * sizeof(float));
  cudaMalloc(&small, n);
  cudaMemcpy(data, host.data(), n * sizeof(float), cudaMemcpyHostToDevice);
  quantize<<<4, 256>>>(data, small, n, 256.0f);
  restore<<<4, 256>>>(small, data, n, 256.0f);
  cudaMemcpy(seen.data(), data, n * sizeof(float), cudaMemcpyDeviceToHost);
  for (int i = 0; i < n; ++i)
    CHECK(std::fabs(seen[i] - host[i]) <= std::fabs(host[i]) / 16 + 1e-5f);
  cudaFree(data);
  cudaFree(small);
  std::printf("fp8: %s\n", failures ? "FAILED" : "ok");
  return failures ? 1 : 0;
}
