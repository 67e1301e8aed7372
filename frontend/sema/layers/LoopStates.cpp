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
  Node carry = makeNode(Op::BodyArgument, graph[initial].type);
  carry.type.pinned.clear();
  carry.index = uint32_t(graph.entry.stacks[body].carries + states.size());
  carry.range = range;
  const NodeId argument = graph.add(carry, body);
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

/// What the loop leaves of its states: the value of the round of a loop around it, or the next value of the step.
void Checker::takeStates(const std::vector<LoopState> &states, uint32_t around, size_t carries, std::vector<Value> &made) {
  std::vector<NodeId> with;
  for (size_t i = 0; i < carries && i < made.size(); ++i)
    with.push_back(made[i].node);
  for (size_t i = 0; i < states.size(); ++i) {
    const NodeId last = made[carries + i].node;
    LoopState *outer = loopStateOf(around, states[i].initial);
    if (!outer) {
      nextValues.push_back({states[i].state, last, around, with, states[i].range});
    } else if (outer->next != outer->argument) {
      error("T0408", states[i].range,
            "state " + graph.entry.states[states[i].state].path + " would be set twice in one step: its layer is called twice");
    } else {
      outer->next = last;
    }
  }
  made.resize(std::min(made.size(), carries));
}

} // namespace tenon::sema
