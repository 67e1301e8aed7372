// The loss of classes: element code, decomposition, gradient rule, verifier.
#include "dialect/Build.h"
#include "dialect/ElementFolds.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace tenon;

/// The weight of class c in the target of a row: `spread` for others (not `skip`), the rest of 1 for the label.
static Value targetWeight(OpBuilder &builder, Location location, RankedTensorType logits, Value isLabel, Value column,
                          double spread, int64_t skip) {
  Type element = logits.getElementType();
  Value none = real(builder, location, element, 0);
  if (spread == 0)
    return arith::SelectOp::create(builder, location, isLabel, real(builder, location, element, 1), none);
  Value count = sizeAsReal(builder, location, logits, sizesOf(logits).back());
  Value u = real(builder, location, element, spread);
  auto restOf = [&](double taken) -> Value { // 1 - (V - taken) u
    Value others = arith::SubFOp::create(builder, location, count, real(builder, location, element, taken));
    return arith::SubFOp::create(builder, location, real(builder, location, element, 1),
                                 arith::MulFOp::create(builder, location, others, u));
  };
  if (skip < 0)
    return arith::SelectOp::create(builder, location, isLabel, restOf(1), u);
  // A label that is the skipped class has V - 1 others, any other label V - 2: the weights of a row sum to 1, as its gradient
  // assumes.
  Value isSkip = arith::CmpIOp::create(builder, location, arith::CmpIPredicate::eq, column,
                                       arith::ConstantIndexOp::create(builder, location, skip));
  Value rest = arith::SelectOp::create(builder, location, isSkip, restOf(1), restOf(2));
  return arith::SelectOp::create(builder, location, isLabel, rest, arith::SelectOp::create(builder, location, isSkip, none, u));
}

