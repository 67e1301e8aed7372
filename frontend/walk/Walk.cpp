#include "frontend/walk/Walk.h"
#include "frontend/graph/Graph.h"
#include "frontend/proofs/IndexProof.h"
#include "frontend/walk/WalkDrift.h"
#include <set>

namespace tenon::sema {

std::vector<AxisId> placesOf(const Entry &entry, AxisId walked) {
  std::set<AxisId> places{walked};
  for (size_t before = 0; before != places.size();) {
    before = places.size();
    for (auto &node : entry.nodes)
      for (size_t i = 0; node.op == Op::Rename && i < node.axesFrom.size(); ++i)
        if (places.count(node.axesFrom[i]) || places.count(node.axesTo[i]))
          places.insert({node.axesFrom[i], node.axesTo[i]});
  }
  return {places.begin(), places.end()};
}

std::optional<unsigned> walkedDim(const Entry &entry, AxisId walked) {
  const Size &size = entry.axes[walked].size;
  bool plain = size.constant() == 0 && size.coefficients().size() == 1 && size.coefficients().begin()->second == 1;
  return plain ? std::optional<unsigned>(size.coefficients().begin()->first) : std::nullopt;
}

std::string Walk::objection(const Node &node) const {
  switch (node.op) {
  case Op::Merge:
  case Op::Split:
    return over(node) ? "a split or merge of it" : "";
  case Op::Slice:
    return over(node) ? "a slice of it" : "";
  case Op::Gather:
    return over(node) ? "places picked by an index" : "";
  case Op::Concat:
    return over(node) || along(node.axesTo[0]) ? "a concat along it" : "";
  case Op::Flip:
    return over(node) ? "flip" : "";
  case Op::Put:
    return over(node) ? "put" : "";
  case Op::Window:
    return window(node);
  case Op::Dot:
  case Op::Sum:
  case Op::ReduceMax:
  case Op::ReduceMin:
  case Op::All:
  case Op::Any:
  case Op::ArgMax:
  case Op::Softmax:
  case Op::LogSoftmax:
  case Op::Normalize:
  case Op::Top:
  case Op::CrossEntropy:
    return over(node) ? "a sum, maximum or norm over it" : overTable(node);
  case Op::Sample:
    return sample(node);
  case Op::Attend:
    return attend(node);
  case Op::Input:
    return alongTable("an input", node);
  case Op::State:
    return alongTable("a state", node);
  default:
    return "";
  }
}

/// A draw's number counts all places of a row: what a call with more places draws there is another one.
std::string Walk::sample(const Node &node) const {
  for (AxisId axis : node.type.axes)
    if (along(axis))
      return "draws along it, which are other ones when there are more places";
  return over(node) ? "a draw over it" : overTable(node);
}

std::string Walk::objectionToResult(const Node &node, bool leavesEntry) const {
  unsigned count = 0;
  for (AxisId axis : node.type.axes)
    count += along(axis);
  if (count > 1)
    return "a value for pairs of places outside of an attend";
  return leavesEntry ? alongTable("a result", node) : "";
}

std::string Walk::objectionToNext(uint32_t state, NodeId value) const {
  const Node &node = entry.nodes[value];
  bool stays = node.op == Op::State && node.index == state;
  return stays ? "" : "state " + entry.states[state].path + " changes with every call, not with every place";
}

std::map<NodeId, std::string> Walk::objectionsToNumber() const {
  if (!dim)
    return {};
  WalkDrift drift(entry, *dim);
  effort += drift.effort;
  return drift.objections;
}

std::string Walk::alongTable(const std::string &what, const Node &node) const {
  for (AxisId axis : node.type.axes)
    if (!along(axis) && countsPlaces(entry.axes[axis].size))
      return what + " along " + entry.axes[axis].name + ", whose size depends on it";
  return "";
}

std::string Walk::overTable(const Node &node) const {
  for (AxisId axis : node.axesFrom)
    if (countsPlaces(entry.axes[axis].size))
      return "a sum, maximum or norm over " + entry.axes[axis].name + ", whose size depends on it";
  return "";
}

bool Walk::along(AxisId axis) const { return includes(places, axis); }

bool Walk::over(const Node &node) const {
  for (AxisId axis : node.axesFrom)
    if (along(axis))
      return true;
  return false;
}

std::string Walk::window(const Node &node) const {
  for (size_t i = 0; i < node.axesFrom.size(); ++i) {
    const WindowSteps &steps = node.windows[i];
    auto reach = multiply(entry.axes[node.axesTo[2 * i + 1]].size, Size(steps.dilation)); // windows that end at their own place
    if (along(node.axesFrom[i]) &&
        (steps.stride != 1 || steps.padHigh != 0 || !reach || *reach != Size(steps.padLow + steps.dilation)))
      return "a window that is not causal (stride 1, pad = (K - 1, 0))";
  }
  return "";
}

bool Walk::mentionsPlaces(NodeId id) const {
  for (AxisId axis : entry.nodes[id].type.axes)
    if (along(axis))
      return true;
  return false;
}

/// The comparisons key < n in a mask, where n does not vary along the walk: keys inside the first window, such as a source
/// text.
std::vector<NodeId> Walk::keyBounds(std::vector<NodeId> masks, AxisId key) const {
  std::vector<NodeId> found;
  std::set<NodeId> seen;
  while (!masks.empty()) {
    const NodeId mask = masks.back();
    masks.pop_back();
    if (!seen.insert(mask).second)
      continue;
    const Node &node = entry.nodes[mask];
    if (node.op == Op::And || node.op == Op::Or || node.op == Op::Transpose || node.op == Op::Expand)
      masks.insert(masks.end(), node.operands.rbegin(), node.operands.rend());
    if (node.op != Op::Less && node.op != Op::LessEqual)
      continue;
    const Node &left = entry.nodes[node.operands[0]];
    if (left.op == Op::Iota && left.type.axes[0] == key && !mentionsPlaces(node.operands[1]))
      found.push_back(mask);
  }
  return found;
}

/// Every key that the masks show is at the query's place or before it, or below such a bound.
std::string Walk::attend(const Node &node) const {
  const AttendInfo &info = *node.attend;
  if (!along(info.key) && !countsPlaces(entry.axes[info.key].size))
    return "";
  std::vector<NodeId> masks(node.operands.begin() + info.scores, node.operands.begin() + info.scores + info.masks);
  const std::vector<NodeId> bounds = keyBounds(masks, info.key);
  Entry extended = entry;
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
  std::vector<NodeId> goals;
  for (AxisId query : info.queries)
    if (along(query)) {
      NodeId keyPlace = add(Op::Iota, Element::Int, {info.key}, {});
      NodeId queryPlace = add(Op::Iota, Element::Int, {query}, {});
      goals.push_back(add(Op::LessEqual, Element::Bool, {query, info.key}, {keyPlace, queryPlace}));
    }
  if (goals.empty() && !bounds.empty())
    goals.push_back(bounds[0]);
  for (NodeId goal : goals) {
    for (NodeId bound : bounds)
      goal = goal == bound ? goal : either(goal, bound);
    const IndexProof proof = proveCondition(extended, goal, masks);
    effort += proof.effort;
    if (proof.proved)
      return "";
  }
  return "an attend whose masks show later keys: neither key <= query nor key < n, for an n that is the same at every place, "
         "follows from "
         "them";
}

} // namespace tenon::sema
