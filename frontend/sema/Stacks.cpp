// stack[N], loop[N] and scan: a body evaluated once for a run of depths (or steps), with a symbolic depth.
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
      mistake->related.push_back({layer.name.range, "it has " + std::to_string(carries) + " results"});
    return poison();
  }
  const int64_t total = instance.count.asConstant().value_or(0);
  Storey storey;
  std::vector<std::vector<Value>> histories(carries);
  std::vector<AxisId> axes;
  for (int64_t first = 0; first == 0 || first < total; first += storey.count) {
    storey = callStorey(instance, arguments, ranges, history, caller, range, first);
    if (storey.count == 0 || (first == 0 && storey.count >= total))
      return storey.result;
    std::vector<Value> values = storey.result.kind == Value::Kind::Tuple ? *storey.result.elements : std::vector<Value>{storey.result};
    for (size_t i = 0; i < carries; ++i) {
      arguments[i] = values[i];
      if (history)
        histories[i].push_back(values[carries + i]);
    }
    if (history)
      axes.push_back(graph.axes(histories[0].back().node)[0]);
  }
  std::vector<Value> outputs(arguments.begin(), arguments.begin() + std::ptrdiff_t(carries));
  for (size_t i = 0; i < carries && history; ++i)
    outputs[i] = joinHistories(histories[i], axes, *history, range);
  return carries == 1 ? outputs[0] : Value::ofTuple(outputs);
}

Checker::Storey Checker::callStorey(Instance &instance, std::vector<Value> arguments, const std::vector<ast::Range> &ranges,
                                    std::optional<AxisId> history, Scope *caller, ast::Range range, int64_t first) {
  const ast::Callable &layer = *instance.layer->callable;
  const size_t carries = layer.results.size();
  const char *word = instance.repeat == ast::Stmt::Repeat::Stack ? "stack" : "loop";
  StackInfo info;
  std::string path = instance.owner->frame->path();
  info.path = path + (path.empty() ? "" : ".") + instance.name;
  info.parent = caller->body;
  info.first = first;
  info.total = instance.count;
  info.count = *subtract(instance.count, Size(first));
  info.shared = instance.repeat == ast::Stmt::Repeat::Loop;
  info.carries = unsigned(carries);
  uint32_t body = graph.newStack(info);

  std::vector<NodeId> initial(carries, kNoNode);
  for (size_t i = 0; i < carries; ++i) {
    if (arguments[i].isPoison())
      continue;
    NodeId node = tensor(arguments[i], ranges[i]);
    if (node == kNoNode)
      return {};
    if (i < layer.parameters.size() && elementOf(layer.parameters[i].type) == Element::Real &&
        graph.element(node) == Element::Int)
      node = graph.toReal(node);
    initial[i] = node;
    Node carry = makeNode(Op::BodyArgument, graph[node].type);
    carry.type.pinned.clear();
    carry.index = uint32_t(i);
    carry.range = ranges[i];
    arguments[i] = Value::ofTensor(graph.add(carry, body));
  }
  Scope *inner = newScope(caller); // what the body sees of the caller: its conditions, and the depth
  inner->body = body;
  Node depth = makeNode(Op::Depth, {Element::Int, {}, {}});
  depth.range = range;
  inner->depth = Value::ofTensor(graph.add(depth, body));

  Value result = runLayer(instance, std::move(arguments), ranges, inner, body, true, range);
  if (result.isPoison())
    return {};
  std::vector<Value> values = result.kind == Value::Kind::Tuple ? *result.elements : std::vector<Value>{result};
  std::vector<NodeId> results;
  std::vector<std::vector<AxisId>> declared; // order of the axes of each result
  for (size_t i = 0; i < carries; ++i) {
    if (values[i].isPoison() || initial[i] == kNoNode)
      return {};
    NodeId node = values[i].node;
    if (!sameSet(graph.axes(node), graph.axes(initial[i])) || graph.element(node) != graph.element(initial[i])) {
      auto *mistake = error("T0404", ranges[i],
                            std::string("under ") + word + "[...] the carry " +
                                (i < layer.parameters.size() ? layer.parameters[i].name.text : "") + " goes in as " +
                                text(initial[i]) + " and comes out as " + text(node));
      if (mistake)
        mistake->related.push_back({layer.results[i].range, "declared result"});
      return {};
    }
    declared.push_back(graph.axes(node));
    results.push_back(graph.transpose(node, graph.axes(initial[i]), range));
  }
  if (instance.count == Size(0) && !history) {
    std::vector<Value> same;
    for (NodeId node : initial)
      same.push_back(Value::ofTensor(node));
    return {carries == 1 ? same[0] : Value::ofTuple(same), 0};
  }
  if (history && graph.size(*history) != instance.count) {
    error("T0204", range,
          "axis " + sized(*history) + " does not have one place per step: " + instance.name + " has " + text(instance.count));
    return {};
  }
  const Size count = graph.entry.stacks[body].count;
  const bool whole = count == instance.count;
  if (history && !whole)
    history = graph.newAxis(axisName(*history), count, false);
  StackInfo &stack = graph.entry.stacks[body];
  stack.results = results;
  stack.history = history.has_value();
  stack.historyAxis = history.value_or(0);
  Node node = makeNode(Op::Stack, graph[initial[0]].type);
  node.operands = initial;
  node.index = body;
  node.range = range;
  NodeId producer = graph.add(node, caller->body);
  std::vector<Value> outputs;
  auto output = [&](size_t i, bool all) {
    ValueType type = graph[initial[i]].type;
    type.pinned.clear();
    std::vector<AxisId> order = declared[i];
    if (all) {
      type.axes.insert(type.axes.begin(), *history);
      order.insert(order.begin(), *history);
    }
    NodeId result = graph.result(producer, unsigned(i + (all ? carries : 0)), type, range);
    outputs.push_back(Value::ofTensor(graph.transpose(result, order, range)));
  };
  for (size_t i = 0; i < carries && !(history && whole); ++i) // what the next body starts from
    output(i, false);
  for (size_t i = 0; i < carries && history; ++i)
    output(i, true);
  return {outputs.size() == 1 ? outputs[0] : Value::ofTuple(outputs), whole ? std::max<int64_t>(count.asConstant().value_or(1), 1) : count.constant()};
}

