// Faults of accesses that are written as inline PTX.
#include <cstdint>

#include "planted.h"

namespace {

constexpr int kN = 64;

__device__ unsigned shared_address(const void* p) {
  return static_cast<unsigned>(__cvta_generic_to_shared(p));
}

__global__ void load_vectors(const float* in, float* out, int n) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= n) return;
  float a, b, c, d;
  asm volatile("ld.global.nc.L1::no_allocate.v4.f32 {%0, %1, %2, %3}, [%4];"  // fault: ptx_past_end
               : "=f"(a), "=f"(b), "=f"(c), "=f"(d)
               : "l"(in + 4 * i));
  out[i] = a + b + c + d;
}

void ptx_past_end(bool fixed) {
  OnDevice<float> in(4 * kN), out(2 * kN);
  load_vectors<<<2, kN>>>(in.data(), out.data(), fixed ? kN : kN + 1);
}

__global__ void load_pair(const float* in, float* out, int offset) {
  float a, b;
  asm("ld.global.v2.f32 {%0, %1}, [%2];"  // fault: ptx_misaligned
      : "=f"(a), "=f"(b)
      : "l"(in + offset));
  out[0] = a + b;
}

void ptx_misaligned(bool fixed) {
  OnDevice<float> in(kN), out(1);
  load_pair<<<1, 1>>>(in.data(), out.data(), fixed ? 2 : 1);
}

__global__ void reverse(int* out, bool waits) {
  __shared__ int tile[kN];
  const unsigned t = threadIdx.x;
  asm volatile("st.shared.u32 [%0], %1;"  // fault: ptx_no_barrier
               ::"r"(shared_address(&tile[t])),
               "r"(t)
               : "memory");
  if (waits) asm volatile("bar.sync 0;" ::: "memory");
  int value;
  asm volatile("ld.shared.u32 %0, [%1];"  // fault: ptx_no_barrier
               : "=r"(value)
               : "r"(shared_address(&tile[kN - 1 - t]))
               : "memory");
  out[t] = value;
}

void ptx_no_barrier(bool fixed) {
  OnDevice<int> out(kN);
  reverse<<<1, kN>>>(out.data(), fixed);
}

__global__ void copy_tile(const float* in, float* out, bool waits) {
  __shared__ float tile[kN];
  const unsigned t = threadIdx.x;
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(shared_address(&tile[t])),
               "l"(in + t)
               : "memory");
  asm volatile("cp.async.commit_group;" ::: "memory");
  if (waits) asm volatile("cp.async.wait_group 0;" ::: "memory");
  __syncthreads();
  out[t] = tile[kN - 1 - t];  // fault: ptx_no_wait
}

void ptx_no_wait(bool fixed) {
  OnDevice<float> in(kN), out(kN);
  copy_tile<<<1, kN>>>(in.data(), out.data(), fixed);
}

__global__ void read_tile(int* out, unsigned written) {
  __shared__ int tile[kN];
  const unsigned t = threadIdx.x;
  if (t < written) tile[t] = static_cast<int>(t);
  __syncthreads();
  int value;
  asm volatile("ld.shared.b32 %0, [%1];"  // fault: ptx_half_written
               : "=r"(value)
               : "r"(shared_address(&tile[kN - 1 - t])));
  out[t] = value;
}

void ptx_half_written(bool fixed) {
  OnDevice<int> out(kN);
  read_tile<<<1, kN>>>(out.data(), fixed ? kN : kN / 2);
}

__global__ void read_behind(int* out, unsigned n) {
  __shared__ int tile[kN];
  const unsigned t = threadIdx.x;
  tile[t] = static_cast<int>(t);
  __syncthreads();
  int value = 0;
  if (t < n)
    asm volatile("ld.shared.b32 %0, [%1+4];"  // fault: ptx_behind_tile
                 : "=r"(value)
                 : "r"(shared_address(&tile[t])));
  out[t] = value;
}

void ptx_behind_tile(bool fixed) {
  OnDevice<int> out(kN);
  read_behind<<<1, kN>>>(out.data(), fixed ? kN - 1 : kN);
}

__global__ void read_by_space(int* out, bool right) {
  __shared__ int tile[kN];
  const unsigned t = threadIdx.x;
  tile[t] = static_cast<int>(t);
  int value;
  if (right)
    asm volatile("ld.u32 %0, [%1];" : "=r"(value) : "l"(&tile[t]));
  else
    asm volatile("ld.global.u32 %0, [%1];"  // fault: ptx_wrong_space
                 : "=r"(value)
                 : "l"(&tile[t]));
  out[t] = value;
}

void ptx_wrong_space(bool fixed) {
  OnDevice<int> out(kN);
  read_by_space<<<1, kN>>>(out.data(), fixed);
}

__global__ void read_by_address(int* out, bool right) {
  __shared__ int tile[kN];
  const unsigned t = threadIdx.x;
  tile[t] = static_cast<int>(t);
  const unsigned address = right
                               ? shared_address(&tile[t])
                               : static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(&tile[t]));
  int value;
  asm volatile("ld.shared.u32 %0, [%1];"  // fault: ptx_generic_address
               : "=r"(value)
               : "r"(address));
  out[t] = value;
}

