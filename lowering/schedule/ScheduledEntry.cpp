#include "lowering/schedule/ScheduledEntry.h"

using namespace mlir;

namespace tenon {

static Buffer::Base baseOf(Memory memory) {
  switch (memory) {
  case Memory::parameters:
    return Buffer::Base::Parameters;
  case Memory::gradients:
    return Buffer::Base::Gradients;
  case Memory::states:
    return Buffer::Base::States;
  case Memory::next_states:
    return Buffer::Base::NextStates;
  case Memory::kept_states:
    return Buffer::Base::KeptStates;
  case Memory::workspace:
    return Buffer::Base::Workspace;
  case Memory::input:
    return Buffer::Base::Input;
  case Memory::output:
    return Buffer::Base::Output;
  }
  llvm_unreachable("all memories are named");
}

static void collectFactors(AffineExpr bytes, SmallVectorImpl<AffineExpr> &factors) {
  auto product = dyn_cast<AffineBinaryOpExpr>(bytes);
  if (bytes.isPureAffine() || !product || product.getKind() != AffineExprKind::Mul) {
    factors.push_back(bytes);
    return;
  }
  collectFactors(product.getLHS(), factors);
  collectFactors(product.getRHS(), factors);
}

AffineMap factorsOf(AffineExpr bytes, unsigned dims) {
  SmallVector<AffineExpr> factors;
  collectFactors(bytes, factors);
  return llvm::all_of(factors, [](AffineExpr factor) { return factor.isPureAffine(); }) ? AffineMap::get(dims, 0, factors, bytes.getContext()) : AffineMap();
}

AffineExpr productOf(AffineMap factors) {
  AffineExpr product = factors.getResult(0);
  for (AffineExpr factor : factors.getResults().drop_front())
    product = product * factor;
  return product;
}

Value loopIndex(Operation *op, int64_t loop) {
  SmallVector<LoopOp> around; // innermost first
  for (auto outer = op->getParentOfType<LoopOp>(); outer; outer = outer->getParentOfType<LoopOp>())
    around.push_back(outer);
  return around[around.size() - 1 - loop].getBody().getArgument(0);
}

Buffer bufferOf(PlaceAttr place, Operation *op, const Arenas &arenas) {
  Buffer buffer{baseOf(place.getMemory()), place.getSlot(), {}};
  if (buffer.base == Buffer::Base::Workspace)
    buffer.slot += arenas.stateCount();
  for (StepAttr step : place.getSteps())
    buffer.steps.push_back({step.getLoop() < 0 ? Value() : loopIndex(op, step.getLoop()), productOf(step.getBytes()), step.getShift()});
  return buffer;
}

/// Each place names memory that there is.
static LogicalResult checkPlaces(const ScheduledEntry &entry) {
  auto check = [&](Operation *op, PlaceAttr place) -> LogicalResult {
    int64_t count = 0;
    switch (place.getMemory()) {
    case Memory::parameters:
    case Memory::gradients: // bytes in an arena that all entries share
      return success();
    case Memory::states:
    case Memory::next_states:
    case Memory::kept_states:
      count = entry.arenas.stateCount();
      break;
    case Memory::workspace:
      count = int64_t(entry.arenas.slots.size());
      break;
    case Memory::input:
      count = entry.inputs;
      break;
    case Memory::output:
      count = entry.outputs;
      break;
    }
    if (place.getSlot() >= 0 && place.getSlot() < count)
      return success();
    return op->emitOpError("expects a place in one of the ") << count << " slots of " << stringifyMemory(place.getMemory()) << ", got " << place.getSlot();
  };
  WalkResult result = func::FuncOp(entry.function).walk([&](Operation *op) {
    if (auto placed = dyn_cast<PlaceOp>(op); placed && failed(check(op, placed.getPlace())))
      return WalkResult::interrupt();
    if (auto copy = dyn_cast<CopyOp>(op); copy && failed(check(op, copy.getTo())))
      return WalkResult::interrupt();
    for (const char *name : {"tenon.places", "tenon.temporaries"})
      if (auto places = op->getAttrOfType<ArrayAttr>(name))
        for (Attribute place : places)
          if (auto one = dyn_cast<PlaceAttr>(place); one && failed(check(op, one)))
            return WalkResult::interrupt();
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

FailureOr<ScheduledEntry> ScheduledEntry::of(func::FuncOp function) {
  auto slots = function->getAttrOfType<ArrayAttr>("tenon.slots"), outputs = function->getAttrOfType<ArrayAttr>("tenon.outputs");
  auto scratch = function->getAttrOfType<IntegerAttr>("tenon.scratch");
  if (!slots || !outputs || !scratch)
    return function.emitOpError("expects the schedule form, which tenon-schedule makes: slots, outputs and scratch");
  ScheduledEntry entry{function, {}};
  readStates(function, entry.arenas);
  for (Attribute attribute : slots) {
    auto slot = dyn_cast<SlotAttr>(attribute);
    if (!slot || slot.getBytes().getNumResults() < 1 || llvm::any_of(slot.getAfter(), [&](int64_t below) { return below < 0 || below >= int64_t(entry.arenas.slots.size()); }))
      return function.emitOpError("expects slots with sizes, above earlier ones, got ") << attribute;
    entry.arenas.slots.push_back({productOf(slot.getBytes()), {slot.getAfter().begin(), slot.getAfter().end()}, slot.getSaved(), slot.getTemporary()});
  }
  entry.arenas.scratchBytes = scratch.getInt();
  entry.dims = llvm::count_if(function.getArgumentTypes(), [](Type type) { return type.isIndex(); });
  entry.inputs = int32_t(function.getNumArguments()) - entry.dims;
  entry.outputs = int32_t(outputs.size());
  if (failed(checkPlaces(entry)))
    return failure();
  return entry;
}

} // namespace tenon