Value CrossEntropyOp::buildElement(OpBuilder &builder, unsigned result, ValueRange row, ElementReader read) {
  auto x = tensorOf(getLogits());
  Location location = getLoc();
  Value maximum = foldRow(builder, location, Reduction::max, x, row, [&](ValueRange place) { return read(getLogits(), place); });
  Value sum = foldRow(builder, location, Reduction::sum, x, row, [&](ValueRange place) -> Value {
    return math::ExpOp::create(builder, location, arith::SubFOp::create(builder, location, read(getLogits(), place), maximum));
  });
  Value lse = arith::AddFOp::create(builder, location, maximum, math::LogOp::create(builder, location, sum));
  Value zero = real(builder, location, x.getElementType(), 0);
  Value keep = getWhere() ? read(getWhere(), row) : Value();
  if (result == 1)
    return keep ? Value(arith::SelectOp::create(builder, location, keep, lse, zero)) : lse;
  Value label = arith::IndexCastOp::create(builder, location, builder.getIndexType(), read(getLabels(), row));
  if (keep)
    label = arith::SelectOp::create(builder, location, keep, label, arith::ConstantIndexOp::create(builder, location, 0));
  Value loss;
  if (getSpread().convertToDouble() == 0) {
    SmallVector<Value> place(row);
    place.push_back(label);
    loss = arith::SubFOp::create(builder, location, lse, read(getLogits(), place));
  } else {
    loss = foldRow(builder, location, Reduction::sum, x, row, [&](ValueRange place) -> Value {
      Value isLabel = arith::CmpIOp::create(builder, location, arith::CmpIPredicate::eq, place.back(), label);
      Value weight = targetWeight(builder, location, x, isLabel, place.back(), getSpread().convertToDouble(), getSkip());
      return arith::MulFOp::create(builder, location, weight,
                                   arith::SubFOp::create(builder, location, lse, read(getLogits(), place)));
    });
  }
  return keep ? Value(arith::SelectOp::create(builder, location, keep, loss, zero)) : loss;
}
SmallVector<Value> CrossEntropyOp::decompose(OpBuilder &builder) {
  Build g(builder, getLoc());
  auto x = tensorOf(getLogits()), rowType = tensorOf(getLoss());
  Value maximum = g.reduceLast(Reduction::max, getLogits());
  Value shifted = g.sub(getLogits(), g.alongLast(maximum, x));
  Value lse = g.add(maximum, g.unary<LogOp>(g.reduceLast(Reduction::sum, g.unary<ExpOp>(shifted))));
  Value negative = g.sub(g.alongLast(lse, x), getLogits()); // -log softmax
  auto columns = RankedTensorType::get({x.getShape().back()}, tensorOf(getLabels()).getElementType());
  if (x.isDynamicDim(x.getRank() - 1))
    columns = tensorType({sizesOf(x).back()}, tensorOf(getLabels()).getElementType(), dimCountOf(x));
  auto wide = withElement(x, tensorOf(getLabels()).getElementType());
  Value column = g.broadcast(IotaOp::create(builder, getLoc(), columns, 0), {x.getRank() - 1}, wide);
  Value isLabel = g.compare(Comparison::eq, column, g.alongLast(getLabels(), wide));
  double u = getSpread().convertToDouble();
  int64_t skip = getSkip(); // -1: none
  Value one = g.constant(x, 1), zero = g.constant(x, 0), weight;
  if (u == 0) {
    weight = g.select(isLabel, one, zero);
  } else {
    Value classes = g.sizeLike(sizesOf(x).back(), x), other = g.constant(x, u);
    Value rest = g.sub(one, g.scale(g.sub(classes, one), u));
    if (skip >= 0) {
      Value isSkip = g.compare(Comparison::eq, column, g.constant(wide, double(skip)));
      rest = g.select(isSkip, rest, g.sub(one, g.scale(g.sub(classes, g.constant(x, 2)), u)));
      other = g.select(isSkip, zero, other);
    }
    weight = g.select(isLabel, rest, other);
  }
  Value loss = g.reduceLast(Reduction::sum, g.mul(weight, negative));
  if (getWhere()) {
    loss = g.select(getWhere(), loss, g.constant(rowType, 0));
    lse = g.select(getWhere(), lse, g.constant(rowType, 0));
  }
  return {loss, lse};
}
SmallVector<Value> CrossEntropyOp::buildVjp(OpBuilder &builder, ArrayRef<Value> resultGradients) {
  SmallVector<Value> gradients(getOperation()->getNumOperands());
  if (resultGradients[0])
    gradients[0] = CrossEntropyGradOp::create(builder, getLoc(), getLogits().getType(), resultGradients[0], getLogits(),
                                              getLabels(), getLse(), getWhere(), getSpreadAttr(), getSkipAttr());
  return gradients;
}
/// The type of a row of logits without the classes, after the rules of its labels and of the target.
static FailureOr<RankedTensorType> rowType(std::optional<Location> location, const char *name, Value logits, Value labels,
                                           Value where, double spread) {
  auto x = tensorOf(logits);
  if (x.getRank() == 0)
    return emitOptionalError(location, name, "expects a class dimension, got ", x); // C1
  auto row = withoutDims(x, {x.getRank() - 1});
  for (Value operand : {labels, where})
    if (operand && withElement(tensorOf(operand), x.getElementType()) != row) // C1
      return emitOptionalError(location, name, "expects labels and `where` of the shape of ", row, ", got ", operand.getType());
  if (!(spread >= 0 && spread <= 1)) // C2
    return emitOptionalError(location, name, "expects a spread in 0 .. 1, got ", spread);
  return row;
}
LogicalResult CrossEntropyOp::inferReturnTypes(MLIRContext *, std::optional<Location> location, Adaptor adaptor,
                                               SmallVectorImpl<Type> &types) {
  FailureOr<RankedTensorType> row = rowType(location, "'tenon.cross_entropy' op ", adaptor.getLogits(), adaptor.getLabels(),
                                            adaptor.getWhere(), adaptor.getSpread().convertToDouble());
  if (failed(row))
    return failure();
  types.append({*row, *row}); // C1
  return success();
}
LogicalResult CrossEntropyGradOp::verify() {
  FailureOr<RankedTensorType> row =
      rowType(getLoc(), "'tenon.cross_entropy_grad' op ", getLogits(), getLabels(), getWhere(), getSpread().convertToDouble());
  if (succeeded(row) && getLse().getType() != *row) // C3
    return emitOpError("expects lse and dloss of ") << *row << ", got " << getLse().getType();
  return row;
}
/// Only the logits, which are many; rows of them are rows of `where`.
static MaybeReading readingOfLogits(Value where, Value logits, OpOperand &operand) {
  if (!where || operand.get() != logits)
    return std::nullopt;
  return Reading{where, llvm::to_vector(llvm::seq<int64_t>(0, tensorOf(where).getRank()))};
}
MaybeReading CrossEntropyOp::readingOf(OpOperand &operand) { return readingOfLogits(getWhere(), getLogits(), operand); }
MaybeReading CrossEntropyGradOp::readingOf(OpOperand &operand) { return readingOfLogits(getWhere(), getLogits(), operand); }

Value CrossEntropyGradOp::buildElement(OpBuilder &builder, unsigned, ValueRange indices, ElementReader read) {
  auto x = tensorOf(getLogits());
  Location location = getLoc();
  ValueRange row = indices.drop_back();
  Value label = arith::IndexCastOp::create(builder, location, builder.getIndexType(), read(getLabels(), row));
  Value isLabel = arith::CmpIOp::create(builder, location, arith::CmpIPredicate::eq, indices.back(), label);
  Value weight = targetWeight(builder, location, x, isLabel, indices.back(), getSpread().convertToDouble(), getSkip());
  Value p = math::ExpOp::create(builder, location,
                                arith::SubFOp::create(builder, location, read(getLogits(), indices), read(getLse(), row)));
  Value d = arith::MulFOp::create(builder, location, read(getDloss(), row), arith::SubFOp::create(builder, location, p, weight));
  if (!getWhere())
    return d;
  return arith::SelectOp::create(builder, location, read(getWhere(), row), d, real(builder, location, x.getElementType(), 0));
}
