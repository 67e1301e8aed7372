#include "lowering/code/Halves.h"
#include "lowering/artifact/RealLanes.h"

using namespace mlir;

namespace tenon {

std::pair<Value, Value> splitHalves(ImplicitLocOpBuilder &builder, Value real) {
  Lanes lanes(builder, real);
  Type i16 = lanes.shaped(builder.getI16Type());
  Value bits = lanes.bits(real);
  Value quiet = lanes.orI(lanes.andI(bits, lanes.integer(int32_t(0xffff0000))), lanes.integer(0x00400000));
  Value magnitude = lanes.andI(bits, lanes.integer(0x7fffffff));
  Value isNumber = arith::CmpIOp::create(builder, arith::CmpIPredicate::ult, magnitude, lanes.integer(0x7f800001));
  bits = lanes.select(isNumber, bits, quiet);
  // The remainder is bits - upper * 2^16: modulo 2^16 the lower bits themselves.
  return {arith::TruncIOp::create(builder, i16, lanes.shr(lanes.addI(bits, lanes.integer(0x8000)), lanes.integer(16))),
          arith::TruncIOp::create(builder, i16, bits)};
}

} // namespace tenon
