// # Chapter 16: Convolution
//
// Question: A convolution reads every pixel nine times for every filter. How does it become a fast product, and how does it get by with fewer multiplications?
// Minutes: 30
// Afterwards: compute a layer of a network at the rate of a good library, and say which algorithm its shape asks for
// Builds on: 11_pipelines, 15_stencils
// Kind: free
// Size gpu: 224
// Size simulator: 40
// Run: ./learn run 16
//   ./learn run 16 --rung on_cpu         seven loops on one core of the host
//   ./learn run 16 --rung naive          one thread for each result
//   ./learn run 16 --rung no_padding     the edge of the image is not asked for [raises out-of-bounds]
//   ./learn run 16 --rung im2col         all windows as columns of a matrix, then a product
//   ./learn run 16 --rung implicit_plain the product alone: each element's place is computed when it is loaded
//   ./learn run 16 --rung implicit       the same with what does not change taken out of the loop
//   ./learn run 16 --rung implicit_nhwc  the same for images with their channels inside
//   ./learn run 16 --rung pointwise      filters of 1 x 1: rows of the image are the matrix
//   ./learn run 16 --rung split          few images: several blocks share the channels of a tile
//   ./learn run 16 --rung winograd       filters of 3 x 3 and 5 x 5 with fewer products, by transforms
//   ./learn run 16 --rung fourier        filters of 5 x 5 by Fourier transforms of large tiles
//   ./learn run 16 --rung pooled         bias, ReLU and a 2 x 2 pool: kernels of their own, or at the end of the last one
//   ./learn run 16 --rung network        three such layers, one after the other
//   ./learn run 16 --rung implicit_bf16  BF16 on tensor cores: windows in chunks of eight channels

#include <cuda_pipeline.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "convolution.h"
#include "lab/lab.h"

using std::size_t;

// A {term}`convolution layer` moves a small window over images of several channels. In each position it multiplies the
// pixels under the window, of all channels, by the weights of a filter, and adds up. Each filter makes a channel of the
// result.
//
// ```{drawing} layer
// ```
//
// N images of C channels with H x W pixels meet K filters of C x R x S weights. They make N images of K channels with
// P x Q pixels. A result is the sum of C R S products, called its *terms* here. As in every framework the filter is not
// mirrored.
//
// | | what it means here |
// |---|---|
// | stride | pixels from a window to the next, in both directions |
// | padding | rows and columns of zeros around an image |
// | dilation | pixels from a tap of the filter to the next; 1 is a dense filter |
// | groups | a filter sees C / groups channels, and so many filters each; 1 is the usual layer |
// | NCHW | pixels of a row are neighbours in memory; all rungs but one take that |
// | NHWC | channels of a pixel are neighbours in memory |
//
// `naive`, `implicit_plain` and `implicit` take all of it. A rung that takes less says so: `./learn run 16 --layer
// N,C,H,W,K,R,S,STRIDE,PADDING,DILATION,GROUPS` runs a layer of your own on every rung that can.
//
// These are the layers of the chapter, by name. The first four are those of a ResNet, which do equal work; `first` is
// its first layer, and `down` and `up` its 1 x 1 filters.
//
// | name | N | C | H x W | K | R x S |
// |---|--:|--:|---|--:|---|
// | `c64`, `c128`, `c256`, `c512` | 32 | 64, 128, 256, 512 | 56, 28, 14, 7 squared | as C | 3 x 3 |
// | `large` | 16 | 64 | 224 x 224 | 64 | 3 x 3 |
// | `down`, `up` | 32 | 256, 64 | 56 x 56 | 64, 256 | 1 x 1 |
// | `first` | 32 | 3 | 224 x 224 | 64 | 7 x 7, stride 2 |
// | `one56`, `one14` | 1 | 64, 256 | 56 x 56, 14 x 14 | as C | 3 x 3 |
// | `five` | 32 | 128 | 56 x 56 | 128 | 5 x 5 |
//
// The peer is cuDNN: the fastest of all its algorithms in either layout, chosen for each layer anew, on the FMA units
// (`CUDNN_FMA_MATH`, so no TF32). All rates count the 2 N K P Q C R S operations of the direct sum, whatever the
// algorithm; a rate can exceed what the FMA units can do. Filters arrive as (K, C, R, S), and what a rung does to them
// first is part of its time. Times are those of an NVIDIA H200; counts are for the simulator's default, where all
// extents are smaller.

// ## 1. Seven loops
//
// The definition is a program: seven loops around one FMA. On a GPU the outer four become threads.
//
//? naive_loads: `naive` does two loads for each FMA. How many TFLOP/s does it reach for `c128`?
//? choices: under 3 | 10 to 20 | over 30
//? answer: {"under 3": rate("naive/layer=c128") < 3000, "10 to 20": 10000 < rate("naive/layer=c128") < 20000,
//?   "over 30": rate("naive/layer=c128") > 30000}

/// What `naive` and the loops on the host compute: element (n, k, p, q) of the results.
__host__ __device__ inline float window_sum(const Layer& l, const float* in, const float* filter,
                                            int n, int k, int p, int q) {
  const int depth = l.c / l.groups, c0 = k / (l.k / l.groups) * depth;
  float sum = 0;
  for (int c = 0; c < depth; ++c) {
    for (int r = 0; r < l.r; ++r) {
      for (int s = 0; s < l.s; ++s) {
        const int y = p * l.stride - l.pad + r * l.dilation;
        const int x = q * l.stride - l.pad + s * l.dilation;
        if (0 <= y && y < l.h && 0 <= x && x < l.w) {
          const size_t pixel = (size_t(n * l.c + c0 + c) * l.h + y) * l.w + x;
          sum = fmaf(in[pixel], filter[(size_t(k * depth + c) * l.r + r) * l.s + s], sum);
        }
      }
    }
  }
  return sum;
}

/// All results on one core of the host.
void on_cpu(float* out, const float* in, const float* filter, const Layer& l) {
  for (int n = 0; n < l.n; ++n)
    for (int k = 0; k < l.k; ++k)
      for (int p = 0; p < l.p(); ++p)
        for (int q = 0; q < l.q(); ++q) *out++ = window_sum(l, in, filter, n, k, p, q);
}

/// Every result of a layer, NCHW.
///
/// Launch: one thread for each result, in blocks of one dimension.
__global__ void naive(float* out, const float* in, const float* filter, Layer l) {
  const size_t i = size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i >= l.outputs()) return;
  const size_t row = i / l.q(), plane = row / l.p();
  out[i] = window_sum(l, in, filter, static_cast<int>(plane / l.k), static_cast<int>(plane % l.k),
                      static_cast<int>(row % l.p()), static_cast<int>(i % l.q()));
}

// `naive` makes 1.5 TFLOP/s for `c128`, 2 % of what the FMA units can do. One core takes 0.5 s for `one56`, `naive`
// takes 0.18 ms. It is the naive product of chapter 02 again, with two loads for an FMA, and with index
// arithmetic and guards as well. What each of them costs was not measured.
//= 1.5 TFLOP/s: rate("naive/layer=c128") / 1000
//= 2 % of: 100 * rate("naive/layer=c128") / limit("fma")
//= 0.5 s: ms("on_cpu/layer=one56") / 1000
//= 0.18 ms: ms("naive/layer=one56")
//
// ### The edge
//
// The guard around the FMA is the padding: what lies outside of the image is zero. A kernel without it reads what lies
// before the image, or the last pixel of the row above, where nothing looks wrong.

/// `naive` for layers of one group, which takes every pixel of a window for one of the image.
///
/// Launch: as `naive`.
__global__ void no_padding(float* out, const float* in, const float* filter, Layer l) {
  const size_t i = size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i >= l.outputs()) return;
  const int q = static_cast<int>(i % l.q()), p = static_cast<int>(i / l.q() % l.p());
  const size_t plane = i / l.q() / l.p(), n = plane / l.k, k = plane % l.k;
  float sum = 0;
  for (int c = 0; c < l.c; ++c) {
    for (int r = 0; r < l.r; ++r) {
      for (int s = 0; s < l.s; ++s) {
        const int y = p * l.stride - l.pad + r,
                  x = q * l.stride - l.pad + s;  // -1 in the first row
        sum = fmaf(in[((n * l.c + c) * l.h + y) * l.w + x],
                   filter[((k * l.c + c) * l.r + r) * l.s + s], sum);
      }
    }
  }
  out[i] = sum;
}

// ## 2. A convolution is a product
//
// Write each window as a column: C R S numbers, one below the other. All windows of all images are a matrix of C R S
// rows and N P Q columns. Each filter is a row of C R S weights. The layer is the product of the two matrices
// (Chellapilla, Puri and Simard, "High Performance Convolutional Neural Networks for Document Processing", 2006), and
// for products this course has fast kernels.
//
// ```{drawing} columns
// ```
//
//? column_stores: At the simulator's default `c128` has 5 images of 5 x 5 pixels with 22 channels, and a row of the matrix is filled up to
//?   128 columns. How many store requests of a warp make the matrix?
//? answer: count("im2col/layer=c128", "global_store_requests", "im2col")
//? unit: requests
//? near: 10 %
//
// 792: 22 x 9 rows of 4 warps each, 101,376 bytes for images of 11,000. On the GPU 12.8 MB of images become 116 MB, nine times as
// much: with 3 x 3 filters each pixel is in nine windows. The matrix is written once, and each tile of 64 filters reads all of it.
//= 792: count("im2col/layer=c128", "global_store_requests", "im2col")
//= 101,376 bytes: count("im2col/layer=c128", "global_store_bytes", "im2col")
//= of 11,000: 5 * 22 * 5 * 5 * 4
//= 12.8 MB: 128 * 32 * 28 * 28 * 4 / 1e6
//= 116 MB: 128 * 9 * 32 * 28 * 28 * 4 / 1e6
//= nine times: 3 * 3
//
// ### The product
//
// The product is the loop of `async_copy` in chapter 11, in serpentine order. Two things differ. Tiles are 64 x 64, for
// two warps of 32 threads with 8 x 8 sums each: layers have few filters, and small tiles leave enough blocks. Tiles of
// 128 x 128, 64 x 128 and 128 x 64 were timed, too; none was more than a tenth faster for any of the layers (the notes
// have a table). And the filters are transposed and padded first, by a kernel of its own, so that they are copied 16
// bytes at a time without a guard.
//
// The second operand of the product will come from different places. So the loop is a function with two parameters: a
// *source*, which starts the copies of the next K-tile, and a *sink*, which takes the sums.

constexpr int BM = 64, BN = 64, BK = 8;  ///< filters and pixels of a tile, terms of a K-tile
constexpr int THREADS = BM * BN / 64;    ///< of a block: each has 8 x 8 sums
constexpr int BLOCKS =
    512 / THREADS;         ///< of an SM at least, so that a thread has up to 128 registers
constexpr int STAGES = 3;  ///< K-tiles in shared memory
constexpr int ROWS_AT_ONCE =
    THREADS / (BM / 4);  ///< rows of a tile that the block copies at once, as float4s

__host__ __device__ constexpr int round_up(int n, int multiple) {
  return (n + multiple - 1) / multiple * multiple;
}
/// K-tiles of a sum of so many terms.
__host__ __device__ constexpr int k_tiles(int terms) { return (terms + BK - 1) / BK; }
/// So many columns, rounded up to whole tiles.
constexpr size_t pitch_of(size_t columns) { return lab::ceil_div(columns, size_t{BN}) * BN; }
/// Blocks of a grid in one dimension.
constexpr unsigned blocks_for(size_t count, size_t block) {
  return static_cast<unsigned>(lab::ceil_div(count, block));
}

/// packed[g][t][k] = term t of filter k of group g: the filters of `tile_product`, (groups, terms
/// rounded up to BK, filters rounded up to BM), with zeros for what is not there.
///
/// Launch: blocks of one dimension; grid.x covers a row, grid.y are the rows, grid.z the groups.
__global__ void pack(float* packed, const float* filter, Layer l) {
  const int each = l.k / l.groups, pitch = round_up(each, BM);
  const int k = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  const int t = static_cast<int>(blockIdx.y), g = static_cast<int>(blockIdx.z);
  if (k >= pitch) return;
  const bool there = k < each && t < l.terms();
  packed[(size_t{g * gridDim.y} + t) * pitch + k] =
      there ? filter[size_t(g * each + k) * l.terms() + t] : 0;
}

