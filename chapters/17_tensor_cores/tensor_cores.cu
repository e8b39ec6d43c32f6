// # Chapter 17: Tensor cores
//
// Question: A tensor core multiplies whole matrices in one instruction. What does it take to feed it, and to pass cuBLAS?
// Builds on: 12_past_cublas
// Minutes: 35
// Afterwards: write matrix products for tensor cores: fragments, ldmatrix, swizzles, and on Hopper TMA, wgmma, clusters
// Kind: gemm
// Size gpu: 4096,4096,4096
// Size simulator: 200,264,104
// Sizes measured: 4096,4096,4096 2048,2048,2048 8192,8192,8192 4001,4001,4001 4096,4097,4099 16384,16384,16384
// Run: ./learn run 17
//   ./learn run 17 --rung cublas          the vendor's library, BF16 in, FP32 sums, BF16 out  [needs cublas]
//   ./learn run 17 --rung one_mma         one warp, one instruction: 16 x 8 x 16, and who holds which element
//   ./learn run 17 --rung wmma            the C++ interface: fragments without a known layout
//   ./learn run 17 --rung mma_sync        the instruction itself, with fragments put together by hand
//   ./learn run 17 --rung ldmatrix        a warp loads four 8 x 8 matrices with one instruction
//   ./learn run 17 --rung swizzled        the tiles in shared memory in an order without bank conflicts
//   ./learn run 17 --rung copy_ring       asynchronous copies into a ring of stages
//   ./learn run 17 --rung no_wait         the ring without waiting for its copies  [raises uninitialized-shared]
//   ./learn run 17 --rung tf32            floats, cut to TF32 or in two parts that are nearly all of them
//   ./learn run 17 --rung int8            signed bytes, added up in integers
//   ./learn run 17 --rung one_ldmatrix    four 8 x 8 matrices, lane by lane  [needs sm_90a, cuda 12.9]
//   ./learn run 17 --rung one_box         a box, and the barrier that counts its bytes  [needs sm_90a, cuda 12.9]
//   ./learn run 17 --rung one_wgmma       a warpgroup's product, from two descriptors  [needs sm_90a, cuda 12.9]
//   ./learn run 17 --rung one_store       stmatrix, and a box on its way out  [needs sm_90a, cuda 12.9]
//   ./learn run 17 --rung tma_wgmma       Hopper: boxes by the TMA, and an instruction that reads shared memory
//                                         [needs sm_90a, cuda 12.9]
//   ./learn run 17 --rung producer_warp   one thread requests boxes, two warpgroups multiply  [needs sm_90a, cuda 12.9]
//   ./learn run 17 --rung box_stores      sums leave through shared memory, in boxes  [needs sm_90a, cuda 12.9]
//   ./learn run 17 --rung persistent      blocks stay for many tiles  [needs sm_90a, cuda 12.9]
//   ./learn run 17 --rung multicast       two blocks load the boxes of B for each other  [needs sm_90a, cuda 12.9]
//   ./learn run 17 --rung overlapped      sums leave beneath the next tile's products  [needs sm_90a, cuda 12.9]
//   ./learn run 17 --rung fp8             elements of 8 bits, with factors for rows and columns  [needs sm_90a, cuda 12.9]

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_pipeline.h>
#include <cuda_runtime.h>
#include <mma.h>

#include <cstdint>
#include <type_traits>

#include "lab/lab.h"
#include "tensor_cores.h"

// An FMA unit multiplies two numbers. A {term}`tensor core` multiplies two small matrices: a warp issues one instruction for
// 16 x 8 x 16 = 2,048 FMAs, where an FMA instruction does 32. Each scheduler has a tensor core beside its FMA units.
//= 2,048: 16 * 8 * 16
//
// The elements are narrower. This chapter takes {term}`BF16 <BF16>`, a float whose significand is cut to 8 bits: A, B and C are
// BF16, and the sums are kept in FP32 until they are rounded once, at the end. That is what neural networks are
// trained with, and what cuBLAS does in the same run beside each rung.
//
// Arithmetic becomes so cheap that moving the data decides. cuBLAS's BF16 product is 16 times as fast as its FP32
// product of chapter 12, and every K-tile has to arrive as much sooner. So each step from global memory to the
// tensor core is taken again: first with instructions that every GPU from compute capability 8.0 on has, then with those of
// Hopper. The simulator runs both kinds.
//= 16 times: rate("cublas") / rate("12:cublas")
//
//? peak: How fast is the first kernel of this chapter, with tensor cores and tiles in shared memory, but no other care?
//? choices: as fast as cuBLAS | half as fast | less than a fifth as fast
//? answer: {"as fast as cuBLAS": ratio("wmma") > 0.9, "half as fast": 0.4 < ratio("wmma") < 0.6,
//?   "less than a fifth as fast": ratio("wmma") < 0.2}
//
// Less than a fifth: 72 TFLOP/s of 799. Still, that is more than any FP32 product of this course reaches.
//= 72 TFLOP/s of 799: (rate("wmma") / 1000, rate("cublas") / 1000)

// ## 1. Who holds which element
//
// The instruction is `mma.sync.m16n8k16`: D = A B + C, with A 16 x 16, B 16 x 8, C and D 16 x 8. All 32 lanes execute it
// together, and each holds a part of each matrix in its registers, a {term}`fragment`: 8 elements of A, two in
// each of four registers; 4 of B; and 4 sums.
//
// ```{drawing} fragments
// ```
//
// The pattern is the same for all three. Lane `l` is in group `l / 4` and has place `l % 4` in it. The group is the row of
// A and C, or the column of B; the place is a pair of neighbouring elements along the other direction. The further registers
// repeat this 8 rows below or 8 columns to the right.

