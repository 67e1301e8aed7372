#include "lowering/tensor/LayerReadings.h"
#include "dialect/AttentionMasks.h"
#include "dialect/Build.h"
#include "dialect/TensorSizes.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace tenon {
namespace {

std::optional<int64_t> numberOf(AffineExpr size) {
  auto number = dyn_cast<AffineConstantExpr>(size);
  return number ? std::optional(number.getValue()) : std::nullopt;
}

std::optional<Pick> pickOf(SliceOp slice) {
  const auto dim = int64_t(slice.getDim());
  std::optional<int64_t> rows = numberOf(sizesOf(tensorOf(slice.getY()))[dim]);
  return rows ? std::optional(Pick{slice, dim, *rows, true}) : std::nullopt;
}

std::optional<Pick> pickOf(GatherOp gather) {
  Pick pick{gather, int64_t(gather.getDim()), 1, false};
  for (auto [i, label] : llvm::enumerate(gather.getIndexDims())) {
    if (llvm::is_contained(gather.getXDims(), label))
      continue;
    std::optional<int64_t> size = numberOf(sizesOf(tensorOf(gather.getIndex()))[i]);
    if (pick.keepsDim || label != pick.dim || !size)
      return std::nullopt;
    pick.keepsDim = true;
    pick.rows = *size;
  }
  for (auto [k, label] : llvm::enumerate(gather.getXDims()))
    if (int64_t(k) != pick.dim && label != int64_t(k) - (int64_t(k) > pick.dim && !pick.keepsDim))
      return std::nullopt;
  return gather.getClamp() ? std::nullopt : std::optional(pick);
}

/// The first place of a slice, which may be told by the dims of a run ("the last one"), as a tensor.
Value placeOf(OpBuilder &builder, SliceOp slice, RankedTensorType type) {
  Build g(builder, slice.getLoc());
  if (std::optional<int64_t> number = numberOf(slice.getLow().getResult(0)))
    return g.constant(type, double(*number));
  auto scalar = RankedTensorType::get({}, type.getElementType());
  return g.broadcast(SizeOp::create(builder, slice.getLoc(), scalar, slice.getLow()), {}, type);
}

std::optional<Pick> pickOf(OpOperand &use) {
  if (auto slice = dyn_cast<SliceOp>(use.getOwner()))
    return pickOf(slice);
  auto gather = dyn_cast<GatherOp>(use.getOwner());
  return gather && use.getOperandNumber() == 0 ? pickOf(gather) : std::nullopt;
}

} // namespace

Reading readingOf(OpResult result) {
  Reading reading;
  if (result.use_empty()) {
    reading.kind = Reading::Nowhere;
    return reading;
  }
  llvm::SmallSetVector<int64_t, 4> batch;
  for (OpOperand &use : result.getUses()) {
    std::optional<Pick> pick = pickOf(use);
    if (!pick || pick->op->getBlock() != result.getOwner()->getBlock() ||
        (!reading.picks.empty() && pick->dim != reading.picks.front().dim))
      return {};
    reading.picks.push_back(*pick);
    reading.count += pick->rows;
    if (GatherOp gather = pick->gather())
      for (auto [k, label] : llvm::enumerate(gather.getXDims()))
        if (label >= 0 && llvm::is_contained(gather.getIndexDims(), label))
          batch.insert(int64_t(k));
  }
  llvm::sort(reading.picks, [](const Pick &a, const Pick &b) { return a.op->isBeforeInBlock(b.op); });
  reading.rows = {result.getResultNumber(), reading.picks.front().dim, batch.takeVector()};
  llvm::sort(reading.rows.batch);
  std::optional<int64_t> all = numberOf(sizesOf(tensorOf(result))[reading.rows.dim]);
  if (all ? 2 * reading.count <= *all : reading.count == 1) // a run brings at least one, nearly always more
    reading.kind = Reading::InRows;
  return reading;
}

std::pair<Value, SmallVector<int64_t>> indexOf(OpBuilder &builder, const Pick &pick, const Rows &rows) {
  if (auto slice = dyn_cast<SliceOp>(pick.op)) {
    Build g(builder, slice.getLoc());
    RankedTensorType type = RankedTensorType::get({pick.rows}, builder.getI32Type());
    Value low = placeOf(builder, slice, type);
    return {pick.rows == 1 ? low : g.add(IotaOp::create(builder, slice.getLoc(), type, 0), low), {int64_t(rows.batch.size())}};
  }
  GatherOp gather = pick.gather();
  SmallVector<int64_t> dims;
  for (int64_t label : gather.getIndexDims()) {
    const auto *dim = llvm::find(gather.getXDims(), label);
    dims.push_back(dim == gather.getXDims().end() ? int64_t(rows.batch.size())
                                                  : llvm::find(rows.batch, dim - gather.getXDims().begin()) - rows.batch.begin());
  }
  return {gather.getIndex(), dims};
}

Need needOf(OpOperand &operand, const Rows &rows, Rows &needed) {
  if (!isa<RankedTensorType>(operand.get().getType()))
    return Need::Whole;
  std::optional<SmallVector<int64_t>> dims = dimsOfRows(operand);
  if (!dims)
    return Need::Unknown;
  const auto *dim = llvm::find(*dims, rows.dim);
  if (dim == dims->end())
    return Need::Whole;
  needed = {rows.result, dim - dims->begin(), {}};
  for (int64_t each : rows.batch) {
    const auto *place = llvm::find(*dims, each);
    if (place == dims->end())
      return Need::Unknown;
    needed.batch.push_back(place - dims->begin());
  }
  return Need::Rows;
}

bool isRepeated(Operation *op, const Rows &rows) {
  auto repeats = dyn_cast<RowOpInterface>(op);
  return repeats && repeats.repeatsAlong(rows.dim);
}

bool isOfRows(Operation *op, const Rows &rows) {
  auto hasRows = [&](Type type) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    return tensor && rows.dim < tensor.getRank() && llvm::all_of(rows.batch, [&](int64_t dim) { return dim < tensor.getRank(); });
  };
  bool isMade = isRepeated(op, rows);
  Rows needed;
  for (OpOperand &operand : op->getOpOperands()) {
    const Need need = needOf(operand, rows, needed);
    if (need == Need::Unknown)
      return false;
    isMade |= need == Need::Rows;
  }
  return isMade && llvm::all_of(op->getResultTypes(), hasRows);
}

} // namespace tenon
