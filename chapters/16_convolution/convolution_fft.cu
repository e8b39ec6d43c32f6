// ## Products of spectra (second reading)
//
// The points of Winograd's transforms are few, since large ones cost accuracy. The *roots of unity* all have magnitude 1, and there are
// as many as one likes: with them the transform is the discrete Fourier transform, and a tile may be large. With tiles of 32 x 32 pixels and
// filters of 5 x 5 a tile leaves 28 x 28 results (Mathieu, Henaff and LeCun, "Fast Training of Convolutional Networks through FFTs",
// 2014). This is what cuDNN chooses for `five`.
//
// The values are complex, and a product of two takes four multiplications. Two things halve that. *Two tiles share a transform*: one is
// the real part of the pixels, the other the imaginary part. The filters are real, so the two never mix: what comes out of the
// inverse transform has the results of one as its real part, and those of the other as its imaginary part. And *the spectrum of a real
// filter is symmetric*: its value at -f is the conjugate of that at f. So frequency -f needs no filter of its own. Its pixels, conjugated,
// are more columns of the product for f: 514 products serve all 1,024 frequencies.
//= 514 products: 15 * 32 + 2 * 17
//
// A result of `five` takes 514 x 4 x 2 / (2 x 28 x 28) = 2.6 multiplications for each channel and filter, where F(4 x 4) takes 4.
//= 2.6 multiplications: 514 * 4 * 2 / (2 * 28 * 28)

#include <cuda_pipeline.h>
#include <cuda_runtime.h>

#include <cstddef>
#include <string>
#include <vector>

#include "convolution.h"
#include "lab/lab.h"

using std::size_t;

constexpr int SIDE = 32;                 ///< pixels along a tile; values of a transform
constexpr int FREQUENCIES = 514;         ///< products: of f and -f, one
constexpr int BM = 64, BN = 64;          ///< filters and columns of a block's product
constexpr int BK = 8, STAGES = 3;        ///< channels of a K-tile, K-tiles in shared memory
constexpr int THREADS = BM * BN / 32;    ///< of a product: each has 8 x 4 complex sums
constexpr int WARPS = 8;                 ///< of a block that transforms: each has a pair of tiles
constexpr int PITCH = SIDE + 1;          ///< of a tile in shared memory, in complex values
constexpr int PLANE = SIDE * PITCH + 2;  ///< so that eight tiles lie in different banks
constexpr size_t TILE_BYTES = sizeof(float2) * WARPS * PLANE;

/// cos(2 pi k / 32)
__host__ __device__ constexpr float cosine(int k) {
  constexpr float quarter[] = {1,           0.98078528f, 0.92387953f,
                               0.83146961f, 0.70710678f, 0.55557023f,
                               0.38268343f, 0.19509032f, 0};
  k %= SIDE;
  return k <= 8    ? quarter[k]
         : k <= 16 ? -quarter[16 - k]
         : k <= 24 ? -quarter[k - 16]
                   : quarter[32 - k];
}
/// sin(2 pi k / 32)
__host__ __device__ constexpr float sine(int k) { return cosine(k + 24); }

/// The five bits of i the other way around.
__host__ __device__ constexpr int reversed(int i) {
  return (i & 1) << 4 | (i & 2) << 2 | (i & 4) | (i & 8) >> 2 | (i & 16) >> 4;
}

/// The discrete Fourier transform of 32 values in registers, or 32 times its inverse; the value at frequency f is left
/// in z[reversed(f)].
template <bool INVERSE>
__device__ __forceinline__ void fourier32(float2 (&z)[SIDE]) {
#pragma unroll
  for (int level = 0; level < 5; ++level) {
    const int half = 16 >> level;
#pragma unroll
    for (int i = 0; i < SIDE / 2; ++i) {
      const int j = i % half, at = i / half * 2 * half + j, turn = j << level;
      const float2 a = z[at], b = z[at + half];
      const float2 d = make_float2(a.x - b.x, a.y - b.y);
      const float c = cosine(turn), s = INVERSE ? -sine(turn) : sine(turn);
      z[at] = make_float2(a.x + b.x, a.y + b.y);
      z[at + half] = turn == 0   ? d
                     : turn == 8 ? (INVERSE ? make_float2(-d.y, d.x) : make_float2(d.y, -d.x))
                                 : make_float2(c * d.x + s * d.y, c * d.y - s * d.x);
    }
  }
}

