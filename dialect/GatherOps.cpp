// gather and its transpose scatter_add: element code, gradient rules, verifiers.
#include "dialect/Build.h"
#include "dialect/Rules.h"

using namespace mlir;
using namespace tenon;

/// The indices into x for the element `indices` of y.
template <typename OpTy>
static SmallVector<Value> gatheredIndices(OpTy op, RankedTensorType x, OpBuilder &builder, ValueRange indices,
                                          ElementReader read) {
  SmallVector<Value> ofIndex, source;
  for (int64_t dim : op.getIndexDims())
    ofIndex.push_back(indices[dim]);
  Value index = arith::IndexCastOp::create(builder, op.getLoc(), builder.getIndexType(), read(op.getIndex(), ofIndex));
  if (op.getClamp()) {
    Value last = SizeValueOp::create(builder, op.getLoc(), builder.getIndexType(),
                                     sizeAttribute(sizesOf(x)[op.getDim()] - 1, dimCountOf(x)));
    index = arith::MaxSIOp::create(builder, op.getLoc(), arith::ConstantIndexOp::create(builder, op.getLoc(), 0),
                                   arith::MinSIOp::create(builder, op.getLoc(), index, last));
  }
  for (int64_t dim : op.getXDims())
    source.push_back(dim < 0 ? index : indices[dim]);
  return source;
}
Value GatherOp::buildElement(OpBuilder &builder, unsigned, ValueRange indices, ElementReader read) {
  return read(getX(), gatheredIndices(*this, tensorOf(getX()), builder, indices, read));
}
SmallVector<Value> GatherOp::buildVjp(OpBuilder &builder, ArrayRef<Value> dy) {
  if (!isa<FloatType>(tensorOf(getX()).getElementType()))
    return {Value(), Value()};
  return {ScatterAddOp::create(builder, getLoc(), getX().getType(), dy[0], getIndex(), Value(), getDimAttr(), getXDimsAttr(),
                               getIndexDimsAttr(), getClampAttr()),
          Value()};
}

/// The type of the tensor gathered from one of type `x`: of the result of gather, of dy of scatter_add. C1 to C4 of gather.
template <typename OpTy>
static FailureOr<RankedTensorType> gatheredType(std::optional<Location> location, StringRef name, OpTy op, RankedTensorType x) {
  auto index = tensorOf(op.getIndex());
  int64_t dim = op.getDim();
  if (int64_t(op.getXDims().size()) != x.getRank() || dim < 0 || dim >= x.getRank() || op.getXDims()[dim] != -1) // C1
    return emitOptionalError(location, name, "expects one entry of x_dims per dimension of x, -1 at the gathered one");
  if (int64_t(op.getIndexDims().size()) != index.getRank()) // C2
    return emitOptionalError(location, name, "expects one entry of index_dims per dimension of the index");
  std::map<int64_t, AffineExpr> sizes;
  auto agree = [&](ArrayRef<int64_t> dims, ArrayRef<AffineExpr> own, int64_t skipped) {
    bool all = true;
    for (auto [i, at] : llvm::enumerate(dims))
      if (int64_t(i) != skipped)
        all &= at >= 0 && sizes.try_emplace(at, own[i]).first->second == own[i];
    return all;
  };
  if (!agree(op.getXDims(), sizesOf(x), dim) || !agree(op.getIndexDims(), sizesOf(index), -1)) // C3
    return emitOptionalError(location, name, "expects dimensions of the result in x_dims and index_dims, with one size each");
  if (!sizes.empty() && sizes.rbegin()->first != int64_t(sizes.size()) - 1) // C4
    return emitOptionalError(location, name, "expects every dimension of the result to be named");
  SmallVector<AffineExpr> all;
  for (auto [at, size] : sizes)
    all.push_back(size);
  return tensorType(all, x.getElementType(), std::max(dimCountOf(x), dimCountOf(index)));
}
LogicalResult GatherOp::inferReturnTypes(MLIRContext *, std::optional<Location> location, Adaptor adaptor,
                                         SmallVectorImpl<Type> &types) {
  FailureOr<RankedTensorType> type = gatheredType(location, "'tenon.gather' op ", adaptor, tensorOf(adaptor.getX()));
  if (succeeded(type))
    types.push_back(*type);
  return type;
}

Value ScatterAddOp::buildElement(OpBuilder &builder, unsigned, ValueRange indices, ElementReader read) {
  // dx[a, ..] = sum over the places of the index that are not batched with x of (index == a ? dy : 0).
  Location location = getLoc();
  auto y = tensorOf(getDy());
  SmallVector<Value> ofY(y.getRank());
  for (auto [k, dim] : llvm::enumerate(getXDims()))
    if (dim >= 0)
      ofY[dim] = indices[k];
  SmallVector<AffineExpr> folded;
  SmallVector<int64_t> foldedDims;
  for (int64_t i = 0; i < y.getRank(); ++i)
    if (!ofY[i])
      folded.push_back(sizesOf(y)[i]), foldedDims.push_back(i);
  auto term = [&]() -> Value {
    auto x = tensorOf(getDx());
    Value at = gatheredIndices(*this, x, builder, ofY, read)[getDim()];
    Value dy = read(getDy(), ofY);
    Value hit = arith::CmpIOp::create(builder, location, arith::CmpIPredicate::eq, at, indices[getDim()]);
    return arith::SelectOp::create(builder, location, hit, dy,
                                   arith::ConstantOp::create(builder, location, builder.getZeroAttr(dy.getType())));
  };
  auto ontoBase = [&](Value sum) -> Value {
    return getBase() ? arith::AddFOp::create(builder, location, read(getBase(), indices), sum) : sum;
  };
  if (folded.empty())
    return ontoBase(term());
  auto fold = FoldOp::create(builder, location, y.getElementType(), Reduction::sum, sizeMap(folded, dimCountOf(y), getContext()));
  OpBuilder::InsertionGuard guard(builder);
  Block *block = builder.createBlock(&fold.getBody());
  for (int64_t dim : foldedDims)
    ofY[dim] = block->addArgument(builder.getIndexType(), location);
  YieldOp::create(builder, location, term());
  builder.setInsertionPointAfter(fold);
  return ontoBase(fold.getValue());
}
SmallVector<Value> ScatterAddOp::buildVjp(OpBuilder &builder, ArrayRef<Value> resultGradients) {
  SmallVector<Value> gradients{GatherOp::create(builder, getLoc(), Type(getDy().getType()), resultGradients[0], getIndex(),
                                                getDimAttr(), getXDimsAttr(), getIndexDimsAttr(), getClampAttr()),
                               Value()};
  if (getBase())
    gradients.push_back(resultGradients[0]);
  return gradients;
}
LogicalResult ScatterAddOp::verify() {
  if (getBase() && getBase().getType() != getDx().getType()) // C5
    return emitOpError("expects the tensor it adds onto to have the type of its result");
  FailureOr<RankedTensorType> wanted = gatheredType(getLoc(), "'tenon.scatter_add' op ", *this, tensorOf(getDx()));
  if (succeeded(wanted) && *wanted != getDy().getType()) // C1 to C4 of gather
    return emitOpError("expects dy of type ") << *wanted << ", got " << getDy().getType();
  return wanted;
}
