// Sizes of tensors and of stacks at given dims.
#include "dialect/TensorSizes.h"
#include "test/lowering/cpu/Reference.h"

using namespace mlir;

namespace tenon::test {

int64_t evaluateExpression(AffineExpr expression, const std::vector<int64_t> &dims) {
  if (auto number = dyn_cast<AffineConstantExpr>(expression))
    return number.getValue();
  if (auto dim = dyn_cast<AffineDimExpr>(expression))
    return dims.at(dim.getPosition());
  auto binary = cast<AffineBinaryOpExpr>(expression);
  int64_t a = evaluateExpression(binary.getLHS(), dims), b = evaluateExpression(binary.getRHS(), dims);
  switch (expression.getKind()) {
  case AffineExprKind::Add:
    return a + b;
  case AffineExprKind::Mul:
    return a * b;
  case AffineExprKind::FloorDiv:
    return a / b;
  case AffineExprKind::CeilDiv:
    return (a + b - 1) / b;
  default:
    return a % b;
  }
}

int64_t depthCount(Value depth) {
  auto stack = cast<StackOp>(cast<BlockArgument>(depth).getOwner()->getParentOp());
  return stack.getFirst() + *stack.countNumber();
}
int64_t copies(ValueRange depths) {
  int64_t product = 1;
  for (Value depth : depths)
    product *= depthCount(depth);
  return product;
}
int64_t elementCount(RankedTensorType type, const std::vector<int64_t> &dims) {
  int64_t product = 1;
  for (AffineExpr size : sizesOf(type))
    product *= evaluateExpression(size, dims);
  return product;
}

} // namespace tenon::test
