// tenon plot RUN --attention: the run's specification compiled again with maps (tenon compile --attention-maps) for one short
// window, and its picture.
#include "tools/tenon/Attention.h"
#include "runtime/train/RunState.h"
#include "runtime/train/Session.h"
#include "tools/tenon/AttentionMaps.h"
#include "tools/tenon/AttentionPrompt.h"
#include "tools/tenon/Call.h"
#include "tools/tenon/KeptSources.h"
#include "tools/tenon/Picture.h"
#include "tools/tenon/Say.h"
#include "tools/tenon/SymbolLines.h"
#include <algorithm>
#include <filesystem>
#include <set>
#include <span>

namespace tenon::driver {

using runtime::EntryInfo;
using runtime::Manifest;

namespace {

/// Tasks whose window may have any length: they fill it from a text, and nothing else depends on it.
bool fitsAnyLength(const std::string &task) {
  static const std::set<std::string> names = {"byte_stream", "char_stream", "lm_stream", "lm_blocks", "mlm_nsp", "rtd"};
  return names.count(task) > 0;
}

/// The eval entry of the run's model, of one of its tasks; its text.
struct Target {
  const EntryInfo *entry = nullptr;
  int text = -1;             // of its inputs; -1: none
  std::string batch, places; // axes of the text that are dims of the model, or else empty
  int64_t width = -1;        // of the text; -1: left open
};

Expected<Target> targetOf(const Manifest &manifest, const std::string &run, const std::string &entry) {
  Target target;
  target.entry = manifest.findEntry(entry);
  if (!target.entry)
    return inputError("the model of ", run, " has no loss or metric, and so no entry that reads a text like its training");
  target.text = mainInput(*target.entry);
  auto isDim = [&](const std::string &axis) {
    return std::find(manifest.dims.begin(), manifest.dims.end(), axis) != manifest.dims.end();
  };
  if (target.text >= 0) {
    const runtime::TensorInfo &text = target.entry->inputs[static_cast<size_t>(target.text)];
    target.batch = isDim(text.axes[0]) ? text.axes[0] : "";
    target.places = isDim(text.axes[1]) ? text.axes[1] : "";
    target.width = text.shape[1].isConstant() ? text.shape[1].constant : -1;
  }
  return target;
}

/// A size in place of what the training had.
void bindTo(ModelOptions &model, const std::string &dim, int64_t size) {
  if (dim.empty())
    return;
  for (std::vector<std::string> *sizes : {&model.bind, &model.recipeBind})
    std::erase_if(*sizes, [&](const std::string &text) { return text.starts_with(dim + "="); });
  model.recipeBind.push_back(concat(dim, "=", size));
}

/// --text in place of what one of several tasks reads.
Status takeText(const std::string &text, train::TaskRecipe &task) {
  if (text.empty())
    return {};
  if (task.data.texts.empty())
    return usageError("--text: the data of the task ", task.name, " are no plain text");
  task.valid = task.data;
  task.valid->texts = {text};
  task.valid->heldOut = 0;
  task.valid->evaluation = true;
  return {};
}

/// What the recipe trains on, or one of its tasks; `seed` becomes the recipe's.
Expected<train::TaskRecipe> recipeFor(const AttentionOptions &options, const Manifest &manifest, const train::RunSettings &saved,
                                      uint64_t &seed) {
  train::RunSettings settings = saved;
  const runtime::JsonValue *made = manifest.recipe.find("settings");
  const bool several = made && made->find("tasks");
  if (!options.text.empty() && !several) {
    settings.data.validText = options.text;
    if (settings.data.text.empty())
      settings.data.text = options.text;
  }
  auto recipe = train::readRecipe(manifest, settings.data, settings.seed);
  if (!recipe.ok())
    return recipe.status();
  seed = recipe->seed;
  std::vector<std::string> names;
  for (const train::TaskRecipe &task : recipe->tasks)
    names.push_back(task.name);
  auto name = chooseTask(names, options.task, "a picture");
  if (!name.ok())
    return name.status();
  const std::vector<train::TaskRecipe> all = recipe->allTasks();
  train::TaskRecipe chosen = *std::find_if(all.begin(), all.end(), [&](const auto &each) { return each.name == *name; });
  if (Status status = several ? takeText(options.text, chosen) : Status(); status.failed())
    return status;
  if (!chosen.valid) { // nothing is held out: a window of what it was trained on
    chosen.valid = chosen.data;
    chosen.valid->evaluation = true;
  }
  chosen.valid->tokens = 0; // compiled for the one row that is drawn
  return chosen;
}

class Drawing {
public:
  Drawing(const AttentionOptions &options) : options(options), run{options.run} {}

