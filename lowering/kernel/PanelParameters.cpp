// Which parameters lie in the panels that contractions read. See Passes.td.
#include "dialect/Build.h"
#include "dialect/ElementModel.h"
#include "dialect/Panels.h"
#include "dialect/TenonDialect.h"
#include "lowering/Passes.h"
#include "lowering/target/Target.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;

namespace tenon {
#define GEN_PASS_DEF_PANELPARAMETERS
#include "lowering/Passes.h.inc"

namespace {

/// All that is read of one parameter, while that may be in panels.
struct Readers {
  SmallVector<GemmOp> contractions; ///< in the order in which they run, once all are there
  Type element;                     ///< that they read
  bool fit = true;
};

/// The dimensions of the operand b of a contraction as a matrix: how many of them stand for its first side, and whether that one
/// is contracted.
struct Sides {
  int64_t leading;
  bool firstIsSummed;
};

/// Nothing where b is no such matrix, or its contracted dimensions are not in the order of a, which is that of the sum.
std::optional<Sides> sidesOf(GemmOp gemm) {
  const ArrayRef<int64_t> labels = gemm.getBLabels();
  auto isSummed = [&](int64_t label) { return label >= int64_t(gemm.getRank()); };
  if (labels.size() < 2 ||
      llvm::any_of(labels, [&](int64_t label) { return !isSummed(label) && llvm::is_contained(gemm.getALabels(), label); }))
    return std::nullopt;
  const bool first = isSummed(labels.front());
  const int64_t leading = llvm::find_if(labels, [&](int64_t label) { return isSummed(label) != first; }) - labels.begin();
  const ArrayRef<int64_t> others = labels.drop_front(leading);
  if (others.empty() || llvm::any_of(others, [&](int64_t label) { return isSummed(label) == first; }))
    return std::nullopt;
  SmallVector<int64_t> inOrderOfA(llvm::make_filter_range(gemm.getALabels(), isSummed)),
      inOrderOfB(llvm::make_filter_range(labels, isSummed));
  if (inOrderOfA != inOrderOfB)
    return std::nullopt;
  return Sides{leading, first};
}

void collect(ReadParameterOp read, Readers &readers) {
  const Type element = tensorOf(read.getValue()).getElementType();
  for (OpOperand &use : read.getValue().getUses()) {
    auto gemm = dyn_cast<GemmOp>(use.getOwner());
    readers.fit &=
        gemm && gemm.getB() == use.get() && gemm.getA() != use.get() && (!readers.element || readers.element == element);
    if (!readers.fit)
      return;
    readers.element = element;
    readers.contractions.push_back(gemm);
  }
}

/// Whether a contraction is known to have more rows than `most`.
bool hasMoreRows(GemmOp gemm, int64_t most) {
  int64_t rows = 1;
  for (auto [label, size] : llvm::zip_equal(gemm.getALabels(), gemm.typeOfA().getShape()))
    if (label < int64_t(gemm.getRank()) && (ShapedType::isDynamic(size) || llvm::MulOverflow(rows, size, rows)))
      return false;
  return rows > most;
}

/// Nothing: the parameter stays row-major.
std::optional<Panels> panelsOf(ParameterOp parameter, const Readers &readers, const Target &target, bool isTrained) {
  std::optional<PanelForm> form = readers.fit && readers.element ? target.panelsOf(readers.element) : std::nullopt;
  if (!form)
    return std::nullopt;
  std::optional<Sides> first = sidesOf(readers.contractions.front());
  for (GemmOp gemm : readers.contractions)
    if (std::optional<Sides> own = sidesOf(gemm); !own || own->leading != first->leading || hasMoreRows(gemm, form->mostRows))
      return std::nullopt;
  // The optimizer goes along the last dimensions.
  const bool isTransposed = !isTrained && !first->firstIsSummed;
  const Panels panels{first->leading, form->width, form->steps, isTransposed};
  const ArrayRef<int64_t> sizes = parameter.getType().getShape().drop_front(parameter.depthCount());
  const int64_t lines = panels.linesOf(sizes), columns = panels.columnsOf(sizes);
  const bool isCut = lines > 0 && columns > 0 && lines % form->lines == 0 && columns % form->width == 0;
  auto isInPlace = [&](GemmOp gemm) { return sidesOf(gemm)->firstIsSummed != isTransposed; };
  return isCut && llvm::any_of(readers.contractions, isInPlace) ? std::optional(panels) : std::nullopt;
}

struct PanelParameters : impl::PanelParametersBase<PanelParameters> {
  using PanelParametersBase::PanelParametersBase;
  void runOnOperation() override {
    ModuleOp module = getOperation();
    const Target *chosen = findTarget(target);
    if (!chosen) {
      module.emitOpError("expects the name of a target, got ") << target;
      return signalPassFailure();
    }
    if (copyType(module))
      return;
    llvm::MapVector<Operation *, Readers> all;
    for (auto parameter : module.getOps<ParameterOp>())
      all[parameter];
    bool isTrained = false;
    DenseMap<Operation *, size_t> numbers; // of contractions, in the order in which they run
    module.walk([&](Operation *op) {
      isTrained |= isa<OptimizeOp>(op);
      if (isa<GemmOp>(op))
        numbers.try_emplace(op, numbers.size());
      if (auto read = dyn_cast<ReadParameterOp>(op))
        if (auto parameter = module.lookupSymbol<ParameterOp>(read.getParameter()))
          collect(read, all[parameter]);
    });
    for (auto &[op, readers] : all) {
      auto parameter = cast<ParameterOp>(op);
      llvm::sort(readers.contractions, [&](GemmOp a, GemmOp b) { return numbers.lookup(a) < numbers.lookup(b); });
      std::optional<Panels> panels = panelsOf(parameter, readers, *chosen, isTrained && !parameter.getFrozen());
      if (!panels)
        continue;
      panels->set(parameter);
      for (GemmOp gemm : readers.contractions)
        panels->set(gemm);
    }
  }
};

} // namespace
} // namespace tenon
