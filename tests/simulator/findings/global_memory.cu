// Accesses to global and constant memory that hit the wrong place.
#include <cassert>
#include <cstdio>

#include "planted.h"

namespace {

constexpr int kN = 1000;  // no multiple of a block

__global__ void scale(float* data, int n, bool guarded) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (!guarded || i < n) data[i] = 2.0f * i;  // fault: write_past_end
}

void write_past_end(bool fixed) {
  OnDevice<float> data(kN);
  scale<<<4, 256>>>(data.data(), kN, fixed);
}

__global__ void difference(const float* in, float* out, int n, int last) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float right = 0.0f;
  if (i < last) right = in[i + 1];  // fault: read_past_end
  out[i] = right;
}

void read_past_end(bool fixed) {
  OnDevice<float> in(kN, 1.0f), out(kN);
  difference<<<4, 256>>>(in.data(), out.data(), kN, fixed ? kN - 1 : kN);
}

__global__ void blur(const float* in, float* out, int n, int first) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < first || i >= n) return;
  out[i] = in[i - 1];  // fault: read_before_start
}

void read_before_start(bool fixed) {
  OnDevice<float> in(kN, 1.0f), out(kN);
  blur<<<4, 256>>>(in.data(), out.data(), kN, fixed ? 1 : 0);
}

// Rows and columns of a wide matrix swapped: the last row lands far beyond.
__global__ void set_column(float* matrix, int rows, size_t pitch) {
  const int row = threadIdx.x;
  if (row < rows) matrix[row * pitch] = 1.0f;  // fault: write_far_away
}

void write_far_away(bool fixed) {
  OnDevice<float> matrix(32 * 64);
  set_column<<<1, 32>>>(matrix.data(), 32, fixed ? 64 : size_t{1} << 30);
}

// Two buffers lie side by side; the first is overrun into the second.
__global__ void clear(int* data, int n) {
  for (int i = threadIdx.x; i < n; i += blockDim.x) data[i] = 0;  // fault: overrun_into_neighbour
}

void overrun_into_neighbour(bool fixed) {
  OnDevice<int> first(kN), second(kN);
  clear<<<1, 128>>>(first.data(), fixed ? kN : 2 * kN);
}

// n / 4 rounded up: the last float4 hangs over the end.
__global__ void copy_by_four(const float4* in, float4* out, int quads) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < quads) out[i] = in[i];  // fault: vector_across_end
}

void vector_across_end(bool fixed) {
  OnDevice<float> in(1001, 1.0f), out(1004);
  copy_by_four<<<1, 256>>>(reinterpret_cast<const float4*>(in.data()),
                           reinterpret_cast<float4*>(out.data()), fixed ? 250 : 251);
}

__global__ void count(const int* in, int* bins, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(&bins[in[i]], 1);  // fault: atomic_past_end
}

void atomic_past_end(bool fixed) {
  std::vector<int> values(kN);
  for (int i = 0; i < kN; ++i) values[i] = i % (fixed ? 64 : 65);
  OnDevice<int> in(values), bins(64);
  count<<<4, 256>>>(in.data(), bins.data(), kN);
}

__global__ void fill(int* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = i;  // fault: null_pointer // fault: use_after_free // fault: host_vector
}

void null_pointer(bool fixed) {
  OnDevice<int> out(kN);
  fill<<<4, 256>>>(fixed ? out.data() : nullptr, kN);
}

void use_after_free(bool fixed) {
  int* out = nullptr;
  cudaMalloc(&out, kN * sizeof(int));
  if (!fixed) cudaFree(out);
  fill<<<4, 256>>>(out, kN);
  if (fixed) cudaFree(out);
}

void host_vector(bool fixed) {
  std::vector<int> host(kN);
  OnDevice<int> device(kN);
  fill<<<4, 256>>>(fixed ? device.data() : host.data(), kN);
  cudaDeviceSynchronize();
}

__global__ void sum_to(const int* in, int n, int* sum) {
  int mine = 0;
  for (int i = 0; i < n; ++i) mine += in[i];
  *sum = mine;  // fault: host_variable
}

void host_variable(bool fixed) {
  OnDevice<int> in(64, 1), sum(1);
  int on_the_stack = 0;
  sum_to<<<1, 1>>>(in.data(), 64, fixed ? sum.data() : &on_the_stack);
  cudaDeviceSynchronize();
}

