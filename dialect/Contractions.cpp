// Contractions: element code, gradient rules, verifiers.
#include "dialect/Contractions.h"
#include "dialect/Build.h"
#include "dialect/ElementFolds.h"
#include "dialect/ElementModel.h"
#include "dialect/Rules.h"
#include "llvm/ADT/SmallSet.h"

using namespace mlir;
using namespace tenon;

#define GET_OP_CLASSES
#include "dialect/ContractionOps.cpp.inc"

// ---- dot

/// An element of a contraction. `keep` (null: none) says of indices by label whether the product there counts.
template <typename Op>
static Value contractedElement(Op op, OpBuilder &builder, ValueRange indices, ElementReader read,
                               llvm::function_ref<Value(llvm::function_ref<SmallVector<Value>(ArrayRef<int64_t>)>)> keep) {
  auto a = tensorOf(op.getA()), b = tensorOf(op.getB()), y = tensorOf(op.getY());
  SmallVector<AffineExpr> summedSizes;
  SmallVector<int64_t> summed;
  for (auto [k, label] : llvm::enumerate(op.getALabels()))
    if (label >= y.getRank())
      summed.push_back(label), summedSizes.push_back(sizesOf(a)[k]);
  const Type compute = elementModel(a.getElementType()).compute;
  auto wide = [&](Value factor) {
    return factor.getType() == compute ? factor : Value(arith::ExtFOp::create(builder, op.getLoc(), compute, factor));
  };
  auto term = [&](ValueRange j) -> Value {
    auto at = [&](ArrayRef<int64_t> labels) {
      SmallVector<Value> place;
      for (int64_t label : labels)
        place.push_back(label < y.getRank() ? indices[label] : j[llvm::find(summed, label) - summed.begin()]);
      return place;
    };
    Value factor = wide(read(op.getA(), at(op.getALabels()))), other = wide(read(op.getB(), at(op.getBLabels())));
    Value product = arith::MulFOp::create(builder, op.getLoc(), factor, other);
    if (!keep)
      return product;
    Value zero = arith::ConstantOp::create(builder, op.getLoc(), builder.getZeroAttr(compute));
    return arith::SelectOp::create(builder, op.getLoc(), keep(at), product, zero);
  };
  Value sum = summed.empty() ? term({})
                             : fold(builder, op.getLoc(), Reduction::sum, compute, summedSizes,
                                    std::max(dimCountOf(a), dimCountOf(b)), term);
  return y.getElementType() == compute ? sum : Value(arith::TruncFOp::create(builder, op.getLoc(), y.getElementType(), sum));
}
Value DotOp::buildElement(OpBuilder &builder, unsigned, ValueRange indices, ElementReader read) {
  return contractedElement(*this, builder, indices, read, nullptr);
}

/// da has the labels of a: the labels of y and b that a lacks are summed. `relabel` maps old labels so that a's come first.
/// `where` (null: none): the condition of the contraction, and of its gradient.
static Value dotGradient(OpBuilder &builder, Build &g, Value dy, Value other, ArrayRef<int64_t> own, ArrayRef<int64_t> others,
                         RankedTensorType type, Value where = {}, ArrayRef<int64_t> ofWhere = {}) {
  llvm::SmallDenseMap<int64_t, int64_t> relabel;
  for (auto [k, label] : llvm::enumerate(own))
    relabel[label] = k;
  int64_t next = own.size();
  auto of = [&](int64_t label) {
    auto [it, inserted] = relabel.try_emplace(label, next);
    next += inserted;
    return it->second;
  };
  SmallVector<int64_t> dyLabels, otherLabels, whereLabels;
  for (int64_t i = 0; i < tensorOf(dy).getRank(); ++i)
    dyLabels.push_back(of(i));
  for (int64_t label : others)
    otherLabels.push_back(of(label));
  for (int64_t label : ofWhere)
    whereLabels.push_back(of(label));
  // A label that is in y only by `other` and not in a is in both operands: summed. One in dy alone cannot be (C4).
  Value converted = g.convert(dy, type.getElementType());
  if (!where)
    return g.dot(converted, dyLabels, other, otherLabels, type);
  return DotWhereOp::create(builder, dy.getLoc(), type, converted, other, where, dyLabels, otherLabels, whereLabels);
}
std::optional<SmallVector<int64_t>> DotOp::dimsInResults(OpOperand &operand) {
  return llvm::to_vector(operand.getOperandNumber() == 0 ? getALabels() : getBLabels());
}
SmallVector<OpOperand *> DotOp::narrowOperands() { return {&getAMutable(), &getBMutable()}; }
SmallVector<Value> DotOp::buildVjp(OpBuilder &builder, ArrayRef<Value> resultGradients) {
  Build g(builder, getLoc());
  return {dotGradient(builder, g, resultGradients[0], getB(), getALabels(), getBLabels(), tensorOf(getA())),
          dotGradient(builder, g, resultGradients[0], getA(), getBLabels(), getALabels(), tensorOf(getB()))};
}
/// C1 to C5 of dot.
template <typename Op> static LogicalResult verifyContraction(Op op) {
  auto y = tensorOf(op.getY());
  FailureOr<SmallVector<AffineExpr>> sizes =
      verifyLabels(op, tensorOf(op.getA()), tensorOf(op.getB()), op.getALabels(), op.getBLabels(), y.getRank()); // C1 to C5
  if (failed(sizes))
    return failure();
  for (auto [label, wanted, size] : llvm::enumerate(*sizes, sizesOf(y)))
    if (wanted != size) // C2
      return op.emitOpError("expects label ") << label << " to have one size, got " << textOf(wanted) << " and " << textOf(size);
  if (Type element = tensorOf(op.getA()).getElementType();
      y.getElementType() != element && y.getElementType() != elementModel(element).compute) // C5
    return op.emitOpError("expects the element type of its operands or the one they are computed in, got ")
           << element << " and " << y.getElementType();
  return success();
}
LogicalResult DotOp::verify() { return verifyContraction(*this); }

