// Heat in a rod: each step needs all of the step before, so the whole grid waits between them. One launch does
// all steps, as a cooperative kernel; the host's loop is the reference.
#include <cooperative_groups.h>

#include <cmath>
#include <cstdio>
#include <utility>
#include <vector>

namespace cg = cooperative_groups;

// Both ends keep their temperature.
__global__ void diffuse(double* now, double* next, int n, int steps) {
  const cg::grid_group grid = cg::this_grid();
  for (int step = 0; step < steps; ++step) {
    for (int i = grid.thread_rank(); i < n; i += grid.size()) {
      const bool inside = i > 0 && i + 1 < n;
      next[i] = inside ? now[i] + 0.25 * (now[i - 1] - 2 * now[i] + now[i + 1]) : now[i];
    }
    grid.sync();
    double* const swap = now;
    now = next;
    next = swap;
  }
}

int main() {
  int n = 5000, steps = 20;
  std::vector<double> rod(n), want;
  for (int i = 0; i < n; ++i) rod[i] = (i * 37) % 101;
  want = rod;
  for (int step = 0; step < steps; ++step) {
    std::vector<double> next = want;
    for (int i = 1; i + 1 < n; ++i)
      next[i] = want[i] + 0.25 * (want[i - 1] - 2 * want[i] + want[i + 1]);
    want = std::move(next);
  }

  double *now, *next;
  cudaMalloc(&now, n * sizeof(double));
  cudaMalloc(&next, n * sizeof(double));
  cudaMemcpy(now, rod.data(), n * sizeof(double), cudaMemcpyHostToDevice);

  // As many blocks as the device holds at once, and no more.
  int per_multiprocessor = 0, multiprocessors = 0;
  cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per_multiprocessor, diffuse, 128, 0);
  cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, 0);
  const int most = per_multiprocessor * multiprocessors;
  void* arguments[] = {&now, &next, &n, &steps};
  const cudaError_t too_many = cudaLaunchCooperativeKernel(diffuse, most + 1, 128, arguments);
  cudaGetLastError();
  const cudaError_t error =
      cudaLaunchCooperativeKernel((void*)diffuse, dim3(24), dim3(128), arguments, 0, nullptr);

  cudaMemcpy(rod.data(), now, n * sizeof(double), cudaMemcpyDeviceToHost);
  bool right = error == cudaSuccess && too_many == cudaErrorCooperativeLaunchTooLarge;
  for (int i = 0; i < n; ++i) right = right && std::fabs(rod[i] - want[i]) < 1e-9;
  std::printf("grid_sync: %s\n", right ? "ok" : "FAILED");
  cudaFree(now);
  cudaFree(next);
  return right ? 0 : 1;
}
