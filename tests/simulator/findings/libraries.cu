// Libraries that are called wrongly.
#include <cublas_v2.h>
#include <curand_kernel.h>
#include <thrust/device_vector.h>
#include <thrust/sort.h>
#include <thrust/transform.h>

#include "planted.h"

namespace {

constexpr int kN = 100;

void output_too_small(bool fixed) {
  const thrust::device_vector<int> in(kN, 1);
  thrust::device_vector<int> out(fixed ? kN : kN - 1);
  const thrust::negate<int> op;
  thrust::transform(in.begin(), in.end(), out.begin(), op);  // fault: output_too_small
}

// A raw pointer is one of the host's to Thrust, unless a policy says otherwise.
void sort_without_policy(bool fixed) {
  thrust::device_vector<int> data(kN, 1);
  int* const p = thrust::raw_pointer_cast(data.data());
  if (fixed) {
    thrust::sort(thrust::device, p, p + kN);
  } else {
    thrust::sort(p, p + kN);  // fault: sort_without_policy
  }
}

void vector_is_gone(bool fixed) {
  int* p = nullptr;
  thrust::device_vector<int> data(kN, 1);
  p = thrust::raw_pointer_cast(data.data());
  if (!fixed) data.push_back(2);            // which moves all of them
  thrust::fill_n(thrust::device, p, 1, 3);  // fault: vector_is_gone
}

// Rows and columns are swapped in what the product is told.
void product_past_end(bool fixed) {
  constexpr int kRows = 20, kColumns = 30, kInner = 10;
  const OnDevice<float> a(kRows * kInner, 1.0f), b(kInner * kColumns, 1.0f);
  float* pc = nullptr;
  cudaMalloc(&pc, kRows * kColumns * sizeof(float));
  cublasHandle_t h = nullptr;
  cublasCreate(&h);
  const float one = 1, zero = 0;
  const int m = fixed ? kRows : kColumns, n = fixed ? kColumns : kRows, k = kInner;
  const auto op = CUBLAS_OP_N;
  const float *pa = a.data(), *pb = b.data();
  cublasSgemm(h, op, op, m, n, k, &one, pa, m, pb, k, &zero, pc, m);  // fault: product_past_end
  cublasDestroy(h);
  // The GPU has written it, if with other numbers: no second finding.
  std::vector<float> product(kRows * kColumns);
  cudaMemcpy(product.data(), pc, product.size() * sizeof(float), cudaMemcpyDeviceToHost);
  if (product[5] != kInner && fixed) std::printf("%f\n", product[5]);
  cudaFree(pc);
}

void sum_of_host_memory(bool fixed) {
  const std::vector<float> host(kN, 1.0f);
  const OnDevice<float> x(host);
  cublasHandle_t h = nullptr;
  cublasCreate(&h);
  float sum = 0;
  const float* const p = fixed ? x.data() : host.data();
  cublasSasum(h, kN, p, 1, &sum);  // fault: sum_of_host_memory
  cublasDestroy(h);
}

// Blocks of two dimensions, and an index of one.
__global__ void draw(unsigned* hits, unsigned width) {
  const unsigned row = blockIdx.x * blockDim.y + threadIdx.y;
  curandState state;
  curand_init(42, row * width + threadIdx.x, 0, &state);  // fault: rows_draw_the_same
  const float x = curand_uniform(&state), y = curand_uniform(&state);
  if (x * x + y * y <= 1) atomicAdd(hits, 1);
}

void rows_draw_the_same(bool fixed) {
  OnDevice<unsigned> hits(1, 0);
  draw<<<2, dim3(16, 4)>>>(hits.data(), fixed ? 16 : 0);
}

}  // namespace

const std::vector<Planted> kLibraries = {
    {"rows_draw_the_same", "same-random", rows_draw_the_same, false},
    {"output_too_small", "out-of-bounds", output_too_small, false},
    {"sort_without_policy", "host-access", sort_without_policy, false},
    {"product_past_end", "out-of-bounds", product_past_end, false},
    {"sum_of_host_memory", "device-access", sum_of_host_memory, false},
    {"vector_is_gone", "use-after-free", vector_is_gone, false},
};
