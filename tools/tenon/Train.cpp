// tenon train: the compiled train step over a text, into a run directory.
#include "runtime/train/Trainer.h"
#include "tools/tenon/KeptSources.h"
#include <filesystem>

namespace tenon::driver {

namespace {

struct Options {
  ModelOptions model;
  train::TrainOptions train;
  std::string output;
  double minutes = 0, seconds = 0;
};

void addDataOptions(CLI::App &command, train::DataOverrides &data) {
  command.add_option("--text", data.text, "text to train on, instead of the recipe's; * and ? name several files")
      ->type_name("FILE");
  addDataFiles(command, data);
  CLI::Option *heldOut =
      command
          .add_option("--held-out", data.heldOut,
                      "share of the data that is for evaluation only, such as 0.05: the end of a text, a fixed choice of rows")
          ->check(CLI::Range(0.0, 0.99));
  command.add_option("--valid-text", data.validText, "text for evaluation")->type_name("FILE")->excludes(heldOut);
  command.add_option("--valid-every", data.validEvery, "evaluate every so many steps (default: at the end)")->transform(whole());
  CLI::Option *vocabulary =
      command
          .add_option("--vocab", data.vocabulary,
                      "vocabulary file: one symbol per line, vocab.json of byte pairs, or a model of sentencepiece")
          ->type_name("FILE");
  command.add_option("--unit", data.unit, "symbols without a vocabulary file")
      ->check(CLI::IsMember({"bytes", "characters"}))
      ->excludes(vocabulary);
}

/// The sizes that the compiled entries of a run leave open. What the compiler has bound already is no business of later commands,
/// whose entries may have an open dim of the same name.
std::map<std::string, int64_t> openSizes(const Model &model) {
  std::map<std::string, int64_t> sizes;
  for (const runtime::EntryInfo &entry : model.artifact->manifest().entries)
    if (entry.kind == runtime::EntryInfo::Kind::Train || entry.kind == runtime::EntryInfo::Kind::Eval)
      for (const runtime::DimInfo &dim : entry.dims)
        if (auto given = model.bind.find(dim.name); given != model.bind.end())
          sizes.insert(*given);
  return sizes;
}

Status run(Options &options) {
  if (options.train.weights.empty() && !options.train.scheme.empty())
    return usageError("--names says whose names a weights file has; it needs --weights");
  if (options.train.weights.empty() && options.train.partial)
    return usageError("--partial takes a part of a weights file; it needs --weights");
  // The run has the model, and may be moved to another machine.
  options.model.defaultRecipe = options.model.bindRecipe = options.model.everyTier = true;
  auto model = openModel(options.model);
  if (!model.ok())
    return model.status();
  if (Status status = checkOpen(*model, options.model, "train"); status.failed())
    return status;
  if (options.output.empty() && !model->run)
    return usageError("train needs a directory for the run: --out DIR");
  if (options.output.empty())
    options.output = model->run->path;
  std::error_code ignored;
  if (!options.train.from.empty() && !std::filesystem::is_directory(train::RunDirectory{options.output}.checkpoints(), ignored))
    return usageError("--from ", options.train.from, ": there is no run in ", options.output, " to go on with");
  bool sameRun = model->run && options.output == model->run->path;
  // The run directory gets a copy of the model, so that later commands need neither specification nor cache; what compiles it
  // anew has the specification.
  auto keep = [&](const std::string &folder) {
    const runtime::JsonValue *recipe = model->artifact->manifest().recipe.find("name");
    return keepSources(*model, model->compiledAgain ? *model->compiledAgain : options.model,
                       recipe && recipe->isString() ? recipe->text : options.model.recipe, folder);
  };
  if (!sameRun)
    options.train.prepare = [&, keep] {
      return copyArtifact(*model->artifact, train::RunDirectory{options.output}.model(),
                          model->compiledNow || model->compiledAgain ? keep : std::function<Status(const std::string &)>());
    };
  options.train.runDirectory = options.output;
  options.train.threads = options.model.threads;
  options.train.bind = openSizes(*model);
  options.train.seconds = options.minutes * 60 + options.seconds;
  return train::trainModel(model->artifact, options.train);
}

} // namespace

void addTrain(CLI::App &app, int &exitCode) {
  CLI::App *command = app.add_subcommand("train", "train by a recipe; goes on where an earlier run stopped");
  auto options = std::make_shared<Options>();
  addModelOptions(*command, options->model);
  command->add_option("-o,--out", options->output, "run directory: checkpoints, metrics.jsonl, the model")->type_name("DIR");
  addDataOptions(*command, options->train.data);
  command->add_option("--steps", options->train.steps, "steps in all, instead of the recipe's")->transform(whole(1));
  CLI::Option *minutes =
      command->add_option("--minutes", options->minutes, "stop and save after so many minutes")->check(above(0));
  command->add_option("--seconds", options->seconds, "stop and save after so many seconds")->check(above(0))->excludes(minutes);
  command->add_option("--seed", options->train.seed, "seed of initial values, order and dropout, instead of the recipe's")
      ->transform(whole<uint64_t>());
  command->add_option("--checkpoint-every", options->train.checkpointEvery, "steps between checkpoints")->transform(whole(1));
  command->add_option("--keep", options->train.keep, "checkpoints to keep")->transform(whole(1, 1 << 20));
  command
      ->add_option("--weights", options->train.weights,
                   "parameters to start from: a safetensors file, or a folder with one or with shards")
      ->type_name("FILE|DIR");
  command->add_option("--names", options->train.scheme, "whose names the weights file has");
  command->add_flag("--partial", options->train.partial,
                    "take from --weights what fits; what it lacks or has in another shape stays initial and is listed");
  CLI::Option *fresh = command->add_flag("--fresh", options->train.fresh, "start anew; an earlier run's checkpoints are renamed");
  command
      ->add_option(
          "--from", options->train.from,
          "go on from this checkpoint, not from the newest; the run's checkpoints and metrics are kept under other names")
      ->type_name("N|best")
      ->excludes(fresh)
      ->excludes("--weights");
  command->add_flag("--tensorboard", options->train.tensorBoard, "write event files for TensorBoard beside metrics.jsonl");
  command->add_flag("-q,--quiet", options->train.quiet, "no progress");
  command->footer("Examples:\n  tenon train model.tn --recipe small --text book.txt --out run\n"
                  "  tenon train run                         goes on, with the same bits as if it had never stopped\n"
                  "  tenon train run --minutes 10            stops by the clock\n"
                  "SIGINT, SIGTERM and SIGHUP finish the step, save and exit with 75; a second one ends at once.");
  onRun(*command, exitCode, [options] { return run(*options); });
}

} // namespace tenon::driver
