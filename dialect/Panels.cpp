#include "dialect/Packs.h"
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

/// The label that an index of the code of a contraction, which need not be verified, stands for; -1: another one.
static int64_t labelOf(Value index, Block &code, ArrayRef<int64_t> labels) {
  auto argument = dyn_cast<BlockArgument>(index);
  return argument && argument.getOwner() == &code && argument.getArgNumber() < labels.size() ? labels[argument.getArgNumber()]
                                                                                             : -1;
}

/// Whether a condition on what is summed alone leaves out terms: steps that are listed are no lines of a panel.
static bool leavesOutTerms(GemmOp op) {
  Block *code = op.elementOfA();
  Operation *yield = code && !code->empty() ? &code->back() : nullptr;
  auto choice = yield && yield->getNumOperands() == 1 ? yield->getOperand(0).getDefiningOp<arith::SelectOp>() : nullptr;
  auto read = choice ? choice.getCondition().getDefiningOp<AtOp>() : AtOp();
  return read && llvm::all_of(read.getIndices(),
                              [&](Value index) { return labelOf(index, *code, op.getALabels()) >= int64_t(op.getRank()); });
}

/// Operand b, where its dimensions are those of one side of a matrix and then those of the other, and the contracted ones stand
/// in the order of a, which is that of the sum.
std::optional<PanelRead> GemmOp::panelRead() {
  const ArrayRef<int64_t> labels = getBLabels();
  auto isSummed = [&](int64_t label) { return label >= int64_t(getRank()); };
  auto isShared = [&](int64_t label) { return !isSummed(label) && llvm::is_contained(getALabels(), label); };
  if (!getB() || getB() == getA() || labels.size() < 2 || llvm::any_of(labels, isShared) || leavesOutTerms(*this))
    return std::nullopt;
  const bool first = isSummed(labels.front());
  const int64_t leading = llvm::find_if(labels, [&](int64_t label) { return isSummed(label) != first; }) - labels.begin();
  const ArrayRef<int64_t> others = labels.drop_front(leading);
  if (others.empty() || llvm::any_of(others, [&](int64_t label) { return isSummed(label) == first; }))
    return std::nullopt;
  SmallVector<int64_t> inOrderOfA(llvm::make_filter_range(getALabels(), isSummed)),
      inOrderOfB(llvm::make_filter_range(labels, isSummed));
  if (inOrderOfA != inOrderOfB)
    return std::nullopt;
  std::optional<int64_t> rows = 1;
  for (auto [label, size] : llvm::zip(getALabels(), typeOfA().getShape())) // before it is verified, too
    if (int64_t more = rows.value_or(0); !isSummed(label))
      rows = !rows || ShapedType::isDynamic(size) || llvm::MulOverflow(more, size, more) ? std::nullopt : std::optional(more);
  return PanelRead{getB(), leading, first, rows};
}

/// Whether a matrix of these sizes is cut into panels, without rest where there is no room for one.
static bool areCut(const Panels &panels, ArrayRef<int64_t> sizes, bool hasRoom) {
  if (ShapedType::isDynamicShape(sizes) || panels.leading < 1 || panels.leading >= int64_t(sizes.size()) || panels.width < 1 ||
      panels.steps < 1)
    return false;
  return hasRoom ? panels.width % panels.steps == 0
                 : panels.columnsOf(sizes) % panels.width == 0 && panels.linesOf(sizes) % panels.steps == 0;
}

LogicalResult verifyPanels(Operation *op, Attribute value) {
  auto numbers = dyn_cast<DenseI64ArrayAttr>(value);
  auto parameter = dyn_cast<ParameterOp>(op);
  auto gemm = dyn_cast<GemmOp>(op);
  auto pack = dyn_cast<PackOp>(op);
  const bool mayHaveThem = parameter || pack || (gemm && gemm.getB());
  if (!numbers || numbers.size() != 4 || !llvm::is_contained({0, 1}, numbers[3]) || !mayHaveThem)
    return op->emitOpError(
               "expects leading dimensions, width, steps and 0 or 1 as tenon.panels of a parameter, of a pack, or of a "
               "contraction whose operand b is in memory, got ")
           << value; // E12
  const Panels panels = *Panels::of(op);
  ArrayRef<int64_t> sizes;
  if (parameter && parameter.depthCount() <= parameter.getType().getRank())
    sizes = parameter.getType().getShape().drop_front(parameter.depthCount());
  else if (pack)
    sizes = cast<RankedTensorType>(pack.getMatrix().getType()).getShape();
  else if (gemm && int64_t(gemm.getBLabels().size()) == gemm.typeOfB().getRank())
    sizes = gemm.typeOfB().getShape();
  if (!areCut(panels, sizes, pack || (gemm && packedPanels(gemm.getB()))))
    return op->emitOpError("expects panels that cut its sizes without rest, got ") << value; // E12
  if (std::optional<PanelRead> read = gemm ? gemm.panelRead() : std::nullopt; gemm && (!read || read->leading != panels.leading))
    return op->emitOpError("expects one side of the matrix in panels to be summed over, in the order of operand a, and the other "
                           "one in the result alone"); // E12
  return success();
}

} // namespace tenon
