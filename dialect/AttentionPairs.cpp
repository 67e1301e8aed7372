#include "dialect/AttentionPairs.h"
#include "dialect/ElementModel.h"

using namespace mlir;

namespace tenon {

static bool isComputedAlike(Value pairs, Value query) {
  return elementModel(tensorOf(pairs).getElementType()).compute == elementModel(tensorOf(query).getElementType()).compute;
}

RankedTensorType typeOfEveryPair(Value pairs, Value query, Value key, Type element) {
  const SmallVector<AffineExpr> q = sizesOf(tensorOf(query)), k = sizesOf(tensorOf(key));
  const unsigned dimCount = std::max({dimCountOf(tensorOf(pairs)), dimCountOf(tensorOf(query)), dimCountOf(tensorOf(key))});
  return tensorType({q[0], q[2], q[1], k[1]}, element, dimCount);
}

bool isPairScores(Value pairs, std::optional<AffineMap> batch, Value query, Value key) {
  const SmallVector<AffineExpr> own = sizesOf(tensorOf(pairs)), q = sizesOf(tensorOf(query));
  MLIRContext *context = pairs.getContext();
  const AffineExpr one = getAffineConstantExpr(1, context);
  if (own.size() != 4 || own[3] != sizesOf(tensorOf(key))[1] || !isComputedAlike(pairs, query))
    return false;
  const bool fitsBatch = batch ? product({batch->getResult(0), own[0], batch->getResult(1)}, context) == product({q[0]}, context)
                               : own[0] == q[0] || own[0] == one;
  return fitsBatch && (own[1] == q[2] || own[1] == one) && (own[2] == q[1] || own[2] == one);
}

bool isGradientOfPairs(Value gradient, Value pairs, Value query, Value key) {
  const RankedTensorType type = tensorOf(gradient);
  return sizesOf(type) == sizesOf(typeOfEveryPair(pairs, query, key, type.getElementType())) && isComputedAlike(gradient, query);
}

namespace {
/// The dimensions of pair_scores among those of [outer, P, inner, H, I, J], [B, H, I, J] with the batch apart.
struct Apart {
  Apart(Value pairs, std::optional<AffineMap> batch, ArrayRef<AffineExpr> whole) {
    const SmallVector<AffineExpr> own = sizesOf(tensorOf(pairs));
    if (batch)
      sizes = {batch->getResult(0), own[0], batch->getResult(1)};
    else
      sizes = {whole[0]};
    sizes.append({whole[1], whole[2], whole[3]});
    for (int64_t dim = 0; dim < 4; ++dim) {
      const int64_t place = dim + int64_t(sizes.size()) - 4 - (batch && dim == 0 ? 1 : 0);
      if (own[dim] == sizes[place])
        places.push_back(place);
      else
        units.push_back(dim);
    }
  }
  SmallVector<AffineExpr> sizes;
  SmallVector<int64_t> places, units; // of the dimensions that are there; those of size 1 that stand for several
};
} // namespace

Value spreadPairs(OpBuilder &builder, Value pairs, std::optional<AffineMap> batch, RankedTensorType scores) {
  Build build(builder, pairs.getLoc());
  const SmallVector<AffineExpr> s = sizesOf(scores);
  const Apart apart(pairs, batch, {s[0], s[2], s[1], s[3]});
  auto type = [&](ArrayRef<AffineExpr> sizes) {
    return tensorType(sizes, scores.getElementType(), std::max(dimCountOf(scores), dimCountOf(tensorOf(pairs))));
  };
  Value bare = build.convert(pairs, scores.getElementType());
  if (!apart.units.empty())
    bare = build.reduce(Reduction::sum, bare, apart.units);
  SmallVector<AffineExpr> sizes = apart.sizes;
  SmallVector<int64_t> places = apart.places;
  const int64_t heads = sizes.size() - 3, queries = heads + 1; // change places
  std::swap(sizes[heads], sizes[queries]);
  for (int64_t &place : places)
    place = place == heads ? queries : place == queries ? heads : place;
  Value whole = build.broadcast(bare, places, type(sizes));
  return batch ? Value(ReshapeOp::create(builder, pairs.getLoc(), scores, whole, builder.getDenseI64ArrayAttr({-3, 1, 1, 1})))
               : whole;
}

Value asPairs(OpBuilder &builder, Value x, RankedTensorType type) {
  Build build(builder, x.getLoc());
  Value pairs = build.broadcast(x, {0, 2, 1, 3}, withElement(type, tensorOf(x).getElementType()));
  return build.convert(pairs, type.getElementType());
}

Value sumOfPairs(OpBuilder &builder, Value gradient, Value pairs, std::optional<AffineMap> batch) {
  Build build(builder, gradient.getLoc());
  const RankedTensorType type = tensorOf(gradient);
  const Apart apart(pairs, batch, sizesOf(type));
  if (batch)
    gradient = ReshapeOp::create(builder, gradient.getLoc(),
                                 tensorType(apart.sizes, type.getElementType(), std::max(dimCountOf(type), batch->getNumDims())),
                                 gradient, builder.getDenseI64ArrayAttr({3, 1, 1, 1}));
  SmallVector<int64_t> repeated, kept;
  for (int64_t place = 0; place < int64_t(apart.sizes.size()); ++place)
    if (!llvm::is_contained(apart.places, place))
      repeated.push_back(place);
  for (int64_t dim = 0; dim < 4; ++dim)
    if (!llvm::is_contained(apart.units, dim))
      kept.push_back(dim);
  if (!repeated.empty())
    gradient = build.broadcast(build.reduce(Reduction::sum, gradient, repeated), kept,
                               withElement(tensorOf(pairs), type.getElementType()));
  return build.convert(gradient, tensorOf(pairs).getElementType());
}

} // namespace tenon
