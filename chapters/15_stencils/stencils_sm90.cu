// ## Planes by the TMA (second reading)
//
// The rung `far_tma` of section 5. One warp of a block asks for planes, as far ahead as the ring in shared memory has
// places; the other warps compute. A box of the {term}`tensor map` is a tile with its halo, four cells wide on each side.
// Where it sticks out of the grid, the TMA writes zeros: no index has to be moved into the array, and no thread computes
// an address.
//
// A plane is in shared memory only once, when it comes. It adds to nine sums, for the planes from four before to four
// behind, which are in registers. The oldest is then complete.

#include <cuda.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cuda/ptx>

#include "lab/lab.h"
#include "stencils.h"

namespace ptx = cuda::ptx;

namespace {

constexpr int WARPS = 23, STAGES = 4;                      // that compute; places in the ring
constexpr int HEIGHT = WARPS + 2 * REACH, WIDTH = 32 + 2;  // of a box, in rows and float4s
constexpr unsigned BOX_BYTES = HEIGHT * WIDTH * sizeof(float4);
constexpr unsigned PLACE =
    (BOX_BYTES + 127) / 128 * 128;  // bytes: the TMA writes to multiples of 128

/// Waits for the phase of a barrier with this parity to end.
__device__ void wait(std::uint64_t* barrier, unsigned parity) {
  while (!ptx::mbarrier_try_wait_parity(barrier, parity)) {
  }
}

}  // namespace

/// A step of the 25 points, as `far_naive`.
///
/// @param map  the tensor map of in, boxes of 4 * WIDTH cells, HEIGHT rows and one plane
///
/// Launch: blocks of 32 * WARPS + 32 threads with STAGES * PLACE bytes; in x one for each 128 cells, in y for each WARPS
/// rows, in z for each `depth` planes.
/// Requires: rows of a multiple of 16 bytes.
__global__ void __launch_bounds__(32 * WARPS + 32)
    far_tma(float* __restrict__ out, const float* __restrict__ in,
            const __grid_constant__ CUtensorMap map, Box box, int depth) {
  extern __shared__ __align__(128) unsigned char ring[];  // (STAGES, HEIGHT, WIDTH) float4s
  __shared__ std::uint64_t full[STAGES], empty[STAGES];
  const int t = threadIdx.x, lane = t % 32, warp = t / 32;
  const int first = blockIdx.z * depth, last = min(box.planes, first + depth);
  if (t == 0) {
    for (int s = 0; s < STAGES; ++s) {
      ptx::mbarrier_init(&full[s], 1);
      ptx::mbarrier_init(&empty[s], WARPS);
    }
    ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
  }
  __syncthreads();  // the barriers exist

  if (warp == WARPS) {  // asks
    if (lane != 0) return;
    for (int z = first - REACH, k = 0; z < last + REACH; ++z, ++k) {
      const int s = k % STAGES;
      if (k >= STAGES) wait(&empty[s], (k / STAGES - 1) % 2);
      ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &full[s],
                                     std::uint32_t{BOX_BYTES});
      const std::int32_t corner[3] = {static_cast<std::int32_t>(blockIdx.x * 128) - 4,
                                      static_cast<std::int32_t>(blockIdx.y * WARPS) - REACH, z};
      ptx::cp_async_bulk_tensor(ptx::space_cluster, ptx::space_global, ring + s * PLACE, &map,
                                corner, &full[s]);
    }
    return;
  }

  const int x = blockIdx.x * 128 + lane * 4, y = blockIdx.y * WARPS + warp, cols = box.cols;
  const bool there = x < cols && y < box.rows;
  const bool ends = x < REACH || x + 3 >= cols - REACH || box.at_edge(REACH, y, REACH);
  std::size_t i = box.row(first, y) + x;  // of the result
  float4 sum[2 * REACH];                  // of planes z - REACH to z + REACH - 1
#pragma unroll
  for (int d = 0; d < 2 * REACH; ++d) sum[d] = make_float4(0, 0, 0, 0);
  int s = 0;
  unsigned parity = 0;
  for (int z = first - REACH; z < last + REACH; ++z) {
    wait(&full[s], parity);
    const float4* const tile =
        reinterpret_cast<const float4*>(ring + s * PLACE) + warp * WIDTH + lane + 1;
    float4 column[2 * REACH + 1];
#pragma unroll
    for (int j = 0; j <= 2 * REACH; ++j) column[j] = tile[j * WIDTH];
    const float4 left = tile[REACH * WIDTH - 1], right = tile[REACH * WIDTH + 1];
    const float4 centre = column[REACH];

    float4 next =
        fma4(far_weight(REACH), centre, sum[0]);  // of plane z - REACH: the last that it needs
#pragma unroll
    for (int d = REACH - 1; d >= 1; --d) {
      sum[REACH - 1 - d] = fma4(far_weight(d), centre, sum[REACH - d]);
    }
    sum[REACH - 1] = far_in_plane(sum[REACH], column, left, right);
#pragma unroll
    for (int d = 1; d < REACH; ++d) {
      sum[REACH + d - 1] = fma4(far_weight(d), centre, sum[REACH + d]);
    }
    sum[2 * REACH - 1] = fma4(far_weight(REACH), centre, make_float4(0, 0, 0, 0));

    const int done = z - REACH;
    if (first <= done && there) {
      const bool layer = done < REACH || done >= box.planes - REACH;
      if (ends || layer) {
        const float4 now = *reinterpret_cast<const float4*>(in + i);
        next = box.at_edge(done, y, REACH) ? now : keep_ends(next, now, x, cols, REACH);
      }
      *reinterpret_cast<float4*>(out + i) = next;
      i += box.plane();
    }
    __syncwarp();  // all lanes have read
    if (lane == 0) ptx::mbarrier_arrive(&empty[s]);
    if (++s == STAGES) s = 0, parity ^= 1;
  }
}

