// ## BF16, on tensor cores (second reading)
//
// Networks are trained and run in {term}`BF16 <BF16>`: images, filters and results have 16 bits, the sums 32. The product below
// is then one for {term}`tensor cores <tensor core>`, in the form that chapter 17 has for matrices: `mma.sync`, fragments by `ldmatrix` from swizzled tiles, and a ring
// of stages that `cp.async` fills. What is new is where a tile of the windows comes from.
//
// Tensor cores take both operands with their terms side by side. With the channels inside, NHWC, they lie so in memory: where
// C is a multiple of eight, eight neighbouring terms are 16 bytes of one pixel, a *chunk*. A chunk lies in the image or outside of it as a whole.
//
// ```{drawing} chunks
// ```
//
// A thread copies the same chunk of every 16th window of a tile. Eight windows need eight places in memory, but only one tap and one channel.
// So the table of terms is gone: three numbers (r, s, c) move on by 64 terms with each K-tile. What depends on the window alone is computed once
// for each window of the block, in front of the loop: the place of its first pixel, and one bit for each row and each column of the filter that
// says whether it lies in the image. Inside or not is then one comparison of two bits.
//
//? bf16_gain: How many times as fast as `implicit_nhwc` in FP32 is that for `c128`?
//? answer: ms("implicit_nhwc/layer=c128") / ms("implicit_bf16/layer=c128")
//? unit: times
//? near: factor 2

#include <cuda_bf16.h>
#include <cuda_pipeline.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "convolution.h"
#include "lab/lab.h"

using bf16 = __nv_bfloat16;

constexpr int BK = 64, CHUNKS = BK / 8;  ///< terms of a K-tile, chunks of eight terms in one
constexpr int STAGES = 3;                ///< K-tiles in shared memory

/// The tile of a block, BM pixels x BN filters, and that of a warp.
template <int TILE_M, int TILE_N, int WARP_M, int WARP_N>
struct Tile {
  static constexpr int BM = TILE_M, BN = TILE_N, WM = WARP_M, WN = WARP_N;
  static constexpr int threads = BM / WM * (BN / WN) * 32;
  static constexpr int stage = (BM + BN) * BK;  ///< elements
  static constexpr std::size_t shared_bytes = sizeof(bf16) * STAGES * stage;
  static constexpr int step = threads / CHUNKS;  ///< rows from a thread's chunk to its next
};

// [hide] The instructions, as in chapter 17
/// d += a b for one 16 x 8 x 16 product, by one warp; see chapter 17.
__device__ __forceinline__ void mma(float (&d)[4], const std::uint32_t (&a)[4], std::uint32_t b0,
                                    std::uint32_t b1) {
  asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
      "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

/// Loads four 8 x 8 matrices of BF16 from shared memory: lane i has the address of row i % 8 of matrix i / 8.
__device__ __forceinline__ void ldmatrix4(std::uint32_t (&f)[4], std::uint32_t row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(f[0]), "=r"(f[1]), "=r"(f[2]), "=r"(f[3])
               : "r"(row)
               : "memory");
}

/// Starts to copy 16 bytes to shared memory, or zeros if they do not exist: then nothing is read.
__device__ __forceinline__ void copy16_if(std::uint32_t to, const void* from, bool exist) {
  asm volatile(
      "{\n.reg .pred p;\nsetp.eq.s32 p, %2, 0;\n"
      "cp.async.cg.shared.global [%0], [%1], 16, p;\n}" ::"r"(to),
      "l"(from), "r"(static_cast<int>(exist))
      : "memory");
}

/// The address of shared memory as instructions take it.
__device__ __forceinline__ std::uint32_t address_of(const void* pointer) {
  return static_cast<std::uint32_t>(__cvta_generic_to_shared(pointer));
}

/// Two sums, rounded, in one register, the first one in the low half.
__device__ __forceinline__ std::uint32_t pair(float low, float high) {
  return static_cast<std::uint32_t>(__bfloat16_as_ushort(__float2bfloat16(low))) |
         static_cast<std::uint32_t>(__bfloat16_as_ushort(__float2bfloat16(high))) << 16;
}

/// Where a chunk of a row lies in a tile whose rows have PER_ROW chunks, at least eight: swizzled, in elements.
template <int PER_ROW>
__device__ __forceinline__ int chunk_at(int row, int chunk) {
  return (row * PER_ROW + (chunk ^ row % 8)) * 8;
}
// [/hide]

