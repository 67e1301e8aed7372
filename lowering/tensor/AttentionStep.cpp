#include "lowering/tensor/AttentionStep.h"
#include "dialect/ElementCode.h"
#include "dialect/ElementModel.h"
#include "lowering/tensor/AttentionIndices.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace tenon {

static bool isView(Operation *op) { return dimsShown(op).has_value(); }

/// Where a type that the text gives a value rounds it: to another one than scores of `element` have anyway.
static bool isRounding(Operation *op, Type element) {
  auto convert = dyn_cast<ConvertOp>(op);
  const Type to = convert ? tensorOf(convert.getY()).getElementType() : element;
  return to != element && elementModel(to).compute != to;
}

/// The operands of an elementwise op or view that are no numbers, each once, with their labels.
static SmallVector<Labelled> inputsOf(const Labelled &value) {
  SmallVector<Labelled> inputs;
  Operation *op = value.value.getDefiningOp();
  if (std::optional<Labelled> source = sourceOf(value))
    return {*source};
  for (Value operand : op->getOperands()) {
    Labelled input{operand, value.labels};
    if (!constantOf(operand) && !llvm::is_contained(inputs, input))
      inputs.push_back(input);
  }
  return inputs;
}

/// Whether score terms are read through the op: a product with or quotient by a number, a sign, a view.
static bool isLinear(Operation *op) {
  if (auto quotient = dyn_cast<DivOp>(op))
    return constantOf(quotient.getB()).has_value();
  return isView(op) || isa<NegOp>(op) || (isa<MulOp>(op) && (constantOf(op->getOperand(0)) || constantOf(op->getOperand(1))));
}

static bool contracts(Value value, unsigned depth) {
  Operation *op = value.getDefiningOp();
  if (!op || depth == 0)
    return false;
  return isa<DotOp>(op) || ((op->hasTrait<ElementFormula>() || isView(op) || isa<GatherOp>(op)) &&
                            llvm::any_of(op->getOperands(), [&](Value operand) { return contracts(operand, depth - 1); }));
}

std::optional<AttentionStep> stepOf(const Labelled &score) {
  // Values that the score is a function of, the last one in the block taken apart first: where only one is left, the score is a
  // function of that one.
  SmallVector<Labelled> front{score};
  std::optional<AttentionStep> step;
  bool linear = true; // between the value found last and the front
  for (unsigned budget = 64; budget > 0 && !front.empty(); --budget) {
    if (front.size() == 1 && !linear) {
      step = AttentionStep{score, front.front()};
      linear = true;
    }
    Block *block = front.front().value.getParentBlock();
    if (!llvm::all_of(front,
                      [&](Labelled value) { return value.value.getDefiningOp() && value.value.getParentBlock() == block; }))
      break;
    auto *last = std::max_element(front.begin(), front.end(), [](const Labelled &a, const Labelled &b) {
      return a.value.getDefiningOp()->isBeforeInBlock(b.value.getDefiningOp());
    });
    Operation *op = last->value.getDefiningOp();
    if ((!op->hasTrait<ElementFormula>() && !isView(op)) || isRounding(op, tensorOf(score.value).getElementType()))
      break;
    linear &= front.size() == 1 && isLinear(op);
    SmallVector<Labelled> inputs = inputsOf(*last);
    front.erase(last);
    for (const Labelled &input : inputs)
      if (!llvm::is_contained(front, input))
        front.push_back(input);
  }
  return step && contracts(step->inner.value, 64) ? step : std::nullopt;
}

namespace {
/// The function on scalar tensors.
class StepBuilder {
public:
  StepBuilder(OpBuilder &builder, const AttentionStep &step)
      : builder(builder), build(builder, step.score.value.getLoc()), inner(step.inner.value) {
    x = build.constant(scalarLike(inner), 0); // stands for the score
    mapping.map(inner, x);
  }

  Value of(Value value) {
    if (Value known = mapping.lookupOrNull(value))
      return known;
    Value result;
    Operation *op = value.getDefiningOp();
    if (std::optional<double> constant = constantOf(value)) {
      result = build.constant(scalarLike(value), *constant);
    } else if (isView(op) || (isa<ConvertOp>(op) && of(op->getOperand(0)).getType() == scalarLike(value))) {
      result = of(op->getOperand(0));
    } else {
      for (Value operand : op->getOperands())
        of(operand);
      Operation *copy = builder.clone(*op, mapping);
      copy->getResult(0).setType(scalarLike(value));
      copies.push_back(copy);
      result = copy->getResult(0);
    }
    mapping.map(value, result);
    return result;
  }

  /// dy * function'(x).
  Value derivative(Value y, Value dy) {
    llvm::DenseMap<Value, Value> gradients{{y, dy}};
    for (Operation *copy : llvm::reverse(copies)) {
      auto op = dyn_cast<DifferentiableOpInterface>(copy);
      Value gradient = gradients.lookup(copy->getResult(0));
      if (!op || !gradient)
        continue;
      for (auto [operand, part] : llvm::zip(copy->getOperands(), op.buildVjp(builder, {gradient})))
        if (part) {
          Value &sum = gradients[operand];
          sum = sum ? build.add(sum, part) : part;
        }
    }
    Value result = gradients.lookup(x);
    return result ? result : build.zerosLike(x);
  }

  /// Of the type that is computed in, as the kernels' scores are.
  static RankedTensorType scalarLike(Value value) {
    return RankedTensorType::get({}, elementModel(tensorOf(value).getElementType()).compute);
  }

  OpBuilder &builder;
  Build build;
  Value inner, x;

private:
  IRMapping mapping;
  SmallVector<Operation *> copies;
};
} // namespace

void buildStep(OpBuilder &builder, const AttentionStep &step, double scale, Region &region) {
  StepBuilder scalar(builder, step);
  Value y = scalar.of(step.score.value), factor = scalar.build.constant(y.getType(), scale);
  Value slope = scalar.derivative(y, factor);
  y = scale == 1 ? y : scalar.build.mul(y, factor);
  OpBuilder inside(builder.getContext());
  Block *block = inside.createBlock(&region, {}, {tensorOf(y).getElementType()}, {step.score.value.getLoc()});
  ElementCode code(inside, [](Value) { return Value(); });
  code.define(scalar.x, {}, block->getArgument(0));
  Value results[] = {code.element(y, {}), code.element(slope, {})};
  YieldOp::create(inside, step.score.value.getLoc(), results);
}

} // namespace tenon
