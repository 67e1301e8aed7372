// One workspace per entry, planned by lifetime over the linear program of kernels.
#include "dialect/Build.h"
#include "dialect/ElementModel.h"
#include "dialect/Rounds.h"
#include "lowering/schedule/MemoryPlan.h"
#include "lowering/target/Rows.h"
#include "lowering/target/Target.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/MapVector.h"
#include <algorithm>

using namespace mlir;

namespace tenon {

namespace {

struct Interval {
  AffineExpr bytes;
  int64_t begin, end; // both included
  bool temporary = false;
  bool contains(int64_t number) const { return begin < number && number < end; }
};

class Planner {
public:
  Planner(func::FuncOp function, const Target &target, int64_t nominalDim)
      : function(function), target(target), nominalDim(nominalDim) {}
  FailureOr<MemoryPlan> run();

private:
  void number(Block &block);
  int64_t lastUse(Value value);
  static std::optional<Part> partOf(Operation *op) {
    auto memory = dyn_cast<MemoryOpInterface>(op);
    return memory ? memory.partOf() : std::nullopt;
  }
  /// The value is computed in this body and has no place yet.
  bool awaitsPlaceIn(Block &body, Value value);
  unsigned newSlot(AffineExpr bytes, int64_t begin, int64_t end);
  LogicalResult placeBlock(Block &block);
  LogicalResult placeStack(StackOp stack);
  void placeSaved(StackOp stack, const DenseMap<Value, int64_t> &historyOf);
  LogicalResult placeTemporaries(KernelOpInterface kernel);
  void placeResult(OpResult result);
  std::optional<Buffer> sinkOf(OpResult result);
  bool mayWriteCarry(Value yielded, BlockArgument carry);
  static Value startOf(Value sum);
  void reuseOperand(OpResult result);
  void pack();
  int64_t endOfForward();

