#include "frontend/sema/texts/Recursion.h"
#include <algorithm>
#include <set>

namespace tenon::sema {
namespace {

using Kind = ast::Stmt::Kind;

/// Names around a place in the text.
struct Place {
  const Place *around;
  std::map<std::string, const ast::Stmt *> statements;
  std::set<std::string> arguments;

  Place(const Place *around, const std::vector<ast::StmtPtr> &body) : around(around) {
    for (auto &statement : body) {
      if (statement->kind == Kind::Let)
        for (auto &name : statement->names)
          statements[name.text] = statement.get();
      else if (statement->kind == Kind::Callable)
        statements[statement->callable->name.text] = statement.get();
      else if (statement->kind != Kind::Next && statement->kind != Kind::Out)
        statements[statement->name.text] = statement.get();
    }
  }
};

struct Call {
  const ast::Callable *callee;
  ast::Range range;
};

/// The calls that every evaluation of a layer or function makes.
class Calls {
public:
  Calls(const Session &session, const Place &place, const ast::Callable &of) : session(session), place(place) {
    for (auto &statement : of.body)
      if (statement->kind == Kind::Return)
        work.insert(work.end(), statement->values.begin(), statement->values.end());
    while (!work.empty()) { // no recursion over lets: their number is the text's
      ast::ExprPtr next = work.back();
      work.pop_back();
      if (next)
        take(*next);
    }
    std::sort(list.begin(), list.end(), [](const Call &a, const Call &b) { return a.range.begin < b.range.begin; });
  }
  std::vector<Call> list;

private:
  void take(const ast::Expr &of) {
    if (of.kind == ast::Expr::Kind::If)
      return work.push_back(of.operands[0]);
    if (of.kind == ast::Expr::Kind::Scan) // its body has names of its own
      return;
    if (of.kind == ast::Expr::Kind::Name) {
      auto let = place.statements.find(of.text);
      if (let != place.statements.end() && let->second->kind == Kind::Let && lets.insert(let->second).second)
        work.push_back(let->second->value);
      return;
    }
    if (of.kind == ast::Expr::Kind::Call) {
      const ast::Expr *named = of.operands[0].get();
      while (named->kind == ast::Expr::Kind::AxisOps)
        named = named->operands[0].get();
      if (const ast::Callable *callee = named->kind == ast::Expr::Kind::Name ? called(named->text) : nullptr)
        list.push_back({callee, of.range});
    }
    work.insert(work.end(), of.operands.begin(), of.operands.end());
    for (auto &op : of.axisOps)
      work.insert(work.end(), {op.low, op.high});
    for (auto &argument : of.arguments)
      work.push_back(argument.value);
    for (auto &item : of.items)
      work.push_back(item.value);
  }
  const ast::Callable *called(const std::string &name) const {
    for (const Place *at = &place; at; at = at->around) {
      if (at->arguments.count(name))
        return nullptr;
      if (auto found = at->statements.find(name); found != at->statements.end())
        return found->second->kind == Kind::Use ? definition(found->second->layer.text, at) : found->second->callable.get();
    }
    return definition(name, nullptr);
  }
  /// Null for a config that stands for a layer.
  const ast::Callable *definition(const std::string &name, const Place *from) const {
    for (const Place *at = from; at; at = at->around)
      if (auto found = at->statements.find(name); found != at->statements.end() && found->second->kind != Kind::Use)
        return found->second->callable.get();
    for (auto *callables : {&session.callables, &session.library})
      if (auto found = callables->find(name); found != callables->end())
        return found->second;
    return nullptr;
  }

  const Session &session;
  const Place &place;
  std::vector<ast::ExprPtr> work;
  std::set<const ast::Stmt *> lets;
};

class Definitions {
public:
  explicit Definitions(Session &session) : session(session) {}

  void add(const ast::Callable &of, const Place *around) {
    Place place(around, of.body);
    for (auto &parameter : of.parameters)
      place.arguments.insert(parameter.name.text);
    calls.emplace(&of, Calls(session, place, of).list);
    order.push_back(&of);
    addNested(of.body, place);
  }
  void addNested(const std::vector<ast::StmtPtr> &body, const Place &place) {
    for (auto &statement : body)
      if (statement->kind == Kind::Callable)
        add(*statement->callable, &place);
  }

  /// Depth first, on a stack of its own: chains of definitions are as long as the text wants them.
  void report() {
    for (const ast::Callable *first : order) {
      if (!states.emplace(first, State::Active).second)
        continue;
      std::vector<std::pair<const ast::Callable *, size_t>> path = {{first, 0}};
      while (!path.empty()) {
        const ast::Callable *caller = path.back().first;
        auto known = calls.find(caller);
        if (known == calls.end() || path.back().second == known->second.size()) { // of another file: not looked into
          states[caller] = State::Done;
          path.pop_back();
          continue;
        }
        const Call &call = known->second[path.back().second++];
        if (states.emplace(call.callee, State::Active).second)
          path.push_back({call.callee, 0});
        else if (states[call.callee] == State::Active)
          reportCircle(*caller, call);
      }
    }
  }

private:
  void reportCircle(const ast::Callable &caller, const Call &call) {
    if (!reported.insert(call.callee).second)
      return;
    const std::string name = call.callee->name.text, through = &caller == call.callee ? "" : ", through " + caller.name.text;
    if (auto *mistake = session.error("T0415", call.range, name + " uses itself" + through + ": it would never end"))
      mistake->related.push_back({call.callee->name.range, "declared here"});
  }

  enum class State { Active, Done };
  Session &session;
  std::map<const ast::Callable *, std::vector<Call>> calls;
  std::map<const ast::Callable *, State> states;
  std::vector<const ast::Callable *> order; // as in the text
  std::set<const ast::Callable *> reported;
};

} // namespace

void checkRecursion(Session &session) {
  if (session.endlessReported)
    return;
  Definitions definitions(session);
  for (auto &item : session.mainFile->items) {
    if (item.callable)
      definitions.add(*item.callable, nullptr);
    if (item.model)
      definitions.addNested(item.model->body, Place(nullptr, item.model->body));
  }
  definitions.report();
}

} // namespace tenon::sema