/// What the loop needs of a window.
struct alignas(8) Place {
  int first;        ///< element of its first pixel
  unsigned inside;  ///< bit r: row r of the filter lies in the image; bit 16 + s: its column s
};

/// The window of a pixel of the results; for one that does not exist none lies in the image.
__device__ inline Place place_of(const Layer& l, int pixel) {
  const int each = l.p() * l.q(), n = pixel / each, at = pixel - n * each;
  const int y = at / l.q() * l.stride - l.pad, x = at % l.q() * l.stride - l.pad;
  Place place{((n * l.h + y) * l.w + x) * l.c, 0};
  if (pixel >= static_cast<int>(l.pixels())) return place;
  for (int r = 0; r < l.r; ++r) {
    if (static_cast<unsigned>(y + r * l.dilation) < static_cast<unsigned>(l.h))
      place.inside |= 1u << r;
  }
  for (int s = 0; s < l.s; ++s) {
    if (static_cast<unsigned>(x + s * l.dilation) < static_cast<unsigned>(l.w))
      place.inside |= 1u << (16 + s);
  }
  return place;
}

/// What a thread copies of each K-tile: chunk threadIdx.x % CHUNKS of every T::step-th window and filter.
template <class T>
struct Chunks {
  static constexpr int WINDOWS = T::BM / T::step, FILTERS = T::BN / T::step;

  const bf16 *in, *filter;  // filter: of this thread's first one, at its next term
  Place window[WINDOWS];
  int r, s, c, term;  // of this thread's chunk of the next K-tile
  int filters;        // that exist, from this thread's first one on
  std::uint32_t to;   // its place in the first stage

  /// Of the windows of a block, and the filters from `col` on.
  __device__ Chunks(const Layer& l, const bf16* images, const bf16* all_filters, bf16* stages,
                    const Place* windows, int col)
      : in(images), r(0), s(0) {
    const int t = static_cast<int>(threadIdx.x), own = t / CHUNKS, chunk = t % CHUNKS;
    term = c = chunk * 8;
    carry(l);
    filter = all_filters + static_cast<std::size_t>(col + own) * l.terms() + term;
    filters = l.k - col - own;
    to = address_of(stages + chunk_at<CHUNKS>(own, chunk));
#pragma unroll
    for (int i = 0; i < WINDOWS; ++i) window[i] = windows[own + i * T::step];
  }
  /// Makes r, s and c of a channel that may lie beyond the last one.
  __device__ void carry(const Layer& l) {
    while (c >= l.c) {
      c -= l.c;
      if (++s == l.s) s = 0, ++r;
    }
  }
  /// Starts one of `parts` parts of the copies to a stage, and moves on behind the last. Beyond the last term: zeros.
  __device__ __forceinline__ void copy(const Layer& l, int stage, int part, int parts) {
    const bool there = term < l.terms();
    const unsigned need = there ? 1u << r | 1u << (16 + s) : ~0u;  // no window has all bits
    const int tap = (r * l.w + s) * l.dilation * l.c + c;
    const std::uint32_t base = to + static_cast<std::uint32_t>(sizeof(bf16) * stage * T::stage);
#pragma unroll
    for (int i = WINDOWS * part / parts; i < WINDOWS * (part + 1) / parts; ++i) {
      copy16_if(base + sizeof(bf16) * BK * T::step * i, in + (window[i].first + tap),
                (window[i].inside & need) == need);
    }
#pragma unroll
    for (int i = FILTERS * part / parts; i < FILTERS * (part + 1) / parts; ++i) {
      copy16_if(base + sizeof(bf16) * BK * (T::BM + T::step * i),
                filter + static_cast<std::size_t>(T::step * i) * l.terms(),
                there && T::step * i < filters);
    }
    if (part + 1 < parts) return;
    __pipeline_commit();
    filter += BK, term += BK, c += BK;
    carry(l);
  }
};