// ### The next tile by the TMA
//
// A block of `filter_tiled` waits for its tile, computes, and ends; only other blocks of the SM have copies on their way meanwhile. The blocks of
// `filter_stay` stay: as many as fit on the GPU take tile after tile, and while one is computed the TMA fetches the next two. The zeros
// beyond the edge come with the tile.
//
//? stay: How many times as fast as `filter_tiled` is that for 7 x 7?
//? answer: ms("filter_tiled/size=7") / ms("filter_stay/size=7")
//? unit: times
//? near: 10 %

namespace {

constexpr int RADIUS = 3, SIZE = 2 * RADIUS + 1;     // of the filter
constexpr int ROWS = 6, BAND_WARPS = 8, PLACES = 3;  // rows a thread, warps, tiles in the ring
constexpr int BAND = ROWS * BAND_WARPS;              // rows of a tile's results
constexpr int TILE_COLS = 128 + 2 * 4, TILE_ROWS = BAND + 2 * RADIUS;
constexpr unsigned TILE_BYTES = TILE_ROWS * TILE_COLS * sizeof(float);
constexpr unsigned TILE_PLACE = (TILE_BYTES + 127) / 128 * 128;

}  // namespace

/// All weights, row by row. As a parameter of a kernel they are in a constant bank.
struct Weights {
  float of[7 * 7];
};

/// A filter of 7 x 7, with zeros beyond the edge of the image.
///
/// @param map  the tensor map of the image, boxes of TILE_COLS x TILE_ROWS pixels
/// @param across, tiles  tiles of 128 x BAND results side by side, and in all
///
/// Launch: any number of blocks of 32 * BAND_WARPS threads, with PLACES * TILE_PLACE bytes.
/// Requires: rows of a multiple of 16 bytes.
__global__ void __launch_bounds__(32 * BAND_WARPS)
    filter_stay(float* __restrict__ out, const __grid_constant__ CUtensorMap map, Box box,
                int across, int tiles, const __grid_constant__ Weights weights) {
  extern __shared__ __align__(128) unsigned char ring[];  // (PLACES, TILE_ROWS, TILE_COLS) floats
  __shared__ std::uint64_t full[PLACES];
  const int t = threadIdx.x, lane = t % 32, first = t / 32 * ROWS, stride = gridDim.x;
  const auto request = [&](int tile, int s) {
    if (tile >= tiles) return;
    ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &full[s],
                                   std::uint32_t{TILE_BYTES});
    const std::int32_t corner[3] = {tile % across * 128 - 4, tile / across * BAND - RADIUS, 0};
    ptx::cp_async_bulk_tensor(ptx::space_cluster, ptx::space_global, ring + s * TILE_PLACE, &map,
                              corner, &full[s]);
  };
  if (t == 0) {
    for (int s = 0; s < PLACES; ++s) ptx::mbarrier_init(&full[s], 1);
    ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
    for (int s = 0; s < PLACES; ++s) request(blockIdx.x + s * stride, s);
  }
  __syncthreads();  // the barriers exist

  int s = 0;
  unsigned parity = 0;
  for (int tile = blockIdx.x; tile < tiles; tile += stride) {
    wait(&full[s], parity);
    const float* const from =
        reinterpret_cast<const float*>(ring + s * TILE_PLACE) + first * TILE_COLS + 4 * lane;
    float4 sum[ROWS];
#pragma unroll
    for (int r = 0; r < ROWS; ++r) sum[r] = make_float4(0, 0, 0, 0);
#pragma unroll
    for (int q = 0; q < ROWS + 2 * RADIUS; ++q) {
      float window[12];
#pragma unroll
      for (int h = 0; h < 3; ++h) {
        reinterpret_cast<float4*>(window)[h] =
            reinterpret_cast<const float4*>(from + q * TILE_COLS)[h];
      }
#pragma unroll
      for (int r = 0; r < ROWS; ++r) {
        const int i = q - r;  // row of the filter
        if (i < 0 || i >= SIZE) continue;
#pragma unroll
        for (int j = 0; j < SIZE; ++j) {
          const float4 pixels =
              make_float4(window[1 + j], window[2 + j], window[3 + j], window[4 + j]);
          sum[r] = fma4(weights.of[i * SIZE + j], pixels, sum[r]);
        }
      }
    }
    __syncthreads();  // the tile has been read
    if (t == 0) request(tile + PLACES * stride, s);
    const int x = tile % across * 128 + 4 * lane, y = tile / across * BAND + first;
#pragma unroll
    for (int r = 0; r < ROWS; ++r) {
      if (y + r < box.rows && x < box.cols)
        __stcs(reinterpret_cast<float4*>(out + box.row(0, y + r) + x), sum[r]);
    }
    if (++s == PLACES) s = 0, parity ^= 1;
  }
}

