// Memory that is read before anyone has written it.
#include <cstdio>

#include "planted.h"

namespace {

constexpr int kN = 256;

__global__ void add_to(const int* in, int* sum) {
  const int mine = in[threadIdx.x];
  atomicAdd(sum, mine);  // fault: sum_not_cleared
}

void sum_not_cleared(bool fixed) {
  OnDevice<int> in(kN, 1);
  int* sum = nullptr;
  cudaMalloc(&sum, sizeof(int));
  if (fixed) cudaMemset(sum, 0, sizeof(int));
  add_to<<<1, kN>>>(in.data(), sum);
  cudaFree(sum);
}

__global__ void copy(const float* in, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i];  // fault: input_not_copied // fault: cleared_by_elements
}

void input_not_copied(bool fixed) {
  const std::vector<float> host(kN, 1.0f);
  OnDevice<float> out(kN);
  float* in = nullptr;
  cudaMalloc(&in, kN * sizeof(float));
  if (fixed) cudaMemcpy(in, host.data(), kN * sizeof(float), cudaMemcpyHostToDevice);
  copy<<<1, kN>>>(in, out.data(), kN);
  cudaFree(in);
}

// cudaMemset counts bytes.
void cleared_by_elements(bool fixed) {
  OnDevice<float> out(kN);
  float* in = nullptr;
  cudaMalloc(&in, kN * sizeof(float));
  cudaMemset(in, 0, fixed ? kN * sizeof(float) : kN);
  copy<<<1, kN>>>(in, out.data(), kN);
  cudaFree(in);
}

__global__ void accumulate(float* out, int n) {
  for (int i = threadIdx.x; i < n; i += blockDim.x) out[i] += 1.0f;  // fault: accumulate_into_fresh
}

void accumulate_into_fresh(bool fixed) {
  float* out = nullptr;
  cudaMalloc(&out, kN * sizeof(float));
  if (fixed) cudaMemset(out, 0, kN * sizeof(float));
  accumulate<<<1, 64>>>(out, kN);
  cudaFree(out);
}

__global__ void fill_most(int* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = i;
}

// The grid is one block short, and the host reads what nobody computed.
volatile int total;

void result_not_written(bool fixed) {
  std::vector<int> host(kN);
  int* out = nullptr;
  cudaMalloc(&out, kN * sizeof(int));
  fill_most<<<fixed ? 4 : 3, 64>>>(out, kN);
  const size_t bytes = kN * sizeof(int);
  cudaMemcpy(host.data(), out, bytes, cudaMemcpyDeviceToHost);  // fault: result_not_written
  int sum = 0;
  for (const int value : host) sum += value;
  total = sum;
  cudaFree(out);
}

__global__ void read_tile(int* out, bool whole) {
  __shared__ int tile[64];
  if (whole || threadIdx.x < 32) tile[threadIdx.x] = threadIdx.x;
  __syncthreads();
  out[threadIdx.x] = tile[63 - threadIdx.x];  // fault: tile_half_filled
}

void tile_half_filled(bool fixed) {
  OnDevice<int> out(64);
  read_tile<<<1, 64>>>(out.data(), fixed);
}

// An atomic exchange whose old value nobody looks at is a store.
__global__ void take_turn(int* out, bool cleared) {
  __shared__ int taken;
  if (cleared && threadIdx.x == 0) atomicExch(&taken, 0);
  __syncthreads();
  if (atomicExch(&taken, 1) == 0) *out = threadIdx.x;  // fault: exchange_not_cleared
}

void exchange_not_cleared(bool fixed) {
  OnDevice<int> out(1);
  take_turn<<<1, 64>>>(out.data(), fixed);
}

__constant__ float never_copied[5];
__constant__ float copied[5];
__constant__ float zeros[5] = {};
__constant__ float half[10];

__global__ void use_constants(float* out) {
  const float* const factors = zeros;  // set by its initialiser
  out[threadIdx.x] = factors[threadIdx.x] + half[threadIdx.x];
}
__global__ void use_never_copied(float* out) {
  out[threadIdx.x] = never_copied[threadIdx.x];  // fault: constant_not_copied
}
__global__ void use_copied(float* out) {
  out[threadIdx.x] = copied[threadIdx.x];  // fault: constant_by_elements
}

void constant_not_copied(bool fixed) {
  const float values[10] = {1, 2, 3, 2, 1};
  OnDevice<float> out(5);
  if (fixed) cudaMemcpyToSymbol(never_copied, values, sizeof never_copied);
  cudaMemcpyToSymbol(half, values, sizeof half / 2);
  use_constants<<<1, 5>>>(out.data());
  use_never_copied<<<1, 5>>>(out.data());
}

void constant_by_elements(bool fixed) {
  const float values[5] = {1, 2, 3, 2, 1};
  OnDevice<float> out(5);
  cudaMemcpyToSymbol(copied, values, fixed ? 5 * sizeof(float) : 5);
  use_copied<<<1, 5>>>(out.data());
}

