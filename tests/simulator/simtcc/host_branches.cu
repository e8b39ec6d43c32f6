// #if on __CUDA_ARCH__: each side runs what nvcc compiles for it. Prints FAILED where it does not.

#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <stdexcept>

#ifndef __CUDA_ARCH__
#include <iostream>
#include <string>
#endif

#ifdef __CUDA_ARCH__
#define BY_MACRO() of_device()
#define FAIL(text) __trap()
#define TABLE device_table
#else
#define BY_MACRO() of_host()
#define FAIL(text) throw std::runtime_error(text)
#define TABLE host_table
#endif

__device__ int of_device() { return 8; }
__constant__ int device_table[2] = {5, 6};

// Whole declarations of one side, and two functions that are one for both.
#ifndef __CUDA_ARCH__
static int of_host() { return 7; }
static const int host_table[2] = {3, 4};
#endif
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 600
__device__ double atomicAdd(double* sum, double value) {
  auto* const bits = reinterpret_cast<unsigned long long*>(sum);
  unsigned long long old = *bits, assumed;
  do {
    assumed = old;
    const double next = value + __longlong_as_double(assumed);
    old = atomicCAS(bits, assumed, __double_as_longlong(next));
  } while (assumed != old);
  return __longlong_as_double(old);
}
#endif
#ifdef __CUDA_ARCH__
__device__ inline float half(float x) { return __fdividef(x, 2.0f); }
#else
inline float half(float x) { return x / 2 + 100; }
#endif

__host__ __device__ int plain() {
#ifdef __CUDA_ARCH__
  return 1;
#else
  return 2;
#endif
}

__host__ __device__ int nested(int x) {
  int sum = x;
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 700
  sum += 10;
#if __CUDA_ARCH__ >= 900
  sum += 100;
#else
  sum += 1000;
#endif
#else
  for (const char c : std::string("ab")) sum += c - 'a';
#endif
  return sum;
}

__host__ __device__ int device_words() {
  int sum = 0;
#ifdef __CUDA_ARCH__
  __shared__ int shared;
  if (threadIdx.x == 0) shared = __popc(3);
  __syncthreads();
  sum += __shfl_sync(~0u, shared, 0);
  asm("add.s32 %0, %0, 1;" : "+r"(sum));
#else
  static int calls = 0;
  asm("addl $5, %0" : "+r"(sum));
  sum += ++calls;
#endif
  return sum;
}

__host__ __device__ int jump(int x) {
  if (x > 3) goto end;
#ifdef __CUDA_ARCH__
  x += 1;
#else
  x += 2;
#endif
end:
  return x;
}

__host__ __device__ inline void check(bool holds) {
#ifdef __CUDA_ARCH__
  if (!holds) {
    printf("thread %u\n", threadIdx.x);
    __trap();
  }
#else
  if (!holds) {
    std::cerr << "FAILED " << std::string("check") << '\n';
    std::abort();
  }
#endif
}

__host__ __device__ void check_by_macro(int x) {
  if (x > 3) FAIL("too large");
}

__host__ __device__ int by_macro() { return BY_MACRO() * 10 + TABLE[1]; }
__host__ __device__ float by_function(float x) { return half(x); }

template <class T>
struct Scaled {
  T value;
#ifdef __CUDA_ARCH__
  __host__ __device__ Scaled() { value = 1; }
#else
  __host__ __device__ Scaled() { value = 2; }
#endif
  __host__ __device__ explicit Scaled(T x) : value(x) {
#ifdef __CUDA_ARCH__
    value *= 2;
#else
    value *= 3;
#endif
  }
  __host__ __device__ auto negative() const {
#ifdef __CUDA_ARCH__
    return value - 1000;
#else
    return -value;
#endif
  }
};

__host__ __device__ constexpr int ways() {
#ifdef __CUDA_ARCH__
  return 32;
#else
  return 1;
#endif
}

int host_function() {
#ifdef __CUDA_ARCH__
  return 10;
#else
  return 20;
#endif
}

__device__ int device_function() {
#ifdef __CUDA_ARCH__
  return 10;
#else
  return 20;
#endif
}

constexpr int kResults = 12;

template <class F>
__global__ void run(int* out, double* sum, F f) {
  check(true);
  check_by_macro(2);
  atomicAdd(sum, 0.5);
  const int results[kResults] = {plain(),
                                 nested(1),
                                 device_words(),
                                 by_macro(),
                                 static_cast<int>(by_function(4)),
                                 Scaled<int>(5).negative(),
                                 ways(),
                                 device_function(),
                                 f(5),
#ifdef __CUDA_ARCH__
                                 900,
#else
                                 0,
#endif
                                 __LINE__,
                                 jump(Scaled<int>().value)};
  for (int i = 0; i < kResults; ++i) out[i] = results[i];
}
constexpr int kLine = __LINE__ - 4;

int expect(const char* what, int got, int wanted) {
  if (got != wanted) printf("FAILED %s: %d instead of %d\n", what, got, wanted);
  return got == wanted;
}

int main() {
  const auto lambda = [] __host__ __device__(int x) {
#ifdef __CUDA_ARCH__
    return x + 1;
#else
    return x + 2;
#endif
  };
  int* out;
  double* sum;
  cudaMallocManaged(&out, kResults * sizeof(int));
  cudaMallocManaged(&sum, sizeof(double));
  *sum = 0;
  run<<<1, 32>>>(out, sum, lambda);
  cudaDeviceSynchronize();
  const int of_device[kResults] = {1, 111, 3, 86, 2, -990, 32, 10, 6, 900, kLine, 2};
  for (int i = 0; i < kResults; ++i) expect("on the device", out[i], of_device[i]);
  expect("atomicAdd", static_cast<int>(*sum), 16);

  constexpr int at_compile_time = ways();
  expect("plain", plain(), 2);
  expect("nested", nested(1), 2);
  expect("device_words", device_words() + device_words(), 13);
  expect("jump", jump(Scaled<int>().value) + jump(4), 8);
  expect("by_macro", by_macro(), 74);
  expect("by_function", static_cast<int>(by_function(4)), 102);
  expect("Scaled", Scaled<int>(5).negative(), -15);
  expect("ways", ways() + at_compile_time, 2);
  expect("host_function", host_function(), 20);
  expect("lambda", lambda(5), 7);
  check(true);
  bool caught = false;
  try {
    check_by_macro(4);
  } catch (const std::runtime_error&) {
    caught = true;
  }
  expect("throw", caught, true);
#ifdef __CUDA_ARCH__
  expect("main", 0, 1);
#else
  puts("done");
#endif
  cudaFree(out);
  cudaFree(sum);
}
