// `save = blocks` of a recipe: gradient checkpointing by depth. See Passes.td.
#include "dialect/TenonDialect.h"
#include "lowering/Declined.h"
#include "lowering/Passes.h"
#include "lowering/tensor/SplitRounds.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace tenon {
#define GEN_PASS_DEF_RECOMPUTEBLOCKS
#include "lowering/Passes.h.inc"

namespace {

constexpr llvm::StringLiteral kRewrite = "recompute-blocks";

Block *bodyOf(StackOp stack) { return &stack.getBody().front(); }

/// A forward stack with other saved values: the carries and what `kept` names by its number, then `more` of the body.
StackOp withSaved(StackOp stack, ArrayRef<unsigned> kept, ArrayRef<Value> more) {
  auto yield = cast<YieldOp>(bodyOf(stack)->getTerminator());
  SmallVector<Type> types(stack.getCarries().getTypes());
  SmallVector<Value> yielded(yield.getOperands().take_front(types.size()));
  for (unsigned i : kept) {
    types.push_back(stack.getResult(i).getType());
    yielded.push_back(yield.getOperand(i));
  }
  for (Value value : more) {
    types.push_back(stack.stacked(cast<RankedTensorType>(value.getType())));
    yielded.push_back(value);
  }
  OpBuilder builder(stack);
  auto result =
      StackOp::create(builder, stack.getLoc(), types, stack.getCount(), stack.getCarries(), stack.getReverse(), stack.getFirst());
  result->setDiscardableAttrs(stack->getDiscardableAttrDictionary());
  result.getBody().takeBody(stack.getBody());
  yield->setOperands(yielded);
  const unsigned carries = stack.getCarries().size();
  for (unsigned i = 0; i < carries; ++i)
    stack.getResult(i).replaceAllUsesWith(result.getResult(i));
  for (auto [place, i] : llvm::enumerate(kept))
    stack.getResult(i).replaceAllUsesWith(result.getResult(carries + place));
  stack.erase();
  return result;
}

/// What nobody reads any more, saved values of stacks, too. Backwards, so that what an op alone has read comes after it.
void dropUnread(Block *block) {
  for (Operation *op = &block->back(), *before = nullptr; op; op = before) {
    before = op->getPrevNode();
    if (isOpTriviallyDead(op)) {
      op->erase();
      continue;
    }
    auto stack = dyn_cast<StackOp>(op);
    if (!stack)
      continue;
    SmallVector<unsigned> kept;
    const unsigned carries = stack.getCarries().size();
    for (unsigned i = carries; i < stack.getNumResults(); ++i)
      if (!stack.getResult(i).use_empty())
        kept.push_back(i);
    if (carries + kept.size() < stack.getNumResults())
      stack = withSaved(stack, kept, {});
    dropUnread(bodyOf(stack));
  }
}

/// One forward stack and the loop that runs back through it.
class Recomputation {
public:
  Recomputation(StackOp forward, StackOp reversed)
      : forward(forward), reversed(reversed), body(bodyOf(forward)), yield(cast<YieldOp>(body->getTerminator())) {}

  void run() {
    findLoads();
    if (loads.empty())
      return;
    for (auto &[number, of] : loads)
      need(yield.getOperand(number));
    clone();
    saveCarries();
  }

private:
  static bool isCarry(Value value, Block *body) {
    auto argument = dyn_cast<BlockArgument>(value);
    return argument && argument.getOwner() == body && argument.getArgNumber() > 0;
  }

  /// Whether the reversed loop makes saved value `number` again in place of its `own` loads of it.
  bool isMadeAgain(unsigned number, SmallVector<AtDepthOp> &own) {
    Value value = yield.getOperand(number);
    Operation *op = value.getDefiningOp() ? value.getDefiningOp() : forward.getOperation();
    for (Operation *user : forward.getResult(number).getUsers()) {
      auto load = dyn_cast<AtDepthOp>(user);
      if (!load || load.getDepth() != reversed.getBody().getArgument(0) || load.getFirst() != forward.getFirst())
        return declined(op, kRewrite, "it stays saved: it is read elsewhere than in the reversed loop at its depth");
      own.push_back(load);
    }
    if (own.empty())
      return declined(op, kRewrite, "nobody reads what is saved of it");
    if (value.getParentBlock() != body || isCarry(value, body))
      return declined(op, kRewrite, "it stays saved: it is what a round is given, of which the rest is made");
    return true;
  }

  /// The saved values that the reversed loop alone reads, each at its depth, and the loads.
  void findLoads() {
    for (unsigned i = forward.getCarries().size(); i < forward.getNumResults(); ++i)
      if (SmallVector<AtDepthOp> own; isMadeAgain(i, own))
        loads.insert({i, own});
  }

  void need(Value value) {
    if (isCarry(value, body)) {
      carried.insert(cast<BlockArgument>(value));
      return;
    }
    Operation *op = value.getDefiningOp();
    if (value.getParentBlock() != body || !op || !needed.insert(op))
      return;
    op->walk([&](Operation *inside) { llvm::for_each(inside->getOperands(), [&](Value operand) { need(operand); }); });
  }

