// # Whose element is it?
//
// Kind: fill in
// Level: 1
// Minutes: 8
//
// One warp computes D = A B with one instruction, `mma.sync.m16n8k16`: A is 16 x 16, B 16 x 8, both
// BF16, and D 16 x 8 floats. Each lane gets four elements of D. Lane 0 has elements (0, 0), (0, 1),
// (8, 0) and (8, 1), lane 1 has (0, 2), (0, 3), (8, 2) and (8, 3), and lane 4 begins with (1, 0).
// Write which row and which column element r of a lane is in, for all lanes, so that D comes out
// row by row. A and B are loaded.

#include <cuda_bf16.h>
#include <cuda_runtime.h>

#ifdef SOLUTION
__device__ int row_of(int lane, int r) { return lane / 4 + r / 2 * 8; }

__device__ int col_of(int lane, int r) { return lane % 4 * 2 + r % 2; }
#else
__device__ int row_of(int lane, int r) { return (lane + r) % 16; }  // TODO

__device__ int col_of(int lane, int r) { return (lane + r) % 8; }  // TODO
#endif

// A (16, 16) and B (16, 8), row by row. One warp.
__global__ void multiply(const __nv_bfloat16* a, const __nv_bfloat16* b, float* out) {
  __shared__ __align__(16) __nv_bfloat16 tile_a[16 * 16], tile_b[16 * 8];
  const int lane = threadIdx.x;
  for (int i = lane; i < 16 * 16; i += 32) tile_a[i] = a[i];
  for (int i = lane; i < 16 * 8; i += 32) tile_b[i] = b[i];
  __syncwarp();

  unsigned fa[4], fb[2];
  const auto at_a = __cvta_generic_to_shared(tile_a + lane % 16 * 16 + lane / 16 * 8);
  const auto at_b = __cvta_generic_to_shared(tile_b + lane % 16 * 8);
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(fa[0]), "=r"(fa[1]), "=r"(fa[2]), "=r"(fa[3])
               : "r"(static_cast<unsigned>(at_a)));
  asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];"
               : "=r"(fb[0]), "=r"(fb[1])
               : "r"(static_cast<unsigned>(at_b)));
  float d[4] = {};
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
      "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(fa[0]), "r"(fa[1]), "r"(fa[2]), "r"(fa[3]), "r"(fb[0]), "r"(fb[1]));
  for (int r = 0; r < 4; ++r) out[row_of(lane, r) * 8 + col_of(lane, r)] = d[r];
}