/// d += a b for one 16 x 8 x 16 product, by one warp. a: (16, 16) in four registers of two T, BF16 or FP16; b: (16, 8) in two;
/// d: (16, 8) floats, in the order of the PTX manual's m16n8k16.
///
/// Requires: compute capability 8.0; all 32 lanes.
template <class T = bf16>
__device__ __forceinline__ void mma(float (&d)[4], const std::uint32_t (&a)[4], std::uint32_t b0,
                                    std::uint32_t b1) {
  if constexpr (std::is_same_v<T, bf16>) {
    asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
        "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
  } else {  // FP16
    asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
        "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
  }
}

/// out = a b for a of (16, 16), b of (16, 8) and out of (16, 8), all row-major.
///
/// Launch: one block of 32 threads.
__global__ void one_mma(float* out, const bf16* a, const bf16* b) {
  const int lane = static_cast<int>(threadIdx.x), group = lane / 4, place = lane % 4;
  std::uint32_t fa[4], fb[2];
  for (int r = 0; r < 4; ++r) {
    const bf16* const at = a + (group + r % 2 * 8) * 16 + place * 2 + r / 2 * 8;
    fa[r] = pair(at[0], at[1]);  // neighbours in a row of A
  }
  for (int r = 0; r < 2; ++r) {
    const bf16* const at = b + (place * 2 + r * 8) * 8 + group;
    fb[r] = pair(at[0], at[8]);  // neighbours in a column of B
  }
  float d[4] = {};
  mma(d, fa, fb[0], fb[1]);
  for (int r = 0; r < 4; ++r) out[(group + r / 2 * 8) * 8 + place * 2 + r % 2] = d[r];
}

//? holder: Which lane holds the sum in row 5, column 3 of D?
//? choices: 13 | 21 | 23 | 43
//? answer: 5 * 4 + 3 // 2
//
// Lane 21: group 5, and the pair of columns 2 and 3 is place 1. It is the second of that lane's four sums.
//= 21: 5 * 4 + 3 // 2
//
// A and B differ. Two neighbours in a row of A are one register, and lie side by side in a row-major matrix: one 32-bit
// load. Two neighbours in a *column* of B are one register, and lie a row apart: two 16-bit loads, and an
// instruction to put them together. This will matter.

// ## 2. The interface that hides the layout
//
// C++ has fragments as types, in `nvcuda::wmma`. Which lane holds what is left to the compiler: a fragment is loaded from
// memory, used and stored as a whole. With it a product looks as in chapter 03. Blocks of 256 threads compute 128 x 128
// elements, in K-tiles of 32; each of the eight warps has 64 x 32 of them, 4 x 2 fragments of sums.

// [hide] Tiles: how they are copied to shared memory, and sums stored
/// Loads eight elements, of which the first `valid` exist; zeros for the others. `from` is aligned to 16 bytes if ALIGNED.
template <bool ALIGNED, class T>
__device__ __forceinline__ uint4 load8(const T* from, int valid) {
  if (ALIGNED && valid >= 8) return *reinterpret_cast<const uint4*>(from);
  std::uint32_t pairs[4];
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const T zero = rounded_to<T>(0.0f);
    pairs[i] = pair(2 * i < valid ? from[2 * i] : zero, 2 * i + 1 < valid ? from[2 * i + 1] : zero);
  }
  return make_uint4(pairs[0], pairs[1], pairs[2], pairs[3]);
}

/// Where the chunk of eight elements `chunk` of a row begins in a tile with rows of COLS elements, in elements.
template <int COLS, bool SWIZZLED>
__device__ __forceinline__ int chunk_at(int row, int chunk) {
  // The first eight chunks of a bank line go to eight different places for eight rows in a row.
  const int turned = !SWIZZLED ? 0 : COLS == 32 ? row / 2 % 4 : row % 8;
  return row * COLS + (chunk ^ turned) * 8;
}

/// Elements of a row that exist from `col` on, at most 8: none where the row does not.
__device__ __forceinline__ int existing(int row, int col, int rows, int cols) {
  return row < rows ? max(0, min(8, cols - col)) : 0;
}

/// Copies a tile (ROWS, COLS) that begins at (row, col) of a matrix (rows, cols) to shared memory, with THREADS threads.
/// Zeros where there is no matrix. In shared memory PAD elements follow each row.
template <int ROWS, int COLS, int THREADS, bool SWIZZLED, bool ALIGNED, int PAD = 0>
__device__ __forceinline__ void copy_tile(bf16* tile, const bf16* matrix, int ld, int row, int col,
                                          int rows, int cols) {
#pragma unroll
  for (int i = 0; i < ROWS * COLS / 8 / THREADS; ++i) {
    const int at = i * THREADS + static_cast<int>(threadIdx.x);
    const int r = at / (COLS / 8), chunk = at % (COLS / 8), c = col + chunk * 8;
    const int valid = existing(row + r, c, rows, cols);
    *reinterpret_cast<uint4*>(tile + chunk_at<COLS, SWIZZLED>(r, chunk) + r * PAD) =
        load8<ALIGNED>(matrix + static_cast<std::size_t>(row + r) * ld + c, valid);
  }
}

// [/hide]

