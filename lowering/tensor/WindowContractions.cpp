#include "lowering/tensor/WindowContractions.h"
#include "dialect/Build.h"
#include "dialect/ElementModel.h"

using namespace mlir;

namespace tenon {
namespace {

/// sum over k of dot(a, w)[.., (i + p - d k) / s, k, ..] = dot(a[.., (i + p - d k) / s, ..], w) summed over k, too, where only a
/// has the dimension of the windows and only w that of their places: a convolution's gradient of its input is a contraction of
/// windows of dy. Places of one element stay outside: there, most windows of dy would be empty.
class SumInContraction : public OpRewritePattern<ReduceOp> {
public:
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(ReduceOp op, PatternRewriter &rewriter) const override {
    auto window = op.getX().getDefiningOp<WindowOp>();
    DotOp dot = window ? window.getX().getDefiningOp<DotOp>() : DotOp();
    if (!dot || op.getKind() != Reduction::sum || !window.getPaired() || !window.getFill().isZero() || !dot.getY().hasOneUse() ||
        dot->getBlock() != op->getBlock() || !sumsPlaces(op, window))
      return rewriter.notifyMatchFailure(op, "no sum over the places of a contraction's windows");
    if (succeeded(rewrite(op, window, dot, dot.getA(), dot.getALabels(), dot.getB(), dot.getBLabels(), rewriter)) ||
        succeeded(rewrite(op, window, dot, dot.getB(), dot.getBLabels(), dot.getA(), dot.getALabels(), rewriter)))
      return success();
    return rewriter.notifyMatchFailure(op, "windows and places are not apart in the operands");
  }

private:
  static bool sumsPlaces(ReduceOp op, WindowOp window) {
    SmallVector<int64_t> places;
    bool areOne = true;
    for (size_t entry = 0; entry < window.getDims().size(); ++entry) {
      places.push_back(window.placeDim(entry));
      areOne &= tensorOf(window.getY()).getDimSize(places.back()) == 1;
    }
    return !areOne && op.getDims() == ArrayRef<int64_t>(places);
  }

