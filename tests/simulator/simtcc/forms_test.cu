// Every form of a launch and of shared memory, compiled by simtcc and run. That this file compiles without
// a warning is part of the test.

#include <cuda_runtime.h>
#include <gtest/gtest.h>
#include <simt/simt.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <type_traits>
#include <utility>

#include "forms_header.cuh"

namespace {

// Memory that host and device share.
template <class T>
class Managed {
 public:
  explicit Managed(int n, T value = {}) {
    cudaMallocManaged(&data_, n * sizeof(T));
    for (int i = 0; i < n; ++i) data_[i] = value;
  }
  ~Managed() { cudaFree(data_); }
  Managed(const Managed&) = delete;
  Managed& operator=(const Managed&) = delete;
  T* data() { return data_; }
  T& operator[](int i) {
    cudaDeviceSynchronize();
    return data_[i];
  }

 private:
  T* data_ = nullptr;
};

// ---- kernels

__global__ void store(int* out, int value) { out[threadIdx.x] = value; }

template <int N>
__global__ void store_number(int* out) {
  out[threadIdx.x] = N;
}

template <bool wide, class T>
__global__ void store_size(int* out, T value) {
  out[0] = wide ? static_cast<int>(sizeof(value)) : -1;
}

__global__ void overloaded(int* out) { out[0] = 1; }
__global__ void overloaded(float* out) { out[0] = 2; }
template <class T>
__global__ void overloaded(T* out, T value) {
  out[0] = value;
}

__global__ void with_defaults(int* out, int a = 10, const int* extra = nullptr, float b = 2.5f) {
  out[0] = a + (extra ? *extra : 0) + static_cast<int>(2 * b);
}

__global__ void takes_pointers(int* out, const float* a, const int* b) {
  out[0] = a == nullptr && b == nullptr ? 7 : 8;
}

template <class F>
__global__ void apply(int* out, F function, int n) {
  const int i = threadIdx.x;
  if (i < n) out[i] = function(i);
}

template <class... T>
__global__ void sum_all(int* out, T... values) {
  out[0] = (0 + ... + values);
}

struct Plain {
  int a;
  double b[3];
};
__global__ void takes_struct(int* out, Plain plain) {
  out[0] = plain.a + static_cast<int>(plain.b[2]);
}

// Not plain data: a copy constructor that counts on the host and must not touch host memory on the device.
struct Copied {
  int value;
  explicit Copied(int v) : value(v) {}
  __host__ __device__ Copied(const Copied& other) : value(other.value) {}
};
__global__ void takes_copied(int* out, Copied copied) { out[threadIdx.x] = copied.value; }

__global__ void kernel_of_owner(int* out) { out[0] = 41; }
template <int N>
__global__ void numbered(int* out) {
  out[0] = N;
}
__global__ void add_to(int* out, int value) { out[0] += value; }

// Launches from member functions.
struct Owner {
  void run(int* out) {
    kernel_of_owner<<<1, 1>>>(out);
    this->kernel<<<1, 1>>>(out);
    offset = 1;
    add_to<<<1, 1>>>(out, offset);
  }
  template <int N>
  void run_numbered(int* out) {
    numbered<N><<<1, 1>>>(out);
    this->template pick<N + 1>()<<<1, 1>>>(out + 1);
  }
  template <int N>
  auto pick() const {
    return &numbered<N>;
  }
  void (*kernel)(int*) = kernel_of_owner;
  int offset = 0;
};

namespace inner {
__global__ void qualified(int* out) { out[0] = 5; }
}  // namespace inner

}  // namespace

__global__ void global_kernel(int* out) { out[0] = 6; }
template __global__ void add_one<long>(long*, int);

