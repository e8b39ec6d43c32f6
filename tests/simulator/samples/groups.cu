// Cooperative groups: what each kind of group says of itself, shuffles, votes, reductions, scans, partitions.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>

#include <cstdio>

namespace cg = cooperative_groups;

// Notes the line of the check that failed.
#define CHECK(condition) \
  if (!(condition)) atomicMax(failed, __LINE__)

struct Triple {
  double a, b, c;
};

// One function for groups of every kind.
__device__ int group_sum(cg::thread_group group, int* scratch, int value) {
  const unsigned rank = group.thread_rank();
  for (unsigned half = group.size() / 2; half > 0; half /= 2) {
    scratch[rank] = value;
    group.sync();
    if (rank < half) value += scratch[rank + half];
    group.sync();
  }
  return value;
}

__global__ void check_block(int* failed) {
  __shared__ int scratch[64];
  const cg::thread_block block = cg::this_thread_block();
  const unsigned rank = block.thread_rank();
  CHECK(rank == threadIdx.y * 16 + threadIdx.x && block.size() == 64 && block.num_threads() == 64);
  CHECK(block.group_index().x == blockIdx.x && block.thread_index().y == threadIdx.y);
  CHECK(block.dim_threads().x == 16 && block.dim_threads().y == 4);
  const int sum = group_sum(block, scratch, rank);
  CHECK(rank != 0 || sum == 63 * 32);
  cg::sync(block);
  const auto part = cg::tiled_partition(block, 16);
  CHECK(part.size() == 16 && part.thread_rank() == rank % 16);
  const int ones = group_sum(part, scratch + rank / 16 * 16, 1);
  CHECK(rank % 16 != 0 || ones == 16);
}

__global__ void check_tile(int* failed) {
  const cg::thread_block block = cg::this_thread_block();
  const unsigned rank = block.thread_rank(), first = rank / 8 * 8;
  const cg::thread_block_tile<8> tile = cg::tiled_partition<8>(block);
  CHECK(tile.size() == 8 && tile.thread_rank() == rank % 8);
  CHECK(tile.meta_group_rank() == rank / 8 && tile.meta_group_size() == 8);
  CHECK(tile.shfl(rank, 3) == first + 3);
  CHECK(tile.shfl_up(rank, 1) == (rank % 8 ? rank - 1 : rank));
  CHECK(tile.shfl_down(rank, 2) == (rank % 8 < 6 ? rank + 2 : rank));
  CHECK(tile.shfl_xor(rank, 5) == (rank ^ 5));
  const Triple triple = tile.shfl(Triple{1.0 * rank, 2.0 * rank, 3.0 * rank}, 1);
  CHECK(triple.a == first + 1 && triple.c == 3.0 * (first + 1));

  int same = 0;
  CHECK(tile.any(rank % 8 == 3) && !tile.all(rank % 8 == 3) && tile.ballot(rank % 2) == 0xaa);
  CHECK(tile.match_any(rank % 2) == (rank % 2 ? 0xaau : 0x55u));
  CHECK(tile.match_all(rank / 8, same) == 0xff && same);
  CHECK(tile.match_all(rank, same) == 0 && !same);

  CHECK(cg::reduce(tile, rank, cg::plus<unsigned>()) == 8 * first + 28);
  CHECK(cg::reduce(tile, rank, cg::greater<unsigned>()) == first + 7);
  CHECK(cg::reduce(tile, rank, cg::less<unsigned>()) == first);
  CHECK(cg::reduce(tile, 1u << rank % 8, cg::bit_or<unsigned>()) == 0xff);
  CHECK(cg::reduce(tile, 0.5f, cg::plus<float>()) == 4.0f);
  CHECK(cg::inclusive_scan(tile, 2u) == 2 * (rank % 8 + 1));
  CHECK(cg::exclusive_scan(tile, 2u) == 2 * (rank % 8));
  CHECK(cg::inclusive_scan(tile, rank, cg::greater<unsigned>()) == rank);

  const auto quad = cg::tiled_partition<4>(tile);
  CHECK(quad.meta_group_rank() == rank % 8 / 4 && quad.meta_group_size() == 2);
  CHECK(quad.ballot(rank % 4 == 1) == 2);
  const auto labeled = cg::labeled_partition(tile, rank % 3);
  CHECK(labeled.meta_group_size() == 3 && (labeled.size() == 2 || labeled.size() == 3));
  CHECK(labeled.shfl(rank % 3, 0) == rank % 3);
}

__global__ void check_coalesced(int* failed) {
  const unsigned rank = cg::this_thread_block().thread_rank();
  if (rank % 3 != 0) return;
  const cg::coalesced_group group = cg::coalesced_threads();
  const unsigned size = 11, mine = group.thread_rank();
  const unsigned lowest = rank / 32 ? 33 : 0;
  CHECK(group.size() == size && mine == (rank - lowest) / 3);
  CHECK(group.shfl(rank, 1) == lowest + 3 && group.ballot(mine == 10) == 1u << 10);
  CHECK(group.shfl_down(rank, 1) == (mine + 1 < size ? rank + 3 : rank));
  CHECK(group.shfl_up(rank, 2) == (mine >= 2 ? rank - 6 : rank));
  CHECK(group.any(mine == 4) && !group.all(mine == 4));
  CHECK(cg::reduce(group, 1, cg::plus<int>()) == 11);
  CHECK(cg::inclusive_scan(group, 2u) == 2 * (mine + 1));

  const auto part = cg::tiled_partition(group, 4);
  CHECK(part.size() == (mine < 8 ? 4u : 3u) && part.thread_rank() == mine % 4);
  CHECK(part.meta_group_rank() == mine / 4 && part.meta_group_size() == 3);
  const auto odd_or_even = cg::binary_partition(group, mine % 2);
  CHECK(odd_or_even.size() == (mine % 2 ? 5u : 6u) && odd_or_even.thread_rank() == mine / 2);
  group.sync();
}

int main() {
  int* failed = nullptr;
  cudaMallocManaged(&failed, sizeof(int));
  *failed = 0;
  check_block<<<2, dim3(16, 4)>>>(failed);
  check_tile<<<2, dim3(16, 4)>>>(failed);
  check_coalesced<<<2, 64>>>(failed);
  const cudaError_t error = cudaDeviceSynchronize();
  const bool right = error == cudaSuccess && *failed == 0;
  std::printf("groups: %s (line %d)\n", right ? "ok" : "FAILED", *failed);
  cudaFree(failed);
  return right ? 0 : 1;
}
