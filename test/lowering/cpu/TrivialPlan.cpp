#include "test/lowering/cpu/TrivialPlan.h"
#include "dialect/ElementModel.h"
#include "dialect/TensorSizes.h"
#include "lowering/target/Rows.h"
#include "test/lowering/cpu/Reference.h"

using namespace mlir;

namespace tenon::test {

MemoryPlan trivialPlan(func::FuncOp function, const Target &target) {
  MemoryPlan plan;
  const unsigned dims = llvm::count_if(function.getArgumentTypes(), [](Type type) { return type.isIndex(); });
  size_t stateCount = 0;
  function.walk([&](ReadStateOp read) { stateCount = std::max(stateCount, size_t(read.getIndex()) + 1); });
  function.walk([&](WriteStateOp write) { stateCount = std::max(stateCount, size_t(write.getIndex()) + 1); });
  plan.stateBytes.assign(stateCount, getAffineConstantExpr(0, function.getContext()));
  SmallVector<Attribute> states(stateCount);
  auto stateSize = [&](int64_t index, ValueRange depths, Value value) {
    auto type = cast<RankedTensorType>(value.getType());
    SmallVector<AffineExpr> sizes = sizesOf(type);
    for (Value depth : llvm::reverse(depths))
      sizes.insert(sizes.begin(), getAffineConstantExpr(depthCount(depth), type.getContext()));
    plan.stateBytes[index] = tensorBytes(type) * copies(depths);
    states[index] = TypeAttr::get(tensorType(sizes, type.getElementType(), dims));
  };
  auto newSlot = [&](AffineExpr bytes) {
    unsigned slot = plan.slots.size();
    plan.slots.push_back({bytes, {}});
    if (slot > 0)
      plan.slots.back().after.push_back(slot - 1);
    return Buffer{Buffer::Base::Workspace, plan.stateCount() + int64_t(slot), {}};
  };
  auto place = [&](Value value) { plan.buffers[value] = newSlot(tensorBytes(storedType(value))); };
  function.walk([&](Operation *op) {
    if (auto read = dyn_cast<ReadStateOp>(op))
      stateSize(read.getIndex(), read.getDepths(), read.getValue());
    if (auto write = dyn_cast<WriteStateOp>(op))
      stateSize(write.getIndex(), write.getDepths(), write.getValue());
    if (isa<ReadStateOp, ReadParameterOp, ReadLossScaleOp, AtDepthOp>(op))
      return;
    if (auto kernel = dyn_cast<KernelOpInterface>(op)) {
      FailureOr<KernelNeeds> needs = target.needsOf(kernel);
      if (failed(needs))
        exit(1);
      plan.scratchBytes = std::max(plan.scratchBytes, needs->scratchBytes);
      for (AffineExpr bytes : needs->temporaries)
        plan.temporaries[op].push_back(newSlot(bytes));
    }
    for (Value result : op->getResults())
      if (isa<RankedTensorType>(result.getType()) && !result.use_empty())
        place(result);
    if (auto stack = dyn_cast<StackOp>(op))
      for (BlockArgument argument : stack.getBody().getArguments())
        if (isa<RankedTensorType>(argument.getType()))
          place(argument);
  });
  function->setAttr("tenon.states", ArrayAttr::get(function.getContext(), states));
  return plan;
}

} // namespace tenon::test
