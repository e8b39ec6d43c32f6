// What ldmatrix and stmatrix count. The wavefronts are those of an H200 (l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld and _st).

#include <gtest/gtest.h>
#include <simt/simt.h>

#include <vector>

namespace {

template <bool stores>
__global__ void access_rows(const unsigned* offsets, unsigned* out) {
  extern __shared__ __align__(1024) unsigned tile[];
  for (unsigned i = threadIdx.x; i < 4096; i += 32) tile[i] = i;
  __syncwarp();
  const unsigned row = static_cast<unsigned>(__cvta_generic_to_shared(tile)) + offsets[threadIdx.x];
  unsigned a = 1, b = 2, c = 3, d = 4;
  if constexpr (stores)
    asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(row),
                 "r"(a), "r"(b), "r"(c), "r"(d)
                 : "memory");
  else
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(a), "=r"(b), "=r"(c), "=r"(d)
                 : "r"(row));
  out[threadIdx.x] = a + b + c + d;
}

struct Pattern {
  const char* name;
  unsigned (*offset)(unsigned lane);
  unsigned wavefronts;
};
const Pattern kPatterns[] = {
    {"rows of 16 bytes", [](unsigned lane) { return 16 * lane; }, 4},
    {"rows of 32 bytes", [](unsigned lane) { return 32 * lane; }, 8},
    {"rows of 64 bytes", [](unsigned lane) { return 64 * lane; }, 16},
    {"rows of 80 bytes", [](unsigned lane) { return 80 * lane; }, 4},
    {"rows of 128 bytes", [](unsigned lane) { return 128 * lane; }, 32},
    {"rows of 144 bytes", [](unsigned lane) { return 144 * lane; }, 4},
    {"rows of 256 bytes", [](unsigned lane) { return 256 * lane; }, 32},
    {"rows of 128 bytes, swizzled",
     [](unsigned lane) { return 128 * (lane % 16) + 16 * (lane / 16 ^ lane % 8); }, 4},
    // Loads of 16 bytes would take half as many where neighbours agree.
    {"one row", [](unsigned) { return 0u; }, 4},
    {"pairs", [](unsigned lane) { return 16 * (lane / 2); }, 4},
    {"pairs of rows of 128 bytes", [](unsigned lane) { return 128 * (lane / 2); }, 16},
};

template <bool stores>
void test_patterns() {
  unsigned *offsets, *out;
  cudaMalloc(&offsets, 128);
  cudaMalloc(&out, 128);
  for (const Pattern& pattern : kPatterns) {
    if (stores && pattern.offset(1) < 16) continue;  // lanes would race
    std::vector<unsigned> values(32);
    for (unsigned lane = 0; lane < 32; ++lane) values[lane] = pattern.offset(lane);
    cudaMemcpy(offsets, values.data(), 128, cudaMemcpyHostToDevice);
    access_rows<stores><<<1, 32, 16384>>>(offsets, out);
    ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
    const simt::Counts counts = simt::launch(simt::launch_count() - 1).counts;
    constexpr unsigned kFilling = 128;  // stores of 4 bytes, each a wavefront
    EXPECT_EQ(stores ? counts.shared_store_wavefronts - kFilling : counts.shared_load_wavefronts,
              pattern.wavefronts)
        << pattern.name;
    EXPECT_EQ(stores ? counts.shared_store_bank_conflicts : counts.shared_load_bank_conflicts,
              pattern.wavefronts - 4)
        << pattern.name;
  }
  cudaFree(offsets);
  cudaFree(out);
}

TEST(MatrixRows, Loads) { test_patterns<false>(); }
TEST(MatrixRows, Stores) { test_patterns<true>(); }

}  // namespace
