/// \file
/// threadIdx, blockIdx, blockDim, gridDim and warpSize.
///
/// Each is a variable of the OS thread that runs the block; the scheduler writes threadIdx whenever it
/// switches to another lane. To the kernel they are constants; reading one is no memory access.
#pragma once

#include <vector_types.h>

extern "C" {
extern __thread const uint3 threadIdx;
extern __thread const uint3 blockIdx;
extern __thread const dim3 blockDim;
extern __thread const dim3 gridDim;
}

inline constexpr int warpSize = 32;