/// The products that a thread with one fx needs: that of (fy, fx), or of the opposite frequency, and which column of a pair it has
/// there.
struct Places {
  int first;     ///< the product of (0, fx) or of its opposite
  bool turned;   ///< those of the opposite frequencies are kept
  bool is_real;  ///< fx is its own opposite

  __device__ explicit Places(int fx)
      : first(fx == 0    ? 480
              : fx == 16 ? 497
              : fx < 16  ? (fx - 1) * SIDE
                         : (SIDE - 1 - fx) * SIDE),
        turned(fx > 16),
        is_real(fx % 16 == 0) {}
  __device__ bool opposite(int fy) const { return turned || (is_real && fy > 16); }
  __device__ int product(int fy) const { return first + (opposite(fy) ? (SIDE - fy) % SIDE : fy); }
};

/// The tiles of a layer, and the columns of its products. Of every sixteen columns, eight are those of pairs for f, and
/// eight those of the same pairs for -f.
struct Pairs {
  int results;  ///< along a tile
  int along_p, along_q, tiles;
  int groups;  ///< of WARPS pairs, whole blocks of products

  __host__ __device__ explicit Pairs(const Layer& l)
      : results(SIDE - l.r + 1),
        along_p((l.p() + results - 1) / results),
        along_q((l.q() + results - 1) / results),
        tiles(l.n * along_p * along_q),
        groups((tiles + BN - 1) / BN * (BN / 2 / WARPS)) {}
  __host__ __device__ int columns() const { return 2 * WARPS * groups; }
  /// The image of a tile, and its first result.
  __device__ int image(int tile) const { return tile / (along_p * along_q); }
  __device__ int y(int tile) const { return tile / along_q % along_p * results; }
  __device__ int x(int tile) const { return tile % along_q * results; }
};

/// A lane's column of the pixels that a tile needs of a channel; zero where there are none.
struct Column {
  const float* from;
  int y0, h, w;

  __device__ Column(const float* in, const Layer& l, const Pairs& pairs, int tile, int c, int lane)
      : y0(pairs.y(tile) - l.pad), h(l.h), w(l.w) {
    const int x = pairs.x(tile) - l.pad + lane;
    from = in + (size_t(pairs.image(tile)) * l.c + c) * h * w + (y0 * w + x);
    if (tile >= pairs.tiles || static_cast<unsigned>(x) >= static_cast<unsigned>(w)) h = 0;
  }
  __device__ float operator[](int y) const {
    return static_cast<unsigned>(y0 + y) < static_cast<unsigned>(h) ? from[y * w] : 0;
  }
};

