// Stacks, depths: verifiers and element code.
#include "dialect/TenonDialect.h"
#include "dialect/TensorSizes.h"

using namespace mlir;
using namespace tenon;

LogicalResult StackOp::verify() {
  Block &block = getBody().front();
  unsigned carries = getCarries().size();
  if (block.getNumArguments() != carries + 1 || !block.getArgument(0).getType().isIndex()) // C1
    return emitOpError("expects a body with the depth and ") << carries << " carries as arguments, got " << block.getNumArguments();
  auto yield = cast<YieldOp>(block.getTerminator());
  if (yield.getNumOperands() != getNumResults())
    return emitOpError("expects one yielded value per result, got ") << yield.getNumOperands() << " for " << getNumResults();
  for (unsigned i = 0; i < carries; ++i) // C2
    if (block.getArgument(i + 1).getType() != getCarries()[i].getType() || yield.getOperand(i).getType() != getCarries()[i].getType() ||
        getResult(i).getType() != getCarries()[i].getType())
      return emitOpError("expects carry ") << i << " to keep its type " << getCarries()[i].getType();
  for (unsigned i = carries; i < getNumResults(); ++i) { // C3
    auto saved = cast<RankedTensorType>(yield.getOperand(i).getType());
    auto stacked = cast<RankedTensorType>(getResult(i).getType());
    SmallVector<AffineExpr> sizes = sizesOf(saved);
    sizes.insert(sizes.begin(), getAffineConstantExpr(getCount(), getContext()));
    if (stacked != tensorType(sizes, saved.getElementType(), dimCountOf(saved)))
      return emitOpError("expects saved value ") << i << " of " << saved << " to be stacked " << getCount() << " times, got " << stacked;
  }
  return success();
}

LogicalResult AppendStateOp::verify() {
  auto rows = cast<RankedTensorType>(getRows().getType()), whole = cast<RankedTensorType>(getWhole().getType());
  int64_t dim = getDim();
  if (dim < 0 || dim >= whole.getRank()) // C1
    return emitOpError("expects a dimension of ") << whole << ", got " << dim;
  SmallVector<AffineExpr> sizes = sizesOf(rows), all = sizesOf(whole);
  if (sizes.size() == all.size())
    sizes[dim] = all[dim];
  if (sizes != all) // C2
    return emitOpError("expects rows of the shape of ") << whole << " but for dimension " << dim << ", got " << rows;
  if (rows.getElementType() != whole.getElementType()) // C3
    return emitOpError("expects rows of ") << whole.getElementType() << ", got " << rows.getElementType();
  if (cast<RankedTensorType>(getPosition().getType()).getRank() != 0) // C4
    return emitOpError("expects a scalar as position, got ") << getPosition().getType();
  return success();
}

LogicalResult AtDepthOp::inferReturnTypes(MLIRContext *, std::optional<Location> location, Adaptor adaptor, SmallVectorImpl<Type> &types) {
  auto x = cast<RankedTensorType>(adaptor.getX().getType());
  if (x.getRank() == 0) // C1
    return emitOptionalError(location, "'tenon.at_depth' op expects a value that was stacked, got ", x);
  types.push_back(tensorType(ArrayRef(sizesOf(x)).drop_front(), x.getElementType(), dimCountOf(x)));
  return success();
}
Value AtDepthOp::buildElement(OpBuilder &builder, unsigned, ValueRange indices, ElementReader read) {
  Value place = getDepth();
  if (getFirst() != 0)
    place = arith::SubIOp::create(builder, getLoc(), place, arith::ConstantIndexOp::create(builder, getLoc(), getFirst()));
  SmallVector<Value> all{place};
  all.append(indices.begin(), indices.end());
  return read(getX(), all);
}

Value DepthValueOp::buildElement(OpBuilder &builder, unsigned, ValueRange, ElementReader) {
  return arith::IndexCastOp::create(builder, getLoc(), cast<RankedTensorType>(getY().getType()).getElementType(), getDepth());
}
