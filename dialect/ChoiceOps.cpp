// Which elements of a row are the largest, and the noise that makes a draw of the largest: element code, decompositions,
// verifiers.
#include "dialect/Build.h"
#include "dialect/ElementFolds.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/Sequence.h"

using namespace mlir;
using namespace tenon;

/// Comparisons of numbers of either kind; those of reals are false for a NaN.
static Value compareScalars(OpBuilder &builder, Location location, arith::CmpFPredicate ofReals, arith::CmpIPredicate ofIntegers,
                            Value a, Value b) {
  if (isa<FloatType>(a.getType()))
    return arith::CmpFOp::create(builder, location, ofReals, a, b);
  return arith::CmpIOp::create(builder, location, ofIntegers, a, b);
}

// ---- argmax

/// Two passes: the largest element, and the first place at which it stands. Both compute an element by the same code over the
/// same lanes, so that the second meets the very numbers of the first.
Value ArgMaxOp::buildElement(OpBuilder &builder, unsigned, ValueRange indices, ElementReader read) {
  Location location = getLoc();
  auto x = tensorOf(getX());
  const int64_t dim = getDim();
  const AffineExpr size = sizesOf(x)[dim];
  Type number = tensorOf(getY()).getElementType();
  auto element = [&](ValueRange j) -> Value {
    SmallVector<Value> place(indices);
    place.insert(place.begin() + dim, j[0]);
    return read(getX(), place);
  };
  Value largest = fold(builder, location, Reduction::max, x.getElementType(), size, dimCountOf(x), element);
  Value count = arith::IndexCastOp::create(
      builder, location, number,
      SizeValueOp::create(builder, location, builder.getIndexType(), sizeAttribute(size, dimCountOf(x))));
  Value first = fold(builder, location, Reduction::min, number, size, dimCountOf(x), [&](ValueRange j) -> Value {
    Value isLargest = compareScalars(builder, location, arith::CmpFPredicate::OEQ, arith::CmpIPredicate::eq, element(j), largest);
    Value place = arith::IndexCastOp::create(builder, location, number, j[0]);
    return arith::SelectOp::create(builder, location, isLargest, place, count);
  });
  Value zero = arith::ConstantOp::create(builder, location, builder.getZeroAttr(number));
  Value isNone = arith::CmpIOp::create(builder, location, arith::CmpIPredicate::eq, first, count); // NaN alone
  return arith::SelectOp::create(builder, location, isNone, zero, first);
}
SmallVector<Value> ArgMaxOp::decompose(OpBuilder &builder) {
  Build g(builder, getLoc());
  auto x = tensorOf(getX()), y = tensorOf(getY());
  const int64_t dim = getDim();
  SmallVector<int64_t> kept;
  for (int64_t i = 0; i < x.getRank(); ++i)
    if (i != dim)
      kept.push_back(i);
  auto wide = withElement(x, y.getElementType());
  Value isLargest = g.compare(Comparison::eq, getX(), g.broadcast(g.reduce(Reduction::max, getX(), dim), kept, x));
  Value place = IotaOp::create(builder, getLoc(), wide, dim);
  Value first = g.reduce(Reduction::min, g.select(isLargest, place, g.sizeLike(sizesOf(x)[dim], wide)), dim);
  Value isNone = g.compare(Comparison::eq, first, g.sizeLike(sizesOf(x)[dim], y));
  return {g.select(isNone, g.constant(y, 0), first)};
}
LogicalResult ArgMaxOp::inferReturnTypes(MLIRContext *context, std::optional<Location> location, Adaptor adaptor,
                                         SmallVectorImpl<Type> &types) {
  auto x = tensorOf(adaptor.getX());
  if (int64_t(adaptor.getDim()) >= x.getRank()) // C1
    return emitOptionalError(location, "'tenon.argmax' op expects a dimension of ", x, ", got ", adaptor.getDim());
  types.push_back(withElement(withoutDims(x, {int64_t(adaptor.getDim())}), IntegerType::get(context, 32)));
  return success();
}

// ---- top

