// The rungs of chapter 17 for Hopper that need no cluster. They register themselves.

#include <cuda.h>
#include <cuda_bf16.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "eight_bits.h"
#include "hopper.cuh"
#include "lab/lab.h"
#include "launcher.h"
#include "tensor_cores.h"

//? special: `tma_wgmma` has the same tile, the same ring and the same instructions. By how many per cent is
//?   `producer_warp` faster?
//? answer: 100 * (ms("tma_wgmma") / ms("producer_warp") - 1)
//? unit: per cent
//? near: factor 2

/// C = alpha A B + beta C: one thread requests boxes, two warpgroups multiply.
///
/// Launch: a block of 384 threads for each 128 x 256 elements of C; ring_bytes.
/// Requires: as tma_wgmma.
__global__ void __launch_bounds__(specialized_threads, 1)
    producer_warp(Product g, const __grid_constant__ CUtensorMap map_a,
                  const __grid_constant__ CUtensorMap map_b,
                  const __grid_constant__ CUtensorMap map_c) {
  specialized<How{false, false}>(g, map_a, map_b, map_c);
}

// 15 %: 699 TFLOP/s. Two more things are new: the order of the tiles, rows of 16 together, and that a stage is released only
// when the next one has been given to the tensor cores. In a trial that added one after the other, the roles alone made it
// 15 % faster, and neither of the two changed the share of cuBLAS at 4096 by more than 0.02 (the notes have the figures).
//= 15 % faster: 100 * (0.2279 / 0.1981 - 1)
//= 15 %: 100 * (ms("tma_wgmma") / ms("producer_warp") - 1)
//= 699 TFLOP/s: rate("producer_warp") / 1000

// ## 8. The way out
//
// Stores from the registers write half sectors, as in section 5, and here a thread has 64 of them. `stmatrix` is `ldmatrix` the other way: the warpgroup writes
// its sums, rounded, as a swizzled box into shared memory, and one thread has the TMA store it. The TMA clips the box
// where C ends. The stores are ordinary ones, the TMA reads through the async proxy: so each thread fences before the barrier.

/// The same with sums that leave through shared memory.
///
/// Launch: as producer_warp; ring_bytes and c_bytes.
/// Requires: as tma_wgmma, and a map of C for boxes of (64, 64), swizzled by 128 bytes.
__global__ void __launch_bounds__(specialized_threads, 1)
    box_stores(Product g, const __grid_constant__ CUtensorMap map_a,
               const __grid_constant__ CUtensorMap map_b,
               const __grid_constant__ CUtensorMap map_c) {
  specialized<How{true, false}>(g, map_a, map_b, map_c);
}

// ## 9. Blocks that stay (second reading)
//
// As in chapter 12, a {term}`persistent block` takes the next tile as soon as its producer has requested all of this one. So
// the first stages of a tile can arrive while the sums of the last one leave.

/// The same with blocks that compute one tile after the other.
///
/// Launch: as box_stores, as many blocks as there are SMs.
/// Requires: as box_stores.
__global__ void __launch_bounds__(specialized_threads, 1)
    persistent(Product g, const __grid_constant__ CUtensorMap map_a,
               const __grid_constant__ CUtensorMap map_b,
               const __grid_constant__ CUtensorMap map_c) {
  specialized<How{true, true}>(g, map_a, map_b, map_c);
}

// `box_stores` makes 773 TFLOP/s. On the simulator the store requests of threads fall from 825 to 0. Blocks that stay hardly gain:
// `persistent` makes 784, at 2048 and 4001 it is as fast as `box_stores`, and at 4096 x 4097 x 4099 it takes 7.3 % longer, at the
// same clock. Why is not measured.
//= from 825 to 0: (count("producer_warp", "global_store_requests"), count("box_stores", "global_store_requests"))
//= 773 TFLOP/s: rate("box_stores") / 1000
//= makes 784: rate("persistent") / 1000
//= because as fast as `box_stores`: 0.99 < ms("persistent", 2048) / ms("box_stores", 2048) < 1.01 and 0.99 < ms("persistent", 4001) / ms("box_stores", 4001) < 1.01
//= 7.3 % longer: 100 * (ms("persistent", "4096,4097,4099") / ms("box_stores", "4096,4097,4099") - 1)
//= because at the same clock: clock("persistent", "4096,4097,4099") == clock("box_stores", "4096,4097,4099")
//
// ## Rows that the TMA cannot take (second reading)
//
// The rows of a tensor map begin at multiples of 16 bytes, eight elements. A matrix of 4001 columns without a gap has no such
// rows. `copy_rows` copies it to one that has, before the product, and C back after it. A TMA store has another limit: a box that
// ends within 16 bytes overwrites the rest of them. So C takes that way as well where N is not a multiple of eight.
//
//? odd: By which factor is `persistent` faster than cuBLAS at 4001, copies included?
//? answer: ratio("persistent", 4001)
//? near: factor 2