// ---- dot where

Value DotWhereOp::buildElement(OpBuilder &builder, unsigned, ValueRange indices, ElementReader read) {
  return contractedElement(*this, builder, indices, read, [&](auto at) { return read(getWhere(), at(getWhereLabels())); });
}
MaybeReading tenon::throughLabels(Value where, ArrayRef<int64_t> labels, ArrayRef<int64_t> own) {
  Reading reading{where, {}};
  for (int64_t label : labels) {
    const auto *place = llvm::find(own, label);
    if (place == own.end())
      return std::nullopt;
    reading.dims.push_back(place - own.begin());
  }
  return reading;
}

MaybeReading DotWhereOp::readingOf(OpOperand &operand) {
  if (operand.getOperandNumber() == getWhereMutable().getOperandNumber())
    return std::nullopt;
  const bool isA = operand.getOperandNumber() == getAMutable().getOperandNumber(); // a and b may be one tensor
  return throughLabels(getWhere(), getWhereLabels(), isA ? getALabels() : getBLabels());
}

SmallVector<int64_t> DotWhereOp::dimsOfWhere(ArrayRef<int64_t> labels) {
  SmallVector<int64_t> dims;
  for (int64_t label : getWhereLabels())
    if (const auto *place = llvm::find(labels, label); place != labels.end())
      dims.push_back(place - labels.begin());
  return dims; // all or none
}
/// An operand that has the labels of the condition is 0 where that is false: of a sum both, since a factor may be infinite.
SmallVector<Value> DotWhereOp::decompose(OpBuilder &builder) {
  Build g(builder, getLoc());
  auto masked = [&](Value operand, ArrayRef<int64_t> labels) -> Value {
    const SmallVector<int64_t> dims = dimsOfWhere(labels);
    if (dims.empty())
      return operand;
    Value where = g.broadcast(getWhere(), dims, withElement(tensorOf(operand), builder.getI1Type()));
    return g.select(where, operand, g.zerosLike(operand));
  };
  return {g.dot(masked(getA(), getALabels()), getALabels(), masked(getB(), getBLabels()), getBLabels(), tensorOf(getY()))};
}
SmallVector<OpOperand *> DotWhereOp::narrowOperands() { return {&getAMutable(), &getBMutable()}; }
SmallVector<Value> DotWhereOp::buildVjp(OpBuilder &builder, ArrayRef<Value> resultGradients) {
  Build g(builder, getLoc());
  return {dotGradient(builder, g, resultGradients[0], getB(), getALabels(), getBLabels(), tensorOf(getA()), getWhere(),
                      getWhereLabels()),
          dotGradient(builder, g, resultGradients[0], getA(), getBLabels(), getALabels(), tensorOf(getB()), getWhere(),
                      getWhereLabels()),
          Value()};
}
LogicalResult DotWhereOp::verify() {
  if (failed(verifyContraction(*this)))
    return failure();
  auto where = tensorOf(getWhere());
  const ArrayRef<int64_t> own = getWhereLabels(), ofA = getALabels(), ofB = getBLabels();
  llvm::SmallSet<int64_t, 8> different(own.begin(), own.end());
  if (int64_t(own.size()) != where.getRank() || different.size() != own.size() || own.empty()) // C6
    return emitOpError("expects a label per dimension of its condition, at least one, all different, got ")
           << own.size() << " for rank " << where.getRank();
  bool summed = true, onlyA = true, onlyB = true;
  for (auto [label, size] : llvm::zip(own, sizesOf(where))) {
    const auto *inA = llvm::find(ofA, label), *inB = llvm::find(ofB, label);
    const bool isOfA = inA != ofA.end(), isOfB = inB != ofB.end();
    summed &= isOfA && isOfB && label >= tensorOf(getY()).getRank();
    onlyA &= isOfA && !isOfB, onlyB &= isOfB && !isOfA;
    if (!isOfA && !isOfB)
      continue;
    const AffineExpr wanted = isOfA ? sizesOf(tensorOf(getA()))[inA - ofA.begin()] : sizesOf(tensorOf(getB()))[inB - ofB.begin()];
    if (wanted != size) // C6
      return emitOpError("expects label ") << label << " of its condition to have one size, got " << textOf(wanted) << " and "
                                           << textOf(size);
  }
  if (!summed && !onlyA && !onlyB) // C7
    return emitOpError("expects a condition whose labels are all summed, or all of one operand alone");
  return success();
}
