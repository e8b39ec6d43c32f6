// What a kernel says of itself: how many threads it takes and how much shared memory it has.
#include <cuda_runtime.h>

#include <cstdio>

#define CHECK(condition)                                         \
  do {                                                           \
    if (!(condition)) {                                          \
      std::printf("FAILED line %d: %s\n", __LINE__, #condition); \
      return 1;                                                  \
    }                                                            \
  } while (0)

__global__ void plain(int* out) { out[threadIdx.x] = 1; }

__global__ void __launch_bounds__(256, 2) bounded(int* out) { out[threadIdx.x] = 2; }

template <int kThreads, class T>
__global__ __launch_bounds__(kThreads) void tiled(T* out) {
  __shared__ T tile[kThreads][kThreads / 2];
  tile[threadIdx.x][0] = T(threadIdx.x);
  __syncthreads();
  out[threadIdx.x] = tile[kThreads - 1 - threadIdx.x][0];
}

extern "C" __global__ void two_tiles(float* out) {
  __shared__ float a[1024], b[3];
  a[threadIdx.x] = 1;
  if (threadIdx.x < 3) b[threadIdx.x] = 2;
  __syncthreads();
  out[threadIdx.x] = a[threadIdx.x ^ 1] + b[0];
}

extern __shared__ float row[];
__global__ void with_row(float* out, int n) {
  __shared__ float sums[1024];
  for (int i = threadIdx.x; i < n; i += blockDim.x) row[i] = sums[threadIdx.x] = 1;
  __syncthreads();
  out[threadIdx.x] = row[threadIdx.x] + sums[threadIdx.x];
}

template <class Kernel>
int blocks(Kernel kernel, int threads, size_t dynamic = 0) {
  int count = -1;
  cudaOccupancyMaxActiveBlocksPerMultiprocessor(&count, kernel, threads, dynamic);
  return count;
}

template <class Kernel>
int potential(Kernel kernel, int* grid = nullptr, int limit = 0) {
  int least = 0, threads = 0;
  cudaOccupancyMaxPotentialBlockSize(&least, &threads, kernel, 0, limit);
  if (grid) *grid = least;
  return threads;
}

int main() {
  cudaDeviceProp properties;
  cudaGetDeviceProperties(&properties, 0);
  const int multiprocessors = properties.multiProcessorCount;

  CHECK(blocks(plain, 1024) == 2 && blocks(plain, 256) == 8 && blocks(plain, 32) == 32);
  CHECK(potential(plain) == 1024);
  int grid = 0;
  CHECK(potential(plain, &grid, 100) == 64 && potential(plain, &grid, 40) == 40);

  CHECK(blocks(bounded, 256) == 8 && blocks(bounded, 257) == 0);
  CHECK(potential(bounded, &grid) == 256 && grid == 8 * multiprocessors);

  // 128 * 64 * 4 bytes are 32 KiB, and the system takes one for itself: 228 / 33.
  CHECK(blocks(tiled<128, float>, 128) == 6 && blocks(tiled<128, float>, 160) == 0);
  CHECK(blocks(tiled<64, float>, 64) == 25);            // 228 / 9
  CHECK(blocks(tiled<64, float>, 64, 64 * 1024) == 3);  // 228 / 73

  cudaFuncAttributes attributes;
  CHECK(cudaFuncGetAttributes(&attributes, bounded) == cudaSuccess);
  CHECK(attributes.maxThreadsPerBlock == 256 && attributes.sharedSizeBytes == 0);
  CHECK(cudaFuncGetAttributes(&attributes, tiled<64, double>) == cudaSuccess);
  CHECK(attributes.maxThreadsPerBlock == 64 && attributes.sharedSizeBytes == 64 * 32 * 8);
  CHECK(attributes.maxDynamicSharedSizeBytes == (48 - 16) * 1024);
  CHECK(cudaFuncGetAttributes(&attributes, two_tiles) == cudaSuccess);
  CHECK(attributes.maxThreadsPerBlock == 1024 && attributes.sharedSizeBytes == 1027 * 4);
  size_t bytes = 0;
  CHECK(cudaOccupancyAvailableDynamicSMemPerBlock(&bytes, two_tiles, 2, 256) == cudaSuccess);
  CHECK(bytes == (114 - 1) * 1024 - 1027 * 4);

  // Launches are held to the same.
  float* out = nullptr;
  CHECK(cudaMalloc(&out, 1024 * sizeof(float)) == cudaSuccess);
  bounded<<<1, 256>>>(reinterpret_cast<int*>(out));
  CHECK(cudaGetLastError() == cudaSuccess);
  bounded<<<1, 288>>>(reinterpret_cast<int*>(out));
  CHECK(cudaGetLastError() == cudaErrorInvalidValue);
  with_row<<<1, 1024, 44 * 1024>>>(out, 44 * 256);
  CHECK(cudaGetLastError() == cudaSuccess);
  with_row<<<1, 1024, 44 * 1024 + 16>>>(out, 44 * 256);
  CHECK(cudaGetLastError() == cudaErrorInvalidValue);
  // What is asked for is dynamic, beside what is static.
  constexpr auto most = cudaFuncAttributeMaxDynamicSharedMemorySize;
  CHECK(cudaFuncSetAttribute(with_row, most, 48 * 1024) == cudaSuccess);
  with_row<<<1, 1024, 48 * 1024>>>(out, 48 * 256);
  CHECK(cudaGetLastError() == cudaSuccess);
  with_row<<<1, 1024, 48 * 1024 + 16>>>(out, 48 * 256);
  CHECK(cudaGetLastError() == cudaErrorInvalidValue);
  CHECK(cudaFuncSetAttribute(with_row, most, 227 * 1024) == cudaErrorInvalidValue);
  CHECK(cudaGetLastError() == cudaErrorInvalidValue);
  CHECK(cudaFuncSetAttribute(with_row, most, 100 * 1024) == cudaSuccess);
  with_row<<<1, 1024, 100 * 1024>>>(out, 100 * 256);
  CHECK(cudaGetLastError() == cudaSuccess && cudaDeviceSynchronize() == cudaSuccess);
  cudaFree(out);
  std::printf("PASSED\n");
  return 0;
}
