// tenon run: one call of an entry, inputs and outputs as .npy files.
#include "runtime/train/StateFile.h"
#include "tools/tenon/Call.h"

namespace tenon::driver {

namespace {

struct Options {
  ModelOptions model;
  WeightOptions weights;
  std::string entry, states, saveStates;
  std::vector<std::string> inputs, outputs, stateFiles, savedStateFiles;
  std::optional<uint64_t> step;
  bool json = false;
};

Status run(Options &options) {
  if (!options.entry.empty())
    options.model.entries = {options.entry};
  auto model = openModel(options.model);
  if (!model.ok())
    return model.status();
  auto entry = chooseEntry(model->artifact->manifest(), runtime::EntryInfo::Kind::Out, options.entry, "infer");
  if (!entry.ok())
    return entry.status();
  if (Status status = checkOpen(*model, options.model, *entry); status.failed())
    return status;
  if (Status status = checkDraws(model->artifact->manifest(), *entry, options.weights, options.step.has_value()); status.failed())
    return status;
  auto inputs = parseFiles("--input", options.inputs), outputs = parseFiles("--output", options.outputs),
       states = parseFiles("--state", options.stateFiles), saved = parseFiles("--save-state", options.savedStateFiles);
  for (auto *files : {&inputs, &outputs, &states, &saved})
    if (!files->ok())
      return files->status();
  auto parameters = loadParameters(*model, options.weights);
  if (!parameters.ok())
    return parameters.status();
  auto context = contextFromFiles(*model, *parameters, *entry, *inputs, options.model.threads, options.states);
  if (!context.ok())
    return context.status();
  (*context)->setSeed(options.weights.seed);
  (*context)->setStep(options.step.value_or(0));
  Status status = checkStateFile(**context, "--states", options.states);
  if (status.ok())
    status = checkStateFile(**context, "--save-states", options.saveStates);
  if (status.ok() && !options.states.empty())
    status = train::loadStates(options.states, **context);
  if (status.ok())
    status = readStates(**context, *states);
  if (status.ok())
    status = checkPrepared(**context, *inputs);
  if (status.ok())
    status = checkOutputs(**context, *outputs, *saved);
  if (status.ok())
    status = (*context)->run();
  runtime::FileBatch files;
  if (status.ok())
    status = saveOutputs(**context, *outputs, files);
  if (status.ok() && !options.saveStates.empty())
    status = train::saveStates(options.saveStates, **context, &files);
  if (status.ok())
    status = writeStates(**context, *saved, files);
  if (status.ok() && (outputs->empty() || options.json)) {
    status = printOutputs(**context, options.json);
    if (status.ok())
      status = finishOutput();
  }
  return status.ok() ? files.commit() : status;
}

} // namespace

void addRun(CLI::App &app, int &exitCode) {
  CLI::App *command = app.add_subcommand("run", "call an entry once on .npy files");
  auto options = std::make_shared<Options>();
  addModelOptions(*command, options->model);
  addWeightOptions(*command, options->weights);
  command->add_option("--entry", options->entry, "entry to call (default: infer)");
  command->add_option("--input", options->inputs, "an input")->type_name("NAME=@FILE.npy");
  command->add_option("--output", options->outputs, "where an output goes (default: a summary is printed)")
      ->type_name("NAME=@FILE.npy");
  command->add_option("--state", options->stateFiles, "one state to start from")->type_name("NAME=@FILE.npy");
  command->add_option("--save-state", options->savedStateFiles, "where one state goes afterwards")->type_name("NAME=@FILE.npy");
  command->add_option("--states", options->states, "states to start from, such as a memory (default: their initial values)")
      ->type_name("FILE");
  command->add_option("--save-states", options->saveStates, "where the states go afterwards (.safetensors)")->type_name("FILE");
  command->add_option("--step", options->step, "step number of random choices (default 0)")->transform(whole());
  command->add_flag("--json", options->json, "summary as one JSON object");
  command->footer(
      "Example: tenon run gpt2.tn --weights model.safetensors --names hf --input ids=@ids.npy --output logits=@out.npy");
  onRun(*command, exitCode, [options] { return run(*options); });
}

} // namespace tenon::driver