  Status draw() {
    if (Status status = checkPictureName(output()); status.failed())
      return status;
    if (Status status = chooseModel(); status.failed())
      return status;
    if (Status status = compileWithMaps(); status.failed())
      return status;
    if (Status status = loadWeights(); status.failed())
      return status;
    if (Status status = runWindow(); status.failed())
      return status;
    return write();
  }

private:
  const AttentionOptions &options;
  const train::RunDirectory run;
  train::RunSettings settings;
  train::TaskRecipe recipe;
  uint64_t seed = 0; // the recipe's
  std::optional<data::Vocabulary> vocabulary;
  ModelOptions source;
  std::optional<Model> model;
  std::shared_ptr<const runtime::Artifact> trained; // of the run
  std::shared_ptr<runtime::Parameters> parameters;  // of `model`
  std::unique_ptr<runtime::Context> context;
  std::unique_ptr<data::DataTask> task;
  std::vector<int32_t> prompt;
  std::vector<std::string> earlier;
  uint64_t step = 0;
  int64_t places = -1;

  std::string output() const { return options.output.empty() ? concat(run.path, "/attention.svg") : options.output; }

  /// What is compiled: the run's specification, for one row of a window of the right length.
  Status chooseModel() {
    std::error_code ignored;
    if (!std::filesystem::is_directory(run.model(), ignored))
      return inputError(run.path, std::filesystem::exists(run.path, ignored) ? " is no run, for it has no folder model"
                                                                             : " does not exist");
    auto folder = sourcesOf(run);
    auto kept = folder.ok() ? readSources(*folder) : folder.status();
    if (!kept.ok())
      return kept.status();
    source = kept.take();
    ModelOptions compiled;
    compiled.source = run.path;
    auto opened = openModel(compiled);
    if (!opened.ok())
      return opened.status();
    const Manifest &manifest = opened->artifact->manifest();
    auto saved = train::readRunSettings(run);
    auto symbols = train::readVocabulary(run);
    if (!saved.ok() || !symbols.ok())
      return saved.ok() ? symbols.status() : saved.status();
    settings = saved.take();
    vocabulary = symbols.take();
    auto read = recipeFor(options, manifest, settings, seed);
    if (!read.ok())
      return read.status();
    recipe = read.take();
    auto target = targetOf(manifest, run.path, train::evalEntryOf(recipe));
    if (!target.ok())
      return target.status();
    trained = opened->artifact;
    source.entries = {target->entry->name};
    source.tier = trained->tier();
    bindTo(source, target->batch, 1);
    if (options.promptGiven)
      return sizePrompt(manifest, *target);
    const bool anyLength = fitsAnyLength(recipe.data.name) && !target->places.empty() && target->width > 0;
    if (options.length && !anyLength)
      return usageError("--length: the windows of ", recipe.data.name.empty() ? std::string("these data") : recipe.data.name,
                        " have the length of the training");
    if (anyLength)
      bindTo(source, target->places, options.length ? options.length : std::min(target->width, kMostSymbols));
    return {};
  }

  Status sizePrompt(const Manifest &manifest, const Target &target) {
    const bool isText = recipe.name.empty() || train::hasSetting(recipe.data.name, "vocab");
    if (!vocabulary || vocabulary->size() == 0 || target.text < 0 || !isText)
      return usageError("--prompt: the data of ", run.path, " are no text; without --prompt their first row is drawn");
    if (Status status = checkPrompt(*target.entry, target.text, recipe.id.has_value()); status.failed())
      return status;
    if (Status status = encodePrompt(options, *vocabulary, recipe.data.name, prompt); status.failed())
      return status;
    if (prompt.size() < 2)
      return usageError("--prompt has ", runtime::counted(prompt.size(), "symbol"),
                        "; at least 2 are needed for one to see another");
    const auto length = static_cast<int64_t>(prompt.size());
    if (target.places.empty() && target.width != length)
      return usageError("--prompt has ", length, " symbols, and the model takes ", target.width,
                        ": their number is no dim of it");
    bindTo(source, target.places, length);
    if (const int at = target.entry->inputIndex("at"); at >= 0) { // every place is one that is predicted
      const std::string &axis = target.entry->inputs[static_cast<size_t>(at)].axes.back();
      if (std::find(manifest.dims.begin(), manifest.dims.end(), axis) != manifest.dims.end())
        bindTo(source, axis, length);
    }
    return {};
  }

  Status compileWithMaps() {
    source.attentionMaps = source.decomposed = true;
    auto opened = openModel(source);
    if (!opened.ok())
      return opened.status();
    model = opened.take();
    return {};
  }

