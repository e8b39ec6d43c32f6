// Inline PTX as public kernels have it, and the same kernel with CUDA's functions: one result, and one set of counts
// (tests/simulator/simtcc/test_ptx.py).
#include <cuda_pipeline.h>

#include <cstdint>
#include <cstdio>
#include <vector>

constexpr int kTile = 128;  // floats of a tile
constexpr int kThreads = 64;

#define CP_ASYNC_CG(dst, src, bytes)                                                        \
  asm volatile("cp.async.cg.shared.global.L2::128B [%0], [%1], %2;\n" ::"r"(dst), "l"(src), \
               "n"(bytes))
#define CP_ASYNC_COMMIT_GROUP() asm volatile("cp.async.commit_group;\n" ::)
#define CP_ASYNC_WAIT_GROUP(n) asm volatile("cp.async.wait_group %0;\n" ::"n"(n))

__device__ __forceinline__ unsigned lane_id() {
  unsigned lane;
  asm("mov.u32 %0, %%laneid;" : "=r"(lane));
  return lane;
}

template <typename T>
__device__ __forceinline__ std::uint32_t smem_u32(const T* p) {
  return static_cast<std::uint32_t>(__cvta_generic_to_shared(p));
}

// A read-only value, past L1.
template <bool kWide>
__device__ __forceinline__ float2 load_streaming(const float2* p) {
  float2 v;
  if constexpr (kWide) {
    asm volatile("ld.global.nc.L1::no_allocate.v2.f32 {%0, %1}, [%2];"
                 : "=f"(v.x), "=f"(v.y)
                 : "l"(p));
  } else {
    asm volatile("ld.global.nc.f32 %0, [%1];" : "=f"(v.x) : "l"(&p->x));
    asm volatile("ld.global.nc.f32 %0, [%1];" : "=f"(v.y) : "l"(&p->y));
  }
  return v;
}

// y[t] += the sum over all tiles of what lies in place t and its mirror, weighted; the tiles come in by cp.async, double-buffered.
// counts[0] += warps, counts[1] += threads.
__global__ void tiles_ptx(const float* x, const float2* weights, float* y, int* counts, int tiles) {
  __shared__ alignas(16) float tile[2][kTile];
  const int t = static_cast<int>(threadIdx.x);
  float sum = 0;
  if (t < kTile / 4) CP_ASYNC_CG(smem_u32(&tile[0][4 * t]), x + 4 * t, 16);
  CP_ASYNC_COMMIT_GROUP();
  for (int i = 0; i < tiles; ++i) {
    if (i + 1 < tiles && t < kTile / 4)
      CP_ASYNC_CG(smem_u32(&tile[(i + 1) & 1][4 * t]), x + (i + 1) * kTile + 4 * t, 16);
    CP_ASYNC_COMMIT_GROUP();
    CP_ASYNC_WAIT_GROUP(1);
    asm volatile("bar.sync 0;" ::: "memory");
    const float2 w = load_streaming<true>(weights + i);
    float a, b;
    asm volatile("ld.shared.f32 %0, [%1];" : "=f"(a) : "r"(smem_u32(&tile[i & 1][t])) : "memory");
    asm volatile("ld.shared.f32 %0, [%1];"
                 : "=f"(b)
                 : "r"(smem_u32(&tile[i & 1][kTile - 1 - t]))
                 : "memory");
    asm("fma.rn.f32 %0, %1, %2, %0;" : "+f"(sum) : "f"(a), "f"(w.x));
    asm("fma.rn.f32 %0, %1, %2, %0;" : "+f"(sum) : "f"(b), "f"(w.y));
    asm volatile("bar.sync 0;" ::: "memory");
  }
  asm volatile(
      "{\n\t"
      ".reg .f32 old;\n\t"
      "ld.global.f32 old, [%0];\n\t"
      "add.f32 old, old, %1;\n\t"
      "st.global.f32 [%0], old;\n\t"
      "}" ::"l"(y + t),
      "f"(sum)
      : "memory");
  if (lane_id() == 0) asm volatile("red.global.add.s32 [%0], %1;" ::"l"(counts), "r"(1) : "memory");
  asm volatile("red.global.add.s32 [%0 + 4], 1;" ::"l"(counts) : "memory");
}

__global__ void tiles_cuda(const float* x, const float2* weights, float* y, int* counts,
                           int tiles) {
  __shared__ alignas(16) float tile[2][kTile];
  const int t = static_cast<int>(threadIdx.x);
  float sum = 0;
  if (t < kTile / 4) __pipeline_memcpy_async(&tile[0][4 * t], x + 4 * t, 16);
  __pipeline_commit();
  for (int i = 0; i < tiles; ++i) {
    if (i + 1 < tiles && t < kTile / 4)
      __pipeline_memcpy_async(&tile[(i + 1) & 1][4 * t], x + (i + 1) * kTile + 4 * t, 16);
    __pipeline_commit();
    __pipeline_wait_prior(1);
    __syncthreads();
    const float2 w = __ldg(weights + i);
    sum = fmaf(tile[i & 1][t], w.x, sum);
    sum = fmaf(tile[i & 1][kTile - 1 - t], w.y, sum);
    __syncthreads();
  }
  y[t] += sum;
  if (threadIdx.x % 32 == 0) atomicAdd(counts, 1);
  atomicAdd(counts + 1, 1);
}

int main() {
  constexpr int kTiles = 5;
  std::vector<float> x(kTiles * kTile), y(kThreads);
  std::vector<float2> weights(kTiles);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i % 37) / 8;
  for (int i = 0; i < kTiles; ++i) weights[i] = make_float2(1 + i, 0.5f * i);
  float *dx, *dy;
  float2* dw;
  int* dc;
  cudaMalloc(&dx, x.size() * sizeof(float));
  cudaMalloc(&dy, y.size() * sizeof(float));
  cudaMalloc(&dw, weights.size() * sizeof(float2));
  cudaMalloc(&dc, 2 * sizeof(int));
  cudaMemcpy(dx, x.data(), x.size() * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(dw, weights.data(), weights.size() * sizeof(float2), cudaMemcpyHostToDevice);

  bool good = true;
  for (const auto kernel : {tiles_ptx, tiles_cuda}) {
    cudaMemset(dy, 0, y.size() * sizeof(float));
    cudaMemset(dc, 0, 2 * sizeof(int));
    kernel<<<1, kThreads>>>(dx, dw, dy, dc, kTiles);
    int counts[2] = {};
    cudaMemcpy(y.data(), dy, y.size() * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(counts, dc, sizeof(counts), cudaMemcpyDeviceToHost);
    good &= counts[0] == kThreads / 32 && counts[1] == kThreads;
    for (int t = 0; t < kThreads; ++t) {
      float sum = 0;
      for (int i = 0; i < kTiles; ++i)
        sum += x[i * kTile + t] * weights[i].x + x[i * kTile + kTile - 1 - t] * weights[i].y;
      good &= y[t] == sum;  // exact: these are small multiples of 1/16
    }
  }
  cudaFree(dx);
  cudaFree(dy);
  cudaFree(dw);
  cudaFree(dc);
  std::printf(good ? "inline PTX: passed\n" : "inline PTX: FAILED\n");
  return good ? 0 : 1;
}