/// The place of an element in the order is the number of those before it: V x V comparisons of a row.
SmallVector<Value> TopOp::decompose(OpBuilder &builder) {
  Build g(builder, getLoc());
  auto x = tensorOf(getX()), y = tensorOf(getY());
  const int64_t last = x.getRank() - 1;
  SmallVector<AffineExpr> sizes = sizesOf(x);
  sizes.push_back(sizes.back());
  const unsigned dims = std::max(dimCountOf(x), dimCountOf(y));
  auto pairs = tensorType(sizes, x.getElementType(), dims); // [.., own, other]
  auto places = withElement(pairs, y.getElementType());
  SmallVector<int64_t> ofOwn = llvm::to_vector(llvm::seq<int64_t>(0, last + 1)), ofOther = ofOwn;
  ofOther.back() = last + 1;
  Value own = g.broadcast(getX(), ofOwn, pairs), other = g.broadcast(getX(), ofOther, pairs);
  auto both = [&](Value a, Value b) -> Value { return AndOp::create(builder, getLoc(), a.getType(), a, b); };
  auto either = [&](Value a, Value b) -> Value { return OrOp::create(builder, getLoc(), a.getType(), a, b); };
  Value isGreater = g.compare(Comparison::lt, own, other), isEqual = g.compare(Comparison::eq, own, other);
  if (isa<FloatType>(x.getElementType())) {
    Value ownIsNone = g.compare(Comparison::ne, own, own), otherIsNone = g.compare(Comparison::ne, other, other);
    isGreater = either(isGreater, both(ownIsNone, g.unary<NotOp>(otherIsNone)));
    isEqual = either(isEqual, both(ownIsNone, otherIsNone));
  }
  Value isEarlier = g.compare(Comparison::lt, IotaOp::create(builder, getLoc(), places, last + 1),
                              IotaOp::create(builder, getLoc(), places, last));
  Value before = g.convert(either(isGreater, both(isEqual, isEarlier)), y.getElementType());
  Value rank = g.reduce(Reduction::sum, before, last + 1);
  sizes = sizesOf(y);
  sizes.push_back(sizesOf(x).back());
  auto chosen = tensorType(sizes, y.getElementType(), dims); // [.., k, own]
  Value isHere = g.compare(Comparison::eq, g.broadcast(rank, ofOther, chosen), IotaOp::create(builder, getLoc(), chosen, last));
  Value place = IotaOp::create(builder, getLoc(), chosen, last + 1);
  return {g.reduce(Reduction::sum, g.select(isHere, place, g.constant(chosen, 0)), last + 1)};
}
LogicalResult TopOp::verify() {
  auto x = tensorOf(getX()), y = tensorOf(getY());
  if (x.getRank() == 0) // C1
    return emitOpError("expects at least one dimension");
  SmallVector<AffineExpr> ofX = sizesOf(x), ofY = sizesOf(y);
  if (ofX.size() != ofY.size() || !std::equal(ofX.begin(), ofX.end() - 1, ofY.begin())) // C2
    return emitOpError("expects the dimensions of ") << x << " in front of the last one, got " << y;
  auto all = dyn_cast<AffineConstantExpr>(ofX.back()), best = dyn_cast<AffineConstantExpr>(ofY.back());
  if (all && best && best.getValue() > all.getValue()) // C3
    return emitOpError("expects at most ") << all.getValue() << " places of a row, got " << best.getValue();
  return success();
}

// ---- gumbel

/// The number of an element among the random numbers: rows begin at multiples of 64, so that vectors draw whole blocks.
static Value numberOf(OpBuilder &builder, Location location, RankedTensorType type, ValueRange indices) {
  SmallVector<AffineExpr> sizes = sizesOf(type);
  auto size = [&](AffineExpr form) -> Value {
    return SizeValueOp::create(builder, location, builder.getIndexType(), sizeAttribute(form, dimCountOf(type)));
  };
  auto whole = [&](int64_t value) -> Value { return arith::ConstantIndexOp::create(builder, location, value); };
  Value row = whole(0);
  for (size_t i = 0; i + 1 < sizes.size(); ++i)
    row = arith::AddIOp::create(builder, location, arith::MulIOp::create(builder, location, row, size(sizes[i])), indices[i]);
  Value blocks;
  if (auto known = dyn_cast<AffineConstantExpr>(sizes.back()))
    blocks = whole((known.getValue() + 63) / 64);
  else
    blocks = arith::DivUIOp::create(builder, location, arith::AddIOp::create(builder, location, size(sizes.back()), whole(63)),
                                    whole(64));
  Value start = arith::MulIOp::create(builder, location, arith::MulIOp::create(builder, location, row, blocks), whole(64));
  return arith::AddIOp::create(builder, location, start, indices.back());
}
Value GumbelOp::buildElement(OpBuilder &builder, unsigned, ValueRange indices, ElementReader read) {
  Location location = getLoc();
  auto type = tensorOf(getX());
  Type element = type.getElementType();
  Value bits = RandomBitsOp::create(builder, location, builder.getI32Type(), numberOf(builder, location, type, indices),
                                    getDepth(), getSiteAttr());
  Value nine = arith::ConstantOp::create(builder, location, builder.getI32IntegerAttr(9));
  Value steps = arith::SIToFPOp::create(builder, location, element, arith::ShRUIOp::create(builder, location, bits, nine));
  // Exact in f32, and neither 0 nor 1: both logarithms are finite.
  Value middle = arith::AddFOp::create(builder, location, steps, real(builder, location, element, 0.5));
  Value u = arith::MulFOp::create(builder, location, middle, real(builder, location, element, 0x1p-23));
  Value inner = arith::NegFOp::create(builder, location, math::LogOp::create(builder, location, u));
  return arith::SubFOp::create(builder, location, read(getX(), indices), math::LogOp::create(builder, location, inner));
}
LogicalResult GumbelOp::verify() {
  // C1
  return tensorOf(getX()).getRank() ? success() : emitOpError("expects at least one dimension");
}
