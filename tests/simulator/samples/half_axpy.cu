// y = a * x + y in half precision, two numbers at a time, and in bfloat16; the roundings one by one.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cmath>
#include <cstdio>
#include <vector>

// x, y: (n)
__global__ void axpy(int n, __half2 a, const __half2* x, __half2* y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = __hfma2(a, x[i], y[i]);
}

__global__ void axpy(int n, __nv_bfloat16 a, const __nv_bfloat16* x, __nv_bfloat16* y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = a * x[i] + y[i];
}

// Every number survives the way through float, and between two neighbours the nearer one is taken, of
// equally near ones the even one.
bool rounds_to_nearest() {
  for (unsigned bits = 0; bits < 0x7bff; ++bits) {
    const __half low = __ushort_as_half(bits), high = __ushort_as_half(bits + 1);
    const double middle = (static_cast<double>(low) + static_cast<double>(high)) / 2;
    const unsigned even = bits + bits % 2;
    if (__half_as_ushort(__float2half(low)) != bits) return false;
    if (__half_as_ushort(__double2half(middle)) != even) return false;
    if (__half_as_ushort(__double2half(std::nextafter(middle, 1e9))) != bits + 1) return false;
    if (__half_as_ushort(__double2half(std::nextafter(middle, -1e9))) != bits) return false;
  }
  for (unsigned bits = 0; bits < 0x7f80; ++bits) {
    if (__bfloat16_as_ushort(__float2bfloat16(__ushort_as_bfloat16(bits))) != bits) return false;
  }
  return std::isinf(__half2float(__float2half(65520.0f))) &&
         __half2float(__float2half_rz(1e6f)) == 65504.0f && __hisnan(__half(NAN)) &&
         __half2int_rn(__half(2.5f)) == 2 && __half2int_ru(__half(2.5f)) == 3;
}

// Comparisons of pairs: with NaN the unordered ones hold, a mask has all bits of the half that holds.
bool compares_pairs() {
  const __half2 a(__half(1.5f), __half(-2.0f)), b(__half(1.5f), __half(3.0f)),
      c(__half(2.0f), __half(NAN));
  const auto is = [](__half2 pair, float x, float y) {
    return __low2float(pair) == x && __high2float(pair) == y;
  };
  return is(__hgeu2(a, c), 0, 1) && is(__hge2(a, c), 0, 0) && is(__hequ2(a, b), 1, 0) &&
         __hble2(a, b) && !__hblt2(a, b) && __hbltu2(a, c) && !__hblt2(a, c) &&
         __heq2_mask(a, b) == 0xffffu && __hne2_mask(a, b) == 0xffff0000u &&
         __hltu2_mask(a, c) == 0xffffffffu && __hlt2_mask(a, c) == 0xffffu &&
         __hisnan(__hmax2_nan(a, c).y) && is(__hmax2(a, c), 2, -2) &&
         is(__hcmadd(a, b, a), 1.5f * 1.5f + 2 * 3 + 1.5f, 1.5f * 3 - 2 * 1.5f - 2) &&
         is(h2floor(a), 1, -2) && is(h2ceil(a), 2, -2) && is(h2rint(a), 2, -2) &&
         is(h2trunc(-a), -1, 2) && is(h2log10(h2exp10(__half2(1.0f, 2.0f))), 1, 2);
}

int main() {
  constexpr int n = 1000;
  std::vector<__half2> x(n), y(n), z(n);
  std::vector<__nv_bfloat16> u(n), v(n), w(n);
  for (int i = 0; i < n; ++i) {
    x[i] = __floats2half2_rn(0.01f * i, 3 - 0.5f * i);
    y[i] = __halves2half2(__half(i), __float2half(1.0f / (i + 1)));
    u[i] = __float2bfloat16(0.3f * i);
    v[i] = 1.0f / (i + 1);
  }
  const __half2 a = __float2half2_rn(1.7f);
  const __nv_bfloat16 b = 1.7f;

  __half2 *dx, *dy;
  __nv_bfloat16 *du, *dv;
  cudaMalloc(&dx, n * sizeof(*dx));
  cudaMalloc(&dy, n * sizeof(*dy));
  cudaMalloc(&du, n * sizeof(*du));
  cudaMalloc(&dv, n * sizeof(*dv));
  cudaMemcpy(dx, x.data(), n * sizeof(*dx), cudaMemcpyHostToDevice);
  cudaMemcpy(dy, y.data(), n * sizeof(*dy), cudaMemcpyHostToDevice);
  cudaMemcpy(du, u.data(), n * sizeof(*du), cudaMemcpyHostToDevice);
  cudaMemcpy(dv, v.data(), n * sizeof(*dv), cudaMemcpyHostToDevice);
  axpy<<<(n + 127) / 128, 128>>>(n, a, dx, dy);
  axpy<<<(n + 127) / 128, 128>>>(n, b, du, dv);
  cudaMemcpy(z.data(), dy, n * sizeof(*dy), cudaMemcpyDeviceToHost);
  cudaMemcpy(w.data(), dv, n * sizeof(*dv), cudaMemcpyDeviceToHost);

  // The fused operation is exact in double but for one rounding; that of bfloat16 rounds twice.
  int wrong = rounds_to_nearest() && compares_pairs() ? 0 : 1;
  const auto fused = [](__half p, __half q, __half r) {
    return __double2half(static_cast<double>(p) * static_cast<double>(q) + static_cast<double>(r));
  };
  for (int i = 0; i < n; ++i) {
    wrong += !(z[i].x == fused(a.x, x[i].x, y[i].x)) || !(z[i].y == fused(a.y, x[i].y, y[i].y));
    const auto product = __double2bfloat16(static_cast<double>(b) * static_cast<double>(u[i]));
    wrong += !(w[i] == __float2bfloat16(__bfloat162float(product) + __bfloat162float(v[i])));
  }
  const float expected = 1.7f * 3.0f + 300;  // of x[300].x = 3, y[300].x = 300
  wrong += !(std::fabs(__low2float(z[300]) - expected) < 0.2f);
  wrong += !(__half2float(CUDART_ONE_FP16) == 1 && __half2float(CUDART_MAX_NORMAL_FP16) == 65504);
  wrong += !(__half2float(CUDART_INF_FP16) > 65504 && __bfloat162float(CUDART_ONE_BF16) == 1);
  std::printf("half_axpy: %s (%d wrong)\n", wrong ? "FAILED" : "ok", wrong);
  cudaFree(dx);
  cudaFree(dy);
  cudaFree(du);
  cudaFree(dv);
  return wrong != 0;
}