/// A layer of one group in BF16, its sums in FP32: in (N, H, W, C), filter (K, R, S, C), out (N, P, Q, K).
///
/// Launch: T::threads threads with T::shared_bytes; grid.x covers filters and pixels with tiles of T::BM pixels x T::BN
/// filters, those of all filters first.
/// Requires: compute capability 8.0; C a multiple of 8; R and S at most 15; in and filter at multiples of 16 bytes.
template <class T>
__global__ void __launch_bounds__(T::threads)
    implicit_bf16(bf16* __restrict__ out, const bf16* __restrict__ in,
                  const bf16* __restrict__ filter, Layer l) {
  constexpr int WM = T::WM, WN = T::WN;
  extern __shared__ __align__(128)
      bf16 stages[];  // STAGES of (BM, BK) windows and (BN, BK) filters
  const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
  const int across = (l.k + T::BN - 1) / T::BN, block = static_cast<int>(blockIdx.x);
  const int row = block / across * T::BM, col = block % across * T::BN;
  const int warp_row = warp / (T::BN / WN) * WM, warp_col = warp % (T::BN / WN) * WN;
  __shared__ Place windows[T::BM];
  for (int i = static_cast<int>(threadIdx.x); i < T::BM; i += T::threads)
    windows[i] = place_of(l, row + i);
  __syncthreads();
  Chunks<T> chunks(l, in, filter, stages, windows, col);

  // Where the fragments of the first stage lie; others are a constant distance away.
  std::uint32_t at_a[BK / 16], at_b[BK / 16];
#pragma unroll
  for (int k = 0; k < BK / 16; ++k) {
    at_a[k] = address_of(stages + chunk_at<CHUNKS>(warp_row + lane % 16, 2 * k + lane / 16));
    at_b[k] =
        address_of(stages + T::BM * BK +
                   chunk_at<CHUNKS>(warp_col + lane / 16 * 8 + lane % 8, 2 * k + lane / 8 % 2));
  }
  std::uint32_t a[2][WM / 16][4], b[2][WN / 16][4];
  const auto fragments = [&](int which, int stage, int k) {
    const auto from = static_cast<std::uint32_t>(sizeof(bf16) * stage * T::stage);
#pragma unroll
    for (int i = 0; i < WM / 16; ++i)
      ldmatrix4(a[which][i], at_a[k / 16] + from + sizeof(bf16) * 16 * BK * i);
#pragma unroll
    for (int j = 0; j < WN / 16; ++j)
      ldmatrix4(b[which][j], at_b[k / 16] + from + sizeof(bf16) * 16 * BK * j);
  };

  float d[WM / 16][WN / 8][4] = {};
  for (int stage = 0; stage < STAGES - 1; ++stage) chunks.copy(l, stage, 0, 1);
  __pipeline_wait_prior(STAGES - 2);
  __syncthreads();
  fragments(0, 0, 0);
  int stage = 0, filled = STAGES - 1;  // the stage to compute with, the next one to fill
  for (int left = l.terms(); left > 0; left -= BK) {
    const int next_stage = stage + 1 == STAGES ? 0 : stage + 1;
#pragma unroll
    for (int k = 0; k < BK; k += 16) {
      const int now = k / 16 % 2, next = 1 - now;
      if (k + 16 < BK) {
        fragments(next, stage, k + 16);
        chunks.copy(l, filled, k / 16, BK / 16 - 1);
      } else {
        __pipeline_wait_prior(STAGES - 2);
        __syncthreads();  // the next K-tile is there, and nobody reads the one before this
        fragments(next, next_stage, 0);
      }
#pragma unroll
      for (int i = 0; i < WM / 16; ++i) {
#pragma unroll
        for (int jj = 0; jj < WN / 8; ++jj) {
          const int j = i % 2 ? WN / 8 - 1 - jj : jj;  // there and back, as in chapter 11
          mma(d[i][j], a[now][i], b[now][j / 2][j % 2 * 2], b[now][j / 2][j % 2 * 2 + 1]);
        }
      }
    }
    stage = next_stage;
    filled = filled + 1 == STAGES ? 0 : filled + 1;
  }
  __pipeline_wait_prior(0);
  __syncthreads();  // the stages are free: the results go through them, and leave in chunks

#pragma unroll
  for (int i = 0; i < WM / 16; ++i) {
#pragma unroll
    for (int j = 0; j < WN / 8; ++j) {
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const int r = warp_row + 16 * i + 8 * half + lane / 4;
        bf16* const to = stages + chunk_at<T::BN / 8>(r, warp_col / 8 + j) + lane % 4 * 2;
        *reinterpret_cast<std::uint32_t*>(to) = pair(d[i][j][2 * half], d[i][j][2 * half + 1]);
      }
    }
  }
  __syncthreads();  // the tile of results is there
  const int pixels = static_cast<int>(l.pixels()) - row;
  for (int t = static_cast<int>(threadIdx.x); t < T::BM * T::BN / 8; t += T::threads) {
    const int r = t / (T::BN / 8), chunk = t % (T::BN / 8), k = col + chunk * 8;
    if (r >= pixels || k >= l.k) continue;
    const bf16* const from = stages + chunk_at<T::BN / 8>(r, chunk);
    bf16* const to = out + static_cast<std::size_t>(row + r) * l.k + k;
    if (l.k % 8 == 0) {
      *reinterpret_cast<uint4*>(to) = *reinterpret_cast<const uint4*>(from);
    } else {
      for (int e = 0; e < min(8, l.k - k); ++e) to[e] = from[e];
    }
  }
}

