#include "lowering/tensor/Readings.h"
#include "dialect/Build.h"
#include "dialect/Traits.h"

using namespace mlir;

namespace tenon {

/// `reading` with its condition as a tensor that is not repeated.
static Reading withoutRepetition(Reading reading) {
  for (Operation *view = reading.where.getDefiningOp(); view && view->hasTrait<View>(); view = reading.where.getDefiningOp()) {
    std::optional<SmallVector<int64_t>> repeated = cast<ElementOpInterface>(view).dimsOf(view->getOpOperand(0));
    if (!repeated)
      break;
    SmallVector<int64_t> dims;
    for (int64_t dim : *repeated)
      dims.push_back(reading.dims[dim]);
    reading.where = view->getOperand(0);
    reading.dims = dims;
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
  if (anything && isa<YieldOp>(op))
    return ofSaved(use);
  auto element = dyn_cast<ElementOpInterface>(op);
  if (!element)
    return std::nullopt;
  if (MaybeReading own = element.readingOf(use); own && (anything || own->isZeroElse))
    return withoutRepetition(*own);
  if (op->getNumResults() != 1)
    return std::nullopt;
  std::optional<SmallVector<int64_t>> dims = element.dimsOf(use); // of the result, for each of the operand
  if (auto rows = dyn_cast<RowOpInterface>(op); rows && anything && !dims)
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