/// Eight floats of a row of a tile, four of them `apart` floats behind the others.
__device__ inline void load_fragment(float (&part)[8], const float* from, int apart) {
  *reinterpret_cast<float4*>(part) = *reinterpret_cast<const float4*>(from);
  *reinterpret_cast<float4*>(part + 4) = *reinterpret_cast<const float4*>(from + apart);
}

/// The first filter and the first column of a block's tile.
struct First {
  int k0, col0;
};

/// Of this block, where the tiles of all filters come first: blocks that run at the same time have the same pixels. A grid
/// can have 2^31 - 1 blocks along x, and 65,535 along y: too few for the pixels of large layers.
__device__ inline First first_of_block(int filters) {
  const int tiles = (filters + BM - 1) / BM, block = static_cast<int>(blockIdx.x);
  return {block % tiles * BM, block / tiles * BN};
}

/// A tile of filters times pixels, BM x BN sums: the loop of `async_copy` in chapter 11, with
/// serpentine order. Where the second operand comes from, and where the sums go, its caller says.
///
/// \param a  the filters of the tile, packed: (tiles * BK, pitch_a)
/// \param source  source.copy(stage) starts to copy the next K-tile, (BK, source.pitch), and
///   moves on
/// \param sink  sink.store(row, col, acc, i, j) takes sums 4 x 4 at a time: those from acc[i][j]
///   on belong to the filter and pixel at (row, col) in the tile
template <class Source, class Sink>
__device__ __forceinline__ void tile_product(const float* a, int pitch_a, int tiles, Source source,
                                             Sink sink) {
  constexpr int A_STAGE = BK * BM, B_PITCH = Source::pitch, B_STAGE = BK * B_PITCH;
  __shared__ float4 a_memory[STAGES * A_STAGE / 4], b_memory[STAGES * B_STAGE / 4];
  float* const a_tiles = reinterpret_cast<float*>(a_memory);  // (STAGES, BK, BM)
  float* const b_tiles = reinterpret_cast<float*>(b_memory);  // (STAGES, BK, B_PITCH)
  const int tid = static_cast<int>(threadIdx.x), lane = tid % 32, warp = tid / 32;

  const int a_k = tid / (BM / 4), a_col = tid % (BM / 4) * 4;
  const float* a_from = a + size_t(a_k) * pitch_a + a_col;
  const auto start_copies = [&](int stage) {
    float* const to = a_tiles + stage * A_STAGE + a_k * BM + a_col;
#pragma unroll
    for (int l = 0; l < BK; l += ROWS_AT_ONCE)
      __pipeline_memcpy_async(to + l * BM, a_from + size_t(l) * pitch_a, 16);
    a_from += size_t(BK) * pitch_a;
    source.copy(b_tiles + stage * B_STAGE);
  };

  // A warp has 32 x 64 sums, 4 x 8 lanes; a lane 2 x 4 rows, 16 apart, and 2 x 4 columns, 32 apart.
  const int row = warp * 32 + lane / 8 * 4, col = lane % 8 * 4;
  float acc[8][8] = {}, a_part[2][8], b_part[2][8];
  const auto read_fragments = [&](int stage, int l) {
    load_fragment(a_part[l % 2], a_tiles + stage * A_STAGE + l * BM + row, 16);
    load_fragment(b_part[l % 2], b_tiles + stage * B_STAGE + l * B_PITCH + col, 32);
  };

#pragma unroll 1
  for (int t = 0; t < STAGES - 1; ++t) {
    if (t < tiles) start_copies(t);
    __pipeline_commit();
  }
  __pipeline_wait_prior(STAGES - 2);
  __syncthreads();
  read_fragments(0, 0);

  int reading = 0, writing = STAGES - 1;
#pragma unroll 1
  for (int t = 0; t < tiles; ++t) {
#pragma unroll
    for (int l = 0; l < BK; ++l) {
      if (l == BK - 1) {  // on to the next K-tile, if there is one
        __pipeline_wait_prior(STAGES - 2);
        __syncthreads();
        if (t + 1 < tiles) reading = reading + 1 < STAGES ? reading + 1 : 0;
      }
      read_fragments(reading, (l + 1) % BK);
      if (l == 0) {  // all have left the K-tile before: its stage is free
        if (t + STAGES - 1 < tiles) start_copies(writing);
        __pipeline_commit();
        writing = writing + 1 < STAGES ? writing + 1 : 0;
      }
#pragma unroll
      for (int j = 0; j < 8; ++j) {
#pragma unroll
        for (int i = 0; i < 8; ++i) {
          const int ii = j % 2 == 0 ? i : 7 - i;
          acc[ii][j] = fmaf(a_part[l % 2][ii], b_part[l % 2][j], acc[ii][j]);
        }
      }
    }
  }
#pragma unroll
  for (int j = 0; j < 8; j += 4) {
#pragma unroll
    for (int i = 0; i < 8; i += 4) sink.store(row + 4 * i, col + 8 * j, acc, i, j);
  }
}

/// Four sums of a row.
__device__ inline float4 four_of(const float (&acc)[8][8], int i, int j) {
  return make_float4(acc[i][j], acc[i][j + 1], acc[i][j + 2], acc[i][j + 3]);
}

/// A sink: results (N, channels, each), of which this block has those from filter k0 and from
/// column col0 on.
struct Images {
  float* out;  ///< the first channel of the group
  int k0, k;   ///< of its filters
  int col0, count, each;
  int channels;

  __device__ void store(int row, int col, const float (&acc)[8][8], int i, int j) const {
    const int column = col0 + col, filter = k0 + row;
    if (column >= count) return;
    if (each % 4 == 0) {  // all four columns in one image
      const int n = column / each;
      float* to = out + (size_t(n) * channels + filter) * each + (column - n * each);
#pragma unroll
      for (int x = 0; x < 4; ++x, to += each) {
        if (filter + x < k) *reinterpret_cast<float4*>(to) = four_of(acc, i + x, j);
      }
      return;
    }
#pragma unroll
    for (int y = 0; y < 4; ++y) {
      const int n = (column + y) / each;
      float* to = out + (size_t(n) * channels + filter) * each + (column + y - n * each);
#pragma unroll
      for (int x = 0; x < 4; ++x, to += each) {
        if (filter + x < k && column + y < count) *to = acc[i + x][j + y];
      }
    }
  }
};

/// A sink: rows of a matrix whose pitch is a multiple of BN.
struct Matrix {
  float* out;
  size_t pitch;
  int k0, k, col0;

  __device__ void store(int row, int col, const float (&acc)[8][8], int i, int j) const {
#pragma unroll
    for (int x = 0; x < 4; ++x) {
      const int filter = k0 + row + x;
      if (filter < k)
        *reinterpret_cast<float4*>(out + filter * pitch + col0 + col) = four_of(acc, i + x, j);
    }
  }
};

/// A source: rows of a matrix, copied 16 bytes at a time. Rows and columns that do not exist are
/// zeros.
struct Rows {
  static constexpr int pitch = BN;
  const float* from;
  size_t next;     ///< floats from a row to the next
  int rows;        ///< from this thread's first one on
  bool is_column;  ///< its column exists

  /// The column of the tile that this thread begins to copy at.
  static __device__ int column() { return static_cast<int>(threadIdx.x) % (BN / 4) * 4; }
  /// \param first  row 0 of this thread's column
  __device__ Rows(const float* first, size_t next, int rows, bool is_column)
      : from(first + threadIdx.x / (BN / 4) * next),
        next(next),
        rows(rows - static_cast<int>(threadIdx.x / (BN / 4))),
        is_column(is_column) {}
  __device__ void copy(float* stage) {
    float* const to = stage + threadIdx.x / (BN / 4) * BN + column();
#pragma unroll
    for (int l = 0; l < BK; l += ROWS_AT_ONCE)
      __pipeline_memcpy_async(to + l * BN, from + l * next, 16, is_column && l < rows ? 0 : 16);
    from += BK * next;
    rows -= BK;
  }
};

/// columns[t][j] = term t of the window of pixel j: zero where it lies outside of the image, and
/// for pixels that fill a row up. A thread has all terms of a window in one channel.
///
/// Launch: blocks of one dimension; grid.x covers a row, grid.y are the channels.
__global__ void im2col(float* columns, int pitch, const float* in, Layer l) {
  const int j = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (j >= pitch) return;
  const int c = static_cast<int>(blockIdx.y), each = l.p() * l.q(), n = j / each, at = j % each;
  const int y0 = at / l.q() * l.stride - l.pad, x0 = at % l.q() * l.stride - l.pad;
  const bool is_pixel = j < static_cast<int>(l.pixels());
  const float* const channel = in + (size_t(n) * l.c + c) * l.h * l.w;
  float* to = columns + size_t(c) * l.r * l.s * pitch + j;
  for (int r = 0; r < l.r; ++r) {
    for (int s = 0; s < l.s; ++s, to += pitch) {
      const int y = y0 + r * l.dilation, x = x0 + s * l.dilation;
      const bool inside = is_pixel && 0 <= y && y < l.h && 0 <= x && x < l.w;
      *to = inside ? channel[y * l.w + x] : 0;
    }
  }
}

/// The product of packed filters and the matrix that `im2col` makes.
///
/// Launch: THREADS threads; grid.x covers filters and pixels with tiles of BM x BN, see `first_of_block`.
__global__ void __launch_bounds__(THREADS, BLOCKS)
    columns_product(float* out, const float* columns, size_t pitch, const float* packed, Layer l) {
  const auto [k0, col0] = first_of_block(l.k);
  const Rows source(columns + col0 + Rows::column(), pitch, l.terms(), true);
  const Images sink{out, k0, l.k, col0, static_cast<int>(l.pixels()), l.p() * l.q(), l.k};
  tile_product(packed + k0, round_up(l.k, BM), k_tiles(l.terms()), source, sink);
}

// First the matrix has to be made and stored, then the product reads it: together 0.21 ms, and 35 TFLOP/s.
//= 0.21 ms: ms("im2col/layer=c128")
//= 35 TFLOP/s: rate("im2col/layer=c128") / 1000

// ## 3. The matrix need not exist
//
// A tile of the matrix is in shared memory for a moment, and each of its elements is a pixel of the image. So let each
// thread compute *where* the element is, and copy it from there: an {term}`implicit GEMM`. The 116 MB are never
// written. Each pixel is copied nine times instead; which of these copies a cache serves was not measured.
//
// Element (t, j) of the matrix is tap t of window j. From t follow the channel c, and r and s in the filter; from j the
// image and the first pixel of the window. Each takes two divisions.
//
//? plain_or_columns: A GPU has no instruction that divides integers; it takes a sequence of others. Is `implicit_plain` faster than `im2col`?
//? choices: yes | no
//? answer: {"yes": ms("implicit_plain/layer=c128") < ms("im2col/layer=c128"),
//?   "no": ms("im2col/layer=c128") < ms("implicit_plain/layer=c128")}

/// Where a window begins: its image, and the row and column of its first pixel, which may lie
/// outside.
struct Window {
  int n, y, x;
};

/// A window of which no pixel lies in the image.
__device__ inline Window no_window() { return {0, -(1 << 16), 0}; }

/// The window of result j of an image after the other.
__device__ inline Window window_of(const Layer& l, int j) {
  const int each = l.p() * l.q(), n = j / each, at = j - n * each;
  return {n, at / l.q() * l.stride - l.pad, at % l.q() * l.stride - l.pad};
}

/// A source: windows as columns. A thread copies one column.
struct PlainWindows {
  static constexpr int pitch = BN;
  const Layer& l;
  const float* in;  ///< the first channel of the group
  Window window;
  bool is_column;
  int term = 0;

  __device__ void copy(float* stage) {
#pragma unroll
    for (int row = 0; row < BK; ++row, ++term) {
      const int c = term / (l.r * l.s), r = term / l.s % l.r, s = term % l.s;
      const int y = window.y + r * l.dilation, x = window.x + s * l.dilation;
      const bool inside = is_column && term < l.terms() && 0 <= y && y < l.h && 0 <= x && x < l.w;
      const size_t pixel = (size_t(window.n * l.c + c) * l.h + y) * l.w + x;
      __pipeline_memcpy_async(stage + row * BN + threadIdx.x, inside ? in + pixel : in, 4,
                              inside ? 0 : 4);
    }
  }
};

