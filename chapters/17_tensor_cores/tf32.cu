// ## FP32 from TF32 (second reading)
//
// Tensor cores multiply floats, too, but look at 11 bits of a significand's 24: that is {term}`TF32`. The exponent keeps its 8
// bits. The instruction is `mma.sync.m16n8k8`, half as deep as that for BF16, as an element takes a whole register.
//
// What is cut off need not be lost. Take `hi`, x rounded to 11 bits, and `lo`, the rest x - hi rounded likewise: together they
// have 22 bits, and
//
//     x y = hi hi' + hi lo' + lo hi' + lo lo'
//
// where the last product, at most 2^-22 of x y, can be left out. Three products of tensor cores in place of one: that is 3xTF32, of
// [CUTLASS](https://github.com/NVIDIA/cutlass).
//
//? three: With three products the factors have 22 bits of 24. How far is the result from the exact one, in the worst element, compared
//?   with that of FP32 FMAs?
//? choices: as far | several times as far | a thousand times as far
//? answer: {"as far": error("tf32/products=3") / error("12:producer_warps") < 1.5,
//?   "several times as far": 3 < error("tf32/products=3") / error("12:producer_warps") < 30,
//?   "a thousand times as far": error("tf32/products=3") / error("12:producer_warps") > 300}
//
// ```{drawing} split
// ```
//
// 8 times as far. A second loss has nothing to do with the factors. A tensor core adds up products and the sum so far,
// and *cuts off* what does not fit, where an FMA rounds to the nearest. Errors of roundings cancel each other; those of cutting
// off all point towards zero, and a sum of 4,096 products is cut off 1,536 times. So the third variant, `sums=outside`, lets a
// tensor core add up no more than 8 products of each kind, from zero, and adds the result to the sums by an ordinary FADD. Ootomo
// and Yokota described both losses: *Recovering single precision accuracy from Tensor Cores while surpassing the FP32
// theoretical peak performance* (2022).
//= 8 times: error("tf32/products=3") / error("12:producer_warps")
//= 1,536 times: 3 * 4096 / 8

#include <cuda_pipeline.h>
#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "lab/lab.h"
#include "tensor_cores.h"

namespace {

/// The shapes of tf32: those of copy_ring, with half as many columns of twice as many bytes.
struct Floats {
  static constexpr int BM = 128, BN = 128, BK = 32;  // of a block
  static constexpr int WM = 64, WN = 64;             // of a warp
  static constexpr int STAGES = 3;
  static constexpr int GROUP = 8;  // rows of tiles that are computed side by side, for L2
  static constexpr int threads = BM / WM * (BN / WN) * 32;
  static constexpr int LDB = BN + 8;                // rows 0 to 3 of B lie 8 banks apart
  static constexpr int stage = BM * BK + BK * LDB;  // elements
  static constexpr std::size_t shared_bytes = sizeof(float) * STAGES * stage;
};

}  // namespace

/// How a product is made: of so many products of TF32, and where they are added to the sums.
struct Making {
  int products;
  bool outside = false;  // in FP32, not within the tensor core
};

namespace {

// [hide] The instructions, and copies to shared memory

/// d += a b for one 16 x 8 x 8 product, by one warp. a: (16, 8) in four registers, rows g and g + 8 of column p, then of column
/// p + 4, for group g and place p of the lane; b: (8, 8), rows p and p + 4 of column g; d: as for m16n8k16.
__device__ __forceinline__ void mma_tf32(float (&d)[4], const std::uint32_t (&a)[4],
                                         const std::uint32_t (&b)[2]) {
  asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 "
      "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

/// A float rounded to the nearest of TF32, whose other bits are zeros.
__device__ __forceinline__ std::uint32_t to_tf32(float x) {
  std::uint32_t bits;
  asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(bits) : "f"(x));
  return bits;
}

/// Loads an A of (16, 8) floats: as 8 x 8 matrices of 16 bits each row of 16 bytes is four floats, and each lane gets one.
__device__ __forceinline__ void load_a(std::uint32_t (&f)[4], std::uint32_t row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(f[0]), "=r"(f[1]), "=r"(f[2]), "=r"(f[3])
               : "r"(row)
               : "memory");
}

