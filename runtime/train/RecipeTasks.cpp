// `tasks` of a recipe, read from a manifest.
#include "runtime/data/ArrayFile.h"
#include "runtime/train/RecipeParts.h"

namespace tenon::train {

using runtime::JsonValue;

namespace {

/// The train entries of several tasks, in their order.
std::vector<std::string> taskNames(const runtime::Manifest &manifest) {
  constexpr std::string_view prefix = "train_";
  std::vector<std::string> names;
  for (const runtime::EntryInfo &entry : manifest.entries)
    if (entry.kind == runtime::EntryInfo::Kind::Train && entry.name.starts_with(prefix))
      names.push_back(entry.name.substr(prefix.size()));
  return names;
}

Status readTasks(const JsonValue &list, const runtime::Manifest &manifest, Recipe &recipe, std::vector<int64_t> &every) {
  const std::vector<std::string> names = taskNames(manifest);
  if (!list.isArray() || list.elements.size() != names.size())
    return inputError("tasks must be task(data = .., loss = ..), several in parentheses, with an entry train_NAME for each");
  for (size_t i = 0; i < names.size(); ++i) {
    Call call(list.elements[i], "tasks");
    auto known = call.check("task");
    if (!known.ok())
      return known.status();
    TaskRecipe task;
    task.name = names[i];
    Call data(*call.argument(Call::noPosition, "data"), "data of a task");
    if (data.name == "caller")
      return inputError("the task ", task.name, " of the recipe ", recipe.name,
                        " takes its batches from the caller, so only programs can train it, through the C interface");
    every.push_back(0);
    if (Status status = readTask(data, task.data, every.back()); status.failed())
      return status;
    call.take("share", task.share);
    if (call.argument(Call::noPosition, "id"))
      call.take("id", task.id.emplace());
    call.argument(Call::noPosition, "loss"); // of the compiled step
    call.argument(Call::noPosition, "batch");
    if (Status status = call.finish(); status.failed())
      return status;
    recipe.tasks.push_back(std::move(task));
  }
  return {};
}

/// What --text and its kin would replace is the data of one task.
Status applyTaskOverrides(const DataOverrides &overrides, Recipe &recipe) {
  if (!overrides.text.empty() || !overrides.validText.empty() || !overrides.vocabulary.empty() || overrides.unit ||
      !overrides.files.empty() || !overrides.evaluated.empty())
    return runtime::usageError(runtime::counted(recipe.tasks.size(), "task"), " with data of ",
                               recipe.tasks.size() == 1 ? "its" : "their", " own; --data FOLDER says where the files are");
  if (overrides.validEvery)
    recipe.validEvery = *overrides.validEvery;
  for (TaskRecipe &task : recipe.tasks) {
    if (!overrides.folder.empty()) {
      task.data.folder = overrides.folder;
      for (std::string &text : task.data.texts)
        text = data::pathIn(overrides.folder, text);
      task.data.vocabulary = data::pathIn(overrides.folder, task.data.vocabulary);
      task.data.merges = data::pathIn(overrides.folder, task.data.merges);
    }
    task.data.heldOut = overrides.heldOut.value_or(task.data.heldOut > 0 ? task.data.heldOut : recipe.data.heldOut);
    if (!(task.data.heldOut >= 0 && task.data.heldOut < 1))
      return inputError("the held-out share of the data must be from 0 to below 1");
    task.data.seed = recipe.seed;
    if (overrides.whole || task.data.heldOut > 0)
      task.valid = task.data;
    if (task.valid) {
      task.valid->seed = recipe.seed + 1;
      task.valid->heldOut = overrides.whole ? 0 : task.valid->heldOut;
    }
  }
  recipe.data = recipe.tasks[0].data;
  for (const TaskRecipe &task : recipe.tasks)
    if (task.valid && !recipe.valid)
      recipe.valid = task.valid;
  return {};
}

} // namespace

Status readSeveral(const JsonValue &settings, const runtime::Manifest &manifest, const DataOverrides &overrides,
                   std::optional<uint64_t> seed, Recipe &recipe) {
  std::vector<int64_t> every;
  Status status = readTasks(*settings.find("tasks"), manifest, recipe, every);
  if (status.ok())
    status = readNumbers(settings, recipe);
  for (int64_t each : every)
    if (each > 0 && (recipe.validEvery == 0 || each < recipe.validEvery))
      recipe.validEvery = each;
  if (const JsonValue *valid = settings.find("valid"); status.ok() && valid && !valid->isNull())
    status = readValid(*valid, recipe);
  if (const JsonValue *mix = settings.find("mix"); mix && mix->isString())
    recipe.mix = mix->text == "shuffled batches" ? Mix::Shuffled : mix->text == "round robin" ? Mix::Turns : Mix::Share;
  recipe.seed = seed.value_or(recipe.seed);
  recipe.valid.reset();
  return status.ok() ? applyTaskOverrides(overrides, recipe) : status;
}

} // namespace tenon::train
