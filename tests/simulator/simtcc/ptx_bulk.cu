// Bulk copies, of bytes and of boxes of a tensor, with the mbarriers that count them. nvcc compiles this file as well (test_ptx.py).
#include <cuda.h>
#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <vector>

static int failed = 0;
static void expect(bool good, const char* what, int line) {
  if (good) return;
  std::printf("FAILED: line %d: %s\n", line, what);
  ++failed;
}
#define EXPECT(condition) expect(condition, #condition, __LINE__)

using u64 = unsigned long long;

__device__ unsigned shared_address(const void* p) {
  return static_cast<unsigned>(__cvta_generic_to_shared(p));
}
__device__ void init(u64* barrier, unsigned arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(barrier)),
               "r"(arrivals)
               : "memory");
}
__device__ void announce(u64* barrier, unsigned bytes) {
  asm volatile(
      "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(barrier)),
      "r"(bytes)
      : "memory");
}
__device__ void wait(u64* barrier, unsigned parity) {
  asm volatile(
      "{\n"
      ".reg .pred over;\n"
      "again: mbarrier.try_wait.parity.shared::cta.b64 over, [%0], %1;\n"
      "@!over bra again;\n"
      "}" ::"r"(shared_address(barrier)),
      "r"(parity)
      : "memory");
}

// ---- bytes: a ring of two stages, in halves whose announcement comes after the copy

__global__ void stream(const float* in, float* out, int tiles) {
  __shared__ __align__(128) float stage[2][128];
  __shared__ u64 full[2], empty[2];
  const int t = threadIdx.x;
  if (t == 0) {
    for (int s = 0; s < 2; ++s) init(&full[s], 1), init(&empty[s], 4);
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  __syncthreads();
  if (t >= 128) {  // the producer
    asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
    if (t > 128) return;
    for (int i = 0; i < tiles; ++i) {
      const int s = i % 2;
      if (i >= 2) wait(&empty[s], (i / 2 - 1) % 2);
      for (int half = 0; half < 2; ++half) {
        asm volatile(
            "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, "
            "[%3];" ::"r"(shared_address(&stage[s][64 * half])),
            "l"(in + 128 * i + 64 * half), "r"(256), "r"(shared_address(&full[s]))
            : "memory");
      }
      asm volatile("mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%0], 256;" ::"r"(
                       shared_address(&full[s]))
                   : "memory");
      announce(&full[s], 256);
    }
    return;
  }
  for (int i = 0; i < tiles; ++i) {
    const int s = i % 2;
    wait(&full[s], i / 2 % 2);
    out[128 * i + t] = 2 * stage[s][t];
    __syncwarp();
    if (t % 32 == 0)
      asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(shared_address(&empty[s]))
                   : "memory");
  }
}

void test_stream() {
  constexpr int tiles = 7, n = 128 * tiles;
  std::vector<float> values(n);
  for (int i = 0; i < n; ++i) values[i] = static_cast<float>(i);
  float *in, *out;
  cudaMalloc(&in, n * sizeof(float));
  cudaMalloc(&out, n * sizeof(float));
  cudaMemcpy(in, values.data(), n * sizeof(float), cudaMemcpyHostToDevice);
  stream<<<1, 256>>>(in, out, tiles);
  EXPECT(cudaMemcpy(values.data(), out, n * sizeof(float), cudaMemcpyDeviceToHost) == cudaSuccess);
  bool good = true;
  for (int i = 0; i < n; ++i) good &= values[i] == 2 * static_cast<float>(i);
  EXPECT(good);
  cudaFree(in);
  cudaFree(out);
}

// ---- boxes

// Brings a box of 16-bit elements, shows the bytes, and takes it to another tensor.
template <int rank>
__global__ void box(const __grid_constant__ CUtensorMap from,
                    const __grid_constant__ CUtensorMap to, int x, int y, int z, unsigned bytes,
                    unsigned* shown) {
  __shared__ __align__(1024) unsigned tile[2048];
  __shared__ u64 full;
  if (threadIdx.x == 0) {
    init(&full, 1);
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    announce(&full, bytes);
    if constexpr (rank == 2)
      asm volatile(
          "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], "
          "[%1, {%2, %3}], [%4];" ::"r"(shared_address(tile)),
          "l"(&from), "r"(x), "r"(y), "r"(shared_address(&full))
          : "memory");
    else
      asm volatile(
          "cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], "
          "[%1, {%2, %3, %4}], [%5];" ::"r"(shared_address(tile)),
          "l"(&from), "r"(x), "r"(y), "r"(z), "r"(shared_address(&full))
          : "memory");
  }
  __syncthreads();
  wait(&full, 0);
  for (unsigned i = threadIdx.x; i < bytes / 4; i += blockDim.x) shown[i] = tile[i];
  if (threadIdx.x == 0) {
    if constexpr (rank == 2)
      asm volatile(
          "cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%0, {%1, %2}], [%3];" ::"l"(
              &to),
          "r"(x), "r"(y), "r"(shared_address(tile))
          : "memory");
    else
      asm volatile(
          "cp.async.bulk.tensor.3d.global.shared::cta.bulk_group [%0, {%1, %2, %3}], [%4];" ::"l"(
              &to),
          "r"(x), "r"(y), "r"(z), "r"(shared_address(tile))
          : "memory");
    asm volatile("cp.async.bulk.commit_group;");
    asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
  }
}

