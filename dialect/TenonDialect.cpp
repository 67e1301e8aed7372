#include "dialect/TenonDialect.h"
#include "dialect/Blocks.h"
#include "dialect/Contractions.h"
#include "dialect/Packs.h"
#include "dialect/Rounds.h"
#include "dialect/TensorSizes.h"
#include "dialect/WholeNumbers.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/Interfaces/FoldInterfaces.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace tenon {
/// How often a loop runs: `12`, or `affine_map<(d0) -> (d0)>`.
static ParseResult parseCount(OpAsmParser &parser, AffineMapAttr &count) {
  int64_t number = 0;
  OptionalParseResult parsed = parser.parseOptionalInteger(number);
  if (!parsed.has_value())
    return parser.parseAttribute(count);
  count = AffineMapAttr::get(AffineMap::getConstantMap(number, parser.getContext()));
  return *parsed;
}
static void printCount(OpAsmPrinter &printer, Operation *, AffineMapAttr count) {
  AffineMap map = count.getValue();
  auto number = map.getNumResults() == 1 ? dyn_cast<AffineConstantExpr>(map.getResult(0)) : AffineConstantExpr();
  if (number && map.getNumDims() == 0)
    printer << number.getValue();
  else
    printer << count;
}
} // namespace tenon

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-parameter"
#include "dialect/TenonDialect.cpp.inc"
#include "dialect/TenonEnums.cpp.inc"
#include "dialect/TenonInterfaces.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "dialect/TenonAttributes.cpp.inc"
#define GET_OP_CLASSES
#include "dialect/TenonOps.cpp.inc"
#pragma GCC diagnostic pop

namespace {
/// A constant stays in the body it is in: the body of a stack is differentiated by itself, and a kernel is emitted by itself.
struct KeepConstants : DialectFoldInterface {
  using DialectFoldInterface::DialectFoldInterface;
  bool shouldMaterializeInto(Region *) const override { return true; }
};
} // namespace

std::optional<SmallVector<int64_t>> tenon::dimsOfRows(OpOperand &operand) {
  Operation *op = operand.getOwner();
  if (auto rows = dyn_cast<RowOpInterface>(op))
    return rows.dimsInResults(operand);
  auto element = dyn_cast<ElementOpInterface>(op);
  return element && (op->hasTrait<ElementFormula>() || op->hasTrait<View>()) ? element.dimsOf(operand) : std::nullopt;
}

/// Tensors from the number at every place (tenon.constant), scalars of the kernel form from their own attribute.
Operation *tenon::TenonDialect::materializeConstant(OpBuilder &builder, Attribute value, Type type, Location location) {
  if (!isa<RankedTensorType>(type))
    return arith::ConstantOp::materialize(builder, value, type, location);
  auto number = dyn_cast<FloatAttr>(value);
  return number ? ConstantOp::create(builder, location, type, number).getOperation() : nullptr;
}

void tenon::TenonDialect::initialize() {
  addInterfaces<KeepConstants>();
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialect/TenonAttributes.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dialect/TenonOps.cpp.inc"
      >();
  addOperations<SkipOp, DotWhereOp, RegroupOp, PackOp, RoundOp, FloorOp, CeilOp>();
}
