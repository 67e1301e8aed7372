// Which parameters lie in the panels that contractions read. See Passes.td.
#include "dialect/Build.h"
#include "dialect/ElementModel.h"
#include "dialect/Panels.h"
#include "dialect/TenonDialect.h"
#include "lowering/Declined.h"
#include "lowering/Passes.h"
#include "lowering/kernel/PackOperands.h"
#include "lowering/target/Target.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;

namespace tenon {
#define GEN_PASS_DEF_PANELPARAMETERS
#include "lowering/Passes.h.inc"

namespace {

constexpr llvm::StringLiteral kRewrite = "panel-parameters";

/// All that is read of one parameter, while that may be in panels.
struct Readers {
  SmallVector<KernelOpInterface> kernels; ///< in the order in which they run, once all are there
  Type element;                           ///< that they read
  bool fit = true;
};

void collect(ReadParameterOp read, Readers &readers) {
  const Type element = tensorOf(read.getValue()).getElementType();
  for (OpOperand &use : read.getValue().getUses()) {
    auto kernel = dyn_cast<KernelOpInterface>(use.getOwner());
    std::optional<PanelRead> inPanels = kernel ? kernel.panelRead() : std::nullopt;
    readers.fit &= inPanels && inPanels->operand == use.get() && (!readers.element || readers.element == element);
    if (!readers.fit)
      return;
    readers.element = element;
    readers.kernels.push_back(kernel);
  }
}

/// Says in the parameter and in what reads it that it lies in panels, or why it stays row-major.
bool layOut(ParameterOp parameter, Readers &readers, const Target &target, bool isTrained) {
  if (!readers.fit)
    return declined(parameter, kRewrite, "something else reads it than contractions, or in another type");
  if (!readers.element)
    return declined(parameter, kRewrite, "nothing reads it");
  const std::optional<PanelForm> form = target.panelsOf(readers.element);
  if (!form)
    return declined(parameter, kRewrite, "the target has no panels for the type");
  const std::optional<PanelRead> first = readers.kernels.front().panelRead();
  for (KernelOpInterface kernel : readers.kernels) {
    if (kernel.panelRead()->leading != first->leading)
      return declined(parameter, kRewrite, "contractions cut it at different dimensions");
    if (kernel.panelRead()->rows.value_or(0) > form->mostRows)
      return declined(parameter, kRewrite, "so many rows read it that packing costs less than panels do");
  }
  // The optimizer goes along the last dimensions.
  const bool isTransposed = !isTrained && !first->firstIsSummed;
  const Panels panels{first->leading, form->width, form->steps, isTransposed};
  const ArrayRef<int64_t> sizes = parameter.getType().getShape().drop_front(parameter.depthCount());
  const int64_t lines = panels.linesOf(sizes), columns = panels.columnsOf(sizes);
  const bool isCut = lines > 0 && columns > 0 && lines % form->lines == 0 && columns % form->width == 0;
  auto isInPlace = [&](KernelOpInterface kernel) { return kernel.panelRead()->firstIsSummed != isTransposed; };
  if (!isCut)
    return declined(parameter, kRewrite, "panels do not cut its sizes without rest");
  if (llvm::none_of(readers.kernels, isInPlace))
    return declined(parameter, kRewrite, "no contraction would read the panels where they are");
  panels.set(parameter);
  for (KernelOpInterface kernel : readers.kernels)
    panels.set(kernel);
  return true;
}

struct PanelParameters : impl::PanelParametersBase<PanelParameters> {
  using PanelParametersBase::PanelParametersBase;
  void runOnOperation() override {
    ModuleOp module = getOperation();
    const Target *chosen = findTarget(target);
    if (!chosen) {
      module.emitOpError("expects the name of a target, got ") << target; // an option
      return signalPassFailure();
    }
    if (!copyType(module))
      chooseLayouts(module, *chosen);
    if (pack)
      packInFrontOfLoops(module, *chosen);
  }

private:
  void chooseLayouts(ModuleOp module, const Target &target) {
    llvm::MapVector<Operation *, Readers> all;
    for (auto parameter : module.getOps<ParameterOp>())
      all[parameter];
    bool isTrained = false;
    DenseMap<Operation *, size_t> numbers; // of kernels, in the order in which they run
    module.walk([&](Operation *op) {
      isTrained |= op->hasTrait<UpdatesParameters>();
      if (isa<KernelOpInterface>(op))
        numbers.try_emplace(op, numbers.size());
      if (auto read = dyn_cast<ReadParameterOp>(op))
        if (auto parameter = module.lookupSymbol<ParameterOp>(read.getParameter()))
          collect(read, all[parameter]);
    });
    for (auto &[op, readers] : all) {
      auto parameter = cast<ParameterOp>(op);
      llvm::sort(readers.kernels,
                 [&](KernelOpInterface a, KernelOpInterface b) { return numbers.lookup(a) < numbers.lookup(b); });
      layOut(parameter, readers, target, isTrained && !parameter.getFrozen());
    }
  }
};

} // namespace
} // namespace tenon