/// x[f][c][part][column] = real and imaginary part of the spectra of WARPS pairs of tiles, for `products_of_spectra`:
/// (FREQUENCIES, c, 2, columns). A warp has a pair: first a lane has a column of the tile, then a row.
__device__ inline void spectra_of_pixels(float2* planes, float* x, const float* in, const Layer& l,
                                         int group, int c) {
  const Pairs pairs(l);
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, tile = 2 * (group * WARPS + warp);
  const Column real(in, l, pairs, tile, c, lane), imaginary(in, l, pairs, tile + 1, c, lane);
  float2* const plane = planes + warp * PLANE;
  float2 z[SIDE];
#pragma unroll
  for (int y = 0; y < SIDE; ++y) z[y] = make_float2(real[y], imaginary[y]);
  fourier32<false>(z);
#pragma unroll
  for (int f = 0; f < SIDE; ++f) plane[f * PITCH + lane] = z[reversed(f)];
  __syncwarp();
#pragma unroll
  for (int i = 0; i < SIDE; ++i) z[i] = plane[lane * PITCH + i];
  fourier32<false>(z);
#pragma unroll
  for (int f = 0; f < SIDE; ++f) plane[lane * PITCH + f] = z[reversed(f)];
  __syncthreads();  // the spectra are there: eight pairs are 32 neighbouring bytes

  const int pair = threadIdx.x % WARPS, fx = threadIdx.x / WARPS;
  const Places places(fx);
  const unsigned pitch = pairs.columns(), next = l.c * 2 * pitch;
  float* const to = x + size_t(c) * 2 * pitch + group * 2 * WARPS + pair;
#pragma unroll
  for (int fy = 0; fy < SIDE; ++fy) {
    const float2 value = planes[pair * PLANE + fy * PITCH + fx];
    float* const row = to + size_t{static_cast<unsigned>(places.product(fy))} * next;
    const bool opposite = places.opposite(fy);
    row[opposite ? WARPS : 0] = value.x,
                           row[pitch + (opposite ? WARPS : 0)] = opposite ? -value.y : value.y;
    if (fy % 16 == 0 && places.is_real)
      row[WARPS] = value.x, row[pitch + WARPS] = -value.y;  // f is -f
  }
}

/// Rows of channels in the spectra of filters.
__host__ __device__ inline int rows_of(const Layer& l) { return (l.c + BK - 1) / BK * BK; }
/// Columns of filters there.
__host__ __device__ inline int pitch_of(const Layer& l) { return (l.k + BM - 1) / BM * BM; }

/// u[f][c][part][k] = real and imaginary part of the conjugate spectra of BM filters over channel c, over 32 x 32; zeros for what
/// is not there: (FREQUENCIES, rows, 2, pitch). With so few taps a sum is as short as a fast transform.
///
/// @param taps  BM R R floats in shared memory
template <int R>
__device__ inline void spectra_of_filters(float* taps, float* u, const float* filter,
                                          const Layer& l, int k0, int c) {
  constexpr int TAPS = R * R, PARTS = 32 * WARPS / BM;
  for (int i = threadIdx.x; i < BM * TAPS; i += 32 * WARPS) {
    const int k = k0 + i / TAPS;
    taps[i] = k < l.k && c < l.c ? filter[(size_t(k) * l.c + c) * TAPS + i % TAPS] : 0;
  }
  __syncthreads();
  const float* const w = taps + threadIdx.x % BM * TAPS;  // an odd number: no bank conflicts
  const unsigned pitch = pitch_of(l), next = rows_of(l) * 2 * pitch;
  float* const to = u + size_t(c) * 2 * pitch + k0 + threadIdx.x % BM;
#pragma unroll 1
  for (int fx = threadIdx.x / BM; fx <= 16; fx += PARTS) {
    float re[R] = {}, im[R] = {};
#pragma unroll
    for (int s = 0; s < R; ++s) {
      const float cos = cosine(fx * s) / (SIDE * SIDE), sin = sine(fx * s) / (SIDE * SIDE);
#pragma unroll
      for (int r = 0; r < R; ++r) {
        re[r] = fmaf(w[r * R + s], cos, re[r]), im[r] = fmaf(w[r * R + s], sin, im[r]);
      }
    }
    const int first = Places(fx).first, count = fx % 16 == 0 ? 17 : SIDE;
#pragma unroll
    for (int fy = 0; fy < SIDE; ++fy) {
      if (fy >= count) break;
      float a = re[0], b = im[0];
#pragma unroll
      for (int r = 1; r < R; ++r) {
        a += re[r] * cosine(fy * r) - im[r] * sine(fy * r);
        b += re[r] * sine(fy * r) + im[r] * cosine(fy * r);
      }
      float* const row = to + size_t{static_cast<unsigned>(first + fy)} * next;
      row[0] = a, row[pitch] = b;
    }
  }
}

