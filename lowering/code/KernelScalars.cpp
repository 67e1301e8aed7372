#include "lowering/code/KernelScalars.h"
#include "dialect/Traits.h"

using namespace mlir;

namespace tenon {

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
