// `out step(T)`: a call brings a window of new places along T, earlier ones are kept. Legal if no place needs a later one:
// everything along T is per place, except attends whose mask hides later keys, scans, running sums and causal windows
// (language.md 3.2).
#include "frontend/sema/Checker.h"

namespace tenon::sema {
namespace {

class Walk {
public:
  Walk(const Entry &entry, AxisId axis) : entry(entry), places{axis} {
    for (auto &node : entry.nodes) // the same places under other names: x[T -> S]
      if (node.op == Op::Rename)
        for (size_t i = 0; i < node.axesFrom.size(); ++i)
          if (along(node.axesFrom[i]) || along(node.axesTo[i])) {
            places.push_back(node.axesFrom[i]);
            places.push_back(node.axesTo[i]);
          }
  }

  /// What in `node` needs places that come later; empty if nothing does.
  std::string objection(const Node &node) const {
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
    case Op::Sample:
    case Op::CrossEntropy:
      return over(node) ? "a sum, maximum or norm over it" : "";
    case Op::Attend:
      return attend(node);
    default:
      return "";
    }
  }

private:
  const Entry &entry;
  std::vector<AxisId> places;
  bool along(AxisId axis) const { return includes(places, axis); }
  bool over(const Node &node) const {
    for (AxisId axis : node.axesFrom)
      if (along(axis))
        return true;
    return false;
  }
  std::string window(const Node &node) const {
    for (size_t i = 0; i < node.axesFrom.size(); ++i) {
      Size reach = node.padLow + 1; // windows that end at their own place
      if (along(node.axesFrom[i]) && (node.stride != 1 || node.padHigh != 0 || entry.axes[node.axesTo[2 * i + 1]].size != reach))
        return "a window that is not causal (stride 1, pad = (K - 1, 0))";
    }
    return "";
  }
  bool mentionsPlaces(NodeId id) const {
    for (AxisId axis : entry.nodes[id].type.axes)
      if (along(axis))
        return true;
    return false;
  }
  /// key < n, where n does not vary along the walk: keys inside the first window, such as a source text.
  bool boundsKey(NodeId mask, AxisId key) const {
    const Node &node = entry.nodes[mask];
    if (node.op == Op::And)
      return boundsKey(node.operands[0], key) || boundsKey(node.operands[1], key);
    if (node.op == Op::Transpose || node.op == Op::Expand)
      return boundsKey(node.operands[0], key);
    if (node.op != Op::Less && node.op != Op::LessEqual)
      return false;
    const Node &left = entry.nodes[node.operands[0]];
    return left.op == Op::Iota && left.type.axes[0] == key && !mentionsPlaces(node.operands[1]);
  }
  std::string attend(const Node &node) const {
    const AttendInfo &info = *node.attend;
    if (!along(info.key))
      return "";
    std::vector<NodeId> masks(node.operands.begin() + info.scores, node.operands.begin() + info.scores + info.masks);
    for (NodeId mask : masks)
      if (boundsKey(mask, info.key))
        return "";
    for (AxisId query : info.queries) {
      if (!along(query))
        continue;
      Entry extended = entry;
      auto add = [&](Op op, Element element, std::vector<AxisId> axes, std::vector<NodeId> operands) {
        Node made = makeNode(op, {element, std::move(axes), {}});
        made.operands = std::move(operands);
        extended.nodes.push_back(made);
        return NodeId(extended.nodes.size() - 1);
      };
      NodeId keyPlace = add(Op::Iota, Element::Int, {info.key}, {});
      NodeId queryPlace = add(Op::Iota, Element::Int, {query}, {});
      NodeId goal = add(Op::LessEqual, Element::Bool, {query, info.key}, {keyPlace, queryPlace});
      if (proveCondition(extended, goal, masks).proved)
        return "";
    }
    return "an attend whose masks do not hide later keys";
  }
};

} // namespace

void Checker::checkWalk(const Entry &entry, AxisId axis) {
  Walk walk(entry, axis);
  for (auto &node : entry.nodes) {
    std::string objection = walk.objection(node);
    if (objection.empty())
      continue;
    auto *mistake = error("T0416", node.range,
                          "`out " + entry.name + "(" + entry.walkedAxis + ")` walks axis " + entry.walkedAxis +
                              ", but here places may need later ones: " + objection);
    if (mistake)
      for (auto *statement : outStatements)
        if (statement->name.text == entry.name && !statement->walked.empty())
          mistake->related.push_back({statement->walked[0].range, "walked here"});
  }
}

} // namespace tenon::sema
