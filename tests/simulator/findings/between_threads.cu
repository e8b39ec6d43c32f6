// Races of one block's threads in global memory.
#include "planted.h"

namespace {

constexpr int kBlock = 128;

__global__ void total(const int* in, int* sum, bool atomic) {
  if (atomic) {
    atomicAdd(sum, in[threadIdx.x]);
  } else {
    *sum += in[threadIdx.x];  // fault: sum_of_a_block
  }
}

void sum_of_a_block(bool fixed) {
  OnDevice<int> in(kBlock, 1), sum(1);
  total<<<1, kBlock>>>(in.data(), sum.data(), fixed);
}

// All lanes read 0 and store 1: no value tells it from a flag that all set.
__global__ void count(int* counter, bool atomic) {
  if (atomic) {
    atomicAdd(counter, 1);
  } else {
    *counter += 1;  // fault: count_of_a_warp
  }
}

void count_of_a_warp(bool fixed) {
  OnDevice<int> counter(1);
  count<<<1, 32>>>(counter.data(), fixed);
}

__global__ void saxpy(float* y, const float* x, int n, bool all) {
  const int i = all ? blockIdx.x * blockDim.x + threadIdx.x : blockIdx.x;
  if (i < n) y[i] = 3 * x[i] + y[i];  // fault: index_of_the_block
}

void index_of_the_block(bool fixed) {
  OnDevice<float> x(1000, 1.0f), y(1000, 2.0f);
  saxpy<<<8, kBlock>>>(y.data(), x.data(), 1000, fixed);
}

__global__ void shift(int* data, int n, bool barrier) {
  const int i = threadIdx.x;
  const int right = data[(i + 1) % n];  // fault: shift_in_place
  if (barrier) __syncthreads();
  data[i] = right;  // fault: shift_in_place
}

void shift_in_place(bool fixed) {
  std::vector<int> values(kBlock);
  for (int i = 0; i < kBlock; ++i) values[i] = i;
  OnDevice<int> data(values);
  shift<<<1, kBlock>>>(data.data(), kBlock, fixed);
}

// A tree of sums in place: each level reads what the one before has written.
__global__ void tree(int* data, bool barrier) {
  for (int half = kBlock / 2; half > 0; half /= 2) {
    if (static_cast<int>(threadIdx.x) < half)
      data[threadIdx.x] += data[threadIdx.x + half];  // fault: tree_in_place
    if (barrier) __syncthreads();
  }
}

void tree_in_place(bool fixed) {
  OnDevice<int> data(kBlock, 1);
  tree<<<1, kBlock>>>(data.data(), fixed);
}

__global__ void scatter(const int* to, int* out) {
  out[to[threadIdx.x]] = threadIdx.x;  // fault: scatter_to_one_place
}

void scatter_to_one_place(bool fixed) {
  std::vector<int> to(kBlock);
  for (int i = 0; i < kBlock; ++i) to[i] = (fixed ? i : i / 2) * 5 % kBlock;
  OnDevice<int> places(to), out(kBlock);
  scatter<<<1, kBlock>>>(places.data(), out.data());
}

__global__ void publish(int* data, int* flag, int* out, bool fence) {
  if (threadIdx.x == 0) {
    *data = 5;  // fault: block_flag_without_fence
    if (fence) __threadfence_block();
    atomicExch(flag, 1);
  } else if (threadIdx.x == 32) {
    while (atomicAdd(flag, 0) == 0) {
    }
    *out = *data;  // fault: block_flag_without_fence
  }
}

void block_flag_without_fence(bool fixed) {
  OnDevice<int> data(1), flag(1), out(1);
  publish<<<1, 64>>>(data.data(), flag.data(), out.data(), fixed);
}

// ---- What is no race ----------------------------------------------------------------------------

// All that come to a vertex first set it to the same level.
__global__ void visit(const int* edges, int* level, int* changed, int n) {
  const int v = edges[threadIdx.x];
  if (v < n && level[v] < 0) {
    level[v] = 1;
    *changed = 1;
  }
}

void levels(bool) {
  std::vector<int> edges(kBlock);
  for (int i = 0; i < kBlock; ++i) edges[i] = i * 7 % 40;
  OnDevice<int> to(edges), level(40, -1), changed(1);
  visit<<<1, kBlock>>>(to.data(), level.data(), changed.data(), 40);
}

// Bytes that share a word, and an element of 16 bytes of each thread's own, read and written again and again.
__global__ void own(unsigned char* bytes, float4* quads, int rounds) {
  for (int i = 0; i < rounds; ++i) {
    bytes[threadIdx.x] += i;
    float4 quad = quads[threadIdx.x];
    quad.x += quad.w;
    quads[threadIdx.x] = quad;
  }
}

void own_elements(bool) {
  OnDevice<unsigned char> bytes(kBlock);
  OnDevice<float> quads(4 * kBlock, 1.0f);
  own<<<1, kBlock>>>(bytes.data(), reinterpret_cast<float4*>(quads.data()), 3);
}

// Lanes hand over by __syncwarp(), warps by a lock.
__global__ void hand_over(int* data, int* lock, int* sum) {
  const int lane = threadIdx.x % 32;
  data[threadIdx.x] = lane;
  __syncwarp();
  const int other = data[threadIdx.x ^ 1];
  __syncwarp();
  data[threadIdx.x] = other;
  if (lane == 0) {
    while (atomicCAS(lock, 0, 1) != 0) {
    }
    __threadfence();
    *sum += other;
    __threadfence();
    atomicExch(lock, 0);
  }
}

void ordered_otherwise(bool) {
  OnDevice<int> data(kBlock), lock(1), sum(1);
  hand_over<<<1, kBlock>>>(data.data(), lock.data(), sum.data());
}

// In shared memory a fence and an atomic operation order as well.
__global__ void publish_shared(int* out) {
  __shared__ int data, flag;
  if (threadIdx.x == 0) flag = 0;
  __syncthreads();
  if (threadIdx.x == 0) {
    data = 5;
    __threadfence_block();
    atomicExch(&flag, 1);
  } else if (threadIdx.x == 32) {
    while (atomicAdd(&flag, 0) == 0) {
    }
    __threadfence_block();
    *out = data;
  }
}

void flag_in_shared(bool) {
  OnDevice<int> out(1);
  publish_shared<<<1, 64>>>(out.data());
}

}  // namespace

const std::vector<Planted> kBetweenThreads = {
    {"sum_of_a_block", "global-race", sum_of_a_block, false},
    {"count_of_a_warp", "global-race", count_of_a_warp, false},
    {"index_of_the_block", "global-race", index_of_the_block, false},
    {"shift_in_place", "global-race", shift_in_place, false},
    {"tree_in_place", "global-race", tree_in_place, false},
    {"scatter_to_one_place", "global-race", scatter_to_one_place, false},
    {"block_flag_without_fence", "global-race", block_flag_without_fence, false},
    {"levels", "none", levels, false},
    {"own_elements", "none", own_elements, false},
    {"ordered_otherwise", "none", ordered_otherwise, false},
    {"flag_in_shared", "none", flag_in_shared, false},
};
