// `out step(T)`: what is not legal in an entry that walks an axis, at its place in the text.
#include "frontend/Dims.h"
#include "frontend/sema/Checker.h"
#include "frontend/walk/Walk.h"
#include <set>
#include <utility>

namespace tenon::sema {

/// A product of the walked dim and others, which a size is made of: it is no matter of some places more.
static std::string productWith(const Entry &entry, AxisId walked) {
  const auto dim = walkedDim(entry, walked);
  for (unsigned i = 0; i < entry.dims.size() && dim; ++i)
    if (isProduct(entry, i) && dependsOn(entry, Size::dim(i), *dim))
      return entry.dims[i];
  return "";
}

namespace {

/// Values whose mistake has been reported, by the axes along which it was made: what reads them along these is wrong for no
/// reason of its own.
class Refused {
public:
  explicit Refused(const Entry &entry) : entry(entry), along(entry.nodes.size()) {}

  /// Nodes are asked in order. Whether `id` reads such a value.
  bool reads(NodeId id) {
    const Node &node = entry.nodes[id];
    bool found = node.op == Op::Concat && concats.count(node.axesTo[0]);
    for (NodeId operand : node.operands)
      for (AxisId axis : along[operand]) {
        const bool isMoved = includes(node.axesFrom, axis);
        found |= isMoved || (node.attend && (node.attend->key == axis || includes(node.attend->queries, axis)));
        if (includes(node.type.axes, axis))
          along[id].insert(axis);
        if (isMoved)
          along[id].insert(node.axesTo.begin(), node.axesTo.end());
      }
    return found;
  }
  void add(NodeId id) {
    const Node &node = entry.nodes[id];
    if (node.op == Op::Concat) // keys and values are joined by two of them
      concats.insert(node.axesTo[0]);
    for (AxisId axis : node.type.axes)
      if (includes(node.axesFrom, axis) || includes(node.axesTo, axis) || (node.attend && includes(node.attend->queries, axis)))
        along[id].insert(axis);
  }

private:
  const Entry &entry;
  std::vector<std::set<AxisId>> along;
  std::set<AxisId> concats;
};

} // namespace

/// What shows a place nothing later, in place of what does.
static std::string remedyFor(const Entry &entry, const Node &node, AxisId walked) {
  const std::string &name = entry.axes[walked].name;
  if (node.op == Op::Attend)
    return "`mask j <= i` hides the later keys, where i is the binder of " + name + " and j that of the keys";
  if (node.op == Op::Sum && includes(node.axesFrom, walked))
    return "cumsum[" + name + "](x) is the sum of the places so far, divided by 1 + iota[" + name + "]() their mean";
  return "";
}

bool Checker::walksText(const Entry &entry, AxisId axis) {
  for (const Input &input : entry.inputs) // what data tasks and generation mean by ids[B, T]: B texts, T their symbols
    if (input.name == "ids" && input.isIndex && input.type.axes.size() == 2 && input.type.axes[1] != axis) {
      const std::string own = entry.axes[input.type.axes[0]].name, along = entry.axes[input.type.axes[1]].name;
      auto *mistake = error("T0416", entry.walkedRange,
                            "`out " + entry.name + "(" + entry.walkedAxis + ")` walks axis " + entry.walkedAxis +
                                ", but a text goes on along " + along + ", the second axis of ids[" + own + ", " + along + "]");
      if (mistake)
        mistake->notes.push_back({"help", "did you mean out " + entry.name + "(" + along + ")?"});
      return false;
    }
  return true;
}

void Checker::checkWalk(const Entry &entry, AxisId axis) {
  if (!walksText(entry, axis))
    return;
  if (const std::string product = productWith(entry, axis); !product.empty()) {
    error("T0416", entry.walkedRange,
          "`out " + entry.name + "(" + entry.walkedAxis + ")` walks axis " + entry.walkedAxis +
              ", but a size here is a product with it: " + product);
    return;
  }
  Walk walk(entry, axis);
  std::set<NodeId> leavingEntry, leaving;
  for (auto &[name, node] : entry.results)
    leavingEntry.insert(node);
  for (auto &stack : entry.stacks)
    leaving.insert(stack.results.begin(), stack.results.end());
  std::set<std::pair<uint32_t, uint32_t>> reported; // a mean is a sum and a division: one mistake
  auto report = [&](ast::Range range, const std::string &objection, const std::string &help = {}) {
    if (objection.empty() || !reported.insert({range.begin, range.end}).second)
      return;
    auto *mistake =
        error("T0416", range,
              "`out " + entry.name + "(" + entry.walkedAxis + ")` walks axis " + entry.walkedAxis + ", but " + objection);
    if (mistake && !help.empty())
      mistake->notes.push_back({"help", help});
    if (mistake)
      for (auto *statement : outStatements)
        if (statement->name.text == entry.name && !statement->walked.empty())
          mistake->related.push_back({statement->walked[0].range, "walked here"});
  };
  auto mayGoOn = [&](ast::Range range) {
    failed |= !session.spendProof(range, std::exchange(walk.effort, 0));
    return session.mayGoOn();
  };
  Refused refused(entry);
  for (NodeId id = 0; id < entry.nodes.size() && mayGoOn(entry.nodes[id].range); ++id) {
    if (refused.reads(id))
      continue;
    std::string objection = walk.objection(entry.nodes[id]);
    if (!objection.empty())
      refused.add(id);
    if (objection.empty() && (leaving.count(id) || leavingEntry.count(id)))
      objection = walk.objectionToResult(entry.nodes[id], leavingEntry.count(id));
    if (!objection.empty())
      report(entry.nodes[id].caller, "here places may need later ones: " + objection, remedyFor(entry, entry.nodes[id], axis));
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
