// `out step(T)`: a call brings a window of new places along T, earlier ones are kept. Legal if no place needs a later one:
// everything along T is per place, except attends whose mask hides later keys, scans, running sums and causal windows
// (language.md 3.2).
#include "frontend/sema/Checker.h"
#include "frontend/sema/Step.h"
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

namespace {

class Walk {
public:
  Walk(const Entry &entry, AxisId axis)
      : entry(entry), places(placesOf(entry, axis)), dim(walkedDim(entry, axis)), counting(entry.nodes.size()) {
    for (NodeId id = 0; id < entry.nodes.size(); ++id) { // operands come first
      const Node &node = entry.nodes[id];
      counting[id] = node.op == Op::SizeValue && countsPlaces(node.size);
      for (NodeId operand : node.operands)
        counting[id] = counting[id] || (node.type.element == Element::Int && isElementwise(node.op) && counting[operand]);
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
      return over(node) ? "a sum, maximum or norm over it" : overTable(node);
    case Op::Attend:
      return attend(node);
    case Op::Input:
      for (AxisId axis : node.type.axes)
        if (!along(axis) && countsPlaces(entry.axes[axis].size))
          return "an input along " + entry.axes[axis].name + ", whose size depends on it";
      return "";
    default:
      return isElementwise(node.op) ? numberOfPlaces(node) : "";
    }
  }
  /// A value that leaves the entry, or goes from layer to layer.
  std::string objectionToResult(const Node &node) const {
    unsigned count = 0;
    for (AxisId axis : node.type.axes)
      count += along(axis);
    return count > 1 ? "a value for pairs of places outside of an attend" : "";
  }

private:
  const Entry &entry;
  std::vector<AxisId> places;
  std::optional<unsigned> dim; // the number of places; nothing if that is a number
  std::vector<bool> counting;  // integers that the number of places enters
  static bool isElementwise(Op op) { return op >= Op::Neg && op <= Op::Select; }
  bool countsPlaces(const Size &size) const { return dim && size.coefficients().count(*dim); }
  /// A value at a place must not depend on how many places follow it. (In an index the number may cancel: tables that count from the end.)
  std::string numberOfPlaces(const Node &node) const {
    for (NodeId operand : node.operands)
      if (node.type.element == Element::Real && counting[operand])
        return "the number of places, taken as a value";
    return "";
  }
  std::string overTable(const Node &node) const {
    for (AxisId axis : node.axesFrom)
      if (countsPlaces(entry.axes[axis].size))
        return "a sum, maximum or norm over " + entry.axes[axis].name + ", whose size depends on it";
    return "";
  }
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
    if (!along(info.key) && !countsPlaces(entry.axes[info.key].size))
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
  std::set<NodeId> leaving;
  for (auto &[name, node] : entry.results)
    leaving.insert(node);
  for (auto &[state, node] : entry.nextStates)
    leaving.insert(node);
  for (auto &stack : entry.stacks)
    leaving.insert(stack.results.begin(), stack.results.end());
  std::set<std::pair<uint32_t, uint32_t>> reported; // a mean is a sum and a division: one mistake
  for (NodeId id = 0; id < entry.nodes.size(); ++id) {
    const Node &node = entry.nodes[id];
    std::string objection = walk.objection(node);
    if (objection.empty() && leaving.count(id))
      objection = walk.objectionToResult(node);
    if (objection.empty() || !reported.insert({node.range.begin, node.range.end}).second)
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
