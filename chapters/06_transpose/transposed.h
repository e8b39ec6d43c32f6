#pragma once

#include <cstddef>

#include "lab/lab.h"

/// What a transpose has to leave at place i of out (cols, rows), row-major, of in (rows, cols).
struct Transposed {
  lab::View<float> in;
  std::size_t rows, cols;
  __host__ __device__ float operator()(std::size_t i) const {
    return in[i % rows * cols + i / rows];
  }
};
