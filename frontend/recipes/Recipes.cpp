#include "frontend/recipes/Recipes.h"
#include "frontend/recipes/RecipeReader.h"
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
  auto missing = [&](const std::string &setting) {
    if (meant.count(setting))
      return;
    const std::string what = "`" + setting + "`";
    diagnostics.error("T0618", recipe.name.range, "recipe `" + recipe.name.text + "` says nothing about " + what, "no " + what);
  };
  if (!train) {
    for (const Parameter &each : schema::settings(false))
      if (each.required && !checked.find(std::string(each.name)))
        missing(std::string(each.name));
    return;
  }
  requireEvaluations(checked);
  warnUnread(checked);
  checkTokens(checked);
  const bool tasks = checked.find("tasks");
  if (tasks)
    requireTasks(checked);
  if (!checked.find("optimizer"))
    missing("optimizer");
  if (!tasks && !checked.find("loss") && context.losses.size() != 1)
    missing("loss");
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
  for (const RecipeTask &task : tasksOf(recipe))
    for (const auto &weighted : task.losses)
      if (std::none_of(weights.begin(), weights.end(), [&](const auto &known) { return known.first == weighted.first; }))
        weights.push_back(weighted);
  if (!weights.empty())
    return weights;
  if (const Setting *loss = recipe.find("loss"))
    for (const auto &[name, weight] : loss->keywords)
      weights.emplace_back(name, weight->real);
  else if (context.losses.size() == 1)
    weights.emplace_back(context.losses[0], 1.0);
  return weights;
}

namespace {

/// "ids[B, T]", for messages.
std::string written(const schema::Made &made) {
  std::string axes;
  for (char axis : made.axes)
    axes += std::string(axes.empty() ? "" : ", ") + axis;
  return std::string(made.name) + "[" + axes + "]";
}

/// The names that the files of a call such as arrays(ids = "ids.npy") give: its keywords, and the lengths of what is ragged.
std::vector<std::string> inputsFrom(const Setting &data, const schema::Function &task) {
  std::vector<std::string> names;
  auto isSetting = [&](const std::string &name) {
    return std::any_of(task.parameters.begin(), task.parameters.end(), [&](const Parameter &each) { return each.name == name; });
  };
  for (const auto &[name, value] : data.keywords) {
    if (isSetting(name))
      continue;
    names.push_back(name);
    if (data.text != "jsonl" && !(value->kind == Setting::Kind::Call && value->text == "ragged"))
      continue;
    names.push_back(name + "_len");
    names.emplace_back("len");
  }
  return names;
}

} // namespace

namespace {

/// What an input that a task makes is called in this recipe: `label = "entail"` and `ids = "many"` (then also many_seg and
/// many_len) rename inputs.
std::string nameOf(const Setting &data, const schema::Function &task, const schema::Made &made) {
  if (task.input)
    return std::string(made.name);
  const Setting *label = keywordOf(&data, "label"), *ids = keywordOf(&data, "ids");
  if (label && made.name == "label")
    return label->text;
  if (ids && (made.name == "seg" || made.name == "len"))
    return ids->text + "_" + std::string(made.name);
  return ids && made.name == "ids" ? ids->text : std::string(made.name);
}

/// Whether an axis of pictures, [B, C, Y, X], has the name of another of their axes: a model with channels last.
bool isTurned(const schema::Made &made, const Entry &entry, const Input &input) {
  if (made.axes != "BCYX" || input.type.axes.size() != made.axes.size())
    return false;
  for (size_t i = 0; i < made.axes.size(); ++i) {
    const std::string &name = entry.axes[input.type.axes[i]].name, kind = name == "H" ? "Y" : name == "W" ? "X" : name;
    if (kind.size() == 1 && made.axes.find(kind) != std::string_view::npos && made.axes[i] != kind[0])
      return true;
  }
  return false;
}

/// The inputs of an entry that a data task does not make; with whether it makes them, but with other axes.
std::vector<std::pair<const Input *, bool>> inputsMissing(const Setting &data, const schema::Function &task, bool hasId,
                                                          const Entry &entry) {
  const std::vector<std::string> own = task.input ? inputsFrom(data, task) : std::vector<std::string>();
  std::vector<std::pair<const Input *, bool>> missing;
  for (const Input &input : entry.inputs) {
    auto known = std::find_if(task.makes.begin(), task.makes.end(),
                              [&](const schema::Made &each) { return nameOf(data, task, each) == input.name; });
    const bool isMade = known != task.makes.end() ? known->axes.size() <= input.type.axes.size() &&
                                                        !isTurned(*known, entry, input) // further axes may be of size 1
                                                  : contains(own, input.name);
    if (!input.isTotal && !isMade && !(hasId && input.name == "task"))
      missing.emplace_back(&input, known != task.makes.end());
  }
  return missing;
}

} // namespace

bool makesInputs(const Setting &data, bool hasId, const Entry &entry) {
  const schema::Function *task = schema::find("data task", data.text);
  return task && (data.text == "caller" || inputsMissing(data, *task, hasId, entry).empty());
}

std::string inputsNotGiven(const Setting &data, bool hasId, const Entry &entry) {
  std::string names;
  for (auto [input, axesDiffer] : inputsMissing(data, *schema::find("data task", data.text), hasId, entry))
    names += (names.empty() ? "`" : ", `") + input->name + (axesDiffer ? "` with its axes" : "`");
  return "`" + data.text + "` does not give " + names;
}

