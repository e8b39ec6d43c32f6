// ## The instructions, one by one (second reading)
//
// Each kernel here does one thing, and its result is checked by itself: what a warp gets, what arrives and what is multiplied. Sections
// 3 to 8 put them together. The tile of all four is the same: 64 rows of 64 elements of BF16, which are 128 bytes.

#include <cuda.h>
#include <cuda_bf16.h>
#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <cuda/ptx>
#include <utility>

#include "hopper.cuh"
#include "lab/lab.h"
#include "launcher.h"
#include "tensor_cores.h"

namespace {

constexpr int tile_side = 64;  // rows, and columns, of a tile

/// Where element (row, col) of a tile stands in shared memory: its chunk of eight is moved by the swizzle of 128 bytes.
__device__ __forceinline__ int swizzled_at(int row, int col) {
  return row * tile_side + (col / 8 ^ row % 8) * 8 + col % 8;
}

}  // namespace

// `ldmatrix`. Lane `l` says where row `l % 8` of matrix `l / 8` begins. Of each of the four matrices it gets the pair in row `l / 4`
// and columns `2 (l % 4)` and the next one: a fragment of A as `mma.sync` takes it.

/// What each lane gets of the upper left 16 x 16 elements of `in` (64, 64): out (4, 32, 2), matrix by matrix.
///
/// Launch: one block of 32 threads.
__global__ void one_ldmatrix(bf16* out, const bf16* in) {
  __shared__ __align__(128) bf16 tile[tile_side * tile_side];
  const int lane = static_cast<int>(threadIdx.x);
  for (int i = lane; i < tile_side * tile_side; i += 32)
    tile[swizzled_at(i / tile_side, i % tile_side)] = in[i];
  __syncwarp();
  std::uint32_t f[4];
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(f[0]), "=r"(f[1]), "=r"(f[2]), "=r"(f[3])
               : "r"(address_of(tile + swizzled_at(lane % 16, lane / 16 * 8)))
               : "memory");
  for (int i = 0; i < 4; ++i) reinterpret_cast<std::uint32_t*>(out)[i * 32 + lane] = f[i];
}

// `cp.async.bulk.tensor`, and the barrier that counts its bytes. One thread announces 8,192 bytes and asks for the box; all wait for the
// phase with parity 0, the barrier's first. The box hangs over the matrix's edge: what is outside arrives as zeros, and counts.

/// out (64, 64) = the box at (row, col) of the matrix of a map.
///
/// Launch: one block of 128 threads. Requires: a map for boxes of (64, 64), swizzled by 128 bytes.
__global__ void one_box(bf16* out, const __grid_constant__ CUtensorMap map, int row, int col) {
  __shared__ __align__(alignment) bf16 tile[tile_side * tile_side];
  __shared__ std::uint64_t full;
  if (threadIdx.x == 0) {
    ptx::mbarrier_init(&full, 1);
    ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
    ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &full,
                                   std::uint32_t{sizeof tile});
    load_box(tile, map, row, col, &full);
  }
  __syncthreads();  // the barrier is initialized
  wait_for(&full, 0);
  for (int i = static_cast<int>(threadIdx.x); i < tile_side * tile_side; i += 128)
    out[i] = tile[swizzled_at(i / tile_side, i % tile_side)];
}

// `wgmma`, from descriptors. Here threads write the tiles, and the instruction reads through the async proxy: hence the fence, by each
// thread and before the barrier. Then `wgmma.fence`, four instructions of 16 along K, commit, wait.

/// out (64, 8) = a b for a (64, 64) and b (8, 64), both with K along their rows.
///
/// Launch: one block of 128 threads. Requires: compute capability 9.0a.
__global__ void one_wgmma(float* out, const bf16* a, const bf16* b) {
  __shared__ __align__(alignment) bf16 tile_a[tile_side * tile_side], tile_b[8 * tile_side];
  const int t = static_cast<int>(threadIdx.x);
  for (int i = t; i < tile_side * tile_side; i += 128)
    tile_a[swizzled_at(i / tile_side, i % tile_side)] = a[i];
  for (int i = t; i < 8 * tile_side; i += 128)
    tile_b[swizzled_at(i / tile_side, i % tile_side)] = b[i];
  ptx::fence_proxy_async(ptx::space_shared);
  __syncthreads();
  float d[4];
  wgmma_fence();
  for (int k = 0; k < 4; ++k) {
    const std::uint64_t of_a = descriptor(address_of(tile_a) + 32 * k, 16, 1024);
    const std::uint64_t of_b = descriptor(address_of(tile_b) + 32 * k, 16, 1024);
    asm volatile(
        "{\n.reg .pred p;\nsetp.ne.b32 p, %6, 0;\n"
        "wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%0, %1, %2, %3}, %4, %5, p, 1, 1, 0, "
        "0;\n}"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "l"(of_a), "l"(of_b), "r"(k));
  }
  wgmma_commit();
  wgmma_wait<0>();
  for ([[maybe_unused]] float& sum : d)
    asm volatile("" : "+f"(sum)::"memory");  // not before the wait
  for (int e = 0; e < 4; ++e)
    out[(t / 32 * 16 + t % 32 / 4 + e / 2 * 8) * 8 + t % 4 * 2 + e % 2] = d[e];
}

// `stmatrix`, and a box by the TMA on its way out. Each lane has a pair in row `l / 4` of each of four matrices, and says where a row of
// one of them goes. After the fence and the barrier one thread stores the box and waits until it has been read: a
// block that ends before takes the tile with it.

