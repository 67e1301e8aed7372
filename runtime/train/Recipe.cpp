#include "runtime/train/Recipe.h"
#include "runtime/data/ArrayFile.h"
#include "runtime/train/RecipeParts.h"
#include <algorithm>
#include <tuple>

namespace tenon::train {

using runtime::JsonValue;

namespace {

Status firstError(std::initializer_list<Status> all) {
  for (const Status &status : all)
    if (status.failed())
      return status;
  return {};
}

} // namespace

Status readValid(const JsonValue &value, Recipe &recipe) {
  if (value.isNumber() && value.real > 0 && value.real < 1) { // valid = 0.05: the last part of the text
    recipe.data.heldOut = value.real;
    return {};
  }
  Call call(value, "valid");
  if (!call.valid())
    return inputError("valid must be a share of the text such as 0.05, held_out(0.05, every = 500), or a data task");
  if (call.name == "held_out") {
    if (auto known = call.check("data task"); !known.ok())
      return known.status();
    call.take("share", recipe.data.heldOut);
    call.take("every", recipe.validEvery);
    return recipe.data.heldOut > 0
               ? call.finish()
               : inputError("valid: held_out needs a share of the data between 0 and 1, such as held_out(0.05)");
  }
  recipe.valid.emplace();
  Status status = readTask(call, *recipe.valid, recipe.validEvery);
  if (recipe.valid->vocabulary.empty()) {
    recipe.valid->vocabulary = recipe.data.vocabulary;
    recipe.valid->merges = recipe.data.merges;
    recipe.valid->sentencePieces = recipe.data.sentencePieces;
    recipe.valid->sentinels = recipe.data.sentinels;
  }
  if (recipe.valid->tokens == 0)
    recipe.valid->tokens = recipe.data.tokens;
  return status;
}

/// Sizes that the recipe binds and its entries leave open.
static Status readSizes(const runtime::Manifest &manifest, Recipe &recipe) {
  const JsonValue *sizes = manifest.recipe.find("sizes");
  for (const JsonValue::Member &member : sizes ? sizes->members : std::vector<JsonValue::Member>()) {
    if (!member.value.isInteger() || member.value.integer < 1)
      return inputError("manifest: the size of ", member.key, " in the recipe must be a whole number, at least 1");
    recipe.sizes[member.key] = member.value.integer;
  }
  return {};
}

static Status readAverage(const JsonValue &value, Recipe &recipe) {
  Call call(value, "average");
  auto known = call.check("average");
  if (!known.ok())
    return known.status();
  AverageSetting &average = recipe.average.emplace();
  int64_t count = 0;
  call.take("decay", average.decay);
  call.take("ramp", average.ramp);
  call.take("count", count);
  average.last = static_cast<size_t>(count);
  return call.finish();
}

/// What is saved, and when evaluations end the run.
static Status readEvaluations(const JsonValue &settings, Recipe &recipe) {
  if (const JsonValue *value = settings.find("checkpoint")) {
    Call call(*value, "checkpoint");
    int64_t keep = recipe.keep;
    if (call.name != "every")
      return inputError("checkpoint must be every(steps, keep = 3)");
    if (const JsonValue *lowest = call.argument(Call::noPosition, "lowest"))
      recipe.lowest = lowest->truth;
    Status status = firstError({call.integer(0, "steps", 1, recipe.checkpointEvery), call.integer(1, "keep", 1, keep),
                                call.text(Call::noPosition, "best", recipe.best), call.finish()});
    if (status.failed())
      return status;
    recipe.keep = static_cast<int>(std::min<int64_t>(keep, 1 << 20));
  }
  if (const JsonValue *value = settings.find("stop")) {
    Call call(*value, "stop");
    if (call.name != "patience")
      return inputError("stop must be patience(evaluations)");
    if (Status status = firstError({call.integer(0, "evaluations", 1, recipe.patience), call.finish()}); status.failed())
      return status;
  }
  return {};
}

Status readNumbers(const JsonValue &settings, Recipe &recipe) {
  struct Whole {
    const char *key;
    int64_t least;
    int64_t value;
  } numbers[] = {{"steps", 1, 0}, {"seed", 0, 0}};
  for (Whole &number : numbers)
    if (const JsonValue *value = settings.find(number.key)) {
      if (!value->isInteger() || value->integer < number.least)
        return inputError(number.key, " must be a whole number, at least ", number.least);
      number.value = value->integer;
    }
  if (const JsonValue *value = settings.find("epochs")) {
    if (!value->isNumber() || !(value->real > 0) || !(value->real < 1e9))
      return inputError("epochs must be a number above 0");
    recipe.epochs = value->real;
  }
  if (const JsonValue *value = settings.find("schedule"))
    if (const JsonValue *warmup = Call(*value, "schedule").argument(Call::noPosition, "warmup")) {
      recipe.warmup = warmup->isInteger() ? warmup->integer : 0;
      recipe.warmsByShare = !warmup->isInteger();
    }
  if (const JsonValue *value = settings.find("schedule"))
    if (Call call(*value, "schedule"); call.name == "plateau")
      if (Status status = call.integer(Call::noPosition, "patience", 0, recipe.plateau.emplace(0)); status.failed())
        return status;
  recipe.steps = numbers[0].value;
  if (const JsonValue *value = settings.find("schedule");
      value && recipe.steps == 0 && recipe.epochs == 0) { // a schedule that ends is the length of the run
    Call call(*value, "schedule");
    if (const JsonValue *total = call.argument(Call::noPosition, "total"); total && total->isInteger() && total->integer > 0)
      recipe.steps = total->integer;
    else if (const JsonValue *over = call.argument(Call::noPosition, "epochs"); over && over->isNumber() && over->real > 0)
      recipe.epochs = over->real;
  }
  recipe.seed = static_cast<uint64_t>(numbers[1].value);
  if (Status status = readEvaluations(settings, recipe); status.failed())
    return status;
  if (const JsonValue *value = settings.find("average"))
    if (Status status = readAverage(*value, recipe); status.failed())
      return status;
  if (const JsonValue *value = settings.find("init")) {
    Call call(*value, "init");
    if (auto known = call.check("initial weights"); !known.ok())
      return known.status();
    call.take("file", recipe.initFile);
    call.take("names", recipe.initScheme);
    call.take("grow", recipe.initGrow);
    call.take("rows", recipe.initRows);
    call.take("partial", recipe.initPartial);
    return call.finish();
  }
  return {};
}

namespace {

/// The place of the file that --data NAME=FILE means; null if the task has none of that name.
std::string *fileOf(data::TaskSettings &task, const std::string &name) {
  for (auto [setting, file] : {std::pair("file", &task.file),
                               {task.name == "images" ? "folder" : "file", &task.file},
                               {"labels", &task.labels},
                               {"source", &task.sourceText},
                               {"target", &task.targetText}})
    if (name == setting && task.name != "arrays" && !file->empty())
      return file;
  for (data::SourceSetting &source : task.sources)
    if (task.name == "arrays" && (source.input == name || (source.input + ".offsets" == name && !source.offsets.empty())))
      return source.input == name ? &source.file : &source.offsets;
  return nullptr;
}

/// What names other files for a task that is not arrays.
const char *otherFilesOf(const data::TaskSettings &task) {
  return !task.sourceText.empty() ? "; --data source=FILE and --data target=FILE replace its files"
         : !task.labels.empty()   ? "; --data file=FILE and --data labels=FILE replace its files"
         : task.name == "images"  ? "; --data folder=DIR replaces its folder"
         : !task.file.empty()     ? "; --data file=FILE replaces its file"
                                  : "; --text replaces its text";
}

constexpr std::string_view kOfValid = "valid.";

/// --data NAME=FILE.
Status putFile(const std::string &name, const std::string &file, data::TaskSettings &task) {
  std::string *place = fileOf(task, name);
  if (!place)
    return runtime::usageError("--data ", name, "=", file, ": the data task ", task.name, " has no file for '", name, "'",
                               task.name == "arrays" ? "" : otherFilesOf(task));
  *place = file;
  return {};
}

/// All of the data, or of the files given for this evaluation.
Status evaluateWhole(const DataOverrides &overrides, Recipe &recipe) {
  if (!recipe.valid)
    recipe.valid = recipe.data;
  recipe.valid->heldOut = 0;
  for (const auto &[name, file] : overrides.evaluated)
    if (Status status = putFile(name.substr(name.starts_with(kOfValid) ? kOfValid.size() : 0), file, *recipe.valid);
        status.failed())
      return status;
  return {};
}

/// --data: other files for the inputs, and another folder for all relative paths.
Status applyFiles(const DataOverrides &overrides, Recipe &recipe) {
  for (data::TaskSettings *task : {&recipe.data, recipe.valid ? &*recipe.valid : nullptr}) {
    if (!task || overrides.folder.empty())
      continue;
    task->folder = overrides.folder;
    for (std::string &text : task->texts)
      text = data::pathIn(overrides.folder, text);
    task->vocabulary = data::pathIn(overrides.folder, task->vocabulary);
    task->merges = data::pathIn(overrides.folder, task->merges);
  }
  for (const auto &[name, file] : overrides.files) {
    const bool ofValid = name.starts_with(kOfValid);
    if (ofValid && !recipe.valid)
      return runtime::usageError("--data ", name, "=", file, ": the recipe has no data of its own for evaluation (valid = ..)");
    if (Status status = ofValid ? putFile(name.substr(kOfValid.size()), file, *recipe.valid) : putFile(name, file, recipe.data);
        status.failed())
      return status;
  }
  const bool arrays = recipe.data.name == "arrays";
  if (arrays && !(overrides.text.empty() && overrides.validText.empty()))
    return runtime::usageError("the data task arrays reads no text; --data INPUT=FILE replaces the file of an input");
  return {};
}

Status applyOverrides(const DataOverrides &overrides, Recipe &recipe) {
  if (!(recipe.data.sourceText + recipe.data.file).empty() && !(overrides.text.empty() && overrides.validText.empty()))
    return runtime::usageError("the data task ", recipe.data.name, " reads no plain text", otherFilesOf(recipe.data),
                               ", --data FOLDER says where its files are");
  if (!overrides.text.empty())
    recipe.data.texts = {overrides.text};
  for (auto [given, option, setting] :
       {std::tuple{!overrides.vocabulary.empty(), "--vocab", "vocab"}, std::tuple{overrides.unit.has_value(), "--unit", "unit"}})
    if (given && !hasSetting(recipe.data.name, setting))
      return runtime::usageError(option, ": the data task ", recipe.data.name, " has no symbols of a text");
  if (!overrides.vocabulary.empty()) { // merges of the recipe are those of its own
    recipe.data.vocabulary = overrides.vocabulary;
    recipe.data.merges.clear();
    recipe.data.sentencePieces = false; // what the file is tells it
  }
  if (overrides.unit && !recipe.data.vocabulary.empty())
    return runtime::usageError("--unit is for symbols without a vocabulary file, and the recipe names ", recipe.data.vocabulary);
  if (overrides.unit)
    if (Status status = readUnit(*overrides.unit, recipe.data.unit); status.failed())
      return status;
  if (overrides.heldOut)
    recipe.data.heldOut = *overrides.heldOut;
  if (!(recipe.data.heldOut >= 0 && recipe.data.heldOut < 1))
    return inputError("the held-out share of the text must be from 0 to below 1");
  if (overrides.validEvery)
    recipe.validEvery = *overrides.validEvery;
  if (!overrides.validText.empty()) {
    recipe.valid = recipe.data;
    recipe.valid->texts = {overrides.validText};
    recipe.valid->heldOut = recipe.data.heldOut = 0;
    return {};
  }
  // Another text without a word about evaluation: its end is held out, since the recipe's held-out file belongs to the recipe's
  // text.
  if (!overrides.text.empty() && !overrides.heldOut && recipe.data.heldOut == 0)
    recipe.data.heldOut = 0.05;
  bool ownFile = recipe.valid && overrides.text.empty() && !overrides.heldOut;
  if (!ownFile && recipe.data.heldOut > 0)
    recipe.valid = recipe.data;
  else if (!ownFile)
    recipe.valid.reset();
  return {};
}

} // namespace

bool hasSetting(const std::string &task, std::string_view setting) {
  const schema::Function *function = schema::find("data task", task);
  return function && std::any_of(function->parameters.begin(), function->parameters.end(),
                                 [&](const schema::Parameter &parameter) { return parameter.name == setting; });
}

std::string sourcesNotGiven(const DataOverrides &given, const data::TaskSettings &task) {
  std::string others;
  for (const data::SourceSetting &source : task.sources)
    if (task.name == "arrays" && !source.fixed && !given.evaluated.count(source.input) &&
        !given.evaluated.count(std::string(kOfValid) + source.input))
      others += runtime::concat(others.empty() ? "" : ", ", source.input);
  return given.evaluated.empty() ? std::string() : others;
}

std::vector<std::string> filesOf(const data::TaskSettings &task) {
  std::vector<std::string> files = task.texts;
  for (const std::string &file : {task.sourceText, task.targetText, task.file, task.labels})
    if (!file.empty())
      files.push_back(data::pathIn(task.folder, file));
  for (const data::SourceSetting &source : task.sources)
    for (const std::string &file : {source.file, source.offsets})
      if (task.name == "arrays" && !file.empty())
        files.push_back(data::pathIn(task.folder, file));
  return files;
}

Expected<Recipe> readRecipe(const runtime::Manifest &manifest, const DataOverrides &overrides, std::optional<uint64_t> seed) {
  Recipe recipe;
  const JsonValue *settings = manifest.recipe.find("settings");
  if (!settings || !settings->isObject())
    return inputError("the artifact has no train recipe; compile it with --recipe NAME");
  if (const JsonValue *name = manifest.recipe.find("name"); name && name->isString())
    recipe.name = name->text;
  if (settings->find("tasks")) {
    Status status = readSeveral(*settings, manifest, overrides, seed, recipe);
    return status.failed() ? Expected<Recipe>(status.in("recipe " + recipe.name)) : Expected<Recipe>(std::move(recipe));
  }
  const JsonValue *task = settings->find("data");
  if (const JsonValue *callee = task ? task->find("call") : nullptr; !task || (callee && callee->text == "caller"))
    return inputError("the recipe ", recipe.name, task ? " takes its batches from the caller" : " has no data",
                      ", so only programs can train it, through the C interface (tn_context_set_input); for `tenon train` give "
                      "it a task, such as "
                      "data = byte_stream(text = \"file\") or data = arrays(ids = \"ids.npy\")");
  Call call(*task, "data");
  if (!call.valid())
    return inputError("data must be a task such as byte_stream(text = \"file\")");
  Status status = firstError({readSizes(manifest, recipe), readTask(call, recipe.data, recipe.validEvery)});
  if (status.ok())
    status = readNumbers(*settings, recipe);
  const JsonValue *valid = settings->find("valid");
  if (status.ok() && valid && !valid->isNull())
    status = readValid(*valid, recipe);
  if (status.ok())
    status = applyFiles(overrides, recipe);
  if (status.ok())
    status = applyOverrides(overrides, recipe);
  if (status.ok() && overrides.whole)
    status = evaluateWhole(overrides, recipe);
  if (status.failed())
    return status.in("recipe " + recipe.name);
  if (seed)
    recipe.seed = *seed;
  recipe.data.seed = recipe.seed;
  if (recipe.valid)
    recipe.valid->seed = recipe.seed + 1;
  if (recipe.data.texts.empty() && recipe.data.sources.empty() && recipe.data.sourceText.empty() && recipe.data.file.empty())
    return inputError("the recipe ", recipe.name, " names no text; pass --text FILE");
  return recipe;
}

} // namespace tenon::train
