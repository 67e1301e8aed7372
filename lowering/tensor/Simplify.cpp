// Canonical tensor form: folders and canonical forms (dialect/Fold*.cpp; a plugin's), equal ops merged, parameter reads
// where they belong, and the rewrites that are no op's own affair: they choose an order of work, or are not exact. See Passes.td.
#include "dialect/Build.h"
#include "dialect/ElementModel.h"
#include "lowering/Declined.h"
#include "lowering/Passes.h"
#include "lowering/tensor/AttentionOrder.h"
#include "lowering/tensor/LoopContractions.h"
#include "lowering/tensor/TransposedReads.h"
#include "lowering/tensor/WindowContractions.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Dominance.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/CSE.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace tenon {
#define GEN_PASS_DEF_SIMPLIFY
#include "lowering/Passes.h.inc"

namespace {

bool isPermutation(BroadcastOp op) { return tensorOf(op.getX()).getRank() == tensorOf(op.getY()).getRank(); }

/// Whether an index is made of more than places and sizes: of tokens, say.
bool dependsOnData(Value index) {
  llvm::SmallPtrSet<Operation *, 16> seen;
  SmallVector<Value> work = {index};
  while (!work.empty()) {
    Operation *op = work.pop_back_val().getDefiningOp();
    if (!op || (op->getNumOperands() == 0 && !op->hasTrait<OfPlaces>()))
      return true;
    if (seen.insert(op).second)
      llvm::append_range(work, op->getOperands());
  }
  return false;
}

/// Rows up to which a table is contracted whole although only data know which of them are asked for: segments, buckets.
constexpr int64_t kFewRows = 64;

/// Labels of a contraction whose result has `kept` and behind them the gathered dimension (below 0); the others are summed.
struct InnerLabels {
  explicit InnerLabels(ArrayRef<int64_t> kept) : gathered(kept.size()), summed(gathered + 1) {
    for (auto [k, label] : llvm::enumerate(kept))
      number[label] = k;
  }
  SmallVector<int64_t> of(ArrayRef<int64_t> labels) {
    SmallVector<int64_t> result;
    for (int64_t label : labels) {
      if (label < 0) {
        result.push_back(gathered);
        continue;
      }
      auto [place, isNew] = number.try_emplace(label, summed);
      summed += isNew;
      result.push_back(place->second);
    }
    return result;
  }

private:
  int64_t gathered, summed;
  llvm::SmallDenseMap<int64_t, int64_t> number;
};

/// dot(a, x[P: index]) = dot(a, x)[P: index] where the index shares a dimension with a: relative scores contract each distance
/// once per query and not once per pair, and the gathered vectors never exist. Source: Dai et al. 2019, appendix B. An embedding
/// does not match: its index shares nothing with the weights, or is of tokens, and the table has a row for each of a vocabulary.
struct ContractBeforeGather : OpRewritePattern<DotOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(DotOp op, PatternRewriter &rewriter) const override {
    return succeeded(rewrite(op, op.getA(), op.getALabels(), op.getB(), op.getBLabels(), rewriter)) ||
                   succeeded(rewrite(op, op.getB(), op.getBLabels(), op.getA(), op.getALabels(), rewriter))
               ? success()
               : failure();
  }

