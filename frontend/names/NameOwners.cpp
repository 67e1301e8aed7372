#include "frontend/names/NameOwners.h"
#include <algorithm>
#include <functional>

namespace tenon::sema {
namespace {

/// The `use`s, `param`s and `state`s of all layers (or models) of that name.
std::vector<std::string> membersOf(const Session &session, const std::string &owner) {
  std::vector<std::string> members;
  auto collect = [&](const std::vector<ast::StmtPtr> &body) {
    for (auto &statement : body)
      if (statement->kind == ast::Stmt::Kind::Use || statement->kind == ast::Stmt::Kind::Param ||
          statement->kind == ast::Stmt::Kind::State)
        members.push_back(statement->name.text);
  };
  std::function<void(const std::vector<ast::StmtPtr> &)> inside = [&](const std::vector<ast::StmtPtr> &body) {
    for (auto &statement : body)
      if (statement->kind == ast::Stmt::Kind::Callable) {
        if (statement->callable->name.text == owner)
          collect(statement->callable->body);
        inside(statement->callable->body);
      }
  };
  for (auto *callables : {&session.callables, &session.library})
    for (auto &[name, callable] : *callables) {
      if (name == owner)
        collect(callable->body);
      inside(callable->body);
    }
  for (auto &[name, other] : session.models) {
    if (name == owner)
      collect(other->body);
    inside(other->body);
  }
  return members;
}

/// The first step of a pattern is a `use` or a `param` of its layer; what follows depends on configs.
void checkRules(Session &session, const ast::Recipe &recipe) {
  const std::vector<std::string> members = membersOf(session, recipe.owner.text);
  if (members.empty())
    return;
  for (const ast::Setting &rule : recipe.settings) {
    std::string step = rule.key.text.substr(0, rule.key.text.find('.'));
    if (rule.isBind || step.empty() ||
        std::any_of(members.begin(), members.end(), [&](auto &member) { return matchesStep(step, member); }))
      continue;
    auto *mistake =
        session.error("T0658", rule.key.range, recipe.owner.text + " has no parameter or used layer " + step, "matches nothing");
    if (std::string near = nearest(step, members); mistake && !near.empty())
      mistake->notes.push_back({"help", "did you mean " + near + "?"});
  }
}

} // namespace

NameTables readNameTables(Session &session) {
  std::vector<std::string> owners;
  for (auto *callables : {&session.callables, &session.library})
    for (auto &[name, callable] : *callables)
      owners.push_back(name);
  for (auto &[name, other] : session.models) {
    owners.push_back(name);
    for (auto &statement : other->body)
      if (statement->kind == ast::Stmt::Kind::Callable)
        owners.push_back(statement->callable->name.text);
  }
  NameTables tables;
  Diagnostics known; // the tables belong to all models: their mistakes are reported once
  for (auto *recipe : session.recipes)
    if (recipe->kind == ast::Recipe::Kind::Names) {
      const size_t before = session.diagnostics.all().size();
      tables.add(*recipe, owners, session.tablesReported ? known : session.diagnostics);
      if (!session.tablesReported && session.diagnostics.all().size() == before)
        checkRules(session, *recipe);
    }
  session.tablesReported = true;
  return tables;
}

} // namespace tenon::sema