constexpr int kX = 72, kY = 20, kZ = 3, kPitch = 80;  // elements

CUtensorMap map_of(std::uint16_t* tensor, int rank, unsigned width, unsigned height, int swizzle) {
  void* entry = nullptr;
  cudaDriverEntryPointQueryResult found;
  EXPECT(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &entry, 12000,
                                          cudaEnableDefault, &found) == cudaSuccess);
  EXPECT(found == cudaDriverEntryPointSuccess);
  const cuuint64_t size[] = {kX, kY, kZ}, pitch[] = {2 * kPitch, 2 * kPitch * kY};
  const cuuint32_t extent[] = {width, height, 2}, steps[] = {1, 1, 1};
  CUtensorMap map;
  EXPECT(reinterpret_cast<decltype(&cuTensorMapEncodeTiled)>(entry)(
             &map, CU_TENSOR_MAP_DATA_TYPE_UINT16, rank, tensor, size, pitch, extent, steps,
             CU_TENSOR_MAP_INTERLEAVE_NONE, static_cast<CUtensorMapSwizzle>(swizzle),
             CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE) == CUDA_SUCCESS);
  return map;
}

template <int rank>
void test_box(int width, int height, int x, int y, int z, int swizzle) {
  const int depth = rank == 3 ? 2 : 1;
  constexpr int elements = kPitch * kY * kZ;
  std::vector<std::uint16_t> values(elements), copied(elements);
  for (int i = 0; i < elements; ++i) values[i] = static_cast<std::uint16_t>(i + 1);
  std::uint16_t *in, *out;
  unsigned* shown;
  const int box_bytes = 2 * width * height * depth;
  cudaMalloc(&in, 2 * elements);
  cudaMalloc(&out, 2 * elements);
  cudaMalloc(&shown, box_bytes);
  cudaMemcpy(in, values.data(), 2 * elements, cudaMemcpyHostToDevice);
  cudaMemset(out, 0, 2 * elements);
  box<rank><<<1, 64>>>(map_of(in, rank, width, height, swizzle),
                       map_of(out, rank, width, height, swizzle), x, y, z, box_bytes, shown);
  std::vector<std::uint16_t> tile(box_bytes / 2);
  EXPECT(cudaMemcpy(tile.data(), shown, box_bytes, cudaMemcpyDeviceToHost) == cudaSuccess);
  cudaMemcpy(copied.data(), out, 2 * elements, cudaMemcpyDeviceToHost);
  bool brought = true;
  std::vector<std::uint16_t> wanted(elements);
  for (int k = 0; k < depth; ++k) {
    for (int j = 0; j < height; ++j) {
      for (int i = 0; i < width; ++i) {
        const bool inside = x + i >= 0 && x + i < kX && y + j >= 0 && y + j < kY && z + k < kZ;
        const int from = (z + k) * kPitch * kY + (y + j) * kPitch + x + i;
        const unsigned byte = 2 * ((k * height + j) * width + i);
        const unsigned at = byte ^ (byte >> 7 & ((1u << swizzle) - 1)) << 4;
        brought &= tile[at / 2] == (inside ? values[from] : 0);
        if (inside) wanted[from] = values[from];
      }
    }
  }
  EXPECT(brought);
  EXPECT(copied == wanted);
  cudaFree(in);
  cudaFree(out);
  cudaFree(shown);
}

int main() {
  test_stream();
  for (int swizzle = 0; swizzle < 4; ++swizzle) {
    const int width = swizzle ? 8 << swizzle : 40;
    test_box<2>(width, 16, 0, 0, 0, swizzle);
    test_box<2>(width, 16, 16, 8, 0, swizzle);
    test_box<2>(width, 16, 56, -3, 0, swizzle);
    test_box<3>(width, 8, -8, 3, 2, swizzle);
  }
  test_box<2>(16, 8, 8, 1, 0, 0);
  test_box<2>(64, 8, 200, 100, 0, 3);
  if (failed) return 1;
  std::printf("done\n");
  return 0;
}
