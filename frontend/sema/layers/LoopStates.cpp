// States that the rounds of a loop set. A round reads what the round before it has set, the first one what the last step has
// left, so within a step such a state is one more carry of the loop, and what comes out of the loop is its next value.
#include "frontend/sema/Checker.h"
#include <algorithm>

namespace tenon::sema {

/// Whether the layer of a state sets it, and runs in rounds that share the state: in loops alone from where its parameters are.
bool Checker::isSetInLoop(Scope *scope, const ast::Stmt &statement) const {
  const Frame &frame = *scope->frame;
  if (scope->body == frame.parameterBody || !frame.body)
    return false;
  const bool isSet = std::any_of(frame.body->begin(), frame.body->end(), [&](const auto &each) {
    return each->kind == ast::Stmt::Kind::Next && each->name.text == statement.name.text;
  });
  const std::vector<StackInfo> &stacks = graph.entry.stacks;
  for (uint32_t body = scope->body; body != frame.parameterBody; body = bodyAround(stacks, body))
    if (body == kEntryBody || !stacks[body].shared || stacks[body].isScan)
      return false;
  for (uint32_t body = frame.parameterBody; body != kEntryBody; body = bodyAround(stacks, body))
    if (bodyAround(stacks, body) != stacks[body].owner)
      return false; // a stack that a loop repeats
  return isSet;
}

/// The state as the body of a loop has it, by an argument of each loop from `outermost`, where `initial` stands, to `body`.
NodeId Checker::carriedState(uint32_t body, uint32_t outermost, uint32_t state, NodeId initial, ast::Range range) {
  if (body == outermost)
    return initial;
  const NodeId around = carriedState(bodyAround(graph.entry.stacks, body), outermost, state, initial, range);
  std::vector<LoopState> &states = loopStates[body];
  for (const LoopState &known : states)
    if (known.state == state)
      return known.argument;
  const size_t place = graph.entry.stacks[body].carries + states.size();
  const NodeId argument = bodyArgument(graph[initial].type, place, range, body);
  states.push_back({state, around, argument, argument, range});
  return argument;
}

LoopState *Checker::loopStateOf(uint32_t body, NodeId argument) {
  auto known = loopStates.find(body);
  if (known == loopStates.end())
    return nullptr;
  for (LoopState &state : known->second)
    if (state.argument == argument)
      return &state;
  return nullptr;
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
    if (states[i].next != states[i].argument)
      before->range = states[i].range;
  }
  made.resize(std::min(made.size(), carries));
}

/// What the loop leaves of its states: the value of the round of a loop around it, or the next value of the step.
void Checker::takeStates(const StackCall &call, const std::vector<Value> &made) {
  std::vector<NodeId> with;
  for (const Value &carry : made)
    with.push_back(carry.node);
  for (const LoopState &state : call.states) {
    if (state.state == LoopState::kRoundsRun)
      continue;
    LoopState *outer = loopStateOf(call.caller->body, state.initial);
    if (!outer) {
      nextValues.push_back({state.state, state.next, call.caller->body, with, state.range});
    } else if (outer->next != outer->argument) {
      error("T0408", state.range,
            "state " + graph.entry.states[state.state].path + " would be set twice in one step: its layer is called twice");
    } else {
      outer->next = state.next;
    }
  }
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
