#include "lowering/kernel/KernelGroups.h"
#include "dialect/Build.h"
#include "dialect/Rounds.h"
#include "lowering/kernel/ValuesInMemory.h"

using namespace mlir;

namespace tenon {

/// Whether everything that `value` reads, inlined at `place`, is known when `root` runs: members of the group at their own place,
/// or memory made before.
bool KernelGroups::readsLegally(Value value, Place place, Operation *root, const llvm::SetVector<Value> &group, Place &groupPlace,
                                unsigned &budget) {
  if (budget-- == 0)
    return false;
  if (group.contains(value)) {
    if (!place || place->size() != groupPlace->size())
      return false;
    groupPlace = place;
    return true;
  }
  Operation *op = value.getDefiningOp();
  if (!op || op->getBlock() != root->getBlock())
    return true;
  if (isKernel(op) || isAddress(op) || inMemory.contains(value)) {
    if (isAddress(op)) { // an address of something made before
      for (Value operand : op->getOperands())
        if (Operation *def = operand.getDefiningOp(); def && def->getBlock() == root->getBlock() && !def->isBeforeInBlock(root))
          return false;
      return true;
    }
    return op->isBeforeInBlock(root) && (isKernel(op) || placed.contains(value));
  }
  auto element = dyn_cast<ElementOpInterface>(op);
  for (OpOperand &operand : op->getOpOperands()) {
    if (!isa<RankedTensorType>(operand.get().getType()))
      continue;
    Place inner = place && element ? element.dimsOf(operand) : std::nullopt;
    if (inner)
      for (int64_t &dim : *inner)
        dim = (*place)[dim];
    if (!readsLegally(operand.get(), inner, root, group, groupPlace, budget))
      return false;
  }
  return true;
}

/// `placeOfGroup`: in, the identity of the group's rank; out, where the candidate reads the group, as indices of the candidate.
bool KernelGroups::fusable(Value candidate, Operation *root, const llvm::SetVector<Value> &group, Place &placeOfGroup) {
  SmallVector<int64_t> own;
  for (int64_t i = 0; i < tensorOf(candidate).getRank(); ++i)
    own.push_back(i);
  Place place = own;
  unsigned budget = 200;
  auto op = cast<ElementOpInterface>(candidate.getDefiningOp());
  auto isTensor = [](OpOperand &operand) { return isa<RankedTensorType>(operand.get().getType()); };
  auto isMapped = [&](OpOperand &operand) { return !isTensor(operand) || op.dimsOf(operand); };
  if (llvm::none_of(op->getOpOperands(), isTensor) || !llvm::all_of(op->getOpOperands(), isMapped))
    return false;
  return readsLegally(candidate, place, root, group, placeOfGroup, budget);
}

/// Adds the ops of `block` that read `value` and have memory themselves, or pass it through ops that have none.
void KernelGroups::reach(Value value, Block *block, OpsInOrder &found) {
  SmallVector<Value> work{value};
  llvm::DenseSet<Value> seen;
  while (!work.empty())
    for (Operation *user : work.pop_back_val().getUsers()) {
      if (user->getBlock() != block || isKernel(user) || isAddress(user))
        continue;
      for (Value result : user->getResults())
        if (inMemory.contains(result))
          found.insert(user);
        else if (seen.insert(result).second)
          work.push_back(result);
    }
}

/// How much code an element of `candidate` is besides that of the group.
unsigned KernelGroups::codeOfMember(Value candidate, const llvm::SetVector<Value> &group) {
  SmallVector<Value> work{candidate};
  llvm::DenseSet<Operation *> seen;
  unsigned code = 0;
  while (!work.empty()) {
    Value value = work.pop_back_val();
    Operation *op = value.getDefiningOp();
    if (!op || isKernel(op) || isAddress(op) || group.contains(value) || (value != candidate && inMemory.contains(value)) ||
        !seen.insert(op).second)
      continue;
    code += codeOf(op);
    llvm::append_range(work, op->getOperands());
  }
  return code;
}

/// Whether a round may end between two ops of its body, the first of which runs in any case.
static bool isSkippedBetween(Operation *first, Operation *second) {
  return isa<StackOp>(first->getParentOp()) && llvm::any_of(first->getBlock()->getOps<SkipOp>(), [&](SkipOp skip) {
           return first->isBeforeInBlock(skip) && skip->isBeforeInBlock(second);
         });
}

SmallVector<Value> KernelGroups::collect(Operation *root, Value value, int64_t rank) {
  llvm::SetVector<Value> group;
  group.insert(value);
  if (!fuse)
    return {};
  SmallVector<Value> fused;
  auto shape = sizesOf(tensorOf(value));
  Place identity = llvm::to_vector(llvm::seq<int64_t>(0, rank));
  OpsInOrder readers;
  reach(value, root->getBlock(), readers);
  for (unsigned code = 0; !readers.empty();) { // those of a member stand behind it
    Operation *op = *readers.begin();
    readers.erase(readers.begin());
    if (op == root || op->getNumResults() != 1 || isSkippedBetween(root, op))
      continue;
    Value candidate = op->getResult(0);
    if (placed.contains(candidate) || group.contains(candidate) || sizesOf(tensorOf(candidate)) != shape)
      continue;
    const unsigned more = codeOfMember(candidate, group);
    if (code + more > kMostCodeOfKernel)
      continue;
    Place at = identity;       // the candidate must read the group at its own indices
    inMemory.erase(candidate); // while it is looked at, it is not a leaf
    bool legal = fusable(candidate, root, group, at) && *at == *identity;
    inMemory.insert(candidate);
    if (!legal)
      continue;
    code += more;
    group.insert(candidate);
    fused.push_back(candidate);
    reach(candidate, root->getBlock(), readers);
  }
  return fused;
}

} // namespace tenon
