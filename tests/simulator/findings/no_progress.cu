// Kernels that never end. On the hardware they would not end either.
#include "planted.h"

namespace {

__global__ void wait_for_flag(volatile int* flag, bool set) {
  if (set && blockIdx.x == gridDim.x - 1 && threadIdx.x == 0) *flag = 1;
  if (blockIdx.x == 0) {
    while (*flag == 0) {  // fault: flag_never_set
    }
  }
}

void flag_never_set(bool fixed) {
  OnDevice<int> flag(1);
  wait_for_flag<<<2, 32>>>(flag.data(), fixed);
}

__global__ void take_lock(int* lock, int* value, bool release) {
  if (threadIdx.x != 0) return;
  while (atomicCAS(lock, 0, 1) != 0) {  // fault: lock_never_released
  }
  __threadfence();
  *value += 1;
  __threadfence();
  if (release) atomicExch(lock, 0);
}

void lock_never_released(bool fixed) {
  OnDevice<int> lock(1), value(1);
  take_lock<<<4, 32>>>(lock.data(), value.data(), fixed);
}

// The lane that holds the lock comes after those of its warp that wait for it.
__global__ void lock_in_warp(int* lock, int* value, bool in_turn) {
  for (int lane = 0; in_turn && lane < 32; ++lane) {
    if (lane == static_cast<int>(threadIdx.x)) *value += 1;
    __syncwarp();
  }
  if (in_turn) return;
  while (atomicCAS(lock, 0, 1) != 0) {  // fault: lock_held_in_warp
  }
  __syncwarp();
  *value += 1;
  atomicExch(lock, 0);
}

void lock_held_in_warp(bool fixed) {
  OnDevice<int> lock(1), value(1);
  lock_in_warp<<<1, 32>>>(lock.data(), value.data(), fixed);
}

// 0 times 2 is 0.
__global__ void scan(int* data, int first) {
  for (int offset = first; offset < 64; offset *= 2) {
    const int left = static_cast<int>(threadIdx.x) - offset;
    const int add = offset > 0 && left >= 0 ? data[left] : 0;
    __syncthreads();  // fault: endless_barriers
    data[threadIdx.x] += add;
    __syncthreads();  // fault: endless_barriers
  }
}

void endless_barriers(bool fixed) {
  OnDevice<int> data(64, 1);
  scan<<<1, 64>>>(data.data(), fixed ? 1 : 0);
}

// Warp 1 would set the flag, behind a barrier that warp 0 does not reach.
__global__ void wait_before_barrier(volatile int* flag, bool barrier_first) {
  if (barrier_first) __syncthreads();
  if (threadIdx.x < 32) {
    while (*flag == 0) {  // fault: waits_before_barrier
    }
  }
  if (!barrier_first) __syncthreads();
  if (threadIdx.x == 32) *flag = 1;
}

void waits_before_barrier(bool fixed) {
  OnDevice<int> flag(1);
  wait_before_barrier<<<1, 64>>>(flag.data(), fixed);
}

// The loop's counter never reaches the end: halving 1 by rounding up stays at 1.
__global__ void halve(int* out, int n, int rounding) {
  int steps = 0;
  for (int left = n; left > 0; left = (left + rounding) / 2) {
    out[threadIdx.x] = ++steps;  // fault: endless_loop
  }
}

void endless_loop(bool fixed) {
  OnDevice<int> out(32);
  halve<<<1, 32>>>(out.data(), 1000, fixed ? 0 : 1);
}

// A barrier of the grid made by hand. Without a cooperative launch nobody promises that all blocks run at the same time; a
// device that holds them all at once does it.
__global__ void wait_for_grid(int* arrived) {
  extern __shared__ int large[];  // a multiprocessor holds 4 such blocks
  if (threadIdx.x == 0) {
    large[0] = atomicAdd(arrived, 1);
    while (atomicAdd(arrived, 0) < static_cast<int>(gridDim.x)) {  // fault: more_blocks_than_fit
    }
  }
  __syncthreads();
}

void more_blocks_than_fit(bool fixed) {
  OnDevice<int> arrived(1);
  wait_for_grid<<<fixed ? 6 : 33, 64, 48 * 1024>>>(arrived.data());
}

}  // namespace

const std::vector<Planted> kNoProgress = {
    {"flag_never_set", "hang", flag_never_set, false},
    {"lock_never_released", "hang", lock_never_released, false},
    {"lock_held_in_warp", "hang", lock_held_in_warp, false},
    {"endless_barriers", "hang", endless_barriers, false},
    {"waits_before_barrier", "barrier-divergence", waits_before_barrier, false},
    {"endless_loop", "hang", endless_loop, false},
    {"more_blocks_than_fit", "hang", more_blocks_than_fit, false},
};
