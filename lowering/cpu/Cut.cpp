#include "lowering/cpu/Cut.h"
#include "dialect/Formula.h"
#include "dialect/TensorSizes.h"

using namespace mlir;

namespace tenon::cpu {

constexpr llvm::StringLiteral kRows = "rows", kBySize = "by_size", kColumns = "columns";

static std::optional<int64_t> known(AffineExpr size) {
  auto number = dyn_cast<AffineConstantExpr>(size);
  return number ? std::optional(number.getValue()) : std::nullopt;
}

LogicalResult checkCut(KernelOpInterface op, ArrayRef<CutSide> cut) {
  SmallVector<AffineExpr> domain = op.parallelDomain(), shared;
  for (const CutSide &side : cut)
    if (!side.isInPoints)
      shared.push_back(side.size);
  AffineExpr points = product(domain, op.getContext()), covered = product(shared, op.getContext());
  if (points == covered)
    return success();
  std::vector<std::string> names;
  for (Type type : op->getParentOfType<func::FuncOp>().getArgumentTypes())
    if (type.isIndex())
      names.push_back("d" + std::to_string(names.size()));
  FormulaSpace space(std::move(names));
  auto polynomial = [&](ArrayRef<AffineExpr> sizes) {
    Polynomial all = 1;
    for (AffineExpr size : sizes)
      all = all * space.of(size);
    return all;
  };
  const Polynomial wanted = polynomial(domain), given = polynomial(shared);
  if (wanted == given)
    return success();
  return op.emitOpError("expects tiles of all points of its parallel domain, ") // S13
         << space.text(wanted) << ", got those of " << space.text(given);
}

std::optional<int64_t> blocksOf(ArrayRef<CutSide> cut) {
  int64_t blocks = 1;
  for (const CutSide &side : cut) {
    std::optional<int64_t> size = known(side.size);
    if (!size || *size == 0 || side.block == 0)
      return std::nullopt;
    blocks *= int64_t(llvm::divideCeil(uint64_t(*size), uint64_t(side.block)));
  }
  return cut.empty() ? std::nullopt : std::optional(blocks);
}

// ---- rows

constexpr int64_t kElements = 8192; // some 10 us

DictionaryAttr RowCut::choose() const {
  if (std::optional<int64_t> each = known(length))
    return makeChoice(length.getContext(), kRows, {{"rows", std::max<int64_t>(kElements / std::max<int64_t>(*each, 1), 1)}});
  return makeChoice(length.getContext(), kBySize, {{"elements", kElements}});
}

LogicalResult RowCut::take(Operation *op, Tier tier) {
  FailureOr<Choice> choice =
      choiceForTier(op, tier, {{kRows, {{"rows", 1, kAnyNumber}}}, {kBySize, {{"elements", 1, kAnyNumber}}}});
  if (failed(choice))
    return failure();
  perTile = choice->number("rows").value_or(0);
  elements = choice->number("elements").value_or(0);
  return success();
}

Value RowCut::rowsOfTile(FunctionCode &code) const {
  auto &builder = code.builder;
  if (perTile)
    return constant(builder, perTile);
  Value each = maximum(builder, code.size(length), constant(builder, 1));
  return maximum(builder, divide(builder, constant(builder, elements), each), constant(builder, 1));
}

// ---- columns

constexpr int64_t kVector = 16; // lanes of all tiers

DictionaryAttr ColumnCut::choose() const { return makeChoice(columns.getContext(), kColumns, {{"columns", 64}}); }

LogicalResult ColumnCut::take(Operation *op, Tier tier) {
  FailureOr<Choice> choice = choiceForTier(op, tier, {{kColumns, {{"columns", kVector, kAnyNumber, kVector}}}});
  if (failed(choice))
    return failure();
  perTile = *choice->number("columns");
  return success();
}

Value ColumnCut::width(FunctionCode &code) const { return constant(code.builder, perTile); }
Value ColumnCut::strips(FunctionCode &code) const { return ceilDivide(code.builder, code.size(columns), width(code)); }

} // namespace tenon::cpu
