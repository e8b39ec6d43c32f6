// # The reads of a product
//
// Kind: predict
// Level: 3
// Minutes: 8
//
// Two kernels compute C = A B with M = N = K = 64, one thread per element, in blocks of 32 x 8
// threads. In `along_columns` the lanes of a warp have neighbouring columns of C, in `along_rows`
// neighbouring rows. Write down what they read; then it is counted.
//
// A request is one load instruction of one warp. The compiler keeps the sum in a register and does
// not join loads.

#include <cuda_runtime.h>

constexpr int kSize = 64;

__device__ void element(const float* a, const float* b, float* c, int row, int col) {
  float sum = 0;
  for (int i = 0; i < kSize; ++i) {
    sum += a[row * kSize + i] * b[i * kSize + col];
  }
  c[row * kSize + col] = sum;
}

__global__ void along_columns(const float* a, const float* b, float* c) {
  element(a, b, c, blockIdx.y * 8 + threadIdx.y, blockIdx.x * 32 + threadIdx.x);
}

__global__ void along_rows(const float* a, const float* b, float* c) {
  element(a, b, c, blockIdx.x * 32 + threadIdx.x, blockIdx.y * 8 + threadIdx.y);
}

#ifdef SOLUTION
// Of both kernels: all load requests for A and B together.
constexpr int kLoadRequests = 16384;
// Of both kernels: the store requests.
constexpr int kStoreRequests = 128;
// along_columns: sectors of all loads together.
constexpr int kSectorsAlongColumns = 40960;
// along_rows: sectors of all loads together.
constexpr int kSectorsAlongRows = 270336;
// along_rows: sectors of all stores together.
constexpr int kStoreSectorsAlongRows = 4096;
#else
// Of both kernels: all load requests for A and B together.
constexpr int kLoadRequests = -1;  // TODO
// Of both kernels: the store requests.
constexpr int kStoreRequests = -1;  // TODO
// along_columns: sectors of all loads together.
constexpr int kSectorsAlongColumns = -1;  // TODO
// along_rows: sectors of all loads together.
constexpr int kSectorsAlongRows = -1;  // TODO
// along_rows: sectors of all stores together.
constexpr int kStoreSectorsAlongRows = -1;  // TODO
#endif
