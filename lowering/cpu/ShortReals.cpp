#include "lowering/cpu/ShortReals.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace tenon::cpu {
namespace {

/// Integer and real arithmetic on scalars or vectors of one shape.
struct Bits {
  OpBuilder &builder;
  Location location;
  Type shape; // of the value that is converted

  Type of(Type element) const {
    auto vector = dyn_cast<VectorType>(shape);
    return vector ? Type(vector.clone(element)) : element;
  }
  Type i32() const { return of(builder.getI32Type()); }
  Type f32() const { return of(builder.getF32Type()); }
  Value number(int64_t value) const { return filled(i32(), builder.getI32IntegerAttr(int32_t(value))); }
  Value real(float value) const { return filled(f32(), builder.getF32FloatAttr(value)); }
  Value both(Value a, int64_t b) const { return arith::AndIOp::create(builder, location, a, number(b)); }
  Value either(Value a, Value b) const { return arith::OrIOp::create(builder, location, a, b); }
  Value add(Value a, Value b) const { return arith::AddIOp::create(builder, location, a, b); }
  Value up(Value a, int64_t by) const { return arith::ShLIOp::create(builder, location, a, number(by)); }
  Value down(Value a, int64_t by) const { return arith::ShRUIOp::create(builder, location, a, number(by)); }
  Value asReal(Value a) const { return arith::BitcastOp::create(builder, location, f32(), a); }
  Value asBits(Value a) const { return arith::BitcastOp::create(builder, location, i32(), a); }
  /// Of numbers that are not negative.
  Value less(Value a, int64_t b) const {
    return arith::CmpIOp::create(builder, location, arith::CmpIPredicate::ult, a, number(b));
  }
  Value choose(Value condition, Value a, Value b) const { return arith::SelectOp::create(builder, location, condition, a, b); }

private:
  Value filled(Type type, TypedAttr value) const {
    if (auto vector = dyn_cast<VectorType>(type))
      return arith::ConstantOp::create(builder, location, DenseElementsAttr::get(vector, Attribute(value)));
    return arith::ConstantOp::create(builder, location, value);
  }
};

constexpr int64_t kSign = 0x80000000, kInfinity = 0x7f800000;

/// Half of the last place that stays, less one where that place is even: nearest, ties to even.
Value rounded(const Bits &b, Value bits, int64_t dropped) {
  Value even = b.both(b.down(bits, dropped), 1);
  return b.add(b.add(bits, b.number((int64_t(1) << (dropped - 1)) - 1)), even);
}

Value widenHalf(const Bits &b, Value bits) {
  Value magnitude = b.both(bits, 0x7fff), sign = b.up(b.both(bits, 0x8000), 16);
  Value shifted = b.up(magnitude, 13);
  Value normal = b.add(shifted, b.number(int64_t(127 - 15) << 23));
  Value infinite = b.either(shifted, b.number(kInfinity));
  // As a product of an integer: the shifted bits would be a denormal f32, which the threads' mode reads as zero.
  Value whole = arith::UIToFPOp::create(b.builder, b.location, b.f32(), magnitude);
  Value denormal = b.asBits(arith::MulFOp::create(b.builder, b.location, whole, b.real(0x1p-24f)));
  return b.asReal(
      b.either(sign, b.choose(b.less(magnitude, 0x0400), denormal, b.choose(b.less(magnitude, 0x7c00), normal, infinite))));
}

Value narrowHalf(const Bits &b, Value bits) {
  Value magnitude = b.both(bits, ~kSign), sign = b.down(b.both(bits, kSign), 16);
  Value normal = b.down(rounded(b, b.add(magnitude, b.number(-(int64_t(127 - 15) << 23))), 13), 13);
  // Below 2^-14: adding 1/2 leaves the places of 2^-24 in the last bits, rounded as f32 rounds.
  Value sum = b.asBits(arith::AddFOp::create(b.builder, b.location, b.asReal(magnitude), b.real(0.5f)));
  Value denormal = b.add(sum, b.number(-int64_t(0x3f000000)));
  Value overflow = b.choose(b.less(magnitude, kInfinity + 1), b.number(0x7c00),
                            b.either(b.number(0x7e00), b.both(b.down(magnitude, 13), 0x3ff)));
  Value result = b.choose(b.less(magnitude, 0x38800000), denormal, b.choose(b.less(magnitude, 0x477ff000), normal, overflow));
  return b.either(sign, result);
}

Value narrowBrain(const Bits &b, Value bits) {
  Value magnitude = b.both(bits, ~kSign);
  Value quiet = b.either(b.down(bits, 16), b.number(0x40));
  Value zero = b.down(b.both(bits, kSign), 16);
  Value result = b.choose(b.less(magnitude, kInfinity + 1), b.down(rounded(b, bits, 16), 16), quiet);
  return b.choose(b.less(magnitude, 0x00800000), zero, result);
}

} // namespace

Value widenBits(OpBuilder &builder, Location location, Tier tier, Type element, Value bits) {
  Bits b{builder, location, bits.getType()};
  if (element.isF16() && tier != Tier::Portable) // F16C
    return arith::ExtFOp::create(builder, location, b.f32(),
                                 Value(arith::BitcastOp::create(builder, location, b.of(builder.getF16Type()), bits)));
  Value wide = arith::ExtUIOp::create(builder, location, b.i32(), bits);
  return element.isF16() ? widenHalf(b, wide) : b.asReal(b.up(wide, 16));
}

Value narrowToBits(OpBuilder &builder, Location location, Tier tier, Type element, Value real) {
  Bits b{builder, location, real.getType()};
  Type i16 = b.of(builder.getI16Type());
  if (element.isF16() && tier != Tier::Portable)
    return arith::BitcastOp::create(builder, location, i16,
                                    arith::TruncFOp::create(builder, location, b.of(builder.getF16Type()), real));
  Value bits = b.asBits(real);
  return arith::TruncIOp::create(builder, location, i16, element.isF16() ? narrowHalf(b, bits) : narrowBrain(b, bits));
}

} // namespace tenon::cpu
