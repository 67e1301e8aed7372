#include "lowering/tensor/TransposedReads.h"
#include "dialect/Build.h"
#include "dialect/TensorSizes.h"

using namespace mlir;

namespace tenon {
namespace {

bool isTransposition(BroadcastOp op) {
  return op && tensorOf(op.getX()).getRank() == tensorOf(op.getY()).getRank() && !llvm::is_sorted(op.getDims());
}

bool isOne(AffineExpr size) {
  auto number = dyn_cast<AffineConstantExpr>(size);
  return number && number.getValue() == 1;
}

/// Whether it adds dimensions of one element and nothing else, as a convolution of size 1 reads its image.
bool addsOnes(ReshapeOp op) {
  SmallVector<AffineExpr> sizes = sizesOf(tensorOf(op.getY()));
  int64_t next = 0;
  for (int64_t group : op.getGroups()) {
    if (group < 1 || llvm::count_if(ArrayRef(sizes).slice(next, group), [](AffineExpr size) { return !isOne(size); }) > 1)
      return false;
    next += group;
  }
  return true;
}

/// Whether it has windows of one place alone, as a convolution of size 1 with steps.
bool hasOnePlace(WindowOp op) {
  SmallVector<AffineExpr> sizes = sizesOf(tensorOf(op.getY()));
  return !op.getPaired() &&
         llvm::all_of(llvm::seq(op.getDims().size()), [&](size_t entry) { return isOne(sizes[op.placeDim(entry)]); });
}

bool isReadByContractions(Value value) {
  return !value.use_empty() && llvm::all_of(value.getUsers(), [](Operation *user) { return user->hasTrait<Contraction>(); });
}

/// Dimension d of what is transposed is dimension dims[d] behind it, and becomes groups[dims[d]] dimensions of `y`: these in the
/// order before, their sizes and the transposition to y that is left.
struct Turned {
  Turned(ArrayRef<int64_t> order, ArrayRef<int64_t> groups, RankedTensorType y) {
    SmallVector<AffineExpr> all = sizesOf(y), sizes;
    SmallVector<int64_t> begins;
    for (int64_t next = 0; int64_t group : groups)
      begins.push_back(std::exchange(next, next + group));
    for (int64_t dim : order) {
      own.push_back(groups[dim]);
      for (int64_t place = begins[dim]; place < begins[dim] + groups[dim]; ++place)
        sizes.push_back(all[place]), dims.push_back(place);
    }
    type = tensorType(sizes, y.getElementType(), dimCountOf(y));
  }
  SmallVector<int64_t> own, dims;
  RankedTensorType type;
};

/// reshape(transpose(x)) = transpose(reshape(x)): contractions permute their labels instead.
struct OnesBeforeOrder : OpRewritePattern<ReshapeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ReshapeOp op, PatternRewriter &rewriter) const override {
    auto order = op.getX().getDefiningOp<BroadcastOp>();
    if (!isTransposition(order) || !addsOnes(op) || !isReadByContractions(op.getY()))
      return rewriter.notifyMatchFailure(op, "no dimensions of one element, added for contractions alone to what is transposed");
    Turned turned(order.getDims(), op.getGroups(), tensorOf(op.getY()));
    Value split = ReshapeOp::create(rewriter, op.getLoc(), turned.type, order.getX(), rewriter.getDenseI64ArrayAttr(turned.own));
    rewriter.replaceOpWithNewOp<BroadcastOp>(op, op.getType(), split, rewriter.getDenseI64ArrayAttr(turned.dims));
    return success();
  }
};

/// The same of windows of one place.
struct PlacesBeforeOrder : OpRewritePattern<WindowOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(WindowOp op, PatternRewriter &rewriter) const override {
    auto order = op.getX().getDefiningOp<BroadcastOp>();
    if (!isTransposition(order) || !hasOnePlace(op) || !isReadByContractions(op.getY()))
      return rewriter.notifyMatchFailure(op, "no windows of one place, made for contractions alone of what is transposed");
    SmallVector<int64_t> groups(order.getDims().size(), 1), dims, entries;
    for (int64_t dim : op.getDims())
      groups[dim] = 2;
    Turned turned(order.getDims(), groups, tensorOf(op.getY()));
    for (auto [dim, to] : llvm::enumerate(order.getDims()))
      if (groups[to] == 2) {
        dims.push_back(dim);
        entries.push_back(llvm::find(op.getDims(), to) - op.getDims().begin());
      }
    auto inOrder = [&](ArrayRef<int64_t> numbers) {
      return rewriter.getDenseI64ArrayAttr(llvm::map_to_vector(entries, [&](int64_t entry) { return numbers[entry]; }));
    };
    Value windows = WindowOp::create(rewriter, op.getLoc(), turned.type, order.getX(), rewriter.getDenseI64ArrayAttr(dims),
                                     inOrder(op.getStride()), inOrder(op.getDilation()), inOrder(op.getPad()),
                                     inOrder(op.getDivisor()), op.getFillAttr(), UnitAttr());
    rewriter.replaceOpWithNewOp<BroadcastOp>(op, op.getType(), windows, rewriter.getDenseI64ArrayAttr(turned.dims));
    return success();
  }
};

