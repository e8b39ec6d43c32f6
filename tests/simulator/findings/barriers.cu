// Barriers and warp functions that some threads do not reach, or reach with a wrong mask.
#include <cuda/barrier>

#include "planted.h"

namespace {

constexpr int kBlock = 64;

__global__ void half_a_warp(int* out, bool all) {
  if (all || threadIdx.x % 32 < 16) __syncthreads();  // fault: barrier_in_half_warp
  out[threadIdx.x] = 1;
  __syncthreads();  // fault: barrier_in_half_warp
}

void barrier_in_half_warp(bool fixed) {
  OnDevice<int> out(kBlock);
  half_a_warp<<<1, kBlock>>>(out.data(), fixed);
}

__global__ void first_warp(int* out, bool all) {
  if (all || threadIdx.x < 32) __syncthreads();  // fault: barrier_in_one_warp
  out[threadIdx.x] = 1;
  __syncthreads();  // fault: barrier_in_one_warp
}

void barrier_in_one_warp(bool fixed) {
  OnDevice<int> out(kBlock);
  first_warp<<<1, kBlock>>>(out.data(), fixed);
}

// Threads with nothing to do leave before the barrier. Of whole warps that is harmless on the hardware,
// and of lanes of a warp too since Volta: a warning.
__global__ void guarded_tile(const int* in, int* out, int n, bool stay) {
  __shared__ int tile[kBlock];
  const int i = threadIdx.x;
  if (!stay && i >= n) return;
  if (i < n) tile[i] = in[i];
  __syncthreads();  // fault: leave_before_barrier
  if (i < n) out[i] = tile[n - 1 - i];
}

void leave_before_barrier(bool fixed) {
  OnDevice<int> in(40), out(40);
  guarded_tile<<<1, kBlock>>>(in.data(), out.data(), 40, fixed);
}

// The same by a barrier that some threads pass by, in a kernel whose last line is a call of the library.
__global__ void sum_in_rounds(const int* in, int* out, int n) {
  __shared__ int tile[kBlock];
  const int i = threadIdx.x;
  tile[i] = in[i];
  int sum = 0;
  for (int round = 0; round < 4; ++round) {
    if (i < n) {
      sum += tile[i] * round;
      __syncthreads();  // fault: barrier_passed_by
    }
  }
  atomicAdd(out, sum);
}

void barrier_passed_by(bool fixed) {
  OnDevice<int> in(kBlock), out(1);
  sum_in_rounds<<<1, kBlock>>>(in.data(), out.data(), fixed ? kBlock : 40);
}

__global__ void own_trip_count(int* out, bool same) {
  const unsigned rounds = same ? 2 : 1 + threadIdx.x % 2;
  for (unsigned i = 0; i < rounds; ++i) {
    out[threadIdx.x] += 1;
    __syncthreads();  // fault: barrier_in_uneven_loop
  }
  out[threadIdx.x] += 1;
  __syncthreads();  // fault: barrier_in_uneven_loop
}

void barrier_in_uneven_loop(bool fixed) {
  OnDevice<int> out(kBlock);
  own_trip_count<<<1, kBlock>>>(out.data(), fixed);
}

__global__ void both_branches(int* out, bool one) {
  if (one || threadIdx.x % 2 == 0) {
    out[threadIdx.x] = 1;
    __syncthreads();  // fault: barrier_in_both_branches
  } else {
    out[threadIdx.x] = 2;
    __syncthreads();  // fault: barrier_in_both_branches
  }
}

void barrier_in_both_branches(bool fixed) {
  OnDevice<int> out(kBlock);
  both_branches<<<1, kBlock>>>(out.data(), fixed);
}

// Two calls in one line: their columns tell them apart.
__global__ void both_branches_in_a_line(int* out, bool one) {
  // clang-format off
  if (one || threadIdx.x % 2 == 0) __syncthreads(); else { out[0] = 1; __syncthreads(); }  // fault: barriers_in_a_line
  // clang-format on
  if (one) out[threadIdx.x] = 2;
}

void barriers_in_a_line(bool fixed) {
  OnDevice<int> out(kBlock);
  both_branches_in_a_line<<<1, kBlock>>>(out.data(), fixed);
}

__global__ void sync_half(int* out, unsigned mask) {
  if (threadIdx.x < 16) {
    out[threadIdx.x] = 1;
    __syncwarp(mask);  // fault: syncwarp_not_in_mask
  }
}

void syncwarp_not_in_mask(bool fixed) {
  OnDevice<int> out(32);
  sync_half<<<1, 32>>>(out.data(), fixed ? 0x0000ffffu : 0x0000fff0u);
}

__global__ void sum_half(int* out, unsigned mask) {
  int value = threadIdx.x;
  if (threadIdx.x < 16) {
    value += __shfl_xor_sync(mask, value, 1);  // fault: shuffle_lane_elsewhere
  } else {
    value = 0;
  }
  __syncwarp();  // fault: shuffle_lane_elsewhere
  out[threadIdx.x] = value;
}

void shuffle_lane_elsewhere(bool fixed) {
  OnDevice<int> out(32);
  sum_half<<<1, 32>>>(out.data(), fixed ? 0x0000ffffu : 0xffffffffu);
}

__global__ void shuffle_mask(int* out, unsigned mask) {
  const unsigned value = __shfl_down_sync(mask, threadIdx.x, 1);  // fault: shuffle_not_in_mask
  out[threadIdx.x] = value;
}

void shuffle_not_in_mask(bool fixed) {
  OnDevice<int> out(32);
  shuffle_mask<<<1, 32>>>(out.data(), fixed ? 0xffffffffu : 0x0000ffffu);
}

__global__ void vote_in_branch(int* out, unsigned mask) {
  bool any = false;
  if (threadIdx.x % 2 == 0) any = __any_sync(mask, threadIdx.x > 20);  // fault: vote_lane_elsewhere
  __syncwarp();                                                        // fault: vote_lane_elsewhere
  out[threadIdx.x] = any;
}

void vote_lane_elsewhere(bool fixed) {
  OnDevice<int> out(32);
  vote_in_branch<<<1, 32>>>(out.data(), fixed ? 0x55555555u : 0xffffffffu);
}

// The tail of a sum: lanes without an element do not make the call, and exit.
__global__ void sum_tail(const int* in, int* out, int n, bool all) {
  int sum = 0;
  if (all || static_cast<int>(threadIdx.x) < n) {
    sum = static_cast<int>(threadIdx.x) < n ? in[threadIdx.x] : 0;
    for (int s = 16; s > 0; s /= 2)
      sum += __shfl_down_sync(~0u, sum, s);  // fault: full_mask_in_the_tail
  }
  if (threadIdx.x == 0) *out = sum;
}

void full_mask_in_the_tail(bool fixed) {
  OnDevice<int> in(32, 1), out(1);
  sum_tail<<<1, 32>>>(in.data(), out.data(), 20, fixed);
}

__global__ void broadcast_to_some(int* out, int callers) {
  int value = threadIdx.x;
  if (static_cast<int>(threadIdx.x) < callers)
    value = __shfl_sync(callers < 32 ? 0xffffu : ~0u, value, 3);  // fault: lanes_go_on
  out[threadIdx.x] = value;
}

void lanes_go_on(bool fixed) {
  OnDevice<int> out(32);
  broadcast_to_some<<<1, 32>>>(out.data(), fixed ? 32 : 8);
}

// Warps that are not full, lanes that have exited before, and a mask of those that are left: no fault.
__global__ void sum_of_the_rest(const int* in, int* out, int n) {
  const unsigned mask = __ballot_sync(~0u, static_cast<int>(threadIdx.x) < n);
  if (static_cast<int>(threadIdx.x) >= n) return;
  int sum = in[threadIdx.x];
  for (int s = 16; s > 0; s /= 2) sum += __shfl_down_sync(mask, sum, s);
  __syncwarp();
  if (threadIdx.x == 0) *out = sum;
}

void exited_lanes(bool) {
  OnDevice<int> in(32, 1), out(1);
  sum_of_the_rest<<<1, 24>>>(in.data(), out.data(), 20);
}

// A warning: the value may be of no use.
__global__ void share_leaders_value(int* out, int first, bool right) {
  int value = static_cast<int>(threadIdx.x);
  const unsigned mask = __ballot_sync(~0u, value >= first);
  if (value >= first)
    value = __shfl_sync(mask, value, right ? __ffs(mask) - 1 : 0);  // fault: leader_not_in_mask
  out[threadIdx.x] = value;
}

void leader_not_in_mask(bool fixed) {
  OnDevice<int> out(32);
  share_leaders_value<<<1, 32>>>(out.data(), 8, fixed);
}

// Sums and scans over part of a warp, where what comes from beyond is of no use or left out, broadcasts within them, and
// neighbours at the edge: no fault.
__global__ void sums_of_groups(const float* in, float* out) {
  const int t = threadIdx.x;
  float sum = in[t];
  if (t < 16) {
    for (int s = 8; s > 0; s /= 2) sum += __shfl_down_sync(0xffffu, sum, s);
    sum = __shfl_sync(0xffffu, sum, 0);
  } else {
    for (int s = 1; s < 16; s *= 2) {
      const float other = __shfl_up_sync(0xffff0000u, sum, s);
      if (t - s >= 16) sum += other;
    }
    sum += __shfl_sync(0xffff0000u, sum, 0, 16);
    const float right = __shfl_sync(0xffff0000u, sum, t + 1);
    sum += t < 31 ? right : 0;
  }
  out[t] = sum;
}

void shuffles_in_groups(bool) {
  OnDevice<float> in(32, 1.0f), out(32);
  sums_of_groups<<<1, 32>>>(in.data(), out.data());
}

using BlockBarrier = cuda::barrier<cuda::thread_scope_block>;

// Another warp may arrive before the barrier is initialised.
__global__ void shift_by_barrier(int* values, bool waits) {
  __shared__ BlockBarrier barrier;
  __shared__ int row[kBlock];
  if (threadIdx.x == 0) init(&barrier, kBlock);  // fault: barrier_used_at_once
  if (waits) __syncthreads();
  row[threadIdx.x] = values[threadIdx.x];
  barrier.arrive_and_wait();  // fault: barrier_used_at_once
  values[threadIdx.x] = row[(threadIdx.x + 1) % kBlock];
}

void barrier_used_at_once(bool fixed) {
  OnDevice<int> values(kBlock, 1);
  shift_by_barrier<<<1, kBlock>>>(values.data(), fixed);
}

__global__ void arrive_at_nothing(bool begins) {
  __shared__ BlockBarrier barrier;
  if (threadIdx.x == 0 && begins) init(&barrier, kBlock);
  __syncthreads();
  (void)barrier.arrive();  // fault: barrier_without_init
}

void barrier_without_init(bool fixed) { arrive_at_nothing<<<1, kBlock>>>(fixed); }

// Each warp has its own, and begins it again; then one that is made in its place.
__global__ void barriers_of_warps(int* values) {
  __shared__ BlockBarrier barriers[kBlock / 32];
  BlockBarrier& mine = barriers[threadIdx.x / 32];
  for (int i = 0; i < 3; ++i) {
    if (threadIdx.x % 32 == 0) init(&mine, 32);
    __syncwarp();
    mine.arrive_and_wait();
    mine.wait(mine.arrive());
    values[threadIdx.x] += i;
    __syncwarp();
  }
  __syncthreads();
  if (threadIdx.x == 0) new (barriers) BlockBarrier(kBlock);
  __syncthreads();
  barriers->arrive_and_wait();
}

void barriers_begun_again(bool) {
  OnDevice<int> values(kBlock, 1);
  barriers_of_warps<<<1, kBlock>>>(values.data());
}

}  // namespace

