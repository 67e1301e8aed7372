#include "lowering/code/KernelScalars.h"
#include "dialect/TenonDialect.h"
#include "dialect/Traits.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;

namespace tenon {

bool isOfEveryTarget(Operation &op) {
  return isa<arith::ConstantOp, SizeValueOp, AtOp, PutOp, EachOp, RandomKeepOp, RandomBitsOp, YieldOp>(op);
}

bool isMathInstruction(Operation &op) {
  return isa<math::SqrtOp, math::AbsFOp, math::AbsIOp, math::FmaOp, math::RoundEvenOp, math::FloorOp, math::CeilOp>(op);
}

LogicalResult checkScalarsOf(Operation *kernel, llvm::function_ref<LogicalResult(Operation &)> check) {
  llvm::DenseSet<Operation *> outside;
  auto checkAll = [&](auto &self, Operation *root) -> LogicalResult {
    WalkResult result = root->walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (op != kernel && failed(check(*op)))
        return WalkResult::interrupt();
      for (Value operand : op->getOperands()) {
        Operation *maker = operand.getDefiningOp();
        if (maker && isScalarCode(maker) && !kernel->isAncestor(maker) && outside.insert(maker).second &&
            failed(self(self, maker)))
          return WalkResult::interrupt();
      }
      return WalkResult::advance();
    });
    return failure(result.wasInterrupted());
  };
  return checkAll(checkAll, kernel);
}

} // namespace tenon
