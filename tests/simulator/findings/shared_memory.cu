// Accesses to shared memory past the end of an array, or at an address that does not fit.
#include "planted.h"

namespace {

constexpr int kBlock = 64;

__global__ void shift_left(int* data, int last) {
  __shared__ int tile[kBlock];
  tile[threadIdx.x] = data[threadIdx.x];
  __syncthreads();
  const int i = threadIdx.x;
  if (i < last) data[i] = tile[i + 1];  // fault: shared_past_end
}

void shared_past_end(bool fixed) {
  OnDevice<int> data(kBlock);
  shift_left<<<1, kBlock>>>(data.data(), fixed ? kBlock - 1 : kBlock);
}

__global__ void shift_right(int* data, int first) {
  __shared__ int tile[kBlock];
  tile[threadIdx.x] = data[threadIdx.x];
  __syncthreads();
  const int i = threadIdx.x;
  if (i >= first) data[i] = tile[i - 1];  // fault: shared_before_start
}

void shared_before_start(bool fixed) {
  OnDevice<int> data(kBlock);
  shift_right<<<1, kBlock>>>(data.data(), fixed ? 1 : 0);
}

// A tile without room for its border, and a second tile right behind it.
__global__ void add_neighbours(const int* left, const int* right, int* out, int reach) {
  __shared__ int a[kBlock];
  __shared__ int b[kBlock];
  a[threadIdx.x] = left[threadIdx.x];
  b[threadIdx.x] = right[threadIdx.x];
  __syncthreads();
  int sum = b[kBlock - 1 - threadIdx.x];
  for (int k = 0; k <= reach; ++k) sum += a[threadIdx.x + k];  // fault: shared_into_neighbour
  out[threadIdx.x] = sum;
}

void shared_into_neighbour(bool fixed) {
  OnDevice<int> left(kBlock), right(kBlock), out(kBlock);
  add_neighbours<<<1, kBlock>>>(left.data(), right.data(), out.data(), fixed ? 0 : 2);
}

__global__ void fill_dynamic(int* out, int elements) {
  extern __shared__ int all[];
  for (int i = threadIdx.x; i < elements; i += blockDim.x) {
    all[i] = i;  // fault: dynamic_past_end // fault: dynamic_forgotten
  }
  __syncthreads();
  out[threadIdx.x] = all[kBlock - 1 - threadIdx.x];
}

void dynamic_past_end(bool fixed) {
  OnDevice<int> out(kBlock);
  fill_dynamic<<<1, kBlock, kBlock * sizeof(int)>>>(out.data(), fixed ? kBlock : kBlock + 1);
}

void dynamic_forgotten(bool fixed) {
  OnDevice<int> out(kBlock);
  fill_dynamic<<<1, kBlock, fixed ? kBlock * sizeof(int) : 0>>>(out.data(), kBlock);
}

__global__ void load_quads(const float* in, float* out, int offset) {
  __shared__ __align__(16) float tile[4 * kBlock + 4];
  for (int i = threadIdx.x; i < 4 * kBlock + 4; i += blockDim.x) tile[i] = in[i];
  __syncthreads();
  const auto* quads = reinterpret_cast<const float4*>(tile + offset);
  const float4 quad = quads[threadIdx.x];  // fault: shared_misaligned
  out[threadIdx.x] = quad.x + quad.w;
}

void shared_misaligned(bool fixed) {
  OnDevice<float> in(4 * kBlock + 4, 1.0f), out(kBlock);
  load_quads<<<1, kBlock>>>(in.data(), out.data(), fixed ? 4 : 1);
}

}  // namespace

const std::vector<Planted> kSharedMemory = {
    {"shared_past_end", "out-of-bounds", shared_past_end},
    {"shared_before_start", "out-of-bounds", shared_before_start},
    {"shared_into_neighbour", "out-of-bounds", shared_into_neighbour},
    {"dynamic_past_end", "out-of-bounds", dynamic_past_end},
    {"dynamic_forgotten", "out-of-bounds", dynamic_forgotten},
    {"shared_misaligned", "misaligned-access", shared_misaligned},
};
