// tenon generate: text from a trained model, streamed to stdout.
#include "runtime/generate/Generator.h"
#include "tools/tenon/GenerateTexts.h"
#include "tools/tenon/Say.h"
#include <cstdio>

namespace tenon::driver {

namespace {

struct Options {
  ModelOptions model;
  WeightOptions weights;
  std::string block, prompt, promptFile, vocabulary, entry, unit = "bytes";
  std::optional<std::string> stop;
  std::optional<int32_t> startSymbol, stopSymbol;
  std::optional<double> temperature, topP;
  std::optional<int64_t> topK, limit, beam;
  std::optional<double> alpha;
  bool greedy = false;
  TextsOptions texts;
};

Expected<generate::Settings> settingsFor(const Options &options, const runtime::Manifest &manifest) {
  if (options.greedy && (options.temperature || options.topK || options.topP))
    return usageError("--greedy always takes the most probable symbol; --temperature, --top-k and --top-p are for sampling");
  if (options.beam && (options.greedy || options.temperature || options.topK || options.topP))
    return usageError("--beam draws nothing; --greedy, --temperature, --top-k and --top-p are other methods");
  if (options.stop && options.stop->empty())
    return usageError("--stop takes a text or a symbol, and '' is neither");
  auto settings = generate::readSettings(manifest, options.block);
  if (!settings.ok())
    return settings;
  if (!options.entry.empty()) {
    auto entry = chooseEntry(manifest, runtime::EntryInfo::Kind::Out, options.entry, "");
    if (!entry.ok())
      return entry.status();
    settings->entry = *entry;
  }
  if (options.temperature || options.topK || options.topP)
    settings->method.greedy = settings->searches = false; // whatever the block says
  if (options.greedy)
    settings->method.greedy = true, settings->searches = false;
  if (options.beam)
    settings->method.greedy = false, settings->searches = true;
  settings->beam.size = options.beam.value_or(settings->beam.size);
  settings->beam.alpha = options.alpha.value_or(settings->beam.alpha);
  if (options.alpha && !settings->searches)
    return usageError("--alpha is the length penalty of a beam search; pass --beam SIZE, or a block whose method is beam");
  const runtime::EntryInfo *entry = manifest.findEntry(settings->entry);
  if (!settings->searches && entry && (settings->feedsMask || readsSources(*entry))) {
    settings->draws = !settings->method.greedy;
    settings->searches = true, settings->beam = generate::oneText();
  }
  settings->method.temperature = options.temperature.value_or(settings->method.temperature);
  settings->method.topK = options.topK.value_or(settings->method.topK);
  settings->method.topP = options.topP.value_or(settings->method.topP);
  if (options.limit)
    settings->limit = *options.limit, settings->limitOver.clear();
  if (options.stop) {
    settings->stop = *options.stop;
    settings->stopSymbol.reset();
  }
  if (options.stopSymbol)
    settings->stopSymbol = options.stopSymbol, settings->stop.clear();
  if (options.startSymbol)
    settings->startSymbol = options.startSymbol, settings->start.clear();
  const bool draws = settings->draws || !(settings->method.greedy || settings->searches);
  if (options.weights.seedGiven() && !draws && !options.weights.init && !options.weights.partial)
    return usageError("--seed is for draws, and the most probable symbol needs none (",
                      options.greedy       ? "--greedy"
                      : settings->searches ? "a beam search draws nothing"
                                           : "the method of the block is greedy",
                      ")");
  if (options.weights.seedGiven())
    settings->seed = options.weights.seed;
  return settings;
}

/// `isKnown`: it was given, or a run or the weights have it, where else bytes are a guess.
Expected<data::Vocabulary> vocabularyFor(const Options &options, const Model &model, const runtime::Parameters &parameters,
                                         bool &isKnown) {
  data::Vocabulary vocabulary = data::Vocabulary::bytes(false);
  isKnown = true;
  if (!options.vocabulary.empty()) {
    Status status = data::Vocabulary::read(options.vocabulary, "", vocabulary);
    return status.ok() ? Expected<data::Vocabulary>(std::move(vocabulary)) : status;
  }
  auto known = vocabularyOf(model, options.weights, parameters);
  if (!known.ok())
    return known.status();
  isKnown = known->has_value();
  return *known ? std::move(**known) : vocabulary;
}

Status run(Options &options) {
  auto model = openModel(options.model);
  if (!model.ok())
    return model.status();
  if (!model->call.empty())
    return usageError("generate gives a compiled model its sizes itself; --bind is for a specification (.tn)");
  auto settings = settingsFor(options, model->artifact->manifest());
  if (!settings.ok())
    return settings.status();
  if (!options.prompt.empty() && !options.promptFile.empty())
    return usageError("--prompt and --prompt-file both give the prompt; pass one of them");
  std::string prompt = options.prompt;
  if (!options.promptFile.empty())
    if (Status status = data::readTextFile(options.promptFile, prompt); status.failed())
      return status;
  auto parameters = loadParameters(*model, options.weights);
  if (!parameters.ok())
    return parameters.status();
  bool isKnown = false;
  auto vocabulary = vocabularyFor(options, *model, **parameters, isKnown);
  if (!vocabulary.ok())
    return vocabulary.status();
  auto pool = runtime::ThreadPool::create(options.model.threads);
  if (!pool.ok())
    return pool.status();
  if (settings->searches)
    return generateTexts({*parameters, *pool, *settings, *vocabulary, isKnown, prompt}, options.texts);
  if (Status status = checkNoTexts(options.texts); status.failed())
    return status;
  auto generator = generate::Generator::create(*parameters, *settings, *vocabulary, *pool);
  if (!generator.ok())
    return generator.status();
  fwrite(prompt.data(), 1, prompt.size(), stdout);
  Status status = (*generator)->run(prompt, settings->seed, [](std::string_view text) {
    // A closed pipe ends the generation; main reports other write errors.
    return fwrite(text.data(), 1, text.size(), stdout) == text.size() && fflush(stdout) == 0;
  });
  putchar('\n'); // also in front of a message: the text may have ended early
  fflush(stdout);
  if (status.ok() && !(*generator)->note().empty())
    note("note: " + (*generator)->note());
  return status;
}

} // namespace

void addGenerate(CLI::App &app, int &exitCode) {
  CLI::App *command = app.add_subcommand("generate", "text from a trained model");
  auto options = std::make_shared<Options>();
  addModelOptions(*command, options->model);
  addWeightOptions(*command, options->weights);
  command->add_option("--step", options->weights.step, "the same as --checkpoint")->type_name("N|best")->excludes("--checkpoint");
  command->add_option("--block", options->block, "generate block of the specification (default: the first)");
  command->add_option("--entry", options->entry, "entry to call (default: the block's)");
  command->add_option("-p,--prompt", options->prompt, "text to go on from (default: the block's start)");
  command->add_option("--prompt-file", options->promptFile, "the prompt from a file")->type_name("FILE");
  command->add_option("-n,--length", options->limit, "symbols to make")->transform(whole());
  command->add_option("--temperature", options->temperature, "divides the logits; below 1 is more certain");
  command->add_option("--top-k", options->topK, "only the k most probable symbols; 0: all")->transform(whole());
  command->add_option("--top-p", options->topP, "only the most probable symbols that together reach p");
  command->add_flag("--greedy", options->greedy, "always the most probable symbol");
  command->add_option("--beam", options->beam, "beam search that goes on with so many texts")->transform(whole(1));
  command->add_option("--alpha", options->alpha, "its length penalty (default: the block's, else 0.6)");
  addTextsOptions(*command, options->texts);
  command->add_option("--stop", options->stop, "text or symbol that ends the generation");
  command->add_option("--stop-symbol", options->stopSymbol, "the symbol that ends it by its number")
      ->transform(whole())
      ->excludes("--stop");
  command->add_option("--start-symbol", options->startSymbol, "the number of the symbol that the text begins behind")
      ->transform(whole())
      ->excludes("--prompt");
  command
      ->add_option("--vocab", options->vocabulary,
                   "vocabulary file, of byte pairs a vocab.json with merges.txt beside it, or a model of sentencepiece "
                   "(default: the run's or that of the weights, else bytes)")
      ->type_name("FILE");
  command->footer("Example: tenon generate run --prompt \"In the beginning\" --length 500 --temperature 0.8 --seed 3");
  onRun(*command, exitCode, [options] { return run(*options); });
}

} // namespace tenon::driver
