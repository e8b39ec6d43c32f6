// # A tile without conflicts
//
// Kind: optimise
// Level: 2
// Minutes: 12
//
// A warp copies a tile of 16 x 64 BF16 to shared memory, in chunks of eight elements, and reads it
// with `ldmatrix`: four 8 x 8 matrices at a time, for which each lane gives the address of one row
// of 16 bytes. `chunk_at` says where chunk `chunk` (0 to 7) of row `row` begins, in elements. With
// rows in order the eight rows of a matrix are 128 bytes apart and lie in the same banks.
//
// Choose another place for each chunk, so that neither the stores nor `ldmatrix` have a conflict.
// The tile stays as large as it is.
//
// Bars: no bank conflict

#include <cuda_bf16.h>
#include <cuda_runtime.h>

__host__ __device__ inline int chunk_at(int row, int chunk) {
#ifdef SOLUTION
  return row * 64 + (chunk ^ row % 8) * 8;
#else
  return row * 64 + chunk * 8;  // TODO
#endif
}

// in (16, 64). out (4, 4, 32): for each step of 16 columns the four registers of each lane.
__global__ void fragments(const __nv_bfloat16* in, unsigned* out) {
  __shared__ __align__(128) __nv_bfloat16 tile[16 * 64];
  const int lane = threadIdx.x;
  for (int i = lane; i < 16 * 8; i += 32) {
    *reinterpret_cast<uint4*>(tile + chunk_at(i / 8, i % 8)) =
        *reinterpret_cast<const uint4*>(in + i * 8);
  }
  __syncwarp();
  for (int step = 0; step < 4; ++step) {
    unsigned f[4];
    const auto at = __cvta_generic_to_shared(tile + chunk_at(lane % 16, step * 2 + lane / 16));
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(f[0]), "=r"(f[1]), "=r"(f[2]), "=r"(f[3])
                 : "r"(static_cast<unsigned>(at)));
    for (int r = 0; r < 4; ++r) out[(step * 4 + r) * 32 + lane] = f[r];
  }
}
