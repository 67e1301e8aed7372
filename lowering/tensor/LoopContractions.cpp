#include "lowering/tensor/LoopContractions.h"
#include "dialect/Build.h"
#include "dialect/ElementModel.h"
#include "dialect/Rounds.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace tenon {
namespace {

/// What is outside of the loop and has a value per place of it, of which `value` is the one of this place; null if there is none.
Value allPlacesOf(Value value, StackOp loop) {
  auto slice = value.getDefiningOp<AtDepthOp>();
  const bool isOwn = slice && slice.getDepth() == loop.getBody().front().getArgument(0) &&
                     !loop.getBody().isAncestor(slice.getX().getParentRegion()) && slice.getFirst() == loop.getFirst() &&
                     tensorOf(slice.getX()) == loop.stacked(tensorOf(value));
  return isOwn ? slice.getX() : Value();
}

SmallVector<int64_t> behind(int64_t first, ArrayRef<int64_t> labels, int64_t shift) {
  SmallVector<int64_t> all{first};
  for (int64_t label : labels)
    all.push_back(label + shift);
  return all;
}

/// dot(x[t], w) = dot(x, w)[t].
struct ContractAllPlaces : OpRewritePattern<DotOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(DotOp op, PatternRewriter &rewriter) const override {
    auto loop = dyn_cast<StackOp>(op->getParentOp());
    if (!loop || mayEndEarly(loop)) // it would be contracted for rounds that do not run
      return rewriter.notifyMatchFailure(op, "in no loop all of whose rounds run");
    auto isOutside = [&](Value value) { return !loop.getBody().isAncestor(value.getParentRegion()); };
    for (bool first : {true, false}) {
      Value all = allPlacesOf(first ? op.getA() : op.getB(), loop), other = first ? op.getB() : op.getA();
      if (!all || !isOutside(other))
        continue;
      rewriter.setInsertionPoint(loop);
      SmallVector<int64_t> a(op.getALabels()), b(op.getBLabels());
      SmallVector<int64_t> &repeated = first ? a : b, &fixed = first ? b : a;
      repeated = behind(0, repeated, 1);
      for (int64_t &label : fixed)
        ++label;
      Value product =
          multiplyingIn(op->getAttr(kCompute),
                        DotOp::create(rewriter, op.getLoc(), loop.stacked(tensorOf(op.getY())), first ? all : other,
                                      first ? other : all, rewriter.getDenseI64ArrayAttr(a), rewriter.getDenseI64ArrayAttr(b)));
      rewriter.setInsertionPoint(op);
      rewriter.replaceOpWithNewOp<AtDepthOp>(op, op.getY().getType(), product, loop.getBody().front().getArgument(0),
                                             loop.getFirst());
      return success();
    }
    return rewriter.notifyMatchFailure(op, "not of a place and of something from outside");
  }
};

/// What a loop reads with its dimensions in another order, and elementwise ops outside of it made for it alone, is made in that
/// order: else each round goes through it across its rows, and so does its gradient.
struct OrderOutside : OpRewritePattern<BroadcastOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(BroadcastOp op, PatternRewriter &rewriter) const override {
    auto loop = dyn_cast<StackOp>(op->getParentOp());
    Operation *made = op.getX().getDefiningOp();
    SmallVector<int64_t> dims(op.getDims());
    if (!loop || !made || llvm::is_sorted(dims) || loop.getBody().isAncestor(made->getParentRegion()))
      return rewriter.notifyMatchFailure(op, "no transposition of what is outside of a loop");
    auto isWhole = [&](Value operand) { return sizesOf(tensorOf(operand)) == sizesOf(tensorOf(op.getX())); };
    if (!made->hasTrait<ElementFormula>() || !made->hasOneUse() || !llvm::all_of(made->getOperands(), isWhole))
      return rewriter.notifyMatchFailure(op, "not made for this alone by an elementwise op without random numbers");
    SmallVector<int64_t> sorted(dims), places;
    llvm::sort(sorted);
    for (int64_t dim : dims)
      places.push_back(llvm::find(sorted, dim) - sorted.begin());
    auto turned = [&](RankedTensorType type) {
      SmallVector<AffineExpr> sizes(sizesOf(type));
      for (auto [k, size] : llvm::enumerate(sizesOf(type)))
        sizes[places[k]] = size;
      return tensorType(sizes, type.getElementType(), dimCountOf(type));
    };
    rewriter.setInsertionPoint(made);
    IRMapping mapping;
    for (Value operand : made->getOperands())
      mapping.map(operand, BroadcastOp::create(rewriter, op.getLoc(), turned(tensorOf(operand)), operand,
                                               rewriter.getDenseI64ArrayAttr(places)));
    Operation *fresh = rewriter.clone(*made, mapping);
    fresh->getResult(0).setType(turned(tensorOf(op.getX())));
    rewriter.setInsertionPoint(op);
    rewriter.replaceOpWithNewOp<BroadcastOp>(op, op.getType(), fresh->getResult(0), rewriter.getDenseI64ArrayAttr(sorted));
    return success();
  }
};

