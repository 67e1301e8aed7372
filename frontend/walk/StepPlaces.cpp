// Sizes, axes and numbers of places of a derived entry.
#include "frontend/proofs/LinearSystem.h"
#include "frontend/walk/StepDerivation.h"
#include <algorithm>

namespace tenon::sema {

bool StepDerivation::setUp() {
  fresh = old;
  fresh.nodes.clear();
  fresh.isStep = true;
  const Size &size = old.axes[old.walked].size;
  dim = walkedDim(old, old.walked);
  auto addDim = [&](std::string name, Size bound) {
    while (std::find(fresh.dims.begin(), fresh.dims.end(), name) != fresh.dims.end())
      name += '_';
    fresh.dims.push_back(name);
    fresh.dimUpperBound.push_back(bound);
    fresh.dimFactors.resize(fresh.dims.size());
    return Size::dim(unsigned(fresh.dims.size() - 1));
  };
  Size count;
  if (size.isConstant()) { // bound to a number: that many places are kept, and how many a call brings stays open
    fresh.capacity = size;
    count = addDim(old.walkedAxis, size);
  } else if (!dim) {
    return unsupported(old.results.front().second, "walking axis " + old.walkedAxis + ", whose size is no dim of its own"), false;
  } else {
    count = Size::dim(*dim);
    Size bound = old.dimUpperBound[*dim];
    fresh.capacity = bound == Size(-1) ? addDim(old.walkedAxis + "_capacity", Size(-1)) : bound;
  }
  for (size_t i = 0; i < fresh.dims.size(); ++i)
    if (!dim || i != *dim)
      fresh.dimUpperBound[i] = atCapacity(fresh.dimUpperBound[i]);
    else
      fresh.dimUpperBound[i] = fresh.capacity;
  if (!requireAtCapacity())
    return false;
  for (AxisId axis = 0; axis < old.axes.size(); ++axis)
    fresh.axes[axis].size = along(axis) ? count : atCapacity(old.axes[axis].size);
  for (Input &input : fresh.inputs)
    input.bound = atCapacity(input.bound);
  for (State &state : fresh.states) {
    for (Size &each : state.shape)
      each = atCapacity(each);
    if (state.bound)
      state.bound = atCapacity(*state.bound);
  }
  State position;
  position.path = old.name + ".position";
  position.element = Element::Int;
  fresh.positionState = uint32_t(fresh.states.size());
  fresh.states.push_back(position);
  return true;
}

/// How many places one call brings is free: what is required of them is of all that are kept.
bool StepDerivation::requireAtCapacity() {
  for (Requirement &requirement : fresh.requirements) {
    requirement.left = atCapacity(requirement.left);
    requirement.right = atCapacity(requirement.right);
    const auto required = constraintOf(requirement);
    const auto room = required ? required->form.asConstant() : std::nullopt;
    if (room && (required->equality ? *room != 0 : *room < 0))
      return unsupported(old.results.front().second, "walking axis " + old.walkedAxis + " up to its bound " +
                                                         std::to_string(fresh.capacity.constant()) + ", with which " +
                                                         requirement.condition + " does not hold"),
             false;
  }
  std::erase_if(fresh.requirements,
                [](const Requirement &requirement) { return requirement.left.isConstant() && requirement.right.isConstant(); });
  return true;
}

Size StepDerivation::atCapacity(const Size &size) const {
  if (!dim || !size.coefficients().count(*dim))
    return size;
  Size result = size.constant();
  for (auto &[each, coefficient] : size.coefficients())
    result = *add(result, *multiply(each == *dim ? fresh.capacity : Size::dim(each), Size(coefficient)));
  return result;
}

Axes StepDerivation::placesIn(NodeId id) const {
  Axes found;
  for (AxisId axis : old.nodes[id].type.axes)
    if (along(axis))
      found.push_back(axis);
  return found;
}

/// Whether it has an axis whose last places are those of the walk. Such an axis has all places that there is room for.
bool StepDerivation::endsAlong(const Node &node) const {
  return std::any_of(node.type.axes.begin(), node.type.axes.end(), [&](AxisId axis) { return fixed.count(axis) > 0; });
}

AxisId StepDerivation::whole(AxisId axis) {
  auto [known, isNew] = wholeAxes.try_emplace(axis, AxisId(fresh.axes.size()));
  if (isNew)
    fresh.axes.push_back({old.axes[axis].name, fresh.capacity});
  return known->second;
}

Axes StepDerivation::mapped(const Axes &axes, const Axes &demand) {
  Axes result = axes;
  for (AxisId &axis : result)
    if (includes(demand, axis))
      axis = whole(axis);
  return result;
}

// ---- nodes

NodeId StepDerivation::unsupported(NodeId id, const std::string &what) {
  if (!failed)
    diagnostics.error("T0901", old.nodes[id].caller,
                      "not supported yet: " + what + " in `out " + old.name + "(" + old.walkedAxis + ")`");
  failed = true;
  return emit(makeNode(Op::Constant, old.nodes[id].type));
}

NodeId StepDerivation::refuse(NodeId id, const std::string &what) {
  if (!failed)
    diagnostics.error("T0416", old.nodes[id].range,
                      "`out " + old.name + "(" + old.walkedAxis + ")` walks axis " + old.walkedAxis +
                          ", but here places may need later ones: " + what);
  failed = true;
  return emit(makeNode(Op::Constant, old.nodes[id].type));
}

NodeId StepDerivation::position() {
  if (positionNode == kNoNode) {
    Node node = makeNode(Op::State, {Element::Int, {}, {}});
    node.index = fresh.positionState;
    positionNode = emit(node);
  }
  return positionNode;
}

/// low + position + 0 .. the number of new places - 1, along `axis`.
NodeId StepDerivation::newPlaces(AxisId axis, const Size &low) {
  auto sum = [&](NodeId a, NodeId b) {
    Node node = makeNode(Op::Add, {Element::Int, {axis}, {}});
    node.operands = {a, b};
    return emit(node);
  };
  auto [known, isNew] = done.try_emplace({kNoNode, {axis}}, kNoNode); // no node has this number
  if (isNew) {
    NodeId from = position();
    known->second = sum(emit(makeNode(Op::Iota, {Element::Int, {axis}, {}})), from);
  }
  if (low == Size(0))
    return known->second;
  Node size = makeNode(Op::SizeValue, {Element::Int, {}, {}});
  size.size = low;
  return sum(known->second, emit(size));
}

/// The new places of a table: row position + low + i of its axis `tableAxis` becomes place i of `axis`. Type and range as in
/// `like`.
NodeId StepDerivation::pick(NodeId table, AxisId tableAxis, AxisId axis, const Size &low, const Node &like) {
  Node node = makeNode(Op::Gather, like.type);
  node.operands = {table, newPlaces(axis, low)};
  node.axesFrom = {tableAxis};
  node.stack = like.stack;
  node.range = like.range;
  return emit(node);
}

/// Where a scan is: from the first place that was ever brought, if it runs along the walk.
NodeId StepDerivation::placeOf(NodeId id) {
  NodeId here = emit(old.nodes[id]);
  const StackInfo &info = old.stacks[old.nodes[id].stack];
  if (!info.isScan || !along(info.historyAxis))
    return here;
  Node place = makeNode(Op::Add, old.nodes[id].type);
  place.operands = {here, position()};
  place.stack = old.nodes[id].stack;
  place.range = old.nodes[id].range;
  return emit(place);
}

/// x[T: t]: of the new places the one where the scan is among these.
NodeId StepDerivation::pickOfScan(NodeId id, const Axes &demand) {
  const Node &node = old.nodes[id];
  Node copy = node;
  copy.operands = {rewrite(node.operands[0], demandOf(node, 0, demand)), emit(old.nodes[node.operands[1]])};
  copy.type.axes = mapped(node.type.axes, demand);
  return emit(copy);
}

} // namespace tenon::sema
