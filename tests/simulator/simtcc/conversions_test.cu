// A floating-point number becomes an integer in device code as PTX has it: the nearest one that there is. This file is
// compiled with tracing and without.

#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

namespace {

template <class T>
struct Converted {
  T cast, assigned, called, argument;
};

template <class T, class F>
__device__ T converted(F x) {
  return static_cast<T>(x);
}
template <class T>
__device__ T same(T x) {
  return x;
}

template <class T, class F>
__global__ void convert(Converted<T>* out, const F* in, int n) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= n) return;
  const F x = in[i];
  out[i].cast = (T)x;
  const T y = x * 1;
  out[i].assigned = y;
  out[i].called = converted<T>(x + 0);
  out[i].argument = same<T>(in[i]);
}

// What PTX ISA 9.0 says of cvt.rzi: the integer nearest to the number without its fraction. NaN becomes 0 if it is a
// float and the integer has 32 bits, else the integer with its highest bit alone. Of what has fewer bits nvcc takes the low ones.
template <class T, class F>
T expected(F x) {
  constexpr int bits = sizeof(T) == 8 ? 64 : 32;
  using Wide = std::conditional_t<std::is_signed_v<T>,
                                  std::conditional_t<bits == 64, std::int64_t, std::int32_t>,
                                  std::conditional_t<bits == 64, std::uint64_t, std::uint32_t>>;
  if (std::isnan(x)) {
    const bool zero = sizeof(F) == 4 && bits == 32;
    return zero ? T{0} : static_cast<T>(std::uint64_t{1} << (bits - 1));
  }
  const long double whole = std::trunc(static_cast<long double>(x));
  const long double lowest = std::numeric_limits<Wide>::min();
  const long double highest = std::numeric_limits<Wide>::max();
  if (whole <= lowest) return static_cast<T>(std::numeric_limits<Wide>::min());
  if (whole >= highest) return static_cast<T>(std::numeric_limits<Wide>::max());
  return static_cast<T>(static_cast<Wide>(whole));
}

template <class F>
std::vector<F> numbers() {
  std::vector<F> all = {0,      F(-0.0),     F(0.75), F(-0.75),     F(1e-40),
                        F(NAN), F(INFINITY), F(1e30), F(123456.789)};
  for (const int power : {7, 8, 15, 16, 31, 32, 63, 64}) {
    const F edge = std::ldexp(F{1}, power);
    for (const F x : {edge, edge - 1, edge + 1, edge - F(0.5), std::nextafter(edge, F{0}),
                      std::nextafter(edge, 2 * edge), edge * F(1.3)})
      all.push_back(x);
  }
  for (std::size_t i = all.size(); i-- > 0;) all.push_back(-all[i]);
  return all;
}

template <class T, class F>
void check(const std::string& types) {
  const std::vector<F> in = numbers<F>();
  const int n = static_cast<int>(in.size());
  F* numbers;
  Converted<T>* out;
  cudaMallocManaged(&numbers, n * sizeof(F));
  cudaMallocManaged(&out, n * sizeof(Converted<T>));
  std::memcpy(numbers, in.data(), n * sizeof(F));
  convert<<<(n + 31) / 32, 32>>>(out, numbers, n);
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  for (int i = 0; i < n; ++i) {
    const T wanted = expected<T>(in[i]);
    const std::string what = types + " of " + std::to_string(static_cast<double>(in[i]));
    EXPECT_EQ(out[i].cast, wanted) << what;
    EXPECT_EQ(out[i].assigned, wanted) << what;
    EXPECT_EQ(out[i].called, wanted) << what;
    EXPECT_EQ(out[i].argument, wanted) << what;
  }
  cudaFree(numbers);
  cudaFree(out);
}

using Byte = unsigned char;
using Wide = unsigned long long;