__global__ void swap_pairs(float* data, int offset) {
  auto* pairs = reinterpret_cast<float2*>(data + offset);
  float2 pair = pairs[threadIdx.x];  // fault: misaligned_float2
  pairs[threadIdx.x] = make_float2(pair.y, pair.x);
}

void misaligned_float2(bool fixed) {
  OnDevice<float> data(128);
  swap_pairs<<<1, 32>>>(data.data(), fixed ? 2 : 1);
}

__global__ void store_quads(float* data, int offset) {
  auto* quads = reinterpret_cast<float4*>(data + offset);
  quads[threadIdx.x] = make_float4(1, 2, 3, 4);  // fault: misaligned_float4
}

void misaligned_float4(bool fixed) {
  OnDevice<float> data(256);
  store_quads<<<1, 32>>>(data.data(), fixed ? 4 : 2);
}

__global__ void store_word(unsigned char* bytes, int offset) {
  *reinterpret_cast<int*>(bytes + offset) = 7;  // fault: misaligned_word
}

void misaligned_word(bool fixed) {
  OnDevice<unsigned char> bytes(64);
  store_word<<<1, 1>>>(bytes.data(), fixed ? 8 : 5);
}

__device__ int table[64];
__device__ int behind_table[64];

__global__ void fill_table(int n) {
  for (int i = threadIdx.x; i < n; i += blockDim.x) table[i] = i;  // fault: variable_past_end
}

__global__ void use_both(int* out) {
  out[threadIdx.x] = table[threadIdx.x] + behind_table[threadIdx.x];
}

void variable_past_end(bool fixed) {
  OnDevice<int> out(64);
  fill_table<<<1, 32>>>(fixed ? 64 : 65);
  use_both<<<1, 64>>>(out.data());
}

__constant__ float taps[5];

__global__ void convolve(const float* in, float* out, int n, int width) {
  const int i = threadIdx.x;
  float sum = 0.0f;
  for (int k = 0; k < width; ++k) {
    if (i + k < n) sum += taps[k] * in[i + k];  // fault: constant_past_end
  }
  out[i] = sum;
}

void convolve_with(int width) {
  const float values[5] = {1, 2, 3, 2, 1};
  cudaMemcpyToSymbol(taps, values, sizeof(values));
  OnDevice<float> in(256, 1.0f), out(256);
  convolve<<<1, 256>>>(in.data(), out.data(), 256, width);
}

void constant_past_end(bool fixed) { convolve_with(fixed ? 5 : 9); }

__global__ void set_taps(float* where) { where[threadIdx.x] = 1.0f; }  // fault: constant_written

void constant_written(bool fixed) {
  convolve_with(5);
  OnDevice<float> copy(5);
  void* address = nullptr;
  cudaGetSymbolAddress(&address, taps);
  set_taps<<<1, 5>>>(fixed ? copy.data() : static_cast<float*>(address));
}

// An array of a thread's own, in local memory.
__global__ void sort_digits(const int* digits, int* out, int n) {
  int bins[8];
  for (int i = 0; i < 8; ++i) bins[i] = 0;
  for (int i = 0; i < n; ++i)
    ++bins[digits[i]];  // fault: local_far_past_end // fault: local_past_end
  for (int i = 0; i < 8; ++i) out[i] = bins[i];
}

void local_far_past_end(bool fixed) {
  std::vector<int> digits(16);
  for (int i = 0; i < 16; ++i) digits[i] = fixed ? i % 8 : (i == 15 ? 1 << 24 : i % 8);
  OnDevice<int> in(digits), out(8);
  sort_digits<<<1, 1>>>(in.data(), out.data(), 16);
}

// One element past it hits a neighbour on the thread's own stack.
void local_past_end(bool fixed) {
  std::vector<int> digits(16);
  for (int i = 0; i < 16; ++i) digits[i] = i % (fixed ? 8 : 9);
  OnDevice<int> in(digits), out(8);
  sort_digits<<<1, 1>>>(in.data(), out.data(), 16);
}

__global__ void fill_again(int* out) { out[threadIdx.x] = 1; }  // fault: use_after_free_async