  /// `shown` has all dimensions of windows, `other` all of places.
  static LogicalResult rewrite(ReduceOp op, WindowOp window, DotOp dot, Value shown, ArrayRef<int64_t> shownLabels, Value other,
                               ArrayRef<int64_t> otherLabels, PatternRewriter &rewriter) {
    for (size_t entry = 0; entry < window.getDims().size(); ++entry)
      if (!llvm::is_contained(shownLabels, window.windowDim(entry)) || llvm::is_contained(otherLabels, window.windowDim(entry)) ||
          !llvm::is_contained(otherLabels, window.placeDim(entry)) || llvm::is_contained(shownLabels, window.placeDim(entry)))
        return failure();
    const int64_t rank = tensorOf(op.getY()).getRank();
    llvm::SmallDenseMap<int64_t, int64_t> renamed; // labels of the old contraction to those of the new one
    int64_t kept = 0, summed = rank;
    for (int64_t dim = 0; dim < tensorOf(dot.getY()).getRank(); ++dim)
      renamed[dim] = llvm::is_contained(op.getDims(), dim) ? summed++ : kept++;
    auto labelOf = [&](int64_t label) {
      auto [place, isNew] = renamed.try_emplace(label, summed);
      summed += isNew;
      return place->second;
    };
    SmallVector<int64_t> dims, strides, dilations, pads, divisors, labels, labelsOfOther;
    SmallVector<AffineExpr> sizes, ofShown = sizesOf(tensorOf(shown)), ofWindows = sizesOf(tensorOf(window.getY()));
    for (auto [dim, label] : llvm::enumerate(shownLabels)) {
      const size_t entry = llvm::find(window.getDims(), label) - window.getDims().begin();
      labels.push_back(labelOf(label));
      if (entry == window.getDims().size()) {
        sizes.push_back(ofShown[dim]);
        continue;
      }
      dims.push_back(dim);
      strides.push_back(window.getStride()[entry]);
      dilations.push_back(window.getDilation()[entry]);
      pads.push_back(window.getPad()[entry]);
      divisors.push_back(window.getDivisor()[entry]);
      sizes.append({ofWindows[window.windowDim(entry)], ofWindows[window.placeDim(entry)]});
      labels.push_back(labelOf(window.placeDim(entry)));
    }
    for (int64_t label : otherLabels)
      labelsOfOther.push_back(labelOf(label));
    auto list = [&](ArrayRef<int64_t> numbers) { return rewriter.getDenseI64ArrayAttr(numbers); };
    const unsigned dimCount = std::max(dimCountOf(tensorOf(shown)), dimCountOf(tensorOf(window.getY())));
    Value windows =
        WindowOp::create(rewriter, op.getLoc(), tensorType(sizes, tensorOf(shown).getElementType(), dimCount), shown, list(dims),
                         list(strides), list(dilations), list(pads), list(divisors), window.getFillAttr(), UnitAttr());
    auto sum = DotOp::create(rewriter, op.getLoc(), op.getY().getType(), windows, other, list(labels), list(labelsOfOther));
    rewriter.replaceOp(op, multiplyingIn(dot->getAttr(kCompute), sum).getOperation());
    return success();
  }
};

std::optional<double> numberOf(Value value) {
  auto constant = value.getDefiningOp<ConstantOp>();
  return constant ? std::optional(constant.getValue().convertToDouble()) : std::nullopt;
}

/// Whether `index` is n - 1 - i for i below n = `size`.
bool runsBackwards(Value index, AffineExpr size) {
  auto fromLast = index.getDefiningOp<SubOp>();
  if (!fromLast || tensorOf(index).getRank() != 1 || !fromLast.getB().getDefiningOp<IotaOp>())
    return false;
  if (auto number = dyn_cast<AffineConstantExpr>(size))
    return numberOf(fromLast.getA()) == double(number.getValue() - 1);
  auto last = fromLast.getA().getDefiningOp<SubOp>();
  auto repeated = last && numberOf(last.getB()) == 1.0 ? last.getA().getDefiningOp<BroadcastOp>() : BroadcastOp();
  auto count = repeated ? repeated.getX().getDefiningOp<SizeOp>() : SizeOp();
  return count && count.getForm().getResult(0) == size;
}

/// sum[S](flip[S](w) * f) = sum[S](w * flip[S](f)), w windows: a gather of them would store each, and f is small beside them.
class FlipOtherFactor : public OpRewritePattern<ReduceOp> {
public:
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(ReduceOp op, PatternRewriter &rewriter) const override {
    auto product = op.getX().getDefiningOp<MulOp>();
    if (!product || op.getKind() != Reduction::sum || !product.getY().hasOneUse())
      return rewriter.notifyMatchFailure(op, "no sum of a product for it alone");
    for (auto [flipped, other] : {std::pair(product.getA(), product.getB()), std::pair(product.getB(), product.getA())})
      if (GatherOp flip = flipOfWindows(flipped); flip && llvm::is_contained(op.getDims(), flip.getIndexDims()[0])) {
        rewriter.setInsertionPoint(product);
        Value moved = flipOther(flip, other, rewriter);
        rewriter.replaceOpWithNewOp<MulOp>(product, product.getY().getType(), flip.getX(), moved);
        return success();
      }
    return rewriter.notifyMatchFailure(op, "no factor is windows that are read backwards along what is summed");
  }

private:
  static GatherOp flipOfWindows(Value value) {
    auto gather = value.getDefiningOp<GatherOp>();
    const bool isOfWindows = gather && gather.getX().getDefiningOp<WindowOp>() && gather.getX().getType() == value.getType();
    if (!isOfWindows || gather.getIndexDims().size() != 1 || gather.getIndexDims()[0] != gather.getDim() ||
        !runsBackwards(gather.getIndex(), sizesOf(tensorOf(value))[gather.getDim()]))
      return {};
    for (auto [dim, inResult] : llvm::enumerate(gather.getXDims()))
      if (inResult >= 0 && inResult != int64_t(dim))
        return {};
    return gather;
  }

  /// Before it is repeated along other dimensions, where it is; what is repeated along this one is the same backwards.
  static Value flipOther(GatherOp flip, Value other, PatternRewriter &rewriter) {
    auto repeated = other.getDefiningOp<BroadcastOp>();
    Value x = repeated ? Value(repeated.getX()) : other;
    int64_t dim = flip.getDim();
    if (repeated) {
      dim = llvm::find(repeated.getDims(), dim) - repeated.getDims().begin();
      if (dim == tensorOf(x).getRank())
        return other;
    }
    SmallVector<int64_t> xDims = llvm::to_vector(llvm::seq<int64_t>(tensorOf(x).getRank()));
    xDims[dim] = -1;
    Value read = GatherOp::create(rewriter, flip.getLoc(), x.getType(), x, flip.getIndex(), rewriter.getI64IntegerAttr(dim),
                                  rewriter.getDenseI64ArrayAttr(xDims), rewriter.getDenseI64ArrayAttr({dim}), UnitAttr());
    return repeated ? Build(rewriter, flip.getLoc()).broadcast(read, repeated.getDims(), tensorOf(other)) : read;
  }
};

} // namespace

void addFlippedWindows(RewritePatternSet &patterns) { patterns.add<FlipOtherFactor>(patterns.getContext()); }

void addWindowContractions(RewritePatternSet &patterns) { patterns.add<SumInContraction>(patterns.getContext()); }

} // namespace tenon
