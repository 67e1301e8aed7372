// tenon eval: the losses of the eval entry over held-out text.
#include "runtime/train/Session.h"
#include "tools/tenon/Command.h"
#include "tools/tenon/Say.h"
#include <cmath>
#include <cstdio>

namespace tenon::driver {

namespace {

struct Options {
  ModelOptions model;
  WeightOptions weights;
  std::string text, vocabulary;
  uint64_t batches = 0;
  bool json = false;
};

/// The recipe's evaluation, or the whole of --text with the recipe's task.
Expected<train::Recipe> recipeFor(const Options &options, const Model &model) {
  train::RunSettings settings;
  if (model.run) {
    auto saved = train::readRunSettings(*model.run);
    if (!saved.ok())
      return saved.status();
    settings = *saved;
  }
  if (!options.vocabulary.empty())
    settings.data.vocabulary = options.vocabulary;
  if (!options.text.empty()) {
    settings.data.validText = options.text;
    if (settings.data.text.empty())
      settings.data.text = options.text;
  }
  auto recipe = train::readRecipe(model.artifact->manifest(), settings.data, settings.seed);
  if (recipe.ok() && !recipe->valid)
    return usageError("nothing is held out in this run; pass --text FILE");
  return recipe;
}

void print(const train::Evaluation &result, bool json) {
  std::string text = json ? concat("{\"batches\": ", result.batches) : "";
  char number[64];
  for (size_t i = 0; i < result.losses.size(); ++i) {
    const auto &[name, value] = result.losses[i];
    snprintf(number, sizeof number, json ? "%.9g" : "%.6f", value);
    text += json ? concat(", ", runtime::quoteJson(name), ": ", number) : concat(name, " ", number, "\n");
    if (static_cast<int>(i) != result.entropy)
      continue;
    snprintf(number, sizeof number, json ? ", \"bits_per_char\": %.9g" : "bits_per_char %.4f\n", result.bitsPerCharacter());
    text += number;
  }
  show("%s%s", text.c_str(), json ? "}\n" : "");
}

Status run(Options &options) {
  options.model.defaultRecipe = options.model.bindRecipe = true;
  auto model = openModel(options.model);
  if (!model.ok())
    return model.status();
  if (Status status = checkOpen(*model, options.model, "eval"); status.failed())
    return status;
  auto recipe = recipeFor(options, *model);
  if (!recipe.ok())
    return recipe.status();
  std::optional<data::Vocabulary> vocabulary;
  if (model->run) {
    auto saved = train::readVocabulary(*model->run);
    if (!saved.ok())
      return saved.status();
    vocabulary = saved.take();
    if (vocabulary && !options.vocabulary.empty())
      return usageError("--vocab ", options.vocabulary, ": the run has its vocabulary already, which its weights belong to");
  }
  auto parameters = loadParameters(*model, options.weights);
  if (!parameters.ok())
    return parameters.status();
  auto pool = runtime::ThreadPool::create(options.model.threads);
  if (!pool.ok())
    return pool.status();
  std::unique_ptr<data::DataTask> task;
  std::unique_ptr<runtime::Context> context;
  std::unique_ptr<train::Feeder> feeder;
  Status status = train::makeEvaluation(*recipe, vocabulary ? &*vocabulary : nullptr, *parameters, model->bind, *pool, task, context, feeder);
  if (status.failed())
    return status;
  context->setSeed(recipe->seed);
  auto result = train::evaluate(*context, *feeder, options.batches, nullptr);
  if (!result.ok())
    return result.status();
  print(*result, options.json);
  for (const auto &[name, value] : result->losses)
    if (!std::isfinite(value))
      return Status(runtime::ErrorKind::Numeric, concat("the loss ", name, " is not finite"));
  return {};
}

} // namespace

void addEval(CLI::App &app, int &exitCode) {
  CLI::App *command = app.add_subcommand("eval", "losses on held-out text");
  auto options = std::make_shared<Options>();
  addModelOptions(*command, options->model);
  addWeightOptions(*command, options->weights);
  command->add_option("--text", options->text, "text to evaluate on (default: what the run held out)")->type_name("FILE");
  command->add_option("--vocab", options->vocabulary, "vocabulary file")->type_name("FILE");
  command->add_option("--batches", options->batches, "at most so many batches (default: all)")->transform(whole(1));
  command->add_flag("--json", options->json, "one JSON object");
  command->footer("Examples:\n  tenon eval run\n  tenon eval model.tn --recipe small --weights w.safetensors --text other.txt");
  onRun(*command, exitCode, [options, command] {
    if (command->count("--seed") > 0 && !options->weights.init)
      return usageError("--seed is for the initial values of --init; eval draws nothing else");
    return run(*options);
  });
}

} // namespace tenon::driver
