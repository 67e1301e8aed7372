// tenon eval: the losses of the eval entry over held-out text.
#include "runtime/data/VocabularyNote.h"
#include "runtime/train/Evaluate.h"
#include "tools/tenon/Answers.h"
#include "tools/tenon/EvalMeasures.h"
#include "tools/tenon/Predictions.h"
#include "tools/tenon/Say.h"
#include <cmath>
#include <cstdio>
#include <filesystem>

namespace tenon::driver {

namespace {

struct Options {
  ModelOptions model;
  WeightOptions weights;
  std::string text, vocabulary;
  PredictionOptions predictions;
  train::DataOverrides data; // --data
  uint64_t batches = 0;
  int64_t stride = 0;
  std::vector<std::string> measures; // --measure
  std::string task;                  // of a recipe with several
  bool json = false;
};

/// Losses on other bytes than the run has held out cannot be compared with its own.
void noteChangedFiles(const train::RunSettings &settings, const train::Recipe &recipe) {
  auto files = train::fingerprintsOf(recipe);
  std::string changes =
      files.ok() ? data::changedFiles(settings.files, *files) : std::string(); // what cannot be read is said when it is read
  if (!changes.empty())
    note("note: the data are not what this run has seen: " + changes);
}

/// Which data are evaluated.
struct Part {
  std::string name, text; // for --json; in words
};

/// Whether --data names another folder than that of the run's data.
bool isElsewhere(const std::string &given, const std::string &ofRun) {
  std::error_code failed;
  return !given.empty() && (ofRun.empty() || !std::filesystem::equivalent(given, ofRun, failed));
}

/// Without names of classes in the weights the numbers are those of the names in order: to be read and judged by the user.
Status noteClasses(const data::Vocabulary &vocabulary, const runtime::Parameters &parameters) {
  const auto noted = parameters.notes.find(runtime::kVocabularyNote);
  auto said = noted == parameters.notes.end() ? Expected<data::VocabularyNote>(data::VocabularyNote())
                                              : data::VocabularyNote::parse(noted->second);
  if (!said.ok())
    return said.status();
  constexpr size_t kShown = 10;
  for (const auto &[input, names] : vocabulary.classes) {
    if (said->classes.count(input))
      continue;
    std::string list;
    for (size_t i = 0; i < std::min(kShown, names.size()); ++i)
      list += concat(i ? ", " : "", i, " ", names[i]);
    note(concat("note: the weights do not name the classes of '", input, "'; taken in order: ", list,
                names.size() > kShown ? ", .." : ""));
  }
  return {};
}

/// The vocabulary of a file of words is not in the weights, only its hash.
Status checkWords(const runtime::Parameters &parameters, const data::Vocabulary &vocabulary, const std::string &file) {
  auto said = parameters.notes.find(runtime::kVocabularyNote);
  if (vocabulary.isOfCharacters() || said == parameters.notes.end())
    return {};
  auto note = data::VocabularyNote::parse(said->second);
  if (!note.ok() || note->hasSymbolsOf(vocabulary))
    return note.status();
  return inputError(file.empty() ? "the checkpoint" : file, " was trained with another vocabulary than this of ",
                    runtime::counted(static_cast<uint64_t>(vocabulary.size()), "symbol"),
                    "; pass the one of the training by --vocab");
}

/// The recipe's evaluation, or the whole of --text with the recipe's task.
Expected<train::Recipe> recipeFor(const Options &options, const Model &model, Part &part) {
  train::RunSettings settings;
  if (model.run) {
    auto saved = train::readRunSettings(*model.run);
    if (!saved.ok())
      return saved.status();
    settings = *saved;
  }
  if (!options.vocabulary.empty() && model.run)
    return usageError("--vocab: the run in ", model.run->path,
                      " has its vocabulary already; this option is for a specification or an artifact");
  if (!options.vocabulary.empty())
    settings.data.vocabulary = options.vocabulary;
  if (!options.text.empty()) {
    settings.data.validText = options.text;
    if (settings.data.text.empty())
      settings.data.text = options.text;
  }
  const bool elsewhere = model.run && isElsewhere(options.data.folder, settings.data.folder);
  if (elsewhere) // files of the training are not those of this folder
    settings.data.files.clear();
  if (!options.data.folder.empty())
    settings.data.folder = std::filesystem::absolute(options.data.folder);
  settings.data.whole = elsewhere || !options.data.files.empty();
  for (const auto &[name, file] : options.data.files)
    settings.data.evaluated[name] = std::filesystem::absolute(file);
  auto recipe = train::readRecipe(model.artifact->manifest(), settings.data, settings.seed);
  if (recipe.ok() && !recipe->valid && !options.data.folder.empty()) {
    settings.data.whole = true;
    recipe = train::readRecipe(model.artifact->manifest(), settings.data, settings.seed);
  }
  if (recipe.ok() && !recipe->valid)
    return usageError("nothing is held out ", model.run ? "in this run" : "by this recipe", "; pass ",
                      recipe->allTasks()[0].data.texts.empty() ? "--data NAME=FILE, or the folder of such files" : "--text FILE");
  if (const std::string others = recipe.ok() ? train::sourcesNotGiven(settings.data, *recipe->valid) : ""; !others.empty())
    note(concat("note: the files of ", others, " stay those of the recipe"));
  part = settings.data.whole     ? Part{"given", "all of the data given"}
         : !options.text.empty() ? Part{"given", "all of " + options.text}
         : recipe.ok() && recipe->valid->heldOut > 0
             ? Part{"held out", concat("the part held out (held_out = ", recipe->valid->heldOut, ")")}
             : Part{"valid", "the data for evaluation (valid)"};
  if (recipe.ok() && options.stride > 0 && !recipe->tasks.empty())
    return usageError("--stride is for one data task, and this recipe has ", recipe->tasks.size());
  if (recipe.ok() && options.stride > 0) {
    if (const runtime::EntryInfo *entry = model.artifact->manifest().findEntry("eval")) {
      for (const runtime::StateInfo &state : entry->states)
        if (!state.ofModel)
          return usageError("--stride is for models that keep nothing from window to window; this one has the state ",
                            state.name);
      recipe->valid->shift = train::predictionShift(*entry);
    }
    recipe->valid->stride = options.stride;
  }
  if (recipe.ok() && options.text.empty() && !settings.data.whole)
    noteChangedFiles(settings, *recipe);
  return recipe;
}

/// "1,234 of 1,240 symbols", or nothing where a task draws its batches.
std::string coverage(const train::Evaluation &result) {
  const data::DataTask::Extent &extent = result.extent;
  return extent.all <= 0 ? std::string() : concat(extent.covered, " of ", extent.all, " ", extent.unit);
}

std::string numbersText(const train::TaskEvaluation &evaluated, const Part &part, bool json) {
  const train::Evaluation &result = evaluated.evaluation;
  std::string text;
  const char *const exact = "%.17g"; // of thresholds, which are compared with other numbers
  auto add = [&](const std::string &name, double value, const char *format) {
    char number[64];
    snprintf(number, sizeof number, json && format != exact ? "%.9g" : format, value);
    text += json ? concat(", ", runtime::quoteJson(name), ": ", std::isfinite(value) ? number : "null")
                 : concat(name, " ", number, "\n");
  };
  for (size_t i = 0; i < result.numbers.size(); ++i) {
    const bool isThreshold = result.numbers[i].metric && result.numbers[i].name.ends_with("_above");
    add(result.numbers[i].name, result.numbers[i].value, isThreshold ? exact : "%.6f");
    if (static_cast<int>(i) == result.entropy)
      add(evaluated.prefix + "bits_per_char", result.bitsPerCharacter(), "%.4f");
  }
  if (auto perplexity = result.perplexity())
    add(evaluated.prefix + "perplexity", *perplexity, "%.4f");
  if (json && result.extent.all > 0)
    text += concat(", \"", evaluated.prefix, "covered\": ", result.extent.covered, ", \"", evaluated.prefix,
                   "of\": ", result.extent.all, ", \"", evaluated.prefix, "unit\": \"", result.extent.unit, "\"");
  else if (!json && result.extent.all > 0)
    text += concat("covered ", coverage(result), evaluated.prefix.empty() ? "" : " of " + evaluated.task, ", ", part.text, "\n");
  return text;
}

void print(const std::vector<train::TaskEvaluation> &results, const Part &part, bool json) {
  std::string text = json ? concat("{\"batches\": ",
                                   [&] {
                                     uint64_t batches = 0;
                                     for (const train::TaskEvaluation &each : results)
                                       batches += each.evaluation.batches;
                                     return batches;
                                   }())
                          : "";
  for (const train::TaskEvaluation &each : results)
    text += numbersText(each, part, json);
  if (json && results[0].evaluation.extent.all > 0)
    text += concat(", \"part\": ", runtime::quoteJson(part.name));
  show("%s%s", text.c_str(), json ? "}\n" : "");
}

/// What an evaluation found, and where its rows are questions the answers.
struct Judged {
  train::Evaluation evaluation;
  std::optional<Answers> answers;
  std::string rows; // of --predictions
};

/// SQuAD's exact match and F1 of the answers, as numbers among the others.
void addAnswers(Judged &judged) {
  const data::AnswerSearch::Result &result = judged.answers->result;
  auto add = [&](const char *name, double value) { judged.evaluation.numbers.push_back({name, value, true}); };
  add("exact_match", result.all.exact);
  add("f1", result.all.f1);
  if (!result.hasUnanswered)
    return;
  add("has_answer_exact_match", result.answered.exact);
  add("has_answer_f1", result.answered.f1);
  add("no_answer_exact_match", result.unanswered.exact);
  add("no_answer_f1", result.unanswered.f1);
  add("best_exact_match", result.bestExact.value);
  add("best_exact_match_above", result.bestExact.threshold);
  add("best_f1", result.bestF1.value);
  add("best_f1_above", result.bestF1.threshold);
}

/// One task of the recipe over what it holds out.
Expected<Judged> evaluateTask(const train::TaskRecipe &recipe, const Options &options, const Model &model,
                              const std::shared_ptr<runtime::Parameters> &parameters,
                              const std::optional<data::Vocabulary> &vocabulary, const std::shared_ptr<runtime::ThreadPool> &pool,
                              const std::vector<Measure> &measures, bool draws, uint64_t seed) {
  std::unique_ptr<data::DataTask> task;
  std::unique_ptr<runtime::Context> context;
  std::unique_ptr<train::Feeder> feeder;
  Status status =
      train::makeEvaluation(recipe, vocabulary ? &*vocabulary : nullptr, parameters, model.bind, pool, task, context, feeder);
  if (status.ok())
    status = checkWords(*parameters, task->vocabulary(), options.weights.file);
  if (status.failed())
    return status;
  for (const std::string &text : task->notes())
    note((text.starts_with("warning: ") ? "" : "note: ") + text);
  if (!vocabulary && !options.weights.file.empty())
    status = noteClasses(task->vocabulary(), *parameters);
  if (status.failed())
    return status;
  context->setSeed(draws && options.weights.seedGiven() ? options.weights.seed : seed);
  auto evaluation = train::evaluate(*context, *feeder, options.batches, nullptr);
  if (evaluation.failed())
    return evaluation.status();
  Judged judged{evaluation.take(), std::nullopt, {}};
  if (status = addMeasures(measures, recipe, *task, *context, pool, judged.evaluation); status.failed())
    return status;
  if (areOfRows(options.predictions, recipe)) {
    auto rows = predictRows(options.predictions, recipe, *task, *context, pool);
    if (rows.failed())
      return rows.status();
    judged.rows = rows.take();
  }
  if (task->spans() && options.batches == 0) {
    auto answers = findAnswers(*task, *context, parameters, pool, recipe.id, options.predictions.noneAbove.value_or(0));
    if (answers.failed())
      return answers.status();
    judged.answers = answers.take();
    if (judged.answers)
      addAnswers(judged);
    if (options.predictions.noneAbove && judged.answers && !judged.answers->result.hasUnanswered)
      note("note: --no-answer-above changes nothing: each question has an answer");
    else if (options.predictions.noneAbove && !judged.answers)
      note("note: --no-answer-above changes nothing: no entry has outputs `first` and `last`");
  }
  return judged;
}

/// Writes what --predictions asks for.
Status savePredictions(const std::string &path, const std::optional<Answers> &answers, const std::string &rows) {
  if (path.empty())
    return {};
  if (!rows.empty())
    return runtime::replaceFile(path, rows);
  if (!answers)
    return usageError("--predictions needs an entry with outputs `first` and `last`, which say where answers stand");
  return runtime::replaceFile(path, answers->predictions);
}

/// Whether an evaluation of the recipe draws numbers.
bool drawsAny(const train::Recipe &recipe, const runtime::Manifest &manifest) {
  for (const train::TaskRecipe &task : recipe.allTasks())
    if (const runtime::EntryInfo *entry = manifest.findEntry(train::evalEntryOf(task)); entry && entry->draws)
      return true;
  return false;
}

Expected<std::vector<Measure>> measuresFor(const Options &options, const train::Recipe &recipe,
                                           const runtime::Manifest &manifest) {
  auto measures = readMeasures(options.measures);
  Status status = measures.ok() ? checkMeasures(*measures, recipe, manifest) : measures.status();
  if (status.ok() && !measures->empty() && options.batches > 0)
    status = usageError("--measure is of all rows together; leave out --batches");
  return status.ok() ? std::move(measures) : status;
}

/// Leaves the task `wanted` of a recipe's alone, where one is named.
Status keepTask(const std::string &wanted, train::Recipe &recipe) {
  if (wanted.empty())
    return {};
  std::vector<std::string> names;
  for (const train::TaskRecipe &task : recipe.tasks)
    names.push_back(task.name);
  auto chosen = chooseTask(names, wanted, "an evaluation");
  if (!chosen.ok())
    return chosen.status();
  std::erase_if(recipe.tasks, [&](const train::TaskRecipe &task) { return task.name != *chosen; });
  return recipe.tasks[0].valid ? Status() : usageError("--task ", *chosen, ": nothing is held out of it");
}

/// Of what no evaluation has.
void noteLeftOut(const Options &options, const train::Recipe &recipe, const runtime::Manifest &manifest) {
  const std::string text = train::leftOutNote(train::evaluationsOf(recipe.allTasks(), manifest));
  if (!text.empty() && !options.json)
    note("note: " + text);
}

Status run(Options &options) {
  options.model.defaultRecipe = options.model.bindRecipe = true;
  auto model = openModel(options.model);
  if (!model.ok())
    return model.status();
  if (Status status = checkOpen(*model, options.model, "eval"); status.failed())
    return status;
  Part part;
  auto recipe = recipeFor(options, *model, part);
  if (!recipe.ok())
    return recipe.status();
  if (Status status = keepTask(options.task, *recipe); status.failed())
    return status;
  if (Status status = checkPredictions(options.predictions, options.batches > 0, *recipe, model->artifact->manifest());
      status.failed())
    return status;
  auto measures = measuresFor(options, *recipe, model->artifact->manifest());
  if (!measures.ok())
    return measures.status();
  const bool draws = drawsAny(*recipe, model->artifact->manifest());
  if (options.weights.seedGiven() && !options.weights.init && !options.weights.partial && !draws)
    return usageError("--seed is for the initial values of --init; eval draws nothing else");
  auto parameters = loadParameters(*model, options.weights);
  if (!parameters.ok())
    return parameters.status();
  auto known = vocabularyOf(*model, options.weights, **parameters);
  if (!known.ok())
    return known.status();
  const std::optional<data::Vocabulary> vocabulary = known.take();
  if (vocabulary && !options.vocabulary.empty())
    return usageError("--vocab: ", options.weights.file, " says what its symbols are");
  auto pool = runtime::ThreadPool::create(options.model.threads);
  if (!pool.ok())
    return pool.status();
  std::vector<train::TaskEvaluation> results;
  std::optional<Answers> answers;
  std::string rows;
  noteLeftOut(options, *recipe, model->artifact->manifest());
  for (const train::TaskRecipe &task : recipe->allTasks())
    if (task.valid) {
      auto result = evaluateTask(task, options, *model, *parameters, vocabulary, *pool, *measures, draws, recipe->seed);
      if (!result.ok())
        return result.status();
      if (result->answers)
        answers = std::move(result->answers);
      rows += result->rows;
      results.push_back({task.name, std::move(result->evaluation)});
    }
  results = train::nameNumbers(std::move(results));
  print(results, part, options.json);
  if (Status status = savePredictions(options.predictions.path, answers, rows); status.failed())
    return status;
  return checkNumbers(results);
}

} // namespace

void addEval(CLI::App &app, int &exitCode) {
  CLI::App *command = app.add_subcommand("eval", "losses on held-out text");
  auto options = std::make_shared<Options>();
  addModelOptions(*command, options->model);
  addWeightOptions(*command, options->weights);
  command->add_option("--step", options->weights.step, "the same as --checkpoint")->type_name("N|best")->excludes("--checkpoint");
  CLI::Option *text =
      command->add_option("--text", options->text, "text to evaluate on (default: what the run held out)")->type_name("FILE");
  addDataFiles(*command, options->data)->excludes(text);
  command->add_option("--task", options->task, "one of the tasks of a recipe that has several (default: all)")->type_name("NAME");
  command->add_option("--vocab", options->vocabulary, "vocabulary file, for a model that is no run")->type_name("FILE");
  command->add_option("--batches", options->batches, "at most so many batches (default: all)")->transform(whole(1));
  command
      ->add_option("--stride", options->stride,
                   "windows that move on by so many places: each symbol is predicted once, with at least T - N before it")
      ->type_name("N")
      ->transform(whole(1));
  addMeasureOption(*command, options->measures);
  addPredictionOptions(*command, options->predictions);
  command->add_flag("--json", options->json, "one JSON object");
  command->footer("Examples:\n  tenon eval run\n  tenon eval model.tn --recipe small --weights w.safetensors --text other.txt");
  onRun(*command, exitCode, [options] { return run(*options); });
}

} // namespace tenon::driver
