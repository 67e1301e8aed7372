#include "lowering/artifact/LowerFlow.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Rewrite/PatternApplicator.h"
#include "llvm/Support/ErrorHandling.h"

using namespace mlir;

namespace tenon {
namespace {

/// MLIR's passes use the same patterns under the driver of dialect conversions, which records each operation that moves to
/// another block: that took a tenth of the compiler's time. Every operation here has one pattern that always matches, and what it
/// makes needs none, so each is visited once, outer ones first: the pattern of a while loop wants bodies of one block.
struct LowerFlowPass : PassWrapper<LowerFlowPass, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(LowerFlowPass)
  StringRef getArgument() const override { return "tenon-lower-flow"; }
  StringRef getDescription() const override { return "loops and branches become blocks; arith becomes what LLVM has"; }
  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<arith::ArithDialect, cf::ControlFlowDialect>();
  }

  void runOnOperation() override {
    RewritePatternSet set(&getContext());
    populateSCFToControlFlowConversionPatterns(set);
    arith::populateArithExpandOpsPatterns(set);
    const FrozenRewritePatternSet patterns(std::move(set));
    PatternApplicator applicator(patterns);
    applicator.applyDefaultCostModel();
    SmallVector<Operation *> ops;
    getOperation().walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (patterns.getOpSpecificNativePatterns().contains(op->getName()))
        ops.push_back(op);
    });
    PatternRewriter rewriter(&getContext()); // nobody listens: a block that is split moves as a whole
    for (Operation *op : ops)
      if (failed(applicator.matchAndRewrite(op, rewriter)))
        llvm::reportFatalInternalError("a pattern of MLIR did not match " + llvm::Twine(op->getName().getStringRef()));
  }
};

} // namespace

std::unique_ptr<Pass> createLowerFlowPass() { return std::make_unique<LowerFlowPass>(); }

} // namespace tenon