void use_after_free_async(bool fixed) {
  int* out = nullptr;
  cudaMallocAsync(&out, 64 * sizeof(int), cudaStream_t{});
  if (!fixed) cudaFreeAsync(out, cudaStream_t{});
  fill_again<<<1, 64>>>(out);
  if (fixed) cudaFreeAsync(out, cudaStream_t{});
  cudaDeviceSynchronize();
}

__global__ void add_pinned(const int* in, int* out) {
  const int mine = in[threadIdx.x];  // fault: pinned_after_free
  out[threadIdx.x] = mine + 1;
}

void pinned_after_free(bool fixed) {
  OnDevice<int> out(64);
  int* in = nullptr;
  cudaMallocHost(&in, 64 * sizeof(int));
  for (int i = 0; i < 64; ++i) in[i] = i;
  if (!fixed) cudaFreeHost(in);
  add_pinned<<<1, 64>>>(in, out.data());
  cudaDeviceSynchronize();
  if (fixed) cudaFreeHost(in);
}

__global__ void check_positive(const int* in) {
  assert(in[threadIdx.x] > 0);  // fault: assert_fails
}

void assert_fails(bool fixed) {
  OnDevice<int> in(32, fixed ? 1 : 0);
  check_positive<<<1, 32>>>(in.data());
}

// Two owners of one object. (Nobody needs it, and g++ would drop it with all that frees it.)
__global__ void part_twice(int* out, bool owns) {
  int* const copy = new int[4];
  int* const also = owns ? copy : nullptr;
  copy[threadIdx.x % 4] = 1;
  out[threadIdx.x] = copy[threadIdx.x % 4];
  delete[] copy;
  delete[] also;  // fault: deleted_twice
}

void deleted_twice(bool fixed) {
  OnDevice<int> out(32);
  part_twice<<<1, 32>>>(out.data(), !fixed);
}

// Nobody reads it before it is deleted: g++ would leave the store out, and the GPU has it.
__global__ void fill_own(int* out, int n) {
  int* const own = new int[4];
  for (int i = 0; i < n; ++i) own[i] = i;  // fault: past_end_of_new
  out[threadIdx.x] = n;
  delete[] own;
}

void past_end_of_new(bool fixed) {
  OnDevice<int> out(32);
  fill_own<<<1, 32>>>(out.data(), fixed ? 4 : 5);
}

// A kernel reads its own strings; those of host code are in the host's memory.
__global__ void spell(char* out, const char* text, int n) {
  const char* from = "a text of the kernel";
  if (text) from = text;
  for (int i = 0; i < n; ++i) out[i] = from[i];  // fault: string_of_the_host
}

void string_of_the_host(bool fixed) {
  OnDevice<char> out(32);
  spell<<<1, 1>>>(out.data(), fixed ? nullptr : "a text of the host", 5);
}

__global__ void write_at(int* data, long index) { data[index] = 1; }

void index_into_another(bool fixed) {
  OnDevice<int> first(64), second(4096);
  const long apart = second.data() - first.data();
  write_at<<<1, 1>>>(first.data(), fixed ? 5 : apart + 5);  // fault: index_into_another
}

__device__ int* at_hand;
struct Lists {
  char tag[4];
  int* list;
} __attribute__((packed));

__global__ void write_by_variable() { at_hand[threadIdx.x] = 1; }
__global__ void write_by_table(int** table) { table[1][threadIdx.x] = 2; }
__global__ void write_by_struct(Lists lists) { lists.list[threadIdx.x] = 3; }
__global__ void write_from_one(int* data) { data[1 + threadIdx.x] = 4; }

// No argument is a pointer to it, and yet the kernel has one.
void pointers_elsewhere(bool) {
  OnDevice<int> before(64), data(64), behind(64);
  int* const pointer = data.data();
  cudaMemcpyToSymbol(at_hand, &pointer, sizeof(pointer));
  write_by_variable<<<1, 32>>>();
  int* const nowhere = nullptr;
  cudaMemcpyToSymbol(at_hand, &nowhere, sizeof(nowhere));
  const OnDevice<int*> table({before.data(), pointer});
  write_by_table<<<1, 32>>>(table.data());
  write_by_struct<<<1, 32>>>({{}, pointer});
  write_from_one<<<1, 32>>>(pointer - 1);
  cudaDeviceSynchronize();
}

