// For which scalars of the kernel form there is code in a thread, before there is any.
#include "dialect/Refusal.h"
#include "lowering/code/KernelScalars.h"
#include "lowering/code/RealFunctions.h"
#include "lowering/gpu/ScalarCode.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;

namespace tenon::gpu {

/// Elements of 16 bits are moved, chosen, widened to f32 and rounded from it; whatever else the op does with some would round at
/// other places than the CPU.
static bool computesShortly(Operation &op) {
  auto isShort = [](Type type) { return isShortReal(type); };
  const bool reads = llvm::any_of(op.getOperandTypes(), isShort), makes = llvm::any_of(op.getResultTypes(), isShort);
  if (!(reads || makes) || isa<arith::SelectOp, arith::BitcastOp>(op))
    return false;
  if (isa<arith::ExtFOp>(op))
    return !op.getResult(0).getType().isF32();
  return !(isa<arith::TruncFOp>(op) && op.getOperand(0).getType().isF32());
}

bool isInstruction(Operation &op) { return isa_and_nonnull<arith::ArithDialect>(op.getDialect()) || isMathInstruction(op); }

bool hasCode(Operation &op) { return isInstruction(op) || isa<math::RsqrtOp>(op) || hasRealFunction(op); }

static LogicalResult checkScalar(Operation &op) {
  if (isOfEveryTarget(op))
    return success();
  if (auto fold = dyn_cast<FoldOp>(op)) {
    if (const Type type = fold.getType(); type.isIndex() || isShortReal(type))
      return notSupported(fold) << "a fold of " << type;
    return success();
  }
  if (computesShortly(op))
    return notSupported(&op) << op.getName() << " of elements of 16 bits in a GPU kernel";
  if (op.getNumResults() == 1 && hasCode(op))
    return success();
  if (isa_and_nonnull<math::MathDialect>(op.getDialect()))
    return notSupported(&op) << op.getName() << " of " << op.getOperand(0).getType() << " in a GPU kernel";
  return notSupported(&op) << op.getName() << " in a GPU kernel";
}

LogicalResult checkScalars(Operation *kernel) { return checkScalarsOf(kernel, checkScalar); }

} // namespace tenon::gpu