void ptx_generic_address(bool fixed) {
  OnDevice<int> out(kN);
  read_by_address<<<1, kN>>>(out.data(), fixed);
}

// One warp fills the buffer and arrives, another waits for it and reads. \param threads of both
__global__ void hand_over(int* out, int threads) {
  __shared__ int buffer[kN / 2];
  const unsigned lane = threadIdx.x % 32;
  if (threadIdx.x < 32) {
    buffer[lane] = static_cast<int>(lane);
    asm volatile("bar.arrive 1, %0;" ::"r"(threads) : "memory");
  } else if (threadIdx.x < 64) {
    asm volatile("bar.sync 1, %0;"  // fault: ptx_few_at_barrier
                 ::"r"(threads)
                 : "memory");
    out[lane] = buffer[31 - lane];
  }
}

void ptx_few_at_barrier(bool fixed) {
  OnDevice<int> out(kN);
  hand_over<<<1, kN + 32>>>(out.data(), fixed ? kN : kN + 32);
}

// The consumer arrives where it would have to wait.
__global__ void read_early(int* out, bool waits) {
  __shared__ int buffer[kN / 2];
  const unsigned lane = threadIdx.x % 32;
  buffer[lane] = 0;
  __syncthreads();
  if (threadIdx.x < 32) {
    if (waits) {
      asm volatile("bar.sync 1, 64;" ::: "memory");
    } else {
      asm volatile("bar.arrive 1, 64;" ::: "memory");
    }
    out[lane] = buffer[31 - lane];  // fault: ptx_arrives_only
  } else {
    buffer[lane] = static_cast<int>(lane);  // fault: ptx_arrives_only
    asm volatile("bar.sync 1, 64;" ::: "memory");
  }
}

void ptx_arrives_only(bool fixed) {
  OnDevice<int> out(kN);
  read_early<<<1, kN>>>(out.data(), fixed);
}

__global__ void odd_barrier(int threads) {
  asm volatile("barrier.sync 2, %0;"  // fault: ptx_part_of_warp
               ::"r"(threads)
               : "memory");
}

void ptx_part_of_warp(bool fixed) { odd_barrier<<<1, kN>>>(fixed ? kN : kN - 1); }

__global__ void count(int* out, bool atomically) {
  if (atomically) {
    asm volatile("red.global.add.s32 [%0], 1;" ::"l"(out) : "memory");
    return;
  }
  int value;
  asm volatile("ld.global.s32 %0, [%1];"  // fault: ptx_not_atomic
               : "=r"(value)
               : "l"(out)
               : "memory");
  asm volatile("st.global.s32 [%0], %1;"  // fault: ptx_not_atomic
               ::"l"(out),
               "r"(value + 1)
               : "memory");
}

void ptx_not_atomic(bool fixed) {
  OnDevice<int> out(1);
  count<<<4, 1>>>(out.data(), fixed);
}

// Half the block hands over to the other half.
__global__ void hand_over_by_arrivals(int* out, int arrivals) {
  __shared__ unsigned long long full;
  __shared__ int value[32];
  const unsigned t = threadIdx.x, lane = t % 32;
  const auto barrier = static_cast<unsigned>(__cvta_generic_to_shared(&full));
  if (t == 0)
    asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(barrier), "r"(arrivals) : "memory");
  __syncthreads();
  if (t < 32) {
    value[lane] = static_cast<int>(lane);
    asm volatile("mbarrier.arrive.shared.b64 _, [%0];" ::"r"(barrier) : "memory");
    return;
  }
  unsigned over = 0;
  while (!over) {
    asm volatile(
        "{ .reg .pred p; "
        "mbarrier.try_wait.parity.shared.b64 p, [%1], 0; "  // fault: ptx_one_arrival_too_few
        "selp.u32 %0, 1, 0, p; }"
        : "=r"(over)
        : "r"(barrier)
        : "memory");
  }
  out[lane] = value[31 - lane];
}

void ptx_one_arrival_too_few(bool fixed) {
  const OnDevice<int> out(32);
  hand_over_by_arrivals<<<1, 64>>>(out.data(), fixed ? 32 : 33);
}

}  // namespace

// Not run on hardware yet.
const std::vector<Planted> kInlinePtx = {
    {"ptx_past_end", "out-of-bounds", ptx_past_end, false},
    {"ptx_misaligned", "misaligned-access", ptx_misaligned, false},
    {"ptx_no_barrier", "shared-race", ptx_no_barrier, false},
    {"ptx_no_wait", "uninitialized-shared", ptx_no_wait, false},
    {"ptx_half_written", "uninitialized-shared", ptx_half_written, false},
    {"ptx_behind_tile", "out-of-bounds", ptx_behind_tile, false},
    {"ptx_wrong_space", "trap", ptx_wrong_space, false},
    {"ptx_generic_address", "trap", ptx_generic_address, false},
    {"ptx_few_at_barrier", "hang", ptx_few_at_barrier, false},
    {"ptx_one_arrival_too_few", "hang", ptx_one_arrival_too_few, false},
    {"ptx_arrives_only", "shared-race", ptx_arrives_only, false},
    {"ptx_part_of_warp", "trap", ptx_part_of_warp, false},
    {"ptx_not_atomic", "global-race", ptx_not_atomic, false},
};
