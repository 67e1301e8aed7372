#include "frontend/sema/texts/Unused.h"
#include "frontend/sema/Checker.h"
#include "frontend/sema/statements/Foreign.h"
#include <algorithm>

namespace tenon::sema {
namespace {

using Kind = ast::Stmt::Kind;

/// Calls `expression`, `name` and `axis` for the direct parts of a piece of text.
struct Visitor {
  std::function<void(const ast::Expr &)> expression;
  std::function<void(const ast::Name &)> value, axis;

  void maybe(const ast::ExprPtr &pointer) const {
    if (pointer)
      expression(*pointer);
  }
  void type(const ast::Type &type) const {
    maybe(type.bound);
    for (auto &name : type.axes)
      axis(name);
  }
  void operations(const std::vector<ast::AxisOp> &list) const {
    for (auto &op : list) {
      for (auto *terms : {&op.from, &op.to})
        for (auto &term : *terms)
          axis(term.name);
      maybe(op.low);
      maybe(op.high);
    }
  }
  /// All but the statements of a scan and the items of an attend, which have names of their own.
  void parts(const ast::Expr &of) const {
    if (of.kind == ast::Expr::Kind::Name)
      value({of.text, of.range});
    for (auto &operand : of.operands)
      maybe(operand);
    operations(of.axisOps);
    for (auto &argument : of.arguments)
      maybe(argument.value);
    for (auto &binder : of.binders)
      axis(binder.axis);
  }
  void parts(const ast::Stmt &of) const {
    if (of.type)
      type(*of.type);
    maybe(of.value);
    maybe(of.count);
    for (auto &each : of.values)
      maybe(each);
    if (of.kind == Kind::Use)
      value(of.layer);
    if (of.kind == Kind::Out)
      for (auto &name : of.names)
        value(name);
    for (auto &name : of.walked)
      axis(name);
    operations(of.axisOps);
    for (auto &argument : of.arguments)
      maybe(argument.value);
  }
};

/// The names that a piece of text mentions, inside scans, attends and nested layers, too.
class Mentions {
public:
  std::set<std::string> names, members;

  void expression(const ast::Expr &of) {
    visitor.parts(of);
    if (of.kind == ast::Expr::Kind::Member)
      members.insert(of.text);
    for (auto &item : of.items)
      visitor.maybe(item.value);
    body(of.body);
  }
  void body(const std::vector<ast::StmtPtr> &list) {
    for (auto &statement : list) {
      visitor.parts(*statement);
      if (statement->callable)
        callable(*statement->callable);
    }
  }
  void callable(const ast::Callable &of) {
    for (auto &parameter : of.parameters)
      visitor.type(parameter.type);
    for (auto &type : of.results)
      visitor.type(type);
    body(of.body);
  }

private:
  Visitor visitor{[this](const ast::Expr &of) { expression(of); }, [this](const ast::Name &name) { names.insert(name.text); },
                  [this](const ast::Name &name) { names.insert(name.text); }};
};

/// The names around a place, innermost last.
class Names {
public:
  explicit Names(Session &session) : session(session) {
    scopes.emplace_back();
    for (auto *callables : {&session.library, &session.callables})
      for (auto &[name, callable] : *callables)
        scopes.back().insert(name);
  }

  void callable(const ast::Callable &of) {
    if (scopes.size() == 1)
      missed.clear();
    std::set<std::string> own;
    for (auto &formal : of.formals) {
      own.insert(formal.name.text);
      if (formal.output)
        own.insert(formal.output->text);
    }
    for (auto &parameter : of.parameters)
      own.insert(parameter.name.text);
    declare(of.body, own);
    scopes.push_back(std::move(own));
    for (auto &parameter : of.parameters)
      visitor.type(parameter.type);
    for (auto &type : of.results)
      visitor.type(type);
    body(of.body);
    scopes.pop_back();
  }
  /// Of a model: its layers and functions; its own statements are evaluated.
  void model(const ast::Model &of) {
    scopes.emplace_back();
    declare(of.body, scopes.back());
    ofModel = true;
    for (auto &statement : of.body)
      if (statement->kind == Kind::Callable)
        callable(*statement->callable);
    ofModel = false;
    scopes.pop_back();
  }

private:
  Session &session;
  std::vector<std::set<std::string>> scopes;
  bool ofModel = false;         // what is looked at stands in a model
  std::set<std::string> missed; // axes of the layer or function of a file that nothing declares
  Visitor visitor{[this](const ast::Expr &of) { expression(of); }, [this](const ast::Name &name) { find(name, false); },
                  [this](const ast::Name &name) { find(name, true); }};

