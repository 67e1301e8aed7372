#include "lowering/kernel/ValuesInMemory.h"
#include "dialect/Build.h"
#include "lowering/target/Target.h"

using namespace mlir;

namespace tenon {

bool isAddress(Operation *op) { return op->hasTrait<Address>(); }

bool isKernel(Operation *op) {
  if (isa<KernelOpInterface>(op) || op->hasTrait<Contraction>())
    return true;
  if (isa<ElementOpInterface>(op) || isAddress(op))
    return false;
  auto isTensor = [](Type type) { return isa<RankedTensorType>(type); };
  return op->getNumRegions() > 0 || llvm::any_of(op->getOperandTypes(), isTensor) || llvm::any_of(op->getResultTypes(), isTensor);
}

bool isRowResult(Value value) {
  auto op = value.getDefiningOp<ElementOpInterface>();
  return op && op.isRowResult(cast<OpResult>(value).getResultNumber());
}

/// How much code one element of this op is, in additions; at least 1. What takes a pass over a row is code of its own.
unsigned codeOf(Operation *op) {
  auto element = dyn_cast<ElementOpInterface>(op);
  const unsigned cost = element ? element.elementCost() : 1;
  return cost >= kCostOfRow ? 1 : std::max(1u, cost);
}

namespace {

/// A source that costs nothing; a table of sines is none.
bool isFreeSource(Operation *op) { return op->hasTrait<ElementSource>() && cast<ElementOpInterface>(op).elementCost() == 0; }
unsigned costOf(Operation *op) {
  auto element = dyn_cast<ElementOpInterface>(op);
  return element ? element.elementCost() : 1;
}

/// Decides block by block in the order of the ops, so that what a value is computed from is decided before the value.
class MemoryChoice {
public:
  MemoryChoice(bool fuse, const Target &target, llvm::DenseSet<Value> &inMemory)
      : fuse(fuse), mostCostOfOperand(target.mostCostOfOperand()), mostCostInRows(target.waitsForMemory() ? 2 : 0),
        inMemory(inMemory) {}
  void decide(Block &block);

private:
  /// Of computing an element again: the cost of what is computed, and the code; in additions, up to kLimit.
  struct Tree {
    unsigned cost = 0, code = 0;
    bool readsRows = false; // with every element, a pass over a row
  };
  static constexpr unsigned kLimit = kCostOfRow;
  bool needsMemory(Value value);
  bool isOperandCode(Value value);
  bool isReadEnlarged(Value value);
  bool isReadInRanges(Value value);
  bool isReadWhereItLies(Operation *join);
  bool couldJoinItsMaker(Value value);
  bool isAddedToProduct(Value value);
  bool isComputedInRows(Value value);
  Tree treeOf(Value value);
  unsigned costOfTree(Value value) { return treeOf(value).cost; }

