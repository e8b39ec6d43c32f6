/// \file
/// Thrust for the simulator: random numbers, in kernels and function objects as on the host.
#pragma once

#include <simt/math.h>
#include <simt/thrust/system.h>

#include <cstdint>

namespace thrust {
namespace random {

/// x = a * x + c, modulo m (2^32 or 2^64 as 0)
template <class UInt, UInt a, UInt c, UInt m>
class linear_congruential_engine {
 public:
  using result_type = UInt;
  static constexpr UInt multiplier = a, increment = c, modulus = m;
  static constexpr UInt min = c == 0 ? 1u : 0u, max = m - 1u;
  static constexpr UInt default_seed = 1;

  explicit linear_congruential_engine(UInt value = default_seed) { seed(value); }
  void seed(UInt value = default_seed) {
    x_ = reduced(value);
    if (reduced(c) == 0 && x_ == 0) x_ = 1;
  }
  UInt operator()() { return x_ = next(x_, a, c); }
  /// The same as `n` calls, in as many steps as n has bits.
  void discard(unsigned long long n) {
    UInt by = a, plus = c;
    for (; n; n >>= 1) {
      if (n & 1) x_ = next(x_, by, plus);
      plus = next(plus, by, plus);
      by = next(by, by, 0);
    }
  }
  friend bool operator==(const linear_congruential_engine& p, const linear_congruential_engine& q) {
    return p.x_ == q.x_;
  }
  friend bool operator!=(const linear_congruential_engine& p, const linear_congruential_engine& q) {
    return p.x_ != q.x_;
  }

 private:
  static constexpr UInt reduced(UInt x) {
    if constexpr (m == 0)
      return x;
    else
      return x % m;
  }
  static constexpr UInt next(UInt x, UInt by, UInt plus) {
    if constexpr (m == 0) {
      return static_cast<UInt>(x * by + plus);
    } else {
      __extension__ using Wide = unsigned __int128;
      return static_cast<UInt>((static_cast<Wide>(x) * by + plus) % m);
    }
  }

  UInt x_;
};
using minstd_rand0 = linear_congruential_engine<std::uint32_t, 16807, 0, 2147483647>;
using minstd_rand = linear_congruential_engine<std::uint32_t, 48271, 0, 2147483647>;
using default_random_engine = minstd_rand;

/// Numbers in [a, b), all as likely.
template <class Real = double>
class uniform_real_distribution {
 public:
  using result_type = Real;
  using param_type = std::pair<Real, Real>;
  explicit uniform_real_distribution(Real a = 0, Real b = 1) : a_(a), b_(b) {}
  void reset() {}
  template <class Engine>
  Real operator()(Engine& engine) const {
    const Real range = static_cast<Real>(Engine::max - Engine::min) + Real(1);
    return static_cast<Real>(engine() - Engine::min) / range * (b_ - a_) + a_;
  }
  Real a() const { return a_; }
  Real b() const { return b_; }
  Real min() const { return a_; }
  Real max() const { return b_; }

 private:
  Real a_, b_;
};
/// Integers from a to b, all as likely.
template <class Int = int>
class uniform_int_distribution {
 public:
  using result_type = Int;
  explicit uniform_int_distribution(
      Int a = 0,
      Int b = static_cast<Int>(~Int(0) < 0 ? (1ull << (8 * sizeof(Int) - 1)) - 1 : ~0ull))
      : a_(a), b_(b) {}
  void reset() {}
  template <class Engine>
  Int operator()(Engine& engine) const {
    const uniform_real_distribution<double> real(static_cast<double>(a_),
                                                 static_cast<double>(b_) + 1.0);
    return static_cast<Int>(floor(real(engine)));
  }
  Int a() const { return a_; }
  Int b() const { return b_; }
  Int min() const { return a_; }
  Int max() const { return b_; }

 private:
  Int a_, b_;
};
/// Numbers around `mean`.
template <class Real = double>
class normal_distribution {
 public:
  using result_type = Real;
  explicit normal_distribution(Real mean = 0, Real stddev = 1) : mean_(mean), stddev_(stddev) {}
  void reset() {}
  template <class Engine>
  Real operator()(Engine& engine) const {
    const double range = static_cast<double>(Engine::max - Engine::min) + 1.0;
    const double p = (static_cast<double>(engine() - Engine::min) + 0.5) / range;
    return mean_ + stddev_ * static_cast<Real>(normcdfinv(p));
  }
  Real mean() const { return mean_; }
  Real stddev() const { return stddev_; }

 private:
  Real mean_, stddev_;
};

}  // namespace random

using random::default_random_engine;
using random::linear_congruential_engine;
using random::minstd_rand;
using random::minstd_rand0;
using random::normal_distribution;
using random::uniform_int_distribution;
using random::uniform_real_distribution;

}  // namespace thrust
