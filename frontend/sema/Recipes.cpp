#include "frontend/sema/Recipes.h"
#include "frontend/sema/RecipeReader.h"
#include <algorithm>

namespace tenon {

using schema::Parameter;
using schema::Type;

RecipeBinds checkBinds(const ast::Recipe &recipe, const RecipeContext &context, Diagnostics &diagnostics) {
  RecipeBinds binds;
  std::map<std::string, ast::Range> seen;
  for (const ast::Setting &setting : recipe.settings)
    for (const auto &[name, value] : setting.bindings) {
      if (auto [first, isNew] = seen.try_emplace(name.text, name.range); !isNew) {
        Diagnostic &error = diagnostics.error("T0604", name.range, "`" + name.text + "` is bound twice", "second time");
        error.related.push_back({first->second, "first time"});
        continue;
      }
      if (contains(context.configs, name.text)) {
        binds.configs.emplace_back(name.text, value);
        continue;
      }
      if (!contains(context.dims, name.text)) {
        std::vector<std::string> known = context.dims;
        known.insert(known.end(), context.configs.begin(), context.configs.end());
        Diagnostic &error = diagnostics.error(
            "T0603", name.range, "model " + context.model + " has no dim or config `" + name.text + "`", "nothing to bind");
        suggest(error, name.text, known, "dims and configs");
        continue;
      }
      Parameter size{name.text, Type::Int, false, false, 1, double(INT32_MAX), false, false, {}, false};
      if (SettingValue number = RecipeChecker(context, diagnostics).read(value, size))
        binds.dims[name.text] = number->integer;
    }
  return binds;
}

void RecipeChecker::requireSettings(const ast::Recipe &recipe, const CheckedRecipe &checked, bool train) {
  auto missing = [&](const std::string &what) {
    diagnostics.error("T0618", recipe.name.range, "recipe `" + recipe.name.text + "` says nothing about " + what, "no " + what);
  };
  if (!train) {
    for (const Parameter &each : schema::settings(false))
      if (each.required && !checked.find(std::string(each.name)))
        missing("`" + std::string(each.name) + "`");
    return;
  }
  const bool tasks = checked.find("tasks");
  if (!checked.find("optimizer"))
    missing("`optimizer`");
  if (!tasks && !checked.find("data"))
    missing("`data`");
  if (!tasks && !checked.find("loss") && context.losses.size() != 1)
    missing("`loss`");
  const std::pair<const char *, const char *> pairs[] = {{"steps", "epochs"}, {"tasks", "data"}, {"tasks", "loss"}};
  for (auto [first, second] : pairs)
    if (const Setting *a = checked.find(first), *b = checked.find(second); a && b) {
      Diagnostic &error =
          diagnostics.error("T0616", b->range, "`" + std::string(first) + "` and `" + second + "` exclude each other", "second");
      error.related.push_back({a->range, "first"});
    }
  if (const Setting *mix = checked.find("mix"); mix && !tasks)
    diagnostics.error("T0616", mix->range, "`mix` needs `tasks`: it says how tasks take turns", "nothing to mix");
}

CheckedRecipe checkRecipe(const ast::Recipe &recipe, const RecipeContext &context, Diagnostics &diagnostics) {
  CheckedRecipe result;
  result.kind = recipe.kind == ast::Recipe::Kind::Train ? "train" : "generate";
  result.model = context.model;
  result.name = recipe.name.text;
  result.range = recipe.range;
  Diagnostics bindMistakes; // reported by the caller's own checkBinds
  result.binds = checkBinds(recipe, context, bindMistakes).dims;
  RecipeChecker(context, diagnostics).readAll(recipe, result);
  return result;
}

std::vector<std::pair<std::string, double>> lossWeights(const CheckedRecipe &recipe, const RecipeContext &context) {
  std::vector<std::pair<std::string, double>> weights;
  if (const Setting *loss = recipe.find("loss"))
    for (const auto &[name, weight] : loss->keywords)
      weights.emplace_back(name, weight->real);
  else if (context.losses.size() == 1)
    weights.emplace_back(context.losses[0], 1.0);
  return weights;
}

void checkDataInputs(const CheckedRecipe &recipe, const Entry &entry, Diagnostics &diagnostics) {
  const Setting *data = recipe.find("data");
  if (!data)
    return;
  const std::vector<std::string_view> &made = schema::inputsOf(data->text);
  if (made.empty())
    return;
  for (const Input &input : entry.inputs)
    if (std::find(made.begin(), made.end(), input.name) == made.end()) {
      Diagnostic &error =
          diagnostics.error("T0620", data->range, "`" + data->text + "` does not make the input `" + input.name + "`",
                            "the losses of recipe `" + recipe.name + "` need it");
      error.notes.emplace_back("help", data->text + " makes: " + listing({made.begin(), made.end()}));
    }
}

void checkRecipeNames(const std::vector<const ast::Recipe *> &recipes, const std::vector<std::string> &models,
                      Diagnostics &diagnostics) {
  std::map<std::pair<std::string, std::string>, const ast::Recipe *> seen;
  for (const ast::Recipe *recipe : recipes) {
    if (recipe->kind == ast::Recipe::Kind::Names)
      continue;
    if (!contains(models, recipe->owner.text)) {
      Diagnostic &error =
          diagnostics.error("T0622", recipe->owner.range, "there is no model `" + recipe->owner.text + "`", "unknown model");
      suggest(error, recipe->owner.text, models, "models");
    }
    const std::string kind = recipe->kind == ast::Recipe::Kind::Train ? "train" : "generate";
    auto [first, isNew] = seen.try_emplace({recipe->owner.text + " " + kind, recipe->name.text}, recipe);
    if (!isNew) {
      Diagnostic &error = diagnostics.error(
          "T0621", recipe->name.range,
          "two " + kind + " blocks of model " + recipe->owner.text + " are called `" + recipe->name.text + "`", "second");
      error.related.push_back({first->second->name.range, "first"});
    }
  }
}

} // namespace tenon