namespace {

constexpr int BM = 128, BN = 128, BK = 32;  // of a block's tile
constexpr int WM = 64, WN = 32;             // of a warp's tile
constexpr int block_threads = 256;

}  // namespace

/// C = alpha A B + beta C.
///
/// \tparam PAD elements behind each row of a tile
///
/// Launch: a block of 256 threads for each 128 x 128 elements of C.
/// Requires: compute capability 8.0; if ALIGNED, rows of A and B that begin at multiples of 16 bytes.
template <int PAD, bool ALIGNED>
__global__ void __launch_bounds__(block_threads) wmma(Product g) {
  using namespace nvcuda;
  constexpr int lda = BK + PAD, ldb = BN + PAD;
  __shared__ __align__(128) bf16 a[BM * lda];        // (BM, BK)
  __shared__ __align__(128) bf16 b[BK * ldb];        // (BK, BN)
  __shared__ __align__(128) float sums[8][16 * 16];  // a fragment for each warp
  const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
  const int row = static_cast<int>(blockIdx.y) * BM, col = static_cast<int>(blockIdx.x) * BN;
  const int warp_row = warp / (BN / WN) * WM, warp_col = warp % (BN / WN) * WN;

  wmma::fragment<wmma::accumulator, 16, 16, 16, float> d[WM / 16][WN / 16];
  for (auto& fragments : d) {
    for (auto& fragment : fragments) wmma::fill_fragment(fragment, 0.0f);
  }
  for (int k0 = 0; k0 < g.k; k0 += BK) {
    copy_tile<BM, BK, block_threads, false, ALIGNED, PAD>(a, g.a, g.lda, row, k0, g.m, g.k);
    copy_tile<BK, BN, block_threads, false, ALIGNED, PAD>(b, g.b, g.ldb, k0, col, g.k, g.n);
    __syncthreads();
#pragma unroll
    for (int k = 0; k < BK; k += 16) {
      wmma::fragment<wmma::matrix_a, 16, 16, 16, bf16, wmma::row_major> fa[WM / 16];
      wmma::fragment<wmma::matrix_b, 16, 16, 16, bf16, wmma::row_major> fb[WN / 16];
#pragma unroll
      for (int i = 0; i < WM / 16; ++i)
        wmma::load_matrix_sync(fa[i], a + (warp_row + 16 * i) * lda + k, lda);
#pragma unroll
      for (int j = 0; j < WN / 16; ++j)
        wmma::load_matrix_sync(fb[j], b + k * ldb + warp_col + 16 * j, ldb);
#pragma unroll
      for (int i = 0; i < WM / 16; ++i) {
#pragma unroll
        for (int j = 0; j < WN / 16; ++j) wmma::mma_sync(d[i][j], fa[i], fb[j], d[i][j]);
      }
    }
    __syncthreads();
  }

  // No lane knows which elements it has: they go through shared memory.
#pragma unroll
  for (int i = 0; i < WM / 16; ++i) {
#pragma unroll
    for (int j = 0; j < WN / 16; ++j) {
      wmma::store_matrix_sync(sums[warp], d[i][j], 16, wmma::mem_row_major);
      __syncwarp();
      for (int p = lane; p < 128; p += 32) {
        store2(g, row + warp_row + 16 * i + p / 8, col + warp_col + 16 * j + p % 8 * 2,
               sums[warp][2 * p], sums[warp][2 * p + 1]);
      }
      __syncwarp();  // all have read
    }
  }
}

// The sums have to go through shared memory, since no lane knows which elements it holds. The loads are the greater
// problem. Rows of the tile of A are 64 bytes long, rows of B 256, and `load_matrix_sync` reads several of them at
// once: 46,080 bank conflicts in six blocks.
//= 46,080: count("wmma", "shared_load_bank_conflicts") + count("wmma", "shared_store_bank_conflicts")
//
// The variant `rows=padded` shows what they cost. Its tiles have 16 unused bytes behind each row, as in chapter 05, and nothing
// else differs. 7,680 conflicts are left, all in the way out, and the product takes 35 % less time: 111 TFLOP/s.
//= 7,680: count("wmma/rows=padded", "shared_load_bank_conflicts") + count("wmma/rows=padded", "shared_store_bank_conflicts")
//= 35 %: 100 * (1 - ms("wmma/rows=padded") / ms("wmma"))
//= 111 TFLOP/s: rate("wmma/rows=padded") / 1000

// ## 3. Fragments by hand, and by `ldmatrix`
//
// The next three rungs have the same loop, and differ in how a warp's fragments come out of shared memory. So the
// loop takes that as a parameter.

