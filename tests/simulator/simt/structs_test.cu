// A struct that is aligned to its size is loaded and stored by one instruction, as a float4.
#include <gtest/gtest.h>
#include <simt/simt.h>

namespace {

struct alignas(16) Particle {
  float x, y, z, w;
};
struct __align__(8) Pair {
  float x, y;
};
typedef struct __align__(16) {
  float x, y, z, w;
}
Nameless;
struct Trailing {
  float x, y, z, w;
} __attribute__((aligned(16)));
template <class T, int n>
struct alignas(sizeof(T) * n) Vec {
  T x, y, z, w;
};
struct Loose {
  float x, y, z, w;
};

template <class T>
__device__ T loaded(const T* in) {
  T p = *in;
  p.x += 1;
  return p;
}
template <class T>
__global__ void copy(T* out, const T* in) {
  const T p = in[threadIdx.x];
  out[threadIdx.x] = p;
}
template <class T>
__global__ void change(T* out, const T* in) {
  T p = in[threadIdx.x];
  p.x += p.y;
  out[threadIdx.x] = p;
}
template <class T>
__global__ void change_in_function(T* out, const T* in) {
  out[threadIdx.x] = loaded(in + threadIdx.x);
}
__global__ void reorder(Particle* out, const Particle* in) {
  const Particle p = in[threadIdx.x];
  out[threadIdx.x] = {p.w, p.z, p.y, p.x};
}
__global__ void through_shared(Particle* out, const Particle* in) {
  __shared__ Particle tile[32];
  Particle p = in[threadIdx.x];
  p.w *= 2;
  tile[threadIdx.x] = p;
  __syncthreads();
  Particle q = tile[31 - threadIdx.x];
  q.x -= 1;
  out[threadIdx.x] = q;
}

template <class T>
simt::Counts run(void (*kernel)(T*, const T*)) {
  T* memory = nullptr;
  cudaMalloc(&memory, 64 * sizeof(T));
  cudaMemset(static_cast<void*>(memory), 0, 64 * sizeof(T));
  kernel<<<1, 32>>>(memory, memory + 32);
  cudaDeviceSynchronize();
  cudaFree(memory);
  EXPECT_TRUE(simt::take_findings().empty());
  return simt::launch(simt::launch_count() - 1).counts;
}

template <class T>
void expect_requests(void (*kernel)(T*, const T*), unsigned requests) {
  const simt::Counts counts = run(kernel);
  EXPECT_EQ(counts.global_load_requests, requests);
  EXPECT_EQ(counts.global_store_requests, requests);
  EXPECT_EQ(counts.global_load_bytes, 32 * sizeof(T));
  EXPECT_EQ(counts.global_load_sectors, requests * sizeof(T));
}

TEST(Structs, AlignedOnesAreOneAccess) {
  expect_requests(copy<Particle>, 1);
  expect_requests(change<Particle>, 1);
  expect_requests(change_in_function<Particle>, 1);
  expect_requests(reorder, 1);
  expect_requests(change<Pair>, 1);
  expect_requests(change<Nameless>, 1);
  expect_requests(change<Trailing>, 1);
  expect_requests(change<Vec<float, 4>>, 1);
}

TEST(Structs, OthersAreAnAccessForEachMember) { expect_requests(change<Loose>, 4); }

TEST(Structs, InSharedMemoryLikewise) {
  const simt::Counts counts = run(through_shared);
  EXPECT_EQ(counts.shared_load_requests, 1u);
  EXPECT_EQ(counts.shared_store_requests, 1u);
  EXPECT_EQ(counts.global_store_requests, 1u);
}

}  // namespace
