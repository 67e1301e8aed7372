// Reductions, normalizers, dropout: element code, decompositions, gradient rules, verifiers.
#include "dialect/Build.h"
#include "dialect/ElementFolds.h"
#include "dialect/ElementModel.h"
#include "dialect/Rules.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/Sequence.h"

using namespace mlir;
using namespace tenon;

// ---- types in mixed precision

bool NormalizeOp::isSavedNarrow(Value value) { return value == getX() || value == getY(); }
bool ReduceOp::readsRounded() { return getKind() == Reduction::sum; }

namespace {
/// Whether the last dimension of x, computed element by element, is that of the places in windows: few, and those of the next
/// window for the most part.
bool endsInPlaces(Value x, int depth = 0) {
  constexpr int kDeepest = 8;
  const auto type = dyn_cast<RankedTensorType>(x.getType());
  auto op = x.getDefiningOp<ElementOpInterface>();
  if (!type || !op || depth == kDeepest || op.elementCost() >= kCostOfRow)
    return false;
  if (auto window = dyn_cast<WindowOp>(*op))
    return window.placeDim(window.getDims().size() - 1) + 1 == type.getRank();
  return op->getNumResults() == 1 &&
         llvm::any_of(op->getOperands(), [&](Value each) { return each.getType() == type && endsInPlaces(each, depth + 1); });
}
} // namespace

/// The places of a window are not one row: they are taken one after the other, of many windows at once. Where they stay, as in
/// the gradient of a filter, the windows are the row.
bool ReduceOp::isRowResult(unsigned) { return getDims().back() + (endsInPlaces(getX()) ? 2 : 1) == getX().getType().getRank(); }
bool ReduceOp::isReduction() { return getKind() == Reduction::sum; }

// ---- rows

std::optional<SmallVector<int64_t>> ReduceOp::dimsInResults(OpOperand &) {
  SmallVector<int64_t> dims = dimsOfTensor(getX());
  const int64_t none = dims.size();
  int64_t kept = 0;
  for (int64_t &dim : dims)
    dim = llvm::is_contained(getDims(), dim) ? none : kept++;
  return dims;
}
/// All of the last dimension goes into each element.
static SmallVector<int64_t> dimsButLast(Value x) {
  SmallVector<int64_t> dims = dimsOfTensor(x);
  dims.back() = dims.size();
  return dims;
}
std::optional<SmallVector<int64_t>> SoftmaxOp::dimsInResults(OpOperand &) { return dimsButLast(getX()); }
std::optional<SmallVector<int64_t>> NormalizeOp::dimsInResults(OpOperand &) { return dimsButLast(getX()); }

// ---- running sum

Value RunningSumOp::buildElement(OpBuilder &builder, unsigned, ValueRange indices, ElementReader read) {
  auto x = tensorOf(getX());
  const int64_t dim = getDim();
  return tenon::fold(builder, getLoc(), Reduction::sum, x.getElementType(), sizesOf(x)[dim], dimCountOf(x),
                     [&](ValueRange j) -> Value {
                       SmallVector<Value> place(indices);
                       place[dim] = j[0];
                       Value term = read(getX(), place),
                             zero = arith::ConstantOp::create(builder, getLoc(), builder.getZeroAttr(term.getType()));
                       auto counts = getReverse() ? arith::CmpIPredicate::sge : arith::CmpIPredicate::sle;
                       return arith::SelectOp::create(
                           builder, getLoc(), arith::CmpIOp::create(builder, getLoc(), counts, j[0], indices[dim]), term, zero);
                     });
}
/// All pairs of places: T x T work, of reals as a contraction with a triangle of ones.
SmallVector<Value> RunningSumOp::decompose(OpBuilder &builder) {
  Build g(builder, getLoc());
  auto x = tensorOf(getX());
  const int64_t dim = getDim(), rank = x.getRank();
  Type number = builder.getI32Type();
  AffineExpr size = sizesOf(x)[dim];
  SmallVector<int64_t> sourceLabels =
      llvm::to_vector(llvm::seq<int64_t>(0, rank)); // x's dimension `dim` becomes the one that is summed, behind the others
  sourceLabels[dim] = rank;
  auto pairs = [&](RankedTensorType type, int64_t from, int64_t to) {
    Value source = IotaOp::create(builder, getLoc(), type, from), target = IotaOp::create(builder, getLoc(), type, to);
    return getReverse() ? g.compare(Comparison::le, target, source) : g.compare(Comparison::le, source, target);
  };
  if (isa<FloatType>(x.getElementType())) {
    Value triangle = g.convert(pairs(tensorType({size, size}, number, dimCountOf(x)), 1, 0), x.getElementType());
    return {g.dot(getX(), sourceLabels, triangle, {dim, rank}, x)};
  }
  SmallVector<AffineExpr> sizes = sizesOf(x);
  sizes.push_back(size);
  auto all = tensorType(sizes, x.getElementType(), dimCountOf(x));
  Value counts = pairs(withElement(all, number), rank, dim);
  return {g.reduce(Reduction::sum, g.select(counts, g.broadcast(getX(), sourceLabels, all), g.constant(all, 0)), rank)};
}
SmallVector<Value> RunningSumOp::buildVjp(OpBuilder &builder, ArrayRef<Value> dy) {
  if (!isa<FloatType>(tensorOf(getX()).getElementType()))
    return {Value()};
  return {RunningSumOp::create(builder, getLoc(), getX().getType(), dy[0], getDimAttr(),
                               getReverse() ? UnitAttr() : builder.getUnitAttr())};
}
LogicalResult RunningSumOp::verify() {
  if (int64_t(getDim()) >= tensorOf(getX()).getRank()) // C1
    return emitOpError("expects a dimension of ") << getX().getType() << ", got " << getDim();
  return success();
}