namespace {

// ---- launches

TEST(Forms, Plain) {
  Managed<int> out(32);
  store<<<1, 32>>>(out.data(), 3);
  for (int i = 0; i < 32; ++i) EXPECT_EQ(out[i], 3);
}

TEST(Forms, NamesAndTemplates) {
  Managed<int> out(8);
  inner::qualified<<<1, 1>>>(out.data());
  EXPECT_EQ(out[0], 5);
  ::global_kernel<<<1, 1>>>(out.data());
  EXPECT_EQ(out[0], 6);
  constexpr int a = 3, b = 2;
  store_number<a + b><<<1, 1>>>(out.data());
  EXPECT_EQ(out[0], 5);
  store_number<(a > b)><<<1, 1>>>(out.data());
  EXPECT_EQ(out[0], 1);
  // clang-format off
  store_number<(8 >> 1)><<<8 >> 3, 1 << 0>>>(out.data());
  // clang-format on
  EXPECT_EQ(out[0], 4);
  store_size<(a > b), double><<<1, 1>>>(out.data(), 1);
  EXPECT_EQ(out[0], 8);
  store_size<(a > b)><<<1, 1>>>(out.data(), short{1});  // the rest is deduced
  EXPECT_EQ(out[0], 2);
  (store_number<9>)<<<1, 1>>>(out.data());
  EXPECT_EQ(out[0], 9);
}

TEST(Forms, DeducedAndOverloaded) {
  Managed<int> out(1);
  Managed<float> floats(1);
  overloaded<<<1, 1>>>(out.data());
  EXPECT_EQ(out[0], 1);
  overloaded<<<1, 1>>>(floats.data());
  EXPECT_EQ(floats[0], 2);
  overloaded<<<1, 1>>>(floats.data(), 2.5f);
  EXPECT_EQ(floats[0], 2.5f);
  overloaded<int><<<1, 1>>>(out.data(), 3);
  EXPECT_EQ(out[0], 3);
  sum_all<<<1, 1>>>(out.data(), 1, 2L, short{3});
  EXPECT_EQ(out[0], 6);
  sum_all<int, int><<<1, 1>>>(out.data(), 4, 5);
  EXPECT_EQ(out[0], 9);
  add_one<<<1, 1>>>(out.data(), 1);
  EXPECT_EQ(out[0], 10);
}

TEST(Forms, DefaultArguments) {
  Managed<int> out(2);
  out[1] = 100;
  with_defaults<<<1, 1>>>(out.data());
  EXPECT_EQ(out[0], 15);
  with_defaults<<<1, 1>>>(out.data(), 20.75);  // converted as in a call
  EXPECT_EQ(out[0], 25);
  with_defaults<<<1, 1>>>(out.data(), 20, NULL);
  EXPECT_EQ(out[0], 25);
  with_defaults<<<1, 1>>>(out.data(), 20, 0);
  EXPECT_EQ(out[0], 25);
  with_defaults<<<1, 1>>>(out.data(), 20, out.data() + 1, 1);
  EXPECT_EQ(out[0], 122);
}

TEST(Forms, ConversionsToTheParameters) {
  Managed<int> out(1);
  takes_pointers<<<1, 1>>>(out.data(), NULL, 0);
  EXPECT_EQ(out[0], 7);
  takes_pointers<<<1, 1>>>(out.data(), nullptr, nullptr);
  EXPECT_EQ(out[0], 7);
  store<<<1, 1>>>(out.data(), 2.75f);
  EXPECT_EQ(out[0], 2);
  takes_struct<<<1, 1>>>(out.data(), {4, {1, 2, 3}});
  EXPECT_EQ(out[0], 7);
  const Plain plain{40, {0, 0, 2}};
  takes_struct<<<1, 1>>>(out.data(), plain);
  EXPECT_EQ(out[0], 42);
}

TEST(Forms, ArgumentsAreCopiedForEachThread) {
  Managed<int> out(64);
  takes_copied<<<1, 64>>>(out.data(), Copied(12));
  for (int i = 0; i < 64; ++i) EXPECT_EQ(out[i], 12);
  const Copied lvalue(13);
  takes_copied<<<1, 1>>>(out.data(), lvalue);
  EXPECT_EQ(out[0], 13);
}

// The body of a TEST is private, and device lambdas cannot stand there.
void apply_twice(int* out, const std::function<int(int)>& count) {
  apply<<<1, 32>>>(
      out, [] __device__(int i) { return 2 * i; }, count(32));
}

void apply_factor(int* out, int factor) {
  apply<<<1, 32>>>(
      out, [=] __device__(int i) { return factor * i; }, 32);
}

void apply_square(int* out) {
  const auto square = [] __host__ __device__(int i) { return i * i; };
  apply<<<1, 32>>>(out, square, 32);
}

TEST(Forms, ArgumentsAreEvaluatedOnce) {
  Managed<int> out(32);
  int evaluated = 0;
  const auto count = [&evaluated](int value) {
    ++evaluated;
    return value;
  };
  store<<<count(1), count(32)>>>(out.data(), count(5));
  EXPECT_EQ(evaluated, 3);
  apply_twice(out.data(), count);
  EXPECT_EQ(evaluated, 4);
  EXPECT_EQ(out[31], 62);
}

TEST(Forms, FunctionPointersAndTables) {
  Managed<int> out(1);
  void (*pointer)(int*, int) = store;
  pointer<<<1, 1>>>(out.data(), 1);
  EXPECT_EQ(out[0], 1);
  (*pointer)<<<1, 1>>>(out.data(), 2);
  EXPECT_EQ(out[0], 2);
  void (*table[])(int*) = {store_number<4>, store_number<5>};
  for (int i = 0; i < 2; ++i) {
    table[i]<<<1, 1>>>(out.data());
    EXPECT_EQ(out[0], 4 + i);
  }
  const auto pick = [&table](int i) { return table[i]; };
  pick(1)<<<1, 1>>>(out.data());
  EXPECT_EQ(out[0], 5);
  auto [first, second] = std::pair(table[0], 3);
  first<<<1, 1>>>(out.data());
  EXPECT_EQ(out[0], second + 1);
  const auto launch = [](auto kernel, auto... arguments) { kernel<<<1, 1>>>(arguments...); };
  launch(store, out.data(), 77);
  EXPECT_EQ(out[0], 77);
}

// In a template, g++ leaves __restrict__ in the type of the parameter.
template <typename T, int kN>
__global__ void takes_restricted(const T* __restrict__ in, T* __restrict__ const out,
                                 const unsigned n) {
  if (threadIdx.x < n) out[threadIdx.x] = in[threadIdx.x] + kN;
}

template <typename T>
void launch_restricted(const T* in, T* out) {
  takes_restricted<T, 3><<<1, 32>>>(in, out, 4u);
}

TEST(Forms, RestrictedParametersOfTemplates) {
  Managed<int> in(4), out(4);
  for (int i = 0; i < 4; ++i) in[i] = i;
  launch_restricted(in.data(), out.data());
  EXPECT_EQ(out[3], 6);
  const int* from = in.data();
  int* to = out.data();
  unsigned n = 4;
  void* arguments[] = {&from, &to, &n};
  ASSERT_EQ(cudaLaunchKernel(reinterpret_cast<const void*>(&takes_restricted<int, 5>), dim3(1),
                             dim3(32), arguments, 0, nullptr),
            cudaSuccess);
  EXPECT_EQ(out[3], 8);
}

__global__ void takes_nothing() {}

TEST(Forms, LaunchWithoutArguments) {
  const auto launch = [](const void* kernel) {
    return cudaLaunchKernel(kernel, dim3(1), dim3(1), nullptr, 0, nullptr);
  };
  EXPECT_EQ(launch(reinterpret_cast<const void*>(&takes_restricted<int, 5>)),
            cudaErrorInvalidValue);
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidValue);
  EXPECT_EQ(launch(reinterpret_cast<const void*>(&takes_nothing)), cudaSuccess);
}

