// For which scalars of the kernel form there is code in lanes, before there is any.
#include "dialect/Refusal.h"
#include "lowering/code/KernelScalars.h"
#include "lowering/cpu/LaneCode.h"
#include "lowering/cpu/Math.h"
#include "lowering/cpu/ShortReals.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;

namespace tenon::cpu {

/// Elements of 16 bits are moved, chosen, widened and rounded; their bits are bits.
static bool computesShortly(Operation &op) {
  auto isShort = [](Type type) { return isShortReal(type); };
  if (llvm::none_of(op.getOperandTypes(), isShort) && llvm::none_of(op.getResultTypes(), isShort))
    return false;
  return !isa<arith::SelectOp, arith::BitcastOp>(op) && !isShortConversion(op);
}

static LogicalResult checkScalar(Operation &op) {
  if (isOfEveryTarget(op) || isa<RowIfOp>(op))
    return success();
  if (auto fold = dyn_cast<FoldOp>(op)) {
    if (fold.getType().isIndex() || isShortReal(fold.getType()))
      return notSupported(fold) << "a fold of " << fold.getType();
    return success();
  }
  if (computesShortly(op))
    return notSupported(&op) << op.getName() << " of elements of 16 bits in a CPU kernel";
  const bool isArith = op.getNumResults() == 1 && isa_and_nonnull<arith::ArithDialect>(op.getDialect());
  if (isArith || hasMathFunction(op))
    return success();
  return notSupported(&op) << op.getName() << " in a CPU kernel";
}

LogicalResult checkScalars(Operation *kernel) { return checkScalarsOf(kernel, checkScalar); }

} // namespace tenon::cpu
