// Canonical tensor form: views composed, equal ops merged, parameter reads where they belong. See Passes.td.
#include "dialect/Build.h"
#include "lowering/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Dominance.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/CSE.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;

namespace tenon {
#define GEN_PASS_DEF_SIMPLIFY
#include "lowering/Passes.h.inc"

namespace {

bool isIdentity(BroadcastOp op) {
  if (op.getX().getType() != op.getY().getType())
    return false;
  for (auto [index, dim] : llvm::enumerate(op.getDims()))
    if (int64_t(index) != dim)
      return false;
  return true;
}
bool isPermutation(BroadcastOp op) { return tensorOf(op.getX()).getRank() == tensorOf(op.getY()).getRank(); }

/// broadcast(x) = x when nothing changes.
struct DropIdentity : OpRewritePattern<BroadcastOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(BroadcastOp op, PatternRewriter &rewriter) const override {
    if (!isIdentity(op))
      return failure();
    rewriter.replaceOp(op, op.getX());
    return success();
  }
};

/// broadcast(broadcast(x)) = broadcast(x); a broadcast of a constant is a constant.
struct ComposeBroadcast : OpRewritePattern<BroadcastOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(BroadcastOp op, PatternRewriter &rewriter) const override {
    if (auto constant = op.getX().getDefiningOp<ConstantOp>()) {
      rewriter.replaceOpWithNewOp<ConstantOp>(op, op.getY().getType(), constant.getValueAttr());
      return success();
    }
    auto inner = op.getX().getDefiningOp<BroadcastOp>();
    if (!inner)
      return failure();
    SmallVector<int64_t> dims;
    for (int64_t dim : inner.getDims())
      dims.push_back(op.getDims()[dim]);
    rewriter.replaceOpWithNewOp<BroadcastOp>(op, op.getY().getType(), inner.getX(), rewriter.getDenseI64ArrayAttr(dims));
    return success();
  }
};

/// A contraction reads a transposed operand in place: the labels are permuted instead.
struct FoldPermutationIntoDot : OpRewritePattern<DotOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(DotOp op, PatternRewriter &rewriter) const override {
    auto fold = [&](Value operand, ArrayRef<int64_t> labels, SmallVector<int64_t> &folded) -> Value {
      auto broadcast = operand.getDefiningOp<BroadcastOp>();
      if (!broadcast || !isPermutation(broadcast))
        return {};
      for (int64_t dim : broadcast.getDims())
        folded.push_back(labels[dim]);
      return broadcast.getX();
    };
    SmallVector<int64_t> a, b;
    Value newA = fold(op.getA(), op.getALabels(), a), newB = fold(op.getB(), op.getBLabels(), b);
    if (!newA && !newB)
      return failure();
    if (!newA)
      newA = op.getA(), a.assign(op.getALabels().begin(), op.getALabels().end());
    if (!newB)
      newB = op.getB(), b.assign(op.getBLabels().begin(), op.getBLabels().end());
    rewriter.replaceOpWithNewOp<DotOp>(op, op.getY().getType(), newA, newB, rewriter.getDenseI64ArrayAttr(a), rewriter.getDenseI64ArrayAttr(b));
    return success();
  }
};

/// A transposed contraction is a contraction with its result labels renamed.
struct FoldDotIntoPermutation : OpRewritePattern<BroadcastOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(BroadcastOp op, PatternRewriter &rewriter) const override {
    auto dot = op.getX().getDefiningOp<DotOp>();
    if (!dot || !isPermutation(op) || !dot.getY().hasOneUse() || dot->getBlock() != op->getBlock())
      return failure();
    int64_t rank = tensorOf(op.getY()).getRank();
    auto rename = [&](ArrayRef<int64_t> labels) {
      SmallVector<int64_t> renamed;
      for (int64_t label : labels)
        renamed.push_back(label < rank ? op.getDims()[label] : label);
      return rewriter.getDenseI64ArrayAttr(renamed);
    };
    rewriter.replaceOpWithNewOp<DotOp>(op, op.getY().getType(), dot.getA(), dot.getB(), rename(dot.getALabels()), rename(dot.getBLabels()));
    return success();
  }
};

