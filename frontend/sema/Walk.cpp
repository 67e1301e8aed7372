// `out step(T)`: a call brings a window of new places along T, earlier ones are kept. Legal if no place needs a later one:
// everything along T is per place, except attends whose mask hides later keys, scans, running sums and causal windows
// (docs/language.md, "Entries that walk").
#include "frontend/sema/Checker.h"
#include "frontend/sema/Step.h"
#include "frontend/sema/WalkDrift.h"
#include <set>
#include <utility>

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
  Walk(const Entry &entry, AxisId axis) : entry(entry), places(placesOf(entry, axis)), dim(walkedDim(entry, axis)) {}

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
      return alongTable("an input", node);
    case Op::State:
      return alongTable("a state", node);
    default:
      return "";
    }
  }
  /// A value that goes from layer to layer, or leaves the entry.
  std::string objectionToResult(const Node &node, bool leavesEntry) const {
    unsigned count = 0;
    for (AxisId axis : node.type.axes)
      count += along(axis);
    if (count > 1)
      return "a value for pairs of places outside of an attend";
    return leavesEntry ? alongTable("a result", node) : "";
  }
  /// Every place of one call sees the old value of a state, those of the next call the new one.
  std::string objectionToNext(uint32_t state, NodeId value) const {
    const Node &node = entry.nodes[value];
    bool stays = node.op == Op::State && node.index == state;
    return stays ? "" : "state " + entry.states[state].path + " changes with every call, not with every place";
  }
  /// Values that depend on how many places there are.
  std::map<NodeId, std::string> objectionsToNumber() const {
    if (!dim)
      return {};
    WalkDrift drift(entry, *dim);
    effort += drift.effort;
    return drift.objections;
  }
  /// Of proofs, about microseconds.
  mutable uint64_t effort = 0;

private:
  const Entry &entry;
  std::vector<AxisId> places;
  std::optional<unsigned> dim; // the number of places; nothing if that is a number
  bool countsPlaces(const Size &size) const { return dim && size.coefficients().count(*dim); }
  std::string alongTable(const std::string &what, const Node &node) const {
    for (AxisId axis : node.type.axes)
      if (!along(axis) && countsPlaces(entry.axes[axis].size))
        return what + " along " + entry.axes[axis].name + ", whose size depends on it";
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
  /// The comparisons key < n in a mask, where n does not vary along the walk: keys inside the first window, such as a source
  /// text.
  std::vector<NodeId> keyBounds(std::vector<NodeId> masks, AxisId key) const {
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
  std::string attend(const Node &node) const {
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
};

} // namespace

void Checker::checkWalk(const Entry &entry, AxisId axis) {
  for (const Input &input : entry.inputs) // what data tasks and generation mean by ids[B, T]: B texts, T their symbols
    if (input.name == "ids" && input.isIndex && input.type.axes.size() == 2 && input.type.axes[1] != axis) {
      const std::string own = entry.axes[input.type.axes[0]].name, along = entry.axes[input.type.axes[1]].name;
      auto *mistake = error("T0416", entry.walkedRange,
                            "`out " + entry.name + "(" + entry.walkedAxis + ")` walks axis " + entry.walkedAxis +
                                ", but a text goes on along " + along + ", the second axis of ids[" + own + ", " + along + "]");
      if (mistake)
        mistake->notes.push_back({"help", "did you mean out " + entry.name + "(" + along + ")?"});
      return;
    }
  Walk walk(entry, axis);
  std::set<NodeId> leavingEntry, leaving;
  for (auto &[name, node] : entry.results)
    leavingEntry.insert(node);
  for (auto &stack : entry.stacks)
    leaving.insert(stack.results.begin(), stack.results.end());
  std::set<std::pair<uint32_t, uint32_t>> reported; // a mean is a sum and a division: one mistake
  auto report = [&](ast::Range range, const std::string &objection) {
    if (objection.empty() || !reported.insert({range.begin, range.end}).second)
      return;
    auto *mistake =
        error("T0416", range,
              "`out " + entry.name + "(" + entry.walkedAxis + ")` walks axis " + entry.walkedAxis + ", but " + objection);
    if (mistake)
      for (auto *statement : outStatements)
        if (statement->name.text == entry.name && !statement->walked.empty())
          mistake->related.push_back({statement->walked[0].range, "walked here"});
  };
  auto mayGoOn = [&](ast::Range range) {
    failed |= !session.spendProof(range, std::exchange(walk.effort, 0));
    return session.mayGoOn();
  };
  for (NodeId id = 0; id < entry.nodes.size() && mayGoOn(entry.nodes[id].range); ++id) {
    std::string objection = walk.objection(entry.nodes[id]);
    if (objection.empty() && (leaving.count(id) || leavingEntry.count(id)))
      objection = walk.objectionToResult(entry.nodes[id], leavingEntry.count(id));
    if (!objection.empty())
      report(entry.nodes[id].caller, "here places may need later ones: " + objection);
  }
  auto next = [&](const std::vector<std::pair<uint32_t, NodeId>> &nextStates) {
    for (auto &[state, value] : nextStates)
      report(entry.nodes[value].caller, walk.objectionToNext(state, value));
  };
  next(entry.nextStates);
  for (auto &stack : entry.stacks)
    next(stack.nextStates);
  if (!reported.empty() || !mayGoOn(entry.walkedRange))
    return; // of a value that needs later places nobody asks how it moves
  for (auto &[id, objection] : walk.objectionsToNumber())
    report(entry.nodes[id].caller, "a value here depends on how many places there are: " + objection);
  mayGoOn(entry.walkedRange);
}

} // namespace tenon::sema
