// The kernel form to the schedule form. See Passes.td.
#include "dialect/Build.h"
#include "dialect/ElementModel.h"
#include "dialect/Refusal.h"
#include "dialect/Rounds.h"
#include "dialect/StoredParameter.h"
#include "lowering/Passes.h"
#include "lowering/schedule/GradientGroups.h"
#include "lowering/target/Choice.h"
#include "lowering/target/Target.h"

using namespace mlir;

namespace tenon {
#define GEN_PASS_DEF_SCHEDULE
#include "lowering/Passes.h.inc"

namespace {

/// Rewrites one planned function in place. Values keep flowing between the kernels of a block; what crosses a loop is read at its
/// place.
class Scheduler {
public:
  Scheduler(func::FuncOp function, const MemoryPlan &plan) : function(function), plan(plan), builder(function.getContext()) {
    for (Type type : function.getArgumentTypes())
      dims += type.isIndex();
  }

  void run() {
    scheduleBlock(function.getBody().front());
    SmallVector<Attribute> slots;
    for (const MemoryPlan::Slot &slot : plan.slots) {
      SmallVector<int64_t> after(slot.after.begin(), slot.after.end());
      slots.push_back(SlotAttr::get(builder.getContext(), formOf(slot.bytes), after, slot.saved, slot.temporary));
    }
    function->setAttr("tenon.slots", builder.getArrayAttr(slots));
    function->setAttr("tenon.outputs", builder.getArrayAttr(outputs));
    function->setAttr("tenon.scratch", builder.getI64IntegerAttr(plan.scratchBytes));
  }

private:
  AffineMap formOf(AffineExpr bytes) {
    AffineMap factors = factorsOf(bytes, dims);
    if (!factors) // sizes of types are forms, and those of temporaries products of them
      llvm::report_fatal_error("a size in the schedule that is no product of forms over the dims");
    return factors;
  }

  // ---- places

  PlaceAttr placeOf(const Buffer &buffer) {
    SmallVector<StepAttr> steps;
    for (const Buffer::Step &step : buffer.steps)
      steps.push_back(
          StepAttr::get(builder.getContext(), step.depth ? loops.lookup(step.depth) : -1, formOf(step.bytes), step.shift));
    const int64_t slot = buffer.slot - (buffer.base == Buffer::Base::Workspace ? plan.stateCount() : 0);
    return PlaceAttr::get(builder.getContext(), buffer.base, slot, steps);
  }
  Value at(const Buffer &buffer, Type type, Location location) {
    return PlaceOp::create(builder, location, type, placeOf(buffer));
  }
  /// Of a value whose op has not been rewritten yet, or is a kernel or an input.
  std::optional<Buffer> bufferOf(Value tensor) {
    if (auto known = buffers.find(tensor); known != buffers.end())
      return known->second;
    if (auto planned = plan.buffers.find(tensor); planned != plan.buffers.end())
      return planned->second;
    if (auto argument = dyn_cast<BlockArgument>(tensor); argument && argument.getOwner() == &function.getBody().front())
      return Buffer{Buffer::Base::Input, int64_t(argument.getArgNumber()) - dims, {}};
    if (auto memory = tensor.getDefiningOp<MemoryOpInterface>()) {
      if (std::optional<Buffer> place = memory.placeOfResult())
        return place;
      if (std::optional<Part> part = memory.partOf()) {
        std::optional<Buffer> whole = bufferOf(part->whole);
        if (whole)
          whole->move(part->step);
        return whole;
      }
    }
    return std::nullopt;
  }

  // ---- ops

  void copyTo(Value value, const Buffer &to, Location location) {
    std::optional<Buffer> from = bufferOf(value);
    assert(from && "what is written somewhere has a place");
    if (!from->samePlace(to))
      CopyOp::create(builder, location, value, placeOf(to));
  }

  void scheduleBlock(Block &block) {
    for (Operation &op : llvm::make_early_inc_range(block)) {
      builder.setInsertionPoint(&op);
      scheduleOp(op);
    }
  }

