// ## Products of FP8 (second reading)
//
// {term}`FP8` halves the bytes once more. An element of *e4m3* has 4 bits of exponent and a significand of 4 bits: it is rounded by up to
// 6 %, and its largest number is 448. So a matrix comes with factors that bring its elements into this range, here one
// for each row of A and one for each column of B. They are the same for all products of a sum, and so can wait for the
// epilogue: one multiplication by each for an element of C.
//
// `wgmma` has it as `m64n256k32`: 32 elements are 32 bytes, as 16 of BF16 are, so boxes, ring and descriptors stay as they are, and
// a stage does twice the work. It transposes elements of 16 bits alone: B has to have K along its rows.
//
// The sums are floats, of which only 14 bits are used. A tensor core of Hopper shifts 32 products and the sum so far to their largest
// exponent, cuts off what lies more than 13 bits behind the first one, adds, and cuts off the result likewise; with BF16 these are 25 bits
// and all 24 of a float. (That model gives all bits of 61,440 sums that an H200 computed; the simulator has it.) So the larger a sum has
// become, the more each further product loses, always towards zero. The cure is that of `tf32`, `sums=outside`: a tensor core adds up the 128
// products of a stage from zero, and its sums are added to others by FADDs. Two sets of 128 do not fit into a thread's registers, so a
// stage is multiplied in two halves of 128 columns.

#include <cuda.h>
#include <cuda_bf16.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <cuda/ptx>
#include <string>
#include <utility>

#include "eight_bits.h"
#include "hopper.cuh"
#include "lab/cublas_eight_bits.h"
#include "lab/lab.h"
#include "launcher.h"
#include "tensor_cores.h"

/// A product of FP8, whose A and B the tensor maps have: C = A B, rows and columns times their factors, rounded to BF16.
struct Scaled : Product {
  const float* rows;  // m factors
  const float* cols;  // n
};

// [hide] The instructions
/// d += A B, or d = A B, by a warpgroup: A (64, 32) and B (32, 8 COLUMNS) of e4m3 in shared memory, both with K along their rows.
/// d: as for BF16.
template <int COLUMNS>
__device__ __forceinline__ void wgmma_fp8(float (&d)[COLUMNS][4], std::uint64_t a, std::uint64_t b,
                                          bool add) {
#define WARP_FOUR(J) "+f"(d[J][0]), "+f"(d[J][1]), "+f"(d[J][2]), "+f"(d[J][3])
#define WARP_SUMS(J) WARP_FOUR(J), WARP_FOUR(J + 1), WARP_FOUR(J + 2), WARP_FOUR(J + 3)
  if constexpr (COLUMNS == 32) {
    asm volatile(
        "{\n.reg .pred p;\nsetp.ne.b32 p, %130, 0;\n"
        "wgmma.mma_async.sync.aligned.m64n256k32.f32.e4m3.e4m3 {"
        "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
        "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "
        "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "
        "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63, "
        "%64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, "
        "%80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95, "
        "%96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, "
        "%111, "
        "%112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, %126, "
        "%127"
        "}, %128, %129, p, 1, 1;\n}"
        : WARP_SUMS(0), WARP_SUMS(4), WARP_SUMS(8), WARP_SUMS(12), WARP_SUMS(16), WARP_SUMS(20),
          WARP_SUMS(24), WARP_SUMS(28)
        : "l"(a), "l"(b), "r"(static_cast<int>(add)));
  } else {
    asm volatile(
        "{\n.reg .pred p;\nsetp.ne.b32 p, %66, 0;\n"
        "wgmma.mma_async.sync.aligned.m64n128k32.f32.e4m3.e4m3 {"
        "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
        "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "
        "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "
        "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63"
        "}, %64, %65, p, 1, 1;\n}"
        : WARP_SUMS(0), WARP_SUMS(4), WARP_SUMS(8), WARP_SUMS(12)
        : "l"(a), "l"(b), "r"(static_cast<int>(add)));
  }
#undef WARP_SUMS
#undef WARP_FOUR
}
// [/hide]

/// The products of a stage, or of 8 COLUMNS columns of it: (64, 128) of A and (128, 8 COLUMNS) of B. Committed as a group.
template <int COLUMNS>
__device__ __forceinline__ void multiply_fp8(float (&d)[COLUMNS][4], std::uint32_t a,
                                             std::uint32_t b, bool add) {
  wgmma_fence();
#pragma unroll
  for (int k = 0; k < 4; ++k) {
    wgmma_fp8(d, descriptor(a + 32 * k, 16, 1024), descriptor(b + 32 * k, 16, 1024), add || k > 0);
  }
  wgmma_commit();
}