  LogicalResult rewrite(DotOp op, Value a, ArrayRef<int64_t> aLabels, Value b, ArrayRef<int64_t> bLabels,
                        PatternRewriter &rewriter) const {
    SmallVector<int64_t> labels(bLabels);
    auto view = b.getDefiningOp<BroadcastOp>();
    GatherOp gather = view && isPermutation(view) ? view.getX().getDefiningOp<GatherOp>() : b.getDefiningOp<GatherOp>();
    if (!gather)
      return rewriter.notifyMatchFailure(op, "no gathered operand");
    if (view && isPermutation(view))
      for (auto [k, dim] : llvm::enumerate(view.getDims()))
        labels[k] = bLabels[dim];
    auto x = tensorOf(gather.getX()), y = tensorOf(op.getY());
    int64_t rank = y.getRank();
    if (!x.isDynamicDim(gather.getDim()) && x.getDimSize(gather.getDim()) > kFewRows && dependsOnData(gather.getIndex()))
      return rewriter.notifyMatchFailure(op, "a large table of which the data ask for rows");
    bool shares = false;
    for (int64_t dim : gather.getIndexDims()) {
      if (labels[dim] >= rank)
        return rewriter.notifyMatchFailure(op, "a gathered dimension is summed over");
      shares |= llvm::is_contained(aLabels, labels[dim]);
    }
    if (!shares)
      return rewriter.notifyMatchFailure(op, "the index shares no dimension with the other operand");
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
    int64_t gathered = kept.size();
    InnerLabels renamed(kept);
    auto inner = tensorType(sizes, y.getElementType(), std::max(dimCountOf(y), dimCountOf(x)));
    auto newA = rewriter.getDenseI64ArrayAttr(renamed.of(aLabels)), newX = rewriter.getDenseI64ArrayAttr(renamed.of(xLabels));
    Value dot = multiplyingIn(op->getAttr(kCompute), DotOp::create(rewriter, op.getLoc(), inner, a, gather.getX(), newA, newX));
    SmallVector<int64_t> innerDims(kept), indexDims;
    innerDims.push_back(-1);
    for (int64_t dim : gather.getIndexDims())
      indexDims.push_back(labels[dim]);
    rewriter.replaceOpWithNewOp<GatherOp>(op, y, dot, gather.getIndex(), rewriter.getI64IntegerAttr(gathered),
                                          rewriter.getDenseI64ArrayAttr(innerDims), rewriter.getDenseI64ArrayAttr(indexDims),
                                          gather.getClampAttr());
    return success();
  }
};

/// dot(a, b)[T: 0 .. T - 1] = dot(a[T: 0 .. T - 1], b) where nothing else of the result is read: the logits of a text's last
/// place, which predicts nothing, are not computed, and those of the others lie side by side.
struct SliceBeforeContraction : OpRewritePattern<SliceOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(SliceOp op, PatternRewriter &rewriter) const override {
    auto dot = op.getX().getDefiningOp<DotOp>();
    if (!dot || dot->getBlock() != op->getBlock())
      return rewriter.notifyMatchFailure(op, "no slice of a contraction beside it");
    auto isSame = [&](Operation *user) {
      auto other = dyn_cast<SliceOp>(user);
      return other && other.getType() == op.getType() && other.getDim() == op.getDim() && other.getLow() == op.getLow();
    };
    if (!llvm::all_of(dot->getUsers(), isSame))
      return rewriter.notifyMatchFailure(op, "another part of the contraction is read, too");
    const AffineExpr size = sizesOf(tensorOf(op.getY()))[op.getDim()];
    auto sliced = [&](Value operand, ArrayRef<int64_t> labels) -> Value {
      const auto *place = llvm::find(labels, int64_t(op.getDim()));
      if (place == labels.end())
        return operand;
      const int64_t dim = place - labels.begin();
      SmallVector<AffineExpr> sizes = sizesOf(tensorOf(operand));
      sizes[dim] = size;
      const unsigned dims = std::max(dimCountOf(tensorOf(operand)), dimCountOf(tensorOf(op.getY())));
      auto type = tensorType(sizes, tensorOf(operand).getElementType(), dims);
      return SliceOp::create(rewriter, op.getLoc(), type, operand, rewriter.getI64IntegerAttr(dim), op.getLowAttr());
    };
    Value a = sliced(dot.getA(), dot.getALabels()), b = sliced(dot.getB(), dot.getBLabels());
    auto part = DotOp::create(rewriter, op.getLoc(), op.getType(), a, b, dot.getALabelsAttr(), dot.getBLabelsAttr());
    rewriter.replaceOp(op, multiplyingIn(dot->getAttr(kCompute), part).getOperation());
    return success();
  }
};