  void scheduleOp(Operation &op) {
    if (auto stack = dyn_cast<StackOp>(op))
      return scheduleStack(stack);
    if (op.hasTrait<Address>()) {
      Value old = op.getResult(0);
      if (std::optional<Buffer> buffer = bufferOf(old))
        replace(old, at(*buffer, old.getType(), op.getLoc()), *buffer);
      op.erase(); // without a place nobody reads it
      return;
    }
    auto memory = dyn_cast<MemoryOpInterface>(op);
    if (std::optional<Delivery> delivery = memory ? memory.delivery() : std::nullopt) {
      if (delivery->to.base == Buffer::Base::Output) {
        outputs.resize(std::max(outputs.size(), size_t(delivery->to.slot) + 1));
        outputs[delivery->to.slot] = TypeAttr::get(delivery->value.getType());
      }
      copyTo(delivery->value, delivery->to, op.getLoc());
      op.erase();
    } else if (isa<KernelOpInterface>(op)) {
      placeKernel(op);
    }
  }

  void replace(Value old, Value placed, const Buffer &buffer) {
    buffers[placed] = buffer;
    old.replaceAllUsesWith(placed);
  }

  /// `places`: of each result that is a tensor, a unit where nobody reads it.
  void placeKernel(Operation &op) {
    SmallVector<Attribute> places;
    for (Value result : op.getResults()) {
      std::optional<Buffer> buffer = bufferOf(result);
      places.push_back(buffer ? Attribute(placeOf(*buffer)) : builder.getUnitAttr());
    }
    op.setAttr("tenon.places", builder.getArrayAttr(places));
    if (auto found = plan.temporaries.find(&op); found != plan.temporaries.end()) {
      SmallVector<Attribute> temporaries;
      for (const Buffer &buffer : found->second)
        temporaries.push_back(placeOf(buffer));
      op.setAttr("tenon.temporaries", builder.getArrayAttr(temporaries));
    }
    if (auto found = plan.launches.find(&op); found != plan.launches.end()) {
      SmallVector<StringRef> names(found->second.begin(), found->second.end());
      op.setAttr("tenon.launches", builder.getStrArrayAttr(names));
    }
  }

  /// The place of a carry one iteration later.
  static Buffer next(Buffer buffer, StackOp stack, Value depth) {
    for (Buffer::Step &step : buffer.steps)
      if (step.depth == depth)
        step.shift += stack.getReverse() ? -1 : 1;
    return buffer;
  }

  void scheduleStack(StackOp stack) {
    Block &body = stack.getBody().front();
    Value depth = body.getArgument(0);
    const unsigned carries = stack.getCarries().size();
    SmallVector<Buffer> arguments;
    loops[depth] = int64_t(loopDepth);
    for (unsigned i = 0; i < carries; ++i)
      arguments.push_back(*bufferOf(body.getArgument(i + 1)));
    // The places of carries may move with the loop: before it they are those of the first index.
    const AffineExpr low = getAffineConstantExpr(stack.getFirst(), builder.getContext()), high = low + stack.countForm() - 1;
    const AffineExpr first = stack.getReverse() ? high : low, last = stack.getReverse() ? low : high;
    for (unsigned i = 0; i < carries; ++i)
      copyTo(stack.getCarries()[i], fixed(arguments[i], depth, first), stack.getLoc());

    auto loop = LoopOp::create(builder, stack.getLoc(), stack.getCountAttr(), stack.getFirstAttr(), stack.getReverseAttr());
    loop.getBody().takeBody(stack.getBody());
    ++loopDepth;
    builder.setInsertionPointToStart(&body);
    for (unsigned i = 0; i < carries; ++i)
      replace(body.getArgument(i + 1), at(arguments[i], body.getArgument(i + 1).getType(), stack.getLoc()), arguments[i]);
    scheduleBlock(body);
    auto yield = cast<YieldOp>(body.getTerminator());
    builder.setInsertionPoint(yield);
    // Saved values first: they may be carries of this depth, whose place the new carry is about to take.
    for (unsigned i = carries; i < yield.getNumOperands(); ++i)
      if (std::optional<Buffer> whole = bufferOf(stack.getResult(i))) {
        whole->move({depth, tensorBytes(tensorOf(yield.getOperand(i))), -int64_t(stack.getFirst())});
        copyTo(yield.getOperand(i), *whole, stack.getLoc());
      }
    for (unsigned i = 0; i < carries; ++i)
      copyTo(yield.getOperand(i), next(arguments[i], stack, depth), stack.getLoc());
    yield.erase();
    body.eraseArguments(1, carries);
    --loopDepth;

    builder.setInsertionPoint(stack);
    for (auto [i, result] : llvm::enumerate(stack.getResults())) {
      if (result.use_empty())
        continue;
      Buffer to = *bufferOf(result);
      if (i < carries) {
        Buffer from = fixed(next(arguments[i], stack, depth), depth, last);
        if (!from.samePlace(to)) {
          Value carry = at(from, result.getType(), stack.getLoc());
          buffers[carry] = from;
          copyTo(carry, to, stack.getLoc());
        }
      }
      replace(result, at(to, result.getType(), stack.getLoc()), to);
    }
    stack.erase();
  }

