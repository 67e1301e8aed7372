// What the target has no kernel for, in simpler ops. See Passes.td.
#include "dialect/ElementModel.h"
#include "lowering/Passes.h"
#include "lowering/kernel/ValuesInMemory.h"
#include "lowering/target/Target.h"
#include "lowering/tensor/ApplyNumerics.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace tenon {
#define GEN_PASS_DEF_DECOMPOSEFORTARGET
#include "lowering/Passes.h.inc"

namespace {

/// A function as mixed precision will have it: a copy, since what is taken apart is rounded by the rules of its parts.
class TypedCopy {
public:
  explicit TypedCopy(func::FuncOp function) : module(ModuleOp::create(function.getLoc())) {
    auto source = function->getParentOfType<ModuleOp>();
    module->getOperation()->setAttrs(source->getAttrDictionary());
    OpBuilder builder(module->getBodyRegion());
    for (auto parameter : source.getOps<ParameterOp>())
      builder.clone(*parameter);
    copy = cast<func::FuncOp>(builder.clone(*function, copies));
  }
  /// Before types are applied: the copy of an op.
  Operation *of(Operation *op) const { return copies.lookup(op); }
  func::FuncOp apply() {
    applyNumerics(copy);
    return copy;
  }

private:
  OwningOpRef<ModuleOp> module;
  IRMapping copies;
  func::FuncOp copy;
};

/// On ops of a copy: the number of what they are a part of.
constexpr llvm::StringLiteral kPart = "tenon.part";

struct DecomposeForTarget : impl::DecomposeForTargetBase<DecomposeForTarget> {
  using DecomposeForTargetBase::DecomposeForTargetBase;

  /// Why the kernel is not to be used, or nothing. `typed`: the same in the types that it will have.
  std::optional<std::string> reasonAgainst(const Target &chosen, Operation *typed) {
    StringRef mnemonic = typed->getName().stripDialect();
    if (llvm::is_contained(without, "all") || llvm::is_contained(without, mnemonic))
      return std::string(); // wished for: nothing to say
    if (auto kernel = dyn_cast<KernelOpInterface>(typed))
      return chosen.refuses(kernel);
    if (chosen.leavesProductsOut())
      return std::nullopt;
    return "not supported yet: contractions of " + chosen.name().str() + " without what a condition leaves out";
  }
  /// Whether a target may have no kernel for it: a contraction that can be taken apart, and all other kernels of the tensor form.
  static bool mayBeRefused(Operation *op) {
    return isa<KernelOpInterface>(op) || (op->hasTrait<Contraction>() && isa<DecomposableOpInterface>(op));
  }

  /// The ops that an op was taken apart into, and why; the reason is empty where that was wished for.
  struct Parts {
    Location place;
    std::string reason;
    SmallVector<Operation *> ops;
    SmallVector<Value> results; // in place of its own
  };
  SmallVector<Parts> apart;

  /// Of each op that was taken apart, the largest tensor that exists only because of that, in bytes at nominal sizes: of what is
  /// repeated, compared or otherwise computed where it is read there is none.
  SmallVector<int64_t> largest() {
    TypedCopy copy(getOperation());
    Builder builder(&getContext());
    for (auto [number, parts] : llvm::enumerate(apart))
      for (Operation *made : parts.ops)
        if (auto isOwn = [&](Value value) { return llvm::is_contained(parts.results, value); };
            !isAddress(made) && llvm::none_of(made->getResults(), isOwn))
          copy.of(made)->setAttr(kPart, builder.getI64IntegerAttr(number));
    func::FuncOp typed = copy.apply();
    const DenseSet<Value> inMemory = valuesInMemory(typed, true, *findTarget(target));
    SmallVector<int64_t> bytes(apart.size());
    typed.walk([&](Operation *op) {
      auto number = op->getAttrOfType<IntegerAttr>(kPart);
      if (!number)
        return;
      for (Value value : op->getResults())
        if (auto tensor = dyn_cast<RankedTensorType>(value.getType()); tensor && (isKernel(op) || inMemory.contains(value)))
          bytes[number.getInt()] = std::max(bytes[number.getInt()], nominalSize(tensorBytes(tensor)));
    });
    return bytes;
  }
  void warn() {
    if (llvm::all_of(apart, [](const Parts &parts) { return parts.reason.empty(); }))
      return;
    for (auto [parts, bytes] : llvm::zip_equal(apart, largest())) {
      if (parts.reason.empty())
        continue;
      InFlightDiagnostic warning = emitWarning(parts.place, parts.reason) << kInSimplerOps;
      if (bytes > 0)
        warning << "it takes tensors of up to " << bytes << " bytes (every symbolic dim " << kNominalDim << ")";
      else
        warning << "it stores no tensor more";
    }
  }

  void takeApart(Operation *kernel, const std::string &reason) {
    auto fused = dyn_cast<DecomposableOpInterface>(kernel);
    if (!fused)
      return; // the target says so itself when the op gets to it
    Operation *before = kernel->getPrevNode();
    OpBuilder builder(kernel);
    KeepCompute keep(builder, kernel);
    SmallVector<Value> values = fused.decompose(builder);
    Parts &parts = apart.emplace_back(Parts{kernel->getLoc(), reason, {}, values});
    for (Operation *made = before ? before->getNextNode() : &kernel->getBlock()->front(); made != kernel;
         made = made->getNextNode())
      parts.ops.push_back(made);
    for (auto [result, value] : llvm::zip_equal(kernel->getResults(), values))
      if (value)
        result.replaceAllUsesWith(value);
    kernel->erase();
  }

  /// Softmax, losses and the like become nests where they stand: there is nothing to do without.
  bool isTakenApart(StringRef name) {
    return name == "all" || llvm::any_of(getContext().getRegisteredOperations(), [&](RegisteredOperationName op) {
             const bool isKernel = op.hasInterface<KernelOpInterface>() || op.hasTrait<Contraction>();
             return op.stripDialect() == name && isKernel && op.hasInterface<DecomposableOpInterface>();
           });
  }

  void runOnOperation() override {
    const Target *chosen = findTarget(target);
    if (!chosen) {
      getOperation().emitOpError("expects the name of a target, got ") << target; // an option
      return signalPassFailure();
    }
    for (const std::string &name : without)
      if (!isTakenApart(name)) {
        getOperation().emitOpError("expects in `without` the names of kernels that can be taken apart, or all, got ")
            << name; // an option
        return signalPassFailure();
      }
    apart.clear();
    SmallVector<std::pair<Operation *, std::string>> refused;
    TypedCopy copy(getOperation());
    SmallVector<std::pair<Operation *, Operation *>> kernels; // and as they will be
    getOperation().walk([&](Operation *op) {
      if (mayBeRefused(op))
        kernels.emplace_back(op, copy.of(op));
    });
    copy.apply();
    for (auto [kernel, typed] : kernels)
      if (std::optional<std::string> reason = reasonAgainst(*chosen, typed))
        refused.emplace_back(kernel, *reason);
    for (auto &[kernel, reason] : refused)
      takeApart(kernel, reason);
    warn();
  }
};

} // namespace
} // namespace tenon
