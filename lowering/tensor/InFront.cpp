#include "lowering/tensor/InFront.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace tenon {

/// Adds what `value` is made of from `op` on, in the order of what reads what. False: that cannot be moved.
static bool collectBehind(Value value, Operation *op, llvm::SetVector<Operation *> &found) {
  Operation *maker = value.getDefiningOp();
  if (!maker || maker->getBlock() != op->getBlock() || maker->isBeforeInBlock(op) || found.contains(maker))
    return true;
  if (maker == op || !isPure(maker) || maker->getNumRegions() > 0 ||
      !llvm::all_of(maker->getOperands(), [&](Value operand) { return collectBehind(operand, op, found); }))
    return false;
  return found.insert(maker);
}

bool comeInFront(Value value, Operation *op) {
  llvm::SetVector<Operation *> behind;
  if (!collectBehind(value, op, behind))
    return false;
  for (Operation *maker : behind)
    maker->moveBefore(op);
  return true;
}

} // namespace tenon