  static void declare(const std::vector<ast::StmtPtr> &body, std::set<std::string> &names) {
    for (auto &statement : body) {
      for (auto &name : statement->names)
        if (statement->kind == Kind::Let)
          names.insert(name.text);
      if (statement->kind == Kind::Callable)
        names.insert(statement->callable->name.text);
      else if (statement->kind != Kind::Next && statement->kind != Kind::Out)
        names.insert(statement->name.text);
    }
  }
  void body(const std::vector<ast::StmtPtr> &list) {
    for (auto &statement : list) {
      if (statement->kind == Kind::In || statement->kind == Kind::Out || statement->kind == Kind::Loss ||
          statement->kind == Kind::Metric) // T0409: of models alone
        continue;
      visitor.parts(*statement);
      if (statement->kind == Kind::Callable)
        callable(*statement->callable);
    }
  }
  void expression(const ast::Expr &of) {
    visitor.parts(of);
    if (of.items.empty() && of.body.empty())
      return;
    std::set<std::string> own;
    for (auto &binder : of.binders)
      own.insert(binder.name.text);
    declare(of.body, own);
    scopes.push_back(std::move(own));
    for (auto &item : of.items)
      visitor.maybe(item.value);
    body(of.body);
    scopes.pop_back();
  }
  void find(const ast::Name &name, bool isAxis) {
    static const std::set<std::string> words = {"true", "false", "training", "depth", ".."};
    if (words.count(name.text) || (!isAxis && Checker::isBuiltin(name.text)) ||
        std::any_of(scopes.begin(), scopes.end(), [&](auto &scope) { return scope.count(name.text) != 0; }))
      return;
    if (isAxis && !ofModel && !missed.insert(name.text).second) // of this layer or function: said once
      return;
    auto *mistake =
        session.error(isAxis ? "T0102" : "T0101", name.range, (isAxis ? "unknown axis " : "unknown name ") + name.text);
    if (!mistake)
      return;
    std::vector<std::string> visible = isAxis ? std::vector<std::string>() : Checker::builtins();
    for (auto &scope : scopes)
      visible.insert(visible.end(), scope.begin(), scope.end());
    if (const char *here = isAxis ? nullptr : insteadOf(name.text))
      mistake->notes.push_back({"help", std::string("here this is ") + here});
    else if (std::string near = nearest(name.text, visible); !near.empty())
      mistake->notes.push_back({"help", "did you mean " + near + "?"});
    else if (isAxis && !ofModel)
      mistake->notes.push_back({"help", helpOfAxis(name.text)});
  }
};

class Warnings {
public:
  Warnings(Session &session, std::set<std::string> members) : session(session), members(std::move(members)) {}

  void callable(const ast::Callable &of) {
    Mentions mentions;
    mentions.callable(of);
    const std::string owner = std::string(of.isLayer ? "layer " : "function ") + of.name.text;
    for (auto &formal : of.formals)
      for (const ast::Name *name : {&formal.name, formal.output ? &*formal.output : nullptr})
        if (name && isUnused(*name, mentions))
          session.warning("T0114", name->range, owner + " never mentions its axis " + name->text);
    for (size_t i = 0; i < of.parameters.size(); ++i) {
      const bool mayBeCarry = of.results.size() > 1 && i < of.results.size(); // `stack` hands results on as these arguments
      if (!mayBeCarry && isUnused(of.parameters[i].name, mentions))
        session.warning("T0114", of.parameters[i].name.range, owner + " never reads its argument " + of.parameters[i].name.text);
    }
    body(of.body, mentions, owner);
  }
  void body(const std::vector<ast::StmtPtr> &body, const Mentions &mentions, const std::string &owner) {
    for (auto &statement : body) {
      if (statement->kind == Kind::Param && isUnused(statement->name, mentions) && !members.count(statement->name.text))
        session.warning("T0115", statement->name.range,
                        owner + " never reads its param " + statement->name.text + "; no entry will have it");
      if (statement->kind == Kind::Use && isUnused(statement->name, mentions))
        session.warning("T0115", statement->name.range,
                        owner + " never uses its layer " + statement->name.text + "; no entry will have its params");
      if (statement->kind == Kind::Let &&
          std::all_of(statement->names.begin(), statement->names.end(), [&](auto &name) { return isUnused(name, mentions); }))
        session.warning("T0114", statement->names.front().range, owner + " never reads " + statement->names.front().text);
      if (statement->kind == Kind::State)
        state(*statement, body, owner);
      if (statement->kind == Kind::Callable)
        callable(*statement->callable);
    }
  }

private:
  /// One that starts from a number and has no `next` is that number, or what a file gives it; one that is drawn, or starts as a
  /// parameter, is a table that no step changes.
  void state(const ast::Stmt &of, const std::vector<ast::StmtPtr> &body, const std::string &owner) {
    const bool isSet = std::any_of(body.begin(), body.end(),
                                   [&](auto &other) { return other->kind == Kind::Next && other->name.text == of.name.text; });
    const bool isNumber = of.value && (of.value->kind == ast::Expr::Kind::Int || of.value->kind == ast::Expr::Kind::Real);
    if (isSet || !isNumber || of.name.text[0] == '_')
      return;
    if (auto *mistake = session.warning("T0119", of.name.range, owner + " never sets its state " + of.name.text))
      mistake->notes.push_back({"help", "`next " + of.name.text +
                                            " = ..` says what it is in the next step; a `_` in front of its "
                                            "name that it is meant to stay as it starts"});
  }

  Session &session;
  std::set<std::string> members; // params that are read from outside of their layer, as in embed.weight
  static bool isUnused(const ast::Name &name, const Mentions &mentions) {
    return name.text[0] != '_' && !mentions.names.count(name.text);
  }
};

} // namespace

void checkUnused(Session &session) {
  Names names(session);
  for (auto &item : session.mainFile->items) {
    if (!session.standardSought.empty()) // without the library every name of it is unknown; that is said once
      break;
    if (item.callable)
      names.callable(*item.callable);
    if (item.model)
      names.model(*item.model);
  }
  if (session.diagnostics.hasErrors()) // what is wrong may be why something is not used
    return;
  Mentions everywhere;
  for (auto &tree : session.trees)
    for (auto &item : tree->items) {
      if (item.callable)
        everywhere.callable(*item.callable);
      if (item.model)
        everywhere.body(item.model->body);
    }
  Warnings warnings(session, everywhere.members);
  for (auto &item : session.mainFile->items) {
    if (item.callable)
      warnings.callable(*item.callable);
    if (item.model) {
      Mentions mentions;
      mentions.body(item.model->body);
      warnings.body(item.model->body, mentions, "model " + item.model->name.text);
    }
  }
}

} // namespace tenon::sema
