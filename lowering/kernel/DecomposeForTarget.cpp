// What the target has no kernel for, in simpler ops. See Passes.td.
#include "dialect/ElementModel.h"
#include "dialect/Refusal.h"
#include "lowering/Passes.h"
#include "lowering/target/Target.h"

using namespace mlir;

namespace tenon {
#define GEN_PASS_DEF_DECOMPOSEFORTARGET
#include "lowering/Passes.h.inc"

namespace {

struct DecomposeForTarget : impl::DecomposeForTargetBase<DecomposeForTarget> {
  using DecomposeForTargetBase::DecomposeForTargetBase;

  /// Why the kernel is not to be used, or nothing.
  std::optional<std::string> reasonAgainst(const Target &chosen, KernelOpInterface kernel) {
    StringRef mnemonic = kernel->getName().stripDialect();
    if (llvm::is_contained(without, "all") || llvm::is_contained(without, mnemonic))
      return std::string(); // wished for: nothing to say
    return chosen.refuses(kernel);
  }

  /// The largest tensor that exists only because the op was taken apart, in bytes at nominal sizes.
  static int64_t largest(Operation *before, Operation *op) {
    int64_t bytes = 0;
    for (Operation *made = before ? before->getNextNode() : &op->getBlock()->front(); made != op; made = made->getNextNode())
      for (Type type : made->getResultTypes())
        if (auto tensor = dyn_cast<RankedTensorType>(type))
          bytes = std::max(bytes, nominalSize(tensorBytes(tensor)));
    return bytes;
  }

  LogicalResult takeApart(KernelOpInterface kernel, const std::string &reason) {
    auto fused = dyn_cast<DecomposableOpInterface>(kernel.getOperation());
    if (!fused)
      return success(); // the target says so itself when the op gets to it
    Operation *before = kernel->getPrevNode();
    OpBuilder builder(kernel);
    KeepCompute keep(builder, kernel);
    SmallVector<Value> values = fused.decompose(builder);
    if (values.empty())
      return notSupported(kernel) << kernel->getName() << " in simpler ops: its step has one that the tensor form lacks";
    if (!reason.empty())
      emitWarning(kernel.getLoc(), reason) << "; in simpler ops it takes tensors of up to " << largest(before, kernel)
                                           << " bytes (every symbolic dim " << kNominalDim << ")";
    for (auto [result, value] : llvm::zip_equal(kernel->getResults(), values))
      if (value)
        result.replaceAllUsesWith(value);
    kernel->erase();
    return success();
  }

  void runOnOperation() override {
    const Target *chosen = findTarget(target);
    if (!chosen) {
      getOperation().emitOpError("expects the name of a target, got ") << target;
      return signalPassFailure();
    }
    SmallVector<std::pair<KernelOpInterface, std::string>> refused;
    getOperation().walk([&](KernelOpInterface kernel) {
      if (std::optional<std::string> reason = reasonAgainst(*chosen, kernel))
        refused.emplace_back(kernel, *reason);
    });
    for (auto &[kernel, reason] : refused)
      if (failed(takeApart(kernel, reason)))
        return signalPassFailure();
  }
};

} // namespace
} // namespace tenon
