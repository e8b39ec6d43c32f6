// Runs operations of ptx_values.cu on all combinations of edge values, in a kernel and on the host.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <limits>
#include <type_traits>
#include <vector>

namespace checks {

template <class T>
std::vector<T> edges() {
  if constexpr (std::is_floating_point_v<T>) {
    using L = std::numeric_limits<T>;
    return {T(0),
            T(-0.0),
            T(1),
            T(-1),
            T(0.5),
            T(1.5),
            T(2.5),
            T(-2.5),
            T(0.1),
            T(-3.7),
            T(255.5),
            T(65504),
            T(65520),
            T(1e-7),
            T(6e-8),
            L::denorm_min(),
            -L::min() / 2,
            L::min(),
            L::max(),
            -L::max(),
            L::infinity(),
            -L::infinity(),
            L::quiet_NaN(),
            T(2147483648.0),
            T(-2147483648.0),
            T(4294967296.0),
            T(9223372036854775808.0),
            T(1.8446744073709552e19),
            T(1e10)};
  } else if constexpr (std::is_integral_v<T>) {
    using L = std::numeric_limits<T>;
    return {T(0),
            T(1),
            T(2),
            T(7),
            T(8),
            T(16),
            T(31),
            T(32),
            T(33),
            T(40),
            T(64),
            T(255),
            T(0x3c01),
            L::max(),
            L::min(),
            T(-1),
            T(-2),
            T(L::max() - 1),
            T(L::min() + 1),
            T(0xdeadbeefcafef00d),
            T(0x0123456789abcdef)};
  } else {
    return {T{}};
  }
}

inline float of_half(std::uint16_t bits) {
  const int exponent = bits >> 10 & 31, fraction = bits & 1023;
  const float magnitude = exponent == 31  ? (fraction ? NAN : INFINITY)
                          : exponent == 0 ? std::ldexp(float(fraction), -24)
                                          : std::ldexp(float(1024 + fraction), exponent - 25);
  return bits & 0x8000 ? -magnitude : magnitude;
}
// The nearest of all halves, to even if there are two.
inline std::uint16_t half_bits(float value) {
  if (value != value) return 0x7fff;
  const std::uint16_t sign = std::signbit(value) ? 0x8000 : 0;
  const double magnitude = std::fabs(double(value));
  if (magnitude >= 65520) return sign | 0x7c00;
  std::uint16_t best = 0;
  for (int bits = 0; bits < 0x7c00; ++bits) {
    const double now = std::fabs(magnitude - of_half(std::uint16_t(bits))),
                 then = std::fabs(magnitude - of_half(best));
    if (now < then || (now == then && !(bits & 1))) best = std::uint16_t(bits);
  }
  return sign | best;
}
inline float as_half(float value) { return value != value ? NAN : of_half(half_bits(value)); }

template <class Op>
__global__ void compute(const typename Op::First* a, const typename Op::Second* b,
                        const typename Op::Third* c, typename Op::Result* d, int n) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < n) d[i] = Op::run(a[i], b[i], c[i]);
}

template <class T>
class Device {
 public:
  explicit Device(const std::vector<T>& values) : size_(values.size() * sizeof(T)) {
    cudaMalloc(&data_, size_);
    cudaMemcpy(data_, values.data(), size_, cudaMemcpyHostToDevice);
  }
  ~Device() { cudaFree(data_); }
  T* get() const { return data_; }
  void read(std::vector<T>& values) const {
    cudaMemcpy(values.data(), data_, size_, cudaMemcpyDeviceToHost);
  }

 private:
  T* data_ = nullptr;
  std::size_t size_;
};

template <class T>
bool same(T a, T b, bool nearly, double slack) {
  if constexpr (std::is_floating_point_v<T>) {
    if (a != a || b != b) return a != a && b != b;
    if (nearly) return a == b || std::fabs(a - b) <= 1e-5 * std::fabs(b) + slack;
  }
  return std::memcmp(&a, &b, sizeof(T)) == 0;
}

// All combinations of edge values.
template <class A, class B, class C>
struct Combinations {
  std::vector<A> a;
  std::vector<B> b;
  std::vector<C> c;
  Combinations() {
    for (const auto x : edges<A>()) {
      for (const auto y : edges<B>()) {
        for (const auto z : edges<C>()) a.push_back(x), b.push_back(y), c.push_back(z);
      }
    }
  }
};
// The same on the device, too: one of them for all operations that take these types, as each instantiation costs time to compile.
template <class A, class B, class C>
struct Operands : Combinations<A, B, C> {
  const Device<A> first{this->a};
  const Device<B> second{this->b};
  const Device<C> third{this->c};
  static const Operands& all() {
    static const Operands operands;
    return operands;
  }
};

template <class D>
bool compare(const char* name, const Device<D>& result, const std::vector<D>& expected) {
  std::vector<D> d(expected.size());
  result.read(d);
  const bool nearly = std::strstr(name, "approx") || std::strstr(name, "full");
  // PTX bounds the absolute error of these.
  const double slack = std::strstr(name, "sin_") || std::strstr(name, "cos_") ? 1e-6 : 0;
  for (std::size_t i = 0; i < d.size(); ++i) {
    if (same(d[i], expected[i], nearly, slack)) continue;
    std::printf("FAILED: %s, case %zu of %zu: %.9g instead of %.9g\n", name, i, d.size(),
                double(d[i]), double(expected[i]));
    return false;
  }
  return true;
}

template <class Op>
bool check() {
  using D = typename Op::Result;
  const auto& operands =
      Operands<typename Op::First, typename Op::Second, typename Op::Third>::all();
  std::vector<D> expected(operands.a.size());
  const Device<D> result(expected);
  const int n = static_cast<int>(expected.size());
  compute<Op><<<(n + 127) / 128, 128>>>(operands.first.get(), operands.second.get(),
                                        operands.third.get(), result.get(), n);
  for (std::size_t i = 0; i < expected.size(); ++i)
    expected[i] = Op::expect(operands.a[i], operands.b[i], operands.c[i]);
  return compare(Op::name, result, expected);
}

inline std::vector<bool (*)()>& registered() {
  static std::vector<bool (*)()> all;
  return all;
}
template <class Op>
struct Registration {
  Registration() { registered().push_back(check<Op>); }
};

inline int run_all() {
  std::size_t good = 0;
  for (const auto check : registered()) good += check();
  std::printf("%zu of %zu operations as expected\n", good, registered().size());
  return good == registered().size() ? 0 : 1;
}

}  // namespace checks
