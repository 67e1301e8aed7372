// Built-in functions over one axis: softmax, norms, cross entropies, argmax, top, cumsum.
#include "frontend/sema/Checker.h"
#include <algorithm>
#include <cmath>

namespace tenon::sema {

Value Checker::softmaxBuiltin(const Call &call) {
  if (!arity(call, 1, 1, {}, 1))
    return poison();
  NodeId node = realTensor(call.arguments[0], call.ranges[0]);
  auto axes = callAxes(call);
  if (node == kNoNode || !axes)
    return poison();
  for (AxisId axis : *axes)
    if (!requireAxis(node, axis, call.ranges[0], "the argument of " + call.name))
      return poison();
  Node result = makeNode(call.name == "softmax" ? Op::Softmax : Op::LogSoftmax, graph[node].type);
  result.type.pinned.clear();
  result.operands = {node};
  result.axesFrom = *axes;
  result.range = call.range;
  return Value::ofTensor(graph.add(result));
}

Value Checker::normalizeBuiltin(const Call &call) {
  if (!arity(call, 1, 1, {"eps"}, 1))
    return poison();
  NodeId node = realTensor(call.arguments[0], call.ranges[0]);
  auto axes = callAxes(call);
  if (node == kNoNode || !axes)
    return poison();
  const Keyword *eps = call.keyword("eps");
  if (!eps) {
    error("T0308", call.nameRange, "normalize needs eps = a small number");
    return poison();
  }
  auto number = staticReal(eps->value, eps->range, "eps");
  if (!number)
    return poison();
  if (*number < 0) {
    error("T0308", eps->range, "eps of normalize is never negative, this is " + text(eps->value));
    return poison();
  }
  for (AxisId axis : *axes)
    if (!requireAxis(node, axis, call.ranges[0], "the argument of normalize") ||
        !requirePlaces(axis, call.range, "normalize over axis " + sized(axis) + " is 0 / 0"))
      return poison();
  Node result = makeNode(Op::Normalize, graph[node].type);
  result.type.pinned.clear();
  result.operands = {node};
  result.axesFrom = *axes;
  result.number = *number;
  result.range = call.range;
  return Value::ofTensor(graph.add(result));
}

/// Trains, but slowly and towards nothing: what the author of another framework's loss of probabilities writes.
void Checker::warnNormalized(const Call &call, const std::string &function) {
  if (auto *mistake = session.warning("T0318", call.ranges[0], call.name + " takes logits, this is a " + function + " of them"))
    mistake->notes.push_back({"help", "leave the " + function + " out: " + call.name + " applies its own"});
}

/// `where` of a loss, over axes of the labels; kNoNode: there is none.
std::optional<NodeId> Checker::lossCondition(const Call &call, const std::vector<AxisId> &labels) {
  const Keyword *keyword = call.keyword("where");
  if (!keyword)
    return kNoNode;
  const NodeId where = tensor(keyword->value, keyword->range);
  if (where == kNoNode)
    return std::nullopt;
  if (graph.element(where) != Element::Bool) {
    needTruth(keyword->range, "`where` needs truth values, this is " + text(where));
    return std::nullopt;
  }
  for (AxisId own : graph.axes(where))
    if (!includes(labels, own)) {
      error("T0218", keyword->range, "`where` has axis " + axisName(own) + ", which the labels lack");
      return std::nullopt;
    }
  return where;
}

Value Checker::crossEntropyBuiltin(const Call &call) {
  if (!arity(call, 2, 2, {"where", "smoothing", "form", "spread", "skip"}, 1))
    return poison();
  NodeId logits = realTensor(call.arguments[0], call.ranges[0]), labels = tensor(call.arguments[1], call.ranges[1]);
  auto axis = onlyAxis(call.scope, *call.axisOps, "cross_entropy");
  if (logits == kNoNode || labels == kNoNode || !axis ||
      !requireAxis(logits, *axis, call.ranges[0], "the first argument of cross_entropy"))
    return poison();
  if (graph.element(labels) == Element::Real) {
    noteMadeReal(error("T0310", call.ranges[1], "the labels of cross_entropy are whole numbers, this is " + text(labels)),
                 labels);
    return poison();
  }
  if (graph[logits].op == Op::Softmax && includes(graph[logits].axesFrom, *axis))
    warnNormalized(call, "softmax");
  labels = graph.toInt(labels);
  auto expected = without(graph.axes(logits), {*axis});
  if (!sameSet(graph.axes(labels), expected)) {
    if (auto *mistake = error("T0218", call.ranges[1],
                              "the labels do not fit the logits: labels have " + text(graph.axes(labels)) + ", logits without " +
                                  axisName(*axis) + " have " + text(expected)))
      mistake->related.push_back({call.ranges[0], text(logits)});
    return poison();
  }
  Node node = makeNode(Op::CrossEntropy, {Element::Real, expected, {}});
  std::vector<NodeId> conditions = call.scope->conditions;
  const std::optional<NodeId> where = lossCondition(call, expected);
  if (!where)
    return poison();
  if (*where != kNoNode)
    conditions.push_back(*where);
  if (!inRange(labels, graph.size(*axis), conditions, call.ranges[1], "these labels can leave axis " + axisName(*axis), "T0217",
               "axis " + axisName(*axis), *axis, nullptr))
    return Value::ofTensor(graph.opaque(node.type, call.range));
  if (auto *keyword = call.keyword("skip")) {
    auto skip = staticInt(keyword->value, keyword->range, "skip");
    if (!skip)
      return poison();
    if (*skip < 0 || !provablyAtMost(Size(*skip + 1), graph.size(*axis), graph.entry)) {
      error("T0217", keyword->range, "skip = " + std::to_string(*skip) + " is no place of axis " + sized(*axis));
      return poison();
    }
    node.index = uint32_t(*skip + 1);
  }
  if (!smoothedTarget(call, *axis, node))
    return poison();
  node.operands = {logits, labels};
  if (*where != kNoNode)
    node.operands.push_back(*where);
  node.axesFrom = {*axis};
  node.range = call.range;
  return Value::ofTensor(graph.add(node));
}

/// `form` of a smoothing: whether the classes besides the label share it, not all; nothing where it is no form.
std::optional<bool> Checker::sharesWithOthers(const Keyword *form) {
  const bool isOthers = form && form->value.kind == Value::Kind::String && form->value.text == "t2t";
  if (form && !isOthers && !(form->value.kind == Value::Kind::String && form->value.text == "torch")) {
    if (auto *mistake = error("T0308", form->range, "form is \"torch\" or \"t2t\", not " + text(form->value)))
      mistake->notes.push_back({"help", "\"torch\", also tf.keras: smoothing / V for every class; \"t2t\", Tensor2Tensor: "
                                        "smoothing / (V - 1) for every class but the label"});
    return std::nullopt;
  }
  return isOthers;
}

/// `smoothing` (a weight that classes share) and `spread` (the weight of each class that is not the label), of V classes, V - 1
/// with a `skip`: "torch": smoothing / V for each, the label included, as torch.nn.CrossEntropyLoss(label_smoothing) and tf.keras
/// mean it; "t2t": smoothing / (V - 1) for each other one, as Tensor2Tensor and Vaswani et al. 2017 have it (without the constant
/// that T2T takes off).
bool Checker::smoothedTarget(const Call &call, AxisId axis, Node &node) {
  const Keyword *smoothing = call.keyword("smoothing"), *form = call.keyword("form"), *spread = call.keyword("spread");
  const auto size = graph.size(axis).asConstant();
  const int64_t skipped = node.index != 0;
  if (smoothing && spread) {
    error("T0308", spread->range, "cross_entropy takes `smoothing` or `spread`, not both");
    return false;
  }
  if (form && !smoothing) {
    error("T0308", form->range, "`form` says what `smoothing` means; here is no `smoothing`");
    return false;
  }
  const Keyword *given = smoothing ? smoothing : spread;
  if (const Keyword *skip = call.keyword("skip"); skip && !given) {
    error("T0308", skip->range, "`skip` names the class that has no share in `smoothing` or `spread`; here is neither");
    return false;
  }
  if (!given)
    return true;
  auto number = staticReal(given->value, given->range, given->name);
  if (!number)
    return false;
  if (!(*number >= 0 && *number <= 1)) {
    error("T0316", given->range, given->name + " is a share of the target, from 0 to 1, not " + text(given->value));
    return false;
  }
  node.number = *number;
  if (spread && size && *number * double(*size - 1 - skipped) > 1 + 1e-12) {
    const std::string others = std::to_string(*size - 1 - skipped);
    if (auto *mistake =
            error("T0316", given->range,
                  "`spread` is the weight of each other class: " + text(given->value) + " for each of " + others + " is " +
                      text(Value::ofReal(*number * double(*size - 1 - skipped))) + ", more than the whole target"))
      mistake->notes.push_back({"help", "did you mean smoothing = " + text(given->value) + "? The classes share it."});
    return false;
  }
  if (!smoothing)
    return true;
  const std::optional<bool> isOthers = sharesWithOthers(form);
  if (!isOthers)
    return false;
  if (*isOthers && size && *size - 1 - skipped < 1) {
    error("T0316", form->range, "there is no class besides the label to share `smoothing`: axis " + sized(axis));
    return false;
  }
  const int64_t exempt = int64_t(*isOthers) + skipped;
  if (size) {
    node.number = *number / double(std::max<int64_t>(*size - exempt, 1));
  } else if (*number > 0) {
    node.integer = 1 + exempt;
    if (skipped) {
      error("T0901", call.keyword("skip")->range,
            "not supported yet: `smoothing` with `skip` over axis " + axisName(axis) + ", whose size varies at run time");
      return false;
    }
  }
  return true;
}

Value Checker::binaryCrossEntropyBuiltin(const Call &call) {
  if (!arity(call, 2, 2, {}, 0))
    return poison();
  NodeId logits = realTensor(call.arguments[0], call.ranges[0]), labels = tensor(call.arguments[1], call.ranges[1]);
  if (logits == kNoNode || labels == kNoNode)
    return poison();
  if (graph.element(labels) == Element::Int) {
    errorWith("T0301", call.ranges[1],
              "the labels of binary_cross_entropy are truth values or reals in 0 .. 1, this is " + text(labels),
              "label == 1 is a truth value; classes have cross_entropy[C](logits, label)");
    return poison();
  }
  if (!sameSet(graph.axes(logits), graph.axes(labels))) {
    error("T0218", call.ranges[1],
          "the labels do not fit the logits: labels have " + text(graph.axes(labels)) + ", logits have " +
              text(graph.axes(logits)));
    return poison();
  }
  if (graph[logits].op == Op::Sigmoid)
    warnNormalized(call, "sigmoid");
  Node node = makeNode(Op::BinaryCrossEntropy, {Element::Real, graph.axes(logits), {}});
  node.operands = {logits, graph.toReal(labels)};
  node.range = call.range;
  return Value::ofTensor(graph.add(node));
}

Value Checker::argmaxBuiltin(const Call &call) {
  if (!arity(call, 1, 1, {}, 1))
    return poison();
  NodeId node = tensor(call.arguments[0], call.ranges[0]);
  auto axis = onlyAxis(call.scope, *call.axisOps, "argmax");
  if (node == kNoNode || !axis || !requireAxis(node, *axis, call.ranges[0], "the argument of argmax") ||
      !requirePlaces(*axis, call.range, "argmax over axis " + sized(*axis) + " has no value"))
    return poison();
  NodeId result = graph.reduce(Op::ArgMax, graph.toInt(node), {*axis}, Element::Int, call.range);
  hints.bounds.try_emplace(result, graph.size(*axis));
  return Value::ofTensor(result);
}

Value Checker::cumsumBuiltin(const Call &call) {
  if (!arity(call, 1, 1, {}, 1))
    return poison();
  NodeId node = tensor(call.arguments[0], call.ranges[0]);
  auto axis = onlyAxis(call.scope, *call.axisOps, "cumsum");
  if (node == kNoNode || !axis || !requireAxis(node, *axis, call.ranges[0], "the argument of cumsum"))
    return poison();
  node = graph.toInt(node);
  Node result = makeNode(Op::Cumsum, graph[node].type);
  result.type.pinned.clear();
  result.operands = {node};
  result.axesFrom = {*axis};
  result.range = call.range;
  return Value::ofTensor(graph.add(result));
}

Value Checker::flipBuiltin(const Call &call) {
  if (!arity(call, 1, 1, {}, 1))
    return poison();
  NodeId node = tensor(call.arguments[0], call.ranges[0]);
  auto axis = onlyAxis(call.scope, *call.axisOps, "flip");
  if (node == kNoNode || !axis || !requireAxis(node, *axis, call.ranges[0], "the argument of flip"))
    return poison();
  Node result = makeNode(Op::Flip, graph[node].type);
  result.type.pinned.clear();
  result.operands = {node};
  result.axesFrom = {*axis};
  result.range = call.range;
  return Value::ofTensor(graph.add(result));
}

Value Checker::topBuiltin(const Call &call) {
  if (!arity(call, 1, 1, {}, 1))
    return poison();
  const ast::AxisOp &op = (*call.axisOps)[0];
  NodeId node = tensor(call.arguments[0], call.ranges[0]);
  if (call.axisOps->size() != 1 || op.to.empty() || op.low) {
    error("T0216", op.range, "top needs \"-> axis\": the axis of the k largest");
    return poison();
  }
  auto axis = oneAxis(call.scope, op.from, "top"), best = oneAxis(call.scope, op.to, "top");
  if (node == kNoNode || !axis || !best || !requireAxis(node, *axis, call.ranges[0], "the argument of top") ||
      !requirePlaces(*best, op.range, "top takes at least one place, not those of axis " + sized(*best)))
    return poison();
  if (!provablyAtMost(graph.size(*best), graph.size(*axis), graph.entry)) {
    const Size &all = graph.size(*axis), &most = graph.size(*best);
    const bool isKnown = all.isConstant() && most.isConstant();
    errorWith("T0204", op.range, "axis " + sized(*axis) + " does not have " + text(most) + " places",
              "top takes at most all places: " + axisName(*best) + " must be at most " + text(all) +
                  (isKnown ? "" : "; `require " + text(most) + " <= " + text(all) + "` says so of every run"));
    return poison();
  }
  node = graph.toInt(node);
  Node top = makeNode(Op::Top, graph[node].type);
  top.type.pinned.clear();
  for (AxisId &own : top.type.axes)
    if (own == *axis)
      own = *best;
  top.operands = {node};
  top.axesFrom = {*axis};
  top.axesTo = {*best};
  top.range = call.range;
  ValueType values = top.type, places = top.type;
  places.element = Element::Int;
  NodeId producer = graph.add(top);
  NodeId indices = graph.result(producer, 1, places, call.range);
  hints.bounds.try_emplace(indices, graph.size(*axis));
  return Value::ofTuple({Value::ofTensor(graph.result(producer, 0, values, call.range)), Value::ofTensor(indices)});
}

} // namespace tenon::sema
