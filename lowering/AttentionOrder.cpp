#include "lowering/AttentionOrder.h"
#include "dialect/Build.h"
#include "lowering/AttentionIndices.h"

using namespace mlir;

namespace tenon {

/// Label of the query: the one that a part of the value, but for broadcasts, does not have. A gathered part may be a table of relative values, which lacks the batch.
static std::optional<int64_t> queryOf(const Labelled &value, int64_t rank) {
  Labelled part = withoutBroadcasts(value);
  Operation *op = part.value.getDefiningOp();
  Labels absent;
  for (int64_t label = 0; label < rank; ++label)
    if (!part.has(label))
      absent.push_back(label);
  if (absent.size() == 1 && !isa_and_nonnull<GatherOp>(op))
    return absent[0];
  if (isa_and_nonnull<AddOp, SubOp>(op))
    for (Value operand : op->getOperands())
      if (std::optional<int64_t> found = queryOf({operand, part.labels}, rank))
        return found;
  return std::nullopt;
}

static size_t valueNumber(AttendOp attend) { return attend.getScores().size() + attend.getMasks().size(); }

static Labelled valueOf(AttendOp attend) { return {attend.getValue(), labelsAt(attend, valueNumber(attend))}; }

static std::optional<int64_t> queryOf(AttendOp attend) { return queryOf(valueOf(attend), tensorOf(attend.getY()).getRank()); }

/// The op with dimension k of its result at `places[k]` of a result of `sizes`.
static AttendOp relabelled(PatternRewriter &rewriter, AttendOp attend, ArrayRef<int64_t> places, ArrayRef<AffineExpr> sizes) {
  auto y = tensorOf(attend.getY());
  SmallVector<Attribute> labels;
  for (size_t number = 0; number < attend.getLabels().size(); ++number) {
    Labels own = labelsAt(attend, number);
    for (int64_t &label : own)
      label = label < y.getRank() ? places[label] : int64_t(sizes.size());
    labels.push_back(rewriter.getDenseI64ArrayAttr(own));
  }
  auto result = cast<AttendOp>(rewriter.clone(*attend));
  result.setLabelsAttr(rewriter.getArrayAttr(labels));
  result.getY().setType(cast<decltype(result.getY().getType())>(tensorType(sizes, y.getElementType(), dimCountOf(y))));
  return result;
}

namespace {
/// Attention without a batch, without heads, or without both: one of each.
struct OneHead : OpRewritePattern<AttendOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(AttendOp attend, PatternRewriter &rewriter) const override {
    auto y = tensorOf(attend.getY());
    if (y.getRank() != 2 && y.getRank() != 3)
      return failure();
    std::optional<int64_t> query = queryOf(attend);
    if (!query && y.getRank() == 3 && !withoutBroadcasts(valueOf(attend)).has(kQuery))
      query = kQuery; // the keys have no batch either
    if (!query)
      return failure();
    // A dimension before the query is a batch, one between the query and the width a head.
    Labels places = y.getRank() == 2 ? *query == 0 ? Labels{1, 3} : Labels{2, 3} : *query == 1 ? Labels{0, 1, 3} : Labels{1, 2, 3};
    SmallVector<AffineExpr> sizes(kKey, rewriter.getAffineConstantExpr(1));
    for (auto [place, size] : llvm::zip(places, sizesOf(y)))
      sizes[place] = size;
    AttendOp whole = relabelled(rewriter, attend, places, sizes);
    giveUnits(rewriter, whole, places);
    Labels units;
    for (int64_t label = 0; label < kKey; ++label)
      if (!llvm::is_contained(places, label))
        units.push_back(label);
    rewriter.replaceOp(attend, Build(rewriter, attend.getLoc()).reduce(Reduction::sum, whole.getY(), units));
    return success();
  }

private:
  /// Every dimension of the result is one of an operand: the value gets those that are not in `places`.
  static void giveUnits(PatternRewriter &rewriter, AttendOp attend, ArrayRef<int64_t> places) {
    OpBuilder::InsertionGuard guard(rewriter);
    rewriter.setInsertionPoint(attend);
    auto type = tensorOf(attend.getValue());
    SmallVector<AffineExpr> old = sizesOf(type), sizes;
    Labels own = valueOf(attend).labels, labels, dims;
    auto add = [&](int64_t label, AffineExpr size) {
      labels.push_back(label);
      sizes.push_back(size);
    };
    auto unit = [&](int64_t label) {
      if (!llvm::is_contained(places, label))
        add(label, rewriter.getAffineConstantExpr(1));
    };
    unit(kBatch);
    for (auto [label, size] : llvm::zip(own, old)) {
      if (label == kWidth)
        unit(kHead);
      dims.push_back(labels.size());
      add(label, size);
    }
    auto whole = tensorType(sizes, type.getElementType(), dimCountOf(type));
    attend.getValueMutable().assign(Build(rewriter, attend.getLoc()).broadcast(attend.getValue(), dims, whole));
    SmallVector<Attribute> all(attend.getLabels().getValue());
    all[valueNumber(attend)] = rewriter.getDenseI64ArrayAttr(labels);
    attend.setLabelsAttr(rewriter.getArrayAttr(all));
  }
};

struct QuerySecond : OpRewritePattern<AttendOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(AttendOp attend, PatternRewriter &rewriter) const override {
    auto y = tensorOf(attend.getY());
    if (y.getRank() != kKey)
      return failure();
    std::optional<int64_t> query = queryOf(attend);
    if (!query || *query == kQuery)
      return failure();
    Labels order, dims(kKey); // the new place of each dimension, and back
    int64_t next = 0;
    for (int64_t label = 0; label < kKey; ++label) {
      next += next == kQuery;
      order.push_back(label == *query ? kQuery : next++);
      dims[order.back()] = label;
    }
    SmallVector<AffineExpr> sizes(kKey), old = sizesOf(y);
    for (int64_t label = 0; label < kKey; ++label)
      sizes[order[label]] = old[label];
    AttendOp ordered = relabelled(rewriter, attend, order, sizes);
    rewriter.replaceOp(attend, Build(rewriter, attend.getLoc()).broadcast(ordered.getY(), dims, y));
    return success();
  }
};
} // namespace

void addAttentionOrder(RewritePatternSet &patterns) { patterns.add<OneHead, QuerySecond>(patterns.getContext()); }

} // namespace tenon
