// What the target has no kernel for, in simpler ops. See Passes.td.
#include "dialect/ElementModel.h"
#include "dialect/Refusal.h"
#include "lowering/Passes.h"
#include "lowering/kernel/ValuesInMemory.h"
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

  /// The ops that an op was taken apart into, and why; the reason is empty where that was wished for.
  struct Parts {
    Location place;
    std::string reason;
    SmallVector<Operation *> ops;
    SmallVector<Value> results; // in place of its own
  };
  SmallVector<Parts> apart;

  /// The largest tensor that exists only because the op was taken apart, in bytes at nominal sizes: of what is repeated, compared
  /// or otherwise computed where it is read there is none.
  static int64_t largest(const Parts &parts, const DenseSet<Value> &inMemory) {
    int64_t bytes = 0;
    for (Operation *made : parts.ops)
      for (Value value : made->getResults())
        if (auto tensor = dyn_cast<RankedTensorType>(value.getType()); tensor && !llvm::is_contained(parts.results, value) &&
                                                                       !isAddress(made) &&
                                                                       (isKernel(made) || inMemory.contains(value)))
          bytes = std::max(bytes, nominalSize(tensorBytes(tensor)));
    return bytes;
  }
  void warn() {
    if (llvm::all_of(apart, [](const Parts &parts) { return parts.reason.empty(); }))
      return;
    const DenseSet<Value> inMemory = valuesInMemory(getOperation(), true);
    for (const Parts &parts : apart) {
      if (parts.reason.empty())
        continue;
      InFlightDiagnostic warning = emitWarning(parts.place, parts.reason) << kInSimplerOps;
      if (const int64_t bytes = largest(parts, inMemory); bytes > 0)
        warning << "it takes tensors of up to " << bytes << " bytes (every symbolic dim " << kNominalDim << ")";
      else
        warning << "it stores no tensor more";
    }
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
    Parts &parts = apart.emplace_back(Parts{kernel.getLoc(), reason, {}, values});
    for (Operation *made = before ? before->getNextNode() : &kernel->getBlock()->front(); made != kernel;
         made = made->getNextNode())
      parts.ops.push_back(made);
    for (auto [result, value] : llvm::zip_equal(kernel->getResults(), values))
      if (value)
        result.replaceAllUsesWith(value);
    kernel->erase();
    return success();
  }

  bool isTakenApart(StringRef name) {
    return name == "all" || llvm::any_of(getContext().getRegisteredOperations(), [&](RegisteredOperationName op) {
             return op.stripDialect() == name && op.hasInterface<DecomposableOpInterface>();
           });
  }

  void runOnOperation() override {
    const Target *chosen = findTarget(target);
    if (!chosen) {
      getOperation().emitOpError("expects the name of a target, got ") << target;
      return signalPassFailure();
    }
    for (const std::string &name : without)
      if (!isTakenApart(name)) {
        getOperation().emitOpError("expects in `without` the names of ops that can be taken apart, or all, got ") << name;
        return signalPassFailure();
      }
    apart.clear();
    SmallVector<std::pair<KernelOpInterface, std::string>> refused;
    getOperation().walk([&](KernelOpInterface kernel) {
      if (std::optional<std::string> reason = reasonAgainst(*chosen, kernel))
        refused.emplace_back(kernel, *reason);
    });
    for (auto &[kernel, reason] : refused)
      if (failed(takeApart(kernel, reason)))
        return signalPassFailure();
    warn();
  }
};

} // namespace
} // namespace tenon
