// Races in global memory between blocks, which run in any order. compute-sanitizer has no tool for these.
#include <cuda/atomic>

#include "planted.h"

namespace {

constexpr int kBlock = 64;
constexpr int kBlocks = 8;
constexpr int kN = kBlock * kBlocks;

__global__ void count(int* counter, bool atomic) {
  if (atomic) {
    atomicAdd(counter, 1);
  } else if (threadIdx.x == 0) {
    *counter += 1;  // fault: plain_counter
  }
}

void plain_counter(bool fixed) {
  OnDevice<int> counter(1);
  count<<<kBlocks, kBlock>>>(counter.data(), fixed);
}

// A block reads its right neighbour's first element, which that block overwrites.
__global__ void smooth(const float* in, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const float right = i + 1 < n ? in[i + 1] : 0.0f;  // fault: smooth_in_place
  const float here = in[i];
  __syncthreads();
  out[i] = 0.5f * (here + right);  // fault: smooth_in_place
}

void smooth_in_place(bool fixed) {
  std::vector<float> values(kN);
  for (int i = 0; i < kN; ++i) values[i] = static_cast<float>(i * i % 97);
  OnDevice<float> in(values), out(kN);
  smooth<<<kBlocks, kBlock>>>(in.data(), fixed ? out.data() : in.data(), kN);
}

// Block 0 adds up what the other blocks may not have written yet.
__global__ void partial_sums(int* partial) {
  if (threadIdx.x == 0) partial[blockIdx.x] = blockIdx.x + 1;
}
__global__ void total(const int* partial, int* out) {
  int sum = 0;
  for (int b = 0; b < kBlocks; ++b) sum += partial[b];
  *out = sum;
}
__global__ void sum_in_one(int* partial, int* out) {
  if (threadIdx.x == 0) partial[blockIdx.x] = blockIdx.x + 1;  // fault: total_too_early
  __syncthreads();
  if (blockIdx.x == 0 && threadIdx.x == 0) {
    int sum = 0;
    for (int b = 0; b < kBlocks; ++b) sum += partial[b];  // fault: total_too_early
    *out = sum;
  }
}

void total_too_early(bool fixed) {
  OnDevice<int> partial(kBlocks), out(1);
  if (fixed) {
    partial_sums<<<kBlocks, kBlock>>>(partial.data());
    total<<<1, 1>>>(partial.data(), out.data());
  } else {
    sum_in_one<<<kBlocks, kBlock>>>(partial.data(), out.data());
  }
}

// The last block to finish adds up. Without a fence its ticket promises nothing about the sums.
__global__ void last_block_sums(int* partial, unsigned* tickets, int* out, bool fence) {
  __shared__ bool is_last;
  if (threadIdx.x == 0) {
    partial[blockIdx.x] = blockIdx.x + 1;  // fault: ticket_without_fence
    if (fence) __threadfence();
    is_last = atomicAdd(tickets, 1u) == gridDim.x - 1;
  }
  __syncthreads();
  if (is_last && threadIdx.x == 0) {
    if (fence) __threadfence();
    int sum = 0;
    for (unsigned b = 0; b < gridDim.x; ++b) sum += partial[b];  // fault: ticket_without_fence
    *out = sum;
  }
}

void ticket_without_fence(bool fixed) {
  OnDevice<int> partial(kBlocks), out(1);
  OnDevice<unsigned> tickets(1);
  last_block_sums<<<kBlocks, kBlock>>>(partial.data(), tickets.data(), out.data(), fixed);
}

// Each block hands its sum to the next one by a flag.
__global__ void chain(int* sums, volatile int* ready, bool fence) {
  if (threadIdx.x != 0) return;
  int before = 0;
  if (blockIdx.x > 0) {
    while (ready[blockIdx.x - 1] == 0) {
    }
    if (fence) __threadfence();
    before = sums[blockIdx.x - 1];  // fault: flag_without_fence
  }
  sums[blockIdx.x] = before + 1;  // fault: flag_without_fence
  if (fence) __threadfence();
  ready[blockIdx.x] = 1;
}

void flag_without_fence(bool fixed) {
  OnDevice<int> sums(kBlocks), ready(kBlocks);
  chain<<<kBlocks, 32>>>(sums.data(), ready.data(), fixed);
}

// Tiles that overlap by one element, written by two blocks.
__global__ void write_tiles(int* out, int tile) {
  out[blockIdx.x * tile + threadIdx.x] = blockIdx.x;  // fault: overlapping_tiles
}

void overlapping_tiles(bool fixed) {
  OnDevice<int> out(kN);
  write_tiles<<<kBlocks, kBlock>>>(out.data(), fixed ? kBlock : kBlock - 1);
}

__device__ int best;

__global__ void maximum(const int* in, bool atomic) {
  const int mine = in[blockIdx.x * blockDim.x + threadIdx.x];
  if (atomic) {
    atomicMax(&best, mine);
  } else if (threadIdx.x == 0) {
    if (mine > best) best = mine;  // fault: plain_maximum
  }
}

void plain_maximum(bool fixed) {
  std::vector<int> values(kN);
  for (int i = 0; i < kN; ++i) values[i] = i + 1;
  OnDevice<int> in(values);
  maximum<<<kBlocks, kBlock>>>(in.data(), fixed);
}

// A lock that is taken, but not by all who touch what it guards.
__global__ void add_locked(int* lock, int* value, bool take) {
  if (threadIdx.x != 0) return;
  if (take || blockIdx.x % 2 == 0) {
    while (atomicCAS(lock, 0, 1) != 0) {
    }
    __threadfence();
    *value += 1;  // fault: half_locked
    __threadfence();
    atomicExch(lock, 0);
  } else {
    *value += 1;  // fault: half_locked
  }
}

void half_locked(bool fixed) {
  OnDevice<int> lock(1), value(1);
  add_locked<<<kBlocks, 32>>>(lock.data(), value.data(), fixed);
}

// Values that differ in their second halves only.
__global__ void last_block(float4* out, int one) {
  if (threadIdx.x == 0 && static_cast<int>(blockIdx.x) >= one)
    out[0] = make_float4(1, 1, blockIdx.x, 0);  // fault: second_half_between_blocks
}

void second_half_between_blocks(bool fixed) {
  OnDevice<float> out(4);
  last_block<<<kBlocks, 32>>>(reinterpret_cast<float4*>(out.data()), fixed ? kBlocks - 1 : 0);
}

__global__ void count_of_block(int* counters, bool own) {
  atomicAdd_block(own ? counters + blockIdx.x : counters, 1);  // fault: block_scope_between_blocks
}

void block_scope_between_blocks(bool fixed) {
  OnDevice<int> counters(kBlocks, 0);
  count_of_block<<<kBlocks, 32>>>(counters.data(), fixed);
}

// The other block waits for a flag that is meant for the first one's own threads.
template <cuda::thread_scope Scope>
__global__ void hand_over(int* flag, int* data) {
  const cuda::atomic_ref<int, Scope> ready(*flag);
  if (blockIdx.x == 0) {
    *data = 5;                                        // fault: block_scope_flag
    ready.store(1, cuda::std::memory_order_release);  // fault: block_scope_flag
  } else {
    while (!ready.load(cuda::std::memory_order_acquire)) {  // fault: block_scope_flag
    }
    data[1] = *data;  // fault: block_scope_flag
  }
}

void block_scope_flag(bool fixed) {
  OnDevice<int> flag(1, 0), data(2, 0);
  fixed ? hand_over<cuda::thread_scope_device><<<2, 1>>>(flag.data(), data.data())
        : hand_over<cuda::thread_scope_block><<<2, 1>>>(flag.data(), data.data());
}

// In PTX; then within a block, where the scope is right.
__global__ void count_in_ptx(int* counter, bool own) {
  int* const mine = own ? counter + blockIdx.x : counter;
  asm volatile("red.relaxed.cta.global.add.s32 [%0], 1;" ::"l"(mine)  // fault: block_scope_in_ptx
               : "memory");
}

void block_scope_in_ptx(bool fixed) {
  OnDevice<int> counters(kBlocks, 0);
  count_in_ptx<<<kBlocks, 64>>>(counters.data(), fixed);
}

}  // namespace

const std::vector<Planted> kBetweenBlocks = {
    {"plain_counter", "global-race", plain_counter},
    {"smooth_in_place", "global-race", smooth_in_place},
    {"total_too_early", "global-race", total_too_early},
    {"ticket_without_fence", "global-race", ticket_without_fence},
    {"flag_without_fence", "global-race", flag_without_fence},
    {"overlapping_tiles", "global-race", overlapping_tiles},
    {"plain_maximum", "global-race", plain_maximum},
    {"half_locked", "global-race", half_locked},
    {"second_half_between_blocks", "global-race", second_half_between_blocks, false},
    {"block_scope_between_blocks", "global-race", block_scope_between_blocks, false},
    {"block_scope_flag", "global-race", block_scope_flag, false},
    {"block_scope_in_ptx", "global-race", block_scope_in_ptx, false},
};
