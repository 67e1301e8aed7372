// Checked program to tensor form: one node, by kind.
#include "dialect/ElementModel.h"
#include "dialect/WholeNumbers.h"
#include "frontend/DeepStack.h"
#include "frontend/ElementTypes.h"
#include "frontend/graph/Supported.h"
#include "frontend/mlirgen/MlirGenEntry.h"

using namespace mlir;

namespace tenon {

Type EntryGenerator::elementType(const ValueType &type) const {
  switch (type.element) {
  case Element::Real:
    return real;
  case Element::Int:
    return IntegerType::get(context, 32);
  case Element::Bool:
    return IntegerType::get(context, 1);
  }
  return {};
}

Type EntryGenerator::storedType(Element element, const std::string &written) const {
  return element == Element::Real ? isWrittenReal(written) && types.obeysWritten() ? elementNamed(written, context) : types.real
                                  : elementType({element, {}, {}});
}

RankedTensorType EntryGenerator::typeOf(const Axes &axes, Type element) const {
  SmallVector<AffineExpr> sizes;
  for (AxisId axis : axes)
    sizes.push_back(sizeOf(axis));
  return tensorType(sizes, element, entry.dims.size());
}

AffineMapAttr EntryGenerator::form(const Size &size) const { return sizeAttribute(toAffine(size, context), entry.dims.size()); }

DenseI64ArrayAttr EntryGenerator::positions(const Axes &axes, const Axes &in) {
  SmallVector<int64_t> result;
  for (AxisId axis : axes)
    result.push_back(llvm::find(in, axis) - in.begin());
  return at->getDenseI64ArrayAttr(result);
}

Value EntryGenerator::spread(Value x, const Axes &from, const Axes &to) {
  if (from == to || !x)
    return x;
  OpBuilder &builder = at ? *at : root;
  SmallVector<int64_t> dims;
  for (AxisId axis : from)
    dims.push_back(llvm::find(to, axis) - to.begin());
  return BroadcastOp::create(builder, current, typeOf(to, tensorOf(x).getElementType()), x, builder.getDenseI64ArrayAttr(dims));
}

Value EntryGenerator::unsupported(const Node &node, const char *what) {
  reportUnsupported(node, what, diagnostics);
  failed = true;
  return {};
}

/// Whether a value has the type in which a loop hands it on, or in which it lies in memory.
static bool isHandedOn(const Node &node) {
  return isLoop(node) || node.op == Op::Result || node.op == Op::Param ||
         (node.op == Op::BodyArgument && node.type.element == Element::Real);
}

Value EntryGenerator::value(NodeId id) {
  if (auto it = values.find(id); it != values.end())
    return it->second;
  if (failed)
    return {};
  if (!stackIsLow())
    return generateWithOperands(id);
  Value result;
  if (!runOnNewStack([&] { result = generateWithOperands(id); })) {
    diagnostics.error("T0419", entry.nodes[id].range, "too many definitions need each other here, one inside the other");
    failed = true;
  }
  return result;
}

Value EntryGenerator::generateWithOperands(NodeId id) {
  const Node &node = entry.nodes[id];
  // Operands first: generating them may move the place that `at` names.
  if (!isLoop(node) && node.op != Op::BodyArgument)
    for (NodeId operand : node.operands)
      if (!value(operand))
        return {};
  OpBuilder *savedAt = at;
  Location savedLocation = current;
  const Type savedReal = real;
  at = &builderOf(node.stack);
  current = locate(node.range);
  real = realOf(node, id);
  Value result = generate(node, id);
  if (result && !isHandedOn(node) && result.getType() != typeOf(node.type))
    result = Build(*at, current).convert(result, elementType(node.type));
  if (result)
    result = asWritten(node, result);
  at = savedAt;
  current = savedLocation;
  real = savedReal;
  return values[id] = result;
}

/// What is no real itself (a comparison, the places of a maximum) looks at its operands in the widest type among them.
Type EntryGenerator::realOf(const Node &node, NodeId id) const {
  auto isWide = [&](NodeId node) { return wide.count(node) > 0; };
  const bool looks = !isLoop(node) && (node.type.element != Element::Real || node.op == Op::Top);
  return isWide(id) || (looks && llvm::any_of(node.operands, isWide)) ? Type(Float64Type::get(context)) : types.real;
}

Value EntryGenerator::read(NodeId id) {
  Value x = value(id);
  const Node &node = entry.nodes[id];
  if (!x || node.type.element != Element::Real || tensorOf(x).getElementType() == real)
    return x;
  Build build(*at, current);
  return node.op == Op::Constant ? build.constant(typeOf(node.type), node.number) : build.convert(x, real);
}

Value EntryGenerator::asWritten(const Node &node, Value x) {
  const bool liesSo = node.op == Op::Input || node.op == Op::State || node.op == Op::Append;
  if (!types.obeysWritten() || !isShortReal(node.type.pinned) || liesSo)
    return x;
  Build build(*at, current);
  return build.convert(build.convert(x, elementNamed(node.type.pinned, context)), real);
}

Value EntryGenerator::generate(const Node &node, NodeId id) {
  switch (node.op) {
  case Op::Constant:
  case Op::SizeValue:
  case Op::Iota:
  case Op::Input:
  case Op::Param:
  case Op::State:
  case Op::Depth:
  case Op::Sinusoid:
    return generateSource(node);
  case Op::Append:
    return generateAppend(node);
  case Op::BodyArgument:
    return generateBodyArgument(node);
  case Op::Stack:
  case Op::Scan:
    return generateStack(node, id);
  case Op::Result:
    return results.count(node.operands[0]) ? results[node.operands[0]][node.index] : unsupported(node, "this construct");
  case Op::Rename:
  case Op::Expand:
  case Op::Transpose:
  case Op::Slice:
    return generateAxes(node);
  case Op::Merge:
  case Op::Split:
    return generateReshape(node);
  case Op::Gather:
    return generateGather(node);
  case Op::Concat:
    return generateConcat(node);
  case Op::Dot:
  case Op::Sum:
  case Op::ReduceMax:
  case Op::ReduceMin:
  case Op::All:
  case Op::Any:
    return generateLayer(node, id);
  default:
    return generateFunction(node, id);
  }
}

/// What stands under a name of its own in the language.
Value EntryGenerator::generateFunction(const Node &node, NodeId id) {
  switch (node.op) {
  case Op::Softmax:
  case Op::LogSoftmax:
  case Op::Normalize:
    return generateAlongLast(node);
  case Op::CrossEntropy:
    return generateCrossEntropy(node);
  case Op::BinaryCrossEntropy:
    return generateBinaryCrossEntropy(node);
  case Op::Dropout:
    return generateDropout(node);
  case Op::Attend:
    return generateAttend(node, id);
  case Op::Flip:
    return generateFlip(node);
  case Op::Window:
    return generateWindow(node);
  case Op::Put:
    return generatePut(node);
  case Op::ArgMax:
    return generateArgMax(node);
  case Op::Cumsum:
    return generateCumsum(node);
  case Op::Top:
    return generateTop(node, id);
  case Op::Sample:
    return generateSample(node);
  case Op::Noise:
    return generateNoise(node);
  default:
    return generateElementwise(node);
  }
}

/// A node without operands.
Value EntryGenerator::generateSource(const Node &node) {
  OpBuilder &builder = *at;
  switch (node.op) {
  case Op::Constant: {
    double number = node.type.element == Element::Real ? node.number : double(node.integer);
    return Build(builder, current).constant(typeOf(node.type), number);
  }
  case Op::SizeValue:
    return SizeOp::create(builder, current, typeOf(node.type), form(node.size));
  case Op::Iota:
    return IotaOp::create(builder, current, typeOf(node.type), 0);
  case Op::Input:
    return function.getArgument(entry.dims.size() + node.index);
  case Op::Param:
    return generateParameter(node);
  case Op::State:
    return ReadStateOp::create(
        builder, current, typeOf(node.type.axes, storedOf(entry.states[node.index])), builder.getI64IntegerAttr(node.index),
        entry.states[node.index].inPlace || entry.states[node.index].everyStep ? allDepthsOf(node.stack) : depthsOf(node.stack));
  case Op::Depth:
    return DepthValueOp::create(builder, current, typeOf(node.type), depthOf(node.stack));
  case Op::Sinusoid:
    return SinusoidOp::create(builder, current, typeOf(node.type), form(node.size), builder.getI64IntegerAttr(node.clamp),
                              node.interleaved ? builder.getUnitAttr() : UnitAttr(),
                              node.t2tSteps ? builder.getUnitAttr() : UnitAttr());
  default:
    return unsupported(node, "this value");
  }
}

Value EntryGenerator::generateAppend(const Node &node) {
  OpBuilder &builder = *at;
  int64_t dim = llvm::find(node.type.axes, node.axesTo[0]) - node.type.axes.begin();
  Axes rows = node.type.axes;
  rows[dim] = node.axesFrom[0];
  const Type stored = storedOf(entry.states[node.index]);
  Value x = spread(Build(builder, current).convert(operand(node, 0), stored), axesOf(node.operands[0]), rows);
  written[node.index] = true;
  return AppendStateOp::create(builder, current, typeOf(node.type.axes, stored), builder.getI64IntegerAttr(node.index),
                               allDepthsOf(node.stack), x, operand(node, 1), builder.getI64IntegerAttr(dim));
}

Value EntryGenerator::generateBodyArgument(const Node &node) {
  for (OpenStack &level : open)
    if (level.info == node.stack) {
      if (level.op && node.index < entry.stacks[node.stack].carries)
        return level.op.getBody().front().getArgument(1 + node.index);
      return spread(value(level.node->operands[node.index]), axesOf(level.node->operands[node.index]), node.type.axes);
    }
  return unsupported(node, "a body argument outside its stack");
}

Value EntryGenerator::generateParameter(const Node &node) {
  const Param &param = program.params[node.index];
  SmallVector<Value> depths = depthsOf(node.stack);
  assert(depths.size() == param.stackCounts.size());
  const Type element = module.lookupSymbol<ParameterOp>(param.path).getType().getElementType();
  return ReadParameterOp::create(*at, current, typeOf(node.type.axes, element), FlatSymbolRefAttr::get(context, param.path),
                                 depths);
}

// ---- elementwise

Value EntryGenerator::generateElementwise(const Node &node) {
  bool isComparison = node.op == Op::Equal || node.op == Op::NotEqual || node.op == Op::Less || node.op == Op::LessEqual;
  bool isLogic = node.op == Op::And || node.op == Op::Or || node.op == Op::Not;
  Element element = node.type.element;
  if (isComparison) { // compare in the wider of the operands' kinds
    element = Element::Int;
    for (NodeId operand : node.operands)
      if (entry.nodes[operand].type.element == Element::Real)
        element = Element::Real;
  }
  Build build(*at, current);
  SmallVector<Value> operands;
  for (auto [i, id] : llvm::enumerate(node.operands)) {
    Value x = read(id);
    bool isCondition = node.op == Op::Select && i == 0;
    if (!isLogic && !isCondition && node.op != Op::StopGradient)
      x = build.convert(x, elementType({element, {}, {}}));
    operands.push_back(spread(x, axesOf(id), node.type.axes));
  }
  if (node.op == Op::Select)
    return build.select(operands[0], operands[1], operands[2]);
  return operands.size() == 1 ? generateUnary(node, operands[0]) : generateBinary(node, operands[0], operands[1]);
}

Value EntryGenerator::generateUnary(const Node &node, Value x) {
  Build build(*at, current);
  switch (node.op) {
  case Op::Neg:
    return build.neg(x);
  case Op::Not:
    return build.unary<NotOp>(x);
  case Op::Exp:
    return build.unary<ExpOp>(x);
  case Op::Log:
    return build.unary<LogOp>(x);
  case Op::Sqrt:
    return build.unary<SqrtOp>(x);
  case Op::Abs:
    return build.unary<AbsOp>(x);
  case Op::Round:
    return build.unary<RoundOp>(x);
  case Op::Floor:
    return build.unary<FloorOp>(x);
  case Op::Ceil:
    return build.unary<CeilOp>(x);
  case Op::Sin:
    return build.unary<SinOp>(x);
  case Op::Cos:
    return build.unary<CosOp>(x);
  case Op::Atan:
    return build.unary<AtanOp>(x);
  case Op::Erf:
    return build.unary<ErfOp>(x);
  case Op::Tanh:
    return build.unary<TanhOp>(x);
  case Op::Sigmoid:
    return build.unary<SigmoidOp>(x);
  case Op::Relu:
    return build.unary<ReluOp>(x);
  case Op::LeakyRelu:
    return build.select(build.compare(Comparison::lt, build.zerosLike(x), x), x, build.scale(x, 0.01));
  case Op::Gelu:
    return build.unary<GeluOp>(x);
  case Op::GeluTanh:
    return build.unary<GeluTanhOp>(x);
  case Op::StopGradient:
    return build.unary<StopGradientOp>(x);
  case Op::ToReal:
    return x; // converted with the operand
  default:
    return unsupported(node, "this function");
  }
}

Value EntryGenerator::generateBinary(const Node &node, Value a, Value b) {
  Build build(*at, current);
  auto create = [&]<typename OpTy>(std::type_identity<OpTy>) -> Value { return OpTy::create(*at, current, a.getType(), a, b); };
  switch (node.op) {
  case Op::Add:
    return build.add(a, b);
  case Op::Sub:
    return build.sub(a, b);
  case Op::Mul:
    return build.mul(a, b);
  case Op::Div:
    return build.div(a, b);
  case Op::Pow:
    return create(std::type_identity<PowOp>());
  case Op::Mod:
    return create(std::type_identity<ModOp>());
  case Op::FloorDiv:
    return create(std::type_identity<FloorDivOp>());
  case Op::Max:
    return create(std::type_identity<MaxOp>());
  case Op::Min:
    return create(std::type_identity<MinOp>());
  case Op::And:
    return create(std::type_identity<AndOp>());
  case Op::Or:
    return create(std::type_identity<OrOp>());
  case Op::Equal:
    return build.compare(Comparison::eq, a, b);
  case Op::NotEqual:
    return build.compare(Comparison::ne, a, b);
  case Op::Less:
    return build.compare(Comparison::lt, a, b);
  case Op::LessEqual:
    return build.compare(Comparison::le, a, b);
  default:
    return unsupported(node, "this operator");
  }
}

} // namespace tenon