// 8.4 times: 263 TFLOP/s. All layers but `first`, whose images have three channels:
//= 8.4 times: ms("implicit_nhwc/layer=c128") / ms("implicit_bf16/layer=c128")
//= 263 TFLOP/s: rate("implicit_bf16/layer=c128") / 1000
//
// | | `c64` | `c128` | `c256` | `c512` | `large` | `down` | `up` | `one56` | `one14` | `five` |
// |---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|
// | TFLOP/s | 230 | 263 | 249 | 197 | 280 | 141 | 93 | 27 | 12 | 449 |
// | of cuDNN in BF16 | 0.84 | 0.73 | 0.68 | 0.53 | 0.58 | 0.78 | 0.53 | 0.92 | 0.54 | 0.97 |
//= | TFLOP/s | 230 | 263 | 249 | 197 | 280 | 141 | 93 | 27 | 12 | 449 |: (rate("implicit_bf16/layer=c64") / 1000,
//=   rate("implicit_bf16/layer=c128") / 1000, rate("implicit_bf16/layer=c256") / 1000, rate("implicit_bf16/layer=c512") / 1000,
//=   rate("implicit_bf16/layer=large") / 1000, rate("implicit_bf16/layer=down") / 1000, rate("implicit_bf16/layer=up") / 1000,
//=   rate("implicit_bf16/layer=one56") / 1000, rate("implicit_bf16/layer=one14") / 1000, rate("implicit_bf16/layer=five") / 1000)
//= | 0.84 | 0.73 | 0.68 | 0.53 | 0.58 | 0.78 | 0.53 | 0.92 | 0.54 | 0.97 |: (ratio("implicit_bf16/layer=c64"),
//=   ratio("implicit_bf16/layer=c128"), ratio("implicit_bf16/layer=c256"), ratio("implicit_bf16/layer=c512"),
//=   ratio("implicit_bf16/layer=large"), ratio("implicit_bf16/layer=down"), ratio("implicit_bf16/layer=up"),
//=   ratio("implicit_bf16/layer=one56"), ratio("implicit_bf16/layer=one14"), ratio("implicit_bf16/layer=five"))
//
// `five` has 50 K-tiles in a block, `c64` and `large` have 9, `down` has 4 and `up` has one. The length of the loop alone does not tell how
// close a layer is to cuDNN: `down` is closer than `large`. What a block does in front of its loop and behind it was not measured by itself.
// Chapter 17 takes the next steps for matrices, on Hopper, and an implicit product can take them too.
//= 50 K-tiles: 128 * 25 / 64
//= have 9: 64 * 9 / 64
//= has 4: 256 / 64
//= because `down` is closer: ratio("implicit_bf16/layer=large") < ratio("implicit_bf16/layer=down")
//
// The largest error for `c128` is 0.25, against sums in double of the same BF16 numbers; in FP32 `implicit` has 0.0002. The results are
// rounded to 8 bits: between 64 and 128 they are multiples of 0.5, and the nearest is up to 0.25 away. The error is 0.0001 above that.
//= 0.25, against: error("implicit_bf16/layer=c128")
//= has 0.0002: error("implicit/layer=c128")
//= is 0.0001: error("implicit_bf16/layer=c128") - 0.25

// [hide] How it is added
namespace {

/// A layer in BF16, its arrays, and what is right.
struct WorkBf16 {
  WorkBf16(const Layer& layer, const std::string& name, std::uint64_t seed)
      : layer(layer),
        name(name),
        in(layer.inputs(), lab::RandomValue<bf16>{seed}, "BF16 images"),
        filter(layer.weights(), lab::RandomValue<bf16>{seed + 1}, "BF16 filters"),
        out(layer.outputs(), "BF16 out") {}

