/// \file
/// cuBLASLt as the peer of products whose elements have 8 bits. A build without cuBLAS has peers that say so.
#pragma once

#include <cuda_bf16.h>

#include <cstdint>

#include "lab/ladder.h"

namespace lab {

/// A product C = A B whose factors both have K along their rows, as the library's kernels for 8 bits ask for: A is (m, k), B is
/// (n, k), each with rows that begin at multiples of 16 bytes; C is (m, n), row by row, without gaps.
template <class C>
struct EightBitProduct {
  int m = 0, n = 0, k = 0;
  const void* a = nullptr;  ///< (m, k) in device memory
  const void* b = nullptr;  ///< (n, k) in device memory
  int ld = 0;               ///< bytes from a row of A, or of B, to the next
  C* c = nullptr;           ///< (m, n) in device memory
};

/// C = A B of signed bytes, summed up in 32-bit integers.
Peer cublas_int8(const EightBitProduct<int>& product);

/// C = A B of FP8 (e4m3), summed up in FP32; then each row is multiplied by its factor, and each column, and rounded to BF16.
/// \param rows m factors
/// \param cols n factors
/// \param fast_sums all products of an element may be added up within the tensor core
Peer cublas_fp8(const EightBitProduct<__nv_bfloat16>& product, const float* rows, const float* cols,
                bool fast_sums);

}  // namespace lab
