// tenon plot RUN --attention: the run's specification compiled again with maps (tenon compile --attention-maps) for one short
// window, and its picture.
#include "tools/tenon/Attention.h"
#include "runtime/train/RunState.h"
#include "runtime/train/Session.h"
#include "tools/tenon/AttentionMaps.h"
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

constexpr int64_t kMostSymbols = 64; // of a text, where nobody says how many

/// Tasks whose window may have any length: they fill it from a text, and nothing else depends on it.
bool fitsAnyLength(const std::string &task) {
  static const std::set<std::string> names = {"byte_stream", "char_stream", "lm_stream", "lm_blocks", "mlm_nsp", "rtd"};
  return names.count(task) > 0;
}

/// The eval entry of the run's model; its text.
struct Target {
  const EntryInfo *entry = nullptr;
  int text = -1;             // of its inputs; -1: none
  std::string batch, places; // axes of the text that are dims of the model, or else empty
  int64_t width = -1;        // of the text; -1: left open
};

Expected<Target> targetOf(const Manifest &manifest, const std::string &run) {
  Target target;
  for (const EntryInfo &entry : manifest.entries)
    if (entry.kind == EntryInfo::Kind::Eval)
      target.entry = &entry;
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

Expected<train::Recipe> recipeFor(const AttentionOptions &options, const Manifest &manifest, const train::RunSettings &saved) {
  train::RunSettings settings = saved;
  if (!options.text.empty()) {
    settings.data.validText = options.text;
    if (settings.data.text.empty())
      settings.data.text = options.text;
  }
  auto recipe = train::readRecipe(manifest, settings.data, settings.seed);
  if (recipe.ok() && !recipe->valid) { // nothing is held out: a window of what it was trained on
    recipe->valid = recipe->data;
    recipe->valid->evaluation = true;
  }
  if (recipe.ok() && recipe->valid)
    recipe->valid->tokens = 0; // compiled for the one row that is drawn
  return recipe;
}

/// A prompt as the data of the recipe's task would hold it: between the marks that the model has always seen around a text.
Status encodePrompt(const AttentionOptions &options, const data::Vocabulary &vocabulary, const std::string &task,
                    std::vector<int32_t> &ids) {
  auto mark = [&](const char *name) {
    if (auto id = task == "mlm_nsp" || task == "rtd" ? vocabulary.special(name) : std::nullopt)
      ids.push_back(*id);
  };
  mark("cls");
  if (Status status = vocabulary.encode(options.prompt, ids); status.failed())
    return status.in("--prompt");
  const auto most = static_cast<size_t>(options.length ? options.length : kMostSymbols);
  if (ids.size() > most) {
    note(concat("the first ", most, " of the prompt's ", ids.size(), " symbols are drawn; --length N takes more"));
    ids.resize(most);
  }
  mark("sep");
  return {};
}

/// The inputs for a prompt: one text, given from left to right, of which nothing is padded or masked. What else a task gives are
/// labels and what the losses weigh by; attention does not depend on them.
void fillFromPrompt(runtime::Context &context, int text, const std::vector<int32_t> &ids) {
  const auto length = static_cast<int64_t>(ids.size());
  for (size_t i = 0; i < context.inputs().size(); ++i) {
    const runtime::BoundTensor &input = context.inputs()[i];
    if (input.type != runtime::DataType::I32)
      continue; // `back`, `weight`: false and 0, as buffers are made
    auto *values = static_cast<int32_t *>(context.input(static_cast<int>(i)));
    const int64_t count = static_cast<int64_t>(input.bytes / sizeof(int32_t)),
                  width = input.shape.size() > 1 ? input.shape[1] : 1;
    for (int64_t k = 0; k < count; ++k) {
      const int64_t place = k % width;
      if (static_cast<int>(i) == text || input.name == "word") // that each predicted place is to give its own symbol
        values[k] = ids[static_cast<size_t>(std::min(place, length - 1))];
      else if (input.name == "len")
        values[k] = static_cast<int32_t>(length);
      else if (input.name == "rank" || input.name == "at")
        values[k] = static_cast<int32_t>(std::min(place, length - 1));
    }
  }
}

/// Inputs on which attention may depend and that a prompt cannot tell.
Status checkPrompt(const EntryInfo &entry, int text) {
  static const std::set<std::string> known = {"ids", "target", "seg",    "len",   "rank",   "back",
                                              "at",  "word",   "weight", "label", "follows"};
  for (size_t i = 0; i < entry.inputs.size(); ++i)
    if (static_cast<int>(i) != text && !known.count(entry.inputs[i].name))
      return usageError("--prompt gives no '", entry.inputs[i].name,
                        "', which the model reads too; without --prompt the first row of the run's data is drawn");
  return {};
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
  std::optional<train::Recipe> recipe;
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
    if (const runtime::JsonValue *made = manifest.recipe.find("settings"); made && made->find("tasks"))
      return inputError(
          "not supported yet: attention of ", run.path,
          ", whose recipe has `tasks`: each has an evaluation and data of its own, and nothing says which is meant");
    auto target = targetOf(manifest, run.path);
    auto saved = train::readRunSettings(run);
    auto symbols = train::readVocabulary(run);
    if (!target.ok() || !saved.ok() || !symbols.ok())
      return !target.ok() ? target.status() : !saved.ok() ? saved.status() : symbols.status();
    settings = saved.take();
    vocabulary = symbols.take();
    trained = opened->artifact;
    source.entries = {target->entry->name};
    source.tier = trained->tier();
    bindTo(source, target->batch, 1);
    if (options.promptGiven)
      return sizePrompt(manifest, *target);
    auto read = recipeFor(options, manifest, settings);
    if (!read.ok())
      return read.status();
    recipe = read.take();
    const bool anyLength = fitsAnyLength(recipe->data.name) && !target->places.empty() && target->width > 0;
    if (options.length && !anyLength)
      return usageError("--length: the windows of ", recipe->data.name.empty() ? std::string("these data") : recipe->data.name,
                        " have the length of the training");
    if (anyLength)
      bindTo(source, target->places, options.length ? options.length : std::min(target->width, kMostSymbols));
    return {};
  }

  Status sizePrompt(const Manifest &manifest, const Target &target) {
    if (!vocabulary || vocabulary->size() == 0 || target.text < 0)
      return usageError("--prompt: the data of ", run.path, " are no text; without --prompt their first row is drawn");
    if (Status status = checkPrompt(*target.entry, target.text); status.failed())
      return status;
    const runtime::JsonValue *settingsOf = manifest.recipe.find("settings"),
                             *data = settingsOf ? settingsOf->find("data") : nullptr, *call = data ? data->find("call") : nullptr;
    if (Status status = encodePrompt(options, *vocabulary, call ? call->text : "", prompt); status.failed())
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
      if (Status status = train::makeContext(parameters, "eval", sizes, *pool, context); status.failed())
        return status;
      if (Status status = checkMaps(); status.failed())
        return status;
      fillFromPrompt(*context, mainInput(context->entry()), prompt);
      return context->run();
    }
    std::unique_ptr<train::Feeder> feeder;
    if (Status status = train::makeEvaluation(recipe->allTasks()[0], vocabulary ? &*vocabulary : nullptr, parameters, sizes,
                                              *pool, task, context, feeder);
        status.failed())
      return status;
    if (Status status = checkMaps(); status.failed())
      return status;
    if (options.window >= task->evaluationBatches())
      return usageError("--window ", options.window, ": there are ", task->evaluationBatches(), " windows, from 0 on");
    context->setSeed(recipe->seed);
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
    const std::string title = concat("Attention in ", endOfPath(run.path), " at step ", step);
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