/// Starts to copy a chunk of four floats, of which `valid` exist, to shared memory; zeros for the others.
template <bool ALIGNED>
__device__ __forceinline__ void copy_chunk(float* to, const float* from, int valid) {
  const auto start = [](float* to, const float* from, auto size, int bytes) {
    constexpr int all = decltype(size)::value;
    if constexpr (all == 16) {
      asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(address_of(to)), "l"(from),
                   "r"(bytes)
                   : "memory");
    } else {
      asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(address_of(to)), "l"(from),
                   "r"(bytes)
                   : "memory");
    }
  };
  if constexpr (ALIGNED) {
    start(to, from, std::integral_constant<int, 16>(), 4 * max(0, min(4, valid)));
  } else {
#pragma unroll
    for (int i = 0; i < 4; ++i)
      start(to + i, from + i, std::integral_constant<int, 4>(), i < valid ? 4 : 0);
  }
}

/// Stores four neighbouring sums of a row, those of them that exist.
__device__ __forceinline__ void store4(const lab::Gemm& g, int row, int col,
                                       const float (&sums)[4]) {
  if (row >= g.m) return;
  float* const c = g.c + static_cast<std::size_t>(row) * g.ldc + col;
  float values[4];
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    values[i] = g.alpha * sums[i];
    if (g.beta != 0 && col + i < g.n) values[i] += g.beta * c[i];
  }
  if (col + 4 <= g.n && reinterpret_cast<std::uintptr_t>(c) % 16 == 0) {
    *reinterpret_cast<float4*>(c) = make_float4(values[0], values[1], values[2], values[3]);
    return;
  }
#pragma unroll
  for (int i = 0; i < 4; ++i)
    if (col + i < g.n) c[i] = values[i];
}

}  // namespace
// [/hide]

