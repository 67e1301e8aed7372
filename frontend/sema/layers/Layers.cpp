// Calls of used layers and functions: a frame per call, arguments checked against declared types, `..` fixed by the arguments.
#include "frontend/sema/Checker.h"
#include <algorithm>
#include <utility>

namespace tenon::sema {
namespace {
constexpr unsigned kCallLimit = 200;
constexpr uint64_t kCallUnits = 16; // scopes, arguments, results

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

std::optional<Checker::CallFrame> Checker::frameOf(Instance &instance, Scope *caller, bool inStack, uint32_t body,
                                                   ast::Range range) {
  const ast::Callable &layer = *instance.layer->callable;
  const auto &given = *instance.axisArguments;
  if (given.size() != layer.formals.size()) {
    auto *mistake =
        error("T0402", instance.range,
              layer.name.text + " takes " + plural(layer.formals.size(), "axis") + ", given are " + std::to_string(given.size()));
    if (mistake)
      mistake->related.push_back({layer.name.range, "declared here"});
    return std::nullopt;
  }
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
  for (size_t i = 0; i < given.size(); ++i) {
    const ast::Formal &formal = layer.formals[i];
    const ast::AxisOp &op = given[i];
    if (op.low) {
      error("T0402", op.range, "an axis argument is an axis or a product of axes, not an index");
      return std::nullopt;
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
      return std::nullopt;
    }
    if (!formal.output)
      continue;
    auto outer = axesOf(instance.owner, op.to);
    if (!outer) {
      ok = false;
      continue;
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
  }
  (void)range;
  return ok ? std::optional(call) : std::nullopt;
}

bool Checker::bindArguments(CallFrame &frame, const ast::Callable &callable, std::vector<Value> &arguments,
                            const std::vector<ast::Range> &ranges, ast::Range range, bool isLayer) {
  const auto &parameters = callable.parameters;
  std::string name = callable.name.text;
  if (arguments.size() != parameters.size()) {
    auto *mistake =
        error("T0401", range,
              name + " takes " + plural(parameters.size(), "argument") + ", given are " + std::to_string(arguments.size()));
    if (mistake)
      mistake->related.push_back({callable.name.range, "declared here"});
    return false;
  }
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
    std::vector<AxisId> declared;
    for (auto &axis : type.axes)
      if (axis.text != "..") {
        auto ids = axesOf(scope, axis);
        if (!ids)
          return false;
        declared.insert(declared.end(), ids->begin(), ids->end());
      }
    std::vector<AxisId> further = without(graph.axes(node), declared), surplus;
    if (!extra)
      extra = std::vector<AxisId>();
    bool first = extra->empty();
    surplus = without(further, *extra);
    bool covers = without(*extra, further).empty();
    if (!first && !surplus.empty() && elementOf(type) == Element::Real && !covers && isLayer) {
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
    error("T0411", callable.name.range, name + " has no `return`");
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

namespace {
bool sameKeywords(const Keywords *left, const Keywords *right);

/// Values of configs: numbers, words, layers with keywords of their own, tensors.
bool sameValue(const Value &left, const Value &right) {
  if (left.kind != right.kind || left.integer != right.integer || left.real != right.real || left.truth != right.truth ||
      left.text != right.text || left.node != right.node)
    return false;
  if (left.layer)
    return left.layer->callable == right.layer->callable && left.layer->scope == right.layer->scope &&
           sameKeywords(&left.layer->keywords, &right.layer->keywords);
  if (left.function)
    return left.function->callable == right.function->callable && left.function->scope == right.function->scope;
  return left.elements == right.elements && left.distribution == right.distribution && left.instance == right.instance;
}

bool sameKeywords(const Keywords *left, const Keywords *right) {
  const size_t count = left ? left->size() : 0;
  if (count != (right ? right->size() : 0))
    return false;
  for (size_t i = 0; i < count; ++i)
    if ((*left)[i].name != (*right)[i].name || !sameValue((*left)[i].value, (*right)[i].value))
      return false;
  return true;
}
} // namespace

/// A layer may stand inside one of its kind if a config says so (Residual(Inner = Residual(Inner = Linear))): with the same
/// keywords it would go on for ever.
bool Checker::goesRound(const ActiveCall &call) {
  auto first = std::find_if(calls.begin(), calls.end(), [&](const ActiveCall &other) {
    return other.callable == call.callable && other.scope == call.scope && sameKeywords(other.keywords, call.keywords);
  });
  const bool circle = first != calls.end();
  if (!circle && calls.size() < kCallLimit)
    return false;
  failed = true;
  if (std::exchange(session.endlessReported, true))
    return true; // every entry, and every call on the way back up, meets it again
  const std::string name = call.callable->name.text;
  std::string message = "layers and functions are nested more than " + std::to_string(kCallLimit) + " calls deep here";
  if (circle)
    message =
        first + 1 == calls.end() ? name + " uses itself" : name + " uses itself, through " + calls.back().callable->name.text;
  if (auto *mistake = error("T0415", call.range, message + (circle ? ": it would never end" : "")))
    mistake->related.push_back({call.callable->name.range, "declared here"});
  if (!circle) // every call on the way back up may go as deep again
    session.stop();
  return true;
}

Value Checker::runLayer(Instance &instance, std::vector<Value> arguments, const std::vector<ast::Range> &ranges, Scope *caller,
                        uint32_t body, bool inStack, ast::Range range) {
  const ast::Callable &layer = *instance.layer->callable;
  const ActiveCall call{&layer, instance.layer->scope, &instance.layer->keywords, range};
  if (goesRound(call) || !spend(range, kCallUnits))
    return poison();
  auto frame = frameOf(instance, caller, inStack, body, range);
  if (!frame)
    return poison();
  calls.push_back(call);
  Keywords keywords = instance.layer->keywords;
  Body rest = statements(frame->scope, layer.body, Place::Layer, &keywords, layer.name.text);
  Value result;
  if (bindArguments(*frame, layer, arguments, ranges, range, true)) {
    if (rest.until)
      untilStatement(instance, *rest.until, frame->scope, body, inStack);
    result = layerResults(*frame, layer, rest, range);
    for (auto *statement : rest.next)
      nextStatement(frame->scope, *statement, result);
  }
  calls.pop_back();
  return result;
}

/// Whether the text of an expression says a name but `depth`: a config may be there to switch the condition off.
static bool saysNames(const ast::Expr &expression) {
  using Kind = ast::Expr::Kind;
  if (expression.kind == Kind::Name)
    return expression.text != "depth" && expression.text != "true" && expression.text != "false";
  const bool isSimple = expression.kind == Kind::Neg || expression.kind == Kind::Not || expression.kind == Kind::Binary ||
                        expression.kind == Kind::If || expression.kind == Kind::Tuple || expression.kind == Kind::Int ||
                        expression.kind == Kind::Real;
  return !isSimple || std::any_of(expression.operands.begin(), expression.operands.end(),
                                  [](const ast::ExprPtr &operand) { return saysNames(*operand); });
}

void Checker::untilStatement(const Instance &instance, const ast::Stmt &statement, Scope *scope, uint32_t body, bool inStack) {
  const Value stop = evaluate(scope, statement.value);
  const bool isLooped = instance.repeat == ast::Stmt::Repeat::Loop;
  const bool isTruth = stop.kind == Value::Kind::Bool ||
                       (stop.isTensor() && graph.element(stop.node) == Element::Bool && graph.axes(stop.node).empty());
  if (!isTruth && !stop.isPoison())
    error("T0303", statement.value->range, "`until` needs one truth value, this is " + text(stop));
  if (!isLooped)
    error("T0409", statement.range, "`until` stands only in a layer that is used under loop[...]");
  if (!isTruth || !isLooped || !inStack)
    return;
  StackInfo &info = graph.entry.stacks[body];
  const NodeId node = tensor(stop, statement.value->range);
  const std::optional<bool> always = info.count == Size(0) ? std::nullopt : truthAtAllDepths(node, body);
  if (always && info.first == 0 && !saysNames(*statement.value))
    session.warning("T0117", statement.value->range,
                    *always ? "`until` is true from the start: loop " + instance.name + " runs no round"
                            : "`until` is true at no depth: loop " + instance.name + " always runs " + text(instance.count) +
                                  " rounds");
  if (always != false)
    info.until = node;
}

Value Checker::callLayer(const std::shared_ptr<Instance> &instance, std::vector<Value> arguments,
                         const std::vector<ast::Range> &ranges, std::optional<AxisId> history, Scope *caller, ast::Range range) {
  Instance::Call key{{}, caller->conditions, caller->body, history.value_or(~0u), {}};
  bool known = true;
  for (size_t i = 0; i < arguments.size(); ++i) {
    known &= arguments[i].isTensor() || arguments[i].isStatic();
    key.arguments.push_back(known ? tensor(arguments[i], ranges[i]) : kNoNode);
  }
  if (known && !spend(range, instance->calls.size() / 16))
    return poison();
  if (known)
    for (auto &call : instance->calls)
      if (call.arguments == key.arguments && call.conditions == key.conditions && call.body == key.body &&
          call.history == key.history)
        return call.result;
  size_t randomBefore = randomPlaces;
  Value result = instance->repeat == ast::Stmt::Repeat::None
                     ? runLayer(*instance, std::move(arguments), ranges, caller, caller->body, false, range)
                     : callStack(*instance, std::move(arguments), ranges, history, caller, range);
  if (known && randomPlaces == randomBefore) {
    key.result = result;
    instance->calls.push_back(key);
  }
  return result;
}

Value Checker::callFunction(const FunctionReference &function, const std::vector<ast::AxisOp> &axisOps,
                            std::vector<Value> arguments, const std::vector<ast::Range> &ranges, Scope *caller,
                            ast::Range range) {
  const ast::Callable &callable = *function.callable;
  const ActiveCall call{&callable, function.scope, nullptr, range};
  if (goesRound(call) || !spend(range, kCallUnits))
    return poison();
  CallFrame frame;
  frame.scope = newScope(function.scope);
  frame.scope->body = caller->body;
  frame.scope->conditions = caller->conditions;
  frame.scope->depth = caller->depth;
  if (axisOps.size() != callable.formals.size()) {
    auto *mistake = error("T0402", range,
                          callable.name.text + " takes " + plural(callable.formals.size(), "axis") + ", given are " +
                              std::to_string(axisOps.size()));
    if (mistake)
      mistake->related.push_back({callable.name.range, "declared here"});
    return poison();
  }
  for (size_t i = 0; i < axisOps.size(); ++i) {
    auto axes = axesOf(caller, axisOps[i].from);
    if (!axes)
      return poison();
    frame.scope->axes[callable.formals[i].name.text] = {*axes, callable.formals[i].name.range};
  }
  Value result;
  calls.push_back(call);
  if (bindArguments(frame, callable, arguments, ranges, range, false)) {
    Body rest = statements(frame.scope, callable.body, Place::Function, nullptr, callable.name.text);
    result = layerResults(frame, callable, rest, range);
  }
  calls.pop_back();
  return result;
}

std::optional<Checker::CallFrame> Checker::declare(Instance &instance, Scope *scope, ast::Range range) {
  if (!spend(range, kCallUnits))
    return std::nullopt;
  auto frame = frameOf(instance, scope, false, scope->body, range);
  if (!frame)
    return std::nullopt;
  Keywords keywords = instance.layer->keywords;
  const ast::Callable &layer = *instance.layer->callable;
  statements(frame->scope, layer.body, Place::Layer, &keywords, layer.name.text);
  return frame;
}

Value Checker::member(Scope *scope, const ast::Expr &expression) {
  Value base = evaluate(scope, expression.operands[0]);
  if (base.isPoison())
    return poison();
  if (base.kind != Value::Kind::Instance) {
    error("T0110", expression.opRange, "." + expression.text + " needs a used layer before it, this is " + text(base));
    return poison();
  }
  Instance &instance = *base.instance;
  if (instance.repeat == ast::Stmt::Repeat::Stack) {
    error("T0110", expression.opRange,
          instance.name + " is a stack: it has one " + expression.text + " per layer, none of them has a name here");
    return poison();
  }
  const ast::Callable &layer = *instance.layer->callable;
  auto frame = declare(instance, scope, expression.range);
  if (!frame)
    return poison();
  auto found = frame->scope->names.find(expression.text);
  if (found == frame->scope->names.end()) {
    if (auto *mistake = error("T0110", expression.opRange, layer.name.text + " has no " + expression.text)) {
      std::vector<std::string> names;
      for (auto &[name, binding] : frame->scope->names)
        names.push_back(name);
      std::string near = nearest(expression.text, names);
      if (!near.empty())
        mistake->notes.push_back({"help", "did you mean " + near + "?"});
      mistake->related.push_back({layer.name.range, "declared here"});
    }
    return poison();
  }
  Value value = force(found->second.thunk, expression.opRange);
  if (value.isTensor()) // the layer's own output axes have a name outside: the caller's
    for (auto &[outer, inner] : frame->outputs) {
      bool free = true;
      for (AxisId axis : outer)
        free &= !graph.has(value.node, axis);
      if (free)
        value = Value::ofTensor(graph.rename(value.node, inner, outer, expression.range));
    }
  return value;
}

} // namespace tenon::sema
