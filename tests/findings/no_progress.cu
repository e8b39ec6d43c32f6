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

}  // namespace

const std::vector<Planted> kNoProgress = {
    {"flag_never_set", "hang", flag_never_set, false},
    {"lock_never_released", "hang", lock_never_released, false},
    {"endless_loop", "hang", endless_loop, false},
};
