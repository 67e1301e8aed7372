// Reverse-mode differentiation over DifferentiableOpInterface. See Passes.td.
#include "dialect/Build.h"
#include "dialect/DepthForm.h"
#include "dialect/ElementModel.h"
#include "dialect/Refusal.h"
#include "lowering/Passes.h"
#include "lowering/tensor/GradientWrites.h"
#include "lowering/tensor/SavedValues.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Dominance.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;

namespace tenon {
#define GEN_PASS_DEF_DIFFERENTIATE
#include "lowering/Passes.h.inc"

namespace {

/// A loop of a forward pass that has been left: its depths `first` .. `first + count - 1`.
struct LeftLoop {
  BlockArgument depth; // of the forward loop, for the terms of `depths`
  int64_t first;
  AffineMap count; // a number: parameters lie there by depth
};

/// The gradient of what one `read_parameter` gives. In the loop of its last depth it is a slice; outside of that loop, where a
/// loop in between does not belong to the parameter, it is the slices of all depths of the loop, stacked in front.
struct ParameterGradient {
  StringAttr symbol;
  SmallVector<DepthForm> depths; // over the loops that have not been left and those that have
  SmallVector<LeftLoop> left;    // outermost first: the leading dimensions of `sum`
  Value sum;

  bool isOf(BlockArgument loop) const {
    return llvm::any_of(depths, [&](const DepthForm &form) {
      return llvm::any_of(form.terms, [&](const DepthForm::Term &term) { return term.argument == loop; });
    });
  }
  /// Whether two gradients are of the same slices: the loops that were left run over the same depths, whichever they were.
  bool isLike(const ParameterGradient &other) const {
    auto sameLoop = [](const LeftLoop &a, const LeftLoop &b) { return a.first == b.first && a.count == b.count; };
    if (symbol != other.symbol || depths.size() != other.depths.size() || !llvm::equal(left, other.left, sameLoop))
      return false;
    auto renamed = [&](DepthForm form) {
      for (DepthForm::Term &term : form.terms)
        for (auto [from, to] : llvm::zip(other.left, left))
          if (term.argument == from.depth) {
            term.argument = to.depth;
            break;
          }
      return form;
    };
    return llvm::all_of_zip(depths, other.depths, [&](const DepthForm &a, const DepthForm &b) { return a == renamed(b); });
  }
};

/// The gradient of what a loop reads of `x` at its place, where x is from outside of it.
struct SliceGradient {
  Value x, sum;
};

/// Gradients of the values of one block while it is walked backwards, and of the parameters and slices read in it.
struct Gradients {
  DenseMap<Value, Value> of;
  SmallVector<ParameterGradient> parameters;
  SmallVector<SliceGradient> slices;

  /// The sum of what is of the same slices as `gradient`.
  Value &ofParameter(const ParameterGradient &gradient) {
    for (ParameterGradient &known : parameters)
      if (known.isLike(gradient))
        return known.sum;
    parameters.push_back(gradient);
    parameters.back().sum = {};
    return parameters.back().sum;
  }
};

class ReversedStack;

class Differentiator {
public:
  explicit Differentiator(func::FuncOp function) : function(function) {}
  LogicalResult run();

private:
  void findActive(Block &block);
  bool isActive(Value value) const { return active.contains(value); }
  void accumulate(Gradients &gradients, Value value, Value gradient, OpBuilder &builder);
  /// Walks `block` backwards, building at `builder`.
  LogicalResult walk(Block &block, Gradients &gradients, OpBuilder &builder);
  LogicalResult differentiate(Operation *op, Gradients &gradients, OpBuilder &builder);
  LogicalResult differentiateSlice(AtDepthOp slice, Gradients &gradients, OpBuilder &builder);
  llvm::SetVector<Value> activeCaptures(StackOp stack);
  void startReverse(StackOp stack, ArrayRef<unsigned> realCarries, const llvm::SetVector<Value> &captured, Gradients &gradients,
                    ReversedStack &reversed, Gradients &inner, OpBuilder &inside);
  LogicalResult differentiateStack(StackOp stack, Gradients &gradients, OpBuilder &builder);
  void writeParameters(Gradients &gradients, OpBuilder &builder);
  void writeByDepth(const ParameterGradient &gradient, OpBuilder &builder);
  void hoistSlices();
  void freezeTheRest();
  Value seed(OutputOp loss, OpBuilder &builder);
  double constantScale();

