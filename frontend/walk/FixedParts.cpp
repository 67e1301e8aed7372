#include "frontend/walk/FixedParts.h"
#include "frontend/graph/Prune.h"
#include "frontend/walk/Walk.h"
#include <algorithm>

namespace tenon::sema {

std::map<AxisId, Size> axesBehindFixed(const Entry &entry, const std::vector<AxisId> &places) {
  std::map<AxisId, Size> found;
  auto walks = [&](AxisId axis) { return includes(places, axis) || found.count(axis); };
  auto note = [&](AxisId axis, const Size &fixed) { return !includes(places, axis) && found.emplace(axis, fixed).second; };
  const std::optional<unsigned> dim = includes(places, entry.walked) ? walkedDim(entry, entry.walked) : std::nullopt;
  for (bool changed = true; changed;) {
    changed = false;
    for (const Node &node : entry.nodes) {
      for (size_t i = 0; node.op == Op::Rename && i < node.axesFrom.size(); ++i)
        for (auto [from, to] : {std::pair(node.axesFrom[i], node.axesTo[i]), std::pair(node.axesTo[i], node.axesFrom[i])})
          if (auto known = found.find(from); known != found.end())
            changed |= note(to, known->second);
      if (node.op != Op::Concat || !walks(node.axesFrom.back()) ||
          std::any_of(node.axesFrom.begin(), node.axesFrom.end() - 1, walks))
        continue;
      const AxisId last = node.axesFrom.back();
      auto fixed = subtract(entry.axes[node.axesTo[0]].size, entry.axes[last].size);
      if (auto inner = found.find(last); fixed && inner != found.end())
        fixed = add(*fixed, inner->second);
      if (fixed && !(dim && fixed->coefficients().count(*dim)))
        changed |= note(node.axesTo[0], *fixed);
    }
  }
  return found;
}

namespace {

class Splitting {
public:
  explicit Splitting(const Entry &old)
      : old(old), places(placesOf(old, old.walked)), fixed(axesBehindFixed(old, places)), made(old.nodes.size()),
        producer(old.stacks.size(), kNoNode), fresh(old) {
    fresh.nodes.clear();
    for (NodeId id = 0; id < old.nodes.size(); ++id)
      if (isLoop(old.nodes[id]))
        producer[old.nodes[id].index] = id;
  }
  Entry run();

private:
  struct Made {
    NodeId whole = kNoNode, part[2] = {kNoNode, kNoNode}; // fixed places, those of the walk
    bool isJoined = false;                                // of both, by a concat that is above it
  };
  bool isAlong(AxisId axis) const { return includes(places, axis) || fixed.count(axis); }
  bool joins(const Node &node) const { return node.op == Op::Concat && isAlong(node.axesFrom.back()); }
  AxisId partAxis(AxisId axis, unsigned part);
  NodeId emit(Node node) {
    fresh.nodes.push_back(std::move(node));
    return NodeId(fresh.nodes.size() - 1);
  }
  bool isJoined(const Node &node) const;
  void split(NodeId id, AxisId axis);
  NodeId part(NodeId id, AxisId axis, unsigned which);
  NodeId partOfConcat(const Node &node, unsigned which);
  NodeId partOfArgument(const Node &node, AxisId axis, unsigned which);
  NodeId partOfTable(NodeId id, AxisId axis, unsigned which);
  bool goesPlaceByPlace(const Node &node, AxisId axis) const;
  Node with(const Node &node, AxisId axis, AxisId instead) const;
  Node in(const Node &place, Op op, AxisId axis, AxisId instead) const;
  Entry pruned() const;