// ---- reduce

Value ReduceOp::buildElement(OpBuilder &builder, unsigned, ValueRange indices, ElementReader read) {
  auto x = tensorOf(getX());
  SmallVector<AffineExpr> sizes;
  for (int64_t dim : getDims())
    sizes.push_back(sizesOf(x)[dim]);
  return tenon::fold(builder, getLoc(), getKind(), x.getElementType(), sizes, dimCountOf(x), [&](ValueRange j) {
    SmallVector<Value> place;
    for (int64_t i = 0, kept = 0, folded = 0; i < x.getRank(); ++i)
      place.push_back(llvm::is_contained(getDims(), i) ? j[folded++] : indices[kept++]);
    return read(getX(), place);
  });
}
SmallVector<Value> ReduceOp::buildVjp(OpBuilder &builder, ArrayRef<Value> resultGradients) {
  auto x = tensorOf(getX());
  if (!isa<FloatType>(x.getElementType()))
    return {Value()};
  Build g(builder, getLoc());
  SmallVector<int64_t> kept;
  for (int64_t i = 0; i < x.getRank(); ++i)
    if (!llvm::is_contained(getDims(), i))
      kept.push_back(i);
  if (getKind() == Reduction::sum)
    return {g.broadcast(resultGradients[0], kept, x)};
  Value winners = g.convert(g.compare(Comparison::eq, getX(), g.broadcast(getY(), kept, x)), x.getElementType());
  Value share = g.div(resultGradients[0], g.reduce(Reduction::sum, winners, getDims()));
  return {g.mul(winners, g.broadcast(share, kept, x))};
}
LogicalResult ReduceOp::inferReturnTypes(MLIRContext *, std::optional<Location> location, Adaptor adaptor,
                                         SmallVectorImpl<Type> &types) {
  auto x = tensorOf(adaptor.getX());
  ArrayRef<int64_t> dims = adaptor.getDims();
  bool ascending = std::adjacent_find(dims.begin(), dims.end(), std::greater_equal<>()) == dims.end();
  if (dims.empty() || !ascending || dims.front() < 0 || dims.back() >= x.getRank()) // C1
    return emitOptionalError(location, "'tenon.reduce' op expects ascending dimensions inside rank ", x.getRank());
  types.push_back(withoutDims(x, dims)); // C2
  return success();
}
LogicalResult ReduceOp::verify() {
  auto x = tensorOf(getX());
  bool truth = x.getElementType().isInteger(1), wantsTruth = getKind() == Reduction::all || getKind() == Reduction::any;
  if (truth != wantsTruth) // C3
    return emitOpError("expects truth values for all and any, numbers otherwise, got ") << x.getElementType();
  return success();
}

// ---- softmax

