// Folders and canonical forms of sources, views, moves and layers. Elements are moved, none is computed anew but sums of +0: the
// bits stay. What is not exact is not here: a reduction of a reduction of reals adds in another order, a padded -0 is not the 0
// beside it. Terminates: each rewrite removes an op or moves a view into the labels, places or bounds of the op it stands at;
// none makes a view.
#include "dialect/Build.h"
#include "dialect/ElementModel.h"
#include "dialect/Fold.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace tenon;

// ---- sources

OpFoldResult ConstantOp::fold(FoldAdaptor) { return getValueAttr(); }
OpFoldResult SizeOp::fold(FoldAdaptor) {
  auto number = dyn_cast<AffineConstantExpr>(getForm().getResult(0));
  constexpr int64_t limit = int64_t(1) << 53; // beyond it f64 does not hold every integer
  if (!number || number.getValue() < -limit || number.getValue() > limit)
    return {};
  return numberAttr(double(number.getValue()), getContext());
}
OpFoldResult IotaOp::fold(FoldAdaptor) {
  return tensorOf(getY()).getDimSize(getDim()) == 1 ? OpFoldResult(numberAttr(0, getContext())) : OpFoldResult();
}

// ---- broadcast

static bool isPermutation(BroadcastOp op) { return tensorOf(op.getX()).getRank() == tensorOf(op.getY()).getRank(); }

OpFoldResult BroadcastOp::fold(FoldAdaptor adaptor) {
  if (getX().getType() == getType() && llvm::is_sorted(getDims()))
    return getX();
  if (FloatAttr constant = constantOf(adaptor.getX()))
    return constant;
  auto inner = getX().getDefiningOp<BroadcastOp>();
  if (!inner)
    return {};
  SmallVector<int64_t> dims = llvm::map_to_vector(inner.getDims(), [&](int64_t dim) { return getDims()[dim]; });
  setDims(dims);
  getXMutable().assign(inner.getX());
  return getY();
}
/// A transposed contraction is a contraction with its result labels renamed.
LogicalResult BroadcastOp::canonicalize(BroadcastOp op, PatternRewriter &rewriter) {
  auto dot = op.getX().getDefiningOp<DotOp>();
  if (!dot || !isPermutation(op) || !dot.getY().hasOneUse() || dot->getBlock() != op->getBlock())
    return rewriter.notifyMatchFailure(op, "no transposition of a contraction that nobody else reads");
  int64_t rank = tensorOf(op.getY()).getRank();
  auto rename = [&](ArrayRef<int64_t> labels) {
    return rewriter.getDenseI64ArrayAttr(
        llvm::map_to_vector(labels, [&](int64_t label) { return label < rank ? op.getDims()[label] : label; }));
  };
  auto transposed = DotOp::create(rewriter, op.getLoc(), op.getType(), dot.getA(), dot.getB(), rename(dot.getALabels()),
                                  rename(dot.getBLabels()));
  rewriter.replaceOp(op, multiplyingIn(dot->getAttr(kCompute), transposed).getOperation());
  return success();
}
/// A contraction reads a transposed operand in place: the labels are permuted instead.
LogicalResult DotOp::canonicalize(DotOp op, PatternRewriter &rewriter) {
  auto permuted = [&](Value operand, ArrayRef<int64_t> labels) -> std::optional<std::pair<Value, SmallVector<int64_t>>> {
    auto view = operand.getDefiningOp<BroadcastOp>();
    if (!view || !isPermutation(view))
      return std::nullopt;
    return std::pair(Value(view.getX()), llvm::map_to_vector(view.getDims(), [&](int64_t dim) { return labels[dim]; }));
  };
  auto a = permuted(op.getA(), op.getALabels()), b = permuted(op.getB(), op.getBLabels());
  if (!a && !b)
    return rewriter.notifyMatchFailure(op, "no transposed operand");
  auto read = DotOp::create(rewriter, op.getLoc(), op.getType(), a ? a->first : Value(op.getA()), b ? b->first : Value(op.getB()),
                            a ? rewriter.getDenseI64ArrayAttr(a->second) : op.getALabelsAttr(),
                            b ? rewriter.getDenseI64ArrayAttr(b->second) : op.getBLabelsAttr());
  rewriter.replaceOp(op, multiplyingIn(op->getAttr(kCompute), read).getOperation());
  return success();
}

// ---- reshape, slice, pad, concat

OpFoldResult ReshapeOp::fold(FoldAdaptor adaptor) {
  if (llvm::all_of(getGroups(), [](int64_t group) { return group == 1; }))
    return getX();
  if (FloatAttr constant = constantOf(adaptor.getX()))
    return constant;
  auto inner = getX().getDefiningOp<ReshapeOp>();
  if (!inner || inner.getX().getType() != getType() || inner.getGroups().size() != getGroups().size())
    return {};
  for (auto [there, back] : llvm::zip(inner.getGroups(), getGroups()))
    if (back != (there == 1 ? 1 : -there))
      return {};
  return inner.getX();
}

