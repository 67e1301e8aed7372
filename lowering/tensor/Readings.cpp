#include "lowering/tensor/Readings.h"
#include "dialect/Build.h"
#include "dialect/Contractions.h"
#include "dialect/ElementModel.h"

using namespace mlir;

namespace tenon {

bool isPassed(Operation *op) { return op->getNumResults() == 1 && (isa<BroadcastOp>(op) || op->hasTrait<Elementwise>()); }

bool isZeros(Value value) {
  auto constant = value.getDefiningOp<ConstantOp>();
  return constant && constant.getValue().isZero();
}

MaybeReading throughLabels(Value where, ArrayRef<int64_t> labels, ArrayRef<int64_t> own) {
  Reading reading{where, {}};
  for (int64_t label : labels) {
    const auto *place = llvm::find(own, label);
    if (place == own.end())
      return std::nullopt;
    reading.dims.push_back(place - own.begin());
  }
  return reading;
}

/// `condition` as a tensor that is not repeated.
static Reading withoutRepetition(Value condition) {
  Reading reading{condition, llvm::to_vector(llvm::seq<int64_t>(0, tensorOf(condition).getRank()))};
  while (auto view = reading.where.getDefiningOp<BroadcastOp>()) {
    SmallVector<int64_t> dims;
    for (int64_t dim : view.getDims())
      dims.push_back(reading.dims[dim]);
    reading = {view.getX(), dims};
  }
  return reading;
}

MaybeReading Readings::of(Value value) {
  if (auto it = known.find(value); it != known.end())
    return it->second;
  MaybeReading common;
  for (OpOperand &use : value.getUses()) {
    MaybeReading own = use.getOwner()->getBlock() == value.getParentBlock() ? ofUse(use) : std::nullopt;
    if (!own || (common && !(*common == *own)))
      return known[value] = std::nullopt;
    common = own;
  }
  return known[value] = common;
}

MaybeReading Readings::ofUse(OpOperand &use) {
  Operation *op = use.getOwner();
  if (auto select = dyn_cast<SelectOp>(op); select && use.get() == select.getA() && (anything || isZeros(select.getB())))
    return withoutRepetition(select.getC());
  if (auto entropy = dyn_cast<CrossEntropyOp>(op); entropy && use.get() == entropy.getLogits() && entropy.getWhere())
    return withoutRepetition(entropy.getWhere());
  if (auto gradient = dyn_cast<CrossEntropyGradOp>(op);
      gradient && anything && use.get() == gradient.getLogits() && gradient.getWhere())
    return withoutRepetition(gradient.getWhere());
  if (auto dot = dyn_cast<DotWhereOp>(op); dot && use.get() != dot.getWhere())
    return throughLabels(dot.getWhere(), dot.getWhereLabels(), use.get() == dot.getA() ? dot.getALabels() : dot.getBLabels());
  if (anything && isa<YieldOp>(op))
    return ofSaved(use);
  std::optional<SmallVector<int64_t>> dims; // of the results, for each of the operand
  if (auto element = dyn_cast<ElementOpInterface>(op); element && isPassed(op))
    dims = element.dimsOf(use);
  else if (auto rows = dyn_cast<RowOpInterface>(op); rows && anything && isa<ElementOpInterface>(op) && op->getNumResults() == 1)
    dims = rows.dimsInResults(use);
  if (!dims || (anything && !isa<FloatType>(tensorOf(op->getResult(0)).getElementType()))) // a number may be a place
    return std::nullopt;
  MaybeReading ofResult = of(op->getResult(0));
  return ofResult ? throughLabels(ofResult->where, ofResult->dims, *dims) : std::nullopt;
}

/// Of what a loop keeps for the loop that goes back, where that reads it under a condition that was kept beside it.
MaybeReading Readings::ofSaved(OpOperand &yielded) {
  auto loop = dyn_cast<StackOp>(yielded.getOwner()->getParentOp());
  if (!loop || yielded.getOperandNumber() < loop.getCarries().size())
    return std::nullopt;
  MaybeReading common;
  for (Operation *user : loop.getResult(yielded.getOperandNumber()).getUsers()) {
    auto again = dyn_cast<AtDepthOp>(user);
    MaybeReading own = again ? of(again.getY()) : std::nullopt;
    auto where = own ? own->where.getDefiningOp<AtDepthOp>() : AtDepthOp();
    auto kept = where ? dyn_cast<OpResult>(where.getX()) : OpResult();
    if (!kept || kept.getOwner() != loop || where.getDepth() != again.getDepth() || where.getFirst() != again.getFirst())
      return std::nullopt;
    own->where = yielded.getOwner()->getOperand(kept.getResultNumber());
    if (common && !(*common == *own))
      return std::nullopt;
    common = own;
  }
  return common;
}

} // namespace tenon