  const Entry &old;
  const std::vector<AxisId> places;
  const std::map<AxisId, Size> fixed;
  std::vector<Made> made; // by node of `old`
  std::vector<NodeId> producer;
  std::map<AxisId, AxisId> partAxes[2];
  Entry fresh;
};

AxisId Splitting::partAxis(AxisId axis, unsigned part) {
  auto [known, isNew] = partAxes[part].try_emplace(axis, AxisId(fresh.axes.size()));
  if (isNew && part == 0)
    fresh.axes.push_back({old.axes[axis].name + "_fixed", fixed.at(axis)});
  else if (isNew)
    fresh.axes.push_back({old.axes[old.walked].name, old.axes[old.walked].size});
  return known->second;
}

/// `node` with `instead` where it has `axis`.
Node Splitting::with(const Node &node, AxisId axis, AxisId instead) const {
  Node copy = node;
  std::replace(copy.type.axes.begin(), copy.type.axes.end(), axis, instead);
  return copy;
}

/// Another op of the type `with` gives, where `place` stands.
Node Splitting::in(const Node &place, Op op, AxisId axis, AxisId instead) const {
  Node made = with(makeNode(op, place.type), axis, instead);
  made.stack = place.stack;
  made.range = place.range;
  made.caller = place.caller;
  return made;
}

/// Whether a value along such an axis has something of the walk: others are tables.
bool Splitting::isJoined(const Node &node) const {
  if (std::none_of(node.type.axes.begin(), node.type.axes.end(), [&](AxisId axis) { return fixed.count(axis) > 0; }))
    return false;
  if (node.op == Op::BodyArgument)
    return made[old.nodes[producer[node.stack]].operands[node.index]].isJoined;
  return joins(node) ||
         std::any_of(node.operands.begin(), node.operands.end(), [&](NodeId operand) { return made[operand].isJoined; });
}

/// Whether each place along `axis` is made of that place of the operands alone.
bool Splitting::goesPlaceByPlace(const Node &node, AxisId axis) const {
  const bool makesIt = includes(node.axesFrom, axis) || includes(node.axesTo, axis);
  switch (node.op) {
  case Op::Rename:
    return true;
  case Op::Result:
    return !makesIt && old.nodes[node.operands[0]].op == Op::Top;
  case Op::Attend:
  case Op::Stack:
  case Op::Scan:
  case Op::Sample:
  case Op::Noise:
  case Op::Dropout:
    return false;
  default:
    return !makesIt && !node.operands.empty();
  }
}

/// Of fixed places what stands in front of the last operand, of the walk's the last one; where that is such a concat itself, it
/// has some of both.
NodeId Splitting::partOfConcat(const Node &node, unsigned which) {
  const AxisId axis = node.axesTo[0], last = node.axesFrom.back();
  const Made &end = made[node.operands.back()];
  Node copy = with(node, axis, partAxis(axis, which));
  copy.operands.clear();
  copy.axesFrom.clear();
  copy.axesTo = {partAxis(axis, which)};
  auto take = [&](NodeId operand, AxisId from) {
    copy.operands.push_back(operand);
    copy.axesFrom.push_back(from);
  };
  for (size_t i = 0; which == 0 && i + 1 < node.operands.size(); ++i)
    take(made[node.operands[i]].whole, node.axesFrom[i]);
  if (fixed.count(last))
    take(end.part[which], partAxis(last, which));
  else if (which == 1)
    take(end.whole, last);
  if (includes(copy.operands, kNoNode))
    return kNoNode;
  if (copy.operands.size() == 1)
    copy.op = Op::Rename;
  return emit(copy);
}

/// What a body is given is taken where it is made.
NodeId Splitting::partOfArgument(const Node &node, AxisId axis, unsigned which) {
  if (node.index < old.stacks[node.stack].carries)
    return kNoNode;
  const NodeId outside = made[old.nodes[producer[node.stack]].operands[node.index]].part[which];
  if (outside == kNoNode)
    return kNoNode;
  Node spread = in(node, Op::Expand, axis, partAxis(axis, which));
  if (fresh.nodes[outside].type.axes == spread.type.axes)
    return outside;
  spread.operands = {outside};
  return emit(spread);
}

NodeId Splitting::partOfTable(NodeId id, AxisId axis, unsigned which) {
  const Node &node = old.nodes[id];
  Node slice = in(node, Op::Slice, axis, partAxis(axis, which));
  slice.operands = {made[id].whole};
  slice.axesFrom = {axis};
  slice.axesTo = {partAxis(axis, which)};
  slice.size = which ? fixed.at(axis) : Size(0);
  return emit(slice);
}

/// kNoNode: the value is not made place by place.
NodeId Splitting::part(NodeId id, AxisId axis, unsigned which) {
  const Node &node = old.nodes[id];
  if (joins(node) && node.axesTo[0] == axis)
    return partOfConcat(node, which);
  if (node.op == Op::BodyArgument && made[id].isJoined)
    return partOfArgument(node, axis, which);
  Node copy = with(node, axis, partAxis(axis, which));
  if (node.op == Op::Iota && which == 1) {
    Node first = makeNode(Op::SizeValue, {Element::Int, {}, {}}), sum = makeNode(Op::Add, copy.type);
    first.size = fixed.at(axis);
    first.range = sum.range = node.range;
    sum.operands = {emit(copy), emit(first)};
    return emit(sum);
  }
  if (node.op == Op::Iota)
    return emit(copy);
  bool isMade = goesPlaceByPlace(node, axis);
  AxisId inside = axis; // in the operands
  for (size_t i = 0; node.op == Op::Rename && i < node.axesTo.size(); ++i)
    if (node.axesTo[i] == axis) {
      inside = node.axesFrom[i];
      copy.axesFrom[i] = partAxis(inside, which);
      copy.axesTo[i] = partAxis(axis, which);
    }
  for (NodeId &operand : copy.operands) {
    const bool hasIt = includes(old.nodes[operand].type.axes, inside);
    operand = hasIt ? made[operand].part[which] : made[operand].whole;
    isMade &= operand != kNoNode;
  }
  if (isMade)
    return emit(copy);
  return made[id].isJoined ? kNoNode : partOfTable(id, axis, which);
}

void Splitting::split(NodeId id, AxisId axis) {
  const Node &node = old.nodes[id];
  Made &own = made[id];
  for (unsigned which : {0u, 1u})
    own.part[which] = part(id, axis, which);
  if (!own.isJoined || own.part[0] == kNoNode || own.part[1] == kNoNode)
    return;
  Node joined = in(node, Op::Concat, axis, axis);
  joined.operands = {own.part[0], own.part[1]};
  joined.axesFrom = {partAxis(axis, 0), partAxis(axis, 1)};
  joined.axesTo = {axis};
  own.whole = emit(joined);
}

Entry Splitting::pruned() const {
  Live live(fresh);
  for (const auto &[name, node] : fresh.results)
    live.use(node);
  auto useNext = [&](const std::vector<std::pair<uint32_t, NodeId>> &next) {
    for (const auto &[state, node] : next)
      live.use(node);
  };
  useNext(fresh.nextStates);
  for (const StackInfo &info : fresh.stacks)
    useNext(info.nextStates);
  std::vector<std::string> inputs;
  for (const Input &input : old.inputs)
    inputs.push_back(input.name);
  Compaction compaction(fresh, live);
  compaction.keepsDims = true;
  compaction.run(inputs);
  Entry entry = std::move(compaction.entry);
  entry.walked = compaction.axis(old.walked);
  auto copyNext = [&](const std::vector<std::pair<uint32_t, NodeId>> &from, std::vector<std::pair<uint32_t, NodeId>> &to) {
    for (const auto &[state, node] : from)
      to.push_back({compaction.state(state), compaction.number(node)});
  };
  copyNext(fresh.nextStates, entry.nextStates);
  for (uint32_t body = 0; body < fresh.stacks.size(); ++body)
    if (compaction.stackOf(body) != ~0u)
      copyNext(fresh.stacks[body].nextStates, entry.stacks[compaction.stackOf(body)].nextStates);
  return entry;
}

Entry Splitting::run() {
  if (fixed.empty())
    return old;
  for (NodeId id = 0; id < old.nodes.size(); ++id) { // operands, and what a stack starts from, stand before what is made of them
    Node copy = old.nodes[id];
    for (NodeId &operand : copy.operands)
      operand = made[operand].whole;
    made[id].whole = emit(copy);
    made[id].isJoined = isJoined(old.nodes[id]);
    AxisId axis = 0;
    const auto along = std::count_if(copy.type.axes.begin(), copy.type.axes.end(), [&](AxisId each) {
      axis = isAlong(each) ? each : axis;
      return isAlong(each);
    });
    if (along == 1 && fixed.count(axis) && !isInWalkedScan(old, copy.stack, places)) // what a scan reads is kept outside of it
      split(id, axis);
  }
  auto renumber = [&](NodeId &node) { node = made[node].whole; };
  for (auto &[name, node] : fresh.results)
    renumber(node);
  for (auto &[state, node] : fresh.nextStates)
    renumber(node);
  for (StackInfo &info : fresh.stacks) {
    for (NodeId &node : info.results)
      renumber(node);
    if (info.until != kNoNode)
      renumber(info.until);
    for (auto &[state, node] : info.nextStates)
      renumber(node);
  }
  return pruned();
}

} // namespace

Entry splitFixedParts(const Entry &entry) { return Splitting(entry).run(); }

} // namespace tenon::sema