/// Copies a matrix (rows, cols) to one with another distance between its rows.
///
/// Launch: a block of 256 threads for each row.
template <class T>
__global__ void copy_rows(T* to, int ld_to, const T* from, int ld, int cols) {
  const std::size_t row = blockIdx.x;
#pragma unroll 8
  for (int c = static_cast<int>(threadIdx.x); c < cols; c += 256) {
    to[row * ld_to + c] = from[row * ld + c];
  }
}

// 2.5 times. cuBLAS falls to 133 TFLOP/s where rows are not aligned; why was not measured. The copies of A and B
// take a quarter of our time, by a trial; that of C was not measured.
//= 2.5 times: ratio("persistent", 4001)
//= 133 TFLOP/s: rate("cublas", 4001) / 1000

// [hide] How the rungs are launched and registered
namespace {

/// Transposes a matrix (rows, cols).
///
/// Launch: a block of 256 threads for each 32 x 32 elements.
template <class T>
__global__ void transpose(T* to, int ld_to, const T* from, int ld, int rows, int cols) {
  __shared__ T tile[32][33];
  const int x = static_cast<int>(threadIdx.x) % 32, y = static_cast<int>(threadIdx.x) / 32;
  const int row = static_cast<int>(blockIdx.y) * 32, col = static_cast<int>(blockIdx.x) * 32;
  for (int i = y; i < 32; i += 8) {
    if (row + i < rows && col + x < cols)
      tile[i][x] = from[static_cast<std::size_t>(row + i) * ld + col + x];
  }
  __syncthreads();
  for (int i = y; i < 32; i += 8) {
    if (col + i < cols && row + x < rows)
      to[static_cast<std::size_t>(col + i) * ld_to + row + x] = tile[x][i];
  }
}

}  // namespace

// The function that makes a tensor map belongs to the driver; asking the runtime for its address spares the program a second
// library.
template <class T>
CUtensorMap tensor_map(const T* matrix, int rows, int cols, int ld, int height) {
  void* entry = nullptr;
  cudaDriverEntryPointQueryResult found;
  CUDA_CHECK(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &entry, 12000,
                                              cudaEnableDefault, &found));
  CUDA_CHECK(found == cudaDriverEntryPointSuccess ? cudaSuccess : cudaErrorSymbolNotFound);
  const cuuint64_t size[] = {static_cast<cuuint64_t>(cols), static_cast<cuuint64_t>(rows)};
  const cuuint64_t pitch[] = {static_cast<cuuint64_t>(ld) * sizeof(T)};
  const cuuint32_t box[] = {128 / sizeof(T), static_cast<cuuint32_t>(height)};
  const cuuint32_t steps[] = {1, 1};
  CUtensorMap map;
  const CUresult made = reinterpret_cast<decltype(&cuTensorMapEncodeTiled)>(entry)(
      &map,
      std::is_same_v<T, bf16>     ? CU_TENSOR_MAP_DATA_TYPE_BFLOAT16
      : std::is_same_v<T, __half> ? CU_TENSOR_MAP_DATA_TYPE_FLOAT16
      : std::is_same_v<T, E4m3>   ? CU_TENSOR_MAP_DATA_TYPE_UINT8
                                  : CU_TENSOR_MAP_DATA_TYPE_FLOAT32,
      2, const_cast<T*>(matrix), size, pitch, box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE,
      CU_TENSOR_MAP_SWIZZLE_128B, CU_TENSOR_MAP_L2_PROMOTION_L2_256B,
      CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  CUDA_CHECK(made == CUDA_SUCCESS ? cudaSuccess : cudaErrorInvalidValue);
  return map;
}

template <class T>
const T* Launcher<T>::Room::aligned(const T* from, int rows, int cols, int& ld) {
  if (aligned_rows(from, ld)) return from;
  const int ld_from = ld;
  T* const to = of(rows, cols, ld);
  copy_rows<<<static_cast<unsigned>(rows), 256>>>(to, ld, from, ld_from, cols);
  return to;
}

