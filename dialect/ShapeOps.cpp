// Sources, views and moves: element code, gradient rules, verifiers.
#include "dialect/Build.h"
#include "dialect/Formula.h"
#include "dialect/Rules.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace tenon;

namespace {

Value indexConstant(OpBuilder &builder, Location location, int64_t value) {
  return arith::ConstantIndexOp::create(builder, location, value);
}

} // namespace

// ---- sources

Value ConstantOp::buildElement(OpBuilder &builder, unsigned, ValueRange, ElementReader) {
  Type element = tensorOf(getY()).getElementType();
  double value = getValue().convertToDouble();
  if (isa<FloatType>(element))
    return arith::ConstantOp::create(builder, getLoc(), builder.getFloatAttr(element, value));
  return arith::ConstantOp::create(builder, getLoc(), builder.getIntegerAttr(element, int64_t(value)));
}
LogicalResult ConstantOp::verify() {
  double value = getValue().convertToDouble();
  auto type = dyn_cast<IntegerType>(tensorOf(getY()).getElementType());
  if (!type)
    return success();
  if (!std::isfinite(value) || value != std::trunc(value)) // C1
    return emitOpError("expects a whole number for integer elements, got ") << value;
  const double limit = std::ldexp(1, std::min<int>(type.getWidth() - 1, 53));
  if (type.getWidth() == 1 ? value != 0 && value != 1 : value < -limit || value >= limit) // C2
    return emitOpError("expects a number of ") << type << ", got " << value;
  return success();
}

Value SizeOp::buildElement(OpBuilder &builder, unsigned, ValueRange, ElementReader) {
  Value size = SizeValueOp::create(builder, getLoc(), builder.getIndexType(), getFormAttr());
  return arith::IndexCastOp::create(builder, getLoc(), tensorOf(getY()).getElementType(), size);
}
LogicalResult SizeOp::verify() {
  if (tensorOf(getY()).getRank() != 0) // C2
    return emitOpError("expects a scalar result, got ") << getY().getType();
  return verifyForm(*this, getForm()); // C1
}

Value IotaOp::buildElement(OpBuilder &builder, unsigned, ValueRange indices, ElementReader) {
  return arith::IndexCastOp::create(builder, getLoc(), tensorOf(getY()).getElementType(), indices[getDim()]);
}
LogicalResult IotaOp::verify() {
  if (int64_t(getDim()) >= tensorOf(getY()).getRank()) // C1
    return emitOpError("expects a dimension of ") << getY().getType() << ", got " << getDim();
  return success();
}

Value SinusoidOp::buildElement(OpBuilder &builder, unsigned, ValueRange indices, ElementReader) {
  // Computed in f64 whatever the element type: place * frequency loses digits otherwise.
  Location location = getLoc();
  Type f64 = builder.getF64Type();
  auto real = [&](double v) -> Value { return arith::ConstantOp::create(builder, location, builder.getF64FloatAttr(v)); };
  auto whole = [&](int64_t v) { return indexConstant(builder, location, v); };
  int64_t width = tensorOf(getY()).getDimSize(1), half = width / 2;
  Value place = arith::AddIOp::create(builder, location, indices[0],
                                      SizeValueOp::create(builder, location, builder.getIndexType(), getStartAttr()));
  if (int64_t clamp = getClamp(); clamp > 0)
    place =
        arith::MaxSIOp::create(builder, location, whole(-clamp), arith::MinSIOp::create(builder, location, whole(clamp), place));
  Value column = indices[1];
  Value isSin, k;
  if (getInterleaved()) {
    Value parity = arith::RemSIOp::create(builder, location, column, whole(2));
    isSin = arith::CmpIOp::create(builder, location, arith::CmpIPredicate::eq, parity, whole(0));
    k = arith::DivSIOp::create(builder, location, column, whole(2));
  } else {
    isSin = arith::CmpIOp::create(builder, location, arith::CmpIPredicate::slt, column, whole(half));
    k = arith::SelectOp::create(builder, location, isSin, column, arith::SubIOp::create(builder, location, column, whole(half)));
  }
  auto toReal = [&](Value v) -> Value {
    return arith::SIToFPOp::create(builder, location, f64,
                                   arith::IndexCastOp::create(builder, location, builder.getI64Type(), v));
  };
  double rate = getT2t() ? -std::log(10000.0) / std::max<int64_t>(half - 1, 1) : -2 * std::log(10000.0) / double(width);
  Value frequency = math::ExpOp::create(builder, location, arith::MulFOp::create(builder, location, toReal(k), real(rate)));
  Value angle = arith::MulFOp::create(builder, location, toReal(place), frequency);
  Value y = arith::SelectOp::create(builder, location, isSin, math::SinOp::create(builder, location, angle),
                                    math::CosOp::create(builder, location, angle));
  Value inside = arith::CmpIOp::create(builder, location, arith::CmpIPredicate::slt, k, whole(half));
  y = arith::SelectOp::create(builder, location, inside, y, real(0));
  Type element = tensorOf(getY()).getElementType();
  return element == f64 ? y : Value(arith::TruncFOp::create(builder, location, element, y));
}
LogicalResult SinusoidOp::verify() {
  if (tensorOf(getY()).getRank() != 2 || tensorOf(getY()).isDynamicDim(1))
    return emitOpError("expects a table [places, features] with a known number of features, got ") << getY().getType(); // C1
  return verifyForm(*this, getStart());                                                                                 // C2
}