  bool fuse;
  unsigned mostCostOfOperand; // in all contractions
  unsigned mostCostInRows;    // where an element is read: of one that is widened or scaled
  llvm::DenseSet<Value> &inMemory;
  DenseMap<Value, Tree> trees; // per value that has no memory
};

/// Whether an elementwise kernel of `value` would run in the kernel that makes what it reads, and so cost nothing of its own.
bool MemoryChoice::couldJoinItsMaker(Value value) {
  Operation *op = value.getDefiningOp();
  if (!op)
    return false;
  if (isKernel(op) || inMemory.contains(value) || op->hasTrait<ReadsRows>()) // there is a pass over the rows
    return true;
  return (op->hasTrait<Elementwise>() || isAddress(op)) && llvm::any_of(op->getOperands(), [&](Value operand) {
           return isa<RankedTensorType>(operand.getType()) && operand.getParentBlock() == op->getBlock() &&
                  couldJoinItsMaker(operand);
         });
}

static bool isEnlarged(Operation *op) {
  auto element = dyn_cast<ElementOpInterface>(op);
  return element && element.enlargesOperand();
}
/// Whether something that gets no memory repeats what an element of it costs.
bool MemoryChoice::isReadEnlarged(Value value) {
  return costOfTree(value) > 0 && !isFreeSource(value.getDefiningOp()) && llvm::any_of(value.getUsers(), [](Operation *user) {
           return isEnlarged(user) && cast<ElementOpInterface>(user).repeatsOperand();
         });
}

/// Whether contractions beside it are all that needs it in memory, and its elements are those of several tensors: each is read
/// where it lies, as if they had been joined.
static bool isJoinOfContractions(Operation *op) {
  auto isContraction = [&](Operation *user) { return user->hasTrait<Contraction>() && user->getBlock() == op->getBlock(); };
  return op->hasTrait<Moves>() && op->getNumOperands() > 1 && llvm::any_of(op->getUsers(), isContraction) &&
         llvm::all_of(op->getUsers(), [&](Operation *user) { return isContraction(user) || !isKernel(user); });
}
bool MemoryChoice::isReadWhereItLies(Operation *join) { return mostCostOfOperand > 0 && isJoinOfContractions(join); }
/// Whether something is read as a part of what is joined, and has to lie somewhere for it.
bool MemoryChoice::isReadInRanges(Value value) {
  return costOfTree(value) > 0 && llvm::any_of(value.getUsers(), [&](Operation *user) {
           return user->getBlock() == value.getParentBlock() && isReadWhereItLies(user);
         });
}

/// What contractions compute where they would pack it, instead of reading it from memory.
bool MemoryChoice::isOperandCode(Value value) {
  Operation *op = value.getDefiningOp();
  if (!isa<FloatType>(
          cast<RankedTensorType>(value.getType()).getElementType())) // a condition is read before it is known what is packed
    return false;
  if (isEnlarged(op))
    return true;
  if (isReadWhereItLies(op) && costOfTree(value) == costOf(op))
    return true;
  unsigned contractions = 0;
  for (Operation *user : value.getUsers())
    contractions += user->hasTrait<Contraction>() && user->getBlock() == op->getBlock();
  return (contractions == 1 || contractions == 2) && contractions * costOfTree(value) <= mostCostOfOperand &&
         !treeOf(value).readsRows && !couldJoinItsMaker(value);
}

/// Whether what reads `value` may run behind the sums of a contraction: a pass over rows there would be made for every element.
bool MemoryChoice::isAddedToProduct(Value value) {
  llvm::SmallPtrSet<Operation *, 8> seen;
  auto isProduct = [&](auto &self, Value other) -> bool {
    Operation *op = other.getDefiningOp();
    if (!op || op->getBlock() != value.getParentBlock() || inMemory.contains(other) || !seen.insert(op).second)
      return false;
    return op->hasTrait<Contraction>() ||
           (op->hasTrait<Elementwise>() && llvm::any_of(op->getOperands(), [&](Value operand) { return self(self, operand); }));
  };
  return llvm::any_of(value.getUsers(), [&](Operation *user) {
    return user->hasTrait<Elementwise>() &&
           llvm::any_of(user->getOperands(), [&](Value other) { return other != value && isProduct(isProduct, other); });
  });
}

/// Whether passes over rows compute it where they read it: of one tensor of its size, which is in memory for something else too.
/// Behind the sums of a contraction it costs nothing.
bool MemoryChoice::isComputedInRows(Value value) {
  if (costOfTree(value) > mostCostInRows || treeOf(value).readsRows)
    return false;
  const SmallVector<AffineExpr> shape = sizesOf(tensorOf(value));
  SmallVector<Value> work{value};
  llvm::SmallPtrSet<Value, 4> read;
  while (!work.empty()) {
    Value one = work.pop_back_val();
    Operation *op = one.getDefiningOp();
    if (op && !isKernel(op) && !isAddress(op) && !inMemory.contains(one)) {
      llvm::copy_if(op->getOperands(), std::back_inserter(work), [](Value of) { return isa<RankedTensorType>(of.getType()); });
      continue;
    }
    if (op && op->hasTrait<Contraction>() && one.hasOneUse())
      return false;
    if (SmallVector<AffineExpr>(sizesOf(tensorOf(one))) == shape)
      read.insert(one);
  }
  return read.size() <= 1;
}

MemoryChoice::Tree MemoryChoice::treeOf(Value value) {
  Operation *op = value.getDefiningOp();
  if (!op || isKernel(op) || isAddress(op) || inMemory.contains(value))
    return {};
  if (auto it = trees.find(value); it != trees.end())
    return it->second;
  Tree tree{costOf(op), codeOf(op), op->hasTrait<ReadsRows>()};
  for (Value operand : op->getOperands())
    if (isa<RankedTensorType>(operand.getType())) {
      const Tree below = treeOf(operand);
      tree = {std::min(kLimit, tree.cost + below.cost), std::min(kLimit, tree.code + below.code),
              tree.readsRows || below.readsRows};
    }
  return trees[value] = tree;
}

bool MemoryChoice::needsMemory(Value value) {
  Operation *op = value.getDefiningOp();
  if (value.use_empty())
    return false;
  if (!fuse)
    return !isFreeSource(op) || llvm::any_of(value.getUsers(), isKernel);
  if (costOf(op) >= kCostOfRow || isRowResult(value) || treeOf(value).code > kMostCodeOfKernel)
    return true;
  auto isCompared = [](Operation *user) {
    auto element = dyn_cast<ElementOpInterface>(user);
    return element && element.comparesExactly();
  };
  if (llvm::any_of(value.getUsers(), isCompared) && costOfTree(value) > 0)
    return true;
  if (isReadEnlarged(value) || isReadInRanges(value))
    return true;
  const bool isComputed = isOperandCode(value);
  if (treeOf(value).readsRows && isAddedToProduct(value))
    return true;
  unsigned users = 0;
  bool repeated = false;
  llvm::SmallPtrSet<Operation *, 4> seen;
  for (Operation *user : value.getUsers()) {
    if (isComputed && user->hasTrait<Contraction>() && user->getBlock() == op->getBlock())
      continue;
    if (isKernel(user))
      return true;
    bool outside = user->getBlock() != op->getBlock();
    if (outside && !isFreeSource(op))
      return true;
    if (user->hasTrait<ReadsRows>() && costOfTree(value) > 0 && !isFreeSource(op) && !isComputedInRows(value))
      return true;
    if (auto element = dyn_cast<ElementOpInterface>(user)) {
      repeated |= element.repeatsOperand();
      if (treeOf(value).readsRows && !element.keepsRows())
        return true;
    }
    users += seen.insert(user).second;
  }
  unsigned cost = costOfTree(value);
  // What its rows give is there. Read from memory, a value is one tensor; computed again, it is those that its passes over rows
  // read, each pass and what goes with it.
  if (op->hasTrait<ReadsRows>() || (treeOf(value).readsRows && mostCostInRows > 0))
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

llvm::DenseSet<Value> valuesInMemory(func::FuncOp function, bool fuse, const Target &target) {
  llvm::DenseSet<Value> inMemory;
  MemoryChoice(fuse, target, inMemory).decide(function.getBody().front());
  return inMemory;
}

} // namespace tenon