static AffineMapAttr sumOf(AffineMap a, AffineMap b) {
  unsigned dimCount = std::max(a.getNumDims(), b.getNumDims());
  return sizeAttribute(simplifyAffineExpr(a.getResult(0) + b.getResult(0), dimCount, 0), dimCount);
}
static bool isZeroForm(AffineMap form) { return form.getResult(0) == getAffineConstantExpr(0, form.getContext()); }

OpFoldResult SliceOp::fold(FoldAdaptor adaptor) {
  if (getX().getType() == getType() && isZeroForm(getLow()))
    return getX();
  if (FloatAttr constant = constantOf(adaptor.getX()))
    return constant;
  if (auto pad = getX().getDefiningOp<PadOp>();
      pad && pad.getDim() == getDim() && pad.getLow().getResult(0) == getLow().getResult(0) && pad.getX().getType() == getType())
    return pad.getX();
  auto inner = getX().getDefiningOp<SliceOp>();
  if (!inner || inner.getDim() != getDim())
    return {};
  setLowAttr(sumOf(inner.getLow(), getLow()));
  getXMutable().assign(inner.getX());
  return getY();
}
/// A slice that is a part of a concatenation is that part; one of a dimension that a broadcast repeats is a broadcast.
LogicalResult SliceOp::canonicalize(SliceOp op, PatternRewriter &rewriter) {
  int64_t dim = op.getDim();
  if (auto view = op.getX().getDefiningOp<BroadcastOp>(); view && !llvm::is_contained(view.getDims(), dim)) {
    rewriter.replaceOpWithNewOp<BroadcastOp>(op, op.getType(), view.getX(), view.getDimsAttr());
    return success();
  }
  auto concat = op.getX().getDefiningOp<ConcatOp>();
  if (!concat || int64_t(concat.getDim()) != dim)
    return rewriter.notifyMatchFailure(op, "no slice of what is joined along the same dimension");
  AffineExpr start = getAffineConstantExpr(0, op.getContext());
  for (Value part : concat.getParts()) {
    if (start == op.getLow().getResult(0) && part.getType() == op.getType()) {
      rewriter.replaceOp(op, part);
      return success();
    }
    start = simplifyAffineExpr(start + sizesOf(tensorOf(part))[dim],
                               std::max(dimCountOf(tensorOf(part)), op.getLow().getNumDims()), 0);
  }
  return rewriter.notifyMatchFailure(op, "the slice is no part of its own");
}

OpFoldResult PadOp::fold(FoldAdaptor adaptor) {
  if (getX().getType() == getType() && isZeroForm(getLow()))
    return getX();
  if (isNumber(adaptor.getX(), 0.0))
    return adaptor.getX();
  auto inner = getX().getDefiningOp<PadOp>();
  if (!inner || inner.getDim() != getDim())
    return {};
  setLowAttr(sumOf(inner.getLow(), getLow()));
  getXMutable().assign(inner.getX());
  return getY();
}

OpFoldResult ConcatOp::fold(FoldAdaptor adaptor) {
  if (getParts().size() == 1)
    return getParts()[0];
  FloatAttr first = constantOf(adaptor.getParts()[0]);
  bool same = first && llvm::all_of(adaptor.getParts(), [&](Attribute part) { return part == first; });
  return same ? OpFoldResult(first) : OpFoldResult();
}
/// The slice of which two neighbouring parts are the halves: its type, or null.
static RankedTensorType joined(SliceOp left, SliceOp right, int64_t dim) {
  if (!left || !right || left.getX() != right.getX() || int64_t(left.getDim()) != dim || int64_t(right.getDim()) != dim)
    return {};
  auto type = tensorOf(left.getY());
  unsigned dimCount =
      std::max({dimCountOf(type), dimCountOf(tensorOf(right.getY())), left.getLow().getNumDims(), right.getLow().getNumDims()});
  SmallVector<AffineExpr> sizes = sizesOf(type);
  AffineExpr end = simplifyAffineExpr(left.getLow().getResult(0) + sizes[dim], dimCount, 0);
  if (end != right.getLow().getResult(0))
    return {};
  sizes[dim] = sizes[dim] + sizesOf(tensorOf(right.getY()))[dim];
  return tensorType(sizes, type.getElementType(), dimCount);
}
/// Concatenations within one along the same dimension are its parts; neighbouring slices of one tensor are one slice.
LogicalResult ConcatOp::canonicalize(ConcatOp op, PatternRewriter &rewriter) {
  int64_t dim = op.getDim();
  SmallVector<Value> parts;
  for (Value part : op.getParts()) {
    if (auto inner = part.getDefiningOp<ConcatOp>(); inner && int64_t(inner.getDim()) == dim) {
      llvm::append_range(parts, inner.getParts());
      continue;
    }
    auto left = parts.empty() ? SliceOp() : parts.back().getDefiningOp<SliceOp>(), right = part.getDefiningOp<SliceOp>();
    if (RankedTensorType type = joined(left, right, dim))
      parts.back() = SliceOp::create(rewriter, op.getLoc(), type, left.getX(), left.getDimAttr(), left.getLowAttr());
    else
      parts.push_back(part);
  }
  if (ArrayRef<Value>(parts) == ArrayRef<Value>(SmallVector<Value>(op.getParts())))
    return rewriter.notifyMatchFailure(op, "no nested concatenation and no neighbouring slices");
  rewriter.replaceOpWithNewOp<ConcatOp>(op, op.getType(), op.getDimAttr(), parts);
  return success();
}

