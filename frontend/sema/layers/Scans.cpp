// scan: a body evaluated once for the places of an axis.
#include "frontend/sema/Checker.h"

namespace tenon::sema {

void Checker::scanCarry(ScanState &state, const ast::Stmt &statement) {
  Value start = fit(state.outer, evaluate(state.outer, statement.value), *statement.type, "carry " + statement.name.text,
                    statement.value->range);
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
  if (statement.type->element == "index" && state.inner->conditions.empty())
    if (auto limit = wholeSize(evaluate(state.outer, statement.type->bound), statement.type->range, "the bound of an index"))
      hints.bounds.try_emplace(current, *limit); // by induction: the start is proved to be in it, and so is each `next`
  defineValue(state.inner, statement.name, Value::ofTensor(current), ast::Stmt::Kind::Carry);
  state.results.push_back(current); // without `next` a carry keeps its value
  state.initial.push_back(full);
}

void Checker::scanNext(ScanState &state, const ast::Stmt &statement, const std::vector<const ast::Stmt *> &carries) {
  auto carry = state.carryOf.find(statement.name.text);
  if (carry == state.carryOf.end()) {
    std::string known;
    for (auto &[name, place] : state.carryOf)
      known += (known.empty() ? "its carries: " : ", ") + name;
    if (state.ok && state.outer->frame->states.count(statement.name.text))
      errorWith("T0407", statement.name.range, statement.name.text + " is a state, and `next` in a scan sets its carries",
                "a carry begins with it, carry h: [..] = " + statement.name.text +
                    ", and behind the scan, of the values y that it "
                    "yields, `next " +
                    statement.name.text + " = y[T: T - 1]`");
    else if (state.ok)
      errorWith("T0407", statement.name.range, "there is no carry " + statement.name.text + " in this scan",
                known.empty() ? "declare it: carry " + statement.name.text + ": [..] = .." : known);
    state.ok = false;
    return;
  }
  const ast::Stmt *declared = nullptr;
  for (auto *candidate : carries)
    if (candidate->name.text == statement.name.text)
      declared = candidate;
  Value value = fit(state.inner, evaluate(state.inner, statement.value), *declared->type,
                    "the next value of " + statement.name.text, statement.value->range);
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
      if (auto *mistake = error("T0206", value->range,
                                "a yielded value has axis " + axisName(axis) + " itself; it is collected along that axis"))
        mistake->notes.push_back(
            {"help", "yield one place, x[" + axisName(axis) + ": t], or rename the axis: x[" + axisName(axis) + " -> S]"});
      state.ok = false;
    }
    yields.push_back(node);
  }
  return yields;
}

/// States that its places set are carries behind its own.
Value Checker::scanNode(ScanState &state, const std::vector<NodeId> &yields, AxisId axis) {
  std::vector<LoopState> states = std::exchange(loopStates[state.body], {});
  StackInfo &stack = graph.entry.stacks[state.body];
  for (const LoopState &each : states) {
    state.initial.push_back(each.initial);
    state.results.push_back(each.next);
  }
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
  for (LoopState &each : states) {
    ValueType type = graph[each.initial].type;
    type.pinned.clear();
    const auto place = unsigned(stack.carries - states.size() + size_t(&each - states.data()));
    each.next = graph.result(producer, place, type, each.range);
  }
  takeStates(states, state.outer->body, outputs);
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
  info.place = binder.name.text;
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
  graph.entry.stacks[body].carries = unsigned(rest.carries.size());
  for (auto *statement : rest.carries)
    scanCarry(state, *statement);
  for (auto *statement : rest.next)
    scanNext(state, *statement, rest.carries);
  if (!rest.yield) {
    errorWith("T0411", expression.range, "this scan has no `yield`",
              "`yield " + (rest.carries.empty() ? "x" : rest.carries[0]->name.text) + "` at its end collects the values along " +
                  axisName(axis));
    return poison();
  }
  std::vector<NodeId> yields = scanYields(state, *rest.yield, axis);
  return state.ok ? scanNode(state, yields, axis) : poison();
}

} // namespace tenon::sema
