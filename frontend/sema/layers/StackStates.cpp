// States with a value per depth of a stack that stands in a loop. The loop carries all values of them as one tensor; the stack in
// a round reads its depth's, and what it sets is collected along its depths.
#include "frontend/sema/Checker.h"
#include <algorithm>

namespace tenon::sema {

/// Of one of the stacks that a state has a value per depth of; `level` counts from the outermost one.
AxisId Checker::axisOfDepths(uint32_t state, size_t level, uint32_t body) {
  auto [place, isNew] = stateAxes.try_emplace({state, level}, 0);
  if (isNew) {
    const std::string &path = graph.entry.stacks[body].path;
    place->second = graph.newAxis(path.substr(path.rfind('.') + 1), Size(graph.entry.states[state].stackCounts[level]), false);
  }
  return place->second;
}

/// The value of a body's own depth.
NodeId Checker::atDepth(NodeId whole, AxisId depths, uint32_t body, uint32_t state, ast::Range range) {
  Node depth = makeNode(Op::Depth, {Element::Int, {}, {}});
  depth.range = range;
  Node gather =
      makeNode(Op::Gather, {graph.element(whole), without(graph.axes(whole), {depths}), graph.entry.states[state].stored});
  gather.operands = {whole, graph.add(depth, body)};
  gather.axesFrom = {depths};
  gather.range = range;
  return graph.add(gather);
}

/// `value` of the storey's body, of all its depths.
NodeId Checker::collected(const Storey &storey, NodeId value, AxisId along) {
  StackInfo &info = graph.entry.stacks[storey.body];
  if (info.history) { // the carries at every depth stand in front, as in rounds
    info.history = false;
    for (unsigned i = 0; i < info.carries; ++i)
      info.results.push_back(NodeId(info.results[i]));
  }
  info.results.push_back(value);
  ValueType type{graph.element(value), graph.axes(value), {}};
  type.axes.insert(type.axes.begin(), along);
  return graph.result(storey.producer, unsigned(info.results.size() - 1), type, graph[value].range);
}

AxisId Checker::placesOf(Storey &storey) {
  const StackInfo &info = graph.entry.stacks[storey.body];
  if (!storey.places)
    storey.places = graph.newAxis("depths", info.isRounds ? Size(storey.count) : info.count, false);
  return *storey.places;
}

void Checker::collectStates(Storey &storey, std::vector<LoopState> states) {
  for (LoopState &state : states)
    state.next = collected(storey, state.next, placesOf(storey));
  storey.byDepth = std::move(states);
}

/// Parts one behind the other, each along an axis of its own.
NodeId Checker::joinDepths(const LoopState &state, const std::vector<std::pair<NodeId, AxisId>> &parts, AxisId whole) {
  const auto &[first, axis] = parts[0];
  if (parts.size() == 1)
    return graph.rename(first, {axis}, {whole}, state.range);
  Node node = makeNode(Op::Concat, graph[first].type);
  node.type.pinned = graph.entry.states[state.state].stored;
  std::replace(node.type.axes.begin(), node.type.axes.end(), axis, whole);
  node.axesTo = {whole};
  for (const auto &[part, along] : parts) {
    node.axesFrom.push_back(along);
    node.operands.push_back(part);
  }
  node.range = state.range;
  return graph.add(node);
}

static const LoopState *among(const std::vector<LoopState> &states, uint32_t state) {
  auto found = std::find_if(states.begin(), states.end(), [&](const LoopState &each) { return each.state == state; });
  return found == states.end() ? nullptr : &*found;
}

/// Those that any of the storeys has, each once; set if any of them sets it.
static std::vector<LoopState> allOf(const std::vector<Storey> &storeys) {
  std::vector<LoopState> all;
  for (const Storey &storey : storeys)
    for (const LoopState &state : storey.byDepth) {
      auto known = std::find_if(all.begin(), all.end(), [&](const LoopState &each) { return each.state == state.state; });
      if (known == all.end())
        all.push_back(state);
      else if (state.isSet)
        known->isSet = true, known->range = state.range;
    }
  return all;
}

/// What the bodies of a round have set, round by round; a body that leaves out the layer hands on what there was.
void Checker::collectStatesOfRounds(Rounds &rounds, Storey &made, int64_t period) {
  for (LoopState &state : allOf(rounds.storeys)) {
    std::vector<std::pair<NodeId, AxisId>> parts;
    for (Storey &storey : rounds.storeys) {
      const LoopState *own = among(storey.byDepth, state.state);
      const NodeId part =
          own ? own->next
              : collected(storey, atDepth(state.initial, *state.depths, storey.body, state.state, state.range), placesOf(storey));
      parts.push_back({part, placesOf(storey)});
    }
    const AxisId ofRound = graph.newAxis("depths", Size(period), false);
    const AxisId ofRounds = graph.newAxis("rounds", graph.entry.stacks[made.body].count, false);
    const NodeId all = collected(made, joinDepths(state, parts, ofRound), ofRounds);
    state.next = regroup(all, {ofRounds, ofRound}, {placesOf(made)}, state.range);
    made.byDepth.push_back(state);
  }
}

/// All depths of a stack together; those that leave out the layer keep what they have.
void Checker::joinStates(StackCall &call, std::vector<Storey> &parts) {
  for (LoopState &state : allOf(parts)) {
    std::vector<std::pair<NodeId, AxisId>> values;
    int64_t first = 0;
    for (Storey &part : parts) {
      const LoopState *own = among(part.byDepth, state.state);
      if (own) {
        values.push_back({own->next, placesOf(part)});
      } else {
        Node slice = makeNode(Op::Slice, graph[state.initial].type);
        slice.type.pinned = graph.entry.states[state.state].stored;
        std::replace(slice.type.axes.begin(), slice.type.axes.end(), *state.depths, placesOf(part));
        slice.operands = {state.initial};
        slice.axesFrom = {*state.depths};
        slice.axesTo = {placesOf(part)};
        slice.size = Size(first);
        slice.range = state.range;
        values.push_back({graph.add(slice), placesOf(part)});
      }
      first += part.count;
    }
    state.next = joinDepths(state, values, *state.depths);
    call.states.push_back(state);
  }
}

} // namespace tenon::sema
