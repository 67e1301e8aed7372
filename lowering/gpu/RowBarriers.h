// The barriers of a block that has a row of a nest.
#pragma once
#include "lowering/gpu/Launch.h"

namespace tenon::gpu {

/// Where the threads of a row wait for each other. A result may lie where an operand lies whose element is read before: whatever
/// others still read is read before something is put. Between a row and the next one a barrier is behind the memory in which a
/// fold combines: one that is there for another reason, or that of another fold, will do.
class RowBarriers {
public:
  RowBarriers(KernelCode &code, NestOp nest) : code(code), nest(nest) {}
  void before(mlir::Operation &op) {
    if (isReading && mlir::isa<EachOp, PutOp>(op))
      wait();
  }
  /// `folds`: that combined, each behind a barrier.
  void after(mlir::Operation &op, unsigned folds) {
    auto at = mlir::dyn_cast<AtOp>(op);
    const bool mayBeWritten = at && llvm::is_contained(nest->getResultTypes(), at.getTensor().getType());
    isReading = folds == 0 && (isReading || mayBeWritten || mlir::isa<EachOp, FoldOp>(op));
    isCombining |= folds > 0;
    combined += folds;
  }
  void end() {
    if (combined == 1 && isCombining)
      wait();
  }

private:
  void wait() {
    code.barrier();
    isReading = isCombining = false;
  }
  KernelCode &code;
  NestOp nest;
  bool isReading = false, isCombining = false; // since the last barrier
  unsigned combined = 0;
};

} // namespace tenon::gpu
