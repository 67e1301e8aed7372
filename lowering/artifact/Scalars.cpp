#include "lowering/artifact/Scalars.h"

using namespace mlir;

namespace tenon {

Value evaluateSize(ImplicitLocOpBuilder &builder, AffineExpr expression, ArrayRef<Value> dims) {
  if (auto number = dyn_cast<AffineConstantExpr>(expression))
    return constant(builder, number.getValue());
  if (auto dim = dyn_cast<AffineDimExpr>(expression))
    return dims[dim.getPosition()];
  auto binary = cast<AffineBinaryOpExpr>(expression);
  Value left = evaluateSize(builder, binary.getLHS(), dims), right = evaluateSize(builder, binary.getRHS(), dims);
  switch (expression.getKind()) {
  case AffineExprKind::Add:
    return add(builder, left, right);
  case AffineExprKind::Mul:
    return multiply(builder, left, right);
  case AffineExprKind::FloorDiv:
    return divide(builder, left, right);
  case AffineExprKind::CeilDiv:
    return ceilDivide(builder, left, right);
  default:
    return remainder(builder, left, right);
  }
}

} // namespace tenon