  /// The forward pass of one depth in front of its backward pass, from what the stack was given there.
  void clone() {
    OpBuilder front = OpBuilder::atBlockBegin(bodyOf(reversed));
    IRMapping mapping;
    mapping.map(body->getArgument(0), bodyOf(reversed)->getArgument(0));
    for (BlockArgument argument : carried) {
      auto type = cast<RankedTensorType>(argument.getType());
      // A stand-in: the stacked value exists once the forward stack is made anew.
      Value standIn =
          UnrealizedConversionCastOp::create(front, argument.getLoc(), forward.stacked(type), ValueRange()).getResult(0);
      auto load =
          AtDepthOp::create(front, argument.getLoc(), type, standIn, bodyOf(reversed)->getArgument(0), forward.getFirstAttr());
      mapping.map(argument, load.getResult());
      carryLoads.insert({argument, load});
    }
    for (Operation &op : *body)
      if (needed.contains(&op))
        dropWrites(front.clone(op, mapping));
    for (auto &[number, of] : loads)
      for (AtDepthOp load : of) {
        load.getResult().replaceAllUsesWith(mapping.lookup(yield.getOperand(number)));
        load.erase();
      }
  }

  /// States are written once, by the forward pass.
  static void dropWrites(Operation *copy) {
    copy->walk([](MemoryOpInterface memory) {
      if (memory.delivery())
        memory->erase();
    });
  }

  void saveCarries() {
    SmallVector<unsigned> kept;
    const unsigned carries = forward.getCarries().size();
    llvm::MapVector<BlockArgument, unsigned> places; // among the results of the new stack
    for (unsigned i = carries; i < forward.getNumResults(); ++i) {
      if (forward.getResult(i).use_empty())
        continue;
      if (isCarry(yield.getOperand(i), body))
        places.insert({cast<BlockArgument>(yield.getOperand(i)), carries + kept.size()});
      kept.push_back(i);
    }
    SmallVector<Value> more;
    for (BlockArgument argument : carried)
      if (places.insert({argument, carries + kept.size() + more.size()}).second)
        more.push_back(argument);
    forward = withSaved(forward, kept, more);
    for (auto &[argument, load] : carryLoads) {
      Operation *standIn = load.getX().getDefiningOp();
      load.getXMutable().assign(forward.getResult(places.lookup(argument)));
      standIn->erase();
    }
  }

  StackOp forward, reversed;
  Block *body;
  YieldOp yield;
  llvm::MapVector<unsigned, SmallVector<AtDepthOp>> loads; // by the number of the result
  llvm::SetVector<Operation *> needed;
  llvm::SetVector<BlockArgument> carried;
  llvm::MapVector<BlockArgument, AtDepthOp> carryLoads;
};

/// The stacks of this block that `reversed` runs back through: one, or several where it writes the gradients of all of them.
llvm::SetVector<Operation *> forwardsOf(StackOp reversed) {
  llvm::SetVector<Operation *> found;
  reversed.getBody().walk([&](AtDepthOp load) {
    auto forward = load.getX().getDefiningOp<StackOp>();
    if (forward && !forward.getReverse() && forward->getBlock() == reversed->getBlock() &&
        load.getDepth() == reversed.getBody().getArgument(0) && forward.getFirst() == reversed.getFirst() &&
        forward.getCount() == reversed.getCount())
      found.insert(forward);
  });
  return found;
}

/// From outside to inside: the copy of a stack inside of a stack is what its own reversed loop has beside it then. A recurrence
/// is computed again in blocks of `steps` rounds, whose values are saved while the block is gone back through; 1: round by round.
void recompute(Block *block, int64_t steps) {
  for (StackOp reversed : llvm::to_vector(block->getOps<StackOp>())) {
    if (!reversed.getReverse())
      continue;
    SmallVector<StackOp> forwards;
    for (Operation *forward : forwardsOf(reversed))
      forwards.push_back(cast<StackOp>(forward));
    const int64_t size = std::min(steps, reversed.countNumber().value_or(steps));
    const bool inBlocks = size > 1 && isRecurrence(forwards, reversed);
    if (inBlocks) {
      for (StackOp &forward : forwards)
        forward = splitRounds(forward, size);
      reversed = splitRounds(reversed, size);
      for (Operation &op : llvm::make_early_inc_range(*block)) // what the loops alone have read of each other
        if (isOpTriviallyDead(&op))
          op.erase();
    }
    for (StackOp forward : forwards)
      Recomputation(forward, reversed).run();
    if (!inBlocks)
      recompute(bodyOf(reversed), steps);
  }
}

struct RecomputeBlocks : impl::RecomputeBlocksBase<RecomputeBlocks> {
  void runOnOperation() override {
    auto save = getOperation()->getAttrOfType<StringAttr>("tenon.save");
    if (!save || save.getValue() != "blocks")
      return;
    auto steps = getOperation()->getAttrOfType<IntegerAttr>("tenon.save_steps");
    Block *block = &getOperation().getBody().front();
    if (steps) {
      SmallVector<StackOp> loops;
      getOperation().walk([&](StackOp loop) { loops.push_back(loop); });
      llvm::for_each(loops, readLastCarries);
    }
    recompute(block, steps ? steps.getInt() : 1);
    dropUnread(block);
  }
};

} // namespace
} // namespace tenon
