// Tiles that are fetched while the tile before is used: the same sums by every way of copying asynchronously.
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cuda_pipeline.h>

#include <cstdio>
#include <cuda/barrier>
#include <cuda/pipeline>
#include <vector>

namespace cg = cooperative_groups;

constexpr int kTile = 128;

// Each thread adds up what lies mirrored in its place of every tile.
__global__ void primitives(const float* in, float* out, int tiles) {
  __shared__ alignas(16) float tile[2][kTile];
  const int t = threadIdx.x;
  float sum = 0;
  if (t < kTile / 4) __pipeline_memcpy_async(&tile[0][4 * t], &in[4 * t], sizeof(float4));
  __pipeline_commit();
  for (int i = 0; i < tiles; ++i) {
    if (i + 1 < tiles && t < kTile / 4)
      __pipeline_memcpy_async(&tile[(i + 1) % 2][4 * t], &in[(i + 1) * kTile + 4 * t],
                              sizeof(float4));
    __pipeline_commit();
    __pipeline_wait_prior(1);
    __syncthreads();
    sum += tile[i % 2][kTile - 1 - t];
    __syncthreads();
  }
  out[t] = sum;
}

__global__ void thread_pipeline(const float* in, float* out, int tiles) {
  __shared__ float tile[2][kTile];
  cuda::pipeline<cuda::thread_scope_thread> pipe = cuda::make_pipeline();
  const int t = threadIdx.x;
  float sum = 0;
  for (int i = 0, fetched = 0; i < tiles; ++i) {
    for (; fetched < tiles && fetched < i + 2; ++fetched) {
      pipe.producer_acquire();
      cuda::memcpy_async(&tile[fetched % 2][t], &in[fetched * kTile + t],
                         cuda::aligned_size_t<4>(sizeof(float)), pipe);
      pipe.producer_commit();
    }
    pipe.consumer_wait();
    __syncthreads();
    sum += tile[i % 2][kTile - 1 - t];
    pipe.consumer_release();
    __syncthreads();
  }
  out[t] = sum;
}

__global__ void block_pipeline(const float* in, float* out, int tiles) {
  __shared__ float tile[2][kTile];
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
  const cg::thread_block block = cg::this_thread_block();
  auto pipe = cuda::make_pipeline(block, &state);
  float sum = 0;
  for (int i = 0, fetched = 0; i < tiles; ++i) {
    for (; fetched < tiles && fetched < i + 2; ++fetched) {
      pipe.producer_acquire();
      cuda::memcpy_async(block, tile[fetched % 2], in + fetched * kTile, kTile * sizeof(float),
                         pipe);
      pipe.producer_commit();
    }
    pipe.consumer_wait();
    sum += tile[i % 2][kTile - 1 - threadIdx.x];
    pipe.consumer_release();
  }
  out[threadIdx.x] = sum;
}

// One warp fetches, the others add; each of those has more than one place.
__global__ void specialised(const float* in, float* out, int tiles) {
  __shared__ float tile[2][kTile];
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
  const cg::thread_block block = cg::this_thread_block();
  const bool produces = threadIdx.x < 32;
  auto pipe = cuda::make_pipeline(
      block, &state, produces ? cuda::pipeline_role::producer : cuda::pipeline_role::consumer);
  if (produces) {
    const auto warp = cg::tiled_partition<32>(block);
    for (int i = 0; i < tiles; ++i) {
      pipe.producer_acquire();
      cuda::memcpy_async(warp, tile[i % 2], in + i * kTile, kTile * sizeof(float), pipe);
      pipe.producer_commit();
    }
    return;
  }
  const int t = threadIdx.x - 32;
  for (int i = 0; i < tiles; ++i) {
    pipe.consumer_wait();
    for (int place = t; place < kTile; place += 96)
      out[place] = (i ? out[place] : 0) + tile[i % 2][kTile - 1 - place];
    pipe.consumer_release();
  }
}

__global__ void barriers(const float* in, float* out, int tiles) {
  using Barrier = cuda::barrier<cuda::thread_scope_block>;
  __shared__ Barrier filled, used;
  __shared__ float tile[kTile];
  const cg::thread_block block = cg::this_thread_block();
  if (threadIdx.x == 0) {
    init(&filled, blockDim.x);
    init(&used, blockDim.x);
  }
  __syncthreads();
  float sum = 0;
  for (int i = 0; i < tiles; ++i) {
    cuda::memcpy_async(block, tile, in + i * kTile, kTile * sizeof(float), filled);
    Barrier::arrival_token token = filled.arrive();
    filled.wait(std::move(token));
    sum += tile[kTile - 1 - threadIdx.x];
    used.arrive_and_wait();
  }
  out[threadIdx.x] = sum;
}

__global__ void groups(const float* in, float* out, int tiles) {
  extern __shared__ float dynamic[];
  const cg::thread_block block = cg::this_thread_block();
  float sum = 0;
  cg::memcpy_async(block, dynamic, in, kTile * sizeof(float));
  for (int i = 0; i < tiles; ++i) {
    if (i + 1 < tiles) {
      cg::memcpy_async(block, dynamic + (i + 1) % 2 * kTile, kTile, in + (i + 1) * kTile, kTile);
      cg::wait_prior<1>(block);
    } else {
      cg::wait(block);
    }
    sum += dynamic[i % 2 * kTile + kTile - 1 - threadIdx.x];
    block.sync();
  }
  out[threadIdx.x] = sum;
}

int main() {
  const int tiles = 7;
  std::vector<float> host(tiles * kTile), want(kTile, 0.0f);
  for (size_t i = 0; i < host.size(); ++i) {
    host[i] = static_cast<float>(i * 7 % 1013);
    want[kTile - 1 - i % kTile] += host[i];
  }
  float *in, *out;
  cudaMalloc(&in, host.size() * sizeof(float));
  cudaMallocManaged(&out, kTile * sizeof(float));
  cudaMemcpy(in, host.data(), host.size() * sizeof(float), cudaMemcpyHostToDevice);

  bool right = true;
  const auto check = [&](const char* name) {
    right = right && cudaDeviceSynchronize() == cudaSuccess;
    for (int i = 0; i < kTile; ++i) {
      if (out[i] == want[i]) continue;
      std::printf("%s: out[%d] is %g, not %g\n", name, i, out[i], want[i]);
      right = false;
      break;
    }
    for (int i = 0; i < kTile; ++i) out[i] = -1;
  };
  primitives<<<1, kTile>>>(in, out, tiles);
  check("primitives");
  thread_pipeline<<<1, kTile>>>(in, out, tiles);
  check("thread_pipeline");
  block_pipeline<<<1, kTile>>>(in, out, tiles);
  check("block_pipeline");
  specialised<<<1, kTile>>>(in, out, tiles);
  check("specialised");
  barriers<<<1, kTile>>>(in, out, tiles);
  check("barriers");
  groups<<<1, kTile, 2 * kTile * sizeof(float)>>>(in, out, tiles);
  check("groups");
  std::printf("async_copy: %s\n", right ? "ok" : "FAILED");
  cudaFree(in);
  cudaFree(out);
  return right ? 0 : 1;
}