  /// Those of the checkpoint are the run's model's; the one with maps has what one of its entries reads.
  Status loadWeights() {
    auto all = runtime::Parameters::create(trained), made = runtime::Parameters::create(model->artifact);
    if (!all.ok() || !made.ok())
      return all.ok() ? made.status() : all.status();
    std::vector<std::string> notes;
    if (Status status = train::loadWeights(run.checkpoints(), options.checkpoint, **all, step, notes); status.failed())
      return status;
    for (const std::string &text : notes)
      note(text);
    parameters = made.take();
    std::vector<char> values;
    for (const std::string &name : parameters->names()) {
      auto place = parameters->find(name);
      values.resize(static_cast<size_t>(place->info->elements) * runtime::byteSize(place->info->type));
      if (Status status = (*all)->get(name, values.data(), values.size()); status.failed())
        return status;
      if (Status status = parameters->set(name, values.data(), values.size()); status.failed())
        return status;
    }
    for (auto &[name, state] : parameters->modelStates())
      if (auto known = (*all)->modelStates().find(name);
          known != (*all)->modelStates().end() && known->second.memory.size() == state.memory.size())
        if (Status status = state.memory.view().copyFrom(known->second.memory.view()); status.failed())
          return status;
    parameters->touchModelStates();
    return {};
  }

  Status runWindow() {
    auto pool = runtime::ThreadPool::create(0);
    if (!pool.ok())
      return pool.status();
    std::map<std::string, int64_t> sizes = settings.bind; // of dims that the entry leaves open
    for (const std::vector<std::string> *bound : {&source.bind, &source.recipeBind})
      if (auto given = parseBindings(*bound); given.ok())
        for (const auto &[dim, size] : *given)
          sizes[dim] = size;
    if (options.promptGiven) {
      if (Status status = train::makeContext(parameters, train::evalEntryOf(recipe), sizes, *pool, context); status.failed())
        return status;
      if (Status status = checkMaps(); status.failed())
        return status;
      fillFromPrompt(*context, mainInput(context->entry()), prompt, recipe.id.value_or(0));
      return context->run();
    }
    std::unique_ptr<train::Feeder> feeder;
    if (Status status =
            train::makeEvaluation(recipe, vocabulary ? &*vocabulary : nullptr, parameters, sizes, *pool, task, context, feeder);
        status.failed())
      return status;
    if (Status status = checkMaps(); status.failed())
      return status;
    if (options.window >= task->evaluationBatches())
      return usageError("--window ", options.window, ": there are ", task->evaluationBatches(), " windows, from 0 on");
    context->setSeed(seed);
    context->resetStates();
    for (uint64_t i = 0; i <= options.window; ++i) {
      if (task->resetsInEvaluation(i))
        earlier.clear();
      if (Status status = feeder->fillEvaluation(i); status.failed())
        return status;
      context->setStep(i);
      if (Status status = context->run(); status.failed())
        return status;
      if (i < options.window)
        for (std::string &symbol : symbolsOf(*context, symbolsKnown()).text)
          earlier.push_back(std::move(symbol));
    }
    places = countedPlaces();
    return {};
  }

  /// Of a row that is shorter than its window.
  int64_t countedPlaces() const {
    const int len = context->entry().inputIndex("len");
    if (len >= 0 && context->inputs()[static_cast<size_t>(len)].type == runtime::DataType::I32)
      return std::max(1, *static_cast<const int32_t *>(context->input(len)));
    return task->validPlaces(options.window);
  }

  Status checkMaps() const {
    for (const runtime::StateInfo &state : context->entry().states)
      if (state.name.starts_with("attention["))
        return {};
    return inputError("the model of ", run.path, " has no attend in what its losses need, so there is no attention to draw");
  }

  const data::Vocabulary *symbolsKnown() const { return vocabulary && vocabulary->size() > 0 ? &*vocabulary : nullptr; }

  Status write() {
    Symbols symbols = symbolsOf(*context, symbolsKnown());
    symbols.earlier = earlier;
    auto maps = mapsOf(*context, symbols, places);
    if (!maps.ok())
      return maps.status();
    const DrawnMaps drawn = maps.take();
    for (const std::string &limit : drawn.limits)
      note(limit);
    const std::string title = concat("Attention in ", endOfPath(run.path), " at step ", step,
                                     recipe.name.empty() ? "" : concat(", task ", recipe.name));
    std::vector<std::string> lines = drawn.limits, text;
    const size_t count = places < 0 ? symbols.text.size() : std::min(symbols.text.size(), static_cast<size_t>(places));
    size_t longest = 0, memory = 0;
    for (const HeatMapRow &row : drawn.rows) {
      longest = std::max({longest, row.rows.size(), row.columns.size()});
      memory = std::max(memory, row.memory);
    }
    if (longest > kMostLabelled) {
      const std::span<const std::string> all = symbols.text, before = earlier;
      memory = std::min(memory, before.size());
      text = symbolLines(before.last(memory), -static_cast<int64_t>(memory));
      for (std::string &line : symbolLines(all.first(std::min(count, static_cast<size_t>(kMostPlaces))), 0))
        text.push_back(std::move(line));
    }
    if (Status status = writePicture(output(), title, drawHeatMaps(title, lines, text, drawn.rows)); status.failed())
      return status;
    show("%s\n", output().c_str());
    return {};
  }
};

} // namespace

Status plotAttention(const AttentionOptions &options) { return Drawing(options).draw(); }

} // namespace tenon::driver
