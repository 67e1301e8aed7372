#include "dialect/Panels.h"
#include "dialect/TenonDialect.h"

using namespace mlir;

namespace tenon {

int64_t Panels::product(ArrayRef<int64_t> sizes, bool first) const {
  return ShapedType::getNumElements(first ? sizes.take_front(leading) : sizes.drop_front(leading));
}

std::optional<Panels> Panels::of(Operation *op) {
  auto numbers = op->getAttrOfType<DenseI64ArrayAttr>(kPanels);
  if (!numbers)
    return std::nullopt;
  return Panels{numbers[0], numbers[1], numbers[2], numbers[3] != 0};
}

void Panels::set(Operation *op) const {
  op->setAttr(kPanels, DenseI64ArrayAttr::get(op->getContext(), {leading, width, steps, transposed}));
}

/// One side of the matrix is summed over, the other one stands in the result alone.
static bool isRight(GemmOp gemm, const Panels &panels) {
  const ArrayRef<int64_t> labels = gemm.getBLabels();
  auto isSummed = [&](int64_t label) { return label >= int64_t(gemm.getRank()); };
  auto isColumn = [&](int64_t label) { return !isSummed(label) && !llvm::is_contained(gemm.getALabels(), label); };
  const ArrayRef<int64_t> first = labels.take_front(panels.leading), second = labels.drop_front(panels.leading);
  return (llvm::all_of(first, isSummed) && llvm::all_of(second, isColumn)) ||
         (llvm::all_of(first, isColumn) && llvm::all_of(second, isSummed));
}

LogicalResult verifyPanels(Operation *op, Attribute value) {
  auto numbers = dyn_cast<DenseI64ArrayAttr>(value);
  auto parameter = dyn_cast<ParameterOp>(op);
  auto gemm = dyn_cast<GemmOp>(op);
  if (!numbers || numbers.size() != 4 || !llvm::is_contained({0, 1}, numbers[3]) || !(parameter || (gemm && gemm.getB())))
    return op->emitOpError(
               "expects leading dimensions, width, steps and 0 or 1 as tenon.panels of a parameter, or of a contraction "
               "whose operand b is in memory, got ")
           << value; // E12
  const Panels panels = *Panels::of(op);
  ArrayRef<int64_t> sizes;
  if (parameter && parameter.depthCount() <= parameter.getType().getRank())
    sizes = parameter.getType().getShape().drop_front(parameter.depthCount());
  else if (gemm && int64_t(gemm.getBLabels().size()) == gemm.typeOfB().getRank())
    sizes = gemm.typeOfB().getShape();
  if (ShapedType::isDynamicShape(sizes) || panels.leading < 1 || panels.leading >= int64_t(sizes.size()) || panels.width < 1 ||
      panels.steps < 1 || panels.columnsOf(sizes) % panels.width != 0 || panels.linesOf(sizes) % panels.steps != 0)
    return op->emitOpError("expects panels that cut its sizes without rest, got ") << value; // E12
  if (gemm && !isRight(gemm, panels))
    return op->emitOpError(
        "expects one side of the matrix in panels to be summed over and the other one in the result alone"); // E12
  return success();
}

} // namespace tenon
