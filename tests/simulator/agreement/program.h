// What each program of this folder does the same way: data to the GPU and back, and a verdict.
#pragma once

#include <cuda_runtime.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define CHECK(call)                                                                        \
  do {                                                                                     \
    const cudaError_t status = (call);                                                     \
    if (status != cudaSuccess) {                                                           \
      std::fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(status)); \
      std::exit(1);                                                                        \
    }                                                                                      \
  } while (0)

/// An array on the device, filled from the host or with zeros.
template <class T>
class Array {
 public:
  explicit Array(size_t n) : n_(n) {
    CHECK(cudaMalloc(&data_, n * sizeof(T)));
    CHECK(cudaMemset(data_, 0, n * sizeof(T)));
  }
  explicit Array(const std::vector<T>& from) : Array(from.size()) {
    CHECK(cudaMemcpy(data_, from.data(), n_ * sizeof(T), cudaMemcpyHostToDevice));
  }
  ~Array() { cudaFree(data_); }
  Array(const Array&) = delete;
  Array& operator=(const Array&) = delete;

  operator T*() { return data_; }

  /// Waits for the kernels before it.
  std::vector<T> host() {
    std::vector<T> to(n_);
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaMemcpy(to.data(), data_, n_ * sizeof(T), cudaMemcpyDeviceToHost));
    return to;
  }

 private:
  T* data_ = nullptr;
  size_t n_;
};

inline unsigned next_random() {
  static unsigned state = 12345;
  state = state * 1664525u + 1013904223u;
  return state >> 8;
}

inline std::vector<float> random_floats(size_t n) {
  std::vector<float> v(n);
  for (float& x : v) x = static_cast<float>(next_random() % 2000) / 1000.0f - 1.0f;
  return v;
}

inline std::vector<int> random_ints(size_t n, int limit) {
  std::vector<int> v(n);
  for (int& x : v) x = static_cast<int>(next_random() % static_cast<unsigned>(limit));
  return v;
}

inline int failures = 0;

/// Compares `got` with `want(i)` for every i.
template <class T, class Want>
void expect(const char* name, const std::vector<T>& got, Want want, double tolerance = 1e-4) {
  for (size_t i = 0; i < got.size(); ++i) {
    const double g = static_cast<double>(got[i]);
    const double w = static_cast<double>(want(i));
    if (!(std::fabs(g - w) <= tolerance * (1 + std::fabs(w)))) {
      std::printf("%s: FAIL, element %zu is %g, not %g\n", name, i, g, w);
      ++failures;
      return;
    }
  }
  std::printf("%s: ok\n", name);
}

inline int finish() { return failures == 0 ? 0 : 1; }