const std::vector<Planted> kBarriers = {
    {"barrier_in_half_warp", "barrier-divergence", barrier_in_half_warp},
    {"barrier_in_one_warp", "barrier-divergence", barrier_in_one_warp},
    {"leave_before_barrier", "barrier-divergence", leave_before_barrier},
    {"barrier_passed_by", "barrier-divergence", barrier_passed_by, false},
    {"barrier_in_uneven_loop", "barrier-divergence", barrier_in_uneven_loop},
    {"barrier_in_both_branches", "barrier-divergence", barrier_in_both_branches},
    {"barriers_in_a_line", "barrier-divergence", barriers_in_a_line, false},
    {"syncwarp_not_in_mask", "invalid-mask", syncwarp_not_in_mask},
    {"shuffle_lane_elsewhere", "invalid-mask", shuffle_lane_elsewhere},
    {"shuffle_not_in_mask", "invalid-mask", shuffle_not_in_mask},
    {"vote_lane_elsewhere", "invalid-mask", vote_lane_elsewhere},
    {"full_mask_in_the_tail", "invalid-mask", full_mask_in_the_tail, false},
    {"lanes_go_on", "invalid-mask", lanes_go_on, false},
    {"exited_lanes", "none", exited_lanes, false},
    {"leader_not_in_mask", "invalid-mask", leader_not_in_mask, false},
    {"shuffles_in_groups", "none", shuffles_in_groups, false},
    {"barrier_used_at_once", "shared-race", barrier_used_at_once, false},
    {"barrier_without_init", "uninitialized-shared", barrier_without_init, false},
    {"barriers_begun_again", "none", barriers_begun_again, false},
};
