#include "runtime/train/Recipe.h"
#include <algorithm>

namespace tenon::train {

using runtime::JsonValue;

namespace {

/// name(args, keyword = value) as the manifest writes it. Each taken keyword is remembered, so that a misspelt one is an error.
class Call {
public:
  Call(const JsonValue &value, std::string setting) : setting(std::move(setting)) {
    const JsonValue *callee = value.find("call");
    name = callee && callee->isString() ? callee->text : "";
    if (const JsonValue *list = value.find("args"); list && list->isArray())
      args = &list->elements;
    if (const JsonValue *list = value.find("keywords"); list && list->isObject())
      keywords = &list->members;
  }
  bool valid() const { return !name.empty(); }

  const JsonValue *argument(size_t position, std::string_view keyword) {
    taken.emplace_back(keyword);
    if (keywords)
      for (const auto &[key, value] : *keywords)
        if (key == keyword)
          return &value;
    return args && position < args->size() ? &(*args)[position] : nullptr;
  }
  Status text(size_t position, std::string_view keyword, std::string &result) {
    const JsonValue *value = argument(position, keyword);
    if (value && !value->isString())
      return inputError(setting, ": ", keyword, " of ", name, " must be a text");
    if (value)
      result = value->text;
    return {};
  }
  /// A text or a tuple of texts.
  Status texts(size_t position, std::string_view keyword, std::vector<std::string> &result) {
    const JsonValue *value = argument(position, keyword);
    if (!value)
      return {};
    result.clear();
    if (value->isString())
      result.push_back(value->text);
    for (const JsonValue &element : value->elements)
      if (element.isString())
        result.push_back(element.text);
    bool wrong = result.empty() || (value->isArray() && result.size() != value->elements.size());
    return wrong ? inputError(setting, ": ", keyword, " of ", name, " must be a text, or several in parentheses") : Status();
  }
  Status truth(std::string_view keyword, bool &result) {
    const JsonValue *value = argument(noPosition, keyword);
    if (value && value->kind != JsonValue::Kind::Bool)
      return inputError(setting, ": ", keyword, " of ", name, " must be true or false");
    if (value)
      result = value->truth;
    return {};
  }
  Status integer(size_t position, std::string_view keyword, int64_t least, int64_t &result) {
    const JsonValue *value = argument(position, keyword);
    if (value && (!value->isInteger() || value->integer < least))
      return inputError(setting, ": ", keyword, " of ", name, " must be a whole number, at least ", least);
    if (value)
      result = value->integer;
    return {};
  }
  Status share(std::string_view keyword, double &result) {
    const JsonValue *value = argument(noPosition, keyword);
    if (value && (!value->isNumber() || !(value->real >= 0) || !(value->real < 1)))
      return inputError(setting, ": ", keyword, " of ", name, " must be a number from 0 to below 1");
    if (value)
      result = value->real;
    return {};
  }
  Status finish() const {
    if (keywords)
      for (const auto &[key, value] : *keywords)
        if (std::find(taken.begin(), taken.end(), key) == taken.end())
          return inputError("not supported yet: ", key, " in ", setting, " = ", name, "(...)");
    return {};
  }

