// Checked program to tensor form: one node, by kind.
#include "frontend/MlirGenEntry.h"

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

RankedTensorType EntryGenerator::typeOf(const Axes &axes, Type element) const {
  SmallVector<AffineExpr> sizes;
  for (AxisId axis : axes)
    sizes.push_back(sizeOf(axis));
  return tensorType(sizes, element, entry.dims.size());
}

AffineMapAttr EntryGenerator::form(const Size &size) const {
  return AffineMapAttr::get(AffineMap::get(entry.dims.size(), 0, {toAffine(size, context)}, context));
}

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
  diagnostics.error("T0901", node.range, std::string("not supported yet: ") + what);
  failed = true;
  return {};
}

Value EntryGenerator::value(NodeId id) {
  if (auto it = values.find(id); it != values.end())
    return it->second;
  if (failed)
    return {};
  const Node &node = entry.nodes[id];
  // Operands first: generating them may move the place that `at` names.
  if (node.op != Op::Stack && node.op != Op::BodyArgument)
    for (NodeId operand : node.operands)
      if (!value(operand))
        return {};
  OpBuilder *savedAt = at;
  Location savedLocation = current;
  at = &builderOf(node.stack);
  current = locate(node.range);
  Value result = generate(node, id);
  if (result && node.op != Op::Stack && node.op != Op::Result && result.getType() != typeOf(node.type))
    result = Build(*at, current).convert(result, elementType(node.type));
  at = savedAt;
  current = savedLocation;
  return values[id] = result;
}

Value EntryGenerator::generate(const Node &node, NodeId id) {
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
    return ReadStateOp::create(builder, current, typeOf(node.type), builder.getI64IntegerAttr(node.index), depthOf(node.stack));
  case Op::Append: {
    int64_t dim = llvm::find(node.type.axes, node.axesTo[0]) - node.type.axes.begin();
    Axes rows = node.type.axes;
    rows[dim] = node.axesFrom[0];
    Value x = spread(Build(builder, current).convert(operand(node, 0), elementType(node.type)), axesOf(node.operands[0]), rows);
    written[node.index] = true;
    return AppendStateOp::create(builder, current, typeOf(node.type), builder.getI64IntegerAttr(node.index), depthOf(node.stack), x, operand(node, 1),
                                 builder.getI64IntegerAttr(dim));
  }
  case Op::Depth:
    return DepthValueOp::create(builder, current, typeOf(node.type), depthOf(node.stack));
  case Op::BodyArgument:
    for (OpenStack &level : open)
      if (level.info == node.stack) {
        if (node.index < entry.stacks[node.stack].carries)
          return level.op.getBody().front().getArgument(1 + node.index);
        return spread(value(level.node->operands[node.index]), axesOf(level.node->operands[node.index]), node.type.axes);
      }
    return unsupported(node, "a body argument outside its stack");
  case Op::Stack:
    return generateStack(node, id);
  case Op::Result: {
    auto it = results.find(node.operands[0]);
    return it == results.end() ? unsupported(node, "this construct") : it->second[node.index];
  }
  case Op::Sinusoid:
    return SinusoidOp::create(builder, current, typeOf(node.type), form(node.size), builder.getI64IntegerAttr(node.clamp),
                              node.interleaved ? builder.getUnitAttr() : UnitAttr(), node.t2tSteps ? builder.getUnitAttr() : UnitAttr());
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
    return generateLayer(node);
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
    return generateAttend(node);
  case Op::Flip:
    return unsupported(node, "flip");
  case Op::Window:
    return unsupported(node, "window");
  case Op::Put:
    return unsupported(node, "put");
  case Op::ArgMax:
    return unsupported(node, "argmax");
  case Op::Cumsum:
    return unsupported(node, "cumsum");
  case Op::Top:
    return unsupported(node, "top");
  case Op::Sample:
    return unsupported(node, "sample");
  case Op::Scan:
    return unsupported(node, "scan");
  default:
    return generateElementwise(node);
  }
}