/// C = A B, scaled.
///
/// \tparam OUTSIDE sums leave the tensor core after each stage of 128 products
///
/// Launch: blocks of 384 threads, as many as there are SMs; ring_bytes and c_bytes.
/// Requires: compute capability 9.0a; K >= 1; maps of A for boxes of (BM, 128), of B for boxes of (BN, 128) bytes, and, if N is a
/// multiple of 8, of C for boxes of (64, 64), all swizzled by 128 bytes.
template <bool OUTSIDE>
__global__ void __launch_bounds__(specialized_threads, 1)
    fp8(Scaled g, const __grid_constant__ CUtensorMap map_a,
        const __grid_constant__ CUtensorMap map_b, const __grid_constant__ CUtensorMap map_c) {
  constexpr int K_TILE = 128;
  extern __shared__ char memory[];
  __shared__ std::uint64_t full[STAGES], empty[STAGES];
  char* const ring = memory + (alignment - address_of(memory) % alignment) % alignment;
  const int t = static_cast<int>(threadIdx.x), group = t / 128;
  if (t == 0) {
    for (std::uint64_t& barrier : full) ptx::mbarrier_init(&barrier, 1);
    for (std::uint64_t& barrier : empty) ptx::mbarrier_init(&barrier, 2);
    ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
  }
  __syncthreads();  // the barriers are initialized

  const int tiles = (g.m + BM - 1) / BM * ((g.n + BN - 1) / BN);
  const int steps = (g.k + K_TILE - 1) / K_TILE;
  int stage = 0;
  if (group == 0) {  // loads
    asm volatile("setmaxnreg.dec.sync.aligned.u32 24;");
    if (t != 0) return;
    std::uint32_t parity = 1;
    for (int number = static_cast<int>(blockIdx.x); number < tiles; number += gridDim.x) {
      const Tile tile(g.m, g.n, number, 1, 0);
      for (int step = 0; step < steps; ++step) {
        char* const a = ring + stage * stage_bytes;
        wait_for(&empty[stage], parity);
        ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared,
                                       &full[stage], std::uint32_t{stage_bytes});
        load_box(a, map_a, tile.row, step * K_TILE, &full[stage]);
        load_box(a + a_bytes, map_b, tile.col, step * K_TILE, &full[stage]);
        if (++stage == STAGES) stage = 0, parity ^= 1;
      }
    }
    return;
  }

  asm volatile("setmaxnreg.inc.sync.aligned.u32 240;");  // multiplies
  const int me = t % 128, lane = t % 32, own_row = 64 * (group - 1);
  const std::uint32_t places =
      address_of(ring + STAGES * stage_bytes + (group - 1) * 2 * box_bytes);
  std::uint32_t parity = 0;
  const auto release = [&](int stage) {
    if (me == 0) ptx::mbarrier_arrive(&empty[stage]);
  };
  for (int number = static_cast<int>(blockIdx.x); number < tiles; number += gridDim.x) {
    const Tile tile(g.m, g.n, number, 1, 0);
    float d[32][4] = {};
    int before = 0;
    for (int step = 0; step < steps; ++step) {
      wait_for(&full[stage], parity);
      const std::uint32_t at = address_of(ring + stage * stage_bytes), b = at + a_bytes;
      const std::uint32_t a = at + static_cast<unsigned>(own_row) * 128;
      if constexpr (OUTSIDE) {
#pragma unroll
        for (int half = 0; half < 2; ++half) {
          float own[16][4];
          multiply_fp8(own, a, b + half * 128 * 128, false);
          wgmma_wait<0>();
#pragma unroll
          for (auto& four : own) {
#pragma unroll
            for ([[maybe_unused]] float& sum : four) asm volatile("" : "+f"(sum)::"memory");
          }
          if (half == 1) release(stage);
#pragma unroll
          for (int j = 0; j < 16; ++j) {
#pragma unroll
            for (int e = 0; e < 4; ++e) d[16 * half + j][e] += own[j][e];
          }
        }
      } else {
        multiply_fp8(d, a, b, step > 0);
        wgmma_wait<1>();  // the stage before this one has been read
        if (step > 0) release(before);
        before = stage;
      }
      if (++stage == STAGES) stage = 0, parity ^= 1;
    }
    if constexpr (!OUTSIDE) {
      wgmma_wait<0>();
      sums_are_ready(d);
      release(before);
    }

    const int row = tile.row + own_row, r = row + me / 32 * 16 + lane / 4;
    const float above = r < g.m ? g.rows[r] : 0, below = r + 8 < g.m ? g.rows[r + 8] : 0;
#pragma unroll
    for (int j = 0; j < 32; ++j) {
      const int c = tile.col + 8 * j + lane % 4 * 2;
      float2 of = make_float2(c < g.n ? g.cols[c] : 0, 0);
      if (c + 1 < g.n) of = *reinterpret_cast<const float2*>(g.cols + c);
      d[j][0] *= above * of.x, d[j][1] *= above * of.y;
      d[j][2] *= below * of.x, d[j][3] *= below * of.y;
    }
    if (g.n % 8 == 0)
      store_boxes<bf16>(g, d, row, tile.col, places, map_c, group);
    else
      store_sums<bf16>(g, d, row, tile.col);
  }
  if (me == 0) asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
}

