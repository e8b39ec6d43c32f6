// # Where C ends
//
// Kind: repair
// Level: 3
// Minutes: 12
//
// Each warp has 16 x 8 sums in its registers, as `mma.sync` leaves them, and stores them as BF16: C
// is rows x cols, row by row, of any size. Two neighbouring sums of a lane go out as one store of
// 32 bits. For rows that are a multiple of 16 and cols a multiple of 8 it works. Repair it for all
// others. Where a row of C is not at a multiple of four bytes, a lane stores two elements one by
// one.
//
// Bar for 32 x 64: 32 store requests, as now

#include <cuda_bf16.h>
#include <cuda_runtime.h>

// In place of the products: the sum for element (row, col).
__device__ float sum_of(int row, int col) { return static_cast<float>(row * 3 + col); }

// Launch: a block of 32 threads for each 16 x 8 elements.
__global__ void store(__nv_bfloat16* c, int rows, int cols) {
  const int lane = threadIdx.x, col = blockIdx.x * 8 + lane % 4 * 2;
  for (int half = 0; half < 2; ++half) {
    const int row = blockIdx.y * 16 + lane / 4 + half * 8;
    const __nv_bfloat16 x = __float2bfloat16(sum_of(row, col));
    const __nv_bfloat16 y = __float2bfloat16(sum_of(row, col + 1));
    __nv_bfloat16* const to = c + row * cols + col;
#ifdef SOLUTION
    if (row >= rows || col >= cols) continue;
    if (cols % 2 == 0) {
      *reinterpret_cast<__nv_bfloat162*>(to) = __nv_bfloat162(x, y);
    } else {
      to[0] = x;
      if (col + 1 < cols) to[1] = y;
    }
#else
    *reinterpret_cast<__nv_bfloat162*>(to) = __nv_bfloat162(x, y);
#endif
  }
}