/// Blocks that transform filters: each has BM filters over one channel.
__host__ __device__ inline int filter_blocks(const Layer& l) {
  return pitch_of(l) / BM * rows_of(l);
}

/// The spectra of all filters, by the first blocks, and of all pixels, by the others.
///
/// Launch: blocks of 32 * WARPS threads with TILE_BYTES: `filter_blocks(l)`, and Pairs::groups for each channel.
template <int R>
__global__ void __launch_bounds__(32 * WARPS, 2)
    spectra(float* u, float* x, const float* in, const float* filter, Layer l) {
  extern __shared__ float2 planes[];  // (WARPS, PLANE)
  const int block = blockIdx.x, other = block - filter_blocks(l), across = pitch_of(l) / BM;
  if (other < 0) {
    spectra_of_filters<R>(reinterpret_cast<float*>(planes), u, filter, l, block % across * BM,
                          block / across);
  } else {
    const int groups = Pairs(l).groups;
    spectra_of_pixels(planes, x, in, l, other % groups, other / groups);
  }
}

/// Four floats.
__device__ inline void load_four(float* to, const float* from) {
  *reinterpret_cast<float4*>(to) = *reinterpret_cast<const float4*>(from);
}

/// y[f] = u[f]^T x[f], complex: (FREQUENCIES, k, 2, columns). The loop of `implicit`, with two planes for each operand; a thread has
/// sums of 8 filters x 4 columns.
///
/// Launch: THREADS threads; grid.x for each tile of BM x BN, filters first, grid.y are the frequencies.
__global__ void __launch_bounds__(THREADS, 4)
    products_of_spectra(float* y, const float* u, const float* x, Layer l) {
  constexpr int ROWS = 2 * BK, TILE = ROWS * 64;  // rows of both planes
  __shared__ float4 memory[STAGES * 2 * TILE / 4];
  float* const tiles = reinterpret_cast<float*>(memory);  // (STAGES, 2, ROWS, 64)
  const int tid = threadIdx.x, lane = tid % 32, warp = tid / 32;
  const int across = pitch_of(l) / BM, k0 = blockIdx.x % across * BM,
            col0 = blockIdx.x / across * BN;
  const int pitch_u = pitch_of(l), pitch = Pairs(l).columns(), count = rows_of(l) / BK;
  const int copy_row = tid / 16, copy_col = tid % 16 * 4;
  const float* from_u =
      u + (size_t(blockIdx.y) * 2 * rows_of(l) + copy_row) * pitch_u + k0 + copy_col;
  const float* from_x = x + (size_t(blockIdx.y) * 2 * l.c + copy_row) * pitch + col0 + copy_col;
  int left = 2 * l.c - copy_row;
  const auto start_copies = [&](int stage) {
    float* const to = tiles + stage * 2 * TILE + copy_row * 64 + copy_col;
#pragma unroll
    for (int row = 0; row < ROWS; row += THREADS / 16) {
      __pipeline_memcpy_async(to + row * 64, from_u + row * pitch_u, 16);
      const bool there = row < left;
      __pipeline_memcpy_async(to + TILE + row * 64, there ? from_x + row * pitch : x, 16,
                              there ? 0 : 16);
    }
    from_u += ROWS * pitch_u, from_x += ROWS * pitch, left -= ROWS;
  };
  const int row = warp % 2 * 32 + lane / 8 * 4, col = warp / 2 * 32 + lane % 8 * 4;
  float re[8][4] = {}, im[8][4] = {};

#pragma unroll 1
  for (int t = 0; t < STAGES - 1; ++t) {
    if (t < count) start_copies(t);
    __pipeline_commit();
  }
  int reading = 0, writing = STAGES - 1;
#pragma unroll 1
  for (int t = 0; t < count; ++t) {
    __pipeline_wait_prior(STAGES - 2);
    __syncthreads();  // the K-tile is there, and all have left the one before
    if (t + STAGES - 1 < count) start_copies(writing);
    __pipeline_commit();
    const float *const a = tiles + reading * 2 * TILE + row, *const b = a - row + TILE + col;
    reading = reading + 1 < STAGES ? reading + 1 : 0,
    writing = writing + 1 < STAGES ? writing + 1 : 0;
#pragma unroll
    for (int c = 0; c < BK; ++c) {
      float u_re[8], u_im[8], x_re[4], x_im[4];
      load_four(u_re, a + 2 * c * 64), load_four(u_re + 4, a + 2 * c * 64 + 16);
      load_four(u_im, a + (2 * c + 1) * 64), load_four(u_im + 4, a + (2 * c + 1) * 64 + 16);
      load_four(x_re, b + 2 * c * 64), load_four(x_im, b + (2 * c + 1) * 64);
#pragma unroll
      for (int j = 0; j < 4; ++j) {
#pragma unroll
        for (int i = 0; i < 8; ++i) {
          re[i][j] = fmaf(u_re[i], x_re[j], re[i][j]);
          im[i][j] = fmaf(u_re[i], x_im[j], im[i][j]);
        }
#pragma unroll
        for (int i = 7; i >= 0; --i) {
          re[i][j] = fmaf(-u_im[i], x_im[j], re[i][j]);
          im[i][j] = fmaf(u_im[i], x_re[j], im[i][j]);
        }
      }
    }
  }
#pragma unroll
  for (int i = 0; i < 8; ++i) {
    const int k = k0 + row + i % 4 + i / 4 * 16;
    if (k >= l.k) continue;
    float* const to = y + (size_t(blockIdx.y) * l.k + k) * 2 * pitch + col0 + col;
    *reinterpret_cast<float4*>(to) = make_float4(re[i][0], re[i][1], re[i][2], re[i][3]);
    *reinterpret_cast<float4*>(to + pitch) = make_float4(im[i][0], im[i][1], im[i][2], im[i][3]);
  }
}