/// A layer as a product whose second operand is never stored.
///
/// Launch: as `columns_product`; grid.z are the groups.
__global__ void __launch_bounds__(THREADS, BLOCKS)
    implicit_plain(float* out, const float* in, const float* packed, Layer l) {
  const int group = static_cast<int>(blockIdx.z), filters = l.k / l.groups, each = l.p() * l.q();
  const auto [k0, col0] = first_of_block(filters);
  const int count = static_cast<int>(l.pixels()), column = col0 + static_cast<int>(threadIdx.x);
  const PlainWindows source{l, in + size_t(group) * (l.c / l.groups) * l.h * l.w,
                            window_of(l, column), column < count};
  const Images sink{out + size_t(group) * filters * each, k0, filters, col0, count, each, l.k};
  const int tiles = k_tiles(l.terms()), pitch_a = round_up(filters, BM);
  tile_product(packed + size_t(group) * tiles * BK * pitch_a + k0, pitch_a, tiles, source, sink);
}

// No: `implicit_plain` takes 0.43 ms, twice as long as `im2col`. The matrix is saved, but the divisions are in the loop: a thread
// copies eight elements of a K-tile, and computes 512 FMAs in between.
//= 0.43 ms: ms("implicit_plain/layer=c128")
//= twice as long: ms("implicit_plain/layer=c128") / ms("im2col/layer=c128")
//
// ### A table of terms
//
// In the loop the window does not change: its first pixel is one pointer, computed before the loop. The terms
// change, but they are the same for all windows: how far tap t lies from the first pixel, in memory, in rows and in
// columns. That is a table of C R S entries, which the host makes once for a layer. All threads of a block read the
// same entry at the same time.
//
// ```{drawing} taps
// ```
//
// What is left for each element: one load, three additions, two comparisons. A comparison of unsigned numbers asks for
// both ends of a range at once: -1 becomes a very large number. An element outside of the image is zeroed by the copy
// itself: `cp.async` can fill with zeros.

/// A source: windows as columns, with the places of all terms from a table.
struct Windows {
  static constexpr int pitch = BN;
  const float* from;  ///< the first pixel of the window
  const Tap* taps;    ///< of the next K-tile
  int y, x, h, w;

  /// \param window  of this thread's column; below all rows where there is none
  __device__ Windows(const Layer& l, const float* in, const Tap* taps, Window window)
      : from(in + size_t(window.n) * l.c * l.h * l.w + (window.y * l.w + window.x)),
        taps(taps),
        y(window.y),
        x(window.x),
        h(l.h),
        w(l.w) {}
  __device__ void copy(float* stage) {
#pragma unroll
    for (int row = 0; row < BK; row += 2) {
      const TwoTaps two = *reinterpret_cast<const TwoTaps*>(taps + row);
#pragma unroll
      for (int e = 0; e < 2; ++e) {
        const Tap tap = two.tap[e];
        const bool inside = static_cast<unsigned>(y + tap.r) < static_cast<unsigned>(h) &&
                            static_cast<unsigned>(x + tap.s) < static_cast<unsigned>(w);
        __pipeline_memcpy_async(stage + (row + e) * BN + threadIdx.x, from + tap.offset, 4,
                                inside ? 0 : 4);
      }
    }
    taps += BK;
  }
};

/// `implicit_plain` with `Windows`.
///
/// Launch: as `implicit_plain`.
__global__ void __launch_bounds__(THREADS, BLOCKS)
    implicit(float* out, const float* in, const float* packed, const Tap* taps, Layer l) {
  const int group = static_cast<int>(blockIdx.z), filters = l.k / l.groups, each = l.p() * l.q();
  const auto [k0, col0] = first_of_block(filters);
  const int count = static_cast<int>(l.pixels()), column = col0 + static_cast<int>(threadIdx.x);
  const Windows source(l, in + size_t(group) * (l.c / l.groups) * l.h * l.w, taps,
                       column < count ? window_of(l, column) : no_window());
  const Images sink{out + size_t(group) * filters * each, k0, filters, col0, count, each, l.k};
  const int tiles = k_tiles(l.terms()), pitch_a = round_up(filters, BM);
  tile_product(packed + size_t(group) * tiles * BK * pitch_a + k0, pitch_a, tiles, source, sink);
}

// `implicit` takes 0.20 ms, less than half of `implicit_plain`: 37 TFLOP/s. Layers with few channels, large windows and
// strides run as well, since only the table differs: `first` with its 7 x 7 taps and stride 2 makes 36
// TFLOP/s, where cuDNN's best makes 20. `im2col`, with all its traffic, takes only 6 % longer than `implicit`. What `implicit` saves is
// the memory of the matrix.
//= 6 % longer: 100 * (ms("im2col/layer=c128") / ms("implicit/layer=c128") - 1)
//= 0.20 ms: ms("implicit/layer=c128")
//= because less than half: ms("implicit/layer=c128") < ms("implicit_plain/layer=c128") / 2
//= 37 TFLOP/s: rate("implicit/layer=c128") / 1000
//= makes 36 TFLOP/s: rate("implicit/layer=first") / 1000
//= makes 20: rate("implicit/layer=first") / 1000 / ratio("implicit/layer=first")

// ### Channels inside
//
// With NHWC the channels of a pixel are neighbours. Terms get the order R, S, C, in the table and in the filters, so
// that neighbouring terms are neighbours in memory. Eight lanes now copy eight terms of one window, 32 bytes. The rows
// of the tile in shared memory are padded by four floats: then the 8 x 4 places that a warp writes lie in different
// banks.
//
//? nhwc: How does `implicit_nhwc` compare with `implicit` for `c128`?
//? choices: faster | slower by less than a third | half as fast or slower
//? answer: {"faster": ms("implicit_nhwc/layer=c128") < ms("implicit/layer=c128"),
//?   "slower by less than a third": 1 < ms("implicit_nhwc/layer=c128") / ms("implicit/layer=c128") < 1.33,
//?   "half as fast or slower": ms("implicit_nhwc/layer=c128") > 1.8 * ms("implicit/layer=c128")}

/// A source for NHWC: eight lanes have neighbouring terms of one window, and the rows of the tile
/// are padded, so that what they write lies in different banks.
struct InnerChannels {
  static constexpr int pitch = BN + 4;
  const float* in;
  const Tap* taps;        ///< of this thread's row
  const Window* windows;  ///< of all columns, in shared memory
  int image, h, w, c;     ///< floats of an image, and its extents

  __device__ InnerChannels(const Layer& l, const float* in, const Tap* taps, const Window* windows)
      : in(in),
        taps(taps + threadIdx.x % BK),
        windows(windows),
        image(l.h * l.w * l.c),
        h(l.h),
        w(l.w),
        c(l.c) {}
  __device__ void copy(float* stage) {
    const Tap tap = *taps;
    float* const to = stage + threadIdx.x % BK * pitch;
#pragma unroll
    for (int j = 0; j < BN; j += THREADS / BK) {
      const int column = j + static_cast<int>(threadIdx.x) / BK;
      const Window window = windows[column];
      const bool inside = static_cast<unsigned>(window.y + tap.r) < static_cast<unsigned>(h) &&
                          static_cast<unsigned>(window.x + tap.s) < static_cast<unsigned>(w);
      const int first = window.n * image + (window.y * w + window.x) * c;
      __pipeline_memcpy_async(to + column, in + (first + tap.offset), 4, inside ? 0 : 4);
    }
    taps += BK;
  }
};

/// A sink for NHWC: results (pixels, k).
struct Pixels {
  float* out;
  int k0, k, col0, count;

  __device__ void store(int row, int col, const float (&acc)[8][8], int i, int j) const {
    const int filter = k0 + row;
#pragma unroll
    for (int y = 0; y < 4; ++y) {
      const int column = col0 + col + y;
      if (column >= count) continue;
      const float4 four =
          make_float4(acc[i][j + y], acc[i + 1][j + y], acc[i + 2][j + y], acc[i + 3][j + y]);
      lab::store4(out + size_t(column) * k + filter, k - filter, k % 4 == 0, four);
    }
  }
};

/// `implicit` for a layer of one group whose arrays have their channels inside: in (N, H, W, C),
/// out (N, P, Q, K), filters packed in the order (R, S, C).
///
/// Launch: as `columns_product`.
__global__ void __launch_bounds__(THREADS, BLOCKS)
    implicit_nhwc(float* out, const float* in, const float* packed, const Tap* taps, Layer l) {
  __shared__ Window windows[BN];
  const auto [k0, col0] = first_of_block(l.k);
  const int count = static_cast<int>(l.pixels());
  for (int j = static_cast<int>(threadIdx.x); j < BN; j += THREADS)
    windows[j] = col0 + j < count ? window_of(l, col0 + j) : no_window();
  __syncthreads();
  const InnerChannels source(l, in, taps, windows);
  const Pixels sink{out, k0, l.k, col0, count};
  tile_product(packed + k0, round_up(l.k, BM), k_tiles(l.terms()), source, sink);
}

// 0.24 ms, 20 % longer than with NCHW. A thread now copies from eight windows, which it reads from shared memory; what of this takes
// the time was not measured.
//= 0.24 ms: ms("implicit_nhwc/layer=c128")
//= 20 % longer: 100 * (ms("implicit_nhwc/layer=c128") / ms("implicit/layer=c128") - 1)
//
// ## 4. Filters of 1 x 1
//
// A 1 x 1 filter with stride 1 has one tap for each channel. The matrix of its windows is the image as it stands: row c
// is channel c. No table, no comparisons, and four neighbouring pixels are copied at once.

/// A layer of 1 x 1 filters, stride 1 and one group, without padding: the channels of an image are
/// the rows of the second operand as they are.
///
/// Launch: as `columns_product`.
/// Requires: H W is a multiple of 4.
__global__ void __launch_bounds__(THREADS, BLOCKS)
    pointwise(float* out, const float* in, const float* packed, Layer l) {
  const auto [k0, col0] = first_of_block(l.k);
  const int count = static_cast<int>(l.pixels()), each = l.h * l.w;
  const int column = col0 + Rows::column(), n = column / each;
  const Rows source(in + size_t(n) * l.c * each + (column - n * each), size_t(each), l.c,
                    column < count);
  const Images sink{out, k0, l.k, col0, count, each, l.k};
  tile_product(packed + k0, round_up(l.k, BM), k_tiles(l.c), source, sink);
}

// `down` takes 0.08 ms this way, with the table 0.092 ms. cuDNN takes 1.5 times as long.
//= 0.08 ms: ms("pointwise/layer=down")
//= 0.092 ms: ms("implicit/layer=down")
//= 1.5 times: ratio("pointwise/layer=down")
//
// ## 5. One image
//
// `one14` has one image of 14 x 14 pixels: 196 columns and 256 rows, 16 tiles. An H200 has 132 SMs.
//
//? one_tile: Each of the 16 blocks adds up 2,304 terms. How can more SMs help?
//? choices: smaller tiles | several blocks for each tile | two layers at a time
//? answer: "several blocks for each tile"
//
// The terms of a sum can be divided. Blocks of a third dimension of the grid take parts of the K-tiles, each writes its
// part of the sums, and a second kernel adds the parts up: *split-K*. Smaller tiles load more for each FMA. Atomic
// additions would need no second kernel, but the order of a sum would change from run to run.

/// What a part of the K-tiles adds to each result of a layer of one group: parts (parts, k, pitch).
///
/// Launch: as `columns_product`; grid.z are the parts, of `each_part` K-tiles, the last perhaps of
/// fewer.
__global__ void __launch_bounds__(THREADS, BLOCKS)
    split(float* parts, size_t pitch, int each_part, const float* in, const float* packed,
          const Tap* taps, Layer l) {
  const auto [k0, col0] = first_of_block(l.k);
  const int first = static_cast<int>(blockIdx.z) * each_part, pitch_a = round_up(l.k, BM);
  const int tiles = min(each_part, k_tiles(l.terms()) - first);
  const int column = col0 + static_cast<int>(threadIdx.x);
  const Windows source(l, in, taps + first * BK,
                       column < static_cast<int>(l.pixels()) ? window_of(l, column) : no_window());
  const Matrix sink{parts + blockIdx.z * l.k * pitch, pitch, k0, l.k, col0};
  tile_product(packed + size_t(first) * BK * pitch_a + k0, pitch_a, tiles, source, sink);
}

