// The frame of a call: its axes, its arguments checked against declared types, `..` fixed by the arguments, its results.
#include "frontend/sema/Checker.h"

namespace tenon::sema {
namespace {
bool mentions(const ast::Type &type, const std::string &axis) {
  for (auto &name : type.axes)
    if (name.text == axis)
      return true;
  return false;
}
std::string plural(size_t count, const char *word) {
  const std::string text = word;
  return std::to_string(count) + " " + (count == 1 ? text : text == "axis" ? "axes" : text + "s");
}
} // namespace

/// Whether as many axes or arguments are given as the layer or function declares.
bool Checker::takes(const ast::Callable &callable, const char *code, size_t declared, const char *word, size_t given,
                    ast::Range range) {
  if (given == declared)
    return true;
  auto *mistake =
      error(code, range, callable.name.text + " takes " + plural(declared, word) + ", given are " + std::to_string(given));
  if (mistake)
    mistake->related.push_back({callable.name.range, "declared here"});
  if (std::string axes; mistake && code == std::string("T0402")) {
    for (const ast::Formal &formal : callable.formals)
      axes += (axes.empty() ? "" : ", ") + formal.name.text + (formal.output ? " -> " + formal.output->text : "");
    mistake->notes.push_back({"help", declared == 0 ? "none stand in brackets: " + callable.name.text
                                                    : "as it declares them: " + callable.name.text + "[" + axes + "]"});
  }
  return false;
}

bool Checker::takesAxes(const ast::Callable &callable, size_t given, ast::Range range) {
  return takes(callable, "T0402", callable.formals.size(), "axis", given, range);
}

/// An axis argument of a used layer. `ok` becomes false where its axes are not known, so that the others are looked at, too;
/// false is returned where it is none.
bool Checker::bindFormal(const Instance &instance, const ast::Formal &formal, const ast::AxisOp &op, CallFrame &call, bool &ok) {
  const ast::Callable &layer = *instance.layer->callable;
  if (op.low) {
    error("T0402", op.range, "an axis argument is an axis or a product of axes, not an index");
    return false;
  }
  auto from = axesOf(instance.owner, op.from);
  if (from)
    call.scope->axes[formal.name.text] = {*from, formal.name.range};
  ok &= from.has_value();
  if (formal.output.has_value() != !op.to.empty()) {
    auto *mistake = error("T0402", op.range,
                          formal.output ? "axis argument " + formal.name.text + " -> " + formal.output->text + " of " +
                                              layer.name.text + " needs \"->\""
                                        : "axis argument " + formal.name.text + " of " + layer.name.text + " takes no \"->\"");
    if (mistake)
      mistake->related.push_back({formal.name.range, "declared here"});
    return false;
  }
  if (!formal.output)
    return true;
  auto outer = axesOf(instance.owner, op.to);
  if (!outer) {
    ok = false;
    return true;
  }
  std::vector<AxisId> inner;
  for (AxisId axis : *outer) {
    inner.push_back(graph.newAxis(axisName(axis), graph.size(axis), graph.axisRuntime[axis]));
    if (auto place = axisPlaces.find(axis); place != axisPlaces.end())
      axisPlaces[inner.back()] = place->second;
  }
  call.scope->axes[formal.output->text] = {inner, formal.output->range};
  call.outputs.push_back({*outer, inner});
  call.outputNames.push_back(formal.output->text);
  return true;
}

std::optional<Checker::CallFrame> Checker::frameOf(Instance &instance, Scope *caller, bool inStack, uint32_t body) {
  const ast::Callable &layer = *instance.layer->callable;
  const auto &given = *instance.axisArguments;
  if (!takesAxes(layer, given.size(), instance.range))
    return std::nullopt;
  frames.emplace_back();
  Frame &frame = frames.back();
  const Frame &owner = *instance.owner->frame;
  bool stacked = instance.repeat == ast::Stmt::Repeat::Stack;
  frame.steps = owner.steps;
  frame.steps.push_back({layer.name.text, instance.name, stacked ? instance.count.asConstant() : std::nullopt});
  frame.stackCounts = owner.stackCounts;
  if (stacked)
    frame.stackCounts.push_back(instance.count.constant());
  frame.parameterBody = stacked && inStack ? body : owner.parameterBody;
  if (stacked && inStack)
    graph.entry.stacks[body].owner = owner.parameterBody;
  frame.body = &layer.body;

  CallFrame call;
  call.scope = newScope(instance.layer->scope);
  call.scope->frame = &frame;
  call.scope->body = body;
  call.scope->conditions = caller->conditions;
  call.scope->depth = caller->depth;
  bool ok = true;
  for (size_t i = 0; i < given.size(); ++i)
    if (!bindFormal(instance, layer.formals[i], given[i], call, ok))
      return std::nullopt;
  return ok ? std::optional(call) : std::nullopt;
}

/// What `..` of a declared type stands for in a tensor; nothing where an axis of the type is not known.
std::optional<std::vector<AxisId>> Checker::furtherAxes(Scope *scope, const ast::Type &type, NodeId node) {
  std::vector<AxisId> declared;
  for (auto &axis : type.axes)
    if (axis.text != "..") {
      auto ids = axesOf(scope, axis);
      if (!ids)
        return std::nullopt;
      declared.insert(declared.end(), ids->begin(), ids->end());
    }
  return without(graph.axes(node), declared);
}

bool Checker::bindArguments(CallFrame &frame, const ast::Callable &callable, std::vector<Value> &arguments,
                            const std::vector<ast::Range> &ranges, ast::Range range, bool isLayer) {
  const auto &parameters = callable.parameters;
  std::string name = callable.name.text;
  if (!takes(callable, "T0401", parameters.size(), "argument", arguments.size(), range))
    return false;
  Scope *scope = frame.scope;
  std::optional<std::vector<AxisId>> extra;
  for (size_t i = 0; i < parameters.size(); ++i) {
    const ast::Type &type = parameters[i].type;
    if (arguments[i].isPoison())
      continue;
    NodeId node = tensor(arguments[i], ranges[i]);
    if (node == kNoNode) {
      arguments[i] = poison();
      continue;
    }
    for (size_t o = 0; o < frame.outputs.size(); ++o)
      if (mentions(type, frame.outputNames[o]))
        node = graph.rename(node, frame.outputs[o].first, frame.outputs[o].second, ranges[i]);
    arguments[i] = Value::ofTensor(node);
    if (!mentions(type, ".."))
      continue;
    const std::optional<std::vector<AxisId>> further = furtherAxes(scope, type, node);
    if (!further)
      return false;
    if (!extra)
      extra = std::vector<AxisId>();
    const std::vector<AxisId> surplus = without(*further, *extra);
    const bool covers = without(*extra, *further).empty();
    if (!extra->empty() && !surplus.empty() && elementOf(type) == Element::Real && !covers && isLayer) {
      error("T0202", ranges[i],
            "argument " + parameters[i].name.text + " of " + name + " has further axes " + text(surplus) +
                " that the arguments before it lack (`..` is " + text(*extra) + ")",
            text(node));
      arguments[i] = poison();
      continue;
    }
    extra->insert(extra->end(), surplus.begin(), surplus.end());
  }
  if (extra)
    scope->axes[".."] = {*extra, callable.name.range};
  bool ok = true, misfit = false; // with `..` one argument of wrong axes makes the others look wrong
  for (size_t i = 0; i < parameters.size(); ++i) {
    const ast::Name &parameter = parameters[i].name;
    if (misfit && mentions(parameters[i].type, "..")) {
      defineValue(scope, parameter, poison(), ast::Stmt::Kind::Carry);
      continue;
    }
    size_t before = session.diagnostics.all().size();
    Value value = fit(scope, arguments[i], parameters[i].type, "argument " + parameter.text + " of " + name, ranges[i]);
    misfit |= extra && session.diagnostics.all().size() > before;
    ok &= !value.isPoison();
    defineValue(scope, parameter, value, ast::Stmt::Kind::Carry);
  }
  return ok;
}

Value Checker::layerResults(CallFrame &frame, const ast::Callable &callable, const Body &body, ast::Range range) {
  const std::string &name = callable.name.text;
  if (!body.result) {
    errorWith("T0411", callable.name.range, name + " has no `return`",
              "`return x` at its end gives " + (callable.results.size() == 1 ? std::string("the value") : "the values") +
                  " that it declares behind ->");
    return poison();
  }
  std::vector<Value> values;
  std::vector<ast::Range> places;
  for (auto &expression : body.result->values) {
    values.push_back(evaluate(frame.scope, expression));
    places.push_back(expression->range);
  }
  if (values.size() == 1 && values[0].kind == Value::Kind::Tuple) {
    values = std::vector<Value>(*values[0].elements);
    places.assign(values.size(), places[0]);
  }
  if (values.size() == 1 && values[0].isPoison())
    values.resize(callable.results.size()), places.resize(values.size(), places[0]);
  if (values.size() != callable.results.size()) {
    error("T0403", body.result->range,
          name + " returns " + plural(values.size(), "value") + ", declared are " + std::to_string(callable.results.size()));
    return poison();
  }
  for (size_t i = 0; i < values.size(); ++i) {
    const ast::Type &type = callable.results[i];
    if (values[i].isStatic() || values[i].isTensor())
      if (elementOf(type) == Element::Real)
        values[i] = Value::ofTensor(graph.toReal(tensor(values[i], places[i])));
    std::string which = values.size() == 1 ? "the result of " + name : "result " + std::to_string(i + 1) + " of " + name;
    values[i] = fit(frame.scope, values[i], type, which, places[i]);
    if (values[i].isPoison())
      continue;
    for (auto &[outer, inner] : frame.outputs) {
      NodeId node = values[i].node;
      for (size_t a = 0; a < outer.size(); ++a)
        if (graph.has(node, inner[a]) && graph.has(node, outer[a]) && !includes(inner, outer[a])) {
          error("T0206", range, "the result of " + name + " would have axis " + axisName(outer[a]) + " twice");
          values[i] = poison();
          break;
        }
      if (values[i].isPoison())
        break;
      values[i] = Value::ofTensor(graph.rename(node, inner, outer, range));
    }
  }
  return values.size() == 1 ? values[0] : Value::ofTuple(values);
}

} // namespace tenon::sema
