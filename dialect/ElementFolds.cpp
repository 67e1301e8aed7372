#include "dialect/ElementFolds.h"

using namespace mlir;

namespace tenon {

Value fold(OpBuilder &builder, Location location, Reduction kind, Type element, ArrayRef<AffineExpr> sizes, unsigned dimCount,
           llvm::function_ref<Value(ValueRange)> term) {
  auto op = FoldOp::create(builder, location, element, kind, sizeMap(sizes, dimCount, builder.getContext()));
  OpBuilder::InsertionGuard guard(builder);
  Block *block = builder.createBlock(&op.getBody());
  for (size_t i = 0; i < sizes.size(); ++i)
    block->addArgument(builder.getIndexType(), location);
  Value value = term(block->getArguments());
  YieldOp::create(builder, location, value);
  return op.getValue();
}

Value foldRow(OpBuilder &builder, Location location, Reduction kind, RankedTensorType x, ValueRange row,
              llvm::function_ref<Value(ValueRange)> term) {
  return fold(builder, location, kind, x.getElementType(), {sizesOf(x).back()}, dimCountOf(x), [&](ValueRange j) {
    SmallVector<Value> all(row);
    all.push_back(j[0]);
    return term(all);
  });
}

Value real(OpBuilder &builder, Location location, Type type, double value) {
  return arith::ConstantOp::create(builder, location, builder.getFloatAttr(type, value));
}
Value sizeAsReal(OpBuilder &builder, Location location, RankedTensorType type, AffineExpr size) {
  auto form = sizeAttribute(size, dimCountOf(type));
  Value index = SizeValueOp::create(builder, location, builder.getIndexType(), form);
  Value wide = arith::IndexCastOp::create(builder, location, builder.getI64Type(), index);
  return arith::SIToFPOp::create(builder, location, type.getElementType(), wide);
}

} // namespace tenon
