// Built-in functions that draw: dropout, sample, the distributions of initializers.
#include "frontend/sema/Checker.h"
#include "frontend/sema/builtins/Distributions.h"
#include <cmath>

namespace tenon::sema {

Value Checker::dropoutBuiltin(const Call &call) {
  if (!arity(call, 2, 2, {}, -1))
    return poison();
  NodeId node = realTensor(call.arguments[0], call.ranges[0]);
  auto rate = staticReal(call.arguments[1], call.ranges[1], "a dropout rate");
  auto shared = callAxes(call);
  if (node == kNoNode || !rate || !shared)
    return poison();
  if (*rate < 0 || *rate >= 1) {
    error("T0507", call.ranges[1], "a dropout rate lies in 0 .. 1, below 1; this is " + text(call.arguments[1]));
    return poison();
  }
  for (AxisId axis : *shared)
    if (!requireAxis(node, axis, call.ranges[0], "the argument of dropout"))
      return poison();
  if (!request.training || *rate == 0)
    return Value::ofTensor(node);
  Node drop = makeNode(Op::Dropout, graph[node].type);
  drop.type.pinned.clear();
  drop.operands = {node};
  drop.axesFrom = *shared;
  drop.number = *rate;
  drop.index = randomSite(call.scope, call.range);
  drop.range = call.range;
  return Value::ofTensor(graph.add(drop, call.scope->body));
}

Value Checker::sampleBuiltin(const Call &call) {
  if (!arity(call, 1, 1, {"temperature"}, 1))
    return poison();
  NodeId node = realTensor(call.arguments[0], call.ranges[0]);
  const ast::AxisOp &op = (*call.axisOps)[0];
  if (call.axisOps->size() != 1 || op.low) {
    error("T0216", op.range, "sample takes one axis, or an axis and that of the draws: sample[V -> S](p)");
    return poison();
  }
  auto axis = oneAxis(call.scope, op.from, "sample");
  if (node == kNoNode || !axis || !requireAxis(node, *axis, call.ranges[0], "the argument of sample") ||
      !requirePlaces(*axis, call.range, "sample over axis " + sized(*axis) + " has nothing to draw from"))
    return poison();
  if (auto *temperature = call.keyword("temperature")) {
    if (auto number = temperature->value.asReal(); number && *number <= 0) {
      const std::string name = axisName(*axis);
      if (auto *mistake =
              error("T0306", temperature->range, "`temperature` must be above 0", "this is " + text(temperature->value)))
        mistake->notes.push_back({"help", "argmax[" + name +
                                              "](x) takes the most probable place, which draws come near as the "
                                              "temperature falls to 0"});
      return poison();
    }
    NodeId divisor = realTensor(temperature->value, temperature->range);
    if (divisor == kNoNode ||
        !checkBroadcast(node, divisor, temperature->range, "temperature", call.ranges[0], temperature->range))
      return poison();
    node = graph.elementwise(Op::Div, {node, divisor}, Element::Real, call.range);
  }
  Node draw = makeNode(Op::Sample, {Element::Int, without(graph.axes(node), {*axis}), {}});
  if (!op.to.empty()) {
    auto draws = oneAxis(call.scope, op.to, "sample");
    if (!draws)
      return poison();
    if (graph.has(node, *draws)) {
      error("T0206", op.range, "the result would have axis " + axisName(*draws) + " twice");
      return poison();
    }
    draw.type.axes.push_back(*draws);
    draw.axesTo = {*draws};
  }
  draw.operands = {node};
  draw.axesFrom = {*axis};
  draw.index = randomSite(call.scope, call.range);
  draw.range = call.range;
  NodeId drawn = graph.add(draw, call.scope->body);
  hints.bounds.try_emplace(drawn, graph.size(*axis));
  return Value::ofTensor(drawn);
}

/// With axes a distribution is drawn from, a number for each place. Of g, standard Gumbel, exp(-exp(-g)) is uniform and exp(-g)
/// exponential: two of them make a normal one (Box & Muller 1958).
Value Checker::drawBuiltin(const Call &call, double spread) {
  auto axes = callAxes(call);
  if (!axes)
    return poison();
  auto gumbel = [&] {
    Node noise = makeNode(Op::Noise, {Element::Real, *axes, {}});
    noise.operands = {graph.expand(graph.real(0), *axes, call.range)};
    noise.index = randomSite(call.scope, call.range);
    noise.range = call.range;
    return graph.add(noise, call.scope->body);
  };
  auto apply = [&](Op op, NodeId x) { return graph.elementwise(op, {x}, Element::Real, call.range); };
  auto times = [&](NodeId x, double factor) {
    return graph.elementwise(Op::Mul, {x, graph.expand(graph.real(factor), *axes, call.range)}, Element::Real, call.range);
  };
  auto uniform = [&] { return apply(Op::Exp, apply(Op::Neg, apply(Op::Exp, apply(Op::Neg, gumbel())))); };
  if (call.name == "gumbel")
    return Value::ofTensor(times(gumbel(), spread));
  if (call.name == "uniform") {
    const NodeId twice = times(uniform(), 2 * spread);
    return Value::ofTensor(
        graph.elementwise(Op::Sub, {twice, graph.expand(graph.real(spread), *axes, call.range)}, Element::Real, call.range));
  }
  const NodeId length = apply(Op::Exp, times(gumbel(), -0.5));
  const NodeId direction = apply(Op::Cos, times(uniform(), 2 * M_PI));
  return Value::ofTensor(
      times(graph.elementwise(Op::Mul, {length, direction}, Element::Real, call.range), std::sqrt(2.0) * spread));
}

void helpDraw(Diagnostic *mistake, const Value &value) {
  if (mistake && value.kind == Value::Kind::Distribution)
    mistake->notes.push_back(
        {"help", "a distribution is how a param or state starts; normal[B, D](1) draws a number for each place"});
}

namespace {
/// (mean, deviation) or (low, high), beside the spread around 0 alone.
bool hasMiddle(const std::string &name) { return name == "normal" || name == "trunc_normal" || name == "uniform"; }
} // namespace

Value Checker::distributionBuiltin(const Call &call) {
  const bool isDrawn = call.name == "normal" || call.name == "uniform" || call.name == "gumbel";
  const bool plain = isDrawn || call.name == "trunc_normal";
  if (!arity(call, plain ? 1 : 0, hasMiddle(call.name) ? 2 : 1, {}, isDrawn ? -1 : 0))
    return poison();
  if (call.name == "gumbel" && call.axisOps->empty()) {
    if (auto *mistake = error("T0216", call.range, "gumbel draws a number for each place of the axes that it names"))
      mistake->notes.push_back({"help", "gumbel[B, V](1) has axes B and V"});
    return poison();
  }
  std::vector<double> numbers;
  for (size_t i = 0; i < call.arguments.size(); ++i) {
    auto number = staticReal(call.arguments[i], call.ranges[i], "the argument of " + call.name);
    if (!number)
      return poison();
    numbers.push_back(*number);
  }
  double middle = 0;
  if (numbers.size() == 2 && call.name == "uniform") {
    if (numbers[0] > numbers[1]) {
      error("T0311", call.range,
            "uniform(low, high) has its lower bound first, these are " + text(call.arguments[0]) + " and " +
                text(call.arguments[1]));
      return poison();
    }
    middle = numbers[0] / 2 + numbers[1] / 2;
    numbers = {numbers[1] / 2 - numbers[0] / 2};
  } else if (numbers.size() == 2) {
    middle = numbers[0];
    numbers = {numbers[1]};
  }
  if (!numbers.empty() && numbers[0] < 0) {
    error("T0311", call.ranges.back(),
          "the spread of " + call.name + " is never negative, this is " + text(call.arguments.back()));
    return poison();
  }
  if (!call.axisOps->empty()) {
    const Value drawn = drawBuiltin(call, numbers[0]);
    if (middle == 0 || !drawn.isTensor())
      return drawn;
    const NodeId around = graph.expand(graph.real(middle), graph.axes(drawn.node), call.range);
    return Value::ofTensor(graph.elementwise(Op::Add, {drawn.node, around}, Element::Real, call.range));
  }
  Value value;
  value.kind = Value::Kind::Distribution;
  value.distribution = std::make_shared<Distribution>(Distribution{call.name, numbers});
  return middle == 0 ? value : withDistribution("+", value, Value::ofReal(middle)).value_or(poison());
}

} // namespace tenon::sema
