// ## The TMA transposes no tile, but it can swizzle one
//
// The rung `tma` of section 9. Its blocks are {term}`persistent <persistent block>`: each works through many tiles. One warp asks for tiles, as far
// ahead as there are stages; the other eight warps transpose them. A {term}`tensor map` tells the TMA where the matrix
// lies and how large its boxes are; what sticks out of the matrix is zero when it is loaded and is not stored.
//
// A {term}`mbarrier` in shared memory says that a stage is full: the TMA itself counts down its bytes. A second one
// says that the stage has been read, by one arrival from each warp.

#include <cuda.h>
#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <cuda/ptx>

#include "lab/lab.h"
#include "transposed.h"

namespace ptx = cuda::ptx;

namespace {

constexpr unsigned EDGE = 64;  // tiles of EDGE x EDGE floats
constexpr unsigned BOX = 32;   // columns of a box: 128 bytes, what the TMA swizzles
constexpr unsigned TILE_BYTES = EDGE * EDGE * 4, STAGES = 4, TURNING = 256;
constexpr unsigned SHARED_BYTES = (STAGES + 2) * TILE_BYTES + 1024;  // two tiles of out; to align

/// Byte of element (line, word) in boxes of `EDGE` lines of 128 bytes, as the TMA swizzles them: the 16-byte chunks of
/// a line change places by the line's number mod 8.
__device__ unsigned swizzled_byte(unsigned line, unsigned word) {
  const unsigned chunk = word % BOX / 4 ^ line % 8;
  return word / BOX * (EDGE * 128) + line * 128 + chunk * 16 + word % 4 * 4;
}

/// Waits for the phase of a barrier with this parity to end.
__device__ void wait(std::uint64_t* barrier, unsigned parity) {
  while (!ptx::mbarrier_try_wait_parity(barrier, parity)) {
  }
}

}  // namespace

/// out(col, row) = in(row, col), with loads and stores by the TMA.
///
/// @param from  the tensor map of in (rows, cols), boxes of EDGE rows and BOX columns
/// @param to    that of out (cols, rows), the same boxes
/// @param tiles  how many there are
/// @param down  tiles in a column of in; consecutive tiles are neighbours in a row of out
///
/// Launch: TURNING + 32 threads, SHARED_BYTES, as many blocks as fit on the GPU.
__global__ void __launch_bounds__(TURNING + 32)
    tma(const __grid_constant__ CUtensorMap from, const __grid_constant__ CUtensorMap to,
        unsigned tiles, unsigned down) {
  extern __shared__ unsigned char memory[];
  __shared__ std::uint64_t full[STAGES], empty[STAGES];
  unsigned char* const in_tiles =
      memory + (1024 - static_cast<unsigned>(__cvta_generic_to_shared(memory)) % 1024) % 1024;
  unsigned char* const out_tiles = in_tiles + STAGES * TILE_BYTES;
  const unsigned t = threadIdx.x, warp = t / 32, lane = t % 32;

  if (t == 0) {
    for (unsigned s = 0; s < STAGES; ++s) {
      ptx::mbarrier_init(&full[s], 1);
      ptx::mbarrier_init(&empty[s], TURNING / 32);
    }
    ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
  }
  __syncthreads();  // the barriers exist

  if (warp == TURNING / 32) {
    if (lane != 0) return;
    unsigned k = 0;
    for (unsigned tile = blockIdx.x; tile < tiles; tile += gridDim.x, ++k) {
      const unsigned s = k % STAGES;
      if (k >= STAGES) wait(&empty[s], (k / STAGES - 1) % 2);
      ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &full[s],
                                     std::uint32_t{TILE_BYTES});
      for (unsigned b = 0; b < EDGE / BOX; ++b) {
        const std::int32_t corner[2] = {static_cast<std::int32_t>(tile / down * EDGE + b * BOX),
                                        static_cast<std::int32_t>(tile % down * EDGE)};
        ptx::cp_async_bulk_tensor(ptx::space_cluster, ptx::space_global,
                                  in_tiles + s * TILE_BYTES + b * EDGE * 128, &from, corner,
                                  &full[s]);
      }
    }
    return;
  }

  unsigned k = 0;
  for (unsigned tile = blockIdx.x; tile < tiles; tile += gridDim.x, ++k) {
    const unsigned s = k % STAGES;
    const unsigned char* const in = in_tiles + s * TILE_BYTES;
    unsigned char* const out = out_tiles + k % 2 * TILE_BYTES;
    wait(&full[s], k / STAGES % 2);

    // A warp takes 32 columns and 4 rows at a time; a lane has one column of them.
    constexpr unsigned PIECES = EDGE * EDGE / (4 * TURNING);
    float piece[PIECES][4];
#pragma unroll
    for (unsigned n = 0; n < PIECES; ++n) {
      const unsigned id = t / 32 + n * (TURNING / 32), col = id / (EDGE / 4) * 32 + lane,
                     row = id % (EDGE / 4) * 4;
#pragma unroll
      for (unsigned j = 0; j < 4; ++j) {
        piece[n][j] = *reinterpret_cast<const float*>(in + swizzled_byte(row + j, col));
      }
    }
    __syncwarp();
    if (lane == 0) ptx::mbarrier_arrive(&empty[s]);

    // The store of two tiles ago has read its tile.
    if (t == 0) ptx::cp_async_bulk_wait_group_read(ptx::n32_t<1>{});
    asm volatile("bar.sync 1, %0;" ::"n"(TURNING) : "memory");
#pragma unroll
    for (unsigned n = 0; n < PIECES; ++n) {
      const unsigned id = t / 32 + n * (TURNING / 32), col = id / (EDGE / 4) * 32 + lane,
                     row = id % (EDGE / 4) * 4;
      *reinterpret_cast<float4*>(out + swizzled_byte(col, row)) =
          make_float4(piece[n][0], piece[n][1], piece[n][2], piece[n][3]);
    }
    ptx::fence_proxy_async(ptx::space_shared);  // the TMA shall see what these threads wrote
    asm volatile("bar.sync 1, %0;" ::"n"(TURNING) : "memory");

    if (t == 0) {
      for (unsigned b = 0; b < EDGE / BOX; ++b) {
        const std::int32_t corner[2] = {static_cast<std::int32_t>(tile % down * EDGE + b * BOX),
                                        static_cast<std::int32_t>(tile / down * EDGE)};
        ptx::cp_async_bulk_tensor(ptx::space_global, ptx::space_shared, &to, corner,
                                  out + b * EDGE * 128);
      }
      ptx::cp_async_bulk_commit_group();
    }
  }
  if (t == 0)
    ptx::cp_async_bulk_wait_group(ptx::n32_t<0>{});  // shared memory is there as long as the block
}

