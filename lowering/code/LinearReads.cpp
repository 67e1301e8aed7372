#include "lowering/code/LinearReads.h"
#include "dialect/Formula.h"
#include "dialect/TensorSizes.h"
#include "lowering/code/Parameters.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace tenon {
namespace {

AffineExpr simplified(AffineExpr form) {
  unsigned dims = 0;
  form.walk([&](AffineExpr part) {
    if (auto dim = dyn_cast<AffineDimExpr>(part))
      dims = std::max(dims, dim.getPosition() + 1);
  });
  return simplifyAffineExpr(form, dims, 0);
}

/// Indices as linear forms. `conditions`: forms that are at least 0 where an index is asked for.
class LinearForms {
public:
  LinearForms(Block &block, std::optional<Interval> interval, ArrayRef<LinearForm> conditions = {})
      : block(block), interval(interval), conditions(conditions),
        zero(getAffineConstantExpr(0, block.getParentOp()->getContext())) {}

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
    if (auto difference = index.getDefiningOp<arith::SubIOp>()) {
      auto right = of(difference.getRhs());
      if (!right || !isPlain(*right)) // that turns the direction
        return std::nullopt;
      return combined(difference.getLhs(), difference.getRhs(), [](AffineExpr a, AffineExpr b) { return a - b; });
    }
    if (auto scaled = index.getDefiningOp<arith::MulIOp>())
      return times(scaled.getLhs(), scaled.getRhs());
    if (auto clamp = index.getDefiningOp<arith::MaxSIOp>())
      return unclamped(clamp.getLhs(), clamp.getRhs(), /*isLeast=*/true);
    if (auto clamp = index.getDefiningOp<arith::MinSIOp>())
      return unclamped(clamp.getLhs(), clamp.getRhs(), /*isLeast=*/false);
    return std::nullopt;
  }

  std::optional<LinearForm> difference(Value a, Value b) {
    return combined(a, b, [](AffineExpr left, AffineExpr right) { return left - right; });
  }

private:
  bool isPlain(const LinearForm &form) {
    return llvm::all_of(form.factors, [&](AffineExpr factor) { return factor == zero; });
  }
  /// For all dims, as far as that can be seen.
  static bool isAtLeast(AffineExpr a, AffineExpr b) {
    auto difference = dyn_cast<AffineConstantExpr>(simplified(a - b));
    return difference && difference.getValue() >= 0;
  }

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
    if (!isPlain(*right))
      std::swap(left, right);
    if (!isPlain(*right))
      return std::nullopt;
    for (AffineExpr &factor : left->factors)
      factor = factor * right->rest;
    left->rest = left->rest * right->rest;
    return left;
  }
  /// The form that is kept at or above the bound beside it (`isLeast`), or at or below it, where that changes nothing.
  std::optional<LinearForm> unclamped(Value a, Value b, bool isLeast) {
    auto form = of(a), bound = of(b);
    if (form && bound && isPlain(*form))
      std::swap(form, bound);
    if (!form || !bound || !isPlain(*bound))
      return std::nullopt;
    LinearForm least = *form; // at least 0 where the bound changes nothing
    least.rest = isLeast ? form->rest - bound->rest : bound->rest - form->rest;
    for (AffineExpr &factor : least.factors)
      factor = isLeast ? factor : simplified(-factor);
    return llvm::any_of(conditions, [&](const LinearForm &one) { return implies(one, least); }) ||
                   holdsInside(*form, bound->rest, isLeast)
               ? form
               : std::nullopt;
  }
  bool implies(const LinearForm &condition, const LinearForm &other) {
    return llvm::equal(condition.factors, other.factors,
                       [](AffineExpr a, AffineExpr b) { return simplified(a) == simplified(b); }) &&
           isAtLeast(other.rest, condition.rest);
  }
  /// Of the argument of the interval and a form.
  bool holdsInside(const LinearForm &form, AffineExpr bound, bool isLeast) {
    if (!interval || form.factors[interval->dim] != getAffineConstantExpr(1, zero.getContext()))
      return false;
    LinearForm others = form;
    others.factors[interval->dim] = zero;
    return isPlain(others) &&
           (isLeast ? isAtLeast(form.rest + interval->low, bound) : isAtLeast(bound, form.rest + interval->high - 1));
  }

  Block &block;
  std::optional<Interval> interval;
  ArrayRef<LinearForm> conditions;
  AffineExpr zero;
};

