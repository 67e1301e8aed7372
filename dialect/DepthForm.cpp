#include "dialect/DepthForm.h"
#include "dialect/TenonDialect.h"

using namespace mlir;

namespace tenon {

static void addTerm(DepthForm &form, BlockArgument argument, int64_t factor) {
  for (DepthForm::Term &term : form.terms)
    if (term.argument == argument) {
      term.factor += factor;
      return;
    }
  form.terms.push_back({argument, factor});
}

static std::optional<DepthForm> sum(const std::optional<DepthForm> &left, const std::optional<DepthForm> &right) {
  if (!left || !right)
    return std::nullopt;
  DepthForm result = *left;
  result.constant += right->constant;
  for (const DepthForm::Term &term : right->terms)
    addTerm(result, term.argument, term.factor);
  return result;
}

std::optional<DepthForm> depthFormOf(Value depth) {
  if (auto argument = dyn_cast<BlockArgument>(depth)) {
    if (!isa_and_nonnull<StackOp, LoopOp>(argument.getOwner()->getParentOp()) || argument.getArgNumber() != 0)
      return std::nullopt;
    return DepthForm{{{argument, 1}}, 0};
  }
  if (auto constant = depth.getDefiningOp<arith::ConstantIndexOp>())
    return DepthForm{{}, constant.value()};
  if (auto add = depth.getDefiningOp<arith::AddIOp>())
    return sum(depthFormOf(add.getLhs()), depthFormOf(add.getRhs()));
  auto multiply = depth.getDefiningOp<arith::MulIOp>();
  if (!multiply)
    return std::nullopt;
  auto left = depthFormOf(multiply.getLhs()), right = depthFormOf(multiply.getRhs());
  if (left && left->terms.empty())
    std::swap(left, right);
  if (!left || !right || !right->terms.empty())
    return std::nullopt;
  left->constant *= right->constant;
  for (DepthForm::Term &term : left->terms)
    term.factor *= right->constant;
  return left;
}

Value buildDepth(OpBuilder &builder, Location location, const DepthForm &form,
                 llvm::function_ref<Value(BlockArgument)> argumentOf) {
  Value result;
  auto add = [&](Value more) { result = result ? Value(arith::AddIOp::create(builder, location, result, more)) : more; };
  for (const DepthForm::Term &term : form.terms) {
    Value value = argumentOf(term.argument);
    add(term.factor == 1
            ? value
            : arith::MulIOp::create(builder, location, value, arith::ConstantIndexOp::create(builder, location, term.factor)));
  }
  if (form.constant != 0 || !result)
    add(arith::ConstantIndexOp::create(builder, location, form.constant));
  return result;
}

} // namespace tenon
