// A loop gets a reversed twin: carries, captured values and the parameters of each depth.
#include "dialect/Build.h"
#include "dialect/Refusal.h"
#include "dialect/Rounds.h"
#include "lowering/tensor/Differentiator.h"
#include "lowering/tensor/SavedValues.h"

using namespace mlir;

namespace tenon {

/// A reverse loop while its body is built: what it carries and what it collects by depth becomes known only then.
class ReversedStack {
public:
  ReversedStack(StackOp forward, OpBuilder &builder) : forward(forward), builder(builder), block(new Block) {
    block->addArgument(builder.getIndexType(), forward.getLoc());
  }
  Value depth() const { return block->getArgument(0); }
  Block *body() const { return block; }
  OpBuilder &before() { return builder; } ///< builds in front of the loop
  /// The argument of a new carry.
  Value carry(Value initial) {
    initials.push_back(initial);
    return block->addArgument(initial.getType(), forward.getLoc());
  }
  StackOp finish(ArrayRef<Value> carried, ArrayRef<Value> collected) {
    SmallVector<Type> types;
    for (Value value : initials)
      types.push_back(value.getType());
    for (Value value : collected)
      types.push_back(forward.stacked(tensorOf(value)));
    SmallVector<Value> yielded(carried);
    llvm::append_range(yielded, collected);
    OpBuilder end(forward.getContext());
    end.setInsertionPointToEnd(block);
    YieldOp::create(end, forward.getLoc(), yielded);
    auto stack = StackOp::create(builder, forward.getLoc(), types, forward.getCount(), initials, true, forward.getFirst());
    stack.getBody().push_back(block);
    return stack;
  }

private:
  StackOp forward;
  OpBuilder &builder;
  Block *block;
  SmallVector<Value> initials;
};

/// Values from outside the stack's body that take part in gradients.
llvm::SetVector<Value> Differentiator::activeCaptures(StackOp stack) {
  llvm::SetVector<Value> captured;
  stack.getBody().walk([&](Operation *op) {
    if (auto slice = dyn_cast<AtDepthOp>(op); slice && slice.getDepth() == stack.getBody().front().getArgument(0))
      return; // collected by depth
    for (Value operand : op->getOperands())
      if (operand.getParentRegion()->isProperAncestor(&stack.getBody()) && isActive(operand))
        captured.insert(operand);
  });
  return captured;
}

/// The carries of the reverse loop and what is known at its start of an iteration: the gradients of what the body yields.
void Differentiator::startReverse(StackOp stack, ArrayRef<unsigned> realCarries, const llvm::SetVector<Value> &captured,
                                  Gradients &gradients, ReversedStack &reversed, Gradients &inner, OpBuilder &inside) {
  auto yield = cast<YieldOp>(stack.getBody().front().getTerminator());
  Location location = stack.getLoc();
  Build build(reversed.before(), location);
  SmallVector<Value> ofCarries;
  for (unsigned i : realCarries) {
    Value gradient = gradients.of.lookup(stack.getResult(i));
    ofCarries.push_back(reversed.carry(gradient ? gradient : build.zerosLike(stack.getResult(i))));
  }
  for (Value value : captured)
    inner.of[value] = reversed.carry(build.zerosLike(value)); // a yielded value may be one of them: its gradient is added below
  for (auto [i, gradient] : llvm::zip(realCarries, ofCarries))
    accumulate(inner, yield.getOperand(i), gradient, inside);
  for (unsigned i = stack.getCarries().size(); i < stack.getNumResults();
       ++i) // saved or history results that the outside differentiates
    if (Value gradient = gradients.of.lookup(stack.getResult(i)))
      accumulate(
          inner, yield.getOperand(i),
          AtDepthOp::create(inside, location, yield.getOperand(i).getType(), gradient, reversed.depth(), stack.getFirstAttr()),
          inside);
}

/// Depths that did not run forwards do not run backwards.
static LogicalResult skipRounds(StackOp stack, Value depth, OpBuilder &inside) {
  if (!mayEndEarly(stack))
    return success();
  if (!roundsCarry(stack))
    return notSupported(stack) << "the gradient of a stack that skips rounds and does not count the others";
  Value rounds = stack.getResult(*roundsCarry(stack));
  Value number = DepthValueOp::create(inside, stack.getLoc(), rounds.getType(), depth);
  SkipOp::create(inside, stack.getLoc(), Build(inside, stack.getLoc()).compare(Comparison::le, rounds, number), Value());
  return success();
}

LogicalResult Differentiator::fillReverse(StackOp stack, ArrayRef<unsigned> realCarries, const llvm::SetVector<Value> &captured,
                                          Gradients &gradients, ReversedStack &reversed, Gradients &inner, OpBuilder &inside) {
  if (failed(skipRounds(stack, reversed.depth(), inside)))
    return failure();
  startReverse(stack, realCarries, captured, gradients, reversed, inner, inside);
  Block &body = stack.getBody().front();
  depths.push_back(reversed.depth());
  forwardDepths.push_back(body.getArgument(0));
  LogicalResult walked = walk(body, inner, inside);
  depths.pop_back();
  forwardDepths.pop_back();
  return walked;
}

/// Carries of the reverse loop: gradients of the real carries, then sums for the captured values, then sums for the parameters of
/// a stack that a loop around runs several times. Its collected results: gradients of the stack's own parameters by depth, then
/// of what it reads of values from outside by depth.
LogicalResult Differentiator::differentiateStack(StackOp stack, Gradients &gradients, OpBuilder &builder) {
  if (llvm::none_of(stack.getResults(), [&](Value result) { return gradients.of.contains(result); }))
    return success();
  Block &body = stack.getBody().front();
  const unsigned carries = stack.getCarries().size();
  SmallVector<unsigned> realCarries =
      llvm::filter_to_vector(llvm::seq(carries), [&](unsigned i) { return isRealTensor(stack.getCarries()[i]); });
  llvm::SetVector<Value> captured = activeCaptures(stack);
  ReversedStack reversed(stack, builder);
  Gradients inner;
  OpBuilder inside(stack.getContext());
  inside.setInsertionPointToEnd(reversed.body());
  if (failed(fillReverse(stack, realCarries, captured, gradients, reversed, inner, inside))) {
    delete reversed.body();
    return failure();
  }
  Build build(builder, stack.getLoc()), buildInside(inside, stack.getLoc());
  SmallVector<Value> yielded, collected;
  for (unsigned i : realCarries) {
    Value gradient = inner.of.lookup(body.getArgument(1 + i));
    yielded.push_back(gradient ? gradient : buildInside.zerosLike(body.getArgument(1 + i)));
  }
  for (Value value : captured)
    yielded.push_back(inner.of.lookup(value));
  auto isOwn = [&](const ParameterGradient &gradient) { return gradient.isOf(body.getArgument(0)); };
  SmallVector<ParameterGradient> repeated, byDepth;
  for (ParameterGradient &gradient : inner.parameters)
    (isOwn(gradient) ? byDepth : repeated).push_back(gradient);
  for (ParameterGradient &gradient : repeated)
    yielded.push_back(buildInside.add(reversed.carry(build.zerosLike(gradient.sum)), gradient.sum));
  for (ParameterGradient &gradient : byDepth)
    collected.push_back(gradient.sum);
  for (SliceGradient &slice : inner.slices)
    collected.push_back(slice.sum);
  StackOp loop = reversed.finish(yielded, collected);
  SmallVector<Value> operands(stack.getCarries()); // the next line replaces the op
  const LeftLoop range{body.getArgument(0), int64_t(stack.getFirst()), stack.getCount()};
  makeAvailable(stack, loop, saveOperands);

  auto add = [&](Value &sum, Value more) { sum = sum ? build.add(sum, more) : more; };
  unsigned next = 0;
  for (unsigned i : realCarries)
    accumulate(gradients, operands[i], loop.getResult(next++), builder);
  for (Value value : captured)
    accumulate(gradients, value, loop.getResult(next++), builder);
  for (ParameterGradient &gradient : repeated)
    add(gradients.ofParameter(gradient), loop.getResult(next++));
  for (ParameterGradient &gradient : byDepth) {
    gradient.left.insert(gradient.left.begin(), range);
    add(gradients.ofParameter(gradient), loop.getResult(next++));
  }
  for (SliceGradient &slice : inner.slices)
    accumulate(gradients, slice.x, loop.getResult(next++), builder);
  return success();
}

} // namespace tenon