/// The sum of all parts of each result.
///
/// Launch: blocks of one dimension; grid.x covers the pixels, grid.y are the filters.
__global__ void add_parts(float* out, const float* parts, int count_parts, size_t pitch, Layer l) {
  const size_t j = size_t{blockIdx.x} * blockDim.x + threadIdx.x, k = blockIdx.y;
  if (j >= l.pixels()) return;
  float sum = 0;
  for (int part = 0; part < count_parts; ++part) sum += parts[(part * l.k + k) * pitch + j];
  const size_t each = size_t(l.p()) * l.q(), n = j / each;
  out[(n * l.k + k) * each + (j - n * each)] = sum;
}

/// K-tiles of a part: there are to be about `wanted` blocks for each SM, and at least
/// eight K-tiles in each part.
int tiles_of_part(size_t blocks, int tiles, int wanted) {
  const int parts = static_cast<int>(wanted * lab::multiprocessors() / blocks);
  return std::max(lab::ceil_div(tiles, std::max(parts, 1)), 8);
}

// With about three blocks for each SM `one14` takes 0.031 ms instead of 0.22: seven times faster, and 1.8 times as fast
// as cuDNN.
//= 0.031 ms: ms("split/layer=one14")
//= of 0.22: ms("implicit/layer=one14")
//= seven times: ms("implicit/layer=one14") / ms("split/layer=one14")
//= 1.8 times: ratio("split/layer=one14")
//
// ## 6. Fewer multiplications
//
// So far a result takes C R S multiplications. Winograd showed that it can be fewer ("Arithmetic Complexity of
// Computations", 1980), and Lavin and Gray brought it to networks ("Fast Algorithms for Convolutional Neural Networks",
// 2015). Take two neighbouring results in one dimension, of a filter of three taps:
//
//     y0 = d0 w0 + d1 w1 + d2 w2
//     y1 = d1 w0 + d2 w1 + d3 w2
//
// That is six multiplications. Four are enough.
//
// *A product of polynomials.* Multiply w(x) = w0 + w1 x + w2 x^2 by g(x) = g0 + g1 x. The product s(x) has degree 3:
// four values determine it. Take those at 0, 1 and -1, and the leading coefficient, which is called the value at
// infinity. Each value is *one* multiplication, of a value of w by a value of g:
//
// | at | w | g |
// |---|---|---|
// | 0 | w0 | g0 |
// | 1 | w0 + w1 + w2 | g0 + g1 |
// | -1 | w0 - w1 + w2 | g0 - g1 |
// | infinity | w2 | g1 |
//
// From the four values v, interpolation gives the coefficients: s0 = v(0), s3 = v(inf), s2 = (v(1) + v(-1)) / 2 - v(0),
// and s1 = (v(1) - v(-1)) / 2 - v(inf).
//
// *Turned around.* For fixed weights, s is a linear function of g: s = C diag(G w) E g, where E and G evaluate, and C
// interpolates. The transposed function takes four numbers to two: y = E^T diag(G w) C^T d. Transposing what multiplies
// polynomials gives y_i = the sum of d_(i+k) w_k: the two results above. So
//
//     y = A^T ((G w) * (B^T d))      with A = E and B = C
//
// The halves of C move to G. What is left, for the pixels d and the products m:
//
//     B^T d:  d0 - d2,   d1 + d2,   d2 - d1,   d3 - d1
//     G w:    w0,   (w0 + w1 + w2) / 2,   (w0 - w1 + w2) / 2,   w2
//     y0 = m0 + m1 + m2
//     y1 = m1 - m2 + m3
//
// This is F(2, 3): two results, three taps, four multiplications. With 2 and -2 as two more points, four results take
// six: F(4, 3), which is derived at the end of this section.
//
// *In two dimensions* transform the rows, then the columns, of pixels and weights: Y = A^T ((G w G^T) * (B^T d B)) A.
// Tiles of 4 x 4 pixels give 2 x 2 results with 16 multiplications instead of 36. Tiles of 6 x 6 give 4 x 4 results.
//
// A result takes 36 / 16 = 2.25 of them for each channel, instead of 9. The sum over the channels commutes with the
// transforms, so the multiplications of element (i, j) of all tiles are a matrix product over the channels: 36 products
// of K x C by C x tiles. Three kernels do it: transform, multiply, transform back.
//
// ```{drawing} winograd
// ```
//
// Where there are few tiles, the products are divided as in section 5, and the last kernel adds the parts up. The
// filters are transformed in the same launch as the pixels, by the first blocks: neither waits for the other. In a trial with
// two launches F(2 x 2) of `one56` took 0.0188 ms, with one 0.0162.
//= 0.0188 ms, with one 0.0162: (0.0188, 0.0162)
//
//? winograd_gain: A quarter of the multiplications. How much faster than `implicit` is F(4 x 4) for `c64`?
//? choices: hardly | nearly twice | nearly four times
//? answer: {"hardly": ms("implicit/layer=c64") / ms("winograd/layer=c64,tile=4") < 1.2,
//?   "nearly twice": 1.5 < ms("implicit/layer=c64") / ms("winograd/layer=c64,tile=4") < 2.2,
//?   "nearly four times": 3 < ms("implicit/layer=c64") / ms("winograd/layer=c64,tile=4")}

/// The three transforms in one dimension of F(M, R): M results of a filter of R taps with M + R - 1
/// products.
template <int M, int R>
struct Transform;

template <>
struct Transform<2, 3> {
  static __device__ void filter(float (&u)[4], const float (&w)[3]) {
    u[0] = w[0], u[3] = w[2];
    u[1] = 0.5f * (w[0] + w[1] + w[2]), u[2] = 0.5f * (w[0] - w[1] + w[2]);
  }
  static __device__ void input(float (&v)[4], const float (&d)[4]) {
    v[0] = d[0] - d[2], v[1] = d[1] + d[2], v[2] = d[2] - d[1], v[3] = d[3] - d[1];
  }
  static __device__ void output(float (&y)[2], const float (&m)[4]) {
    y[0] = m[0] + m[1] + m[2], y[1] = m[1] - m[2] + m[3];
  }
};

template <>
struct Transform<4, 3> {
  static __device__ void filter(float (&u)[6], const float (&w)[3]) {
    u[0] = w[0] / 4, u[5] = w[2];
    u[1] = -(w[0] + w[1] + w[2]) / 6, u[2] = -(w[0] - w[1] + w[2]) / 6;
    u[3] = w[0] / 24 + w[1] / 12 + w[2] / 6, u[4] = w[0] / 24 - w[1] / 12 + w[2] / 6;
  }
  static __device__ void input(float (&v)[6], const float (&d)[6]) {
    const float even = d[4] - 4 * d[2], odd = d[3] - 4 * d[1];
    const float apart = d[4] - d[2], twice = 2 * (d[3] - d[1]);
    v[0] = 4 * d[0] - 5 * d[2] + d[4], v[5] = 4 * d[1] - 5 * d[3] + d[5];
    v[1] = even + odd, v[2] = even - odd, v[3] = apart + twice, v[4] = apart - twice;
  }
  static __device__ void output(float (&y)[4], const float (&m)[6]) {
    const float one = m[1] + m[2], less = m[1] - m[2], two = m[3] + m[4], far = m[3] - m[4];
    y[0] = m[0] + one + two, y[1] = less + 2 * far, y[2] = one + 4 * two;
    y[3] = less + 8 * far + m[5];
  }
};

// [hide] F(2, 5) and F(4, 5)
/// The points of F(4, 3), and so its transform of the pixels.
template <>
struct Transform<2, 5> {
  static __device__ void filter(float (&u)[6], const float (&w)[5]) {
    const float even = w[0] + w[2] + w[4], odd = w[1] + w[3];
    const float at_2 = w[0] / 24 + w[2] / 6 + w[4] * 2 / 3, odd_2 = w[1] / 12 + w[3] / 3;
    u[0] = w[0] / 4, u[5] = w[4];
    u[1] = -(even + odd) / 6, u[2] = -(even - odd) / 6, u[3] = at_2 + odd_2, u[4] = at_2 - odd_2;
  }
  static __device__ void input(float (&v)[6], const float (&d)[6]) { Transform<4, 3>::input(v, d); }
  static __device__ void output(float (&y)[2], const float (&m)[6]) {
    y[0] = m[0] + (m[1] + m[2]) + (m[3] + m[4]);
    y[1] = m[1] - m[2] + 2 * (m[3] - m[4]) + m[5];
  }
};

/// The same with 1/2 and -1/2 as two more points.
template <>
struct Transform<4, 5> {
  static __device__ void filter(float (&u)[8], const float (&w)[5]) {
    const float even = w[0] + w[2] + w[4], odd = w[1] + w[3];
    const float even_2 = w[0] + 4 * w[2] + 16 * w[4], odd_2 = 2 * w[1] + 8 * w[3];
    const float even_half = 16 * w[0] + 4 * w[2] + w[4], odd_half = 8 * w[1] + 2 * w[3];
    u[0] = w[0], u[7] = w[4];
    u[1] = (even + odd) * (-2.0f / 9), u[2] = (even - odd) * (-2.0f / 9);
    u[3] = (even_2 + odd_2) * (1.0f / 90), u[4] = (even_2 - odd_2) * (1.0f / 90);
    u[5] = (even_half + odd_half) * (2.0f / 45), u[6] = (even_half - odd_half) * (2.0f / 45);
  }
  static __device__ void input(float (&v)[8], const float (&d)[8]) {
    const float even = d[2] - 4.25f * d[4] + d[6], odd = d[1] - 4.25f * d[3] + d[5];
    const float even_2 = 0.25f * d[2] - 1.25f * d[4] + d[6];
    const float odd_2 = 0.5f * d[1] - 2.5f * d[3] + 2 * d[5];
    const float even_half = 4 * d[2] - 5 * d[4] + d[6];
    const float odd_half = 2 * d[1] - 2.5f * d[3] + 0.5f * d[5];
    v[0] = d[0] - d[6] + 5.25f * (d[4] - d[2]), v[7] = d[7] - d[1] + 5.25f * (d[3] - d[5]);
    v[1] = even + odd, v[2] = even - odd, v[3] = even_2 + odd_2, v[4] = even_2 - odd_2;
    v[5] = even_half + odd_half, v[6] = even_half - odd_half;
  }
  static __device__ void output(float (&y)[4], const float (&m)[8]) {
    const float one = m[1] + m[2], less = m[1] - m[2], two = m[3] + m[4], far = m[3] - m[4];
    const float half = m[5] + m[6], near = m[5] - m[6];
    y[0] = m[0] + one + two + half, y[1] = less + 2 * far + 0.5f * near;
    y[2] = one + 4 * two + 0.25f * half, y[3] = less + 8 * far + 0.125f * near + m[7];
  }
};
// [/hide]

/// Blocks that transform the filters: each has 32 filters and 8 channels.
__host__ __device__ inline int filter_blocks(const Layer& l) {
  return round_up(l.k, BM) / 32 * (round_up(l.c, BK) / 8);
}

/// Tiles of M x M results along a column, along a row, and of all images.
template <int M>
struct Tiling {
  int along_p, along_q, n;
  __host__ __device__ explicit Tiling(const Layer& l)
      : along_p((l.p() + M - 1) / M), along_q((l.q() + M - 1) / M), n(l.n) {}
  __host__ __device__ size_t count() const { return size_t(n) * along_p * along_q; }
  /// The first result of a tile.
  __device__ Window first_of(int tile) const {
    return {tile / (along_p * along_q), tile / along_q % along_p * M, tile % along_q * M};
  }
};

/// u[i][c][k] = element i of G w G^T, for the R x R filter w of k over c: (T^2, c rounded up to BK, k
/// rounded up to BM) with T = M + R - 1, and zeros for what is not there.
template <int M, int R>
__device__ void transform_filter(float* u, const float* filter, const Layer& l, int k, int c) {
  constexpr int T = M + R - 1;
  const int pitch = round_up(l.k, BM), rows = round_up(l.c, BK);
  if (k >= pitch || c >= rows) return;
  float w[R * R] = {}, half[R][T];
  if (k < l.k && c < l.c) {
#pragma unroll
    for (int i = 0; i < R * R; ++i) w[i] = filter[(size_t(k) * l.c + c) * (R * R) + i];
  }
#pragma unroll
  for (int s = 0; s < R; ++s) {
    float column[R];
#pragma unroll
    for (int r = 0; r < R; ++r) column[r] = w[r * R + s];
    Transform<M, R>::filter(half[s], column);
  }
#pragma unroll
  for (int i = 0; i < T; ++i) {
    float row[R], to[T];
#pragma unroll
    for (int s = 0; s < R; ++s) row[s] = half[s][i];
    Transform<M, R>::filter(to, row);
#pragma unroll
    for (int j = 0; j < T; ++j) u[(size_t(i * T + j) * rows + c) * pitch + k] = to[j];
  }
}

