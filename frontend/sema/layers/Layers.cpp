// Calls of used layers and functions: once for the same arguments, in the same place.
#include "frontend/sema/Checker.h"
#include "frontend/sema/statements/Foreign.h"
#include <algorithm>
#include <utility>

namespace tenon::sema {
namespace {
constexpr unsigned kCallLimit = 200;
constexpr uint64_t kCallUnits = 16; // scopes, arguments, results
} // namespace

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
  auto frame = frameOf(instance, caller, inStack, body);
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

void Checker::untilStatement(const Instance &instance, const ast::Stmt &statement, Scope *scope, uint32_t body, bool inStack) {
  const size_t before = configsSaid;
  const Value stop = evaluate(scope, statement.value);
  const bool mayBeSwitched = configsSaid != before; // a config may be there to switch the condition off
  const bool isLooped = instance.repeat == ast::Stmt::Repeat::Loop;
  const bool isTruth = stop.kind == Value::Kind::Bool ||
                       (stop.isTensor() && graph.element(stop.node) == Element::Bool && graph.axes(stop.node).empty());
  const bool isOfPlaces = stop.isTensor() && graph.element(stop.node) == Element::Bool;
  if (!isTruth && !stop.isPoison())
    errorWith("T0303", statement.value->range, "`until` needs one truth value, this is " + text(stop),
              isOfPlaces ? "all(..) ends the loop when it holds at every place, any(..) when it does at one"
                         : "a comparison is a truth value, such as min(halted) >= 0.99");
  if (!isLooped)
    errorWith("T0409", statement.range, "`until` stands only in a layer that is used under loop[...]",
              "the rounds that it ends are those of `use " + instance.name + " = loop[8] " + instance.layer->callable->name.text +
                  "`");
  if (!isTruth || !isLooped || !inStack)
    return;
  const NodeId node = tensor(stop, statement.value->range);
  StackInfo &info = graph.entry.stacks[body];
  info.until = node;
  const bool isWhole = info.count == instance.count; // not a part of the depths, which other ones follow
  if (info.count == Size(0) || info.first != 0 || mayBeSwitched)
    return;
  auto truth = truthOfRounds(node, body);
  if (!truth)
    truth = provedTruth(node);
  if (truth && (*truth || isWhole))
    warnOfTruth(instance, statement.value->range, *truth);
  else if (isWhole)
    openConditions.insert(body);
}

Diagnostic *Checker::warnOfTruth(const Instance &instance, ast::Range range, bool truth) {
  auto *mistake = session.warning("T0117", range,
                                  truth ? "`until` is true from the start: loop " + instance.name + " runs no round"
                                        : "`until` is true at no depth: loop " + instance.name + " always runs " +
                                              text(instance.count) + " rounds");
  if (mistake)
    mistake->notes.push_back(
        {"help",
         "the condition is asked in front of each round: say it of what the rounds change, with a bound that they reach"});
  return mistake;
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
  if (!takesAxes(callable, axisOps.size(), range))
    return poison();
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
  auto frame = frameOf(instance, scope, false, scope->body);
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
    auto *mistake =
        error("T0110", expression.opRange, "." + expression.text + " needs a used layer before it, this is " + text(base));
    if (const std::string here = insteadOfMember(expression.text); mistake && !here.empty())
      mistake->notes.push_back({"help", "here this is " + here});
    return poison();
  }
  Instance &instance = *base.instance;
  if (instance.repeat == ast::Stmt::Repeat::Stack) {
    errorWith("T0110", expression.opRange,
              instance.name + " is a stack: it has one " + expression.text + " per layer, none of them has a name here",
              "what all layers share is declared outside of them, and given by a keyword: stack[N] " +
                  instance.layer->callable->name.text + "[..](" + expression.text + " = ..)");
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
