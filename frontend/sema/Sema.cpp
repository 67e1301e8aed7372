// The border of the checker: which models a call is about, and the order in which mistakes are told.
#include "frontend/Sema.h"
#include "frontend/recipes/Recipes.h"
#include "frontend/sema/models/ModelCheck.h"
#include "frontend/sema/texts/Recursion.h"
#include "frontend/sema/texts/Unused.h"
#include <algorithm>

namespace tenon {
namespace sema {
namespace {

/// Whose recipes they are, and that none of them hides another.
void checkOwners(Session &session) {
  std::vector<std::string> models;
  for (auto &[name, model] : session.models)
    models.push_back(name);
  checkRecipeNames(session.recipes, models, session.diagnostics);
}

/// Those that the main file is about, and imported ones for which it has a recipe or a table of names.
std::vector<const ast::Model *> checkedModels(const Session &session) {
  std::vector<const ast::Model *> models = modelsOf(session);
  for (auto *recipe : session.recipes)
    if (auto owner = session.models.find(recipe->owner.text);
        recipe->range.file == session.mainFile->file && owner != session.models.end() &&
        std::find(models.begin(), models.end(), owner->second) == models.end())
      models.push_back(owner->second);
  return models;
}

} // namespace
} // namespace sema

std::optional<Program> check(const CheckOptions &options, SourceFiles &sources, Diagnostics &diagnostics) {
  sema::Session session(options, sources, diagnostics);
  if (!session.load())
    return std::nullopt;
  sema::checkOwners(session);
  const ast::Model *model = nullptr;
  std::vector<std::string> names;
  if (auto own = sema::modelsOf(session); options.model.empty() && !own.empty())
    model = own.back();
  for (auto &[name, known] : session.models) {
    names.push_back(name);
    if (name == options.model)
      model = known;
  }
  if (!model) {
    ast::Range start;
    start.file = session.mainFile->file;
    auto &mistake = diagnostics.error("T0107", start,
                                      options.model.empty() ? "this file has no model" : "there is no model " + options.model);
    std::string near = nearest(options.model, names);
    if (!options.model.empty() && !near.empty())
      mistake.notes.push_back({"help", "did you mean " + near + "?"});
    return std::nullopt;
  }
  auto program = sema::programOf(session, *model);
  diagnostics.sort(session.mainFile->file);
  return program;
}

bool checkFile(const CheckOptions &options, SourceFiles &sources, Diagnostics &diagnostics) {
  sema::Session session(options, sources, diagnostics);
  if (!session.load())
    return false;
  if (session.mainFile->items.empty()) { // a file of layers and functions is for others to import
    ast::Range start;
    start.file = session.mainFile->file;
    diagnostics.error("T0107", start, "this file has nothing in it: no model, layer or function");
    return false;
  }
  sema::checkOwners(session);
  for (const ast::Model *model : sema::checkedModels(session))
    if (session.mayGoOn() && (options.model.empty() || model->name.text == options.model))
      sema::checkEverything(session, *model);
  sema::checkRecursion(session);
  sema::checkUnused(session);
  for (const Diagnostic &mistake : session.later.all()) {
    auto isKnown = [&](const Diagnostic &known) {
      return known.code == mistake.code && known.range.file == mistake.range.file && known.range.begin == mistake.range.begin;
    };
    if (std::none_of(diagnostics.all().begin(), diagnostics.all().end(), isKnown)) // by the derivation of a step, in its words
      diagnostics.report(mistake);
  }
  diagnostics.sort(session.mainFile->file);
  return !diagnostics.hasErrors();
}

} // namespace tenon
