#include "frontend/walk/Prepare.h"
#include "frontend/graph/Prune.h"
#include "frontend/walk/KeptStates.h"
#include "frontend/walk/Walk.h"
#include <algorithm>

namespace tenon::sema {
namespace {

class Preparation {
public:
  explicit Preparation(const Entry &old)
      : old(old), places(placesOf(old, old.walked)), dim(walkedDim(old, old.walked)), producer(old.stacks.size(), kNoNode),
        still(old.nodes.size(), true), costly(old.nodes.size()), walk(old) {
    for (NodeId id = 0; id < old.nodes.size(); ++id)
      if (isLoop(old.nodes[id]))
        producer[old.nodes[id].index] = id;
  }
  std::optional<PreparedWalk> run();

private:
  // What does not depend on the walk, and what of it costs something.
  bool countsPlaces(const Size &size) const { return dim && size.coefficients().count(*dim); }
  bool alongWalk(const std::vector<AxisId> &axes) const;
  bool isStill(NodeId id) const;
  bool isCostly(NodeId id) const;
  std::vector<NodeId> sourcesOf(const Node &node) const;
  void findStill();
  void findCostly();
  // What is kept.
  void keepForReaders();
  void want(NodeId id);
  void keep(NodeId id);
  std::string pathOf(NodeId id) const;
  void keepInputs();
  // The two entries.
  Entry prepareEntry() const;
  Entry walkEntry() const;
  std::vector<std::string> inputOrder() const;