void Checker::scanCarry(ScanState &state, const ast::Stmt &statement) {
  Value start =
      fit(state.outer, evaluate(state.outer, statement.value), *statement.type, "carry " + statement.name.text, statement.value->range);
  if (start.isPoison()) {
    state.ok = false;
    defineValue(state.inner, statement.name, poison(), ast::Stmt::Kind::Carry);
    return;
  }
  auto axes = typeAxes(state.outer, *statement.type);
  NodeId full = axes ? graph.expand(start.node, *axes, statement.range) : start.node;
  Node carry = makeNode(Op::BodyArgument, graph[full].type);
  carry.type.pinned.clear();
  carry.index = uint32_t(state.initial.size());
  carry.range = statement.name.range;
  state.carryOf[statement.name.text] = state.initial.size();
  NodeId current = graph.add(carry, state.body);
  defineValue(state.inner, statement.name, Value::ofTensor(current), ast::Stmt::Kind::Carry);
  state.results.push_back(current); // without `next` a carry keeps its value
  state.initial.push_back(full);
}

void Checker::scanNext(ScanState &state, const ast::Stmt &statement, const std::vector<const ast::Stmt *> &carries) {
  auto carry = state.carryOf.find(statement.name.text);
  if (carry == state.carryOf.end()) {
    if (state.ok)
      error("T0407", statement.name.range, "there is no carry " + statement.name.text + " in this scan");
    state.ok = false;
    return;
  }
  const ast::Stmt *declared = nullptr;
  for (auto *candidate : carries)
    if (candidate->name.text == statement.name.text)
      declared = candidate;
  Value value = fit(state.inner, evaluate(state.inner, statement.value), *declared->type, "the next value of " + statement.name.text,
                    statement.value->range);
  state.ok &= !value.isPoison();
  if (!value.isPoison())
    state.results[carry->second] = graph.expand(value.node, graph.axes(state.initial[carry->second]), statement.range);
}

std::vector<NodeId> Checker::scanYields(ScanState &state, const ast::Stmt &yield, AxisId axis) {
  std::vector<NodeId> yields;
  for (auto &value : yield.values) {
    NodeId node = tensor(evaluate(state.inner, value), value->range);
    state.ok &= node != kNoNode;
    if (node != kNoNode && graph.has(node, axis)) {
      error("T0206", value->range, "a yielded value has axis " + axisName(axis) + " itself; it is collected along that axis");
      state.ok = false;
    }
    yields.push_back(node);
  }
  return yields;
}

Value Checker::scanNode(ScanState &state, const std::vector<NodeId> &yields, AxisId axis) {
  StackInfo &stack = graph.entry.stacks[state.body];
  stack.carries = unsigned(state.initial.size());
  stack.results = state.results;
  stack.results.insert(stack.results.end(), yields.begin(), yields.end());
  Node node = makeNode(Op::Scan, {Element::Real, {}, {}});
  node.operands = state.initial;
  node.index = state.body;
  node.axesFrom = {axis};
  node.range = state.expression.range;
  NodeId producer = graph.add(node, state.outer->body);
  std::vector<Value> outputs;
  for (size_t i = 0; i < yields.size(); ++i) {
    ValueType type = graph[yields[i]].type;
    type.pinned.clear();
    type.axes.insert(type.axes.begin(), axis);
    outputs.push_back(Value::ofTensor(graph.result(producer, unsigned(state.initial.size() + i), type, state.expression.range)));
  }
  return outputs.size() == 1 ? outputs[0] : Value::ofTuple(outputs);
}

Value Checker::scan(Scope *scope, const ast::Expr &expression) {
  if (expression.binders.size() != 1) {
    error("T0506", expression.range, "scan runs along one axis");
    return poison();
  }
  const ast::Binder &binder = expression.binders[0];
  auto steps = axesOf(scope, binder.axis);
  if (!steps || steps->size() != 1)
    return poison();
  AxisId axis = (*steps)[0];
  StackInfo info;
  info.path = "scan";
  info.isScan = true;
  info.parent = scope->body;
  info.count = info.total = graph.size(axis);
  info.shared = true;
  info.history = true;
  info.historyAxis = axis;
  uint32_t body = graph.newStack(info);
  Scope *inner = newScope(scope);
  inner->body = body;
  Node step = makeNode(Op::Depth, {Element::Int, {}, {}});
  step.range = binder.name.range;
  defineValue(inner, binder.name, Value::ofTensor(graph.add(step, body)), ast::Stmt::Kind::Carry);

  ScanState state{expression, scope, inner, body, {}, {}, {}};
  Body rest = statements(inner, expression.body, Place::Scan, nullptr, "scan");
  for (auto *statement : rest.carries)
    scanCarry(state, *statement);
  for (auto *statement : rest.next)
    scanNext(state, *statement, rest.carries);
  if (!rest.yield) {
    error("T0411", expression.range, "this scan has no `yield`");
    return poison();
  }
  std::vector<NodeId> yields = scanYields(state, *rest.yield, axis);
  return state.ok ? scanNode(state, yields, axis) : poison();
}

} // namespace tenon::sema