/// v[i][c][tile] = element i of B^T d B, for the T x T pixels d that a tile needs of channel c, with
/// T = M + R - 1: (T^2, c, pitch). Tiles that do not exist are zeros.
template <int M, int R>
__device__ void transform_input(float* v, size_t pitch, const float* in, const Layer& l, int tile,
                                int c) {
  constexpr int T = M + R - 1;
  if (tile >= static_cast<int>(pitch)) return;
  const Tiling<M> tiling(l);
  const Window first = tiling.first_of(tile);
  const bool is_tile = tile < static_cast<int>(tiling.count());
  const int y0 = first.y - l.pad, x0 = first.x - l.pad;
  const float* const channel = in + size_t(is_tile ? first.n * l.c + c : 0) * l.h * l.w;
  float d[T][T], half[T][T];
#pragma unroll
  for (int i = 0; i < T; ++i) {
#pragma unroll
    for (int j = 0; j < T; ++j) {
      const bool inside = is_tile && static_cast<unsigned>(y0 + i) < static_cast<unsigned>(l.h) &&
                          static_cast<unsigned>(x0 + j) < static_cast<unsigned>(l.w);
      d[i][j] = inside ? channel[(y0 + i) * l.w + x0 + j] : 0;
    }
  }
#pragma unroll
  for (int i = 0; i < T; ++i) Transform<M, R>::input(half[i], d[i]);
#pragma unroll
  for (int j = 0; j < T; ++j) {
    float column[T], to[T];
#pragma unroll
    for (int i = 0; i < T; ++i) column[i] = half[i][j];
    Transform<M, R>::input(to, column);
#pragma unroll
    for (int i = 0; i < T; ++i) v[(size_t(i * T + j) * l.c + c) * pitch + tile] = to[i];
  }
}

constexpr int AT_ONCE = 256;  ///< threads of a block that transforms

/// The transforms of all filters, by the first blocks, and of all images, by the others.
///
/// Launch: blocks of AT_ONCE threads: `filter_blocks(l)`, and a row of ceil(pitch / AT_ONCE) for
/// each channel.
template <int M, int R>
__global__ void transform(float* u, float* v, size_t pitch, const float* in, const float* filter,
                          Layer l) {
  const int tid = static_cast<int>(threadIdx.x), of_filters = filter_blocks(l);
  const int block = static_cast<int>(blockIdx.x), other = block - of_filters;
  if (other < 0) {
    // A warp has 8 filters and 4 channels: it writes 32 neighbouring bytes for each channel.
    const int across = round_up(l.k, BM) / 32;
    transform_filter<M, R>(u, filter, l, block % across * 32 + tid / 32 % 4 * 8 + tid % 8,
                           block / across * 8 + tid / 128 * 4 + tid / 8 % 4);
  } else {
    const int row = static_cast<int>((pitch + AT_ONCE - 1) / AT_ONCE);
    transform_input<M, R>(v, pitch, in, l, other % row * AT_ONCE + tid, other / row);
  }
}

/// m[part][i] = what a part of the channels adds to u[i]^T v[i], for each of the elements i:
/// (parts, elements, k, pitch).
///
/// Launch: as `columns_product`, for `pitch` columns; grid.z are the elements of all parts, of
/// `each_part` K-tiles. Requires: pitch is a multiple of BN.
__global__ void __launch_bounds__(THREADS, BLOCKS)
    products(float* m, const float* u, const float* v, size_t pitch, int elements, int each_part,
             Layer l) {
  const auto [k0, col0] = first_of_block(l.k);
  const int rows = round_up(l.c, BK), pitch_a = round_up(l.k, BM);
  const int element = static_cast<int>(blockIdx.z) % elements;
  const int first = static_cast<int>(blockIdx.z) / elements * each_part * BK;
  const Rows source(v + size_t(element * l.c + first) * pitch + col0 + Rows::column(), pitch,
                    l.c - first, true);
  const Matrix sink{m + blockIdx.z * l.k * pitch, pitch, k0, l.k, col0};
  tile_product(u + size_t(element * rows + first) * pitch_a + k0, pitch_a,
               min(each_part, (rows - first) / BK), source, sink);
}

/// The results of a tile, A^T m A with m the sum of all parts; where POOL, what the 2 x 2 pool
/// leaves of them, with bias and ReLU.
///
/// Launch: blocks of one dimension; grid.x covers the tiles, grid.y are the filters.
template <int M, int R, bool POOL>
__global__ void transform_outputs(float* out, const float* m, size_t pitch, int parts,
                                  const float* bias, Layer l) {
  constexpr int T = M + R - 1;
  const int at = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  const int k = static_cast<int>(blockIdx.y);
  const Tiling<M> tiling(l);
  if (at >= static_cast<int>(tiling.count())) return;
  float half[M][T], y[M][M];
#pragma unroll
  for (int j = 0; j < T; ++j) {
    float column[T], to[M];
#pragma unroll
    for (int i = 0; i < T; ++i) column[i] = m[(size_t(i * T + j) * l.k + k) * pitch + at];
    for (int part = 1; part < parts; ++part) {
#pragma unroll
      for (int i = 0; i < T; ++i)
        column[i] += m[(size_t((part * T + i) * T + j) * l.k + k) * pitch + at];
    }
    Transform<M, R>::output(to, column);
#pragma unroll
    for (int i = 0; i < M; ++i) half[i][j] = to[i];
  }
#pragma unroll
  for (int i = 0; i < M; ++i) Transform<M, R>::output(y[i], half[i]);

  const Window first = tiling.first_of(at);
  if constexpr (POOL) {
    const int p = l.p() / 2, q = l.q() / 2, y0 = first.y / 2, x0 = first.x / 2;
    float* const to = out + size_t(first.n * l.k + k) * p * q;
#pragma unroll
    for (int i = 0; i < M / 2; ++i) {
#pragma unroll
      for (int j = 0; j < M / 2; ++j) {
        const float best = fmaxf(fmaxf(y[2 * i][2 * j], y[2 * i][2 * j + 1]),
                                 fmaxf(y[2 * i + 1][2 * j], y[2 * i + 1][2 * j + 1]));
        if (y0 + i < p && x0 + j < q) to[(y0 + i) * q + x0 + j] = fmaxf(best + bias[k], 0);
      }
    }
  } else {
    float* const to = out + size_t(first.n * l.k + k) * l.p() * l.q() + first.y * l.q() + first.x;
    const bool aligned = l.q() % 4 == 0;
#pragma unroll
    for (int i = 0; i < M; ++i) {
      if (first.y + i >= l.p()) break;
      if (M == 4 && aligned) {
        *reinterpret_cast<float4*>(to + i * l.q()) =
            make_float4(y[i][0], y[i][1], y[i][M - 2], y[i][M - 1]);
      } else {
#pragma unroll
        for (int j = 0; j < M; ++j) {
          if (first.x + j < l.q()) to[i * l.q() + j] = y[i][j];
        }
      }
    }
  }
}

/// The K-tiles of a part in `products`.
template <int M>
int winograd_part(const Layer& l) {
  const size_t columns = blocks_for(Tiling<M>(l).count(), BN);
  const int elements = (M + l.r - 1) * (M + l.r - 1);
  return tiles_of_part(blocks_for(l.k, BM) * columns * elements, k_tiles(l.c), 9);
}

/// A layer of R x R filters with stride 1, one group and no dilation, in three launches.
///
/// \param scratch  winograd_size<M>(l) floats
/// \param bias  read where POOL
template <int M, int R, bool POOL>
void winograd(float* out, const float* in, const float* filter, const float* bias, float* scratch,
              const Layer& l) {
  constexpr unsigned ELEMENTS = (M + R - 1) * (M + R - 1);
  const size_t count = Tiling<M>(l).count(), pitch = pitch_of(count);
  const int each_part = winograd_part<M>(l), parts = lab::ceil_div(k_tiles(l.c), each_part);
  float* const v = scratch + size_t{ELEMENTS} * round_up(l.c, BK) * round_up(l.k, BM);
  float* const m = v + ELEMENTS * l.c * pitch;
  transform<M, R><<<filter_blocks(l) + blocks_for(pitch, AT_ONCE) * l.c, AT_ONCE>>>(
      scratch, v, pitch, in, filter, l);
  const dim3 grid(blocks_for(l.k, BM) * blocks_for(pitch, BN), 1, ELEMENTS * parts);
  products<<<grid, THREADS>>>(m, scratch, v, pitch, ELEMENTS, each_part, l);
  transform_outputs<M, R, POOL>
      <<<dim3(blocks_for(count, 128), l.k), 128>>>(out, m, pitch, parts, bias, l);
}

// 1.8 times. The transformed pixels and the products are 36 numbers for each 16 pixels: for `c64` 58 MB each, written
// and read again. At the rate of a copy that takes 0.054 of the 0.105 ms; how much of it stays in L2 was not measured. For `c512`
// F(4 x 4) is 4.3 times as fast as `implicit`, which falls to 16 TFLOP/s there. It has 200 tiles for 132 SMs; to divide its sums as
// in section 5 was not tried.
//= 1.8 times: ms("implicit/layer=c64") / ms("winograd/layer=c64,tile=4")
//= 58 MB: 36 * 64 * 32 * 14 * 14 * 4 / 1e6
//= 0.054 of the 0.105 ms: (4 * 36 * 64 * 32 * 14 * 14 * 4 / 1e6 / limit("15:copy"), ms("winograd/layer=c64,tile=4"))
//= 4.3 times: ms("implicit/layer=c512") / ms("winograd/layer=c512,tile=4")
//= falls to 16 TFLOP/s: rate("implicit/layer=c512") / 1000
//= has 200 tiles for 132: (round(512 / 64) * round(32 * 7 * 7 / 64 + 0.49), 132)
//
// ### Filters of 5 x 5
//
// The six points of F(4, 3) serve another filter as well: two results of five taps, F(2, 5). How pixels are transformed follows
// from the points alone, and stays as it is; weights and results have other transforms. With 1/2 and -1/2 as two more points it
// is F(4, 5). Tiles of 8 x 8 pixels give 4 x 4 results, and a result takes 64 / 16 = 4 multiplications for each channel, instead
// of 25.
//
// ```{drawing} points
// ```
//
//? five_gain: How many times as fast as `implicit` is F(4 x 4) for `five`?
//? answer: ms("implicit/layer=five") / ms("winograd/layer=five,tile=4")
//? unit: times
//? near: 20 %
//
// 4.1 times: 172 TFLOP/s, counted as the direct sum. That is 2.6 times what a loop of FMAs reaches. F(2 x 2), with 9
// multiplications for each result, makes 83 TFLOP/s. With a Fourier transform of larger tiles it takes 2.6: that is `fourier`, on a
// page of its own.
//= 4.1 times: ms("implicit/layer=five") / ms("winograd/layer=five,tile=4")
//= 172 TFLOP/s: rate("winograd/layer=five,tile=4") / 1000
//= 2.6 times: rate("winograd/layer=five,tile=4") / limit("fma")
//= 83 TFLOP/s: rate("winograd/layer=five,tile=2") / 1000
//= takes 2.6: 514 * 4 * 2 / (2 * 28 * 28)
//
// ### Where F(4, 3) comes from (second reading)
//
// The finite points 0, 1, -1, 2 and -2 are the zeros of
//
//     M(x) = x (x^2 - 1) (x^2 - 4) = x^5 - 5 x^3 + 4 x
//
// Interpolation takes the value at a point p times Lagrange's polynomial M(x) / (x - p), over its value at p. For 1 it is
// x (x + 1) (x^2 - 4) = x^4 + x^3 - 4 x^2 - 4 x, over -6. Turned around, the coefficients become a row of B^T, from d0 on, and what
// they are divided by moves to G: 4 for 0, -6 for 1 and -1, 24 for 2 and -2. The row of infinity is M itself, over 1:
//
//     B^T d:  4 d0 - 5 d2 + d4
//             (d4 - 4 d2) + (d3 - 4 d1),   (d4 - 4 d2) - (d3 - 4 d1)
//             (d4 - d2) + 2 (d3 - d1),     (d4 - d2) - 2 (d3 - d1)
//             4 d1 - 5 d3 + d5
//     G w:    w0 / 4
//             -(w0 + w1 + w2) / 6,         -(w0 - w1 + w2) / 6
//             (w0 + 2 w1 + 4 w2) / 24,     (w0 - 2 w1 + 4 w2) / 24
//             w2
//
// g has four coefficients now. E evaluates it, so its column i is the i-th power of the points, and result i is the sum of these
// times the products:
//
//     y0 = m0 + (m1 + m2) + (m3 + m4)
//     y1 = (m1 - m2) + 2 (m3 - m4)
//     y2 = (m1 + m2) + 4 (m3 + m4)
//     y3 = (m1 - m2) + 8 (m3 - m4) + m5
//
// Points p and -p share their sums and differences, as in `Transform<4, 3>`. With M(x) = x (x^2 - 1) the same rule gives F(2, 3), but
// for the sign of its first row, which moves from G to B^T. For F(2, 5) B stays, and G evaluates five taps.
//
// ### What it costs in accuracy (second reading)
//
//? accuracy: Compare the largest errors for `c128` with that of the direct sum in float. Which of the two is *smaller* than that?
//? choices: that of F(2 x 2) | that of F(4 x 4) | both | neither
//? answer: {"that of F(2 x 2)": error("winograd/layer=c128,tile=2") < error("implicit/layer=c128") < error("winograd/layer=c128,tile=4"),
//?   "that of F(4 x 4)": error("winograd/layer=c128,tile=4") < error("implicit/layer=c128") < error("winograd/layer=c128,tile=2"),
//?   "both": max(error("winograd/layer=c128,tile=2"), error("winograd/layer=c128,tile=4")) < error("implicit/layer=c128"),
//?   "neither": min(error("winograd/layer=c128,tile=2"), error("winograd/layer=c128,tile=4")) > error("implicit/layer=c128")}
//
// F(4 x 4) multiplies pixels by up to 5, sums by up to 8, and subtracts, and each of these rounds. The largest error
// for `c128`, against sums in double, is 3 times that of the direct sum in float. That of F(2 x 2) is 0.3 times that of
// the direct sum. For `five`, with more terms in a sum, the two are 1.2 and 0.8 times that of the direct sum.
//= 3 times: error("winograd/layer=c128,tile=4") / error("implicit/layer=c128")
//= 0.3 times: error("winograd/layer=c128,tile=2") / error("implicit/layer=c128")
//= 1.2 and 0.8 times: (error("winograd/layer=five,tile=4") / error("implicit/layer=five"),
//=   error("winograd/layer=five,tile=2") / error("implicit/layer=five"))