  /// The place outside of the loop, where its index is this form over the dims.
  static Buffer fixed(Buffer buffer, Value depth, AffineExpr index) {
    int64_t number = 0;
    AffineExpr rest = index;
    if (auto constant = dyn_cast<AffineConstantExpr>(index))
      number = constant.getValue(), rest = {};
    SmallVector<Buffer::Step, 1> further;
    for (Buffer::Step &step : buffer.steps)
      if (step.depth == depth) {
        step.depth = Value();
        step.shift += number;
        if (rest)
          further.push_back({Value(), step.bytes * rest, 1});
      }
    buffer.steps.append(further);
    return buffer;
  }

  func::FuncOp function;
  const MemoryPlan &plan;
  OpBuilder builder;
  int64_t dims = 0;
  unsigned loopDepth = 0;
  DenseMap<Value, int64_t> loops;  // the index of a loop -> how many loops are around it
  DenseMap<Value, Buffer> buffers; // of tenon.place
  SmallVector<Attribute> outputs;  // types, by number
};

/// Kernels, what reads and writes memory, loops and scalars: all that the kernel form has.
LogicalResult checkKernelForm(func::FuncOp function) {
  auto module = function->getParentOfType<ModuleOp>();
  WalkResult result = function.walk([&](Operation *op) {
    if (!isa<func::FuncOp, StackOp>(op->getParentOp()))
      return WalkResult::advance(); // the code of a kernel
    auto read = dyn_cast<ReadParameterOp>(op);
    if (auto parameter = read ? module.lookupSymbol<ParameterOp>(read.getParameter()) : ParameterOp();
        parameter && !read.getRemainder() && parameterType(module) &&
        tensorOf(read.getValue()).getElementType() != storedType(parameter)) {
      read.emitOpError("expects a value of ")
          << storedType(parameter) << ", in which parameters lie in memory, got " << read.getValue().getType(); // P8
      return WalkResult::interrupt();
    }
    if (isa<StackOp, SkipOp, MemoryOpInterface, KernelOpInterface>(op) || op->hasTrait<OpTrait::IsTerminator>() ||
        isScalarCode(op))
      return WalkResult::advance();
    notSupported(op) << op->getName() << " in the kernel form";
    return WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}

LogicalResult checkLoops(func::FuncOp function, const Target &target) {
  const std::optional<int64_t> most = target.mostLoops();
  WalkResult result = function.walk([&](StackOp stack) {
    int64_t loops = 0;
    for (Operation *around = stack; around; around = around->getParentOp())
      loops += isa<StackOp>(around);
    if (!most || loops <= *most)
      return WalkResult::advance();
    notSupported(stack) << "more than " << *most << " nested stacks";
    return WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}

struct Schedule : impl::ScheduleBase<Schedule> {
  using ScheduleBase::ScheduleBase;
  void runOnOperation() override {
    func::FuncOp function = getOperation();
    const Target *chosen = findTarget(target);
    if (!chosen) {
      function.emitOpError("expects the name of a target, got ") << target; // an option
      return signalPassFailure();
    }
    if (failed(checkPlannable(function)) || failed(checkKernelForm(function)) || failed(checkLoops(function, *chosen)))
      return signalPassFailure();
    chooseKernels(function, *chosen);
    FailureOr<MemoryPlan> plan = planMemory(function, *chosen, nominal);
    if (failed(plan))
      return signalPassFailure();
    schedule(function, *plan);
    auto slices = function->getAttrOfType<IntegerAttr>(kSlices);
    markGradientGroups(function, slices && slices.getInt() > 1);
  }
};

} // namespace

void schedule(func::FuncOp function, const MemoryPlan &plan) { Scheduler(function, plan).run(); }

} // namespace tenon
