#include "lowering/cpu/GemmSide.h"
#include "dialect/TensorSizes.h"

using namespace mlir;

namespace tenon::cpu {
namespace {

/// An index as a sum of block arguments times forms, and a form.
struct LinearForm {
  SmallVector<AffineExpr> factors; ///< by number of the argument
  AffineExpr rest;
};

class LinearForms {
public:
  explicit LinearForms(Block &block) : block(block), zero(getAffineConstantExpr(0, block.getParentOp()->getContext())) {}

  /// Nothing where `index` is anything else.
  std::optional<LinearForm> of(Value index) {
    LinearForm none{SmallVector<AffineExpr>(block.getNumArguments(), zero), zero};
    if (auto argument = dyn_cast<BlockArgument>(index)) {
      if (argument.getOwner() != &block)
        return std::nullopt;
      none.factors[argument.getArgNumber()] = getAffineConstantExpr(1, zero.getContext());
      return none;
    }
    if (auto number = index.getDefiningOp<arith::ConstantIndexOp>()) {
      none.rest = getAffineConstantExpr(number.value(), zero.getContext());
      return none;
    }
    if (auto size = index.getDefiningOp<SizeValueOp>()) {
      none.rest = size.getForm().getResult(0);
      return none;
    }
    if (auto sum = index.getDefiningOp<arith::AddIOp>())
      return combined(sum.getLhs(), sum.getRhs(), [](AffineExpr a, AffineExpr b) { return a + b; });
    if (auto scaled = index.getDefiningOp<arith::MulIOp>())
      return times(scaled.getLhs(), scaled.getRhs());
    return std::nullopt;
  }

private:
  std::optional<LinearForm> combined(Value a, Value b, llvm::function_ref<AffineExpr(AffineExpr, AffineExpr)> by) {
    auto left = of(a), right = of(b);
    if (!left || !right)
      return std::nullopt;
    for (auto [factor, other] : llvm::zip_equal(left->factors, right->factors))
      factor = by(factor, other);
    left->rest = by(left->rest, right->rest);
    return left;
  }
  std::optional<LinearForm> times(Value a, Value b) {
    auto left = of(a), right = of(b);
    if (!left || !right)
      return std::nullopt;
    auto isPlain = [&](const LinearForm &form) { return llvm::all_of(form.factors, [&](AffineExpr f) { return f == zero; }); };
    if (!isPlain(*right))
      std::swap(left, right);
    if (!isPlain(*right))
      return std::nullopt;
    for (AffineExpr &factor : left->factors)
      factor = factor * right->rest;
    left->rest = left->rest * right->rest;
    return left;
  }

  Block &block;
  AffineExpr zero;
};

/// The argument of `block` with which `index` moves on, clamped or not, by one or more.
void collectMoving(Value index, Block *block, llvm::SmallDenseSet<unsigned> &moving) {
  if (auto argument = dyn_cast<BlockArgument>(index)) {
    if (argument.getOwner() == block)
      moving.insert(argument.getArgNumber());
    return;
  }
  if (Operation *op = index.getDefiningOp();
      isa_and_nonnull<arith::AddIOp, arith::MulIOp, arith::MinSIOp, arith::MaxSIOp, arith::FloorDivSIOp>(op))
    for (Value operand : op->getOperands())
      collectMoving(operand, block, moving);
}

/// Nominal length of a dimension.
int64_t lengthOf(AffineExpr size) { return nominalSize(size); }

} // namespace

GemmSide::GemmSide(Value operand, RankedTensorType type, ArrayRef<int64_t> labels, Block *code)
    : tensor(operand), type(type), labels(labels), element(code), strides(rowMajorStrides(type)), offset(zero()) {
  if (!element)
    return;
  auto at = element->getTerminator()->getOperand(0).getDefiningOp<AtOp>();
  if (at && at->getBlock() == element && at.getElement().getType() == type.getElementType())
    readsLinearly(at);
}

void GemmSide::readsLinearly(AtOp at) {
  LinearForms forms(*element);
  auto read = cast<RankedTensorType>(at.getTensor().getType());
  SmallVector<AffineExpr> ofRead = rowMajorStrides(read), own(labels.size(), zero());
  AffineExpr start = zero();
  for (auto [index, stride] : llvm::zip_equal(at.getIndices(), ofRead)) {
    std::optional<LinearForm> form = forms.of(index);
    if (!form)
      return;
    for (auto [sum, factor] : llvm::zip_equal(own, form->factors))
      sum = sum + factor * stride;
    start = start + form->rest * stride;
  }
  tensor = at.getTensor();
  element = nullptr;
  strides = own;
  offset = start;
}

AffineExpr GemmSide::strideOf(int64_t label) const {
  const auto *place = llvm::find(labels, label);
  return place == labels.end() ? zero() : strides[place - labels.begin()];
}

AffineExpr GemmSide::strideOf(const Labels &run, const SizesOfLabels &sizes) const {
  for (int64_t label : llvm::reverse(run))
    if (!isOneElement(sizes.lookup(label)))
      return strideOf(label);
  return run.empty() ? zero() : strideOf(run.back());
}

Labels GemmSide::runOf(ArrayRef<int64_t> list, const SizesOfLabels &sizes) const {
  if (element)
    return Labels(list);
  Labels run;
  AffineExpr next; // the stride of a label that may stand in front
  for (int64_t label : llvm::reverse(list)) {
    const AffineExpr size = sizes.lookup(label);
    if (!isOneElement(size)) {
      if (next && strideOf(label) != next)
        break;
      next = strideOf(label) * size;
    }
    run.insert(run.begin(), label);
  }
  return run;
}

int64_t GemmSide::contiguous(ArrayRef<int64_t> candidates, const SizesOfLabels &sizes) const {
  llvm::SmallDenseSet<unsigned> moving;
  if (element)
    element->walk([&](AtOp at) {
      if (!at.getIndices().empty())
        collectMoving(at.getIndices().back(), element, moving);
    });
  int64_t best = -1;
  for (auto [dim, label] : llvm::enumerate(labels)) {
    const bool isNear = element ? moving.contains(dim) : isOneElement(strides[dim]);
    if (isNear && llvm::is_contained(candidates, label) && !isOneElement(sizes.lookup(label)) &&
        (best < 0 || lengthOf(sizes.lookup(label)) >= lengthOf(sizes.lookup(best))))
      best = label;
  }
  return best;
}

} // namespace tenon::cpu
