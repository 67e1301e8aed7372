// The schedule form: verifiers.
#include "dialect/Places.h"
#include "dialect/Rules.h"

using namespace mlir;
using namespace tenon;

bool tenon::isRead(Value result) {
  if (!result.use_empty())
    return true;
  auto places = result.getDefiningOp()->getAttrOfType<ArrayAttr>("tenon.places");
  const unsigned number = cast<OpResult>(result).getResultNumber();
  return places && number < places.size() && isa<PlaceAttr>(places[number]);
}

LogicalResult tenon::verifyPlace(Operation *op, PlaceAttr place) {
  int64_t loops = 0;
  for (Operation *outer = op->getParentOp(); outer; outer = outer->getParentOp())
    loops += isa<LoopOp>(outer);
  for (StepAttr step : place.getSteps()) {
    if (step.getLoop() < -1 || step.getLoop() >= loops) // C1
      return op->emitOpError("expects a step over one of the ") << loops << " loops around it, or -1, got " << step.getLoop();
    if (step.getBytes().getNumResults() < 1 || step.getBytes().getNumSymbols() != 0 ||
        !fitsEntry(op, step.getBytes().getNumDims())) // C1
      return op->emitOpError("expects the bytes of a step as forms over the dims of its entry, got ")
             << AffineMapAttr::get(step.getBytes());
  }
  return success();
}

SmallVector<PlaceAttr> PlaceOp::placesNamed() { return {getPlace()}; }

SmallVector<PlaceAttr> CopyOp::placesNamed() { return {getTo()}; }
PlaceAttr CopyOp::placeWritten() { return getTo(); }
RankedTensorType CopyOp::typeMoved() { return getFrom().getType(); }
int64_t CopyOp::touchesOfElement() { return 2; }

SmallVector<PlaceAttr> ReadyOp::placesNamed() { return llvm::to_vector(getPlaces().getAsRange<PlaceAttr>()); }

SmallVector<PlaceAttr> SumSlicesOp::placesNamed() { return {getAt()}; }
PlaceAttr SumSlicesOp::placeWritten() { return getAt(); }
RankedTensorType SumSlicesOp::typeMoved() { return cast<RankedTensorType>(getOf()); }
int64_t SumSlicesOp::touchesOfElement() { return 3; } // what lies there, a partial sum, and one of the two
int64_t SumSlicesOp::flopsOfElement() { return 1; }

LogicalResult PlaceOp::verify() { return verifyPlace(*this, getPlace()); }
LogicalResult CopyOp::verify() { return verifyPlace(*this, getTo()); }

static LogicalResult verifyOfGradients(Operation *op, PlaceAttr place) {
  if (place.getMemory() != Memory::Gradients) // C1 of sum_slices, C3 of ready
    return op->emitOpError("expects a place in the memory of gradients, got ") << stringifyMemory(place.getMemory());
  return verifyPlace(op, place);
}
LogicalResult SumSlicesOp::verify() { return verifyOfGradients(*this, getAt()); } // C1
LogicalResult ReadyOp::verify() {
  AffineMap number = getNumber();
  if (number.getNumResults() != 1 || number.getNumSymbols() != 0 || number.getNumDims() != getIndices().size()) // C1
    return emitOpError("expects one form over its ") << getIndices().size() << " indices as number, got " << getNumberAttr();
  SmallVector<Value> around; // innermost first
  for (auto loop = (*this)->getParentOfType<LoopOp>(); loop; loop = loop->getParentOfType<LoopOp>())
    around.push_back(loop.getBody().getArgument(0));
  if (!llvm::equal(getIndices(), llvm::reverse(around))) // C2
    return emitOpError("expects the indices of the ") << around.size() << " loops around it, outermost first";
  for (PlaceAttr place : getPlaces().getAsRange<PlaceAttr>())
    if (failed(verifyOfGradients(*this, place))) // C3
      return failure();
  return success();
}
LogicalResult LoopOp::verify() {
  if (getCount().getNumResults() != 1) // C1
    return emitOpError("expects one form as count, got ") << getCount().getNumResults();
  return verifyLoop(*this, getCount(), getBody().front()); // C1, C2
}
