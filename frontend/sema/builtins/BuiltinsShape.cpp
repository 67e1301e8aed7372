// Built-in functions that make or rearrange axes.
#include "frontend/graph/Products.h"
#include "frontend/sema/Checker.h"

namespace tenon::sema {

std::optional<Checker::ConcatAxes> Checker::concatAxes(const Call &call) {
  const ast::AxisOp &op = (*call.axisOps)[0];
  if (call.axisOps->size() != 1 || op.to.empty() || op.low) {
    error("T0216", op.range, "concat names its axes: concat[A + B -> C](a, b)");
    return std::nullopt;
  }
  auto to = oneAxis(call.scope, op.to, "concat");
  std::vector<AxisId> parts;
  Size total = 0;
  for (auto &term : op.from) {
    if (term.op == '*') {
      error("T0216", term.name.range, "the axes of concat are joined by +, not by *");
      return std::nullopt;
    }
    auto part = oneAxis(call.scope, {{0, term.name}}, "concat");
    if (!part)
      return std::nullopt;
    parts.push_back(*part);
    if (auto sum = add(total, graph.size(*part)))
      total = *sum;
  }
  if (!to)
    return std::nullopt;
  if (parts.size() != call.arguments.size()) {
    error("T0307", call.range,
          "concat of " + std::to_string(parts.size()) + " axes and " + std::to_string(call.arguments.size()) +
              (call.arguments.size() == 1 ? " tensor" : " tensors"));
    return std::nullopt;
  }
  if (total != graph.size(*to)) {
    std::string sum;
    for (AxisId part : parts)
      sum += (sum.empty() ? "" : " + ") + sized(part);
    error("T0211", op.range, sum + " gives " + text(total) + " places, axis " + axisName(*to) + " has " + text(graph.size(*to)));
    return std::nullopt;
  }
  return ConcatAxes{parts, *to};
}

static std::vector<AxisId> renamed(std::vector<AxisId> axes, AxisId from, AxisId to) {
  std::replace(axes.begin(), axes.end(), from, to);
  return axes;
}

Value Checker::concatBuiltin(const Call &call) {
  if (!arity(call, 1, 1000, {}, 1))
    return poison();
  auto joined = concatAxes(call);
  if (!joined)
    return poison();
  const auto &[parts, to] = *joined;
  bool real = false, truth = true;
  std::vector<NodeId> operands;
  for (size_t i = 0; i < parts.size(); ++i) {
    NodeId node = tensor(call.arguments[i], call.ranges[i]);
    if (node == kNoNode || !requireAxis(node, parts[i], call.ranges[i], "this part of concat"))
      return poison();
    if (to != parts[i] && graph.has(node, to)) {
      error("T0206", call.ranges[i], "this part has axis " + axisName(to) + " already: " + text(node));
      return poison();
    }
    real |= graph.element(node) == Element::Real;
    truth &= graph.element(node) == Element::Bool;
    operands.push_back(node);
  }
  std::vector<AxisId> axes; // of the result, each part's axis read as the result's
  auto resultAxes = [&](size_t i) { return renamed(graph.axes(operands[i]), parts[i], to); };
  for (size_t i = 0; i < operands.size(); ++i)
    if (resultAxes(i).size() > axes.size())
      axes = resultAxes(i);
  for (size_t i = 0; i < operands.size(); ++i)
    for (AxisId axis : resultAxes(i))
      if (!includes(axes, axis))
        axes.push_back(axis);
  for (size_t i = 0; i < operands.size(); ++i) {
    NodeId node = operands[i];
    if (real && !sameSet(resultAxes(i), axes)) {
      const std::vector<AxisId> wanted = renamed(axes, to, parts[i]);
      error("T0212", call.ranges[i], "this part of concat has " + text(graph.axes(node)) + ", the others make it " + text(wanted),
            text(node));
      return poison();
    }
    node = real ? graph.toReal(node) : truth ? node : graph.toInt(node);
    if (!sameSet(resultAxes(i), axes)) {
      node = graph.expand(node, renamed(axes, to, parts[i]), call.ranges[i]);
    }
    operands[i] = node;
  }
  Node node = makeNode(Op::Concat, {real ? Element::Real : truth ? Element::Bool : Element::Int, axes, {}});
  node.operands = operands;
  node.axesFrom = parts;
  node.axesTo = {to};
  node.range = call.range;
  return Value::ofTensor(graph.add(node));
}

Value Checker::expandBuiltin(const Call &call) {
  if (!arity(call, 1, 1, {}, 1))
    return poison();
  NodeId node = tensor(call.arguments[0], call.ranges[0]);
  auto axes = callAxes(call);
  if (node == kNoNode || !axes)
    return poison();
  std::vector<AxisId> all = without(*axes, graph.axes(node));
  const auto &own = graph.axes(node);
  all.insert(all.end(), own.begin(), own.end());
  return Value::ofTensor(graph.expand(node, all, call.range));
}

Value Checker::iotaBuiltin(const Call &call) {
  if (!arity(call, 0, 0, {}, 1))
    return poison();
  auto axis = onlyAxis(call.scope, *call.axisOps, "iota");
  return axis ? Value::ofTensor(graph.iota(*axis, call.range)) : poison();
}

Value Checker::sizeBuiltin(const Call &call) {
  if (!arity(call, 0, 0, {}, 1))
    return poison();
  auto axes = callAxes(call);
  if (!axes)
    return poison();
  bool linear = false, runtime = false;
  Size product = productOf(*axes, linear);
  for (AxisId axis : *axes)
    runtime |= graph.axisRuntime[axis];
  if (linear)
    return Value::ofInt(product, runtime);
  if (inSize) {
    std::optional<Size> all = Size(1);
    for (AxisId axis : *axes)
      all = all ? multiplyDims(graph.entry, *all, graph.size(axis)) : std::nullopt;
    if (all)
      return Value::ofInt(*all, true);
  }
  NodeId count = graph.integer(1); // a product of dims: a number at run time only
  for (AxisId axis : *axes)
    count = graph.elementwise(Op::Mul, {count, graph.sizeValue(graph.size(axis), call.range)}, Element::Int, call.range);
  return Value::ofTensor(count);
}

Value Checker::sinusoidBuiltin(const Call &call) {
  if (!arity(call, 0, 0, {"start", "offset", "clamp", "layout", "steps"}, 1))
    return poison();
  auto axes = callAxes(call);
  if (!axes)
    return poison();
  if (axes->size() != 2) {
    error("T0216", call.range, "sinusoid takes two axes, positions and features: sinusoid[P, D]()");
    return poison();
  }
  Node node = makeNode(Op::Sinusoid, {Element::Real, *axes, {}});
  for (auto &keyword : call.keywords) {
    const std::string &name = keyword.name;
    if (name == "start" || name == "offset") {
      auto size = wholeSize(keyword.value, keyword.range, name);
      auto start = size ? (name == "start" ? add(node.size, *size) : subtract(node.size, *size)) : std::nullopt;
      if (!start)
        return poison();
      node.size = *start;
    } else if (name == "clamp") {
      auto clamp = staticInt(keyword.value, keyword.range, "clamp");
      if (!clamp)
        return poison();
      node.clamp = std::max<int64_t>(*clamp, 0);
    } else {
      bool layout = name == "layout";
      const char *first = layout ? "halves" : "paper", *second = layout ? "interleaved" : "t2t";
      if (keyword.value.kind != Value::Kind::String || (keyword.value.text != first && keyword.value.text != second)) {
        error("T0308", keyword.range, name + " is \"" + first + "\" or \"" + second + "\", not " + text(keyword.value));
        return poison();
      }
      (layout ? node.interleaved : node.t2tSteps) = keyword.value.text == second;
    }
  }
  node.range = call.range;
  return Value::ofTensor(graph.add(node));
}

Value Checker::putBuiltin(const Call &call) {
  if (!arity(call, 2, 2, {"where"}, 1))
    return poison();
  const ast::AxisOp &op = (*call.axisOps)[0];
  auto axis = oneAxis(call.scope, op.from, "put");
  NodeId base = tensor(call.arguments[0], call.ranges[0]), value = tensor(call.arguments[1], call.ranges[1]);
  if (call.axisOps->size() != 1 || !op.low || op.high || op.openEnd || !op.to.empty()) {
    error("T0216", op.range, "put names an axis and the places to write: put[T: at](x, v)");
    return poison();
  }
  NodeId at = tensor(evaluate(call.scope, op.low), op.low->range);
  if (!axis || base == kNoNode || value == kNoNode || at == kNoNode ||
      !requireAxis(base, *axis, call.ranges[0], "the first argument of put"))
    return poison();
  if (graph.element(at) == Element::Real) {
    noteMadeReal(error("T0310", op.low->range, "an index must be a whole number, this is " + text(at)), at);
    return poison();
  }
  at = graph.toInt(at);
  if (!inRange(at, graph.size(*axis), call.scope->conditions, op.low->range, "this index can leave axis " + axisName(*axis),
               "T0207", "axis " + axisName(*axis), *axis, nullptr))
    return Value::ofTensor(graph.opaque(graph[base].type, call.range));
  std::vector<AxisId> slots = without(graph.axes(base), {*axis}); // what one written value may depend on
  for (AxisId own : graph.axes(at))
    if (!includes(slots, own))
      slots.push_back(own);
  std::vector<NodeId> operands = {base, at, value};
  if (auto *where = call.keyword("where")) {
    operands.push_back(tensor(where->value, where->range));
    if (operands.back() == kNoNode)
      return poison();
    if (graph.element(operands.back()) != Element::Bool) {
      needTruth(where->range, "`where` needs truth values, this is " + text(operands.back()));
      return poison();
    }
  }
  for (size_t i = 2; i < operands.size(); ++i)
    for (AxisId own : graph.axes(operands[i]))
      if (!includes(slots, own)) {
        error("T0212", i == 2 ? call.ranges[1] : call.keyword("where")->range,
              std::string(i == 2 ? "the written value" : "`where`") + " has axis " + axisName(own) +
                  ", which neither the places nor the tensor outside " + axisName(*axis) + " have");
        return poison();
      }
  Element element = graph.element(base);
  if (element == Element::Real)
    operands[2] = graph.toReal(value);
  else if (graph.element(value) == Element::Real || (element == Element::Bool && graph.element(value) != Element::Bool)) {
    const char *help = element == Element::Bool ? "a comparison is a truth value: x > 0" : "real(x) of the tensor takes reals";
    errorWith("T0301", call.ranges[1], "the written value is " + text(value) + ", the tensor is " + text(base), help);
    return poison();
  } else if (element == Element::Int)
    operands[2] = graph.toInt(value);
  Node node = makeNode(Op::Put, graph[base].type);
  node.type.pinned.clear();
  node.operands = operands;
  node.axesFrom = {*axis};
  node.range = call.range;
  return Value::ofTensor(graph.add(node));
}

} // namespace tenon::sema
