#include "lowering/tensor/LayerReadings.h"
#include "dialect/AttentionMasks.h"
#include "dialect/Build.h"
#include "dialect/TensorSizes.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
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

/// How a result is read, by itself and through ops behind the stack.
class Readers {
public:
  explicit Readers(OpResult result) : result(result) {}
  /// False: something reads it that is neither a pick nor an op of rows.
  bool find() { return follow(result, dimsOfTensor(result)) && !picks.empty(); }
  /// False: picks along several dimensions, or an op that cannot be computed for their rows alone.
  bool fill(LayerReading &reading) const;

private:
  using Dims = SmallVector<int64_t>; ///< where the dimensions of the stack's result are in another tensor; below 0: nowhere

  bool follow(Value value, const Dims &dims);
  const Dims &dimsOf(Operation *op) const { return op == result.getOwner() ? own : between.find(op)->second; }
  bool isBehind(Value value) const { return value == result || between.contains(value.getDefiningOp()); }

  OpResult result;
  Dims own = dimsOfTensor(result);
  SmallVector<Pick> picks;
  llvm::MapVector<Operation *, Dims> between;
};

bool Readers::follow(Value value, const Dims &dims) {
  for (OpOperand &use : value.getUses()) {
    Operation *op = use.getOwner();
    if (op->getBlock() != result.getOwner()->getBlock())
      return false;
    if (std::optional<Pick> pick = pickOf(use)) {
      picks.push_back(*pick);
      continue;
    }
    std::optional<SmallVector<int64_t>> places = dimsOfRows(use);
    if (!places || !isPure(op) || op->getNumRegions() > 0)
      return false;
    Dims composed;
    for (int64_t dim : dims)
      composed.push_back(dim < 0 || (*places)[dim] >= tensorOf(op->getResult(0)).getRank() ? -1 : (*places)[dim]);
    // Reached on another way, too: whether its rows are the same on both is asked when they are known.
    if (between.insert({op, composed}).second &&
        !llvm::all_of(op->getResults(), [&](Value each) { return follow(each, composed); }))
      return false;
  }
  return true;
}

bool Readers::fill(LayerReading &reading) const {
  llvm::SmallSetVector<int64_t, 4> dim, batch;
  for (const Pick &pick : picks) {
    const Dims &dims = dimsOf(pick.op->getOperand(0).getDefiningOp());
    auto add = [&](auto &set, int64_t place) { set.insert(llvm::find(dims, place) - dims.begin()); };
    add(dim, pick.dim);
    if (GatherOp gather = pick.gather())
      for (auto [k, label] : llvm::enumerate(gather.getXDims()))
        if (label >= 0 && llvm::is_contained(gather.getIndexDims(), label))
          add(batch, int64_t(k));
    reading.count += pick.rows;
  }
  const auto rank = int64_t(own.size()); // of the first dimension that the result does not have
  if (dim.size() > 1 || dim.front() == rank || batch.contains(rank))
    return false;
  reading.picks = picks;
  llvm::sort(reading.picks, [](const Pick &a, const Pick &b) { return a.op->isBeforeInBlock(b.op); });
  reading.rows = {result.getResultNumber(), dim.front(), batch.takeVector()};
  llvm::sort(reading.rows.batch);
  for (auto &[op, dims] : between) {
    Rows rows = {reading.rows.result, dims[reading.rows.dim], {}};
    for (int64_t each : reading.rows.batch)
      rows.batch.push_back(dims[each]);
    if (rows.dim < 0 || llvm::is_contained(rows.batch, -1))
      return false;
    reading.between.insert({op, rows});
  }
  auto agrees = [&](OpOperand &operand, const Rows &rows) {
    Rows needed;
    return !isBehind(operand.get()) || (needOf(operand, rows, needed) == Need::Rows && needed == reading.rowsOf(operand.get()));
  };
  return llvm::all_of(reading.between, [&](auto &each) {
    auto &[op, rows] = each;
    return isOfRows(op, rows) && llvm::all_of(op->getOpOperands(), [&, &at = rows](OpOperand &use) { return agrees(use, at); });
  });
}

} // namespace

LayerReading readingOf(OpResult result) {
  LayerReading reading;
  if (result.use_empty()) {
    reading.kind = LayerReading::Nowhere;
    return reading;
  }
  Readers readers(result);
  if (!readers.find() || !readers.fill(reading))
    return {};
  std::optional<int64_t> all = numberOf(sizesOf(tensorOf(result))[reading.rows.dim]);
  if (all ? 2 * reading.count <= *all : reading.count == 1) // a run brings at least one, nearly always more
    reading.kind = LayerReading::InRows;
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
  if (auto draws = dyn_cast<RowOpInterface>(op); draws && !draws.mayDrawAt(rows.dim, rows.batch))
    return false;
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