TEST(Forms, Members) {
  Managed<int> out(2);
  Owner owner;
  owner.run(out.data());
  EXPECT_EQ(out[0], 42);
  owner.run_numbered<8>(out.data());
  EXPECT_EQ(out[0], 8);
  EXPECT_EQ(out[1], 9);
  owner.kernel<<<1, 1>>>(out.data());
  EXPECT_EQ(out[0], 41);
  numbered<3><<<1, 1>>>(out.data());
  EXPECT_EQ(out[0], 3);
}

TEST(Forms, LambdasAsArguments) {
  Managed<int> out(32);
  apply_factor(out.data(), 3);
  EXPECT_EQ(out[10], 30);
  apply_square(out.data());
  EXPECT_EQ(out[10], 100);
}

TEST(Forms, StatementsAndExpressions) {
  Managed<int> out(1);
  if (out[0] == 0) store<<<1, 1>>>(out.data(), 1);
  EXPECT_EQ(out[0], 1);
  if (out[0] == 0)
    store<<<1, 1>>>(out.data(), 2);
  else
    store<<<1, 1>>>(out.data(), 3);
  EXPECT_EQ(out[0], 3);
  for (int i = 0; i < 3; ++i) store<<<1, 1>>>(out.data(), i);
  EXPECT_EQ(out[0], 2);
  do store<<<1, 1>>>(out.data(), 4);
  while (out[0] != 4);
  switch (out[0]) {
    case 4:
      store<<<1, 1>>>(out.data(), 5);
      break;
    default:
      break;
  }
  EXPECT_EQ(out[0], 5);
  out[0] == 5 ? store<<<1, 1>>>(out.data(), 6) : store<<<1, 1>>>(out.data(), 7);
  EXPECT_EQ(out[0], 6);
  const int value = (store<<<1, 1>>>(out.data(), 8), out[0]);
  EXPECT_EQ(value, 8);
  [&] { store<<<1, 1>>>(out.data(), 9); }();
  EXPECT_EQ(out[0], 9);
}