Value EntryGenerator::generateParameter(const Node &node) {
  const Param &param = program.params[node.index];
  Value depth;
  if (param.stackCounts.size() > 1)
    return unsupported(node, "parameters of a stack inside a stack");
  if (!param.stackCounts.empty())
    depth = depthOf(node.stack);
  return ReadParameterOp::create(*at, current, typeOf(node.type), FlatSymbolRefAttr::get(context, param.path), depth);
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
    Value x = value(id);
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
  case Op::Sin:
    return build.unary<SinOp>(x);
  case Op::Cos:
    return build.unary<CosOp>(x);
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

// ---- axes

Value EntryGenerator::generateAxes(const Node &node) {
  Value x = operand(node, 0);
  Axes axes = axesOf(node.operands[0]);
  if (node.op == Op::Slice) {
    size_t dim = llvm::find(axes, node.axesFrom[0]) - axes.begin();
    axes[dim] = node.axesTo[0];
    x = SliceOp::create(*at, current, typeOf(axes, tensorOf(x).getElementType()), x, at->getI64IntegerAttr(dim), form(node.size));
  }
  if (node.op == Op::Rename)
    for (auto [from, to] : llvm::zip(node.axesFrom, node.axesTo))
      std::replace(axes.begin(), axes.end(), from, to);
  return spread(x, axes, node.type.axes);
}

Value EntryGenerator::generateReshape(const Node &node) {
  Value x = operand(node, 0);
  Axes axes = axesOf(node.operands[0]), rest, arranged, result;
  for (AxisId axis : axes)
    if (!llvm::is_contained(node.axesFrom, axis))
      rest.push_back(axis);
  // The merged or split axes stand where the first of them stood.
  size_t first = llvm::find(axes, node.axesFrom[0]) - axes.begin(), before = 0;
  for (size_t i = 0; i < first; ++i)
    before += llvm::is_contained(rest, axes[i]);
  SmallVector<int64_t> groups;
  for (size_t i = 0; i <= rest.size(); ++i) {
    if (i == before) {
      arranged.insert(arranged.end(), node.axesFrom.begin(), node.axesFrom.end());
      result.insert(result.end(), node.axesTo.begin(), node.axesTo.end());
      groups.push_back(node.op == Op::Merge ? -int64_t(node.axesFrom.size()) : int64_t(node.axesTo.size()));
      if (groups.back() == -1)
        groups.back() = 1;
    }
    if (i < rest.size()) {
      arranged.push_back(rest[i]);
      result.push_back(rest[i]);
      groups.push_back(1);
    }
  }
  x = spread(x, axes, arranged);
  x = ReshapeOp::create(*at, current, typeOf(result, tensorOf(x).getElementType()), x, at->getDenseI64ArrayAttr(groups));
  return spread(x, result, node.type.axes);
}

Value EntryGenerator::generateGather(const Node &node) {
  Value x = operand(node, 0), index = Build(*at, current).convert(operand(node, 1), IntegerType::get(context, 32));
  const Axes &ofX = axesOf(node.operands[0]), &result = node.type.axes;
  SmallVector<int64_t> xDims;
  int64_t dim = 0;
  for (auto [i, axis] : llvm::enumerate(ofX)) {
    bool gathered = axis == node.axesFrom[0];
    if (gathered)
      dim = i;
    xDims.push_back(gathered ? -1 : llvm::find(result, axis) - result.begin());
  }
  return GatherOp::create(*at, current, typeOf(result, tensorOf(x).getElementType()), x, index, at->getI64IntegerAttr(dim), at->getDenseI64ArrayAttr(xDims),
                          positions(axesOf(node.operands[1]), result), node.clampIndex ? at->getUnitAttr() : UnitAttr());
}

Value EntryGenerator::generateConcat(const Node &node) {
  const Axes &result = node.type.axes;
  size_t dim = llvm::find(result, node.axesTo[0]) - result.begin();
  SmallVector<Value> parts;
  for (auto [i, id] : llvm::enumerate(node.operands)) {
    Axes axes = result;
    axes[dim] = node.axesFrom[i];
    Value part = Build(*at, current).convert(value(id), elementType(node.type));
    parts.push_back(spread(part, axesOf(id), axes));
  }
  return ConcatOp::create(*at, current, typeOf(node.type), at->getI64IntegerAttr(dim), parts);
}

// ---- contractions, reductions, normalizers

Value EntryGenerator::generateLayer(const Node &node) {
  Build build(*at, current);
  Value x = operand(node, 0);
  const Axes &axes = axesOf(node.operands[0]);
  if (node.op == Op::Dot) {
    Axes labels = node.type.axes;
    labels.insert(labels.end(), node.axesFrom.begin(), node.axesFrom.end());
    Value a = build.convert(x, real), b = build.convert(operand(node, 1), real);
    return DotOp::create(*at, current, typeOf(node.type), a, b, positions(axes, labels), positions(axesOf(node.operands[1]), labels));
  }
  Reduction kind = node.op == Op::Sum ? Reduction::sum : node.op == Op::ReduceMax ? Reduction::max : node.op == Op::ReduceMin ? Reduction::min
                   : node.op == Op::All ? Reduction::all : Reduction::any;
  if (kind != Reduction::all && kind != Reduction::any)
    x = build.convert(x, elementType(node.type));
  SmallVector<int64_t> dims;
  Axes rest;
  for (auto [i, axis] : llvm::enumerate(axes))
    if (llvm::is_contained(node.axesFrom, axis))
      dims.push_back(i);
    else
      rest.push_back(axis);
  return spread(build.reduce(kind, x, dims), rest, node.type.axes);
}

Value EntryGenerator::generateAlongLast(const Node &node) {
  Build build(*at, current);
  Value x = build.convert(operand(node, 0), real);
  const Axes &axes = axesOf(node.operands[0]);
  Axes arranged;
  for (AxisId axis : axes)
    if (!llvm::is_contained(node.axesFrom, axis))
      arranged.push_back(axis);
  size_t rows = arranged.size(), count = node.axesFrom.size();
  arranged.insert(arranged.end(), node.axesFrom.begin(), node.axesFrom.end());
  x = spread(x, axes, arranged);
  SmallVector<int64_t> merge(rows, 1), split(rows, 1);
  RankedTensorType whole = tensorOf(x);
  if (count > 1) { // several axes are one row
    merge.push_back(-int64_t(count));
    split.push_back(count);
    SmallVector<AffineExpr> sizes = sizesOf(whole);
    AffineExpr length = product(ArrayRef(sizes).drop_front(rows), context);
    sizes.truncate(rows);
    sizes.push_back(length);
    x = ReshapeOp::create(*at, current, tensorType(sizes, real, entry.dims.size()), x, at->getDenseI64ArrayAttr(merge));
  }
  Value y;
  if (node.op == Op::Normalize) {
    auto row = withoutDims(tensorOf(x), {int64_t(rows)});
    y = NormalizeOp::create(*at, current, x.getType(), row, row, x, at->getF64FloatAttr(node.number)).getY();
  } else {
    y = SoftmaxOp::create(*at, current, x.getType(), x, node.op == Op::LogSoftmax ? at->getUnitAttr() : UnitAttr());
  }
  if (count > 1)
    y = ReshapeOp::create(*at, current, whole, y, at->getDenseI64ArrayAttr(split));
  return spread(y, arranged, node.type.axes);
}

Value EntryGenerator::generateCrossEntropy(const Node &node) {
  Build build(*at, current);
  const Axes &row = node.type.axes;
  Axes arranged = row;
  arranged.push_back(node.axesFrom[0]);
  Value logits = spread(build.convert(operand(node, 0), real), axesOf(node.operands[0]), arranged);
  Value labels = spread(build.convert(operand(node, 1), IntegerType::get(context, 32)), axesOf(node.operands[1]), row);
  Value where = node.operands.size() > 2 ? spread(operand(node, 2), axesOf(node.operands[2]), row) : Value();
  auto rowType = typeOf(row, real);
  return CrossEntropyOp::create(*at, current, rowType, rowType, logits, labels, where, at->getF64FloatAttr(node.number),
                                at->getI64IntegerAttr(int64_t(node.index) - 1)).getLoss();
}

/// max(x, 0) - x y + ln(1 + exp(-|x|)): no overflow for large |x|.
Value EntryGenerator::generateBinaryCrossEntropy(const Node &node) {
  Build build(*at, current);
  const Axes &axes = node.type.axes;
  Value x = spread(build.convert(operand(node, 0), real), axesOf(node.operands[0]), axes);
  Value y = spread(build.convert(operand(node, 1), real), axesOf(node.operands[1]), axes);
  Value rest = build.unary<LogOp>(build.add(build.constant(x.getType(), 1), build.unary<ExpOp>(build.neg(build.unary<AbsOp>(x)))));
  return build.add(build.sub(build.unary<ReluOp>(x), build.mul(x, y)), rest);
}

Value EntryGenerator::generateDropout(const Node &node) {
  Value x = Build(*at, current).convert(operand(node, 0), real);
  if (!entry.training || node.number == 0)
    return x;
  return DropoutOp::create(*at, current, x.getType(), x, depthOf(node.stack), at->getF64FloatAttr(node.number),
                           at->getI64IntegerAttr(program.sites[node.index].id), positions(node.axesFrom, node.type.axes));
}

Value EntryGenerator::generateAttend(const Node &node) {
  const AttendInfo &info = *node.attend;
  Axes labels = node.type.axes;
  labels.push_back(info.key);
  SmallVector<Attribute> labelAttributes;
  SmallVector<Value> scores, masks;
  Build build(*at, current);
  for (unsigned i = 0; i < node.operands.size(); ++i) {
    Value x = operand(node, i);
    labelAttributes.push_back(positions(axesOf(node.operands[i]), labels));
    if (i < info.scores)
      scores.push_back(build.convert(x, real));
    else if (i < info.scores + info.masks)
      masks.push_back(x);
  }
  unsigned next = info.scores + info.masks;
  Value valueTerm = build.convert(operand(node, next), real), factor = info.scaleOperand ? build.convert(operand(node, next + 1), real) : Value();
  SmallVector<StringRef> names(info.scoreNames.begin(), info.scoreNames.end());
  double rate = entry.training ? info.dropRate : 0;
  int64_t site = rate > 0 ? program.sites[info.site].id : 0;
  return AttendOp::create(*at, current, typeOf(node.type), scores, masks, valueTerm, factor, depthOf(node.stack), at->getArrayAttr(labelAttributes),
                          at->getF64FloatAttr(info.scale), at->getF64FloatAttr(rate), at->getI64IntegerAttr(site), at->getStrArrayAttr(names));
}

} // namespace tenon
