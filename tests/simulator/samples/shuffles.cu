// What a warp does without memory: broadcast, scan, reverse, transpose of 32 x 32 bits, reduce, vote, match.
#include <cstdio>

#define CHECK(condition) \
  if (!(condition)) atomicMax(failed, __LINE__)

constexpr unsigned kAll = 0xffffffffu;

__device__ unsigned lane_by_ptx() {
  unsigned lane;
  asm volatile("mov.u32 %0, %%laneid;" : "=r"(lane));
  return lane;
}

// Row r of a matrix of bits in lane r: five rounds, each of which exchanges halves with a neighbour.
__device__ unsigned transpose_bits(unsigned row) {
  unsigned mask = 0x0000ffffu;
  for (int step = 16; step > 0; step /= 2, mask ^= mask << step) {
    const unsigned other = __shfl_xor_sync(kAll, row, step);
    const bool upper = threadIdx.x & step;
    row =
        upper ? (row & ~mask) | ((other >> step) & mask) : (row & mask) | ((other << step) & ~mask);
  }
  return row;
}

__global__ void shuffles(int* failed) {
  const unsigned lane = threadIdx.x;
  CHECK(lane_by_ptx() == lane);
  CHECK(__shfl_sync(kAll, lane * lane, 5) == 25);
  CHECK(__shfl_sync(kAll, lane, 31 - lane) == 31 - lane);
  CHECK(__shfl_sync(kAll, 0.5 * lane, 3, 8) == 0.5 * (lane / 8 * 8 + 3));
  unsigned sum = lane + 1;
  for (unsigned step = 1; step < 32; step *= 2) {
    const unsigned below = __shfl_up_sync(kAll, sum, step);
    if (lane >= step) sum += below;
  }
  CHECK(sum == (lane + 1) * (lane + 2) / 2);
  float largest = static_cast<float>((lane * 13) % 32);
  for (int step = 16; step > 0; step /= 2)
    largest = fmaxf(largest, __shfl_down_sync(kAll, largest, step));
  CHECK(lane != 0 || largest == 31.0f);

  const unsigned row = lane * 0x9e3779b9u, column = transpose_bits(row);
  unsigned want = 0;
  for (int r = 0; r < 32; ++r) want |= (__shfl_sync(kAll, row, r) >> lane & 1) << r;
  CHECK(column == want);

  CHECK(__ballot_sync(kAll, lane % 3 == 0) == 0x49249249u);
  CHECK(__any_sync(kAll, lane == 7) && !__all_sync(kAll, lane == 7));
  CHECK(__popc(__match_any_sync(kAll, lane / 4)) == 4);
  int same = 0;
  CHECK(__match_all_sync(kAll, 42, &same) == kAll && same);
  CHECK(__reduce_add_sync(kAll, lane) == 496 && __reduce_max_sync(kAll, lane) == 31);
  CHECK(__reduce_or_sync(kAll, 1u << lane) == kAll);
  CHECK(__fns(0x55555555u, 0, 3) == 4 && __brev(1u) == 0x80000000u);
  if (lane < 5) {  // a sum over part of a warp: those who take no part add nothing
    unsigned sum = lane + 1;
    for (int step = 16; step > 0; step /= 2) sum += __shfl_down_sync(0x1f, sum, step);
    if (lane == 0) CHECK(sum == 15);
  }
  if (lane < 10) CHECK(__shfl_sync(0x3ff, lane, 9) == 9);
}

int main() {
  int* failed;
  cudaMallocManaged(&failed, sizeof(int));
  *failed = 0;
  shuffles<<<1, 32>>>(failed);
  const bool right = cudaDeviceSynchronize() == cudaSuccess && *failed == 0;
  std::printf("shuffles: %s (line %d)\n", right ? "ok" : "FAILED", *failed);
  cudaFree(failed);
  return right ? 0 : 1;
}