/// The results of all tiles, from what `products_of_spectra` leaves: (n, k, p, q). The way of `spectra_of_pixels`, backwards.
///
/// Launch: blocks of 32 * WARPS threads with TILE_BYTES; grid.x for each of Pairs::groups, grid.y are the filters.
__global__ void __launch_bounds__(32 * WARPS, 2)
    results_of_spectra(float* out, const float* y, Layer l) {
  extern __shared__ float2 planes[];
  const Pairs pairs(l);
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, k = blockIdx.y, group = blockIdx.x;
  const int pair = threadIdx.x % WARPS, fx = threadIdx.x / WARPS;
  const Places places(fx);
  const unsigned pitch = pairs.columns(), next = l.k * 2 * pitch;
  const float* const from = y + size_t(k) * 2 * pitch + group * 2 * WARPS + pair;
  float2 z[SIDE];
#pragma unroll
  for (int fy = 0; fy < SIDE; ++fy) {
    const bool opposite = places.opposite(fy);
    const float* const row =
        from + size_t{static_cast<unsigned>(places.product(fy))} * next + (opposite ? WARPS : 0);
    z[fy] = make_float2(row[0], opposite ? -row[pitch] : row[pitch]);
  }
#pragma unroll
  for (int fy = 0; fy < SIDE; ++fy) planes[pair * PLANE + fy * PITCH + fx] = z[fy];
  __syncthreads();
  float2* const plane = planes + warp * PLANE;
#pragma unroll
  for (int i = 0; i < SIDE; ++i) z[i] = plane[lane * PITCH + i];
  fourier32<true>(z);
#pragma unroll
  for (int i = 0; i < SIDE; ++i) plane[lane * PITCH + i] = z[reversed(i)];
  __syncwarp();
#pragma unroll
  for (int i = 0; i < SIDE; ++i) z[i] = plane[i * PITCH + lane];
  fourier32<true>(z);
#pragma unroll
  for (int e = 0; e < 2; ++e) {
    const int tile = 2 * (group * WARPS + warp) + e, y0 = pairs.y(tile), x0 = pairs.x(tile);
    if (tile >= pairs.tiles || lane >= pairs.results || x0 + lane >= l.q()) continue;
    const int rows = min(pairs.results, l.p() - y0);
    float* const to =
        out + ((size_t(pairs.image(tile)) * l.k + k) * l.p() + y0) * l.q() + x0 + lane;
#pragma unroll
    for (int i = 0; i < SIDE; ++i) {
      if (i < rows) to[i * l.q()] = e == 0 ? z[reversed(i)].x : z[reversed(i)].y;
    }
  }
}

