// What an entry that walks asks of keys: those of attends, and of sums over keys without a softmax.
#include "frontend/graph/Graph.h"
#include "frontend/proofs/IndexProof.h"
#include "frontend/walk/Walk.h"
#include <algorithm>
#include <iterator>
#include <set>

namespace tenon::sema {

bool Walk::mentionsPlaces(NodeId id) const {
  for (AxisId axis : entry.nodes[id].type.axes)
    if (along(axis))
      return true;
  return false;
}

/// The comparisons key < n in a mask of `of`, where n does not vary along the walk, nor in a scan along it: keys inside the first
/// window, such as a source text.
std::vector<NodeId> Walk::keyBounds(const Entry &of, std::vector<NodeId> masks, AxisId key) const {
  std::vector<NodeId> found;
  std::set<NodeId> seen;
  while (!masks.empty()) {
    const NodeId mask = masks.back();
    masks.pop_back();
    if (!seen.insert(mask).second)
      continue;
    const Node &node = of.nodes[mask];
    if (node.op == Op::And || node.op == Op::Or || node.op == Op::Transpose || node.op == Op::Expand)
      masks.insert(masks.end(), node.operands.rbegin(), node.operands.rend());
    if (node.op != Op::Less && node.op != Op::LessEqual)
      continue;
    const Node &left = of.nodes[node.operands[0]];
    if (left.op == Op::Iota && left.type.axes[0] == key && !mentionsPlaces(node.operands[1]) &&
        !standsInScan(of.nodes[node.operands[1]]))
      found.push_back(mask);
  }
  return found;
}

/// Every key that the masks, nodes of `extended`, show is at the query's place or before it, or below such a bound. Fixed keys in
/// front are not counted. `body`: where the keys are asked.
bool Walk::hidesLater(Entry extended, uint32_t body, const std::vector<AxisId> &queries, AxisId key,
                      const std::vector<NodeId> &masks) const {
  const std::vector<NodeId> bounds = keyBounds(extended, masks, key);
  effort += entry.nodes.size() / 4; // the copy
  auto add = [&](Op op, Element element, std::vector<AxisId> axes, std::vector<NodeId> operands) {
    Node made = makeNode(op, {element, std::move(axes), {}});
    made.operands = std::move(operands);
    extended.nodes.push_back(made);
    return NodeId(extended.nodes.size() - 1);
  };
  auto either = [&](NodeId left, NodeId right) {
    std::vector<AxisId> axes = extended.nodes[left].type.axes;
    for (AxisId axis : extended.nodes[right].type.axes)
      if (!includes(axes, axis))
        axes.push_back(axis);
    return add(Op::Or, Element::Bool, axes, {left, right});
  };
  auto asKey = [&](NodeId place) { // the number that it has among the keys
    const auto known = fixed.find(key);
    if (known == fixed.end())
      return place;
    const NodeId first = add(Op::SizeValue, Element::Int, {}, {});
    extended.nodes[first].size = known->second;
    return add(Op::Add, Element::Int, extended.nodes[place].type.axes, {place, first});
  };
  std::vector<NodeId> goals;
  for (AxisId query : queries)
    if (along(query)) {
      NodeId keyPlace = add(Op::Iota, Element::Int, {key}, {});
      NodeId queryPlace = asKey(add(Op::Iota, Element::Int, {query}, {}));
      goals.push_back(add(Op::LessEqual, Element::Bool, {query, key}, {keyPlace, queryPlace}));
    }
  for (NodeId place = 0; place < entry.nodes.size(); ++place) // of scans around, which are at one query
    if (const Node &depth = entry.nodes[place]; depth.op == Op::Depth && isInWalkedScan(entry, depth.stack, places))
      for (uint32_t around = body; around != kEntryBody; around = entry.stacks[around].parent)
        if (around == depth.stack && entry.stacks[around].isScan && along(entry.stacks[around].historyAxis))
          goals.push_back(add(Op::LessEqual, Element::Bool, {key}, {add(Op::Iota, Element::Int, {key}, {}), asKey(place)}));
  if (goals.empty() && !bounds.empty())
    goals.push_back(bounds[0]);
  for (NodeId goal : goals) {
    for (NodeId bound : bounds)
      goal = goal == bound ? goal : either(goal, bound);
    const IndexProof proof = proveCondition(extended, goal, masks);
    effort += proof.effort;
    if (proof.proved)
      return true;
  }
  return false;
}

std::string Walk::attend(const Node &node) const {
  const AttendInfo &info = *node.attend;
  for (AxisId query : info.queries)
    if (endsAlong(query))
      return "queries along " + name(query) + ": those of " + entry.walkedAxis + " alone can be asked for call by call";
  if (!along(info.key) && !endsAlong(info.key) && !countsPlaces(entry.axes[info.key].size))
    return "";
  const std::vector<NodeId> masks(node.operands.begin() + info.scores, node.operands.begin() + info.scores + info.masks);
  if (hidesLater(entry, node.stack, info.queries, info.key, masks))
    return "";
  const auto front = fixed.find(info.key);
  const std::string first = front == fixed.end() ? "" : " + " + front->second.text(entry.dims);
  return "an attend whose masks show later keys: neither key <= query" + first +
         " nor key < n, for an n that is the same at every place, follows from them";
}

// ---- sums over keys

namespace {

/// Functions that are 0 at 0, so that a place which a mask has made 0 stays 0.
bool keepsZero(Op op) {
  switch (op) {
  case Op::Neg:
  case Op::Abs:
  case Op::Sqrt:
  case Op::Sin:
  case Op::Atan:
  case Op::Erf:
  case Op::Tanh:
  case Op::Relu:
  case Op::LeakyRelu:
  case Op::Gelu:
  case Op::GeluTanh:
  case Op::StopGradient:
  case Op::Transpose:
  case Op::Expand:
    return true;
  default:
    return false;
  }
}

bool isZero(const Entry &entry, NodeId id) {
  const Node *node = &entry.nodes[id];
  while (node->op == Op::Expand || node->op == Op::Transpose || node->op == Op::ToReal)
    node = &entry.nodes[node->operands[0]];
  return node->op == Op::Constant && node->number == 0 && node->integer == 0;
}

} // namespace

/// Conditions outside of which one of the factors `work` is 0; those that have to be made are added to `extended`.
std::vector<NodeId> Walk::zeroUnless(std::vector<NodeId> work, Entry &extended) const {
  std::vector<NodeId> conditions;
  std::set<NodeId> seen;
  while (!work.empty()) {
    const NodeId id = work.back();
    const Node node = extended.nodes[id];
    work.pop_back();
    if (!seen.insert(id).second)
      continue;
    if (node.type.element == Element::Bool)
      conditions.push_back(id);
    else if (node.op == Op::Mul)
      work.insert(work.end(), node.operands.begin(), node.operands.end());
    else if (keepsZero(node.op) || node.op == Op::Div || node.op == Op::ToReal)
      work.push_back(node.operands[0]);
    else if (node.op == Op::BodyArgument && node.index >= entry.stacks[node.stack].carries) {
      for (const Node &loop : entry.nodes)
        if (isLoop(loop) && loop.index == node.stack)
          work.push_back(loop.operands[node.index]);
    } else if (node.op == Op::Select && isZero(extended, node.operands[2])) {
      conditions.push_back(node.operands[0]);
      work.push_back(node.operands[1]);
    } else if (node.op == Op::Select && isZero(extended, node.operands[1])) {
      Node otherwise = makeNode(Op::Not, extended.nodes[node.operands[0]].type);
      otherwise.operands = {node.operands[0]};
      extended.nodes.push_back(otherwise);
      conditions.push_back(NodeId(extended.nodes.size() - 1));
      work.push_back(node.operands[2]);
    }
  }
  return conditions;
}

std::string Walk::sum(const Node &node) const {
  if (!over(node))
    return overTable(node);
  const std::string any = "a sum, maximum or norm over " + it(node);
  std::vector<AxisId> queries, keys;
  std::copy_if(node.type.axes.begin(), node.type.axes.end(), std::back_inserter(queries),
               [&](AxisId axis) { return along(axis); });
  std::copy_if(node.axesFrom.begin(), node.axesFrom.end(), std::back_inserter(keys), [&](AxisId axis) { return along(axis); });
  const bool overOthers = std::any_of(node.axesFrom.begin(), node.axesFrom.end(), [&](AxisId axis) {
    return endsAlong(axis) || (!along(axis) && countsPlaces(entry.axes[axis].size));
  });
  if (keys.size() != 1 || queries.empty() || overOthers || standsInScan(node))
    return any;
  Entry extended = entry;
  const std::vector<NodeId> conditions = zeroUnless(node.operands, extended);
  if (hidesLater(std::move(extended), node.stack, queries, keys[0], conditions))
    return "";
  const std::string &key = entry.axes[keys[0]].name, &query = entry.axes[queries[0]].name;
  return "a sum over " + key + " of what is not seen to be 0 at later places: where(iota[" + key + "]() <= iota[" + query +
         "](), .., 0.0) makes it so";
}

} // namespace tenon::sema
