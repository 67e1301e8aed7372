#include "lowering/code/LossScale.h"
#include "lowering/artifact/Scalars.h"
#include "runtime/include/tenon/artifact.h"
#include <cstddef>

using namespace mlir;

namespace tenon {

// Where the scale stays, whatever happens: its quotients are numbers of f32.
constexpr float leastScale = 0x1p-96f, largestScale = 0x1p96f;

Value isFinite(ImplicitLocOpBuilder &builder, Value real) {
  Value difference = arith::SubFOp::create(builder, real, real); // NaN for NaN and infinity
  return arith::CmpFOp::create(builder, arith::CmpFPredicate::OEQ, difference, difference);
}

LossScale readLossScale(ImplicitLocOpBuilder &builder, Value place) {
  Value now = LLVM::LoadOp::create(builder, builder.getF32Type(), place, 8);
  Value one = arith::ConstantOp::create(builder, builder.getF64FloatAttr(1));
  return {place, now, arith::DivFOp::create(builder, one, arith::ExtFOp::create(builder, builder.getF64Type(), now))};
}

void emitNextScale(ImplicitLocOpBuilder &builder, OptimizeOp op, const LossScale &scale, Value finite, Value last) {
  auto number = [&](double value) -> Value { return arith::ConstantOp::create(builder, builder.getF32FloatAttr(float(value))); };
  auto choose = [&](Value condition, Value a, Value b) -> Value { return arith::SelectOp::create(builder, condition, a, b); };
  Value goodPlace = byteAddress(builder, scale.place, constant(builder, int64_t(offsetof(TnLossScale, good))));
  Value before = LLVM::LoadOp::create(builder, builder.getI64Type(), goodPlace, 8);
  Value zero = constant(builder, 0), good = add(builder, before, constant(builder, 1));
  Value isEnough =
      arith::CmpIOp::create(builder, arith::CmpIPredicate::sge, good, constant(builder, int64_t(op.number("scale_every", 1))));
  Value factor =
      choose(finite, choose(isEnough, number(op.number("scale_growth", 1)), number(1)), number(op.number("scale_backoff", 1)));
  Value next = arith::MulFOp::create(builder, scale.now, factor);
  next = arith::MaximumFOp::create(builder, next, number(leastScale));
  next = arith::MinimumFOp::create(builder, next, number(largestScale));
  Value count = choose(finite, choose(isEnough, zero, good), zero);
  LLVM::StoreOp::create(builder, choose(last, next, scale.now), scale.place, 8);
  LLVM::StoreOp::create(builder, choose(last, count, before), goodPlace, 8);
}

} // namespace tenon