__global__ void fill_all(float* out) { out[threadIdx.x] = 3.0f; }

void result_by_elements(bool fixed) {
  OnDevice<float> out(64);
  std::vector<float> host(64);
  fill_all<<<1, 64>>>(out.data());
  const auto back = cudaMemcpyDeviceToHost;
  cudaMemcpy(host.data(), out.data(), fixed ? 256 : 64, back);  // fault: result_by_elements
  float sum = 0;
  for (const float value : host) sum += value;
  total = static_cast<int>(sum);
}

// A quarter is what is wanted; and quarters that make the whole.
void quarter_of_the_result(bool) {
  OnDevice<float> out(64);
  std::vector<float> host(64, 3.0f), first(16);
  fill_all<<<1, 64>>>(out.data());
  cudaMemcpy(first.data(), out.data(), 64, cudaMemcpyDeviceToHost);
  float sum = 0;
  for (const float value : first) sum += value;
  cudaMemcpy(host.data(), out.data(), 64, cudaMemcpyDeviceToHost);
  for (const float value : host) sum += value;
  for (float& value : host) value = 0.0f;
  for (int i = 0; i < 4; ++i)
    cudaMemcpy(host.data() + i * 16, out.data() + i * 16, 64, cudaMemcpyDeviceToHost);
  for (const float value : host) sum += value;
  total = static_cast<int>(sum);
}

__global__ void scale_rows(float* matrix, size_t pitch, int columns, int rows) {
  for (int y = 0; y < rows; ++y) {
    float* const row = reinterpret_cast<float*>(reinterpret_cast<char*>(matrix) + y * pitch);
    if (static_cast<int>(threadIdx.x) < columns) {
      row[threadIdx.x] *= 2;  // fault: rows_as_one_piece
    }
  }
}

void rows_as_one_piece(bool fixed) {
  constexpr int kColumns = 20, kRows = 30;
  constexpr size_t kRow = kColumns * sizeof(float);
  const std::vector<float> host(kColumns * kRows, 1.0f);
  float* matrix = nullptr;
  size_t pitch = 0;
  cudaMallocPitch(&matrix, &pitch, kRow, kRows);
  const auto kind = cudaMemcpyHostToDevice;
  if (fixed) cudaMemcpy2D(matrix, pitch, host.data(), kRow, kRow, kRows, kind);
  if (!fixed) cudaMemcpy(matrix, host.data(), kRow * kRows, kind);
  scale_rows<<<1, 32>>>(matrix, pitch, kColumns, kRows);
  cudaFree(matrix);
}

void rows_back_as_one_piece(bool fixed) {
  constexpr int kColumns = 20, kRows = 30;
  constexpr size_t kRow = kColumns * sizeof(float);
  std::vector<float> host(kColumns * kRows, 1.0f);
  float* matrix = nullptr;
  size_t pitch = 0;
  cudaMallocPitch(&matrix, &pitch, kRow, kRows);
  cudaMemcpy2D(matrix, pitch, host.data(), kRow, kRow, kRows, cudaMemcpyHostToDevice);
  scale_rows<<<1, 32>>>(matrix, pitch, kColumns, kRows);
  const auto back = cudaMemcpyDeviceToHost;
  if (fixed) cudaMemcpy2D(host.data(), kRow, matrix, pitch, kRow, kRows, back);
  if (!fixed) cudaMemcpy(host.data(), matrix, kRow * kRows, back);  // fault: rows_back_as_one_piece
  float sum = 0;
  for (const float value : host) sum += value;
  total = static_cast<int>(sum);
  cudaFree(matrix);
}

__global__ void set_ones(int* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = 1;
}

// A number of blocks that is rounded down; in memory that both sides share.
void managed_rest_read(bool fixed) {
  constexpr int n = 100;
  int* ones = nullptr;
  cudaMallocManaged(&ones, n * sizeof(int));
  set_ones<<<fixed ? (n + 31) / 32 : n / 32, 32>>>(ones, n);
  cudaDeviceSynchronize();
  int sum = 0;
  for (int i = 0; i < n; ++i) sum += ones[i];  // fault: managed_rest_read
  total = sum;
  cudaFree(ones);
}

// Nothing is wrong where the host has set the array.
void managed_rest_cleared(bool fixed) {
  constexpr int n = 100;
  int* ones = nullptr;
  cudaMallocManaged(&ones, n * sizeof(int));
  if (fixed) cudaMemset(ones, 0, n * sizeof(int));
  if (!fixed) std::fill(ones, ones + n, 0);
  set_ones<<<1, 32>>>(ones, 32);
  cudaDeviceSynchronize();
  for (int i = 0; i < n; ++i) total = total + ones[i];
  cudaFree(ones);
}

