// States that the rounds of a loop set, or the places of a scan, or the depths of a stack that share a layer. A round reads what
// the round before it has set, the first one what the last step has left, so within a step such a state is one more carry of the
// loop, and what comes out of the loop is its next value. A stack in a round that has a value per depth: StackStates.cpp.
#include "frontend/sema/Checker.h"
#include <algorithm>

namespace tenon::sema {

/// Where the values of a state stand that its layer sets where it runs several times in a step; nothing if it runs once, or once
/// per depth.
std::optional<StateHome> Checker::homeOf(Scope *scope, const ast::Stmt &statement, uint32_t state) {
  const Frame &frame = *scope->frame;
  const bool isSet = frame.body && std::any_of(frame.body->begin(), frame.body->end(), [&](const auto &each) {
                       return each->kind == ast::Stmt::Kind::Next && each->name.text == statement.name.text;
                     });
  if (!isSet || (graph.entry.states[state].ofModel && !request.training)) // which is what it was: another value is a mistake
    return std::nullopt;
  const std::vector<StackInfo> &stacks = graph.entry.stacks;
  StateHome home{state, scope->body, kNoNode, {}};
  for (uint32_t body = frame.parameterBody; body != kEntryBody; body = stacks[body].owner)
    home.owned.push_back(body);
  bool repeats = false;
  for (uint32_t body = scope->body; body != kEntryBody; body = bodyAround(stacks, body))
    if (std::find(home.owned.begin(), home.owned.end(), body) == home.owned.end()) {
      repeats = true;
      home.body = bodyAround(stacks, body);
    }
  return repeats ? std::optional(home) : std::nullopt;
}

/// The state as a body has it: by an argument of each loop between it and the state's home, and at the depth of each stack.
NodeId Checker::carriedState(uint32_t body, const StateHome &home, ast::Range range) {
  if (body == home.body)
    return home.read;
  const NodeId around = carriedState(bodyAround(graph.entry.stacks, body), home, range);
  const auto owned = std::find(home.owned.begin(), home.owned.end(), body);
  const bool byDepth = owned != home.owned.end();
  std::vector<LoopState> &states = byDepth ? depthStates[body] : loopStates[body];
  for (const LoopState &known : states)
    if (known.state == home.state)
      return known.argument;
  if (byDepth) {
    const AxisId depths = axisOfDepths(home.state, size_t(home.owned.end() - owned) - 1, body);
    const NodeId argument = atDepth(around, depths, body, home.state, range);
    states.push_back({home.state, around, argument, argument, range, depths});
    return argument;
  }
  const size_t place = graph.entry.stacks[body].carries + states.size();
  const NodeId argument = bodyArgument(graph[around].type, place, range, body);
  states.push_back({home.state, around, argument, argument, range});
  return argument;
}

LoopState *Checker::loopStateOf(uint32_t body, NodeId argument) {
  for (auto *each : {&loopStates, &depthStates})
    if (auto known = each->find(body); known != each->end())
      for (LoopState &state : known->second)
        if (state.argument == argument)
          return &state;
  return nullptr;
}

/// The new value of a state that a body has as `argument`; false if it has none.
bool Checker::setInLoop(uint32_t body, NodeId argument, NodeId next, ast::Range range) {
  LoopState *state = loopStateOf(body, argument);
  if (!state)
    return false;
  if (state->isSet)
    error("T0408", range,
          "state " + graph.entry.states[state->state].path + " would be set twice in one step: its layer is called twice");
  state->next = next;
  state->range = range;
  state->isSet = true;
  return true;
}

/// Behind the carries of the layer.
void Checker::carryStates(const std::vector<LoopState> &states, uint32_t body, std::vector<NodeId> &initial,
                          std::vector<NodeId> &results, std::vector<std::vector<AxisId>> &declared) {
  for (const LoopState &state : states) {
    initial.push_back(state.initial);
    results.push_back(state.next);
    declared.push_back(graph.axes(state.argument));
  }
  graph.entry.stacks[body].carries += unsigned(states.size());
}

/// Of the same state, or count of rounds; null where there is none yet.
static LoopState *among(std::vector<LoopState> &known, uint32_t state) {
  const auto found = std::find_if(known.begin(), known.end(), [&](const LoopState &each) { return each.state == state; });
  return found == known.end() ? nullptr : &*found;
}

/// The states of a body that is finished. They begin with what the bodies before it have left; those of a body that is not
/// `alone` in its rounds are carries of the rounds, too.
std::vector<LoopState> Checker::takeCarriedOn(StackCall &call, uint32_t body, bool alone, Rounds &rounds) {
  std::vector<LoopState> states = std::exchange(loopStates[body], {});
  for (LoopState &state : states) {
    LoopState *before = among(alone ? call.states : rounds.states, state.state);
    if (!before && !alone) {
      const size_t place = graph.entry.stacks[rounds.body].carries + rounds.states.size();
      const NodeId argument = bodyArgument(graph[state.argument].type, place, state.range, rounds.body);
      rounds.states.push_back({state.state, state.initial, argument, argument, state.range});
      before = &rounds.states.back();
    }
    if (before)
      state.initial = before->next;
  }
  return states;
}

/// Rounds begin with what the parts before them have left.
void Checker::beginWithStates(StackCall &call, std::vector<LoopState> &states) {
  for (LoopState &state : states)
    if (const LoopState *before = among(call.states, state.state))
      state.initial = before->next;
}

/// What a part of a loop has left of its states, which stands behind its carries, is what the next one begins with.
void Checker::handOn(std::vector<LoopState> &known, const std::vector<LoopState> &states, size_t carries,
                     std::vector<Value> &made) {
  for (size_t i = 0; i < states.size(); ++i) {
    LoopState *before = among(known, states[i].state);
    if (!before)
      before = &known.emplace_back(states[i]);
    before->next = made[carries + i].node;
    before->isSet |= states[i].isSet;
    if (states[i].isSet)
      before->range = states[i].range;
  }
  made.resize(std::min(made.size(), carries));
}

/// What a loop leaves of its states: the value of the round of a loop around it, or the next value of the step. `made`: its other
/// results.
void Checker::takeStates(const std::vector<LoopState> &states, uint32_t around, const std::vector<Value> &made) {
  std::vector<NodeId> with;
  for (const Value &result : made)
    with.push_back(result.node);
  for (const LoopState &state : states)
    if (state.isSet && !setInLoop(around, state.initial, state.next, state.range))
      nextValues.push_back({state.state, state.next, around, with, state.range});
}

/// Of a loop with `until` whose depths have several bodies. One that has ended in an earlier body must not go on, whatever the
/// condition is by then (it may have the depth or draws in it, or be chosen by `if depth`), so they count the rounds that ran.
void Checker::countRoundsRun(uint32_t body, NodeId depth) {
  const NodeId until = graph.entry.stacks[body].until;
  if (until == kNoNode)
    return;
  const ast::Range range = graph[until].range;
  std::vector<LoopState> &states = loopStates[body];
  const size_t place = graph.entry.stacks[body].carries + states.size();
  const NodeId rounds = bodyArgument({Element::Int, {}, {}}, place, range, body);
  const NodeId next = graph.elementwise(Op::Add, {rounds, graph.integer(1)}, Element::Int, range);
  states.push_back({LoopState::kRoundsRun, graph.integer(0), rounds, next, range});
  const NodeId hasEnded = graph.elementwise(Op::Less, {rounds, depth}, Element::Bool, range);
  graph.entry.stacks[body].until = graph.elementwise(Op::Or, {hasEnded, until}, Element::Bool, range);
}

} // namespace tenon::sema