  static constexpr size_t noPosition = ~size_t{0};
  std::string name;

private:
  std::string setting;
  const std::vector<JsonValue> *args = nullptr;
  const std::vector<JsonValue::Member> *keywords = nullptr;
  std::vector<std::string> taken;
};

Status firstError(std::initializer_list<Status> all) {
  for (const Status &status : all)
    if (status.failed())
      return status;
  return {};
}

Status readUnit(const std::string &text, data::Unit &unit) {
  if (text.empty() || text == "bytes")
    unit = data::Unit::Bytes;
  else if (text == "characters")
    unit = data::Unit::Characters;
  else
    return inputError("the unit of a text is bytes or characters, not '", text, "'");
  return {};
}

/// data = task(...) or valid = task(...); `every` matters for `valid` only.
Status readTask(Call &call, data::TaskSettings &task, int64_t &every) {
  task.name = call.name;
  std::string unit, words = "pieces";
  Status status = firstError({
      call.texts(0, "text", task.texts), call.text(Call::noPosition, "vocab", task.vocabulary), call.text(Call::noPosition, "unit", unit),
      call.share("held_out", task.heldOut), call.integer(Call::noPosition, "every", 0, every)});
  if (status.ok() && call.name == "permutation_lm")
    status = firstError({call.integer(Call::noPosition, "reuse", 1, task.reuse), call.integer(Call::noPosition, "alpha", 1, task.alpha),
                         call.integer(Call::noPosition, "beta", 1, task.beta), call.integer(Call::noPosition, "max_span", 1, task.maxSpan),
                         call.truth("both_ways", task.bothWays)});
  if (status.ok() && call.name == "mlm_nsp")
    status = firstError({call.share("rate", task.rate), call.share("short", task.shortRate),
                         call.text(Call::noPosition, "words", words)});
  if (status.ok() && words != "pieces" && words != "whole")
    status = inputError("data: words of ", call.name, " is \"pieces\" or \"whole\", not \"", words, "\"");
  task.wholeWords = words == "whole";
  if (unit.empty() && call.name == "char_stream")
    unit = "characters";
  return firstError({status, call.finish(), readUnit(unit, task.unit)});
}

Status readValid(const JsonValue &value, Recipe &recipe) {
  if (value.isNumber() && value.real > 0 && value.real < 1) { // valid = 0.05: the last part of the text
    recipe.data.heldOut = value.real;
    return {};
  }
  Call call(value, "valid");
  if (!call.valid())
    return inputError("valid must be a share of the text such as 0.05, held_out(0.05, every = 500), or a data task");
  if (call.name == "held_out") {
    const JsonValue *share = call.argument(0, "share");
    if (!share || !share->isNumber() || !(share->real > 0) || !(share->real < 1))
      return inputError("valid: held_out needs a share of the text between 0 and 1, such as held_out(0.05)");
    recipe.data.heldOut = share->real;
    return firstError({call.integer(Call::noPosition, "every", 0, recipe.validEvery), call.finish()});
  }
  recipe.valid.emplace();
  Status status = readTask(call, *recipe.valid, recipe.validEvery);
  if (recipe.valid->vocabulary.empty())
    recipe.valid->vocabulary = recipe.data.vocabulary;
  return status;
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
    if (const JsonValue *warmup = Call(*value, "schedule").argument(Call::noPosition, "warmup"); warmup && warmup->isInteger())
      recipe.warmup = warmup->integer;
  recipe.steps = numbers[0].value;
  recipe.seed = static_cast<uint64_t>(numbers[1].value);
  if (const JsonValue *value = settings.find("checkpoint")) {
    Call call(*value, "checkpoint");
    int64_t keep = recipe.keep;
    if (call.name != "every")
      return inputError("checkpoint must be every(steps, keep = 3)");
    Status status = firstError({call.integer(0, "steps", 1, recipe.checkpointEvery), call.integer(1, "keep", 1, keep),
                                call.text(Call::noPosition, "best", recipe.best), call.truth("lowest", recipe.lowest), call.finish()});
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
  if (const JsonValue *value = settings.find("init")) {
    Call call(*value, "init");
    if (call.name != "load")
      return inputError("init must be load(file) or load(file, names = scheme)");
    return firstError({call.text(0, "file", recipe.initFile), call.text(1, "names", recipe.initScheme), call.finish()});
  }
  return {};
}

Status applyOverrides(const DataOverrides &overrides, Recipe &recipe) {
  if (!overrides.text.empty())
    recipe.data.texts = {overrides.text};
  if (!overrides.vocabulary.empty())
    recipe.data.vocabulary = overrides.vocabulary;
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
  // Another text without a word about evaluation: its end is held out, since the recipe's held-out file belongs to the recipe's text.
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

Expected<Recipe> readRecipe(const runtime::Manifest &manifest, const DataOverrides &overrides, std::optional<uint64_t> seed) {
  Recipe recipe;
  const JsonValue *settings = manifest.recipe.find("settings");
  if (!settings || !settings->isObject())
    return inputError("the artifact has no train recipe; compile it with --recipe NAME");
  if (const JsonValue *name = manifest.recipe.find("name"); name && name->isString())
    recipe.name = name->text;
  const JsonValue *task = settings->find("data");
  if (!task)
    return inputError("the recipe ", recipe.name, " has no data");
  Call call(*task, "data");
  if (!call.valid())
    return inputError("data must be a task such as byte_stream(text = \"file\")");
  int64_t every = 0;
  Status status = readTask(call, recipe.data, every);
  if (status.ok())
    status = readNumbers(*settings, recipe);
  const JsonValue *valid = settings->find("valid");
  if (status.ok() && valid && !valid->isNull())
    status = readValid(*valid, recipe);
  if (status.ok())
    status = applyOverrides(overrides, recipe);
  if (status.failed())
    return status.in("recipe " + recipe.name);
  if (seed)
    recipe.seed = *seed;
  recipe.data.seed = recipe.seed;
  if (recipe.valid)
    recipe.valid->seed = recipe.seed + 1;
  if (recipe.data.texts.empty())
    return inputError("the recipe ", recipe.name, " names no text; pass --text FILE");
  return recipe;
}

} // namespace tenon::train