/// A carry c + dot(a, b), where a and b are other ones at each place: the sum of dot(a[t], b[t]) is the contraction over t, too.
struct SumOfContractions : OpRewritePattern<StackOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(StackOp loop, PatternRewriter &rewriter) const override {
    if (mayEndEarly(loop)) // what is kept of a round that did not run is nothing
      return rewriter.notifyMatchFailure(loop, "some of its rounds may not run");
    for (unsigned i = 0; i < loop.getCarries().size(); ++i)
      if (DotOp dot = addedTo(loop, i)) {
        rewrite(loop, i, dot, rewriter);
        return success();
      }
    return rewriter.notifyMatchFailure(loop, "no carry that is a sum of contractions of few rows");
  }

private:
  static int64_t elements(Value value) { return nominalSize(product(sizesOf(tensorOf(value)), value.getContext())); }

  /// The contraction that carry `i` adds up, where to collect its operands moves less than to add at each place; null otherwise.
  static DotOp addedTo(StackOp loop, unsigned i) {
    Block &body = loop.getBody().front();
    Value carry = body.getArgument(i + 1);
    auto add = body.getTerminator()->getOperand(i).getDefiningOp<AddOp>();
    if (!add || !carry.hasOneUse() || !add->hasOneUse() || (add.getA() != carry && add.getB() != carry))
      return {};
    auto dot = (add.getA() == carry ? add.getB() : add.getA()).getDefiningOp<DotOp>();
    auto variesHere = [&](Value value) { return value.getParentBlock() == &body; };
    return dot && dot->hasOneUse() && variesHere(dot) && variesHere(dot.getA()) && variesHere(dot.getB()) &&
                   elements(dot.getA()) + elements(dot.getB()) < elements(dot.getY())
               ? dot
               : DotOp();
  }

  static void rewrite(StackOp loop, unsigned i, DotOp dot, PatternRewriter &rewriter) {
    Block &body = loop.getBody().front();
    auto yield = cast<YieldOp>(body.getTerminator());
    const unsigned carries = loop.getCarries().size();
    SmallVector<Value> initials(loop.getCarries()), yielded(yield.getOperands());
    SmallVector<Type> types(loop.getResultTypes());
    // The number of the result that collects the value, once carry i is gone.
    auto collected = [&](Value value) -> unsigned {
      for (unsigned j = carries; j < yielded.size(); ++j)
        if (yielded[j] == value)
          return j - 1;
      yielded.push_back(value);
      types.push_back(loop.stacked(tensorOf(value)));
      return yielded.size() - 2;
    };
    Value wholeA = allPlacesOf(dot.getA(), loop), wholeB = allPlacesOf(dot.getB(), loop);
    const unsigned a = wholeA ? 0 : collected(dot.getA()), b = wholeB ? 0 : collected(dot.getB());
    Value initial = initials[i];
    initials.erase(initials.begin() + i);
    yielded.erase(yielded.begin() + i);
    types.erase(types.begin() + i);
    Operation *add = yield.getOperand(i).getDefiningOp();
    rewriter.setInsertionPoint(loop);
    auto fresh = StackOp::create(rewriter, loop.getLoc(), types, loop.getCount(), initials, loop.getReverse(), loop.getFirst());
    rewriter.modifyOpInPlace(yield, [&] { yield->setOperands(yielded); });
    rewriter.eraseOp(add);
    SmallVector<int64_t> aLabels(dot.getALabels()), bLabels(dot.getBLabels());
    const int64_t places = 1 + std::max(*llvm::max_element(aLabels), *llvm::max_element(bLabels));
    RankedTensorType type = tensorOf(dot.getY());
    const Location location = dot.getLoc();
    const Attribute compute = dot->getAttr(kCompute);
    rewriter.eraseOp(dot);
    body.eraseArgument(i + 1);
    rewriter.inlineRegionBefore(loop.getBody(), fresh.getBody(), fresh.getBody().end());
    rewriter.setInsertionPointAfter(fresh);
    Value sum = multiplyingIn(compute, DotOp::create(rewriter, location, type, wholeA ? wholeA : fresh.getResult(a),
                                                     wholeB ? wholeB : fresh.getResult(b),
                                                     rewriter.getDenseI64ArrayAttr(behind(places, aLabels, 0)),
                                                     rewriter.getDenseI64ArrayAttr(behind(places, bLabels, 0))));
    SmallVector<Value> results(fresh->getResults().take_front(loop.getNumResults() - 1));
    results.insert(results.begin() + i, Build(rewriter, location).add(initial, sum));
    rewriter.replaceOp(loop, results);
  }
};

} // namespace

void addLoopContractions(RewritePatternSet &patterns, bool afterDifferentiation) {
  if (afterDifferentiation)
    patterns.add<SumOfContractions>(patterns.getContext());
  else
    patterns.add<ContractAllPlaces, OrderOutside>(patterns.getContext());
}

} // namespace tenon
