// Checked program to tensor form: what makes, moves and reads axes.
#include "frontend/mlirgen/MlirGenEntry.h"
#include "llvm/ADT/Sequence.h"

using namespace mlir;

namespace tenon {

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

/// Element `index` of `x` along `gathered`; axes that both have are batched.
Value EntryGenerator::gather(Value x, Axes ofX, AxisId gathered, Value index, const Axes &ofIndex, const Axes &result,
                             bool clamp) {
  if (llvm::is_contained(ofIndex,
                         ofX.back())) { // the gradient wants the index not to run along the last dimension, or to be along it
    Axes arranged;
    for (AxisId axis : ofX)
      if (axis != gathered)
        arranged.push_back(axis);
    arranged.push_back(gathered);
    x = spread(x, ofX, arranged);
    ofX = arranged;
  }
  SmallVector<int64_t> xDims;
  int64_t dim = 0;
  for (auto [i, axis] : llvm::enumerate(ofX)) {
    if (axis == gathered)
      dim = i;
    xDims.push_back(axis == gathered ? -1 : llvm::find(result, axis) - result.begin());
  }
  return GatherOp::create(*at, current, typeOf(result, tensorOf(x).getElementType()), x, index, at->getI64IntegerAttr(dim),
                          at->getDenseI64ArrayAttr(xDims), positions(ofIndex, result), clamp ? at->getUnitAttr() : UnitAttr());
}

/// `x[t]` at the place of a scan along that axis: the slice is read where it lies. Null if the gather is another one.
Value EntryGenerator::sliceOfScan(const Node &node) {
  const Node &index = entry.nodes[node.operands[1]], &whole = entry.nodes[node.operands[0]];
  if (index.op != Op::Depth || index.stack >= entry.stacks.size())
    return {};
  const StackInfo &info = entry.stacks[index.stack];
  const bool collects = !info.shared && info.results.size() > info.carries; // so that no pass runs some of its depths apart
  if ((!info.isScan && !collects) || entry.axes[node.axesFrom[0]].size != info.count)
    return {};
  for (uint32_t stack = whole.stack; stack < entry.stacks.size(); stack = entry.stacks[stack].parent)
    if (stack == index.stack)
      return {}; // made at each place anew
  Axes axes{node.axesFrom[0]}, rest;
  for (AxisId axis : axesOf(node.operands[0]))
    if (axis != node.axesFrom[0])
      rest.push_back(axis);
  axes.insert(axes.end(), rest.begin(), rest.end());
  OpBuilder *inside = at;
  at = &builderOf(entry.stacks[index.stack].parent);
  Value x = spread(operand(node, 0), axesOf(node.operands[0]), axes);
  at = inside;
  Value slice = AtDepthOp::create(*at, current, typeOf(rest, tensorOf(x).getElementType()), x, depthOf(index.stack), 0);
  return spread(slice, rest, node.type.axes);
}

Value EntryGenerator::generateGather(const Node &node) {
  if (Value slice = sliceOfScan(node))
    return slice;
  Value index = Build(*at, current).convert(operand(node, 1), IntegerType::get(context, 32));
  return gather(operand(node, 0), axesOf(node.operands[0]), node.axesFrom[0], index, axesOf(node.operands[1]), node.type.axes,
                node.clampIndex);
}

/// 0 .. size-1 along `axis`, repeated over `axes`.
Value EntryGenerator::numbered(AxisId axis, const Axes &axes) {
  return spread(IotaOp::create(*at, current, typeOf(Axes{axis}, IntegerType::get(context, 32)), 0), {axis}, axes);
}

Value EntryGenerator::generateFlip(const Node &node) {
  Build build(*at, current);
  AxisId axis = node.axesFrom[0];
  auto type = typeOf(Axes{axis}, IntegerType::get(context, 32));
  Value last = build.sub(build.sizeLike(sizeOf(axis), type), build.constant(type, 1));
  return gather(operand(node, 0), axesOf(node.operands[0]), axis, build.sub(last, numbered(axis, {axis})), {axis}, node.type.axes,
                false);
}

Value EntryGenerator::generateWindow(const Node &node) {
  SmallVector<int64_t> dims, strides, dilations, pads;
  Axes result;
  for (auto [dim, axis] : llvm::enumerate(axesOf(node.operands[0]))) {
    const size_t entry = llvm::find(node.axesFrom, axis) - node.axesFrom.begin();
    if (entry == node.axesFrom.size()) {
      result.push_back(axis);
      continue;
    }
    const WindowSteps &steps = node.windows[entry];
    dims.push_back(dim);
    strides.push_back(steps.stride);
    dilations.push_back(steps.dilation);
    pads.push_back(steps.padLow);
    result.insert(result.end(), {node.axesTo[2 * entry], node.axesTo[2 * entry + 1]});
  }
  Value x = operand(node, 0);
  Value y = WindowOp::create(*at, current, typeOf(result, tensorOf(x).getElementType()), x, at->getDenseI64ArrayAttr(dims),
                             at->getDenseI64ArrayAttr(strides), at->getDenseI64ArrayAttr(dilations),
                             at->getDenseI64ArrayAttr(pads), at->getDenseI64ArrayAttr(SmallVector<int64_t>(dims.size(), 1)),
                             at->getF64FloatAttr(node.number), UnitAttr());
  return spread(y, result, node.type.axes);
}

Value EntryGenerator::generateArgMax(const Node &node) {
  const Axes &axes = axesOf(node.operands[0]);
  Axes rest;
  for (AxisId axis : axes)
    if (axis != node.axesFrom[0])
      rest.push_back(axis);
  Value x = operand(node, 0);
  const int64_t dim = llvm::find(axes, node.axesFrom[0]) - axes.begin();
  return spread(ArgMaxOp::create(*at, current, x, at->getI64IntegerAttr(dim)).getY(), rest, node.type.axes);
}

/// The places of the largest, and what stands there.
Value EntryGenerator::generateTop(const Node &node, NodeId id) {
  Axes arranged, best;
  for (AxisId axis : axesOf(node.operands[0]))
    if (axis != node.axesFrom[0])
      arranged.push_back(axis);
  best = arranged;
  arranged.push_back(node.axesFrom[0]);
  best.push_back(node.axesTo[0]);
  Value x = spread(operand(node, 0), axesOf(node.operands[0]), arranged);
  Value places = TopOp::create(*at, current, typeOf(best, IntegerType::get(context, 32)), x);
  Value values = gather(x, arranged, node.axesFrom[0], places, best, best, false);
  results[id] = {spread(values, best, node.type.axes), spread(places, best, node.type.axes)};
  return results[id][0];
}

/// The largest sum of a logit and its noise: one draw of softmax(logits). Each draw has noise of its own.
Value EntryGenerator::generateSample(const Node &node) {
  Axes arranged = node.type.axes;
  arranged.push_back(node.axesFrom[0]);
  Value logits = spread(Build(*at, current).convert(operand(node, 0), real), axesOf(node.operands[0]), arranged);
  Value noisy = GumbelOp::create(*at, current, logits.getType(), logits, countedDepth(node.stack),
                                 at->getI64IntegerAttr(program.sites[node.index].id));
  return ArgMaxOp::create(*at, current, noisy, at->getI64IntegerAttr(int64_t(arranged.size()) - 1)).getY();
}

/// Along the axes that the text names, in its order: which number an element is does not hang on what the value is used for.
Value EntryGenerator::generateNoise(const Node &node) {
  Value x = Build(*at, current).convert(operand(node, 0), real);
  x = spread(x, axesOf(node.operands[0]), node.type.axes);
  return GumbelOp::create(*at, current, x.getType(), x, countedDepth(node.stack),
                          at->getI64IntegerAttr(program.sites[node.index].id));
}

Value EntryGenerator::generateCumsum(const Node &node) {
  const Axes &axes = axesOf(node.operands[0]);
  const int64_t dim = llvm::find(axes, node.axesFrom[0]) - axes.begin();
  Value x = Build(*at, current).convert(operand(node, 0), elementType(node.type));
  return spread(RunningSumOp::create(*at, current, x.getType(), x, at->getI64IntegerAttr(dim), UnitAttr()), axes, node.type.axes);
}

/// Each place of the axis holds what the last slot that names it wrote, else what x has there. Slots are searched along the axes
/// that say where they write, whatever else the values have.
Value EntryGenerator::generatePut(const Node &node) {
  Build build(*at, current);
  Type number = IntegerType::get(context, 32);
  const Axes &places = node.type.axes, &ofAt = axesOf(node.operands[1]), &ofValue = axesOf(node.operands[2]);
  const Axes ofWhere = node.operands.size() > 3 ? axesOf(node.operands[3]) : Axes();
  Axes slots, searched, values; // slots: the axes along which values are written, slowest first; values: of those chosen
  for (AxisId axis : ofAt)
    if (!llvm::is_contained(places, axis))
      slots.push_back(axis);
  for (AxisId axis : places) {
    const bool isSearched = axis == node.axesFrom[0] || llvm::is_contained(ofAt, axis) || llvm::is_contained(ofWhere, axis);
    if (isSearched)
      searched.push_back(axis);
    if (isSearched || llvm::is_contained(ofValue, axis))
      values.push_back(axis);
  }
  auto with = [&](Axes axes) {
    axes.insert(axes.end(), slots.begin(), slots.end());
    return axes;
  };
  const Axes all = with(searched);
  auto type = typeOf(all, number);
  Value isHit =
      build.compare(Comparison::eq, spread(build.convert(operand(node, 1), number), ofAt, all), numbered(node.axesFrom[0], all));
  if (node.operands.size() > 3)
    isHit = AndOp::create(*at, current, isHit.getType(), isHit, spread(operand(node, 3), ofWhere, all));
  Value slot = build.constant(type, 0);
  for (AxisId axis : slots)
    slot = build.add(build.mul(slot, build.sizeLike(sizeOf(axis), type)), numbered(axis, all));
  auto dimsOfSlots = [&](const Axes &before) {
    return llvm::to_vector(llvm::seq<int64_t>(int64_t(before.size()), int64_t(before.size() + slots.size())));
  };
  Value candidate = build.select(isHit, slot, build.constant(type, -1));
  Value last = slots.empty() ? candidate : build.reduce(Reduction::max, candidate, dimsOfSlots(searched));
  Value written = build.compare(Comparison::le, build.constant(last.getType(), 0), last);
  Value x = build.convert(operand(node, 0), elementType(node.type)), v = build.convert(operand(node, 2), elementType(node.type));
  if (!llvm::any_of(slots, [&](AxisId axis) { return llvm::is_contained(ofValue, axis); }))
    v = spread(v, ofValue, places);
  else if (slots.size() == 1)
    v = spread(gather(v, ofValue, slots[0], last, searched, values, true), values, places);
  else {
    Value chosen = spread(build.compare(Comparison::eq, spread(last, searched, all), slot), all, with(places));
    Value terms = spread(v, ofValue, with(places));
    bool isTruth = node.type.element == Element::Bool;
    terms = isTruth ? Value(AndOp::create(*at, current, terms.getType(), chosen, terms))
                    : build.select(chosen, terms, build.zerosLike(terms));
    v = build.reduce(isTruth ? Reduction::any : Reduction::sum, terms, dimsOfSlots(places));
  }
  return build.select(spread(written, searched, places), v, spread(x, axesOf(node.operands[0]), places));
}

Value EntryGenerator::generateConcat(const Node &node) {
  const Axes &result = node.type.axes;
  size_t dim = llvm::find(result, node.axesTo[0]) - result.begin();
  SmallVector<Value> parts;
  for (auto [i, id] : llvm::enumerate(node.operands)) {
    Axes axes = result;
    axes[dim] = node.axesFrom[i];
    Value part = Build(*at, current).convert(read(id), elementType(node.type));
    parts.push_back(spread(part, axesOf(id), axes));
  }
  return ConcatOp::create(*at, current, typeOf(node.type), at->getI64IntegerAttr(dim), parts);
}

} // namespace tenon