/// The product of one block by one warp's tiles of WM x WN; `Fragments` loads the fragments.
template <class Fragments, bool ALIGNED>
__device__ __forceinline__ void multiply(const Product& g) {
  __shared__ __align__(128) bf16 a[BM * BK];  // (BM, BK)
  __shared__ __align__(128) bf16 b[BK * BN];  // (BK, BN)
  constexpr bool swizzled = Fragments::swizzled;
  const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
  const int row = static_cast<int>(blockIdx.y) * BM, col = static_cast<int>(blockIdx.x) * BN;
  const int warp_row = warp / (BN / WN) * WM, warp_col = warp % (BN / WN) * WN;

  float d[WM / 16][WN / 8][4] = {};
  for (int k0 = 0; k0 < g.k; k0 += BK) {
    copy_tile<BM, BK, block_threads, swizzled, ALIGNED>(a, g.a, g.lda, row, k0, g.m, g.k);
    copy_tile<BK, BN, block_threads, swizzled, ALIGNED>(b, g.b, g.ldb, k0, col, g.k, g.n);
    __syncthreads();
#pragma unroll
    for (int k = 0; k < BK; k += 16) {
      std::uint32_t fa[WM / 16][4], fb[WN / 16][4];
#pragma unroll
      for (int i = 0; i < WM / 16; ++i) Fragments::of_a(fa[i], a, warp_row + 16 * i, k, lane);
#pragma unroll
      for (int j = 0; j < WN / 16; ++j) Fragments::of_b(fb[j], b, k, warp_col + 16 * j, lane);
#pragma unroll
      for (int i = 0; i < WM / 16; ++i) {
#pragma unroll
        for (int j = 0; j < WN / 8; ++j)
          mma(d[i][j], fa[i], fb[j / 2][j % 2 * 2], fb[j / 2][j % 2 * 2 + 1]);
      }
    }
    __syncthreads();
  }

#pragma unroll
  for (int i = 0; i < WM / 16; ++i) {
#pragma unroll
    for (int j = 0; j < WN / 8; ++j) {
      const int r = row + warp_row + 16 * i + lane / 4, c = col + warp_col + 8 * j + lane % 4 * 2;
      store2(g, r, c, d[i][j][0], d[i][j][1]);
      store2(g, r + 8, c, d[i][j][2], d[i][j][3]);
    }
  }
}

/// Fragments by single loads: pairs of A as 32 bits, elements of B one by one.
struct ByHand {
  static constexpr bool swizzled = false;

  /// The fragment of A whose first element is (row, k) of the tile.
  static __device__ __forceinline__ void of_a(std::uint32_t (&f)[4], const bf16* a, int row, int k,
                                              int lane) {
#pragma unroll
    for (int r = 0; r < 4; ++r) {
      f[r] = *reinterpret_cast<const std::uint32_t*>(a + (row + lane / 4 + r % 2 * 8) * BK + k +
                                                     lane % 4 * 2 + r / 2 * 8);
    }
  }

  /// Two fragments of B, of columns col to col + 7 and of the next eight.
  static __device__ __forceinline__ void of_b(std::uint32_t (&f)[4], const bf16* b, int k, int col,
                                              int lane) {
#pragma unroll
    for (int r = 0; r < 4; ++r) {
      const bf16* const at = b + (k + lane % 4 * 2 + r % 2 * 8) * BN + col + lane / 4 + r / 2 * 8;
      f[r] = pair(at[0], at[BN]);
    }
  }
};

/// C = alpha A B + beta C.
///
/// Launch: a block of 256 threads for each 128 x 128 elements of C.
/// Requires: compute capability 8.0; if ALIGNED, rows of A and B that begin at multiples of 16 bytes.
template <bool ALIGNED>
__global__ void __launch_bounds__(block_threads) mma_sync(Product g) {
  multiply<ByHand, ALIGNED>(g);
}

// The speed is nearly the same, 72 TFLOP/s. As many load instructions are issued as by `wmma`, 12,288, and
// they take 49,152 {term}`wavefronts <wavefront>`, four each.
//= 72 TFLOP/s: rate("mma_sync") / 1000
//= 12,288: count("mma_sync", "shared_load_requests")
//= 49,152: count("mma_sync", "shared_load_wavefronts")
//= four each: count("mma_sync", "shared_load_wavefronts") / count("mma_sync", "shared_load_requests")

//? matrices: `ldmatrix` loads four 8 x 8 matrices of BF16 for a warp at once. How many load instructions for B does it
//?   replace, where each lane needs two fragments of B?
//? choices: 2 | 4 | 8 | 16
//? answer: 2 * 4
//
// Eight 16-bit loads, and the four instructions that make pairs of them. `ldmatrix` was made for these fragments. Each lane
// gives the address of one row of 16 bytes, lanes 0 to 7 those of the first matrix, and so on; the hardware hands each
// lane the pair that belongs to it. With `.trans` it hands out pairs along columns, which is what a row-major B needs.

/// Loads four 8 x 8 matrices of BF16 from shared memory: lane i has the address of row i % 8 of matrix i / 8, and gets
/// of each matrix the pair of its group and place; with TRANSPOSED a pair down a column.
///
/// Requires: compute capability 7.5; all 32 lanes; rows aligned to 16 bytes.
template <bool TRANSPOSED>
__device__ __forceinline__ void ldmatrix4(std::uint32_t (&f)[4], std::uint32_t row) {
  if constexpr (TRANSPOSED) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(f[0]), "=r"(f[1]), "=r"(f[2]), "=r"(f[3])
                 : "r"(row)
                 : "memory");
  } else {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(f[0]), "=r"(f[1]), "=r"(f[2]), "=r"(f[3])
                 : "r"(row)
                 : "memory");
  }
}

/// Fragments by ldmatrix, from tiles with rows in order or swizzled.
template <bool SWIZZLED>
struct ByLdmatrix {
  static constexpr bool swizzled = SWIZZLED;

  static __device__ __forceinline__ void of_a(std::uint32_t (&f)[4], const bf16* a, int row, int k,
                                              int lane) {
    ldmatrix4<false>(f, address_of(a + chunk_at<BK, SWIZZLED>(row + lane % 16, k / 8 + lane / 16)));
  }
  static __device__ __forceinline__ void of_b(std::uint32_t (&f)[4], const bf16* b, int k, int col,
                                              int lane) {
    ldmatrix4<true>(f, address_of(b + chunk_at<BN, SWIZZLED>(k + lane % 16, col / 8 + lane / 16)));
  }
};