TEST(Forms, MacrosAndHeaders) {
  Managed<int> out(40);
  LAUNCH_1D(add_one, 40, out.data(), 40);
  launch_from_header(out.data(), 40);
  EXPECT_EQ(out[39], 2);
  LAUNCH_1D(store_number<3>, 32, out.data());
  EXPECT_EQ(out[31], 3);
}

template <class T, int... N>
void launch_all(T* out) {
  (store_number<N><<<1, 1>>>(out + N), ...);
  add_one<T><<<1, sizeof...(N)>>>(out, sizeof...(N));
}
template <auto kernel, class... A>
void launch_it(A... arguments) {
  kernel<<<1, 1>>>(arguments...);
}

TEST(Forms, InsideTemplates) {
  Managed<int> out(4);
  launch_all<int, 0, 1, 2, 3>(out.data());
  EXPECT_EQ(out[3], 4);
  launch_it<store>(out.data(), 11);
  EXPECT_EQ(out[0], 11);
}

__global__ void __launch_bounds__(64, 2) bounded(int* out) { out[0] = blockDim.x; }
__launch_bounds__(64) __global__ void bounded_before(int* out) { out[0] = blockDim.y; }
extern "C" __global__ void c_linkage(int* out) { out[0] = gridDim.x; }

// With a pack that may be empty, or a default for the rest, `kernel<2>` is one function already; the arguments may
// ask for another.
template <int kStart, class... T>
__global__ void sum_pack(double* out, T... values) {
  *out = kStart + (0.0 + ... + values);
}
template <int kCount, class T = float>
__global__ void fill_first(T* out, T value) {
  if (threadIdx.x < kCount) out[threadIdx.x] = value;
}

TEST(Forms, TemplateArgumentsThatAreDeducedInPart) {
  Managed<double> out(4);
  Managed<float> narrow(4);
  sum_pack<2><<<1, 1>>>(out.data());
  EXPECT_EQ(out[0], 2);
  sum_pack<2><<<1, 1>>>(out.data(), 1, 2.5f, 'a');
  EXPECT_EQ(out[0], 2 + 3.5 + 'a');
  sum_pack<1, int><<<1, 1>>>(out.data(), 2, 0.25);
  EXPECT_EQ(out[0], 3.25);
  fill_first<2><<<1, 32>>>(out.data(), 0.1);
  EXPECT_EQ(out[1], 0.1);
  fill_first<2><<<1, 32>>>(narrow.data(), 3);
  EXPECT_EQ(narrow[1], 3);
  EXPECT_EQ(narrow[2], 0);
}

TEST(Forms, ConfigurationsAndDeclarations) {
  Managed<int> out(1);
  const dim3 grid(2, 3), block(4, 2);
  bounded<<<grid, block>>>(out.data());
  EXPECT_EQ(out[0], 4);
  bounded_before<<<grid, block, 0, nullptr>>>(out.data());
  EXPECT_EQ(out[0], 2);
  cudaStream_t stream;
  cudaStreamCreate(&stream);
  c_linkage<<<2, 1, 16, stream>>>(out.data());
  cudaStreamDestroy(stream);
  EXPECT_EQ(out[0], 2);
  c_linkage<<<{3, 1}, {1, 1}, 0, NULL>>>(out.data());
  EXPECT_EQ(out[0], 3);
}

// ---- shared memory

template <class T, int N>
__global__ void reverse_static(T* values) {
  __shared__ T tile[N], *window;
  static __shared__ int count;
  if (threadIdx.x == 0) {
    window = tile;
    count = N;
  }
  tile[threadIdx.x] = values[threadIdx.x];
  __syncthreads();
  values[threadIdx.x] = window[count - 1 - threadIdx.x];
}

