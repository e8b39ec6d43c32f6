// Races in shared memory.
#include "planted.h"

namespace {

constexpr int kBlock = 128;

__global__ void reverse(int* data, bool barrier) {
  __shared__ int tile[kBlock];
  tile[threadIdx.x] = data[threadIdx.x];  // fault: read_after_write
  if (barrier) __syncthreads();
  data[threadIdx.x] = tile[kBlock - 1 - threadIdx.x];  // fault: read_after_write
}

void read_after_write(bool fixed) {
  OnDevice<int> data(kBlock);
  reverse<<<1, kBlock>>>(data.data(), fixed);
}

// Tile after tile: the next must not be loaded while somebody still reads this one.
__global__ void sum_tiles(const int* in, int* out, int tiles, bool barrier) {
  __shared__ int tile[kBlock];
  int sum = 0;
  for (int t = 0; t < tiles; ++t) {
    tile[threadIdx.x] = in[t * kBlock + threadIdx.x];  // fault: write_after_read
    __syncthreads();
    for (int i = 0; i < kBlock; ++i) sum += tile[i];  // fault: write_after_read
    if (barrier) __syncthreads();
  }
  out[threadIdx.x] = sum;
}

void write_after_read(bool fixed) {
  OnDevice<int> in(4 * kBlock, 1), out(kBlock);
  sum_tiles<<<1, kBlock>>>(in.data(), out.data(), 4, fixed);
}

// Every warp leaves its result in the same place instead of one of its own.
__global__ void maximum(const int* in, int* out, int stride) {
  __shared__ int best[kBlock / 32];
  int mine = in[threadIdx.x];
  for (int delta = 16; delta > 0; delta /= 2) mine = max(mine, __shfl_xor_sync(~0u, mine, delta));
  if (threadIdx.x % 32 == 0) best[threadIdx.x / 32 * stride] = mine;  // fault: write_after_write
  __syncthreads();
  if (threadIdx.x == 0) out[0] = best[0];
}

void write_after_write(bool fixed) {
  std::vector<int> values(kBlock);
  for (int i = 0; i < kBlock; ++i) values[i] = i;
  OnDevice<int> in(values), out(1);
  maximum<<<1, kBlock>>>(in.data(), out.data(), fixed ? 1 : 0);
}

// A struct by value, straight from memory.
struct Best {
  int value, index;
};

__device__ Best better(Best a, Best b) { return b.value > a.value ? b : a; }

__global__ void argmax(const int* in, int* out, bool barrier) {
  __shared__ Best of_warp[kBlock / 32];
  const int t = threadIdx.x;
  if (t % 32 == 0) of_warp[t / 32] = {in[t], t};  // fault: struct_by_value
  if (barrier) __syncthreads();
  if (t > 0) return;
  Best best = of_warp[0];
  for (int w = 1; w < kBlock / 32; ++w) best = better(best, of_warp[w]);  // fault: struct_by_value
  *out = best.index;
}

void struct_by_value(bool fixed) {
  OnDevice<int> in(kBlock), out(1);
  argmax<<<1, kBlock>>>(in.data(), out.data(), fixed);
}

__global__ void swap_neighbours(int* data, bool sync) {
  __shared__ int tile[32];
  tile[threadIdx.x] = data[threadIdx.x];  // fault: within_a_warp
  if (sync) __syncwarp();
  data[threadIdx.x] = tile[threadIdx.x ^ 1];  // fault: within_a_warp
}

void within_a_warp(bool fixed) {
  OnDevice<int> data(32);
  swap_neighbours<<<1, 32>>>(data.data(), fixed);
}

// The reduction of old textbooks: the last warp relies on lock-step.
__global__ void reduce(const int* in, int* out, bool sync) {
  __shared__ int sums[kBlock];
  const unsigned t = threadIdx.x;
  sums[t] = in[t];
  __syncthreads();
  if (t < 64) sums[t] += sums[t + 64];
  __syncthreads();
  if (t < 32) {
    for (unsigned half = 32; half > 0; half /= 2) {
      const int other = sums[t + half];  // fault: last_warp
      if (sync) __syncwarp();
      sums[t] += other;  // fault: last_warp
      if (sync) __syncwarp();
    }
  }
  if (t == 0) out[0] = sums[0];
}

void last_warp(bool fixed) {
  OnDevice<int> in(kBlock, 1), out(1);
  reduce<<<1, kBlock>>>(in.data(), out.data(), fixed);
}

__global__ void reduce_in_steps(const int* in, int* out, bool barrier) {
  __shared__ int sums[kBlock];
  sums[threadIdx.x] = in[threadIdx.x];
  __syncthreads();
  for (unsigned half = kBlock / 2; half > 0; half /= 2) {
    if (threadIdx.x < half)
      sums[threadIdx.x] += sums[threadIdx.x + half];  // fault: loop_without_barrier
    if (barrier) __syncthreads();
  }
  if (threadIdx.x == 0) out[0] = sums[0];  // fault: loop_without_barrier
}

void loop_without_barrier(bool fixed) {
  OnDevice<int> in(kBlock, 1), out(1);
  reduce_in_steps<<<1, kBlock>>>(in.data(), out.data(), fixed);
}

__global__ void histogram(const int* in, int* out, bool atomic) {
  __shared__ int bins[16];
  if (threadIdx.x < 16) bins[threadIdx.x] = 0;
  __syncthreads();
  if (atomic) {
    atomicAdd(&bins[in[threadIdx.x]], 1);
  } else {
    ++bins[in[threadIdx.x]];  // fault: plain_histogram
  }
  __syncthreads();
  if (threadIdx.x < 16) out[threadIdx.x] = bins[threadIdx.x];
}

void plain_histogram(bool fixed) {
  std::vector<int> values(kBlock);
  for (int i = 0; i < kBlock; ++i) values[i] = i / 2 % 16;
  OnDevice<int> in(values), out(16);
  histogram<<<1, kBlock>>>(in.data(), out.data(), fixed);
}

// Thread 0 clears the counter, and the others do not wait for it.
__global__ void count_even(const int* in, int* out, bool barrier) {
  __shared__ int counter;
  if (threadIdx.x == 0) counter = 0;  // fault: reset_then_count
  if (barrier) __syncthreads();
  if (in[threadIdx.x] % 2 == 0) atomicAdd(&counter, 1);  // fault: reset_then_count
  __syncthreads();
  if (threadIdx.x == 0) *out = counter;
}

void reset_then_count(bool fixed) {
  OnDevice<int> in(kBlock, 2), out(1);
  count_even<<<1, kBlock>>>(in.data(), out.data(), fixed);
}

__global__ void transpose(const int* in, int* out, bool barrier) {
  extern __shared__ int dynamic_tile[];
  const unsigned x = threadIdx.x, y = threadIdx.y;
  dynamic_tile[y * 17 + x] = in[y * 16 + x];  // fault: tile_without_barrier
  if (barrier) __syncthreads();
  out[y * 16 + x] = dynamic_tile[x * 17 + y];  // fault: tile_without_barrier
}

void tile_without_barrier(bool fixed) {
  OnDevice<int> in(256), out(256);
  transpose<<<1, dim3(16, 16), 16 * 17 * sizeof(int)>>>(in.data(), out.data(), fixed);
}

// One thread of the block broadcasts, in each round of a loop.
__global__ void rounds(int* out, bool barrier) {
  __shared__ int round;
  int sum = 0;
  for (int i = 0; i < 3; ++i) {
    if (threadIdx.x == 0) round = i;  // fault: broadcast_in_loop
    __syncthreads();
    sum += round;  // fault: broadcast_in_loop
    if (barrier) __syncthreads();
  }
  out[threadIdx.x] = sum;
}

void broadcast_in_loop(bool fixed) {
  OnDevice<int> out(kBlock);
  rounds<<<1, kBlock>>>(out.data(), fixed);
}

// Values that differ in their second halves only.
__global__ void last_of_all(float4* out, int one) {
  __shared__ float4 last;
  if (static_cast<int>(threadIdx.x) >= one)
    last = make_float4(1, 1, threadIdx.x, 0);  // fault: second_half_of_float4
  __syncthreads();
  if (threadIdx.x == 0) out[0] = last;
}

void second_half_of_float4(bool fixed) {
  OnDevice<float> out(4);
  last_of_all<<<1, 32>>>(reinterpret_cast<float4*>(out.data()), fixed ? 31 : 0);
}

// A flag of the block's own: who polls it needs no barrier. Who looks once sees it set or not.
__global__ void wait_for_data(int* out, bool polls) {
  __shared__ volatile int ready;
  __shared__ int data;
  if (threadIdx.x == 0) ready = 0;
  __syncthreads();
  if (threadIdx.x == 31) {
    data = 5;
    __threadfence_block();
    ready = 1;  // fault: flag_looked_at_once
  } else if (polls) {
    while (ready == 0) __nanosleep(20);
    __threadfence_block();
    out[threadIdx.x] = data;
  } else if (ready == 1) {  // fault: flag_looked_at_once
    out[threadIdx.x] = 1;
  }
}

void flag_looked_at_once(bool fixed) {
  OnDevice<int> out(kBlock);
  wait_for_data<<<1, kBlock>>>(out.data(), fixed);
}

}  // namespace

const std::vector<Planted> kRaces = {
    {"read_after_write", "shared-race", read_after_write},
    {"write_after_read", "shared-race", write_after_read},
    {"struct_by_value", "shared-race", struct_by_value, false},
    {"write_after_write", "shared-race", write_after_write},
    {"within_a_warp", "shared-race", within_a_warp},
    {"last_warp", "shared-race", last_warp},
    {"loop_without_barrier", "shared-race", loop_without_barrier},
    {"plain_histogram", "shared-race", plain_histogram},
    {"reset_then_count", "shared-race", reset_then_count},
    {"tile_without_barrier", "shared-race", tile_without_barrier},
    {"broadcast_in_loop", "shared-race", broadcast_in_loop},
    {"second_half_of_float4", "shared-race", second_half_of_float4, false},
    {"flag_looked_at_once", "shared-race", flag_looked_at_once, false},
};
