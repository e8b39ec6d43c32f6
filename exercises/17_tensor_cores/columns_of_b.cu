// # B by columns
//
// Kind: repair
// Level: 2
// Minutes: 10
//
// One warp computes D = A B with one `mma.sync.m16n8k16`. This time B lies column by column, as the
// weights of a neural network often do: element (k, n) is `b[n * 16 + k]`. The kernel is that of a
// B by rows, and its result is wrong. Repair it; B is loaded with one `ldmatrix`.

#include <cuda_bf16.h>
#include <cuda_runtime.h>

// a (16, 16) row by row, b (16, 8) column by column, out (16, 8) row by row. One warp.
__global__ void multiply(const __nv_bfloat16* a, const __nv_bfloat16* b, float* out) {
  __shared__ __align__(16) __nv_bfloat16 tile_a[16 * 16], tile_b[8 * 16];
  const int lane = threadIdx.x;
  for (int i = lane; i < 16 * 16; i += 32) tile_a[i] = a[i];
  for (int i = lane; i < 8 * 16; i += 32) tile_b[i] = b[i];
  __syncwarp();

  unsigned fa[4], fb[2];
  const auto at_a = __cvta_generic_to_shared(tile_a + lane % 16 * 16 + lane / 16 * 8);
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(fa[0]), "=r"(fa[1]), "=r"(fa[2]), "=r"(fa[3])
               : "r"(static_cast<unsigned>(at_a)));
#ifdef SOLUTION
  const auto at_b = __cvta_generic_to_shared(tile_b + lane % 8 * 16 + lane / 8 % 2 * 8);
  asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0, %1}, [%2];"
               : "=r"(fb[0]), "=r"(fb[1])
               : "r"(static_cast<unsigned>(at_b)));
#else
  const auto at_b = __cvta_generic_to_shared(tile_b + lane % 16 * 8);
  asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];"
               : "=r"(fb[0]), "=r"(fb[1])
               : "r"(static_cast<unsigned>(at_b)));
#endif
  float d[4] = {};
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
      "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(fa[0]), "r"(fa[1]), "r"(fa[2]), "r"(fa[3]), "r"(fb[0]), "r"(fb[1]));
  for (int r = 0; r < 4; ++r) out[(lane / 4 + r / 2 * 8) * 8 + lane % 4 * 2 + r % 2] = d[r];
}
