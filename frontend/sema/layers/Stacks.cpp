// stack[N] and loop[N]: a body evaluated once for a run of depths, with a symbolic depth; runs that come again are rounds.
#include "frontend/sema/Checker.h"

namespace tenon::sema {

Value Checker::callStack(Instance &instance, std::vector<Value> arguments, const std::vector<ast::Range> &ranges,
                         std::optional<AxisId> history, Scope *caller, ast::Range range) {
  const ast::Callable &layer = *instance.layer->callable;
  size_t carries = layer.results.size();
  const char *word = instance.repeat == ast::Stmt::Repeat::Stack ? "stack" : "loop";
  if (arguments.size() < carries) {
    auto *mistake = error("T0404", range,
                          std::string("under ") + word + "[...] the first " + std::to_string(carries) + " arguments of " +
                              layer.name.text + " are carried from step to step; given are " + std::to_string(arguments.size()));
    if (mistake)
      mistake->related.push_back(
          {layer.name.range, "it has " + std::to_string(carries) + (carries == 1 ? " result" : " results")});
    std::string first;
    for (size_t i = 0; i < carries && i < layer.parameters.size(); ++i)
      first += (first.empty() ? "" : ", ") + layer.parameters[i].name.text;
    if (mistake && !first.empty())
      mistake->notes.push_back({"help", "give what the first step begins with: " + instance.name + "(" + first + ", ..)"});
    return poison();
  }
  StackCall call{instance, ranges, history, caller, range};
  std::vector<Storey> parts;
  for (int64_t first = 0; parts.empty() || first < call.total(); first += parts.back().count) {
    parts.push_back(callRounds(call, arguments, first));
    const Storey &part = parts.back();
    if (part.carries.empty())
      return poison();
    std::copy(part.carries.begin(), part.carries.end(), arguments.begin());
    if (part.count == 0)
      break;
  }
  std::vector<Value> outputs = parts.back().carries;
  joinStates(call, parts);
  takeStates(call.states, caller->body, outputs);
  for (size_t i = 0; i < carries && history; ++i)
    outputs[i] = joinHistories(parts, i, *history, range);
  return carries == 1 ? outputs[0] : Value::ofTuple(outputs);
}

StackInfo Checker::infoOf(const StackCall &call, int64_t first) const {
  StackInfo info;
  std::string path = call.instance.owner->frame->path();
  info.path = path + (path.empty() ? "" : ".") + call.instance.name;
  info.first = first;
  info.total = call.instance.count;
  info.shared = call.instance.repeat == ast::Stmt::Repeat::Loop;
  info.carries = unsigned(call.instance.layer->callable->results.size());
  return info;
}

NodeId Checker::bodyArgument(ValueType type, size_t place, ast::Range range, uint32_t body) {
  Node carry = makeNode(Op::BodyArgument, std::move(type));
  carry.type.pinned.clear();
  carry.index = uint32_t(place);
  carry.range = range;
  return graph.add(carry, body);
}

std::vector<NodeId> Checker::bodyArguments(const std::vector<NodeId> &initial, const std::vector<ast::Range> &ranges,
                                           uint32_t body) {
  std::vector<NodeId> made;
  for (size_t i = 0; i < initial.size(); ++i)
    made.push_back(bodyArgument(graph[initial[i]].type, i, ranges[i], body));
  return made;
}

Storey Checker::callRounds(StackCall &call, std::vector<Value> arguments, int64_t first) {
  StackInfo info = infoOf(call, first);
  info.parent = call.caller->body;
  info.count = Size(1);
  info.isRounds = true;
  Rounds rounds{graph.newStack(info), decisions.size(), proofs.size(), {}};
  const int64_t total = call.total();
  int64_t next = first;
  while (true) {
    const size_t before = decisions.size();
    Storey storey = callStorey(call, arguments, next, rounds);
    storey.decisions = before;
    if (storey.count == 0 || (rounds.storeys.empty() && first + storey.count >= total))
      return storey;
    rounds.storeys.push_back(storey);
    std::copy(storey.carries.begin(), storey.carries.end(), arguments.begin());
    next += storey.count;
    // Where only the last bodies repeat, those before are not of the rounds: the next ones start with a first round of them.
    bool partRepeats = false;
    for (size_t i = 1; i < rounds.storeys.size() && !partRepeats; ++i) {
      const int64_t period = next - graph.entry.stacks[rounds.storeys[i].body].first;
      partRepeats = next + period <= total && spend(call.range, i % 2) && repeats(rounds, i, period);
    }
    if (next >= total || countRounds(rounds, first, total) > 1 || partRepeats)
      return closeRounds(call, rounds);
  }
}

/// The values that a body begins with, in place of which it gets its own; a carry that is poison has none.
std::optional<std::vector<NodeId>> Checker::carriesOf(const StackCall &call, uint32_t body, size_t carries,
                                                      std::vector<Value> &arguments) {
  const ast::Callable &layer = *call.instance.layer->callable;
  std::vector<NodeId> initial(carries, kNoNode);
  for (size_t i = 0; i < carries; ++i) {
    if (arguments[i].isPoison())
      continue;
    NodeId node = tensor(arguments[i], call.ranges[i]);
    if (node == kNoNode)
      return std::nullopt;
    if (i < layer.parameters.size() && elementOf(layer.parameters[i].type) == Element::Real &&
        graph.element(node) == Element::Int)
      node = graph.toReal(node);
    initial[i] = node;
    arguments[i] = Value::ofTensor(bodyArgument(graph[node].type, i, call.ranges[i], body));
  }
  return initial;
}

/// What a body hands on: each carry comes out as it goes in. `declared`: the axes of each in the body's order.
std::optional<std::vector<NodeId>> Checker::carriedOn(const StackCall &call, const Value &result,
                                                      const std::vector<NodeId> &initial,
                                                      std::vector<std::vector<AxisId>> &declared) {
  const ast::Callable &layer = *call.instance.layer->callable;
  std::vector<Value> values = result.kind == Value::Kind::Tuple ? *result.elements : std::vector<Value>{result};
  std::vector<NodeId> results;
  for (size_t i = 0; i < initial.size(); ++i) {
    if (values[i].isPoison() || initial[i] == kNoNode)
      return std::nullopt;
    NodeId node = values[i].node;
    if (!sameSet(graph.axes(node), graph.axes(initial[i])) || graph.element(node) != graph.element(initial[i])) {
      auto *mistake = error("T0404", call.ranges[i],
                            std::string("under ") + (call.instance.repeat == ast::Stmt::Repeat::Stack ? "stack" : "loop") +
                                "[...] the carry " + (i < layer.parameters.size() ? layer.parameters[i].name.text : "") +
                                " goes in as " + text(initial[i]) + " and comes out as " + text(node));
      if (!mistake)
        return std::nullopt;
      mistake->related.push_back({layer.results[i].range, "declared result"});
      const std::vector<AxisId> grown = without(graph.axes(node), graph.axes(initial[i]));
      if (!grown.empty() && graph.contains(node, initial[i]))
        mistake->notes.push_back({"help", "expand[" + names(grown) + "](...) of what goes in gives it all axes from the start"});
      else
        mistake->notes.push_back({"help", "a step begins with what the one before it returns: both have one type"});
      return std::nullopt;
    }
    declared.push_back(graph.axes(node));
    results.push_back(graph.transpose(node, graph.axes(initial[i]), call.range));
  }
  return results;
}

Storey Checker::callStorey(StackCall &call, std::vector<Value> arguments, int64_t first, Rounds &rounds) {
  const Instance &instance = call.instance;
  StackInfo info = infoOf(call, first);
  info.parent = rounds.body;
  info.count = *subtract(instance.count, Size(first));
  const size_t carries = info.carries;
  const uint32_t body = graph.newStack(info);
  auto given = carriesOf(call, body, carries, arguments);
  if (!given)
    return {};
  std::vector<NodeId> initial = std::move(*given);
  Scope *inner = newScope(call.caller); // what the body sees of the caller: its conditions, and the depth
  inner->body = body;
  Node depth = makeNode(Op::Depth, {Element::Int, {}, {}});
  depth.range = call.range;
  inner->depth = Value::ofTensor(graph.add(depth, body));
  Value result = runLayer(call.instance, std::move(arguments), call.ranges, inner, body, true, call.range);
  if (result.isPoison())
    return {};
  std::vector<std::vector<AxisId>> declared; // order of the axes of each result
  auto made = carriedOn(call, result, initial, declared);
  if (!made)
    return {};
  std::vector<NodeId> results = std::move(*made);
  if (instance.count == Size(0) && !call.history) {
    Storey none;
    for (NodeId node : initial)
      none.carries.push_back(Value::ofTensor(node));
    return none;
  }
  if (call.history && graph.size(*call.history) != instance.count) {
    error("T0204", call.range,
          "axis " + sized(*call.history) + " does not have one place per step: " + instance.name + " has " +
              text(instance.count));
    return {};
  }
  warnOfRanges(call, body, initial, results);
  const Size count = graph.entry.stacks[body].count;
  const bool alone = rounds.storeys.empty() && count == *subtract(instance.count, Size(first));
  if (count != instance.count)
    countRoundsRun(body, inner->depth->node);
  else if (NodeId &until = graph.entry.stacks[body].until; until != kNoNode && truthOfRounds(until, body) == false)
    until = kNoNode;
  const std::vector<LoopState> states = takeCarriedOn(call, body, alone, rounds);
  if (!alone && rounds.storeys.empty()) {
    rounds.initial = initial;
    initial = bodyArguments(initial, call.ranges, rounds.body);
  }
  carryStates(states, body, initial, results, declared);
  StackInfo &stack = graph.entry.stacks[body];
  stack.results = results;
  stack.history = call.history.has_value();
  if (alone)
    stack.parent = call.caller->body;
  Storey storey = stackNode(call, body, initial, declared, alone ? call.caller->body : rounds.body);
  handOn(alone ? call.states : rounds.states, states, carries, storey.carries);
  collectStates(storey, std::exchange(depthStates[body], {}));
  return storey;
}

/// The node of a stack whose body is finished, in the body `around` it, and its results with the order of axes that the body
/// declares.
Storey Checker::stackNode(const StackCall &call, uint32_t body, const std::vector<NodeId> &initial,
                          const std::vector<std::vector<AxisId>> &declared, uint32_t around) {
  const Size count = graph.entry.stacks[body].count;
  const size_t carries = initial.size();
  Storey made;
  made.body = body;
  made.count = std::max<int64_t>(count.asConstant().value_or(1), 1);
  if (call.history) {
    made.axis = count == call.instance.count ? *call.history : graph.newAxis(axisName(*call.history), count, false);
    graph.entry.stacks[body].historyAxis = made.axis;
  }
  Node node = makeNode(Op::Stack, graph[initial[0]].type);
  node.operands = initial;
  node.index = body;
  node.range = call.range;
  const NodeId producer = made.producer = graph.add(node, around);
  const size_t collected = // those of rounds are what their bodies have collected of the layer's carries
      graph.entry.stacks[body].isRounds ? call.instance.layer->callable->results.size() : carries;
  for (size_t i = 0; i < carries + (call.history ? collected : 0); ++i) {
    const bool all = i >= carries; // steps, along `made.axis`
    ValueType type = graph[initial[i % carries]].type;
    type.pinned.clear();
    std::vector<AxisId> order = declared[i % carries];
    if (all) {
      const std::vector<AxisId> &collected =
          graph.axes(graph.entry.stacks[body].results[graph.entry.stacks[body].isRounds ? i : i - carries]);
      type.axes = graph.entry.stacks[body].isRounds ? collected : type.axes;
      order = graph.entry.stacks[body].isRounds ? collected : order;
      type.axes.insert(type.axes.begin(), made.axis);
      order.insert(order.begin(), made.axis);
    }
    NodeId result = graph.result(producer, unsigned(i), type, call.range);
    (all ? made.histories : made.carries).push_back(Value::ofTensor(graph.transpose(result, order, call.range)));
  }
  return made;
}

/// All rounds as one stack, whose body has the bodies of a round in order.
Storey Checker::closeRounds(StackCall &call, Rounds &rounds) {
  const Storey &last = rounds.storeys.back();
  const size_t carries = rounds.initial.size();
  std::vector<std::vector<AxisId>> declared;
  std::vector<NodeId> results;
  int64_t period = 0;
  for (const Storey &storey : rounds.storeys)
    period += storey.count;
  for (size_t i = 0; i < carries; ++i) {
    declared.push_back(graph.axes(last.carries[i].node));
    results.push_back(graph.transpose(last.carries[i].node, graph.axes(rounds.initial[i]), call.range));
  }
  beginWithStates(call, rounds.states);
  carryStates(rounds.states, rounds.body, rounds.initial, results, declared);
  AxisId places = 0; // of one round
  if (call.history) {
    places = graph.newAxis(axisName(*call.history), Size(period), false);
    for (size_t i = 0; i < carries; ++i)
      results.push_back(joinHistories(rounds.storeys, i, places, call.range).node);
  }
  StackInfo &stack = graph.entry.stacks[rounds.body];
  stack.results = results;
  stack.period = period;
  const int64_t count = stack.count.constant() * period;
  Storey made = stackNode(call, rounds.body, rounds.initial, declared, call.caller->body);
  handOn(call.states, rounds.states, carries, made.carries);
  made.count = count;
  if (call.history) {
    const Size size(count);
    const AxisId all = size == call.instance.count ? *call.history : graph.newAxis(axisName(*call.history), size, false);
    for (Value &history : made.histories)
      history = Value::ofTensor(regroup(history.node, {made.axis, places}, {all}, call.range));
    made.axis = all;
  }
  collectStatesOfRounds(rounds, made, period);
  return made;
}

} // namespace tenon::sema