// 1.17 times as fast as `filter_tiled`, 0.82 of the copy. A trial of this kernel without its arithmetic, with two tiles in the ring,
// reached 0.85: with such tiles a filter has little left to gain.
//= 1.17 times: ms("filter_tiled/size=7") / ms("filter_stay/size=7")
//= 0.82 of: ratio("filter_stay/size=7")
//= reached 0.85: 0.1291 / 0.1522

namespace {

/// The tensor map of a grid for boxes of `width` cells, `height` rows and one plane; zeros beside it.
///
/// The function that makes it belongs to the driver; asking the runtime for its address spares the program a second
/// library.
CUtensorMap tensor_map(const float* grid, Box box, int width, int height) {
  void* entry = nullptr;
  cudaDriverEntryPointQueryResult found;
  CUDA_CHECK(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &entry, 12000,
                                              cudaEnableDefault, &found));
  CUDA_CHECK(found == cudaDriverEntryPointSuccess ? cudaSuccess : cudaErrorSymbolNotFound);
  const cuuint64_t size[] = {static_cast<cuuint64_t>(box.cols), static_cast<cuuint64_t>(box.rows),
                             static_cast<cuuint64_t>(box.planes)};
  const cuuint64_t pitch[] = {box.cols * sizeof(float), box.plane() * sizeof(float)};
  const cuuint32_t extents[] = {static_cast<cuuint32_t>(width), static_cast<cuuint32_t>(height), 1};
  const cuuint32_t steps[] = {1, 1, 1};
  CUtensorMap map;
  const CUresult made = reinterpret_cast<decltype(&cuTensorMapEncodeTiled)>(entry)(
      &map, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 3, const_cast<float*>(grid), size, pitch, extents,
      steps, CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE,
      CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  CUDA_CHECK(made == CUDA_SUCCESS ? cudaSuccess : cudaErrorInvalidValue);
  return map;
}

/// Launches `far_tma`.
void planes_by_tma(float* out, const float* in, Box box) {
  CUDA_CHECK(
      cudaFuncSetAttribute(far_tma, cudaFuncAttributeMaxDynamicSharedMemorySize, STAGES * PLACE));
  dim3 grid = tiles_of(box, 128, WARPS);
  const int depth =
      even_depth(std::size_t{grid.x} * grid.y, lab::multiprocessors(), box.planes, 2 * REACH);
  grid.z = static_cast<unsigned>(lab::ceil_div(box.planes, depth));
  far_tma<<<grid, 32 * WARPS + 32, STAGES * PLACE>>>(
      out, in, tensor_map(in, box, 4 * WIDTH, HEIGHT), box, depth);
}

/// Launches `filter_stay`.
void tiles_by_tma(float* out, const float* in, Box box) {
  constexpr int bytes = PLACES * TILE_PLACE, threads = 32 * BAND_WARPS;
  CUDA_CHECK(cudaFuncSetAttribute(filter_stay, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
  int blocks = 0;  // of an SM
  CUDA_CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, filter_stay, threads, bytes));
  Weights weights;
  const Taps taps = bell_of(RADIUS);
  for (int k = 0; k < SIZE * SIZE; ++k) weights.of[k] = weight_of(taps, SIZE, k);
  const dim3 grid = tiles_of(box, 128, BAND);
  const int tiles = static_cast<int>(grid.x * grid.y);
  const int most = blocks * static_cast<int>(lab::multiprocessors());
  filter_stay<<<static_cast<unsigned>(std::min(tiles, most)), threads, bytes>>>(
      out, tensor_map(in, box, TILE_COLS, TILE_ROWS), box, static_cast<int>(grid.x), tiles,
      weights);
}

/// Whether the TMA cannot read such a grid.
const char* no_whole_chunks(Box box) {
  return box.cols % 4 == 0 ? nullptr : "the TMA needs rows of a multiple of 16 bytes";
}

const lab::Rungs here([](Launches& launches) {
  launches.far.push_back({"far_tma", "", 1, planes_by_tma, no_whole_chunks});
  launches.filters.push_back({"filter_stay", "", 1, tiles_by_tma, no_whole_chunks});
});

}  // namespace