/// A carry that each round ends by transposing, and reads through contractions or turned back, keeps the order in which it is
/// made.
struct CarryAsMade : OpRewritePattern<StackOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(StackOp loop, PatternRewriter &rewriter) const override {
    for (unsigned i = 0; i < loop.getCarries().size(); ++i)
      if (BroadcastOp order = endOf(loop, i)) {
        rewrite(loop, i, order, rewriter);
        return success();
      }
    return rewriter.notifyMatchFailure(loop, "no carry that is transposed at the end of each round, and turned back");
  }

private:
  static BroadcastOp endOf(StackOp loop, unsigned i) {
    Block &body = loop.getBody().front();
    auto order = body.getTerminator()->getOperand(i).getDefiningOp<BroadcastOp>();
    if (!isTransposition(order) || order->getBlock() != &body)
      return {};
    Value carry = body.getArgument(i + 1);
    bool turnsBack = false;
    auto takesAnyOrder = [&](Operation *user) {
      auto other = dyn_cast<BroadcastOp>(user);
      auto ones = dyn_cast<ReshapeOp>(user);
      auto windows = dyn_cast<WindowOp>(user);
      turnsBack |= isTransposition(other) && isInverse(order.getDims(), other.getDims());
      return isTransposition(other) || user->hasTrait<Contraction>() ||
             (ones && addsOnes(ones) && isReadByContractions(ones.getY())) ||
             (windows && hasOnePlace(windows) && isReadByContractions(windows.getY()));
    };
    return llvm::all_of(carry.getUsers(), takesAnyOrder) && turnsBack ? order : BroadcastOp();
  }
  static bool isInverse(ArrayRef<int64_t> there, ArrayRef<int64_t> back) {
    for (auto [dim, to] : llvm::enumerate(there))
      if (back[to] != int64_t(dim))
        return false;
    return true;
  }

  static void rewrite(StackOp loop, unsigned i, BroadcastOp order, PatternRewriter &rewriter) {
    Block &body = loop.getBody().front();
    const Location location = loop.getLoc();
    const auto made = tensorOf(order.getX()), carried = tensorOf(order.getY());
    DenseI64ArrayAttr there = order.getDimsAttr();
    SmallVector<int64_t> inverse(there.size());
    for (auto [dim, to] : llvm::enumerate(there.asArrayRef()))
      inverse[to] = dim;
    SmallVector<Value> initials(loop.getCarries());
    SmallVector<Type> types(loop.getResultTypes());
    types[i] = made;
    rewriter.setInsertionPoint(loop);
    initials[i] = BroadcastOp::create(rewriter, location, made, initials[i], rewriter.getDenseI64ArrayAttr(inverse));
    auto fresh = StackOp::create(rewriter, location, types, loop.getCount(), initials, loop.getReverse(), loop.getFirst());
    fresh->setDiscardableAttrs(loop->getDiscardableAttrDictionary());
    auto yield = cast<YieldOp>(body.getTerminator());
    rewriter.modifyOpInPlace(yield, [&] { yield->setOperand(i, order.getX()); });
    rewriter.inlineRegionBefore(loop.getBody(), fresh.getBody(), fresh.getBody().end());
    BlockArgument carry = body.getArgument(i + 1);
    carry.setType(made);
    rewriter.setInsertionPointToStart(&body);
    auto turned = BroadcastOp::create(rewriter, location, carried, carry, there);
    rewriter.replaceAllUsesExcept(carry, turned.getY(), turned);
    rewriter.setInsertionPointAfter(fresh);
    SmallVector<Value> results(fresh->getResults());
    results[i] = BroadcastOp::create(rewriter, location, carried, results[i], there);
    rewriter.replaceOp(loop, results);
  }
};

} // namespace

void addTransposedReads(RewritePatternSet &patterns) {
  patterns.add<OnesBeforeOrder, PlacesBeforeOrder, CarryAsMade>(patterns.getContext());
}

} // namespace tenon
