// One entry: its demands, what they reach, the states it advances.
#include "frontend/graph/Averages.h"
#include "frontend/sema/Checker.h"
#include <algorithm>
#include <set>

namespace tenon::sema {

Checker::Checker(Session &session, const ast::Model &model, const EntryRequest &request)
    : session(session), model(model), request(request) {
  graph.entry.kind = request.kind;
  graph.entry.name = request.name;
  graph.entry.training = request.training;
  graph.callerOf = [this](ast::Range range) {
    for (auto call = calls.rbegin(); call != calls.rend() && range.file != this->session.mainFile->file; ++call)
      range = call->range;
    return range;
  };
  frames.emplace_back();
  frames.back().body = &model.body;
  Scope *library = newScope(nullptr);
  library->frame = &frames.back();
  root = newScope(library);
  auto declare = [&](Scope *scope, const ast::Callable *callable) {
    Value value;
    value.kind = callable->isLayer ? Value::Kind::Layer : Value::Kind::Function;
    if (callable->isLayer)
      value.layer = std::make_shared<LayerReference>(LayerReference{callable, scope, {}});
    else
      value.function = std::make_shared<FunctionReference>(FunctionReference{callable, scope});
    defineValue(scope, callable->name, value, ast::Stmt::Kind::Callable);
  };
  for (auto &[name, callable] : session.library)
    if (session.mayGoOn())
      declare(library, callable);
  for (auto &[name, callable] : session.callables)
    if (spend(callable->name.range, 1))
      declare(root, callable);
  top = newScope(root);
  Keywords given;
  for (auto &[name, expression] : request.sets)
    if (expression)
      given.push_back({name, evaluate(top, expression), expression->range});
  Body body = statements(top, model.body, Place::Model, &given, model.name.text);
  nextStatements = body.next;
  std::set<std::string> known;
  for (auto *statement : outStatements)
    if (known.insert(statement->name.text).second)
      outs.push_back(statement->name.text);
  for (auto &[name, value] : request.binds)
    if (std::find(dims.begin(), dims.end(), name) == dims.end()) {
      auto *mistake = error("T0108", model.name.range, model.name.text + " has no dim " + name + " to bind");
      std::string near = nearest(name, dims);
      if (mistake && !near.empty())
        mistake->notes.push_back({"help", "did you mean " + near + "?"});
      else if (mistake && std::find(configs.begin(), configs.end(), name) != configs.end())
        mistake->notes.push_back({"help", name + " is a config: --set " + name + "=..."});
    }
}

bool Checker::demandOuts() {
  for (auto *statement : outStatements) {
    if (statement->name.text != request.name)
      continue;
    for (auto &axis : statement->walked) {
      auto axes = axesOf(top, axis);
      if (!axes)
        continue;
      walked = (*axes)[0];
      if (std::find(configs.begin(), configs.end(), axis.text) != configs.end())
        error("T0416", axis.range,
              "an entry walks along a dim: " + axis.text + " is a config, and has no new places from call to call");
      if (!graph.entry.walkedAxis.empty())
        if (Diagnostic *mistake =
                error("T0901", axis.range,
                      "not supported yet: an entry that walks two axes, here " + graph.entry.walkedAxis + " and " + axis.text +
                          ": what is kept of one would change with every new place of the other"))
          mistake->notes.push_back(
              {"help",
               "`out " + request.name + "(" + graph.entry.walkedAxis + ")` or `out " + request.name + "(" + axis.text +
                   ")`: walk the axis along which a text is made, and no other. What has the other one, such as a source, is "
                   "given whole in front of the first call, and what depends on it alone is computed once per text"});
      graph.entry.walkedAxis = axis.text;
      graph.entry.walkedRange = axis.range;
    }
    for (auto &name : statement->names) {
      Value value = lookup(top, name);
      if (value.isPoison())
        continue;
      if (!value.isTensor() && !value.isStatic()) {
        error("T0302", name.range, "an `out` is a tensor, " + name.text + " is " + kindOf(value));
        continue;
      }
      for (auto &[known, node] : graph.entry.results)
        if (known == name.text)
          error("T0103", name.range, name.text + " is put out twice by entry " + request.name);
      graph.entry.results.push_back({name.text, tensor(value, name.range)});
    }
  }
  return !failed;
}

void Checker::demandNumbers(ast::Stmt::Kind kind) {
  const bool isLoss = kind == ast::Stmt::Kind::Loss;
  for (auto &statement : model.body) {
    if (statement->kind != kind)
      continue;
    const std::string &name = statement->name.text;
    if (isLoss && !request.losses.empty() &&
        std::find(request.losses.begin(), request.losses.end(), name) == request.losses.end())
      continue;
    if (!isLoss && request.metricNames &&
        std::find(request.metricNames->begin(), request.metricNames->end(), name) == request.metricNames->end())
      continue;
    Value value = lookup(top, statement->name);
    if (value.isPoison())
      continue;
    NodeId node = tensor(value, statement->value->range);
    if (node == kNoNode)
      continue;
    if (!graph.axes(node).empty() || graph.element(node) == Element::Bool) {
      auto *mistake = error("T0315", statement->value->range,
                            std::string(isLoss ? "a loss" : "a metric") + " is one number, " + name + " is " + text(node));
      if (mistake)
        mistake->notes.push_back({"help", "mean(...) or sum(...) over all axes"});
      continue;
    }
    graph.entry.results.push_back({name, graph.toReal(node)});
    graph.entry.metrics += !isLoss;
  }
}

void Checker::advanceStates() {
  std::vector<const ast::Stmt *> waiting = nextStatements;
  for (bool changed = true; changed;) { // a next value may read further states
    changed = false;
    for (size_t i = 0; i < waiting.size(); ++i) {
      const std::string &name = waiting[i]->name.text;
      bool isState = top->frame->states.count(name) != 0;
      if (isState && !stateIndex.count(name))
        continue; // this entry does not read it
      const ast::Stmt *statement = waiting[i];
      waiting.erase(waiting.begin() + i--);
      nextStatement(top, *statement, Value());
      changed = true;
    }
  }
}

/// A loss may want the statistics of its batch; a metric is to be that of the data.
static void warnOfBatch(Session &session, const ast::Model &model, const BatchResult &result) {
  using Why = BatchResult::Why;
  const char *what = result.why == Why::Inside ? "a sum over their rows inside of what is summed is that of one batch alone"
                     : result.why == Why::Large
                         ? "its formula is too large to be taken apart, and an evaluation takes the mean over the whole batches"
                         : "something in it is no sum, maximum or minimum over their rows, and an evaluation takes the mean over "
                           "the whole batches";
  const char *help = result.why == Why::Inside ? "over all rows, mean((w - mean(w)) ^ 2) is mean(w * w) - mean(w) * mean(w), and "
                                                 "sum((w - mean(w)) ^ 2) is sum(w * w) - sum(w) * mean(w)"
                     : result.why == Why::Large ? "a formula along an axis, such as a sum for each class and then their mean, "
                                                  "has few terms; metrics of parts are smaller formulas"
                                                : "sums, max, min, any and all over all axes or all but some (a sum for each "
                                                  "class), and formulas of them, are those of all rows";
  for (auto &statement : model.body)
    if (statement->kind == ast::Stmt::Kind::Metric && statement->name.text == result.name)
      if (auto *warning =
              session.warning("T0116", statement->name.range, result.name + " depends on the size of the batches: " + what))
        warning->notes.push_back({"help", help});
}

std::optional<Entry> Checker::run() {
  if (request.kind == Entry::Kind::Out)
    demandOuts();
  else
    demandNumbers(ast::Stmt::Kind::Loss);
  if (request.metrics)
    demandNumbers(ast::Stmt::Kind::Metric);
  advanceStates();
  if (failed)
    return std::nullopt;
  auto entry = finish();
  if (entry && entry->kind == Entry::Kind::Eval && !session.options.lossesOnly && !session.options.gradient)
    for (const BatchResult &result : addAverages(*entry))
      warnOfBatch(session, model, result);
  return entry;
}

void Checker::runUnused() {
  using Kind = ast::Stmt::Kind;
  for (auto &statement : model.body) {
    for (auto &name : statement->names)
      if (statement->kind == Kind::Let)
        lookup(top, name);
    if (statement->kind == Kind::In || statement->kind == Kind::Param || statement->kind == Kind::State)
      lookup(top, statement->name);
    if (statement->kind == Kind::Use)
      if (Value used = lookup(top, statement->name);
          used.kind == Value::Kind::Instance && used.instance->repeat == ast::Stmt::Repeat::None && used.instance->calls.empty())
        declare(*used.instance, top, used.instance->range); // its axes and keywords
  }
  for (auto *statement : nextStatements)
    nextStatement(top, *statement, Value());
}

Value Checker::evaluateConstant(const ast::ExprPtr &expression, std::optional<int64_t> depth) {
  staticDepth = depth;
  Value value = evaluate(top, expression);
  staticDepth.reset();
  return value;
}

} // namespace tenon::sema
