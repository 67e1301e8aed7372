// All series are those of Taylor, with as many terms as the reduced argument takes for an error below half a unit of the last
// place; what is left is that of the reduction and of rounding.
#include "lowering/code/WideFunctions.h"
#include "lowering/artifact/RealLanes.h"
#include <cmath>
#include <limits>

using namespace mlir;

namespace tenon {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity(), kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kLn2High = 0x1.62e42fee00000p-1, kLn2Low = 0x1.a39ef35793c76p-33;

Value series(Lanes &l, Value x, ArrayRef<double> coefficients) {
  Value y = l.wide(coefficients[0]);
  for (double c : coefficients.drop_front())
    y = l.fma(y, x, l.wide(c));
  return y;
}
/// Coefficients by their number, the highest first, as `series` takes them.
SmallVector<double> coefficients(int count, llvm::function_ref<double(int)> of) {
  SmallVector<double> all;
  for (int i = count - 1; i >= 0; --i)
    all.push_back(of(i));
  return all;
}
double factorial(int n) { return std::tgamma(n + 1.0); }

Value unordered(Lanes &l, Value x) { return arith::CmpFOp::create(l.builder, arith::CmpFPredicate::UNO, x, x); }
Value magnitude(Lanes &l, Value x) { return math::AbsFOp::create(l.builder, x); }
Value withSign(Lanes &l, Value y, Value x) { return l.select(l.less(x, l.wide(0.0)), l.sub(l.wide(0.0), y), y); }
/// The nearest whole number of a quotient, as a real and in the low bits of `biased`.
Value nearest(Lanes &l, Value quotient, Value &biased) {
  Value magic = l.wide(6755399441055744.0); // 1.5 * 2^52
  biased = l.add(quotient, magic);
  return l.sub(biased, magic);
}
Value asInteger(Lanes &l, Value x) { return arith::BitcastOp::create(l.builder, l.shaped(l.builder.getI64Type()), x); }
Value asWide(Lanes &l, Value bits) { return arith::BitcastOp::create(l.builder, l.shaped(l.builder.getF64Type()), bits); }

/// At most 2 ulp; 0 where the result is below 1e-307, inf above the largest number.
Value exponential(Lanes &l, Value x) {
  Value biased, whole = nearest(l, l.mul(x, l.wide(1.44269504088896340736)), biased);
  Value r = l.fma(whole, l.wide(-kLn2Low), l.fma(whole, l.wide(-kLn2High), x));
  Value p = series(l, r, coefficients(14, [](int i) { return 1 / factorial(i); }));
  Value y = asWide(l, l.addI(asInteger(l, p), l.shl(asInteger(l, biased), l.longer(52))));
  y = l.select(l.less(x, l.wide(-707.0)), l.wide(0.0), y);
  y = l.select(l.greater(x, l.wide(709.782712893384)), l.wide(kInfinity), y);
  return l.select(unordered(l, x), x, y);
}

/// At most 2 ulp; -inf for what is below the normal range.
Value logarithm(Lanes &l, Value x) {
  Value bits = asInteger(l, x);
  Value e = l.shr(l.subI(bits, l.longer(0x3fe6a09e667f3bcd)), l.longer(52)); // sqrt(1/2)
  Value m = asWide(l, l.subI(bits, l.shl(e, l.longer(52))));
  Value s = l.div(l.sub(m, l.wide(1.0)), l.add(m, l.wide(1.0)));
  Value z = l.mul(s, s);
  Value tail = l.mul(l.mul(s, z), series(l, z, coefficients(11, [](int i) { return 2.0 / (2 * i + 3); })));
  Value exponent = arith::SIToFPOp::create(l.builder, l.shape, e);
  Value y = l.add(l.mul(exponent, l.wide(kLn2High)), l.add(l.mul(s, l.wide(2.0)), l.fma(exponent, l.wide(kLn2Low), tail)));
  y = l.select(l.equal(x, l.wide(kInfinity)), x, y);
  y = l.select(l.less(x, l.wide(0x1p-1022)), l.wide(-kInfinity), y);
  y = l.select(l.less(x, l.wide(0.0)), l.wide(kNaN), y);
  return l.select(unordered(l, x), x, y);
}

/// |x| < 0.625: Lambert's continued fraction; beyond: 1 - 2 / (exp(2|x|) + 1). At most 4 ulp.
Value hyperbolicTangent(Lanes &l, Value x) {
  Value z = l.mul(x, x), fraction = l.wide(23.0);
  for (double odd = 21; odd >= 1; odd -= 2)
    fraction = l.add(l.wide(odd), l.div(z, fraction));
  Value near = l.div(x, fraction), size = magnitude(l, x);
  Value e = exponential(l, l.add(size, size));
  Value far = withSign(l, l.sub(l.wide(1.0), l.div(l.wide(2.0), l.add(e, l.wide(1.0)))), x);
  return l.select(arith::CmpFOp::create(l.builder, arith::CmpFPredicate::OGE, size, l.wide(0.625)), far, near);
}

/// 2 / sqrt(pi) exp(-x^2) sum of 2^n x^(2n+1) / (2n+1)!!, whose terms have one sign; 1 beyond 6. At most 1e-14 of the result.
Value errorFunction(Lanes &l, Value x) {
  Value size = magnitude(l, x), t = l.select(l.greater(size, l.wide(6.0)), l.wide(6.0), size), z = l.mul(t, t);
  SmallVector<double> terms{2 / std::sqrt(M_PI)};
  for (int n = 1; n < 130; ++n)
    terms.push_back(terms.back() * 2 / (2 * n + 1));
  std::reverse(terms.begin(), terms.end());
  Value y = l.mul(l.mul(t, series(l, z, terms)), exponential(l, l.sub(l.wide(0.0), z)));
  y = l.select(l.greater(size, l.wide(6.0)), l.wide(1.0), y);
  return l.select(unordered(l, x), x, withSign(l, y, x));
}

/// Reduction by pi/2 in two parts; at most 2 ulp (of 1) for |x| up to 1e8.
Value sineOrCosine(Lanes &l, Value x, bool cosine) {
  Value biased, whole = nearest(l, l.mul(x, l.wide(0.636619772367581343)), biased);
  Value r = l.fma(whole, l.wide(-0x1.921fb54442d18p+0), x);
  r = l.fma(whole, l.wide(-0x1.1a62633145c07p-54), r);
  Value quadrant = l.addI(asInteger(l, biased), l.longer(cosine ? 1 : 0));
  Value z = l.mul(r, r);
  auto alternating = [](int i) { return i % 2 == 0 ? 1.0 : -1.0; };
  Value sine = l.mul(r, series(l, z, coefficients(9, [&](int i) { return alternating(i) / factorial(2 * i + 1); })));
  Value cosines = series(l, z, coefficients(10, [&](int i) { return alternating(i) / factorial(2 * i); }));
  Value even = l.equalI(l.andI(quadrant, l.longer(1)), l.longer(0));
  Value isNegative = l.equalI(l.andI(quadrant, l.longer(2)), l.longer(2));
  Value y = l.select(even, sine, cosines);
  return l.select(isNegative, l.sub(l.wide(0.0), y), y);
}

/// |x| > 1: pi/2 - atan(1 / |x|); below: atan(x) = 2 atan(x / (1 + sqrt(1 + x^2))), twice. At most 4 ulp.
Value arcTangent(Lanes &l, Value x) {
  Value size = magnitude(l, x), isFar = l.greater(size, l.wide(1.0));
  Value r = l.select(isFar, l.div(l.wide(1.0), size), size);
  for (int i = 0; i < 2; ++i)
    r = l.div(r, l.add(l.wide(1.0), math::SqrtOp::create(l.builder, l.fma(r, r, l.wide(1.0)))));
  Value z = l.mul(r, r);
  Value near =
      l.mul(l.mul(r, l.wide(4.0)), series(l, z, coefficients(12, [](int i) { return (i % 2 ? -1.0 : 1.0) / (2 * i + 1); })));
  return withSign(l, l.select(isFar, l.sub(l.wide(M_PI / 2), near), near), x);
}

/// exp(y log |x|), so that an error of the logarithm counts |y log |x|| times: at most 2e-13 of the result.
Value power(Lanes &l, Value x, Value y) {
  Value result = exponential(l, l.mul(y, logarithm(l, magnitude(l, x))));
  // A negative base: the sign of an odd whole exponent, NaN for a broken one.
  Value biased, whole = nearest(l, y, biased);
  Value odd = l.equalI(l.andI(asInteger(l, biased), l.longer(1)), l.longer(1));
  Value flipped = l.select(odd, l.sub(l.wide(0.0), result), result);
  flipped = l.select(l.equal(whole, y), flipped, l.wide(kNaN));
  result = l.select(l.less(x, l.wide(0.0)), flipped, result);
  result = l.select(l.equal(y, l.wide(0.0)), l.wide(1.0), result);
  Value notNumber = arith::CmpFOp::create(l.builder, arith::CmpFPredicate::UNO, x, y);
  return l.select(notNumber, l.add(x, y), result);
}

} // namespace

Value emitWideFunction(ImplicitLocOpBuilder &builder, Operation &op, ValueRange x) {
  Lanes l(builder, x[0]);
#define TENON_FUNCTION(name, library, real, wide, picoseconds)                                                                   \
  if (isa<math::name>(op))                                                                                                       \
    return wide;
#include "lowering/code/Functions.def"
  return {};
}

} // namespace tenon