/// f(x, ..)[T: 0 .. T - 1] = f(x[T: 0 .. T - 1], ..) where nothing else of the result is read and an x is a contraction that is
/// sliced in turn: of the gradient of memory and segment joined, the segment's rows alone are contracted.
struct SliceBeforeElements : OpRewritePattern<SliceOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(SliceOp op, PatternRewriter &rewriter) const override {
    Operation *elements = op.getX().getDefiningOp();
    if (!elements || !elements->hasOneUse() || !elements->hasTrait<Elementwise>() || !isOfContractions(op.getX(), op->getBlock()))
      return rewriter.notifyMatchFailure(op, "no slice of what is made of contractions alone for it");
    IRMapping mapping;
    for (Value operand : elements->getOperands()) {
      if (tensorOf(operand).getShape() != tensorOf(op.getX()).getShape())
        return rewriter.notifyMatchFailure(op, "an operand of another shape");
      auto type = withElement(tensorOf(op.getY()), tensorOf(operand).getElementType());
      mapping.map(operand, SliceOp::create(rewriter, op.getLoc(), type, operand, op.getDimAttr(), op.getLowAttr()).getY());
    }
    Operation *part = rewriter.clone(*elements, mapping);
    part->getResult(0).setType(op.getType());
    rewriter.replaceOp(op, part);
    return success();
  }

private:
  /// Whether a contraction is made for `value` alone, through elementwise ops at most.
  static bool isOfContractions(Value value, Block *block) {
    Operation *op = value.getDefiningOp();
    if (!op || op->getBlock() != block || !op->hasOneUse())
      return false;
    auto isMade = [&](Value operand) { return isOfContractions(operand, block); };
    return op->hasTrait<Contraction>() || (op->hasTrait<Elementwise>() && llvm::any_of(op->getOperands(), isMade));
  }
};

/// x + 0 = x. The one rewrite that is not exact, hence not a folder of the op: of x = -0 the sum is 0.
struct DropAddedZero : OpRewritePattern<AddOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(AddOp op, PatternRewriter &rewriter) const override {
    for (auto [zero, other] : {std::pair(op.getB(), op.getA()), std::pair(op.getA(), op.getB())})
      if (auto constant = zero.getDefiningOp<ConstantOp>(); constant && constant.getValue().isZero()) {
        rewriter.replaceOp(op, other);
        return success();
      }
    return rewriter.notifyMatchFailure(op, "no zero");
  }
};

/// x + scatter_add(dy) = scatter_add(dy) onto x, where x is in memory anyway and nobody else reads it: the gradient of a tied
/// embedding is a contraction plus some rows, and only those rows are touched. Of scatters onto scatters the first one goes onto
/// x, so that the sum of the two is no tensor of its own.
struct ScatterOntoSum : OpRewritePattern<AddOp> {
  using OpRewritePattern::OpRewritePattern;
  static bool isInMemory(Operation *op) { return op && (op->hasTrait<Contraction>() || isa<KernelOpInterface>(op)); }
  /// The scatters that make `value` from nothing and that nobody else reads, the last one first; none if there are others.
  static SmallVector<ScatterAddOp> scattersOf(Value value, Block *block) {
    SmallVector<ScatterAddOp> found;
    for (; value; value = found.back().getBase()) {
      auto scatter = value.getDefiningOp<ScatterAddOp>();
      if (!scatter || !value.hasOneUse() || scatter->getBlock() != block)
        return {};
      found.push_back(scatter);
    }
    return found;
  }
  LogicalResult matchAndRewrite(AddOp op, PatternRewriter &rewriter) const override {
    auto isBase = [&](Value value) {
      auto argument = dyn_cast<BlockArgument>(value);
      bool carry = argument && isa<StackOp>(argument.getOwner()->getParentOp());
      return value.hasOneUse() && value.getParentBlock() == op->getBlock() && (carry || isInMemory(value.getDefiningOp()));
    };
    for (auto [base, other] : {std::pair(op.getA(), op.getB()), std::pair(op.getB(), op.getA())}) {
      SmallVector<ScatterAddOp> scatters = scattersOf(other, op->getBlock());
      if (scatters.empty() || !isBase(base))
        continue;
      Value sum = base;
      for (ScatterAddOp scatter : llvm::reverse(scatters))
        sum = ScatterAddOp::create(rewriter, op.getLoc(), op.getY().getType(), scatter.getDy(), scatter.getIndex(), sum,
                                   scatter.getDimAttr(), scatter.getXDimsAttr(), scatter.getIndexDimsAttr(),
                                   scatter.getClampAttr());
      rewriter.replaceOp(op, sum);
      return success();
    }
    return rewriter.notifyMatchFailure(op, "no scatter_add onto a value in memory that nobody else reads");
  }
};