/// Stores 64 x 64 elements, of which element (i, j) is i - j, at (row, col) of the matrix of a map.
///
/// Launch: one block of 128 threads. Requires: as one_box.
__global__ void one_store(const __grid_constant__ CUtensorMap map, int row, int col) {
  __shared__ __align__(alignment) bf16 tile[tile_side * tile_side];
  const int t = static_cast<int>(threadIdx.x), lane = t % 32, first = t / 32 * 16;
  for (int j = 0; j < tile_side; j += 16) {
    const auto two = [&](int down, int right) {  // of the matrix that begins there
      const int value = first + down + lane / 4 - (j + right + lane % 4 * 2);
      return pair(__float2bfloat16(static_cast<float>(value)),
                  __float2bfloat16(static_cast<float>(value - 1)));
    };
    stmatrix4(address_of(tile + swizzled_at(first + lane % 16, j + lane / 16 * 8)), two(0, 0),
              two(8, 0), two(0, 8), two(8, 8));
  }
  ptx::fence_proxy_async(ptx::space_shared);
  __syncthreads();
  if (t != 0) return;
  asm volatile(
      "cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%0, {%1, %2}], [%3];" ::"l"(&map),
      "r"(col), "r"(row), "r"(address_of(tile))
      : "memory");
  asm volatile("cp.async.bulk.commit_group;\ncp.async.bulk.wait_group.read 0;" ::: "memory");
}

// [hide] How they are registered
namespace {

/// The inputs and outputs of the four kernels, and what has to come out.
struct Each {
  static constexpr std::size_t side = tile_side;
  static constexpr int rows = 40,
                       cols = 88;  // of C: the box from (16, 64) on is clipped on two sides

  lab::Input<bf16> a{side * side, lab::RandomValue<bf16>{1}},
      b{8 * side, lab::RandomValue<bf16>{2}};
  lab::DeviceBuffer<bf16> fragments{std::size_t{4} * 32 * 2, "fragments"}, box{side * side, "box"},
      c{std::size_t{rows} * cols, "c"};
  lab::DeviceBuffer<float> sums{side * 8, "sums"};

  lab::Rung ldmatrix() {
    const auto x = a.view();
    const auto fragment = [=] __host__ __device__(std::size_t i) {
      const std::size_t matrix = i / 64, lane = i / 2 % 32;
      return x[(lane / 4 + matrix % 2 * 8) * side + lane % 4 * 2 + i % 2 + matrix / 2 * 8];
    };
    return {.name = "one_ldmatrix",
            .launch = [this] { one_ldmatrix<<<1, 32>>>(fragments.data(), in()); },
            .outputs = {lab::expect(fragments, fragment)},
            .timed = false};
  }

  lab::Rung box_in() {
    const auto x = a.view();
    const auto element = [=] __host__ __device__(std::size_t i) {  // from (8, 16) on
      const std::size_t row = 8 + i / side, col = 16 + i % side;
      return row < side && col < side ? x[row * side + col] : bf16(0.0f);
    };
    const auto launch = [this] {
      one_box<<<1, 128>>>(box.data(), tensor_map(in(), tile_side, tile_side, tile_side, tile_side),
                          8, 16);
    };
    return {.name = "one_box",
            .launch = launch,
            .outputs = {lab::expect(box, element)},
            .timed = false};
  }

  lab::Rung wgmma() {
    const auto x = a.view(), y = b.view();
    const auto sum = [=] __host__ __device__(std::size_t i) {
      double sum = 0;
      for (std::size_t k = 0; k < side; ++k) {
        sum += static_cast<double>(static_cast<float>(x[i / 8 * side + k])) *
               static_cast<double>(static_cast<float>(y[i % 8 * side + k]));
      }
      return sum;
    };
    return {.name = "one_wgmma",
            .launch = [this] { one_wgmma<<<1, 128>>>(sums.data(), in(), std::as_const(b).data()); },
            .outputs = {lab::expect(sums, sum, lab::tolerance_for_sum(side, 0.25))},
            .timed = false};
  }

  lab::Rung store() {
    const auto stored = [] __host__ __device__(std::size_t i) {
      const int row = static_cast<int>(i) / cols, col = static_cast<int>(i) % cols;
      return row >= 16 && col >= 64 ? static_cast<float>(row - 16 - (col - 64)) : 0.0f;
    };
    const auto launch = [this] {
      one_store<<<1, 128>>>(tensor_map<bf16>(c.data(), rows, cols, cols, tile_side), 16, 64);
    };
    return {.name = "one_store",
            .launch = launch,
            .outputs = {lab::expect(c, stored)},
            .prepare = [this] { CUDA_CHECK(cudaMemset(c.data(), 0, c.size_bytes())); },
            .timed = false};
  }

  const bf16* in() const { return a.data(); }
};

void add_each(lab::Ladder& ladder) {
  if (!ladder.wants({"one_ldmatrix", "one_box", "one_wgmma", "one_store"})) return;
  Each each;
  for (const lab::Rung& rung : {each.ldmatrix(), each.box_in(), each.wgmma(), each.store()})
    ladder.add(rung);
}

void add(lab::GemmLadderOf<bf16>& ladder) { ladder.add_with(add_each); }

const lab::Rungs here(add);

}  // namespace
// [/hide]