/// C = alpha A B + beta C, fragments by ldmatrix from tiles whose rows are in order.
///
/// Launch, Requires: as mma_sync.
template <bool ALIGNED>
__global__ void __launch_bounds__(block_threads) ldmatrix(Product g) {
  multiply<ByLdmatrix<false>, ALIGNED>(g);
}

// `ldmatrix` issues 2,304 instructions in place of 12,288, and the kernel is not faster: 68 TFLOP/s. The wavefronts are as
// many as before, 49,152. Issuing loads was not what took the time; delivering them is.
//= 2,304 instructions in place of 12,288: (count("ldmatrix", "shared_load_requests"),
//=   count("mma_sync", "shared_load_requests"))
//= 68 TFLOP/s: rate("ldmatrix") / 1000
//= 49,152: count("ldmatrix", "shared_load_wavefronts")

// ## 4. A swizzle
//
// The eight rows of a matrix in the tile of B are 256 bytes apart, a multiple of 128: all eight lie in the same four
// banks, and `ldmatrix` reads them one after the other. Chapter 05 would pad the rows. A {term}`swizzle` needs no
// memory: row r keeps its chunks of 16 bytes in the order `chunk ^ (r % 8)`; where two rows make 128 bytes, as
// those of A do, `chunk ^ (r / 2 % 4)`. Eight rows of one column of chunks then lie in eight different places of the
// 128 bytes that shared memory delivers at once.
//
// ```{drawing} swizzle
// ```
//
//? conflicts: How many bank conflicts do the loads of `swizzled` have?
//? answer: count("swizzled", "shared_load_bank_conflicts")
//? near: exact

/// C = alpha A B + beta C, fragments by ldmatrix from swizzled tiles.
///
/// Launch, Requires: as mma_sync.
template <bool ALIGNED>
__global__ void __launch_bounds__(block_threads) swizzled(Product g) {
  multiply<ByLdmatrix<true>, ALIGNED>(g);
}

// None. The wavefronts fall from 49,152 to 9,216, four for each instruction and 128 bytes in each, which is as few as there can
// be. The kernel becomes 1.8 times as fast, 119 TFLOP/s, by two operations on an index.
//= 49,152 to 9,216: (count("ldmatrix", "shared_load_wavefronts"), count("swizzled", "shared_load_wavefronts"))
//= four for each: count("swizzled", "shared_load_wavefronts") / count("swizzled", "shared_load_requests")
//= 1.8 times: ms("ldmatrix") / ms("swizzled")
//= 119 TFLOP/s: rate("swizzled") / 1000

// ## 5. A ring
//
// What remains is what chapter 11 did for FP32: later K-tiles are on their way while this one is multiplied. A ring of
// three stages is filled by `cp.async`, which writes zeros for what does not exist. A block has four warps of 64 x 64 elements:
// more products for each fragment that is loaded. K-tiles are 64 wide, so that a barrier comes half as often, and two blocks fit
// on an SM, so that one computes where the other waits. The fragments of the next 16 columns are loaded while the tensor
// cores have those of this step, and the copies of a K-tile are begun in three of the four steps of another.
//
namespace {

/// The shapes of copy_ring.
struct Ring {
  static constexpr int BM = 128, BN = 128, BK = 64;  // of a block
  static constexpr int WM = 64, WN = 64;             // of a warp
  static constexpr int STAGES = 3;
  static constexpr int GROUP = 8;  // rows of tiles that are computed side by side, for L2
  static constexpr int threads = BM / WM * (BN / WN) * 32;
  static constexpr int stage = (BM + BN) * BK;  // elements
  static constexpr std::size_t shared_bytes = sizeof(bf16) * STAGES * stage;
};

}  // namespace

// A row may end within a chunk, so how many of its 16 bytes exist is known at run time only. `cp.async` takes that number in a
// register. `__pipeline_memcpy_async` takes it, too, but makes an instruction for each number that it can be, and branches
// between them. Where K and N are multiples of eight, a chunk exists as a whole or not at all: then `cp.async` takes a predicate
// instead, and no number has to be computed.

/// What is known of the chunks of A and B.
enum class Chunks {
  whole,    ///< each begins at a multiple of 16 bytes, and exists as a whole or not at all
  cut,      ///< each begins at a multiple of 16 bytes; the last one of a row may be shorter
  anywhere  ///< nothing
};

/// Starts to copy the first `bytes` of 16 bytes to shared memory, with zeros behind them.
///
/// Requires: compute capability 8.0; both addresses aligned to 16 bytes. With no bytes nothing is read.
__device__ __forceinline__ void copy16(std::uint32_t to, const void* from, int bytes) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(from), "r"(bytes)
               : "memory");
}

/// Starts to copy 16 bytes to shared memory, or zeros if they do not exist: then nothing is read.
///
/// Requires: compute capability 8.0; both addresses aligned to 16 bytes.
__device__ __forceinline__ void copy16_if(std::uint32_t to, const void* from, bool exist) {
  asm volatile(
      "{\n.reg .pred p;\nsetp.eq.s32 p, %2, 0;\n"
      "cp.async.cg.shared.global [%0], [%1], 16, p;\n}" ::"r"(to),
      "l"(from), "r"(static_cast<int>(exist))
      : "memory");
}

