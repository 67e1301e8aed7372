#include "lowering/schedule/ScheduledEntry.h"
#include "dialect/Build.h"
#include "dialect/ElementModel.h"
#include "dialect/Packs.h"
#include "dialect/Places.h"
#include "dialect/Rounds.h"
#include "dialect/StoredParameter.h"
#include "lowering/schedule/Room.h"
#include "lowering/target/Rows.h"

using namespace mlir;

namespace tenon {

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
  return llvm::all_of(factors, [](AffineExpr factor) { return factor.isPureAffine(); })
             ? AffineMap::get(dims, 0, factors, bytes.getContext())
             : AffineMap();
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
  Buffer buffer{place.getMemory(), place.getSlot(), {}};
  if (buffer.base == Buffer::Base::Workspace)
    buffer.slot += arenas.stateCount();
  for (StepAttr step : place.getSteps())
    buffer.steps.push_back(
        {step.getLoop() < 0 ? Value() : loopIndex(op, step.getLoop()), productOf(step.getBytes()), step.getShift()});
  return buffer;
}

namespace {

/// That each place names memory that there is, and that what kernels read and write has one: the dialect's verifiers see ops
/// alone.
class PlaceCheck {
public:
  explicit PlaceCheck(const ScheduledEntry &entry) : entry(entry), arenaBytes(endOfParameters()) {}
  LogicalResult run() {
    WalkResult result = func::FuncOp(entry.function).walk([&](Operation *op) {
      if (auto kernel = dyn_cast<KernelOpInterface>(op))
        return WalkResult(checkKernel(kernel));
      if (auto scheduled = dyn_cast<ScheduleOpInterface>(op))
        return WalkResult(checkScheduled(scheduled));
      return WalkResult::advance();
    });
    return failure(result.wasInterrupted());
  }

private:
  LogicalResult checkKernel(KernelOpInterface kernel) const {
    std::optional<PanelRead> inPanels = kernel.panelRead();
    if (kernel->hasAttr(kPanels) && inPanels && !panelsAt(inPanels->operand))
      return kernel->emitOpError("expects as operand b a parameter that lies in its panels, or what is packed into them"); // S7
    if (failed(checkAttribute(kernel, "tenon.places", kernel->getNumResults())) ||
        failed(checkAttribute(kernel, "tenon.temporaries", {})))
      return failure();
    for (auto [result, attribute] : llvm::zip_equal(kernel->getResults(), kernel->getAttrOfType<ArrayAttr>("tenon.places")))
      if (auto place = dyn_cast<PlaceAttr>(attribute); place && failed(checkEnds(kernel, place, storedType(result))))
        return failure();
    return failure(llvm::any_of(kernel.tensorsRead(), [&](Value tensor) { return failed(checkRead(kernel, tensor)); }));
  }
  LogicalResult checkScheduled(ScheduleOpInterface op) const {
    for (PlaceAttr place : op.placesNamed())
      if (failed(check(op, place)))
        return failure();
    if (auto placed = dyn_cast<PlaceOp>(op.getOperation()))
      return failure((!placed.use_empty() && failed(checkEnds(op, placed.getPlace(), tensorOf(placed.getValue())))) ||
                     failed(checkPanels(placed)));
    if (PlaceAttr written = op.placeWritten(); written && op.typeMoved() && failed(checkEnds(op, written, op.typeMoved())))
      return failure();
    return failure(llvm::any_of(tensorOperands(op), [&](Value tensor) { return failed(checkRead(op, tensor)); }));
  }
  LogicalResult checkEnds(Operation *op, PlaceAttr place, RankedTensorType type) const {
    return checkRoom(op, place, tensorBytes(type), entry, arenaBytes);
  }
  int64_t slotsOf(Memory memory) const {
    switch (memory) {
    case Memory::Parameters:
    case Memory::Copies:
    case Memory::Remainders:
    case Memory::Gradients: // bytes in an arena that all entries share
      return arenaBytes;
    case Memory::States:
    case Memory::NextStates:
    case Memory::KeptStates:
      return entry.arenas.stateCount();
    case Memory::Workspace:
      return int64_t(entry.arenas.slots.size());
    case Memory::Input:
      return entry.inputs;
    case Memory::Output:
      return entry.outputs;
    case Memory::LossScale:
      return 1;
    }
    llvm_unreachable("all memories are named");
  }
  /// Where the last parameter ends; the arena of what has 16 bits is half as long.
  int64_t endOfParameters() const {
    int64_t bytes = 0;
    func::FuncOp function = entry.function;
    for (auto parameter : function->getParentOfType<ModuleOp>().getOps<ParameterOp>()) {
      const int64_t own = parameter.getType().getNumElements() * elementBytes(parameter.getType().getElementType());
      bytes = std::max<int64_t>(bytes, parameter.getOffset() +
                                           std::max<int64_t>(parameter.getStride() * parameter.stackElements(), own));
    }
    return bytes;
  }
  LogicalResult check(Operation *op, PlaceAttr place) const {
    const bool isArena =
        llvm::is_contained({Memory::Parameters, Memory::Copies, Memory::Remainders, Memory::Gradients}, place.getMemory());
    const int64_t slots = slotsOf(place.getMemory()) + (isArena ? 1 : 0); // what is empty may stand behind the last one
    if (place.getSlot() < 0 || place.getSlot() >= slots)
      return op->emitOpError("expects a place in one of the ")
             << slotsOf(place.getMemory()) << " slots of " << stringifyMemory(place.getMemory()) << ", got "
             << place.getSlot(); // S3
    return verifyPlace(op, place);
  }
  /// Of the parameter at a place, or what a pack makes; null: it lies row-major, or is neither.
  Attribute panelsAt(Value tensor) const {
    if (packedPanels(tensor))
      return tensor.getDefiningOp()->getAttr(kPanels);
    auto placed = tensor.getDefiningOp<PlaceOp>();
    if (!placed || placed.getPlace().getMemory() != Memory::Parameters)
      return {};
    func::FuncOp function = entry.function;
    auto module = function->getParentOfType<ModuleOp>();
    const int64_t part = arenaPart(parameterType(module));
    for (auto parameter : module.getOps<ParameterOp>()) {
      if (int64_t(parameter.getOffset()) / part == placed.getPlace().getSlot() && parameter->hasAttr(kPanels))
        return parameter->getAttr(kPanels);
    }
    return {};
  }
  /// A parameter is read as it lies.
  LogicalResult checkPanels(PlaceOp placed) const {
    const Attribute panels = panelsAt(placed.getValue());
    for (OpOperand &use : placed.getValue().getUses())
      if (panelsTaken(use) != panels)
        return use.getOwner()->emitOpError("expects to read a parameter as it lies, in its tenon.panels or row-major"); // S6
    return success();
  }
  LogicalResult checkAttribute(Operation *op, StringRef name, std::optional<unsigned> count) const {
    auto places = op->getAttrOfType<ArrayAttr>(name);
    if (!places && !count)
      return success();
    if (!places || (count && places.size() != *count) ||
        !llvm::all_of(places, [](Attribute place) { return isa<PlaceAttr, UnitAttr>(place); }))
      return op->emitOpError("expects places as ") << name << (count ? ", one per result" : ""); // S4
    for (Attribute place : places)
      if (auto one = dyn_cast<PlaceAttr>(place); one && failed(check(op, one)))
        return failure();
    return success();
  }
  /// What is read is an input, at a place, or the result of a kernel that has one.
  static LogicalResult checkRead(Operation *op, Value tensor) {
    Operation *made = tensor.getDefiningOp();
    if (!made || isa<PlaceOp>(made))
      return success();
    auto places = made->getAttrOfType<ArrayAttr>("tenon.places");
    const unsigned number = cast<OpResult>(tensor).getResultNumber();
    if (places && number < places.size() && isa<PlaceAttr>(places[number]))
      return success();
    return op->emitOpError("expects to read tensors that have a place, and the result of ") // S5
           << made->getName() << " has none";
  }