__device__ int* made_by_kernel;
__global__ void make(int* copy) {
  made_by_kernel = new int[4];
  for (int i = 0; i < 4; ++i) {
    made_by_kernel[i] = i;
    copy[i] = made_by_kernel[i];
  }
}
__global__ void drop() { delete[] made_by_kernel; }

void copied_from_new(bool fixed) {
  const OnDevice<int> copy(4);
  make<<<1, 1>>>(copy.data());
  int* own = nullptr;
  int host[4] = {};
  cudaMemcpyFromSymbol(&own, made_by_kernel, sizeof(own));
  if (fixed) own = copy.data();
  cudaMemcpy(host, own, sizeof(host), cudaMemcpyDeviceToHost);  // fault: copied_from_new
  drop<<<1, 1>>>();
  cudaDeviceSynchronize();
  if (fixed && host[3] != 3) std::printf("%d\n", host[3]);
}

using Function = float (*)(float);
__host__ __device__ float cube(float x) { return x * x * x; }
__device__ Function cube_on_device = cube;

__global__ void call(Function function, float* data) { data[threadIdx.x] = function(3.0f); }

void function_of_both_as_argument(bool fixed) {
  const OnDevice<float> data(32);
  Function function = cube;
  if (fixed) cudaMemcpyFromSymbol(&function, cube_on_device, sizeof(function));
  call<<<1, 32>>>(function, data.data());  // fault: function_of_both_as_argument
}

__device__ [[gnu::noinline]] void count_up(int* to, int n) {
  for (int i = 0; i < n; ++i) to[i] = i;
}

__global__ void read_of_neighbour(int* out, int n, bool own) {
  __shared__ int* where[32];
  int mine[8];
  count_up(mine, n);
  where[threadIdx.x] = mine;
  __syncthreads();
  const int* const from = where[own ? threadIdx.x : (threadIdx.x + 1) % 32];
  out[threadIdx.x] = from[2] + mine[n - 1];  // fault: array_of_another_thread
  __syncthreads();
}

void array_of_another_thread(bool fixed) {
  const OnDevice<int> out(32);
  read_of_neighbour<<<1, 32>>>(out.data(), 8, fixed);
}

}  // namespace

const std::vector<Planted> kGlobalMemory = {
    {"write_past_end", "out-of-bounds", write_past_end},
    {"read_past_end", "out-of-bounds", read_past_end},
    {"read_before_start", "out-of-bounds", read_before_start},
    {"write_far_away", "out-of-bounds", write_far_away},
    {"overrun_into_neighbour", "out-of-bounds", overrun_into_neighbour},
    {"vector_across_end", "out-of-bounds", vector_across_end},
    {"atomic_past_end", "out-of-bounds", atomic_past_end},
    {"null_pointer", "out-of-bounds", null_pointer},
    {"use_after_free", "use-after-free", use_after_free},
    {"host_vector", "device-access", host_vector},
    {"host_variable", "device-access", host_variable},
    {"string_of_the_host", "device-access", string_of_the_host, false},
    {"misaligned_float2", "misaligned-access", misaligned_float2},
    {"misaligned_float4", "misaligned-access", misaligned_float4},
    {"misaligned_word", "misaligned-access", misaligned_word},
    {"variable_past_end", "out-of-bounds", variable_past_end},
    {"constant_past_end", "out-of-bounds", constant_past_end},
    {"constant_written", "constant-write", constant_written},
    {"past_end_of_new", "out-of-bounds", past_end_of_new, false},
    {"function_of_both_as_argument", "device-access", function_of_both_as_argument, false},
    {"array_of_another_thread", "device-access", array_of_another_thread, false},
    {"copied_from_new", "api-error", copied_from_new, false},
    {"local_far_past_end", "out-of-bounds", local_far_past_end},
    {"local_past_end", "out-of-bounds", local_past_end},
    {"use_after_free_async", "use-after-free", use_after_free_async},
    {"pinned_after_free", "use-after-free", pinned_after_free},
    {"assert_fails", "trap", assert_fails},
    {"deleted_twice", "trap", deleted_twice, false},
    {"index_into_another", "out-of-bounds", index_into_another, false},
    {"pointers_elsewhere", "none", pointers_elsewhere, false},
};
