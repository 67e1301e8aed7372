#include "frontend/graph/BatchReductions.h"
#include "frontend/Dims.h"
#include "frontend/graph/Averages.h"

namespace tenon::sema {

std::optional<Average> BatchReductions::of(NodeId id, NodeId terms) {
  const Op op = node(id).op == Op::Dot ? Op::Sum : node(id).op;
  Reduced reduced{kNoNode, terms, node(id).axesFrom};
  lookThrough(reduced);
  if (!hasBatch(reduced.axes))
    return std::nullopt;
  using Kind = Average::Kind;
  Average result;
  result.kind = op == Op::Sum ? Kind::Sum : op == Op::ReduceMax || op == Op::Any ? Kind::Greatest : Kind::Least;
  reduced.part = perPlace(op, reduced);
  reduced.inside = reaches(reduced.terms, false);
  result.output = reduced.part;
  for (AxisId axis : node(reduced.terms).type.axes)
    if (!contains(reduced.axes, axis))
      result.axes.push_back(axis);
  reductions.push_back(reduced);
  return result;
}

bool BatchReductions::isInside(NodeId part) const {
  return std::any_of(reductions.begin(), reductions.end(),
                     [&](const Reduced &reduced) { return reduced.part == part && reduced.inside; });
}

bool BatchReductions::hasPlaces(NodeId id) const { return entry.batchAxes.size() < 2 || placesAmong(entry, node(id).type.axes); }

/// What a node reads. A result of a loop is not made of what others of its results are, but for where the loop ends. `loops`: the
/// node that runs each stack.
std::vector<NodeId> BatchReductions::readBy(NodeId id, const std::map<uint32_t, NodeId> &loops) const {
  const Node &each = node(id);
  if (isLoop(each)) {
    const NodeId until = entry.stacks[each.index].until;
    return until == kNoNode ? std::vector<NodeId>() : std::vector<NodeId>{until};
  }
  std::vector<NodeId> read = each.operands;
  if (each.op == Op::Result && isLoop(node(each.operands[0]))) {
    const StackInfo &stack = entry.stacks[node(each.operands[0]).index];
    read.push_back(stack.results[bodyResultOf(stack, each.index)]);
  }
  if (each.op == Op::BodyArgument) {
    read.push_back(node(loops.at(each.stack)).operands[each.index]);
    if (each.index < entry.stacks[each.stack].carries)
      read.push_back(entry.stacks[each.stack].results[each.index]);
  }
  return read;
}

bool BatchReductions::reaches(NodeId root, bool leaves) const {
  std::map<uint32_t, NodeId> loops;
  for (NodeId id = 0; id < entry.nodes.size(); ++id)
    if (isLoop(node(id)))
      loops[node(id).index] = id;
  std::vector<bool> seen(entry.nodes.size());
  for (std::vector<NodeId> open = {root}; !open.empty();) {
    const NodeId id = open.back();
    open.pop_back();
    if (seen[id])
      continue;
    seen[id] = true;
    const Node &each = node(id);
    if ((isReduction(each.op) || each.op == Op::Dot) && hasBatch(each.axesFrom))
      return true;
    if (leaves && (each.op == Op::State || isLoop(each) || each.op == Op::BodyArgument ||
                   (each.op == Op::Input && hasBatch(id)) || (each.op == Op::SizeValue && isBatchSize(each.size))))
      return true;
    const std::vector<NodeId> read = readBy(id, loops);
    open.insert(open.end(), read.begin(), read.end());
  }
  return false;
}

bool BatchReductions::isBatchSize(const Size &size) const {
  if (entry.batchAxes.empty())
    return false;
  const auto &batch = entry.axes[entry.batchAxes[0]].size.coefficients();
  return std::any_of(batch.begin(), batch.end(), [&](auto &term) { return dependsOn(entry, size, term.first); });
}

/// Names and order of axes that are reduced do not matter, nor of what stands along them.
void BatchReductions::lookThrough(Reduced &reduced) const {
  for (;;) {
    const Node &top = node(reduced.terms);
    if (top.op == Op::Flip && contains(reduced.axes, top.axesFrom[0])) {
      reduced.terms = top.operands[0];
      continue;
    }
    if (hasBatch(reduced.terms) && hasPlaces(reduced.terms))
      return;
    if (top.op != Op::Rename && top.op != Op::Transpose && top.op != Op::Merge && top.op != Op::Split)
      return;
    std::vector<AxisId> axes = reduced.axes;
    for (size_t i = 0; i < top.axesTo.size() && top.op != Op::Transpose; ++i) {
      auto found = std::find(axes.begin(), axes.end(), top.axesTo[i]);
      if (found == axes.end())
        return;
      axes.erase(found);
    }
    if (top.op != Op::Transpose)
      axes.insert(axes.end(), top.axesFrom.begin(), top.axesFrom.end());
    reduced = {kNoNode, top.operands[0], std::move(axes)};
  }
}

/// Reduced over its axes but those of batch and places: rows and places can be left out of what remains.
NodeId BatchReductions::perPlace(Op op, const Reduced &reduced) {
  Node rest;
  rest.op = op;
  rest.type.element = node(reduced.terms).type.element;
  rest.range = node(reduced.terms).range;
  rest.operands = {reduced.terms};
  const std::optional<AxisId> places = placesAmong(entry, node(reduced.terms).type.axes);
  for (AxisId axis : node(reduced.terms).type.axes)
    (contains(reduced.axes, axis) && !contains(entry.batchAxes, axis) && axis != places ? rest.axesFrom : rest.type.axes)
        .push_back(axis);
  return rest.axesFrom.empty() ? reduced.terms : added(rest);
}

NodeId BatchReductions::product(NodeId dot) {
  Node terms;
  terms.op = Op::Mul;
  terms.type.element = Element::Real;
  terms.range = node(dot).range;
  terms.operands = node(dot).operands;
  for (NodeId operand : terms.operands)
    for (AxisId axis : node(operand).type.axes)
      if (!contains(terms.type.axes, axis))
        terms.type.axes.push_back(axis);
  return added(terms);
}

NodeId BatchReductions::added(const Node &wanted) {
  for (NodeId i = 0; i < entry.nodes.size(); ++i)
    if (const Node &each = entry.nodes[i]; each.op == wanted.op && each.operands == wanted.operands &&
                                           each.axesFrom == wanted.axesFrom && each.type.axes == wanted.type.axes &&
                                           each.stack == wanted.stack)
      return i;
  entry.nodes.push_back(wanted);
  return NodeId(entry.nodes.size() - 1);
}

std::optional<Average> BatchReductions::countOf(NodeId divisor, const Average &of) const {
  const std::vector<int64_t> dims = nominalDims(entry);
  const auto wanted = productOfSizes(entry, divisor, dims);
  for (const Reduced &reduced : reductions)
    if (const std::vector<AxisId> &axes = reduced.axes; wanted && reduced.part == of.output && axes.size() <= 8)
      for (unsigned chosen = (1u << axes.size()) - 1; chosen > 0; --chosen) // all axes first
        if (auto count = countAlong(axes, chosen, dims); count && count->second == *wanted) {
          count->first.output = of.output;
          for (AxisId axis : of.axes) // how much of a place counts may differ from that of the next
            if (contains(entry.batchAxes, axis) || axis == placesAmong(entry, node(of.output).type.axes))
              count->first.axes.push_back(axis);
          return count->first;
        }
  return std::nullopt;
}

/// The sizes of the axes that `chosen` has bits for, and their product; nullopt without the batch.
std::optional<std::pair<Average, double>> BatchReductions::countAlong(const std::vector<AxisId> &axes, unsigned chosen,
                                                                      const std::vector<int64_t> &dims) const {
  std::pair<Average, double> result = {{}, 1};
  result.first.kind = Average::Kind::Count;
  bool hasRows = false;
  for (size_t i = 0; i < axes.size(); ++i)
    if (chosen >> i & 1) {
      result.first.sizes.push_back(entry.axes[axes[i]].size);
      result.second *= double(result.first.sizes.back().evaluate(dims));
      hasRows |= isBatch(axes[i]);
    }
  return hasRows ? std::optional(result) : std::nullopt;
}

} // namespace tenon::sema
