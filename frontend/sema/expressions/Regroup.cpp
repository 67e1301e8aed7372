// Products of axes as other ones: x[D -> H * E], x[B * T * D -> B * F].
#include "frontend/graph/Products.h"
#include "frontend/sema/Checker.h"
#include <algorithm>
#include <tuple>

namespace tenon::sema {
namespace {

/// prefix[i]: of the axes before `i`.
std::vector<std::optional<Product>> prefixes(const Graph &graph, const std::vector<AxisId> &axes) {
  std::vector<std::optional<Product>> result{Product{{{}, 1}}};
  for (AxisId axis : axes)
    result.push_back(result.back() ? times(graph.entry, *result.back(), graph.size(axis)) : std::nullopt);
  return result;
}

} // namespace

/// Row-major places of `from` become those of `to`, part by part: a part ends where as many places lie before it on both sides.
/// So x[B * T * D -> B * F] splits or merges nothing but what D and F differ in, and x[B * T * D -> N * D] B * T alone.
NodeId Checker::regroup(NodeId node, const std::vector<AxisId> &from, const std::vector<AxisId> &to, ast::Range range) {
  auto before = prefixes(graph, from), after = prefixes(graph, to);
  if (!before.back() || before.back() != after.back()) {
    auto *mistake = error("T0205", range, "the sizes differ: " + product(from) + " before, " + product(to) + " after");
    relate(mistake, from[0]);
    relate(mistake, to[0]);
    return kNoNode;
  }
  std::vector<AxisId> order = without(graph.axes(node), from); // the new axes stand where the first old one stood
  size_t place = 0;
  for (AxisId axis : graph.axes(node)) {
    if (axis == from[0])
      break;
    place += includes(order, axis);
  }
  order.insert(order.begin() + place, to.begin(), to.end());
  std::vector<std::pair<size_t, size_t>> ends; // of the parts
  for (size_t i = 0, j = 0; i < from.size() || j < to.size();) {
    std::pair<size_t, size_t> end{from.size(), to.size()}; // the shortest part; what has one place at the end joins the last
    for (size_t a = i + 1; a < from.size(); ++a)
      for (size_t b = j + 1; b < to.size(); ++b)
        if (before[a] == after[b] && a + b < end.first + end.second)
          end = {a, b};
    ends.push_back(end);
    std::tie(i, j) = end;
  }
  std::vector<AxisId> made = to;
  size_t i = 0, j = 0;
  for (auto [iEnd, jEnd] : ends) {
    for (size_t k = j; k < jEnd; ++k) // an axis of another part may have this name as yet
      if (size_t other = std::find(from.begin(), from.end(), to[k]) - from.begin();
          other < from.size() && (other < i || other >= iEnd))
        made[k] = graph.newAxis(axisName(to[k]), graph.size(to[k]), graph.axisRuntime[to[k]]);
    node = regroupPart(node, {from.begin() + i, from.begin() + iEnd}, {made.begin() + j, made.begin() + jEnd}, range);
    if (node == kNoNode)
      return kNoNode;
    i = iEnd, j = jEnd;
  }
  return graph.transpose(graph.rename(node, made, to, range), order, range);
}

/// Where the places of a product of run-time dims are no axis of their own (B * T of x[B * T -> T2 * B2]): each element is read
/// at the indices that its own row-major place has in `from`.
NodeId Checker::reorder(NodeId node, const std::vector<AxisId> &from, const std::vector<AxisId> &to, ast::Range range) {
  auto whole = [&](Op op, std::vector<NodeId> operands) {
    return graph.elementwise(op, std::move(operands), Element::Int, range);
  };
  auto sizeOf = [&](AxisId axis) {
    Node size = makeNode(Op::SizeValue, {Element::Int, {}, {}});
    size.size = graph.size(axis);
    size.range = range;
    return graph.add(size);
  };
  std::vector<AxisId> made; // those of `to` may be among `from`, whose places are other ones
  NodeId place = kNoNode;
  for (AxisId axis : to) {
    made.push_back(graph.newAxis(axisName(axis), graph.size(axis), graph.axisRuntime[axis]));
    Node iota = makeNode(Op::Iota, {Element::Int, {made.back()}, {}});
    iota.range = range;
    const NodeId index = graph.add(iota);
    place = place == kNoNode ? index : whole(Op::Add, {whole(Op::Mul, {place, sizeOf(axis)}), index});
  }
  for (size_t i = from.size(); i-- > 0;) {
    const NodeId size = sizeOf(from[i]);
    node = gatherNode(node, from[i], i > 0 ? whole(Op::Mod, {place, size}) : place, false, range);
    place = whole(Op::FloorDiv, {place, size});
  }
  return graph.rename(node, made, to, range);
}

NodeId Checker::regroupPart(NodeId node, const std::vector<AxisId> &from, const std::vector<AxisId> &to, ast::Range range) {
  if (from.size() == 1 && to.size() == 1)
    return graph.rename(node, from, to, range);
  bool linear;
  Size all = productOf(from, linear);
  if (!linear && from.size() > 1 && to.size() > 1)
    return reorder(node, from, to, range);
  std::vector<AxisId> rest = without(graph.axes(node), from);
  size_t place = 0;
  for (AxisId axis : graph.axes(node)) {
    if (axis == from[0])
      break;
    place += includes(rest, axis);
  }
  auto make = [&](Op op, const std::vector<AxisId> &old, const std::vector<AxisId> &made) {
    Node part = makeNode(op, graph[node].type);
    part.type.pinned.clear();
    part.type.axes = rest;
    part.type.axes.insert(part.type.axes.begin() + place, made.begin(), made.end());
    part.operands = {node};
    part.axesFrom = old;
    part.axesTo = made;
    part.range = range;
    node = graph.add(part);
  };
  AxisId middle = from.size() == 1 ? from[0]
                  : to.size() == 1 ? to[0]
                                   : graph.newAxis(axisName(from[0]), all, graph.axisRuntime[from[0]]);
  if (from.size() > 1)
    make(Op::Merge, from, {middle});
  if (to.size() > 1)
    make(Op::Split, {middle}, to);
  return node;
}

} // namespace tenon::sema
