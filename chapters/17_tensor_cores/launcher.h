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

/// Launches the rungs, with room for the copies that they may need.
class Launcher {
 public:
  using Kernel = void (*)(Product, CUtensorMap, CUtensorMap, CUtensorMap);

  /// Launches tma_wgmma.
  void simple(Product g);
  /// Launches one of the others.
  void operator()(const Product& product, Kernel kernel, How how);

 private:
  /// Room for matrices whose rows are not aligned, with rows that are.
  struct Room {
    std::optional<lab::DeviceBuffer<bf16>> matrix = {};

    /// Room for (rows, cols), whose distance between rows becomes ld.
    bf16* of(int rows, int cols, int& ld) {
      ld = lab::ceil_div(cols, 8) * 8;
      const std::size_t size = static_cast<std::size_t>(rows) * static_cast<std::size_t>(ld);
      if (!matrix || matrix->size() < size) matrix.emplace(size, "aligned rows");
      return matrix->data();
    }
    /// The matrix itself where its rows are aligned, else a copy; ld becomes that of the result.
    const bf16* aligned(const bf16* from, int rows, int cols, int& ld);
  };

  void align(Product& g);
  static void copy(bf16* to, int ld_to, const bf16* from, int ld, const Product& g);

  Room a_, b_, c_;
};
