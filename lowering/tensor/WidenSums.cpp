#include "lowering/tensor/WidenSums.h"
#include "dialect/Build.h"
#include "dialect/ElementModel.h"
#include "lowering/Declined.h"

using namespace mlir;

namespace tenon {
namespace {

constexpr llvm::StringLiteral kRewrite = "widen-sums";

bool isReduction(Operation *op) {
  auto mixed = dyn_cast<MixedPrecisionOpInterface>(op);
  return op->hasTrait<ReadsRows>() || (mixed && mixed.isReduction());
}

class Widening {
public:
  explicit Widening(Type wide) : wide(wide) {}

  void widen(Operation *op) {
    for (OpOperand &operand : op->getOpOperands())
      if (isNarrower(operand.get().getType()))
        operand.set(converted(operand.get(), wide));
    for (Value result : op->getResults())
      if (isNarrower(result.getType()))
        widenResult(result);
    for (Region &region : op->getRegions())
      widenScalars(region);
  }

  /// What only reductions read again, as row statistics, is not rounded between them, also where a stack saves it.
  bool keepWide(Value result) {
    Operation *op = result.getDefiningOp();
    auto rounded = result.hasOneUse() ? dyn_cast<ConvertOp>(*result.user_begin()) : ConvertOp();
    SmallVector<Value> asRead; // the rounded value, and what is loaded of it where a stack has saved it
    SmallVector<OpOperand *> saved;
    if (!rounded || tensorOf(rounded.getX()).getElementType() != wide)
      return declined(op, kRewrite, "its result is not rounded once for all that read it");
    asRead.push_back(rounded);
    for (OpOperand &use : rounded.getY().getUses()) {
      auto stack = dyn_cast<StackOp>(use.getOwner()->getParentOp());
      if (isWidened(use.getOwner()))
        continue;
      if (!isa<YieldOp>(use.getOwner()) || !stack || use.getOperandNumber() < stack.getCarries().size())
        return declined(op, kRewrite, "its result is rounded: not reductions alone read it");
      for (Operation *load : stack.getResult(use.getOperandNumber()).getUsers()) {
        if (!isa<AtDepthOp>(load) || !llvm::all_of(load->getUsers(), [&](Operation *user) { return isWidened(user); }))
          return declined(op, kRewrite, "what is saved of it is rounded: not reductions alone read that");
        asRead.push_back(load->getResult(0));
      }
      saved.push_back(&use);
    }
    for (OpOperand *use : saved) {
      Value kept = use->getOwner()->getParentOp()->getResult(use->getOperandNumber());
      kept.setType(withElement(tensorOf(kept), wide));
      use->set(result);
    }
    for (Value value : asRead) {
      Value source = value == rounded.getY() ? result : value;
      if (source == value)
        value.setType(withElement(tensorOf(value), wide));
      for (Operation *user : llvm::make_early_inc_range(value.getUsers())) {
        user->getResult(0).replaceAllUsesWith(source);
        user->erase();
      }
    }
    rounded.erase();
    return true;
  }

private:
  bool isWidened(Operation *op) const {
    auto convert = dyn_cast<ConvertOp>(op);
    return convert && tensorOf(convert.getY()).getElementType() == wide;
  }

  bool isNarrower(Type type) const {
    auto tensor = dyn_cast<RankedTensorType>(type);
    auto element = tensor ? dyn_cast<FloatType>(tensor.getElementType()) : FloatType();
    return element && element != wide;
  }

  /// What has 16 bits becomes f32 on the way, which changes no number and is all that kernels convert; made once, where it is
  /// defined.
  Value converted(Value value, Type to) {
    auto [known, isNew] = widened.try_emplace(value);
    if (!isNew)
      return known->second;
    OpBuilder builder(value.getContext());
    builder.setInsertionPointAfterValue(value);
    Build build(builder, value.getLoc());
    Value made = build.convert(build.convert(value, elementModel(tensorOf(value).getElementType()).compute), to);
    return widened[value] = made;
  }

  void widenResult(Value result) {
    const Type element = tensorOf(result).getElementType();
    result.setType(withElement(tensorOf(result), wide));
    OpBuilder builder(result.getContext());
    builder.setInsertionPointAfterValue(result);
    Build build(builder, result.getLoc());
    Value computed = build.convert(result, elementModel(element).compute);
    result.replaceAllUsesExcept(build.convert(computed, element), computed.getDefiningOp());
  }

  /// The step of attention: scalar code of the type that scores are computed in.
  void widenScalars(Region &region) {
    auto isNarrow = [&](Type type) { return isa<FloatType>(type) && type != wide; };
    region.walk<WalkOrder::PreOrder>([&](Block *block) {
      for (BlockArgument argument : block->getArguments())
        if (isNarrow(argument.getType()))
          argument.setType(wide);
      for (Operation &inner : *block) {
        if (auto constant = dyn_cast<arith::ConstantOp>(inner); constant && isNarrow(constant.getType()))
          constant.setValueAttr(FloatAttr::get(wide, cast<FloatAttr>(constant.getValue()).getValueAsDouble()));
        for (Value result : inner.getResults())
          if (isNarrow(result.getType()))
            result.setType(wide);
      }
    });
  }

  Type wide;
  llvm::DenseMap<Value, Value> widened;
};

} // namespace

void widenSums(func::FuncOp function, Type wide) {
  SmallVector<Operation *> reductions;
  function.walk([&](Operation *op) {
    if (isReduction(op))
      reductions.push_back(op);
  });
  Widening widening(wide);
  for (Operation *op : reductions)
    widening.widen(op);
  for (Operation *op : reductions)
    for (Value result : op->getResults())
      widening.keepWide(result);
}

} // namespace tenon
