// clip(x, low, high) and where(c, a, b).
#include "frontend/sema/Checker.h"

namespace tenon::sema {

Value Checker::clipBuiltin(const Call &call) {
  if (!arity(call, 3, 3, {}, 0))
    return poison();
  NodeId node = tensor(call.arguments[0], call.ranges[0]), low = tensor(call.arguments[1], call.ranges[1]),
         high = tensor(call.arguments[2], call.ranges[2]);
  if (node == kNoNode || low == kNoNode || high == kNoNode)
    return poison();
  bool real = graph.element(node) == Element::Real;
  for (size_t i : {1, 2})
    if (!call.arguments[i].isStatic() || (!real && call.arguments[i].kind != Value::Kind::Int)) {
      errorWith("T0309", call.ranges[i],
                std::string("the limits of clip must be ") + (real ? "" : "whole ") + "numbers known at compile time, this is " +
                    text(call.arguments[i]),
                "min(max(x, low), high) takes limits of any kind");
      return poison();
    }
  if (auto least = call.arguments[1].asReal(), most = call.arguments[2].asReal(); least && most && *least > *most) {
    errorWith("T0309", call.ranges[1],
              "clip(x, low, high): low is " + text(call.arguments[1]) + ", high is " + text(call.arguments[2]),
              "the smaller of them comes first");
    return poison();
  }
  Element element = real ? Element::Real : Element::Int;
  node = real ? node : graph.toInt(node);
  if (real) {
    low = graph.toReal(low);
    high = graph.toReal(high);
  }
  return Value::ofTensor(
      graph.elementwise(Op::Min, {graph.elementwise(Op::Max, {node, low}, element, call.range), high}, element, call.range));
}

Value Checker::whereBuiltin(const Call &call) {
  if (!arity(call, 3, 3, {}, 0))
    return poison();
  NodeId condition = tensor(call.arguments[0], call.ranges[0]), a = tensor(call.arguments[1], call.ranges[1]),
         b = tensor(call.arguments[2], call.ranges[2]);
  if (condition == kNoNode || a == kNoNode || b == kNoNode)
    return poison();
  if (graph.element(condition) != Element::Bool) {
    needTruth(call.ranges[0], "the condition of where must be a truth value, this is " + text(condition));
    return poison();
  }
  bool real = graph.element(a) == Element::Real || graph.element(b) == Element::Real;
  bool truth = graph.element(a) == Element::Bool && graph.element(b) == Element::Bool;
  if (real) {
    std::vector<AxisId> values = graph.unite({a, b});
    bool covers = true, covered = true;
    for (AxisId axis : graph.axes(condition))
      covers &= includes(values, axis);
    for (AxisId axis : values)
      covered &= graph.has(condition, axis);
    if (!covers && !covered) {
      std::string names;
      for (AxisId axis : without(graph.axes(condition), values))
        names += (names.empty() ? "" : ", ") + axisName(axis);
      errorWith("T0203", call.nameRange,
                "neither the condition nor the values of where have all axes of the other: " + text(condition) + " and " +
                    text(values),
                "if values for all pairs are meant, say so: expand[" + names + "](...) of one of them");
      return poison();
    }
    a = graph.toReal(a);
    b = graph.toReal(b);
  } else if (!truth) {
    a = graph.toInt(a);
    b = graph.toInt(b);
  }
  return Value::ofTensor(graph.elementwise(Op::Select, {condition, a, b},
                                           real    ? Element::Real
                                           : truth ? Element::Bool
                                                   : Element::Int,
                                           call.range));
}

} // namespace tenon::sema
