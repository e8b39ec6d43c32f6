// How fast the simulator runs: two transposes, timed. tools/measure/simulator/README.md says how.
//
// Each time is the best of 60 runs of a part of the grid, because on a shared machine a run that was
// interrupted says nothing about the program.

#include <cuda_runtime.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <vector>

namespace {

constexpr int kN = 1024;  // rows and columns of the matrix
constexpr int kTile = 32;

/// One element per thread. Launch: grid (kN / 32, rows / 8), block (32, 8).
__global__ void naive(const float* in, float* out) {
  const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
  out[x * kN + y] = in[y * kN + x];
}

/// A tile of 32 x 32 through shared memory. Launch: grid (kN / 32, rows / 32), block (32, 8).
__global__ void tiled(const float* in, float* out) {
  __shared__ float tile[kTile][kTile + 1];
  int x = blockIdx.x * kTile + threadIdx.x, y = blockIdx.y * kTile + threadIdx.y;
  for (int j = 0; j < kTile; j += 8) tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * kN + x];
  __syncthreads();
  x = blockIdx.y * kTile + threadIdx.x, y = blockIdx.x * kTile + threadIdx.y;
  for (int j = 0; j < kTile; j += 8) out[(y + j) * kN + x] = tile[threadIdx.x][threadIdx.y + j];
}

template <class Launch>
double best_seconds(Launch launch, int runs) {
  using Clock = std::chrono::steady_clock;
  double best = 1e9;
  for (int run = 0; run < runs; ++run) {
    const auto begin = Clock::now();
    launch();
    cudaDeviceSynchronize();
    best = std::min(best, std::chrono::duration<double>(Clock::now() - begin).count());
  }
  return best;
}

void print(const char* name, double seconds) {
  std::printf("%-18s %6.1f ns per lane access, %6.1f M lane accesses per second\n", name,
              1e9 * seconds, 1e-6 / seconds);
}

}  // namespace

int main() {
  constexpr std::size_t kBytes = sizeof(float) * kN * kN;
  std::vector<float> host(kN * kN), back(kN * kN);
  for (int i = 0; i < kN * kN; ++i) host[i] = static_cast<float>(i % 8191);
  float *in, *out;
  if (cudaMalloc(&in, kBytes) != cudaSuccess || cudaMalloc(&out, kBytes) != cudaSuccess) return 1;
  cudaMemcpy(in, host.data(), kBytes, cudaMemcpyHostToDevice);

  constexpr int kRows = 64;
  const double accesses = 1.0 * kN * kRows;
  const double seconds_naive =
      best_seconds([&] { naive<<<dim3(kN / 32, kRows / 8), dim3(32, 8)>>>(in, out); }, 60);
  const double seconds_tiled =
      best_seconds([&] { tiled<<<dim3(kN / 32, kRows / 32), dim3(32, 8)>>>(in, out); }, 60);
  const double seconds_whole =
      best_seconds([&] { tiled<<<dim3(kN / 32, kN / 32), dim3(32, 8)>>>(in, out); }, 5);

  cudaMemcpy(back.data(), out, kBytes, cudaMemcpyDeviceToHost);
  cudaFree(in);
  cudaFree(out);
  for (int i = 0; i < kN * kN; ++i) {
    if (back[i % kN * kN + i / kN] == host[i]) continue;
    std::printf("the transpose is wrong at %d\n", i);
    return 1;
  }
  print("naive transpose:", seconds_naive / (2 * accesses));
  print("tiled transpose:", seconds_tiled / (4 * accesses));
  std::printf("tiled, 1024 x 1024: %5.3f s\n", seconds_whole);
  return 0;
}