  func::FuncOp function;
  const Target &target;
  const int64_t nominalDim;
  MemoryPlan plan;
  DenseMap<Operation *, std::pair<int64_t, int64_t>> at; // first and last number of an op with its regions
  int64_t next = 0;
  std::vector<Interval> intervals; // of the slots
};

void Planner::number(Block &block) {
  for (Operation &op : block) {
    int64_t first = next++;
    for (Region &region : op.getRegions())
      if (isa<StackOp>(op))
        number(region.front());
    at[&op] = {first, next++};
  }
}

/// The last number at which the value is read; reads inside a loop count until its end. What ends a round is read until there,
/// too: where the host does not wait for it, every kernel of the rest asks.
int64_t Planner::lastUse(Value value) {
  Block *block = value.getParentBlock();
  int64_t last = value.getDefiningOp() ? at.lookup(value.getDefiningOp()).second : 0;
  for (Operation *user : value.getUsers()) {
    if (partOf(user))
      for (Value result : user->getResults())
        last = std::max(last, lastUse(result));
    Operation *ancestor = block->findAncestorOpInBlock(*user);
    if (ancestor)
      last = std::max(last, at.lookup(isa<SkipOp>(ancestor) ? &block->back() : ancestor).second);
  }
  return last;
}

unsigned Planner::newSlot(AffineExpr bytes, int64_t begin, int64_t end) {
  intervals.push_back({bytes, begin, end});
  plan.slots.push_back({bytes, {}});
  return intervals.size() - 1;
}

/// The memory outside the workspace that a value is made for, if it is only brought there.
std::optional<Buffer> Planner::sinkOf(OpResult result) {
  for (Operation *user : result.getUsers()) {
    if (user->getBlock() != result.getOwner()->getBlock())
      continue;
    if (auto memory = dyn_cast<MemoryOpInterface>(user))
      if (std::optional<Delivery> delivery = memory.delivery())
        return delivery->to;
    // What is added onto in place lies where the sum is to be.
    if (auto kernel = dyn_cast<KernelOpInterface>(user); kernel && result.hasOneUse())
      for (OpResult sum : user->getResults())
        if (kernel.startsFrom(sum.getResultNumber()) == result)
          if (auto sink = sinkOf(sum))
            return sink;
  }
  return std::nullopt;
}

/// A result may be written over an operand that dies with it, if its kernel says so.
void Planner::reuseOperand(OpResult result) {
  auto kernel = dyn_cast<KernelOpInterface>(result.getOwner());
  if (!kernel)
    return;
  for (Value operand : target.overwritable(kernel, result.getResultNumber())) {
    auto it = plan.buffers.find(operand);
    if (it == plan.buffers.end() || it->second.base != Buffer::Base::Workspace || !it->second.steps.empty() ||
        isa<BlockArgument>(operand) || partOf(operand.getDefiningOp()) || operand.getParentBlock() != kernel->getBlock() ||
        operand.getType() != result.getType() || rowStepOf(operand) != rowStepOf(result))
      continue;
    Interval &interval = intervals[it->second.slot];
    if (lastUse(operand) != at[kernel.getOperation()].second || interval.end != at[kernel.getOperation()].second)
      continue;
    bool taken = llvm::any_of(kernel->getResults(), [&](Value other) {
      auto placed = plan.buffers.find(other);
      return placed != plan.buffers.end() && placed->second.samePlace(it->second);
    });
    if (taken)
      continue;
    Buffer buffer = it->second;
    interval.end = std::max(interval.end, lastUse(result));
    plan.buffers[result] = buffer;
    return;
  }
}

void Planner::placeResult(OpResult result) {
  if (result.use_empty() || !isa<RankedTensorType>(result.getType()) || plan.buffers.contains(result))
    return;
  if (auto sink = sinkOf(result)) {
    plan.buffers[result] = *sink;
    return;
  }
  reuseOperand(result);
  if (plan.buffers.contains(result))
    return;
  unsigned slot = newSlot(tensorBytes(storedType(result)), at[result.getOwner()].first, lastUse(result));
  plan.buffers[result] = {Buffer::Base::Workspace, int64_t(slot), {}};
}

/// The new carry may be written where the old one lies if nobody reads the old one afterwards, and its kernel may write over it.
bool Planner::mayWriteCarry(Value yielded, BlockArgument carry) {
  auto result = dyn_cast<OpResult>(yielded);
  auto kernel = result ? dyn_cast<KernelOpInterface>(result.getOwner()) : KernelOpInterface();
  if (!kernel || kernel->getBlock() != carry.getOwner())
    return false;
  if (llvm::any_of(carry.getOwner()->getOps<SkipOp>(), [&](SkipOp skip) { return kernel->isBeforeInBlock(skip); }))
    return false; // a round that is skipped there leaves the carry as it is
  for (Operation *user : carry.getUsers()) {
    Operation *ancestor = carry.getOwner()->findAncestorOpInBlock(*user);
    if (ancestor == kernel.getOperation() ? !llvm::is_contained(target.overwritable(kernel, result.getResultNumber()), carry)
                                          : !ancestor->isBeforeInBlock(kernel))
      return false;
  }
  return true;
}

/// What the kernel of `sum` adds onto, if nobody else reads it: it can lie where the sum is to be.
Value Planner::startOf(Value sum) {
  auto result = dyn_cast<OpResult>(sum);
  auto kernel = result ? dyn_cast<KernelOpInterface>(result.getOwner()) : KernelOpInterface();
  Value start = kernel ? kernel.startsFrom(result.getResultNumber()) : Value();
  return start && start.hasOneUse() && start.getType() == sum.getType() ? start : Value();
}

bool Planner::awaitsPlaceIn(Block &body, Value value) {
  Operation *op = value.getDefiningOp();
  return op && op->getBlock() == &body && !op->hasTrait<Address>() && !plan.buffers.contains(value);
}

/// They live while the kernels of their op run.
LogicalResult Planner::placeTemporaries(KernelOpInterface kernel) {
  FailureOr<KernelNeeds> needs = target.needsOf(kernel);
  if (failed(needs))
    return failure();
  plan.scratchBytes = std::max(plan.scratchBytes, needs->scratchBytes);
  if (needs->launches.size() > 1)
    plan.launches[kernel] = needs->launches;
  for (AffineExpr bytes : needs->temporaries) {
    unsigned slot = newSlot(bytes, at[kernel.getOperation()].first, at[kernel.getOperation()].second);
    intervals[slot].temporary = true;
    plan.temporaries[kernel].push_back({Buffer::Base::Workspace, int64_t(slot), {}});
  }
  return success();
}

/// What a stack keeps of every depth. `historyOf`: of new carries whose old ones are kept, the slot of these.
void Planner::placeSaved(StackOp stack, const DenseMap<Value, int64_t> &historyOf) {
  Block &body = stack.getBody().front();
  auto yield = cast<YieldOp>(body.getTerminator());
  const unsigned carries = stack.getCarries().size();
  auto [begin, end] = at[stack];
  for (unsigned j = carries; j < stack.getNumResults(); ++j) {
    OpResult saved = stack->getResult(j);
    if (saved.use_empty())
      continue;
    auto yielded = yield.getOperand(j);
    AffineExpr bytes = tensorBytes(tensorOf(yielded));
    if (!plan.buffers.contains(saved)) { // else a history of carries, or kept by a loop around this one for each of its rounds
      // The new carries are the old ones from the second on.
      if (auto kept = historyOf.find(yielded); kept != historyOf.end()) {
        plan.buffers[saved] = {Buffer::Base::Workspace, kept->second, {{Value(), bytes, 1}}};
        intervals[kept->second].end = std::max(intervals[kept->second].end, lastUse(saved));
        continue;
      }
      unsigned slot = newSlot(bytes * stack.countForm(), begin, std::max(end, lastUse(saved)));
      plan.buffers[saved] = {Buffer::Base::Workspace, int64_t(slot), {}};
    }
    if (awaitsPlaceIn(body, yielded)) {
      Buffer place = plan.buffers[saved];
      place.move({body.getArgument(0), bytes, -int64_t(stack.getFirst())});
      plan.buffers[yielded] = place;
    }
  }
}

LogicalResult Planner::placeStack(StackOp stack) {
  Block &body = stack.getBody().front();
  auto yield = cast<YieldOp>(body.getTerminator());
  Value depth = body.getArgument(0);
  unsigned carries = stack.getCarries().size();
  auto [begin, end] = at[stack];
  AffineExpr count = stack.countForm();
  const bool endsEarly = mayEndEarly(stack);
  DenseMap<Value, int64_t> historyOf; // for placeSaved
  for (unsigned i = 0; i < carries; ++i) {
    BlockArgument carry = body.getArgument(i + 1);
    AffineExpr bytes = tensorBytes(tensorOf(carry));
    OpResult history;
    for (unsigned j = carries; j < stack.getNumResults() && !history; ++j)
      if (yield.getOperand(j) == carry && !stack.getReverse() && !endsEarly) // else the last one lies where no one can say
        history = stack->getResult(j);
    Buffer place{Buffer::Base::Workspace, 0, {}}, fresh;
    if (history) { // the old carries are kept anyway: the new one is the next element
      place.slot = newSlot(bytes * (count + 1), begin, std::max(end, lastUse(history)));
      plan.buffers[history] = place;
      place.steps.push_back({depth, bytes, -int64_t(stack.getFirst())});
      fresh = place;
      ++fresh.steps.back().shift;
    } else {
      place.slot = newSlot(bytes, begin, end);
      fresh = place;
    }
    plan.buffers[carry] = place;
    Value yielded = yield.getOperand(i);
    if (history)
      historyOf.try_emplace(yielded, place.slot);
    for (Value made = yielded; made && awaitsPlaceIn(body, made) && (history || mayWriteCarry(made, carry)); made = startOf(made))
      plan.buffers[made] = fresh;
  }
  placeSaved(stack, historyOf);
  if (failed(placeBlock(body)))
    return failure();
  for (unsigned i = 0; i < carries; ++i)
    placeResult(stack->getResult(i));
  return success();
}

LogicalResult Planner::placeBlock(Block &block) {
  for (Operation &op : block) {
    if (auto stack = dyn_cast<StackOp>(op)) {
      if (failed(placeStack(stack)))
        return failure();
      continue;
    }
    if (auto kernel = dyn_cast<KernelOpInterface>(op); kernel && failed(placeTemporaries(kernel)))
      return failure();
    if (std::optional<Part> part = partOf(&op)) {
      if (auto whole = plan.buffers.find(part->whole); whole != plan.buffers.end()) {
        Buffer buffer = whole->second;
        buffer.move(part->step);
        plan.buffers[op.getResult(0)] = buffer;
      }
      continue;
    }
    if (op.hasTrait<Address>())
      continue;
    if (auto memory = dyn_cast<MemoryOpInterface>(op))
      if (std::optional<Buffer> place = memory.placeOfResult()) {
        plan.buffers[op.getResult(0)] = *place;
        continue;
      }
    for (OpResult result : op.getResults())
      placeResult(result);
  }
  return success();
}

/// First fit at nominal sizes, largest first; the order found there becomes the formulas.
void Planner::pack() {
  auto align = [](int64_t bytes) { return (bytes + 63) / 64 * 64; };
  std::vector<unsigned> order(intervals.size());
  for (unsigned i = 0; i < order.size(); ++i)
    order[i] = i;
  std::vector<int64_t> size, offset(intervals.size(), -1);
  for (const Interval &interval : intervals)
    size.push_back(align(nominalSize(interval.bytes, nominalDim)));
  llvm::sort(order, [&](unsigned a, unsigned b) { return std::pair(-size[a], a) < std::pair(-size[b], b); });
  auto overlaps = [&](unsigned a, unsigned b) {
    return intervals[a].begin <= intervals[b].end && intervals[b].begin <= intervals[a].end;
  };
  std::vector<unsigned> placed;
  for (unsigned slot : order) {
    std::vector<unsigned> others;
    for (unsigned other : placed)
      if (overlaps(slot, other))
        others.push_back(other);
    std::sort(others.begin(), others.end(), [&](unsigned a, unsigned b) { return offset[a] < offset[b]; });
    int64_t at = 0;
    for (unsigned other : others) {
      if (offset[other] - at >= size[slot])
        break;
      at = std::max(at, offset[other] + size[other]);
    }
    offset[slot] = at;
    placed.push_back(slot);
  }
  // `bind` evaluates slots in order: lower ones first.
  llvm::sort(order,
             [&](unsigned a, unsigned b) { return std::tuple(offset[a], -size[a], a) < std::tuple(offset[b], -size[b], b); });
  std::vector<unsigned> position(order.size());
  for (unsigned i = 0; i < order.size(); ++i)
    position[order[i]] = i;
  std::vector<MemoryPlan::Slot> slots;
  std::vector<llvm::BitVector> below; // of each slot, directly or through others
  const int64_t border = endOfForward();
  for (unsigned slot : order) {
    MemoryPlan::Slot result{intervals[slot].bytes, {}, intervals[slot].contains(border), intervals[slot].temporary};
    llvm::BitVector reached(order.size());
    for (unsigned i = slots.size(); i-- > 0;)
      if (overlaps(slot, order[i]) && !reached.test(i)) { // else a slot between the two keeps them apart already
        result.after.push_back(i);
        reached |= below[i];
        reached.set(i);
      }
    slots.push_back(result);
    below.push_back(reached);
  }
  plan.slots = slots;
  for (auto &[value, buffer] : plan.buffers)
    if (buffer.base == Buffer::Base::Workspace)
      buffer.slot = plan.stateCount() + position[buffer.slot];
  for (auto &[op, buffers] : plan.temporaries)
    for (Buffer &buffer : buffers)
      buffer.slot = plan.stateCount() + position[buffer.slot];
}

/// The number of the op that brings the loss out, or -1 in a function that is not differentiated.
int64_t Planner::endOfForward() {
  if (auto kind = function->getAttrOfType<StringAttr>("tenon.kind"); !kind || kind.getValue() != "train")
    return -1;
  for (OutputOp output : function.getBody().front().getOps<OutputOp>())
    if (output.getIndex() == 0)
      return at[output].first;
  return -1;
}

FailureOr<MemoryPlan> Planner::run() {
  readStates(function, plan);
  number(function.getBody().front());
  if (failed(placeBlock(function.getBody().front())))
    return failure();
  pack();
  return std::move(plan);
}

} // namespace

FailureOr<MemoryPlan> planMemory(func::FuncOp function, const Target &target, int64_t nominalDim) {
  return Planner(function, target, nominalDim).run();
}

} // namespace tenon
