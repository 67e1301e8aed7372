// Reverse-mode differentiation over DifferentiableOpInterface. See Passes.td.
#include "dialect/Build.h"
#include "dialect/DepthForm.h"
#include "dialect/ElementModel.h"
#include "dialect/OptimizeSettings.h"
#include "dialect/Refusal.h"
#include "lowering/Passes.h"
#include "lowering/tensor/Differentiator.h"
#include "lowering/tensor/GradientWrites.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Dominance.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;

namespace tenon {
#define GEN_PASS_DEF_DIFFERENTIATE
#include "lowering/Passes.h.inc"

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
    if (op.hasTrait<StopsGradient>())
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
  if (!sum) {
    sum = gradient;
    return;
  }
  Build build(builder, gradient.getLoc());
  const Type own = tensorOf(gradient).getElementType(), computed = elementModel(own).compute; // of 16 bits nothing is added
  sum = build.convert(build.add(build.convert(sum, computed), build.convert(gradient, computed)), own);
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
    return op->emitOpError("expects a gradient rule, got none"); // P1
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

/// Of several train functions, which share the parameters, each names its own; tenon-add-optimizer freezes what none has.
void Differentiator::freezeTheRest() {
  auto module = function->getParentOfType<ModuleOp>();
  if (function->hasAttr(kTrained)) {
    SmallVector<StringRef> names;
    for (auto parameter : module.getOps<ParameterOp>()) // in their order
      if (trained.contains(parameter.getSymName()))
        names.push_back(parameter.getSymName());
    function->setAttr(kTrained, Builder(function->getContext()).getStrArrayAttr(names));
    return;
  }
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
    return function.emitOpError("has no loss to differentiate"); // P2
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

namespace {

struct Differentiate : impl::DifferentiateBase<Differentiate> {
  using DifferentiateBase::DifferentiateBase;
  void runOnOperation() override {
    auto kind = getOperation()->getAttrOfType<StringAttr>("tenon.kind");
    if (kind && kind.getValue() == "train" && failed(Differentiator(getOperation(), saveOperands).run()))
      signalPassFailure();
  }
};

} // namespace
} // namespace tenon
