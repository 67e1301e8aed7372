// The statements of a model, layer, function or scan: they fill a scope with definitions and leave the rest to the owner.
#include "frontend/sema/Checker.h"
#include "frontend/sema/statements/FieldNames.h"
#include <algorithm>
#include <utility>

namespace tenon::sema {

using Kind = ast::Stmt::Kind;

/// What is wrong with a loss or metric that is called as a field of reports.
static std::string fieldNameMistake(const ast::Stmt &statement) {
  const bool ofPrefix = statement.name.text.starts_with(kHeldOutPrefix);
  return statement.name.text + " cannot name a " + (statement.kind == Kind::Loss ? "loss" : "metric") +
         ": metrics.jsonl and `tenon eval --json` have a field of their own " +
         (ofPrefix ? "for each name that begins with " + std::string(kHeldOutPrefix) : "by this name");
}

/// What to write instead of a statement that stands in the wrong place.
static const char *remedyFor(Kind kind) {
  switch (kind) {
  case Kind::In:
    return "what a layer or function reads are its arguments: layer Block(x: [B, D]) -> ..";
  case Kind::Out:
  case Kind::Loss:
  case Kind::Metric:
    return "`return` the value, and name it so in the model that calls this";
  case Kind::Return:
    return "a model gives its results by `out`, a scan by `yield`";
  case Kind::Until:
    return "write the rounds as a layer, and use it under loop[N]";
  case Kind::Carry:
  case Kind::Yield:
    return "scan(t: T) { carry h: [B, D] = ..  next h = ..  yield h } is an expression, behind `let y =`";
  case Kind::Next:
    return "a layer has states, a function has none: `layer` in place of `fn`";
  default:
    return "declare it in the model or layer around";
  }
}

bool Checker::allowed(const ast::Stmt &statement, Place place) {
  const char *word = nullptr, *where = nullptr;
  switch (statement.kind) {
  case Kind::In:
  case Kind::Out:
  case Kind::Loss:
  case Kind::Metric:
    if (place != Place::Model)
      word = statement.kind == Kind::In     ? "in"
             : statement.kind == Kind::Out  ? "out"
             : statement.kind == Kind::Loss ? "loss"
                                            : "metric",
      where = "a model";
    break;
  case Kind::Return:
    if (place != Place::Layer && place != Place::Function)
      word = "return", where = "a layer or function";
    break;
  case Kind::Until:
    if (place != Place::Layer)
      word = "until", where = "a layer";
    break;
  case Kind::Carry:
  case Kind::Yield:
    if (place != Place::Scan)
      word = statement.kind == Kind::Carry ? "carry" : "yield", where = "a scan";
    break;
  case Kind::Param:
  case Kind::State:
  case Kind::Use:
    if (place == Place::Function || place == Place::Scan)
      word = statement.kind == Kind::Param   ? "param"
             : statement.kind == Kind::State ? "state"
                                             : "use",
      where = "a model or layer";
    break;
  case Kind::Next:
    if (place == Place::Function)
      word = "next", where = "a model, layer or scan";
    break;
  default:
    break;
  }
  if (!word)
    return true;
  errorWith("T0409", statement.range, std::string("`") + word + "` stands only in " + where, remedyFor(statement.kind));
  return false;
}

void Checker::nextOnce(Body &body, const ast::Stmt &statement) {
  for (auto *other : body.next)
    if (other->name.text == statement.name.text) {
      const std::string &name = statement.name.text;
      if (auto *mistake = error("T0408", statement.range, "a second `next " + name + "`: it has one new value per step")) {
        mistake->related.push_back({other->range, "first one"});
        mistake->notes.push_back({"help", "what comes in between is a `let`, of which the one `next " + name + "` is made"});
      }
      return;
    }
  body.next.push_back(&statement);
}

/// What a body has one of.
void Checker::once(const ast::Stmt *&slot, const ast::Stmt &statement, const char *word) {
  if (!slot)
    slot = &statement;
  else if (auto *mistake = error("T0103", statement.range, std::string("a second `") + word + "`"))
    mistake->related.push_back({slot->range, "first one"});
}

/// What belongs to a body rather than to its names.
void Checker::bodyStatement(Scope *scope, Body &body, const ast::Stmt &statement) {
  if (statement.kind == Kind::Require && isOfSizes(scope, *statement.value))
    requireStatement(scope, statement);
  else if (statement.kind == Kind::Require)
    body.requirements.push_back(&statement);
  else if (statement.kind == Kind::Next)
    nextOnce(body, statement);
  else if (statement.kind == Kind::Carry)
    body.carries.push_back(&statement);
  else if (statement.kind == Kind::Until)
    once(body.until, statement, "until");
  else if (statement.kind == Kind::Return)
    once(body.result, statement, "return");
  else
    once(body.yield, statement, "yield");
}

void Checker::paramStatement(Scope *scope, const ast::Stmt &statement, Keywords *given) {
  std::shared_ptr<Keyword> keyword;
  for (size_t i = 0; given && i < given->size(); ++i)
    if ((*given)[i].name == statement.name.text) {
      keyword = std::make_shared<Keyword>((*given)[i]);
      given->erase(given->begin() + i);
    }
  define(scope, statement.name, [=, this, &statement] { return parameterValue(scope, statement, keyword.get()); }, Kind::Param);
}

void Checker::callableStatement(Scope *scope, const ast::Callable &callable) {
  Value value;
  value.kind = callable.isLayer ? Value::Kind::Layer : Value::Kind::Function;
  if (callable.isLayer)
    value.layer = std::make_shared<LayerReference>(LayerReference{&callable, scope, {}});
  else
    value.function = std::make_shared<FunctionReference>(FunctionReference{&callable, scope});
  defineValue(scope, callable.name, value, Kind::Callable);
}

/// An out, a loss or a metric.
void Checker::demandStatement(Scope *scope, const ast::Stmt &statement, Place place) {
  const std::string &name = statement.name.text;
  if (statement.kind == Kind::Out) {
    if (name == "eval" || name == "grad")
      error("T0008", statement.name.range, name + " cannot name an out: it is the name of the entry that is made of the losses");
    if (place == Place::Model)
      outStatements.push_back(&statement);
    return;
  }
  if (isFieldName(name))
    error("T0008", statement.name.range, fieldNameMistake(statement));
  if (statement.kind == Kind::Loss)
    losses.push_back(name);
  numbers.push_back(statement.value->range);
  define(scope, statement.name, [=, this, &statement] { return evaluate(scope, statement.value); }, statement.kind);
}

/// What is left of the keywords of a use names nothing of its layer.
void Checker::refuseKeywords(const Keywords *given, const std::vector<ast::StmtPtr> &list, const std::string &owner) {
  for (size_t i = 0; given && i < given->size(); ++i) {
    const Keyword &keyword = (*given)[i];
    if (auto *mistake = error("T0106", keyword.range, owner + " has no config, param or use named " + keyword.name)) {
      std::vector<std::string> names;
      for (auto &statement : list)
        if (statement->kind == Kind::Config || statement->kind == Kind::Param || statement->kind == Kind::Use)
          names.push_back(statement->name.text);
      std::string near = nearest(keyword.name, names), all;
      for (auto &name : names)
        all += (all.empty() ? "" : ", ") + name;
      if (!near.empty())
        mistake->notes.push_back({"help", "did you mean " + near + "?"});
      else if (!all.empty())
        mistake->notes.push_back({"help", owner + " has: " + all});
    }
  }
}

Checker::Body Checker::statements(Scope *scope, const std::vector<ast::StmtPtr> &list, Place place, Keywords *given,
                                  const std::string &owner) {
  Body body;
  for (auto &pointer : list) {
    const ast::Stmt &statement = *pointer;
    if (!spend(statement.range, statement.kind == Kind::Callable ? 2 : 1)) // a reference with keywords of its own
      return {};
    failed |= statement.kind == Kind::Bad;
    if (statement.kind == Kind::Bad || !allowed(statement, place))
      continue;
    switch (statement.kind) {
    case Kind::Config:
      configStatement(scope, statement, given);
      break;
    case Kind::Dim:
      dimStatement(scope, statement, place, given);
      break;
    case Kind::In:
      define(scope, statement.name, [this, &statement] { return inputValue(statement); }, Kind::In);
      break;
    case Kind::Param:
      paramStatement(scope, statement, given);
      break;
    case Kind::State:
      scope->frame->states[statement.name.text] = &statement;
      define(scope, statement.name, [=, this, &statement] { return stateValue(scope, statement); }, Kind::State);
      break;
    case Kind::Use:
      useStatement(scope, statement, given);
      break;
    case Kind::Let:
      letStatement(scope, statement);
      break;
    case Kind::Callable:
      callableStatement(scope, *statement.callable);
      break;
    case Kind::Require:
    case Kind::Next:
    case Kind::Carry:
    case Kind::Until:
    case Kind::Return:
    case Kind::Yield:
      bodyStatement(scope, body, statement);
      break;
    case Kind::Out:
    case Kind::Loss:
    case Kind::Metric:
      demandStatement(scope, statement, place);
      break;
    case Kind::Bad:
      break;
    }
  }
  refuseKeywords(given, list, owner);
  for (auto *statement : body.requirements)
    requireStatement(scope, *statement);
  return body;
}

void Checker::configStatement(Scope *scope, const ast::Stmt &statement, Keywords *given) {
  if (scope == top)
    configs.push_back(statement.name.text);
  for (size_t i = 0; given && i < given->size(); ++i)
    if ((*given)[i].name == statement.name.text) {
      defineValue(scope, statement.name, (*given)[i].value, Kind::Config);
      given->erase(given->begin() + i);
      return;
    }
  defineValue(scope, statement.name, evaluate(scope, statement.value), Kind::Config);
}

void Checker::symbolicDim(Scope *scope, const ast::Stmt &statement) {
  const std::string &name = statement.name.text;
  std::optional<Size> bound;
  bool bad = false;
  if (statement.op == '<') {
    bound = wholeSize(evaluate(scope, statement.value), statement.value->range, "the bound of " + name);
    bad = !bound;
  }
  dims.push_back(name);
  if (auto fixed = request.binds.find(name); fixed != request.binds.end()) {
    if (bound && !bad && provablyAtMost(*bound, Size(fixed->second - 1), graph.entry)) {
      auto *mistake = error("T0209", statement.name.range,
                            name + " = " + std::to_string(fixed->second) + " exceeds its bound " + text(*bound));
      if (mistake)
        mistake->related.push_back({statement.value->range, "is " + text(*bound)});
    } else if (bound && !bound->isConstant()) { // the run brings it: held there, and counted on here
      graph.entry.requirements.push_back({Requirement::Relation::AtMost, Size(fixed->second), *bound,
                                          name + " <= " + text(*bound), name + " is " + std::to_string(fixed->second), ""});
    }
    defineValue(scope, statement.name, Value::ofInt(fixed->second, true), Kind::Dim);
    return;
  }
  unsigned index = graph.entry.dims.size();
  graph.entry.dims.push_back(name);
  graph.entry.dimUpperBound.push_back(bound.value_or(Size(-1)));
  if (bound && bound->isConstant() && bound->constant() < 1)
    error("T0209", statement.value->range, name + " is at least 1, its bound is " + text(*bound));
  defineValue(scope, statement.name, Value::ofInt(Size::dim(index), true), Kind::Dim);
}

void Checker::dimStatement(Scope *scope, const ast::Stmt &statement, Place place, Keywords *given) {
  const std::string &name = statement.name.text;
  if (statement.op == '=') {
    const bool before = std::exchange(inSize, true);
    Value value = evaluate(scope, statement.value);
    inSize = before;
    if (value.kind != Value::Kind::Int && !value.isPoison()) {
      wholeSize(value, statement.value->range, "dim " + name);
      value = poison();
    }
    if (value.kind == Value::Kind::Int && mayBeNegative(value.integer, "T0214", statement.value->range, "dim " + name, name))
      value = poison();
    defineValue(scope, statement.name, value, Kind::Dim);
    return;
  }
  if (place == Place::Model)
    return symbolicDim(scope, statement);
  for (size_t i = 0; given && i < given->size(); ++i)
    if ((*given)[i].name == name) {
      defineValue(scope, statement.name, (*given)[i].value, Kind::Dim);
      given->erase(given->begin() + i);
      return;
    }
  error("T0409", statement.range, "only a model has dims of its own; here say what " + name + " is: dim " + name + " = ...");
  defineValue(scope, statement.name, poison(), Kind::Dim);
}

void Checker::letStatement(Scope *scope, const ast::Stmt &statement) {
  auto whole = std::make_shared<Thunk>();
  whole->compute = [=, this, &statement] {
    Value value = evaluate(scope, statement.value);
    size_t count = value.kind == Value::Kind::Tuple ? value.elements->size() : 1;
    if (!value.isPoison() && statement.names.size() > 1 && count != statement.names.size()) {
      error("T0313", statement.value->range,
            std::to_string(statement.names.size()) + " names on the left, " + std::to_string(count) +
                (count == 1 ? " value" : " values") + " on the right");
      return poison();
    }
    return value;
  };
  for (size_t i = 0; i < statement.names.size(); ++i) {
    const ast::Name &name = statement.names[i];
    define(
        scope, name,
        [=, this, &statement] {
          Value value = force(whole, statement.value->range);
          if (statement.names.size() > 1 && !value.isPoison())
            value = (*value.elements)[i];
          if (statement.type)
            value = fit(scope, value, *statement.type, statement.names[i].text, statement.value->range);
          return value;
        },
        Kind::Let);
  }
}

} // namespace tenon::sema
