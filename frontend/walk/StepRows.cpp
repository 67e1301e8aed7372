// Rows that a derived entry keeps: each call appends those of its places.
#include "frontend/walk/StepDerivation.h"
#include <algorithm>

namespace tenon::sema {

NodeId StepDerivation::append(NodeId id, AxisId axis) {
  NodeId rows = rewrite(id, {});
  if (auto kept = sums.find(id); kept != sums.end() && old.nodes[id].axesFrom[0] == axis)
    return asWritten(kept->second, old.nodes[id]); // with all its places already
  if (keepsNothing(old.nodes[id]))
    return unsupported(id, "an attend along the walk to what is made inside of a scan");
  Node made = kept(id, axis);
  made.operands = {rows, position()};
  made.index = newState(made);
  return emit(made);
}

/// The type that is written on the value whose elements `id` moves.
static std::string writtenOf(const Entry &entry, NodeId id) {
  const Node *node = &entry.nodes[id];
  while (node->type.pinned.empty() && node->op >= Op::Rename && node->op <= Op::Slice)
    node = &entry.nodes[node->operands[0]];
  return node->type.pinned;
}

/// What an append of `id` along `axis` looks like, without its operands and state.
Node StepDerivation::kept(NodeId id, AxisId axis) {
  const Node &node = old.nodes[id];
  Node made = makeNode(Op::Append, node.type);
  made.stack = node.stack;
  made.range = node.range;
  made.axesFrom = {axis};
  made.axesTo = {whole(axis)};
  made.type.axes = mapped(node.type.axes, {axis});
  made.type.pinned = writtenOf(old, id);
  return made;
}

/// Fixed rows, then those of the walk, in one state: [fixed, places]. A call appends both, from its position on, and so writes
/// again what stands before its places: fixed rows at the first call, later what the calls before have written there.
NodeId StepDerivation::appendBehindFixed(NodeId id) {
  const Node &node = old.nodes[id];
  if (node.operands.size() != 2)
    return unsupported(id, "a value along " + old.axes[node.axesTo[0]].name + " that is not made place by place");
  if (keepsNothing(node))
    return unsupported(id, "an attend along the walk to what is made inside of a scan");
  const AxisId front = node.axesFrom[0], back = node.axesFrom[1], all = node.axesTo[0];
  const NodeId fixedRows = rewrite(node.operands[0], {}), rows = rewrite(node.operands[1], {});
  const AxisId both = AxisId(fresh.axes.size());
  fresh.axes.push_back({old.axes[all].name, *add(fresh.axes[front].size, fresh.axes[back].size)});
  auto make = [&](Op op, AxisId axis) {
    Node made = makeNode(op, node.type);
    std::replace(made.type.axes.begin(), made.type.axes.end(), all, axis);
    made.stack = node.stack;
    made.range = node.range;
    return made;
  };
  Node append = make(Op::Append, all);
  append.axesFrom = {both};
  append.axesTo = {all};
  append.type.pinned = writtenOf(old, id);
  append.index = newState(append);
  Node state = make(Op::State, all), before = make(Op::Gather, front), joined = make(Op::Concat, both);
  state.type.pinned = append.type.pinned;
  state.index = append.index;
  before.operands = {emit(state), newPlaces(front, 0)};
  before.axesFrom = {all};
  joined.operands = {atFirst(fixedRows, emit(before)), rows};
  joined.axesFrom = {front, back};
  joined.axesTo = {both};
  append.operands = {emit(joined), position()};
  return emit(append);
}

} // namespace tenon::sema