  const ScheduledEntry &entry;
  int64_t arenaBytes;
};

} // namespace

FailureOr<ScheduledEntry> ScheduledEntry::of(func::FuncOp function) {
  auto slots = function->getAttrOfType<ArrayAttr>("tenon.slots"), outputs = function->getAttrOfType<ArrayAttr>("tenon.outputs");
  auto scratch = function->getAttrOfType<IntegerAttr>("tenon.scratch");
  auto isTensor = [](Attribute type) {
    auto of = dyn_cast<TypeAttr>(type);
    return of && isa<RankedTensorType>(of.getValue());
  };
  if (!slots || !outputs || !scratch || !llvm::all_of(outputs, isTensor))
    return function.emitOpError(
        "expects the schedule form, which tenon-schedule makes: slots, types of outputs and scratch"); // S1
  ScheduledEntry entry{function, {}};
  entry.dims = llvm::count_if(function.getArgumentTypes(), [](Type type) { return type.isIndex(); });
  entry.inputs = int32_t(function.getNumArguments()) - entry.dims;
  entry.outputs = int32_t(outputs.size());
  readStates(function, entry.arenas);
  for (Attribute attribute : slots) {
    auto slot = dyn_cast<SlotAttr>(attribute);
    auto isEarlier = [&](int64_t below) { return below >= 0 && below < int64_t(entry.arenas.slots.size()); };
    if (!slot || slot.getBytes().getNumResults() < 1 || slot.getBytes().getNumDims() != unsigned(entry.dims) ||
        slot.getBytes().getNumSymbols() != 0 || !llvm::all_of(slot.getAfter(), isEarlier))
      return function.emitOpError("expects slots with sizes, above earlier ones, got ") << attribute; // S2
    entry.arenas.slots.push_back(
        {productOf(slot.getBytes()), {slot.getAfter().begin(), slot.getAfter().end()}, slot.getSaved(), slot.getTemporary()});
  }
  entry.arenas.scratchBytes = scratch.getInt();
  if (failed(PlaceCheck(entry).run()))
    return failure();
  return entry;
}

} // namespace tenon