__global__ void set_every(int* out, int n, int step) {
  const int i = step * (blockIdx.x * blockDim.x + threadIdx.x);
  if (i < n) out[i] = 1;
}

// Each second element is left out.
void managed_holes_read(bool fixed) {
  constexpr int n = 100;
  int* ones = nullptr;
  cudaMallocManaged(&ones, n * sizeof(int));
  set_every<<<4, 32>>>(ones, n, fixed ? 1 : 2);
  cudaDeviceSynchronize();
  int sum = 0;
  for (int i = 0; i < n; ++i) sum += ones[i];  // fault: managed_holes_read
  total = sum;
  cudaFree(ones);
}

// Nothing is wrong where the C library has filled the array, with zeros as it may be; or where a kernel adds to what is fresh.
void managed_rest_from_file(bool fixed) {
  constexpr int n = 100;
  int* ones = nullptr;
  cudaMallocManaged(&ones, n * sizeof(int));
  std::FILE* const zeros = std::fopen("/dev/zero", "rb");
  const size_t read = std::fread(ones, sizeof(int), n, zeros);
  std::fclose(zeros);
  set_every<<<1, 32>>>(ones, n, fixed ? 1 : 2);
  cudaDeviceSynchronize();
  for (size_t i = 0; i < read; ++i) total = total + ones[i];
  cudaFree(ones);
}

__global__ void count_every(int* bins, int n, int step) {
  const int i = step * threadIdx.x;
  if (i < n) atomicAdd(&bins[i], 1);
}

void managed_bins_read(bool fixed) {
  constexpr int n = 100;
  int* bins = nullptr;
  cudaMallocManaged(&bins, n * sizeof(int));
  count_every<<<1, 128>>>(bins, n, fixed ? 1 : 3);
  cudaDeviceSynchronize();
  for (int i = 0; i < n; ++i) total = total + bins[i];
  cudaFree(bins);
}

// A grid that is one block short, of an array that was copied in: what is left is what it was.
__global__ void increment(int* values, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) ++values[i];
}

void grid_rounded_down(bool fixed) {
  std::vector<int> host(kN + 8, 1);
  OnDevice<int> values(host);
  const int blocks = (kN + 8) / 64 + fixed;
  increment<<<blocks, 64>>>(values.data(), kN + 8);  // fault: grid_rounded_down
  cudaMemcpy(host.data(), values.data(), host.size() * sizeof(int), cudaMemcpyDeviceToHost);
  total = host.back();
}

// The second pass adds up the input again, in place of what the first has left.
__global__ void add_up(int* sums, const int* in, int n) {
  int sum = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x)
    sum += in[i];
  for (int by = 16; by > 0; by /= 2) sum += __shfl_down_sync(~0u, sum, by);
  if (threadIdx.x == 0) sums[blockIdx.x] = sum;
}

void second_pass_of_input(bool fixed) {
  OnDevice<int> in(kN, 1), sums(8);
  add_up<<<8, 32>>>(sums.data(), in.data(), kN);
  const int* const from = fixed ? sums.data() : in.data();
  add_up<<<1, 32>>>(sums.data(), from, 8);  // fault: second_pass_of_input
  int sum = 0;
  cudaMemcpy(&sum, sums.data(), sizeof(int), cudaMemcpyDeviceToHost);
  total = sum;
}

}  // namespace

const std::vector<Planted> kUninitialized = {
    {"sum_not_cleared", "uninitialized-global", sum_not_cleared},
    {"input_not_copied", "uninitialized-global", input_not_copied},
    {"cleared_by_elements", "uninitialized-global", cleared_by_elements},
    {"accumulate_into_fresh", "uninitialized-global", accumulate_into_fresh},
    {"result_not_written", "uninitialized-global", result_not_written},
    {"tile_half_filled", "uninitialized-shared", tile_half_filled},
    {"exchange_not_cleared", "uninitialized-shared", exchange_not_cleared, false},
    {"result_by_elements", "api-error", result_by_elements, false},
    {"quarter_of_the_result", "none", quarter_of_the_result, false},
    {"rows_as_one_piece", "uninitialized-global", rows_as_one_piece, false},
    {"rows_back_as_one_piece", "uninitialized-global", rows_back_as_one_piece, false},
    {"managed_rest_read", "uninitialized-global", managed_rest_read, false},
    {"managed_rest_cleared", "none", managed_rest_cleared, false},
    {"managed_holes_read", "uninitialized-global", managed_holes_read, false},
    {"managed_rest_from_file", "none", managed_rest_from_file, false},
    {"managed_bins_read", "none", managed_bins_read, false},
    {"constant_not_copied", "uninitialized-constant", constant_not_copied, false},
    {"constant_by_elements", "uninitialized-constant", constant_by_elements, false},
    {"grid_rounded_down", "short-grid", grid_rounded_down, false},
    {"second_pass_of_input", "unread-result", second_pass_of_input, false},
};
