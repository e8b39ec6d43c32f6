// Device memory for one test.
#pragma once

#include <cuda_runtime.h>
#include <gtest/gtest.h>

/// `n` elements of device memory, cleared, and freed at the end.
template <class T>
class Buffer {
 public:
  explicit Buffer(size_t n) {
    EXPECT_EQ(cudaMalloc(&data_, n * sizeof(T)), cudaSuccess);
    cudaMemset(data_, 0, n * sizeof(T));
  }
  ~Buffer() { cudaFree(data_); }
  Buffer(const Buffer&) = delete;
  T* data() const { return data_; }

 private:
  T* data_ = nullptr;
};