// ---- broadcast

Value BroadcastOp::buildElement(OpBuilder &, unsigned, ValueRange indices, ElementReader read) {
  SmallVector<Value> source;
  for (int64_t dim : getDims())
    source.push_back(indices[dim]);
  return read(getX(), source);
}
SmallVector<Value> BroadcastOp::buildVjp(OpBuilder &builder, ArrayRef<Value> resultGradients) {
  auto type = tensorOf(getX());
  if (!isa<FloatType>(type.getElementType()))
    return {Value()};
  Build g(builder, getLoc());
  SmallVector<int64_t> repeated, kept;
  for (int64_t i = 0; i < tensorOf(getY()).getRank(); ++i)
    (llvm::is_contained(getDims(), i) ? kept : repeated).push_back(i);
  Value sum = g.reduce(Reduction::sum, resultGradients[0], repeated);
  SmallVector<int64_t> back(
      kept.size()); // kept[j] is dimension j of the sum; it came from dimension k of x with dims[k] = kept[j]
  for (auto [j, dim] : llvm::enumerate(kept))
    back[j] = llvm::find(getDims(), dim) - getDims().begin();
  return {g.broadcast(sum, back, type)};
}
LogicalResult BroadcastOp::verify() {
  auto x = tensorOf(getX()), y = tensorOf(getY());
  if (int64_t(getDims().size()) != x.getRank()) // C1
    return emitOpError("expects one result dimension per operand dimension, got ")
           << getDims().size() << " for rank " << x.getRank();
  SmallVector<AffineExpr> from = sizesOf(x), to = sizesOf(y);
  llvm::SmallDenseSet<int64_t> seen;
  for (auto [index, dim] : llvm::enumerate(getDims())) {
    if (dim < 0 || dim >= y.getRank() || !seen.insert(dim).second)
      return emitOpError("expects different result dimensions, got ") << dim; // C1
    if (from[index] != to[dim])                                               // C2
      return emitOpError("expects dimension ")
             << index << " to keep its size, got " << textOf(from[index]) << " and " << textOf(to[dim]);
  }
  if (x.getElementType() != y.getElementType()) // C3
    return emitOpError("expects one element type, got ") << x.getElementType() << " and " << y.getElementType();
  return success();
}

// ---- reshape