TEST(SharedMemory, Static) {
  Managed<int> ints(64);
  Managed<double> doubles(32);
  for (int i = 0; i < 64; ++i) ints[i] = i;
  for (int i = 0; i < 32; ++i) doubles[i] = i;
  reverse_static<int, 64><<<1, 64>>>(ints.data());
  reverse_static<double, 32><<<1, 32>>>(doubles.data());
  EXPECT_EQ(ints[0], 63);
  EXPECT_EQ(doubles[31], 0);
}

struct Best {
  float value;
  int index;
};

template <class T>
struct Traits {
  struct Storage {
    T values[4];
  };
};

template <class T>
__global__ void shared_forms(int* out) {
  __shared__ alignas(64) T a[3];
  __shared__ __align__(64) T b[2][2];
  __shared__ T c[2] __attribute__((aligned(64)));
  __shared__ typename Traits<T>::Storage d;
  __shared__ struct {
    T x;
    int y;
  } e;
  __shared__ union {
    float f;
    unsigned u;
  } g;
  __shared__ Best best[2];
  volatile __shared__ int h;
  if (threadIdx.x != 0) return;
  a[1] = 1;
  b[1][0] = 2;
  c[1] = 3;
  d.values[2] = 4;
  e.y = 5;
  g.f = 1.0f;
  best[1].index = 6;
  h = 7;
  out[0] = a[1] + b[1][0] + c[1] + d.values[2] + e.y + (g.u == 0x3f800000u) + best[1].index + h;
  out[1] = (reinterpret_cast<std::uintptr_t>(a) | reinterpret_cast<std::uintptr_t>(b) |
            reinterpret_cast<std::uintptr_t>(c)) %
           64;
  out[2] = sizeof(a) + sizeof(b);
}

TEST(SharedMemory, Forms) {
  Managed<int> out(3, -1);
  shared_forms<int><<<1, 1>>>(out.data());
  EXPECT_EQ(out[0], 1 + 2 + 3 + 4 + 5 + 1 + 6 + 7);
  EXPECT_EQ(out[1], 0);
  EXPECT_EQ(out[2], 7 * 4);
}

__device__ float first_of(const float* values) { return values[0]; }

template <class T>
__global__ void reverse_dynamic(T* values, int n) {
  extern __shared__ __align__(16) unsigned char bytes[];
  T* const s = reinterpret_cast<T*>(bytes);
  s[threadIdx.x] = values[threadIdx.x];
  __syncthreads();
  values[threadIdx.x] = s[n - 1 - threadIdx.x];
}

TEST(SharedMemory, DynamicInTemplatesOfDifferentTypes) {
  Managed<float> floats(32);
  Managed<double> doubles(64);
  for (int i = 0; i < 32; ++i) floats[i] = i;
  for (int i = 0; i < 64; ++i) doubles[i] = i;
  reverse_dynamic<<<1, 32, 32 * sizeof(float)>>>(floats.data(), 32);
  reverse_dynamic<<<1, 64, 64 * sizeof(double)>>>(doubles.data(), 64);
  EXPECT_EQ(floats[0], 31);
  EXPECT_EQ(doubles[0], 63);
}

__global__ void dynamic_uses(float* out) {
  extern __shared__ __align__(16) float s[];
  extern __shared__ int i[];  // the same memory
  extern __shared__ float rows[][4];
  float* p = s;
  s[0] = 1.5f;
  *(s + 1) = 2.5f;
  p[2] = 3.5f;
  rows[1][0] = 4.5f;
  reinterpret_cast<float4*>(s)[2] = make_float4(5, 6, 7, 8);
  float& fifth = reinterpret_cast<float(&)[16]>(s)[11];
  out[0] = first_of(s);
  out[1] = first_of(&s[1]);
  out[2] = *(&s[2]);
  out[3] = s[4];
  out[4] = fifth;
  out[5] = i[0] == 0x3fc00000;
  out[6] = [&] { return s[1]; }();
  out[7] = static_cast<void*>(&s) == static_cast<void*>(i);
}

TEST(SharedMemory, DynamicUses) {
  Managed<float> out(8);
  dynamic_uses<<<1, 1, 64>>>(out.data());
  const float expected[] = {1.5f, 2.5f, 3.5f, 4.5f, 8, 1, 2.5f, 1};
  for (int i = 0; i < 8; ++i) EXPECT_EQ(out[i], expected[i]) << i;
}

}  // namespace

extern __shared__ __align__(16) float scratch[];

