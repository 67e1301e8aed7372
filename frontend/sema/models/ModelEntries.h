// The entries of a model that options and a recipe ask for, to be compiled.
#pragma once
#include "frontend/recipes/Recipes.h"
#include "frontend/sema/models/Declared.h"
#include "frontend/sema/models/TaskEntries.h"

namespace tenon::sema {

using Sets = std::vector<std::pair<std::string, ast::ExprPtr>>;
using Binds = std::map<std::string, int64_t>;

class ModelEntries {
public:
  /// All outlive it. `binds`: of entries that no recipe is about.
  ModelEntries(Session &session, const ast::Model &model, const Declared &declared, TaskEntries &tasks, const Binds &binds)
      : session(session), model(model), declared(declared), tasks(tasks), binds(binds) {}

  /// All losses of the model together.
  EntryRequest losses(Entry::Kind kind, bool training, const Sets &useSets, const Binds &useBinds) const;
  /// Adds what is asked for to `program`, whose recipes are checked; false: a mistake was reported. `train`: the recipe, if any.
  bool build(Program &program, const ast::Recipe *train, const Sets &useSets, const Binds &trainBinds);
  /// The train entry of a recipe for one of its slices; `tenon grad` takes the batch as a whole.
  std::optional<std::vector<Entry>> cut(const CheckedRecipe &recipe, Entry entry, const EntryRequest &asked, Diagnostics &found);

private:
  bool hasEval() const;
  bool wanted(const std::string &name) const;
  /// `train`: the recipe, if any.
  bool knowsEntries(const Program &program, const ast::Recipe *train);
  std::vector<EntryRequest> outRequests(const Sets &useSets) const;
  bool buildTasks(Program &program, const CheckedRecipe &recipe, const Sets &useSets, const Binds &useBinds);
  void add(Program &program, std::optional<Entry> entry, bool &ok);
  /// The entries that `entry`, which walks an axis, becomes.
  void addWalk(Program &program, const Entry &entry, bool &ok);
  /// A training step, or its slices and what they add up first.
  void addStep(Program &program, const CheckedRecipe &recipe, std::optional<Entry> entry, const EntryRequest &asked, bool &ok);

  Session &session;
  const ast::Model &model;
  const Declared &declared;
  TaskEntries &tasks;
  const Binds &binds;
};

} // namespace tenon::sema
