// Breadth-first search of a graph, level by level, with a queue that lanes fill together.
#include <cooperative_groups.h>

#include <cstdio>
#include <queue>
#include <utility>
#include <vector>

namespace cg = cooperative_groups;

__device__ int queue_size;

// begins: (nodes + 1), edges: (begins[nodes]), distances: (nodes), -1 where not reached yet
__global__ void expand(int count, const int* queue, const int* begins, const int* edges, int level,
                       int* distances, int* next) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  const int node = queue[i];
  for (int e = begins[node]; e < begins[node + 1]; ++e) {
    if (atomicCAS(&distances[edges[e]], -1, level) != -1) continue;
    // The lanes that found a new node reserve places with one atomic operation.
    const cg::coalesced_group finders = cg::coalesced_threads();
    int place = 0;
    if (finders.thread_rank() == 0) {
      place = atomicAdd(&queue_size, static_cast<int>(finders.size()));
    }
    next[finders.shfl(place, 0) + finders.thread_rank()] = edges[e];
  }
}

int main() {
  constexpr int n = 700;
  std::vector<int> begins = {0}, edges, expected(n, -1), distances(n);
  unsigned state = 9;
  for (int node = 0; node < n; ++node) {
    for (int e = 0; e < 1 + node % 4; ++e) {
      state = state * 1664525u + 1013904223u;
      edges.push_back(static_cast<int>((state >> 8) % n));
    }
    begins.push_back(static_cast<int>(edges.size()));
  }
  std::queue<int> waiting({0});
  expected[0] = 0;
  for (; !waiting.empty(); waiting.pop()) {
    const int node = waiting.front();
    for (int e = begins[node]; e < begins[node + 1]; ++e) {
      if (expected[edges[e]] != -1) continue;
      expected[edges[e]] = expected[node] + 1;
      waiting.push(edges[e]);
    }
  }

  int *device_begins, *device_edges, *device_distances, *queue, *next;
  cudaMalloc(&device_begins, begins.size() * sizeof(int));
  cudaMalloc(&device_edges, edges.size() * sizeof(int));
  cudaMalloc(&device_distances, n * sizeof(int));
  cudaMalloc(&queue, n * sizeof(int));
  cudaMalloc(&next, n * sizeof(int));
  cudaMemcpy(device_begins, begins.data(), begins.size() * sizeof(int), cudaMemcpyHostToDevice);
  cudaMemcpy(device_edges, edges.data(), edges.size() * sizeof(int), cudaMemcpyHostToDevice);
  cudaMemset(device_distances, 0xff, n * sizeof(int));
  cudaMemset(device_distances, 0, sizeof(int));
  cudaMemset(queue, 0, sizeof(int));
  int count = 1;
  for (int level = 1; count > 0; ++level) {
    const int zero = 0;
    cudaMemcpyToSymbol(queue_size, &zero, sizeof(int));
    expand<<<(count + 63) / 64, 64>>>(count, queue, device_begins, device_edges, level,
                                      device_distances, next);
    cudaMemcpyFromSymbol(&count, queue_size, sizeof(int));
    std::swap(queue, next);
  }
  cudaMemcpy(distances.data(), device_distances, n * sizeof(int), cudaMemcpyDeviceToHost);
  const bool right = distances == expected;
  std::printf("bfs: %s\n", right ? "ok" : "FAILED");
  for (int* pointer : {device_begins, device_edges, device_distances, queue, next}) {
    cudaFree(pointer);
  }
  return right ? 0 : 1;
}