// ### Tiles of 4 and of 3 side by side (second reading)
//
// A side of 7 results takes two tiles of 4, one of which computes a row too many. A tile of 4 and one of 3 fit: F(3, 3) takes five
// points, say those of F(4, 3) without -2. The weights at these five are those of F(4, 3), so one transform of the filters serves both.
// What they are divided by there, (p + 2) times too much, the pixels make up for: a row of B^T of F(3, 3) is multiplied by p + 2.
//
//     B^T d:  4 d0 - 2 d1 - 4 d2 + 2 d3,   3 (d3 - d2 - 2 d1),   d3 - 3 d2 + 2 d1,   4 (d3 - d1),   d4 - 2 d3 - d2 + 2 d1
//     y0 = m0 + m1 + m2 + m3,   y1 = m1 - m2 + 2 m3,   y2 = m1 + m2 + 4 m3 + m5
//
// Only tiles of 4 have an element at -2. So the products of the 36 elements have columns for all tiles, for those with four rows, for those
// with four columns, or for those with both: for `c512` 121 of 144, 0.84 of the multiplications.
//= 121 of 144, 0.84: ((6 + 5) ** 2, (6 + 6) ** 2, 11 ** 2 / 12 ** 2)

/// Tiles of four results along a side, and of three behind them, as few of these as fill it up.
struct Side {
  int fours, threes;
  __host__ __device__ explicit Side(int results) {
    threes = (4 - results % 4) % 4;
    if (3 * threes > results) threes = 0;
    fours = (results - 3 * threes + 3) / 4;
  }
  __host__ __device__ int count() const { return fours + threes; }
  /// The first result of a tile.
  __device__ int first(int tile) const { return 4 * tile - max(tile - fours, 0); }
  /// The tiles that have element i: all have it, but for that of the point -2.
  __host__ __device__ int with(int i) const { return i == 4 ? fours : count(); }
};

/// The tiles of a layer, and where they stand in the products.
struct Mixed {
  Side p, q;
  int n;
  __host__ __device__ explicit Mixed(const Layer& l) : p(l.p()), q(l.q()), n(l.n) {}
  __host__ __device__ int count() const { return n * p.count() * q.count(); }
  /// Columns of the product of element (i, j).
  __host__ __device__ int columns(int i, int j) const { return n * p.with(i) * q.with(j); }
  /// The column of tile (a, b) of an image there: those that do not have the element come behind all that do.
  __device__ int column(int i, int j, int a, int b, int image) const {
    const int rows = p.with(i), cols = q.count();
    const int at = j != 4 ? a * cols + b : a < rows ? b * rows + a : a * cols + b;
    return at * n + image;
  }
};

/// Six values of B^T d; where only three results are asked for, the one at -2 is zero.
__device__ inline void input_of(float (&v)[6], const float (&d)[6], bool four) {
  if (four) {
    Transform<4, 3>::input(v, d);
  } else {
    v[0] = 4 * (d[0] - d[2]) + 2 * (d[3] - d[1]), v[1] = 3 * (d[3] - d[2] - 2 * d[1]);
    v[2] = d[3] - 3 * d[2] + 2 * d[1], v[3] = 4 * (d[3] - d[1]), v[4] = 0;
    v[5] = d[4] - d[2] + 2 * (d[1] - d[3]);
  }
}

/// Four results of A^T m, or three and something that is not one.
__device__ inline void output_of(float (&y)[4], const float (&m)[6], bool four) {
  Transform<4, 3>::output(y, m);
  if (!four) y[2] += m[5];
}

/// `transform` for tiles of both sizes.
///
/// Launch: as `transform`.
__global__ void transform_mixed(float* u, float* v, size_t pitch, const float* in,
                                const float* filter, Layer l) {
  const int tid = static_cast<int>(threadIdx.x), of_filters = filter_blocks(l);
  const int block = static_cast<int>(blockIdx.x), other = block - of_filters;
  if (other < 0) {
    const int across = round_up(l.k, BM) / 32;
    transform_filter<4, 3>(u, filter, l, block % across * 32 + tid / 32 % 4 * 8 + tid % 8,
                           block / across * 8 + tid / 128 * 4 + tid / 8 % 4);
    return;
  }
  const int each = static_cast<int>((pitch + AT_ONCE - 1) / AT_ONCE);
  const int tile = other % each * AT_ONCE + tid, c = other / each;
  const Mixed mixed(l);
  const int image = tile % mixed.n, b = tile / mixed.n % mixed.q.count();
  const int a = tile / mixed.n / mixed.q.count();
  if (tile >= static_cast<int>(pitch)) return;
  const bool is_tile = tile < mixed.count(), four_p = a < mixed.p.fours, four_q = b < mixed.q.fours;
  const int y0 = mixed.p.first(a) - l.pad, x0 = mixed.q.first(b) - l.pad;
  const float* const channel = in + (size_t(image) * l.c + c) * l.h * l.w;
  float d[6][6], half[6][6];
#pragma unroll
  for (int i = 0; i < 6; ++i) {
#pragma unroll
    for (int j = 0; j < 6; ++j) {
      const bool inside = is_tile && static_cast<unsigned>(y0 + i) < static_cast<unsigned>(l.h) &&
                          static_cast<unsigned>(x0 + j) < static_cast<unsigned>(l.w);
      d[i][j] = inside ? channel[(y0 + i) * l.w + x0 + j] : 0;
    }
  }
#pragma unroll
  for (int i = 0; i < 6; ++i) input_of(half[i], d[i], four_q);
#pragma unroll
  for (int j = 0; j < 6; ++j) {
    float column[6], to[6];
#pragma unroll
    for (int i = 0; i < 6; ++i) column[i] = half[i][j];
    input_of(to, column, four_p);
#pragma unroll
    for (int i = 0; i < 6; ++i) {
      const int at = is_tile ? mixed.column(i, j, a, b, image) : tile;
      if (at < round_up(mixed.columns(i, j), BN))
        v[(size_t(i * 6 + j) * l.c + c) * pitch + at] = to[i];
    }
  }
}

/// `products` for tiles of both sizes: an element has as many columns as there are tiles that have it.
///
/// Launch: as `products`.
__global__ void __launch_bounds__(THREADS, BLOCKS)
    products_mixed(float* m, const float* u, const float* v, size_t pitch, int each_part, Layer l) {
  const auto [k0, col0] = first_of_block(l.k);
  const int rows = round_up(l.c, BK), pitch_a = round_up(l.k, BM);
  const int element = static_cast<int>(blockIdx.z) % 36;
  if (col0 >= Mixed(l).columns(element / 6, element % 6)) return;
  const int first = static_cast<int>(blockIdx.z) / 36 * each_part * BK;
  const Rows source(v + size_t(element * l.c + first) * pitch + col0 + Rows::column(), pitch,
                    l.c - first, true);
  const Matrix sink{m + blockIdx.z * l.k * pitch, pitch, k0, l.k, col0};
  tile_product(u + size_t(element * rows + first) * pitch_a + k0, pitch_a,
               min(each_part, (rows - first) / BK), source, sink);
}

/// `transform_outputs` for tiles of both sizes.
///
/// Launch: as `transform_outputs`.
__global__ void outputs_mixed(float* out, const float* m, size_t pitch, int parts, Layer l) {
  const int tile = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  const int k = static_cast<int>(blockIdx.y);
  const Mixed mixed(l);
  if (tile >= mixed.count()) return;
  const int image = tile % mixed.n, b = tile / mixed.n % mixed.q.count();
  const int a = tile / mixed.n / mixed.q.count();
  const bool four_p = a < mixed.p.fours, four_q = b < mixed.q.fours;
  float e[6][6] = {}, half[4][6], y[4][4];
  for (int part = 0; part < parts; ++part) {
#pragma unroll
    for (int i = 0; i < 6; ++i) {
#pragma unroll
      for (int j = 0; j < 6; ++j) {
        const bool has = (i != 4 || four_p) && (j != 4 || four_q);
        const int at = mixed.column(i, j, a, b, image);
        e[i][j] += has ? m[(size_t((part * 6 + i) * 6 + j) * l.k + k) * pitch + at] : 0;
      }
    }
  }
#pragma unroll
  for (int j = 0; j < 6; ++j) {
    float column[6], to[4];
#pragma unroll
    for (int i = 0; i < 6; ++i) column[i] = e[i][j];
    output_of(to, column, four_p);
#pragma unroll
    for (int i = 0; i < 4; ++i) half[i][j] = to[i];
  }
#pragma unroll
  for (int i = 0; i < 4; ++i) output_of(y[i], half[i], four_q);
  const int y0 = mixed.p.first(a), x0 = mixed.q.first(b);
  float* const to = out + (size_t(image) * l.k + k) * l.p() * l.q() + y0 * l.q() + x0;
#pragma unroll
  for (int i = 0; i < 4; ++i) {
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      const bool own = (i < 3 || four_p) && (j < 3 || four_q);
      if (own && y0 + i < l.p() && x0 + j < l.q()) to[i * l.q() + j] = y[i][j];
    }
  }
}

/// The K-tiles of a part in `products_mixed`.
int mixed_part(const Layer& l) {
  const Mixed mixed(l);
  size_t columns = 0;
  for (int e = 0; e < 36; ++e) columns += blocks_for(mixed.columns(e / 6, e % 6), BN);
  return tiles_of_part(blocks_for(l.k, BM) * columns, k_tiles(l.c), 16);
}

/// `winograd` for filters of 3 x 3, with tiles of 4 and of 3 results along both sides.
///
/// \param scratch  mixed_size(l) floats
void winograd_mixed(float* out, const float* in, const float* filter, float* scratch,
                    const Layer& l) {
  const size_t count = Mixed(l).count(), pitch = pitch_of(count);
  const int each_part = mixed_part(l), parts = lab::ceil_div(k_tiles(l.c), each_part);
  float* const v = scratch + size_t{36} * round_up(l.c, BK) * round_up(l.k, BM);
  float* const m = v + 36 * l.c * pitch;
  transform_mixed<<<filter_blocks(l) + blocks_for(pitch, AT_ONCE) * l.c, AT_ONCE>>>(
      scratch, v, pitch, in, filter, l);
  const dim3 grid(blocks_for(l.k, BM) * blocks_for(pitch, BN), 1, 36 * parts);
  products_mixed<<<grid, THREADS>>>(m, scratch, v, pitch, each_part, l);
  outputs_mixed<<<dim3(blocks_for(count, 128), l.k), 128>>>(out, m, pitch, parts, l);
}

