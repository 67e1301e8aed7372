// Which parameters lie in the panels that contractions read. See Passes.td.
#include "dialect/Build.h"
#include "dialect/ElementModel.h"
#include "dialect/Panels.h"
#include "dialect/TenonDialect.h"
#include "lowering/Passes.h"
#include "lowering/kernel/PackOperands.h"
#include "lowering/target/Target.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;

namespace tenon {
#define GEN_PASS_DEF_PANELPARAMETERS
#include "lowering/Passes.h.inc"

namespace {

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

/// Nothing: the parameter stays row-major.
std::optional<Panels> panelsOf(ParameterOp parameter, Readers &readers, const Target &target, bool isTrained) {
  std::optional<PanelForm> form = readers.fit && readers.element ? target.panelsOf(readers.element) : std::nullopt;
  if (!form)
    return std::nullopt;
  const std::optional<PanelRead> first = readers.kernels.front().panelRead();
  for (KernelOpInterface kernel : readers.kernels)
    if (std::optional<PanelRead> own = kernel.panelRead();
        own->leading != first->leading || own->rows.value_or(0) > form->mostRows)
      return std::nullopt;
  // The optimizer goes along the last dimensions.
  const bool isTransposed = !isTrained && !first->firstIsSummed;
  const Panels panels{first->leading, form->width, form->steps, isTransposed};
  const ArrayRef<int64_t> sizes = parameter.getType().getShape().drop_front(parameter.depthCount());
  const int64_t lines = panels.linesOf(sizes), columns = panels.columnsOf(sizes);
  const bool isCut = lines > 0 && columns > 0 && lines % form->lines == 0 && columns % form->width == 0;
  auto isInPlace = [&](KernelOpInterface kernel) { return kernel.panelRead()->firstIsSummed != isTransposed; };
  return isCut && llvm::any_of(readers.kernels, isInPlace) ? std::optional(panels) : std::nullopt;
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
      std::optional<Panels> panels = panelsOf(parameter, readers, target, isTrained && !parameter.getFrozen());
      if (!panels)
        continue;
      panels->set(parameter);
      for (KernelOpInterface kernel : readers.kernels)
        panels->set(kernel);
    }
  }
};

} // namespace
} // namespace tenon
