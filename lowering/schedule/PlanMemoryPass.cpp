// The memory plan as attributes. See Passes.td.
#include "dialect/Build.h"
#include "lowering/Passes.h"
#include "lowering/schedule/MemoryPlan.h"
#include "lowering/target/Choice.h"
#include "lowering/target/Target.h"

using namespace mlir;

namespace tenon {
#define GEN_PASS_DEF_PLANMEMORY
#include "lowering/Passes.h.inc"

LogicalResult checkPlannable(func::FuncOp function) {
  if (function.isDeclaration())
    return function.emitOpError("expects a body, got a declaration"); // P6
  WalkResult planned = function.walk([](Operation *op) {
    if (!op->hasTrait<OfSchedule>())
      return WalkResult::advance();
    op->emitOpError("has a place already: expects the kernel form, got the schedule form"); // P7
    return WalkResult::interrupt();
  });
  return failure(planned.wasInterrupted());
}

namespace {

/// "workspace 3", "gradients 1664 + depth * 1664", "workspace 2 + (depth - 4) * d0 * 32".
Attribute textOf(Value value, const MemoryPlan &plan) {
  std::string text;
  if (auto it = plan.buffers.find(value); it != plan.buffers.end()) {
    const Buffer &buffer = it->second;
    llvm::raw_string_ostream out(text);
    out << stringifyMemory(buffer.base) << " " << buffer.slot - (buffer.base == Buffer::Base::Workspace ? plan.stateCount() : 0);
    for (const Buffer::Step &step : buffer.steps) {
      out << " + ";
      if (!step.depth)
        out << step.shift;
      else if (step.shift)
        out << "(depth " << (step.shift < 0 ? "-" : "+") << " " << std::abs(step.shift) << ")";
      else
        out << "depth";
      out << " * " << step.bytes;
    }
  }
  return StringAttr::get(value.getContext(), text);
}

ArrayAttr textsOf(ValueRange values, const MemoryPlan &plan) {
  SmallVector<Attribute> texts;
  for (Value value : values)
    if (isa<RankedTensorType>(value.getType()))
      texts.push_back(textOf(value, plan));
  return texts.empty() ? ArrayAttr() : ArrayAttr::get(values.front().getContext(), texts);
}

struct PlanMemory : impl::PlanMemoryBase<PlanMemory> {
  using PlanMemoryBase::PlanMemoryBase;

  ArrayAttr describeSlots(const MemoryPlan &plan) {
    Builder builder(&getContext());
    SmallVector<Attribute> slots;
    SmallVector<int64_t> ends;
    for (const MemoryPlan::Slot &slot : plan.slots) {
      int64_t offset = 0;
      for (unsigned below : slot.after)
        offset = std::max(offset, ends[below]);
      ends.push_back(offset + llvm::alignTo(nominalSize(slot.bytes, nominal), 64));
      NamedAttrList described;
      std::string bytes;
      llvm::raw_string_ostream(bytes) << slot.bytes;
      described.set("bytes", builder.getStringAttr(bytes));
      described.set("after", builder.getDenseI64ArrayAttr(SmallVector<int64_t>(slot.after.begin(), slot.after.end())));
      described.set("offset", builder.getI64IntegerAttr(offset));
      if (slot.saved)
        described.set("saved", builder.getUnitAttr());
      if (slot.temporary)
        described.set("temporary", builder.getUnitAttr());
      slots.push_back(described.getDictionary(&getContext()));
    }
    return builder.getArrayAttr(slots);
  }

  void describeCosts(func::FuncOp function) {
    std::vector<std::string> names;
    for (BlockArgument argument : function.getArguments())
      if (argument.getType().isIndex())
        names.push_back("d" + std::to_string(argument.getArgNumber()));
    FormulaSpace space(std::move(names));
    Builder builder(&getContext());
    function.walk([&](KernelOpInterface kernel) {
      std::string domain;
      for (AffineExpr size : kernel.parallelDomain())
        domain += (domain.empty() ? "" : ", ") + tenon::textOf(size);
      NamedAttrList cost;
      cost.set("flops", builder.getStringAttr(space.text(kernel.countFlops(space))));
      cost.set("bytes", builder.getStringAttr(space.text(kernel.countBytes(space))));
      cost.set("parallel", builder.getStringAttr(domain));
      kernel->setAttr("tenon.cost", cost.getDictionary(&getContext()));
    });
  }

  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (nominal < 1) {
      function.emitOpError("expects a size of dims from 1 on to plan for, got ") << int64_t(nominal); // an option
      return signalPassFailure();
    }
    const Target *chosen = findTarget(target);
    if (!chosen) {
      function.emitOpError("expects the name of a target, got ") << target; // an option
      return signalPassFailure();
    }
    if (failed(checkPlannable(function)))
      return signalPassFailure();
    chooseKernels(function, *chosen);
    FailureOr<MemoryPlan> planned = planMemory(function, *chosen, nominal);
    if (failed(planned))
      return signalPassFailure();
    const MemoryPlan &plan = *planned;
    function->setAttr("tenon.workspace", describeSlots(plan));
    function.walk([&](Operation *op) {
      if (op->getParentOp() != function && !isa<StackOp>(op->getParentOp()))
        return;
      if (ArrayAttr places = textsOf(op->getResults(), plan))
        op->setAttr("tenon.places", places);
      if (auto temporaries = plan.temporaries.find(op); temporaries != plan.temporaries.end()) {
        SmallVector<int64_t> slots;
        for (const Buffer &buffer : temporaries->second)
          slots.push_back(buffer.slot - plan.stateCount());
        op->setAttr("tenon.temporaries", DenseI64ArrayAttr::get(&getContext(), slots));
      }
      if (auto stack = dyn_cast<StackOp>(op))
        if (ArrayAttr carries = textsOf(stack.getBody().getArguments(), plan))
          op->setAttr("tenon.carries", carries);
    });
    if (costs)
      describeCosts(function);
  }
};

} // namespace
} // namespace tenon