// ---- gather, scatter_add, at_depth

OpFoldResult GatherOp::fold(FoldAdaptor adaptor) { return constantOf(adaptor.getX()); }
/// x[A: 3], an index known at compile time, is a slice without the dimension.
LogicalResult GatherOp::canonicalize(GatherOp op, PatternRewriter &rewriter) {
  auto constant = op.getIndex().getDefiningOp<ConstantOp>();
  auto size = op.getIndex().getDefiningOp<SizeOp>();
  auto x = tensorOf(op.getX()), y = tensorOf(op.getY());
  if ((!constant && !size) || tensorOf(op.getIndex()).getRank() != 0 || op.getClamp() || x.getRank() < 2)
    return rewriter.notifyMatchFailure(op, "no scalar index that is known");
  MLIRContext *context = op.getContext();
  unsigned dimCount = std::max(dimCountOf(x), size ? size.getForm().getNumDims() : 0u);
  AffineExpr low =
      size ? size.getForm().getResult(0) : getAffineConstantExpr(int64_t(constant.getValue().convertToDouble()), context);
  SmallVector<AffineExpr> sizes = sizesOf(x);
  sizes[op.getDim()] = getAffineConstantExpr(1, context);
  // The dimension of size 1 is merged into a neighbour of known size, or dropped by an index that is always 0.
  SmallVector<int64_t> groups(x.getRank() - 1, 1);
  size_t neighbour = op.getDim() + 1 < uint64_t(x.getRank()) ? op.getDim() + 1 : op.getDim() - 1;
  if (!isa<AffineConstantExpr>(sizes[neighbour]))
    neighbour = op.getDim() > 0 ? op.getDim() - 1 : neighbour;
  if (!isa<AffineConstantExpr>(sizes[neighbour]))
    return rewriter.notifyMatchFailure(op, "no neighbouring dimension of known size");
  Value slice = SliceOp::create(rewriter, op.getLoc(), tensorType(sizes, x.getElementType(), dimCountOf(x)), op.getX(),
                                op.getDimAttr(), sizeAttribute(low, dimCount));
  size_t first = std::min<size_t>(neighbour, op.getDim());
  groups[first] = -2;
  SmallVector<AffineExpr> rest(sizes);
  rest.erase(rest.begin() + op.getDim());
  Value merged = ReshapeOp::create(rewriter, op.getLoc(), tensorType(rest, x.getElementType(), dimCountOf(x)), slice,
                                   rewriter.getDenseI64ArrayAttr(groups));
  SmallVector<int64_t> dims;
  for (int64_t dim : op.getXDims())
    if (dim >= 0)
      dims.push_back(dim);
  rewriter.replaceOpWithNewOp<BroadcastOp>(op, y, merged, rewriter.getDenseI64ArrayAttr(dims));
  return success();
}
/// Zeros added to zeros. Onto a tensor they are not nothing: -0 + 0 is 0.
OpFoldResult RunningSumOp::fold(FoldAdaptor adaptor) {
  return isZero(adaptor.getX()) ? OpFoldResult(numberAttr(0, getContext())) : OpFoldResult();
}
OpFoldResult ScatterAddOp::fold(FoldAdaptor adaptor) {
  return !getBase() && isZero(adaptor.getDy()) ? OpFoldResult(numberAttr(0, getContext())) : OpFoldResult();
}
OpFoldResult AtDepthOp::fold(FoldAdaptor adaptor) { return constantOf(adaptor.getX()); }

// ---- reduce, dropout, cross_entropy, attend

static bool isOrderFree(ReduceOp op) { return isa<IntegerType>(elementOf(op.getX())); }