/// x[A: 3], an index known at compile time, is a slice without the dimension.
struct GatherAtConstant : OpRewritePattern<GatherOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(GatherOp op, PatternRewriter &rewriter) const override {
    auto constant = op.getIndex().getDefiningOp<ConstantOp>();
    auto size = op.getIndex().getDefiningOp<SizeOp>();
    auto x = tensorOf(op.getX()), y = tensorOf(op.getY());
    if ((!constant && !size) || tensorOf(op.getIndex()).getRank() != 0 || op.getClamp() || x.getRank() < 2)
      return failure();
    unsigned dimCount = std::max(dimCountOf(x), size ? size.getForm().getNumDims() : 0u);
    AffineExpr low = size ? size.getForm().getResult(0) : getAffineConstantExpr(int64_t(constant.getValue().convertToDouble()), getContext());
    SmallVector<AffineExpr> sizes = sizesOf(x);
    sizes[op.getDim()] = getAffineConstantExpr(1, getContext());
    // The dimension of size 1 is merged into a neighbour of known size, or dropped by an index that is always 0.
    SmallVector<int64_t> groups(x.getRank() - 1, 1);
    size_t neighbour = op.getDim() + 1 < uint64_t(x.getRank()) ? op.getDim() + 1 : op.getDim() - 1;
    if (!isa<AffineConstantExpr>(sizes[neighbour]))
      neighbour = op.getDim() > 0 ? op.getDim() - 1 : neighbour;
    if (!isa<AffineConstantExpr>(sizes[neighbour]))
      return failure();
    Value slice = SliceOp::create(rewriter, op.getLoc(), tensorType(sizes, x.getElementType(), dimCountOf(x)), op.getX(), op.getDimAttr(),
                                  AffineMapAttr::get(AffineMap::get(dimCount, 0, {low}, getContext())));
    size_t first = std::min<size_t>(neighbour, op.getDim());
    groups[first] = -2;
    SmallVector<AffineExpr> rest(sizes);
    rest.erase(rest.begin() + op.getDim());
    Value merged = ReshapeOp::create(rewriter, op.getLoc(), tensorType(rest, x.getElementType(), dimCountOf(x)), slice, rewriter.getDenseI64ArrayAttr(groups));
    SmallVector<int64_t> dims;
    for (int64_t dim : op.getXDims())
      if (dim >= 0)
        dims.push_back(dim);
    rewriter.replaceOpWithNewOp<BroadcastOp>(op, y, merged, rewriter.getDenseI64ArrayAttr(dims));
    return success();
  }
};

/// dot(a, x[P: index]) = dot(a, x)[P: index] where the index shares a dimension with a: relative scores contract each distance once per
/// query and not once per pair, and the gathered vectors never exist. Source: Dai et al. 2019, appendix B. An embedding does not match: its
/// index shares nothing with the weights.
struct ContractBeforeGather : OpRewritePattern<DotOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(DotOp op, PatternRewriter &rewriter) const override {
    return succeeded(rewrite(op, op.getA(), op.getALabels(), op.getB(), op.getBLabels(), rewriter)) ||
                   succeeded(rewrite(op, op.getB(), op.getBLabels(), op.getA(), op.getALabels(), rewriter))
               ? success()
               : failure();
  }

  LogicalResult rewrite(DotOp op, Value a, ArrayRef<int64_t> aLabels, Value b, ArrayRef<int64_t> bLabels, PatternRewriter &rewriter) const {
    SmallVector<int64_t> labels(bLabels);
    auto view = b.getDefiningOp<BroadcastOp>();
    GatherOp gather = view && isPermutation(view) ? view.getX().getDefiningOp<GatherOp>() : b.getDefiningOp<GatherOp>();
    if (!gather)
      return failure();
    if (view && isPermutation(view))
      for (auto [k, dim] : llvm::enumerate(view.getDims()))
        labels[k] = bLabels[dim];
    auto x = tensorOf(gather.getX()), y = tensorOf(op.getY());
    int64_t rank = y.getRank();
    bool shares = false;
    for (int64_t dim : gather.getIndexDims()) {
      if (labels[dim] >= rank)
        return failure();
      shares |= llvm::is_contained(aLabels, labels[dim]);
    }
    if (!shares)
      return failure();
    // Result labels of the inner contraction: those of y that a or x has, then the gathered dimension.
    SmallVector<int64_t> kept, xLabels;
    for (int64_t dim : gather.getXDims())
      xLabels.push_back(dim < 0 ? -1 : labels[dim]);
    for (int64_t label = 0; label < rank; ++label)
      if (llvm::is_contained(aLabels, label) || llvm::is_contained(xLabels, label))
        kept.push_back(label);
    SmallVector<AffineExpr> sizes;
    for (int64_t label : kept)
      sizes.push_back(sizesOf(y)[label]);
    sizes.push_back(sizesOf(x)[gather.getDim()]);
    int64_t gathered = kept.size(), summed = gathered + 1;
    llvm::SmallDenseMap<int64_t, int64_t> relabel;
    for (auto [k, label] : llvm::enumerate(kept))
      relabel[label] = k;
    auto renamed = [&](ArrayRef<int64_t> old) {
      SmallVector<int64_t> result;
      for (int64_t label : old) {
        if (label < 0) {
          result.push_back(gathered);
          continue;
        }
        auto [it, inserted] = relabel.try_emplace(label, summed);
        summed += inserted;
        result.push_back(it->second);
      }
      return rewriter.getDenseI64ArrayAttr(result);
    };
    auto inner = tensorType(sizes, y.getElementType(), std::max(dimCountOf(y), dimCountOf(x)));
    auto newA = renamed(aLabels), newX = renamed(xLabels);
    Value dot = DotOp::create(rewriter, op.getLoc(), inner, a, gather.getX(), newA, newX);
    SmallVector<int64_t> innerDims(kept), indexDims;
    innerDims.push_back(-1);
    for (int64_t dim : gather.getIndexDims())
      indexDims.push_back(labels[dim]);
    rewriter.replaceOpWithNewOp<GatherOp>(op, y, dot, gather.getIndex(), rewriter.getI64IntegerAttr(gathered), rewriter.getDenseI64ArrayAttr(innerDims),
                                          rewriter.getDenseI64ArrayAttr(indexDims), gather.getClampAttr());
    return success();
  }
};