template <class T>
const T* Launcher<T>::Room::transposed(const T* from, int rows, int cols, int& ld) {
  const int ld_from = ld;
  T* const to = of(cols, rows, ld);
  transpose<<<lab::tiles(cols, rows, 32, 32), 256>>>(to, ld, from, ld_from, rows, cols);
  return to;
}

template <class T>
void Launcher<T>::operator()(const Arguments& product, Kernel kernel, How how) {
  Arguments g = product;
  align(g);
  CUtensorMap map_c{};
  // A box that ends within 16 bytes of a row overwrites the rest of them.
  const bool own_c = how.boxes && !(aligned_rows(g.c, g.ldc) && g.n * sizeof(T) % 16 == 0);
  if (own_c) {
    g.c = c_.of(g.m, g.n, g.ldc);
    if (g.beta != 0) copy(g.c, g.ldc, product.c, product.ldc, g);
  }
  if (how.boxes) map_c = tensor_map(g.c, g.m, g.n, g.ldc, box_rows);
  const unsigned shared = ring_bytes + (how.boxes ? c_bytes : 0);
  CUDA_CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                  static_cast<int>(shared)));
  const int clusters = lab::ceil_div(lab::ceil_div(g.m, BM), how.cluster) * lab::ceil_div(g.n, BN);
  int at_once = lab::device_attribute(cudaDevAttrMultiProcessorCount) / how.cluster;
  if (how.fewest) at_once = lab::ceil_div(clusters, lab::ceil_div(clusters, at_once));
  cudaLaunchConfig_t launch{};
  launch.gridDim = static_cast<unsigned>(how.cluster *
                                         (how.persistent ? std::min(clusters, at_once) : clusters));
  launch.blockDim = specialized_threads;
  launch.dynamicSmemBytes = shared;
  cudaLaunchAttribute together{};
  together.id = cudaLaunchAttributeClusterDimension;
  together.val.clusterDim = {static_cast<unsigned>(how.cluster), 1, 1};
  launch.attrs = &together;
  launch.numAttrs = 1;
  CUDA_CHECK(cudaLaunchKernelEx(&launch, kernel, g, tensor_map(g.a, g.m, g.k, g.lda, BM),
                                is_transposed<T>
                                    ? tensor_map(g.b, g.n, g.k, g.ldb, BN / how.cluster)
                                    : tensor_map(g.b, g.k, g.n, g.ldb, BK),
                                map_c));
  if (own_c) copy(product.c, product.ldc, g.c, g.ldc, g);
}

template <class T>
void Launcher<T>::align(Arguments& g) {
  g.a = a_.aligned(g.a, g.m, g.k, g.lda);
  if constexpr (is_transposed<T>)
    g.b = b_.transposed(g.b, g.k, g.n, g.ldb);
  else
    g.b = b_.aligned(g.b, g.k, g.n, g.ldb);
}

template <class T>
void Launcher<T>::copy(T* to, int ld_to, const T* from, int ld, const Arguments& g) {
  copy_rows<<<static_cast<unsigned>(g.m), 256>>>(to, ld_to, from, ld, g.n);
}

template <>
void Launcher<bf16>::simple(Product g) {
  align(g);
  CUDA_CHECK(cudaFuncSetAttribute(tma_wgmma<STAGES>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                  static_cast<int>(ring_bytes)));
  tma_wgmma<STAGES><<<lab::tiles(g.n, g.m, BN, BM), 256, ring_bytes>>>(
      g, tensor_map(g.a, g.m, g.k, g.lda, BM), tensor_map(g.b, g.k, g.n, g.ldb, BK));
}

template CUtensorMap tensor_map(const E4m3*, int, int, int, int);
template class Launcher<bf16>;
template class Launcher<__half>;
template class Launcher<float>;

namespace {

/// Adds the rungs.
void add(lab::GemmLadderOf<bf16>& ladder) {
  Launcher<> launch;
  ladder.add("tma_wgmma", [&](const Product& g) { launch.simple(g); });
  ladder.add("producer_warp", [&](const Product& g) { launch(g, producer_warp, {false, false}); });
  ladder.add("box_stores", [&](const Product& g) { launch(g, box_stores, {true, false}); });
  ladder.add("persistent", [&](const Product& g) { launch(g, persistent, {true, true}); });
}

const lab::Rungs here(add);

}  // namespace
// [/hide]
