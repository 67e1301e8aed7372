#include "lowering/code/RealFunctions.h"
#include "lowering/artifact/RealLanes.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include <limits>

using namespace mlir;

namespace tenon {
namespace {

constexpr double kLog2e = 1.44269504088896340736;
constexpr int32_t kSign = int32_t(0x80000000u);

/// exp for x in [-87.33, 88.72]; anything else gives garbage, a NaN stays one. Cody-Waite reduction by ln 2 in two parts,
/// polynomial of degree 6 (Cephes expf); the exponent is added to the bits.
Value exponential(Lanes &l, Value x) {
  Value magic = l.real(12582912.0); // 1.5 * 2^23: adding it rounds to an integer
  Value biased = l.fma(x, l.real(kLog2e), magic);
  Value whole = l.sub(biased, magic);
  Value r = l.fma(whole, l.real(-0.693359375), x);
  r = l.fma(whole, l.real(2.12194440e-4), r);
  Value p =
      l.polynomial(r, {1.9875691500e-4, 1.3981999507e-3, 8.3334519073e-3, 4.1665795894e-2, 1.6666665459e-1, 5.0000001201e-1});
  p = l.fma(p, l.mul(r, r), r);
  p = l.add(p, l.real(1.0));
  // The low 9 bits of 1.5 * 2^23 are 0, so that the shift leaves the integer alone.
  return l.asReal(l.addI(l.bits(p), l.shl(l.bits(biased), l.integer(23))));
}

} // namespace

/// At most 1 ulp for x <= 0; 0 where the result is below the normal range.
Value emitExpAtMostOne(ImplicitLocOpBuilder &builder, Value x) {
  Lanes l(builder, x);
  return l.select(l.less(x, l.real(-87.33654)), l.real(0.0), exponential(l, x)); // NaN: stays
}

/// At most 1 ulp; 0 where the result is below the normal range, inf above it.
static Value emitExp(ImplicitLocOpBuilder &builder, Value x) {
  Lanes l(builder, x);
  Value y = exponential(l, x);
  y = l.select(l.less(x, l.real(-87.33654)), l.real(0.0), y);
  y = l.select(l.greater(x, l.real(88.72283)), l.real(std::numeric_limits<double>::infinity()), y);
  return l.select(arith::CmpFOp::create(builder, arith::CmpFPredicate::UNO, x, x), x, y);
}

/// |x| < 0.625: odd polynomial (Cephes tanhf); beyond: 1 - 2 / (exp(2|x|) + 1). At most 2 ulp.
Value emitTanh(ImplicitLocOpBuilder &builder, Value x) {
  Lanes l(builder, x);
  Value sign = l.andI(l.bits(x), l.integer(kSign));
  Value size = l.asReal(l.xorI(l.bits(x), sign));
  Value z = l.mul(x, x);
  Value p = l.polynomial(z, {-5.70498872745e-3, 2.06390887954e-2, -5.37397155531e-2, 1.33314422036e-1, -3.33332819422e-1});
  Value small = l.fma(l.mul(p, z), x, x);
  Value doubled = l.add(size, size);
  Value e = exponential(l, l.select(l.less(doubled, l.real(40.0)), doubled, l.real(40.0)));
  Value large = l.sub(l.real(1.0), l.div(l.real(2.0), l.add(e, l.real(1.0))));
  large = l.asReal(l.orI(l.bits(large), sign));
  return l.select(arith::CmpFOp::create(builder, arith::CmpFPredicate::OGE, size, l.real(0.625)), large, small); // NaN: small
}

/// Two branches at 475/512: an odd polynomial, and 1 - exp(polynomial). At most 2 ulp.
static Value emitErf(ImplicitLocOpBuilder &builder, Value x) {
  Lanes l(builder, x);
  Value sign = l.andI(l.bits(x), l.integer(kSign));
  Value t = l.asReal(l.xorI(l.bits(x), sign));
  Value s = l.mul(x, x);
  Value far = l.fma(l.real(-1.72853470e-5), t, l.real(3.83197126e-4));
  Value u = l.fma(l.real(-3.88396438e-3), t, l.real(2.42546219e-2));
  far = l.fma(far, s, u);
  far = l.fma(far, t, l.real(-1.06777877e-1));
  far = l.fma(far, t, l.real(-6.34846687e-1));
  far = l.fma(far, t, l.real(-1.28717512e-1));
  far = l.sub(l.mul(far, t), t);
  // Beyond 4 the result is 1 and the polynomial of no use.
  far = l.select(l.greater(t, l.real(4.0)), l.real(-80.0), far);
  Value large = l.sub(l.real(1.0), exponential(l, far));
  large = l.asReal(l.orI(l.bits(large), sign));
  Value p = l.polynomial(s, {-5.96761703e-4, 4.99119423e-3, -2.67681349e-2, 1.12819925e-1, -3.76125336e-1, 1.28379166e-1});
  return l.select(l.greater(t, l.real(0.927734375)), large, l.fma(p, x, x));
}

/// Exponent and mantissa in [sqrt(1/2), sqrt(2)), polynomial (Cephes logf). At most 2 ulp; -inf at 0, NaN below, inf at inf.
static Value emitLog(ImplicitLocOpBuilder &builder, Value x) {
  Lanes l(builder, x);
  Value bits = l.bits(x);
  Value offset = l.subI(bits, l.integer(0x3f3504f3)); // bits of sqrt(1/2)
  Value e = l.shr(offset, l.integer(23));
  Value m = l.asReal(l.subI(bits, l.shl(e, l.integer(23))));
  Value exponent = arith::SIToFPOp::create(builder, l.shape, e);
  Value f = l.sub(m, l.real(1.0));
  Value z = l.mul(f, f);
  Value y = l.polynomial(f, {7.0376836292e-2, -1.1514610310e-1, 1.1676998740e-1, -1.2420140846e-1, 1.4249322787e-1,
                             -1.6668057665e-1, 2.0000714765e-1, -2.4999993993e-1, 3.3333331174e-1});
  y = l.mul(l.mul(y, z), f);
  y = l.fma(exponent, l.real(-2.12194440e-4), y);
  y = l.fma(z, l.real(-0.5), y);
  y = l.fma(exponent, l.real(0.693359375), l.add(f, y));
  const double infinity = std::numeric_limits<double>::infinity();
  y = l.select(l.equal(x, l.real(infinity)), x, y);
  y = l.select(l.less(x, l.real(1.17549435e-38)), l.real(-infinity), y); // 0, and what counts as 0
  y = l.select(l.less(x, l.real(0.0)), l.real(std::numeric_limits<double>::quiet_NaN()), y);
  return l.select(arith::CmpFOp::create(builder, arith::CmpFPredicate::UNO, x, x), x, y);
}

/// Reduction by pi/2 in three parts; at most 2 ulp (of 1) for |x| <= 65536, less exact beyond.
static Value emitSinCos(ImplicitLocOpBuilder &builder, Value x, bool cosine) {
  Lanes l(builder, x);
  Value magic = l.real(12582912.0);
  Value biased = l.fma(x, l.real(0.636619772367581343), magic);
  Value whole = l.sub(biased, magic);
  Value r = l.fma(whole, l.real(-1.57079601e+0), x);
  r = l.fma(whole, l.real(-3.13916473e-7), r);
  r = l.fma(whole, l.real(-5.39030253e-15), r);
  Value quadrant = l.subI(l.bits(biased), l.bits(magic));
  if (cosine)
    quadrant = l.addI(quadrant, l.integer(1));
  Value s = l.mul(r, r);
  Value sine = l.polynomial(s, {2.86567956e-6, -1.98559923e-4, 8.33338592e-3, -1.66666672e-1});
  sine = l.fma(sine, l.mul(r, s), r);
  Value cosines = l.polynomial(s, {2.44677067e-5, -1.38877297e-3, 4.16666567e-2, -0.5, 1.0});
  Value even = l.equalI(l.andI(quadrant, l.integer(1)), l.integer(0));
  Value y = l.select(even, sine, cosines);
  Value sign = l.shl(l.andI(quadrant, l.integer(2)), l.integer(30));
  return l.asReal(l.xorI(l.bits(y), sign));
}

/// |x| > 1: pi/2 - atan(1 / |x|), pi/2 in two parts; below: odd polynomial, a minimax of the relative error (2e-8, Lawson's
/// iteration in f64). At most 1.6 ulp, tried over all numbers.
static Value emitAtan(ImplicitLocOpBuilder &builder, Value x) {
  Lanes l(builder, x);
  Value sign = l.andI(l.bits(x), l.integer(kSign));
  Value size = l.asReal(l.xorI(l.bits(x), sign));
  Value isFar = l.greater(size, l.real(1.0)); // NaN: near
  Value r = l.select(isFar, l.div(l.real(1.0), size), size);
  Value s = l.mul(r, r);
  Value p = l.polynomial(s, {2.920359839e-3, -1.636652090e-2, 4.320942611e-2, -7.551993430e-2, 1.066589281e-1, -1.421102434e-1,
                             1.999376863e-1, -3.333315253e-1});
  Value near = l.fma(l.mul(p, s), r, r);
  Value far = l.sub(l.real(1.57079637), l.add(near, l.real(4.37113883e-8)));
  Value y = l.select(isFar, far, near);
  return l.asReal(l.orI(l.bits(y), sign));
}

/// |x|^y as exp(y log|x|) in f64: the logarithm by the series of atanh, relative error below 1e-11, so at most 1 ulp of f32.
static Value emitPow(ImplicitLocOpBuilder &builder, Value x, Value y) {
  Lanes l(builder, x);
  const double infinity = std::numeric_limits<double>::infinity();
  Type f64 = l.shaped(builder.getF64Type()), i64 = l.shaped(builder.getI64Type()), f32 = l.shape;
  Value wideX = arith::ExtFOp::create(builder, f64, x), wideY = arith::ExtFOp::create(builder, f64, y);
  Value size = math::AbsFOp::create(builder, wideX);
  Value bits = arith::BitcastOp::create(builder, i64, size);
  Value e = l.shr(l.subI(bits, l.longer(0x3fe6a09e667f3bcd)), l.longer(52));
  Value m = arith::BitcastOp::create(builder, f64, l.subI(bits, l.shl(e, l.longer(52))));
  Value s = l.div(l.sub(m, l.wide(1.0)), l.add(m, l.wide(1.0)));
  Value series = l.widePolynomial(l.mul(s, s), {2.0 / 15, 2.0 / 13, 2.0 / 11, 2.0 / 9, 2.0 / 7, 2.0 / 5, 2.0 / 3, 2.0});
  Value exponent = arith::SIToFPOp::create(builder, f64, e);
  Value logarithm = l.add(l.mul(exponent, l.wide(0.693147180559945309417)), l.mul(s, series));
  logarithm = l.select(l.equal(size, l.wide(0.0)), l.wide(-infinity), logarithm);
  logarithm = l.select(l.equal(size, l.wide(infinity)), l.wide(infinity), logarithm);
  Value t = l.mul(wideY, logarithm);
  t = l.select(l.greater(t, l.wide(200.0)), l.wide(200.0), t);
  t = l.select(l.less(t, l.wide(-200.0)), l.wide(-200.0), t);
  Value magic = l.wide(6755399441055744.0); // 1.5 * 2^52
  Value biased = l.add(l.mul(t, l.wide(kLog2e)), magic);
  Value whole = l.sub(biased, magic);
  Value r = l.sub(t, l.mul(whole, l.wide(0.693147180559945309417)));
  Value p = l.widePolynomial(
      r, {1.0 / 3628800, 1.0 / 362880, 1.0 / 40320, 1.0 / 5040, 1.0 / 720, 1.0 / 120, 1.0 / 24, 1.0 / 6, 0.5, 1.0, 1.0});
  Value n = l.subI(arith::BitcastOp::create(builder, i64, biased), arith::BitcastOp::create(builder, i64, magic));
  Value power = arith::BitcastOp::create(builder, f64, l.shl(l.addI(n, l.longer(1023)), l.longer(52)));
  Value result = arith::TruncFOp::create(builder, f32, l.mul(p, power));
  // A negative base: the sign of an odd whole exponent, NaN for a broken one; |y| >= 2^24 is even.
  Value nearest = l.sub(l.add(wideY, magic), magic);
  Value isWhole = l.equal(nearest, wideY);
  Value odd = l.equalI(l.andI(arith::BitcastOp::create(builder, i64, Value(l.add(wideY, magic))), l.longer(1)), l.longer(1));
  Value flipped = l.select(odd, l.sub(l.real(0.0), result), result);
  flipped = l.select(isWhole, flipped, l.real(std::numeric_limits<double>::quiet_NaN()));
  result = l.select(l.less(x, l.real(0.0)), flipped, result);
  result = l.select(l.equal(y, l.real(0.0)), l.real(1.0), result);
  Value notNumber = arith::CmpFOp::create(builder, arith::CmpFPredicate::UNO, x, y);
  return l.select(notNumber, l.add(x, y), result);
}

using Emitter = Value (*)(ImplicitLocOpBuilder &, ValueRange);

static Emitter emitterOf(Operation &op) {
#define TENON_FUNCTION(name, library, real, wide, picoseconds)                                                                   \
  if (isa<math::name>(op))                                                                                                       \
    return [](ImplicitLocOpBuilder &builder, ValueRange x) -> Value { return real; };
#include "lowering/code/Functions.def"
  return nullptr;
}

bool hasRealFunction(Operation &op) { return emitterOf(op); }

Value emitRealFunction(ImplicitLocOpBuilder &builder, Operation &op, ValueRange operands) {
  const Emitter emit = emitterOf(op);
  return emit ? emit(builder, operands) : Value();
}

} // namespace tenon