namespace {

/// The tensor map of a matrix (rows, cols) for boxes of EDGE rows and BOX columns, swizzled in 128 bytes.
///
/// The function that makes it belongs to the driver; asking the runtime for its address spares the program a second
/// library.
CUtensorMap tensor_map(const float* matrix, std::size_t rows, std::size_t cols) {
  void* entry = nullptr;
  cudaDriverEntryPointQueryResult found;
  CUDA_CHECK(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &entry, 12000,
                                              cudaEnableDefault, &found));
  CUDA_CHECK(found == cudaDriverEntryPointSuccess ? cudaSuccess : cudaErrorSymbolNotFound);
  const cuuint64_t size[] = {cols, rows}, pitch[] = {cols * sizeof(float)};
  const cuuint32_t box[] = {BOX, EDGE}, steps[] = {1, 1};
  CUtensorMap map;
  const CUresult made = reinterpret_cast<decltype(&cuTensorMapEncodeTiled)>(entry)(
      &map, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 2, const_cast<float*>(matrix), size, pitch, box, steps,
      CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B, CU_TENSOR_MAP_L2_PROMOTION_L2_128B,
      CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  CUDA_CHECK(made == CUDA_SUCCESS ? cudaSuccess : cudaErrorInvalidValue);
  return map;
}

/// The launch of `tma` for a matrix (rows, cols), with as many blocks as fit on the GPU.
auto by_tma(std::size_t rows, std::size_t cols) {
  int fit = 0;
  CUDA_CHECK(cudaFuncSetAttribute(tma, cudaFuncAttributeMaxDynamicSharedMemorySize, SHARED_BYTES));
  CUDA_CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&fit, tma, TURNING + 32, SHARED_BYTES));
  const unsigned blocks = lab::multiprocessors() * static_cast<unsigned>(fit);
  const unsigned down = static_cast<unsigned>(lab::ceil_div(rows, std::size_t{EDGE}));
  const unsigned tiles = down * static_cast<unsigned>(lab::ceil_div(cols, std::size_t{EDGE}));
  return [=](float* out, const float* in) {
    tma<<<blocks, TURNING + 32, SHARED_BYTES>>>(tensor_map(in, rows, cols),
                                                tensor_map(out, cols, rows), tiles, down);
  };
}

void add_tma(lab::Map<float>& map) {
  const auto [rows, cols] = map.ladder().extents<2>();
  map.ladder().skip_unless(rows % 4 == 0 && cols % 4 == 0, {"tma"},
                           "the TMA needs rows of a multiple of 16 bytes");
  map.add("tma", Transposed{map.in, rows, cols}, by_tma(rows, cols));
}

const lab::Rungs here(add_tma);

}  // namespace