/// C = alpha A B + beta C of floats, by tensor cores.
///
/// \tparam HOW of how many products of TF32 each product is made: 1, or 3
///
/// Launch: a block of Floats::threads for each Floats::BM x Floats::BN elements of C, in one dimension;
/// Floats::shared_bytes.
/// Requires: compute capability 8.0; if ALIGNED, rows of A and B that begin at multiples of 16 bytes.
/// Source of the ideas: 3xTF32 of CUTLASS; sums outside of the tensor core: Ootomo and Yokota, 2022.
template <Making HOW, bool ALIGNED>
__global__ void __launch_bounds__(Floats::threads) tf32(lab::Gemm g) {
  constexpr int BM = Floats::BM, BN = Floats::BN, BK = Floats::BK, WM = Floats::WM;
  constexpr int WN = Floats::WN, LDB = Floats::LDB, STAGES = Floats::STAGES;
  constexpr int parts = HOW.products == 1 ? 1 : 2;
  constexpr int at_once = HOW.outside ? 4 : WN / 8;  // 16 x 8 sums
  constexpr int rows_a = Floats::threads / (BK / 4), rows_b = Floats::threads / (BN / 4);
  extern __shared__ __align__(128) float floats[];  // STAGES of (BM, BK) and (BK, BN)
  const int t = static_cast<int>(threadIdx.x), warp = t / 32, lane = t % 32;
  const int group = lane / 4, place = lane % 4;
  const int tiles_m = (g.m + BM - 1) / BM, tiles_n = (g.n + BN - 1) / BN;
  const int number = static_cast<int>(blockIdx.x), together = Floats::GROUP * tiles_n;
  const int first = number / together * Floats::GROUP, rows = min(Floats::GROUP, tiles_m - first);
  const int row = (first + number % together % rows) * BM, col = number % together / rows * BN;
  const int warp_row = warp / (BN / WN) * WM, warp_col = warp % (BN / WN) * WN;

  // Row r of A keeps its chunks in the order chunk ^ r % 8.
  const int ar = t / (BK / 4), ac = t % (BK / 4), br = t / (BN / 4), bc = t % (BN / 4);
  float* const to_a = floats + ar * BK + (ac ^ (ar % 8)) * 4;
  float* const to_b = floats + BM * BK + br * LDB + bc * 4;
  const float* from_a = g.a + static_cast<std::size_t>(row + ar) * g.lda + ac * 4;
  const float* from_b = g.b + static_cast<std::size_t>(br) * g.ldb + col + bc * 4;
  int k_next = 0;  // of the next K-tile to be copied
  const auto load = [&](int stage) {
#pragma unroll
    for (int r = 0; r < BM; r += rows_a) {
      copy_chunk<ALIGNED>(to_a + stage * Floats::stage + r * BK,
                          from_a + static_cast<std::size_t>(r) * g.lda,
                          row + ar + r < g.m ? g.k - k_next - ac * 4 : 0);
    }
#pragma unroll
    for (int r = 0; r < BK; r += rows_b) {
      copy_chunk<ALIGNED>(to_b + stage * Floats::stage + r * LDB,
                          from_b + static_cast<std::size_t>(r) * g.ldb,
                          k_next + br + r < g.k ? g.n - col - bc * 4 : 0);
    }
    __pipeline_commit();
    from_a += BK, from_b += static_cast<std::size_t>(BK) * g.ldb, k_next += BK;
  };

  // Where a lane reads its fragments of the first stage: of A a row, in whose chunks `turned` chooses, and of B a place.
  const std::uint32_t at_a = address_of(floats + (warp_row + lane % 16) * BK);
  const unsigned turned = 16 * static_cast<unsigned>((lane / 16) ^ (lane % 8));
  const float* const at_b = floats + BM * BK + place * LDB + warp_col + 2 * group;

  float d[WM / 16][WN / 8][4] = {};
  for (int stage = 0; stage < STAGES - 1; ++stage) load(stage);
  int stage = 0, filled = STAGES - 1;
  for (int k0 = 0; k0 < g.k; k0 += BK) {
    __pipeline_wait_prior(STAGES - 2);
    __syncthreads();  // this K-tile is there, and nobody reads the one before it
    load(filled);
    const float* const b = at_b + stage * Floats::stage;
#pragma unroll 1  // unrolled, it spills
    for (int k = 0; k < BK; k += 8) {
      const std::uint32_t a = at_a + sizeof(float) * stage * Floats::stage + ((4 * k) ^ turned);
      // Two fragments of B at once: of the columns 2 g of 16, and of the columns 2 g + 1.
      std::uint32_t fb[parts][WN / 8][2];
#pragma unroll
      for (int j = 0; j < WN / 16; ++j) {
#pragma unroll
        for (int r = 0; r < 2; ++r) {
          const float2 two = *reinterpret_cast<const float2*>(b + (k + 4 * r) * LDB + 16 * j);
#pragma unroll
          for (int e = 0; e < 2; ++e) {
            const float x = e == 0 ? two.x : two.y;
            fb[0][2 * j + e][r] = to_tf32(x);
            if constexpr (parts == 2)
              fb[1][2 * j + e][r] = to_tf32(x - __uint_as_float(fb[0][2 * j + e][r]));
          }
        }
      }
#pragma unroll
      for (int i = 0; i < WM / 16; ++i) {
        std::uint32_t whole[4], fa[parts][4];
        load_a(whole, a + sizeof(float) * 16 * i * BK);
#pragma unroll
        for (int e = 0; e < 4; ++e) {
          const float x = __uint_as_float(whole[e]);
          fa[0][e] = to_tf32(x);
          if constexpr (parts == 2) fa[1][e] = to_tf32(x - __uint_as_float(fa[0][e]));
        }
        const auto add_products = [&](auto& sums, int j0) {  // the small ones first
#pragma unroll
          for (int p = HOW.products == 1 ? 2 : 0; p < 3; ++p) {
#pragma unroll
            for (int j = 0; j < at_once; ++j)
              mma_tf32(sums[j], fa[p == 0 ? parts - 1 : 0], fb[p == 1 ? parts - 1 : 0][j0 + j]);
          }
        };
        if constexpr (HOW.outside) {
#pragma unroll
          for (int j0 = 0; j0 < WN / 8; j0 += at_once) {
            float own[at_once][4] = {};
            add_products(own, j0);
#pragma unroll
            for (int j = 0; j < at_once; ++j) {
#pragma unroll
              for (int e = 0; e < 4; ++e) d[i][j0 + j][e] += own[j][e];
            }
          }
        } else {
          add_products(d[i], 0);
        }
      }
    }
    stage = stage + 1 == STAGES ? 0 : stage + 1;
    filled = filled + 1 == STAGES ? 0 : filled + 1;
  }
  __pipeline_wait_prior(0);

  // Columns 2 p and 2 p + 1 of two fragments are columns 4 p to 4 p + 3 of 16.
#pragma unroll
  for (int i = 0; i < WM / 16; ++i) {
#pragma unroll
    for (int j = 0; j < WN / 8; j += 2) {
#pragma unroll
      for (int h = 0; h < 2; ++h) {
        const float four[] = {d[i][j][2 * h], d[i][j + 1][2 * h], d[i][j][2 * h + 1],
                              d[i][j + 1][2 * h + 1]};
        store4(g, row + warp_row + 16 * i + group + 8 * h, col + warp_col + 8 * j + 4 * place,
               four);
      }
    }
  }
}