Value ReshapeOp::buildElement(OpBuilder &builder, unsigned, ValueRange indices, ElementReader read) {
  SmallVector<AffineExpr> to = sizesOf(tensorOf(getY()));
  SmallVector<AffineExpr> from = sizesOf(tensorOf(getX()));
  SmallVector<Value> source;
  unsigned y = 0;
  auto sizeValue = [&](AffineExpr size) -> Value {
    if (auto number = dyn_cast<AffineConstantExpr>(size))
      return indexConstant(builder, getLoc(), number.getValue());
    auto form = AffineMapAttr::get(AffineMap::get(dimCountOf(tensorOf(getX())), 0, {size}, getContext()));
    return SizeValueOp::create(builder, getLoc(), builder.getIndexType(), form);
  };
  for (int64_t group : getGroups()) {
    if (group > 0) { // split: linearise the parts
      Value index = indices[y];
      for (int64_t i = 1; i < group; ++i) {
        index = arith::MulIOp::create(builder, getLoc(), index, sizeValue(to[y + i]));
        index = arith::AddIOp::create(builder, getLoc(), index, indices[y + i]);
      }
      source.push_back(index);
      y += group;
    } else { // merge: take the parts out of the index, last first
      Value index = indices[y++];
      SmallVector<Value> parts(-group);
      size_t x = source.size();
      // A merge with sizes of 1 keeps the index whole: division would hide from vector code that it is contiguous.
      int64_t wide = -1, count = 0;
      for (int64_t i = 0; i < -group; ++i)
        if (auto size = dyn_cast<AffineConstantExpr>(from[x + i]); !size || size.getValue() != 1)
          wide = i, ++count;
      if (count <= 1) {
        for (Value &part : parts)
          part = indexConstant(builder, getLoc(), 0);
        parts[std::max<int64_t>(wide, 0)] = index;
        source.append(parts);
        continue;
      }
      for (int64_t i = -group - 1; i > 0; --i) {
        Value size = sizeValue(from[x + i]);
        parts[i] = arith::RemSIOp::create(builder, getLoc(), index, size);
        index = arith::DivSIOp::create(builder, getLoc(), index, size);
      }
      parts[0] = index;
      source.append(parts);
    }
  }
  return read(getX(), source);
}
SmallVector<Value> ReshapeOp::buildVjp(OpBuilder &builder, ArrayRef<Value> resultGradients) {
  if (!isa<FloatType>(tensorOf(getX()).getElementType()))
    return {Value()};
  SmallVector<int64_t> back;
  for (int64_t group : getGroups())
    back.push_back(group == 1 ? 1 : -group);
  return {ReshapeOp::create(builder, getLoc(), getX().getType(), resultGradients[0], builder.getDenseI64ArrayAttr(back))};
}
/// Whether both are one sum of products of the dims that a caller says: (d0 + 3) * 8 is d0 * 8 + 24, and d2 may be d0 * d1.
static bool areAsMany(Operation *op, AffineExpr left, AffineExpr right) {
  if (left == right)
    return true;
  unsigned count = 0;
  for (AffineExpr expression : {left, right})
    expression.walk([&](AffineExpr part) {
      if (auto dim = dyn_cast<AffineDimExpr>(part))
        count = std::max(count, dim.getPosition() + 1);
    });
  const auto factors = factorsOfDims(op);
  SmallVector<AffineExpr> dims;
  for (unsigned i = 0; i < count; ++i) {
    dims.push_back(i < factors.size() ? getAffineConstantExpr(1, op->getContext()) : getAffineDimExpr(i, op->getContext()));
    for (unsigned factor : i < factors.size() ? ArrayRef<unsigned>(factors[i]) : ArrayRef<unsigned>())
      dims.back() = dims.back() * getAffineDimExpr(factor, op->getContext());
  }
  FormulaSpace space{std::vector<std::string>(count)};
  return space.of(left.replaceDims(dims)) == space.of(right.replaceDims(dims));
}
LogicalResult ReshapeOp::verify() {
  SmallVector<AffineExpr> from = sizesOf(tensorOf(getX())), to = sizesOf(tensorOf(getY()));
  size_t x = 0, y = 0;
  for (int64_t group : getGroups()) {
    size_t nx = group > 0 ? 1 : -group, ny = group > 0 ? group : 1;
    if (group == 0 || x + nx > from.size() || y + ny > to.size()) // C1
      return emitOpError("expects groups inside both shapes, got ")
             << group << " for " << getX().getType() << " and " << getY().getType();
    if (!areAsMany(*this, product(ArrayRef(from).slice(x, nx), getContext()),
                   product(ArrayRef(to).slice(y, ny), getContext()))) // C2
      return emitOpError("expects equal sizes within a group, operand dimension ") << x << ", result dimension " << y;
    x += nx, y += ny;
  }
  if (x != from.size() || y != to.size()) // C1
    return emitOpError("expects groups that cover both shapes, got ") << getX().getType() << " and " << getY().getType();
  if (tensorOf(getX()).getElementType() != tensorOf(getY()).getElementType()) // C3
    return emitOpError("expects one element type, got ") << getX().getType() << " and " << getY().getType();
  return success();
}