Value SoftmaxOp::buildElement(OpBuilder &builder, unsigned, ValueRange indices, ElementReader read) {
  auto x = tensorOf(getX());
  Location location = getLoc();
  ValueRange row = indices.drop_back();
  Value maximum = foldRow(builder, location, Reduction::max, x, row, [&](ValueRange place) { return read(getX(), place); });
  auto exponential = [&](ValueRange place) -> Value {
    return math::ExpOp::create(builder, location, arith::SubFOp::create(builder, location, read(getX(), place), maximum));
  };
  Value sum = foldRow(builder, location, Reduction::sum, x, row, exponential);
  if (!getLog())
    return arith::DivFOp::create(builder, location, exponential(indices), sum);
  Value shifted = arith::SubFOp::create(builder, location, read(getX(), indices), maximum);
  return arith::SubFOp::create(builder, location, shifted, math::LogOp::create(builder, location, sum));
}
SmallVector<Value> SoftmaxOp::decompose(OpBuilder &builder) {
  Build g(builder, getLoc());
  auto type = tensorOf(getX());
  Value shifted = g.sub(getX(), g.alongLast(g.reduceLast(Reduction::max, getX()), type));
  Value exponential = g.unary<ExpOp>(shifted), sum = g.reduceLast(Reduction::sum, exponential);
  return {getLog() ? g.sub(shifted, g.alongLast(g.unary<LogOp>(sum), type)) : g.div(exponential, g.alongLast(sum, type))};
}
SmallVector<Value> SoftmaxOp::buildVjp(OpBuilder &builder, ArrayRef<Value> resultGradients) {
  Build g(builder, getLoc());
  Value dy = resultGradients[0], y = getY();
  auto type = tensorOf(y);
  if (getLog())
    return {g.sub(dy, g.mul(g.unary<ExpOp>(y), g.alongLast(g.reduceLast(Reduction::sum, dy), type)))};
  return {g.mul(y, g.sub(dy, g.alongLast(g.reduceLast(Reduction::sum, g.mul(dy, y)), type)))};
}
LogicalResult SoftmaxOp::verify() {
  // C1
  return tensorOf(getX()).getRank() ? success() : emitOpError("expects at least one dimension");
}

// ---- normalize

Value NormalizeOp::buildElement(OpBuilder &builder, unsigned result, ValueRange indices, ElementReader read) {
  auto x = tensorOf(getX());
  Location location = getLoc();
  ValueRange row = result == 0 ? indices.drop_back() : indices;
  Value count = sizeAsReal(builder, location, x, sizesOf(x).back());
  Value sum = foldRow(builder, location, Reduction::sum, x, row, [&](ValueRange place) { return read(getX(), place); });
  Value mean = arith::DivFOp::create(builder, location, sum, count);
  if (result == 1)
    return mean;
  Value squares = foldRow(builder, location, Reduction::sum, x, row, [&](ValueRange place) -> Value {
    Value centred = arith::SubFOp::create(builder, location, read(getX(), place), mean);
    return arith::MulFOp::create(builder, location, centred, centred);
  });
  Value variance = arith::DivFOp::create(builder, location, squares, count);
  Value shifted =
      arith::AddFOp::create(builder, location, variance, real(builder, location, x.getElementType(), getEps().convertToDouble()));
  Value rstd = arith::DivFOp::create(builder, location, real(builder, location, x.getElementType(), 1),
                                     math::SqrtOp::create(builder, location, shifted));
  if (result == 2)
    return rstd;
  return arith::MulFOp::create(builder, location, arith::SubFOp::create(builder, location, read(getX(), indices), mean), rstd);
}
SmallVector<Value> NormalizeOp::decompose(OpBuilder &builder) {
  Build g(builder, getLoc());
  auto type = tensorOf(getX()), rowType = tensorOf(getMean());
  Value count = g.sizeLike(sizesOf(type).back(), rowType);
  Value mean = g.div(g.reduceLast(Reduction::sum, getX()), count);
  Value centred = g.sub(getX(), g.alongLast(mean, type));
  Value variance = g.div(g.reduceLast(Reduction::sum, g.mul(centred, centred)), count);
  Value rstd = g.div(g.constant(rowType, 1), g.unary<SqrtOp>(g.add(variance, g.constant(rowType, getEps().convertToDouble()))));
  return {g.mul(centred, g.alongLast(rstd, type)), mean, rstd};
}
SmallVector<Value> NormalizeOp::buildVjp(OpBuilder &builder, ArrayRef<Value> resultGradients) {
  if (!resultGradients[0])
    return {Value()};
  return {NormalizeGradOp::create(builder, getLoc(), getX().getType(), resultGradients[0], getX(), getMean(), getRstd())};
}
LogicalResult NormalizeOp::inferReturnTypes(MLIRContext *, std::optional<Location> location, Adaptor adaptor,
                                            SmallVectorImpl<Type> &types) {
  auto x = tensorOf(adaptor.getX());
  if (x.getRank() == 0)
    return emitOptionalError(location, "'tenon.normalize' op expects at least one dimension"); // C1
  auto row = withoutDims(x, {x.getRank() - 1});
  types.append({x, row, row}); // C1, C2
  return success();
}
LogicalResult NormalizeGradOp::verify() {
  auto x = tensorOf(getX());
  if (x.getRank() == 0 || getMean().getType() != withoutDims(x, {x.getRank() - 1})) // C2
    return emitOpError("expects mean and rstd of ") << x << " without the last dimension, got " << getMean().getType();
  return success();
}
Value NormalizeGradOp::buildElement(OpBuilder &builder, unsigned, ValueRange indices, ElementReader read) {
  auto x = tensorOf(getX());
  Location location = getLoc();
  ValueRange row = indices.drop_back();
  Value mean = read(getMean(), row), rstd = read(getRstd(), row);
  Value count = sizeAsReal(builder, location, x, sizesOf(x).back());
  auto normal = [&](ValueRange place) -> Value {
    return arith::MulFOp::create(builder, location, arith::SubFOp::create(builder, location, read(getX(), place), mean), rstd);
  };
  Value sumDy = foldRow(builder, location, Reduction::sum, x, row, [&](ValueRange place) { return read(getDy(), place); });
  Value sumDyN = foldRow(builder, location, Reduction::sum, x, row, [&](ValueRange place) -> Value {
    return arith::MulFOp::create(builder, location, read(getDy(), place), normal(place));
  });
  Value meanDy = arith::DivFOp::create(builder, location, sumDy, count),
        meanDyN = arith::DivFOp::create(builder, location, sumDyN, count);
  Value inner = arith::SubFOp::create(builder, location, read(getDy(), indices), meanDy);
  inner = arith::SubFOp::create(builder, location, inner, arith::MulFOp::create(builder, location, normal(indices), meanDyN));
  return arith::MulFOp::create(builder, location, rstd, inner);
}