// A thread copies the same chunks of each K-tile, below each other. So it keeps one address in each memory, and all else is
// a constant distance away. `copy_tile` computes every address and every guard anew for each chunk.

/// The chunks of a tile (ROWS, COLS) that a thread copies, K-tile by K-tile: one in every `step` rows.
template <class T, int ROWS, int COLS, Chunks CHUNKS>
struct Column {
  static constexpr int step = Ring::threads / (COLS / 8), count = ROWS / step;
  static_assert(step % 8 == 0, "swizzled alike");

  const T* from;       // the first chunk, in global memory
  T* to;               // and in the first stage
  int ld, rows, cols;  // rows and columns of the matrix from there on

  /// Of the tile that begins at (row, col) of a matrix (all_rows, all_cols).
  __device__ Column(T* tile, const T* matrix, int ld, int row, int col, int all_rows, int all_cols)
      : ld(ld) {
    const int t = static_cast<int>(threadIdx.x), r = t / (COLS / 8), chunk = t % (COLS / 8);
    from = matrix + static_cast<std::size_t>(row + r) * ld + col + chunk * 8;
    to = tile + chunk_at<COLS, true>(r, chunk);
    rows = all_rows - row - r;
    cols = all_cols - col - chunk * 8;
  }

  /// Starts to copy chunk `i` to a stage; zeros where there is no matrix.
  __device__ __forceinline__ void copy(int i, int stage) const {
    const int valid = i * step < rows ? max(0, min(8, cols)) : 0;
    const T* const source = from + static_cast<std::size_t>(i * step) * ld;
    T* const place = to + stage * Ring::stage + i * step * COLS;
    if constexpr (CHUNKS == Chunks::whole) {
      copy16_if(address_of(place), source, i * step < rows && cols > 0);
    } else if constexpr (CHUNKS == Chunks::cut) {
      copy16(address_of(place), source, 2 * valid);
    } else {
      *reinterpret_cast<uint4*>(place) = load8<false>(source, valid);
    }
  }
};

// A store of two sums by each lane writes half sectors, in eight rows. So aligned sums go through the stages, which are free by then,
// and leave in whole lines: 300 store requests in place of the 825 of `swizzled`.
//= 300 store requests in place of the 825: (count("copy_ring", "global_store_requests"), count("swizzled", "global_store_requests"))