/// x + 0, x * 1, x * 0 with a constant operand.
template <typename OpTy> struct DropNeutral : OpRewritePattern<OpTy> {
  using OpRewritePattern<OpTy>::OpRewritePattern;
  LogicalResult matchAndRewrite(OpTy op, PatternRewriter &rewriter) const override {
    constexpr double neutral = std::is_same_v<OpTy, MulOp> || std::is_same_v<OpTy, DivOp> ? 1 : 0;
    constexpr bool commutes = std::is_same_v<OpTy, MulOp> || std::is_same_v<OpTy, AddOp>;
    auto is = [&](Value v, double number) {
      auto constant = v.getDefiningOp<ConstantOp>();
      return constant && constant.getValue().convertToDouble() == number;
    };
    if (is(op.getB(), neutral)) {
      rewriter.replaceOp(op, op.getA());
      return success();
    }
    if (commutes && is(op.getA(), neutral)) {
      rewriter.replaceOp(op, op.getB());
      return success();
    }
    return failure();
  }
};

/// x + scatter_add(dy) = scatter_add(dy) onto x, where x is in memory anyway and nobody else reads it: the gradient of a tied embedding is a
/// contraction plus some rows, and only those rows are touched.
struct ScatterOntoSum : OpRewritePattern<AddOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(AddOp op, PatternRewriter &rewriter) const override {
    auto isBase = [&](Value value) {
      auto argument = dyn_cast<BlockArgument>(value);
      bool carry = argument && isa<StackOp>(argument.getOwner()->getParentOp());
      return value.hasOneUse() && value.getParentBlock() == op->getBlock() && (carry || value.getDefiningOp<DotOp>() || value.getDefiningOp<ScatterAddOp>());
    };
    for (auto [base, other] : {std::pair(op.getA(), op.getB()), std::pair(op.getB(), op.getA())}) {
      auto scatter = other.getDefiningOp<ScatterAddOp>();
      if (!scatter || scatter.getBase() || !other.hasOneUse() || scatter->getBlock() != op->getBlock() || !isBase(base))
        continue;
      rewriter.replaceOpWithNewOp<ScatterAddOp>(op, op.getY().getType(), scatter.getDy(), scatter.getIndex(), base, scatter.getDimAttr(),
                                                scatter.getXDimsAttr(), scatter.getIndexDimsAttr(), scatter.getClampAttr());
      return success();
    }
    return failure();
  }
};

struct DropStopGradient : OpRewritePattern<StopGradientOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(StopGradientOp op, PatternRewriter &rewriter) const override {
    rewriter.replaceOp(op, op.getX());
    return success();
  }
};

struct Simplify : impl::SimplifyBase<Simplify> {
  using SimplifyBase::SimplifyBase;
  void runOnOperation() override {
    func::FuncOp function = getOperation();
    function.walk([&](ReadParameterOp read) { // without a depth: the same at every depth
      if (read.getDepths().empty() && read->getParentOp() != function)
        read->moveBefore(&function.getBody().front(), function.getBody().front().begin());
    });
    RewritePatternSet patterns(&getContext());
    if (!afterDifferentiation)
      patterns.add<ContractBeforeGather>(&getContext());
    patterns.add<DropIdentity, ComposeBroadcast, FoldPermutationIntoDot, FoldDotIntoPermutation, GatherAtConstant, DropNeutral<AddOp>, DropNeutral<SubOp>,
                 DropNeutral<MulOp>, DropNeutral<DivOp>>(&getContext());
    if (afterDifferentiation)
      patterns.add<DropStopGradient, ScatterOntoSum>(&getContext());
    if (failed(applyPatternsGreedily(function, std::move(patterns)))) {
      function.emitError("simplification does not come to an end");
      return signalPassFailure();
    }
    DominanceInfo dominance(function);
    IRRewriter rewriter(&getContext());
    eliminateCommonSubExpressions(rewriter, dominance, function);
  }
};

} // namespace
} // namespace tenon