TEST(Conversions, EveryIntegerTypeSaturates) {
#define CHECK_TYPE(T)           \
  check<T, float>(#T " float"); \
  check<T, double>(#T " double")
  CHECK_TYPE(signed char);
  CHECK_TYPE(Byte);
  CHECK_TYPE(short);
  CHECK_TYPE(unsigned short);
  CHECK_TYPE(int);
  CHECK_TYPE(unsigned);
  CHECK_TYPE(long);
  CHECK_TYPE(std::size_t);
  CHECK_TYPE(long long);
  CHECK_TYPE(Wide);
  CHECK_TYPE(std::int16_t);
  CHECK_TYPE(std::uint32_t);
#undef CHECK_TYPE
}

// In other places, and beside other operators.
struct Pixel {
  unsigned char r;
  unsigned count : 5;
  int depth;
};
enum { kMost = (int)2.9f, kLarge = static_cast<unsigned char>(255.9) };
constexpr int kConstant = (int)-7.9;

__global__ void in_operators(int* out, float x) {
  out[0] = -(int)x, out[1] = ~(int)(x + 1), out[2] = (int)(x * 2) / 2 + 1;
  out[3] = (int)(float)(int)(x / 2), out[4] = !(int)(x / 1e10f), out[5] = (unsigned char)(int)-x;
}
__global__ void as_index(int* out, float x, double y) {
  out[(unsigned)x] = out[(int)y] + 1;
  out[(unsigned char)(y + 300)] = kMost + kLarge + kConstant;
}
__global__ void in_members(Pixel* out, float x) {
  out->r = x;
  out->depth = 3;
  out->depth += x;
  out->count = -x;
}
__global__ void in_a_lambda(int* out, float x) {
  const auto to_int = [](auto y) -> int { return y; };
  out[0] = to_int(x), out[1] = to_int(static_cast<double>(x));
  unsigned sum = 0;
  for (int i = 0; i < 3; ++i) sum += static_cast<unsigned>(x * (i - 1));
  out[2] = sum;
}
template <class T>
__global__ void in_a_template(T* out, double x) {
  typename std::remove_cv<T>::type y = x;
  out[0] = y;
}
__global__ void by_intrinsics(long long* out, float x, double y) {
  out[0] = __float2int_rz(x), out[1] = __double2int_rz(y), out[2] = __float2ll_rz(x);
  out[3] = __float2uint_rn(x), out[4] = __half2ll_rz(__float2half(x)),
  out[5] = __half2int_rz(__float2half(x));
}

template <class T>
class Memory {
 public:
  explicit Memory(int n) {
    cudaMallocManaged(&data_, n * sizeof(T)), std::memset(data_, 0, n * sizeof(T));
  }
  ~Memory() { cudaFree(data_); }
  T* data() { return data_; }
  T& operator[](int i) {
    cudaDeviceSynchronize();
    return data_[i];
  }

 private:
  T* data_ = nullptr;
};

TEST(Conversions, WhereverTheyStand) {
  constexpr int kHighest = std::numeric_limits<int>::max();
  Memory<int> out(64);
  in_operators<<<1, 1>>>(out.data(), 3e9f);
  const int operators[] = {-kHighest, ~kHighest, kHighest / 2 + 1, 1500000000, 1, 0};
  for (int i = 0; i < 6; ++i) EXPECT_EQ(out[i], operators[i]) << i;
  out[0] = 40, out[2] = 7;
  as_index<<<1, 1>>>(out.data(), -5.5f, 2.9);
  EXPECT_EQ(out[0], 8);
  EXPECT_EQ(out[46], 2 + 255 - 7);
  in_a_lambda<<<1, 1>>>(out.data(), -1e20f);
  EXPECT_EQ(out[0], -kHighest - 1);
  EXPECT_EQ(out[1], -kHighest - 1);
  EXPECT_EQ(out[2], -1);  // the highest unsigned, and nothing else
  in_a_template<<<1, 1>>>(out.data(), 1e12);
  EXPECT_EQ(out[0], kHighest);
  Memory<Pixel> pixel(1);
  in_members<<<1, 1>>>(pixel.data(), -9.5f);
  EXPECT_EQ(pixel[0].r, 0);
  EXPECT_EQ(pixel[0].depth, -6);
  EXPECT_EQ(pixel[0].count, 9u);
  Memory<long long> wide(6);
  by_intrinsics<<<1, 1>>>(wide.data(), NAN, NAN);
  constexpr long long kLowest = std::numeric_limits<long long>::min();
  const long long of_nan[] = {0, -kHighest - 1LL, kLowest, 0, kLowest, 0};
  for (int i = 0; i < 6; ++i) EXPECT_EQ(wide[i], of_nan[i]) << i;
}

// A CPU has one instruction for an int and for an unsigned char, and one for unsigned, long long and unsigned long long.
struct Both {
  int whole;
  unsigned char byte, inlined;
  short narrow;
  long long wide;
  unsigned long long natural;
  unsigned count;
};
__global__ void to_all(Both* out, const float* in, int n) {
  const float x = in[0];
  out->whole = x;
  out->byte = static_cast<unsigned char>(x);
  out->narrow = static_cast<short>(x);
  out->inlined = converted<unsigned char>(x);
  if (n > 1) out->wide = x;
  out->count = static_cast<unsigned>(x);
  for (int i = 1; i < n; ++i) out->natural = static_cast<unsigned long long>(x);
}

TEST(Conversions, OneNumberToSeveralTypes) {
  Memory<Both> out(1);
  Memory<float> in(1);
  in[0] = -1.5f;
  to_all<<<1, 1>>>(out.data(), in.data(), 2);
  EXPECT_EQ(out[0].whole, -1);
  EXPECT_EQ(out[0].byte, 0);
  EXPECT_EQ(out[0].inlined, 0);
  EXPECT_EQ(out[0].narrow, -1);
  EXPECT_EQ(out[0].wide, -1);
  EXPECT_EQ(out[0].count, 0u);
  EXPECT_EQ(out[0].natural, 0u);
  in[0] = 1e12f;
  to_all<<<1, 1>>>(out.data(), in.data(), 2);
  EXPECT_EQ(out[0].whole, std::numeric_limits<int>::max());
  EXPECT_EQ(out[0].byte, 255);
  EXPECT_EQ(out[0].wide, 999999995904);
  EXPECT_EQ(out[0].count, std::numeric_limits<unsigned>::max());
  EXPECT_EQ(out[0].natural, 999999995904u);
}

// The host's code is the CPU's, as nvcc has it.
TEST(Conversions, TheHostConvertsAsBefore) {
  volatile float large = 3e9f;
  EXPECT_EQ(static_cast<int>(large), std::numeric_limits<int>::min());
}

// Flags and registers are as they were: sixteen numbers are kept, and a carry.
__global__ void keep_all(unsigned* out, const float* in, const unsigned* words) {
  float sum = 0;
  float x[16];
  for (int i = 0; i < 16; ++i) x[i] = in[i] * 1.5f;
  unsigned long long carry = 0, total = 0;
#pragma unroll
  for (int i = 0; i < 16; ++i) {
    const unsigned word = words[i] + static_cast<unsigned>(x[i]);
    carry += word < words[i];
    total = total * 3 + static_cast<unsigned>(static_cast<int>(x[15 - i]) & 0xffff) + word;
    sum += x[i];
  }
  out[0] = static_cast<unsigned>(carry), out[1] = static_cast<unsigned>(total);
  out[2] = static_cast<unsigned>(total >> 32), out[3] = static_cast<unsigned>(sum);
}

TEST(Conversions, ChangeNothingElse) {
  Memory<float> in(16);
  Memory<unsigned> words(16), out(4);
  unsigned long long carry = 0, total = 0;
  float sum = 0;
  for (int i = 0; i < 16; ++i) {
    in[i] = static_cast<float>((i % 5 - 1) * 1000 + i);
    words[i] = 0xffffffffu - 800u * static_cast<unsigned>(i);
  }
  for (int i = 0; i < 16; ++i) {
    const float x = in[i] * 1.5f, y = in[15 - i] * 1.5f;
    const unsigned word = words[i] + (x < 0 ? 0 : static_cast<unsigned>(x));
    carry += word < words[i];
    total = total * 3 + (static_cast<int>(y) & 0xffff) + word;
    sum += x;
  }
  keep_all<<<1, 1>>>(out.data(), in.data(), words.data());
  EXPECT_EQ(out[0], carry);
  EXPECT_EQ(out[1], static_cast<unsigned>(total));
  EXPECT_EQ(out[2], static_cast<unsigned>(total >> 32));
  EXPECT_EQ(out[3], static_cast<unsigned>(sum));
}

}  // namespace