// ---- dropout

Value DropoutOp::buildElement(OpBuilder &builder, unsigned, ValueRange indices, ElementReader read) {
  Location location = getLoc();
  auto type = tensorOf(getX());
  Value x = read(getX(), indices);
  int64_t threshold = std::llround(getRate().convertToDouble() * 65536);
  if (threshold == 0)
    return x;
  Value zero = real(builder, location, type.getElementType(), 0);
  if (threshold >= 65536)
    return zero;
  Value index = arith::ConstantIndexOp::create(builder, location, 0);
  for (auto [i, size] : llvm::enumerate(sizesOf(type))) {
    auto form = sizeAttribute(size, dimCountOf(type));
    if (llvm::is_contained(getShared(), int64_t(i)))
      continue;
    index = arith::MulIOp::create(builder, location, index, SizeValueOp::create(builder, location, builder.getIndexType(), form));
    index = arith::AddIOp::create(builder, location, index, indices[i]);
  }
  Value keep = RandomKeepOp::create(builder, location, builder.getI1Type(), index, getDepth(), getSiteAttr(),
                                    builder.getI64IntegerAttr(threshold));
  Value scaled = arith::MulFOp::create(builder, location, x,
                                       real(builder, location, type.getElementType(), 65536.0 / double(65536 - threshold)));
  return arith::SelectOp::create(builder, location, keep, scaled, zero);
}
/// Of ones, all that it keeps and scales.
Value DropoutOp::buildFactor(OpBuilder &builder) {
  Value ones = Build(builder, getLoc()).constant(getX().getType(), 1);
  Operation *factor = builder.clone(*getOperation());
  factor->setOperand(0, ones);
  return factor->getResult(0);
}
SmallVector<Value> DropoutOp::buildVjp(OpBuilder &builder, ArrayRef<Value> dy) {
  SmallVector<Value> gradients(getOperation()->getNumOperands());
  gradients[0] =
      DropoutOp::create(builder, getLoc(), dy[0].getType(), dy[0], getDepth(), getRateAttr(), getSiteAttr(), getSharedAttr());
  return gradients;
}
LogicalResult DropoutOp::verify() {
  double rate = getRate().convertToDouble();
  if (!(rate >= 0 && rate <= 1)) // C1
    return emitOpError("expects a rate in 0 .. 1, got ") << rate;
  for (int64_t dim : getShared()) // C3
    if (dim < 0 || dim >= tensorOf(getX()).getRank())
      return emitOpError("expects shared dimensions of ") << getX().getType() << ", got " << dim;
  return success();
}
