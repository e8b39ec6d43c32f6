// K-means of points in the plane: sums of each cluster in shared memory, a few rounds.
#include <cmath>
#include <cstdio>
#include <vector>

constexpr int kClusters = 5;
struct Sums {
  float x[kClusters], y[kClusters];
  int count[kClusters];
};
__constant__ float2 centers[kClusters];

__host__ __device__ int nearest(float2 point, const float2* c) {
  int best = 0;
  float least = INFINITY;
  for (int k = 0; k < kClusters; ++k) {
    const float dx = point.x - c[k].x, dy = point.y - c[k].y;
    const float distance = dx * dx + dy * dy;
    if (distance < least) {
      least = distance;
      best = k;
    }
  }
  return best;
}

__global__ void assign(int n, const float2* points, Sums* sums) {
  __shared__ Sums local;
  if (threadIdx.x < kClusters) {
    local.x[threadIdx.x] = local.y[threadIdx.x] = 0;
    local.count[threadIdx.x] = 0;
  }
  __syncthreads();
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    const float2 point = points[i];
    const int k = nearest(point, centers);
    atomicAdd(&local.x[k], point.x);
    atomicAdd(&local.y[k], point.y);
    atomicAdd(&local.count[k], 1);
  }
  __syncthreads();
  if (threadIdx.x < kClusters) {
    atomicAdd(&sums->x[threadIdx.x], local.x[threadIdx.x]);
    atomicAdd(&sums->y[threadIdx.x], local.y[threadIdx.x]);
    atomicAdd(&sums->count[threadIdx.x], local.count[threadIdx.x]);
  }
}

int main() {
  constexpr int n = 1500, rounds = 4;
  std::vector<float2> points(n);
  unsigned state = 21;
  const auto uniform = [&state] {
    return (state = state * 1664525u + 1013904223u) / 4294967296.0f;
  };
  for (int i = 0; i < n; ++i) {
    const int k = i % kClusters;  // clouds on a circle, well apart
    points[i].x = 4 * std::cos(1.3f * k) + uniform();
    points[i].y = 4 * std::sin(1.3f * k) + uniform();
  }
  float2 *device_points, center[kClusters], expected[kClusters];
  Sums* sums;
  cudaMalloc(&device_points, n * sizeof(float2));
  cudaMallocManaged(&sums, sizeof(Sums));
  cudaMemcpy(device_points, points.data(), n * sizeof(float2), cudaMemcpyHostToDevice);
  for (int k = 0; k < kClusters; ++k) center[k] = expected[k] = points[k];

  bool same_counts = true;
  for (int round = 0; round < rounds; ++round) {
    cudaMemcpyToSymbol(centers, center, sizeof(center));
    cudaMemset(sums, 0, sizeof(Sums));
    assign<<<(n + 127) / 128, 128>>>(n, device_points, sums);
    cudaDeviceSynchronize();
    double x[kClusters] = {}, y[kClusters] = {};
    int count[kClusters] = {};
    for (const float2& point : points) {
      const int k = nearest(point, expected);
      x[k] += point.x;
      y[k] += point.y;
      ++count[k];
    }
    for (int k = 0; k < kClusters; ++k) {
      same_counts = same_counts && sums->count[k] == count[k] && count[k] > 0;
      center[k] = make_float2(sums->x[k] / sums->count[k], sums->y[k] / sums->count[k]);
      expected[k] = make_float2(x[k] / count[k], y[k] / count[k]);
    }
  }
  bool right = same_counts;
  for (int k = 0; k < kClusters; ++k) {
    right = right && std::fabs(center[k].x - expected[k].x) < 1e-4f &&
            std::fabs(center[k].y - expected[k].y) < 1e-4f;
  }
  std::printf("kmeans: %s\n", right ? "ok" : "FAILED");
  cudaFree(device_points);
  cudaFree(sums);
  return right ? 0 : 1;
}