std::vector<std::string> inputsFromFiles(const CheckedRecipe &recipe) {
  std::vector<std::string> names;
  auto add = [&](const Setting *data) {
    const schema::Function *task = data ? schema::find("data task", data->text) : nullptr;
    const std::vector<std::string> own = task && task->input ? inputsFrom(*data, *task) : std::vector<std::string>();
    names.insert(names.end(), own.begin(), own.end());
  };
  for (const RecipeTask &task : tasksOf(recipe))
    add(task.data);
  add(recipe.find("data"));
  return names;
}

/// Whether any data task makes an input of this name.
static bool isOfATask(const std::string &name) {
  for (const std::string &task : schema::names("data task"))
    for (const schema::Made &made : schema::find("data task", task)->makes)
      if (made.name == name)
        return true;
  return false;
}

void warnNotEvaluated(const CheckedRecipe &recipe, const Setting &data, bool hasId, const Entry &entry, const std::string &what,
                      ast::Range range, const std::vector<std::string> &given, Diagnostics &diagnostics) {
  const schema::Function *task = schema::find("data task", data.text);
  for (auto [input, axesDiffer] : inputsMissing(data, *task, hasId, entry)) {
    if (!axesDiffer && (isOfATask(input->name) || contains(given, input->name)))
      continue;
    std::vector<std::string> names;
    std::string made;
    for (const schema::Made &each : task->makes) {
      names.push_back(nameOf(data, *task, each));
      if (names.back() == input->name)
        made = written(each);
    }
    if (!axesDiffer && nearest(input->name, names).empty())
      continue; // a head for data of the user's own
    Diagnostic &warning =
        diagnostics.warning("T0630", range,
                            "recipe `" + recipe.name + "` does not evaluate the " + what + ": `" + data.text +
                                "` does not make the input `" + input->name + "`" + (axesDiffer ? " with its axes" : ""),
                            axesDiffer ? "`" + data.text + "` makes " + made : "it reads `" + input->name + "`");
    warning.related.push_back({data.range, "the data"});
    if (!axesDiffer)
      suggest(warning, input->name, names, "inputs of " + data.text);
    return;
  }
}

/// Without a vocabulary texts are bytes, and some marks. That an input takes many more symbols is what a forgotten `vocab` looks
/// like; a few more are padding.
static void warnOfBytes(const Setting &data, const schema::Function &task, const Entry &entry, Diagnostics &diagnostics) {
  constexpr int64_t kMostOfBytes = 1024;
  auto has = [&](std::string_view name) {
    return std::any_of(task.parameters.begin(), task.parameters.end(), [&](const Parameter &each) { return each.name == name; });
  };
  auto isGiven = [&](const char *name) { return keywordOf(&data, name) != nullptr; };
  if (!has("vocab") || data.text == "byte_stream" || data.text == "char_stream" || isGiven("vocab") || isGiven("model") ||
      isGiven("unit"))
    return;
  for (const schema::Made &made : task.makes)
    for (const Input &input : entry.inputs)
      if (made.values == schema::Made::Values::Symbols && input.name == nameOf(data, task, made) && input.isIndex &&
          input.bound.isConstant() && input.bound.constant() > kMostOfBytes) {
        Diagnostic &warning =
            diagnostics.warning("T0631", data.range,
                                "`" + data.text + "` without `vocab` makes bytes, and the input `" + input.name + "` takes " +
                                    std::to_string(input.bound.constant()) + " symbols",
                                "no vocabulary");
        warning.notes.emplace_back("help", "vocab = \"vocab.txt\", or the size of the input where bytes are meant (264)");
        return;
      }
}

void checkDataInputs(const CheckedRecipe &recipe, const Setting *data, bool hasId, const Entry &entry, Diagnostics &diagnostics) {
  const schema::Function *task = data ? schema::find("data task", data->text) : nullptr;
  if (!task || (task->makes.empty() && !task->input))
    return;
  for (const Parameter &parameter : task->parameters)
    if (!parameter.works && keywordOf(data, parameter.name))
      return; // refused as a whole: what else it would make is not known
  if (entry.inputs.empty()) {
    Diagnostic &error =
        diagnostics.error("T0620", data->range,
                          "no loss of recipe `" + recipe.name + "` reads an input, so `" + data->text + "` has nothing to give",
                          "nothing reads its data");
    error.notes.emplace_back("help", "a loss of parameters alone trains with data = caller, from C or Python");
    return;
  }
  std::string made;
  for (const schema::Made &each : task->makes)
    made += (made.empty() ? "" : ", ") + written(each);
  for (auto [input, axesDiffer] : inputsMissing(*data, *task, hasId, entry)) {
    Diagnostic &error = diagnostics.error("T0620", data->range,
                                          "`" + data->text + "` does not make the input `" + input->name + "`" +
                                              (axesDiffer ? " with its axes" : ""),
                                          "the losses of recipe `" + recipe.name + "` need it");
    error.notes.emplace_back("help", task->input ? "say where it comes from: " + input->name + " = \"..\""
                                                 : data->text + " makes: " + made);
  }
  warnOfBytes(*data, *task, entry, diagnostics);
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