namespace {

__device__ float from_scratch(int i) { return scratch[i]; }
__device__ float own_scratch(float scratch) { return scratch; }
__global__ void namespace_dynamic(float* out) {
  scratch[threadIdx.x] = threadIdx.x;
  __syncthreads();
  out[threadIdx.x] = from_scratch(blockDim.x - 1 - threadIdx.x) + own_scratch(0);
}

TEST(SharedMemory, DynamicAtNamespaceScope) {
  Managed<float> out(32);
  namespace_dynamic<<<1, 32, 32 * sizeof(float)>>>(out.data());
  EXPECT_EQ(out[0], 31);
}

__global__ void unused_dynamic() { extern __shared__ float nobody_reads[]; }

TEST(SharedMemory, UnusedDynamicGivesNoWarning) {
  unused_dynamic<<<1, 1>>>();
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
}

// ---- vectors

__device__ constexpr float4 kRows[2] = {{1, 2, 3, 4}, make_float4(5, 6, 7, 8)};
constexpr int2 kEdge = make_int2(-1, 1);
static_assert(kRows[1].z == 7 && kEdge.x + kEdge.y == 0);
constexpr float2 both(float2 a, float2 b) {
  float2 sum = a;
  sum.x += b.x;
  sum = float2{sum.x, a.y + b.y};
  return sum;
}
static_assert(both({1, 2}, {3, 4}).y == 6);
__device__ constexpr float2 offsets[] = {{0, 1}, {2, 3}};

// Each line is one load or one store of a whole vector.
__global__ void move_vectors(float4* out, const float4* in, const short2* small) {
  float4 v = in[threadIdx.x];
  v.x += offsets[1].y;
  out[threadIdx.x] = v;
  out[threadIdx.x + 32] = in[threadIdx.x + 32];
  auto [x, y, z, w] = in[threadIdx.x + 64];
  const auto [a, b] = small[threadIdx.x];
  out[threadIdx.x + 64] = make_float4(w, z, y + a, x + b);
  out[threadIdx.x + 96] = kRows[threadIdx.x % 2];
}

TEST(Vectors, AreLiteralAndMovedAsAWhole) {
  static_assert(std::is_trivially_copyable_v<float4> && std::is_standard_layout_v<float4>);
  static_assert(sizeof(uchar2) == 2 && sizeof(double4) == 32 && alignof(double4) == 16);
  Managed<float4> out(128), in(96);
  Managed<short2> small(32);
  for (int i = 0; i < 96; ++i) in[i] = make_float4(i, i + 1, i + 2, i + 3);
  for (int i = 0; i < 32; ++i) small[i] = make_short2(10, 20);
  move_vectors<<<1, 32>>>(out.data(), in.data(), small.data());
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  const simt::Counts counts = simt::launch(simt::launch_count() - 1).counts;
  EXPECT_EQ(counts.global_store_requests, 4u);
  EXPECT_EQ(counts.global_store_bytes, 4 * 32 * sizeof(float4));
  EXPECT_EQ(counts.global_load_requests, 4u);  // what never changes is in no request
  EXPECT_EQ(out[3].x, 6);
  EXPECT_EQ(out[64 + 1].x, 68);
  EXPECT_EQ(out[64 + 1].z, 76);
  auto& [x, y, z, w] = out[96 + 3];
  EXPECT_EQ(x + y + z + w, 26);
  y = 9;
  EXPECT_EQ(out[96 + 3].y, 9);
}

// ---- variables of the device

__constant__ float coefficients[4];
__constant__ const int fixed[2] = {3, 4};
static __device__ int counter;
__device__ const float table[] = {1, 2, 3};

__global__ void use_variables(float* out) {
#pragma unroll 2
  for (int i = 0; i < 4; ++i) out[i] = coefficients[i] + fixed[i % 2];
#pragma unroll
  for (int i = 0; i < 3; ++i) out[i] += table[i];
  counter = 9;
}

TEST(Variables, ConstantAndDevice) {
  Managed<float> out(4);
  const float values[] = {10, 20, 30, 40};
  ASSERT_EQ(cudaMemcpyToSymbol(coefficients, values, sizeof(values)), cudaSuccess);
  use_variables<<<1, 1>>>(out.data());
  EXPECT_EQ(out[0], 14);
  EXPECT_EQ(out[3], 44);
  int count = 0;
  ASSERT_EQ(cudaMemcpyFromSymbol(&count, counter, sizeof(count)), cudaSuccess);
  EXPECT_EQ(count, 9);
}

// PTX shifts all bits out where a CPU takes the amount modulo the width.
struct Flags {
  unsigned bits;
  int low : 5;
  __device__ Flags operator<<(int n) const { return {bits + n, 0}; }
};
enum Place { kFirst = 1, kLast = 40 };
template <class T, int N>
struct Nested {
  T in[N];
};
template <class T>
__device__ T shifted(T value, unsigned n) {
  Nested<Nested<T, 2>, 3> nested{};
  nested.in[0].in[1] = value;
  return nested.in[0].in[1] >> n;
}
__global__ void shift_all(unsigned* out, int n, long long many, Flags flags) {
  constexpr int kSize = 1 << 2;
  out[0] = 1u << n, out[1] = 0x80000000u >> n, out[2] = -5 >> n;
  out[3] = static_cast<unsigned>(1ull << many >> n), out[4] = (flags << n).bits;
  out[5] = flags.low << n - 30, out[6] = kFirst << kLast, out[7] = kFirst << (n & 31);
  out[8] = shifted(0xff00ff00u, n), out[9] = shifted(~0ull, n + 30u) + kSize;
  out[10] = (n << 1 < n >> n) == (n > kSize >> n);
  out[11] = [&](auto x) { return x << n; }(static_cast<unsigned char>(3));
}

TEST(Shifts, ByTheWidthAndMore) {
  Managed<unsigned> out(12);
  shift_all<<<1, 1>>>(out.data(), 32, 62, {7, 3});
  const unsigned expected[] = {0, 0, ~0u, 1u << 30, 39, 12, 0, 1, 0, 7, 0, 0};
  for (int i = 0; i < 12; ++i) EXPECT_EQ(out[i], expected[i]) << i;
  shift_all<<<1, 1>>>(out.data(), 31, 33, {7, 3});
  const unsigned inside[] = {1u << 31, 1, ~0u, 4, 38, 6, 0, 1u << 31, 1, 11, 0, 1u << 31};
  for (int i = 0; i < 12; ++i) EXPECT_EQ(out[i], inside[i]) << i;
}

struct Nibbles {
  unsigned low : 4, high : 28;
};
struct Ring {
  int at;
  __device__ Ring& operator<<=(int n) {
    at += n;
    return *this;
  }
};
__device__ unsigned shifted_in_place;
__global__ void assign_shifts(unsigned* out, int n, unsigned few, Ring ring) {
  unsigned char narrow = 0x81;
  short negative = -3;
  volatile unsigned seen = 3;
  unsigned long long wide = 1;
  Nibbles nibbles{3, 5};
  unsigned row[2] = {1, 1}, *next = row;
  out[0] = 5, out[1] = ~0u, shifted_in_place = few;
  out[0] <<= n, out[1] >>= n, wide <<= n, narrow <<= n - 28, negative >>= n + 8;
  seen <<= few;
  nibbles.high <<= few;
  ring <<= n;
  *next++ <<= 3 + few;
  (row[1] <<= few) <<= n;
  shifted_in_place >>= few;
  out[2] = static_cast<unsigned>(wide >> 32), out[3] = narrow, out[4] = negative, out[5] = seen;
  out[6] = nibbles.high, out[7] = ring.at, out[8] = row[0], out[9] = row[1],
  out[10] = shifted_in_place;
  out[11] = few < 0xffu >> n;
}

TEST(Shifts, InAssignments) {
  Managed<unsigned> out(12);
  assign_shifts<<<1, 1>>>(out.data(), 32, 2, {1});
  cudaDeviceSynchronize();
  const unsigned expected[] = {0, 0, 1, 16, ~0u, 12, 20, 33, 32, 0, 0, 0};
  for (int i = 0; i < 12; ++i) EXPECT_EQ(out[i], expected[i]) << i;
}

// A comment keeps g++ from warning of a case that falls through, as it does without simtcc.
__device__ int falls(int x) {
  switch (x) {
    case 0:
      ++x;
      // fall through
    default:
      ++x;
  }
  return x;
}
__global__ void fall(int* out) { out[0] = falls(0); }

TEST(Warnings, FallThroughComment) {
  Managed<int> out(1);
  fall<<<1, 1>>>(out.data());
  EXPECT_EQ(out[0], 2);
}

}  // namespace