// The errors are those of the worst element at 4096, whose values go up to some 2,000. Elements are in (-1, 1), a quarter of them negative;
// factors lie between 1/2 and 2. The peer of `sums=inside` is cuBLASLt with fast sums, that of `sums=outside` without.
//
// | | largest error | TFLOP/s | at MHz | share of cuBLASLt |
// |---|--:|--:|--:|--:|
// | `sums=inside` | 29.2 | 1414 | 1965 | 0.93 |
// | `sums=outside` | 4.13 | 1264 | 1965 | 0.94 |
//= | 29.2 | 1414 | 1965 | 0.93: (error("fp8/sums=inside"), rate("fp8/sums=inside") / 1000, clock("fp8/sums=inside"),
//=   ratio("fp8/sums=inside"))
//= | 4.13 | 1264 | 1965 | 0.94: (error("fp8/sums=outside"), rate("fp8/sums=outside") / 1000, clock("fp8/sums=outside"),
//=   ratio("fp8/sums=outside"))
//
// Beside the product of the floats that were rounded to FP8, the worst element of `sums=outside` is 13.6 off: the price of 8 bits. Sums
// within the tensor core lose twice as much again. Of the 4.13 the rounding to BF16 alone can take 4, half of the last place of a
// number beyond 1,024.
//= is 13.6: error("fp8/sums=outside, beside=floats")
//= twice as much: error("fp8/sums=inside") / error("fp8/sums=outside, beside=floats")
//= can take 4: 1024 * 2 ** -7 / 2
//
// With twice the K the loss within is 3.7 times as large, and with sums outside 2.0 times, as the values are.
//= is 3.7 times: error("fp8/sums=inside", 8192) / error("fp8/sums=inside")
//= outside 2.0 times: error("fp8/sums=outside", 8192) / error("fp8/sums=outside")
//
// At 2048 the shares are 0.91 and 0.93, at 8192 0.94 and 0.89. A tile has half as many steps as with BF16, and as many sums to store, which here
// nothing hides, and `overlapped` does for BF16. What that costs is not measured.
//= the shares are 0.91 and 0.93: (ratio("fp8/sums=inside", 2048), ratio("fp8/sums=outside", 2048))
//= 8192 0.94 and 0.89: (8192, ratio("fp8/sums=inside", 8192), ratio("fp8/sums=outside", 8192))

// [hide] How the rung is registered
namespace {

/// Factors from 1/2 to 2, without a pattern.
struct Factor {
  std::uint64_t seed;
  __host__ __device__ float operator()(std::size_t i) const {
    const float x = lab::random_float(seed, i);
    return 0.5f + 1.5f * (x < 0 ? x + 1 : x);
  }
};

/// An element of C, from the elements as they are stored or, if FLOATS, as they were before they were rounded to FP8.
template <bool FLOATS>
struct ScaledSum {
  lab::View<E4m3> a, b;
  lab::View<float> rows, cols;
  std::size_t n, k, pitch;
  std::uint64_t seed;

  __host__ __device__ double operator()(std::size_t i) const {
    const std::size_t row = i / n, col = i % n;
    double sum = 0;
    for (std::size_t at = 0; at < k; at += 16) {
      // 16 elements of each, zeros behind the row.
      const int4 of_a = *reinterpret_cast<const int4*>(a.data() + row * pitch + at);
      const int4 of_b = *reinterpret_cast<const int4*>(b.data() + col * pitch + at);
      E4m3 p[16], q[16];
      std::memcpy(p, &of_a, 16);
      std::memcpy(q, &of_b, 16);
      for (std::size_t e = 0; e < 16; ++e) {
        if (FLOATS && at + e < k) {
          sum += static_cast<double>(lab::random_float(seed, row * k + at + e)) *
                 static_cast<double>(lab::random_float(seed + 1, col * k + at + e));
        } else if (!FLOATS) {
          sum += static_cast<double>(value_of(p[e]) * value_of(q[e]));
        }
      }
    }
    return sum * static_cast<double>(rows[row]) * static_cast<double>(cols[col]);
  }
};

/// What the variants have in common: operands, factors, C.
class Fp8 {
 public:
  Fp8(std::size_t m, std::size_t n, std::size_t k, std::uint64_t seed)
      : k_(k),
        pitch_(pitch_of(k)),
        seed_(seed),
        a_(m * pitch_, ByRows<E4m3>{seed, k, pitch_}, "A"),
        b_(n * pitch_, ByRows<E4m3>{seed + 1, k, pitch_}, "B"),
        rows_(m, Factor{seed + 2}, "factors of rows"),
        cols_(n, Factor{seed + 3}, "factors of columns"),
        c_(m * n, "C") {
    g_.m = static_cast<int>(m), g_.n = static_cast<int>(n), g_.k = static_cast<int>(k);
    g_.c = c_.data(), g_.ldc = g_.n, g_.rows = rows_.data(), g_.cols = cols_.data();
    const int ld = static_cast<int>(pitch_);
    map_a_ = tensor_map(std::as_const(a_).data(), g_.m, g_.k, ld, BM);
    map_b_ = tensor_map(std::as_const(b_).data(), g_.n, g_.k, ld, BN);
    if (n % 8 == 0) map_c_ = tensor_map<bf16>(c_.data(), g_.m, g_.n, g_.n, box_rows);
  }