struct DropStopGradient : OpRewritePattern<StopGradientOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(StopGradientOp op, PatternRewriter &rewriter) const override {
    rewriter.replaceOp(op, op.getX());
    return success();
  }
};

/// Those of this dialect and of every one that has an op of tensors in the function. Scalar code in regions stays as it is.
void addCanonicalForms(func::FuncOp function, RewritePatternSet &patterns) {
  MLIRContext *context = patterns.getContext();
  llvm::SmallSetVector<Dialect *, 4> dialects;
  dialects.insert(context->getLoadedDialect<TenonDialect>());
  auto isTensor = [](Type type) { return isa<RankedTensorType>(type); };
  function.walk([&](Operation *op) {
    if (op->getDialect() && (llvm::any_of(op->getOperandTypes(), isTensor) || llvm::any_of(op->getResultTypes(), isTensor)))
      dialects.insert(op->getDialect());
  });
  for (Dialect *dialect : dialects)
    dialect->getCanonicalizationPatterns(patterns);
  for (RegisteredOperationName op : context->getRegisteredOperations())
    if (dialects.contains(&op.getDialect()))
      op.getCanonicalizationPatterns(patterns, context);
}

struct Simplify : impl::SimplifyBase<Simplify> {
  using SimplifyBase::SimplifyBase;
  void runOnOperation() override {
    func::FuncOp function = getOperation();
    function.walk([&](ReadParameterOp read) { // without a depth: the same at every depth
      if (read.getDepths().empty() && read->getParentOp() != function)
        read->moveBefore(&function.getBody().front(), function.getBody().front().begin());
    });
    RewritePatternSet patterns(&getContext());
    patterns.add<SliceBeforeContraction>(&getContext());
    if (!afterDifferentiation)
      patterns.add<ContractBeforeGather>(&getContext());
    addCanonicalForms(function, patterns);
    patterns.add<DropAddedZero>(&getContext());
    addFlippedWindows(patterns);
    addAttentionOrder(patterns);
    addTransposedReads(patterns);
    addLoopContractions(patterns, afterDifferentiation);
    if (afterDifferentiation) {
      patterns.add<DropStopGradient, ScatterOntoSum, SliceBeforeElements>(&getContext());
      addWindowContractions(patterns);
      addWindowPhases(patterns);
    }
    // What is left over when the driver stops early computes the same; that it does not stop is a property of the patterns.
    DeclinedPatterns listener("simplify");
    [[maybe_unused]] LogicalResult ends =
        applyPatternsGreedily(function, std::move(patterns), GreedyRewriteConfig().setListener(&listener));
    assert(succeeded(ends) && "the patterns come to an end");
    DominanceInfo dominance(function);
    IRRewriter rewriter(&getContext());
    eliminateCommonSubExpressions(rewriter, dominance, function);
  }
};

} // namespace
} // namespace tenon
