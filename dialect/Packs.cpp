#include "dialect/Packs.h"
#include "dialect/Build.h"

using namespace mlir;
using namespace tenon;

#define GET_OP_CLASSES
#include "dialect/PackOps.cpp.inc"

namespace tenon {

std::optional<Panels> packedPanels(Value tensor) {
  auto pack = tensor ? tensor.getDefiningOp<PackOp>() : PackOp();
  return pack ? Panels::of(pack) : std::nullopt;
}

Attribute panelsTaken(OpOperand &use) {
  if (auto pack = dyn_cast<PackOp>(use.getOwner()))
    return pack.getFromAttr();
  auto kernel = dyn_cast<KernelOpInterface>(use.getOwner());
  std::optional<PanelRead> read = kernel ? kernel.panelRead() : std::nullopt;
  return read && read->operand == use.get() ? kernel->getAttr(kPanels) : Attribute();
}

static bool cutsWhole(const Panels &panels, ArrayRef<int64_t> sizes) {
  return panels.leading > 0 && panels.leading < int64_t(sizes.size()) && panels.width > 0 && panels.steps > 0 &&
         panels.columnsOf(sizes) % panels.width == 0 && panels.linesOf(sizes) % panels.steps == 0;
}

LogicalResult PackOp::verify() {
  auto numbers = (*this)->getAttrOfType<DenseI64ArrayAttr>(kPanels);
  if (!numbers || numbers.size() != 4) // C1; E12 says the rest
    return emitOpError("expects tenon.panels of its result, got ") << (*this)->getAttr(kPanels);
  if (DenseI64ArrayAttr from = getFromAttr()) {
    const Panels own = *Panels::of(*this);
    const bool isLike = from.size() == 4 && from[0] == own.leading && from[1] == own.width && from[2] == own.steps &&
                        from[3] == int64_t(!own.transposed);
    if (!isLike || !cutsWhole({from[0], from[1], from[2], from[3] != 0}, tensorOf(getMatrix()).getShape()))
      return emitOpError("expects to read panels that cut the matrix without rest, across those of its result ")
             << numbers << ", got " << from; // C2
  }
  for (OpOperand &use : getPacked().getUses())
    if (isa<PackOp>(use.getOwner()) || panelsTaken(use) != numbers) // C3
      return emitOpError("expects to be read as operand b of gemms alone, with tenon.panels = ") << numbers;
  return success();
}

SmallVector<AffineExpr> PackOp::parallelDomain() { return sizesOf(tensorOf(getPacked())); }
Polynomial PackOp::countFlops(FormulaSpace &) { return 0; }

} // namespace tenon
