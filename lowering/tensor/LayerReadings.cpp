#include "lowering/tensor/LayerReadings.h"
#include "dialect/AttentionMasks.h"
#include "dialect/Build.h"
#include "dialect/ElementModel.h"
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

/// Whether a score is more than a product of queries and keys, such as one by relative position, or values differ by query:
/// fusion knows these by the places of the queries, which rows that data name do not have any more.
bool readsPlaces(AttendOp attend) {
  SmallVector<int64_t> ofValue = labelsOf(attend.getLabels()[attend.getScores().size() + attend.getMasks().size()]);
  return !llvm::all_of(attend.getScores(), [](Value score) { return isa_and_nonnull<DotOp>(score.getDefiningOp()); }) ||
         llvm::any_of(attend.getQueries().value_or(ArrayRef<int64_t>()),
                      [&](int64_t query) { return llvm::is_contained(ofValue, query); });
}

/// The dimensions of the results that those of an operand are (others are summed over), where a row of the results is made of the
/// same row of the operand. Nothing: `op` mixes rows, or draws by where its elements stand.
std::optional<SmallVector<int64_t>> dimsInResult(Operation *op, OpOperand &operand) {
  const unsigned number = operand.getOperandNumber();
  if (auto dot = dyn_cast<DotOp>(op))
    return llvm::to_vector(number == 0 ? dot.getALabels() : dot.getBLabels());
  if (auto attend = dyn_cast<AttendOp>(op)) {
    if (attend.getRate().convertToDouble() != 0 || readsPlaces(attend))
      return std::nullopt;
    return labelsOf(attend.getLabels()[number]);
  }
  const int64_t rank = tensorOf(operand.get()).getRank();
  SmallVector<int64_t> dims = llvm::to_vector(llvm::seq<int64_t>(0, rank));
  if (auto reduce = dyn_cast<ReduceOp>(op)) {
    int64_t kept = 0;
    for (int64_t &dim : dims)
      dim = llvm::is_contained(reduce.getDims(), dim) ? rank : kept++;
    return dims;
  }
  if (isa<NormalizeOp, SoftmaxOp>(op)) {
    dims.back() = rank; // all of it goes into each element
    return dims;
  }
  if (isa<GumbelOp>(op))
    return std::nullopt;
  auto element = dyn_cast<ElementOpInterface>(op);
  return element ? element.dimsOf(operand) : std::nullopt;
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

Need needOf(Operation *op, OpOperand &operand, const Rows &rows, Rows &needed) {
  if (!isa<RankedTensorType>(operand.get().getType()))
    return Need::Whole;
  std::optional<SmallVector<int64_t>> dims = dimsInResult(op, operand);
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

} // namespace tenon
