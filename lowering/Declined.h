// How a rewrite says why it leaves an op as it is: one that walks the code by itself by `declined`, patterns by
// notifyMatchFailure, which DeclinedPatterns hears.
#pragma once
#include "mlir/IR/Operation.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/IR/Remarks.h"

namespace tenon {

/// The sentence is a missed remark of MLIR, whose category is the name of the rewrite: `tenon-opt --remark-format=emitRemark
/// --remarks-filter-missed=REWRITE` shows it. Returns false: nothing was rewritten.
inline bool declined(mlir::Operation *op, llvm::StringRef rewrite, llvm::StringRef why) {
  mlir::remark::missed(op->getLoc(), mlir::remark::RemarkOpts::name("declined").category(rewrite)) << why;
  return false;
}

/// Makes the same remarks of what the patterns of a greedy rewrite say. They are asked of an op as often as it changes.
class DeclinedPatterns : public mlir::RewriterBase::Listener {
public:
  explicit DeclinedPatterns(llvm::StringRef rewrite) : rewrite(rewrite) {}
  void notifyMatchFailure(mlir::Location location, llvm::function_ref<void(mlir::Diagnostic &)> reason) override {
    if (!location.getContext()->getRemarkEngine())
      return;
    mlir::Diagnostic why(location, mlir::DiagnosticSeverity::Remark);
    reason(why);
    mlir::remark::missed(location, mlir::remark::RemarkOpts::name("declined").category(rewrite)) << why.str();
  }

private:
  llvm::StringRef rewrite;
};

} // namespace tenon