// It does not pay: `c512` takes 0.117 ms, with tiles of 4 alone 0.106 ms. In a trial the products took 0.060 instead of 0.070 ms where their
// sums had four parts, but the way back took 0.026 to 0.038 ms, where `transform_outputs` takes 0.012. Which of its accesses cost that was not
// measured.
//= takes 0.117 ms: ms("winograd/layer=c512,tile=4+3")
//= alone 0.106 ms: ms("winograd/layer=c512,tile=4")
//= 0.060 instead of 0.070 ms: (0.060, 0.070)
//= 0.026 to 0.038 ms, where: (0.026, 0.038)
//= takes 0.012: 0.012

// ## 7. What comes after the layer
//
// A layer is rarely alone. A bias is added to each channel, negative results become zero (ReLU), and a 2 x 2 pool keeps
// the largest of four. As kernels of their own, these read the results three times more, and write them twice.
//
//? fused_gain: `large` takes 0.74 ms with F(4 x 4). By what factor is it faster to do bias, ReLU and pool inside the last kernel, rather
//?   than with three more?
//? answer: ms("pooled/layer=large,kernels=apart") / ms("pooled/layer=large,kernels=fused")
//? unit: times
//? near: 15 %
//
// 1.7 times. The thread that transforms a tile back has 4 x 4 results in registers, four pools. It writes four numbers
// instead of sixteen. At the simulator's default 993,664 bytes are stored in place of 1,416,064, and 1,647,716 loaded in place of
// 2,175,716.
//= 993,664 bytes are stored in place of 1,416,064: (count("pooled/layer=large,kernels=fused", "global_store_bytes"),
//=   count("pooled/layer=large,kernels=apart", "global_store_bytes"))
//= 1,647,716 loaded in place of 2,175,716: (count("pooled/layer=large,kernels=fused", "global_load_bytes"),
//=   count("pooled/layer=large,kernels=apart", "global_load_bytes"))
//= 1.7 times: ms("pooled/layer=large,kernels=apart") / ms("pooled/layer=large,kernels=fused")
//
// ### A pool in an implicit product (second reading)
//
// `implicit` can do it as well, if a thread has four results of one pool. Its columns may have any order: let four
// after each other be a pool. Then the float4 that the sink would store is a pool, and one number goes out.
//
// ```{drawing} pools
// ```

/// x += the bias of its channel, for each element of (N, K, each).
///
/// Launch: one thread for each element, in blocks of one dimension.
__global__ void add_bias(float* x, const float* bias, int k, int each, size_t size) {
  const size_t i = size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < size) x[i] += bias[i / each % k];
}

/// x = max(x, 0) for each element.
///
/// Launch: one thread for each element, in blocks of one dimension.
__global__ void relu(float* x, size_t size) {
  const size_t i = size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < size) x[i] = fmaxf(x[i], 0);
}

/// The largest of each 2 x 2 elements of planes (p, q): (p / 2, q / 2), rounded down.
///
/// Launch: one thread for each result, in blocks of one dimension.
__global__ void max_pool(float* out, const float* in, int p, int q, size_t size) {
  const size_t i = size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i >= size) return;
  const size_t x = i % (q / 2), y = i / (q / 2) % (p / 2), plane = i / (q / 2) / (p / 2);
  const float* const from = in + (plane * p + 2 * y) * q + 2 * x;
  out[i] = fmaxf(fmaxf(from[0], from[1]), fmaxf(from[q], from[q + 1]));
}

/// The window of column j where four columns after each other are what the pool makes one result
/// of.
__device__ inline Window window_in_pool(const Layer& l, int j) {
  const int p = l.p() / 2, q = l.q() / 2, result = j / 4;
  const int n = result / (p * q), at = result - n * (p * q);
  return {n, (at / q * 2 + j % 4 / 2) * l.stride - l.pad, (at % q * 2 + j % 2) * l.stride - l.pad};
}

/// A sink: what bias, ReLU and pool leave of four columns each.
struct Pool {
  float* out;
  const float* bias;
  int k0, k, col0, count, each;  ///< `each` results an image

  __device__ void store(int row, int col, const float (&acc)[8][8], int i, int j) const {
    const int result = (col0 + col) / 4, n = result / each;
    if (col0 + col >= count) return;
#pragma unroll
    for (int x = 0; x < 4; ++x) {
      const int filter = k0 + row + x;
      if (filter >= k) continue;
      const float4 four = four_of(acc, i + x, j);
      const float best = fmaxf(fmaxf(four.x, four.y), fmaxf(four.z, four.w));
      out[(size_t(n) * k + filter) * each + (result - n * each)] = fmaxf(best + bias[filter], 0);
    }
  }
};

/// `implicit` for one group, with bias, ReLU and a 2 x 2 pool.
///
/// Launch: as `columns_product`, for the columns that the pool reads.
__global__ void __launch_bounds__(THREADS, BLOCKS)
    pooled(float* out, const float* in, const float* packed, const Tap* taps, const float* bias,
           Layer l) {
  const auto [k0, col0] = first_of_block(l.k);
  const int each = (l.p() / 2) * (l.q() / 2), count = 4 * l.n * each;
  const int column = col0 + static_cast<int>(threadIdx.x);
  const Windows source(l, in, taps, column < count ? window_in_pool(l, column) : no_window());
  const Pool sink{out, bias, k0, l.k, col0, count, each};
  tile_product(packed + k0, round_up(l.k, BM), k_tiles(l.terms()), source, sink);
}

// The maximum comes first, then one bias and one ReLU: neither changes which of the four is the largest.
//
// [hide] The launches
namespace {

/// Floats that `pack` writes.
size_t packed_size(const Layer& l) {
  return size_t(l.groups) * round_up(l.terms(), BK) * round_up(l.k / l.groups, BM);
}
/// Packs the filters at the beginning of the scratch memory.
float* packed(Work& w, const float* filter) {
  const Layer& l = w.layer;
  const int pitch = round_up(l.k / l.groups, BM);
  const dim3 grid(blocks_for(pitch, BM), round_up(l.terms(), BK), l.groups);
  pack<<<grid, BM>>>(w.scratch.data(), filter, l);
  return w.scratch.data();
}

/// The tiles of a layer.
dim3 tiles_of(const Layer& l, size_t columns) {
  return dim3(blocks_for(l.k / l.groups, BM) * blocks_for(columns, BN), 1, l.groups);
}

void run_naive(Work& w) {
  naive<<<blocks_for(w.layer.outputs(), 256), 256>>>(w.out.data(), w.in.data(), w.filter.data(),
                                                     w.layer);
}

void run_no_padding(Work& w) {
  no_padding<<<blocks_for(w.layer.outputs(), 256), 256>>>(w.out.data(), w.in.data(),
                                                          w.filter.data(), w.layer);
}

void run_im2col(Work& w) {
  const Layer& l = w.layer;
  const float* const a = packed(w, w.filter.data());
  float* const columns = w.scratch.data() + packed_size(l);
  const size_t pitch = pitch_of(l.pixels());
  im2col<<<dim3(blocks_for(pitch, 256), l.c), 256>>>(columns, static_cast<int>(pitch), w.in.data(),
                                                     l);
  columns_product<<<tiles_of(l, l.pixels()), THREADS>>>(w.out.data(), columns, pitch, a, l);
}

void run_implicit_plain(Work& w) {
  const float* const a = packed(w, w.filter.data());
  implicit_plain<<<tiles_of(w.layer, w.layer.pixels()), THREADS>>>(w.out.data(), w.in.data(), a,
                                                                   w.layer);
}

void run_implicit(Work& w) {
  const float* const a = packed(w, w.filter.data());
  implicit<<<tiles_of(w.layer, w.layer.pixels()), THREADS>>>(w.out.data(), w.in.data(), a,
                                                             w.taps.data(), w.layer);
}

void run_implicit_nhwc(Work& w) {
  const float* const a = packed(w, w.filter_nhwc.data());
  implicit_nhwc<<<tiles_of(w.layer, w.layer.pixels()), THREADS>>>(w.out.data(), w.in_nhwc.data(), a,
                                                                  w.taps_nhwc.data(), w.layer);
}

void run_pointwise(Work& w) {
  const float* const a = packed(w, w.filter.data());
  pointwise<<<tiles_of(w.layer, w.layer.pixels()), THREADS>>>(w.out.data(), w.in.data(), a,
                                                              w.layer);
}

int part_of(const Layer& l) {
  return tiles_of_part(tiles_of(l, l.pixels()).x, k_tiles(l.terms()), 3);
}
int parts_of(const Layer& l) { return lab::ceil_div(k_tiles(l.terms()), part_of(l)); }

void run_split(Work& w) {
  const Layer& l = w.layer;
  const float* const a = packed(w, w.filter.data());
  float* const parts = w.scratch.data() + packed_size(l);
  const size_t pitch = pitch_of(l.pixels());
  dim3 grid = tiles_of(l, l.pixels());
  grid.z = static_cast<unsigned>(parts_of(l));
  split<<<grid, THREADS>>>(parts, pitch, part_of(l), w.in.data(), a, w.taps.data(), l);
  add_parts<<<dim3(blocks_for(l.pixels(), 128), l.k), 128>>>(w.out.data(), parts, parts_of(l),
                                                             pitch, l);
}

template <int M>
size_t winograd_size(const Layer& l) {
  const size_t filters = size_t(round_up(l.c, BK)) * round_up(l.k, BM);
  const size_t results = size_t(l.k) * lab::ceil_div(k_tiles(l.c), winograd_part<M>(l));
  const size_t elements = size_t(M + l.r - 1) * (M + l.r - 1);
  return elements * (filters + (l.c + results) * pitch_of(Tiling<M>(l).count()));
}

template <int M>
void run_winograd(Work& w) {
  const auto of_layer = w.layer.r == 5 ? winograd<M, 5, false> : winograd<M, 3, false>;
  of_layer(w.out.data(), w.in.data(), w.filter.data(), nullptr, w.scratch.data(), w.layer);
}

size_t mixed_size(const Layer& l) {
  const size_t filters = size_t(round_up(l.c, BK)) * round_up(l.k, BM);
  const size_t results = size_t(l.k) * lab::ceil_div(k_tiles(l.c), mixed_part(l));
  return 36 * (filters + (l.c + results) * pitch_of(Mixed(l).count()));
}

void run_winograd_mixed(Work& w) {
  winograd_mixed(w.out.data(), w.in.data(), w.filter.data(), w.scratch.data(), w.layer);
}

/// Results of a 2 x 2 pool.
size_t pooled_size(const Layer& l) { return size_t(l.n) * l.k * (l.p() / 2) * (l.q() / 2); }

/// Bias, ReLU and pool, each in a kernel of its own.
void three_kernels(float* out, float* sums, const float* bias, const Layer& l) {
  const int each = l.p() * l.q();
  add_bias<<<blocks_for(l.outputs(), 256), 256>>>(sums, bias, l.k, each, l.outputs());
  relu<<<blocks_for(l.outputs(), 256), 256>>>(sums, l.outputs());
  max_pool<<<blocks_for(pooled_size(l), 256), 256>>>(out, sums, l.p(), l.q(), pooled_size(l));
}

/// The same behind `winograd<4>`.
void winograd_and_three(float* out, const float* in, const float* filter, const float* bias,
                        float* scratch, const Layer& l) {
  float* const sums = scratch + winograd_size<4>(l);
  winograd<4, 3, false>(sums, in, filter, nullptr, scratch, l);
  three_kernels(out, sums, bias, l);
}

void run_apart(Work& w) {
  winograd_and_three(w.pooled.data(), w.in.data(), w.filter.data(), w.bias.data(), w.scratch.data(),
                     w.layer);
}
void run_fused(Work& w) {
  winograd<4, 3, true>(w.pooled.data(), w.in.data(), w.filter.data(), w.bias.data(),
                       w.scratch.data(), w.layer);
}
void run_fused_implicit(Work& w) {
  const Layer& l = w.layer;
  const float* const a = packed(w, w.filter.data());
  pooled<<<tiles_of(l, 4 * pooled_size(l) / l.k), THREADS>>>(w.pooled.data(), w.in.data(), a,
                                                             w.taps.data(), w.bias.data(), l);
}

// Why a rung cannot take a layer; empty where it can.
std::string takes_all(const Layer&) { return ""; }
std::string takes_one_group(const Layer& l) { return l.groups == 1 ? "" : "takes one group"; }
std::string takes_padding(const Layer& l) {
  return l.groups == 1 && l.dilation == 1 && l.pad > 0
             ? ""
             : "shows it with padding, one group and no dilation";
}
std::string takes_1x1(const Layer& l) {
  const bool can = l.r == 1 && l.s == 1 && l.stride == 1 && l.pad == 0 && l.groups == 1;
  return can && l.h * l.w % 4 == 0
             ? ""
             : "takes 1 x 1, stride 1, no padding, one group, and H W of a multiple of 4";
}
bool is_plain(const Layer& l) { return l.stride == 1 && l.dilation == 1 && l.groups == 1; }
std::string takes_3x3(const Layer& l) {
  const bool can = l.r == 3 && l.s == 3 && is_plain(l);
  return can ? "" : "takes 3 x 3, stride 1, no dilation and one group";
}
std::string takes_3x3_and_5x5(const Layer& l) {
  const bool can = (l.r == 3 || l.r == 5) && l.s == l.r && is_plain(l);
  return can ? "" : "takes 3 x 3 and 5 x 5, stride 1, no dilation and one group";
}
std::string takes_pool(const Layer& l) {
  return l.p() < 2 || l.q() < 2 ? "takes results of 2 x 2 and more" : takes_3x3(l);
}

size_t for_packed(const Layer& l) { return packed_size(l); }

/// What this file launches.
const std::vector<Launch> LAUNCHES = {
    {"naive", "", "one56 c128", run_naive, takes_all},
    {"no_padding", "", "one14", run_no_padding, takes_padding, nullptr, Result::mistake},
    {"im2col", "", "c128", run_im2col, takes_one_group,
     [](const Layer& l) { return packed_size(l) + l.terms() * pitch_of(l.pixels()); }},
    {"implicit_plain", "", "c128", run_implicit_plain, takes_all, for_packed},
    {"implicit", "", "c64 c128 c256 c512 large down up first one56 one14 five", run_implicit,
     takes_all, for_packed},
    {"implicit_nhwc", "", "c128", run_implicit_nhwc, takes_one_group, for_packed, Result::nhwc},
    {"pointwise", "", "down up", run_pointwise, takes_1x1, for_packed},
    {"split", "", "one56 one14", run_split, takes_one_group,
     [](const Layer& l) { return packed_size(l) + parts_of(l) * l.k * pitch_of(l.pixels()); }},
    {"winograd", "tile=2", "c64 c128 c256 c512 large one56 one14 five", run_winograd<2>,
     takes_3x3_and_5x5, winograd_size<2>},
    {"winograd", "tile=4", "c64 c128 c256 c512 large one56 one14 five", run_winograd<4>,
     takes_3x3_and_5x5, winograd_size<4>, Result::sums, WINOGRAD_ERROR},
    {"winograd", "tile=4+3", "c256 c512 one14", run_winograd_mixed, takes_3x3, mixed_size,
     Result::sums, WINOGRAD_ERROR},
    {"pooled", "kernels=apart", "large", run_apart, takes_pool,
     [](const Layer& l) { return winograd_size<4>(l) + l.outputs(); }, Result::pooled,
     WINOGRAD_ERROR},
    {"pooled", "kernels=fused", "large", run_fused, takes_pool, winograd_size<4>, Result::pooled,
     WINOGRAD_ERROR},
    {"pooled", "kernels=implicit", "large", run_fused_implicit, takes_pool, for_packed,
     Result::pooled}};

}  // namespace
// [/hide]

