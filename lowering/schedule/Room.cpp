#include "lowering/schedule/Room.h"
#include "dialect/ElementModel.h"
#include "dialect/Rounds.h"
#include "dialect/SizeValues.h"
#include "dialect/TensorSizes.h"
#include <cmath>
#include <random>

using namespace mlir;

namespace tenon {
namespace {

std::vector<std::vector<int64_t>> pointsOf(unsigned dims) {
  constexpr unsigned kMostCorners = 10, kDrawn = 64;
  constexpr int64_t kLong = 64 * kNominalDim;
  std::vector<std::vector<int64_t>> points(1, std::vector<int64_t>(dims, kNominalDim));
  if (dims == 0)
    return points;
  for (unsigned corner = 0; corner < 1u << std::min(dims, kMostCorners); ++corner) {
    points.emplace_back(dims, 1);
    for (unsigned i = 0; i < dims; ++i)
      points.back()[i] = corner >> i % kMostCorners & 1 ? kLong : 1;
  }
  std::minstd_rand random; // of a fixed seed: a text is refused or taken, whoever asks
  for (unsigned i = 0; i < kDrawn; ++i) {
    points.emplace_back(dims, 1);
    for (int64_t &dim : points.back()) {
      const int64_t most = int64_t(1) << random() % 13;
      dim = 1 + int64_t(random()) % most;
    }
  }
  return points;
}

/// Whether some rounds of a loop do not run, and values decide which: places of the last block of rounds may lie behind the end.
bool leavesRoundsOut(LoopOp loop) {
  return llvm::any_of(loop.getBody().getOps<SkipOp>(), [](SkipOp skip) { return !skip.getRounds(); });
}

/// The bytes that the steps of a place add in the first and in the last iterations of the loops around.
struct Span {
  AffineExpr least, most;
};

Span spanOf(Operation *op, PlaceAttr place) {
  const AffineExpr zero = getAffineConstantExpr(0, op->getContext());
  Span span{zero, zero};
  for (StepAttr step : place.getSteps()) {
    const AffineExpr bytes = productOf(step.getBytes());
    AffineExpr low = zero + step.getShift(), high = low;
    if (step.getLoop() >= 0) {
      auto loop = cast<LoopOp>(cast<BlockArgument>(loopIndex(op, step.getLoop())).getOwner()->getParentOp());
      low = low + loop.getFirst();
      high = high + loop.getFirst();
      if (!leavesRoundsOut(loop))
        high = high + loop.getCount().getResult(0) - 1;
    }
    span.least = span.least + bytes * low;
    span.most = span.most + bytes * high;
  }
  return span;
}

AffineExpr roomOf(PlaceAttr place, const ScheduledEntry &entry, int64_t arenaBytes) {
  func::FuncOp function = entry.function;
  MLIRContext *context = place.getContext();
  switch (place.getMemory()) {
  case Memory::Parameters:
  case Memory::Copies:
  case Memory::Remainders:
  case Memory::Gradients:
    return getAffineConstantExpr(arenaBytes - place.getSlot(), context);
  case Memory::States:
  case Memory::NextStates:
  case Memory::KeptStates:
    return entry.arenas.stateBytes[size_t(place.getSlot())];
  case Memory::Workspace:
    return entry.arenas.slots[size_t(place.getSlot())].bytes;
  case Memory::Input:
    return tensorBytes(cast<RankedTensorType>(function.getArgument(unsigned(entry.dims + place.getSlot())).getType()));
  case Memory::Output: {
    auto outputs = function->getAttrOfType<ArrayAttr>("tenon.outputs");
    return tensorBytes(cast<RankedTensorType>(cast<TypeAttr>(outputs[size_t(place.getSlot())]).getValue()));
  }
  case Memory::LossScale:
    return getAffineConstantExpr(8, context); // an f32, and a number of steps
  }
  llvm_unreachable("all memories are named");
}

} // namespace

std::optional<Excess> whereMore(AffineExpr wanted, AffineExpr given, unsigned dims) {
  if (wanted == given)
    return std::nullopt;
  for (const std::vector<int64_t> &point : pointsOf(dims)) {
    auto dim = [&](unsigned number) { return double(point[number]); };
    const double more = valueOf<double>(wanted, dim), less = valueOf<double>(given, dim);
    if (more - less > 1e-12 * std::abs(more)) // large products are rounded
      return Excess{int64_t(more), int64_t(less)};
  }
  return std::nullopt;
}

LogicalResult checkRoom(Operation *op, PlaceAttr place, AffineExpr bytes, const ScheduledEntry &entry, int64_t arenaBytes) {
  const Span span = spanOf(op, place);
  const AffineExpr zero = getAffineConstantExpr(0, op->getContext());
  if (std::optional<Excess> before = whereMore(zero - span.least, zero, unsigned(entry.dims)))
    return op->emitOpError("expects a place inside its slot of ")
           << stringifyMemory(place.getMemory()) << ", got one that begins " << before->wanted << " bytes in front of it"; // S17
  if (std::optional<Excess> behind = whereMore(span.most + bytes, roomOf(place, entry, arenaBytes), unsigned(entry.dims)))
    return op->emitOpError("expects a place inside its slot of ")
           << stringifyMemory(place.getMemory()) << ", got one that ends at byte " << behind->wanted << " of "
           << behind->given; // S17
  return success();
}

} // namespace tenon
