#include "lowering/kernel/KernelResults.h"
#include "dialect/Build.h"
#include "dialect/Rounds.h"

using namespace mlir;

namespace tenon {

void dropUnusedResults(func::FuncOp function) {
  SmallVector<Operation *> kernels;
  function.walk([&](Operation *op) {
    if (op->hasTrait<PutsResults>() && llvm::any_of(op->getResults(), [](Value result) { return result.use_empty(); }))
      kernels.push_back(op);
  });
  for (Operation *op : kernels) {
    SmallVector<int64_t> renumbered;
    SmallVector<Type> types;
    for (Value result : op->getResults()) {
      renumbered.push_back(result.use_empty() ? -1 : int64_t(types.size()));
      if (!result.use_empty())
        types.push_back(result.getType());
    }
    if (types.empty()) {
      op->erase();
      continue;
    }
    SmallVector<PutOp> puts;
    op->walk([&](PutOp put) { puts.push_back(put); });
    for (PutOp put : puts) {
      int64_t number = renumbered[put.getResult()];
      number < 0 ? put.erase() : put.setResult(number);
    }
    OperationState state(op->getLoc(), op->getName(), op->getOperands(), types, op->getAttrs());
    for (Region &region : op->getRegions())
      state.addRegion()->takeBody(region);
    Operation *fresh = OpBuilder(op).create(state);
    for (auto [old, number] : llvm::zip(op->getResults(), renumbered))
      if (number >= 0)
        old.replaceAllUsesWith(fresh->getResult(number));
    op->erase();
  }
}

/// The value as a kernel of its own makes it.
static Value copyOf(OpBuilder &builder, Location location, Value value) {
  SmallVector<int64_t> all(llvm::to_vector(llvm::seq<int64_t>(0, tensorOf(value).getRank())));
  return BroadcastOp::create(builder, location, value.getType(), value, builder.getDenseI64ArrayAttr(all));
}

void copyExchangedCarries(func::FuncOp function) {
  function.walk([&](YieldOp yield) {
    auto stack = dyn_cast<StackOp>(yield->getParentOp());
    for (unsigned i = 0; stack && i < stack.getCarries().size(); ++i) {
      auto argument = dyn_cast<BlockArgument>(yield.getOperand(i));
      if (!argument || argument.getOwner() != yield->getBlock() || argument.getArgNumber() == i + 1)
        continue;
      OpBuilder builder(yield);
      yield.setOperand(i, copyOf(builder, yield.getLoc(), argument));
    }
  });
}

void deliverCarriesFirst(func::FuncOp function, bool byNests) {
  function.walk([&](MemoryOpInterface write) {
    std::optional<Delivery> delivery = write.delivery();
    auto carry = delivery ? dyn_cast<BlockArgument>(delivery->value) : BlockArgument();
    Block *block = write->getBlock();
    if (!carry || carry.getOwner() != block || !isa<StackOp>(block->getParentOp()))
      return;
    Operation *place = &block->front(); // behind what ends the round, and its depths
    for (Operation &op : *block) {
      if (&op == write.getOperation())
        break;
      if (isa<SkipOp>(op) || llvm::is_contained(op.getUsers(), write.getOperation()))
        place = op.getNextNode();
    }
    OpBuilder builder(place);
    if (byNests)
      write->replaceUsesOfWith(carry, copyOf(builder, write.getLoc(), carry));
    else if (place != write.getOperation())
      write->moveBefore(place);
  });
}

} // namespace tenon