  func::FuncOp function;
  llvm::DenseSet<Value> active; // values that a trained parameter reaches
  llvm::StringSet<> trained;
  SmallVector<Value> depths,
      forwardDepths; // depth arguments of the reversed bodies under construction, outermost first, and of theirs
};

bool isRealTensor(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && isa<FloatType>(type.getElementType());
}

void Differentiator::findActive(Block &block) {
  auto module = function->getParentOfType<ModuleOp>();
  for (Operation &op : block) {
    if (auto read = dyn_cast<ReadParameterOp>(op)) {
      auto parameter = module.lookupSymbol<ParameterOp>(read.getParameter());
      if (parameter && !parameter.getFrozen())
        active.insert(read.getValue());
      continue;
    }
    if (isa<StopGradientOp, ReadStateOp>(op))
      continue;
    if (auto stack = dyn_cast<StackOp>(op)) {
      Block &body = stack.getBody().front();
      // A carry is active from the first depth on if its final value is: all real carries are taken, the rest is found by the
      // walk.
      for (BlockArgument argument : body.getArguments().drop_front())
        if (isRealTensor(argument))
          active.insert(argument);
      findActive(body);
      for (Value result : stack.getResults())
        if (isRealTensor(result))
          active.insert(result);
      continue;
    }
    if (llvm::any_of(op.getOperands(), [&](Value operand) { return isActive(operand); }))
      for (Value result : op.getResults())
        if (isRealTensor(result))
          active.insert(result);
  }
}

void Differentiator::accumulate(Gradients &gradients, Value value, Value gradient, OpBuilder &builder) {
  if (!gradient || !isActive(value))
    return;
  Value &sum = gradients.of[value];
  sum = sum ? Build(builder, gradient.getLoc()).add(sum, gradient) : gradient;
}

LogicalResult Differentiator::differentiate(Operation *op, Gradients &gradients, OpBuilder &builder) {
  SmallVector<Value> ofResults;
  bool demanded = false;
  for (Value result : op->getResults()) {
    ofResults.push_back(gradients.of.lookup(result));
    demanded |= bool(ofResults.back());
  }
  if (!demanded)
    return success();
  if (auto read = dyn_cast<ReadParameterOp>(op)) {
    ParameterGradient gradient{read.getParameterAttr().getAttr(), {}, {}, {}};
    for (Value depth : read.getDepths())
      gradient.depths.push_back(*depthFormOf(depth));
    Value &sum = gradients.ofParameter(gradient);
    sum = sum ? Build(builder, op->getLoc()).add(sum, ofResults[0]) : ofResults[0];
    return success();
  }
  if (auto slice = dyn_cast<AtDepthOp>(op))
    return differentiateSlice(slice, gradients, builder);
  auto differentiable = dyn_cast<DifferentiableOpInterface>(op);
  if (!differentiable)
    return op->emitOpError("expects a gradient rule, got none");
  KeepCompute keep(builder, op);
  SmallVector<Value> ofOperands = differentiable.buildVjp(builder, ofResults);
  if (ofOperands.empty() && op->getNumOperands() > 0)
    return failure(); // the rule has said why
  assert(ofOperands.size() == op->getNumOperands() && "a rule gives a gradient, perhaps null, for each operand");
  for (auto [operand, gradient] : llvm::zip(op->getOperands(), ofOperands))
    accumulate(gradients, operand, gradient, builder);
  return success();
}

/// What is read of a tensor place by place has its gradient collected place by place: the sum over a loop of tensors that are 0
/// but at one place would take its length squared.
LogicalResult Differentiator::differentiateSlice(AtDepthOp slice, Gradients &gradients, OpBuilder &builder) {
  if (!isActive(slice.getX()))
    return success();
  auto depth = dyn_cast<BlockArgument>(slice.getDepth());
  auto loop = depth ? dyn_cast<StackOp>(depth.getOwner()->getParentOp()) : StackOp();
  if (!loop || slice->getBlock() != depth.getOwner() || loop->isAncestor(slice.getX().getParentBlock()->getParentOp()) ||
      slice.getFirst() != loop.getFirst() || sizesOf(tensorOf(slice.getX())).front() != loop.countForm())
    return notSupported(slice) << "the gradient of what is read at a depth, but for all of a value from outside, in order";
  Value gradient = gradients.of.lookup(slice.getY());
  for (SliceGradient &known : gradients.slices)
    if (known.x == slice.getX())
      return known.sum = Build(builder, slice.getLoc()).add(known.sum, gradient), success();
  gradients.slices.push_back({slice.getX(), gradient});
  return success();
}

LogicalResult Differentiator::walk(Block &block, Gradients &gradients, OpBuilder &builder) {
  SmallVector<Operation *> ops;
  for (Operation &op : block)
    ops.push_back(&op);
  for (Operation *op : llvm::reverse(ops)) {
    auto stack = dyn_cast<StackOp>(op);
    if (failed(stack ? differentiateStack(stack, gradients, builder) : differentiate(op, gradients, builder)))
      return failure();
  }
  writeParameters(gradients, builder);
  return success();
}

/// Writes the gradients that no loop around adds to any more, and takes them off the list.
void Differentiator::writeParameters(Gradients &gradients, OpBuilder &builder) {
  llvm::erase_if(gradients.parameters, [&](const ParameterGradient &gradient) {
    trained.insert(gradient.symbol.getValue());
    if (!llvm::all_of(forwardDepths, [&](Value depth) { return gradient.isOf(cast<BlockArgument>(depth)); }))
      return false;
    writeByDepth(gradient, builder);
    return true;
  });
}

void Differentiator::writeByDepth(const ParameterGradient &gradient, OpBuilder &builder) {
  Location location = gradient.sum.getLoc();
  IRMapping mapping; // depths of the forward loops to those of the loops that write
  mapping.map(forwardDepths, depths);
  Value slice = gradient.sum;
  OpBuilder inside = builder;
  for (const LeftLoop &left : gradient.left) {
    auto loop = StackOp::create(inside, location, TypeRange(), left.count, ValueRange(), false, left.first);
    Block *body = new Block;
    loop.getBody().push_back(body);
    Value depth = body->addArgument(builder.getIndexType(), location);
    mapping.map(Value(left.depth), depth);
    inside = OpBuilder::atBlockBegin(body);
    YieldOp::create(inside, location, ValueRange());
    inside.setInsertionPointToStart(body);
    auto whole = tensorOf(slice);
    auto type = tensorType(ArrayRef(sizesOf(whole)).drop_front(), whole.getElementType(), dimCountOf(whole));
    slice = AtDepthOp::create(inside, location, type, slice, depth, inside.getI64IntegerAttr(left.first));
  }
  SmallVector<Value> all;
  for (const DepthForm &form : gradient.depths)
    all.push_back(buildDepth(inside, location, form, [&](BlockArgument argument) { return mapping.lookup(Value(argument)); }));
  if (const double scale = constantScale(); scale != 1)
    slice = Build(inside, location).scale(slice, 1 / scale);
  WriteGradientOp::create(inside, location, FlatSymbolRefAttr::get(gradient.symbol), all, slice);
}

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
  startReverse(stack, realCarries, captured, gradients, reversed, inner, inside);
  depths.push_back(reversed.depth());
  forwardDepths.push_back(body.getArgument(0));
  LogicalResult walked = walk(body, inner, inside);
  depths.pop_back();
  forwardDepths.pop_back();
  if (failed(walked)) {
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
  makeAvailable(stack, loop);

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

/// What is read at the place of a loop is read in its body, not in a loop inside: there it is the same in each round.
void Differentiator::hoistSlices() {
  function.walk([&](AtDepthOp slice) {
    auto depth = dyn_cast<BlockArgument>(slice.getDepth());
    if (!depth || depth.getOwner() == slice->getBlock())
      return;
    Operation *around = depth.getOwner()->findAncestorOpInBlock(*slice);
    if (around && DominanceInfo().properlyDominates(slice.getX(), around))
      slice->moveBefore(around);
  });
}

void Differentiator::freezeTheRest() {
  auto module = function->getParentOfType<ModuleOp>();
  for (auto parameter : module.getOps<ParameterOp>())
    if (!trained.contains(parameter.getSymName()))
      parameter.setFrozen(true);
}

/// What the gradient starts from: 1, or the loss scale, which the optimizer divides by; without an optimizer a number that the
/// gradients are divided by where they are written.
Value Differentiator::seed(OutputOp loss, OpBuilder &builder) {
  auto type = tensorOf(loss.getValue());
  auto optimizer = function->getAttrOfType<DictionaryAttr>("tenon.optimizer");
  auto settings = optimizer ? optimizer.getAs<DictionaryAttr>("settings") : DictionaryAttr();
  if (settings && settings.contains("scale_growth")) {
    Type f32 = builder.getF32Type();
    Value scale = ReadLossScaleOp::create(builder, loss.getLoc(), RankedTensorType::get({}, f32));
    return type.getElementType() == f32 ? scale : Build(builder, loss.getLoc()).convert(scale, type.getElementType());
  }
  return Build(builder, loss.getLoc()).constant(type, constantScale());
}
double Differentiator::constantScale() {
  auto scale = function->getAttrOfType<FloatAttr>("tenon.gradient_scale");
  return scale ? scale.getValueAsDouble() : 1;
}

LogicalResult Differentiator::run() {
  Block &block = function.getBody().front();
  OutputOp loss;
  for (auto output : block.getOps<OutputOp>())
    if (output.getIndex() == 0)
      loss = output;
  if (!loss)
    return function.emitOpError("has no loss to differentiate");
  hoistSlices();
  findActive(block);
  const char *const unreached = "no trained parameter reaches the loss, so there is no gradient to take";
  if (!isActive(loss.getValue()))
    return refuse(loss, kNoGradient) << unreached;
  OpBuilder builder(block.getTerminator());
  Gradients gradients;
  gradients.of[loss.getValue()] = seed(loss, builder);
  if (failed(walk(block, gradients, builder)))
    return failure();
  joinGradientWrites(function);
  if (trained.empty()) // what seemed active was a stack without parameters
    return refuse(loss, kNoGradient) << unreached;
  freezeTheRest();
  return success();
}

struct Differentiate : impl::DifferentiateBase<Differentiate> {
  void runOnOperation() override {
    auto kind = getOperation()->getAttrOfType<StringAttr>("tenon.kind");
    if (kind && kind.getValue() == "train" && failed(Differentiator(getOperation()).run()))
      signalPassFailure();
  }
};

} // namespace
} // namespace tenon
