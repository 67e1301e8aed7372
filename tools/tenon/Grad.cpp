// tenon grad: losses and the gradient of every parameter.
#include "tools/tenon/Call.h"

namespace tenon::driver {

namespace {

struct Options {
  ModelOptions model;
  WeightOptions weights;
  std::string entry, output, names;
  std::vector<std::string> inputs, states;
  uint64_t step = 0;
  bool json = false;
};

Status run(Options &options) {
  options.model.gradient = true;
  auto model = openModel(options.model);
  if (!model.ok())
    return model.status();
  auto entry = chooseEntry(model->artifact->manifest(), runtime::EntryInfo::Kind::Grad, options.entry, "grad");
  if (!entry.ok())
    return entry.status();
  auto inputs = parseFiles("--input", options.inputs), states = parseFiles("--state", options.states);
  if (!inputs.ok() || !states.ok())
    return inputs.ok() ? states.status() : inputs.status();
  auto parameters = loadParameters(*model, options.weights);
  if (!parameters.ok())
    return parameters.status();
  if (Status status = (*parameters)->ensure(runtime::ParameterArena::Gradients); status.failed())
    return status;
  auto context = contextFromFiles(*model, *parameters, *entry, *inputs, options.model.threads);
  if (!context.ok())
    return context.status();
  (*context)->setSeed(options.weights.seed);
  (*context)->setStep(options.step);
  (*context)->setFlags(1); // gradients only
  Status status = loadStates(**context, *states);
  if (status.ok())
    status = (*context)->run();
  if (status.ok() && !options.output.empty())
    status = (*parameters)->save(options.output, runtime::ParameterArena::Gradients, options.names);
  if (status.ok())
    printOutputs(**context, options.json);
  return status;
}

} // namespace

void addGrad(CLI::App &app, int &exitCode) {
  CLI::App *command = app.add_subcommand("grad", "losses and the gradient of every parameter, on .npy files");
  auto options = std::make_shared<Options>();
  addModelOptions(*command, options->model);
  addWeightOptions(*command, options->weights);
  command->add_option("--entry", options->entry, "entry to call (default: grad)");
  command->add_option("--input", options->inputs, "an input")->type_name("NAME=@FILE.npy");
  command->add_option("--state", options->states, "old value of a state (default: its initial one)")->type_name("NAME=@FILE.npy");
  command->add_option("-o,--output", options->output, "file for the gradients (.safetensors)")->type_name("FILE");
  command->add_option("--output-names", options->names, "write the gradients with the names of this `names` table");
  command->add_option("--step", options->step, "step number of random choices (default 0)");
  command->add_flag("--json", options->json, "losses as one JSON object");
  command->footer("Example: tenon grad txl.tn --f64 --init --seed 1 --input ids=@ids.npy --input target=@target.npy --output grads.safetensors");
  onRun(*command, exitCode, [options] { return run(*options); });
}

} // namespace tenon::driver