  const Layer layer;
  const std::string name;
  const lab::Input<bf16> in, filter;
  lab::DeviceBuffer<bf16> out;
};

template <class T>
void launch(WorkBf16& w) {
  const Layer& l = w.layer;
  CUDA_CHECK(cudaFuncSetAttribute(implicit_bf16<T>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                  static_cast<int>(T::shared_bytes)));
  const std::size_t blocks = lab::ceil_div(std::size_t(l.k), std::size_t{T::BN}) *
                             lab::ceil_div(l.pixels(), std::size_t{T::BM});
  implicit_bf16<T><<<static_cast<unsigned>(blocks), T::threads, T::shared_bytes>>>(
      w.out.data(), w.in.data(), w.filter.data(), l);
}

/// Whether tiles of that size leave two blocks for each SM.
template <class T>
bool leaves_enough(const Layer& l) {
  return l.k > T::BN / 2 && lab::ceil_div(std::size_t(l.k), std::size_t{T::BN}) *
                                    lab::ceil_div(l.pixels(), std::size_t{T::BM}) >=
                                2 * lab::multiprocessors();
}

/// With the largest tiles that leave enough blocks, else with the smallest.
void run_bf16(WorkBf16& w) {
  using Large = Tile<128, 128, 64, 64>;
  using Half = Tile<128, 64, 64, 32>;
  using Small = Tile<64, 64, 32, 32>;
  if (leaves_enough<Large>(w.layer)) return launch<Large>(w);
  if (leaves_enough<Half>(w.layer)) return launch<Half>(w);
  launch<Small>(w);
}

/// A result of the direct sum in double: element i of (N, P, Q, K).
struct DirectSumBf16 {
  Layer l;
  lab::View<bf16> in, filter;

  __host__ __device__ double operator()(std::size_t i) const {
    const std::size_t k = i % l.k, pixel = i / l.k, n = pixel / (std::size_t(l.p()) * l.q());
    const int p = static_cast<int>(pixel / l.q() % l.p()), q = static_cast<int>(pixel % l.q());
    const bf16* weight = filter.data() + k * l.terms();
    double sum = 0;
    for (int r = 0; r < l.r; ++r) {
      for (int s = 0; s < l.s; ++s, weight += l.c) {
        const int y = p * l.stride - l.pad + r * l.dilation;
        const int x = q * l.stride - l.pad + s * l.dilation;
        if (y < 0 || y >= l.h || x < 0 || x >= l.w) continue;
        const bf16* const pixel_of = in.data() + ((n * l.h + y) * l.w + x) * l.c;
        for (int c = 0; c < l.c; ++c) {
          sum += double{__bfloat162float(pixel_of[c])} * double{__bfloat162float(weight[c])};
        }
      }
    }
    return sum;
  }
};

/// Why the rung cannot take a layer; empty where it can.
std::string takes_chunks(const Layer& l) {
  return l.groups == 1 && l.c % 8 == 0 && l.r <= 15 && l.s <= 15
             ? ""
             : "takes one group, C of a multiple of 8, and R and S up to 15";
}

const lab::Rungs here([](Chosen& chosen) {
  lab::Ladder& ladder = chosen.ladder;
  bool skipped = false;
  for (auto [name, layer] : chosen.layers) {
    if (!is_among(name, "c64 c128 c256 c512 large down up one56 one14 five") ||
        !ladder.wants("implicit_bf16")) {
      continue;
    }
    if (name != "given") layer.c = (layer.c + 7) / 8 * 8;  // of smaller images, too
    if (const std::string reason = takes_chunks(layer); !reason.empty()) {
      if (!skipped) ladder.skip("implicit_bf16", reason);
      skipped = true;
      continue;
    }
    WorkBf16 work(layer, name, ladder.seed());
    lab::Tolerance tolerance = lab::tolerance_for_sum(std::size_t(layer.terms()), 0.25);
    tolerance.relative += 0x1p-8;
    tolerance.basis += ", rounded to BF16";
    const lab::Expectation right =
        lab::expect(work.out, DirectSumBf16{layer, work.in.view(), work.filter.view()}, tolerance);
    ladder.add({.name = "implicit_bf16",
                .variant = "layer=" + name,
                .launch = [&] { run_bf16(work); },
                .outputs = {right},
                .bytes = layer.bytes() / 2,
                .flops = layer.flops(),
                .peer = lab::cudnn("cuDNN in BF16, " + name, layer, work.out, work.in.data(),
                                   work.filter.data(), right)});
  }
});

}  // namespace
// [/hide]