  const Entry &old;
  const std::vector<AxisId> places;
  const std::optional<unsigned> dim;
  std::vector<NodeId> producer; // of stacks and scans
  std::vector<bool> still, costly;
  Entry walk;                      // `old` with what is kept read from states
  std::map<NodeId, uint32_t> kept; // the states
  KeptStates states;
};

bool Preparation::alongWalk(const std::vector<AxisId> &axes) const {
  return std::any_of(axes.begin(), axes.end(),
                     [&](AxisId axis) { return includes(places, axis) || countsPlaces(old.axes[axis].size); });
}

/// What a node's value is made of: operands, or what flows into an argument or result of a loop.
std::vector<NodeId> Preparation::sourcesOf(const Node &node) const {
  const Node *loop = node.op == Op::BodyArgument                                    ? &old.nodes[producer[node.stack]]
                     : node.op == Op::Result && isLoop(old.nodes[node.operands[0]]) ? &old.nodes[node.operands[0]]
                                                                                    : nullptr;
  if (!loop)
    return isLoop(node) ? std::vector<NodeId>() : node.operands;
  const StackInfo &info = old.stacks[loop->index];
  const unsigned index = node.op == Op::Result ? bodyResultOf(info, node.index) : node.index;
  std::vector<NodeId> sources;
  if (index < info.carries || node.op == Op::BodyArgument)
    sources.push_back(loop->operands[index]);
  if (index < info.results.size())
    sources.push_back(info.results[index]);
  if (info.until != kNoNode)
    sources.push_back(info.until);
  return sources;
}

bool Preparation::isStill(NodeId id) const {
  const Node &node = old.nodes[id];
  if (alongWalk(node.type.axes) || alongWalk(node.axesFrom) || alongWalk(node.axesTo) || countsPlaces(node.size))
    return false;
  if (node.op == Op::Sample || node.op == Op::Noise || (node.op == Op::State && !old.states[node.index].ofModel))
    return false;
  const std::vector<NodeId> sources = sourcesOf(node);
  return std::all_of(sources.begin(), sources.end(), [&](NodeId source) { return still[source]; });
}

void Preparation::findStill() {
  // Scans with something that walks keep nothing of each place, and loops that may end early nothing of each round.
  std::vector<bool> isMixed(old.stacks.size());
  for (size_t body = 0; body < old.stacks.size(); ++body)
    isMixed[body] = old.stacks[body].isScan && alongWalk({old.stacks[body].historyAxis});
  for (bool changed = true; changed;) {
    changed = false;
    auto drop = [&](NodeId id) {
      changed = true;
      still[id] = false;
      const uint32_t body = old.nodes[id].stack;
      if (body != kEntryBody && (old.stacks[body].isScan || old.stacks[body].until != kNoNode))
        isMixed[body] = true;
    };
    for (NodeId id = 0; id < old.nodes.size(); ++id) {
      bool isInMixed = false;
      for (uint32_t body = old.nodes[id].stack; body != kEntryBody; body = old.stacks[body].parent)
        isInMixed |= isMixed[body];
      if (still[id] && (isInMixed || !isStill(id)))
        drop(id);
    }
  }
}

bool Preparation::isCostly(NodeId id) const {
  const Node &node = old.nodes[id];
  switch (node.op) {
  case Op::Constant:
  case Op::SizeValue:
  case Op::Iota:
  case Op::Input:
  case Op::Param:
  case Op::State:
  case Op::Depth:
  case Op::Sinusoid:
  case Op::Rename:
  case Op::Merge:
  case Op::Split:
  case Op::Expand:
  case Op::Transpose:
  case Op::Slice:
  case Op::Gather:
  case Op::Concat:
  case Op::Flip:
    break;
  default:
    if (!isElementwise(node.op))
      return true;
  }
  return std::any_of(node.operands.begin(), node.operands.end(), [&](NodeId operand) { return costly[operand]; });
}

void Preparation::findCostly() {
  for (NodeId id = 0; id < old.nodes.size(); ++id) // operands stand before what is made of them
    costly[id] = isCostly(id);
}

void Preparation::keepForReaders() {
  for (NodeId id = 0; id < old.nodes.size(); ++id)
    if (!still[id])
      for (NodeId source : sourcesOf(old.nodes[id]))
        want(source);
  for (const auto &[name, node] : old.results)
    want(node);
  for (const auto &[state, node] : old.nextStates)
    want(node);
  for (const StackInfo &info : old.stacks)
    for (const auto &[state, node] : info.nextStates)
      want(node);
}

/// `id` is read by what depends on the walk.
void Preparation::want(NodeId id) {
  if (!still[id] || !costly[id] || isLoop(old.nodes[id]))
    return;
  const Node &node = old.nodes[id];
  if (node.op == Op::Rename || node.op == Op::Transpose || node.op == Op::Expand)
    return want(node.operands[0]);
  if (!kept.count(id))
    keep(id);
}

/// The name of an input, or the layer whose contraction it is (with a bias, a function of its elements), or the stack whose
/// result it is, as the parameters have it, where the loops around are the layer's own.
std::string Preparation::pathOf(NodeId id) const {
  std::string path;
  for (NodeId at = id; path.empty();) {
    const Node &node = old.nodes[at];
    if (node.op == Op::Input)
      path = old.inputs[node.index].name;
    else if (node.layer)
      path = node.layer->path;
    else if (node.op == Op::Result && isLoop(old.nodes[node.operands[0]]))
      path = old.stacks[old.nodes[node.operands[0]].index].path;
    const bool isOfOne = node.op == Op::Split || node.op == Op::Merge || node.op == Op::Rename || isElementwise(node.op);
    auto next = std::find_if(node.operands.begin(), node.operands.end(), [&](NodeId operand) { return costly[operand]; });
    if (!isOfOne || next == node.operands.end())
      break;
    at = *next;
  }
  const auto loops = std::ptrdiff_t(roundsAround(old.stacks, old.nodes[id].stack).size());
  if (path.empty() || std::count(path.begin(), path.end(), '*') != loops)
    return keptPath(old, old.stacks, old.nodes[id].stack, "kept");
  return old.name + "." + path;
}

void Preparation::keep(NodeId id) {
  const Node &node = old.nodes[id];
  const uint32_t state = states.add(walk, old.stacks, node, pathOf(id));
  kept[id] = state;
  Node read = makeNode(Op::State, node.type);
  read.index = state;
  read.stack = node.stack;
  read.range = node.range;
  read.caller = node.caller;
  walk.nodes[id] = std::move(read);
}

/// Those that the walk still reads although they do not run along it.
void Preparation::keepInputs() {
  Live live(walk);
  for (const auto &[name, node] : walk.results)
    live.use(node);
  for (NodeId id = 0; id < old.nodes.size(); ++id) {
    if (!live.node[id] || walk.nodes[id].op != Op::Input || !still[id])
      continue;
    const Input &input = old.inputs[old.nodes[id].index];
    keep(id);
    State &state = walk.states[kept[id]];
    if (input.isIndex)
      state.bound = input.bound;
  }
}

std::vector<std::string> Preparation::inputOrder() const {
  std::vector<std::string> names;
  for (const Input &input : old.inputs)
    names.push_back(input.name);
  return names;
}

Entry Preparation::prepareEntry() const {
  Entry whole = old;
  whole.results.clear();
  for (Node &node : whole.nodes)
    if (node.op == Op::Stack)
      node.type = {}; // that of its first carry, which may be gone
  whole.states = walk.states;
  Live live(whole);
  for (const auto &[id, state] : kept) {
    live.use(id);
    for (uint32_t body = old.nodes[id].stack; body != kEntryBody; body = old.nodes[producer[body]].stack)
      live.use(producer[body]);
  }
  Compaction compaction(whole, live);
  for (const auto &[id, state] : kept)
    compaction.stateKept[state] = true;
  compaction.run(inputOrder());
  Entry entry = std::move(compaction.entry);
  entry.name = old.name + ".prepare";
  entry.walkedAxis.clear();
  for (State &state : entry.states) {
    state.everyStep |= state.inPlace;
    state.inPlace = false;
  }
  for (const auto &[id, state] : kept) {
    const uint32_t body = compaction.stackOf(old.nodes[id].stack);
    (body == kEntryBody ? entry.nextStates : entry.stacks[body].nextStates)
        .push_back({compaction.state(state), compaction.number(id)});
  }
  return entry;
}

Entry Preparation::walkEntry() const {
  Live live(walk);
  for (const auto &[name, node] : walk.results)
    live.use(node);
  // A state that the walk may read is never set anew (Walk::objectionToNext), so its next value needs nothing else.
  auto useNext = [&](const std::vector<std::pair<uint32_t, NodeId>> &next) {
    for (const auto &[state, node] : next)
      if (live.reads(state))
        live.use(node);
  };
  useNext(walk.nextStates);
  for (const StackInfo &info : walk.stacks)
    useNext(info.nextStates);
  Compaction compaction(walk, live);
  compaction.keepsDims = true; // those of what is prepared: a caller says them once
  compaction.run(inputOrder());
  Entry entry = std::move(compaction.entry);
  entry.walked = compaction.axis(old.walked);
  auto copyNext = [&](const std::vector<std::pair<uint32_t, NodeId>> &from, std::vector<std::pair<uint32_t, NodeId>> &to) {
    for (const auto &[state, node] : from)
      if (live.node[node])
        to.push_back({compaction.state(state), compaction.number(node)});
  };
  copyNext(walk.nextStates, entry.nextStates);
  for (uint32_t body = 0; body < walk.stacks.size(); ++body)
    if (compaction.stackOf(body) != ~0u)
      copyNext(walk.stacks[body].nextStates, entry.stacks[compaction.stackOf(body)].nextStates);
  return entry;
}

std::optional<PreparedWalk> Preparation::run() {
  findStill();
  findCostly();
  keepForReaders();
  if (kept.empty())
    return std::nullopt;
  keepInputs();
  const bool keepsNumbers = std::any_of(kept.begin(), kept.end(), [&](const auto &each) {
    return old.nodes[each.first].type.element == Element::Int && old.nodes[each.first].op != Op::Input;
  });
  for (Node &node : walk.nodes)
    if (node.op == Op::Gather && keepsNumbers)
      node.clampIndex = true; // a file may bring any number, and no proof has seen it
  return PreparedWalk{prepareEntry(), walkEntry()};
}

} // namespace

std::optional<PreparedWalk> prepareWalk(const Entry &entry) { return Preparation(entry).run(); }

} // namespace tenon::sema
