/// \file
/// How chapter 17 launches the rungs for Hopper; tensor_cores_hopper.cu has the bodies.
#pragma once

#include <cuda.h>
#include <cuda_bf16.h>

#include <cstddef>
#include <optional>

#include "hopper.cuh"
#include "lab/lab.h"
#include "tensor_cores.h"

/// The tensor map of a matrix (rows, cols) whose rows are aligned, for boxes of (height, 128 bytes) swizzled by 128 bytes.
/// \param ld elements from a row to the next
template <class T>
CUtensorMap tensor_map(const T* matrix, int rows, int cols, int ld, int height);

/// Launches the rungs for elements of type T, BF16, FP16 or float, with room for the copies that they may need.
template <class T = bf16>
class Launcher {
 public:
  using Arguments = lab::GemmOf<T>;
  using Kernel = void (*)(Arguments, CUtensorMap, CUtensorMap, CUtensorMap);

  /// Launches tma_wgmma, which takes BF16 alone.
  void simple(Arguments g);
  /// Launches one of the others.
  void operator()(const Arguments& product, Kernel kernel, How how);

 private:
  /// Room for matrices whose rows are not aligned, with rows that are.
  struct Room {
    std::optional<lab::DeviceBuffer<T>> matrix = {};

    /// Room for (rows, cols), whose distance between rows becomes ld.
    T* of(int rows, int cols, int& ld) {
      constexpr int aligned = 16 / sizeof(T);
      ld = lab::ceil_div(cols, aligned) * aligned;
      const std::size_t size = static_cast<std::size_t>(rows) * static_cast<std::size_t>(ld);
      if (!matrix || matrix->size() < size) matrix.emplace(size, "aligned rows");
      return matrix->data();
    }
    /// The matrix itself where its rows are aligned, else a copy; ld becomes that of the result.
    const T* aligned(const T* from, int rows, int cols, int& ld);
    /// The transposed of a matrix (rows, cols).
    const T* transposed(const T* from, int rows, int cols, int& ld);
  };

  void align(Arguments& g);
  static void copy(T* to, int ld_to, const T* from, int ld, const Arguments& g);

  Room a_, b_, c_;
};
