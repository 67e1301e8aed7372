#include "dialect/Build.h"

using namespace mlir;

namespace tenon {

RankedTensorType withElement(RankedTensorType type, Type element) {
  return RankedTensorType::get(type.getShape(), element, type.getEncoding());
}

RankedTensorType withoutDims(RankedTensorType type, ArrayRef<int64_t> dims) {
  SmallVector<AffineExpr> kept;
  for (auto [index, size] : llvm::enumerate(sizesOf(type)))
    if (!llvm::is_contained(dims, int64_t(index)))
      kept.push_back(size);
  return tensorType(kept, type.getElementType(), dimCountOf(type));
}

Value Build::compare(Comparison kind, Value a, Value b) { return CompareOp::create(builder, location, kind, a, b); }

Value Build::convert(Value x, Type element) {
  if (tensorOf(x).getElementType() == element)
    return x;
  return ConvertOp::create(builder, location, withElement(tensorOf(x), element), x);
}

Value Build::broadcast(Value x, ArrayRef<int64_t> dims, RankedTensorType type) {
  bool identity = x.getType() == type;
  for (auto [index, dim] : llvm::enumerate(dims))
    identity &= int64_t(index) == dim;
  return identity ? x : Value(BroadcastOp::create(builder, location, type, x, builder.getDenseI64ArrayAttr(dims)));
}

Value Build::alongLast(Value x, RankedTensorType type) {
  SmallVector<int64_t> dims;
  for (int64_t i = 0; i + 1 < type.getRank(); ++i)
    dims.push_back(i);
  return broadcast(x, dims, withElement(type, tensorOf(x).getElementType()));
}

Value Build::reduce(Reduction kind, Value x, ArrayRef<int64_t> dims) {
  if (dims.empty())
    return x;
  return ReduceOp::create(builder, location, kind, x, dims);
}

Value Build::reduceLast(Reduction kind, Value x) { return reduce(kind, x, {tensorOf(x).getRank() - 1}); }

Value Build::dot(Value a, ArrayRef<int64_t> aLabels, Value b, ArrayRef<int64_t> bLabels, RankedTensorType type) {
  return DotOp::create(builder, location, type, a, b, builder.getDenseI64ArrayAttr(aLabels),
                       builder.getDenseI64ArrayAttr(bLabels));
}

Value Build::sizeLike(AffineExpr size, RankedTensorType type) {
  if (auto constant = dyn_cast<AffineConstantExpr>(size))
    return this->constant(type, double(constant.getValue()));
  auto scalar = RankedTensorType::get({}, builder.getI32Type());
  unsigned dims = dimCountOf(type);
  Block *block = builder.getInsertionBlock();
  for (Operation *op = block ? block->getParentOp() : nullptr; op && dims == 0; op = op->getParentOp())
    if (auto named = op->getAttrOfType<ArrayAttr>("tenon.dims")) // static sizes do not say how many dims their entry has
      dims = named.size();
  size.walk([&](AffineExpr e) {
    if (auto dim = dyn_cast<AffineDimExpr>(e))
      dims = std::max(dims, dim.getPosition() + 1);
  });
  Value count = SizeOp::create(builder, location, scalar, sizeAttribute(size, dims));
  return broadcast(convert(count, type.getElementType()), {}, type);
}

} // namespace tenon
