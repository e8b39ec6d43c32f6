// wgmma with operands in every layout, against a product on the host. nvcc compiles this file as well (test_ptx.py). Of the layouts a GPU
// has confirmed that of 128-byte swizzles along the sum; the others are as the PTX ISA has them, and not measured.
#include <cuda_bf16.h>

#include <cstdio>
#include <vector>

static int failed = 0;
using u64 = unsigned long long;

constexpr int kM = 64, kN = 64, kK = 32;

// Where an element of a matrix of 64 lines (rows of A, columns of B) lies in shared memory: the layouts of the PTX ISA. Along a
// line, or (turned) along the sum's index, neighbours are neighbours.
struct Layout {
  int swizzle;  // 0 to 3: none, 32, 64, 128 bytes
  bool is_turned;

  __host__ __device__ int span() const { return 16 << swizzle; }  // bytes
  // Bytes from one group of 8 lines (turned: of 8 steps of the sum) to the next, and from one span to the next.
  __host__ __device__ int stride() const {
    if (!swizzle) return 128;
    return 8 * span();
  }
  __host__ __device__ int leading() const {
    if (!swizzle) return 8 * 128;
    return is_turned ? kK / 8 * stride() : 0;
  }
  __host__ __device__ int place(int line, int k) const {
    int at;
    if (!swizzle) {
      at = (is_turned ? line % 8 * 2 + k % 8 * 16 : line % 8 * 16 + k % 8 * 2) +
           line / 8 * stride() + k / 8 * leading();
    } else if (!is_turned) {  // spans of the sum side by side, each for all lines
      at = k * 2 / span() * 64 * span() + line % 8 * span() + line / 8 * stride() + k * 2 % span();
    } else {
      at = line * 2 % span() + line * 2 / span() * leading() + k % 8 * span() + k / 8 * stride();
    }
    return at ^ (at >> 7 & ((1 << swizzle) - 1)) << 4;
  }
  // From one step of 16 to the next.
  __host__ __device__ int step() const {
    if (!swizzle) return 2 * leading();
    return is_turned ? 2 * stride() : span() > 32 ? 32 : 64 * span();
  }
};

__device__ u64 descriptor(u64 at, Layout layout) {
  const u64 codes[] = {0, 3, 2, 1};
  return (at >> 4 & 0x3fff) | u64(layout.leading() >> 4) << 16 | u64(layout.stride() >> 4) << 32 |
         codes[layout.swizzle] << 62;
}

constexpr int kTileBytes = 64 * kK * 2 * 2;
// An address of shared memory as instructions take it.
__device__ unsigned in_window(const void* p) {
  return static_cast<unsigned>(__cvta_generic_to_shared(p));
}

// The tiles are static arrays, or lie `at` bytes from the start of the dynamic memory, and a word that is no operand is static.
template <int swizzle, bool turns_a, bool turns_b, bool in_registers, bool is_dynamic>
__global__ void product(const __nv_bfloat16* a, const __nv_bfloat16* b, float* out, int at) {
  constexpr int kStatic = is_dynamic ? 16 : kTileBytes;
  __shared__ __align__(1024) unsigned char static_a[kStatic], static_b[kStatic];
  extern __shared__ __align__(1024) unsigned char dynamic[];
  unsigned char* const tile_a = is_dynamic ? dynamic + at : static_a;
  unsigned char* const tile_b = is_dynamic ? tile_a + kTileBytes : static_b;
  const unsigned a_at = is_dynamic ? in_window(dynamic) + at : in_window(static_a);
  const unsigned b_at = is_dynamic ? a_at + kTileBytes : in_window(static_b);
  if (is_dynamic && threadIdx.x == 0)
    asm volatile("st.shared.u32 [%0], 1;" ::"r"(in_window(static_a)) : "memory");
  constexpr Layout layout_a{swizzle, turns_a}, layout_b{swizzle, turns_b};
  for (int i = threadIdx.x; i < 64 * kK; i += 128) {
    *reinterpret_cast<__nv_bfloat16*>(tile_a + layout_a.place(i / kK, i % kK)) = a[i];
    *reinterpret_cast<__nv_bfloat16*>(tile_b + layout_b.place(i / kK, i % kK)) = b[i];
  }
  asm volatile("fence.proxy.async;" ::: "memory");
  __syncthreads();
  const int row = threadIdx.x / 32 * 16 + threadIdx.x % 32 / 4, column = threadIdx.x % 4 * 2;
  float d[32];
  for (int i = 0; i < 32; ++i) d[i] = 1;
  unsigned x[kK / 16][4];
  for (int s = 0; s < kK / 16; ++s) {
    for (int i = 0; i < 4; ++i)
      x[s][i] = *reinterpret_cast<const unsigned*>(
          &a[(row + i % 2 * 8) * kK + 16 * s + column + i / 2 * 8]);
  }
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
  for (int s = 0; s < kK / 16; ++s) {
    const u64 from_b = descriptor(b_at + s * layout_b.step(), layout_b);
    if constexpr (in_registers) {
      asm volatile(
          "{\n.reg .pred p;\nsetp.ne.b32 p, %37, 0;\n"
          "wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 {%0, %1, %2, %3, %4, %5, %6, %7, "
          "%8, %9, %10, %11, %12, %13, %14, %15, "
          "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31}, {%32, "
          "%33, %34, %35}, %36, p, "
          "1, 1, %38;\n}"
          : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]),
            "+f"(d[7]), "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]),
            "+f"(d[14]), "+f"(d[15]), "+f"(d[16]), "+f"(d[17]), "+f"(d[18]), "+f"(d[19]),
            "+f"(d[20]), "+f"(d[21]), "+f"(d[22]), "+f"(d[23]), "+f"(d[24]), "+f"(d[25]),
            "+f"(d[26]), "+f"(d[27]), "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31])
          : "r"(x[s][0]), "r"(x[s][1]), "r"(x[s][2]), "r"(x[s][3]), "l"(from_b), "r"(s),
            "n"(turns_b));
    } else {
      const u64 from_a = descriptor(a_at + s * layout_a.step(), layout_a);
      asm volatile(
          "{\n.reg .pred p;\nsetp.ne.b32 p, %34, 0;\n"
          "wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 {%0, %1, %2, %3, %4, %5, %6, %7, "
          "%8, %9, %10, %11, %12, %13, %14, %15, "
          "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31}, %32, "
          "%33, p, -1, 1, %35, "
          "%36;\n}"
          : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]),
            "+f"(d[7]), "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]),
            "+f"(d[14]), "+f"(d[15]), "+f"(d[16]), "+f"(d[17]), "+f"(d[18]), "+f"(d[19]),
            "+f"(d[20]), "+f"(d[21]), "+f"(d[22]), "+f"(d[23]), "+f"(d[24]), "+f"(d[25]),
            "+f"(d[26]), "+f"(d[27]), "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31])
          : "l"(from_a), "l"(from_b), "r"(s), "n"(turns_a), "n"(turns_b));
    }
  }
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
  // Keeps the compiler from moving what uses the sums; not an access, as in CUTLASS's warpgroup_fence_operand().
  for (int i = 0; i < 32; ++i) asm volatile("" : "+f"(d[i])::"memory");
  asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
  for (int i = 0; i < 32; ++i) out[(row + i / 2 % 2 * 8) * kN + i / 4 * 8 + column + i % 2] = d[i];
}

