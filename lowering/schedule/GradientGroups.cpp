#include "lowering/schedule/GradientGroups.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;

namespace tenon {
namespace {

/// Places in the memory of gradients that the op writes.
SmallVector<PlaceAttr> gradientsOf(Operation &op) {
  SmallVector<PlaceAttr> places;
  auto add = [&](Attribute place) {
    if (auto one = dyn_cast_or_null<PlaceAttr>(place); one && one.getMemory() == Memory::Gradients)
      places.push_back(one);
  };
  if (auto moves = dyn_cast<ScheduleOpInterface>(op))
    add(moves.placeWritten());
  else if (auto written = op.getAttrOfType<ArrayAttr>("tenon.places"))
    llvm::for_each(written, add);
  return places;
}

/// The gradients (their slots) that the op reads, or what it holds: a value that is the gradient of two parameters lies at the
/// place of one, and is copied from there.
DenseSet<int64_t> gradientsRead(Operation &op) {
  DenseSet<int64_t> slots;
  op.walk([&](Operation *reader) {
    for (Value operand : reader->getOperands()) {
      Operation *made = operand.getDefiningOp();
      auto places = made ? made->getAttrOfType<ArrayAttr>("tenon.places") : ArrayAttr();
      auto place = places ? dyn_cast<PlaceAttr>(places[cast<OpResult>(operand).getResultNumber()]) : PlaceAttr();
      if (auto scheduled = dyn_cast_or_null<ScheduleOpInterface>(made))
        place = scheduled.placesNamed().front();
      if (place && place.getMemory() == Memory::Gradients)
        slots.insert(place.getSlot());
    }
  });
  return slots;
}

/// A loop that finishes gradients is a stack, whose parameters have a place for each depth: its count is a number.
int64_t countOf(LoopOp loop) { return cast<AffineConstantExpr>(loop.getCount().getResult(0)).getValue(); }

class Marker {
public:
  Marker(func::FuncOp function, bool inSlices) : module(function->getParentOfType<ModuleOp>()), inSlices(inSlices) {
    for (ParameterOp parameter : module.getOps<ParameterOp>())
      parameters[int64_t(parameter.getOffset())] = parameter;
    find(function.getBody().front());
    mark(function.getBody().front(), getAffineConstantExpr(0, module.getContext()));
  }

private:
  /// A gradient is written once for each depth, by the launches of one block: what is added onto a gradient in place (the table
  /// of an embedding that is an output layer, too) is written by several of them. It is finished behind the last op of the block
  /// that writes or reads it: whoever is told of it may change it.
  int64_t find(Block &block) {
    llvm::MapVector<PlaceAttr, Operation *> last;
    int64_t groups = 0;
    for (Operation &op : block) {
      if (auto loop = dyn_cast<LoopOp>(op))
        if (int64_t inside = find(loop.getBody().front()); inside > 0)
          groups += countOf(loop) * inside;
      const DenseSet<int64_t> read = gradientsRead(op);
      for (auto &[place, touched] : last)
        if (read.contains(place.getSlot()))
          touched = &op;
      for (PlaceAttr place : gradientsOf(op))
        last[place] = &op;
    }
    const size_t before = finished.size();
    for (auto [place, op] : last)
      finished[op].push_back(place);
    return groupsIn[&block] = groups + int64_t(finished.size() - before);
  }

