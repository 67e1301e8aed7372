// Sliding windows: element code, gradient rule, verifier, canonical form.
#include "dialect/Build.h"
#include "dialect/Fold.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace tenon;

namespace {

/// Index arithmetic of one element, without what changes nothing.
class Places {
public:
  Places(OpBuilder &builder, WindowOp op) : builder(builder), op(op) {}

  /// The place in x that pair `entry` reads at (i, k), clamped where it may be outside; adds to `inside` what says that it is
  /// not.
  Value place(size_t entry, Value i, Value k, SmallVectorImpl<Value> &inside) {
    Location location = op.getLoc();
    Value number = plus(plus(times(i, op.getStride()[entry]), times(k, op.getDilation()[entry])), -op.getPad()[entry]);
    const int64_t divisor = op.getDivisor()[entry];
    if (divisor > 1) {
      Value by = constant(divisor), quotient = arith::FloorDivSIOp::create(builder, location, number, by);
      Value back = arith::MulIOp::create(builder, location, quotient, by);
      inside.push_back(arith::CmpIOp::create(builder, location, arith::CmpIPredicate::eq, back, number));
      number = quotient;
    }
    const bool mayBeBelow = !isAtLeast(lowest(entry), 0), mayBeBehind = !isAtLeast(room(entry), 0);
    Value clamped = number;
    if (mayBeBehind) {
      Value size = SizeValueOp::create(builder, location, builder.getIndexType(), sizeAttribute(sizeOfX(entry), dimCount()));
      Value last = SizeValueOp::create(builder, location, builder.getIndexType(), sizeAttribute(sizeOfX(entry) - 1, dimCount()));
      inside.push_back(arith::CmpIOp::create(builder, location, arith::CmpIPredicate::slt, number, size));
      clamped = arith::MinSIOp::create(builder, location, clamped, last);
    }
    if (mayBeBelow) {
      inside.push_back(arith::CmpIOp::create(builder, location, arith::CmpIPredicate::sle, constant(0), number));
      clamped = arith::MaxSIOp::create(builder, location, constant(0), clamped);
    }
    return clamped;
  }

private:
  AffineExpr sizeOfX(size_t entry) { return sizesOf(tensorOf(op.getX()))[op.getDims()[entry]]; }
  unsigned dimCount() { return std::max(dimCountOf(tensorOf(op.getX())), dimCountOf(tensorOf(op.getY()))); }
  AffineExpr number(int64_t value) { return getAffineConstantExpr(value, op.getContext()); }
  AffineExpr lastOf(int64_t dim) { return sizesOf(tensorOf(op.getY()))[dim] - 1; }

  /// stride i + dilation k - pad at its least, and how far at its most it stays below the end of x (times the divisor).
  AffineExpr lowest(size_t entry) {
    const int64_t dilation = op.getDilation()[entry];
    return (dilation < 0 ? lastOf(op.placeDim(entry)) * dilation : number(0)) - op.getPad()[entry];
  }
  AffineExpr room(size_t entry) {
    const int64_t dilation = op.getDilation()[entry];
    AffineExpr highest = lastOf(op.windowDim(entry)) * op.getStride()[entry] - op.getPad()[entry];
    if (dilation > 0)
      highest = highest + lastOf(op.placeDim(entry)) * dilation;
    return (sizeOfX(entry) - 1) * op.getDivisor()[entry] - highest;
  }
  bool isAtLeast(AffineExpr form, int64_t bound) {
    auto value = dyn_cast<AffineConstantExpr>(simplifyAffineExpr(form, dimCount(), 0));
    return value && value.getValue() >= bound;
  }

  Value constant(int64_t value) { return arith::ConstantIndexOp::create(builder, op.getLoc(), value); }
  Value times(Value index, int64_t factor) {
    return factor == 1 ? index : Value(arith::MulIOp::create(builder, op.getLoc(), index, constant(factor)));
  }
  Value plus(Value a, Value b) { return arith::AddIOp::create(builder, op.getLoc(), a, b); }
  Value plus(Value a, int64_t b) { return b == 0 ? a : plus(a, constant(b)); }

  OpBuilder &builder;
  WindowOp op;
};

} // namespace

Value WindowOp::buildElement(OpBuilder &builder, unsigned, ValueRange indices, ElementReader read) {
  Places places(builder, *this);
  SmallVector<Value> source, inside;
  size_t entry = 0;
  for (int64_t dim = 0; dim < int64_t(indices.size()); ++dim) {
    if (entry == getDims().size() || dim != windowDim(entry)) {
      source.push_back(indices[dim]);
      continue;
    }
    source.push_back(places.place(entry, indices[dim], indices[dim + 1], inside));
    if (getPaired())
      source.push_back(indices[dim + 1]);
    ++dim, ++entry;
  }
  Value x = read(getX(), source); // clamped: outside its value is thrown away
  if (inside.empty())
    return x;
  Value isInside = inside.front();
  for (Value further : ArrayRef<Value>(inside).drop_front())
    isInside = arith::AndIOp::create(builder, getLoc(), isInside, further);
  const double value = getFill().convertToDouble();
  TypedAttr fill = isa<FloatType>(x.getType()) ? TypedAttr(builder.getFloatAttr(x.getType(), value))
                                               : TypedAttr(builder.getIntegerAttr(x.getType(), int64_t(value)));
  return arith::SelectOp::create(builder, getLoc(), isInside, x, arith::ConstantOp::create(builder, getLoc(), fill));
}