// ---- slice, pad, concat

static LogicalResult verifyOtherDims(Operation *op, Value x, Value y, int64_t dim) {
  auto from = tensorOf(x), to = tensorOf(y);
  if (from.getRank() != to.getRank() || from.getElementType() != to.getElementType() || dim < 0 || dim >= from.getRank())
    return op->emitOpError("expects operand and result of one rank and element type, got ") << from << " and " << to; // C1
  SmallVector<AffineExpr> a = sizesOf(from), b = sizesOf(to);
  for (int64_t i = 0; i < from.getRank(); ++i)
    if (i != dim && a[i] != b[i])
      return op->emitOpError("expects dimension ")
             << i << " to keep its size, got " << textOf(a[i]) << " and " << textOf(b[i]); // C1
  return success();
}

Value SliceOp::buildElement(OpBuilder &builder, unsigned, ValueRange indices, ElementReader read) {
  SmallVector<Value> source(indices);
  Value low = SizeValueOp::create(builder, getLoc(), builder.getIndexType(), getLowAttr());
  source[getDim()] = arith::AddIOp::create(builder, getLoc(), low, indices[getDim()]);
  return read(getX(), source);
}
SmallVector<Value> SliceOp::buildVjp(OpBuilder &builder, ArrayRef<Value> dy) {
  if (!isa<FloatType>(tensorOf(getX()).getElementType()))
    return {Value()};
  return {PadOp::create(builder, getLoc(), getX().getType(), dy[0], getDimAttr(), getLowAttr())};
}
LogicalResult SliceOp::verify() {
  return failure(failed(verifyOtherDims(*this, getX(), getY(), getDim())) || failed(verifyForm(*this, getLow())));
} // C1, C2

Value PadOp::buildElement(OpBuilder &builder, unsigned, ValueRange indices, ElementReader read) {
  Location location = getLoc();
  Value low = SizeValueOp::create(builder, location, builder.getIndexType(), getLowAttr());
  AffineExpr size = sizesOf(tensorOf(getX()))[getDim()];
  Value count = SizeValueOp::create(builder, location, builder.getIndexType(),
                                    AffineMapAttr::get(AffineMap::get(dimCountOf(tensorOf(getX())), 0, {size}, getContext())));
  Value zero = indexConstant(builder, location, 0), one = indexConstant(builder, location, 1);
  Value index = arith::SubIOp::create(builder, location, indices[getDim()], low);
  Value inside =
      arith::AndIOp::create(builder, location, arith::CmpIOp::create(builder, location, arith::CmpIPredicate::sle, zero, index),
                            arith::CmpIOp::create(builder, location, arith::CmpIPredicate::slt, index, count));
  SmallVector<Value> source(indices); // the read is clamped: outside its value is thrown away
  source[getDim()] = arith::MaxSIOp::create(
      builder, location, zero,
      arith::MinSIOp::create(builder, location, index, arith::SubIOp::create(builder, location, count, one)));
  Value x = read(getX(), source);
  Value nothing = arith::ConstantOp::create(builder, location, builder.getZeroAttr(x.getType()));
  return arith::SelectOp::create(builder, location, inside, x, nothing);
}
SmallVector<Value> PadOp::buildVjp(OpBuilder &builder, ArrayRef<Value> dy) {
  if (!isa<FloatType>(tensorOf(getX()).getElementType()))
    return {Value()};
  return {SliceOp::create(builder, getLoc(), getX().getType(), dy[0], getDimAttr(), getLowAttr())};
}
LogicalResult PadOp::verify() {
  return failure(failed(verifyOtherDims(*this, getX(), getY(), getDim())) || failed(verifyForm(*this, getLow())));
} // C1, C2