template <int swizzle, bool turns_a, bool turns_b, bool in_registers = false,
          bool is_dynamic = false>
void test(int at = 0) {
  std::vector<__nv_bfloat16> a(kM * kK), b(kN * kK);
  for (int i = 0; i < kM * kK; ++i) {
    a[i] = __float2bfloat16(static_cast<float>(i * 7 % 23 - 11));
    b[i] = __float2bfloat16(static_cast<float>(i * 5 % 19 - 9));
  }
  __nv_bfloat16 *on_device_a, *on_device_b;
  float* out;
  cudaMalloc(&on_device_a, a.size() * 2);
  cudaMalloc(&on_device_b, b.size() * 2);
  cudaMalloc(&out, kM * kN * sizeof(float));
  cudaMemcpy(on_device_a, a.data(), a.size() * 2, cudaMemcpyHostToDevice);
  cudaMemcpy(on_device_b, b.data(), b.size() * 2, cudaMemcpyHostToDevice);
  const auto kernel = product<swizzle, turns_a, turns_b, in_registers, is_dynamic>;
  const int bytes = is_dynamic ? at + 2 * kTileBytes : 0;
  cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
  kernel<<<1, 128, bytes>>>(on_device_a, on_device_b, out, at);
  std::vector<float> sums(kM * kN);
  const cudaError_t error =
      cudaMemcpy(sums.data(), out, sums.size() * sizeof(float), cudaMemcpyDeviceToHost);
  int wrong = error != cudaSuccess;
  for (int i = 0; i < kM; ++i) {
    for (int j = 0; j < kN; ++j) {
      float sum = 0;
      for (int k = 0; k < kK; ++k)
        sum += __bfloat162float(a[i * kK + k]) * __bfloat162float(b[j * kK + k]);
      wrong += sums[i * kN + j] != (in_registers ? sum : -sum);
    }
  }
  if (wrong) {
    std::printf("FAILED: swizzle %d, turned %d %d, registers %d, at %d: %d wrong, %s\n", swizzle,
                turns_a, turns_b, in_registers, at, wrong, cudaGetErrorString(error));
    ++failed;
  }
  cudaFree(on_device_a);
  cudaFree(on_device_b);
  cudaFree(out);
}

template <int swizzle>
void test_all() {
  test<swizzle, false, false>();
  test<swizzle, false, true>();
  test<swizzle, true, false>();
  test<swizzle, true, true>();
  test<swizzle, false, false, true>();
  test<swizzle, false, true, true>();
}

int main() {
  test_all<0>();
  test_all<1>();
  test_all<2>();
  test_all<3>();
  // All kernels' static arrays together are larger than the 256 KiB that a descriptor tells apart.
  for (int at = 0; at <= 192 * 1024; at += 16 * 1024) test<3, false, true, false, true>(at);
  if (failed) return 1;
  std::printf("done\n");
  return 0;
}