/// What a block of copy_ring does. WAITS is false for a demonstration.
template <Chunks CHUNKS, bool WAITS, class T>
__device__ __forceinline__ void multiply_ring(const lab::GemmOf<T>& g) {
  constexpr int BM = Ring::BM, BN = Ring::BN, BK = Ring::BK, WM = Ring::WM, WN = Ring::WN;
  constexpr int STAGES = Ring::STAGES;
  extern __shared__ __align__(128) unsigned char memory[];
  T* const stages = reinterpret_cast<T*>(memory);  // STAGES of (BM, BK) and (BK, BN)
  const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
  const int tiles_m = (g.m + BM - 1) / BM, tiles_n = (g.n + BN - 1) / BN;
  const int number = static_cast<int>(blockIdx.x), together = Ring::GROUP * tiles_n;
  const int first = number / together * Ring::GROUP, rows = min(Ring::GROUP, tiles_m - first);
  const int row = (first + number % together % rows) * BM, col = number % together / rows * BN;
  const int warp_row = warp / (BN / WN) * WM, warp_col = warp % (BN / WN) * WN;

  Column<T, BM, BK, CHUNKS> a(stages, g.a, g.lda, row, 0, g.m, g.k);
  Column<T, BK, BN, CHUNKS> b(stages + BM * BK, g.b, g.ldb, 0, col, g.k, g.n);
  // Starts one of so many parts of the copies of a K-tile.
  const auto load = [&](int stage, int part, int parts) {
#pragma unroll
    for (int i = a.count * part / parts; i < a.count * (part + 1) / parts; ++i) a.copy(i, stage);
#pragma unroll
    for (int i = b.count * part / parts; i < b.count * (part + 1) / parts; ++i) b.copy(i, stage);
    if (part + 1 < parts) return;
    __pipeline_commit();
    a.from += BK, a.cols -= BK;
    b.from += static_cast<std::size_t>(BK) * g.ldb, b.rows -= BK;
  };

  // Where the fragments of the first stage lie; others are a constant distance away.
  std::uint32_t at_a[BK / 16], at_b[WN / 16];
#pragma unroll
  for (int k = 0; k < BK / 16; ++k) {
    at_a[k] = address_of(stages + chunk_at<BK, true>(warp_row + lane % 16, 2 * k + lane / 16));
  }
#pragma unroll
  for (int j = 0; j < WN / 16; ++j) {
    at_b[j] = address_of(stages + BM * BK +
                         chunk_at<BN, true>(lane % 16, warp_col / 8 + 2 * j + lane / 16));
  }
  std::uint32_t fa[2][WM / 16][4], fb[2][WN / 16][4];
  const auto fragments = [&](int which, int stage, int k) {
    const unsigned from = sizeof(T) * static_cast<unsigned>(stage * Ring::stage);
#pragma unroll
    for (int i = 0; i < WM / 16; ++i)
      ldmatrix4<false>(fa[which][i], at_a[k / 16] + from + sizeof(T) * 16 * i * BK);
#pragma unroll
    for (int j = 0; j < WN / 16; ++j)
      ldmatrix4<true>(fb[which][j], at_b[j] + from + sizeof(T) * k * BN);
  };

  float d[WM / 16][WN / 8][4] = {};
  for (int stage = 0; stage < STAGES - 1; ++stage) load(stage, 0, 1);
  __pipeline_wait_prior(STAGES - 2);
  __syncthreads();
  fragments(0, 0, 0);
  int stage = 0, filled = STAGES - 1;  // the stage to compute with, the next one to fill
  for (int k0 = 0; k0 < g.k; k0 += BK) {
    const int next_stage = stage + 1 == STAGES ? 0 : stage + 1;
#pragma unroll
    for (int k = 0; k < BK; k += 16) {
      const int now = k / 16 % 2, next = 1 - now;
      if (k + 16 < BK) {
        fragments(next, stage, k + 16);
      } else {
        if (WAITS) __pipeline_wait_prior(STAGES - 2);
        __syncthreads();  // the next K-tile is there, and nobody reads the one before this
        fragments(next, next_stage, 0);
      }
      // In all steps but the last. Beyond K: zeros, which nobody multiplies.
      if (k + 16 < BK) load(filled, k / 16, BK / 16 - 1);
#pragma unroll
      for (int i = 0; i < WM / 16; ++i) {
#pragma unroll
        for (int jj = 0; jj < WN / 8; ++jj) {
          const int j = i % 2 ? WN / 8 - 1 - jj : jj;  // there and back, as in chapter 11
          mma<T>(d[i][j], fa[now][i], fb[now][j / 2][j % 2 * 2], fb[now][j / 2][j % 2 * 2 + 1]);
        }
      }
    }
    stage = next_stage;
    filled = filled + 1 == STAGES ? 0 : filled + 1;
  }
  __pipeline_wait_prior(0);

  if (CHUNKS == Chunks::whole && g.beta == 0 && aligned_rows(g.c, g.ldc)) {
    __syncthreads();  // all have read their last fragments
    const auto both = [&](float x, float y) {
      return pair(rounded_to<T>(g.alpha * x), rounded_to<T>(g.alpha * y));
    };
#pragma unroll
    for (int i = 0; i < WM / 16; ++i) {
#pragma unroll
      for (int j = 0; j < WN / 8; ++j) {
#pragma unroll
        for (int h = 0; h < 2; ++h) {
          const int r = warp_row + 16 * i + 8 * h + lane / 4, chunk = warp_col / 8 + j;
          T* const to = stages + chunk_at<BN, true>(r, chunk) + lane % 4 * 2;
          *reinterpret_cast<std::uint32_t*>(to) = both(d[i][j][2 * h], d[i][j][2 * h + 1]);
        }
      }
    }
    __syncthreads();
#pragma unroll
    for (int i = static_cast<int>(threadIdx.x); i < BM * BN / 8; i += Ring::threads) {
      const int r = i / (BN / 8), chunk = i % (BN / 8);
      if (row + r >= g.m || col + chunk * 8 >= g.n) continue;
      *reinterpret_cast<uint4*>(g.c + static_cast<std::size_t>(row + r) * g.ldc + col + chunk * 8) =
          *reinterpret_cast<const uint4*>(stages + chunk_at<BN, true>(r, chunk));
    }
    return;
  }
#pragma unroll
  for (int i = 0; i < WM / 16; ++i) {
#pragma unroll
    for (int j = 0; j < WN / 8; ++j) {
      const int r = row + warp_row + 16 * i + lane / 4, c = col + warp_col + 8 * j + lane % 4 * 2;
      store2(g, r, c, d[i][j][0], d[i][j][1]);
      store2(g, r + 8, c, d[i][j][2], d[i][j][3]);
    }
  }
}

/// C = alpha A B + beta C, for elements of type T, BF16 or FP16.
///
/// Launch: a block of Ring::threads for each Ring::BM x Ring::BN elements of C, in one dimension; Ring::shared_bytes.
/// Requires: compute capability 8.0; A and B as CHUNKS says.
template <Chunks CHUNKS, class T>
__global__ void __launch_bounds__(Ring::threads) copy_ring(lab::GemmOf<T> g) {
  multiply_ring<CHUNKS, true>(g);
}

/// The ring without the wait in its loop, as a demonstration.
///
/// Launch, Requires: as copy_ring<Chunks::whole, bf16>.
__global__ void __launch_bounds__(Ring::threads) no_wait(Product g) {
  multiply_ring<Chunks::whole, false>(g);
}