std::optional<LinearRead> readAt(AtOp at, Block &block, LinearForms forms) {
  const AffineExpr zero = getAffineConstantExpr(0, at.getContext());
  LinearRead read{at.getTensor(), SmallVector<AffineExpr>(block.getNumArguments(), zero), zero};
  SmallVector<AffineExpr> strides = rowMajorStrides(cast<RankedTensorType>(at.getTensor().getType()));
  for (auto [index, stride] : llvm::zip_equal(at.getIndices(), strides)) {
    std::optional<LinearForm> form = forms.of(index);
    if (!form)
      return std::nullopt;
    for (auto [sum, factor] : llvm::zip_equal(read.strides, form->factors))
      sum = sum + factor * stride;
    read.offset = read.offset + form->rest * stride;
  }
  return read;
}

/// What a comparison says is at least 0.
std::optional<LinearForm> leastOf(arith::CmpIOp compare, LinearForms &forms) {
  Value low = compare.getLhs(), high = compare.getRhs();
  const arith::CmpIPredicate predicate = compare.getPredicate();
  if (predicate == arith::CmpIPredicate::sgt || predicate == arith::CmpIPredicate::sge)
    std::swap(low, high);
  else if (predicate != arith::CmpIPredicate::slt && predicate != arith::CmpIPredicate::sle)
    return std::nullopt;
  std::optional<LinearForm> form = forms.difference(high, low);
  if (form && (predicate == arith::CmpIPredicate::slt || predicate == arith::CmpIPredicate::sgt))
    form->rest = form->rest - 1;
  return form;
}

/// A choice by one argument: `below` where it is less than `bound`, else `behind`.
struct Choice {
  unsigned dim;
  AffineExpr bound;
  Value below, behind;
};

std::optional<Choice> choiceOf(Value value, Block &block) {
  auto select = value.getDefiningOp<arith::SelectOp>();
  auto test = select ? select.getCondition().getDefiningOp<arith::CmpIOp>() : arith::CmpIOp();
  if (!test)
    return std::nullopt;
  Value left = test.getLhs(), right = test.getRhs();
  arith::CmpIPredicate predicate = test.getPredicate();
  auto isArgument = [&](Value index) {
    auto argument = dyn_cast<BlockArgument>(index);
    return argument && argument.getOwner() == &block;
  };
  if (isArgument(right)) { // the argument stands left
    std::swap(left, right);
    predicate = predicate == arith::CmpIPredicate::sle   ? arith::CmpIPredicate::sge
                : predicate == arith::CmpIPredicate::sgt ? arith::CmpIPredicate::slt
                                                         : arith::CmpIPredicate::eq;
  }
  const bool isBelow = predicate == arith::CmpIPredicate::slt;
  if (!isArgument(left) || (!isBelow && predicate != arith::CmpIPredicate::sge))
    return std::nullopt;
  AffineExpr bound;
  if (auto size = right.getDefiningOp<SizeValueOp>())
    bound = size.getForm().getResult(0);
  else if (auto number = right.getDefiningOp<arith::ConstantIndexOp>())
    bound = getAffineConstantExpr(number.value(), value.getContext());
  else
    return std::nullopt;
  Value yes = select.getTrueValue(), no = select.getFalseValue();
  return Choice{cast<BlockArgument>(left).getArgNumber(), bound, isBelow ? yes : no, isBelow ? no : yes};
}

} // namespace

bool isNatural(AffineExpr form) {
  unsigned dims = 0;
  bool isRounded = false;
  form.walk([&](AffineExpr part) {
    if (auto dim = dyn_cast<AffineDimExpr>(part))
      dims = std::max(dims, dim.getPosition() + 1);
    isRounded |= llvm::is_contained({AffineExprKind::FloorDiv, AffineExprKind::CeilDiv, AffineExprKind::Mod}, part.getKind());
  });
  // Expanded: a product of dims is no affine form, and (d0 + 8) * d1 - d0 * d1 is nothing that MLIR simplifies.
  return !isRounded && llvm::all_of(FormulaSpace(std::vector<std::string>(dims)).of(form).terms,
                                    [](const auto &term) { return term.second > 0; });
}

std::optional<LinearRead> linearRead(Value value, Block &block, Type element, std::optional<Interval> interval) {
  auto at = value.getDefiningOp<AtOp>();
  if (!at || at->getBlock() != &block || at.getElement().getType() != element)
    return std::nullopt;
  return readAt(at, block, LinearForms(block, interval));
}