  /// The product, held to the elements as they are stored or, if FLOATS, as they were before they were rounded to FP8.
  template <bool OUTSIDE, bool FLOATS = false>
  lab::Rung rung(const std::string& variant) {
    const ScaledSum<FLOATS> element{a_.view(),    b_.view(), rows_.view(), cols_.view(),
                                    cols_.size(), k_,        pitch_,       seed_};
    return {.name = "fp8",
            .variant = variant,
            .launch = [this] { launch(fp8<OUTSIDE>); },
            .outputs = {lab::expect(c_, element, tolerance(OUTSIDE, FLOATS))},
            .flops = 2.0 * g_.m * g_.n * g_.k,
            .peer = FLOATS ? lab::Peer{}
                           : lab::cublas_fp8(
                                 {g_.m, g_.n, g_.k, std::as_const(a_).data(),
                                  std::as_const(b_).data(), static_cast<int>(pitch_), c_.data()},
                                 g_.rows, g_.cols, !OUTSIDE),
            .timed = !FLOATS};
  }

 private:
  void launch(void (*kernel)(Scaled, CUtensorMap, CUtensorMap, CUtensorMap)) const {
    constexpr unsigned shared = ring_bytes + c_bytes;
    CUDA_CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                    static_cast<int>(shared)));
    const int tiles = lab::ceil_div(g_.m, BM) * lab::ceil_div(g_.n, BN);
    const int blocks = std::min(tiles, lab::device_attribute(cudaDevAttrMultiProcessorCount));
    kernel<<<static_cast<unsigned>(blocks), specialized_threads, shared>>>(g_, map_a_, map_b_,
                                                                           map_c_);
  }

  /// Within a tensor core each product is cut off 13 bits behind the first one of the sum so far, which on the mean is half of the
  /// last one, a sixteenth for each product. That is a random walk, and a drift: half of a last bit each, of a quarter more
  /// positive products than negative ones. Rounding to FP8 takes up to 2^-4 of a factor.
  lab::Tolerance tolerance(bool outside, bool floats) const {
    const double terms = static_cast<double>(k_), walk = 4 * std::sqrt(terms);
    const double sum = std::max(1.0, (outside ? std::min(128.0, terms) : terms) / 16);
    lab::Tolerance allowed = lab::tolerance_for_sum(k_, 0.25);
    allowed.absolute += 0x1p-13 * sum * (walk + terms / 16);
    if (floats) allowed.absolute += walk * 0x1p-4 * 0.25;
    allowed.absolute *= 4;  // the factors of a row and a column
    allowed.relative += 0x1p-8;
    allowed.basis = lab::format("K = %zu products of FP8, cut off, rounded to BF16", k_);
    return allowed;
  }

  std::size_t k_, pitch_;
  std::uint64_t seed_;
  lab::Input<E4m3> a_, b_;
  lab::Input<float> rows_, cols_;
  lab::DeviceBuffer<bf16> c_;
  Scaled g_{};
  CUtensorMap map_a_{}, map_b_{}, map_c_{};
};

void add(lab::GemmLadderOf<bf16>& of_bf16) {
  lab::Ladder& ladder = of_bf16.ladder();
  if (!ladder.wants("fp8")) return;
  const auto [m, n, k] = ladder.extents<3>();
  Fp8 product(m, n, k, ladder.seed());
  ladder.add(product.rung<false>("sums=inside"));
  ladder.add(product.rung<true>("sums=outside"));
  if (ladder.case_number() < 0) ladder.add(product.rung<true, true>("sums=outside, beside=floats"));
}

const lab::Rungs here(add);

}  // namespace
// [/hide]