// What if the wait is forgotten? On a GPU the result depends on whether the copies of a stage arrive in time. The
// simulator tells it in the first stage that was not waited for, at the `ldmatrix` that reads what has not arrived: `--rung no_wait`.
//
// 486 TFLOP/s, 0.61 of cuBLAS: 4.1 times as fast as without the ring. At 2048 it is 0.64, at 8192 only 0.58. At 4001 rows are
// not aligned, the kernel does without `cp.async`, and is as fast as `swizzled`: 118 TFLOP/s. With `__pipeline_memcpy_async` in
// place of `copy16` the kernel made 240 TFLOP/s: its loop had 208 copy instructions between 465 branches, where one with `copy16` has
// 16 and no branch but its own. With `copy16` for all chunks in the first step of a K-tile a trial made 441 TFLOP/s, and 460 in
// the form above. Whole lines made 479 in place of 470.
//= 486 TFLOP/s, 0.61: (rate("copy_ring") / 1000, ratio("copy_ring"))
//= 4.1 times: ms("swizzled") / ms("copy_ring")
//= it is 0.64: ratio("copy_ring", 2048)
//= only 0.58: ratio("copy_ring", 8192)
//= because as fast as `swizzled`: 0.99 < ms("swizzled", 4001) / ms("copy_ring", 4001) < 1.01
//= 118 TFLOP/s: rate("copy_ring", 4001) / 1000
//= made 441 TFLOP/s: 2 * 4096 ** 3 / 0.3116e9
//= and 460 in the form: 2 * 4096 ** 3 / 0.2987e9
//= 240 TFLOP/s: 2 * 4096 ** 3 / 0.5734e9
//= 479 in place of 470: (2 * 4096 ** 3 / 0.2872e9, 2 * 4096 ** 3 / 0.2924e9)
//
// The elements may be {term}`FP16` as well: one word of `mma` changes, and the rounding at the end. `type=fp16` makes
// 473 TFLOP/s, 0.61 of cuBLAS with FP16. Its significands have 11 bits where BF16 has 8, so the largest error of a result falls
// from 1.0 to 0.13. What it pays with is range: its largest number is 65,504.
//= 473 TFLOP/s, 0.61: (rate("copy_ring/type=fp16") / 1000, ratio("copy_ring/type=fp16"))
//= from 1.0 to 0.13: (error("copy_ring"), error("copy_ring/type=fp16"))
//= 65,504: (2 - 2 ** -10) * 2 ** 15

// [hide] How the rungs are registered
namespace {

using Kernel = void (*)(Product);

/// The launch of a kernel with blocks of 128 x 128 elements.
std::function<void(const Product&)> tiles(Kernel if_aligned, Kernel otherwise) {
  return [=](const Product& g) {
    const Kernel kernel = aligned_rows(g) ? if_aligned : otherwise;
    kernel<<<lab::tiles(g.n, g.m, BN, BM), block_threads>>>(g);
  };
}

/// Launches copy_ring.
template <class T>
void launch_ring(const lab::GemmOf<T>& g) {
  const bool whole = g.k % 8 == 0 && g.n % 8 == 0;
  const auto kernel = !aligned_rows(g) ? copy_ring<Chunks::anywhere, T>
                      : whole          ? copy_ring<Chunks::whole, T>
                                       : copy_ring<Chunks::cut, T>;
  CUDA_CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                  static_cast<int>(Ring::shared_bytes)));
  const int blocks = lab::ceil_div(g.m, Ring::BM) * lab::ceil_div(g.n, Ring::BN);
  kernel<<<static_cast<unsigned>(blocks), Ring::threads, Ring::shared_bytes>>>(g);
}

/// Adds the rung that multiplies two small matrices.
void add_one(lab::Ladder& ladder) {
  const lab::Input<bf16> a(16 * 16, lab::RandomValue<bf16>{1}),
      b(16 * 8, lab::RandomValue<bf16>{2});
  lab::DeviceBuffer<float> out(16 * 8, "out");
  const auto x = a.view(), y = b.view();
  const auto product = [=] __host__ __device__(std::size_t i) {
    double sum = 0;
    for (std::size_t k = 0; k < 16; ++k) {
      sum += static_cast<double>(static_cast<float>(x[i / 8 * 16 + k])) *
             static_cast<double>(static_cast<float>(y[k * 8 + i % 8]));
    }
    return sum;
  };
  ladder.add({.name = "one_mma",
              .launch = [&] { one_mma<<<1, 32>>>(out.data(), a.data(), b.data()); },
              .outputs = {lab::expect(out, product, lab::tolerance_for_sum(16, 0.25))},
              .timed = false});
}

/// Adds the demonstration: a product of one block and three K-tiles.
void add_mistake(lab::Ladder& ladder) {
  constexpr int m = 128, n = 128, k = 192;
  const lab::Input<bf16> a(m * k, lab::RandomValue<bf16>{1}), b(k * n, lab::RandomValue<bf16>{2});
  lab::DeviceBuffer<bf16> c(m * n, "c");
  const Product g{.m = m,
                  .n = n,
                  .k = k,
                  .a = a.data(),
                  .lda = k,
                  .b = b.data(),
                  .ldb = n,
                  .c = c.data(),
                  .ldc = n};
  ladder.demonstrate("no_wait", [&] {
    CUDA_CHECK(cudaFuncSetAttribute(no_wait, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                    static_cast<int>(Ring::shared_bytes)));
    no_wait<<<1, Ring::threads, Ring::shared_bytes>>>(g);
  });
}

}  // namespace

int main(int argc, char** argv) {
  return lab::run(argc, argv, [](lab::GemmLadderOf<bf16>& ladder) {
    ladder.add_with(add_one);
    ladder.add("wmma", tiles(wmma<0, true>, wmma<0, false>));
    ladder.add("wmma", "rows=padded", tiles(wmma<8, true>, wmma<8, false>));
    ladder.add("mma_sync", tiles(mma_sync<true>, mma_sync<false>));
    ladder.add("ldmatrix", tiles(ldmatrix<true>, ldmatrix<false>));
    ladder.add("swizzled", tiles(swizzled<true>, swizzled<false>));
    ladder.add("copy_ring", launch_ring<bf16>);
    if (ladder.ladder().wants("copy_ring")) {
      lab::GemmLadderOf<__half>(ladder.ladder(), {})
          .add("copy_ring", "type=fp16", launch_ring<__half>);
    }
    ladder.add_with(add_mistake);
    lab::add_others(ladder);
  });
}
// [/hide]