std::optional<GuardedRead> guardedRead(Value value, Block &block, Type element) {
  auto select = value.getDefiningOp<arith::SelectOp>();
  auto at = select ? select.getTrueValue().getDefiningOp<AtOp>() : AtOp();
  auto fill = select ? select.getFalseValue().getDefiningOp<arith::ConstantOp>() : arith::ConstantOp();
  if (!at || !fill || at->getBlock() != &block || at.getElement().getType() != element)
    return std::nullopt;
  GuardedRead guarded{{}, {}, fill.getValue()};
  LinearForms plain(block, {});
  SmallVector<Value> work{select.getCondition()};
  while (!work.empty()) {
    Value condition = work.pop_back_val();
    if (auto both = condition.getDefiningOp<arith::AndIOp>()) {
      work.append({both.getLhs(), both.getRhs()});
      continue;
    }
    auto compare = condition.getDefiningOp<arith::CmpIOp>();
    std::optional<LinearForm> least = compare ? leastOf(compare, plain) : std::nullopt;
    if (!least)
      return std::nullopt;
    guarded.conditions.push_back(*least);
  }
  std::optional<LinearRead> read = readAt(at, block, LinearForms(block, {}, guarded.conditions));
  if (!read)
    return std::nullopt;
  guarded.read = *read;
  return guarded;
}

std::optional<JoinedReads> joinedReads(Value value, Block &block, RankedTensorType type) {
  SmallVector<Value> values; // from behind
  SmallVector<AffineExpr> bounds;
  std::optional<unsigned> dim;
  for (std::optional<Choice> choice = choiceOf(value, block); choice; choice = choiceOf(value, block)) {
    if (dim && *dim != choice->dim)
      return std::nullopt;
    dim = choice->dim;
    values.push_back(choice->behind);
    bounds.push_back(choice->bound);
    value = choice->below;
  }
  if (!dim)
    return std::nullopt;
  values.push_back(value);
  JoinedReads join{*dim, {}, {getAffineConstantExpr(0, value.getContext())}};
  join.starts.append(bounds.rbegin(), bounds.rend());
  join.starts.push_back(sizesOf(type)[*dim]);
  for (auto [number, part] : llvm::enumerate(llvm::reverse(values))) {
    const AffineExpr low = join.starts[number], high = join.starts[number + 1];
    auto read = isNatural(high - low) ? linearRead(part, block, type.getElementType(), Interval{*dim, low, high}) : std::nullopt;
    if (!read)
      return std::nullopt;
    join.reads.push_back(*read);
  }
  return join;
}

/// A constant or a size as a form of the dims.
static std::optional<AffineExpr> formOfSize(Value value, MLIRContext *context) {
  if (auto size = value.getDefiningOp<SizeValueOp>())
    return size.getForm().getResult(0);
  if (auto number = value.getDefiningOp<arith::ConstantIndexOp>())
    return getAffineConstantExpr(number.value(), context);
  return std::nullopt;
}

std::optional<AffineExpr> growthOf(Value index, int64_t label, Block &block) {
  MLIRContext *context = index.getContext();
  if (auto argument = dyn_cast<BlockArgument>(index); argument && argument.getOwner() == &block)
    return getAffineConstantExpr(int64_t(argument.getArgNumber()) == label, context);
  if (auto sum = index.getDefiningOp<arith::AddIOp>()) {
    auto left = growthOf(sum.getLhs(), label, block), right = growthOf(sum.getRhs(), label, block);
    return left && right ? std::optional(*left + *right) : std::nullopt;
  }
  if (auto scaled = index.getDefiningOp<arith::MulIOp>()) {
    auto left = growthOf(scaled.getLhs(), label, block), right = growthOf(scaled.getRhs(), label, block);
    if (!left || !right)
      return std::nullopt;
    AffineExpr none = getAffineConstantExpr(0, context);
    auto leftForm = formOfSize(scaled.getLhs(), context), rightForm = formOfSize(scaled.getRhs(), context);
    if (*left == none && *right == none)
      return none;
    if (*right == none && rightForm)
      return *left * *rightForm;
    if (*left == none && leftForm)
      return *right * *leftForm;
    return std::nullopt;
  }
  if (formOfSize(index, context) || !block.getParent()->isAncestor(index.getParentRegion()))
    return getAffineConstantExpr(0, context);
  return std::nullopt;
}

} // namespace tenon