Value ConcatOp::buildElement(OpBuilder &builder, unsigned, ValueRange indices, ElementReader read) {
  Location location = getLoc();
  AffineExpr start = getAffineConstantExpr(0, getContext());
  Value result;
  for (Value part : getParts()) {
    AffineExpr size = sizesOf(tensorOf(part))[getDim()];
    Value low =
        SizeValueOp::create(builder, location, builder.getIndexType(), sizeAttribute(start, dimCountOf(tensorOf(getY()))));
    Value last =
        SizeValueOp::create(builder, location, builder.getIndexType(), sizeAttribute(size - 1, dimCountOf(tensorOf(getY()))));
    Value index = arith::SubIOp::create(builder, location, indices[getDim()], low);
    SmallVector<Value> source(indices); // clamped: outside its part the value is thrown away
    source[getDim()] = arith::MaxSIOp::create(builder, location, indexConstant(builder, location, 0),
                                              arith::MinSIOp::create(builder, location, index, last));
    Value x = read(part, source);
    Value reached = arith::CmpIOp::create(builder, location, arith::CmpIPredicate::sle, low, indices[getDim()]);
    result = result ? Value(arith::SelectOp::create(builder, location, reached, x, result)) : x;
    start = start + size;
  }
  return result;
}
SmallVector<Value> ConcatOp::buildVjp(OpBuilder &builder, ArrayRef<Value> dy) {
  SmallVector<Value> gradients;
  AffineExpr start = getAffineConstantExpr(0, getContext());
  for (Value part : getParts()) {
    bool real = isa<FloatType>(tensorOf(part).getElementType());
    gradients.push_back(real ? Value(SliceOp::create(builder, getLoc(), part.getType(), dy[0], getDimAttr(),
                                                     sizeAttribute(start, dimCountOf(tensorOf(getY())))))
                             : Value());
    start = start + sizesOf(tensorOf(part))[getDim()];
  }
  return gradients;
}
/// The type of the first part, with the sizes of all along `dim`.
LogicalResult ConcatOp::inferReturnTypes(MLIRContext *, std::optional<Location> location, Adaptor adaptor,
                                         SmallVectorImpl<Type> &types) {
  int64_t dim = adaptor.getDim();
  if (adaptor.getParts().empty() || dim < 0 || dim >= tensorOf(adaptor.getParts()[0]).getRank()) // C1
    return emitOptionalError(location, "'tenon.concat' op expects parts that have a dimension ", dim);
  auto first = tensorOf(adaptor.getParts()[0]);
  SmallVector<AffineExpr> sizes = sizesOf(first);
  unsigned dimCount = dimCountOf(first);
  for (Value part : adaptor.getParts().drop_front()) {
    SmallVector<AffineExpr> own = sizesOf(tensorOf(part));
    AffineExpr along = own.size() == sizes.size() ? own[dim] : AffineExpr();
    if (along)
      own[dim] = sizes[dim];
    if (own != sizes || tensorOf(part).getElementType() != first.getElementType()) // C1
      return emitOptionalError(location, "'tenon.concat' op expects parts that agree but along dimension ", dim, ", got ", first,
                               " and ", part.getType());
    dimCount = std::max(dimCount, dimCountOf(tensorOf(part)));
    sizes[dim] = simplifyAffineExpr(sizes[dim] + along, dimCount, 0); // C2
  }
  types.push_back(tensorType(sizes, first.getElementType(), dimCount));
  return success();
}
