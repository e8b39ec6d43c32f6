/// \file
/// cuBLAS as a rung of a chapter about transposes. Only the gpu backend has its body (the library `lab_cublas`); a
/// chapter calls it from its `*_cublas.cu`.
#pragma once

namespace lab {

/// out(col, row) = in(row, col) by `cublasSgeam`, in the default stream: alpha = 1, beta = 0.
/// \param in (rows, cols), row-major and tight
/// \param out (cols, rows), row-major and tight
/// \param rows of in
/// \param cols of in
/// \throws Failure if cuBLAS refuses
void cublas_transpose(float* out, const float* in, int rows, int cols);

}  // namespace lab
