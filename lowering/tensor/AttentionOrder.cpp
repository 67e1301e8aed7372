#include "lowering/tensor/AttentionOrder.h"
#include "dialect/Build.h"
#include "lowering/tensor/AttentionIndices.h"

using namespace mlir;

namespace tenon {

static size_t valueNumber(AttendOp attend) { return attend.getScores().size() + attend.getMasks().size(); }

/// The parts of a sum, without broadcasts.
static void forEachPart(const Labelled &value, llvm::function_ref<void(const Labelled &)> visit) {
  Labelled part = withoutBroadcasts(value);
  Operation *op = part.value.getDefiningOp();
  if (!isa_and_nonnull<AddOp, SubOp>(op))
    return visit(part);
  for (Value operand : op->getOperands())
    forEachPart({operand, part.labels}, visit);
}

/// Labels that the parts of the value that belong to the keys have: a gathered part may be a table of relative values, unless
/// there is no other.
static Labels labelsOfKeys(AttendOp attend) {
  Labelled value{attend.getValue(), labelsAt(attend, valueNumber(attend))};
  Labels result, gathered;
  forEachPart(value, [&](const Labelled &part) {
    auto split = part.value.getDefiningOp<ReshapeOp>();
    bool isGathered = isa_and_nonnull<GatherOp>((split ? split.getX() : part.value).getDefiningOp());
    llvm::append_range(isGathered ? gathered : result, part.labels);
  });
  return result.empty() ? gathered : result;
}

/// The dimension that no key has. Of several the one that the language binds as a place, a masked one if there are more.
static std::optional<int64_t> queryOf(AttendOp attend, const Labels &ofKeys, const Labels &masked) {
  int64_t rank = tensorOf(attend.getY()).getRank();
  Labels absent;
  for (int64_t label = 0; label < rank; ++label)
    if (!llvm::is_contained(ofKeys, label))
      absent.push_back(label);
  if (absent.empty()) { // the value depends on the query: where it stands by default, so that the reader of the value says how
    if (attend.getQueries() && attend.getQueries()->size() == 1)
      return attend.getQueries()->front();
    return rank > kQuery ? std::optional<int64_t>(kQuery) : std::nullopt;
  }
  auto narrowed = [&](llvm::function_ref<bool(int64_t)> keeps) {
    Labels kept;
    llvm::copy_if(absent, std::back_inserter(kept), keeps);
    if (!kept.empty())
      absent = kept;
  };
  narrowed([&](int64_t label) { return attend.getQueries() && llvm::is_contained(*attend.getQueries(), label); });
  narrowed([&](int64_t label) { return llvm::is_contained(masked, label); });
  narrowed([&](int64_t label) { return label == kQuery; });
  return absent.front();
}

SmallVector<int64_t> AttentionRoles::order() const {
  SmallVector<int64_t> result(batches);
  result.push_back(query);
  llvm::append_range(result, heads);
  llvm::append_range(result, widths);
  return result;
}

std::optional<AttentionRoles> rolesOf(AttendOp attend) {
  auto y = tensorOf(attend.getY());
  Labels scored, masked, ofKeys = labelsOfKeys(attend);
  for (size_t number = 0; number < attend.getScores().size(); ++number)
    llvm::append_range(scored, labelsAt(attend, number));
  if (attend.getFactor())
    llvm::append_range(scored, labelsAt(attend, valueNumber(attend) + 1));
  for (auto [number, mask] : llvm::enumerate(attend.getMasks()))
    llvm::append_range(masked, withoutBroadcasts({mask, labelsAt(attend, attend.getScores().size() + number)}).labels);
  std::optional<int64_t> query = queryOf(attend, ofKeys, masked);
  if (!query)
    return std::nullopt;
  AttentionRoles roles;
  roles.query = *query;
  auto isHead = [&](int64_t label) { return !y.isDynamicDim(label) && !llvm::is_contained(masked, label); };
  auto isWidth = [&](int64_t label) {
    return label != *query && !llvm::is_contained(scored, label) && !llvm::is_contained(masked, label);
  };
  int64_t last = y.getRank() - 1;
  while (last >= 0 && !isWidth(last))
    --last;
  if (last < 0)
    return std::nullopt;
  for (int64_t label = 0; label < y.getRank(); ++label)
    if (label == last || (label > *query && isWidth(label) && !y.isDynamicDim(label)))
      roles.widths.push_back(label);
    else if (label != *query)
      (label > *query && isHead(label) ? roles.heads : roles.batches).push_back(label);
  bool allBefore = llvm::all_of(roles.batches, [&](int64_t label) { return label < *query; });
  if (roles.heads.empty() && allBefore && roles.batches.size() > 1 && isHead(roles.batches.back()))
    roles.heads.push_back(roles.batches.pop_back_val());
  llvm::stable_sort(roles.heads,
                    [&](int64_t a, int64_t b) { return llvm::is_contained(ofKeys, a) && !llvm::is_contained(ofKeys, b); });
  if (roles.batches.empty() && roles.heads.size() > 1 && llvm::is_contained(ofKeys, roles.heads.back())) {
    roles.batches.push_back(roles.heads.front());
    roles.heads.erase(roles.heads.begin());
  }
  return roles;
}

namespace {
struct OrderByRole : OpRewritePattern<AttendOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(AttendOp attend, PatternRewriter &rewriter) const override {
    std::optional<AttentionRoles> roles = rolesOf(attend);
    if (!roles || llvm::is_sorted(roles->order()))
      return rewriter.notifyMatchFailure(attend, "dimensions without roles, or in their order already");
    auto y = tensorOf(attend.getY());
    SmallVector<int64_t> order = roles->order(), places(order.size()); // old dimension of each new one, and back
    SmallVector<AffineExpr> sizes, old = sizesOf(y);
    for (auto [place, label] : llvm::enumerate(order)) {
      places[label] = place;
      sizes.push_back(old[label]);
    }
    auto renamed = [&](Labels labels) {
      for (int64_t &label : labels)
        label = label >= 0 && label < y.getRank() ? places[label] : label;
      return rewriter.getDenseI64ArrayAttr(labels);
    };
    SmallVector<Attribute> labels;
    for (size_t number = 0; number < attend.getLabels().size(); ++number)
      labels.push_back(renamed(labelsAt(attend, number)));
    auto ordered = cast<AttendOp>(rewriter.clone(*attend));
    ordered.setLabelsAttr(rewriter.getArrayAttr(labels));
    // The one that was chosen, since it may have been by where it stood: the next one would be another.
    ordered.setQueriesAttr(renamed({roles->query}));
    ordered.getY().setType(cast<decltype(ordered.getY().getType())>(tensorType(sizes, y.getElementType(), dimCountOf(y))));
    rewriter.replaceOp(attend, Build(rewriter, attend.getLoc()).broadcast(ordered.getY(), order, y));
    return success();
  }
};
} // namespace

void addAttentionOrder(RewritePatternSet &patterns) { patterns.add<OrderByRole>(patterns.getContext()); }

} // namespace tenon
