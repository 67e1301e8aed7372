// Names: lexical lookup of values and axes, lazily evaluated definitions.
#include "frontend/sema/Checker.h"
#include "frontend/sema/statements/Foreign.h"
#include <utility>

namespace tenon::sema {

Scope *Checker::newScope(Scope *up) {
  scopes.emplace_back();
  Scope &scope = scopes.back();
  scope.up = up;
  if (up) {
    scope.frame = up->frame;
    scope.body = up->body;
    scope.conditions = up->conditions;
    scope.depth = up->depth;
  }
  return &scope;
}

bool Checker::define(Scope *scope, const ast::Name &name, std::function<Value()> compute, ast::Stmt::Kind kind) {
  if (name.text == "training" || name.text == "depth" || name.text == "true" || name.text == "false") {
    error("T0103", name.range, "`" + name.text + "` has a meaning of its own and cannot be defined", "a word of the language");
    return false;
  }
  auto old = scope->names.find(name.text);
  if (old != scope->names.end()) {
    // A body's statements are taken up before the tensor arguments: the later place in the text is the second one.
    ast::Range first = old->second.range, second = name.range;
    if (first.file == second.file && first.begin > second.begin)
      std::swap(first, second);
    if (auto *mistake = error("T0103", second, name.text + " is defined twice", "second definition")) {
      mistake->related.push_back({first, "first definition"});
      mistake->notes.push_back({"help", "a name keeps its value: give the new one a name of its own"});
    }
    return false;
  }
  auto thunk = std::make_shared<Thunk>();
  thunk->compute = std::move(compute);
  scope->names[name.text] = {thunk, name.range, kind};
  return true;
}

void Checker::defineValue(Scope *scope, const ast::Name &name, Value value, ast::Stmt::Kind kind) {
  if (!define(scope, name, nullptr, kind))
    return;
  Thunk &thunk = *scope->names[name.text].thunk;
  thunk.state = Thunk::State::Done;
  thunk.value = std::move(value);
}

Value Checker::force(const std::shared_ptr<Thunk> &thunk, ast::Range use) {
  if (thunk->state == Thunk::State::Busy) {
    failed = true; // every entry meets the circle at another place
    if (!std::exchange(session.circleReported, true))
      error("T0104", use, "this definition needs its own value", "defined in a circle");
    return poison();
  }
  if (thunk->state == Thunk::State::New) {
    thunk->state = Thunk::State::Busy;
    const size_t before = configsSaid;
    Value value = thunk->compute();
    thunk->saysConfig = configsSaid != before;
    thunk->value = std::move(value);
    thunk->state = Thunk::State::Done;
    thunk->compute = nullptr;
  }
  configsSaid += thunk->saysConfig;
  return thunk->value;
}

std::vector<std::string> Checker::visibleNames(Scope *scope, bool axesOnly) {
  std::vector<std::string> names;
  for (Scope *at = scope; at; at = at->up) {
    for (auto &[name, group] : at->axes)
      names.push_back(name);
    for (auto &[name, binding] : at->names)
      if (!axesOnly || binding.kind == ast::Stmt::Kind::Dim || binding.kind == ast::Stmt::Kind::Config)
        names.push_back(name);
  }
  if (!axesOnly)
    for (auto &name : builtins())
      names.push_back(name);
  return names;
}

/// A statement further down in the text around that defines the name: what a config, a dim or a rate needs has to stand above it.
static const ast::Stmt *definedBelow(const Scope *scope, const ast::Name &name) {
  for (const Scope *at = scope; at; at = at->up) {
    if (!at->frame || !at->frame->body)
      continue;
    for (const ast::StmtPtr &statement : *at->frame->body)
      if (statement->name.text == name.text && statement->name.range.file == name.range.file &&
          statement->name.range.begin > name.range.begin &&
          (statement->kind == ast::Stmt::Kind::Config || statement->kind == ast::Stmt::Kind::Dim))
        return statement.get();
  }
  return nullptr;
}

static void noteUnknown(Diagnostic &mistake, const std::string &name, const ast::Stmt *below,
                        const std::vector<std::string> &visible) {
  const char *here = insteadOf(name);
  const std::string near = here ? "" : nearest(name, visible);
  if (below) {
    mistake.related.push_back({below->name.range, name + " is declared here"});
    mistake.notes.push_back({"help", "move its declaration up"});
  } else if (here)
    mistake.notes.push_back({"help", std::string("here this is ") + here});
  else if (!near.empty())
    mistake.notes.push_back({"help", "did you mean " + near + "?"});
}

Value Checker::lookup(Scope *scope, const ast::Name &name) {
  if (name.text == "true" || name.text == "false")
    return Value::ofBool(name.text == "true");
  if (name.text == "training") {
    ++configsSaid;
    return Value::ofBool(request.training);
  }
  if (name.text == "depth") {
    if (staticDepth) {
      usedStaticDepth = true;
      return Value::ofInt(*staticDepth);
    }
    if (scope->depth)
      return *scope->depth;
    error("T0406", name.range, "`depth` is known only inside a layer that is used under stack[...] or loop[...]");
    return poison();
  }
  for (Scope *at = scope; at; at = at->up) {
    if (auto found = at->names.find(name.text); found != at->names.end()) {
      configsSaid += found->second.kind == ast::Stmt::Kind::Config;
      return force(found->second.thunk, name.range);
    }
    if (auto found = at->axes.find(name.text); found != at->axes.end() && name.text != "..") {
      Size product = 1;
      bool runtime = false;
      for (AxisId axis : found->second.axes) {
        auto both = multiply(product, graph.size(axis));
        if (!both) {
          error("T0213", name.range, "the size of " + name.text + " is a product of dims that vary at run time; it has no name");
          return poison();
        }
        product = *both;
        runtime |= graph.axisRuntime[axis];
      }
      return Value::ofInt(product, runtime);
    }
  }
  if (isBuiltin(name.text))
    return Value::ofText(Value::Kind::Builtin, name.text);
  std::string sought = session.standardSought;
  if (!sought.empty()) {
    failed = true;
    const bool said = std::exchange(session.standardReported, true);
    if (said && name.text[0] >= 'A' &&
        name.text[0] <= 'Z') // by its look a layer, and the library's: each of them would be said again
      return poison();
    sought = said ? ""
                  : ": std.tn, the library that every file sees, was not found in " + sought +
                        "; TENON_MODELS=FOLDER says where it lies";
  }
  const ast::Stmt *below = definedBelow(scope, name);
  if (auto *mistake =
          error("T0101", name.range,
                below ? name.text + " is declared below, and is needed here already" : "unknown name " + name.text + sought))
    noteUnknown(*mistake, name.text, below, visibleNames(scope, false));
  return poison();
}

const AxisGroup *Checker::findAxis(Scope *scope, const std::string &name, ast::Range use, bool &bad) {
  for (Scope *at = scope; at; at = at->up) {
    if (auto found = at->axes.find(name); found != at->axes.end())
      return &found->second;
    auto found = at->names.find(name);
    if (found == at->names.end() || name == "..")
      continue;
    if (found->second.kind != ast::Stmt::Kind::Config && found->second.kind != ast::Stmt::Kind::Dim)
      continue;
    Value value = force(found->second.thunk, use);
    if (value.isPoison()) {
      bad = true;
      return nullptr;
    }
    if (value.kind == Value::Kind::Real) {
      bad = failed = true;
      if (!session.badSizes.insert({found->second.range.file, found->second.range.begin}).second)
        return nullptr; // one wrong size, many uses
      if (auto *mistake = error("T0213", use, name + " is " + text(value) + ", which is no whole number; an axis needs one"))
        mistake->related.push_back({found->second.range, name + " is " + text(value)});
      return nullptr;
    }
    if (value.kind != Value::Kind::Int)
      continue;
    if (auto *size = &value.integer; size->isConstant() && size->constant() < 0) {
      bad = true;
      if (auto *mistake = error("T0214", use, "the size of axis " + name + " is " + text(value) + "; a size is never negative"))
        mistake->related.push_back({found->second.range, name + " is " + text(value)});
      return nullptr;
    }
    if (auto *size = &value.integer; size->isConstant() && size->constant() > INT32_MAX) {
      bad = failed = true;
      if (!session.badSizes.insert({found->second.range.file, found->second.range.begin}).second)
        return nullptr;
      if (auto *mistake =
              error("T0214", use, "the size of axis " + name + " is " + text(value) + "; an axis has at most 2147483647 places"))
        mistake->related.push_back({found->second.range, name + " is " + text(value)});
      return nullptr;
    }
    AxisId axis = graph.newAxis(name, value.integer, value.runtime);
    axisPlaces[axis] = found->second.range;
    return &(at->axes[name] = {{axis}, found->second.range});
  }
  return nullptr;
}

std::optional<std::vector<AxisId>> Checker::axesOf(Scope *scope, const ast::Name &name) {
  bool bad = false;
  if (const AxisGroup *group = findAxis(scope, name.text, name.range, bad))
    return group->axes;
  if (bad)
    return std::nullopt;
  if (name.text == "..") {
    error("T0102", name.range, "`..` stands for further axes only inside a layer or function whose arguments have `..`");
    return std::nullopt;
  }
  std::string why = "unknown axis " + name.text;
  const Binding *value = nullptr;
  for (Scope *at = scope; at && !value; at = at->up)
    if (auto found = at->names.find(name.text); found != at->names.end())
      value = &found->second;
  if (value)
    why = name.text + " is no axis: only a `dim`, a whole-number `config` or an axis argument of the layer is";
  if (auto *mistake = error("T0102", name.range, why)) {
    std::string near = nearest(name.text, visibleNames(scope, true));
    bool ofModel = false;
    for (const Scope *at = scope; at; at = at->up)
      ofModel |= at == top;
    if (value)
      mistake->related.push_back({value->range, "defined here"});
    else
      mistake->notes.push_back({"help", name.text == "None" ? "an axis is added by expand[T](x)"
                                        : !near.empty()     ? "did you mean " + near + "?"
                                        : ofModel           ? "dim " + name.text + " = another dim or number makes it one"
                                                            : helpOfAxis(name.text)});
  }
  return std::nullopt;
}

std::optional<std::vector<AxisId>> Checker::axesOf(Scope *scope, const std::vector<ast::AxisTerm> &terms) {
  std::vector<AxisId> all;
  bool ok = true;
  for (auto &term : terms) {
    if (term.op == '+') {
      error("T0216", term.name.range, "axes are added only in concat[A + B -> C](a, b)");
      return std::nullopt;
    }
    if (auto axes = axesOf(scope, term.name))
      all.insert(all.end(), axes->begin(), axes->end());
    else
      ok = false;
  }
  return ok ? std::optional(all) : std::nullopt;
}

std::optional<AxisId> Checker::oneAxis(Scope *scope, const std::vector<ast::AxisTerm> &terms, const char *what) {
  auto axes = axesOf(scope, terms);
  if (!axes)
    return std::nullopt;
  if (axes->size() != 1) {
    error("T0216", terms[0].name.range, std::string(what) + " needs one axis, not a product of " + std::to_string(axes->size()));
    return std::nullopt;
  }
  return (*axes)[0];
}

std::optional<AxisId> Checker::onlyAxis(Scope *scope, const std::vector<ast::AxisOp> &ops, const std::string &what) {
  const ast::AxisOp &op = ops.front();
  if (ops.size() > 1) {
    error("T0216", ops[1].range, what + " takes one axis, given are " + std::to_string(ops.size()));
    return std::nullopt;
  }
  if (op.low || op.high || op.openEnd || !op.to.empty()) {
    error("T0216", op.range, what + " takes a plain axis here");
    return std::nullopt;
  }
  return oneAxis(scope, op.from, what.c_str());
}

Size Checker::productOf(const std::vector<AxisId> &axes, bool &linear) {
  Size product = 1;
  linear = true;
  for (AxisId axis : axes)
    if (auto both = multiply(product, graph.size(axis)))
      product = *both;
    else
      linear = false;
  return product;
}

} // namespace tenon::sema
