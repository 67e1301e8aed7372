// The inverse of the normal distribution function, from additions, multiplications, divisions and square roots only: the C
// library's functions differ in the last bit between machines, and initial weights should not.
#pragma once
#include <bit>
#include <cmath>
#include <cstdint>
#include <numbers>

namespace tenon::runtime {

namespace detail {
/// c[0] + c[1] x + ... by Horner's rule.
template <int N> double polynomial(const double (&c)[N], double x) {
  double sum = c[N - 1];
  for (int i = N - 2; i >= 0; --i)
    sum = sum * x + c[i];
  return sum;
}

/// Natural logarithm of a normal positive number: exponent apart, then 2 artanh((m - 1) / (m + 1)) with m in [0.7, 1.42).
inline double logarithm(double value) {
  uint64_t bits = std::bit_cast<uint64_t>(value);
  int64_t exponent = static_cast<int64_t>(bits >> 52) - 1023;
  double mantissa = std::bit_cast<double>((bits & 0xfffffffffffffu) | 0x3ff0000000000000u);
  if (mantissa > std::numbers::sqrt2) {
    mantissa /= 2;
    ++exponent;
  }
  double s = (mantissa - 1) / (mantissa + 1), square = s * s;
  // |s| < 0.1716: the first term left out is below 1e-18 of the sum.
  static const double terms[] = {1,       1. / 3,  1. / 5,  1. / 7,  1. / 9,  1. / 11,
                                 1. / 13, 1. / 15, 1. / 17, 1. / 19, 1. / 21, 1. / 23};
  return static_cast<double>(exponent) * std::numbers::ln2 + 2 * s * polynomial(terms, square);
}
} // namespace detail

/// x with P(N < x) = p, 0 < p < 1. Relative error about 1e-16 (Wichura, "Algorithm AS 241", Applied Statistics 37, 1988).
inline double normalQuantile(double p) {
  static const double a[] = {3.3871328727963666080e0, 1.3314166789178437745e2, 1.9715909503065514427e3, 1.3731693765509461125e4,
                             4.5921953931549871457e4, 6.7265770927008700853e4, 3.3430575583588128105e4, 2.5090809287301226727e3};
  static const double b[] = {1.0,
                             4.2313330701600911252e1,
                             6.8718700749205790830e2,
                             5.3941960214247511077e3,
                             2.1213794301586595867e4,
                             3.9307895800092710610e4,
                             2.8729085735721942674e4,
                             5.2264952788528545610e3};
  static const double c[] = {1.42343711074968357734e0,  4.63033784615654529590e0, 5.76949722146069140550e0,
                             3.64784832476320460504e0,  1.27045825245236838258e0, 2.41780725177450611770e-1,
                             2.27238449892691845833e-2, 7.74545014278341407640e-4};
  static const double d[] = {1.0,
                             2.05319162663775882187e0,
                             1.67638483018380384940e0,
                             6.89767334985100004550e-1,
                             1.48103976427480074590e-1,
                             1.51986665636164571966e-2,
                             5.47593808499534494600e-4,
                             1.05075007164441684324e-9};
  static const double e[] = {6.65790464350110377720e0,  5.46378491116411436990e0,  1.78482653991729133580e0,
                             2.96560571828504891230e-1, 2.65321895265761230930e-2, 1.24266094738807843860e-3,
                             2.71155556874348757815e-5, 2.01033439929228813265e-7};
  static const double f[] = {1.0,
                             5.99832206555887937690e-1,
                             1.36929880922735805310e-1,
                             1.48753612908506148525e-2,
                             7.86869131145613259100e-4,
                             1.84631831751005468180e-5,
                             1.42151175831644588870e-7,
                             2.04426310338993978564e-15};
  double q = p - 0.5;
  if (std::abs(q) <= 0.425) {
    double r = 0.180625 - q * q;
    return q * detail::polynomial(a, r) / detail::polynomial(b, r);
  }
  double r = std::sqrt(-detail::logarithm(q < 0 ? p : 1 - p));
  double x = r <= 5 ? detail::polynomial(c, r - 1.6) / detail::polynomial(d, r - 1.6)
                    : detail::polynomial(e, r - 5) / detail::polynomial(f, r - 5);
  return q < 0 ? -x : x;
}

} // namespace tenon::runtime
