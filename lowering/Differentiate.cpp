// Reverse-mode differentiation over DifferentiableOpInterface. See Passes.td.
#include "dialect/Build.h"
#include "lowering/Passes.h"
#include "lowering/SavedValues.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;

namespace tenon {
#define GEN_PASS_DEF_DIFFERENTIATE
#include "lowering/Passes.h.inc"

namespace {

/// Gradients of the values of one block while it is walked backwards, and of the parameters read in it.
struct Gradients {
  DenseMap<Value, Value> of;
  llvm::MapVector<StringAttr, Value> parameters;
};

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
  LogicalResult differentiateStack(StackOp stack, Gradients &gradients, OpBuilder &builder);
  void writeParameters(Gradients &gradients, OpBuilder &builder);
  /// A stack that is applied twice has two reverse loops: the later one adds what the earlier one found, and writes the sum.
  LogicalResult joinWrites();
  LogicalResult joinWrites(ArrayRef<WriteGradientOp> writes);
  void freezeTheRest();

  func::FuncOp function;
  llvm::DenseSet<Value> active; // values that a trained parameter reaches
  llvm::StringSet<> trained;
  SmallVector<Value> depths; // depth arguments of the reversed bodies under construction, outermost first
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
      // A carry is active from the first depth on if its final value is: all real carries are taken, the rest is found by the walk.
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
    Value &sum = gradients.parameters[read.getParameterAttr().getAttr()];
    sum = sum ? Build(builder, op->getLoc()).add(sum, ofResults[0]) : ofResults[0];
    return success();
  }
  auto differentiable = dyn_cast<DifferentiableOpInterface>(op);
  if (!differentiable)
    return op->emitOpError("has no gradient rule");
  SmallVector<Value> ofOperands = differentiable.buildVjp(builder, ofResults);
  if (ofOperands.empty() && op->getNumOperands() > 0)
    return failure(); // the rule has said why
  if (ofOperands.size() != op->getNumOperands())
    return op->emitOpError("gradient rule returns ") << ofOperands.size() << " gradients for " << op->getNumOperands() << " operands";
  for (auto [operand, gradient] : llvm::zip(op->getOperands(), ofOperands))
    accumulate(gradients, operand, gradient, builder);
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

void Differentiator::writeParameters(Gradients &gradients, OpBuilder &builder) {
  for (auto &[symbol, gradient] : gradients.parameters) {
    trained.insert(symbol.getValue());
    WriteGradientOp::create(builder, gradient.getLoc(), FlatSymbolRefAttr::get(symbol), depths, gradient);
  }
}

LogicalResult Differentiator::differentiateStack(StackOp stack, Gradients &gradients, OpBuilder &builder) {
  Block &body = stack.getBody().front();
  auto yield = cast<YieldOp>(body.getTerminator());
  unsigned carries = stack.getCarries().size();
  Location location = stack.getLoc();
  Build build(builder, location);
  if (llvm::none_of(stack.getResults(), [&](Value result) { return gradients.of.contains(result); }))
    return success();

  // Carries of the reverse loop: gradients of the carries, then sums for the captured values that are active.
  SmallVector<unsigned> realCarries;
  SmallVector<Value> initial;
  for (unsigned i = 0; i < carries; ++i)
    if (isRealTensor(stack.getCarries()[i])) {
      realCarries.push_back(i);
      Value gradient = gradients.of.lookup(stack.getResult(i));
      initial.push_back(gradient ? gradient : build.zerosLike(stack.getResult(i)));
    }
  llvm::SetVector<Value> captured;
  body.walk([&](Operation *op) {
    for (Value operand : op->getOperands())
      if (operand.getParentRegion()->isProperAncestor(&stack.getBody()) && isActive(operand))
        captured.insert(operand);
  });
  for (Value value : captured)
    initial.push_back(build.zerosLike(value));

  SmallVector<Type> types;
  for (Value value : initial)
    types.push_back(value.getType());
  auto reversed = StackOp::create(builder, location, types, stack.getCountAttr(), initial, builder.getUnitAttr(), stack.getFirstAttr());
  Block *block = new Block;
  reversed.getBody().push_back(block);
  Value depth = block->addArgument(builder.getIndexType(), location);
  for (Type type : types)
    block->addArgument(type, location);

  Gradients inner;
  OpBuilder inside = OpBuilder::atBlockEnd(block);
  for (auto [k, i] : llvm::enumerate(realCarries))
    accumulate(inner, yield.getOperand(i), block->getArgument(1 + k), inside);
  for (unsigned i = carries; i < stack.getNumResults(); ++i) // saved or history results that the outside differentiates
    if (Value gradient = gradients.of.lookup(stack.getResult(i)))
      accumulate(inner, yield.getOperand(i), AtDepthOp::create(inside, location, yield.getOperand(i).getType(), gradient, depth, stack.getFirstAttr()), inside);
  for (auto [k, value] : llvm::enumerate(captured))
    inner.of[value] = block->getArgument(1 + realCarries.size() + k);
  depths.push_back(depth);
  LogicalResult walked = walk(body, inner, inside);
  depths.pop_back();
  if (failed(walked))
    return failure();
  SmallVector<Value> yielded;
  for (unsigned i : realCarries) {
    Value gradient = inner.of.lookup(body.getArgument(1 + i));
    yielded.push_back(gradient ? gradient : Build(inside, location).zerosLike(body.getArgument(1 + i)));
  }
  for (Value value : captured)
    yielded.push_back(inner.of.lookup(value));
  YieldOp::create(inside, location, yielded);
  SmallVector<Value> operands(stack.getCarries()); // the next line replaces the op
  makeAvailable(stack, reversed);

  for (auto [k, i] : llvm::enumerate(realCarries))
    accumulate(gradients, operands[i], reversed.getResult(k), builder);
  for (auto [k, value] : llvm::enumerate(captured))
    accumulate(gradients, value, reversed.getResult(realCarries.size() + k), builder);
  return success();
}

/// The loops over the depths of a write, outermost first.
SmallVector<StackOp> loopsOf(WriteGradientOp write) {
  return llvm::map_to_vector(write.getDepths(), [](Value depth) { return cast<StackOp>(cast<BlockArgument>(depth).getOwner()->getParentOp()); });
}
bool sameDepths(StackOp a, StackOp b) { return a.getFirst() == b.getFirst() && a.getCount() == b.getCount(); }
bool meet(StackOp a, StackOp b) {
  return int64_t(a.getFirst()) < int64_t(b.getFirst() + b.getCount()) && int64_t(b.getFirst()) < int64_t(a.getFirst() + a.getCount());
}

LogicalResult Differentiator::joinWrites(ArrayRef<WriteGradientOp> writes) {
  SmallVector<WriteGradientOp> last; // one per range of depths
  for (WriteGradientOp write : writes) {
    SmallVector<StackOp> loops = loopsOf(write);
    bool joined = false;
    for (WriteGradientOp &other : last) {
      SmallVector<StackOp> earlier = loopsOf(other);
      if (earlier.size() == loops.size() && !llvm::all_of_zip(earlier, loops, meet))
        continue;
      if (earlier.size() != loops.size() || earlier.empty() || !llvm::all_of_zip(earlier, loops, sameDepths))
        return write.emitOpError("not supported yet: ") << write.getParameter() << " is trained in two loops over different depths";
      OpBuilder builder(write);
      write.getGradientMutable().assign(Build(builder, write.getLoc()).add(other.getGradient(), write.getGradient()));
      other.erase();
      for (unsigned k = loops.size(); k-- > 0;)
        makeAvailable(earlier[k], loops[k]);
      other = write;
      joined = true;
    }
    if (!joined)
      last.push_back(write);
  }
  return success();
}

LogicalResult Differentiator::joinWrites() {
  llvm::MapVector<StringAttr, SmallVector<WriteGradientOp>> writes;
  function.walk([&](WriteGradientOp write) { writes[write.getParameterAttr().getAttr()].push_back(write); });
  for (auto &[parameter, ofIt] : writes)
    if (ofIt.size() > 1 && failed(joinWrites(ofIt)))
      return failure();
  return success();
}

void Differentiator::freezeTheRest() {
  auto module = function->getParentOfType<ModuleOp>();
  for (auto parameter : module.getOps<ParameterOp>())
    if (!trained.contains(parameter.getSymName()))
      parameter.setFrozen(true);
}

LogicalResult Differentiator::run() {
  Block &block = function.getBody().front();
  OutputOp loss;
  for (auto output : block.getOps<OutputOp>())
    if (output.getIndex() == 0)
      loss = output;
  if (!loss)
    return function.emitOpError("has no loss to differentiate");
  findActive(block);
  if (!isActive(loss.getValue()))
    return loss.emitOpError("no trained parameter reaches the loss");
  OpBuilder builder(block.getTerminator());
  Gradients gradients;
  gradients.of[loss.getValue()] = Build(builder, loss.getLoc()).constant(loss.getValue().getType(), 1);
  if (failed(walk(block, gradients, builder)) || failed(joinWrites()))
    return failure();
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
