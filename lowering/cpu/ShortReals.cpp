#include "lowering/cpu/ShortReals.h"
#include "lowering/artifact/RealLanes.h"
#include "llvm/Support/ErrorHandling.h"

using namespace mlir;

namespace tenon::cpu {
namespace {

/// With a number as the second operand, of 32 bits.
class Bits : public Lanes {
public:
  using Lanes::Lanes;
  Value number(int64_t value) { return integer(int32_t(value)); }
  Value both(Value a, int64_t b) { return andI(a, number(b)); }
  Value up(Value a, int64_t by) { return shl(a, number(by)); }
  Value down(Value a, int64_t by) { return arith::ShRUIOp::create(builder, a, number(by)); }
  /// Of numbers that are not negative.
  Value below(Value a, int64_t b) { return arith::CmpIOp::create(builder, arith::CmpIPredicate::ult, a, number(b)); }
};

constexpr int64_t kSign = 0x80000000, kInfinity = 0x7f800000;

/// Half of the last place that stays, less one where that place is even: nearest, ties to even.
Value rounded(Bits &b, Value bits, int64_t dropped) {
  Value even = b.both(b.down(bits, dropped), 1);
  return b.addI(b.addI(bits, b.number((int64_t(1) << (dropped - 1)) - 1)), even);
}

Value widenHalf(Bits &b, Value bits) {
  Value magnitude = b.both(bits, 0x7fff), sign = b.up(b.both(bits, 0x8000), 16);
  Value shifted = b.up(magnitude, 13);
  Value normal = b.addI(shifted, b.number(int64_t(127 - 15) << 23));
  Value infinite = b.orI(shifted, b.number(kInfinity));
  // As a product of an integer: the shifted bits would be a denormal f32, which the threads' mode reads as zero.
  Value whole = arith::UIToFPOp::create(b.builder, b.shaped(b.builder.getF32Type()), magnitude);
  Value denormal = b.bits(b.mul(whole, b.real(0x1p-24f)));
  return b.asReal(
      b.orI(sign, b.select(b.below(magnitude, 0x0400), denormal, b.select(b.below(magnitude, 0x7c00), normal, infinite))));
}

Value narrowHalf(Bits &b, Value bits) {
  Value magnitude = b.both(bits, ~kSign), sign = b.down(b.both(bits, kSign), 16);
  Value normal = b.down(rounded(b, b.addI(magnitude, b.number(-(int64_t(127 - 15) << 23))), 13), 13);
  // Below 2^-14: adding 1/2 leaves the places of 2^-24 in the last bits, rounded as f32 rounds.
  Value sum = b.bits(b.add(b.asReal(magnitude), b.real(0.5f)));
  Value denormal = b.addI(sum, b.number(-int64_t(0x3f000000)));
  Value overflow = b.select(b.below(magnitude, kInfinity + 1), b.number(0x7c00),
                            b.orI(b.number(0x7e00), b.both(b.down(magnitude, 13), 0x3ff)));
  Value result = b.select(b.below(magnitude, 0x38800000), denormal, b.select(b.below(magnitude, 0x477ff000), normal, overflow));
  return b.orI(sign, result);
}

Value narrowBrain(Bits &b, Value bits) {
  Value magnitude = b.both(bits, ~kSign);
  Value quiet = b.orI(b.down(bits, 16), b.number(0x40));
  Value zero = b.down(b.both(bits, kSign), 16);
  Value result = b.select(b.below(magnitude, kInfinity + 1), b.down(rounded(b, bits, 16), 16), quiet);
  return b.select(b.below(magnitude, 0x00800000), zero, result);
}

/// Whether `element` is f16, which is converted by its own exponents; a further one of 16 bits needs code of its own here.
bool isHalf(Type element) {
  if (!element.isF16() && !isUpperHalf(element))
    llvm::report_fatal_error("a real of 16 bits without conversions");
  return element.isF16();
}

} // namespace

Value widenBits(OpBuilder &outer, Location location, Tier tier, Type element, Value bits) {
  ImplicitLocOpBuilder builder(location, outer);
  Bits b(builder, bits);
  const Type f32 = b.shaped(builder.getF32Type());
  if (isHalf(element) && tier != Tier::Portable) // F16C
    return arith::ExtFOp::create(builder, f32, Value(arith::BitcastOp::create(builder, b.shaped(builder.getF16Type()), bits)));
  Value wide = arith::ExtUIOp::create(builder, b.shaped(builder.getI32Type()), bits);
  return isHalf(element) ? widenHalf(b, wide) : b.asReal(b.up(wide, 16));
}

Value narrowToBits(OpBuilder &outer, Location location, Tier tier, Type element, Value real) {
  ImplicitLocOpBuilder builder(location, outer);
  Bits b(builder, real);
  const Type i16 = b.shaped(builder.getI16Type());
  if (isHalf(element) && tier != Tier::Portable)
    return arith::BitcastOp::create(builder, i16, arith::TruncFOp::create(builder, b.shaped(builder.getF16Type()), real));
  Value bits = b.bits(real);
  return arith::TruncIOp::create(builder, i16, isHalf(element) ? narrowHalf(b, bits) : narrowBrain(b, bits));
}

} // namespace tenon::cpu
