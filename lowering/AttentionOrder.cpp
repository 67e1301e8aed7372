#include "lowering/AttentionOrder.h"
#include "dialect/Build.h"
#include "lowering/AttentionIndices.h"

using namespace mlir;

namespace tenon {

/// Label of the query: the one that a part of the value, but for broadcasts, does not have. A gathered part may be a table of relative values, which lacks the batch.
static std::optional<int64_t> queryOf(const Labelled &value) {
  Labelled part = withoutBroadcasts(value);
  Operation *op = part.value.getDefiningOp();
  Labels absent;
  for (int64_t label = 0; label < kKey; ++label)
    if (!part.has(label))
      absent.push_back(label);
  if (absent.size() == 1 && !isa_and_nonnull<GatherOp>(op))
    return absent[0];
  if (isa_and_nonnull<AddOp, SubOp>(op))
    for (Value operand : op->getOperands())
      if (std::optional<int64_t> found = queryOf({operand, part.labels}))
        return found;
  return std::nullopt;
}

namespace {
struct QuerySecond : OpRewritePattern<AttendOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(AttendOp attend, PatternRewriter &rewriter) const override {
    auto y = tensorOf(attend.getY());
    if (y.getRank() != kKey)
      return failure();
    size_t valueNumber = attend.getScores().size() + attend.getMasks().size();
    std::optional<int64_t> query = queryOf({attend.getValue(), labelsAt(attend, valueNumber)});
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
    SmallVector<Attribute> labels;
    for (size_t number = 0; number < attend.getLabels().size(); ++number) {
      Labels own = labelsAt(attend, number);
      for (int64_t &label : own)
        label = label < kKey ? order[label] : label;
      labels.push_back(rewriter.getDenseI64ArrayAttr(own));
    }
    auto ordered = cast<AttendOp>(rewriter.clone(*attend));
    ordered.setLabelsAttr(rewriter.getArrayAttr(labels));
    ordered.getY().setType(cast<decltype(ordered.getY().getType())>(tensorType(sizes, y.getElementType(), dimCountOf(y))));
    rewriter.replaceOp(attend, Build(rewriter, attend.getLoc()).broadcast(ordered.getY(), dims, y));
    return success();
  }
};
} // namespace

void addAttentionOrder(RewritePatternSet &patterns) { patterns.add<QuerySecond>(patterns.getContext()); }

} // namespace tenon
