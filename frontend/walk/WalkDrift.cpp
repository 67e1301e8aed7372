#include "frontend/walk/WalkDrift.h"
#include "frontend/DeepStack.h"
#include "frontend/proofs/IndexProof.h"

namespace tenon::sema {

WalkDrift::WalkDrift(const Entry &entry, unsigned dim) : entry(entry), dim(dim), producer(entry.stacks.size(), kNoNode) {
  for (NodeId id = 0; id < entry.nodes.size(); ++id)
    if (isLoop(entry.nodes[id]))
      producer[entry.nodes[id].index] = id;
  auto demand = [&](NodeId id) {
    if (read(id, {}).value_or(0) != 0)
      object(id, "the number of places, taken as a value");
  };
  for (auto &[name, node] : entry.results)
    demand(node);
  for (auto &[state, node] : entry.nextStates)
    demand(node);
  for (NodeId id = 0; id < entry.nodes.size(); ++id)
    if (const Node &node = entry.nodes[id]; node.op == Op::Stack && drift(entry.stacks[node.index].count) != 0)
      object(id, "a loop of as many rounds as there are places");
  for (const StackInfo &stack : entry.stacks) {
    for (NodeId node : stack.results)
      demand(node);
    if (stack.until != kNoNode)
      demand(stack.until);
    for (auto &[state, node] : stack.nextStates)
      demand(node);
  }
  for (size_t stack = 0; stack < producer.size(); ++stack)
    for (unsigned carry = 0; producer[stack] != kNoNode && carry < entry.stacks[stack].carries; ++carry)
      demand(entry.nodes[producer[stack]].operands[carry]);
}

int64_t WalkDrift::drift(const Size &size) const {
  auto found = size.coefficients().find(dim);
  return found == size.coefficients().end() ? 0 : found->second;
}

bool WalkDrift::still(const Shifts &shifts, const std::vector<AxisId> &axes) const {
  for (AxisId axis : axes)
    if (shifts.count(axis))
      return false;
  return true;
}

WalkDrift::Drift WalkDrift::object(NodeId id, const std::string &text) {
  objections.try_emplace(id, text);
  return std::nullopt;
}

WalkDrift::Drift WalkDrift::read(NodeId id, const Shifts &shifts) {
  Shifts own; // of the axes that the value has
  for (AxisId axis : entry.nodes[id].type.axes)
    if (auto found = shifts.find(axis); found != shifts.end() && found->second != 0)
      own.insert(*found);
  auto place = known.find({id, own});
  if (place != known.end())
    return place->second;
  Drift drift;
  if (!stackIsLow())
    drift = follow(id, own);
  else if (!runOnNewStack([&] { drift = follow(id, own); }))
    drift = object(id, "more values need each other here than the checker can follow");
  known[{id, own}] = drift;
  return drift;
}

WalkDrift::Drift WalkDrift::readMoved(NodeId reader, NodeId id, const Shifts &shifts) {
  NodeId outer = mover;
  if (!shifts.empty())
    mover = reader;
  Drift drift = read(id, shifts);
  mover = outer;
  return drift;
}

WalkDrift::Drift WalkDrift::follow(NodeId id, const Shifts &shifts) {
  const Node &node = entry.nodes[id];
  if (node.op == Op::Select)
    return select(id, shifts);
  if (isElementwise(node.op))
    return number(id, shifts);
  switch (node.op) {
  case Op::SizeValue:
    return drift(node.size);
  case Op::Iota:
    return shifts.empty() ? 0 : shifts.begin()->second;
  case Op::Sinusoid: {
    auto place = shifts.find(node.type.axes[0]);
    if ((place == shifts.end() ? 0 : place->second) + drift(node.size) == 0 && still(shifts, {node.type.axes[1]}))
      return 0;
    return mover == kNoNode ? object(id, "a sinusoid that starts at the number of places")
                            : object(mover, "a row of a sinusoid that is another one when there are more places");
  }
  case Op::BodyArgument:
    return argument(id, shifts);
  case Op::Rename:
  case Op::Transpose:
  case Op::Expand:
  case Op::Flip:
    return axes(id, shifts);
  case Op::Slice:
    return slice(id, shifts);
  case Op::Gather:
    return gather(id, shifts);
  case Op::Concat:
    return concat(id, shifts);
  case Op::Window:
    return window(id, shifts);
  case Op::Result:
    if (entry.nodes[node.operands[0]].op != Op::Top && still(shifts, node.type.axes))
      return 0; // what a stack gives has been demanded on its own
    return unmoved(id, shifts);
  default:
    return unmoved(id, shifts);
  }
}

/// A value made of its operands at the places of its own axes, and at places of further axes that do not drift.
WalkDrift::Drift WalkDrift::unmoved(NodeId id, const Shifts &shifts) {
  const Node &node = entry.nodes[id];
  const bool isLeaf = node.operands.empty() || node.op == Op::Result;
  bool moved = !still(shifts, node.axesFrom) || !still(shifts, node.axesTo) || (isLeaf && !shifts.empty());
  for (size_t i = 1; i < node.axesFrom.size() && node.op == Op::Merge; ++i) // a * size(B) + b
    moved |= drift(entry.axes[node.axesFrom[i]].size) != 0;
  for (size_t i = 1; i < node.axesTo.size() && node.op == Op::Split; ++i)
    moved |= drift(entry.axes[node.axesTo[i]].size) != 0;
  if (moved)
    return object(mover == kNoNode ? id : mover, "a place that is another one when there are more places");
  if (node.op == Op::Result && entry.nodes[node.operands[0]].op != Op::Top)
    return 0;
  for (NodeId operand : node.operands) {
    Drift each = read(operand, shifts);
    if (!each)
      return std::nullopt;
    if (*each != 0)
      return object(id, "the number of places, taken as a value");
  }
  return 0;
}

// ---- numbers

WalkDrift::Drift WalkDrift::number(NodeId id, const Shifts &shifts) {
  const Node &node = entry.nodes[id];
  std::vector<int64_t> drifts;
  bool moves = false;
  for (NodeId operand : node.operands) {
    Drift each = read(operand, shifts);
    if (!each)
      return std::nullopt;
    drifts.push_back(*each);
    moves |= *each != 0;
  }
  if (!moves)
    return 0;
  switch (node.type.element == Element::Real ? Op::ToReal : node.op) {
  case Op::Neg:
    return -drifts[0];
  case Op::Add:
    return drifts[0] + drifts[1];
  case Op::Sub:
    return drifts[0] - drifts[1];
  case Op::StopGradient:
    return drifts[0];
  case Op::Mul:
    return product(id, drifts);
  case Op::Mod:
  case Op::FloorDiv:
    return quotient(id, drifts);
  case Op::Max:
  case Op::Min:
    return extremum(id, drifts);
  case Op::Equal:
  case Op::NotEqual:
  case Op::Less:
  case Op::LessEqual:
    return comparison(id, drifts);
  default:
    return object(id, "the number of places, taken as a value");
  }
}

WalkDrift::Drift WalkDrift::product(NodeId id, const std::vector<int64_t> &drifts) {
  const Node &node = entry.nodes[id];
  for (unsigned side = 0; side < 2; ++side)
    if (const Node &factor = entry.nodes[node.operands[side]]; factor.op == Op::Constant)
      if (int64_t product; !__builtin_mul_overflow(factor.integer, drifts[1 - side], &product))
        return product;
  return object(id, "a product with the number of places");
}

WalkDrift::Drift WalkDrift::quotient(NodeId id, const std::vector<int64_t> &drifts) {
  const Node &node = entry.nodes[id], &divisor = entry.nodes[node.operands[1]];
  if (divisor.op == Op::Constant && divisor.integer > 0 && drifts[0] % divisor.integer == 0)
    return node.op == Op::Mod ? 0 : drifts[0] / divisor.integer;
  return object(id, "div or mod with the number of places");
}

/// The comparison holds, or does not, wherever it is made.
bool WalkDrift::isProved(Op op, NodeId left, NodeId right, bool wanted) {
  if (effort > kMostEffort)
    return false;
  Entry extended = entry;
  effort += entry.nodes.size() / 4; // the copy
  auto add = [&](Op op, std::vector<NodeId> operands) {
    Node made = makeNode(op, {Element::Bool, extended.nodes[operands[0]].type.axes, {}});
    for (size_t i = 1; i < operands.size(); ++i)
      for (AxisId axis : extended.nodes[operands[i]].type.axes)
        if (!includes(made.type.axes, axis))
          made.type.axes.push_back(axis);
    made.operands = std::move(operands);
    extended.nodes.push_back(made);
    return NodeId(extended.nodes.size() - 1);
  };
  NodeId goal = add(op, {left, right});
  const IndexProof proof = proveCondition(extended, wanted ? goal : add(Op::Not, {goal}), {});
  effort += proof.effort;
  return proof.proved;
}

WalkDrift::Drift WalkDrift::extremum(NodeId id, const std::vector<int64_t> &drifts) {
  const Node &node = entry.nodes[id];
  if (drifts[0] == drifts[1])
    return drifts[0];
  for (bool leftIsLess : {true, false})
    if (isProved(Op::LessEqual, node.operands[leftIsLess ? 0 : 1], node.operands[leftIsLess ? 1 : 0], true))
      return drifts[leftIsLess == (node.op == Op::Min) ? 0 : 1];
  return object(id, "a bound that moves with the number of places (min, max or clip)");
}

WalkDrift::Drift WalkDrift::comparison(NodeId id, const std::vector<int64_t> &drifts) {
  const Node &node = entry.nodes[id];
  if (drifts[0] == drifts[1] || isProved(node.op, node.operands[0], node.operands[1], true) ||
      isProved(node.op, node.operands[0], node.operands[1], false))
    return 0;
  return object(id, "a comparison with the number of places");
}

WalkDrift::Drift WalkDrift::select(NodeId id, const Shifts &shifts) {
  const Node &node = entry.nodes[id];
  Drift condition = read(node.operands[0], shifts), then = read(node.operands[1], shifts),
        otherwise = read(node.operands[2], shifts);
  if (!condition || !then || !otherwise)
    return std::nullopt;
  if (*then == *otherwise && (*then == 0 || node.type.element == Element::Int))
    return then;
  return object(id, "a choice between the number of places and something else");
}

// ---- places

/// Each axis of the result is one axis of the operand, if it has it.
WalkDrift::Drift WalkDrift::axes(NodeId id, const Shifts &shifts) {
  const Node &node = entry.nodes[id];
  Shifts inside;
  for (auto [axis, shift] : shifts) {
    AxisId from = axis;
    for (size_t i = 0; node.op == Op::Rename && i < node.axesTo.size(); ++i)
      if (node.axesTo[i] == axis)
        from = node.axesFrom[i];
    inside[from] = shift;
  }
  if (node.op == Op::Flip) {
    AxisId axis = node.axesFrom[0];
    int64_t before = inside.count(axis) ? inside[axis] : 0;
    inside.erase(axis);
    if (int64_t after = drift(entry.axes[axis].size) - before)
      inside[axis] = after;
    return readMoved(id, node.operands[0], inside);
  }
  return read(node.operands[0], inside);
}

WalkDrift::Drift WalkDrift::slice(NodeId id, const Shifts &shifts) {
  const Node &node = entry.nodes[id];
  Shifts inside = shifts;
  int64_t shift = drift(node.size);
  if (auto found = inside.find(node.axesTo[0]); found != inside.end()) {
    shift += found->second;
    inside.erase(found);
  }
  if (shift)
    inside[node.axesFrom[0]] = shift;
  return readMoved(id, node.operands[0], inside);
}

WalkDrift::Drift WalkDrift::gather(NodeId id, const Shifts &shifts) {
  const Node &node = entry.nodes[id];
  Drift index = read(node.operands[1], shifts);
  if (!index)
    return std::nullopt;
  Shifts inside = shifts;
  inside.erase(node.axesFrom[0]);
  if (*index)
    inside[node.axesFrom[0]] = *index;
  return readMoved(id, node.operands[0], inside);
}

/// Which part a place falls into must not change with the number of places.
WalkDrift::Drift WalkDrift::concat(NodeId id, const Shifts &shifts) {
  const Node &node = entry.nodes[id];
  auto found = shifts.find(node.axesTo[0]);
  const int64_t shift = found == shifts.end() ? 0 : found->second;
  Shifts inside = shifts;
  inside.erase(node.axesTo[0]);
  int64_t border = 0; // drift of the place where the part starts
  Drift result;
  for (size_t i = 0; i < node.operands.size(); ++i) {
    if (i > 0 && border != shift)
      return object(mover == kNoNode ? id : mover, "a concat whose parts meet at the number of places");
    Shifts part = inside;
    if (shift != border)
      part[node.axesFrom[i]] = shift - border;
    Drift each = read(node.operands[i], part);
    if (!each)
      return std::nullopt;
    if (result && *result != *each)
      return object(id, "the number of places, taken as a value");
    result = each;
    border += drift(entry.axes[node.axesFrom[i]].size);
  }
  return result.value_or(0);
}

/// Nothing, or `fill`, stands where a window reaches past the ends.
WalkDrift::Drift WalkDrift::window(NodeId id, const Shifts &shifts) {
  const Node &node = entry.nodes[id];
  for (size_t i = 0; i < node.axesFrom.size(); ++i)
    if (const Axis &axis = entry.axes[node.axesFrom[i]]; node.windows[i].padHigh != 0 && drift(axis.size) != 0)
      return object(id, "a window over the end of " + axis.name + ", whose size depends on it");
  return unmoved(id, shifts);
}

/// A carry has been demanded where it starts and where each step leaves it; other arguments are values from outside.
WalkDrift::Drift WalkDrift::argument(NodeId id, const Shifts &shifts) {
  const Node &node = entry.nodes[id];
  if (node.index < entry.stacks[node.stack].carries)
    return unmoved(id, shifts);
  return read(entry.nodes[producer[node.stack]].operands[node.index], shifts);
}

} // namespace tenon::sema
