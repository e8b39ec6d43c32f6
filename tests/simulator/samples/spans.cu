// Spans of libcu++ in C++17, where the standard library has none, and vectors by Thrust's name for this system.
#include <thrust/device_vector.h>
#include <thrust/execution_policy.h>
#include <thrust/partition.h>
#include <thrust/system/cuda/vector.h>

#include <cstdio>
#include <cuda/std/functional>
#include <cuda/std/span>
#include <vector>

__global__ void add(cuda::std::span<const int> in, cuda::std::span<int> out) {
  const std::size_t i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= in.size() || i >= out.size()) return;
  out[i] = in[i] + static_cast<int>(out.size());
}

__global__ void ends(cuda::std::span<int> all) {
  __shared__ int tile[8];
  const cuda::std::span own(tile);
  static_assert(decltype(own)::extent == 8);
  own[threadIdx.x] = static_cast<int>(threadIdx.x);
  __syncthreads();
  if (threadIdx.x) return;
  int sum = 0;
  for (const int x : own.first(3)) sum += x;
  for (const int x : own.subspan(6)) sum += x;
  all.front() = sum;
  all.last<1>()[0] = own.last(2)[1];
}

int main() {
  const std::vector<int> host = {5, 6, 7, 8, 9};
  const thrust::cuda::vector<int> in = host;
  thrust::cuda::vector<int> out(5);
  add<<<1, 32>>>({thrust::raw_pointer_cast(in.data()), in.size()},
                 {thrust::raw_pointer_cast(out.data()), out.size()});
  std::vector<int> seen(out.begin(), out.end());
  bool right = true;
  for (std::size_t i = 0; i < host.size(); ++i) right = right && seen[i] == host[i] + 5;
  ends<<<1, 8>>>(cuda::std::span<int>(thrust::raw_pointer_cast(out.data()), 5));
  right = right && out[0] == 0 + 1 + 2 + 6 + 7 && out[4] == 7 && out[1] == 11;

  thrust::device_vector<int> stencil(std::vector<int>{0, 1, 0, 1, 1});
  thrust::stable_partition(thrust::device, out.begin(), out.end(), stencil.begin(),
                           ::cuda::std::identity{});
  right = right && out[0] == 11 && out[1] == 13 && out[2] == 7;
  std::printf("spans: %s\n", right ? "ok" : "FAILED");
  return right ? 0 : 1;
}
