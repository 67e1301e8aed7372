#include "lowering/ValuesInMemory.h"
#include "dialect/Build.h"

using namespace mlir;

namespace tenon {

bool isKernel(Operation *op) {
  return isa<DotOp, AttentionOp, AttentionGradOp, ScatterAddOp, RunningSumOp, StackOp, YieldOp, OutputOp, WriteGradientOp, WriteStateOp, AppendStateOp, OptimizeOp>(op);
}
bool isElementwise(Operation *op) {
  return isa<NegOp, ExpOp, LogOp, SqrtOp, AbsOp, SinOp, CosOp, TanhOp, SigmoidOp, ReluOp, GeluOp, GeluTanhOp, NotOp, AddOp, SubOp, MulOp, DivOp, PowOp, MaxOp,
             MinOp, FloorDivOp, ModOp, AndOp, OrOp, CompareOp, SelectOp, ConvertOp>(op);
}
bool isAddress(Operation *op) { return isa<ReadParameterOp, ReadStateOp, AtDepthOp>(op); }
bool isRowResult(Value value) {
  Operation *op = value.getDefiningOp();
  if (auto reduce = dyn_cast_or_null<ReduceOp>(op))
    return reduce.getDims().back() + 1 == tensorOf(reduce.getX()).getRank();
  return isa_and_nonnull<CrossEntropyOp>(op) || (isa_and_nonnull<NormalizeOp>(op) && cast<OpResult>(value).getResultNumber() > 0);
}

namespace {

bool isSource(Operation *op) { return isa<ConstantOp, SizeOp, IotaOp, DepthValueOp>(op); }
/// Ops that read their operand several times along rows.
bool isRowOp(Operation *op) { return isa<NormalizeOp, NormalizeGradOp, SoftmaxOp, CrossEntropyOp, CrossEntropyGradOp>(op); }
/// Rough cost of computing one element again, in additions.
unsigned costOf(Operation *op) {
  if (isSource(op) || isa<BroadcastOp, SliceOp, ReshapeOp>(op))
    return 0;
  if (isa<ExpOp, LogOp, SinOp, CosOp, TanhOp, SigmoidOp, GeluOp, GeluTanhOp, ActivationGradOp, PowOp>(op))
    return 12;
  if (isa<DropoutOp>(op))
    return 30;
  if (isa<SinusoidOp>(op))
    return 60;
  return isa<DivOp, SqrtOp, GatherOp, ConcatOp, PadOp>(op) ? 3 : 1;
}

/// Decides block by block in the order of the ops, so that what a value is computed from is decided before the value.
class MemoryChoice {
public:
  MemoryChoice(bool fuse, llvm::DenseSet<Value> &inMemory) : fuse(fuse), inMemory(inMemory) {}
  void decide(Block &block);

private:
  /// Of computing an element again: the cost of what is computed, and the code; in additions, up to kLimit.
  struct Tree {
    unsigned cost = 0, code = 0;
  };
  static constexpr unsigned kLimit = 1000;
  bool needsMemory(Value value);
  Tree treeOf(Value value);
  unsigned costOfTree(Value value) { return treeOf(value).cost; }

  bool fuse;
  llvm::DenseSet<Value> &inMemory;
  DenseMap<Value, Tree> trees; // per value that has no memory
};

MemoryChoice::Tree MemoryChoice::treeOf(Value value) {
  Operation *op = value.getDefiningOp();
  if (!op || isKernel(op) || isAddress(op) || inMemory.contains(value))
    return {};
  if (auto it = trees.find(value); it != trees.end())
    return it->second;
  Tree tree{costOf(op), codeOf(op)};
  for (Value operand : op->getOperands())
    if (isa<RankedTensorType>(operand.getType())) {
      const Tree below = treeOf(operand);
      tree = {std::min(kLimit, tree.cost + below.cost), std::min(kLimit, tree.code + below.code)};
    }
  return trees[value] = tree;
}

bool MemoryChoice::needsMemory(Value value) {
  Operation *op = value.getDefiningOp();
  if (value.use_empty())
    return false;
  if (!fuse)
    return !isSource(op) || llvm::any_of(value.getUsers(), isKernel);
  if (isa<ReduceOp, SoftmaxOp>(op) || isRowResult(value) || treeOf(value).code > kMostCodeOfKernel)
    return true;
  // The gradient of a maximum looks for the elements that equal it: they have to be the numbers it was taken of, not numbers computed once more.
  auto seeksEqual = [](Operation *user) {
    auto compare = dyn_cast<CompareOp>(user);
    return compare && compare.getKind() == Comparison::eq && isa<FloatType>(tensorOf(compare.getA()).getElementType());
  };
  if (llvm::any_of(value.getUsers(), seeksEqual) && costOfTree(value) > 0)
    return true;
  unsigned users = 0;
  bool repeated = false;
  llvm::SmallPtrSet<Operation *, 4> seen;
  for (Operation *user : value.getUsers()) {
    if (isKernel(user))
      return true;
    bool outside = user->getBlock() != op->getBlock();
    if (outside && !isSource(op))
      return true;
    if (isRowOp(user) && costOfTree(value) > 0 && !isSource(op))
      return true;
    if (auto broadcast = dyn_cast<BroadcastOp>(user))
      repeated |= tensorOf(broadcast.getX()).getRank() < tensorOf(broadcast.getY()).getRank();
    users += seen.insert(user).second;
  }
  unsigned cost = costOfTree(value);
  if (isa<NormalizeOp, NormalizeGradOp, CrossEntropyGradOp>(op))
    return users > 1;
  return (users > 1 && cost * (users - 1) > 6) || (repeated && cost > 2);
}

void MemoryChoice::decide(Block &block) {
  for (Operation &op : block) {
    for (Region &region : op.getRegions())
      for (Block &inner : region)
        decide(inner);
    if (isKernel(&op) || isAddress(&op))
      continue;
    for (Value result : op.getResults())
      if (isa<RankedTensorType>(result.getType()) && needsMemory(result))
        inMemory.insert(result);
  }
}

} // namespace

unsigned codeOf(Operation *op) { return std::max(1u, costOf(op)); }

llvm::DenseSet<Value> valuesInMemory(func::FuncOp function, bool fuse) {
  llvm::DenseSet<Value> inMemory;
  MemoryChoice(fuse, inMemory).decide(function.getBody().front());
  return inMemory;
}

} // namespace tenon
