// Score terms that lie in memory: a number for each pair of places, or for each key, whatever made it. tenon.attention reads them
// as pair_scores.
#include "lowering/tensor/AttentionStored.h"
#include "dialect/ElementModel.h"
#include "lowering/tensor/AttentionTerms.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace tenon {
namespace {

/// What a score is made of, element by element.
struct Parts {
  bool needsQuery = true; // a part counts if it has numbers of pairs; else of keys
  bool stored = false;    // numbers that exist whatever the attention does: of an input, a parameter, a contraction of those
  bool made = false;      // scores that only this attention needs: a contraction of queries with keys
  SmallVector<Labelled> seen;

  bool counts(const Labelled &x) const { return x.has(kKey) && (!needsQuery || x.has(kQuery)); }
  void add(Labelled x);
  void addDot(DotOp dot, ArrayRef<int64_t> labels);
};

/// The labels of an operand of a contraction; kContracted for those that its result lacks.
Labelled sideOf(Value value, ArrayRef<int64_t> own, ArrayRef<int64_t> ofResult) {
  Labelled side{value, {}};
  for (int64_t label : own)
    side.labels.push_back(label < int64_t(ofResult.size()) ? ofResult[label] : kContracted);
  return side;
}

/// Whether a tensor is a function of places alone.
bool isOfPlaces(Value x) {
  Operation *op = x.getDefiningOp();
  return op && (op->hasTrait<OfPlaces>() ||
                ((op->hasTrait<Elementwise>() || op->hasTrait<View>()) && llvm::all_of(op->getOperands(), isOfPlaces)));
}

/// What contracts vectors of pairs needs these in memory.
void Parts::addDot(DotOp dot, ArrayRef<int64_t> labels) {
  bool ofPairs = false;
  for (const Labelled &side : {sideOf(dot.getA(), dot.getALabels(), labels), sideOf(dot.getB(), dot.getBLabels(), labels)}) {
    const Labelled bare = withoutBroadcasts(side);
    if (!counts(bare))
      continue;
    ofPairs = true;
    if (bare.value.getDefiningOp<GatherOp>())
      add(bare);
    else
      stored |= !isOfPlaces(bare.value);
  }
  made |= !ofPairs;
}

void Parts::add(Labelled x) {
  x = withoutBroadcasts(x);
  if (!counts(x) || llvm::is_contained(seen, x) || !isa<FloatType>(tensorOf(x.value).getElementType()))
    return;
  seen.push_back(x);
  Operation *op = x.value.getDefiningOp();
  if (!op || op->getNumOperands() == 0) {
    stored |= !op || !op->hasTrait<OfPlaces>();
    return;
  }
  if (auto dot = dyn_cast<DotOp>(op))
    return addDot(dot, x.labels);
  if (auto gather = dyn_cast<GatherOp>(op)) { // rows of a table at pairs are read by the kernel, or not at all
    auto [source, index] = partsOf(gather, x.labels);
    if (!index.has(kKey) && index.has(kQuery))
      llvm::replace(source.labels, kPlace, kQuery);
    return add(source);
  }
  bool isAlike = false;
  for (Value operand : op->getNumRegions() == 0
                           ? ValueRange(op->getOperands())
                           : ValueRange()) // elementwise, or row by row, as a norm of a representation of pairs
    if (auto type = dyn_cast<RankedTensorType>(operand.getType()); type && sizesOf(type) == sizesOf(tensorOf(x.value))) {
      isAlike = true;
      add({operand, x.labels});
    }
  if (auto reduce = dyn_cast<ReduceOp>(op)) {
    Labelled inner{reduce.getX(), {}};
    for (size_t next = 0, rank = tensorOf(reduce.getX()).getRank(), dim = 0; dim < rank; ++dim)
      inner.labels.push_back(llvm::is_contained(reduce.getDims(), int64_t(dim)) ? kContracted : x.labels[next++]);
    return add(inner);
  }
  stored |= !isAlike;
}

} // namespace

bool ScoreReader::isStored(const Labelled &score) {
  Parts parts;
  parts.needsQuery = withoutBroadcasts(score).has(kQuery);
  parts.add(score);
  return parts.stored && !parts.made;
}

/// Numbers of 16 bits are widened as attention reads them.
static Value withoutWidening(Value x) {
  auto convert = x.getDefiningOp<ConvertOp>();
  const Type from = convert ? tensorOf(convert.getX()).getElementType() : Type();
  return convert && isa<FloatType>(from) && elementModel(from).compute == tensorOf(x).getElementType() ? convert.getX() : x;
}

void readPairsAsStored(func::FuncOp function) {
  function.walk([](Operation *op) {
    llvm::TypeSwitch<Operation *>(op).Case<AttentionOp, AttentionGradOp>([](auto attention) {
      if (Value pairs = attention.getPairScores())
        attention.getPairScoresMutable().assign(withoutWidening(pairs));
    });
  });
}

std::string ScoreReader::addPairs(Labelled score, const Weight &weight) {
  if (!score.only({kBatch, kQuery, kKey, kHead}))
    return "it has a dimension besides batch, query, head and key";
  for (const Weight::Tensor &tensor : weight.tensors)
    if (!score.has(kQuery) && tensor.value.has(kQuery))
      return "it is a number for each key, and its factor depends on the query";
  if (weight.tensors.empty())
    score.value = withoutWidening(score.value);
  pairs.push_back({weighted(score, weight.tensors), weight.number});
  return {};
}

/// One tensor of all such terms, [B or P or 1, H or 1, I or 1, J]: a dimension that none of them has is not repeated.
void ScoreReader::finishPairs(Type element) {
  if (pairs.empty())
    return;
  auto isThere = [&](int64_t label) {
    return llvm::any_of(pairs, [&](auto &pair) { return llvm::is_contained(pair.first.labels, label); });
  };
  // Of the axes of the batch those from the first to the last that there is.
  const Labels &batches = space.axes(kBatch);
  const auto *first = llvm::find_if(batches, isThere), *end = batches.end();
  while (end != first && !isThere(*(end - 1)))
    --end;
  SmallVector<Labels> groups;
  SmallVector<int64_t> places;
  SmallVector<AffineExpr> sizes(4, getAffineConstantExpr(1, builder.getContext()));
  const Labels there[] = {Labels(first, end), llvm::any_of(space.axes(kHead), isThere) ? space.axes(kHead) : Labels(),
                          isThere(kQuery) ? Labels{kQuery} : Labels(), Labels{kKey}};
  for (auto [place, labels] : llvm::enumerate(there))
    if (!labels.empty()) {
      groups.push_back(labels);
      places.push_back(place);
      sizes[place] = space.product(labels);
    }
  for (auto &[scores, by] : pairs) {
    Value term = arranged(scores, groups, 1);
    if (pairs.size() > 1 || by != 1)
      term = build.convert(term, element);
    accumulate(build, pairScores, by == 1 ? term : build.scale(term, by));
  }
  if (groups.size() < 4)
    pairScores = build.broadcast(pairScores, places, space.type(sizes, tensorOf(pairScores).getElementType()));
  const Labels before(batches.begin(), first), behind(end, batches.end());
  if (first != end && !(before.empty() && behind.empty()))
    pairBatch =
        AffineMapAttr::get(sizeMap({space.product(before), space.product(behind)}, space.dimCount(), builder.getContext()));
}

} // namespace tenon