// [hide] What it needs in scratch
namespace {

/// Floats of the spectra of filters and of pixels.
size_t of_filters(const Layer& l) { return size_t{FREQUENCIES} * rows_of(l) * 2 * pitch_of(l); }
size_t of_pixels(const Layer& l) { return size_t{FREQUENCIES} * l.c * 2 * Pairs(l).columns(); }
size_t fourier_size(const Layer& l) {
  return of_filters(l) + of_pixels(l) + size_t{FREQUENCIES} * l.k * 2 * Pairs(l).columns();
}

}  // namespace
// [/hide]

/// A layer of R x R filters with stride 1, one group and no dilation: transforms, products, and the way back, in three launches.
///
/// \param scratch  fourier_size(l) floats
template <int R>
void fourier(float* out, const float* in, const float* filter, float* scratch, const Layer& l) {
  const Pairs pairs(l);
  float *const u = scratch, *const x = u + of_filters(l), *const y = x + of_pixels(l);
  const int bytes = static_cast<int>(TILE_BYTES);
  const auto most = cudaFuncAttributeMaxDynamicSharedMemorySize;
  CUDA_CHECK(cudaFuncSetAttribute(spectra<R>, most, bytes));
  CUDA_CHECK(cudaFuncSetAttribute(results_of_spectra, most, bytes));
  const unsigned groups = pairs.groups, across = pitch_of(l) / BM;
  spectra<R><<<filter_blocks(l) + groups * l.c, 32 * WARPS, TILE_BYTES>>>(u, x, in, filter, l);
  products_of_spectra<<<dim3(across * pairs.columns() / BN, FREQUENCIES), THREADS>>>(y, u, x, l);
  results_of_spectra<<<dim3(groups, l.k), 32 * WARPS, TILE_BYTES>>>(out, y, l);
}

// `fourier` takes 0.31 ms for `five`, 265 TFLOP/s as the direct sum counts, where F(4 x 4) makes 172: 1.05 times as fast as cuDNN. In a trial
// the two transforms together took 0.068 ms, the products 0.190, the way back 0.058. All roots of unity have magnitude 1, and the largest
// error is 0.22 times that of the direct sum.
//= takes 0.31 ms: ms("fourier/layer=five")
//= 265 TFLOP/s: rate("fourier/layer=five") / 1000
//= makes 172: rate("winograd/layer=five,tile=4") / 1000
//= 1.05 times: ratio("fourier/layer=five")
//= took 0.068 ms, the products 0.190, the way back 0.058: (0.068, 0.190, 0.058)
//= is 0.22 times: error("fourier/layer=five") / error("implicit/layer=five")
//
// [hide] How it is registered
namespace {

void run_fourier(Work& w) {
  const auto of_layer = w.layer.r == 5 ? fourier<5> : fourier<3>;
  of_layer(w.out.data(), w.in.data(), w.filter.data(), w.scratch.data(), w.layer);
}

std::string takes_3x3_and_5x5(const Layer& l) {
  const bool can =
      (l.r == 3 || l.r == 5) && l.s == l.r && l.stride == 1 && l.dilation == 1 && l.groups == 1;
  return can ? "" : "takes 3 x 3 and 5 x 5, stride 1, no dilation and one group";
}

const lab::Rungs here([](std::vector<Launch>& launches) {
  launches.push_back({"fourier", "", "five", run_fourier, takes_3x3_and_5x5, fourier_size,
                      Result::sums, WINOGRAD_ERROR});
});

}  // namespace
// [/hide]
