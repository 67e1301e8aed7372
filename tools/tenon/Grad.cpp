// tenon grad: losses and the gradient of every parameter.
#include "runtime/base/Convert.h"
#include "runtime/files/Safetensors.h"
#include "runtime/train/Feeder.h"
#include "runtime/train/StateFile.h"
#include "tools/tenon/Call.h"
#include "tools/tenon/Say.h"
#include <cmath>

namespace tenon::driver {

namespace {

struct Options {
  ModelOptions model;
  WeightOptions weights;
  std::string entry, task, output, outputNames, states;
  std::vector<std::string> inputs;
  std::optional<uint64_t> step;
  bool json = false;
};

/// The losses as f64 scalars `loss.NAME`, then the gradient of every parameter under its own name.
Status saveGradients(const std::string &path, const runtime::Context &context, runtime::FileBatch &batch) {
  const runtime::Parameters &parameters = *context.parameters();
  runtime::SafetensorsWriter writer;
  for (const runtime::BoundTensor &loss : context.outputs())
    writer.declare("loss." + loss.name, runtime::DataType::F64, {});
  std::vector<runtime::Parameters::Place> places;
  for (const std::string &name : parameters.names()) {
    auto place = parameters.find(name);
    if (!place.ok())
      return place.status();
    places.push_back(*place);
    writer.declare(name, place->info->type, std::vector<uint64_t>(place->info->shape.begin(), place->info->shape.end()));
  }
  return runtime::replaceFile(
      path,
      [&](runtime::ByteSink &sink) {
        Status status = writer.begin(sink);
        for (size_t i = 0; status.ok() && i < context.outputs().size(); ++i) {
          auto value = train::scalarOutput(context, i);
          status = value.ok() ? writer.write(&*value, sizeof *value) : value.status();
        }
        std::vector<char> values;
        for (size_t i = 0; status.ok() && i < places.size(); ++i) {
          values.resize(static_cast<size_t>(places[i].info->elements) * runtime::byteSize(places[i].info->type));
          status = parameters.getAt(places[i], values.data(), runtime::ParameterArena::Gradients);
          if (status.ok())
            status = writer.write(values.data(), values.size());
        }
        return status.ok() ? writer.finish() : status;
      },
      &batch);
}

/// The first parameter whose gradient is not finite is named.
Status warnOfNotFinite(const runtime::Context &context) {
  const runtime::Parameters &parameters = *context.parameters();
  std::vector<char> values;
  for (const std::string &name : parameters.names()) {
    auto place = parameters.find(name);
    if (!place.ok())
      return place.status();
    const runtime::DataType type = place->info->type;
    const size_t count = static_cast<size_t>(place->info->elements);
    values.resize(count * runtime::byteSize(type));
    if (Status status = parameters.getAt(*place, values.data(), runtime::ParameterArena::Gradients); status.failed())
      return status;
    size_t finite = 0;
    while (finite < count && std::isfinite(runtime::numberAt(type, values.data(), finite)))
      ++finite;
    if (finite == count)
      continue;
    const std::optional<runtime::DataType> compute = parameters.manifest().compute;
    const bool isScaled = compute && needsScale(*compute);
    note(concat("warning: the gradient of '", name, "' is not finite",
                isScaled ? concat("; in ", nameOf(*compute), " it is that of the loss times 1024, which may be too large: ",
                                  runtime::listThat(runtime::isUpperHalf), " needs no scale")
                         : ""));
    return {};
  }
  return {};
}

Status run(Options &options) {
  if (options.output.empty() && !options.outputNames.empty())
    return usageError("--output-names is about the file of --output; pass that too");
  options.model.gradient = true;
  auto model = openModel(options.model);
  if (!model.ok())
    return model.status();
  auto entry = chooseGradient(model->artifact->manifest(), options.entry, options.task);
  if (!entry.ok())
    return entry.status();
  if (Status status = checkOpen(*model, options.model, *entry); status.failed())
    return status;
  if (Status status = checkDraws(model->artifact->manifest(), *entry, options.weights, options.step.has_value()); status.failed())
    return status;
  auto inputs = parseFiles("--input", options.inputs);
  if (!inputs.ok())
    return inputs.status();
  auto parameters = loadParameters(*model, options.weights);
  if (!parameters.ok())
    return parameters.status();
  if (Status status = (*parameters)->ensure(runtime::ParameterArena::Gradients); status.failed())
    return status;
  auto context = contextFromFiles(*model, *parameters, *entry, *inputs, options.model.threads);
  if (!context.ok())
    return context.status();
  (*context)->setSeed(options.weights.seed);
  (*context)->setStep(options.step.value_or(0));
  (*context)->setFlags(1); // gradients only
  Status status = checkStateFile(**context, "--states", options.states);
  if (status.ok() && !options.states.empty())
    status = train::loadStates(options.states, **context);
  if (status.ok())
    status = (*context)->run();
  runtime::FileBatch files;
  if (status.ok() && !options.output.empty())
    status = options.outputNames.empty()
                 ? saveGradients(options.output, **context, files)
                 : (*parameters)->save(options.output, runtime::ParameterArena::Gradients, options.outputNames, &files);
  if (status.ok()) {
    status = printOutputs(**context, options.json);
    if (status.ok())
      status = finishOutput();
  }
  if (status.ok())
    status = files.commit();
  return status.ok() ? warnOfNotFinite(**context) : status;
}

} // namespace

void addGrad(CLI::App &app, int &exitCode) {
  CLI::App *command = app.add_subcommand("grad", "losses and the gradient of every parameter, on .npy files");
  auto options = std::make_shared<Options>();
  addModelOptions(*command, options->model);
  addWeightOptions(*command, options->weights);
  CLI::Option *entry = command->add_option("--entry", options->entry, "entry to call (default: grad)");
  command->add_option("--task", options->task, "of a recipe with tasks: the one whose losses are meant")
      ->type_name("NAME")
      ->excludes(entry);
  command->add_option("--input", options->inputs, "an input")->type_name("NAME=@FILE.npy");
  command->add_option("--states", options->states, "states to start from (default: their initial values)")->type_name("FILE");
  command->add_option("-o,--output", options->output, "file for losses (loss.NAME) and gradients (.safetensors)")
      ->type_name("FILE");
  command->add_option("--output-names", options->outputNames,
                      "write the gradients, without the losses, with the names of this `names` table");
  command->add_option("--step", options->step, "step number of random choices (default 0)")->transform(whole());
  command->add_flag("--json", options->json, "losses as one JSON object");
  command->footer("Example: tenon grad txl.tn --f64 --init --seed 1 --input ids=@ids.npy --input target=@target.npy --output "
                  "grads.safetensors");
  onRun(*command, exitCode, [options] { return run(*options); });
}

} // namespace tenon::driver