// The errors are measured at 4096 against sums in double. Elements are in (-1, 1), a quarter of them negative.
//
// | | largest error | TFLOP/s | share of cuBLAS |
// |---|--:|--:|--:|
// | `products=1` | 0.035 | 106 | 0.26, TF32 |
// | `products=3` | 0.0123 | 62.8 | 1.23, FP32 |
// | `products=3, sums=outside` | 0.00054 | 54.3 | 1.06, FP32 |
// | FP32 FMAs: `producer_warps` of chapter 12 | 0.0015 | 53.6 | 1.04, FP32 |
//= | 0.035 | 106 | 0.26,: (error("tf32/products=1"), rate("tf32/products=1") / 1000, ratio("tf32/products=1"))
//= | 0.0123 | 62.8 | 1.23,: (error("tf32/products=3"), rate("tf32/products=3") / 1000, ratio("tf32/products=3"))
//= | 0.00054 | 54.3 | 1.06,: (error("tf32/products=3, sums=outside"), rate("tf32/products=3, sums=outside") / 1000,
//=   ratio("tf32/products=3, sums=outside"))
//= | 0.0015 | 53.6 | 1.04,: (error("12:producer_warps"), rate("12:producer_warps") / 1000, ratio("12:producer_warps"))
//
// So tensor cores multiply floats faster than the FMA units do, and with sums outside they are nearer to the exact product, too.
// The last two variants differ in nothing but where sums are added, and their errors by a factor of 23: nearly all that three products
// lose is what is cut off. With one product the kernel makes a quarter of what cuBLAS makes with TF32; `multicast type=tf32`,
// with `wgmma`, makes 0.90.
//= factor of 23: error("tf32/products=3") / error("tf32/products=3, sums=outside")
//= makes 0.90: ratio("multicast/type=tf32")

// [hide] How the rung is registered
namespace {

/// Launches tf32.
template <Making HOW>
void launch(const lab::Gemm& g) {
  const auto kernel = aligned_rows(g) ? tf32<HOW, true> : tf32<HOW, false>;
  CUDA_CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                  static_cast<int>(Floats::shared_bytes)));
  const int blocks = lab::ceil_div(g.m, Floats::BM) * lab::ceil_div(g.n, Floats::BN);
  kernel<<<static_cast<unsigned>(blocks), Floats::threads, Floats::shared_bytes>>>(g);
}

void add(lab::GemmLadderOf<bf16>& ladder) {
  if (!ladder.ladder().wants("tf32")) return;
  const auto products = [&](const lab::GemmLoss& loss, const char* variant, auto launch) {
    lab::GemmLadder(ladder.ladder(), loss).add("tf32", variant, launch);
  };
  // lo is at most 2^-11 of x, so lo lo' is at most 2^-22 of x y. x - hi has 12 bits: lo, its 11 bits, lacks at most the last one,
  // 2^-23 of x, and so does lo' of y.
  constexpr double dropped = 0x1p-22 + 2 * 0x1p-23;
  products({.tf32 = true}, "products=1", launch<Making{1}>);
  products({.cuts = 3.0 / 8, .dropped = dropped}, "products=3", launch<Making{3}>);
  products({.dropped = dropped}, "products=3, sums=outside", launch<Making{3, true}>);
}

const lab::Rungs here(add);

}  // namespace
// [/hide]