OpFoldResult ReduceOp::fold(FoldAdaptor adaptor) {
  if (getKind() == Reduction::sum)
    return isZero(adaptor.getX()) ? OpFoldResult(numberAttr(0, getContext())) : OpFoldResult();
  return constantOf(adaptor.getX()); // no dimension is empty: every dim is at least 1
}
/// Integers and truth values do not mind the order.
LogicalResult ReduceOp::canonicalize(ReduceOp op, PatternRewriter &rewriter) {
  auto inner = op.getX().getDefiningOp<ReduceOp>();
  if (!inner || inner.getKind() != op.getKind() || !isOrderFree(op) || !inner.getY().hasOneUse())
    return rewriter.notifyMatchFailure(op, "no inner reduction of the same kind, or reals: their order counts");
  SmallVector<int64_t> dims(inner.getDims());
  int64_t place = 0; // dimension of the inner result
  for (int64_t dim = 0; dim < tensorOf(inner.getX()).getRank(); ++dim)
    if (!llvm::is_contained(inner.getDims(), dim) && llvm::is_contained(op.getDims(), place++))
      dims.push_back(dim);
  llvm::sort(dims);
  rewriter.replaceOpWithNewOp<ReduceOp>(op, op.getType(), op.getKind(), inner.getX(), rewriter.getDenseI64ArrayAttr(dims));
  return success();
}
/// The rate as the kernels have it, in 1/65536.
OpFoldResult DropoutOp::fold(FoldAdaptor) {
  int64_t threshold = std::llround(getRate().convertToDouble() * 65536);
  if (threshold == 0)
    return getX();
  return threshold >= 65536 ? OpFoldResult(numberAttr(0, getContext())) : OpFoldResult();
}
/// Rows that all count need no `where`.
LogicalResult CrossEntropyOp::canonicalize(CrossEntropyOp op, PatternRewriter &rewriter) {
  auto where = op.getWhere() ? op.getWhere().getDefiningOp<ConstantOp>() : ConstantOp();
  if (!where || where.getValue().isZero())
    return rewriter.notifyMatchFailure(op, "rows that do not all count, or all count already");
  rewriter.modifyOpInPlace(op, [&] { op.getWhereMutable().clear(); });
  return success();
}
static SmallVector<int64_t> labelsOf(Attribute list) {
  if (auto dense = dyn_cast<DenseI64ArrayAttr>(list))
    return SmallVector<int64_t>(dense.asArrayRef());
  return llvm::map_to_vector(cast<ArrayAttr>(list), [](Attribute label) { return cast<IntegerAttr>(label).getInt(); });
}
/// A mask that always holds hides nothing. p lives on the labels of scores and masks: one that widens it stays.
LogicalResult AttendOp::canonicalize(AttendOp op, PatternRewriter &rewriter) {
  SmallVector<Attribute> labels(op.getLabels().getValue());
  llvm::SmallDenseSet<int64_t> ofScores;
  for (size_t i = 0; i < op.getScores().size(); ++i)
    ofScores.insert_range(labelsOf(labels[i]));
  for (auto [i, mask] : llvm::enumerate(op.getMasks())) {
    size_t place = op.getScores().size() + i;
    auto constant = mask.getDefiningOp<ConstantOp>();
    if (!constant || constant.getValue().isZero() ||
        !llvm::all_of(labelsOf(labels[place]), [&](int64_t label) { return ofScores.contains(label); }))
      continue;
    labels.erase(labels.begin() + place);
    rewriter.modifyOpInPlace(op, [&] {
      op.getMasksMutable().erase(i);
      op.setLabelsAttr(rewriter.getArrayAttr(labels));
    });
    return success();
  }
  return rewriter.notifyMatchFailure(op, "no mask that always holds");
}

// ---- scalar code

OpFoldResult AtOp::fold(FoldAdaptor adaptor) {
  FloatAttr constant = constantOf(adaptor.getTensor());
  Type element = elementOf(getTensor());
  if (!constant)
    return {};
  double value = constant.getValueAsDouble();
  return isa<FloatType>(element) ? Attribute(FloatAttr::get(element, value))
                                 : Attribute(IntegerAttr::get(element, int64_t(value)));
}
OpFoldResult SizeValueOp::fold(FoldAdaptor) {
  auto number = dyn_cast<AffineConstantExpr>(getForm().getResult(0));
  return number ? OpFoldResult(IntegerAttr::get(IndexType::get(getContext()), number.getValue())) : OpFoldResult();
}
OpFoldResult RandomKeepOp::fold(FoldAdaptor) { // a draw has 16 bits
  int64_t threshold = getThreshold();
  return threshold <= 0 || threshold >= 65536 ? OpFoldResult(BoolAttr::get(getContext(), threshold <= 0)) : OpFoldResult();
}
