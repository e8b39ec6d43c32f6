// Numbers one by one: directed rounding, conversions, bytes and halves of a word, special functions, 16-bit atomics,
// registered host memory, wide tiles, the device's clock.
#include <cuComplex.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <math_constants.h>

#include <cstdio>
#include <cstdlib>
#include <cuda/atomic>
#include <cuda/std/array>

#define CHECK(condition) \
  if (!(condition)) atomicMax(failed, __LINE__)

__device__ bool near(double a, double b, double tolerance) { return fabs(a - b) <= tolerance; }

__global__ void numbers(int* failed) {
  CHECK(__fadd_rn(1, 1e-10f) == 1 && __drcp_rn(4) == 0.25);
  CHECK(__float2int_rn(2.5f) == 2 && __float2int_ru(2.1f) == 3 && __float2int_rd(-2.1f) == -3);
  CHECK(__float2int_rz(1e20f) == INT_MAX && __float2uint_rz(-5) == 0);
  CHECK(__double2ll_rn(-1.5e18) == -1500000000000000000ll &&
        __double2int_rn(CUDART_NAN) == INT_MIN);
  CHECK(__int2float_rn(16777217) == 16777216 && __double2float_rn(0.1) == 0.1f);
  CHECK(__dp4a(0x01020304, 0x01010101, 5) == 15 && __dp4a(0xffu, 0xffu, 0u) == 65025u);
  CHECK(__dp4a(0xff, 0xff, 0) == 1 && __dp2a_lo(0x00020003, 0x01010504, 1) == 23);
  CHECK(__byte_perm(0x33221100, 0x77665544, 0x7531) == 0x77553311);
  CHECK(__funnelshift_l(0x80000001, 0x1, 4) == 0x18 && __funnelshift_rc(1, 2, 40) == 2);
  CHECK(__mul64hi(1ll << 62, 8) == 2 && __umulhi(0x80000000u, 6) == 3 && __urhadd(1, 2) == 2);

  CHECK(near(erfinv(0.5), 0.47693627620446987, 1e-15) &&
        near(erfcinv(1e-12), 5.042029745639095, 1e-13));
  CHECK(near(normcdfinv(0.975), 1.959963984540054, 1e-14) &&
        near(erfcx(20), 0.028174348741051, 1e-14));
  CHECK(near(cyl_bessel_i0(1), 1.2660658777520084, 1e-14) &&
        near(erf(erfinv(-0.999)), -0.999, 1e-15));
  CHECK(norm3d(1, 2, 2) == 3 && rnorm4df(1, 1, 1, 1) == 0.5f && isnan(CUDART_NAN_F) &&
        isinf(CUDART_INF));
  const cuFloatComplex z = cuCdivf(make_cuFloatComplex(5, 5), make_cuFloatComplex(2, 1));
  CHECK(z.x == 3 && z.y == 1 && cuCabs(make_cuDoubleComplex(3, 4)) == 5);

  __shared__ int in_shared;
  int local = 0;
  CHECK(__isShared(&in_shared) && __isGlobal(failed) && __isLocal(&local) &&
        !__isGlobal(&in_shared));
  const clock_t start = clock();
  const long long start64 = clock64();
  while (clock() - start < 10000) {
  }
  CHECK(clock64() - start64 >= 10000);
}

__global__ void narrow_atomics(__half* h, __half2* h2, __nv_bfloat16* b, int* failed) {
  __shared__ __half sum;
  if (threadIdx.x == 0) sum = __half(0.0f);
  __syncthreads();
  atomicAdd(&sum, __half(0.5f));
  atomicAdd(h + 1, __half(1.0f));
  atomicAdd(h2, __half2(__half(1.0f), __half(-1.0f)));
  atomicAdd(b, __nv_bfloat16(1.0f));
  __syncthreads();
  CHECK(__half2float(sum) == 32.0f);
}

__global__ void atomic_objects(cuda::atomic<int, cuda::thread_scope_device>* counter, float* sum,
                               int* failed) {
  counter->fetch_add(2, cuda::memory_order_relaxed);
  cuda::atomic_ref<float, cuda::thread_scope_device>(*sum).fetch_add(0.25f);
  int expected = -1;
  CHECK(!counter->compare_exchange_strong(expected, 5) && expected > 0);
  const cuda::std::array<int, 3> plain = {1, 2, 3};
  CHECK(plain[threadIdx.x % 3] == 1 + int(threadIdx.x % 3));
}

__global__ void twice(int* data, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) data[i] *= 2;
}

int main() {
  int* failed;
  cudaMallocManaged(&failed, sizeof(int));
  *failed = 0;
  numbers<<<1, 1>>>(failed);

  __half* h;
  __half2* h2;
  __nv_bfloat16* b;
  cudaMallocManaged(&h, 2 * sizeof(__half));
  cudaMallocManaged(&h2, sizeof(__half2));
  cudaMallocManaged(&b, sizeof(__nv_bfloat16));
  h[1] = __half(0.0f);
  *h2 = __half2(__half(0.0f), __half(0.0f));
  *b = __nv_bfloat16(0.0f);
  narrow_atomics<<<1, 64>>>(h, h2, b, failed);

  cuda::atomic<int, cuda::thread_scope_device>* counter;
  float* sum;
  cudaMallocManaged(&counter, sizeof(*counter));
  cudaMallocManaged(&sum, sizeof(float));
  counter->store(0);
  *sum = 0;
  atomic_objects<<<4, 64>>>(counter, sum, failed);
  bool right = cudaDeviceSynchronize() == cudaSuccess && *failed == 0;
  right = right && __half2float(h[1]) == 64 && __low2float(*h2) == 64 && __high2float(*h2) == -64;
  right = right && __bfloat162float(*b) == 64 && counter->load() == 512 && *sum == 64;

  // Ordinary memory of the host, opened to the device. It begins with a line, so that each run counts the same.
  const int n = 1000;
  int* ordinary = static_cast<int*>(std::aligned_alloc(128, 32 * 128));
  for (int i = 0; i < n; ++i) ordinary[i] = i;
  int* seen = nullptr;
  right =
      right && cudaHostRegister(ordinary, n * sizeof(int), cudaHostRegisterMapped) == cudaSuccess;
  right = right && cudaHostGetDevicePointer(&seen, ordinary, 0) == cudaSuccess;
  twice<<<4, 256>>>(seen, n);
  right = right && cudaDeviceSynchronize() == cudaSuccess && ordinary[999] == 1998;
  right = right && cudaHostUnregister(ordinary) == cudaSuccess;
  right = right && cudaHostUnregister(ordinary) == cudaErrorHostMemoryNotRegistered;
  cudaGetLastError();
  std::free(ordinary);

  std::printf("intrinsics: %s (line %d)\n", right ? "ok" : "FAILED", *failed);
  cudaFree(failed);
  cudaFree(h);
  cudaFree(h2);
  cudaFree(b);
  cudaFree(counter);
  cudaFree(sum);
  return right ? 0 : 1;
}