// ### Three layers
//
// A small network: images with 3 channels of 224 x 224 pixels, three layers with 64, 128 and 256 filters of 3 x 3, each
// with bias, ReLU and pool.
//
//? network_gain: By what factor is the network faster with bias, ReLU and pool in the last kernel of each layer?
//? answer: ms("network/kernels=apart") / ms("network/kernels=fused")
//? unit: times
//? near: 20 %
//

/// The layers of a network one after the other; where fused, bias, ReLU and pool are done by the
/// last kernel of each.
void network(const std::vector<Step>& steps, float* scratch, bool fused) {
  for (const Step& step : steps) {
    const auto run = fused ? winograd<4, 3, true> : winograd_and_three;
    run(step.out->data(), step.in, step.filter->data(), step.bias->data(), scratch, step.layer);
  }
}

// Layer by layer with kernels apart it takes 1.6 ms, fused 0.83 ms. Nine launches are left of eighteen.
//= 1.6 ms: ms("network/kernels=apart")
//= 0.83 ms: ms("network/kernels=fused")
//

// [hide] What is added to the ladder
namespace {

/// Floats that `network` needs.
size_t network_size(const std::vector<Step>& steps) {
  size_t most = 0;
  for (const Step& step : steps)
    most = std::max(most, winograd_size<4>(step.layer) + step.layer.outputs());
  return most;
}

/// Adds the network, with kernels apart and fused.
void add_network(lab::Ladder& ladder, int image) {
  if (!ladder.wants("network")) return;
  const std::vector<Step> steps = network_for(image, ladder.seed());
  lab::DeviceBuffer<float> scratch(network_size(steps), "scratch");
  const lab::Problem problem(ladder, rung_of(steps));
  problem.add("network", "kernels=apart", [&] { network(steps, scratch.data(), false); });
  problem.add("network", "kernels=fused", [&] { network(steps, scratch.data(), true); });
}

/// Whether a rung is to run for a layer.
bool is_wanted(lab::Ladder& ladder, const std::string& layer, const std::vector<Launch>& launches) {
  return (is_among(layer, "one56") && ladder.wants("on_cpu")) ||
         std::any_of(launches.begin(), launches.end(), [&](const Launch& launch) {
           return is_among(layer, launch.layers) && ladder.wants(launch.rung);
         });
}

/// Adds what is run for one layer.
void add_layer(lab::Ladder& ladder, Work& work, const std::vector<Launch>& launches,
               std::set<std::string>& skipped) {
  if (is_among(work.name, "one56") && ladder.wants("on_cpu")) {
    std::vector<float> out(work.layer.outputs());
    ladder.add(work.rung_on_host({"on_cpu", "", "one56", nullptr, takes_all}, out, on_cpu));
  }
  for (const Launch& launch : launches) {
    if (!is_among(work.name, launch.layers) || !ladder.wants(launch.rung)) continue;
    if (const std::string reason = launch.refuses(work.layer); !reason.empty()) {
      if (skipped.insert(launch.rung).second) ladder.skip(launch.rung, reason);
    } else if (launch.result == Result::mistake) {
      ladder.demonstrate(launch.rung, [&] { launch.run(work); }, {&work.out});
    } else {
      work.make_room(launch);
      ladder.add(work.rung(launch));
    }
  }
}

}  // namespace
// [/hide]

int main(int argc, char** argv) {
  std::optional<Layer> given;
  const lab::OwnOption layer{"layer", LAYER_FORM, "this layer instead of those of the chapter",
                             [&](const std::string& text) { given = parse_layer(text); }};
  return lab::run(argc, argv,
                  [&](lab::Ladder& ladder, size_t image) {
                    ladder.require(image <= 512, "an image has at most 512 x 512 pixels here");
                    const int side = static_cast<int>(image);
                    std::set<std::string> skipped;
                    Chosen chosen{ladder, given
                                              ? std::vector{std::pair{std::string("given"), *given}}
                                              : layers_for(side)};
                    std::vector<Launch> launches = LAUNCHES;
                    lab::add_others(launches);
                    for (const auto& [name, layer] : chosen.layers) {
                      if (!is_wanted(ladder, name, launches)) continue;
                      Work work(layer, name, ladder.seed(), BK);
                      add_layer(ladder, work, launches, skipped);
                    }
                    lab::add_others(chosen);
                    if (given) {
                      ladder.skip("network", "has layers of its own");
                    } else {
                      add_network(ladder, side);
                    }
                  },
                  {layer});
}

// ## 8. Which for which layer
//
// | layer | rung | as fast as cuDNN's best |
// |---|---|--:|
// | 3 x 3, many images | `winograd`, tiles of 4 | 1.0 to 1.2 times |
// | 1 x 1 | `pointwise` | 1.4 to 1.5 times |
// | few channels, stride | `implicit` | 1.8 times |
// | one image | `winograd`, tiles of 2 | 1.5 to 2.6 times |
// | 5 x 5 | `fourier` | 1.05 times |
//= 1.0 to 1.2 times: (min(ratio("winograd/layer=c64,tile=4"), ratio("winograd/layer=c128,tile=4"),
//=   ratio("winograd/layer=c256,tile=4"), ratio("winograd/layer=c512,tile=4"), ratio("winograd/layer=large,tile=4")),
//=   max(ratio("winograd/layer=c64,tile=4"), ratio("winograd/layer=c128,tile=4"), ratio("winograd/layer=c256,tile=4"),
//=   ratio("winograd/layer=c512,tile=4"), ratio("winograd/layer=large,tile=4")))
//= 1.4 to 1.5 times: (ratio("pointwise/layer=up"), ratio("pointwise/layer=down"))
//= 1.8 times: ratio("implicit/layer=first")
//= 1.5 to 2.6 times: (ratio("winograd/layer=one56,tile=2"), ratio("winograd/layer=one14,tile=2"))
//= 1.05 times: ratio("fourier/layer=five")
//
// The 1.0 is that of `c512`, where cuDNN has Winograd as well and is 0.9 % faster. The geometric mean of the eleven layers is 1.34.
//= 0.9 % faster: 100 * (1 - ratio("winograd/layer=c512,tile=4"))
//= is 1.34: (ratio("winograd/layer=c64,tile=4") * ratio("winograd/layer=c128,tile=4") * ratio("winograd/layer=c256,tile=4") *
//=   ratio("winograd/layer=c512,tile=4") * ratio("winograd/layer=large,tile=4") * ratio("pointwise/layer=down") *
//=   ratio("pointwise/layer=up") * ratio("implicit/layer=first") * ratio("winograd/layer=one56,tile=2") *
//=   ratio("winograd/layer=one14,tile=2") * ratio("fourier/layer=five")) ** (1 / 11)
//
// For `five` cuDNN transforms tiles of 32 x 32 pixels by an FFT, as `fourier` does. F(4 x 4) of Winograd's transforms reaches 0.68 of it.
//= reaches 0.68: ratio("winograd/layer=five,tile=4")
//
// The largest saving is another network. A *depthwise* layer has one filter of 3 x 3 for each channel (`groups` = C = K), and a layer of
// 1 x 1 behind it mixes the channels. For each pixel and channel that takes 9 + K multiplications instead of 9 K, 0.13 of them for 64
// filters (Howard and others, "MobileNets", 2017). It is another function; training has to show whether it serves as well.
//= 0.13 of: (9 + 64) / (9 * 64)
//
// ## What to remember
//
// - A convolution is a product: filters times windows. Store the windows and they take nine times the memory of the images.
// - In an implicit product, what depends on the column stays in a register, and what depends on the row comes from a table.
// - A 1 x 1 layer is a product as it stands. With one image, divide the sum.
// - Winograd trades multiplications for additions, memory traffic and accuracy. F(2 x 2) costs no accuracy; with F(4 x 4) the
//   largest error is 0.5 to 3.7 times that of the direct sum.
// - What comes after the layer belongs in its last kernel, while the results are in registers.
//= 0.5 to 3.7 times: (error("winograd/layer=one14,tile=4") / error("implicit/layer=one14"),
//=   error("winograd/layer=large,tile=4") / error("implicit/layer=large"))

// ## Possibilities for extension
//
// 1. Let the sink of `implicit` add bias and ReLU without a pool. What does it save for `c64`?
// 2. Cut `large` into pieces of a few images, so that what Winograd's kernels hand over stays in L2. For which size of a piece does it
//    pay? (The notes have an answer.)
// 3. Derive F(6, 5) with 3/2 and -3/2 as two more points, for `five`. How many multiplications does a result take, and how large is the error?
//    (The notes have an answer.)
// 4. Give `split` the filters as they arrive, without `pack`: eight lanes copy eight terms of a filter. What does the launch that is saved bring
//    for `one56`?
