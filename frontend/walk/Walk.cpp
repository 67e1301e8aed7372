#include "frontend/walk/Walk.h"
#include "frontend/graph/Graph.h"
#include "frontend/walk/WalkDrift.h"
#include <algorithm>
#include <set>

namespace tenon::sema {

std::vector<AxisId> placesOf(const Entry &entry, AxisId walked) {
  std::set<AxisId> places{walked};
  for (size_t before = 0; before != places.size();) {
    before = places.size();
    auto same = [&](AxisId a, AxisId b) {
      if (places.count(a) || places.count(b))
        places.insert({a, b});
    };
    for (auto &node : entry.nodes)
      for (size_t i = 0; i < node.axesFrom.size(); ++i)
        if (node.op == Op::Rename)
          same(node.axesFrom[i], node.axesTo[i]);
        else if (node.op == Op::Window && entry.axes[node.axesFrom[i]].size == entry.axes[node.axesTo[2 * i]].size)
          same(node.axesFrom[i], node.axesTo[2 * i]); // a window for each place
  }
  return {places.begin(), places.end()};
}

const Node *goesOnFromLastPlace(const Entry &entry) {
  const std::vector<AxisId> places = placesOf(entry, entry.walked);
  for (const Node &node : entry.nodes)
    for (size_t i = 0; i < node.axesFrom.size(); ++i)
      if ((node.op == Op::Scan || (node.op == Op::Window && node.windows[i].padLow > 0)) &&
          std::find(places.begin(), places.end(), node.axesFrom[i]) != places.end())
        return &node;
  return nullptr;
}

std::optional<unsigned> walkedDim(const Entry &entry, AxisId walked) {
  const Size &size = entry.axes[walked].size;
  bool plain = size.constant() == 0 && size.coefficients().size() == 1 && size.coefficients().begin()->second == 1;
  return plain ? std::optional<unsigned>(size.coefficients().begin()->first) : std::nullopt;
}

bool isInWalkedScan(const Entry &entry, uint32_t body, const std::vector<AxisId> &places) {
  for (; body != kEntryBody; body = entry.stacks[body].parent)
    if (entry.stacks[body].isScan && includes(places, entry.stacks[body].historyAxis))
      return true;
  return false;
}

bool readsPlaceOfScan(const Entry &entry, const Node &gather, const std::vector<AxisId> &places) {
  const Node &index = entry.nodes[gather.operands[1]];
  return includes(places, gather.axesFrom[0]) && index.op == Op::Depth && index.stack != kEntryBody &&
         entry.stacks[index.stack].isScan && includes(places, entry.stacks[index.stack].historyAxis);
}

namespace {

/// From `id` down through what changes no values; `axes` are then those of the node that is reached.
NodeId throughViews(const Entry &entry, NodeId id, std::vector<AxisId> &axes) {
  for (const Node *node = &entry.nodes[id]; node->op == Op::StopGradient || node->op == Op::Rename || node->op == Op::Transpose;
       node = &entry.nodes[id]) {
    for (AxisId &axis : axes)
      if (auto to = std::find(node->axesTo.begin(), node->axesTo.end(), axis); node->op == Op::Rename && to != node->axesTo.end())
        axis = node->axesFrom[size_t(to - node->axesTo.begin())];
    id = node->operands[0];
  }
  return id;
}

bool isLastPlace(const Entry &entry, NodeId index, const Size &places) {
  const Node &node = entry.nodes[index];
  const auto last = subtract(places, Size(1));
  return last && ((node.op == Op::SizeValue && node.size == *last) || (node.op == Op::Constant && Size(node.integer) == *last));
}

} // namespace

bool endsRecurrence(const Entry &entry, uint32_t state, NodeId next, AxisId walked) {
  const std::vector<AxisId> places = placesOf(entry, walked);
  std::vector<AxisId> axes = entry.nodes[next].type.axes;
  const std::vector<AxisId> own = axes;
  const Node &last = entry.nodes[throughViews(entry, next, axes)];
  auto beginsWithState = [&](const Node &scan, unsigned carry) {
    std::vector<AxisId> from = axes;
    const Node &start = entry.nodes[throughViews(entry, scan.operands[carry], from)];
    return includes(places, scan.axesFrom[0]) && start.op == Op::State && start.index == state && from == own;
  };
  if (last.op == Op::Result && entry.nodes[last.operands[0]].op == Op::Scan) // of a state that a layer in the scan sets
    if (const Node &scan = entry.nodes[last.operands[0]]; last.index < entry.stacks[scan.index].carries)
      return beginsWithState(scan, last.index);
  if (last.op != Op::Gather || !includes(places, last.axesFrom[0]) ||
      !isLastPlace(entry, last.operands[1], entry.axes[last.axesFrom[0]].size))
    return false;
  const Node &all = entry.nodes[throughViews(entry, last.operands[0], axes)];
  if (all.op != Op::Result || entry.nodes[all.operands[0]].op != Op::Scan)
    return false;
  const Node &scan = entry.nodes[all.operands[0]];
  const StackInfo &info = entry.stacks[scan.index];
  for (unsigned carry = 0; carry < info.carries; ++carry)
    if (all.index >= info.carries && info.results[all.index] == info.results[carry] && beginsWithState(scan, carry))
      return true;
  return false;
}

std::string Walk::objection(const Node &node) const {
  switch (node.op) {
  case Op::Merge:
  case Op::Split:
    return over(node) ? "a split or merge of " + it(node) : "";
  case Op::Slice:
    return over(node) ? "a slice of " + it(node) : "";
  case Op::Gather:
    return over(node) && !readsPlaceOfScan(entry, node, places) ? "places picked by an index" : "";
  case Op::Cumsum:
    return endsAlong(node.axesFrom[0]) ? "a running sum over " + it(node) : "";
  case Op::Concat:
    return concat(node);
  case Op::Flip:
    return over(node) ? "flip" : "";
  case Op::Put:
    return over(node) ? "put" : "";
  case Op::Window:
    return window(node);
  case Op::Softmax:
  case Op::LogSoftmax:
    return over(node) ? "a softmax over " + it(node) + "; an attend with " + entry.axes[node.axesFrom[0]].name +
                            " as its key axis keeps what it needs"
                      : overTable(node);
  case Op::Dot:
  case Op::Sum:
    return sum(node);
  case Op::ReduceMax:
  case Op::ReduceMin:
  case Op::All:
  case Op::Any:
  case Op::ArgMax:
  case Op::Normalize:
  case Op::Top:
  case Op::CrossEntropy:
    return over(node) ? "a sum, maximum or norm over " + it(node) : overTable(node);
  case Op::Sample:
  case Op::Noise:
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
    if (along(axis) || endsAlong(axis))
      return "draws along it, which are other ones when there are more places";
  if (standsInScan(node))
    return "draws at its places, which are counted from the first one of a call";
  return over(node) ? "a draw over it" : overTable(node);
}

std::string Walk::objectionToResult(const Node &node, bool leavesEntry) const {
  unsigned count = 0;
  for (AxisId axis : node.type.axes)
    count += along(axis) || endsAlong(axis);
  for (AxisId axis : node.type.axes)
    if (endsAlong(axis))
      return std::string(leavesEntry ? "a result" : "a value that goes from layer to layer") + " along " + name(axis);
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
    if (endsAlong(axis))
      return what + " along " + name(axis);
    else if (!along(axis) && countsPlaces(entry.axes[axis].size))
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
    if (along(axis) || endsAlong(axis))
      return true;
  return false;
}

std::string Walk::name(AxisId axis) const { return entry.axes[axis].name + ", which ends with its places"; }

/// The axis that `node` runs over, where the sentence has named the walked one.
std::string Walk::it(const Node &node) const {
  for (AxisId axis : node.axesFrom)
    if (endsAlong(axis))
      return name(axis);
  return "it";
}

/// What is there before all places may stand in front of them. What stands behind would move with their number.
std::string Walk::concat(const Node &node) const {
  const AxisId last = node.axesFrom.back();
  if (along(node.axesTo[0]))
    return "a concat along it";
  for (size_t i = 0; i + 1 < node.axesFrom.size(); ++i) {
    const AxisId axis = node.axesFrom[i], next = node.axesFrom[i + 1];
    const bool isWalked = along(axis) || endsAlong(axis), endsWalked = along(next) || endsAlong(next);
    if (isWalked && endsWalked)
      return "a concat of two parts along it";
    const std::string &before = entry.axes[axis].name, &after = entry.axes[next].name;
    if (isWalked)
      return "a concat in which " + after + " stands behind " + before +
             ", where the places of later calls come; in front of it, " + after + " + " + before + ", it stays where it is";
    if ((along(last) || endsAlong(last)) && countsPlaces(entry.axes[axis].size))
      return "a concat in which " + before + ", whose size depends on it, stands in front of it";
  }
  return "";
}

std::string Walk::window(const Node &node) const {
  for (size_t i = 0; i < node.axesFrom.size(); ++i) {
    const WindowSteps &steps = node.windows[i];
    auto reach = multiply(entry.axes[node.axesTo[2 * i + 1]].size, Size(steps.dilation)); // windows that end at their own place
    if (endsAlong(node.axesFrom[i]) || endsAlong(node.axesTo[2 * i]))
      return "windows of " + name(endsAlong(node.axesFrom[i]) ? node.axesFrom[i] : node.axesTo[2 * i]);
    if (!along(node.axesFrom[i]) && !along(node.axesTo[2 * i]))
      continue;
    if (steps.stride != 1)
      return "a window for every " + std::to_string(steps.stride) + " places";
    if (!along(node.axesFrom[i]) || steps.padHigh != 0 || !reach || *reach != Size(steps.padLow + steps.dilation))
      return "a window that ends at another place than its own: pad = ((K - 1) * dilation, 0) lets window i end at place i";
  }
  return "";
}

} // namespace tenon::sema
