// Atomic operations of which nvcc lets one lane do all: which, was read from the code that nvcc 13.0 makes
// for sm_90 (VOTE, POPC or REDUX, and a predicated RED or ATOM); tests/simulator/agreement has counts of the hardware.

#include <gtest/gtest.h>
#include <simt/simt.h>

namespace {

using Wide = unsigned long long;

__global__ void add(int* c, const int* in) { atomicAdd(c, in[threadIdx.x]); }
__global__ void add_some(int* c, const int*) {
  if (threadIdx.x % 3) atomicAdd(c, 1);
}
__global__ void add_used(int* c, const int*) { c[64 + threadIdx.x] = atomicAdd(c, 1); }
__global__ void add_value_used(int* c, const int* in) {
  c[64 + threadIdx.x] = atomicAdd(c, in[threadIdx.x]);
}
__global__ void maximum(int* c, const int* in) { atomicMax(&c[blockIdx.x], in[threadIdx.x]); }
__global__ void add_wide(Wide* c) { atomicAdd(c, 1ull); }
__global__ void add_shared(int* c, const int* in) {
  __shared__ int sum;
  if (threadIdx.x == 0) sum = 0;
  __syncthreads();
  atomicAdd(&sum, in[threadIdx.x]);
  __syncthreads();
  c[threadIdx.x] = sum;
}

__global__ void add_value_used_by_some(int* c, const int* in) {
  if (threadIdx.x < 20) c[64 + threadIdx.x] = atomicAdd(c, in[threadIdx.x]);
}
__global__ void maximum_used(int* c, const int* in) {
  c[64 + threadIdx.x] = atomicMax(c, in[threadIdx.x]);
}
__global__ void exchange(int* c, const int*) { atomicExch(c, 7); }
__global__ void add_float(float* c) { atomicAdd(c, 1.0f); }
__global__ void add_wide_value(Wide* c, const int* in) {
  atomicAdd(c, static_cast<Wide>(in[threadIdx.x]));
}
__global__ void add_at_thread(int* c, const int*) { atomicAdd(&c[threadIdx.x / 32], 1); }
__global__ void add_at_moved(int* c, const int*) {
  c += threadIdx.x / 32;
  atomicAdd(c, 1);
}

__device__ int counter;
__device__ int counters[4];
__global__ void add_to_variable(int* c, const int*) {
  c[64 + threadIdx.x] = atomicAdd(&counter, 1);
}
__global__ void add_to_element(int*, const int* in) {
  atomicAdd(&counters[blockIdx.x], in[threadIdx.x]);
}
__global__ void add_to_elements(int*, const int*) { atomicAdd(&counters[threadIdx.x / 8], 1); }

__device__ int take(int* c, int n) { return atomicAdd(c, n); }
__device__ void bump(int* c) { take(c, 1); }
__device__ void bump_some(int* c) { atomicAdd(c, 1); }
__device__ __noinline__ void bump_called(int* c) { atomicAdd(c, 1); }
__device__ void to_counter(int n) { atomicAdd(&counter, n); }
__global__ void add_in_function(int* c, const int*) { bump(c + blockIdx.x); }
__global__ void add_in_function_used(int* c, const int*) { c[64 + threadIdx.x] = take(c, 1); }
__global__ void add_in_function_at_thread(int* c, const int*) { bump_some(c + threadIdx.x / 32); }
__global__ void add_in_called_function(int* c, const int*) { bump_called(c); }
__global__ void add_to_variable_in_function(int*, const int* in) { to_counter(in[threadIdx.x]); }
__global__ void add_at_variable(int* c, const int* in) {
  const int row = blockIdx.x;
  int* const at = c + row;
  atomicAdd(at, in[threadIdx.x]);
}
__global__ void add_at_assigned_variable(int* c, const int*) {
  int row = blockIdx.x;
  if (threadIdx.x > 64) row = 7;
  atomicAdd(&c[row], 1);
}

class MergedAtomics : public testing::Test {
 protected:
  void SetUp() override {
    cudaMalloc(&c_, 4096);
    cudaMalloc(&in_, 4096);
    cudaMemset(c_, 0, 4096);
    cudaMemset(in_, 0, 4096);
  }
  void TearDown() override {
    cudaFree(c_);
    cudaFree(in_);
  }
  template <class Kernel, class... Arguments>
  simt::Counts counts(Kernel kernel, Arguments... arguments) {
    kernel<<<1, 32>>>(arguments...);
    EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
    return simt::launch(simt::launch_count() - 1).counts;
  }
  template <class Kernel>
  uint64_t sectors(Kernel kernel) {
    return counts(kernel, c_, in_).global_atomic_sectors;
  }

  int* c_;
  int* in_;
};

TEST_F(MergedAtomics, OfOneAddress) {
  EXPECT_EQ(sectors(add), 1u);
  EXPECT_EQ(sectors(add_some), 1u);
  EXPECT_EQ(sectors(add_used), 1u);
  EXPECT_EQ(sectors(add_value_used), 1u);
  EXPECT_EQ(sectors(maximum), 1u);
  EXPECT_EQ(sectors(add_to_variable), 1u);
  EXPECT_EQ(sectors(add_to_element), 1u);
  EXPECT_EQ(counts(add_wide, reinterpret_cast<Wide*>(c_)).global_atomic_sectors, 1u);
  EXPECT_EQ(counts(add_shared, c_, in_).shared_atomic_wavefronts, 1u);
  EXPECT_EQ(counts(add, c_, in_).global_atomic_requests, 1u);
  EXPECT_EQ(sectors(add_in_function), 1u);
  EXPECT_EQ(sectors(add_in_function_used), 1u);
  EXPECT_EQ(sectors(add_to_variable_in_function), 1u);
  EXPECT_EQ(sectors(add_at_variable), 1u);
}

TEST_F(MergedAtomics, AreNotTheOthers) {
  EXPECT_EQ(sectors(add_value_used_by_some), 20u);
  EXPECT_EQ(sectors(maximum_used), 32u);
  EXPECT_EQ(sectors(exchange), 32u);
  EXPECT_EQ(counts(add_float, reinterpret_cast<float*>(c_)).global_atomic_sectors, 32u);
  EXPECT_EQ(counts(add_wide_value, reinterpret_cast<Wide*>(c_), in_).global_atomic_sectors, 32u);
  EXPECT_EQ(sectors(add_at_thread), 32u);
  EXPECT_EQ(sectors(add_at_moved), 32u);
  EXPECT_EQ(sectors(add_in_function_at_thread), 32u);
  EXPECT_EQ(sectors(add_in_called_function), 32u);
  EXPECT_EQ(sectors(add_at_assigned_variable), 32u);
  EXPECT_EQ(sectors(add_to_elements), 8u);  // 8 lanes each of 4 words
}

TEST_F(MergedAtomics, StillAddForEveryLane) {
  counts(add_some, c_, in_);
  int sum = 0;
  cudaMemcpy(&sum, c_, sizeof sum, cudaMemcpyDeviceToHost);
  EXPECT_EQ(sum, 21);
}

}  // namespace