SmallVector<Value> WindowOp::buildVjp(OpBuilder &builder, ArrayRef<Value> dy) {
  auto x = tensorOf(getX()), y = tensorOf(getY());
  if (!isa<FloatType>(x.getElementType()))
    return {Value()};
  SmallVector<AffineExpr> sizes = sizesOf(y);
  SmallVector<int64_t> windows, places;
  for (auto [entry, dim] : llvm::enumerate(getDims())) {
    windows.push_back(windowDim(entry));
    places.push_back(placeDim(entry));
    sizes[windows.back()] = sizesOf(x)[dim];
  }
  auto negated = [&](ArrayRef<int64_t> numbers) {
    return builder.getDenseI64ArrayAttr(llvm::map_to_vector(numbers, [](int64_t number) { return -number; }));
  };
  auto all = tensorType(sizes, x.getElementType(), std::max(dimCountOf(x), dimCountOf(y)));
  Value terms = WindowOp::create(builder, getLoc(), all, dy[0], builder.getDenseI64ArrayAttr(windows), getDivisorAttr(),
                                 negated(getDilation()), negated(getPad()), getStrideAttr(), builder.getF64FloatAttr(0),
                                 builder.getUnitAttr());
  return {getPaired() ? terms : Build(builder, getLoc()).reduce(Reduction::sum, terms, places)};
}

LogicalResult WindowOp::verify() {
  auto x = tensorOf(getX()), y = tensorOf(getY());
  const size_t count = getDims().size();
  const int64_t own = getPaired() ? 2 : 1; // dimensions of x for each pair of y
  for (size_t entry = 0; entry < count; ++entry)
    if (getDims()[entry] < (entry == 0 ? 0 : getDims()[entry - 1] + own) || getDims()[entry] + own > x.getRank()) // C1
      return emitOpError("expects ascending dimensions inside rank ") << x.getRank();
  auto isOne = [](int64_t number) { return number >= 1; };
  if (getStride().size() != count || getDilation().size() != count || getPad().size() != count || getDivisor().size() != count ||
      !llvm::all_of(getStride(), isOne) || !llvm::all_of(getDivisor(), isOne)) // C2
    return emitOpError("expects one stride, dilation, pad and divisor for each dimension, strides and divisors at least 1");
  if (y.getRank() != x.getRank() + (getPaired() ? 0 : int64_t(count)) || x.getElementType() != y.getElementType()) // C3, C4
    return emitOpError("expects two dimensions for each windowed one and the element type of its operand, got ")
           << x << " and " << y;
  SmallVector<AffineExpr> from = sizesOf(x), to = sizesOf(y);
  for (int64_t ofX = 0, ofY = 0, entry = 0; ofX < x.getRank(); ++ofX, ++ofY) {
    if (entry < int64_t(count) && getDims()[entry] == ofX) {
      ofX += own - 1, ++ofY, ++entry;
      if (!getPaired())
        continue;
    }
    if (from[ofX] != to[ofY]) // C3
      return emitOpError("expects dimension ")
             << ofX << " to keep its size, got " << textOf(from[ofX]) << " and " << textOf(to[ofY]);
  }
  const double fill = getFill().convertToDouble();
  const bool isTruth = x.getElementType().isInteger(1);
  if (isa<IntegerType>(x.getElementType()) && (fill != std::trunc(fill) || (isTruth && fill != 0 && fill != 1))) // C5
    return emitOpError("expects a fill that ") << x.getElementType() << " has, got " << fill;
  return success();
}

// ---- canonical form

/// Whether every window has one place and is the element itself.
static bool isPlain(WindowOp op) {
  auto all = [](ArrayRef<int64_t> numbers, int64_t wanted) {
    return llvm::all_of(numbers, [&](int64_t number) { return number == wanted; });
  };
  SmallVector<AffineExpr> from = sizesOf(tensorOf(op.getX())), to = sizesOf(tensorOf(op.getY()));
  for (size_t entry = 0; entry < op.getDims().size(); ++entry)
    if (to[op.placeDim(entry)] != getAffineConstantExpr(1, op.getContext()) ||
        to[op.windowDim(entry)] != from[op.getDims()[entry]])
      return false;
  return all(op.getStride(), 1) && all(op.getDivisor(), 1) && all(op.getPad(), 0);
}

OpFoldResult WindowOp::fold(FoldAdaptor adaptor) {
  if (getPaired() && isPlain(*this))
    return getX();
  FloatAttr constant = constantOf(adaptor.getX());
  return constant && constant == getFillAttr() ? constant : OpFoldResult();
}
/// Windows of one element are a dimension of size 1.
LogicalResult WindowOp::canonicalize(WindowOp op, PatternRewriter &rewriter) {
  if (op.getPaired() || !isPlain(op))
    return rewriter.notifyMatchFailure(op, "windows of several elements, or apart from each other");
  SmallVector<int64_t> groups(tensorOf(op.getX()).getRank(), 1);
  for (int64_t dim : op.getDims())
    groups[dim] = 2;
  rewriter.replaceOpWithNewOp<ReshapeOp>(op, op.getType(), op.getX(), rewriter.getDenseI64ArrayAttr(groups));
  return success();
}
