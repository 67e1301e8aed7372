#include "frontend/sema/models/ModelEntries.h"
#include "frontend/graph/AttentionMaps.h"
#include "frontend/graph/Slices.h"
#include "frontend/sema/Checker.h"
#include "frontend/walk/Step.h"
#include <algorithm>

namespace tenon::sema {

EntryRequest ModelEntries::losses(Entry::Kind kind, bool training, const Sets &useSets, const Binds &useBinds) const {
  EntryRequest request;
  request.kind = kind;
  request.name = kind == Entry::Kind::Train ? "train" : "eval";
  request.training = training;
  request.sets = useSets;
  request.binds = useBinds;
  request.metrics = kind == Entry::Kind::Eval && !session.options.lossesOnly && !session.options.gradient;
  return request;
}

bool ModelEntries::hasEval() const {
  return !declared.losses.empty() || (!declared.metrics.empty() && !session.options.gradient);
}

bool ModelEntries::wanted(const std::string &name) const {
  const auto &entries = session.options.entries;
  return entries.empty() || std::find(entries.begin(), entries.end(), name) != entries.end();
}

static const CheckedRecipe *checkedOf(const Program &program, const ast::Recipe *train) {
  auto checked = std::find_if(program.recipes.begin(), program.recipes.end(), [&](const CheckedRecipe &recipe) {
    return train && recipe.kind == "train" && recipe.name == train->name.text;
  });
  return checked == program.recipes.end() ? nullptr : &*checked;
}

/// Whether there are the entries that are asked for by name: of several tasks all evaluations (`eval`) or steps, or those of one.
bool ModelEntries::knowsEntries(const Program &program, const ast::Recipe *train) {
  const CheckedRecipe *checked = checkedOf(program, train);
  for (auto &name : session.options.entries) {
    std::vector<std::string> known = declared.outs;
    if (hasEval())
      known.push_back("eval");
    if (train)
      known.push_back("train");
    for (const RecipeTask &task : checked ? tasksOf(*checked) : std::vector<RecipeTask>()) {
      known.push_back("eval_" + task.name);
      known.push_back("train_" + task.name);
    }
    if (std::find(known.begin(), known.end(), name) == known.end()) {
      std::string near = nearest(name, known);
      auto *mistake = session.error("T0111", model.name.range, model.name.text + " has no entry " + name);
      std::string names;
      for (auto &each : known)
        names += (names.empty() ? "" : ", ") + each;
      if (mistake)
        mistake->notes.push_back(
            {"help", near.empty() ? "there are: " + (names.empty() ? "none" : names) : "did you mean " + near + "?"});
      return false;
    }
  }
  return true;
}

bool ModelEntries::build(Program &program, const ast::Recipe *train, const Sets &useSets, const Binds &trainBinds) {
  if (!knowsEntries(program, train))
    return false;
  tasks.knowFiles(program.recipes);
  bool ok = true;
  auto build = [&](const EntryRequest &request) {
    ok &= session.mayGoOn();
    if (session.mayGoOn()) // also behind an entry with a mistake
      add(program, Checker(session, model, request).run(), ok);
  };
  auto ofRecipe = [&](const EntryRequest &request) { return tasks.ofLosses(request, program.lossWeights); };
  if (session.options.lossesOnly) {
    build(ofRecipe(losses(Entry::Kind::Eval, false, useSets, trainBinds)));
    return ok;
  }
  const CheckedRecipe *checked = checkedOf(program, train);
  if (checked && checked->find("tasks"))
    return buildTasks(program, *checked, useSets, trainBinds);
  for (const EntryRequest &request : outRequests(useSets))
    build(request);
  if (hasEval() && wanted("eval") && session.mayGoOn()) {
    const EntryRequest eval = losses(Entry::Kind::Eval, false, useSets, trainBinds);
    add(program, checked ? tasks.runEval(*checked, program.lossWeights, eval) : Checker(session, model, eval).run(), ok);
  }
  if (train && wanted("train")) {
    const EntryRequest request = ofRecipe(losses(Entry::Kind::Train, true, useSets, trainBinds));
    ok &= session.mayGoOn();
    if (session.mayGoOn())
      addStep(program, *checked, Checker(session, model, request).run(), request, ok);
  }
  if (ok && program.entries.empty()) {
    session.error("T0413", model.name.range,
                  model.name.text + (session.options.gradient && !declared.metrics.empty()
                                         ? " has no `loss`, and a metric has no gradient"
                                         : " demands nothing: it has no `out`, `loss` or `metric`"));
    ok = false;
  }
  return ok;
}

std::vector<EntryRequest> ModelEntries::outRequests(const Sets &useSets) const {
  std::vector<EntryRequest> requests;
  for (auto &out : declared.outs)
    if (wanted(out)) {
      requests.push_back(losses(Entry::Kind::Out, false, useSets, binds));
      requests.back().name = out;
    }
  return requests;
}

/// Of a recipe with tasks: a step and an evaluation for each, over parameters that they share.
bool ModelEntries::buildTasks(Program &program, const CheckedRecipe &recipe, const Sets &useSets, const Binds &useBinds) {
  bool ok = tasks.canBeMade(recipe);
  for (const EntryRequest &request : outRequests(useSets))
    add(program, Checker(session, model, request).run(), ok);
  for (const RecipeTask &task : tasksOf(recipe))
    if ((wanted("eval") || wanted("eval_" + task.name)) && session.mayGoOn())
      add(program, tasks.runEval(recipe, task, losses(Entry::Kind::Eval, false, useSets, useBinds)), ok);
  for (EntryRequest &request : tasks.trainRequests(recipe, {}, losses(Entry::Kind::Train, true, useSets, useBinds)))
    if ((wanted("train") || wanted(request.name)) && session.mayGoOn())
      addStep(program, recipe, tasks.runTrain(recipe, request), request, ok);
  return ok;
}

void ModelEntries::add(Program &program, std::optional<Entry> entry, bool &ok) {
  ok &= entry && session.mayGoOn();
  if (entry && !entry->walkedAxis.empty())
    return addWalk(program, *entry, ok);
  if (entry && session.options.attentionMaps && entry->kind != Entry::Kind::Train)
    keepAttentionMaps(*entry);
  if (entry)
    program.entries.push_back(std::move(*entry));
}

void ModelEntries::addStep(Program &program, const CheckedRecipe &recipe, std::optional<Entry> entry, const EntryRequest &asked,
                           bool &ok) {
  ok &= entry && session.mayGoOn();
  if (!entry)
    return;
  auto parts = ok ? cut(recipe, std::move(*entry), asked, session.diagnostics) : std::vector<Entry>{std::move(*entry)};
  ok &= parts.has_value();
  if (parts)
    program.entries.insert(program.entries.end(), parts->begin(), parts->end());
}

void ModelEntries::addWalk(Program &program, const Entry &entry, bool &ok) {
  auto entries = deriveStep(entry, session.diagnostics);
  if (!entries) {
    ok = false;
    return;
  }
  program.entries.push_back(std::move(entries->step));
  if (entries->prepare)
    program.entries.push_back(std::move(*entries->prepare));
}

std::optional<std::vector<Entry>> ModelEntries::cut(const CheckedRecipe &recipe, Entry entry, const EntryRequest &asked,
                                                    Diagnostics &found) {
  if (session.options.gradient)
    return std::vector<Entry>{std::move(entry)};
  return cutSlices(
      recipe, std::move(entry), asked.binds,
      [&](const Binds &useBinds) {
        EntryRequest smaller = asked;
        smaller.binds = useBinds;
        return Checker(session, model, smaller).run();
      },
      found);
}

} // namespace tenon::sema