  /// `number`: of the block's first group, over the indices of the loops around.
  void mark(Block &block, AffineExpr number) {
    int64_t next = 0;
    for (Operation &op : llvm::make_early_inc_range(block)) {
      if (auto loop = dyn_cast<LoopOp>(op)) {
        Block &body = loop.getBody().front();
        if (groupsIn[&body] > 0) {
          AffineExpr index = getAffineDimExpr(indices.size(), module.getContext());
          const int64_t first = int64_t(loop.getFirst()), count = countOf(loop);
          AffineExpr iteration = loop.getReverse() ? first + count - 1 - index : index - first;
          indices.push_back(body.getArgument(0));
          mark(body, number + next + iteration * groupsIn[&body]);
          indices.pop_back();
          next += count * groupsIn[&body];
        }
      }
      if (auto places = finished.find(&op); places != finished.end()) {
        OpBuilder builder(module.getContext());
        builder.setInsertionPointAfter(&op);
        SmallVector<Attribute> attributes;
        for (PlaceAttr place : places->second) {
          attributes.push_back(place);
          if (inSlices)
            SumSlicesOp::create(builder, op.getLoc(), place, typeAt(place));
        }
        ReadyOp::create(builder, op.getLoc(), AffineMap::get(indices.size(), 0, number + next), indices,
                        builder.getArrayAttr(attributes));
        ++next;
      }
    }
  }
  /// Of the gradient at a place: its parameter without its stacks.
  Type typeAt(PlaceAttr place) {
    ParameterOp parameter = parameters.lookup(place.getSlot());
    RankedTensorType type = parameter.getType();
    return RankedTensorType::get(type.getShape().drop_front(parameter.depthCount()), type.getElementType());
  }

  ModuleOp module;
  const bool inSlices;
  DenseMap<int64_t, ParameterOp> parameters; // by their offset
  llvm::MapVector<Operation *, SmallVector<PlaceAttr, 1>> finished;
  DenseMap<Block *, int64_t> groupsIn; // of one run of a block
  SmallVector<Value> indices;          // of the loops around
};

} // namespace

void markGradientGroups(func::FuncOp function, bool inSlices) { Marker(function, inSlices); }

GradientGroups gradientGroups(const ScheduledEntry &entry) {
  func::FuncOp function = entry.function;
  DenseMap<int64_t, ParameterOp> parameters;
  for (ParameterOp parameter : function->getParentOfType<ModuleOp>().getOps<ParameterOp>())
    parameters[int64_t(parameter.getOffset())] = parameter;
  GradientGroups result;
  function.walk([&](ReadyOp ready) {
    SmallVector<LoopOp> loops;
    for (Value index : ready.getIndices())
      loops.push_back(cast<LoopOp>(cast<BlockArgument>(index).getOwner()->getParentOp()));
    // Of the first iteration of all loops but number `moved`, of which it is the second.
    auto numberAt = [&](std::optional<size_t> moved) {
      SmallVector<Attribute> at;
      SmallVector<Attribute> out;
      for (auto [i, loop] : llvm::enumerate(loops)) {
        const int64_t step = moved == i ? 1 : 0, first = int64_t(loop.getFirst());
        at.push_back(IntegerAttr::get(IndexType::get(ready.getContext()),
                                      loop.getReverse() ? first + countOf(loop) - 1 - step : first + step));
      }
      (void)ready.getNumber().constantFold(at, out);
      return cast<IntegerAttr>(out[0]).getInt();
    };
    for (PlaceAttr place : ready.getPlaces().getAsRange<PlaceAttr>()) {
      GradientGroup gradient{parameters.lookup(place.getSlot()), numberAt(std::nullopt), 0, {}};
      const int64_t stride = std::max<int64_t>(int64_t(gradient.parameter.getStride()), 1);
      int64_t runs = 1;
      for (auto [i, loop] : llvm::enumerate(loops)) {
        gradient.loops.push_back({countOf(loop), numberAt(i) - gradient.group, 0});
        runs *= countOf(loop);
      }
      for (StepAttr step : place.getSteps()) {
        const int64_t elements = cast<AffineConstantExpr>(productOf(step.getBytes())).getValue() / stride;
        int64_t index = step.getShift();
        if (step.getLoop() >= 0) {
          LoopOp loop = loops[step.getLoop()];
          index += int64_t(loop.getFirst()) + (loop.getReverse() ? countOf(loop) - 1 : 0);
          gradient.loops[step.getLoop()].elements += loop.getReverse() ? -elements : elements;
        }
        gradient.element += index * elements;
      }
      if (runs > 0) // a stack of no layers finishes nothing
        result.gradients.push_back(std::move(gradient));
      result.count += place == ready.getPlaces()[0] ? runs : 0;
    }
  });
  return result;
}

} // namespace tenon
