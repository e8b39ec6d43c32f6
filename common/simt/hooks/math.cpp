// Special functions of CUDA's mathematics that the C library lacks.
#include <cmath>
#include <initializer_list>
#include <limits>

double normcdfinv(double y);

// A start from Giles's approximation ("Approximating the erfinv function", 2012), in its single precision form,
// and two steps of Newton's method, each of which doubles the digits.
double erfinv(double y) {
  if (!(std::fabs(y) < 1)) {
    return std::fabs(y) == 1 ? std::copysign(std::numeric_limits<double>::infinity(), y)
                             : std::numeric_limits<double>::quiet_NaN();
  }
  const double w = -std::log1p(-y * y);
  double x = 0;
  const auto polynomial = [&x](double t, std::initializer_list<double> coefficients) {
    for (const double c : coefficients) x = c + x * t;
  };
  if (w < 5) {
    polynomial(w - 2.5, {2.81022636e-08, 3.43273939e-07, -3.5233877e-06, -4.39150654e-06,
                         0.00021858087, -0.00125372503, -0.00417768164, 0.246640727, 1.50140941});
  } else {
    polynomial(std::sqrt(w) - 3,
               {-0.000200214257, 0.000100950558, 0.00134934322, -0.00367342844, 0.00573950773,
                -0.0076224613, 0.00943887047, 1.00167406, 2.83297682});
  }
  x *= y;
  constexpr double kTwoOverRootPi = 1.12837916709551257390;
  for (int i = 0; i < 3; ++i) {
    // Near the ends the complement keeps the digits.
    const double error = std::fabs(y) < 0.5 ? std::erf(x) - y
                         : y > 0            ? (1 - y) - std::erfc(x)
                                            : std::erfc(-x) - (1 + y);
    x -= error / (kTwoOverRootPi * std::exp(-x * x));
  }
  return x;
}

double erfcinv(double y) {
  if (!(y >= 0 && y <= 2)) return std::numeric_limits<double>::quiet_NaN();
  if (y == 0) return std::numeric_limits<double>::infinity();
  if (y == 2) return -std::numeric_limits<double>::infinity();
  if (y > 1e-3) return erfinv(1 - y);
  // Far out: the leading term of the tail, then Newton on its logarithm.
  double x = std::sqrt(-std::log(y * std::sqrt(-std::log(y)) * 1.7724538509055160273));
  for (int i = 0; i < 8; ++i) {
    const double tail = std::erfc(x);
    x += (std::log(tail) - std::log(y)) * tail / (1.12837916709551257390 * std::exp(-x * x));
  }
  return x;
}

double normcdfinv(double y) { return -1.41421356237309504880 * erfcinv(2 * y); }

// exp(x^2) erfc(x): for large x by its continued fraction, where the factors would over- and underflow.
double erfcx(double x) {
  if (x < 10) return std::exp(x * x) * std::erfc(x);
  double fraction = x;
  for (int k = 60; k > 0; --k) fraction = x + 0.5 * k / fraction;
  return 0.56418958354775628695 / fraction;
}

// libstdc++ has the modified Bessel functions for orders and arguments from 0 on.
double cyl_bessel_i0(double x) { return std::cyl_bessel_i(0.0, std::fabs(x)); }
double cyl_bessel_i1(double x) { return std::copysign(std::cyl_bessel_i(1.0, std::fabs(x)), x); }
