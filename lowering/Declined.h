// How a rewrite that walks the code by itself says why it leaves an op as it is; patterns say it by notifyMatchFailure.
#pragma once
#include "mlir/IR/Operation.h"
#include "mlir/IR/Remarks.h"

namespace tenon {

/// The sentence is a missed remark of MLIR, whose category is the name of the rewrite: `tenon-opt --remark-format=emitRemark
/// --remarks-filter-missed=REWRITE` shows it. Returns false: nothing was rewritten.
inline bool declined(mlir::Operation *op, llvm::StringRef rewrite, llvm::StringRef why) {
  mlir::remark::missed(op->getLoc(), mlir::remark::RemarkOpts::name("declined").category(rewrite)) << why;
  return false;
}

} // namespace tenon
